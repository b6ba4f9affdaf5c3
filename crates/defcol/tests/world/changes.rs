//! Worlds that are changed, looked at and taken apart while they run.

use defcol::error::{InvalidRequest, WorldError};
use defcol::integrate::Integrator;
use defcol::math::Vector3;
use defcol::mesh::{TetMesh, TriangleMesh};
use defcol::model::{ConstitutiveLaw, ElasticModuli, Joint, Matching, ShapeParameters};
use defcol::response::{Collider, Field, FieldKind, Springs};
use defcol::state::{Binding, Collides};
use defcol::world::{
    BodyId, BodyKind, BodyOptions, ContactCounts, Detection, DragGoal, Dragger, Response, World,
};
use defcol_scenes::regular::{ball, box_grid, cylinder, icosphere, plane_patch};

use crate::support::worlds::{
    IMPLICIT, INTEGRATORS, V, at, centre, elements, lowest, solid, steps, world,
};

fn foam() -> BodyKind {
    elements(2e4, 0.02)
}

#[test]
fn a_bar_is_cut_while_it_falls() {
    let bar = solid(box_grid([6, 2, 2], 0.1));
    let half = solid(box_grid([3, 2, 2], 0.1));
    let mut world = world(|_| {});
    world.add_collider(Collider::half_space(V::y(), 0.0)).unwrap();
    let before = world.add_solid(&half, foam(), &at(0.0, 0.01, 2.0)).unwrap();
    let id = world.add_solid(&bar, foam(), &at(0.0, 0.6, 0.0)).unwrap();
    let behind = world.add_solid(&half, BodyKind::Rigid, &at(0.0, 0.01, -2.0)).unwrap();
    let hook = Dragger::new(id, 5, V::new(0.0, 2.0, 0.0), 1.0, 0.0);
    let hook = world.add_dragger(hook).unwrap();
    steps(&mut world, 10);
    // Each vertex of the half was one of the bar.
    let of_bar = |p: &V| bar.positions().iter().position(|q| (p - q).norm() < 1e-9).unwrap();
    let kept: Vec<usize> = half.positions().iter().map(of_bar).collect();
    let of = |all: &[V]| kept.iter().map(|&v| all[v]).collect::<Vec<V>>();
    let (places, speeds) = (of(world.positions(id).unwrap()), of(world.velocities(id).unwrap()));
    let others = [before, behind].map(|other| world.positions(other).unwrap().to_vec());
    world.replace_solid(id, &half, foam(), &BodyOptions::default()).unwrap();
    world.set_positions(id, &places).unwrap();
    world.set_velocities(id, &speeds).unwrap();
    assert_eq!(world.positions(id).unwrap(), places);
    assert_eq!([before, behind].map(|other| world.positions(other).unwrap().to_vec()), others);
    assert_eq!(world.body_ids().collect::<Vec<_>>(), [before, id, behind]);
    let mass = 100.0 * 0.3 * 0.2 * 0.2;
    assert!((world.mass(id).unwrap() / mass - 1.0).abs() < 1e-9);
    let fell = centre(&world, id).y;
    steps(&mut world, 1);
    // It goes on falling as fast as before, but for the dragger that is still there.
    let speed = (fell - centre(&world, id).y) * 60.0;
    assert!((speed - 9.81 * 11.0 / 60.0).abs() < 0.15, "{speed}");
    world.remove_dragger(hook).unwrap();
    steps(&mut world, 120);
    for id in [before, id, behind] {
        let lowest = lowest(&world, id);
        assert!((lowest - 0.005).abs() < 2e-3, "{id:?}: {lowest}");
    }
    // Another material, too.
    world.replace_solid(id, &half, BodyKind::Rigid, &at(0.0, 0.5, 0.0)).unwrap();
    steps(&mut world, 120);
    assert!((centre(&world, id).y - 0.105).abs() < 2e-3);
}

