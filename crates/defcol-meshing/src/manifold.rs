//! Parts that touch in an edge or a corner only are taken apart.

use std::collections::HashMap;

use defcol::mesh::{RawMesh, outward_faces};

/// Drops tetrahedra until the surface is a manifold: around every vertex and every edge, tetrahedra hang
/// together through faces, and so does the space between them. Of several groups of tetrahedra the largest
/// stays; a vertex in which several hollows meet goes with all tetrahedra around it.
pub fn part_touching(mesh: &mut RawMesh<f64>) {
    // Dropping one may part others; it ends because every round drops some.
    loop {
        let mut drop = vec![false; mesh.tetrahedra.len()];
        mark::<1>(mesh, &mut drop);
        mark::<2>(mesh, &mut drop);
        if !drop.contains(&true) {
            mark_hollows(mesh, &mut drop);
        }
        if !drop.contains(&true) {
            break;
        }
        let mut index = 0;
        mesh.tetrahedra.retain(|_| {
            index += 1;
            !drop[index - 1]
        });
    }
    drop_unused(mesh);
}

/// Marks what touches only in vertices (N = 1) or edges (N = 2).
fn mark<const N: usize>(mesh: &RawMesh<f64>, drop: &mut [bool]) {
    let boundary = boundary_parts::<N>(&mesh.tetrahedra);
    // Around each part of the boundary, the tetrahedra that contain it.
    let mut around: HashMap<[u32; N], Vec<u32>> =
        boundary.iter().map(|&part| (part, Vec::new())).collect();
    for (index, corners) in (0u32..).zip(&mesh.tetrahedra) {
        for part in parts::<N>(corners) {
            if let Some(list) = around.get_mut(&part) {
                list.push(index);
            }
        }
    }
    for part in boundary {
        let list = &around[&part];
        // Groups that hang together through faces which contain the part.
        let mut group: Vec<usize> = (0..list.len()).collect();
        for i in 0..list.len() {
            for j in 0..i {
                let (a, b) = (mesh.tetrahedra[list[i] as usize], mesh.tetrahedra[list[j] as usize]);
                if group[i] != group[j] && a.iter().filter(|corner| b.contains(corner)).count() == 3
                {
                    let (from, to) = (group[i].max(group[j]), group[i].min(group[j]));
                    group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
                }
            }
        }
        let size = |g: usize| group.iter().filter(|other| **other == g).count();
        let largest = (0..list.len()).max_by_key(|&g| (size(g), usize::MAX - g)).unwrap_or(0);
        for (&tetrahedron, &g) in list.iter().zip(&group) {
            drop[tetrahedron as usize] |= g != largest;
        }
    }
}

/// Marks all around vertices at which the surface has more than one fan.
fn mark_hollows(mesh: &RawMesh<f64>, drop: &mut [bool]) {
    let faces = outward_faces(&mesh.positions, &mesh.tetrahedra);
    // Around each vertex, each triangle of the surface leads from one neighbour to the next; one fan
    // leads through all of them.
    let mut around: HashMap<u32, Vec<[u32; 2]>> = HashMap::new();
    for [a, b, c] in faces.triangles {
        for [v, p, q] in [[a, b, c], [b, c, a], [c, a, b]] {
            around.entry(v).or_default().push([p, q]);
        }
    }
    let has_hollows = |steps: &[[u32; 2]]| {
        let mut at = steps[0][1];
        let mut length = 1;
        while at != steps[0][0] && length <= steps.len() {
            match steps.iter().find(|step| step[0] == at) {
                Some(step) => at = step[1],
                None => return true,
            }
            length += 1;
        }
        length != steps.len()
    };
    for (index, corners) in mesh.tetrahedra.iter().enumerate() {
        drop[index] |=
            corners.iter().any(|v| around.get(v).is_some_and(|steps| has_hollows(steps)));
    }
}

/// The vertices or edges of the faces that only one tetrahedron has, in ascending order.
fn boundary_parts<const N: usize>(tetrahedra: &[[u32; 4]]) -> Vec<[u32; N]> {
    let mut faces: Vec<[u32; 3]> = tetrahedra
        .iter()
        .flat_map(|&[a, b, c, d]| [[b, c, d], [a, c, d], [a, b, d], [a, b, c]])
        .map(|mut face| {
            face.sort_unstable();
            face
        })
        .collect();
    faces.sort_unstable();
    let mut found: Vec<[u32; N]> = faces
        .chunk_by(|a, b| a == b)
        .filter(|same| same.len() == 1)
        .flat_map(|face| parts::<N>(&face[0]))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The vertices or edges of a primitive, each in ascending order.
fn parts<const N: usize>(corners: &[u32]) -> Vec<[u32; N]> {
    let mut parts = Vec::with_capacity(6);
    for (i, &a) in corners.iter().enumerate() {
        if N == 1 {
            parts.push([a; N]);
        } else {
            parts.extend(corners[i + 1..].iter().map(|&b| {
                let mut edge = [a.min(b); N];
                edge[N - 1] = a.max(b);
                edge
            }));
        }
    }
    parts
}

fn drop_unused(mesh: &mut RawMesh<f64>) {
    let mut number = vec![u32::MAX; mesh.positions.len()];
    mesh.tetrahedra.iter().flatten().for_each(|&vertex| number[vertex as usize] = 0);
    let mut next = 0;
    let mut old = 0;
    mesh.positions.retain(|_| {
        let used = number[old] == 0;
        if used {
            number[old] = next;
            next += 1;
        }
        old += 1;
        used
    });
    mesh.tetrahedra.iter_mut().flatten().for_each(|vertex| *vertex = number[*vertex as usize]);
}
