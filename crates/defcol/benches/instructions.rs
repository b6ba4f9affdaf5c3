//! Instructions of the hot loops, counted by callgrind: the same on a busy machine as on a quiet one. A limit
//! that is exceeded fails the run. `cargo xtask instructions` checks for the tools and runs this.
#![allow(missing_docs, reason = "a program, not a library")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use defcol::broad::{Proxy, SweepAndPrune};
use defcol::detect::bvh::{Collider, PairFinder, Split, Update};
use defcol::detect::hash::{HashParameters, SpatialHash};
use defcol::detect::ldi::{ExactPoints, Generator, Ldi, Shell, Software, Start, View};
use defcol::detect::{Detector, Hits, Questions, SelfPairs};
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TriangleMesh};
use defcol::state::{Bodies, Body};
use defcol_scenes::heap::{Heap, rods};
use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};

struct Warm {
    bodies: Bodies,
    positions: Vec<Vector3<f32>>,
    hash: SpatialHash<f32>,
    hits: Hits<f32>,
    questions: Questions,
}

fn single(heap: &Heap) -> Vec<Vector3<f32>> {
    heap.positions.iter().map(|p| p.map(|x| x as f32)).collect()
}

/// A heap of four rods that the detector has seen before. All work is done on this thread, the only one that
/// is counted.
fn warm(questions: Questions) -> Warm {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    // A second call in one process finds the pool there already.
    let _ = pool.build_global();
    let heap = rods(4);
    let parameters = HashParameters { keep_resting: false, ..HashParameters::default() };
    let mut warm = Warm {
        positions: single(&heap),
        bodies: heap.bodies,
        hash: SpatialHash::with(parameters),
        hits: Hits::default(),
        questions,
    };
    call(&mut warm);
    call(&mut warm);
    warm
}

fn points() -> Warm {
    warm(Questions { points_in_tetrahedra: true, edges_through_triangles: false })
}

fn edges() -> Warm {
    warm(Questions { points_in_tetrahedra: false, edges_through_triangles: true })
}

fn call(warm: &mut Warm) {
    warm.hash.detect(&warm.bodies, &warm.positions, warm.questions, &mut warm.hits).unwrap();
}

/// About a quarter more than was counted when the limit was set, which leaves room for other compilers.
fn limit(instructions: u64) -> LibraryBenchmarkConfig {
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().hard_limits([(EventKind::Ir, instructions)]));
    config
}

#[library_benchmark]
#[bench::rods(args = (points()), config = limit(5_000_000))]
fn points_in_tetrahedra(mut warm: Warm) -> Warm {
    call(black_box(&mut warm));
    warm
}

#[library_benchmark]
#[bench::rods(args = (edges()), config = limit(60_000_000))]
fn edges_through_triangles(mut warm: Warm) -> Warm {
    call(black_box(&mut warm));
    warm
}

type Boxes = (SweepAndPrune<f32>, Vec<Proxy<f32>>);

/// Two hundred boxes that moved a little since the last call.
fn boxes() -> Boxes {
    let heap = rods(200);
    let mut bounds = vec![];
    heap.bodies.bounds(&single(&heap), &mut bounds);
    let bodies = heap.bodies.list().iter().zip(bounds);
    let proxy = |(body, bounds): (&Body, _)| Proxy { bounds, collides: body.collides };
    let mut proxies: Vec<_> = bodies.map(proxy).collect();
    let mut sweep = SweepAndPrune::default();
    sweep.update(&proxies);
    for (number, proxy) in proxies.iter_mut().enumerate() {
        let step = Vector3::repeat(0.001 * (number % 7) as f32);
        proxy.bounds.min += step;
        proxy.bounds.max += step;
    }
    (sweep, proxies)
}

#[library_benchmark]
#[bench::rods(args = (boxes()), config = limit(1_100_000))]
fn sweep_and_prune((mut sweep, proxies): Boxes) -> Boxes {
    black_box(sweep.update(black_box(&proxies)));
    (sweep, proxies)
}

