//! Time of spatial hashing: `cargo bench -p defcol --bench hashing`. Ratios against other programs are in
//! `defcol bench`.
#![allow(missing_docs, reason = "a program, not a library")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use defcol::detect::hash::{HashFunction, HashParameters, SpatialHash};
use defcol::detect::{Detector, Hits, Questions};
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TriangleMesh};
use defcol::state::Collides;
use defcol_scenes::heap::rods;

const POINTS: Questions = Questions { points_in_tetrahedra: true, edges_through_triangles: false };
const EDGES: Questions = Questions { points_in_tetrahedra: false, edges_through_triangles: true };

/// Heaps of 2k, 20k, 200k and 2M tetrahedra, on one core and on all.
fn heaps(criterion: &mut Criterion) {
    let moving = HashParameters { keep_resting: false, ..HashParameters::default() };
    let thesis = HashParameters { function: HashFunction::Thesis, ..moving };
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
            ("points, one core, at rest", 1, POINTS, HashParameters::default()),
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

type Point = [f32; 3];

/// A grid with a slot for each cell, a cell of `1 / scale` and the boxes of tetrahedra that search in it.
struct Cells {
    scale: f32,
    low: Point,
    size: [usize; 3],
    points: Vec<Point>,
    boxes: Vec<[Point; 2]>,
}

impl Cells {
    fn new(rod_count: usize, cell: f32) -> Self {
        let heap = rods(rod_count);
        let points: Vec<Point> =
            heap.positions.iter().map(|p| [p.x as f32, p.y as f32, p.z as f32]).collect();
        let around = |corners: &mut dyn Iterator<Item = Point>| {
            corners.fold([[f32::MAX; 3], [f32::MIN; 3]], |[low, high], p| {
                [[0, 1, 2].map(|k| low[k].min(p[k])), [0, 1, 2].map(|k| high[k].max(p[k]))]
            })
        };
        let boxes = heap.bodies.tetrahedra().iter();
        let boxes = boxes.map(|t| around(&mut t.iter().map(|&v| points[v as usize]))).collect();
        let [low, high] = around(&mut points.iter().copied());
        let scale = 1.0 / cell;
        let size = [0, 1, 2].map(|k| ((high[k] - low[k]) * scale) as usize + 1);
        Self { scale, low, size, points, boxes }
    }

    fn cell(&self, point: &Point) -> [usize; 3] {
        [0, 1, 2].map(|k| ((point[k] - self.low[k]) * self.scale) as usize)
    }

    fn slot(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.size[1] + y) * self.size[0] + x
    }

    fn slots(&self) -> usize {
        self.size.iter().product()
    }

    /// Calls `visit` with each row of cells of each box.
    fn each_row(&self, mut visit: impl FnMut(&[Point; 2], usize, usize)) {
        for bounds in &self.boxes {
            let [low, high] = [self.cell(&bounds[0]), self.cell(&bounds[1])];
            for z in low[2]..=high[2] {
                for y in low[1]..=high[1] {
                    visit(bounds, self.slot([low[0], y, z]), self.slot([high[0], y, z]));
                }
            }
        }
    }
}

fn inside(point: &Point, [low, high]: &[Point; 2]) -> bool {
    (0..3).all(|k| low[k] <= point[k] && point[k] <= high[k])
}

const NONE: u32 = u32::MAX;

/// A table as in the thesis: a list for each slot, valid only if its time stamp is that of this call.
#[derive(Default)]
struct Stamped {
    now: u32,
    slots: Vec<[u32; 2]>,
    next: Vec<u32>,
}

impl Stamped {
    fn pairs(&mut self, cells: &Cells) -> usize {
        self.slots.resize(cells.slots(), [0, NONE]);
        self.next.resize(cells.points.len(), NONE);
        self.now += 1;
        for (item, point) in (0u32..).zip(&cells.points) {
            let [stamp, head] = &mut self.slots[cells.slot(cells.cell(point))];
            if *stamp != self.now {
                (*stamp, *head) = (self.now, NONE);
            }
            self.next[item as usize] = *head;
            *head = item;
        }
        let mut pairs = 0;
        cells.each_row(|bounds, from, to| {
            for &[stamp, mut item] in &self.slots[from..=to] {
                while stamp == self.now && item != NONE {
                    pairs += usize::from(inside(&cells.points[item as usize], bounds));
                    item = self.next[item as usize];
                }
            }
        });
        pairs
    }
}

/// A table by counting: cleared in each call, points copied in the order of the slots, read in runs.
#[derive(Default)]
struct Counted {
    starts: Vec<u32>,
    points: Vec<Point>,
}

impl Counted {
    fn pairs(&mut self, cells: &Cells) -> usize {
        self.starts.clear();
        self.starts.resize(cells.slots() + 1, 0);
        for point in &cells.points {
            self.starts[cells.slot(cells.cell(point))] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.points.resize(cells.points.len(), [0.0; 3]);
        for point in cells.points.iter().rev() {
            let start = &mut self.starts[cells.slot(cells.cell(point))];
            *start -= 1;
            self.points[*start as usize] = *point;
        }
        let mut pairs = 0;
        cells.each_row(|bounds, from, to| {
            let run = self.starts[from] as usize..self.starts[to + 1] as usize;
            pairs += self.points[run].iter().filter(|point| inside(point, bounds)).count();
        });
        pairs
    }
}

/// Time stamps against clearing and counting: the points in the boxes of all tetrahedra, from positions. Cells
/// as we choose them, and cells so small that there are many more of them than points.
fn clearing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("clearing");
    group.sample_size(20);
    for (count, cell) in [(1, 0.035), (10, 0.035), (100, 0.035), (10, 0.0175), (100, 0.0175)] {
        let cells = Cells::new(count, cell);
        let (mut stamped, mut counted) = (Stamped::default(), Counted::default());
        assert_eq!(stamped.pairs(&cells), counted.pairs(&cells));
        let per_point = cells.slots() / cells.points.len();
        let case = format!("{} points, {per_point} slots each", cells.points.len());
        group.bench_function(BenchmarkId::new("time stamps", &case), |bench| {
            bench.iter(|| black_box(stamped.pairs(black_box(&cells))));
        });
        group.bench_function(BenchmarkId::new("counting", &case), |bench| {
            bench.iter(|| black_box(counted.pairs(black_box(&cells))));
        });
    }
}

/// Two thousand small triangles, and one that covers 10^12 of their cells.
fn large_triangle(criterion: &mut Criterion) {
    let small = rods(1);
    let mut bodies = small.bodies;
    let mut positions = small.positions;
    let large =
        [[-2e4, -2e4, -2e3], [2e4, -2e4, -2e3], [0.0, 4e4, 4e3]].map(Vector3::from).to_vec();
    positions.extend_from_slice(&large);
    let raw = RawMesh { positions: large, triangles: vec![[0, 1, 2]], tetrahedra: vec![] };
    bodies.add_surface(&TriangleMesh::new(raw).unwrap(), Collides::default());
    let parameters = HashParameters { keep_resting: false, ..HashParameters::default() };
    let (mut hash, mut hits) = (SpatialHash::with(parameters), Hits::default());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    criterion.bench_function("a rod and one large triangle", |bench| {
        let mut detect = || hash.detect(&bodies, &positions, EDGES, &mut hits);
        bench.iter(|| pool.install(&mut detect));
    });
    assert!(hits.edges.iter().any(|hit| hit.triangle as usize == bodies.triangles().len() - 1));
}

criterion_group!(benches, heaps, clearing, large_triangle);
criterion_main!(benches);
