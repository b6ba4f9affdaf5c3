//! Closed triangle surfaces from shapes, by marching tetrahedra on the body-centred lattice.

use std::collections::HashMap;

use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TriangleMesh};
use rayon::prelude::*;

use crate::Shape;
use crate::decimate::decimated;
use crate::lattice::{Lattice, Point, scatter};

/// Why a surface could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SurfaceError {
    /// No lattice point is inside.
    #[error("the shape is empty, or thinner everywhere than the spacing {0}")]
    Empty(f64),
    /// The lattice would be too large.
    #[error(
        "a spacing of {spacing:e} needs a lattice of {cells:e} cells over the box of the shape; it is too \
         thin for its size, or too much is asked for: ask for fewer, or split it"
    )]
    TooFine {
        /// The spacing.
        spacing: f64,
        /// The cells that the lattice would have.
        cells: f64,
    },
    /// No spacing gives the wanted number of triangles or tetrahedra.
    #[error(
        "no spacing gives {wanted} elements within {tolerance} %; {nearest} came nearest: ask for another number"
    )]
    Size {
        /// The wanted number.
        wanted: usize,
        /// How far off it may be.
        tolerance: f64,
        /// The nearest number reached.
        nearest: usize,
    },
}

/// The surface of a shape: closed, manifold, outward, with edges of about the given spacing.
///
/// Each lattice tetrahedron is cut where the sign changes. Cuts keep away from the lattice points, so
/// that no triangle is degenerate, and every edge is cut at most once, so that the surface is a
/// manifold whatever the function. Vertices are then evened out along the surface.
pub fn surface_mesh(shape: &Shape, spacing: f64) -> Result<RawMesh<f64>, SurfaceError> {
    surface_mesh_at(shape, spacing, Vector3::zeros())
}

/// The same on a lattice that is moved by a part of the spacing.
fn surface_mesh_at(
    shape: &Shape,
    spacing: f64,
    offset: Vector3<f64>,
) -> Result<RawMesh<f64>, SurfaceError> {
    let lattice = Lattice::sample(shape, spacing, offset)?;
    let mut march =
        March { shape, lattice: &lattice, vertices: HashMap::new(), mesh: RawMesh::default() };
    let crosses = |values: [f64; 4]| {
        let inside = values.iter().filter(|value| **value < 0.0).count();
        (1..4).contains(&inside)
    };
    lattice.for_each_tetrahedron(crosses, |points, values| march.cut(points, values));
    if march.mesh.triangles.is_empty() {
        return Err(SurfaceError::Empty(spacing));
    }
    let mesh = march.mesh;
    Ok(evened_out(shape, mesh, spacing))
}

/// Surfaces of up to this many triangles are made finer first.
const DECIMATED: usize = 30_000;

/// The surface of a shape with `triangles` triangles, within `tolerance` percent.
///
/// A small number is reached by collapsing edges of a finer surface, which keeps what is thinner than the
/// triangles are long.
pub fn surface_mesh_of_size(
    shape: &Shape,
    triangles: usize,
    tolerance: f64,
) -> Result<RawMesh<f64>, SurfaceError> {
    if triangles > DECIMATED {
        return surface_mesh_near(shape, triangles, tolerance);
    }
    let finer = surface_mesh_near(shape, (6 * triangles).clamp(20_000, 4 * DECIMATED), 25.0)?;
    let mesh = decimated(finer, triangles);
    let count = mesh.triangles.len();
    if (count as f64 / triangles as f64 - 1.0).abs() * 100.0 > tolerance {
        return Err(SurfaceError::Size { wanted: triangles, tolerance, nearest: count });
    }
    Ok(mesh)
}

/// The surface on a lattice that gives about so many triangles.
fn surface_mesh_near(
    shape: &Shape,
    triangles: usize,
    tolerance: f64,
) -> Result<RawMesh<f64>, SurfaceError> {
    let extent = shape.bounds().extent();
    let mut spacing = (extent.norm_squared() * 20.0 / triangles as f64).sqrt();
    let mut nearest: Option<RawMesh<f64>> = None;
    let off = |count: usize| (count as f64 / triangles as f64 - 1.0).abs();
    // Coarse lattices jump: where the lattice lies is varied too.
    for attempt in 0..40 {
        let offset = if attempt < 5 { Vector3::zeros() } else { scatter(attempt) };
        let count = match surface_mesh_at(shape, spacing, offset) {
            Ok(mesh) => {
                let count = mesh.triangles.len();
                if nearest.as_ref().is_none_or(|best| off(count) < off(best.triangles.len())) {
                    nearest = Some(mesh);
                }
                count
            }
            Err(SurfaceError::Empty(_)) => triangles / 8,
            Err(error) => {
                return nearest
                    .filter(|best| off(best.triangles.len()) * 100.0 <= tolerance)
                    .ok_or(error);
            }
        };
        if off(count) * 100.0 <= tolerance * 0.9 {
            break;
        }
        // The number of triangles grows with the square of the resolution.
        let ratio = (count as f64 / triangles as f64).sqrt().clamp(0.4, 2.5);
        spacing *= ratio.powf(if attempt < 5 { 1.0 } else { 0.5 });
    }
    match nearest {
        Some(mesh) if off(mesh.triangles.len()) * 100.0 <= tolerance => Ok(mesh),
        other => Err(SurfaceError::Size {
            wanted: triangles,
            tolerance,
            nearest: other.map_or(0, |mesh| mesh.triangles.len()),
        }),
    }
}

