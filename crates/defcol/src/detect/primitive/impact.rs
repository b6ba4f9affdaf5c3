//! When a moving vertex meets a moving triangle, or a moving edge another.
//!
//! Positions change linearly in time from 0 to 1. The difference of two points, one of each primitive, is a function of
//! the time and two weights that is linear in each of the three; so over a box of them it stays within the box around
//! its values at the eight corners. Boxes over which that does not contain zero, enlarged by what rounding can amount
//! to, hold no impact; the others are halved, the earliest first, until they are small (Snyder 1992; Wang et al. 2021).
//! Nothing is decided by the root of a polynomial: an impact is never missed, however degenerate the motion.

use std::collections::BinaryHeap;

use crate::math::{Real, Vector3};

/// Differences this small, in units of the extent of all positions, count as zero.
const TOLERANCE: f64 = 1e-6;
/// Times are told in steps of this.
const TIME_STEP: f64 = 1.0 / 65536.0;
/// Halvings after which an answer is given that may be too early, or about nothing.
const MOST_HALVINGS: usize = 2000;
/// What rounding can amount to in a difference, in units of the largest coordinate.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// How an [`ImpactSearch`] went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImpactWork {
    /// Pairs of primitives that were looked at.
    pub queries: usize,
    /// Boxes that were halved.
    pub halvings: usize,
    /// Pairs for which halving was given up: reported as an impact at the earliest time that was not ruled out.
    pub given_up: usize,
}

/// A box of times and weights: where it begins, and how wide it is in each of the three.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Part {
    from: [f64; 3],
    width: [f64; 3],
}

impl Eq for Part {}

impl Ord for Part {
    /// The earliest is the greatest; of those in the same step of time the smallest, which comes to an end sooner. Without
    /// the step, all of the many parts in which primitives meet that slide along each other would be halved in turn.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let size = |part: &Self| part.width[0] * part.width[1] * part.width[2];
        let time = other.time().total_cmp(&self.time());
        let smaller = size(other).total_cmp(&size(self));
        let weights =
            other.from[1].total_cmp(&self.from[1]).then(other.from[2].total_cmp(&self.from[2]));
        time.then(smaller).then(weights).then(other.from[0].total_cmp(&self.from[0]))
    }
}

impl PartialOrd for Part {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Which two primitives move.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A vertex and the three corners of a triangle.
    VertexTriangle,
    /// The ends of an edge and those of another.
    EdgeEdge,
}

/// Finds times of impact. Keeps its memory: use one for many calls.
#[derive(Debug, Clone, Default)]
pub struct ImpactSearch {
    open: BinaryHeap<Part>,
    work: ImpactWork,
}

/// Four points at the beginning and at the end.
type Path = [[Vector3<f64>; 4]; 2];

impl ImpactSearch {
    /// A time from 0 to `until` before which a vertex and a triangle do not meet; none if they do not until then. It is
    /// not after the first impact, and before it by no more than 1/65536 and the time in which the two get closer than a
    /// millionth of their extent, unless halving was [given up](ImpactWork::given_up).
    ///
    /// First the vertex, then the corners of the triangle, at the beginning and at the end.
    pub fn vertex_triangle<R: Real>(
        &mut self,
        start: [Vector3<R>; 4],
        end: [Vector3<R>; 4],
        until: f64,
    ) -> Option<f64> {
        self.search(Kind::VertexTriangle, [start, end].map(wide), until)
    }

    /// The same for two edges: the ends of the first, then those of the second.
    pub fn edge_edge<R: Real>(
        &mut self,
        start: [Vector3<R>; 4],
        end: [Vector3<R>; 4],
        until: f64,
    ) -> Option<f64> {
        self.search(Kind::EdgeEdge, [start, end].map(wide), until)
    }

    /// What was done since it was last asked.
    pub fn take_work(&mut self) -> ImpactWork {
        std::mem::take(&mut self.work)
    }

