use super::combination::{End, Interval};
use super::image::{Generator, Ldi, Software};
use super::region::Start;
use super::shell::Shell;
use super::view::View;
use super::volume::{Lengths, Volume, measure};
use crate::error::DetectError;
use crate::math::{Bounds, Real};

/// Measures the overlaps of many bodies in one pass: all of them go into one image, and a sweep along each
/// ray finds every pair that overlaps there (THESIS 5.4 asks for it). It keeps its memory from call to call.
#[derive(Debug, Default)]
pub struct ManyBodies<G = Software> {
    generator: G,
    ldi: Ldi,
    /// For each body the number of its first triangle, and the number of all.
    first: Vec<u32>,
    /// The bodies around the current place, with their winding numbers.
    around: Vec<(u32, i32)>,
    found: Vec<([u32; 2], Interval)>,
    intervals: Vec<Interval>,
    lengths: Lengths,
    pairs: Vec<PairOverlap>,
}

/// Two bodies that overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairOverlap {
    /// The bodies, the smaller number first.
    pub bodies: [u32; 2],
    /// The volume of their overlap.
    pub volume: Volume,
}

impl<G> ManyBodies<G> {
    /// The image of all bodies; their triangles are numbered one body after the other.
    pub fn ldi(&self) -> &Ldi {
        &self.ldi
    }

    /// Finds all pairs that overlap and that `may_collide`, in ascending order.
    ///
    /// The raster covers all places where boxes of two bodies meet.
    pub fn overlaps<R: Real>(
        &mut self,
        shells: &[Shell<R>],
        resolution: u32,
        may_collide: impl Fn(u32, u32) -> bool,
    ) -> Result<&[PairOverlap], DetectError>
    where
        G: Generator<R>,
    {
        self.pairs.clear();
        let Some(bounds) = common(shells, &may_collide) else {
            return Ok(&self.pairs);
        };
        let axis = bounds.extent().imin();
        let view = View::new(bounds, axis, resolution)?;
        self.generator.generate(shells, &view, Start::Near, &mut self.ldi)?;
        self.first.clear();
        let mut first = 0;
        for shell in shells {
            self.first.push(first);
            first += shell.triangles().len() as u32;
        }
        self.found.clear();
        for pixel in 0..view.pixels() {
            self.sweep(pixel, &may_collide);
        }
        self.found
            .sort_unstable_by_key(|(pair, interval)| (*pair, interval.pixel, interval.from.depth));
        for same in self.found.chunk_by(|a, b| a.0 == b.0) {
            self.intervals.clear();
            self.intervals.extend(same.iter().map(|(_, interval)| *interval));
            let volume = measure(&view, &self.intervals, &mut self.lengths);
            self.pairs.push(PairOverlap { bodies: same[0].0, volume });
        }
        Ok(&self.pairs)
    }

    fn sweep(&mut self, pixel: usize, may_collide: &impl Fn(u32, u32) -> bool) {
        // All of them: what was taken in at the ends belongs to bodies too.
        let fragments = self.ldi.pixel(pixel);
        self.around.clear();
        let mut from = End { depth: 0, crossing: None };
        for fragment in fragments {
            let triangle = fragment.triangle();
            let body = self.first.partition_point(|&first| first <= triangle) as u32 - 1;
            let to = End { depth: fragment.depth(), crossing: Some((body, triangle)) };
            emit(&mut self.found, pixel, &self.around, from, to, may_collide);
            from = to;
            let place = self.around.iter().position(|&(other, _)| other == body);
            let place = place.unwrap_or_else(|| {
                self.around.push((body, 0));
                self.around.len() - 1
            });
            self.around[place].1 += fragment.winding();
            if self.around[place].1 == 0 {
                self.around.swap_remove(place);
            }
        }
        let to = End { depth: super::MAX_DEPTH, crossing: None };
        emit(&mut self.found, pixel, &self.around, from, to, may_collide);
    }
}

/// Notes a piece of a ray for every pair of the bodies around it.
fn emit(
    found: &mut Vec<([u32; 2], Interval)>,
    pixel: usize,
    around: &[(u32, i32)],
    from: End,
    to: End,
    may_collide: &impl Fn(u32, u32) -> bool,
) {
    if to.depth <= from.depth {
        return;
    }
    for (k, &(a, _)) in around.iter().enumerate() {
        for &(b, _) in &around[k + 1..] {
            let pair = [a.min(b), a.max(b)];
            if may_collide(pair[0], pair[1]) {
                found.push((pair, Interval { pixel: pixel as u32, from, to }));
            }
        }
    }
}

/// The box around all places where boxes of two bodies that may collide meet.
fn common<R: Real>(
    shells: &[Shell<R>],
    may_collide: &impl Fn(u32, u32) -> bool,
) -> Option<Bounds<f64>> {
    let mut bounds = Bounds::empty();
    for (a, first) in (0u32..).zip(shells) {
        for (b, second) in (a + 1..).zip(&shells[a as usize + 1..]) {
            let both = first.bounds().intersection(second.bounds());
            let thick = (0..3).all(|axis| both.extent()[axis] > 0.0);
            if thick && may_collide(a, b) {
                bounds = bounds.union(both);
            }
        }
    }
    (!bounds.is_empty()).then_some(bounds)
}
