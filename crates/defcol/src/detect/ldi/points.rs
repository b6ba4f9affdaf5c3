//! Which points are inside a body, from the rays of an image.

use fearless_simd::{Level, Simd};
use rayon::prelude::*;

use super::cells::{BLOCK, Cells, OUTSIDE, SLAB_BITS, between, limited, locate};
use super::fragment::Fragment;
use super::image::Ldi;
use crate::math::{Real, Vector3, dispatch};

/// Two bits for each slab of a ray.
#[derive(Debug, Clone, Copy, Default)]
struct Slabs {
    /// Whether the ray crosses the surface there.
    crossed: u64,
    /// Whether the ray is inside, where it is not crossed.
    inside: u64,
}

/// Finds out which points are inside the body of an image: each point gets the answer of its pixel's ray at
/// its depth. It is right for every point farther from the surface than
/// [`View::sampling_error`](super::View::sampling_error). Points outside of the view's box count as outside.
///
/// Every ray is cut into 64 slabs of equal depth. Where it does not cross the surface, one bit is the answer.
#[derive(Debug)]
pub struct SampledPoints {
    level: Level,
    slabs: Vec<Slabs>,
}

impl Default for SampledPoints {
    fn default() -> Self {
        Self { level: Level::new(), slabs: vec![] }
    }
}

impl SampledPoints {
    /// Which points are inside; `inside` is overwritten.
    pub fn contains<R: Real>(&mut self, ldi: &Ldi, points: &[Vector3<R>], inside: &mut Vec<bool>) {
        let pixels = ldi.view().pixels();
        self.slabs.clear();
        self.slabs.extend((0..pixels).map(|pixel| slabs(ldi, pixel)));
        inside.clear();
        inside.resize(points.len(), false);
        let cells = Cells::new(ldi.view());
        let (level, slabs) = (self.level, &self.slabs[..]);
        let work = |points: &[Vector3<R>], inside: &mut [bool]| {
            dispatch!(level, simd => contains_some(simd, ldi, &cells, slabs, points, inside));
        };
        if rayon::current_num_threads() == 1 || points.len() <= 16 * BLOCK {
            points.chunks(BLOCK).zip(inside.chunks_mut(BLOCK)).for_each(|(p, i)| work(p, i));
        } else {
            let inside = inside.par_chunks_mut(BLOCK);
            points.par_chunks(BLOCK).zip(inside).with_min_len(16).for_each(|(p, i)| work(p, i));
        }
    }
}

/// The answers for up to [`BLOCK`] points.
#[inline(always)]
fn contains_some<S: Simd, R: Real>(
    simd: S,
    ldi: &Ldi,
    cells: &Cells,
    slabs: &[Slabs],
    points: &[Vector3<R>],
    inside: &mut [bool],
) {
    let mut places = [OUTSIDE; BLOCK];
    locate(simd, cells, points, &mut places);
    for ((point, inside), &place) in points.iter().zip(inside).zip(&places) {
        if place == OUTSIDE {
            continue;
        }
        let (pixel, slab) = cells.split(place);
        let slabs = slabs[pixel];
        *inside = if slabs.crossed >> slab & 1 == 0 {
            slabs.inside >> slab & 1 != 0
        } else {
            let depth = cells.grid.depth(point[cells.grid.axes[2]].to_f64());
            winding_before(ldi, pixel, Fragment::new(limited(depth), 0).depth()) != 0
        };
    }
}

/// The bits of the ray of a pixel.
fn slabs(ldi: &Ldi, pixel: usize) -> Slabs {
    let mut slabs = Slabs::default();
    let (mut winding, fragments) = ldi.ray(pixel);
    let mut from = 0;
    for fragment in fragments {
        let slab = fragment.depth() >> SLAB_BITS;
        slabs.crossed |= 1 << slab;
        slabs.inside |= if winding != 0 { between(from, slab) } else { 0 };
        winding += fragment.winding();
        from = slab;
    }
    slabs.inside |= if winding != 0 { between(from, 63) } else { 0 };
    slabs
}

/// The winding number on the ray of a pixel just before a depth.
fn winding_before(ldi: &Ldi, pixel: usize, depth: u32) -> i32 {
    let (first, fragments) = ldi.ray(pixel);
    let before = fragments.iter().take_while(|fragment| fragment.depth() < depth);
    first + before.map(|fragment| fragment.winding()).sum::<i32>()
}
