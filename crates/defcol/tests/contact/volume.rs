//! Volume contact against exact volumes, finite differences and the laws of mechanics.

use crate::support::scenes::Random;
use crate::support::solids::{MAKES, Solid, cuboid, star};
use defcol::contact::volume::VolumeContact;
use defcol::contact::{Contact, Contacts, Source};
use defcol::detect::ldi::{
    Combination, End, Generator, Ldi, Operation, Shell, Software, Start, View,
};
use defcol::error::DetectError;
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TetMesh, TriangleMesh};
use defcol::state::{Bodies, Collides};
use defcol_scenes::regular::{box_grid, icosphere, plane_patch};
use defcol_scenes::traversal::traversals;
use nalgebra::Rotation3;

type Meter = VolumeContact<Software>;

fn bodies_of(solids: &[&Solid]) -> (Bodies, Vec<Vector3<f64>>) {
    let (mut bodies, mut positions) = (Bodies::default(), Vec::new());
    for solid in solids {
        let raw = RawMesh {
            positions: solid.positions.clone(),
            triangles: solid.triangles.clone(),
            ..RawMesh::default()
        };
        bodies.add_surface(&TriangleMesh::new(raw).unwrap(), Collides::with_all_and_itself());
        positions.extend(&solid.positions);
    }
    (bodies, positions)
}

fn ball(levels: u32, at: [f64; 3]) -> Solid {
    let at = Vector3::from(at);
    Solid::new(icosphere(1.0, levels)).map(|p| p + at)
}

type Plane = (Vector3<f64>, f64);

fn plane([a, b, c]: [Vector3<f64>; 3]) -> Plane {
    let normal = (b - a).cross(&(c - a)).normalize();
    (normal, normal.dot(&a))
}

/// Six times the volume of the cone from the origin to the part of a triangle that is below all planes.
fn cone_below(triangle: [Vector3<f64>; 3], planes: &[Plane]) -> f64 {
    let mut polygon = triangle.to_vec();
    for (normal, offset) in planes {
        let height: Vec<f64> = polygon.iter().map(|p| normal.dot(p) - offset).collect();
        if height.iter().all(|&h| h <= 0.0) {
            continue;
        }
        let mut below = Vec::with_capacity(polygon.len() + 1);
        for k in 0..polygon.len() {
            let next = (k + 1) % polygon.len();
            if height[k] <= 0.0 {
                below.push(polygon[k]);
            }
            if (height[k] < 0.0) != (height[next] < 0.0) && height[k] != height[next] {
                let t = height[k] / (height[k] - height[next]);
                below.push(polygon[k] + (polygon[next] - polygon[k]) * t);
            }
        }
        polygon = below;
        if polygon.len() < 3 {
            return 0.0;
        }
    }
    let [a, b, c] = triangle;
    let normal = (b - a).cross(&(c - a)).normalize();
    let fan = polygon[1..].windows(2);
    let area: f64 = fan.map(|e| (e[0] - polygon[0]).cross(&(e[1] - polygon[0])).dot(&normal)).sum();
    area * normal.dot(&a)
}

/// The volume that a tetrahedron, with the sign of its orientation, has in common with a convex body.
fn common_volume(corners: [Vector3<f64>; 4], convex: &[([Vector3<f64>; 3], Plane)]) -> f64 {
    let [a, b, c, d] = corners;
    let volume = (b - a).cross(&(c - a)).dot(&(d - a));
    let [b, c] = if volume > 0.0 { [b, c] } else { [c, b] };
    let faces = [[a, c, b], [a, b, d], [b, c, d], [c, a, d]];
    let below = |(normal, offset): &Plane, point: &Vector3<f64>| normal.dot(point) <= *offset;
    if convex.iter().all(|(_, plane)| corners.iter().all(|corner| below(plane, corner))) {
        return volume / 6.0;
    }
    let planes: Vec<Plane> = convex.iter().map(|(_, plane)| *plane).collect();
    if planes.iter().any(|plane| corners.iter().all(|corner| !below(plane, corner))) {
        return 0.0;
    }
    let own: Vec<Plane> = faces.iter().map(|face| plane(*face)).collect();
    let sides: f64 = faces.iter().map(|face| cone_below(*face, &planes)).sum();
    let outside = |face: &[Vector3<f64>; 3]| {
        own.iter().any(|plane| face.iter().all(|corner| !below(plane, corner)))
    };
    let caps = convex.iter().filter(|(face, _)| !outside(face));
    let caps: f64 = caps.map(|(face, _)| cone_below(*face, &own)).sum();
    (sides + caps) / 6.0 * volume.signum()
}

