//! Facts that follow from the topology of all bodies, computed on first use and shared by all detectors.

use std::sync::OnceLock;

use super::Bodies;
use crate::mesh::{Edges, Rows, unmatched_half_edges};

/// One cell per fact. [`Bodies`] starts with new ones whenever a body is added, replaced or removed.
#[derive(Debug, Clone, Default)]
pub(super) struct TopologyFacts {
    /// One cell per body, so that a body is tested without the others.
    closed: Vec<OnceLock<bool>>,
    used: OnceLock<UsedVertices>,
    vertex_triangles: OnceLock<Rows>,
    vertex_edges: OnceLock<Rows>,
    neighbors: OnceLock<Rows>,
    edges: OnceLock<EdgeTriangles>,
}

/// Vertices that belong to a primitive; all vertices of a body without primitives, which is particles.
#[derive(Debug, Clone)]
struct UsedVertices {
    /// One flag per vertex.
    flags: Vec<bool>,
    /// One number per body.
    counts: Vec<usize>,
}

/// Which edges and triangles are incident.
#[derive(Debug, Clone)]
struct EdgeTriangles {
    triangles_of_edge: Rows,
    edges_of_triangle: Vec<[u32; 3]>,
}

impl TopologyFacts {
    /// Nothing is known yet of so many bodies.
    pub fn new(bodies: usize) -> Self {
        Self { closed: vec![OnceLock::new(); bodies], ..Self::default() }
    }
}

impl Bodies {
    /// Whether the surface of a body is closed and consistently oriented: every half-edge has an opposite. Only such a body
    /// has an inside; bodies without triangles have none.
    pub fn is_closed(&self, body: usize) -> bool {
        *self.facts.closed[body].get_or_init(|| {
            let triangles = &self.triangles()[self.list()[body].triangles.clone()];
            !triangles.is_empty() && unmatched_half_edges(triangles).is_empty()
        })
    }

    /// Whether a vertex belongs to a primitive of its body, or is a particle. Unused vertices of a mesh do not collide.
    pub fn is_used(&self, vertex: u32) -> bool {
        self.used().flags[vertex as usize]
    }

    /// Number of used vertices of a body.
    pub fn used_vertices(&self, body: usize) -> usize {
        self.used().counts[body]
    }

    /// For each vertex the surface triangles around it, ascending.
    pub fn triangles_of_vertices(&self) -> &Rows {
        self.facts.vertex_triangles.get_or_init(|| {
            Rows::collect(self.vertex_count(), || {
                let triangles = (0u32..).zip(self.triangles());
                triangles.flat_map(|(triangle, corners)| corners.map(|corner| (corner, triangle)))
            })
        })
    }

    /// For each vertex the surface edges that end there, ascending.
    pub fn edges_of_vertices(&self) -> &Rows {
        self.facts.vertex_edges.get_or_init(|| {
            Rows::collect(self.vertex_count(), || {
                (0u32..).zip(self.edges()).flat_map(|(edge, ends)| ends.map(|end| (end, edge)))
            })
        })
    }

    /// For each vertex its neighbors: along edges of tetrahedra, and along surface edges in bodies without tetrahedra.
    pub fn neighbors(&self) -> &Rows {
        self.facts.neighbors.get_or_init(|| {
            let solid = Edges::of_tetrahedra(self.vertex_count(), self.tetrahedra());
            let surfaces = self.list().iter().filter(|body| body.tetrahedra.is_empty());
            let edges = surfaces.flat_map(|body| &self.edges()[body.edges.clone()]);
            let all = solid.ends().iter().chain(edges);
            Rows::collect(self.vertex_count(), || all.clone().flat_map(|&[a, b]| [(a, b), (b, a)]))
        })
    }

    /// For each surface edge the triangles that share it, ascending: two in a manifold surface, one at its boundary.
    pub fn triangles_of_edges(&self) -> &Rows {
        &self.edge_triangles().triangles_of_edge
    }

    /// For each surface triangle its edges: from corner 0 to 1, from 1 to 2 and from 2 to 0.
    pub fn edges_of_triangles(&self) -> &[[u32; 3]] {
        &self.edge_triangles().edges_of_triangle
    }

    fn used(&self) -> &UsedVertices {
        self.facts.used.get_or_init(|| {
            let mut flags = vec![false; self.vertex_count()];
            let corners = self.triangles().iter().flatten();
            for &corner in corners.chain(self.tetrahedra().iter().flatten()) {
                flags[corner as usize] = true;
            }
            for body in self.list() {
                if body.triangles.is_empty() && body.tetrahedra.is_empty() {
                    flags[body.vertices.clone()].fill(true);
                }
            }
            let count = |body: &super::Body| {
                flags[body.vertices.clone()].iter().filter(|used| **used).count()
            };
            let counts = self.list().iter().map(count).collect();
            UsedVertices { flags, counts }
        })
    }

