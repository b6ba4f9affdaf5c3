//! Bodies that move and touch.
//!
//! ```
//! use defcol::mesh::TetMesh;
//! use defcol::math::Vector3;
//! use defcol::model::{Elastic, Elasticity};
//! use defcol::response::Collider;
//! use defcol::world::{Material, Options, World};
//! use defcol_scenes::regular::ball;
//!
//! let mut world = World::<f64>::default();
//! world.add_collider(Collider::half_space(Vector3::y(), 0.0))?;
//! let ball = TetMesh::new(ball(0.1))?;
//! let above = Options { position: Vector3::new(0.0, 0.3, 0.0), ..Options::default() };
//! let id = world.add_solid(&ball, Material::Elements(Elastic::default(), Elasticity::Corotational), &above)?;
//! for _ in 0..60 {
//!     world.step()?;
//! }
//! assert!(world.positions(id)?.iter().all(|p| p.y > 0.0 && p.y < 0.3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bodies;
mod changes;
mod checks;
mod detection;
mod dragger;
mod ids;
mod parameters;
mod step;

pub use bodies::{Material, Options};
pub use dragger::{DragGoal, Dragger};
pub use ids::{BodyId, ColliderId, DraggerId, MagnetId};
pub use parameters::{Contact, Detection, Parameters, Response};

use crate::contact::volume::VolumeContact;
use crate::contact::{Contacts, Source};
use crate::detect::proximity::ProximityPairs;
use crate::error::WorldError;
use crate::integrate::xpbd::Xpbd;
use crate::integrate::{Explicit, Implicit, Integrator, System, VolumeConstraint};
use crate::math::{Real, Vector3};
use crate::response::{Collider, Field, Loads};
use crate::state::{Bodies, Motion};
use crate::stats::Clock;
use detection::Finder;
use ids::IdMap;

/// Into how many steps a frame was cut.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Substeps {
    /// Steps that were taken.
    pub taken: u32,
    /// Steps that [`Parameters::largest_move`] asks for. If these are more, something fast may have passed through something
    /// thin: raise [`Parameters::substeps`] or shorten [`Parameters::frame`].
    pub needed: f64,
}

/// Everything that moves, and what it moves in.
#[derive(Debug, Default)]
pub struct World<R: Real> {
    parameters: Parameters,
    system: System<R>,
    ids: IdMap<BodyId, ()>,
    colliders: IdMap<ColliderId, Collider<R>>,
    magnets: IdMap<MagnetId, Field>,
    draggers: IdMap<DraggerId, Dragger>,
    /// How each pair of bodies is looked at, where that is not how all are.
    chosen: Vec<([BodyId; 2], Detection)>,
    frame: u64,
    time: f64,
    /// Changes whenever materials do.
    revision: u64,
    clock: Clock,
    substeps: Substeps,
    unresolved: usize,
    last_good: Motion<R>,
    finder: Finder<R>,
    near: ProximityPairs<R>,
    contacts: Contacts<R>,
    of_volume: Contacts<R>,
    loads: Loads<R>,
    active_colliders: Vec<Collider<R>>,
    forces: Vec<Vector3<R>>,
    explicit: Explicit<R>,
    implicit: Implicit<R>,
    xpbd: Xpbd<R>,
    volume: VolumeConstraint<R>,
}

impl<R: Real> World<R> {
    /// What is chosen.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Chooses anew. If a value is not allowed, nothing changes.
    pub fn set_parameters(&mut self, parameters: Parameters) -> Result<(), WorldError> {
        parameters.validate()?;
        if parameters.integrator != self.parameters.integrator {
            self.forget();
        }
        self.parameters = parameters;
        Ok(())
    }

    /// Topology of all bodies, in the order in which they were added.
    pub fn bodies(&self) -> &Bodies {
        &self.system.bodies
    }

    /// Where all vertices are, and how they move.
    pub fn motion(&self) -> &Motion<R> {
        &self.system.motion
    }

