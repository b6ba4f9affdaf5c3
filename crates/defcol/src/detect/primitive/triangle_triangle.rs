use super::segment_meets_triangle;
use crate::math::predicate::{collinear, orient2d, orient3d};
use crate::math::{Real, Sign, Vector2, Vector3};

/// Whether two triangles have a point in common; touching counts, and so do overlaps of triangles in one plane.
/// They do exactly if an edge of one meets the other. So a triangle without area is met only by its edges,
/// and two of them never meet. Exact.
pub fn triangles_meet<R: Real>(a: [Vector3<R>; 3], b: [Vector3<R>; 3]) -> bool {
    let sides_of_b = sides(a, b);
    if on_one_side(&sides_of_b) {
        return false;
    }
    let sides_of_a = sides(b, a);
    if on_one_side(&sides_of_a) {
        return false;
    }
    match (alone(sides_of_a), alone(sides_of_b)) {
        (Some(a_alone), Some(b_alone)) => cross_on_the_line(a, a_alone, b, b_alone),
        _ => edges_meet(a, b),
    }
}

/// The definition, for triangles with corners in the plane of the other.
fn edges_meet<R: Real>(a: [Vector3<R>; 3], b: [Vector3<R>; 3]) -> bool {
    let edges = |[p, q, r]: [Vector3<R>; 3]| [[p, q], [q, r], [r, p]];
    edges(a).into_iter().any(|edge| segment_meets_triangle(edge, b))
        || edges(b).into_iter().any(|edge| segment_meets_triangle(edge, a))
}

/// Whether two triangles that share one corner, the first of each, have another point in common. They do exactly
/// if the edge opposite to the corner in one meets the other. A triangle without area never does. Exact.
pub fn triangles_meet_beyond_corner<R: Real>(a: [Vector3<R>; 3], b: [Vector3<R>; 3]) -> bool {
    let apart = |plane: [Vector3<R>; 3], others: [Vector3<R>; 2]| {
        let [first, second] = others.map(|other| side(plane, other));
        first == second && first != Sign::Zero
    };
    if apart(a, [b[1], b[2]]) || apart(b, [a[1], a[2]]) {
        return false;
    }
    !collinear(a[0], a[1], a[2])
        && !collinear(b[0], b[1], b[2])
        && (segment_meets_triangle([a[1], a[2]], b) || segment_meets_triangle([b[1], b[2]], a))
}

/// Whether two triangles that share an edge have a point beyond it in common: they lie in one plane and on the
/// same side of the edge. A triangle without area never does. Exact.
pub fn triangles_overlap_beyond_edge<R: Real>(
    [p, q]: [Vector3<R>; 2],
    a: Vector3<R>,
    b: Vector3<R>,
) -> bool {
    if side([p, q, a], b) != Sign::Zero || collinear(p, q, a) || collinear(p, q, b) {
        return false;
    }
    for (u, v) in [(0, 1), (1, 2), (2, 0)] {
        let flat = |x: Vector3<R>| Vector2::new(x[u], x[v]);
        let first = orient2d(flat(p), flat(q), flat(a));
        if first != Sign::Zero {
            return first == orient2d(flat(p), flat(q), flat(b));
        }
    }
    false
}

/// Whether two triangles that share vertices meet beyond these: one corner, an edge, or all three, in which case
/// they are the same triangle and meet if it has an area.
pub fn triangles_meet_beyond_shared<R: Real>(
    [a, b]: [[u32; 3]; 2],
    corners: [[Vector3<R>; 3]; 2],
) -> bool {
    let place = |triangle: &[u32; 3], vertex: u32| triangle.iter().position(|&v| v == vertex);
    let shared = |k: &usize| place(&b, a[*k]).is_some();
    let turned = |corners: [Vector3<R>; 3], k: usize| {
        [corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]]
    };
    match (0..3).filter(shared).count() {
        1 => {
            let own = (0..3).find(shared).unwrap_or_default();
            let other = place(&b, a[own]).unwrap_or_default();
            triangles_meet_beyond_corner(turned(corners[0], own), turned(corners[1], other))
        }
        2 => {
            // The edge that both have is opposite to the corner that only one has.
            let own = (0..3).find(|k| !shared(k)).unwrap_or_default();
            let other = (0..3).find(|&k| place(&a, b[k]).is_none()).unwrap_or_default();
            let [tip, from, to] = turned(corners[0], own);
            triangles_overlap_beyond_edge([from, to], tip, corners[1][other])
        }
        3 => {
            let [p, q, r] = corners[0];
            !collinear(p, q, r)
        }
        _ => triangles_meet(corners[0], corners[1]),
    }
}

