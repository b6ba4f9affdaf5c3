//! How the primitives below a node are divided among its children.

use std::ops::Range;

use crate::math::Bounds;

/// How a tree is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    /// At the middle of the extents, along the longest axis, the two longest or all three, by the midpoints of the
    /// primitives (MORPH03, section 3).
    Middle,
    /// Where the areas of both sides, each times the primitives in it, are least; the part with the most to gain
    /// first, until there are enough or all fit into one node.
    #[default]
    SurfaceArea,
}

/// From this depth on primitives are divided by number, so that no tree gets deeper than this and a logarithm.
const DEEPEST: u32 = 40;
/// Candidates for a plane along an axis.
const BINS: usize = 16;

/// Divides a range of the order into up to `A` parts, none empty, and sorts the order by them.
pub(super) fn children<const A: usize>(
    boxes: &[Bounds<f64>],
    order: &mut [u32],
    range: Range<usize>,
    split: Split,
    depth: u32,
) -> Vec<Range<usize>> {
    if range.len() <= A {
        return range.map(|place| place..place + 1).collect();
    }
    if depth >= DEEPEST {
        return halves(A, range);
    }
    match split {
        Split::Middle => {
            let parts = octants::<A>(boxes, order, range.clone());
            if parts.len() > 1 { parts } else { halves(A, range) }
        }
        Split::SurfaceArea => by_area::<A>(boxes, order, range),
    }
}

/// Divided by number alone.
fn halves(parts: usize, range: Range<usize>) -> Vec<Range<usize>> {
    let place = |part: usize| range.start + range.len() * part / parts;
    (0..parts).map(|part| place(part)..place(part + 1)).filter(|part| !part.is_empty()).collect()
}

fn bounds(boxes: &[Bounds<f64>], order: &[u32]) -> Bounds<f64> {
    order.iter().fold(Bounds::empty(), |all, &k| all.union(boxes[k as usize]))
}

fn octants<const A: usize>(
    boxes: &[Bounds<f64>],
    order: &mut [u32],
    range: Range<usize>,
) -> Vec<Range<usize>> {
    let all = bounds(boxes, &order[range.clone()]);
    let (middle, extent) = (all.center(), all.extent());
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| extent[b].total_cmp(&extent[a]));
    let axes = &axes[..A.ilog2() as usize];
    let part = |&k: &u32| {
        let center = boxes[k as usize].center();
        axes.iter().fold(0, |part, &axis| 2 * part + usize::from(center[axis] > middle[axis]))
    };
    let own = &mut order[range.clone()];
    own.sort_by_key(part);
    let mut parts = Vec::with_capacity(A);
    let mut start = 0;
    for chunk in own.chunk_by(|a, b| part(a) == part(b)) {
        parts.push(range.start + start..range.start + start + chunk.len());
        start += chunk.len();
    }
    parts
}

