//! Trees of bounding volumes find what brute force finds, whatever the volumes, the arity and the update.

use crate::support::scenes::{KINDS, Kind, Random, Scene, scene, surface};
use defcol::detect::brute::{BruteForce, triangle_pairs, triangle_pairs_within};
use defcol::detect::bvh::{
    Binding, BoundingBox, BoundingVolume, Collider, Dop14, Dop18, Dop26, FrontTracker, Group,
    PairFinder, Placement, Sphere, Split, TreeDetector, Update,
};
use defcol::detect::{Detector, Hits, Questions, SelfPairs};
use defcol::error::DetectError;
use defcol::math::{Matrix3, Real, Vector3, sin_cos};
use defcol::mesh::{RawMesh, TriangleMesh};
use defcol_scenes::dolphin::dolphin;
use defcol_scenes::regular;

/// A rotation about a random axis, and a small shift.
fn placement<R: Real>(random: &mut Random, shift: f64) -> Placement<R> {
    let axis = random.vector().normalize();
    let (sin, cos) = sin_cos(6.0 * random.unit());
    let cross = Matrix3::new(0.0, -axis.z, axis.y, axis.z, 0.0, -axis.x, -axis.y, axis.x, 0.0);
    let rotation = Matrix3::identity() + cross * sin + cross * cross * (1.0 - cos);
    let translation = random.vector() * shift;
    Placement::new(rotation.map(R::nearest), translation.map(R::nearest)).unwrap()
}

/// The world positions that a collider works with.
fn world<R: Real, V: BoundingVolume<R>, const A: usize>(
    body: &mut Collider<R, V, A>,
    vertices: usize,
) -> Vec<Vector3<R>> {
    (0..vertices as u32).map(|vertex| body.position(vertex)).collect()
}

/// Compares everything that can be found with brute force; returns how much that is.
fn compare<R: Real, V: BoundingVolume<R>, const A: usize>(
    first: &mut Collider<R, V, A>,
    second: &mut Collider<R, V, A>,
    meshes: [&TriangleMesh<R>; 2],
    what: &str,
) -> usize {
    let (mut finder, mut pairs, mut own) =
        (PairFinder::default(), Vec::new(), SelfPairs::default());
    // Before brute force asks for all vertices: what is not needed stays unknown.
    let found = finder.first(first, second);
    finder.all(first, second, &mut pairs);
    let positions =
        [world(first, meshes[0].positions().len()), world(second, meshes[1].positions().len())];
    let triangles = meshes.map(TriangleMesh::triangles);
    let expected = triangle_pairs((&positions[0], triangles[0]), (&positions[1], triangles[1]));
    assert_eq!(pairs, expected, "{what}");
    assert_eq!(found.is_some(), !expected.is_empty(), "{what}");
    assert!(found.is_none_or(|pair| expected.contains(&pair)), "{what}");
    finder.self_pairs(first, &mut own);
    assert_eq!(own, triangle_pairs_within((&positions[0], triangles[0])), "{what}");
    first.validate().unwrap();
    expected.len() + own.apart.len() + own.sharing.len()
}

/// Deforming bodies: built for one pose, used in others.
fn deforming<R: Real, V: BoundingVolume<R>, const A: usize>(kind: Kind, seed: u64) -> usize {
    let mut random = Random(seed);
    let meshes = [(); 2].map(|()| surface::<R>(kind, &mut random, 40));
    let mut count = 0;
    for split in [Split::Middle, Split::SurfaceArea] {
        let [mut first, mut second] =
            meshes.each_ref().map(|mesh| Collider::<R, V, A>::deforming(mesh, split));
        for update in [Update::Full, Update::Hybrid] {
            for (mesh, body) in meshes.iter().zip([&mut first, &mut second]) {
                let moved: Vec<_> = mesh
                    .positions()
                    .iter()
                    .map(|p| p + (random.vector() * 0.1).map(R::nearest))
                    .collect();
                // On a lattice it stays: there they touch.
                let moved = if kind == Kind::Lattice { mesh.positions() } else { &moved };
                body.set_positions(moved, update).unwrap();
            }
            let what = format!("{kind:?} {seed} {split:?} {update:?} {A}");
            count += compare(&mut first, &mut second, meshes.each_ref(), &what);
        }
        if kind != Kind::Far {
            first.set_placement(placement(&mut random, 0.5)).unwrap();
            second.set_placement(placement(&mut random, 0.5)).unwrap();
            compare(
                &mut first,
                &mut second,
                meshes.each_ref(),
                &format!("placed {kind:?} {seed} {A}"),
            );
        }
    }
    count
}

