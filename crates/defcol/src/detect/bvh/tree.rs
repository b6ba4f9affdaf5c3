//! The tree: which node has which children. Volumes are kept beside it.

use std::sync::atomic::{AtomicU64, Ordering};

use super::split::{Split, children};
use crate::math::{Bounds, Real, Vector3};

/// A child that is a leaf has this bit; the others say which.
const LEAF: u32 = 1 << 31;
/// No child.
const NONE: u32 = u32::MAX;

/// What hangs on a node in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    /// Another node.
    Node(u32),
    /// A leaf. Leaves are numbered as they stand in the tree; see [`Tree::order`].
    Leaf(u32),
}

/// A tree over primitives, with up to `A` children a node: 2, 4 or 8. It is built once for a mesh at rest.
///
/// Nodes stand in the order of a walk that visits a parent first: those below a node follow it without a gap. A
/// place for a child is a slot, `A` times the node and the lane.
#[derive(Debug, Clone)]
pub struct Tree<const A: usize> {
    children: Vec<[u32; A]>,
    /// The first node that is no longer below.
    ends: Vec<u32>,
    depths: Vec<u32>,
    /// The slot in which each node hangs; none for the root.
    slots: Vec<u32>,
    /// Which primitive each leaf is.
    order: Vec<u32>,
    /// No other tree has it, except copies.
    number: u64,
}

/// How many trees were built.
static BUILT: AtomicU64 = AtomicU64::new(0);

impl<const A: usize> Tree<A> {
    /// Builds a tree of primitives with `N` corners each. There must be one at least.
    pub fn build<R: Real, const N: usize>(
        positions: &[Vector3<R>],
        primitives: &[[u32; N]],
        split: Split,
    ) -> Self {
        const { assert!(A == 2 || A == 4 || A == 8, "a node has two, four or eight children") };
        assert!(!primitives.is_empty() && primitives.len() < LEAF as usize);
        let boxes: Vec<Bounds<f64>> = primitives
            .iter()
            .map(|corners| {
                Bounds::of(corners.map(|corner| positions[corner as usize].map(R::to_f64)))
            })
            .collect();
        let mut tree = Self {
            children: vec![],
            ends: vec![],
            depths: vec![],
            slots: vec![],
            order: (0..primitives.len() as u32).collect(),
            number: BUILT.fetch_add(1, Ordering::Relaxed),
        };
        let mut open = vec![(0..primitives.len(), 0, NONE)];
        while let Some((range, depth, slot)) = open.pop() {
            let node = tree.children.len() as u32;
            if slot != NONE {
                tree.children[slot as usize / A][slot as usize % A] = node;
            }
            tree.children.push([NONE; A]);
            tree.depths.push(depth);
            tree.slots.push(slot);
            let parts = children::<A>(&boxes, &mut tree.order, range, split, depth);
            for (lane, part) in parts.into_iter().enumerate().rev() {
                if part.len() == 1 {
                    tree.children[node as usize][lane] = LEAF | part.start as u32;
                } else {
                    open.push((part, depth + 1, node * A as u32 + lane as u32));
                }
            }
        }
        tree.ends = vec![0; tree.children.len()];
        for node in (0..tree.children.len()).rev() {
            let below = tree.children_of(node as u32).filter_map(|(_, child)| match child {
                Child::Node(child) => Some(tree.ends[child as usize]),
                Child::Leaf(_) => None,
            });
            tree.ends[node] = below.max().unwrap_or(node as u32 + 1);
        }
        tree
    }

    /// A number that only this tree and its copies have.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// How many nodes there are, leaves not counted.
    pub fn len(&self) -> usize {
        self.children.len()
    }

    /// Never: a tree has a root.
    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    /// Which primitive each leaf is.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// How many nodes are above one another at the most.
    pub fn depth(&self) -> u32 {
        self.depths.iter().max().map_or(0, |depth| depth + 1)
    }

    /// What hangs in a slot.
    #[inline(always)]
    pub fn child(&self, slot: u32) -> Option<Child> {
        let child = self.children[slot as usize / A][slot as usize % A];
        match child {
            NONE => None,
            leaf if leaf & LEAF != 0 => Some(Child::Leaf(leaf & !LEAF)),
            node => Some(Child::Node(node)),
        }
    }

    /// What hangs in a lane of a node, in which something does.
    #[inline(always)]
    pub(super) fn child_in(&self, node: u32, lane: usize) -> Child {
        let child = self.children[node as usize][lane];
        if child & LEAF != 0 { Child::Leaf(child & !LEAF) } else { Child::Node(child) }
    }

    /// The children of a node with their lanes.
    #[inline(always)]
    pub fn children_of(&self, node: u32) -> impl Iterator<Item = (usize, Child)> + '_ {
        let first = node * A as u32;
        (0..A).filter_map(move |lane| Some((lane, self.child(first + lane as u32)?)))
    }

    /// The nodes from one on that are below it, itself first.
    pub(super) fn below(&self, node: u32) -> std::ops::Range<u32> {
        node..self.ends[node as usize]
    }

    pub(super) fn depth_of(&self, node: u32) -> u32 {
        self.depths[node as usize]
    }

    /// The slot in which a node hangs; none for the root.
    pub(super) fn slot_of(&self, node: u32) -> Option<u32> {
        Some(self.slots[node as usize]).filter(|&slot| slot != NONE)
    }

    /// The leaves below a node.
    pub(super) fn leaves_below(&self, node: u32) -> impl Iterator<Item = u32> + Clone + '_ {
        self.below(node)
            .flat_map(|node| self.children[node as usize])
            .filter_map(|child| (child != NONE && child & LEAF != 0).then_some(child & !LEAF))
    }

    /// Whether every primitive hangs in exactly one place and nodes stand as they should.
    pub fn validate(&self) -> Result<(), String> {
        let mut seen = vec![false; self.order.len()];
        for node in 0..self.len() as u32 {
            let mut last = node;
            let mut some = false;
            for (lane, child) in self.children_of(node) {
                some = true;
                match child {
                    Child::Leaf(leaf) => {
                        let primitive = self.order[leaf as usize];
                        if std::mem::replace(&mut seen[primitive as usize], true) {
                            return Err(format!("primitive {primitive} hangs in two places"));
                        }
                    }
                    Child::Node(child) => {
                        if child <= last
                            || self.slot_of(child) != Some(node * A as u32 + lane as u32)
                            || self.depth_of(child) != self.depth_of(node) + 1
                            || self.below(child).end > self.below(node).end
                        {
                            return Err(format!("node {child} is not where node {node} has it"));
                        }
                        last = child;
                    }
                }
            }
            if !some {
                return Err(format!("node {node} has no children"));
            }
        }
        match seen.iter().position(|&seen| !seen) {
            Some(primitive) => Err(format!("primitive {primitive} hangs nowhere")),
            None => Ok(()),
        }
    }
}
