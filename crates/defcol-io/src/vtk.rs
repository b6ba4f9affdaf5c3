//! Legacy VTK, text and binary, versions up to 5.1: unstructured grids and polygonal data. And what
//! legacy and XML files have in common: the cells.

use crate::binary::{Bytes, Endian, Scalar};
use crate::budget::Reading;
use crate::error::{Fault, Parsed, Problem};
use crate::faces::Faces;
use crate::model::Model;
use crate::text::{Scanner, check_count, check_index};
use defcol::math::Vector3;
use defcol::mesh::RawMesh;

/// Cells under construction.
#[derive(Default)]
pub(crate) struct Cells {
    pub faces: Faces,
    pub tetrahedra: Vec<[u32; 4]>,
    passed_over: usize,
}

impl Cells {
    /// Adds a cell by the number that VTK gives its kind.
    pub fn push(
        &mut self,
        kind: i64,
        corners: &[u32],
        reading: &mut Reading,
    ) -> Result<(), Problem> {
        let expect = |count: usize| {
            if corners.len() == count {
                Ok(())
            } else {
                Err(Problem::Inconsistent(format!(
                    "a cell of type {kind} has {} corners instead of {count}",
                    corners.len()
                )))
            }
        };
        let budget = |fault: Fault| fault.problem;
        match kind {
            // Vertices and lines.
            1..=4 => self.passed_over += 1,
            5 | 7 | 9 => {
                if kind == 5 {
                    expect(3)?;
                }
                if corners.len() < 3 {
                    let found = format!("{} corners", corners.len());
                    return Err(Problem::Syntax {
                        expected: "a face with at least three corners",
                        found,
                    });
                }
                reading.take::<[u32; 3]>(2 * (corners.len() - 2)).map_err(budget)?;
                self.faces.push(corners);
            }
            6 => {
                reading.take::<[u32; 3]>(2 * corners.len()).map_err(budget)?;
                for (k, window) in corners.windows(3).enumerate() {
                    let [a, b, c] = [window[0], window[1], window[2]];
                    if a != b && b != c && c != a {
                        self.faces.push(&if k % 2 == 0 { [a, b, c] } else { [b, a, c] });
                    }
                }
            }
            10 => {
                expect(4)?;
                reading.take::<[u32; 4]>(2).map_err(budget)?;
                self.tetrahedra.push([corners[0], corners[1], corners[2], corners[3]]);
            }
            8 | 11..=16 => {
                return Err(Problem::Unsupported {
                    what: format!(
                        "cells of type {kind} (pixels, voxels, hexahedra, prisms, pyramids) are"
                    ),
                    way_out: "turn them into triangles or tetrahedra first (in ParaView: Tetrahedralize)",
                });
            }
            41 | 42 => {
                return Err(Problem::Unsupported {
                    what: format!("polyhedral cells (type {kind}) are"),
                    way_out: "turn them into tetrahedra first (in ParaView: Tetrahedralize)",
                });
            }
            21..=81 => {
                return Err(Problem::Unsupported {
                    what: format!("second-order cells (type {kind}) are"),
                    way_out: "turn them into linear ones first (in ParaView: Tetrahedralize)",
                });
            }
            _ => {
                let found = kind.to_string();
                return Err(Problem::Syntax { expected: "the type of a cell", found });
            }
        }
        Ok(())
    }

    pub fn into_model(self, positions: Vec<Vector3<f64>>, reading: &mut Reading) -> Parsed<Model> {
        reading.note(self.passed_over, "points and lines are no surface and were left out");
        let triangles = self.faces.finish(&positions, reading)?;
        Ok(Model::from_mesh(RawMesh { positions, triangles, tetrahedra: self.tetrahedra }))
    }
}

/// Lists of corners: those of cell `k` end at `ends[k]`.
#[derive(Default)]
struct Lists {
    ends: Vec<u32>,
    corners: Vec<u32>,
    at: usize,
}