    fn search(&mut self, kind: Kind, path: Path, until: f64) -> Option<f64> {
        self.work.queries += 1;
        if boxes_are_apart(kind, &path) {
            return None;
        }
        let all = || path.iter().flatten();
        let rounding = ROUNDING * all().map(Vector3::amax).fold(0.0, f64::max);
        let extent = all().map(|p| (p - path[0][0]).amax()).fold(0.0, f64::max);
        let tolerance = (TOLERANCE * extent).max(rounding);
        self.open.clear();
        self.open.push(Part { from: [0.0; 3], width: [1.0, 1.0, 1.0] });
        let mut halvings = 0;
        while let Some(part) = self.open.pop() {
            if part.time() > until {
                return None;
            }
            let values = part.corners(kind, &path);
            if !may_be_zero(&values, rounding) || part.is_apart(kind, &path, &values, rounding) {
                continue;
            }
            let (axis, size) = Part::widest(&values);
            if size <= tolerance {
                return Some(part.time());
            }
            // Looking along good directions tells for all weights at once whether there is an impact in a short time.
            let axis = if part.width[0] > TIME_STEP { 0 } else { axis };
            if halvings == MOST_HALVINGS {
                self.work.given_up += 1;
                return Some(part.time());
            }
            halvings += 1;
            self.work.halvings += 1;
            self.open.extend(part.halves(axis).into_iter().filter(|half| half.is_inside(kind)));
        }
        None
    }
}

fn wide<R: Real>(points: [Vector3<R>; 4]) -> [Vector3<f64>; 4] {
    points.map(|p| p.map(R::to_f64))
}

/// Whether the boxes around the paths of both primitives do not touch. No rounding is involved.
fn boxes_are_apart(kind: Kind, path: &Path) -> bool {
    let split = if kind == Kind::VertexTriangle { 1 } else { 2 };
    (0..3).any(|axis| {
        let range = |points: std::ops::Range<usize>| {
            let values = path.iter().flat_map(|at| at[points.clone()].iter().map(|p| p[axis]));
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| {
                [low.min(x), high.max(x)]
            })
        };
        let ([low, high], [from, to]) = (range(0..split), range(split..4));
        high < from || to < low
    })
}

/// Whether values at the corners of a part leave room for zero, in each coordinate.
fn may_be_zero(values: &[Vector3<f64>; 8], rounding: f64) -> bool {
    (0..3).all(|axis| {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            low = low.min(value[axis]);
            high = high.max(value[axis]);
        }
        low <= rounding && high >= -rounding
    })
}

/// The lowest and the highest of the values at the corners of a part along a direction.
fn range(values: &[Vector3<f64>; 8], direction: &Vector3<f64>) -> [f64; 2] {
    let mut range = [f64::INFINITY, f64::NEG_INFINITY];
    for value in values {
        let along = value.dot(direction);
        range = [range[0].min(along), range[1].max(along)];
    }
    range
}

impl Part {
    /// When it begins, at the latest: rounded down to a step.
    fn time(&self) -> f64 {
        (self.from[0] / TIME_STEP).floor() * TIME_STEP
    }

    /// The greater of the second weights, beside a first one. Weights of a triangle have no sum above 1; where that cuts
    /// off one corner of a part and does not merely touch it, the corner is moved there.
    fn greater_weight(&self, kind: Kind, first: f64) -> f64 {
        let greater = self.from[2] + self.width[2];
        if kind == Kind::VertexTriangle && self.from[1] + greater >= 1.0 {
            greater.min((1.0 - first).max(self.from[2]))
        } else {
            greater
        }
    }

