//! A point with its edges to the outside, and the triangles around them.

use super::surfaces::{Surface, unit};
use crate::detect::bvh::{BoundingBox, BoundingVolume, Visit};
use crate::detect::primitive::{crossing, segment_meets_triangle};
use crate::math::{Real, Vector3};

/// Everything that stages two and three of the consistent depth need of one point. All edges begin at the point, so what
/// the plane of a triangle says about it is computed once for all of them. It keeps its memory from point to point.
#[derive(Debug, Clone)]
pub(super) struct Fan<R: Real> {
    visit: Visit<R>,
    /// Where the point is.
    pub place: Vector3<R>,
    /// A box around all edges, and one around each.
    around: BoundingBox<R>,
    boxes: Vec<BoundingBox<R>>,
    /// Its edges.
    pub ends: Vec<End>,
    /// The triangles near them.
    pub planes: Vec<Plane>,
    cuts: Vec<Cut>,
}

impl<R: Real> Default for Fan<R> {
    fn default() -> Self {
        Self {
            visit: Visit::default(),
            place: Vector3::zeros(),
            around: BoundingBox::empty(),
            boxes: vec![],
            ends: vec![],
            planes: vec![],
            cuts: vec![],
        }
    }
}

/// The far end of an edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub vertex: u32,
    /// From the point to it.
    pub way: Vector3<f64>,
    /// Its longest coordinate.
    pub reach: f64,
}

/// A triangle seen from the point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plane {
    pub triangle: u32,
    /// Its corners from the point, and their longest coordinate.
    pub corners: [Vector3<f64>; 3],
    reach: f64,
    /// Twice its area, along its normal.
    pub normal: Vector3<f64>,
    /// The product of the normal with a corner: positive if the point is behind it.
    pub height: f64,
    /// How far products of the normal may be off, for each unit of length of the other factor.
    slack: f64,
    /// Whether the point is on the triangle.
    pub here: bool,
}

/// Where an edge meets a triangle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    pub triangle: u32,
    /// Twice its area, along its normal.
    pub normal: Vector3<f64>,
    pub parameter: f64,
    pub weights: [f64; 3],
}

/// What floating point tells about an edge and a triangle.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meeting {
    None,
    Certain { parameter: f64, weights: [f64; 3] },
    Unsure,
}

/// Many roundings.
const DOUBT: f64 = 64.0 * f64::EPSILON;

impl Plane {
    /// Whether an edge and the triangle meet, as far as that is certain.
    #[inline(always)]
    pub fn cut(&self, end: &End) -> Meeting {
        let along = end.way.dot(&self.normal);
        let doubt = self.slack * (end.reach + self.reach);
        let (own, other) = (self.height, along - self.height);
        if (own > doubt && other < -doubt) || (own < -doubt && other > doubt) {
            return Meeting::None;
        }
        let leaves = own > doubt && other > doubt;
        let enters = own < -doubt && other < -doubt;
        if !leaves && !enters {
            return Meeting::Unsure;
        }
        let [a, b, c] = &self.corners;
        let turn = if leaves { 1.0 } else { -1.0 };
        let doubt = DOUBT * end.reach * self.reach * self.reach;
        let mut weights = [0.0; 3];
        let mut certain = true;
        for (weight, (p, q)) in weights.iter_mut().zip([(b, c), (c, a), (a, b)]) {
            *weight = turn * end.way.dot(&p.cross(q));
            if *weight < -doubt {
                return Meeting::None;
            }
            certain &= *weight > doubt;
        }
        if !certain {
            return Meeting::Unsure;
        }
        let sum: f64 = weights.iter().sum();
        Meeting::Certain { parameter: own / along, weights: weights.map(|weight| weight / sum) }
    }
}

impl<R: Real> Fan<R> {
    /// Takes a point and the far ends of its edges; none if there is none.
    pub fn begin(
        &mut self,
        place: Vector3<R>,
        ends: impl Iterator<Item = (u32, Vector3<R>)>,
    ) -> Option<()> {
        let exact = place.map(R::to_f64);
        self.place = place;
        self.around = BoundingBox::empty();
        self.boxes.clear();
        self.ends.clear();
        for (vertex, end) in ends {
            let around = BoundingBox::of([place, end].into_iter(), R::zero());
            self.around = self.around.union(around);
            self.boxes.push(around);
            let way = end.map(R::to_f64) - exact;
            self.ends.push(End { vertex, way, reach: way.amax() });
        }
        (!self.ends.is_empty()).then_some(())
    }