/// The exact overlap of a surface, seen from a point around which it is a star, with a convex one.
struct Exact<'a> {
    of: &'a Solid,
    centre: Vector3<f64>,
    convex: Vec<([Vector3<f64>; 3], Plane)>,
}

impl<'a> Exact<'a> {
    fn new(of: &'a Solid, centre: Vector3<f64>, convex: &Solid) -> Self {
        let face = |t: &[u32; 3]| {
            let corners = t.map(|corner| convex.positions[corner as usize]);
            (corners, plane(corners))
        };
        Self { of, centre, convex: convex.triangles.iter().map(face).collect() }
    }

    fn volume(&self, some: impl Iterator<Item = usize>, moved: u32, by: Vector3<f64>) -> f64 {
        let part = |t: usize| {
            let [a, b, c] = self.of.triangles[t].map(|corner| {
                let shift = if corner == moved { by } else { Vector3::zeros() };
                self.of.positions[corner as usize] + shift
            });
            common_volume([self.centre, a, b, c], &self.convex)
        };
        some.map(part).sum()
    }

    /// Central differences.
    fn gradient(&self) -> Vec<Vector3<f64>> {
        let h = 1e-5;
        (0..self.of.positions.len() as u32)
            .map(|vertex| {
                let around: Vec<usize> = (0..self.of.triangles.len())
                    .filter(|&t| self.of.triangles[t].contains(&vertex))
                    .collect();
                Vector3::from_fn(|axis, _| {
                    let mut step = Vector3::zeros();
                    step[axis] = h;
                    let there = self.volume(around.iter().copied(), vertex, step);
                    let back = self.volume(around.iter().copied(), vertex, -step);
                    (there - back) / (2.0 * h)
                })
            })
            .collect()
    }
}

fn dense(meter: &Meter, vertices: usize) -> Vec<Vector3<f64>> {
    let mut gradient = vec![Vector3::zeros(); vertices];
    for share in meter.vertices() {
        gradient[share.vertex as usize] = share.gradient;
    }
    gradient
}

/// The mean error of a gradient, as a share of the mean length of the true one.
fn mean_error(found: &[Vector3<f64>], exact: &[Vector3<f64>]) -> f64 {
    let error: f64 = found.iter().zip(exact).map(|(a, b)| (a - b).norm()).sum();
    error / exact.iter().map(|g| g.norm()).sum::<f64>()
}

#[test]
fn the_gradient_is_that_of_the_exact_volume() {
    let mut random = Random(7);
    let (first, second) = (ball(3, [0.0; 3]), ball(2, [1.1, 0.3, -0.2]));
    let bumpy = star(&mut random, 3);
    for (name, a, b) in [("balls", &first, &second), ("star and ball", &bumpy, &second)] {
        let (bodies, positions) = bodies_of(&[a, b]);
        let of_first = Exact::new(a, Vector3::zeros(), b).gradient();
        let mut errors = Vec::new();
        for resolution in [32, 64, 128, 256, 512] {
            let mut meter = Meter::default();
            meter.pair(&bodies, &positions, [0, 1], resolution).unwrap();
            let exact = Exact::new(a, Vector3::zeros(), b);
            let volume = exact.volume(0..a.triangles.len(), u32::MAX, Vector3::zeros());
            assert!((meter.volume().value - volume).abs() <= meter.volume().error, "{name}");
            let found = dense(&meter, positions.len());
            errors.push(mean_error(&found[..a.positions.len()], &of_first));
        }
        println!("{name}: {errors:?}");
        assert!(errors[3] < 0.01, "{name}: {errors:?}");
        assert!(errors.windows(2).all(|pair| pair[1] < 0.75 * pair[0]), "{name}: {errors:?}");
    }
    // The other body: both are convex, so the roles can be exchanged.
    let (bodies, positions) = bodies_of(&[&first, &second]);
    let mut meter = Meter::default();
    meter.pair(&bodies, &positions, [0, 1], 256).unwrap();
    let found = dense(&meter, positions.len());
    let centre = Vector3::new(1.1, 0.3, -0.2);
    let exact = Exact::new(&second, centre, &first).gradient();
    assert!(exact.iter().any(|g| g.norm() > 0.0));
    let error = mean_error(&found[first.positions.len()..], &exact);
    assert!(error < 0.01, "{error}");
}

