//! When each integrator is stable, and what energy it keeps.

use defcol::error::WorldError;
use defcol::integrate::{Accuracy, Integrator};
use defcol::math::Vector3;
use defcol::mesh::TetMesh;
use defcol::model::{ConstitutiveLaw, ElasticModuli};
use defcol::response::Collider;
use defcol::world::{BodyKind, BodyOptions, SimulationParameters, World};
use defcol_scenes::regular::box_grid;

use super::Experiment;
use super::SuiteOptions;
use super::plot::{Plot, Scale};
use defcol_query::{OnStep, QueryError, with_steps};

const ABOUT: &str = "a cube of 3 x 3 x 3 cells of 10 cm, 100 kg/m3, Poisson's ratio 0.3: the longest step in seconds with \
                     which it falls from 20 cm and lies for two seconds without ever having more energy than at the \
                     start, and the share of energy that it keeps when it vibrates freely for half a second in steps of \
                     1/1200 s";

const INTEGRATORS: [(&str, Integrator); 6] = [
    ("explicit Euler", Integrator::ExplicitEuler),
    ("symplectic Euler", Integrator::SymplecticEuler),
    ("Verlet", Integrator::Verlet),
    ("Runge-Kutta 4", Integrator::RungeKutta4),
    ("implicit Euler", Integrator::ImplicitEuler(Accuracy { iterations: 60, tolerance: 1e-4 })),
    ("XPBD", Integrator::Xpbd),
];

/// Steps of a frame of 1/60 s that are tried.
const MOST_STEPS: u32 = 1024;

pub fn run(options: &SuiteOptions, on_step: OnStep) -> Result<Experiment, QueryError> {
    let moduli: &[f64] = if options.quick { &[1e4] } else { &[1e3, 1e4, 1e5, 1e6] };
    with_steps(on_step, (INTEGRATORS.len() * moduli.len()) as u32, "integrators", |bar| {
        let mut all = Experiment::new("integrators", ABOUT, None);
        let mut curves = vec![];
        for (name, integrator) in INTEGRATORS {
            let mut curve = vec![];
            for &young in moduli {
                let step = longest_step(integrator, young)?;
                let what = format!("{name}, Young's modulus {young:.0e} Pa: longest step in s");
                all.find(&what, None, step.unwrap_or(0.0));
                curve.extend(step.map(|step| [young, step]));
                bar.advance();
            }
            all.find(&format!("{name}: energy kept"), None, energy_kept(integrator)?);
            curves.push((name.to_owned(), curve));
        }
        all.measured = all.findings.iter().map(|finding| finding.measured).fold(0.0, f64::max);
        all.add(Plot {
            title: "longest stable step".to_owned(),
            x: "Young's modulus in Pa",
            scale: Scale::Logarithmic,
            y: "step in s",
            curves,
        });
        Ok(all)
    })
}

fn cube(
    integrator: Integrator,
    young: f64,
    substeps: u32,
    gravity: f64,
) -> Result<(World<f64>, defcol::world::BodyId, TetMesh<f64>), QueryError> {
    let mesh = TetMesh::new(box_grid([3, 3, 3], 0.1)).map_err(QueryError::computation)?;
    let mut world = World::default();
    let gravity = Vector3::new(0.0, -gravity, 0.0);
    let parameters =
        SimulationParameters { integrator, substeps, gravity, ..SimulationParameters::default() };
    world.set_parameters(parameters).map_err(QueryError::computation)?;
    let elastic = ElasticModuli { young, poisson: 0.3, damping: 0.0 };
    let material = BodyKind::Elements(elastic, ConstitutiveLaw::Corotational);
    let position = Vector3::new(0.0, if gravity.y == 0.0 { 0.0 } else { 0.2 }, 0.0);
    let above = BodyOptions { position, ..BodyOptions::default() };
    let id = world.add_solid(&mesh, material, &above).map_err(QueryError::computation)?;
    Ok((world, id, mesh))
}

/// None if even the shortest is too long.
fn longest_step(integrator: Integrator, young: f64) -> Result<Option<f64>, QueryError> {
    let mut substeps = 1;
    while substeps <= MOST_STEPS {
        if is_stable(integrator, young, substeps)? {
            return Ok(Some(1.0 / 60.0 / f64::from(substeps)));
        }
        substeps = (substeps * 5).div_ceil(4);
    }
    Ok(None)
}

fn is_stable(integrator: Integrator, young: f64, substeps: u32) -> Result<bool, QueryError> {
    let (mut world, _, _) = cube(integrator, young, substeps, 9.81)?;
    world.add_collider(Collider::half_space(Vector3::y(), 0.0)).map_err(QueryError::computation)?;
    let start: f64 = world.energy().total();
    for _ in 0..120 {
        match world.step() {
            Ok(()) => {}
            Err(WorldError::Diverged { .. }) => return Ok(false),
            Err(other) => return Err(QueryError::computation(other)),
        }
        if world.energy().total() > 1.01 * start {
            return Ok(false);
        }
    }
    Ok(true)
}

fn energy_kept(integrator: Integrator) -> Result<f64, QueryError> {
    let (mut world, id, mesh) = cube(integrator, 1e4, 20, 0.0)?;
    let stretched: Vec<Vector3<f64>> =
        mesh.positions().iter().map(|p| Vector3::new(1.1 * p.x, p.y, p.z)).collect();
    world.set_positions(id, &stretched).map_err(QueryError::computation)?;
    let start: f64 = world.energy().total();
    for _ in 0..30 {
        if world.step().is_err() {
            return Ok(f64::INFINITY);
        }
    }
    Ok(world.energy().total() / start)
}
