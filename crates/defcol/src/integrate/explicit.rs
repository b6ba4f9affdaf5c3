//! Integrators that look at forces now, and step.

use super::{Interval, System};
use crate::math::{Real, Vector3};
use crate::model::Model;
use crate::response::AppliedForces;

/// Buffers of the explicit integrators.
#[derive(Debug, Default)]
pub(super) struct Explicit<R: Real> {
    forces: Vec<Vector3<R>>,
    generalised: Vec<Vector3<R>>,
    accelerations: Vec<Vector3<R>>,
    moved: Vec<Vector3<R>>,
    start: [Vec<Vector3<R>>; 2],
    sums: [Vec<Vector3<R>>; 2],
}

impl<R: Real> Explicit<R> {
    /// Positions with the velocities of before, then velocities. Gains energy; here to be compared with.
    pub fn euler(&mut self, system: &mut System<R>, forces: &AppliedForces<R>, time: Interval<R>) {
        self.begin(system, forces, time);
        let step = time.step;
        self.accelerate(system, forces);
        self.advance(system, step);
        add(&mut system.motion.rates, &self.accelerations, step);
        system.follow_rates();
    }

    /// Velocities, then positions with the new velocities. Keeps energy in the mean.
    pub fn symplectic(
        &mut self,
        system: &mut System<R>,
        forces: &AppliedForces<R>,
        time: Interval<R>,
    ) {
        self.begin(system, forces, time);
        let step = time.step;
        self.accelerate(system, forces);
        add(&mut system.motion.rates, &self.accelerations, step);
        self.advance(system, step);
        system.follow_rates();
    }

    /// Velocity Verlet: of second order, keeps energy in the mean.
    pub fn verlet(&mut self, system: &mut System<R>, forces: &AppliedForces<R>, time: Interval<R>) {
        self.begin(system, forces, time);
        let step = time.step;
        let half = step / R::nearest(2.0);
        self.accelerate(system, forces);
        add(&mut system.motion.rates, &self.accelerations, half);
        self.advance(system, step);
        system.follow_rates();
        self.accelerate(system, forces);
        add(&mut system.motion.rates, &self.accelerations, half);
        system.follow_rates();
    }

    /// Runge and Kutta's method of fourth order.
    pub fn runge_kutta(
        &mut self,
        system: &mut System<R>,
        forces: &AppliedForces<R>,
        time: Interval<R>,
    ) {
        self.begin(system, forces, time);
        let step = time.step;
        self.start[0].clone_from(&system.motion.coordinates);
        self.start[1].clone_from(&system.motion.rates);
        self.sums.iter_mut().for_each(|sum| {
            sum.clear();
            sum.resize(system.motion.rates.len(), Vector3::zeros());
        });
        let [half, third, sixth] = [2.0, 3.0, 6.0].map(|n| step / R::nearest(n));
        for (stage, (weight, next)) in
            [(sixth, half), (third, half), (third, step), (sixth, step)].into_iter().enumerate()
        {
            self.accelerate(system, forces);
            add(&mut self.sums[0], &system.motion.rates, weight);
            add(&mut self.sums[1], &self.accelerations, weight);
            if stage == 3 {
                break;
            }
            self.moved.clone_from(&system.motion.rates);
            self.moved.iter_mut().for_each(|way| *way *= next);
            system.motion.coordinates.copy_from_slice(&self.start[0]);
            system.motion.rates.copy_from_slice(&self.start[1]);
            add(&mut system.motion.rates, &self.accelerations, next);
            system.advance(&self.moved);
            system.follow_rates();
        }
        system.motion.coordinates.copy_from_slice(&self.start[0]);
        system.motion.rates.copy_from_slice(&self.start[1]);
        system.advance(&self.sums[0]);
        add(&mut system.motion.rates, &self.sums[1], R::one());
        system.follow_rates();
    }

