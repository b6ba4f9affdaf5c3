//! Contacts as constraints on positions, one after the other.

use super::super::impulses::{Impact, Kind, on_body};
use crate::contact::Contacts;
use crate::detect::proximity::{ContactStencil, ProximityPairs};
use crate::math::{Bounds, Matrix3, Real, Vector3};
use crate::model::{MOST_JOINTS, Model};
use crate::response::{Collider, ContactParameters, Goal, Pull};
use crate::state::Bodies;

/// The share of what is missing of the layer that surfaces part by in a second.
const RELAXATION: f64 = 5.0;

/// What meets: one of the three below and the vertices of a stencil, or a vertex and the number of a collider.
pub(super) type Key = [u32; 5];

const POINT: u32 = 0;
const EDGES: u32 = 1;
const COLLIDER: u32 = 2;

/// Two surfaces that meet within a step, and the impulse between them so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting<R: Real> {
    pub impact: Impact<R>,
    key: Key,
    /// How far both are to part along the normal at the least; negative if they may come nearer.
    wanted: R,
    friction: R,
    /// How far free vertices part for an impulse of one, whatever its direction.
    yields: R,
    /// The impulse along the normal, never negative, and the one across it.
    load: R,
    drag: Vector3<R>,
    /// Whether both were parted, see [`Pass::part`].
    parted: bool,
}

impl<R: Real> Meeting<R> {
    /// How far both have to part at the least; what is too near already is parted later, see [`Pass::part`].
    #[inline]
    fn least(&self) -> R {
        self.wanted.min(R::zero())
    }

    /// Whether an impulse acts between both.
    pub fn pushes(&self) -> bool {
        self.parted || self.load > R::zero()
    }
}

/// Everything a contact reads and changes.
pub(super) struct Pass<'a, R: Real> {
    pub bodies: &'a Bodies,
    pub models: &'a [Model<R>],
    pub kinds: &'a [Kind],
    /// Positions after free motion; those of free vertices go on changing with `moved`.
    pub positions: &'a [Vector3<R>],
    /// Angles of joints change with every impulse.
    pub coordinates: &'a mut [Vector3<R>],
    /// Coordinates before anything was in the way.
    pub predicted: &'a [Vector3<R>],
    /// How far the centre of each rigid body is moved, and by which rotation vector it is turned.
    pub shifts: &'a mut [[Vector3<R>; 2]],
    /// Positions at the beginning of the step.
    pub before: &'a [Vector3<R>],
    /// How far free vertices have come since.
    pub moved: &'a mut [Vector3<R>],
    pub velocities: &'a [Vector3<R>],
    pub inverse_masses: &'a [R],
    /// Inverse inertia of each body, of rigid ones.
    pub inertias: &'a [Matrix3<R>],
    pub any_rigid: bool,
    pub properties: ContactParameters<R>,
    pub step: R,
}

