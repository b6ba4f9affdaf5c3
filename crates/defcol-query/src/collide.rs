//! Which meshes collide, and how many of their primitives.

use std::collections::BTreeMap;
use std::time::Instant;

use defcol::detect::brute::BruteForce;
use defcol::detect::bvh::{
    Collider, Nearest, NearestSearch, PairFinder, PrimitiveTree, Split, TreeDetector,
};
use defcol::detect::hash::SpatialHash;
use defcol::detect::ldi::{
    ExactPoints, Generator, Ldi, OverlapMeter, SelfOverlap, Shell, Software, Start, View,
};
use defcol::detect::{Detector, Hits, Questions, SelfPairs};
use defcol::error::DetectError;
use defcol::state::Bodies;
use defcol_io::Model;
use serde::Serialize;

use crate::rig::{bvh_mesh, joint_transforms, reference_weights};
use crate::{
    LoadedSurface, MeshScene, NamedMesh, OnStep, OpenSurface, OverlapMesh, QueryError, Steps,
};

/// How collisions are detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollideMethod {
    /// Spatial hashing.
    #[default]
    Hash,
    /// Every primitive against every other: the reference.
    Brute,
    /// Layered depth images: intersection volumes of closed surfaces.
    Ldi,
    /// Bounding-volume hierarchies, which follow morph targets and joints.
    Bvh,
}

/// Settings of [`collide`].
#[derive(Debug, Clone, PartialEq)]
pub struct CollideOptions {
    /// How collisions are detected.
    pub method: CollideMethod,
    /// Also detect self-collisions.
    pub self_collision: bool,
    /// Pixels along a side of the images of [`CollideMethod::Ldi`].
    pub resolution: u32,
    /// Weights of morph targets, one list per mesh that has some; [`CollideMethod::Bvh`] only.
    pub weights: Vec<Vec<f64>>,
    /// Put meshes with joints into the pose of their joints; [`CollideMethod::Bvh`] only.
    pub posed: bool,
}

impl Default for CollideOptions {
    fn default() -> Self {
        Self {
            method: CollideMethod::Hash,
            self_collision: false,
            resolution: 128,
            weights: vec![],
            posed: false,
        }
    }
}

impl CollideOptions {
    /// Checks that the options fit each other and this number of meshes.
    ///
    /// # Errors
    /// Names the option that does not.
    pub fn check(&self, meshes: usize) -> Result<(), QueryError> {
        if meshes == 1 && !self.self_collision {
            return Err(QueryError::request(
                "one mesh collides with nothing: add another, or ask for self-collision",
            ));
        }
        if self.method != CollideMethod::Bvh && (!self.weights.is_empty() || self.posed) {
            return Err(QueryError::request(
                "only bounding-volume hierarchies follow morph targets and joints",
            ));
        }
        Ok(())
    }
}

/// Collisions of several meshes.
#[derive(Debug, Clone, Serialize)]
pub struct CollideReport {
    /// `defcol.collide/1`.
    pub schema: &'static str,
    /// How collisions were detected.
    pub method: CollideMethod,
    /// The pairs that collide.
    pub pairs: Vec<PairReport>,
    /// Whether there is any.
    pub colliding: bool,
    /// Computation time.
    pub seconds: f64,
}

/// Two bodies that collide, or one that collides with itself.
#[derive(Debug, Clone, Serialize)]
pub struct PairReport {
    /// Name of the first body.
    pub a: String,
    /// Name of the second body.
    pub b: String,
    /// Whether both are the same body.
    #[serde(rename = "self")]
    pub self_collision: bool,
    /// Intersecting triangle pairs between surfaces, (vertex, tetrahedron) pairs where a body has
    /// tetrahedra; `None` if the method does not count them.
    pub primitives: Option<usize>,
    /// Triangle pairs that share a vertex and also intersect elsewhere, which are not among the primitives; `None` if
    /// the method does not search for them.
    pub sharing: Option<usize>,
    /// Vertices of either body inside the other; `None` if the method does not count them.
    pub points_inside: Option<usize>,
    /// Intersection volume; `None` if the method does not measure it.
    pub volume: Option<f64>,
    /// Largest distance of a vertex inside from the surface; `None` if the method does not measure it.
    pub max_depth: Option<f64>,
}

/// Result of [`collide`].
#[derive(Debug, Clone)]
pub struct Collisions {
    /// The pairs that collide.
    pub report: CollideReport,
    /// Intersection volumes as a mesh; empty unless the method is [`CollideMethod::Ldi`].
    pub overlap_mesh: OverlapMesh,
}

