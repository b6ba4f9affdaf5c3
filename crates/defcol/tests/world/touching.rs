//! What bodies do that touch: with obstacles of every shape, with each other by every response, and where there is no room.

use defcol::integrate::Integrator;
use defcol::math::{Matrix3, sin_cos};
use defcol::mesh::TriangleMesh;
use defcol::model::Joint;
use defcol::response::{Collider, Shape};
use defcol::state::Binding;
use defcol::world::{BodyId, BodyKind, BodyOptions, Response, World};
use defcol_scenes::regular::{box_grid, cylinder, icosphere, plane_patch};

use crate::support::worlds::{
    IMPLICIT, V, at, centre, elements, lowest, responses, solid, steps, world,
};

fn foam() -> BodyKind {
    elements(1e5, 0.01)
}

/// The energy of motion per mass, in J/kg.
fn unrest(world: &World<f64>, id: BodyId) -> f64 {
    world.energy().kinetic / world.mass(id).unwrap()
}

/// A matrix that turns about the z axis.
fn turned(angle: f64) -> Matrix3<f64> {
    let (sine, cosine) = sin_cos(angle);
    Matrix3::new(cosine, -sine, 0.0, sine, cosine, 0.0, 0.0, 0.0, 1.0)
}

#[test]
fn things_rest_on_obstacles_of_every_shape() {
    let tilted = Shape::Box {
        centre: V::zeros(),
        half: V::new(0.2, 0.2, 0.5),
        axes: turned(std::f64::consts::FRAC_PI_4),
    };
    let trough = |side: f64| Collider::half_space(V::new(side, 1.0, 0.0), 0.0);
    let cases: [(&str, Vec<Collider<f64>>); 5] = [
        // Where a ball of radius 0.1 comes to lie in each of them.
        ("plane", vec![Collider::half_space(V::new(0.0, 2.0, 0.0), 0.0)]),
        ("box", vec![Collider::cuboid(V::new(0.0, -0.1, 0.0), V::new(1.0, 0.1, 1.0))]),
        ("hollow sphere", vec![Collider::sphere(V::zeros(), 1.0).hollow()]),
        ("hollow box", vec![Collider { shape: tilted, hollow: true, friction: None }]),
        ("two planes", vec![trough(1.0), trough(-1.0)]),
    ];
    let ball = TriangleMesh::new(icosphere(0.1, 3)).unwrap();
    // The lowest point of the turned box is half of its diagonal below its centre; two sides at 45 degrees hold the ball.
    let corner = 0.105 * std::f64::consts::SQRT_2;
    let heights = [0.105, 0.105, -1.0 + 0.105, -0.2 * std::f64::consts::SQRT_2 + corner, corner];
    for ((name, colliders), height) in cases.into_iter().zip(heights) {
        let mut world = world(|_| {});
        for collider in colliders {
            world.add_collider(collider).unwrap();
        }
        let above = at(0.0, height + 0.05, 0.0);
        let id = world.add_surface(&ball, BodyKind::Rigid, &above).unwrap();
        steps(&mut world, 180);
        let place = centre(&world, id);
        // The ball is a polyhedron: its faces are up to 1 mm nearer to its centre than its corners.
        assert!((place - V::new(0.0, height, 0.0)).norm() < 2e-3, "{name}: {place}");
        assert!(unrest(&world, id) < 1e-6, "{name}: {}", unrest(&world, id));
    }
    // A soft box on top of a ball that is wider than it.
    let mut world = world(|p| p.contact.friction = 1.0);
    world.add_collider(Collider::sphere(V::new(0.0, -2.0, 0.0), 2.0)).unwrap();
    let cube = solid(box_grid([4, 4, 4], 0.05));
    let id = world.add_solid(&cube, foam(), &at(-0.1, 0.02, -0.1)).unwrap();
    steps(&mut world, 120);
    let lowest = world.positions(id).unwrap().iter().map(|p| (p + V::new(0.0, 2.0, 0.0)).norm());
    let gap = lowest.fold(f64::MAX, f64::min) - 2.0;
    assert!((gap - 0.005).abs() < 5e-4, "{gap}");
}

