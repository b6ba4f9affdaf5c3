//! The same question answered with a bounding-volume tree of parry3d.

use defcol::detect::primitive::point_in_tetrahedron;
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
