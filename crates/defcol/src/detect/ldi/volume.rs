use super::combination::Interval;
use super::view::{MAX_DEPTH, View};
use crate::math::Vector3;

/// A volume that was measured with rays.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Volume {
    /// The volume.
    pub value: f64,
    /// How far it may be off. It is estimated from how much neighbouring rays differ: three times what
    /// independent borders would give by chance, and never less than what could hide between the rays.
    pub error: f64,
    /// Pixels along a side of the raster.
    pub resolution: u32,
    /// The volume for each axis that rays ran along.
    pub along: [Option<f64>; 3],
}

impl Volume {
    /// The mean of volumes along different axes. Its error is not less than they disagree.
    pub(crate) fn mean(volumes: &[Volume]) -> Self {
        let count = volumes.len().max(1) as f64;
        let value = volumes.iter().map(|volume| volume.value).sum::<f64>() / count;
        // Scaled, so that squares neither vanish nor overflow.
        let largest = volumes.iter().map(|volume| volume.error).fold(0.0, f64::max);
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let squares = volumes.iter().map(|volume| (volume.error / unit).powi(2)).sum::<f64>();
        let error = unit * squares.sqrt() / count;
        let spread = volumes.iter().map(|volume| (volume.value - value).abs()).fold(0.0, f64::max);
        let mut along = [None; 3];
        for axis in 0..3 {
            along[axis] = volumes.iter().find_map(|volume| volume.along[axis]);
        }
        let resolution = volumes.iter().map(|volume| volume.resolution).max().unwrap_or(0);
        Self { value, error: error.max(spread), resolution, along }
    }
}

/// What measuring needs: the length of each ray, and a sum for each column.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    lengths: Vec<u32>,
    runs: Vec<f64>,
}

/// Measures intervals, which stand in the order of pixels.
pub(super) fn measure(view: &View, intervals: &[Interval], lengths: &mut Lengths) -> Volume {
    let Lengths { lengths, runs } = lengths;
    lengths.clear();
    lengths.resize(view.pixels(), 0);
    let mut sum = 0u64;
    for interval in intervals {
        // The pieces of a ray do not overlap, so this does not overflow.
        lengths[interval.pixel as usize] += interval.length();
        sum += u64::from(interval.length());
    }
    let unit = view.unit_volume();
    let mut along = [None; 3];
    along[view.axis()] = Some(sum as f64 * unit);
    Volume {
        value: sum as f64 * unit,
        error: sampling_error(lengths, view.resolution() as usize, runs) * unit + smallest(view),
        resolution: view.resolution(),
        along,
    }
}

/// What can hide between the rays of a view, and what is lost by rounding.
fn smallest(view: &View) -> f64 {
    let extent = view.bounds().extent();
    let spacing = view.spacing();
    let hidden = 0.5 * spacing.x * spacing.y * spacing.z * f64::from(MAX_DEPTH);
    let faces = extent.x * extent.y + extent.y * extent.z + extent.z * extent.x;
    hidden + 2.0 * faces * (view.snapping() + spacing.z)
}

/// How far a sum of lengths may be off, in steps of depth.
///
/// What decides is how much the change of lengths changes from pixel to pixel, their second difference. Where
/// lengths change smoothly, the sum is off by a 24th of it. Where a body ends or has an edge, it is off by as
/// much as the place of the edge between two pixels differs from the middle, which is taken as evenly
/// spread: independent from pixel to pixel, but the same along a side that runs along a column or a row.
fn sampling_error(lengths: &[u32], resolution: usize, runs: &mut Vec<f64>) -> f64 {
    let last = resolution - 1;
    let row = |row: usize| &lengths[row * resolution..(row + 1) * resolution];
    let mut sums = Sums::default();
    runs.clear();
    runs.resize(resolution, 0.0);
    for number in 0..resolution {
        let own = row(number);
        let (below, above) = (row(number.saturating_sub(1)), row((number + 1).min(last)));
        let mut run = 0.0;
        let rows = own.iter().zip(below.iter().zip(above)).zip(runs.iter_mut()).enumerate();
        for (column, ((&length, (&below, &above)), column_run)) in rows {
            let left = own[column.saturating_sub(1)];
            let right = own[(column + 1).min(last)];
            // Nothing here, and nothing goes on.
            let nothing = length | left | right | below | above == 0;
            if nothing && run == 0.0 && *column_run == 0.0 {
                continue;
            }
            sums.add([left, length, right], column_run);
            sums.add([below, length, above], &mut run);
        }
        sums.end(&mut run);
    }
    runs.iter_mut().for_each(|run| sums.end(run));
    // Where the view ends, the body may end up to half a pixel before.
    let total =
        |lengths: &mut dyn Iterator<Item = &u32>| lengths.map(|&x| f64::from(x)).sum::<f64>();
    for outermost in [0, last] {
        let along_row = total(&mut row(outermost).iter());
        let along_column = total(&mut lengths[outermost..].iter().step_by(resolution));
        for sum in [along_row, along_column] {
            sums.squares += (0.5 * sum).powi(2) / 12.0;
        }
    }
    3.0 * sums.squares.sqrt() + sums.smooth
}

