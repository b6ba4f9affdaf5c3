//! From positions to the primitives that meet.
//!
//! A [`Detector`] answers [`Questions`] about all [`Bodies`] at once, collisions of a body with itself
//! included, and fills [`Hits`]. [`BruteForce`](brute::BruteForce) compares everything with everything
//! and is the reference; [`SpatialHash`](hash::SpatialHash) does the same in linear time. Both give the
//! same hits in the same order, bit for bit, for any number of threads.
//!
//! ```
//! use defcol::detect::hash::SpatialHash;
//! use defcol::detect::{Detector, Hits, Questions};
//! use defcol::math::Vector3;
//! use defcol::mesh::TetMesh;
//! use defcol::state::{Bodies, Collides};
//!
//! let ball = TetMesh::new(defcol_scenes::regular::ball(1.0))?;
//! let mut bodies = Bodies::default();
//! bodies.add_solid(&ball, Collides::default());
//! bodies.add_solid(&ball, Collides::default());
//! // The second ball is shifted; the positions of all bodies stand behind one another.
//! let shift = Vector3::new(1.2, 0.0, 0.0);
//! let moved = ball.positions().iter().map(|p| p + shift);
//! let positions: Vec<_> = ball.positions().iter().copied().chain(moved).collect();
//!
//! let mut hits = Hits::default();
//! SpatialHash::default().detect(&bodies, &positions, Questions::default(), &mut hits)?;
//! assert!(!hits.points.is_empty() && !hits.edges.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod brute;
pub mod bvh;
pub mod hash;
pub mod ldi;
pub mod primitive;
pub mod proximity;

use crate::error::DetectError;
use crate::math::{Real, Vector3};
use crate::state::Bodies;
use primitive::{Crossing, barycentric, crossing};

/// What is asked about the bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Questions {
    /// Which vertices are in which tetrahedra, of which they are not a corner.
    pub points_in_tetrahedra: bool,
    /// Which surface edges meet which surface triangles, with which they share no vertex.
    pub edges_through_triangles: bool,
}

impl Default for Questions {
    /// Both.
    fn default() -> Self {
        Self { points_in_tetrahedra: true, edges_through_triangles: true }
    }
}

/// A vertex inside a tetrahedron or on its boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointHit<R> {
    /// The tetrahedron, in the numbering of all bodies.
    pub tetrahedron: u32,
    /// The vertex, in the numbering of all bodies.
    pub vertex: u32,
    /// The weights of the corners of the tetrahedron at the vertex.
    pub weights: [R; 4],
}

/// An edge that meets a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeHit<R> {
    /// The triangle, in the numbering of all bodies.
    pub triangle: u32,
    /// The edge, in the numbering of all bodies.
    pub edge: u32,
    /// Where.
    pub crossing: Crossing<R>,
}

/// Everything that was found, in ascending order of the first two numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Hits<R> {
    /// Vertices in tetrahedra.
    pub points: Vec<PointHit<R>>,
    /// Edges through triangles.
    pub edges: Vec<EdgeHit<R>>,
}

impl<R> Default for Hits<R> {
    fn default() -> Self {
        Self { points: Vec::new(), edges: Vec::new() }
    }
}

/// The pairs of triangles of one body that meet, each ascending, and in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SelfPairs {
    /// Those that share no vertex.
    pub apart: Vec<[u32; 2]>,
    /// Those that share vertices, and meet beyond these.
    pub sharing: Vec<[u32; 2]>,
}

/// Finds the primitives that meet. One of the two seams of the library.
pub trait Detector<R: Real> {
    /// Answers the questions about bodies in the given positions; `hits` is overwritten.
    fn detect(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        questions: Questions,
        hits: &mut Hits<R>,
    ) -> Result<(), DetectError>;
}

/// Checks that there is a usable position for each vertex.
pub fn check_positions<R: Real>(
    bodies: &Bodies,
    positions: &[Vector3<R>],
) -> Result<(), DetectError> {
    let vertices = bodies.vertex_count();
    if positions.len() != vertices {
        return Err(DetectError::PositionCount { positions: positions.len(), vertices });
    }
    let Some((vertex, value)) = first_bad_position(positions) else { return Ok(()) };
    let body = bodies.body_of(vertex as u32);
    let vertex = vertex - bodies.list()[body].vertices.start;
    Err(DetectError::BadPosition { body, vertex, value, limit: R::MAX_COORDINATE })
}

/// The first vertex with a coordinate that is not finite or too large, and that coordinate.
fn first_bad_position<R: Real>(positions: &[Vector3<R>]) -> Option<(usize, f64)> {
    let limit = R::nearest(R::MAX_COORDINATE);
    let good = |p: &Vector3<R>| {
        (p.x <= limit)
            & (p.x >= -limit)
            & (p.y <= limit)
            & (p.y >= -limit)
            & (p.z <= limit)
            & (p.z >= -limit)
    };
    // Summed up without a branch first: bad positions are rare.
    if positions.chunks(1024).all(|chunk| chunk.iter().fold(true, |all, p| all & good(p))) {
        return None;
    }
    let vertex = positions.iter().position(|p| !good(p))?;
    let value = positions[vertex].iter().copied().find(|&x| !(x <= limit && x >= -limit));
    Some((vertex, value.map_or(f64::NAN, R::to_f64)))
}

/// The positions of the corners of a primitive.
#[inline(always)]
pub(crate) fn corners<R: Real, const N: usize>(
    positions: &[Vector3<R>],
    primitive: [u32; N],
) -> [Vector3<R>; N] {
    primitive.map(|corner| positions[corner as usize])
}

/// A hit of a vertex and a tetrahedron that are known to meet.
fn point_hit<R: Real>(
    bodies: &Bodies,
    positions: &[Vector3<R>],
    [tetrahedron, vertex]: [u32; 2],
) -> PointHit<R> {
    let corners = corners(positions, bodies.tetrahedra()[tetrahedron as usize]);
    PointHit { tetrahedron, vertex, weights: barycentric(positions[vertex as usize], corners) }
}

/// A hit of an edge and a triangle that are known to meet.
fn edge_hit<R: Real>(
    bodies: &Bodies,
    positions: &[Vector3<R>],
    [triangle, edge]: [u32; 2],
) -> EdgeHit<R> {
    let ends = corners(positions, bodies.edges()[edge as usize]);
    let corners = corners(positions, bodies.triangles()[triangle as usize]);
    EdgeHit { triangle, edge, crossing: crossing(ends, corners) }
}
