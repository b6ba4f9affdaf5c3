//! Spatial hashing finds what brute force finds: no more, no less, bit for bit.

use crate::support::scenes::{KINDS, Kind, Random, Scene, scene};
use defcol::detect::brute::BruteForce;
use defcol::detect::hash::{CellSize, HashFunction, HashParameters, SpatialHash, TableSize};
use defcol::detect::{Detector, Hits, Questions};
use defcol::error::DetectError;
use defcol::math::{Real, Vector3};
use defcol::mesh::{RawMesh, TetMesh, TriangleMesh};
use defcol::state::{Bodies, Collides};

fn hits<R: Real>(
    detector: &mut impl Detector<R>,
    bodies: &Bodies,
    positions: &[Vector3<R>],
) -> Hits<R> {
    let mut hits = Hits::default();
    detector.detect(bodies, positions, Questions::default(), &mut hits).unwrap();
    hits
}

/// Fails with the first hit that differs.
fn assert_same<R: Real>(actual: &Hits<R>, expected: &Hits<R>, what: &str) {
    for (a, b) in actual.points.iter().zip(&expected.points) {
        assert_eq!(a, b, "{what}");
    }
    for (a, b) in actual.edges.iter().zip(&expected.edges) {
        assert_eq!(a, b, "{what}");
    }
    assert_eq!(actual.points.len(), expected.points.len(), "{what}");
    assert_eq!(actual.edges.len(), expected.edges.len(), "{what}");
}

/// Primitive pairs that brute force compares.
fn pairs<R: Real>(Scene { bodies, positions }: &Scene<R>) -> usize {
    bodies.tetrahedra().len() * positions.len() + bodies.triangles().len() * bodies.edges().len()
}

fn all_parameters() -> Vec<HashParameters> {
    let standard = HashParameters::default();
    vec![
        standard,
        HashParameters { function: HashFunction::Thesis, ..standard },
        HashParameters { table: TableSize::Slots(16), ..standard },
        HashParameters {
            table: TableSize::Slots(1 << 12),
            function: HashFunction::Thesis,
            ..standard
        },
        HashParameters { cell: CellSize::TimesMeanExtent(0.2), ..standard },
        HashParameters { cell: CellSize::TimesMeanExtent(7.0), levels: false, ..standard },
        HashParameters { cell: CellSize::Length(1.0), ..standard },
        HashParameters { cell: CellSize::TimesMeanExtent(0.05), levels: false, ..standard },
        HashParameters { cell: CellSize::Length(1e-4), levels: false, ..standard },
    ]
}

/// Compares on scenes of all kinds; returns how many pairs were compared and how many hits there were.
fn compare<R: Real>(seeds: std::ops::Range<u64>, count: usize) -> (usize, usize) {
    let (mut compared, mut found) = (0, 0);
    for seed in seeds {
        for kind in KINDS {
            let scene = scene::<R>(kind, seed, count);
            let expected = hits(&mut BruteForce, &scene.bodies, &scene.positions);
            let parameters = all_parameters()[seed as usize % all_parameters().len()];
            let mut hash = SpatialHash::with(parameters);
            let actual = hits(&mut hash, &scene.bodies, &scene.positions);
            assert_same(&actual, &expected, &format!("{kind:?}, seed {seed}, {parameters:?}"));
            compared += pairs(&scene);
            found += expected.points.len() + expected.edges.len();
        }
    }
    (compared, found)
}

#[test]
fn hashing_equals_brute_force_in_double_precision() {
    let (compared, found) = compare::<f64>(0..28, 40);
    assert!(compared > 1_000_000 && found > 10_000, "{compared} pairs, {found} hits");
}

#[test]
fn hashing_equals_brute_force_in_single_precision() {
    let (compared, found) = compare::<f32>(1000..1028, 40);
    assert!(compared > 1_000_000 && found > 10_000, "{compared} pairs, {found} hits");
}

/// The long test: `cargo test --release -p defcol --test main detect::hash:: -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes; run by name"]
fn hashing_equals_brute_force_in_ten_million_pairs() {
    let (single, single_hits) = compare::<f32>(5000..5280, 60);
    let (double, double_hits) = compare::<f64>(6000..6280, 60);
    let (large, large_hits) = compare::<f64>(7000..7002, 300);
    println!(
        "{single} + {double} + {large} pairs compared, {} hits",
        single_hits + double_hits + large_hits
    );
    assert!(single.min(double) > 10_000_000);
}

