//! From a model with morph targets or joints to a body that follows them.

use defcol::detect::bvh::{Binding, BoundingVolume, Collider, JointTransform, Split};
use defcol::error::{DetectError, MeshError};
use defcol::mesh::TriangleMesh;
use nalgebra::Matrix4;

use crate::{Model, Skeleton};

/// Why a model cannot be made a body that follows its targets or joints.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RigError {
    /// The surface is no mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Poses or bindings do not fit.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// Both at once are not followed.
    #[error(
        "the model has morph targets and joints; remove one of them, both at once are not followed"
    )]
    TargetsAndJoints,
    /// Only surfaces follow.
    #[error("the model has tetrahedra; only a surface follows morph targets or joints")]
    Solid,
    /// Joints that hang on each other in a circle.
    #[error("joint {0} hangs on itself")]
    CircleOfJoints(usize),
}

impl Model {
    /// The surface with a tree around it that follows the morph targets (see
    /// [`reference_weights`](Self::reference_weights)), the joints (see [`Skeleton::transforms`]), or positions if
    /// it has neither.
    ///
    /// ```
    /// # use defcol::detect::bvh::{Collider, Split};
    /// let dolphin = defcol_scenes::models::find("dolphin")?.rigged(564)?;
    /// let mut body: Collider<f64> = dolphin.collider(Split::default())?;
    /// // Half way to the first target.
    /// body.set_weights(&dolphin.reference_weights(&[0.5, 0.0])?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn collider<V: BoundingVolume<f64>, const A: usize>(
        &self,
        split: Split,
    ) -> Result<Collider<f64, V, A>, RigError> {
        let follows = !self.morph_targets.is_empty() || self.skeleton.is_some();
        if follows && !self.mesh.tetrahedra.is_empty() {
            return Err(RigError::Solid);
        }
        let mesh = TriangleMesh::new(self.surface()?)?;
        if self.morph_targets.is_empty() {
            let Some(skeleton) = &self.skeleton else {
                return Ok(Collider::deforming(&mesh, split));
            };
            let bindings: Vec<Binding<f64>> = skeleton
                .bindings
                .iter()
                .map(|own| Binding { joints: own.joints, weights: own.weights.map(f64::from) })
                .collect();
            return Ok(Collider::skinned(&mesh, &bindings, skeleton.joints.len(), split)?);
        }
        if self.skeleton.is_some() {
            return Err(RigError::TargetsAndJoints);
        }
        let mut references = vec![mesh.positions().to_vec()];
        for targets in self.targets_that_go_together() {
            let mut pose = mesh.positions().to_vec();
            for target in targets.iter().map(|&target| &self.morph_targets[target]) {
                let own = pose.iter_mut().skip(target.first_vertex as usize);
                own.zip(&target.displacements).for_each(|(p, displacement)| *p += displacement);
            }
            references.push(pose);
        }
        Ok(Collider::morphing(&mesh, &references, 0, split)?)
    }

    /// Files keep a target of a mesh apart for each part of it: those with one name and one place among the targets of
    /// their part have one weight.
    fn targets_that_go_together(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<((&str, usize), Vec<usize>)> = Vec::new();
        for (number, target) in self.morph_targets.iter().enumerate() {
            let before = &self.morph_targets[..number];
            let place = before.iter().filter(|o| o.first_vertex == target.first_vertex).count();
            let name = (target.name.as_str(), place);
            match groups.iter_mut().find(|(other, _)| *other == name) {
                Some((_, group)) => group.push(number),
                None => groups.push((name, vec![number])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// The weights of the reference meshes of [`collider`](Self::collider): first that of the surface itself, which is
    /// what those of the targets leave. They must be as many as there are targets (of which those of one name in several
    /// parts of a mesh are one), none negative, with a sum of 1 at the most.
    pub fn reference_weights(&self, targets: &[f64]) -> Result<Vec<f64>, DetectError> {
        let expected = self.targets_that_go_together().len();
        let problem = |found: String| DetectError::TargetWeights { targets: expected, found };
        if targets.len() != expected {
            return Err(problem(format!("{} were given", targets.len())));
        }
        if let Some(bad) = targets.iter().position(|weight| weight.is_nan() || *weight < 0.0) {
            return Err(problem(format!("weight {bad} is {}", targets[bad])));
        }
        let sum: f64 = targets.iter().sum();
        if sum > 1.0 + 1e-9 {
            return Err(problem(format!("their sum is {sum}")));
        }
        Ok(std::iter::once((1.0 - sum).max(0.0)).chain(targets.iter().copied()).collect())
    }
}

impl Skeleton {
    /// For each joint the map from the pose in which the mesh was bound to the pose of the file.
    pub fn transforms(&self) -> Result<Vec<JointTransform<f64>>, RigError> {
        (0..self.joints.len())
            .map(|joint| {
                let own = self.world(joint)? * self.joints[joint].inverse_bind;
                let matrix = own.fixed_view::<3, 3>(0, 0).into_owned();
                Ok((matrix, own.fixed_view::<3, 1>(0, 3).into_owned()))
            })
            .collect()
    }

    /// From a joint to the world.
    fn world(&self, joint: usize) -> Result<Matrix4<f64>, RigError> {
        let mut world = self.joints[joint].local;
        let mut above = self.joints[joint].parent;
        for _ in 0..self.joints.len() {
            let Some(parent) = above.and_then(|parent| self.joints.get(parent as usize)) else {
                return Ok(world);
            };
            world = parent.local * world;
            above = parent.parent;
        }
        Err(RigError::CircleOfJoints(joint))
    }
}
