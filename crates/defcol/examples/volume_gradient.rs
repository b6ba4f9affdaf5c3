//! The volume that two surfaces share, its gradient, and the forces that make it smaller (Faure et al. 2008).
//!
//! `cargo run -p defcol --example volume_gradient`

use defcol::detect::ldi::Software;
use defcol::prelude::*;
use defcol_scenes::regular::icosphere;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ball = TriangleMesh::new(icosphere(1.0, 4))?;
    let mut bodies = Bodies::default();
    bodies.add_surface(&ball, Collides::default());
    bodies.add_surface(&ball, Collides::default());
    let distance = 1.5;
    let moved = ball.positions().iter().map(|p| p + Vector3::new(distance, 0.0, 0.0));
    let positions: Vec<_> = ball.positions().iter().copied().chain(moved).collect();

    let mut contact = VolumeContact::<Software>::default();
    for resolution in [32, 64, 128, 256] {
        contact.pair(&bodies, &positions, [0, 1], resolution)?;
        let volume = contact.volume();
        println!("{resolution:4} rays along a side: {:.6} ± {:.6}", volume.value, volume.error);
    }
    // Two unit balls at distance d share π (4 + d) (2 - d)² / 12.
    let exact =
        std::f64::consts::PI * (4.0 + distance) * (2.0 - distance) * (2.0 - distance) / 12.0;
    println!("exact for spheres:       {exact:.6} (the meshes are a little smaller)");

    // The forces of the energy k V² / 2, with k in Pa/m³.
    let stiffness = 1e3;
    let force = contact.net_force(0, stiffness);
    let mut forces = vec![Vector3::<f64>::zeros(); positions.len()];
    contact.add_forces(stiffness, &mut forces);
    let pushed = forces.iter().filter(|force| force.norm() > 0.0).count();
    println!("the first ball is pushed by {:.1} N along x, at {pushed} vertices of both", force.x);
    assert!((contact.volume().value - exact).abs() < 0.02 * exact && force.x < 0.0);
    Ok(())
}
