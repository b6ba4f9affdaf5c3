//! Meshes from files as surfaces and bodies that detectors take.

use defcol::detect::ldi::Shell;
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TetMesh, TriangleMesh};
use defcol::state::{Bodies, Collides};
use defcol_io::Model;

use crate::QueryError;

/// A mesh and the name used for it in reports, usually its path.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedMesh {
    /// Name in reports and error messages.
    pub name: String,
    /// Mesh, morph targets and skeleton.
    pub model: Model,
}

impl NamedMesh {
    /// A mesh with a name.
    pub fn new(name: impl Into<String>, model: Model) -> Self {
        Self { name: name.into(), model }
    }
}

/// What to do with a surface that has open edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenSurface {
    /// Return an error.
    #[default]
    Refuse,
    /// Treat it as the boundary of the half-infinite volume behind it, like a ground or a bag.
    HalfInfinite,
    /// Leave out, and count, the rays that do not exit it as often as they enter.
    Measure,
}

/// Positions in which vertices that no triangle uses coincide with a used one. They would enlarge the bounding box;
/// removing them would change the vertex indices of the file.
fn collapse_unreferenced_vertices(
    positions: &[Vector3<f64>],
    triangles: &[[u32; 3]],
) -> Vec<Vector3<f64>> {
    let mut used = vec![false; positions.len()];
    triangles.iter().flatten().for_each(|&corner| used[corner as usize] = true);
    let some = triangles.first().map_or_else(Vector3::zeros, |[a, _, _]| positions[*a as usize]);
    positions.iter().zip(used).map(|(&p, used)| if used { p } else { some }).collect()
}

/// The surface of a mesh: its triangles, or the boundary of its tetrahedra if it has some.
#[derive(Debug, Clone)]
pub struct LoadedSurface {
    /// Name in error messages.
    pub name: String,
    /// One position per vertex.
    pub positions: Vec<Vector3<f64>>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

impl LoadedSurface {
    /// Extracts the surface.
    ///
    /// # Errors
    /// If the arrays are no valid mesh.
    pub fn new(mesh: &NamedMesh) -> Result<Self, QueryError> {
        let problem = |error| QueryError::input(&mesh.name, error);
        let raw = mesh.model.mesh.clone();
        let (positions, triangles) = if raw.tetrahedra.is_empty() {
            let mesh = TriangleMesh::new(raw).map_err(problem)?;
            let positions = collapse_unreferenced_vertices(mesh.positions(), mesh.triangles());
            (positions, mesh.triangles().to_vec())
        } else {
            let solid = TetMesh::new(raw).map_err(problem)?;
            let surface = solid.surface().mesh();
            (surface.positions().to_vec(), surface.triangles().to_vec())
        };
        Ok(Self { name: mesh.name.clone(), positions, triangles })
    }

    /// The surface for layered depth images, which need a closed one.
    ///
    /// # Errors
    /// If it is open and `open` is [`OpenSurface::Refuse`].
    pub fn shell(&self, open: OpenSurface) -> Result<Shell<'_, f64>, QueryError> {
        let problem = |error| QueryError::input(&self.name, error);
        let shell = Shell::new(&self.positions, &self.triangles).map_err(problem)?;
        match (shell.check_closed(), open) {
            (Ok(()), _) => Ok(shell),
            (Err(_), OpenSurface::HalfInfinite) => Ok(shell.half_infinite()),
            (Err(_), OpenSurface::Measure) => Ok(shell.measured_as_it_is()),
            (Err(error), OpenSurface::Refuse) => Err(QueryError::Input(format!(
                "{}: {error}; mend it (`defcol inspect` shows its defects, `defcol convert --repair all` \
                 mends some)",
                self.name
            ))),
        }
    }
}

/// Meshes as bodies, each with the vertex order of its file.
#[derive(Debug, Clone)]
pub struct MeshScene {
    /// One body per mesh; meshes with tetrahedra are solids.
    pub bodies: Bodies,
    /// One position per vertex of all bodies, in global vertex order.
    pub positions: Vec<Vector3<f64>>,
    /// Name of each body.
    pub names: Vec<String>,
}

