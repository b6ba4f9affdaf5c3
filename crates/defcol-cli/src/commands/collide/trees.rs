//! Triangles that meet, found with trees that follow morph targets and joints.

use std::time::Instant;

use defcol::detect::SelfPairs;
use defcol::detect::bvh::{Collider, PairFinder, Split};
use defcol_io::Model;

use super::Pair;
use crate::arguments::{CollideOptions, Common};
use crate::failure::Failure;
use crate::progress::with_spinner;

/// The pairs of bodies whose triangles meet, and how long it took to build the trees and to find them.
pub fn run(
    models: &[Model],
    options: &CollideOptions,
    common: &Common,
) -> Result<(Vec<Pair>, f64), Failure> {
    let targets = models.iter().filter(|model| !model.morph_targets.is_empty()).count();
    if options.weights.len() > targets {
        return Err(Failure::usage(format!(
            "--weights is given {} times, but {targets} of the meshes have morph targets",
            options.weights.len()
        )));
    }
    let names: Vec<String> = options.meshes.iter().map(|path| path.display().to_string()).collect();
    let start = Instant::now();
    let pairs = with_spinner(common.quiet, "looking for collisions", |_| {
        let mut weights = options.weights.iter();
        let mut bodies = Vec::new();
        for (model, name) in models.iter().zip(&names) {
            let problem =
                |error: &dyn std::fmt::Display| Failure::Input(format!("{name}: {error}"));
            let own = if model.morph_targets.is_empty() { None } else { weights.next() };
            let skeleton = model.skeleton.as_ref().filter(|_| options.posed);
            // Only what is asked for is followed: otherwise the mesh is as the file has it, to the last bit.
            let followed = Model {
                mesh: model.mesh.clone(),
                morph_targets: if own.is_some() { model.morph_targets.clone() } else { vec![] },
                skeleton: skeleton.cloned(),
                ..Model::default()
            };
            let mut body: Collider<f64> =
                followed.collider(Split::default()).map_err(|error| problem(&error))?;
            if let Some(own) = own {
                let all = model.reference_weights(&own.0).map_err(|error| problem(&error))?;
                body.set_weights(&all).map_err(|error| problem(&error))?;
            }
            if let Some(skeleton) = skeleton {
                let joints = skeleton.transforms().map_err(|error| problem(&error))?;
                body.set_joints(&joints).map_err(|error| problem(&error))?;
            }
            bodies.push(body);
        }
        Ok::<_, Failure>(meeting(&mut bodies, &names, options.with_itself))
    })?;
    Ok((pairs, start.elapsed().as_secs_f64()))
}

/// All pairs of bodies that meet, in the order of the bodies.
fn meeting(bodies: &mut [Collider<f64>], names: &[String], with_itself: bool) -> Vec<Pair> {
    let (mut finder, mut found, mut own) =
        (PairFinder::default(), Vec::new(), SelfPairs::default());
    let pair = |[a, b]: [usize; 2], primitives: usize, sharing: Option<usize>| Pair {
        a: names[a].clone(),
        b: names[b].clone(),
        itself: a == b,
        primitives: Some(primitives),
        sharing,
        points_inside: None,
        volume: None,
        max_depth: None,
    };
    let mut pairs = Vec::new();
    for a in 0..bodies.len() {
        let (before, rest) = bodies.split_at_mut(a + 1);
        let first = &mut before[a];
        if with_itself {
            finder.within(first, &mut own);
            if !own.apart.is_empty() || !own.sharing.is_empty() {
                pairs.push(pair([a, a], own.apart.len(), Some(own.sharing.len())));
            }
        }
        for (b, second) in (a + 1..).zip(rest) {
            finder.all(first, second, &mut found);
            if !found.is_empty() {
                pairs.push(pair([a, b], found.len(), None));
            }
        }
    }
    pairs
}
