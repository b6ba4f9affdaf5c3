//! Recordings in the files of other programs. Each file appears only when it is complete.

mod pov;
mod table;

pub use table::contacts_table;

use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use defcol::math::{Bounds, Vector3};
use defcol::mesh::RawMesh;

use defcol_io::{
    Encoding, Model, MorphTarget, Part, Progress, Sink, VtuExtras, WriteError, WriteOptions,
    WriteProblem, replace_file, write, write_animated_glb, write_text,
};

use super::RecordingError;
use super::bodies::Topology;
use super::read::{Frame, Recording};

/// What a recording is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A VTU file for each frame, and a PVD file that names them all: ParaView.
    Vtu,
    /// One GLB file with a clip: a morph target for each frame.
    Glb,
    /// An OBJ file for each frame.
    Obj,
    /// A POV-Ray scene for each frame, with a camera and lights that they share.
    Pov,
}

/// More frames make a clip that no viewer shows.
const LONGEST_CLIP: usize = 600;

/// Writes frames into a folder, which is made if need be. Where a format has no points, particles are copies of `drop`. `seen`
/// is told each frame, and says whether to go on; files that are there by then are whole, and stay. Gives the file to open
/// first.
pub fn export<T: Read + Seek>(
    recording: &mut Recording<T>,
    frames: &[u64],
    folder: &Path,
    kind: Kind,
    drop: &RawMesh<f64>,
    mut seen: impl FnMut(u64) -> bool,
) -> Result<PathBuf, RecordingError> {
    if frames.is_empty() {
        return Err(RecordingError::Unfit("there is no frame to export".into()));
    }
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error.into()))?;
    match kind {
        Kind::Glb => return clip(recording, frames, folder, drop, seen),
        Kind::Pov => {
            let around = bounds_of_frames(recording, frames)?;
            file(&folder.join("scene.inc"), |sink| Ok(pov::write_scene(around, sink)?))?;
        }
        Kind::Vtu | Kind::Obj => {}
    }
    let mut series = vec![];
    let mut stopped = false;
    for &number in frames {
        stopped = !seen(number);
        if stopped {
            break;
        }
        let frame = recording.frame(number)?;
        let name = |ending: &str| format!("frame_{number:06}.{ending}");
        match kind {
            Kind::Obj => {
                let path = folder.join(name("obj"));
                write(&path, &whole(frame, drop), &WriteOptions::default(), &Progress::new())?;
                series.push((frame.time, name("obj")));
            }
            Kind::Pov => {
                file(&folder.join(name("pov")), |sink| Ok(pov::write_frame(frame, sink)?))?;
                series.push((frame.time, name("pov")));
            }
            Kind::Vtu | Kind::Glb => {
                write_vtu(&folder.join(name("vtu")), frame)?;
                series.push((frame.time, name("vtu")));
            }
        }
    }
    if kind != Kind::Vtu {
        let first = series.first().filter(|_| !stopped).map(|(_, name)| folder.join(name));
        return first.ok_or(RecordingError::Cancelled);
    }
    let path = folder.join("recording.pvd");
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n",
    );
    for (time, name) in &series {
        text.push_str(&format!("<DataSet timestep=\"{time:?}\" part=\"0\" file=\"{name}\"/>\n"));
    }
    text.push_str("</Collection>\n</VTKFile>\n");
    write_text(&path, &text)?;
    if stopped { Err(RecordingError::Cancelled) } else { Ok(path) }
}

fn failed(path: &Path, problem: WriteProblem) -> RecordingError {
    RecordingError::Write(WriteError { file: path.to_path_buf(), problem })
}

/// Fills a file that appears when it is complete.
fn file(
    path: &Path,
    fill: impl FnOnce(&mut Sink) -> Result<(), WriteProblem>,
) -> Result<(), RecordingError> {
    replace_file(path, &Progress::new(), fill).map_err(|problem| failed(path, problem))
}

