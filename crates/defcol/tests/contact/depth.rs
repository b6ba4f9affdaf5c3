//! Penetration depths against slow and plain references, and against what the thesis promises.

use std::collections::BTreeMap;

use crate::support::overlaps::{NEVER_RESTING, World, cubes_in_each_other};
use crate::support::scenes::{KINDS, Random, Scene, scene};
use crate::support::solids::{MAKES, Solid, cuboid, star};
use defcol::contact::depth::{
    ConsistentDepth, DepthParameters, EdgeDepth, NearestDepth, Normals, WayOut,
};
use defcol::contact::{CollidingPoints, Contact, Contacts, Source};
use defcol::detect::brute::BruteForce;
use defcol::detect::bvh::{NearestSearch, PrimitiveTree, Visit};
use defcol::detect::ldi::{ExactPoints, Shell};
use defcol::detect::primitive::{closest_on_triangle, crossing, segment_meets_triangle};
use defcol::detect::{Detector, Hits, Questions};
use defcol::error::DetectError;
use defcol::math::{Real, Vector3};
use defcol::mesh::{RawMesh, TetMesh, TriangleMesh};
use defcol::state::{Bodies, Collides};
use defcol_scenes::heap::{Heap, rods};
use defcol_scenes::regular::{ball, box_grid, icosphere};

/// THESIS 6.1 to 6.8, word by word, everything compared with everything.
fn reference(
    bodies: &Bodies,
    positions: &[Vector3<f64>],
    points: &CollidingPoints<f64>,
) -> BTreeMap<(u32, u32), (f64, Vector3<f64>)> {
    let mut edges: Vec<[u32; 2]> = Vec::new();
    for t in bodies.tetrahedra() {
        for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            edges.push([t[i].min(t[j]), t[i].max(t[j])]);
        }
    }
    for body in bodies.list().iter().filter(|body| body.tetrahedra.is_empty()) {
        let own = &bodies.edges()[body.edges.clone()];
        edges.extend(own.iter().map(|e| [e[0].min(e[1]), e[0].max(e[1])]));
    }
    edges.sort_unstable();
    edges.dedup();
    let neighbours = |v: u32| -> Vec<u32> {
        let with = edges.iter().filter(|e| e.contains(&v));
        with.map(|e| if e[0] == v { e[1] } else { e[0] }).collect()
    };
    let colliding: Vec<(u32, u32)> = points.list().iter().map(|p| (p.vertex, p.body)).collect();
    let mut known = BTreeMap::new();
    for &(vertex, body) in &colliding {
        let p = positions[vertex as usize];
        let (mut weights, mut depth, mut direction) = (0.0, 0.0, Vector3::zeros());
        for other in neighbours(vertex) {
            if colliding.contains(&(other, body)) {
                continue;
            }
            let q = positions[other as usize];
            let mut last: Option<(f64, Vector3<f64>)> = None;
            for triangle in &bodies.triangles()[bodies.list()[body as usize].triangles.clone()] {
                let own = bodies.body_of(vertex) == body as usize;
                if own && (triangle.contains(&vertex) || triangle.contains(&other)) {
                    continue;
                }
                let corners = triangle.map(|corner| positions[corner as usize]);
                if !segment_meets_triangle([p, q], corners) {
                    continue;
                }
                let t = crossing([p, q], corners).parameter;
                let normal =
                    (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).normalize();
                let normal = if normal.dot(&(q - p)) < 0.0 { -normal } else { normal };
                if last.is_none_or(|(best, _)| t > best) {
                    last = Some((t, normal));
                }
            }
            let Some((t, normal)) = last else { continue };
            let way = (q - p) * t;
            let weight = 1.0 / way.norm_squared();
            weights += weight;
            depth += weight * way.dot(&normal);
            direction += normal * weight;
        }
        if weights > 0.0 {
            known.insert((vertex, body), (depth / weights, (direction / weights).normalize()));
        }
    }
    loop {
        let mut next = Vec::new();
        for &(vertex, body) in colliding.iter().filter(|key| !known.contains_key(key)) {
            let p = positions[vertex as usize];
            let (mut weights, mut depth, mut direction) = (0.0, 0.0, Vector3::zeros());
            for other in neighbours(vertex) {
                if let Some((d, r)) = known.get(&(other, body)) {
                    let way = positions[other as usize] - p;
                    let weight = 1.0 / way.norm_squared();
                    weights += weight;
                    depth += weight * (way.dot(r) + d);
                    direction += r * weight;
                }
            }
            if weights > 0.0 {
                let found = (depth / weights, (direction / weights).normalize());
                next.push(((vertex, body), found));
            }
        }
        if next.is_empty() {
            return known;
        }
        known.extend(next);
    }
}

fn compare(world: &World, what: &str) -> usize {
    let points = world.points();
    let expected = reference(&world.bodies, &world.positions, &points);
    let (depth, contacts) = world.consistent(NEVER_RESTING);
    assert_eq!(contacts.len(), expected.len(), "{what}");
    assert_eq!(contacts.len() + depth.statistics().enclosed, points.list().len(), "{what}");
    for (contact, (key, (deep, way))) in contacts.iter().zip(&expected) {
        assert_eq!((contact.first.vertices[0], contact.bodies[1]), *key, "{what}");
        let scale = 1.0 + deep.abs();
        assert!((contact.depth - deep.max(0.0)).abs() < 1e-9 * scale, "{what}: {contact:?} {deep}");
        if contact.confidence > 1e-3 {
            assert!((contact.direction - way).norm() < 1e-6, "{what}: {contact:?} {way}");
        }
        assert!((contact.direction.norm() - 1.0).abs() < 1e-12, "{what}");
        assert!((0.0..=1.0).contains(&contact.confidence), "{what}");
    }
    contacts.len()
}

