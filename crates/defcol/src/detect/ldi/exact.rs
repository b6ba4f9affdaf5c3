//! Which points are inside a body, without error.
//!
//! The box of the body is cut into cells, and a bit for each tells whether the box of a triangle reaches it.
//! Cells that no triangle reaches and that hang together have one winding number: zero where they reach the
//! border of the box, and elsewhere that of any of their points. So only points in cells that a triangle
//! reaches, and one more for each pocket, are left to exact signs: each goes straight up to the next cell
//! that no triangle reaches, and what it passes on the way is counted.

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch};
use rayon::prelude::*;

use super::cells::{
    BLOCK, Cells, OUTSIDE, PLACE_BITS, PLACE_MASK, SLAB_BITS, between, locate, place_all,
};
use super::pockets::Pockets;
use super::shell::Shell;
use super::view::View;
use crate::error::DetectError;
use crate::math::predicate::{Sign, orient2d, orient3d_value};
use crate::math::{Bounds, Real, Vector2, Vector3};

/// The winding number just above a point and just below it, along the axis of the rays. They differ on the
/// surface only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Windings {
    /// In the direction of the rays.
    pub above: i32,
    /// Against it.
    pub below: i32,
    /// Whether the point is on the surface.
    pub on_surface: bool,
}

impl Windings {
    /// Whether the point is inside or on the surface.
    pub fn inside(&self) -> bool {
        self.on_surface || self.above != 0 || self.below != 0
    }
}

/// Finds out which points are inside a closed surface, without error, whatever the surface: a point is
/// inside where the winding number is not zero, and on the surface. It keeps its memory from call to call.
#[derive(Debug)]
pub struct ExactPoints {
    level: Level,
    /// The axis of the last call.
    axis: usize,
    /// For each vertex its place.
    places: Vec<u32>,
    /// For each pixel the slabs that triangles reach.
    near: Vec<u64>,
    pockets: Pockets,
    /// The first run of each pocket and the traveller that finds out its winding number.
    seeds: Vec<(u32, u32)>,
    /// For each pixel the slabs that are inside, where no triangle reaches.
    inside: Vec<u64>,
    found: Vec<Found>,
    travellers: Vec<Traveller>,
    /// For each pixel the slabs that travellers pass.
    wanted: Vec<u64>,
    /// For each pixel where its travellers begin in the list.
    starts: Vec<u32>,
    by_pixel: Vec<Waiting>,
    parts: Vec<Part>,
}

/// A traveller in the list of a pixel.
#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    way: u64,
    place: u32,
    traveller: u32,
}

impl Default for ExactPoints {
    fn default() -> Self {
        Self {
            level: Level::new(),
            axis: 0,
            places: vec![],
            near: vec![],
            pockets: Pockets::default(),
            seeds: vec![],
            inside: vec![],
            found: vec![],
            travellers: vec![],
            wanted: vec![],
            starts: vec![],
            by_pixel: vec![],
            parts: vec![],
        }
    }
}

/// What cells say about a point.
#[derive(Debug, Clone, Copy)]
enum Found {
    /// It is outside of the box.
    Outside,
    /// No triangle reaches its cell.
    Free(u32),
    /// It has to travel.
    Traveller(u32),
}

/// A point on its way up.
#[derive(Debug, Clone, Copy)]
struct Traveller {
    /// Along columns, rows and rays.
    point: Vector3<f64>,
    place: u32,
    /// The slabs from that of the point to the last before the end.
    way: u64,
    /// The run of free cells it ends in; none if it leaves the box.
    end: Option<u32>,
    windings: Windings,
}

/// What one thread finds.
#[derive(Debug, Default)]
struct Part {
    near: Vec<u64>,
    passes: Vec<Pass>,
}

/// A traveller and a triangle above it or through it.
#[derive(Debug, Clone, Copy, Default)]
struct Pass {
    traveller: u32,
    /// What the triangle adds to the winding number along the rays, if it is above the point.
    above: i8,
    /// The same if the point is on it.
    at: i8,
    on_surface: bool,
}

