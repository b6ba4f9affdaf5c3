//! Everything that pushes and pulls bodies from outside, and each other.

use super::{Air, Field, Pull, Pushes};
use crate::contact::volume::VolumeContact;
use crate::math::{Real, Vector3};
use crate::state::{Bodies, Motion};

/// Pressure and friction of overlapping volumes (FAURE08).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pressure {
    /// Pressure per volume, in Pa/m³.
    pub stiffness: f64,
    /// Stress per sliding speed, in Pa s/m.
    pub viscosity: f64,
}

/// All of it for one step.
#[derive(Debug)]
pub struct Loads<R: Real> {
    /// Acceleration of everything.
    pub gravity: Vector3<R>,
    /// Wind and drag.
    pub air: Air,
    /// Magnets.
    pub fields: Vec<Field>,
    /// Springs to points.
    pub pulls: Vec<Pull<R>>,
    /// Contacts as springs.
    pub pushes: Pushes<R>,
    /// Positions in which these were found.
    pub found_at: Vec<Vector3<R>>,
    /// Overlaps, of which so many count.
    pub volumes: Vec<VolumeContact>,
    /// How many.
    pub volume_count: usize,
    /// What they do; none: they are kept for a constraint.
    pub pressure: Option<Pressure>,
}

impl<R: Real> Default for Loads<R> {
    fn default() -> Self {
        Self {
            gravity: Vector3::zeros(),
            air: Air { wind: Vector3::zeros(), drag: 0.0 },
            fields: vec![],
            pulls: vec![],
            pushes: Pushes::default(),
            found_at: vec![],
            volumes: vec![],
            volume_count: 0,
            pressure: None,
        }
    }
}

impl<R: Real> Loads<R> {
    /// Adds all forces on vertices but for gravity.
    pub fn add_forces(&self, bodies: &Bodies, motion: &Motion<R>, forces: &mut [Vector3<R>]) {
        self.add_far_forces(bodies, motion, forces);
        for pull in &self.pulls {
            pull.add_forces(&motion.positions, &motion.velocities, forces);
        }
        self.pushes.add_forces(&motion.positions, &self.found_at, &motion.velocities, forces);
    }

    /// The same without springs to points, which XPBD takes as constraints.
    pub fn add_xpbd_forces(&self, bodies: &Bodies, motion: &Motion<R>, forces: &mut [Vector3<R>]) {
        self.add_far_forces(bodies, motion, forces);
        self.pushes.add_forces(&motion.positions, &self.found_at, &motion.velocities, forces);
    }

    /// The same without springs to points and contacts as springs.
    pub fn add_far_forces(&self, bodies: &Bodies, motion: &Motion<R>, forces: &mut [Vector3<R>]) {
        let Motion { positions, velocities, masses, .. } = motion;
        for field in &self.fields {
            for ((force, place), mass) in forces.iter_mut().zip(positions).zip(masses) {
                *force += field.at(place.map(R::to_f64)).map(R::nearest) * *mass;
            }
        }
        self.air.add_forces(bodies.triangles(), positions, velocities, forces);
        if let Some(Pressure { stiffness, viscosity }) = self.pressure {
            for volume in &self.volumes[..self.volume_count] {
                volume.add_forces(stiffness, forces);
                volume.add_friction(velocities, viscosity, forces);
            }
        }
    }

    /// Adds how forces change if vertices move by `vector`: positions count times the first scale, velocities times the
    /// second.
    pub fn add_stiffness_times(
        &self,
        vector: &[Vector3<R>],
        scales: [R; 2],
        product: &mut [Vector3<R>],
    ) {
        for pull in &self.pulls {
            pull.add_stiffness_times(vector, scales, product);
        }
        self.pushes.add_stiffness_times(vector, scales, product);
        if let Some(Pressure { stiffness, viscosity }) = self.pressure {
            for volume in &self.volumes[..self.volume_count] {
                volume.add_stiffness_times(stiffness * scales[0].to_f64(), vector, product);
                volume.add_friction(vector, viscosity * scales[1].to_f64(), product);
            }
        }
    }

    /// Adds an estimate of the diagonal of each vertex.
    pub fn add_diagonal(&self, scales: [R; 2], diagonal: &mut [R]) {
        self.pulls.iter().for_each(|pull| pull.add_diagonal(scales, diagonal));
        self.pushes.add_diagonal(scales, diagonal);
        if let Some(Pressure { stiffness, .. }) = self.pressure {
            let stiffness = stiffness * scales[0].to_f64();
            for volume in &self.volumes[..self.volume_count] {
                for share in volume.vertices() {
                    let own = stiffness * share.gradient.norm_squared();
                    diagonal[share.vertex as usize] += R::nearest(own);
                }
            }
        }
    }
}
