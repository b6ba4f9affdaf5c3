//! Edges that go through bodies, and the surface in which coarse bodies touch.

use crate::support::overlaps::{NEVER_RESTING, World, cubes_in_each_other};
use crate::support::solids::{Solid, cuboid};
use defcol::contact::depth::EdgeDepth;
use defcol::contact::surface::ContactSurface;
use defcol::contact::{Contacts, Source};
use defcol::error::DetectError;
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TriangleMesh};
use defcol_scenes::regular::icosphere;

#[test]
fn crossed_edges_have_a_depth() {
    // Two wedges, edge against edge, no vertex in the other: one along x, and one above it along y.
    let wedge = |turn: bool, height: f64| {
        let points = [
            [-2.0, 0.0, 0.0],
            [2.0, 0.0, 0.0],
            [-2.0, 1.0, -1.0],
            [2.0, 1.0, -1.0],
            [-2.0, -1.0, -1.0],
            [2.0, -1.0, -1.0],
        ];
        let triangles = vec![
            [0, 1, 3],
            [0, 3, 2],
            [1, 0, 4],
            [1, 4, 5],
            [0, 2, 4],
            [1, 5, 3],
            [2, 3, 5],
            [2, 5, 4],
        ];
        let place = |[x, y, z]: [f64; 3]| {
            if turn { Vector3::new(y, x, -z + height) } else { Vector3::new(x, y, z) }
        };
        let mut solid = Solid { positions: points.map(place).to_vec(), triangles };
        if TriangleMesh::new(RawMesh {
            positions: solid.positions.clone(),
            triangles: solid.triangles.clone(),
            ..RawMesh::default()
        })
        .unwrap()
        .mass_properties()
        .volume
            < 0.0
        {
            solid = solid.inside_out();
        }
        solid
    };
    for deep in [1e-6, 0.01, 0.2] {
        let mut world = World::default();
        world
            .surface(&wedge(false, 0.0))
            .surface(&wedge(true, -deep).map(|p| p + Vector3::new(0.1, 0.2, 0.0)));
        let (hits, points) = (world.hits(), world.points());
        assert!(points.list().is_empty(), "{:?}", points.list());
        let mut contacts = Contacts::default();
        EdgeDepth::default()
            .find(&world.bodies, &world.positions, &hits, &points, &mut contacts)
            .unwrap();
        let [contact] = contacts.iter().collect::<Vec<_>>()[..] else { panic!("{contacts:?}") };
        assert_eq!((contact.source, contact.bodies), (Source::Edges, [0, 1]));
        assert!((contact.depth - deep).abs() < 1e-12, "{contact:?}");
        assert!((contact.direction + Vector3::z()).norm() < 1e-6, "{contact:?}");
        assert!(contact.confidence > 0.99);
        assert!((contact.first.blend(&world.positions) - contact.position).norm() < 1e-12);
        assert!((contact.position - Vector3::new(0.1, 0.0, 0.0)).norm() < 1e-9, "{contact:?}");
    }
    // Through both prongs of a fork: a contact in each.
    let mut fork = cuboid(Vector3::repeat(1.0));
    fork.add(&cuboid(Vector3::repeat(1.0)).map(|p| p + Vector3::new(4.0, 0.0, 0.0)));
    let mut world = World::default();
    world.surface(&fork);
    world.surface(&cuboid(Vector3::new(9.0, 0.2, 0.2)).map(|p| p + Vector3::new(2.0, 0.05, 0.1)));
    let (hits, points) = (world.hits(), world.points());
    let mut contacts = Contacts::default();
    EdgeDepth::default()
        .find(&world.bodies, &world.positions, &hits, &points, &mut contacts)
        .unwrap();
    let of_beam: Vec<_> = contacts.iter().filter(|c| c.bodies == [1, 0]).collect();
    assert!(of_beam.len() >= 8 && of_beam.len() % 2 == 0);
    for contact in &of_beam {
        assert!((contact.position.x - 2.0).abs() > 1.4, "{contact:?}");
        assert!(contact.depth < 0.6, "{contact:?}");
    }
    // A beam right through a plate: its edges are deeper than any edge of the plate knows.
    let mut world = World::default();
    world.surface(&cuboid(Vector3::new(4.0, 4.0, 0.4)));
    world.surface(&cuboid(Vector3::new(0.3, 0.3, 4.0)).map(|p| p + Vector3::new(0.1, 0.2, 0.1)));
    let (hits, points) = (world.hits(), world.points());
    let mut contacts = Contacts::default();
    EdgeDepth::default()
        .find(&world.bodies, &world.positions, &hits, &points, &mut contacts)
        .unwrap();
    assert!(points.list().is_empty() && contacts.len() >= 4);
    assert!(contacts.source().iter().all(|&source| source == Source::Through));
    assert_eq!(contacts.bodies().iter().filter(|&&bodies| bodies == [1, 0]).count() % 4, 0);
    for contact in contacts.iter().filter(|contact| contact.bodies == [1, 0]) {
        assert!(contact.confidence <= 0.1);
        assert!(
            contact.direction.z.abs() > 0.999 && (contact.depth - 0.2).abs() < 0.05,
            "{contact:?}"
        );
    }
}

