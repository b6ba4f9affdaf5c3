//! The questions of a [`Detector`], answered with trees over all primitives.

use rayon::prelude::*;

use super::primitives::{PrimitiveTree, Visit};
use super::{BoundingBox, BoundingVolume};
use crate::detect::primitive::{point_in_tetrahedron, segment_meets_triangle};
use crate::detect::{Detector, Hits, Questions, check_positions, corners, edge_hit, point_hit};
use crate::error::DetectError;
use crate::math::{Real, Vector3};
use crate::state::Bodies;

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
            let tree = fitted(&mut self.tetrahedra, bodies.tetrahedra(), positions);
            let vertices: Vec<[u32; 1]> = (0..positions.len() as u32).map(|v| [v]).collect();
            let pairs = pairs(tree, positions, &vertices, |tetrahedron, vertex| {
                let own = bodies.tetrahedra()[tetrahedron as usize];
                may_collide(vertex, own[0])
                    && !own.contains(&vertex)
                    && point_in_tetrahedron(positions[vertex as usize], corners(positions, own))
            });
            hits.points.extend(pairs.into_iter().map(|pair| point_hit(bodies, positions, pair)));
        }
        if questions.edges_through_triangles && !bodies.triangles().is_empty() {
            let tree = fitted(&mut self.triangles, bodies.triangles(), positions);
            let pairs = pairs(tree, positions, bodies.edges(), |triangle, edge| {
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

/// The tree, built if there is none yet, with boxes around the present positions.
fn fitted<'a, R: Real, const N: usize>(
    slot: &'a mut Option<PrimitiveTree<R, N>>,
    primitives: &[[u32; N]],
    positions: &[Vector3<R>],
) -> &'a PrimitiveTree<R, N> {
    match slot {
        Some(tree) => tree.refit(positions),
        None => *slot = Some(PrimitiveTree::new(positions, primitives)),
    }
    slot.as_ref().expect("it was made if there was none")
}

/// The pairs of a primitive and one of others, by their numbers, whose boxes meet and that a test confirms, in ascending
/// order. The test is given both numbers, that of the primitive first.
fn pairs<R: Real, const N: usize, const M: usize>(
    tree: &PrimitiveTree<R, N>,
    positions: &[Vector3<R>],
    others: &[[u32; M]],
    test: impl Fn(u32, u32) -> bool + Sync,
) -> Vec<[u32; 2]> {
    let chunks = others.par_chunks(CHUNK).enumerate().flat_map_iter(|(chunk, others)| {
        let (mut visit, mut found) = (Visit::default(), Vec::new());
        for (number, other) in ((chunk * CHUNK) as u32..).zip(others) {
            let around = BoundingBox::of(corners(positions, *other).into_iter(), R::zero());
            tree.meeting(&around, &mut visit, |primitive| {
                if test(primitive, number) {
                    found.push([primitive, number]);
                }
            });
        }
        found
    });
    let mut pairs: Vec<[u32; 2]> = chunks.collect();
    pairs.par_sort_unstable();
    pairs
}