impl ExactPoints {
    /// Which points are inside or on the surface; `inside` is overwritten.
    pub fn contains<R: Real, P: Real>(
        &mut self,
        shell: &Shell<R>,
        points: &[Vector3<P>],
        inside: &mut Vec<bool>,
    ) -> Result<(), DetectError> {
        let cells = self.decide(shell, points)?;
        inside.clear();
        inside.extend(self.found.iter().map(|found| match *found {
            Found::Outside => false,
            Found::Free(place) => {
                let (pixel, slab) = cells.split(place);
                self.inside[pixel] >> slab & 1 != 0
            }
            Found::Traveller(number) => self.travellers[number as usize].windings.inside(),
        }));
        Ok(())
    }

    /// How often the surface winds around each point; `windings` is overwritten.
    pub fn windings<R: Real, P: Real>(
        &mut self,
        shell: &Shell<R>,
        points: &[Vector3<P>],
        windings: &mut Vec<Windings>,
    ) -> Result<(), DetectError> {
        let cells = self.decide(shell, points)?;
        windings.clear();
        windings.extend(self.found.iter().map(|found| match *found {
            Found::Outside => Windings::default(),
            Found::Free(place) => {
                let (pixel, slab) = cells.split(place);
                let winding = self.pockets.winding(self.pockets.run(pixel, slab));
                Windings { above: winding, below: winding, on_surface: false }
            }
            Found::Traveller(number) => self.travellers[number as usize].windings,
        }));
        Ok(())
    }

    /// Which points the rays of a view cannot speak for: those that share a cell, a 64th of the depth of a
    /// pixel, with the box of a triangle. For all others [`SampledPoints`](super::SampledPoints) is right.
    pub fn uncertain<R: Real, P: Real>(
        &mut self,
        shell: &Shell<R>,
        view: &View,
        points: &[Vector3<P>],
        uncertain: &mut Vec<bool>,
    ) {
        let cells = Cells::new(view);
        let level = self.level;
        self.prepare_parts(1);
        self.mark(shell, &cells, view.pixels(), 1);
        uncertain.clear();
        let mut places = [OUTSIDE; BLOCK];
        for points in points.chunks(BLOCK) {
            let places = &mut places[..points.len()];
            dispatch!(level, simd => locate(simd, &cells, points, places));
            uncertain.extend(places.iter().map(|&place| {
                let (pixel, slab) = cells.split(place);
                place != OUTSIDE && self.near[pixel] >> slab & 1 != 0
            }));
        }
    }

    /// The axes of columns, rows and rays of the last call.
    pub(super) fn axes(&self) -> [usize; 3] {
        [(self.axis + 1) % 3, (self.axis + 2) % 3, self.axis]
    }

    /// How many points of the last call were left to exact signs.
    pub fn near_the_surface(&self) -> usize {
        self.found.iter().filter(|found| matches!(found, Found::Traveller(_))).count()
    }

    fn decide<R: Real, P: Real>(
        &mut self,
        shell: &Shell<R>,
        points: &[Vector3<P>],
    ) -> Result<Cells, DetectError> {
        self.found.clear();
        self.travellers.clear();
        let triangles = shell.triangles().len();
        let bounds = if triangles == 0 { EMPTY } else { shell.bounds() };
        self.axis = bounds.extent().imin();
        let view = View::new(bounds, self.axis, resolution(triangles))?;
        let cells = Cells::new(&view);
        let parts = rayon::current_num_threads().min(triangles / 4096 + 1);
        self.prepare_parts(parts);
        self.mark(shell, &cells, view.pixels(), parts);
        self.pockets.find(&self.near, view.resolution() as usize);
        self.look_up(&cells, points);
        let guests = self.travellers.len();
        self.add_seeds(&view, &cells);
        self.sort_by_pixel(&cells, view.pixels());
        self.pass(shell, &cells, parts);
        self.settle(guests);
        Ok(cells)
    }

