//! Forces from afar: magnets, air, and springs to points.

use crate::contact::Anchor;
use crate::math::{Real, Vector3};

/// What a magnet pulls towards, or along.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FieldKind {
    /// Towards a point.
    Point {
        /// The point.
        centre: Vector3<f64>,
    },
    /// Towards a line.
    Line {
        /// A point of it.
        point: Vector3<f64>,
        /// Its direction, of any length but zero.
        direction: Vector3<f64>,
    },
    /// Along a direction, the same everywhere.
    Uniform {
        /// Of any length but zero.
        direction: Vector3<f64>,
    },
    /// Around a line.
    Vortex {
        /// A point of it.
        point: Vector3<f64>,
        /// Its direction, of any length but zero.
        direction: Vector3<f64>,
    },
}

/// A magnet: an acceleration that depends on the place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field {
    /// Where it pulls.
    pub kind: FieldKind,
    /// The acceleration next to it, in m/s²; negative: it pushes.
    pub strength: f64,
    /// At this distance it is half as strong; infinite: everywhere the same.
    pub half_distance: f64,
    /// How quickly it falls off beyond: with this power of the distance.
    pub power: f64,
}

impl Field {
    /// Whether all of its numbers are usable.
    pub(crate) fn is_valid(&self) -> bool {
        let finite = |v: &Vector3<f64>| v.iter().all(|x| x.is_finite());
        let way = |v: &Vector3<f64>| finite(v) && v.norm() > 0.0;
        let kind = match &self.kind {
            FieldKind::Point { centre } => finite(centre),
            FieldKind::Uniform { direction } => way(direction),
            FieldKind::Line { point, direction } | FieldKind::Vortex { point, direction } => {
                finite(point) && way(direction)
            }
        };
        kind && self.strength.is_finite()
            && self.half_distance > 0.0
            && self.power.is_finite()
            && self.power >= 0.0
    }

    /// The acceleration at a place.
    pub fn at(&self, place: Vector3<f64>) -> Vector3<f64> {
        let to_line = |point: Vector3<f64>, direction: Vector3<f64>| {
            let axis = direction.normalize();
            let way = point - place;
            (way - axis * way.dot(&axis), axis)
        };
        let (way, direction) = match self.kind {
            FieldKind::Point { centre } => (centre - place, centre - place),
            FieldKind::Uniform { direction } => (Vector3::zeros(), direction),
            FieldKind::Line { point, direction } => {
                let (way, _) = to_line(point, direction);
                (way, way)
            }
            FieldKind::Vortex { point, direction } => {
                let (way, axis) = to_line(point, direction);
                (way, way.cross(&axis))
            }
        };
        let distance = way.norm();
        let Some(unit) = direction.try_normalize(1e-12) else { return Vector3::zeros() };
        // Next to a centre it fades, so that nothing is torn across it.
        let near = if matches!(self.kind, FieldKind::Uniform { .. }) {
            1.0
        } else {
            let soft = 1e-2 * self.half_distance.min(1.0);
            distance / (distance + soft)
        };
        let far = if self.half_distance.is_finite() {
            1.0 / (1.0 + nalgebra::ComplexField::powf(distance / self.half_distance, self.power))
        } else {
            1.0
        };
        unit * (self.strength * near * far)
    }
}

/// Where a spring leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Goal<R: Real> {
    /// A point in space.
    Point(Vector3<R>),
    /// A point of a body.
    Anchor(Anchor<R>),
}

/// A spring of length zero with a damper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pull<R: Real> {
    /// What is pulled.
    pub anchor: Anchor<R>,
    /// Where to.
    pub goal: Goal<R>,
    /// In N/m.
    pub stiffness: R,
    /// In N s/m.
    pub damping: R,
}

impl<R: Real> Pull<R> {
    /// Adds its forces.
    pub fn add_forces(
        &self,
        positions: &[Vector3<R>],
        velocities: &[Vector3<R>],
        forces: &mut [Vector3<R>],
    ) {
        let (way, rate) = self.difference(positions, velocities);
        let force = way * -self.stiffness - rate * self.damping;
        self.spread(force, forces);
    }

    /// Adds how they change if vertices move by `vector`: positions times `stiffness`, velocities times `damping`.
    pub fn add_stiffness_times(
        &self,
        vector: &[Vector3<R>],
        scales: [R; 2],
        product: &mut [Vector3<R>],
    ) {
        let other = match &self.goal {
            Goal::Anchor(anchor) => anchor.blend(vector),
            Goal::Point(_) => Vector3::zeros(),
        };
        let way = self.anchor.blend(vector) - other;
        self.spread(way * -(self.stiffness * scales[0] + self.damping * scales[1]), product);
    }

    /// Adds to the diagonal of each vertex.
    pub fn add_diagonal(&self, scales: [R; 2], diagonal: &mut [R]) {
        let own = self.stiffness * scales[0] + self.damping * scales[1];
        let goal = match &self.goal {
            Goal::Anchor(anchor) => Some(anchor),
            Goal::Point(_) => None,
        };
        for anchor in std::iter::once(&self.anchor).chain(goal) {
            for (vertex, weight) in anchor.parts() {
                diagonal[vertex as usize] += own * weight * weight;
            }
        }
    }

    fn difference(
        &self,
        positions: &[Vector3<R>],
        velocities: &[Vector3<R>],
    ) -> (Vector3<R>, Vector3<R>) {
        let (to, with) = match &self.goal {
            Goal::Point(point) => (*point, Vector3::zeros()),
            Goal::Anchor(anchor) => (anchor.blend(positions), anchor.blend(velocities)),
        };
        (self.anchor.blend(positions) - to, self.anchor.blend(velocities) - with)
    }

    fn spread(&self, force: Vector3<R>, forces: &mut [Vector3<R>]) {
        self.anchor.spread(force, forces);
        if let Goal::Anchor(anchor) = &self.goal {
            anchor.spread(-force, forces);
        }
    }
}

/// Air that moves and brakes what moves through it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Air {
    /// Its velocity.
    pub wind: Vector3<f64>,
    /// Pressure per speed on what faces it, in kg/(m² s).
    pub drag: f64,
}

impl Air {
    /// Adds forces on triangles: along their normals, against the relative velocity.
    pub fn add_forces<R: Real>(
        &self,
        triangles: &[[u32; 3]],
        positions: &[Vector3<R>],
        velocities: &[Vector3<R>],
        forces: &mut [Vector3<R>],
    ) {
        if self.drag == 0.0 {
            return;
        }
        let (wind, third) = (self.wind.map(R::nearest), R::nearest(1.0 / 3.0));
        let drag = R::nearest(self.drag / 2.0);
        for corners in triangles {
            let [a, b, c] = corners.map(|corner| positions[corner as usize]);
            let [u, v, w] = corners.map(|corner| velocities[corner as usize]);
            let normal = (b - a).cross(&(c - a));
            let length = normal.norm();
            if !(length > R::zero()) {
                continue;
            }
            let against = wind - (u + v + w) * third;
            // |normal| is twice the area.
            let force = normal * (against.dot(&normal) / length * drag * third);
            corners.iter().for_each(|&corner| forces[corner as usize] += force);
        }
    }
}
