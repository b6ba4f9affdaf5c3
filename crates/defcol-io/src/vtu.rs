//! VTU, the unstructured grids of VTK in XML: text, base64 and appended data, plain, zlib or LZ4.

use std::borrow::Cow;
use std::io::Read;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::base64;
use crate::binary::{Endian, Layout, Scalar};
use crate::budget::Reading;
use crate::error::{Fault, Parsed, Problem, excerpt};
use crate::model::Model;
use crate::output::{Encoding, Sink};
use crate::text::{Scanner, check_index};
use crate::vtk::Cells;
use defcol::math::Vector3;
use defcol::mesh::RawMesh;

/// A `DataArray`: what its attributes say and where its contents are.
#[derive(Clone)]
struct Array {
    scalar: Scalar,
    format: ArrayFormat,
    /// Where the text between the tags begins and ends.
    text: (usize, usize),
}

#[derive(Clone, Copy, PartialEq)]
enum ArrayFormat {
    Ascii,
    Binary,
    Appended(usize),
}

#[derive(Default)]
struct Piece {
    /// Where it begins, and how many points and cells it announces.
    at: usize,
    announced: [Option<usize>; 2],
    points: Option<Array>,
    connectivity: Option<Array>,
    offsets: Option<Array>,
    types: Option<Array>,
}

#[derive(Clone, Copy)]
enum Compression {
    Zlib,
    Lz4,
}

/// Appends up to `size` bytes that were packed into a block.
fn unpack_block(
    compression: Compression,
    packed: &[u8],
    size: usize,
    plain: &mut Vec<u8>,
) -> Result<(), String> {
    match compression {
        Compression::Zlib => {
            let mut decoder = flate2::read::ZlibDecoder::new(packed).take(size as u64);
            decoder.read_to_end(plain).map(|_| ()).map_err(|error| error.to_string())
        }
        Compression::Lz4 => {
            let start = plain.len();
            plain.resize(start + size, 0);
            let filled = lz4_flex::block::decompress_into(packed, &mut plain[start..]);
            plain.truncate(start + filled.map_err(|error| error.to_string())?);
            Ok(())
        }
    }
}

impl Piece {
    /// Compares what a piece announces with what it holds.
    fn check(&self, which: usize, what: &str, found: usize) -> Parsed<()> {
        match self.announced[which] {
            Some(announced) if announced != found => {
                let text = format!("the piece announces {announced} {what} and holds {found}");
                Err(Fault::text(self.at, Problem::Inconsistent(text)))
            }
            _ => Ok(()),
        }
    }
}

struct File<'a> {
    bytes: &'a [u8],
    endian: Endian,
    header: Scalar,
    compression: Option<Compression>,
    /// The appended data behind its underscore, and whether it is base64.
    appended: Option<(usize, bool)>,
}

pub(crate) fn parse(bytes: &[u8], reading: &mut Reading) -> Parsed<Model> {
    let (file, pieces) = parse_xml(bytes, reading)?;
    let mut positions: Vec<Vector3<f64>> = Vec::new();
    let mut cells = Cells::default();
    for piece in &pieces {
        let first = positions.len() as u32;
        if let Some(points) = &piece.points {
            file.positions(points, &mut positions, reading)?;
        }
        let vertices = positions.len() - first as usize;
        piece.check(0, "points", vertices)?;
        let (Some(connectivity), Some(offsets), Some(types)) =
            (&piece.connectivity, &piece.offsets, &piece.types)
        else {
            piece.check(1, "cells", 0)?;
            continue;
        };
        let before = reading.taken();
        let corners = file.integers(connectivity, reading)?;
        let ends = file.integers(offsets, reading)?;
        let kinds = file.integers(types, reading)?;
        let lists_taken = reading.taken();
        let at = |array: &Array, problem| Fault::text(array.text.0, problem);
        if ends.len() != kinds.len() {
            let text = format!("there are {} types for {} cells", kinds.len(), ends.len());
            return Err(at(types, Problem::Inconsistent(text)));
        }
        piece.check(1, "cells", ends.len())?;
        let mut list: Vec<u32> = Vec::new();
        let mut start = 0;
        for (&end, &kind) in ends.iter().zip(&kinds) {
            let cell = usize::try_from(end).ok().and_then(|end| corners.get(start..end));
            let Some(cell) = cell else {
                let text =
                    format!("the offsets do not ascend within the {} corners", corners.len());
                return Err(at(offsets, Problem::Inconsistent(text)));
            };
            start = end as usize;
            list.clear();
            for &index in cell {
                let index = check_index(index, 0, vertices).map_err(|p| at(connectivity, p))?;
                list.push(first + index);
            }
            cells.push(kind, &list, reading).map_err(|problem| at(types, problem))?;
        }
        drop((corners, ends, kinds));
        let cells_taken = reading.taken() - lists_taken;
        reading.release_to(before)?;
        reading.take::<u8>(cells_taken)?;
    }
    cells.into_model(positions, reading)
}

