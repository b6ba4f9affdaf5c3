//! Contacts, property by property. The schema document `contacts.txt` says how.

use defcol::contact::{Anchor, Contact, Contacts, Source};
use defcol::math::{Real, Vector3};

use crate::container::Fields;
use crate::facts::Precision;

/// Methods in the order of their codes, with their names.
pub const SOURCES: [(Source, &str); 8] = [
    (Source::Border, "border"),
    (Source::Propagated, "propagated"),
    (Source::Nearest, "nearest"),
    (Source::WayOut, "way_out"),
    (Source::Edges, "edges"),
    (Source::Through, "through"),
    (Source::Volume, "volume"),
    (Source::Proximity, "near"),
];

/// Appends contacts.
pub fn encode<R: Real>(contacts: &Contacts<R>, precision: Precision, out: &mut Vec<u8>) {
    let count = contacts.len();
    out.extend_from_slice(&[precision.width() as u8, 0, 0, 0]);
    out.extend_from_slice(&(count as u32).to_le_bytes());
    let code = |source: &Source| SOURCES.iter().position(|(own, _)| own == source).unwrap_or(0);
    out.extend(contacts.source().iter().map(|source| code(source) as u8));
    for anchors in [contacts.first(), contacts.second()] {
        out.extend(anchors.iter().map(|anchor| corners(anchor) as u8));
    }
    for side in 0..2 {
        contacts.bodies().iter().for_each(|pair| out.extend_from_slice(&pair[side].to_le_bytes()));
    }
    for anchors in [contacts.first(), contacts.second()] {
        for anchor in anchors {
            let own = &anchor.vertices[..corners(anchor)];
            own.iter().for_each(|vertex| out.extend_from_slice(&vertex.to_le_bytes()));
        }
    }
    let mut put = |value: R| match precision {
        Precision::F32 => out.extend_from_slice(&(value.to_f64() as f32).to_le_bytes()),
        Precision::F64 => out.extend_from_slice(&value.to_f64().to_le_bytes()),
    };
    for anchors in [contacts.first(), contacts.second()] {
        for anchor in anchors {
            anchor.weights[..corners(anchor)].iter().for_each(|weight| put(*weight));
        }
    }
    for vectors in [contacts.position(), contacts.direction()] {
        for axis in 0..3 {
            vectors.iter().for_each(|vector| put(vector[axis]));
        }
    }
    for numbers in [contacts.depth(), contacts.volume(), contacts.area(), contacts.confidence()] {
        numbers.iter().for_each(|number| put(*number));
    }
}

/// How many corners an anchor needs: the others are its first vertex again, without weight.
fn corners<R: Real>(anchor: &Anchor<R>) -> usize {
    let empty = |k: &usize| {
        anchor.weights[*k].to_f64().to_bits() == 0 && anchor.vertices[*k] == anchor.vertices[0]
    };
    4 - (1..4).rev().take_while(empty).count()
}

/// Reads contacts between so many bodies with so many vertices.
pub fn decode(bytes: &[u8], bodies: usize, vertices: usize) -> Option<Contacts<f64>> {
    let mut fields = Fields::new(bytes);
    let precision = match fields.u8()? {
        4 => Precision::F32,
        8 => Precision::F64,
        _ => return None,
    };
    fields.bytes(3)?;
    let count = fields.u32()?;
    let sources = fields.bytes(u64::from(count))?;
    let [first, second] = [fields.bytes(u64::from(count))?, fields.bytes(u64::from(count))?];
    if first.iter().chain(second).any(|corners| !(1..=4).contains(corners)) {
        return None;
    }
    let all = |list: &[u8]| list.iter().map(|&corners| u64::from(corners)).sum::<u64>();
    let mut pairs = [fields, fields];
    pairs[0] = Fields::new(fields.bytes(4 * u64::from(count))?);
    pairs[1] = Fields::new(fields.bytes(4 * u64::from(count))?);
    let [mut first_vertices, mut second_vertices] =
        [Fields::new(fields.bytes(4 * all(first))?), Fields::new(fields.bytes(4 * all(second))?)];
    let width = precision.width() as u64;
    let [mut first_weights, mut second_weights] = [
        Fields::new(fields.bytes(width * all(first))?),
        Fields::new(fields.bytes(width * all(second))?),
    ];
    let mut columns = [fields; 10];
    for column in &mut columns {
        *column = Fields::new(fields.bytes(width * u64::from(count))?);
    }
    if !fields.is_empty() {
        return None;
    }
    let float = |fields: &mut Fields| match precision {
        Precision::F32 => fields.u32().map(|bits| f64::from(f32::from_bits(bits))),
        Precision::F64 => fields.f64(),
    };
    let anchor = |corners: u8, numbers: &mut Fields, weights: &mut Fields| {
        let mut anchor: Option<Anchor<f64>> = None;
        for corner in 0..usize::from(corners) {
            let vertex = numbers.u32().filter(|vertex| (*vertex as usize) < vertices)?;
            let weight = float(weights)?;
            let own = anchor.get_or_insert_with(|| Anchor::of([vertex], [weight]));
            (own.vertices[corner], own.weights[corner]) = (vertex, weight);
        }
        anchor
    };
    let mut contacts = Contacts::default();
    for index in 0..count as usize {
        let body = |fields: &mut Fields| fields.u32().filter(|body| (*body as usize) < bodies);
        let [a, b] = &mut pairs;
        let bodies = [body(a)?, body(b)?];
        let mut next = |column: usize| float(&mut columns[column]);
        contacts.push(Contact {
            bodies,
            first: anchor(first[index], &mut first_vertices, &mut first_weights)?,
            second: anchor(second[index], &mut second_vertices, &mut second_weights)?,
            position: Vector3::new(next(0)?, next(1)?, next(2)?),
            direction: Vector3::new(next(3)?, next(4)?, next(5)?),
            depth: next(6)?,
            volume: next(7)?,
            area: next(8)?,
            confidence: next(9)?,
            source: SOURCES.get(usize::from(sources[index]))?.0,
        });
    }
    Some(contacts)
}
