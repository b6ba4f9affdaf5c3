//! Geomview OFF, text and binary, with or without colours, normals and texture coordinates.

use crate::binary::{Bytes, Endian, Scalar};
use crate::budget::Reading;
use crate::error::{Fault, Parsed, Problem};
use crate::faces::Faces;
use crate::model::Model;
use crate::output::{Encoding, Sink};
use crate::text::{Scanner, check_index};
use defcol::mesh::RawMesh;

pub(crate) fn parse(bytes: &[u8], reading: &mut Reading) -> Parsed<Model> {
    let mut scanner = Scanner::new(bytes, Some(b'#'));
    let magic = scanner.peek();
    scanner.offset += magic.len();
    // Some files lack the end of the line: `OFF490 518 0`.
    let digits = magic.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    scanner.offset -= digits;
    let magic = &magic[..magic.len() - digits];
    let Some(prefix) = magic.strip_suffix(b"OFF") else {
        let problem = Problem::WrongMagic { format: "OFF", expected: "`OFF`" };
        return Err(Fault::text(0, problem));
    };
    if prefix.iter().any(|letter| !b"STCN".contains(letter)) {
        return Err(Fault::text(
            0,
            Problem::Unsupported {
                what: "vertices with more or less than three coordinates (4OFF, nOFF) are".into(),
                way_out: "export the mesh as plain OFF",
            },
        ));
    }
    if scanner.peek() == b"BINARY" {
        if !prefix.is_empty() {
            return Err(scanner.fault(Problem::Unsupported {
                what: "binary OFF with colours or normals is".into(),
                way_out: "export the mesh as text, or without them",
            }));
        }
        scanner.skip_line();
        return parse_binary(Bytes::new(bytes, scanner.offset, Endian::Big), reading);
    }
    let vertices = scanner.count("vertices", 6)?;
    let count = scanner.count("faces", 2)?;
    scanner.integer("the number of edges")?;
    scanner.skip_line();
    let mut positions = reading.vec(vertices)?;
    for vertex in 0..vertices {
        positions.push(scanner.position()?);
        scanner.skip_line();
        if vertex % 4096 == 0 {
            reading.reached(scanner.offset)?;
        }
    }
    let mut faces = Faces::default();
    faces.expect(count.min(scanner.rest().len() / 8 + 1), reading)?;
    let mut corners: Vec<u32> = Vec::new();
    for face in 0..count {
        let start = {
            scanner.skip_space();
            scanner.offset
        };
        let size = scanner.count("corners of a face", 2)?;
        if size < 3 {
            scanner.offset = start;
            return Err(scanner.syntax("a face with at least three corners"));
        }
        if size > corners.capacity() {
            reading.take::<u32>(size)?;
            corners = Vec::with_capacity(size);
        }
        corners.clear();
        for _ in 0..size {
            corners.push(scanner.index(0, vertices)?);
        }
        faces.push_from_text(&corners, scanner.rest().len(), reading)?;
        scanner.skip_line();
        if face % 4096 == 0 {
            reading.reached(scanner.offset)?;
        }
    }
    let triangles = faces.finish(&positions, reading)?;
    Ok(Model::from_mesh(RawMesh { positions, triangles, tetrahedra: vec![] }))
}

fn parse_binary(mut cursor: Bytes, reading: &mut Reading) -> Parsed<Model> {
    let vertices = cursor.count(Scalar::I32, "vertices", 12)?;
    let count = cursor.count(Scalar::I32, "faces", 8)?;
    cursor.take(4, "the number of edges")?;
    let mut positions = reading.vec(vertices)?;
    cursor.positions(Scalar::F32, vertices, &mut positions)?;
    let mut faces = Faces::default();
    let mut corners = Vec::new();
    for _ in 0..count {
        let start = cursor.offset;
        let size = cursor.count(Scalar::I32, "corners of a face", 4)?;
        if size < 3 {
            let expected = "a face with at least three corners";
            return Err(Fault::byte(start, Problem::Syntax { expected, found: size.to_string() }));
        }
        corners.clear();
        for _ in 0..size {
            let at = cursor.offset;
            let index = cursor.integer(Scalar::I32, "the index of a vertex")?;
            corners.push(check_index(index, 0, vertices).map_err(|p| Fault::byte(at, p))?);
        }
        reading.take::<[u32; 3]>(2 * (size - 2))?;
        faces.push(&corners);
        let colours = cursor.count(Scalar::I32, "components of a colour", 4)?;
        cursor.take(4 * colours, "a colour")?;
    }
    let triangles = faces.finish(&positions, reading)?;
    Ok(Model::from_mesh(RawMesh { positions, triangles, tetrahedra: vec![] }))
}

pub(crate) fn write(
    mesh: &RawMesh<f64>,
    encoding: Encoding,
    sink: &mut Sink,
) -> std::io::Result<()> {
    let counts = [mesh.positions.len(), mesh.triangles.len(), 0];
    if encoding == Encoding::Ascii {
        sink.text("OFF\n")?;
        sink.text(&format!("{} {} {}\n", counts[0], counts[1], counts[2]))?;
        for position in &mesh.positions {
            sink.numbers(position.iter().copied())?;
            sink.text("\n")?;
        }
        for triangle in &mesh.triangles {
            sink.text("3")?;
            sink.integers(triangle.iter().map(|&vertex| i64::from(vertex)))?;
            sink.text("\n")?;
        }
        return Ok(());
    }
    sink.text("OFF BINARY\n")?;
    for count in counts {
        sink.bytes(&(count as u32).to_be_bytes())?;
    }
    for x in mesh.positions.iter().flatten() {
        sink.bytes(&(*x as f32).to_be_bytes())?;
    }
    for [a, b, c] in &mesh.triangles {
        for word in [3, *a, *b, *c, 0] {
            sink.bytes(&word.to_be_bytes())?;
        }
    }
    Ok(())
}
