//! Edges that go through bodies without an end in them (the future work of THESIS chapter 6).

use super::consistent::Mean;
use super::surfaces::unit;
use crate::contact::{Anchor, CollidingPoints, Contact, Contacts, Source};
use crate::detect::primitive::edge_edge;
use crate::detect::{EdgeHit, Hits, check_positions, corners};
use crate::error::DetectError;
use crate::math::{Real, Vector3};
use crate::mesh::{Edges, Rows};
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
#[derive(Debug)]
pub struct EdgeDepth<R: Real> {
    topology: u64,
    /// For each edge the triangles it is in, and for each triangle its edges.
    triangles: Option<Rows>,
    edges: Vec<[u32; 3]>,
    at_vertex: Option<Rows>,
    /// Hits in the order of edges.
    hits: Vec<EdgeHit<R>>,
    found: Vec<Found<R>>,
}

impl<R: Real> Default for EdgeDepth<R> {
    fn default() -> Self {
        Self {
            topology: 0,
            triangles: None,
            edges: vec![],
            at_vertex: None,
            hits: vec![],
            found: vec![],
        }
    }
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
    pub fn find(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        hits: &Hits<R>,
        points: &CollidingPoints<R>,
        contacts: &mut Contacts<R>,
    ) -> Result<(), DetectError> {
        check_positions(bodies, positions)?;
        self.prepare(bodies);
        let body_of = |triangle: u32| bodies.body_of(bodies.triangles()[triangle as usize][0]);
        self.hits.clear();
        self.hits.extend_from_slice(&hits.edges);
        self.hits.sort_unstable_by_key(|hit| (hit.edge, body_of(hit.triangle), hit.triangle));
        let inside = |vertex: u32, body: usize| {
            let list = points.list();
            let key = (vertex, body as u32);
            list.binary_search_by_key(&key, |point| (point.vertex, point.body)).is_ok()
        };
        self.found.clear();
        let same = |a: &EdgeHit<R>, b: &EdgeHit<R>| {
            (a.edge, body_of(a.triangle)) == (b.edge, body_of(b.triangle))
        };
        for through in self.hits.chunk_by(same) {
            let (edge, body) = (through[0].edge, body_of(through[0].triangle));
            let ends = bodies.edges()[edge as usize];
            if through.len() < 2 || ends.iter().any(|&end| inside(end, body)) {
                continue;
            }
            let scene = Scene { bodies, positions, hits, own: self };
            let found = scene.pair(through).or_else(|| scene.through(through));
            self.found.extend(found);
        }
        self.found.sort_by_key(Found::key);
        self.ask_beside(bodies);
        let mut own = Contacts::default();
        // Two edges that are partners of each other have one contact.
        let partner_of = |found: &Found<R>| {
            let key = (found.partner, found.contact.bodies[0]);
            self.found
                .binary_search_by_key(&key, Found::key)
                .ok()
                .map(|place| self.found[place].partner)
        };
        for found in &self.found {
            if found.partner > found.edge || partner_of(found) != Some(found.edge) {
                own.push(found.contact);
            }
        }
        contacts.clear();
        contacts.merge(&own);
        Ok(())
    }

    fn prepare(&mut self, bodies: &Bodies) {
        if self.topology == bodies.topology() {
            return;
        }
        self.topology = bodies.topology();
        let count = bodies.vertex_count();
        let all = Edges::of_triangles(count, bodies.triangles());
        self.edges.clear();
        self.edges.resize(bodies.triangles().len(), [u32::MAX; 3]);
        let (mut items, mut rows) = (Vec::new(), Vec::new());
        for (number, &[a, b]) in (0u32..).zip(bodies.edges()) {
            if let Ok(place) = all.ends().binary_search(&[a.min(b), a.max(b)]) {
                for &slot in all.uses().row(place) {
                    self.edges[slot as usize / 3][slot as usize % 3] = number;
                    items.push(slot / 3);
                }
            }
            rows.push(items.len() as u32);
        }
        self.triangles = Some(Rows::from_ends(rows, items));
        self.at_vertex = Some(Rows::collect(count, || {
            (0u32..).zip(bodies.edges()).flat_map(|(e, ends)| ends.map(|end| (end, e)))
        }));
    }

    /// Gives edges whose own crossings cancel what those beside them know, from round to round.
    fn ask_beside(&mut self, bodies: &Bodies) {
        let Some(at_vertex) = &self.at_vertex else { return };
        loop {
            let beside = |found: &Found<R>| {
                let mut mean = Mean::new();
                for end in bodies.edges()[found.edge as usize] {
                    for &edge in at_vertex.row(end as usize) {
                        let key = (edge, found.contact.bodies[1]);
                        let place = self.found.binary_search_by_key(&key, Found::key);
                        let Some(other) = place.ok().map(|place| &self.found[place]) else {
                            continue;
                        };
                        if !other.waits && edge != found.edge {
                            let own = &other.contact;
                            let way = own.position - found.contact.position;
                            let depth = way.dot(&own.direction) + own.depth;
                            mean.add(way.norm_squared(), depth, own.direction, own.second);
                        }
                    }
                }
                mean.known(Source::Through, 0)
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
                found.contact.direction = known.direction;
                found.contact.depth = known.depth;
                found.contact.confidence = known.confidence;
            }
        }
    }
}

