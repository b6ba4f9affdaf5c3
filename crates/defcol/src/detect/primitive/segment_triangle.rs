use crate::math::predicate::{collinear, orient2d, orient3d, orient3d_value};
use crate::math::{Real, Sign, Vector2, Vector3};

/// Where a segment meets a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing<R> {
    /// 0 at the first end of the segment, 1 at the second.
    pub parameter: R,
    /// Weights of the corners of the triangle: none negative, sum 1.
    pub weights: [R; 3],
}

/// Whether a segment and a triangle, both closed, have a point in common; also where the segment lies
/// in the plane of the triangle. A triangle without area meets nothing: its edges, shared with its
/// neighbours, do. Exact.
pub fn segment_meets_triangle<R: Real>(
    [p, q]: [Vector3<R>; 2],
    [a, b, c]: [Vector3<R>; 3],
) -> bool {
    let (first, second) = (orient3d(a, b, c, p), orient3d(a, b, c, q));
    if first == second {
        return first == Sign::Zero && meets_in_plane([p, q], [a, b, c]);
    }
    let sides = [orient3d(p, q, a, b), orient3d(p, q, b, c), orient3d(p, q, c, a)];
    let all_but = |sign: Sign| sides.iter().all(|&side| side != sign);
    all_but(Sign::Negative) || all_but(Sign::Positive)
}

/// The same for a segment in the plane of the triangle, or a triangle that has no plane.
fn meets_in_plane<R: Real>(segment: [Vector3<R>; 2], triangle: [Vector3<R>; 3]) -> bool {
    let [a, b, c] = triangle;
    if collinear(a, b, c) {
        return false;
    }
    // A coordinate plane on which the triangle keeps an area; its exact shadow decides.
    for (u, v) in [(0, 1), (1, 2), (2, 0)] {
        let flat = |x: Vector3<R>| Vector2::new(x[u], x[v]);
        let mut corners = triangle.map(flat);
        match orient2d(corners[0], corners[1], corners[2]) {
            Sign::Zero => continue,
            Sign::Negative => corners.swap(1, 2),
            Sign::Positive => {}
        }
        return meets_2d(segment.map(flat), corners);
    }
    false
}

/// A segment and a counter-clockwise triangle in the plane: they are apart exactly if the line of one
/// of the four edges separates them.
fn meets_2d<R: Real>([p, q]: [Vector2<R>; 2], triangle: [Vector2<R>; 3]) -> bool {
    let outside = |k: usize| {
        let (from, to) = (triangle[k], triangle[(k + 1) % 3]);
        [p, q].iter().all(|&end| orient2d(from, to, end) == Sign::Negative)
    };
    if (0..3).any(outside) {
        return false;
    }
    if p == q {
        return true;
    }
    let sides = triangle.map(|corner| orient2d(p, q, corner));
    !sides.iter().all(|&side| side == Sign::Negative)
        && !sides.iter().all(|&side| side == Sign::Positive)
}

/// Where a segment meets a triangle that it does meet. If it lies in the plane of the triangle, the
/// middle of the part within.
pub fn crossing<R: Real>(segment: [Vector3<R>; 2], triangle: [Vector3<R>; 3]) -> Crossing<R> {
    let [p, q] = segment;
    let [a, b, c] = triangle;
    let (first, second) = (orient3d_value(a, b, c, p), orient3d_value(a, b, c, q));
    let parameter = if first == second {
        parameter_in_plane(segment, triangle)
    } else {
        (first / (first - second)).clamp(0.0, 1.0)
    };
    let [p, q] = segment.map(|x| x.map(R::to_f64));
    let point = p + (q - p) * parameter;
    Crossing {
        parameter: R::nearest(parameter),
        weights: weights(point, triangle.map(|x| x.map(R::to_f64))).map(R::nearest),
    }
}

/// The middle of the part of a segment that is within a triangle of the same plane.
fn parameter_in_plane<R: Real>(segment: [Vector3<R>; 2], triangle: [Vector3<R>; 3]) -> f64 {
    let [p, q] = segment.map(|x| x.map(R::to_f64));
    let corners = triangle.map(|x| x.map(R::to_f64));
    let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for k in 0..3 {
        let edge = corners[(k + 1) % 3] - corners[k];
        let inward = normal.cross(&edge);
        let (first, second) = (inward.dot(&(p - corners[k])), inward.dot(&(q - corners[k])));
        let cut = first / (first - second);
        if first < 0.0 && second > first {
            from = from.max(cut);
        } else if second < 0.0 && first > second {
            to = to.min(cut);
        }
    }
    (0.5 * (from + to)).clamp(0.0, 1.0)
}

/// Weights of the corners for a point in the plane of the triangle.
fn weights(point: Vector3<f64>, [a, b, c]: [Vector3<f64>; 3]) -> [f64; 3] {
    let normal = (b - a).cross(&(c - a));
    let part =
        |p: Vector3<f64>, q: Vector3<f64>| (p - point).cross(&(q - point)).dot(&normal).max(0.0);
    let parts = [part(b, c), part(c, a), part(a, b)];
    let sum: f64 = parts.iter().sum();
    if sum > 0.0 && sum.is_finite() { parts.map(|x| x / sum) } else { [1.0 / 3.0; 3] }
}
