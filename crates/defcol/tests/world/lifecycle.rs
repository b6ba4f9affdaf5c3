//! Worlds that are built, stepped and asked: what they refuse, what they keep and what they tell.

use defcol::error::{HandleKind, WorldError};
use defcol::integrate::{Accuracy, Integrator};
use defcol::math::Vector3;
use defcol::mesh::{TetMesh, TriangleMesh};
use defcol::model::{ConstitutiveLaw, ElasticModuli, Joint, Moduli, ShapeParameters};
use defcol::response::{Collider, Field, FieldKind, Springs};
use defcol::state::{Binding, Collides};
use defcol::stats::Stage;
use defcol::world::{
    BodyId, BodyKind, BodyOptions, Detection, Dragger, Response, SimulationParameters, World,
};
use defcol_scenes::regular::{ball, box_grid, icosphere, plane_patch};

use crate::support::scenes::Random;
use crate::support::worlds::{V, lowest, responses};

#[test]
fn a_fault_names_who_and_where_and_changes_nothing() {
    let mut world = World::<f64>::default();
    let stiff = ElasticModuli { young: 1e12, poisson: 0.3, damping: 0.0 };
    let cube = TetMesh::new(box_grid([2, 2, 2], 0.1)).unwrap();
    let calm = world
        .add_solid(
            &cube,
            BodyKind::Rigid,
            &BodyOptions { position: V::new(5.0, 0.0, 0.0), ..BodyOptions::default() },
        )
        .unwrap();
    let wild = world
        .add_solid(
            &cube,
            BodyKind::Elements(stiff, ConstitutiveLaw::Corotational),
            &BodyOptions::default(),
        )
        .unwrap();
    let parameters = SimulationParameters {
        integrator: Integrator::ExplicitEuler,
        substeps: 1,
        ..SimulationParameters::default()
    };
    world.set_parameters(parameters.clone()).unwrap();
    let mut shaken = cube.positions().to_vec();
    shaken[3].x += 0.01;
    world.set_positions(wild, &shaken).unwrap();
    let mut before = world.hash();
    let error = loop {
        match world.step() {
            Ok(()) => before = world.hash(),
            Err(error) => break error,
        }
    };
    assert!(
        matches!(error, WorldError::Diverged { body, stage: Stage::Integrate, .. } if body == wild.number()),
        "{error}"
    );
    assert_eq!(world.hash(), before);
    assert!(error.to_string().contains("substeps"), "{error}");
    // It goes on with a better integrator.
    world
        .set_parameters(SimulationParameters { integrator: Integrator::Xpbd, ..parameters })
        .unwrap();
    world.set_velocity(wild, V::zeros(), V::zeros()).unwrap();
    world.set_positions(wild, cube.positions()).unwrap();
    for _ in 0..10 {
        world.step().unwrap();
    }
    assert!(world.positions(calm).unwrap()[0].y < 0.0);
}

#[test]
fn bodies_and_things_come_and_go_while_running() {
    let mut random = Random(5);
    let mut world = World::<f64>::default();
    let cube = TetMesh::new(box_grid([2, 2, 2], 0.1)).unwrap();
    let mut ids: Vec<BodyId> = vec![];
    let mut colliders = vec![world.add_collider(Collider::half_space(V::y(), 0.0)).unwrap()];
    for frame in 0..120 {
        match random.below(6) {
            0 | 1 => {
                let options = BodyOptions {
                    position: V::new(0.0, 0.5, 0.0) + random.vector() * 0.4,
                    ..BodyOptions::default()
                };
                let material = [
                    BodyKind::Rigid,
                    BodyKind::Elements(ElasticModuli::default(), ConstitutiveLaw::Corotational),
                ][random.below(2)];
                ids.push(world.add_solid(&cube, material, &options).unwrap());
                let dragger = Dragger::new(ids[ids.len() - 1], 0, V::y(), 10.0, 1.0);
                world.add_dragger(dragger).unwrap();
            }
            2 if !ids.is_empty() => {
                let id = ids.swap_remove(random.below(ids.len()));
                world.remove_body(id).unwrap();
                assert_eq!(
                    world.remove_body(id),
                    Err(WorldError::StaleHandle { kind: HandleKind::Body, number: id.number() })
                );
                assert!(world.positions(id).is_err());
            }
            3 => colliders
                .push(world.add_collider(Collider::sphere(random.vector() * 0.5, 0.1)).unwrap()),
            4 if colliders.len() > 1 => {
                let id = colliders.pop().unwrap();
                world.remove_collider(id).unwrap();
            }
            _ => {
                let integrator = [Integrator::Xpbd, Integrator::ImplicitEuler(Accuracy::default())]
                    [random.below(2)];
                let parameters = world.parameters().clone();
                world.set_parameters(SimulationParameters { integrator, ..parameters }).unwrap();
            }
        }
        world.step().unwrap_or_else(|error| panic!("frame {frame}: {error}"));
        assert_eq!(world.body_ids().len(), ids.len());
        assert_eq!(world.motion().positions.len(), 27 * ids.len());
    }
}