#[test]
fn forces_and_torques_are_balanced() {
    let mut random = Random(3);
    let mut worst = [0.0f64; 2];
    for case in 0..20 {
        let a = star(&mut random, 3);
        let shift = random.vector().normalize() * 1.2;
        let b = star(&mut random, 3)
            .rotated(crate::support::solids::rotation(&mut random))
            .map(|p| p + shift);
        let (bodies, positions) = bodies_of(&[&a, &b]);
        let mut meter = Meter::default();
        meter.pair(&bodies, &positions, [0, 1], 64).unwrap();
        let [first, second] = [0, 1].map(|body| meter.net_force(body, 3.0));
        assert!(first.norm() > 0.0, "{case}");
        assert!((first + second).norm() <= 1e-10 * first.norm(), "{case}: {first} {second}");
        // The forces on the vertices say the same.
        let mut forces = vec![Vector3::zeros(); positions.len()];
        meter.add_forces(3.0, &mut forces);
        let sum: Vector3<f64> = forces[..a.positions.len()].iter().sum();
        assert!((sum - first).norm() <= 1e-10 * first.norm(), "{case}");
        assert!(first.dot(&shift) < 0.0, "{case}: the first one is pushed away from the second");
        for about in [Vector3::zeros(), random.vector() * 3.0] {
            let torque = |body: u32| meter.net_torque(body, about, &positions, 3.0);
            let rest = (torque(0) + torque(1)).norm();
            let from_vertices: Vector3<f64> =
                positions.iter().zip(&forces).map(|(p, f)| (p - about).cross(f)).sum();
            worst[0] = worst[0].max(rest / first.norm());
            worst[1] = worst[1].max((from_vertices - torque(0) - torque(1)).norm() / first.norm());
        }
    }
    println!("torque left over, as a lever of the force: {worst:?}");
    // Rays end where vertices are snapped: a 2^24th of the view.
    assert!(worst[0] < 1e-6 && worst[1] < 1e-9, "{worst:?}");
}

#[test]
fn one_image_of_both_bodies_says_the_same_as_two() {
    let mut random = Random(11);
    let mut pieces = 0;
    for make in MAKES {
        for case in 0..30 {
            let scale = if make.on_lattice() { 1.0 } else { 4.0 };
            let place = |solid: Solid| solid.map(|p| p * scale);
            let (a, b) = (place(make.solid(&mut random)), place(make.solid(&mut random)));
            let shift =
                if make.on_lattice() { Vector3::new(1.0, 2.0, 0.0) } else { random.vector() };
            let b = b.map(|p| p + shift);
            let shells = [&a, &b].map(|s| Shell::new(&s.positions, &s.triangles).unwrap());
            let bounds = shells[0].bounds().intersection(shells[1].bounds());
            if bounds.is_empty() || bounds.extent().min() <= 0.0 {
                continue;
            }
            for (axis, start) in [(0, Start::Near), (1, Start::Far), (2, Start::Near)] {
                // A little longer, so that no side is at an end of the rays.
                let mut longer = bounds;
                longer.min[axis] -= 0.01;
                longer.max[axis] += 0.01;
                let view = View::new(longer, axis, 16).unwrap();
                let (mut software, mut images) =
                    (Software::default(), [(); 3].map(|()| Ldi::default()));
                software.generate(&shells[..1], &view, start, &mut images[0]).unwrap();
                software.generate(&shells[1..], &view, start, &mut images[1]).unwrap();
                software.generate(&shells, &view, start, &mut images[2]).unwrap();
                let (mut two, mut one) = (Combination::default(), Combination::default());
                two.combine(Operation::Intersection, &[&images[0], &images[1]]).unwrap();
                one.intersect_within(&images[2], a.triangles.len() as u32);
                // Who bounds them too, unless that is a matter of which of several triangles.
                let key = |c: &Combination| -> Vec<_> {
                    let body = |end: End| end.crossing.map(|(body, _)| body);
                    let ends = c.intervals().iter();
                    ends.map(|i| (i.pixel, [i.from.depth, i.to.depth], [body(i.from), body(i.to)]))
                        .collect()
                };
                assert!(key(&one) == key(&two), "{make:?} {case} {axis}");
                pieces += one.intervals().len();
            }
        }
    }
    assert!(pieces > 10_000, "{pieces}");
}