/// Detects collisions between meshes, and self-collisions if asked for.
///
/// # Errors
/// If options exclude each other, or a mesh does not fit the method.
pub fn collide(
    meshes: &[NamedMesh],
    options: &CollideOptions,
    on_step: OnStep,
) -> Result<Collisions, QueryError> {
    options.check(meshes.len())?;
    let mut overlap_mesh = OverlapMesh::default();
    let (pairs, seconds) = match options.method {
        CollideMethod::Ldi => measure_overlaps(meshes, options, &mut overlap_mesh, on_step)?,
        CollideMethod::Hash | CollideMethod::Brute => count_primitives(meshes, options)?,
        CollideMethod::Bvh => {
            if meshes.iter().all(|mesh| mesh.model.mesh.tetrahedra.is_empty()) {
                traverse_hierarchies(meshes, options)?
            } else if options.weights.is_empty() && !options.posed {
                count_primitives(meshes, options)?
            } else {
                return Err(QueryError::request(
                    "weights and poses are for surfaces; one of the meshes has tetrahedra",
                ));
            }
        }
    };
    let report = CollideReport {
        schema: "defcol.collide/1",
        method: options.method,
        colliding: !pairs.is_empty(),
        pairs,
        seconds,
    };
    Ok(Collisions { report, overlap_mesh })
}

/// Pairs of bodies with intersecting primitives, and the seconds taken to find them.
fn count_primitives(
    meshes: &[NamedMesh],
    options: &CollideOptions,
) -> Result<(Vec<PairReport>, f64), QueryError> {
    let MeshScene { bodies, positions, names } = MeshScene::new(meshes, options.self_collision)?;
    let solid = |body: usize| !bodies.list()[body].tetrahedra.is_empty();
    // Edges matter only between surfaces; where a body has tetrahedra, vertices are counted.
    let surfaces = (0..bodies.len()).filter(|&body| !solid(body)).count();
    let questions = Questions {
        points_in_tetrahedra: surfaces < bodies.len(),
        edges_through_triangles: surfaces > 1 || (surfaces == 1 && options.self_collision),
    };
    let mut hits = Hits::default();
    let start = Instant::now();
    let detector: &mut dyn Detector<f64> = match options.method {
        CollideMethod::Brute => &mut BruteForce,
        CollideMethod::Bvh => &mut TreeDetector::default(),
        _ => &mut SpatialHash::default(),
    };
    detector
        .detect(&bodies, &positions, questions, &mut hits)
        .map_err(|error| QueryError::Input(error.to_string()))?;
    Ok((count(&bodies, &hits, &names), start.elapsed().as_secs_f64()))
}

/// Pairs of bodies that overlap, and the seconds taken to measure them.
fn measure_overlaps(
    meshes: &[NamedMesh],
    options: &CollideOptions,
    overlap_mesh: &mut OverlapMesh,
    on_step: OnStep,
) -> Result<(Vec<PairReport>, f64), QueryError> {
    let surfaces = meshes.iter().map(LoadedSurface::new).collect::<Result<Vec<_>, _>>()?;
    let shells = surfaces.iter().map(|surface| surface.shell(OpenSurface::Refuse));
    let shells = shells.collect::<Result<Vec<_>, _>>()?;
    let start = Instant::now();
    let mut overlaps = Overlaps::default();
    let mut pairs = Vec::new();
    let count = (shells.len() * (shells.len() + 1) / 2) as u32;
    let steps = Steps::begin(on_step, count, "measuring overlaps");
    for (b, (second, name)) in shells.iter().zip(&surfaces).enumerate() {
        for (first, other) in shells[..b].iter().zip(&surfaces) {
            let names = [other.name.as_str(), name.name.as_str()];
            pairs.extend(overlaps.between([first, second], names, options.resolution)?);
            steps.advance();
        }
        if options.self_collision {
            pairs.extend(overlaps.within(second, &name.name, options.resolution)?);
        }
        steps.advance();
    }
    *overlap_mesh = overlaps.drawing;
    Ok((pairs, start.elapsed().as_secs_f64()))
}

/// Pairs of surfaces with intersecting triangles, found with hierarchies that follow morph targets and joints, and the
/// seconds taken to build and traverse them.
fn traverse_hierarchies(
    meshes: &[NamedMesh],
    options: &CollideOptions,
) -> Result<(Vec<PairReport>, f64), QueryError> {
    let targets = meshes.iter().filter(|mesh| !mesh.model.morph_targets.is_empty()).count();
    if options.weights.len() > targets {
        return Err(QueryError::Request(format!(
            "weights are given {} times, but {targets} of the meshes have morph targets",
            options.weights.len()
        )));
    }
    let start = Instant::now();
    let mut weights = options.weights.iter();
    let mut bodies = Vec::new();
    for NamedMesh { name, model } in meshes {
        let weights = if model.morph_targets.is_empty() { None } else { weights.next() };
        bodies.push(posed_hierarchy(name, model, weights.map(Vec::as_slice), options.posed)?);
    }
    let names: Vec<String> = meshes.iter().map(|mesh| mesh.name.clone()).collect();
    let pairs = intersecting(&mut bodies, &names, options.self_collision);
    Ok((pairs, start.elapsed().as_secs_f64()))
}

