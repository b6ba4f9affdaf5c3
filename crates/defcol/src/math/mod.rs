//! Numbers, boxes, planes and exact signs.

mod bounds;
mod plane;
pub mod predicate;
mod real;
mod rotation;
mod simd;

pub use bounds::Bounds;
pub use nalgebra::{Matrix3, Vector2, Vector3};
pub use plane::Plane;
pub use predicate::Sign;
pub use real::{Real, atan2, sin_cos};
pub use rotation::Rotation;
pub(crate) use simd::dispatch;