    /// The differences at the corners: bit 0 of the place is the later time, bits 1 and 2 the greater weights.
    fn corners(&self, kind: Kind, path: &Path) -> [Vector3<f64>; 8] {
        let mut values = [Vector3::zeros(); 8];
        for late in 0..2 {
            let time = self.from[0] + f64::from(late as u8) * self.width[0];
            let [p, q, r, s] =
                std::array::from_fn(|k| path[0][k] * (1.0 - time) + path[1][k] * time);
            for more in 0..4 {
                let u = self.from[1] + f64::from(more as u8 & 1) * self.width[1];
                let v = if more >> 1 == 0 { self.from[2] } else { self.greater_weight(kind, u) };
                values[late | more << 1] = match kind {
                    Kind::VertexTriangle => p - (q + (r - q) * u + (s - q) * v),
                    Kind::EdgeEdge => (p + (q - p) * u) - (r + (s - r) * v),
                };
            }
        }
        values
    }

    /// The parameter that changes the difference most, and how much.
    fn widest(values: &[Vector3<f64>; 8]) -> (usize, f64) {
        let mut most = (0, -1.0);
        for axis in 0..3 {
            let step = 1 << axis;
            for corner in (0..8).filter(|corner| corner & step == 0) {
                let change = (values[corner | step] - values[corner]).amax();
                if change > most.1 {
                    most = (axis, change);
                }
            }
        }
        most
    }

    /// Whether the primitives are apart along one of the directions in which they are most likely so in the middle of the
    /// time: across both edges or the triangle, and within its plane across each edge.
    fn is_apart(&self, kind: Kind, path: &Path, values: &[Vector3<f64>; 8], rounding: f64) -> bool {
        let time = self.from[0] + 0.5 * self.width[0];
        let [p, q, r, s] = std::array::from_fn(|k| path[0][k] * (1.0 - time) + path[1][k] * time);
        let (first, second) = match kind {
            Kind::VertexTriangle => (r - q, s - q),
            Kind::EdgeEdge => (q - p, s - r),
        };
        let normal = first.cross(&second);
        let (one, other) = (first.norm_squared(), second.norm_squared());
        let directions = if normal.norm_squared() > 1e-12 * one * other {
            [normal, normal.cross(&first), normal.cross(&second), normal.cross(&(second - first))]
        } else {
            // Parallel edges, or a triangle without area: along them, and from one to the other but not along them.
            let (along, length) = if one > other { (first, one) } else { (second, other) };
            let between = values.iter().sum::<Vector3<f64>>() * 0.125;
            let across = if length > 0.0 {
                along * (between.dot(&along) / length)
            } else {
                Vector3::zeros()
            };
            [between - across, along, between, across]
        };
        directions.into_iter().any(|direction| {
            let size = direction.amax();
            if size <= 0.0 || !size.is_finite() {
                return false;
            }
            let [low, high] = range(values, &(direction / size));
            // Values are wrong by up to the rounding in each of three coordinates; the products add about as much.
            low > 6.0 * rounding || high < -6.0 * rounding
        })
    }

    fn halves(&self, axis: usize) -> [Self; 2] {
        let mut first = *self;
        first.width[axis] *= 0.5;
        let mut second = first;
        second.from[axis] += first.width[axis];
        [first, second]
    }

    /// Whether some of its weights are those of a point of the primitives.
    fn is_inside(&self, kind: Kind) -> bool {
        kind == Kind::EdgeEdge || self.from[1] + self.from[2] <= 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_parameter_changes_the_difference_most() {
        for (changes, widest) in [([3.0, 5.0, 7.0], 2), ([3.0, 9.0, 7.0], 1), ([9.0, 5.0, 7.0], 0)]
        {
            let values = std::array::from_fn(|corner| {
                let part = |axis: usize| if corner >> axis & 1 == 1 { changes[axis] } else { 0.0 };
                Vector3::new(part(0), -part(1), part(2))
            });
            assert_eq!(Part::widest(&values), (widest, changes[widest]));
        }
        // The difference may change along one edge of the box only.
        let mut values = [Vector3::zeros(); 8];
        values[6] = Vector3::new(0.0, 0.0, -2.0);
        assert_eq!(Part::widest(&values).1, 2.0);
    }
}
