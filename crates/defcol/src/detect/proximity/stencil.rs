//! How near two primitives are, and which way they part.

use crate::math::{Real, Vector3};

/// Edges whose directions differ by less than this (the square of the sine) are left to vertices and triangles.
const PARALLEL: f64 = 1e-2;

/// How far the direction between two edges may lean into a face beside one of them.
const LEANING: f64 = 0.1;

/// Which sides of a surface are outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// The side of the normals: the surface is closed.
    Normals,
    /// Both: the surface has no inside.
    BothSides,
}

/// A place where two surfaces are near each other: a linear function of four vertices along a direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactStencil<R: Real> {
    /// A vertex and the corners of a triangle, or the ends of two edges.
    pub vertices: [u32; 4],
    /// Weights of the vertices: positive for the first body, negative for the second; the sum is zero.
    pub weights: [R; 4],
    /// The direction in which the first body leaves the second, of length one.
    pub normal: Vector3<R>,
    /// How far apart both are along that direction; negative if they are in each other.
    pub gap: R,
}

impl<R: Real> ContactStencil<R> {
    /// How far apart both are along the direction with vertices in other places.
    #[inline]
    pub fn gap_at(&self, place: impl Fn(u32) -> Vector3<R>) -> R {
        let [a, b, c, d] = self.vertices;
        let [u, v, w, x] = self.weights;
        (place(a) * u + place(b) * v + place(c) * w + place(d) * x).dot(&self.normal)
    }
}

impl<R: Real> ContactStencil<R> {
    /// A vertex and a triangle, on its outer side or just behind it, or on either side, and how far both are apart in any
    /// case.
    #[inline]
    pub fn of_point(
        place: impl Fn(u32) -> Vector3<R>,
        point: u32,
        triangle: [u32; 3],
        outside: Outside,
    ) -> (Option<Self>, R) {
        let p = place(point);
        let [a, b, c] = [place(triangle[0]), place(triangle[1]), place(triangle[2])];
        let (weights, inside) = closest(p, [a, b, c]);
        let away = p - (a * weights[0] + b * weights[1] + c * weights[2]);
        let distance = away.norm();
        let normal = (b - a).cross(&(c - a));
        let height = away.dot(&normal);
        let (normal, gap) = if outside == Outside::BothSides {
            if !(distance > R::zero()) {
                return (None, distance);
            }
            (away / distance, distance)
        } else if inside {
            let length = normal.norm();
            if !(length > R::zero()) {
                return (None, distance);
            }
            (normal / length, height / length)
        } else {
            // Beyond an edge or a corner only what is outside counts: what is behind it is before another triangle.
            if !(distance > R::zero() && height >= R::zero()) {
                return (None, distance);
            }
            (away / distance, distance)
        };
        let [a, b, c] = triangle;
        let [u, v, w] = weights;
        let (vertices, weights) = ([point, a, b, c], [R::one(), -u, -v, -w]);
        (Some(Self { vertices, weights, normal, gap }), distance)
    }

    /// Two edges with the triangles beside them, if their insides are what is nearest and not farther than `limit`; and
    /// how far both are apart in any case.
    #[inline]
    pub fn of_edges(
        place: impl Fn(u32) -> Vector3<R>,
        edges: [[u32; 2]; 2],
        sides: [[Option<[u32; 3]>; 2]; 2],
        limit: R,
        outside: Outside,
    ) -> (Option<Self>, R) {
        let place = &place;
        let [p, q] = [place(edges[0][0]), place(edges[0][1])];
        let [r, s] = [place(edges[1][0]), place(edges[1][1])];
        let (along, square) = closest_of_edges([p, q], [r, s]);
        let distance = square.sqrt();
        if distance > limit {
            return (None, distance);
        }
        (Self::of_near_edges(place, edges, sides, [p, q, r, s], along, outside), distance)
    }

