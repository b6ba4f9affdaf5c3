//! Which points are in which bodies, and which volumes overlap, by the method chosen for each pair.

use super::{Detection, World};
use crate::broad::BroadPhase;
use crate::contact::depth::{ConsistentDepth, NearestDepth, WayOut};
use crate::contact::{CollidingPoints, Contacts, Source};
use crate::detect::brute::BruteForce;
use crate::detect::bvh::TreeDetector;
use crate::detect::hash::SpatialHash;
use crate::detect::ldi::{ManyBodies, Shell};
use crate::detect::{Detector, Hits, Questions, check_positions};
use crate::error::DetectError;
use crate::math::{Bounds, Real, Vector3};
use crate::state::Bodies;

/// Vertices in tetrahedra are all that is asked.
const POINTS: Questions = Questions { points_in_tetrahedra: true, edges_through_triangles: false };

/// Memory of all methods.
#[derive(Debug, Default)]
pub(super) struct Finder<R: Real> {
    hash: SpatialHash<R>,
    trees: TreeDetector<R>,
    hits: Hits<R>,
    some: Hits<R>,
    points: CollidingPoints<R>,
    depth: ConsistentDepth<R>,
    broad: BroadPhase<R>,
    choices: Choices,
    /// The bodies that are known so far, see [`Finder::learn`].
    topology: u64,
    /// How thick each body is at rest: twice its volume over its area, for a sheet between its sides; zero for what has no
    /// inside.
    thicknesses: Vec<f64>,
    nearest: NearestDepth<R>,
    way_out: WayOut<R>,
    loose: CollidingPoints<R>,
    more: Contacts<R>,
    many: ManyBodies,
    shells: Vec<Shell<'static, R>>,
    numbers: Vec<u32>,
    overlapping: Vec<[u32; 2]>,
}

/// How each pair of bodies is looked at.
#[derive(Debug, Default)]
struct Choices {
    all: Detection,
    /// Pairs that are looked at in another way than all.
    chosen: Vec<([usize; 2], Detection)>,
}

impl Choices {
    fn of(&self, a: usize, b: usize) -> Detection {
        let own = self.chosen.iter().find(|(pair, _)| *pair == [a.min(b), a.max(b)]);
        own.map_or(self.all, |(_, method)| *method)
    }

    fn any(&self, method: Detection) -> bool {
        self.all == method || self.chosen.iter().any(|(_, own)| *own == method)
    }
}

impl<R: Real> Finder<R> {
    /// Finds out how thick bodies are.
    fn learn(&mut self, bodies: &Bodies, rest: &[Vector3<R>]) {
        if self.topology == bodies.topology() {
            return;
        }
        self.topology = bodies.topology();
        self.thicknesses.clear();
        for (number, body) in bodies.list().iter().enumerate() {
            let closed = bodies.is_closed(number);
            let corners = bodies.triangles()[body.triangles.clone()].iter();
            let [volume, area] = corners.fold([0.0; 2], |[volume, area], corners| {
                let [a, b, c] = corners.map(|corner| rest[corner as usize].map(R::to_f64));
                let normal = (b - a).cross(&(c - a));
                [volume + a.dot(&normal) / 6.0, area + normal.norm() / 2.0]
            });
            let thickness = if !closed || area == 0.0 { 0.0 } else { 2.0 * volume.abs() / area };
            self.thicknesses.push(thickness);
        }
    }
}

impl<R: Real> World<R> {
    /// Finds the vertices in bodies.
    pub(super) fn find_points(&mut self) -> Result<(), DetectError> {
        let positions = &self.system.motion.positions;
        let bodies = &self.system.bodies;
        let finder = &mut self.finder;
        finder.hits.points.clear();
        let choices = &finder.choices;
        let detectors: [(&[Detection], &mut dyn Detector<R>); 3] = [
            (&[Detection::Hash, Detection::Automatic], &mut finder.hash),
            (&[Detection::Trees], &mut finder.trees),
            (&[Detection::Brute], &mut BruteForce),
        ];
        for (methods, detector) in detectors {
            if !methods.iter().any(|&method| choices.any(method)) || bodies.tetrahedra().is_empty()
            {
                continue;
            }
            if choices.chosen.is_empty() {
                detector.detect(bodies, positions, POINTS, &mut finder.hits)?;
                continue;
            }
            detector.detect(bodies, positions, POINTS, &mut finder.some)?;
            let own = finder.some.points.iter().filter(|hit| {
                let corners = bodies.tetrahedra()[hit.tetrahedron as usize];
                let (a, b) = (bodies.body_of(hit.vertex), bodies.body_of(corners[0]));
                methods.contains(&choices.of(a, b))
            });
            finder.hits.points.extend(own);
        }
        let images = |a: usize, b: usize| {
            let surface = bodies.list()[b].tetrahedra.is_empty();
            match choices.of(a, b) {
                Detection::Ldi | Detection::LdiOnePass => true,
                Detection::Automatic | Detection::Hash | Detection::Trees | Detection::Brute => {
                    surface
                }
            }
        };
        check_positions(bodies, positions)?;
        finder.broad.update(bodies, positions);
        let Finder { points, broad, hits, .. } = finder;
        points.collect_where(bodies, positions, broad, hits, images)
    }

