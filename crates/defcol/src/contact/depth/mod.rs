//! How deep points and edges are in bodies, and which way leads out.
//!
//! [`ConsistentDepth`] asks the surface only where points are next to it and hands the answer on to those that are
//! deeper (THESIS chapter 6); [`NearestDepth`] takes the nearest point of the surface for each alone. [`EdgeDepth`]
//! is about edges that go through bodies without an end in them.

mod consistent;
mod edges;
mod fan;
mod nearest;
mod surfaces;
mod way_out;

pub use consistent::{ConsistentDepth, DepthParameters, DepthStatistics, Enclosed, Normals};
pub use edges::EdgeDepth;
pub use nearest::NearestDepth;
pub(super) use surfaces::Surfaces;
pub use way_out::WayOut;
