//! Regular bodies with exact counts, many of them those of THESIS table 3.1.

use std::collections::HashMap;
use std::f64::consts::TAU;

use defcol::math::predicate::orient3d;
use defcol::math::{Sign, Vector3, sin_cos};
use defcol::mesh::RawMesh;

/// The corners of a regular icosahedron, and its faces counter-clockwise from outside.
fn icosahedron() -> (Vec<Vector3<f64>>, Vec<[u32; 3]>) {
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let (short, long) = (1.0, golden);
    let mut positions = Vec::with_capacity(12);
    for axis in 0..3 {
        for (u, v) in [(-short, -long), (short, -long), (-short, long), (short, long)] {
            let mut corner = Vector3::zeros();
            corner[axis] = u;
            corner[(axis + 1) % 3] = v;
            positions.push(corner.normalize());
        }
    }
    // Faces are the triples at edge distance.
    let edge = (positions[0] - positions[1]).norm() * 1.01;
    let near = |a: usize, b: usize| (positions[a] - positions[b]).norm() < edge;
    let mut triangles = Vec::with_capacity(20);
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(c, a) {
                    let outward =
                        orient3d(Vector3::zeros(), positions[a], positions[b], positions[c])
                            == Sign::Positive;
                    let [a, b, c] = [a, b, c].map(|corner| corner as u32);
                    triangles.push(if outward { [a, b, c] } else { [a, c, b] });
                }
            }
        }
    }
    (positions, triangles)
}

/// A ball of 20 tetrahedra: an icosahedron and its centre (13 vertices).
pub fn ball(radius: f64) -> RawMesh<f64> {
    let (mut positions, triangles) = icosahedron();
    positions.iter_mut().for_each(|corner| *corner *= radius);
    let center = positions.len() as u32;
    positions.push(Vector3::zeros());
    let tetrahedra = triangles.iter().map(|&[a, b, c]| [center, a, b, c]).collect();
    RawMesh { positions, triangles: vec![], tetrahedra }
}

/// A box of `cells` cubes of the given edge length, each cut into 5 tetrahedra.
///
/// The membrane of the papers is `[10, 10, 1]` (242 vertices, 500 tetrahedra), the rod
/// `[100, 2, 2]` (909, 2000), the cube `[5, 5, 5]` (216, 625).
pub fn box_grid(cells: [u32; 3], cell_size: f64) -> RawMesh<f64> {
    let [nx, ny, nz] = cells;
    let vertex = |x: u32, y: u32, z: u32| (z * (ny + 1) + y) * (nx + 1) + x;
    let mut mesh = RawMesh::default();
    for z in 0..=nz {
        for y in 0..=ny {
            for x in 0..=nx {
                mesh.positions.push(Vector3::new(x, y, z).map(|k| f64::from(k) * cell_size));
            }
        }
    }
    // One tetrahedron in the middle, one at each of the four corners it leaves. Neighbouring
    // cells are mirrored, so that their diagonals meet.
    const MIDDLE: [[u32; 3]; 4] = [[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]];
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let mirrored = (x + y + z) % 2;
                let corner = |[i, j, k]: [u32; 3]| vertex(x + (i ^ mirrored), y + j, z + k);
                let mut cell = vec![MIDDLE.map(corner)];
                for [i, j, k] in MIDDLE.map(|[i, j, k]| [1 - i, 1 - j, 1 - k]) {
                    cell.push([[i, j, k], [1 - i, j, k], [i, 1 - j, k], [i, j, 1 - k]].map(corner));
                }
                for mut tetrahedron in cell {
                    let [a, b, c, d] = tetrahedron.map(|v| mesh.positions[v as usize]);
                    if orient3d(a, b, c, d) == Sign::Negative {
                        tetrahedron.swap(2, 3);
                    }
                    mesh.tetrahedra.push(tetrahedron);
                }
            }
        }
    }
    mesh
}