    /// The contacts of the last step: what is inside, what is near if surfaces are kept apart, and the shares of vertices in
    /// volumes that overlap.
    pub fn contacts(&mut self) -> &Contacts<R> {
        let volumes = &self.loads.volumes[..self.loads.volume_count];
        if self.contacts.source().iter().all(|&source| source != Source::Volume) {
            for volume in volumes {
                let (bodies, positions) = (&self.system.bodies, &self.system.motion.positions);
                volume.contacts(bodies, positions, &mut self.of_volume);
                self.contacts.merge(&self.of_volume);
            }
        }
        if self.keeps_apart()
            && self.contacts.source().iter().all(|&source| source != Source::Proximity)
        {
            let (bodies, positions) = (&self.system.bodies, &self.system.motion.positions);
            self.contacts.add_proximity_pairs(&self.near, bodies, positions);
        }
        &self.contacts
    }

    /// The volumes in which bodies overlapped when the last step began, with [`Response::Pressure`] and
    /// [`Response::Volume`].
    pub fn volumes(&self) -> &[VolumeContact] {
        &self.loads.volumes[..self.loads.volume_count]
    }

    /// How many contacts the last step had: between bodies, and of bodies with themselves.
    pub fn contact_counts(&self) -> [usize; 2] {
        let mut counts = [0; 2];
        let apart = self.keeps_apart();
        if apart {
            counts = self.near.counts(&self.system.bodies, &self.system.motion.positions);
        }
        let of_points = self.contacts.bodies().iter().zip(self.contacts.source());
        let of_points = of_points
            .filter(|(_, source)| {
                **source != Source::Volume && !(apart && **source == Source::Proximity)
            })
            .map(|one| *one.0);
        for [a, b] in of_points.chain(self.volumes().iter().map(|volume| volume.bodies())) {
            counts[usize::from(a == b)] += 1;
        }
        counts
    }

    /// How many vertices were in their own body, all around them too, when the last step began: no contact leads them out,
    /// what the body is made of has to bring them back.
    pub fn unresolved(&self) -> usize {
        self.unresolved
    }

    /// How deep the deepest point in a body was when the last step began, in m.
    pub fn deepest(&self) -> f64 {
        detection::deepest(&self.contacts)
    }

    fn keeps_apart(&self) -> bool {
        matches!(self.parameters.response, Response::Layer(_))
            && self.parameters.integrator == Integrator::Xpbd
            && self.parameters.contact.thickness > 0.0
    }

    /// Frames so far.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// Time so far, in s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// How long the stages of the last step took.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Into how many steps the last frame was cut.
    pub fn substeps(&self) -> Substeps {
        self.substeps
    }

    /// The energy of motion, and that stored in bodies and in their height.
    pub fn energy(&self) -> [f64; 2] {
        let [moving, stored] = self.system.energy();
        let gravity = self.parameters.gravity;
        let motion = &self.system.motion;
        let mut height = 0.0;
        for (body, model) in self.system.bodies.list().iter().zip(&self.system.models) {
            let own = body.vertices.clone();
            match model {
                crate::model::Model::Rigid(rigid) => {
                    let centre = motion.coordinates[own.start].map(R::to_f64);
                    height -= rigid.mass.to_f64() * gravity.dot(&centre);
                }
                crate::model::Model::Driven(_) | crate::model::Model::Embedded(_) => {}
                _ => {
                    for (place, mass) in
                        motion.positions[own.clone()].iter().zip(&motion.masses[own])
                    {
                        height -= mass.to_f64() * gravity.dot(&place.map(R::to_f64));
                    }
                }
            }
        }
        [moving, stored + height]
    }

    /// A number that tells states apart, bit by bit.
    pub fn hash(&self) -> u64 {
        self.system.motion.hash()
    }

    /// Adds something that does not give way.
    pub fn add_collider(&mut self, collider: Collider<R>) -> Result<ColliderId, WorldError> {
        check_collider(&collider)?;
        Ok(self.colliders.insert(collider))
    }

    /// Changes it, for example where it is.
    pub fn set_collider(
        &mut self,
        id: ColliderId,
        collider: Collider<R>,
    ) -> Result<(), WorldError> {
        check_collider(&collider)?;
        *self.colliders.get_mut(id)? = collider;
        Ok(())
    }