#[test]
fn what_cannot_be_replaced_stays() {
    let bar = solid(box_grid([4, 1, 1], 0.1));
    let cell = solid(box_grid([1, 1, 1], 0.1));
    let mut world = world(|_| {});
    let id = world.add_solid(&bar, foam(), &BodyOptions::default()).unwrap();
    let other = world.add_solid(&cell, foam(), &at(3.0, 0.0, 0.0)).unwrap();
    let goal = DragGoal::Body { body: id, vertices: [12; 4], weights: [1.0, 0.0, 0.0, 0.0] };
    let dragger = Dragger { goal, ..Dragger::new(other, 0, V::zeros(), 1.0, 0.0) };
    let dragger = world.add_dragger(dragger).unwrap();
    let lost = WorldError::NoSuchVertex { body: id.number(), vertex: 12, vertices: 8 };
    assert_eq!(world.replace_solid(id, &cell, foam(), &BodyOptions::default()), Err(lost));
    world.remove_dragger(dragger).unwrap();
    let skin = TriangleMesh::new(icosphere(0.02, 0)).unwrap();
    let anchors = vec![([0, 1, 2, 3], [0.25; 4]); skin.positions().len()];
    let options = BodyOptions::default();
    let carried = world.add_embedded(&skin, id, anchors, &options).unwrap();
    let carries = WorldError::Carries { carrier: id.number(), carried: carried.number() };
    assert_eq!(world.replace_solid(id, &cell, foam(), &options), Err(carries));
    world.remove_body(carried).unwrap();
    let bad = BodyOptions { density: -1.0, ..BodyOptions::default() };
    assert!(world.replace_solid(id, &cell, foam(), &bad).is_err());
    assert_eq!(world.positions(id).unwrap().len(), 20);
    world.replace_solid(id, &cell, foam(), &BodyOptions::default()).unwrap();
    steps(&mut world, 3);
}

#[test]
fn flesh_follows_its_skeleton_and_is_dented() {
    let skin = TriangleMesh::new(cylinder(0.05, 0.5, 16, 12)).unwrap();
    let weights = [1.0, 0.0, 0.0, 0.0];
    let bindings = vec![Binding { joints: [0; 4], weights }; skin.positions().len()];
    let joint = Joint { motor: [80.0, 8.0], ..Joint::new(None, V::new(0.0, 0.0, -0.5), V::x()) };
    for integrator in [Integrator::Xpbd, IMPLICIT] {
        let mut world =
            world(|p| (p.gravity, p.integrator, p.substeps) = (V::zeros(), integrator, 16));
        let mute = Collides { enabled: false, ..Collides::default() };
        let bones = BodyOptions { area_density: 5.0, collides: mute, ..BodyOptions::default() };
        let arm = world.add_articulated(&skin, bindings.clone(), vec![joint], &bones).unwrap();
        let soft = BodyKind::Shape(ShapeParameters { frequency: 1.0, ..Default::default() });
        let options = BodyOptions { area_density: 1.0, ..BodyOptions::default() };
        let flesh = world.add_surface(&skin, soft, &options).unwrap();
        let count = skin.positions().len();
        assert_eq!(world.attach(flesh, arm, 20.0, 0.2).unwrap().len(), count);
        world.set_joint_target(arm, 0, 0.6).unwrap();
        steps(&mut world, 120);
        let angle = world.joint_angle(arm, 0).unwrap();
        assert!((angle - 0.6).abs() < 0.02, "{integrator:?}: {angle}");
        let apart = |world: &World<f64>| {
            let pairs = world.positions(arm).unwrap().iter().zip(world.positions(flesh).unwrap());
            pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
        };
        assert!(apart(&world) < 2e-3, "{integrator:?}: {}", apart(&world));
        // A plate that pushes against the flesh dents it, and the joint feels it.
        let low = lowest(&world, flesh);
        let plate = solid(box_grid([4, 1, 4], 0.1));
        let under = at(-0.2, low - 0.1 - 0.01, 0.15);
        let rest: Vec<V> = plate.positions().iter().map(|p| p + under.position).collect();
        let id = world.add_solid(&plate, BodyKind::Driven, &under).unwrap();
        for frame in 0..60 {
            let up = V::new(0.0, 0.0015 * f64::from(frame), 0.0);
            world.set_positions(id, &rest.iter().map(|p| p + up).collect::<Vec<_>>()).unwrap();
            world.step().unwrap();
        }
        assert!(apart(&world) > 4e-3, "{integrator:?}: {}", apart(&world));
        let pushed = world.joint_angle(arm, 0).unwrap();
        assert!(pushed < angle - 0.005, "{integrator:?}: {angle}, then {pushed}");
    }
    let mut world = world(|_| {});
    let small = world.add_particles(&[V::zeros()], &BodyOptions::default()).unwrap();
    let large = world.add_particles(&[V::zeros(), V::x()], &BodyOptions::default()).unwrap();
    assert!(world.attach(small, large, 1.0, 1.0).is_err());
    assert!(world.attach(small, small, 1.0, 1.0).is_err());
}

