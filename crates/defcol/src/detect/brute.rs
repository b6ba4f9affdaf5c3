//! Every primitive against every other: slow, simple, the reference.

use rayon::prelude::*;

use super::primitive::{
    point_in_tetrahedron, segment_meets_triangle, triangles_meet, triangles_meet_beyond_shared,
};
use super::{Detector, Hits, Questions, SelfPairs, check_positions, corners, edge_hit, point_hit};
use crate::error::DetectError;
use crate::math::{Real, Vector3};
use crate::state::Bodies;

/// Compares every primitive with every other. No boxes, no filters: only the exact tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct BruteForce;

impl<R: Real> Detector<R> for BruteForce {
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
        if questions.points_in_tetrahedra {
            let pairs =
                (0..bodies.tetrahedra().len()).into_par_iter().flat_map_iter(|tetrahedron| {
                    let primitive = bodies.tetrahedra()[tetrahedron];
                    let shape = corners(positions, primitive);
                    let vertices = vertices_that_may_meet(bodies, primitive[0]);
                    let inside = vertices.filter(move |&vertex| {
                        !primitive.contains(&vertex)
                            && point_in_tetrahedron(positions[vertex as usize], shape)
                    });
                    inside.map(move |vertex| {
                        point_hit(bodies, positions, [tetrahedron as u32, vertex])
                    })
                });
            hits.points.par_extend(pairs);
        }
        if questions.edges_through_triangles {
            let pairs = (0..bodies.triangles().len()).into_par_iter().flat_map_iter(|triangle| {
                let primitive = bodies.triangles()[triangle];
                let shape = corners(positions, primitive);
                let edges = edges_that_may_meet(bodies, primitive[0]);
                let through = edges.filter(move |&edge| {
                    let ends = bodies.edges()[edge as usize];
                    !ends.iter().any(|end| primitive.contains(end))
                        && segment_meets_triangle(corners(positions, ends), shape)
                });
                through.map(move |edge| edge_hit(bodies, positions, [triangle as u32, edge]))
            });
            hits.edges.par_extend(pairs);
        }
        Ok(())
    }
}

/// A surface in some positions.
pub type Triangles<'a, R> = (&'a [Vector3<R>], &'a [[u32; 3]]);

/// All pairs of a triangle of the first surface and one of the second that meet, ascending.
pub fn triangle_pairs<R: Real>(first: Triangles<R>, second: Triangles<R>) -> Vec<[u32; 2]> {
    let (second_positions, second_triangles) = second;
    let pairs = (0u32..first.1.len() as u32).into_par_iter().flat_map_iter(|one| {
        let own = corners(first.0, first.1[one as usize]);
        let others = (0u32..).zip(second_triangles);
        others.filter_map(move |(other, &triangle)| {
            triangles_meet(own, corners(second_positions, triangle)).then_some([one, other])
        })
    });
    pairs.collect()
}

/// All pairs of triangles of one surface that meet.
pub fn triangle_pairs_within<R: Real>((positions, triangles): Triangles<R>) -> SelfPairs {
    let share = |[one, other]: [u32; 2]| {
        let corners = triangles[other as usize];
        triangles[one as usize].iter().any(|corner| corners.contains(corner))
    };
    let pairs = (0u32..triangles.len() as u32).into_par_iter().flat_map_iter(|one| {
        let a = triangles[one as usize];
        (one + 1..triangles.len() as u32).filter_map(move |other| {
            let b = triangles[other as usize];
            let at = [corners(positions, a), corners(positions, b)];
            triangles_meet_beyond_shared([a, b], at).then_some([one, other])
        })
    });
    let (sharing, apart) = pairs.partition(|&pair| share(pair));
    SelfPairs { apart, sharing }
}

/// All vertices of bodies that may collide with the body of this corner.
fn vertices_that_may_meet(bodies: &Bodies, corner: u32) -> impl Iterator<Item = u32> {
    let body = bodies.body_of(corner);
    let others = (0..bodies.len()).filter(move |&other| bodies.may_collide(body, other));
    others.flat_map(|other| bodies.list()[other].vertices.clone()).map(|vertex| vertex as u32)
}

/// All edges of bodies that may collide with the body of this corner.
fn edges_that_may_meet(bodies: &Bodies, corner: u32) -> impl Iterator<Item = u32> {
    let body = bodies.body_of(corner);
    let others = (0..bodies.len()).filter(move |&other| bodies.may_collide(body, other));
    others.flat_map(|other| bodies.list()[other].edges.clone()).map(|edge| edge as u32)
}
