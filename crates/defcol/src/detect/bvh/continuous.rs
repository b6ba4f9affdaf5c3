//! Impacts of bodies that move: what is missed by looking at the beginning and the end only.

use std::ops::ControlFlow;

use fearless_simd::Simd;

use super::collider::Collider;
use super::descent::{Descent, LeafPairs};
use super::tree::Child;
use super::{BoundingBox, BoundingVolume};
use crate::detect::primitive::{ImpactSearch, ImpactWork};
use crate::math::{Real, Vector3};

/// Which primitives meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meeting {
    /// A vertex of the first body and a triangle of the second.
    VertexTriangle {
        /// The vertex.
        vertex: u32,
        /// The triangle.
        triangle: u32,
    },
    /// A triangle of the first body and a vertex of the second.
    TriangleVertex {
        /// The triangle.
        triangle: u32,
        /// The vertex.
        vertex: u32,
    },
    /// An edge of the first body and one of the second, each by its vertices, the smaller first.
    EdgeEdge {
        /// The edge of the first.
        first: [u32; 2],
        /// The edge of the second.
        second: [u32; 2],
    },
}

/// Two primitives that may meet on their way, and a time from 0 to 1 before which they do not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impact {
    /// Not after the true impact.
    pub time: f64,
    /// Which primitives.
    pub meeting: Meeting,
}

/// Finds the impacts of bodies on their way from one set of positions to the next; see [`Collider::set_motion`]. A
/// body without a motion stays where it is. Keeps its memory: use one for many calls.
///
/// No impact is missed. Some that are reported may be near misses: closer than a few millionths of the extent, or
/// [given up](ImpactWork::given_up).
///
/// ```
/// use defcol::detect::bvh::{Collider, ImpactFinder, Split};
/// use defcol::math::Vector3;
/// use defcol::mesh::TriangleMesh;
///
/// // A ball passes a thin wall within one step: it is on one side before and on the other after.
/// let ball = TriangleMesh::new(defcol_scenes::regular::icosphere(0.1, 2))?;
/// let wall = TriangleMesh::new(defcol_scenes::regular::icosphere(1.0, 2))?;
/// let shift = |x: f64| -> Vec<_> {
///     ball.positions().iter().map(|p| p + Vector3::new(x, 0.0, 0.0)).collect()
/// };
/// let flat: Vec<_> =
///     wall.positions().iter().map(|p| Vector3::new(0.001 * p.x, p.y, p.z)).collect();
/// let (mut bullet, mut wall) =
///     (Collider::<f64>::deforming(&ball, Split::default()), Collider::deforming(&wall, Split::default()));
/// wall.set_positions(&flat, Default::default())?;
/// bullet.set_positions(&shift(-2.0), Default::default())?;
/// bullet.set_motion(&shift(2.0))?;
///
/// let first = ImpactFinder::default().earliest(&mut bullet, &mut wall);
/// assert!(first.is_some_and(|impact| (impact.time - 1.9 / 4.0).abs() < 1e-2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ImpactFinder<R: Real, V: BoundingVolume<R> = BoundingBox<R>, const A: usize = 8> {
    descent: Descent<R, V, A>,
    search: ImpactSearch,
    work: ImpactWork,
}

impl<R: Real, V: BoundingVolume<R>, const A: usize> Default for ImpactFinder<R, V, A> {
    fn default() -> Self {
        Self {
            descent: Descent::default(),
            search: ImpactSearch::default(),
            work: ImpactWork::default(),
        }
    }
}

impl<R: Real, V: BoundingVolume<R>, const A: usize> ImpactFinder<R, V, A> {
    /// All impacts of two bodies, in ascending order of the primitives.
    pub fn all(
        &mut self,
        first: &mut Collider<R, V, A>,
        second: &mut Collider<R, V, A>,
        impacts: &mut Vec<Impact>,
    ) {
        impacts.clear();
        let Self { descent, search, .. } = self;
        descent.between(first, second, |first, second, [one, other]| {
            let leaves = [Moving::new(first, one, 0), Moving::new(second, other, 1)];
            each_meeting(&leaves, |meeting, path| {
                let time = meeting.time(search, path, 1.0);
                impacts.extend(time.map(|time| Impact { time, meeting }));
            });
            ControlFlow::Continue(())
        });
        self.finish(impacts);
    }

    /// The earliest impact of two bodies; of several at one time the one with the lowest numbers.
    pub fn earliest(
        &mut self,
        first: &mut Collider<R, V, A>,
        second: &mut Collider<R, V, A>,
    ) -> Option<Impact> {
        let mut best: Option<Impact> = None;
        let Self { descent, search, .. } = self;
        descent.between(first, second, |first, second, [one, other]| {
            let leaves = [Moving::new(first, one, 0), Moving::new(second, other, 1)];
            each_meeting(&leaves, |meeting, path| {
                let until = best.map_or(1.0, |best| best.time);
                let Some(time) = meeting.time(search, path, until) else { return };
                let before = |best: &Impact| (best.time, best.meeting) < (time, meeting);
                if !best.as_ref().is_some_and(before) {
                    best = Some(Impact { time, meeting });
                }
            });
            ControlFlow::Continue(())
        });
        self.work = self.search.take_work();
        best
    }

    /// All impacts of one body with itself, in ascending order of the primitives. Those of primitives that share a
    /// vertex are none.
    pub fn self_impacts(&mut self, body: &mut Collider<R, V, A>, impacts: &mut Vec<Impact>) {
        impacts.clear();
        let Self { descent, search, .. } = self;
        descent.self_pairs(body, &mut SelfImpacts { search, impacts });
        self.finish(impacts);
    }

    /// What the last call looked at.
    pub fn work(&self) -> ImpactWork {
        self.work
    }

