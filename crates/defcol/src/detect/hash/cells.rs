//! The cells that segments and triangles pass.

use super::grid::CellBox;
use crate::math::{Bounds, Real, Vector3};

/// Closer to the border of a cell than this, in cells, a segment counts as being on both sides. Positions
/// in cells are below 2^26 and carry an error of a few 2^-27.
const PAD: f64 = 1e-6;

/// The cell that a position in cells is in.
fn cell_of(position: Vector3<f64>) -> [u32; 3] {
    [position.x, position.y, position.z].map(|x| x as u32)
}

/// All cells that the box of some positions in cells covers.
pub(super) fn box_cells<const N: usize>(corners: [Vector3<f64>; N]) -> CellBox {
    let bounds = Bounds::of(corners).grown(PAD);
    CellBox { low: cell_of(bounds.min), high: cell_of(bounds.max) }
}

/// Calls `visit` with every cell that a segment passes, and with the one on the other side where it runs
/// along a border; a cell may come twice.
///
/// The traversal of Amanatides and Woo (1987): the parameters at which the next border is met along each
/// axis are kept, and the smallest tells where to go. It goes as often as the cells of the two ends are
/// apart and never beyond them, so rounding cannot lead it astray.
pub(super) fn segment_cells([from, to]: [Vector3<f64>; 2], mut visit: impl FnMut([u32; 3])) {
    let along = to - from;
    let all = box_cells([from, to]);
    let mut cell = cell_of(from);
    let last = cell_of(to);
    let mut left = [0, 1, 2].map(|axis| last[axis].abs_diff(cell[axis]));
    let mut next = [f64::INFINITY; 3];
    for axis in 0..3 {
        if left[axis] > 0 {
            let border = f64::from(cell[axis]) + if along[axis] > 0.0 { 1.0 } else { 0.0 };
            next[axis] = (border - from[axis]) / along[axis];
        }
    }
    let (mut entered, mut through) = (0.0, None);
    loop {
        let open = (0..3).filter(|&axis| left[axis] > 0);
        let nearest = open.min_by(|&a, &b| next[a].total_cmp(&next[b]));
        let leaves = nearest.map_or(1.0, |axis| next[axis].clamp(entered, 1.0));
        let part = Bounds::of([from + along * entered, from + along * leaves]);
        // Close to a border that it does not pass here, the segment is on both of its sides.
        let passes_below = |axis| (if along[axis] > 0.0 { through } else { nearest }) == Some(axis);
        let passes_above = |axis| (if along[axis] > 0.0 { nearest } else { through }) == Some(axis);
        let near_below = |axis: usize| part.min[axis] < f64::from(cell[axis]) + PAD;
        let near_above = |axis: usize| part.max[axis] > f64::from(cell[axis]) + (1.0 - PAD);
        let low = |axis| cell[axis] - u32::from(near_below(axis) && !passes_below(axis));
        let high = |axis| cell[axis] + u32::from(near_above(axis) && !passes_above(axis));
        let around = CellBox { low: [0, 1, 2].map(low), high: [0, 1, 2].map(high) };
        around.intersection(&all).each(&mut visit);
        let Some(axis) = nearest else {
            return;
        };
        (entered, through) = (leaves, nearest);
        left[axis] -= 1;
        next[axis] += 1.0 / along[axis].abs();
        cell[axis] = if along[axis] > 0.0 { cell[axis] + 1 } else { cell[axis] - 1 };
    }
}

/// Calls `visit` with rows of cells (from, to, y, z) that the box and the plane of a triangle have in
/// common (THESIS 4.1.1), or its box alone if the normal is zero. The plane is solved for a whole row of
/// cells at once.
pub(super) fn triangle_rows(
    corners: [Vector3<f64>; 3],
    normal: Vector3<f64>,
    within: &CellBox,
    mut visit: impl FnMut(u32, u32, u32, u32),
) {
    let cells = box_cells(corners).intersection(within);
    if cells.is_empty() {
        return;
    }
    let a = corners[0];
    // A cell meets the plane if its centre is no farther from it than this, measured along the normal.
    let reach = 0.5 * normal.abs().sum() + 4.0 * PAD;
    for z in cells.low[2]..=cells.high[2] {
        for y in cells.low[1]..=cells.high[1] {
            let (from, to) = (cells.low[0], cells.high[0]);
            // The distance of a centre is `start + normal.x * x`, with x counted from the first of the row.
            let centre = Vector3::new(f64::from(from), f64::from(y), f64::from(z)).add_scalar(0.5);
            let start = normal.dot(&(centre - a));
            let width = f64::from(to - from);
            let (low, high) = if normal.x.abs() * (width + 1.0) < PAD {
                if start.abs() > reach {
                    continue;
                }
                (0.0, width)
            } else {
                let (p, q) = ((-reach - start) / normal.x, (reach - start) / normal.x);
                (p.min(q).ceil().max(0.0), p.max(q).floor().min(width))
            };
            if low <= high {
                visit(from + low as u32, from + high as u32, y, z);
            }
        }
    }
}

