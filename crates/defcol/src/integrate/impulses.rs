//! Impulses between points of bodies, whatever these are made of.

use super::System;
use crate::math::{Matrix3, Real, Vector3};
use crate::model::Model;
use crate::state::Bodies;

/// How a body gives way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Vertex by vertex.
    Points,
    /// As one piece.
    Rigid,
    /// By its joints.
    Jointed,
    /// Not at all.
    Fixed,
}

impl Kind {
    pub fn of<R: Real>(model: &Model<R>) -> Self {
        match model {
            Model::Rigid(_) => Self::Rigid,
            Model::Articulated(_) => Self::Jointed,
            Model::Driven(_) => Self::Fixed,
            _ => Self::Points,
        }
    }
}

/// Two surfaces that touch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Impact<R: Real> {
    pub vertices: [u32; 4],
    /// Positive for one body, negative for the other.
    pub weights: [R; 4],
    pub normal: Vector3<R>,
    /// The speed at which both came, negative; zero if nothing is given back.
    pub speed: R,
}

impl<R: Real> Impact<R> {
    fn parts(&self) -> [Part<R>; 4] {
        std::array::from_fn(|k| (self.vertices[k], self.weights[k]))
    }
}

/// A vertex and its weight: positive on one side, negative on the other.
pub(super) type Part<R> = (u32, R);

/// Changes rates.
pub(super) struct Impulses<'a, R: Real> {
    pub bodies: &'a Bodies,
    pub models: &'a [Model<R>],
    pub kinds: &'a [Kind],
    pub any_rigid: bool,
    pub positions: &'a [Vector3<R>],
    pub coordinates: &'a [Vector3<R>],
    pub inverse_masses: &'a [R],
    /// Inverse inertia of each body, of rigid ones.
    pub inertias: &'a [Matrix3<R>],
    pub rates: &'a mut [Vector3<R>],
}

