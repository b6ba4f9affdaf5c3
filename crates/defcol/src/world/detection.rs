//! Which points are in which bodies, and which volumes overlap, by the method chosen for each pair.

use super::{Detection, World};
use crate::broad::{Proxy, SweepAndPrune};
use crate::contact::depth::ConsistentDepth;
use crate::contact::{CollidingPoints, Contacts};
use crate::detect::brute::BruteForce;
use crate::detect::bvh::TreeDetector;
use crate::detect::hash::SpatialHash;
use crate::detect::{Detector, Hits, Questions};
use crate::error::DetectError;
use crate::math::{Bounds, Real};

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
    /// How each body is looked at, by itself.
    methods: Vec<Detection>,
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
            methods: vec![],
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
        let chosen: Vec<([usize; 2], Detection)> = self
            .chosen
            .iter()
            .filter_map(|(pair, method)| {
                let [a, b] = pair.map(|id| self.ids.index(id, "body").ok());
                Some(([a?, b?], *method))
            })
            .collect();
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

    /// Depths and directions of these vertices.
    pub(super) fn find_depths(&mut self) -> Result<(), DetectError> {
        let positions = &self.system.motion.positions;
        let Finder { points, depth, .. } = &mut self.finder;
        depth.set_parameters(self.parameters.depth);
        depth.find(&self.system.bodies, positions, points, &mut self.contacts)
    }

    /// Measures the volumes in which pairs overlap.
    pub(super) fn find_volumes(&mut self, resolution: u32) -> Result<(), DetectError> {
        let positions = &self.system.motion.positions;
        let bodies = &self.system.bodies;
        let Finder { sweep, boxes, proxies, methods, .. } = &mut self.finder;
        bodies.bounds(positions, boxes);
        Proxy::collect(bodies, boxes, proxies);
        sweep.update(proxies);
        let closed = |body: u32| !bodies.list()[body as usize].triangles.is_empty();
        methods.clear();
        let mut count = 0;
        let own = (0..bodies.len() as u32).filter(|&b| bodies.may_collide(b as usize, b as usize));
        let pairs = sweep.pairs().iter().copied().chain(own.map(|body| [body; 2]));
        for pair in pairs.filter(|pair| pair.iter().all(|&body| closed(body))) {
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

/// The deepest of contacts, zero if there is none.
pub(super) fn deepest<R: Real>(contacts: &Contacts<R>) -> f64 {
    contacts.depth().iter().fold(0.0, |most, depth| depth.to_f64().max(most))
}
