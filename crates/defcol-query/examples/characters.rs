//! Two animated characters from a GLB file: which of their triangles intersect in each pose?
//!
//! `cargo run -p defcol-query --example characters [CHARACTER.glb]`

use std::path::PathBuf;

use defcol::detect::bvh::{Collider, PairFinder, Placement, Split};
use defcol::math::{Matrix3, Vector3};
use defcol_io::{Progress, read};
use defcol_query::{bvh_mesh, joint_transforms};
use nalgebra::{Matrix4, Rotation3};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = match std::env::args_os().nth(1) {
        Some(path) => PathBuf::from(path),
        // Without an argument a character is written first.
        None => {
            let path = std::env::temp_dir().join("defcol-characters.glb");
            let octopus = defcol_scenes::models::find("octopus")?.rigged(2000)?;
            defcol_io::write(&path, &octopus, &Default::default(), &Progress::default())?;
            path
        }
    };
    let model = read(&path, &Progress::default())?;
    let skeleton = model.skeleton.as_ref().ok_or("the file has no skeleton")?;
    println!(
        "{}: {} triangles on {} joints",
        path.display(),
        model.mesh.triangles.len(),
        skeleton.joints.len()
    );

    // The hierarchy is built once and follows the joints.
    let mut dancer: Collider<f64> = bvh_mesh(&model, Split::default())?;
    let mut partner = dancer.clone();
    let bounds = partner.bounds();
    let aside = Vector3::new(0.8 * bounds.extent().x, 0.0, 0.0);
    partner.set_placement(Placement::new(Matrix3::identity(), aside)?)?;
    let mut finder = PairFinder::default();
    let mut pairs = Vec::new();
    let mut most = 0;
    for pose in 0..8 {
        // Bend every joint but the roots to and fro.
        let mut bent = skeleton.clone();
        let angle = 0.25 * f64::from(pose);
        for joint in bent.joints.iter_mut().filter(|joint| joint.parent.is_some()) {
            joint.local *=
                Matrix4::from(Rotation3::from_axis_angle(&Vector3::z_axis(), 0.1 * angle));
        }
        let joints = joint_transforms(&bent)?;
        dancer.set_joints(&joints)?;
        partner.set_joints(&joints)?;
        finder.all(&mut dancer, &mut partner, &mut pairs);
        println!("pose {pose}: {} pairs of triangles intersect", pairs.len());
        most = most.max(pairs.len());
    }
    assert!(most > 0, "they stand close enough to touch");
    Ok(())
}