#[test]
fn consistent_depths_are_those_of_the_thesis_word_by_word() {
    let mut random = Random(31);
    let (mut all, mut inner) = (0, 0);
    for case in 0..40 {
        let mut world = World::default();
        for _ in 0..2 + random.below(3) {
            let (rotation, shift) =
                (crate::support::solids::rotation(&mut random), random.vector() * 0.7);
            let bend = 0.3 * random.unit();
            let place = |p: &Vector3<f64>| {
                rotation * (p + Vector3::new(0.0, 0.0, bend * (3.0 * p.x).sin())) + shift
            };
            match random.below(4) {
                0 => world.solid(box_grid([3, 3, 3], 0.4), place),
                1 => world.solid(ball(0.8), place),
                2 => world.surface(&star(&mut random, 1).map(place)),
                _ => world.surface(&Solid::new(icosphere(0.6, 2)).map(place)),
            };
        }
        all += compare(&world, &format!("{case}"));
        let (depth, _) = world.consistent(NEVER_RESTING);
        inner += depth.statistics().points - depth.statistics().border_points;
    }
    assert!(all > 1000 && inner > 100, "{all} {inner}");
}

#[test]
fn self_collisions_have_depths() {
    // Rods at random, each bent into itself.
    let Heap { bodies, positions } = rods(3);
    let mut world = World { bodies, positions };
    for p in &mut world.positions {
        let bend = 5.0 * p.x;
        *p += Vector3::new(0.0, 0.02 * bend.sin(), 0.02 * bend.cos());
    }
    let own = |c: &Contact<f64>| c.bodies[0] == c.bodies[1];
    // A membrane folded so that one half is in the other.
    let mut folded = World::default();
    folded.solid(box_grid([24, 6, 2], 0.125), |p| {
        let (angle, radius) = (p.x * 2.6, 0.45 - p.z);
        let height = 0.45 - radius * angle.cos();
        let side = p.y + 0.013 * p.x + 0.01 * (7.0 * p.x + 3.0 * p.z).sin();
        Vector3::new(radius * angle.sin(), side, height)
    });
    let mut seen = 0;
    for (what, world) in [("rods", &world), ("membrane", &folded)] {
        compare(world, what);
        let (_, contacts) = world.consistent(NEVER_RESTING);
        seen += contacts.iter().filter(own).count();
    }
    assert!(seen > 20, "{seen}");
    // Surfaces without tetrahedra: two balls that are one body.
    let mut both = Solid::new(icosphere(1.0, 2));
    both.add(&Solid::new(icosphere(1.0, 2)).map(|p| p + Vector3::new(1.5, 0.1, 0.0)));
    let mut one = World::default();
    one.surface(&both);
    one.bodies.set_collides(0, Collides::with_all_and_itself());
    assert!(compare(&one, "balls") > 10);
    let (_, contacts) = one.consistent(NEVER_RESTING);
    for contact in contacts.iter() {
        let outwards = if contact.position.x < 0.75 { 1.0 } else { -1.0 };
        assert!(contact.direction.x * outwards > 0.7, "{contact:?}");
        assert!(contact.depth < 0.75, "{contact:?}");
    }
}

#[test]
fn points_come_from_any_detector() {
    let mut random = Random(2);
    let mut found = 0;
    for _ in 0..20 {
        let (a, b) = (star(&mut random, 2), star(&mut random, 2));
        let shift = random.vector();
        let b = b.map(|p| p + shift);
        let mut world = World::default();
        world.surface(&a).surface(&b);
        let points = world.points();
        let mut expected = Vec::new();
        for (points, of, first, body) in [(&b, &a, a.positions.len(), 0), (&a, &b, 0, 1)] {
            let shell = Shell::new(&of.positions, &of.triangles).unwrap();
            let mut inside = Vec::new();
            ExactPoints::default().contains(&shell, &points.positions, &mut inside).unwrap();
            let some = inside.iter().enumerate().filter(|(_, inside)| **inside);
            expected.extend(some.map(|(k, _)| ((first + k) as u32, body)));
        }
        expected.sort_unstable();
        let list: Vec<_> = points.list().iter().map(|p| (p.vertex, p.body)).collect();
        assert_eq!(list, expected);
        found += list.len();
        // The same from outside, in any order.
        let mut given = CollidingPoints::default();
        given.set(expected.iter().rev().copied());
        let (mut one, mut two) = (Contacts::default(), Contacts::default());
        let mut depth = ConsistentDepth::default();
        depth.find(&world.bodies, &world.positions, &points, &mut one).unwrap();
        depth.find(&world.bodies, &world.positions, &given, &mut two).unwrap();
        assert_eq!(one, two);
    }
    assert!(found > 300, "{found}");
    // An open surface has no inside, but may be in something.
    let mut world = World::default();
    let sheet = defcol_scenes::regular::plane_patch([6, 6], 0.5);
    world.surface(&Solid::new(sheet)).surface(&Solid::new(icosphere(0.8, 2)));
    assert!(world.points().list().iter().all(|p| p.body == 1));
    assert!(!world.points().list().is_empty());
}