impl Lists {
    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.corners[start as usize..end as usize])
    }
}

struct File<'a> {
    bytes: &'a [u8],
    scanner: Scanner<'a>,
    is_binary: bool,
    vertices: usize,
}

pub(crate) fn parse(bytes: &[u8], reading: &mut Reading) -> Parsed<Model> {
    let mut scanner = Scanner::new(bytes, None);
    if !scanner.line().starts_with(b"# vtk DataFile") {
        let problem =
            Problem::WrongMagic { format: "a legacy VTK file", expected: "`# vtk DataFile`" };
        return Err(Fault::text(0, problem));
    }
    scanner.skip_line();
    let is_binary = match scanner.word("ASCII or BINARY")? {
        word if word.eq_ignore_ascii_case(b"ascii") => false,
        word if word.eq_ignore_ascii_case(b"binary") => true,
        word => {
            scanner.offset -= word.len();
            return Err(scanner.syntax("ASCII or BINARY"));
        }
    };
    scanner.keyword("DATASET")?;
    let kind = scanner.word("the kind of data set")?;
    if ![&b"UNSTRUCTURED_GRID"[..], b"POLYDATA"]
        .iter()
        .any(|known| kind.eq_ignore_ascii_case(known))
    {
        scanner.offset -= kind.len();
        return Err(scanner.fault(Problem::Unsupported {
            what: format!("a data set of kind {} is", crate::error::excerpt(kind)),
            way_out: "export the mesh as UNSTRUCTURED_GRID or POLYDATA",
        }));
    }
    let mut file = File { bytes, scanner, is_binary, vertices: 0 };
    let mut positions = Vec::new();
    let mut cells = Cells::default();
    let mut lists = None;
    while file.scanner.skip_space() {
        reading.reached(file.scanner.offset)?;
        let at = file.scanner.offset;
        let word = file.scanner.word("a section")?.to_ascii_uppercase();
        match word.as_slice() {
            b"POINTS" => {
                file.read_points(&mut positions, reading)?;
                file.vertices = positions.len();
            }
            b"CELLS" => lists = Some(file.read_lists(reading)?),
            b"CELL_TYPES" => {
                let Some(lists) = lists.take() else {
                    let text = "CELL_TYPES stands before CELLS";
                    return Err(Fault::text(at, Problem::Inconsistent(text.into())));
                };
                file.read_types(&lists, &mut cells, reading)?;
            }
            b"POLYGONS" | b"TRIANGLE_STRIPS" => {
                let kind = if word == b"POLYGONS" { 7 } else { 6 };
                let lists = file.read_lists(reading)?;
                for corners in lists.iter() {
                    cells.push(kind, corners, reading).map_err(|p| Fault::text(lists.at, p))?;
                }
            }
            b"VERTICES" | b"LINES" => cells.passed_over += file.read_lists(reading)?.ends.len(),
            b"METADATA" => file.skip_metadata(),
            b"FIELD" => file.skip_fields()?,
            // Everything behind belongs to fields on the mesh, which are not read.
            b"POINT_DATA" | b"CELL_DATA" => break,
            _ => {
                file.scanner.offset = at;
                return Err(file.scanner.syntax("a section such as POINTS, CELLS or POLYGONS"));
            }
        }
    }
    if lists.is_some() {
        return Err(file.scanner.fault(Problem::Truncated { expected: "CELL_TYPES" }));
    }
    cells.into_model(positions, reading)
}

fn scalar(name: &[u8]) -> Option<Scalar> {
    Some(match name.to_ascii_lowercase().as_slice() {
        b"char" | b"signed_char" => Scalar::I8,
        b"unsigned_char" => Scalar::U8,
        b"short" => Scalar::I16,
        b"unsigned_short" => Scalar::U16,
        b"int" => Scalar::I32,
        b"unsigned_int" => Scalar::U32,
        b"long" | b"vtktypeint64" | b"vtkidtype" => Scalar::I64,
        b"unsigned_long" | b"vtktypeuint64" => Scalar::U64,
        b"float" => Scalar::F32,
        b"double" => Scalar::F64,
        _ => return None,
    })
}