    fn of_near_edges(
        place: &impl Fn(u32) -> Vector3<R>,
        edges: [[u32; 2]; 2],
        sides: [[Option<[u32; 3]>; 2]; 2],
        [p, q, r, s]: [Vector3<R>; 4],
        [along_first, along_second]: [R; 2],
        outside: Outside,
    ) -> Option<Self> {
        let (u, v, between) = (q - p, s - r, p - r);
        let across = u.cross(&v);
        let square = across.norm_squared();
        let within = |t: R| t > R::zero() && t < R::one();
        let crossing = square > R::nearest(PARALLEL) * u.norm_squared() * v.norm_squared();
        if !(crossing && within(along_first) && within(along_second)) {
            return None;
        }
        let normal = across / square.sqrt();
        let apart = between + u * along_first - v * along_second;
        let [[a, b], [c, d]] = edges;
        let one = R::one();
        let weights = [one - along_first, along_first, along_second - one, -along_second];
        let vertices = [a, b, c, d];
        if outside == Outside::BothSides {
            let normal = if apart.dot(&normal) < R::zero() { -normal } else { normal };
            return Some(Self { vertices, weights, normal, gap: apart.dot(&normal) });
        }
        let outward = |edge: usize| {
            sides[edge].iter().flatten().fold(Vector3::zeros(), |sum, corners| {
                let [a, b, c] = [place(corners[0]), place(corners[1]), place(corners[2])];
                let normal = (b - a).cross(&(c - a));
                let length = normal.norm();
                if length > R::zero() { sum + normal / length } else { sum }
            })
        };
        let (first, second) = (outward(0), outward(1));
        let facing = normal.dot(&(second - first));
        let normal = if facing < R::zero() { -normal } else { normal };
        // Out of the second body and into the first, and not into a face beside either edge.
        if !(normal.dot(&second) > R::zero() && normal.dot(&first) < R::zero()) {
            return None;
        }
        let leans = |edge: usize, sign: R| {
            let ends = edges[edge];
            let (start, along) = if edge == 0 { (p, u) } else { (r, v) };
            sides[edge].iter().flatten().any(|corners| {
                let Some(&third) = corners.iter().find(|corner| !ends.contains(corner)) else {
                    return false;
                };
                let into = place(third) - start;
                let into = into - along * (into.dot(&along) / along.norm_squared());
                sign * normal.dot(&into) > R::nearest(LEANING) * into.norm()
            })
        };
        if leans(0, -R::one()) || leans(1, R::one()) {
            return None;
        }
        Some(Self { vertices, weights, normal, gap: apart.dot(&normal) })
    }
}

/// Whether an edge stands out by more than `height` from what is around it: a border, or a ridge.
pub(super) fn stands_out<R: Real>(
    place: impl Fn(u32) -> Vector3<R>,
    ends: [u32; 2],
    sides: [Option<[u32; 3]>; 2],
    height: R,
) -> bool {
    let [Some(one), Some(other)] = sides else { return true };
    let [a, b, c] = one.map(&place);
    let normal = (b - a).cross(&(c - a));
    let Some(&third) = other.iter().find(|corner| !ends.contains(corner)) else { return true };
    // How far the other triangle falls off below the plane of the first one, times the length of the normal; the ridge
    // is a quarter as high above the line between the middles of both.
    let below = -(place(third) - place(ends[0])).dot(&normal);
    let four = R::nearest(4.0);
    below > R::zero() && below * below > four * four * height * height * normal.norm_squared()
}

/// Weights of the point of a triangle that is closest to a point, and whether it is within its edges.
#[inline]
fn closest<R: Real>(p: Vector3<R>, [a, b, c]: [Vector3<R>; 3]) -> ([R; 3], bool) {
    let (zero, one) = (R::zero(), R::one());
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= zero && d2 <= zero {
        return ([one, zero, zero], false);
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= zero && d4 <= d3 {
        return ([zero, one, zero], false);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= zero && d1 >= zero && d3 <= zero {
        let t = d1 / (d1 - d3);
        return ([one - t, t, zero], false);
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= zero && d5 <= d6 {
        return ([zero, zero, one], false);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= zero && d2 >= zero && d6 <= zero {
        let t = d2 / (d2 - d6);
        return ([one - t, zero, t], false);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= zero && d4 >= d3 && d5 >= d6 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return ([zero, one - t, t], false);
    }
    let sum = va + vb + vc;
    if !(sum > zero) {
        return ([one, zero, zero], false);
    }
    let (v, w) = (vb / sum, vc / sum);
    ([one - v - w, v, w], true)
}

/// The square of the distance of a point from a triangle.
#[inline]
pub(super) fn squared_to_triangle<R: Real>(p: Vector3<R>, triangle: [Vector3<R>; 3]) -> R {
    let ([u, v, w], _) = closest(p, triangle);
    let [a, b, c] = triangle;
    (p - (a * u + b * v + c * w)).norm_squared()
}

/// The square of the distance of two edges.
#[inline]
pub(super) fn squared_between_edges<R: Real>(first: [Vector3<R>; 2], second: [Vector3<R>; 2]) -> R {
    closest_of_edges(first, second).1
}

/// Where along two edges they are closest, and the square of their distance.
#[inline]
fn closest_of_edges<R: Real>([p, q]: [Vector3<R>; 2], [r, s]: [Vector3<R>; 2]) -> ([R; 2], R) {
    let (zero, one) = (R::zero(), R::one());
    let (u, v, w) = (q - p, s - r, p - r);
    let (a, b, e) = (u.norm_squared(), u.dot(&v), v.norm_squared());
    let (c, f) = (u.dot(&w), v.dot(&w));
    let clamp = |t: R| {
        if t < zero {
            zero
        } else if t > one {
            one
        } else {
            t
        }
    };
    let divide = |x: R, y: R| if y > zero { clamp(x / y) } else { zero };
    let first = divide(b * f - c * e, a * e - b * b);
    let second = divide(b * first + f, e);
    // Once more the nearest of the first to where the second was cut off.
    let first = if second > zero && second < one { first } else { divide(b * second - c, a) };
    ([first, second], (w + u * first - v * second).norm_squared())
}