    fn prepare_parts(&mut self, parts: usize) {
        if self.parts.len() < parts {
            self.parts.resize_with(parts, Part::default);
        }
    }

    /// Marks the cells that triangles reach.
    fn mark<R: Real>(&mut self, shell: &Shell<R>, cells: &Cells, pixels: usize, parts: usize) {
        let positions = shell.positions();
        let level = self.level;
        self.places.resize(positions.len(), 0);
        let size = positions.len().div_ceil(parts).max(1);
        let places = |(places, positions): (&mut [u32], &[Vector3<R>])| {
            dispatch!(level, simd => place_all(simd, cells, positions, places));
        };
        if parts == 1 {
            places((&mut self.places, positions));
        } else {
            let chunks = self.places.par_chunks_mut(size).zip(positions.par_chunks(size));
            chunks.for_each(places);
        }
        let triangles = Triangles { shell, cells, places: &self.places };
        let count = shell.triangles().len();
        let work = |(number, part): (usize, &mut Part)| {
            part.near.clear();
            part.near.resize(pixels, 0);
            let some = number * count / parts..(number + 1) * count / parts;
            dispatch!(level, simd => triangles.mark(simd, some, &mut part.near));
        };
        let parts = &mut self.parts[..parts];
        match parts {
            [part] => work((0, part)),
            _ => parts.par_iter_mut().enumerate().for_each(work),
        }
        self.near.clear();
        self.near.extend_from_slice(&parts[0].near);
        for part in &parts[1..] {
            for (near, more) in self.near.iter_mut().zip(&part.near) {
                *near |= more;
            }
        }
    }

    /// Looks up the cells of all points.
    fn look_up<R: Real>(&mut self, cells: &Cells, points: &[Vector3<R>]) {
        let level = self.level;
        self.found.reserve(points.len());
        let mut places = [OUTSIDE; BLOCK];
        for points in points.chunks(BLOCK) {
            let places = &mut places[..points.len()];
            dispatch!(level, simd => locate(simd, cells, points, places));
            for (&place, point) in places.iter().zip(points) {
                if place == OUTSIDE {
                    self.found.push(Found::Outside);
                    continue;
                }
                let (pixel, slab) = cells.split(place);
                if self.near[pixel] >> slab & 1 == 0 {
                    self.found.push(Found::Free(place));
                    continue;
                }
                self.found.push(Found::Traveller(self.travellers.len() as u32));
                let end = slab + (!(self.near[pixel] >> slab)).trailing_zeros().min(64 - slab);
                self.travellers.push(Traveller {
                    point: Vector3::from(cells.grid.axes.map(|axis| point[axis].to_f64())),
                    place,
                    way: between(slab, end - 1),
                    end: (end < 64).then(|| self.pockets.run(pixel, end)),
                    windings: Windings::default(),
                });
            }
        }
    }

    /// Sends a point of each pocket all the way up.
    fn add_seeds(&mut self, view: &View, cells: &Cells) {
        let resolution = view.resolution();
        self.seeds.clear();
        for (pixel, from, to, first) in self.pockets.firsts() {
            let middle = u64::from(from + to + 1) << (SLAB_BITS - 1);
            let (column, row) = (pixel as u32 % resolution, pixel as u32 / resolution);
            let point = view.point([column, row], middle as u32);
            let place = cells.place(&point);
            debug_assert_eq!(cells.split(place).0, pixel);
            self.seeds.push((first, self.travellers.len() as u32));
            self.travellers.push(Traveller {
                point: Vector3::from(cells.grid.axes.map(|axis| point[axis])),
                place,
                way: between(from, 63),
                end: None,
                windings: Windings::default(),
            });
        }
    }