/// A sphere: an icosahedron whose triangles were cut in four `levels` times (20·4^levels).
pub fn icosphere(radius: f64, levels: u32) -> RawMesh<f64> {
    let (mut positions, mut triangles) = icosahedron();
    for _ in 0..levels {
        // Looked up only; vertices are numbered in the order of the triangles.
        let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
        let mut finer = Vec::with_capacity(4 * triangles.len());
        for [a, b, c] in triangles {
            let [ab, bc, ca] = [[a, b], [b, c], [c, a]].map(|[p, q]| {
                *middles.entry([p.min(q), p.max(q)]).or_insert_with(|| {
                    positions.push((positions[p as usize] + positions[q as usize]).normalize());
                    positions.len() as u32 - 1
                })
            });
            finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    positions.iter_mut().for_each(|corner| *corner *= radius);
    RawMesh { positions, triangles, tetrahedra: vec![] }
}

/// A torus around the z axis: `segments` around the hole, `sides` around the tube.
pub fn torus(major: f64, minor: f64, segments: u32, sides: u32) -> RawMesh<f64> {
    let mut mesh = RawMesh::default();
    for segment in 0..segments {
        let (sin, cos) = sin_cos(TAU * f64::from(segment) / f64::from(segments));
        for side in 0..sides {
            let (up, out) = sin_cos(TAU * f64::from(side) / f64::from(sides));
            let distance = major + minor * out;
            mesh.positions.push(Vector3::new(distance * cos, distance * sin, minor * up));
        }
    }
    mesh.triangles = ring_triangles(segments, sides);
    mesh
}

/// A tube around a (p, q) torus knot: `p` times around the axis, `q` times around the ring.
pub fn torus_knot(
    [p, q]: [u32; 2],
    [major, minor, tube]: [f64; 3],
    segments: u32,
    sides: u32,
) -> RawMesh<f64> {
    let (p, q) = (f64::from(p), f64::from(q));
    let mut mesh = RawMesh::default();
    for segment in 0..segments {
        let turn = TAU * f64::from(segment) / f64::from(segments);
        let ((sin_p, cos_p), (sin_q, cos_q)) = (sin_cos(p * turn), sin_cos(q * turn));
        let reach = major + minor * cos_q;
        let center = Vector3::new(reach * cos_p, reach * sin_p, minor * sin_q);
        let outward = Vector3::new(cos_q * cos_p, cos_q * sin_p, sin_q);
        let along = Vector3::new(
            -p * reach * sin_p - q * minor * sin_q * cos_p,
            p * reach * cos_p - q * minor * sin_q * sin_p,
            q * minor * cos_q,
        );
        let across = outward.cross(&along).normalize();
        for side in 0..sides {
            let (sin, cos) = sin_cos(TAU * f64::from(side) / f64::from(sides));
            mesh.positions.push(center + (outward * cos + across * sin) * tube);
        }
    }
    mesh.triangles = ring_triangles(segments, sides);
    mesh
}

/// The triangles of rings behind one another, the last joined to the first.
fn ring_triangles(rings: u32, sides: u32) -> Vec<[u32; 3]> {
    let vertex = |i: u32, j: u32| i % rings * sides + j % sides;
    let quads = (0..rings).flat_map(|i| (0..sides).map(move |j| (i, j)));
    quads
        .flat_map(|(i, j)| {
            let [a, b] = [vertex(i, j), vertex(i + 1, j)];
            let [c, d] = [vertex(i + 1, j + 1), vertex(i, j + 1)];
            [[a, b, c], [a, c, d]]
        })
        .collect()
}

/// A body of revolution around the z axis: pairs of radius and height from below, the first and last
/// on the axis.
fn revolved(profile: &[[f64; 2]], sides: u32) -> RawMesh<f64> {
    let rings = profile.len() as u32 - 2;
    let mut mesh = RawMesh::default();
    for &[radius, height] in &profile[1..profile.len() - 1] {
        for side in 0..sides {
            let (sin, cos) = sin_cos(TAU * f64::from(side) / f64::from(sides));
            mesh.positions.push(Vector3::new(radius * cos, radius * sin, height));
        }
    }
    let (below, above) = (rings * sides, rings * sides + 1);
    mesh.positions.push(Vector3::new(0.0, 0.0, profile[0][1]));
    mesh.positions.push(Vector3::new(0.0, 0.0, profile[profile.len() - 1][1]));
    for side in 0..sides {
        let next = (side + 1) % sides;
        mesh.triangles.push([below, next, side]);
        for ring in 0..rings - 1 {
            let [a, b] = [ring * sides + side, ring * sides + next];
            mesh.triangles.extend([[a, b, b + sides], [a, b + sides, a + sides]]);
        }
        let top = (rings - 1) * sides;
        mesh.triangles.push([above, top + side, top + next]);
    }
    mesh
}

/// A cylinder along the z axis with flat ends.
pub fn cylinder(radius: f64, half_height: f64, rings: u32, sides: u32) -> RawMesh<f64> {
    let wall =
        (0..=rings).map(|k| [radius, half_height * (2.0 * f64::from(k) / f64::from(rings) - 1.0)]);
    let ends = |height: f64| std::iter::once([0.0, height]);
    let profile: Vec<_> = ends(-half_height).chain(wall).chain(ends(half_height)).collect();
    revolved(&profile, sides)
}

/// A capsule along the z axis: a cylinder with half balls at its ends, `rings` rings each.
pub fn capsule(radius: f64, half_height: f64, rings: u32, sides: u32) -> RawMesh<f64> {
    let arc = |k: u32| {
        let (sin, cos) = sin_cos(TAU / 4.0 * f64::from(k) / f64::from(rings));
        [radius * sin, radius * cos]
    };
    let below = (0..=rings).map(|k| [arc(k)[0], -half_height - arc(k)[1]]);
    let above = (0..=rings).rev().map(|k| [arc(k)[0], half_height + arc(k)[1]]);
    revolved(&below.chain(above).collect::<Vec<_>>(), sides)
}

/// A flat, open sheet in the xy plane, facing up, with diagonals that alternate.
pub fn plane_patch(cells: [u32; 2], cell_size: f64) -> RawMesh<f64> {
    let [nx, ny] = cells;
    let mut mesh = RawMesh::default();
    for y in 0..=ny {
        for x in 0..=nx {
            mesh.positions.push(Vector3::new(f64::from(x), f64::from(y), 0.0) * cell_size);
        }
    }
    for y in 0..ny {
        for x in 0..nx {
            let a = y * (nx + 1) + x;
            let [b, c, d] = [a + 1, a + nx + 2, a + nx + 1];
            mesh.triangles.extend(if (x + y) % 2 == 0 {
                [[a, b, c], [a, c, d]]
            } else {
                [[a, b, d], [b, c, d]]
            });
        }
    }
    mesh
}
