//! From the bounding boxes of bodies to the pairs that may collide, and to the islands they form.
//!
//! [`BroadPhase`] finds the pairs of bodies whose boxes overlap, by [`SweepAndPrune`], which sorts incrementally from call to
//! call; [`brute_force_pairs`] is its reference.

mod islands;
mod sweep;

pub use islands::Islands;
pub use sweep::SweepAndPrune;

use crate::math::{Bounds, Real, Vector3};
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
}

/// Pairs of bodies that may collide, found by sweep and prune over a box around each body.
#[derive(Debug, Clone, Default)]
pub struct BroadPhase<R: Real> {
    boxes: Vec<Bounds<R>>,
    proxies: Vec<Proxy<R>>,
    sweep: SweepAndPrune<R>,
}

impl<R: Real> BroadPhase<R> {
    /// Pairs of bodies that may collide and whose bounding boxes overlap at these positions, ascending.
    pub fn update(&mut self, bodies: &Bodies, positions: &[Vector3<R>]) -> &[BodyPair] {
        bodies.bounds(positions, &mut self.boxes);
        self.find_pairs(bodies)
    }

    /// Pairs of bodies that may collide and whose boxes overlap, ascending; `boxes` yields one box per body, for example swept ones.
    pub fn update_boxes(
        &mut self,
        bodies: &Bodies,
        boxes: impl Iterator<Item = Bounds<R>>,
    ) -> &[BodyPair] {
        self.boxes.clear();
        self.boxes.extend(boxes);
        self.find_pairs(bodies)
    }

    /// Pairs of the last update.
    pub fn pairs(&self) -> &[BodyPair] {
        self.sweep.pairs()
    }

    /// Boxes of the last update, one per body.
    pub fn boxes(&self) -> &[Bounds<R>] {
        &self.boxes
    }

    fn find_pairs(&mut self, bodies: &Bodies) -> &[BodyPair] {
        let list = bodies.list().iter().zip(&self.boxes);
        self.proxies.clear();
        self.proxies.extend(list.map(|(body, &bounds)| Proxy { bounds, collides: body.collides }));
        self.sweep.update(&self.proxies)
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