#[test]
fn the_nearest_point_is_the_nearest() {
    let mut random = Random(17);
    let (mut search, mut visit, mut all) = (NearestSearch::default(), Visit::default(), vec![]);
    let mut narrow = (NearestSearch::default(), Vec::new());
    for make in MAKES {
        for case in 0..20 {
            let solid = make.solid(&mut random);
            let points: Vec<_> = (0..40)
                .map(|k| match k % 4 {
                    // Near, far, on a vertex, in the middle of an edge.
                    0 => random.vector() * 2.0,
                    1 => random.vector() * 1e4,
                    2 => solid.positions[random.below(solid.positions.len())],
                    _ => {
                        let [a, b, _] = solid.triangles[random.below(solid.triangles.len())];
                        (solid.positions[a as usize] + solid.positions[b as usize]) * 0.5
                    }
                })
                .collect();
            // Built for other positions, then refitted.
            let moved: Vec<_> = solid.positions.iter().map(|p| p + random.vector() * 0.3).collect();
            let mut tree = PrimitiveTree::new(&moved, &solid.triangles);
            tree.refit(&solid.positions);
            search.find(&tree, &solid.triangles, &solid.positions, &points, &mut all);
            for (point, found) in points.iter().zip(&all) {
                let distances = solid
                    .triangles
                    .iter()
                    .map(|t| closest_on_triangle(*point, t.map(|c| solid.positions[c as usize])).1);
                let exact = distances.fold(f64::INFINITY, f64::min);
                let what = format!("{make:?} {case} {point} {found:?} {exact}");
                assert!((found.distance - exact).abs() <= 1e-12 * (1.0 + exact), "{what}");
                let away = (found.point - point).norm();
                assert!((away - found.distance).abs() <= 1e-10 * (1.0 + away), "{what}");
                let mut alone = |within: f64| {
                    tree.nearest(&solid.triangles, &solid.positions, *point, within, &mut visit)
                };
                assert_eq!(
                    alone(f64::INFINITY).map(|n| n.distance),
                    Some(found.distance),
                    "{what}"
                );
                assert!(exact < 1e-9 || alone(exact * 0.99).is_none(), "{what}");
                assert!(alone(exact * 1.01 + 1e-9).is_some(), "{what}");
            }
            // In single precision.
            let small: Vec<_> = solid.positions.iter().map(|p| p.map(|x| x as f32)).collect();
            let few: Vec<_> = points.iter().map(|p| p.map(|x| x as f32)).collect();
            let tree = PrimitiveTree::new(&small, &solid.triangles);
            narrow.0.find(&tree, &solid.triangles, &small, &few, &mut narrow.1);
            for (point, found) in few.iter().zip(&narrow.1) {
                let distances = solid
                    .triangles
                    .iter()
                    .map(|t| closest_on_triangle(*point, t.map(|c| small[c as usize])).1);
                let exact = distances.fold(f64::INFINITY, f64::min);
                let error = (f64::from(found.distance) - exact).abs();
                assert!(error <= 1e-6 * (1.0 + exact), "{make:?} {case}: {found:?} {exact}");
            }
        }
    }
}

/// The tip of a tetrahedron is in a large box around the origin; the others are not.
fn tip_in_box(tip: Vector3<f64>, others: [Vector3<f64>; 3]) -> World {
    let mut world = World::default();
    world.surface(&cuboid(Vector3::new(4.0, 4.0, 4.0)));
    let [a, b, c] = others;
    let volume = (a - tip).cross(&(b - tip)).dot(&(c - tip));
    let order = if volume > 0.0 { [0, 1, 2, 3] } else { [0, 2, 1, 3] };
    let raw =
        RawMesh { positions: vec![tip, a, b, c], tetrahedra: vec![order], ..RawMesh::default() };
    world.solid(raw, |p| *p);
    world
}

fn of_tip(contacts: &Contacts<f64>) -> Contact<f64> {
    contacts.iter().find(|contact| contact.bodies == [1, 0]).unwrap()
}

#[test]
fn across_the_medial_axis_the_direction_turns_smoothly() {
    // THESIS figure 6.2: the tip moves inside a box from below its upper side to behind its right side.
    let move_across = |parameters: DepthParameters, third: fn(Vector3<f64>) -> Vector3<f64>| {
        let (mut jump, mut turn, steps) = (0.0f64, 0.0f64, 400);
        let mut ways: Vec<[Vector3<f64>; 2]> = Vec::new();
        for step in 0..=steps {
            let t = f64::from(step) / f64::from(steps);
            let tip = Vector3::new(1.0 + 0.7 * t, 0.1, 1.7 - 0.7 * t);
            let others =
                [Vector3::new(tip.x, -0.3, 2.3), Vector3::new(2.3, 0.3, tip.z), third(tip)];
            let world = tip_in_box(tip, others);
            let both = [of_tip(&world.nearest()), of_tip(&world.consistent(parameters).1)];
            ways.push(both.map(|contact| contact.direction));
            if let [.., before, now] = &ways[..] {
                jump = jump.max(before[0].angle(&now[0]));
                turn = turn.max(before[1].angle(&now[1]));
            }
        }
        let all = ways[0][1].angle(&ways[steps as usize][1]);
        println!("nearest jumps by {jump}, consistent turns by {turn} at most, {all} in all");
        assert!(jump > 1.5, "{jump}");
        assert!(turn < 0.02, "{turn}");
        assert!(all > 0.5, "{all}");
    };
    move_across(NEVER_RESTING, |tip| Vector3::new(tip.x - 0.2, 0.4, 2.3));
    // An edge whose crossing passes from one side of the box to the other: there flat normals jump as well, those of
    // the corners blended do not.
    let smooth = DepthParameters { normals: Normals::Interpolated, resting: 0.0 };
    move_across(smooth, |_| Vector3::new(2.3, 0.2, 2.3));
}

