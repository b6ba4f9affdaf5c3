//! Contacts of a step: vertices inside bodies with their depths, and overlapping volumes, by the method chosen for each pair.

use super::Detection;
use super::scene::Scene;
use crate::broad::{BodyPair, BroadPhase};
use crate::contact::depth::{ConsistentDepth, NearestDepth, WayOut};
use crate::contact::volume::{OverlapVolumes, VolumeContact};
use crate::contact::{CollidingPoints, Contacts, Source};
use crate::detect::brute::BruteForce;
use crate::detect::bvh::TreeDetector;
use crate::detect::hash::SpatialHash;
use crate::detect::ldi::{ManyBodies, Shell};
use crate::detect::proximity::ProximityPairs;
use crate::detect::{Detector, Hits, Questions, check_positions};
use crate::error::DetectError;
use crate::integrate::System;
use crate::math::{Bounds, Real, Vector3};
use crate::state::Bodies;

/// Vertices in tetrahedra are all that is asked.
const POINTS: Questions = Questions { points_in_tetrahedra: true, edges_through_triangles: false };

/// Finds contacts and keeps them until the next step.
#[derive(Debug, Default)]
pub(super) struct ContactFinder<R: Real> {
    choices: Choices,
    points: PointFinder<R>,
    depths: DepthFinder<R>,
    overlaps: OverlapFinder<R>,
    /// Used for points and for volumes.
    broad: BroadPhase<R>,
    /// Contacts of vertices inside bodies, and of proximity pairs that act as springs.
    contacts: Contacts<R>,
    volumes: OverlapVolumes,
    /// Vertices inside their own body without a way out.
    unresolved: usize,
}

impl<R: Real> ContactFinder<R> {
    /// Contacts found by the last step, without those of volumes and without proximity pairs that are constraints.
    pub fn contacts(&self) -> &Contacts<R> {
        &self.contacts
    }

    /// Overlapping volumes of the last substep.
    pub fn volumes(&self) -> &[VolumeContact] {
        self.volumes.as_slice()
    }

    /// Number of vertices inside their own body without a way out.
    pub fn unresolved(&self) -> usize {
        self.unresolved
    }

    /// Forgets the contacts of the last step.
    pub fn clear_results(&mut self) {
        self.contacts.clear();
        self.volumes.clear();
        self.unresolved = 0;
    }

    /// Starts a substep: reads which method finds the contacts of which pair.
    pub fn begin(&mut self, scene: &Scene<R>, first_of_frame: bool) {
        self.volumes.clear();
        if first_of_frame {
            self.unresolved = 0;
        }
        self.choices.read(scene);
    }

    /// Pairs of bodies whose boxes, one per body, overlap.
    pub fn swept_pairs(
        &mut self,
        system: &System<R>,
        boxes: impl Iterator<Item = Bounds<R>>,
    ) -> &[BodyPair] {
        self.broad.update_boxes(&system.bodies, boxes)
    }

    /// Finds the vertices inside bodies; where volumes are measured, only if some body has no inside.
    pub fn find_points(&mut self, scene: &Scene<R>, system: &System<R>) -> Result<(), DetectError> {
        if scene.parameters.response.resolution().is_some() && !has_open_body(&system.bodies) {
            return Ok(());
        }
        self.points.find(&self.choices, &mut self.broad, system)
    }

    /// Finds the depths of these vertices, and the volumes in which bodies overlap. Where volumes are measured, only
    /// vertices of bodies without an inside get a contact: all others are pushed by their volume.
    pub fn find_contacts(
        &mut self,
        scene: &Scene<R>,
        system: &System<R>,
    ) -> Result<(), DetectError> {
        let Some(resolution) = scene.parameters.response.resolution() else {
            return self.find_depths(scene, system);
        };
        self.contacts.clear();
        if has_open_body(&system.bodies) {
            self.find_depths(scene, system)?;
            self.depths.keep_open(&system.bodies, &mut self.contacts);
        }
        self.broad.update(&system.bodies, &system.motion.positions);
        self.overlaps.find(&self.choices, &self.broad, system, resolution, &mut self.volumes)
    }

    /// Adds proximity pairs as contacts.
    pub fn add_proximity_pairs(&mut self, pairs: &ProximityPairs<R>, system: &System<R>) {
        self.contacts.add_proximity_pairs(pairs, &system.bodies, &system.motion.positions);
    }

