//! Time of spatial hashing: `cargo bench -p defcol --bench hashing`. Ratios against other programs are in
//! `defcol bench`.
#![allow(missing_docs, reason = "a program, not a library")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use defcol::detect::hash::{HashFunction, Parameters, SpatialHash};
use defcol::detect::{Detector, Hits, Questions};
use defcol::math::Vector3;
use defcol_scenes::heap::rods;

const POINTS: Questions = Questions { points_in_tetrahedra: true, edges_through_triangles: false };
const EDGES: Questions = Questions { points_in_tetrahedra: false, edges_through_triangles: true };

/// Heaps of 2k, 20k, 200k and 2M tetrahedra, on one core and on all.
fn heaps(criterion: &mut Criterion) {
    let moving = Parameters { keep_resting: false, ..Parameters::default() };
    let thesis = Parameters { function: HashFunction::Thesis, ..moving };
    let cores = std::thread::available_parallelism().unwrap().get();
    for count in [1, 10, 100, 1000] {
        let heap = rods(count);
        let positions: Vec<Vector3<f32>> =
            heap.positions.iter().map(|p| p.map(|x| x as f32)).collect();
        let mut group = criterion.benchmark_group("heap of rods");
        group.sample_size(10).throughput(Throughput::Elements(2000 * count as u64));
        for (name, threads, questions, parameters) in [
            ("points, one core", 1, POINTS, moving),
            ("points, all cores", cores, POINTS, moving),
            ("points, one core, hash function of the thesis", 1, POINTS, thesis),
            ("points, one core, at rest", 1, POINTS, Parameters::default()),
            ("edges, one core", 1, EDGES, moving),
            ("edges, all cores", cores, EDGES, moving),
        ] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            group.bench_function(BenchmarkId::new(name, 2000 * count), |bench| {
                let mut hash = SpatialHash::with(parameters);
                let mut hits = Hits::default();
                let mut detect = || hash.detect(&heap.bodies, &positions, questions, &mut hits);
                // Cells and order are chosen once; a body rests after the third call.
                pool.install(|| (0..4).for_each(|_| detect().unwrap()));
                bench.iter(|| pool.install(&mut detect));
            });
        }
    }
}

/// A table as in the thesis: a list for each slot, valid only if its time stamp is that of this call.
#[derive(Default)]
struct Stamped {
    now: u32,
    slots: Vec<[u32; 2]>,
    next: Vec<u32>,
}

/// A table by counting: cleared in each call, then read in runs.
#[derive(Default)]
struct Counted {
    starts: Vec<u32>,
    items: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Stamped {
    fn build(&mut self, slots: &[u32], size: usize) {
        self.slots.resize(size, [0, NONE]);
        self.next.resize(slots.len(), NONE);
        self.now += 1;
        for (item, &slot) in (0u32..).zip(slots) {
            let [stamp, head] = &mut self.slots[slot as usize];
            if *stamp != self.now {
                (*stamp, *head) = (self.now, NONE);
            }
            self.next[item as usize] = *head;
            *head = item;
        }
    }

    fn sum(&self, slot: u32) -> u64 {
        let [stamp, mut item] = self.slots[slot as usize];
        let mut sum = 0;
        while stamp == self.now && item != NONE {
            sum += u64::from(item);
            item = self.next[item as usize];
        }
        sum
    }
}

impl Counted {
    fn build(&mut self, slots: &[u32], size: usize) {
        self.starts.clear();
        self.starts.resize(size + 1, 0);
        slots.iter().for_each(|&slot| self.starts[slot as usize] += 1);
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.items.resize(slots.len(), 0);
        for (item, &slot) in slots.iter().enumerate().rev() {
            self.starts[slot as usize] -= 1;
            self.items[self.starts[slot as usize] as usize] = item as u32;
        }
    }

    fn sum(&self, slot: u32) -> u64 {
        let range = self.starts[slot as usize] as usize..self.starts[slot as usize + 1] as usize;
        self.items[range].iter().map(|&item| u64::from(item)).sum()
    }
}

/// Clearing against time stamps: a table is filled and read eight times as often, dense (2 slots an item)
/// and sparse (64 slots an item).
fn clearing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("clearing");
    for items in [1_000usize, 30_000, 400_000] {
        for slots_per_item in [2, 64] {
            let size = (items * slots_per_item).next_power_of_two();
            // Neighbouring items have neighbouring slots, as vertices of a mesh have.
            let slot = |k: u64| (k / 4 * slots_per_item as u64 * 4 + k % 4) % size as u64;
            let slots: Vec<u32> = (0..items as u64).map(|k| slot(k) as u32).collect();
            let near = |sum: &dyn Fn(u32) -> u64| -> u64 {
                let all = |k: u32| slots.iter().map(move |&slot| (slot + k) % size as u32);
                (0..8).flat_map(all).map(sum).sum()
            };
            let (mut stamped, mut counted) = (Stamped::default(), Counted::default());
            let case = format!("{items} items, {slots_per_item} slots each");
            group.sample_size(20);
            group.bench_function(BenchmarkId::new("time stamps", &case), |bench| {
                bench.iter(|| {
                    stamped.build(&slots, size);
                    black_box(near(&|slot| stamped.sum(slot)))
                });
            });
            group.bench_function(BenchmarkId::new("counting", &case), |bench| {
                bench.iter(|| {
                    counted.build(&slots, size);
                    black_box(near(&|slot| counted.sum(slot)))
                });
            });
        }
    }
}

criterion_group!(benches, heaps, clearing);
criterion_main!(benches);
