//! Where bodies are, and how volumes look from another body.

use crate::error::DetectError;
use crate::math::{Matrix3, Real, Vector3};

/// The directions across all slabs: the axes, the diagonals of a cube, and those of its sides.
pub(super) const DIRECTIONS: [[f64; 3]; 13] = [
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 1.0, 1.0],
    [1.0, 1.0, -1.0],
    [1.0, -1.0, 1.0],
    [1.0, -1.0, -1.0],
    [1.0, 1.0, 0.0],
    [1.0, -1.0, 0.0],
    [1.0, 0.0, 1.0],
    [1.0, 0.0, -1.0],
    [0.0, 1.0, 1.0],
    [0.0, 1.0, -1.0],
];

/// Where a body is: `rotation * p + translation` for a point `p` of the model.
///
/// Meant for rigid motion. A matrix that stretches or shears works too; volumes are then less tight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement<R: Real> {
    rotation: Matrix3<R>,
    translation: Vector3<R>,
    /// From the world back to the model.
    inverse: Matrix3<f64>,
    /// How much larger the relative error of the inverse may be than that of the matrix.
    condition: f64,
}

/// How often a small change may grow when the matrix of a placement is inverted.
const WORST_CONDITION: f64 = 1e4;

impl<R: Real> Placement<R> {
    /// Refuses a matrix that flattens, or nearly so, and numbers that are not finite or too large.
    pub fn new(rotation: Matrix3<R>, translation: Vector3<R>) -> Result<Self, DetectError> {
        let wide = rotation.map(R::to_f64);
        let fits = |x: R| x.to_f64().abs() <= R::MAX_COORDINATE;
        let finite = translation.iter().chain(rotation.iter()).all(|&x| fits(x));
        let inverse = wide.try_inverse().unwrap_or_default();
        let condition = row_sum(&wide) * row_sum(&inverse);
        // Rounding can take it a little below 1; it is 0 if there is no inverse.
        if !finite || !(0.5..=WORST_CONDITION).contains(&condition) {
            return Err(DetectError::BadPlacement);
        }
        Ok(Self { rotation, translation, inverse, condition: condition.max(1.0) })
    }

    /// The body is where its model is.
    pub fn identity() -> Self {
        Self {
            rotation: Matrix3::identity(),
            translation: Vector3::zeros(),
            inverse: Matrix3::identity(),
            condition: 1.0,
        }
    }

    /// How far a model reaches in the world that reaches so far from its origin.
    pub(super) fn world_reach(&self, reach: f64) -> f64 {
        row_sum(&self.rotation.map(R::to_f64)) * reach + self.translation.map(R::to_f64).amax()
    }

    /// From the model into the world.
    pub(super) fn motion(&self, reach: f64) -> Motion<R> {
        Relative::new(&Self::identity(), self, [0.0, reach]).into_first
    }

    /// A point of the model in the world. Everything that is decided exactly is about these rounded positions.
    #[inline(always)]
    pub fn apply(&self, point: Vector3<R>) -> Vector3<R> {
        self.rotation * point + self.translation
    }
}

/// The largest sum of magnitudes in a row: how far a matrix can take a point with coordinates up to 1.
fn row_sum(matrix: &Matrix3<f64>) -> f64 {
    matrix.row_iter().map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

/// An affine map of volumes, with what rounding can amount to.
#[derive(Debug, Clone, Copy)]
pub struct Motion<R> {
    rows: [[R; 3]; 13],
    absolute_rows: [[R; 3]; 13],
    offsets: [R; 13],
    slacks: [R; 13],
    stretch: R,
}

impl<R: Real> Motion<R> {
    /// Volumes that reach `reach` from the origin in any coordinate are taken along and made larger by `slack`, and
    /// by what rounding can amount to.
    pub(super) fn new(
        matrix: &Matrix3<f64>,
        translation: &Vector3<f64>,
        reach: f64,
        slack: f64,
    ) -> Self {
        let epsilon = R::default_epsilon().to_f64();
        let mut motion = Self {
            rows: [[R::zero(); 3]; 13],
            absolute_rows: [[R::zero(); 3]; 13],
            offsets: [R::zero(); 13],
            slacks: [R::zero(); 13],
            stretch: R::zero(),
        };
        for (k, direction) in DIRECTIONS.iter().enumerate() {
            let direction = Vector3::from(*direction);
            let row = matrix.transpose() * direction;
            let offset = direction.dot(translation);
            motion.rows[k] = [row.x, row.y, row.z].map(R::nearest);
            motion.absolute_rows[k] = [row.x, row.y, row.z].map(|x| R::nearest(x.abs()));
            motion.offsets[k] = R::nearest(offset);
            let steps = 32.0 * epsilon * (row.abs().sum() * reach + offset.abs());
            motion.slacks[k] = R::nearest(slack * direction.abs().sum() + steps);
        }
        // The largest eigenvalue is at most the largest sum of magnitudes in a row.
        let stretch = row_sum(&(matrix.transpose() * matrix)).sqrt();
        motion.stretch = R::nearest(stretch * (1.0 + 8.0 * epsilon));
        motion
    }

    #[inline(always)]
    pub(super) fn row(&self, direction: usize) -> [R; 3] {
        self.rows[direction]
    }

    #[inline(always)]
    pub(super) fn absolute_row(&self, direction: usize) -> [R; 3] {
        self.absolute_rows[direction]
    }

    #[inline(always)]
    pub(super) fn offset(&self, direction: usize) -> R {
        self.offsets[direction]
    }

    #[inline(always)]
    pub(super) fn slack(&self, direction: usize) -> R {
        self.slacks[direction]
    }

    #[inline(always)]
    pub(super) fn stretch(&self) -> R {
        self.stretch
    }
}

/// How two placed bodies look from each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Relative<R> {
    /// From the model of the second into that of the first.
    pub into_first: Motion<R>,
    /// From the model of the first into that of the second.
    pub into_second: Motion<R>,
}

impl<R: Real> Relative<R> {
    /// For bodies whose models reach so far from their origins.
    pub fn new(first: &Placement<R>, second: &Placement<R>, reach: [f64; 2]) -> Self {
        // Positions in the world are rounded, each coordinate a few times.
        let rounding = |placement: &Placement<R>, reach: f64| {
            8.0 * R::default_epsilon().to_f64() * placement.world_reach(reach)
        };
        let slack = rounding(first, reach[0]) + rounding(second, reach[1]);
        let between = |from: &Placement<R>, to: &Placement<R>, reach: f64| {
            let apart = (from.translation.map(R::to_f64)) - to.translation.map(R::to_f64);
            let rotation = from.rotation.map(R::to_f64);
            let matrix = to.inverse * rotation;
            let inexact =
                32.0 * f64::EPSILON * to.condition * (row_sum(&rotation) * reach + apart.amax());
            let slack = (slack + inexact) * row_sum(&to.inverse);
            Motion::new(&matrix, &(to.inverse * apart), reach, slack)
        };
        Self {
            into_first: between(second, first, reach[1]),
            into_second: between(first, second, reach[0]),
        }
    }
}
