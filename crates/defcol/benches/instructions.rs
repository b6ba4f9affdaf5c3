//! Instructions of the hot loops, counted by callgrind: the same on a busy machine as on a quiet one. A limit
//! that is exceeded fails the run. `cargo xtask instructions` checks for the tools and runs this.
#![allow(missing_docs, reason = "a program, not a library")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use defcol::broad::{Proxy, SweepAndPrune};
use defcol::detect::hash::{Parameters, SpatialHash};
use defcol::detect::{Detector, Hits, Questions};
use defcol::math::Vector3;
use defcol::state::Bodies;
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
    let parameters = Parameters { keep_resting: false, ..Parameters::default() };
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
    let (mut bounds, mut proxies) = (vec![], vec![]);
    heap.bodies.bounds(&single(&heap), &mut bounds);
    Proxy::collect(&heap.bodies, &bounds, &mut proxies);
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

library_benchmark_group!(
    name = hot_loops,
    benchmarks = [points_in_tetrahedra, edges_through_triangles, sweep_and_prune]
);
main!(library_benchmark_groups = hot_loops);
