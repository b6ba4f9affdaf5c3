//! Isosurface stuffing (Labelle and Shewchuk 2007): a shape filled with tetrahedra of good quality.
//!
//! Lattice points that the surface passes too closely are moved onto it; the other lattice edges are
//! cut where it crosses them; what is left of each lattice tetrahedron inside is filled.

use std::collections::HashMap;

use defcol::math::Vector3;
use defcol::math::predicate::{Sign, orient3d};
use defcol::mesh::RawMesh;

use crate::Shape;
use crate::lattice::{Graded, Lattice, Point};
use crate::surface::{SurfaceError, crossing};
use crate::{manifold, polish};

/// A point moves onto the surface if a cut is nearer than this part of a long edge, or of a short one:
/// the values for which the paper proves its bounds.
const NEAR_LONG: f64 = 0.249_99;
const NEAR_SHORT: f64 = 0.411_89;

/// The dihedral angles, in degrees, that the paper proves for these values.
pub const DIHEDRAL_BOUNDS: [f64; 2] = [10.7843, 164.7401];

/// How a shape is filled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stuffing {
    /// The length of the long edges at the surface.
    pub spacing: f64,
    /// Inside, edges may grow to `2^grading` times the spacing.
    pub grading: u8,
    /// Where the lattice lies, in parts of the spacing.
    pub offset: Vector3<f64>,
}

impl Stuffing {
    /// Uniform, the lattice centred.
    pub fn uniform(spacing: f64) -> Self {
        Self { spacing, grading: 0, offset: Vector3::zeros() }
    }

    /// Coarser towards the inside.
    pub fn graded(spacing: f64) -> Self {
        Self { grading: 3, ..Self::uniform(spacing) }
    }

    /// Fills a shape with tetrahedra. The surface of the result is a manifold.
    pub fn fill(&self, shape: &Shape) -> Result<RawMesh<f64>, SurfaceError> {
        let lattice = Lattice::sample(shape, self.spacing, self.offset)?;
        let mut filling = Filling::collect(shape, &lattice, self.grading);
        filling.move_points();
        filling.fill();
        let mut mesh = filling.mesh;
        manifold::part_touching(&mut mesh);
        polish::polish(&mut mesh);
        if mesh.tetrahedra.is_empty() {
            return Err(SurfaceError::Empty(self.spacing));
        }
        Ok(mesh)
    }
}

/// The smallest and the largest angle between two faces of a tetrahedron of a mesh, in degrees.
pub fn dihedral_range(mesh: &RawMesh<f64>) -> [f64; 2] {
    let ranges = mesh
        .tetrahedra
        .iter()
        .map(|corners| dihedral_range_of(corners.map(|vertex| mesh.positions[vertex as usize])));
    ranges.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], [least, most]| {
        [low.min(least), high.max(most)]
    })
}

/// The same for one tetrahedron.
pub(crate) fn dihedral_range_of(corners: [Vector3<f64>; 4]) -> [f64; 2] {
    // At a size of about 1, whatever the unit of length.
    let size = corners.iter().map(|corner| (corner - corners[0]).amax()).fold(0.0, f64::max);
    let p = corners.map(|corner| (corner - corners[0]) / size);
    // The edge between the first two, and the corners of the two faces at it.
    const EDGES: [[usize; 4]; 6] =
        [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 2, 0], [2, 3, 0, 1]];
    EDGES.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &[a, b, c, d]| {
        // Both faces seen along the edge.
        let edge = p[b] - p[a];
        let (u, v) = (edge.cross(&(p[c] - p[a])), edge.cross(&(p[d] - p[a])));
        let angle = defcol::math::atan2(u.cross(&v).norm(), u.dot(&v)).to_degrees();
        [low.min(angle), high.max(angle)]
    })
}

/// Where a point is with respect to the surface.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Inside,
    On,
    Outside,
}

/// An edge between a point inside and one outside.
struct Crossing {
    points: [u32; 2],
    position: Vector3<f64>,
    is_long: bool,
    /// Its vertex in the result, once it has one.
    vertex: Option<u32>,
}

struct Filling {
    tetrahedra: Vec<[u32; 4]>,
    positions: Vec<Vector3<f64>>,
    sides: Vec<Side>,
    /// The order in which points are preferred as ends of diagonals; see [`Filling::rank`].
    parity: Vec<bool>,
    crossings: Vec<Crossing>,
    /// The crossing on an edge, by its points in ascending order; looked up only.
    on_edge: HashMap<[u32; 2], u32>,
    /// Vertices of the result for lattice points.
    vertices: Vec<Option<u32>>,
    mesh: RawMesh<f64>,
}

