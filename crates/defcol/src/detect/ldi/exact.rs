//! Which points are inside a body, without error.
//!
//! The box of the body is cut into cells, and a bit for each tells whether the box of a triangle reaches it.
//! Cells that no triangle reaches and that hang together have one winding number: zero where they reach the
//! border of the box, and elsewhere that of any of their points. So only points in cells that a triangle
//! reaches, and one more for each pocket, are left to exact signs: each goes straight up to the next cell
//! that no triangle reaches, and what it passes on the way is counted.

use fearless_simd::{Level, Simd};
use rayon::prelude::*;

use super::boxes::{PackedBox, PlaceBox, Triangles};
use super::cells::{BLOCK, Cells, OUTSIDE, SLAB_BITS, between, locate, place_all};
use super::pockets::Pockets;
use super::shell::Shell;
use super::view::View;
use crate::error::DetectError;
use crate::math::predicate::{Sign, collinear, orient2d, orient3d_value};
use crate::math::{Bounds, Real, Vector2, Vector3, dispatch};

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
///
/// As exact as [`predicate`](crate::math::predicate): coordinates must be zero or larger than 1e-92.
#[derive(Debug)]
pub struct ExactPoints {
    level: Level,
    /// The axis of the last call.
    axis: usize,
    /// For each vertex its place.
    places: Vec<u32>,
    /// For each triangle its box.
    boxes: Vec<PackedBox>,
    /// For each pixel the slabs that triangles reach.
    near: Vec<u64>,
    pockets: Pockets,
    /// The first run of each pocket and the traveller that finds out its winding number.
    seeds: Vec<(u32, u32)>,
    /// For each pixel the slabs that are inside, where no triangle reaches.
    inside: Vec<u64>,
    found: Vec<Found>,
    travellers: Vec<Traveller>,
    /// For each pixel the slabs that travellers pass, and where they are in it: a bit for each of eight by
    /// eight squares.
    wanted: Vec<u64>,
    squares: Vec<u64>,
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
            boxes: vec![],
            near: vec![],
            pockets: Pockets::default(),
            seeds: vec![],
            inside: vec![],
            found: vec![],
            travellers: vec![],
            wanted: vec![],
            squares: vec![],
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
        self.boxes.resize(count, PackedBox::default());
        let work = |first: usize, part: &mut Part, boxes: &mut [PackedBox]| {
            part.near.clear();
            part.near.resize(pixels, 0);
            let near = &mut part.near;
            dispatch!(level, simd => triangles.mark(simd, first, boxes, near));
        };
        let size = count.div_ceil(parts).max(1);
        let parts = &mut self.parts[..parts];
        match parts {
            [part] => work(0, part, &mut self.boxes),
            _ => parts
                .par_iter_mut()
                .zip(self.boxes.par_chunks_mut(size))
                .enumerate()
                .for_each(|(number, (part, boxes))| work(number * size, part, boxes)),
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
        self.squares.clear();
        self.squares.resize(pixels, 0);
        self.starts.clear();
        self.starts.resize(pixels + 1, 0);
        for traveller in &self.travellers {
            let pixel = cells.split(traveller.place).0;
            self.wanted[pixel] |= traveller.way;
            let [column, row] = cells.square(traveller.place);
            self.squares[pixel] |= 1 << (8 * row + column);
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
            squares: &self.squares,
            starts: &self.starts,
            by_pixel: &self.by_pixel,
            travellers: &self.travellers,
        };
        let level = self.level;
        let size = shell.triangles().len().div_ceil(parts).max(1);
        let work = |first: usize, part: &mut Part, boxes: &[PackedBox]| {
            part.passes.clear();
            let passes = &mut part.passes;
            dispatch!(level, simd => way.pass(simd, first, boxes, passes));
        };
        let parts = &mut self.parts[..parts];
        match parts {
            [part] => work(0, part, &self.boxes),
            _ => parts
                .par_iter_mut()
                .zip(self.boxes.par_chunks(size))
                .enumerate()
                .for_each(|(number, (part, boxes))| work(number * size, part, boxes)),
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
    (10.5 * (triangles as f64).powf(0.2)).clamp(16.0, 256.0) as u32
}

/// What it takes to find the triangles that points pass.
struct Way<'a, R: Real> {
    triangles: Triangles<'a, R>,
    wanted: &'a [u64],
    squares: &'a [u64],
    starts: &'a [u32],
    by_pixel: &'a [Waiting],
    travellers: &'a [Traveller],
}

impl<R: Real> Way<'_, R> {
    /// Finds what travellers pass of some triangles from a first one on.
    #[inline(always)]
    fn pass<S: Simd>(&self, _simd: S, first: usize, boxes: &[PackedBox], passes: &mut Vec<Pass>) {
        let cells = *self.triangles.cells;
        let mut kept = [0usize; BLOCK];
        for (block, boxes) in boxes.chunks(BLOCK).enumerate() {
            // Written in any case, here and below: a branch would be guessed wrong.
            let mut count = 0;
            for (lane, packed) in boxes.iter().enumerate() {
                let own = PlaceBox::unpacked(*packed);
                let ([left, right], [low, high]) = (own.columns, own.rows);
                let wanted = |column: u32, row: u32| self.wanted[cells.pixel(column, row)];
                let wanted = wanted(left, low)
                    | wanted(right, low)
                    | wanted(left, high)
                    | wanted(right, high);
                kept[count % BLOCK] = lane;
                count += usize::from((wanted & own.slabs() != 0) | own.is_large(cells.fraction));
            }
            // Again, with smaller squares.
            let mut left = 0;
            for place in 0..count {
                let lane = kept[place];
                kept[left % BLOCK] = lane;
                left += usize::from(self.meets(&PlaceBox::unpacked(boxes[lane])));
            }
            for &lane in &kept[..left] {
                let triangle = (first + block * BLOCK + lane) as u32;
                self.test(triangle, &PlaceBox::unpacked(boxes[lane]), passes);
            }
        }
    }

