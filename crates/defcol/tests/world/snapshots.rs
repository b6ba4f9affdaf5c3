//! Continuing after a restore gives the same states as never stopping.

use defcol::integrate::Integrator;
use defcol::math::Real;
use defcol::model::{ConstitutiveLaw, ElasticModuli, Matching, Moduli, ShapeParameters};
use defcol::response::Collider;
use defcol::state::Collides;
use defcol::world::{BodyKind, BodyOptions, Dragger, Response, Substeps, World};
use defcol_scenes::regular::{ball, box_grid};

use super::random::Sandbox;
use crate::support::QUICK;

use crate::support::worlds::{INTEGRATORS, V, at, responses, solid, world};

/// What a world goes through: the hash of each frame, or the error that ended it.
fn future<R: Real>(sandbox: &mut Sandbox<R>, frames: usize) -> Vec<Result<u64, String>> {
    let mut hashes = vec![];
    for frame in 0..frames {
        if frame == 3 {
            sandbox.change();
        }
        let done = sandbox.world.step().map_err(|error| error.to_string());
        hashes.push(done.map(|()| sandbox.world.hash()));
        if hashes[frame].is_err() {
            break;
        }
    }
    hashes
}

fn random_worlds_continue_after_a_restore<R: Real>(seeds: std::ops::Range<u64>) -> usize {
    let mut continued = 0;
    for seed in seeds {
        let mut sandbox = Sandbox::<R>::new(seed);
        if (0..8).any(|_| sandbox.world.step().is_err()) {
            continue;
        }
        let (snapshot, random) = (sandbox.world.snapshot(), sandbox.random);
        let expected = future(&mut sandbox, 8);
        continued += 1;
        // Into the world as it is now; into one whose bodies are others by now; into a new one.
        for case in 0..3 {
            if case == 1 {
                let cube = defcol::mesh::TetMesh::new(box_grid([1, 1, 1], 0.1).cast()).unwrap();
                let extra = sandbox
                    .world
                    .add_solid(&cube, BodyKind::Rigid, &BodyOptions::default())
                    .unwrap();
                let first = sandbox.world.body_ids().next().unwrap();
                let _ = sandbox.world.remove_body(first);
                let _ = sandbox.world.step();
                sandbox.world.restore(&snapshot);
                assert!(sandbox.world.positions(extra).is_err(), "it did not exist yet");
            } else if case == 2 {
                sandbox.world = World::default();
            }
            sandbox.world.restore(&snapshot);
            sandbox.random = random;
            assert_eq!(sandbox.world.frame(), 8);
            assert!(sandbox.world.contacts().is_empty());
            let found = future(&mut sandbox, 8);
            assert_eq!(found, expected, "seed {seed}, case {case}");
        }
    }
    continued
}

#[test]
fn random_worlds_continue_as_if_they_had_never_stopped() {
    let count = if QUICK { 24 } else { 150 };
    let continued = random_worlds_continue_after_a_restore::<f64>(1000..1000 + count)
        + random_worlds_continue_after_a_restore::<f32>(2000..2000 + count);
    assert!(2 * continued > count as usize, "{continued} of {}", 2 * count);
}

/// Bodies of every kind whose state is more than positions and velocities, about to touch.
fn bodies_with_memory(integrator: Integrator, response: Response) -> World<f64> {
    let mut world = world(|p| {
        (p.integrator, p.response) = (integrator, response);
        if !matches!(integrator, Integrator::Xpbd | Integrator::ImplicitEuler(_)) {
            (p.frame, p.substeps) = (1.0 / 480.0, 40);
        }
    });
    world.add_collider(Collider::half_space(V::y(), 0.0)).unwrap();
    let (yield_strain, creep) = (0.01, 20.0);
    let shape = ShapeParameters {
        yield_strain,
        creep,
        matching: Matching::Linear(0.5),
        clusters: 2,
        ..ShapeParameters::default()
    };
    let elastic = ElasticModuli { young: 3e3, ..ElasticModuli::default() };
    let kinds = [
        BodyKind::Elements(elastic, ConstitutiveLaw::Hencky),
        BodyKind::MassPoints(Moduli { yield_strain, creep, distance: 5e3, ..Moduli::default() }),
        BodyKind::Shape(shape),
        BodyKind::Rigid,
    ];
    let mut ids = vec![];
    for (number, kind) in kinds.into_iter().enumerate() {
        let mesh = solid(if number == 0 { ball(0.08) } else { box_grid([2, 2, 2], 0.06) });
        let height = 0.02 + 0.11 * number as f64;
        let options = BodyOptions {
            velocity: V::new(0.0, -2.0, 0.1),
            collides: Collides::with_all_and_itself(),
            ..at(0.01 * number as f64, height, 0.0)
        };
        ids.push(world.add_solid(&mesh, kind, &options).unwrap());
    }
    world.pin(ids[1], &[0, 1]).unwrap();
    world.add_dragger(Dragger::new(ids[2], 3, V::new(0.3, 0.4, 0.0), 20.0, 0.5)).unwrap();
    world
}

