use super::{Real, Vector3};

/// An axis-aligned box, closed on all sides. [`Bounds::empty`] contains nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds<R: Real> {
    /// Smallest coordinates.
    pub min: Vector3<R>,
    /// Largest coordinates.
    pub max: Vector3<R>,
}

impl<R: Real> Bounds<R> {
    /// The box that contains nothing: the neutral element of [`union`](Self::union).
    pub fn empty() -> Self {
        let infinity = R::nearest(f64::INFINITY);
        Self { min: Vector3::repeat(infinity), max: Vector3::repeat(-infinity) }
    }

    /// The smallest box around the points; empty if there are none.
    pub fn of(points: impl IntoIterator<Item = Vector3<R>>) -> Self {
        points.into_iter().fold(Self::empty(), Self::including)
    }

    /// The smallest box that contains this one and the point.
    #[must_use]
    pub fn including(self, point: Vector3<R>) -> Self {
        Self { min: self.min.inf(&point), max: self.max.sup(&point) }
    }

    /// The smallest box that contains both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.inf(&other.min), max: self.max.sup(&other.max) }
    }

    /// What both have in common; empty if they do not meet, flat if they touch.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self { min: self.min.sup(&other.min), max: self.max.inf(&other.max) }
    }

    /// Grown by `margin` on every side.
    #[must_use]
    pub fn grown(self, margin: R) -> Self {
        Self { min: self.min.add_scalar(-margin), max: self.max.add_scalar(margin) }
    }

    /// How far along a curve through the box that keeps what is near together (Morton's) a point is: thirty bits.
    pub(crate) fn along_curve(&self, point: Vector3<R>) -> u64 {
        let extent = self.extent();
        (0..3).fold(0, |key, axis| {
            let share = ((point[axis] - self.min[axis]) / extent[axis]).to_f64();
            // What is not a number becomes zero.
            let mut bits = (share * 1024.0).clamp(0.0, 1023.0) as u64;
            bits = (bits | bits << 16) & 0x0300_00ff;
            bits = (bits | bits << 8) & 0x0300_f00f;
            bits = (bits | bits << 4) & 0x030c_30c3;
            bits = (bits | bits << 2) & 0x0924_9249;
            key | bits << axis
        })
    }

    /// Whether no point is inside, which is so as well if a coordinate is not a number.
    pub fn is_empty(&self) -> bool {
        !(0..3).all(|axis| self.min[axis] <= self.max[axis])
    }

    /// Whether the boxes have a point in common; touching counts.
    pub fn overlaps(&self, other: &Self) -> bool {
        !self.intersection(*other).is_empty()
    }

    /// Whether the point is inside or on the border.
    pub fn contains(&self, point: Vector3<R>) -> bool {
        (0..3).all(|axis| self.min[axis] <= point[axis] && point[axis] <= self.max[axis])
    }

    /// Whether the whole of `other` is strictly inside.
    pub fn encloses(&self, other: &Self) -> bool {
        (0..3).all(|axis| self.min[axis] < other.min[axis] && other.max[axis] < self.max[axis])
    }

    /// Edge lengths; negative where the box is empty.
    pub fn extent(&self) -> Vector3<R> {
        self.max - self.min
    }

    /// The middle.
    pub fn center(&self) -> Vector3<R> {
        let half = R::nearest(0.5);
        self.min * half + self.max * half
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(low: f64, high: f64) -> Bounds<f64> {
        Bounds { min: Vector3::repeat(low), max: Vector3::repeat(high) }
    }

    #[test]
    fn empty_is_neutral_and_contains_nothing() {
        let empty = Bounds::<f64>::empty();
        assert!(empty.is_empty());
        assert_eq!(empty.union(cube(0.0, 1.0)), cube(0.0, 1.0));
        assert!(!empty.overlaps(&cube(0.0, 1.0)) && !empty.contains(Vector3::zeros()));
        assert!(Bounds::<f32>::of([]).is_empty());
    }

    #[test]
    fn touching_boxes_overlap_and_have_a_flat_intersection() {
        let touching = cube(0.0, 1.0).intersection(cube(1.0, 2.0));
        assert!(!touching.is_empty());
        assert_eq!(touching.extent(), Vector3::zeros());
        assert!(cube(0.0, 1.0).intersection(cube(1.1, 2.0)).is_empty());
    }

    #[test]
    fn enclosing_is_strict() {
        assert!(cube(0.0, 3.0).encloses(&cube(1.0, 2.0)));
        assert!(!cube(0.0, 3.0).encloses(&cube(0.0, 2.0)));
        assert_eq!(cube(1.0, 3.0).center(), Vector3::repeat(2.0));
        assert_eq!(cube(1.0, 2.0).grown(1.0), cube(0.0, 3.0));
    }
}
