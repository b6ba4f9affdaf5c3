//! Every model is sound, has the size that was asked for, and can be filled.

use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TetMesh, inspect};
use defcol_meshing::{DIHEDRAL_BOUNDS, Shape, Stuffing, Target, dihedral_range, surface_mesh};
use defcol_scenes::characters;
use defcol_scenes::dolphin::dolphin;
use defcol_scenes::models::{MODELS, ModelError, THESIS_SOLIDS, find};

fn assert_sound(name: &str, mesh: &RawMesh<f64>) -> f64 {
    let facts = inspect(mesh);
    assert!(facts.closed && facts.oriented, "{name}");
    assert_eq!(facts.defects, [], "{name}");
    assert_eq!(inspect(&mesh.cast::<f32>()).defects, [], "{name} in single precision");
    facts.volume.unwrap()
}

fn assert_well_shaped(name: &str, mesh: &RawMesh<f64>) {
    let [low, high] = dihedral_range(mesh);
    let [least, most] = DIHEDRAL_BOUNDS;
    assert!(low >= least && high <= most, "{name}: {low} to {high} degrees");
}

#[test]
fn every_model_is_sound_and_of_its_size() {
    // Every third in the dev profile; the release tests of `cargo xtask ci` build all of them.
    for model in MODELS.iter().step_by(if cfg!(debug_assertions) { 3 } else { 1 }) {
        let mesh = model.surface(model.triangles).unwrap();
        assert_sound(model.name, &mesh);
        let off = mesh.triangles.len() as f64 / model.triangles as f64 - 1.0;
        assert!(off.abs() <= 0.05, "{}: {} triangles", model.name, mesh.triangles.len());
    }
    let wanted = if cfg!(debug_assertions) { 30_000 } else { 150_000 };
    let dragon = find("dragon").unwrap().surface(wanted).unwrap();
    assert_sound("dragon", &dragon);
    assert!((wanted * 95 / 100..=wanted * 105 / 100).contains(&dragon.triangles.len()));
    assert!(matches!(find("unicorn"), Err(ModelError::Unknown { .. })));
}

#[test]
fn every_shape_can_be_filled() {
    // Every fourth in the dev profile; the release tests of `cargo xtask ci` fill all of them.
    for model in MODELS.iter().step_by(if cfg!(debug_assertions) { 4 } else { 1 }) {
        let Ok(shape) = model.shape() else { continue };
        let extent = shape.bounds().extent().max();
        let fine = surface_mesh(&shape, extent / 100.0).unwrap();
        let surface = assert_sound(model.name, &fine);
        // Thin parts need a finer lattice for their volume.
        let is_thin = ["reptile", "dragon", "rings", "worn-hat"].contains(&model.name);
        let spacing = extent / if is_thin { 90.0 } else { 50.0 };
        for stuffing in [Stuffing::uniform(spacing), Stuffing::graded(spacing)] {
            let solid = stuffing.fill(&shape).unwrap();
            let volume = assert_sound(model.name, &solid);
            assert_well_shaped(model.name, &solid);
            let off = volume / surface - 1.0;
            assert!(off.abs() < 0.02, "{}: {off}", model.name);
            if is_thin {
                break;
            }
        }
    }
}

#[test]
fn graded_inside_is_coarser_and_fills_the_same_space() {
    let ball = Shape::sphere([0.0; 3], 1.0);
    let uniform = Stuffing::uniform(0.05).fill(&ball).unwrap();
    let graded = Stuffing::graded(0.05).fill(&ball).unwrap();
    assert!(graded.tetrahedra.len() * 3 < uniform.tetrahedra.len() * 2);
    let volume = |mesh: &RawMesh<f64>| assert_sound("ball", mesh);
    assert!((volume(&uniform) / volume(&graded) - 1.0).abs() < 1e-9);
    // No gaps and no overlaps inside: the tetrahedra sum up to what their surface encloses.
    let sum: f64 = graded
        .tetrahedra
        .iter()
        .map(|corners| {
            let [a, b, c, d] = corners.map(|vertex| graded.positions[vertex as usize]);
            (b - a).dot(&(c - a).cross(&(d - a))) / 6.0
        })
        .sum();
    assert!((sum / volume(&graded) - 1.0).abs() < 1e-9);
    assert_well_shaped("ball", &graded);
}

#[test]
fn two_hundred_random_shapes_are_filled_within_the_bounds() {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    for index in 0..200 {
        let mut point = || [random() * 2.0 - 1.0, random() * 2.0 - 1.0, random() * 2.0 - 1.0];
        let mut shape = Shape::sphere(point(), 0.5);
        for part in 0..4 {
            let (a, b) = (point(), point());
            let other = match (index + part) % 4 {
                0 => Shape::capsule([a, b], 0.2),
                1 => Shape::block(a, [0.3, 0.5, 0.25], 0.05),
                2 => Shape::ring(a, part % 3, 0.5, 0.18),
                _ => Shape::ellipsoid(a, [0.5, 0.3, 0.4]),
            };
            shape = match part {
                3 => shape.without(&other),
                _ => shape.smooth_union(&other, 0.1),
            };
        }
        let stuffing =
            Stuffing { grading: index as u8 % 3, ..Stuffing::uniform(0.12 + 0.1 * random()) };
        let solid = stuffing.fill(&shape).unwrap();
        assert_well_shaped(&format!("shape {index}"), &solid);
        assert_sound(&format!("shape {index}"), &solid);
    }
}

