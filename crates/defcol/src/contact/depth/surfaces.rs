//! The surfaces of bodies, ready to be asked.

use crate::detect::bvh::{
    BoundingBox, BoundingVolume, Nearest, NearestSearch, PrimitiveTree, Visit,
};
use crate::detect::corners;
use crate::detect::primitive::{Crossing, crossing, segment_meets_triangle};
use crate::math::{Real, Vector3};
use crate::state::Bodies;

/// A tree around the surface of each body that was asked for; built once, and refitted when positions change.
#[derive(Debug, Clone)]
pub(in crate::contact) struct Surfaces<R: Real> {
    topology: u64,
    trees: Vec<Option<PrimitiveTree<R, 3>>>,
    fresh: Vec<bool>,
}

impl<R: Real> Default for Surfaces<R> {
    fn default() -> Self {
        Self { topology: 0, trees: vec![], fresh: vec![] }
    }
}

impl<R: Real> Surfaces<R> {
    /// Makes the surfaces of some bodies ready.
    pub fn update(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        needed: impl Iterator<Item = u32>,
    ) {
        if self.topology != bodies.topology() {
            self.topology = bodies.topology();
            self.trees.clear();
            self.trees.resize_with(bodies.len(), || None);
        }
        self.fresh.clear();
        self.fresh.resize(bodies.len(), false);
        for body in needed {
            let body = body as usize;
            if std::mem::replace(&mut self.fresh[body], true) {
                continue;
            }
            let triangles = triangles_of(bodies, body);
            match &mut self.trees[body] {
                Some(tree) => tree.refit(positions),
                None if triangles.is_empty() => {}
                slot => *slot = Some(PrimitiveTree::new(positions, triangles)),
            }
        }
    }

    /// One of them, for the present positions.
    pub fn of<'a>(
        &'a self,
        bodies: &'a Bodies,
        positions: &'a [Vector3<R>],
        body: u32,
    ) -> Option<Surface<'a, R>> {
        let tree = self.trees[body as usize].as_ref()?;
        Some(Surface { tree, triangles: triangles_of(bodies, body as usize), positions })
    }
}

fn triangles_of(bodies: &Bodies, body: usize) -> &[[u32; 3]] {
    &bodies.triangles()[bodies.list()[body].triangles.clone()]
}

/// The surface of a body.
#[derive(Clone, Copy)]
pub(in crate::contact) struct Surface<'a, R: Real> {
    tree: &'a PrimitiveTree<R, 3>,
    triangles: &'a [[u32; 3]],
    positions: &'a [Vector3<R>],
}

impl<R: Real> Surface<'_, R> {
    /// The corners of a triangle.
    pub fn triangle(&self, triangle: u32) -> [u32; 3] {
        self.triangles[triangle as usize]
    }

    /// Twice the area of a triangle times its normal.
    pub fn area_normal(&self, triangle: u32) -> Vector3<R> {
        let [a, b, c] = corners(self.positions, self.triangle(triangle));
        (b - a).cross(&(c - a))
    }

    /// The point nearest to another, if it is no farther than `within`.
    pub fn nearest(
        &self,
        point: Vector3<R>,
        within: R,
        visit: &mut Visit<R>,
    ) -> Option<Nearest<R>> {
        self.tree.nearest(self.triangles, self.positions, point, within, visit)
    }

    /// The points nearest to some others; `nearest` is overwritten.
    pub fn nearest_of_all(
        &self,
        points: &[Vector3<R>],
        search: &mut NearestSearch<R>,
        nearest: &mut Vec<Nearest<R>>,
    ) {
        search.find(self.tree, self.triangles, self.positions, points, nearest);
    }

    /// Where a segment meets the surface for the last time, and on which triangle: of several there, on the one that it
    /// leaves most steeply, and of those the first. Triangles that have one of the two vertices are left out.
    #[inline]
    pub fn last_crossing(
        &self,
        segment: [Vector3<R>; 2],
        but: [u32; 2],
        scratch: &mut Scratch<R>,
    ) -> Option<(u32, Crossing<R>)> {
        let Scratch { visit, found } = scratch;
        found.clear();
        self.crossings(segment, but, visit, |triangle, crossing| found.push((triangle, crossing)));
        if let [only] = found[..] {
            return Some(only);
        }
        let last = found.iter().map(|(_, crossing)| crossing.parameter).reduce(|a, b| a.max(b))?;
        let way = segment[1] - segment[0];
        let same = R::nearest(16.0) * R::default_epsilon();
        let mut best: Option<(R, (u32, Crossing<R>))> = None;
        for &(triangle, crossing) in found.iter().filter(|f| f.1.parameter >= last - same) {
            let normal = unit(self.area_normal(triangle)).unwrap_or_else(Vector3::zeros);
            let steep = normal.dot(&way).abs();
            let better = best.as_ref().is_none_or(|(most, (first, _))| {
                steep > *most || (steep == *most && triangle < *first)
            });
            if better {
                best = Some((steep, (triangle, crossing)));
            }
        }
        best.map(|(_, crossing)| crossing)
    }

    /// Where a segment meets the surface.
    #[inline]
    fn crossings(
        &self,
        segment: [Vector3<R>; 2],
        but: [u32; 2],
        visit: &mut Visit<R>,
        mut found: impl FnMut(u32, Crossing<R>),
    ) {
        let around = BoundingBox::of(segment.into_iter(), R::zero());
        self.tree.meeting(&around, visit, |triangle| {
            let own = self.triangle(triangle);
            if own.iter().any(|corner| but.contains(corner)) {
                return;
            }
            let corners = corners(self.positions, own);
            if segment_meets_triangle(segment, corners) {
                found(triangle, crossing(segment, corners));
            }
        });
    }
}

/// What a search keeps from one question to the next: its memory.
#[derive(Debug, Clone)]
pub(in crate::contact) struct Scratch<R: Real> {
    pub visit: Visit<R>,
    found: Vec<(u32, Crossing<R>)>,
}

impl<R: Real> Default for Scratch<R> {
    fn default() -> Self {
        Self { visit: Visit::default(), found: vec![] }
    }
}

/// A vector of length one, if there is a direction.
pub(super) fn unit<R: Real>(vector: Vector3<R>) -> Option<Vector3<R>> {
    let largest: R = vector.amax();
    (largest > R::zero() && largest.is_finite()).then(|| (vector / largest).normalize())
}