fn parse_xml<'a>(bytes: &'a [u8], reading: &mut Reading) -> Parsed<(File<'a>, Vec<Piece>)> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if !text.trim_ascii_start().starts_with(b"<") {
        return Err(wrong_magic());
    }
    // Raw appended data is not XML: the parser must not see it.
    let appended = memchr::memmem::find(bytes, b"<AppendedData");
    let xml = &bytes[..appended.unwrap_or(bytes.len())];
    let mut file = File {
        bytes,
        endian: Endian::Little,
        header: Scalar::U32,
        compression: None,
        appended: None,
    };
    if let Some(at) = appended {
        file.appended = Some(appended_data(bytes, at)?);
    }
    let mut reader = Reader::from_reader(xml);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut in_file = false;
    let (mut in_points, mut in_cells) = (false, false);
    let mut depth = 0;
    loop {
        let before = reader.buffer_position() as usize;
        let event = reader.read_event().map_err(|error| {
            Fault::text(
                reader.error_position() as usize,
                Problem::Inconsistent(format!("broken XML: {error}")),
            )
        })?;
        let after = reader.buffer_position() as usize;
        let (tag, is_empty) = match event {
            Event::Start(tag) => (tag, false),
            Event::Empty(tag) => (tag, true),
            Event::End(tag) => {
                depth -= 1;
                match tag.name().as_ref() {
                    "Points" => in_points = false,
                    "Cells" => in_cells = false,
                    _ => {}
                }
                continue;
            }
            // What is open when the appended data begins is closed behind it.
            Event::Eof if depth > 0 && appended.is_none() => {
                return Err(Fault::text(before, Problem::Truncated { expected: "a closing tag" }));
            }
            Event::Eof => break,
            _ => continue,
        };
        depth += usize::from(!is_empty);
        let fault = |problem| Fault::text(before, problem);
        match tag.name().as_ref() {
            "VTKFile" => {
                in_file = true;
                file.read_attributes(&tag).map_err(fault)?;
            }
            _ if !in_file => return Err(wrong_magic()),
            "Piece" => {
                reading.take::<[Piece; 2]>(1)?;
                let count = |name| {
                    let text = attribute(&tag, name).map_err(fault)?;
                    Ok::<_, Fault>(text.and_then(|text| text.trim().parse().ok()))
                };
                let announced = [count("NumberOfPoints")?, count("NumberOfCells")?];
                pieces.push(Piece { at: before, announced, ..Piece::default() });
            }
            "Points" => in_points = !is_empty,
            "Cells" => in_cells = !is_empty,
            "DataArray" => {
                let Some(piece) = pieces.last_mut() else {
                    continue;
                };
                let name = attribute(&tag, "Name").map_err(fault)?;
                let slot = match name.as_deref() {
                    _ if in_points => &mut piece.points,
                    _ if !in_cells => continue,
                    Some("connectivity") => &mut piece.connectivity,
                    Some("offsets") => &mut piece.offsets,
                    Some("types") => &mut piece.types,
                    _ => continue,
                };
                // The text of an array is up to the next tag.
                let end = if is_empty { Some(0) } else { memchr::memchr(b'<', &xml[after..]) };
                let Some(length) = end else {
                    return Err(fault(Problem::Truncated { expected: "the end of a DataArray" }));
                };
                *slot = Some(parse_array(&tag, (after, after + length)).map_err(fault)?);
            }
            _ => {}
        }
    }
    if !in_file {
        return Err(wrong_magic());
    }
    Ok((file, pieces))
}

