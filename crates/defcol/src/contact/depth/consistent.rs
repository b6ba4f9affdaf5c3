//! Consistent penetration depth (THESIS chapter 6).

use std::ops::Range;

use rayon::prelude::*;

use super::fan::{Cut, End, Fan, Meeting, Plane};
use super::surfaces::{Surface, Surfaces, unit};
use crate::contact::{Anchor, CollidingPoint, CollidingPoints, Contact, Contacts, Source};
use crate::detect::primitive::squared_distance_to_triangle;
use crate::detect::{check_positions, corners};
use crate::error::DetectError;
use crate::math::{Real, Vector3};
use crate::mesh::Rows;
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
pub struct DepthParameters {
    /// Where the direction at a crossing comes from.
    pub normals: Normals,
    /// A point that is nearer to the surface than this share of its shortest edge that leaves the body takes the
    /// nearest point of the surface, if all those edges go through the triangle of that point and through no other: all
    /// normals that would be averaged are then the same. Zero: never.
    pub resting: f64,
}

impl Default for DepthParameters {
    /// Flat normals; resting below a tenth.
    fn default() -> Self {
        Self { normals: Normals::Flat, resting: 0.1 }
    }
}

/// What the last call did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DepthStatistics {
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
    pub depth: f64,
    pub direction: Vector3<f64>,
    pub confidence: f64,
    /// The triangle of the body it is in that speaks most for it, with weights.
    pub surface: Anchor<R>,
    crossings: u32,
    resting: bool,
}

const UNKNOWN: u32 = u32::MAX;

impl<R: Real> Known<R> {
    /// Taken in hand, but not known yet.
    fn waiting() -> Self {
        Self {
            round: UNKNOWN,
            source: Source::Propagated,
            depth: 0.0,
            direction: Vector3::zeros(),
            confidence: 0.0,
            surface: Anchor::vertex(0),
            crossings: 0,
            resting: false,
        }
    }
}

/// Finds consistent penetration depths of points in bodies, in four stages (THESIS 6.1).
///
/// The points are given (stage one). Those with a neighbour outside of the body are at its border: each edge to such a
/// neighbour is cut with the surface, where it leaves it for the last time (two). Depth and direction of a border point
/// are means over these cuts with the weights 1/d² (three), and all other points get theirs from their neighbours,
/// from the border inwards (four). Which points are neighbours is told by the edges of tetrahedra, or of the surface if
/// there are none.
///
/// Outcomes where the formulas of the thesis say nothing:
/// - A point on the surface from which an edge leaves the body at once has the depth zero. Its direction is the mean of the
///   normals of the faces there through which its edges leave, the steepest for each edge. So has a point all of whose
///   edges to the outside run along the surface, if its own surface faces all faces there: both bodies only touch. Else
///   it gets what these edges meet where they end: the way along the side of a body that is squarely in another. A
///   neighbour at the very place of a point hands on what it has.
/// - An edge that leaves through several faces at once leaves through the one it is steepest to.
/// - Directions that cancel: the one with the largest weight is taken (of several the first), and the confidence is
///   zero.
/// - A mean that would put the point outside is the depth zero, with the confidence zero. Points that get their depth from
///   others are not more confident than these.
/// - An edge to a neighbour outside that cuts nothing (possible if a detector that samples found the points) does not
///   count. A point without any cut gets its depth from its neighbours.
/// - Points that no way leads to are [`Enclosed`] and get no contact.
///
/// It keeps its memory from call to call. Results are the same bits for any number of threads.
#[derive(Debug, Default)]
pub struct ConsistentDepth<R: Real> {
    parameters: DepthParameters,
    statistics: DepthStatistics,
    surfaces: Surfaces<R>,
    /// For each vertex the first of its colliding points, plus one.
    entries: Vec<u32>,
    known: Vec<Option<Known<R>>>,
    fans: Vec<Fan<R>>,
    front: Vec<u32>,
    next: Vec<u32>,
    found: Vec<Option<Known<R>>>,
    enclosed: Vec<Enclosed>,
    enclosed_points: Vec<CollidingPoint<R>>,
}

