//! Medit: `.mesh` (text) and `.meshb` (binary, GMF versions 1 to 4).

use crate::binary::{Bytes, Endian, Scalar};
use crate::budget::Reading;
use crate::error::{Fault, Parsed, Problem};
use crate::faces::Faces;
use crate::model::Model;
use crate::output::{Encoding, Sink};
use crate::text::{Scanner, check_index};
use defcol::math::Vector3;
use defcol::mesh::RawMesh;

/// The sections that are read: word, number in binary files, corners of each item.
const TRIANGLES: (&str, i64, usize) = ("Triangles", 6, 3);
const QUADRILATERALS: (&str, i64, usize) = ("Quadrilaterals", 7, 4);
const TETRAHEDRA: (&str, i64, usize) = ("Tetrahedra", 8, 4);

/// Sections with solid elements that are not tetrahedra, and second-order ones.
const UNSUPPORTED: &[(&str, i64)] = &[
    ("Prisms", 9),
    ("Hexahedra", 10),
    ("Pyramids", 49),
    ("TrianglesP2", 24),
    ("TetrahedraP2", 30),
    ("QuadrilateralsQ2", 27),
    ("HexahedraQ2", 33),
];

#[derive(Default)]
struct Body {
    positions: Vec<Vector3<f64>>,
    faces: Faces,
    tetrahedra: Vec<[u32; 4]>,
}

impl Body {
    fn push(&mut self, section: &str, corners: [u32; 4]) {
        match section {
            "Triangles" => self.faces.push(&corners[..3]),
            "Quadrilaterals" => self.faces.push(&corners),
            _ => self.tetrahedra.push(corners),
        }
    }

    /// Makes room for the items of a section.
    fn expect(&mut self, section: &str, count: usize, reading: &mut Reading) -> Parsed<()> {
        match section {
            "Triangles" => self.faces.expect(count, reading),
            "Quadrilaterals" => {
                reading.take::<[u32; 2]>(count)?;
                self.faces.reserve_exact(0, count);
                self.faces.expect(2 * count, reading)
            }
            _ => {
                reading.take::<[u32; 4]>(count)?;
                self.tetrahedra.reserve_exact(count);
                Ok(())
            }
        }
    }

    fn into_model(self, reading: &mut Reading) -> Parsed<Model> {
        let triangles = self.faces.finish(&self.positions, reading)?;
        let Self { positions, tetrahedra, .. } = self;
        Ok(Model::from_mesh(RawMesh { positions, triangles, tetrahedra }))
    }
}

fn unsupported(section: &str) -> Problem {
    Problem::Unsupported {
        what: format!("{section} are"),
        way_out: "export the mesh with triangles and first-order tetrahedra",
    }
}

fn flat(dimension: i64) -> Problem {
    Problem::Unsupported {
        what: format!("meshes of dimension {dimension} are"),
        way_out: "export the mesh with three coordinates a vertex",
    }
}

pub(crate) fn parse(bytes: &[u8], reading: &mut Reading) -> Parsed<Model> {
    match bytes {
        [1, 0, 0, 0, ..] => parse_binary(Bytes::new(bytes, 4, Endian::Little), reading),
        [0, 0, 0, 1, ..] => parse_binary(Bytes::new(bytes, 4, Endian::Big), reading),
        _ => parse_text(bytes, reading),
    }
}

