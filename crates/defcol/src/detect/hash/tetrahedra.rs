//! Which vertices are in which tetrahedra.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fearless_simd::Level;
use rayon::prelude::*;

use super::grid::{CellBox, Grid, STEP_BITS};
use super::kernel::{Found, Lookup, Scratch};
use super::levels::{Extents, LARGEST, Size, extent, first_size, next_size};
use super::points::{PointTable, cell};
use super::resting::Class;
use super::{Context, HashStatistics};
use crate::detect::corners;
use crate::detect::primitive::point_in_tetrahedron;
use crate::math::{Bounds, Real, Vector3};

/// Tetrahedra that are looked at together before their candidates are tested.
const CHUNK: usize = 128;

/// Chunks of one piece of work for a thread.
const CHUNKS_A_JOB: usize = 32;

/// So few tetrahedra are compared with all points rather than sorting the points again.
const FEW: usize = 8;

/// Tetrahedra search together as long as their common box is no wider than so many mean extents. Between 2.0
/// and 2.6 it hardly matters; alone they take twice as long.
const TOGETHER: f64 = 2.3;

/// Finds vertices in tetrahedra.
#[derive(Debug)]
pub(super) struct Search {
    simd: Level,
    topology: u64,
    generation: u64,
    /// All tetrahedra, body by body in the order of their smallest vertex: neighbours in space share
    /// vertices, so they are neighbours in this list.
    ordered: Ordered,
    floor: Floor,
    moving: PointTable,
    resting: PointTable,
    /// The cells that each chunk of tetrahedra covers, as long as its bodies rest.
    chunk_cells: Vec<CellBox>,
    /// What resting tetrahedra and resting vertices have in common.
    resting_found: Found,
    later: Later,
    jobs: Vec<Job>,
    planned: usize,
    /// One for each thread.
    scratch: Vec<Mutex<Scratch>>,
}

/// Tetrahedra and their numbers.
#[derive(Debug, Default)]
struct Ordered {
    tetrahedra: Vec<[u32; 4]>,
    names: Vec<u32>,
}

impl Ordered {
    fn fill(&mut self, all: &[[u32; 4]], names: impl Iterator<Item = u32>) {
        self.names.clear();
        self.names.extend(names);
        self.tetrahedra.clear();
        self.tetrahedra.extend(self.names.iter().map(|&name| all[name as usize]));
    }

    fn extents<R: Real>(&self, positions: &[Vector3<R>]) -> Extents {
        Extents::collect(self.tetrahedra.iter().map(|&t| extent(corners(positions, t))))
    }
}

/// The grid of a level, and the steps of all vertices in it.
#[derive(Debug, Default)]
struct Floor {
    grid: Grid,
    steps: Vec<[u32; 4]>,
    /// The width in steps up to which tetrahedra search together.
    together: u32,
}

/// Levels with larger cells, one after the other.
#[derive(Debug, Default)]
struct Later {
    floor: Floor,
    table: PointTable,
    pending: Ordered,
    large: Vec<u32>,
}

/// Which tetrahedra are to be looked up in which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    MovingInMoving,
    MovingInResting,
    RestingInMoving,
    RestingInResting,
}

/// Work for a thread.
#[derive(Debug)]
struct Job {
    task: Task,
    range: Range<usize>,
    found: Found,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            simd: Level::new(),
            topology: 0,
            generation: 0,
            ordered: Ordered::default(),
            floor: Floor::default(),
            moving: PointTable::default(),
            resting: PointTable::default(),
            chunk_cells: vec![],
            resting_found: Found::default(),
            later: Later::default(),
            jobs: vec![],
            planned: 0,
            scratch: vec![],
        }
    }
}

impl Search {
    /// Appends all pairs of a tetrahedron and a vertex that meet.
    pub fn find<R: Real>(
        &mut self,
        context: &Context<R>,
        pairs: &mut Vec<u64>,
        statistics: &mut HashStatistics,
    ) {
        if context.bodies.tetrahedra().is_empty() {
            return;
        }
        let anew =
            self.topology != context.bodies.topology() || !self.floor.grid.covers(&context.bounds);
        if anew {
            self.start_anew(context);
        }
        let threads = rayon::current_num_threads().max(self.scratch.len());
        self.scratch.resize_with(threads, Default::default);
        let resting_anew = anew || self.generation != context.generation;
        self.generation = context.generation;
        self.update_tables(context, resting_anew);
        self.plan(context, resting_anew);
        self.work(context);
        if resting_anew {
            self.keep_resting();
        }
        self.later.large.clear();
        self.later.large.extend_from_slice(&self.resting_found.large);
        pairs.extend_from_slice(&self.resting_found.pairs);
        for job in &self.jobs[..self.planned] {
            if job.task == Task::MovingInMoving {
                self.later.large.extend_from_slice(&job.found.large);
            }
            if job.task != Task::RestingInResting {
                pairs.extend_from_slice(&job.found.pairs);
            }
            statistics.add(&job.found.statistics);
        }
        statistics.cell = self.floor.grid.cell();
        statistics.levels = 1;
        statistics.slots += self.moving.slots.count() + self.resting.slots.count();
        self.find_large(context, pairs, statistics);
    }

