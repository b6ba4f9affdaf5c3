//! Space in cells: which cell a position is in, and which slot of a table a cell has.

use super::{HashFunction, TableSize};
use crate::math::{Bounds, Real, Vector3};

/// A cell is cut into 2^6 steps along each axis.
pub(super) const STEP_BITS: u32 = 6;

/// Steps that the scene may be wide, so that it can drift as far again in each direction.
const MOST_STEPS: f64 = (1u32 << 30) as f64;

/// Steps at the middle of the scene when the grid was made.
const MIDDLE: f64 = (1u32 << 31) as f64;

/// Added to a number below 2^51, this leaves its rounded value in the lowest bits.
const ROUND: f64 = 4_503_599_627_370_496.0;

/// A uniform grid of cubes.
///
/// A position becomes three whole numbers, its steps. That is monotone: what lies between two positions
/// lies between their steps. Nothing else is needed for a search by cells to miss nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    middle: [f64; 3],
    steps_per_length: f64,
}

impl Default for Grid {
    fn default() -> Self {
        Self { middle: [0.0; 3], steps_per_length: 1.0 }
    }
}

impl Grid {
    /// A grid around a scene; the cell is made larger where the scene would have too many.
    pub fn new(bounds: &Bounds<f64>, cell: f64) -> Self {
        let middle = bounds.center();
        let widest = bounds.extent().max();
        let steps = f64::from(1u32 << STEP_BITS);
        // Products with any length stay finite.
        let steps_per_length = (steps / cell).min(MOST_STEPS / widest).min(1e200);
        Self { middle: [middle.x, middle.y, middle.z], steps_per_length }
    }

    /// The edge of a cell.
    pub fn cell(&self) -> f64 {
        f64::from(1u32 << STEP_BITS) / self.steps_per_length
    }

    /// Steps of a position along the axes; the fourth number is 0.
    #[inline(always)]
    pub fn steps<R: Real>(&self, position: &Vector3<R>) -> [u32; 4] {
        let along = |axis: usize| {
            let steps = (position[axis].to_f64() - self.middle[axis]) * self.steps_per_length;
            (steps + (MIDDLE + ROUND)).to_bits() as u32
        };
        [along(0), along(1), along(2), 0]
    }

    /// Cells from the first, not rounded.
    #[inline(always)]
    pub fn cells<R: Real>(&self, position: &Vector3<R>) -> Vector3<f64> {
        let scale = self.steps_per_length / f64::from(1u32 << STEP_BITS);
        let [x, y, z] = self.middle;
        let first = MIDDLE / f64::from(1u32 << STEP_BITS);
        ((position.map(R::to_f64) - Vector3::new(x, y, z)) * scale).add_scalar(first)
    }

    /// Whether positions in this box have steps that fit.
    pub fn covers(&self, bounds: &Bounds<f64>) -> bool {
        let fits = |axis: usize| {
            let steps = |x: f64| (x - self.middle[axis]) * self.steps_per_length;
            // Two cells are left for what is just outside.
            let most = MIDDLE - f64::from(2u32 << STEP_BITS);
            steps(bounds.min[axis]) > -most && steps(bounds.max[axis]) < most
        };
        bounds.is_empty() || (0..3).all(fits)
    }
}

/// A box of cells, the last included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellBox {
    pub low: [u32; 3],
    pub high: [u32; 3],
}

impl Default for CellBox {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl CellBox {
    pub const EMPTY: Self = Self { low: [u32::MAX; 3], high: [0; 3] };

    #[inline(always)]
    pub fn including(self, cell: [u32; 3]) -> Self {
        self.union(Self { low: cell, high: cell })
    }

    #[inline(always)]
    pub fn union(self, other: Self) -> Self {
        let mut joined = self;
        for axis in 0..3 {
            joined.low[axis] = joined.low[axis].min(other.low[axis]);
            joined.high[axis] = joined.high[axis].max(other.high[axis]);
        }
        joined
    }

    #[inline(always)]
    pub fn intersection(self, other: &Self) -> Self {
        let mut common = self;
        for axis in 0..3 {
            common.low[axis] = common.low[axis].max(other.low[axis]);
            common.high[axis] = common.high[axis].min(other.high[axis]);
        }
        common
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.low[0] > self.high[0] || self.low[1] > self.high[1] || self.low[2] > self.high[2]
    }

    /// Calls `visit` with every cell.
    pub fn each(&self, mut visit: impl FnMut([u32; 3])) {
        for z in self.low[2]..=self.high[2] {
            for y in self.low[1]..=self.high[1] {
                for x in self.low[0]..=self.high[0] {
                    visit([x, y, z]);
                }
            }
        }
    }

