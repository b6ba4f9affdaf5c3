//! Extended position-based dynamics with small steps (Macklin, Mueller 2016; Macklin et al. 2019).
//!
//! Each step moves everything freely, then corrects positions: every finite element by an implicit step of its own,
//! distances, areas, volumes and shapes as compliant constraints, contacts as hard ones. Velocities follow from how far
//! things came.

mod batch;
mod contacts;
mod groups;

use super::impulses::{Impulses, Kind, inertias};
use super::{Interval, System};
use crate::contact::Contacts;
use crate::detect::proximity::ProximityPairs;
use crate::math::{Matrix3, Real, Vector3};
use crate::model::Model;
use crate::response::{AppliedForces, Collider, ContactParameters, Pull};
use crate::state::Scratch;
use contacts::{Key, Meeting, Pass};
use groups::Groups;

/// How often all contacts are resolved in a step. Each step begins with the impulses of the last one, so that two do.
const PASSES: usize = 2;

/// The solver. Its state is that of the elements and the impulses of the contacts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Xpbd<R: Real> {
    groups: Groups<R>,
    meetings: Vec<Meeting<R>>,
    buffers: Scratch<Buffers<R>>,
}

/// What is computed within a step.
#[derive(Debug, Default)]
struct Buffers<R: Real> {
    forces: Vec<Vector3<R>>,
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
    /// Contacts of the step before.
    last: Vec<Meeting<R>>,
    sorted: Vec<(Key, Vector3<R>)>,
    /// How contacts move and turn rigid bodies.
    shifts: Vec<[Vector3<R>; 2]>,
    weights: Vec<Vector3<R>>,
}

/// What contacts are made from.
#[derive(Debug)]
pub(crate) struct ContactInput<'a, R: Real> {
    pub colliders: &'a [Collider<R>],
    pub properties: ContactParameters<R>,
    /// Springs of draggers.
    pub pulls: &'a [Pull<R>],
    /// Points inside bodies with their depths; `None` if the response does not push them out by position.
    pub deep: Option<&'a Contacts<R>>,
    /// Surfaces closer than the thickness; `None` if they are not kept apart.
    pub proximity: Option<&'a ProximityPairs<R>>,
}

impl<R: Real> Xpbd<R> {
    /// Moves everything freely, then solves elements and the other constraints within bodies. `revision` is a number that
    /// changes whenever materials do.
    pub fn move_freely(
        &mut self,
        system: &mut System<R>,
        applied: &AppliedForces<R>,
        revision: u64,
        time: Interval<R>,
    ) {
        self.prepare(system, revision, time.step);
        self.buffers.predict(system, applied, time);
        let System { bodies, models, motion, .. } = &mut *system;
        let inverse_masses = &motion.inverse_masses;
        let Buffers { before, moved, .. } = &mut *self.buffers;
        self.groups.solve(bodies, models, inverse_masses, before, moved, time.step);
        self.buffers.place(system);
    }

    /// Copies the state of another solver; constants of elements and buffers stay.
    pub fn restore(&mut self, other: &Self) {
        self.groups.restore(&other.groups);
        self.meetings.clone_from(&other.meetings);
    }

    fn prepare(&mut self, system: &System<R>, revision: u64, step: R) {
        let System { bodies, models, motion, .. } = system;
        if self.groups.prepare(bodies, models, motion, revision, step) {
            // Impulses are masses times ways: they hold for steps of one length.
            self.meetings.clear();
        }
        let own = &mut *self.buffers;
        own.kinds.clear();
        own.kinds.extend(models.iter().map(Kind::of));
        own.any_rigid = own.kinds.iter().any(|kind| matches!(kind, Kind::Rigid | Kind::Jointed));
        inertias(system, &mut own.inertias);
        own.generalised.resize(bodies.vertex_count(), Vector3::zeros());
        own.moved.resize(bodies.vertex_count(), Vector3::zeros());
        own.shifts.clear();
        own.shifts.resize(bodies.len(), [Vector3::zeros(); 2]);
    }