/// Runs a generic function for all volumes and arities.
macro_rules! for_all_trees {
    ($run:ident, $number:ty $(, $argument:expr)*) => {
        0 + $run::<$number, BoundingBox<$number>, 2>($($argument),*)
        + $run::<$number, BoundingBox<$number>, 4>($($argument),*)
        + $run::<$number, BoundingBox<$number>, 8>($($argument),*)
        + $run::<$number, Dop14<$number>, 2>($($argument),*)
        + $run::<$number, Dop18<$number>, 4>($($argument),*)
        + $run::<$number, Dop26<$number>, 8>($($argument),*)
        + $run::<$number, Dop14<$number>, 8>($($argument),*)
        + $run::<$number, Dop18<$number>, 8>($($argument),*)
        + $run::<$number, Sphere<$number>, 2>($($argument),*)
        + $run::<$number, Sphere<$number>, 4>($($argument),*)
        + $run::<$number, Sphere<$number>, 8>($($argument),*)
    };
}

/// The same for a few of them: each costs seconds to compile.
macro_rules! for_some_trees {
    ($run:ident, $number:ty $(, $argument:expr)*) => {
        $run::<$number, BoundingBox<$number>, 8>($($argument),*)
            + $run::<$number, Dop18<$number>, 4>($($argument),*)
            + $run::<$number, Sphere<$number>, 8>($($argument),*)
    };
}

#[test]
fn deforming_bodies_agree_with_brute_force() {
    for kind in KINDS {
        let mut count = 0;
        for seed in 0..6 {
            count += for_all_trees!(deforming, f64, kind, seed);
            count += for_some_trees!(deforming, f32, kind, seed);
        }
        assert!(count > 1000, "{kind:?} {count}");
    }
}

/// Three shapes of one surface, with folds that cross.
fn poses(random: &mut Random, mesh: &RawMesh<f64>) -> Vec<Vec<Vector3<f64>>> {
    (0..3)
        .map(|_| {
            let (wave, phase) = (random.vector() * 3.0, 6.0 * random.unit());
            let bend = random.vector() * 0.6;
            let shape = |p: &Vector3<f64>| p + bend * sin_cos(wave.dot(p) + phase).0;
            mesh.positions.iter().map(shape).collect()
        })
        .collect()
}

/// Weights that are not negative and have the sum 1; some are zero.
fn weights<R: Real>(random: &mut Random, count: usize) -> Vec<R> {
    let active = 1 + random.below(count);
    let first = random.below(count);
    let mut all = vec![0.0; count];
    (0..active).for_each(|k| all[(first + k) % count] = random.unit() + 1e-3);
    let sum: f64 = all.iter().sum();
    all.into_iter().map(|weight| R::nearest(weight / sum)).collect()
}

