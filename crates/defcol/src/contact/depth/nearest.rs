//! The baseline: the nearest point of the surface, for each point alone (THESIS 6.2.1).

use super::surfaces::Surfaces;
use crate::contact::{Anchor, CollidingPoints, Contact, Contacts, Source};
use crate::detect::bvh::{Nearest, NearestSearch};
use crate::detect::check_positions;
use crate::error::DetectError;
use crate::math::{Real, Vector3};
use crate::state::Bodies;

/// Finds for points in bodies the nearest point of the surface of that body: exact, but neighbours may get opposite
/// directions, and the direction of a point that moves on may jump. It keeps its memory from call to call.
#[derive(Debug, Default)]
pub struct NearestDepth<R: Real> {
    surfaces: Surfaces<R>,
    search: NearestSearch<R>,
    /// The points in the order of the bodies they are in.
    order: Vec<u32>,
    places: Vec<Vector3<R>>,
    nearest: Vec<Nearest<R>>,
    found: Vec<Option<Nearest<R>>>,
}

impl<R: Real> NearestDepth<R> {
    /// Fills in a contact for each of the points; `contacts` is overwritten. A vertex in its own body is refused: the
    /// nearest point of its surface is the vertex itself.
    pub fn find(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        points: &CollidingPoints<R>,
        contacts: &mut Contacts<R>,
    ) -> Result<(), DetectError> {
        contacts.clear();
        check_positions(bodies, positions)?;
        points.check(bodies)?;
        let points = points.list();
        if let Some(own) = points.iter().find(|p| bodies.body_of(p.vertex) as u32 == p.body) {
            let (body, vertex) = (own.body as usize, own.vertex);
            return Err(DetectError::OwnSurface { body, vertex });
        }
        self.surfaces.update(bodies, positions, points.iter().map(|point| point.body));
        self.order.clear();
        self.order.extend(0..points.len() as u32);
        self.order.sort_unstable_by_key(|&number| (points[number as usize].body, number));
        self.found.clear();
        self.found.resize(points.len(), None);
        let body = |number: u32| points[number as usize].body;
        for group in self.order.chunk_by(|&a, &b| body(a) == body(b)) {
            let Some(surface) = self.surfaces.of(bodies, positions, body(group[0])) else {
                continue;
            };
            self.places.clear();
            let places = group.iter().map(|&number| points[number as usize].vertex as usize);
            self.places.extend(places.map(|vertex| positions[vertex]));
            surface.nearest_of_all(&self.places, &mut self.search, &mut self.nearest);
            for (&number, nearest) in group.iter().zip(&self.nearest) {
                self.found[number as usize] = Some(*nearest);
            }
        }
        for (point, nearest) in points.iter().zip(&self.found) {
            let surface = self.surfaces.of(bodies, positions, point.body);
            let (Some(nearest), Some(surface)) = (nearest, surface) else { continue };
            let place = positions[point.vertex as usize];
            let direction = surface.way_to(place, nearest);
            contacts.push(Contact {
                bodies: [bodies.body_of(point.vertex) as u32, point.body],
                first: Anchor::vertex(point.vertex),
                second: Anchor::of(surface.triangle(nearest.triangle), nearest.weights),
                position: place,
                direction: direction.unwrap_or_else(Vector3::zeros).map(R::nearest),
                depth: nearest.distance,
                volume: R::zero(),
                area: R::zero(),
                confidence: if direction.is_some() { R::one() } else { R::zero() },
                source: Source::Nearest,
            });
        }
        Ok(())
    }
}
