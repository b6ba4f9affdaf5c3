//! Elements sorted into batches that share no vertex.

use std::ops::Range;

use fearless_simd::Level;

use super::batch::{Batch, BatchState, LANES, LEAST_VOLUME};
use crate::math::{Real, Vector3};
use crate::model::{ConstitutiveLaw, MassPoints, Measures, Model, measure};
use crate::state::{Bodies, Motion, Scratch};

/// Elements that make a group large enough to be a piece of work.
const ENOUGH: usize = 1000;

/// An element that is turned over by more than this share of its volume does not come back by being pressed apart.
const TANGLED: f64 = -0.5;

/// Bodies one after the other that are solved together: their elements in batches that share no vertex.
#[derive(Debug)]
struct Group<R> {
    bodies: Range<usize>,
    vertices: Range<usize>,
    batches: Vec<Batch<R>>,
}

/// What one step of a group leaves for the next.
#[derive(Debug, Clone)]
struct GroupState<R> {
    /// One per batch.
    batches: Vec<BatchState<R>>,
    /// Whether some element was turned over farther than [`TANGLED`] since all of them had [`LEAST_VOLUME`]: on its way back
    /// it may have to pass others.
    tangled: bool,
}

/// What the elements are prepared for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Key<R> {
    topology: u64,
    /// Changes with materials and masses, and when positions are set from outside.
    revision: u64,
    step: R,
}

/// All groups. They depend on the bodies only, not on the number of threads.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups<R: Real> {
    states: Vec<GroupState<R>>,
    key: Option<Key<R>>,
    cache: Scratch<Cache<R>>,
}

/// Groups with their constants; computed again if it is lost.
#[derive(Debug)]
struct Cache<R> {
    level: Level,
    list: Vec<Group<R>>,
    key: Option<Key<R>>,
}

impl<R> Default for Cache<R> {
    fn default() -> Self {
        Self { level: Level::new(), list: vec![], key: None }
    }
}

impl<R: Real> Groups<R> {
    /// Sorts elements if bodies have changed, and computes what depends on materials and the length of a step. Returns
    /// whether this differs from the last step, whose impulses do not hold then.
    pub fn prepare(
        &mut self,
        bodies: &Bodies,
        models: &[Model<R>],
        motion: &Motion<R>,
        revision: u64,
        step: R,
    ) -> bool {
        let key = Key { topology: bodies.topology(), revision, step };
        self.cache.prepare(key, bodies, models, &motion.inverse_masses);
        let last = self.key.replace(key);
        if last == Some(key) {
            return false;
        }
        let list = &self.cache.list;
        if last.map(|last| last.topology) != Some(key.topology) {
            let start = |group: &Group<R>| vec![BatchState::default(); group.batches.len()];
            let states =
                list.iter().map(|group| GroupState { batches: start(group), tangled: true });
            self.states.clear();
            self.states.extend(states);
        } else if last.map(|last| last.revision) == Some(key.revision) {
            return true;
        }
        for (group, state) in list.iter().zip(&mut self.states) {
            state.tangled = true;
            let positions = &motion.positions[group.vertices.clone()];
            for (batch, state) in group.batches.iter().zip(&mut state.batches) {
                batch.settle(state, positions);
            }
        }
        true
    }

    /// Copies the state of others; the constants stay, as far as they are still those of the elements.
    pub fn restore(&mut self, other: &Self) {
        self.states.clone_from(&other.states);
        self.key = other.key;
    }

    /// One pass over all bodies.
    pub fn solve(
        &mut self,
        bodies: &Bodies,
        models: &mut [Model<R>],
        inverse_masses: &[R],
        before: &[Vector3<R>],
        moved: &mut [Vector3<R>],
        step: R,
    ) {
        let shared = Shared { level: self.cache.level, bodies, inverse_masses, before, step };
        shared.solve(&self.cache.list, &mut self.states, models, moved);
    }
}

impl<R: Real> Cache<R> {
    fn prepare(&mut self, key: Key<R>, bodies: &Bodies, models: &[Model<R>], inverse_masses: &[R]) {
        if self.key == Some(key) {
            return;
        }
        if self.key.map(|known| known.topology) != Some(key.topology) {
            self.sort(bodies, models);
        }
        self.key = Some(key);
        for group in &mut self.list {
            let inverse_masses = &inverse_masses[group.vertices.clone()];
            for batch in &mut group.batches {
                batch.prepare(|body| elements_of(models, body), inverse_masses, key.step);
            }
        }
    }

    fn sort(&mut self, bodies: &Bodies, models: &[Model<R>]) {
        self.list.clear();
        let mut first = 0;
        let mut elements: Vec<(u32, u32, [u32; 4])> = vec![];
        for number in 0..bodies.len() {
            let body = &bodies.list()[number];
            let start = bodies.list()[first].vertices.start as u32;
            let shift = body.vertices.start as u32 - start;
            if let Some(own) = elements_of(models, number as u32) {
                elements.extend((0u32..).zip(own.corners()).map(|(element, corners)| {
                    (number as u32, element, corners.map(|corner| corner + shift))
                }));
            }
            if elements.len() >= ENOUGH || number + 1 == bodies.len() {
                let vertices = start as usize..body.vertices.end;
                let batches = coloured(&elements, vertices.len(), models);
                let bodies = first..number + 1;
                self.list.push(Group { bodies, vertices, batches });
                elements.clear();
                first = number + 1;
            }
        }
    }
}

fn elements_of<R: Real>(models: &[Model<R>], body: u32) -> Option<&crate::model::Elements<R>> {
    match &models[body as usize] {
        Model::Elements(elements) => Some(elements),
        _ => None,
    }
}

