//! Consistent penetration depth (THESIS chapter 6).

use std::ops::Range;

use rayon::prelude::*;

use super::surfaces::{Scratch, Surface, Surfaces, unit};
use crate::contact::{Anchor, CollidingPoint, CollidingPoints, Contact, Contacts, Source};
use crate::detect::check_positions;
use crate::error::DetectError;
use crate::math::{Real, Vector3};
use crate::mesh::{Edges, Rows};
use crate::state::Bodies;

/// Points of one piece of work for a thread.
const CHUNK: usize = 256;

/// Where the direction at a crossing comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Normals {
    /// The triangle that is crossed.
    #[default]
    Flat,
    /// The corners of that triangle, blended: smooth surfaces of coarse bodies.
    Interpolated,
}

/// What may be chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// Where the direction at a crossing comes from.
    pub normals: Normals,
    /// A point that is nearer to the surface than this share of its shortest edge that leaves the body takes the
    /// nearest point of the surface, if all those edges go through the triangle of that point: all normals that would
    /// be averaged are then the same. Zero: never.
    pub resting: f64,
}

impl Default for Parameters {
    /// Flat normals; resting below a tenth.
    fn default() -> Self {
        Self { normals: Normals::Flat, resting: 0.1 }
    }
}

/// What the last call did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Colliding points.
    pub points: usize,
    /// Those with a neighbour outside.
    pub border_points: usize,
    /// Those of them that took the nearest point of the surface.
    pub resting: usize,
    /// Edges that were cut with the surface.
    pub crossings: usize,
    /// How often depths were handed on.
    pub rounds: usize,
    /// Points that no way leads to from the border.
    pub enclosed: usize,
}

/// Points of one body in another that no way along edges leads to from a point with a neighbour outside. Their depth is
/// not known: not zero. [`WayOut`](super::WayOut) is a way out for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enclosed {
    /// The body whose points they are, and the one they are in.
    pub bodies: [u32; 2],
    /// Which of [`ConsistentDepth::enclosed_points`].
    pub points: Range<usize>,
    /// Whether all vertices of the body are among them.
    pub whole: bool,
}

/// What is known about a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<R: Real> {
    /// The round in which it became known: zero at the border.
    round: u32,
    source: Source,
    pub depth: R,
    pub direction: Vector3<R>,
    pub confidence: R,
    /// The triangle of the body it is in that speaks most for it, with weights.
    pub surface: Anchor<R>,
    crossings: u32,
    resting: bool,
}

const UNKNOWN: u32 = u32::MAX;

/// Finds consistent penetration depths of points in bodies, in four stages (THESIS 6.1).
///
/// The points are given (stage one). Those with a neighbour outside of the body are at its border: each edge to such a
/// neighbour is cut with the surface, where it leaves it for the last time (two). Depth and direction of a border point
/// are means over these cuts with the weights 1/d² (three), and all other points get theirs from their neighbours,
/// from the border inwards (four). Which points are neighbours is told by the edges of tetrahedra, or of the surface if
/// there are none.
///
/// Outcomes where the formulas of the thesis say nothing:
/// - A cut at the very place of a point has endless weight: the point has the depth zero there, and the mean of the
///   directions of all such cuts. A neighbour at the very place of a point hands on what it has.
/// - Directions that cancel: the one with the largest weight is taken (of several the first), and the confidence is
///   zero.
/// - A mean that would put the point outside is the depth zero, with the confidence zero.
/// - An edge to a neighbour outside that cuts nothing (possible if a detector that samples found the points) does not
///   count. A point without any cut gets its depth from its neighbours.
/// - Points that no way leads to are [`Enclosed`] and get no contact.
///
/// It keeps its memory from call to call. Results are the same bits for any number of threads.
#[derive(Debug, Default)]
pub struct ConsistentDepth<R: Real> {
    parameters: Parameters,
    statistics: Statistics,
    topology: u64,
    neighbours: Option<Rows>,
    around: Option<Rows>,
    surfaces: Surfaces<R>,
    /// For each vertex the first of its colliding points, plus one.
    entries: Vec<u32>,
    known: Vec<Option<Known<R>>>,
    scratches: Vec<Scratch<R>>,
    front: Vec<u32>,
    next: Vec<u32>,
    found: Vec<Option<Known<R>>>,
    enclosed: Vec<Enclosed>,
    enclosed_points: Vec<CollidingPoint<R>>,
}

