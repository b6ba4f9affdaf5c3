//! Skins on joints.

use std::sync::Arc;

use crate::math::{Matrix3, Real, Vector3, sin_cos};
use crate::state::Binding;

/// A hinge. Further axes are further joints at the same place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joint {
    /// The joint it hangs on, which comes before it; none: it is fixed in space.
    pub parent: Option<usize>,
    /// A point of its axis when all angles are zero.
    pub pivot: Vector3<f64>,
    /// The direction of its axis then, of any length but zero.
    pub axis: Vector3<f64>,
    /// The smallest and the largest angle, in radians.
    pub limits: [f64; 2],
    /// The angle that a spring and a damper pull it to.
    pub target: f64,
    /// Their stiffness, in N m per radian, and damping, in N m s per radian.
    pub motor: [f64; 2],
}

impl Joint {
    /// A joint that turns freely by up to half a turn each way.
    pub fn new(parent: Option<usize>, pivot: Vector3<f64>, axis: Vector3<f64>) -> Self {
        let half = std::f64::consts::PI;
        Self { parent, pivot, axis, limits: [-half, half], target: 0.0, motor: [0.0, 0.0] }
    }
}

/// A body whose vertices follow joints; what pushes them turns the joints.
///
/// Its coordinates are the angles, each in the first component of the place of a vertex. The mass matrix is that of all
/// vertices; terms of velocities squared are left out, as joints are damped.
#[derive(Debug, Clone)]
pub struct Articulated<R: Real> {
    joints: Vec<Joint>,
    rest: Arc<[Vector3<R>]>,
    bindings: Arc<[Binding<R>]>,
    masses: Arc<[R]>,
    /// Where each joint takes what follows it, its axis and pivot now. Follows from the coordinates, as the Jacobian does:
    /// [`place`](Self::place) computes both.
    transforms: Vec<(Matrix3<R>, Vector3<R>)>,
    axes: Vec<(Vector3<R>, Vector3<R>)>,
    /// Rows of the Jacobian: for each vertex the velocity per rate of each joint.
    jacobian: Vec<Vector3<R>>,
    /// The Cholesky factor of the mass matrix with the motors.
    factor: Vec<R>,
}

impl<R: Real> Articulated<R> {
    /// A skin with a binding and a mass for each vertex. `None` if there are more joints than vertices, a joint comes
    /// before the one it hangs on, a binding names no joint, or an axis has no direction.
    pub fn new(
        rest: &[Vector3<R>],
        bindings: Vec<Binding<R>>,
        masses: &[R],
        mut joints: Vec<Joint>,
    ) -> Option<Self> {
        for (number, joint) in joints.iter_mut().enumerate() {
            joint.axis = joint.axis.try_normalize(0.0).filter(|axis| axis.norm() > 0.5)?;
            let numbers = joint.pivot.iter().chain(&joint.motor).chain([&joint.target]);
            if numbers.into_iter().any(|x| !x.is_finite()) || joint.motor.iter().any(|x| *x < 0.0) {
                return None;
            }
            let [low, high] = joint.limits;
            if joint.parent.is_some_and(|parent| parent >= number) || !(low <= high) {
                return None;
            }
        }
        let named = |b: &Binding<R>| {
            b.joints
                .iter()
                .zip(b.weights)
                .all(|(&j, w)| w == R::zero() || (j as usize) < joints.len())
        };
        if joints.is_empty()
            || joints.len() > rest.len().min(MOST)
            || bindings.iter().flat_map(|b| b.weights).any(|w| !(w >= R::zero() && w.is_finite()))
            || bindings.len() != rest.len()
            || !bindings.iter().all(named)
        {
            return None;
        }
        let count = joints.len();
        Some(Self {
            rest: rest.into(),
            bindings: bindings.into(),
            masses: masses.into(),
            transforms: vec![(Matrix3::identity(), Vector3::zeros()); count],
            axes: vec![(Vector3::zeros(), Vector3::zeros()); count],
            jacobian: vec![Vector3::zeros(); rest.len() * count],
            factor: vec![R::zero(); count * count],
            joints,
        })
    }

    /// The joints.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Sets the angle that a motor pulls a joint to.
    pub fn set_target(&mut self, joint: usize, angle: f64) {
        let [low, high] = self.joints[joint].limits;
        self.joints[joint].target = angle.clamp(low, high);
    }

    /// Sets the least and the largest angle of a joint; its target stays within.
    pub fn set_limits(&mut self, joint: usize, limits: [f64; 2]) {
        self.joints[joint].limits = limits;
        self.set_target(joint, self.joints[joint].target);
    }

