//! Many bodies at once, on all threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::collider::Collider;
use super::pairs::PairFinder;
use super::{BoundingBox, BoundingVolume};
use crate::broad::{BodyPair, Proxy, SweepAndPrune};
use crate::math::Real;
use crate::state::Collides;

/// Colliders of which all pairs are wanted.
///
/// Pairs of bodies whose boxes meet are worked off in rounds in which no body takes part twice, the pairs of a round
/// side by side. So a body is brought up to date once a frame however many others it meets, and what is found does
/// not depend on the number of threads.
#[derive(Debug)]
pub struct Group<R: Real, V: BoundingVolume<R> = BoundingBox<R>, const A: usize = 8> {
    bodies: Vec<Mutex<Collider<R, V, A>>>,
    proxies: Vec<Proxy<R>>,
    sweep: SweepAndPrune<R>,
    /// For each round the pairs of bodies, by their place in the list of all.
    rounds: Vec<Vec<usize>>,
    /// For each body the first round in which it is free.
    free: Vec<usize>,
    searches: Vec<Mutex<Search<R, V, A>>>,
}

/// What was found about two bodies, and the memory that took.
#[derive(Debug, Default)]
struct Search<R: Real, V: BoundingVolume<R>, const A: usize> {
    finder: PairFinder<R, V, A>,
    pairs: Vec<[u32; 2]>,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    All,
    First,
}

impl<R: Real, V: BoundingVolume<R>, const A: usize> Group<R, V, A> {
    /// A group of these bodies, each of which may meet each other one.
    pub fn new(bodies: Vec<Collider<R, V, A>>) -> Self {
        Self {
            proxies: Vec::with_capacity(bodies.len()),
            free: vec![0; bodies.len()],
            bodies: bodies.into_iter().map(Mutex::new).collect(),
            sweep: SweepAndPrune::default(),
            rounds: vec![],
            searches: vec![],
        }
    }

    /// All bodies, to give them new positions, weights, joints or placements.
    pub fn bodies(&mut self) -> impl ExactSizeIterator<Item = &mut Collider<R, V, A>> {
        self.bodies.iter_mut().map(held)
    }

    /// For all pairs of bodies that meet, in ascending order, the pairs of triangles that do.
    pub fn all(&mut self) -> impl Iterator<Item = (BodyPair, &[[u32; 2]])> {
        self.search(Wanted::All)
    }

    /// For all pairs of bodies that meet, in ascending order, any pair of triangles that do.
    pub fn first(&mut self) -> impl Iterator<Item = (BodyPair, [u32; 2])> {
        self.search(Wanted::First).map(|(bodies, pairs)| (bodies, pairs[0]))
    }

    fn search(&mut self, wanted: Wanted) -> impl Iterator<Item = (BodyPair, &[[u32; 2]])> {
        self.proxies.clear();
        let collides = Collides::default();
        let boxes = self.bodies.iter_mut().map(|body| held(body).bounds());
        self.proxies.extend(boxes.map(|bounds| Proxy { bounds, collides }));
        let meeting = self.sweep.update(&self.proxies);
        self.rounds.iter_mut().for_each(Vec::clear);
        self.free.fill(0);
        for (place, &[a, b]) in meeting.iter().enumerate() {
            let round = self.free[a as usize].max(self.free[b as usize]);
            if round == self.rounds.len() {
                self.rounds.push(vec![]);
            }
            self.rounds[round].push(place);
            (self.free[a as usize], self.free[b as usize]) = (round + 1, round + 1);
        }
        while self.searches.len() < meeting.len() {
            self.searches.push(Mutex::new(Search { finder: PairFinder::default(), pairs: vec![] }));
        }
        let (bodies, searches) = (&self.bodies, &self.searches);
        for round in &self.rounds {
            round.par_iter().for_each(|&place| {
                let [first, second] = meeting[place].map(|body| &bodies[body as usize]);
                let (mut first, mut second) = (locked(first), locked(second));
                let mut search = locked(&searches[place]);
                let Search { finder, pairs } = &mut *search;
                match wanted {
                    Wanted::All => finder.all(&mut first, &mut second, pairs),
                    Wanted::First => {
                        pairs.clear();
                        pairs.extend(finder.first(&mut first, &mut second));
                    }
                }
            });
        }
        let found = self.searches.iter_mut().map(|search| held(search).pairs.as_slice());
        meeting.iter().copied().zip(found).filter(|(_, pairs)| !pairs.is_empty())
    }
}

fn held<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// No other thread has it: in a round each is used once.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