#[test]
fn results_do_not_depend_on_earlier_calls_or_resting_bodies() {
    for kind in [Kind::Soup, Kind::Lattice, Kind::Sizes] {
        for seed in 0..8 {
            let Scene { mut bodies, mut positions } = scene::<f64>(kind, seed, 25);
            let mut random = Random(seed + 77);
            let parameters = all_parameters()[seed as usize % all_parameters().len()];
            let mut hash = SpatialHash::with(parameters);
            let mut rested = 0;
            for frame in 0..36 {
                // Now and then everything stays, one body moves, changes its mind, or goes.
                match random.below(12) {
                    0 | 1 => {
                        let body = random.below(bodies.len());
                        let shift = random.vector();
                        let range = bodies.list()[body].vertices.clone();
                        positions[range].iter_mut().for_each(|p| *p += shift);
                    }
                    2 => {
                        let body = random.below(bodies.len());
                        let vertex = bodies.list()[body].vertices.start;
                        positions[vertex] += random.vector() * 0.1;
                    }
                    3 => {
                        let body = random.below(bodies.len());
                        let mut collides = bodies.list()[body].collides;
                        collides.with_itself = random.chance(0.5);
                        collides.enabled = random.chance(0.8);
                        bodies.set_collides(body, collides);
                    }
                    4 if frame > 12 && bodies.len() > 1 => {
                        let removed = bodies.remove(random.below(bodies.len()));
                        positions.drain(removed);
                    }
                    5 => positions.iter_mut().for_each(|p| *p *= 1.5),
                    _ => {}
                }
                // For some frames only one question is asked.
                let questions = match frame / 6 % 3 {
                    0 => Questions { points_in_tetrahedra: true, edges_through_triangles: false },
                    1 => Questions { points_in_tetrahedra: false, edges_through_triangles: true },
                    _ => Questions::default(),
                };
                let (mut actual, mut expected) = (Hits::default(), Hits::default());
                hash.detect(&bodies, &positions, questions, &mut actual).unwrap();
                BruteForce.detect(&bodies, &positions, questions, &mut expected).unwrap();
                rested += hash.statistics().resting;
                assert_same(&actual, &expected, &format!("{kind:?}, seed {seed}, frame {frame}"));
            }
            assert!(rested > 0, "nothing ever rested");
        }
    }
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let scene = scene::<f32>(Kind::Soup, 5, 1500);
    let detect = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| hits(&mut SpatialHash::default(), &scene.bodies, &scene.positions))
    };
    let one = detect(1);
    assert!(one.points.len() > 1000 && one.edges.len() > 1000);
    for threads in [2, 3, 8] {
        assert!(detect(threads) == one, "{threads} threads");
    }
}

#[test]
fn a_triangle_across_a_million_million_cells_is_cheap() {
    let surface = |positions: Vec<Vector3<f64>>| {
        let triangles =
            (0..positions.len() as u32 / 3).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        TriangleMesh::new(RawMesh { positions, triangles, tetrahedra: vec![] }).unwrap()
    };
    // Two thousand small triangles near a plane, and one that spans 10^6 of their cells along each axis.
    let mut random = Random(9);
    let small: Vec<_> = (0..2000)
        .flat_map(|_| {
            let mut place = random.vector() * 50.0;
            place.z *= 0.01;
            [0, 1, 2].map(|_| place + random.vector())
        })
        .collect();
    let large =
        [[-1e6, -1e6, -1e5], [1e6, -1e6, -1e5], [0.0, 2e6, 2e5]].map(Vector3::from).to_vec();
    let (small, large) = (surface(small), surface(large));
    let mut bodies = Bodies::default();
    bodies.add_surface(&small, Collides::with_all_and_itself());
    bodies.add_surface(&large, Collides::default());
    let positions = [small.positions(), large.positions()].concat();
    let mut hash = SpatialHash::default();
    let actual = hits(&mut hash, &bodies, &positions);
    assert_same(&actual, &hits(&mut BruteForce, &bodies, &positions), "large triangle");
    assert!(actual.edges.iter().filter(|hit| hit.triangle == 2000).count() > 100);
    let statistics = hash.statistics();
    assert!(
        (1..100_000).contains(&statistics.slots) && statistics.entries < 200_000,
        "{statistics:?}"
    );
}

#[test]
fn sizes_that_differ_by_a_thousand_take_linear_time() {
    // Half of the tetrahedra are a thousand times larger than the others. Work per tetrahedron stays.
    let work = |count: usize| {
        let mut random = Random(11);
        let side = (count as f64).cbrt();
        let mut raw = RawMesh::default();
        for number in 0..count as u32 {
            let size = if number % 2 == 0 { 1.0 } else { 1e-3 };
            let place = Vector3::from_fn(|_, _| random.unit() * side);
            raw.positions.extend((0..4).map(|_| place + random.vector() * size));
            raw.tetrahedra.push([0, 1, 2, 3].map(|k| 4 * number + k));
        }
        let positions: Vec<Vector3<f64>> = raw.positions.clone();
        let mut bodies = Bodies::default();
        bodies.add_solid(&TetMesh::new(raw).unwrap(), Collides::with_all_and_itself());
        let mut hash = SpatialHash::default();
        let questions = Questions { points_in_tetrahedra: true, edges_through_triangles: false };
        hash.detect(&bodies, &positions, questions, &mut Hits::default()).unwrap();
        assert_eq!(hash.statistics().levels, 2);
        hash.statistics().entries as f64 / count as f64
    };
    let (few, many) = (work(4_000), work(64_000));
    assert!(many < 1.5 * few, "{few} and {many} box tests per tetrahedron");
}

#[test]
fn bad_positions_are_refused_with_their_place() {
    let Scene { bodies, mut positions } = scene::<f32>(Kind::Soup, 3, 10);
    let mut hash = SpatialHash::default();
    let mut detect = |positions: &[Vector3<f32>]| {
        hash.detect(&bodies, positions, Questions::default(), &mut Hits::default())
    };
    let error = detect(&positions[1..]).unwrap_err();
    assert!(matches!(error, DetectError::PositionCount { .. }), "{error}");
    let vertex = bodies.list()[0].vertices.start + 3;
    for bad in [f32::NAN, f32::INFINITY, -1e13] {
        let good = std::mem::replace(&mut positions[vertex].y, bad);
        let error = detect(&positions).unwrap_err();
        assert!(matches!(error, DetectError::BadPosition { body: 0, vertex: 3, .. }), "{error}");
        positions[vertex].y = good;
    }
    detect(&positions).unwrap();
    // Nothing at all is fine.
    let nothing: &[Vector3<f32>] = &[];
    SpatialHash::default()
        .detect(&Bodies::default(), nothing, Questions::default(), &mut Hits::default())
        .unwrap();
}
