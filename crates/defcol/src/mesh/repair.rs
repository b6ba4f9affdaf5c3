//! Explicit steps that mend a mesh, each of which reports what it did.

use super::edges::group;
use super::raw::repeated_vertex;
use super::weld::first_within;
use super::{Edges, RawMesh, Rows, mass_properties, solid_angle};
use crate::error::MeshError;
use crate::math::predicate::orient3d;
use crate::math::{Bounds, Real, Sign, Vector3};

/// What [`weld`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welded {
    /// How many vertices went into an earlier one.
    pub merged: usize,
    /// For each new vertex the old one whose place it has.
    pub kept: Vec<u32>,
}

/// Merges every vertex into the lowest earlier one that is no farther than `tolerance`; 0 merges
/// only those at the very same place.
///
/// Fails on indices out of range and on a tolerance that is negative or not finite.
pub fn weld<R: Real>(mesh: &mut RawMesh<R>, tolerance: f64) -> Result<Welded, MeshError> {
    if !(tolerance >= 0.0 && tolerance.is_finite()) {
        return Err(MeshError::Tolerance(tolerance));
    }
    check_indices(mesh)?;
    let first = first_within(&mesh.positions, tolerance);
    let kept: Vec<u32> =
        (0u32..).zip(&first).filter(|&(vertex, &to)| vertex == to).map(|(v, _)| v).collect();
    let mut number = vec![0; first.len()];
    for (new, &old) in (0u32..).zip(&kept) {
        number[old as usize] = new;
    }
    let merged = first.len() - kept.len();
    mesh.positions = kept.iter().map(|&old| mesh.positions[old as usize]).collect();
    let renumber = |vertex: &mut u32| *vertex = number[first[*vertex as usize] as usize];
    mesh.triangles.iter_mut().flatten().for_each(renumber);
    mesh.tetrahedra.iter_mut().flatten().for_each(renumber);
    Ok(Welded { merged, kept })
}

/// What [`drop_degenerate`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// How many triangles went.
    pub triangles: usize,
    /// How many tetrahedra went.
    pub tetrahedra: usize,
    /// For each triangle that stayed its old index.
    pub kept_triangles: Vec<u32>,
}

/// Drops triangles and tetrahedra that name a vertex twice, and exact copies (same vertices, same
/// orientation) of earlier ones.
///
/// A triangle without area but with three different vertices stays: it is part of the surface,
/// and without it its neighbours would no longer meet. The same holds for a flat tetrahedron.
pub fn drop_degenerate<R: Real>(mesh: &mut RawMesh<R>) -> Result<Dropped, MeshError> {
    check_indices(mesh)?;
    let kept_triangles = sound(mesh.positions.len(), &mesh.triangles);
    let kept_tetrahedra = sound(mesh.positions.len(), &mesh.tetrahedra);
    let dropped = Dropped {
        triangles: mesh.triangles.len() - kept_triangles.len(),
        tetrahedra: mesh.tetrahedra.len() - kept_tetrahedra.len(),
        kept_triangles,
    };
    mesh.triangles =
        dropped.kept_triangles.iter().map(|&old| mesh.triangles[old as usize]).collect();
    mesh.tetrahedra = kept_tetrahedra.iter().map(|&old| mesh.tetrahedra[old as usize]).collect();
    Ok(dropped)
}

/// Indices of the primitives that stay.
fn sound<const N: usize>(vertices: usize, primitives: &[[u32; N]]) -> Vec<u32> {
    let mut stays: Vec<bool> = primitives.iter().map(|p| repeated_vertex(p).is_none()).collect();
    let groups = group(vertices, primitives.len(), |index| {
        let corners = canonical(primitives[index]);
        (corners[0], corners)
    });
    for copies in groups.members.iter() {
        for &copy in &copies[1..] {
            stays[copy as usize] = false;
        }
    }
    (0u32..).zip(stays).filter(|&(_, stays)| stays).map(|(index, _)| index).collect()
}

