//! Which primitives may come near each other: those of bodies that have moved, with all.

use super::feature::{squared_between_edges, squared_to_triangle};
use super::grid::{Grid, overlap};
use super::travel::Travel;
use super::{APART, Candidate, Surfaces};
use crate::math::{Bounds, Real, Vector3};
use crate::state::Bodies;

/// What is read.
pub(super) struct Work<'a, R: Real> {
    pub bodies: &'a Bodies,
    pub travel: &'a Travel<R>,
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
        for number in numbers {
            self.numbers.push(number);
            self.boxes.push(work.around(body, primitives[number as usize].iter().copied()));
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
                let bounds = work.around(own, [point].into_iter());
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
        for &point in &work.surfaces.points[body] {
            let bounds = work.around(body, [point].into_iter());
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
                    // In the order of edges, whichever body was listed last: contacts are known by their vertices.
                    let (pair, owners) = ([first, second], [body as u32, other as u32]);
                    out.push(if first < second {
                        Candidate::new(pair, owners)
                    } else {
                        Candidate::new([second, first], [owners[1], owners[0]])
                    });
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
    /// The box around some vertices of a body on their expected way, grown by half of the thickness and by how far they may
    /// stray.
    #[inline]
    pub fn around(&self, body: usize, vertices: impl Iterator<Item = u32>) -> Bounds<R> {
        let left = self.travel.left[body];
        let mut bounds = Bounds::empty();
        for vertex in vertices {
            let start = self.travel.expected[vertex as usize];
            let end = start + self.travel.speeds[vertex as usize] * left;
            bounds.min = bounds.min.inf(&start.inf(&end));
            bounds.max = bounds.max.sup(&start.sup(&end));
        }
        bounds.grown(self.thickness * R::nearest(0.5) + self.skins[body])
    }

    /// Half of the time for which two bodies are both expected to go on.
    #[inline]
    fn half_way(&self, body: usize, other: usize) -> R {
        self.travel.left[body].min(self.travel.left[other]) * R::nearest(0.5)
    }

    /// Where a vertex is expected after some time.
    #[inline]
    fn place(&self, vertex: u32, time: R) -> Vector3<R> {
        self.travel.expected[vertex as usize] + self.travel.speeds[vertex as usize] * time
    }

    /// The square of the fastest that a corner of one comes towards or leaves a corner of the other.
    #[inline]
    fn fastest(&self, one: &[u32], other: &[u32]) -> R {
        let speed = |corner: &u32| self.travel.speeds[*corner as usize];
        let all = one.iter().flat_map(|a| other.iter().map(move |b| speed(a) - speed(b)));
        all.fold(R::zero(), |most, way| most.max(way.norm_squared()))
    }

    /// The box around all bodies that have moved.
    fn around_moved(&self) -> Bounds<R> {
        let moved = self.boxes.iter().zip(self.moved).filter(|(_, moved)| **moved);
        moved.fold(Bounds::empty(), |all, (own, _)| all.union(*own))
    }

    /// How near primitives of two bodies may be on their expected ways and still come nearer than the thickness.
    #[inline]
    fn reach(&self, a: usize, b: usize) -> R {
        self.thickness + self.skins[a] + self.skins[b]
    }

    #[inline]
    fn point_is_near(&self, body: usize, point: u32, other: usize, corners: [u32; 3]) -> bool {
        let own = body == other;
        if !self.bodies.may_collide(body, other) || (own && corners.contains(&point)) {
            return false;
        }
        if own && self.neighbours(&[point], &corners) {
            return false;
        }
        let near = |place: &dyn Fn(u32) -> Vector3<R>, reach: R| {
            squared_to_triangle(place(point), corners.map(place)) <= reach * reach
        };
        // Both are as near half of the way as they get, but for how fast they come towards or leave each other.
        let half = self.half_way(body, other);
        let reach = self.reach(body, other) + self.fastest(&[point], &corners).sqrt() * half;
        near(&|vertex| self.place(vertex, half), reach)
            && !(own && near(&|vertex| self.rest[vertex as usize], self.apart()))
    }

    /// What is nearer than this in a body at rest does not collide with itself.
    #[inline]
    fn apart(&self) -> R {
        self.thickness * R::nearest(APART)
    }

    /// Whether a corner of one is near a corner of the other at rest: most neighbours are told so, and quickly.
    #[inline]
    fn neighbours(&self, one: &[u32], other: &[u32]) -> bool {
        let rest = |corner: &u32| self.rest[*corner as usize];
        let square = self.apart() * self.apart();
        one.iter().any(|a| other.iter().any(|b| (rest(a) - rest(b)).norm_squared() <= square))
    }

    #[inline]
    fn edges_are_near(&self, [body, other]: [usize; 2], one: [u32; 2], two: [u32; 2]) -> bool {
        let own = body == other;
        let joined = own && one.iter().any(|end| two.contains(end));
        if joined || !self.bodies.may_collide(body, other) {
            return false;
        }
        if own && self.neighbours(&one, &two) {
            return false;
        }
        let near = |place: &dyn Fn(u32) -> Vector3<R>, reach: R| {
            squared_between_edges(one.map(place), two.map(place)) <= reach * reach
        };
        let half = self.half_way(body, other);
        let reach = self.reach(body, other) + self.fastest(&one, &two).sqrt() * half;
        near(&|vertex| self.place(vertex, half), reach)
            && !(own && near(&|vertex| self.rest[vertex as usize], self.apart()))
    }
}