impl<R: Real> Pass<'_, R> {
    /// Springs to points, each as if it were alone.
    pub fn pulls(&mut self, pulls: &[Pull<R>]) {
        let no_weights = [R::zero(); 4];
        for pull in pulls {
            let (other, weights) = match &pull.goal {
                Goal::Anchor(anchor) => (anchor.vertices, anchor.weights.map(|weight| -weight)),
                Goal::Point(_) => (pull.anchor.vertices, no_weights),
            };
            let mut all = ([0; 8], [R::zero(); 8]);
            all.0[..4].copy_from_slice(&pull.anchor.vertices);
            all.0[4..].copy_from_slice(&other);
            all.1[..4].copy_from_slice(&pull.anchor.weights);
            all.1[4..].copy_from_slice(&weights);
            let (vertices, weights) = all;
            let goal = match pull.goal {
                Goal::Point(point) => point,
                Goal::Anchor(_) => Vector3::zeros(),
            };
            let way = self.apart(&vertices, &weights, |own, v| own.place(v)) - goal;
            let before = self.apart(&vertices, &weights, |own, v| own.before[v as usize]) - goal;
            let length = way.norm();
            if !(length > R::zero()) {
                continue;
            }
            let yields = self.yields(&vertices, &weights, way / length);
            let stiffness = pull.stiffness * self.step * self.step;
            let damping = pull.damping * self.step;
            let force = way * stiffness + (way - before) * damping;
            let soft = R::one() + (stiffness + damping) * yields;
            self.push(&vertices, &weights, -force / soft);
        }
    }

    /// Adds surfaces that may come too near. Where a vertex is deep inside and is to leave another way, that way counts.
    pub fn meet_near(
        &self,
        near: &ProximityPairs<R>,
        deep: &Contacts<R>,
        meetings: &mut Vec<Meeting<R>>,
    ) {
        for stencil in near.stencils() {
            if !deep.is_empty() && self.leaves_otherwise(stencil, deep) {
                continue;
            }
            let was = stencil.gap_at(|vertex| self.before[vertex as usize]);
            let [a, b, c, d] = stencil.vertices;
            let kind = if stencil.weights[0] == R::one() { POINT } else { EDGES };
            meetings.push(self.meeting([kind, a, b, c, d], stencil, was, self.properties.friction));
        }
    }

    /// Adds vertices that may come too near to what does not give way.
    pub fn meet_colliders(&self, colliders: &[Collider<R>], meetings: &mut Vec<Meeting<R>>) {
        let (zero, one) = (R::zero(), R::one());
        // Others may push it nearer within the step.
        let near = self.properties.thickness * R::nearest(2.0);
        for (number, body) in self.bodies.list().iter().enumerate() {
            if self.kinds[number] == Kind::Fixed || !body.collides.enabled {
                continue;
            }
            let bounds = Bounds::of(body.vertices.clone().map(|vertex| self.place(vertex as u32)));
            let (middle, radius) = (bounds.center(), bounds.extent().norm() * R::nearest(0.5));
            for (number, collider) in (0u32..).zip(colliders) {
                if collider.nearest(middle).1 > radius + near {
                    continue;
                }
                let friction = collider.friction.unwrap_or(self.properties.friction);
                for vertex in body.vertices.clone() {
                    let place = self.place(vertex as u32);
                    let (normal, gap) = collider.nearest(place);
                    if !(gap <= near) {
                        continue;
                    }
                    let (vertices, weights) = ([vertex as u32; 4], [one, zero, zero, zero]);
                    let stencil = ContactStencil { vertices, weights, normal, gap };
                    let was = gap - (place - self.before[vertex]).dot(&normal);
                    let key = [COLLIDER, vertex as u32, number, 0, 0];
                    meetings.push(self.meeting(key, &stencil, was, friction));
                }
            }
        }
    }

    #[inline]
    fn meeting(&self, key: Key, stencil: &ContactStencil<R>, was: R, friction: R) -> Meeting<R> {
        let ContactStencil { vertices, weights, normal, .. } = *stencil;
        let parts = || vertices.iter().map(|&vertex| vertex as usize).zip(weights);
        let mut speed = R::zero();
        if self.properties.restitution > R::zero() {
            speed = parts().fold(speed, |sum, (v, w)| sum + self.velocities[v].dot(&normal) * w);
        }
        let yields = parts().fold(R::zero(), |sum, (v, w)| sum + self.inverse_masses[v] * w * w);
        Meeting {
            impact: Impact { vertices, weights, normal, speed },
            key,
            wanted: self.wanted(was) - was,
            friction,
            yields,
            load: R::zero(),
            drag: Vector3::zeros(),
            parted: false,
        }
    }

    /// Begins with the impulses of the step before: in a heap at rest nothing is left to do then. `sorted` is memory.
    pub fn begin_with(
        &mut self,
        last: &[Meeting<R>],
        sorted: &mut Vec<(Key, Vector3<R>)>,
        meetings: &mut [Meeting<R>],
    ) {
        sorted.clear();
        let mut in_order = true;
        let impulse_of = |known: &Meeting<R>| known.impact.normal * known.load + known.drag;
        for (number, meeting) in meetings.iter_mut().enumerate() {
            // Most often the same things meet.
            let same = last.get(number).filter(|known| in_order && known.key == meeting.key);
            let known = match same {
                Some(known) => impulse_of(known),
                None => {
                    if in_order {
                        in_order = false;
                        let pushed = last.iter().filter(|known| known.load > R::zero());
                        sorted.extend(pushed.map(|known| (known.key, impulse_of(known))));
                        sorted.sort_unstable_by_key(|known| known.0);
                    }
                    let place = sorted.binary_search_by_key(&meeting.key, |known| known.0);
                    place.map_or(Vector3::zeros(), |place| sorted[place].1)
                }
            };
            let Impact { vertices, weights, normal, .. } = meeting.impact;
            // The direction has changed a little; if it has turned over, as on the other side of a sheet, nothing is left.
            let load = known.dot(&normal);
            if load > R::zero() {
                (meeting.load, meeting.drag) = (load, known - normal * load);
                if self.any_rigid {
                    self.push(&vertices, &weights, known);
                } else {
                    self.push_points(&vertices, &weights, known);
                }
            }
        }
    }

    /// Stops what comes too near and brakes what slides, one meeting after the other. An impulse that was too large
    /// becomes smaller again, down to none.
    pub fn resolve(&mut self, meetings: &mut [Meeting<R>]) {
        for meeting in meetings {
            if self.any_rigid {
                self.resolve_any(meeting);
            } else {
                self.resolve_points(meeting);
            }
        }
    }

    /// Parts what is too near already. These impulses are forgotten after the step: where there is no room to part, as in a
    /// slot that is too narrow, they would grow from step to step without end.
    pub fn part(&mut self, meetings: &mut [Meeting<R>]) {
        for meeting in meetings.iter_mut().filter(|meeting| meeting.wanted > R::zero()) {
            let Impact { vertices, weights, normal, .. } = meeting.impact;
            let (came, yields) = if self.any_rigid {
                (self.came(&vertices, &weights), self.yields(&vertices, &weights, normal))
            } else {
                (self.points_came(&vertices, &weights), meeting.yields)
            };
            let missing = meeting.wanted - came.dot(&normal);
            if missing > R::zero() && yields > R::zero() {
                meeting.parted = true;
                let impulse = normal * (missing / yields);
                if self.any_rigid {
                    self.push(&vertices, &weights, impulse);
                } else {
                    self.push_points(&vertices, &weights, impulse);
                }
            }
        }
    }

    fn leaves_otherwise(&self, stencil: &ContactStencil<R>, deep: &Contacts<R>) -> bool {
        let body = |vertex: u32| self.bodies.body_of(vertex) as u32;
        let ends = [body(stencil.vertices[0]), body(stencil.vertices[3])];
        stencil.vertices.iter().zip(stencil.weights).any(|(&vertex, weight)| {
            let first = deep.first().partition_point(|anchor| anchor.vertices[0] < vertex);
            let own = (first..deep.len())
                .take_while(|&index| deep.first()[index].vertices[0] == vertex)
                .filter(|&index| ends.contains(&deep.bodies()[index][1]));
            own.into_iter().any(|index| {
                let along = deep.direction()[index].dot(&stencil.normal);
                if weight > R::zero() { along < R::nearest(0.3) } else { along > R::nearest(-0.3) }
            })
        })
    }

    /// How far apart both are to be that were so far apart before. What is in the layer parts slowly, what is in each
    /// other at a limited speed: neither gains energy to speak of.
    #[inline]
    fn wanted(&self, was: R) -> R {
        let ContactParameters { thickness, recovery, .. } = self.properties;
        if was >= thickness {
            return thickness;
        }
        let missing = thickness - was;
        let fastest = recovery * self.step;
        let way = if was > R::zero() {
            fastest.min(missing * self.step * R::nearest(RELAXATION))
        } else {
            fastest
        };
        thickness.min(was + way)
    }

    /// Bodies whose vertices are free.
    #[inline]
    fn resolve_points(&mut self, meeting: &mut Meeting<R>) {
        let Meeting { impact: Impact { vertices, weights, normal, .. }, .. } = *meeting;
        let came = self.points_came(&vertices, &weights);
        let along = came.dot(&normal);
        let per_way = R::one() / meeting.yields;
        let load = (meeting.load + (meeting.least() - along) * per_way).max(R::zero());
        if load == R::zero() && meeting.load == R::zero() || !(meeting.yields > R::zero()) {
            return;
        }
        let drag = meeting.drag - (came - normal * along) * per_way;
        let drag = shortened(drag, meeting.friction * load);
        let impulse = normal * (load - meeting.load) + (drag - meeting.drag);
        (meeting.load, meeting.drag) = (load, drag);
        self.push_points(&vertices, &weights, impulse);
    }

    /// How far both sides have come apart in this step.
    #[inline]
    fn points_came(&self, vertices: &[u32; 4], &[t, u, v, w]: &[R; 4]) -> Vector3<R> {
        let [a, b, c, d] = vertices.map(|vertex| self.moved[vertex as usize]);
        a * t + b * u + c * v + d * w
    }

    #[inline]
    fn push_points(&mut self, vertices: &[u32; 4], weights: &[R; 4], impulse: Vector3<R>) {
        for (&vertex, weight) in vertices.iter().zip(weights) {
            let share = *weight * self.inverse_masses[vertex as usize];
            self.moved[vertex as usize] += impulse * share;
        }
    }

    fn resolve_any(&mut self, meeting: &mut Meeting<R>) {
        let Meeting { impact: Impact { vertices, weights, normal, .. }, .. } = *meeting;
        let yields = self.yields(&vertices, &weights, normal);
        if !(yields > R::zero()) {
            return;
        }
        let missing = meeting.least() - self.came(&vertices, &weights).dot(&normal);
        let load = (meeting.load + missing / yields).max(R::zero());
        if load == R::zero() && meeting.load == R::zero() {
            return;
        }
        self.push(&vertices, &weights, normal * (load - meeting.load));
        meeting.load = load;
        let slid = self.came(&vertices, &weights);
        let slid = slid - normal * slid.dot(&normal);
        let length = slid.norm();
        let mut drag = meeting.drag;
        if length > R::zero() {
            // Nothing gives way along the axis of a hinge.
            let yields = self.yields(&vertices, &weights, slid / length);
            if yields > R::zero() {
                drag -= slid / yields;
            }
        }
        let drag = shortened(drag, meeting.friction * load);
        self.push(&vertices, &weights, drag - meeting.drag);
        meeting.drag = drag;
    }

    /// How far both sides have come apart in this step, whatever they are.
    fn came(&self, vertices: &[u32; 4], weights: &[R; 4]) -> Vector3<R> {
        self.apart(vertices, weights, |own, v| own.place(v) - own.before[v as usize])
    }

    /// Points deep inside, each with a direction and how far it is out. They leave at a limited speed.
    pub fn deep(&mut self, contacts: &Contacts<R>) {
        for index in 0..contacts.len() {
            let (first, second) = (contacts.first()[index], contacts.second()[index]);
            let normal = contacts.direction()[index];
            let mut vertices = [first.vertices[0]; 8];
            let mut weights = [R::zero(); 8];
            for k in 0..4 {
                (vertices[k], weights[k]) = (first.vertices[k], first.weights[k]);
                (vertices[4 + k], weights[4 + k]) = (second.vertices[k], -second.weights[k]);
            }
            // Both are at the same place where the second is carried by a tetrahedron; else that is on the surface.
            let on_surface =
                contacts.first()[index].weights[0] == R::one() && second.weights[3] == R::zero();
            let shift = if on_surface { R::zero() } else { contacts.depth()[index] };
            let apart = |own: &Self| own.apart(&vertices, &weights, |own, v| own.place(v));
            let before = self.apart(&vertices, &weights, |own, v| own.before[v as usize]);
            let was = before.dot(&normal) - shift;
            let missing = self.wanted(was) - (apart(self).dot(&normal) - shift);
            let yields = self.yields(&vertices, &weights, normal);
            if missing > R::zero() && yields > R::zero() {
                self.push(&vertices, &weights, normal * (missing / yields));
            }
        }
    }

    #[inline]
    fn place(&self, vertex: u32) -> Vector3<R> {
        let free = self.before[vertex as usize] + self.moved[vertex as usize];
        if !self.any_rigid {
            return free;
        }
        let body = self.bodies.body_of(vertex);
        match (self.kinds[body], &self.models[body]) {
            (Kind::Rigid, _) => {
                let ([shift, turn], free) = (self.shifts[body], self.positions[vertex as usize]);
                free + shift + turn.cross(&(free - self.centre(body)))
            }
            (Kind::Jointed, Model::Articulated(skin)) => {
                let start = self.bodies.list()[body].vertices.start;
                let turned = |joint: usize| {
                    self.coordinates[start + joint].x - self.predicted[start + joint].x
                };
                self.positions[vertex as usize] + skin.way_of(vertex as usize - start, turned)
            }
            _ => free,
        }
    }

    /// Where the centre of a rigid body is after free motion. Impulses act on the pose that it has then: what one of them
    /// moves another one can take back, whatever was between them.
    fn centre(&self, body: usize) -> Vector3<R> {
        self.coordinates[self.bodies.list()[body].vertices.start]
    }

    /// The weighted sum of places.
    fn apart(
        &self,
        vertices: &[u32],
        weights: &[R],
        place: impl Fn(&Self, u32) -> Vector3<R>,
    ) -> Vector3<R> {
        let parts = vertices.iter().zip(weights);
        parts.fold(Vector3::zeros(), |sum, (&v, &w)| sum + place(self, v) * w)
    }

    /// How far both sides part for an impulse of one along a direction.
    fn yields(&self, vertices: &[u32], weights: &[R], way: Vector3<R>) -> R {
        let mut sum = R::zero();
        let mut done = usize::MAX;
        for (&vertex, &weight) in vertices.iter().zip(weights) {
            if weight == R::zero() {
                continue;
            }
            let body = self.bodies.body_of(vertex);
            match self.kinds[body] {
                Kind::Points => sum += self.inverse_masses[vertex as usize] * weight * weight,
                Kind::Rigid if body != done => {
                    done = body;
                    sum += self.rigid_yields(body, vertices, weights, way);
                }
                Kind::Jointed if body != done => {
                    done = body;
                    sum += self.turns(body, vertices, weights, way).1;
                }
                _ => {}
            }
        }
        sum
    }

    /// How the joints of a body turn for an impulse, and how far it gives way.
    fn turns(
        &self,
        body: usize,
        vertices: &[u32],
        weights: &[R],
        impulse: Vector3<R>,
    ) -> ([R; MOST_JOINTS], R) {
        let Model::Articulated(skin) = &self.models[body] else {
            return ([R::zero(); MOST_JOINTS], R::zero());
        };
        let parts = vertices.iter().copied().zip(weights.iter().copied());
        skin.response(on_body(self.bodies, body, parts, impulse))
    }

    fn rigid_yields(&self, body: usize, vertices: &[u32], weights: &[R], way: Vector3<R>) -> R {
        let Model::Rigid(rigid) = &self.models[body] else { return R::zero() };
        let (total, moment) = self.lever(body, vertices, weights);
        let torque = moment.cross(&way);
        total * total / rigid.mass + torque.dot(&(self.inertias[body] * torque))
    }

    /// The sum of the weights on a body, and of the weighted arms from its centre.
    fn lever(&self, body: usize, vertices: &[u32], weights: &[R]) -> (R, Vector3<R>) {
        let centre = self.centre(body);
        let own = vertices
            .iter()
            .zip(weights)
            .filter(|(v, w)| **w != R::zero() && self.bodies.body_of(**v) == body);
        own.fold((R::zero(), Vector3::zeros()), |(total, moment), (&v, &w)| {
            (total + w, moment + (self.positions[v as usize] - centre) * w)
        })
    }

    /// Moves both sides by an impulse.
    fn push(&mut self, vertices: &[u32], weights: &[R], impulse: Vector3<R>) {
        let mut done = usize::MAX;
        for (&vertex, &weight) in vertices.iter().zip(weights) {
            let body = self.bodies.body_of(vertex);
            match self.kinds[body] {
                Kind::Points => {
                    let share = self.inverse_masses[vertex as usize] * weight;
                    self.moved[vertex as usize] += impulse * share;
                }
                Kind::Rigid if body != done && weight != R::zero() => {
                    done = body;
                    let Model::Rigid(rigid) = &self.models[body] else { continue };
                    let (total, moment) = self.lever(body, vertices, weights);
                    let [shift, turn] = &mut self.shifts[body];
                    *shift += impulse * (total / rigid.mass);
                    *turn += self.inertias[body] * moment.cross(&impulse);
                }
                Kind::Jointed if body != done && weight != R::zero() => {
                    done = body;
                    let (turns, _) = self.turns(body, vertices, weights, impulse);
                    let Model::Articulated(skin) = &self.models[body] else { continue };
                    let start = self.bodies.list()[body].vertices.start;
                    skin.turn(&mut self.coordinates[start..], turns);
                }
                _ => {}
            }
        }
    }
}

/// The same direction, but not longer than `most`.
#[inline]
fn shortened<R: Real>(way: Vector3<R>, most: R) -> Vector3<R> {
    let length = way.norm();
    if length > most { way * (most / length) } else { way }
}
