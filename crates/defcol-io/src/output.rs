//! Writing: formats by ending, whole files or none.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{WriteError, WriteProblem};
use crate::format::Format;
use crate::model::Model;
use crate::progress::Progress;
use crate::{gltf, gmsh, medit, obj, off, ply, stl, tetgen, vtu};
use defcol::mesh::RawMesh;

/// How numbers are stored where a format leaves the choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Binary, little endian where there is a choice.
    #[default]
    Binary,
    /// Binary, big endian; PLY only.
    BinaryBigEndian,
    /// Text with the shortest decimals that read back as the same number.
    Ascii,
}

/// Which version of the Gmsh format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GmshVersion {
    /// 2.2, which every reader knows.
    V2,
    /// 4.1, the current one.
    #[default]
    V4,
}

/// Choices that some formats offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteOptions {
    /// How numbers are stored.
    pub encoding: Encoding,
    /// Which version of the Gmsh format.
    pub gmsh: GmshVersion,
}

/// Writes a model; the ending of the path tells the format. The file appears, or replaces an older
/// one, only when it is complete. Gives notes on what the format could not hold.
pub fn write(
    path: &Path,
    model: &Model,
    options: &WriteOptions,
    progress: &Progress,
) -> Result<Vec<String>, WriteError> {
    let failed = |problem| WriteError { file: path.to_path_buf(), problem };
    let format = written_format(path)?;
    let mut options = *options;
    if options.encoding == Encoding::BinaryBigEndian && format != Format::Ply {
        return Err(failed(no_big_endian(format)));
    }
    // The two kinds of Medit file have endings of their own.
    if format == Format::Medit {
        let is_text = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("mesh"));
        options.encoding = if is_text { Encoding::Ascii } else { Encoding::Binary };
    }
    if format == Format::TetGen {
        let (mesh, notes) = prepared(model, format).map_err(failed)?;
        let [node, ele] = tetgen_paths(path);
        let at = |file: &Path| {
            let file = file.to_path_buf();
            move |problem| WriteError { file, problem }
        };
        // Both are complete before either is replaced.
        let new_node = Replacement::fill(&node, progress, |sink| tetgen::write_nodes(&mesh, sink))
            .map_err(at(&node))?;
        let new_ele = Replacement::fill(&ele, progress, |sink| tetgen::write_elements(&mesh, sink))
            .map_err(at(&ele))?;
        new_node.put().map_err(at(&node))?;
        new_ele.put().map_err(at(&ele))?;
        return Ok(notes);
    }
    let mut notes = Vec::new();
    replace_file(path, progress, |sink| {
        notes = encode_into(model, format, &options, sink)?;
        Ok(())
    })
    .map_err(failed)?;
    Ok(notes)
}

/// Writes a text file, which appears, or replaces an older one, only when it is complete.
pub fn write_text(path: &Path, text: &str) -> Result<(), WriteError> {
    replace_file(path, &Progress::new(), |sink| Ok(sink.text(text)?))
        .map_err(|problem| WriteError { file: path.to_path_buf(), problem })
}

/// The format that a file with this path would be written in.
pub fn written_format(path: &Path) -> Result<Format, WriteError> {
    Format::of_path(path).filter(|format| format.is_written()).ok_or_else(|| WriteError {
        file: path.to_path_buf(),
        problem: WriteProblem::UnknownFormat { known: Format::list(Format::is_written) },
    })
}

/// Writes a model to anything that takes bytes. Not for TetGen, which is two files.
pub fn encode(
    out: &mut dyn Write,
    model: &Model,
    format: Format,
    options: &WriteOptions,
    progress: &Progress,
) -> Result<Vec<String>, WriteProblem> {
    let mut sink = Sink::new(out, progress);
    let notes = encode_into(model, format, options, &mut sink)?;
    sink.finish()?;
    Ok(notes)
}