/// A corner of what is left of a tetrahedron.
#[derive(Clone, Copy, PartialEq)]
enum Corner {
    Point(u32),
    Cut(u32),
}

impl Filling {
    fn collect(shape: &Shape, lattice: &Lattice, grading: u8) -> Self {
        let mut stuffing = Self {
            tetrahedra: vec![],
            positions: vec![],
            sides: vec![],
            parity: vec![],
            crossings: vec![],
            on_edge: HashMap::new(),
            vertices: vec![],
            mesh: RawMesh::default(),
        };
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let mut points: Vec<Point> = Vec::new();
        Graded::new(lattice, grading).for_each_tetrahedron(|corners, values| {
            // Without values it is wholly inside.
            let values = values.unwrap_or([-1.0; 4]);
            let corners = [0, 1, 2, 3].map(|k| {
                *numbers.entry(lattice.key(corners[k])).or_insert_with(|| {
                    points.push(corners[k]);
                    stuffing.sides.push(if values[k] < 0.0 { Side::Inside } else { Side::Outside });
                    points.len() as u32 - 1
                })
            });
            stuffing.tetrahedra.push(corners);
        });
        stuffing.positions = points.iter().map(|&point| lattice.position(point)).collect();
        stuffing.parity =
            points.iter().map(|point| point.iter().map(|k| k >> 1).sum::<i32>() % 2 == 0).collect();
        stuffing.vertices = vec![None; points.len()];
        for corners in &stuffing.tetrahedra {
            for (a, b, is_long) in EDGES {
                let ends = [corners[a].min(corners[b]), corners[a].max(corners[b])];
                let [p, q] = ends.map(|end| end as usize);
                if stuffing.sides[p] == stuffing.sides[q] || stuffing.on_edge.contains_key(&ends) {
                    continue;
                }
                let places = [stuffing.positions[p], stuffing.positions[q]];
                let values = [lattice.value(points[p]), lattice.value(points[q])];
                let t = crossing(shape, places, values);
                stuffing.on_edge.insert(ends, stuffing.crossings.len() as u32);
                let position = places[0] + (places[1] - places[0]) * t;
                stuffing.crossings.push(Crossing { points: ends, position, is_long, vertex: None });
            }
        }
        stuffing
    }

    /// Moves lattice points onto the surface where it passes too closely.
    fn move_points(&mut self) {
        let mut cuts_of: Vec<Vec<u32>> = vec![Vec::new(); self.positions.len()];
        for (index, cut) in (0u32..).zip(&self.crossings) {
            cut.points.iter().for_each(|&point| cuts_of[point as usize].push(index));
        }
        let lattice_positions = self.positions.clone();
        for point in 0..self.positions.len() {
            let from = lattice_positions[point];
            let mut nearest: Option<(f64, Vector3<f64>)> = None;
            for &index in &cuts_of[point] {
                let cut = &self.crossings[index as usize];
                // A cut is gone once one of its ends is on the surface.
                if cut.points.iter().any(|&end| self.sides[end as usize] == Side::On) {
                    continue;
                }
                let [p, q] = cut.points.map(|end| lattice_positions[end as usize]);
                let near = if cut.is_long { NEAR_LONG } else { NEAR_SHORT } * (q - p).norm();
                let distance = (cut.position - from).norm();
                if distance < near && nearest.is_none_or(|(best, _)| distance < best) {
                    nearest = Some((distance, cut.position));
                }
            }
            if let Some((_, position)) = nearest {
                self.positions[point] = position;
                self.sides[point] = Side::On;
            }
        }
    }

    fn fill(&mut self) {
        for index in 0..self.tetrahedra.len() {
            let corners = self.tetrahedra[index];
            let sides = corners.map(|point| self.sides[point as usize]);
            if !sides.contains(&Side::Inside) {
                continue;
            }
            let faces = self.faces(corners);
            self.fill_between(&faces);
        }
    }

