//! The two experiments of MORPH03: bodies that morph while they move.

use defcol::math::{Matrix3, Vector3, sin_cos};
use defcol::mesh::RawMesh;

use crate::dolphin::dolphin;
use crate::regular::icosphere;

/// Where a body is in a step, and what it is blended of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Weights of the reference meshes: none negative, sum 1.
    pub weights: [f64; 3],
    /// From the model into the world.
    pub rotation: Matrix3<f64>,
    /// Added after the rotation.
    pub translation: Vector3<f64>,
}

/// Bodies with the same three reference meshes.
#[derive(Debug, Clone)]
pub struct MorphingScene {
    /// The first reference mesh.
    pub mesh: RawMesh<f64>,
    /// The positions of all reference meshes.
    pub references: Vec<Vec<Vector3<f64>>>,
    /// For each step the poses of all bodies.
    pub steps: Vec<Vec<Pose>>,
}

impl MorphingScene {
    /// The positions of a body in a pose.
    pub fn positions(&self, pose: &Pose) -> Vec<Vector3<f64>> {
        let blended = |vertex: usize| {
            let parts = self.references.iter().zip(pose.weights);
            parts
                .fold(Vector3::zeros(), |sum, (positions, weight)| sum + positions[vertex] * weight)
        };
        let placed = |vertex| pose.rotation * blended(vertex) + pose.translation;
        (0..self.mesh.positions.len()).map(placed).collect()
    }
}

/// The steps of both experiments in the paper.
pub const STEPS: usize = 400;

/// Weights of which two at the most are not zero: from the first mesh to the second and on to the third.
fn in_turn(share: f64) -> [f64; 3] {
    let t = 2.0 * share.clamp(0.0, 1.0);
    if t <= 1.0 { [1.0 - t, t, 0.0] } else { [0.0, 2.0 - t, t - 1.0] }
}

/// A rotation about an axis through the origin.
fn rotation(axis: Vector3<f64>, angle: f64) -> Matrix3<f64> {
    let axis = axis.normalize();
    let (sin, cos) = sin_cos(angle);
    let cross = Matrix3::new(0.0, -axis.z, axis.y, axis.z, 0.0, -axis.x, -axis.y, axis.x, 0.0);
    Matrix3::identity() + cross * sin + cross * cross * (1.0 - cos)
}

/// Two bodies that move right through each other: a ball of `20 * 4^levels` triangles (20,480 in the paper, for 5) that
/// grows knobs and becomes a rounded peanut.
pub fn passing_bodies(levels: u32, steps: usize) -> MorphingScene {
    let mesh = icosphere(1.0, levels);
    let knobs = |p: &Vector3<f64>| {
        let wave = |x: f64| sin_cos(6.0 * x).0;
        p * (0.9 + 0.25 * wave(p.x) * wave(p.y + 0.4) * wave(p.z + 0.9))
    };
    let peanut = |p: &Vector3<f64>| {
        let waist = 1.0 - 0.35 * sin_cos(2.2 * p.z).1.max(0.0);
        Vector3::new(0.8 * p.x * waist, 0.8 * p.y * waist, 1.3 * p.z)
    };
    let references = vec![
        mesh.positions.clone(),
        mesh.positions.iter().map(knobs).collect(),
        mesh.positions.iter().map(peanut).collect(),
    ];
    let pose = |body: usize, step: usize| {
        let share = step as f64 / (steps.max(2) - 1) as f64;
        let side = if body == 0 { -1.0 } else { 1.0 };
        Pose {
            weights: in_turn(if body == 0 { share } else { 1.0 - share }),
            rotation: rotation(Vector3::new(0.3, side, 0.5), 0.7 * side + 0.8 * share),
            translation: Vector3::new(side * 1.25 * (1.0 - 2.0 * share), side * 0.07, side * 0.05),
        }
    };
    let steps = (0..steps).map(|step| (0..2).map(|body| pose(body, step)).collect()).collect();
    MorphingScene { mesh, references, steps }
}

/// The largest dolphins of the paper have 564 * 4^3 triangles.
const FINEST_DOLPHIN: u32 = 3;

/// A school of twelve dolphins that swim and roll beside each other, of `564 * 4^levels` triangles each.
pub fn dolphin_school(levels: u32, steps: usize) -> MorphingScene {
    // All sizes have the same shape: vertices of the coarse ones are where those of the finest are.
    let finest = FINEST_DOLPHIN.max(levels);
    let mut mesh = dolphin(0, levels);
    let vertices = mesh.positions.len();
    let references: Vec<Vec<Vector3<f64>>> = (0..3)
        .map(|pose| dolphin(pose, finest).positions.into_iter().take(vertices).collect())
        .collect();
    mesh.positions.clone_from(&references[0]);
    let pose = |body: usize, step: usize| {
        let (row, column) = ((body / 4) as f64, (body % 4) as f64);
        let (time, own) = (step as f64 / 60.0, body as f64);
        let (beat, _) = sin_cos(3.0 * time + 1.7 * own);
        let (sway, roll) = (sin_cos(0.9 * time + 2.3 * own).0, sin_cos(0.7 * time + 1.1 * own).0);
        Pose {
            weights: [1.0 - beat.abs(), beat.max(0.0), (-beat).max(0.0)],
            rotation: rotation(Vector3::x(), 1.4 * roll),
            translation: Vector3::new(
                0.9 * (column % 2.0) + 0.35 * row + 0.2 * sway,
                1.0 * (column - 1.5) + 0.12 * sway,
                0.95 * (row - 1.0) + 0.1 * roll,
            ),
        }
    };
    let steps = (0..steps).map(|step| (0..12).map(|body| pose(body, step)).collect()).collect();
    MorphingScene { mesh, references, steps }
}
