//! Gmsh 2.2 and 4.1, text and binary.

use crate::binary::{Bytes, Endian, Scalar};
use crate::budget::Reading;
use crate::error::{Fault, Parsed, Problem};
use crate::faces::Faces;
use crate::model::Model;
use crate::output::{Encoding, GmshVersion, Sink, WriteOptions};
use crate::text::{Scanner, check_coordinate, check_count};
use defcol::math::Vector3;
use defcol::mesh::RawMesh;

/// Where numbers come from: words of a text or bytes. Both walk the same file.
struct Source<'a> {
    scanner: Scanner<'a>,
    /// The byte order of a binary file.
    endian: Option<Endian>,
    bytes: &'a [u8],
}

impl<'a> Source<'a> {
    fn fault(&self, at: usize, problem: Problem) -> Fault {
        if self.endian.is_some() { Fault::byte(at, problem) } else { Fault::text(at, problem) }
    }

    /// A whole number: a word, or an integer of the given kind.
    fn integer(&mut self, scalar: Scalar, expected: &'static str) -> Parsed<i64> {
        let Some(endian) = self.endian else {
            return self.scanner.integer(expected);
        };
        let mut cursor = Bytes::new(self.bytes, self.scanner.offset, endian);
        let value = cursor.integer(scalar, expected)?;
        self.scanner.offset = cursor.offset;
        Ok(value)
    }

    fn count(&mut self, scalar: Scalar, what: &'static str, least: usize) -> Parsed<usize> {
        if self.endian.is_none() {
            self.scanner.skip_space();
        }
        let at = self.scanner.offset;
        let count = self.integer(scalar, what)?;
        let room = (self.scanner.rest().len() + 1) / least;
        let checked = match u64::try_from(count) {
            Ok(count) => check_count(count, what, room),
            Err(_) => Err(Problem::Syntax { expected: what, found: count.to_string() }),
        };
        checked.map_err(|problem| self.fault(at, problem))
    }

    fn coordinate(&mut self) -> Parsed<f64> {
        let Some(endian) = self.endian else {
            return self.scanner.coordinate();
        };
        let mut cursor = Bytes::new(self.bytes, self.scanner.offset, endian);
        let value = Scalar::F64.real(cursor.take(8, "a coordinate")?, endian);
        let value = check_coordinate(value).map_err(|p| Fault::byte(self.scanner.offset, p))?;
        self.scanner.offset = cursor.offset;
        Ok(value)
    }

    fn position(&mut self) -> Parsed<Vector3<f64>> {
        Ok(Vector3::new(self.coordinate()?, self.coordinate()?, self.coordinate()?))
    }
}

#[derive(Default)]
struct Body {
    positions: Vec<Vector3<f64>>,
    /// The tags of the vertices, in the order of the file.
    tags: Vec<i64>,
    /// Tags and their vertices, sorted by tag; empty if the tags count up from 1.
    sorted: Vec<(i64, u32)>,
    faces: Faces,
    tetrahedra: Vec<[u32; 4]>,
    passed_over: usize,
}

