//! Two trees against each other, and one against itself.

use std::ops::ControlFlow;

use super::collider::Collider;
use super::motion::Relative;
use super::tree::Child;
use super::{BoundingBox, BoundingVolume};
use crate::detect::SelfPairs;
use crate::detect::primitive::{triangles_meet, triangles_meet_beyond_shared};
use crate::math::Real;

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
    open: Vec<[Place<V>; 2]>,
    alone: Vec<u32>,
    work: Work,
    number: std::marker::PhantomData<R>,
}

impl<R: Real, V: BoundingVolume<R>, const A: usize> Default for PairFinder<R, V, A> {
    fn default() -> Self {
        Self {
            open: vec![],
            alone: vec![],
            work: Work::default(),
            number: std::marker::PhantomData,
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
        self.open.clear();
        let root = |collider: &mut Collider<R, V, A>| Place {
            child: Child::Node(0),
            volume: collider.root(),
        };
        self.open.push([root(first), root(second)]);
        match first.relative(second) {
            None => self.descend(first, second, &Together, found),
            Some(relative) => self.descend(first, second, &relative, found),
        }
    }

    /// Works off the open pairs.
    fn descend(
        &mut self,
        first: &mut Collider<R, V, A>,
        second: &mut Collider<R, V, A>,
        frames: &impl Frames<R, V>,
        mut found: impl FnMut([u32; 2]) -> ControlFlow<()>,
    ) {
        while let Some([a, b]) = self.open.pop() {
            let (node, into_first) = match (a.child, b.child) {
                (Child::Node(node), Child::Leaf(_)) => (node, true),
                (Child::Leaf(_), Child::Node(node)) => (node, false),
                (Child::Node(one), Child::Node(other)) => {
                    if a.volume.size() >= b.volume.size() {
                        (one, true)
                    } else {
                        (other, false)
                    }
                }
                // Two leaves are compared at once.
                (Child::Leaf(_), Child::Leaf(_)) => continue,
            };
            self.work.nodes += 1;
            let mut mask = if into_first {
                first.open(node);
                frames.second_meets(&b.volume, &first.blocks[node as usize])
            } else {
                second.open(node);
                frames.first_meets(&a.volume, &second.blocks[node as usize])
            };
            while mask != 0 {
                let lane = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                let tree = if into_first { &first.tree } else { &second.tree };
                let Some(child) = tree.child(node * A as u32 + lane as u32) else { continue };
                let [one, other] = if into_first { [child, b.child] } else { [a.child, child] };
                if let (Child::Leaf(one), Child::Leaf(other)) = (one, other) {
                    self.work.triangles += 1;
                    if triangles_meet(first.corners(one), second.corners(other))
                        && found([one, other]).is_break()
                    {
                        return;
                    }
                    continue;
                }
                let pair = if into_first {
                    let volume = V::lane(&first.blocks[node as usize], lane);
                    [Place { child, volume }, b]
                } else {
                    let volume = V::lane(&second.blocks[node as usize], lane);
                    [a, Place { child, volume }]
                };
                self.open.push(pair);
            }
        }
    }

    /// All pairs of triangles of one body that meet.
    pub fn within(&mut self, body: &mut Collider<R, V, A>, pairs: &mut SelfPairs) {
        self.work = Work::default();
        pairs.apart.clear();
        pairs.sharing.clear();
        body.look_at_stars();
        self.open.clear();
        self.alone.clear();
        self.alone.push(0);
        while let Some(node) = self.alone.pop() {
            body.open(node);
            self.work.nodes += 1;
            let block = body.blocks[node as usize];
            for lane in 0..A {
                let Some(child) = body.tree.child(node * A as u32 + lane as u32) else { break };
                let volume = V::lane(&block, lane);
                let later = volume.meeting(&block) & (!1 << lane);
                self.compare(body, Place { child, volume }, node, later, pairs);
                if let Child::Node(below) = child {
                    self.alone.push(below);
                }
            }
            while let Some([a, b]) = self.open.pop() {
                let (node, other) =
                    match (a.child, b.child) {
                        (Child::Node(node), Child::Leaf(_)) => (node, b),
                        (Child::Leaf(_), Child::Node(node)) => (node, a),
                        (Child::Node(one), Child::Node(two)) => {
                            if a.volume.size() >= b.volume.size() { (one, b) } else { (two, a) }
                        }
                        (Child::Leaf(_), Child::Leaf(_)) => continue,
                    };
                body.open(node);
                self.work.nodes += 1;
                let mask = other.volume.meeting(&body.blocks[node as usize]);
                self.compare(body, other, node, mask, pairs);
            }
        }
        pairs.apart.sort_unstable();
        pairs.sharing.sort_unstable();
    }

    /// Compares a place with some children of a node: triangles at once, everything else later.
    #[inline(always)]
    fn compare(
        &mut self,
        body: &mut Collider<R, V, A>,
        place: Place<V>,
        node: u32,
        mut mask: u32,
        pairs: &mut SelfPairs,
    ) {
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let Some(child) = body.tree.child(node * A as u32 + lane as u32) else { continue };
            if let (Child::Leaf(one), Child::Leaf(other)) = (place.child, child) {
                self.work.triangles += 1;
                compare_triangles(body, one, other, pairs);
            } else {
                let volume = V::lane(&body.blocks[node as usize], lane);
                self.open.push([place, Place { child, volume }]);
            }
        }
    }
}

