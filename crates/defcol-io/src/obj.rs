//! Wavefront OBJ: vertices, faces of any size, groups and objects.

use std::ops::Range;

use rayon::prelude::*;

use crate::budget::Reading;
use crate::error::{Fault, Parsed, Problem, excerpt};
use crate::faces::Faces;
use crate::model::{Model, Part};
use crate::output::Sink;
use crate::text::{Scanner, integer};
use defcol::math::Vector3;
use defcol::mesh::RawMesh;

/// Bytes a thread reads at a time; chunks end with a line.
const CHUNK: usize = 1 << 20;

/// Words that may begin a line and are passed over: they say how it looks, or stand in comments
/// of old exporters.
const IGNORED: &[&str] = &[
    "vt",
    "vn",
    "vp",
    "s",
    "mg",
    "usemtl",
    "mtllib",
    "usemap",
    "maplib",
    "lod",
    "bevel",
    "c_interp",
    "d_interp",
    "shadow_obj",
    "trace_obj",
    "l",
    "p",
];

/// Counts of one chunk, and then of all before it.
#[derive(Clone, Copy, Default)]
struct Counts {
    vertices: usize,
    triangles: usize,
    polygons: usize,
    /// Corners of the largest face.
    largest: usize,
}

/// What stands in one chunk besides its vertices and triangles.
#[derive(Default)]
struct Found {
    /// Triangle of this chunk (counted from its first), and where the name stands in the text.
    names: Vec<(u32, Range<usize>)>,
    faces: Faces,
    lines: usize,
}

pub(crate) fn parse(bytes: &[u8], reading: &mut Reading) -> Parsed<Model> {
    if memchr::memchr(b'\n', bytes).is_none() && memchr::memchr(b'\r', bytes).is_some() {
        return Err(Fault::text(
            0,
            Problem::Unsupported {
                what: "lines that end with a carriage return alone are".into(),
                way_out: "save the file with line feeds",
            },
        ));
    }
    let joined = join_continued_lines(bytes, reading)?;
    let text = joined.as_deref().unwrap_or(bytes);
    let chunks = split(text);
    let counts: Vec<Counts> = chunks.par_iter().map(|&chunk| count(text, chunk)).collect();
    let total = counts.iter().fold(Counts::default(), |sum, chunk| Counts {
        vertices: sum.vertices + chunk.vertices,
        triangles: sum.triangles + chunk.triangles,
        polygons: sum.polygons + chunk.polygons,
        largest: sum.largest.max(chunk.largest),
    });
    let mut positions = reading.filled(Vector3::zeros(), total.vertices)?;
    // Faces are collected chunk by chunk and then joined.
    reading.take::<[u32; 3]>(2 * total.triangles)?;
    reading.take::<[u32; 2]>(2 * total.polygons)?;
    reading.take::<u32>(rayon::current_num_threads().min(chunks.len()) * total.largest)?;

    let mut work = Vec::with_capacity(chunks.len());
    let mut left = positions.as_mut_slice();
    let mut before = 0;
    for (&chunk, counts) in chunks.iter().zip(&counts) {
        let (own, rest) = left.split_at_mut(counts.vertices);
        left = rest;
        work.push((chunk, *counts, before, own));
        before += counts.vertices;
    }
    let shared: &Reading = reading;
    let found: Vec<Parsed<Found>> = work
        .into_par_iter()
        .map(|(chunk, counts, before, own)| {
            let found = read_chunk(text, chunk, counts, before, total.vertices, own)?;
            shared.progress.advance((chunk.1 - chunk.0) as u64);
            if shared.progress.is_cancelled() {
                return Err(Fault::file(Problem::Cancelled));
            }
            Ok(found)
        })
        .collect();
    assemble(text, positions, total, found, reading)
}

