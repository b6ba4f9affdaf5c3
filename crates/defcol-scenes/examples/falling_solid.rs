//! A solid from a mesh file falls on the ground: reads a closed surface, fills it with tetrahedra, simulates these and lets
//! the surface follow.
//!
//! `cargo run -p defcol-scenes --example falling_solid [MESH]`

use std::path::PathBuf;

use defcol::mesh::repair;
use defcol::prelude::*;
use defcol_io::{Model, Progress, read};
use defcol_meshing::embedding::Embedding;
use defcol_meshing::{Shape, Target};
use defcol_scenes::models;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = match std::env::args_os().nth(1) {
        Some(path) => PathBuf::from(path),
        // Without an argument a model is written first.
        None => {
            let path = std::env::temp_dir().join("defcol-falling-solid.ply");
            let mesh = models::find("teddy")?.surface(2000)?;
            let teddy = Model { mesh, ..Model::default() };
            defcol_io::write(&path, &teddy, &Default::default(), &Progress::default())?;
            path
        }
    };

    // Surfaces from files often repeat vertices; welding makes neighbors of their triangles.
    let mut surface = read(&path, &Progress::default())?.surface()?;
    repair::weld(&mut surface, 0.0)?;
    let solid =
        TetMesh::new(Target::tetrahedra(500).fill(&Shape::from_surface(&surface)?, |_| ())?)?;
    println!(
        "{}: {} triangles, filled with {} tetrahedra",
        path.display(),
        surface.triangles.len(),
        solid.tetrahedra().len()
    );

    let mut world = World::<f64>::default();
    let size = solid.bounds().extent().max();
    world.add_collider(Collider::half_space(Vector3::y(), 0.0))?;
    let mut parameters = world.parameters().clone();
    parameters.contact.thickness = 0.005 * size;
    world.set_parameters(parameters)?;
    let height = 0.5 * size - solid.bounds().min.y;
    let options =
        BodyOptions { position: Vector3::new(0.0, height, 0.0), ..BodyOptions::default() };
    // Stiff enough to carry its weight at any size.
    let young = 2e4 * size.max(0.1);
    let kind = BodyKind::Elements(
        ElasticModuli { young, ..ElasticModuli::default() },
        ConstitutiveLaw::Hencky,
    );
    let id = world.add_solid(&solid, kind, &options)?;

    // The tetrahedra collide; the surface of the file is embedded in them, to be drawn.
    let embedding = Embedding::attach(&solid, &surface.positions);
    let mut skin = Vec::new();
    for frame in 1..=120 {
        world.step()?;
        let positions = world.positions(id)?;
        embedding.follow(&solid, positions, &mut skin);
        let lowest = positions.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        let top = skin.iter().map(|p| p.y).fold(f64::NEG_INFINITY, f64::max);
        if frame % 15 == 0 {
            let kinetic = world.energy().kinetic;
            println!(
                "frame {frame:3}: from {lowest:.3} m to {top:.3} m, kinetic energy {kinetic:.3} J"
            );
        }
        assert!(lowest > 0.0, "it stays above the ground");
    }
    Ok(())
}
