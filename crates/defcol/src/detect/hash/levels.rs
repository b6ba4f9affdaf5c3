//! Levels of cells for primitives of different size.

use super::{CellSize, HashParameters};
use crate::math::{Bounds, Real, Vector3};

/// A level takes primitives up to so many times the extent of its cells.
pub(super) const LARGEST: f64 = 7.0;

/// Classes of extents: a factor of 2 each.
const CLASSES: usize = 1024;

/// Fewer primitives than this are not worth smaller cells of their own.
const WORTH_A_LEVEL: usize = 1024;

/// The extents of primitives, sorted into classes.
#[derive(Debug, Clone)]
pub(super) struct Extents {
    counts: [usize; CLASSES],
    sums: [f64; CLASSES],
}

impl Extents {
    pub fn collect(extents: impl Iterator<Item = f64>) -> Self {
        let mut all = Self { counts: [0; CLASSES], sums: [0.0; CLASSES] };
        for extent in extents {
            if extent > 0.0 {
                // The exponent, from -512 to 511; beyond it the ends of the range.
                let exponent = (extent.to_bits() >> 52) as i64 - 1023;
                let class = (exponent + CLASSES as i64 / 2).clamp(0, CLASSES as i64 - 1) as usize;
                all.counts[class] += 1;
                all.sums[class] += extent;
            }
        }
        all
    }

    /// The mean of all.
    fn mean(&self) -> f64 {
        let count: usize = self.counts.iter().sum();
        self.sums.iter().sum::<f64>() / count.max(1) as f64
    }

    /// The mean of the smallest primitives that are worth a level: three classes, a factor of 8.
    fn smallest(&self) -> f64 {
        let window = |class: usize| class..(class + 3).min(CLASSES);
        let count = |class: usize| -> usize { self.counts[window(class)].iter().sum() };
        let total: usize = self.counts.iter().sum();
        let enough = WORTH_A_LEVEL.min(total.div_ceil(2));
        let first = (0..CLASSES).find(|&class| self.counts[class] > 0 && count(class) >= enough);
        let Some(first) = first.or_else(|| (0..CLASSES).find(|&class| self.counts[class] > 0))
        else {
            return 0.0;
        };
        self.sums[window(first)].iter().sum::<f64>() / count(first) as f64
    }
}

/// The size of the cells of a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Size {
    /// The edge of a cell; 0 if no primitive has an extent.
    pub cell: f64,
    /// The mean extent of the primitives it was chosen for.
    pub extent: f64,
}

/// The cells of the first level for primitives of these extents.
pub(super) fn first_size(extents: &Extents, parameters: &HashParameters) -> Size {
    let extent = if parameters.levels { extents.smallest() } else { extents.mean() };
    let cell = match parameters.cell {
        CellSize::Automatic => 1.5 * extent,
        CellSize::TimesMeanExtent(times) if times > 0.0 => times * extent,
        CellSize::Length(length) if length > 0.0 => length,
        // Neither zero nor NaN is a size.
        _ => extent,
    };
    Size { cell, extent }
}

/// The cells of a later level, for primitives that were too large for those before.
pub(super) fn next_size(extents: &Extents) -> Size {
    let extent = extents.smallest();
    Size { cell: 1.5 * extent, extent }
}

/// The largest extent of a primitive along an axis.
pub(super) fn extent<R: Real, const N: usize>(corners: [Vector3<R>; N]) -> f64 {
    let extent = Bounds::of(corners).extent();
    extent.max().to_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_primitives_decide_if_they_are_many() {
        let parameters = HashParameters::default();
        let mixed = |small: usize, large: usize| {
            let sizes = std::iter::repeat_n(1.0, small).chain(std::iter::repeat_n(1000.0, large));
            first_size(&Extents::collect(sizes), &parameters).cell
        };
        assert_eq!(mixed(100, 0), 1.5);
        assert_eq!(mixed(5000, 50_000), 1.5);
        assert_eq!(mixed(10, 50_000), 1500.0);
        assert_eq!(first_size(&Extents::collect([0.0, 0.0].into_iter()), &parameters).cell, 0.0);
        let one =
            HashParameters { levels: false, cell: CellSize::TimesMeanExtent(2.0), ..parameters };
        let size = first_size(&Extents::collect([1.0, 3.0].into_iter()), &one);
        assert_eq!(size, Size { cell: 4.0, extent: 2.0 });
    }
}
