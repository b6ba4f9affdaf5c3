//! Mesh files: readers that survive anything, writers that lose nothing.
//!
//! [`read`] takes any format of [`Format`] by its ending, [`write()`] writes one. A reader gives a
//! [`Model`] whose coordinates are finite and whose indices are valid, or a [`ReadError`] that
//! names the line or byte. It never takes more memory than 16 times the size of the file plus
//! 1 MiB, and never looks outside the folder of the file. A writer replaces a file only when the
//! new one is complete.
//!
//! ```
//! use defcol_io::{Format, Progress, parse};
//!
//! let text = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
//! let model = parse(text, Format::Obj, None, &Progress::default())?;
//! assert_eq!(model.mesh.triangles.len(), 2);
//! # Ok::<(), defcol_io::ReadError>(())
//! ```

mod base64;
mod binary;
mod budget;
mod colours;
mod error;
mod faces;
mod format;
mod gltf;
mod gmsh;
mod json;
mod medit;
mod model;
mod obj;
mod off;
mod output;
mod ply;
mod points;
mod progress;
mod stl;
mod tetgen;
mod text;
mod vtk;
mod vtu;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use budget::Reading;
use error::{Fault, Parsed};

pub use colours::COLOURS;
pub use error::{At, Problem, ReadError, WriteError, WriteProblem, excerpt};
pub use format::Format;
pub use gltf::write_animated_glb;
pub use model::{Binding, Joint, Model, MorphTarget, Part, Repair, Skeleton};
pub use output::{
    Encoding, GmshVersion, Sink, WriteOptions, encode, replace_file, write, write_text,
    written_format,
};
pub use ply::write_coloured as write_coloured_ply;
pub use points::read_points;
pub use progress::Progress;
pub use vtu::{VtuExtras, write_vtu};

/// Reads a file; its ending tells the format.
pub fn read(path: &Path, progress: &Progress) -> Result<Model, ReadError> {
    let whole = |problem| Fault::file(problem).located(&[], Some(path));
    let Some(format) = Format::of_path(path) else {
        return Err(whole(Problem::UnknownFormat { known: Format::list(|_| true) }));
    };
    if format == Format::TetGen {
        let [node, ele] = output::tetgen_paths(path);
        let nodes = load(&node, progress)?;
        let elements = load(&ele, progress)?;
        return parse_tetgen(&nodes, &elements, [Some(&node), Some(&ele)], progress);
    }
    let bytes = load(path, progress)?;
    parse_named(&bytes, format, path.parent(), Some(path), progress)
}

/// Reads bytes of a known format. `folder` is where files that the bytes refer to may be; without
/// it every reference is refused.
///
/// TetGen meshes are two files: see [`parse_tetgen`].
pub fn parse(
    bytes: &[u8],
    format: Format,
    folder: Option<&Path>,
    progress: &Progress,
) -> Result<Model, ReadError> {
    parse_named(bytes, format, folder, None, progress)
}

fn parse_named(
    bytes: &[u8],
    format: Format,
    folder: Option<&Path>,
    file: Option<&Path>,
    progress: &Progress,
) -> Result<Model, ReadError> {
    let mut reading = Reading::new(bytes.len(), progress);
    progress.begin(bytes.len() as u64);
    if bytes.is_empty() {
        return Err(Fault::byte(0, Problem::Empty).located(bytes, file));
    }
    let parsed = match format {
        Format::Obj => obj::parse(bytes, &mut reading),
        Format::Ply => ply::parse(bytes, &mut reading),
        Format::Stl => stl::parse(bytes, &mut reading),
        Format::Off => off::parse(bytes, &mut reading),
        Format::Gltf => gltf::parse_gltf(bytes, folder, &mut reading),
        Format::Glb => gltf::parse_glb(bytes, folder, &mut reading),
        Format::Medit => medit::parse(bytes, &mut reading),
        Format::Gmsh => gmsh::parse(bytes, &mut reading),
        Format::TetGen => Err(Fault::file(Problem::Unsupported {
            what: "a TetGen mesh in one piece is".into(),
            way_out: "give the path of its .node or .ele file",
        })),
        Format::Vtk => vtk::parse(bytes, &mut reading),
        Format::Vtu => vtu::parse(bytes, &mut reading),
    };
    let checked = parsed.and_then(|model| finish(model, &mut reading));
    checked.map_err(|fault| fault.located(bytes, file))
}

