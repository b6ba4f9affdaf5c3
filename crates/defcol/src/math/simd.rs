//! Selection of the SIMD level at run time.

/// Runs code at the best SIMD level of the processor: `dispatch!(level, simd => expression)`.
///
/// Results are bitwise identical for all levels. With debug assertions only SSE2, which every x86-64 processor has, is
/// compiled, one of four levels: SIMD code is a quarter of what a dev build compiles
/// (docs/decisions/0012-build-time.md).
#[cfg(all(debug_assertions, target_arch = "x86_64"))]
macro_rules! dispatch {
    ($level:expr, $simd:pat => $body:expr) => {{
        /// Hides the concrete type, so that the code is as generic as in release builds.
        #[inline(always)]
        fn opaque<S: fearless_simd::Simd>(simd: S) -> impl fearless_simd::Simd {
            simd
        }
        let level: fearless_simd::Level = $level;
        let Some(token) = level.as_sse2() else { unreachable!("x86-64 has SSE2") };
        let $simd = opaque(token);
        fearless_simd::Simd::vectorize(
            token,
            #[inline(always)]
            || $body,
        )
    }};
}
#[cfg(all(debug_assertions, target_arch = "x86_64"))]
pub(crate) use dispatch;

#[cfg(not(all(debug_assertions, target_arch = "x86_64")))]
pub(crate) use fearless_simd::dispatch;