    /// Solves contacts and draggers.
    pub fn solve_contacts(&mut self, system: &mut System<R>, input: &ContactInput<R>, step: R) {
        let System { bodies, models, motion, .. } = system;
        let own = &mut *self.buffers;
        let carried = models.iter().any(|model| matches!(model, Model::Embedded(_)));
        if carried {
            own.generalised.clone_from(&own.moved);
        }
        let mut pass = Pass {
            bodies,
            models,
            kinds: &own.kinds,
            positions: &motion.positions,
            coordinates: &mut motion.coordinates,
            before: &own.before,
            moved: &mut own.moved,
            velocities: &motion.velocities,
            inverse_masses: &motion.inverse_masses,
            inertias: &own.inertias,
            predicted: &own.predicted,
            shifts: &mut own.shifts,
            any_rigid: own.any_rigid,
            properties: input.properties,
            step,
        };
        pass.pulls(input.pulls);
        std::mem::swap(&mut self.meetings, &mut own.last);
        self.meetings.clear();
        if let Some(deep) = input.deep {
            pass.deep(deep);
            if let Some(proximity) = input.proximity {
                pass.meet_near(proximity, deep, &mut self.meetings);
            }
        }
        pass.meet_colliders(input.colliders, &mut self.meetings);
        pass.begin_with(&own.last, &mut own.sorted, &mut self.meetings);
        for _ in 0..PASSES {
            pass.resolve(&mut self.meetings);
        }
        pass.part(&mut self.meetings);
        if carried {
            own.move_carriers(system);
        }
    }

    /// Velocities from how far everything came.
    pub fn finish(&mut self, system: &mut System<R>, properties: &ContactParameters<R>, step: R) {
        let buffers = &mut *self.buffers;
        buffers.place(system);
        let System { bodies, models, motion, .. } = system;
        let per_step = R::one() / step;
        let all = bodies.list().iter().zip(models.iter_mut()).zip(&buffers.shifts);
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
                        (&motion.coordinates[own.clone()], &buffers.predicted[own.clone()]);
                    for (rate, (now, free)) in
                        rates.iter_mut().zip(now.iter().zip(free)).take(skin.joints().len())
                    {
                        rate.x += (now.x - free.x) * per_step;
                    }
                    skin.place(now, &mut motion.positions[own]);
                }
                _ => {
                    for (rate, way) in rates.iter_mut().zip(&buffers.moved[own.clone()]) {
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
            kinds: &buffers.kinds,
            any_rigid: buffers.any_rigid,
            positions: &motion.positions,
            coordinates: &motion.coordinates,
            inverse_masses: &motion.inverse_masses,
            inertias: &buffers.inertias,
            rates: &mut motion.rates,
        };
        let pushed = self.meetings.iter().filter(|meeting| meeting.pushes());
        let impacts = pushed.map(|meeting| &meeting.impact);
        impulses.bounce(impacts, properties.restitution, properties.recovery);
        system.follow_rates();
    }
}

impl<R: Real> Buffers<R> {
    /// Everything moves as if nothing were in its way.
    fn predict(
        &mut self,
        system: &mut System<R>,
        applied: &AppliedForces<R>,
        Interval { step, left }: Interval<R>,
    ) {
        self.before.clone_from(&system.motion.positions);
        self.forces.clear();
        self.forces.resize(system.bodies.vertex_count(), Vector3::zeros());
        applied.add_forces_without_pulls(&system.bodies, &system.motion, &mut self.forces);
        system.collapse(&mut self.forces, &mut self.generalised);
        let System { bodies, models, motion, .. } = system;
        for (body, model) in bodies.list().iter().zip(models.iter_mut()) {
            let own = body.vertices.clone();
            let force = &self.generalised[own.clone()];
            let rates = &mut motion.rates[own.clone()];
            let coordinates = &mut motion.coordinates[own.clone()];
            match model {
                Model::Rigid(rigid) => {
                    let inverse = rigid.world_inverse_inertia(coordinates);
                    rates[0] += (force[0] / rigid.mass + applied.gravity) * step;
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
                    weights.extend(masses.map(|mass| applied.gravity * *mass));
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
                    driven.velocities(&motion.positions[own.clone()], left, rates);
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
                            *rate += (force * *w + applied.gravity) * step;
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

    /// Moves what carries vertices so that these come where contacts moved them, as well as it can.
    fn move_carriers(&mut self, system: &mut System<R>) {
        let System { bodies, models, motion, .. } = system;
        for (number, model) in models.iter().enumerate() {
            let Model::Embedded(embedded) = model else { continue };
            let own = bodies.list()[number].vertices.clone();
            let carrier = bodies.list()[embedded.carrier].vertices.clone();
            let inverse = &motion.inverse_masses;
            for (vertex, (corners, weights)) in own.zip(&*embedded.anchors) {
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
}
