//! Edges that go through bodies without an end in them (the future work of THESIS chapter 6).

use super::consistent::Mean;
use super::surfaces::unit;
use crate::contact::{Anchor, CollidingPoints, Contact, Contacts, Source};
use crate::detect::primitive::edge_edge;
use crate::detect::{EdgeHit, Hits, check_positions, corners};
use crate::error::DetectError;
use crate::math::{Real, Vector3};
use crate::state::Bodies;

/// Finds depth and direction of edges that go through a body while both ends are outside: contacts that points cannot
/// tell of.
///
/// Two edges of which each goes through a triangle of the other, and at which both bodies end, meet ([`Source::Edges`]):
/// the depth is how far they have gone past each other, the direction is across both. An edge with no such partner is deeper
/// ([`Source::Through`]): the middle of what is inside gets the mean of what both crossings say, like a point at the
/// border; where these cancel, as in a plate, it gets the mean of the edges beside it that do know (6.5 to 6.8), and
/// where none does, the way of the nearer crossing with the confidence zero.
///
/// It keeps its memory from call to call.
#[derive(Debug, Default)]
pub struct EdgeDepth<R: Real> {
    /// Hits in the order of edges.
    hits: Vec<EdgeHit<R>>,
    found: Vec<Found<R>>,
}

/// An edge in a body.
#[derive(Debug, Clone, Copy)]
struct Found<R: Real> {
    edge: u32,
    /// The edge of the body that it has gone past; none has this number otherwise.
    partner: u32,
    contact: Contact<R>,
    /// Whether it waits for those beside it.
    waits: bool,
}

impl<R: Real> Found<R> {
    fn key(&self) -> (u32, u32) {
        (self.edge, self.contact.bodies[1])
    }
}

impl<R: Real> EdgeDepth<R> {
    /// Fills in a contact for each edge that goes through a body, and each pair of edges once; `contacts` is
    /// overwritten. Edges with an end among the `points` are left to these.
    ///
    /// # Panics
    /// If the hits are of other bodies.
    pub fn find(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        hits: &Hits<R>,
        points: &CollidingPoints<R>,
        contacts: &mut Contacts<R>,
    ) -> Result<(), DetectError> {
        contacts.clear();
        check_positions(bodies, positions)?;
        let body_of = |triangle: u32| bodies.body_of(bodies.triangles()[triangle as usize][0]);
        self.hits.clear();
        self.hits.extend_from_slice(&hits.edges);
        self.hits.sort_by(|a, b| {
            let key = |hit: &EdgeHit<R>| (hit.edge, body_of(hit.triangle));
            let along = |hit: &EdgeHit<R>| hit.crossing.parameter.to_f64();
            key(a)
                .cmp(&key(b))
                .then(along(a).total_cmp(&along(b)))
                .then(a.triangle.cmp(&b.triangle))
        });
        let inside = |vertex: u32, body: usize| {
            let list = points.list();
            let key = (vertex, body as u32);
            list.binary_search_by_key(&key, |point| (point.vertex, point.body)).is_ok()
        };
        let mut all = std::mem::take(&mut self.found);
        all.clear();
        let same = |a: &EdgeHit<R>, b: &EdgeHit<R>| {
            (a.edge, body_of(a.triangle)) == (b.edge, body_of(b.triangle))
        };
        for through in self.hits.chunk_by(same) {
            let (edge, body) = (through[0].edge, body_of(through[0].triangle));
            let ends = bodies.edges()[edge as usize];
            if through.len() < 2 || ends.iter().any(|&end| inside(end, body)) {
                continue;
            }
            let scene = Scene { bodies, positions, hits };
            for piece in pieces(through) {
                let found = scene.pair(piece).or_else(|| scene.through(piece));
                all.extend(found);
            }
        }
        all.sort_by_key(Found::key);
        self.found = all;
        self.ask_beside(bodies);
        let mut own = Contacts::default();
        // Two edges that are partners of each other have one contact.
        let has_it_back = |found: &Found<R>| {
            let key = (found.partner, found.contact.bodies[0]);
            let first = self.found.partition_point(|other| other.key() < key);
            let mut same = self.found[first..].iter().take_while(|other| other.key() == key);
            same.any(|other| other.partner == found.edge)
        };
        for found in &self.found {
            if found.partner > found.edge || !has_it_back(found) {
                own.push(found.contact);
            }
        }
        contacts.merge(&own);
        Ok(())
    }

