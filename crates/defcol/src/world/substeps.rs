//! How many substeps a frame takes.

use super::scene::{Scene, State, Workspace};
use crate::integrate::{Interval, System};
use crate::math::{Bounds, Real};

/// How many times as many substeps a frame may take so that nothing fast passes through something thin.
const MOST_TIMES: f64 = 16.0;

/// Substeps of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Substeps {
    /// Substeps taken.
    pub taken: u32,
    /// Substeps that [`SimulationParameters::largest_move`](super::SimulationParameters::largest_move) asks for. If these
    /// are more, something fast may have passed through something thin: raise
    /// [`substeps`](super::SimulationParameters::substeps) or shorten [`frame`](super::SimulationParameters::frame).
    pub needed: f64,
}

impl Substeps {
    /// The substeps in order, for a frame of this length in s.
    pub(super) fn intervals<R: Real>(self, frame: f64) -> impl Iterator<Item = Interval<R>> {
        let step = frame / f64::from(self.taken);
        (0..self.taken).map(move |number| Interval {
            step: R::nearest(step),
            left: R::nearest(step * f64::from(self.taken - number)),
        })
    }
}

impl<R: Real> Workspace<R> {
    /// Decides on the substeps of a frame: more than the parameters say if something would otherwise move too far at once,
    /// and something may be in its way.
    pub(super) fn plan_substeps(&mut self, scene: &Scene<R>, state: &State<R>) -> Substeps {
        let parameters = &scene.parameters;
        let wished = f64::from(parameters.substeps);
        let needed = parameters
            .largest_move
            .map_or(wished, |largest| self.needed_substeps(scene, &state.system, largest));
        let taken = needed.min(wished * MOST_TIMES) as u32;
        self.substeps = Substeps { taken, needed };
        self.substeps
    }

    fn needed_substeps(&mut self, scene: &Scene<R>, system: &System<R>, largest: f64) -> f64 {
        let parameters = &scene.parameters;
        let bodies = &system.bodies;
        let contact = parameters.contact.thickness;
        let thickness = |a: usize, b: usize| system.thickness[a].min(system.thickness[b]);
        let way = |body: usize| largest_way(scene, system, body);
        let mut needed = f64::from(parameters.substeps);
        let mut need = |way: f64, thickness: f64| {
            let most = largest * thickness.max(contact);
            if most > 0.0 && way.is_finite() && way > most {
                needed = needed.max((way / most).ceil());
            }
        };
        let pairs = self.finder.swept_pairs(system, swept_boxes(scene, system));
        for [a, b] in pairs.iter().map(|pair| pair.map(|body| body as usize)) {
            need(way(a) + way(b), thickness(a, b));
        }
        for body in 0..bodies.len() {
            let way = way(body);
            if bodies.may_collide(body, body) {
                need(way, thickness(body, body));
            }
            let places = &system.motion.positions[bodies.list()[body].vertices.clone()];
            for collider in scene.colliders.values() {
                let near = R::nearest(way + contact);
                if places.iter().any(|place| collider.nearest(*place).1 < near) {
                    need(way, thickness(body, body).min(collider.thickness()));
                }
            }
        }
        needed
    }
}

/// Boxes around the bodies on their way through the next frame.
fn swept_boxes<R: Real>(scene: &Scene<R>, system: &System<R>) -> impl Iterator<Item = Bounds<R>> {
    let frame = R::nearest(scene.parameters.frame);
    let fall = (scene.parameters.gravity * scene.parameters.frame).map(R::nearest);
    let motion = &system.motion;
    system.bodies.list().iter().map(move |body| {
        let own = body.vertices.clone();
        let moving = motion.positions[own.clone()].iter().zip(&motion.velocities[own]);
        Bounds::of(moving.flat_map(|(place, velocity)| {
            [*place, place + velocity * frame, place + (velocity + fall) * frame]
        }))
    })
}

/// How far the fastest vertex of a body moves in a frame, in m.
fn largest_way<R: Real>(scene: &Scene<R>, system: &System<R>, body: usize) -> f64 {
    let own = system.bodies.list()[body].vertices.clone();
    let velocities = system.motion.velocities[own].iter();
    let fastest = velocities.fold(R::zero(), |most, velocity| most.max(velocity.norm()));
    let (frame, gravity) = (scene.parameters.frame, scene.parameters.gravity);
    (fastest.to_f64() + gravity.norm() * frame) * frame
}
