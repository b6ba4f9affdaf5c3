//! Surfaces that are nearer to each other than the thickness of a layer: contacts before anything is inside.
//!
//! [`ProximityPairs`] lists all pairs of a vertex and a triangle and of two edges that may come that near, body by body, and
//! only anew when a body has come farther than its list allows for. A [`ContactStencil`] tells how near a pair is; it is looked at
//! again only when both bodies may have come near each other since.

mod blocks;
mod listing;
mod stencil;
mod surfaces;
mod travel;

pub use stencil::{ContactStencil, Outside};

use super::check_positions;
use crate::broad::BroadPhase;
use crate::error::DetectError;
use crate::math::{Real, Vector3};
use crate::state::{Bodies, Scratch};
use listing::Listing;
use surfaces::Surfaces;
use travel::{Travel, middle};

/// A side of an edge without a triangle.
const NONE: u32 = u32::MAX;

/// How much of the thickness two bodies may come in all before what is near is looked at again.
const FRESH: f64 = 0.25;

/// How far inside something may be, in thicknesses, to be taken for what has just come through the nearest side.
const DEEPEST: f64 = 4.0;

/// Something inside counts for a side if the cosine of the angle between both normals is less than this.
const FACING: f64 = -0.3;

/// How far a body may deviate from its expected motion before its candidates are searched again: a fraction of that motion,
/// bounded below and above in thicknesses.
const ASTRAY: f64 = 0.25;
const STRIDES: [f64; 2] = [0.5, 1.5];

/// The longest way that is expected of a body, in thicknesses.
const LONGEST: f64 = 16.0;

/// What is this near in a body at rest, in thicknesses, does not collide with itself.
const APART: f64 = 2.0;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProximityParameters<R> {
    /// Surfaces nearer than this are near.
    pub thickness: R,
    /// Bodies are listed for the way they go in this time: more makes longer lists, less makes lists more often.
    pub horizon: R,
    /// The time since the last call.
    pub elapsed: R,
}

/// A listed pair, and how near it was when last looked at.
#[derive(Debug, Clone, Copy)]
struct Candidate<R: Real> {
    /// A vertex and a triangle, or two edges.
    pair: [u32; 2],
    bodies: [u32; 2],
    /// Looked at again when both bodies have come farther than this in all.
    due: f64,
    stencil: Option<ContactStencil<R>>,
}

/// Pairs of primitives of surfaces that may be near each other, of different bodies or, where that is wanted, of one.
///
/// Pairs of one body that are nearer than two thicknesses when it is at rest do not count: they are neighbours, and stay so.
/// Something inside counts if it is not deep inside, and only for a side that faces it. A side whose tetrahedron is turned
/// over does not count until it has recovered: it would push the wrong way, and hold what must go back.
///
/// A clone copies candidates and everything else that later updates depend on; its buffers start empty.
#[derive(Debug, Clone, Default)]
pub struct ProximityPairs<R: Real> {
    parameters: Option<ProximityParameters<R>>,
    topology: u64,
    travel: Travel<R>,
    /// How far each body may deviate before its candidates are searched again.
    skins: Vec<R>,
    /// For each body the edges that stood out when it was listed.
    ridges: Vec<Vec<u32>>,
    surfaces: Scratch<Surfaces>,
    listing: Scratch<Listing<R>>,
    moved: Scratch<Vec<bool>>,
    broad: Scratch<BroadPhase<R>>,
    on_points: Vec<Candidate<R>>,
    on_edges: Vec<Candidate<R>>,
    near: Vec<ContactStencil<R>>,
}

impl<R: Real> ProximityPairs<R> {
    /// Makes sure that everything nearer than the thickness is known. `rest` is where vertices are when their bodies are
    /// at rest. Returns whether candidates were searched again.
    pub fn update(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        velocities: &[Vector3<R>],
        rest: &[Vector3<R>],
        parameters: ProximityParameters<R>,
    ) -> Result<bool, DetectError> {
        for more in [velocities, rest] {
            if more.len() != bodies.vertex_count() {
                let (positions, vertices) = (more.len(), bodies.vertex_count());
                return Err(DetectError::PositionCount { positions, vertices });
            }
        }
        self.surfaces.prepare(bodies, rest);
        if self.topology != bodies.topology() {
            check_positions(bodies, positions)?;
            self.begin(bodies);
        }
        if self.parameters.map(|known| known.thickness) != Some(parameters.thickness) {
            self.travel.forget();
        }
        self.parameters = Some(parameters);
        let first = self.travel.go(bodies, positions, parameters.elapsed);
        let (travel, skins) = (&self.travel, &self.skins);
        self.moved.clear();
        self.moved.extend((0..bodies.len()).map(|b| first || !travel.is_as_expected(b, skins[b])));
        let anew = self.moved.contains(&true);
        if anew {
            check_positions(bodies, positions)?;
            self.list(bodies, positions, velocities, rest);
        }
        self.look(bodies, positions, anew);
        debug_assert_eq!(self.validate(bodies), Ok(()));
        Ok(anew)
    }

