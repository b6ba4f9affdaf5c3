//! The inner loop: the vertices in the boxes of tetrahedra, then those in the tetrahedra.
//!
//! Whole numbers find the vertices in a box, floating-point numbers with an error bound discard most of
//! them, and exact signs decide what is left. Neither the width of the SIMD registers nor the rounding of
//! the middle step can change a result.

use fearless_simd::{Level, Simd, prelude::*, u32x4};

use super::HashStatistics;
use super::grid::CellBox;
use super::points::{GUARD, PADDING, PointTable, cell, key, width_key};
use crate::detect::corners;
use crate::detect::primitive::point_in_tetrahedron;
use crate::math::{Real, Vector3, dispatch};
use crate::state::Bodies;

/// Tetrahedra that search the cells together, as long as their common box is small.
const MOST_TOGETHER: usize = 32;

/// Candidates that are kept before they are tested; those of one tetrahedron may be more.
const ENOUGH: usize = 2048;

/// Candidates that are tested at once.
const BATCH: usize = 8;

/// Rounding units that the sign of a volume may be wrong by, for points within the box of the
/// tetrahedron; the products that are summed up are at most the cube of its extent. A generous bound: a
/// careful count gives less than 150.
const ROUNDING: f64 = 256.0;

/// Everything a search reads.
pub(super) struct Lookup<'a, R: Real> {
    pub bodies: &'a Bodies,
    pub positions: &'a [Vector3<R>],
    /// The steps of all vertices.
    pub steps: &'a [[u32; 4]],
    pub table: &'a PointTable,
    /// Whether nobody has to be asked with whom it may collide.
    pub all_may_collide: bool,
    /// The width in steps up to which tetrahedra search together.
    pub together: u32,
    /// The width in steps beyond which a tetrahedron is left to a later level.
    pub largest: u32,
}

/// What a search finds.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The number of a tetrahedron in the upper half, that of a vertex in the lower.
    pub pairs: Vec<u64>,
    /// Numbers of tetrahedra that are left to a later level.
    pub large: Vec<u32>,
    pub statistics: HashStatistics,
}

impl Found {
    pub fn clear(&mut self) {
        self.pairs.clear();
        self.large.clear();
        self.statistics = HashStatistics::default();
    }
}

/// Memory of a search.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    keys: Vec<u32>,
    vertices: Vec<u32>,
    runs: Vec<[u32; 2]>,
    candidates: Vec<[u32; 2]>,
    candidate_count: usize,
}