    /// Gives edges whose own crossings cancel what those beside them know, from round to round.
    fn ask_beside(&mut self, bodies: &Bodies) {
        let at_vertex = bodies.edges_of_vertices();
        loop {
            let beside = |found: &Found<R>| {
                let mut mean = Mean::new();
                for end in bodies.edges()[found.edge as usize] {
                    for &edge in at_vertex.row(end as usize) {
                        let key = (edge, found.contact.bodies[1]);
                        let first = self.found.partition_point(|other| other.key() < key);
                        let same =
                            self.found[first..].iter().take_while(|other| other.key() == key);
                        for other in same.filter(|other| !other.waits && edge != found.edge) {
                            let own = &other.contact;
                            let way = (own.position - found.contact.position).map(R::to_f64);
                            let direction = own.direction.map(R::to_f64);
                            let depth = way.dot(&direction) + own.depth.to_f64();
                            let confidence = own.confidence.to_f64();
                            mean.add(way.norm_squared(), depth, direction, own.second, confidence);
                        }
                    }
                }
                mean.known(Source::Through)
            };
            let answers: Vec<_> = (0..self.found.len())
                .filter(|&number| self.found[number].waits)
                .filter_map(|number| Some((number, beside(&self.found[number])?)))
                .collect();
            if answers.is_empty() {
                return;
            }
            for (number, known) in answers {
                let found = &mut self.found[number];
                found.waits = false;
                found.contact.direction = known.direction.map(R::nearest);
                found.contact.depth = R::nearest(known.depth);
                found.contact.confidence = R::nearest(known.confidence);
            }
        }
    }
}

/// What one edge is compared with.
struct Scene<'a, R: Real> {
    bodies: &'a Bodies,
    positions: &'a [Vector3<R>],
    hits: &'a Hits<R>,
}

