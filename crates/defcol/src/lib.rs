//! Collision detection and response for deformable objects: where they intersect each other and themselves, how deep, how much
//! volume they share, and which force separates them. Without preprocessing, on the CPU, bitwise identical for any number of
//! threads.
//!
//! # What do you want to know?
//!
//! | question | type |
//! | --- | --- |
//! | Is my mesh fit for use? Where is it open, inverted, degenerate? | [`mesh::inspect`], [`mesh::repair`] |
//! | Which bodies may collide at all? | [`broad::BroadPhase`] |
//! | Which vertices are inside which tetrahedra, which edges pass through which triangles? | [`detect::hash::SpatialHash`] |
//! | Which triangles of two surfaces intersect, which of one surface? | [`detect::bvh::PairFinder`] |
//! | Do moving triangles hit each other between two frames, and when? | [`detect::bvh::ImpactFinder`] |
//! | Which surfaces are closer to each other than a distance? | [`detect::proximity::ProximityPairs`] |
//! | Is a point inside a surface? How far away is the surface? | [`detect::ldi::ExactPoints`], [`detect::bvh::SignedDistance`] |
//! | How deep is each vertex in another body, and which direction separates them? | [`contact::depth::ConsistentDepth`] |
//! | How much volume do two bodies share? | [`detect::ldi::OverlapMeter`] |
//! | How does that volume change with every vertex, and which forces follow? | [`contact::volume::VolumeContact`] |
//! | How do bodies move under contact? | [`world::World`] |
//! | How do I go back to an earlier frame? | [`world::Snapshot`] |
//!
//! Detectors and contacts take positions and meshes as slices: with an engine of your own you do not need a
//! [`World`](world::World). The examples are programs to start from:
//! `cargo run -p defcol --example own_engine`, `volume_gradient` and `dragging`; in other crates `falling_solid`
//! (`defcol-scenes`), `characters` (`defcol-query`) and `record_and_replay` (`defcol-recording`).
//!
//! # Layout
//!
//! Modules are the stages of a pipeline; each uses only those before it: [`math`] (numbers, boxes, planes, exact
//! predicates), [`mesh`] (immutable topology with rest positions, defects, repair), [`state`] (topology and motion of all
//! bodies), [`model`] (forces within bodies), [`broad`] (pairs of bodies), [`detect`] (pairs of primitives), [`contact`]
//! (depth, direction, volume), [`response`] (forces of contacts), [`integrate`] (the next state) and [`world`] (one frame
//! after the other). [`prelude`] holds what most programs need.
//!
//! Arrays from outside are a [`mesh::RawMesh`], about which nothing is promised. A [`mesh::TriangleMesh`] or
//! [`mesh::TetMesh`] is checked once when it is made and then trusted.
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
pub mod prelude;
pub mod response;
pub mod state;
pub mod stats;
pub mod world;
