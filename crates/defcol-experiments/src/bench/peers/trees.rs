//! The tasks that are about triangles that meet.

use std::path::Path;

use defcol::detect::SelfPairs;
use defcol::detect::bvh::{Collider, Group, PairFinder, Placement, Split, Update};
use defcol::math::{Matrix3, Vector3};
use defcol::mesh::TriangleMesh;
use defcol_io::{Progress, read};
use serde_json::json;

use super::{Repeat, of_pair};
use defcol_query::QueryError;

/// What is asked for.
#[derive(Clone, Copy, PartialEq)]
pub enum Found {
    All,
    First,
}

/// The frames of the school of dolphins that count.
const FRAMES: [usize; 4] = [0, 5, 10, 15];
const DOLPHINS: usize = 12;

fn mesh(folder: &Path, name: &str) -> Result<TriangleMesh<f32>, QueryError> {
    let raw = read(&folder.join(format!("{name}.obj")), &Progress::new())?.mesh.cast::<f32>();
    TriangleMesh::new(raw).map_err(|error| QueryError::Input(error.to_string()))
}

/// T3: all pairs of triangles of two meshes. Trees were built for the meshes at rest.
pub fn between(folder: &Path, case: &str, repeat: &Repeat) -> Result<(), QueryError> {
    let load = |which: &str| mesh(folder, &of_pair(folder, case, which)?);
    let (first, second) = (load("a")?, load("b")?);
    let mut a: Collider<f32> = Collider::deforming(&load("a_rest")?, Split::SurfaceArea);
    let mut b: Collider<f32> = Collider::deforming(&load("b_rest")?, Split::SurfaceArea);
    let (mut finder, mut pairs) = (PairFinder::default(), Vec::new());
    repeat.measure_parts(1, |phases| {
        a.set_positions(first.positions(), Update::Hybrid)?;
        b.set_positions(second.positions(), Update::Hybrid)?;
        phases.end("refit");
        finder.all(&mut a, &mut b, &mut pairs);
        phases.end("query");
        Ok(json!(pairs.len()))
    })
}

/// T4: all pairs of triangles of one mesh. The tree was built for the mesh at rest.
pub fn within(folder: &Path, case: &str, repeat: &Repeat) -> Result<(), QueryError> {
    let rest = mesh(folder, case.split('_').next().unwrap_or(case))?;
    let now = mesh(folder, case)?;
    let mut body: Collider<f32> = Collider::deforming(&rest, Split::SurfaceArea);
    let (mut finder, mut pairs) = (PairFinder::default(), SelfPairs::default());
    repeat.measure_parts(1, |phases| {
        body.set_positions(now.positions(), Update::Full)?;
        phases.end("refit");
        finder.self_pairs(&mut body, &mut pairs);
        phases.end("query");
        Ok(json!(pairs.apart.len() + pairs.sharing.len()))
    })
}

/// One dolphin in one frame.
struct Pose {
    weights: [f32; 3],
    placement: Placement<f32>,
}

/// T6: twelve dolphins that morph and roll.
pub fn dolphins(
    folder: &Path,
    case: &str,
    found: Found,
    repeat: &Repeat,
) -> Result<(), QueryError> {
    let references = ["ref0", "ref1", "ref2"]
        .map(|reference| mesh(folder, &format!("{case}_{reference}")))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let positions: Vec<_> = references.iter().map(|mesh| mesh.positions().to_vec()).collect();
    let dolphin: Collider<f32> =
        Collider::morphing(&references[0], &positions, 0, Split::SurfaceArea)
            .map_err(QueryError::computation)?;
    let mut school = Group::new(vec![dolphin; DOLPHINS]);
    let poses = poses(&folder.join("dolphin_school.txt"))?;
    repeat.measure_parts(FRAMES.len(), |phases| {
        let mut count = 0;
        for frame in FRAMES {
            for (dolphin, pose) in school.bodies().zip(&poses[frame * DOLPHINS..]) {
                dolphin.set_weights(&pose.weights)?;
                dolphin.set_placement(pose.placement)?;
            }
            count += match found {
                Found::All => school.all().map(|(_, pairs)| pairs.len()).sum::<usize>(),
                Found::First => school.first().count(),
            };
        }
        phases.end("morph+query");
        Ok(json!(count))
    })
}

/// All dolphins of all frames.
fn poses(file: &Path) -> Result<Vec<Pose>, QueryError> {
    let text = std::fs::read_to_string(file)?;
    let pose = |line: &str| {
        let numbers: Vec<f32> =
            line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let &[_, _, w0, w1, w2, ref m @ ..] = numbers.as_slice() else { return None };
        let m: [f32; 12] = m.try_into().ok()?;
        let rotation = Matrix3::from_fn(|row, column| m[4 * row + column]);
        let translation = Vector3::from_fn(|row, _| m[4 * row + 3]);
        Some(Pose { weights: [w0, w1, w2], placement: Placement::new(rotation, translation).ok()? })
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            pose(line).ok_or_else(|| QueryError::Input(format!("dolphin_school.txt: {line}")))
        })
        .collect()
}