    /// Whether a traveller waits in a square that a triangle reaches; always if that is large.
    #[inline(always)]
    fn meets(&self, own: &PlaceBox) -> bool {
        let cells = self.triangles.cells;
        let slabs = between(own.slabs[0], own.slabs[1]);
        let ([left, right], [low, high]) = (own.columns, own.rows);
        let pixels = |from: u32, to: u32| (to >> cells.fraction) - (from >> cells.fraction);
        let (columns, rows) = (pixels(left, right), pixels(low, high));
        // In the pixel of the first corner up to its end if the triangle goes on, and so on.
        let square = |k: u32| cells.square_of(k);
        let split = |from: u32, to: u32, one: bool| {
            [
                (from, square(from), if one { square(to) } else { 7 }),
                (to, if one { square(from) } else { 0 }, square(to)),
            ]
        };
        let mut met = 0;
        for (row, bottom, top) in split(low, high, rows == 0) {
            for (column, from, to) in split(left, right, columns == 0) {
                let pixel = cells.pixel(column, row);
                let across = (0xff << from) & (0xff >> (7 - to));
                let squares = (across * 0x0101_0101_0101_0101) & between(8 * bottom, 8 * top + 7);
                let here = self.squares[pixel] & squares;
                met |= if self.wanted[pixel] & slabs != 0 { here } else { 0 };
            }
        }
        (met != 0) | (columns > 1) | (rows > 1)
    }

    /// Tests a triangle with all points that may pass it.
    #[inline(always)]
    fn test(&self, triangle: u32, own: &PlaceBox, passes: &mut Vec<Pass>) {
        let mut shape = None;
        self.triangles.each_cell(triangle, own, |pixel, slabs| {
            if self.wanted[pixel] & slabs == 0 {
                return;
            }
            let range = self.starts[pixel] as usize..self.starts[pixel + 1] as usize;
            for waiting in &self.by_pixel[range] {
                if (waiting.way & slabs != 0) & own.covers(waiting.place) {
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
    if collinear(a, b, c) {
        return [[a, b], [b, c], [c, a]]
            .into_iter()
            .any(|edge| Bounds::of(edge).contains(point) && collinear(edge[0], edge[1], point));
    }
    [(0, 1), (1, 2), (2, 0)].into_iter().all(|(u, v)| {
        let [a, b, c, p] = [a, b, c, point].map(|corner| Vector2::new(corner[u], corner[v]));
        let signs = [orient2d(a, b, p), orient2d(b, c, p), orient2d(c, a, p)];
        !(signs.contains(&Sign::Positive) && signs.contains(&Sign::Negative))
    })
}
