//! Soft bodies above the ground of an open box, at rest and about to fall: the heaps that whole steps are timed with, here
//! and with rapier3d. The numbers are the same to the last bit.

use std::f64::consts::PI;

use defcol::math::{Vector3, sin_cos};
use defcol::mesh::RawMesh;

use crate::regular::{ball, box_grid};

/// Bodies of foam: 100 kg/m³, 10 kPa, Poisson's ratio 0.3, friction 0.5.
pub struct Dropped {
    /// Their meshes, at rest and where they start. The y axis points up, the ground is at zero.
    pub bodies: Vec<RawMesh<f64>>,
    /// Walls are so far from the middle along x and z.
    pub half_width: f64,
    /// Whether bodies collide with themselves.
    pub with_themselves: bool,
    /// Steps in a frame of 1/60 s that are enough for how fast they land.
    pub substeps: u32,
}

/// The names of all heaps.
pub const NAMES: [&str; 8] =
    ["balls96", "balls500", "balls2000", "rods1", "rods4", "rods16", "membranes10", "overlap96"];

/// A heap by its name.
pub fn named(name: &str) -> Option<Dropped> {
    Some(match name {
        "balls96" => balls(96, 5, 0.25),
        "balls500" => balls(500, 10, 0.25),
        "balls2000" => balls(2000, 16, 0.25),
        // Each starts 4 cm inside its neighbours.
        "overlap96" => balls(96, 5, 0.16),
        "rods1" => rods(1, 0.75),
        "rods4" => rods(2, 0.75),
        "rods16" => rods(4, 1.0),
        "membranes10" => membranes(10),
        _ => return None,
    })
}

/// Balls of radius 0.1 in layers of a square, each turned and moved a little at random.
fn balls(count: usize, row: usize, spacing: f64) -> Dropped {
    let shape = icosahedron(0.1);
    let mut random = Random(1);
    let middle = row as f64 / 2.0;
    let bodies = (0..count).map(|number| {
        let (layer, cell) = (number / (row * row), number % (row * row));
        let at = |place: usize| (place as f64 + 0.5 - middle) * spacing;
        let mut centre = Vector3::new(at(cell % row), 0.3 + layer as f64 * spacing, at(cell / row));
        for k in 0..3 {
            centre[k] += random.within(0.01);
        }
        let [w, x, y, z] = random.quaternion();
        let axis = Vector3::new(x, y, z);
        moved(&shape, |corner| {
            let across = axis.cross(corner) * 2.0;
            corner + across * w + axis.cross(&across) + centre
        })
    });
    let bodies = bodies.collect();
    // The higher the heap, the faster it lands, and the heavier it lies.
    let substeps = if row > 10 { 8 } else { 6 };
    Dropped { bodies, half_width: row as f64 * 0.25 / 2.0, with_themselves: false, substeps }
}

/// Rods of 5 by 0.1 by 0.1 that stand upright, tilted a little: they coil up.
fn rods(row: usize, half_width: f64) -> Dropped {
    let cell = 0.05;
    let shape = box_grid([2, 2, 100], 1.0);
    let mut random = Random(2);
    let middle = row as f64 / 2.0;
    let bodies = (0..row * row).map(|number| {
        let at = |place: usize| (place as f64 + 0.5 - middle) * 0.4;
        let x = at(number % row) + random.within(0.02);
        let z = at(number / row) + random.within(0.02);
        let foot = Vector3::new(x, 0.2, z);
        let tilt = [random.within(0.01), random.within(0.01)];
        moved(&shape, |p| {
            let upright = Vector3::new((p.y - 1.0) * cell, p.z * cell, (p.x - 1.0) * cell);
            about_z(about_x(upright, tilt[0]), tilt[1]) + foot
        })
    });
    Dropped {
        bodies: bodies.collect(),
        half_width,
        with_themselves: true,
        substeps: if row > 1 { 12 } else { 10 },
    }
}

