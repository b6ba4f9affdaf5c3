//! Which primitives of two bodies, or of one, may come near each other.

use super::feature::{squared_between_edges, squared_to_triangle};
use super::grid::{Grid, overlap};
use super::{Candidate, Surfaces};
use crate::math::{Bounds, Real, Vector3};
use crate::state::Bodies;

/// Pairs up to this number are tested one by one.
const FEW: usize = 1024;

/// What is read.
pub(super) struct Work<'a, R: Real> {
    pub bodies: &'a Bodies,
    pub positions: &'a [Vector3<R>],
    pub rest: &'a [Vector3<R>],
    pub surfaces: &'a Surfaces,
    /// Boxes of bodies, grown.
    pub boxes: &'a [Bounds<R>],
}

/// Memory.
#[derive(Debug, Default)]
pub(super) struct Listing<R: Real> {
    grid: Grid<R>,
    first: Vec<u32>,
    second: Vec<u32>,
    first_boxes: Vec<Bounds<R>>,
    second_boxes: Vec<Bounds<R>>,
}

impl<R: Real> Listing<R> {
    /// Pairs of two bodies that are nearer than `reach`.
    pub fn pair(
        &mut self,
        work: &Work<R>,
        [a, b]: [usize; 2],
        reach: R,
        on_points: &mut Vec<Candidate<R>>,
        on_edges: &mut Vec<Candidate<R>>,
    ) {
        // Both boxes are grown: what is near is in both.
        let region = work.boxes[a].intersection(work.boxes[b]);
        for [of, other] in [[a, b], [b, a]] {
            work.points_in(of, &region, &mut self.first);
            work.triangles_in(other, &region, reach, &mut self.second, &mut self.second_boxes);
            self.points_and_triangles(work, [of, other], reach, on_points);
        }
        work.edges_in(a, &region, R::zero(), &mut self.first, &mut self.first_boxes);
        work.edges_in(b, &region, reach, &mut self.second, &mut self.second_boxes);
        self.edges(work, [a, b], reach, on_edges);
    }

    /// Pairs of one body that are nearer than `reach` now, but not at rest.
    pub fn own(
        &mut self,
        work: &Work<R>,
        body: usize,
        reach: R,
        on_points: &mut Vec<Candidate<R>>,
        on_edges: &mut Vec<Candidate<R>>,
    ) {
        let region = work.boxes[body];
        work.points_in(body, &region, &mut self.first);
        work.triangles_in(body, &region, reach, &mut self.second, &mut self.second_boxes);
        self.points_and_triangles(work, [body; 2], reach, on_points);
        work.edges_in(body, &region, R::zero(), &mut self.first, &mut self.first_boxes);
        work.edges_in(body, &region, reach, &mut self.second, &mut self.second_boxes);
        self.edges(work, [body; 2], reach, on_edges);
    }

    fn points_and_triangles(
        &mut self,
        work: &Work<R>,
        pair: [usize; 2],
        reach: R,
        out: &mut Vec<Candidate<R>>,
    ) {
        let (places, rest, square) = (work.positions, work.rest, reach * reach);
        let own = pair[0] == pair[1];
        let mut test = |point: u32, triangle: u32| {
            let corners = work.bodies.triangles()[triangle as usize];
            let near = |places: &[Vector3<R>]| {
                let triangle = corners.map(|corner| places[corner as usize]);
                squared_to_triangle(places[point as usize], triangle) <= square
            };
            if !(own && corners.contains(&point)) && near(places) && !(own && near(rest)) {
                out.push(Candidate::new([point, triangle], pair));
            }
        };
        let many = self.first.len() * self.second.len() > FEW;
        if many {
            self.grid.fill(&self.second_boxes);
        }
        for &point in &self.first {
            let place = places[point as usize];
            let bounds = Bounds { min: place, max: place };
            if many {
                self.grid.meeting(&bounds, |n| test(point, self.second[n as usize]));
            } else {
                let all = self.second.iter().zip(&self.second_boxes);
                all.filter(|(_, other)| overlap(&bounds, other)).for_each(|(&t, _)| test(point, t));
            }
        }
    }

    fn edges(&mut self, work: &Work<R>, pair: [usize; 2], reach: R, out: &mut Vec<Candidate<R>>) {
        let (own, square) = (pair[0] == pair[1], reach * reach);
        let mut test = |first: u32, second: u32| {
            if own && first >= second {
                return;
            }
            let ends = [first, second].map(|edge| work.bodies.edges()[edge as usize]);
            let near = |places: &[Vector3<R>]| {
                let [p, q] = ends.map(|ends| ends.map(|end| places[end as usize]));
                squared_between_edges(p, q) <= square
            };
            let joined = own && ends[0].iter().any(|end| ends[1].contains(end));
            if !joined && near(work.positions) && !(own && near(work.rest)) {
                out.push(Candidate::new([first, second], pair));
            }
        };
        let many = self.first.len() * self.second.len() > FEW;
        if many {
            self.grid.fill(&self.second_boxes);
        }
        for (&first, bounds) in self.first.iter().zip(&self.first_boxes) {
            if many {
                self.grid.meeting(bounds, |n| test(first, self.second[n as usize]));
            } else {
                let all = self.second.iter().zip(&self.second_boxes);
                all.filter(|(_, other)| overlap(bounds, other)).for_each(|(&e, _)| test(first, e));
            }
        }
    }
}

impl<R: Real> Candidate<R> {
    fn new(pair: [u32; 2], bodies: [usize; 2]) -> Self {
        Self { pair, bodies: bodies.map(|body| body as u32), due: 0.0, feature: None }
    }
}

impl<R: Real> Work<'_, R> {
    fn points_in(&self, body: usize, region: &Bounds<R>, out: &mut Vec<u32>) {
        out.clear();
        let inside = |point: &&u32| region.contains(self.positions[**point as usize]);
        out.extend(self.surfaces.points[body].iter().filter(inside));
    }

    fn triangles_in(
        &self,
        body: usize,
        region: &Bounds<R>,
        margin: R,
        out: &mut Vec<u32>,
        boxes: &mut Vec<Bounds<R>>,
    ) {
        let range = self.bodies.list()[body].triangles.clone();
        self.primitives_in(
            self.bodies.triangles(),
            range.map(|n| n as u32),
            region,
            margin,
            out,
            boxes,
        );
    }

    fn edges_in(
        &self,
        body: usize,
        region: &Bounds<R>,
        margin: R,
        out: &mut Vec<u32>,
        boxes: &mut Vec<Bounds<R>>,
    ) {
        let range = self.surfaces.ridges[body].iter().copied();
        self.primitives_in(self.bodies.edges(), range, region, margin, out, boxes);
    }

    /// The primitives of a range whose boxes meet a region, and these boxes, grown.
    fn primitives_in<const N: usize>(
        &self,
        primitives: &[[u32; N]],
        range: impl Iterator<Item = u32>,
        region: &Bounds<R>,
        margin: R,
        out: &mut Vec<u32>,
        boxes: &mut Vec<Bounds<R>>,
    ) {
        out.clear();
        boxes.clear();
        for number in range {
            let corners = primitives[number as usize].map(|corner| self.positions[corner as usize]);
            let bounds = Bounds::of(corners);
            if bounds.overlaps(region) {
                out.push(number);
                boxes.push(bounds.grown(margin));
            }
        }
    }
}
