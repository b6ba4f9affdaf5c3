//! Bodies that are in the world: where they are, and what may be changed of them.

use std::sync::Arc;

use super::checks::{check_elastic, check_moduli, check_shape, check_vectors};
use super::ids::Handle;
use super::{BodyId, DragGoal, Dragger, DraggerId, World};
use crate::error::{InvalidRequest, WorldError};
use crate::math::{Real, Vector3};
use crate::model::{Articulated, ElasticModuli, Model, Moduli, ShapeParameters};
use crate::state::Collides;

impl<R: Real> World<R> {
    /// Pulls every vertex of a body to the vertex of the same number of another one, as flesh to a skeleton that its skin
    /// hangs on: add the skin with joints and let it collide with nothing, add the same mesh made of something soft, and
    /// attach it. Returns a dragger for each vertex.
    pub fn attach(
        &mut self,
        id: BodyId,
        to: BodyId,
        stiffness: f64,
        damping: f64,
    ) -> Result<Vec<DraggerId>, WorldError> {
        let (given, expected) = (self.range(id)?.len(), self.range(to)?.len());
        if given != expected {
            return Err(WorldError::Count { what: "vertices to attach", given, expected });
        }
        if id == to {
            return Err(InvalidRequest::AttachedToItself.into());
        }
        let dragger = |vertex: u32| Dragger {
            goal: DragGoal::Body { body: to, vertices: [vertex; 4], weights: [1.0, 0.0, 0.0, 0.0] },
            ..Dragger::new(id, vertex, Vector3::zeros(), stiffness, damping)
        };
        (0..given as u32).map(|vertex| self.add_dragger(dragger(vertex))).collect()
    }

    /// Handles of all bodies, in the order in which they were added.
    pub fn body_ids(&self) -> impl ExactSizeIterator<Item = BodyId> {
        self.scene.bodies.handles().iter().copied()
    }

    /// The handle of the body with a number that [`BodyId::number`] gave, as recordings store it.
    ///
    /// # Errors
    /// If there is no such body, or it was removed.
    pub fn body_id(&self, number: u32) -> Result<BodyId, WorldError> {
        let id = BodyId::from_number(number);
        self.index(id).map(|_| id)
    }

    /// Where the vertices of a body are.
    pub fn positions(&self, id: BodyId) -> Result<&[Vector3<R>], WorldError> {
        Ok(&self.state.system.motion.positions[self.range(id)?])
    }

    /// How the vertices of a body move.
    pub fn velocities(&self, id: BodyId) -> Result<&[Vector3<R>], WorldError> {
        Ok(&self.state.system.motion.velocities[self.range(id)?])
    }

    /// The mass of a body, in kg.
    pub fn mass(&self, id: BodyId) -> Result<f64, WorldError> {
        let index = self.index(id)?;
        let own = self.range(id)?;
        Ok(match &self.state.system.models[index] {
            Model::Rigid(rigid) => rigid.mass.to_f64(),
            _ => self.state.system.motion.masses[own].iter().map(|mass| mass.to_f64()).sum(),
        })
    }

    /// Sets where the vertices of a body are that move on their own, or sets the goal of a driven body for the end of the
    /// next frame.
    pub fn set_positions(
        &mut self,
        id: BodyId,
        positions: &[Vector3<R>],
    ) -> Result<(), WorldError> {
        let (index, own) = (self.index(id)?, self.range(id)?);
        check_vectors("positions", positions, own.len())?;
        match &mut self.state.system.models[index] {
            Model::Driven(driven) => driven.set_goal(positions),
            model if model.has_free_vertices() => {
                self.state.system.motion.coordinates[own].copy_from_slice(positions);
                self.state.system.place();
                self.restart_solver();
            }
            _ => return Err(InvalidRequest::VerticesNotFree.into()),
        }
        Ok(())
    }

    /// Sets how the vertices of a body move, or one velocity for a rigid body.
    pub fn set_velocity(
        &mut self,
        id: BodyId,
        velocity: Vector3<f64>,
        spin: Vector3<f64>,
    ) -> Result<(), WorldError> {
        let (index, own) = (self.index(id)?, self.range(id)?);
        check_vectors("velocities", &[velocity, spin], 2)?;
        let (velocity, spin) = (velocity.map(R::nearest), spin.map(R::nearest));
        let motion = &mut self.state.system.motion;
        match &self.state.system.models[index] {
            Model::Rigid(_) => {
                motion.rates[own.start] = velocity;
                motion.rates[own.start + 1] = spin;
            }
            model if model.has_free_vertices() => {
                let masses = &motion.masses[own.clone()];
                let total = masses.iter().fold(R::zero(), |sum, mass| sum + *mass);
                let places = motion.positions[own.clone()].iter().zip(masses);
                let centre =
                    places.fold(Vector3::zeros(), |sum, (p, mass)| sum + p * *mass) / total;
                for vertex in own {
                    let arm = motion.positions[vertex] - centre;
                    if motion.inverse_masses[vertex] > R::zero() {
                        motion.rates[vertex] = velocity + spin.cross(&arm);
                    }
                }
            }
            _ => return Err(InvalidRequest::VelocityNotFree.into()),
        }
        self.state.system.follow_rates();
        Ok(())
    }

