//! Joints, and volumes that follow them.

use super::BoundingVolume;
use super::motion::Motion;
use super::tree::{Child, Tree};
use crate::error::DetectError;
use crate::math::{Matrix3, Real, Vector3};
use crate::state::Binding;

/// Where a joint takes what follows it: a matrix, and what is added then.
pub type JointTransform<R> = (Matrix3<R>, Vector3<R>);

/// What a skinned mesh follows.
///
/// A vertex is a convex combination of where its joints would take it. So the vertices below a node stay within the
/// union, over all joints, of the volume around those of them that follow the joint, moved by it.
#[derive(Debug, Clone)]
pub(super) struct Skin<R: Real, V> {
    bound: Vec<Vector3<R>>,
    bindings: Vec<Binding<R>>,
    /// One for each joint, and one that stays for vertices without joints.
    transforms: Vec<JointTransform<R>>,
    motions: Vec<Motion<R>>,
    /// For each slot where its volumes, one for each joint that matters, begin.
    starts: Vec<u32>,
    volumes: Vec<(u32, V)>,
    reach: f64,
    /// Whether joints were set: before, vertices are where they were bound, to the last bit.
    posed: bool,
}

impl<R: Real, V: BoundingVolume<R>> Skin<R, V> {
    pub fn new<const A: usize>(
        tree: &Tree<A>,
        triangles: &[[u32; 3]],
        positions: &[Vector3<R>],
        bindings: &[Binding<R>],
        joints: usize,
        slack: R,
    ) -> Result<Self, DetectError> {
        if bindings.len() != positions.len() {
            let (given, expected) = (bindings.len(), positions.len());
            return Err(DetectError::Count { what: "bindings", given, expected });
        }
        let bindings = bindings
            .iter()
            .enumerate()
            .map(|(vertex, binding)| normalised(vertex, binding, joints))
            .collect::<Result<Vec<_>, _>>()?;
        let mut skin = Self {
            bound: positions.to_vec(),
            bindings,
            transforms: vec![(Matrix3::identity(), Vector3::zeros()); joints + 1],
            motions: vec![],
            starts: vec![0],
            volumes: vec![],
            reach: super::collider::reach(positions),
            posed: false,
        };
        let mut followers: Vec<Vec<Vector3<R>>> = vec![vec![]; joints + 1];
        for slot in 0..tree.len() as u32 * A as u32 {
            let mut gather = |leaf: u32| {
                for vertex in triangles[leaf as usize] {
                    let Binding { joints, weights } = skin.bindings[vertex as usize];
                    for (joint, weight) in joints.into_iter().zip(weights) {
                        if weight > R::zero() {
                            followers[joint as usize].push(positions[vertex as usize]);
                        }
                    }
                }
            };
            match tree.child(slot) {
                Some(Child::Leaf(leaf)) => gather(leaf),
                Some(Child::Node(node)) => tree.leaves_below(node).for_each(gather),
                None => {}
            }
            for (joint, points) in (0u32..).zip(&mut followers) {
                if !points.is_empty() {
                    skin.volumes.push((joint, V::of(points.iter().copied(), slack)));
                    points.clear();
                }
            }
            skin.starts.push(skin.volumes.len() as u32);
        }
        skin.update_motions();
        Ok(skin)
    }

    /// How far the mesh may reach with these joints.
    pub fn check_joints(&self, joints: &[JointTransform<R>]) -> Result<f64, DetectError> {
        let expected = self.transforms.len() - 1;
        if joints.len() != expected {
            return Err(DetectError::Count {
                what: "transforms of joints",
                given: joints.len(),
                expected,
            });
        }
        let mut most = self.reach;
        for (number, (matrix, translation)) in joints.iter().enumerate() {
            if !matrix.iter().chain(translation.iter()).all(|x| x.to_f64().is_finite()) {
                return Err(DetectError::BadJoint(number));
            }
            let rows = matrix.map(R::to_f64).abs().column_sum().amax();
            let reach = rows * self.reach + translation.map(R::to_f64).amax();
            if reach > R::MAX_COORDINATE {
                return Err(DetectError::BadJoint(number));
            }
            most = most.max(reach);
        }
        Ok(most)
    }

    /// Moves the joints, which were checked.
    pub fn set_joints(&mut self, joints: &[JointTransform<R>]) {
        self.transforms[..joints.len()].copy_from_slice(joints);
        self.posed = true;
        self.update_motions();
    }

    fn update_motions(&mut self) {
        let epsilon = R::default_epsilon().to_f64();
        self.motions.clear();
        for (matrix, translation) in &self.transforms {
            let (matrix, translation) = (matrix.map(R::to_f64), translation.map(R::to_f64));
            let rows = matrix.abs().column_sum().amax();
            let slack = 32.0 * epsilon * (rows * self.reach + translation.amax());
            self.motions.push(Motion::new(&matrix, &translation, self.reach, slack));
        }
    }

    /// Where the joints take a vertex.
    pub fn position(&self, vertex: u32) -> Vector3<R> {
        if !self.posed {
            return self.bound[vertex as usize];
        }
        let Binding { joints, weights } = self.bindings[vertex as usize];
        let mut sum = Vector3::zeros();
        for (joint, weight) in joints.into_iter().zip(weights) {
            if weight > R::zero() {
                let (matrix, translation) = &self.transforms[joint as usize];
                sum += (matrix * self.bound[vertex as usize] + translation) * weight;
            }
        }
        sum
    }

    /// The volumes of the children of a node.
    pub fn follow<const A: usize>(&self, node: u32, block: &mut V::Block<A>) {
        for lane in 0..A {
            let slot = node as usize * A + lane;
            let own = self.starts[slot] as usize..self.starts[slot + 1] as usize;
            let moved = self.volumes[own]
                .iter()
                .map(|(joint, volume)| volume.moved(&self.motions[*joint as usize]));
            moved.fold(V::empty(), V::union).set_lane(block, lane);
        }
    }
}

/// The binding with weights of sum 1.
fn normalised<R: Real>(
    vertex: usize,
    binding: &Binding<R>,
    joints: usize,
) -> Result<Binding<R>, DetectError> {
    let sum: f64 = binding.weights.iter().map(|&weight| weight.to_f64()).sum();
    if !(sum.is_finite() && binding.weights.iter().all(|&weight| weight >= R::zero())) {
        let weights = binding.weights.map(R::to_f64);
        return Err(DetectError::BindingWeights { vertex, weights });
    }
    if sum == 0.0 {
        let stay = joints as u32;
        let weights = [R::one(), R::zero(), R::zero(), R::zero()];
        return Ok(Binding { joints: [stay; 4], weights });
    }
    let mut own = *binding;
    for (joint, weight) in own.joints.iter_mut().zip(&mut own.weights) {
        *weight = R::nearest(weight.to_f64() / sum);
        if *weight == R::zero() {
            *joint = 0;
        } else if *joint as usize >= joints {
            return Err(DetectError::NoSuchJoint { vertex, joint: *joint, joints });
        }
    }
    Ok(own)
}
