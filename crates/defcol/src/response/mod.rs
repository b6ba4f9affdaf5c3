//! From contacts to forces and impulses.

mod colliders;
mod fields;
mod loads;
mod penalty;

pub use colliders::{Collider, Shape};
pub use fields::{Air, Field, FieldKind, Goal, Pull};
pub use loads::{Loads, Pressure};
pub use penalty::{Pushes, Springs};

use crate::math::Real;

/// What surfaces do that touch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch<R> {
    /// How near surfaces come: bodies rest at this distance.
    pub thickness: R,
    /// The coefficient of Coulomb friction.
    pub friction: R,
    /// The share of the speed of an impact that is given back.
    pub restitution: R,
    /// The speed at which bodies part that are in each other, in m/s.
    pub recovery: R,
}

impl<R: Real> Default for Touch<R> {
    fn default() -> Self {
        Self {
            thickness: R::nearest(0.005),
            friction: R::nearest(0.5),
            restitution: R::zero(),
            recovery: R::nearest(0.5),
        }
    }
}