/// The plane of a triangle that is compared with many others.
#[derive(Debug, Clone, Copy)]
pub(in crate::detect) struct TrianglePlane {
    origin: Vector3<f64>,
    normal: Vector3<f64>,
    /// Times the distance of a point from the origin, in its largest coordinate: how wrong a value may be.
    doubt: f64,
}

impl TrianglePlane {
    #[inline(always)]
    pub fn new<R: Real>([a, b, c]: &[Vector3<R>; 3]) -> Self {
        let wide = |p: &Vector3<R>| Vector3::new(p.x.to_f64(), p.y.to_f64(), p.z.to_f64());
        let origin = wide(a);
        let (along, across) = (wide(b) - origin, wide(c) - origin);
        // A value is made up of six products of three differences. Each is rounded at most seven times (three
        // differences, two products, two sums) and then summed up in two steps.
        let reach = largest(&along).max(largest(&across));
        let doubt = 64.0 * f64::EPSILON * reach * reach;
        Self { origin, normal: along.cross(&across), doubt }
    }

    /// On which side a point is: the value is certain if it is farther from zero than the doubt.
    #[inline(always)]
    fn value<R: Real>(&self, point: &Vector3<R>) -> (f64, f64) {
        let offset =
            Vector3::new(point.x.to_f64(), point.y.to_f64(), point.z.to_f64()) - self.origin;
        (self.normal.dot(&offset), self.doubt * largest(&offset))
    }

    /// Whether a triangle is certainly on one side and does not touch the plane.
    #[inline(always)]
    pub fn separates<R: Real>(&self, corners: &[Vector3<R>; 3]) -> bool {
        let [p, q, r] = [0, 1, 2].map(|k: usize| self.value(&corners[k]));
        ((p.0 > p.1) & (q.0 > q.1) & (r.0 > r.1)) | ((p.0 < -p.1) & (q.0 < -q.1) & (r.0 < -r.1))
    }
}

/// The largest magnitude of a coordinate.
#[inline(always)]
fn largest(p: &Vector3<f64>) -> f64 {
    p.x.abs().max(p.y.abs()).max(p.z.abs())
}

/// On which side of a plane the corners of a triangle are.
#[inline(always)]
fn sides<R: Real>(plane: [Vector3<R>; 3], corners: [Vector3<R>; 3]) -> [Sign; 3] {
    let quick = TrianglePlane::new(&plane);
    let mut signs = [Sign::Zero; 3];
    for (sign, corner) in signs.iter_mut().zip(corners) {
        let (value, doubt) = quick.value(&corner);
        *sign = if value > doubt {
            Sign::Positive
        } else if value < -doubt {
            Sign::Negative
        } else {
            orient3d(plane[0], plane[1], plane[2], corner)
        };
    }
    signs
}

/// On which side of a plane a point is.
#[inline(always)]
fn side<R: Real>(plane: [Vector3<R>; 3], point: Vector3<R>) -> Sign {
    sides(plane, [point; 3])[0]
}

#[inline(always)]
fn on_one_side(&[p, q, r]: &[Sign; 3]) -> bool {
    p == q && q == r && p != Sign::Zero
}

/// The corner that is alone on its side, and that side; none if a corner is in the plane.
fn alone([p, q, r]: [Sign; 3]) -> Option<(usize, Sign)> {
    if [p, q, r].contains(&Sign::Zero) {
        return None;
    }
    Some(if q == r {
        (0, p)
    } else if p == r {
        (1, q)
    } else {
        (2, r)
    })
}

