//! Boxes in the cells of a grid, each in the cell of its middle.

use crate::math::{Bounds, Real, Vector3};

/// Boxes this many times as wide as most are kept apart.
const WIDE: f64 = 4.0;

/// Boxes sorted by the cell their middle is in. Cells of a row along x follow each other, so that what is around a box is
/// a few runs.
#[derive(Debug)]
pub(super) struct Grid<R: Real> {
    low: Vector3<R>,
    per_cell: R,
    counts: [usize; 3],
    starts: Vec<u32>,
    cells: Vec<u32>,
    /// Numbers of boxes, and the boxes, cell by cell.
    numbers: Vec<u32>,
    boxes: Vec<Bounds<R>>,
    /// The box around all of them.
    around: Bounds<R>,
    /// Half the width of the widest of them.
    half: Vector3<R>,
    /// The first boxes are much wider than most, and in no cell.
    wide: usize,
}

impl<R: Real> Default for Grid<R> {
    fn default() -> Self {
        Self {
            low: Vector3::zeros(),
            per_cell: R::one(),
            counts: [1; 3],
            starts: vec![],
            cells: vec![],
            numbers: vec![],
            boxes: vec![],
            around: Bounds::empty(),
            half: Vector3::zeros(),
            wide: 0,
        }
    }
}

const NO_CELL: u32 = u32::MAX;

impl<R: Real> Grid<R> {
    /// Sorts boxes.
    pub fn fill(&mut self, boxes: &[Bounds<R>]) {
        let widest = |b: &Bounds<R>| b.extent().max();
        let count = R::nearest(boxes.len().max(1) as f64);
        let mean = boxes.iter().fold(R::zero(), |sum, b| sum + widest(b)) / count;
        let limit = mean * R::nearest(WIDE);
        let narrow = |b: &Bounds<R>| widest(b) <= limit;
        self.half = Vector3::zeros();
        self.around = boxes.iter().fold(Bounds::empty(), |all, b| all.union(*b));
        let mut all = Bounds::empty();
        for b in boxes.iter().filter(|b| narrow(b)) {
            self.half = self.half.sup(&(b.extent() * R::nearest(0.5)));
            all = all.including(b.center());
        }
        let extent = if all.is_empty() { Vector3::zeros() } else { all.extent() };
        self.low = if all.is_empty() { Vector3::zeros() } else { all.min };
        // As many cells as boxes at the most, or so.
        let mut cell = mean.to_f64().max(extent.max().to_f64() / 1024.0).max(1e-300);
        let cells =
            |cell: f64| (0..3).map(|k| (extent[k].to_f64() / cell).floor() + 1.0).product::<f64>();
        while cells(cell) > 4.0 * boxes.len() as f64 + 4096.0 {
            cell *= 1.5;
        }
        self.per_cell = R::nearest(1.0 / cell);
        self.counts =
            [0, 1, 2].map(|k: usize| (extent[k] * self.per_cell).to_f64().floor() as usize + 1);
        let total: usize = self.counts.iter().product();
        self.starts.clear();
        self.starts.resize(total + 1, 0);
        self.cells.clear();
        self.wide = 0;
        for b in boxes {
            let cell = if narrow(b) { self.index(self.cell_of(b.center())) } else { NO_CELL };
            self.cells.push(cell);
            match self.starts.get_mut(cell as usize) {
                Some(start) if cell != NO_CELL => *start += 1,
                _ => self.wide += 1,
            }
        }
        let mut sum = self.wide as u32;
        for start in &mut self.starts {
            sum += std::mem::replace(start, sum);
        }
        self.numbers.clear();
        self.numbers.resize(boxes.len(), 0);
        self.boxes.clear();
        self.boxes.resize(boxes.len(), Bounds::empty());
        let mut wide = 0;
        for (number, (b, &cell)) in boxes.iter().zip(&self.cells).enumerate() {
            let place = if cell == NO_CELL { &mut wide } else { &mut self.starts[cell as usize] };
            self.numbers[*place as usize] = number as u32;
            self.boxes[*place as usize] = *b;
            *place += 1;
        }
        // Every start has moved to the end of its cell.
        self.starts.pop();
        self.starts.insert(0, self.wide as u32);
    }

    /// Calls for every box that meets a box.
    #[inline]
    pub fn meeting(&self, bounds: &Bounds<R>, mut call: impl FnMut(u32)) {
        if !overlap(bounds, &self.around) {
            return;
        }
        let mut run = |range: std::ops::Range<usize>| {
            for (number, other) in self.numbers[range.clone()].iter().zip(&self.boxes[range]) {
                if overlap(bounds, other) {
                    call(*number);
                }
            }
        };
        run(0..self.wide);
        let low = self.cell_of(bounds.min - self.half);
        let high = self.cell_of(bounds.max + self.half);
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                let row = self.index([0, y, z]) as usize;
                let from = self.starts[row + low[0]] as usize;
                let to = self.starts[row + high[0] + 1] as usize;
                run(from..to);
            }
        }
    }

    /// The cell of a point, or the nearest one.
    fn cell_of(&self, point: Vector3<R>) -> [usize; 3] {
        let along = (point - self.low) * self.per_cell;
        // Casts saturate: what is below is in the first cell.
        [0, 1, 2].map(|k: usize| (along[k].to_f64() as usize).min(self.counts[k] - 1))
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> u32 {
        ((z * self.counts[1] + y) * self.counts[0] + x) as u32
    }
}

/// Whether two boxes meet, without branches.
#[inline(always)]
pub(super) fn overlap<R: Real>(a: &Bounds<R>, b: &Bounds<R>) -> bool {
    (a.min.x <= b.max.x)
        & (b.min.x <= a.max.x)
        & (a.min.y <= b.max.y)
        & (b.min.y <= a.max.y)
        & (a.min.z <= b.max.z)
        & (b.min.z <= a.max.z)
}