#[test]
fn towards_the_surface_depth_and_direction_become_exact() {
    let mut errors = Vec::new();
    for k in 0..12 {
        let deep = 0.3 * 0.25f64.powi(k);
        // Near the edge of the box, so that one of the edges leaves through another side.
        let tip = Vector3::new(1.6, 0.2, 2.0 - deep);
        let others = [
            Vector3::new(1.5, -0.3, 2.4),
            Vector3::new(1.4, 0.6, 2.3),
            Vector3::new(2.9, 0.2, 2.05),
        ];
        let contact = of_tip(&tip_in_box(tip, others).consistent(NEVER_RESTING).1);
        let turn = contact.direction.angle(&Vector3::z());
        errors.push([(contact.depth - deep).abs() / deep, turn]);
    }
    println!("{errors:?}");
    let [depth, turn] = errors[11];
    assert!(depth < 1e-9 && turn < 1e-9, "{errors:?}");
    assert!(errors[0][1] > 0.01, "far from the surface it is a mean: {errors:?}");
    assert!(errors.windows(2).all(|pair| pair[1][1] <= pair[0][1]), "{errors:?}");
}

#[test]
fn deep_in_each_other_all_directions_agree_with_the_impact() {
    for (deep, thinner) in [(0.3, 1.0), (0.5, 1.0), (0.7, 1.0), (0.5, 0.9), (0.7, 0.7)] {
        let world = cubes_in_each_other(deep, thinner);
        // Of a thinner cube it is the one that enters.
        let counts = |contact: &Contact<f64>| thinner == 1.0 || contact.bodies[0] == 1;
        let along = |contact: &Contact<f64>| {
            let away = if contact.bodies[0] == 0 { -1.0 } else { 1.0 };
            (contact.direction.x * away).clamp(-1.0, 1.0).acos().to_degrees()
        };
        let (depth, contacts) = world.consistent(NEVER_RESTING);
        assert!(depth.statistics().points > 60 && depth.statistics().rounds > 0);
        let worst = contacts.iter().filter(counts).map(|c| along(&c)).fold(0.0, f64::max);
        let nearest = world.nearest();
        let off = nearest.iter().filter(|c| counts(c) && along(c) > 45.0).count();
        let all = nearest.iter().filter(counts).count();
        println!("{deep}: consistent within {worst} degrees, {off} of {all} nearest beyond 45");
        assert!(worst <= 45.0, "{deep}: {worst}");
        assert!(3 * off > all, "{deep}: {off} {all}");
        let deepest = contacts.iter().filter(counts).map(|c| c.depth).fold(0.0, f64::max);
        assert!(deepest <= deep + 1e-9, "{deep}: {deepest}");
    }
}

#[test]
fn what_is_enclosed_is_said_to_be_and_finds_its_way_out() {
    let mut world = World::default();
    world.surface(&cuboid(Vector3::new(4.0, 5.0, 6.0)));
    world.solid(ball(0.5), |p| p + Vector3::new(1.2, 0.0, 0.0));
    let (depth, contacts) = world.consistent(DepthParameters::default());
    assert!(contacts.is_empty());
    let [enclosed] = depth.enclosed() else { panic!("{:?}", depth.enclosed()) };
    assert!(enclosed.whole && enclosed.bodies == [1, 0] && enclosed.points.len() == 13);
    let mut out = Contacts::default();
    WayOut::default().find(&world.bodies, &world.positions, &depth, &mut out).unwrap();
    assert_eq!(out.len(), 13);
    assert!(out.iter().all(|c| c.source == Source::WayOut && c.direction.x > 0.999));
    let most = out.depth().iter().copied().fold(0.0, f64::max);
    let first = world.bodies.list()[1].vertices.start;
    let farthest = world.positions[first..].iter().map(|p| 2.0 - p.x).fold(0.0, f64::max);
    assert!((most - farthest).abs() < 1e-9, "{most} {farthest}");
    // It is one.
    let way = out.direction()[0] * (most * 1.001);
    world.positions[first..].iter_mut().for_each(|p| *p += way);
    assert!(world.points().list().is_empty());

    // A body of two parts, one of which is enclosed: the other one has its depths.
    let mut two = Solid::new(icosphere(0.3, 1));
    two.add(&Solid::new(icosphere(0.5, 1)).map(|p| p + Vector3::new(1.8, 0.0, 0.0)));
    let mut world = World::default();
    world.surface(&cuboid(Vector3::new(4.0, 4.0, 4.0))).surface(&two);
    let (depth, contacts) = world.consistent(NEVER_RESTING);
    let [enclosed] = depth.enclosed() else { panic!("{:?}", depth.enclosed()) };
    assert!(!enclosed.whole && enclosed.points.len() == 42);
    assert!(!contacts.is_empty() && contacts.position().iter().all(|p| p.x > 1.0));
    // Particles have no neighbours, so nothing is known about them.
    let mut world = World::default();
    world.surface(&cuboid(Vector3::new(4.0, 4.0, 4.0)));
    world.bodies.add_points(2, Collides::default());
    world.positions.extend([Vector3::new(0.1, 0.2, 1.5), Vector3::new(0.0, 0.0, 9.0)]);
    let (depth, contacts) = world.consistent(DepthParameters::default());
    assert!(contacts.is_empty() && depth.statistics().enclosed == 1);
    assert!((world.nearest().depth()[0] - 0.5).abs() < 1e-12);
}

