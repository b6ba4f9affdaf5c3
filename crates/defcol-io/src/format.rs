use std::fmt;
use std::path::Path;

/// The mesh formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Wavefront OBJ, `.obj`.
    Obj,
    /// Stanford PLY, `.ply`.
    Ply,
    /// STL, `.stl`.
    Stl,
    /// Geomview OFF, `.off`.
    Off,
    /// glTF 2.0 as JSON, `.gltf`.
    Gltf,
    /// glTF 2.0 in one binary file, `.glb`.
    Glb,
    /// Medit, `.mesh` (text) and `.meshb` (binary).
    Medit,
    /// Gmsh 2.2 and 4.1, `.msh`.
    Gmsh,
    /// TetGen, `.node` and `.ele` side by side.
    TetGen,
    /// Legacy VTK, `.vtk`.
    Vtk,
    /// VTK unstructured grid in XML, `.vtu`.
    Vtu,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 11] = [
        Self::Obj,
        Self::Ply,
        Self::Stl,
        Self::Off,
        Self::Gltf,
        Self::Glb,
        Self::Medit,
        Self::Gmsh,
        Self::TetGen,
        Self::Vtk,
        Self::Vtu,
    ];

    /// The endings of its files, the usual one first.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Obj => &["obj"],
            Self::Ply => &["ply"],
            Self::Stl => &["stl"],
            Self::Off => &["off"],
            Self::Gltf => &["gltf"],
            Self::Glb => &["glb"],
            Self::Medit => &["mesh", "meshb"],
            Self::Gmsh => &["msh"],
            Self::TetGen => &["node", "ele"],
            Self::Vtk => &["vtk"],
            Self::Vtu => &["vtu"],
        }
    }

    /// The format of a file by its ending, in any case.
    pub fn of_path(path: &Path) -> Option<Self> {
        Self::of_ending(path.extension()?.to_str()?)
    }

    /// The format with this ending.
    pub fn of_ending(ending: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format.endings().iter().any(|known| known.eq_ignore_ascii_case(ending)))
    }

    /// Whether files of this format are written, not only read.
    pub fn is_written(self) -> bool {
        !matches!(self, Self::Gltf | Self::Vtk)
    }

    /// Whether the format holds tetrahedra.
    pub fn holds_tetrahedra(self) -> bool {
        matches!(self, Self::Medit | Self::Gmsh | Self::TetGen | Self::Vtk | Self::Vtu)
    }

    /// All endings of the formats that pass, for messages.
    pub(crate) fn list(pass: impl Fn(Self) -> bool) -> String {
        let endings = Self::ALL.into_iter().filter(|format| pass(*format)).flat_map(Self::endings);
        endings.map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Obj => "OBJ",
            Self::Ply => "PLY",
            Self::Stl => "STL",
            Self::Off => "OFF",
            Self::Gltf => "glTF",
            Self::Glb => "GLB",
            Self::Medit => "Medit",
            Self::Gmsh => "Gmsh",
            Self::TetGen => "TetGen",
            Self::Vtk => "legacy VTK",
            Self::Vtu => "VTU",
        })
    }
}
