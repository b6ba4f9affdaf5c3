//! All bodies with what they are made of, and how coordinates and vertices follow each other.

use std::sync::Arc;

use crate::math::{Real, Vector3};
use crate::model::Model;
use crate::state::{Bodies, Motion};

/// All bodies with their models and motion. What never changes is shared by reference count: a clone copies the motion and
/// the state of the models.
#[derive(Debug, Clone, Default)]
pub(crate) struct System<R: Real> {
    /// Topology and who collides with whom.
    pub bodies: Arc<Bodies>,
    /// What each body is made of.
    pub models: Vec<Model<R>>,
    /// Where vertices are when their bodies are at rest.
    pub rest: Arc<Vec<Vector3<R>>>,
    /// Thickness of each body at rest: twice its volume over its area, which is the distance between the sides of a sheet;
    /// 0 for a body without an inside.
    pub thickness: Vec<f64>,
    /// Where they are, and how they move.
    pub motion: Motion<R>,
}

impl<R: Real> System<R> {
    /// Positions from coordinates.
    pub fn place(&mut self) {
        let Motion { positions, coordinates, .. } = &mut self.motion;
        for (body, model) in self.bodies.list().iter().zip(&mut self.models) {
            let own = body.vertices.clone();
            let (to, from) = (&mut positions[own.clone()], &coordinates[own]);
            match model {
                Model::Rigid(rigid) => rigid.place(from, to),
                Model::Articulated(skin) => skin.place(from, to),
                Model::Embedded(_) => {}
                _ => to.copy_from_slice(from),
            }
        }
        follow_carriers(&self.bodies, &self.models, positions);
    }

    /// Velocities from rates, or any other vector on vertices from one on coordinates.
    pub fn expand(&self, from: &[Vector3<R>], to: &mut [Vector3<R>]) {
        let Motion { positions, coordinates, .. } = &self.motion;
        for (body, model) in self.bodies.list().iter().zip(&self.models) {
            let own = body.vertices.clone();
            let (to, from) = (&mut to[own.clone()], &from[own.clone()]);
            match model {
                Model::Rigid(_) => {
                    let centre = coordinates[own.start];
                    for (value, place) in to.iter_mut().zip(&positions[own]) {
                        *value = from[0] + from[1].cross(&(place - centre));
                    }
                }
                Model::Articulated(skin) => skin.expand(from, to),
                Model::Embedded(_) => {}
                _ => to.copy_from_slice(from),
            }
        }
        follow_carriers(&self.bodies, &self.models, to);
    }

    /// Forces on coordinates from those on vertices. What is in `forces` on bodies that others carry is lost.
    pub fn collapse(&self, forces: &mut [Vector3<R>], to: &mut [Vector3<R>]) {
        let Motion { positions, coordinates, .. } = &self.motion;
        for (number, model) in self.models.iter().enumerate() {
            let Model::Embedded(embedded) = model else { continue };
            let own = self.bodies.list()[number].vertices.clone();
            let carrier = self.bodies.list()[embedded.carrier].vertices.clone();
            let (own, carrier) = two_parts(forces, own, carrier);
            embedded.spread(own, carrier);
            own.fill(Vector3::zeros());
        }
        for (body, model) in self.bodies.list().iter().zip(&self.models) {
            let own = body.vertices.clone();
            let (to, from) = (&mut to[own.clone()], &forces[own.clone()]);
            match model {
                Model::Rigid(_) => {
                    to.fill(Vector3::zeros());
                    let centre = coordinates[own.start];
                    for (force, place) in from.iter().zip(&positions[own]) {
                        to[0] += force;
                        to[1] += (place - centre).cross(force);
                    }
                }
                Model::Articulated(skin) => {
                    to.fill(Vector3::zeros());
                    let joints = skin.joints().len();
                    skin.collapse(from, &mut to[..joints]);
                }
                _ => to.copy_from_slice(from),
            }
        }
    }

    /// Moves coordinates, and vertices with them.
    pub fn advance(&mut self, moved: &[Vector3<R>]) {
        self.advance_each(moved, false);
    }

    /// The same; the angular momentum of rigid bodies stays what it is.
    pub fn advance_keeping_momentum(&mut self, moved: &[Vector3<R>]) {
        self.advance_each(moved, true);
    }

    fn advance_each(&mut self, moved: &[Vector3<R>], keep_momentum: bool) {
        let Motion { coordinates, rates, .. } = &mut self.motion;
        for (body, model) in self.bodies.list().iter().zip(&self.models) {
            let own = body.vertices.clone();
            let (places, moved) = (&mut coordinates[own.clone()], &moved[own.clone()]);
            match model {
                Model::Rigid(rigid) => {
                    let rates = keep_momentum.then_some(&mut rates[own]);
                    rigid.advance(places, moved, rates);
                }
                Model::Articulated(skin) => skin.advance(places, moved),
                Model::Embedded(_) => {}
                _ => places.iter_mut().zip(moved).for_each(|(place, way)| *place += way),
            }
        }
        self.place();
    }

    /// Brings velocities up to date with rates.
    pub fn follow_rates(&mut self) {
        let mut velocities = std::mem::take(&mut self.motion.velocities);
        self.expand(&self.motion.rates, &mut velocities);
        self.motion.velocities = velocities;
    }

    /// The energy of motion, and that stored in bodies.
    pub fn energy(&self) -> [f64; 2] {
        let [mut moving, mut stored] = [0.0; 2];
        for (body, model) in self.bodies.list().iter().zip(&self.models) {
            let own = body.vertices.clone();
            let rates = &self.motion.rates[own.clone()];
            match model {
                Model::Rigid(rigid) => {
                    let inertia = rigid.world_inertia(&self.motion.coordinates[own.clone()]);
                    let linear = rigid.mass * rates[0].norm_squared();
                    moving += (linear + rates[1].dot(&(inertia * rates[1]))).to_f64() / 2.0;
                }
                Model::Driven(_) | Model::Embedded(_) => {}
                _ => {
                    let masses = &self.motion.masses[own.clone()];
                    let parts = self.motion.velocities[own.clone()].iter().zip(masses);
                    moving +=
                        parts.map(|(v, m)| (v.norm_squared() * *m).to_f64()).sum::<f64>() / 2.0;
                }
            }
            stored += model.energy(&self.motion.positions[own.clone()]);
            if let Model::Articulated(skin) = model {
                stored += skin.energy(&self.motion.coordinates[own]);
            }
        }
        [moving, stored]
    }
}

/// What is carried follows what carries it.
pub(super) fn follow_carriers<R: Real>(
    bodies: &Bodies,
    models: &[Model<R>],
    of_vertices: &mut [Vector3<R>],
) {
    for (number, model) in models.iter().enumerate() {
        let Model::Embedded(embedded) = model else { continue };
        let own = bodies.list()[number].vertices.clone();
        let carrier = bodies.list()[embedded.carrier].vertices.clone();
        let (own, carrier) = two_parts(of_vertices, own, carrier);
        embedded.follow(carrier, own);
    }
}

/// Two ranges that do not overlap.
pub(super) fn two_parts<T>(
    all: &mut [T],
    first: std::ops::Range<usize>,
    second: std::ops::Range<usize>,
) -> (&mut [T], &mut [T]) {
    if first.start < second.start {
        let (low, high) = all.split_at_mut(second.start);
        (&mut low[first], &mut high[..second.len()])
    } else {
        let (low, high) = all.split_at_mut(first.start);
        (&mut high[..first.len()], &mut low[second])
    }
}
