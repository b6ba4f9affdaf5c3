//! Contacts for an engine of your own: you keep the positions, defcol finds depths and directions.
//!
//! `cargo run -p defcol --example own_engine`

use defcol::prelude::*;
use defcol_scenes::regular::{ball, box_grid};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Topology is given once, or whenever a mesh changes.
    let ball = TetMesh::new(ball(0.1))?;
    let slab = TetMesh::new(box_grid([8, 2, 8], 0.05))?;
    let mut bodies = Bodies::default();
    bodies.add_solid(&ball, Collides::default());
    bodies.add_solid(&slab, Collides::with_all_and_itself());

    // Buffers that are reused from frame to frame.
    let mut detector = SpatialHash::default();
    let mut hits = Hits::default();
    let mut points = CollidingPoints::default();
    let mut depths = ConsistentDepth::default();
    let mut contacts = Contacts::default();

    for frame in 0..5 {
        // The engine moves its bodies: one position per vertex, one body after the other.
        let fall = Vector3::new(0.2, 0.21 - 0.01 * f64::from(frame), 0.2);
        let ball = ball.positions().iter().map(|p| p + fall);
        let positions: Vec<_> = ball.chain(slab.positions().iter().copied()).collect();

        detector.detect(&bodies, &positions, Questions::default(), &mut hits)?;
        points.collect(&bodies, &positions, &hits)?;
        depths.find(&bodies, &positions, &points, &mut contacts)?;

        // Each contact says which vertices to push, in which direction and how far.
        let deepest = contacts.iter().max_by(|a, b| a.depth.total_cmp(&b.depth));
        match deepest {
            None => println!("frame {frame}: no contact"),
            Some(Contact { bodies: [a, b], first, direction, depth, .. }) => println!(
                "frame {frame}: {} contacts; vertex {} of body {a} is {depth:.4} m deep in body {b}, \
                 push it along ({:.2}, {:.2}, {:.2})",
                contacts.len(),
                first.vertices[0],
                direction.x,
                direction.y,
                direction.z,
            ),
        }
    }
    assert!(!contacts.is_empty(), "the ball has reached the slab");
    Ok(())
}
