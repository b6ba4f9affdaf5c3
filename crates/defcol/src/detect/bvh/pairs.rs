//! Two trees against each other, and one against itself.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use fearless_simd::{Level, Simd, dispatch};

use super::collider::Collider;
use super::motion::Relative;
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

/// A node or a leaf, and its volume.
#[derive(Debug, Clone, Copy)]
struct Place<V> {
    child: Child,
    volume: V,
}

/// Finds the pairs of triangles that meet. Keeps its memory: use one for many calls.
///
/// What is found does not depend on the volumes, the arity, the kind of body or how it is brought up to date: two
/// triangles meet exactly if [`triangles_meet`] says so of their corners in the world.
#[derive(Debug, Clone)]
pub struct PairFinder<R: Real, V: BoundingVolume<R> = BoundingBox<R>, const A: usize = 8> {
    level: Level,
    open: Vec<[Place<V>; 2]>,
    alone: Vec<u32>,
    /// The plane of the leaf that was compared last, which is often compared again.
    plane: Option<(u32, TrianglePlane)>,
    work: Work,
    number: PhantomData<R>,
}

impl<R: Real, V: BoundingVolume<R>, const A: usize> Default for PairFinder<R, V, A> {
    fn default() -> Self {
        Self {
            level: Level::new(),
            open: vec![],
            alone: vec![],
            plane: None,
            work: Work::default(),
            number: PhantomData,
        }
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

    /// What the last call looked at.
    pub fn work(&self) -> Work {
        self.work
    }

    fn between(
        &mut self,
        first: &mut Collider<R, V, A>,
        second: &mut Collider<R, V, A>,
        found: impl FnMut([u32; 2]) -> ControlFlow<()>,
    ) {
        self.work = Work::default();
        self.plane = None;
        self.open.clear();
        let root = |collider: &mut Collider<R, V, A>| Place {
            child: Child::Node(0),
            volume: collider.root(),
        };
        self.open.push([root(first), root(second)]);
        let level = self.level;
        match first.relative(second) {
            None => {
                dispatch!(level, simd => self.descend(simd, first, second, &Together, found));
            }
            Some(relative) => {
                dispatch!(level, simd => self.descend(simd, first, second, &relative, found));
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
        mut found: impl FnMut([u32; 2]) -> ControlFlow<()>,
    ) {
        while let Some([a, b]) = self.open.pop() {
            let (into_first, into_second) = which_to_open(&a, &b);
            let flow = if let Some(node) = into_first {
                first.open(node);
                self.work.nodes += 1;
                let mask = frames.second_meets(simd, &b.volume, &first.blocks[node as usize]);
                each_lane(mask, |lane| {
                    let a = Place::new(first, node, lane);
                    let Some(other) = into_second else {
                        return self.meet(first, second, [a, b], &mut found);
                    };
                    second.open(other);
                    self.work.nodes += 1;
                    let mask = frames.first_meets(simd, &a.volume, &second.blocks[other as usize]);
                    each_lane(mask, |lane| {
                        let b = Place::new(second, other, lane);
                        self.meet(first, second, [a, b], &mut found)
                    })
                })
            } else if let Some(node) = into_second {
                second.open(node);
                self.work.nodes += 1;
                let mask = frames.first_meets(simd, &a.volume, &second.blocks[node as usize]);
                each_lane(mask, |lane| {
                    let b = Place::new(second, node, lane);
                    self.meet(first, second, [a, b], &mut found)
                })
            } else {
                ControlFlow::Continue(())
            };
            if flow.is_break() {
                return;
            }
        }
    }

    /// Two places whose volumes meet: triangles are compared at once, everything else later.
    #[inline(always)]
    fn meet(
        &mut self,
        first: &mut Collider<R, V, A>,
        second: &mut Collider<R, V, A>,
        [a, b]: [Place<V>; 2],
        found: &mut impl FnMut([u32; 2]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if let (Child::Leaf(one), Child::Leaf(other)) = (a.child, b.child) {
            if self.corners_meet(one, first.corners(one), second.corners(other)) {
                return found([first.name(one), second.name(other)]);
            }
        } else {
            self.open.push([a, b]);
        }
        ControlFlow::Continue(())
    }

    /// Whether a leaf and another one meet.
    #[inline(always)]
    fn corners_meet(&mut self, one: u32, a: [Vector3<R>; 3], b: [Vector3<R>; 3]) -> bool {
        self.work.triangles += 1;
        let plane = match self.plane {
            Some((leaf, plane)) if leaf == one => plane,
            _ => self.plane.insert((one, TrianglePlane::new(&a))).1,
        };
        !plane.separates(&b) && triangles_meet(a, b)
    }

    /// All pairs of triangles of one body that meet.
    pub fn within(&mut self, body: &mut Collider<R, V, A>, pairs: &mut SelfPairs) {
        self.work = Work::default();
        self.plane = None;
        pairs.apart.clear();
        pairs.sharing.clear();
        body.look_at_stars();
        let level = self.level;
        dispatch!(level, simd => self.descend_within(simd, body, pairs));
        pairs.apart.sort_unstable();
        pairs.sharing.sort_unstable();
    }

    #[inline(always)]
    fn descend_within<S: Simd>(
        &mut self,
        simd: S,
        body: &mut Collider<R, V, A>,
        pairs: &mut SelfPairs,
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
                self.work.nodes += 1;
                let later = a.volume.meeting(simd, &block) & (!1 << lane);
                self.meet_children(simd, body, a, node, later, pairs);
                if let Child::Node(below) = child {
                    self.alone.push(below);
                }
            }
            while let Some([a, b]) = self.open.pop() {
                self.descend_pair(simd, body, [a, b], pairs);
            }
        }
    }

    #[inline(always)]
    fn descend_pair<S: Simd>(
        &mut self,
        simd: S,
        body: &mut Collider<R, V, A>,
        [a, b]: [Place<V>; 2],
        pairs: &mut SelfPairs,
    ) {
        let (one, other, b) = match which_to_open(&a, &b) {
            (Some(one), other) => (one, other, b),
            (None, Some(one)) => (one, None, a),
            (None, None) => return,
        };
        body.open(one);
        self.work.nodes += 1;
        let mask = b.volume.meeting(simd, &body.blocks[one as usize]);
        let Some(other) = other else { return self.meet_children(simd, body, b, one, mask, pairs) };
        body.open(other);
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros();
            rest &= rest - 1;
            let a = Place::new(body, one, lane);
            self.work.nodes += 1;
            let mask = a.volume.meeting(simd, &body.blocks[other as usize]);
            self.meet_children(simd, body, a, other, mask, pairs);
        }
    }

    /// A place and some children of a node, whose volumes meet: triangles are compared at once, everything else later.
    #[inline(always)]
    fn meet_children<S: Simd>(
        &mut self,
        simd: S,
        body: &mut Collider<R, V, A>,
        a: Place<V>,
        node: u32,
        mut mask: u32,
        pairs: &mut SelfPairs,
    ) {
        let Child::Leaf(one) = a.child else {
            while mask != 0 {
                self.open.push([a, Place::new(body, node, mask.trailing_zeros())]);
                mask &= mask - 1;
            }
            return;
        };
        let corners = body.triangles[one as usize];
        let sharing = mask & body.sharing(simd, node, corners);
        if sharing != 0 && !corners.iter().all(|&vertex| body.stars.is_flat(vertex)) {
            compare_sharing(body, one, node, sharing, pairs);
        }
        mask &= !sharing;
        while mask != 0 {
            let b = Place::new(body, node, mask.trailing_zeros());
            mask &= mask - 1;
            match b.child {
                Child::Node(_) => self.open.push([a, b]),
                Child::Leaf(other) => {
                    if self.corners_meet(one, body.corners(one), body.corners(other)) {
                        pairs.apart.push(body.pair(one, other));
                    }
                }
            }
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
fn which_to_open<R: Real, V: BoundingVolume<R>>(
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

/// From where volumes of two bodies are compared.
trait Frames<R: Real, V: BoundingVolume<R>> {
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
struct Together;

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
