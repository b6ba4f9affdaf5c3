//! The surfaces of bodies, ready to be asked.

use std::sync::OnceLock;

use crate::contact::Anchor;
use crate::detect::bvh::{
    BoundingBox, BoundingVolume, Nearest, NearestSearch, PrimitiveTree, Visit,
};
use crate::detect::corners;
use crate::detect::primitive::{closest_on_triangle, crossing, segment_meets_triangle};
use crate::math::{Real, Vector3};
use crate::state::Bodies;

/// A tree around the surface of each body that was asked for; built once, and refitted when positions change.
#[derive(Debug, Clone)]
pub(in crate::contact) struct Surfaces<R: Real> {
    topology: u64,
    trees: Vec<Option<PrimitiveTree<R, 3>>>,
    fresh: Vec<bool>,
    /// Whether each is inside out, once that was asked.
    turns: Vec<OnceLock<f64>>,
}

impl<R: Real> Default for Surfaces<R> {
    fn default() -> Self {
        Self { topology: 0, trees: vec![], fresh: vec![], turns: vec![] }
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
        self.turns.clear();
        self.turns.resize_with(bodies.len(), OnceLock::new);
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
        let triangles = triangles_of(bodies, body as usize);
        Some(Surface { tree, triangles, positions, turn: &self.turns[body as usize] })
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
    turn: &'a OnceLock<f64>,
}

impl<R: Real> Surface<'_, R> {
    /// The vertices of a triangle.
    pub fn triangle(&self, triangle: u32) -> [u32; 3] {
        self.triangles[triangle as usize]
    }

    /// Where the corners of a triangle are.
    pub fn corners(&self, triangle: u32) -> [Vector3<R>; 3] {
        corners(self.positions, self.triangle(triangle))
    }

    /// Where a vertex is.
    pub fn position(&self, vertex: u32) -> Vector3<R> {
        self.positions[vertex as usize]
    }

    /// Twice the area of a triangle times its normal.
    pub fn area_normal(&self, triangle: u32) -> Vector3<f64> {
        let [a, b, c] = self.corners(triangle).map(|corner| corner.map(R::to_f64));
        (b - a).cross(&(c - a))
    }

    /// One if normals point outwards, minus one if the body is inside out.
    pub fn turn(&self) -> f64 {
        *self.turn.get_or_init(|| {
            let Some(&[first, ..]) = self.triangles.first() else { return 1.0 };
            let origin = self.position(first).map(R::to_f64);
            let cone = |t: &[u32; 3]| {
                let [a, b, c] =
                    corners(self.positions, *t).map(|corner| corner.map(R::to_f64) - origin);
                a.cross(&b).dot(&c)
            };
            if self.triangles.iter().map(cone).sum::<f64>() < 0.0 { -1.0 } else { 1.0 }
        })
    }

    /// The outward normal of a triangle.
    pub fn outwards(&self, triangle: u32) -> Option<Vector3<f64>> {
        unit(self.area_normal(triangle)).map(|normal| normal * self.turn())
    }

    /// The point of a triangle that is nearest to a point.
    pub fn anchor(&self, triangle: u32, point: Vector3<R>) -> Anchor<R> {
        let (weights, _) = closest_on_triangle(point, self.corners(triangle));
        Anchor::of(self.triangle(triangle), weights.map(R::nearest))
    }

    /// Names all triangles whose boxes meet one of some boxes, all of which are in one.
    #[inline(always)]
    pub fn meeting(
        &self,
        around: &BoundingBox<R>,
        boxes: &[BoundingBox<R>],
        visit: &mut Visit<R>,
        found: impl FnMut(u32),
    ) {
        self.tree.meeting_any(around, boxes, visit, found);
    }

    /// The point nearest to another.
    pub fn nearest(&self, point: Vector3<R>, visit: &mut Visit<R>) -> Option<Nearest<R>> {
        let far = R::nearest(f64::INFINITY);
        self.tree.nearest(self.triangles, self.positions, point, far, visit)
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

    /// The way from a point to the nearest point of the surface; where that is the same up to rounding, the normal.
    pub fn way_to(&self, point: Vector3<R>, nearest: &Nearest<R>) -> Option<Vector3<f64>> {
        let largest = self.corners(nearest.triangle).map(|corner| corner.amax().to_f64());
        let largest = largest.into_iter().fold(point.amax().to_f64(), f64::max);
        if nearest.distance.to_f64() <= 16.0 * R::default_epsilon().to_f64() * largest {
            return self.outwards(nearest.triangle);
        }
        unit((nearest.point - point).map(R::to_f64)).or_else(|| self.outwards(nearest.triangle))
    }

    /// How far along a ray the surface is met for the last time, and where: of several triangles the first.
    pub fn last_on_ray(
        &self,
        from: Vector3<R>,
        ray: Vector3<R>,
        visit: &mut Visit<R>,
    ) -> Option<(f64, Anchor<R>)> {
        let segment = [from, from + ray];
        let around = BoundingBox::of(segment.into_iter(), R::zero());
        let mut last: Option<(R, u32, [R; 3])> = None;
        self.tree.meeting(&around, visit, |triangle| {
            let corners = self.corners(triangle);
            if !segment_meets_triangle(segment, corners) {
                return;
            }
            let found = crossing(segment, corners);
            let later = last.is_none_or(|(parameter, first, _)| {
                found.parameter > parameter || (found.parameter == parameter && triangle < first)
            });
            if later {
                last = Some((found.parameter, triangle, found.weights));
            }
        });
        last.map(|(parameter, triangle, weights)| {
            (parameter.to_f64(), Anchor::of(self.triangle(triangle), weights))
        })
    }
}

/// A vector of length one, if there is a direction.
pub(in crate::contact) fn unit(vector: Vector3<f64>) -> Option<Vector3<f64>> {
    let largest = vector.amax();
    (largest > 0.0 && largest.is_finite()).then(|| (vector / largest).normalize())
}
