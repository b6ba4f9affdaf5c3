//! Contacts as springs with dampers and friction (THESIS section 7.2; Coulomb's law, made smooth where things stick).

use super::{Collider, ContactParameters};
use crate::contact::{Anchor, Contacts};
use crate::math::{Real, Vector3};
use crate::state::{Bodies, Motion};

/// How stiff contacts are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Springs {
    /// The frequency of what touches on its spring, in Hz: the stiffness follows from the masses.
    pub frequency: f64,
    /// Damping, as a share of what would just not bounce.
    pub damping: f64,
}

impl Default for Springs {
    fn default() -> Self {
        Self { frequency: 20.0, damping: 0.3 }
    }
}

/// A contact ready for forces.
#[derive(Debug, Clone, Copy)]
struct PenaltyContact<R: Real> {
    first: Anchor<R>,
    /// None: what does not give way.
    second: Option<Anchor<R>>,
    normal: Vector3<R>,
    depth: R,
    stiffness: R,
    damping: R,
    friction: R,
    /// Whether it presses when the step begins: what parts is not held back.
    presses: bool,
}

/// All penalty contacts of a substep.
#[derive(Debug, Default)]
pub(crate) struct PenaltyContacts<R: Real> {
    list: Vec<PenaltyContact<R>>,
    /// Positions in which the contacts were found.
    found_at: Vec<Vector3<R>>,
}

impl<R: Real> PenaltyContacts<R> {
    /// Starts over with contacts that were found in these positions.
    pub fn begin(&mut self, positions: &[Vector3<R>]) {
        self.list.clear();
        self.found_at.clear();
        self.found_at.extend_from_slice(positions);
    }

    /// Adds contacts between bodies.
    pub fn add_contacts(
        &mut self,
        contacts: &Contacts<R>,
        motion: &Motion<R>,
        springs: Springs,
        friction: R,
    ) {
        for index in 0..contacts.len() {
            let (first, second) = (contacts.first()[index], contacts.second()[index]);
            let normal = contacts.direction()[index];
            let depth = contacts.depth()[index];
            self.add(first, Some(second), normal, depth, motion, springs, friction);
        }
    }

    /// Adds contacts with what does not give way: vertices that are nearer to it than the thickness.
    pub fn add_colliders(
        &mut self,
        bodies: &Bodies,
        motion: &Motion<R>,
        colliders: &[Collider<R>],
        springs: Springs,
        properties: &ContactParameters<R>,
    ) {
        for body in bodies.list().iter().filter(|body| body.collides.enabled) {
            for vertex in body.vertices.clone() {
                if motion.inverse_masses[vertex] == R::zero() {
                    continue;
                }
                for collider in colliders {
                    let (normal, gap) = collider.nearest(motion.positions[vertex]);
                    let depth = properties.thickness - gap;
                    if depth > R::zero() {
                        let first = Anchor::vertex(vertex as u32);
                        let friction = collider.friction.unwrap_or(properties.friction);
                        self.add(first, None, normal, depth, motion, springs, friction);
                    }
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a record is taken apart")]
    fn add(
        &mut self,
        first: Anchor<R>,
        second: Option<Anchor<R>>,
        normal: Vector3<R>,
        depth: R,
        motion: &Motion<R>,
        springs: Springs,
        friction: R,
    ) {
        let own = |anchor: &Anchor<R>| {
            anchor.parts().fold(R::zero(), |sum, (vertex, weight)| {
                sum + motion.inverse_masses[vertex as usize] * weight * weight
            })
        };
        let inverse = own(&first) + second.as_ref().map_or(R::zero(), own);
        if !(inverse > R::zero()) {
            return;
        }
        let mass = R::one() / inverse;
        let omega = R::nearest(std::f64::consts::TAU * springs.frequency);
        let mut push = PenaltyContact {
            first,
            second,
            normal,
            depth,
            stiffness: mass * omega * omega,
            damping: mass * omega * R::nearest(2.0 * springs.damping),
            friction,
            presses: true,
        };
        let along = push.difference(&motion.velocities).dot(&normal);
        push.presses = push.stiffness * depth - push.damping * along > R::zero();
        self.list.push(push);
    }

    /// Adds all forces. Depths change with the way from the positions in which the contacts were found.
    pub fn add_forces(
        &self,
        positions: &[Vector3<R>],
        velocities: &[Vector3<R>],
        forces: &mut [Vector3<R>],
    ) {
        for push in &self.list {
            let way = push.difference(positions) - push.difference(&self.found_at);
            let depth = push.depth - way.dot(&push.normal);
            let rate = push.difference(velocities);
            let along = rate.dot(&push.normal);
            let pressing = push.stiffness * depth - push.damping * along;
            if !(depth > R::zero() && pressing > R::zero()) {
                continue;
            }
            let slide = rate - push.normal * along;
            let speed = slide.norm();
            let mut force = push.normal * pressing;
            if speed > R::zero() {
                // As a damper below the speed at which that would be stronger than friction.
                let braking = (push.damping * speed).min(push.friction * pressing);
                force -= slide * (braking / speed);
            }
            push.spread(force, forces);
        }
    }

    /// Adds how forces change if vertices move by `vector`: positions count times the first scale, velocities times the
    /// second.
    pub fn add_stiffness_times(
        &self,
        vector: &[Vector3<R>],
        scales: [R; 2],
        product: &mut [Vector3<R>],
    ) {
        for push in self.list.iter().filter(|push| push.presses) {
            let way = push.difference(vector);
            let along = way.dot(&push.normal);
            let own = push.stiffness * scales[0] + push.damping * scales[1];
            let mut force = push.normal * (-own * along);
            if push.friction > R::zero() {
                force -= (way - push.normal * along) * (push.damping * scales[1]);
            }
            push.spread(force, product);
        }
    }

    /// Adds to the diagonal of each vertex.
    pub fn add_diagonal(&self, scales: [R; 2], diagonal: &mut [R]) {
        for push in self.list.iter().filter(|push| push.presses) {
            let own = push.stiffness * scales[0] + push.damping * scales[1];
            for anchor in std::iter::once(&push.first).chain(&push.second) {
                for (vertex, weight) in anchor.parts() {
                    diagonal[vertex as usize] += own * weight * weight;
                }
            }
        }
    }
}

impl<R: Real> PenaltyContact<R> {
    fn difference(&self, of_vertices: &[Vector3<R>]) -> Vector3<R> {
        let own = self.first.blend(of_vertices);
        self.second.as_ref().map_or(own, |second| own - second.blend(of_vertices))
    }

    fn spread(&self, force: Vector3<R>, forces: &mut [Vector3<R>]) {
        self.first.spread(force, forces);
        if let Some(second) = &self.second {
            second.spread(-force, forces);
        }
    }
}
