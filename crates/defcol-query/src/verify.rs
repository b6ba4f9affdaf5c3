//! Repeats the simulation of a recording and compares every state.

use std::io::{Read, Seek};

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
    // A run that failed must fail again with the same error.
    let Some(stop) = recording.stop().filter(|stop| stop.why.starts_with("failed")) else {
        return Ok(None);
    };
    let again = stop.inputs.iter().try_for_each(|input| simulation.apply(input));
    let again = again.and_then(|()| simulation.step());
    let fails = again.is_err_and(|error| stop.why.ends_with(&error.to_string()));
    Ok((!fails).then_some(Divergence { frame: stop.frame + 1, vertex: None }))
}
