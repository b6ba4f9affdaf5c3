//! The same questions answered with a bounding-volume tree of parry3d.

use defcol::detect::primitive::{point_in_tetrahedron, triangles_meet};
use defcol::math::{Bounds, Vector3};
use defcol::state::Bodies;
use parry3d::bounding_volume::Aabb;
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

/// What is done with the tree in each frame.
#[derive(Clone, Copy, PartialEq)]
pub enum Update {
    Rebuild,
    Refit,
}

pub struct ParryTree<'a> {
    bodies: &'a Bodies,
    tree: Bvh,
    workspace: BvhWorkspace,
    update: Update,
    pub pairs: Vec<[u32; 2]>,
}

impl<'a> ParryTree<'a> {
    pub fn new(bodies: &'a Bodies, positions: &[Vector3<f32>], update: Update) -> Self {
        let tree = build(bodies, positions);
        Self { bodies, tree, workspace: BvhWorkspace::default(), update, pairs: vec![] }
    }

    /// All vertices in tetrahedra, found from positions.
    pub fn detect(&mut self, positions: &[Vector3<f32>]) {
        match self.update {
            Update::Rebuild => self.tree = build(self.bodies, positions),
            Update::Refit => {
                for (number, bounds) in (0u32..).zip(boxes(self.bodies, positions)) {
                    self.tree.insert_or_update_partially(bounds, number, 0.0);
                }
                self.tree.refit(&mut self.workspace);
            }
        }
        self.pairs.clear();
        for (vertex, position) in (0u32..).zip(positions) {
            let point = Vector::new(position.x, position.y, position.z);
            for number in self.tree.intersect_aabb(&Aabb::new(point, point)) {
                let corners = self.bodies.tetrahedra()[number as usize];
                let shape = corners.map(|corner| positions[corner as usize]);
                if !corners.contains(&vertex) && point_in_tetrahedron(*position, shape) {
                    self.pairs.push([number, vertex]);
                }
            }
        }
        self.pairs.sort_unstable();
    }
}

fn build(bodies: &Bodies, positions: &[Vector3<f32>]) -> Bvh {
    let leaves: Vec<Aabb> = boxes(bodies, positions).collect();
    Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves)
}

fn boxes(bodies: &Bodies, positions: &[Vector3<f32>]) -> impl Iterator<Item = Aabb> {
    bodies.tetrahedra().iter().map(|corners| {
        let Bounds { min, max } = Bounds::of(corners.map(|corner| positions[corner as usize]));
        Aabb::new(Vector::new(min.x, min.y, min.z), Vector::new(max.x, max.y, max.z))
    })
}

/// Which points are inside a closed surface: a tree of the triangles is built, and for each point those above
/// it are counted.
pub fn contains(
    positions: &[Vector3<f32>],
    triangles: &[[u32; 3]],
    points: &[Vector3<f32>],
) -> Vec<bool> {
    let all = Bounds::of(positions.iter().copied());
    let corners = |number: u32| triangles[number as usize].map(|v| positions[v as usize]);
    let leaves: Vec<Aabb> = (0..triangles.len() as u32)
        .map(|number| {
            let Bounds { min, max } = Bounds::of(corners(number));
            Aabb::new(Vector::new(min.x, min.y, min.z), Vector::new(max.x, max.y, max.z))
        })
        .collect();
    let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves);
    let inside = |point: &Vector3<f32>| {
        let up = Aabb::new(
            Vector::new(point.x, point.y, point.z),
            Vector::new(point.x, point.y, all.max.z),
        );
        all.contains(*point)
            && tree.intersect_aabb(&up).filter(|&n| is_above(*point, corners(n))).count() % 2 == 1
    };
    points.iter().map(inside).collect()
}

/// Whether a triangle is above a point.
fn is_above(point: Vector3<f32>, triangle: [Vector3<f32>; 3]) -> bool {
    let [a, b, c] = triangle.map(|corner| corner.map(f64::from) - point.map(f64::from));
    let turn = |p: Vector3<f64>, q: Vector3<f64>| p.x * q.y - p.y * q.x;
    let weights = [turn(b, c), turn(c, a), turn(a, b)];
    let same = weights.iter().all(|&w| w >= 0.0) || weights.iter().all(|&w| w < 0.0);
    let depth = weights[0] * a.z + weights[1] * b.z + weights[2] * c.z;
    same && depth / (weights[0] + weights[1] + weights[2]) > 0.0
}

/// Surfaces with a tree each.
pub struct ParryBodies<'a> {
    triangles: &'a [[u32; 3]],
    trees: Vec<Bvh>,
    workspace: BvhWorkspace,
}

impl<'a> ParryBodies<'a> {
    pub fn new(world: &[Vec<Vector3<f32>>], triangles: &'a [[u32; 3]]) -> Self {
        let tree = |positions: &Vec<Vector3<f32>>| {
            let leaves: Vec<Aabb> =
                triangles.iter().map(|corners| around(positions, corners)).collect();
            Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves)
        };
        let trees = world.iter().map(tree).collect();
        Self { triangles, trees, workspace: BvhWorkspace::default() }
    }

    /// Brings all trees up to date.
    pub fn refit(&mut self, world: &[Vec<Vector3<f32>>]) {
        for (tree, positions) in self.trees.iter_mut().zip(world) {
            for (number, corners) in (0u32..).zip(self.triangles) {
                tree.insert_or_update_partially(around(positions, corners), number, 0.0);
            }
            tree.refit(&mut self.workspace);
        }
    }

    /// How many pairs of triangles meet.
    pub fn pairs(&self, world: &[Vec<Vector3<f32>>]) -> usize {
        self.each(world, |pairs| pairs.count())
    }

    /// How many pairs of bodies meet.
    pub fn touching(&self, world: &[Vec<Vector3<f32>>]) -> usize {
        self.each(world, |pairs| usize::from(pairs.next().is_some()))
    }

    fn each(
        &self,
        world: &[Vec<Vector3<f32>>],
        count: impl Fn(&mut dyn Iterator<Item = (u32, u32)>) -> usize,
    ) -> usize {
        let mut all = 0;
        for (b, second) in self.trees.iter().enumerate() {
            for (a, first) in self.trees[..b].iter().enumerate() {
                let corners = |positions: &[Vector3<f32>], number: u32| {
                    self.triangles[number as usize].map(|corner| positions[corner as usize])
                };
                let mut pairs = first
                    .leaf_pairs(second, |one, other| one.intersects(other))
                    .filter(|&(one, other)| {
                        triangles_meet(corners(&world[a], one), corners(&world[b], other))
                    });
                all += count(&mut pairs);
            }
        }
        all
    }
}

/// The box of a triangle.
fn around(positions: &[Vector3<f32>], corners: &[u32; 3]) -> Aabb {
    let Bounds { min, max } = Bounds::of(corners.map(|corner| positions[corner as usize]));
    Aabb::new(Vector::new(min.x, min.y, min.z), Vector::new(max.x, max.y, max.z))
}
