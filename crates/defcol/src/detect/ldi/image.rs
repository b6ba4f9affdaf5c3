use std::ops::Range;
use std::sync::atomic::AtomicUsize;

use fearless_simd::Level;
use rayon::prelude::*;

use super::fragment::Fragment;
use super::raster::{List, Raster, encode};
use super::region::Start;
use super::shell::Shell;
use super::view::{MAX_DEPTH, View};
use crate::error::DetectError;
use crate::math::{Bounds, Real};

/// Fragments of one image at most: a gigabyte.
const MAX_FRAGMENTS: usize = 1 << 27;

/// A layered depth image: for each ray of a view all its crossings with a surface, in order.
#[derive(Debug, Clone, Default)]
pub struct Ldi {
    view: Option<View>,
    start: Start,
    /// Whether surfaces go on in front of the near end of the rays, and behind the far end.
    goes_on: [bool; 2],
    /// For each pixel where its fragments begin; row by row, and the end of all.
    starts: Vec<u32>,
    fragments: Vec<Fragment>,
}

impl Ldi {
    /// The view it was made for.
    ///
    /// # Panics
    /// If no generator has filled it yet.
    pub fn view(&self) -> &View {
        self.view.as_ref().expect("a generator fills an image before it is used")
    }

    /// All fragments, pixel by pixel.
    pub fn fragments(&self) -> &[Fragment] {
        &self.fragments
    }

    /// The fragments of a pixel, nearest first. Pixels are counted row by row.
    #[inline(always)]
    pub fn pixel(&self, pixel: usize) -> &[Fragment] {
        &self.fragments[self.starts[pixel] as usize..self.starts[pixel + 1] as usize]
    }

    /// The winding number at the near end of the ray through a pixel, and what changes it on the way.
    #[inline(always)]
    pub fn ray(&self, pixel: usize) -> (i32, &[Fragment]) {
        let mut fragments = self.pixel(pixel);
        let mut winding = match self.start {
            Start::Near => 0,
            Start::Far => -sum(fragments),
            Start::HalfInfinite => -lowest(fragments),
            Start::BalancedOnly if sum(fragments) != 0 => return (0, &[]),
            Start::BalancedOnly => 0,
        };
        // What was taken in at an end is no crossing of the ray.
        while self.goes_on[0]
            && let [first, rest @ ..] = fragments
            && first.depth() == 0
        {
            winding += first.winding();
            fragments = rest;
        }
        while self.goes_on[1]
            && let [rest @ .., last] = fragments
            && last.depth() == MAX_DEPTH
        {
            fragments = rest;
        }
        (winding, fragments)
    }

    /// The winding numbers of two bodies at the near end of the ray through a pixel, before all of its fragments.
    #[inline(always)]
    pub(super) fn windings_before(
        &self,
        pixel: usize,
        body: impl Fn(&Fragment) -> usize,
    ) -> [i32; 2] {
        let mut windings = [0; 2];
        if self.start == Start::Far {
            for fragment in self.pixel(pixel) {
                windings[body(fragment)] -= fragment.winding();
            }
        }
        windings
    }

    /// Whether what is at this depth may have been taken in from beyond an end of the rays.
    #[inline(always)]
    pub(super) fn is_beyond(&self, depth: u32) -> bool {
        (self.goes_on[0] && depth == 0) || (self.goes_on[1] && depth == MAX_DEPTH)
    }

    /// Checks that the fragments of the pixels follow one another without a gap, each pixel in ascending order of depth.
    /// Debug builds do so after every image.
    ///
    /// # Errors
    /// Names the first pixel that is wrong.
    pub fn validate(&self) -> Result<(), String> {
        let ends = [self.starts.first(), self.starts.last()].map(|end| end.copied());
        let Some(view) = &self.view else { return Ok(()) };
        if self.starts.len() != view.pixels() + 1
            || ends != [Some(0), Some(self.fragments.len() as u32)]
            || !self.starts.is_sorted()
        {
            return Err("the pixels do not cover the fragments one after the other".to_owned());
        }
        match (0..view.pixels()).find(|&pixel| !self.pixel(pixel).is_sorted()) {
            Some(pixel) => Err(format!("the fragments of pixel {pixel} are not in order")),
            None => Ok(()),
        }
    }

    /// The most fragments that any pixel has.
    pub fn depth_complexity(&self) -> usize {
        self.starts.windows(2).map(|range| range[1] - range[0]).max().unwrap_or(0) as usize
    }

    /// The pixels that do not have as many entries as exits: none if the surface is closed and all of it
    /// lies between the ends of the rays.
    pub fn unbalanced(&self) -> impl Iterator<Item = usize> {
        (0..self.starts.len().saturating_sub(1)).filter(|&pixel| sum(self.pixel(pixel)) != 0)
    }
}

