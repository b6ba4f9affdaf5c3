//! The few tetrahedra that come out flatter than the bounds are mended by moving an inner corner.
//!
//! On a lattice tetrahedron of which three corners were moved onto the surface, angles down to 10.4
//! degrees have been seen; moving the fourth, which is inside, brings them back.

use std::collections::BTreeMap;

use defcol::math::Vector3;
use defcol::mesh::{RawMesh, outward_faces};

use crate::stuffing::{DIHEDRAL_BOUNDS, dihedral_range_of};

/// Angles are brought a little inside the bounds.
const MARGIN: f64 = 0.05;

/// How much room there is to the nearer bound; negative if it is passed.
fn room(corners: [Vector3<f64>; 4]) -> f64 {
    let [a, b, c, d] = corners;
    if (b - a).dot(&(c - a).cross(&(d - a))) <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let [low, high] = dihedral_range_of(corners);
    (low - DIHEDRAL_BOUNDS[0]).min(DIHEDRAL_BOUNDS[1] - high) - MARGIN
}

/// Moves inner vertices of tetrahedra that pass the bounds towards the middle of their neighbours, as far
/// as helps all tetrahedra around them.
pub fn polish(mesh: &mut RawMesh<f64>) {
    let place = |mesh: &RawMesh<f64>, corners: [u32; 4]| {
        corners.map(|vertex| mesh.positions[vertex as usize])
    };
    let flat: Vec<[u32; 4]> = mesh
        .tetrahedra
        .iter()
        .copied()
        .filter(|&corners| room(place(mesh, corners)) < 0.0)
        .collect();
    if flat.is_empty() {
        return;
    }
    // The stars of their inner corners.
    let mut stars: BTreeMap<u32, Vec<[u32; 4]>> =
        flat.iter().flatten().map(|&vertex| (vertex, Vec::new())).collect();
    for vertex in outward_faces(&mesh.positions, &mesh.tetrahedra).triangles.iter().flatten() {
        stars.remove(vertex);
    }
    for corners in &mesh.tetrahedra {
        for vertex in corners {
            if let Some(star) = stars.get_mut(vertex) {
                star.push(*corners);
            }
        }
    }
    for _ in 0..4 {
        for (&vertex, star) in &stars {
            let worst = |mesh: &RawMesh<f64>| {
                star.iter().map(|&corners| room(place(mesh, corners))).fold(f64::INFINITY, f64::min)
            };
            let before = worst(mesh);
            if before >= 0.0 {
                continue;
            }
            let home = mesh.positions[vertex as usize];
            let others = star.iter().flatten().filter(|&&other| other != vertex);
            let (sum, count) = others.fold((Vector3::zeros(), 0.0), |(sum, count), &other| {
                (sum + mesh.positions[other as usize], count + 1.0)
            });
            let middle = sum / count - home;
            let reach = star
                .iter()
                .flatten()
                .map(|&v| (mesh.positions[v as usize] - home).norm())
                .fold(0.0, f64::max);
            // Towards the middle, and a little along each axis.
            let axes = (0..3).flat_map(|axis| {
                [-0.1, -0.04, 0.04, 0.1].map(|step| {
                    let mut offset = Vector3::zeros();
                    offset[axis] = step * reach;
                    offset
                })
            });
            let tries = [0.15, 0.3, 0.5, 0.8].map(|part| middle * part).into_iter().chain(axes);
            let mut best = (before, home);
            for offset in tries {
                mesh.positions[vertex as usize] = home + offset;
                let after = worst(mesh);
                if after > best.0 {
                    best = (after, home + offset);
                }
            }
            mesh.positions[vertex as usize] = best.1;
        }
    }
}
