//! Overlapping volumes as constraints: impulses that make them vanish, with Coulomb friction and restitution. This goes past
//! FAURE08, which names it as future work.
//!
//! Each vertex stands for a part of the volume, a column between it and the other body. Were the whole one constraint, its
//! pressure would be the same everywhere and a box would float on soft ground like a log.

use super::System;
use super::impulses::{Impulses, Kind, Part, inertias};
use crate::contact::volume::{self, VolumeContact};
use crate::math::{Matrix3, Real, Vector3};
use crate::model::Model;
use crate::response::ContactParameters;

/// The share of a column that is taken away in a step, at the recovery speed at the most.
const SHARE: f64 = 0.1;

/// Passes over all columns.
const PASSES: usize = 10;

/// A vertex and a triangle, each of which may be carried by four others.
const MOST_PARTS: usize = 16;

/// Buffers of the constraint.
#[derive(Debug, Default)]
pub(crate) struct VolumeConstraint<R: Real> {
    columns: Vec<Column<R>>,
    kinds: Vec<Kind>,
    inertias: Vec<Matrix3<R>>,
    moved: Vec<Vector3<R>>,
}

#[derive(Debug, Clone, Copy)]
struct Column<R: Real> {
    parts: [Part<R>; MOST_PARTS],
    count: usize,
    normal: Vector3<R>,
    yields: R,
    /// The speed at which both sides are to part.
    wanted: R,
    /// What was pushed so far: along the normal, and across it.
    pushed: R,
    braked: Vector3<R>,
}

impl<R: Real> VolumeConstraint<R> {
    /// Changes what a step led to so that the volumes at its beginning do not grow, and shrink at a limited speed.
    pub fn apply(
        &mut self,
        system: &mut System<R>,
        volumes: &[VolumeContact],
        properties: &ContactParameters<R>,
        step: R,
    ) {
        self.kinds.clear();
        self.kinds.extend(system.models.iter().map(Kind::of));
        inertias(system, &mut self.inertias);
        self.moved.clone_from(&system.motion.rates);
        let System { bodies, models, motion, .. } = &mut *system;
        let mut impulses = Impulses {
            bodies,
            models,
            kinds: &self.kinds,
            any_rigid: true,
            positions: &motion.positions,
            coordinates: &motion.coordinates,
            inverse_masses: &motion.inverse_masses,
            inertias: &self.inertias,
            rates: &mut motion.rates,
        };
        self.columns.clear();
        for column in volumes.iter().flat_map(VolumeContact::columns) {
            self.columns.extend(Column::new(&column, &impulses, properties, step));
        }
        if self.columns.is_empty() {
            return;
        }
        for _ in 0..PASSES {
            for column in &mut self.columns {
                column.part(&mut impulses);
                column.brake(&mut impulses, properties.friction);
            }
        }
        for (way, rate) in self.moved.iter_mut().zip(&motion.rates) {
            *way = (rate - *way) * step;
        }
        system.advance(&self.moved);
        system.follow_rates();
    }
}

impl<R: Real> Column<R> {
    /// None if nothing of it gives way.
    fn new(
        column: &volume::Column,
        impulses: &Impulses<R>,
        properties: &ContactParameters<R>,
        step: R,
    ) -> Option<Self> {
        let mut new = Self {
            parts: [(0, R::zero()); MOST_PARTS],
            count: 0,
            normal: column.direction.map(R::nearest),
            yields: R::zero(),
            wanted: R::zero(),
            pushed: R::zero(),
            braked: Vector3::zeros(),
        };
        new.add(impulses, column.vertex, R::one());
        for (vertex, weight) in column.opposite.into_iter().zip(column.weights) {
            new.add(impulses, vertex, -R::nearest(weight));
        }
        new.yields = impulses.yields(new.parts(), new.normal);
        if !(new.yields > R::zero()) {
            return None;
        }
        let came = impulses.velocity(new.parts()).dot(&new.normal);
        let shrinking = (R::nearest(column.length * SHARE) / step).min(properties.recovery);
        let bounced =
            if came < -properties.recovery { -came * properties.restitution } else { R::zero() };
        new.wanted = shrinking.max(bounced);
        Some(new)
    }

    /// Adds a vertex, or those that carry it.
    fn add(&mut self, impulses: &Impulses<R>, vertex: u32, weight: R) {
        let body = impulses.bodies.body_of(vertex);
        let Model::Embedded(embedded) = &impulses.models[body] else {
            return self.add_part(vertex, weight);
        };
        let list = impulses.bodies.list();
        let carrier = list[embedded.carrier].vertices.start as u32;
        let (corners, weights) = embedded.anchors[vertex as usize - list[body].vertices.start];
        for (corner, share) in corners.into_iter().zip(weights) {
            self.add_part(carrier + corner, weight * share);
        }
    }

    fn add_part(&mut self, vertex: u32, weight: R) {
        match self.parts[..self.count].iter_mut().find(|part| part.0 == vertex) {
            Some(part) => part.1 += weight,
            None => {
                self.parts[self.count] = (vertex, weight);
                self.count += 1;
            }
        }
    }

    fn parts(&self) -> &[Part<R>] {
        &self.parts[..self.count]
    }

    /// Impulses may be taken back, but never pull.
    fn part(&mut self, impulses: &mut Impulses<R>) {
        let missing = self.wanted - impulses.velocity(self.parts()).dot(&self.normal);
        let pushed = (self.pushed + missing / self.yields).max(R::zero());
        impulses.push(self.parts(), self.normal * (pushed - self.pushed));
        self.pushed = pushed;
    }

    /// Coulomb friction: against what slides, as far as the push allows.
    fn brake(&mut self, impulses: &mut Impulses<R>, friction: R) {
        if !(friction > R::zero() && self.pushed > R::zero()) {
            return;
        }
        let slide = impulses.velocity(self.parts());
        let slide = slide - self.normal * slide.dot(&self.normal);
        let speed = slide.norm();
        if !(speed > R::zero()) {
            return;
        }
        let wanted = self.braked - slide / impulses.yields(self.parts(), slide / speed);
        let (length, most) = (wanted.norm(), friction * self.pushed);
        let braked = if length > most { wanted * (most / length) } else { wanted };
        impulses.push(self.parts(), braked - self.braked);
        self.braked = braked;
    }
}
