//! STL, both kinds. It lists corners, not vertices: equal corners are welded.

use crate::binary::{Bytes, Endian, Scalar};
use crate::budget::Reading;
use crate::error::{Fault, Parsed, Problem};
use crate::model::{Model, Part};
use crate::output::{Encoding, Sink};
use crate::text::Scanner;
use defcol::math::Vector3;
use defcol::mesh::{RawMesh, repair};
use rayon::prelude::*;

const HEADER: usize = 80;
const RECORD: usize = 50;

pub(crate) fn parse(bytes: &[u8], reading: &mut Reading) -> Parsed<Model> {
    let announced = bytes
        .get(HEADER..HEADER + 4)
        .map(|count| Scalar::U32.integer(count, Endian::Little) as usize);
    let exact = announced.is_some_and(|count| bytes.len() == HEADER + 4 + RECORD * count);
    // Binary files that begin with "solid" are common; their length gives them away.
    let text = bytes.trim_ascii_start();
    if !exact && text.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid")) {
        return parse_text(bytes, reading);
    }
    parse_binary(bytes, reading)
}

fn parse_binary(bytes: &[u8], reading: &mut Reading) -> Parsed<Model> {
    if bytes.len() < HEADER + 4 {
        let problem = Problem::WrongMagic {
            format: "STL",
            expected: "`solid` (text) or 80 bytes and a count (binary)",
        };
        return Err(Fault::byte(0, problem));
    }
    let mut cursor = Bytes::new(bytes, HEADER, Endian::Little);
    let count = cursor.count(Scalar::U32, "triangles", RECORD)?;
    let start = cursor.offset;
    let records = cursor.take(count * RECORD, "triangles")?;
    reading.note(cursor.rest().len(), "bytes behind the last triangle were left out");
    let mut corners: Vec<Vector3<f64>> = reading.vec(3 * count)?;
    // A record is a normal, three corners and two bytes that mean nothing.
    corners.par_extend((0..3 * count).into_par_iter().with_min_len(1 << 14).map(|corner| {
        let at = corner / 3 * RECORD + 12 + corner % 3 * 12;
        Vector3::new(0, 4, 8).map(|axis| Scalar::F32.real(&records[at + axis..], Endian::Little))
    }));
    let bad = corners.par_iter().position_first(|corner| corner.iter().any(|x| !x.is_finite()));
    if let Some(corner) = bad {
        let value = corners[corner].iter().copied().find(|x| !x.is_finite()).unwrap_or(f64::NAN);
        return Err(Fault::byte(start + corner / 3 * RECORD, Problem::NonFinite(value)));
    }
    weld(corners, Vec::new(), reading)
}

fn parse_text(bytes: &[u8], reading: &mut Reading) -> Parsed<Model> {
    let mut scanner = Scanner::new(bytes, None);
    let mut corners: Vec<Vector3<f64>> = Vec::new();
    let mut parts: Vec<Part> = Vec::new();
    while scanner.skip_space() {
        scanner.keyword("solid")?;
        let name = scanner.rest_of_line();
        scanner.skip_line();
        let first = (corners.len() / 3) as u32;
        loop {
            let word = scanner.peek();
            if word.eq_ignore_ascii_case(b"endsolid") {
                scanner.skip_line();
                break;
            }
            scanner.keyword("facet")?;
            scanner.keyword("normal")?;
            for _ in 0..3 {
                // Nobody trusts these; some writers put nan here.
                scanner.number("a coordinate of the normal")?;
            }
            scanner.keyword("outer")?;
            scanner.keyword("loop")?;
            for _ in 0..3 {
                scanner.keyword("vertex")?;
                corners.push(scanner.position()?);
            }
            scanner.keyword("endloop")?;
            scanner.keyword("endfacet")?;
            if corners.len().is_multiple_of(3072) {
                reading.reached(scanner.offset)?;
            }
        }
        let end = (corners.len() / 3) as u32;
        if !name.is_empty() && end > first {
            reading.take::<[Part; 2]>(1)?;
            let name = String::from_utf8_lossy(&bytes[name]).into_owned();
            parts.push(Part { name, triangles: first..end });
        }
    }
    weld(corners, parts, reading)
}

fn weld(corners: Vec<Vector3<f64>>, parts: Vec<Part>, reading: &mut Reading) -> Parsed<Model> {
    // Twice the corners for the search, and the vertices that are left.
    reading.take::<(u64, [u32; 5])>(corners.len())?;
    let triangles = (0..corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let mut mesh = RawMesh { positions: corners, triangles, tetrahedra: vec![] };
    repair::weld(&mut mesh, 0.0)
        .map_err(|error| Fault::file(Problem::Inconsistent(error.to_string())))?;
    Ok(Model { mesh, parts, ..Model::default() })
}

pub(crate) fn write(
    mesh: &RawMesh<f64>,
    encoding: Encoding,
    sink: &mut Sink,
) -> std::io::Result<()> {
    let corners = |triangle: &[u32; 3]| triangle.map(|vertex| mesh.positions[vertex as usize]);
    let normal = |[a, b, c]: [Vector3<f64>; 3]| {
        (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default()
    };
    if encoding == Encoding::Ascii {
        sink.text("solid defcol\n")?;
        for triangle in &mesh.triangles {
            let corners = corners(triangle);
            sink.text("facet normal")?;
            sink.numbers(normal(corners).iter().copied())?;
            sink.text("\n outer loop\n")?;
            for corner in corners {
                sink.text("  vertex")?;
                sink.numbers(corner.iter().copied())?;
                sink.text("\n")?;
            }
            sink.text(" endloop\nendfacet\n")?;
        }
        return sink.text("endsolid defcol\n");
    }
    let mut header = [b' '; HEADER];
    header[..17].copy_from_slice(b"STL by defcol    ");
    sink.bytes(&header)?;
    sink.bytes(&(mesh.triangles.len() as u32).to_le_bytes())?;
    for triangle in &mesh.triangles {
        let corners = corners(triangle);
        let [a, b, c] = corners;
        let mut record = [0; RECORD];
        let values = [normal(corners), a, b, c];
        for (slot, value) in record.chunks_exact_mut(4).zip(values.iter().flatten()) {
            slot.copy_from_slice(&(*value as f32).to_le_bytes());
        }
        sink.bytes(&record)?;
    }
    Ok(())
}