fn morphing<R: Real, V: BoundingVolume<R>, const A: usize>(seed: u64, between: usize) -> usize {
    let mut random = Random(seed);
    let raw = regular::icosphere(1.0, 1);
    let mesh = TriangleMesh::new(raw.clone().cast::<R>()).unwrap();
    let split = [Split::Middle, Split::SurfaceArea][random.below(2)];
    let [mut first, mut second] = [(); 2].map(|()| {
        let poses: Vec<Vec<_>> = poses(&mut random, &raw)
            .into_iter()
            .map(|pose| pose.into_iter().map(|p| p.map(R::nearest)).collect())
            .collect();
        Collider::<R, V, A>::morphing(&mesh, &poses, between, split).unwrap()
    });
    let mut count = 0;
    for frame in 0..4 {
        first.set_weights(&weights::<R>(&mut random, 3)).unwrap();
        second.set_weights(&weights::<R>(&mut random, 3)).unwrap();
        if frame > 1 {
            second.set_placement(placement(&mut random, 2.0)).unwrap();
        }
        let what = format!("{seed} {between} {split:?} frame {frame}");
        count += compare(&mut first, &mut second, [&mesh; 2], &what);
    }
    count
}

#[test]
fn morphing_bodies_agree_with_brute_force() {
    let mut count = 0;
    for seed in 0..4 {
        for between in [0, 1, 3] {
            count += for_all_trees!(morphing, f64, seed, between);
            count += for_some_trees!(morphing, f32, seed, between);
        }
    }
    assert!(count > 10_000, "{count}");
}

fn skinned<R: Real, V: BoundingVolume<R>, const A: usize>(seed: u64) -> usize {
    let mut random = Random(seed);
    let raw = regular::icosphere(1.0, 1);
    let mesh = TriangleMesh::new(raw.clone().cast::<R>()).unwrap();
    let joints = 5;
    let [mut first, mut second] = [(); 2].map(|()| {
        let bindings: Vec<Binding<R>> = (0..raw.positions.len())
            .map(|_| {
                let mut binding = Binding::default();
                for k in 0..random.below(5) {
                    binding.joints[k] = random.below(joints) as u32;
                    binding.weights[k] = R::nearest(random.unit());
                }
                binding
            })
            .collect();
        Collider::<R, V, A>::skinned(&mesh, &bindings, joints, Split::default()).unwrap()
    });
    let mut count = compare(&mut first, &mut second, [&mesh; 2], "bound");
    for frame in 0..3 {
        for body in [&mut first, &mut second] {
            let moved: Vec<_> = (0..joints)
                .map(|_| {
                    let place = placement::<R>(&mut random, 0.7);
                    let origin = place.apply(Vector3::zeros());
                    let columns = [Vector3::x(), Vector3::y(), Vector3::z()]
                        .map(|axis| place.apply(axis) - origin);
                    (Matrix3::from_columns(&columns), origin)
                })
                .collect();
            body.set_joints(&moved).unwrap();
        }
        count += compare(&mut first, &mut second, [&mesh; 2], &format!("{seed} frame {frame}"));
    }
    count
}

#[test]
fn skinned_bodies_agree_with_brute_force() {
    let mut count = 0;
    for seed in 0..3 {
        count += for_all_trees!(skinned, f64, seed);
        count += for_some_trees!(skinned, f32, seed);
    }
    assert!(count > 10_000, "{count}");
}

