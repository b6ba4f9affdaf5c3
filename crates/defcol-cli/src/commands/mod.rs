//! One file for each command.

pub mod bench;
pub mod collide;
pub mod completions;
pub mod contains;
pub mod convert;
pub mod depth;
pub mod diff;
pub mod inspect;
pub mod picture;
pub mod replay;
pub mod run;
pub mod scenes;
pub mod suite;
pub mod tetrahedralize;
pub mod volume;

use std::io::Read;
use std::path::{Path, PathBuf};

use defcol::detect::ldi::Shell;
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TetMesh, TriangleMesh};
use defcol::state::{Bodies, Collides};
use defcol_io::{Format, Model, parse, read, write_coloured_ply};

use crate::arguments::{Common, OpenChoice};
use crate::failure::Failure;
use crate::print;
use crate::progress::{PROGRESS, with_bar, with_spinner, writing};
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

/// Some meshes as bodies, numbered as in their files.
pub struct Assembly {
    pub bodies: Bodies,
    pub positions: Vec<Vector3<f64>>,
    pub names: Vec<String>,
}

impl Assembly {
    /// Loads meshes; those with tetrahedra are solids.
    pub fn load(
        paths: &[PathBuf],
        from: Option<&str>,
        with_itself: bool,
        quiet: bool,
    ) -> Result<Self, Failure> {
        let models = paths.iter().map(|path| load(path, from, quiet)).collect::<Result<_, _>>()?;
        Self::new(paths, models, with_itself)
    }

    /// Makes bodies of models that were loaded from these files.
    pub fn new(paths: &[PathBuf], models: Vec<Model>, with_itself: bool) -> Result<Self, Failure> {
        let mut all = Self { bodies: Bodies::default(), positions: vec![], names: vec![] };
        let collides = Collides { with_itself, ..Collides::default() };
        for (path, model) in paths.iter().zip(models) {
            let name = path.display().to_string();
            let problem = |error| Failure::Input(format!("{name}: {error}"));
            if model.mesh.tetrahedra.is_empty() {
                let mesh = TriangleMesh::new(model.mesh).map_err(problem)?;
                all.positions.extend(used_only(mesh.positions(), mesh.triangles()));
                all.bodies.add_surface(&mesh, collides);
            } else {
                let mesh = TetMesh::new(model.mesh).map_err(problem)?;
                all.positions.extend_from_slice(mesh.positions());
                all.bodies.add_solid(&mesh, collides);
            }
            all.names.push(name);
        }
        Ok(all)
    }

    /// Refuses bodies none of which has an inside, and says which have none.
    pub fn check_insides(&self, common: &Common) -> Result<(), Failure> {
        let open = |body: &usize| {
            let shell = Shell::of_body(&self.bodies, &self.positions, *body);
            let closed = shell.and_then(|shell| shell.check_closed());
            self.bodies.list()[*body].tetrahedra.is_empty() && closed.is_err()
        };
        let open: Vec<usize> = (0..self.bodies.len()).filter(open).collect();
        let names = open.iter().map(|&body| self.names[body].as_str()).collect::<Vec<_>>();
        let names = names.join(" and ");
        if open.len() == self.bodies.len() {
            return Err(Failure::Input(format!(
                "{names}: open surfaces have no inside, so nothing can be in them; close them (`defcol inspect` shows \
                 where they are open)"
            )));
        }
        if !open.is_empty() && !common.quiet {
            print::note(format!("{names}: an open surface, so nothing can be in it"));
        }
        Ok(())
    }

    /// Writes all surfaces as a PLY file with a colour for each vertex: grey where the value is zero, from blue over
    /// yellow to red where it is the largest.
    pub fn write_coloured(
        &self,
        path: &Path,
        values: &[f64],
        what: &str,
        common: &Common,
    ) -> Result<(), Failure> {
        check_ending(path, &["ply"])?;
        let largest = values.iter().copied().fold(0.0, f64::max);
        let colours: Vec<[u8; 3]> = values.iter().map(|&value| heat(value, largest)).collect();
        let mesh = RawMesh {
            positions: self.positions.clone(),
            triangles: self.bodies.triangles().to_vec(),
            ..RawMesh::default()
        };
        writing(common.quiet, &format!("writing the {what}"), || {
            write_coloured_ply(path, &mesh, &colours, &PROGRESS)
        })?;
        if !common.quiet {
            let largest = print::short(largest);
            print::note(format!("{}: red is a {what} of {largest}", path.display()));
        }
        Ok(())
    }
}

/// Refuses a file to write with another ending than one of these.
pub fn check_ending(path: &Path, endings: &[&str]) -> Result<(), Failure> {
    let own = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if endings.iter().any(|ending| ending.eq_ignore_ascii_case(own)) {
        return Ok(());
    }
    let known = endings.iter().map(|ending| format!(".{ending}")).collect::<Vec<_>>();
    let text = format!("{} does not end with {}", path.display(), known.join(" or "));
    Err(Failure::usage(text))
}

/// Whether a file can be put where it is to be: found out before work, not after.
pub fn check_folder(path: &Path) -> Result<(), Failure> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => Err(Failure::usage(format!("there is no folder {}", folder.display()))),
        None => Ok(()),
    }
}

/// The colour of a value between zero and the largest.
fn heat(value: f64, largest: f64) -> [u8; 3] {
    const COLD_TO_HOT: [[f64; 3]; 4] =
        [[60.0, 90.0, 200.0], [70.0, 190.0, 170.0], [245.0, 215.0, 70.0], [215.0, 40.0, 30.0]];
    if value <= 0.0 || largest <= 0.0 {
        return [200; 3];
    }
    let place = (value / largest).min(1.0) * 3.0;
    let below = (place as usize).min(2);
    let share = place - below as f64;
    std::array::from_fn(|k| {
        let [low, high] = [COLD_TO_HOT[below][k], COLD_TO_HOT[below + 1][k]];
        (low + (high - low) * share).round() as u8
    })
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
