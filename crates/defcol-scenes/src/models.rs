//! All models by name.

use defcol::mesh::RawMesh;
use defcol_io::MorphTarget;

use crate::characters;
use crate::dolphin::dolphin;
use crate::regular;
use defcol_meshing::{Shape, SurfaceError, Target, surface_mesh_of_size};

/// A model of the catalogue.
pub struct Model {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// The number of triangles it has if no other is asked for.
    pub triangles: usize,
    make: Make,
}

enum Make {
    /// Any number of triangles.
    Shape(fn() -> Shape),
    /// A regular mesh with about the wanted number of triangles, or exactly the nearest it can have.
    Mesh(fn(usize) -> RawMesh<f64>),
}

/// Why a model could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// There is no such model.
    #[error("there is no model {name}; known: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// All names.
        known: String,
    },
    /// It cannot be made so.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// It is not a shape that can be filled.
    #[error("{0} has no inside that could be filled; give its surface to tetrahedralize")]
    NoShape(&'static str),
}

const fn shape(
    name: &'static str,
    title: &'static str,
    triangles: usize,
    make: fn() -> Shape,
) -> Model {
    Model { name, title, triangles, make: Make::Shape(make) }
}

const fn mesh(
    name: &'static str,
    title: &'static str,
    triangles: usize,
    make: fn(usize) -> RawMesh<f64>,
) -> Model {
    Model { name, title, triangles, make: Make::Mesh(make) }
}

/// The phase in which the octopus is made.
const OCTOPUS_PHASE: f64 = 0.1;

/// The side of a square grid with so many cells.
fn side(cells: usize) -> u32 {
    (cells as f64).sqrt().round().max(3.0) as u32
}

/// All models, in the order of the contact sheet.
pub const MODELS: &[Model] = &[
    shape("head", "human head", 20_000, characters::head),
    shape("cow", "cow", 20_000, characters::cow),
    shape("teddy", "teddy bear", 20_000, characters::teddy),
    shape("pitbull", "stocky dog", 20_000, characters::pitbull),
    shape("rabbit", "sitting rabbit", 50_000, characters::rabbit),
    shape("reptile", "lizard with a comb", 110_000, characters::reptile),
    shape("santa", "Santa Claus with a sack", 150_000, characters::santa),
    shape("dragon", "winged dragon", 50_000, characters::dragon),
    shape("hand", "open hand", 4_800, || characters::hand(0.0)),
    shape("grip", "hand that grips", 4_800, || characters::hand(0.5)),
    shape("fist", "closed hand", 4_800, || characters::hand(1.0)),
    shape("phone", "telephone", 900, characters::phone),
    shape("mouse", "mouse", 15_000, characters::mouse),
    shape("hat", "hat", 1_500, characters::hat),
    shape("worn-hat", "the hat where it sits on the mouse", 1_500, || {
        characters::hat().moved(characters::MOUSE_HAT)
    }),
    mesh("dolphin", "dolphin", 9_024, |n| dolphin(0, dolphin_levels(n))),
    mesh("dolphin-up", "dolphin, tail up", 9_024, |n| dolphin(1, dolphin_levels(n))),
    mesh("dolphin-down", "dolphin, tail down", 9_024, |n| dolphin(2, dolphin_levels(n))),
    shape("octopus", "octopus", 20_000, || characters::octopus(OCTOPUS_PHASE)),
    shape("bowl", "bowl on a foot", 20_000, characters::bowl),
    shape("rings", "interlocked rings", 20_000, characters::rings),
    shape("uterus", "uterus with its cavity", 20_000, characters::uterus),
    shape("polyp", "polyp on a stalk", 5_000, characters::polyp),
    shape("myoma", "lumpy myoma", 5_000, characters::myoma),
    mesh("knot", "torus knot", 12_000, |n| {
        let sides = side(n / 120).max(6);
        regular::torus_knot([3, 5], [1.0, 0.4, 0.13], ((n / 2) as u32 / sides).max(60), sides)
    }),
    mesh("torus", "torus", 10_000, |n| regular::torus(1.0, 0.35, 2 * side(n / 4), side(n / 4))),
    mesh("sphere", "sphere", 5_120, |n| {
        regular::icosphere(1.0, ((n as f64 / 20.0).log2() / 2.0).round().max(0.0) as u32)
    }),
    mesh("capsule", "capsule", 2_000, |n| regular::capsule(0.4, 0.6, side(n / 8), side(n / 2))),
    mesh("cylinder", "cylinder", 2_000, |n| regular::cylinder(0.5, 0.8, side(n / 4), side(n))),
];

fn dolphin_levels(triangles: usize) -> u32 {
    ((triangles as f64 / 564.0).log2() / 2.0).round().clamp(0.0, 6.0) as u32
}

/// Finds a model.
pub fn find(name: &str) -> Result<&'static Model, ModelError> {
    MODELS.iter().find(|model| model.name == name).ok_or_else(|| ModelError::Unknown {
        name: name.to_owned(),
        known: MODELS.iter().map(|model| model.name).collect::<Vec<_>>().join(" "),
    })
}

impl Model {
    /// Its surface with about so many triangles: within 5 % for shapes, the nearest possible for the
    /// regular ones.
    pub fn surface(&self, triangles: usize) -> Result<RawMesh<f64>, ModelError> {
        match self.make {
            Make::Shape(make) => Ok(surface_mesh_of_size(&make(), triangles, 5.0)?),
            Make::Mesh(make) => Ok(make(triangles)),
        }
    }

    /// Its surface with what moves it: the octopus has joints, the dolphin its other poses as morph
    /// targets.
    pub fn rigged(&self, triangles: usize) -> Result<defcol_io::Model, ModelError> {
        let mesh = self.surface(triangles)?;
        let mut model = defcol_io::Model::from_mesh(mesh);
        match self.name {
            "octopus" => {
                let skeleton = characters::octopus_skeleton(OCTOPUS_PHASE, &model.mesh.positions);
                model.skeleton = Some(skeleton);
            }
            "dolphin" => {
                for (pose, name) in [(1, "tail up"), (2, "tail down")] {
                    let other = dolphin(pose, dolphin_levels(triangles));
                    let rest = &model.mesh.positions;
                    model.morph_targets.push(MorphTarget {
                        name: name.into(),
                        first_vertex: 0,
                        displacements: other
                            .positions
                            .iter()
                            .zip(rest)
                            .map(|(a, b)| a - b)
                            .collect(),
                        weight: 0.0,
                    });
                }
            }
            _ => {}
        }
        Ok(model)
    }

    /// Its distance function.
    pub fn shape(&self) -> Result<Shape, ModelError> {
        match self.make {
            Make::Shape(make) => Ok(make()),
            Make::Mesh(_) => Err(ModelError::NoShape(self.name)),
        }
    }

    /// It filled with tetrahedra.
    pub fn solid(&self, target: &Target) -> Result<RawMesh<f64>, ModelError> {
        Ok(target.fill(&self.shape()?, |_| ())?)
    }
}

/// The solids of THESIS table 3.1 that are not regular: name, vertices, tetrahedra, and how far off they
/// may be in percent.
pub const THESIS_SOLIDS: [(&str, usize, usize, f64); 4] = [
    ("head", 66, 143, 30.0),
    ("cow", 332, 969, 10.0),
    ("teddy", 338, 852, 10.0),
    ("pitbull", 2482, 7691, 10.0),
];