struct March<'a> {
    shape: &'a Shape,
    lattice: &'a Lattice,
    /// The vertex on each lattice edge; looked up only, numbered in the order of the cells.
    vertices: HashMap<[u64; 2], u32>,
    mesh: RawMesh<f64>,
}

impl March<'_> {
    fn cut(&mut self, points: [Point; 4], values: [f64; 4]) {
        let (inside, outside): (Vec<usize>, Vec<usize>) = (0..4).partition(|&k| values[k] < 0.0);
        let mut vertex = |a: usize, b: usize| self.vertex(points[a], points[b]);
        let corners: Vec<u32> = match (&inside[..], &outside[..]) {
            (&[a], &[b, c, d]) | (&[b, c, d], &[a]) => {
                vec![vertex(a, b), vertex(a, c), vertex(a, d)]
            }
            (&[a, b], &[c, d]) => vec![vertex(a, c), vertex(a, d), vertex(b, d), vertex(b, c)],
            _ => return,
        };
        let place = |k: usize| self.mesh.positions[corners[k] as usize];
        let middle = |of: &[usize]| {
            let sum: Vector3<f64> = of.iter().map(|&k| self.lattice.position(points[k])).sum();
            sum / of.len() as f64
        };
        let outward = middle(&outside) - middle(&inside);
        let mut triangles = vec![[0, 1, 2]];
        if corners.len() == 4 {
            let diagonal = |a: usize, b: usize| (place(a) - place(b)).norm_squared();
            triangles = if diagonal(0, 2) <= diagonal(1, 3) {
                vec![[0, 1, 2], [0, 2, 3]]
            } else {
                vec![[0, 1, 3], [1, 2, 3]]
            };
        }
        for [a, b, c] in triangles {
            let normal = (place(b) - place(a)).cross(&(place(c) - place(a)));
            let [a, b, c] = [corners[a], corners[b], corners[c]];
            self.mesh.triangles.push(if normal.dot(&outward) < 0.0 {
                [a, c, b]
            } else {
                [a, b, c]
            });
        }
    }

    /// The vertex where the surface crosses a lattice edge.
    fn vertex(&mut self, a: Point, b: Point) -> u32 {
        let (ka, kb) = (self.lattice.key(a), self.lattice.key(b));
        let (a, b) = if ka < kb { (a, b) } else { (b, a) };
        let next = self.mesh.positions.len() as u32;
        let shape = self.shape;
        let lattice = self.lattice;
        let positions = &mut self.mesh.positions;
        *self.vertices.entry([ka.min(kb), ka.max(kb)]).or_insert_with(|| {
            let (pa, pb) = (lattice.position(a), lattice.position(b));
            let t = crossing(shape, [pa, pb], [lattice.value(a), lattice.value(b)]);
            positions.push(pa + (pb - pa) * t.clamp(0.15, 0.85));
            next
        })
    }
}

/// Where on a line between points of different sign the function is zero.
pub(crate) fn crossing(shape: &Shape, [a, b]: [Vector3<f64>; 2], [va, vb]: [f64; 2]) -> f64 {
    let (mut low, mut high) = ((0.0, va), (1.0, vb));
    for _ in 0..6 {
        // False position, kept off the ends so that the interval shrinks on both sides.
        let t = low.0 + (high.0 - low.0) * (low.1 / (low.1 - high.1)).clamp(0.1, 0.9);
        let value = shape.distance(a + (b - a) * t);
        if (value < 0.0) == (low.1 < 0.0) {
            low = (t, value);
        } else {
            high = (t, value);
        }
    }
    low.0 + (high.0 - low.0) * (low.1 / (low.1 - high.1)).clamp(0.0, 1.0)
}

/// Moves every vertex towards the middle of its neighbours along the surface, and back onto it.
fn evened_out(shape: &Shape, mesh: RawMesh<f64>, spacing: f64) -> RawMesh<f64> {
    let Ok(topology) = TriangleMesh::new(mesh.clone()) else { return mesh };
    let neighbours = topology.vertex_neighbours();
    let mut positions = mesh.positions;
    let step = spacing * 1e-3;
    for _ in 0..3 {
        let moved: Vec<Vector3<f64>> = positions
            .par_iter()
            .enumerate()
            .map(|(vertex, &position)| {
                let ring = neighbours.row(vertex);
                let sum: Vector3<f64> = ring.iter().map(|&other| positions[other as usize]).sum();
                let gradient = shape.gradient(position, step);
                let length = gradient.norm();
                if length.is_nan() || length <= 0.1 {
                    return position;
                }
                let normal = gradient / length;
                let offset = sum / ring.len() as f64 - position;
                let along = offset - normal * normal.dot(&offset);
                let target = position + along * 0.5;
                let height = (shape.distance(target) / length).clamp(-0.2 * spacing, 0.2 * spacing);
                target - normal * height
            })
            .collect();
        positions = moved;
    }
    RawMesh { positions, triangles: mesh.triangles, tetrahedra: vec![] }
}