#[test]
fn every_integrator_and_response_continues_after_a_restore() {
    for integrator in INTEGRATORS {
        for response in responses(8) {
            let what = format!("{integrator:?} {response:?}");
            let mut world = bodies_with_memory(integrator, response);
            let mut touching = 0;
            for frame in 0..6 {
                world.step().unwrap_or_else(|error| panic!("{what}, frame {frame}: {error}"));
                touching += world.contact_counts().total();
            }
            assert!(touching > 0, "{what}: nothing touches");
            let snapshot = world.snapshot();
            let future = |world: &mut World<f64>| -> Vec<u64> {
                let mut step = || {
                    world.step().unwrap_or_else(|error| panic!("{what}: {error}"));
                    world.hash()
                };
                (0..5).map(|_| step()).collect()
            };
            let expected = future(&mut world);
            world.restore(&snapshot);
            assert_eq!(world.substeps(), Substeps::default(), "results are of no step");
            assert_eq!((world.contact_counts().total(), world.overlaps().len()), (0, 0));
            assert_eq!((world.contacts().len(), world.unresolved()), (0, 0));
            assert_eq!(future(&mut world), expected, "{what}");
            let mut other = World::default();
            other.restore(&snapshot);
            assert_eq!(future(&mut other), expected, "{what}, in a new world");
        }
    }
}

#[test]
fn a_restore_brings_back_what_was_changed() {
    let mut world = bodies_with_memory(Integrator::Xpbd, Response::default());
    for _ in 0..3 {
        world.step().unwrap();
    }
    let snapshot = world.snapshot();
    let ids: Vec<_> = world.body_ids().collect();
    let future = |world: &mut World<f64>| {
        (0..3).for_each(|_| world.step().unwrap());
        world.hash()
    };
    let expected = future(&mut world);
    type Change = fn(&mut World<f64>, &[defcol::world::BodyId]);
    let stiffer = |world: &mut World<f64>, ids: &[_], young| {
        let elastic = ElasticModuli { young, ..ElasticModuli::default() };
        world.set_elastic(ids[0], elastic).unwrap();
    };
    let changes: [Change; 6] = [
        |world, ids| world.unpin(ids[1], &[0, 1]).unwrap(),
        |world, ids| {
            world.set_moduli(ids[1], Moduli { distance: 5e4, ..Moduli::default() }).unwrap()
        },
        |world, ids| world.set_velocity(ids[3], V::x() * 3.0, V::y()).unwrap(),
        |world, ids| {
            world.set_collides(ids[0], Collides { enabled: false, ..Collides::default() }).unwrap()
        },
        |world, ids| world.remove_body(ids[3]).unwrap(),
        |world, _| {
            let mut parameters = world.parameters().clone();
            parameters.gravity = V::x();
            world.set_parameters(parameters).unwrap();
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        world.restore(&snapshot);
        change(&mut world, &ids);
        assert_ne!(future(&mut world), expected, "change {number} does nothing");
        world.restore(&snapshot);
        assert_eq!(future(&mut world), expected, "change {number}");
    }
    // The constants of elements are those of the material of now, whatever was restored in between.
    world.restore(&snapshot);
    stiffer(&mut world, &ids, 9e3);
    let first = future(&mut world);
    world.restore(&snapshot);
    stiffer(&mut world, &ids, 5e4);
    let second = future(&mut world);
    assert_ne!(first, second);
    world.restore(&snapshot);
    stiffer(&mut world, &ids, 9e3);
    assert_eq!(future(&mut world), first);
}

#[test]
fn numbers_of_handles_are_not_given_twice_after_a_restore() {
    let cube = solid(box_grid([1, 1, 1], 0.1));
    let mut world = World::<f64>::default();
    let snapshot = world.snapshot();
    let undone = world.add_solid(&cube, BodyKind::Rigid, &BodyOptions::default()).unwrap();
    world.restore(&snapshot);
    assert!(world.positions(undone).is_err());
    let next = world.add_solid(&cube, BodyKind::Rigid, &BodyOptions::default()).unwrap();
    assert_ne!(next, undone);
    assert!(world.positions(undone).is_err() && world.positions(next).is_ok());
}

#[test]
fn a_failed_step_can_be_undone_and_simulated_again() {
    let mut world = bodies_with_memory(Integrator::Xpbd, Response::default());
    world.step().unwrap();
    let snapshot = world.snapshot();
    world.step().unwrap();
    let expected = world.hash();
    world.restore(&snapshot);
    let id = world.body_ids().next().unwrap();
    world.set_velocity(id, V::repeat(1e9), V::zeros()).unwrap();
    assert!(world.step().is_err());
    world.restore(&snapshot);
    world.step().unwrap();
    assert_eq!(world.hash(), expected);
}
