use crate::error::MeshError;
use crate::math::{Real, Vector3};

/// Arrays as they come from a file or another program. Nothing is promised about them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawMesh<R: Real> {
    /// Vertex positions at rest.
    pub positions: Vec<Vector3<R>>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Tetrahedra, the fourth corner on the side from which the first three run
    /// counter-clockwise.
    pub tetrahedra: Vec<[u32; 4]>,
}

impl<R: Real> RawMesh<R> {
    /// The same mesh in the other precision; coordinates are rounded to nearest.
    pub fn cast<S: Real>(&self) -> RawMesh<S> {
        RawMesh {
            positions: self.positions.iter().map(|p| p.map(|x| S::nearest(x.to_f64()))).collect(),
            triangles: self.triangles.clone(),
            tetrahedra: self.tetrahedra.clone(),
        }
    }
}

/// What may be wrong with one coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadCoordinate {
    NonFinite,
    OutOfRange,
}

/// The first bad coordinate of a vertex.
pub(super) fn bad_coordinate<R: Real>(position: &Vector3<R>) -> Option<(BadCoordinate, f64)> {
    position.iter().map(|x| x.to_f64()).find_map(|x| {
        if !x.is_finite() {
            Some((BadCoordinate::NonFinite, x))
        } else if x.abs() > R::MAX_COORDINATE {
            Some((BadCoordinate::OutOfRange, x))
        } else {
            None
        }
    })
}

/// A vertex that the primitive names twice.
pub(super) fn repeated_vertex<const N: usize>(primitive: &[u32; N]) -> Option<u32> {
    (1..N).find(|&k| primitive[..k].contains(&primitive[k])).map(|k| primitive[k])
}

pub(super) fn check_positions<R: Real>(positions: &[Vector3<R>]) -> Result<(), MeshError> {
    let limit = u32::MAX as usize;
    if positions.len() > limit {
        return Err(MeshError::TooLarge { what: "vertices", count: positions.len(), limit });
    }
    for (vertex, position) in positions.iter().enumerate() {
        let vertex = vertex as u32;
        match bad_coordinate(position) {
            None => {}
            Some((BadCoordinate::NonFinite, value)) => {
                return Err(MeshError::NonFinite { vertex, value });
            }
            Some((BadCoordinate::OutOfRange, value)) => {
                let limit = R::MAX_COORDINATE;
                return Err(MeshError::OutOfRange { vertex, value, limit });
            }
        }
    }
    Ok(())
}

/// Checks triangles (N = 3) or tetrahedra (N = 4) over `vertices` vertices.
pub(super) fn check_primitives<const N: usize>(
    vertices: usize,
    primitives: &[[u32; N]],
) -> Result<(), MeshError> {
    let (primitive, what) =
        if N == 3 { ("triangle", "triangles") } else { ("tetrahedron", "tetrahedra") };
    if primitives.is_empty() {
        return Err(MeshError::Empty(what));
    }
    // The edge slots (3 a triangle, 6 a tetrahedron) are counted in 32 bits.
    let limit = u32::MAX as usize / if N == 3 { 3 } else { 6 };
    if primitives.len() > limit {
        return Err(MeshError::TooLarge { what, count: primitives.len(), limit });
    }
    for (index, corners) in primitives.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&vertex| vertex as usize >= vertices) {
            return Err(MeshError::IndexOutOfRange { primitive, index, vertex, vertices });
        }
        if let Some(vertex) = repeated_vertex(corners) {
            return Err(MeshError::RepeatedVertex { primitive, index, vertex });
        }
    }
    Ok(())
}