    fn find_depths(&mut self, scene: &Scene<R>, system: &System<R>) -> Result<(), DetectError> {
        let (depths, contacts) = (&mut self.depths, &mut self.contacts);
        depths.consistent.set_parameters(scene.parameters.depth);
        self.unresolved = depths.find(&self.points.points, system, contacts)?;
        Ok(())
    }

    /// Depth of the deepest vertex inside a body, in m.
    pub fn deepest(&self) -> f64 {
        let all = self.contacts.depth().iter().zip(self.contacts.source());
        let inside = all.filter(|(_, source)| **source != Source::Proximity);
        inside.fold(0.0, |most, (depth, _)| depth.to_f64().max(most))
    }
}

/// Whether some body has no inside: it shares no volume with others, but its vertices may be in them.
fn has_open_body(bodies: &Bodies) -> bool {
    (0..bodies.len()).any(|body| !bodies.is_closed(body))
}

/// Detection method of each pair of bodies.
#[derive(Debug, Default)]
struct Choices {
    all: Detection,
    /// Pairs with a method of their own.
    chosen: Vec<([usize; 2], Detection)>,
}

impl Choices {
    fn read<R: Real>(&mut self, scene: &Scene<R>) {
        self.all = scene.parameters.detection;
        self.chosen.clear();
        self.chosen.extend(scene.detection.iter().filter_map(|(pair, method)| {
            let [a, b] = pair.map(|id| scene.bodies.index(id).ok());
            Some(([a?, b?], *method))
        }));
    }

    fn of(&self, a: usize, b: usize) -> Detection {
        let own = self.chosen.iter().find(|(pair, _)| *pair == [a.min(b), a.max(b)]);
        own.map_or(self.all, |(_, method)| *method)
    }

    fn any(&self, method: Detection) -> bool {
        self.all == method || self.chosen.iter().any(|(_, own)| *own == method)
    }
}

/// Finds vertices inside bodies.
#[derive(Debug, Default)]
struct PointFinder<R: Real> {
    hash: SpatialHash<R>,
    trees: TreeDetector<R>,
    hits: Hits<R>,
    /// Hits of one of several detectors.
    own: Hits<R>,
    points: CollidingPoints<R>,
}

impl<R: Real> PointFinder<R> {
    fn find(
        &mut self,
        choices: &Choices,
        broad: &mut BroadPhase<R>,
        system: &System<R>,
    ) -> Result<(), DetectError> {
        let (bodies, positions) = (&*system.bodies, &system.motion.positions);
        self.hits.points.clear();
        let detectors: [(&[Detection], &mut dyn Detector<R>); 3] = [
            (&[Detection::Hash, Detection::Automatic], &mut self.hash),
            (&[Detection::Trees], &mut self.trees),
            (&[Detection::Brute], &mut BruteForce),
        ];
        for (methods, detector) in detectors {
            if !methods.iter().any(|&method| choices.any(method)) || bodies.tetrahedra().is_empty()
            {
                continue;
            }
            if choices.chosen.is_empty() {
                detector.detect(bodies, positions, POINTS, &mut self.hits)?;
                continue;
            }
            detector.detect(bodies, positions, POINTS, &mut self.own)?;
            let own = self.own.points.iter().filter(|hit| {
                let corners = bodies.tetrahedra()[hit.tetrahedron as usize];
                let (a, b) = (bodies.body_of(hit.vertex), bodies.body_of(corners[0]));
                methods.contains(&choices.of(a, b))
            });
            self.hits.points.extend(own);
        }
        let by_image = |a: usize, b: usize| match choices.of(a, b) {
            Detection::Ldi | Detection::LdiOnePass => true,
            Detection::Automatic | Detection::Hash | Detection::Trees | Detection::Brute => {
                bodies.list()[b].tetrahedra.is_empty()
            }
        };
        check_positions(bodies, positions)?;
        broad.update(bodies, positions);
        self.points.collect_where(bodies, positions, broad, &self.hits, by_image)
    }
}

/// Finds depths and directions of vertices inside bodies.
#[derive(Debug, Default)]
struct DepthFinder<R: Real> {
    consistent: ConsistentDepth<R>,
    nearest: NearestDepth<R>,
    way_out: WayOut<R>,
    particles: CollidingPoints<R>,
    more: Contacts<R>,
}