    /// Checks that candidates name primitives of the bodies they claim, which may collide, and none twice. Debug builds do so
    /// after every [`update`](Self::update).
    ///
    /// # Errors
    /// Names the first candidate that is wrong.
    pub fn validate(&self, bodies: &Bodies) -> Result<(), String> {
        let body_of_vertex = |vertex: u32| bodies.body_of(vertex) as u32;
        let body_of_triangle = |t: u32| body_of_vertex(bodies.triangles()[t as usize][0]);
        let body_of_edge = |e: u32| body_of_vertex(bodies.edges()[e as usize][0]);
        let may = |pair: [u32; 2]| bodies.may_collide(pair[0] as usize, pair[1] as usize);
        for Candidate { pair: [point, triangle], bodies: owners, .. } in &self.on_points {
            let expected = [body_of_vertex(*point), body_of_triangle(*triangle)];
            if *owners != expected || !may(expected) {
                return Err(format!("vertex {point} and triangle {triangle} are of {expected:?}"));
            }
        }
        for Candidate { pair: [one, other], bodies: owners, .. } in &self.on_edges {
            let expected = [body_of_edge(*one), body_of_edge(*other)];
            if *owners != expected || !may(expected) {
                return Err(format!("edges {one} and {other} are of {expected:?}"));
            }
        }
        for list in [&self.on_points, &self.on_edges] {
            if let Some(twice) = list.windows(2).find(|two| two[0].pair == two[1].pair) {
                return Err(format!("the pair {:?} is listed twice", twice[0].pair));
            }
        }
        Ok(())
    }

    /// Forgets the lists, for positions that changed in another way than by motion.
    pub fn forget(&mut self) {
        self.topology = 0;
        self.near.clear();
    }

    /// Copies the candidates of another search; the buffers stay.
    pub(crate) fn restore(&mut self, other: &Self) {
        let Self { surfaces, listing, moved, broad, .. } = std::mem::take(self);
        *self = Self { surfaces, listing, moved, broad, ..other.clone() };
    }

    /// What is near, or about to be. Of the triangles of a body near a vertex the nearest, and of the others those that are
    /// in another direction. First vertices, then edges.
    pub fn stencils(&self) -> &[ContactStencil<R>] {
        &self.near
    }

    /// How many stencils are nearer than the thickness, and how many of them are of bodies with themselves.
    pub fn counts(&self, bodies: &Bodies, positions: &[Vector3<R>]) -> [usize; 2] {
        let thickness = self.parameters.map_or(R::zero(), |known| known.thickness);
        // What was just pushed out to the thickness still touches.
        let about = thickness * R::nearest(1.01);
        let mut counts = [0; 2];
        for stencil in &self.near {
            if stencil.gap_at(|vertex| positions[vertex as usize]) <= about {
                let [a, .., d] = stencil.vertices.map(|vertex| bodies.body_of(vertex));
                counts[usize::from(a == d)] += 1;
            }
        }
        counts
    }

    /// Contact thickness of the last update; 0 before the first.
    pub fn thickness(&self) -> R {
        self.parameters.map_or(R::zero(), |known| known.thickness)
    }

    /// Starts without candidates.
    fn begin(&mut self, bodies: &Bodies) {
        self.topology = bodies.topology();
        self.travel.forget();
        self.on_points.clear();
        self.on_edges.clear();
        self.near.clear();
        self.skins.clear();
        self.skins.resize(bodies.len(), R::zero());
        self.ridges.clear();
        self.ridges.resize(bodies.len(), vec![]);
    }

