//! Which primitives may come near each other: those of bodies that have moved, with all.

use fearless_simd::Level;

use super::blocks::Blocks;
use super::stencil::{squared_between_edges, squared_to_triangle};
use super::surfaces::Surfaces;
use super::travel::Travel;
use super::{APART, Candidate};
use crate::detect::bvh::{BoundingBox, BoundingVolume};
use crate::math::{Bounds, Real, Vector3};
use crate::state::Bodies;

/// What is read.
pub(super) struct Work<'a, R: Real> {
    pub bodies: &'a Bodies,
    pub travel: &'a Travel<R>,
    pub rest: &'a [Vector3<R>],
    pub surfaces: &'a Surfaces,
    /// For each body the edges that stand out.
    pub ridges: &'a [Vec<u32>],
    pub thickness: R,
    pub skins: &'a [R],
}

/// Memory.
#[derive(Debug)]
pub(super) struct Listing<R: Real> {
    level: Level,
    /// Boxes around the expected ways of vertices, grown by what they may stray and half of the thickness.
    around: Vec<BoundingBox<R>>,
    parts: Vec<Part<R>>,
    blocks: Vec<u32>,
    found: Vec<[u32; 2]>,
}

/// The primitives of a body with their boxes.
#[derive(Debug, Default)]
struct Part<R: Real> {
    /// Whether the boxes are of this list.
    filled: bool,
    points: Vec<(u32, BoundingBox<R>)>,
    ridges: Vec<(u32, BoundingBox<R>)>,
    triangles: Blocks<R>,
    edges: Blocks<R>,
}

impl<R: Real> Default for Listing<R> {
    fn default() -> Self {
        Self { level: Level::new(), around: vec![], parts: vec![], blocks: vec![], found: vec![] }
    }
}

impl<R: Real> Listing<R> {
    /// Begins a list. Returns for each body the box around its expected motion.
    pub fn begin(&mut self, work: &Work<R>) -> impl Iterator<Item = Bounds<R>> {
        self.parts.resize_with(work.bodies.len(), Part::default);
        self.parts.iter_mut().for_each(|part| part.filled = false);
        self.around.clear();
        for (body, own) in work.bodies.list().iter().enumerate() {
            self.around.extend(own.vertices.clone().map(|vertex| work.around(body, vertex)));
        }
        work.bodies.list().iter().map(|body| {
            let around = self.around[body.vertices.clone()].iter();
            around.fold(BoundingBox::empty(), |all, around| all.union(*around)).bounds()
        })
    }

    /// Adds all pairs of two bodies, or of one with itself.
    pub fn pair(
        &mut self,
        work: &Work<R>,
        [a, b]: [usize; 2],
        on_points: &mut Vec<Candidate<R>>,
        on_edges: &mut Vec<Candidate<R>>,
    ) {
        self.fill(work, a);
        self.fill(work, b);
        self.points(work, [a, b], on_points);
        if a != b {
            self.points(work, [b, a], on_points);
        }
        self.edges(work, [a, b], on_edges);
    }

    fn fill(&mut self, work: &Work<R>, body: usize) {
        let Self { around, parts, .. } = self;
        let part = &mut parts[body];
        if std::mem::replace(&mut part.filled, true) {
            return;
        }
        let of = |vertex: u32| around[vertex as usize];
        let Surfaces { points, triangles, .. } = work.surfaces;
        part.points.clear();
        part.points.extend(points[body].iter().map(|&point| (point, of(point))));
        part.triangles.fill(triangles[body].iter().map(|&triangle| {
            let [a, b, c] = work.bodies.triangles()[triangle as usize].map(of);
            (triangle, a.union(b).union(c))
        }));
        part.ridges.clear();
        part.ridges.extend(work.ridges[body].iter().map(|&edge| {
            let [a, b] = work.bodies.edges()[edge as usize].map(of);
            (edge, a.union(b))
        }));
        part.edges.fill(part.ridges.iter().copied());
    }

    /// Points of one body near triangles of another.
    fn points(&mut self, work: &Work<R>, [own, other]: [usize; 2], out: &mut Vec<Candidate<R>>) {
        let Self { level, parts, blocks, found, .. } = self;
        found.clear();
        parts[other].triangles.meeting(*level, &parts[own].points, blocks, found);
        for &[point, triangle] in &*found {
            let corners = work.bodies.triangles()[triangle as usize];
            if work.point_is_near([own, other], point, corners) {
                out.push(Candidate::new([point, triangle], [own as u32, other as u32]));
            }
        }
    }