/// Reads a TetGen mesh from the contents of its `.node` and `.ele` files; `names` are those of the
/// files, for error messages.
pub fn parse_tetgen(
    nodes: &[u8],
    elements: &[u8],
    names: [Option<&Path>; 2],
    progress: &Progress,
) -> Result<Model, ReadError> {
    let mut reading = Reading::new(nodes.len().saturating_add(elements.len()), progress);
    for (bytes, name) in [nodes, elements].into_iter().zip(names) {
        if bytes.is_empty() {
            return Err(Fault::byte(0, Problem::Empty).located(bytes, name));
        }
    }
    let (first_index, mut model) =
        tetgen::parse_nodes(nodes, &mut reading).map_err(|fault| fault.located(nodes, names[0]))?;
    tetgen::parse_elements(elements, first_index, &mut model, &mut reading)
        .map_err(|fault| fault.located(elements, names[1]))?;
    finish(model, &mut reading).map_err(|fault| fault.located(nodes, names[0]))
}

/// What holds for every model that a reader gives.
fn finish(mut model: Model, reading: &mut Reading) -> Parsed<Model> {
    let vertices = model.mesh.positions.len();
    if vertices == 0 {
        return Err(Fault::file(Problem::NoVertices));
    }
    let largest = vertices.max(model.mesh.triangles.len()).max(model.mesh.tetrahedra.len());
    if largest > u32::MAX as usize / 6 {
        return Err(Fault::file(Problem::TooLarge { what: "primitives", count: largest }));
    }
    debug_assert!(model.mesh.triangles.iter().flatten().all(|&v| (v as usize) < vertices));
    debug_assert!(model.mesh.tetrahedra.iter().flatten().all(|&v| (v as usize) < vertices));
    model.notes.append(&mut reading.notes);
    Ok(model)
}

/// The whole file in memory.
fn load(path: &Path, progress: &Progress) -> Result<Vec<u8>, ReadError> {
    load_limited(path, usize::MAX, progress).map_err(|problem| ReadError {
        file: Some(path.to_path_buf()),
        at: At::File,
        problem,
    })
}

/// The whole file in memory, unless it is larger than `most` bytes.
fn load_limited(path: &Path, most: usize, progress: &Progress) -> Result<Vec<u8>, Problem> {
    const STEP: usize = 4 << 20;
    let mut file = File::open(path)?;
    let facts = file.metadata()?;
    if !facts.is_file() {
        let message = "not a regular file";
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message).into());
    }
    let size = usize::try_from(facts.len()).unwrap_or(usize::MAX);
    if size > most {
        return Err(Problem::MemoryLimit { limit: most });
    }
    progress.begin(size as u64);
    let mut bytes = Vec::with_capacity(size);
    loop {
        let got = (&mut file).take(STEP as u64).read_to_end(&mut bytes)?;
        progress.reached(bytes.len() as u64);
        if progress.is_cancelled() {
            return Err(Problem::Cancelled);
        }
        // A file that still grows is read as far as it went when it was opened.
        if got == 0 || bytes.len() >= size {
            bytes.truncate(size);
            return Ok(bytes);
        }
    }
}

/// The path of a file that another one refers to: directly in the same folder, by a plain name.
fn beside(folder: Option<&Path>, reference: &str) -> Result<PathBuf, Problem> {
    let outside = || Problem::OutsideFolder(error::excerpt(reference.as_bytes()));
    let folder = folder.ok_or_else(outside)?;
    let mut parts = Path::new(reference).components();
    let (Some(std::path::Component::Normal(name)), None) = (parts.next(), parts.next()) else {
        return Err(outside());
    };
    let path = folder.join(name);
    // A link may lead anywhere.
    let real_folder =
        if folder.as_os_str().is_empty() { Path::new(".") } else { folder }.canonicalize()?;
    if path.canonicalize()?.parent() != Some(real_folder.as_path())
        || reference.contains(['\\', ':'])
    {
        return Err(outside());
    }
    Ok(path)
}
