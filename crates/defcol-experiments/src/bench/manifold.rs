//! The volume of an overlap from an exact boolean, with manifold-rust.

use manifold_rust::manifold::Manifold;
use manifold_rust::types::MeshGL64;

use super::Body;

/// From arrays to the volume.
pub fn common_volume(bodies: [&Body; 2]) -> f64 {
    let [a, b] = bodies.map(|body| {
        let positions = body.positions.iter().flat_map(|p| [p.x, p.y, p.z].map(f64::from));
        let corners = body.bodies.triangles().iter().flatten();
        Manifold::from_mesh_gl64(&MeshGL64 {
            num_prop: 3,
            vert_properties: positions.collect(),
            tri_verts: corners.map(|&corner| corner.into()).collect(),
            ..Default::default()
        })
    });
    a.intersection(&b).volume()
}