#[test]
fn where_the_formulas_say_nothing_there_is_an_answer() {
    // On the surface: depth zero, along the normal.
    let tip = Vector3::new(0.3, 0.2, 2.0);
    let others = [[0.0, 0.5, 2.5], [0.5, 0.5, 3.0], [-0.5, -0.5, 2.1]].map(Vector3::from);
    let contact = of_tip(&tip_in_box(tip, others).consistent(NEVER_RESTING).1);
    assert_eq!((contact.depth, contact.confidence), (0.0, 1.0));
    assert!((contact.direction - Vector3::z()).norm() < 1e-12);

    // Opposite sides of a plate at the same distance: one of both ways, and no confidence.
    let mut world = World::default();
    world.surface(&cuboid(Vector3::new(4.0, 4.0, 0.5)));
    let mut raw = RawMesh {
        positions: [[0.1, 0.0, 0.0], [0.1, 0.0, 1.0], [0.1, 0.0, -1.0]].map(Vector3::from).to_vec(),
        triangles: vec![[0, 1, 2]],
        ..RawMesh::default()
    };
    raw.positions[1].x += 0.2;
    raw.positions[2].x += 0.2;
    let spike = TriangleMesh::new(raw).unwrap();
    world.bodies.add_surface(&spike, Collides::default());
    world.positions.extend(spike.positions());
    let contact = of_tip(&world.consistent(NEVER_RESTING).1);
    assert!(contact.confidence < 1e-6 && (contact.direction.z.abs() - 1.0).abs() < 1e-12);
    assert!((contact.depth - 0.25).abs() < 1e-12, "{contact:?}");

    // What only such a point hands on to is no more certain.
    let points =
        [[0.1, 0.0, 0.0], [0.3, 0.0, 1.0], [0.3, 0.0, -1.0], [0.5, 0.1, 0.1], [0.6, -0.1, 0.0]];
    let raw = RawMesh {
        positions: points.map(Vector3::from).to_vec(),
        triangles: vec![[0, 1, 2], [0, 3, 4]],
        ..RawMesh::default()
    };
    let hanging = TriangleMesh::new(raw).unwrap();
    let mut world = World::default();
    world.surface(&cuboid(Vector3::new(4.0, 4.0, 0.5)));
    world.bodies.add_surface(&hanging, Collides::default());
    world.positions.extend(hanging.positions());
    let (_, contacts) = world.consistent(NEVER_RESTING);
    let propagated = contacts.iter().filter(|c| c.source == Source::Propagated);
    assert_eq!(propagated.clone().count(), 2);
    assert!(propagated.clone().all(|c| c.confidence < 1e-6), "{contacts:?}");

    // A detector that takes a point outside for one inside: no edge cuts anything, and nothing is made up.
    let world = tip_in_box(Vector3::new(0.0, 0.0, 2.2), others);
    let mut points = CollidingPoints::default();
    points.set([(8, 0)]);
    let (mut depth, mut contacts) = (ConsistentDepth::default(), Contacts::default());
    depth.find(&world.bodies, &world.positions, &points, &mut contacts).unwrap();
    assert!(contacts.is_empty() && depth.statistics().enclosed == 1);

    // Two vertices at the same place, one at the border: the other one gets the same.
    let place = Vector3::new(0.3, 0.2, 1.9);
    let raw = RawMesh {
        positions: vec![place, place, Vector3::new(0.3, 0.2, 2.5), Vector3::new(0.1, 0.2, 1.5)],
        triangles: vec![[0, 1, 2], [0, 1, 3]],
        ..RawMesh::default()
    };
    let mesh = TriangleMesh::new(raw).unwrap();
    let mut world = World::default();
    world.surface(&cuboid(Vector3::new(4.0, 4.0, 4.0)));
    world.bodies.add_surface(&mesh, Collides::default());
    world.positions.extend(mesh.positions());
    let (_, contacts) = world.consistent(NEVER_RESTING);
    assert_eq!(contacts.len(), 3);
    for k in [0, 1] {
        assert!((contacts.depth()[k] - 0.1).abs() < 1e-12);
    }
    assert!((contacts.depth()[2] - 0.5).abs() < 1e-12, "{contacts:?}");

    // A vertex of a body in the same body has no nearest surface but itself.
    let mut points = CollidingPoints::default();
    points.set([(1, 0)]);
    let refused = NearestDepth::default().find(
        &world.bodies,
        &world.positions,
        &points,
        &mut Contacts::default(),
    );
    assert!(matches!(refused, Err(DetectError::OwnSurface { body: 0, vertex: 1 })));
    let mut bad = world.positions.clone();
    bad[3].x = f64::INFINITY;
    let refused = depth.find(&world.bodies, &bad, &points, &mut Contacts::default());
    assert!(matches!(refused, Err(DetectError::BadPosition { .. })));
}

