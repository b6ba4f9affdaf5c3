//! `defcol picture`: meshes into a PNG file.

use std::path::Path;

use defcol::detect::ldi::{Generator, Ldi, Shell, Software, Start, View};
use defcol::math::{Bounds, Vector3};
use defcol_io::{Model, WriteProblem};
use defcol_query::{LoadedSurface, OpenSurface, depth_complexity_picture, layer_models};
use defcol_render::{Camera, Picture, PictureOptions as Drawing, draw, write_png};
use defcol_scenes::models::MODELS;

use serde::Serialize;

use super::{load, load_named};
use crate::arguments::{Common, LdiPicture, OutputFormat, PictureOptions};
use crate::failure::Failure;
use crate::print;
use crate::progress::with_spinner;

/// Pictures beside each other on the sheet of all models.
const COLUMNS: usize = 6;

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    output: String,
    width: usize,
    height: usize,
}

pub fn run(options: &PictureOptions, common: &Common) -> Result<(), Failure> {
    let Some((output, meshes)) = options.files.split_last() else {
        return Err(Failure::usage("give meshes and the PNG file to write"));
    };
    if !output.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png")) {
        return Err(Failure::usage(format!("{} does not end with .png", output.display())));
    }
    if options.models != meshes.is_empty() {
        return Err(Failure::usage(
            "give meshes before the PNG file, or --models and the file alone",
        ));
    }
    let failed = |problem| match problem {
        WriteProblem::Unfit(text) => Failure::usage(text),
        problem => Failure::Input(problem.to_string()),
    };
    let picture = if options.models {
        sheet(common.quiet)?
    } else if let Some(what) = options.ldi {
        let [path] = meshes else {
            return Err(Failure::usage("--ldi draws one mesh"));
        };
        let surface = LoadedSurface::new(&load_named(path, None, common.quiet)?)?;
        layered(&surface.shell(OpenSurface::Refuse)?, what, options)?
    } else {
        let mut models = Vec::new();
        for path in meshes {
            let model = load(path, None, common.quiet)?;
            if model.mesh.triangles.is_empty() && model.mesh.tetrahedra.is_empty() {
                return Err(Failure::Input(format!("{}: no triangles to draw", path.display())));
            }
            models.push(model);
        }
        let drawing = Drawing {
            width: options.width,
            height: options.height,
            camera: camera(options, &models),
            around: None,
            ground: !options.no_ground,
            first_colour: 0,
        };
        with_spinner(common.quiet, "drawing", |_| draw(&models, &drawing)).map_err(failed)?
    };
    write_png(output, &picture)?;
    report(output, &picture, common)
}

fn report(output: &Path, picture: &Picture, common: &Common) -> Result<(), Failure> {
    let (width, height) = (picture.width, picture.height);
    if common.format == OutputFormat::Json {
        let output = output.display().to_string();
        return Ok(print::json(&Report { schema: "defcol.picture/1", output, width, height })?);
    }
    if !common.quiet {
        print::text(format!("{}: {width} × {height} pixels", output.display()))?;
    }
    Ok(())
}

fn camera(options: &PictureOptions, models: &[Model]) -> Option<Camera> {
    let eye = Vector3::from(options.eye?);
    let middle = || {
        Bounds::of(models.iter().flat_map(|model| model.mesh.positions.iter().copied())).center()
    };
    let target = options.target.map_or_else(middle, Vector3::from);
    Some(Camera { eye, target, angle: 0.5 })
}

/// The layered depth image of a body.
fn layered(
    shell: &Shell<f64>,
    what: LdiPicture,
    options: &PictureOptions,
) -> Result<Picture, Failure> {
    let axis = options.axis.map_or_else(|| shell.bounds().extent().imin(), |axis| axis as usize);
    let view = View::new(shell.bounds(), axis, options.resolution).map_err(Failure::computation)?;
    let mut ldi = Ldi::default();
    Software::default()
        .generate(&[*shell], &view, Start::Near, &mut ldi)
        .map_err(Failure::computation)?;
    match what {
        LdiPicture::Complexity => {
            Ok(depth_complexity_picture(&ldi, options.width.min(options.height)))
        }
        LdiPicture::Layers => {
            let models = layer_models(&ldi)?;
            let drawing = Drawing {
                width: options.width,
                height: options.height,
                camera: None,
                around: None,
                ground: !options.no_ground,
                first_colour: 0,
            };
            draw(&models, &drawing).map_err(Failure::computation)
        }
    }
}

/// All built-in models, as many triangles each as they have by default.
fn sheet(quiet: bool) -> Result<Picture, Failure> {
    let (width, height) = (240, 200);
    let rows = MODELS.len().div_ceil(COLUMNS);
    let size = [width * COLUMNS, height * rows];
    let mut sheet = Picture {
        width: size[0],
        height: size[1],
        pixels: vec![[245, 246, 249]; size[0] * size[1]],
    };
    let drawing = Drawing { width, height, ..Drawing::default() };
    with_spinner(quiet, "models", |spinner| {
        for (index, model) in MODELS.iter().enumerate() {
            spinner.set_message(format!(
                "drawing {} ({} of {})",
                model.name,
                index + 1,
                MODELS.len()
            ));
            let mesh = model.surface(model.triangles).map_err(Failure::computation)?;
            // Neighbours on the sheet differ in colour.
            let picture = draw(
                &[Model::from_mesh(mesh)],
                &Drawing { first_colour: index, ..drawing.clone() },
            )
            .map_err(Failure::computation)?;
            let (left, top) = (index % COLUMNS * width, index / COLUMNS * height);
            for (y, row) in picture.pixels.chunks_exact(width).enumerate() {
                let start = (top + y) * size[0] + left;
                sheet.pixels[start..start + width].copy_from_slice(row);
            }
        }
        Ok::<_, Failure>(())
    })?;
    Ok(sheet)
}
