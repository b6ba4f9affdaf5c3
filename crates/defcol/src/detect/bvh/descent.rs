//! The way down two trees, or one tree beside itself, to leaves whose volumes meet.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use fearless_simd::{Level, Simd};

use super::BoundingVolume;
use super::collider::Collider;
use super::motion::Relative;
use super::tree::Child;
use crate::math::{Real, dispatch};

/// A node or a leaf, and its volume.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<V> {
    pub child: Child,
    pub volume: V,
}

/// What is done with leaves of one body whose volumes meet.
pub(super) trait LeafPairs<R: Real, V: BoundingVolume<R>, const A: usize> {
    /// A leaf, and some that are children of a node, a bit each.
    fn meet<S: Simd>(
        &mut self,
        simd: S,
        body: &mut Collider<R, V, A>,
        leaf: u32,
        node: u32,
        others: u32,
    );
}

/// Works off pairs of places. Keeps its memory.
#[derive(Debug, Clone)]
pub(super) struct Descent<R: Real, V: BoundingVolume<R>, const A: usize> {
    level: Level,
    open: Vec<[Place<V>; 2]>,
    alone: Vec<u32>,
    /// Nodes whose children were compared with a volume since it was set to zero.
    pub nodes: usize,
    number: PhantomData<R>,
}

impl<R: Real, V: BoundingVolume<R>, const A: usize> Default for Descent<R, V, A> {
    fn default() -> Self {
        let level = Level::new();
        Self { level, open: vec![], alone: vec![], nodes: 0, number: PhantomData }
    }
}

impl<R: Real, V: BoundingVolume<R>, const A: usize> Descent<R, V, A> {
    /// Visits the pairs of leaves of two bodies whose volumes meet, until told to stop.
    pub fn between(
        &mut self,
        first: &mut Collider<R, V, A>,
        second: &mut Collider<R, V, A>,
        visit: impl FnMut(&mut Collider<R, V, A>, &mut Collider<R, V, A>, [u32; 2]) -> ControlFlow<()>,
    ) {
        self.open.clear();
        let root =
            |body: &mut Collider<R, V, A>| Place { child: Child::Node(0), volume: body.root() };
        self.open.push([root(first), root(second)]);
        let level = self.level;
        match first.relative(second) {
            None => dispatch!(level, simd => self.descend(simd, first, second, &Together, visit)),
            Some(relative) => {
                dispatch!(level, simd => self.descend(simd, first, second, &relative, visit));
            }
        }
    }

    /// Works off the open pairs.
    #[inline(always)]
    fn descend<S: Simd>(
        &mut self,
        simd: S,
        first: &mut Collider<R, V, A>,
        second: &mut Collider<R, V, A>,
        frames: &impl Frames<R, V>,
        mut visit: impl FnMut(
            &mut Collider<R, V, A>,
            &mut Collider<R, V, A>,
            [u32; 2],
        ) -> ControlFlow<()>,
    ) {
        while let Some([a, b]) = self.open.pop() {
            let mut meet = |open: &mut Vec<[Place<V>; 2]>,
                            first: &mut Collider<R, V, A>,
                            second: &mut Collider<R, V, A>,
                            a: Place<V>,
                            b: Place<V>| {
                if let (Child::Leaf(one), Child::Leaf(other)) = (a.child, b.child) {
                    return visit(first, second, [one, other]);
                }
                open.push([a, b]);
                ControlFlow::Continue(())
            };
            let (into_first, into_second) = which_to_open(&a, &b);
            let flow = if let Some(node) = into_first {
                first.open(node);
                self.nodes += 1;
                let mask = frames.second_meets(simd, &b.volume, &first.blocks[node as usize]);
                each_lane(mask, |lane| {
                    let a = Place::new(first, node, lane);
                    let Some(other) = into_second else {
                        return meet(&mut self.open, first, second, a, b);
                    };
                    second.open(other);
                    self.nodes += 1;
                    let mask = frames.first_meets(simd, &a.volume, &second.blocks[other as usize]);
                    each_lane(mask, |lane| {
                        let b = Place::new(second, other, lane);
                        meet(&mut self.open, first, second, a, b)
                    })
                })
            } else if let Some(node) = into_second {
                second.open(node);
                self.nodes += 1;
                let mask = frames.first_meets(simd, &a.volume, &second.blocks[node as usize]);
                each_lane(mask, |lane| {
                    let b = Place::new(second, node, lane);
                    meet(&mut self.open, first, second, a, b)
                })
            } else {
                // Only if both roots were leaves, which they are not.
                ControlFlow::Continue(())
            };
            if flow.is_break() {
                return;
            }
        }
    }

    /// Visits the pairs of leaves of one body whose volumes meet, each once.
    pub fn self_pairs(
        &mut self,
        body: &mut Collider<R, V, A>,
        leaves: &mut impl LeafPairs<R, V, A>,
    ) {
        let level = self.level;
        dispatch!(level, simd => self.descend_within(simd, body, leaves));
    }

    #[inline(always)]
    fn descend_within<S: Simd>(
        &mut self,
        simd: S,
        body: &mut Collider<R, V, A>,
        leaves: &mut impl LeafPairs<R, V, A>,
    ) {
        self.open.clear();
        self.alone.clear();
        self.alone.push(0);
        while let Some(node) = self.alone.pop() {
            body.open(node);
            let block = body.blocks[node as usize];
            for lane in 0..A {
                let Some(child) = body.tree.child(node * A as u32 + lane as u32) else { break };
                let a = Place { child, volume: V::lane(&block, lane) };
                self.nodes += 1;
                let later = a.volume.meeting(simd, &block) & (!1 << lane);
                self.meet_children(simd, body, a, node, later, leaves);
                if let Child::Node(below) = child {
                    self.alone.push(below);
                }
            }
            while let Some([a, b]) = self.open.pop() {
                self.descend_pair(simd, body, [a, b], leaves);
            }
        }
    }