#[test]
fn a_body_that_overlaps_itself_is_pushed_apart() {
    let (a, b) = (ball(3, [0.0; 3]), ball(3, [1.2, 0.1, 0.0]));
    let mut both = a.clone();
    both.add(&b);
    let (one, positions) = bodies_of(&[&both]);
    let (two, _) = bodies_of(&[&a, &b]);
    let (mut own, mut pair) = (Meter::default(), Meter::default());
    own.own(&one, &positions, 0, 512).unwrap();
    pair.pair(&two, &positions, [0, 1], 256).unwrap();
    let [found, expected] = [dense(&own, positions.len()), dense(&pair, positions.len())];
    let error = mean_error(&found, &expected);
    assert!(error < 0.02, "{error}");
    let difference = (own.volume().value - pair.volume().value).abs();
    assert!(difference <= own.volume().error + pair.volume().error);
    let patches = own.patches(1.0);
    assert_eq!(patches.len(), 1);
    assert!(patches[0].normal.x.abs() > 0.98, "{:?}", patches[0]);
    let radius_squared = 1.0 - 0.25 * (1.2f64.powi(2) + 0.1f64.powi(2));
    let area = std::f64::consts::PI * radius_squared;
    assert!((patches[0].area - area).abs() < 0.1 * area, "{} {area}", patches[0].area);
    // One ball alone does not.
    let (alone, positions) = bodies_of(&[&a]);
    own.own(&alone, &positions, 0, 64).unwrap();
    assert!(own.volume().value == 0.0 && own.vertices().is_empty() && own.patches(1.0).is_empty());
}

/// A table with four legs that stand a little in the ground.
fn table_on_ground(deep: f64) -> (Bodies, Vec<Vector3<f64>>) {
    let ground = cuboid(Vector3::new(10.0, 10.0, 2.0)).map(|p| p - Vector3::new(0.0, 0.0, 1.0));
    let mut table = cuboid(Vector3::new(4.0, 4.0, 0.5)).map(|p| p + Vector3::new(0.0, 0.0, 2.0));
    for (x, y) in [(-1.5, -1.5), (1.5, -1.5), (-1.5, 1.5), (1.5, 1.5)] {
        let leg = cuboid(Vector3::new(0.4, 0.6, 2.0));
        table.add(&leg.map(|p| p + Vector3::new(x, y, 1.0 - deep)));
    }
    bodies_of(&[&table, &ground])
}