    /// Sets how each vertex of a body moves whose vertices move on their own.
    pub fn set_velocities(
        &mut self,
        id: BodyId,
        velocities: &[Vector3<R>],
    ) -> Result<(), WorldError> {
        let (index, own) = (self.index(id)?, self.range(id)?);
        check_vectors("velocities", velocities, own.len())?;
        if !self.state.system.models[index].has_free_vertices() {
            return Err(InvalidRequest::VerticesNotFree.into());
        }
        let motion = &mut self.state.system.motion;
        for (vertex, velocity) in own.zip(velocities) {
            if motion.inverse_masses[vertex] > R::zero() {
                motion.rates[vertex] = *velocity;
            }
        }
        self.state.system.follow_rates();
        Ok(())
    }

    /// Blends the shapes of a morphed body by the end of the next frame: a weight for each target.
    pub fn set_weights(&mut self, id: BodyId, weights: &[f64]) -> Result<(), WorldError> {
        let index = self.index(id)?;
        let Model::Driven(driven) = &mut self.state.system.models[index] else {
            return Err(InvalidRequest::NotMorphed.into());
        };
        if weights.len() != driven.targets() {
            let (given, expected) = (weights.len(), driven.targets());
            return Err(WorldError::Count { what: "weights of targets", given, expected });
        }
        if weights.iter().any(|weight| !weight.is_finite()) {
            return Err(InvalidRequest::MorphWeights.into());
        }
        let blended = driven.blended(weights);
        check_vectors("positions that the weights lead to", &blended, blended.len())?;
        driven.set_goal(&blended);
        Ok(())
    }

    /// Sets the angle that the motor of a joint pulls it to; it stays within its limits.
    pub fn set_joint_target(
        &mut self,
        id: BodyId,
        joint: usize,
        angle: f64,
    ) -> Result<(), WorldError> {
        let skin = self.with_joint(id, joint)?;
        if !angle.is_finite() {
            return Err(InvalidRequest::JointAngle.into());
        }
        skin.set_target(joint, angle);
        Ok(())
    }

    /// A body with its joint.
    fn with_joint(&mut self, id: BodyId, joint: usize) -> Result<&mut Articulated<R>, WorldError> {
        let index = self.index(id)?;
        let model = &mut self.state.system.models[index];
        let missing = no_such_joint(id, joint, model);
        match model {
            Model::Articulated(skin) if joint < skin.joints().len() => Ok(skin),
            _ => Err(missing),
        }
    }

    /// The angle of a joint.
    pub fn joint_angle(&self, id: BodyId, joint: usize) -> Result<f64, WorldError> {
        let (index, own) = (self.index(id)?, self.range(id)?);
        match &self.state.system.models[index] {
            Model::Articulated(skin) if joint < skin.joints().len() => {
                Ok(self.state.system.motion.coordinates[own.start + joint].x.to_f64())
            }
            model => Err(no_such_joint(id, joint, model)),
        }
    }

    /// Pins vertices: they stay where they are, whatever acts on them.
    ///
    /// # Errors
    /// If the vertices of the body do not move freely, or one does not exist; here and in [`World::unpin`].
    pub fn pin(&mut self, id: BodyId, vertices: &[u32]) -> Result<(), WorldError> {
        self.set_pinned(id, vertices, Pinned::Yes)
    }

    /// Lets pinned vertices move again.
    pub fn unpin(&mut self, id: BodyId, vertices: &[u32]) -> Result<(), WorldError> {
        self.set_pinned(id, vertices, Pinned::No)
    }

    fn set_pinned(
        &mut self,
        id: BodyId,
        vertices: &[u32],
        pinned: Pinned,
    ) -> Result<(), WorldError> {
        let (index, own) = (self.index(id)?, self.range(id)?);
        if !self.state.system.models[index].has_free_vertices() {
            return Err(InvalidRequest::VerticesNotFree.into());
        }
        if let Some(&vertex) = vertices.iter().find(|&&vertex| vertex as usize >= own.len()) {
            let (body, vertices) = (id.number(), own.len());
            return Err(WorldError::NoSuchVertex { body, vertex, vertices });
        }
        let motion = &mut self.state.system.motion;
        for &vertex in vertices {
            let vertex = own.start + vertex as usize;
            let mass = motion.masses[vertex];
            motion.inverse_masses[vertex] = match pinned {
                Pinned::No if mass > R::zero() => R::one() / mass,
                _ => R::zero(),
            };
            if pinned == Pinned::Yes {
                motion.rates[vertex] = Vector3::zeros();
                motion.velocities[vertex] = Vector3::zeros();
            }
        }
        self.weigh_carried();
        self.scene.restart_xpbd();
        Ok(())
    }