/// The corners sorted, but for the last two, which tell the orientation.
fn canonical<const N: usize>(mut corners: [u32; N]) -> [u32; N] {
    let mut odd = false;
    for end in (1..N).rev() {
        for k in 0..end {
            if corners[k] > corners[k + 1] {
                corners.swap(k, k + 1);
                odd = !odd;
            }
        }
    }
    if odd {
        corners.swap(N - 2, N - 1);
    }
    corners
}

/// Swaps two corners of every tetrahedron whose volume is negative; says how many.
pub fn flip_inverted<R: Real>(mesh: &mut RawMesh<R>) -> Result<usize, MeshError> {
    check_indices(mesh)?;
    let mut flipped = 0;
    for corners in &mut mesh.tetrahedra {
        let [a, b, c, d] = corners.map(|vertex| mesh.positions[vertex as usize]);
        if orient3d(a, b, c, d) == Sign::Negative {
            corners.swap(2, 3);
            flipped += 1;
        }
    }
    Ok(flipped)
}

/// What [`orient_outward`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Oriented {
    /// How many triangles were turned over.
    pub flipped: usize,
    /// How many patches cannot be oriented at all, like a Möbius strip.
    pub unorientable: usize,
}

/// Turns triangles over until neighbours agree and closed patches face outwards.
///
/// A patch is what hangs together through edges of exactly two triangles. A closed one is turned
/// outwards, or inwards if it is the wall of a cavity (inside an odd number of others); an open
/// one keeps the orientation that most of its triangles have.
pub fn orient_outward<R: Real>(mesh: &mut RawMesh<R>) -> Result<Oriented, MeshError> {
    check_indices(mesh)?;
    let (patches, flips, unorientable) = agree(mesh.positions.len(), &mesh.triangles);
    let before = mesh.triangles.clone();
    for (triangle, flip) in mesh.triangles.iter_mut().zip(flips) {
        if flip {
            triangle.swap(1, 2);
        }
    }
    let turned: Vec<Patch> = patches.iter().map(|members| Patch::of(mesh, members)).collect();
    let depths = depths(mesh, &turned, &patches);
    for (index, patch) in turned.iter().enumerate() {
        let turn_over = if patch.closed {
            let cavity = depths[index] % 2 == 1;
            if cavity { patch.volume > 0.0 } else { patch.volume < 0.0 }
        } else {
            let members = patches.row(index);
            let changed = members
                .iter()
                .filter(|&&t| mesh.triangles[t as usize] != before[t as usize])
                .count();
            2 * changed > members.len()
        };
        if turn_over {
            for &triangle in patches.row(index) {
                mesh.triangles[triangle as usize].swap(1, 2);
            }
        }
    }
    let flipped = mesh.triangles.iter().zip(&before).filter(|(now, then)| now != then).count();
    Ok(Oriented { flipped, unorientable })
}

/// Patches of triangles, which triangles to turn so that neighbours agree, and how many patches
/// cannot agree.
fn agree(vertices: usize, triangles: &[[u32; 3]]) -> (Rows, Vec<bool>, usize) {
    let edges = Edges::of_triangles(vertices, triangles);
    let start = |slot: u32| triangles[slot as usize / 3][slot as usize % 3];
    let mut neighbour = vec![u32::MAX; 3 * triangles.len()];
    for uses in edges.uses().iter().filter(|uses| uses.len() == 2) {
        neighbour[uses[0] as usize] = uses[1];
        neighbour[uses[1] as usize] = uses[0];
    }
    let mut label = vec![u32::MAX; triangles.len()];
    let mut count = 0;
    let mut flip = vec![false; triangles.len()];
    let mut queue: Vec<u32> = Vec::new();
    let mut unorientable = 0;
    for seed in 0..triangles.len() {
        if label[seed] != u32::MAX {
            continue;
        }
        let mut conflict = false;
        label[seed] = count;
        queue.clear();
        queue.push(seed as u32);
        let mut next = 0;
        while next < queue.len() {
            let current = queue[next];
            next += 1;
            for slot in 3 * current..3 * current + 3 {
                let other = neighbour[slot as usize];
                if other == u32::MAX {
                    continue;
                }
                let agrees = start(slot) != start(other);
                let wanted = flip[current as usize] ^ !agrees;
                let triangle = other as usize / 3;
                if label[triangle] == u32::MAX {
                    label[triangle] = count;
                    flip[triangle] = wanted;
                    queue.push(triangle as u32);
                } else {
                    conflict |= flip[triangle] != wanted;
                }
            }
        }
        unorientable += usize::from(conflict);
        count += 1;
    }
    let patches = Rows::collect(count as usize, || label.iter().copied().zip(0u32..));
    (patches, flip, unorientable)
}