/// How far a cube slides in a second and a half on a slab, in a world that is tilted by this angle.
fn slide_on_slab(material: BodyKind, response: Response, degrees: f64) -> f64 {
    let mut world = world(|p| {
        let (sine, cosine) = sin_cos(degrees.to_radians());
        p.gravity = V::new(9.81 * sine, -9.81 * cosine, 0.0);
        (p.contact.friction, p.response) = (0.5, response);
    });
    let slab = solid(box_grid([40, 1, 4], 0.25));
    world.add_solid(&slab, BodyKind::Driven, &at(-1.0, -0.25, -0.5)).unwrap();
    let cube = solid(box_grid([2, 2, 2], 0.1));
    let id = world.add_solid(&cube, material, &at(0.0, 0.004, 0.0)).unwrap();
    steps(&mut world, 30);
    let start = centre(&world, id).x;
    steps(&mut world, 90);
    centre(&world, id).x - start
}

#[test]
fn bodies_slide_on_each_other_beyond_the_friction_angle_only() {
    for response in [Response::default(), Response::Volume { resolution: 32 }] {
        for material in [BodyKind::Rigid, foam()] {
            // The coefficient 0.5 is an angle of 26.6 degrees.
            let held = slide_on_slab(material, response, 23.0);
            assert!(held.abs() < 0.02, "{response:?} {material:?}: {held}");
            let slid = slide_on_slab(material, response, 34.0);
            let (sine, cosine) = sin_cos(34f64.to_radians());
            let expected = 0.5 * 9.81 * (sine - 0.5 * cosine) * (4.0 - 0.25);
            assert!(
                (slid / expected - 1.0).abs() < 0.2,
                "{response:?} {material:?}: {slid}, expected {expected}"
            );
        }
    }
}

#[test]
fn volumes_give_back_the_share_of_speed_that_restitution_says() {
    let slab = solid(box_grid([8, 2, 8], 0.1));
    let ball = TriangleMesh::new(icosphere(0.1, 3)).unwrap();
    for restitution in [0.0, 0.5, 0.8] {
        let mut world = world(|p| {
            p.response = Response::Volume { resolution: 32 };
            (p.contact.restitution, p.substeps) = (restitution, 32);
        });
        world.add_solid(&slab, BodyKind::Driven, &at(-0.4, -0.2, -0.4)).unwrap();
        let id = world.add_surface(&ball, BodyKind::Rigid, &at(0.0, 1.1, 0.0)).unwrap();
        let mut heights = vec![];
        for _ in 0..70 {
            world.step().unwrap();
            heights.push(centre(&world, id).y - 0.1);
        }
        let landed = heights.iter().position(|&y| y < 0.05).unwrap();
        let highest = heights[landed + 2..].iter().copied().fold(f64::MIN, f64::max);
        let expected = restitution * restitution;
        assert!((highest - expected).abs() < 0.1, "{restitution}: {highest}, {expected}");
    }
}

#[test]
fn where_there_is_no_room_nothing_winds_up() {
    let cube = solid(box_grid([1, 1, 1], 0.1));
    for material in [BodyKind::Rigid, foam()] {
        // A slot that is narrower than the cube with both its layers.
        let mut slot = world(|_| {});
        for side in [1.0, -1.0] {
            slot.add_collider(Collider::half_space(V::new(side, 0.0, 0.0), -0.053)).unwrap();
        }
        slot.add_collider(Collider::half_space(V::y(), 0.0)).unwrap();
        let id = slot.add_solid(&cube, material, &at(-0.05, 0.02, -0.05)).unwrap();
        let mut most = 0.0f64;
        for frame in 0..600 {
            slot.step().unwrap();
            most = if frame < 60 { 0.0 } else { most.max(unrest(&slot, id)) };
        }
        assert!(most < 1e-4, "{material:?} in a slot: {most} J/kg");
        // A press that closes until nothing of the layers is left.
        let mut press = world(|_| {});
        press.add_collider(Collider::half_space(V::y(), 0.0)).unwrap();
        let lid = press.add_collider(Collider::half_space(-V::y(), -0.15)).unwrap();
        let id = press.add_solid(&cube, material, &at(-0.05, 0.005, -0.05)).unwrap();
        let mut most = 0.0f64;
        for frame in 0..600 {
            let height = (0.15 - 0.001 * f64::from(frame)).max(0.102);
            press.set_collider(lid, Collider::half_space(-V::y(), -height)).unwrap();
            press.step().unwrap();
            most = if frame < 120 { 0.0 } else { most.max(unrest(&press, id)) };
        }
        assert!(most < 1e-4, "{material:?} in a press: {most} J/kg");
        // And once it opens, nothing jumps.
        press.remove_collider(lid).unwrap();
        let mut highest = f64::MIN;
        for _ in 0..60 {
            press.step().unwrap();
            highest = highest.max(centre(&press, id).y);
        }
        assert!(highest < 0.07, "{material:?}: jumped to {highest}");
    }
}