fn encode_into(
    model: &Model,
    format: Format,
    options: &WriteOptions,
    sink: &mut Sink,
) -> Result<Vec<String>, WriteProblem> {
    if options.encoding == Encoding::BinaryBigEndian && format != Format::Ply {
        return Err(no_big_endian(format));
    }
    let single = match format {
        Format::Stl | Format::Glb => true,
        Format::Off => options.encoding != Encoding::Ascii,
        _ => false,
    };
    if single {
        check_single(model, format)?;
    }
    let (mesh, mut notes) = prepared(model, format)?;
    match format {
        Format::Obj => obj::write(model, &mesh, sink)?,
        Format::Ply => ply::write(&mesh, options.encoding, sink)?,
        Format::Stl => stl::write(&mesh, options.encoding, sink)?,
        Format::Off => off::write(&mesh, options.encoding, sink)?,
        Format::Glb => gltf::write_glb(model, &mesh, sink)?,
        Format::Medit => medit::write(&mesh, options.encoding, sink)?,
        Format::Gmsh => gmsh::write(&mesh, options, sink)?,
        Format::Vtu => vtu::write(&mesh, options.encoding, sink)?,
        Format::TetGen => {
            let text = "a TetGen mesh is two files; give a path that ends with .node or .ele";
            return Err(WriteProblem::Unfit(text.into()));
        }
        Format::Gltf | Format::Vtk => {
            let known = Format::list(Format::is_written);
            return Err(WriteProblem::UnknownFormat { known });
        }
    }
    if single {
        let rounded = mesh.positions.iter().filter(|p| p.iter().any(|&x| !fits_single(x))).count();
        if rounded > 0 {
            notes.push(format!(
                "{rounded} vertices were rounded to single precision, which is all that {format} holds"
            ));
        }
    }
    Ok(notes)
}

/// Whether a number survives single precision.
pub(crate) fn fits_single(value: f64) -> bool {
    f64::from(value as f32) == value
}

/// The mesh as far as the format holds it, and what it does not.
fn prepared(model: &Model, format: Format) -> Result<(RawMesh<f64>, Vec<String>), WriteProblem> {
    let mut notes = Vec::new();
    let solid = !model.mesh.tetrahedra.is_empty();
    if format == Format::TetGen && !solid {
        let text = "the model has no tetrahedra, so there is no TetGen mesh of it; \
                    write .mesh, .msh or .vtu, which hold triangles too";
        return Err(WriteProblem::Unfit(text.into()));
    }
    let mesh = if solid && !format.holds_tetrahedra() {
        notes.push(format!("{format} holds no tetrahedra: their surface was written"));
        model.surface()?
    } else {
        model.mesh.clone()
    };
    if format == Format::TetGen && !mesh.triangles.is_empty() {
        notes.push(format!("{} triangles are not part of a TetGen mesh", mesh.triangles.len()));
    }
    let rich = !model.morph_targets.is_empty() || model.skeleton.is_some();
    if rich && (format != Format::Glb || solid) {
        notes.push(format!("{format} holds no morph targets and skins: they were left out"));
    }
    if !model.parts.is_empty() && !matches!(format, Format::Obj | Format::Glb) {
        notes.push(format!(
            "{format} holds no names: those of {} parts were left out",
            model.parts.len()
        ));
    }
    Ok((mesh, notes))
}

/// Refuses numbers that overflow single precision, long before the limit of coordinates.
fn check_single(model: &Model, format: Format) -> Result<(), WriteProblem> {
    let displacements = model.morph_targets.iter().flat_map(|target| &target.displacements);
    let mut numbers = model.mesh.positions.iter().chain(displacements).flatten();
    if let Some(x) = numbers.find(|x| x.abs() > f64::from(f32::MAX)) {
        let text =
            format!("the coordinate {x:e} does not fit {format}, which holds single precision");
        return Err(WriteProblem::Unfit(text));
    }
    let joints = model.skeleton.as_ref().map_or(0, |skeleton| skeleton.joints.len());
    if joints > usize::from(u16::MAX) + 1 {
        return Err(WriteProblem::Unfit(format!(
            "{joints} joints are more than {format} can number"
        )));
    }
    Ok(())
}

