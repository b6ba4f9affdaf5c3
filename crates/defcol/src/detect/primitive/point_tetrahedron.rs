use crate::math::predicate::orient3d_value;
use crate::math::{Real, Vector3};

/// Whether the point is inside the tetrahedron or on its boundary, whatever the order of its corners.
/// A flat tetrahedron contains nothing. Exact (THESIS 4.1.2).
pub fn point_in_tetrahedron<R: Real>(point: Vector3<R>, corners: [Vector3<R>; 4]) -> bool {
    let [a, b, c, d] = corners;
    let volume = orient3d_value(a, b, c, d);
    if volume == 0.0 {
        return false;
    }
    let inside = |part: f64| if volume > 0.0 { part >= 0.0 } else { part <= 0.0 };
    inside(orient3d_value(point, b, c, d))
        && inside(orient3d_value(a, point, c, d))
        && inside(orient3d_value(a, b, point, d))
        && inside(orient3d_value(a, b, c, point))
}

/// The weights of the corners that give a point inside a tetrahedron: none negative, sum 1
/// (THESIS 4.5).
pub fn barycentric<R: Real>(point: Vector3<R>, corners: [Vector3<R>; 4]) -> [R; 4] {
    let corner = |k: usize| (corners[k] - point).map(R::to_f64);
    let [a, b, c, d] = [corner(0), corner(1), corner(2), corner(3)];
    let parts =
        [b.dot(&d.cross(&c)), a.dot(&c.cross(&d)), a.dot(&d.cross(&b)), a.dot(&b.cross(&c))];
    let sum: f64 = parts.iter().sum();
    let largest = parts.iter().fold(0.0, |largest: f64, part| largest.max(part.abs()));
    // Where the tetrahedron is so flat that rounding decides, its exact volumes do.
    if sum.abs() < 1e-9 * largest || largest < f64::MIN_POSITIVE {
        return of_parts(exact_parts(point, corners));
    }
    of_parts(parts)
}

fn exact_parts<R: Real>(point: Vector3<R>, [a, b, c, d]: [Vector3<R>; 4]) -> [f64; 4] {
    [
        orient3d_value(point, b, c, d),
        orient3d_value(a, point, c, d),
        orient3d_value(a, b, point, d),
        orient3d_value(a, b, c, point),
    ]
}

/// Volumes of the four parts of a tetrahedron as weights; those of the wrong sign, by rounding, are 0.
fn of_parts<R: Real>(parts: [f64; 4]) -> [R; 4] {
    let sign = if parts.iter().sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
    let parts = parts.map(|part| (sign * part).max(0.0));
    let sum: f64 = parts.iter().sum();
    if sum > 0.0 { parts.map(|part| R::nearest(part / sum)) } else { [R::nearest(0.25); 4] }
}
