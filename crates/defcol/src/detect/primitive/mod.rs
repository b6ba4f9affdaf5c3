//! Tests between two primitives. Whether they meet is decided exactly; touching counts.
//!
//! Decisions use exact signs of the corners alone, so two neighbours that share a face, an edge or a
//! corner cannot disagree about a point on it: both report it.

mod impact;
mod point_tetrahedron;
mod proximity;
mod segment_triangle;
mod triangle_triangle;

pub use impact::{ImpactSearch, ImpactWork};
pub use point_tetrahedron::{barycentric, point_in_tetrahedron};
pub use proximity::{
    Closest, closest_on_triangle, edge_edge, point_triangle, squared_distance_to_triangle,
};
pub use segment_triangle::{Crossing, crossing, segment_meets_triangle};
pub(in crate::detect) use triangle_triangle::TrianglePlane;
pub use triangle_triangle::{
    triangles_meet, triangles_meet_beyond_corner, triangles_meet_beyond_shared,
    triangles_overlap_beyond_edge,
};
