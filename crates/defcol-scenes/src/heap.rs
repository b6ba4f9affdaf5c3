//! Heaps of soft bodies in the middle of a fall: bent, tangled and self-intersecting.

use std::f64::consts::PI;

use defcol::math::{Vector3, sin_cos};
use defcol::mesh::{RawMesh, TetMesh};
use defcol::state::{Bodies, Collides};

use crate::regular::box_grid;

/// Bodies and where their vertices are.
pub struct Heap {
    /// The bodies.
    pub bodies: Bodies,
    /// Positions of all vertices.
    pub positions: Vec<Vector3<f64>>,
}

/// Rods of 909 vertices and 2000 tetrahedra (THESIS table 3.1), dropped in a heap, that collide with each
/// other and with themselves. Deterministic; the rods fill 40 % of the space.
pub fn rods(count: usize) -> Heap {
    let cell = 0.02;
    let rod = box_grid([100, 2, 2], cell);
    let side = (400.0 * cell.powi(3) * count as f64 / 0.4).cbrt();
    let mut random = Random(count as u64);
    let (mut bodies, mut positions) = (Bodies::default(), Vec::new());
    let mesh = TetMesh::new(rod.clone()).ok();
    for _ in 0..count {
        let frames = bent_line(&mut random, cell);
        let place = Vector3::from_fn(|_, _| random.unit() * side);
        positions.extend(rod.positions.iter().map(|p| {
            let (center, across, up) = frames[(p.x / cell).round() as usize];
            place + center + across * (p.y - cell) + up * (p.z - cell)
        }));
        if let Some(mesh) = &mesh {
            bodies.add_solid(mesh, Collides::with_all_and_itself());
        }
    }
    Heap { bodies, positions }
}

/// Membranes of 242 vertices and 500 tetrahedra (THESIS table 3.1) on one another, each turned a little and pressed into
/// the one below by a hundredth of its thickness: what the Membrane scene of the thesis ends with.
pub fn membranes(count: usize) -> Heap {
    let (cell, press) = (0.1, 0.001);
    let membrane = box_grid([10, 10, 1], cell);
    let (mut bodies, mut positions) = (Bodies::default(), Vec::new());
    let mesh = TetMesh::new(membrane.clone()).ok();
    for number in 0..count {
        let (sine, cosine) = sin_cos(0.2 * number as f64);
        let height = number as f64 * (cell - press);
        positions.extend(membrane.positions.iter().map(|p| {
            let (x, y) = (p.x - 5.0 * cell, p.y - 5.0 * cell);
            Vector3::new(cosine * x - sine * y, sine * x + cosine * y, p.z + height)
        }));
        if let Some(mesh) = &mesh {
            bodies.add_solid(mesh, Collides::with_all_and_itself());
        }
    }
    Heap { bodies, positions }
}

/// A point of a line and two directions across it.
type Frame = (Vector3<f64>, Vector3<f64>, Vector3<f64>);

/// 101 points of a wavy line with so much distance between them, and two directions across it that turn as
/// little as possible.
fn bent_line(random: &mut Random, step: f64) -> Vec<Frame> {
    let mut heading = random.direction();
    let waves: Vec<(Vector3<f64>, f64, f64)> =
        (1..=4).map(|k| (random.direction(), 2.0 * PI * random.unit(), f64::from(k))).collect();
    let mut across = heading.cross(&random.direction()).normalize();
    let mut center = Vector3::zeros();
    let mut frames = Vec::new();
    for k in 0..=100 {
        frames.push((center, across, heading.cross(&across)));
        center += heading * step;
        let turn = waves.iter().fold(Vector3::zeros(), |sum, (axis, phase, wave)| {
            sum + axis * sin_cos(phase + wave * PI * f64::from(k) / 50.0).0
        });
        heading = (heading + heading.cross(&turn) * 0.08).normalize();
        across = (across - heading * heading.dot(&across)).normalize();
    }
    let middle = frames.iter().map(|frame| frame.0).sum::<Vector3<f64>>() / frames.len() as f64;
    frames.iter_mut().for_each(|frame| frame.0 -= middle);
    frames
}

/// The next of a sequence of reproducible random numbers from 0 to 1 (splitmix64).
pub(crate) fn splitmix(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Reproducible random numbers.
struct Random(u64);

impl Random {
    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        splitmix(&mut self.0)
    }

    /// Of length 1.
    fn direction(&mut self) -> Vector3<f64> {
        loop {
            let vector = Vector3::from_fn(|_, _| 2.0 * self.unit() - 1.0);
            if (0.1..1.0).contains(&vector.norm()) {
                return vector.normalize();
            }
        }
    }
}

/// Loose tetrahedra at random places whose sizes differ by up to a factor of 10, about as the thesis used
/// them to find the best cell size (THESIS 4.2.3). They are one body that collides with itself.
pub fn random_tetrahedra(count: usize) -> Heap {
    let mut random = Random(count as u64);
    let side = (count as f64).cbrt();
    let mut mesh = RawMesh::default();
    for number in 0..count as u32 {
        let place = Vector3::from_fn(|_, _| random.unit() * side);
        let size = 0.2 * 10f64.powf(random.unit());
        mesh.positions.extend((0..4).map(|_| place + random.direction() * (0.5 * size)));
        mesh.tetrahedra.push(std::array::from_fn(|k| 4 * number + k as u32));
    }
    let positions = mesh.positions.clone();
    let mut bodies = Bodies::default();
    if let Ok(mesh) = TetMesh::new(mesh) {
        bodies.add_solid(&mesh, Collides::with_all_and_itself());
    }
    Heap { bodies, positions }
}
