//! Stanford PLY: text, binary of both byte orders, any scalar types, polygons and strips.

use std::path::Path;

use crate::binary::{Bytes, Endian, Layout, Scalar};
use crate::budget::Reading;
use crate::error::{Fault, Parsed, Problem, WriteError, WriteProblem};
use crate::faces::Faces;
use crate::model::Model;
use crate::output::{Encoding, Sink, fits_single, replace_file};
use crate::progress::Progress;
use crate::text::{Scanner, check_index};
use defcol::math::Vector3;
use defcol::mesh::RawMesh;
use rayon::prelude::*;

struct Element {
    name: String,
    count: usize,
    properties: Vec<Property>,
}

struct Property {
    name: String,
    /// The kind of the number of items, for a list.
    length: Option<Scalar>,
    scalar: Scalar,
}

impl Element {
    fn find(&self, names: &[&str]) -> Option<usize> {
        self.properties.iter().position(|property| names.contains(&property.name.as_str()))
    }

    /// The smallest size of a record in bytes.
    fn least_size(&self) -> usize {
        let sizes = self.properties.iter().map(|p| p.length.unwrap_or(p.scalar).size());
        sizes.sum::<usize>()
    }

    fn has_lists(&self) -> bool {
        self.properties.iter().any(|property| property.length.is_some())
    }

    fn axes(&self, at: usize) -> Parsed<[usize; 3]> {
        let axes = ["x", "y", "z"].map(|axis| self.find(&[axis]));
        match axes {
            [Some(x), Some(y), Some(z)]
                if [x, y, z].iter().all(|&axis| self.properties[axis].length.is_none()) =>
            {
                Ok([x, y, z])
            }
            _ => Err(Fault::text(
                at,
                Problem::Inconsistent(
                    "the element vertex has no properties x, y and z, so there are no positions"
                        .into(),
                ),
            )),
        }
    }
}

/// The names under which faces list their corners, and strips theirs.
const CORNERS: &[&str] = &["vertex_indices", "vertex_index"];

#[derive(Default)]
struct Body {
    positions: Vec<Vector3<f64>>,
    faces: Faces,
    /// Corners of strips; a negative one ends a strip.
    strips: Vec<(i64, usize)>,
}

pub(crate) fn parse(bytes: &[u8], reading: &mut Reading) -> Parsed<Model> {
    let mut scanner = Scanner::new(bytes, None);
    if scanner.line() != b"ply" {
        let problem = Problem::WrongMagic { format: "PLY", expected: "a line `ply`" };
        return Err(Fault::text(0, problem));
    }
    let (endian, elements) = parse_header(&mut scanner, reading)?;
    let vertices = elements.iter().find(|element| element.name == "vertex").map_or(0, |e| e.count);
    let mut body = Body::default();
    match endian {
        None => {
            for element in &elements {
                read_text(&mut scanner, element, vertices, &mut body, reading)?;
            }
        }
        Some(endian) => {
            let mut cursor = Bytes::new(bytes, scanner.offset, endian);
            for element in &elements {
                read_binary(&mut cursor, element, vertices, &mut body, reading)?;
            }
        }
    }
    for element in elements.iter().filter(|element| element.name == "face") {
        if element.find(CORNERS).is_none() {
            reading.note(element.count, "faces have no list vertex_indices and were left out");
        }
    }
    cut_strips(&body.strips, vertices, endian.is_none(), &mut body.faces, reading)?;
    let triangles = body.faces.finish(&body.positions, reading)?;
    Ok(Model::from_mesh(RawMesh { positions: body.positions, triangles, tetrahedra: vec![] }))
}

