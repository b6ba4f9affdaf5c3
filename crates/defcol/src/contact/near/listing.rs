//! Which primitives may come near each other: those of bodies that have moved, with all.

use super::feature::{squared_between_edges, squared_to_triangle};
use super::grid::{Grid, overlap};
use super::{Candidate, Surfaces};
use crate::math::{Bounds, Real, Vector3};
use crate::state::Bodies;

/// What is read.
pub(super) struct Work<'a, R: Real> {
    pub bodies: &'a Bodies,
    pub positions: &'a [Vector3<R>],
    pub rest: &'a [Vector3<R>],
    pub surfaces: &'a Surfaces,
    /// Boxes of bodies, grown by what their primitives are grown by.
    pub boxes: &'a [Bounds<R>],
    pub thickness: R,
    pub skins: &'a [R],
    pub moved: &'a [bool],
}

/// Memory.
#[derive(Debug, Default)]
pub(super) struct Listing<R: Real> {
    /// Primitives of bodies that have moved, and of all others that may meet them.
    moved: Sorted<R>,
    others: Sorted<R>,
    found: Vec<(u32, u32)>,
}

/// Primitives with their boxes, in a grid.
#[derive(Debug, Default)]
struct Sorted<R: Real> {
    grid: Grid<R>,
    numbers: Vec<u32>,
    boxes: Vec<Bounds<R>>,
}

impl<R: Real> Sorted<R> {
    fn clear(&mut self) {
        self.numbers.clear();
        self.boxes.clear();
    }

    /// Drops what is not in a region.
    fn keep_within(&mut self, region: &Bounds<R>) {
        let mut kept = 0;
        for place in 0..self.numbers.len() {
            if overlap(&self.boxes[place], region) {
                self.numbers.swap(kept, place);
                self.boxes.swap(kept, place);
                kept += 1;
            }
        }
        self.numbers.truncate(kept);
        self.boxes.truncate(kept);
    }

    fn add<const N: usize>(
        &mut self,
        work: &Work<R>,
        body: usize,
        primitives: &[[u32; N]],
        numbers: impl Iterator<Item = u32>,
    ) {
        let grown = work.grown(body);
        for number in numbers {
            let [first, rest @ ..] = &primitives[number as usize][..] else { continue };
            let place = |corner: &u32| work.positions[*corner as usize];
            let (mut min, mut max) = (place(first), place(first));
            for corner in rest {
                (min, max) = (min.inf(&place(corner)), max.sup(&place(corner)));
            }
            self.numbers.push(number);
            self.boxes.push(Bounds { min, max }.grown(grown));
        }
    }
}

impl<R: Real> Listing<R> {
    /// Adds all pairs of which at least one body has moved.
    pub fn all(
        &mut self,
        work: &Work<R>,
        on_points: &mut Vec<Candidate<R>>,
        on_edges: &mut Vec<Candidate<R>>,
    ) {
        let around = work.around_moved();
        self.sort_triangles(work, &around);
        for body in 0..work.bodies.len() {
            if work.boxes[body].overlaps(&around) {
                self.points_of(work, body, on_points);
            }
        }
        self.sort_edges(work, &around);
        self.edges(work, on_edges);
    }

    /// Adds all pairs of two bodies, one by one: quicker than a grid if they have few primitives.
    pub fn pair(
        &mut self,
        work: &Work<R>,
        [a, b]: [usize; 2],
        on_points: &mut Vec<Candidate<R>>,
        on_edges: &mut Vec<Candidate<R>>,
    ) {
        let region = work.boxes[a].intersection(work.boxes[b]);
        let (bodies, others) = (work.bodies, &mut self.others);
        for [own, other] in [[a, b], [b, a]] {
            let numbers = bodies.list()[other].triangles.clone().map(|number| number as u32);
            others.clear();
            others.add(work, other, bodies.triangles(), numbers);
            others.keep_within(&region);
            for &point in &work.surfaces.points[own] {
                let place = work.positions[point as usize];
                let bounds = Bounds { min: place, max: place }.grown(work.grown(own));
                if !overlap(&bounds, &region) {
                    continue;
                }
                for (&triangle, bounds_of_triangle) in others.numbers.iter().zip(&others.boxes) {
                    let corners = bodies.triangles()[triangle as usize];
                    if overlap(&bounds, bounds_of_triangle)
                        && work.point_is_near(own, point, other, corners)
                    {
                        let pair = [own as u32, other as u32];
                        on_points.push(Candidate::new([point, triangle], pair));
                    }
                }
            }
        }
        for (list, body) in [(&mut self.moved, a), (&mut self.others, b)] {
            list.clear();
            list.add(work, body, bodies.edges(), work.surfaces.ridges[body].iter().copied());
            list.keep_within(&region);
        }
        for (&first, bounds) in self.moved.numbers.iter().zip(&self.moved.boxes) {
            for (&second, other) in self.others.numbers.iter().zip(&self.others.boxes) {
                if overlap(bounds, other) {
                    let [one, two] = [first, second].map(|edge| bodies.edges()[edge as usize]);
                    if work.edges_are_near([a, b], one, two) {
                        on_edges.push(Candidate::new([first, second], [a as u32, b as u32]));
                    }
                }
            }
        }
    }

    fn sort_triangles(&mut self, work: &Work<R>, around: &Bounds<R>) {
        let (bodies, triangles) = (work.bodies, work.bodies.triangles());
        self.moved.clear();
        self.others.clear();
        for (body, own) in bodies.list().iter().enumerate() {
            let numbers = own.triangles.clone().map(|number| number as u32);
            if work.moved[body] {
                self.moved.add(work, body, triangles, numbers);
            } else if work.boxes[body].overlaps(around) {
                self.others.add(work, body, triangles, numbers);
            }
        }
        self.moved.grid.fill(&self.moved.boxes);
        self.others.grid.fill(&self.others.boxes);
    }

