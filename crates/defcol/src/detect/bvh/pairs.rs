//! The triangles of two bodies, or of one with itself, that meet.

use std::ops::ControlFlow;

use fearless_simd::Simd;

use super::collider::Collider;
use super::descent::{Descent, LeafPairs};
use super::tree::Child;
use super::{BoundingBox, BoundingVolume};
use crate::detect::SelfPairs;
use crate::detect::primitive::{TrianglePlane, triangles_meet, triangles_meet_beyond_shared};
use crate::math::{Real, Vector3};

/// How much was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Nodes whose children were compared with a volume.
    pub nodes: usize,
    /// Pairs of triangles that were compared.
    pub triangles: usize,
}

/// Finds the pairs of triangles that meet. Keeps its memory: use one for many calls.
///
/// What is found does not depend on the volumes, the arity, the kind of body or how it is brought up to date: two
/// triangles meet exactly if [`triangles_meet`] says so of their corners in the world.
#[derive(Debug, Clone)]
pub struct PairFinder<R: Real, V: BoundingVolume<R> = BoundingBox<R>, const A: usize = 8> {
    descent: Descent<R, V, A>,
    test: Test,
}

impl<R: Real, V: BoundingVolume<R>, const A: usize> Default for PairFinder<R, V, A> {
    fn default() -> Self {
        Self { descent: Descent::default(), test: Test::default() }
    }
}

impl<R: Real, V: BoundingVolume<R>, const A: usize> PairFinder<R, V, A> {
    /// All pairs of a triangle of the first and one of the second that meet, in ascending order.
    pub fn all(
        &mut self,
        first: &mut Collider<R, V, A>,
        second: &mut Collider<R, V, A>,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        pairs.clear();
        self.between(first, second, |pair| {
            pairs.push(pair);
            ControlFlow::Continue(())
        });
        pairs.sort_unstable();
    }

    /// Any such pair.
    pub fn first(
        &mut self,
        first: &mut Collider<R, V, A>,
        second: &mut Collider<R, V, A>,
    ) -> Option<[u32; 2]> {
        let mut found = None;
        self.between(first, second, |pair| {
            found = Some(pair);
            ControlFlow::Break(())
        });
        found
    }

    fn between(
        &mut self,
        first: &mut Collider<R, V, A>,
        second: &mut Collider<R, V, A>,
        mut found: impl FnMut([u32; 2]) -> ControlFlow<()>,
    ) {
        let Self { descent, test } = self;
        (descent.nodes, *test) = (0, Test::default());
        descent.between(first, second, |first, second, [one, other]| {
            if test.meet(one, first.corners(one), second.corners(other)) {
                return found([first.name(one), second.name(other)]);
            }
            ControlFlow::Continue(())
        });
    }

    /// All pairs of triangles of one body that meet.
    pub fn self_pairs(&mut self, body: &mut Collider<R, V, A>, pairs: &mut SelfPairs) {
        pairs.apart.clear();
        pairs.sharing.clear();
        (self.descent.nodes, self.test) = (0, Test::default());
        body.look_at_stars();
        self.descent.self_pairs(body, &mut SelfTest { test: &mut self.test, pairs });
        pairs.apart.sort_unstable();
        pairs.sharing.sort_unstable();
    }

    /// What the last call looked at.
    pub fn work(&self) -> Work {
        Work { nodes: self.descent.nodes, triangles: self.test.count }
    }
}

/// Compares triangles.
#[derive(Debug, Clone, Default)]
struct Test {
    /// The plane of the leaf that was compared last, which is often compared again.
    plane: Option<(u32, TrianglePlane)>,
    count: usize,
}

impl Test {
    /// Whether a leaf and another one meet.
    #[inline(always)]
    fn meet<R: Real>(&mut self, leaf: u32, a: [Vector3<R>; 3], b: [Vector3<R>; 3]) -> bool {
        self.count += 1;
        let plane = match self.plane {
            Some((last, plane)) if last == leaf => plane,
            _ => self.plane.insert((leaf, TrianglePlane::new(&a))).1,
        };
        !plane.separates(&b) && triangles_meet(a, b)
    }
}

/// Compares triangles of one body.
struct SelfTest<'a> {
    test: &'a mut Test,
    pairs: &'a mut SelfPairs,
}

impl<R: Real, V: BoundingVolume<R>, const A: usize> LeafPairs<R, V, A> for SelfTest<'_> {
    #[inline(always)]
    fn meet<S: Simd>(
        &mut self,
        simd: S,
        body: &mut Collider<R, V, A>,
        leaf: u32,
        node: u32,
        others: u32,
    ) {
        let corners = body.triangles[leaf as usize];
        let sharing = others & body.sharing(simd, node, corners);
        if sharing != 0 && !corners.iter().all(|&vertex| body.stars.is_flat(vertex)) {
            compare_sharing(body, leaf, node, sharing, self.pairs);
        }
        let mut apart = others & !sharing;
        while apart != 0 {
            let child = body.tree.child_in(node, apart.trailing_zeros() as usize);
            apart &= apart - 1;
            let Child::Leaf(other) = child else { continue };
            if self.test.meet(leaf, body.corners(leaf), body.corners(other)) {
                self.pairs.apart.push(body.pair(leaf, other));
            }
        }
    }
}

/// Compares a triangle with leaves of a node that share a vertex with it.
#[cold]
fn compare_sharing<R: Real, V: BoundingVolume<R>, const A: usize>(
    body: &mut Collider<R, V, A>,
    one: u32,
    node: u32,
    mut sharing: u32,
    pairs: &mut SelfPairs,
) {
    let a = body.triangles[one as usize];
    while sharing != 0 {
        let child = body.tree.child_in(node, sharing.trailing_zeros() as usize);
        sharing &= sharing - 1;
        let Child::Leaf(other) = child else { continue };
        let b = body.triangles[other as usize];
        let flat = a.iter().any(|v| b.contains(v) && body.stars.is_flat(*v));
        if !flat && triangles_meet_beyond_shared([a, b], [body.corners(one), body.corners(other)]) {
            pairs.sharing.push(body.pair(one, other));
        }
    }
}