#[test]
fn each_foot_of_a_table_is_a_patch() {
    let (bodies, positions) = table_on_ground(0.05);
    let mut meter = Meter::default();
    meter.pair(&bodies, &positions, [0, 1], 256).unwrap();
    let patches = meter.patches(1.0);
    assert_eq!(patches.len(), 4, "{patches:?}");
    let mut volume = 0.0;
    for patch in &patches {
        assert!((patch.area - 0.24).abs() < 0.01, "{patch:?}");
        assert!((patch.normal - Vector3::z()).norm() < 0.03, "{patch:?}");
        assert!((patch.centroid.x.abs() - 1.5).abs() < 0.01, "{patch:?}");
        assert!((patch.centroid.z + 0.025).abs() < 0.001, "{patch:?}");
        volume += patch.volume;
    }
    assert!((volume - meter.volume().value).abs() < 1e-9 * volume);
    let force: Vector3<f64> = meter.patches(5.0).iter().map(|patch| patch.force).sum();
    assert!((force - meter.net_force(0, 5.0)).norm() < 1e-9 * force.norm());
    assert!(meter.patches(5.0).iter().all(|patch| patch.pressure == meter.pressure(5.0)));
    let shares: f64 = meter.vertices().iter().map(|share| share.volume).sum();
    assert!((shares - volume).abs() < 1e-9 * volume, "{shares} {volume}");
    // The record says so too.
    let mut contacts = Contacts::default();
    meter.contacts(&bodies, &positions, &mut contacts);
    let upwards = contacts.iter().filter(|c| c.bodies == [0, 1] && c.direction.z > 0.8);
    assert_eq!(upwards.count(), 16);
    assert!(contacts.iter().all(|c| c.source == Source::Volume && c.depth >= 0.0));
    assert!(contacts.first().windows(2).all(|pair| pair[0].vertices < pair[1].vertices));
}

/// A bar, a block behind its end and a block beside it stand in a slab, far from the origin. Rays near the end of the bar are
/// closer to the centroid of the first block than to that of the bar.
#[test]
fn rays_belong_to_the_patch_they_are_in_not_to_the_nearest() {
    let part = |low: [f64; 3], high: [f64; 3]| {
        let [low, high] = [low, high].map(Vector3::from);
        cuboid(high - low).map(|p| p + (low + high) * 0.5)
    };
    let mut feet = part([-2.0, -0.2, 0.0], [1.5, 1.0, 0.2]);
    feet.add(&part([1.7, -0.2, 0.0], [1.9, 1.0, 0.2]));
    feet.add(&part([-2.0, -0.2, 1.0], [-1.8, 1.0, 1.2]));
    let slab = part([-2.5, -1.0, -1.0], [2.5, 0.0, 1.5]);
    for turn in 0..3 {
        // Cyclic permutations of the axes, so that every axis is once that of the normal.
        let place = |p: &Vector3<f64>| {
            Vector3::from_fn(|row, _| p[(row + turn) % 3]) + Vector3::new(7.0, -11.0, 13.0)
        };
        let (bodies, positions) = bodies_of(&[&feet.clone().map(place), &slab.clone().map(place)]);
        let mut meter = Meter::default();
        meter.pair(&bodies, &positions, [0, 1], 256).unwrap();
        let mut patches = meter.patches(1.0);
        patches.sort_by(|a, b| a.volume.total_cmp(&b.volume));
        assert_eq!(patches.len(), 3, "turn {turn}: {patches:?}");
        for (patch, area) in patches.iter().zip([0.04, 0.04, 0.7]) {
            assert!((patch.area / area - 1.0).abs() < 0.05, "turn {turn}: {patch:?}");
            let force = patch.pressure * area;
            assert!((patch.force.norm() / force - 1.0).abs() < 0.05, "turn {turn}: {patch:?}");
        }
    }
}

#[test]
fn pressure_is_even_within_a_contact() {
    let lower = TetMesh::new(box_grid([8, 8, 2], 0.25)).unwrap();
    let surface = lower.surface().mesh();
    let lower = Solid::new(RawMesh {
        positions: surface.positions().to_vec(),
        triangles: surface.triangles().to_vec(),
        ..RawMesh::default()
    });
    // One and a half wide: its border is in the middle of cells of the lower one.
    let upper = cuboid(Vector3::new(1.45, 1.45, 1.0)).map(|p| p + Vector3::new(1.0, 1.0, 0.98));
    let (bodies, positions) = bodies_of(&[&upper, &lower]);
    let mut meter = Meter::default();
    meter.pair(&bodies, &positions, [0, 1], 256).unwrap();
    let mut pressures = Vec::new();
    meter.pressures(bodies.triangles(), &positions, 10.0, &mut pressures);
    let even = meter.pressure(10.0);
    assert!((even - 10.0 * 1.45 * 1.45 * 0.02).abs() < 1e-3 * even, "{even}");
    let inner = |p: &Vector3<f64>| {
        p.z > 0.49 && p.z < 0.51 && (p - Vector3::new(1.0, 1.0, 0.5)).amax() < 0.4
    };
    let mut seen = 0;
    for (position, pressure) in positions.iter().zip(&pressures).skip(upper.positions.len()) {
        if inner(position) {
            seen += 1;
            assert!((pressure - even).abs() < 0.02 * even, "{position} {pressure} {even}");
        }
        if (position - Vector3::new(1.0, 1.0, 0.5)).amax() > 0.99 {
            assert_eq!(*pressure, 0.0);
        }
    }
    assert!(seen >= 9, "{seen}");
}

