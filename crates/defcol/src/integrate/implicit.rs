//! Implicit Euler: forces at the end of the step, to first order.
//!
//! (M − dt² K − dt D) Δv = dt (f + dt K v), solved by conjugate gradients without forming a matrix. K is that of the
//! models, of contacts as springs and of overlapping volumes, -k (dV/dx)(dV/dx)ᵀ (FAURE08 equation 2).

use super::explicit::{add_all_forces, drive};
use super::{Interval, System};
use crate::math::{Matrix3, Real, Vector3};
use crate::model::Model;
use crate::response::AppliedForces;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Iterations at the most.
    pub iterations: u32,
    /// The residual, as a share of what it was.
    pub tolerance: f64,
}

impl Default for Accuracy {
    fn default() -> Self {
        Self { iterations: 60, tolerance: 1e-4 }
    }
}

/// Buffers of implicit Euler.
#[derive(Debug, Default)]
pub(super) struct Implicit<R: Real> {
    forces: Vec<Vector3<R>>,
    on_vertices: Vec<Vector3<R>>,
    right: Vec<Vector3<R>>,
    product: Vec<Vector3<R>>,
    residual: Vec<Vector3<R>>,
    direction: Vec<Vector3<R>>,
    scaled: Vec<Vector3<R>>,
    solution: Vec<Vector3<R>>,
    diagonal: Vec<R>,
    moved: Vec<Vector3<R>>,
}

impl<R: Real> Implicit<R> {
    /// One step.
    pub fn step(
        &mut self,
        system: &mut System<R>,
        applied: &AppliedForces<R>,
        accuracy: Accuracy,
        time: Interval<R>,
    ) {
        let step = time.step;
        let vertices = system.bodies.vertex_count();
        for list in [
            &mut self.forces,
            &mut self.on_vertices,
            &mut self.right,
            &mut self.product,
            &mut self.residual,
            &mut self.direction,
            &mut self.scaled,
            &mut self.solution,
        ] {
            list.resize(vertices, Vector3::zeros());
        }
        drive(system, applied, &mut self.forces, &mut self.right, time);
        system.follow_rates();
        self.right_side(system, applied, step);
        self.find_diagonal(system, applied, step);
        self.solve(system, applied, accuracy, step);
        for (rate, change) in system.motion.rates.iter_mut().zip(&self.solution) {
            *rate += change;
        }
        self.moved.clone_from(&system.motion.rates);
        self.moved.iter_mut().for_each(|way| *way *= step);
        system.advance_keeping_momentum(&self.moved);
        system.follow_rates();
    }

    fn right_side(&mut self, system: &mut System<R>, applied: &AppliedForces<R>, step: R) {
        add_all_forces(system, applied, &mut self.forces);
        let velocities = std::mem::take(&mut system.motion.velocities);
        for (body, model) in system.bodies.list().iter().zip(&mut system.models) {
            let own = body.vertices.clone();
            model.add_stiffness_times(&velocities[own.clone()], step, &mut self.forces[own]);
        }
        applied.add_stiffness_times(&velocities, [step, R::zero()], &mut self.forces);
        system.motion.velocities = velocities;
        system.collapse(&mut self.forces, &mut self.right);
        for (body, model) in system.bodies.list().iter().zip(&system.models) {
            let own = body.vertices.clone();
            let right = &mut self.right[own.clone()];
            match model {
                Model::Rigid(rigid) => right[0] += applied.gravity * rigid.mass,
                model if model.has_free_vertices() => {
                    for (sum, mass) in right.iter_mut().zip(&system.motion.masses[own]) {
                        *sum += applied.gravity * *mass;
                    }
                }
                _ => {}
            }
        }
        self.right.iter_mut().for_each(|value| *value *= step);
        filter(system, &mut self.right);
    }

    /// M − dt² K − dt D times a vector of coordinates, into `product`.
    fn multiply(&mut self, system: &mut System<R>, applied: &AppliedForces<R>, step: R) {
        let square = step * step;
        system.expand(&self.direction, &mut self.on_vertices);
        self.forces.fill(Vector3::zeros());
        for (body, model) in system.bodies.list().iter().zip(&mut system.models) {
            let own = body.vertices.clone();
            let scale = square + step * R::nearest(model.damping());
            model.add_stiffness_times(
                &self.on_vertices[own.clone()],
                -scale,
                &mut self.forces[own],
            );
        }
        applied.add_stiffness_times(&self.on_vertices, [-square, -step], &mut self.forces);
        system.collapse(&mut self.forces, &mut self.product);
        for (body, model) in system.bodies.list().iter().zip(&system.models) {
            let own = body.vertices.clone();
            let (from, to) = (&self.direction[own.clone()], &mut self.product[own.clone()]);
            match model {
                Model::Rigid(rigid) => {
                    let inertia = rigid.world_inertia(&system.motion.coordinates[own]);
                    to[0] += from[0] * rigid.mass;
                    to[1] += inertia * from[1];
                }
                _ => {
                    let masses = &system.motion.masses[own];
                    for ((to, from), mass) in to.iter_mut().zip(from).zip(masses) {
                        *to += from * *mass;
                    }
                }
            }
        }
        filter(system, &mut self.product);
    }

