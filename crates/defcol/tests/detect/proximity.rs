//! Surfaces that are near each other: nothing is missed, whatever moves how fast.

use std::collections::HashSet;

use defcol::detect::proximity::{ContactStencil, Outside, ProximityPairs, ProximityParameters};
use defcol::error::DetectError;
use defcol::math::{Real, Vector3};
use defcol::mesh::{TetMesh, TriangleMesh};
use defcol::state::{Bodies, Collides};
use defcol_scenes::regular::{ball, box_grid, icosphere};

use crate::support::scenes::Random;

const THICKNESS: f64 = 0.01;

/// Bodies around the origin with the places of their vertices.
struct Crowd<R: Real> {
    bodies: Bodies,
    positions: Vec<Vector3<R>>,
}

impl<R: Real> Crowd<R> {
    fn of(meshes: &[TetMesh<R>], collides: Collides) -> Self {
        let mut bodies = Bodies::default();
        let mut positions = vec![];
        for mesh in meshes {
            bodies.add_solid(mesh, collides);
            positions.extend_from_slice(mesh.positions());
        }
        Self { bodies, positions }
    }

    /// How far a vertex is from a body that it is outside of.
    fn nearest(&self, vertex: u32, body: usize) -> Option<R> {
        let place = |v: u32| self.positions[v as usize];
        let triangles = &self.bodies.triangles()[self.bodies.list()[body].triangles.clone()];
        let all = triangles
            .iter()
            .map(|&corners| ContactStencil::of_point(place, vertex, corners, Outside::Normals));
        let (stencil, _) = all.min_by(|a, b| a.1.to_f64().total_cmp(&b.1.to_f64()))?;
        stencil.map(|stencil| stencil.gap).filter(|gap| *gap >= R::zero())
    }
}

/// Everything that brute force finds is known, after each of many moves.
fn nothing_is_missed<R: Real>(mut crowd: Crowd<R>, seed: u64, apart: f64) -> [usize; 2] {
    let mut random = Random(seed);
    let vector = |random: &mut Random, amount: f64| {
        Vector3::from_fn(|_, _| R::nearest((2.0 * random.unit() - 1.0) * amount))
    };
    for body in crowd.bodies.list() {
        let shift = vector(&mut random, apart);
        crowd.positions[body.vertices.clone()].iter_mut().for_each(|p| *p += shift);
    }
    let rest = crowd.positions.clone();
    let mut near = ProximityPairs::default();
    let mut checked = [0; 2];
    // Sides of which something was inside do not count until it is looked at again.
    let mut entered = HashSet::new();
    let (thickness, step) = (R::nearest(THICKNESS), R::nearest(0.002));
    let parameters =
        ProximityParameters { thickness, horizon: step * R::nearest(6.1), elapsed: step };
    for frame in 0..60 {
        // Slow, fast, at rest, and now and then far at once.
        let speed = [0.2, 3.0, 0.0, 0.5][frame / 8 % 4] * if frame % 23 == 22 { 20.0 } else { 1.0 };
        let velocities: Vec<Vector3<R>> = crowd
            .bodies
            .list()
            .iter()
            .flat_map(|body| {
                let common = vector(&mut random, speed);
                let own = body.vertices.clone();
                own.map(|_| common + vector(&mut random, 0.1 * speed)).collect::<Vec<_>>()
            })
            .collect();
        crowd.positions.iter_mut().zip(&velocities).for_each(|(p, v)| *p += v * step);
        let positions = &crowd.positions;
        near.update(&crowd.bodies, positions, &velocities, &rest, parameters).unwrap();
        let known = near.stencils();
        let gap = |stencil: &ContactStencil<R>| stencil.gap_at(|v| positions[v as usize]);
        // What is known is looked at again after a quarter of the thickness.
        let slack = thickness * R::nearest(0.25);
        let mut surface: Vec<u32> = crowd.bodies.triangles().iter().flatten().copied().collect();
        surface.sort_unstable();
        surface.dedup();
        for vertex in surface {
            for body in 0..crowd.bodies.len() {
                if body == crowd.bodies.body_of(vertex) {
                    continue;
                }
                let Some(distance) = crowd.nearest(vertex, body) else {
                    entered.insert((vertex, body));
                    continue;
                };
                if distance >= thickness || entered.contains(&(vertex, body)) {
                    continue;
                }
                checked[0] += 1;
                let found = known.iter().any(|stencil| {
                    stencil.vertices[0] == vertex
                        && crowd.bodies.body_of(stencil.vertices[3]) == body
                        && gap(stencil) <= distance + slack
                });
                assert!(found, "frame {frame}: vertex {vertex}, {distance} from body {body}");
            }
        }
        checked[1] += known.iter().filter(|stencil| stencil.weights[0] != R::one()).count();
    }
    checked
}