fn assemble(
    text: &[u8],
    positions: Vec<Vector3<f64>>,
    total: Counts,
    found: Vec<Parsed<Found>>,
    reading: &mut Reading,
) -> Parsed<Model> {
    let mut faces = Faces::default();
    // A single chunk is taken as it is.
    if found.len() > 1 {
        faces.triangles.reserve_exact(total.triangles);
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut lines = 0;
    // The first fault of the text, not of the fastest thread.
    for chunk in found {
        let chunk = chunk?;
        lines += chunk.lines;
        let offset = faces.triangles.len() as u32;
        for (triangle, name) in chunk.names {
            let triangle = triangle + offset;
            let name = String::from_utf8_lossy(&text[name]).into_owned();
            if let Some(last) = parts.last_mut() {
                last.triangles.end = triangle;
                if last.triangles.is_empty() {
                    parts.pop();
                }
            }
            reading.take::<[Part; 2]>(1)?;
            reading.take::<u8>(name.len())?;
            parts.push(Part { name, triangles: triangle..triangle });
        }
        faces.append(chunk.faces);
    }
    if let Some(last) = parts.last_mut() {
        last.triangles.end = faces.triangles.len() as u32;
        if last.triangles.is_empty() {
            parts.pop();
        }
    }
    reading.note(lines, "lines and points are no surface and were left out");
    let triangles = faces.finish(&positions, reading)?;
    let mesh = RawMesh { positions, triangles, tetrahedra: vec![] };
    Ok(Model { mesh, parts, ..Model::default() })
}

/// A copy in which a backslash at the end of a line is blank, and the line goes on.
fn join_continued_lines(bytes: &[u8], reading: &mut Reading) -> Parsed<Option<Vec<u8>>> {
    if memchr::memchr(b'\\', bytes).is_none() {
        return Ok(None);
    }
    reading.take::<u8>(bytes.len())?;
    let mut joined = bytes.to_vec();
    for at in memchr::memchr_iter(b'\\', bytes) {
        // A comment ends with its line, whatever it ends with.
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
        if bytes[start..at].trim_ascii_start().starts_with(b"#") {
            continue;
        }
        let end = match &bytes[at + 1..] {
            [b'\n', ..] => at + 2,
            [b'\r', b'\n', ..] => at + 3,
            _ => continue,
        };
        joined[at..end].fill(b' ');
    }
    Ok(Some(joined))
}

/// Cuts the text into chunks of whole lines.
fn split(text: &[u8]) -> Vec<(usize, usize)> {
    let mut chunks = Vec::with_capacity(text.len() / CHUNK + 1);
    let mut start = 0;
    while start < text.len() {
        let least = (start + CHUNK).min(text.len());
        let end = memchr::memchr(b'\n', &text[least..]).map_or(text.len(), |more| least + more + 1);
        chunks.push((start, end));
        start = end;
    }
    chunks
}

/// The first word of each line of a chunk, and the scanner behind it.
fn for_each_line<'a>(
    text: &'a [u8],
    (start, end): (usize, usize),
    mut visit: impl FnMut(&'a [u8], &mut Scanner<'a>) -> Parsed<()>,
) -> Parsed<()> {
    let mut scanner = Scanner::new(&text[..end], Some(b'#'));
    scanner.offset = start;
    while scanner.skip_space() {
        let word = scanner.word("a keyword")?;
        visit(word, &mut scanner)?;
        scanner.skip_line();
    }
    Ok(())
}

fn count(text: &[u8], chunk: (usize, usize)) -> Counts {
    let mut counts = Counts::default();
    let counted = for_each_line(text, chunk, |word, scanner| {
        match word {
            b"v" => counts.vertices += 1,
            b"f" => {
                let mut corners = 0usize;
                while scanner.skip_blanks() {
                    scanner.offset += scanner.peek().len();
                    corners += 1;
                }
                counts.triangles += corners.saturating_sub(2);
                counts.polygons += usize::from(corners > 3);
                counts.largest = counts.largest.max(corners);
            }
            _ => {}
        }
        Ok(())
    });
    debug_assert!(counted.is_ok());
    counts
}