impl MeshScene {
    /// Adds all meshes as bodies.
    ///
    /// # Errors
    /// If the arrays of one are no valid mesh.
    pub fn new<'a>(
        meshes: impl IntoIterator<Item = &'a NamedMesh>,
        self_collision: bool,
    ) -> Result<Self, QueryError> {
        let mut all = Self { bodies: Bodies::default(), positions: vec![], names: vec![] };
        let collides = Collides { with_itself: self_collision, ..Collides::default() };
        for NamedMesh { name, model } in meshes {
            let problem = |error| QueryError::input(name, error);
            if model.mesh.tetrahedra.is_empty() {
                let mesh = TriangleMesh::new(model.mesh.clone()).map_err(problem)?;
                all.positions
                    .extend(collapse_unreferenced_vertices(mesh.positions(), mesh.triangles()));
                all.bodies.add_surface(&mesh, collides);
            } else {
                let mesh = TetMesh::new(model.mesh.clone()).map_err(problem)?;
                all.positions.extend_from_slice(mesh.positions());
                all.bodies.add_solid(&mesh, collides);
            }
            all.names.push(name.clone());
        }
        Ok(all)
    }

    /// Names of the bodies that are open surfaces and therefore enclose no volume.
    ///
    /// # Errors
    /// If all of them are.
    pub fn open_surfaces(&self) -> Result<Vec<String>, QueryError> {
        let is_open = |body: &usize| {
            let shell = Shell::of_body(&self.bodies, &self.positions, *body);
            let closed = shell.and_then(|shell| shell.check_closed());
            self.bodies.list()[*body].tetrahedra.is_empty() && closed.is_err()
        };
        let open = (0..self.bodies.len()).filter(is_open);
        let open: Vec<String> = open.map(|body| self.names[body].clone()).collect();
        if open.len() == self.bodies.len() {
            return Err(QueryError::Input(format!(
                "{}: open surfaces have no inside, so nothing can be in them; close them (`defcol inspect` shows \
                 where they are open)",
                open.join(" and ")
            )));
        }
        Ok(open)
    }

    /// All surfaces, each vertex coloured by a value: grey for zero, then from blue over yellow to red for the largest.
    /// `values` has one entry per vertex of all bodies.
    pub fn coloured(&self, values: &[f64]) -> ColouredMesh {
        let largest = values.iter().copied().fold(0.0, f64::max);
        let mesh = RawMesh {
            positions: self.positions.clone(),
            triangles: self.bodies.triangles().to_vec(),
            ..RawMesh::default()
        };
        let colours = values.iter().map(|&value| heat(value, largest)).collect();
        ColouredMesh { mesh, colours, largest }
    }
}

/// A surface with a colour per vertex.
#[derive(Debug, Clone)]
pub struct ColouredMesh {
    /// The surface.
    pub mesh: RawMesh<f64>,
    /// Red, green and blue of each vertex.
    pub colours: Vec<[u8; 3]>,
    /// The value shown in red.
    pub largest: f64,
}

/// The colour of a value between zero and the largest.
fn heat(value: f64, largest: f64) -> [u8; 3] {
    const COLD_TO_HOT: [[f64; 3]; 4] =
        [[60.0, 90.0, 200.0], [70.0, 190.0, 170.0], [245.0, 215.0, 70.0], [215.0, 40.0, 30.0]];
    if value <= 0.0 || largest <= 0.0 {
        return [200; 3];
    }
    let position = (value / largest).min(1.0) * 3.0;
    let below = (position as usize).min(2);
    let fraction = position - below as f64;
    std::array::from_fn(|k| {
        let [low, high] = [COLD_TO_HOT[below][k], COLD_TO_HOT[below + 1][k]];
        (low + (high - low) * fraction).round() as u8
    })
}