    /// Sorts the travellers by pixels, and notes which slabs they pass.
    fn sort_by_pixel(&mut self, cells: &Cells, pixels: usize) {
        self.wanted.clear();
        self.wanted.resize(pixels, 0);
        self.starts.clear();
        self.starts.resize(pixels + 1, 0);
        for traveller in &self.travellers {
            let pixel = cells.split(traveller.place).0;
            self.wanted[pixel] |= traveller.way;
            self.starts[pixel + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts[1..] {
            let count = *start;
            *start = sum;
            sum += count;
        }
        self.by_pixel.resize(self.travellers.len(), Waiting::default());
        for (number, traveller) in (0u32..).zip(&self.travellers) {
            let next = &mut self.starts[cells.split(traveller.place).0 + 1];
            let Traveller { way, place, .. } = *traveller;
            self.by_pixel[*next as usize] = Waiting { way, place, traveller: number };
            *next += 1;
        }
    }

    /// Finds the triangles that travellers pass.
    fn pass<R: Real>(&mut self, shell: &Shell<R>, cells: &Cells, parts: usize) {
        let way = Way {
            triangles: Triangles { shell, cells, places: &self.places },
            wanted: &self.wanted,
            starts: &self.starts,
            by_pixel: &self.by_pixel,
            travellers: &self.travellers,
        };
        let (level, count) = (self.level, shell.triangles().len());
        let work = |(number, part): (usize, &mut Part)| {
            part.passes.clear();
            let some = number * count / parts..(number + 1) * count / parts;
            dispatch!(level, simd => way.pass(simd, some, &mut part.passes));
        };
        let parts = &mut self.parts[..parts];
        match parts {
            [part] => work((0, part)),
            _ => parts.par_iter_mut().enumerate().for_each(work),
        }
        for pass in parts.iter().flat_map(|part| &part.passes) {
            let windings = &mut self.travellers[pass.traveller as usize].windings;
            windings.above -= i32::from(pass.above);
            windings.below -= i32::from(pass.above) + i32::from(pass.at);
            windings.on_surface |= pass.on_surface;
        }
    }

    /// Hands out the winding numbers of pockets.
    fn settle(&mut self, guests: usize) {
        for &(first, seed) in &self.seeds {
            self.pockets.set_winding(first, self.travellers[seed as usize].windings.above);
        }
        for traveller in &mut self.travellers[..guests] {
            let winding = traveller.end.map_or(0, |run| self.pockets.winding(run));
            traveller.windings.above += winding;
            traveller.windings.below += winding;
        }
        self.inside.clear();
        self.inside.extend(self.pockets.inside());
    }
}

/// The box of nothing.
const EMPTY: Bounds<f64> =
    Bounds { min: Vector3::new(0.0, 0.0, 0.0), max: Vector3::new(0.0, 0.0, 0.0) };

/// The raster that cells are made from. A finer one leaves fewer points to exact signs and takes longer to
/// mark; measured on surfaces of 12,000 to 520,000 triangles.
fn resolution(triangles: usize) -> u32 {
    (2.5 * (triangles as f64).cbrt()).clamp(16.0, 256.0) as u32
}

/// Triangles and the places of their corners.
struct Triangles<'a, R: Real> {
    shell: &'a Shell<'a, R>,
    cells: &'a Cells,
    places: &'a [u32],
}

/// The cells that the boxes of some triangles reach: columns and rows with fractions, and slabs, from and to.
struct Reaches {
    columns: [[u32; BLOCK]; 2],
    rows: [[u32; BLOCK]; 2],
    slabs: [[u32; BLOCK]; 2],
}

/// The cells that the box of a triangle reaches.
#[derive(Clone, Copy)]
struct Reach {
    columns: [u32; 2],
    rows: [u32; 2],
    slabs: [u32; 2],
}

impl Reaches {
    fn new() -> Self {
        Self { columns: [[0; BLOCK]; 2], rows: [[0; BLOCK]; 2], slabs: [[0; BLOCK]; 2] }
    }

    #[inline(always)]
    fn get(&self, lane: usize) -> Reach {
        Reach {
            columns: [self.columns[0][lane], self.columns[1][lane]],
            rows: [self.rows[0][lane], self.rows[1][lane]],
            slabs: [self.slabs[0][lane], self.slabs[1][lane]],
        }
    }
}

impl Reach {
    #[inline(always)]
    fn slabs(&self) -> u64 {
        between(self.slabs[0], self.slabs[1])
    }

