//! Which vertices make which bodies.

use std::ops::Range;

use defcol::math::{Real, Vector3};
use defcol::mesh::RawMesh;
use defcol::world::World;

use crate::container::Fields;

/// One body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyMesh {
    /// The number of its [`Id`](defcol::world::BodyId).
    pub id: u32,
    /// Its vertices, in the numbering of all bodies.
    pub vertices: Range<usize>,
    /// Its surface, counted from its first vertex; empty for particles.
    pub triangles: Vec<[u32; 3]>,
    /// Its tetrahedra, counted in the same way; empty for surfaces.
    pub tetrahedra: Vec<[u32; 4]>,
}

/// All bodies, in the order in which they were added.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topology {
    /// The bodies.
    pub bodies: Vec<BodyMesh>,
}

impl Topology {
    /// That of a world.
    pub fn of<R: Real>(world: &World<R>) -> Self {
        let all = world.bodies();
        let bodies = all.list().iter().zip(world.body_ids()).map(|(body, id)| {
            let first = body.vertices.start as u32;
            let triangles = all.triangles()[body.triangles.clone()].iter();
            let tetrahedra = all.tetrahedra()[body.tetrahedra.clone()].iter();
            BodyMesh {
                id: id.number(),
                vertices: body.vertices.clone(),
                triangles: triangles.map(|corners| corners.map(|corner| corner - first)).collect(),
                tetrahedra: tetrahedra.map(|corners| corners.map(|c| c - first)).collect(),
            }
        });
        Self { bodies: bodies.collect() }
    }

    /// How many vertices all bodies have.
    pub fn vertex_count(&self) -> usize {
        self.bodies.last().map_or(0, |body| body.vertices.end)
    }

    /// The place of the body that a vertex belongs to.
    pub fn body_of(&self, vertex: usize) -> usize {
        self.bodies.partition_point(|body| body.vertices.end <= vertex)
    }

    /// Each body as a mesh, with these positions.
    pub fn meshes(&self, positions: &[Vector3<f64>]) -> impl Iterator<Item = RawMesh<f64>> {
        self.bodies.iter().map(|body| RawMesh {
            positions: positions[body.vertices.clone()].to_vec(),
            triangles: body.triangles.clone(),
            tetrahedra: body.tetrahedra.clone(),
        })
    }

    /// As bytes: the number of bodies, then for each its id, how many vertices, triangles and tetrahedra it has, and these.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![];
        let mut put = |number: u32| bytes.extend_from_slice(&number.to_le_bytes());
        put(self.bodies.len() as u32);
        for body in &self.bodies {
            put(body.id);
            put(body.vertices.len() as u32);
            put(body.triangles.len() as u32);
            put(body.tetrahedra.len() as u32);
            body.triangles.iter().flatten().for_each(|corner| put(*corner));
            body.tetrahedra.iter().flatten().for_each(|corner| put(*corner));
        }
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(bytes);
        let count = fields.u32()?;
        let (mut bodies, mut first) = (vec![], 0usize);
        for _ in 0..count {
            let [id, vertices, triangles, tetrahedra] =
                [fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?];
            let end =
                first.checked_add(vertices as usize).filter(|end| *end < u32::MAX as usize)?;
            let triangles = corners::<3>(&mut fields, triangles, vertices)?;
            let tetrahedra = corners::<4>(&mut fields, tetrahedra, vertices)?;
            bodies.push(BodyMesh { id, vertices: first..end, triangles, tetrahedra });
            first = end;
        }
        fields.is_empty().then_some(Self { bodies })
    }
}

/// So many corners of primitives, each below the number of vertices.
fn corners<const N: usize>(
    fields: &mut Fields,
    count: u32,
    vertices: u32,
) -> Option<Vec<[u32; N]>> {
    let bytes = fields.bytes(u64::from(count) * 4 * N as u64)?;
    let mut numbers = Fields::new(bytes);
    let mut list = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let mut one = [0; N];
        for corner in &mut one {
            *corner = numbers.u32().filter(|corner| *corner < vertices)?;
        }
        list.push(one);
    }
    Some(list)
}