    /// The faces of what is left of a tetrahedron, as polygons.
    fn faces(&self, corners: [u32; 4]) -> Vec<Vec<Corner>> {
        let side = |point: u32| self.sides[point as usize];
        let cut = |a: u32, b: u32| {
            let crosses = matches!(
                (side(a), side(b)),
                (Side::Inside, Side::Outside) | (Side::Outside, Side::Inside)
            );
            crosses.then(|| Corner::Cut(self.on_edge[&[a.min(b), a.max(b)]]))
        };
        let mut faces = Vec::with_capacity(5);
        for face in [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]] {
            let face = face.map(|k| corners[k]);
            let mut polygon = Vec::with_capacity(4);
            for k in 0..3 {
                let (a, b) = (face[k], face[(k + 1) % 3]);
                if side(a) != Side::Outside {
                    polygon.push(Corner::Point(a));
                }
                polygon.extend(cut(a, b));
            }
            if polygon.len() >= 3 {
                faces.push(polygon);
            }
        }
        // The face on the surface: cuts and points on it, in a ring.
        let [inside, outside] = [Side::Inside, Side::Outside]
            .map(|which| corners.into_iter().filter(|&p| side(p) == which).collect::<Vec<_>>());
        let on = corners.into_iter().filter(|&point| side(point) == Side::On).map(Corner::Point);
        if let ([a, b], [c, d]) = (&inside[..], &outside[..]) {
            faces.push(
                [cut(*a, *c), cut(*a, *d), cut(*b, *d), cut(*b, *c)]
                    .into_iter()
                    .flatten()
                    .collect(),
            );
        } else if !outside.is_empty() {
            let cuts = inside.iter().flat_map(|&a| outside.iter().filter_map(move |&b| cut(a, b)));
            let polygon: Vec<Corner> = cuts.chain(on).collect();
            if polygon.len() >= 3 {
                faces.push(polygon);
            }
        }
        faces
    }

    /// Fills a convex body by pulling its corner of lowest rank: every face is cut from its own corner of
    /// lowest rank, so neighbours agree on common faces.
    fn fill_between(&mut self, faces: &[Vec<Corner>]) {
        let all = faces.iter().flatten().copied();
        let Some(apex) = all.min_by_key(|&corner| self.rank(corner)) else { return };
        for face in faces.iter().filter(|face| !face.contains(&apex)) {
            let low = self.start_of_fan(face);
            for k in 1..face.len() - 1 {
                let ring = |step: usize| face[(low + step) % face.len()];
                let mut tetrahedron =
                    [apex, ring(0), ring(k), ring(k + 1)].map(|corner| self.vertex(corner));
                let [a, b, c, d] = tetrahedron.map(|vertex| self.mesh.positions[vertex as usize]);
                match orient3d(a, b, c, d) {
                    Sign::Positive => {}
                    Sign::Negative => tetrahedron.swap(2, 3),
                    Sign::Zero => continue,
                }
                self.mesh.tetrahedra.push(tetrahedron);
            }
        }
    }

    /// The corner from which a face is cut: that of lowest rank, so that neighbours agree. On the surface
    /// there is no neighbour: there the shorter diagonal is taken.
    fn start_of_fan(&self, face: &[Corner]) -> usize {
        let cuts: Vec<Vector3<f64>> = face
            .iter()
            .filter_map(|corner| match corner {
                Corner::Cut(index) => Some(self.crossings[*index as usize].position),
                Corner::Point(_) => None,
            })
            .collect();
        if let [a, b, c, d] = cuts[..] {
            return usize::from((d - b).norm_squared() < (c - a).norm_squared());
        }
        (0..face.len()).min_by_key(|&k| self.rank(face[k])).unwrap_or(0)
    }

    /// Cuts on long edges first, then lattice points (those of even parity before their neighbours in
    /// the same grid), then cuts on short edges: the diagonals that the paper's stencils have.
    fn rank(&self, corner: Corner) -> (u8, u32) {
        match corner {
            Corner::Cut(index) if self.crossings[index as usize].is_long => (0, index),
            Corner::Point(point) if self.parity[point as usize] => (1, point),
            Corner::Point(point) => (2, point),
            Corner::Cut(index) => (3, index),
        }
    }

    /// The vertex of the result for a corner.
    fn vertex(&mut self, corner: Corner) -> u32 {
        let next = self.mesh.positions.len() as u32;
        let (slot, position) = match corner {
            Corner::Point(point) => {
                (&mut self.vertices[point as usize], self.positions[point as usize])
            }
            Corner::Cut(index) => {
                let cut = &mut self.crossings[index as usize];
                (&mut cut.vertex, cut.position)
            }
        };
        *slot.get_or_insert_with(|| {
            self.mesh.positions.push(position);
            next
        })
    }
}

/// The edges of a lattice tetrahedron, and whether they are long.
const EDGES: [(usize, usize, bool); 6] =
    [(0, 1, true), (2, 3, true), (0, 2, false), (0, 3, false), (1, 2, false), (1, 3, false)];
