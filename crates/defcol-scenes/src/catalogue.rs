//! Scenes that can be run: each built once, for tests, benchmarks and the command line.

use defcol::error::{MeshError, WorldError};
use defcol::math::{Real, Vector3, sin_cos};
use defcol::mesh::{RawMesh, TetMesh, TriangleMesh};
use defcol::model::{ConstitutiveLaw, ElasticModuli, Joint};
use defcol::response::Collider;
use defcol::state::{Binding, Collides};
use defcol::world::{BodyId, BodyKind, BodyOptions, SimulationParameters, World};

use crate::dropped::{self, Dropped};
use crate::heap::splitmix;
use crate::regular::{ball, box_grid, cylinder};

/// A scene by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What it is called.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// All scenes.
pub const SCENES: &[Entry] = &[
    Entry { name: "balls", title: "a heap of 96 soft balls", source: "THESIS chapter 3" },
    Entry {
        name: "rods",
        title: "four rods that coil up over themselves",
        source: "THESIS chapter 3",
    },
    Entry { name: "membranes", title: "a stack of ten membranes", source: "THESIS chapter 3" },
    Entry { name: "beam", title: "a beam that bends under its weight", source: "beam theory" },
    Entry { name: "arm", title: "a skinned arm that sweeps soft balls away", source: "FAURE08" },
    Entry { name: "box", title: "a rigid box that falls on soft ground", source: "FAURE08" },
    Entry { name: "particles", title: "a rain of particles on a soft block", source: "DefCol SDK" },
];

/// Why a scene cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// A name that is not in the catalogue.
    #[error("there is no scene {0}; see `defcol scenes`")]
    Unknown(String),
    /// A mesh that is none.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A world that does not take it.
    #[error(transparent)]
    World(#[from] WorldError),
}

/// A world ready to be stepped, and what is done to it frame by frame.
pub struct Scene<R: Real> {
    /// The world.
    pub world: World<R>,
    /// A body with joints that swing.
    swinging: Option<BodyId>,
}

impl<R: Real> Scene<R> {
    /// Builds a scene of the catalogue, or one of the heaps of [`dropped`]. The seed moves bodies a little.
    pub fn build(name: &str, seed: u64) -> Result<Self, SceneError> {
        let mut scene = Self { world: World::default(), swinging: None };
        match name {
            "balls" => scene.heap("balls96", seed)?,
            "rods" => scene.heap("rods4", seed)?,
            "membranes" => scene.heap("membranes10", seed)?,
            "beam" => scene.beam()?,
            "arm" => scene.arm(seed)?,
            "box" => scene.rigid_box(seed)?,
            "particles" => scene.particles(seed)?,
            name => scene.heap(name, seed)?,
        }
        Ok(scene)
    }

    /// Goes on by a frame.
    pub fn step(&mut self) -> Result<(), WorldError> {
        if let Some(arm) = self.swinging {
            let time = self.world.time();
            let (shoulder, elbow) = (sin_cos(2.0 * time).0, sin_cos(2.0 * time + 1.0).0);
            self.world.set_joint_target(arm, 0, 0.9 * shoulder)?;
            self.world.set_joint_target(arm, 1, 0.8 + 0.7 * elbow)?;
        }
        self.world.step()
    }

    fn heap(&mut self, name: &str, seed: u64) -> Result<(), SceneError> {
        let dropped = dropped::named(name).ok_or_else(|| SceneError::Unknown(name.to_owned()))?;
        let Dropped { bodies, half_width, with_themselves, substeps } = dropped;
        let mut random = seed;
        for mesh in bodies {
            let options = BodyOptions {
                collides: Collides { with_itself: with_themselves, ..Collides::default() },
                position: nudge(seed, &mut random, 0.005),
                ..BodyOptions::default()
            };
            self.world.add_solid(&solid(mesh)?, foam(), &options)?;
        }
        let parameters = self.world.parameters().clone();
        self.world.set_parameters(SimulationParameters { substeps, ..parameters })?;
        self.ground()?;
        for side in [Vector3::x(), -Vector3::x(), Vector3::z(), -Vector3::z()] {
            let wall = Collider::half_space(side.map(R::nearest), R::nearest(-half_width));
            self.world.add_collider(wall)?;
        }
        Ok(())
    }

    fn ground(&mut self) -> Result<(), SceneError> {
        self.world.add_collider(Collider::half_space(Vector3::y(), R::zero()))?;
        Ok(())
    }

    /// Held at one end.
    fn beam(&mut self) -> Result<(), SceneError> {
        let mesh = solid(box_grid([40, 4, 4], 0.025))?;
        let position = Vector3::new(0.0, 0.5, 0.0);
        let elastic = ElasticModuli { young: 2e5, poisson: 0.3, damping: 0.002 };
        let material = BodyKind::Elements(elastic, ConstitutiveLaw::Corotational);
        let id = self.world.add_solid(
            &mesh,
            material,
            &BodyOptions { position, ..BodyOptions::default() },
        )?;
        let held = (0u32..).zip(mesh.positions()).filter(|(_, place)| place.x == R::zero());
        let held: Vec<u32> = held.map(|(vertex, _)| vertex).collect();
        self.world.pin(id, &held)?;
        Ok(())
    }