struct Patch {
    closed: bool,
    volume: f64,
    bounds: Bounds<f64>,
    inner_point: Vector3<f64>,
}

impl Patch {
    fn of<R: Real>(mesh: &RawMesh<R>, members: &[u32]) -> Self {
        let triangles: Vec<[u32; 3]> =
            members.iter().map(|&triangle| mesh.triangles[triangle as usize]).collect();
        let corner = |vertex: u32| mesh.positions[vertex as usize].map(|x| x.to_f64());
        // Closed as a chain: every directed edge is cancelled by its opposite.
        let mut directed: Vec<[u32; 2]> =
            triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
        let mut reversed: Vec<[u32; 2]> = directed.iter().map(|&[a, b]| [b, a]).collect();
        directed.sort_unstable();
        reversed.sort_unstable();
        let [a, b, c] = triangles[0].map(corner);
        Self {
            closed: directed == reversed,
            volume: mass_properties(&mesh.positions, &triangles).volume,
            bounds: Bounds::of(triangles.iter().flatten().map(|&vertex| corner(vertex))),
            inner_point: (a + b + c) / 3.0,
        }
    }
}

/// How many other closed patches each closed patch is inside of.
///
/// The smallest patch around one is its parent, and the parent's parents are around it too: so only the
/// patches up to the first that contains it are looked at.
fn depths<R: Real>(mesh: &RawMesh<R>, all: &[Patch], patches: &Rows) -> Vec<usize> {
    let size = |patch: &Patch| patch.bounds.extent().norm();
    let mut order: Vec<usize> = (0..all.len()).filter(|&index| all[index].closed).collect();
    order.sort_by(|&a, &b| size(&all[b]).total_cmp(&size(&all[a])).then(a.cmp(&b)));
    let mut depths = vec![0; all.len()];
    for (place, &index) in order.iter().enumerate() {
        let own = &all[index];
        let contains = |&&other: &&usize| {
            if !all[other].bounds.encloses(&own.bounds) {
                return false;
            }
            let triangles = patches.row(other).iter().map(|&t| mesh.triangles[t as usize]);
            let angle = solid_angle(own.inner_point, &mesh.positions, triangles);
            // 4π inside, 0 outside.
            angle.abs() > 2.0 * std::f64::consts::PI
        };
        let parent = order[..place].iter().rev().find(contains);
        depths[index] = parent.map_or(0, |&parent| depths[parent] + 1);
    }
    depths
}

fn check_indices<R: Real>(mesh: &RawMesh<R>) -> Result<(), MeshError> {
    fn first_bad<const N: usize>(vertices: usize, primitives: &[[u32; N]]) -> Option<(usize, u32)> {
        primitives.iter().enumerate().find_map(|(index, corners)| {
            let bad = corners.iter().find(|&&vertex| vertex as usize >= vertices)?;
            Some((index, *bad))
        })
    }
    let vertices = mesh.positions.len();
    let bad = first_bad(vertices, &mesh.triangles)
        .map(|bad| ("triangle", bad))
        .or_else(|| first_bad(vertices, &mesh.tetrahedra).map(|bad| ("tetrahedron", bad)));
    match bad {
        None => Ok(()),
        Some((primitive, (index, vertex))) => {
            Err(MeshError::IndexOutOfRange { primitive, index, vertex, vertices })
        }
    }
}
