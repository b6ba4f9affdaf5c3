//! MORPH03, section 4: two bodies that pass through each other, and twelve dolphins.

use std::path::Path;
use std::time::Instant;

use defcol::detect::bvh::{
    BoundingBox, BoundingVolume, Collider, Dop14, Dop18, Dop26, FrontTracker, Group, PairFinder,
    Placement, Sphere, Split, Update,
};
use defcol::error::DetectError;
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TriangleMesh};
use defcol_io::Model;
use defcol_render::{PictureOptions, draw, write_png};
use defcol_scenes::morphing::{MorphingScene, Pose, STEPS, dolphin_school, passing_bodies};

use super::Experiment;
use super::SuiteOptions;
use super::plot::{Plot, Scale};
use crate::timing::on_threads;
use defcol_query::{OnStep, QueryError, Steps, with_steps};

/// How volumes are brought up to date.
#[derive(Clone, Copy, PartialEq)]
enum Method {
    Morph,
    Positions(Update),
}

const METHODS: [(Method, &str); 3] = [
    (Method::Morph, "morph"),
    (Method::Positions(Update::Hybrid), "hybrid"),
    (Method::Positions(Update::Full), "full refit"),
];

/// What is looked for.
#[derive(Clone, Copy, PartialEq)]
enum Found {
    All,
    First,
}

const FOUND: [(Found, &str); 2] = [(Found::All, "all pairs"), (Found::First, "first found")];

/// A scene in single precision.
struct Scene {
    mesh: TriangleMesh<f32>,
    references: Vec<Vec<Vector3<f32>>>,
    steps: Vec<Vec<Pose>>,
}

/// What a method took and found, step by step.
struct Run {
    milliseconds: Vec<f64>,
    /// Time to blend all vertices, which positions need and a morphing tree does not; not in the above.
    blending: f64,
    counts: Vec<usize>,
}

impl Run {
    fn mean(&self) -> f64 {
        self.milliseconds.iter().sum::<f64>() / self.milliseconds.len() as f64
    }
}

/// A tree to be measured: how it is built.
#[derive(Clone, Copy)]
struct Build {
    split: Split,
    between: usize,
}

const BUILD: Build = Build { split: Split::SurfaceArea, between: 0 };

const PAPER: &str = "MORPH03 section 4, figures 5 and 8; boxes, eight children, one thread. Times of hybrid and full refit \
                     are without blending the vertices, which they need and the morph method does not";

pub fn run(options: &SuiteOptions, on_step: OnStep) -> Result<Experiment, QueryError> {
    let steps = if options.quick { 10 } else { STEPS };
    let levels = if options.quick { 2 } else { 4 };
    let ticks = 6 + 3 + 6 * levels + 1;
    with_steps(on_step, ticks as u32, "morphing", |bar| {
        on_threads(1, || {
            let mut all = Experiment::new("morphing", PAPER, 58.0);
            let folder = &options.out;
            all.pictures.push(draw_step(&passing_bodies(4, STEPS), 120, folder, "passing.png")?);
            all.pictures.push(draw_step(&dolphin_school(2, STEPS), 150, folder, "dolphins.png")?);
            passing(steps, if options.quick { 3 } else { 5 }, &mut all, bar)?;
            dolphins(steps, levels, &mut all, bar)?;
            kinds_of_trees(steps, if options.quick { 1 } else { 2 }, &mut all, bar)?;
            Ok(all)
        })?
    })
}