#[test]
fn stale_handles_are_refused() {
    let mut world = World::<f64>::default();
    let cube = TetMesh::new(box_grid([1, 1, 1], 0.1)).unwrap();
    let ground = Collider::half_space(V::y(), 0.0);
    let kind = FieldKind::Uniform { direction: V::y() };
    let field = Field { kind, strength: 1.0, half_distance: 1.0, power: 1.0 };
    let body = world.add_solid(&cube, BodyKind::Rigid, &BodyOptions::default()).unwrap();
    let other = world.add_solid(&cube, BodyKind::Rigid, &BodyOptions::default()).unwrap();
    let collider = world.add_collider(ground).unwrap();
    let magnet = world.add_magnet(field).unwrap();
    let pull = Dragger::new(body, 0, V::y(), 1.0, 1.0);
    let dragger = world.add_dragger(pull).unwrap();
    world.remove_dragger(dragger).unwrap();
    world.remove_magnet(magnet).unwrap();
    world.remove_collider(collider).unwrap();
    world.remove_body(body).unwrap();
    // New objects never get the number of a removed one.
    assert_ne!(world.add_collider(ground).unwrap(), collider);
    assert_ne!(world.add_magnet(field).unwrap(), magnet);
    let next = world.add_dragger(Dragger { body: other, ..pull }).unwrap();
    assert_ne!(next, dragger);

    let stale = |kind, number| Err(WorldError::StaleHandle { kind, number });
    let of_body = || stale(HandleKind::Body, body.number());
    assert_eq!(world.remove_body(body), of_body());
    assert_eq!(world.set_velocity(body, V::y(), V::zeros()), of_body());
    assert_eq!(world.pin(body, &[0]), of_body());
    assert_eq!(world.add_dragger(pull).map(|_| ()), of_body());
    assert_eq!(world.positions(body).map(|_| ()), of_body());
    assert_eq!(world.set_detection([other, body], None), of_body());
    let of_collider = stale(HandleKind::Collider, collider.number());
    assert_eq!(world.set_collider(collider, ground), of_collider);
    assert_eq!(world.remove_collider(collider), of_collider);
    let of_magnet = stale(HandleKind::Magnet, magnet.number());
    assert_eq!(world.set_magnet(magnet, field), of_magnet);
    assert_eq!(world.remove_magnet(magnet), of_magnet);
    let of_dragger = stale(HandleKind::Dragger, dragger.number());
    assert_eq!(world.set_dragger(dragger, Dragger { body: other, ..pull }), of_dragger);
    assert_eq!(world.remove_dragger(dragger), of_dragger);
}

