//! Repeats the simulation of a recording and compares every state.

use std::io::{Read, Seek};

use defcol::error::WorldError;
use defcol_recording::{Recording, Storage};
use serde::Serialize;

use crate::{QueryError, Simulation};

/// The first frame that differs when it is simulated again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Divergence {
    /// Number of the frame.
    pub frame: u64,
    /// The first vertex that differs: body, vertex and distance. `None` if only velocities or other
    /// state differ, or if positions are quantized and therefore not compared.
    pub vertex: Option<(u32, usize, f64)>,
}

/// Builds the scene of a recording again, applies the recorded inputs and compares the hash of each state. Returns the first
/// difference, or `None` if there is none. `on_frame` receives the number of each recorded frame before it is simulated and
/// returns whether to continue.
///
/// # Errors
/// If the scene is unknown, a frame cannot be read or the simulation fails.
pub fn verify<T: Read + Seek>(
    recording: &mut Recording<T>,
    mut on_frame: impl FnMut(u64) -> bool,
) -> Result<Option<Divergence>, QueryError> {
    let facts = recording.facts().clone();
    let scene = facts.scene.ok_or_else(|| {
        QueryError::Input("the recording does not say how to build its world again".into())
    })?;
    let mut simulation = Simulation::build(&scene.name, scene.seed, facts.precision)
        .map_err(|error| QueryError::Input(error.to_string()))?;
    simulation.set_parameters(facts.parameters)?;
    let frames: Vec<u64> = recording.frames().collect();
    for &number in &frames {
        if !on_frame(number) {
            return Err(QueryError::Cancelled);
        }
        let frame = recording.frame(number)?;
        for input in &frame.inputs {
            simulation.apply(input)?;
        }
        while simulation.frame() < number {
            if let Err(error) = simulation.step() {
                return Err(QueryError::Computation(format!("before frame {number}: {error}")));
            }
        }
        let positions = simulation.positions();
        let vertex = positions
            .iter()
            .zip(&frame.positions)
            .position(|(now, then)| facts.positions == Storage::Exact && now != then);
        if simulation.hash() != frame.state_hash || vertex.is_some() {
            let vertex = vertex.map(|vertex| {
                let body = &frame.bodies.bodies[frame.bodies.body_of(vertex)];
                let distance = (positions[vertex] - frame.positions[vertex]).norm();
                (body.id, vertex - body.vertices.start, distance)
            });
            return Ok(Some(Divergence { frame: number, vertex }));
        }
    }
    // A run that failed must fail again in the same way.
    let Some(stop) = recording.stop().filter(|stop| stop.why.starts_with("failed")) else {
        return Ok(None);
    };
    let again = stop.inputs.iter().try_for_each(|input| simulation.apply(input));
    let again = again.and_then(|()| simulation.step());
    let fails = again.is_err_and(|error| is_the_same(&stop.why, &error));
    Ok((!fails).then_some(Divergence { frame: stop.frame + 1, vertex: None }))
}

/// Whether an error is the one that a recording ended with. Messages are worded differently in different versions: of a step
/// that diverged the vertex counts.
fn is_the_same(why: &str, error: &WorldError) -> bool {
    match error {
        WorldError::Diverged { body, vertex, .. } => {
            why.starts_with(&format!("failed: vertex {vertex} of body {body} "))
        }
        other => why.ends_with(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use defcol::error::{Divergence, WorldError};
    use defcol::stats::Stage;

    use super::is_the_same;

    #[test]
    fn failures_are_compared_by_vertex_whatever_the_wording() {
        let error = |vertex| WorldError::Diverged {
            body: 2,
            vertex,
            stage: Stage::Integrate,
            what: Divergence::Position,
        };
        let earlier = "failed: vertex 17 of body 2 got a position that is not finite in the stage \
                       `integrate`; the world is as it was before the step";
        assert!(is_the_same(earlier, &error(17)));
        assert!(is_the_same(&format!("failed: {}", error(17)), &error(17)));
        assert!(!is_the_same(earlier, &error(1)) && !is_the_same(earlier, &error(170)));
        let other = WorldError::Parameter { name: "frame", value: 0.0, allowed: "positive" };
        assert!(is_the_same(&format!("failed: {other}"), &other) && !is_the_same(earlier, &other));
    }
}