    /// Depths and directions of these vertices. What no way along edges leads to from the border leaves a body as a whole;
    /// particles leave one by one, to the nearest surface.
    pub(super) fn find_depths(&mut self) -> Result<(), DetectError> {
        let positions = &self.system.motion.positions;
        let bodies = &self.system.bodies;
        let Finder { points, depth, nearest, way_out, loose, more, .. } = &mut self.finder;
        depth.set_parameters(self.parameters.depth);
        depth.find(bodies, positions, points, &mut self.contacts)?;
        let in_themselves =
            depth.enclosed().iter().filter(|group| group.bodies[0] == group.bodies[1]);
        self.unresolved = in_themselves.map(|group| group.points.len()).sum();
        if depth.enclosed().is_empty() {
            return Ok(());
        }
        let alone = |vertex: u32| bodies.list()[bodies.body_of(vertex)].edges.is_empty();
        way_out.find(bodies, positions, depth, more)?;
        let found = more.iter().filter(|contact| !alone(contact.first.vertices[0]));
        found.for_each(|contact| self.contacts.push(contact));
        let own = depth.enclosed_points().iter().filter(|point| alone(point.vertex));
        loose.set(own.map(|point| (point.vertex, point.body)));
        nearest.find(bodies, positions, loose, more)?;
        self.contacts.merge(more);
        Ok(())
    }

    /// Finds out what has to be known before points or volumes are found.
    pub(super) fn prepare_finder(&mut self) {
        let finder = &mut self.finder;
        finder.learn(&self.system.bodies, &self.system.rest);
        finder.choices.all = self.parameters.detection;
        finder.choices.chosen.clear();
        finder.choices.chosen.extend(self.chosen.iter().filter_map(|(pair, method)| {
            let [a, b] = pair.map(|id| self.ids.index(id).ok());
            Some(([a?, b?], *method))
        }));
    }

    /// Whether some body has no inside: it shares no volume with others, but its vertices may be in them.
    pub(super) fn any_hollow(&self) -> bool {
        (0..self.system.bodies.len()).any(|body| !self.system.bodies.is_closed(body))
    }

    /// Keeps contacts of bodies without an inside only: all others are pushed by their volume.
    pub(super) fn keep_hollow(&mut self) {
        let (more, bodies) = (&mut self.finder.more, &self.system.bodies);
        more.clear();
        let own =
            self.contacts.iter().filter(|contact| !bodies.is_closed(contact.bodies[0] as usize));
        own.for_each(|contact| more.push(contact));
        std::mem::swap(more, &mut self.contacts);
    }

    /// The thickness of the thinner of two bodies.
    pub(super) fn thinner(&self, a: usize, b: usize) -> f64 {
        self.finder.thicknesses[a].min(self.finder.thicknesses[b])
    }

    /// Finds the pairs of bodies whose boxes meet on their way through the next frame.
    pub(super) fn find_swept_pairs(&mut self) {
        self.finder.learn(&self.system.bodies, &self.system.rest);
        let frame = R::nearest(self.parameters.frame);
        let fall = (self.parameters.gravity * self.parameters.frame).map(R::nearest);
        let motion = &self.system.motion;
        let boxes = self.system.bodies.list().iter().map(|body| {
            let own = body.vertices.clone();
            let moving = motion.positions[own.clone()].iter().zip(&motion.velocities[own]);
            Bounds::of(moving.flat_map(|(place, velocity)| {
                [*place, place + velocity * frame, place + (velocity + fall) * frame]
            }))
        });
        self.finder.broad.update_boxes(&self.system.bodies, boxes);
    }

    /// What it found.
    pub(super) fn swept_pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        self.finder.broad.pairs().iter().copied()
    }

    /// Measures the volumes in which pairs overlap.
    pub(super) fn find_volumes(&mut self, resolution: u32) -> Result<(), DetectError> {
        let positions = &self.system.motion.positions;
        let bodies = &self.system.bodies;
        let finder = &mut self.finder;
        finder.broad.update(bodies, positions);
        if finder.choices.any(Detection::LdiOnePass) {
            finder.find_overlapping(bodies, positions, resolution)?;
        }
        let Finder { broad, choices, overlapping, .. } = finder;
        let mut count = 0;
        let own = (0..bodies.len() as u32).filter(|&b| bodies.may_collide(b as usize, b as usize));
        let pairs = broad.pairs().iter().copied().chain(own.map(|body| [body; 2]));
        for pair in pairs.filter(|pair| pair.iter().all(|&body| bodies.is_closed(body as usize))) {
            let [a, b] = pair;
            let one_pass = a != b && choices.of(a as usize, b as usize) == Detection::LdiOnePass;
            if one_pass && overlapping.binary_search(&pair).is_err() {
                continue;
            }
            if self.loads.volumes.len() == count {
                self.loads.volumes.push(Default::default());
            }
            let volume = &mut self.loads.volumes[count];
            volume.pair(bodies, positions, pair, resolution)?;
            count += usize::from(volume.volume().value > 0.0);
        }
        self.loads.volume_count = count;
        Ok(())
    }
}

impl<R: Real> Finder<R> {
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
        self.numbers.clear();
        for body in (0..bodies.len()).filter(|&body| bodies.is_closed(body)) {
            self.numbers.push(body as u32);
            shells.push(Shell::of_body(bodies, positions, body)?);
        }
        let numbers = &self.numbers;
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

/// The deepest of contacts, zero if there is none.
pub(super) fn deepest<R: Real>(contacts: &Contacts<R>) -> f64 {
    let all = contacts.depth().iter().zip(contacts.source());
    let inside = all.filter(|(_, source)| **source != Source::Proximity);
    inside.fold(0.0, |most, (depth, _)| depth.to_f64().max(most))
}
