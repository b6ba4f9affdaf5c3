//! From forces to the next state.
//!
//! Integrators work on all bodies with their models. Vertices that move on their own, rigid bodies and
//! joints are all coordinates with rates to them.

mod explicit;
mod implicit;
mod impulses;
mod system;
mod volume;
mod xpbd;

use explicit::Explicit;
pub use implicit::Accuracy;
use implicit::Implicit;
pub(crate) use system::System;
pub(crate) use volume::VolumeConstraint;
pub(crate) use xpbd::{ContactInput, Xpbd};

use crate::math::Real;
use crate::response::AppliedForces;

/// Time integration scheme.
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

/// Durations that a substep needs to know, in s.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interval<R> {
    /// Length of the substep.
    pub step: R,
    /// From the beginning of the substep to the end of the frame.
    pub left: R,
}

/// Integrators that advance by forces: all except XPBD. They keep buffers only, no state.
#[derive(Debug, Default)]
pub(crate) struct ForceIntegrators<R: Real> {
    explicit: Explicit<R>,
    implicit: Implicit<R>,
}

impl<R: Real> ForceIntegrators<R> {
    /// Advances by a substep.
    pub fn advance(
        &mut self,
        integrator: Integrator,
        system: &mut System<R>,
        forces: &AppliedForces<R>,
        time: Interval<R>,
    ) {
        match integrator {
            Integrator::ExplicitEuler => self.explicit.euler(system, forces, time),
            Integrator::SymplecticEuler => self.explicit.symplectic(system, forces, time),
            Integrator::Verlet => self.explicit.verlet(system, forces, time),
            Integrator::RungeKutta4 => self.explicit.runge_kutta(system, forces, time),
            Integrator::ImplicitEuler(accuracy) => {
                self.implicit.step(system, forces, accuracy, time);
            }
            Integrator::Xpbd => {}
        }
    }
}
