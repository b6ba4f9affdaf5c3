//! How much bodies have in common, how that changes with every vertex, and the forces that follow (FAURE08 section 3).
//!
//! ```
//! use defcol::contact::volume::VolumeContact;
//! use defcol::detect::ldi::Software;
//! use defcol::math::Vector3;
//! use defcol::mesh::TriangleMesh;
//! use defcol::state::{Bodies, Collides};
//! use defcol_scenes::regular::icosphere;
//!
//! let ball = TriangleMesh::new(icosphere(1.0, 3))?;
//! let mut bodies = Bodies::default();
//! bodies.add_surface(&ball, Collides::default());
//! bodies.add_surface(&ball, Collides::default());
//! let moved = ball.positions().iter().map(|p| p + Vector3::new(1.2, 0.0, 0.0));
//! let positions: Vec<_> = ball.positions().iter().copied().chain(moved).collect();
//!
//! let mut contact = VolumeContact::<Software>::default();
//! contact.pair(&bodies, &positions, [0, 1], 64)?;
//! let [first, second] = [0, 1].map(|body| contact.net_force(body, 1.0));
//! assert!(first.x < 0.0 && (first + second).norm() < 1e-10 * first.norm());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod forces;
mod overlaps;
mod patches;

pub(crate) use overlaps::OverlapVolumes;
pub use patches::Patch;

use rayon::prelude::*;

use super::{Anchor, Contact, Contacts, Source};
use crate::detect::check_positions;
use crate::detect::ldi::{
    Combination, Generator, Interval, Ldi, SelfOverlap, Shell, Software, Start, View, Volume,
    region_of,
};
use crate::error::DetectError;
use crate::math::{Real, Vector3};
use crate::state::Bodies;

/// How much longer a view is than what is looked at, at each end.
const MARGIN: f64 = 1.0 / 1024.0;

/// Measures the volume that two bodies have in common, or in which a body overlaps itself, along three axes, with the
/// gradient with respect to every vertex. It keeps its memory from call to call; results are the same bits for any
/// number of threads.
#[derive(Debug, Default)]
pub struct VolumeContact<G = Software> {
    axes: [Axis<G>; 3],
    bodies: [u32; 2],
    volume: Volume,
    /// For each vertex of all bodies, zero but for those in `touched`.
    dense: Vec<Sums>,
    touched: Vec<u32>,
    vertices: Vec<VertexShare>,
}

/// The rays along one axis.
#[derive(Debug, Default)]
struct Axis<G> {
    generator: G,
    ldi: Ldi,
    combination: Combination,
    own: SelfOverlap,
    view: Option<View>,
    volume: Volume,
    rays: Vec<Ray>,
}

/// A piece of a ray that is in both bodies.
#[derive(Debug, Clone, Copy)]
struct Ray {
    interval: Interval,
    /// Where it begins and where it ends: none where the view does.
    ends: [Option<Grip>; 2],
}

/// An end of a ray: a point of a triangle.
#[derive(Debug, Clone, Copy)]
struct Grip {
    body: u32,
    vertices: [u32; 3],
    weights: [f64; 3],
    /// The outward normal of the triangle.
    normal: Vector3<f64>,
}

/// What is summed up for a vertex.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    gradient: Vector3<f64>,
    /// The same without signs.
    areas: Vector3<f64>,
    volume: f64,
    /// The ray with the largest weight, if possible from one body to the other: its axis, its number and which end the
    /// vertex has.
    strongest: f64,
    ray: (u8, u32, u8),
    across: Across,
    touched: bool,
}

/// The sums for rays from one body to the other alone.
#[derive(Debug, Clone, Copy, Default)]
struct Across {
    gradient: Vector3<f64>,
    area: f64,
    volume: f64,
}

/// The part of a volume between a vertex and the surface of the other body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Column {
    pub vertex: u32,
    /// The triangle on the other side, and where on it the column ends.
    pub opposite: [u32; 3],
    pub weights: [f64; 3],
    /// Where the vertex has to go.
    pub direction: Vector3<f64>,
    pub length: f64,
}

