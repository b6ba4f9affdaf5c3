//! A GLB with morph targets or joints becomes a body that follows them.
use defcol::detect::brute::triangle_pairs;
use defcol::detect::bvh::{Collider, PairFinder, Split};
use defcol::error::DetectError;
use defcol::math::Vector3;
use defcol_io::{Binding, Format, Joint, Model, Progress, Skeleton, encode, parse};
use defcol_query::{RigError, bvh_mesh, joint_transforms, reference_weights};
use defcol_scenes::models;
use nalgebra::Matrix4;

/// Writes a model as GLB and reads it again.
fn through_glb(model: &Model) -> Model {
    let mut bytes = Vec::new();
    encode(&mut bytes, model, Format::Glb, &Default::default(), &Progress::new()).unwrap();
    parse(&bytes, Format::Glb, None, &Progress::new()).unwrap()
}

fn positions(body: &mut Collider<f64>, model: &Model) -> Vec<Vector3<f64>> {
    (0..model.mesh.positions.len() as u32).map(|vertex| body.position(vertex)).collect()
}

#[test]
fn a_dolphin_follows_its_targets() {
    let model = through_glb(&models::find("dolphin").unwrap().rigged(564).unwrap());
    assert_eq!(model.morph_targets.len(), 2);
    let mut one: Collider<f64> = bvh_mesh(&model, Split::default()).unwrap();
    let mut other = one.clone();
    one.set_weights(&reference_weights(&model, &[0.25, 0.5]).unwrap()).unwrap();
    other.set_weights(&reference_weights(&model, &[0.0, 0.0]).unwrap()).unwrap();
    let mut pairs = Vec::new();
    PairFinder::default().all(&mut one, &mut other, &mut pairs);

    let rest = &model.mesh.positions;
    let bent: Vec<Vector3<f64>> = (0..rest.len())
        .map(|k| {
            let [up, down] =
                [0, 1].map(|target: usize| model.morph_targets[target].displacements[k]);
            rest[k] + up * 0.25 + down * 0.5
        })
        .collect();
    let found = positions(&mut one, &model);
    assert!(found.iter().zip(&bent).all(|(a, b)| (a - b).amax() < 1e-12));
    let triangles = &model.mesh.triangles;
    assert_eq!(pairs, triangle_pairs((&found, triangles), (rest, triangles)));
    assert!(!pairs.is_empty());
}

#[test]
fn an_octopus_follows_its_joints() {
    let model = through_glb(&models::find("octopus").unwrap().rigged(2000).unwrap());
    let mut body: Collider<f64> = bvh_mesh(&model, Split::default()).unwrap();
    let skeleton = model.skeleton.as_ref().unwrap();
    // In the pose in which it was bound nothing moves.
    body.set_joints(&joint_transforms(skeleton).unwrap()).unwrap();
    let still = positions(&mut body, &model);
    assert!(still.iter().zip(&model.mesh.positions).all(|(a, b)| (a - b).amax() < 1e-5));

    // One joint that hangs on no other is lifted, and all that follow it.
    let mut lifted = skeleton.clone();
    let root = lifted.joints.iter().position(|joint| joint.parent.is_none()).unwrap();
    lifted.joints[root].local =
        Matrix4::new_translation(&Vector3::new(0.0, 0.0, 2.0)) * lifted.joints[root].local;
    body.set_joints(&joint_transforms(&lifted).unwrap()).unwrap();
    body.validate().unwrap();
    let moved = positions(&mut body, &model);
    let most = moved.iter().zip(&still).map(|(a, b)| (a - b).z).fold(0.0, f64::max);
    assert!((most - 2.0).abs() < 1e-5, "{most}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let dolphin = models::find("dolphin").unwrap().rigged(564).unwrap();
    for weights in [&[0.5][..], &[0.7, 0.4], &[-0.1, 0.5], &[f64::NAN, 0.0]] {
        let result = reference_weights(&dolphin, weights);
        assert!(matches!(result, Err(DetectError::TargetWeights { .. })), "{result:?}");
    }
    let joint = |parent| Joint {
        name: String::new(),
        parent: Some(parent),
        local: Matrix4::identity(),
        inverse_bind: Matrix4::identity(),
    };
    let bindings = vec![Binding::default(); dolphin.mesh.positions.len()];
    let circle = Skeleton { joints: vec![joint(1), joint(0)], bindings };
    assert_eq!(joint_transforms(&circle).err(), Some(RigError::CircleOfJoints(0)));
    let both = Model { skeleton: Some(circle), ..dolphin };
    let error = bvh_mesh::<defcol::detect::bvh::BoundingBox<f64>, 8>(&both, Split::default()).err();
    assert_eq!(error, Some(RigError::TargetsAndJoints));
}

/// One target of a mesh in two parts is one target.
#[test]
fn targets_of_several_parts_go_together() {
    let mut model = models::find("dolphin").unwrap().rigged(564).unwrap();
    let half = model.mesh.positions.len() / 2;
    let parts: Vec<_> = model
        .morph_targets
        .iter()
        .flat_map(|target| {
            let mut first = target.clone();
            let mut second = target.clone();
            second.displacements = first.displacements.split_off(half);
            second.first_vertex = half as u32;
            [first, second]
        })
        .collect();
    let mut whole: Collider<f64> = bvh_mesh(&model, Split::default()).unwrap();
    whole.set_weights(&reference_weights(&model, &[0.4, 0.6]).unwrap()).unwrap();
    let expected = positions(&mut whole, &model);
    model.morph_targets = parts;
    let mut body: Collider<f64> = bvh_mesh(&model, Split::default()).unwrap();
    body.set_weights(&reference_weights(&model, &[0.4, 0.6]).unwrap()).unwrap();
    assert_eq!(positions(&mut body, &model), expected);
}