/// What one edge is compared with.
struct Scene<'a, R: Real> {
    bodies: &'a Bodies,
    positions: &'a [Vector3<R>],
    hits: &'a Hits<R>,
    own: &'a EdgeDepth<R>,
}

impl<R: Real> Scene<'_, R> {
    fn normal(&self, triangle: u32) -> Vector3<R> {
        let [a, b, c] = corners(self.positions, self.bodies.triangles()[triangle as usize]);
        unit((b - a).cross(&(c - a))).unwrap_or_else(Vector3::zeros)
    }

    fn triangles_of(&self, edge: u32) -> &[u32] {
        self.own.triangles.as_ref().map_or(&[], |rows| rows.row(edge as usize))
    }

    /// The edge that this one has gone past the least, of those that go through a triangle of this one and of which this
    /// one goes through a triangle.
    fn pair(&self, through: &[EdgeHit<R>]) -> Option<Found<R>> {
        let edge = through[0].edge;
        let mut best: Option<Found<R>> = None;
        for hit in through {
            for other in self.own.edges[hit.triangle as usize] {
                let goes_through = |&triangle: &u32| {
                    let key = (triangle, other);
                    self.hits.edges.binary_search_by_key(&key, |h| (h.triangle, h.edge)).is_ok()
                };
                if other == u32::MAX || !self.triangles_of(edge).iter().any(goes_through) {
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
    fn edge_normal(&self, edge: u32) -> Option<Vector3<R>> {
        let [one, other] = *self.triangles_of(edge) else { return None };
        unit(self.normal(one) + self.normal(other))
    }

    /// Whether the body ends at an edge along a direction: the direction is between the normals of the two triangles,
    /// and these are bent away from it.
    fn is_outermost(&self, edge: u32, direction: Vector3<R>) -> bool {
        let [one, other] = *self.triangles_of(edge) else { return false };
        let Some(mean) = self.edge_normal(edge) else { return false };
        let ends = self.bodies.edges()[edge as usize];
        let opposite =
            self.bodies.triangles()[other as usize].into_iter().find(|c| !ends.contains(c));
        let Some(opposite) = opposite else { return false };
        let normal = self.normal(one);
        let below = self.positions[opposite as usize] - self.positions[ends[0] as usize];
        let slack = R::nearest(1e-3);
        normal.dot(&below) <= R::zero() && direction.dot(&mean) >= normal.dot(&mean) - slack
    }

    /// How far an edge has gone past another.
    fn edges_past(&self, [edge, other]: [u32; 2]) -> Option<Contact<R>> {
        let [own, others] = [edge, other].map(|edge| self.bodies.edges()[edge as usize]);
        let [first, second] = [own, others].map(|ends| corners(self.positions, ends));
        let closest = edge_edge(first, second, R::nearest(f64::INFINITY))?;
        let at = |[p, q]: [Vector3<R>; 2], [s, t]: [R; 2]| p * s + q * t;
        let (position, there) = (at(first, closest.first), at(second, closest.second));
        let outwards = self.edge_normal(other)?;
        let across = (first[1] - first[0]).cross(&(second[1] - second[0]));
        let turned = if across.dot(&outwards) < R::zero() { -across } else { across };
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
            position,
            direction,
            depth: closest.distance,
            volume: R::zero(),
            area: R::zero(),
            confidence: outwards.dot(&direction).max(R::zero()).min(R::one()),
            source: Source::Edges,
        })
    }

    /// What the first and the last crossing of an edge say about the middle between them.
    fn through(&self, through: &[EdgeHit<R>]) -> Option<Found<R>> {
        let edge = through[0].edge;
        let ends = self.bodies.edges()[edge as usize];
        let [p, q] = corners(self.positions, ends);
        let by_parameter = |a: &&EdgeHit<R>, b: &&EdgeHit<R>| {
            a.crossing.parameter.to_f64().total_cmp(&b.crossing.parameter.to_f64())
        };
        let (first, last) =
            (through.iter().min_by(by_parameter)?, through.iter().max_by(by_parameter)?);
        let half = R::nearest(0.5);
        let middle = (first.crossing.parameter + last.crossing.parameter) * half;
        let position = p + (q - p) * middle;
        let mut mean = Mean::new();
        for (hit, way) in [(first, p - q), (last, q - p)] {
            let normal = self.normal(hit.triangle);
            let normal = if normal.dot(&way) < R::zero() { -normal } else { normal };
            let to_crossing = (q - p) * (hit.crossing.parameter - middle);
            let corners = self.bodies.triangles()[hit.triangle as usize];
            let anchor = Anchor::of(corners, hit.crossing.weights);
            mean.add(to_crossing.norm_squared(), to_crossing.dot(&normal), normal, anchor);
        }
        let known = mean.known(Source::Through, 0)?;
        let other = self.bodies.triangles()[first.triangle as usize][0];
        let contact = Contact {
            bodies: [self.bodies.body_of(ends[0]) as u32, self.bodies.body_of(other) as u32],
            first: Anchor::of(ends, [R::one() - middle, middle]),
            second: known.surface,
            position,
            direction: known.direction,
            depth: known.depth,
            volume: R::zero(),
            area: R::zero(),
            confidence: known.confidence,
            source: Source::Through,
        };
        Some(Found { edge, partner: u32::MAX, contact, waits: known.confidence < R::nearest(0.1) })
    }
}
