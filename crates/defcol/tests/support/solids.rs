//! Random closed surfaces of every nasty kind, for tests of layered depth images.

use defcol::math::Vector3;
use defcol::mesh::RawMesh;
use defcol_scenes::regular::{box_grid, icosphere, torus};
use nalgebra::{Rotation3, Unit};

use crate::support::scenes::Random;

/// A closed surface.
#[derive(Debug, Clone)]
pub struct Solid {
    pub positions: Vec<Vector3<f64>>,
    pub triangles: Vec<[u32; 3]>,
}

impl Solid {
    pub fn new(mesh: RawMesh<f64>) -> Self {
        Self { positions: mesh.positions, triangles: mesh.triangles }
    }

    pub fn map(mut self, change: impl FnMut(&Vector3<f64>) -> Vector3<f64>) -> Self {
        self.positions = self.positions.iter().map(change).collect();
        self
    }

    pub fn rotated(self, rotation: Rotation3<f64>) -> Self {
        self.map(|p| rotation * p)
    }

    pub fn add(&mut self, other: &Self) {
        let first = self.positions.len() as u32;
        self.positions.extend(&other.positions);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|corner| corner + first)));
    }

    pub fn inside_out(mut self) -> Self {
        self.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        self
    }
}

pub fn rotation(random: &mut Random) -> Rotation3<f64> {
    let axis = Unit::new_normalize(random.vector() + Vector3::new(1e-3, 0.0, 0.0));
    Rotation3::from_axis_angle(&axis, 6.3 * random.unit())
}

/// A cuboid with two triangles a side.
pub fn cuboid(size: Vector3<f64>) -> Solid {
    let solid = defcol::mesh::TetMesh::new(box_grid([1, 1, 1], 1.0)).unwrap();
    let surface = solid.surface().mesh();
    let centre = surface.bounds().center();
    let mesh =
        Solid { positions: surface.positions().to_vec(), triangles: surface.triangles().to_vec() };
    mesh.map(|p| (p - centre).component_mul(&size))
}

/// A ball with dents and bumps that does not meet itself.
pub fn star(random: &mut Random, levels: u32) -> Solid {
    let waves: Vec<(Vector3<f64>, f64)> =
        (0..4).map(|_| (random.vector() * 4.0, 0.15 * random.unit())).collect();
    Solid::new(icosphere(1.0, levels))
        .map(|p| p * (1.0 + waves.iter().map(|(way, size)| size * way.dot(p).sin()).sum::<f64>()))
}

pub fn tetrahedron(corners: [Vector3<f64>; 4]) -> Solid {
    Solid {
        positions: corners.to_vec(),
        triangles: vec![[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]],
    }
}

/// How a closed surface is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Make {
    Star,
    Torus,
    /// Vertices moved at random: it meets itself everywhere.
    Crumpled,
    /// Overlapping tetrahedra, some inside out.
    Tetrahedra,
    /// Needles and slices.
    Slivers,
    /// Tetrahedra without volume, whose faces may have no area.
    Flat,
    /// Cuboids on a lattice, neighbours with both of their faces where they touch.
    Blocks,
    /// The outside of cells of a lattice.
    Cells,
    /// Tetrahedra with corners on a lattice.
    Lattice,
}

pub const MAKES: [Make; 9] = [
    Make::Star,
    Make::Torus,
    Make::Crumpled,
    Make::Tetrahedra,
    Make::Slivers,
    Make::Flat,
    Make::Blocks,
    Make::Cells,
    Make::Lattice,
];

/// Lattices have this many steps along each axis.
pub const LATTICE: usize = 8;

impl Make {
    /// Whether all corners are on a lattice from 0 to [`LATTICE`].
    pub fn on_lattice(self) -> bool {
        matches!(self, Self::Blocks | Self::Cells | Self::Lattice)
    }