impl<R: Real> Impulses<'_, R> {
    /// Sets the speeds at which surfaces part that touched: corrections of positions must not throw them apart. What came
    /// faster than `threshold` gets a share of its speed back, everything else stays where it is.
    pub fn bounce<'i>(
        &mut self,
        impacts: impl Iterator<Item = &'i Impact<R>>,
        restitution: R,
        threshold: R,
    ) {
        for impact in impacts {
            let speed = impact.speed;
            let wanted = if speed < -threshold { -restitution * speed } else { R::zero() };
            if self.any_rigid {
                let parts = impact.parts();
                let yields = self.yields(&parts, impact.normal);
                if yields > R::zero() {
                    let missing = wanted - self.velocity(&parts).dot(&impact.normal);
                    self.push(&parts, impact.normal * (missing / yields));
                }
            } else {
                self.bounce_points(impact, wanted);
            }
        }
    }

    /// Bodies whose vertices are free.
    #[inline]
    fn bounce_points(&mut self, impact: &Impact<R>, wanted: R) {
        let Impact { vertices, weights: [t, u, v, w], normal, .. } = *impact;
        let index = vertices.map(|vertex| vertex as usize);
        let rates = index.map(|k| self.rates[k]);
        let now = (rates[0] * t + rates[1] * u + rates[2] * v + rates[3] * w).dot(&normal);
        let inverse = index.map(|k| self.inverse_masses[k]);
        let share = [inverse[0] * t, inverse[1] * u, inverse[2] * v, inverse[3] * w];
        let yields = share[0] * t + share[1] * u + share[2] * v + share[3] * w;
        if yields > R::zero() {
            let push = normal * ((wanted - now) / yields);
            for k in 0..4 {
                self.rates[index[k]] += push * share[k];
            }
        }
    }

    /// How both sides move apart.
    pub fn velocity(&self, parts: &[Part<R>]) -> Vector3<R> {
        parts.iter().fold(Vector3::zeros(), |sum, &(vertex, weight)| {
            let (body, start) = self.start(vertex);
            let velocity = match &self.models[body] {
                Model::Rigid(_) => {
                    let arm = self.positions[vertex as usize] - self.coordinates[start];
                    self.rates[start] + self.rates[start + 1].cross(&arm)
                }
                Model::Articulated(skin) => {
                    skin.way_of(vertex as usize - start, |joint| self.rates[start + joint].x)
                }
                _ => self.rates[vertex as usize],
            };
            sum + velocity * weight
        })
    }

    /// How fast both sides part for an impulse of one along a direction.
    pub fn yields(&self, parts: &[Part<R>], way: Vector3<R>) -> R {
        let mut yields = R::zero();
        let mut done = usize::MAX;
        for &(vertex, weight) in parts {
            let (body, _) = self.start(vertex);
            match (self.kinds[body], &self.models[body]) {
                (Kind::Points, _) => {
                    yields += self.inverse_masses[vertex as usize] * weight * weight;
                }
                // All of its vertices together are one lever.
                (Kind::Rigid, Model::Rigid(rigid)) if body != done && weight != R::zero() => {
                    done = body;
                    let (total, moment) = self.lever(body, parts);
                    let torque = moment.cross(&way);
                    yields +=
                        total * total / rigid.mass + torque.dot(&(self.inertias[body] * torque));
                }
                (Kind::Jointed, Model::Articulated(skin)) if body != done => {
                    done = body;
                    yields +=
                        skin.response(on_body(self.bodies, body, parts.iter().copied(), way)).1;
                }
                _ => {}
            }
        }
        yields
    }

    /// Changes the rates of both sides.
    pub fn push(&mut self, parts: &[Part<R>], impulse: Vector3<R>) {
        let mut done = usize::MAX;
        for &(vertex, weight) in parts {
            let (body, start) = self.start(vertex);
            match (self.kinds[body], &self.models[body]) {
                (Kind::Points, _) => {
                    let share = self.inverse_masses[vertex as usize] * weight;
                    self.rates[vertex as usize] += impulse * share;
                }
                (Kind::Rigid, Model::Rigid(rigid)) => {
                    let arm = self.positions[vertex as usize] - self.coordinates[start];
                    let own = impulse * weight;
                    self.rates[start] += own / rigid.mass;
                    self.rates[start + 1] += self.inertias[body] * arm.cross(&own);
                }
                (Kind::Jointed, Model::Articulated(skin)) if body != done => {
                    done = body;
                    let (turns, _) =
                        skin.response(on_body(self.bodies, body, parts.iter().copied(), impulse));
                    let joints = self.rates[start..].iter_mut().take(skin.joints().len());
                    joints.zip(turns).for_each(|(rate, turn)| rate.x += turn);
                }
                _ => {}
            }
        }
    }

    fn start(&self, vertex: u32) -> (usize, usize) {
        let body = self.bodies.body_of(vertex);
        (body, self.bodies.list()[body].vertices.start)
    }

    /// The sum of the weights on a body, and of the weighted arms from its centre.
    fn lever(&self, body: usize, parts: &[Part<R>]) -> (R, Vector3<R>) {
        let centre = self.coordinates[self.bodies.list()[body].vertices.start];
        let own = parts.iter().filter(|(vertex, _)| self.bodies.body_of(*vertex) == body);
        own.fold((R::zero(), Vector3::zeros()), |(total, moment), &(vertex, weight)| {
            (total + weight, moment + (self.positions[vertex as usize] - centre) * weight)
        })
    }
}

/// The share of an impulse on each vertex of a body, counted from its first.
pub(super) fn on_body<R: Real>(
    bodies: &Bodies,
    body: usize,
    parts: impl Iterator<Item = Part<R>>,
    impulse: Vector3<R>,
) -> impl Iterator<Item = (usize, Vector3<R>)> {
    let own = bodies.list()[body].vertices.clone();
    let start = own.start;
    parts
        .map(|(vertex, weight)| (vertex as usize, weight))
        .filter(move |(vertex, _)| own.contains(vertex))
        .map(move |(vertex, weight)| (vertex - start, impulse * weight))
}

/// Inverse inertias of all bodies, zero where they are not rigid.
pub(super) fn inertias<R: Real>(system: &System<R>, inertias: &mut Vec<Matrix3<R>>) {
    inertias.clear();
    let all = system.bodies.list().iter().zip(&system.models);
    inertias.extend(all.map(|(body, model)| match model {
        Model::Rigid(rigid) => {
            rigid.world_inverse_inertia(&system.motion.coordinates[body.vertices.clone()])
        }
        _ => Matrix3::zeros(),
    }));
}