fn parse_header(
    scanner: &mut Scanner,
    reading: &mut Reading,
) -> Parsed<(Option<Endian>, Vec<Element>)> {
    let mut endian = None;
    let mut known_format = false;
    let mut elements: Vec<Element> = Vec::new();
    loop {
        match scanner.word("the end of the header")? {
            b"format" => {
                known_format = true;
                endian = match scanner.word("a format")? {
                    b"ascii" => None,
                    b"binary_little_endian" => Some(Endian::Little),
                    b"binary_big_endian" => Some(Endian::Big),
                    word => {
                        scanner.offset -= word.len();
                        return Err(
                            scanner.syntax("ascii, binary_little_endian or binary_big_endian")
                        );
                    }
                };
                scanner.skip_line();
            }
            b"comment" | b"obj_info" => scanner.skip_line(),
            b"element" => {
                let name =
                    String::from_utf8_lossy(scanner.word("the name of an element")?).into_owned();
                // Whether the file has room for so many is checked when their size is known.
                let count = scanner.unsigned("the number of elements")?;
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                reading.take::<[Element; 2]>(1)?;
                elements.push(Element { name, count, properties: Vec::new() });
            }
            b"property" => {
                let property = parse_property(scanner)?;
                reading.take::<[Property; 2]>(1)?;
                match elements.last_mut() {
                    Some(element) => element.properties.push(property),
                    None => return Err(scanner.syntax("an element before its properties")),
                }
            }
            b"end_header" => {
                scanner.skip_line();
                break;
            }
            word => {
                scanner.offset -= word.len();
                return Err(scanner.syntax("a line of a PLY header"));
            }
        }
    }
    if !known_format {
        return Err(scanner.fault(Problem::Inconsistent("the header has no line `format`".into())));
    }
    Ok((endian, elements))
}

fn parse_property(scanner: &mut Scanner) -> Parsed<Property> {
    let length = if scanner.peek() == b"list" {
        scanner.word("list")?;
        let length = parse_scalar(scanner)?;
        if !length.is_integer() {
            return Err(scanner.fault(Problem::Inconsistent(
                "the length of a list is announced as a fraction".into(),
            )));
        }
        Some(length)
    } else {
        None
    };
    let scalar = parse_scalar(scanner)?;
    let name = String::from_utf8_lossy(scanner.word("the name of a property")?).into_owned();
    Ok(Property { name, length, scalar })
}

fn parse_scalar(scanner: &mut Scanner) -> Parsed<Scalar> {
    let word = scanner.word("a type")?;
    Ok(match word {
        b"char" | b"int8" => Scalar::I8,
        b"uchar" | b"uint8" => Scalar::U8,
        b"short" | b"int16" => Scalar::I16,
        b"ushort" | b"uint16" => Scalar::U16,
        b"int" | b"int32" => Scalar::I32,
        b"uint" | b"uint32" => Scalar::U32,
        b"int64" => Scalar::I64,
        b"uint64" => Scalar::U64,
        b"float" | b"float32" => Scalar::F32,
        b"double" | b"float64" => Scalar::F64,
        _ => {
            scanner.offset -= word.len();
            return Err(scanner.syntax("a type such as float, double, int or uchar"));
        }
    })
}

fn impossible(element: &Element, room: usize) -> Problem {
    let what = match element.name.as_str() {
        "vertex" => "vertices",
        "face" => "faces",
        _ => "elements",
    };
    Problem::ImpossibleCount { what, count: element.count as u64, room: room as u64 }
}

fn read_text(
    scanner: &mut Scanner,
    element: &Element,
    vertices: usize,
    body: &mut Body,
    reading: &mut Reading,
) -> Parsed<()> {
    let is_vertex = element.name == "vertex";
    let axes = if is_vertex { element.axes(scanner.offset)? } else { [usize::MAX; 3] };
    // An element without properties takes no room, and says nothing.
    let least = 2 * element.properties.len();
    if least == 0 {
        return Ok(());
    }
    let room = (scanner.rest().len() + 1) / least;
    if element.count > room {
        return Err(scanner.fault(impossible(element, room)));
    }
    let corners_at = if element.name == "face" { element.find(CORNERS) } else { None };
    let is_strip = element.name == "tristrips";
    if is_vertex {
        reading.take::<Vector3<f64>>(element.count)?;
        body.positions.reserve_exact(element.count);
    }
    if corners_at.is_some() {
        body.faces.expect(element.count.min(scanner.rest().len() / 8 + 1), reading)?;
    }
    let mut corners: Vec<u32> = Vec::new();
    for record in 0..element.count {
        let mut position = Vector3::zeros();
        for (k, property) in element.properties.iter().enumerate() {
            if property.length.is_none() {
                match axes.iter().position(|&axis| axis == k) {
                    Some(axis) => position[axis] = scanner.coordinate()?,
                    None => _ = scanner.word("the value of a property")?,
                }
                continue;
            }
            scanner.skip_space();
            let at = scanner.offset;
            let length = scanner.count("items of a list", 2)?;
            if corners_at == Some(k) && length > corners.capacity() {
                reading.take::<u32>(length)?;
                corners = Vec::with_capacity(length);
            }
            corners.clear();
            for _ in 0..length {
                if corners_at == Some(k) {
                    corners.push(scanner.index(0, vertices)?);
                } else if is_strip {
                    scanner.skip_space();
                    let at = scanner.offset;
                    reading.take::<[(i64, usize); 2]>(1)?;
                    body.strips.push((scanner.integer("the index of a vertex")?, at));
                } else {
                    scanner.word("an item of a list")?;
                }
            }
            if corners_at == Some(k) {
                if length < 3 {
                    scanner.offset = at;
                    return Err(scanner.syntax("a face with at least three corners"));
                }
                body.faces.push_from_text(&corners, scanner.rest().len(), reading)?;
            }
        }
        if is_vertex {
            body.positions.push(position);
        }
        if record % 4096 == 0 {
            reading.reached(scanner.offset)?;
        }
    }
    Ok(())
}