    /// Puts the tetrahedra in order and chooses the cells.
    fn start_anew<R: Real>(&mut self, context: &Context<R>) {
        let all = context.bodies.tetrahedra();
        if self.topology != context.bodies.topology() {
            self.topology = context.bodies.topology();
            let mut names: Vec<u32> = (0..all.len() as u32).collect();
            // Bodies stand behind one another, so this keeps them apart.
            names.sort_by_cached_key(|&name| all[name as usize].into_iter().min());
            self.ordered.fill(all, names.into_iter());
        }
        let size = first_size(&self.ordered.extents(context.positions), &context.parameters);
        self.floor.start(&context.bounds, size);
        self.floor.steps.clear();
    }

    fn update_tables<R: Real>(&mut self, context: &Context<R>, resting_anew: bool) {
        if self.floor.steps.len() == context.positions.len() && !resting_anew {
            for range in context.ranges(Class::Moving) {
                self.floor.update(context.positions, range);
            }
        } else {
            self.floor.steps.resize(context.positions.len(), [0; 4]);
            self.floor.update(context.positions, 0..context.positions.len());
        }
        let (function, size) = (context.parameters.function, context.parameters.table);
        let steps = &self.floor.steps;
        self.moving.build(steps, context.ranges(Class::Moving), None, function, size);
        if resting_anew {
            self.resting.build(steps, context.ranges(Class::Resting), None, function, size);
            self.chunk_cells.clear();
            let chunks = self.ordered.tetrahedra.chunks(CHUNK);
            self.chunk_cells.extend(chunks.map(|chunk| {
                let corners = chunk.iter().flatten().map(|&v| cell(steps[v as usize]));
                corners.fold(CellBox::EMPTY, CellBox::including)
            }));
        }
    }

    /// Cuts the work into jobs.
    fn plan<R: Real>(&mut self, context: &Context<R>, resting_anew: bool) {
        let mut count = 0;
        let mut add = |task: Task, range: Range<usize>| {
            let mut start = range.start;
            while start < range.end {
                // Jobs end where chunks do, and chunks are the same whatever else there is.
                let end = (start / CHUNK + CHUNKS_A_JOB) * CHUNK;
                let range = start..end.min(range.end);
                start = range.end;
                if let Some(job) = self.jobs.get_mut(count) {
                    (job.task, job.range) = (task, range);
                    job.found.clear();
                } else {
                    self.jobs.push(Job { task, range, found: Found::default() });
                }
                count += 1;
            }
        };
        let any_resting = context.classes.contains(&Class::Resting);
        let any_moving = context.classes.contains(&Class::Moving);
        for range in context.tetrahedra(Class::Moving) {
            add(Task::MovingInMoving, range.clone());
            if any_resting {
                add(Task::MovingInResting, range);
            }
        }
        for range in context.tetrahedra(Class::Resting) {
            if any_moving {
                add(Task::RestingInMoving, range.clone());
            }
            if resting_anew {
                add(Task::RestingInResting, range);
            }
        }
        self.planned = count;
    }

    fn work<R: Real>(&mut self, context: &Context<R>) {
        let largest = if context.parameters.levels {
            (LARGEST * f64::from(1u32 << STEP_BITS)) as u32
        } else {
            u32::MAX
        };
        let look_up = |table| Lookup {
            bodies: context.bodies,
            positions: context.positions,
            steps: &self.floor.steps,
            table,
            all_may_collide: context.all_may_collide,
            together: self.floor.together,
            largest,
        };
        let (moving, resting) = (look_up(&self.moving), look_up(&self.resting));
        let (ordered, chunk_cells, simd) = (&self.ordered, &self.chunk_cells, self.simd);
        let all_scratch = &self.scratch;
        self.jobs[..self.planned].par_iter_mut().for_each(|job| {
            let lookup = match job.task {
                Task::MovingInMoving | Task::RestingInMoving => &moving,
                Task::MovingInResting | Task::RestingInResting => &resting,
            };
            let mut scratch = scratch_of_thread(all_scratch);
            let mut start = job.range.start;
            while start < job.range.end {
                let chunk = start / CHUNK;
                let range = start..((chunk + 1) * CHUNK).min(job.range.end);
                start = range.end;
                let quiet = job.task == Task::RestingInMoving;
                if quiet && lookup.table.is_empty_in(&chunk_cells[chunk]) {
                    continue;
                }
                let (tetrahedra, names) =
                    (&ordered.tetrahedra[range.clone()], &ordered.names[range]);
                lookup.search(simd, tetrahedra, names, &mut scratch, &mut job.found);
            }
        });
    }