#[test]
fn a_contact_surface_closes_what_overlaps() {
    // A fine ball deep in the middle of two large triangles: points alone would hardly move the corners.
    let mut world = World::default();
    world.surface(&cuboid(Vector3::new(4.0, 4.0, 4.0)));
    world.surface(&Solid::new(icosphere(0.5, 2)).map(|p| p + Vector3::new(0.3, 0.2, 2.4)));
    let (_, contacts) = world.consistent(NEVER_RESTING);
    assert!(contacts.len() > 10 && contacts.bodies().iter().all(|pair| *pair == [1, 0]));
    let mut surface = ContactSurface::default();
    let moved = |surface: &ContactSurface<f64>| {
        let mut positions = world.positions.clone();
        for (&vertex, by) in surface.vertices().iter().zip(surface.displacements()) {
            positions[vertex as usize] += by;
        }
        World { bodies: world.bodies.clone(), positions }
    };
    for compliance in [[1.0, 1.0], [0.0, 1.0], [1.0, 0.2]] {
        surface.find(&world.bodies, &world.positions, &contacts, &compliance).unwrap();
        assert!(surface.gap() < 1e-6, "{compliance:?}: {}", surface.gap());
        assert_eq!(surface.points().count(), contacts.len());
        // Moved there, all points are on the surface.
        let after = moved(&surface);
        for contact in after.nearest().iter() {
            assert!(contact.depth < 1e-6, "{compliance:?}: {contact:?}");
        }
        let ground = world.bodies.list()[0].vertices.len();
        let still = after.positions[..ground] == world.positions[..ground];
        assert_eq!(still, compliance[0] == 0.0, "{compliance:?}");
        let mut forces = vec![Vector3::zeros(); world.positions.len()];
        surface.add_forces(3.0, &mut forces);
        let [on_box, on_ball] =
            [&forces[..ground], &forces[ground..]].map(|some| some.iter().sum::<Vector3<f64>>());
        assert!(on_ball.z > 0.0);
        if compliance[0] > 0.0 {
            assert!((on_box + on_ball).norm() < 1e-6 * on_ball.norm(), "{on_box} {on_ball}");
        }
    }
    // The softer one gives way.
    let mut most = |compliance: [f64; 2]| {
        surface.find(&world.bodies, &world.positions, &contacts, &compliance).unwrap();
        let ball = surface.vertices().partition_point(|&vertex| vertex < 8);
        surface.displacements()[..ball].iter().map(|u| u.norm()).fold(0.0, f64::max)
    };
    assert!(most([1.0, 1e-3]) > 10.0 * most([1e-3, 1.0]));
    // Two cubes squarely in each other, both with points in the other.
    let cubes = cubes_in_each_other(0.1, 0.8);
    let (_, contacts) = cubes.consistent(NEVER_RESTING);
    let mut surface = ContactSurface::default();
    surface.find(&cubes.bodies, &cubes.positions, &contacts, &[1.0, 1.0]).unwrap();
    let before = contacts.depth().iter().copied().fold(0.0, f64::max);
    assert!(surface.gap() < 0.2 * before, "{} {before}", surface.gap());
    // What cannot be.
    let refused = surface.find(&cubes.bodies, &cubes.positions, &contacts, &[1.0]);
    assert!(matches!(refused, Err(DetectError::Count { .. })));
    let refused = surface.find(&cubes.bodies, &cubes.positions, &contacts, &[1.0, f64::NAN]);
    assert!(matches!(refused, Err(DetectError::Compliance { body: 1, .. })));
    surface.find(&cubes.bodies, &cubes.positions, &contacts, &[0.0, 0.0]).unwrap();
    assert!(surface.vertices().is_empty() && surface.gap() == 0.0);
}