/// The lowest sum of windings on the way, between different depths.
fn lowest(fragments: &[Fragment]) -> i32 {
    let (mut winding, mut lowest) = (0, 0);
    for same in fragments.chunk_by(|a, b| a.depth() == b.depth()) {
        winding += sum(same);
        lowest = lowest.min(winding);
    }
    lowest
}

fn sum(fragments: &[Fragment]) -> i32 {
    fragments.iter().map(|fragment| fragment.winding()).sum()
}

/// Makes layered depth images. One of the two seams of the library.
pub trait Generator<R: Real> {
    /// Fills an image of some surfaces; their triangles are numbered one surface after the other.
    fn generate(
        &mut self,
        shells: &[Shell<R>],
        view: &View,
        start: Start,
        ldi: &mut Ldi,
    ) -> Result<(), DetectError>;
}

/// Makes layered depth images on the processor, with all cores. It keeps its memory: once it has seen a
/// surface, a call allocates nothing. The image does not depend on the number of threads.
#[derive(Debug)]
pub struct Software {
    level: Level,
    codes: Vec<u32>,
    band_of_row: Vec<u32>,
    /// For each part of the triangles a list for each band of rows.
    parts: Vec<Vec<List>>,
}

impl Default for Software {
    fn default() -> Self {
        Self { level: Level::new(), codes: vec![], band_of_row: vec![], parts: vec![] }
    }
}

/// Triangles that are worth a thread.
const TRIANGLES_OF_A_THREAD: usize = 4096;

impl<R: Real> Generator<R> for Software {
    fn generate(
        &mut self,
        shells: &[Shell<R>],
        view: &View,
        start: Start,
        ldi: &mut Ldi,
    ) -> Result<(), DetectError> {
        let triangles: usize = shells.iter().map(|shell| shell.triangles().len()).sum();
        if triangles > (u32::MAX >> 1) as usize {
            return Err(DetectError::TooManyFragments { limit: MAX_FRAGMENTS });
        }
        if shells.iter().any(|shell| view.is_dwarfed_by(&shell.bounds())) {
            return Err(DetectError::TooFarApart);
        }
        let parts = rayon::current_num_threads().min(triangles / TRIANGLES_OF_A_THREAD + 1);
        let bands = parts.min(view.resolution() as usize);
        self.encode(shells, view, start, parts);
        self.prepare(view, parts, bands);
        self.rasterise(shells, view, triangles, parts);
        let axis = view.axis();
        let goes_on = |beyond: &dyn Fn(&Bounds<f64>) -> bool| {
            shells.iter().any(|shell| beyond(&shell.bounds()))
        };
        ldi.view = Some(*view);
        ldi.start = start;
        ldi.goes_on = [
            goes_on(&|bounds| bounds.min[axis] < view.bounds().min[axis]),
            goes_on(&|bounds| bounds.max[axis] > view.bounds().max[axis]),
        ];
        self.assemble(view, parts, bands, ldi)?;
        debug_assert_eq!(ldi.validate(), Ok(()));
        Ok(())
    }
}

impl Software {
    fn encode<R: Real>(&mut self, shells: &[Shell<R>], view: &View, start: Start, parts: usize) {
        let (level, grid) = (self.level, view.grid());
        self.codes.resize(shells.iter().map(|shell| shell.positions().len()).sum(), 0);
        let mut codes = &mut self.codes[..];
        for shell in shells {
            let positions = shell.positions();
            let (own, rest) = std::mem::take(&mut codes).split_at_mut(positions.len());
            codes = rest;
            let size = positions.len().div_ceil(parts).max(TRIANGLES_OF_A_THREAD);
            if positions.len() <= size {
                encode(level, &grid, start, positions, own);
            } else {
                own.par_chunks_mut(size)
                    .zip(positions.par_chunks(size))
                    .for_each(|(codes, positions)| encode(level, &grid, start, positions, codes));
            }
        }
    }

    fn prepare(&mut self, view: &View, parts: usize, bands: usize) {
        let rows = view.resolution() as usize;
        self.band_of_row.clear();
        self.band_of_row.extend((0..rows).map(|row| (row * bands / rows) as u32));
        if self.parts.len() < parts {
            self.parts.resize_with(parts, Vec::new);
        }
        for lists in &mut self.parts[..parts] {
            if lists.len() < bands {
                lists.resize_with(bands, List::default);
            }
            lists.iter_mut().for_each(|list| list.count = 0);
        }
    }

