//! Dragging a soft body with the mouse, and undo: what an interactive program does every frame.
//!
//! `cargo run -p defcol --example dragging`

use defcol::prelude::*;
use defcol_scenes::regular::ball;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::<f64>::default();
    world.add_collider(Collider::half_space(Vector3::y(), 0.0))?;
    let mesh = TetMesh::new(ball(0.1))?;
    let place =
        |x: f64| BodyOptions { position: Vector3::new(x, 0.11, 0.0), ..BodyOptions::default() };
    let body = world.add_solid(&mesh, BodyKind::default(), &place(0.0))?;
    let other = world.add_solid(&mesh, BodyKind::default(), &place(0.3))?;
    for _ in 0..30 {
        world.step()?;
    }

    // Mouse button down: pick the vertex nearest to the cursor and pull it with a spring.
    let cursor = Vector3::new(0.0, 0.2, 0.0);
    let positions = world.positions(body)?;
    let distance = |vertex: &u32| (positions[*vertex as usize] - cursor).norm();
    let picked = (0..positions.len() as u32).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let picked = picked.ok_or("the body has no vertices")?;
    let before = world.snapshot();
    let spring = |goal| Dragger::new(body, picked, goal, 60.0, 1.0);
    let dragger = world.add_dragger(spring(cursor))?;

    // Mouse moves: towards the other ball, which is pushed away.
    for frame in 0..60 {
        let goal = cursor + Vector3::new(0.4 * f64::from(frame) / 60.0, 0.0, 0.0);
        world.set_dragger(dragger, spring(goal))?;
        world.step()?;
        if frame % 15 == 14 {
            let touching = world.contacts().iter().filter(|c| c.bodies().contains(&other)).count();
            println!("frame {:3}: {touching} contacts with the other ball", world.frame());
        }
    }
    // Mouse button up.
    world.remove_dragger(dragger)?;
    let center = |world: &World<f64>, id| -> Result<f64, WorldError> {
        let positions = world.positions(id)?;
        Ok(positions.iter().map(|p| p.x).sum::<f64>() / positions.len() as f64)
    };
    let pushed = center(&world, other)?;
    println!("the other ball was pushed to x = {pushed:.3} m");

    // Undo.
    world.restore(&before);
    println!("undone: it is back at x = {:.3} m", center(&world, other)?);
    assert!(pushed > center(&world, other)? + 0.02);
    Ok(())
}