/// Sheets of 0.8 to 1.2 that are 4 % as thick, above one another, each turned.
fn membranes(count: usize) -> Dropped {
    let shape = box_grid([10, 1, 10], 1.0);
    let mut random = Random(3);
    let bodies = (0..count).map(|number| {
        let cell = 0.1 * (1.0 + random.within(0.2));
        let angle = random.within(PI);
        let tilt = random.within(0.02);
        let x = random.within(0.05);
        let centre = Vector3::new(x, 0.3 + 0.15 * number as f64, random.within(0.05));
        moved(&shape, |p| {
            let flat = Vector3::new((p.z - 5.0) * cell, p.y * 0.4 * cell, (p.x - 5.0) * cell);
            about_x(about_y(flat, angle), tilt) + centre
        })
    });
    Dropped { bodies: bodies.collect(), half_width: 1.5, with_themselves: true, substeps: 8 }
}

/// Positions are rounded to single precision, so that both precisions start from the same.
fn moved(shape: &RawMesh<f64>, place: impl Fn(&Vector3<f64>) -> Vector3<f64>) -> RawMesh<f64> {
    let positions = shape.positions.iter().map(|p| place(p).map(|x| f64::from(x as f32)));
    let mut mesh = RawMesh { positions: positions.collect(), ..shape.clone() };
    // The axes were exchanged, and with them the hands.
    for tetrahedron in &mut mesh.tetrahedra {
        let [a, b, c, d] = tetrahedron.map(|v| mesh.positions[v as usize]);
        if (b - a).cross(&(c - a)).dot(&(d - a)) < 0.0 {
            tetrahedron.swap(1, 2);
        }
    }
    mesh
}

/// The ball of 20 tetrahedra with its corners in the order of the other program.
fn icosahedron(radius: f64) -> RawMesh<f64> {
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let scale = radius / (1.0 + golden * golden).sqrt();
    let mut positions = vec![];
    for (a, b) in [(-1.0, -golden), (-1.0, golden), (1.0, -golden), (1.0, golden)] {
        for corner in [[0.0, a, b], [b, 0.0, a], [a, b, 0.0]] {
            positions.push(Vector3::from(corner.map(|x: f64| x * scale)));
        }
    }
    positions.push(Vector3::zeros());
    let same = ball(radius);
    let new_number = |old: u32| {
        let far = |p: &Vector3<f64>| (p - same.positions[old as usize]).norm();
        (0u32..)
            .zip(&positions)
            .min_by(|a, b| far(a.1).total_cmp(&far(b.1)))
            .map_or(0, |(number, _)| number)
    };
    let tetrahedra = same.tetrahedra.iter().map(|corners| corners.map(new_number)).collect();
    RawMesh { positions, triangles: vec![], tetrahedra }
}

fn about_x(p: Vector3<f64>, angle: f64) -> Vector3<f64> {
    let (sine, cosine) = sin_cos(angle);
    Vector3::new(p.x, cosine * p.y - sine * p.z, sine * p.y + cosine * p.z)
}

fn about_y(p: Vector3<f64>, angle: f64) -> Vector3<f64> {
    let (sine, cosine) = sin_cos(angle);
    Vector3::new(cosine * p.x + sine * p.z, p.y, cosine * p.z - sine * p.x)
}

fn about_z(p: Vector3<f64>, angle: f64) -> Vector3<f64> {
    let (sine, cosine) = sin_cos(angle);
    Vector3::new(cosine * p.x - sine * p.y, sine * p.x + cosine * p.y, p.z)
}

/// Reproducible random numbers (splitmix64).
struct Random(u64);

impl Random {
    /// Up to this amount in both directions.
    fn within(&mut self, amount: f64) -> f64 {
        (2.0 * crate::heap::splitmix(&mut self.0) - 1.0) * amount
    }

    /// Of length one, all directions alike.
    fn quaternion(&mut self) -> [f64; 4] {
        loop {
            let q = [0; 4].map(|_| self.within(1.0));
            let square: f64 = q.iter().map(|x| x * x).sum();
            if (0.01..1.0).contains(&square) {
                return q.map(|x| x / square.sqrt());
            }
        }
    }
}