fn read_binary(
    cursor: &mut Bytes,
    element: &Element,
    vertices: usize,
    body: &mut Body,
    reading: &mut Reading,
) -> Parsed<()> {
    let axes = if element.name == "vertex" { Some(element.axes(0)?) } else { None };
    let least = element.least_size();
    if least == 0 {
        return Ok(());
    }
    let room = cursor.rest().len() / least;
    if element.count > room {
        return Err(cursor.fault(impossible(element, room)));
    }
    reading.reached(cursor.offset)?;
    if let Some(axes) = axes {
        if element.has_lists() {
            return Err(cursor.fault(Problem::Unsupported {
                what: "vertices with lists are".into(),
                way_out: "export the mesh without them",
            }));
        }
        let offset = |axis: usize| element.properties[..axis].iter().map(|p| p.scalar.size()).sum();
        let fields = axes.map(|axis| (element.properties[axis].scalar, offset(axis)));
        let start = cursor.offset;
        let records = cursor.take(element.count * least, "the vertices")?;
        reading.take::<Vector3<f64>>(element.count)?;
        body.positions.reserve_exact(element.count);
        let layout = Layout { stride: least, fields };
        return layout.positions(records, start, cursor.endian, &mut body.positions);
    }
    if element.name == "face"
        && let Some(corners_at) = element.find(CORNERS)
    {
        if read_triangles(cursor, element, corners_at, vertices, body, reading)? {
            return Ok(());
        }
        return read_faces(cursor, element, corners_at, vertices, body, reading);
    }
    if !element.has_lists() {
        cursor.take(element.count * least, "the elements")?;
        return Ok(());
    }
    for _ in 0..element.count {
        for property in &element.properties {
            let length = match property.length {
                Some(scalar) => cursor.count(scalar, "items of a list", property.scalar.size())?,
                None => 1,
            };
            for _ in 0..length {
                let at = cursor.offset;
                let item = cursor.integer(property.scalar, "the items of a list")?;
                if element.name == "tristrips" {
                    reading.take::<[(i64, usize); 2]>(1)?;
                    body.strips.push((item, at));
                }
            }
        }
    }
    Ok(())
}

/// Fills in triangles; false if a record is none, or names a vertex that does not exist.
fn fill_triangles(
    records: &[u8],
    stride: usize,
    vertices: usize,
    triangles: &mut [[u32; 3]],
    decode: impl Fn(&[u8]) -> (bool, [u32; 3]) + Sync,
) -> bool {
    const CHUNK: usize = 1 << 14;
    let chunks = triangles.par_chunks_mut(CHUNK).zip(records.par_chunks(CHUNK * stride));
    chunks
        .map(|(triangles, records)| {
            let mut all = true;
            for (triangle, record) in triangles.iter_mut().zip(records.chunks_exact(stride)) {
                let (is_triangle, corners) = decode(record);
                all &= is_triangle & corners.iter().all(|&vertex| (vertex as usize) < vertices);
                *triangle = corners;
            }
            all
        })
        .all(|all| all)
}

