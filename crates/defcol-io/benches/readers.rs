//! How fast each reader is: `cargo bench -p defcol-io --bench readers [-- NAME]`.
//!
//! A torus of 500,000 triangles goes through every format. The yardstick in the same run is a plain
//! copy of the result's arrays: what memory alone would take. Where a crate reads the same format,
//! it is timed on the same bytes.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::io::Cursor;
use std::time::Instant;

use defcol_io::{
    Encoding, Format, GmshVersion, Model, Progress, WriteOptions, encode, parse, parse_tetgen,
};
use defcol_scenes::regular::{box_grid, torus};

/// The shortest of several runs, in milliseconds.
fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut best = f64::INFINITY;
    let begin = Instant::now();
    for round in 0..20 {
        let start = Instant::now();
        black_box(work());
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
        if round >= 2 && begin.elapsed().as_secs_f64() > 2.0 {
            break;
        }
    }
    best
}

/// Whether a reader was asked for on the command line; without a name, all are.
fn is_wanted(name: &str) -> bool {
    let mut names =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    names.peek().is_none() || names.any(|wanted| name.contains(&wanted))
}

fn main() {
    let surface = Model::from_mesh(torus(2.0, 0.5, 1000, 250).cast::<f32>().cast());
    let solid = Model::from_mesh(box_grid([46, 46, 46], 0.02));
    println!("{:<22} {:>8} {:>9} {:>9} {:>9}   peer", "format", "MB", "ms", "MB/s", "x copy");
    let cases = [
        (Format::Obj, Encoding::Ascii, GmshVersion::V4),
        (Format::Ply, Encoding::Binary, GmshVersion::V4),
        (Format::Ply, Encoding::BinaryBigEndian, GmshVersion::V4),
        (Format::Ply, Encoding::Ascii, GmshVersion::V4),
        (Format::Stl, Encoding::Binary, GmshVersion::V4),
        (Format::Stl, Encoding::Ascii, GmshVersion::V4),
        (Format::Off, Encoding::Binary, GmshVersion::V4),
        (Format::Off, Encoding::Ascii, GmshVersion::V4),
        (Format::Glb, Encoding::Binary, GmshVersion::V4),
        (Format::Medit, Encoding::Binary, GmshVersion::V4),
        (Format::Medit, Encoding::Ascii, GmshVersion::V4),
        (Format::Gmsh, Encoding::Binary, GmshVersion::V2),
        (Format::Gmsh, Encoding::Ascii, GmshVersion::V2),
        (Format::Gmsh, Encoding::Binary, GmshVersion::V4),
        (Format::Gmsh, Encoding::Ascii, GmshVersion::V4),
        (Format::Vtu, Encoding::Binary, GmshVersion::V4),
        (Format::Vtu, Encoding::Ascii, GmshVersion::V4),
    ];
    for (format, encoding, gmsh) in cases {
        let model = if format.holds_tetrahedra() { &solid } else { &surface };
        let mut bytes = Vec::new();
        encode(&mut bytes, model, format, &WriteOptions { encoding, gmsh }, &Progress::new())
            .unwrap();
        let name = match (format, gmsh) {
            (Format::Gmsh, GmshVersion::V2) => "Gmsh 2.2".to_owned(),
            (Format::Gmsh, GmshVersion::V4) => "Gmsh 4.1".to_owned(),
            _ => format.to_string(),
        };
        let name = format!("{name} {encoding:?}");
        if !is_wanted(&name) {
            continue;
        }
        let ms = best(|| parse(&bytes, format, None, &Progress::new()).unwrap());
        report(&name, bytes.len(), ms, model, &peer(format, encoding, &bytes));
    }
    if is_wanted("TetGen") {
        let [nodes, elements] = tetgen(&solid);
        let ms = best(|| parse_tetgen(&nodes, &elements, [None; 2], &Progress::new()).unwrap());
        report("TetGen", nodes.len() + elements.len(), ms, &solid, "");
    }
    if is_wanted("legacy VTK Ascii") {
        let text = legacy_vtk(&solid);
        let ms = best(|| parse(&text, Format::Vtk, None, &Progress::new()).unwrap());
        report("legacy VTK Ascii", text.len(), ms, &solid, "");
    }
}

fn report(name: &str, size: usize, ms: f64, model: &Model, peer: &str) {
    let copy = best(|| model.mesh.clone());
    let megabytes = size as f64 / 1e6;
    println!(
        "{name:<22} {megabytes:>8.1} {ms:>9.1} {:>9.0} {:>9.1}   {peer}",
        megabytes / ms * 1e3,
        ms / copy
    );
}

/// What a crate for the same format takes on the same bytes.
fn peer(format: Format, encoding: Encoding, bytes: &[u8]) -> String {
    let (name, ms) = match (format, encoding) {
        (Format::Obj, _) => (
            "tobj",
            best(|| {
                tobj::load_obj_buf(&mut Cursor::new(bytes), &tobj::LoadOptions::default(), |_| {
                    Ok(Default::default())
                })
                .unwrap()
            }),
        ),
        (Format::Stl, _) => ("stl_io", best(|| stl_io::read_stl(&mut Cursor::new(bytes)).unwrap())),
        (Format::Ply, _) => (
            "ply-rs-bw",
            best(|| {
                ply_rs_bw::parser::Parser::<ply_rs_bw::ply::DefaultElement>::new()
                    .read_ply(&mut Cursor::new(bytes))
                    .unwrap()
            }),
        ),
        (Format::Glb, _) => ("gltf", best(|| gltf_positions(bytes))),
        _ => return String::new(),
    };
    format!("{name}: {ms:.1} ms")
}

fn gltf_positions(bytes: &[u8]) -> (Vec<[f32; 3]>, Vec<u32>) {
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(bytes).unwrap();
    let mesh = document.meshes().next().unwrap();
    let primitive = mesh.primitives().next().unwrap();
    let reader = primitive.reader(|_| blob.as_deref());
    (
        reader.read_positions().unwrap().collect(),
        reader.read_indices().unwrap().into_u32().collect(),
    )
}

fn tetgen(model: &Model) -> [Vec<u8>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("solid.node");
    defcol_io::write(&path, model, &WriteOptions::default(), &Progress::new()).unwrap();
    ["node", "ele"].map(|ending| std::fs::read(path.with_extension(ending)).unwrap())
}

fn legacy_vtk(model: &Model) -> Vec<u8> {
    let mesh = &model.mesh;
    let mut text = format!(
        "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n",
        mesh.positions.len()
    );
    for p in &mesh.positions {
        text += &format!("{} {} {}\n", p.x, p.y, p.z);
    }
    text += &format!("CELLS {} {}\n", mesh.tetrahedra.len(), 5 * mesh.tetrahedra.len());
    for [a, b, c, d] in &mesh.tetrahedra {
        text += &format!("4 {a} {b} {c} {d}\n");
    }
    text += &format!("CELL_TYPES {}\n", mesh.tetrahedra.len());
    text += &"10\n".repeat(mesh.tetrahedra.len());
    text.into_bytes()
}