fn by_area<const A: usize>(
    boxes: &[Bounds<f64>],
    order: &mut [u32],
    range: Range<usize>,
) -> Vec<Range<usize>> {
    let weight = |order: &[u32], part: &Range<usize>| {
        if part.len() <= A {
            -1.0
        } else {
            area(&bounds(boxes, &order[part.clone()])) * part.len() as f64
        }
    };
    let mut parts = vec![(weight(order, &range), range)];
    while parts.len() < A {
        let most =
            (0..parts.len()).fold(0, |most, k| if parts[k].0 > parts[most].0 { k } else { most });
        // Parts that fit into one node weigh less than any other.
        if parts[most].1.len() <= A {
            break;
        }
        let (_, part) = parts.remove(most);
        let place = part.start + divide(boxes, &mut order[part.clone()]);
        for (k, half) in [part.start..place, place..part.end].into_iter().enumerate() {
            parts.insert(most + k, (weight(order, &half), half));
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

/// Half the area of a box.
fn area(bounds: &Bounds<f64>) -> f64 {
    let e = bounds.extent();
    if e.x < 0.0 { 0.0 } else { e.x * e.y + e.y * e.z + e.z * e.x }
}

/// Sorts the primitives into two parts that are not empty, and returns the length of the first.
fn divide(boxes: &[Bounds<f64>], order: &mut [u32]) -> usize {
    let centers = Bounds::of(order.iter().map(|&k| boxes[k as usize].center()));
    let mut best = (f64::INFINITY, 0, 0.0);
    for axis in 0..3 {
        let (low, extent) = (centers.min[axis], centers.extent()[axis]);
        if extent <= 0.0 {
            continue;
        }
        let mut bins = [(Bounds::empty(), 0usize); BINS];
        for &k in order.iter() {
            let own = boxes[k as usize];
            let place = (own.center()[axis] - low) / extent * BINS as f64;
            let bin = &mut bins[(place as usize).min(BINS - 1)];
            *bin = (bin.0.union(own), bin.1 + 1);
        }
        let mut right = [0.0; BINS];
        let mut all = (Bounds::empty(), 0);
        for bin in (1..BINS).rev() {
            all = (all.0.union(bins[bin].0), all.1 + bins[bin].1);
            right[bin] = if all.1 == 0 { f64::INFINITY } else { area(&all.0) * all.1 as f64 };
        }
        let mut all = (Bounds::empty(), 0);
        for bin in 1..BINS {
            all = (all.0.union(bins[bin - 1].0), all.1 + bins[bin - 1].1);
            let cost = area(&all.0) * all.1 as f64 + right[bin];
            if all.1 > 0 && cost < best.0 {
                best = (cost, axis, low + extent * bin as f64 / BINS as f64);
            }
        }
    }
    let (_, axis, place) = best;
    order.sort_by_key(|&k| boxes[k as usize].center()[axis] >= place);
    let left = order.partition_point(|&k| boxes[k as usize].center()[axis] < place);
    // No plane divides centres that coincide, and rounding may move a plane past the last of them.
    if left == 0 || left == order.len() { order.len() / 2 } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vector3;

    /// Small boxes scattered over a long room.
    fn scattered(count: usize) -> Vec<Bounds<f64>> {
        let at = |k: f64| {
            Vector3::new(
                (k * 0.754_877).fract() * 9.0,
                (k * 0.569_84).fract(),
                (k * 0.438_7).fract(),
            )
        };
        (0..count)
            .map(|k| Bounds { min: at(k as f64), max: at(k as f64) + Vector3::repeat(0.02) })
            .collect()
    }

    /// Expected cost of a node: area of each child times its primitives.
    fn cost(boxes: &[Bounds<f64>], order: &[u32], parts: &[Range<usize>]) -> f64 {
        parts.iter().map(|p| area(&bounds(boxes, &order[p.clone()])) * p.len() as f64).sum()
    }

    fn check<const A: usize>() {
        let boxes = scattered(400);
        let mut order: Vec<u32> = (0..400).collect();
        let range = 100..400;
        let parts = by_area::<A>(&boxes, &mut order, range.clone());
        assert_eq!(parts.len(), A);
        // Contiguous, none empty, and nothing outside the range has moved.
        assert_eq!((parts[0].start, parts[A - 1].end), (100, 400));
        assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(parts.iter().all(|part| !part.is_empty()));
        assert!(order[..100].iter().copied().eq(0..100));
        let by_area = cost(&boxes, &order, &parts);
        let whole = cost(&boxes, &order, std::slice::from_ref(&range));
        let mut order: Vec<u32> = (0..400).collect();
        let middle = octants::<A>(&boxes, &mut order, range);
        let middle = cost(&boxes, &order, &middle);
        assert!(by_area <= 1.05 * middle && by_area < whole / 1.5, "{by_area} {middle} {whole}");
    }

    #[test]
    fn a_large_set_is_split_into_as_many_parts_as_a_node_has_children() {
        check::<2>();
        check::<4>();
        check::<8>();
        // What fits into one node is not split.
        let mut order = [2, 0, 1];
        let parts = by_area::<4>(&scattered(3), &mut order, 0..3);
        assert!(parts.len() == 1 && parts[0] == (0..3));
    }
}