impl<R: Real> Lookup<'_, R> {
    /// Looks for vertices in these tetrahedra, which have these numbers.
    pub fn search(
        &self,
        level: Level,
        tetrahedra: &[[u32; 4]],
        names: &[u32],
        scratch: &mut Scratch,
        found: &mut Found,
    ) {
        dispatch!(level, simd => self.vectorized(simd, tetrahedra, names, scratch, found));
    }

    #[inline(always)]
    fn vectorized<S: Simd>(
        &self,
        simd: S,
        tetrahedra: &[[u32; 4]],
        names: &[u32],
        scratch: &mut Scratch,
        found: &mut Found,
    ) {
        scratch.candidate_count = 0;
        let mut next = 0;
        found.statistics.queries += tetrahedra.len() as u64;
        while next < tetrahedra.len() {
            next += self.search_group(simd, next, tetrahedra, names, scratch, found);
            if scratch.candidate_count > ENOUGH || next == tetrahedra.len() {
                let candidates = &scratch.candidates[..scratch.candidate_count];
                found.statistics.tests += candidates.len() as u64;
                for batch in candidates.chunks(BATCH) {
                    self.test(batch, tetrahedra, names, found);
                }
                scratch.candidate_count = 0;
            }
        }
    }

    /// Collects candidates for as many tetrahedra as are close together; returns how many.
    #[inline(always)]
    fn search_group<S: Simd>(
        &self,
        simd: S,
        first: usize,
        tetrahedra: &[[u32; 4]],
        names: &[u32],
        scratch: &mut Scratch,
        found: &mut Found,
    ) -> usize {
        let lanes = S::u32s::LEN;
        let mut boxes = [[0u32; 3]; MOST_TOGETHER];
        let (mut low, mut high) = (u32x4::splat(simd, u32::MAX), u32x4::splat(simd, 0));
        let (mut taken, mut members) = (0, 0);
        for (place, tetrahedron) in tetrahedra[first..].iter().enumerate().take(MOST_TOGETHER) {
            let [a, b, c, d] =
                tetrahedron.map(|v| u32x4::from_slice(simd, &self.steps[v as usize]));
            let (own_low, own_high) = (a.min(b).min(c.min(d)), a.max(b).max(c.max(d)));
            let (new_low, new_high) = (low.min(own_low), high.max(own_high));
            let widths: [u32; 4] = (own_high - own_low).into();
            let common: [u32; 4] = (new_high - new_low).into();
            if widths[0].max(widths[1]).max(widths[2]) > self.largest {
                // It ends a group, so that it is met once.
                if members == 0 {
                    found.large.push(names[first + place]);
                    taken += 1;
                    continue;
                }
                break;
            }
            if members > 0 && common[0].max(common[1]).max(common[2]) > self.together {
                break;
            }
            (low, high) = (new_low, new_high);
            boxes[members] = [key(own_low.into()), width_key(widths), place as u32];
            members += 1;
            taken += 1;
        }
        if members == 0 {
            return taken;
        }
        let gathered = self.gather(simd, low.into(), high.into(), scratch, found);
        let most = ENOUGH + gathered + 1;
        if scratch.candidates.len() < most {
            scratch.candidates.resize(2 * most, [0; 2]);
        }
        let candidates = &mut scratch.candidates[..];
        let mut count = scratch.candidate_count;
        let (keys, vertices) = (&scratch.keys[..], &scratch.vertices[..]);
        let guard = S::u32s::splat(simd, GUARD);
        for &[low, widths, place] in &boxes[..members] {
            if count > ENOUGH {
                // The others of this group come again.
                taken = place as usize;
                break;
            }
            let place = first as u32 + place;
            let own = tetrahedra[place as usize].map(|v| S::u32s::splat(simd, v));
            let (low, widths) = (S::u32s::splat(simd, low), S::u32s::splat(simd, widths));
            let mut from = 0;
            while from < gathered {
                let key = S::u32s::from_slice(simd, &keys[from..from + lanes]);
                let vertex = S::u32s::from_slice(simd, &vertices[from..from + lanes]);
                let inside = ((widths - ((key - low) & !guard)) & guard).simd_eq(guard);
                let corner = vertex.simd_eq(own[0])
                    | vertex.simd_eq(own[1])
                    | vertex.simd_eq(own[2])
                    | vertex.simd_eq(own[3]);
                let mut bits = (inside & !corner).to_bitmask() & lowest(gathered - from, lanes);
                // The first one is written whether or not it is there: most often it decides nothing
                // and a branch would be guessed wrong.
                let lane = bits.trailing_zeros() as usize & (lanes - 1);
                candidates[count] = [place, vertices[from + lane]];
                count += usize::from(bits != 0);
                bits &= bits.wrapping_sub(1);
                while bits != 0 {
                    let lane = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    candidates[count] = [place, vertices[from + lane]];
                    count += 1;
                }
                from += lanes;
            }
        }
        scratch.candidate_count = count;
        taken
    }

    /// Copies the points in a box of steps out of the table; returns how many.
    #[inline(always)]
    fn gather<S: Simd>(
        &self,
        simd: S,
        low: [u32; 4],
        high: [u32; 4],
        scratch: &mut Scratch,
        found: &mut Found,
    ) -> usize {
        let lanes = S::u32s::LEN;
        let cells = CellBox { low: cell(low), high: cell(high) };
        let widths = [high[0] - low[0], high[1] - low[1], high[2] - low[2], 0];
        let (low, widths) = (key(low), width_key(widths));
        let (low, widths) = (S::u32s::splat(simd, low), S::u32s::splat(simd, widths));
        let guard = S::u32s::splat(simd, GUARD);
        let starts = &self.table.starts[..];
        let (keys, vertices) = (&self.table.keys[..], &self.table.vertices[..]);
        // The runs first: a closure with SIMD in it would not be compiled for the instruction set.
        let (runs, mut entries) = (&mut scratch.runs, 0);
        runs.clear();
        self.table.slots.runs(&cells, |from, to| {
            let (from, to) = (starts[from], starts[to]);
            runs.push([from, to]);
            entries += (to - from) as usize;
        });
        if scratch.keys.len() < entries + PADDING {
            scratch.keys.resize(2 * entries + PADDING, 0);
            scratch.vertices.resize(2 * entries + PADDING, 0);
        }
        let mut gathered = 0;
        for &[from, to] in runs.iter() {
            let (mut from, to) = (from as usize, to as usize);
            while from < to {
                let key = S::u32s::from_slice(simd, &keys[from..from + lanes]);
                let vertex = S::u32s::from_slice(simd, &vertices[from..from + lanes]);
                let inside = ((widths - ((key - low) & !guard)) & guard).simd_eq(guard);
                let bits = inside.to_bitmask() & lowest(to - from, lanes);
                let inside = S::mask32s::from_bitmask(simd, bits);
                let place = gathered..gathered + lanes;
                key.compress(inside).store_slice(&mut scratch.keys[place.clone()]);
                vertex.compress(inside).store_slice(&mut scratch.vertices[place]);
                gathered += bits.count_ones() as usize;
                from += lanes;
            }
        }
        found.statistics.runs += runs.len() as u64;
        found.statistics.entries += entries as u64;
        gathered
    }

    /// Tests candidates, up to [`BATCH`] of them, each a place in the list of tetrahedra and a vertex.
    #[inline(always)]
    fn test(&self, batch: &[[u32; 2]], tetrahedra: &[[u32; 4]], names: &[u32], found: &mut Found) {
        let zero = R::nearest(0.0);
        // Lane by lane: the first three corners, the point, and the fourth corner.
        let mut points = [[[zero; BATCH]; 3]; 5];
        for lane in 0..BATCH {
            let [place, vertex] = batch[lane.min(batch.len() - 1)];
            let [a, b, c, d] = tetrahedra[place as usize];
            for (point, name) in points.iter_mut().zip([a, b, c, vertex, d]) {
                let position = &self.positions[name as usize];
                for axis in 0..3 {
                    point[axis][lane] = position[axis];
                }
            }
        }
        let (worst, margin) = smallest_weights(&points);
        for (lane, &[place, vertex]) in batch.iter().enumerate() {
            if worst[lane] < -margin[lane] {
                continue;
            }
            let tetrahedron = tetrahedra[place as usize];
            let inside = worst[lane] > margin[lane] || {
                let shape = corners(self.positions, tetrahedron);
                point_in_tetrahedron(self.positions[vertex as usize], shape)
            };
            let may = || {
                let [own, other] = [tetrahedron[0], vertex].map(|v| self.bodies.body_of(v));
                self.bodies.may_collide(own, other)
            };
            if inside && (self.all_may_collide || may()) {
                found.pairs.push(u64::from(names[place as usize]) << 32 | u64::from(vertex));
            }
        }
    }
}