/// The hierarchy of a surface, with its morph targets blended and its joints posed if asked for.
fn posed_hierarchy(
    name: &str,
    model: &Model,
    weights: Option<&[f64]>,
    posed: bool,
) -> Result<Collider<f64>, QueryError> {
    let problem = |error: &dyn std::fmt::Display| QueryError::input(name, error);
    let skeleton = model.skeleton.as_ref().filter(|_| posed);
    // Without weights or pose the positions of the file are used unchanged, to the last bit.
    let followed = Model {
        mesh: model.mesh.clone(),
        morph_targets: if weights.is_some() { model.morph_targets.clone() } else { vec![] },
        skeleton: skeleton.cloned(),
        ..Model::default()
    };
    let mut body: Collider<f64> =
        bvh_mesh(&followed, Split::default()).map_err(|error| problem(&error))?;
    if let Some(weights) = weights {
        let all = reference_weights(model, weights).map_err(|error| problem(&error))?;
        body.set_weights(&all).map_err(|error| problem(&error))?;
    }
    if let Some(skeleton) = skeleton {
        let joints = joint_transforms(skeleton).map_err(|error| problem(&error))?;
        body.set_joints(&joints).map_err(|error| problem(&error))?;
    }
    Ok(body)
}

/// All pairs of bodies with intersecting triangles, in the order of the bodies.
fn intersecting(
    bodies: &mut [Collider<f64>],
    names: &[String],
    self_collision: bool,
) -> Vec<PairReport> {
    let (mut finder, mut found, mut own) =
        (PairFinder::default(), Vec::new(), SelfPairs::default());
    let pair = |[a, b]: [usize; 2], primitives: usize, sharing: Option<usize>| PairReport {
        a: names[a].clone(),
        b: names[b].clone(),
        self_collision: a == b,
        primitives: Some(primitives),
        sharing,
        points_inside: None,
        volume: None,
        max_depth: None,
    };
    let mut pairs = Vec::new();
    for a in 0..bodies.len() {
        let (before, rest) = bodies.split_at_mut(a + 1);
        let first = &mut before[a];
        if self_collision {
            finder.self_pairs(first, &mut own);
            if !own.apart.is_empty() || !own.sharing.is_empty() {
                pairs.push(pair([a, a], own.apart.len(), Some(own.sharing.len())));
            }
        }
        for (b, second) in (a + 1..).zip(rest) {
            finder.all(first, second, &mut found);
            if !found.is_empty() {
                pairs.push(pair([a, b], found.len(), None));
            }
        }
    }
    pairs
}

/// Measures overlaps and collects them as a mesh.
#[derive(Default)]
struct Overlaps {
    meter: OverlapMeter,
    itself: SelfOverlap,
    exact: ExactPoints,
    nearest: NearestSearch<f64>,
    depths: Vec<Nearest<f64>>,
    drawing: OverlapMesh,
}

impl Overlaps {
    /// Two bodies that overlap.
    fn between(
        &mut self,
        [a, b]: [&Shell<f64>; 2],
        names: [&str; 2],
        resolution: u32,
    ) -> Result<Option<PairReport>, DetectError> {
        if !a.bounds().overlaps(&b.bounds()) {
            return Ok(None);
        }
        let overlap = self.meter.three_axes(a, b, resolution)?;
        let (mut points, mut inside, mut deepest) = (0, Vec::new(), None::<f64>);
        for [body, other] in [[a, b], [b, a]] {
            self.exact.contains(body, other.positions(), &mut inside)?;
            let within = other.positions().iter().zip(&inside).filter(|(_, inside)| **inside);
            let within: Vec<_> = within.map(|(position, _)| *position).collect();
            points += within.len();
            if !within.is_empty() {
                let tree = PrimitiveTree::new(body.positions(), body.triangles());
                self.nearest.find(
                    &tree,
                    body.triangles(),
                    body.positions(),
                    &within,
                    &mut self.depths,
                );
                let depths = self.depths.iter().map(|nearest| nearest.distance);
                deepest = depths.chain(deepest).reduce(f64::max);
            }
        }
        if overlap.volume.value == 0.0 && points == 0 {
            return Ok(None);
        }
        if overlap.volume.value > 0.0 {
            let view = *self.meter.images()[0].view();
            self.drawing.add(&view, self.meter.combination().intervals());
        }
        Ok(Some(PairReport {
            a: names[0].to_owned(),
            b: names[1].to_owned(),
            self_collision: false,
            primitives: None,
            sharing: None,
            points_inside: Some(points),
            volume: Some(overlap.volume.value),
            max_depth: deepest,
        }))
    }

