//! Bodies that go through fixed obstacles, with the exact volume they have in common (FAURE08 figure 6).

use std::f64::consts::PI;

use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TetMesh};

use crate::regular::{box_grid, icosphere};

/// Half the width of what moves.
const REACH: f64 = 0.5;

/// What moves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Moving {
    Sphere,
    Cube,
}

/// A body that moves along x through an obstacle that begins at zero.
#[derive(Debug, Clone)]
pub struct Traversal {
    /// What it is called.
    pub name: &'static str,
    /// What moves, around the origin.
    pub moving: RawMesh<f64>,
    /// What it goes through.
    pub obstacle: RawMesh<f64>,
    /// How thick the obstacle is.
    pub thickness: f64,
    shape: Moving,
}

/// The three of the paper: a sphere and a cube through a box, and a sphere through a thin plate.
pub fn traversals() -> [Traversal; 3] {
    let cube = cuboid(Vector3::repeat(2.0 * REACH));
    let obstacle = |thickness: f64| {
        let mut mesh = cuboid(Vector3::new(thickness, 3.0, 3.0));
        mesh.positions.iter_mut().for_each(|p| p.x += 0.5 * thickness);
        mesh
    };
    let one = |name, shape, thickness| Traversal {
        name,
        moving: if shape == Moving::Sphere { icosphere(REACH, 4) } else { cube.clone() },
        obstacle: obstacle(thickness),
        thickness,
        shape,
    };
    [
        one("sphere through a box", Moving::Sphere, 2.0),
        one("cube through a box", Moving::Cube, 2.0),
        one("sphere through a thin plate", Moving::Sphere, 0.1),
    ]
}

impl Traversal {
    /// Where what moves has its middle before it touches the obstacle, and behind it.
    pub fn way(&self) -> [f64; 2] {
        [-1.2 * REACH, self.thickness + 1.2 * REACH]
    }

    /// The vertices of what moves when its middle is at `x`.
    pub fn moved(&self, x: f64) -> impl Iterator<Item = Vector3<f64>> {
        self.moving.positions.iter().map(move |p| p + Vector3::new(x, 0.0, 0.0))
    }

    /// Whether all of it is strictly inside when the middle is at `x`.
    pub fn is_inside(&self, x: f64) -> bool {
        x - REACH > 0.0 && x + REACH < self.thickness
    }

    /// The exact common volume when the middle is at `x`, and how it grows with `x`.
    pub fn exact(&self, x: f64) -> [f64; 2] {
        let [entered, left] = [x + REACH, x + REACH - self.thickness].map(|h| self.part(h));
        [entered[0] - left[0], entered[1] - left[1]]
    }

    /// The volume of the part of what moves that is before a plane at this distance from its rear, and the area there.
    fn part(&self, height: f64) -> [f64; 2] {
        let h = height.clamp(0.0, 2.0 * REACH);
        let cut = height > 0.0 && height < 2.0 * REACH;
        match self.shape {
            Moving::Sphere => {
                let area = PI * (2.0 * REACH * h - h * h);
                [PI * h * h * (3.0 * REACH - h) / 3.0, if cut { area } else { 0.0 }]
            }
            Moving::Cube => {
                let area = 4.0 * REACH * REACH;
                [area * h, if cut { area } else { 0.0 }]
            }
        }
    }
}

/// The surface of a cuboid around the origin: two triangles a side.
fn cuboid(size: Vector3<f64>) -> RawMesh<f64> {
    let Ok(solid) = TetMesh::new(box_grid([1, 1, 1], 1.0)) else { return RawMesh::default() };
    let surface = solid.surface().mesh();
    let positions =
        surface.positions().iter().map(|p| (p - Vector3::repeat(0.5)).component_mul(&size));
    RawMesh {
        positions: positions.collect(),
        triangles: surface.triangles().to_vec(),
        ..RawMesh::default()
    }
}