/// Closed surfaces, smooth and crumpled: the stars of most vertices are flat, of some not.
#[test]
fn crumpled_surfaces_agree_with_brute_force_about_themselves() {
    let mut random = Random(3);
    let (mut finder, mut pairs) = (PairFinder::<f64>::default(), SelfPairs::default());
    let mut counts = [0; 2];
    for (raw, folds) in [
        (regular::icosphere(1.0, 2), 0.5),
        (regular::torus(1.0, 0.4, 24, 12), 0.4),
        (dolphin(0, 0), 0.5),
        (regular::icosphere(1.0, 0), 1.5),
        (regular::icosphere(1.0, 1), 1.5),
    ] {
        let mesh = TriangleMesh::new(raw.clone()).unwrap();
        let mut body = Collider::deforming(&mesh, Split::default());
        for strength in [0.0, 0.3, 1.0] {
            for lattice in [None, Some(2.0), Some(8.0)] {
                let crumpled: Vec<_> = raw
                    .positions
                    .iter()
                    .map(|p| p + random.vector() * (strength * folds * 0.3))
                    .map(|p| lattice.map_or(p, |cells| p.map(|x| (x * cells).round() / cells)))
                    .collect();
                body.set_positions(&crumpled, Update::Hybrid).unwrap();
                finder.self_pairs(&mut body, &mut pairs);
                assert_eq!(pairs, triangle_pairs_within((&crumpled, &raw.triangles)));
                counts[0] += pairs.apart.len();
                counts[1] += pairs.sharing.len();
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 1000), "{counts:?}");
}

/// Weights whose sum is not exactly 1, and vertices that nearly cancel: volumes between references contain them.
#[test]
fn volumes_between_references_have_a_margin() {
    let raw = regular::icosphere(1.0, 1);
    let mesh = TriangleMesh::new(raw.clone()).unwrap();
    let turned: Vec<_> = raw.positions.iter().map(|p| p * -(1.0 + f64::EPSILON)).collect();
    let references = [raw.positions.clone(), turned];
    for between in [1, 2, 5] {
        let mut body: Collider<f64> =
            Collider::morphing(&mesh, &references, between, Split::default()).unwrap();
        let mut round: Collider<f64, Sphere<f64>> =
            Collider::morphing(&mesh, &references, between, Split::default()).unwrap();
        let mut many: Collider<f64, Dop26<f64>> =
            Collider::morphing(&mesh, &references, between, Split::default()).unwrap();
        for weights in [[0.5, 0.5], [0.4995, 0.4995], [0.5004, 0.5004], [1.0 / 3.0, 2.0 / 3.0]] {
            body.set_weights(&weights).unwrap();
            body.validate().unwrap();
            round.set_weights(&weights).unwrap();
            round.validate().unwrap();
            many.set_weights(&weights).unwrap();
            many.validate().unwrap();
        }
    }
}

/// Before joints are set, a skinned mesh is where it was bound, to the last bit.
#[test]
fn a_skinned_body_that_is_not_posed_is_as_it_was_bound() {
    let mesh = TriangleMesh::new(regular::icosphere(1.0, 1)).unwrap();
    let mut random = Random(4);
    let bindings: Vec<_> = (0..mesh.positions().len())
        .map(|_| Binding {
            joints: [0, 1, 0, 1],
            weights: [random.unit(), random.unit(), 0.1, 0.7],
        })
        .collect();
    let mut body: Collider<f64> = Collider::skinned(&mesh, &bindings, 2, Split::default()).unwrap();
    assert_eq!(world(&mut body, mesh.positions().len()), mesh.positions());
    body.validate().unwrap();
}

/// A front that belongs to other trees is not used.
#[test]
fn a_front_notices_other_bodies() {
    let mut front = FrontTracker::default();
    let (mut finder, mut pairs, mut expected) = (PairFinder::<f64>::default(), vec![], vec![]);
    for levels in [2, 1, 2, 0] {
        let mesh = TriangleMesh::new(regular::icosphere(1.0, levels)).unwrap();
        let shifted: Vec<_> =
            mesh.positions().iter().map(|p| p + Vector3::new(0.7, 0.1, 0.2)).collect();
        let [mut first, mut second] = [Split::Middle, Split::SurfaceArea]
            .map(|split| Collider::<f64>::deforming(&mesh, split));
        second.set_positions(&shifted, Update::Full).unwrap();
        finder.all(&mut first, &mut second, &mut expected);
        front.all(&mut first, &mut second, &mut pairs);
        assert!(pairs == expected && !pairs.is_empty());
    }
}

#[test]
fn a_morphing_body_is_brought_up_to_date_only_where_needed() {
    let poses: Vec<_> = (0..3).map(|pose| dolphin(pose, 3).positions).collect();
    let mesh = TriangleMesh::new(dolphin(0, 3)).unwrap();
    let mut one: Collider<f64> = Collider::morphing(&mesh, &poses, 0, Split::Middle).unwrap();
    let mut other = one.clone();
    let mut finder = PairFinder::default();
    let mut shares = [0.0; 2];
    for (share, distance) in shares.iter_mut().zip([0.77, 30.0]) {
        one.set_weights(&[0.4, 0.6, 0.0]).unwrap();
        other.set_weights(&[0.0, 0.5, 0.5]).unwrap();
        let shift = Vector3::new(0.0, 0.0, distance);
        other.set_placement(Placement::new(Matrix3::identity(), shift).unwrap()).unwrap();
        finder.first(&mut one, &mut other);
        *share = one.nodes_up_to_date() as f64 / one.tree().len() as f64;
    }
    assert!(shares[0] < 0.3 && shares[1] < 0.001, "{shares:?}");
}

/// Two bodies that pass each other, bending: the front goes down and starts again, and answers stay the same.
fn tracked<R: Real, V: BoundingVolume<R>, const A: usize>(update: Update) -> usize {
    let raw = dolphin(0, 0);
    let mesh = TriangleMesh::new(raw.clone().cast::<R>()).unwrap();
    let mut bodies = [(); 2].map(|()| Collider::<R, V, A>::deforming(&mesh, Split::default()));
    let (mut finder, mut front) = (PairFinder::default(), FrontTracker::default());
    let (mut pairs, mut expected, mut count) = (Vec::new(), Vec::new(), 0);
    for frame in 0..40 {
        let way = 0.1 * f64::from(frame) - 2.0;
        let [first, second] = &mut bodies;
        for (body, side) in [(&mut *first, 1.0), (&mut *second, -1.0)] {
            let bent = |p: &Vector3<f64>| {
                let up = 0.3 * sin_cos(2.0 * p.x + 4.0 * way * side).0;
                (p + Vector3::new(0.5 * way * side, 0.1 * side, up + 0.2 * way * side))
                    .map(R::nearest)
            };
            let moved: Vec<_> = raw.positions.iter().map(bent).collect();
            body.set_positions(&moved, update).unwrap();
        }
        if frame > 20 {
            let turn = Matrix3::from_columns(&[Vector3::y(), Vector3::x(), -Vector3::z()]);
            second.set_placement(Placement::new(turn, Vector3::zeros()).unwrap()).unwrap();
        }
        finder.all(first, second, &mut expected);
        front.all(first, second, &mut pairs);
        assert_eq!(pairs, expected, "frame {frame}");
        assert!(!front.is_empty());
        count += pairs.len();
    }
    count
}

#[test]
fn a_tracked_front_finds_the_same() {
    assert!(for_some_trees!(tracked, f64, Update::Hybrid) > 1000);
    assert!(for_some_trees!(tracked, f32, Update::Full) > 1000);
}

#[test]
fn wrong_input_is_refused() {
    let mesh = TriangleMesh::new(regular::icosphere(1.0, 0)).unwrap();
    let poses = vec![mesh.positions().to_vec(), mesh.positions().to_vec()];
    let split = Split::default();
    let mut body: Collider<f64> = Collider::deforming(&mesh, split);
    let mut morphing: Collider<f64> = Collider::morphing(&mesh, &poses, 0, split).unwrap();
    let bindings = vec![Binding { joints: [1; 4], weights: [1.0; 4] }; mesh.positions().len()];
    let mut skinned: Collider<f64> = Collider::skinned(&mesh, &bindings, 2, split).unwrap();

    let few = body.set_positions(&mesh.positions()[1..], Update::Full);
    assert_eq!(few, Err(DetectError::PositionCount { positions: 11, vertices: 12 }));
    let mut bad = mesh.positions().to_vec();
    bad[3].y = f64::NAN;
    let nan = body.set_positions(&bad, Update::Hybrid);
    assert!(matches!(nan, Err(DetectError::BadPosition { vertex: 3, .. })), "{nan:?}");
    body.validate().unwrap();

    for weights in [&[1.0][..], &[0.5, 0.4], &[1.5, -0.5], &[f64::NAN, 1.0], &[f64::INFINITY, 0.0]]
    {
        let result = morphing.set_weights(weights);
        assert!(matches!(result, Err(DetectError::Weights { .. })), "{weights:?} {result:?}");
    }
    let short = vec![mesh.positions().to_vec(), vec![]];
    assert!(Collider::<f64>::morphing(&mesh, &short, 0, split).is_err());
    assert!(Collider::<f64>::morphing(&mesh, &[], 0, split).is_err());
    assert!(matches!(body.set_weights(&[1.0]), Err(DetectError::OtherKind { .. })));
    assert!(matches!(morphing.set_joints(&[]), Err(DetectError::OtherKind { .. })));
    let positions = skinned.set_positions(mesh.positions(), Update::Full);
    assert!(matches!(positions, Err(DetectError::OtherKind { .. })));

    let still = (Matrix3::identity(), Vector3::zeros());
    assert!(matches!(skinned.set_joints(&[still]), Err(DetectError::Count { .. })));
    let away = (Matrix3::identity(), Vector3::new(f64::INFINITY, 0.0, 0.0));
    assert_eq!(skinned.set_joints(&[still, away]), Err(DetectError::BadJoint(1)));
    let joint = Collider::<f64>::skinned(&mesh, &bindings, 1, split).err();
    assert_eq!(joint, Some(DetectError::NoSuchJoint { vertex: 0, joint: 1, joints: 1 }));
    assert!(Collider::<f64>::skinned(&mesh, &bindings[1..], 2, split).is_err());
    let negative = vec![Binding { joints: [0; 4], weights: [-1.0; 4] }; mesh.positions().len()];
    assert!(Collider::<f64>::skinned(&mesh, &negative, 2, split).is_err());

    // A number that is not one, anywhere.
    for place in 0..12 {
        let mut joint = still;
        if place < 9 {
            joint.0[place] = f64::NAN
        } else {
            joint.1[place - 9] = f64::NAN
        }
        assert_eq!(skinned.set_joints(&[joint, still]), Err(DetectError::BadJoint(0)), "{place}");
    }

    // Far away, and much larger.
    let huge = Placement::new(Matrix3::identity() * 1e59, Vector3::zeros()).unwrap();
    assert!(body.set_placement(huge).is_ok());
    let larger: Vec<_> = mesh.positions().iter().map(|p| p * 100.0).collect();
    let result = body.set_positions(&larger, Update::Full);
    assert!(matches!(result, Err(DetectError::PlacedTooFar { .. })), "{result:?}");
    let away = Placement::new(Matrix3::identity() * 1e60, Vector3::repeat(5e59)).unwrap();
    assert!(matches!(body.set_placement(away), Err(DetectError::PlacedTooFar { .. })));
    for scale in 1..100 {
        let matrix = Matrix3::identity() * f64::from(scale);
        assert!(Placement::new(matrix, Vector3::zeros()).is_ok(), "{scale}");
    }

    let flat = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 0.0));
    for matrix in [flat, Matrix3::zeros(), Matrix3::repeat(f64::NAN), flat.add_scalar(1e-9)] {
        assert!(Placement::new(matrix, Vector3::zeros()).is_err(), "{matrix}");
    }
    assert!(Placement::new(Matrix3::identity(), Vector3::repeat(f64::INFINITY)).is_err());
}