#[test]
fn friction_is_against_sliding_and_turns_with_the_scene() {
    // Two blocks, one on the other, overlapping by 0.01 over an area of one.
    let lower = cuboid(Vector3::new(3.0, 3.0, 1.0));
    let upper = cuboid(Vector3::new(1.0, 1.0, 1.0)).map(|p| p + Vector3::new(0.0, 0.0, 0.99));
    let velocity = Vector3::new(0.3, -0.2, 0.1);
    let mut random = Random(5);
    for turn in 0..6 {
        let rotation = if turn == 0 {
            Rotation3::identity()
        } else {
            crate::support::solids::rotation(&mut random)
        };
        let (bodies, positions) =
            bodies_of(&[&upper.clone().rotated(rotation), &lower.clone().rotated(rotation)]);
        let mut meter = Meter::default();
        meter.pair(&bodies, &positions, [0, 1], 256).unwrap();
        let split = upper.positions.len();
        let mut velocities = vec![Vector3::zeros(); positions.len()];
        velocities[..split].fill(rotation * velocity);
        let mut forces = vec![Vector3::zeros(); positions.len()];
        meter.add_friction(&velocities, 2.0, &mut forces);
        let [above, below] =
            [&forces[..split], &forces[split..]].map(|some| some.iter().sum::<Vector3<f64>>());
        assert!((above + below).norm() < 1e-12 * above.norm(), "{turn}");
        // The bottom slides over an area of one; the sides, 0.01 high, do so too.
        let expected = rotation * Vector3::new(-0.6, 0.4, 0.0);
        assert!((above - expected).norm() < 0.05 * expected.norm(), "{turn}: {above} {expected}");
        // Moving together there is none.
        velocities.fill(Vector3::new(1.0, 2.0, 3.0));
        forces.fill(Vector3::zeros());
        meter.add_friction(&velocities, 2.0, &mut forces);
        assert!(forces.iter().all(|force| force.norm() < 1e-12));
    }
}

#[test]
fn the_stiffness_acts_like_its_matrix() {
    let (a, b) = (ball(1, [0.0; 3]), ball(1, [1.2, 0.2, 0.1]));
    let (bodies, positions) = bodies_of(&[&a, &b]);
    let mut meter = Meter::default();
    meter.pair(&bodies, &positions, [0, 1], 64).unwrap();
    let gradient = dense(&meter, positions.len());
    let mut random = Random(1);
    for _ in 0..5 {
        let vector: Vec<_> = positions.iter().map(|_| random.vector()).collect();
        let mut product = vec![Vector3::zeros(); positions.len()];
        meter.add_stiffness_times(7.0, &vector, &mut product);
        for (row, found) in product.iter().enumerate() {
            // One row of the matrix, entry by entry.
            let expected = Vector3::from_fn(|axis, _| {
                let entries = gradient.iter().zip(&vector);
                entries.map(|(g, v)| -7.0 * gradient[row][axis] * g.dot(v)).sum::<f64>()
            });
            assert!((found - expected).norm() <= 1e-12 * (1.0 + expected.norm()));
        }
    }
    // To first order, the pressure of a body that is moved as a whole changes by it.
    let step = Vector3::new(1e-3, 0.0, 0.0);
    let mut moved = positions.clone();
    moved[..a.positions.len()].iter_mut().for_each(|p| *p += step);
    let mut shifted = Meter::default();
    shifted.pair(&bodies, &moved, [0, 1], 512).unwrap();
    meter.pair(&bodies, &positions, [0, 1], 512).unwrap();
    let gradient = dense(&meter, positions.len());
    let along: f64 = gradient[..a.positions.len()].iter().map(|g| g.dot(&step)).sum();
    let change = shifted.volume().value - meter.volume().value;
    assert!((along - change).abs() < 0.02 * change.abs(), "{along} {change}");
}

