//! Optimized spatial hashing (THESIS chapter 4) and what comes after it: several levels of cells, bodies
//! at rest, all cores.
//!
//! Vertices go into the cells of a grid and tetrahedra look into the cells their boxes cover; edges go
//! into the cells they pass and triangles look into the cells that their box and plane share. A primitive
//! much larger than the cells waits for a level of larger ones, so it never covers more than a few.

mod cells;
mod edges;
mod grid;
mod kernel;
mod levels;
mod points;
mod resting;
mod tetrahedra;

use std::ops::Range;

use rayon::prelude::*;

use super::{Detector, Hits, Questions, check_positions, edge_hit, point_hit};
use crate::error::DetectError;
use crate::math::{Bounds, Real, Vector3};
use crate::state::{Bodies, Body, Collides};
use resting::Class;

/// How cells are mapped to slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HashFunction {
    /// Cells of a row along x have neighbouring slots, so that a primitive reads a few short runs; rows
    /// are spread, or stand behind one another where there is a slot for every cell.
    #[default]
    Rows,
    /// Products with large primes, combined by exclusive or (THESIS 4.7).
    Thesis,
}

/// How many slots a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TableSize {
    /// One for each cell if the cells are not many more than the entries, twice the entries otherwise.
    #[default]
    Automatic,
    /// A number that is rounded up to a power of two.
    Slots(usize),
}

/// How large the smallest cells are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum CellSize {
    /// 1.5 times the mean extent of the primitives, found again whenever bodies come or go.
    #[default]
    Automatic,
    /// So many times the mean extent of the primitives.
    TimesMeanExtent(f64),
    /// A length.
    Length(f64),
}

/// What may be chosen. The defaults follow from `defcol suite hashing-parameters`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HashParameters {
    /// How cells are mapped to slots.
    pub function: HashFunction,
    /// How many slots a table has.
    pub table: TableSize,
    /// How large the smallest cells are.
    pub cell: CellSize,
    /// Whether large primitives get levels with larger cells. Without, as in the thesis, a primitive
    /// looks into every cell of the one level.
    pub levels: bool,
    /// Whether bodies that did not move since the last call keep their entries.
    pub keep_resting: bool,
}

impl Default for HashParameters {
    fn default() -> Self {
        Self {
            function: HashFunction::default(),
            table: TableSize::default(),
            cell: CellSize::default(),
            levels: true,
            keep_resting: true,
        }
    }
}

/// What the last call did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HashStatistics {
    /// Edge of the smallest cells.
    pub cell: f64,
    /// Levels of cells.
    pub levels: usize,
    /// Slots of all tables.
    pub slots: usize,
    /// Tetrahedra and triangles that looked into cells.
    pub queries: u64,
    /// Runs of slots they looked into.
    pub runs: u64,
    /// Entries they met there: tests of boxes.
    pub entries: u64,
    /// Tests between two primitives.
    pub tests: u64,
    /// Bodies that kept their entries.
    pub resting: usize,
}

impl HashStatistics {
    fn add(&mut self, other: &Self) {
        self.queries += other.queries;
        self.runs += other.runs;
        self.entries += other.entries;
        self.tests += other.tests;
    }
}

/// Finds collisions by spatial hashing. It keeps its memory from call to call: once it has seen a scene,
/// a call allocates nothing. What it finds does not depend on earlier calls.
#[derive(Debug, Default)]
pub struct SpatialHash<R: Real> {
    parameters: HashParameters,
    statistics: HashStatistics,
    resting: resting::Resting<R>,
    tetrahedra: tetrahedra::Search,
    edges: edges::Search,
    pairs: Vec<u64>,
}

