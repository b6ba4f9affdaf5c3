//! Trees of bounding volumes around triangle meshes that deform, morph or follow joints.
//!
//! A [`Collider`] is a mesh with its tree. The tree is built once; in each frame the body is given new positions, new
//! weights of its reference meshes, or new transforms of its joints. For weights and joints that takes no time
//! worth mentioning: volumes are brought up to date, and vertices evaluated, only where a search gets to (MORPH03).
//! A [`PairFinder`] finds the triangles of two bodies, or of one with itself, that meet; a [`Group`] those of many.
//!
//! ```
//! use defcol::detect::bvh::{Collider, PairFinder, Placement, Split};
//! use defcol::math::{Matrix3, Vector3};
//! use defcol::mesh::TriangleMesh;
//! use defcol_scenes::dolphin::dolphin;
//!
//! // Three poses of one dolphin, and two that swim beside each other.
//! let poses = [0, 1, 2].map(|pose| dolphin(pose, 1).positions);
//! let mesh = TriangleMesh::new(dolphin(0, 1))?;
//! let mut one: Collider<f64> = Collider::morphing(&mesh, &poses, 0, Split::default())?;
//! let mut other = one.clone();
//! other.set_placement(Placement::new(Matrix3::identity(), Vector3::new(0.0, 0.5, 0.0))?)?;
//!
//! let (mut finder, mut pairs) = (PairFinder::default(), Vec::new());
//! one.set_weights(&[0.5, 0.5, 0.0])?;
//! other.set_weights(&[0.2, 0.0, 0.8])?;
//! finder.all(&mut one, &mut other, &mut pairs);
//! assert!(!pairs.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An [`ImpactFinder`] finds when vertices, edges and triangles meet on their way from one frame to the next, which
//! looking at the frames alone would miss.

mod collider;
mod continuous;
mod descent;
mod detector;
mod front;
mod group;
mod morph;
mod motion;
mod pairs;
mod primitives;
mod signed_distance;
mod skin;
mod split;
mod stars;
mod tree;
mod volume;

pub use crate::state::Binding;
pub use collider::{Collider, Update};
pub use continuous::{Impact, ImpactFinder, Meeting};
pub use detector::TreeDetector;
pub use front::FrontTracker;
pub use group::Group;
pub use motion::{Motion, Placement};
pub use pairs::{PairFinder, Work};
pub use primitives::{Nearest, NearestSearch, PrimitiveTree, Visit};
pub use signed_distance::SignedDistance;
pub use skin::JointTransform;
pub use split::Split;
pub use tree::{Child, Tree};
pub use volume::{BoundingBox, BoundingVolume, Dop14, Dop18, Dop26, Slabs, Sphere};