#[test]
fn draggers_pull_two_bodies_together() {
    let cube = solid(box_grid([2, 2, 2], 0.1));
    for integrator in INTEGRATORS {
        for materials in [[BodyKind::Rigid; 2], [BodyKind::Rigid, elements(2e4, 0.0)]] {
            // Explicit Euler gains energy: elements need tiny steps with it.
            if integrator == Integrator::ExplicitEuler && materials[1] != BodyKind::Rigid {
                continue;
            }
            let mut world = world(|p| {
                (p.gravity, p.integrator, p.substeps) = (V::zeros(), integrator, 40);
            });
            let mute = Collides { enabled: false, ..Collides::default() };
            let ids = [(0.0, materials[0]), (0.6, materials[1])].map(|(x, material)| {
                let options = BodyOptions { collides: mute, ..at(x, 0.0, 0.0) };
                world.add_solid(&cube, material, &options).unwrap()
            });
            // Between vertices that face each other.
            let [from, to] = [V::new(0.2, 0.1, 0.1), V::new(0.0, 0.1, 0.1)].map(|place| {
                cube.positions().iter().position(|p| (p - place).norm() < 1e-9).unwrap() as u32
            });
            let weights = [1.0, 0.0, 0.0, 0.0];
            let goal = DragGoal::Body { body: ids[1], vertices: [to; 4], weights };
            let dragger = Dragger { goal, ..Dragger::new(ids[0], from, V::zeros(), 40.0, 8.0) };
            let id = world.add_dragger(dragger).unwrap();
            let middle = |world: &World<f64>| (centre(world, ids[0]) + centre(world, ids[1])) / 2.0;
            let start = middle(&world);
            steps(&mut world, 90);
            let ends = [(ids[0], from), (ids[1], to)]
                .map(|(id, vertex)| world.positions(id).unwrap()[vertex as usize]);
            assert!((ends[0] - ends[1]).norm() < 0.03, "{integrator:?}: {}", ends[1] - ends[0]);
            // Nothing acts from outside.
            let moved = (middle(&world) - start).norm();
            assert!(moved < 2e-3, "{integrator:?}: both moved by {moved}");
            world.set_dragger(id, Dragger { stiffness: 8.0, ..dragger }).unwrap();
            world.remove_body(ids[1]).unwrap();
            assert!(world.remove_dragger(id).is_err(), "it went with the body");
            world.step().unwrap();
        }
    }
}

