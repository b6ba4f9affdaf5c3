//! One function per question about meshes and recordings, with serializable answers.
//!
//! All front ends share these functions, so that they give identical answers. Meshes are passed in memory, with the name
//! used for them in reports; nothing here parses arguments or prints.
//!
//! ```
//! use defcol_io::Model;
//! use defcol_query::{CollideOptions, NamedMesh, collide};
//! use defcol_scenes::regular::icosphere;
//!
//! let ball = |name: &str| NamedMesh::new(name, Model::from_mesh(icosphere(1.0, 3)));
//! let found = collide(&[ball("first"), ball("second")], &CollideOptions::default(), &|_| ())?;
//! assert!(found.report.colliding);
//! # Ok::<(), defcol_query::QueryError>(())
//! ```

mod collide;
mod contains;
mod depth;
mod error;
mod inspect;
mod movie;
mod number;
mod overlap_mesh;
mod picture;
mod rig;
mod scene;
mod simulation;
mod steps;
mod tetrahedralize;
mod verify;
mod volume;

pub use collide::{CollideMethod, CollideOptions, CollideReport, Collisions, PairReport, collide};
pub use contains::{Containment, ContainsMethod, ContainsOptions, ContainsReport, contains};
pub use depth::{DepthMethod, DepthOptions, DepthPairReport, DepthReport, Depths, depth};
pub use error::QueryError;
pub use inspect::{DefectReport, InspectReport, MeshReport, example_meshes, inspect};
pub use movie::record_movie;
pub use number::short_number;
pub use overlap_mesh::OverlapMesh;
pub use picture::{body_models, depth_complexity_picture, layer_models};
pub use rig::{RigError, bvh_mesh, joint_transforms, reference_weights};
pub use scene::{ColouredMesh, LoadedSurface, MeshScene, NamedMesh, OpenSurface};
pub use simulation::{Simulation, SimulationRecorder};
pub use steps::{OnStep, Step, Steps, with_steps};
pub use tetrahedralize::{
    Tetrahedralization, TetrahedralizeOptions, TetrahedralizeReport, tetrahedralize,
};
pub use verify::{Divergence, verify};
pub use volume::{
    GradientRow, PatchReport, VolumeGradient, VolumeMeasurement, VolumeOptions, VolumeReport,
    volume,
};