    fn rasterise<R: Real>(
        &mut self,
        shells: &[Shell<R>],
        view: &View,
        triangles: usize,
        parts: usize,
    ) {
        let (level, grid) = (self.level, view.grid());
        let (codes, band_of_row) = (&self.codes[..], &self.band_of_row[..]);
        let made = &AtomicUsize::new(0);
        let work = |(part, lists): (usize, &mut Vec<List>)| {
            let own = part * triangles / parts..(part + 1) * triangles / parts;
            let (mut first, mut first_vertex) = (0, 0);
            for shell in shells {
                let count = shell.triangles().len();
                let some = own.start.clamp(first, first + count) - first
                    ..own.end.clamp(first, first + count) - first;
                if !some.is_empty() {
                    let codes = &codes[first_vertex..first_vertex + shell.positions().len()];
                    let first = first as u32;
                    let most = MAX_FRAGMENTS;
                    let raster =
                        Raster { shell, grid: &grid, codes, first, band_of_row, made, most };
                    raster.run(level, some, lists);
                }
                first += count;
                first_vertex += shell.positions().len();
            }
        };
        match &mut self.parts[..parts] {
            [lists] => work((0, lists)),
            parts => parts.par_iter_mut().enumerate().for_each(work),
        }
    }

    /// Counts, sums up, fills and sorts.
    fn assemble(
        &self,
        view: &View,
        parts: usize,
        bands: usize,
        ldi: &mut Ldi,
    ) -> Result<(), DetectError> {
        let parts = &self.parts[..parts];
        let size = |band: usize| parts.iter().map(|lists| lists[band].count).sum::<usize>();
        let total: usize = (0..bands).map(size).sum();
        if total > MAX_FRAGMENTS {
            ldi.view = None;
            return Err(DetectError::TooManyFragments { limit: MAX_FRAGMENTS });
        }
        ldi.starts.clear();
        ldi.starts.resize(view.pixels() + 1, 0);
        ldi.fragments.resize(total, Fragment::default());
        let (ends, fragments) = (&mut ldi.starts[1..], &mut ldi.fragments[..]);
        self.fill_bands(parts, view.resolution() as usize, 0..bands, 0, 0, ends, fragments);
        Ok(())
    }

    /// Fills some bands, on several threads if there are several.
    #[expect(clippy::too_many_arguments, reason = "a recursion that hands on what is left")]
    fn fill_bands(
        &self,
        parts: &[Vec<List>],
        width: usize,
        bands: Range<usize>,
        first_pixel: usize,
        before: usize,
        ends: &mut [u32],
        fragments: &mut [Fragment],
    ) {
        if bands.len() == 1 {
            let lists = parts.iter().map(|lists| &lists[bands.start]);
            return fill(lists, first_pixel, before, ends, fragments);
        }
        let middle = bands.start.midpoint(bands.end);
        let row = self.band_of_row.partition_point(|&band| (band as usize) < middle);
        let (lower, upper) = ends.split_at_mut(row * width - first_pixel);
        let lists = parts.iter().flat_map(|lists| &lists[bands.start..middle]);
        let (near, far) = fragments.split_at_mut(lists.map(|list| list.count).sum());
        let behind = before + near.len();
        rayon::join(
            || self.fill_bands(parts, width, bands.start..middle, first_pixel, before, lower, near),
            || self.fill_bands(parts, width, middle..bands.end, row * width, behind, upper, far),
        );
    }
}

/// Brings the fragments of some pixels into the order of pixels and then of depth.
fn fill<'a>(
    lists: impl Iterator<Item = &'a List> + Clone,
    first_pixel: usize,
    before: usize,
    ends: &mut [u32],
    fragments: &mut [Fragment],
) {
    for list in lists.clone() {
        for &pixel in &list.pixels[..list.count] {
            ends[pixel as usize - first_pixel] += 1;
        }
    }
    // Where each pixel begins; filling makes it where the pixel ends.
    let mut sum = 0;
    for end in ends.iter_mut() {
        let count = *end;
        *end = sum;
        sum += count;
    }
    for list in lists {
        for (&pixel, &fragment) in list.pixels[..list.count].iter().zip(&list.fragments) {
            let place = &mut ends[pixel as usize - first_pixel];
            fragments[*place as usize] = Fragment::from_number(fragment);
            *place += 1;
        }
    }
    let mut begin = 0;
    for end in ends.iter_mut() {
        sort(&mut fragments[begin..*end as usize]);
        begin = *end as usize;
        *end += before as u32;
    }
}

/// Sorts a few fragments.
#[inline(always)]
fn sort(fragments: &mut [Fragment]) {
    if fragments.len() > 32 {
        return fragments.sort_unstable();
    }
    for k in 1..fragments.len() {
        let fragment = fragments[k];
        let mut at = k;
        while at > 0 && fragments[at - 1] > fragment {
            fragments[at] = fragments[at - 1];
            at -= 1;
        }
        fragments[at] = fragment;
    }
}