#[test]
fn things_are_changed_where_they_are() {
    let mut world = world(|_| {});
    let ground = world.add_collider(Collider::half_space(V::y(), 0.0)).unwrap();
    let drop = world.add_particles(&[V::zeros()], &at(0.0, 0.005, 0.0)).unwrap();
    let height = |world: &World<f64>| world.positions(drop).unwrap()[0].y;
    steps(&mut world, 10);
    assert!((height(&world) - 0.005).abs() < 1e-3);
    world.set_collider(ground, Collider::half_space(V::y(), -0.5)).unwrap();
    steps(&mut world, 60);
    assert!((height(&world) + 0.495).abs() < 1e-3, "{}", height(&world));
    let lift = |strength| Field {
        kind: FieldKind::Uniform { direction: V::y() },
        strength,
        half_distance: f64::INFINITY,
        power: 1.0,
    };
    let magnet = world.add_magnet(lift(5.0)).unwrap();
    steps(&mut world, 30);
    assert!((height(&world) + 0.495).abs() < 1e-3, "too weak to lift it");
    world.set_magnet(magnet, lift(15.0)).unwrap();
    steps(&mut world, 30);
    let high = height(&world);
    assert!(high > 0.0, "{high}");
    world.remove_magnet(magnet).unwrap();
    assert!(world.set_magnet(magnet, lift(1.0)).is_err());
    steps(&mut world, 90);
    assert!((height(&world) + 0.495).abs() < 1e-3);
    let ground = world.add_collider(Collider::half_space(V::y(), -10.0)).unwrap();
    let flat = world.set_collider(ground, Collider::half_space(V::zeros(), 0.0));
    assert!(flat.is_err(), "a plane without a direction");
}

#[test]
fn magnets_are_as_strong_as_they_say_and_turn_the_right_way() {
    let at =
        |kind, place: V| Field { kind, strength: 5.0, half_distance: 1.0, power: 2.0 }.at(place);
    let point = FieldKind::Point { centre: V::zeros() };
    let line = FieldKind::Line { point: V::zeros(), direction: V::new(0.0, 2.0, 0.0) };
    let vortex = FieldKind::Vortex { point: V::zeros(), direction: V::y() };
    for distance in [0.5, 1.0, 3.0] {
        // Strength / (1 + (r / half distance) ^ power), a little softer next to the centre.
        let expected = 5.0 / (1.0 + distance * distance);
        let place = V::new(distance, 0.0, 0.0);
        for kind in [point, line] {
            let pull = at(kind, place);
            assert!((pull.x / -expected - 1.0).abs() < 0.05, "{kind:?} at {distance}: {pull}");
            assert!(pull.yz().norm() < 1e-12);
        }
        // Counter-clockwise, seen from where the axis points to.
        let turn = at(vortex, place);
        assert!((turn.z / -expected - 1.0).abs() < 0.05, "vortex at {distance}: {turn}");
    }
}

#[test]
fn a_look_at_the_world_does_not_change_its_bits() {
    let cube = solid(box_grid([3, 3, 3], 0.1));
    let shape =
        ShapeParameters { matching: Matching::Linear(0.6), clusters: 2, ..Default::default() };
    for material in [elements(2e4, 0.0), BodyKind::Shape(shape)] {
        for integrator in [Integrator::SymplecticEuler, IMPLICIT, Integrator::Xpbd] {
            let run = |look: bool| {
                let mut world = world(|p| (p.integrator, p.substeps) = (integrator, 20));
                world.add_collider(Collider::half_space(V::new(0.1, 1.0, 0.0), 0.0)).unwrap();
                let id = world.add_solid(&cube, material, &at(0.0, 0.1, 0.0)).unwrap();
                world.set_velocity(id, V::zeros(), V::new(1.0, 2.0, 3.0)).unwrap();
                (0..30)
                    .map(|_| {
                        world.step().unwrap();
                        if look {
                            assert!(world.energy().kinetic > 0.0);
                            world.contacts();
                            world.contact_counts();
                        }
                        world.hash()
                    })
                    .collect::<Vec<_>>()
            };
            assert_eq!(run(true), run(false), "{material:?} {integrator:?}");
        }
    }
}

/// Three cubes in each other.
fn overlapping(response: Response, detection: Detection) -> (World<f64>, [BodyId; 3]) {
    let cube = solid(box_grid([4, 4, 4], 0.05));
    let mut world = world(|p| {
        (p.response, p.detection, p.gravity, p.substeps) = (response, detection, V::zeros(), 1);
    });
    let ids = [[0.0; 3], [0.17, 0.013, 0.021], [0.011, 0.18, -0.017]]
        .map(|[x, y, z]| world.add_solid(&cube, foam(), &at(x, y, z)).unwrap());
    (world, ids)
}

