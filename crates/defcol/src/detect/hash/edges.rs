//! Which edges meet which triangles.

use std::ops::Range;

use rayon::prelude::*;

use super::cells::{box_cells, normal, segment_cells, triangle_rows};
use super::grid::{CellBox, Grid, Slots};
use super::levels::{Extents, LARGEST, extent, first_size, next_size};
use super::points::{GUARD, key};
use super::resting::Class;
use super::{Context, HashParameters, HashStatistics};
use crate::detect::corners;
use crate::detect::primitive::segment_meets_triangle;
use crate::math::{Bounds, Real, Vector3};

/// Edges or triangles of one piece of work for a thread.
const CHUNK: usize = 1024;

/// So many primitives beyond the largest level are compared with all others before levels are planned anew.
const FEW: usize = 8;

/// The level of a primitive that is too large for all of them.
const TOO_LARGE: u8 = u8::MAX;

/// Finds edges that meet triangles.
///
/// A pair is found on the level of the larger of the two: triangles of a level look among the edges of
/// this and all lower levels, and triangles of lower levels among the edges of exactly this level.
#[derive(Debug, Default)]
pub(super) struct Search {
    topology: u64,
    generation: u64,
    grids: Vec<Grid>,
    edge_levels: Vec<u8>,
    triangle_levels: Vec<u8>,
    /// For each level the tables of moving and of resting edges.
    floors: Vec<[Tables; 2]>,
    resting_pairs: Vec<u64>,
    jobs: Vec<Job>,
}

/// Edges in the cells of one level.
#[derive(Debug, Default)]
struct Tables {
    up_to_level: EdgeTable,
    of_level: EdgeTable,
}

/// Edges sorted by slot: those of slot `s` are `edges[starts[s]..starts[s + 1]]`.
#[derive(Debug, Default)]
struct EdgeTable {
    slots: Slots,
    starts: Vec<u32>,
    edges: Vec<Entry>,
    chunks: Vec<EdgeChunk>,
}

/// Cells and the edges that pass them, before they are sorted.
#[derive(Debug, Default)]
struct EdgeChunk {
    edges: Range<usize>,
    bounds: CellBox,
    entries: Vec<([u32; 3], Entry)>,
}

/// An edge in a cell, with its box.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    edge: u32,
    extent: BoxKey,
}

/// The box of a primitive as keys: its upper corner and its widths.
#[derive(Debug, Clone, Copy, Default)]
struct BoxKey {
    high: u32,
    widths: u32,
}

/// Steps per cell of the boxes of edges and triangles.
const STEPS: f64 = 16.0;

/// Widths beyond which a box meets everything: two of them must fit a field of a key.
const WIDEST: [u32; 3] = [511, 511, 255];

impl BoxKey {
    fn of<const N: usize>(corners: [Vector3<f64>; N]) -> Self {
        let bounds = Bounds::of(corners);
        let steps = |v: Vector3<f64>| [v.x, v.y, v.z].map(|x| (x * STEPS) as u32);
        let (low, high) = (steps(bounds.min), steps(bounds.max));
        let widths = [0, 1, 2].map(|axis| high[axis] - low[axis]);
        let fits = (0..3).all(|axis| widths[axis] <= WIDEST[axis]);
        let packed = |v: [u32; 3]| key([v[0], v[1], v[2], 0]);
        Self { high: packed(high) | GUARD, widths: if fits { packed(widths) } else { GUARD } }
    }

    /// Whether the boxes may have a point in common: along each axis the upper end of one is above the lower
    /// end of the other by no more than both widths.
    #[inline(always)]
    fn meets(self, other: Self) -> bool {
        let low = self.high.wrapping_sub(self.widths) & !GUARD;
        let above = other.high.wrapping_sub(low) & !GUARD;
        let widths = self.widths.wrapping_add(other.widths);
        (self.widths | other.widths) & GUARD != 0
            || (widths | GUARD).wrapping_sub(above) & GUARD == GUARD
    }
}

/// Work for a thread.
#[derive(Debug, Default)]
struct Job {
    triangles: Range<usize>,
    class: Option<Class>,
    pairs: Vec<u64>,
    /// Pairs among resting bodies.
    resting_pairs: Vec<u64>,
    candidates: Vec<u32>,
    statistics: HashStatistics,
}