    /// Lists the pairs of all bodies that have moved.
    fn list(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        velocities: &[Vector3<R>],
        rest: &[Vector3<R>],
    ) {
        let Some(ProximityParameters { thickness, horizon, .. }) = self.parameters else { return };
        let half = R::nearest(0.5);
        let mean = middle(velocities);
        let [shortest, longest] = STRIDES.map(|share| thickness * R::nearest(share));
        let ways = [shortest, thickness * R::nearest(LONGEST)];
        for body in (0..bodies.len()).filter(|&body| self.moved[body]) {
            let own = bodies.list()[body].vertices.clone();
            let way = self.travel.expect(body, own, velocities, mean, horizon, ways);
            self.skins[body] = (way * R::nearest(ASTRAY)).max(shortest).min(longest);
            let ridges = &mut self.ridges[body];
            self.surfaces.find_ridges(bodies, positions, body, thickness * half, ridges);
        }
        let moved = &*self.moved;
        let keep = |one: &Candidate<R>| one.bodies.iter().all(|&body| !moved[body as usize]);
        self.on_points.retain(keep);
        self.on_edges.retain(keep);
        let (travel, surfaces, skins) = (&self.travel, &*self.surfaces, &self.skins[..]);
        let ridges = &self.ridges;
        let work = listing::Work { bodies, travel, rest, surfaces, ridges, thickness, skins };
        self.broad.update_boxes(bodies, self.listing.begin(&work));
        let (on_points, on_edges) = (&mut self.on_points, &mut self.on_edges);
        let mut list = |pair: [usize; 2]| {
            if pair.iter().any(|&body| moved[body]) {
                self.listing.pair(&work, pair, on_points, on_edges);
            }
        };
        let own = (0..bodies.len()).filter(|&body| bodies.may_collide(body, body));
        own.for_each(|body| list([body; 2]));
        let pairs = self.broad.pairs().iter();
        pairs.for_each(|pair| list(pair.map(|body| body as usize)));
    }

    /// Looks at all pairs that are due, and collects what is near.
    fn look(&mut self, bodies: &Bodies, positions: &[Vector3<R>], anew: bool) {
        let thickness = self.parameters.map_or(R::zero(), |known| known.thickness);
        let fresh = FRESH * thickness.to_f64();
        // Until it is looked at again, both bodies may come nearer.
        let limit = thickness + R::nearest(fresh);
        let deepest = -thickness * R::nearest(DEEPEST);
        let place = |vertex: u32| positions[vertex as usize];
        let travel = &self.travel;
        let come = |one: &Candidate<R>| {
            travel.length(one.bodies[0] as usize) + travel.length(one.bodies[1] as usize)
        };
        let next = |come: f64, distance: R| come + (distance - limit).to_f64().max(fresh);
        let mut changed = anew;
        for candidate in &mut self.on_points {
            let come = come(candidate);
            if come < candidate.due {
                continue;
            }
            changed = true;
            let [point, triangle] = candidate.pair;
            let corners = bodies.triangles()[triangle as usize];
            let outside = self.surfaces.outside[candidate.bodies[1] as usize];
            let (stencil, distance) = ContactStencil::of_point(place, point, corners, outside);
            candidate.due = next(come, distance);
            candidate.stencil = stencil.filter(|stencil| {
                stencil.gap < limit
                    && (stencil.gap >= R::zero()
                        || stencil.gap > deepest
                            && self.surfaces.faces(bodies, place, point, stencil.normal))
                    && !self.surfaces.is_turned_over(bodies, place, triangle)
            });
        }
        for candidate in &mut self.on_edges {
            let come = come(candidate);
            if come < candidate.due {
                continue;
            }
            changed = true;
            let ends = candidate.pair.map(|edge| bodies.edges()[edge as usize]);
            let sides = candidate.pair.map(|edge| self.surfaces.beside(bodies, edge));
            let open = |&body: &u32| self.surfaces.outside[body as usize] == Outside::BothSides;
            let outside = if candidate.bodies.iter().any(open) {
                Outside::BothSides
            } else {
                Outside::Normals
            };
            let far = limit.max(-deepest);
            let (stencil, distance) = ContactStencil::of_edges(place, ends, sides, far, outside);
            candidate.due = next(come, distance);
            candidate.stencil = stencil.filter(|stencil| {
                let beside = || {
                    candidate.pair.into_iter().flat_map(|edge| self.surfaces.sides[edge as usize])
                };
                stencil.gap < limit
                    && !beside().any(|side| self.surfaces.is_turned_over(bodies, place, side))
            });
        }
        if changed {
            self.collect();
        }
    }

    fn collect(&mut self) {
        self.near.clear();
        let together =
            |a: &Candidate<R>, b: &Candidate<R>| a.pair[0] == b.pair[0] && a.bodies == b.bodies;
        for group in self.on_points.chunk_by(together) {
            let start = self.near.len();
            for stencil in group.iter().filter_map(|candidate| candidate.stencil) {
                keep_nearest(&mut self.near, start, stencil);
            }
        }
        self.near.extend(self.on_edges.iter().filter_map(|candidate| candidate.stencil));
    }
}

/// Adds a stencil of a vertex to those from `start` on, unless one in about the same direction is nearer.
fn keep_nearest<R: Real>(
    list: &mut Vec<ContactStencil<R>>,
    start: usize,
    stencil: ContactStencil<R>,
) {
    let half = R::nearest(0.5);
    let same = list[start..].iter_mut().find(|other| other.normal.dot(&stencil.normal) > half);
    match same {
        Some(other) if stencil.gap.abs() < other.gap.abs() => *other = stencil,
        Some(_) => {}
        None => list.push(stencil),
    }
}