    /// Whether it reaches a column or a row between its outermost ones.
    #[inline(always)]
    fn is_large(&self, fraction: u32) -> bool {
        let wide = |[from, to]: [u32; 2]| (to >> fraction) - (from >> fraction) > 1;
        wide(self.columns) | wide(self.rows)
    }

    /// Whether it reaches the column and the row of a place.
    #[inline(always)]
    fn covers(&self, place: u32) -> bool {
        let (column, row) = (place & PLACE_MASK, place >> PLACE_BITS & PLACE_MASK);
        (column >= self.columns[0])
            & (column <= self.columns[1])
            & (row >= self.rows[0])
            & (row <= self.rows[1])
    }
}

impl<R: Real> Triangles<'_, R> {
    /// Finds the cells that up to [`BLOCK`] triangles reach.
    #[inline(always)]
    fn reach<S: Simd>(&self, _simd: S, triangles: Range<usize>, reaches: &mut Reaches) {
        let own = self.shell.first();
        let mut places = [[0u32; BLOCK]; 3];
        let corners = &self.shell.triangles()[triangles];
        for (lane, &[a, b, c]) in corners.iter().enumerate().take(BLOCK) {
            places[0][lane] = self.places[(a - own) as usize];
            places[1][lane] = self.places[(b - own) as usize];
            places[2][lane] = self.places[(c - own) as usize];
        }
        for lane in 0..BLOCK {
            let [a, b, c] = [places[0][lane], places[1][lane], places[2][lane]];
            let field = |shift: u32| {
                [a >> shift & PLACE_MASK, b >> shift & PLACE_MASK, c >> shift & PLACE_MASK]
            };
            let low = |[a, b, c]: [u32; 3]| a.min(b).min(c);
            let high = |[a, b, c]: [u32; 3]| a.max(b).max(c);
            reaches.columns[0][lane] = low(field(0));
            reaches.columns[1][lane] = high(field(0));
            reaches.rows[0][lane] = low(field(PLACE_BITS));
            reaches.rows[1][lane] = high(field(PLACE_BITS));
            reaches.slabs[0][lane] = low(field(2 * PLACE_BITS));
            reaches.slabs[1][lane] = high(field(2 * PLACE_BITS));
        }
    }

    /// Marks the cells that some of the triangles reach.
    #[inline(always)]
    fn mark<S: Simd>(&self, simd: S, triangles: Range<usize>, near: &mut [u64]) {
        let cells = *self.cells;
        let mut reaches = Reaches::new();
        let mut first = triangles.start;
        while first < triangles.end {
            let last = triangles.end.min(first + BLOCK);
            self.reach(simd, first..last, &mut reaches);
            for lane in 0..last - first {
                let reach = reaches.get(lane);
                let (slabs, [left, right], [low, high]) =
                    (reach.slabs(), reach.columns, reach.rows);
                let (begin, end) = (cells.pixel(left, low), cells.pixel(right, high));
                near[begin] |= slabs;
                if begin != end {
                    if reach.is_large(cells.fraction) {
                        let triangle = (first + lane) as u32;
                        self.each_cell(triangle, &reach, |pixel, slabs| near[pixel] |= slabs);
                    } else {
                        near[cells.pixel(right, low)] |= slabs;
                        near[cells.pixel(left, high)] |= slabs;
                        near[end] |= slabs;
                    }
                }
            }
            first = last;
        }
    }

