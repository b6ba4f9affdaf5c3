//! Where two recordings part.

use std::io::{Read, Seek};

use defcol::contact::{Contact, Contacts};

use crate::RecordingError;
use crate::read::{Frame, Recording};

/// A vertex, and how far it is from where it is in the other recording.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Place {
    /// The number of the id of its body.
    pub body: u32,
    /// The vertex, counted from the first of the body.
    pub vertex: usize,
    /// The distance.
    pub by: f64,
}

/// What is different in the first frame that is.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Difference {
    /// The frame.
    pub frame: u64,
    /// Whether one of both has no such frame.
    pub only_in: Option<&'static str>,
    /// Whether the bodies are others; nothing more is compared then.
    pub bodies: bool,
    /// Whether the hashes of states differ: of what is in no file, like velocities, if positions do not.
    pub state: bool,
    /// The first vertex that is elsewhere.
    pub vertex: Option<Place>,
    /// The vertex that is farthest away.
    pub farthest: Option<Place>,
    /// How many vertices are elsewhere.
    pub vertices: usize,
    /// The first contact that is another one.
    pub contact: Option<ContactDifference>,
}

/// Two contacts that are not the same.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ContactDifference {
    /// Its place in the list of the frame.
    pub index: usize,
    /// What differs: `count`, `kept`, `bodies`, `vertices`, `weights`, `position`, `direction`, `depth`, `volume`, `area`,
    /// `confidence` or `method`.
    pub what: &'static str,
    /// By how much.
    pub by: f64,
}

/// Compares frame by frame; none if every frame has the same positions, states and contacts. `seen` is told each frame, and
/// says whether to go on.
pub fn difference<A: Read + Seek, B: Read + Seek>(
    a: &mut Recording<A>,
    b: &mut Recording<B>,
    mut seen: impl FnMut(u64) -> bool,
) -> Result<Option<Difference>, RecordingError> {
    let frames: [Vec<u64>; 2] = [a.frames().collect(), b.frames().collect()];
    for place in 0..frames[0].len().max(frames[1].len()) {
        let both = [0, 1].map(|side: usize| frames[side].get(place).copied());
        let (frame, only_in) = match both {
            [Some(own), Some(other)] if own == other => (own, None),
            [Some(own), Some(other)] => (own.min(other), Some(if own < other { "a" } else { "b" })),
            [Some(own), None] => (own, Some("a")),
            [None, other] => (other.unwrap_or(0), Some("b")),
        };
        if !seen(frame) {
            return Err(RecordingError::Cancelled);
        }
        if only_in.is_some() {
            return Ok(Some(Difference { only_in, ..Difference::none(frame) }));
        }
        if let Some(found) = compare(a.frame(frame)?, b.frame(frame)?) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

impl Difference {
    fn none(frame: u64) -> Self {
        Self {
            frame,
            only_in: None,
            bodies: false,
            state: false,
            vertex: None,
            farthest: None,
            vertices: 0,
            contact: None,
        }
    }
}

fn compare(a: &Frame, b: &Frame) -> Option<Difference> {
    let mut found = Difference::none(a.number);
    found.bodies = a.bodies != b.bodies;
    found.state = a.state_hash != b.state_hash;
    if !found.bodies {
        for (vertex, (own, other)) in a.positions.iter().zip(&b.positions).enumerate() {
            if own.iter().zip(other).all(|(x, y)| x.to_bits() == y.to_bits()) {
                continue;
            }
            let body = &a.bodies.bodies[a.bodies.body_of(vertex)];
            let by = (own - other).norm();
            let place = Place { body: body.id, vertex: vertex - body.vertices.start, by };
            found.vertices += 1;
            found.vertex.get_or_insert(place);
            if found.farthest.is_none_or(|farthest| farthest.by < by) {
                found.farthest = Some(place);
            }
        }
        found.contact = of_contacts(a.contacts.as_ref(), b.contacts.as_ref());
    }
    let same = Difference::none(a.number);
    (found != same).then_some(found)
}

fn of_contacts(a: Option<&Contacts<f64>>, b: Option<&Contacts<f64>>) -> Option<ContactDifference> {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (None, None) => return None,
        _ => return Some(ContactDifference { index: 0, what: "kept", by: 1.0 }),
    };
    for (index, (own, other)) in a.iter().zip(b.iter()).enumerate() {
        if let Some((what, by)) = of_contact(&own, &other) {
            return Some(ContactDifference { index, what, by });
        }
    }
    let (shorter, by) = (a.len().min(b.len()), a.len().abs_diff(b.len()) as f64);
    (by > 0.0).then_some(ContactDifference { index: shorter, what: "count", by })
}

fn of_contact(a: &Contact<f64>, b: &Contact<f64>) -> Option<(&'static str, f64)> {
    let weights = |c: &Contact<f64>| [c.first.weights, c.second.weights].concat();
    let lists = [
        ("weights", weights(a), weights(b)),
        ("position", a.position.as_slice().to_vec(), b.position.as_slice().to_vec()),
        ("direction", a.direction.as_slice().to_vec(), b.direction.as_slice().to_vec()),
        ("depth", vec![a.depth], vec![b.depth]),
        ("volume", vec![a.volume], vec![b.volume]),
        ("area", vec![a.area], vec![b.area]),
        ("confidence", vec![a.confidence], vec![b.confidence]),
    ];
    if a.bodies != b.bodies {
        return Some(("bodies", 1.0));
    }
    if [a.first.vertices, a.second.vertices] != [b.first.vertices, b.second.vertices] {
        return Some(("vertices", 1.0));
    }
    if a.source != b.source {
        return Some(("method", 1.0));
    }
    lists.into_iter().find_map(|(what, own, other)| {
        let differ = own.iter().zip(&other).any(|(x, y)| x.to_bits() != y.to_bits());
        let by = own.iter().zip(&other).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
        differ.then_some((what, by))
    })
}