impl<R: Real> DepthFinder<R> {
    /// Overwrites the contacts. Enclosed points, which no path along edges connects to the border, leave a body together;
    /// particles leave one by one, to the nearest surface. Returns the number of vertices inside their own body for which
    /// there is no direction.
    fn find(
        &mut self,
        points: &CollidingPoints<R>,
        system: &System<R>,
        contacts: &mut Contacts<R>,
    ) -> Result<usize, DetectError> {
        let (bodies, positions) = (&*system.bodies, &system.motion.positions);
        let Self { consistent, nearest, way_out, particles, more } = self;
        consistent.find(bodies, positions, points, contacts)?;
        let enclosed = consistent.enclosed();
        if enclosed.is_empty() {
            return Ok(0);
        }
        let in_themselves = enclosed.iter().filter(|group| group.bodies[0] == group.bodies[1]);
        let unresolved = in_themselves.map(|group| group.points.len()).sum();
        let is_particle = |vertex: u32| bodies.list()[bodies.body_of(vertex)].edges.is_empty();
        way_out.find(bodies, positions, consistent, more)?;
        let found = more.iter().filter(|contact| !is_particle(contact.first.vertices[0]));
        found.for_each(|contact| contacts.push(contact));
        let own = consistent.enclosed_points().iter().filter(|point| is_particle(point.vertex));
        particles.set(own.map(|point| (point.vertex, point.body)));
        nearest.find(bodies, positions, particles, more)?;
        contacts.merge(more);
        Ok(unresolved)
    }

    /// Keeps contacts of bodies without an inside only.
    fn keep_open(&mut self, bodies: &Bodies, contacts: &mut Contacts<R>) {
        self.more.clear();
        let own = contacts.iter().filter(|contact| !bodies.is_closed(contact.bodies[0] as usize));
        own.for_each(|contact| self.more.push(contact));
        std::mem::swap(&mut self.more, contacts);
    }
}

/// Measures the volumes in which bodies overlap.
#[derive(Debug, Default)]
struct OverlapFinder<R: Real> {
    many: ManyBodies,
    shells: Vec<Shell<'static, R>>,
    closed: Vec<u32>,
    overlapping: Vec<[u32; 2]>,
}

impl<R: Real> OverlapFinder<R> {
    fn find(
        &mut self,
        choices: &Choices,
        broad: &BroadPhase<R>,
        system: &System<R>,
        resolution: u32,
        volumes: &mut OverlapVolumes,
    ) -> Result<(), DetectError> {
        let (bodies, positions) = (&*system.bodies, &system.motion.positions);
        if choices.any(Detection::LdiOnePass) {
            self.find_overlapping(bodies, positions, resolution)?;
        }
        let own = (0..bodies.len() as u32).filter(|&b| bodies.may_collide(b as usize, b as usize));
        let pairs = broad.pairs().iter().copied().chain(own.map(|body| [body; 2]));
        let closed = |pair: &[u32; 2]| pair.iter().all(|&body| bodies.is_closed(body as usize));
        for pair in pairs.filter(closed) {
            let [a, b] = pair;
            let one_pass = a != b && choices.of(a as usize, b as usize) == Detection::LdiOnePass;
            if one_pass && self.overlapping.binary_search(&pair).is_err() {
                continue;
            }
            volumes.measure(bodies, positions, pair, resolution)?;
        }
        Ok(())
    }

    /// Finds the pairs that share volume, as one image of all closed bodies shows them; an overlap thinner than its rays
    /// are apart may be missed.
    fn find_overlapping(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        resolution: u32,
    ) -> Result<(), DetectError> {
        // The same memory for shells of another life: an empty list is collected in place.
        let mut shells: Vec<Shell<R>> = std::mem::take(&mut self.shells)
            .into_iter()
            .map(|_| unreachable!("none left"))
            .collect();
        self.closed.clear();
        for body in (0..bodies.len()).filter(|&body| bodies.is_closed(body)) {
            self.closed.push(body as u32);
            shells.push(Shell::of_body(bodies, positions, body)?);
        }
        let numbers = &self.closed;
        let may = |a: u32, b: u32| {
            bodies.may_collide(numbers[a as usize] as usize, numbers[b as usize] as usize)
        };
        let finer = resolution.saturating_mul(4).min(1024);
        let found = self.many.overlaps(&shells, finer, may)?;
        self.overlapping.clear();
        self.overlapping
            .extend(found.iter().map(|one| one.bodies.map(|body| numbers[body as usize])));
        shells.clear();
        self.shells = shells.into_iter().map(|_| unreachable!("none left")).collect();
        Ok(())
    }
}