impl<R: Real> SpatialHash<R> {
    /// With parameters of one's own.
    pub fn with(parameters: HashParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// What the last call did.
    pub fn statistics(&self) -> &HashStatistics {
        &self.statistics
    }
}

/// What a search needs to know of this call.
struct Context<'a, R: Real> {
    bodies: &'a Bodies,
    positions: &'a [Vector3<R>],
    parameters: HashParameters,
    /// The box around everything.
    bounds: Bounds<f64>,
    classes: &'a [Class],
    /// Whether every body may collide with every one, itself included.
    all_may_collide: bool,
    /// Changes when other bodies rest; what is kept of resting bodies is valid for one generation.
    generation: u64,
}

impl<R: Real> Context<'_, R> {
    /// The vertices of bodies of a class.
    fn ranges(&self, class: Class) -> impl Iterator<Item = Range<usize>> {
        self.joined(class, |body| body.vertices.clone())
    }

    /// The tetrahedra of bodies of a class.
    fn tetrahedra(&self, class: Class) -> impl Iterator<Item = Range<usize>> {
        self.joined(class, |body| body.tetrahedra.clone())
    }

    /// Ranges of bodies of a class, those that touch joined.
    fn joined(
        &self,
        class: Class,
        range: impl Fn(&Body) -> Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> {
        let of_class =
            self.bodies.list().iter().zip(self.classes).filter(move |(_, c)| **c == class);
        let mut ranges =
            of_class.map(move |(body, _)| range(body)).filter(|r| !r.is_empty()).peekable();
        std::iter::from_fn(move || {
            let mut joined = ranges.next()?;
            while let Some(next) = ranges.next_if(|next| next.start == joined.end) {
                joined.end = next.end;
            }
            Some(joined)
        })
    }
}

impl<R: Real> Detector<R> for SpatialHash<R> {
    fn detect(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        questions: Questions,
        hits: &mut Hits<R>,
    ) -> Result<(), DetectError> {
        check_positions(bodies, positions)?;
        hits.points.clear();
        hits.edges.clear();
        self.resting.update(bodies, positions, self.parameters.keep_resting);
        let anyone = Collides::with_all_and_itself();
        let context = Context {
            bodies,
            positions,
            parameters: self.parameters,
            bounds: bounds_of(positions),
            classes: self.resting.classes(),
            all_may_collide: bodies.list().iter().all(|body| body.collides == anyone),
            generation: self.resting.generation,
        };
        let resting = context.classes.iter().filter(|&&class| class == Class::Resting).count();
        self.statistics = HashStatistics { resting, ..HashStatistics::default() };
        if questions.points_in_tetrahedra {
            self.pairs.clear();
            self.tetrahedra.find(&context, &mut self.pairs, &mut self.statistics);
            in_order(&mut self.pairs, &mut hits.points, |pair| point_hit(bodies, positions, pair));
        }
        if questions.edges_through_triangles {
            self.pairs.clear();
            self.edges.find(&context, &mut self.pairs, &mut self.statistics);
            in_order(&mut self.pairs, &mut hits.edges, |pair| edge_hit(bodies, positions, pair));
        }
        Ok(())
    }
}

/// Pairs, which may come twice, as hits in ascending order.
fn in_order<H: Send>(pairs: &mut Vec<u64>, hits: &mut Vec<H>, hit: impl Fn([u32; 2]) -> H + Sync) {
    pairs.sort_unstable();
    pairs.dedup();
    let halves = |&pair: &u64| [(pair >> 32) as u32, pair as u32];
    hits.par_extend(pairs.par_iter().with_min_len(1024).map(|pair| hit(halves(pair))));
}

/// The box around all positions.
fn bounds_of<R: Real>(positions: &[Vector3<R>]) -> Bounds<f64> {
    let around = |some: &[Vector3<R>]| {
        let (mut low, mut high) = (some[0], some[0]);
        for position in some {
            for axis in 0..3 {
                let x = position[axis];
                low[axis] = if x < low[axis] { x } else { low[axis] };
                high[axis] = if x > high[axis] { x } else { high[axis] };
            }
        }
        Bounds { min: low.map(R::to_f64), max: high.map(R::to_f64) }
    };
    positions.par_chunks(1 << 14).map(around).reduce(Bounds::empty, Bounds::union)
}