#[test]
fn an_impact_is_over_after_its_step() {
    let cube = solid(box_grid([1, 1, 1], 0.1));
    for speed in [3.0, 5.0, 8.0] {
        let mut world = world(|p| {
            (p.gravity, p.substeps, p.contact.friction) = (V::zeros(), 1, 0.0);
            p.frame = 1.0 / 480.0;
        });
        // A tilted plane under the cube: it lands on a corner, and begins to spin.
        let normal = V::new(0.5, 1.0, 0.8).normalize();
        world.add_collider(Collider::half_space(normal, -0.05)).unwrap();
        let id = world.add_solid(&cube, BodyKind::Rigid, &BodyOptions::default()).unwrap();
        world.set_velocity(id, -normal * speed, V::zeros()).unwrap();
        let (mut energies, mut hit) = (vec![world.energy().kinetic], None);
        for frame in 0..60 {
            world.step().unwrap();
            energies.push(world.energy().kinetic);
            let lost = energies[frame + 1] < 0.95 * energies[0];
            hit = hit.or(lost.then_some(frame + 1));
        }
        let hit = hit.expect("it lands");
        // A corner that leaves the plane may be followed by another one that comes to it, later.
        let (after, later) = (energies[hit], energies[hit + 2]);
        assert!((later / after - 1.0).abs() < 0.01, "{speed} m/s: {after} J, then {later} J");
    }
}

#[test]
fn what_slides_along_the_axis_of_a_hinge_does_no_harm() {
    let skin = TriangleMesh::new(cylinder(0.05, 0.5, 10, 8)).unwrap();
    let weights = [1.0, 0.0, 0.0, 0.0];
    let bindings = vec![Binding { joints: [0; 4], weights }; skin.positions().len()];
    let joint = Joint { motor: [5.0, 0.5], ..Joint::new(None, V::new(0.0, 0.0, -0.5), V::x()) };
    let mut world = world(|p| p.gravity = V::zeros());
    let options = BodyOptions { area_density: 2.0, ..BodyOptions::default() };
    let arm = world.add_articulated(&skin, bindings, vec![joint], &options).unwrap();
    let plate = solid(box_grid([4, 1, 4], 0.1));
    let rest: Vec<V> = plate.positions().iter().map(|p| p + V::new(-0.2, -0.153, 0.0)).collect();
    let id = world.add_solid(&plate, BodyKind::Driven, &at(-0.2, -0.153, 0.0)).unwrap();
    for frame in 0..60 {
        // Against the arm and along the axis.
        let way = V::new(0.002, 0.0004, 0.0) * f64::from(frame);
        let places: Vec<V> = rest.iter().map(|p| p + way).collect();
        world.set_positions(id, &places).unwrap();
        world.step().unwrap_or_else(|error| panic!("frame {frame}: {error}"));
    }
    assert!(world.joint_angle(arm, 0).unwrap() < -0.01, "it did not touch the arm");
}

#[test]
fn every_response_keeps_open_surfaces_out_of_solids() {
    let block = solid(box_grid([4, 4, 4], 0.1));
    let mut sheet = plane_patch([6, 6], 0.05);
    sheet.positions.iter_mut().for_each(|p| *p = V::new(p.x, 0.0, -p.y));
    let sheet = TriangleMesh::new(sheet).unwrap();
    for response in responses(16) {
        for integrator in [Integrator::Xpbd, IMPLICIT] {
            let mut world = world(|p| (p.response, p.integrator) = (response, integrator));
            world.add_solid(&block, BodyKind::Driven, &BodyOptions::default()).unwrap();
            let shape = BodyKind::Shape(Default::default());
            let above = BodyOptions { area_density: 1.0, ..at(0.05, 0.43, 0.35) };
            let id = world.add_surface(&sheet, shape, &above).unwrap();
            steps(&mut world, 90);
            let lowest = lowest(&world, id);
            assert!(lowest > 0.37, "{response:?} {integrator:?}: fell to {lowest}");
        }
    }
}