#[test]
fn resting_points_take_the_short_way_to_the_same_answer() {
    // Membranes on one another, each a little in the one below.
    let mut world = World::default();
    for k in 0..4 {
        let height = f64::from(k) * 0.0995;
        let turn = nalgebra::Rotation3::from_axis_angle(&Vector3::z_axis(), 0.2 * f64::from(k));
        world.solid(box_grid([10, 10, 1], 0.1), move |p| turn * p + Vector3::new(0.0, 0.0, height));
    }
    let (slow, all) = world.consistent(NEVER_RESTING);
    let (quick, some) = world.consistent(DepthParameters::default());
    let share = quick.statistics().resting as f64 / quick.statistics().border_points as f64;
    println!("{:?} {:?}", slow.statistics(), quick.statistics());
    assert!(share > 0.5, "{:?}", quick.statistics());
    assert!(slow.statistics().crossings > 3 * quick.statistics().crossings);
    assert_eq!(all.len(), some.len());
    for (a, b) in all.iter().zip(some.iter()) {
        assert!(a.direction.angle(&b.direction) < 1e-6, "{a:?} {b:?}");
        assert!((a.depth - b.depth).abs() < 1e-9, "{a:?} {b:?}");
    }
}

#[test]
fn interpolated_normals_are_smoother() {
    // A small ball in a coarse large one: directions of neighbours differ less.
    let mut world = World::default();
    world.solid(ball(1.0), |p| *p);
    let way = Vector3::new(0.5, 0.3, 0.8).normalize();
    world.surface(&Solid::new(icosphere(0.5, 3)).map(|p| p + way * 1.05));
    let roughness = |normals: Normals| {
        let (_, contacts) = world.consistent(DepthParameters { normals, resting: 0.0 });
        let from_centre = contacts.iter().filter(|c| c.bodies == [1, 0]);
        let angles: Vec<f64> = from_centre.map(|c| c.direction.angle(&c.position)).collect();
        assert!(angles.len() > 50);
        angles.iter().sum::<f64>() / angles.len() as f64
    };
    let (flat, smooth) = (roughness(Normals::Flat), roughness(Normals::Interpolated));
    println!("{flat} {smooth}");
    assert!(smooth < 0.7 * flat, "{flat} {smooth}");
}

#[test]
fn touching_bodies_have_depth_zero_and_plain_directions() {
    // Side by side, with and without vertices inside the sides.
    for cells in [1, 4] {
        let side = 1.0 / f64::from(cells);
        for (shift, way) in [([1.0, 0.0, 0.0], 0), ([0.0, 1.0, 0.0], 1), ([0.3, 0.2, 1.0], 2)] {
            let shift = Vector3::from(shift);
            let mut world = World::default();
            world.solid(box_grid([cells; 3], side), |p| *p);
            world.solid(box_grid([cells; 3], side), |p| p + shift);
            let (depth, contacts) = world.consistent(NEVER_RESTING);
            assert!(depth.enclosed().is_empty() && !contacts.is_empty());
            for contact in contacts.iter() {
                let away = if contact.bodies[0] == 0 { -1.0 } else { 1.0 };
                assert_eq!(contact.depth, 0.0, "{shift}: {contact:?}");
                assert!(contact.direction[way] * away > 0.99, "{shift}: {contact:?}");
            }
        }
    }
}

#[test]
fn surfaces_that_touch_along_a_side_have_depth_zero() {
    // No tetrahedra behind the points, so that edges of those within a side all run along it.
    let gridded = |shift: Vector3<f64>| {
        let solid = TetMesh::new(box_grid([4, 4, 4], 0.25)).unwrap();
        let surface = solid.surface().mesh();
        let (positions, triangles) = (surface.positions().to_vec(), surface.triangles().to_vec());
        Solid { positions, triangles }.map(|p| p + shift)
    };
    for shift in [[0.3, 0.2, 1.0], [0.0, 1.0, 0.4], [-1.0, 0.1, -0.35]].map(Vector3::from) {
        let mut world = World::default();
        world.surface(&gridded(Vector3::zeros())).surface(&gridded(shift));
        let (depth, contacts) = world.consistent(NEVER_RESTING);
        assert!(depth.enclosed().is_empty() && contacts.len() > 10);
        let way = shift.map(|x| if x.abs() == 1.0 { x } else { 0.0 });
        for contact in contacts.iter() {
            let away = if contact.bodies[0] == 0 { -1.0 } else { 1.0 };
            assert_eq!(contact.depth, 0.0, "{shift}: {contact:?}");
            assert!(contact.direction.dot(&way) * away > 0.7, "{shift}: {contact:?}");
        }
    }
}

