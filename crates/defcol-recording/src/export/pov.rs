//! POV-Ray scenes: meshes as `mesh2`, with smooth normals.

use std::io;

use defcol::math::{Bounds, Vector3};
use defcol::mesh::TriangleMesh;

use defcol_io::{COLOURS, Sink};

use crate::read::Frame;

/// The camera, the light and the ground that all frames share. POV-Ray has x to the right, y up and z away from the eye:
/// turning the x axis of the camera round keeps left left.
pub fn write_scene(around: Bounds<f64>, sink: &mut Sink) -> io::Result<()> {
    let (middle, size) = (around.center(), around.extent().norm().max(1e-6));
    let eye = middle + Vector3::new(0.5, 0.4, 0.9) * (1.5 * size);
    let light = middle + Vector3::new(-0.6, 1.8, 0.9) * (3.0 * size);
    sink.text(&format!(
        "// What all frames share: change it here.\n\
         global_settings {{ assumed_gamma 1.0 }}\n\
         background {{ rgb <0.85, 0.87, 0.90> }}\n\
         camera {{\n  location {}\n  right -x * image_width / image_height\n  up y\n  angle 40\n  look_at {}\n}}\n\
         light_source {{ {} rgb 1.0 area_light x * {s}, z * {s}, 4, 4 adaptive 1 }}\n\
         light_source {{ {} rgb 0.25 shadowless }}\n\
         plane {{ y, {:?} pigment {{ rgb <0.75, 0.76, 0.78> }} finish {{ ambient 0.05 diffuse 0.8 }} }}\n",
        vector(eye),
        vector(middle),
        vector(light),
        vector(eye),
        around.min.y - 1e-3 * size,
        s = 0.3 * size,
    ))
}

/// The bodies of a frame.
pub fn write_frame(frame: &Frame, sink: &mut Sink) -> io::Result<()> {
    sink.text(&format!(
        "// Frame {} at {:?} s. Draw it with: povray +I<this file> +W960 +H720 +A\n#version 3.7;\n#include \"scene.inc\"\n",
        frame.number, frame.time
    ))?;
    for (number, mesh) in frame.bodies.meshes(&frame.positions).enumerate() {
        let colour = COLOURS[number % COLOURS.len()].map(|part| (f64::from(part) / 255.0).powi(2));
        let look = format!(
            "pigment {{ rgb {} }} finish {{ ambient 0.05 diffuse 0.85 specular 0.15 }}",
            vector(Vector3::from(colour))
        );
        if mesh.triangles.is_empty() {
            for place in &mesh.positions {
                sink.text(&format!("sphere {{ {}, 0.012 {look} }}\n", vector(*place)))?;
            }
            continue;
        }
        let mut normals = vec![];
        let triangles = mesh.triangles.clone();
        let surface = TriangleMesh::new(mesh).map_err(io::Error::other)?;
        surface.vertex_normals(surface.positions(), &mut normals);
        sink.text("mesh2 {\n")?;
        list(sink, "vertex_vectors", surface.positions())?;
        list(sink, "normal_vectors", &normals)?;
        sink.text(&format!("  face_indices {{ {}", triangles.len()))?;
        for [a, b, c] in triangles {
            sink.text(&format!(", <{a}, {b}, {c}>"))?;
        }
        sink.text(&format!(" }}\n  {look}\n}}\n"))?;
    }
    Ok(())
}

fn list(sink: &mut Sink, name: &str, vectors: &[Vector3<f64>]) -> io::Result<()> {
    sink.text(&format!("  {name} {{ {}", vectors.len()))?;
    for one in vectors {
        sink.text(", ")?;
        sink.text(&vector(*one))?;
    }
    sink.text(" }\n")
}

fn vector(v: Vector3<f64>) -> String {
    format!("<{:?}, {:?}, {:?}>", v.x, v.y, v.z)
}
