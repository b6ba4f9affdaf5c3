use super::combination::{End, Interval};
use super::exact::{ExactPoints, Windings};
use super::image::Ldi;
use super::shell::Shell;
use super::view::MAX_DEPTH;
use super::volume::{Lengths, Volume, measure};
use crate::error::DetectError;
use crate::math::predicate::{Sign, orient2d, orient3d};
use crate::math::{Real, Vector2, Vector3};

/// Where a body overlaps itself, and where it is inside out (WSCG04 section 3.3): where its surface winds
/// around a place more than once, and where it winds the wrong way. It keeps its memory from call to call.
#[derive(Debug, Default)]
pub struct SelfOverlap {
    overlapping: Vec<Interval>,
    inverted: Vec<Interval>,
    triangles: Vec<u32>,
    lengths: Lengths,
    exact: ExactPoints,
    /// For each vertex with a triangle its number, that of the triangle, and a point of it.
    names: Vec<(u32, u32)>,
    areas: Vec<f64>,
    witnesses: Vec<Vector3<f64>>,
    windings: Vec<Windings>,
    vertices: Vec<u32>,
}

impl SelfOverlap {
    /// Finds the pieces of the rays of an image.
    pub fn find(&mut self, ldi: &Ldi) {
        self.overlapping.clear();
        self.inverted.clear();
        self.triangles.clear();
        for pixel in 0..ldi.view().pixels() {
            let (winding, fragments) = ldi.ray(pixel);
            // As often in and out by turns: nothing to find, and most pixels are like that.
            let alternate = fragments.iter().enumerate().all(|(k, f)| f.is_exit() == (k % 2 == 1));
            if winding == 0 && alternate {
                continue;
            }
            self.find_on_ray(pixel as u32, ldi);
        }
        self.triangles.sort_unstable();
        self.triangles.dedup();
    }

    fn find_on_ray(&mut self, pixel: u32, ldi: &Ldi) {
        let (mut winding, fragments) = ldi.ray(pixel as usize);
        let border = |depth: u32| End { depth, crossing: None };
        let (mut twice, mut negative) = (border(0), border(0));
        let mut first = self.triangles.len();
        let ends = fragments
            .iter()
            .map(|f| (f.winding(), End { depth: f.depth(), crossing: Some((0, f.triangle())) }));
        for (change, end) in ends.chain([(-winding_at_end(winding, fragments), border(MAX_DEPTH))])
        {
            let before = winding;
            winding += change;
            for (list, from, was, is) in [
                (&mut self.overlapping, &mut twice, before >= 2, winding >= 2),
                (&mut self.inverted, &mut negative, before < 0, winding < 0),
            ] {
                if is && !was {
                    *from = end;
                    first = self.triangles.len();
                }
                if (is || was)
                    && let Some((_, triangle)) = end.crossing
                {
                    self.triangles.push(triangle);
                }
                if was && !is {
                    if end.depth > from.depth {
                        list.push(Interval { pixel, from: *from, to: end });
                    } else {
                        // A piece without length: what it crosses takes no part.
                        self.triangles.truncate(first);
                    }
                }
            }
        }
    }

    /// The pieces of rays around which the surface winds at least twice.
    pub fn overlapping(&self) -> &[Interval] {
        &self.overlapping
    }

    /// The pieces of rays around which the surface winds the wrong way.
    pub fn inverted(&self) -> &[Interval] {
        &self.inverted
    }

    /// The triangles that rays cross where those pieces begin, end or change, ascending.
    pub fn triangles(&self) -> &[u32] {
        &self.triangles
    }

    /// The volume in which the body overlaps itself, of the image given to [`find`](Self::find).
    pub fn volume(&mut self, ldi: &Ldi) -> Volume {
        measure(ldi.view(), &self.overlapping, &mut self.lengths)
    }

    /// The volume in which the body is inside out, of the image given to [`find`](Self::find).
    pub fn inverted_volume(&mut self, ldi: &Ldi) -> Volume {
        measure(ldi.view(), &self.inverted, &mut self.lengths)
    }

    /// The vertices that are on the surface of such a place or in it, ascending: on one side of the surface
    /// at the vertex it winds at least twice or the wrong way. This is exact and needs no image; what is
    /// nearer to the vertex than a millionth of its triangle is not told apart from it.
    pub fn vertices<R: Real>(&mut self, shell: &Shell<R>) -> Result<&[u32], DetectError> {
        self.find_witnesses(shell);
        let points = &self.witnesses;
        self.exact.windings(shell, points, &mut self.windings)?;
        let found = self.names.iter().zip(points).zip(&self.windings);
        self.vertices.clear();
        for ((&(vertex, triangle), point), windings) in found {
            let (inner, outer) = sides(shell.corners(triangle), *point, windings, &self.exact);
            if inner.max(outer) >= 2 || inner.min(outer) < 0 {
                self.vertices.push(vertex);
            }
        }
        Ok(&self.vertices)
    }

    /// For each vertex a point of its largest triangle that is next to it.
    fn find_witnesses<R: Real>(&mut self, shell: &Shell<R>) {
        self.names.clear();
        self.names.resize(shell.positions().len(), (0, u32::MAX));
        self.areas.clear();
        self.areas.resize(shell.positions().len(), 0.0);
        for (number, corners) in (0u32..).zip(shell.triangles()) {
            let [a, b, c] = shell.corners(number);
            let area = (b - a).cross(&(c - a)).norm();
            for corner in corners {
                let vertex = (corner - shell.first()) as usize;
                if area > self.areas[vertex] {
                    self.areas[vertex] = area;
                    self.names[vertex] = (vertex as u32, number);
                }
            }
        }
        self.names.retain(|&(_, triangle)| triangle != u32::MAX);
        self.witnesses.clear();
        self.witnesses.extend(self.names.iter().map(|&(vertex, triangle)| {
            let [a, b, c] = shell.corners(triangle);
            let place = shell.positions()[vertex as usize].map(R::to_f64);
            place + ((a + b + c) / 3.0 - place) * 1e-6
        }));
    }
}

/// The winding numbers on the inner and the outer side of a triangle, from those of a point on it or next to it.
fn sides(
    [a, b, c]: [Vector3<f64>; 3],
    point: Vector3<f64>,
    windings: &Windings,
    exact: &ExactPoints,
) -> (i32, i32) {
    let Windings { above, below, .. } = *windings;
    if above != below {
        return (above.max(below), above.min(below));
    }
    // Where it lies on the triangle, its winding number is that of a point moved a little along the first
    // axis across the rays, and much less along the second.
    let moved = || {
        let [u, v, _] = exact.axes();
        let facing = |axis: usize| {
            let turn = |p: Vector3<f64>| Vector2::new(p[(axis + 1) % 3], p[(axis + 2) % 3]);
            orient2d(turn(a), turn(b), turn(c))
        };
        match facing(u) {
            Sign::Zero => facing(v),
            sign => sign,
        }
    };
    let side = match orient3d(a, b, c, point) {
        Sign::Zero => moved(),
        sign => sign,
    };
    match side {
        Sign::Positive => (above + 1, above),
        Sign::Negative => (above, above - 1),
        Sign::Zero => (above, above),
    }
}

/// The winding number at the far end of a ray.
fn winding_at_end(first: i32, fragments: &[super::Fragment]) -> i32 {
    first + fragments.iter().map(|fragment| fragment.winding()).sum::<i32>()
}
