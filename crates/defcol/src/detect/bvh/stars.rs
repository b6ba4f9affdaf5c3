//! The triangles around a vertex: where they lie flat enough not to meet beyond what they share.

use crate::math::{Real, Vector3};
use crate::mesh::Rows;

/// For each vertex its neighbours in the order in which its triangles go around it, and whether the triangles lie
/// over one another nowhere in the present pose.
///
/// If the triangles around a vertex, looked at along an axis, all run the same way and go around it once, then they
/// lie side by side, and no two of them meet beyond what they share. That costs as much as a few normals and
/// saves the test of each pair of them.
#[derive(Debug, Clone)]
pub(super) struct Stars {
    /// Empty for a vertex whose triangles do not go around it in one closed fan.
    rings: Rows,
    around: Rows,
    flat: Vec<bool>,
    /// For each triangle the axes along which it is certainly seen to run one way, or the other: six bits.
    facing: Vec<u8>,
    known: bool,
}

impl Stars {
    pub fn new(vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let corners = || (0u32..).zip(triangles).flat_map(|(t, corners)| corners.map(|v| (v, t)));
        let around = Rows::collect(vertices, corners);
        let (mut items, mut ends) = (Vec::new(), Vec::new());
        let mut steps: Vec<[u32; 2]> = Vec::new();
        for (vertex, around) in (0u32..).zip(around.iter()) {
            steps.clear();
            steps.extend(around.iter().map(|&triangle| {
                let corners = triangles[triangle as usize];
                let own = corners.iter().position(|&c| c == vertex).unwrap_or_default();
                [corners[(own + 1) % 3], corners[(own + 2) % 3]]
            }));
            let start = items.len();
            walk(&mut steps, &mut items);
            if items.len() - start != around.len() {
                items.truncate(start);
            }
            ends.push(items.len() as u32);
        }
        Self {
            rings: Rows::from_ends(ends, items),
            around,
            flat: vec![false; vertices],
            facing: vec![0; triangles.len()],
            known: false,
        }
    }

    pub fn vertices(&self) -> usize {
        self.flat.len()
    }

    /// The positions have changed.
    pub fn forget(&mut self) {
        self.known = false;
    }

    /// Looks at all stars, unless that was done for these positions.
    pub fn look<R: Real>(&mut self, triangles: &[[u32; 3]], positions: &[Vector3<R>]) {
        if std::mem::replace(&mut self.known, true) {
            return;
        }
        for (facing, corners) in self.facing.iter_mut().zip(triangles) {
            *facing = sides_shown(corners.map(|corner| positions[corner as usize]));
        }
        for (vertex, flat) in self.flat.iter_mut().enumerate() {
            let around = self.around.row(vertex);
            let facing = around.iter().fold(0x3f, |all, &t| all & self.facing[t as usize]);
            *flat =
                facing != 0 && goes_around_once(vertex, facing, self.rings.row(vertex), positions);
        }
    }

    #[inline(always)]
    pub fn is_flat(&self, vertex: u32) -> bool {
        self.flat[vertex as usize]
    }
}

/// Follows steps from neighbour to neighbour as long as they go on, and adds where they lead. Nothing is added if
/// they do not come back to where they began.
fn walk(steps: &mut Vec<[u32; 2]>, ring: &mut Vec<u32>) {
    let Some(&[begin, _]) = steps.first() else { return };
    let (start, mut at) = (ring.len(), begin);
    while let Some(next) = steps.iter().position(|&[from, _]| from == at) {
        ring.push(at);
        at = steps.swap_remove(next)[1];
        if at == begin {
            return;
        }
    }
    ring.truncate(start);
}

/// The axes along which a triangle is certainly seen to run counter-clockwise (the lower three bits) or clockwise.
#[inline(always)]
fn sides_shown<R: Real>([a, b, c]: [Vector3<R>; 3]) -> u8 {
    let (p, q) = (b - a, c - a);
    let doubt = R::nearest(8.0) * R::default_epsilon();
    let mut shown = 0;
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        // Differences, products and their difference are each rounded once: four roundings of each product.
        let (one, other) = (p[u] * q[v], p[v] * q[u]);
        // And products so small that they lose digits tell nothing.
        let (area, limit) = (one - other, doubt * (one.abs() + other.abs()) + R::nearest(1e-37));
        shown |= u8::from(area > limit) << axis | u8::from(-area > limit) << (axis + 3);
    }
    shown
}

/// Whether a ring that turns one way only, seen along one of the axes, goes around the vertex once.
#[inline(always)]
fn goes_around_once<R: Real>(
    vertex: usize,
    facing: u8,
    ring: &[u32],
    positions: &[Vector3<R>],
) -> bool {
    let Some(&last) = ring.last() else { return false };
    let across = (facing.trailing_zeros() as usize + 1) % 3;
    let height = positions[vertex][across];
    let mut was_below = positions[last as usize][across] < height;
    let mut changes = 0;
    for &neighbour in ring {
        let below = positions[neighbour as usize][across] < height;
        changes += u32::from(below != was_below);
        was_below = below;
    }
    changes == 2
}