    /// Sets the stiffness and the damping of a motor.
    pub fn set_motor(&mut self, joint: usize, motor: [f64; 2]) {
        self.joints[joint].motor = motor;
    }

    /// Angles at the start: zero, or the nearest that is allowed.
    pub fn start(&self, coordinates: &mut [Vector3<R>]) {
        for (joint, place) in self.joints.iter().zip(coordinates) {
            *place = Vector3::zeros();
            place.x = R::nearest(0f64.clamp(joint.limits[0], joint.limits[1]));
        }
    }

    /// Vertices from angles, and how they move with them.
    pub fn place(&mut self, coordinates: &[Vector3<R>], positions: &mut [Vector3<R>]) {
        let count = self.joints.len();
        for (number, joint) in self.joints.iter().enumerate() {
            let (parent, shift) = joint
                .parent
                .map_or((Matrix3::identity(), Vector3::zeros()), |parent| self.transforms[parent]);
            let axis = parent * joint.axis.map(R::nearest);
            let pivot = parent * joint.pivot.map(R::nearest) + shift;
            let turn = turn_about(axis, coordinates[number].x);
            self.transforms[number] = (turn * parent, turn * (shift - pivot) + pivot);
            self.axes[number] = (axis, pivot);
        }
        let vertices = positions.iter_mut().zip(&*self.rest).zip(&*self.bindings);
        for (((position, rest), binding), row) in vertices.zip(self.jacobian.chunks_mut(count)) {
            row.fill(Vector3::zeros());
            let total = binding.weights.iter().fold(R::zero(), |sum, weight| sum + *weight);
            if !(total > R::zero()) {
                *position = *rest;
                continue;
            }
            *position = Vector3::zeros();
            for (&joint, &weight) in binding.joints.iter().zip(&binding.weights) {
                if weight == R::zero() {
                    continue;
                }
                let (weight, (matrix, shift)) = (weight / total, self.transforms[joint as usize]);
                let place = matrix * rest + shift;
                *position += place * weight;
                let mut above = Some(joint as usize);
                while let Some(number) = above {
                    let (axis, pivot) = self.axes[number];
                    row[number] += axis.cross(&(place - pivot)) * weight;
                    above = self.joints[number].parent;
                }
            }
        }
    }

    /// Velocities of vertices from rates of angles.
    pub fn expand(&self, rates: &[Vector3<R>], velocities: &mut [Vector3<R>]) {
        let rows = self.jacobian.chunks(self.joints.len());
        for (velocity, row) in velocities.iter_mut().zip(rows) {
            let parts = row.iter().zip(rates);
            *velocity = parts.fold(Vector3::zeros(), |sum, (way, rate)| sum + way * rate.x);
        }
    }

    /// Torques about joints from forces on vertices; `torques` may be the same places as `forces` were read from.
    pub fn collapse(&self, forces: &[Vector3<R>], torques: &mut [Vector3<R>]) {
        let count = self.joints.len();
        for torque in torques.iter_mut() {
            *torque = Vector3::zeros();
        }
        for (force, row) in forces.iter().zip(self.jacobian.chunks(count)) {
            for (torque, way) in torques.iter_mut().zip(row) {
                torque.x += way.dot(force);
            }
        }
    }

    /// Rates after a step of this length under these torques, with motors that look ahead, and limits.
    pub fn advance_rates(
        &mut self,
        coordinates: &[Vector3<R>],
        rates: &mut [Vector3<R>],
        torques: &[Vector3<R>],
        step: R,
    ) {
        let count = self.joints.len();
        self.factorise(step);
        let mut right: [R; MOST] = [R::zero(); MOST];
        for (number, joint) in self.joints.iter().enumerate().take(MOST) {
            let [stiffness, _] = joint.motor.map(R::nearest);
            let behind = R::nearest(joint.target) - coordinates[number].x;
            right[number] = torques[number].x * step + stiffness * behind * step;
        }
        // The momentum that is there.
        for (vertex, row) in self.jacobian.chunks(count).enumerate() {
            let parts = row.iter().zip(&*rates);
            let velocity = parts.fold(Vector3::zeros(), |sum, (way, rate)| sum + way * rate.x);
            for (momentum, way) in right.iter_mut().zip(row) {
                *momentum += self.masses[vertex] * way.dot(&velocity);
            }
        }
        self.solve(&mut right);
        for (number, joint) in self.joints.iter().enumerate().take(MOST) {
            let [low, high] = joint.limits.map(R::nearest);
            let angle = coordinates[number].x;
            let rate = right[number];
            let reached = angle + rate * step;
            // At a limit it stops.
            let rate = if reached < low {
                (low - angle) / step
            } else if reached > high {
                (high - angle) / step
            } else {
                rate
            };
            rates[number] = Vector3::new(rate, R::zero(), R::zero());
        }
    }

