//! From contacts to forces and impulses.

mod applied_forces;
mod colliders;
mod fields;
mod penalty;

pub(crate) use applied_forces::AppliedForces;
pub use applied_forces::Pressure;
pub use colliders::{Collider, Shape};
pub use fields::{Air, Field, FieldKind};
pub(crate) use fields::{Goal, Pull};
pub(crate) use penalty::PenaltyContacts;
pub use penalty::Springs;

use crate::math::Real;

/// Properties of contacts between surfaces. In single precision where the simulation runs in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactParameters<T = f64> {
    /// Distance at which surfaces rest, in m.
    pub thickness: T,
    /// Coulomb friction coefficient.
    pub friction: T,
    /// Restitution coefficient, from 0 to 1.
    pub restitution: T,
    /// Largest speed at which overlapping bodies are pushed apart, and the approach speed above which they bounce, in m/s.
    pub recovery: T,
}

impl Default for ContactParameters {
    fn default() -> Self {
        Self { thickness: 0.005, friction: 0.5, restitution: 0.0, recovery: 0.5 }
    }
}

impl ContactParameters {
    /// The same in another precision.
    pub(crate) fn cast<R: Real>(&self) -> ContactParameters<R> {
        ContactParameters {
            thickness: R::nearest(self.thickness),
            friction: R::nearest(self.friction),
            restitution: R::nearest(self.restitution),
            recovery: R::nearest(self.recovery),
        }
    }
}
