//! Spatial hashing finds what brute force finds: no more, no less, bit for bit.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod scenes;

use defcol::detect::brute::BruteForce;
use defcol::detect::hash::{CellSize, HashFunction, Parameters, SpatialHash, TableSize};
use defcol::detect::{Detector, Hits, Questions};
use defcol::math::{Real, Vector3};
use defcol::state::Bodies;
use scenes::{KINDS, Kind, Random, Scene, scene};

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

fn all_parameters() -> Vec<Parameters> {
    let standard = Parameters::default();
    vec![
        standard,
        Parameters { function: HashFunction::Thesis, ..standard },
        Parameters { table: TableSize::Slots(16), ..standard },
        Parameters { table: TableSize::Slots(1 << 12), function: HashFunction::Thesis, ..standard },
        Parameters { cell: CellSize::TimesMeanExtent(0.2), ..standard },
        Parameters { cell: CellSize::TimesMeanExtent(7.0), levels: false, ..standard },
        Parameters { cell: CellSize::Length(1.0), ..standard },
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
    let (compared, found) = compare::<f64>(0..42, 40);
    assert!(compared > 1_000_000 && found > 10_000, "{compared} pairs, {found} hits");
}

#[test]
fn hashing_equals_brute_force_in_single_precision() {
    let (compared, found) = compare::<f32>(1000..1042, 40);
    assert!(compared > 1_000_000 && found > 10_000, "{compared} pairs, {found} hits");
}

/// The long test: `cargo test --release -p defcol --test hashing -- --ignored --nocapture`.
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
        for seed in 0..12 {
            let Scene { mut bodies, mut positions } = scene::<f64>(kind, seed, 25);
            let mut random = Random(seed + 77);
            let mut hash = SpatialHash::default();
            let mut rested = 0;
            for frame in 0..24 {
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
                let actual = hits(&mut hash, &bodies, &positions);
                rested += hash.statistics().resting;
                let expected = hits(&mut BruteForce, &bodies, &positions);
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
