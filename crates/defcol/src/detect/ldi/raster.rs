//! From triangles to fragments.
//!
//! The middles of pixels are at whole steps, and so are the vertices after snapping; signs of areas are
//! therefore exact. A middle that lies on an edge counts as moved by an infinitely small amount along the
//! columns and an infinitely smaller one along the rows. So moved it lies on no edge at all, the same
//! whichever triangle asks, and a closed surface has as many entries as exits on every ray.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use fearless_simd::{Level, Simd, prelude::*};

use super::fragment::{self, Fragment};
use super::region::Start;
use super::shell::Shell;
use super::view::{FAR, Grid, MAX_DEPTH};
use crate::math::{Real, Vector3, dispatch};

/// Triangles that are looked at together, a multiple of [`LANES`].
const BLOCK: usize = 256;

/// Numbers that are computed at once.
const LANES: usize = 128;

/// Pixels in the box of a triangle whose fragments are counted at once.
const LARGE: usize = 1 << 12;

/// Room for small triangles that wait to be computed together.
const ROOM: usize = 2 * BLOCK;

/// Bits of a code that hold the first pixel of a vertex along columns and rows.
const COLUMN: u32 = 0x1fff;
const ROW: u32 = COLUMN << 16;

/// Set in a code if the vertex is too far from the raster for quick exact arithmetic.
const DISTANT: u32 = 1 << 15;

/// Set in a code if the vertex is behind the end of the rays from which nothing is counted.
const BEYOND: u32 = 1 << 31;

/// Where a vertex is, as far as it decides which triangles can have fragments.
struct Code {
    grid: Grid,
    /// Beyond these coordinates along the rays a vertex is behind the end from which nothing is counted.
    limits: [f64; 2],
}

impl<R: Real> Numbering<R> for Code {
    #[inline(always)]
    fn number(&self, position: &Vector3<R>) -> u32 {
        let grid = &self.grid;
        let [u, v, w] = grid.axes;
        let (x, y) = (grid.steps(0, position[u].to_f64()), grid.steps(1, position[v].to_f64()));
        let along = position[w].to_f64();
        let beyond = (along < self.limits[0]) | (along > self.limits[1]);
        let distant = (x.abs() > FAR) | (y.abs() > FAR);
        let pixels = grid.first_pixel(x) as u32 | (grid.first_pixel(y) as u32) << 16;
        pixels | if distant { DISTANT } else { 0 } | if beyond { BEYOND } else { 0 }
    }
}

/// A number for a position. A trait and no closure, which would not be compiled for the instruction set.
pub(super) trait Numbering<R: Real> {
    fn number(&self, position: &Vector3<R>) -> u32;
}

/// Computes a number for each position, several at once.
///
/// The loops have a fixed length on purpose: with a length that is not known, LLVM 22 loses bits in the epilogue
/// of the vectorised loop. The tests of points notice it, in the release profile.
#[inline(always)]
pub(super) fn for_each_position<S: Simd, R: Real>(
    _simd: S,
    positions: &[Vector3<R>],
    numbers: &mut [u32],
    numbering: &impl Numbering<R>,
) {
    let (chunks, rest) = positions.as_chunks::<LANES>();
    let (outs, rest_out) = numbers[..positions.len()].as_chunks_mut::<LANES>();
    for (out, chunk) in outs.iter_mut().zip(chunks) {
        for (out, position) in out.iter_mut().zip(chunk) {
            *out = numbering.number(position);
        }
    }
    if let Some(last) = rest.last() {
        let (mut chunk, mut out) = ([*last; LANES], [0; LANES]);
        chunk[..rest.len()].copy_from_slice(rest);
        for (out, position) in out.iter_mut().zip(&chunk) {
            *out = numbering.number(position);
        }
        rest_out.copy_from_slice(&out[..rest.len()]);
    }
}