/// Each triangle crosses the plane of the other, and no corner is in it: both cut the line that the planes have in
/// common, in an interval each. Whether the intervals overlap is told by two signs (Guigue and Devillers 2003).
fn cross_on_the_line<R: Real>(
    a: [Vector3<R>; 3],
    (a_alone, a_side): (usize, Sign),
    b: [Vector3<R>; 3],
    (b_alone, b_side): (usize, Sign),
) -> bool {
    // The corner that is alone first; the others so that it is on the positive side of the other's plane.
    let turned = |t: [Vector3<R>; 3], alone: usize, other_side: Sign| {
        let [p, q, r] = [t[alone], t[(alone + 1) % 3], t[(alone + 2) % 3]];
        if other_side == Sign::Positive { [p, q, r] } else { [p, r, q] }
    };
    let [p1, p2, p3] = turned(a, a_alone, b_side);
    let [q1, q2, q3] = turned(b, b_alone, a_side);
    orient3d(p1, p2, q1, q2) != Sign::Positive && orient3d(p1, p3, q3, q1) != Sign::Positive
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random corners on a small lattice, so that every kind of touching happens, or anywhere.
    fn corners(state: &mut u64, lattice: bool) -> [Vector3<f64>; 3] {
        std::array::from_fn(|_| {
            Vector3::from_fn(|_, _| {
                *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let unit = (*state >> 11) as f64 / (1u64 << 53) as f64;
                if lattice { (unit * 4.0).floor() } else { unit }
            })
        })
    }

    #[test]
    fn the_short_cut_and_the_definition_agree() {
        let mut state = 1;
        let mut met = [0; 2];
        for k in 0..200_000 {
            let lattice = k % 2 == 0;
            let (a, b) = (corners(&mut state, lattice), corners(&mut state, lattice));
            let expected = edges_meet(a, b);
            assert_eq!(triangles_meet(a, b), expected, "{a:?} {b:?}");
            assert_eq!(triangles_meet(b, a), expected, "{b:?} {a:?}");
            met[k % 2] += usize::from(expected);
        }
        assert!(met.iter().all(|&count| count > 10_000), "{met:?}");
    }

    #[test]
    fn beyond_a_shared_corner() {
        let corner = Vector3::zeros();
        let flat = [corner, Vector3::new(2.0, -1.0, 0.0), Vector3::new(2.0, 1.0, 0.0)];
        let through = [corner, Vector3::new(1.0, 0.0, 1.0), Vector3::new(1.0, 0.0, -1.0)];
        let away = [corner, Vector3::new(-1.0, 0.0, 1.0), Vector3::new(-1.0, 0.0, -1.0)];
        let beside = [corner, Vector3::new(-2.0, 1.0, 0.0), Vector3::new(-2.0, -1.0, 0.0)];
        let over = [corner, Vector3::new(3.0, 0.0, 0.0), Vector3::new(2.0, 3.0, 0.0)];
        // Its edge lies in the other triangle.
        let along = [corner, Vector3::new(1.0, 0.0, 0.0), Vector3::new(1.0, 0.0, 1.0)];
        for (other, expected) in
            [(through, true), (away, false), (beside, false), (over, true), (along, true)]
        {
            assert_eq!(triangles_meet_beyond_corner(flat, other), expected, "{other:?}");
            assert_eq!(triangles_meet_beyond_corner(other, flat), expected, "{other:?}");
        }
    }

    #[test]
    fn a_triangle_without_area_does_not_meet_beyond_a_shared_corner() {
        let corner = Vector3::zeros();
        let flat = [corner, Vector3::new(2.0, -1.0, 0.0), Vector3::new(2.0, 1.0, 0.0)];
        let through = [corner, Vector3::new(-1.0, 0.0, 1.0), Vector3::new(1.0, 0.0, -1.0)];
        let along = [corner, Vector3::new(3.0, 0.0, 0.0), Vector3::new(4.0, 0.0, 0.0)];
        for needle in [through, along] {
            assert!(!triangles_meet_beyond_corner(flat, needle));
            assert!(!triangles_meet_beyond_corner(needle, flat));
        }
    }

    #[test]
    fn beyond_a_shared_edge() {
        let edge = [Vector3::zeros(), Vector3::new(1.0, 0.0, 0.0)];
        let [up, higher, down] =
            [[0.0, 1.0, 0.0], [0.5, 2.0, 0.0], [0.0, -1.0, 0.0]].map(Vector3::from);
        assert!(triangles_overlap_beyond_edge(edge, up, higher));
        assert!(!triangles_overlap_beyond_edge(edge, up, down));
        assert!(!triangles_overlap_beyond_edge(edge, up, Vector3::new(0.0, 1.0, 1e-300)));
        assert!(!triangles_overlap_beyond_edge(edge, up, Vector3::new(3.0, 0.0, 0.0)));
    }
}
