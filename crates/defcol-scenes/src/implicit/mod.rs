//! Shapes given by a function that is negative inside, and surfaces made from them.

mod decimate;
mod lattice;
mod manifold;
mod polish;
mod shape;
mod sized;
mod solid;
mod stuffing;
mod surface;

pub use shape::Shape;
pub use sized::Target;
pub use solid::SolidError;
pub(crate) use solid::squared_distance;
pub use stuffing::{DIHEDRAL_BOUNDS, Stuffing, dihedral_range};
pub use surface::{SurfaceError, surface_mesh, surface_mesh_of_size};
