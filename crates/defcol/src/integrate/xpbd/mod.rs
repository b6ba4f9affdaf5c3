//! Extended position-based dynamics with small steps (Macklin, Mueller 2016; Macklin et al. 2019).
//!
//! Each step moves everything freely, then corrects positions: every finite element by an implicit step of its own,
//! distances, areas, volumes and shapes as compliant constraints, contacts as hard ones. Velocities follow from how far
//! things came.

mod batch;
mod contacts;
mod groups;

use super::System;
use super::impulses::{Impulses, Kind, inertias};
use crate::contact::Contacts;
use crate::detect::proximity::{ProximityPairs, ProximityParameters};
use crate::error::DetectError;
use crate::math::{Matrix3, Real, Vector3};
use crate::model::Model;
use crate::response::{Collider, Pull, Touch};
use crate::state::Motion;
use crate::stats::{Clock, Stage};
use contacts::{Key, Meeting, Pass};
use groups::Groups;

/// Steps for which pairs are listed ahead, and a little more.
const HORIZON: f64 = 6.1;

/// How often all contacts are resolved in a step. Each step begins with the impulses of the last one, so that two do.
const PASSES: usize = 2;

/// Memory of the solver.
#[derive(Debug)]
pub struct Xpbd<R: Real> {
    groups: Groups<R>,
    kinds: Vec<Kind>,
    any_rigid: bool,
    inertias: Vec<Matrix3<R>>,
    before: Vec<Vector3<R>>,
    /// Coordinates after free motion.
    predicted: Vec<Vector3<R>>,
    /// How far vertices have come in this step. Positions and speeds are told from it: the difference of two positions
    /// has few digits, and what is at rest would never be still.
    moved: Vec<Vector3<R>>,
    generalised: Vec<Vector3<R>>,
    meetings: Vec<Meeting<R>>,
    /// Those of the step before.
    last: Vec<Meeting<R>>,
    sorted: Vec<(Key, Vector3<R>)>,
    /// How contacts move and turn rigid bodies.
    shifts: Vec<[Vector3<R>; 2]>,
    weights: Vec<Vector3<R>>,
}

impl<R: Real> Default for Xpbd<R> {
    fn default() -> Self {
        Self {
            groups: Groups::default(),
            kinds: vec![],
            any_rigid: false,
            inertias: vec![],
            before: vec![],
            predicted: vec![],
            generalised: vec![],
            moved: vec![],
            meetings: vec![],
            last: vec![],
            sorted: vec![],
            shifts: vec![],
            weights: vec![],
        }
    }
}

/// What a step needs to know of the world.
#[derive(Debug)]
pub struct Conditions<'a, R: Real> {
    /// Acceleration of everything.
    pub gravity: Vector3<R>,
    /// What does not give way.
    pub colliders: &'a [Collider<R>],
    /// What surfaces do that touch.
    pub touch: Touch<R>,
    /// Springs to points.
    pub pulls: &'a [Pull<R>],
    /// Whether surfaces are kept apart.
    pub layer: bool,
    /// Points deep in bodies.
    pub deep: &'a Contacts<R>,
    /// Time until the end of the frame.
    pub left: R,
    /// A number that changes whenever materials do.
    pub revision: u64,
}

impl<R: Real> Xpbd<R> {
    /// One step under gravity and these forces on vertices.
    pub fn step(
        &mut self,
        system: &mut System<R>,
        conditions: &Conditions<R>,
        near: &mut ProximityPairs<R>,
        forces: &mut [Vector3<R>],
        step: R,
        clock: &mut Clock,
    ) -> Result<(), DetectError> {
        clock.time(Stage::Integrate, || {
            self.prepare(system, conditions.revision, step);
            self.predict(system, conditions, forces, step);
            let System { bodies, models, motion, .. } = &mut *system;
            let inverse_masses = &motion.inverse_masses;
            let (before, moved) = (&self.before, &mut self.moved);
            self.groups.solve(bodies, models, inverse_masses, before, moved, step);
            self.place(system);
        });
        if conditions.layer && conditions.touch.thickness > R::zero() {
            let parameters = ProximityParameters {
                thickness: conditions.touch.thickness,
                horizon: step * R::nearest(HORIZON),
                elapsed: step,
            };
            let Motion { positions, velocities, .. } = &system.motion;
            clock.time(Stage::Detect, || {
                near.update(&system.bodies, positions, velocities, &system.rest, parameters)
            })?;
        }
        clock.time(Stage::Resolve, || self.contacts(system, conditions, near, step));
        clock.time(Stage::Integrate, || self.finish(system, conditions.touch, step));
        Ok(())
    }

