//! Movies of recordings, opened by other decoders.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use defcol::mesh::RawMesh;
use defcol_query::record_movie;
use defcol_recording::{Plan, Recorder, Recording, RecordingError};
use defcol_render::Movie;
use defcol_scenes::catalogue::Scene;
use defcol_scenes::regular::icosphere;

fn recorded(scene: &str, frames: usize) -> Recording<Cursor<Vec<u8>>> {
    let mut scene = Scene::<f64>::build(scene, 0).unwrap();
    let mut recorder = Recorder::new(vec![], &scene.world, &Plan::default()).unwrap();
    for _ in 0..frames {
        scene.step().unwrap();
        recorder.frame(&scene.world).unwrap();
    }
    Recording::new(Cursor::new(recorder.finish().unwrap().0)).unwrap()
}

fn drop() -> RawMesh<f64> {
    icosphere(0.01, 0)
}

#[test]
fn movies_have_a_picture_for_each_moment() {
    let mut recording = recorded("beam", 24);
    let folder = tempfile::tempdir().unwrap();
    let frames: Vec<u64> = recording.frames().collect();
    let options = Movie { width: 64, height: 48, rate: 20.0 };
    let [gif, apng] = ["m.gif", "m.png"].map(|name| folder.path().join(name));
    for path in [&gif, &apng] {
        record_movie(&mut recording, &frames, path, options, &drop(), |_| true).unwrap();
    }
    // 0.4 s at 20 in a second, both ends included.
    let mut decoder = gif::DecodeOptions::new().read_info(fs::File::open(gif).unwrap()).unwrap();
    let mut pictures = vec![];
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        assert_eq!((frame.width, frame.height, frame.delay), (64, 48, 5));
        pictures.push(frame.buffer.to_vec());
    }
    assert_eq!(pictures.len(), 9);
    assert_ne!(pictures[0], pictures[8]);
    let file = std::io::BufReader::new(fs::File::open(apng).unwrap());
    let reader = png::Decoder::new(file).read_info().unwrap();
    assert_eq!(reader.info().animation_control().unwrap().num_frames, 9);
    // Fewer frames than pictures in a second: each is shown longer.
    let sparse = folder.path().join("s.gif");
    record_movie(&mut recording, &[0, 12, 24], &sparse, options, &drop(), |_| true).unwrap();
    let mut decoder = gif::DecodeOptions::new().read_info(fs::File::open(sparse).unwrap()).unwrap();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        assert_eq!(frame.delay, 20);
    }
    let nameless =
        record_movie(&mut recording, &frames, Path::new("m"), options, &drop(), |_| true);
    assert!(nameless.is_err());
}

#[test]
fn an_interrupted_movie_leaves_no_file() {
    let mut recording = recorded("beam", 12);
    let frames: Vec<u64> = recording.frames().collect();
    let options = Movie { width: 32, height: 24, rate: 60.0 };
    for name in ["m.gif", "m.png"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let stopped =
            record_movie(&mut recording, &frames, &path, options, &drop(), |number| number < 5);
        assert!(matches!(stopped, Err(RecordingError::Cancelled)), "{name}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