fn solids<R: Real>(count: usize, mesh: impl Fn() -> defcol::mesh::RawMesh<f64>) -> Vec<TetMesh<R>> {
    (0..count).map(|_| TetMesh::new(mesh().cast()).unwrap()).collect()
}

#[test]
fn no_vertex_near_a_surface_is_missed() {
    for seed in 0..6 {
        // Small bodies are compared pair by pair, large ones through a grid.
        let balls = Crowd::of(&solids::<f64>(12, || ball(0.1)), Collides::default());
        let [points, edges] = nothing_is_missed(balls, seed, 0.25);
        assert!(points > 20 && edges > 0, "seed {seed}: {points} {edges}");
        let boxes = Crowd::of(
            &solids::<f32>(5, || box_grid([4, 4, 4], 0.05)),
            Collides::with_all_and_itself(),
        );
        let [points, edges] = nothing_is_missed(boxes, seed, 0.2);
        assert!(points > 20 && edges > 0, "seed {seed}: {points} {edges}");
    }
}

#[test]
fn crossing_ridges_are_found_wherever_they_cross() {
    // Two boxes, one upon the other, each on an edge: no vertex is near the other one.
    let bar = TetMesh::<f64>::new(box_grid([6, 1, 1], 0.1)).unwrap();
    let (sine, cosine) = defcol::math::sin_cos(std::f64::consts::FRAC_PI_4);
    let on_edge = |p: &Vector3<f64>, along: bool, height: f64| {
        let (x, y, z) = (p.x - 0.3, p.y - 0.05, p.z - 0.05);
        let (y, z) = (y * cosine - z * sine, y * sine + z * cosine);
        if along { Vector3::new(x, y + height, z) } else { Vector3::new(z, y + height, -x) }
    };
    let mut bodies = Bodies::default();
    bodies.add_solid(&bar, Collides::default());
    bodies.add_solid(&bar, Collides::default());
    let rest: Vec<_> = bar.positions().iter().chain(bar.positions()).copied().collect();
    let ridge = 0.1 / std::f64::consts::SQRT_2;
    for (shift, gap) in [(0.0, 0.005), (0.031, 0.002), (-0.17, 0.0099)] {
        let low = bar.positions().iter().map(|p| on_edge(p, true, 0.0));
        let high = bar
            .positions()
            .iter()
            .map(|p| on_edge(p, false, 2.0 * ridge + gap) + Vector3::new(shift, 0.0, shift / 3.0));
        let positions: Vec<_> = low.chain(high).collect();
        let velocities = vec![Vector3::zeros(); positions.len()];
        let mut near = ProximityPairs::default();
        let parameters = ProximityParameters { thickness: 0.01, horizon: 0.01, elapsed: 0.002 };
        near.update(&bodies, &positions, &velocities, &rest, parameters).unwrap();
        let nearest = near.stencils().iter().map(|f| f.gap).fold(f64::MAX, f64::min);
        assert!((nearest - gap).abs() < 1e-9, "shifted by {shift}: {nearest} instead of {gap}");
    }
}