/// The lowest bits: as many as there are lanes left.
#[inline(always)]
fn lowest(left: usize, lanes: usize) -> u64 {
    !(u64::MAX << left.min(lanes))
}

/// The smallest of the four volumes that a point spans with the faces of a tetrahedron, negative if it is
/// outside, and how wrong it may be.
#[inline(always)]
fn smallest_weights<R: Real>(points: &[[[R; BATCH]; 3]; 5]) -> ([R; BATCH], [R; BATCH]) {
    let zero = R::nearest(0.0);
    let unit = R::nearest(ROUNDING) * R::default_epsilon();
    // Where products of three lengths underflow, exact signs decide.
    let tiny = R::nearest(if size_of::<R>() == 4 { 1e-37 } else { 1e-300 });
    let (mut worst, mut margin) = ([zero; BATCH], [zero; BATCH]);
    let smaller = |a: R, b: R| if a < b { a } else { b };
    let larger = |a: R, b: R| if a > b { a } else { b };
    let magnitude = |a: R| if a < zero { -a } else { a };
    for lane in 0..BATCH {
        let relative =
            |k: usize| [0, 1, 2].map(|axis| points[k][axis][lane] - points[4][axis][lane]);
        let [a, b, c, p] = [relative(0), relative(1), relative(2), relative(3)];
        let cross = |u: [R; 3], v: [R; 3]| {
            [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
        };
        let dot = |u: [R; 3], v: [R; 3]| u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
        let extent = |u: [R; 3]| larger(magnitude(u[0]), larger(magnitude(u[1]), magnitude(u[2])));
        let (bc, ap) = (cross(b, c), cross(a, p));
        let volume = dot(a, bc);
        let sign = if volume < zero { -R::nearest(1.0) } else { R::nearest(1.0) };
        let (first, second, third) = (dot(p, bc), dot(c, ap), -dot(b, ap));
        let fourth = volume - first - second - third;
        worst[lane] =
            smaller(smaller(sign * first, sign * second), smaller(sign * third, sign * fourth));
        let extent = larger(extent(a), larger(extent(b), extent(c)));
        margin[lane] = extent * extent * extent * unit + tiny;
    }
    (worst, margin)
}