/// Tetrahedra of solids, triangles of surfaces, and particles; each vertex knows its body.
fn write_vtu(path: &Path, frame: &Frame) -> Result<(), RecordingError> {
    let mut mesh = RawMesh { positions: frame.positions.clone(), ..RawMesh::default() };
    let (mut points, mut bodies) = (vec![], vec![]);
    for body in &frame.bodies.bodies {
        let first = body.vertices.start as u32;
        bodies.extend(body.vertices.clone().map(|_| body.id));
        if !body.tetrahedra.is_empty() {
            let own = body.tetrahedra.iter().map(|corners| corners.map(|corner| first + corner));
            mesh.tetrahedra.extend(own);
        } else if !body.triangles.is_empty() {
            let own = body.triangles.iter().map(|corners| corners.map(|corner| first + corner));
            mesh.triangles.extend(own);
        } else {
            points.extend(body.vertices.clone().map(|vertex| vertex as u32));
        }
    }
    let extra = VtuExtras { points: &points, bodies: &bodies };
    file(path, |sink| Ok(defcol_io::write_vtu(&mesh, &extra, Encoding::Binary, sink)?))
}

/// All bodies in one surface, with a part for each; particles are copies of a mesh.
fn whole(frame: &Frame, drop: &RawMesh<f64>) -> Model {
    let mut model = Model::default();
    for (body, mesh) in
        frame.bodies.bodies.iter().zip(surfaces(&frame.bodies, &frame.positions, drop))
    {
        let first = model.mesh.positions.len() as u32;
        let start = model.mesh.triangles.len() as u32;
        model.mesh.positions.extend(mesh.positions);
        let own = mesh.triangles.iter().map(|corners| corners.map(|corner| first + corner));
        model.mesh.triangles.extend(own);
        let triangles = start..model.mesh.triangles.len() as u32;
        if !triangles.is_empty() {
            model.parts.push(Part { name: format!("body {}", body.id), triangles });
        }
    }
    model
}

fn clip<T: Read + Seek>(
    recording: &mut Recording<T>,
    frames: &[u64],
    folder: &Path,
    drop: &RawMesh<f64>,
    mut seen: impl FnMut(u64) -> bool,
) -> Result<PathBuf, RecordingError> {
    if frames.len() > LONGEST_CLIP {
        return Err(RecordingError::Unfit(format!(
            "a clip has up to {LONGEST_CLIP} frames, and these are {}; take fewer with --frames, or every second one or \
             fewer with --every",
            frames.len()
        )));
    }
    let first = recording.frame(frames[0])?.clone();
    let (mut model, start) = (whole(&first, drop), first.time);
    let mut times = vec![];
    for &number in frames {
        if !seen(number) {
            return Err(RecordingError::Cancelled);
        }
        let frame = recording.frame(number)?;
        if frame.bodies != first.bodies {
            return Err(RecordingError::Unfit(format!(
                "bodies came or went before frame {number}, and a clip is of the same bodies; take other --frames, or --as vtu"
            )));
        }
        times.push(frame.time - start);
        if times.len() > 1 {
            let now = whole(frame, drop).mesh.positions;
            let both = now.iter().zip(&model.mesh.positions);
            let displacements = both.map(|(now, start)| now - start).collect();
            model.morph_targets.push(MorphTarget {
                name: format!("frame {number}"),
                first_vertex: 0,
                displacements,
                weight: 0.0,
            });
        }
    }
    let path = folder.join("recording.glb");
    file(&path, |sink| Ok(write_animated_glb(&model, &model.mesh, &times, sink)?))?;
    Ok(path)
}

/// Bounding box of all bodies over the given frames.
pub fn bounds_of_frames<T: Read + Seek>(
    recording: &mut Recording<T>,
    frames: &[u64],
) -> Result<Bounds<f64>, RecordingError> {
    let mut corners = vec![];
    for &number in frames {
        let bounds = Bounds::of(recording.frame(number)?.positions.iter().copied());
        corners.extend([bounds.min, bounds.max]);
    }
    Ok(Bounds::of(corners))
}

/// The surface of each body. Particles are represented by copies of `drop`.
pub fn surfaces(
    bodies: &Topology,
    positions: &[Vector3<f64>],
    drop: &RawMesh<f64>,
) -> impl Iterator<Item = RawMesh<f64>> {
    bodies.bodies.iter().map(move |body| {
        let own = &positions[body.vertices.clone()];
        let mut mesh = RawMesh { triangles: body.triangles.clone(), ..RawMesh::default() };
        if !mesh.triangles.is_empty() {
            mesh.positions.extend_from_slice(own);
            return mesh;
        }
        for place in own {
            let start = mesh.positions.len() as u32;
            mesh.positions.extend(drop.positions.iter().map(|corner| corner + place));
            let corners = drop.triangles.iter();
            mesh.triangles.extend(corners.map(|corners| corners.map(|corner| corner + start)));
        }
        mesh
    })
}
