//! Reference meshes and volumes, and their blends (MORPH03, section 3).

use super::BoundingVolume;
use super::tree::{Child, Tree};
use crate::error::DetectError;
use crate::math::{Real, Vector3};

/// How far the sum of weights may be from 1.
const SUM_TOLERANCE: f64 = 1e-3;

/// What a morphing mesh is blended of.
///
/// A blended volume contains the blended vertices because each of its numbers is blended like theirs. For boxes that
/// holds to the last bit: products and sums are rounded monotonically, and both are made in the same order. Other
/// volumes are made larger by what rounding can amount to.
#[derive(Debug, Clone)]
pub(super) struct Morph<R: Real, V: BoundingVolume<R>, const A: usize> {
    meshes: usize,
    between: usize,
    /// The positions of each vertex in all meshes behind one another.
    vertices: Vec<Vector3<R>>,
    /// The volumes of each node in all meshes, and between them, behind one another.
    blocks: Vec<V::Block<A>>,
    /// The meshes that are blended, with their weights; and the volumes.
    mesh_weights: Vec<(usize, R)>,
    volume_weights: Vec<(usize, R)>,
}

impl<R: Real, V: BoundingVolume<R>, const A: usize> Morph<R, V, A> {
    pub fn new(
        tree: &Tree<A>,
        triangles: &[[u32; 3]],
        references: &[Vec<Vector3<R>>],
        between: usize,
        slack: R,
    ) -> Self {
        let meshes = references.len();
        let vertices = (0..references[0].len())
            .flat_map(|vertex| references.iter().map(move |positions| positions[vertex]))
            .collect();
        let steps = between + 1;
        let volumes = (meshes - 1) * steps + 1;
        let mut blocks = vec![V::empty_block(); volumes * tree.len()];
        let mut positions = references[0].clone();
        for volume in 0..volumes {
            let (mesh, step) = (volume / steps, volume % steps);
            let share = R::nearest(step as f64 / steps as f64);
            for (vertex, position) in positions.iter_mut().enumerate() {
                *position = references[mesh][vertex];
                if step > 0 {
                    *position += (references[mesh + 1][vertex] - *position) * share;
                }
            }
            let around = |leaf: u32| {
                let corners = triangles[leaf as usize];
                let points = corners.into_iter().flat_map(|corner| {
                    let position = positions[corner as usize];
                    // Vertices are not blended of what is between, so volumes there need a margin in all directions.
                    let size: R = references[mesh..(mesh + 2).min(meshes)]
                        .iter()
                        .map(|reference| reference[corner as usize].abs().sum())
                        .fold(R::zero(), |sum, size| sum + size);
                    let margin =
                        if between > 0 { slack * size * R::nearest(3.0) } else { R::zero() };
                    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
                    let around =
                        axes.map(|axis| [position - axis * margin, position + axis * margin]);
                    around.into_iter().flatten().take(if between > 0 { 6 } else { 1 })
                });
                V::of(points, slack)
            };
            for node in (0..tree.len() as u32).rev() {
                for (lane, child) in tree.children_of(node) {
                    let own = match child {
                        Child::Leaf(leaf) => around(leaf),
                        Child::Node(below) => {
                            V::union_of_block(&blocks[below as usize * volumes + volume])
                        }
                    };
                    own.set_lane(&mut blocks[node as usize * volumes + volume], lane);
                }
            }
        }
        let first = vec![(0, R::one())];
        Self {
            meshes,
            between,
            vertices,
            blocks,
            mesh_weights: first.clone(),
            volume_weights: first,
        }
    }

    pub fn set_weights(&mut self, weights: &[R]) -> Result<(), DetectError> {
        let problem = |found: String| DetectError::Weights { references: self.meshes, found };
        if weights.len() != self.meshes {
            return Err(problem(format!("{} were given", weights.len())));
        }
        if let Some(bad) =
            weights.iter().position(|weight| weight.to_f64().is_nan() || *weight < R::zero())
        {
            return Err(problem(format!("weight {bad} is {}", weights[bad])));
        }
        let sum: f64 = weights.iter().map(|&weight| weight.to_f64()).sum();
        if !(1.0 - SUM_TOLERANCE..=1.0 + SUM_TOLERANCE).contains(&sum) {
            return Err(problem(format!("their sum is {sum}")));
        }
        let active = weights.iter().copied().enumerate().filter(|&(_, weight)| weight > R::zero());
        self.mesh_weights.clear();
        self.mesh_weights.extend(active);
        self.volume_weights.clear();
        let steps = self.between + 1;
        match self.mesh_weights[..] {
            [(first, _), (second, weight)] if self.between > 0 && second == first + 1 => {
                // The sum is not always exactly 1; vertices are blended with the weights as they are.
                let sum = self.mesh_weights[0].1 + weight;
                let place = weight / sum * R::nearest(steps as f64);
                let step = (place.to_f64() as usize).min(self.between);
                let share = place - R::nearest(step as f64);
                let volume = first * steps + step;
                let weights = [(volume, (R::one() - share) * sum), (volume + 1, share * sum)];
                self.volume_weights.extend(weights);
            }
            _ => {
                let volumes =
                    self.mesh_weights.iter().map(|&(mesh, weight)| (mesh * steps, weight));
                self.volume_weights.extend(volumes);
            }
        }
        self.volume_weights.retain(|&(_, weight)| weight > R::zero());
        Ok(())
    }

    /// A blended vertex.
    #[inline(always)]
    pub fn position(&self, vertex: u32) -> Vector3<R> {
        let own = &self.vertices[vertex as usize * self.meshes..][..self.meshes];
        let mut blended = Vector3::zeros();
        for &(mesh, weight) in &self.mesh_weights {
            blended += own[mesh] * weight;
        }
        blended
    }

    /// The blended volumes of the children of a node.
    #[inline(always)]
    pub fn blend(&self, node: u32, block: &mut V::Block<A>) {
        let volumes = (self.meshes - 1) * (self.between + 1) + 1;
        let own = &self.blocks[node as usize * volumes..][..volumes];
        let blended = V::numbers_mut(block);
        for lanes in blended.iter_mut() {
            *lanes = [R::zero(); A];
        }
        for &(volume, weight) in &self.volume_weights {
            for (sum, numbers) in blended.iter_mut().zip(V::numbers(&own[volume])) {
                for lane in 0..A {
                    sum[lane] += numbers[lane] * weight;
                }
            }
        }
    }
}
