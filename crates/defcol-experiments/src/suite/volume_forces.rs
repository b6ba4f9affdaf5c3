//! FAURE08 figure 6: the force on bodies that go through obstacles.

use defcol::contact::volume::VolumeContact;
use defcol::detect::ldi::Software;
use defcol::math::Vector3;
use defcol::mesh::TriangleMesh;
use defcol::state::{Bodies, Collides};
use defcol_scenes::traversal::{Traversal, traversals};

use super::Experiment;
use super::SuiteOptions;
use super::plot::{Plot, Scale};
use defcol_query::{OnStep, QueryError, with_steps};

const PAPER: &str = "FAURE08 figure 6: force at a stiffness of one over the place of the middle; the obstacle begins at \
                     zero. The paper gives the curves without numbers; exact is what follows from the volumes";

pub fn run(options: &SuiteOptions, on_step: OnStep) -> Result<Experiment, QueryError> {
    let (steps, resolution) = if options.quick { (20, 64) } else { (200, 256) };
    let scenes = traversals();
    let total = scenes.len() * (steps + 1);
    with_steps(on_step, total as u32, "volume forces", |bar| {
        let mut all = Experiment::new("volume-forces", PAPER, None);
        let mut worst = 0.0f64;
        for scene in &scenes {
            let curves = go_through(scene, steps, resolution, || bar.advance())?;
            let error = curves.error();
            worst = worst.max(error);
            let mut finding = |what: &str, measured: f64| {
                all.find(&format!("{}: {what}", scene.name), None, measured);
            };
            finding("largest error, as a share of the largest force", error);
            if let Some(inside) = curves.largest_inside {
                finding("largest force while all of it is inside", inside);
            }
            finding("largest change in a step, as a share of the largest force", curves.jump());
            all.add(Plot {
                title: scene.name.to_owned(),
                x: "place of the middle",
                scale: Scale::Linear,
                y: "force along the way",
                curves: vec![
                    ("exact".to_owned(), curves.exact),
                    (format!("{resolution} x {resolution} rays"), curves.measured),
                ],
            });
        }
        all.measured = worst;
        Ok(all)
    })
}

struct Curves {
    measured: Vec<[f64; 2]>,
    exact: Vec<[f64; 2]>,
    largest_inside: Option<f64>,
}

impl Curves {
    fn largest(&self) -> f64 {
        self.exact.iter().map(|point| point[1].abs()).fold(f64::MIN_POSITIVE, f64::max)
    }

    fn error(&self) -> f64 {
        let pairs = self.measured.iter().zip(&self.exact);
        pairs.map(|(a, b)| (a[1] - b[1]).abs()).fold(0.0, f64::max) / self.largest()
    }

    fn jump(&self) -> f64 {
        let steps = self.measured.windows(2).map(|pair| (pair[1][1] - pair[0][1]).abs());
        steps.fold(0.0, f64::max) / self.largest()
    }
}

fn go_through(
    scene: &Traversal,
    steps: usize,
    resolution: u32,
    mut done: impl FnMut(),
) -> Result<Curves, QueryError> {
    let meshes = [scene.moving.clone(), scene.obstacle.clone()].map(TriangleMesh::new);
    let mut bodies = Bodies::default();
    for mesh in meshes {
        bodies.add_surface(&mesh.map_err(QueryError::computation)?, Collides::default());
    }
    let [from, to] = scene.way();
    let mut contact = VolumeContact::<Software>::default();
    let mut curves = Curves { measured: vec![], exact: vec![], largest_inside: None };
    for step in 0..=steps {
        let x = from + (to - from) * step as f64 / steps as f64;
        let obstacle = scene.obstacle.positions.iter().copied();
        let positions: Vec<Vector3<f64>> = scene.moved(x).chain(obstacle).collect();
        contact.pair(&bodies, &positions, [0, 1], resolution).map_err(QueryError::computation)?;
        let force = contact.net_force(0, 1.0).x;
        let [volume, growth] = scene.exact(x);
        curves.measured.push([x, force]);
        curves.exact.push([x, -volume * growth]);
        if scene.is_inside(x) {
            let largest = curves.largest_inside.get_or_insert(0.0);
            *largest = largest.max(force.abs());
        }
        done();
    }
    Ok(curves)
}