#[test]
fn forces_on_the_way_through_obstacles_are_those_of_the_paper() {
    // FAURE08 figure 6.
    for scene in traversals() {
        let [moving, obstacle] = [&scene.moving, &scene.obstacle].map(|m| Solid::new(m.clone()));
        let (bodies, mut positions) = bodies_of(&[&moving, &obstacle]);
        let [from, to] = scene.way();
        let (steps, resolution) = (240, 128);
        let mut meter = Meter::default();
        let (mut forces, mut exact, mut inside) = (vec![], vec![], 0);
        for step in 0..=steps {
            // Not where sides are in one plane.
            let x = from + (to - from) * (f64::from(step) + 0.37) / f64::from(steps);
            let moved: Vec<_> = scene.moved(x).collect();
            positions[..moved.len()].copy_from_slice(&moved);
            meter.pair(&bodies, &positions, [0, 1], resolution).unwrap();
            let force = meter.net_force(0, 1.0);
            assert!(force.yz().norm() < 0.01, "{}: {force}", scene.name);
            let [volume, growth] = scene.exact(x);
            assert!((meter.volume().value - volume).abs() <= 0.01, "{} {x}", scene.name);
            if scene.is_inside(x) {
                inside += 1;
                assert_eq!(force.x, 0.0, "{} {x}", scene.name);
            }
            forces.push(force.x);
            exact.push(-volume * growth);
        }
        let largest = exact.iter().copied().fold(0.0, f64::max);
        let error = forces.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let jump = forces.windows(2).map(|p| (p[1] - p[0]).abs()).fold(0.0, f64::max);
        println!("{}: error {} jump {}", scene.name, error / largest, jump / largest);
        assert!(error < 0.03 * largest, "{}: {error} {largest}", scene.name);
        // Continuous but where the cube's side leaves the box's from within.
        assert_eq!(jump > 0.5 * largest, scene.name.starts_with("cube"), "{}: {jump}", scene.name);
        assert!(scene.name.starts_with("cube") || jump < 0.1 * largest, "{}: {jump}", scene.name);
        assert_eq!(inside > 10, scene.thickness > 1.0);
        // Repelled to the side it is on.
        assert!(forces[20] < 0.0 && forces[steps as usize - 20] > 0.0);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let mut random = Random(23);
    let (a, b) = (star(&mut random, 4), ball(4, [1.0, 0.4, 0.0]));
    let (bodies, positions) = bodies_of(&[&a, &b]);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut meter = Meter::default();
            meter.pair(&bodies, &positions, [0, 1], 128).unwrap();
            let gradient: Vec<_> = meter.vertices().to_vec();
            let pair = (meter.volume(), gradient, meter.patches(1.0));
            meter.own(&bodies, &positions, 0, 128).unwrap();
            (pair, meter.volume(), meter.vertices().to_vec())
        })
    };
    let one = run(1);
    assert!(one.0.1.len() > 100);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