/// The first experiment: time over the steps.
fn passing(steps: usize, levels: u32, all: &mut Experiment, bar: &Steps) -> Result<(), QueryError> {
    let scene = Scene::new(&passing_bodies(levels, steps))?;
    let triangles = scene.mesh.triangles().len();
    for (found, what) in FOUND {
        let (mut curves, mut runs) = (Vec::new(), Vec::new());
        for (method, name) in METHODS {
            let run = scene.measure::<BoundingBox<f32>, 8>(method, found, BUILD)?;
            curves.push((name.to_owned(), over_steps(&run.milliseconds)));
            runs.push(run);
            bar.advance();
        }
        same(&runs)?;
        if found == Found::All {
            let touching = |run: &Run| run.counts.iter().filter(|&&count| count > 0).count();
            let share = touching(&runs[0]) as f64 / steps as f64;
            all.find("passing bodies: share of steps in which they meet", Some(0.81), share);
        }
        let title = format!("two bodies of {triangles} triangles pass, {what}");
        for (run, (_, name)) in runs[1..].iter().zip(&METHODS[1..]) {
            let speedup = run.mean() / runs[0].mean();
            all.find(&format!("passing bodies, {what}: {name} time / morph time"), None, speedup);
        }
        all.add(Plot { title, x: "step", scale: Scale::Linear, y: "ms a step", curves });
    }
    let plain = scene.measure::<BoundingBox<f32>, 8>(Method::Morph, Found::All, BUILD)?;
    bar.advance();
    let tighter = Build { between: 1, ..BUILD };
    let between = scene.measure::<BoundingBox<f32>, 8>(Method::Morph, Found::All, tighter)?;
    bar.advance();
    let gain = plain.mean() / between.mean();
    all.find("passing bodies, all pairs: gain by one volume between references", Some(1.05), gain);
    let tracked = scene.track()?;
    bar.advance();
    same(&[plain, between])?;
    all.find("passing bodies, all pairs: gain by tracking the front", None, tracked);
    Ok(())
}

/// The second experiment: mean time over the number of triangles.
fn dolphins(
    steps: usize,
    levels: usize,
    all: &mut Experiment,
    bar: &Steps,
) -> Result<(), QueryError> {
    let mut curves: Vec<Vec<(String, Vec<[f64; 2]>)>> =
        FOUND.map(|_| METHODS.map(|(_, name)| (name.to_owned(), vec![])).to_vec()).to_vec();
    let mut means: [[Vec<f64>; 3]; 2] = Default::default();
    for level in 0..levels {
        let scene = Scene::new(&dolphin_school(level as u32, steps))?;
        let triangles = scene.mesh.triangles().len();
        for (kind, (found, what)) in FOUND.into_iter().enumerate() {
            let mut runs = Vec::new();
            for (k, (method, _)) in METHODS.into_iter().enumerate() {
                let run = scene.measure::<BoundingBox<f32>, 8>(method, found, BUILD)?;
                means[kind][k].push(run.mean());
                curves[kind][k].1.push([triangles as f64, run.mean()]);
                runs.push(run);
                bar.advance();
            }
            same(&runs)?;
            let [lowest, highest] = [[1.5, 9.0], [2.0, 58.0]][kind];
            let published = if level == 0 {
                Some(lowest)
            } else if level == 3 {
                Some(highest)
            } else {
                None
            };
            let (morph, hybrid) = (runs[0].mean(), runs[1].mean());
            let speedup = hybrid / morph;
            let name = format!("{triangles} triangles, {what}: hybrid time / morph time");
            all.find(&name, published, speedup);
            if level + 1 == levels && found == Found::First {
                (all.measured, all.ratio) = (speedup, Some(speedup / 58.0));
            }
            let with = (hybrid + runs[1].blending) / morph;
            all.find(&format!("{name}, with blending the vertices"), None, with);
        }
    }
    for (kind, (_, what)) in FOUND.into_iter().enumerate() {
        for (k, (_, name)) in METHODS.into_iter().enumerate() {
            let growth = means[kind][k][levels - 1] / means[kind][k][0];
            let times = 4usize.pow(levels as u32 - 1);
            all.find(
                &format!("{what}, {name}: growth at {times} times the triangles"),
                None,
                growth,
            );
        }
        let title = format!("twelve dolphins, {what}");
        let (x, scale) = ("triangles a dolphin", Scale::Logarithmic);
        all.add(Plot { title, x, scale, y: "ms a step", curves: curves[kind].clone() });
    }
    Ok(())
}

