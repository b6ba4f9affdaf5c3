//! The boxes of triangles in cells, and the cells they reach.

use fearless_simd::Simd;

use super::cells::{BLOCK, Cells, PLACE_BITS, PLACE_MASK, between};
use super::shell::Shell;
use crate::math::{Real, Vector3};

/// Triangles and the places of their corners.
pub(super) struct Triangles<'a, R: Real> {
    pub shell: &'a Shell<'a, R>,
    pub cells: &'a Cells,
    pub places: &'a [u32],
}

/// The box of a triangle: columns and rows with fractions, and slabs, from and to.
#[derive(Clone, Copy)]
pub(super) struct PlaceBox {
    pub columns: [u32; 2],
    pub rows: [u32; 2],
    pub slabs: [u32; 2],
}

/// The same in a number: columns, rows and slabs in twice 13, twice 13 and twice 6 bits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PackedBox(u64);

impl PlaceBox {
    #[inline(always)]
    fn new([a, b, c]: [u32; 3]) -> Self {
        let range = |shift: u32| {
            let (a, b, c) =
                (a >> shift & PLACE_MASK, b >> shift & PLACE_MASK, c >> shift & PLACE_MASK);
            [a.min(b).min(c), a.max(b).max(c)]
        };
        Self { columns: range(0), rows: range(PLACE_BITS), slabs: range(2 * PLACE_BITS) }
    }

    #[inline(always)]
    fn packed(&self) -> PackedBox {
        let pair = |[from, to]: [u32; 2], bits: u32| from | to << bits;
        PackedBox(
            u64::from(pair(self.columns, PLACE_BITS))
                | u64::from(pair(self.rows, PLACE_BITS)) << (2 * PLACE_BITS)
                | u64::from(pair(self.slabs, 6)) << (4 * PLACE_BITS),
        )
    }

    #[inline(always)]
    pub fn unpacked(packed: PackedBox) -> Self {
        let part = |shift: u32| (packed.0 >> shift) as u32 & PLACE_MASK;
        let slabs = (packed.0 >> (4 * PLACE_BITS)) as u32;
        Self {
            columns: [part(0), part(PLACE_BITS)],
            rows: [part(2 * PLACE_BITS), part(3 * PLACE_BITS)],
            slabs: [slabs & 63, slabs >> 6],
        }
    }

    #[inline(always)]
    pub fn slabs(&self) -> u64 {
        between(self.slabs[0], self.slabs[1])
    }

    /// Whether it reaches more than two columns or rows of pixels.
    #[inline(always)]
    pub fn is_large(&self, fraction: u32) -> bool {
        let wide = |[from, to]: [u32; 2]| (to >> fraction) - (from >> fraction) > 1;
        wide(self.columns) | wide(self.rows)
    }

    /// Whether it reaches the column and the row of a place.
    #[inline(always)]
    pub fn covers(&self, place: u32) -> bool {
        let (column, row) = (place & PLACE_MASK, place >> PLACE_BITS & PLACE_MASK);
        (column >= self.columns[0])
            & (column <= self.columns[1])
            & (row >= self.rows[0])
            & (row <= self.rows[1])
    }
}