    pub fn solid(self, random: &mut Random) -> Solid {
        let mut solid = Solid { positions: vec![], triangles: vec![] };
        let whole = |random: &mut Random| random.below(LATTICE + 1) as f64;
        match self {
            Self::Star => solid = star(random, 2),
            Self::Torus => solid = Solid::new(torus(1.0, 0.2 + 0.7 * random.unit(), 12, 8)),
            Self::Crumpled => {
                let size = random.unit();
                solid = star(random, 2).map(|p| p + random.vector() * size);
            }
            Self::Tetrahedra => {
                for _ in 0..1 + random.below(8) {
                    let corners = [(); 4].map(|()| random.vector());
                    solid.add(&tetrahedron(corners));
                }
            }
            Self::Slivers => {
                for _ in 0..1 + random.below(8) {
                    let (place, along) = (random.vector(), random.vector());
                    let thin = 10f64.powf(-1.0 - 8.0 * random.unit());
                    let corners =
                        [0.0, 0.3, 0.7, 1.0].map(|t| place + along * t + random.vector() * thin);
                    solid.add(&tetrahedron(corners));
                }
            }
            Self::Flat => {
                for _ in 0..1 + random.below(8) {
                    let (place, along, across) =
                        (random.vector(), random.vector(), random.vector());
                    let line = random.chance(0.3);
                    let corners = [(); 4].map(|()| {
                        let t = if line { 0.0 } else { (4.0 * random.unit()).round() };
                        place + along * (4.0 * random.unit()).round() + across * t
                    });
                    solid.add(&tetrahedron(corners));
                }
                solid.add(&star(random, 1));
            }
            Self::Blocks => {
                for _ in 0..1 + random.below(4) {
                    let low = Vector3::from_fn(|_, _| random.below(LATTICE) as f64);
                    let size = low.map(|x| 1.0 + random.below(LATTICE - x as usize) as f64);
                    let block = cuboid(size).map(|p| p + low + size * 0.5);
                    // A neighbour on the other side of a face, with the same corners there.
                    if low.x + 2.0 * size.x <= LATTICE as f64 {
                        solid.add(&block.clone().map(|p| p + Vector3::new(size.x, 0.0, 0.0)));
                    }
                    solid.add(&block);
                }
            }
            Self::Cells => solid = cells(random),
            Self::Lattice => {
                for _ in 0..1 + random.below(10) {
                    let corners = [(); 4].map(|()| Vector3::from_fn(|_, _| whole(random)));
                    solid.add(&tetrahedron(corners));
                }
            }
        }
        if random.chance(0.2) { solid.inside_out() } else { solid }
    }
}

/// The outside of random cells of a lattice. Its corners are welded, so that edges and corners may belong to
/// more than two faces.
fn cells(random: &mut Random) -> Solid {
    let mut full = [[[false; LATTICE]; LATTICE]; LATTICE];
    for _ in 0..20 + random.below(200) {
        full[random.below(LATTICE)][random.below(LATTICE)][random.below(LATTICE)] = true;
    }
    let is_full = |cell: [i64; 3]| {
        cell.iter().all(|&k| (0..LATTICE as i64).contains(&k))
            && full[cell[0] as usize][cell[1] as usize][cell[2] as usize]
    };
    let side = LATTICE as i64 + 1;
    let mut positions = Vec::new();
    for k in 0..side.pow(3) {
        positions.push(Vector3::new(
            (k / side / side) as f64,
            (k / side % side) as f64,
            (k % side) as f64,
        ));
    }
    let number = |p: [i64; 3]| ((p[0] * side + p[1]) * side + p[2]) as u32;
    let mut triangles = Vec::new();
    for k in 0..(LATTICE as i64).pow(3) {
        let n = LATTICE as i64;
        let cell = [k / n / n, k / n % n, k % n];
        if !is_full(cell) {
            continue;
        }
        for axis in 0..3 {
            for (towards, step) in [(0, -1), (1, 1)] {
                let mut neighbour = cell;
                neighbour[axis] += step;
                if is_full(neighbour) {
                    continue;
                }
                let corner = |a: i64, b: i64| {
                    let mut p = cell;
                    p[axis] += towards;
                    p[(axis + 1) % 3] += a;
                    p[(axis + 2) % 3] += b;
                    number(p)
                };
                let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                let faces = [[a, b, c], [a, c, d]];
                triangles.extend(if towards == 1 {
                    faces
                } else {
                    faces.map(|[a, b, c]| [a, c, b])
                });
            }
        }
    }
    Solid { positions, triangles }
}