    /// A body that overlaps itself.
    fn within(
        &mut self,
        shell: &Shell<f64>,
        name: &str,
        resolution: u32,
    ) -> Result<Option<PairReport>, DetectError> {
        let axis = shell.bounds().extent().imin();
        let view = View::new(shell.bounds(), axis, resolution)?;
        let mut ldi = Ldi::default();
        Software::default().generate(&[*shell], &view, Start::Near, &mut ldi)?;
        self.itself.find(&ldi);
        let volume = self.itself.volume(&ldi).value + self.itself.inverted_volume(&ldi).value;
        let points = self.itself.vertices(shell)?.len();
        if volume == 0.0 && points == 0 {
            return Ok(None);
        }
        self.drawing.add(&view, self.itself.overlapping());
        self.drawing.add(&view, self.itself.inverted());
        Ok(Some(PairReport {
            a: name.to_owned(),
            b: name.to_owned(),
            self_collision: true,
            primitives: None,
            sharing: None,
            points_inside: Some(points),
            volume: Some(volume),
            max_depth: None,
        }))
    }
}

/// Counts the hits of each pair of bodies.
fn count(bodies: &Bodies, hits: &Hits<f64>, names: &[String]) -> Vec<PairReport> {
    let solid = |body: usize| !bodies.list()[body].tetrahedra.is_empty();
    let mut inside: BTreeMap<[usize; 2], Vec<[u32; 2]>> = BTreeMap::new();
    for hit in &hits.points {
        let own = bodies.body_of(bodies.tetrahedra()[hit.tetrahedron as usize][0]);
        let other = bodies.body_of(hit.vertex);
        let pair = [own.min(other), own.max(other)];
        inside.entry(pair).or_default().push([hit.vertex, hit.tetrahedron]);
    }
    // Two triangles intersect exactly if an edge of one intersects the other.
    let mut crossed: BTreeMap<[usize; 2], Vec<[u32; 2]>> = BTreeMap::new();
    let users = edge_users(bodies);
    for hit in &hits.edges {
        let corners = bodies.triangles()[hit.triangle as usize];
        let own = bodies.body_of(corners[0]);
        let other = bodies.body_of(bodies.edges()[hit.edge as usize][0]);
        if solid(own) || solid(other) {
            continue;
        }
        let pair = [own.min(other), own.max(other)];
        let shares = |user: u32| {
            bodies.triangles()[user as usize].iter().any(|corner| corners.contains(corner))
        };
        let found = users[hit.edge as usize]
            .iter()
            .filter(|&&user| !shares(user))
            .map(|&user| [user.min(hit.triangle), user.max(hit.triangle)]);
        crossed.entry(pair).or_default().extend(found);
    }
    let pair = |[a, b]: [usize; 2], primitives: usize, points_inside: Option<usize>| PairReport {
        a: names[a].clone(),
        b: names[b].clone(),
        self_collision: a == b,
        primitives: Some(primitives),
        sharing: None,
        points_inside,
        volume: None,
        max_depth: None,
    };
    let mut pairs = BTreeMap::new();
    for (bodies, mut list) in inside {
        let primitives = list.len();
        list.sort_unstable();
        list.dedup_by_key(|[vertex, _]| *vertex);
        pairs.insert(bodies, pair(bodies, primitives, Some(list.len())));
    }
    for (bodies, mut list) in crossed {
        list.sort_unstable();
        list.dedup();
        if !list.is_empty() {
            pairs.insert(bodies, pair(bodies, list.len(), None));
        }
    }
    pairs.into_values().collect()
}

/// For each edge the triangles that have it.
fn edge_users(bodies: &Bodies) -> Vec<Vec<u32>> {
    let mut users = vec![Vec::new(); bodies.edges().len()];
    for (triangle, &[a, b, c]) in (0u32..).zip(bodies.triangles()) {
        for [p, q] in [[a, b], [b, c], [c, a]] {
            let body = &bodies.list()[bodies.body_of(p)];
            let edges = &bodies.edges()[body.edges.clone()];
            // The edges of a body are in ascending order, the smaller vertex first, and it has all of them.
            let place = edges.partition_point(|edge| *edge < [p.min(q), p.max(q)]);
            users[body.edges.start + place].push(triangle);
        }
    }
    users
}
