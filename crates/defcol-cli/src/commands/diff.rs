//! `defcol diff`: where two recordings part.

use defcol_recording::{Difference, difference};
use serde::Serialize;

use super::recordings::open;
use crate::arguments::{Common, DiffOptions, OutputFormat};
use crate::failure::Failure;
use crate::print;
use crate::progress::{PROGRESS, writing_steps};

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    equal: bool,
    frames: [u64; 2],
    /// Why each of both is not whole, if it is not.
    lost: [Option<String>; 2],
    first: Option<Difference>,
}

pub fn run(options: &DiffOptions, common: &Common) -> Result<(), Failure> {
    let mut a = open(&options.a, common)?;
    let mut b = open(&options.b, common)?;
    let frames = [a.last_frame(), b.last_frame()];
    let lost = [a.loss(), b.loss()].map(|loss| loss.map(|loss| loss.what.clone()));
    let steps = a.frame_count().max(b.frame_count()) as u32;
    let first = writing_steps(common.quiet, steps, "comparing", |bar| {
        difference(&mut a, &mut b, |_| {
            bar.inc(1);
            !PROGRESS.is_cancelled()
        })
    })?;
    let report = Report { schema: "defcol.diff/1", equal: first.is_none(), frames, lost, first };
    if common.format == OutputFormat::Json {
        return Ok(print::json(&report)?);
    }
    let Some(first) = &report.first else {
        return Ok(print::text(format!("the same in all frames up to {}", frames[0]))?);
    };
    if let Some(side) = first.only_in {
        let file = if side == "a" { &options.a } else { &options.b };
        print::text(format!("the same, but frame {} is only in {}", first.frame, file.display()))?;
        return Ok(());
    }
    print::text(format!("different from frame {} on", first.frame))?;
    if first.bodies {
        return Ok(print::text("the bodies are others")?);
    }
    match (first.vertex, first.farthest) {
        (Some(vertex), Some(farthest)) => {
            print::text(format!(
                "{} vertices are elsewhere, first vertex {} of body {} by {}; the farthest is vertex {} of body {} by {}",
                first.vertices,
                vertex.vertex,
                vertex.body,
                print::short(vertex.by),
                farthest.vertex,
                farthest.body,
                print::short(farthest.by),
            ))?;
        }
        _ if first.state => {
            print::text("all vertices are at the same places, but they move differently")?
        }
        _ => print::text("all vertices are at the same places")?,
    }
    match &first.contact {
        Some(contact) => print::text(format!(
            "contact {} differs: {} by {}",
            contact.index,
            contact.what,
            print::short(contact.by)
        ))?,
        None => print::text("the contacts are the same")?,
    }
    Ok(())
}
