//! Layered depth images: balance, points, self-overlap, combinations, open surfaces.

use crate::support::scenes::Random;
use crate::support::solids::{LATTICE, MAKES, Make, Solid, cuboid, rotation, star};
use defcol::detect::ldi::{
    Combination, ExactPoints, Generator, Ldi, ManyBodies, Operation, OverlapMeter, SampledPoints,
    SelfOverlap, Shell, Software, Start, View, connected_regions,
};
use defcol::error::DetectError;
use defcol::math::{Bounds, Vector3};
use defcol::mesh::solid_angle;
use defcol_scenes::regular::{icosphere, plane_patch, torus};

fn image(solid: &Solid, view: &View, start: Start) -> Ldi {
    let mut ldi = Ldi::default();
    let shell = Shell::new(&solid.positions, &solid.triangles).unwrap();
    Software::default().generate(&[shell], view, start, &mut ldi).unwrap();
    ldi
}

fn whole_view(solid: &Solid, axis: usize, resolution: u32) -> View {
    let shell = Shell::new(&solid.positions, &solid.triangles).unwrap();
    View::new(shell.bounds(), axis, resolution).unwrap()
}

/// The winding number around a point, which must not be on the surface.
fn winding(solid: &Solid, point: Vector3<f64>) -> f64 {
    let angle = solid_angle(point, &solid.positions, solid.triangles.iter().copied());
    angle / (4.0 * std::f64::consts::PI)
}

/// Counts the rays that do not have as many entries as exits, over random surfaces in random positions.
fn unbalanced_rays(meshes: usize, orientations: usize) -> (usize, usize, usize) {
    let mut random = Random(5);
    let (mut rays, mut crossed, mut unbalanced) = (0, 0, 0);
    for number in 0..meshes {
        let make = MAKES[number % MAKES.len()];
        let solid = make.solid(&mut random);
        for _ in 0..orientations {
            let turned = if make.on_lattice() {
                // The lattice stays one.
                let axes = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
                let (order, flip) = (axes[random.below(6)], random.bits());
                solid.clone().map(|p| {
                    let turn =
                        |k: usize| if flip >> k & 1 == 1 { LATTICE as f64 - p[k] } else { p[k] };
                    Vector3::new(turn(order[0]), turn(order[1]), turn(order[2]))
                })
            } else {
                solid.clone().rotated(rotation(&mut random))
            };
            for resolution in [16, 64, 256] {
                let axis = random.below(3);
                let mut shape = turned.clone();
                let view = if make.on_lattice() {
                    // Every corner is in the middle of a pixel, and edges run through many of them.
                    let pixels = f64::from(resolution);
                    let stride = f64::from(resolution / 2 / LATTICE as u32);
                    shape = shape.map(|p| p.map(|x| (x * stride + 0.5) / pixels));
                    View::new(
                        Bounds { min: Vector3::zeros(), max: Vector3::repeat(1.0) },
                        axis,
                        resolution,
                    )
                } else if random.chance(0.2) {
                    // A small part of it, so that corners are far away.
                    let place = shape.positions[random.below(shape.positions.len())];
                    let size = 10f64.powf(-1.0 - 6.0 * random.unit());
                    View::new(Bounds::of([place]).grown(size), axis, resolution)
                } else {
                    Ok(whole_view(&shape, axis, resolution))
                };
                // Nothing is left out with this start.
                let ldi = image(&shape, &view.unwrap(), Start::HalfInfinite);
                rays += ldi.view().pixels();
                crossed += (0..ldi.view().pixels()).filter(|&p| !ldi.pixel(p).is_empty()).count();
                unbalanced += ldi.unbalanced().count();
            }
        }
    }
    (rays, crossed, unbalanced)
}

#[test]
fn entries_equal_exits() {
    let (rays, crossed, unbalanced) = unbalanced_rays(90, 2);
    assert!(crossed > rays / 20, "{crossed} of {rays} rays meet a surface");
    assert_eq!(unbalanced, 0);
}

/// The long one: `cargo test --release -p defcol --test main detect::ldi:: -- --ignored entries_equal_exits`.
#[test]
#[ignore = "long: 120,000 images"]
fn entries_equal_exits_on_two_thousand_meshes_in_twenty_orientations() {
    let (rays, crossed, unbalanced) = unbalanced_rays(2007, 20);
    println!("{rays} rays, {crossed} of them meet a surface, {unbalanced} unbalanced");
    assert_eq!(unbalanced, 0);
}

