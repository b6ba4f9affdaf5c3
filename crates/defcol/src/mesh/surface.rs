use super::TriangleMesh;
use super::edges::{Groups, group};
use crate::math::{Real, Vector3};

/// The corners of the face opposite corner k, outward if the tetrahedron is not inverted.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The outward surface of a tetrahedral mesh, with its own numbering of vertices.
#[derive(Debug, Clone)]
pub struct Surface<R: Real> {
    mesh: TriangleMesh<R>,
    vertices: Vec<u32>,
    tetrahedra: Vec<u32>,
}

impl<R: Real> Surface<R> {
    pub(super) fn of(positions: &[Vector3<R>], tetrahedra: &[[u32; 4]]) -> Self {
        let faces = outward_faces(positions, tetrahedra);
        let mut number = vec![u32::MAX; positions.len()];
        for &vertex in faces.triangles.iter().flatten() {
            number[vertex as usize] = 0;
        }
        let vertices: Vec<u32> =
            (0u32..).zip(&number).filter(|&(_, &n)| n == 0).map(|(vertex, _)| vertex).collect();
        for (surface_vertex, &vertex) in (0u32..).zip(&vertices) {
            number[vertex as usize] = surface_vertex;
        }
        let triangles =
            faces.triangles.iter().map(|corners| corners.map(|v| number[v as usize])).collect();
        let mesh = TriangleMesh::trusted(
            vertices.iter().map(|&vertex| positions[vertex as usize]).collect(),
            triangles,
        );
        Self { mesh, vertices, tetrahedra: faces.tetrahedra }
    }

    /// The surface as a mesh of its own.
    pub fn mesh(&self) -> &TriangleMesh<R> {
        &self.mesh
    }

    /// The triangles in the numbering of the surface.
    pub fn triangles(&self) -> &[[u32; 3]] {
        self.mesh.triangles()
    }

    /// For each surface vertex the vertex of the tetrahedral mesh, ascending.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// For each surface triangle the tetrahedron it bounds.
    pub fn tetrahedra(&self) -> &[u32] {
        &self.tetrahedra
    }

    /// Picks the positions of the surface vertices out of those of the body.
    pub fn gather(&self, body: &[Vector3<R>], surface: &mut Vec<Vector3<R>>) {
        surface.clear();
        surface.extend(self.vertices.iter().map(|&vertex| body[vertex as usize]));
    }
}

/// The faces that belong to one tetrahedron only, in the numbering of the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutwardFaces {
    /// The faces, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// For each face the tetrahedron it bounds.
    pub tetrahedra: Vec<u32>,
    /// The corners, ascending, of every face that more than two tetrahedra share.
    pub shared_by_many: Vec<[u32; 3]>,
}

/// Finds the outward surface of tetrahedra whose indices are valid.
///
/// The orientation does not depend on the order in which a tetrahedron lists its corners:
/// neighbours are brought into the same order through their common faces, and each group of
/// neighbours is turned so that its volume is positive. A body that was deformed until some
/// elements are inside out therefore still has a consistently oriented surface.
pub fn outward_faces<R: Real>(positions: &[Vector3<R>], tetrahedra: &[[u32; 4]]) -> OutwardFaces {
    let face = |slot: usize| FACES[slot % 4].map(|corner| tetrahedra[slot / 4][corner]);
    let groups = group(positions.len(), 4 * tetrahedra.len(), |slot| {
        let mut corners = face(slot);
        corners.sort_unstable();
        (corners[0], [corners[1], corners[2]])
    });
    let flipped = flips(positions, tetrahedra, &groups, &face);
    let mut outward =
        OutwardFaces { triangles: vec![], tetrahedra: vec![], shared_by_many: vec![] };
    let mut slots: Vec<u32> = Vec::new();
    for (&(a, [b, c]), members) in groups.keys.iter().zip(groups.members.iter()) {
        match members.len() {
            1 => slots.push(members[0]),
            2 => {}
            _ => outward.shared_by_many.push([a, b, c]),
        }
    }
    // In the order of the tetrahedra, which keeps faces that are near in space near in memory.
    slots.sort_unstable();
    for slot in slots {
        let [a, b, c] = face(slot as usize);
        let tetrahedron = slot / 4;
        let outside_in = flipped[tetrahedron as usize];
        outward.triangles.push(if outside_in { [a, c, b] } else { [a, b, c] });
        outward.tetrahedra.push(tetrahedron);
    }
    outward
}

/// Which tetrahedra list their corners in the other order than the outside demands.
fn flips<R: Real>(
    positions: &[Vector3<R>],
    tetrahedra: &[[u32; 4]],
    faces: &Groups<2>,
    face: &impl Fn(usize) -> [u32; 3],
) -> Vec<bool> {
    let mut neighbour = vec![u32::MAX; 4 * tetrahedra.len()];
    for members in faces.members.iter().filter(|members| members.len() == 2) {
        neighbour[members[0] as usize] = members[1];
        neighbour[members[1] as usize] = members[0];
    }
    let signed_volume = |index: usize| {
        let [a, b, c, d] =
            tetrahedra[index].map(|vertex| positions[vertex as usize].map(|x| x.to_f64()));
        (b - a).dot(&(c - a).cross(&(d - a)))
    };
    let mut flipped = vec![false; tetrahedra.len()];
    let mut seen = vec![false; tetrahedra.len()];
    let mut patch: Vec<u32> = Vec::new();
    for seed in 0..tetrahedra.len() {
        if std::mem::replace(&mut seen[seed], true) {
            continue;
        }
        patch.clear();
        patch.push(seed as u32);
        let mut volume = 0.0;
        let mut next = 0;
        while next < patch.len() {
            let current = patch[next] as usize;
            next += 1;
            volume +=
                if flipped[current] { -signed_volume(current) } else { signed_volume(current) };
            for (corner, &other) in neighbour[4 * current..4 * current + 4].iter().enumerate() {
                if other == u32::MAX || std::mem::replace(&mut seen[other as usize / 4], true) {
                    continue;
                }
                let same_order = runs_opposite(face(4 * current + corner), face(other as usize));
                flipped[other as usize / 4] = flipped[current] ^ !same_order;
                patch.push(other / 4);
            }
        }
        if volume < 0.0 {
            for &tetrahedron in &patch {
                flipped[tetrahedron as usize] ^= true;
            }
        }
    }
    flipped
}

/// Whether two triangles on the same three vertices run in opposite directions.
fn runs_opposite(a: [u32; 3], b: [u32; 3]) -> bool {
    let turn = b.iter().position(|&vertex| vertex == a[0]).unwrap_or(0);
    b[(turn + 1) % 3] != a[1]
}