fn wrong_magic() -> Fault {
    Fault::text(0, Problem::WrongMagic { format: "a VTU file", expected: "`<VTKFile`" })
}

fn attribute(tag: &BytesStart, name: &str) -> Result<Option<String>, Problem> {
    match tag.try_get_attribute(name) {
        Ok(found) => Ok(found.map(|a| a.value.into_owned())),
        Err(error) => Err(Problem::Inconsistent(format!("broken XML: {error}"))),
    }
}

fn parse_array(tag: &BytesStart, text: (usize, usize)) -> Result<Array, Problem> {
    let scalar = match attribute(tag, "type")?.as_deref() {
        Some("Int8") => Scalar::I8,
        Some("UInt8") => Scalar::U8,
        Some("Int16") => Scalar::I16,
        Some("UInt16") => Scalar::U16,
        Some("Int32") => Scalar::I32,
        Some("UInt32") => Scalar::U32,
        Some("Int64") => Scalar::I64,
        Some("UInt64") => Scalar::U64,
        Some("Float32") => Scalar::F32,
        Some("Float64") => Scalar::F64,
        other => {
            let found = excerpt(other.unwrap_or("nothing").as_bytes());
            return Err(Problem::Syntax { expected: "the type of a DataArray", found });
        }
    };
    let format = match attribute(tag, "format")?.as_deref() {
        Some("ascii") | None => ArrayFormat::Ascii,
        Some("binary") => ArrayFormat::Binary,
        Some("appended") => {
            let offset = attribute(tag, "offset")?.and_then(|offset| offset.trim().parse().ok());
            let found = "nothing".to_owned();
            let missing =
                Problem::Syntax { expected: "the offset of an appended DataArray", found };
            ArrayFormat::Appended(offset.ok_or(missing)?)
        }
        Some(other) => {
            let found = excerpt(other.as_bytes());
            return Err(Problem::Syntax { expected: "ascii, binary or appended", found });
        }
    };
    Ok(Array { scalar, format, text })
}

/// Where the appended data begins, and whether it is base64.
fn appended_data(bytes: &[u8], at: usize) -> Parsed<(usize, bool)> {
    let rest = &bytes[at..];
    let tag_end = memchr::memchr(b'>', rest);
    let underscore =
        tag_end.and_then(|end| memchr::memchr(b'_', &rest[end..]).map(|more| end + more));
    let (Some(tag_end), Some(underscore)) = (tag_end, underscore) else {
        return Err(Fault::byte(
            at,
            Problem::Truncated { expected: "appended data behind an underscore" },
        ));
    };
    let is_base64 = memchr::memmem::find(&rest[..tag_end], b"base64").is_some();
    Ok((at + underscore + 1, is_base64))
}