    fn finish(&mut self, impacts: &mut [Impact]) {
        impacts.sort_unstable_by_key(|impact| impact.meeting);
        self.work = self.search.take_work();
    }
}

/// A triangle on its way.
struct Moving<R: Real> {
    name: u32,
    vertices: [u32; 3],
    paths: [[Vector3<R>; 2]; 3],
    /// Which corners (the lower three bits) and edges are not left to another triangle.
    owned: u8,
    body: u32,
}

/// Four points at the beginning and at the end.
type Path<R> = [[Vector3<R>; 4]; 2];

impl<R: Real> Moving<R> {
    fn new<V: BoundingVolume<R>, const A: usize>(
        collider: &mut Collider<R, V, A>,
        leaf: u32,
        body: u32,
    ) -> Self {
        let vertices = collider.triangles[leaf as usize];
        Self {
            name: collider.name(leaf),
            vertices,
            paths: vertices.map(|vertex| collider.path(vertex)),
            owned: collider.owned()[leaf as usize],
            body,
        }
    }

    fn owns_corner(&self, corner: usize) -> bool {
        self.owned >> corner & 1 == 1
    }

    fn owns_edge(&self, edge: usize) -> bool {
        self.owned >> (3 + edge) & 1 == 1
    }

    /// The ends of the edge that begins at a corner.
    fn edge(&self, corner: usize) -> [u32; 2] {
        [self.vertices[corner], self.vertices[(corner + 1) % 3]]
    }

    /// Whether a vertex of a body is a corner.
    fn has(&self, body: u32, vertex: u32) -> bool {
        self.body == body && self.vertices.contains(&vertex)
    }
}

/// Visits the primitives of two triangles that could meet, each pair of primitives once for all triangles they are in.
fn each_meeting<R: Real>([a, b]: &[Moving<R>; 2], mut visit: impl FnMut(Meeting, &Path<R>)) {
    let path =
        |paths: [&[Vector3<R>; 2]; 4]| [paths.map(|path| path[0]), paths.map(|path| path[1])];
    for (one, other) in [(a, b), (b, a)] {
        for corner in (0..3).filter(|&corner| one.owns_corner(corner)) {
            let (vertex, triangle) = (one.vertices[corner], other.name);
            if other.has(one.body, vertex) {
                continue;
            }
            let meeting = if one.body <= other.body {
                Meeting::VertexTriangle { vertex, triangle }
            } else {
                Meeting::TriangleVertex { triangle, vertex }
            };
            let [p, q, r] = &other.paths;
            visit(meeting, &path([&one.paths[corner], p, q, r]));
        }
    }
    for i in (0..3).filter(|&edge| a.owns_edge(edge)) {
        let ends = a.edge(i);
        for j in (0..3).filter(|&edge| b.owns_edge(edge)) {
            let others = b.edge(j);
            if a.body == b.body && ends.iter().any(|end| others.contains(end)) {
                continue;
            }
            let sorted = |[p, q]: [u32; 2]| [p.min(q), p.max(q)];
            let (mut first, mut second) = (sorted(ends), sorted(others));
            if a.body == b.body && second < first {
                std::mem::swap(&mut first, &mut second);
            }
            let meeting = Meeting::EdgeEdge { first, second };
            let paths = [&a.paths[i], &a.paths[(i + 1) % 3], &b.paths[j], &b.paths[(j + 1) % 3]];
            visit(meeting, &path(paths));
        }
    }
}

impl Meeting {
    /// When the primitives meet, if they do until some time.
    fn time<R: Real>(
        &self,
        search: &mut ImpactSearch,
        [start, end]: &Path<R>,
        until: f64,
    ) -> Option<f64> {
        match self {
            Self::EdgeEdge { .. } => search.edge_edge(*start, *end, until),
            _ => search.vertex_triangle(*start, *end, until),
        }
    }
}

/// Collects the impacts of a body with itself.
struct SelfImpacts<'a> {
    search: &'a mut ImpactSearch,
    impacts: &'a mut Vec<Impact>,
}

impl<R: Real, V: BoundingVolume<R>, const A: usize> LeafPairs<R, V, A> for SelfImpacts<'_> {
    fn meet<S: Simd>(
        &mut self,
        _simd: S,
        body: &mut Collider<R, V, A>,
        leaf: u32,
        node: u32,
        mut others: u32,
    ) {
        while others != 0 {
            let child = body.tree.child_in(node, others.trailing_zeros() as usize);
            others &= others - 1;
            let Child::Leaf(other) = child else { continue };
            let leaves = [Moving::new(body, leaf, 0), Moving::new(body, other, 0)];
            each_meeting(&leaves, |meeting, path| {
                let time = meeting.time(self.search, path, 1.0);
                self.impacts.extend(time.map(|time| Impact { time, meeting }));
            });
        }
    }
}

/// For each triangle the corners and edges that no triangle before it has: a bit each, corners first.
pub(super) fn owners(vertices: usize, triangles: &[[u32; 3]]) -> Vec<u8> {
    let mut owned = vec![0u8; triangles.len()];
    let mut seen = vec![false; vertices];
    let mut edges: Vec<([u32; 2], u32, u32)> = Vec::with_capacity(3 * triangles.len());
    for (number, triangle) in (0u32..).zip(triangles) {
        for corner in 0..3 {
            let [from, to] = [triangle[corner], triangle[(corner + 1) % 3]];
            if !std::mem::replace(&mut seen[from as usize], true) {
                owned[number as usize] |= 1 << corner;
            }
            edges.push(([from.min(to), from.max(to)], number, corner as u32));
        }
    }
    edges.sort_unstable();
    edges.dedup_by_key(|(edge, _, _)| *edge);
    for (_, number, corner) in edges {
        owned[number as usize] |= 8 << corner;
    }
    owned
}