#[test]
fn values_that_make_no_sense_are_refused_and_nothing_changes() {
    let mut world = World::<f32>::default();
    let good = world.parameters().clone();
    type Change = fn(&mut SimulationParameters);
    let changes: [(&str, Change); 10] = [
        ("frame", |p| p.frame = 0.0),
        ("frame", |p| p.frame = f64::NAN),
        ("substeps", |p| p.substeps = 0),
        ("largest_move", |p| p.largest_move = Some(-1.0)),
        ("contact.thickness", |p| p.contact.thickness = -1.0),
        ("contact.restitution", |p| p.contact.restitution = 1.5),
        ("gravity", |p| p.gravity.y = f64::INFINITY),
        ("air.drag", |p| p.air.drag = -1.0),
        ("springs.frequency", |p| {
            p.response = Response::Penalty(Springs { frequency: 0.0, damping: 0.0 })
        }),
        ("tolerance", |p| {
            p.integrator = Integrator::ImplicitEuler(Accuracy { iterations: 1, tolerance: 2.0 })
        }),
    ];
    for (name, change) in changes {
        let mut bad = good.clone();
        change(&mut bad);
        let error = world.set_parameters(bad).unwrap_err();
        assert!(
            matches!(error, WorldError::Parameter { name: found, .. } if found == name),
            "{name}: {error}"
        );
        assert_eq!(world.parameters(), &good);
    }
    let cube = TetMesh::new(box_grid([1, 1, 1], 0.1).cast()).unwrap();
    let sheet = TriangleMesh::new(plane_patch([1, 1], 0.1).cast()).unwrap();
    let elastic = ElasticModuli { poisson: 0.5, ..ElasticModuli::default() };
    let cases = [
        world.add_solid(
            &cube,
            BodyKind::Elements(elastic, ConstitutiveLaw::Corotational),
            &BodyOptions::default(),
        ),
        world.add_solid(
            &cube,
            BodyKind::Rigid,
            &BodyOptions { density: 0.0, ..BodyOptions::default() },
        ),
        world.add_solid(
            &cube,
            BodyKind::Rigid,
            &BodyOptions { position: V::repeat(f64::NAN), ..BodyOptions::default() },
        ),
        world.add_surface(&sheet, BodyKind::Rigid, &BodyOptions::default()),
        world.add_surface(
            &sheet,
            BodyKind::Elements(ElasticModuli::default(), ConstitutiveLaw::Corotational),
            &BodyOptions::default(),
        ),
        world.add_articulated(&sheet, vec![], vec![], &BodyOptions::default()),
    ];
    assert!(cases.iter().all(|case| case.is_err()));
    assert!(world.bodies().is_empty());
    assert!(world.add_collider(Collider::sphere(Vector3::zeros(), -1.0)).is_err());
    let uniform = FieldKind::Uniform { direction: V::zeros() };
    assert!(
        world
            .add_magnet(Field { kind: uniform, strength: 1.0, half_distance: 1.0, power: 1.0 })
            .is_err()
    );
    world.step().unwrap();
    let id = world
        .add_solid(&cube, BodyKind::MassPoints(Moduli::default()), &BodyOptions::default())
        .unwrap();
    assert!(world.add_dragger(Dragger::new(id, 99, V::zeros(), 1.0, 1.0)).is_err());
    assert!(world.add_dragger(Dragger::new(id, 0, V::zeros(), -1.0, 1.0)).is_err());
    assert!(world.pin(id, &[8]).is_err());
    assert!(world.set_positions(id, &[]).is_err());
}

#[test]
fn every_detection_leads_to_the_same_depths_and_pairs_can_have_their_own() {
    let cube = TetMesh::<f64>::new(box_grid([4, 4, 4], 0.05)).unwrap();
    let build = |detection: Detection| {
        let mut world = World::default();
        let response = Response::Penalty(Springs::default());
        let parameters = SimulationParameters {
            detection,
            response,
            gravity: V::zeros(),
            substeps: 1,
            ..SimulationParameters::default()
        };
        world.set_parameters(parameters).unwrap();
        let foam = BodyKind::Elements(ElasticModuli::default(), ConstitutiveLaw::Corotational);
        let ids =
            [V::zeros(), V::new(0.17, 0.013, 0.021), V::new(0.011, 0.18, -0.017)].map(|position| {
                world
                    .add_solid(&cube, foam, &BodyOptions { position, ..BodyOptions::default() })
                    .unwrap()
            });
        (world, ids)
    };
    let deepest = |world: &mut World<f64>| {
        world.step().unwrap();
        let contacts = world.contacts();
        assert!(contacts.len() > 20, "{}", contacts.len());
        (contacts.len(), contacts.records().depth().to_vec())
    };
    let (mut reference, _) = build(Detection::Brute);
    let expected = deepest(&mut reference);
    for detection in [
        Detection::Automatic,
        Detection::Hash,
        Detection::Trees,
        Detection::Ldi,
        Detection::LdiOnePass,
    ] {
        let (mut world, _) = build(detection);
        let found = deepest(&mut world);
        assert_eq!(found.0, expected.0, "{detection:?}");
        let wrong = found.1.iter().zip(&expected.1).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(wrong < 1e-9, "{detection:?}: {wrong}");
    }
    let (mut world, ids) = build(Detection::Hash);
    world.set_detection([ids[1], ids[0]], Some(Detection::Ldi)).unwrap();
    world.set_detection([ids[0], ids[2]], Some(Detection::Trees)).unwrap();
    assert_eq!(deepest(&mut world).0, expected.0);
}

