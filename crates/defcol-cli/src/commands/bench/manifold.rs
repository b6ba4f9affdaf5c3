//! The volume of an overlap from an exact boolean, with manifold-rust.

use defcol::math::Vector3;
use manifold_rust::manifold::Manifold;
use manifold_rust::types::MeshGL64;

/// From arrays to the volume.
pub fn common_volume(bodies: [(&[Vector3<f32>], &[[u32; 3]]); 2]) -> f64 {
    let [a, b] = bodies.map(|(positions, triangles)| {
        let positions = positions.iter().flat_map(|p| [p.x, p.y, p.z].map(f64::from));
        Manifold::from_mesh_gl64(&MeshGL64 {
            num_prop: 3,
            vert_properties: positions.collect(),
            tri_verts: triangles.iter().flatten().map(|&corner| corner.into()).collect(),
            ..Default::default()
        })
    });
    a.intersection(&b).volume()
}
