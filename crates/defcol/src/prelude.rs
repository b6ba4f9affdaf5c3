//! The types that most programs need: `use defcol::prelude::*;`.
//!
//! ```
//! use defcol::prelude::*;
//! use defcol_scenes::regular::ball;
//!
//! let mut world = World::<f64>::default();
//! world.add_collider(Collider::half_space(Vector3::y(), 0.0))?;
//! let id = world.add_solid(&TetMesh::new(ball(0.1))?, BodyKind::default(), &BodyOptions::default())?;
//! world.step()?;
//! assert_eq!(world.positions(id)?.len(), 13);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::contact::depth::ConsistentDepth;
pub use crate::contact::volume::VolumeContact;
pub use crate::contact::{CollidingPoints, Contact, Contacts};
pub use crate::detect::hash::SpatialHash;
pub use crate::detect::{Detector, Hits, Questions};
pub use crate::error::{DetectError, MeshError, WorldError};
pub use crate::integrate::{Accuracy, Integrator};
pub use crate::math::{Real, Vector3};
pub use crate::mesh::{RawMesh, TetMesh, TriangleMesh};
pub use crate::model::{ConstitutiveLaw, ElasticModuli, Joint, Moduli, ShapeParameters};
pub use crate::response::{Air, Collider, Field, FieldKind, Pressure, Springs};
pub use crate::state::{Bodies, Collides};
pub use crate::world::{
    BodyId, BodyKind, BodyOptions, ColliderId, Detection, Dragger, DraggerId, MagnetId, Response,
    SimulationParameters, Snapshot, World,
};
