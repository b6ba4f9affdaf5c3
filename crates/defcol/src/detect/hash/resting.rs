//! Which bodies take part, and which of them did not move.

use crate::broad::BroadPhase;
use crate::math::{Real, Vector3};
use crate::state::{Bodies, Collides};

/// Calls without movement after which a body rests.
const PATIENCE: u8 = 3;

/// Vertices of a moving body that are looked at to see whether it still moves.
const SAMPLES: usize = 16;

/// What a body is in this call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// It cannot collide: switched off, or alone.
    Idle,
    /// It may have moved.
    Moving,
    /// It is where it was.
    Resting,
}

/// Watches bodies from call to call. Movement is found by comparing positions, so nobody has to
/// announce it and nothing can be forgotten.
#[derive(Debug, Default)]
pub(super) struct Resting<R: Real> {
    topology: u64,
    collides: Vec<Collides>,
    previous: Vec<Vector3<R>>,
    unmoved: Vec<u8>,
    classes: Vec<Class>,
    last: Vec<Class>,
    /// A number that changes whenever other bodies rest than in the call before, or may collide with others.
    pub generation: u64,
    broad: BroadPhase<R>,
}

impl<R: Real> Resting<R> {
    /// What each body is in this call.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Looks at the bodies; those at rest are told apart only if that is wanted.
    pub fn update(&mut self, bodies: &Bodies, positions: &[Vector3<R>], keep_resting: bool) {
        let same = self.topology == bodies.topology()
            && self.previous.len() == positions.len()
            && bodies.list().iter().map(|body| body.collides).eq(self.collides.iter().copied());
        if !same {
            self.topology = bodies.topology();
            self.collides.clear();
            self.collides.extend(bodies.list().iter().map(|body| body.collides));
            self.previous.resize(positions.len(), Vector3::zeros());
            self.unmoved.clear();
            self.unmoved.resize(bodies.len(), 0);
        }
        std::mem::swap(&mut self.classes, &mut self.last);
        self.find_active(bodies, positions);
        if keep_resting {
            self.find_resting(bodies, positions);
        }
        let rests = |class: &Class| *class == Class::Resting;
        if !same || !self.classes.iter().map(rests).eq(self.last.iter().map(rests)) {
            self.generation += 1;
        }
    }

    fn find_resting(&mut self, bodies: &Bodies, positions: &[Vector3<R>]) {
        for (number, body) in bodies.list().iter().enumerate() {
            let now = &positions[body.vertices.clone()];
            let before = &mut self.previous[body.vertices.clone()];
            let samples = || (0..now.len()).step_by((now.len() / SAMPLES).max(1));
            let unmoved = &mut self.unmoved[number];
            if *unmoved == 0 {
                // Of a moving body only samples are kept. If those stay, all are kept from now on.
                if samples().all(|k| before[k] == now[k]) {
                    before.copy_from_slice(now);
                    *unmoved = 1;
                    continue;
                }
            } else if before == now {
                *unmoved = (*unmoved + 1).min(PATIENCE);
                if *unmoved == PATIENCE && self.classes[number] == Class::Moving {
                    self.classes[number] = Class::Resting;
                }
                continue;
            }
            *unmoved = 0;
            samples().for_each(|k| before[k] = now[k]);
        }
    }

    /// Bodies that collide with themselves, or whose box meets that of another.
    fn find_active(&mut self, bodies: &Bodies, positions: &[Vector3<R>]) {
        self.classes.clear();
        let own = bodies.list().iter().map(|body| body.collides.itself());
        self.classes.extend(own.map(|itself| if itself { Class::Moving } else { Class::Idle }));
        if self.classes.iter().all(|&class| class == Class::Moving) {
            return;
        }
        for &[a, b] in self.broad.update(bodies, positions) {
            self.classes[a as usize] = Class::Moving;
            self.classes[b as usize] = Class::Moving;
        }
    }
}
