//! The connected regions of a contact.

use super::{Ray, VolumeContact};
use crate::detect::ldi::{ConnectedRegion, Interval, View, connected_regions};
use crate::math::{Bounds, Matrix3, Vector3};
use nalgebra::SymmetricEigen;

/// A connected region in which two bodies, or a body and itself, overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patch {
    /// Its volume.
    pub volume: f64,
    /// How large it is, seen along its normal.
    pub area: f64,
    /// The middle of the volume.
    pub centroid: Vector3<f64>,
    /// Where the first body is pushed, of length one; zero if all pushes cancel. For a body with itself one of the two
    /// ways across.
    pub normal: Vector3<f64>,
    /// The pressure: that of the whole overlap, since all of it has one energy.
    pub pressure: f64,
    /// The force on the first body; zero for a body with itself.
    pub force: Vector3<f64>,
}

impl<G> VolumeContact<G> {
    /// The connected regions at a stiffness, in the order in which rays along one axis meet them.
    ///
    /// Regions are told apart along the axis with the most rays; rays along the others belong to the region in which
    /// their middle is.
    pub fn patches(&self, stiffness: f64) -> Vec<Patch> {
        let Some(best) = (0..3).max_by_key(|&axis| (self.axes[axis].rays.len(), 3 - axis)) else {
            return vec![];
        };
        let Some(view) = &self.axes[best].view else { return vec![] };
        let intervals: Vec<Interval> =
            self.axes[best].rays.iter().map(|ray| ray.interval).collect();
        let (labels, regions) = connected_regions(view, &intervals);
        let search = Search { view, intervals: &intervals, labels: &labels, regions: &regions };
        let mut sums = vec![Sum::default(); regions.len()];
        for (axis, own) in self.axes.iter().enumerate() {
            let Some(view) = &own.view else { continue };
            for (number, ray) in own.rays.iter().enumerate() {
                let label = if axis == best { labels[number] } else { search.region(view, ray) };
                sums[label as usize].add(axis, view, ray, self.bodies);
            }
        }
        let with_itself = self.bodies[0] == self.bodies[1];
        let pressure = self.pressure(stiffness);
        let patch = |(sum, region): (Sum, _)| sum.patch(region, pressure, with_itself);
        sums.into_iter().zip(regions).map(patch).collect()
    }
}

/// Finds the region of a point.
struct Search<'a> {
    view: &'a View,
    intervals: &'a [Interval],
    labels: &'a [u32],
    regions: &'a [ConnectedRegion],
}

impl Search<'_> {
    /// The region of the middle of a ray along another axis: that of the piece it is in, or the next pixel's, or the
    /// nearest.
    fn region(&self, view: &View, ray: &Ray) -> u32 {
        let place =
            [ray.interval.pixel % view.resolution(), ray.interval.pixel / view.resolution()];
        let middle = view.point(place, ray.interval.from.depth.midpoint(ray.interval.to.depth));
        let own = self.view;
        let ([u, v, w], spacing) = (own.axes(), own.spacing());
        let Bounds { min, .. } = own.bounds();
        let column = ((middle[u] - min[u]) / spacing.x) as i64;
        let row = ((middle[v] - min[v]) / spacing.y) as i64;
        let depth = (middle[w] - min[w]) / spacing.z;
        let side = i64::from(own.resolution());
        for reach in 0..2 {
            for (x, y) in (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| (x, y))) {
                let (x, y) = (column + x, row + y);
                if !(0..side).contains(&x) || !(0..side).contains(&y) {
                    continue;
                }
                let pixel = (y * side + x) as u32;
                let first = self.intervals.partition_point(|interval| interval.pixel < pixel);
                let here = self.intervals[first..].iter().take_while(|i| i.pixel == pixel);
                for (number, interval) in (first..).zip(here) {
                    let ends = [interval.from.depth, interval.to.depth].map(f64::from);
                    if ends[0] <= depth && depth <= ends[1] {
                        return self.labels[number];
                    }
                }
            }
        }
        let distance = |region: &ConnectedRegion| (region.centroid - middle).norm_squared();
        let nearest =
            (0u32..).zip(self.regions).min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
        nearest.map_or(0, |(label, _)| label)
    }
}

#[derive(Clone, Default)]
struct Sum {
    volume: f64,
    push: Vector3<f64>,
    /// The products of the normals between both surfaces with themselves: they do not tell sides apart.
    across: Matrix3<f64>,
}

impl Sum {
    fn add(&mut self, axis: usize, view: &View, ray: &Ray, bodies: [u32; 2]) {
        let area = view.spacing().x * view.spacing().y;
        self.volume += f64::from(ray.interval.length()) * view.unit_volume() / 3.0;
        if let Some(normal) = ray.normal() {
            self.across += normal * normal.transpose() * (area * normal[axis].abs());
        }
        for (grip, sign) in ray.ends.iter().zip([1.0, -1.0]) {
            if grip.as_ref().is_some_and(|grip| grip.body == bodies[0]) {
                self.push[axis] += sign * area;
            }
        }
    }

    fn patch(self, region: ConnectedRegion, pressure: f64, with_itself: bool) -> Patch {
        let (volume, centroid) = (self.volume, region.centroid);
        if with_itself {
            let SymmetricEigen { eigenvalues, eigenvectors } = SymmetricEigen::new(self.across);
            let (most, area) = eigenvalues.argmax();
            let normal = eigenvectors.column(most).into_owned();
            let force = Vector3::zeros();
            return Patch { volume, area, centroid, normal, pressure, force };
        }
        let area = self.push.norm();
        let normal = if area > 0.0 { self.push / area } else { Vector3::zeros() };
        Patch { volume, area, centroid, normal, pressure, force: self.push * pressure }
    }
}
