//! The three kinds of data of a world: what exists, what evolves, and buffers.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::finder::ContactFinder;
use super::ids::{BodyId, ColliderId, DraggerId, IdMap, MagnetId};
use super::{Detection, Dragger, SimulationParameters, Substeps};
use crate::contact::Contacts;
use crate::detect::proximity::ProximityPairs;
use crate::integrate::{ForceIntegrators, System, VolumeConstraint, Xpbd};
use crate::math::Real;
use crate::response::{Collider, Field, PenaltyContacts, Pull};
use crate::state::{Motion, new_revision};
use crate::stats::Clock;

/// What exists, as far as only the user changes it. Bodies themselves are in [`State::system`], whose meshes and rest shapes
/// are shared by reference count.
#[derive(Debug, Clone, Default)]
pub(super) struct Scene<R: Real> {
    pub parameters: SimulationParameters,
    /// In the order of the bodies.
    pub bodies: IdMap<BodyId, ()>,
    pub colliders: IdMap<ColliderId, Collider<R>>,
    pub magnets: IdMap<MagnetId, Field>,
    pub draggers: IdMap<DraggerId, Dragger>,
    /// Pairs of bodies whose detection method is not that of the parameters, the smaller handle first.
    pub detection: Vec<([BodyId; 2], Detection)>,
    /// Changes whenever what XPBD carries from step to step does not hold any more: materials, masses or the list of
    /// colliders change, positions are set from outside, a step is rolled back.
    pub revision: u64,
}

/// What evolves: everything that later frames depend on.
#[derive(Debug, Clone, Default)]
pub(super) struct State<R: Real> {
    pub frame: u64,
    /// In s.
    pub time: f64,
    /// Bodies with their motion; plastic strain is part of their models.
    pub system: System<R>,
    /// Candidate pairs of surfaces close to each other.
    pub proximity: ProximityPairs<R>,
    /// Impulses for warm starting, and strain and rotation of the elements.
    pub xpbd: Xpbd<R>,
}

/// Buffers, caches and the results of the last step. Nothing in here influences later frames.
#[derive(Debug, Default)]
pub(super) struct Workspace<R: Real> {
    pub clock: Clock,
    pub substeps: Substeps,
    /// Motion at the beginning of the frame, to roll back to.
    pub start: Motion<R>,
    pub finder: ContactFinder<R>,
    /// Whether the last step kept surfaces apart by constraints; false if there are no results.
    pub kept_apart: bool,
    pub pulls: Vec<Pull<R>>,
    pub penalties: PenaltyContacts<R>,
    pub integrators: ForceIntegrators<R>,
    pub constraint: VolumeConstraint<R>,
    /// Contacts of all kinds, merged when they are first asked for.
    pub contacts: OnceLock<Contacts<R>>,
    /// Contacts of the step before and of a volume, to reuse their memory.
    pub spare: Mutex<[Contacts<R>; 2]>,
}

impl<R: Real> Scene<R> {
    /// Invalidates what XPBD carries from step to step.
    pub fn restart_xpbd(&mut self) {
        self.revision = new_revision();
    }

    /// Makes sure that new handles get numbers that neither this scene nor another has given before.
    pub fn keep_numbers_unique(&mut self, other: &Self) {
        self.bodies.skip_numbers_of(&other.bodies);
        self.colliders.skip_numbers_of(&other.colliders);
        self.magnets.skip_numbers_of(&other.magnets);
        self.draggers.skip_numbers_of(&other.draggers);
    }
}

impl<R: Real> State<R> {
    /// Copies another state; buffers and caches of solvers stay and are used again.
    pub fn restore(&mut self, other: &Self) {
        let Self { frame, time, system, proximity, xpbd } = other;
        (self.frame, self.time) = (*frame, *time);
        self.system.clone_from(system);
        self.proximity.restore(proximity);
        self.xpbd.restore(xpbd);
    }
}

impl<R: Real> Workspace<R> {
    /// Forgets the results of the last step.
    pub fn clear_results(&mut self) {
        self.kept_apart = false;
        self.substeps = Substeps::default();
        self.finder.clear_results();
        self.recycle_contacts();
    }

    /// Takes back the memory of merged contacts.
    pub fn recycle_contacts(&mut self) {
        if let Some(contacts) = self.contacts.take() {
            let spare = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner);
            spare[0] = contacts;
        }
    }
}
