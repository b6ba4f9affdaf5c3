//! A way out for what is enclosed.

use super::consistent::{ConsistentDepth, Enclosed};
use super::surfaces::Surfaces;
use crate::contact::{Anchor, CollidingPoint, Contact, Contacts, Source};
use crate::detect::bvh::{NearestSearch, Visit};
use crate::detect::check_positions;
use crate::error::DetectError;
use crate::math::{Bounds, Real, Vector3};
use crate::state::Bodies;

/// Finds a way out for points whose consistent depth is not known because all around them is inside.
///
/// Nothing tells from where they came. So all points of one body in another leave together, the way that the one of
/// them that is nearest to the surface would take: each has the depth at which it has left along this direction for the
/// last time. Moving the body by the largest of these depths frees it.
#[derive(Debug, Default)]
pub struct WayOut<R: Real> {
    surfaces: Surfaces<R>,
    search: NearestSearch<R>,
    visit: Visit<R>,
}

impl<R: Real> WayOut<R> {
    /// Fills in a contact for each point that the last call of `consistent` has left without one; `contacts` is
    /// overwritten. The bodies and positions must be those of that call. For points in their own body there is no way
    /// out: they are left out.
    pub fn find(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        consistent: &ConsistentDepth<R>,
        contacts: &mut Contacts<R>,
    ) -> Result<(), DetectError> {
        contacts.clear();
        check_positions(bodies, positions)?;
        let others =
            || consistent.enclosed().iter().filter(|group| group.bodies[0] != group.bodies[1]);
        self.surfaces.update(bodies, positions, others().map(|group| group.bodies[1]));
        let mut found = Contacts::default();
        for group in others() {
            let points = &consistent.enclosed_points()[group.points.clone()];
            self.leave(bodies, positions, group, points, &mut found);
        }
        contacts.merge(&found);
        Ok(())
    }

    fn leave(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        group: &Enclosed,
        points: &[CollidingPoint<R>],
        contacts: &mut Contacts<R>,
    ) {
        let Some(surface) = self.surfaces.of(bodies, positions, group.bodies[1]) else { return };
        let places: Vec<_> = points.iter().map(|p| positions[p.vertex as usize]).collect();
        let mut nearest = Vec::new();
        surface.nearest_of_all(&places, &mut self.search, &mut nearest);
        let pairs = places.iter().zip(&nearest);
        let Some((place, shallowest)) =
            pairs.reduce(|best, own| if own.1.distance < best.1.distance { own } else { best })
        else {
            return;
        };
        let Some(direction) = surface.way_to(*place, shallowest) else { return };
        let body = &bodies.list()[group.bodies[1] as usize];
        let own = &positions[body.vertices.clone()];
        let diagonal = Bounds::of(own.iter().copied()).extent().map(R::to_f64);
        let length = 1.5 * diagonal.norm();
        let along = |p: &Vector3<R>| p.map(R::to_f64).dot(&direction);
        let end = own.iter().map(along).fold(f64::NEG_INFINITY, f64::max);
        let ray = (direction * length).map(R::nearest);
        for ((point, &place), nearest) in points.iter().zip(&places).zip(&nearest) {
            let here = Anchor::of(surface.triangle(nearest.triangle), nearest.weights);
            let (depth, anchor) = match surface.last_on_ray(place, ray, &mut self.visit) {
                Some((parameter, anchor)) if parameter > 1e-9 => (length * parameter, anchor),
                // Along a side, or through a hole: where all of the body ends.
                _ => ((end - along(&place)).max(0.0), here),
            };
            contacts.push(Contact {
                bodies: group.bodies,
                first: Anchor::vertex(point.vertex),
                second: point.inside.unwrap_or(anchor),
                position: place,
                direction: direction.map(R::nearest),
                depth: R::nearest(depth),
                volume: R::zero(),
                area: R::zero(),
                confidence: R::one(),
                source: Source::WayOut,
            });
        }
    }
}
