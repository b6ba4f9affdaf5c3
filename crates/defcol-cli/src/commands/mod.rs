//! One file for each command.

pub mod bench;
pub mod collide;
pub mod completions;
pub mod contains;
pub mod convert;
pub mod inspect;
pub mod picture;
pub mod suite;
pub mod tetrahedralize;
pub mod volume;

use std::io::Read;
use std::path::Path;

use defcol::detect::ldi::Shell;
use defcol::math::Vector3;
use defcol::mesh::{TetMesh, TriangleMesh};
use defcol_io::{Format, Model, parse, read};

use crate::arguments::OpenChoice;
use crate::failure::Failure;
use crate::progress::{PROGRESS, with_bar, with_spinner};
use defcol_scenes::models;

/// Makes a built-in model: its name, and behind a colon the number of triangles.
fn built_in(name: &str, quiet: bool) -> Result<Model, Failure> {
    let (name, count) = name.split_once(':').unwrap_or((name, ""));
    let model = models::find(name).map_err(Failure::usage)?;
    let count = match count {
        "" => model.triangles,
        text => {
            text.parse().ok().filter(|count| (4..=5_000_000).contains(count)).ok_or_else(|| {
                Failure::usage(format!("{text} is no number of triangles between 4 and 5000000"))
            })?
        }
    };
    let surface = with_spinner(quiet, &format!("making {name}"), |_| model.rigged(count));
    surface.map_err(Failure::computation)
}

/// Reads a mesh from a file, makes it if the path is `model:NAME`, or takes standard input if the path is
/// `-` and the format is named.
pub fn load(path: &Path, from: Option<&str>, quiet: bool) -> Result<Model, Failure> {
    if let Some(name) = path.to_str().and_then(|path| path.strip_prefix("model:")) {
        return built_in(name, quiet);
    }
    let label = format!("reading {}", path.display());
    if path != Path::new("-") {
        return Ok(with_bar(quiet, &label, || read(path, &PROGRESS))?);
    }
    let format = named_format(from, "--from")?;
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(with_bar(quiet, &label, || parse(&bytes, format, None, &PROGRESS))?)
}

/// Positions with those of vertices that no triangle uses moved to one that is used: they would only make the
/// box larger, but keep the numbers of the others as they are in the file.
fn used_only(positions: &[Vector3<f64>], triangles: &[[u32; 3]]) -> Vec<Vector3<f64>> {
    let mut used = vec![false; positions.len()];
    triangles.iter().flatten().for_each(|&corner| used[corner as usize] = true);
    let some = triangles.first().map_or_else(Vector3::zeros, |[a, _, _]| positions[*a as usize]);
    positions.iter().zip(used).map(|(&p, used)| if used { p } else { some }).collect()
}

/// A surface from a file: that of the tetrahedra if it has some.
pub struct Surface {
    pub name: String,
    pub positions: Vec<Vector3<f64>>,
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    pub fn load(path: &Path, from: Option<&str>, quiet: bool) -> Result<Self, Failure> {
        let model = load(path, from, quiet)?;
        let name = path.display().to_string();
        let problem = |error| Failure::Input(format!("{name}: {error}"));
        let (positions, triangles) = if model.mesh.tetrahedra.is_empty() {
            let mesh = TriangleMesh::new(model.mesh).map_err(problem)?;
            (used_only(mesh.positions(), mesh.triangles()), mesh.triangles().to_vec())
        } else {
            let solid = TetMesh::new(model.mesh).map_err(problem)?;
            let surface = solid.surface().mesh();
            (surface.positions().to_vec(), surface.triangles().to_vec())
        };
        Ok(Self { name, positions, triangles })
    }

    /// The surface, made something with a volume in the way the user wants.
    pub fn shell(&self, open: OpenChoice) -> Result<Shell<'_, f64>, Failure> {
        let problem = |error| Failure::Input(format!("{}: {error}", self.name));
        let shell = Shell::new(&self.positions, &self.triangles).map_err(problem)?;
        match (shell.check_closed(), open) {
            (Ok(()), _) => Ok(shell),
            (Err(_), OpenChoice::HalfInfinite) => Ok(shell.half_infinite()),
            (Err(_), OpenChoice::Measure) => Ok(shell.measured_as_it_is()),
            (Err(error), OpenChoice::Refuse) => Err(Failure::Input(format!(
                "{}: {error}; mend it (`defcol inspect` shows its defects, `defcol convert --repair all` \
                 mends some)",
                self.name
            ))),
        }
    }
}

/// The format that an option names by its ending.
fn named_format(ending: Option<&str>, option: &str) -> Result<Format, Failure> {
    let Some(ending) = ending else {
        return Err(Failure::usage(format!("`-` needs {option} with a format, like {option} ply")));
    };
    Format::of_ending(ending.trim_start_matches('.')).ok_or_else(|| {
        let known = Format::ALL.into_iter().flat_map(Format::endings).copied().collect::<Vec<_>>();
        Failure::usage(format!("{option} {ending} is no format; known: {}", known.join(" ")))
    })
}