    fn points_of(&mut self, work: &Work<R>, body: usize, out: &mut Vec<Candidate<R>>) {
        let grown = work.grown(body);
        for &point in &work.surfaces.points[body] {
            let place = work.positions[point as usize];
            let bounds = Bounds { min: place, max: place }.grown(grown);
            self.found.clear();
            let (moved, others, found) = (&self.moved, &self.others, &mut self.found);
            let mut take = |triangle: u32| {
                let corners = work.bodies.triangles()[triangle as usize];
                let other = work.bodies.body_of(corners[0]);
                if work.point_is_near(body, point, other, corners) {
                    found.push((other as u32, triangle));
                }
            };
            moved.grid.meeting(&bounds, |n| take(moved.numbers[n as usize]));
            if work.moved[body] {
                others.grid.meeting(&bounds, |n| take(others.numbers[n as usize]));
            }
            self.found.sort_unstable();
            out.extend(
                self.found.iter().map(|&(other, triangle)| {
                    Candidate::new([point, triangle], [body as u32, other])
                }),
            );
        }
    }

    fn sort_edges(&mut self, work: &Work<R>, around: &Bounds<R>) {
        let edges = work.bodies.edges();
        self.moved.clear();
        self.others.clear();
        for body in 0..work.bodies.len() {
            let ridges = work.surfaces.ridges[body].iter().copied();
            if work.moved[body] {
                self.moved.add(work, body, edges, ridges);
            } else if work.boxes[body].overlaps(around) {
                self.others.add(work, body, edges, ridges);
            }
        }
        self.moved.grid.fill(&self.moved.boxes);
        self.others.grid.fill(&self.others.boxes);
    }

    fn edges(&mut self, work: &Work<R>, out: &mut Vec<Candidate<R>>) {
        let (moved, others) = (&self.moved, &self.others);
        for (&first, bounds) in moved.numbers.iter().zip(&moved.boxes) {
            let ends = work.bodies.edges()[first as usize];
            let body = work.bodies.body_of(ends[0]);
            let mut take = |second: u32| {
                let other_ends = work.bodies.edges()[second as usize];
                let other = work.bodies.body_of(other_ends[0]);
                if work.edges_are_near([body, other], ends, other_ends) {
                    out.push(Candidate::new([first, second], [body as u32, other as u32]));
                }
            };
            moved.grid.meeting(bounds, |n| {
                let second = moved.numbers[n as usize];
                if first < second {
                    take(second);
                }
            });
            others.grid.meeting(bounds, |n| take(others.numbers[n as usize]));
        }
    }
}

impl<R: Real> Candidate<R> {
    fn new(pair: [u32; 2], bodies: [u32; 2]) -> Self {
        Self { pair, bodies, due: 0.0, feature: None }
    }
}

impl<R: Real> Work<'_, R> {
    /// What primitives of a body are grown by: half of the thickness, and what it may come until it is listed anew; twice
    /// that if it has come some of its way already.
    #[inline]
    fn grown(&self, body: usize) -> R {
        let times = if self.moved[body] { 1.0 } else { 2.0 };
        self.thickness * R::nearest(0.5) + self.skins[body] * R::nearest(times)
    }

    /// The box around all bodies that have moved.
    fn around_moved(&self) -> Bounds<R> {
        let moved = self.boxes.iter().zip(self.moved).filter(|(_, moved)| **moved);
        moved.fold(Bounds::empty(), |all, (own, _)| all.union(*own))
    }

    #[inline]
    fn reach(&self, a: usize, b: usize) -> R {
        self.grown(a) + self.grown(b)
    }

    #[inline]
    fn point_is_near(&self, body: usize, point: u32, other: usize, corners: [u32; 3]) -> bool {
        let own = body == other;
        if !self.bodies.may_collide(body, other) || (own && corners.contains(&point)) {
            return false;
        }
        let square = self.reach(body, other) * self.reach(body, other);
        if own && self.near_at_rest(&[point], &corners, square) {
            return false;
        }
        let near = |places: &[Vector3<R>]| {
            let [a, b, c] = corners;
            let triangle = [places[a as usize], places[b as usize], places[c as usize]];
            squared_to_triangle(places[point as usize], triangle) <= square
        };
        near(self.positions) && !(own && near(self.rest))
    }

    /// Whether a corner of one was near a corner of the other: most neighbours are told so, and quickly.
    #[inline]
    fn near_at_rest(&self, one: &[u32], other: &[u32], square: R) -> bool {
        let rest = |corner: &u32| self.rest[*corner as usize];
        one.iter().any(|a| other.iter().any(|b| (rest(a) - rest(b)).norm_squared() <= square))
    }

    #[inline]
    fn edges_are_near(&self, [body, other]: [usize; 2], one: [u32; 2], two: [u32; 2]) -> bool {
        let own = body == other;
        let joined = own && one.iter().any(|end| two.contains(end));
        if joined || !self.bodies.may_collide(body, other) {
            return false;
        }
        let square = self.reach(body, other) * self.reach(body, other);
        if own && self.near_at_rest(&one, &two, square) {
            return false;
        }
        let near = |places: &[Vector3<R>]| {
            let [a, b, c, d] = [one[0], one[1], two[0], two[1]].map(|end| places[end as usize]);
            squared_between_edges([a, b], [c, d]) <= square
        };
        near(self.positions) && !(own && near(self.rest))
    }
}