impl<R: Real> ConsistentDepth<R> {
    /// With parameters of one's own.
    pub fn with(parameters: Parameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// What the last call did.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The points without a depth, body by body.
    pub fn enclosed(&self) -> &[Enclosed] {
        &self.enclosed
    }

    /// The points that [`enclosed`](Self::enclosed) is about.
    pub fn enclosed_points(&self) -> &[CollidingPoint<R>] {
        &self.enclosed_points
    }

    /// Fills in a contact for each of the points that are not enclosed; `contacts` is overwritten.
    pub fn find(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        points: &CollidingPoints<R>,
        contacts: &mut Contacts<R>,
    ) -> Result<(), DetectError> {
        check_positions(bodies, positions)?;
        self.prepare(bodies);
        let points = points.list();
        self.surfaces.update(bodies, positions, points.iter().map(|point| point.body));
        for (number, point) in points.iter().enumerate().rev() {
            self.entries[point.vertex as usize] = number as u32 + 1;
        }
        self.statistics = Statistics { points: points.len(), ..Statistics::default() };
        self.ask_surface(bodies, positions, points);
        self.hand_on(positions, points);
        self.fill(bodies, positions, points, contacts);
        points.iter().for_each(|point| self.entries[point.vertex as usize] = 0);
        Ok(())
    }

    /// Finds out who is next to whom, once for each list of bodies.
    fn prepare(&mut self, bodies: &Bodies) {
        let count = bodies.vertex_count();
        if self.topology != bodies.topology() {
            self.topology = bodies.topology();
            self.neighbours = None;
            self.around = None;
            self.entries.clear();
            self.entries.resize(count, 0);
        }
        self.neighbours.get_or_insert_with(|| {
            let solid = Edges::of_tetrahedra(count, bodies.tetrahedra());
            let surfaces = bodies.list().iter().filter(|body| body.tetrahedra.is_empty());
            let edges = surfaces.flat_map(|body| &bodies.edges()[body.edges.clone()]);
            let all = solid.ends().iter().chain(edges);
            Rows::collect(count, || all.clone().flat_map(|&[a, b]| [(a, b), (b, a)]))
        });
        if self.parameters.normals == Normals::Interpolated {
            self.around.get_or_insert_with(|| {
                let triangles = bodies.triangles();
                let corners = || (0u32..).zip(triangles).flat_map(|(t, c)| c.map(|v| (v, t)));
                Rows::collect(count, corners)
            });
        }
    }

    /// Stages two and three.
    fn ask_surface(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        points: &[CollidingPoint<R>],
    ) {
        self.known.clear();
        self.known.resize(points.len(), None);
        let Some(neighbours) = &self.neighbours else { return };
        let border = Border {
            bodies,
            positions,
            neighbours,
            colliding: Colliding { points, entries: &self.entries },
            surfaces: &self.surfaces,
            around: self.around.as_ref(),
            parameters: self.parameters,
        };
        let chunks = points.len().div_ceil(CHUNK);
        if self.scratches.len() < chunks {
            self.scratches.resize_with(chunks, Scratch::default);
        }
        let work = |((known, points), scratch): (
            (&mut [Option<Known<R>>], &[CollidingPoint<R>]),
            &mut Scratch<R>,
        )| {
            for (known, point) in known.iter_mut().zip(points) {
                *known = border.point(point, scratch);
            }
        };
        let scratches = &mut self.scratches[..chunks];
        if chunks <= 1 || rayon::current_num_threads() == 1 {
            self.known.chunks_mut(CHUNK).zip(points.chunks(CHUNK)).zip(scratches).for_each(work);
        } else {
            let known = self.known.par_chunks_mut(CHUNK);
            known.zip(points.par_chunks(CHUNK)).zip(scratches).for_each(work);
        }
        self.front.clear();
        for (number, known) in (0u32..).zip(&self.known) {
            if let Some(known) = known {
                self.front.push(number);
                self.statistics.crossings += known.crossings as usize;
                self.statistics.resting += usize::from(known.resting);
            }
        }
        self.statistics.border_points = self.front.len();
    }

    /// Stage four.
    fn hand_on(&mut self, positions: &[Vector3<R>], points: &[CollidingPoint<R>]) {
        let Some(neighbours) = &self.neighbours else { return };
        let colliding = Colliding { points, entries: &self.entries };
        let mut round = 0;
        while !self.front.is_empty() {
            round += 1;
            self.next.clear();
            for &number in &self.front {
                let own = &points[number as usize];
                for &neighbour in neighbours.row(own.vertex as usize) {
                    let Some(other) = colliding.find(neighbour, own.body) else { continue };
                    let slot = &mut self.known[other as usize];
                    if slot.is_none() {
                        // Taken, but not known yet.
                        *slot = Some(Known { round: UNKNOWN, ..Known::nothing() });
                        self.next.push(other);
                    }
                }
            }
            let known = &self.known;
            let hand_on = |&number: &u32| {
                let own = &points[number as usize];
                let around = neighbours.row(own.vertex as usize).iter().filter_map(|&neighbour| {
                    let other = colliding.find(neighbour, own.body)?;
                    let other = known[other as usize].as_ref()?;
                    (other.round != UNKNOWN).then_some((positions[neighbour as usize], other))
                });
                from_neighbours(positions[own.vertex as usize], around, round)
            };
            self.found.clear();
            if self.next.len() < 4 * CHUNK || rayon::current_num_threads() == 1 {
                self.found.extend(self.next.iter().map(hand_on));
            } else {
                self.found.par_extend(self.next.par_iter().with_min_len(CHUNK).map(hand_on));
            }
            for (&number, found) in self.next.iter().zip(&self.found) {
                self.known[number as usize] = *found;
            }
            std::mem::swap(&mut self.front, &mut self.next);
        }
        self.statistics.rounds = round.saturating_sub(1) as usize;
    }

    fn fill(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        points: &[CollidingPoint<R>],
        contacts: &mut Contacts<R>,
    ) {
        contacts.clear();
        self.enclosed.clear();
        self.enclosed_points.clear();
        for (point, known) in points.iter().zip(&self.known) {
            let Some(known) = known else {
                self.enclosed_points.push(*point);
                continue;
            };
            contacts.push(Contact {
                bodies: [bodies.body_of(point.vertex) as u32, point.body],
                first: Anchor::vertex(point.vertex),
                second: point.inside.unwrap_or(known.surface),
                position: positions[point.vertex as usize],
                direction: known.direction,
                depth: known.depth,
                volume: R::zero(),
                area: R::zero(),
                confidence: known.confidence,
                source: known.source,
            });
        }
        self.statistics.enclosed = self.enclosed_points.len();
        let pair = |point: &CollidingPoint<R>| [bodies.body_of(point.vertex) as u32, point.body];
        self.enclosed_points.sort_unstable_by_key(|point| (pair(point), point.vertex));
        let mut start = 0;
        for group in self.enclosed_points.chunk_by(|a, b| pair(a) == pair(b)) {
            let bodies_of = pair(&group[0]);
            let whole = group.len() == bodies.list()[bodies_of[0] as usize].vertices.len();
            let points = start..start + group.len();
            start = points.end;
            self.enclosed.push(Enclosed { bodies: bodies_of, points, whole });
        }
    }
}

/// Which vertices are in which bodies.
#[derive(Clone, Copy)]
struct Colliding<'a, R: Real> {
    points: &'a [CollidingPoint<R>],
    entries: &'a [u32],
}