#[test]
fn solids_of_the_thesis() {
    for (name, vertices, tetrahedra, tolerance) in THESIS_SOLIDS {
        let target =
            Target { vertices: Some(vertices), tolerance, ..Target::tetrahedra(tetrahedra) };
        let solid = find(name).unwrap().solid(&target).unwrap();
        let within =
            |is: usize, wanted: usize| (is as f64 / wanted as f64 - 1.0).abs() * 100.0 <= tolerance;
        assert!(
            within(solid.positions.len(), vertices),
            "{name}: {} vertices",
            solid.positions.len()
        );
        assert!(within(solid.tetrahedra.len(), tetrahedra), "{name}: {}", solid.tetrahedra.len());
        assert_sound(name, &solid);
        assert_well_shaped(name, &solid);
        TetMesh::new(solid).unwrap();
    }
}

#[test]
fn dolphins_share_their_connectivity() {
    for (levels, triangles) in [(0, 564), (1, 2256), (2, 9024), (3, 36096)] {
        let poses = [0, 1, 2].map(|pose| dolphin(pose, levels));
        for pose in &poses {
            assert_eq!(pose.triangles, poses[0].triangles);
            assert_eq!(pose.triangles.len(), triangles);
            assert_sound("dolphin", pose);
        }
        assert!(
            poses[1].positions != poses[0].positions && poses[2].positions != poses[0].positions
        );
    }
}

#[test]
fn the_hand_closes_and_the_octopus_moves() {
    let reach = |closed: f64| surface_mesh(&characters::hand(closed), 0.08).unwrap();
    let height = |mesh: &RawMesh<f64>| mesh.positions.iter().map(|p| p.z).fold(f64::MIN, f64::max);
    let [open, grip, fist] = [0.0, 0.5, 1.0].map(|closed| height(&reach(closed)));
    assert!(open > grip + 0.2 && grip > fist);
    let arms = |phase: f64| surface_mesh(&characters::octopus(phase), 0.12).unwrap();
    assert!(arms(0.0) != arms(0.3));
    assert_eq!(arms(0.25), arms(0.25));
}

#[test]
fn the_octopus_has_joints_that_its_vertices_follow() {
    let mesh = surface_mesh(&characters::octopus(0.1), 0.1).unwrap();
    let skeleton = characters::octopus_skeleton(0.1, &mesh.positions);
    assert_eq!(skeleton.joints.len(), 33);
    assert_eq!(skeleton.bindings.len(), mesh.positions.len());
    let mut used = vec![false; skeleton.joints.len()];
    for binding in &skeleton.bindings {
        assert!((binding.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        for (&joint, &weight) in binding.joints.iter().zip(&binding.weights) {
            used[joint as usize] |= weight > 0.0;
        }
    }
    assert!(used.iter().all(|used| *used), "every joint moves something");
    // In the pose in which it was bound, every joint leaves the mesh where it is.
    for (index, joint) in skeleton.joints.iter().enumerate() {
        let mut world = joint.local;
        let mut above = joint.parent;
        while let Some(parent) = above {
            assert_ne!(parent as usize, index);
            world = skeleton.joints[parent as usize].local * world;
            above = skeleton.joints[parent as usize].parent;
        }
        assert!((world * joint.inverse_bind - nalgebra::Matrix4::identity()).norm() < 1e-12);
    }
}

#[test]
fn rigged_models_carry_what_moves_them() {
    let octopus = find("octopus").unwrap().rigged(2000).unwrap();
    assert_eq!(octopus.skeleton.unwrap().bindings.len(), octopus.mesh.positions.len());
    let model = find("dolphin").unwrap().rigged(564).unwrap();
    for (pose, target) in (1..).zip(&model.morph_targets) {
        let moved = model.mesh.positions.iter().zip(&target.displacements).map(|(p, d)| p + d);
        assert!(moved.zip(dolphin(pose, 0).positions).all(|(a, b)| (a - b).norm() < 1e-12));
    }
    assert_eq!(model.morph_targets.len(), 2);
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let bits = |mesh: &RawMesh<f64>| -> Vec<u64> {
        mesh.positions.iter().flatten().map(|x| x.to_bits()).collect()
    };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let cow = find("cow").unwrap();
            let surface = cow.surface(3000).unwrap();
            let solid = Target::tetrahedra(4000).fill(&cow.shape().unwrap(), |_| ()).unwrap();
            let again = Target::tetrahedra(2000)
                .fill(&Shape::from_surface(&surface).unwrap(), |_| ())
                .unwrap();
            [surface, solid, again].map(|mesh| (bits(&mesh), mesh.triangles, mesh.tetrahedra))
        })
    };
    assert!(with(1) == with(3));
}

#[test]
fn vectors_have_the_length_of_their_bend() {
    // A bent rod keeps its volume and reaches where a circle would.
    let rod = Shape::capsule([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], 0.15);
    let straight = assert_sound("rod", &surface_mesh(&rod, 0.05).unwrap());
    let bent = surface_mesh(&rod.bent(0, 2, 0.8), 0.05).unwrap();
    assert!((assert_sound("bent", &bent) / straight - 1.0).abs() < 0.03);
    let highest = bent.positions.iter().map(|p| p.z).fold(f64::MIN, f64::max);
    assert!((highest - (1.0 - 0.8f64.cos()) / 0.8).abs() < 0.2, "{highest}");
    let block = Shape::block([0.0; 3], [0.2, 0.4, 1.0], 0.05);
    let before = assert_sound("block", &surface_mesh(&block, 0.04).unwrap());
    let after = assert_sound("twisted", &surface_mesh(&block.twisted(2, 1.0), 0.04).unwrap());
    assert!((after / before - 1.0).abs() < 0.02);
    let far = block.moved([5.0, 0.0, 0.0]).turned(2, 1.0);
    assert!(far.distance(Vector3::new(5.0 * 1f64.cos(), 5.0 * 1f64.sin(), 0.0)) < -0.15);
}