#[test]
fn directions_on_the_surface_are_no_rounding_noise() {
    let mut random = Random(77);
    for case in 0..40 {
        let rotation = crate::support::solids::rotation(&mut random);
        // A small cube that touches a side of a large one from within.
        let small = Vector3::repeat(0.5);
        let mut world = World::default();
        let outer = cuboid(Vector3::repeat(2.0));
        let outer = if case % 2 == 0 { outer } else { outer.inside_out() };
        world.surface(&outer.rotated(rotation));
        world.surface(&cuboid(small).map(|p| rotation * (p + Vector3::new(0.75, 0.1, 0.2))));
        let way = rotation * Vector3::x();
        for contact in world.nearest().iter().filter(|c| c.bodies == [1, 0] && c.depth < 1e-9) {
            assert!(contact.direction.dot(&way) > 0.999, "{case}: {contact:?}");
        }
        let (depth, contacts) = world.consistent(NEVER_RESTING);
        let mut out = Contacts::default();
        WayOut::default().find(&world.bodies, &world.positions, &depth, &mut out).unwrap();
        for contact in contacts.iter().chain(out.iter()).filter(|c| c.bodies == [1, 0]) {
            assert!(contact.direction.dot(&way) > 0.7, "{case}: {contact:?}");
        }
        let most = out.depth().iter().copied().fold(0.0, f64::max);
        assert!(out.is_empty() || (most - 0.5).abs() < 1e-6, "{case}: {most}");
        // A cube and itself: whatever the way, it leads out.
        let mut same = World::default();
        let cube = cuboid(small).rotated(rotation);
        same.surface(&cube).surface(&cube);
        let (depth, _) = same.consistent(NEVER_RESTING);
        WayOut::default().find(&same.bodies, &same.positions, &depth, &mut out).unwrap();
        let of_second = out.iter().filter(|c| c.bodies == [1, 0]);
        let most = of_second.clone().map(|c| c.depth).fold(0.0, f64::max);
        if let Some(contact) = of_second.clone().next() {
            let by = contact.direction * (most + 1e-6);
            same.positions[8..].iter_mut().for_each(|p| *p += by);
            assert!(same.points().list().is_empty(), "{case}: {most}");
        }
    }
}

#[test]
fn resting_points_look_at_all_that_their_edges_meet() {
    // Two slabs that are one body; a block goes through the gap between them.
    let mut slabs = cuboid(Vector3::new(4.0, 4.0, 1.0));
    slabs.add(&cuboid(Vector3::new(4.0, 4.0, 0.2)).map(|p| p + Vector3::new(0.0, 0.0, 1.0)));
    let block = cuboid(Vector3::new(0.5, 0.5, 1.0)).map(|p| p + Vector3::new(0.1, 0.2, 0.999));
    let mut world = World::default();
    world.surface(&slabs).surface(&block);
    let (quick, some) = world.consistent(DepthParameters::default());
    let (_, all) = world.consistent(NEVER_RESTING);
    assert_eq!(quick.statistics().resting, 0);
    assert_eq!(some, all);
    // It is the last of three crossings that counts, that of the upper side of the upper slab.
    let of_block = all.iter().filter(|c| c.bodies == [1, 0]);
    assert_eq!(of_block.clone().count(), 4);
    assert!(of_block.clone().all(|c| (c.depth - 0.601).abs() < 1e-9 && c.direction.z > 0.999));
    // But a point on the surface, from which edges leave at once, has the depth zero.
    let mut touching = World::default();
    touching.surface(&slabs).surface(&block.map(|p| p + Vector3::new(0.0, 0.0, 0.001)));
    let (_, all) = touching.consistent(NEVER_RESTING);
    let of_block = all.iter().filter(|c| c.bodies == [1, 0] && c.position.z < 0.6);
    assert_eq!(of_block.clone().count(), 4);
    assert!(of_block.clone().all(|c| c.depth < 1e-12 && c.direction.z > 0.999), "{all:?}");
    // Nothing is more confident than what it is made from: the inner points of a body that goes through a plate.
    let mut world = World::default();
    world.surface(&cuboid(Vector3::new(4.0, 4.0, 0.5)));
    world.solid(box_grid([2, 2, 16], 0.1), |p| p + Vector3::new(0.05, 0.0, -0.8));
    let (_, contacts) = world.consistent(NEVER_RESTING);
    let propagated = contacts.iter().filter(|c| c.source == Source::Propagated);
    let border = contacts.iter().filter(|c| c.source == Source::Border).map(|c| c.confidence);
    let most = border.fold(0.0, f64::max);
    assert!(propagated.clone().count() > 5);
    assert!(propagated.clone().all(|c| c.confidence <= most));
    assert!(propagated.clone().any(|c| c.confidence < 0.9), "the middle is torn both ways");
}

#[test]
fn sizes_do_not_matter() {
    fn depths<R: Real>(scale: f64) -> Vec<[f64; 2]> {
        let mut world = World::default();
        world.solid(box_grid([3, 3, 3], 0.4), |p| p * scale);
        world.solid(box_grid([3, 3, 3], 0.4), |p| (p + Vector3::new(0.5, 0.35, 0.45)) * scale);
        let positions: Vec<_> = world.positions.iter().map(|p| p.map(R::nearest)).collect();
        let mut hits = Hits::default();
        BruteForce.detect(&world.bodies, &positions, Questions::default(), &mut hits).unwrap();
        let (mut points, mut contacts) = (CollidingPoints::default(), Contacts::default());
        points.collect_hits(&world.bodies, &hits);
        let mut consistent = ConsistentDepth::default();
        consistent.find(&world.bodies, &positions, &points, &mut contacts).unwrap();
        assert!(consistent.enclosed().is_empty() && contacts.len() > 20, "{scale}");
        let depth = |c: Contact<R>| [c.depth.to_f64() / scale, c.direction.x.to_f64()];
        contacts.iter().map(depth).collect()
    }
    let plain = depths::<f64>(1.0);
    let near = |some: Vec<[f64; 2]>, tolerance: f64| {
        assert_eq!(some.len(), plain.len());
        for (a, b) in some.iter().zip(&plain) {
            assert!(
                (a[0] - b[0]).abs() < tolerance && (a[1] - b[1]).abs() < tolerance,
                "{a:?} {b:?}"
            );
        }
    };
    near(depths::<f64>(1e-30), 1e-9);
    near(depths::<f64>(1e50), 1e-9);
    near(depths::<f32>(1.0), 1e-4);
    near(depths::<f32>(1e-25), 1e-4);
    near(depths::<f32>(1e11), 1e-4);
}