    /// Two bones along x, balls around them.
    fn arm(&mut self, seed: u64) -> Result<(), SceneError> {
        self.ground()?;
        let skin = TriangleMesh::new(turned(cylinder(0.08, 0.5, 40, 16)).cast::<R>())?;
        let bindings = skin.positions().iter().map(|place| {
            // The elbow blends over a fifth of the length.
            let along = ((place.x.to_f64() + 0.1) / 0.2).clamp(0.0, 1.0);
            let [near, far] = [1.0 - along, along].map(R::nearest);
            Binding { joints: [0, 1, 0, 0], weights: [near, far, R::zero(), R::zero()] }
        });
        let bindings: Vec<Binding<R>> = bindings.collect();
        let motor = |joint: Joint| Joint { motor: [60.0, 6.0], limits: [-1.2, 1.6], ..joint };
        let joints = vec![
            motor(Joint::new(None, Vector3::new(-0.5, 0.0, 0.0), Vector3::y())),
            motor(Joint::new(Some(0), Vector3::zeros(), Vector3::y())),
        ];
        let position = Vector3::new(0.0, 0.12, 0.0);
        let options = BodyOptions { area_density: 10.0, position, ..BodyOptions::default() };
        self.swinging = Some(self.world.add_articulated(&skin, bindings, joints, &options)?);
        let soft = solid(ball(0.08))?;
        let mut random = seed;
        for place in 0..12 {
            let (row, column) = (place / 4, place % 4);
            let side = if row == 0 { -0.35 } else { 0.2 + 0.2 * f64::from(row) };
            let position = Vector3::new(-0.2 + 0.22 * f64::from(column), 0.1, side)
                + nudge(seed, &mut random, 0.01);
            self.world.add_solid(
                &soft,
                foam(),
                &BodyOptions { position, ..BodyOptions::default() },
            )?;
        }
        Ok(())
    }

    /// A slab that is held from below.
    fn rigid_box(&mut self, seed: u64) -> Result<(), SceneError> {
        self.ground()?;
        let slab = solid(box_grid([16, 3, 16], 0.06))?;
        let position = Vector3::new(-0.48, 0.01, -0.48);
        let id = self.world.add_solid(
            &slab,
            foam(),
            &BodyOptions { position, ..BodyOptions::default() },
        )?;
        let held = (0u32..).zip(slab.positions()).filter(|(_, place)| place.y == R::zero());
        let held: Vec<u32> = held.map(|(vertex, _)| vertex).collect();
        self.world.pin(id, &held)?;
        let solid_box = solid(box_grid([4, 4, 4], 0.075))?;
        let mut random = seed;
        let position = Vector3::new(-0.15, 0.5, -0.15) + nudge(seed, &mut random, 0.02);
        let options = BodyOptions { density: 400.0, position, ..BodyOptions::default() };
        let id = self.world.add_solid(&solid_box, BodyKind::Rigid, &options)?;
        self.world.set_velocity(id, Vector3::zeros(), Vector3::new(1.0, 0.5, 2.0))?;
        Ok(())
    }

    fn particles(&mut self, seed: u64) -> Result<(), SceneError> {
        self.ground()?;
        let block = solid(box_grid([6, 6, 6], 0.08))?;
        let position = Vector3::new(-0.24, 0.01, -0.24);
        self.world.add_solid(
            &block,
            foam(),
            &BodyOptions { position, ..BodyOptions::default() },
        )?;
        let mut random = seed.wrapping_add(7);
        let drops: Vec<Vector3<R>> = (0..400)
            .map(|_| {
                let mut unit = || splitmix(&mut random);
                Vector3::new(0.7 * unit() - 0.35, 0.7 + 1.2 * unit(), 0.7 * unit() - 0.35)
                    .map(R::nearest)
            })
            .collect();
        self.world.add_particles(
            &drops,
            &BodyOptions { particle_mass: 0.01, ..BodyOptions::default() },
        )?;
        Ok(())
    }
}

/// 10 kPa, Poisson's ratio 0.3.
fn foam() -> BodyKind {
    let elastic = ElasticModuli { young: 1e4, poisson: 0.3, damping: 0.02 };
    BodyKind::Elements(elastic, ConstitutiveLaw::Hencky)
}

fn solid<R: Real>(mesh: RawMesh<f64>) -> Result<TetMesh<R>, MeshError> {
    TetMesh::new(mesh.cast())
}

/// From the z axis to the x axis.
fn turned(mut mesh: RawMesh<f64>) -> RawMesh<f64> {
    mesh.positions.iter_mut().for_each(|place| *place = Vector3::new(place.z, place.x, place.y));
    mesh
}

/// A little at random; the seed 0 moves nothing.
fn nudge(seed: u64, random: &mut u64, amount: f64) -> Vector3<f64> {
    if seed == 0 {
        return Vector3::zeros();
    }
    Vector3::from_fn(|_, _| (2.0 * splitmix(random) - 1.0) * amount)
}