/// What a vertex has to do with a volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VertexShare {
    /// The vertex, in the numbering of all bodies.
    pub vertex: u32,
    /// How the volume grows with the position of the vertex: an area along the outward normal.
    pub gradient: Vector3<f64>,
    /// The share of the volume; those of all vertices together are the whole.
    pub volume: f64,
    /// How well the surface around the vertex agrees about the direction: one if it is flat, less where it is bent,
    /// zero where opposite sides cancel.
    pub agreement: f64,
}

impl<G: Default> VolumeContact<G> {
    /// Measures the overlap of two bodies, both of which must be closed; of one with itself if they are the same.
    pub fn pair<R: Real>(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        pair: [u32; 2],
        resolution: u32,
    ) -> Result<(), DetectError>
    where
        G: Generator<R> + Send,
    {
        if pair[0] == pair[1] {
            return self.own(bodies, positions, pair[0], resolution);
        }
        self.begin(bodies, positions, pair)?;
        let shells = closed_shells(bodies, positions, pair)?;
        let of_first = shells[0].triangles().len() as u32;
        self.look(|axis, own| {
            let Some(region) = region_of(&shells[0], &shells[1], Some(axis))? else {
                // Asked for the sake of its checks.
                View::new(shells[0].bounds(), axis, resolution)?;
                return own.see_nothing(axis, resolution);
            };
            // A little longer than the overlap can be: what is at the ends of rays is not told from what is beyond.
            let mut bounds = region.bounds;
            let margin = bounds.extent()[axis] * MARGIN;
            bounds.min[axis] -= margin;
            bounds.max[axis] += margin;
            let view = View::new(bounds, axis, resolution)?;
            // From the side on which less of both bodies is beyond the view.
            let beyond = |near: bool| {
                let bounds = shells.map(|shell| shell.bounds());
                let one = |k: usize| {
                    let before = region.bounds.min[axis] - bounds[k].min[axis];
                    let behind = bounds[k].max[axis] - region.bounds.max[axis];
                    if near { before.max(0.0) } else { behind.max(0.0) }
                };
                one(0) + one(1)
            };
            let start = if beyond(true) <= beyond(false) { Start::Near } else { Start::Far };
            own.generator.generate(&shells, &view, start, &mut own.ldi)?;
            own.combination.intersect_within(&own.ldi, of_first);
            own.view = Some(view);
            own.volume = own.combination.volume();
            let intervals = own.combination.intervals().iter();
            own.rays.extend(intervals.map(|&interval| Ray::new(&view, interval, pair, &shells)));
            Ok(())
        })?;
        self.sum_up(bodies);
        Ok(())
    }

    /// Measures where a closed body overlaps itself: where its surface winds around a place more than once.
    pub fn own<R: Real>(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        body: u32,
        resolution: u32,
    ) -> Result<(), DetectError>
    where
        G: Generator<R> + Send,
    {
        let pair = [body; 2];
        self.begin(bodies, positions, pair)?;
        let shells = closed_shells(bodies, positions, pair)?;
        self.look(|axis, own| {
            let view = View::new(shells[0].bounds(), axis, resolution)?;
            own.generator.generate(&shells[..1], &view, Start::Near, &mut own.ldi)?;
            own.own.find(&own.ldi);
            own.view = Some(view);
            own.volume = own.own.volume(&own.ldi);
            let intervals = own.own.overlapping().iter();
            own.rays.extend(intervals.map(|&interval| Ray::new(&view, interval, pair, &shells)));
            Ok(())
        })?;
        self.sum_up(bodies);
        Ok(())
    }

    fn begin<R: Real>(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        pair: [u32; 2],
    ) -> Result<(), DetectError> {
        self.forget();
        check_positions(bodies, positions)?;
        if let Some(&body) = pair.iter().find(|&&body| body as usize >= bodies.len()) {
            return Err(DetectError::NoSuchBody { body, bodies: bodies.len() });
        }
        self.bodies = pair;
        if self.dense.len() < bodies.vertex_count() {
            self.dense.resize(bodies.vertex_count(), Sums::default());
        }
        Ok(())
    }

