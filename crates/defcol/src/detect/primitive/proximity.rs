use crate::math::{Real, Vector3};

/// The closest points of two primitives that are near each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closest<R, const A: usize, const B: usize> {
    /// Weights of the corners of the first.
    pub first: [R; A],
    /// Weights of the corners of the second.
    pub second: [R; B],
    /// How far apart the points are.
    pub distance: R,
}

/// The point of a triangle that is closest to a point, if it is no farther than `within`. Works for
/// triangles without area too.
pub fn point_triangle<R: Real>(
    point: Vector3<R>,
    triangle: [Vector3<R>; 3],
    within: R,
) -> Option<Closest<R, 1, 3>> {
    let (weights, distance) = closest_on_triangle(point, triangle);
    (distance <= within.to_f64()).then(|| Closest {
        first: [R::nearest(1.0)],
        second: weights.map(R::nearest),
        distance: R::nearest(distance),
    })
}

/// The weights of the corners of a triangle for its point closest to a point, and how far that is. The regions of
/// the triangle as in Ericson, Real-Time Collision Detection, 5.1.5.
pub fn closest_on_triangle<R: Real>(
    point: Vector3<R>,
    triangle: [Vector3<R>; 3],
) -> ([f64; 3], f64) {
    let p = point.map(R::to_f64);
    let [a, b, c] = triangle.map(|x| x.map(R::to_f64));
    let [[s, t], [u, v], [w, x]] = [[a, b], [b, c], [c, a]].map(|edge| on_edge(p, edge));
    let mut best = (f64::INFINITY, [1.0, 0.0, 0.0]);
    for weights in [[s, t, 0.0], [0.0, u, v], [x, 0.0, w]] {
        let own = distance(p, a * weights[0] + b * weights[1] + c * weights[2]);
        if own < best.0 {
            best = (own, weights);
        }
    }
    // Above the inside the foot of the perpendicular is closer than any edge.
    let normal = (b - a).cross(&(c - a));
    let area = normal.norm_squared();
    if area > 0.0 {
        let part = |x: Vector3<f64>, y: Vector3<f64>| (x - p).cross(&(y - p)).dot(&normal) / area;
        let weights = [part(b, c), part(c, a), part(a, b)];
        if weights.iter().all(|&weight| weight >= 0.0) {
            let foot = distance(p, a * weights[0] + b * weights[1] + c * weights[2]);
            if foot < best.0 {
                best = (foot, weights);
            }
        }
    }
    (best.1, best.0)
}

/// The square of the distance of a point from a triangle.
#[inline(always)]
pub fn squared_distance_to_triangle(point: Vector3<f64>, [a, b, c]: [Vector3<f64>; 3]) -> f64 {
    let normal = (b - a).cross(&(c - a));
    let area = normal.norm_squared();
    let (p, q, r) = (a - point, b - point, c - point);
    let inside = p.cross(&q).dot(&normal) >= 0.0
        && q.cross(&r).dot(&normal) >= 0.0
        && r.cross(&p).dot(&normal) >= 0.0;
    if inside && area > 0.0 {
        let height = p.dot(&normal);
        return height / area * height;
    }
    squared_to_segment(p, b - a).min(squared_to_segment(q, c - b)).min(squared_to_segment(r, a - c))
}

/// The square of the distance of the origin from a segment, given by its start and its way.
#[inline(always)]
fn squared_to_segment(start: Vector3<f64>, way: Vector3<f64>) -> f64 {
    let length = way.norm_squared();
    let t = -start.dot(&way);
    let t = if t <= 0.0 {
        0.0
    } else if t >= length {
        1.0
    } else {
        t / length
    };
    (start + way * t).norm_squared()
}

/// The closest points of two segments, if they are no farther apart than `within`. Parallel segments
/// and those without length are handled; of many closest pairs of points one is given.
pub fn edge_edge<R: Real>(
    first: [Vector3<R>; 2],
    second: [Vector3<R>; 2],
    within: R,
) -> Option<Closest<R, 2, 2>> {
    let first = first.map(|x| x.map(R::to_f64));
    let second = second.map(|x| x.map(R::to_f64));
    let at = |[p, q]: [Vector3<f64>; 2], [s, t]: [f64; 2]| p * s + q * t;
    // An end of one against the other, each way; only the inside of both can be closer.
    let ends = [[1.0, 0.0], [0.0, 1.0]];
    let of_first = ends.map(|end| (end, on_edge(at(first, end), second)));
    let of_second = ends.map(|end| (on_edge(at(second, end), first), end));
    let (distance, (s, t)) = of_first
        .into_iter()
        .chain(of_second)
        .chain(inside_both(first, second))
        .map(|(s, t)| (distance(at(first, s), at(second, t)), (s, t)))
        .reduce(|best, other| if other.0 < best.0 { other } else { best })?;
    (distance <= within.to_f64()).then(|| Closest {
        first: s.map(R::nearest),
        second: t.map(R::nearest),
        distance: R::nearest(distance),
    })
}

/// The common perpendicular of two segments, if it meets both.
fn inside_both(
    [p, q]: [Vector3<f64>; 2],
    [r, s]: [Vector3<f64>; 2],
) -> Option<([f64; 2], [f64; 2])> {
    let (u, v, w) = (q - p, s - r, p - r);
    let normal = u.cross(&v);
    let length = normal.norm_squared();
    if length == 0.0 {
        return None;
    }
    let along_first = v.cross(&w).dot(&normal) / length;
    let along_second = u.cross(&w).dot(&normal) / length;
    let within = |t: f64| (0.0..=1.0).contains(&t);
    (within(along_first) && within(along_second))
        .then_some(([1.0 - along_first, along_first], [1.0 - along_second, along_second]))
}

/// Weights of the ends of a segment for its point closest to `point`.
fn on_edge(point: Vector3<f64>, [a, b]: [Vector3<f64>; 2]) -> [f64; 2] {
    let along = b - a;
    let length = along.norm_squared();
    let t = if length > 0.0 { ((point - a).dot(&along) / length).clamp(0.0, 1.0) } else { 0.0 };
    [1.0 - t, t]
}

fn distance(a: Vector3<f64>, b: Vector3<f64>) -> f64 {
    (b - a).norm()
}
