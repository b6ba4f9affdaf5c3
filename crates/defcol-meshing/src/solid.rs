//! The solid inside a closed triangle surface as a shape.

use defcol::detect::bvh::SignedDistance;
use defcol::mesh::{DefectKind, Place, RawMesh, TriangleMesh, inspect};

use crate::Shape;

/// Why a surface has no inside.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SolidError {
    /// The arrays are no mesh.
    #[error(transparent)]
    Mesh(#[from] defcol::error::MeshError),
    /// The surface has a border.
    #[error(
        "the surface is open: {count} edges have no second triangle, the first is {example}; \
         close it, or weld its vertices (defcol convert --repair weld)"
    )]
    Open {
        /// How many edges.
        count: usize,
        /// The first of them.
        example: Place,
    },
    /// Neighbouring triangles contradict each other.
    #[error(
        "the surface is not oriented: neighbours contradict each other at {count} edges, the first is \
         {example}; defcol convert --repair orientation turns triangles"
    )]
    NotOriented {
        /// How many edges.
        count: usize,
        /// The first of them.
        example: Place,
    },
    /// The surface encloses nothing.
    #[error(
        "the surface encloses no volume; give it a thickness, or choose a smaller unit of length"
    )]
    Flat,
    /// The surface is inside out.
    #[error(
        "the surface is inside out, its volume is {0}; defcol convert --repair orientation turns it"
    )]
    InsideOut(f64),
}

impl Shape {
    /// The solid inside a closed, oriented surface. Small defects (non-manifold edges, duplicate or
    /// degenerate triangles, parts that overlap) do no harm: inside is where the surface winds around
    /// more than half a time.
    pub fn from_surface(mesh: &RawMesh<f64>) -> Result<Self, SolidError> {
        let facts = inspect(mesh);
        let first = |kind| facts.defects.iter().find(|defect| defect.kind == kind);
        if let Some(defect) = first(DefectKind::OpenEdge) {
            return Err(SolidError::Open { count: defect.count, example: defect.example });
        }
        if let Some(defect) = first(DefectKind::InconsistentOrientation) {
            return Err(SolidError::NotOriented { count: defect.count, example: defect.example });
        }
        let mut sound = mesh.clone();
        defcol::mesh::repair::drop_degenerate(&mut sound)?;
        let mesh = TriangleMesh::new(sound)?;
        let volume = mesh.mass_properties().volume;
        if volume < 0.0 {
            return Err(SolidError::InsideOut(volume));
        }
        if volume.is_nan() || volume == 0.0 {
            return Err(SolidError::Flat);
        }
        let bounds = mesh.bounds();
        // At a size of about 1 no square or cube of a length over- or underflows. A power of two is exact.
        let scale = 2f64.powi(-(bounds.extent().max().log2().round() as i32));
        let positions: Vec<_> = mesh.positions().iter().map(|p| p * scale).collect();
        let distance = SignedDistance::new(&positions, mesh.triangles());
        let shape = Self::new(bounds, 1.0, move |point| distance.at(point * scale) / scale);
        Ok(shape.of_volume(volume))
    }
}
