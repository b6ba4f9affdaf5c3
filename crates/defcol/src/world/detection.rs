//! Which points are in which bodies, and which volumes overlap, by the method chosen for each pair.

use super::{Detection, World};
use crate::broad::{Proxy, SweepAndPrune};
use crate::contact::depth::{ConsistentDepth, NearestDepth, WayOut};
use crate::contact::{CollidingPoints, Contacts, Source};
use crate::detect::brute::BruteForce;
use crate::detect::bvh::TreeDetector;
use crate::detect::hash::SpatialHash;
use crate::detect::ldi::{ManyBodies, Shell};
use crate::detect::{Detector, Hits, Questions};
use crate::error::DetectError;
use crate::math::{Bounds, Real, Vector3};
use crate::state::Bodies;

/// Vertices in tetrahedra are all that is asked.
const POINTS: Questions = Questions { points_in_tetrahedra: true, edges_through_triangles: false };

/// Memory of all methods.
#[derive(Debug)]
pub(super) struct Finder<R: Real> {
    hash: SpatialHash<R>,
    trees: TreeDetector<R>,
    hits: Hits<R>,
    some: Hits<R>,
    points: CollidingPoints<R>,
    depth: ConsistentDepth<R>,
    sweep: SweepAndPrune<R>,
    boxes: Vec<Bounds<R>>,
    proxies: Vec<Proxy<R>>,
    /// Pairs that are looked at in another way than all.
    chosen: Vec<([usize; 2], Detection)>,
    nearest: NearestDepth<R>,
    way_out: WayOut<R>,
    loose: CollidingPoints<R>,
    more: Contacts<R>,
    many: ManyBodies,
    overlapping: Vec<[u32; 2]>,
}