#[test]
fn an_open_surface_is_unbalanced() {
    let mut solid = Solid::new(icosphere(1.0, 2));
    solid.triangles.pop();
    let ldi = image(&solid, &whole_view(&solid, 0, 64), Start::Near);
    let axes = (0..3).map(|axis| image(&solid, &whole_view(&solid, axis, 64), Start::Near));
    assert!(axes.map(|ldi| ldi.unbalanced().count()).sum::<usize>() > 0);
    drop(ldi);
    let shell = Shell::new(&solid.positions, &solid.triangles).unwrap();
    assert!(matches!(shell.check_closed(), Err(DetectError::OpenSurface { edges: 3, .. })));
}

#[test]
fn a_ball_has_the_volume_of_a_ball() {
    let ball = Solid::new(icosphere(1.0, 5));
    let exact = defcol::mesh::mass_properties(&ball.positions, &ball.triangles).volume;
    for axis in 0..3 {
        let ldi = image(&ball, &whole_view(&ball, axis, 128), Start::Near);
        let mut whole = Combination::default();
        whole.combine(Operation::Union, &[&ldi]).unwrap();
        let volume = whole.volume();
        assert!((volume.value - exact).abs() < volume.error, "{volume:?} against {exact}");
        assert!(volume.error < 0.01 * exact);
        assert_eq!(ldi.depth_complexity(), 2);
    }
}

#[test]
fn images_do_not_depend_on_threads() {
    let mut random = Random(2);
    let solid = Make::Crumpled.solid(&mut random);
    let large = Solid::new(torus(1.0, 0.4, 200, 100)).map(|p| p + random.vector() * 0.05);
    for solid in [solid, large] {
        let view = whole_view(&solid, 1, 100);
        let images: Vec<Ldi> = [1, 2, 3, 7]
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| image(&solid, &view, Start::Near))
            })
            .into();
        for other in &images[1..] {
            assert_eq!(images[0].fragments(), other.fragments());
            assert!((0..view.pixels()).all(|p| images[0].pixel(p) == other.pixel(p)));
        }
    }
}

#[test]
fn images_are_finer_than_their_coarsest_and_coarser_than_their_finest() {
    let ball = Solid::new(icosphere(1.0, 2));
    for resolution in [2, 3, 4096] {
        let ldi = image(&ball, &whole_view(&ball, 0, resolution), Start::Near);
        assert_eq!(ldi.unbalanced().count(), 0);
        assert!(!ldi.fragments().is_empty());
    }
    let bounds = Bounds { min: Vector3::zeros(), max: Vector3::repeat(1.0) };
    for resolution in [0, 1, 4097] {
        let refused = View::new(bounds, 0, resolution);
        assert!(matches!(refused, Err(DetectError::Resolution { .. })));
    }
}

