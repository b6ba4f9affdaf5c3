//! The volume of overlaps as a constraint: impulses that make it vanish, with Coulomb friction and restitution. This goes past
//! FAURE08, which names it as future work.

use super::System;
use crate::contact::Contacts;
use crate::contact::volume::VolumeContact;
use crate::math::{Real, Vector3};
use crate::model::Model;
use crate::response::Touch;

/// The share of an overlap that is taken away in a step, at the recovery speed at the most.
const SHARE: f64 = 0.2;

/// Passes over all overlaps.
const PASSES: usize = 10;

/// Memory of the constraint.
#[derive(Debug, Default)]
pub struct VolumeConstraint<R: Real> {
    gradient: Vec<Vector3<R>>,
    generalised: Vec<Vector3<R>>,
    impulse: Vec<Vector3<R>>,
    contacts: Contacts<R>,
    before: Vec<f64>,
    total: Vec<f64>,
}

impl<R: Real> VolumeConstraint<R> {
    /// Changes rates so that overlaps do not grow, and shrink at a limited speed.
    pub fn apply(
        &mut self,
        system: &mut System<R>,
        volumes: &[VolumeContact],
        touch: &Touch<R>,
        step: R,
    ) {
        let vertices = system.bodies.vertex_count();
        for list in [&mut self.gradient, &mut self.generalised, &mut self.impulse] {
            list.resize(vertices, Vector3::zeros());
        }
        self.before.clear();
        self.total.clear();
        self.total.resize(volumes.len(), 0.0);
        for volume in volumes {
            let rate = self.rate(system, volume);
            self.before.push(rate);
        }
        for _ in 0..PASSES {
            for (number, volume) in volumes.iter().enumerate() {
                self.push(system, number, volume, touch, step);
            }
        }
        for (number, volume) in volumes.iter().enumerate() {
            self.brake(system, number, volume, touch);
        }
        system.follow_rates();
    }

    /// The gradient of a volume with respect to coordinates, and how the volume changes at the rates of now.
    fn rate(&mut self, system: &System<R>, volume: &VolumeContact) -> f64 {
        self.gradient.fill(Vector3::zeros());
        for share in volume.vertices() {
            self.gradient[share.vertex as usize] = share.gradient.map(R::nearest);
        }
        system.collapse(&mut self.gradient, &mut self.generalised);
        let parts = self.generalised.iter().zip(&system.motion.rates);
        parts.map(|(gradient, rate)| gradient.dot(rate).to_f64()).sum()
    }

    fn push(
        &mut self,
        system: &mut System<R>,
        number: usize,
        volume: &VolumeContact,
        touch: &Touch<R>,
        step: R,
    ) {
        let rate = self.rate(system, volume);
        divide_by_masses(system, &self.generalised, &mut self.impulse);
        let parts = self.generalised.iter().zip(&self.impulse);
        let yields: f64 = parts.map(|(a, b)| a.dot(b).to_f64()).sum();
        if !(yields > 0.0) {
            return;
        }
        let area: f64 =
            volume.vertices().iter().map(|share| share.gradient.norm()).sum::<f64>() / 2.0;
        let shrinking =
            (SHARE * volume.volume().value / step.to_f64()).min(touch.recovery.to_f64() * area);
        let bounced = touch.restitution.to_f64() * self.before[number].max(0.0);
        // Impulses may be taken back, but never pull.
        let wanted = (rate + shrinking.max(bounced)) / yields;
        let total = (self.total[number] + wanted).max(0.0);
        let change = total - self.total[number];
        self.total[number] = total;
        for (rate, way) in system.motion.rates.iter_mut().zip(&self.impulse) {
            *rate -= way * R::nearest(change);
        }
    }

    /// Coulomb friction: each vertex has its share of the impulse.
    fn brake(
        &mut self,
        system: &mut System<R>,
        number: usize,
        volume: &VolumeContact,
        touch: &Touch<R>,
    ) {
        if !(touch.friction > R::zero() && self.total[number] > 0.0) {
            return;
        }
        let mut contacts = std::mem::take(&mut self.contacts);
        volume.contacts(&system.bodies, &system.motion.positions, &mut contacts);
        for index in 0..contacts.len() {
            let (first, second) = (contacts.first()[index], contacts.second()[index]);
            let normal = contacts.direction()[index];
            system.follow_rates();
            let velocities = &system.motion.velocities;
            let slide = first.blend(velocities) - second.blend(velocities);
            let slide = slide - normal * slide.dot(&normal);
            let speed = slide.norm();
            if !(speed > R::zero()) {
                continue;
            }
            let way = slide / speed;
            self.gradient.fill(Vector3::zeros());
            first.spread(way, &mut self.gradient);
            second.spread(-way, &mut self.gradient);
            system.collapse(&mut self.gradient, &mut self.generalised);
            divide_by_masses(system, &self.generalised, &mut self.impulse);
            let parts = self.generalised.iter().zip(&self.impulse);
            let yields = parts.fold(R::zero(), |sum, (a, b)| sum + a.dot(b));
            if !(yields > R::zero()) {
                continue;
            }
            // Both bodies have contacts: each brakes half.
            let half = R::nearest(0.5 * self.total[number]);
            let allowed = touch.friction * contacts.area()[index] * half;
            let change = (speed / yields * R::nearest(0.5)).min(allowed);
            for (rate, way) in system.motion.rates.iter_mut().zip(&self.impulse) {
                *rate -= way * change;
            }
        }
        self.contacts = contacts;
    }
}

/// Changes of rates from impulses on coordinates.
fn divide_by_masses<R: Real>(system: &System<R>, from: &[Vector3<R>], to: &mut [Vector3<R>]) {
    for (body, model) in system.bodies.list().iter().zip(&system.models) {
        let own = body.vertices.clone();
        let (from, to) = (&from[own.clone()], &mut to[own.clone()]);
        match model {
            Model::Rigid(rigid) => {
                to.fill(Vector3::zeros());
                to[0] = from[0] / rigid.mass;
                to[1] = rigid.world_inverse_inertia(&system.motion.coordinates[own]) * from[1];
            }
            model if model.has_free_vertices() => {
                let inverse = &system.motion.inverse_masses[own];
                for ((to, from), w) in to.iter_mut().zip(from).zip(inverse) {
                    *to = from * *w;
                }
            }
            _ => to.fill(Vector3::zeros()),
        }
    }
}