    fn edges(&mut self, work: &Work<R>, [a, b]: [usize; 2], out: &mut Vec<Candidate<R>>) {
        let Self { level, parts, blocks, found, .. } = self;
        found.clear();
        parts[b].edges.meeting(*level, &parts[a].ridges, blocks, found);
        for &[first, second] in &*found {
            // In a body each pair is met twice.
            if a == b && first >= second {
                continue;
            }
            let [one, two] = [first, second].map(|edge| work.bodies.edges()[edge as usize]);
            if work.edges_are_near([a, b], one, two) {
                out.push(Candidate::new([first, second], [a as u32, b as u32]));
            }
        }
    }
}

impl<R: Real> Candidate<R> {
    fn new(pair: [u32; 2], bodies: [u32; 2]) -> Self {
        Self { pair, bodies, due: 0.0, stencil: None }
    }
}

impl<R: Real> Work<'_, R> {
    /// The box around a vertex of a body on its expected way, grown by half of the thickness and by how far it may stray.
    #[inline]
    fn around(&self, body: usize, vertex: usize) -> BoundingBox<R> {
        let start = self.travel.expected[vertex];
        let end = start + self.travel.speeds[vertex] * self.travel.left[body];
        let margin = Vector3::repeat(self.thickness * R::nearest(0.5) + self.skins[body]);
        let ends = [start.inf(&end) - margin, start.sup(&end) + margin];
        BoundingBox::of(ends.into_iter(), R::zero())
    }

    /// Half of the time for which two bodies are both expected to go on.
    #[inline]
    fn half_way(&self, body: usize, other: usize) -> R {
        self.travel.left[body].min(self.travel.left[other]) * R::nearest(0.5)
    }

    /// Where a vertex is expected after some time.
    #[inline]
    fn place(&self, vertex: u32, time: R) -> Vector3<R> {
        self.travel.expected[vertex as usize] + self.travel.speeds[vertex as usize] * time
    }

    /// The square of the fastest that a corner of one comes towards or leaves a corner of the other.
    #[inline]
    fn fastest(&self, one: &[u32], other: &[u32]) -> R {
        let speed = |corner: &u32| self.travel.speeds[*corner as usize];
        let all = one.iter().flat_map(|a| other.iter().map(move |b| speed(a) - speed(b)));
        all.fold(R::zero(), |most, way| most.max(way.norm_squared()))
    }

    /// How near primitives of two bodies may be on their expected ways and still come nearer than the thickness.
    #[inline]
    fn reach(&self, a: usize, b: usize) -> R {
        self.thickness + self.skins[a] + self.skins[b]
    }

    #[inline]
    fn point_is_near(&self, [body, other]: [usize; 2], point: u32, corners: [u32; 3]) -> bool {
        let own = body == other;
        if own && (corners.contains(&point) || self.neighbours(&[point], &corners)) {
            return false;
        }
        // Both are as near half of the way as they get, but for how fast they come towards or leave each other.
        let half = self.half_way(body, other);
        let reach = self.reach(body, other) + self.fastest(&[point], &corners).sqrt() * half;
        let place = |vertex: u32| self.place(vertex, half);
        let rest = |vertex: u32| self.rest[vertex as usize];
        squared_to_triangle(place(point), corners.map(place)) <= reach * reach
            && !(own && squared_to_triangle(rest(point), corners.map(rest)) <= self.near_at_rest())
    }

    /// What is nearer than the root of this in a body at rest does not collide with itself.
    #[inline]
    fn near_at_rest(&self) -> R {
        let apart = self.thickness * R::nearest(APART);
        apart * apart
    }

    /// Whether a corner of one is near a corner of the other at rest: most neighbours are told so, and quickly.
    #[inline]
    fn neighbours(&self, one: &[u32], other: &[u32]) -> bool {
        let rest = |corner: &u32| self.rest[*corner as usize];
        let square = self.near_at_rest();
        one.iter().any(|a| other.iter().any(|b| (rest(a) - rest(b)).norm_squared() <= square))
    }

    #[inline]
    fn edges_are_near(&self, [body, other]: [usize; 2], one: [u32; 2], two: [u32; 2]) -> bool {
        let own = body == other;
        let joined = || one.iter().any(|end| two.contains(end));
        if own && (joined() || self.neighbours(&one, &two)) {
            return false;
        }
        let half = self.half_way(body, other);
        let reach = self.reach(body, other) + self.fastest(&one, &two).sqrt() * half;
        let place = |vertex: u32| self.place(vertex, half);
        let rest = |vertex: u32| self.rest[vertex as usize];
        squared_between_edges(one.map(place), two.map(place)) <= reach * reach
            && !(own && squared_between_edges(one.map(rest), two.map(rest)) <= self.near_at_rest())
    }
}