impl<R: Real> ConsistentDepth<R> {
    /// With parameters of one's own.
    pub fn with(parameters: DepthParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// Chooses anew.
    pub fn set_parameters(&mut self, parameters: DepthParameters) {
        self.parameters = parameters;
    }

    /// What the last call did.
    pub fn statistics(&self) -> &DepthStatistics {
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
        contacts.clear();
        self.enclosed.clear();
        self.enclosed_points.clear();
        check_positions(bodies, positions)?;
        points.check(bodies)?;
        self.entries.resize(bodies.vertex_count(), 0);
        let points = points.list();
        self.surfaces.update(bodies, positions, points.iter().map(|point| point.body));
        for (number, point) in points.iter().enumerate().rev() {
            self.entries[point.vertex as usize] = number as u32 + 1;
        }
        self.statistics = DepthStatistics { points: points.len(), ..DepthStatistics::default() };
        self.ask_surface(bodies, positions, points);
        self.hand_on(bodies, positions, points);
        self.fill(bodies, positions, points, contacts);
        points.iter().for_each(|point| self.entries[point.vertex as usize] = 0);
        Ok(())
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
        let border = Border {
            bodies,
            positions,
            neighbours: bodies.neighbors(),
            around: bodies.triangles_of_vertices(),
            colliding: Colliding { points, entries: &self.entries },
            surfaces: &self.surfaces,
            parameters: self.parameters,
        };
        let chunks = points.len().div_ceil(CHUNK);
        if self.fans.len() < chunks {
            self.fans.resize_with(chunks, Fan::default);
        }
        let work = |known: &mut [Option<Known<R>>], points: &[CollidingPoint<R>], fan: &mut _| {
            for (known, point) in known.iter_mut().zip(points) {
                *known = border.point(point, fan);
            }
        };
        let fans = &mut self.fans[..chunks];
        if chunks <= 1 || rayon::current_num_threads() == 1 {
            let known = self.known.chunks_mut(CHUNK).zip(points.chunks(CHUNK));
            known.zip(fans).for_each(|((known, points), fan)| work(known, points, fan));
        } else {
            let known = self.known.par_chunks_mut(CHUNK).zip(points.par_chunks(CHUNK));
            known.zip(fans).for_each(|((known, points), fan)| work(known, points, fan));
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
    fn hand_on(&mut self, bodies: &Bodies, positions: &[Vector3<R>], points: &[CollidingPoint<R>]) {
        let neighbours = bodies.neighbors();
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
                        *slot = Some(Known::waiting());
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
                direction: known.direction.map(R::nearest),
                depth: R::nearest(known.depth),
                volume: R::zero(),
                area: R::zero(),
                confidence: R::nearest(known.confidence),
                source: known.source,
            });
        }
        self.statistics.enclosed = self.enclosed_points.len();
        let pair = |point: &CollidingPoint<R>| [bodies.body_of(point.vertex) as u32, point.body];
        self.enclosed_points.sort_unstable_by_key(|point| (pair(point), point.vertex));
        let mut start = 0;
        for group in self.enclosed_points.chunk_by(|a, b| pair(a) == pair(b)) {
            let bodies_of = pair(&group[0]);
            let whole = group.len() == bodies.used_vertices(bodies_of[0] as usize);
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
    /// For each vertex the surface triangles that use it.
    around: &'a Rows,
    colliding: Colliding<'a, R>,
    surfaces: &'a Surfaces<R>,
    parameters: DepthParameters,
}

impl<R: Real> Border<'_, R> {
    /// Depth and direction of a point, if an edge leads from it out of the body.
    fn point(&self, point: &CollidingPoint<R>, fan: &mut Fan<R>) -> Option<Known<R>> {
        let outside = self.neighbours.row(point.vertex as usize).iter().copied();
        let outside = outside.filter(|&o| self.colliding.find(o, point.body).is_none());
        let place = self.positions[point.vertex as usize];
        fan.begin(place, outside.map(|other| (other, self.positions[other as usize])))?;
        let surface = self.surfaces.of(self.bodies, self.positions, point.body)?;
        let own = self.bodies.body_of(point.vertex) as u32 == point.body;
        let flat = self.parameters.normals == Normals::Flat;
        let may_rest = self.parameters.resting > 0.0 && flat && !own;
        let within = if may_rest { fan.shortest() * self.parameters.resting } else { 0.0 };
        fan.gather(&surface, within, own.then_some(point.vertex));
        let here = fan.is_on_surface();
        if here {
            fan.sort();
        }
        if here
            && let Some(known) =
                leaving_here(fan, &surface).or_else(|| self.facing_here(point, fan, &surface))
        {
            return Some(known);
        }
        if within > 0.0
            && !here
            && let Some(known) = resting(fan, &surface, within)
        {
            return Some(known);
        }
        let mut mean = Mean::new();
        let mut crossings = 0;
        for end in 0..fan.ends.len() {
            let Some(cut) = fan.last_cut(&surface, end, own) else { continue };
            crossings += 1;
            let way = fan.ends[end].way;
            let Some(normal) = self.normal(&surface, &cut, point.body) else { continue };
            let normal = normal * outwards(cut.normal, way, &surface);
            let to_cut = way * cut.parameter;
            let anchor = Anchor::of(surface.triangle(cut.triangle), cut.weights.map(R::nearest));
            mean.add(to_cut.norm_squared(), to_cut.dot(&normal), normal, anchor, 1.0);
        }
        let known = mean.known(Source::Border).map(|known| Known { crossings, ..known });
        known.or_else(|| here.then(|| all_here(fan, &surface))?)
    }

    /// What a point that is on the surface has if its own surface faces all that is there: both only touch.
    fn facing_here(
        &self,
        point: &CollidingPoint<R>,
        fan: &Fan<R>,
        surface: &Surface<R>,
    ) -> Option<Known<R>> {
        let own = self.around.row(point.vertex as usize).iter();
        let normal = own.fold(Vector3::zeros(), |sum: Vector3<f64>, &triangle| {
            let corners = corners(self.positions, self.bodies.triangles()[triangle as usize]);
            let [a, b, c] = corners.map(|corner| corner.map(R::to_f64));
            sum + (b - a).cross(&(c - a))
        });
        let mut here = fan.planes.iter().filter(|plane| plane.here);
        let faces = |plane: &Plane| {
            let outwards = surface.outwards(plane.triangle);
            outwards.is_some_and(|outwards| normal.dot(&outwards) < -0.5 * normal.norm())
        };
        here.all(faces).then(|| all_here(fan, surface))?
    }

    /// The normal at a crossing.
    fn normal(&self, surface: &Surface<R>, cut: &Cut, body: u32) -> Option<Vector3<f64>> {
        let flat = unit(cut.normal)?;
        if self.parameters.normals == Normals::Flat {
            return Some(flat);
        }
        let first = self.bodies.list()[body as usize].triangles.start as u32;
        let blend = surface.triangle(cut.triangle).iter().zip(cut.weights).fold(
            Vector3::zeros(),
            |sum, (&corner, weight)| {
                let own = self.around.row(corner as usize).iter();
                let normal =
                    own.fold(Vector3::zeros(), |sum, &t| sum + surface.area_normal(t - first));
                sum + unit(normal).unwrap_or(flat) * weight
            },
        );
        Some(unit(blend).unwrap_or(flat))
    }
}

/// One if a normal points outwards, minus one if it has to be turned: an edge from the inside to the outside leaves along
/// it. An edge along the surface does not tell; then the whole body does.
fn outwards<R: Real>(normal: Vector3<f64>, way: Vector3<f64>, surface: &Surface<R>) -> f64 {
    let along = normal.dot(&way);
    if along.abs() <= 1e-9 * normal.norm() * way.norm() {
        surface.turn()
    } else if along < 0.0 {
        -1.0
    } else {
        1.0
    }
}

/// What a point that is on the surface has if one of its edges leaves there: the depth zero, and the mean of the normals
/// of the faces that its edges are steepest to.
fn leaving_here<R: Real>(fan: &Fan<R>, surface: &Surface<R>) -> Option<Known<R>> {
    let turn = surface.turn();
    let mut mean = Mean::new();
    for end in &fan.ends {
        let mut steepest: Option<(f64, u32, Vector3<f64>)> = None;
        for plane in fan.planes.iter().filter(|plane| plane.here) {
            let Some(normal) = unit(plane.normal).map(|normal| normal * turn) else { continue };
            let along = normal.dot(&end.way);
            // They stand in order, so that of several the first is taken.
            if along > 1e-9 * end.way.norm() && steepest.is_none_or(|best| along > best.0) {
                steepest = Some((along, plane.triangle, normal));
            }
        }
        if let Some((_, triangle, normal)) = steepest {
            mean.add(0.0, 0.0, normal, surface.anchor(triangle, fan.place), 1.0);
        }
    }
    mean.known(Source::Border)
}

/// What a point that is on the surface has if none of its edges leaves anywhere: the mean of all faces there.
fn all_here<R: Real>(fan: &Fan<R>, surface: &Surface<R>) -> Option<Known<R>> {
    let mut mean = Mean::new();
    for plane in fan.planes.iter().filter(|plane| plane.here) {
        if let Some(normal) = surface.outwards(plane.triangle) {
            mean.add(0.0, 0.0, normal, surface.anchor(plane.triangle, fan.place), 1.0);
        }
    }
    mean.known(Source::Border)
}

/// The nearest point of the surface, where it is what the mean over all crossings would give: very near to the point, on
/// a triangle that all edges to the outside go through, and they go through no other.
fn resting<R: Real>(fan: &Fan<R>, surface: &Surface<R>, within: f64) -> Option<Known<R>> {
    let near = fan.planes.iter().filter_map(|plane| {
        // The plane is no farther than the triangle.
        let square = plane.height * plane.height;
        (square <= within * within * plane.normal.norm_squared())
            .then(|| (squared_distance_to_triangle(Vector3::zeros(), plane.corners), plane))
    });
    let closer = |best: (f64, &'_ Plane), own: (f64, &'_ Plane)| {
        (own.0, own.1.triangle) < (best.0, best.1.triangle)
    };
    let (square, nearest) = near.reduce(|best, own| if closer(best, own) { own } else { best })?;
    let normal = unit(nearest.normal)?;
    let normal = if nearest.height < 0.0 { -normal } else { normal };
    let through = |end: &End| matches!(nearest.cut(end), Meeting::Certain { .. });
    let foot = End { vertex: u32::MAX, way: normal * (2.0 * within), reach: 2.0 * within };
    let misses = |plane: &Plane, end: &End| matches!(plane.cut(end), Meeting::None);
    let others = || fan.planes.iter().filter(|plane| plane.triangle != nearest.triangle);
    if square > within * within
        || !through(&foot)
        || !fan.ends.iter().all(through)
        || !others().all(|plane| fan.ends.iter().all(|end| misses(plane, end)))
    {
        return None;
    }
    let depth = (nearest.height / nearest.normal.norm()).abs();
    let anchor = surface.anchor(nearest.triangle, fan.place);
    let mut mean = Mean::new();
    mean.add(depth * depth, depth, normal, anchor, 1.0);
    mean.known(Source::Border).map(|known| Known { resting: true, ..known })
}

/// Depth and direction from neighbours that have theirs (6.5 to 6.8).
fn from_neighbours<'a, R: Real>(
    place: Vector3<R>,
    around: impl Iterator<Item = (Vector3<R>, &'a Known<R>)>,
    round: u32,
) -> Option<Known<R>> {
    let place = place.map(R::to_f64);
    let mut mean = Mean::new();
    for (neighbour, known) in around {
        let way = neighbour.map(R::to_f64) - place;
        let depth = way.dot(&known.direction) + known.depth;
        mean.add(way.norm_squared(), depth, known.direction, known.surface, known.confidence);
    }
    mean.known(Source::Propagated).map(|known| Known { round, ..known })
}

/// A mean with the weights 1/d².
pub(super) struct Mean<R: Real> {
    weights: f64,
    depth: f64,
    direction: Vector3<f64>,
    confidence: f64,
    /// The smallest square of a distance, and what is there.
    nearest: f64,
    direction_there: Vector3<f64>,
    anchor: Option<Anchor<R>>,
}

/// Squares of distances up to this count as zero: one over it, a thousand times, is still a number.
const HERE: f64 = 1024.0 / f64::MAX;

/// Directions whose mean is shorter than this cancel.
const CANCEL: f64 = 1e-6;

impl<R: Real> Mean<R> {
    pub fn new() -> Self {
        Self {
            weights: 0.0,
            depth: 0.0,
            direction: Vector3::zeros(),
            confidence: 0.0,
            nearest: f64::INFINITY,
            direction_there: Vector3::zeros(),
            anchor: None,
        }
    }

