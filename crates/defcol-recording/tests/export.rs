//! Exports of recordings, opened by the readers of others.

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::process::Command;

use defcol::math::Vector3;
use defcol::mesh::RawMesh;
use defcol_io::{Progress, read};
use defcol_recording::export::{Kind, contacts_table, export};
use defcol_recording::{Plan, Recorder, Recording, RecordingError};
use defcol_scenes::catalogue::Scene;
use defcol_scenes::regular::icosphere;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::file::reader::{FileReader, SerializedFileReader};

type Opened = Recording<Cursor<Vec<u8>>>;

fn recorded(scene: &str, frames: usize) -> Opened {
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

fn all(recording: &Opened) -> Vec<u64> {
    recording.frames().collect()
}

/// What is in a folder, in order; nothing may be half done.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.iter().all(|name| !name.contains(".part")), "{names:?}");
    names
}

/// A Python that has meshio: that of `DEFCOL_PYTHON`, or of the machine.
fn python() -> Option<String> {
    let own = std::env::var("DEFCOL_PYTHON").unwrap_or_else(|_| "python3".into());
    let tried = Command::new(&own).args(["-c", "import meshio"]).output().ok()?;
    tried.status.success().then_some(own)
}

#[test]
fn vtu_files_are_read_by_meshio() {
    let mut recording = recorded("particles", 20);
    let folder = tempfile::tempdir().unwrap();
    let frames = all(&recording);
    let first =
        export(&mut recording, &frames, folder.path(), Kind::Vtu, &drop(), |_| true).unwrap();
    let listed = fs::read_to_string(first).unwrap();
    assert_eq!(listed.matches("<DataSet timestep=").count(), 21);
    assert_eq!(names(folder.path()).len(), 22);
    let path = folder.path().join("frame_000020.vtu");
    let frame = recording.frame(20).unwrap();
    let solid = &frame.bodies.bodies[0];
    assert_eq!(read(&path, &Progress::new()).unwrap().mesh.positions, frame.positions);
    let Some(python) = python() else {
        assert!(std::env::var_os("DEFCOL_PYTHON").is_none(), "that Python has no meshio");
        println!("not compared with meshio, which is not installed");
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/read_vtu.py");
    let said = Command::new(python).arg(script).arg(&path).output().unwrap();
    let text = String::from_utf8_lossy(&said.stderr);
    let found: serde_json::Value =
        serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{text}"));
    let own: Vec<f64> = frame.positions.iter().flatten().copied().collect();
    assert_eq!(found["points"], serde_json::json!(own));
    // A block of tetrahedra, and particles.
    assert_eq!(found["cells"]["tetra"], serde_json::json!(solid.tetrahedra.as_flattened()));
    let drops: Vec<usize> = frame.bodies.bodies[1].vertices.clone().collect();
    assert_eq!(found["cells"]["vertex"], serde_json::json!(drops));
    let bodies: Vec<u32> = (0..own.len() / 3).map(|v| frame.bodies.body_of(v) as u32).collect();
    assert_eq!(found["body"], serde_json::json!(bodies));
}

#[test]
fn the_clip_is_read_by_the_gltf_crate_and_moves_like_the_recording() {
    let mut recording = recorded("arm", 24);
    let folder = tempfile::tempdir().unwrap();
    let frames: Vec<u64> = all(&recording).into_iter().step_by(8).collect();
    let path =
        export(&mut recording, &frames, folder.path(), Kind::Glb, &drop(), |_| true).unwrap();
    let gltf::Gltf { document, blob } = gltf::Gltf::open(path).unwrap();
    let mesh = document.meshes().next().unwrap();
    let primitive = mesh.primitives().next().unwrap();
    let reader = primitive.reader(|_| blob.as_deref());
    let base: Vec<[f32; 3]> = reader.read_positions().unwrap().collect();
    let targets: Vec<Vec<[f32; 3]>> =
        reader.read_morph_targets().map(|(places, ..)| places.unwrap().collect()).collect();
    assert_eq!(targets.len(), 3);
    let animation = document.animations().next().unwrap();
    let channel = animation.channels().next().unwrap();
    assert_eq!(channel.target().node().mesh().unwrap().index(), mesh.index());
    let clip = channel.reader(|_| blob.as_deref());
    let times: Vec<f32> = clip.read_inputs().unwrap().collect();
    let Some(gltf::animation::util::ReadOutputs::MorphTargetWeights(weights)) = clip.read_outputs()
    else {
        panic!("weights are animated")
    };
    let weights: Vec<f32> = weights.into_f32().collect();
    assert_eq!((times.len(), weights.len()), (4, 12));
    for (key, &number) in frames.iter().enumerate() {
        let frame = recording.frame(number).unwrap();
        assert!((f64::from(times[key]) - frame.time).abs() < 1e-6);
        for (vertex, place) in frame.positions.iter().enumerate() {
            let mut shown = Vector3::from(base[vertex]);
            for (target, weight) in targets.iter().zip(&weights[3 * key..]) {
                shown += Vector3::from(target[vertex]) * *weight;
            }
            assert!((shown.cast::<f64>() - place).norm() < 1e-5);
        }
    }
    // Particles are there, too.
    let mut rain = recorded("particles", 2);
    let path = export(&mut rain, &[0, 2], folder.path(), Kind::Glb, &drop(), |_| true).unwrap();
    let model = read(&path, &Progress::new()).unwrap();
    let last = rain.frame(2).unwrap().bodies.bodies[1].vertices.len();
    assert!(model.mesh.triangles.len() > 20 * last);
    // A clip of more frames than anybody can show is refused.
    let many = vec![0; 601];
    let refused = export(&mut recording, &many, folder.path(), Kind::Glb, &drop(), |_| true);
    assert!(refused.unwrap_err().to_string().contains("--every"));
}

#[test]
fn obj_and_pov_hold_every_vertex() {
    let mut recording = recorded("arm", 4);
    let folder = tempfile::tempdir().unwrap();
    for kind in [Kind::Obj, Kind::Pov] {
        export(&mut recording, &[0, 4], folder.path(), kind, &drop(), |_| true).unwrap();
    }
    let frame = recording.frame(4).unwrap();
    let model = read(&folder.path().join("frame_000004.obj"), &Progress::new()).unwrap();
    assert_eq!(model.mesh.positions, frame.positions);
    assert_eq!(model.parts.len(), frame.bodies.bodies.len());
    let (models, _) =
        tobj::load_obj(folder.path().join("frame_000004.obj"), &tobj::LoadOptions::default())
            .unwrap();
    let triangles: usize = models.iter().map(|model| model.mesh.indices.len() / 3).sum();
    let own: usize = frame.bodies.bodies.iter().map(|body| body.triangles.len()).sum();
    assert_eq!(triangles, own);
    let pov = fs::read_to_string(folder.path().join("frame_000004.pov")).unwrap();
    assert_eq!(pov.matches("mesh2 {").count(), frame.bodies.bodies.len());
    assert_eq!(pov.matches('{').count(), pov.matches('}').count());
    for place in [frame.positions[0], *frame.positions.last().unwrap()] {
        assert!(pov.contains(&format!("<{:?}, {:?}, {:?}>", place.x, place.y, place.z)));
    }
    assert_eq!(names(folder.path()).len(), 5);
}

/// A column of a Parquet file.
fn numbers<D: DataType>(mut reader: ColumnReaderImpl<D>, count: usize) -> Vec<f64>
where
    D::T: AsNumber,
{
    let mut values = vec![];
    reader.read_records(count, None, None, &mut values).unwrap();
    values.iter().map(AsNumber::number).collect()
}

trait AsNumber {
    fn number(&self) -> f64;
}

impl AsNumber for i32 {
    fn number(&self) -> f64 {
        f64::from(*self)
    }
}

impl AsNumber for i64 {
    fn number(&self) -> f64 {
        *self as f64
    }
}

impl AsNumber for f64 {
    fn number(&self) -> f64 {
        *self
    }
}

#[test]
fn contacts_are_the_same_in_both_tables() {
    let mut recording = recorded("box", 40);
    let folder = tempfile::tempdir().unwrap();
    let frames = all(&recording);
    let [csv, parquet] = ["c.csv", "c.parquet"].map(|name| folder.path().join(name));
    let rows = contacts_table(&mut recording, &frames, &csv, |_| true).unwrap();
    assert_eq!(contacts_table(&mut recording, &frames, &parquet, |_| true).unwrap(), rows);
    let mut expected = 0;
    for &number in &frames {
        expected += recording.frame(number).unwrap().contacts.as_ref().unwrap().len() as u64;
    }
    assert!(rows > 20 && rows == expected, "{rows} {expected}");
    let text = fs::read_to_string(csv).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let reader = SerializedFileReader::new(fs::File::open(parquet).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    assert!(schema.columns().iter().map(|column| column.name()).eq(header.iter().copied()));
    let cells: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(cells.len() as u64, rows);
    let group = reader.get_row_group(0).unwrap();
    let count = cells.len();
    for name in ["frame", "body_b", "depth", "weight_b2"] {
        let column = header.iter().position(|own| *own == name).unwrap();
        let found: Vec<f64> = match group.get_column_reader(column).unwrap() {
            ColumnReader::Int32ColumnReader(reader) => numbers(reader, count),
            ColumnReader::Int64ColumnReader(reader) => numbers(reader, count),
            ColumnReader::DoubleColumnReader(reader) => numbers(reader, count),
            _ => panic!("{name} is no number"),
        };
        let own: Vec<f64> = cells.iter().map(|row| row[column].parse().unwrap()).collect();
        assert_eq!(found, own, "{name}");
    }
    assert!(contacts_table(&mut recording, &frames, Path::new("c.xls"), |_| true).is_err());
}

#[test]
fn what_is_interrupted_leaves_whole_files_only() {
    let mut recording = recorded("beam", 12);
    let frames = all(&recording);
    let folder = tempfile::tempdir().unwrap();
    for (kind, left) in [(Kind::Vtu, 6), (Kind::Obj, 5), (Kind::Pov, 6), (Kind::Glb, 0)] {
        let own = folder.path().join(format!("{kind:?}"));
        let stopped = export(&mut recording, &frames, &own, kind, &drop(), |number| number < 5);
        assert!(matches!(stopped, Err(RecordingError::Cancelled)));
        assert_eq!(names(&own).len(), left, "{kind:?}");
    }
    for name in ["c.csv", "c.parquet"] {
        let (own, path) = (folder.path().join("files"), folder.path().join("files").join(name));
        fs::create_dir_all(&own).unwrap();
        let stopped = contacts_table(&mut recording, &frames, &path, |number| number < 5);
        assert!(matches!(stopped, Err(RecordingError::Cancelled)), "{name}");
        assert!(names(&own).is_empty());
    }
}