    /// Moves angles; they stay within their limits.
    pub fn advance(&self, coordinates: &mut [Vector3<R>], moved: &[Vector3<R>]) {
        self.turn(coordinates, moved.iter().map(|way| way.x));
    }

    /// The same with nothing but angles.
    pub fn turn(&self, coordinates: &mut [Vector3<R>], angles: impl IntoIterator<Item = R>) {
        for ((joint, place), way) in self.joints.iter().zip(coordinates).zip(angles) {
            let angle = (place.x + way).to_f64().clamp(joint.limits[0], joint.limits[1]);
            place.x = R::nearest(angle);
        }
    }

    /// How far a vertex comes if each joint turns a little: by this much.
    pub fn way_of(&self, vertex: usize, turned: impl Fn(usize) -> R) -> Vector3<R> {
        let count = self.joints.len();
        let row = self.jacobian[vertex * count..][..count].iter().enumerate();
        row.fold(Vector3::zeros(), |sum, (joint, way)| sum + way * turned(joint))
    }

    /// How much the joints turn for impulses on vertices, motors included, and how far these give way along them.
    pub fn response(&self, impulses: impl Iterator<Item = (usize, Vector3<R>)>) -> ([R; MOST], R) {
        let count = self.joints.len();
        let mut torques = [R::zero(); MOST];
        for (vertex, impulse) in impulses {
            for (torque, way) in torques.iter_mut().zip(&self.jacobian[vertex * count..][..count]) {
                *torque += way.dot(&impulse);
            }
        }
        let mut turns = torques;
        self.solve(&mut turns);
        let both = torques.iter().zip(&turns).take(count);
        let yields = both.fold(R::zero(), |sum, (torque, turn)| sum + *torque * *turn);
        (turns, yields)
    }

    /// The energy of motion and of the motors.
    pub fn energy(&self, coordinates: &[Vector3<R>]) -> f64 {
        let joints = self.joints.iter().zip(coordinates);
        joints
            .map(|(joint, angle)| 0.5 * joint.motor[0] * (joint.target - angle.x.to_f64()).powi(2))
            .sum()
    }

    /// The Cholesky factor of Jᵀ m J + dt damping + dt² stiffness.
    fn factorise(&mut self, step: R) {
        let count = self.joints.len();
        let factor = &mut self.factor;
        factor.fill(R::zero());
        for (row, &mass) in self.jacobian.chunks(count).zip(&*self.masses) {
            for i in 0..count {
                for j in 0..=i {
                    factor[i * count + j] += mass * row[i].dot(&row[j]);
                }
            }
        }
        let largest = (0..count).fold(R::zero(), |most, i| most.max(factor[i * count + i]));
        let little = largest * R::nearest(1e-6) + R::nearest(1e-12);
        for (i, joint) in self.joints.iter().enumerate() {
            let [stiffness, damping] = joint.motor.map(R::nearest);
            factor[i * count + i] += little + step * damping + step * step * stiffness;
        }
        for i in 0..count {
            for j in 0..=i {
                let mut sum = factor[i * count + j];
                for k in 0..j {
                    sum -= factor[i * count + k] * factor[j * count + k];
                }
                factor[i * count + j] = if i == j {
                    sum.max(little * little).sqrt()
                } else {
                    sum / factor[j * count + j]
                };
            }
        }
    }

    fn solve(&self, right: &mut [R; MOST]) {
        let count = self.joints.len();
        for i in 0..count {
            for k in 0..i {
                right[i] -= self.factor[i * count + k] * right[k];
            }
            right[i] /= self.factor[i * count + i];
        }
        for i in (0..count).rev() {
            for k in i + 1..count {
                right[i] -= self.factor[k * count + i] * right[k];
            }
            right[i] /= self.factor[i * count + i];
        }
    }
}

/// Joints of one body at the most.
pub(crate) const MOST: usize = 256;

/// The rotation about an axis.
fn turn_about<R: Real>(axis: Vector3<R>, angle: R) -> Matrix3<R> {
    let (sine, cosine) = sin_cos(angle);
    let cross = axis.cross_matrix();
    Matrix3::identity() + cross * sine + cross * cross * (R::one() - cosine)
}