/// The usual case, quickly: nothing but triangles. False, with nothing read, if there is anything
/// else or anything wrong, for [`read_faces`] to find.
fn read_triangles(
    cursor: &mut Bytes,
    element: &Element,
    corners_at: usize,
    vertices: usize,
    body: &mut Body,
    reading: &mut Reading,
) -> Parsed<bool> {
    let property = &element.properties[corners_at];
    let others = element.properties.iter().enumerate().filter(|(k, _)| *k != corners_at);
    let Some(length) = property.length else {
        return Ok(false);
    };
    if others.clone().any(|(_, other)| other.length.is_some()) {
        return Ok(false);
    }
    let before: usize = element.properties[..corners_at].iter().map(|p| p.scalar.size()).sum();
    let behind: usize = element.properties[corners_at + 1..].iter().map(|p| p.scalar.size()).sum();
    let at = before + length.size();
    let size = property.scalar.size();
    let stride = at + 3 * size + behind;
    let endian = cursor.endian;
    let Some(records) = cursor.rest().get(..element.count.saturating_mul(stride)) else {
        return Ok(false);
    };
    reading.take::<[u32; 3]>(element.count)?;
    let mut triangles = vec![[0; 3]; element.count];
    // The usual kinds without a decision per number.
    let all = match (length, property.scalar, endian) {
        (Scalar::U8, Scalar::I32 | Scalar::U32, Endian::Little) => {
            fill_triangles(records, stride, vertices, &mut triangles, |record| {
                let corner = |k: usize| {
                    let at = at + 4 * k;
                    u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
                };
                (record[before] == 3, [corner(0), corner(1), corner(2)])
            })
        }
        _ => fill_triangles(records, stride, vertices, &mut triangles, |record| {
            let corner = |k: usize| {
                let index = property.scalar.integer(&record[at + k * size..], endian);
                u32::try_from(index).unwrap_or(u32::MAX)
            };
            let is_triangle = length.integer(&record[before..], endian) == 3;
            (is_triangle, [corner(0), corner(1), corner(2)])
        }),
    };
    if !all {
        return Ok(false);
    }
    body.faces.append(Faces::from(triangles));
    cursor.offset += records.len();
    Ok(true)
}

fn read_faces(
    cursor: &mut Bytes,
    element: &Element,
    corners_at: usize,
    vertices: usize,
    body: &mut Body,
    reading: &mut Reading,
) -> Parsed<()> {
    // Once to count, once to read: a vector that doubles could take too much.
    let mut ahead = cursor.clone();
    let (mut triangles, mut polygons) = (0, 0);
    for _ in 0..element.count {
        for (k, property) in element.properties.iter().enumerate() {
            let length = list_length(&mut ahead, property)?;
            if k == corners_at && property.length.is_some() {
                triangles += length.saturating_sub(2);
                polygons += usize::from(length > 3);
            }
            ahead.take(length * property.scalar.size(), "the items of a list")?;
        }
    }
    reading.take::<[u32; 3]>(triangles)?;
    reading.take::<[u32; 2]>(polygons)?;
    body.faces.reserve_exact(triangles, polygons);
    let mut corners = Vec::new();
    for record in 0..element.count {
        for (k, property) in element.properties.iter().enumerate() {
            let start = cursor.offset;
            let length = list_length(cursor, property)?;
            if k != corners_at || property.length.is_none() {
                cursor.take(length * property.scalar.size(), "the items of a list")?;
                continue;
            }
            if length < 3 {
                let expected = "a face with at least three corners";
                let found = format!("{length} corners");
                return Err(Fault::byte(start, Problem::Syntax { expected, found }));
            }
            corners.clear();
            for _ in 0..length {
                let at = cursor.offset;
                let index = cursor.integer(property.scalar, "the index of a vertex")?;
                corners.push(check_index(index, 0, vertices).map_err(|p| Fault::byte(at, p))?);
            }
            body.faces.push(&corners);
        }
        if record % 4096 == 0 {
            reading.reached(cursor.offset)?;
        }
    }
    Ok(())
}

