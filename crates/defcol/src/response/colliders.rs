//! Things that do not give way: the ground, walls, boxes, spheres.

use crate::math::{Matrix3, Real, Vector3};

/// A shape with a smooth enough distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape<R: Real> {
    /// Everything below a plane.
    HalfSpace {
        /// Outward, of length one.
        normal: Vector3<R>,
        /// Distance of the plane from the origin along the normal.
        offset: R,
    },
    /// A ball.
    Sphere {
        /// Its centre.
        centre: Vector3<R>,
        /// Its radius.
        radius: R,
    },
    /// A box.
    Box {
        /// Its centre.
        centre: Vector3<R>,
        /// Half of its widths.
        half: Vector3<R>,
        /// Its axes, as columns.
        axes: Matrix3<R>,
    },
}

/// A shape that bodies cannot enter, or cannot leave: their vertices, that is. A shape that is smaller than the triangles of
/// a body may come through these; let such a thing, and any mesh that does not give way, be a body of
/// [`BodyKind::Driven`](crate::world::BodyKind::Driven).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Collider<R: Real> {
    /// Its shape.
    pub shape: Shape<R>,
    /// Whether bodies are kept inside instead of outside.
    pub hollow: bool,
    /// The coefficient of friction; none: that of the world.
    pub friction: Option<R>,
}

impl<R: Real> Collider<R> {
    /// Everything below a plane with a normal of any length but zero.
    pub fn half_space(normal: Vector3<R>, offset: R) -> Self {
        let shape = Shape::HalfSpace { normal: normal.normalize(), offset };
        Self { shape, hollow: false, friction: None }
    }

    /// A ball.
    pub fn sphere(centre: Vector3<R>, radius: R) -> Self {
        Self { shape: Shape::Sphere { centre, radius }, hollow: false, friction: None }
    }

    /// A box along the axes.
    pub fn cuboid(centre: Vector3<R>, half: Vector3<R>) -> Self {
        let shape = Shape::Box { centre, half, axes: Matrix3::identity() };
        Self { shape, hollow: false, friction: None }
    }

    /// The same from inside: bodies are kept in it.
    pub fn hollow(self) -> Self {
        Self { hollow: true, ..self }
    }

    /// Whether all of its numbers are usable.
    pub(crate) fn is_valid(&self) -> bool {
        let finite = |v: &Vector3<R>| v.iter().all(|x| x.is_finite());
        let shape = match &self.shape {
            Shape::HalfSpace { normal, offset } => {
                (normal.norm() - R::one()).abs() < R::nearest(1e-3) && offset.is_finite()
            }
            Shape::Sphere { centre, radius } => {
                finite(centre) && radius.is_finite() && *radius > R::zero()
            }
            Shape::Box { centre, half, axes } => {
                finite(centre)
                    && finite(half)
                    && half.min() > R::zero()
                    && (axes.transpose() * axes - Matrix3::identity()).norm() < R::nearest(1e-3)
            }
        };
        shape && self.friction.is_none_or(|mu| mu.is_finite() && mu >= R::zero())
    }

    /// How far a point can come through it before it leaves on the other side.
    pub fn thickness(&self) -> f64 {
        match &self.shape {
            _ if self.hollow => f64::INFINITY,
            Shape::HalfSpace { .. } => f64::INFINITY,
            Shape::Sphere { radius, .. } => 2.0 * radius.to_f64(),
            Shape::Box { half, .. } => 2.0 * half.min().to_f64(),
        }
    }

    /// The way out for a point, of length one, and how far outside it is; negative within.
    pub fn nearest(&self, point: Vector3<R>) -> (Vector3<R>, R) {
        let (normal, gap) = match self.shape {
            Shape::HalfSpace { normal, offset } => (normal, normal.dot(&point) - offset),
            Shape::Sphere { centre, radius } => {
                let away = point - centre;
                let distance = away.norm();
                let up = Vector3::new(R::zero(), R::one(), R::zero());
                (if distance > R::zero() { away / distance } else { up }, distance - radius)
            }
            Shape::Box { centre, half, axes } => {
                let local = axes.transpose() * (point - centre);
                let beyond = local.abs() - half;
                let sign = local.map(|x| if x < R::zero() { -R::one() } else { R::one() });
                let outside = beyond.map(|x| x.max(R::zero()));
                let distance = outside.norm();
                if distance > R::zero() {
                    (axes * (outside / distance).component_mul(&sign), distance)
                } else {
                    let axis = beyond.imax();
                    let mut normal = Vector3::zeros();
                    normal[axis] = sign[axis];
                    (axes * normal, beyond[axis])
                }
            }
        };
        if self.hollow { (-normal, -gap) } else { (normal, gap) }
    }
}