    fn edge_triangles(&self) -> &EdgeTriangles {
        self.facts.edges.get_or_init(|| {
            let all = Edges::of_triangles(self.vertex_count(), self.triangles());
            let mut edges_of_triangle = vec![[u32::MAX; 3]; self.triangles().len()];
            let (mut items, mut ends) = (Vec::new(), Vec::new());
            for (number, &[a, b]) in (0u32..).zip(self.edges()) {
                if let Ok(index) = all.ends().binary_search(&[a.min(b), a.max(b)]) {
                    for &slot in all.uses().row(index) {
                        edges_of_triangle[slot as usize / 3][slot as usize % 3] = number;
                        items.push(slot / 3);
                    }
                }
                ends.push(items.len() as u32);
            }
            debug_assert!(edges_of_triangle.iter().flatten().all(|&edge| edge != u32::MAX));
            EdgeTriangles { triangles_of_edge: Rows::from_ends(ends, items), edges_of_triangle }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bodies, Collides};
    use crate::math::Vector3;
    use crate::mesh::{RawMesh, TriangleMesh};

    fn surface(triangles: Vec<[u32; 3]>) -> TriangleMesh<f64> {
        let corner =
            |k: u32| Vector3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2));
        let positions = (0..5).map(corner).collect();
        TriangleMesh::new(RawMesh { positions, triangles, ..RawMesh::default() }).unwrap()
    }

    #[test]
    fn only_oriented_surfaces_without_boundary_are_closed() {
        let closed = vec![[0, 2, 1], [0, 1, 4], [0, 4, 2], [1, 2, 4]];
        let mut flipped = closed.clone();
        flipped[0].swap(0, 1);
        let doubled: Vec<_> = closed.iter().chain(&closed).copied().collect();
        let mut bodies = Bodies::default();
        for triangles in [closed.clone(), closed[1..].to_vec(), flipped, doubled] {
            bodies.add_surface(&surface(triangles), Collides::default());
        }
        bodies.add_points(3, Collides::default());
        let closed: Vec<bool> = (0..bodies.len()).map(|body| bodies.is_closed(body)).collect();
        assert_eq!(closed, [true, false, false, true, false]);
        // Vertex 3 belongs to no triangle.
        assert!(bodies.is_used(2) && !bodies.is_used(3) && bodies.is_used(5 * 4));
        let used: Vec<_> = (0..bodies.len()).map(|body| bodies.used_vertices(body)).collect();
        assert_eq!(used, [4, 4, 4, 4, 3]);
        bodies.remove(0);
        assert!(!bodies.is_closed(0), "facts follow changes of topology");
    }

    #[test]
    fn incidences_agree_with_a_search() {
        let mut bodies = Bodies::default();
        for triangles in
            [vec![[0, 2, 1], [0, 1, 4], [0, 4, 2]], vec![[3, 2, 1], [1, 2, 0], [2, 1, 4]]]
        {
            bodies.add_surface(&surface(triangles), Collides::default());
        }
        let (edges, triangles) = (bodies.edges(), bodies.triangles());
        for (edge, ends) in edges.iter().enumerate() {
            let expected: Vec<u32> = (0u32..)
                .zip(triangles)
                .filter(|(_, corners)| ends.iter().all(|end| corners.contains(end)))
                .map(|(triangle, _)| triangle)
                .collect();
            assert_eq!(bodies.triangles_of_edges().row(edge), expected);
        }
        for (corners, own) in triangles.iter().zip(bodies.edges_of_triangles()) {
            for (k, &edge) in own.iter().enumerate() {
                let mut ends = [corners[k], corners[(k + 1) % 3]];
                ends.sort_unstable();
                let mut found = edges[edge as usize];
                found.sort_unstable();
                assert_eq!(found, ends);
            }
        }
        for vertex in 0..bodies.vertex_count() as u32 {
            let around = bodies.triangles_of_vertices().row(vertex as usize);
            let ending = bodies.edges_of_vertices().row(vertex as usize);
            let uses = |list: &[u32]| list.contains(&vertex);
            assert_eq!(around.len(), triangles.iter().filter(|corners| uses(&corners[..])).count());
            assert_eq!(ending.len(), edges.iter().filter(|ends| uses(&ends[..])).count());
            assert_eq!(bodies.neighbors().row(vertex as usize).len(), ending.len());
        }
    }
}