fn parse_text(bytes: &[u8], reading: &mut Reading) -> Parsed<Model> {
    let mut scanner = Scanner::new(bytes, Some(b'#'));
    if !scanner.peek().eq_ignore_ascii_case(b"MeshVersionFormatted") {
        let problem =
            Problem::WrongMagic { format: "a Medit mesh", expected: "`MeshVersionFormatted`" };
        return Err(scanner.fault(problem));
    }
    scanner.word("MeshVersionFormatted")?;
    scanner.unsigned("a version")?;
    let mut body = Body::default();
    let mut passed_over = 0;
    loop {
        scanner.skip_space();
        reading.reached(scanner.offset)?;
        let at = scanner.offset;
        let word = scanner.word("the word End")?;
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        if is("End") {
            break;
        } else if is("Dimension") {
            let dimension = scanner.integer("a dimension")?;
            if dimension != 3 {
                return Err(Fault::text(at, flat(dimension)));
            }
        } else if is("Vertices") {
            let count = scanner.count("vertices", 6)?;
            reading.take::<Vector3<f64>>(count)?;
            body.positions.reserve_exact(count);
            for vertex in 0..count {
                body.positions.push(scanner.position()?);
                scanner.word("the reference of a vertex")?;
                if vertex % 4096 == 0 {
                    reading.reached(scanner.offset)?;
                }
            }
        } else if let Some((name, _, corners)) =
            [TRIANGLES, QUADRILATERALS, TETRAHEDRA].into_iter().find(|(name, ..)| is(name))
        {
            read_section(&mut scanner, name, corners, &mut body, reading)?;
        } else if let Some((name, _)) = UNSUPPORTED.iter().find(|(name, _)| is(name)) {
            return Err(Fault::text(at, unsupported(name)));
        } else if word[0].is_ascii_alphabetic() {
            // Corners, ridges, normals and whatever else: numbers up to the next word.
            passed_over += 1;
            while scanner.peek().first().is_some_and(|byte| !byte.is_ascii_alphabetic()) {
                scanner.word("a number")?;
            }
        } else {
            scanner.offset = at;
            return Err(scanner.syntax("the name of a section"));
        }
    }
    reading
        .note(passed_over, "sections that are not vertices, triangles or tetrahedra were left out");
    body.into_model(reading)
}

fn read_section(
    scanner: &mut Scanner,
    name: &'static str,
    corners: usize,
    body: &mut Body,
    reading: &mut Reading,
) -> Parsed<()> {
    let count = scanner.count(name, 2 * corners)?;
    body.expect(name, count, reading)?;
    let vertices = body.positions.len();
    for item in 0..count {
        let mut indices = [0; 4];
        for index in &mut indices[..corners] {
            *index = scanner.index(1, vertices)?;
        }
        scanner.word("the reference of an element")?;
        body.push(name, indices);
        if item % 4096 == 0 {
            reading.reached(scanner.offset)?;
        }
    }
    Ok(())
}

fn parse_binary(mut cursor: Bytes, reading: &mut Reading) -> Parsed<Model> {
    let version = cursor.integer(Scalar::I32, "a version")?;
    let (real, place, whole) = match version {
        1 => (Scalar::F32, Scalar::I32, Scalar::I32),
        2 => (Scalar::F64, Scalar::I32, Scalar::I32),
        3 => (Scalar::F64, Scalar::I64, Scalar::I32),
        4 => (Scalar::F64, Scalar::I64, Scalar::I64),
        _ => {
            let found = version.to_string();
            let problem = Problem::Syntax { expected: "a GMF version from 1 to 4", found };
            return Err(Fault::byte(4, problem));
        }
    };
    let mut body = Body::default();
    let mut passed_over = 0;
    loop {
        reading.reached(cursor.offset)?;
        let at = cursor.offset;
        let keyword = cursor.integer(Scalar::I32, "the End section")?;
        const DIMENSION: i64 = 3;
        const VERTICES: i64 = 4;
        const END: i64 = 54;
        if keyword == END {
            break;
        }
        let next = cursor.integer(place, "the place of the next section")?;
        let next = usize::try_from(next).unwrap_or(usize::MAX);
        let sections = [TRIANGLES, QUADRILATERALS, TETRAHEDRA];
        if keyword == DIMENSION {
            let dimension = cursor.integer(Scalar::I32, "a dimension")?;
            if dimension != 3 {
                return Err(Fault::byte(at, flat(dimension)));
            }
        } else if keyword == VERTICES {
            let record = 3 * real.size() + whole.size();
            let count = cursor.count(whole, "vertices", record)?;
            reading.take::<Vector3<f64>>(count)?;
            body.positions.reserve_exact(count);
            let start = cursor.offset;
            let records = cursor.take(count * record, "the vertices")?;
            let fields = [0, 1, 2].map(|k| (real, k * real.size()));
            crate::binary::Layout { stride: record, fields }.positions(
                records,
                start,
                cursor.endian,
                &mut body.positions,
            )?;
        } else if let Some((name, _, corners)) = sections.into_iter().find(|s| s.1 == keyword) {
            let count = cursor.count(whole, name, (corners + 1) * whole.size())?;
            body.expect(name, count, reading)?;
            for _ in 0..count {
                let mut indices = [0; 4];
                for index in &mut indices[..corners] {
                    let at = cursor.offset;
                    let value = cursor.integer(whole, "the index of a vertex")?;
                    *index = check_index(value, 1, body.positions.len())
                        .map_err(|problem| Fault::byte(at, problem))?;
                }
                cursor.integer(whole, "the reference of an element")?;
                body.push(name, indices);
            }
        } else if let Some((name, _)) = UNSUPPORTED.iter().find(|(_, number)| *number == keyword) {
            return Err(Fault::byte(at, unsupported(name)));
        } else {
            passed_over += 1;
            if next <= at {
                let found = next.to_string();
                let expected = "the place of a later section";
                return Err(Fault::byte(at, Problem::Syntax { expected, found }));
            }
            cursor.offset = next;
        }
    }
    reading
        .note(passed_over, "sections that are not vertices, triangles or tetrahedra were left out");
    body.into_model(reading)
}

