use rayon::prelude::*;

use super::fragment::Fragment;
use super::image::Ldi;
use super::view::{MAX_DEPTH, View};
use super::volume::{Lengths, Volume, measure};
use crate::error::DetectError;
use crate::mesh::RawMesh;

/// What bodies are combined to (THESIS figure 5.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// What is inside of any.
    Union,
    /// What is inside of all.
    Intersection,
    /// What is inside of the first only.
    Difference,
}

impl Operation {
    /// Whether a place belongs to the result that is inside of so many of `all` bodies, of the first or not.
    #[inline(always)]
    fn holds(self, inside: usize, of_first: bool, all: usize) -> bool {
        match self {
            Self::Union => inside > 0,
            Self::Intersection => inside == all,
            Self::Difference => of_first & (inside == 1),
        }
    }
}

/// An end of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// How far along the ray.
    pub depth: u32,
    /// The number of the body and the triangle whose crossing it is; none where the view ends.
    pub crossing: Option<(u32, u32)>,
}

/// A piece of a ray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// The pixel of the ray.
    pub pixel: u32,
    /// Where it begins.
    pub from: End,
    /// Where it ends, deeper than it begins.
    pub to: End,
}

impl Interval {
    /// How long it is.
    #[inline(always)]
    pub fn length(&self) -> u32 {
        self.to.depth - self.from.depth
    }
}

/// The rest of a ray and the winding number where it begins.
pub(super) type Ray<'a> = (i32, &'a [Fragment]);

/// Bodies combined to one, ray by ray. It keeps its memory from call to call.
#[derive(Debug, Default)]
pub struct Combination {
    view: Option<View>,
    intervals: Vec<Interval>,
    parts: Vec<Vec<Interval>>,
    lengths: Lengths,
}

impl Combination {
    /// Combines the bodies of images that were made for the same view.
    pub fn combine(&mut self, operation: Operation, images: &[&Ldi]) -> Result<(), DetectError> {
        self.intervals.clear();
        let Some(first) = images.first() else {
            self.view = None;
            return Ok(());
        };
        let view = *first.view();
        if images.iter().any(|image| *image.view() != view) {
            return Err(DetectError::DifferentViews);
        }
        self.view = Some(view);
        let pixels = view.pixels();
        let tasks = if rayon::current_num_threads() == 1 { 1 } else { pixels / (1 << 13) + 1 };
        let work = |task: usize, intervals: &mut Vec<Interval>| {
            let some = task * pixels / tasks..(task + 1) * pixels / tasks;
            match *images {
                // Two are known to the compiler as two.
                [a, b] if operation == Operation::Intersection => {
                    // Most rays that miss one body are told at a glance.
                    let both =
                        |&pixel: &usize| !a.pixel(pixel).is_empty() && !b.pixel(pixel).is_empty();
                    some.filter(both).for_each(|pixel| {
                        sweep(pixel, operation, &mut [a.ray(pixel), b.ray(pixel)], intervals);
                    });
                }
                _ => {
                    let mut rays: Vec<Ray> = Vec::with_capacity(images.len());
                    for pixel in some {
                        rays.clear();
                        rays.extend(images.iter().map(|image| image.ray(pixel)));
                        sweep(pixel, operation, &mut rays, intervals);
                    }
                }
            }
        };
        if tasks == 1 {
            work(0, &mut self.intervals);
            return Ok(());
        }
        if self.parts.len() < tasks {
            self.parts.resize_with(tasks, Vec::new);
        }
        self.parts[..tasks].par_iter_mut().enumerate().for_each(|(task, intervals)| {
            intervals.clear();
            work(task, intervals);
        });
        for part in &self.parts[..tasks] {
            self.intervals.extend_from_slice(part);
        }
        Ok(())
    }

