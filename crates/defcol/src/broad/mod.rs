//! From the boxes of bodies to the pairs that may collide, and to the islands they form.
//!
//! [`SweepAndPrune`] keeps its order from call to call; [`brute_force_pairs`] is its reference.

mod islands;
mod sweep;

pub use islands::Islands;
pub use sweep::SweepAndPrune;

use crate::math::{Bounds, Real};
use crate::state::{Bodies, Collides};

/// Two bodies, the smaller number first.
pub type BodyPair = [u32; 2];

/// What the broad phase knows of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proxy<R: Real> {
    /// The box around it; one that is empty meets no other.
    pub bounds: Bounds<R>,
    /// With whom it may collide.
    pub collides: Collides,
}

impl<R: Real> Proxy<R> {
    /// Whether the two may collide and their boxes meet; touching counts.
    pub fn meets(&self, other: &Self) -> bool {
        self.collides.with(&other.collides) && self.bounds.overlaps(&other.bounds)
    }

    /// What the broad phase needs to know of all bodies.
    pub fn collect(bodies: &Bodies, boxes: &[Bounds<R>], proxies: &mut Vec<Self>) {
        proxies.clear();
        let list = bodies.list().iter().zip(boxes);
        proxies.extend(list.map(|(body, &bounds)| Self { bounds, collides: body.collides }));
    }
}

/// All pairs of bodies that meet, ascending, found by comparing each with each.
pub fn brute_force_pairs<R: Real>(proxies: &[Proxy<R>]) -> Vec<BodyPair> {
    let mut pairs = Vec::new();
    for (a, first) in proxies.iter().enumerate() {
        for (b, second) in proxies.iter().enumerate().skip(a + 1) {
            if first.meets(second) {
                pairs.push([a as u32, b as u32]);
            }
        }
    }
    pairs
}