impl<R: Real> Colliding<'_, R> {
    /// The number of the point that a vertex in a body is.
    #[inline(always)]
    fn find(&self, vertex: u32, body: u32) -> Option<u32> {
        let mut number = self.entries[vertex as usize].checked_sub(1)?;
        loop {
            let point = self.points.get(number as usize).filter(|point| point.vertex == vertex)?;
            if point.body == body {
                return Some(number);
            }
            number += 1;
        }
    }
}

/// What stages two and three read.
struct Border<'a, R: Real> {
    bodies: &'a Bodies,
    positions: &'a [Vector3<R>],
    neighbours: &'a Rows,
    colliding: Colliding<'a, R>,
    surfaces: &'a Surfaces<R>,
    around: Option<&'a Rows>,
    parameters: Parameters,
}

impl<R: Real> Border<'_, R> {
    /// Depth and direction of a point, if an edge leads from it out of the body.
    fn point(&self, point: &CollidingPoint<R>, scratch: &mut Scratch<R>) -> Option<Known<R>> {
        let outside = || {
            let all = self.neighbours.row(point.vertex as usize).iter().copied();
            all.filter(|&other| self.colliding.find(other, point.body).is_none())
        };
        outside().next()?;
        let surface = self.surfaces.of(self.bodies, self.positions, point.body)?;
        if self.parameters.resting > 0.0
            && let Some(known) = self.resting(point, outside(), &surface, scratch)
        {
            return Some(known);
        }
        let place = self.positions[point.vertex as usize];
        let mut mean = Mean::new();
        let mut crossings = 0;
        for other in outside() {
            let end = self.positions[other as usize];
            let but = self.own_vertices(point, other);
            let Some((triangle, crossing)) = surface.last_crossing([place, end], but, scratch)
            else {
                continue;
            };
            crossings += 1;
            let Some(normal) =
                self.normal(&surface, triangle, crossing.weights, point.body, end - place)
            else {
                continue;
            };
            let to_crossing = (end - place) * crossing.parameter;
            let anchor = Anchor::of(surface.triangle(triangle), crossing.weights);
            mean.add(to_crossing.norm_squared(), to_crossing.dot(&normal), normal, anchor);
        }
        mean.known(Source::Border, 0).map(|known| Known { crossings, ..known })
    }

    /// The vertices whose triangles an edge may not be cut with: its own, where a body meets itself.
    fn own_vertices(&self, point: &CollidingPoint<R>, other: u32) -> [u32; 2] {
        if self.bodies.body_of(point.vertex) as u32 == point.body {
            [point.vertex, other]
        } else {
            [u32::MAX; 2]
        }
    }

    /// The normal at a crossing, turned so that the way leads out.
    fn normal(
        &self,
        surface: &Surface<R>,
        triangle: u32,
        weights: [R; 3],
        body: u32,
        way: Vector3<R>,
    ) -> Option<Vector3<R>> {
        let flat = unit(surface.area_normal(triangle))?;
        let turn = if flat.dot(&way) < R::zero() { -R::one() } else { R::one() };
        let Some(around) = self.around else { return Some(flat * turn) };
        let first = self.bodies.list()[body as usize].triangles.start as u32;
        let blend = surface.triangle(triangle).iter().zip(weights).fold(
            Vector3::zeros(),
            |sum, (&corner, weight)| {
                let own = around.row(corner as usize).iter();
                let normal =
                    own.fold(Vector3::zeros(), |sum, &t| sum + surface.area_normal(t - first));
                sum + unit(normal).unwrap_or(flat) * weight
            },
        );
        Some(unit(blend).unwrap_or(flat) * turn)
    }

    /// The nearest point of the surface, where it is certain to be what the mean over all crossings would give: very near
    /// to the point, on a triangle that all edges to the outside go through.
    fn resting(
        &self,
        point: &CollidingPoint<R>,
        outside: impl Iterator<Item = u32> + Clone,
        surface: &Surface<R>,
        scratch: &mut Scratch<R>,
    ) -> Option<Known<R>> {
        if self.around.is_some() || self.bodies.body_of(point.vertex) as u32 == point.body {
            return None;
        }
        let place = self.positions[point.vertex as usize];
        let ways = outside.map(|other| self.positions[other as usize] - place);
        let shortest = ways.clone().map(|way| way.norm_squared()).reduce(|a, b| a.min(b))?.sqrt();
        let within = shortest * R::nearest(self.parameters.resting);
        let nearest = surface.nearest(place, within, &mut scratch.visit)?;
        let normal = unit(surface.area_normal(nearest.triangle))?;
        let corners =
            surface.triangle(nearest.triangle).map(|c| self.positions[c as usize] - place);
        let height = corners[0].dot(&normal);
        // The foot of the point is within the triangle, and so is where each edge leaves.
        let within_triangle = |way: Vector3<R>| {
            let [a, b, c] = corners;
            let (p, q, r) = (a.cross(&b).dot(&way), b.cross(&c).dot(&way), c.cross(&a).dot(&way));
            p > R::zero() && q > R::zero() && r > R::zero()
        };
        let leaves = |way: Vector3<R>| way.dot(&normal) > height && within_triangle(way);
        if height <= R::zero() || !within_triangle(normal) || !ways.clone().all(leaves) {
            return None;
        }
        Some(Known {
            round: 0,
            source: Source::Border,
            depth: height,
            direction: normal,
            confidence: R::one(),
            surface: Anchor::of(surface.triangle(nearest.triangle), nearest.weights),
            crossings: 0,
            resting: true,
        })
    }
}

