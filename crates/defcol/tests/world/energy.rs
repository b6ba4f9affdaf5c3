//! Kinetic and potential energy of every kind of body, against their definitions.

use defcol::model::{ConstitutiveLaw, ElasticModuli, Moduli, ShapeParameters};
use defcol::world::{BodyKind, BodyOptions, Energy};
use defcol_scenes::regular::box_grid;

use crate::support::worlds::{V, at, centre, elements, solid, steps, world};

const GRAVITY: f64 = 9.81;

fn materials() -> [BodyKind; 6] {
    [
        BodyKind::Rigid,
        elements(1e4, 0.0),
        BodyKind::Elements(
            ElasticModuli { damping: 0.0, ..ElasticModuli::default() },
            ConstitutiveLaw::NeoHookean,
        ),
        BodyKind::Elements(
            ElasticModuli { damping: 0.0, ..ElasticModuli::default() },
            ConstitutiveLaw::Hencky,
        ),
        BodyKind::MassPoints(Moduli::default()),
        BodyKind::Shape(ShapeParameters::default()),
    ]
}

fn assert_close(found: f64, expected: f64, what: &str) {
    let tolerance = 1e-6 * expected.abs().max(1.0);
    assert!((found - expected).abs() <= tolerance, "{what}: {found} instead of {expected}");
}

#[test]
fn a_moving_body_has_the_energy_of_its_mass() {
    let mesh = solid(box_grid([2, 3, 2], 0.1));
    for material in materials() {
        let mut world = world(|p| p.gravity = V::new(0.0, -GRAVITY, 0.0));
        let options = BodyOptions { density: 300.0, ..at(1.0, 2.0, -3.0) };
        let id = world.add_solid(&mesh, material, &options).unwrap();
        let velocity = V::new(1.0, -2.0, 0.5);
        world.set_velocity(id, velocity, V::zeros()).unwrap();
        let mass = world.mass(id).unwrap();
        assert_close(mass, 300.0 * mesh.volume(), "mass");
        let Energy { kinetic, potential, .. } = world.energy();
        assert_close(kinetic, 0.5 * mass * velocity.norm_squared(), &format!("{material:?}"));
        // The box is symmetric: its center is the center of mass for any distribution of mass over its vertices.
        assert_close(potential, mass * GRAVITY * 2.15, &format!("{material:?}"));
    }
}

#[test]
fn energies_of_bodies_add_up() {
    let mesh = solid(box_grid([1, 1, 1], 0.2));
    let mut all = world(|p| p.gravity = V::new(0.0, -GRAVITY, 0.0));
    let mut sums = [0.0; 2];
    for (number, material) in materials().into_iter().enumerate() {
        let options =
            BodyOptions { velocity: V::x() * number as f64, ..at(number as f64, 1.0, 0.0) };
        let mut alone = world(|p| p.gravity = V::new(0.0, -GRAVITY, 0.0));
        alone.add_solid(&mesh, material, &options).unwrap();
        all.add_solid(&mesh, material, &options).unwrap();
        let energy = alone.energy();
        sums = [sums[0] + energy.kinetic, sums[1] + energy.potential];
    }
    // A body that only follows its targets has none.
    all.add_solid(&mesh, BodyKind::Driven, &at(0.0, 5.0, 0.0)).unwrap();
    assert_close(all.energy().kinetic, sums[0], "kinetic");
    assert_close(all.energy().potential, sums[1], "potential");
}

#[test]
fn a_spinning_rigid_box_has_the_energy_of_its_inertia() {
    let mesh = solid(box_grid([2, 3, 4], 0.1));
    let sides = V::new(0.2, 0.3, 0.4);
    for axis in 0..3 {
        let mut world = world(|p| p.gravity = V::zeros());
        let id = world.add_solid(&mesh, BodyKind::Rigid, &at(3.0, 0.0, 1.0)).unwrap();
        let mut spin = V::zeros();
        spin[axis] = 2.0;
        world.set_velocity(id, V::zeros(), spin).unwrap();
        // The moment of inertia of a cuboid about an axis through its center.
        let across = sides.norm_squared() - sides[axis] * sides[axis];
        let inertia = world.mass(id).unwrap() * across / 12.0;
        assert_close(world.energy().kinetic, 0.5 * inertia * 4.0, &format!("axis {axis}"));
    }
}

#[test]
fn a_falling_body_turns_height_into_motion() {
    let mesh = solid(box_grid([2, 2, 2], 0.1));
    for material in materials() {
        let mut world = world(|p| p.gravity = V::new(0.0, -GRAVITY, 0.0));
        let id = world.add_solid(&mesh, material, &at(0.0, 10.0, 0.0)).unwrap();
        let before = world.energy();
        let start = centre(&world, id).y;
        steps(&mut world, 30);
        let fall = start - centre(&world, id).y;
        let after = world.energy();
        let work = world.mass(id).unwrap() * GRAVITY * fall;
        assert!(fall > 1.0, "{material:?}: {fall}");
        assert!((before.potential - after.potential - work).abs() < 1e-3 * work, "{material:?}");
        // First order in the substep of 2 ms.
        let gain = after.kinetic - before.kinetic;
        assert!((gain - work).abs() < 0.02 * work, "{material:?}: {gain} of {work}");
    }
}

#[test]
fn a_stretched_body_stores_energy() {
    let mesh = solid(box_grid([4, 2, 2], 0.1));
    for material in materials().into_iter().skip(1) {
        let mut world = world(|p| p.gravity = V::zeros());
        let id = world.add_solid(&mesh, material, &BodyOptions::default()).unwrap();
        assert_close(world.energy().potential, 0.0, &format!("{material:?} at rest"));
        let stretched = |amount: f64| -> Vec<V> {
            mesh.positions().iter().map(|p| V::new(p.x * (1.0 + amount), p.y, p.z)).collect()
        };
        world.set_positions(id, &stretched(0.01)).unwrap();
        let little = world.energy().potential;
        world.set_positions(id, &stretched(0.02)).unwrap();
        let twice = world.energy().potential;
        // Quadratic in small strains.
        assert!(little > 0.0, "{material:?}: {little}");
        assert!((twice / little - 4.0).abs() < 0.2, "{material:?}: {little} {twice}");
    }
}
