//! From forces to the next state.
//!
//! Integrators work on [`System`]: all bodies with what they are made of. Vertices that move on their own, rigid bodies and
//! joints are all coordinates with rates to them.

mod explicit;
mod implicit;
mod impulses;
mod system;
mod volume;
pub mod xpbd;

pub use explicit::Explicit;
pub use implicit::{Accuracy, Implicit};
pub use system::System;
pub use volume::VolumeConstraint;

/// How states follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Integrator {
    /// Positions first, with the velocities of before. Gains energy.
    ExplicitEuler,
    /// Velocities first.
    SymplecticEuler,
    /// Velocity Verlet, of second order.
    Verlet,
    /// Runge-Kutta of fourth order.
    RungeKutta4,
    /// Forces at the end of the step, by conjugate gradients.
    ImplicitEuler(Accuracy),
    /// Extended position-based dynamics.
    #[default]
    Xpbd,
}
