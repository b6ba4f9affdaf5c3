//! Tetrahedral meshes from closed surfaces and from signed distance functions.
//!
//! A [`Shape`] is a function that is negative inside: of a closed surface ([`Shape::from_surface`]) or built from
//! primitives. [`Target`] fills it with tetrahedra by isosurface stuffing (Labelle2007), [`surface_mesh`]
//! triangulates its boundary, and an [`embedding::Embedding`] attaches a fine surface to a coarse solid.
//!
//! ```
//! use defcol_meshing::{Shape, Target};
//!
//! let ball = Shape::from_surface(&defcol_scenes::regular::icosphere(1.0, 3))?;
//! let solid = Target::tetrahedra(500).fill(&ball, |_| ())?;
//! assert!(solid.tetrahedra.len() > 400 && solid.tetrahedra.len() < 600);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decimate;
pub mod embedding;
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
pub use stuffing::{DIHEDRAL_BOUNDS, Stuffing, dihedral_range};
pub use surface::{SurfaceError, surface_mesh, surface_mesh_of_size};