#[inline(always)]
fn compare_triangles<R: Real, V: BoundingVolume<R>, const A: usize>(
    body: &mut Collider<R, V, A>,
    one: u32,
    other: u32,
    pairs: &mut SelfPairs,
) {
    let (a, b) = (body.triangles[one as usize], body.triangles[other as usize]);
    let mut shared = 0;
    for corner in a {
        shared += u32::from((corner == b[0]) | (corner == b[1]) | (corner == b[2]));
    }
    if shared == 0 {
        if triangles_meet(body.corners(one), body.corners(other)) {
            pairs.apart.push([one.min(other), one.max(other)]);
        }
    } else if !lie_flat(body, a, b) && meet_beyond_shared(body, a, b) {
        pairs.sharing.push([one.min(other), one.max(other)]);
    }
}

/// Whether two triangles are around a vertex around which none meet.
#[inline(always)]
fn lie_flat<R: Real, V: BoundingVolume<R>, const A: usize>(
    body: &Collider<R, V, A>,
    a: [u32; 3],
    b: [u32; 3],
) -> bool {
    a.into_iter().any(|corner| {
        ((corner == b[0]) | (corner == b[1]) | (corner == b[2])) && body.stars.is_flat(corner)
    })
}

fn meet_beyond_shared<R: Real, V: BoundingVolume<R>, const A: usize>(
    body: &mut Collider<R, V, A>,
    a: [u32; 3],
    b: [u32; 3],
) -> bool {
    let mut at = |triangle: [u32; 3]| triangle.map(|vertex| body.position(vertex));
    triangles_meet_beyond_shared([a, b], [at(a), at(b)])
}

/// From where volumes of two bodies are compared.
trait Frames<R: Real, V: BoundingVolume<R>> {
    /// Which children of a node of the second the volume of the first meets.
    fn first_meets<const A: usize>(&self, volume: &V, block: &V::Block<A>) -> u32;
    /// Which children of a node of the first the volume of the second meets.
    fn second_meets<const A: usize>(&self, volume: &V, block: &V::Block<A>) -> u32;
}

/// Both are where their models are.
struct Together;

impl<R: Real, V: BoundingVolume<R>> Frames<R, V> for Together {
    #[inline(always)]
    fn first_meets<const A: usize>(&self, volume: &V, block: &V::Block<A>) -> u32 {
        volume.meeting(block)
    }

    #[inline(always)]
    fn second_meets<const A: usize>(&self, volume: &V, block: &V::Block<A>) -> u32 {
        volume.meeting(block)
    }
}

/// Volumes are compared along the axes of both models, but not along the nine directions across an axis of each (SAT
/// lite): what that misses is sorted out below.
impl<R: Real, V: BoundingVolume<R>> Frames<R, V> for Relative<R> {
    #[inline(always)]
    fn first_meets<const A: usize>(&self, volume: &V, block: &V::Block<A>) -> u32 {
        let mask = volume.moved(&self.into_second).meeting(block);
        if mask == 0 { 0 } else { mask & volume.meeting(&V::moved_block(block, &self.into_first)) }
    }

    #[inline(always)]
    fn second_meets<const A: usize>(&self, volume: &V, block: &V::Block<A>) -> u32 {
        let mask = volume.moved(&self.into_first).meeting(block);
        if mask == 0 { 0 } else { mask & volume.meeting(&V::moved_block(block, &self.into_second)) }
    }
}
