use crate::math::{Matrix3, Real, Vector3, atan2};

/// What a solid of density 1 weighs, where, and how it resists turning.
///
/// Integrals over a whole mesh are summed and given in `f64`, whatever the mesh is made of: sums
/// over a million triangles are beyond `f32`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// Enclosed volume; negative if the surface is inside out.
    pub volume: f64,
    /// Centre of mass. The middle of the bounding box where the volume is zero.
    pub centroid: Vector3<f64>,
    /// Inertia tensor about the centroid.
    pub inertia: Matrix3<f64>,
}

fn corners<R: Real>(positions: &[Vector3<R>], triangle: &[u32; 3]) -> [Vector3<f64>; 3] {
    triangle.map(|vertex| positions[vertex as usize].map(|x| x.to_f64()))
}

/// The area of triangles.
pub fn area<R: Real>(positions: &[Vector3<R>], triangles: &[[u32; 3]]) -> f64 {
    // From +0: the empty sum of floats is -0.
    let doubled = triangles.iter().fold(0.0, |sum, triangle| {
        let [a, b, c] = corners(positions, triangle);
        sum + (b - a).cross(&(c - a)).norm()
    });
    doubled / 2.0
}

/// Volume, centroid and inertia of what a closed, outward oriented surface encloses.
///
/// Each triangle spans a tetrahedron with a common apex o; with det = det [a b c] and s = a+b+c
/// (all relative to o), its volume is det/6, its first moment det/24 s, and its second moment
/// ∫ x xᵀ = det/120 (a aᵀ + b bᵀ + c cᵀ + s sᵀ).
pub fn mass_properties<R: Real>(
    positions: &[Vector3<R>],
    triangles: &[[u32; 3]],
) -> MassProperties {
    // The middle of the box as apex loses the fewest digits to cancellation.
    let apex =
        crate::math::Bounds::of(triangles.iter().flat_map(|triangle| corners(positions, triangle)))
            .center();
    let mut volume = 0.0;
    let mut first = Vector3::zeros();
    let mut second = Matrix3::zeros();
    for triangle in triangles {
        let [a, b, c] = corners(positions, triangle).map(|corner| corner - apex);
        let det = a.dot(&b.cross(&c));
        let sum = a + b + c;
        volume += det / 6.0;
        first += sum * (det / 24.0);
        second +=
            (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose())
                * (det / 120.0);
    }
    if volume == 0.0 {
        let centroid = if triangles.is_empty() { Vector3::zeros() } else { apex };
        return MassProperties { volume, centroid, inertia: Matrix3::zeros() };
    }
    let offset = first / volume;
    let about_centroid = second - offset * offset.transpose() * volume;
    let inertia = Matrix3::from_diagonal_element(about_centroid.trace()) - about_centroid;
    MassProperties { volume, centroid: apex + offset, inertia }
}

/// The solid angle under which triangles are seen from a point: ±4π inside a closed surface, 0
/// outside (van Oosterom and Strackee 1983).
pub fn solid_angle<R: Real>(
    point: Vector3<f64>,
    positions: &[Vector3<R>],
    triangles: impl IntoIterator<Item = [u32; 3]>,
) -> f64 {
    triangles
        .into_iter()
        .map(|triangle| {
            let [a, b, c] = corners(positions, &triangle).map(|corner| corner - point);
            let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
            let det = a.dot(&b.cross(&c));
            let sum = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
            2.0 * atan2(det, sum)
        })
        .sum()
}
