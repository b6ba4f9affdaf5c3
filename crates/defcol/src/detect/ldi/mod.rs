//! Layered depth images (TR395, WSCG04, THESIS chapter 5): volume of overlaps, points in bodies,
//! self-overlap, combinations of bodies.
//!
//! Parallel rays go through a box, and an [`Ldi`] keeps for each where it enters and leaves a surface
//! ([`Shell`]). Everything else reads images: [`Combination`] intersects, unites and subtracts bodies,
//! [`OverlapMeter`] measures two of them along one axis, along three, or until a tolerance is met,
//! [`ManyBodies`] all pairs in one pass, [`SelfOverlap`] one body with itself, and [`SampledPoints`] tells
//! which points are inside. [`ExactPoints`] does so without error and needs no image.
//!
//! ```
//! use defcol::detect::ldi::{OverlapMeter, Shell, Software};
//! use defcol::math::Vector3;
//! use defcol_scenes::regular::icosphere;
//!
//! let ball = icosphere(1.0, 4);
//! let moved: Vec<_> = ball.positions.iter().map(|p| p + Vector3::new(1.2, 0.0, 0.0)).collect();
//! let a = Shell::new(&ball.positions, &ball.triangles)?;
//! let b = Shell::new(&moved, &ball.triangles)?;
//!
//! let overlap = OverlapMeter::<Software>::default().adaptive(&a, &b, 0.01)?;
//! let exact = std::f64::consts::PI * (2.0 - 1.2f64).powi(2) * (4.0 + 1.2) / 12.0;
//! assert!((overlap.volume.value - exact).abs() < 0.01 * exact);
//! // The first ball gets out fastest to the left.
//! assert!(overlap.direction.is_some_and(|direction| direction.x < -0.99));
//! # Ok::<(), defcol::error::DetectError>(())
//! ```

#[allow(clippy::needless_range_loop, reason = "one index for several arrays")]
mod boxes;
mod cells;
mod combination;
#[allow(clippy::needless_range_loop, reason = "one index for several arrays")]
mod exact;
mod fragment;
mod image;
mod many;
mod meter;
mod pockets;
mod points;
#[allow(clippy::needless_range_loop, reason = "one index for several arrays")]
mod raster;
mod region;
mod regions;
mod self_overlap;
#[allow(clippy::needless_range_loop, reason = "one index for several arrays")]
mod shell;
mod view;
#[allow(clippy::needless_range_loop, reason = "one index for several arrays")]
mod volume;

pub use combination::{Combination, End, Interval, Operation, interval_boxes};
pub use exact::{ExactPoints, Windings};
pub use fragment::Fragment;
pub use image::{Generator, Ldi, Software};
pub use many::{ManyBodies, PairOverlap};
pub(crate) use meter::region_of;
pub use meter::{Overlap, OverlapMeter};
pub use points::SampledPoints;
pub use region::{Region, Start};
pub use regions::{ConnectedRegion, connected_regions};
pub use self_overlap::SelfOverlap;
pub use shell::{Open, Shell};
pub use view::{MAX_DEPTH, MAX_RESOLUTION, View};
pub use volume::Volume;
