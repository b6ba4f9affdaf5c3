//! Everything that acts on bodies from outside, and between them.

use super::{Air, Field, PenaltyContacts, Pull};
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

/// External forces and contact forces of one substep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AppliedForces<'a, R: Real> {
    /// Acceleration of everything, in m/s².
    pub gravity: Vector3<R>,
    pub air: Air,
    pub magnets: &'a [Field],
    /// Springs of draggers. XPBD takes them as constraints.
    pub pulls: &'a [Pull<R>],
    /// Contacts as springs.
    pub contacts: &'a PenaltyContacts<R>,
    /// Overlapping volumes.
    pub volumes: &'a [VolumeContact],
    /// Turns volumes into pressures; `None` if the volumes are constraints.
    pub pressure: Option<Pressure>,
}

impl<R: Real> AppliedForces<'_, R> {
    /// Adds all forces on vertices except gravity.
    pub fn add_forces(&self, bodies: &Bodies, motion: &Motion<R>, forces: &mut [Vector3<R>]) {
        self.add_field_forces(bodies, motion, forces);
        for pull in self.pulls {
            pull.add_forces(&motion.positions, &motion.velocities, forces);
        }
        self.contacts.add_forces(&motion.positions, &motion.velocities, forces);
    }

    /// Adds all forces on vertices except gravity and the springs of draggers.
    pub fn add_forces_without_pulls(
        &self,
        bodies: &Bodies,
        motion: &Motion<R>,
        forces: &mut [Vector3<R>],
    ) {
        self.add_field_forces(bodies, motion, forces);
        self.contacts.add_forces(&motion.positions, &motion.velocities, forces);
    }

    fn add_field_forces(&self, bodies: &Bodies, motion: &Motion<R>, forces: &mut [Vector3<R>]) {
        let Motion { positions, velocities, masses, .. } = motion;
        for magnet in self.magnets {
            for ((force, place), mass) in forces.iter_mut().zip(positions).zip(masses) {
                *force += magnet.at(place.map(R::to_f64)).map(R::nearest) * *mass;
            }
        }
        self.air.add_forces(bodies.triangles(), positions, velocities, forces);
        if let Some(Pressure { stiffness, viscosity }) = self.pressure {
            for volume in self.volumes {
                volume.add_forces(stiffness, forces);
                volume.add_friction(velocities, viscosity, forces);
            }
        }
    }

    /// Adds K `vector` times the first scale and D `vector` times the second, with K the derivative of the forces by
    /// positions and D that by velocities.
    pub fn add_stiffness_times(
        &self,
        vector: &[Vector3<R>],
        scales: [R; 2],
        product: &mut [Vector3<R>],
    ) {
        for pull in self.pulls {
            pull.add_stiffness_times(vector, scales, product);
        }
        self.contacts.add_stiffness_times(vector, scales, product);
        if let Some(Pressure { stiffness, viscosity }) = self.pressure {
            for volume in self.volumes {
                volume.add_stiffness_times(stiffness * scales[0].to_f64(), vector, product);
                volume.add_friction(vector, viscosity * scales[1].to_f64(), product);
            }
        }
    }

    /// Adds an estimate of the diagonal of -K and -D, one number per vertex.
    pub fn add_diagonal(&self, scales: [R; 2], diagonal: &mut [R]) {
        self.pulls.iter().for_each(|pull| pull.add_diagonal(scales, diagonal));
        self.contacts.add_diagonal(scales, diagonal);
        if let Some(Pressure { stiffness, .. }) = self.pressure {
            let stiffness = stiffness * scales[0].to_f64();
            for volume in self.volumes {
                for share in volume.vertices() {
                    let own = stiffness * share.gradient.norm_squared();
                    diagonal[share.vertex as usize] += R::nearest(own);
                }
            }
        }
    }
}