/// Gives each element the lowest colour that no element at its corners has, and cuts colours into batches of one law.
fn coloured<R: Real>(
    elements: &[(u32, u32, [u32; 4])],
    vertices: usize,
    models: &[Model<R>],
) -> Vec<Batch<R>> {
    let mut used = vec![0u128; vertices];
    let mut colours: Vec<Vec<(u32, u32, [u32; 4])>> = vec![];
    let mut alone = vec![];
    for element in elements {
        let taken = element.2.iter().fold(0, |all, &corner| all | used[corner as usize]);
        let colour = taken.trailing_ones() as usize;
        if colour >= 128 {
            alone.push(*element);
            continue;
        }
        element.2.iter().for_each(|&corner| used[corner as usize] |= 1 << colour);
        colours.resize(colours.len().max(colour + 1), vec![]);
        colours[colour].push(*element);
    }
    let law = |element: &(u32, u32, [u32; 4])| {
        elements_of(models, element.0).map_or(ConstitutiveLaw::default(), |own| own.elasticity)
    };
    let mut batches = vec![];
    for colour in &colours {
        for run in colour.chunk_by(|a, b| law(a) == law(b)) {
            batches.extend(run.chunks(LANES).map(|part| Batch::new(law(&part[0]), part)));
        }
    }
    batches.extend(alone.iter().map(|one| Batch::new(law(one), &[*one])));
    batches
}

/// What all groups read.
#[derive(Clone, Copy)]
struct Shared<'a, R: Real> {
    level: Level,
    bodies: &'a Bodies,
    inverse_masses: &'a [R],
    before: &'a [Vector3<R>],
    step: R,
}

impl<R: Real> Shared<'_, R> {
    /// Groups in parallel: each has models and positions of its own.
    fn solve(
        self,
        groups: &[Group<R>],
        states: &mut [GroupState<R>],
        models: &mut [Model<R>],
        moved: &mut [Vector3<R>],
    ) {
        match (groups, &mut *states) {
            ([], _) | (_, []) => {}
            ([group], [state, ..]) => self.solve_group(group, state, models, moved),
            _ => {
                let (low, high) = groups.split_at(groups.len() / 2);
                let (low_states, high_states) = states.split_at_mut(low.len());
                let (start, cut) = (&low[0], &high[0]);
                let (at_body, at_vertex) = (
                    cut.bodies.start - start.bodies.start,
                    cut.vertices.start - start.vertices.start,
                );
                let (low_models, high_models) = models.split_at_mut(at_body);
                let (low_ways, high_ways) = moved.split_at_mut(at_vertex);
                rayon::join(
                    || self.solve(low, low_states, low_models, low_ways),
                    || self.solve(high, high_states, high_models, high_ways),
                );
            }
        }
    }

    fn solve_group(
        self,
        group: &Group<R>,
        state: &mut GroupState<R>,
        models: &mut [Model<R>],
        moved: &mut [Vector3<R>],
    ) {
        let inverse_masses = &self.inverse_masses[group.vertices.clone()];
        let before = &self.before[group.vertices.clone()];
        let (batches, tangled) = (&mut state.batches, state.tangled);
        let least = Batch::solve_all(
            self.level,
            &group.batches,
            batches,
            before,
            moved,
            self.step,
            tangled,
        );
        let recovered = least >= R::nearest(LEAST_VOLUME);
        state.tangled = least < R::nearest(TANGLED) || tangled && !recovered;
        for (number, model) in group.bodies.clone().zip(models) {
            let own = self.bodies.list()[number].vertices.clone();
            let local = own.start - group.vertices.start..own.end - group.vertices.start;
            let (ways, inverse) = (&mut moved[local.clone()], &inverse_masses[local]);
            let before = &self.before[own];
            match model {
                Model::MassPoints(model) => {
                    keep_measures(model, before, ways, inverse, self.step);
                }
                Model::Shape(model) => {
                    let omega = std::f64::consts::TAU * model.parameters().frequency;
                    let pull = R::nearest(omega * omega) * self.step * self.step;
                    let share = pull / (R::one() + pull);
                    let missing = model.missing(before, ways);
                    for ((way, missing), w) in ways.iter_mut().zip(missing).zip(inverse) {
                        if *w > R::zero() {
                            *way += missing * share;
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn keep_measures<R: Real>(
    model: &MassPoints<R>,
    before: &[Vector3<R>],
    ways: &mut [Vector3<R>],
    inverse: &[R],
    step: R,
) {
    let damping = R::nearest(model.moduli().damping);
    keep(&model.distances, before, ways, inverse, step, damping);
    keep(&model.areas, before, ways, inverse, step, damping);
    keep(&model.volumes, before, ways, inverse, step, damping);
}

/// Compliant constraints, one after the other.
fn keep<R: Real, const N: usize>(
    measures: &Measures<R, N>,
    before: &[Vector3<R>],
    ways: &mut [Vector3<R>],
    inverse: &[R],
    step: R,
    damping: R,
) {
    let square = step * step;
    let rate = damping / step;
    let all = measures.corners().iter().zip(measures.rest()).zip(measures.stiffness());
    for ((corners, rest), k) in all {
        let place = |corner: u32| before[corner as usize] + ways[corner as usize];
        let (c, gradients) = measure(corners.map(place), *rest);
        let parts = || corners.iter().zip(&gradients).map(|(corner, g)| (*corner as usize, g));
        let yields = parts().fold(R::zero(), |sum, (v, g)| sum + inverse[v] * g.norm_squared());
        let change = parts().fold(R::zero(), |sum, (v, g)| sum + g.dot(&ways[v]));
        let compliance = R::one() / (*k * square);
        let push = -(c + rate * change) / ((R::one() + rate) * yields + compliance);
        for (v, gradient) in parts() {
            ways[v] += gradient * (push * inverse[v]);
        }
    }
}
