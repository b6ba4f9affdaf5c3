use std::sync::Arc;

use defcol::math::{Bounds, Vector3, sin_cos};

type Distance = Arc<dyn Fn(Vector3<f64>) -> f64 + Send + Sync>;

/// A solid given by its distance function: negative inside, positive outside, about the distance
/// to the surface near it, and changing by no more than `slope` per unit of length.
#[derive(Clone)]
pub struct Shape {
    distance: Distance,
    bounds: Bounds<f64>,
    slope: f64,
    volume: Option<f64>,
}

fn around(center: Vector3<f64>, half: Vector3<f64>) -> Bounds<f64> {
    Bounds { min: center - half, max: center + half }
}

fn vector(v: [f64; 3]) -> Vector3<f64> {
    Vector3::from(v)
}

impl Shape {
    /// A shape from a distance function that lies within `bounds` and changes by no more than
    /// `slope` per unit of length.
    pub fn new(
        bounds: Bounds<f64>,
        slope: f64,
        distance: impl Fn(Vector3<f64>) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self { distance: Arc::new(distance), bounds, slope, volume: None }
    }

    /// The distance from a point to the surface, negative inside.
    pub fn distance(&self, point: Vector3<f64>) -> f64 {
        (self.distance)(point)
    }

    /// A box around the shape.
    pub fn bounds(&self) -> Bounds<f64> {
        self.bounds
    }

    /// Its volume, where that is known.
    pub fn volume(&self) -> Option<f64> {
        self.volume
    }

    /// The same shape, of which the volume is known.
    #[must_use]
    pub(crate) fn of_volume(self, volume: f64) -> Self {
        Self { volume: Some(volume), ..self }
    }

    /// How much the distance changes at most per unit of length.
    pub fn slope(&self) -> f64 {
        self.slope
    }

    /// The direction in which the distance grows, by central differences over `step`.
    pub fn gradient(&self, point: Vector3<f64>, step: f64) -> Vector3<f64> {
        Vector3::from_fn(|axis, _| {
            let mut offset = Vector3::zeros();
            offset[axis] = step;
            (self.distance(point + offset) - self.distance(point - offset)) / (2.0 * step)
        })
    }

    /// A ball.
    pub fn sphere(center: [f64; 3], radius: f64) -> Self {
        let center = vector(center);
        Self::new(around(center, Vector3::repeat(radius)), 1.0, move |p| {
            (p - center).norm() - radius
        })
    }

    /// An ellipsoid with these half axes; the distance is a first-order estimate.
    pub fn ellipsoid(center: [f64; 3], axes: [f64; 3]) -> Self {
        let (center, axes) = (vector(center), vector(axes));
        let slope = axes.max() / axes.min();
        Self::new(around(center, axes), slope, move |p| {
            let q = (p - center).component_div(&axes);
            let length = q.norm();
            if length == 0.0 {
                return -axes.min();
            }
            let gradient = q.component_div(&axes).norm();
            length * (length - 1.0) / gradient
        })
    }

    /// A rod with round ends whose radius goes from one end to the other.
    pub fn cone([a, b]: [[f64; 3]; 2], [first, last]: [f64; 2]) -> Self {
        let (a, b) = (vector(a), vector(b));
        let ends = around(a, Vector3::repeat(first)).union(around(b, Vector3::repeat(last)));
        let axis = b - a;
        let length = axis.norm_squared().max(1e-300);
        let slope = 1.0 + (last - first).abs() / length.sqrt();
        Self::new(ends, slope, move |p| {
            let along = ((p - a).dot(&axis) / length).clamp(0.0, 1.0);
            (p - a - axis * along).norm() - (first + (last - first) * along)
        })
    }

    /// A rod with round ends.
    pub fn capsule(ends: [[f64; 3]; 2], radius: f64) -> Self {
        Self::cone(ends, [radius, radius])
    }

    /// Rods of growing or shrinking radius along a path of points, smoothly joined.
    pub fn tube(path: &[([f64; 3], f64)]) -> Self {
        let mut parts = path.windows(2).map(|w| Self::cone([w[0].0, w[1].0], [w[0].1, w[1].1]));
        let first = parts.next().unwrap_or_else(|| Self::sphere(path[0].0, path[0].1));
        parts.fold(first, |tube, part| tube.union(&part))
    }

