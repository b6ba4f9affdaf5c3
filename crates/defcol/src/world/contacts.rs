//! Contacts of the last step, with the handles of their bodies.

use std::sync::PoisonError;

use super::{BodyId, World};
use crate::contact::volume::VolumeContact;
use crate::contact::{Anchor, Contact, Contacts, Source};
use crate::detect::ldi::Volume;
use crate::math::{Real, Vector3};
use crate::state::Bodies;

/// A point of a body, carried by up to four of its vertices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyPoint<R> {
    /// The body.
    pub body: BodyId,
    /// Vertices of the body, counted from its first. Unused entries repeat the first vertex.
    pub vertices: [u32; 4],
    /// Barycentric weights with the sum 1; 0 for unused entries.
    pub weights: [R; 4],
}

/// One contact between two bodies of a world, or of a body with itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorldContact<R: Real> {
    /// The point of the first body.
    pub first: BodyPoint<R>,
    /// The point of the second body.
    pub second: BodyPoint<R>,
    /// Position of the contact.
    pub position: Vector3<R>,
    /// Unit direction in which the first body separates from the second; zero if there is none.
    pub direction: Vector3<R>,
    /// Penetration depth along the direction, in m; for proximity pairs the thickness minus the gap. Never negative.
    pub depth: R,
    /// Contribution to the volume of the overlap, in m³; 0 where none was measured.
    pub volume: R,
    /// Area that the contact stands for, in m²; 0 where none was measured.
    pub area: R,
    /// Agreement of everything that the direction was made from, from 0 to 1.
    pub confidence: R,
    /// The method that found the contact.
    pub source: Source,
}

impl<R: Real> BodyPoint<R> {
    /// The weighted mean of what the vertices of the body have, such as [`World::positions`].
    pub fn interpolate(&self, of_vertices: &[Vector3<R>]) -> Vector3<R> {
        let parts = self.vertices.iter().zip(self.weights);
        parts.fold(Vector3::zeros(), |sum, (&vertex, weight)| {
            sum + of_vertices[vertex as usize] * weight
        })
    }
}

impl<R: Real> WorldContact<R> {
    /// The two bodies; twice the same for self-contact.
    pub fn bodies(&self) -> [BodyId; 2] {
        [self.first.body, self.second.body]
    }
}

/// Contacts of the last step, in ascending order of the first point.
#[derive(Debug, Clone, Copy)]
pub struct WorldContacts<'a, R: Real> {
    records: &'a Contacts<R>,
    bodies: &'a Bodies,
    ids: &'a [BodyId],
}

impl<'a, R: Real> WorldContacts<'a, R> {
    /// Number of contacts.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are no contacts.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// All contacts in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = WorldContact<R>> + use<'a, R> {
        let Self { records, bodies, ids } = *self;
        let point = move |anchor: &Anchor<R>| {
            let body = bodies.body_of(anchor.vertices[0]);
            let first = bodies.list()[body].vertices.start as u32;
            let vertices = anchor.vertices.map(|vertex| vertex - first);
            BodyPoint { body: ids[body], vertices, weights: anchor.weights }
        };
        records.iter().map(move |record: Contact<R>| WorldContact {
            first: point(&record.first),
            second: point(&record.second),
            position: record.position,
            direction: record.direction,
            depth: record.depth,
            volume: record.volume,
            area: record.area,
            confidence: record.confidence,
            source: record.source,
        })
    }

    /// The same contacts as arrays, with indices into [`World::bodies`] and global vertices.
    pub fn records(&self) -> &'a Contacts<R> {
        self.records
    }
}

/// A volume in which two bodies of a world overlap, or a body overlaps itself.
#[derive(Debug, Clone, Copy)]
pub struct WorldOverlap<'a> {
    /// The two bodies; twice the same for self-overlap.
    pub bodies: [BodyId; 2],
    /// The volume with its error estimate.
    pub volume: Volume,
    /// Gradient and contribution of each vertex, with indices into [`World::bodies`] and global vertices.
    pub details: &'a VolumeContact,
}

/// Numbers of contacts of the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContactCounts {
    /// Contacts between different bodies.
    pub between_bodies: usize,
    /// Contacts of bodies with themselves.
    pub self_contacts: usize,
}

impl ContactCounts {
    /// All contacts.
    pub fn total(&self) -> usize {
        self.between_bodies + self.self_contacts
    }

    fn add(&mut self, [a, b]: [u32; 2]) {
        if a == b {
            self.self_contacts += 1;
        } else {
            self.between_bodies += 1;
        }
    }
}

impl<R: Real> World<R> {
    /// Contacts of the last step: vertices inside bodies, proximity pairs if surfaces are kept apart, and the contributions
    /// of vertices to overlapping volumes. The first call after a step merges them. Empty after a failed step, and after a
    /// change of bodies or positions, until the next step.
    pub fn contacts(&self) -> WorldContacts<'_, R> {
        let records = self.scratch.contacts.get_or_init(|| self.merged_contacts());
        WorldContacts { records, bodies: self.bodies(), ids: self.scene.bodies.handles() }
    }

    fn merged_contacts(&self) -> Contacts<R> {
        let (bodies, positions) = (self.bodies(), &self.motion().positions);
        let mut spare = self.scratch.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let [merged, own] = &mut *spare;
        merged.copy_from(self.scratch.finder.contacts());
        for volume in self.scratch.finder.volumes() {
            volume.contacts(bodies, positions, own);
            merged.append(own);
        }
        if self.scratch.kept_apart {
            merged.append_proximity_pairs(&self.state.proximity, bodies, positions);
        }
        merged.sort();
        std::mem::take(merged)
    }

    /// Volumes in which bodies overlapped when the last substep began, with [`Response::Pressure`](super::Response::Pressure)
    /// and [`Response::Volume`](super::Response::Volume).
    pub fn overlaps(&self) -> impl ExactSizeIterator<Item = WorldOverlap<'_>> {
        let ids = self.scene.bodies.handles();
        self.scratch.finder.volumes().iter().map(move |details| WorldOverlap {
            bodies: details.bodies().map(|body| ids[body as usize]),
            volume: details.volume(),
            details,
        })
    }

    /// Numbers of contacts of the last step. An overlapping volume counts as one.
    pub fn contact_counts(&self) -> ContactCounts {
        let finder = &self.scratch.finder;
        let mut counts = ContactCounts::default();
        finder.contacts().bodies().iter().for_each(|&pair| counts.add(pair));
        finder.volumes().iter().for_each(|volume| counts.add(volume.bodies()));
        if self.scratch.kept_apart {
            let pairs = &self.state.proximity;
            let [between, own] = pairs.counts(self.bodies(), &self.motion().positions);
            counts.between_bodies += between;
            counts.self_contacts += own;
        }
        counts
    }

    /// Number of vertices inside their own body with all their neighbors, when vertices inside bodies were last looked for:
    /// at the beginning of the frame with XPBD and [`Response::Layer`](super::Response::Layer), otherwise of the last
    /// substep. No contact pushes them out, the forces within the body have to.
    pub fn unresolved(&self) -> usize {
        self.scratch.finder.unresolved()
    }

    /// Largest penetration depth of a vertex, in m, at the time that [`World::unresolved`] names.
    pub fn deepest(&self) -> f64 {
        self.scratch.finder.deepest()
    }
}