impl Search {
    /// Appends all pairs of a triangle and an edge that meet.
    pub fn find<R: Real>(
        &mut self,
        context: &Context<R>,
        pairs: &mut Vec<u64>,
        statistics: &mut HashStatistics,
    ) {
        if context.bodies.triangles().is_empty() {
            return;
        }
        let mut anew = self.topology != context.bodies.topology()
            || !self.grids.iter().all(|grid| grid.covers(&context.bounds));
        if anew {
            self.plan_levels(context);
        }
        if self.classify(context) > FEW && !anew {
            // Something has grown; the levels no longer fit.
            anew = true;
            self.plan_levels(context);
            self.classify(context);
        }
        let resting_anew = anew || self.generation != context.generation;
        self.generation = context.generation;
        self.fill_tables(context, resting_anew);
        self.work(context, resting_anew);
        if resting_anew {
            self.resting_pairs.clear();
        }
        for job in &self.jobs {
            self.resting_pairs.extend_from_slice(&job.resting_pairs);
            pairs.extend_from_slice(&job.pairs);
            statistics.add(&job.statistics);
        }
        pairs.extend_from_slice(&self.resting_pairs);
        self.compare_too_large(context, pairs, statistics);
        let floors = &self.floors[..self.grids.len()];
        for table in floors.iter().flatten().flat_map(|t| [&t.up_to_level, &t.of_level]) {
            statistics.slots += table.slots.count();
        }
        statistics.levels = statistics.levels.max(self.grids.len());
        if let (Some(grid), true) = (self.grids.first(), statistics.cell == 0.0) {
            statistics.cell = grid.cell();
        }
    }

    /// Chooses cells for primitives of all sizes there are.
    fn plan_levels<R: Real>(&mut self, context: &Context<R>) {
        self.topology = context.bodies.topology();
        self.grids.clear();
        let (bodies, positions) = (context.bodies, context.positions);
        let edges = bodies.edges().iter().map(|&edge| extent(corners(positions, edge)));
        let triangles = bodies.triangles().iter().map(|&t| extent(corners(positions, t)));
        let extents: Vec<f64> = edges.chain(triangles).collect();
        let mut cell =
            first_size(&Extents::collect(extents.iter().copied()), &context.parameters).cell;
        loop {
            let grid = Grid::new(&context.bounds, cell);
            self.grids.push(grid);
            let largest = widest(&context.parameters) * grid.cell();
            let left = || extents.iter().copied().filter(|&extent| extent > largest);
            if left().nth(FEW).is_none() || self.grids.len() == 200 {
                return;
            }
            cell = next_size(&Extents::collect(left())).cell;
        }
    }

    /// Finds the level of each primitive; returns how many are too large.
    fn classify<R: Real>(&mut self, context: &Context<R>) -> usize {
        let (grids, positions) = (&self.grids, context.positions);
        let widest = widest(&context.parameters);
        let level_of = |extent: f64| -> u8 {
            let fits = |grid: &Grid| extent <= widest * grid.cell();
            grids.iter().position(fits).map_or(TOO_LARGE, |level| level as u8)
        };
        fn fill<R: Real, const N: usize>(
            levels: &mut Vec<u8>,
            primitives: &[[u32; N]],
            positions: &[Vector3<R>],
            level_of: impl Fn(f64) -> u8 + Sync,
        ) -> usize {
            levels.resize(primitives.len(), 0);
            let all = levels.par_iter_mut().zip(primitives).with_min_len(1 << 13);
            all.for_each(|(level, &primitive)| {
                *level = level_of(extent(corners(positions, primitive)));
            });
            levels.iter().filter(|&&level| level == TOO_LARGE).count()
        }
        let bodies = context.bodies;
        fill(&mut self.edge_levels, bodies.edges(), positions, level_of)
            + fill(&mut self.triangle_levels, bodies.triangles(), positions, level_of)
    }

    fn fill_tables<R: Real>(&mut self, context: &Context<R>, resting_anew: bool) {
        self.floors.resize_with(self.grids.len().max(self.floors.len()), Default::default);
        let levels = &self.edge_levels;
        for (number, (grid, tables)) in self.grids.iter().zip(&mut self.floors).enumerate() {
            for (tables, class) in tables.iter_mut().zip([Class::Moving, Class::Resting]) {
                if class == Class::Resting && !resting_anew {
                    continue;
                }
                tables
                    .up_to_level
                    .build(context, grid, class, |edge| usize::from(levels[edge]) <= number);
                if number > 0 {
                    tables
                        .of_level
                        .build(context, grid, class, |edge| usize::from(levels[edge]) == number);
                }
            }
        }
    }

