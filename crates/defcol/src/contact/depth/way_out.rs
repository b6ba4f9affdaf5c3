//! A way out for what is enclosed.

use super::consistent::{ConsistentDepth, Enclosed};
use super::surfaces::{Scratch, Surfaces, unit};
use crate::contact::{Anchor, CollidingPoint, Contact, Contacts, Source};
use crate::detect::bvh::NearestSearch;
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
    scratch: Scratch<R>,
}

impl<R: Real> WayOut<R> {
    /// Fills in a contact for each point that the last call of `consistent` has left without one; `contacts` is
    /// overwritten. The bodies and positions must be those of that call. A vertex in its own body is refused, as by
    /// [`NearestDepth`](super::NearestDepth).
    pub fn find(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        consistent: &ConsistentDepth<R>,
        contacts: &mut Contacts<R>,
    ) -> Result<(), DetectError> {
        contacts.clear();
        let enclosed = consistent.enclosed();
        if let Some(own) = enclosed.iter().find(|group| group.bodies[0] == group.bodies[1]) {
            let vertex = consistent.enclosed_points()[own.points.start].vertex;
            return Err(DetectError::OwnSurface { body: own.bodies[1] as usize, vertex });
        }
        self.surfaces.update(bodies, positions, enclosed.iter().map(|group| group.bodies[1]));
        let mut found = Contacts::default();
        for group in enclosed {
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
        let normal = || unit(surface.area_normal(shallowest.triangle));
        let Some(direction) = unit(shallowest.point - place).or_else(normal) else { return };
        let body = &bodies.list()[group.bodies[1] as usize];
        let around = Bounds::of(positions[body.vertices.clone()].iter().copied());
        let beyond = direction * (around.extent().norm() * R::nearest(1.5));
        for ((point, &place), nearest) in points.iter().zip(&places).zip(&nearest) {
            let ray = [place, place + beyond];
            let crossing = surface.last_crossing(ray, [u32::MAX; 2], &mut self.scratch);
            let (depth, triangle, weights) = match crossing {
                Some((triangle, crossing)) => {
                    (beyond.norm() * crossing.parameter, triangle, crossing.weights)
                }
                // A surface with a hole.
                None => (nearest.distance, nearest.triangle, nearest.weights),
            };
            contacts.push(Contact {
                bodies: group.bodies,
                first: Anchor::vertex(point.vertex),
                second: point
                    .inside
                    .unwrap_or_else(|| Anchor::of(surface.triangle(triangle), weights)),
                position: place,
                direction,
                depth,
                volume: R::zero(),
                area: R::zero(),
                confidence: R::one(),
                source: Source::WayOut,
            });
        }
    }
}
