//! Simulation of bodies in contact.
//!
//! A [`World`] holds bodies, colliders, magnets and draggers, each known by a handle, and advances them frame by frame.
//!
//! ```
//! use defcol::math::Vector3;
//! use defcol::mesh::TetMesh;
//! use defcol::response::Collider;
//! use defcol::world::{BodyKind, BodyOptions, World};
//! use defcol_scenes::regular::ball;
//!
//! let mut world = World::<f64>::default();
//! world.add_collider(Collider::half_space(Vector3::y(), 0.0))?;
//! let ball = TetMesh::new(ball(0.1))?;
//! let above = BodyOptions { position: Vector3::new(0.0, 0.3, 0.0), ..BodyOptions::default() };
//! let id = world.add_solid(&ball, BodyKind::default(), &above)?;
//! for _ in 0..60 {
//!     world.step()?;
//! }
//! assert!(world.positions(id)?.iter().all(|p| p.y > 0.0 && p.y < 0.3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bodies;
mod changes;
mod checks;
mod contacts;
mod dragger;
mod finder;
mod ids;
mod objects;
mod parameters;
mod scene;
mod snapshot;
mod step;
mod substeps;

pub use bodies::{BodyKind, BodyOptions};
pub use contacts::{BodyPoint, ContactCounts, WorldContact, WorldContacts, WorldOverlap};
pub use dragger::{DragGoal, Dragger};
pub use ids::{BodyId, ColliderId, DraggerId, MagnetId};
pub use parameters::{Detection, Response, SimulationParameters};
pub use snapshot::Snapshot;
pub use substeps::Substeps;

use crate::error::WorldError;
use crate::math::Real;
use crate::model::Model;
use crate::state::{Bodies, Motion};
use crate::stats::Clock;
use scene::{Scene, State, Workspace};

/// Bodies in contact, and everything that acts on them.
#[derive(Debug, Default)]
pub struct World<R: Real> {
    scene: Scene<R>,
    state: State<R>,
    scratch: Workspace<R>,
}

/// Energy of all bodies, in J.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Energy {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy: elastic energy and that of height.
    pub potential: f64,
    /// Energy of the deformation of bodies and of joint motors.
    pub elastic: f64,
}

impl Energy {
    /// Kinetic plus potential energy.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

impl<R: Real> World<R> {
    /// Parameters of the simulation.
    pub fn parameters(&self) -> &SimulationParameters {
        &self.scene.parameters
    }

    /// Changes the parameters.
    ///
    /// # Errors
    /// If a value is out of range; nothing changes then.
    pub fn set_parameters(&mut self, parameters: SimulationParameters) -> Result<(), WorldError> {
        parameters.validate()?;
        if parameters.integrator != self.scene.parameters.integrator {
            self.restart_solver();
        }
        self.scene.parameters = parameters;
        Ok(())
    }

    /// Topology of all bodies, in the order in which they were added.
    pub fn bodies(&self) -> &Bodies {
        &self.state.system.bodies
    }

    /// Positions, velocities and masses of all vertices.
    pub fn motion(&self) -> &Motion<R> {
        &self.state.system.motion
    }

    /// Number of frames simulated.
    pub fn frame(&self) -> u64 {
        self.state.frame
    }

    /// Simulated time, in s.
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Time spent in each stage of the last step.
    pub fn clock(&self) -> &Clock {
        &self.scratch.clock
    }

    /// Substeps of the last frame.
    pub fn substeps(&self) -> Substeps {
        self.scratch.substeps
    }

    /// Kinetic and potential energy.
    pub fn energy(&self) -> Energy {
        let system = &self.state.system;
        let [kinetic, elastic] = system.energy();
        let gravity = self.scene.parameters.gravity;
        let motion = &system.motion;
        let mut height = 0.0;
        for (body, model) in system.bodies.list().iter().zip(&system.models) {
            let own = body.vertices.clone();
            match model {
                Model::Rigid(rigid) => {
                    let center = motion.coordinates[own.start].map(R::to_f64);
                    height -= rigid.mass.to_f64() * gravity.dot(&center);
                }
                Model::Driven(_) | Model::Embedded(_) => {}
                _ => {
                    for (place, mass) in
                        motion.positions[own.clone()].iter().zip(&motion.masses[own])
                    {
                        height -= mass.to_f64() * gravity.dot(&place.map(R::to_f64));
                    }
                }
            }
        }
        Energy { kinetic, potential: elastic + height, elastic }
    }

    /// Hash of the coordinates and rates of all bodies. Equal states have equal hashes, for any number of threads.
    pub fn hash(&self) -> u64 {
        self.state.system.motion.hash()
    }

    /// Index of a body in [`World::bodies`].
    fn index(&self, id: BodyId) -> Result<usize, WorldError> {
        self.scene.bodies.index(id)
    }

    /// Global vertices of a body.
    fn range(&self, id: BodyId) -> Result<std::ops::Range<usize>, WorldError> {
        Ok(self.bodies().list()[self.index(id)?].vertices.clone())
    }

    /// Drops candidate pairs, impulses and the results of the last step: positions or bodies changed in another way than by
    /// motion.
    fn restart_solver(&mut self) {
        self.state.proximity.forget();
        self.scratch.clear_results();
        self.scene.restart_xpbd();
    }
}
