//! Contact records of proximity pairs.

use super::{Anchor, Contact, Contacts, Source};
use crate::detect::proximity::ProximityPairs;
use crate::math::{Real, Vector3};
use crate::state::Bodies;

impl<R: Real> Contacts<R> {
    /// Adds a contact for each proximity pair that is closer than the contact thickness; its depth is the thickness minus
    /// the gap. Keeps the order documented at [`Contacts`].
    pub fn add_proximity_pairs(
        &mut self,
        pairs: &ProximityPairs<R>,
        bodies: &Bodies,
        positions: &[Vector3<R>],
    ) {
        self.append_proximity_pairs(pairs, bodies, positions);
        self.sort();
    }

    /// The same behind all others.
    pub(crate) fn append_proximity_pairs(
        &mut self,
        pairs: &ProximityPairs<R>,
        bodies: &Bodies,
        positions: &[Vector3<R>],
    ) {
        for stencil in pairs.stencils() {
            let depth = pairs.thickness() - stencil.gap_at(|vertex| positions[vertex as usize]);
            if !(depth > R::zero()) {
                continue;
            }
            let ([a, b, c, d], [t, u, v, w]) = (stencil.vertices, stencil.weights);
            let (first, second) = if t == R::one() {
                (Anchor::vertex(a), Anchor::of([b, c, d], [-u, -v, -w]))
            } else {
                (Anchor::of([a, b], [t, u]), Anchor::of([c, d], [-v, -w]))
            };
            self.push(Contact {
                bodies: [a, d].map(|vertex| bodies.body_of(vertex) as u32),
                first,
                second,
                position: first.blend(positions),
                direction: stencil.normal,
                depth,
                volume: R::zero(),
                area: R::zero(),
                confidence: R::one(),
                source: Source::Proximity,
            });
        }
    }
}