    /// How long the shortest edge is.
    pub fn shortest(&self) -> f64 {
        self.ends.iter().map(|end| end.way.norm_squared()).fold(f64::INFINITY, f64::min).sqrt()
    }

    /// Gathers the triangles that may meet an edge or be nearer to the point than so much; not those with a corner that
    /// is left out.
    pub fn gather(&mut self, surface: &Surface<R>, within: f64, without: Option<u32>) {
        let Self { visit, place, around, boxes, planes, .. } = self;
        planes.clear();
        if within > 0.0 {
            // Rounded up.
            let reach = Vector3::repeat(R::nearest(within * 1.001));
            let near = BoundingBox::of([*place - reach, *place + reach].into_iter(), R::zero());
            *around = around.union(near);
            boxes.push(near);
        }
        let exact = place.map(R::to_f64);
        surface.meeting(around, boxes, visit, |triangle| {
            let names = surface.triangle(triangle);
            if without.is_some_and(|vertex| names.contains(&vertex)) {
                return;
            }
            let positions = surface.corners(triangle);
            let corners = positions.map(|corner| corner.map(R::to_f64) - exact);
            let [a, b, c] = corners;
            let (p, q) = (b - a, c - a);
            let normal = p.cross(&q);
            let reach = a.amax().max(b.amax()).max(c.amax());
            let slack = DOUBT * p.amax() * q.amax();
            let height = a.dot(&normal);
            let here = height.abs() <= slack * reach
                && segment_meets_triangle([*place, *place], positions);
            planes.push(Plane { triangle, corners, reach, normal, height, slack, here });
        });
    }

    /// Whether the point is on a triangle.
    pub fn is_on_surface(&self) -> bool {
        self.planes.iter().any(|plane| plane.here)
    }

    /// Brings the triangles into an order that does not depend on the tree, which remembers other positions.
    pub fn sort(&mut self) {
        self.planes.sort_unstable_by_key(|plane| plane.triangle);
    }

    /// Where an edge meets the surface for the last time: of several triangles there, the one that it leaves most
    /// steeply, and of these the first. Of its own body the triangles of its far end are left out.
    pub fn last_cut(&mut self, surface: &Surface<R>, end: usize, own: bool) -> Option<Cut> {
        let Self { place, ends, planes, cuts, .. } = self;
        let end = &ends[end];
        cuts.clear();
        let mut last = f64::NEG_INFINITY;
        for plane in planes.iter() {
            let Plane { triangle, normal, .. } = *plane;
            let cut = match plane.cut(end) {
                Meeting::None => continue,
                Meeting::Certain { parameter, weights } => {
                    Cut { triangle, normal, parameter, weights }
                }
                Meeting::Unsure => {
                    let there = surface.position(end.vertex);
                    let corners = surface.corners(plane.triangle);
                    if !segment_meets_triangle([*place, there], corners) {
                        continue;
                    }
                    let found = crossing([*place, there], corners);
                    let weights = found.weights.map(R::to_f64);
                    Cut { triangle, normal, parameter: found.parameter.to_f64(), weights }
                }
            };
            if own && surface.triangle(plane.triangle).contains(&end.vertex) {
                continue;
            }
            last = last.max(cut.parameter);
            cuts.push(cut);
        }
        let same = 16.0 * R::default_epsilon().to_f64();
        cuts.retain(|cut| cut.parameter >= last - same);
        if let [only] = cuts[..] {
            return Some(only);
        }
        let turn = if cuts.is_empty() { return None } else { surface.turn() };
        let key = |cut: &Cut| {
            let normal = unit(cut.normal);
            normal.map_or(f64::NEG_INFINITY, |normal| turn * normal.dot(&end.way))
        };
        let keyed = cuts.iter().map(|cut| (key(cut), *cut));
        let better = |best: &(f64, Cut), own: &(f64, Cut)| {
            own.0 > best.0 || (own.0 == best.0 && own.1.triangle < best.1.triangle)
        };
        keyed.reduce(|best, own| if better(&best, &own) { own } else { best }).map(|(_, cut)| cut)
    }
}
