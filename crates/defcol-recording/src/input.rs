//! What reaches into a world from outside.

use defcol::error::WorldError;
use defcol::math::{Real, Vector3};
use defcol::world::{SimulationParameters, World};
use serde::{Deserialize, Serialize};

use crate::facts::{parameters, vector};

/// A change from outside, as it is kept in the channel `inputs`. Bodies are named by the numbers of their ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Input {
    /// Parameters of the world.
    Parameters {
        /// All of them.
        #[serde(with = "parameters")]
        parameters: SimulationParameters,
    },
    /// The angle that a motor pulls a joint to.
    JointTarget {
        /// The body.
        body: u32,
        /// The joint.
        joint: usize,
        /// The angle, in radians.
        angle: f64,
    },
    /// How shapes are blended.
    Weights {
        /// The body.
        body: u32,
        /// A weight for each shape.
        weights: Vec<f64>,
    },
    /// The velocity of a body.
    Velocity {
        /// The body.
        body: u32,
        /// Of its centre of mass.
        #[serde(with = "vector")]
        linear: Vector3<f64>,
        /// About its centre of mass.
        #[serde(with = "vector")]
        angular: Vector3<f64>,
    },
    /// Vertices that are held, or let go.
    Fixed {
        /// The body.
        body: u32,
        /// Its vertices.
        vertices: Vec<u32>,
        /// Whether they are held.
        fixed: bool,
    },
}

impl Input {
    /// Changes a world.
    pub fn apply<R: Real>(&self, world: &mut World<R>) -> Result<(), WorldError> {
        match self {
            Self::Parameters { parameters } => world.set_parameters(parameters.clone()),
            Self::JointTarget { body, joint, angle } => {
                let id = world.body_id(*body)?;
                world.set_joint_target(id, *joint, *angle)
            }
            Self::Weights { body, weights } => {
                let id = world.body_id(*body)?;
                world.set_weights(id, weights)
            }
            Self::Velocity { body, linear, angular } => {
                let id = world.body_id(*body)?;
                world.set_velocity(id, *linear, *angular)
            }
            Self::Fixed { body, vertices, fixed } => {
                let id = world.body_id(*body)?;
                if *fixed { world.pin(id, vertices) } else { world.unpin(id, vertices) }
            }
        }
    }
}

/// An input and the frame before which it came, as a message.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Timed {
    pub frame: u64,
    pub input: Input,
}