#[derive(Default)]
struct Sums {
    squares: f64,
    smooth: f64,
}

impl Sums {
    /// Takes in the second difference of three lengths; edges go into the sum of a run.
    #[inline(always)]
    fn add(&mut self, [before, own, behind]: [u32; 3], run: &mut f64) {
        if before == own && own == behind {
            return self.end(run);
        }
        let bend = (i64::from(before) - 2 * i64::from(own) + i64::from(behind)).abs() as f64;
        let largest = u64::from(before.max(own).max(behind));
        let smallest = u64::from(before.min(own).min(behind));
        if 2 * smallest < largest {
            *run += bend;
        } else {
            self.end(run);
            self.squares += bend * bend / 24.0;
            self.smooth += bend / 24.0;
        }
    }

    /// Ends a run of edges.
    #[inline(always)]
    fn end(&mut self, run: &mut f64) {
        self.squares += *run * *run / 24.0;
        *run = 0.0;
    }
}

/// The force that pushes the first of two bodies out of the other, up to a positive factor: minus how the
/// volume of their overlap grows when it moves along the axis of the view.
pub(super) fn push(view: &View, intervals: &[Interval]) -> f64 {
    let of_first =
        |crossing: Option<(u32, u32)>| i64::from(crossing.is_some_and(|(body, _)| body == 0));
    let growth: i64 = intervals
        .iter()
        .map(|interval| of_first(interval.to.crossing) - of_first(interval.from.crossing))
        .sum();
    let spacing: Vector3<f64> = view.spacing();
    -(growth as f64) * spacing.x * spacing.y
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(rows: [[u32; 4]; 4]) -> f64 {
        sampling_error(rows.as_flattened(), 4, &mut Vec::new())
    }

    /// What the ends of the view contribute: half of the outermost rows and columns, evenly distributed.
    fn border(rows: [[u32; 4]; 4]) -> f64 {
        let sum = |lengths: [u32; 4]| f64::from(lengths.iter().sum::<u32>());
        let column = |k: usize| rows.map(|row| row[k]);
        let outermost = [rows[0], rows[3], column(0), column(3)];
        outermost.map(|lengths| (0.5 * sum(lengths)).powi(2) / 12.0).iter().sum()
    }

    #[test]
    fn the_sampling_error_follows_from_second_differences() {
        // Equal lengths: only the ends of the view count.
        let flat = [[1000; 4]; 4];
        assert!((error_of(flat) - 3.0 * border(flat).sqrt()).abs() < 1e-9);
        // Smooth: second differences 100, 50, 50 and 0 in each of four rows.
        let smooth = [[1000, 1100, 1150, 1150]; 4];
        let squares = 4.0 * (100.0f64.powi(2) + 2.0 * 50.0f64.powi(2)) / 24.0;
        let expected = 3.0 * (squares + border(smooth)).sqrt() + 4.0 * 200.0 / 24.0;
        assert!((error_of(smooth) - expected).abs() < 1e-9, "{} {expected}", error_of(smooth));
        // An edge along the columns: the same in every row, so the columns on both sides of it are added up before they are
        // squared.
        let edge = [[0, 0, 1000, 1000]; 4];
        let squares = 2.0 * 4000.0f64.powi(2) / 24.0;
        let expected = 3.0 * (squares + border(edge)).sqrt();
        assert!((error_of(edge) - expected).abs() < 1e-9, "{} {expected}", error_of(edge));
    }
}
