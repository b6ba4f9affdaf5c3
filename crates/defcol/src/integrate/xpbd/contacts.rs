//! Contacts as constraints on positions, one after the other.

use super::super::impulses::{Impact, Kind, on_body};
use crate::contact::Contacts;
use crate::contact::near::{Feature, NearPairs};
use crate::math::{Matrix3, Real, Vector3};
use crate::model::{MOST_JOINTS, Model, Rigid};
use crate::response::{Collider, Goal, Pull, Touch};
use crate::state::Bodies;

/// The share of what is missing of the layer that surfaces part by in a second.
const RELAXATION: f64 = 5.0;

/// Everything a contact reads and changes.
pub(super) struct Pass<'a, R: Real> {
    pub bodies: &'a Bodies,
    pub models: &'a [Model<R>],
    pub kinds: &'a [Kind],
    pub positions: &'a mut [Vector3<R>],
    pub coordinates: &'a mut [Vector3<R>],
    /// Coordinates before anything was in the way.
    pub predicted: &'a [Vector3<R>],
    /// Positions at the beginning of the step.
    pub before: &'a [Vector3<R>],
    pub velocities: &'a [Vector3<R>],
    pub inverse_masses: &'a [R],
    /// Inverse inertia of each body, of rigid ones.
    pub inertias: &'a [Matrix3<R>],
    pub impacts: &'a mut Vec<Impact<R>>,
    pub any_rigid: bool,
    pub touch: Touch<R>,
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

    /// Surfaces that are too near. Where a vertex is deep inside and is to leave another way, that way counts.
    pub fn near(&mut self, near: &NearPairs<R>, deep: &Contacts<R>) {
        for feature in near.features() {
            if !deep.is_empty() && self.leaves_otherwise(feature, deep) {
                continue;
            }
            if self.any_rigid {
                let gap = feature.gap_at(|vertex| self.place(vertex));
                if gap < self.touch.thickness {
                    self.resolve(&Feature { gap, ..*feature }, self.touch.friction);
                }
            } else {
                self.resolve_points(feature);
            }
        }
    }

    fn leaves_otherwise(&self, feature: &Feature<R>, deep: &Contacts<R>) -> bool {
        let body = |vertex: u32| self.bodies.body_of(vertex) as u32;
        let ends = [body(feature.vertices[0]), body(feature.vertices[3])];
        feature.vertices.iter().zip(feature.weights).any(|(&vertex, weight)| {
            let first = deep.first().partition_point(|anchor| anchor.vertices[0] < vertex);
            let own = (first..deep.len())
                .take_while(|&index| deep.first()[index].vertices[0] == vertex)
                .filter(|&index| ends.contains(&deep.bodies()[index][1]));
            own.into_iter().any(|index| {
                let along = deep.direction()[index].dot(&feature.normal);
                if weight > R::zero() { along < R::nearest(0.3) } else { along > R::nearest(-0.3) }
            })
        })
    }

    /// How far apart both are to be that were so far apart before. What is in the layer parts slowly, what is in each
    /// other at a limited speed: neither gains energy to speak of.
    #[inline]
    fn wanted(&self, was: R) -> R {
        let Touch { thickness, recovery, .. } = self.touch;
        let missing = thickness - was;
        let fastest = recovery * self.step;
        let way = if was > R::zero() {
            fastest.min(missing * self.step * R::nearest(RELAXATION))
        } else {
            fastest
        };
        thickness.min(was + way)
    }

    /// The same as [`resolve`](Self::resolve) for bodies whose vertices are free.
    #[inline]
    fn resolve_points(&mut self, feature: &Feature<R>) {
        let Feature { vertices, weights, normal, .. } = feature;
        let index = vertices.map(|vertex| vertex as usize);
        let now = index.map(|v| self.positions[v]);
        let [t, u, v, w] = *weights;
        let apart = now[0] * t + now[1] * u + now[2] * v + now[3] * w;
        let gap = apart.dot(normal);
        if !(gap < self.touch.thickness) {
            return;
        }
        let before = index.map(|v| self.before[v]);
        let was = before[0] * t + before[1] * u + before[2] * v + before[3] * w;
        let missing = self.wanted(was.dot(normal)) - gap;
        if !(missing > R::zero()) {
            return;
        }
        let inverse = index.map(|v| self.inverse_masses[v]);
        let share = [inverse[0] * t, inverse[1] * u, inverse[2] * v, inverse[3] * w];
        let yields = share[0] * t + share[1] * u + share[2] * v + share[3] * w;
        if !(yields > R::zero()) {
            return;
        }
        self.note_impact(feature);
        let slid = apart - was;
        let slid = slid - normal * slid.dot(normal);
        let length = slid.norm();
        let mut way = normal * (missing / yields);
        if length > R::zero() {
            way -= slid * ((self.touch.friction * missing / length).min(R::one()) / yields);
        }
        for k in 0..4 {
            self.positions[index[k]] += way * share[k];
        }
    }

    /// Keeps what touched, and how fast it came.
    #[inline]
    fn note_impact(&mut self, feature: &Feature<R>) {
        let Feature { vertices, weights, normal, .. } = *feature;
        let mut speed = R::zero();
        if self.touch.restitution > R::zero() {
            let parts = vertices.iter().zip(weights);
            speed = parts
                .fold(speed, |sum, (&v, w)| sum + self.velocities[v as usize].dot(&normal) * w);
        }
        self.impacts.push(Impact { vertices, weights, normal, speed });
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

    /// What does not give way.
    pub fn colliders(&mut self, colliders: &[Collider<R>]) {
        for (number, body) in self.bodies.list().iter().enumerate() {
            if self.kinds[number] == Kind::Fixed || !body.collides.enabled {
                continue;
            }
            for vertex in body.vertices.clone() {
                for collider in colliders {
                    let (normal, gap) = collider.nearest(self.place(vertex as u32));
                    if gap < self.touch.thickness {
                        self.stop(vertex as u32, normal, gap, collider);
                    }
                }
            }
        }
    }

    #[inline]
    fn place(&self, vertex: u32) -> Vector3<R> {
        if !self.any_rigid {
            return self.positions[vertex as usize];
        }
        let body = self.bodies.body_of(vertex);
        match (self.kinds[body], &self.models[body]) {
            (Kind::Rigid, Model::Rigid(rigid)) => self.rigid_place(rigid, body, vertex),
            (Kind::Jointed, Model::Articulated(skin)) => {
                let start = self.bodies.list()[body].vertices.start;
                let turned = |joint: usize| {
                    self.coordinates[start + joint].x - self.predicted[start + joint].x
                };
                self.positions[vertex as usize] + skin.way_of(vertex as usize - start, turned)
            }
            _ => self.positions[vertex as usize],
        }
    }

    fn rigid_place(&self, rigid: &Rigid<R>, body: usize, vertex: u32) -> Vector3<R> {
        let own = self.bodies.list()[body].vertices.clone();
        rigid.vertex(&self.coordinates[own.clone()], vertex as usize - own.start)
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

    /// Parts what is too near, and brakes what slides.
    fn resolve(&mut self, feature: &Feature<R>, friction: R) {
        let Feature { vertices, weights, normal, gap } = feature;
        let before = |own: &Self, way: Vector3<R>| {
            let parts = vertices.iter().zip(weights);
            parts.fold(R::zero(), |sum, (&v, &w)| sum + own.before[v as usize].dot(&way) * w)
        };
        // What was in each other before parts at a limited speed.
        let was = before(self, *normal);
        let missing = self.wanted(was) - *gap;
        if !(missing > R::zero()) {
            return;
        }
        let yields = self.yields(vertices, weights, *normal);
        if !(yields > R::zero()) {
            return;
        }
        let push = missing / yields;
        self.note_impact(feature);
        self.push(vertices, weights, *normal * push);
        if !(friction > R::zero()) {
            return;
        }
        let parts = vertices.iter().zip(weights);
        let slid = parts.fold(Vector3::zeros(), |sum, (&v, &w)| {
            sum + (self.place(v) - self.before[v as usize]) * w
        });
        let slid = slid - normal * slid.dot(normal);
        let length = slid.norm();
        if length > R::zero() {
            let way = slid / length;
            let needed = length / self.yields(vertices, weights, way);
            let allowed = friction * push;
            self.push(vertices, weights, way * -needed.min(allowed));
        }
    }

    /// The same for one vertex and something that does not give way.
    fn stop(&mut self, vertex: u32, normal: Vector3<R>, gap: R, collider: &Collider<R>) {
        let (zero, one) = (R::zero(), R::one());
        let feature = Feature {
            vertices: [vertex; 4],
            weights: [one, zero, zero, zero],
            normal,
            // So that the difference to before is what the vertex moved.
            gap,
        };
        let place = self.place(vertex);
        let before = self.before[vertex as usize];
        let was = gap - (place - before).dot(&normal);
        let missing = self.wanted(was) - gap;
        let yields = self.yields(&feature.vertices, &feature.weights, normal);
        if !(missing > zero && yields > zero) {
            return;
        }
        let push = missing / yields;
        self.note_impact(&feature);
        self.push(&feature.vertices, &feature.weights, normal * push);
        let slid = self.place(vertex) - before;
        let slid = slid - normal * slid.dot(&normal);
        let length = slid.norm();
        let friction = collider.friction.unwrap_or(self.touch.friction);
        if length > zero && friction > zero {
            let way = slid / length;
            let needed = length / self.yields(&feature.vertices, &feature.weights, way);
            self.push(&feature.vertices, &feature.weights, way * -needed.min(friction * push));
        }
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
        let centre = self.coordinates[self.bodies.list()[body].vertices.start];
        let own = vertices
            .iter()
            .zip(weights)
            .filter(|(v, w)| **w != R::zero() && self.bodies.body_of(**v) == body);
        own.fold((R::zero(), Vector3::zeros()), |(total, moment), (&v, &w)| {
            (total + w, moment + (self.place(v) - centre) * w)
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
                    self.positions[vertex as usize] += impulse * share;
                }
                Kind::Rigid if body != done && weight != R::zero() => {
                    done = body;
                    let Model::Rigid(rigid) = &self.models[body] else { continue };
                    let (total, moment) = self.lever(body, vertices, weights);
                    let turn = self.inertias[body] * moment.cross(&impulse);
                    let own = self.bodies.list()[body].vertices.clone();
                    let moved = [impulse * (total / rigid.mass), turn];
                    rigid.advance(&mut self.coordinates[own], &moved, None);
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