impl File<'_> {
    fn read_attributes(&mut self, tag: &BytesStart) -> Result<(), Problem> {
        let kind = attribute(tag, "type")?.unwrap_or_default();
        if kind != "UnstructuredGrid" {
            return Err(Problem::Unsupported {
                what: format!("a data set of kind {} is", excerpt(kind.as_bytes())),
                way_out: "export the mesh as an unstructured grid",
            });
        }
        if attribute(tag, "byte_order")?.as_deref() == Some("BigEndian") {
            self.endian = Endian::Big;
        }
        if attribute(tag, "header_type")?.as_deref() == Some("UInt64") {
            self.header = Scalar::U64;
        }
        match attribute(tag, "compressor")?.as_deref() {
            None | Some("") => {}
            Some("vtkZLibDataCompressor") => self.compression = Some(Compression::Zlib),
            Some("vtkLZ4DataCompressor") => self.compression = Some(Compression::Lz4),
            Some(other) => {
                return Err(Problem::Unsupported {
                    what: format!("the compression {} is", excerpt(other.as_bytes())),
                    way_out: "save the file with zlib, LZ4 or without compression",
                });
            }
        }
        Ok(())
    }

    /// The bytes of an array that is not text.
    fn decoded(&self, array: &Array, reading: &mut Reading) -> Parsed<Cow<'_, [u8]>> {
        let fault = |problem| Fault::byte(array.text.0, problem);
        let (source, is_base64) = match array.format {
            ArrayFormat::Appended(offset) => {
                let Some((start, is_base64)) = self.appended else {
                    return Err(fault(Problem::Truncated { expected: "the appended data" }));
                };
                let source = self.bytes.get(start.saturating_add(offset)..);
                let expected = "an array at its offset in the appended data";
                (source.ok_or_else(|| fault(Problem::Truncated { expected }))?, is_base64)
            }
            _ => (&self.bytes[array.text.0..array.text.1], true),
        };
        let source = if is_base64 {
            Cow::Owned(self.plain(source, reading).map_err(fault)?)
        } else {
            Cow::Borrowed(source)
        };
        self.unpack(source, array, reading).map_err(fault)
    }

    /// As much of a base64 text as its header says.
    fn plain(&self, text: &[u8], reading: &mut Reading) -> Result<Vec<u8>, Problem> {
        let size = self.header.size();
        let truncated = || Problem::Truncated { expected: "the contents of a DataArray" };
        let word = |plain: &[u8], k: usize| {
            let bytes = plain.get(k * size..(k + 1) * size).ok_or_else(truncated)?;
            usize::try_from(self.header.integer(bytes, self.endian)).map_err(|_| truncated())
        };
        if text.trim_ascii().is_empty() {
            return Ok(Vec::new());
        }
        let mut decode = |least: usize| {
            if least > text.len() {
                return Err(truncated());
            }
            reading.take::<u8>(least + 3).map_err(|fault| fault.problem)?;
            let (plain, used) = base64::decode_segments(text, least).ok_or_else(truncated)?;
            reading.repeat(used).map_err(|fault| fault.problem)?;
            Ok::<_, Problem>(plain)
        };
        let head = decode(size)?;
        let length = if self.compression.is_some() {
            let sizes = word(&head, 0)?.saturating_add(3).saturating_mul(size);
            let head = decode(sizes)?;
            (3..sizes / size)
                .try_fold(sizes, |sum, k| Ok::<_, Problem>(sum.saturating_add(word(&head, k)?)))?
        } else {
            word(&head, 0)?.saturating_add(size)
        };
        decode(length)
    }

    /// Takes header and compression off.
    fn unpack<'b>(
        &self,
        source: Cow<'b, [u8]>,
        array: &Array,
        reading: &mut Reading,
    ) -> Result<Cow<'b, [u8]>, Problem> {
        let size = self.header.size();
        let truncated = || Problem::Truncated { expected: "the contents of a DataArray" };
        let word = |k: usize| {
            let bytes = source.get(k * size..(k + 1) * size).ok_or_else(truncated)?;
            usize::try_from(self.header.integer(bytes, self.endian)).map_err(|_| truncated())
        };
        let Some(compression) = self.compression else {
            if source.is_empty() {
                return Ok(source);
            }
            let end = word(0)?.checked_add(size).filter(|end| *end <= source.len());
            let end = end.ok_or_else(truncated)?;
            return Ok(match source {
                Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[size..end]),
                Cow::Owned(mut bytes) => {
                    bytes.truncate(end);
                    bytes.drain(..size);
                    Cow::Owned(bytes)
                }
            });
        };
        // Number of blocks, size of a block, size of the last if it is smaller, packed sizes.
        let blocks = word(0)?;
        if blocks == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        let (block, last) = (word(1)?, word(2)?);
        if block == 0 {
            return Err(Problem::Inconsistent("the blocks of a compressed array are empty".into()));
        }
        reading.repeat(blocks.saturating_mul(64)).map_err(|fault| fault.problem)?;
        let mut at =
            blocks.checked_add(3).and_then(|n| n.checked_mul(size)).ok_or_else(truncated)?;
        if at > source.len() {
            return Err(truncated());
        }
        let total =
            (blocks - 1).saturating_mul(block).saturating_add(if last > 0 { last } else { block });
        reading.take::<u8>(total).map_err(|fault| fault.problem)?;
        let mut plain = Vec::with_capacity(total);
        for k in 0..blocks {
            let packed = at.checked_add(word(3 + k)?).and_then(|end| source.get(at..end));
            let packed = packed.ok_or_else(truncated)?;
            at += packed.len();
            let size = if k + 1 == blocks && last > 0 { last } else { block };
            unpack_block(compression, packed, size, &mut plain).map_err(|error| {
                let kind = array.scalar;
                Problem::Inconsistent(format!("a compressed {kind:?} array is broken: {error}"))
            })?;
        }
        if plain.len() != total {
            return Err(truncated());
        }
        Ok(Cow::Owned(plain))
    }

    fn positions(
        &self,
        array: &Array,
        positions: &mut Vec<Vector3<f64>>,
        reading: &mut Reading,
    ) -> Parsed<()> {
        if array.format == ArrayFormat::Ascii {
            let mut scanner = Scanner::new(&self.bytes[..array.text.1], None);
            scanner.offset = array.text.0;
            let room = (array.text.1 - array.text.0 + 1) / 6;
            reading.take::<Vector3<f64>>(room)?;
            positions.reserve_exact(room);
            while scanner.skip_space() {
                positions.push(scanner.position()?);
                if positions.len().is_multiple_of(4096) {
                    reading.reached(scanner.offset)?;
                }
            }
            return Ok(());
        }
        let before = reading.taken();
        let bytes = self.decoded(array, reading)?;
        let stride = 3 * array.scalar.size();
        if bytes.len() % stride != 0 {
            let text = "the coordinates of the points do not come in threes".into();
            return Err(Fault::byte(array.text.0, Problem::Inconsistent(text)));
        }
        reading.take::<Vector3<f64>>(bytes.len() / stride)?;
        positions.reserve_exact(bytes.len() / stride);
        let fields = [0, 1, 2].map(|k| (array.scalar, k * array.scalar.size()));
        let layout = Layout { stride, fields };
        let result = layout.positions(&bytes, 0, self.endian, positions);
        let count = bytes.len() / stride;
        drop(bytes);
        reading.release_to(before)?;
        reading.take::<Vector3<f64>>(count)?;
        // Offsets in decoded bytes mean nothing in the file.
        result.map_err(|fault| Fault::byte(array.text.0, fault.problem))
    }

    fn integers(&self, array: &Array, reading: &mut Reading) -> Parsed<Vec<i64>> {
        if array.format == ArrayFormat::Ascii {
            let mut scanner = Scanner::new(&self.bytes[..array.text.1], None);
            scanner.offset = array.text.0;
            let mut integers = reading.vec((array.text.1 - array.text.0).div_ceil(2))?;
            while scanner.skip_space() {
                integers.push(scanner.integer("a whole number")?);
            }
            return Ok(integers);
        }
        let before = reading.taken();
        let bytes = self.decoded(array, reading)?;
        let size = array.scalar.size();
        let mut integers = reading.vec(bytes.len() / size)?;
        integers
            .extend(bytes.chunks_exact(size).map(|item| array.scalar.integer(item, self.endian)));
        drop(bytes);
        reading.release_to(before)?;
        reading.take::<i64>(integers.len())?;
        Ok(integers)
    }
}