#[test]
fn each_pair_is_looked_at_as_it_was_chosen() {
    let springs = Response::Penalty(Springs::default());
    let (mut world, ids) = overlapping(springs, Detection::Hash);
    world.set_detection([ids[1], ids[0]], Some(Detection::Ldi)).unwrap();
    assert_eq!(world.detection([ids[0], ids[1]]), Ok(Detection::Ldi));
    assert_eq!(world.detection([ids[0], ids[2]]), Ok(Detection::Hash));
    let places: Vec<Vec<V>> = ids.iter().map(|&id| world.positions(id).unwrap().to_vec()).collect();
    world.step().unwrap();
    // Hashing finds a tetrahedron around a point, images find only that it is inside: its way leads to a triangle.
    let mut seen = [false; 2];
    for contact in world.contacts().iter() {
        let in_tetrahedron = contact.second.weights[3] != 0.0;
        let by_images = !contact.bodies().contains(&ids[2]);
        assert_eq!(in_tetrahedron, !by_images, "{contact:?}");
        // Its corners share what pushes by their weights: just as much as if it were where the point is.
        let own = ids.iter().position(|&id| id == contact.second.body).unwrap();
        let held = contact.second.interpolate(&places[own]) - contact.position;
        assert!(by_images || held.norm() < 1e-12, "{contact:?}");
        seen[usize::from(by_images)] = true;
    }
    assert_eq!(seen, [true; 2]);
    world.set_detection([ids[0], ids[1]], None).unwrap();
    world.step().unwrap();
    assert!(world.contacts().iter().all(|contact| contact.second.weights[3] != 0.0));
}

#[test]
fn a_stronger_motor_turns_a_joint_faster() {
    let skin = TriangleMesh::new(cylinder(0.05, 1.0, 10, 8)).unwrap();
    let weights = [1.0, 0.0, 0.0, 0.0];
    let bindings = vec![Binding { joints: [0; 4], weights }; skin.positions().len()];
    let joint = Joint { motor: [1.0, 1.0], ..Joint::new(None, V::new(0.0, 0.0, -0.5), V::x()) };
    let options = BodyOptions { area_density: 2.0, ..BodyOptions::default() };
    let turned = |motor: Option<[f64; 2]>| {
        let mut world = world(|p| p.gravity = V::zeros());
        let id = world.add_articulated(&skin, bindings.clone(), vec![joint], &options).unwrap();
        if let Some(motor) = motor {
            world.set_joint_motor(id, 0, motor).unwrap();
        }
        world.set_joint_target(id, 0, 1.0).unwrap();
        steps(&mut world, 30);
        world.joint_angle(id, 0).unwrap()
    };
    let angles = [None, Some([4.0, 1.0]), Some([100.0, 10.0]), Some([0.0, 1.0])].map(turned);
    assert!(angles[0] > 0.05 && angles[1] > 2.0 * angles[0], "{angles:?}");
    assert!((angles[2] - 1.0).abs() < 0.1, "{angles:?}");
    assert_eq!(angles[3], 0.0, "without stiffness nothing pulls");
    let mut world = world(|_| {});
    let id = world.add_articulated(&skin, bindings.clone(), vec![joint], &options).unwrap();
    for motor in [[-1.0, 1.0], [1.0, f64::NAN]] {
        let refused = world.set_joint_motor(id, 0, motor);
        assert_eq!(refused, Err(InvalidRequest::JointMotor.into()));
    }
    let missing = WorldError::NoSuchJoint { body: id.number(), joint: 1, joints: 1 };
    assert_eq!(world.set_joint_motor(id, 1, [1.0, 1.0]), Err(missing));
}