    fn find_diagonal(&mut self, system: &System<R>, applied: &AppliedForces<R>, step: R) {
        self.diagonal.clear();
        self.diagonal.resize(system.bodies.vertex_count(), R::zero());
        for (body, model) in system.bodies.list().iter().zip(&system.models) {
            let own = &mut self.diagonal[body.vertices.clone()];
            model.add_diagonal(own);
            let scale = step * step + step * R::nearest(model.damping());
            own.iter_mut().for_each(|value| *value *= scale);
        }
        applied.add_diagonal([step * step, step], &mut self.diagonal);
        for (value, mass) in self.diagonal.iter_mut().zip(&system.motion.masses) {
            *value += *mass;
        }
    }

    /// The residual, scaled by what is near the inverse of the matrix.
    fn precondition(&mut self, system: &System<R>) {
        for (body, model) in system.bodies.list().iter().zip(&system.models) {
            let own = body.vertices.clone();
            let (from, to) = (&self.residual[own.clone()], &mut self.scaled[own.clone()]);
            if let Model::Rigid(rigid) = model {
                to.fill(Vector3::zeros());
                to[0] = from[0] / rigid.mass;
                let inverse: Matrix3<R> =
                    rigid.world_inverse_inertia(&system.motion.coordinates[own]);
                to[1] = inverse * from[1];
            } else {
                for ((to, from), value) in to.iter_mut().zip(from).zip(&self.diagonal[own]) {
                    *to = if *value > R::zero() { from / *value } else { Vector3::zeros() };
                }
            }
        }
    }

    fn solve(
        &mut self,
        system: &mut System<R>,
        applied: &AppliedForces<R>,
        accuracy: Accuracy,
        step: R,
    ) {
        self.solution.fill(Vector3::zeros());
        self.residual.copy_from_slice(&self.right);
        self.precondition(system);
        self.direction.copy_from_slice(&self.scaled);
        let mut norm = dot(&self.residual, &self.scaled);
        let enough = norm * accuracy.tolerance * accuracy.tolerance;
        let mut iterations = 0;
        while iterations < accuracy.iterations && norm > enough {
            self.multiply(system, applied, step);
            let curvature = dot(&self.direction, &self.product);
            // Not a valley any more: what was found so far is a good step.
            if !(curvature > 0.0) {
                if iterations == 0 {
                    self.solution.copy_from_slice(&self.scaled);
                }
                break;
            }
            let along = R::nearest(norm / curvature);
            for (value, way) in self.solution.iter_mut().zip(&self.direction) {
                *value += way * along;
            }
            for (value, way) in self.residual.iter_mut().zip(&self.product) {
                *value -= way * along;
            }
            self.precondition(system);
            let next = dot(&self.residual, &self.scaled);
            let share = R::nearest(next / norm);
            for (way, value) in self.direction.iter_mut().zip(&self.scaled) {
                *way = value + *way * share;
            }
            norm = next;
            iterations += 1;
        }
    }
}

/// Nothing for what cannot be moved, or is not solved for.
fn filter<R: Real>(system: &System<R>, vector: &mut [Vector3<R>]) {
    for (body, model) in system.bodies.list().iter().zip(&system.models) {
        let own = body.vertices.clone();
        match model {
            Model::Rigid(_) => {}
            model if model.has_free_vertices() => {
                let inverse = &system.motion.inverse_masses[own.clone()];
                for (value, w) in vector[own].iter_mut().zip(inverse) {
                    if *w == R::zero() {
                        *value = Vector3::zeros();
                    }
                }
            }
            _ => vector[own].fill(Vector3::zeros()),
        }
    }
}

/// Always summed up in the same order, in double precision.
fn dot<R: Real>(a: &[Vector3<R>], b: &[Vector3<R>]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b).to_f64()).sum()
}
