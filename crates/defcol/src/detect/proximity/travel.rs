//! How far bodies have come, and whether they go on as expected.

use std::ops::Range;

use crate::math::{Real, Vector3};
use crate::state::Bodies;

/// How many times as long as others a body is expected to go on that hardly moves.
const STAYS: f64 = 1000.0;

/// The way that each body has come, and the way that it is expected to go.
///
/// What all bodies move in common does not count: places are told from the middle of all.
#[derive(Debug, Clone, Default)]
pub(super) struct Travel<R: Real> {
    places: Vec<Vector3<R>>,
    /// The sum, call by call, of how far the vertex of a body went that went farthest.
    lengths: Vec<f64>,
    /// Where vertices are if they go on as they did when their body was last listed.
    pub expected: Vec<Vector3<R>>,
    /// How fast they go then.
    pub speeds: Vec<Vector3<R>>,
    /// For how long that is expected of each body.
    pub left: Vec<R>,
    /// The farthest that a vertex of each body is from where it is expected.
    strayed: Vec<R>,
}

impl<R: Real> Travel<R> {
    /// Begins anew.
    pub fn forget(&mut self) {
        self.places.clear();
    }

    /// Adds the way to these positions. Returns whether there was none before.
    pub fn go(&mut self, bodies: &Bodies, positions: &[Vector3<R>], elapsed: R) -> bool {
        let middle = middle(positions);
        let known = self.places.len() == positions.len() && self.lengths.len() == bodies.len();
        if !known {
            self.places.clear();
            self.places.extend(positions.iter().map(|place| place - middle));
            self.expected.clone_from(&self.places);
            self.speeds.clear();
            self.speeds.resize(positions.len(), Vector3::zeros());
            self.lengths.clear();
            self.lengths.resize(bodies.len(), 0.0);
            self.left.clear();
            self.left.resize(bodies.len(), R::zero());
            self.strayed.clear();
            self.strayed.resize(bodies.len(), R::zero());
            return true;
        }
        for (number, body) in bodies.list().iter().enumerate() {
            let own = body.vertices.clone();
            let (mut farthest, mut strayed) = (R::zero(), R::zero());
            let places = self.places[own.clone()].iter_mut().zip(&positions[own.clone()]);
            let expected = self.expected[own.clone()].iter_mut().zip(&self.speeds[own]);
            for ((before, now), (expected, speed)) in places.zip(expected) {
                let now = now - middle;
                let square = (now - *before).norm_squared();
                *before = now;
                *expected += speed * elapsed;
                let astray = (now - *expected).norm_squared();
                // Not `max`, which would lose what is not a number.
                if !(square <= farthest) {
                    farthest = square;
                }
                if !(astray <= strayed) {
                    strayed = astray;
                }
            }
            self.lengths[number] += farthest.sqrt().to_f64();
            self.strayed[number] = strayed.sqrt();
            self.left[number] -= elapsed;
        }
        false
    }

    /// Expects a body to go on as it goes now: for some time, or longer if it does not get as far as the shorter of two ways
    /// by then, but not beyond the longer one. `mean` is how all move in common. Returns how far it is expected to go.
    pub fn expect(
        &mut self,
        body: usize,
        own: Range<usize>,
        velocities: &[Vector3<R>],
        mean: Vector3<R>,
        time: R,
        [short, long]: [R; 2],
    ) -> R {
        self.expected[own.clone()].copy_from_slice(&self.places[own.clone()]);
        let mut fastest = R::zero();
        for (speed, velocity) in self.speeds[own.clone()].iter_mut().zip(&velocities[own]) {
            *speed = velocity - mean;
            fastest = fastest.max(speed.norm_squared());
        }
        let fastest = fastest.sqrt();
        let way = (fastest * time).max(short).min(long);
        // What is at rest is expected to stay so, but not for ever.
        let slowest = short / (time * R::nearest(STAYS));
        self.left[body] = if fastest > slowest { way / fastest } else { time * R::nearest(STAYS) };
        way
    }

    /// How far a body has come.
    pub fn length(&self, body: usize) -> f64 {
        self.lengths[body]
    }

    /// Whether each vertex of a body is no farther than this from where it is expected, and something is expected still.
    pub fn is_as_expected(&self, body: usize, within: R) -> bool {
        self.left[body] >= R::zero() && self.strayed[body] <= within
    }
}

/// The mean of all places.
pub(super) fn middle<R: Real>(positions: &[Vector3<R>]) -> Vector3<R> {
    let sum = positions.iter().fold(Vector3::zeros(), |sum, place| sum + place);
    sum / R::nearest(positions.len().max(1) as f64)
}