impl<R: Real> Triangles<'_, R> {
    /// Finds the boxes of some triangles from a first one on, and marks the cells they reach.
    #[inline(always)]
    pub fn mark<S: Simd>(&self, simd: S, first: usize, boxes: &mut [PackedBox], near: &mut [u64]) {
        let cells = *self.cells;
        for (block, boxes) in boxes.chunks_mut(BLOCK).enumerate() {
            let first = first + block * BLOCK;
            self.pack(simd, first, boxes);
            for (number, packed) in (first as u32..).zip(boxes.iter()) {
                let own = PlaceBox::unpacked(*packed);
                let (slabs, [left, right], [low, high]) = (own.slabs(), own.columns, own.rows);
                let (begin, end) = (cells.pixel(left, low), cells.pixel(right, high));
                near[begin] |= slabs;
                if begin != end {
                    if own.is_large(cells.fraction) {
                        self.each_cell(number, &own, |pixel, slabs| near[pixel] |= slabs);
                    } else {
                        near[cells.pixel(right, low)] |= slabs;
                        near[cells.pixel(left, high)] |= slabs;
                        near[end] |= slabs;
                    }
                }
            }
        }
    }

    /// Finds the boxes of up to [`BLOCK`] triangles.
    #[inline(always)]
    fn pack<S: Simd>(&self, _simd: S, first: usize, boxes: &mut [PackedBox]) {
        let own = self.shell.first();
        let mut places = [[0u32; BLOCK]; 3];
        let corners = &self.shell.triangles()[first..first + boxes.len()];
        let (all, [a, b, c]) = (self.places, &mut places);
        for (((corners, a), b), c) in corners.iter().zip(a).zip(b).zip(c) {
            *a = all[(corners[0] - own) as usize];
            *b = all[(corners[1] - own) as usize];
            *c = all[(corners[2] - own) as usize];
        }
        // Of fixed length, like the loops of `for_each_position`.
        let mut packed = [PackedBox::default(); BLOCK];
        for lane in 0..BLOCK {
            packed[lane] =
                PlaceBox::new([places[0][lane], places[1][lane], places[2][lane]]).packed();
        }
        boxes.copy_from_slice(&packed[..boxes.len()]);
    }

    /// Visits the pixels that a triangle reaches, each with the slabs.
    #[inline(always)]
    pub fn each_cell(&self, triangle: u32, own: &PlaceBox, mut visit: impl FnMut(usize, u64)) {
        let (fraction, resolution) = (self.cells.fraction, self.cells.grid.resolution as u32);
        let pixels = |[from, to]: [u32; 2]| [from >> fraction, to >> fraction];
        let ([left, right], [low, high]) = (pixels(own.columns), pixels(own.rows));
        let large = right - left > 1 || high - low > 1;
        let slope = if large { Slope::new(self.cells, self.turned(triangle)) } else { None };
        for row in low..=high {
            for column in left..=right {
                let [mut from, mut to] = own.slabs;
                if let Some(slope) = &slope {
                    let [low, high] = slope.slabs(column, row);
                    (from, to) = (from.max(low), to.min(high));
                    if from > to {
                        continue;
                    }
                }
                visit((row * resolution + column) as usize, between(from, to));
            }
        }
    }

    /// The corners of a triangle along columns, rows and rays.
    #[inline(always)]
    pub fn turned(&self, triangle: u32) -> [Vector3<f64>; 3] {
        let [u, v, w] = self.cells.grid.axes;
        let own = self.shell.first();
        let [a, b, c] = self.shell.triangles()[triangle as usize];
        let turn = |corner: u32| {
            let p = &self.shell.positions()[(corner - own) as usize];
            Vector3::new(p[u].to_f64(), p[v].to_f64(), p[w].to_f64())
        };
        [turn(a), turn(b), turn(c)]
    }
}

/// The plane of a triangle that covers many pixels: how deep it is in each.
struct Slope {
    /// Depth in slabs at the middle of the first pixel, and how it grows with columns and rows.
    depth: f64,
    across: f64,
    up: f64,
    /// How far the depth differs from the middle within a pixel, at the most.
    within: f64,
}

impl Slope {
    fn new(cells: &Cells, corners: [Vector3<f64>; 3]) -> Option<Self> {
        // In pixels and slabs.
        let [a, b, c] = corners.map(|corner| cells.in_cells(corner));
        let normal = (b - a).cross(&(c - a));
        let size = (b - a).amax().max((c - a).amax());
        if normal.z.abs() <= 1e-6 * size * size {
            return None;
        }
        let (across, up) = (-normal.x / normal.z, -normal.y / normal.z);
        let depth = a.z + across * (0.5 - a.x) + up * (0.5 - a.y);
        // Half a pixel each way, what snapping may add, and much more than rounding can amount to.
        let steep = across.abs() + up.abs();
        let step = 1.0 / f64::from(1u32 << cells.grid.shift);
        let within = (0.5 + step) * steep + 1e-6 * (1.0 + size * steep);
        Some(Self { depth, across, up, within })
    }

    fn slabs(&self, column: u32, row: u32) -> [u32; 2] {
        let middle = self.depth + self.across * f64::from(column) + self.up * f64::from(row);
        let (low, high) = (middle - self.within, middle + self.within);
        // Beyond the box on the far side of where it is: no slab of the triangle.
        [low.clamp(0.0, 64.0) as u32, if high < 0.0 { 0 } else { high.min(63.0) as u32 }]
    }
}