pub(crate) fn write(
    mesh: &RawMesh<f64>,
    encoding: Encoding,
    sink: &mut Sink,
) -> std::io::Result<()> {
    if encoding != Encoding::Ascii {
        return write_binary(mesh, sink);
    }
    sink.text("MeshVersionFormatted 2\nDimension 3\n")?;
    sink.text(&format!("Vertices\n{}\n", mesh.positions.len()))?;
    for position in &mesh.positions {
        sink.numbers(position.iter().copied())?;
        sink.text(" 0\n")?;
    }
    fn section<const N: usize>(
        name: &str,
        items: &[[u32; N]],
        sink: &mut Sink,
    ) -> std::io::Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        sink.text(&format!("{name}\n{}\n", items.len()))?;
        for corners in items {
            sink.integers(corners.iter().map(|&vertex| i64::from(vertex) + 1))?;
            sink.text(" 0\n")?;
        }
        Ok(())
    }
    section(TRIANGLES.0, &mesh.triangles, sink)?;
    section(TETRAHEDRA.0, &mesh.tetrahedra, sink)?;
    sink.text("End\n")
}

/// Version 3: double precision, 64-bit places, 32-bit counts.
fn write_binary(mesh: &RawMesh<f64>, sink: &mut Sink) -> std::io::Result<()> {
    let mut place = 8u64;
    let mut head = |sink: &mut Sink, keyword: u32, size: u64| {
        place += 12 + size;
        sink.bytes(&keyword.to_le_bytes())?;
        sink.bytes(&place.to_le_bytes())
    };
    sink.bytes(&1u32.to_le_bytes())?;
    sink.bytes(&3u32.to_le_bytes())?;
    head(sink, 3, 4)?;
    sink.bytes(&3u32.to_le_bytes())?;
    head(sink, 4, 4 + 28 * mesh.positions.len() as u64)?;
    sink.bytes(&(mesh.positions.len() as u32).to_le_bytes())?;
    for position in &mesh.positions {
        for x in position.iter() {
            sink.bytes(&x.to_le_bytes())?;
        }
        sink.bytes(&[0; 4])?;
    }
    let words = |sink: &mut Sink, corners: &[u32]| {
        for vertex in corners {
            sink.bytes(&(vertex + 1).to_le_bytes())?;
        }
        sink.bytes(&[0; 4])
    };
    if !mesh.triangles.is_empty() {
        head(sink, 6, 4 + 16 * mesh.triangles.len() as u64)?;
        sink.bytes(&(mesh.triangles.len() as u32).to_le_bytes())?;
        mesh.triangles.iter().try_for_each(|corners| words(sink, corners))?;
    }
    if !mesh.tetrahedra.is_empty() {
        head(sink, 8, 4 + 20 * mesh.tetrahedra.len() as u64)?;
        sink.bytes(&(mesh.tetrahedra.len() as u32).to_le_bytes())?;
        mesh.tetrahedra.iter().try_for_each(|corners| words(sink, corners))?;
    }
    sink.bytes(&54u32.to_le_bytes())?;
    sink.bytes(&0u64.to_le_bytes())
}
