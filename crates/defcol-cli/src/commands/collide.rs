//! `defcol collide`: which bodies collide, and how many of their primitives.

use defcol_query::{CollideMethod, CollideOptions as Query, CollideReport, NamedMesh};

use super::{check_ending, load_named, write_overlap};
use crate::arguments::{CollideOptions, Common, OutputFormat};
use crate::failure::Failure;
use crate::print;
use crate::progress::with_query;

pub fn run(options: &CollideOptions, common: &Common) -> Result<i32, Failure> {
    let query = Query {
        method: options.method.into(),
        self_collision: options.with_itself,
        resolution: options.resolution,
        weights: options.weights.iter().map(|weights| weights.0.clone()).collect(),
        posed: options.posed,
    };
    if options.meshes.len() == 1 && !options.with_itself {
        return Err(Failure::usage(
            "one mesh collides with nothing: give another, or --self for collisions with itself",
        ));
    }
    if options.meshes.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Failure::usage("standard input can be read once; save it to a file first"));
    }
    if let Some(path) = &options.out {
        if query.method != CollideMethod::Ldi {
            return Err(Failure::usage("only --method ldi finds volumes that --out could write"));
        }
        check_ending(path, &["ply"])?;
    }
    let follows = !query.weights.is_empty() || query.posed;
    if query.method != CollideMethod::Bvh && follows {
        return Err(Failure::usage("only --method bvh follows morph targets and joints"));
    }
    let load = |path| load_named(path, options.from.as_deref(), common.quiet);
    let meshes: Vec<NamedMesh> =
        options.meshes.iter().map(|path| load(path)).collect::<Result<_, _>>()?;
    if follows {
        check_rigs(&meshes, query.weights.len())?;
    }
    let found = with_query(common.quiet, "looking for collisions", |on_step| {
        defcol_query::collide(&meshes, &query, on_step)
    })?;
    if let Some(path) = &options.out {
        write_overlap(path, &found.overlap_mesh, common)?;
    }
    show(&found.report, common)?;
    Ok(i32::from(found.report.colliding))
}

/// Checks that weights and poses apply to these meshes.
fn check_rigs(meshes: &[NamedMesh], weights: usize) -> Result<(), Failure> {
    if meshes.iter().any(|mesh| !mesh.model.mesh.tetrahedra.is_empty()) {
        let text = "--weights and --posed are for surfaces; one of the meshes has tetrahedra";
        return Err(Failure::usage(text));
    }
    let targets = meshes.iter().filter(|mesh| !mesh.model.morph_targets.is_empty()).count();
    if weights > targets {
        return Err(Failure::usage(format!(
            "--weights is given {weights} times, but {targets} of the meshes have morph targets"
        )));
    }
    Ok(())
}

fn show(report: &CollideReport, common: &Common) -> Result<(), Failure> {
    if common.format == OutputFormat::Json {
        return Ok(print::json(report)?);
    }
    if report.pairs.is_empty() {
        return Ok(print::text("no collisions")?);
    }
    let mut table = print::table(&[
        "body",
        "with",
        "primitive pairs",
        "points inside",
        "common volume",
        "deepest",
    ]);
    let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    for pair in &report.pairs {
        let other = if pair.self_collision { "itself" } else { &pair.b };
        table.add_row([
            pair.a.clone(),
            other.to_owned(),
            text(pair.primitives.map(|count| match pair.sharing {
                Some(sharing) if sharing > 0 => format!("{count} + {sharing} that share a vertex"),
                _ => count.to_string(),
            })),
            text(pair.points_inside.map(|count| count.to_string())),
            text(pair.volume.map(print::short)),
            text(pair.max_depth.map(print::short)),
        ]);
    }
    print::text(table)?;
    if !common.quiet {
        print::note(format!("found in {} ms", print::short(1e3 * report.seconds)));
    }
    Ok(())
}
