use fearless_simd::{Simd, SimdFloat, SimdFloatElement, f32x8, f64x8};
use nalgebra::RealField;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The two kinds of number that defcol computes with: `f32` and `f64`.
pub trait Real: RealField + Copy + Default + SimdFloatElement + sealed::Sealed {
    /// Coordinates beyond this are refused. It leaves room for products of three lengths (a
    /// volume) in `f32`, and of five (a moment of inertia) in `f64`.
    const MAX_COORDINATE: f64;

    /// Eight of them, computed with at once.
    type Eight<S: Simd>: SimdFloat<S, Element = Self>;

    /// The value as `f64`, exactly.
    fn to_f64(self) -> f64;

    /// The nearest representable value.
    fn nearest(value: f64) -> Self;
}

impl Real for f32 {
    const MAX_COORDINATE: f64 = 1e12;

    type Eight<S: Simd> = f32x8<S>;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn nearest(value: f64) -> Self {
        value as f32
    }
}

impl Real for f64 {
    const MAX_COORDINATE: f64 = 1e60;

    type Eight<S: Simd> = f64x8<S>;

    fn to_f64(self) -> f64 {
        self
    }

    fn nearest(value: f64) -> Self {
        value
    }
}

/// Sine and cosine with the same bits on every platform, which `f64::sin_cos` does not promise.
pub fn sin_cos<R: Real>(angle: R) -> (R, R) {
    nalgebra::ComplexField::sin_cos(angle)
}

/// The angle of a direction with the same bits on every platform, which `f64::atan2` does not promise.
pub fn atan2<R: Real>(y: R, x: R) -> R {
    nalgebra::RealField::atan2(y, x)
}
