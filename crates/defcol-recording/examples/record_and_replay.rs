//! Records a simulation, opens the file again, seeks a frame and lists its contacts.
//!
//! `cargo run -p defcol-recording --example record_and_replay [FILE.mcap]`

use std::fs::File;
use std::path::PathBuf;

use defcol::prelude::*;
use defcol_recording::{Input, Plan, Recorder, Recording};
use defcol_scenes::regular::{ball, box_grid};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os()
        .nth(1)
        .map_or_else(|| std::env::temp_dir().join("defcol-record-and-replay.mcap"), PathBuf::from);

    let mut world = World::<f64>::default();
    world.add_collider(Collider::half_space(Vector3::y(), 0.0))?;
    let slab = TetMesh::new(box_grid([6, 1, 6], 0.05))?;
    let low = BodyOptions { position: Vector3::new(0.0, 0.006, 0.0), ..BodyOptions::default() };
    world.add_solid(&slab, BodyKind::default(), &low)?;
    let high = BodyOptions { position: Vector3::new(0.15, 0.3, 0.15), ..BodyOptions::default() };
    let ball = world.add_solid(&TetMesh::new(ball(0.06))?, BodyKind::default(), &high)?;

    // The recorder writes on a thread of its own.
    let mut recorder = Recorder::new(File::create(&path)?, &world, &Plan::default())?;
    for frame in 0..60 {
        if frame == 30 {
            // What reaches in from outside is recorded, so that the run can be repeated.
            let push = Input::Velocity {
                body: ball.number(),
                linear: Vector3::new(1.0, 1.0, 0.0),
                angular: Vector3::zeros(),
            };
            push.apply(&mut world)?;
            recorder.input(push);
        }
        world.step()?;
        recorder.frame(&world)?;
    }
    let (_, summary) = recorder.finish()?;
    println!("{}: {} frames in {} bytes", path.display(), summary.frames, summary.bytes);

    let mut recording = Recording::open(&path)?;
    let last = recording.frames().last().ok_or("no frames")?;
    for number in [0, last / 2, last] {
        let frame = recording.frame(number)?;
        let [between, own] = frame.contact_counts;
        let deepest = frame.contacts.iter().flat_map(Contacts::depth).fold(0.0, |a, &b| b.max(a));
        println!(
            "frame {number}: {between} contacts between bodies, {own} of bodies with themselves, the deepest {deepest:.5} m"
        );
        assert!(number < last || frame.state_hash == world.hash());
    }
    Ok(())
}