pub(crate) fn write(
    mesh: &RawMesh<f64>,
    encoding: Encoding,
    sink: &mut Sink,
) -> std::io::Result<()> {
    write_vtu(mesh, &VtuExtras::default(), encoding, sink)
}

/// Optional contents of a VTU file besides the mesh.
#[derive(Debug, Default)]
pub struct VtuExtras<'a> {
    /// Vertices written as vertex cells (particles).
    pub points: &'a [u32],
    /// Body id of each vertex, written as point data `body`; empty for none.
    pub bodies: &'a [u32],
}

/// Writes a VTU file: a mesh with optional vertex cells and body ids.
pub fn write_vtu(
    mesh: &RawMesh<f64>,
    extra: &VtuExtras,
    encoding: Encoding,
    sink: &mut Sink,
) -> std::io::Result<()> {
    let is_text = encoding == Encoding::Ascii;
    let (triangles, tetrahedra) = (mesh.triangles.len(), mesh.tetrahedra.len());
    let cells = extra.points.len() + triangles + tetrahedra;
    let corners = extra.points.len() + 3 * triangles + 4 * tetrahedra;
    sink.text(&format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
         byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n\
         <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{cells}\">\n",
        mesh.positions.len()
    ))?;
    // Appended arrays: each is its length in 8 bytes and its numbers.
    let mut offset = 0;
    let mut array = |sink: &mut Sink, kind: &str, name: &str, components: &str, size: usize| {
        let open = format!("<DataArray type=\"{kind}\" Name=\"{name}\"{components}");
        if is_text {
            return sink.text(&format!("{open} format=\"ascii\">\n"));
        }
        sink.text(&format!("{open} format=\"appended\" offset=\"{offset}\"/>\n"))?;
        offset += 8 + size;
        Ok(())
    };
    let end = |sink: &mut Sink| sink.text(if is_text { "\n</DataArray>\n" } else { "" });
    let lists = || {
        let points = extra.points.iter().map(std::slice::from_ref);
        let triangles = mesh.triangles.iter().map(|corners| &corners[..]);
        points.chain(triangles).chain(mesh.tetrahedra.iter().map(|corners| &corners[..]))
    };
    let ends = || {
        lists().scan(0u64, |end, list| {
            *end += list.len() as u64;
            Some(*end)
        })
    };
    let kinds = || {
        lists().map(|list| match list.len() {
            1 => 1u8,
            3 => 5,
            _ => 10,
        })
    };

    if !extra.bodies.is_empty() {
        sink.text("<PointData Scalars=\"body\">\n")?;
        array(sink, "UInt32", "body", "", 4 * extra.bodies.len())?;
        if is_text {
            sink.integers(extra.bodies.iter().map(|&body| i64::from(body)))?;
        }
        end(sink)?;
        sink.text("</PointData>\n")?;
    }
    sink.text("<Points>\n")?;
    array(sink, "Float64", "Points", " NumberOfComponents=\"3\"", 24 * mesh.positions.len())?;
    if is_text {
        for position in &mesh.positions {
            sink.numbers(position.iter().copied())?;
            sink.text("\n")?;
        }
    }
    end(sink)?;
    sink.text("</Points>\n<Cells>\n")?;
    array(sink, "UInt32", "connectivity", "", 4 * corners)?;
    if is_text {
        for list in lists() {
            sink.integers(list.iter().map(|&vertex| i64::from(vertex)))?;
            sink.text("\n")?;
        }
    }
    end(sink)?;
    array(sink, "UInt64", "offsets", "", 8 * cells)?;
    if is_text {
        sink.integers(ends().map(|end| end as i64))?;
    }
    end(sink)?;
    array(sink, "UInt8", "types", "", cells)?;
    if is_text {
        sink.integers(kinds().map(i64::from))?;
    }
    end(sink)?;
    sink.text("</Cells>\n</Piece>\n</UnstructuredGrid>\n")?;
    if !is_text {
        sink.text("<AppendedData encoding=\"raw\">\n_")?;
        let head = |sink: &mut Sink, size: usize| sink.bytes(&(size as u64).to_le_bytes());
        if !extra.bodies.is_empty() {
            head(sink, 4 * extra.bodies.len())?;
            extra.bodies.iter().try_for_each(|body| sink.bytes(&body.to_le_bytes()))?;
        }
        head(sink, 24 * mesh.positions.len())?;
        mesh.positions.iter().flatten().try_for_each(|x| sink.bytes(&x.to_le_bytes()))?;
        head(sink, 4 * corners)?;
        lists().flatten().try_for_each(|vertex| sink.bytes(&vertex.to_le_bytes()))?;
        head(sink, 8 * cells)?;
        ends().try_for_each(|end| sink.bytes(&end.to_le_bytes()))?;
        head(sink, cells)?;
        kinds().try_for_each(|kind| sink.bytes(&[kind]))?;
        sink.text("\n</AppendedData>\n")?;
    }
    sink.text("</VTKFile>\n")
}