#[test]
fn bad_input_is_refused_and_nothing_stays() {
    let (a, b) = (ball(1, [0.0; 3]), ball(1, [1.2, 0.0, 0.0]));
    let (bodies, positions) = bodies_of(&[&a, &b]);
    let mut meter = Meter::default();
    meter.pair(&bodies, &positions, [0, 1], 64).unwrap();
    assert!(!meter.vertices().is_empty());
    assert!(matches!(
        meter.pair(&bodies, &positions[1..], [0, 1], 64),
        Err(DetectError::PositionCount { .. })
    ));
    assert!(matches!(
        meter.pair(&bodies, &positions, [0, 1], 1),
        Err(DetectError::Resolution { .. })
    ));
    assert!(matches!(
        meter.pair(&bodies, &positions, [0, 2], 64),
        Err(DetectError::NoSuchBody { body: 2, bodies: 2 })
    ));
    meter.pair(&bodies, &positions, [1, 1], 64).unwrap();
    assert!(meter.bodies() == [1, 1] && meter.volume().value == 0.0);
    let mut bad = positions.clone();
    bad[50].y = f64::NAN;
    assert!(matches!(
        meter.pair(&bodies, &bad, [0, 1], 64),
        Err(DetectError::BadPosition { body: 1, .. })
    ));
    // Nothing of before stays.
    assert!(meter.vertices().is_empty() && meter.patches(1.0).is_empty());
    assert!(meter.volume().value == 0.0 && meter.net_force(0, 1.0).norm() == 0.0);
    let mut open = Bodies::default();
    let sheet = TriangleMesh::new(plane_patch([4, 4], 0.5)).unwrap();
    open.add_surface(&sheet, Collides::default());
    open.add_surface(&sheet, Collides::default());
    let twice: Vec<_> = [sheet.positions(), sheet.positions()].concat();
    for _ in 0..2 {
        let found = meter.pair(&open, &twice, [0, 1], 64);
        assert!(matches!(found, Err(DetectError::OpenSurface { .. })));
    }
    // Apart.
    let far: Vec<_> = (0..)
        .zip(&positions)
        .map(|(k, p)| p + Vector3::x() * if k < a.positions.len() { 0.0 } else { 5.0 })
        .collect();
    meter.pair(&bodies, &far, [0, 1], 64).unwrap();
    assert!(meter.volume().value == 0.0 && meter.vertices().is_empty());
    assert!(meter.patches(1.0).is_empty() && meter.net_force(0, 1.0).norm() == 0.0);
}

#[test]
fn sides_in_one_plane_do_not_push_along_them() {
    let cube = cuboid(Vector3::repeat(1.0));
    for shift in [[0.5, 0.0, 0.0], [0.0, -0.25, 0.0], [0.0, 0.0, 0.75]].map(Vector3::from) {
        let moved = cube.clone().map(|p| p + shift);
        let (bodies, positions) = bodies_of(&[&cube, &moved]);
        let mut meter = Meter::default();
        meter.pair(&bodies, &positions, [0, 1], 64).unwrap();
        let force = meter.net_force(0, 1.0) / meter.volume().value;
        assert!((force + shift.normalize()).norm() < 1e-6, "{shift} {force}");
        let [patch] = meter.patches(1.0)[..] else { panic!("{:?}", meter.patches(1.0)) };
        assert!((patch.area - 1.0).abs() < 1e-6, "{patch:?}");
    }
    // The very same cube is nowhere pushed.
    let (bodies, positions) = bodies_of(&[&cube, &cube]);
    let mut meter = Meter::default();
    meter.pair(&bodies, &positions, [0, 1], 64).unwrap();
    assert!((meter.volume().value - 1.0).abs() < 1e-6);
    assert!(meter.net_force(0, 1.0).norm() < 1e-9);
}

#[test]
fn contacts_of_volumes_take_hold_of_both_bodies() {
    let (a, b) = (ball(3, [0.0; 3]), ball(3, [1.5, 0.0, 0.0]));
    let (bodies, positions) = bodies_of(&[&a, &b]);
    let mut meter = Meter::default();
    meter.pair(&bodies, &positions, [0, 1], 128).unwrap();
    let mut contacts = Contacts::default();
    meter.contacts(&bodies, &positions, &mut contacts);
    // At the rim, rays may pass both sides of one ball.
    let both = |contact: &Contact<f64>| contact.bodies[0] != contact.bodies[1];
    let area = |some: &dyn Fn(&Contact<f64>) -> bool| -> f64 {
        contacts.iter().filter(some).map(|contact| contact.area).sum()
    };
    assert!(contacts.len() > 30 && area(&both) > 0.99 * area(&|_| true));
    for contact in contacts.iter().filter(both) {
        let [_, other] = contact.bodies;
        for (vertex, _) in contact.second.parts() {
            assert_eq!(bodies.body_of(vertex) as u32, other, "{contact:?}");
        }
        assert!(contact.depth < 0.6, "{contact:?}");
        // Opposite each other.
        let there = contact.second.blend(&positions);
        assert!((there - contact.position).norm() < 1.0, "{contact:?}");
    }
}