fn read_chunk(
    text: &[u8],
    chunk: (usize, usize),
    counts: Counts,
    vertices_before: usize,
    vertices: usize,
    positions: &mut [Vector3<f64>],
) -> Parsed<Found> {
    let mut found = Found::default();
    found.faces.reserve_exact(counts.triangles, counts.polygons);
    let mut next = 0;
    let mut corners: Vec<u32> = Vec::with_capacity(counts.largest);
    for_each_line(text, chunk, |word, scanner| {
        match word {
            b"v" => {
                for coordinate in positions[next].iter_mut() {
                    same_line(scanner, "a coordinate")?;
                    *coordinate = scanner.coordinate()?;
                }
                next += 1;
            }
            b"f" => {
                corners.clear();
                while scanner.skip_blanks() {
                    corners.push(corner(scanner, vertices_before + next, vertices)?);
                }
                if corners.len() < 3 {
                    return Err(same_line(scanner, "three corners of a face")
                        .err()
                        .unwrap_or_else(|| scanner.syntax("three corners of a face")));
                }
                found.faces.push(&corners);
            }
            b"g" | b"o" => {
                let name = scanner.rest_of_line();
                let entry = (found.faces.triangles.len() as u32, name);
                // A group without faces leaves no trace, however often it is named.
                match found.names.last_mut() {
                    Some(last) if last.0 == entry.0 => *last = entry,
                    _ => found.names.push(entry),
                }
            }
            b"l" | b"p" => found.lines += 1,
            _ if IGNORED.iter().any(|known| known.as_bytes() == word) => {}
            _ => {
                let problem = match word {
                    b"call" | b"csh" => Problem::Unsupported {
                        what: "the inclusion of other files is".into(),
                        way_out: "put the contents into one file",
                    },
                    b"curv" | b"curv2" | b"surf" | b"cstype" | b"deg" | b"bmat" | b"step" => {
                        Problem::Unsupported {
                            what: "free-form curves and surfaces are".into(),
                            way_out: "export the model as polygons",
                        }
                    }
                    _ => Problem::Syntax {
                        expected: "a keyword of OBJ such as v, f, g or o",
                        found: excerpt(word),
                    },
                };
                return Err(Fault::text(scanner.offset - word.len(), problem));
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// The error that the line ends before what it must hold.
fn same_line(scanner: &mut Scanner, expected: &'static str) -> Parsed<()> {
    if scanner.skip_blanks() {
        return Ok(());
    }
    Err(scanner.fault(Problem::Syntax { expected, found: "end of line".into() }))
}

/// One corner of a face: `7`, `7/1`, `7//3`, `7/1/3`, or counted back from here: `-1`.
fn corner(scanner: &mut Scanner, defined: usize, vertices: usize) -> Parsed<u32> {
    let rest = scanner.rest();
    let Some((index, length)) = integer(rest) else {
        return Err(scanner.syntax("the index of a vertex"));
    };
    if !matches!(rest.get(length), None | Some(b'/' | b' ' | b'\t' | b'\r' | b'\n')) {
        return Err(scanner.syntax("the index of a vertex"));
    }
    let vertex = if index < 0 { defined as i64 + index } else { index - 1 };
    if vertex < 0 || vertex >= vertices as i64 {
        let problem = Problem::IndexOutOfRange { what: "vertex", index, count: vertices };
        return Err(scanner.fault(problem));
    }
    scanner.offset += scanner.peek().len();
    Ok(vertex as u32)
}

pub(crate) fn write(model: &Model, mesh: &RawMesh<f64>, sink: &mut Sink) -> std::io::Result<()> {
    sink.text("# OBJ by defcol\n")?;
    for position in &mesh.positions {
        sink.text("v")?;
        sink.numbers(position.iter().copied())?;
        sink.text("\n")?;
    }
    let mut parts = model.parts.iter().peekable();
    let mut end = u32::MAX;
    for (index, triangle) in (0u32..).zip(&mesh.triangles) {
        if let Some(part) = parts.next_if(|part| part.triangles.start == index) {
            // A name ends with its line.
            sink.text(&format!("g {}\n", part.name.replace(['\n', '\r', '#', '\\'], " ")))?;
            end = part.triangles.end;
        } else if index == end {
            sink.text("g\n")?;
        }
        sink.text("f")?;
        sink.integers(triangle.iter().map(|&vertex| i64::from(vertex) + 1))?;
        sink.text("\n")?;
    }
    Ok(())
}
