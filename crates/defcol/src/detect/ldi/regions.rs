use super::combination::Interval;
use super::view::View;
use crate::math::Vector3;
use crate::mesh::DisjointSets;

/// Pieces of rays that hang together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConnectedRegion {
    /// How many pieces.
    pub intervals: usize,
    /// Their volume.
    pub volume: f64,
    /// Their centre.
    pub centroid: Vector3<f64>,
}

/// Finds out which pieces of rays hang together: those of pixels side by side that share a depth. Returns
/// the number of the region of each piece, and the regions in the order of their first piece. The pieces
/// stand in the order of pixels and depths.
pub fn connected_regions(view: &View, intervals: &[Interval]) -> (Vec<u32>, Vec<ConnectedRegion>) {
    let resolution = view.resolution();
    let mut sets = DisjointSets::new(intervals.len());
    let begin = |pixel: u32| intervals.partition_point(|interval| interval.pixel < pixel);
    // The pieces of the pixel to the left and of the one below, followed while going on.
    let mut below = 0;
    for (number, interval) in intervals.iter().enumerate() {
        if interval.pixel >= resolution {
            while intervals[below].pixel < interval.pixel - resolution {
                below += 1;
            }
            join_touching(intervals, below, interval.pixel - resolution, number, &mut sets);
        }
        if interval.pixel % resolution > 0 {
            join_touching(
                intervals,
                begin(interval.pixel - 1),
                interval.pixel - 1,
                number,
                &mut sets,
            );
        }
    }
    let mut labels = vec![0; intervals.len()];
    let mut regions = Vec::new();
    let unit = view.unit_volume();
    for (number, interval) in intervals.iter().enumerate() {
        let first = sets.find(number as u32) as usize;
        if first == number {
            labels[number] = regions.len() as u32;
            regions.push(ConnectedRegion { intervals: 0, volume: 0.0, centroid: Vector3::zeros() });
        } else {
            labels[number] = labels[first];
        }
        let region = &mut regions[labels[number] as usize];
        let volume = f64::from(interval.length()) * unit;
        let place = [interval.pixel % resolution, interval.pixel / resolution];
        let ends = view.point(place, interval.from.depth) + view.point(place, interval.to.depth);
        region.intervals += 1;
        region.volume += volume;
        region.centroid += ends * (0.5 * volume);
    }
    for region in &mut regions {
        region.centroid /= region.volume;
    }
    (labels, regions)
}

/// Joins a piece with those of a pixel that share a depth with it.
fn join_touching(
    intervals: &[Interval],
    first: usize,
    pixel: u32,
    number: usize,
    sets: &mut DisjointSets,
) {
    let own = &intervals[number];
    for (other, interval) in intervals.iter().enumerate().skip(first) {
        if interval.pixel != pixel || interval.from.depth > own.to.depth {
            break;
        }
        if interval.to.depth >= own.from.depth {
            sets.join(other as u32, number as u32);
        }
    }
}
