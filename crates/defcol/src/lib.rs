//! Collision and self-collision of deformable objects.
//!
//! The crate is laid out as a pipeline; each folder uses only those before it:
//! [`math`] (numbers, boxes, planes, exact signs), [`mesh`] (immutable topology with rest positions,
//! defect report, repair), [`state`] (all bodies behind one another), [`model`] (forces within bodies), [`broad`] (boxes
//! of bodies that meet), [`detect`] (primitives that meet), [`contact`] (how deep, which way, how much), [`response`] (what
//! contacts do), [`integrate`] (the next state) and [`world`] (one frame after the other).
//!
//! Arrays from outside are a [`mesh::RawMesh`], about which nothing is promised. A
//! [`mesh::TriangleMesh`] or [`mesh::TetMesh`] is checked once when it is made and then trusted.
//!
//! ```
//! use defcol::math::Vector3;
//! use defcol::mesh::{RawMesh, TetMesh};
//!
//! let mesh = TetMesh::new(RawMesh {
//!     positions: vec![
//!         Vector3::new(0.0, 0.0, 0.0),
//!         Vector3::new(1.0, 0.0, 0.0),
//!         Vector3::new(0.0, 1.0, 0.0),
//!         Vector3::new(0.0, 0.0, 1.0),
//!     ],
//!     tetrahedra: vec![[0, 1, 2, 3]],
//!     ..Default::default()
//! })?;
//! assert_eq!(mesh.surface().triangles().len(), 4);
//! assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
//! # Ok::<(), defcol::error::MeshError>(())
//! ```

pub mod broad;
pub mod contact;
pub mod detect;
pub mod error;
#[cfg(debug_assertions)]
#[doc(hidden)]
pub mod instantiate;
pub mod integrate;
pub mod math;
pub mod mesh;
pub mod model;
pub mod response;
pub mod state;
pub mod stats;
pub mod world;
