//! Where the last search stopped, as the place to begin the next one (MORPH03, future work).

use fearless_simd::{Level, Simd};

use super::BoundingVolume;
use super::collider::Collider;
use super::descent::{Frames, Place, Together, which_to_open};
use super::tree::{Child, Tree};
use crate::detect::primitive::triangles_meet;
use crate::math::{Real, dispatch};

/// The front is taken back to the roots when it has grown by this factor: it only ever moves down.
const GROWTH: usize = 2;
/// In place of a slot: the root.
const ROOT: u32 = u32::MAX;

/// Finds the pairs of triangles of the same two bodies again and again, each time from where the last search stopped:
/// pairs of places whose volumes were apart, and pairs of leaves. Answers are those of a
/// [`PairFinder`](super::PairFinder).
///
/// Worth it where bodies move little between frames and all pairs are wanted; the steps from the roots down are saved,
/// at the cost of looking at the whole front. `defcol suite morphing` measures it.
#[derive(Debug, Clone)]
pub struct FrontTracker {
    level: Level,
    /// Slots of the first and the second body.
    front: Vec<[u32; 2]>,
    next: Vec<[u32; 2]>,
    /// Pairs whose volumes are known to meet.
    open: Vec<[u32; 2]>,
    /// How long the front may get.
    limit: usize,
    /// The trees it belongs to.
    trees: Option<[u64; 2]>,
}

impl Default for FrontTracker {
    fn default() -> Self {
        Self {
            level: Level::new(),
            front: vec![],
            next: vec![],
            open: vec![],
            limit: 0,
            trees: None,
        }
    }
}

impl FrontTracker {
    /// All pairs of a triangle of the first and one of the second that meet, in ascending order.
    pub fn all<R: Real, V: BoundingVolume<R>, const A: usize>(
        &mut self,
        first: &mut Collider<R, V, A>,
        second: &mut Collider<R, V, A>,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        pairs.clear();
        let from_roots = self.begin([first.tree.number(), second.tree.number()]);
        let level = self.level;
        let found = |pair| pairs.push(pair);
        match first.relative(second) {
            None => dispatch!(level, simd => self.advance(simd, first, second, &Together, found)),
            Some(relative) => {
                dispatch!(level, simd => self.advance(simd, first, second, &relative, found));
            }
        }
        self.end(from_roots);
        pairs.sort_unstable();
    }

    /// How many pairs of places there are to begin with next time.
    pub fn len(&self) -> usize {
        self.front.len()
    }

    /// Whether nothing was looked for yet.
    pub fn is_empty(&self) -> bool {
        self.front.is_empty()
    }

    /// Whether this search begins at the roots.
    fn begin(&mut self, trees: [u64; 2]) -> bool {
        let from_roots =
            self.front.is_empty() || self.front.len() > self.limit || self.trees != Some(trees);
        if from_roots {
            self.front.clear();
            self.front.push([ROOT; 2]);
        }
        self.trees = Some(trees);
        from_roots
    }

    fn end(&mut self, from_roots: bool) {
        std::mem::swap(&mut self.front, &mut self.next);
        if from_roots {
            self.limit = GROWTH * self.front.len() + 64;
        }
    }

    /// Children of a node whose volumes meet another are opened next; the search stops at the others.
    #[inline(always)]
    fn sort_children<const A: usize>(
        &mut self,
        tree: &Tree<A>,
        node: u32,
        meeting: u32,
        pair: impl Fn(u32) -> [u32; 2],
    ) {
        for (lane, _) in tree.children_of(node) {
            let list = if meeting >> lane & 1 == 1 { &mut self.open } else { &mut self.next };
            list.push(pair(node * A as u32 + lane as u32));
        }
    }

    /// Moves the whole front down to where volumes are apart.
    #[inline(always)]
    fn advance<S: Simd, R: Real, V: BoundingVolume<R>, const A: usize>(
        &mut self,
        simd: S,
        first: &mut Collider<R, V, A>,
        second: &mut Collider<R, V, A>,
        frames: &impl Frames<R, V>,
        mut found: impl FnMut([u32; 2]),
    ) {
        self.next.clear();
        for k in 0..self.front.len() {
            let [one, other] = self.front[k];
            let (a, b) = (place(first, one), place(second, other));
            let mut block = V::empty_block::<1>();
            b.volume.set_lane(&mut block, 0);
            if frames.first_meets(simd, &a.volume, &block) == 0 {
                self.next.push([one, other]);
                continue;
            }
            self.open.push([one, other]);
            while let Some([one, other]) = self.open.pop() {
                let (a, b) = (place(first, one), place(second, other));
                let (into_first, into_second) = which_to_open(&a, &b);
                if let Some(node) = into_first {
                    first.open(node);
                    let block = &first.blocks[node as usize];
                    let mask = frames.second_meets(simd, &b.volume, block);
                    self.sort_children(&first.tree, node, mask, |slot| [slot, other]);
                } else if let Some(node) = into_second {
                    second.open(node);
                    let block = &second.blocks[node as usize];
                    let mask = frames.first_meets(simd, &a.volume, block);
                    self.sort_children(&second.tree, node, mask, |slot| [one, slot]);
                } else if let (Child::Leaf(leaf), Child::Leaf(leaf_of_second)) = (a.child, b.child)
                {
                    self.next.push([one, other]);
                    if triangles_meet(first.corners(leaf), second.corners(leaf_of_second)) {
                        found([first.name(leaf), second.name(leaf_of_second)]);
                    }
                }
            }
        }
    }
}

/// What hangs in a slot, and its present volume.
#[inline(always)]
fn place<R: Real, V: BoundingVolume<R>, const A: usize>(
    body: &mut Collider<R, V, A>,
    slot: u32,
) -> Place<V> {
    if slot == ROOT {
        return Place { child: Child::Node(0), volume: body.root() };
    }
    let (node, lane) = (slot / A as u32, slot as usize % A);
    body.open(node);
    Place {
        child: body.tree.child_in(node, lane),
        volume: V::lane(&body.blocks[node as usize], lane),
    }
}
