//! Filling to a wanted number of tetrahedra.

use defcol::math::Vector3;
use defcol::mesh::RawMesh;

use crate::lattice::scatter;
use crate::surface::SurfaceError;
use crate::{Shape, Stuffing};

/// Which result is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Wanted number of tetrahedra.
    pub tetrahedra: usize,
    /// Wanted number of vertices, if that matters too.
    pub vertices: Option<usize>,
    /// How far off the numbers may be, in percent.
    pub tolerance: f64,
    /// See [`Stuffing::grading`].
    pub grading: u8,
}

impl Target {
    /// So many lattices are tried at most.
    pub const ATTEMPTS: u32 = 60;

    /// So many tetrahedra within 10 %, coarser inside.
    pub fn tetrahedra(count: usize) -> Self {
        Self { tetrahedra: count, vertices: None, tolerance: 10.0, grading: 3 }
    }

    /// How far off a mesh is, in percent.
    fn error(&self, mesh: &RawMesh<f64>) -> f64 {
        let off = |is: usize, wanted: usize| (is as f64 / wanted as f64 - 1.0).abs() * 100.0;
        let vertices = self.vertices.map_or(0.0, |wanted| off(mesh.positions.len(), wanted));
        off(mesh.tetrahedra.len(), self.tetrahedra).max(vertices)
    }

    /// How many times too large a mesh is: in tetrahedra, or in the middle of both numbers.
    fn excess(&self, mesh: &RawMesh<f64>) -> f64 {
        let tetrahedra = mesh.tetrahedra.len() as f64 / self.tetrahedra as f64;
        match self.vertices {
            Some(wanted) => (tetrahedra * mesh.positions.len() as f64 / wanted as f64).sqrt(),
            None => tetrahedra,
        }
    }

    /// Fills a shape; tells `progress` after each attempt how far off it was.
    pub fn fill(
        &self,
        shape: &Shape,
        mut progress: impl FnMut(f64),
    ) -> Result<RawMesh<f64>, SurfaceError> {
        let extent = shape.bounds().extent();
        // In tetrahedra of a twelfth of a cell; as if a shape of unknown volume took a third of its box.
        let volume = shape.volume().unwrap_or(extent.x * extent.y * extent.z / 3.0);
        let mut empty = 0;
        let mut spacing = (volume * 12.0 / self.tetrahedra.max(1) as f64).cbrt();
        let mut best: Option<(f64, RawMesh<f64>)> = None;
        // The number of tetrahedra grows with the cube of the resolution, roughly: coarse lattices jump,
        // so where the lattice lies is varied too, most when the target is small.
        for attempt in 0..Self::ATTEMPTS {
            let offset = if attempt < 6 { Vector3::zeros() } else { scatter(attempt) };
            let stuffing = Stuffing { spacing, grading: self.grading, offset };
            let excess = match stuffing.fill(shape) {
                Ok(mesh) => {
                    let error = self.error(&mesh);
                    progress(error);
                    let excess = self.excess(&mesh);
                    if best.as_ref().is_none_or(|(least, _)| error < *least) {
                        best = Some((error, mesh));
                    }
                    excess
                }
                Err(error @ SurfaceError::Empty(_)) => {
                    // Thinner than the tetrahedra that were asked for: from nothing to too many and back.
                    empty += 1;
                    if empty > 8 {
                        let nearest = best.as_ref().map_or(0, |(_, mesh)| mesh.tetrahedra.len());
                        let (wanted, tolerance) = (self.tetrahedra, self.tolerance);
                        return Err(match nearest {
                            0 => error,
                            _ => SurfaceError::Size { wanted, tolerance, nearest },
                        });
                    }
                    0.125
                }
                Err(error) => return Err(error),
            };
            if best.as_ref().is_some_and(|(error, _)| *error <= self.tolerance * 0.5)
                || (attempt > 12
                    && best.as_ref().is_some_and(|(error, _)| *error <= self.tolerance))
            {
                break;
            }
            spacing *= excess.cbrt().clamp(0.5, 2.0).powf(if attempt < 6 { 1.0 } else { 0.5 });
        }
        match best {
            Some((error, mesh)) if error <= self.tolerance => Ok(mesh),
            other => Err(SurfaceError::Size {
                wanted: self.tetrahedra,
                tolerance: self.tolerance,
                nearest: other.map_or(0, |(_, mesh)| mesh.tetrahedra.len()),
            }),
        }
    }
}