#[test]
fn contacts_go_with_the_body_that_is_removed_muted_or_moved_away() {
    let cube = TetMesh::<f64>::new(box_grid([2, 2, 2], 0.1)).unwrap();
    let touching = || {
        let mut world = World::default();
        world
            .set_parameters(SimulationParameters {
                gravity: V::zeros(),
                ..SimulationParameters::default()
            })
            .unwrap();
        let foam = BodyKind::Elements(ElasticModuli::default(), ConstitutiveLaw::Corotational);
        let ids = [0.0, 0.198].map(|y| {
            let position = V::new(0.0, y, 0.0);
            world
                .add_solid(&cube, foam, &BodyOptions { position, ..BodyOptions::default() })
                .unwrap()
        });
        world.step().unwrap();
        assert!(world.contact_counts().between_bodies > 0);
        (world, ids)
    };
    let (mut world, ids) = touching();
    world.remove_body(ids[1]).unwrap();
    assert_eq!((world.contact_counts().total(), world.contacts().len()), (0, 0));
    world.step().unwrap();
    let (mut world, ids) = touching();
    world.set_collides(ids[1], Collides { enabled: false, ..Collides::default() }).unwrap();
    world.step().unwrap();
    assert_eq!(world.contact_counts().total(), 0);
    let (mut world, ids) = touching();
    let far: Vec<V> =
        world.positions(ids[1]).unwrap().iter().map(|p| p + V::new(0.0, 5.0, 0.0)).collect();
    world.set_positions(ids[1], &far).unwrap();
    world.set_velocity(ids[1], V::zeros(), V::zeros()).unwrap();
    world.step().unwrap();
    assert_eq!(world.contact_counts().total(), 0);
    assert!((world.positions(ids[1]).unwrap()[0] - far[0]).norm() < 1e-3);
}

#[test]
fn every_response_stops_particles_and_leads_out_what_is_enclosed() {
    let block = TetMesh::<f64>::new(box_grid([4, 4, 4], 0.1)).unwrap();
    for response in responses(16) {
        for integrator in [Integrator::Xpbd, Integrator::ImplicitEuler(Accuracy::default())] {
            let mut world = World::default();
            world
                .set_parameters(SimulationParameters {
                    response,
                    integrator,
                    ..SimulationParameters::default()
                })
                .unwrap();
            world.add_solid(&block, BodyKind::Driven, &BodyOptions::default()).unwrap();
            let drops = [V::new(0.17, 0.5, 0.23), V::new(0.21, 0.45, 0.12)];
            let light = BodyOptions { particle_mass: 0.01, ..BodyOptions::default() };
            let rain = world.add_particles(&drops, &light).unwrap();
            for _ in 0..60 {
                world.step().unwrap();
            }
            let lowest = lowest(&world, rain);
            assert!(lowest > 0.38, "{response:?} {integrator:?}: fell to {lowest}");
        }
    }
    // A small ball that starts inside of a block.
    for response in [Response::default(), Response::Penalty(Springs::default())] {
        let mut world = World::default();
        world
            .set_parameters(SimulationParameters {
                response,
                gravity: V::zeros(),
                ..SimulationParameters::default()
            })
            .unwrap();
        world.add_solid(&block, BodyKind::Driven, &BodyOptions::default()).unwrap();
        let small = TetMesh::new(ball(0.03)).unwrap();
        let inside = BodyOptions { position: V::new(0.2, 0.34, 0.2), ..BodyOptions::default() };
        let id = world.add_solid(&small, BodyKind::Rigid, &inside).unwrap();
        for _ in 0..240 {
            world.step().unwrap();
        }
        let lowest = lowest(&world, id);
        assert!(lowest > 0.39, "{response:?}: still inside at {lowest}");
    }
}

#[test]
fn a_sheet_stops_what_falls_on_either_side() {
    let ball = TetMesh::<f64>::new(ball(0.05)).unwrap();
    for up in [true, false] {
        let mut sheet = plane_patch([4, 4], 0.1);
        // Lying flat, facing up or down.
        sheet.positions.iter_mut().for_each(|p| *p = V::new(p.x, 0.0, if up { -p.y } else { p.y }));
        let middle = if up { -0.2 } else { 0.2 };
        let mut world = World::default();
        let sheet = TriangleMesh::new(sheet).unwrap();
        world.add_surface(&sheet, BodyKind::Driven, &BodyOptions::default()).unwrap();
        let foam = BodyKind::Elements(ElasticModuli::default(), ConstitutiveLaw::Corotational);
        let above = BodyOptions { position: V::new(0.2, 0.1, middle), ..BodyOptions::default() };
        let id = world.add_solid(&ball, foam, &above).unwrap();
        for _ in 0..60 {
            world.step().unwrap();
        }
        let lowest = lowest(&world, id);
        assert!(lowest > 0.0, "facing up: {up}: fell to {lowest}");
    }
}