/// The dolphins with other volumes and other numbers of children.
fn kinds_of_trees(
    steps: usize,
    level: u32,
    all: &mut Experiment,
    bar: &Steps,
) -> Result<(), QueryError> {
    let scene = Scene::new(&dolphin_school(level, steps.min(40)))?;
    let middle = Build { split: Split::Middle, ..BUILD };
    let (morph, found) = (Method::Morph, Found::All);
    let runs = [
        ("boxes, 8 children", scene.measure::<BoundingBox<f32>, 8>(morph, found, BUILD)?),
        ("boxes, 8 children, split at the middle", {
            scene.measure::<BoundingBox<f32>, 8>(morph, found, middle)?
        }),
        ("boxes, 4 children", scene.measure::<BoundingBox<f32>, 4>(morph, found, BUILD)?),
        ("boxes, 2 children", scene.measure::<BoundingBox<f32>, 2>(morph, found, BUILD)?),
        ("14-DOPs, 8 children", scene.measure::<Dop14<f32>, 8>(morph, found, BUILD)?),
        ("18-DOPs, 8 children", scene.measure::<Dop18<f32>, 8>(morph, found, BUILD)?),
        ("26-DOPs, 8 children", scene.measure::<Dop26<f32>, 8>(morph, found, BUILD)?),
        ("spheres, 8 children", scene.measure::<Sphere<f32>, 8>(morph, found, BUILD)?),
    ];
    bar.advance();
    let triangles = scene.mesh.triangles().len();
    let fastest = runs[0].1.mean();
    for (name, run) in &runs {
        let what = format!("{triangles} triangles, all pairs, {name}: time / that of boxes with 8");
        all.find(&what, None, run.mean() / fastest);
    }
    same(&runs.map(|(_, run)| run))
}

/// All methods must find the same in each step.
fn same(runs: &[Run]) -> Result<(), QueryError> {
    if runs.iter().all(|run| run.counts == runs[0].counts) {
        return Ok(());
    }
    Err(QueryError::computation("the methods do not find the same pairs"))
}

fn over_steps(milliseconds: &[f64]) -> Vec<[f64; 2]> {
    (1..).zip(milliseconds).map(|(step, &time)| [f64::from(step), time]).collect()
}

impl Scene {
    fn new(scene: &MorphingScene) -> Result<Self, QueryError> {
        let single = |positions: &Vec<Vector3<f64>>| -> Vec<Vector3<f32>> {
            positions.iter().map(|p| p.map(|x| x as f32)).collect()
        };
        Ok(Self {
            mesh: TriangleMesh::new(scene.mesh.clone().cast()).map_err(QueryError::computation)?,
            references: scene.references.iter().map(single).collect(),
            steps: scene.steps.clone(),
        })
    }

    fn collider<V: BoundingVolume<f32>, const A: usize>(
        &self,
        method: Method,
        build: Build,
    ) -> Result<Collider<f32, V, A>, DetectError> {
        match method {
            Method::Morph => {
                Collider::morphing(&self.mesh, &self.references, build.between, build.split)
            }
            Method::Positions(_) => Ok(Collider::deforming(&self.mesh, build.split)),
        }
    }

    /// The blended vertices of a body.
    fn blend(&self, pose: &Pose, positions: &mut Vec<Vector3<f32>>) {
        let [a, b, c] = pose.weights.map(|weight| weight as f32);
        positions.clear();
        let [p, q, r] = [&self.references[0], &self.references[1], &self.references[2]];
        // In the order in which a morphing body does it, and without what has no weight: the same bits.
        let part = |positions: &[Vector3<f32>], vertex: usize, weight: f32| {
            if weight > 0.0 { positions[vertex] * weight } else { Vector3::zeros() }
        };
        positions.extend((0..p.len()).map(|k| part(p, k, a) + part(q, k, b) + part(r, k, c)));
    }

    /// Gives all bodies their poses of a step; returns how long blending took, in milliseconds.
    fn pose<V: BoundingVolume<f32>, const A: usize>(
        &self,
        group: &mut Group<f32, V, A>,
        step: usize,
        method: Method,
        blended: &mut [Vec<Vector3<f32>>],
    ) -> Result<(), DetectError> {
        for ((body, pose), positions) in group.bodies().zip(&self.steps[step]).zip(blended) {
            match method {
                Method::Morph => body.set_weights(&pose.weights.map(|weight| weight as f32))?,
                Method::Positions(update) => body.set_positions(positions, update)?,
            }
            body.set_placement(placement(pose)?)?;
        }
        Ok(())
    }

