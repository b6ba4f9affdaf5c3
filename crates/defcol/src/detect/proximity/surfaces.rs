//! Surfaces of bodies, prepared for the search for proximity pairs.

use std::ops::Range;

use super::stencil::{Outside, stands_out};
use super::{FACING, NONE};
use crate::math::{Bounds, Real, Vector3};
use crate::state::Bodies;

/// The surfaces of all bodies, as far as they follow from topology and rest shape.
#[derive(Debug, Default)]
pub(super) struct Surfaces {
    topology: u64,
    /// For each body the vertices of its surface, or all if it has none; its triangles and its edges, so that what follows
    /// each other is near each other.
    pub points: Vec<Vec<u32>>,
    pub triangles: Vec<Vec<u32>>,
    pub edges: Vec<Vec<u32>>,
    /// The triangles on both sides of each edge.
    pub sides: Vec<[u32; 2]>,
    /// The vertex of the tetrahedron behind each triangle that is not one of its corners, if there is one.
    pub behind: Vec<u32>,
    /// For each body which sides of its surface are outside.
    pub outside: Vec<Outside>,
}

impl Surfaces {
    /// Computes what follows from topology, unless it did so for these bodies before.
    pub fn prepare<R: Real>(&mut self, bodies: &Bodies, rest: &[Vector3<R>]) {
        if self.topology == bodies.topology() {
            return;
        }
        self.topology = bodies.topology();
        self.points.clear();
        self.triangles.clear();
        self.edges.clear();
        self.outside.clear();
        self.sides.clear();
        self.behind.clear();
        self.sides.extend(bodies.triangles_of_edges().iter().map(|triangles| match *triangles {
            [one] => [one, NONE],
            [one, other, ..] => [one, other],
            [] => [NONE; 2],
        }));
        for (number, body) in bodies.list().iter().enumerate() {
            let triangles = &bodies.triangles()[body.triangles.clone()];
            let mut points: Vec<u32> = triangles.iter().flatten().copied().collect();
            if triangles.is_empty() && body.tetrahedra.is_empty() {
                points.extend(body.vertices.clone().map(|vertex| vertex as u32));
            }
            points.sort_unstable();
            points.dedup();
            let around = Bounds::of(rest[body.vertices.clone()].iter().copied());
            let numbers = |range: &Range<usize>| range.clone().map(|number| number as u32);
            self.points.push(in_order(&around, rest, points.into_iter(), |point| [point]));
            self.triangles.push(in_order(&around, rest, numbers(&body.triangles), |number| {
                bodies.triangles()[number as usize]
            }));
            self.edges.push(in_order(&around, rest, numbers(&body.edges), |number| {
                bodies.edges()[number as usize]
            }));
            let open = !body.triangles.is_empty() && !bodies.is_closed(number);
            self.outside.push(if open { Outside::BothSides } else { Outside::Normals });
            let tetrahedra = bodies.tetrahedra()[body.tetrahedra.clone()].iter();
            let mut faces: Vec<([u32; 3], u32)> = tetrahedra
                .flat_map(|&[a, b, c, d]| {
                    [([b, c, d], a), ([a, c, d], b), ([a, b, d], c), ([a, b, c], d)]
                })
                .map(|(corners, other)| (sorted(corners), other))
                .collect();
            faces.sort_unstable();
            self.behind.extend(triangles.iter().map(|&corners| {
                let found = faces.binary_search_by_key(&sorted(corners), |face| face.0);
                found.map_or(NONE, |face| faces[face].1)
            }));
        }
    }

    /// The corners of the triangles on both sides of an edge.
    pub fn beside(&self, bodies: &Bodies, edge: u32) -> [Option<[u32; 3]>; 2] {
        self.sides[edge as usize]
            .map(|side| (side != NONE).then(|| bodies.triangles()[side as usize]))
    }

    /// Whether the tetrahedron behind a triangle is in front of it.
    pub fn is_turned_over<R: Real>(
        &self,
        bodies: &Bodies,
        place: impl Fn(u32) -> Vector3<R>,
        triangle: u32,
    ) -> bool {
        if triangle == NONE || self.behind[triangle as usize] == NONE {
            return false;
        }
        let [a, b, c] = bodies.triangles()[triangle as usize].map(&place);
        let behind = place(self.behind[triangle as usize]);
        (b - a).cross(&(c - a)).dot(&(behind - a)) > R::zero()
    }

    /// Finds the edges of a body that stand out by more than `height`: all others are behind vertices and triangles.
    pub fn find_ridges<R: Real>(
        &self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        body: usize,
        height: R,
        ridges: &mut Vec<u32>,
    ) {
        ridges.clear();
        let edges = self.edges[body].iter().copied();
        let place = |vertex: u32| positions[vertex as usize];
        ridges.extend(edges.filter(|&edge| {
            let (ends, sides) = (bodies.edges()[edge as usize], self.beside(bodies, edge));
            stands_out(place, ends, sides, height)
        }));
    }

    /// Whether the surface around a vertex faces something with this normal; a particle faces everything.
    pub fn faces<R: Real>(
        &self,
        bodies: &Bodies,
        place: impl Fn(u32) -> Vector3<R>,
        point: u32,
        normal: Vector3<R>,
    ) -> bool {
        let triangles = bodies.triangles_of_vertices().row(point as usize);
        let own = triangles.iter().fold(Vector3::zeros(), |sum, &triangle| {
            let [a, b, c] = bodies.triangles()[triangle as usize].map(&place);
            sum + (b - a).cross(&(c - a))
        });
        triangles.is_empty() || own.dot(&normal) < own.norm() * R::nearest(FACING)
    }
}

/// The numbers of primitives with these corners, in an order that keeps what is near together.
fn in_order<R: Real, const N: usize>(
    around: &Bounds<R>,
    places: &[Vector3<R>],
    numbers: impl Iterator<Item = u32>,
    corners: impl Fn(u32) -> [u32; N],
) -> Vec<u32> {
    let key = |number: u32| {
        let places = corners(number).map(|corner| places[corner as usize]);
        let middle = places.into_iter().sum::<Vector3<R>>() / R::nearest(N as f64);
        (around.along_curve(middle), number)
    };
    let mut keys: Vec<(u64, u32)> = numbers.map(key).collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, number)| number).collect()
}

fn sorted(mut corners: [u32; 3]) -> [u32; 3] {
    corners.sort_unstable();
    corners
}
