//! The questions of a [`Detector`], answered with trees over all primitives.

use fearless_simd::{Level, dispatch};
use rayon::prelude::*;

use super::tree::{Child, Tree};
use super::{BoundingBox, BoundingVolume, Split};
use crate::detect::primitive::{point_in_tetrahedron, segment_meets_triangle};
use crate::detect::{Detector, Hits, Questions, check_positions, corners, edge_hit, point_hit};
use crate::error::DetectError;
use crate::math::{Real, Vector3};
use crate::state::Bodies;

/// Children of a node.
const A: usize = 8;
/// How many vertices or edges are looked up in one go.
const CHUNK: usize = 1024;

/// Answers the questions of every [`Detector`] with one tree over all tetrahedra and one over all surface triangles, each
/// built when bodies come or go and refitted in each call. For pairs of triangles, and for bodies that morph or follow
/// joints, use [`Collider`](super::Collider)s instead.
#[derive(Debug, Clone, Default)]
pub struct TreeDetector<R: Real> {
    topology: Option<u64>,
    tetrahedra: Option<PrimitiveTree<R, 4>>,
    triangles: Option<PrimitiveTree<R, 3>>,
}

impl<R: Real> Detector<R> for TreeDetector<R> {
    fn detect(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        questions: Questions,
        hits: &mut Hits<R>,
    ) -> Result<(), DetectError> {
        check_positions(bodies, positions)?;
        hits.points.clear();
        hits.edges.clear();
        if self.topology != Some(bodies.topology()) {
            *self = Self { topology: Some(bodies.topology()), ..Self::default() };
        }
        let may_collide = |a: u32, b: u32| bodies.may_collide(bodies.body_of(a), bodies.body_of(b));
        if questions.points_in_tetrahedra && !bodies.tetrahedra().is_empty() {
            let tree = PrimitiveTree::fitted(&mut self.tetrahedra, bodies.tetrahedra(), positions);
            let vertices: Vec<[u32; 1]> = (0..positions.len() as u32).map(|v| [v]).collect();
            let pairs = tree.pairs(positions, &vertices, |tetrahedron, vertex| {
                let own = bodies.tetrahedra()[tetrahedron as usize];
                may_collide(vertex, own[0])
                    && !own.contains(&vertex)
                    && point_in_tetrahedron(positions[vertex as usize], corners(positions, own))
            });
            hits.points.extend(pairs.into_iter().map(|pair| point_hit(bodies, positions, pair)));
        }
        if questions.edges_through_triangles && !bodies.triangles().is_empty() {
            let tree = PrimitiveTree::fitted(&mut self.triangles, bodies.triangles(), positions);
            let pairs = tree.pairs(positions, bodies.edges(), |triangle, edge| {
                let own = bodies.triangles()[triangle as usize];
                let ends = bodies.edges()[edge as usize];
                may_collide(ends[0], own[0])
                    && !ends.iter().any(|end| own.contains(end))
                    && segment_meets_triangle(corners(positions, ends), corners(positions, own))
            });
            hits.edges.extend(pairs.into_iter().map(|pair| edge_hit(bodies, positions, pair)));
        }
        Ok(())
    }
}

/// A tree over primitives with `N` corners, and the boxes around them.
#[derive(Debug, Clone)]
struct PrimitiveTree<R: Real, const N: usize> {
    tree: Tree<A>,
    blocks: Vec<<BoundingBox<R> as BoundingVolume<R>>::Block<A>>,
}

impl<R: Real, const N: usize> PrimitiveTree<R, N> {
    /// The tree, built if there is none yet, with boxes around the present positions.
    fn fitted<'a>(
        slot: &'a mut Option<Self>,
        primitives: &[[u32; N]],
        positions: &[Vector3<R>],
    ) -> &'a Self {
        let own = slot.get_or_insert_with(|| {
            let tree = Tree::build(positions, primitives, Split::SurfaceArea);
            Self { blocks: vec![BoundingBox::empty_block(); tree.len()], tree }
        });
        for node in (0..own.tree.len() as u32).rev() {
            let mut block = BoundingBox::<R>::empty_block();
            for (lane, child) in own.tree.children_of(node) {
                let around = match child {
                    Child::Node(below) => BoundingBox::union_of_block(&own.blocks[below as usize]),
                    Child::Leaf(leaf) => {
                        let primitive = primitives[own.tree.order()[leaf as usize] as usize];
                        BoundingBox::of(corners(positions, primitive).into_iter(), R::zero())
                    }
                };
                around.set_lane(&mut block, lane);
            }
            own.blocks[node as usize] = block;
        }
        own
    }

    /// The pairs of a primitive and one of others, by their numbers, whose boxes meet and that a test confirms, in
    /// ascending order. The test is given both numbers, that of the primitive first.
    fn pairs<const M: usize>(
        &self,
        positions: &[Vector3<R>],
        others: &[[u32; M]],
        test: impl Fn(u32, u32) -> bool + Sync,
    ) -> Vec<[u32; 2]> {
        let level = Level::new();
        let chunks = others.par_chunks(CHUNK).enumerate().flat_map_iter(|(chunk, others)| {
            let (mut open, mut found) = (Vec::new(), Vec::new());
            for (number, other) in ((chunk * CHUNK) as u32..).zip(others) {
                let around = BoundingBox::of(corners(positions, *other).into_iter(), R::zero());
                open.push(0);
                while let Some(node) = open.pop() {
                    let block = &self.blocks[node as usize];
                    let mut mask = dispatch!(level, simd => around.meeting(simd, block));
                    while mask != 0 {
                        match self.tree.child_in(node, mask.trailing_zeros() as usize) {
                            Child::Node(below) => open.push(below),
                            Child::Leaf(leaf) => {
                                let primitive = self.tree.order()[leaf as usize];
                                if test(primitive, number) {
                                    found.push([primitive, number]);
                                }
                            }
                        }
                        mask &= mask - 1;
                    }
                }
            }
            found
        });
        let mut pairs: Vec<[u32; 2]> = chunks.collect();
        pairs.par_sort_unstable();
        pairs
    }
}
