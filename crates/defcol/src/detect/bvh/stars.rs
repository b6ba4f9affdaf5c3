//! The triangles around a vertex: where they lie flat enough not to meet beyond what they share.

use crate::math::{Real, Vector3};
use crate::mesh::{Rows, TriangleMesh};

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
    flat: Vec<bool>,
    known: bool,
}

impl Stars {
    pub fn new<R: Real>(mesh: &TriangleMesh<R>) -> Self {
        let (mut items, mut ends) = (Vec::new(), Vec::new());
        let mut steps: Vec<[u32; 2]> = Vec::new();
        for (vertex, around) in (0u32..).zip(mesh.vertex_triangles().iter()) {
            steps.clear();
            steps.extend(around.iter().map(|&triangle| {
                let corners = mesh.triangles()[triangle as usize];
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
        let vertices = ends.len();
        Self { rings: Rows::from_ends(ends, items), flat: vec![false; vertices], known: false }
    }

    pub fn vertices(&self) -> usize {
        self.flat.len()
    }

    /// The positions have changed.
    pub fn forget(&mut self) {
        self.known = false;
    }

    /// Looks at all stars, unless that was done for these positions.
    pub fn look<R: Real>(&mut self, positions: &[Vector3<R>]) {
        if std::mem::replace(&mut self.known, true) {
            return;
        }
        for ((flat, ring), center) in self.flat.iter_mut().zip(self.rings.iter()).zip(positions) {
            *flat = is_flat(center.map(R::to_f64), ring, positions);
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

fn is_flat<R: Real>(center: Vector3<f64>, ring: &[u32], positions: &[Vector3<R>]) -> bool {
    if ring.len() < 3 {
        return false;
    }
    let arm = |k: usize| positions[ring[k % ring.len()] as usize].map(R::to_f64) - center;
    let mut normal = Vector3::zeros();
    let first = arm(0);
    let mut last = first;
    for k in 1..=ring.len() {
        let next = if k == ring.len() { first } else { arm(k) };
        normal += last.cross(&next);
        last = next;
    }
    let axis = normal.iamax();
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let side = normal[axis].signum();
    let mut turns = 0;
    let mut last = first;
    for k in 1..=ring.len() {
        let next = if k == ring.len() { first } else { arm(k) };
        // Differences, products and their difference are each rounded once: four roundings of each product.
        let (one, other) = (last[u] * next[v], last[v] * next[u]);
        if side * (one - other) <= 8.0 * f64::EPSILON * (one.abs() + other.abs()) {
            return false;
        }
        // Differences are zero or have the right sign, whatever the rounding.
        turns += i32::from((last[v] < 0.0) != (next[v] < 0.0));
        last = next;
    }
    turns == 2
}