fn list_length(cursor: &mut Bytes, property: &Property) -> Parsed<usize> {
    match property.length {
        Some(scalar) => cursor.count(scalar, "items of a list", property.scalar.size()),
        None => Ok(1),
    }
}

/// Strips of triangles: each corner makes one with the two before it, turned every other time.
fn cut_strips(
    strips: &[(i64, usize)],
    vertices: usize,
    is_text: bool,
    faces: &mut Faces,
    reading: &mut Reading,
) -> Parsed<()> {
    reading.take::<[u32; 3]>(strips.len())?;
    faces.reserve_exact(strips.len(), 0);
    for strip in strips.split(|&(index, _)| index < 0) {
        let mut corners = [0; 3];
        for (k, &(index, at)) in strip.iter().enumerate() {
            let vertex = check_index(index, 0, vertices).map_err(|problem| {
                if is_text { Fault::text(at, problem) } else { Fault::byte(at, problem) }
            })?;
            corners = [corners[1], corners[2], vertex];
            let [a, b, c] = corners;
            // A corner that repeats only bends the strip.
            if k >= 2 && a != b && b != c && c != a {
                faces.push(&if k % 2 == 0 { [a, b, c] } else { [b, a, c] });
            }
        }
    }
    Ok(())
}

/// Writes a mesh with a colour (red, green, blue) for each vertex as a binary PLY file, which appears only
/// when it is complete.
pub fn write_coloured(
    path: &Path,
    mesh: &RawMesh<f64>,
    colours: &[[u8; 3]],
    progress: &Progress,
) -> Result<(), WriteError> {
    assert_eq!(mesh.positions.len(), colours.len(), "a colour for each vertex");
    let fill = |sink: &mut Sink| -> Result<(), WriteProblem> {
        sink.text(&format!(
            "ply\nformat binary_little_endian 1.0\ncomment by defcol\nelement vertex {}\n\
             property double x\nproperty double y\nproperty double z\n\
             property uchar red\nproperty uchar green\nproperty uchar blue\nelement face {}\n\
             property list uchar int vertex_indices\nend_header\n",
            mesh.positions.len(),
            mesh.triangles.len()
        ))?;
        for (position, colour) in mesh.positions.iter().zip(colours) {
            for x in position.iter() {
                sink.bytes(&x.to_le_bytes())?;
            }
            sink.bytes(colour)?;
        }
        for triangle in &mesh.triangles {
            sink.bytes(&[3])?;
            for corner in triangle {
                sink.bytes(&corner.to_le_bytes())?;
            }
        }
        Ok(())
    };
    replace_file(path, progress, fill)
        .map_err(|problem| WriteError { file: path.to_path_buf(), problem })
}

pub(crate) fn write(
    mesh: &RawMesh<f64>,
    encoding: Encoding,
    sink: &mut Sink,
) -> std::io::Result<()> {
    // Single precision where nothing is lost by it.
    let single = mesh.positions.iter().flatten().all(|&x| fits_single(x));
    let real = if single { "float" } else { "double" };
    let format = match encoding {
        Encoding::Ascii => "ascii",
        Encoding::Binary => "binary_little_endian",
        Encoding::BinaryBigEndian => "binary_big_endian",
    };
    sink.text(&format!(
        "ply\nformat {format} 1.0\ncomment by defcol\nelement vertex {}\nproperty {real} x\n\
         property {real} y\nproperty {real} z\nelement face {}\n\
         property list uchar int vertex_indices\nend_header\n",
        mesh.positions.len(),
        mesh.triangles.len()
    ))?;
    if encoding == Encoding::Ascii {
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
    let little = encoding == Encoding::Binary;
    for &x in mesh.positions.iter().flatten() {
        match (single, little) {
            (true, true) => sink.bytes(&(x as f32).to_le_bytes())?,
            (true, false) => sink.bytes(&(x as f32).to_be_bytes())?,
            (false, true) => sink.bytes(&x.to_le_bytes())?,
            (false, false) => sink.bytes(&x.to_be_bytes())?,
        }
    }
    for triangle in &mesh.triangles {
        sink.bytes(&[3])?;
        for vertex in triangle {
            sink.bytes(&if little { vertex.to_le_bytes() } else { vertex.to_be_bytes() })?;
        }
    }
    Ok(())
}