/// The codes of vertices.
pub(super) fn encode<R: Real>(
    level: Level,
    grid: &Grid,
    start: Start,
    positions: &[Vector3<R>],
    codes: &mut [u32],
) {
    let limits = match start {
        Start::Near => [f64::NEG_INFINITY, grid.far],
        Start::Far => [grid.near, f64::INFINITY],
        Start::HalfInfinite | Start::BalancedOnly => [f64::NEG_INFINITY, f64::INFINITY],
    };
    let code = Code { grid: *grid, limits };
    dispatch!(level, simd => for_each_position(simd, positions, codes, &code));
}

/// Fragments in the order in which they were made, with their pixels.
#[derive(Debug, Default)]
pub(super) struct List {
    pub pixels: Vec<u32>,
    /// As numbers.
    pub fragments: Vec<u64>,
    pub count: usize,
}

impl List {
    /// Makes room for so many more.
    #[inline(always)]
    fn reserve(&mut self, more: usize) {
        if self.count + more > self.pixels.len() {
            self.grow(more);
        }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let size = (2 * (self.count + more)).max(1 << 12);
        self.pixels.resize(size, 0);
        self.fragments.resize(size, 0);
    }
}

/// A triangle in steps: corners along columns and rows, and their depths.
struct Snapped {
    x: [f64; 3],
    y: [f64; 3],
    z: [f64; 3],
}

impl Snapped {
    #[inline(always)]
    fn of<R: Real>(grid: &Grid, corners: [[R; 3]; 3]) -> Self {
        let mut snapped = Self { x: [0.0; 3], y: [0.0; 3], z: [0.0; 3] };
        for k in 0..3 {
            snapped.x[k] = grid.steps(0, corners[k][0].to_f64());
            snapped.y[k] = grid.steps(1, corners[k][1].to_f64());
            snapped.z[k] = grid.depth(corners[k][2].to_f64());
        }
        snapped
    }

    /// The depths that fragments can have.
    #[inline(always)]
    fn depths(&self) -> [f64; 2] {
        let [a, b, c] = self.z;
        let limit = |depth: f64| smaller(larger(depth, 0.0), f64::from(MAX_DEPTH));
        [limit(smaller(smaller(a, b), c)), limit(larger(larger(a, b), c))]
    }
}

/// Compiled to one instruction, unlike `min`, which cares for what is not a number.
#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The three lines through the edges of a triangle, each opposite a corner.
struct Lines {
    /// Twice the area that a point spans with the edge, positive on the inner side.
    weight: [f64; 3],
    /// How much that grows from column to column and from row to row.
    across: [f64; 3],
    up: [f64; 3],
    /// The weights are whole numbers; on the inner side they are above this.
    outside: [f64; 3],
    /// One over the sum of the weights.
    inverse: f64,
    /// Whether rays leave the body through the triangle.
    exit: bool,
}

impl Lines {
    /// The lines of a triangle with an area, and their weights at a point.
    #[inline(always)]
    fn new(corners: &Snapped, pixel: f64, [left, low]: [f64; 2]) -> Option<Self> {
        let (x, y) = (&corners.x, &corners.y);
        let area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
        let sign = if area > 0.0 { 1.0 } else { -1.0 };
        let mut lines = Self {
            weight: [0.0; 3],
            across: [0.0; 3],
            up: [0.0; 3],
            outside: [0.0; 3],
            inverse: sign / area,
            exit: area > 0.0,
        };
        for k in 0..3 {
            let (p, q) = ((k + 1) % 3, (k + 2) % 3);
            let (dx, dy) = (x[q] - x[p], y[q] - y[p]);
            lines.weight[k] = sign * (dx * (low - y[p]) - dy * (left - x[p]));
            lines.across[k] = -sign * dy * pixel;
            lines.up[k] = sign * dx * pixel;
            // The tie rule: which side a point on the line belongs to.
            let inner = ((dy < 0.0) | ((dy == 0.0) & (dx > 0.0))) == (area > 0.0);
            lines.outside[k] = if inner { -0.5 } else { 0.5 };
        }
        (area != 0.0).then_some(lines)
    }
}