impl<R: Real> Scene<'_, R> {
    fn normal(&self, triangle: u32) -> Vector3<f64> {
        let corners = corners(self.positions, self.bodies.triangles()[triangle as usize]);
        let [a, b, c] = corners.map(|corner| corner.map(R::to_f64));
        unit((b - a).cross(&(c - a))).unwrap_or_else(Vector3::zeros)
    }

    fn triangles_of(&self, edge: u32) -> &[u32] {
        self.bodies.triangles_of_edges().row(edge as usize)
    }

    /// The edge that this one has gone past the least, of those that go through a triangle of this one and of which this
    /// one goes through a triangle.
    fn pair(&self, through: &[EdgeHit<R>]) -> Option<Found<R>> {
        let edge = through[0].edge;
        let mut best: Option<Found<R>> = None;
        for hit in through {
            for other in self.bodies.edges_of_triangles()[hit.triangle as usize] {
                let goes_through = |&triangle: &u32| {
                    let key = (triangle, other);
                    self.hits.edges.binary_search_by_key(&key, |h| (h.triangle, h.edge)).is_ok()
                };
                if !self.triangles_of(edge).iter().any(goes_through) {
                    continue;
                }
                let Some(contact) = self.edges_past([edge, other]) else { continue };
                let key = (contact.depth, other);
                if best.as_ref().is_none_or(|best| key < (best.contact.depth, best.partner)) {
                    best = Some(Found { edge, partner: other, contact, waits: false });
                }
            }
        }
        best
    }

    /// The mean of the normals of the two triangles of an edge.
    fn edge_normal(&self, edge: u32) -> Option<Vector3<f64>> {
        let [one, other] = *self.triangles_of(edge) else { return None };
        unit(self.normal(one) + self.normal(other))
    }

    /// Whether the body ends at an edge along a direction: the direction is between the normals of the two triangles,
    /// and these are bent away from it.
    fn is_outermost(&self, edge: u32, direction: Vector3<f64>) -> bool {
        let [one, other] = *self.triangles_of(edge) else { return false };
        let Some(mean) = self.edge_normal(edge) else { return false };
        let ends = self.bodies.edges()[edge as usize];
        let opposite =
            self.bodies.triangles()[other as usize].into_iter().find(|c| !ends.contains(c));
        let Some(opposite) = opposite else { return false };
        let normal = self.normal(one);
        let place = |vertex: u32| self.positions[vertex as usize].map(R::to_f64);
        let below = normal.dot(&(place(opposite) - place(ends[0]))) <= 0.0;
        below && direction.dot(&mean) >= normal.dot(&mean) - 1e-3
    }

    /// How far an edge has gone past another.
    fn edges_past(&self, [edge, other]: [u32; 2]) -> Option<Contact<R>> {
        let [own, others] = [edge, other].map(|edge| self.bodies.edges()[edge as usize]);
        let [first, second] = [own, others].map(|ends| corners(self.positions, ends));
        let closest = edge_edge(first, second, R::nearest(f64::INFINITY))?;
        let at = |[p, q]: [Vector3<R>; 2], [s, t]: [R; 2]| {
            p.map(R::to_f64) * s.to_f64() + q.map(R::to_f64) * t.to_f64()
        };
        let (position, there) = (at(first, closest.first), at(second, closest.second));
        let outwards = self.edge_normal(other)?;
        let way = |[p, q]: [Vector3<R>; 2]| (q - p).map(R::to_f64);
        let across = way(first).cross(&way(second));
        let turned = if across.dot(&outwards) < 0.0 { -across } else { across };
        let direction = unit(there - position).or_else(|| unit(turned))?;
        // Past each other are only edges of which each is the outermost of its body on this way.
        if !self.is_outermost(other, direction) || !self.is_outermost(edge, -direction) {
            return None;
        }
        let bodies = [own, others].map(|ends| self.bodies.body_of(ends[0]) as u32);
        Some(Contact {
            bodies,
            first: Anchor::of(own, closest.first),
            second: Anchor::of(others, closest.second),
            position: position.map(R::nearest),
            direction: direction.map(R::nearest),
            depth: closest.distance,
            volume: R::zero(),
            area: R::zero(),
            confidence: R::nearest(outwards.dot(&direction).clamp(0.0, 1.0)),
            source: Source::Edges,
        })
    }

    /// What both ends of a piece of an edge say about its middle.
    fn through(&self, piece: &[EdgeHit<R>]) -> Option<Found<R>> {
        let (first, last) = (piece.first()?, piece.last()?);
        let edge = first.edge;
        let ends = self.bodies.edges()[edge as usize];
        let [p, q] = corners(self.positions, ends).map(|end| end.map(R::to_f64));
        let [from, to] = [first, last].map(|hit| hit.crossing.parameter.to_f64());
        let middle = 0.5 * (from + to);
        let position = p + (q - p) * middle;
        let mut mean = Mean::new();
        for (hit, parameter, way) in [(first, from, p - q), (last, to, q - p)] {
            let normal = self.normal(hit.triangle);
            let normal = if normal.dot(&way) < 0.0 { -normal } else { normal };
            let to_crossing = (q - p) * (parameter - middle);
            let corners = self.bodies.triangles()[hit.triangle as usize];
            let anchor = Anchor::of(corners, hit.crossing.weights);
            mean.add(to_crossing.norm_squared(), to_crossing.dot(&normal), normal, anchor, 1.0);
        }
        let known = mean.known(Source::Through)?;
        let other = self.bodies.triangles()[first.triangle as usize][0];
        let contact = Contact {
            bodies: [self.bodies.body_of(ends[0]) as u32, self.bodies.body_of(other) as u32],
            first: Anchor::of(ends, [1.0 - middle, middle].map(R::nearest)),
            second: known.surface,
            position: position.map(R::nearest),
            direction: known.direction.map(R::nearest),
            depth: R::nearest(known.depth),
            volume: R::zero(),
            area: R::zero(),
            confidence: R::nearest(known.confidence),
            source: Source::Through,
        };
        Some(Found { edge, partner: u32::MAX, contact, waits: known.confidence < 0.1 })
    }
}

/// The pieces of an edge with both ends outside that are inside, each with all its hits in the order of the edge: from
/// every second place where it meets the surface to the next. Where it only touches somewhere, that cannot be told;
/// then all is one piece.
fn pieces<R: Real>(through: &[EdgeHit<R>]) -> impl Iterator<Item = &[EdgeHit<R>]> {
    let same = R::nearest(16.0) * R::default_epsilon();
    let together =
        move |a: &EdgeHit<R>, b: &EdgeHit<R>| b.crossing.parameter - a.crossing.parameter <= same;
    let places = through.chunk_by(together).count();
    let size = if places % 2 == 0 { 2 } else { places };
    let mut rest = through;
    std::iter::from_fn(move || {
        let length = rest.chunk_by(together).take(size).map(<[_]>::len).sum();
        let (piece, behind) = rest.split_at(length);
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}
