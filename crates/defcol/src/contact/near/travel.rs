//! How far bodies have come.

use crate::math::{Real, Vector3};
use crate::state::Bodies;

/// The length of the way that each body has come: the sum, call by call, of how far the vertex went that went farthest.
/// What all bodies move in common does not count: places are told from the middle of all.
#[derive(Debug, Default)]
pub(super) struct Travel<R: Real> {
    places: Vec<Vector3<R>>,
    lengths: Vec<f64>,
}

impl<R: Real> Travel<R> {
    /// Begins anew.
    pub fn forget(&mut self) {
        self.places.clear();
    }

    /// Adds the way to these positions. Returns whether there was none before.
    pub fn go(&mut self, bodies: &Bodies, positions: &[Vector3<R>]) -> bool {
        let middle = middle(positions);
        let known = self.places.len() == positions.len() && self.lengths.len() == bodies.len();
        if !known {
            self.places.clear();
            self.places.extend(positions.iter().map(|place| place - middle));
            self.lengths.clear();
            self.lengths.resize(bodies.len(), 0.0);
            return true;
        }
        for (body, length) in bodies.list().iter().zip(&mut self.lengths) {
            let own = body.vertices.clone();
            let mut farthest = R::zero();
            for (before, now) in self.places[own.clone()].iter_mut().zip(&positions[own]) {
                let now = now - middle;
                let square = (now - *before).norm_squared();
                *before = now;
                // Not `max`, which would lose what is not a number.
                if !(square <= farthest) {
                    farthest = square;
                }
            }
            *length += farthest.sqrt().to_f64();
        }
        false
    }

    /// How far a body has come.
    pub fn length(&self, body: usize) -> f64 {
        self.lengths[body]
    }
}

/// The mean of all places.
pub(super) fn middle<R: Real>(positions: &[Vector3<R>]) -> Vector3<R> {
    let sum = positions.iter().fold(Vector3::zeros(), |sum, place| sum + place);
    sum / R::nearest(positions.len().max(1) as f64)
}