/// The weights of the corners of a triangle at the middle of a pixel.
pub(super) fn weights(
    grid: &Grid,
    [column, row]: [u32; 2],
    corners: [Vector3<f64>; 3],
) -> [f64; 3] {
    let [u, v, w] = grid.axes;
    let pixel = f64::from(1u32 << grid.shift);
    let middle = [f64::from(column) * pixel, f64::from(row) * pixel];
    let snapped = Snapped::of(grid, corners.map(|corner| [corner[u], corner[v], corner[w]]));
    let Some(lines) = Lines::new(&snapped, pixel, middle) else { return [0.0; 3] };
    lines.weight.map(|weight| (weight * lines.inverse).clamp(0.0, 1.0))
}

/// Triangles that were looked at together.
struct Kept {
    /// How many of them are kept, and which.
    count: usize,
    lanes: [u32; 2 * BLOCK],
    /// The codes of the corners.
    codes: [[u32; BLOCK]; 3],
}

const RAMP: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Triangles whose boxes have the middle of just one pixel in them: coordinate by coordinate, so that
/// many are done at once.
struct Small<R> {
    count: usize,
    corners: [[[R; ROOM]; 3]; 3],
    column: [u32; ROOM],
    row: [u32; ROOM],
    triangle: [u32; ROOM],
    inside: [bool; ROOM],
    fragment: [u64; ROOM],
}

impl<R: Real> Small<R> {
    fn new() -> Self {
        Self {
            count: 0,
            corners: [[[R::nearest(0.0); ROOM]; 3]; 3],
            column: [0; ROOM],
            row: [0; ROOM],
            triangle: [0; ROOM],
            inside: [false; ROOM],
            fragment: [0; ROOM],
        }
    }

    /// Finds out which of them have a fragment.
    #[inline(always)]
    fn compute(&mut self, grid: &Grid) {
        let grid = *grid;
        let pixel = f64::from(1u32 << grid.shift);
        // Of fixed length, like the loops of `for_each_position`.
        for first in (0..self.count).step_by(LANES) {
            for lane in 0..LANES {
                let lane = first + lane;
                let mut corners = [[R::nearest(0.0); 3]; 3];
                for k in 0..3 {
                    for axis in 0..3 {
                        corners[k][axis] = self.corners[k][axis][lane];
                    }
                }
                let corners = Snapped::of(&grid, corners);
                let middle = [
                    f64::from(self.column[lane] as i32) * pixel,
                    f64::from(self.row[lane] as i32) * pixel,
                ];
                let (x, y, z) = (&corners.x, &corners.y, &corners.z);
                let area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
                let sign = if area > 0.0 { 1.0 } else { -1.0 };
                let mut inside = area != 0.0;
                let mut sum = 0.0;
                for k in 0..3 {
                    let (p, q) = ((k + 1) % 3, (k + 2) % 3);
                    let (dx, dy) = (x[q] - x[p], y[q] - y[p]);
                    let weight = sign * (dx * (middle[1] - y[p]) - dy * (middle[0] - x[p]));
                    let inner = ((dy < 0.0) | ((dy == 0.0) & (dx > 0.0))) == (area > 0.0);
                    inside &= weight > if inner { -0.5 } else { 0.5 };
                    sum += weight * z[k];
                }
                let [shallow, deep] = corners.depths();
                let depth = smaller(larger(sum * (sign / area), shallow), deep);
                self.inside[lane] = inside;
                self.fragment[lane] =
                    Fragment::new(depth, Fragment::id(self.triangle[lane], area > 0.0)).number();
            }
        }
    }
}

/// Everything that rasterising reads.
pub(super) struct Raster<'a, R: Real> {
    pub shell: &'a Shell<'a, R>,
    pub grid: &'a Grid,
    /// One for each vertex.
    pub codes: &'a [u32],
    /// The number of the first triangle in the image.
    pub first: u32,
    /// For each row of pixels the list that its fragments go to.
    pub band_of_row: &'a [u32],
    /// How many fragments all threads have made, and how many there may be; beyond that it ends early.
    pub made: &'a AtomicUsize,
    pub most: usize,
}