    fn prepare(&mut self, system: &System<R>, revision: u64, step: R) {
        let System { bodies, models, motion, .. } = system;
        if self.groups.prepare(bodies, models, motion, revision, step) {
            // Impulses are masses times ways: they hold for steps of one length.
            self.meetings.clear();
        }
        self.kinds.clear();
        self.kinds.extend(models.iter().map(Kind::of));
        self.any_rigid = self.kinds.iter().any(|kind| matches!(kind, Kind::Rigid | Kind::Jointed));
        inertias(system, &mut self.inertias);
        self.generalised.resize(bodies.vertex_count(), Vector3::zeros());
        self.moved.resize(bodies.vertex_count(), Vector3::zeros());
        self.shifts.clear();
        self.shifts.resize(bodies.len(), [Vector3::zeros(); 2]);
    }

    /// Everything moves as if nothing were in its way.
    fn predict(
        &mut self,
        system: &mut System<R>,
        conditions: &Conditions<R>,
        forces: &mut [Vector3<R>],
        step: R,
    ) {
        self.before.clone_from(&system.motion.positions);
        system.collapse(forces, &mut self.generalised);
        let System { bodies, models, motion, .. } = system;
        for (body, model) in bodies.list().iter().zip(models.iter_mut()) {
            let own = body.vertices.clone();
            let force = &self.generalised[own.clone()];
            let rates = &mut motion.rates[own.clone()];
            let coordinates = &mut motion.coordinates[own.clone()];
            match model {
                Model::Rigid(rigid) => {
                    let inverse = rigid.world_inverse_inertia(coordinates);
                    rates[0] += (force[0] / rigid.mass + conditions.gravity) * step;
                    rates[1] += inverse * force[1] * step;
                    let moved = [rates[0] * step, rates[1] * step];
                    rigid.advance(coordinates, &moved, Some(rates));
                    rigid.place(coordinates, &mut motion.positions[own]);
                }
                Model::Articulated(skin) => {
                    let joints = skin.joints().len();
                    let mut torques = [Vector3::zeros(); crate::model::MOST_JOINTS];
                    let weights = &mut self.weights;
                    weights.clear();
                    let masses = motion.masses[own.clone()].iter();
                    weights.extend(masses.map(|mass| conditions.gravity * *mass));
                    skin.collapse(weights, &mut torques[..joints]);
                    torques.iter_mut().zip(force).take(joints).for_each(|(t, f)| *t += f);
                    skin.advance_rates(coordinates, rates, &torques, step);
                    for joint in 0..joints {
                        torques[joint] = rates[joint] * step;
                    }
                    skin.advance(coordinates, &torques);
                    skin.place(coordinates, &mut motion.positions[own]);
                }
                Model::Driven(driven) => {
                    driven.velocities(&motion.positions[own.clone()], conditions.left, rates);
                    for (way, rate) in self.moved[own].iter_mut().zip(rates) {
                        *way = *rate * step;
                    }
                }
                Model::Embedded(_) => {}
                _ => {
                    let inverse = &motion.inverse_masses[own.clone()];
                    let ways = &mut self.moved[own];
                    for (((way, rate), force), w) in
                        ways.iter_mut().zip(rates).zip(force).zip(inverse)
                    {
                        if *w > R::zero() {
                            *rate += (force * *w + conditions.gravity) * step;
                        } else {
                            *rate = Vector3::zeros();
                        }
                        *way = *rate * step;
                    }
                }
            }
        }
        self.predicted.clone_from(&motion.coordinates);
    }

    /// Puts vertices where they have come.
    fn place(&mut self, system: &mut System<R>) {
        let System { bodies, models, motion, .. } = system;
        for (body, kind) in bodies.list().iter().zip(&self.kinds) {
            let own = body.vertices.clone();
            let places = motion.positions[own.clone()].iter_mut();
            let ways = self.moved[own.clone()].iter_mut();
            for ((place, way), before) in places.zip(ways).zip(&self.before[own]) {
                match kind {
                    Kind::Rigid | Kind::Jointed => *way = *place - before,
                    Kind::Points | Kind::Fixed => *place = before + *way,
                }
            }
        }
        super::system::follow_carriers(bodies, models, &mut self.moved);
        super::system::follow_carriers(bodies, models, &mut motion.positions);
    }

