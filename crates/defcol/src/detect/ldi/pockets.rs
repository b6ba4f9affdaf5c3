use super::cells::between;
use crate::mesh::DisjointSets;

/// Runs of cells along the rays that no triangle reaches, joined into pockets where they touch sideways.
///
/// Run zero is the outside of the box: the runs that reach its border are in its pocket.
#[derive(Debug, Default)]
pub(super) struct Pockets {
    /// For each pixel the cells that are free, and the number of its first run.
    free: Vec<u64>,
    starts: Vec<u32>,
    /// Runs of one pocket; the first stands for it.
    sets: DisjointSets,
    /// For the first run of each pocket its winding number.
    windings: Vec<i32>,
}

impl Pockets {
    /// Finds the pockets between the cells that triangles reach.
    pub fn find(&mut self, near: &[u64], resolution: usize) {
        self.free.clear();
        self.free.extend(near.iter().map(|near| !near));
        self.starts.clear();
        let mut runs = 1;
        for free in &self.free {
            self.starts.push(runs);
            runs += begins(*free).count_ones();
        }
        self.starts.push(runs);
        self.sets.reset(runs as usize);
        self.windings.clear();
        self.windings.resize(runs as usize, 0);
        for pixel in 0..near.len() {
            let (row, column) = (pixel / resolution, pixel % resolution);
            let outermost = |k: usize| k == 0 || k + 1 == resolution;
            let at_border = if outermost(row) || outermost(column) {
                self.free[pixel]
            } else {
                self.free[pixel] & (1 | 1 << 63)
            };
            for (slab, _) in runs_of(at_border) {
                self.sets.join(0, self.run(pixel, slab));
            }
            if column > 0 {
                self.join_pixels(pixel - 1, pixel);
            }
            if row > 0 {
                self.join_pixels(pixel - resolution, pixel);
            }
        }
        self.sets.settle();
    }

    /// The run of a free cell.
    #[inline(always)]
    pub fn run(&self, pixel: usize, slab: u32) -> u32 {
        self.starts[pixel] + (begins(self.free[pixel]) & between(0, slab)).count_ones() - 1
    }

    /// The first runs of all pockets but the outside: pixel, first slab, end and number.
    pub fn firsts(&self) -> impl Iterator<Item = (usize, u32, u32, u32)> {
        let runs = |pixel: usize| {
            let numbers = self.starts[pixel]..;
            runs_of(self.free[pixel])
                .zip(numbers)
                .map(move |((from, to), run)| (pixel, from, to, run))
        };
        (0..self.free.len()).flat_map(runs).filter(|run| self.sets.settled(run.3) == run.3)
    }

    /// Sets the winding number of the pocket with this first run.
    pub fn set_winding(&mut self, first: u32, winding: i32) {
        self.windings[first as usize] = winding;
    }

    /// The winding number in a run.
    #[inline(always)]
    pub fn winding(&self, run: u32) -> i32 {
        self.windings[self.sets.settled(run) as usize]
    }

    /// For each pixel the free slabs with a winding number.
    pub fn inside(&self) -> impl Iterator<Item = u64> {
        (0..self.free.len()).map(|pixel| {
            let runs = runs_of(self.free[pixel]).zip(self.starts[pixel]..);
            let inside = runs.filter(|&(_, run)| self.winding(run) != 0);
            inside.fold(0, |all, ((from, to), _)| all | between(from, to))
        })
    }

    fn join_pixels(&mut self, a: usize, b: usize) {
        for (slab, _) in runs_of(self.free[a] & self.free[b]) {
            self.sets.join(self.run(a, slab), self.run(b, slab));
        }
    }
}

/// The lowest bit of each run of bits.
#[inline(always)]
fn begins(bits: u64) -> u64 {
    bits & !(bits << 1)
}

/// The runs of bits: the first and the last of each.
#[inline(always)]
fn runs_of(mut bits: u64) -> impl Iterator<Item = (u32, u32)> {
    std::iter::from_fn(move || {
        let from = bits.trailing_zeros();
        if from == 64 {
            return None;
        }
        let to = from + (!(bits >> from)).trailing_zeros().min(64 - from) - 1;
        bits &= !between(from, to);
        Some((from, to))
    })
}