/// Two arms on a bridge, three thicknesses apart.
fn horseshoe() -> TetMesh<f64> {
    let mesh = box_grid([3, 6, 1], 0.1);
    let kept: Vec<[u32; 4]> = mesh
        .tetrahedra
        .iter()
        .filter(|corners| {
            let middle =
                corners.iter().map(|&v| mesh.positions[v as usize]).sum::<Vector3<f64>>() / 4.0;
            middle.y < 0.1 || !(0.1..0.2).contains(&middle.x)
        })
        .copied()
        .collect();
    // The gap of one cell becomes a narrow one.
    let mut narrow = mesh.clone();
    for p in &mut narrow.positions {
        p.x = if p.x > 0.15 { p.x - 0.1 + 0.03 } else { p.x };
    }
    narrow.tetrahedra = kept;
    narrow.triangles.clear();
    TetMesh::new(narrow).unwrap()
}

#[test]
fn a_body_meets_itself_at_any_speed() {
    let mesh = horseshoe();
    let mut bodies = Bodies::default();
    bodies.add_solid(&mesh, Collides::with_all_and_itself());
    let rest = mesh.positions().to_vec();
    let closed: Vec<_> = rest
        .iter()
        .map(|p| Vector3::new(if p.x > 0.115 && p.y > 0.15 { p.x - 0.022 } else { p.x }, p.y, p.z))
        .collect();
    for speed in [0.0, 1.0, 50.0] {
        let velocities: Vec<_> =
            rest.iter().map(|p| Vector3::new(-speed * p.y, 0.0, 0.0)).collect();
        let parameters = ProximityParameters { thickness: 0.01, horizon: 0.012, elapsed: 0.002 };
        let mut near = ProximityPairs::default();
        near.update(&bodies, &rest, &velocities, &rest, parameters).unwrap();
        assert!(near.stencils().is_empty(), "at rest nothing is near");
        near.update(&bodies, &closed, &velocities, &rest, parameters).unwrap();
        let gaps = near.stencils().iter().map(|f| f.gap_at(|v| closed[v as usize]));
        let nearest = gaps.fold(f64::MAX, f64::min);
        assert!((nearest - 0.008).abs() < 1e-9, "at {speed} m/s: {nearest}");
    }
}

#[test]
fn a_surface_with_a_flipped_triangle_has_two_outsides() {
    for flipped in [None, Some(7)] {
        let mut mesh = icosphere(0.5, 1);
        let corners = mesh.triangles[7].map(|corner| mesh.positions[corner as usize]);
        if let Some(triangle) = flipped {
            mesh.triangles[triangle].swap(0, 1);
        }
        let center = corners.iter().sum::<Vector3<f64>>() / 3.0;
        let outward = center.normalize();
        let mut bodies = Bodies::default();
        bodies.add_surface(&TriangleMesh::new(mesh.clone()).unwrap(), Collides::default());
        bodies.add_points(1, Collides::default());
        let mut positions = mesh.positions.clone();
        positions.push(center + outward * 0.005);
        let still = vec![Vector3::zeros(); positions.len()];
        let parameters =
            ProximityParameters { thickness: THICKNESS, horizon: 0.01, elapsed: 0.002 };
        let mut pairs = ProximityPairs::default();
        pairs.update(&bodies, &positions, &still, &positions, parameters).unwrap();
        let particle = bodies.list()[1].vertices.start as u32;
        let found: Vec<_> = pairs.stencils().iter().filter(|s| s.vertices[0] == particle).collect();
        assert_eq!(found.len(), 1, "flipped: {flipped:?}");
        assert!((found[0].gap - 0.005).abs() < 1e-9 && found[0].normal.dot(&outward) > 0.99);
    }
}

#[test]
fn arrays_of_the_wrong_length_are_refused() {
    let crowd = Crowd::of(&solids::<f64>(2, || ball(0.1)), Collides::default());
    let (all, few) = (&crowd.positions[..], &crowd.positions[..5]);
    let parameters = ProximityParameters { thickness: 0.01, horizon: 0.01, elapsed: 0.002 };
    for [positions, velocities, rest] in [[few, all, all], [all, few, all], [all, all, few]] {
        let answer = ProximityPairs::default().update(
            &crowd.bodies,
            positions,
            velocities,
            rest,
            parameters,
        );
        assert_eq!(answer, Err(DetectError::PositionCount { positions: 5, vertices: 26 }));
    }
}