/// A ball of 5,120 triangles, what looks at it, and points in its box.
struct Ball {
    mesh: RawMesh<f32>,
    points: Vec<Vector3<f32>>,
    generator: Software,
    ldi: Ldi,
    exact: ExactPoints,
    inside: Vec<bool>,
}

/// A ball that was seen before.
fn ball() -> Ball {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    let _ = pool.build_global();
    let mesh = defcol_scenes::regular::icosphere(1.0, 4).cast::<f32>();
    let points = (0..8000u32).map(|k| Vector3::new(k % 20, k / 20 % 20, k / 400));
    let points = points.map(|p| p.map(|x| x as f32 * 0.1 - 0.95)).collect();
    let mut ball = Ball {
        mesh,
        points,
        generator: Software::default(),
        ldi: Ldi::default(),
        exact: ExactPoints::default(),
        inside: vec![],
    };
    look(&mut ball);
    ask(&mut ball);
    ball
}

fn look(ball: &mut Ball) {
    let shell = Shell::new(&ball.mesh.positions, &ball.mesh.triangles).unwrap();
    let view = View::new(shell.bounds(), 0, 64).unwrap();
    ball.generator.generate(&[shell], &view, Start::Near, &mut ball.ldi).unwrap();
}

fn ask(ball: &mut Ball) {
    let shell = Shell::new(&ball.mesh.positions, &ball.mesh.triangles).unwrap();
    ball.exact.contains(&shell, &ball.points, &mut ball.inside).unwrap();
}

#[library_benchmark]
#[bench::ball(args = (ball()), config = limit(4_400_000))]
fn image_of_a_ball(mut ball: Ball) -> Ball {
    look(black_box(&mut ball));
    ball
}

#[library_benchmark]
#[bench::ball(args = (ball()), config = limit(18_500_000))]
fn exact_points_in_a_ball(mut ball: Ball) -> Ball {
    ask(black_box(&mut ball));
    ball
}

/// Two balls of 5,120 triangles that cut each other, and what finds where.
struct Balls {
    bodies: [Collider<f32>; 3],
    moved: Vec<Vector3<f32>>,
    finder: PairFinder<f32>,
    pairs: Vec<[u32; 2]>,
    own: SelfPairs,
}

/// Balls that were seen before.
fn balls() -> Balls {
    let mesh = TriangleMesh::new(defcol_scenes::regular::icosphere(1.0, 4).cast::<f32>()).unwrap();
    let shift = Vector3::new(1.2, 0.3, 0.1);
    let mut balls = Balls {
        bodies: [(); 3].map(|()| Collider::deforming(&mesh, Split::default())),
        moved: mesh.positions().iter().map(|p| p + shift).collect(),
        finder: PairFinder::default(),
        pairs: vec![],
        own: SelfPairs::default(),
    };
    cut(&mut balls);
    crumple(&mut balls);
    balls
}

fn cut(balls: &mut Balls) {
    let [first, second, _] = &mut balls.bodies;
    second.set_positions(&balls.moved, Update::Hybrid).unwrap();
    balls.finder.all(first, second, &mut balls.pairs);
}

fn crumple(balls: &mut Balls) {
    let [.., third] = &mut balls.bodies;
    third.set_positions(&balls.moved, Update::Full).unwrap();
    balls.finder.self_pairs(third, &mut balls.own);
}

#[library_benchmark]
#[bench::balls(args = (balls()), config = limit(2_000_000))]
fn triangles_of_two_balls(mut balls: Balls) -> Balls {
    cut(black_box(&mut balls));
    balls
}

#[library_benchmark]
#[bench::ball(args = (balls()), config = limit(6_500_000))]
fn triangles_of_a_ball_with_itself(mut balls: Balls) -> Balls {
    crumple(black_box(&mut balls));
    balls
}

library_benchmark_group!(
    name = hot_loops,
    benchmarks = [
        points_in_tetrahedra,
        edges_through_triangles,
        sweep_and_prune,
        image_of_a_ball,
        exact_points_in_a_ball,
        triangles_of_two_balls,
        triangles_of_a_ball_with_itself
    ]
);
main!(library_benchmark_groups = hot_loops);