#[test]
fn bad_input_is_refused_by_name() {
    let ball = Solid::new(icosphere(1.0, 1));
    for (value, axis) in [(f64::NAN, 0), (f64::INFINITY, 1), (-1e70, 2)] {
        for vertex in [0, 17, 41] {
            let mut positions = ball.positions.clone();
            positions[vertex][axis] = value;
            match Shell::new(&positions, &ball.triangles) {
                Err(DetectError::BadPosition { vertex: found, value: bad, .. }) => {
                    assert_eq!(found, vertex);
                    assert!(bad == value || value.is_nan());
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let wrong = Shell::new(&ball.positions[..41], &ball.triangles);
    assert!(matches!(wrong, Err(DetectError::NoSuchVertex { vertex: 41, vertices: 41, .. })));
    let empty = Shell::<f64>::new(&[], &[]).unwrap();
    let mut inside = vec![];
    ExactPoints::default().contains(&empty, &[Vector3::<f64>::zeros()], &mut inside).unwrap();
    assert_eq!(inside, [false]);
    let shell = Shell::new(&ball.positions, &ball.triangles).unwrap();
    let overlap = OverlapMeter::<Software>::default().three_axes(&shell, &empty, 64).unwrap();
    assert_eq!((overlap.volume.value, overlap.volume.error), (0.0, 0.0));
}

/// Points in and around a body, some of them on a lattice.
fn points(random: &mut Random, bounds: Bounds<f64>, count: usize) -> Vec<Vector3<f64>> {
    let (centre, half) = (bounds.center(), bounds.extent() * 0.55);
    (0..count).map(|_| centre + random.vector().component_mul(&half)).collect()
}

#[test]
fn exact_points_have_the_winding_number_of_the_solid_angle() {
    let mut random = Random(11);
    let (mut exact, mut found, mut inside) = (ExactPoints::default(), vec![], vec![]);
    let mut checked = 0;
    for number in 0..180 {
        let solid = MAKES[number % MAKES.len()].solid(&mut random);
        let solid = solid.rotated(rotation(&mut random));
        let shell = Shell::new(&solid.positions, &solid.triangles).unwrap();
        let mut points = points(&mut random, shell.bounds(), 60);
        // Very near to the surface as well.
        for _ in 0..60 {
            let [a, b, c] = shell.corners(random.below(solid.triangles.len()) as u32);
            let (s, t) = (random.unit(), random.unit());
            let (s, t) = if s + t > 1.0 { (1.0 - s, 1.0 - t) } else { (s, t) };
            points.push(a + (b - a) * s + (c - a) * t + random.vector() * 1e-4);
        }
        exact.windings(&shell, &points, &mut found).unwrap();
        exact.contains(&shell, &points, &mut inside).unwrap();
        for ((point, windings), &inside) in points.iter().zip(&found).zip(&inside) {
            let winding = winding(&solid, *point);
            if (winding - winding.round()).abs() < 1e-6 {
                checked += 1;
                let expected = winding.round() as i32;
                assert_eq!(
                    (windings.above, windings.below),
                    (expected, expected),
                    "{number} {point:?}"
                );
                assert_eq!(inside, expected != 0 || windings.on_surface);
            }
        }
    }
    assert!(checked > 10_000, "{checked}");
}

#[test]
fn exact_points_know_the_surface() {
    let mut random = Random(3);
    let (mut exact, mut found) = (ExactPoints::default(), vec![]);
    for _ in 0..20 {
        let solid = Make::Cells.solid(&mut random);
        let volume = defcol::mesh::mass_properties(&solid.positions, &solid.triangles).volume;
        let sign = if volume < 0.0 { -1 } else { 1 };
        let shell = Shell::new(&solid.positions, &solid.triangles).unwrap();
        // Every half step of the lattice: middles of cells, and points on faces, edges and corners.
        let half = 2 * LATTICE as u32;
        let points: Vec<Vector3<f64>> = (0..(half + 1).pow(3))
            .map(|k| [k / (half + 1) / (half + 1), k / (half + 1) % (half + 1), k % (half + 1)])
            .map(|k| Vector3::from(k.map(|k| f64::from(k) * 0.5)))
            .collect();
        exact.windings(&shell, &points, &mut found).unwrap();
        // The winding numbers of the cells, and of those around them.
        let side = LATTICE as i64 + 2;
        let known: Vec<i32> = (0..side.pow(3))
            .map(|k| [k / side / side, k / side % side, k % side])
            .map(|cell| winding(&solid, Vector3::from(cell.map(|k| k as f64 - 0.5))).round() as i32)
            .collect();
        let full = |cell: Vector3<f64>| {
            let [a, b, c] = [cell.x, cell.y, cell.z].map(|x| (x + 0.5) as i64);
            known[((a * side + b) * side + c) as usize]
        };
        for (point, windings) in points.iter().zip(&found) {
            // The cells around the point.
            let mut around = vec![];
            for corner in 0..8 {
                let side = |axis: usize| if corner >> axis & 1 == 0 { -0.5 } else { 0.5 };
                let cell =
                    point.map_with_location(
                        |axis, _, x| {
                            if x.fract() == 0.0 { x + side(axis) } else { x }
                        },
                    );
                around.push(full(cell));
            }
            let on_surface = around.iter().any(|w| *w != around[0]);
            assert_eq!(windings.on_surface, on_surface, "{point:?} {around:?}");
            if !on_surface {
                assert_eq!((windings.above, windings.below), (around[0], around[0]));
                assert!(around[0] == 0 || around[0] == sign);
            }
        }
    }
}

#[test]
fn vertices_are_on_their_surface() {
    // Every number of points there may be at the end of a block, in both precisions.
    let mut random = Random(77);
    let (mut exact, mut inside, mut windings) = (ExactPoints::default(), vec![], vec![]);
    for number in 0..30 {
        let solid = star(&mut random, 3).rotated(rotation(&mut random));
        let single: Vec<Vector3<f32>> =
            solid.positions.iter().map(|p| p.map(|x| x as f32)).collect();
        let shell = Shell::new(&solid.positions, &solid.triangles).unwrap();
        let single_shell = Shell::new(&single, &solid.triangles).unwrap();
        for count in [1 + number, 257 + number, solid.positions.len()] {
            exact.contains(&shell, &solid.positions[..count], &mut inside).unwrap();
            assert_eq!(inside, vec![true; count]);
            exact.contains(&single_shell, &single[..count], &mut inside).unwrap();
            assert_eq!(inside, vec![true; count]);
            exact.windings(&single_shell, &single[..count], &mut windings).unwrap();
            assert!(windings.iter().all(|windings| windings.on_surface));
        }
    }
}

#[test]
fn a_body_without_volume_is_all_surface() {
    let line = [[0, 0, 0], [2, 2, 4], [3, 3, 6], [1, 1, 2]];
    let sheet = [[0, 0, 1], [4, 0, 1], [0, 4, 1], [3, 3, 1]];
    let (mut exact, mut inside) = (ExactPoints::default(), vec![]);
    for (corners, on) in [(line, [0.5, 0.5, 1.0]), (sheet, [1.0, 2.0, 1.0])] {
        let corners = corners.map(|corner| Vector3::from(corner.map(f64::from)));
        let solid = crate::support::solids::tetrahedron(corners);
        let shell = Shell::new(&solid.positions, &solid.triangles).unwrap();
        let on = Vector3::from(on);
        let points = [on, corners[0], corners[3], on + Vector3::new(0.0, 0.0, 1e-9), on * 9.0];
        exact.contains(&shell, &points, &mut inside).unwrap();
        assert_eq!(inside, [true, true, true, false, false], "{corners:?}");
    }
}

#[test]
fn a_fold_of_an_open_surface_has_no_inside() {
    // Two sheets of a half-infinite surface in one place, whichever comes first in the list.
    let corners = [[-2.0, -2.0], [2.0, -2.0], [2.0, 2.0], [-2.0, 2.0]];
    let positions: Vec<Vector3<f64>> =
        corners.iter().map(|&[x, y]| Vector3::new(x, y, 0.0)).collect();
    let ground = [[0, 1, 2], [0, 2, 3]];
    for extra in [[[0, 1, 2], [0, 2, 1]], [[0, 2, 1], [0, 1, 2]]] {
        let triangles: Vec<[u32; 3]> = extra.into_iter().chain(ground).collect();
        let shell = Shell::new(&positions, &triangles).unwrap().half_infinite();
        let cube = cuboid(Vector3::repeat(1.0));
        let body = Shell::new(&cube.positions, &cube.triangles).unwrap();
        let mut meter = OverlapMeter::<Software>::default();
        let overlap = meter.three_axes(&body, &shell, 16).unwrap();
        assert!((overlap.volume.value - 0.5).abs() <= overlap.volume.error, "{overlap:?}");
        let refused = meter.three_axes(&shell, &shell, 16);
        assert_eq!(refused, Err(DetectError::TwoHalfInfinite));
    }
}

#[test]
fn corners_of_the_box_are_in_it() {
    let cube = cuboid(Vector3::repeat(2.0));
    let shell = Shell::new(&cube.positions, &cube.triangles).unwrap();
    let corners: Vec<Vector3<f64>> = (0..16)
        .map(|k| {
            let size = if k < 8 { 1.0 } else { 0.999 };
            Vector3::new(k & 1, k >> 1 & 1, k >> 2 & 1).map(|x| size * (2.0 * f64::from(x) - 1.0))
        })
        .collect();
    let (mut exact, mut inside, mut uncertain) = (ExactPoints::default(), vec![], vec![]);
    exact.contains(&shell, &corners, &mut inside).unwrap();
    assert_eq!(inside, [true; 16]);
    for resolution in [2, 3, 16, 17, 64, 2048, 4096] {
        for axis in 0..3 {
            let view = View::new(shell.bounds(), axis, resolution).unwrap();
            exact.uncertain(&shell, &view, &corners, &mut uncertain);
            assert_eq!(uncertain[..8], [true; 8], "{resolution}");
            SampledPoints::default().contains(
                &image(&cube, &view, Start::Near),
                &corners,
                &mut inside,
            );
            assert_eq!(inside[8..], [true; 8], "{resolution}");
        }
    }
}

#[test]
fn sampled_points_are_right_beyond_the_stated_error() {
    let mut random = Random(21);
    let (mut sampled, mut exact) = (SampledPoints::default(), ExactPoints::default());
    let (mut rough, mut right, mut wrong) = (vec![], vec![], 0);
    for number in 0..40 {
        let solid = [Make::Star, Make::Torus, Make::Crumpled][number % 3].solid(&mut random);
        let shell = Shell::new(&solid.positions, &solid.triangles).unwrap();
        let points = points(&mut random, shell.bounds(), 2000);
        exact.contains(&shell, &points, &mut right).unwrap();
        for resolution in [8, 32, 128] {
            let view = whole_view(&solid, number % 3, resolution);
            sampled.contains(&image(&solid, &view, Start::Near), &points, &mut rough);
            let error = view.sampling_error();
            for (point, (a, b)) in points.iter().zip(rough.iter().zip(&right)) {
                if a != b {
                    wrong += 1;
                    let distance = distance(&solid, *point);
                    assert!(distance < error, "wrong at {distance}, stated {error}");
                }
            }
        }
    }
    assert!(wrong > 1000, "{wrong}: the test would not notice an error that is stated too large");
}

fn distance(solid: &Solid, point: Vector3<f64>) -> f64 {
    let to = |triangle: &[u32; 3]| {
        let corners = triangle.map(|corner| solid.positions[corner as usize]);
        defcol::detect::primitive::point_triangle(point, corners, f64::INFINITY)
            .map_or(f64::INFINITY, |closest| closest.distance)
    };
    solid.triangles.iter().map(to).fold(f64::INFINITY, f64::min)
}

/// Compares the self-overlap of a body with winding numbers on a dense grid.
fn check_self_overlap(solid: &Solid, resolution: u32) {
    let shell = Shell::new(&solid.positions, &solid.triangles).unwrap();
    let bounds = shell.bounds();
    let steps = 72;
    let cell = bounds.extent() / f64::from(steps);
    let points: Vec<Vector3<f64>> = (0..steps * steps * steps)
        .map(|k| Vector3::new(k % steps, k / steps % steps, k / steps / steps))
        .map(|k| bounds.min + k.map(|k| f64::from(k) + 0.5).component_mul(&cell))
        .collect();
    let (mut exact, mut windings) = (ExactPoints::default(), vec![]);
    exact.windings(&shell, &points, &mut windings).unwrap();
    // The reference itself is compared with solid angles.
    for k in (0..points.len()).step_by(97) {
        let expected = winding(solid, points[k]).round() as i32;
        assert_eq!(windings[k].above, expected);
    }
    let cells = |wanted: &dyn Fn(i32) -> bool| {
        windings.iter().filter(|w| wanted(w.above)).count() as f64 * cell.x * cell.y * cell.z
    };
    let (twice, negative) = (cells(&|w| w >= 2), cells(&|w| w < 0));
    let mut overlap = SelfOverlap::default();
    for axis in 0..3 {
        let view = whole_view(solid, axis, resolution);
        let ldi = image(solid, &view, Start::Near);
        overlap.find(&ldi);
        let volume = overlap.volume(&ldi);
        let grid_error = 0.06 * twice + 0.005 * negative;
        let off = (volume.value - twice).abs();
        assert!(off < volume.error + grid_error, "{volume:?} against {twice}");
        assert!(twice > 0.0 && volume.error < 0.5 * twice);
        let inverted = overlap.inverted_volume(&ldi);
        assert!((inverted.value - negative).abs() < inverted.error + 0.06 * negative);
        // Regions add up, and every centre is near an overlap.
        let (labels, regions) = connected_regions(&view, overlap.overlapping());
        assert_eq!(labels.len(), overlap.overlapping().len());
        let sum: f64 = regions.iter().map(|region| region.volume).sum();
        assert!((sum - volume.value).abs() < 1e-9 * volume.value);
        assert!(!overlap.triangles().is_empty());
    }
    // Vertices: those of which one side has a winding number that no simple body has. Steps of several sizes
    // tell that no other sheet is just there.
    let vertices = overlap.vertices(&shell).unwrap().to_vec();
    assert!(!vertices.is_empty() && vertices.len() < solid.positions.len());
    let (normals, size) = (normals(solid), bounds.extent().norm());
    let mut checked = 0;
    for (vertex, normal) in normals.iter().enumerate().step_by(3) {
        let takes_part = [1e-3, 1e-4, 1e-5].map(|step| {
            [step, -step].iter().any(|side| {
                let point = solid.positions[vertex] + normal * (side * size);
                !(0..2).contains(&(winding(solid, point).round() as i32))
            })
        });
        if takes_part[0] == takes_part[1] && takes_part[1] == takes_part[2] {
            checked += 1;
            let found = vertices.binary_search(&(vertex as u32)).is_ok();
            assert_eq!(found, takes_part[0], "vertex {vertex}");
        }
    }
    assert!(checked > normals.len() / 4, "{checked}");
}

fn normals(solid: &Solid) -> Vec<Vector3<f64>> {
    let mut normals = vec![Vector3::zeros(); solid.positions.len()];
    for triangle in &solid.triangles {
        let [a, b, c] = triangle.map(|corner| solid.positions[corner as usize]);
        for corner in triangle {
            normals[*corner as usize] += (b - a).cross(&(c - a));
        }
    }
    normals.iter().map(|normal| normal.normalize()).collect()
}

#[test]
fn a_pinched_torus_overlaps_itself() {
    // One side of the ring is pressed into the opposite one.
    let pinched = Solid::new(torus(1.0, 0.4, 96, 48)).map(|p| {
        let press = 1.7 * (-8.0 * p.y * p.y).exp() * p.x.clamp(0.0, 0.6) / 0.6;
        Vector3::new(p.x - press, p.y, p.z)
    });
    check_self_overlap(&pinched, 96);
}

#[test]
fn a_folded_hand_overlaps_itself() {
    let hand = defcol_scenes::models::find("hand").unwrap().surface(4800).unwrap();
    let hand = Solid::new(hand);
    let bounds = Bounds::of(hand.positions.iter().copied());
    // Everything beyond the middle of the longest side is bent over by half a turn.
    let axis = bounds.extent().imax();
    let across = bounds.extent().imin();
    let (middle, thick) = (bounds.center(), bounds.extent()[across]);
    let folded = hand.map(|p| {
        let t = (p[axis] - middle[axis]).max(0.0);
        let radius = 0.25 * thick;
        let angle = (t / radius).min(std::f64::consts::PI);
        let rest = t - angle * radius;
        let away = p[across] - middle[across] - radius;
        let mut q = *p;
        q[axis] = p[axis].min(middle[axis]) - away * angle.sin() + rest * angle.cos();
        q[across] = middle[across] + radius + away * angle.cos() + rest * angle.sin();
        q
    });
    check_self_overlap(&folded, 96);
}

#[test]
fn an_inverted_ball_is_found() {
    let ball = Solid::new(icosphere(1.0, 3)).inside_out();
    let ldi = image(&ball, &whole_view(&ball, 2, 64), Start::Near);
    let mut overlap = SelfOverlap::default();
    overlap.find(&ldi);
    assert!(overlap.overlapping().is_empty());
    let exact = -defcol::mesh::mass_properties(&ball.positions, &ball.triangles).volume;
    let volume = overlap.inverted_volume(&ldi);
    assert!((volume.value - exact).abs() < volume.error);
    let shell = Shell::new(&ball.positions, &ball.triangles).unwrap();
    assert_eq!(overlap.vertices(&shell).unwrap().len(), ball.positions.len());
}

#[test]
fn a_simple_body_does_not_overlap_itself() {
    let mut random = Random(8);
    let mut overlap = SelfOverlap::default();
    for _ in 0..20 {
        let solid = star(&mut random, 3).rotated(rotation(&mut random));
        let ldi = image(&solid, &whole_view(&solid, 0, 64), Start::Near);
        overlap.find(&ldi);
        assert!(overlap.overlapping().is_empty() && overlap.inverted().is_empty());
        let shell = Shell::new(&solid.positions, &solid.triangles).unwrap();
        assert!(overlap.vertices(&shell).unwrap().is_empty());
    }
}

#[test]
fn two_overlaps_are_two_regions() {
    // A bar through two walls.
    let bar = cuboid(Vector3::new(6.0, 1.0, 1.0));
    let mut walls = cuboid(Vector3::new(0.5, 4.0, 4.0)).map(|p| p - Vector3::new(1.5, 0.0, 0.0));
    walls.add(&cuboid(Vector3::new(1.0, 4.0, 4.0)).map(|p| p + Vector3::new(1.5, 0.0, 0.0)));
    let [a, b] = [&bar, &walls].map(|s| Shell::new(&s.positions, &s.triangles).unwrap());
    let mut meter = OverlapMeter::<Software>::default();
    let overlap = meter.three_axes(&a, &b, 128).unwrap();
    assert!((overlap.volume.value - 1.5).abs() < overlap.volume.error);
    let combination = meter.combination();
    let view = *meter.images()[0].view();
    let (_, regions) = connected_regions(&view, combination.intervals());
    assert_eq!(regions.len(), 2);
    let mut found: Vec<(f64, f64)> = regions.iter().map(|r| (r.centroid.x, r.volume)).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    for ((x, volume), (place, size)) in found.into_iter().zip([(-1.5, 0.5), (1.5, 1.0)]) {
        assert!((x - place).abs() < 0.05 && (volume - size).abs() < 0.1, "{x} {volume}");
    }
}

#[test]
fn combinations_of_many_bodies() {
    // Three cubes in a row, each overlapping the next by a quarter.
    let cubes = [0.0, 0.75, 1.5]
        .map(|x| cuboid(Vector3::repeat(1.0)).map(|p| p + Vector3::new(x, 0.0, 0.0)));
    let bounds = Bounds { min: Vector3::new(-1.0, -1.0, -1.0), max: Vector3::new(3.0, 1.0, 1.0) };
    let view = View::new(bounds, 0, 64).unwrap();
    let images = cubes.each_ref().map(|cube| image(cube, &view, Start::Near));
    let all: Vec<&Ldi> = images.iter().collect();
    let mut result = Combination::default();
    let mut volume = |operation, images: &[&Ldi]| {
        result.combine(operation, images).unwrap();
        result.volume().value
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
    near(volume(Operation::Union, &all), 2.5);
    near(volume(Operation::Intersection, &all[..2]), 0.25);
    near(volume(Operation::Intersection, &all), 0.0);
    near(volume(Operation::Difference, &all[..2]), 0.75);
    near(volume(Operation::Difference, &[all[1], all[0], all[2]]), 0.5);
    // Bodies that touch are one piece.
    let touching = cuboid(Vector3::repeat(1.0)).map(|p| p + Vector3::new(1.0, 0.0, 0.0));
    let touching = image(&touching, &view, Start::Near);
    near(volume(Operation::Union, &[all[0], &touching]), 2.0);
    assert!(result.intervals().chunk_by(|a, b| a.pixel == b.pixel).all(|ray| ray.len() == 1));
    let other = View::new(bounds, 1, 64).unwrap();
    let other = image(&cubes[0], &other, Start::Near);
    let refused = result.combine(Operation::Union, &[all[0], &other]);
    assert_eq!(refused, Err(DetectError::DifferentViews));
}

#[test]
fn many_bodies_in_one_pass_are_all_pairs() {
    let mut random = Random(31);
    for _ in 0..20 {
        let bodies: Vec<Solid> = (0..6)
            .map(|_| {
                let place = random.vector() * 1.2;
                star(&mut random, 2).rotated(rotation(&mut random)).map(|p| p * 0.7 + place)
            })
            .collect();
        let shells: Vec<Shell<f64>> =
            bodies.iter().map(|b| Shell::new(&b.positions, &b.triangles).unwrap()).collect();
        let mut many = ManyBodies::<Software>::default();
        let may = |a: u32, b: u32| !(a + b).is_multiple_of(5);
        let pairs = many.overlaps(&shells, 128, may).unwrap().to_vec();
        let mut meter = OverlapMeter::<Software>::default();
        for a in 0..6u32 {
            for b in a + 1..6 {
                let single =
                    meter.three_axes(&shells[a as usize], &shells[b as usize], 128).unwrap();
                let found = pairs.iter().find(|pair| pair.bodies == [a, b]);
                if !may(a, b) {
                    assert!(found.is_none());
                    continue;
                }
                let (value, error) =
                    found.map_or((0.0, 1e-3), |pair| (pair.volume.value, pair.volume.error));
                let off = (value - single.volume.value).abs();
                assert!(off <= error + single.volume.error, "{a} {b}: {value} {:?}", single.volume);
            }
        }
        assert!(pairs.is_sorted_by_key(|pair| pair.bodies));
    }
}

#[test]
fn a_ground_is_half_infinite() {
    // A ball of radius 1 whose centre is at height 0.3 over a ground that is much larger.
    let ball = Solid::new(icosphere(1.0, 4)).map(|p| p + Vector3::new(0.0, 0.0, 0.3));
    let patch = plane_patch([20, 20], 1.0);
    let centre = Bounds::of(patch.positions.iter().copied()).center();
    let ground = Solid::new(patch).map(|p| p - centre);
    let up = normals(&ground)[0];
    assert!(up.z > 0.9, "the patch faces up");
    let [ball_shell, ground_shell] =
        [&ball, &ground].map(|s| Shell::new(&s.positions, &s.triangles).unwrap());
    let mut meter = OverlapMeter::<Software>::default();
    let overlap = meter.three_axes(&ball_shell, &ground_shell.half_infinite(), 128).unwrap();
    let height: f64 = 0.7;
    let cap = std::f64::consts::PI * height * height * (1.0 - height / 3.0);
    assert!((overlap.volume.value - cap).abs() < overlap.volume.error + 0.01 * cap, "{overlap:?}");
    // A ball that is deep below does not meet the surface any more, but is all inside.
    let deep = ball.clone().map(|p| p - Vector3::new(0.0, 0.0, 30.0));
    let deep_shell = Shell::new(&deep.positions, &deep.triangles).unwrap();
    let whole = meter.three_axes(&deep_shell, &ground_shell.half_infinite(), 128).unwrap();
    let volume = defcol::mesh::mass_properties(&ball.positions, &ball.triangles).volume;
    assert!((whole.volume.value - volume).abs() < whole.volume.error, "{whole:?} {volume}");
    let above = ball.clone().map(|p| p + Vector3::new(0.0, 0.0, 30.0));
    let above_shell = Shell::new(&above.positions, &above.triangles).unwrap();
    let none = meter.three_axes(&above_shell, &ground_shell.half_infinite(), 128).unwrap();
    assert_eq!(none.volume.value, 0.0);
    assert!(ground_shell.check_closed().is_err());
}

#[test]
fn a_bag_is_half_infinite_outside() {
    // The lower part of a ball, turned inside out: what is outside of it is solid.
    let mut bag = Solid::new(icosphere(2.0, 4)).inside_out();
    let positions = bag.positions.clone();
    bag.triangles.retain(|t| t.iter().all(|&corner| positions[corner as usize].z < 0.5));
    let ball = Solid::new(icosphere(0.5, 4));
    let mut meter = OverlapMeter::<Software>::default();
    let bag_shell = Shell::new(&bag.positions, &bag.triangles).unwrap().half_infinite();
    let full = defcol::mesh::mass_properties(&ball.positions, &ball.triangles).volume;
    for (place, share) in [(Vector3::new(0.3, 0.0, -0.5), 0.0), (Vector3::new(0.0, 0.0, -3.0), 1.0)]
    {
        let moved = ball.clone().map(|p| p + place);
        let shell = Shell::new(&moved.positions, &moved.triangles).unwrap();
        let overlap = meter.three_axes(&shell, &bag_shell, 64).unwrap().volume;
        assert!((overlap.value - share * full).abs() <= overlap.error, "{place:?} {overlap:?}");
    }
}

#[test]
fn an_open_surface_can_be_measured_as_it_is() {
    let mut ball = Solid::new(icosphere(1.0, 3));
    ball.triangles.truncate(ball.triangles.len() - 4);
    let cube = cuboid(Vector3::repeat(1.0));
    let [a, b] = [&ball, &cube].map(|s| Shell::new(&s.positions, &s.triangles).unwrap());
    let mut meter = OverlapMeter::<Software>::default();
    let overlap = meter.three_axes(&a.measured_as_it_is(), &b, 64).unwrap();
    assert!(overlap.unbalanced > 0, "{overlap:?}");
    assert!((overlap.volume.value - 1.0).abs() < 0.1);
}