#[test]
fn volumes_are_the_same_from_one_image_of_all_and_pair_by_pair() {
    let volume = Response::Volume { resolution: 32 };
    let volumes = |mut world: World<f64>| {
        world.step().unwrap();
        let contacts = world.contacts();
        let shares = contacts.iter().map(|contact| contact.volume).sum::<f64>();
        (world.contact_counts(), shares.to_bits(), world.hash())
    };
    let expected = volumes(overlapping(volume, Detection::Automatic).0);
    let counts = ContactCounts { between_bodies: 3, self_contacts: 0 };
    assert_eq!(expected.0, counts, "all pairs share volume");
    assert_eq!(volumes(overlapping(volume, Detection::LdiOnePass).0), expected);
    let (mut world, ids) = overlapping(volume, Detection::Automatic);
    world.set_detection([ids[0], ids[1]], Some(Detection::LdiOnePass)).unwrap();
    assert_eq!(volumes(world), expected);
}

#[test]
fn thin_and_scattered_things_are_not_passed_through() {
    let mut flat = plane_patch([10, 10], 0.1);
    flat.positions.iter_mut().for_each(|p| *p = V::new(p.x - 0.5, 0.0, 0.5 - p.y));
    let sheet = TriangleMesh::new(flat).unwrap();
    let fall = |largest_move, cloud: bool| {
        let mut world =
            world(|p| (p.largest_move, p.substeps, p.gravity) = (largest_move, 2, V::zeros()));
        world.add_surface(&sheet, BodyKind::Driven, &BodyOptions::default()).unwrap();
        let down = |y: f64| BodyOptions { velocity: V::new(0.0, -8.0, 0.0), ..at(0.03, y, 0.04) };
        let id = if cloud {
            // Far from each other: how wide a cloud is says nothing.
            let drops: Vec<V> =
                (0..6).map(|k| V::new(0.07 * f64::from(k), 0.11 * f64::from(k), 0.0)).collect();
            world.add_particles(&drops, &down(0.1)).unwrap()
        } else {
            world.add_solid(&solid(ball(0.2)), BodyKind::Rigid, &down(0.43)).unwrap()
        };
        let mut enough = true;
        for _ in 0..20 {
            world.step().unwrap();
            let substeps = world.substeps();
            assert!(substeps.taken >= 2 && f64::from(substeps.taken) <= substeps.needed);
            enough &= f64::from(substeps.taken) == substeps.needed;
        }
        let lowest = lowest(&world, id);
        (lowest, enough)
    };
    assert!(fall(None, true).0 < -0.5, "too slow for the test to mean anything");
    for cloud in [true, false] {
        let (lowest, enough) = fall(Some(1.0), cloud);
        assert!(lowest > 0.0 && enough, "cloud: {cloud}: {lowest}");
    }
    // Nothing is silent: this would need more steps than there may be.
    assert!(!fall(Some(1e-3), true).1);
}

#[test]
fn numbers_that_single_precision_cannot_hold_are_refused() {
    let mut world = World::<f32>::default();
    let cube = TetMesh::new(box_grid([1, 1, 1], 0.1).cast()).unwrap();
    for young in [1e-50, 1e39] {
        let elastic = ElasticModuli { young, ..ElasticModuli::default() };
        let material = BodyKind::Elements(elastic, ConstitutiveLaw::Hencky);
        assert!(world.add_solid(&cube, material, &BodyOptions::default()).is_err());
    }
    let light = BodyOptions { particle_mass: 1e-40, ..BodyOptions::default() };
    assert!(world.add_particles(&[Vector3::zeros()], &light).is_err());
    let good = world.parameters().clone();
    let mut bad = good.clone();
    bad.contact.friction = 1e300;
    assert!(world.set_parameters(bad).is_err());
    let sheet = TriangleMesh::new(plane_patch([1, 1], 0.1).cast()).unwrap();
    let larger: Vec<_> = sheet.positions().iter().map(|p| p * 2.0).collect();
    let id = world.add_morphed(&sheet, &[larger], &BodyOptions::default()).unwrap();
    assert!(world.set_weights(id, &[1e300]).is_err());
    let carrier =
        world.add_solid(&cube, BodyKind::Shape(Default::default()), &BodyOptions::default());
    let anchors = vec![([0, 1, 2, 3], [1e30, -1e30, 1e38, 1.0]); 4];
    assert!(
        world.add_embedded(&sheet, carrier.unwrap(), anchors, &BodyOptions::default()).is_err()
    );
    world.step().unwrap();
}
