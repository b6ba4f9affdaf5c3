//! Once a detector has seen a scene, a call allocates nothing.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "an allocator that counts must implement GlobalAlloc")]

mod scenes;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use defcol::broad::{Proxy, SweepAndPrune};
use defcol::detect::hash::SpatialHash;
use defcol::detect::ldi::{
    ExactPoints, Generator, Ldi, OverlapMeter, SampledPoints, SelfOverlap, Shell, Software, Start,
    View,
};
use defcol::detect::{Detector, Hits, Questions};
use defcol::math::Vector3;
use defcol_scenes::heap::{Heap, rods};
use scenes::{Kind, Scene, scene};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = COUNT.load(Ordering::Relaxed);
    work();
    COUNT.load(Ordering::Relaxed) - before
}

/// One test: other tests in this program would be counted too.
#[test]
fn nothing_is_allocated_after_warm_up() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| {
        let Heap { bodies, positions } = rods(4);
        moving_scene(&bodies, positions, "rods");
        for kind in [Kind::Soup, Kind::Sizes, Kind::Giant] {
            let Scene { bodies, positions } = scene::<f64>(kind, 4, 100);
            moving_scene(&bodies, positions, &format!("{kind:?}"));
        }
        moving_balls();
    });
}

fn moving_scene(bodies: &defcol::state::Bodies, mut positions: Vec<Vector3<f64>>, what: &str) {
    let mut hash = SpatialHash::default();
    let mut hits = Hits::default();
    let mut sweep = SweepAndPrune::default();
    let (mut boxes, mut proxies) = (Vec::new(), Vec::new());
    let mut step = |positions: &mut [Vector3<f64>], frame: usize| {
        // To and fro, then at rest.
        let shift = [0.01, 0.0, -0.01, 0.0, 0.0, 0.0, 0.0, 0.0][frame % 8];
        positions.iter_mut().for_each(|p| p.x += shift);
        bodies.bounds(positions, &mut boxes);
        Proxy::collect(bodies, &boxes, &mut proxies);
        sweep.update(&proxies);
        hash.detect(bodies, positions, Questions::default(), &mut hits).unwrap();
    };
    for frame in 0..32 {
        step(&mut positions, frame);
    }
    let mut count = usize::MAX;
    // Threads share work differently from call to call; a call that allocates nothing shows that none has to.
    for round in 0..4 {
        count = count.min(allocations(|| {
            for frame in 0..8 {
                step(&mut positions, 8 * round + frame);
            }
        }));
    }
    assert_eq!(count, 0, "{what}: allocations in eight calls");
    assert!(!hits.points.is_empty() || !hits.edges.is_empty());
}

/// Two balls that move through each other: images, volumes, points, self-overlap.
fn moving_balls() {
    let ball = defcol_scenes::regular::icosphere(1.0, 5);
    let points: Vec<Vector3<f64>> =
        ball.positions.iter().map(|p| p * 0.9 + Vector3::new(0.6, 0.0, 0.0)).collect();
    let mut moved = ball.positions.clone();
    let mut meter = OverlapMeter::<Software>::default();
    let (mut generator, mut ldi) = (Software::default(), Ldi::default());
    let (mut sampled, mut exact) = (SampledPoints::default(), ExactPoints::default());
    let (mut overlap, mut inside) = (SelfOverlap::default(), Vec::new());
    let mut found = 0;
    let mut step = |frame: usize| {
        let shift = [0.1, 0.1, -0.1, -0.1][frame % 4];
        moved.iter_mut().for_each(|p| p.x += shift);
        let a = Shell::new(&ball.positions, &ball.triangles).unwrap();
        let b = Shell::new(&moved, &ball.triangles).unwrap();
        found += usize::from(meter.thrice(&a, &b, 64).unwrap().volume.value > 0.0);
        let view = View::new(b.bounds(), frame % 3, 64).unwrap();
        generator.generate(&[b], &view, Start::Near, &mut ldi).unwrap();
        sampled.contains(&ldi, &points, &mut inside);
        exact.contains(&b, &points, &mut inside).unwrap();
        overlap.find(&ldi);
    };
    (0..48).for_each(&mut step);
    let mut count = usize::MAX;
    for _ in 0..4 {
        count = count.min(allocations(|| (0..12).for_each(&mut step)));
    }
    assert_eq!(count, 0, "balls: allocations in twelve calls");
    assert!(found > 0 && inside.contains(&true) && inside.contains(&false));
}