    fn contacts(
        &mut self,
        system: &mut System<R>,
        conditions: &Conditions<R>,
        near: &ProximityPairs<R>,
        step: R,
    ) {
        let System { bodies, models, motion, .. } = system;
        let carried = models.iter().any(|model| matches!(model, Model::Embedded(_)));
        if carried {
            self.generalised.clone_from(&self.moved);
        }
        let mut pass = Pass {
            bodies,
            models,
            kinds: &self.kinds,
            positions: &motion.positions,
            coordinates: &mut motion.coordinates,
            before: &self.before,
            moved: &mut self.moved,
            velocities: &motion.velocities,
            inverse_masses: &motion.inverse_masses,
            inertias: &self.inertias,
            predicted: &self.predicted,
            shifts: &mut self.shifts,
            any_rigid: self.any_rigid,
            touch: conditions.touch,
            step,
        };
        pass.pulls(conditions.pulls);
        std::mem::swap(&mut self.meetings, &mut self.last);
        self.meetings.clear();
        if conditions.layer {
            pass.deep(conditions.deep);
            if conditions.touch.thickness > R::zero() {
                pass.meet_near(near, conditions.deep, &mut self.meetings);
            }
        }
        pass.meet_colliders(conditions.colliders, &mut self.meetings);
        pass.begin_with(&self.last, &mut self.sorted, &mut self.meetings);
        for _ in 0..PASSES {
            pass.resolve(&mut self.meetings);
        }
        pass.part(&mut self.meetings);
        if carried {
            self.move_carriers(system);
        }
    }

    /// Moves what carries vertices so that these come where contacts moved them, as well as it can.
    fn move_carriers(&mut self, system: &mut System<R>) {
        let System { bodies, models, motion, .. } = system;
        for (number, model) in models.iter().enumerate() {
            let Model::Embedded(embedded) = model else { continue };
            let own = bodies.list()[number].vertices.clone();
            let carrier = bodies.list()[embedded.carrier].vertices.clone();
            let inverse = &motion.inverse_masses;
            for (vertex, (corners, weights)) in own.zip(&embedded.anchors) {
                if self.moved[vertex] == self.generalised[vertex] {
                    continue;
                }
                // What others have moved already is not moved again.
                let parts =
                    || corners.iter().zip(weights).map(|(c, w)| (carrier.start + *c as usize, *w));
                let now = parts().fold(Vector3::zeros(), |sum, (c, w)| sum + self.moved[c] * w);
                let way = self.moved[vertex] - now;
                if way == Vector3::zeros() {
                    continue;
                }
                let yields = parts().fold(R::zero(), |sum, (c, w)| sum + w * w * inverse[c]);
                if yields > R::zero() {
                    for (corner, weight) in parts() {
                        self.moved[corner] += way * (weight * inverse[corner] / yields);
                    }
                }
            }
        }
    }

    /// Velocities from how far everything came.
    fn finish(&mut self, system: &mut System<R>, touch: Touch<R>, step: R) {
        self.place(system);
        let System { bodies, models, motion, .. } = system;
        let per_step = R::one() / step;
        let all = bodies.list().iter().zip(models.iter_mut()).zip(&self.shifts);
        for ((body, model), shift) in all {
            let own = body.vertices.clone();
            let rates = &mut motion.rates[own.clone()];
            match model {
                Model::Rigid(rigid) => {
                    // Free motion has its rates already, and keeps the angular momentum.
                    rates[0] += shift[0] * per_step;
                    rates[1] += shift[1] * per_step;
                    let pose = &mut motion.coordinates[own.clone()];
                    rigid.advance(pose, shift, None);
                    rigid.place(pose, &mut motion.positions[own]);
                }
                Model::Articulated(skin) => {
                    let (now, free) =
                        (&motion.coordinates[own.clone()], &self.predicted[own.clone()]);
                    for (rate, (now, free)) in
                        rates.iter_mut().zip(now.iter().zip(free)).take(skin.joints().len())
                    {
                        rate.x += (now.x - free.x) * per_step;
                    }
                    skin.place(now, &mut motion.positions[own]);
                }
                _ => {
                    for (rate, way) in rates.iter_mut().zip(&self.moved[own.clone()]) {
                        *rate = way * per_step;
                    }
                    motion.coordinates[own.clone()].copy_from_slice(&motion.positions[own.clone()]);
                    if let Model::Shape(shape) = model {
                        shape.damp(&motion.positions[own], rates, step);
                    }
                }
            }
        }
        let mut impulses = Impulses {
            bodies,
            models,
            kinds: &self.kinds,
            any_rigid: self.any_rigid,
            positions: &motion.positions,
            coordinates: &motion.coordinates,
            inverse_masses: &motion.inverse_masses,
            inertias: &self.inertias,
            rates: &mut motion.rates,
        };
        let pushed = self.meetings.iter().filter(|meeting| meeting.pushes());
        let impacts = pushed.map(|meeting| &meeting.impact);
        impulses.bounce(impacts, touch.restitution, touch.recovery);
        system.follow_rates();
    }
}