#[test]
fn wrong_points_are_refused_and_nothing_is_left_behind() {
    let mut world = World::default();
    world.surface(&Solid::new(icosphere(1.0, 1)));
    world.surface(&Solid::new(icosphere(1.0, 1)).map(|p| p + Vector3::x()));
    let mut points = CollidingPoints::default();
    let mut bad = world.positions.clone();
    bad[60].x = f64::NAN;
    let hits = Hits::default();
    assert!(points.collect(&world.bodies, &bad, &hits).is_err());
    assert!(points.collect(&world.bodies, &bad[..10], &hits).is_err());
    points.collect(&world.bodies, &world.positions, &hits).unwrap();
    let good = points.list().len();
    assert!(good > 10);
    for wrong in [(10_000_000, 0), (0, 7)] {
        let mut given = CollidingPoints::default();
        given.set([wrong]);
        let mut contacts = Contacts::default();
        let (bodies, positions) = (&world.bodies, &world.positions);
        let refused = ConsistentDepth::default().find(bodies, positions, &given, &mut contacts);
        assert!(matches!(refused, Err(DetectError::NoSuchPoint { .. })));
        let refused = NearestDepth::default().find(bodies, positions, &given, &mut contacts);
        assert!(matches!(refused, Err(DetectError::NoSuchPoint { .. })));
    }
    // The same objects after other positions and other bodies give what new ones do.
    let (mut depth, mut contacts) = (ConsistentDepth::default(), Contacts::default());
    let other: Vec<_> = world.positions.iter().map(|p| p * 3.0 + Vector3::y()).collect();
    depth.find(&world.bodies, &other, &points, &mut contacts).unwrap();
    let cubes = cubes_in_each_other(0.5, 1.0);
    depth.find(&cubes.bodies, &cubes.positions, &cubes.points(), &mut contacts).unwrap();
    assert_eq!(contacts, cubes.consistent(DepthParameters::default()).1);
    depth.find(&world.bodies, &other, &points, &mut contacts).unwrap();
    depth.find(&world.bodies, &world.positions, &points, &mut contacts).unwrap();
    assert_eq!(contacts, world.consistent(DepthParameters::default()).1);
    // Vertices that nothing uses are no points of a body, and do not keep it from being enclosed.
    let mut stray = Solid::new(icosphere(0.3, 1));
    stray.positions.push(Vector3::new(0.5, 0.0, 0.0));
    let mut world = World::default();
    world.surface(&cuboid(Vector3::repeat(4.0))).surface(&stray);
    let (depth, _) = world.consistent(DepthParameters::default());
    let [enclosed] = depth.enclosed() else { panic!("{:?}", depth.enclosed()) };
    assert!(enclosed.whole && enclosed.points.len() == 42);
}

#[test]
fn any_scene_any_precision_any_number_of_threads() {
    fn run<R: Real>(kind: crate::support::scenes::Kind) -> usize {
        let Scene { bodies, positions } = scene::<R>(kind, 9, 60);
        let results: Vec<_> = [1, 2, 5]
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let mut hits = Hits::default();
                    BruteForce
                        .detect(&bodies, &positions, Questions::default(), &mut hits)
                        .unwrap();
                    let (mut points, mut contacts) =
                        (CollidingPoints::default(), Contacts::default());
                    points.collect(&bodies, &positions, &hits).unwrap();
                    let mut depth = ConsistentDepth::default();
                    depth.find(&bodies, &positions, &points, &mut contacts).unwrap();
                    for contact in contacts.iter() {
                        let length = contact.direction.norm().to_f64();
                        assert!((length - 1.0).abs() < 1e-5, "{kind:?} {contact:?}");
                        assert!(
                            contact.depth >= R::zero() && contact.depth.is_finite(),
                            "{kind:?}"
                        );
                    }
                    assert_eq!(contacts.len() + depth.enclosed_points().len(), points.list().len());
                    let mut edges = Contacts::default();
                    EdgeDepth::default()
                        .find(&bodies, &positions, &hits, &points, &mut edges)
                        .unwrap();
                    contacts.merge(&edges);
                    contacts
                })
            })
            .to_vec();
        assert!(results[0] == results[1] && results[0] == results[2], "{kind:?}");
        results[0].len()
    }
    let mut found = 0;
    for kind in KINDS {
        found += run::<f32>(kind) + run::<f64>(kind);
    }
    assert!(found > 100, "{found}");
    // Many points, so that there is something to share.
    let mut world = World::default();
    world.surface(&Solid::new(icosphere(1.0, 5)));
    world.surface(&Solid::new(icosphere(1.0, 5)).map(|p| p + Vector3::new(0.7, 0.1, 0.0)));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (world.consistent(DepthParameters::default()).1, world.nearest()))
    };
    let one = run(1);
    assert!(one.0.len() > 4000, "{}", one.0.len());
    assert_eq!(one, run(2));
}