    /// Adds what something at the square of a distance says, and how much it is to be trusted.
    #[inline(always)]
    pub fn add(
        &mut self,
        square: f64,
        depth: f64,
        direction: Vector3<f64>,
        anchor: Anchor<R>,
        confidence: f64,
    ) {
        // At the very place the weight is endless: all others count for nothing.
        if square <= HERE && self.nearest > HERE {
            *self = Self::new();
        }
        if square < self.nearest {
            self.nearest = square;
            self.direction_there = direction;
            self.anchor = Some(anchor);
        }
        let weight = match (square <= HERE, self.nearest <= HERE) {
            (true, _) => 1.0,
            (false, true) => return,
            (false, false) => 1.0 / square,
        };
        self.weights += weight;
        self.depth += weight * depth;
        self.confidence += weight * confidence;
        self.direction += direction * weight;
    }

    pub fn known(self, source: Source) -> Option<Known<R>> {
        let surface = self.anchor?;
        let mean = self.direction / self.weights;
        let agreement = mean.norm();
        let depth = self.depth / self.weights;
        let trust = (self.confidence / self.weights).min(1.0);
        let (direction, confidence) = match unit(mean) {
            Some(direction) if agreement > CANCEL && depth >= 0.0 => {
                (direction, agreement.min(1.0) * trust)
            }
            Some(direction) if agreement > CANCEL => (direction, 0.0),
            _ => (self.direction_there, 0.0),
        };
        Some(Known {
            round: 0,
            source,
            depth: depth.max(0.0),
            direction,
            confidence,
            surface,
            crossings: 0,
            resting: false,
        })
    }
}
