//! From primitives that meet to how deep, which way, how much, and with what force.
//!
//! Every method fills one record, [`Contacts`]. [`CollidingPoints`] are the vertices in bodies, by any detector;
//! [`depth`] tells how deep each is and which way leads out, [`volume`] how much bodies have in common and how that
//! changes with every vertex, and [`surface`] where two bodies touch once both have given way.
//!
//! ```
//! use defcol::contact::depth::ConsistentDepth;
//! use defcol::contact::{CollidingPoints, Contacts};
//! use defcol::detect::hash::SpatialHash;
//! use defcol::detect::{Detector, Hits, Questions};
//! use defcol::math::Vector3;
//! use defcol::mesh::TetMesh;
//! use defcol::state::{Bodies, Collides};
//! use defcol_scenes::regular::box_grid;
//!
//! // Two cubes, squarely in each other by three tenths of their width.
//! let cube = TetMesh::new(box_grid([4, 4, 4], 0.25))?;
//! let mut bodies = Bodies::default();
//! bodies.add_solid(&cube, Collides::default());
//! bodies.add_solid(&cube, Collides::default());
//! let moved = cube.positions().iter().map(|p| p + Vector3::new(0.7, 0.0, 0.0));
//! let positions: Vec<_> = cube.positions().iter().copied().chain(moved).collect();
//!
//! let (mut hits, mut points, mut contacts) = <(Hits<_>, CollidingPoints<_>, Contacts<_>)>::default();
//! SpatialHash::default().detect(&bodies, &positions, Questions::default(), &mut hits)?;
//! points.collect_hits(&bodies, &hits);
//! ConsistentDepth::default().find(&bodies, &positions, &points, &mut contacts)?;
//! assert!(contacts.depth().iter().all(|&depth| depth < 0.3 + 1e-9));
//! assert!(contacts.direction().iter().all(|direction| direction.x.abs() > 0.99));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod depth;
mod points;
mod proximity;
mod record;
pub mod surface;
pub mod volume;

pub use points::{CollidingPoint, CollidingPoints};
pub use record::{Anchor, Contact, Contacts, Source};