    /// How much carried vertices give way: as much as what carries them.
    pub(super) fn weigh_carried(&mut self) {
        let inverse = &mut self.state.system.motion.inverse_masses;
        for (number, model) in self.state.system.models.iter().enumerate() {
            let Model::Embedded(embedded) = model else { continue };
            let carrier = self.state.system.bodies.list()[embedded.carrier].vertices.start;
            let own = self.state.system.bodies.list()[number].vertices.clone();
            for (vertex, (corners, weights)) in own.zip(&*embedded.anchors) {
                let parts = corners.iter().zip(weights);
                inverse[vertex] = parts.fold(R::zero(), |sum, (corner, weight)| {
                    sum + *weight * *weight * inverse[carrier + *corner as usize]
                });
            }
        }
    }

    /// Changes what a body with finite elements is made of.
    pub fn set_elastic(&mut self, id: BodyId, elastic: ElasticModuli) -> Result<(), WorldError> {
        check_elastic(&elastic)?;
        let index = self.index(id)?;
        let Model::Elements(elements) = &mut self.state.system.models[index] else {
            return Err(InvalidRequest::NotElements.into());
        };
        elements.set_elastic(elastic);
        self.scene.restart_xpbd();
        Ok(())
    }

    /// Changes how strongly a body of mass points keeps its measures. What has given way stays so.
    pub fn set_moduli(&mut self, id: BodyId, moduli: Moduli) -> Result<(), WorldError> {
        check_moduli(&moduli)?;
        let index = self.index(id)?;
        let Model::MassPoints(model) = &mut self.state.system.models[index] else {
            return Err(InvalidRequest::NotMassPoints.into());
        };
        if !model.set_moduli(moduli) {
            return Err(InvalidRequest::ModulusWasZero.into());
        }
        Ok(())
    }

    /// Changes how a body is kept in shape, but for its clusters and how these may be changed to fit.
    pub fn set_shape(&mut self, id: BodyId, parameters: ShapeParameters) -> Result<(), WorldError> {
        check_shape(&parameters)?;
        let index = self.index(id)?;
        let Model::Shape(model) = &mut self.state.system.models[index] else {
            return Err(InvalidRequest::NotShapeMatching.into());
        };
        let old = *model.parameters();
        if (old.clusters, old.matching) != (parameters.clusters, parameters.matching) {
            return Err(InvalidRequest::FixedAtCreation.into());
        }
        model.set_parameters(parameters);
        Ok(())
    }

    /// Changes the stiffness, in N m per radian, and the damping, in N m s per radian, of the motor of a joint.
    pub fn set_joint_motor(
        &mut self,
        id: BodyId,
        joint: usize,
        motor: [f64; 2],
    ) -> Result<(), WorldError> {
        let skin = self.with_joint(id, joint)?;
        if motor.iter().any(|x| !(x.is_finite() && *x >= 0.0)) {
            return Err(InvalidRequest::JointMotor.into());
        }
        skin.set_motor(joint, motor);
        Ok(())
    }

    /// Changes the least and the largest angle of a joint. What is beyond goes there within a step; its target stays within.
    pub fn set_joint_limits(
        &mut self,
        id: BodyId,
        joint: usize,
        limits: [f64; 2],
    ) -> Result<(), WorldError> {
        let skin = self.with_joint(id, joint)?;
        let [low, high] = limits;
        if !(low.is_finite() && high.is_finite() && low <= high) {
            return Err(InvalidRequest::JointLimits.into());
        }
        skin.set_limits(joint, limits);
        Ok(())
    }

    /// Changes with whom a body may collide.
    pub fn set_collides(&mut self, id: BodyId, collides: Collides) -> Result<(), WorldError> {
        let index = self.index(id)?;
        Arc::make_mut(&mut self.state.system.bodies).set_collides(index, collides);
        self.state.proximity.forget();
        self.scratch.clear_results();
        Ok(())
    }
}

/// Whether vertices are held.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pinned {
    Yes,
    No,
}

fn no_such_joint<R: Real>(id: BodyId, joint: usize, model: &Model<R>) -> WorldError {
    let joints = match model {
        Model::Articulated(skin) => skin.joints().len(),
        _ => 0,
    };
    WorldError::NoSuchJoint { body: id.number(), joint, joints }
}
