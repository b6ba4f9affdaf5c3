//! Worlds and what is put into them, for tests of simulations.

use defcol::integrate::{Accuracy, Integrator};
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TetMesh};
use defcol::model::{ConstitutiveLaw, ElasticModuli};
use defcol::response::{Pressure, Springs};
use defcol::world::{BodyId, BodyKind, BodyOptions, Response, SimulationParameters, World};

pub type V = Vector3<f64>;

pub const IMPLICIT: Integrator =
    Integrator::ImplicitEuler(Accuracy { iterations: 200, tolerance: 1e-8 });

pub const INTEGRATORS: [Integrator; 6] = [
    Integrator::ExplicitEuler,
    Integrator::SymplecticEuler,
    Integrator::Verlet,
    Integrator::RungeKutta4,
    IMPLICIT,
    Integrator::Xpbd,
];

/// One of each kind; volumes are measured with so many rays along an edge.
pub fn responses(resolution: u32) -> [Response; 4] {
    let pressure = Pressure { stiffness: 3e6, viscosity: 50.0 };
    [
        Response::default(),
        Response::Penalty(Springs::default()),
        Response::Pressure { pressure, resolution },
        Response::Volume { resolution },
    ]
}

pub fn world(change: impl FnOnce(&mut SimulationParameters)) -> World<f64> {
    let mut world = World::default();
    let mut parameters = SimulationParameters::default();
    change(&mut parameters);
    world.set_parameters(parameters).unwrap();
    world
}

pub fn solid(mesh: RawMesh<f64>) -> TetMesh<f64> {
    TetMesh::new(mesh).unwrap()
}

pub fn elements(young: f64, damping: f64) -> BodyKind {
    BodyKind::Elements(
        ElasticModuli { young, poisson: 0.3, damping },
        ConstitutiveLaw::Corotational,
    )
}

pub fn at(x: f64, y: f64, z: f64) -> BodyOptions {
    BodyOptions { position: V::new(x, y, z), ..BodyOptions::default() }
}

pub fn steps(world: &mut World<f64>, count: usize) {
    (0..count).for_each(|_| world.step().unwrap());
}

pub fn centre(world: &World<f64>, id: BodyId) -> V {
    let places = world.positions(id).unwrap();
    places.iter().sum::<V>() / places.len() as f64
}

/// The height of the lowest vertex.
pub fn lowest(world: &World<f64>, id: BodyId) -> f64 {
    world.positions(id).unwrap().iter().map(|p| p.y).fold(f64::MAX, f64::min)
}