    /// Goes through all steps.
    fn measure<V: BoundingVolume<f32>, const A: usize>(
        &self,
        method: Method,
        found: Found,
        build: Build,
    ) -> Result<Run, QueryError> {
        let bodies = self.steps[0].len();
        let one = self.collider::<V, A>(method, build).map_err(QueryError::computation)?;
        let mut group = Group::new(vec![one; bodies]);
        let mut blended = vec![vec![]; bodies];
        let mut run = Run { milliseconds: vec![], blending: 0.0, counts: vec![] };
        // The first step is done twice: the first time it allocates.
        for step in std::iter::once(0).chain(0..self.steps.len()) {
            let start = Instant::now();
            if method != Method::Morph {
                for (pose, positions) in self.steps[step].iter().zip(&mut blended) {
                    self.blend(pose, positions);
                }
            }
            let begin = Instant::now();
            self.pose(&mut group, step, method, &mut blended).map_err(QueryError::computation)?;
            let count = match found {
                Found::All => group.all().map(|(_, pairs)| pairs.len()).sum(),
                Found::First => group.first().count(),
            };
            run.milliseconds.push(1e3 * begin.elapsed().as_secs_f64());
            run.blending += 1e3 * (begin - start).as_secs_f64() / self.steps.len() as f64;
            run.counts.push(count);
        }
        run.milliseconds.remove(0);
        run.counts.remove(0);
        Ok(run)
    }

    /// How many times faster two morphing bodies are searched if the front is tracked.
    fn track(&self) -> Result<f64, QueryError> {
        let mut bodies =
            [(); 2].map(|()| self.collider::<BoundingBox<f32>, 8>(Method::Morph, BUILD));
        let [Ok(first), Ok(second)] = &mut bodies else {
            return Err(QueryError::computation("the scene has no colliders"));
        };
        let (mut finder, mut front) = (PairFinder::default(), FrontTracker::default());
        let (mut pairs, mut expected) = (Vec::new(), Vec::new());
        let mut times = [0.0; 2];
        for poses in &self.steps {
            for (kind, time) in times.iter_mut().enumerate() {
                for (body, pose) in [&mut *first, &mut *second].into_iter().zip(poses) {
                    let weights = pose.weights.map(|weight| weight as f32);
                    body.set_weights(&weights).map_err(QueryError::computation)?;
                    let placed =
                        placement(pose).and_then(|placement| body.set_placement(placement));
                    placed.map_err(QueryError::computation)?;
                }
                let start = Instant::now();
                if kind == 0 {
                    finder.all(first, second, &mut expected);
                } else {
                    front.all(first, second, &mut pairs);
                }
                *time += start.elapsed().as_secs_f64();
            }
            if pairs != expected {
                return Err(QueryError::computation(
                    "a tracked front does not find the same pairs",
                ));
            }
        }
        Ok(times[0] / times[1])
    }
}

fn placement(pose: &Pose) -> Result<Placement<f32>, DetectError> {
    Placement::new(pose.rotation.map(|x| x as f32), pose.translation.map(|x| x as f32))
}

/// Draws a step of a scene, triangles that meet in a colour of their own, and returns the name of the file.
fn draw_step(
    scene: &MorphingScene,
    step: usize,
    folder: &Path,
    name: &str,
) -> Result<String, QueryError> {
    let mesh = TriangleMesh::new(scene.mesh.clone()).map_err(QueryError::computation)?;
    let bodies: Vec<Vec<Vector3<f64>>> =
        scene.steps[step].iter().map(|pose| scene.positions(pose)).collect();
    let mut met = vec![vec![false; mesh.triangles().len()]; bodies.len()];
    let mut group: Group<f64> =
        Group::new(vec![Collider::deforming(&mesh, Split::default()); bodies.len()]);
    for (body, positions) in group.bodies().zip(&bodies) {
        body.set_positions(positions, Update::Full).map_err(QueryError::computation)?;
    }
    for ([a, b], pairs) in group.all() {
        for &[one, other] in pairs {
            met[a as usize][one as usize] = true;
            met[b as usize][other as usize] = true;
        }
    }
    let part = |wanted: bool| {
        let mut part = RawMesh::<f64>::default();
        for (positions, met) in bodies.iter().zip(&met) {
            let first = part.positions.len() as u32;
            part.positions.extend_from_slice(positions);
            let own = mesh.triangles().iter().zip(met).filter(|(_, met)| **met == wanted);
            part.triangles.extend(own.map(|(corners, _)| corners.map(|corner| corner + first)));
        }
        Model::from_mesh(part)
    };
    let picture = draw(&[part(true), part(false)], &PictureOptions::default())
        .map_err(QueryError::computation)?;
    write_png(&folder.join(name), &picture)?;
    Ok(name.to_owned())
}
