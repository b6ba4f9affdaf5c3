//! `defcol convert`: from one format to another, with explicit repairs on the way.

use std::path::Path;

use defcol_io::{
    Encoding, Format, GmshVersion, Model, Repair, WriteError, WriteOptions, encode, write,
    written_format,
};
use serde::Serialize;

use super::{load, named_format};
use crate::arguments::{
    Common, ConvertOptions, EncodingChoice, GmshChoice, OutputFormat, RepairStep,
};
use crate::failure::Failure;
use crate::print;
use crate::progress::{PROGRESS, writing};

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    input: String,
    output: String,
    vertices: usize,
    triangles: usize,
    tetrahedra: usize,
    repairs: &'a [String],
    notes: &'a [String],
}

pub fn run(options: &ConvertOptions, common: &Common) -> Result<(), Failure> {
    // Before a long read, not after it.
    let format = output_format(options)?;
    if options.weld_tolerance.is_some() && repair(options).weld.is_none() {
        return Err(Failure::usage("--weld-tolerance needs --repair weld"));
    }
    let mut model = load(&options.input, options.from.as_deref(), common.quiet)?;
    let repairs = model
        .repair(&repair(options))
        .map_err(|error| Failure::Input(format!("{}: {error}", options.input.display())))?;
    let mut notes = std::mem::take(&mut model.notes);
    notes.extend(store(&model, format, options, common.quiet)?);
    let to_stdout = options.output == Path::new("-");
    if common.format == OutputFormat::Json && !to_stdout {
        return Ok(print::json(&Report {
            schema: "defcol.convert/1",
            input: options.input.display().to_string(),
            output: options.output.display().to_string(),
            vertices: model.mesh.positions.len(),
            triangles: model.mesh.triangles.len(),
            tetrahedra: model.mesh.tetrahedra.len(),
            repairs: &repairs,
            notes: &notes,
        })?);
    }
    if !common.quiet {
        for message in repairs.iter().chain(&notes) {
            print::note(message);
        }
    }
    if !to_stdout && !common.quiet {
        print::text(format!(
            "{}: {} vertices, {} triangles, {} tetrahedra",
            options.output.display(),
            model.mesh.positions.len(),
            model.mesh.triangles.len(),
            model.mesh.tetrahedra.len()
        ))?;
    }
    Ok(())
}

/// The format of the output, and the encoding where it is not said.
fn output_format(options: &ConvertOptions) -> Result<(Format, Encoding), Failure> {
    let to_stdout = options.output == Path::new("-");
    let format = if to_stdout {
        named_format(options.to.as_deref(), "--to")?
    } else {
        written_format(&options.output)?
    };
    let is_text_ending = options.to.as_deref().is_some_and(|ending| ending.ends_with("mesh"));
    let encoding = match options.encoding {
        Some(EncodingChoice::Binary) => Encoding::Binary,
        Some(EncodingChoice::BigEndian) => Encoding::BinaryBigEndian,
        Some(EncodingChoice::Ascii) => Encoding::Ascii,
        // Hardly any other program reads binary OFF.
        None if format == Format::Off => Encoding::Ascii,
        None if to_stdout && is_text_ending => Encoding::Ascii,
        None => Encoding::Binary,
    };
    Ok((format, encoding))
}

fn store(
    model: &Model,
    (format, encoding): (Format, Encoding),
    options: &ConvertOptions,
    quiet: bool,
) -> Result<Vec<String>, Failure> {
    let gmsh = match options.gmsh {
        GmshChoice::V2 => GmshVersion::V2,
        GmshChoice::V4 => GmshVersion::V4,
    };
    let choices = WriteOptions { encoding, gmsh };
    let path = &options.output;
    let label = format!("writing {}", path.display());
    if path != Path::new("-") {
        return Ok(writing(quiet, &label, || write(path, model, &choices, &PROGRESS))?);
    }
    let mut out = std::io::stdout().lock();
    match encode(&mut out, model, format, &choices, &PROGRESS) {
        Ok(notes) => Ok(notes),
        Err(defcol_io::WriteProblem::Io(error)) => Err(error.into()),
        Err(problem) => Err(WriteError { file: path.clone(), problem }.into()),
    }
}

fn repair(options: &ConvertOptions) -> Repair {
    let wants =
        |step| options.repair.iter().any(|given| *given == step || *given == RepairStep::All);
    Repair {
        weld: wants(RepairStep::Weld).then(|| options.weld_tolerance.unwrap_or(0.0)),
        drop_degenerate: wants(RepairStep::Degenerate),
        orient: wants(RepairStep::Orientation),
        flip_inverted: wants(RepairStep::Inverted),
    }
}