    /// What is prescribed, and joints: their rates for the whole step.
    fn begin(&mut self, system: &mut System<R>, applied: &AppliedForces<R>, time: Interval<R>) {
        let vertices = system.bodies.vertex_count();
        for list in [&mut self.forces, &mut self.generalised, &mut self.accelerations] {
            list.resize(vertices, Vector3::zeros());
        }
        drive(system, applied, &mut self.forces, &mut self.generalised, time);
    }

    fn accelerate(&mut self, system: &mut System<R>, applied: &AppliedForces<R>) {
        add_all_forces(system, applied, &mut self.forces);
        system.collapse(&mut self.forces, &mut self.generalised);
        self.accelerations.fill(Vector3::zeros());
        let motion = &system.motion;
        for (body, model) in system.bodies.list().iter().zip(&system.models) {
            let own = body.vertices.clone();
            let force = &self.generalised[own.clone()];
            let out = &mut self.accelerations[own.clone()];
            match model {
                Model::Rigid(rigid) => {
                    let coordinates = &motion.coordinates[own.clone()];
                    let turn = motion.rates[own][1];
                    let inertia = rigid.world_inertia(coordinates);
                    let torque = force[1] - turn.cross(&(inertia * turn));
                    out[0] = force[0] / rigid.mass + applied.gravity;
                    out[1] = rigid.world_inverse_inertia(coordinates) * torque;
                }
                model if model.has_free_vertices() => {
                    let inverse = &motion.inverse_masses[own];
                    for ((out, force), w) in out.iter_mut().zip(force).zip(inverse) {
                        if *w > R::zero() {
                            *out = force * *w + applied.gravity;
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn advance(&mut self, system: &mut System<R>, step: R) {
        self.moved.clone_from(&system.motion.rates);
        self.moved.iter_mut().for_each(|way| *way *= step);
        system.advance(&self.moved);
    }
}

/// All forces on vertices but for gravity; `forces` is overwritten.
pub(super) fn add_all_forces<R: Real>(
    system: &mut System<R>,
    applied: &AppliedForces<R>,
    forces: &mut [Vector3<R>],
) {
    forces.fill(Vector3::zeros());
    for (body, model) in system.bodies.list().iter().zip(&mut system.models) {
        let own = body.vertices.clone();
        let (places, velocities) =
            (&system.motion.positions[own.clone()], &system.motion.velocities[own.clone()]);
        model.add_forces(places, velocities, &mut forces[own]);
    }
    applied.add_forces(&system.bodies, &system.motion, forces);
}

/// Rates of what is prescribed, and of joints under the forces of now.
pub(super) fn drive<R: Real>(
    system: &mut System<R>,
    applied: &AppliedForces<R>,
    forces: &mut [Vector3<R>],
    generalised: &mut [Vector3<R>],
    Interval { step, left }: Interval<R>,
) {
    let joints = system.models.iter().any(|model| matches!(model, Model::Articulated(_)));
    if joints {
        forces.fill(Vector3::zeros());
        applied.add_forces(&system.bodies, &system.motion, forces);
        for (body, model) in system.bodies.list().iter().zip(&system.models) {
            if matches!(model, Model::Articulated(_)) {
                for vertex in body.vertices.clone() {
                    forces[vertex] += applied.gravity * system.motion.masses[vertex];
                }
            }
        }
        system.collapse(forces, generalised);
    }
    let motion = &mut system.motion;
    for (body, model) in system.bodies.list().iter().zip(&mut system.models) {
        let own = body.vertices.clone();
        match model {
            Model::Driven(driven) => {
                let places = &motion.positions[own.clone()];
                driven.velocities(places, left, &mut motion.rates[own]);
            }
            Model::Articulated(skin) => {
                let coordinates = &motion.coordinates[own.clone()];
                let torques = &generalised[own.clone()];
                skin.advance_rates(coordinates, &mut motion.rates[own], torques, step);
            }
            _ => {}
        }
    }
}

fn add<R: Real>(to: &mut [Vector3<R>], from: &[Vector3<R>], scale: R) {
    to.iter_mut().zip(from).for_each(|(sum, value)| *sum += value * scale);
}
