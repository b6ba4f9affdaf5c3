//! Which points are inside which bodies: where every depth begins.

use crate::broad::{Proxy, SweepAndPrune};
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
#[derive(Debug)]
pub struct CollidingPoints<R: Real> {
    list: Vec<CollidingPoint<R>>,
    exact: ExactPoints,
    own: SelfOverlap,
    sweep: SweepAndPrune<R>,
    boxes: Vec<Bounds<R>>,
    proxies: Vec<Proxy<R>>,
    candidates: Vec<u32>,
    places: Vec<Vector3<R>>,
    inside: Vec<bool>,
    /// For each body of a topology whether its surface is closed, and for each vertex whether it
    /// is a part of its body.
    topology: u64,
    closed: Vec<bool>,
    used: Vec<bool>,
}

impl<R: Real> Default for CollidingPoints<R> {
    fn default() -> Self {
        Self {
            list: vec![],
            exact: ExactPoints::default(),
            own: SelfOverlap::default(),
            sweep: SweepAndPrune::default(),
            boxes: vec![],
            proxies: vec![],
            candidates: vec![],
            places: vec![],
            inside: vec![],
            topology: 0,
            closed: vec![],
            used: vec![],
        }
    }
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
        self.in_order();
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

    /// Takes the vertices that a detector found in tetrahedra.
    ///
    /// # Panics
    /// If the hits are of other bodies, here and below.
    pub fn of_hits(&mut self, bodies: &Bodies, hits: &Hits<R>) {
        self.list.clear();
        self.add_hits(bodies, hits);
        self.in_order();
    }

    /// Takes the vertices that a detector found in tetrahedra, and finds those in closed surfaces that have none, of
    /// other bodies and, where that is wanted, of the same one. Without error. An open surface has no inside: nothing
    /// is in it, but its vertices may be in others. Vertices of a mesh that no primitive uses are no part of it.
    pub fn of_all(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        hits: &Hits<R>,
    ) -> Result<(), DetectError> {
        let surface = |_: usize, body: usize| is_surface(bodies, body);
        self.of_pairs(bodies, positions, hits, surface)
    }

    /// The same, but which bodies are looked at as closed surfaces is chosen: for a body whose vertices are looked for,
    /// and the one they are looked for in. Hits of a detector in such bodies do not count.
    pub fn of_pairs(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        hits: &Hits<R>,
        as_surface: impl Fn(usize, usize) -> bool,
    ) -> Result<(), DetectError> {
        self.list.clear();
        check_positions(bodies, positions)?;
        self.add_hits(bodies, hits);
        self.list.retain(|p| !as_surface(bodies.body_of(p.vertex), p.body as usize));
        let mut boxes = std::mem::take(&mut self.boxes);
        bodies.bounds(positions, &mut boxes);
        Proxy::collect(bodies, &boxes, &mut self.proxies);
        self.sweep.update(&self.proxies);
        if self.topology != bodies.topology() {
            self.closed.clear();
            for body in 0..bodies.len() {
                let closed = !bodies.list()[body].triangles.is_empty()
                    && Shell::of_body(bodies, positions, body)?.check_closed().is_ok();
                self.closed.push(closed);
            }
            self.used.clear();
            self.used.resize(bodies.vertex_count(), false);
            let corners = bodies.triangles().iter().flatten();
            for &corner in corners.chain(bodies.tetrahedra().iter().flatten()) {
                self.used[corner as usize] = true;
            }
            for body in bodies.list() {
                if body.triangles.is_empty() && body.tetrahedra.is_empty() {
                    self.used[body.vertices.clone()].fill(true);
                }
            }
            self.topology = bodies.topology();
        }
        for pair in 0..self.sweep.pairs().len() {
            let [a, b] = self.sweep.pairs()[pair].map(|body| body as usize);
            for [points, body] in [[a, b], [b, a]] {
                if !as_surface(points, body) {
                    continue;
                }
                self.add_points_in_surface(bodies, positions, &boxes[body], points, body)?;
            }
        }
        for body in 0..bodies.len() {
            if bodies.may_collide(body, body) && self.closed[body] && as_surface(body, body) {
                let shell = Shell::of_body(bodies, positions, body)?;
                let found = self.own.vertices(&shell)?.iter();
                self.list.extend(found.map(|&vertex| CollidingPoint {
                    vertex: vertex + shell.first(),
                    body: body as u32,
                    inside: None,
                }));
            }
        }
        self.boxes = boxes;
        let used = &self.used;
        self.list.retain(|point| used[point.vertex as usize]);
        self.in_order();
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
        if !self.closed[body] {
            return Ok(());
        }
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
    fn in_order(&mut self) {
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