    /// Visits the pixels that a triangle reaches, each with the slabs.
    #[inline(always)]
    fn each_cell(&self, triangle: u32, reach: &Reach, mut visit: impl FnMut(usize, u64)) {
        let fraction = self.cells.fraction;
        let resolution = self.cells.grid.resolution as u32;
        let large = reach.is_large(fraction);
        let slope = if large { Slope::new(self.cells, self.turned(triangle)) } else { None };
        for row in reach.rows[0] >> fraction..=reach.rows[1] >> fraction {
            for column in reach.columns[0] >> fraction..=reach.columns[1] >> fraction {
                let [mut from, mut to] = reach.slabs;
                if let Some(slope) = &slope {
                    let [low, high] = slope.slabs(column, row);
                    (from, to) = (from.max(low), to.min(high));
                    if from > to {
                        continue;
                    }
                }
                visit((row * resolution + column) as usize, between(from, to));
            }
        }
    }

    /// The corners of a triangle along columns, rows and rays.
    fn turned(&self, triangle: u32) -> [Vector3<f64>; 3] {
        let axes = self.cells.grid.axes;
        self.shell.corners(triangle).map(|corner| Vector3::from(axes.map(|axis| corner[axis])))
    }
}

/// The plane of a triangle that covers many pixels: how deep it is in each.
struct Slope {
    /// Depth in slabs at the middle of the first pixel, and how it grows with columns and rows.
    depth: f64,
    across: f64,
    up: f64,
    /// How far the depth differs from the middle within a pixel, at the most.
    within: f64,
}

impl Slope {
    fn new(cells: &Cells, corners: [Vector3<f64>; 3]) -> Option<Self> {
        // In pixels and slabs.
        let [a, b, c] = corners.map(|corner| cells.in_cells(corner));
        let normal = (b - a).cross(&(c - a));
        let size = (b - a).amax().max((c - a).amax());
        if normal.z.abs() <= 1e-6 * size * size {
            return None;
        }
        let (across, up) = (-normal.x / normal.z, -normal.y / normal.z);
        let depth = a.z + across * (0.5 - a.x) + up * (0.5 - a.y);
        // Half a pixel each way, and much more than rounding can amount to.
        let within =
            0.5 * (across.abs() + up.abs()) + 1e-6 * (1.0 + size * (across.abs() + up.abs()));
        Some(Self { depth, across, up, within })
    }

    fn slabs(&self, column: u32, row: u32) -> [u32; 2] {
        let middle = self.depth + self.across * f64::from(column) + self.up * f64::from(row);
        let (low, high) = (middle - self.within, middle + self.within);
        // Beyond the box on the far side of where it is: no slab of the triangle.
        [low.clamp(0.0, 64.0) as u32, if high < 0.0 { 0 } else { high.min(63.0) as u32 }]
    }
}

/// What it takes to find the triangles that points pass.
struct Way<'a, R: Real> {
    triangles: Triangles<'a, R>,
    wanted: &'a [u64],
    starts: &'a [u32],
    by_pixel: &'a [Waiting],
    travellers: &'a [Traveller],
}

impl<R: Real> Way<'_, R> {
    #[inline(always)]
    fn pass<S: Simd>(&self, simd: S, triangles: Range<usize>, passes: &mut Vec<Pass>) {
        let cells = *self.triangles.cells;
        let mut reaches = Reaches::new();
        let mut kept = [0u32; BLOCK];
        let mut first = triangles.start;
        while first < triangles.end {
            let last = triangles.end.min(first + BLOCK);
            self.triangles.reach(simd, first..last, &mut reaches);
            let mut count = 0;
            for lane in 0..last - first {
                let reach = reaches.get(lane);
                let ([left, right], [low, high]) = (reach.columns, reach.rows);
                let wanted = |column: u32, row: u32| self.wanted[cells.pixel(column, row)];
                let below = wanted(left, low) | wanted(right, low);
                let wanted = (below | wanted(left, high) | wanted(right, high)) & reach.slabs();
                kept[count] = lane as u32;
                count += usize::from((wanted != 0) | reach.is_large(cells.fraction));
            }
            for &lane in &kept[..count] {
                let lane = lane as usize % BLOCK;
                self.test((first + lane) as u32, &reaches.get(lane), passes);
            }
            first = last;
        }
    }

    /// Tests a triangle with all points that may pass it.
    #[inline(always)]
    fn test(&self, triangle: u32, reach: &Reach, passes: &mut Vec<Pass>) {
        let mut shape = None;
        self.triangles.each_cell(triangle, reach, |pixel, slabs| {
            if self.wanted[pixel] & slabs == 0 {
                return;
            }
            let range = self.starts[pixel] as usize..self.starts[pixel + 1] as usize;
            for waiting in &self.by_pixel[range] {
                if (waiting.way & slabs != 0) & reach.covers(waiting.place) {
                    let shape = shape.get_or_insert_with(|| self.triangles.turned(triangle));
                    let traveller = &self.travellers[waiting.traveller as usize];
                    if let Some(pass) = meet(&traveller.point, shape) {
                        passes.push(Pass { traveller: waiting.traveller, ..pass });
                    }
                }
            }
        });
    }
}