    /// How many cells wide it is along an axis.
    fn width(&self, axis: usize) -> u64 {
        u64::from(self.high[axis]) - u64::from(self.low[axis]) + 1
    }
}

/// How cells are mapped to the slots of a table (THESIS 4.2.1).
#[derive(Debug, Clone, Copy)]
pub(super) struct Slots {
    function: HashFunction,
    /// The cells that are in use; the first of them has slot 0 in a dense table.
    bounds: CellBox,
    row: u32,
    layer: u32,
    mask: u32,
    count: usize,
}

impl Default for Slots {
    fn default() -> Self {
        Self {
            function: HashFunction::Rows,
            bounds: CellBox::EMPTY,
            row: 0,
            layer: 0,
            mask: 0,
            count: 1,
        }
    }
}

/// Slots per entry up to which every cell gets a slot of its own.
const DENSE: u64 = 8;

/// Slots per entry where cells have to share.
const SHARED: usize = 2;

impl Slots {
    /// Slots for cells in `bounds` that hold `entries` entries in all.
    pub fn new(bounds: CellBox, entries: usize, function: HashFunction, size: TableSize) -> Self {
        if bounds.is_empty() {
            return Self::default();
        }
        let rows = bounds.width(0).saturating_mul(bounds.width(1));
        let cells = rows.saturating_mul(bounds.width(2));
        let dense = cells <= DENSE * entries as u64 + 1024 && cells < 1 << 31;
        if dense && function == HashFunction::Rows && size == TableSize::Automatic {
            return Self {
                function,
                bounds,
                row: bounds.width(0) as u32,
                layer: rows as u32,
                mask: u32::MAX,
                count: cells as usize,
            };
        }
        let count = match size {
            TableSize::Automatic => SHARED * entries,
            TableSize::Slots(count) => count,
        };
        let count = count.clamp(1, 1 << 30).next_power_of_two();
        let mask = count as u32 - 1;
        Self { function, bounds, row: 19_349_663, layer: 83_492_791, mask, count }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn bounds(&self) -> &CellBox {
        &self.bounds
    }

    /// The slot of a cell within the bounds.
    #[inline(always)]
    pub fn of(&self, cell: [u32; 3]) -> u32 {
        let [x, y, z] = [0, 1, 2].map(|axis| cell[axis].wrapping_sub(self.bounds.low[axis]));
        let rows = y.wrapping_mul(self.row);
        let layers = z.wrapping_mul(self.layer);
        let slot = match self.function {
            HashFunction::Rows => x.wrapping_add(rows).wrapping_add(layers),
            HashFunction::Thesis => x.wrapping_mul(73_856_093) ^ rows ^ layers,
        };
        slot & self.mask
    }

    /// Calls `visit` with ranges of slots that hold all cells of the box; a slot may come twice.
    #[inline(always)]
    pub fn runs(&self, cells: &CellBox, mut visit: impl FnMut(usize, usize)) {
        let cells = cells.intersection(&self.bounds);
        if cells.is_empty() {
            return;
        }
        let rows = cells.width(1).saturating_mul(cells.width(2));
        if rows >= self.count as u64 {
            // More rows than slots: that is all of them.
            return visit(0, self.count);
        }
        for z in cells.low[2]..=cells.high[2] {
            for y in cells.low[1]..=cells.high[1] {
                self.row(cells.low[0], cells.high[0], y, z, &mut visit);
            }
        }
    }

    /// The same for one row of cells, all within the bounds.
    #[inline(always)]
    pub fn row(&self, from: u32, to: u32, y: u32, z: u32, visit: &mut impl FnMut(usize, usize)) {
        match self.function {
            HashFunction::Rows => {
                let start = self.of([from, y, z]) as usize;
                let end = start + (to - from) as usize + 1;
                visit(start, end.min(self.count));
                if end > self.count {
                    visit(0, (end - self.count).min(self.count));
                }
            }
            HashFunction::Thesis => {
                for x in from..=to {
                    let slot = self.of([x, y, z]) as usize;
                    visit(slot, slot + 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_of_a_box_is_in_a_visited_slot() {
        let all = CellBox { low: [7, 8, 9], high: [40, 30, 20] };
        for function in [HashFunction::Rows, HashFunction::Thesis] {
            for size in [TableSize::Automatic, TableSize::Slots(1), TableSize::Slots(100)] {
                for entries in [1, 10_000] {
                    let slots = Slots::new(all, entries, function, size);
                    let part = CellBox { low: [10, 8, 19], high: [33, 11, 25] };
                    let mut seen = vec![false; slots.count()];
                    slots.runs(&part, |from, to| seen[from..to].fill(true));
                    let inside = part.intersection(&all);
                    for z in inside.low[2]..=inside.high[2] {
                        for y in inside.low[1]..=inside.high[1] {
                            for x in inside.low[0]..=inside.high[0] {
                                assert!(seen[slots.of([x, y, z]) as usize]);
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn steps_are_monotone_and_fit() {
        for (low, high, cell) in
            [(-1.0, 1.0, 0.01), (-1e60, 1e60, 1e-60), (5.0, 5.0, 1e-300), (1e-250, 2e-250, 1e-251)]
        {
            let bounds = Bounds { min: Vector3::repeat(low), max: Vector3::repeat(high) };
            let grid = Grid::new(&bounds, cell);
            assert!(grid.covers(&bounds) && grid.cell() > 0.0);
            let mut before = 0;
            for k in 0..=100 {
                let x = low + (high - low) * (f64::from(k) / 100.0);
                let [x, ..] = grid.steps(&Vector3::repeat(x));
                assert!(x >= before);
                before = x;
            }
            assert!(before <= 3 << 30);
        }
    }
}