    /// Lets the triangles look among the edges.
    fn work<R: Real>(&mut self, context: &Context<R>, resting_anew: bool) {
        let mut count = 0;
        for class in [Class::Moving, Class::Resting] {
            for range in context.joined(class, |body| body.triangles.clone()) {
                for start in range.clone().step_by(CHUNK) {
                    if self.jobs.len() == count {
                        self.jobs.push(Job::default());
                    }
                    let job = &mut self.jobs[count];
                    job.triangles = start..(start + CHUNK).min(range.end);
                    job.class = Some(class);
                    count += 1;
                }
            }
        }
        for job in &mut self.jobs[count..] {
            job.triangles = 0..0;
        }
        let (grids, floors, levels) = (&self.grids, &self.floors, &self.triangle_levels);
        self.jobs.par_iter_mut().for_each(|job| {
            job.pairs.clear();
            job.resting_pairs.clear();
            job.statistics = HashStatistics::default();
            for triangle in job.triangles.clone() {
                job.statistics.queries += 1;
                let own_level = usize::from(levels[triangle]);
                if own_level == usize::from(TOO_LARGE) {
                    continue;
                }
                let above = grids.iter().zip(floors).enumerate().skip(own_level);
                for (number, (grid, tables)) in above {
                    for (tables, class) in tables.iter().zip([Class::Moving, Class::Resting]) {
                        let both_rest = class == Class::Resting && job.class == Some(class);
                        if both_rest && !resting_anew {
                            continue;
                        }
                        let own = number == own_level;
                        let table = if own { &tables.up_to_level } else { &tables.of_level };
                        table.look_up(context, grid, triangle as u32, both_rest, job);
                    }
                }
            }
        });
    }

    /// Compares the few primitives that are too large for all levels with everything.
    fn compare_too_large<R: Real>(
        &self,
        context: &Context<R>,
        pairs: &mut Vec<u64>,
        statistics: &mut HashStatistics,
    ) {
        let bodies = context.bodies;
        let mut compare = |triangle: usize, edge: usize| {
            statistics.entries += 1;
            if meet(context, triangle as u32, edge as u32) {
                pairs.push((triangle as u64) << 32 | edge as u64);
            }
        };
        let too_large = |levels: &[u8], number: usize| levels[number] == TOO_LARGE;
        for triangle in 0..bodies.triangles().len() {
            if too_large(&self.triangle_levels, triangle) {
                (0..bodies.edges().len()).for_each(|edge| compare(triangle, edge));
            }
        }
        for edge in 0..bodies.edges().len() {
            if too_large(&self.edge_levels, edge) {
                let others = 0..bodies.triangles().len();
                let others = others.filter(|&t| !too_large(&self.triangle_levels, t));
                others.for_each(|triangle| compare(triangle, edge));
            }
        }
    }
}

/// The extent of primitives that a level takes, in cells. Even without levels no primitive may cover cells
/// without end.
fn widest(parameters: &HashParameters) -> f64 {
    if parameters.levels { LARGEST } else { 1000.0 }
}