    /// A box with rounded edges; the rounding is part of its size.
    pub fn block(center: [f64; 3], half: [f64; 3], rounding: f64) -> Self {
        let (center, half) = (vector(center), vector(half));
        Self::new(around(center, half), 1.0, move |p| {
            let q = (p - center).abs() - half.add_scalar(-rounding);
            q.sup(&Vector3::zeros()).norm() + q.max().min(0.0) - rounding
        })
    }

    /// A cylinder along an axis (0 to 2) with rounded rims.
    pub fn cylinder(center: [f64; 3], axis: usize, radius: f64, half: f64, rounding: f64) -> Self {
        let center = vector(center);
        let mut size = Vector3::repeat(radius);
        size[axis] = half;
        Self::new(around(center, size), 1.0, move |p| {
            let mut q = p - center;
            let along = q[axis].abs() - (half - rounding);
            q[axis] = 0.0;
            let out = q.norm() - (radius - rounding);
            out.max(0.0).hypot(along.max(0.0)) + out.max(along).min(0.0) - rounding
        })
    }

    /// A ring around an axis (0 to 2).
    pub fn ring(center: [f64; 3], axis: usize, major: f64, minor: f64) -> Self {
        let center = vector(center);
        let mut size = Vector3::repeat(major + minor);
        size[axis] = minor;
        Self::new(around(center, size), 1.0, move |p| {
            let mut q = p - center;
            let along = q[axis];
            q[axis] = 0.0;
            (q.norm() - major).hypot(along) - minor
        })
    }

