//! Bodies that go where they are told to, and bodies that others carry.

use std::sync::Arc;

use crate::math::{Real, Vector3};

/// A body whose vertices follow what is prescribed: still, morphed between shapes, or set frame by frame.
#[derive(Debug, Clone)]
pub struct Driven<R: Real> {
    /// Where vertices are to be at the end of the frame; empty: where they are.
    goal: Vec<Vector3<R>>,
    rest: Arc<[Vector3<R>]>,
    targets: Arc<[Vec<Vector3<R>>]>,
}

impl<R: Real> Driven<R> {
    /// A body that stays.
    pub fn still() -> Self {
        Self::morphed(vec![], vec![])
    }

    /// A body that is blended between its shape at rest and others with as many vertices.
    pub fn morphed(rest: Vec<Vector3<R>>, targets: Vec<Vec<Vector3<R>>>) -> Self {
        Self { goal: vec![], rest: rest.into(), targets: targets.into() }
    }

    /// How many shapes there are beside that at rest.
    pub fn targets(&self) -> usize {
        self.targets.len()
    }

    /// The shape at rest plus the weighted differences of the others.
    pub fn blended(&self, weights: &[f64]) -> Vec<Vector3<R>> {
        let mut blended = self.rest.to_vec();
        for (target, &weight) in self.targets.iter().zip(weights) {
            let weight = R::nearest(weight);
            for ((blended, rest), place) in blended.iter_mut().zip(&*self.rest).zip(target) {
                *blended += (place - rest) * weight;
            }
        }
        blended
    }

    /// Sets where vertices are to be at the end of the frame.
    pub fn set_goal(&mut self, goal: &[Vector3<R>]) {
        self.goal.clear();
        self.goal.extend_from_slice(goal);
    }

    /// Velocities that lead there in the time that is left.
    pub fn velocities(&self, positions: &[Vector3<R>], left: R, velocities: &mut [Vector3<R>]) {
        if self.goal.is_empty() {
            velocities.fill(Vector3::zeros());
            return;
        }
        for ((velocity, goal), place) in velocities.iter_mut().zip(&self.goal).zip(positions) {
            *velocity = (goal - place) / left;
        }
    }
}

/// A surface that the tetrahedra of another body carry.
#[derive(Debug, Clone)]
pub struct Embedded<R: Real> {
    /// The number of the body that carries it, in the order of all bodies.
    pub carrier: usize,
    /// For each vertex four vertices of the carrier, counted from its first, with weights.
    pub anchors: Arc<[([u32; 4], [R; 4])]>,
}

impl<R: Real> Embedded<R> {
    /// What vertices have if those of the carrier have this: positions, velocities.
    pub fn follow(&self, carrier: &[Vector3<R>], own: &mut [Vector3<R>]) {
        for (value, (corners, weights)) in own.iter_mut().zip(&*self.anchors) {
            let parts = corners.iter().zip(weights);
            *value = parts.fold(Vector3::zeros(), |sum, (corner, weight)| {
                sum + carrier[*corner as usize] * *weight
            });
        }
    }

    /// Shares vectors on vertices out among those of the carrier: forces.
    pub fn spread(&self, own: &[Vector3<R>], carrier: &mut [Vector3<R>]) {
        for (vector, (corners, weights)) in own.iter().zip(&*self.anchors) {
            for (corner, weight) in corners.iter().zip(weights) {
                carrier[*corner as usize] += vector * *weight;
            }
        }
    }
}