    /// Removes it.
    pub fn remove_collider(&mut self, id: ColliderId) -> Result<(), WorldError> {
        self.colliders.remove(id)?;
        // The others get other numbers, and contacts are known by these.
        self.revision += 1;
        Ok(())
    }

    /// Adds a magnet.
    pub fn add_magnet(&mut self, magnet: Field) -> Result<MagnetId, WorldError> {
        check_magnet(&magnet)?;
        Ok(self.magnets.insert(magnet))
    }

    /// Changes it.
    pub fn set_magnet(&mut self, id: MagnetId, magnet: Field) -> Result<(), WorldError> {
        check_magnet(&magnet)?;
        *self.magnets.get_mut(id)? = magnet;
        Ok(())
    }

    /// Removes it.
    pub fn remove_magnet(&mut self, id: MagnetId) -> Result<(), WorldError> {
        self.magnets.remove(id).map(|_| ())
    }

    /// Adds a dragger.
    pub fn add_dragger(&mut self, dragger: Dragger) -> Result<DraggerId, WorldError> {
        self.check_dragger(&dragger)?;
        Ok(self.draggers.insert(dragger))
    }

    /// Changes it, for example where it pulls to.
    pub fn set_dragger(&mut self, id: DraggerId, dragger: Dragger) -> Result<(), WorldError> {
        self.check_dragger(&dragger)?;
        *self.draggers.get_mut(id)? = dragger;
        Ok(())
    }

    /// Removes it.
    pub fn remove_dragger(&mut self, id: DraggerId) -> Result<(), WorldError> {
        self.draggers.remove(id).map(|_| ())
    }

    /// Chooses how two bodies are looked at, or one with itself; none: like all others.
    pub fn set_detection(
        &mut self,
        pair: [BodyId; 2],
        detection: Option<Detection>,
    ) -> Result<(), WorldError> {
        let [a, b] = pair;
        self.index(a)?;
        self.index(b)?;
        let pair = [a.min(b), a.max(b)];
        self.chosen.retain(|(other, _)| *other != pair);
        if let Some(detection) = detection {
            self.chosen.push((pair, detection));
        }
        Ok(())
    }

    /// How two bodies are looked at, or one with itself.
    pub fn detection(&self, pair: [BodyId; 2]) -> Result<Detection, WorldError> {
        let [a, b] = pair;
        self.index(a)?;
        self.index(b)?;
        let pair = [a.min(b), a.max(b)];
        let own = self.chosen.iter().find(|(other, _)| *other == pair);
        Ok(own.map_or(self.parameters.detection, |(_, detection)| *detection))
    }

    fn check_dragger(&self, dragger: &Dragger) -> Result<(), WorldError> {
        for (body, own) in dragger.ends() {
            let vertices = self.range(body)?.len();
            if let Some(&vertex) = own.iter().find(|&&vertex| vertex as usize >= vertices) {
                return Err(WorldError::NoSuchVertex { body: body.number(), vertex, vertices });
            }
        }
        if !dragger.is_valid() {
            return Err(WorldError::Unfit(
                "the dragger has a number that is not finite, or a negative stiffness or damping",
            ));
        }
        Ok(())
    }

    /// The place of a body in the order of all.
    fn index(&self, id: BodyId) -> Result<usize, WorldError> {
        self.ids.index(id)
    }

    fn range(&self, id: BodyId) -> Result<std::ops::Range<usize>, WorldError> {
        Ok(self.system.bodies.list()[self.index(id)?].vertices.clone())
    }

    /// What solvers remember is of another state.
    fn forget(&mut self) {
        self.near.forget();
        self.revision += 1;
    }
}

fn check_collider<R: Real>(collider: &Collider<R>) -> Result<(), WorldError> {
    if collider.is_valid() {
        return Ok(());
    }
    Err(WorldError::Unfit(
        "the collider has a number that is not finite, an extent that is not positive, or axes that are not of length one",
    ))
}

fn check_magnet(magnet: &Field) -> Result<(), WorldError> {
    if magnet.is_valid() {
        return Ok(());
    }
    Err(WorldError::Unfit(
        "the magnet has a number that is not finite, a direction of length zero or no half distance",
    ))
}