impl EdgeTable {
    /// Puts edges of bodies of a class into the cells they pass.
    fn build<R: Real>(
        &mut self,
        context: &Context<R>,
        grid: &Grid,
        class: Class,
        wanted: impl Fn(usize) -> bool + Sync,
    ) {
        let edges = context.bodies.edges();
        let in_cells = |edge: usize| {
            corners(context.positions, edges[edge]).map(|position| grid.cells(&position))
        };
        let mut count = 0;
        for range in context.joined(class, |body| body.edges.clone()) {
            for start in range.clone().step_by(CHUNK) {
                if self.chunks.len() == count {
                    self.chunks.push(EdgeChunk::default());
                }
                self.chunks[count].edges = start..(start + CHUNK).min(range.end);
                count += 1;
            }
        }
        let chunks = &mut self.chunks[..count];
        chunks.par_iter_mut().for_each(|chunk| {
            chunk.entries.clear();
            chunk.bounds = CellBox::EMPTY;
            for edge in chunk.edges.clone().filter(|&edge| wanted(edge)) {
                let ends = in_cells(edge);
                chunk.bounds = chunk.bounds.union(box_cells(ends));
                let entry = Entry { edge: edge as u32, extent: BoxKey::of(ends) };
                segment_cells(ends, |cell| chunk.entries.push((cell, entry)));
            }
        });
        let entries = chunks.iter().map(|chunk| chunk.entries.len()).sum();
        let bounds = chunks.iter().fold(CellBox::EMPTY, |all, chunk| all.union(chunk.bounds));
        let (function, size) = (context.parameters.function, context.parameters.table);
        self.slots = Slots::new(bounds, entries, function, size);
        self.starts.clear();
        self.starts.resize(self.slots.count() + 1, 0);
        let all = || chunks.iter().flat_map(|chunk| &chunk.entries);
        for &(cell, _) in all() {
            self.starts[self.slots.of(cell) as usize] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.edges.resize(entries, Entry::default());
        // Filled backwards, every end of a slot moves to its start.
        for &(cell, entry) in all().rev() {
            let end = &mut self.starts[self.slots.of(cell) as usize];
            *end -= 1;
            self.edges[*end as usize] = entry;
        }
        debug_assert!(self.validate(grid, context), "an edge is not in a slot of its cells");
    }

    /// Whether slots follow one another without a gap, and every edge passes a cell of each slot it is in.
    fn validate<R: Real>(&self, grid: &Grid, context: &Context<R>) -> bool {
        let count = self.slots.count();
        let in_order = self.starts.len() == count + 1
            && self.starts.is_sorted()
            && self.starts.first() == Some(&0)
            && self.starts.last() == Some(&(self.edges.len() as u32));
        in_order
            && (0..count).all(|slot| {
                let range = self.starts[slot] as usize..self.starts[slot + 1] as usize;
                self.edges[range].iter().all(|entry| {
                    let ends = context.bodies.edges()[entry.edge as usize];
                    let ends = corners(context.positions, ends).map(|p| grid.cells(&p));
                    let mut passes = false;
                    segment_cells(ends, |cell| passes |= self.slots.of(cell) as usize == slot);
                    passes
                })
            })
    }

    /// Looks for edges that meet a triangle.
    fn look_up<R: Real>(
        &self,
        context: &Context<R>,
        grid: &Grid,
        triangle: u32,
        both_rest: bool,
        job: &mut Job,
    ) {
        if self.edges.is_empty() {
            return;
        }
        let shape = corners(context.positions, context.bodies.triangles()[triangle as usize]);
        let in_cells = shape.map(|position| grid.cells(&position));
        let extent = BoxKey::of(in_cells);
        let Job { candidates, statistics, .. } = job;
        candidates.clear();
        let mut visit = |from: usize, to: usize| {
            let found = &self.edges[self.starts[from] as usize..self.starts[to] as usize];
            statistics.runs += 1;
            statistics.entries += found.len() as u64;
            let near = found.iter().filter(|entry| extent.meets(entry.extent));
            candidates.extend(near.map(|entry| entry.edge));
        };
        triangle_rows(in_cells, normal(shape), self.slots.bounds(), |from, to, y, z| {
            self.slots.row(from, to, y, z, &mut visit);
        });
        candidates.sort_unstable();
        candidates.dedup();
        statistics.tests += candidates.len() as u64;
        for &edge in candidates.iter().filter(|&&edge| meet(context, triangle, edge)) {
            let pair = u64::from(triangle) << 32 | u64::from(edge);
            if both_rest { &mut job.resting_pairs } else { &mut job.pairs }.push(pair);
        }
    }
}

/// Whether an edge and a triangle may collide, share no vertex and meet.
fn meet<R: Real>(context: &Context<R>, triangle: u32, edge: u32) -> bool {
    let bodies = context.bodies;
    let own = bodies.triangles()[triangle as usize];
    let ends = bodies.edges()[edge as usize];
    let (shape, segment) = (corners(context.positions, own), corners(context.positions, ends));
    !ends.iter().any(|end| own.contains(end))
        && bodies.may_collide(bodies.body_of(own[0]), bodies.body_of(ends[0]))
        && Bounds::of(shape).overlaps(&Bounds::of(segment))
        && segment_meets_triangle(segment, shape)
}
