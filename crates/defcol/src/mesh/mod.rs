//! Immutable topology with rest positions, what may be wrong with it, and how to mend it.
//!
//! [`RawMesh`] is what comes in; [`inspect`] says what it is and what is wrong with it; the
//! functions of [`repair`] change it and report what they did; [`TriangleMesh`] and [`TetMesh`]
//! are what the rest of defcol works on.

mod components;
mod defects;
mod edges;
mod inspection;
mod integrals;
mod normals;
mod raw;
pub mod repair;
mod rows;
mod surface;
mod tet_mesh;
mod triangle_mesh;
mod weld;

pub use components::Components;
pub(crate) use components::DisjointSets;
pub use defects::{Defect, DefectKind, Place};
pub use edges::Edges;
pub(crate) use edges::unmatched_half_edges;
pub use inspection::{Inspection, inspect};
pub use integrals::{MassProperties, area, mass_properties, solid_angle};
pub use normals::vertex_normals;
pub use raw::RawMesh;
pub use rows::Rows;
pub use surface::{Surface, outward_faces};
pub use tet_mesh::TetMesh;
pub use triangle_mesh::TriangleMesh;
pub use weld::first_coincident;
