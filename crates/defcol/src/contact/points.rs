//! Which points are inside which bodies: where every depth begins.

use crate::broad::BroadPhase;
use crate::detect::ldi::{ExactPoints, SelfOverlap, Shell};
use crate::detect::{Hits, check_positions};
use crate::error::DetectError;
use crate::math::{Bounds, Real, Vector3};
use crate::state::Bodies;

use super::Anchor;

/// A vertex in a body, of which it is no part or in which it is a second time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollidingPoint<R> {
    /// The vertex, in the numbering of all bodies.
    pub vertex: u32,
    /// The body it is in.
    pub body: u32,
    /// The tetrahedron it is in, if that is known: its corners with weights.
    pub inside: Option<Anchor<R>>,
}

/// All vertices that are in bodies, by any detector, in ascending order of the vertex and then of the body.
#[derive(Debug, Default)]
pub struct CollidingPoints<R: Real> {
    list: Vec<CollidingPoint<R>>,
    exact: ExactPoints,
    own: SelfOverlap,
    broad: BroadPhase<R>,
    candidates: Vec<u32>,
    places: Vec<Vector3<R>>,
    inside: Vec<bool>,
}

impl<R: Real> CollidingPoints<R> {
    /// All of them.
    pub fn list(&self) -> &[CollidingPoint<R>] {
        &self.list
    }

    /// Takes vertices and bodies from elsewhere, in any order.
    pub fn set(&mut self, points: impl IntoIterator<Item = (u32, u32)>) {
        self.list.clear();
        self.list.extend(points.into_iter().map(|(vertex, body)| CollidingPoint {
            vertex,
            body,
            inside: None,
        }));
        self.sort();
    }

    /// Checks that all vertices and bodies exist.
    pub(super) fn check(&self, bodies: &Bodies) -> Result<(), DetectError> {
        let (vertices, count) = (bodies.vertex_count(), bodies.len());
        let wrong =
            |p: &&CollidingPoint<R>| p.vertex as usize >= vertices || p.body as usize >= count;
        self.list.iter().find(wrong).map_or(Ok(()), |point| {
            Err(DetectError::NoSuchPoint { vertex: point.vertex, body: point.body })
        })
    }

    /// Collects the vertices that a detector found in tetrahedra.
    ///
    /// # Panics
    /// If the hits are of other bodies, here and below.
    pub fn collect_hits(&mut self, bodies: &Bodies, hits: &Hits<R>) {
        self.list.clear();
        self.add_hits(bodies, hits);
        self.sort();
    }

    /// Collects the vertices that a detector found in tetrahedra, and finds those inside closed surfaces of bodies without
    /// tetrahedra: of other bodies and, with self-collision, of the same body. Exact. An open surface has no inside:
    /// nothing is in it, but its vertices may be in others. Vertices that belong to no primitive do not collide.
    pub fn collect(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        hits: &Hits<R>,
    ) -> Result<(), DetectError> {
        self.list.clear();
        check_positions(bodies, positions)?;
        let mut broad = std::mem::take(&mut self.broad);
        broad.update(bodies, positions);
        let surface = |_: usize, body: usize| is_surface(bodies, body);
        let done = self.collect_where(bodies, positions, &broad, hits, surface);
        self.broad = broad;
        done
    }

    /// As [`collect`](Self::collect), with the bodies to test as closed surfaces chosen per pair: `as_surface(a, b)` decides
    /// it for vertices of body `a` in body `b`. Hits of a detector in such bodies are ignored. `broad` must have been
    /// updated with the same bodies and positions.
    pub(crate) fn collect_where(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        broad: &BroadPhase<R>,
        hits: &Hits<R>,
        as_surface: impl Fn(usize, usize) -> bool,
    ) -> Result<(), DetectError> {
        self.list.clear();
        check_positions(bodies, positions)?;
        self.add_hits(bodies, hits);
        self.list.retain(|p| !as_surface(bodies.body_of(p.vertex), p.body as usize));
        for pair in broad.pairs() {
            let [a, b] = pair.map(|body| body as usize);
            for [points, body] in [[a, b], [b, a]] {
                if as_surface(points, body) && bodies.is_closed(body) {
                    let around = &broad.boxes()[body];
                    self.add_points_in_surface(bodies, positions, around, points, body)?;
                }
            }
        }
        for body in 0..bodies.len() {
            if bodies.may_collide(body, body) && bodies.is_closed(body) && as_surface(body, body) {
                let shell = Shell::of_body(bodies, positions, body)?;
                let found = self.own.vertices(&shell)?.iter();
                self.list.extend(found.map(|&vertex| CollidingPoint {
                    vertex: vertex + shell.first(),
                    body: body as u32,
                    inside: None,
                }));
            }
        }
        self.list.retain(|point| bodies.is_used(point.vertex));
        self.sort();
        Ok(())
    }

    fn add_hits(&mut self, bodies: &Bodies, hits: &Hits<R>) {
        self.list.extend(hits.points.iter().map(|hit| {
            let corners = bodies.tetrahedra()[hit.tetrahedron as usize];
            CollidingPoint {
                vertex: hit.vertex,
                body: bodies.body_of(corners[0]) as u32,
                inside: Some(Anchor::of(corners, hit.weights)),
            }
        }));
    }

    fn add_points_in_surface(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        around: &Bounds<R>,
        points: usize,
        body: usize,
    ) -> Result<(), DetectError> {
        let vertices = bodies.list()[points].vertices.clone();
        self.candidates.clear();
        self.candidates.extend(
            vertices
                .filter(|&vertex| around.contains(positions[vertex]))
                .map(|vertex| vertex as u32),
        );
        self.places.clear();
        self.places.extend(self.candidates.iter().map(|&vertex| positions[vertex as usize]));
        let shell = Shell::of_body(bodies, positions, body)?;
        self.exact.contains(&shell, &self.places, &mut self.inside)?;
        let found = self.candidates.iter().zip(&self.inside).filter(|(_, inside)| **inside);
        self.list.extend(found.map(|(&vertex, _)| CollidingPoint {
            vertex,
            body: body as u32,
            inside: None,
        }));
        Ok(())
    }

    /// Sorts and keeps of each vertex in each body one; of several tetrahedra the first.
    fn sort(&mut self) {
        let key = |point: &CollidingPoint<R>| {
            let inside = point.inside.map_or([u32::MAX; 4], |anchor| anchor.vertices);
            (point.vertex, point.body, inside)
        };
        self.list.sort_unstable_by_key(key);
        self.list.dedup_by_key(|point| (point.vertex, point.body));
    }
}

/// Whether a body is a surface without tetrahedra.
fn is_surface(bodies: &Bodies, body: usize) -> bool {
    let own = &bodies.list()[body];
    own.tetrahedra.is_empty() && !own.triangles.is_empty()
}
