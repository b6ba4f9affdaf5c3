//! Signs that decide something: exact, whatever the rounding.
//!
//! They are exact as long as no intermediate product over- or underflows, that is for coordinates
//! that are zero or between 1e-92 and [`Real::MAX_COORDINATE`] in magnitude. Every `f32` is.
//! Based on adaptive expansions (Shewchuk 1997) as implemented by the `robust` crate.

use super::{Real, Vector2, Vector3};
use robust::{Coord, Coord3D};

/// The sign of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// Less than zero.
    Negative,
    /// Exactly zero.
    Zero,
    /// Greater than zero.
    Positive,
}

impl Sign {
    fn of(value: f64) -> Self {
        if value > 0.0 {
            Self::Positive
        } else if value < 0.0 {
            Self::Negative
        } else {
            Self::Zero
        }
    }

    /// The other sign.
    #[must_use]
    pub fn flipped(self) -> Self {
        match self {
            Self::Negative => Self::Positive,
            Self::Zero => Self::Zero,
            Self::Positive => Self::Negative,
        }
    }
}

/// Sign of the area of the triangle `a b c`: positive if it runs counter-clockwise.
pub fn orient2d<R: Real>(a: Vector2<R>, b: Vector2<R>, c: Vector2<R>) -> Sign {
    let [a, b, c] = [a, b, c].map(|p| Coord { x: p.x.to_f64(), y: p.y.to_f64() });
    Sign::of(robust::orient2d(a, b, c))
}

/// Sign of `det [b-a, c-a, d-a]`: positive if `d` is on the side of the plane `a b c` from which
/// that triangle runs counter-clockwise, and then the tetrahedron `a b c d` is not inverted.
pub fn orient3d<R: Real>(a: Vector3<R>, b: Vector3<R>, c: Vector3<R>, d: Vector3<R>) -> Sign {
    Sign::of(orient3d_value(a, b, c, d))
}

/// About `det [b-a, c-a, d-a]`, six times the volume of the tetrahedron `a b c d`, with the exact sign.
pub fn orient3d_value<R: Real>(a: Vector3<R>, b: Vector3<R>, c: Vector3<R>, d: Vector3<R>) -> f64 {
    let [a, b, c, d] =
        [a, b, c, d].map(|p| Coord3D { x: p.x.to_f64(), y: p.y.to_f64(), z: p.z.to_f64() });
    // Shewchuk's sign is positive for `d` below the plane.
    -robust::orient3d(a, b, c, d)
}

/// Whether three points lie on one line (or coincide): a triangle without area.
pub fn collinear<R: Real>(a: Vector3<R>, b: Vector3<R>, c: Vector3<R>) -> bool {
    // They do exactly if their shadows on all three coordinate planes do.
    [(0, 1), (1, 2), (2, 0)].into_iter().all(|(u, v)| {
        let [a, b, c] = [a, b, c].map(|p| Vector2::new(p[u], p[v]));
        orient2d(a, b, c) == Sign::Zero
    })
}
