use std::ops::Range;

use defcol::error::MeshError;
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, TetMesh, repair};
use nalgebra::Matrix4;

/// What a file holds: a mesh, and what some formats keep beside it.
///
/// Coordinates are `f64`, which holds every number of every format exactly.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// Positions, triangles, tetrahedra. Coordinates are finite and indices valid, as far as the
    /// model comes from a reader.
    pub mesh: RawMesh<f64>,
    /// Named groups of triangles, in order; triangles between them have no name.
    pub parts: Vec<Part>,
    /// Displacements that may be blended in.
    pub morph_targets: Vec<MorphTarget>,
    /// Joints that the vertices follow.
    pub skeleton: Option<Skeleton>,
    /// What the reader left out or changed, in words.
    pub notes: Vec<String>,
}

/// A named run of triangles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The name of the group, object or node.
    pub name: String,
    /// Its triangles.
    pub triangles: Range<u32>,
}

/// Displacements of a run of vertices.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphTarget {
    /// The name, if the file gives one.
    pub name: String,
    /// The first vertex that is displaced.
    pub first_vertex: u32,
    /// The displacement of this and the following vertices at weight 1.
    pub displacements: Vec<Vector3<f64>>,
    /// The weight that the file starts with.
    pub weight: f64,
}

/// Joints, and how strongly each vertex follows which.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Skeleton {
    /// The joints; a parent may stand behind its child.
    pub joints: Vec<Joint>,
    /// For each vertex up to four joints and their weights; all weights are 0 for a vertex that
    /// follows none.
    pub bindings: Vec<Binding>,
}

/// One joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// The name, if the file gives one.
    pub name: String,
    /// The joint that this one hangs on.
    pub parent: Option<u32>,
    /// From the joint to its parent (or the world), in the pose of the file.
    pub local: Matrix4<f64>,
    /// From the mesh to the joint, in the pose in which the mesh was bound.
    pub inverse_bind: Matrix4<f64>,
}

/// Which joints a vertex follows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Binding {
    /// The joints.
    pub joints: [u32; 4],
    /// Their weights.
    pub weights: [f32; 4],
}

/// Which steps of [`Model::repair`] to take.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Repair {
    /// Merge vertices no farther apart than this.
    pub weld: Option<f64>,
    /// Drop primitives that name a vertex twice, and copies.
    pub drop_degenerate: bool,
    /// Turn triangles until neighbours agree and closed patches face outwards.
    pub orient: bool,
    /// Swap corners of tetrahedra with negative volume.
    pub flip_inverted: bool,
}

impl Model {
    /// A model that is only a mesh.
    pub fn from_mesh(mesh: RawMesh<f64>) -> Self {
        Self { mesh, ..Self::default() }
    }

    /// Takes the chosen steps, in the order of the fields of [`Repair`], and says what each did.
    pub fn repair(&mut self, steps: &Repair) -> Result<Vec<String>, MeshError> {
        let mut done = Vec::new();
        if let Some(tolerance) = steps.weld {
            let welded = repair::weld(&mut self.mesh, tolerance)?;
            self.keep_vertices(&welded.kept);
            done.push(format!("weld: {} vertices merged into others", welded.merged));
        }
        if steps.drop_degenerate {
            let dropped = repair::drop_degenerate(&mut self.mesh)?;
            self.keep_triangles(&dropped.kept_triangles);
            done.push(format!(
                "degenerate: {} triangles and {} tetrahedra dropped",
                dropped.triangles, dropped.tetrahedra
            ));
        }
        if steps.orient {
            let oriented = repair::orient_outward(&mut self.mesh)?;
            done.push(format!("orientation: {} triangles turned over", oriented.flipped));
            if oriented.unorientable > 0 {
                done.push(format!(
                    "orientation: {} patches cannot be oriented (like a Möbius strip)",
                    oriented.unorientable
                ));
            }
        }
        if steps.flip_inverted {
            let flipped = repair::flip_inverted(&mut self.mesh)?;
            done.push(format!("inverted: {flipped} tetrahedra turned over"));
        }
        Ok(done)
    }

    /// The surface alone: that of the tetrahedra where there are any, else the triangles.
    pub fn surface(&self) -> Result<RawMesh<f64>, MeshError> {
        if self.mesh.tetrahedra.is_empty() {
            return Ok(RawMesh {
                positions: self.mesh.positions.clone(),
                triangles: self.mesh.triangles.clone(),
                tetrahedra: vec![],
            });
        }
        let solid = TetMesh::new(self.mesh.clone())?;
        let surface = solid.surface().mesh();
        Ok(RawMesh {
            positions: surface.positions().to_vec(),
            triangles: surface.triangles().to_vec(),
            tetrahedra: vec![],
        })
    }

    fn keep_vertices(&mut self, kept: &[u32]) {
        if let Some(skeleton) = &mut self.skeleton {
            skeleton.bindings = kept.iter().map(|&old| skeleton.bindings[old as usize]).collect();
        }
        for target in &mut self.morph_targets {
            let range = target.first_vertex as usize
                ..target.first_vertex as usize + target.displacements.len();
            // Kept vertices stay in order, so those of one run stay together.
            let first = kept.partition_point(|&old| (old as usize) < range.start);
            let end = kept.partition_point(|&old| (old as usize) < range.end);
            target.displacements = kept[first..end]
                .iter()
                .map(|&old| target.displacements[old as usize - range.start])
                .collect();
            target.first_vertex = first as u32;
        }
    }

    fn keep_triangles(&mut self, kept: &[u32]) {
        for part in &mut self.parts {
            let [start, end] = [part.triangles.start, part.triangles.end]
                .map(|old| kept.partition_point(|&k| k < old) as u32);
            part.triangles = start..end;
        }
        self.parts.retain(|part| !part.triangles.is_empty());
    }
}