#[test]
fn more_joints_than_there_may_be_are_refused() {
    let skin = TriangleMesh::<f64>::new(icosphere(0.1, 3)).unwrap();
    let weights = [1.0, 0.0, 0.0, 0.0];
    let bindings = vec![Binding { joints: [0; 4], weights }; skin.positions().len()];
    let joint = Joint::new(None, V::zeros(), V::x());
    let mut world = World::default();
    for joints in [vec![joint; 300], vec![Joint { pivot: V::repeat(f64::NAN), ..joint }]] {
        assert!(
            world
                .add_articulated(&skin, bindings.clone(), joints, &BodyOptions::default())
                .is_err()
        );
    }
    world.add_articulated(&skin, bindings, vec![joint; 256], &BodyOptions::default()).unwrap();
    world.step().unwrap();
}

#[test]
fn materials_change_while_running() {
    let cube = TetMesh::<f64>::new(box_grid([2, 2, 2], 0.1)).unwrap();
    let mut world = World::default();
    world.add_collider(Collider::half_space(V::y(), 0.0)).unwrap();
    let at = |x: f64| BodyOptions { position: V::new(x, 0.01, 0.0), ..BodyOptions::default() };
    let soft = ElasticModuli { young: 2e3, poisson: 0.3, damping: 0.02 };
    let elements = world
        .add_solid(&cube, BodyKind::Elements(soft, ConstitutiveLaw::Corotational), &at(0.0))
        .unwrap();
    let moduli = Moduli { distance: 2e3, volume: 2e3, ..Moduli::default() };
    let points = world.add_solid(&cube, BodyKind::MassPoints(moduli), &at(1.0)).unwrap();
    let shape = ShapeParameters { frequency: 2.0, ..ShapeParameters::default() };
    let shaped = world.add_solid(&cube, BodyKind::Shape(shape), &at(2.0)).unwrap();
    let height = |world: &World<f64>, id: BodyId| {
        world.positions(id).unwrap().iter().map(|p| p.y).fold(f64::MIN, f64::max)
    };
    for _ in 0..120 {
        world.step().unwrap();
    }
    let before = [elements, points, shaped].map(|id| height(&world, id));
    world.set_elastic(elements, ElasticModuli { young: 1e5, ..soft }).unwrap();
    world.set_moduli(points, Moduli { distance: 1e5, volume: 1e5, ..moduli }).unwrap();
    assert!(world.set_moduli(points, Moduli { area: 1.0, ..moduli }).is_err());
    world.set_shape(shaped, ShapeParameters { frequency: 40.0, ..shape }).unwrap();
    for _ in 0..120 {
        world.step().unwrap();
    }
    for (id, before) in [elements, points, shaped].into_iter().zip(before) {
        assert!(
            height(&world, id) > before + 0.002,
            "{id:?}: {before}, then {}",
            height(&world, id)
        );
    }
}

#[test]
fn what_is_fast_does_not_tunnel_if_steps_may_be_cut() {
    let plate = TetMesh::<f64>::new(box_grid([8, 1, 8], 0.05)).unwrap();
    let bullet = TetMesh::new(ball(0.02)).unwrap();
    let fall = |largest_move, aside: f64| {
        let mut world = World::default();
        let parameters =
            SimulationParameters { largest_move, substeps: 1, ..SimulationParameters::default() };
        world.set_parameters(parameters).unwrap();
        world.add_solid(&plate, BodyKind::Driven, &BodyOptions::default()).unwrap();
        let position = V::new(0.21 + aside, 0.4, 0.17);
        let velocity = V::new(0.0, -40.0, 0.0);
        let options = BodyOptions { position, velocity, ..BodyOptions::default() };
        let id = world.add_solid(&bullet, BodyKind::Rigid, &options).unwrap();
        for _ in 0..10 {
            world.step().unwrap();
        }
        world.positions(id).unwrap().iter().map(|p| p.y).sum::<f64>() / 13.0
    };
    assert!(fall(None, 0.0) < -0.5, "too slow for the test to mean anything");
    assert!(fall(Some(0.3), 0.0) > 0.0, "it went through");
    // What meets nothing on its way needs no more steps: the same bits.
    assert_eq!(fall(Some(0.3), 5.0), fall(None, 5.0));
}