impl<R: Real> Default for Finder<R> {
    fn default() -> Self {
        Self {
            hash: SpatialHash::default(),
            trees: TreeDetector::default(),
            hits: Hits::default(),
            some: Hits::default(),
            points: CollidingPoints::default(),
            depth: ConsistentDepth::default(),
            sweep: SweepAndPrune::default(),
            boxes: vec![],
            proxies: vec![],
            chosen: vec![],
            nearest: NearestDepth::default(),
            way_out: WayOut::default(),
            loose: CollidingPoints::default(),
            more: Contacts::default(),
            many: ManyBodies::default(),
            overlapping: vec![],
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
        finder.chosen.clear();
        finder.chosen.extend(self.chosen.iter().filter_map(|(pair, method)| {
            let [a, b] = pair.map(|id| self.ids.index(id, "body").ok());
            Some(([a?, b?], *method))
        }));
        let chosen = &finder.chosen;
        let all = self.parameters.detection;
        let method_of = |a: usize, b: usize| {
            let own = chosen.iter().find(|(pair, _)| *pair == [a.min(b), a.max(b)]);
            own.map_or(all, |(_, method)| *method)
        };
        let uses =
            |method: Detection| all == method || chosen.iter().any(|(_, own)| *own == method);
        let detectors: [(&[Detection], &mut dyn Detector<R>); 3] = [
            (&[Detection::Hash, Detection::Automatic], &mut finder.hash),
            (&[Detection::Trees], &mut finder.trees),
            (&[Detection::Brute], &mut BruteForce),
        ];
        for (methods, detector) in detectors {
            if !methods.iter().any(|&method| uses(method)) || bodies.tetrahedra().is_empty() {
                continue;
            }
            if chosen.is_empty() {
                detector.detect(bodies, positions, POINTS, &mut finder.hits)?;
                continue;
            }
            detector.detect(bodies, positions, POINTS, &mut finder.some)?;
            let own = finder.some.points.iter().filter(|hit| {
                let corners = bodies.tetrahedra()[hit.tetrahedron as usize];
                let (a, b) = (bodies.body_of(hit.vertex), bodies.body_of(corners[0]));
                methods.contains(&method_of(a, b))
            });
            finder.hits.points.extend(own);
        }
        let images = |a: usize, b: usize| {
            let surface = bodies.list()[b].tetrahedra.is_empty();
            match method_of(a, b) {
                Detection::Ldi | Detection::LdiOnePass => true,
                Detection::Automatic | Detection::Hash | Detection::Trees | Detection::Brute => {
                    surface
                }
            }
        };
        finder.points.of_pairs(bodies, positions, &finder.hits, images)
    }

    /// Depths and directions of these vertices. What no way along edges leads to from the border leaves a body as a whole;
    /// particles leave one by one, to the nearest surface.
    pub(super) fn find_depths(&mut self) -> Result<(), DetectError> {
        let positions = &self.system.motion.positions;
        let bodies = &self.system.bodies;
        let Finder { points, depth, nearest, way_out, loose, more, .. } = &mut self.finder;
        depth.set_parameters(self.parameters.depth);
        depth.find(bodies, positions, points, &mut self.contacts)?;
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

    /// Keeps contacts of particles only: what has a surface is pushed by its volume.
    pub(super) fn keep_particles(&mut self) {
        let bodies = &self.system.bodies;
        let more = &mut self.finder.more;
        more.clear();
        let particle = |body: u32| bodies.list()[body as usize].triangles.is_empty();
        let own = self.contacts.iter().filter(|contact| particle(contact.bodies[0]));
        own.for_each(|contact| more.push(contact));
        std::mem::swap(more, &mut self.contacts);
    }

    /// Finds the pairs of bodies whose boxes meet on their way through the next frame.
    pub(super) fn find_swept_pairs(&mut self) {
        let frame = R::nearest(self.parameters.frame);
        let fall = (self.parameters.gravity * self.parameters.frame).map(R::nearest);
        let motion = &self.system.motion;
        let Finder { sweep, boxes, proxies, .. } = &mut self.finder;
        boxes.clear();
        boxes.extend(self.system.bodies.list().iter().map(|body| {
            let own = body.vertices.clone();
            let moving = motion.positions[own.clone()].iter().zip(&motion.velocities[own]);
            Bounds::of(moving.flat_map(|(place, velocity)| {
                [*place, place + velocity * frame, place + (velocity + fall) * frame]
            }))
        }));
        Proxy::collect(&self.system.bodies, boxes, proxies);
        sweep.update(proxies);
    }

    /// What it found.
    pub(super) fn swept_pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        self.finder.sweep.pairs().iter().copied()
    }

    /// Measures the volumes in which pairs overlap.
    pub(super) fn find_volumes(&mut self, resolution: u32) -> Result<(), DetectError> {
        let positions = &self.system.motion.positions;
        let bodies = &self.system.bodies;
        let Finder { sweep, boxes, proxies, many, overlapping, .. } = &mut self.finder;
        bodies.bounds(positions, boxes);
        Proxy::collect(bodies, boxes, proxies);
        sweep.update(proxies);
        let closed = |body: u32| !bodies.list()[body as usize].triangles.is_empty();
        let mut count = 0;
        let one_pass = self.parameters.detection == Detection::LdiOnePass;
        if one_pass {
            overlapping_pairs(bodies, positions, resolution, many, overlapping)?;
        }
        let own = (0..bodies.len() as u32).filter(|&b| bodies.may_collide(b as usize, b as usize));
        let pairs = sweep.pairs().iter().copied().chain(own.map(|body| [body; 2]));
        for pair in pairs.filter(|pair| pair.iter().all(|&body| closed(body))) {
            if one_pass && pair[0] != pair[1] && overlapping.binary_search(&pair).is_err() {
                continue;
            }
            if self.loads.volumes.len() == count {
                self.loads.volumes.push(Default::default());
            }
            let volume = &mut self.loads.volumes[count];
            match volume.pair(bodies, positions, pair, resolution) {
                Ok(()) => count += usize::from(volume.volume().value > 0.0),
                // An open surface has no inside, and overlaps nothing.
                Err(DetectError::OpenSurface { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        self.loads.volume_count = count;
        Ok(())
    }
}

/// Pairs that share volume, as one image of all closed bodies shows them; an overlap thinner than its rays are apart may be
/// missed.
fn overlapping_pairs<R: Real>(
    bodies: &Bodies,
    positions: &[Vector3<R>],
    resolution: u32,
    many: &mut ManyBodies,
    overlapping: &mut Vec<[u32; 2]>,
) -> Result<(), DetectError> {
    let mut numbers = vec![];
    let mut shells = vec![];
    for body in 0..bodies.len() {
        if let Ok(shell) = Shell::of_body(bodies, positions, body)
            && shell.check_closed().is_ok()
        {
            numbers.push(body as u32);
            shells.push(shell);
        }
    }
    let may = |a: u32, b: u32| {
        bodies.may_collide(numbers[a as usize] as usize, numbers[b as usize] as usize)
    };
    overlapping.clear();
    let found = many.overlaps(&shells, resolution.saturating_mul(4).min(1024), may)?;
    overlapping.extend(found.iter().map(|one| one.bodies.map(|body| numbers[body as usize])));
    overlapping.iter_mut().for_each(|pair| pair.sort_unstable());
    overlapping.sort_unstable();
    Ok(())
}

/// The deepest of contacts, zero if there is none.
pub(super) fn deepest<R: Real>(contacts: &Contacts<R>) -> f64 {
    let all = contacts.depth().iter().zip(contacts.source());
    let inside = all.filter(|(_, source)| **source != Source::Near);
    inside.fold(0.0, |most, (depth, _)| depth.to_f64().max(most))
}