fn no_big_endian(format: Format) -> WriteProblem {
    WriteProblem::Unfit(format!("{format} has no big-endian kind; only PLY has"))
}

/// The two files of a TetGen mesh, of which one is given, with its ending in the same case.
pub(crate) fn tetgen_paths(path: &Path) -> [PathBuf; 2] {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_upper = ending.chars().any(|letter| letter.is_ascii_uppercase());
    let [node, ele] = if is_upper { ["NODE", "ELE"] } else { ["node", "ele"] };
    if ending.eq_ignore_ascii_case("node") {
        [path.to_path_buf(), path.with_extension(ele)]
    } else {
        [path.with_extension(node), path.to_path_buf()]
    }
}

/// Writes a file atomically: `fill` writes a temporary file in the same folder, which is renamed when complete. After a
/// failure the old file is unchanged.
pub fn replace_file(
    path: &Path,
    progress: &Progress,
    fill: impl FnOnce(&mut Sink) -> Result<(), WriteProblem>,
) -> Result<(), WriteProblem> {
    Replacement::fill(path, progress, fill)?.put()
}

/// A complete file that is not yet in its place; dropped, it leaves no trace.
struct Replacement {
    file: tempfile::NamedTempFile,
    target: PathBuf,
}

impl Replacement {
    fn fill(
        path: &Path,
        progress: &Progress,
        fill: impl FnOnce(&mut Sink) -> Result<(), WriteProblem>,
    ) -> Result<Self, WriteProblem> {
        // Through a link, the file it leads to is replaced, not the link.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".defcol-").suffix(".part");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(folder).map_err(|error| {
            let kind = error.kind();
            io::Error::new(kind, format!("cannot make a file in {}: {kind}", folder.display()))
        })?;
        if let Ok(old) = fs::metadata(&target) {
            if !old.is_file() {
                let message = "not a regular file";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message).into());
            }
            file.as_file().set_permissions(old.permissions())?;
        }
        let mut sink = Sink::new(file.as_file_mut(), progress);
        let filled = fill(&mut sink).and_then(|()| Ok(sink.finish()?));
        if progress.is_cancelled() {
            return Err(WriteProblem::Cancelled);
        }
        filled?;
        file.as_file().sync_all()?;
        Ok(Self { file, target })
    }

    fn put(self) -> Result<(), WriteProblem> {
        self.file.persist(&self.target).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Buffered writer with number formatting, used by all mesh writers.
pub struct Sink<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    progress: &'a Progress,
    digits: ryu::Buffer,
}

impl<'a> Sink<'a> {
    const SIZE: usize = 1 << 18;

    fn new(out: &'a mut dyn Write, progress: &'a Progress) -> Self {
        Self {
            out,
            buffer: Vec::with_capacity(Self::SIZE + 1024),
            progress,
            digits: ryu::Buffer::new(),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.hand_on()?;
        self.out.flush()
    }

    fn hand_on(&mut self) -> io::Result<()> {
        if self.progress.is_cancelled() {
            return Err(io::Error::other("interrupted"));
        }
        self.out.write_all(&self.buffer)?;
        self.progress.advance(self.buffer.len() as u64);
        self.buffer.clear();
        Ok(())
    }

    /// Writes bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= Self::SIZE { self.hand_on() } else { Ok(()) }
    }

    /// Writes text.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.bytes(text.as_bytes())
    }

    /// A blank and a number, for each; shortest decimals that read back as the same number.
    pub fn numbers(&mut self, numbers: impl IntoIterator<Item = f64>) -> io::Result<()> {
        for number in numbers {
            self.buffer.push(b' ');
            let digits = self.digits.format(number);
            self.buffer.extend_from_slice(digits.strip_suffix(".0").unwrap_or(digits).as_bytes());
        }
        self.bytes(&[])
    }

    /// A blank and a whole number, for each.
    pub fn integers(&mut self, integers: impl IntoIterator<Item = i64>) -> io::Result<()> {
        for integer in integers {
            write!(self.buffer, " {integer}")?;
        }
        self.bytes(&[])
    }
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