impl<R: Real> Raster<'_, R> {
    /// Makes the fragments of some of the triangles.
    pub fn run(&self, level: Level, triangles: Range<usize>, lists: &mut [List]) {
        dispatch!(level, simd => self.vectorized(simd, triangles, lists));
    }

    #[inline(always)]
    fn vectorized<S: Simd>(&self, simd: S, triangles: Range<usize>, lists: &mut [List]) {
        let mut kept = Kept { count: 0, lanes: [0; 2 * BLOCK], codes: [[0; BLOCK]; 3] };
        let mut small = Small::new();
        let mut counted = lists.iter().map(|list| list.count).sum::<usize>();
        let mut first = triangles.start;
        while first < triangles.end {
            let last = triangles.end.min(first + BLOCK);
            self.filter(simd, first..last, &mut kept);
            self.count(lists, &mut counted);
            if self.is_too_much() {
                break;
            }
            for &lane in &kept.lanes[..kept.count] {
                let lane = lane as usize % BLOCK;
                let codes = [kept.codes[0][lane], kept.codes[1][lane], kept.codes[2][lane]];
                let [columns, rows] = covered(codes);
                let distant = (codes[0] | codes[1] | codes[2]) & DISTANT != 0;
                let triangle = (first + lane) as u32;
                if (columns.len() == 1) & (rows.len() == 1) & !distant {
                    self.gather(triangle, columns.start, rows.start, &mut small);
                } else {
                    self.triangle(simd, triangle, codes, lists);
                    if columns.len() * rows.len() > LARGE {
                        self.count(lists, &mut counted);
                        if self.is_too_much() {
                            break;
                        }
                    }
                }
            }
            if small.count > ROOM - BLOCK {
                self.emit(&mut small, lists);
            }
            first = last;
        }
        self.emit(&mut small, lists);
    }

    #[inline(always)]
    fn gather(&self, triangle: u32, column: u32, row: u32, small: &mut Small<R>) {
        let lane = small.count;
        small.count += 1;
        let corners = self.corners(triangle);
        for k in 0..3 {
            for axis in 0..3 {
                small.corners[k][axis][lane] = corners[k][axis];
            }
        }
        small.column[lane] = column;
        small.row[lane] = row;
        small.triangle[lane] = self.first + triangle;
    }

    /// Makes the fragments of the small triangles that wait.
    #[inline(always)]
    fn emit(&self, small: &mut Small<R>, lists: &mut [List]) {
        small.compute(self.grid);
        lists.iter_mut().for_each(|list| list.reserve(small.count));
        for lane in 0..small.count {
            let row = small.row[lane];
            let list = &mut lists[self.band_of_row[row as usize] as usize];
            // Written in any case: a branch would be guessed wrong.
            list.pixels[list.count] = row * self.grid.resolution as u32 + small.column[lane];
            list.fragments[list.count] = small.fragment[lane];
            list.count += usize::from(small.inside[lane]);
        }
        small.count = 0;
    }

    /// Keeps the triangles whose boxes have the middle of a pixel in them.
    #[inline(always)]
    fn filter<S: Simd>(&self, simd: S, triangles: Range<usize>, kept: &mut Kept) {
        let own = self.shell.first();
        let corners = &self.shell.triangles()[triangles];
        let (codes, [first, second, third]) = (self.codes, &mut kept.codes);
        for (((&[a, b, c], first), second), third) in
            corners.iter().zip(first).zip(second).zip(third)
        {
            *first = codes[(a - own) as usize];
            *second = codes[(b - own) as usize];
            *third = codes[(c - own) as usize];
        }
        let lanes = S::u32s::LEN;
        let splat = |value: u32| S::u32s::splat(simd, value);
        let (column, row, beyond, zero) = (splat(COLUMN), splat(ROW), splat(BEYOND), splat(0));
        let mut number = S::u32s::from_slice(simd, &RAMP[..lanes]);
        let mut count = 0;
        let mut from = 0;
        while from < corners.len() {
            let a = S::u32s::from_slice(simd, &kept.codes[0][from..from + lanes]);
            let b = S::u32s::from_slice(simd, &kept.codes[1][from..from + lanes]);
            let c = S::u32s::from_slice(simd, &kept.codes[2][from..from + lanes]);
            let differ = (a ^ b) | (a ^ c);
            let outside = (differ & column).simd_eq(zero)
                | (differ & row).simd_eq(zero)
                | (a & b & c & beyond).simd_eq(beyond);
            let left = corners.len() - from;
            let bits = (!outside).to_bitmask() & !(u64::MAX << left.min(lanes));
            let keep = S::mask32s::from_bitmask(simd, bits);
            number.compress(keep).store_slice(&mut kept.lanes[count..count + lanes]);
            count += bits.count_ones() as usize;
            number += splat(lanes as u32);
            from += lanes;
        }
        kept.count = count;
    }

    /// The corners of a triangle along columns, rows and rays.
    #[inline(always)]
    fn corners(&self, triangle: u32) -> [[R; 3]; 3] {
        let own = self.shell.first();
        let [u, v, w] = self.grid.axes;
        let [a, b, c] = self.shell.triangles()[triangle as usize];
        let position = |corner: u32| {
            let position = &self.shell.positions()[(corner - own) as usize];
            [position[u], position[v], position[w]]
        };
        [position(a), position(b), position(c)]
    }

    /// Adds what has come into the lists since to what all threads have made.
    fn count(&self, lists: &[List], counted: &mut usize) {
        let now = lists.iter().map(|list| list.count).sum::<usize>();
        self.made.fetch_add(now - *counted, Ordering::Relaxed);
        *counted = now;
    }

    /// Whether there are too many fragments already.
    #[inline(always)]
    fn is_too_much(&self) -> bool {
        self.made.load(Ordering::Relaxed) > self.most
    }

    #[inline(always)]
    fn triangle<S: Simd>(&self, simd: S, triangle: u32, codes: [u32; 3], lists: &mut [List]) {
        let [a, b, c] = codes;
        let corners = Snapped::of(self.grid, self.corners(triangle));
        if (a | b | c) & DISTANT != 0 {
            return self.distant(triangle, codes, &corners, lists);
        }
        let [columns, rows] = covered(codes);
        let pixel = f64::from(1u32 << self.grid.shift);
        let first = [f64::from(columns.start) * pixel, f64::from(rows.start) * pixel];
        let Some(lines) = Lines::new(&corners, pixel, first) else {
            return;
        };
        let Lines { weight, across, up, outside, inverse, exit } = lines;
        let id = Fragment::id(self.first + triangle, exit);
        let z = &corners.z;
        let [shallow, deep] = corners.depths();
        let width = columns.len();
        let lanes = S::f64s::LEN;
        let ramp = S::f64s::from_slice(simd, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0][..lanes]);
        // Closures with SIMD in them would not be compiled for the instruction set.
        let step = lanes as f64;
        let mut first0 = ramp * S::f64s::splat(simd, across[0]) + S::f64s::splat(simd, weight[0]);
        let mut first1 = ramp * S::f64s::splat(simd, across[1]) + S::f64s::splat(simd, weight[1]);
        let mut first2 = ramp * S::f64s::splat(simd, across[2]) + S::f64s::splat(simd, weight[2]);
        let step0 = S::f64s::splat(simd, step * across[0]);
        let step1 = S::f64s::splat(simd, step * across[1]);
        let step2 = S::f64s::splat(simd, step * across[2]);
        let up0 = S::f64s::splat(simd, up[0]);
        let up1 = S::f64s::splat(simd, up[1]);
        let up2 = S::f64s::splat(simd, up[2]);
        let outside0 = S::f64s::splat(simd, outside[0]);
        let outside1 = S::f64s::splat(simd, outside[1]);
        let outside2 = S::f64s::splat(simd, outside[2]);
        let depth0 = S::f64s::splat(simd, z[0]);
        let depth1 = S::f64s::splat(simd, z[1]);
        let depth2 = S::f64s::splat(simd, z[2]);
        let inverse = S::f64s::splat(simd, inverse);
        let (shallow, deep) = (S::f64s::splat(simd, shallow), S::f64s::splat(simd, deep));
        let whole = S::f64s::splat(simd, fragment::WHOLE);
        let id = S::u64s::splat(simd, u64::from(id));
        for row in rows {
            let list = &mut lists[self.band_of_row[row as usize] as usize];
            list.reserve(width + lanes);
            let begin = row * self.grid.resolution as u32 + columns.start;
            let (mut w0, mut w1, mut w2) = (first0, first1, first2);
            let mut column = 0;
            let mut met = false;
            while column < width {
                let inside = w0.simd_gt(outside0) & w1.simd_gt(outside1) & w2.simd_gt(outside2);
                let left = (width - column).min(lanes);
                let bits = inside.to_bitmask() & (u64::MAX >> (64 - left));
                if (bits == 0) & met {
                    break;
                }
                met |= bits != 0;
                let sum = w0 * depth0 + w1 * depth1 + w2 * depth2;
                let depth = (sum * inverse).max(shallow).min(deep) + whole;
                let fragment = (depth.bitcast::<S::u64s>() << 32) | id;
                // Written in any case: a branch would be guessed wrong.
                let at = list.count..list.count + lanes;
                let keep = S::mask64s::from_bitmask(simd, bits);
                fragment.compress(keep).store_slice(&mut list.fragments[at.clone()]);
                // A triangle is convex: what is inside stands side by side.
                let pixel = begin + column as u32 + (bits.trailing_zeros() & 63);
                for (k, place) in list.pixels[at].iter_mut().enumerate() {
                    *place = pixel + k as u32;
                }
                list.count += bits.count_ones() as usize;
                w0 += step0;
                w1 += step1;
                w2 += step2;
                column += lanes;
            }
            first0 += up0;
            first1 += up1;
            first2 += up2;
        }
    }

    /// A triangle that reaches so far beyond the raster that it takes wider integers.
    #[cold]
    #[inline(never)]
    fn distant(&self, triangle: u32, codes: [u32; 3], corners: &Snapped, lists: &mut [List]) {
        // Steps have a limit that keeps products of two differences within 128 bits; nothing in range of
        // a view reaches it.
        let limit = (1u64 << 61) as f64;
        let whole = |steps: [f64; 3]| steps.map(|s| s.clamp(-limit, limit) as i128);
        let (x, y, z) = (whole(corners.x), whole(corners.y), corners.z);
        let area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
        if area == 0 {
            return;
        }
        let [columns, rows] = covered(codes);
        let id = Fragment::id(self.first + triangle, area > 0);
        let [shallow, deep] = corners.depths();
        for row in rows {
            let list = &mut lists[self.band_of_row[row as usize] as usize];
            for column in columns.clone() {
                let (px, py) =
                    (i128::from(column) << self.grid.shift, i128::from(row) << self.grid.shift);
                let mut sum = 0.0;
                let covered = (0..3).all(|k| {
                    let (p, q) = ((k + 1) % 3, (k + 2) % 3);
                    let (dx, dy) = (x[q] - x[p], y[q] - y[p]);
                    let weight = dx * (py - y[p]) - dy * (px - x[p]);
                    sum += weight as f64 / area as f64 * z[k];
                    let positive = match weight {
                        0 => dy < 0 || (dy == 0 && dx > 0),
                        _ => weight > 0,
                    };
                    positive == (area > 0)
                });
                if covered {
                    list.reserve(1);
                    list.pixels[list.count] = row * self.grid.resolution as u32 + column;
                    list.fragments[list.count] =
                        Fragment::new(sum.max(shallow).min(deep), id).number();
                    list.count += 1;
                }
            }
        }
    }
}

/// The columns and rows that the box of a triangle covers.
#[inline(always)]
fn covered(codes: [u32; 3]) -> [Range<u32>; 2] {
    let [a, b, c] = codes;
    let columns = [a & COLUMN, b & COLUMN, c & COLUMN];
    let rows = [(a & ROW) >> 16, (b & ROW) >> 16, (c & ROW) >> 16];
    let range = |of: [u32; 3]| of[0].min(of[1]).min(of[2])..of[0].max(of[1]).max(of[2]);
    [range(columns), range(rows)]
}