/// The normal of a triangle, its largest component 1; zero if rounding might turn it noticeably.
pub(super) fn normal<R: Real>(corners: [Vector3<R>; 3]) -> Vector3<f64> {
    let [a, b, c] = corners.map(|corner| corner.map(R::to_f64));
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(&ac);
    let largest = normal.amax();
    if largest > 1e-6 * ab.amax() * ac.amax() { normal / largest } else { Vector3::zeros() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells that points of the segment are in, found by dense sampling.
    fn sampled([from, to]: [Vector3<f64>; 2]) -> Vec<[u32; 3]> {
        let at = |k: u32| from + (to - from) * (f64::from(k) / 5000.0);
        let mut cells: Vec<_> = (0..=5000).map(|k| cell_of(at(k))).collect();
        cells.dedup();
        cells
    }

    #[test]
    fn a_segment_passes_all_cells_it_has_points_in() {
        let segments = [
            [[10.2, 10.3, 10.4], [14.9, 12.1, 10.5]],
            [[14.9, 12.1, 10.5], [10.2, 10.3, 10.4]],
            [[10.0, 10.0, 10.0], [13.0, 13.0, 13.0]],
            [[13.0, 13.0, 13.0], [10.0, 10.0, 10.0]],
            [[10.5, 10.0, 10.5], [15.5, 10.0, 10.5]],
            [[10.5, 11.0, 10.5], [10.5, 11.0, 10.5]],
            [[10.5, 10.0 - 1e-12, 10.5], [15.5, 10.0 + 1e-12, 10.5]],
            [[10.0, 12.0, 11.5], [12.0, 10.0, 11.5]],
        ];
        for segment in segments.map(|ends| ends.map(Vector3::from)) {
            let mut seen = vec![];
            segment_cells(segment, |cell| seen.push(cell));
            for cell in sampled(segment) {
                assert!(seen.contains(&cell), "{cell:?} of {segment:?} is missing: {seen:?}");
            }
            assert!(seen.len() < 200);
        }
    }

    #[test]
    fn a_segment_in_general_position_visits_no_other_cells() {
        // An irrational rotation visits the unit cube evenly and stays away from borders.
        let point = |k: f64| {
            Vector3::new(
                (k * 0.754_877_666).fract(),
                (k * 0.569_840_29).fract(),
                (k * 0.438_7).fract(),
            )
            .map(|x| 10.0 + (20.0 * x).floor() + 0.1 + 0.8 * (x * 977.0).fract())
        };
        for k in 0..500 {
            let segment = [point(f64::from(2 * k)), point(f64::from(2 * k + 1))];
            let mut seen = vec![];
            segment_cells(segment, |cell| seen.push(cell));
            for cell in sampled(segment) {
                assert!(seen.contains(&cell), "{cell:?} of {segment:?} is missing: {seen:?}");
            }
            seen.sort_unstable();
            seen.dedup();
            // It leaves a cell as often as the cells of its ends are apart.
            let [from, to] = segment.map(cell_of);
            let apart: u32 = (0..3).map(|axis| from[axis].abs_diff(to[axis])).sum();
            assert_eq!(seen.len() as u32, apart + 1, "{segment:?}: {seen:?}");
        }
    }

    #[test]
    fn a_segment_along_a_border_is_on_both_sides() {
        let mut seen = vec![];
        let segment = [[10.5, 11.0, 10.5], [12.5, 11.0, 10.5]].map(Vector3::from);
        segment_cells(segment, |cell| seen.push(cell));
        for x in 10..=12 {
            assert!(seen.contains(&[x, 10, 10]) && seen.contains(&[x, 11, 10]));
        }
    }

    #[test]
    fn a_triangle_covers_cells_of_its_points_but_not_its_whole_box() {
        let corners =
            [[10.1, 10.2, 10.3], [19.7, 11.0, 12.2], [12.5, 18.9, 19.1]].map(Vector3::from);
        let all = CellBox { low: [0; 3], high: [100; 3] };
        let mut seen = vec![];
        triangle_rows(corners, normal(corners), &all, |from, to, y, z| {
            seen.extend((from..=to).map(|x| [x, y, z]))
        });
        for i in 0..=100 {
            for j in 0..=(100 - i) {
                let (s, t) = (f64::from(i) / 100.0, f64::from(j) / 100.0);
                let point = corners[0] * (1.0 - s - t) + corners[1] * s + corners[2] * t;
                assert!(seen.contains(&cell_of(point)));
            }
        }
        let in_box = box_cells(corners);
        let count: u32 = (0..3).map(|k| in_box.high[k] - in_box.low[k] + 1).product();
        assert!(seen.len() * 2 < count as usize);
    }
}