/// What a point meets on its way along the third axis.
fn meet(point: &Vector3<f64>, triangle: &[Vector3<f64>; 3]) -> Option<Pass> {
    let [a, b, c] = triangle;
    let outside = |p: f64, a: f64, b: f64, c: f64| {
        ((p < a) & (p < b) & (p < c)) | ((p > a) & (p > b) & (p > c))
    };
    let all_below = (point.z > a.z) & (point.z > b.z) & (point.z > c.z);
    if outside(point.x, a.x, b.x, c.x) | outside(point.y, a.y, b.y, c.y) | all_below {
        return None;
    }
    meet_within_box(point, triangle)
}

fn meet_within_box(point: &Vector3<f64>, triangle: &[Vector3<f64>; 3]) -> Option<Pass> {
    let [a, b, c] = *triangle;
    let mut signs = [Sign::Zero; 3];
    for k in 0..3 {
        let (p, q) = (triangle[(k + 1) % 3], triangle[(k + 2) % 3]);
        signs[k] = orient2d(p.xy(), q.xy(), point.xy());
    }
    if signs.contains(&Sign::Positive) && signs.contains(&Sign::Negative) {
        return None;
    }
    // The same tie rule as for the middles of pixels.
    let mut positive = [false; 3];
    for k in 0..3 {
        let (p, q) = (triangle[(k + 1) % 3], triangle[(k + 2) % 3]);
        positive[k] = match signs[k] {
            Sign::Positive => true,
            Sign::Negative => false,
            Sign::Zero => q.y < p.y || (q.y == p.y && q.x > p.x),
        };
    }
    let covers = positive[0] == positive[1] && positive[1] == positive[2];
    let exit = positive[0];
    let winding = match (covers, exit) {
        (false, _) => 0,
        (true, true) => -1,
        (true, false) => 1,
    };
    if point.z < a.z && point.z < b.z && point.z < c.z {
        return covers.then_some(Pass { above: winding, ..Pass::default() });
    }
    let side = orient3d_value(a, b, c, *point);
    if side == 0.0 {
        let on_surface = on_triangle(*point, [a, b, c]);
        return (covers || on_surface).then_some(Pass {
            at: winding,
            on_surface,
            ..Pass::default()
        });
    }
    // A triangle through which rays leave is above the point if the point is on its inner side.
    (covers && exit == (side < 0.0)).then_some(Pass { above: winding, ..Pass::default() })
}

/// Whether a point in the plane of a triangle is on the triangle.
fn on_triangle(point: Vector3<f64>, [a, b, c]: [Vector3<f64>; 3]) -> bool {
    let shadows = [(0, 1), (1, 2), (2, 0)]
        .map(|(u, v)| [a, b, c, point].map(|corner| Vector2::new(corner[u], corner[v])));
    shadows.iter().any(|[a, b, c, _]| orient2d(*a, *b, *c) != Sign::Zero)
        && shadows.iter().all(|&[a, b, c, p]| {
            let signs = [orient2d(a, b, p), orient2d(b, c, p), orient2d(c, a, p)];
            !(signs.contains(&Sign::Positive) && signs.contains(&Sign::Negative))
        })
}