    /// Looks along all three axes.
    fn look(
        &mut self,
        look: impl Fn(usize, &mut Axis<G>) -> Result<(), DetectError> + Sync,
    ) -> Result<(), DetectError>
    where
        G: Send,
    {
        let done = if rayon::current_num_threads() == 1 {
            self.axes.iter_mut().enumerate().try_for_each(|(axis, own)| look(axis, own))
        } else {
            self.axes.par_iter_mut().enumerate().try_for_each(|(axis, own)| look(axis, own))
        };
        if done.is_err() {
            self.forget();
        }
        done
    }

    fn forget(&mut self) {
        for vertex in self.touched.drain(..) {
            self.dense[vertex as usize] = Sums::default();
        }
        self.vertices.clear();
        self.volume = Volume::default();
        for own in &mut self.axes {
            own.view = None;
            own.volume = Volume::default();
            own.rays.clear();
        }
    }

    /// Sums up what all rays say about each vertex, always in the same order.
    fn sum_up(&mut self, bodies: &Bodies) {
        debug_assert!(self.dense.len() >= bodies.vertex_count());
        let one_body = self.bodies[0] == self.bodies[1];
        for (axis, own) in self.axes.iter().enumerate() {
            let Some(view) = &own.view else { continue };
            let (spacing, unit) = (view.spacing(), view.unit_volume());
            let area = spacing.x * spacing.y;
            for (number, ray) in (0u32..).zip(&own.rays) {
                // A third for each axis, and half for each end.
                let share = f64::from(ray.interval.length()) * unit / 6.0;
                for (end, (grip, sign)) in (0u8..).zip(ray.ends.iter().zip([-1.0, 1.0])) {
                    let Some(grip) = grip else { continue };
                    let other = &ray.ends[1 - end as usize];
                    let across =
                        other.as_ref().is_some_and(|other| one_body || other.body != grip.body);
                    for (&vertex, &weight) in grip.vertices.iter().zip(&grip.weights) {
                        let sums = &mut self.dense[vertex as usize];
                        if !std::mem::replace(&mut sums.touched, true) {
                            self.touched.push(vertex);
                        }
                        sums.gradient[axis] += sign * area * weight;
                        sums.areas[axis] += area * weight;
                        sums.volume += share * weight;
                        let known = sums.across.area > 0.0;
                        let stronger = area * weight > sums.strongest;
                        if other.is_some() && if across == known { stronger } else { across } {
                            sums.strongest = area * weight;
                            sums.ray = (axis as u8, number, end);
                        }
                        if across {
                            sums.across.gradient[axis] += sign * area * weight;
                            sums.across.area += area * weight;
                            sums.across.volume += 6.0 * share * weight;
                        }
                    }
                }
            }
        }
        self.touched.sort_unstable();
        let dense = &self.dense;
        self.vertices.extend(self.touched.iter().map(|&vertex| {
            let Sums { gradient, areas, volume, .. } = dense[vertex as usize];
            let all = areas.norm();
            let agreement = if all > 0.0 { gradient.norm() / all } else { 0.0 };
            VertexShare { vertex, gradient, volume, agreement }
        }));
        let volumes = [0, 1, 2].map(|axis: usize| self.axes[axis].volume);
        self.volume = Volume::mean(&volumes);
    }
}

impl<G> VolumeContact<G> {
    /// The two bodies of the last call, twice the same for one with itself.
    pub fn bodies(&self) -> [u32; 2] {
        self.bodies
    }

    /// The volume, with an estimate of its error.
    pub fn volume(&self) -> Volume {
        self.volume
    }

    /// What each vertex has to do with it, in ascending order; all others have nothing to do with it.
    pub fn vertices(&self) -> &[VertexShare] {
        &self.vertices
    }

