//! Rotations without trigonometric functions.

use super::{Matrix3, Real, Vector3};

/// A rotation as a unit quaternion: the vector part, then the real part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotation<R>(pub [R; 4]);

impl<R: Real> Rotation<R> {
    /// The rotation that changes nothing.
    pub fn identity() -> Self {
        Self([R::zero(), R::zero(), R::zero(), R::one()])
    }

    /// First this one, then one by a small rotation vector x: about its direction, by the angle 2 atan(|x|/2).
    pub fn then(self, turn: Vector3<R>) -> Self {
        let [x, y, z, w] = self.0;
        let half = turn / R::nearest(2.0);
        let vector = Vector3::new(x, y, z);
        let imaginary = vector + half * w + half.cross(&vector);
        let real = w - half.dot(&vector);
        let length = (imaginary.norm_squared() + real * real).sqrt();
        if !(length > R::zero()) {
            return Self::identity();
        }
        Self([imaginary.x / length, imaginary.y / length, imaginary.z / length, real / length])
    }

    /// The matrix.
    pub fn matrix(self) -> Matrix3<R> {
        let [x, y, z, w] = self.0;
        let (one, two) = (R::one(), R::nearest(2.0));
        Matrix3::new(
            one - two * (y * y + z * z),
            two * (x * y - w * z),
            two * (x * z + w * y),
            two * (x * y + w * z),
            one - two * (x * x + z * z),
            two * (y * z - w * x),
            two * (x * z - w * y),
            two * (y * z + w * x),
            one - two * (x * x + y * y),
        )
    }

    /// The rotation closest to a matrix, found from a rotation that is near (Mueller, Bender, Chentanez, Macklin 2016).
    /// Works for flat and turned-over matrices too.
    pub fn nearest_to(matrix: &Matrix3<R>, start: Self) -> Self {
        let mut rotation = start;
        for _ in 0..100 {
            let (turn, alike) = rotation.turn_towards(matrix);
            let far = turn.norm_squared();
            // About half a turn away there is hardly a way to go either: any way will do.
            let stuck = alike < R::zero() && far < R::nearest(1e-4);
            let nudge = Vector3::new(0.9, 0.5, 0.3).map(R::nearest);
            rotation = rotation.then(if stuck { nudge } else { turn });
            if !stuck && far < R::default_epsilon() * R::default_epsilon() {
                break;
            }
        }
        rotation
    }

    /// How far to turn, and how well columns agree.
    fn turn_towards(self, matrix: &Matrix3<R>) -> (Vector3<R>, R) {
        let own = self.matrix();
        let columns = (0..3).map(|k| (own.column(k).into_owned(), matrix.column(k).into_owned()));
        let (cross, dot) = columns.fold((Vector3::zeros(), R::zero()), |(cross, dot), (a, b)| {
            (cross + a.cross(&b), dot + a.dot(&b))
        });
        (cross / (dot.abs() + R::nearest(1e-9)), dot)
    }
}