    fn keep_resting(&mut self) {
        self.resting_found.clear();
        let jobs = self.jobs[..self.planned].iter();
        for job in jobs.filter(|job| job.task == Task::RestingInResting) {
            self.resting_found.pairs.extend_from_slice(&job.found.pairs);
            self.resting_found.large.extend_from_slice(&job.found.large);
        }
    }

    /// Looks up tetrahedra that were too large, with larger cells, until none is left.
    fn find_large<R: Real>(
        &mut self,
        context: &Context<R>,
        pairs: &mut Vec<u64>,
        statistics: &mut HashStatistics,
    ) {
        let Later { floor, table, pending, large } = &mut self.later;
        while !large.is_empty() {
            pending.fill(context.bodies.tetrahedra(), large.drain(..));
            statistics.levels += 1;
            if pending.names.len() <= FEW {
                compare_all(context, pending, pairs, statistics);
                return;
            }
            let extents = pending.extents(context.positions);
            floor.start(&context.bounds, next_size(&extents));
            floor.steps.resize(context.positions.len(), [0; 4]);
            floor.update(context.positions, 0..context.positions.len());
            let corners =
                pending.tetrahedra.iter().flatten().map(|&v| cell(floor.steps[v as usize]));
            let clip = corners.fold(CellBox::EMPTY, CellBox::including);
            let ranges = context.ranges(Class::Moving).chain(context.ranges(Class::Resting));
            let (function, size) = (context.parameters.function, context.parameters.table);
            table.build(&floor.steps, ranges, Some(&clip), function, size);
            statistics.slots += table.slots.count();
            let lookup = Lookup {
                bodies: context.bodies,
                positions: context.positions,
                steps: &floor.steps,
                table,
                all_may_collide: context.all_may_collide,
                together: floor.together,
                largest: (LARGEST * f64::from(1u32 << STEP_BITS)) as u32,
            };
            let chunks = pending.names.len().div_ceil(CHUNK);
            while self.jobs.len() < chunks {
                let (task, found) = (Task::MovingInMoving, Found::default());
                self.jobs.push(Job { task, range: 0..0, found });
            }
            let work = pending.tetrahedra.par_chunks(CHUNK).zip(pending.names.par_chunks(CHUNK));
            self.jobs[..chunks].par_iter_mut().zip(work).for_each(|(job, (tetrahedra, names))| {
                job.found.clear();
                let scratch = &mut scratch_of_thread(&self.scratch);
                lookup.search(self.simd, tetrahedra, names, scratch, &mut job.found);
            });
            for job in &self.jobs[..chunks] {
                pairs.extend_from_slice(&job.found.pairs);
                large.extend_from_slice(&job.found.large);
                statistics.add(&job.found.statistics);
            }
        }
    }
}

impl Floor {
    fn start(&mut self, bounds: &Bounds<f64>, size: Size) {
        self.grid = Grid::new(bounds, size.cell);
        let steps = TOGETHER * size.extent / self.grid.cell() * f64::from(1u32 << STEP_BITS);
        // Wider boxes than this do not fit a key.
        self.together = (steps as u32).min(500);
    }

    fn update<R: Real>(&mut self, positions: &[Vector3<R>], range: Range<usize>) {
        let grid = self.grid;
        let (steps, positions) = (&mut self.steps[range.clone()], &positions[range]);
        steps.par_iter_mut().zip(positions).with_min_len(1 << 14).for_each(|(steps, position)| {
            *steps = grid.steps(position);
        });
    }
}

/// The memory of this thread; nobody else waits for it.
fn scratch_of_thread(all: &[Mutex<Scratch>]) -> MutexGuard<'_, Scratch> {
    let thread = rayon::current_thread_index().unwrap_or(0);
    all[thread].lock().unwrap_or_else(PoisonError::into_inner)
}

/// Compares a few tetrahedra with all vertices.
fn compare_all<R: Real>(
    context: &Context<R>,
    few: &Ordered,
    pairs: &mut Vec<u64>,
    statistics: &mut HashStatistics,
) {
    let bodies = context.bodies;
    for (&tetrahedron, &name) in few.tetrahedra.iter().zip(&few.names) {
        let shape = corners(context.positions, tetrahedron);
        let bounds = Bounds::of(shape);
        let body = bodies.body_of(tetrahedron[0]);
        for (other, owner) in bodies.list().iter().enumerate() {
            if !bodies.may_collide(body, other) {
                continue;
            }
            statistics.entries += owner.vertices.len() as u64;
            for vertex in owner.vertices.clone() {
                let point = context.positions[vertex];
                if bounds.contains(point)
                    && !tetrahedron.contains(&(vertex as u32))
                    && point_in_tetrahedron(point, shape)
                {
                    pairs.push(u64::from(name) << 32 | vertex as u64);
                }
            }
        }
    }
}
