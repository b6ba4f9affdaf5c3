//! The box of a view cut into cells: pixels into slabs of depth.

use fearless_simd::Simd;

use super::fragment::Fragment;
use super::raster::{Numbering, for_each_position};
use super::view::{Grid, MAX_DEPTH, View};
use crate::math::{Bounds, Real, Vector3};

/// Points and triangles that are looked at together.
pub(super) const BLOCK: usize = 256;

/// A pixel has 64 slabs, this many steps of depth each, as a power of two.
pub(super) const SLAB_BITS: u32 = u32::BITS - 6;

/// The place of a point that is outside of the box.
pub(super) const OUTSIDE: u32 = u32::MAX;

/// Bits of a place for the column and the row, with fractions of a pixel.
pub(super) const PLACE_BITS: u32 = 13;
pub(super) const PLACE_MASK: u32 = (1 << PLACE_BITS) - 1;

/// Cells of a view. Which cell a coordinate belongs to never decreases as the coordinate grows, so a
/// triangle has points only in cells between those of its corners.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cells {
    pub grid: Grid,
    pub bounds: Bounds<f64>,
    /// Fractions that a pixel has in a place, as a power of two.
    pub fraction: u32,
}

impl Cells {
    pub fn new(view: &View) -> Self {
        let grid = view.grid();
        // A bit more than columns need, so that no place is OUTSIDE.
        let columns = view.resolution().ilog2() + 1;
        Self { grid, bounds: view.bounds(), fraction: (PLACE_BITS - columns).min(grid.shift) }
    }

    /// Column and row with fractions, and the slab: in 13, 13 and 6 bits from the lowest on.
    #[inline(always)]
    pub fn place<R: Real>(&self, position: &Vector3<R>) -> u32 {
        let grid = &self.grid;
        let [u, v, w] = grid.axes;
        let column = grid.pixel(grid.steps(0, position[u].to_f64()), self.fraction) as u32;
        let row = grid.pixel(grid.steps(1, position[v].to_f64()), self.fraction) as u32;
        let depth = limited(grid.depth(position[w].to_f64()));
        let slab = Fragment::new(depth, 0).depth() >> SLAB_BITS;
        slab << (2 * PLACE_BITS) | row << PLACE_BITS | column
    }

    /// A position along columns, rows and rays, with a cell as the unit.
    pub fn in_cells(&self, turned: Vector3<f64>) -> Vector3<f64> {
        let [u, v, w] = self.grid.axes;
        let extent = self.bounds.extent();
        let pixels = f64::from(self.grid.resolution);
        Vector3::new(
            (turned.x - self.bounds.min[u]) / extent[u] * pixels,
            (turned.y - self.bounds.min[v]) / extent[v] * pixels,
            (turned.z - self.bounds.min[w]) / extent[w] * 64.0,
        )
    }

    /// The pixel and the slab of a place.
    #[inline(always)]
    pub fn split(&self, place: u32) -> (usize, u32) {
        let (row, column) = (place >> PLACE_BITS & PLACE_MASK, place & PLACE_MASK);
        (self.pixel(column, row), place >> (2 * PLACE_BITS))
    }

    /// The square of a pixel, of eight by eight, that a place is in.
    #[inline(always)]
    pub fn square(&self, place: u32) -> [u32; 2] {
        [place & PLACE_MASK, place >> PLACE_BITS & PLACE_MASK].map(|k| self.square_of(k))
    }

    /// The square of a column or row with fractions.
    #[inline(always)]
    pub fn square_of(&self, k: u32) -> u32 {
        // The finest rasters have fewer fractions than squares.
        if self.fraction >= 3 { k >> (self.fraction - 3) & 7 } else { k << (3 - self.fraction) & 7 }
    }

    /// The pixel of a column and a row with fractions.
    #[inline(always)]
    pub fn pixel(&self, column: u32, row: u32) -> usize {
        let resolution = self.grid.resolution as u32;
        ((row >> self.fraction) * resolution + (column >> self.fraction)) as usize
    }
}

/// The bits from one slab to another, both included.
#[inline(always)]
pub(super) fn between(from: u32, to: u32) -> u64 {
    (u64::MAX << from) & (u64::MAX >> (63 - to))
}

/// A depth that is limited to the box.
#[inline(always)]
pub(super) fn limited(depth: f64) -> f64 {
    let depth = if depth > 0.0 { depth } else { 0.0 };
    if depth < f64::from(MAX_DEPTH) { depth } else { f64::from(MAX_DEPTH) }
}

/// The places of points.
#[inline(always)]
pub(super) fn locate<S: Simd, R: Real>(
    simd: S,
    cells: &Cells,
    points: &[Vector3<R>],
    places: &mut [u32],
) {
    for_each_position(simd, points, places, &InBox(*cells));
}

/// The places of positions, those outside of the box in its outermost cells.
#[inline(always)]
pub(super) fn place_all<S: Simd, R: Real>(
    simd: S,
    cells: &Cells,
    positions: &[Vector3<R>],
    places: &mut [u32],
) {
    for_each_position(simd, positions, places, &Anywhere(*cells));
}

struct InBox(Cells);

impl<R: Real> Numbering<R> for InBox {
    #[inline(always)]
    fn number(&self, point: &Vector3<R>) -> u32 {
        let (min, max) = (&self.0.bounds.min, &self.0.bounds.max);
        let [x, y, z] = [point.x.to_f64(), point.y.to_f64(), point.z.to_f64()];
        let inside =
            (x >= min.x) & (x <= max.x) & (y >= min.y) & (y <= max.y) & (z >= min.z) & (z <= max.z);
        let own = self.0.place(point);
        if inside { own } else { OUTSIDE }
    }
}

struct Anywhere(Cells);

impl<R: Real> Numbering<R> for Anywhere {
    #[inline(always)]
    fn number(&self, position: &Vector3<R>) -> u32 {
        self.0.place(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::dispatch;
    use fearless_simd::Level;

    #[test]
    fn a_place_does_not_depend_on_the_lane() {
        let bounds =
            Bounds { min: Vector3::new(-1.0, -2.0, 0.1), max: Vector3::new(3.0, 1.5, 0.9) };
        let level = Level::new();
        let point = |number: usize| {
            let t = number as f64 / 299.0;
            let share = Vector3::new(t, (3.7 * t).fract(), (9.1 * t).fract());
            bounds.min + bounds.extent().component_mul(&share)
        };
        let points: Vec<Vector3<f64>> = (0..300).map(point).collect();
        for axis in 0..3 {
            let cells = Cells::new(&View::new(bounds, axis, 69).expect("a view"));
            let expected: Vec<u32> = points.iter().map(|point| cells.place(point)).collect();
            for count in [1, 7, 8, 9, 31, 255, 256, 300] {
                let (points, expected) = (&points[..count], &expected[..count]);
                let mut places = vec![0; count];
                dispatch!(level, simd => place_all(simd, &cells, points, &mut places));
                assert_eq!(places, expected, "place_all {axis} {count}");
                dispatch!(level, simd => locate(simd, &cells, points, &mut places));
                assert_eq!(places, expected, "locate {axis} {count}");
            }
        }
    }
}