    #[inline(always)]
    fn descend_pair<S: Simd>(
        &mut self,
        simd: S,
        body: &mut Collider<R, V, A>,
        [a, b]: [Place<V>; 2],
        leaves: &mut impl LeafPairs<R, V, A>,
    ) {
        let (one, other, b) = match which_to_open(&a, &b) {
            (Some(one), other) => (one, other, b),
            (None, Some(one)) => (one, None, a),
            (None, None) => return,
        };
        body.open(one);
        self.nodes += 1;
        let mut mask = b.volume.meeting(simd, &body.blocks[one as usize]);
        let Some(other) = other else {
            return self.meet_children(simd, body, b, one, mask, leaves);
        };
        body.open(other);
        while mask != 0 {
            let a = Place::new(body, one, mask.trailing_zeros());
            mask &= mask - 1;
            self.nodes += 1;
            let mask = a.volume.meeting(simd, &body.blocks[other as usize]);
            self.meet_children(simd, body, a, other, mask, leaves);
        }
    }

    /// A place and some children of a node, whose volumes meet: leaves at once, everything else later.
    #[inline(always)]
    fn meet_children<S: Simd>(
        &mut self,
        simd: S,
        body: &mut Collider<R, V, A>,
        a: Place<V>,
        node: u32,
        mut mask: u32,
        leaves: &mut impl LeafPairs<R, V, A>,
    ) {
        if let Child::Leaf(leaf) = a.child {
            let others = mask & body.leaves[node as usize];
            mask &= !others;
            if others != 0 {
                leaves.meet(simd, body, leaf, node, others);
            }
        }
        while mask != 0 {
            self.open.push([a, Place::new(body, node, mask.trailing_zeros())]);
            mask &= mask - 1;
        }
    }
}

impl<V> Place<V> {
    /// What hangs in a lane of a node that is open. There must be something.
    #[inline(always)]
    fn new<R: Real, const A: usize>(body: &Collider<R, V, A>, node: u32, lane: u32) -> Self
    where
        V: BoundingVolume<R>,
    {
        let volume = V::lane(&body.blocks[node as usize], lane as usize);
        Self { child: body.tree.child_in(node, lane as usize), volume }
    }
}

/// A volume that is this many times as large as another is opened alone.
const MUCH_LARGER: f64 = 4.0;

/// Which of two nodes to open: the larger one, or both if none is much larger.
#[inline(always)]
pub(super) fn which_to_open<R: Real, V: BoundingVolume<R>>(
    a: &Place<V>,
    b: &Place<V>,
) -> (Option<u32>, Option<u32>) {
    match (a.child, b.child) {
        (Child::Node(one), Child::Leaf(_)) => (Some(one), None),
        (Child::Leaf(_), Child::Node(other)) => (None, Some(other)),
        (Child::Leaf(_), Child::Leaf(_)) => (None, None),
        (Child::Node(one), Child::Node(other)) => {
            let (first, second) = (a.volume.size(), b.volume.size());
            let much = R::nearest(MUCH_LARGER);
            ((first * much >= second).then_some(one), (second * much >= first).then_some(other))
        }
    }
}

/// Visits the lanes of a mask until told to stop.
#[inline(always)]
fn each_lane(mut mask: u32, mut visit: impl FnMut(u32) -> ControlFlow<()>) -> ControlFlow<()> {
    while mask != 0 {
        visit(mask.trailing_zeros())?;
        mask &= mask - 1;
    }
    ControlFlow::Continue(())
}

/// From where volumes of two bodies are compared.
pub(super) trait Frames<R: Real, V: BoundingVolume<R>> {
    /// Which children of a node of the second the volume of the first meets.
    fn first_meets<S: Simd, const A: usize>(&self, simd: S, volume: &V, block: &V::Block<A>)
    -> u32;
    /// Which children of a node of the first the volume of the second meets.
    fn second_meets<S: Simd, const A: usize>(
        &self,
        simd: S,
        volume: &V,
        block: &V::Block<A>,
    ) -> u32;
}

/// Both are where their models are.
pub(super) struct Together;

impl<R: Real, V: BoundingVolume<R>> Frames<R, V> for Together {
    #[inline(always)]
    fn first_meets<S: Simd, const A: usize>(
        &self,
        simd: S,
        volume: &V,
        block: &V::Block<A>,
    ) -> u32 {
        volume.meeting(simd, block)
    }

    #[inline(always)]
    fn second_meets<S: Simd, const A: usize>(
        &self,
        simd: S,
        volume: &V,
        block: &V::Block<A>,
    ) -> u32 {
        volume.meeting(simd, block)
    }
}

/// Volumes are compared along the axes of both models, but not along the nine directions across an axis of each (SAT
/// lite): what that misses is sorted out below.
impl<R: Real, V: BoundingVolume<R>> Frames<R, V> for Relative<R> {
    #[inline(always)]
    fn first_meets<S: Simd, const A: usize>(
        &self,
        simd: S,
        volume: &V,
        block: &V::Block<A>,
    ) -> u32 {
        let mask = volume.moved(&self.into_second).meeting(simd, block);
        if mask == 0 {
            return 0;
        }
        mask & volume.meeting(simd, &V::moved_block(block, &self.into_first))
    }

    #[inline(always)]
    fn second_meets<S: Simd, const A: usize>(
        &self,
        simd: S,
        volume: &V,
        block: &V::Block<A>,
    ) -> u32 {
        let mask = volume.moved(&self.into_first).meeting(simd, block);
        if mask == 0 {
            return 0;
        }
        mask & volume.meeting(simd, &V::moved_block(block, &self.into_second))
    }
}
