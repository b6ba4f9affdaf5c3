//! Once a detector has seen a scene, a call allocates nothing.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "an allocator that counts must implement GlobalAlloc")]

mod scenes;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use defcol::broad::{Proxy, SweepAndPrune};
use defcol::detect::hash::SpatialHash;
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