impl Body {
    fn sort_tags(&mut self, at: usize, reading: &mut Reading) -> Parsed<()> {
        if self.tags.iter().copied().eq(1..=self.tags.len() as i64) {
            return Ok(());
        }
        self.sorted = reading.vec(self.tags.len())?;
        self.sorted.extend(self.tags.iter().copied().zip(0u32..));
        self.sorted.sort_unstable();
        if let Some(pair) = self.sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let number = pair[0].0.unsigned_abs();
            return Err(Fault::text(at, Problem::Repeated { what: "number of a vertex", number }));
        }
        Ok(())
    }

    fn vertex(&self, tag: i64) -> Result<u32, Problem> {
        let count = self.positions.len();
        let found = if self.sorted.is_empty() {
            (1..=count as i64).contains(&tag).then(|| (tag - 1) as u32)
        } else {
            let place = self.sorted.partition_point(|&(known, _)| known < tag);
            self.sorted.get(place).filter(|(known, _)| *known == tag).map(|&(_, vertex)| vertex)
        };
        found.ok_or(Problem::IndexOutOfRange { what: "vertex", index: tag, count })
    }

    /// Reads the corners of one element of a known kind.
    fn element(&mut self, kind: Kind, source: &mut Source, scalar: Scalar) -> Parsed<()> {
        let mut corners = [0; 4];
        let keep = kind.is_kept();
        for corner in 0..kind.corners() {
            if source.endian.is_none() {
                source.scanner.skip_space();
            }
            let at = source.scanner.offset;
            let tag = source.integer(scalar, "the number of a vertex")?;
            if keep {
                corners[corner] = self.vertex(tag).map_err(|problem| source.fault(at, problem))?;
            }
        }
        match kind {
            Kind::Triangle => self.faces.push(&corners[..3]),
            Kind::Quadrangle => self.faces.push(&corners),
            Kind::Tetrahedron => self.tetrahedra.push(corners),
            Kind::Line | Kind::Point => self.passed_over += 1,
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Point,
    Line,
    Triangle,
    Quadrangle,
    Tetrahedron,
}

impl Kind {
    fn of(number: i64) -> Result<Self, Problem> {
        Ok(match number {
            1 => Self::Line,
            2 => Self::Triangle,
            3 => Self::Quadrangle,
            4 => Self::Tetrahedron,
            15 => Self::Point,
            5..=7 => {
                let name = ["hexahedra", "prisms", "pyramids"][number as usize - 5];
                return Err(Problem::Unsupported {
                    what: format!("{name} are"),
                    way_out: "mesh the solid with tetrahedra",
                });
            }
            8..=14 | 16..=140 => {
                return Err(Problem::Unsupported {
                    what: format!("second-order elements (type {number}) are"),
                    way_out: "set Mesh.ElementOrder = 1 in Gmsh and export again",
                });
            }
            _ => {
                let found = number.to_string();
                return Err(Problem::Syntax { expected: "the type of an element", found });
            }
        })
    }

    fn corners(self) -> usize {
        match self {
            Self::Point => 1,
            Self::Line => 2,
            Self::Triangle => 3,
            Self::Quadrangle | Self::Tetrahedron => 4,
        }
    }

    fn is_kept(self) -> bool {
        !matches!(self, Self::Point | Self::Line)
    }
}

pub(crate) fn parse(bytes: &[u8], reading: &mut Reading) -> Parsed<Model> {
    let mut scanner = Scanner::new(bytes, None);
    if scanner.peek() != b"$MeshFormat" {
        let problem = Problem::WrongMagic { format: "a Gmsh mesh", expected: "`$MeshFormat`" };
        return Err(scanner.fault(problem));
    }
    scanner.word("$MeshFormat")?;
    let (version, endian) = parse_format(&mut scanner, bytes)?;
    let mut source = Source { scanner, endian, bytes };
    let mut body = Body::default();
    while source.scanner.skip_space() {
        reading.reached(source.scanner.offset)?;
        let at = source.scanner.offset;
        let word = source.scanner.word("a section")?;
        match word {
            b"$Nodes" => {
                if !body.positions.is_empty() {
                    return Err(Fault::text(
                        at,
                        Problem::Inconsistent("there are two $Nodes sections".into()),
                    ));
                }
                match version {
                    GmshVersion::V2 => nodes_2(&mut source, &mut body, reading)?,
                    GmshVersion::V4 => nodes_4(&mut source, &mut body, reading)?,
                }
                body.sort_tags(at, reading)?;
                source.scanner.keyword("$EndNodes")?;
            }
            b"$Elements" => {
                match version {
                    GmshVersion::V2 => elements_2(&mut source, &mut body, reading)?,
                    GmshVersion::V4 => elements_4(&mut source, &mut body, reading)?,
                }
                source.scanner.keyword("$EndElements")?;
            }
            [b'$', name @ ..] => {
                // Names, entities, data: up to the line that ends the section.
                let end = [b"$End", name].concat();
                let rest = source.scanner.rest();
                let Some(length) = memchr::memmem::find(rest, &end) else {
                    let problem = Problem::Truncated { expected: "the end of this section" };
                    return Err(Fault::text(at, problem));
                };
                source.scanner.offset += length + end.len();
            }
            _ => {
                source.scanner.offset = at;
                return Err(source.scanner.syntax("a section that begins with $"));
            }
        }
    }
    reading.note(body.passed_over, "points and lines are no surface and were left out");
    let triangles = body.faces.finish(&body.positions, reading)?;
    let Body { positions, tetrahedra, .. } = body;
    Ok(Model::from_mesh(RawMesh { positions, triangles, tetrahedra }))
}

fn parse_format(scanner: &mut Scanner, bytes: &[u8]) -> Parsed<(GmshVersion, Option<Endian>)> {
    scanner.skip_space();
    let at = scanner.offset;
    let version = match scanner.word("a version")? {
        b"2" | b"2.1" | b"2.2" => GmshVersion::V2,
        b"4.1" => GmshVersion::V4,
        word => {
            let what = format!("version {} is", crate::error::excerpt(word));
            let way_out = "save it as version 4.1 (gmsh -format msh41) or 2.2 (msh22)";
            return Err(Fault::text(at, Problem::Unsupported { what, way_out }));
        }
    };
    let is_binary = scanner.integer("0 for text or 1 for binary")? == 1;
    let size = scanner.integer("the size of a number")?;
    if size != 8 {
        return Err(scanner.fault(Problem::Unsupported {
            what: format!("numbers of {size} bytes are"),
            way_out: "export the mesh with 8 bytes a number",
        }));
    }
    let mut endian = None;
    if is_binary {
        scanner.skip_line();
        let one = bytes.get(scanner.offset..scanner.offset + 4);
        endian = match one {
            Some([1, 0, 0, 0]) => Some(Endian::Little),
            Some([0, 0, 0, 1]) => Some(Endian::Big),
            Some(_) => {
                let expected = "the number 1, which tells the byte order";
                let found = "another number".into();
                return Err(Fault::byte(scanner.offset, Problem::Syntax { expected, found }));
            }
            None => {
                let problem = Problem::Truncated { expected: "the number 1" };
                return Err(Fault::byte(bytes.len(), problem));
            }
        };
        scanner.offset += 4;
    }
    scanner.keyword("$EndMeshFormat")?;
    Ok((version, endian))
}

fn nodes_2(source: &mut Source, body: &mut Body, reading: &mut Reading) -> Parsed<()> {
    let least = if source.endian.is_some() { 28 } else { 8 };
    let count = source.scanner.count("vertices", least)?;
    if source.endian.is_some() {
        source.scanner.skip_line();
    }
    body.positions = reading.vec(count)?;
    body.tags = reading.vec(count)?;
    for vertex in 0..count {
        body.tags.push(source.integer(Scalar::I32, "the number of a vertex")?);
        body.positions.push(source.position()?);
        if vertex % 4096 == 0 {
            reading.reached(source.scanner.offset)?;
        }
    }
    Ok(())
}

fn elements_2(source: &mut Source, body: &mut Body, reading: &mut Reading) -> Parsed<()> {
    let least = if source.endian.is_some() { 8 } else { 6 };
    let count = source.scanner.count("elements", least)?;
    if source.endian.is_some() {
        source.scanner.skip_line();
    }
    let mut done = 0;
    while done < count {
        let mut at = source.scanner.offset;
        if source.endian.is_none() {
            // number, type, number of tags, tags, corners
            source.integer(Scalar::I32, "the number of an element")?;
            source.scanner.skip_space();
            at = source.scanner.offset;
        }
        let kind = source.integer(Scalar::I32, "the type of an element")?;
        let kind = Kind::of(kind).map_err(|problem| source.fault(at, problem))?;
        let (block, tags) = if source.endian.is_some() {
            // type, number of elements, number of tags; then each: number, tags, corners
            let block = source.count(Scalar::I32, "elements of a block", 4)?;
            (block.min(count - done), source.count(Scalar::I32, "tags", 1)?)
        } else {
            (1, source.count(Scalar::I32, "tags", 1)?)
        };
        if block == 0 {
            let problem = Problem::Inconsistent("a block of elements is empty".into());
            return Err(source.fault(at, problem));
        }
        // Growing vectors take up to three times what they hold.
        reading.take::<[u32; 4]>(3 * block)?;
        for _ in 0..block {
            if source.endian.is_some() {
                source.integer(Scalar::I32, "the number of an element")?;
            }
            for _ in 0..tags {
                source.integer(Scalar::I32, "a tag")?;
            }
            body.element(kind, source, Scalar::I32)?;
        }
        if done / 4096 != (done + block) / 4096 {
            reading.reached(source.scanner.offset)?;
        }
        done += block;
    }
    Ok(())
}

fn nodes_4(source: &mut Source, body: &mut Body, reading: &mut Reading) -> Parsed<()> {
    let is_binary = source.endian.is_some();
    if is_binary {
        source.scanner.skip_line();
    }
    let blocks = source.count(Scalar::U64, "blocks of vertices", if is_binary { 20 } else { 8 })?;
    let count = source.count(Scalar::U64, "vertices", if is_binary { 32 } else { 8 })?;
    source.integer(Scalar::U64, "the smallest number of a vertex")?;
    source.integer(Scalar::U64, "the largest number of a vertex")?;
    body.positions = reading.vec(count)?;
    body.tags = reading.vec(count)?;
    for _ in 0..blocks {
        let at = source.scanner.offset;
        let dimension = source.integer(Scalar::I32, "the dimension of an entity")?;
        source.integer(Scalar::I32, "the number of an entity")?;
        let parametric = source.integer(Scalar::I32, "0 or 1 for parametric")?;
        let block =
            source.count(Scalar::U64, "vertices of a block", if is_binary { 32 } else { 8 })?;
        if block > count - body.positions.len() {
            let text = format!("the blocks hold more vertices than the {count} announced");
            return Err(source.fault(at, Problem::Inconsistent(text)));
        }
        for _ in 0..block {
            body.tags.push(source.integer(Scalar::U64, "the number of a vertex")?);
        }
        for vertex in 0..block {
            body.positions.push(source.position()?);
            for _ in 0..if parametric == 1 { dimension.clamp(0, 3) } else { 0 } {
                source.coordinate()?;
            }
            if vertex % 4096 == 0 {
                reading.reached(source.scanner.offset)?;
            }
        }
    }
    if body.positions.len() < count {
        let text =
            format!("the blocks hold {} of the {count} vertices announced", body.positions.len());
        return Err(source.fault(source.scanner.offset, Problem::Inconsistent(text)));
    }
    Ok(())
}

fn elements_4(source: &mut Source, body: &mut Body, reading: &mut Reading) -> Parsed<()> {
    let is_binary = source.endian.is_some();
    if is_binary {
        source.scanner.skip_line();
    }
    let blocks = source.count(Scalar::U64, "blocks of elements", if is_binary { 20 } else { 8 })?;
    source.count(Scalar::U64, "elements", if is_binary { 16 } else { 4 })?;
    source.integer(Scalar::U64, "the smallest number of an element")?;
    source.integer(Scalar::U64, "the largest number of an element")?;
    for _ in 0..blocks {
        source.integer(Scalar::I32, "the dimension of an entity")?;
        source.integer(Scalar::I32, "the number of an entity")?;
        if !is_binary {
            source.scanner.skip_space();
        }
        let at = source.scanner.offset;
        let kind = source.integer(Scalar::I32, "the type of an element")?;
        let kind = Kind::of(kind).map_err(|problem| source.fault(at, problem))?;
        let least = (kind.corners() + 1) * if is_binary { 8 } else { 2 };
        let block = source.count(Scalar::U64, "elements of a block", least)?;
        match kind {
            Kind::Point | Kind::Line => {}
            Kind::Triangle => body.faces.expect(block, reading)?,
            Kind::Quadrangle => {
                reading.take::<[u32; 6]>(block)?;
                body.faces.expect(2 * block, reading)?;
            }
            Kind::Tetrahedron => {
                reading.take::<[u32; 4]>(block)?;
                body.tetrahedra.reserve_exact(block);
            }
        }
        for element in 0..block {
            source.integer(Scalar::U64, "the number of an element")?;
            body.element(kind, source, Scalar::U64)?;
            if element % 4096 == 0 {
                reading.reached(source.scanner.offset)?;
            }
        }
    }
    Ok(())
}

pub(crate) fn write(
    mesh: &RawMesh<f64>,
    options: &WriteOptions,
    sink: &mut Sink,
) -> std::io::Result<()> {
    let is_text = options.encoding == Encoding::Ascii;
    let version = match options.gmsh {
        GmshVersion::V2 => "2.2",
        GmshVersion::V4 => "4.1",
    };
    sink.text(&format!("$MeshFormat\n{version} {} 8\n", i32::from(!is_text)))?;
    if !is_text {
        sink.bytes(&1i32.to_le_bytes())?;
        sink.text("\n")?;
    }
    sink.text("$EndMeshFormat\n")?;
    let mut out = Out { sink, is_text };
    match options.gmsh {
        GmshVersion::V2 => write_2(mesh, &mut out),
        GmshVersion::V4 => write_4(mesh, &mut out),
    }
}

/// Numbers as words or bytes.
struct Out<'a, 'b> {
    sink: &'a mut Sink<'b>,
    is_text: bool,
}

impl Out<'_, '_> {
    fn ints(&mut self, values: &[i32]) -> std::io::Result<()> {
        if self.is_text {
            return self.sink.integers(values.iter().map(|&value| i64::from(value)));
        }
        values.iter().try_for_each(|value| self.sink.bytes(&value.to_le_bytes()))
    }

    fn sizes(&mut self, values: &[usize]) -> std::io::Result<()> {
        if self.is_text {
            return self.sink.integers(values.iter().map(|&value| value as i64));
        }
        values.iter().try_for_each(|&value| self.sink.bytes(&(value as u64).to_le_bytes()))
    }

    fn position(&mut self, position: &Vector3<f64>) -> std::io::Result<()> {
        if self.is_text {
            return self.sink.numbers(position.iter().copied());
        }
        position.iter().try_for_each(|x| self.sink.bytes(&x.to_le_bytes()))
    }

    /// Ends a line of text; bytes have no lines.
    fn end_line(&mut self) -> std::io::Result<()> {
        if self.is_text { self.sink.text("\n") } else { Ok(()) }
    }
}

fn write_2(mesh: &RawMesh<f64>, out: &mut Out) -> std::io::Result<()> {
    out.sink.text(&format!("$Nodes\n{}\n", mesh.positions.len()))?;
    for (vertex, position) in (1i32..).zip(&mesh.positions) {
        out.ints(&[vertex])?;
        out.position(position)?;
        out.end_line()?;
    }
    let count = mesh.triangles.len() + mesh.tetrahedra.len();
    out.sink.text(&format!("\n$EndNodes\n$Elements\n{count}\n"))?;
    fn block<const N: usize>(
        first: i32,
        kind: i32,
        items: &[[u32; N]],
        out: &mut Out,
    ) -> std::io::Result<()> {
        if !out.is_text && !items.is_empty() {
            out.ints(&[kind, items.len() as i32, 0])?;
        }
        for (number, corners) in (first..).zip(items) {
            if out.is_text {
                out.ints(&[number, kind, 0])?;
            } else {
                out.ints(&[number])?;
            }
            out.ints(&corners.map(|vertex| vertex as i32 + 1))?;
            out.end_line()?;
        }
        Ok(())
    }
    block(1, 2, &mesh.triangles, out)?;
    block(1 + mesh.triangles.len() as i32, 4, &mesh.tetrahedra, out)?;
    out.sink.text("\n$EndElements\n")
}

fn write_4(mesh: &RawMesh<f64>, out: &mut Out) -> std::io::Result<()> {
    let vertices = mesh.positions.len();
    let dimension = if mesh.tetrahedra.is_empty() { 2 } else { 3 };
    out.sink.text("$Nodes\n")?;
    out.sizes(&[1, vertices, 1, vertices])?;
    out.end_line()?;
    out.ints(&[dimension, 1, 0])?;
    out.sizes(&[vertices])?;
    out.end_line()?;
    for vertex in 1..=vertices {
        out.sizes(&[vertex])?;
        out.end_line()?;
    }
    for position in &mesh.positions {
        out.position(position)?;
        out.end_line()?;
    }
    out.sink.text("\n$EndNodes\n$Elements\n")?;
    let blocks = usize::from(!mesh.triangles.is_empty()) + usize::from(!mesh.tetrahedra.is_empty());
    let count = mesh.triangles.len() + mesh.tetrahedra.len();
    out.sizes(&[blocks, count, 1, count])?;
    out.end_line()?;
    fn block<const N: usize>(
        first: usize,
        kind: i32,
        items: &[[u32; N]],
        out: &mut Out,
    ) -> std::io::Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        out.ints(&[N as i32 - 1, 1, kind])?;
        out.sizes(&[items.len()])?;
        out.end_line()?;
        for (number, corners) in (first..).zip(items) {
            out.sizes(&[number])?;
            out.sizes(&corners.map(|vertex| vertex as usize + 1))?;
            out.end_line()?;
        }
        Ok(())
    }
    block(1, 2, &mesh.triangles, out)?;
    block(1 + mesh.triangles.len(), 4, &mesh.tetrahedra, out)?;
    out.sink.text("\n$EndElements\n")
}