    /// Intersects two bodies that are in one image: the first has the first `of_first` triangles, the second all others.
    /// The triangles of the second are counted anew.
    pub fn intersect_within(&mut self, ldi: &Ldi, of_first: u32) {
        let view = *ldi.view();
        self.view = Some(view);
        let intervals = &mut self.intervals;
        intervals.clear();
        for pixel in 0..view.pixels() {
            let fragments = ldi.pixel(pixel);
            // One body alone has two crossings at the least where it has some.
            if fragments.len() < 3 {
                continue;
            }
            let body = |fragment: &Fragment| usize::from(fragment.triangle() >= of_first);
            let mut windings = ldi.windings_before(pixel, body);
            let both = |windings: &[i32; 2]| windings[0] != 0 && windings[1] != 0;
            let (mut from, mut last) = (End { depth: 0, crossing: None }, None::<Interval>);
            let mut cross = |fragment: &Fragment, windings: &mut [i32; 2]| {
                let before = both(windings);
                let own = body(fragment);
                windings[own] += fragment.winding();
                let now = both(windings);
                if before == now {
                    return;
                }
                let depth = fragment.depth();
                let triangle = fragment.triangle() - if own == 0 { 0 } else { of_first };
                let crossing = (!ldi.is_beyond(depth)).then_some((own as u32, triangle));
                let end = End { depth, crossing };
                if now {
                    from = match last {
                        // It goes on where the last one has ended.
                        Some(interval) if interval.to.depth == depth => {
                            last = None;
                            interval.from
                        }
                        _ => end,
                    };
                } else if depth > from.depth {
                    intervals.extend(last);
                    last = Some(Interval { pixel: pixel as u32, from, to: end });
                }
            };
            for same in fragments.chunk_by(|a, b| a.depth() == b.depth()) {
                if let [only] = same {
                    cross(only, &mut windings);
                    continue;
                }
                // In the order that `sweep` takes them in.
                let of = |wanted: usize| same.iter().filter(move |f| body(f) == wanted).peekable();
                let mut queues = [of(0), of(1)];
                loop {
                    let exits = [0, 1].map(|k: usize| queues[k].peek().map(|f| f.is_exit()));
                    let next = match exits {
                        [None, None] => break,
                        [_, Some(true)] | [None, _] => 1,
                        _ => 0,
                    };
                    if let Some(fragment) = queues[next].next() {
                        cross(fragment, &mut windings);
                    }
                }
            }
            if both(&windings) && from.depth < MAX_DEPTH {
                intervals.extend(last.take());
                let to = End { depth: MAX_DEPTH, crossing: None };
                last = Some(Interval { pixel: pixel as u32, from, to });
            }
            intervals.extend(last);
        }
    }

    /// The pieces of all rays, pixel by pixel and from near to far.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// Whether no ray has a piece.
    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// The volume of the result.
    pub fn volume(&mut self) -> Volume {
        match &self.view {
            Some(view) => measure(view, &self.intervals, &mut self.lengths),
            None => Volume::default(),
        }
    }
}

/// Finds the pieces of one ray.
#[inline(always)]
fn sweep(pixel: usize, operation: Operation, rays: &mut [Ray], intervals: &mut Vec<Interval>) {
    let all = rays.len();
    let nothing = |ray: &Ray| ray.0 == 0 && ray.1.is_empty();
    let empty = match operation {
        Operation::Intersection => rays.iter().any(nothing),
        Operation::Difference => nothing(&rays[0]),
        Operation::Union => rays.iter().all(nothing),
    };
    if empty {
        return;
    }
    let mut inside = rays.iter().filter(|ray| ray.0 != 0).count();
    let mut holds = operation.holds(inside, rays[0].0 != 0, all);
    let mut from = End { depth: 0, crossing: None };
    let mut last: Option<Interval> = None;
    loop {
        // Of several at one depth exits come first, those of the last body before all. So faces of two bodies in
        // one place bound what they share as if both were of the last one, and nothing is pushed along them.
        let mut next = usize::MAX;
        let mut depth = 0;
        for (body, (_, fragments)) in rays.iter().enumerate() {
            if let Some(fragment) = fragments.first()
                && (next == usize::MAX
                    || fragment.depth() < depth
                    || (fragment.depth() == depth && fragment.is_exit()))
            {
                (next, depth) = (body, fragment.depth());
            }
        }
        let end = if next == usize::MAX {
            End { depth: MAX_DEPTH, crossing: None }
        } else {
            let (winding, fragments) = &mut rays[next];
            let before = *winding != 0;
            let crossing = Some((next as u32, fragments[0].triangle()));
            *winding += fragments[0].winding();
            *fragments = &fragments[1..];
            inside = inside + usize::from(*winding != 0) - usize::from(before);
            End { depth, crossing }
        };
        let now = next != usize::MAX && operation.holds(inside, rays[0].0 != 0, all);
        if now && !holds {
            from = match last {
                // It goes on where the last one has ended.
                Some(interval) if interval.to.depth == end.depth => {
                    last = None;
                    interval.from
                }
                _ => end,
            };
        } else if holds && !now && end.depth > from.depth {
            intervals.extend(last);
            last = Some(Interval { pixel: pixel as u32, from, to: end });
        }
        holds = now;
        if next == usize::MAX {
            break;
        }
    }
    intervals.extend(last);
}

/// A box for each piece of a ray, as wide as its pixel: eight vertices and twelve triangles each, in the order
/// of the pieces. To look at.
pub fn interval_boxes(view: &View, intervals: &[Interval]) -> RawMesh<f64> {
    let [u, v, _] = view.axes();
    let half = view.spacing() * 0.5;
    let resolution = view.resolution();
    let mut mesh = RawMesh::default();
    for interval in intervals {
        let place = [interval.pixel % resolution, interval.pixel / resolution];
        let first = mesh.positions.len() as u32;
        for depth in [interval.from.depth, interval.to.depth] {
            for [left, low] in [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]] {
                let mut corner = view.point(place, depth);
                corner[u] += left * half.x;
                corner[v] += low * half.y;
                mesh.positions.push(corner);
            }
        }
        let quads =
            [[3, 2, 1, 0], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];
        for [a, b, c, d] in quads {
            mesh.triangles.extend([[a, b, c], [a, c, d]].map(|t| t.map(|corner| corner + first)));
        }
    }
    mesh
}
