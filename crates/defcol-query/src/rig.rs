//! Bounding-volume hierarchies that follow the morph targets or joints of a model.

use defcol::detect::bvh::{Binding, BoundingVolume, Collider, JointTransform, Split};
use defcol::error::{DetectError, MeshError};
use defcol::mesh::TriangleMesh;
use nalgebra::Matrix4;

use defcol_io::{Model, Skeleton};

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
    /// A joint is its own ancestor.
    #[error("joint {0} hangs on itself")]
    CircleOfJoints(usize),
}

/// The surface of a model with a bounding-volume hierarchy that follows its morph targets (see [`reference_weights`]), its
/// joints (see [`joint_transforms`]), or positions if it has neither.
///
/// ```
/// # use defcol::detect::bvh::{Collider, Split};
/// let dolphin = defcol_scenes::models::find("dolphin")?.rigged(564)?;
/// let mut body: Collider<f64> = defcol_query::bvh_mesh(&dolphin, Split::default())?;
/// // Half way to the first target.
/// body.set_weights(&defcol_query::reference_weights(&dolphin, &[0.5, 0.0])?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the surface is no valid mesh, the model has both morph targets and joints, or it has either and tetrahedra.
pub fn bvh_mesh<V: BoundingVolume<f64>, const A: usize>(
    model: &Model,
    split: Split,
) -> Result<Collider<f64, V, A>, RigError> {
    let follows = !model.morph_targets.is_empty() || model.skeleton.is_some();
    if follows && !model.mesh.tetrahedra.is_empty() {
        return Err(RigError::Solid);
    }
    let mesh = TriangleMesh::new(model.surface()?)?;
    if model.morph_targets.is_empty() {
        let Some(skeleton) = &model.skeleton else {
            return Ok(Collider::deforming(&mesh, split));
        };
        let bindings: Vec<Binding<f64>> = skeleton
            .bindings
            .iter()
            .map(|own| Binding { joints: own.joints, weights: own.weights.map(f64::from) })
            .collect();
        return Ok(Collider::skinned(&mesh, &bindings, skeleton.joints.len(), split)?);
    }
    if model.skeleton.is_some() {
        return Err(RigError::TargetsAndJoints);
    }
    let mut references = vec![mesh.positions().to_vec()];
    for targets in grouped_targets(model) {
        let mut pose = mesh.positions().to_vec();
        for target in targets.iter().map(|&target| &model.morph_targets[target]) {
            let moved = pose.iter_mut().skip(target.first_vertex as usize);
            moved.zip(&target.displacements).for_each(|(p, displacement)| *p += displacement);
        }
        references.push(pose);
    }
    Ok(Collider::morphing(&mesh, &references, 0, split)?)
}

/// Groups of morph targets that share one weight. Files store a target of a mesh separately for each of its parts: those of
/// the same name and the same position among the targets of their part belong together.
fn grouped_targets(model: &Model) -> Vec<Vec<usize>> {
    let mut groups: Vec<((&str, usize), Vec<usize>)> = Vec::new();
    for (number, target) in model.morph_targets.iter().enumerate() {
        let before = &model.morph_targets[..number];
        let index = before.iter().filter(|o| o.first_vertex == target.first_vertex).count();
        let name = (target.name.as_str(), index);
        match groups.iter_mut().find(|(other, _)| *other == name) {
            Some((_, group)) => group.push(number),
            None => groups.push((name, vec![number])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Weights of the reference meshes of [`bvh_mesh`] from the weights of the morph targets: first the weight of the undeformed
/// surface, which is 1 minus the sum of the others.
///
/// # Errors
/// Unless there is one weight per target (targets of the same name in several parts count once), all are at least 0 and
/// their sum is at most 1.
pub fn reference_weights(model: &Model, targets: &[f64]) -> Result<Vec<f64>, DetectError> {
    let expected = grouped_targets(model).len();
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

/// For each joint the transform from the bind pose to the pose of the file.
///
/// # Errors
/// If joints are parents of each other in a cycle.
pub fn joint_transforms(skeleton: &Skeleton) -> Result<Vec<JointTransform<f64>>, RigError> {
    (0..skeleton.joints.len())
        .map(|joint| {
            let transform =
                global_transform(skeleton, joint)? * skeleton.joints[joint].inverse_bind;
            let matrix = transform.fixed_view::<3, 3>(0, 0).into_owned();
            Ok((matrix, transform.fixed_view::<3, 1>(0, 3).into_owned()))
        })
        .collect()
}

/// The transform from a joint to world coordinates.
fn global_transform(skeleton: &Skeleton, joint: usize) -> Result<Matrix4<f64>, RigError> {
    let mut world = skeleton.joints[joint].local;
    let mut above = skeleton.joints[joint].parent;
    for _ in 0..skeleton.joints.len() {
        let Some(parent) = above.and_then(|parent| skeleton.joints.get(parent as usize)) else {
            return Ok(world);
        };
        world = parent.local * world;
        above = parent.parent;
    }
    Err(RigError::CircleOfJoints(joint))
}