impl File<'_> {
    fn cursor(&self) -> Bytes<'_> {
        Bytes::new(self.bytes, self.scanner.offset, Endian::Big)
    }

    fn fault(&self, at: usize, problem: Problem) -> Fault {
        if self.is_binary { Fault::byte(at, problem) } else { Fault::text(at, problem) }
    }

    /// The smallest number of bytes that an item takes.
    fn least(&self, scalar: Scalar) -> usize {
        if self.is_binary { scalar.size() } else { 2 }
    }

    fn read_scalar(&mut self) -> Parsed<Scalar> {
        let word = self.scanner.word("a type")?;
        scalar(word).ok_or_else(|| {
            self.scanner.offset -= word.len();
            self.scanner.syntax("a type such as float or double")
        })
    }

    fn read_points(
        &mut self,
        positions: &mut Vec<Vector3<f64>>,
        reading: &mut Reading,
    ) -> Parsed<()> {
        let at = self.scanner.offset;
        let count = self.scanner.unsigned("the number of points")?;
        let scalar = self.read_scalar()?;
        let room = (self.scanner.rest().len() + 1) / (3 * self.least(scalar));
        let count = check_count(count, "vertices", room).map_err(|p| Fault::text(at, p))?;
        reading.take::<Vector3<f64>>(count)?;
        positions.reserve_exact(count);
        if self.is_binary {
            self.scanner.skip_line();
            let mut cursor = self.cursor();
            cursor.positions(scalar, count, positions)?;
            self.scanner.offset = cursor.offset;
            return Ok(());
        }
        for point in 0..count {
            positions.push(self.scanner.position()?);
            if point % 4096 == 0 {
                reading.reached(self.scanner.offset)?;
            }
        }
        Ok(())
    }

    /// Metadata ends with an empty line.
    fn skip_metadata(&mut self) {
        self.scanner.skip_line();
        while !self.scanner.rest().is_empty() && !self.scanner.line().is_empty() {}
    }

    /// Fields of the data set as a whole, such as a time: arrays with a name each.
    fn skip_fields(&mut self) -> Parsed<()> {
        self.scanner.word("the name of a field")?;
        let arrays = self.scanner.count("arrays of a field", 8)?;
        for _ in 0..arrays {
            if self.scanner.peek() == b"METADATA" {
                self.skip_metadata();
            }
            self.scanner.word("the name of an array")?;
            let components = self.scanner.count("components", 1)?;
            let tuples = self.scanner.count("values", 1)?;
            let scalar = self.read_scalar()?;
            let count = components.saturating_mul(tuples);
            if self.is_binary {
                self.scanner.skip_line();
                let mut cursor = self.cursor();
                cursor.take(count.saturating_mul(scalar.size()), "the values of an array")?;
                self.scanner.offset = cursor.offset;
            } else {
                for _ in 0..count {
                    self.scanner.word("the values of an array")?;
                }
            }
        }
        Ok(())
    }

    /// Whole numbers, as words or bytes.
    fn read_integers(
        &mut self,
        scalar: Scalar,
        count: usize,
        mut visit: impl FnMut(i64) -> Result<(), Problem>,
    ) -> Parsed<()> {
        if !self.is_binary {
            for _ in 0..count {
                self.scanner.skip_space();
                let at = self.scanner.offset;
                let value = self.scanner.integer("a whole number")?;
                visit(value).map_err(|problem| Fault::text(at, problem))?;
            }
            return Ok(());
        }
        self.scanner.skip_line();
        let mut cursor = self.cursor();
        for _ in 0..count {
            let at = cursor.offset;
            let value = cursor.integer(scalar, "whole numbers")?;
            visit(value).map_err(|problem| Fault::byte(at, problem))?;
        }
        self.scanner.offset = cursor.offset;
        Ok(())
    }

    /// `CELLS n size` with each list behind its length, or since version 5 with OFFSETS and
    /// CONNECTIVITY apart.
    fn read_lists(&mut self, reading: &mut Reading) -> Parsed<Lists> {
        let start = self.scanner.offset;
        let count = self.scanner.unsigned("the number of cells")?;
        let size = self.scanner.unsigned("the number of all corners")?;
        let vertices = self.vertices;
        let mut lists = Lists { at: start, ..Lists::default() };
        let mut ahead = self.scanner.clone();
        if ahead.peek() == b"OFFSETS" {
            self.scanner = ahead;
            self.scanner.keyword("OFFSETS")?;
            let scalar = self.read_scalar()?;
            let room = (self.scanner.rest().len() + 1) / self.least(scalar);
            let count = check_count(count, "cells", room).map_err(|p| Fault::text(start, p))?;
            lists.ends = reading.vec(count)?;
            let ends = &mut lists.ends;
            let mut last = 0;
            self.read_integers(scalar, count, |offset| {
                if offset < last || offset as u64 > size {
                    return Err(Problem::Inconsistent(
                        "the offsets of the cells do not ascend".into(),
                    ));
                }
                last = offset;
                ends.push(offset as u32);
                Ok(())
            })?;
            // The first offset is the beginning of the first cell.
            if lists.ends.first() != Some(&0) {
                let text = "the offsets of the cells do not begin with 0".into();
                return Err(self.fault(start, Problem::Inconsistent(text)));
            }
            lists.ends.remove(0);
            self.scanner.keyword("CONNECTIVITY")?;
            let scalar = self.read_scalar()?;
            let room = (self.scanner.rest().len() + 1) / self.least(scalar);
            let size = check_count(size, "corners", room).map_err(|p| Fault::text(start, p))?;
            lists.corners = reading.vec(size)?;
            let corners = &mut lists.corners;
            self.read_integers(scalar, size, |index| {
                corners.push(check_index(index, 0, vertices)?);
                Ok(())
            })?;
            return Ok(lists);
        }
        let room = (self.scanner.rest().len() + 1) / self.least(Scalar::I32);
        let count = check_count(count, "cells", room).map_err(|p| Fault::text(start, p))?;
        let size = check_count(size, "corners", room).map_err(|p| Fault::text(start, p))?;
        lists.ends = reading.vec(count)?;
        lists.corners = reading.vec(size)?;
        let Lists { ends, corners, .. } = &mut lists;
        let mut left = 0;
        self.read_integers(Scalar::I32, size, |value| {
            if left > 0 {
                corners.push(check_index(value, 0, vertices)?);
                left -= 1;
            } else if ends.len() == count {
                return Err(Problem::Inconsistent(format!("there are more than {count} cells")));
            } else {
                left = check_count(value.max(0) as u64, "corners of a cell", size)?;
            }
            if left == 0 {
                ends.push(corners.len() as u32);
            }
            Ok(())
        })?;
        if left > 0 || ends.len() != count {
            let text = format!("the cells do not fill the {size} numbers announced");
            return Err(self.fault(start, Problem::Inconsistent(text)));
        }
        Ok(lists)
    }

    fn read_types(
        &mut self,
        lists: &Lists,
        cells: &mut Cells,
        reading: &mut Reading,
    ) -> Parsed<()> {
        let at = self.scanner.offset;
        let count = self.scanner.count("cells", self.least(Scalar::I32))?;
        if count != lists.ends.len() {
            let text = format!("there are {count} types for {} cells", lists.ends.len());
            return Err(Fault::text(at, Problem::Inconsistent(text)));
        }
        let mut corners = lists.iter();
        self.read_integers(Scalar::I32, count, |kind| {
            cells.push(kind, corners.next().unwrap_or_default(), reading)
        })
    }
}