    /// Fills in a contact for each vertex with a gradient; `contacts` is overwritten. The direction is the one in which
    /// the volume shrinks fastest, the area the length of the gradient, and the depth what the volume and the area
    /// make of a layer between two surfaces. The second anchor is the other end of the ray with the largest weight
    /// for the vertex; where that is on the far side of the same body, as in a plate, this is the second body.
    pub fn contacts<R: Real>(
        &self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        contacts: &mut Contacts<R>,
    ) {
        contacts.clear();
        for share in &self.vertices {
            let area = share.gradient.norm();
            let sums = &self.dense[share.vertex as usize];
            let (axis, number, end) = sums.ray;
            let ray = self.axes[axis as usize].rays.get(number as usize);
            let other = ray.and_then(|ray| ray.ends[1 - end as usize]);
            let Some(other) = other.filter(|_| area > 0.0 && sums.strongest > 0.0) else {
                continue;
            };
            contacts.push(Contact {
                bodies: [bodies.body_of(share.vertex) as u32, other.body],
                first: Anchor::vertex(share.vertex),
                second: Anchor::of(other.vertices, other.weights.map(R::nearest)),
                position: positions[share.vertex as usize],
                direction: (share.gradient / -area).map(R::nearest),
                depth: R::nearest(2.0 * share.volume / sums.areas.norm()),
                volume: R::nearest(share.volume),
                area: R::nearest(area),
                confidence: R::nearest(share.agreement.min(1.0)),
                source: Source::Volume,
            });
        }
    }

    /// The volume cut into columns, one for each vertex that has something of the other body in front of it. Where a body
    /// is through the other, its own sides face each other and there is no column.
    pub(crate) fn columns(&self) -> impl Iterator<Item = Column> {
        self.vertices.iter().filter_map(|share| {
            let Sums { ray: (axis, number, end), across, .. } = self.dense[share.vertex as usize];
            let way = across.gradient.norm();
            if !(way > 0.0) {
                return None;
            }
            let ray = self.axes[axis as usize].rays.get(number as usize)?;
            let other = ray.ends[1 - end as usize]?;
            Some(Column {
                vertex: share.vertex,
                opposite: other.vertices,
                weights: other.weights,
                direction: across.gradient / -way,
                length: across.volume / across.area,
            })
        })
    }
}

/// The surfaces of both bodies, which must be closed.
fn closed_shells<'a, R: Real>(
    bodies: &'a Bodies,
    positions: &'a [Vector3<R>],
    pair: [u32; 2],
) -> Result<[Shell<'a, R>; 2], DetectError> {
    let shell = |body: u32| {
        let shell = Shell::of_body(bodies, positions, body as usize)?;
        if !bodies.is_closed(body as usize) {
            // Names the open edges; a body without triangles has none, and no volume.
            shell.check_closed()?;
        }
        Ok(shell)
    };
    Ok([shell(pair[0])?, shell(pair[1])?])
}

impl<G> Axis<G> {
    /// What is seen if the boxes of two bodies do not meet.
    fn see_nothing(&mut self, axis: usize, resolution: u32) -> Result<(), DetectError> {
        self.volume = Volume { resolution, ..Volume::default() };
        self.volume.along[axis] = Some(0.0);
        Ok(())
    }
}

impl Ray {
    fn new<R: Real>(
        view: &View,
        interval: Interval,
        pair: [u32; 2],
        shells: &[Shell<R>; 2],
    ) -> Self {
        // Rays enter against the normal and leave along it, also where a body is inside out.
        let ends = [(interval.from, -1.0), (interval.to, 1.0)].map(|(end, leaves)| {
            let (side, triangle) = end.crossing?;
            let shell = &shells[side as usize];
            let [a, b, c] = shell.corners(triangle);
            let normal = (b - a).cross(&(c - a));
            let normal = if normal[view.axis()] * leaves < 0.0 { -normal } else { normal };
            let largest = normal.amax();
            Some(Grip {
                body: pair[side as usize],
                vertices: shell.triangles()[triangle as usize],
                weights: view.weights(interval.pixel, [a, b, c]),
                normal: if largest > 0.0 { (normal / largest).normalize() } else { normal },
            })
        });
        Self { interval, ends }
    }

    /// The normal between the two surfaces, from the last to the first.
    fn normal(&self) -> Option<Vector3<f64>> {
        let [Some(from), Some(to)] = &self.ends else { return None };
        let normal = from.normal - to.normal;
        let length = normal.norm();
        (length > 1e-6).then(|| normal / length)
    }
}
