use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::topology::TopologyFacts;
use crate::math::{Bounds, Real, Vector3};
use crate::mesh::{TetMesh, TriangleMesh};

/// Who may collide with whom. Bodies `a` and `b` may if `a.group & b.mask` and `b.group & a.mask`
/// both have a bit in common; a body with itself if `with_itself` is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collides {
    /// Whether the body takes part at all.
    pub enabled: bool,
    /// Whether collisions of the body with itself are wanted.
    pub with_itself: bool,
    /// The groups it belongs to, a bit each.
    pub group: u32,
    /// The groups it collides with, a bit each.
    pub mask: u32,
}

impl Default for Collides {
    /// With all others, not with itself.
    fn default() -> Self {
        Self { enabled: true, with_itself: false, group: u32::MAX, mask: u32::MAX }
    }
}

impl Collides {
    /// With all others and with itself.
    pub fn with_all_and_itself() -> Self {
        Self { with_itself: true, ..Self::default() }
    }

    /// Whether two different bodies may collide.
    pub fn with(&self, other: &Self) -> bool {
        self.enabled
            && other.enabled
            && self.group & other.mask != 0
            && other.group & self.mask != 0
    }

    /// Whether the body may collide with itself.
    pub fn itself(&self) -> bool {
        self.enabled && self.with_itself
    }
}

/// One body: its ranges in the arrays of [`Bodies`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// Its vertices.
    pub vertices: Range<usize>,
    /// Its surface edges.
    pub edges: Range<usize>,
    /// Its surface triangles.
    pub triangles: Range<usize>,
    /// Its tetrahedra; empty if it is a surface only.
    pub tetrahedra: Range<usize>,
    /// With whom it may collide.
    pub collides: Collides,
}

/// The topology of all bodies behind one another.
///
/// ```
/// use defcol::state::{Bodies, Collides};
/// use defcol_scenes::regular::box_grid;
///
/// let rod = defcol::mesh::TetMesh::new(box_grid([100, 2, 2], 0.01))?;
/// let mut bodies = Bodies::default();
/// let first = bodies.add_solid(&rod, Collides::with_all_and_itself());
/// let second = bodies.add_solid(&rod, Collides::default());
/// assert_eq!((first, second, bodies.vertex_count()), (0, 1, 2 * 909));
/// assert!(bodies.may_collide(0, 0) && !bodies.may_collide(1, 1) && bodies.may_collide(0, 1));
/// # Ok::<(), defcol::error::MeshError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Bodies {
    list: Vec<Body>,
    body_of_vertex: Vec<u32>,
    edges: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
    tetrahedra: Vec<[u32; 4]>,
    topology: u64,
    pub(super) facts: TopologyFacts,
}

impl Bodies {
    /// Adds a solid behind all others and returns its number. Its surface is that of the solid.
    pub fn add_solid<R: Real>(&mut self, mesh: &TetMesh<R>, collides: Collides) -> usize {
        let surface = mesh.surface();
        let number = |v: u32| surface.vertices()[v as usize];
        let edges = surface.mesh().edges().ends().iter().map(|ends| ends.map(number));
        let triangles = surface.triangles().iter().map(|corners| corners.map(number));
        let tetrahedra = mesh.tetrahedra().iter().copied();
        self.add(mesh.positions().len(), edges, triangles, tetrahedra, collides)
    }

    /// Adds a surface behind all others and returns its number.
    pub fn add_surface<R: Real>(&mut self, mesh: &TriangleMesh<R>, collides: Collides) -> usize {
        let edges = mesh.edges().ends().iter().copied();
        let triangles = mesh.triangles().iter().copied();
        self.add(mesh.positions().len(), edges, triangles, std::iter::empty(), collides)
    }

    /// Adds points that are no mesh, and returns the number of the body: particles.
    pub fn add_points(&mut self, points: usize, collides: Collides) -> usize {
        let (edges, triangles) = (std::iter::empty(), std::iter::empty());
        self.add(points, edges, triangles, std::iter::empty(), collides)
    }

    fn add(
        &mut self,
        vertices: usize,
        edges: impl Iterator<Item = [u32; 2]>,
        triangles: impl Iterator<Item = [u32; 3]>,
        tetrahedra: impl Iterator<Item = [u32; 4]>,
        collides: Collides,
    ) -> usize {
        let number = self.list.len();
        let first = self.body_of_vertex.len();
        assert!(first + vertices <= u32::MAX as usize, "vertices are counted in 32 bits");
        self.body_of_vertex.resize(first + vertices, number as u32);
        let body = Body {
            vertices: first..first + vertices,
            edges: append(&mut self.edges, edges, first),
            triangles: append(&mut self.triangles, triangles, first),
            tetrahedra: append(&mut self.tetrahedra, tetrahedra, first),
            collides,
        };
        self.list.push(body);
        self.topology_changed();
        number
    }

