//! TetGen: vertices in `.node`, tetrahedra in `.ele`.

use crate::budget::Reading;
use crate::error::{Fault, Parsed, Problem};
use crate::model::Model;
use crate::output::Sink;
use crate::text::Scanner;
use defcol::mesh::RawMesh;

/// Reads the vertices; gives the number of the first, 0 or 1, which the tetrahedra count from.
pub(crate) fn parse_nodes(bytes: &[u8], reading: &mut Reading) -> Parsed<(i64, Model)> {
    reading.progress.begin(bytes.len() as u64);
    let mut scanner = Scanner::new(bytes, Some(b'#'));
    let count = scanner.count("vertices", 8)?;
    let dimension = scanner.integer("the dimension")?;
    if dimension != 3 {
        return Err(scanner.fault(Problem::Unsupported {
            what: format!("vertices with {dimension} coordinates are"),
            way_out: "give them three",
        }));
    }
    // Attributes and markers follow on the line of their vertex.
    scanner.skip_line();
    let mut positions = reading.vec(count)?;
    let mut first = 0;
    for vertex in 0..count {
        let number = number(&mut scanner, vertex, &mut first, "a vertex")?;
        debug_assert_eq!(number, first + vertex as i64);
        positions.push(scanner.position()?);
        scanner.skip_line();
        if vertex % 4096 == 0 {
            reading.reached(scanner.offset)?;
        }
    }
    Ok((first, Model::from_mesh(RawMesh { positions, ..RawMesh::default() })))
}

/// Reads the tetrahedra, whose corners count from `first_vertex`.
pub(crate) fn parse_elements(
    bytes: &[u8],
    first_vertex: i64,
    model: &mut Model,
    reading: &mut Reading,
) -> Parsed<()> {
    reading.progress.begin(bytes.len() as u64);
    let mut scanner = Scanner::new(bytes, Some(b'#'));
    let count = scanner.count("tetrahedra", 10)?;
    let corners = scanner.integer("the number of corners, 4")?;
    if corners != 4 {
        return Err(scanner.fault(Problem::Unsupported {
            what: format!("elements with {corners} corners are"),
            way_out: "run TetGen without -o2, which makes second-order elements",
        }));
    }
    scanner.skip_line();
    let vertices = model.mesh.positions.len();
    model.mesh.tetrahedra = reading.vec(count)?;
    let mut first = 0;
    for tetrahedron in 0..count {
        number(&mut scanner, tetrahedron, &mut first, "a tetrahedron")?;
        let mut indices = [0; 4];
        for index in &mut indices {
            *index = scanner.index(first_vertex, vertices)?;
        }
        model.mesh.tetrahedra.push(indices);
        scanner.skip_line();
        if tetrahedron % 4096 == 0 {
            reading.reached(scanner.offset)?;
        }
    }
    Ok(())
}

/// The number at the beginning of a line: they count up from 0 or 1.
fn number(scanner: &mut Scanner, index: usize, first: &mut i64, what: &'static str) -> Parsed<i64> {
    scanner.skip_space();
    let at = scanner.offset;
    let number = scanner.integer("the number of a vertex or tetrahedron")?;
    if index == 0 {
        *first = number;
    }
    if !(0..=1).contains(first) || number != *first + index as i64 {
        let text = format!("{what} has the number {number}; they must count up from 0 or 1");
        return Err(Fault::text(at, Problem::Inconsistent(text)));
    }
    Ok(number)
}

pub(crate) fn write_nodes(mesh: &RawMesh<f64>, sink: &mut Sink) -> Result<(), crate::WriteProblem> {
    sink.text(&format!("{} 3 0 0\n", mesh.positions.len()))?;
    for (vertex, position) in mesh.positions.iter().enumerate() {
        sink.integers([vertex as i64])?;
        sink.numbers(position.iter().copied())?;
        sink.text("\n")?;
    }
    Ok(())
}

pub(crate) fn write_elements(
    mesh: &RawMesh<f64>,
    sink: &mut Sink,
) -> Result<(), crate::WriteProblem> {
    sink.text(&format!("{} 4 0\n", mesh.tetrahedra.len()))?;
    for (tetrahedron, corners) in mesh.tetrahedra.iter().enumerate() {
        sink.integers(
            std::iter::once(tetrahedron as i64).chain(corners.iter().map(|&v| i64::from(v))),
        )?;
        sink.text("\n")?;
    }
    Ok(())
}
