//! Fine surfaces that coarse solids carry, and what they hand on to these.
use defcol::contact::volume::VolumeContact;
use defcol::detect::ldi::Software;
use defcol::math::Vector3;
use defcol::mesh::{TetMesh, TriangleMesh};
use defcol::state::{Bodies, Collides};
use defcol_meshing::embedding::Embedding;
use defcol_scenes::regular::{box_grid, icosphere};

#[test]
fn the_gradient_of_a_volume_reaches_the_solid() {
    // A fine ball carried by a coarse block, in another ball.
    let block = TetMesh::new(box_grid([2, 2, 2], 1.2)).unwrap();
    let shift = Vector3::repeat(1.2);
    let ball = TriangleMesh::new(icosphere(1.0, 4)).unwrap();
    let fine: Vec<_> = ball.positions().iter().map(|p| p + shift).collect();
    let embedding = Embedding::attach(&block, &fine);
    let mut bodies = Bodies::default();
    bodies.add_surface(&ball, Collides::default());
    bodies.add_surface(&ball, Collides::default());
    let other: Vec<_> = fine.iter().map(|p| p + Vector3::new(1.1, 0.4, 0.2)).collect();
    let mut meter = VolumeContact::<Software>::default();
    let mut measure = |vertices: &[Vector3<f64>], resolution: u32| {
        let mut surface = Vec::new();
        embedding.follow(&block, vertices, &mut surface);
        surface.extend(&other);
        meter.pair(&bodies, &surface, [0, 1], resolution).unwrap();
        let mut gradient = vec![Vector3::zeros(); surface.len()];
        for share in meter.vertices() {
            gradient[share.vertex as usize] = share.gradient;
        }
        (meter.volume().value, gradient)
    };
    // Bent, so that it is not at rest.
    let bend = |p: &Vector3<f64>| p + Vector3::new(0.05 * p.y.sin(), 0.0, 0.03 * p.x * p.x);
    let vertices: Vec<_> = block.positions().iter().map(bend).collect();
    let (_, on_surface) = measure(&vertices, 128);
    let mut found = vec![Vector3::zeros(); vertices.len()];
    embedding.spread(&block, &on_surface[..fine.len()], &mut found);
    let all: Vector3<f64> = on_surface[..fine.len()].iter().sum();
    assert!((found.iter().sum::<Vector3<f64>>() - all).norm() < 1e-10 * all.norm());
    // Against differences of the volume.
    let (mut error, mut size) = (0.0, 0.0);
    let step = 0.02;
    for (vertex, found) in found.iter().enumerate() {
        for axis in 0..3 {
            let mut moved = vertices.clone();
            moved[vertex][axis] += step;
            let (more, _) = measure(&moved, 128);
            moved[vertex][axis] -= 2.0 * step;
            let (less, _) = measure(&moved, 128);
            let slope = (more - less) / (2.0 * step);
            error += (found[axis] - slope).abs();
            size += slope.abs();
        }
    }
    assert!(size > 1.0 && error < 0.02 * size, "{error} {size}");
}
