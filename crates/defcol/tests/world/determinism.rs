//! The same bits come out every time: on any number of threads, in any profile.

use defcol::integrate::Integrator;
use defcol::math::Real;
use defcol::model::{ConstitutiveLaw, ElasticModuli};
use defcol::response::Collider;
use defcol::world::BodyKind;
use defcol_scenes::catalogue::{SCENES, Scene};
use defcol_scenes::regular::box_grid;

use crate::support::QUICK;
use crate::support::worlds::{INTEGRATORS, V, at, solid, world};

/// Numbers of threads compared with one thread.
const THREADS: &[usize] = if QUICK { &[3] } else { &[2, 3, 4, 8] };

/// The state hashes of a scene, frame by frame.
fn hashes(name: &str, threads: usize, frames: usize, single: bool) -> Vec<u64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    fn run<R: Real>(name: &str, frames: usize) -> Vec<u64> {
        let mut scene = Scene::<R>::build(name, 0).unwrap();
        (0..frames)
            .map(|_| {
                scene.step().unwrap();
                scene.world.hash()
            })
            .collect()
    }
    pool.install(|| if single { run::<f32>(name, frames) } else { run::<f64>(name, frames) })
}

#[test]
fn every_scene_has_the_same_bits_for_any_number_of_threads() {
    for entry in SCENES {
        for single in [false, true] {
            let one = hashes(entry.name, 1, 40, single);
            for &threads in THREADS {
                assert_eq!(
                    hashes(entry.name, threads, 40, single),
                    one,
                    "{} on {threads} threads",
                    entry.name
                );
            }
        }
    }
}

/// Hashes of 30 frames in one, in double and in single precision. They change when the simulation is meant to change, and
/// only then; both profiles must agree on them, frame by frame.
const GOLDEN: &[(&str, u64, u64)] = &[
    ("balls", 0xc807678b583d1470, 0x3ada7f0d41256c30),
    ("rods", 0x8e77f22d0165225b, 0xcd316d6863453d8d),
    ("membranes", 0x10aa33a3667fdf7b, 0xd820143835c72171),
    ("beam", 0x294657b56afe2c90, 0xbb4313602ba7d605),
    ("arm", 0xb89b82cc47673827, 0x7fc6fd7083915798),
    ("box", 0x8ccf03c9e1b84bcf, 0xfa811540a3f50e66),
    ("particles", 0x5b6d5eb95d84afa4, 0x735a2d077259593f),
];

fn together(hashes: &[u64]) -> u64 {
    let mix =
        |all: u64, hash: &u64| (all.rotate_left(7) ^ hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hashes.iter().fold(0, mix)
}

#[test]
fn scenes_have_their_golden_hashes() {
    let found: Vec<(&str, u64, u64)> = SCENES
        .iter()
        .map(|entry| {
            let [double, single] =
                [false, true].map(|single| together(&hashes(entry.name, 2, 30, single)));
            (entry.name, double, single)
        })
        .collect();
    let text: Vec<String> =
        found.iter().map(|(n, a, b)| format!("    (\"{n}\", {a:#018x}, {b:#018x}),")).collect();
    assert_eq!(found, GOLDEN, "found\n{}", text.join("\n"));
}

#[test]
fn forces_have_the_same_bits_for_any_number_of_threads() {
    // Enough elements that threads share them.
    let mesh = solid(box_grid([20, 8, 8], 0.05));
    for integrator in INTEGRATORS {
        // Explicit Euler gains energy: it gets less to do.
        let (substeps, young) = match integrator {
            Integrator::ExplicitEuler => (16, 1e2),
            _ => (16, 1e4),
        };
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut world = world(|p| (p.integrator, p.substeps) = (integrator, substeps));
                world.add_collider(Collider::half_space(V::y(), 0.0)).unwrap();
                let elastic = ElasticModuli { young, poisson: 0.3, damping: 0.0 };
                for (law, height) in [
                    (ConstitutiveLaw::Corotational, 0.05),
                    (ConstitutiveLaw::NeoHookean, 0.6),
                    (ConstitutiveLaw::Hencky, 1.2),
                ] {
                    let material = BodyKind::Elements(elastic, law);
                    world.add_solid(&mesh, material, &at(0.0, height, 0.0)).unwrap();
                }
                let mut step = || {
                    world.step().unwrap();
                    world.hash()
                };
                (0..4).map(|_| step()).collect::<Vec<_>>()
            })
        };
        let one = run(1);
        for &threads in THREADS {
            assert_eq!(run(threads), one, "{integrator:?} on {threads} threads");
        }
    }
}