/// Counts checks of blended vertices against the volumes they must be in.
fn containment<R: Real, V: BoundingVolume<R>, const A: usize>(seed: u64, wanted: usize) -> usize {
    let mut random = Random(seed);
    let mut checks = 0;
    while checks < wanted {
        let raw = dolphin(0, 1);
        let mesh = TriangleMesh::new(raw.clone().cast::<R>()).unwrap();
        let scale = 10f64.powf(6.0 * random.unit() - 3.0);
        let far = random.vector() * (random.unit() * 100.0 * scale);
        let mut references: Vec<Vec<Vector3<R>>> = vec![];
        for _ in 0..2 + random.below(2) {
            for pose in poses(&mut random, &raw) {
                references
                    .push(pose.into_iter().map(|p| (p * scale + far).map(R::nearest)).collect());
            }
        }
        let between = random.below(3);
        let split = [Split::Middle, Split::SurfaceArea][random.below(2)];
        let mut body = Collider::<R, V, A>::morphing(&mesh, &references, between, split).unwrap();
        for _ in 0..10 {
            body.set_weights(&weights::<R>(&mut random, references.len())).unwrap();
            checks += body.validate().unwrap();
        }
    }
    checks
}

#[test]
fn the_detector_agrees_with_brute_force() {
    let (mut trees, mut hits) = (TreeDetector::<f64>::default(), Hits::default());
    let mut counts = [0; 2];
    for kind in KINDS {
        for seed in 0..20 {
            let Scene { bodies, mut positions } = scene::<f64>(kind, seed, 30);
            let mut expected = Hits::default();
            for shift in [0.0, 0.25] {
                positions.iter_mut().step_by(3).for_each(|p| p.x += shift);
                let all = Questions::default();
                trees.detect(&bodies, &positions, all, &mut hits).unwrap();
                BruteForce.detect(&bodies, &positions, all, &mut expected).unwrap();
                assert_eq!(hits, expected, "{kind:?} {seed} {shift}");
                counts[0] += hits.points.len();
                counts[1] += hits.edges.len();
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 1000), "{counts:?}");
}

/// Many bodies: what is found is that of each pair, for any number of threads.
#[test]
fn a_group_finds_the_same_on_any_number_of_threads() {
    let poses: Vec<Vec<_>> = (0..3).map(|pose| dolphin(pose, 1).cast::<f32>().positions).collect();
    let mesh = TriangleMesh::new(dolphin(0, 1).cast::<f32>()).unwrap();
    let one: Collider<f32> = Collider::morphing(&mesh, &poses, 0, Split::default()).unwrap();
    let mut results = Vec::new();
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| {
            let mut random = Random(8);
            let mut group = Group::new(vec![one.clone(); 9]);
            let mut found = Vec::new();
            for _ in 0..3 {
                for body in group.bodies() {
                    body.set_weights(&weights::<f32>(&mut random, 3)).unwrap();
                    body.set_placement(placement(&mut random, 1.5)).unwrap();
                }
                let mut apart: Vec<_> = group.bodies().map(|body| body.clone()).collect();
                let all: Vec<_> = group.all().map(|(pair, list)| (pair, list.to_vec())).collect();
                let touching: Vec<_> = group.first().map(|(pair, _)| pair).collect();
                assert!(all.iter().map(|(pair, _)| *pair).eq(touching));
                let (mut finder, mut pairs) = (PairFinder::default(), Vec::new());
                let mut expected = Vec::new();
                for a in 0..9 {
                    for b in a + 1..9 {
                        let [first, second] = apart.get_disjoint_mut([a, b]).unwrap();
                        finder.all(first, second, &mut pairs);
                        if !pairs.is_empty() {
                            expected.push(([a as u32, b as u32], pairs.clone()));
                        }
                    }
                }
                assert_eq!(all, expected);
                found.push(all);
            }
            found
        });
        results.push(found);
    }
    assert!(
        results.iter().all(|found| *found == results[0] && found.iter().all(|f| !f.is_empty()))
    );
}

/// A part of the next one that does not take long.
#[test]
fn blended_volumes_contain_blended_vertices() {
    assert!(for_some_trees!(containment, f32, 1, 400_000) > 1_000_000);
    assert!(for_all_trees!(containment, f64, 2, 100_000) > 1_000_000);
}

/// `cargo test --release -p defcol --test main detect::bvh:: -- --ignored blended`
#[test]
#[ignore = "takes a minute: a hundred million checks"]
fn blended_volumes_contain_blended_vertices_in_a_hundred_million_checks() {
    let mut checks = for_some_trees!(containment, f32, 3, 17_000_000);
    checks += for_all_trees!(containment, f64, 4, 5_000_000);
    assert!(checks >= 100_000_000, "{checks}");
    println!("{checks} checks");
}