/// Depth and direction from neighbours that have theirs (6.5 to 6.8).
fn from_neighbours<'a, R: Real>(
    place: Vector3<R>,
    around: impl Iterator<Item = (Vector3<R>, &'a Known<R>)>,
    round: u32,
) -> Option<Known<R>> {
    let mut mean = Mean::new();
    for (neighbour, known) in around {
        let way = neighbour - place;
        let depth = way.dot(&known.direction) + known.depth;
        mean.add(way.norm_squared(), depth, known.direction, known.surface);
    }
    mean.known(Source::Propagated, round)
}

/// A mean with the weights 1/d².
pub(super) struct Mean<R: Real> {
    weights: R,
    depth: R,
    direction: Vector3<R>,
    /// The smallest square of a distance, and what is there.
    nearest: R,
    direction_there: Vector3<R>,
    anchor: Option<Anchor<R>>,
}

impl<R: Real> Mean<R> {
    pub fn new() -> Self {
        Self {
            weights: R::zero(),
            depth: R::zero(),
            direction: Vector3::zeros(),
            nearest: R::nearest(f64::INFINITY),
            direction_there: Vector3::zeros(),
            anchor: None,
        }
    }

    /// Adds what something at the square of a distance says.
    #[inline(always)]
    pub fn add(&mut self, square: R, depth: R, direction: Vector3<R>, anchor: Anchor<R>) {
        // At the very place the weight is endless: all others count for nothing.
        let here = R::nearest(1024.0) / R::max_value().unwrap_or(R::one());
        if square <= here && self.nearest > here {
            *self = Self::new();
        }
        if square < self.nearest {
            self.nearest = square;
            self.direction_there = direction;
            self.anchor = Some(anchor);
        }
        let weight = match (square <= here, self.nearest <= here) {
            (true, _) => R::one(),
            (false, true) => return,
            (false, false) => R::one() / square,
        };
        self.weights += weight;
        self.depth += weight * depth;
        self.direction += direction * weight;
    }

    pub fn known(self, source: Source, round: u32) -> Option<Known<R>> {
        let surface = self.anchor?;
        let mean = self.direction / self.weights;
        let agreement = mean.norm();
        let depth = self.depth / self.weights;
        let cancel = R::nearest(1e-6);
        let (direction, mut confidence) = match unit(mean) {
            Some(direction) if agreement > cancel => (direction, agreement.min(R::one())),
            _ => (self.direction_there, R::zero()),
        };
        if depth < R::zero() {
            confidence = R::zero();
        }
        let depth = depth.max(R::zero());
        Some(Known { round, source, depth, direction, confidence, surface, ..Known::nothing() })
    }
}

impl<R: Real> Known<R> {
    fn nothing() -> Self {
        Self {
            round: 0,
            source: Source::Border,
            depth: R::zero(),
            direction: Vector3::zeros(),
            confidence: R::zero(),
            surface: Anchor::vertex(0),
            crossings: 0,
            resting: false,
        }
    }
}
