use super::Rows;
use crate::math::{Real, Vector3};
use rayon::prelude::*;

/// Unit normals of the vertices, each triangle weighted by its area; zero where a vertex has no
/// triangle or its triangles cancel. `normals` is resized to the number of positions.
pub fn vertex_normals<R: Real>(
    positions: &[Vector3<R>],
    triangles: &[[u32; 3]],
    vertex_triangles: &Rows,
    normals: &mut Vec<Vector3<R>>,
) {
    assert_eq!(positions.len(), vertex_triangles.len(), "one row of triangles for each position");
    normals.resize(positions.len(), Vector3::zeros());
    // Gathered per vertex, in the order of the triangles: the same bits for any thread count.
    normals.par_iter_mut().enumerate().with_min_len(1024).for_each(|(vertex, normal)| {
        let sum = vertex_triangles.row(vertex).iter().fold(Vector3::zeros(), |sum, &triangle| {
            let [a, b, c] = triangles[triangle as usize].map(|corner| positions[corner as usize]);
            sum + (b - a).cross(&(c - a))
        });
        let largest: R = sum.amax();
        *normal = if largest > R::zero() { (sum / largest).normalize() } else { Vector3::zeros() };
    });
}
