//! A dolphin whose poses share one connectivity, at 564 · 4^k triangles.

use std::collections::HashMap;
use std::f64::consts::TAU;

use defcol::math::{Vector3, sin_cos};
use defcol::mesh::{Edges, RawMesh, TriangleMesh};

const RINGS: u32 = 47;
const SIDES: u32 = 6;

/// The dolphin in one of its three poses (0 straight, 1 tail up, 2 tail down), refined `levels` times:
/// 564, 2256, 9024, 36096 triangles.
pub fn dolphin(pose: u32, levels: u32) -> RawMesh<f64> {
    let swing = [0.0, 1.0, -1.0][pose as usize % 3];
    let mut mesh = coarse();
    for position in &mut mesh.positions {
        // It swims along -x, so that it is seen from its side.
        let p = bent(*position, swing);
        *position = Vector3::new(p.y, -p.x, p.z);
    }
    for _ in 0..levels {
        mesh = refined(&mesh);
    }
    mesh
}

/// The body straight along y, nose at -1.6, tail at 1.6: rings of six corners, the second on top.
fn coarse() -> RawMesh<f64> {
    let mut mesh = RawMesh::default();
    for ring in 0..RINGS {
        let s = (f64::from(ring) + 0.7) / (f64::from(RINGS) + 0.4);
        let y = 3.2 * s - 1.6;
        for side in 0..SIDES {
            let (sin, cos) = sin_cos(TAU * (f64::from(side) + 0.5) / f64::from(SIDES));
            let (x, z) = section(s, cos, sin);
            mesh.positions.push(Vector3::new(x, y + sweep(s, x, z), z));
        }
    }
    let (nose, tail) = (RINGS * SIDES, RINGS * SIDES + 1);
    mesh.positions.push(Vector3::new(0.0, -1.62, -0.04));
    mesh.positions.push(Vector3::new(0.0, 1.5, 0.0));
    for side in 0..SIDES {
        let next = (side + 1) % SIDES;
        mesh.triangles.push([nose, side, next]);
        for ring in 0..RINGS - 1 {
            let [a, b] = [ring * SIDES + side, ring * SIDES + next];
            mesh.triangles.extend([[a, b + SIDES, b], [a, a + SIDES, b + SIDES]]);
        }
        let last = (RINGS - 1) * SIDES;
        mesh.triangles.push([tail, last + next, last + side]);
    }
    mesh
}

/// A bump that rises from 0 at `from` to 1 at `top` and falls to 0 at `to`.
fn bump(s: f64, [from, top, to]: [f64; 3]) -> f64 {
    let t = if s < top { (s - from) / (top - from) } else { (to - s) / (to - top) };
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Half width and height of the body at a part of its length, in the direction (cos, sin).
fn section(s: f64, cos: f64, sin: f64) -> (f64, f64) {
    let beak = 0.085 * bump(s, [-0.06, 0.06, 0.2]);
    // A round forehead behind the beak, then a long taper.
    let body = 0.4 * bump(s, [0.08, 0.36, 1.02]).powf(if s < 0.36 { 0.4 } else { 0.85 });
    let radius = (beak + body).max(0.02);
    let fluke = bump(s, [0.86, 0.95, 1.05]);
    let mut x = radius * cos * (1.0 - 0.6 * fluke) + 0.5 * fluke * cos.signum() * cos.abs();
    let mut z = radius * sin * (1.0 - 0.75 * fluke);
    // The fin on the back.
    if sin > 0.9 {
        z += 0.5 * bump(s, [0.44, 0.53, 0.58]);
    }
    // The flippers, low on both sides.
    if sin < -0.3 && cos.abs() > 0.5 {
        let flipper = bump(s, [0.3, 0.35, 0.39]);
        x += 0.5 * flipper * cos.signum();
        z -= 0.3 * flipper;
    }
    (x, z)
}

/// Fins and flukes are swept back.
fn sweep(s: f64, x: f64, z: f64) -> f64 {
    let back = bump(s, [0.44, 0.53, 0.58]) * (z - 0.3).max(0.0) * 0.7;
    let flipper = bump(s, [0.3, 0.35, 0.39]) * (x.abs() - 0.3).max(0.0) * 0.8;
    let fluke = bump(s, [0.86, 0.95, 1.05]) * x.abs() * 0.45;
    back + flipper + fluke
}

/// Bends the body up and down, the tail most.
fn bent(p: Vector3<f64>, swing: f64) -> Vector3<f64> {
    let curvature = 0.42 * swing;
    if curvature == 0.0 {
        return p;
    }
    // A circle through the shoulders; the head bends less than the tail.
    let along = p.y + 0.6;
    let angle = curvature * if along > 0.0 { along } else { 0.45 * along };
    let (sin, cos) = sin_cos(angle);
    let radius = 1.0 / curvature;
    let stretch = if along > 0.0 { 1.0 } else { 1.0 / 0.45 };
    let turned = Vector3::new(
        p.x,
        radius * stretch * sin - sin * p.z,
        radius * stretch * (1.0 - cos) + cos * p.z,
    );
    turned - Vector3::new(0.0, 0.6, 0.0)
}

/// One step of Loop's subdivision of a closed mesh: each triangle into four, smoothed.
fn refined(mesh: &RawMesh<f64>) -> RawMesh<f64> {
    let Ok(topology) = TriangleMesh::new(mesh.clone()) else { return mesh.clone() };
    let edges: &Edges = topology.edges();
    let old = &mesh.positions;
    let mut positions: Vec<Vector3<f64>> = topology
        .vertex_neighbours()
        .iter()
        .zip(old)
        .map(|(ring, position)| {
            let count = ring.len() as f64;
            let weight = if ring.len() == 3 { 3.0 / 16.0 } else { 3.0 / (8.0 * count) };
            let sum: Vector3<f64> = ring.iter().map(|&other| old[other as usize]).sum();
            position * (1.0 - count * weight) + sum * weight
        })
        .collect();
    let mut middle: HashMap<[u32; 2], u32> = HashMap::new();
    for (&[a, b], uses) in edges.ends().iter().zip(edges.uses().iter()) {
        // The corners opposite the edge, one in each of its triangles.
        let opposite: Vector3<f64> = uses
            .iter()
            .map(|&slot| mesh.triangles[slot as usize / 3][(slot as usize % 3 + 2) % 3])
            .map(|vertex| old[vertex as usize])
            .sum();
        middle.insert([a, b], positions.len() as u32);
        positions.push((old[a as usize] + old[b as usize]) * 0.375 + opposite * 0.125);
    }
    let triangles = mesh
        .triangles
        .iter()
        .flat_map(|&[a, b, c]| {
            let [ab, bc, ca] = [[a, b], [b, c], [c, a]].map(|[p, q]| middle[&[p.min(q), p.max(q)]]);
            [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
        })
        .collect();
    RawMesh { positions, triangles, tetrahedra: vec![] }
}