    /// Both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let (a, b) = (self.clone(), other.clone());
        Self::new(a.bounds.union(b.bounds), a.slope.max(b.slope), move |p| {
            a.distance(p).min(b.distance(p))
        })
    }

    /// Both, with a fillet of about the given width where they meet.
    #[must_use]
    pub fn smooth_union(&self, other: &Self, width: f64) -> Self {
        let (a, b) = (self.clone(), other.clone());
        // The blend adds at most a quarter of its width.
        let bounds = a.bounds.union(b.bounds).grown(width / 4.0);
        Self::new(bounds, a.slope.max(b.slope), move |p| {
            let (a, b) = (a.distance(p), b.distance(p));
            let overlap = (width - (a - b).abs()).max(0.0) / width;
            a.min(b) - overlap * overlap * width / 4.0
        })
    }

    /// This without the other.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let (a, b) = (self.clone(), other.clone());
        Self::new(a.bounds, a.slope.max(b.slope), move |p| a.distance(p).max(-b.distance(p)))
    }

    /// This without the other, with rounded rims of about the given width.
    #[must_use]
    pub fn smooth_without(&self, other: &Self, width: f64) -> Self {
        let (a, b) = (self.clone(), other.clone());
        Self::new(a.bounds, a.slope.max(b.slope), move |p| {
            let (a, b) = (a.distance(p), -b.distance(p));
            let overlap = (width - (a - b).abs()).max(0.0) / width;
            a.max(b) + overlap * overlap * width / 4.0
        })
    }

    /// What both have in common.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let (a, b) = (self.clone(), other.clone());
        let bounds = a.bounds.intersection(b.bounds);
        Self::new(bounds, a.slope.max(b.slope), move |p| a.distance(p).max(b.distance(p)))
    }

    /// The wall of the shape, `thickness` to each side of its surface.
    #[must_use]
    pub fn shell(&self, thickness: f64) -> Self {
        let inner = self.clone();
        Self::new(inner.bounds.grown(thickness), inner.slope, move |p| {
            inner.distance(p).abs() - thickness
        })
    }

    /// This and its mirror image across the plane where the coordinate is 0.
    #[must_use]
    pub fn mirrored(&self, axis: usize) -> Self {
        let inner = self.clone();
        let mut bounds = inner.bounds;
        let reach = bounds.max[axis].abs().max(bounds.min[axis].abs());
        (bounds.min[axis], bounds.max[axis]) = (-reach, reach);
        Self::new(bounds, inner.slope, move |p| {
            let mut image = p;
            image[axis] = -p[axis];
            inner.distance(p).min(inner.distance(image))
        })
    }

    /// Moved by an offset.
    #[must_use]
    pub fn moved(&self, offset: [f64; 3]) -> Self {
        let (inner, offset) = (self.clone(), vector(offset));
        let bounds = Bounds { min: inner.bounds.min + offset, max: inner.bounds.max + offset };
        Self::new(bounds, inner.slope, move |p| inner.distance(p - offset))
    }

    /// Turned about an axis (0 to 2) through the origin.
    #[must_use]
    pub fn turned(&self, axis: usize, angle: f64) -> Self {
        let (sin, cos) = sin_cos(angle);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let rotate = move |p: Vector3<f64>, sin: f64| {
            let mut q = p;
            q[u] = cos * p[u] - sin * p[v];
            q[v] = sin * p[u] + cos * p[v];
            q
        };
        let inner = self.clone();
        let Bounds { min, max } = inner.bounds;
        let corners = (0..8).map(|k| {
            let pick = |axis: usize| if k >> axis & 1 == 0 { min[axis] } else { max[axis] };
            rotate(Vector3::new(pick(0), pick(1), pick(2)), sin)
        });
        Self::new(Bounds::of(corners), inner.slope, move |p| inner.distance(rotate(p, -sin)))
    }

    /// Bent in the plane of two axes: what runs straight along `axis` turns towards `towards` by
    /// `curvature` radians per unit of length.
    #[must_use]
    pub fn bent(&self, axis: usize, towards: usize, curvature: f64) -> Self {
        if curvature == 0.0 {
            return self.clone();
        }
        let inner = self.clone();
        let Bounds { min, max } = inner.bounds;
        let radius = 1.0 / curvature;
        let thick = min[towards].abs().max(max[towards].abs());
        let place = move |along: f64, out: f64| {
            let (sin, cos) = sin_cos(along * curvature);
            ((radius - out) * sin, radius - (radius - out) * cos)
        };
        let mut bounds = inner.bounds;
        let mut reach = Bounds::<f64>::empty();
        for step in 0..=64 {
            let along = min[axis] + (max[axis] - min[axis]) * f64::from(step) / 64.0;
            for out in [-thick, 0.0, thick] {
                let (a, t) = place(along, out);
                reach = reach.including(Vector3::new(a, t, 0.0));
            }
        }
        let slack = (max[axis] - min[axis]) / 64.0;
        (bounds.min[axis], bounds.max[axis]) = (reach.min.x - slack, reach.max.x + slack);
        (bounds.min[towards], bounds.max[towards]) = (reach.min.y - slack, reach.max.y + slack);
        // Towards the centre of the bend the inside is squeezed.
        let squeeze = 1.0 / (1.0 - (thick * curvature).abs()).max(0.2);
        Self::new(bounds, inner.slope * squeeze, move |p| {
            let (x, y) = (p[axis], radius - p[towards]);
            let sign = radius.signum();
            let angle = defcol::math::atan2(x * sign, y * sign);
            let mut q = p;
            q[axis] = angle * radius;
            q[towards] = radius - sign * x.hypot(y);
            inner.distance(q)
        })
    }

    /// Twisted about an axis by so many radians per unit of length.
    #[must_use]
    pub fn twisted(&self, axis: usize, rate: f64) -> Self {
        let inner = self.clone();
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let Bounds { min, max } = inner.bounds;
        let reach = min[u].abs().max(max[u].abs()).hypot(min[v].abs().max(max[v].abs()));
        let mut bounds = inner.bounds;
        for side in [u, v] {
            (bounds.min[side], bounds.max[side]) = (-reach, reach);
        }
        let slope = inner.slope * (1.0 + (rate * reach).abs());
        Self::new(bounds, slope, move |p| {
            let (sin, cos) = sin_cos(-rate * p[axis]);
            let mut q = p;
            q[u] = cos * p[u] - sin * p[v];
            q[v] = sin * p[u] + cos * p[v];
            inner.distance(q)
        })
    }

    /// The surface moved outwards by a function that lies between `-most` and `most` and changes by no
    /// more than `slope` per unit of length.
    #[must_use]
    pub fn displaced(
        &self,
        most: f64,
        slope: f64,
        by: impl Fn(Vector3<f64>) -> f64 + Send + Sync + 'static,
    ) -> Self {
        let inner = self.clone();
        Self::new(inner.bounds.grown(most), inner.slope + slope, move |p| inner.distance(p) - by(p))
    }
}