    /// Removes a body; those behind it move up by one. Returns the range of vertices that the
    /// caller has to remove from the array of positions.
    pub fn remove(&mut self, body: usize) -> Range<usize> {
        let removed = self.list.remove(body);
        self.body_of_vertex.drain(removed.vertices.clone());
        for owner in &mut self.body_of_vertex[removed.vertices.start..] {
            *owner -= 1;
        }
        let vertices = removed.vertices.len();
        cut(&mut self.edges, &removed.edges, vertices);
        cut(&mut self.triangles, &removed.triangles, vertices);
        cut(&mut self.tetrahedra, &removed.tetrahedra, vertices);
        let back = |range: &mut Range<usize>, by: usize| {
            *range = range.start - by..range.end - by;
        };
        for later in &mut self.list[body..] {
            back(&mut later.vertices, vertices);
            back(&mut later.edges, removed.edges.len());
            back(&mut later.triangles, removed.triangles.len());
            back(&mut later.tetrahedra, removed.tetrahedra.len());
        }
        self.topology_changed();
        removed.vertices
    }

    /// Puts a solid in the place of a body: what was cut, or is to be made of other tetrahedra. All others stay in order.
    /// Returns the range of vertices in whose place the caller has to put those of the solid.
    pub fn replace_with_solid<R: Real>(&mut self, body: usize, mesh: &TetMesh<R>) -> Range<usize> {
        let old = std::mem::take(self);
        for (number, own) in old.list.iter().enumerate() {
            if number == body {
                self.add_solid(mesh, own.collides);
            } else {
                let first = own.vertices.start as u32;
                self.add(
                    own.vertices.len(),
                    old.edges[own.edges.clone()].iter().map(|ends| ends.map(|v| v - first)),
                    old.triangles[own.triangles.clone()].iter().map(|c| c.map(|v| v - first)),
                    old.tetrahedra[own.tetrahedra.clone()].iter().map(|c| c.map(|v| v - first)),
                    own.collides,
                );
            }
        }
        old.list[body].vertices.clone()
    }

    /// All bodies in order.
    pub fn list(&self) -> &[Body] {
        &self.list
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Changes with whom a body may collide.
    pub fn set_collides(&mut self, body: usize, collides: Collides) {
        self.list[body].collides = collides;
    }

    /// Whether two bodies may collide, or a body with itself.
    pub fn may_collide(&self, a: usize, b: usize) -> bool {
        let (first, second) = (&self.list[a].collides, &self.list[b].collides);
        if a == b { first.itself() } else { first.with(second) }
    }

    /// How many vertices all bodies have.
    pub fn vertex_count(&self) -> usize {
        self.body_of_vertex.len()
    }

    /// The surface edges of all bodies.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// The surface triangles of all bodies.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The tetrahedra of all bodies.
    pub fn tetrahedra(&self) -> &[[u32; 4]] {
        &self.tetrahedra
    }

    /// The body that a primitive with this corner belongs to.
    pub fn body_of(&self, corner: u32) -> usize {
        self.body_of_vertex[corner as usize] as usize
    }

    /// A number that changes whenever a body is added, replaced or removed. Lists of bodies with the same number have the
    /// same vertices and primitives; their collision filters may differ.
    pub fn topology(&self) -> u64 {
        self.topology
    }

    fn topology_changed(&mut self) {
        self.topology = new_revision();
        self.facts = TopologyFacts::new(self.list.len());
    }

    /// The box around each body.
    pub fn bounds<R: Real>(&self, positions: &[Vector3<R>], boxes: &mut Vec<Bounds<R>>) {
        boxes.clear();
        boxes.extend(
            self.list
                .iter()
                .map(|body| Bounds::of(positions[body.vertices.clone()].iter().copied())),
        );
    }
}

/// A number that no other call in this program returns. It only ever tells whether something is the same as before; nothing
/// depends on its value.
pub(crate) fn new_revision() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

fn append<const N: usize>(
    all: &mut Vec<[u32; N]>,
    new: impl Iterator<Item = [u32; N]>,
    first: usize,
) -> Range<usize> {
    let start = all.len();
    all.extend(new.map(|corners| corners.map(|corner| corner + first as u32)));
    start..all.len()
}

fn cut<const N: usize>(all: &mut Vec<[u32; N]>, range: &Range<usize>, vertices: usize) {
    all.drain(range.clone());
    for corner in all[range.start..].iter_mut().flatten() {
        *corner -= vertices as u32;
    }
}
