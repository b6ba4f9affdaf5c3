//! Boxes, k-DOPs and spheres, one at a time and side by side in a node.

use fearless_simd::prelude::*;

use super::motion::{DIRECTIONS, Motion};
use crate::math::{Bounds, Real, Vector3};

/// A bounding volume: [`Slabs`] or [`Sphere`]. Not meant to be implemented elsewhere.
///
/// The volumes of the children of a node stand side by side in a block, a lane each, so that one volume is
/// compared with all of them at once.
pub trait BoundingVolume<R: Real>: Copy + std::fmt::Debug + PartialEq + Send + Sync {
    /// The volumes of up to `A` children side by side.
    type Block<const A: usize>: Copy + std::fmt::Debug + Send + Sync;

    /// The volume that contains nothing and meets nothing.
    fn empty() -> Self;

    /// A volume around points, larger than needed by `slack` times their distance from the origin where rounding
    /// could make it too small.
    fn of(points: impl Iterator<Item = Vector3<R>> + Clone, slack: R) -> Self;

    /// A volume around both.
    #[must_use]
    fn union(self, other: Self) -> Self;

    /// Whether the point is inside or on the border.
    fn contains(&self, point: Vector3<R>) -> bool;

    /// How large it is, to descend into the larger one of two: about its surface area.
    fn size(&self) -> R;

    /// The smallest box around it.
    fn bounds(&self) -> Bounds<R>;

    /// A volume around this one where a motion takes it.
    #[must_use]
    #[inline(always)]
    fn moved(&self, motion: &Motion<R>) -> Self {
        let mut block = Self::empty_block::<1>();
        self.set_lane(&mut block, 0);
        Self::lane(&Self::moved_block(&block, motion), 0)
    }

    /// Empty volumes side by side.
    fn empty_block<const A: usize>() -> Self::Block<A>;

    /// One of the volumes side by side.
    fn lane<const A: usize>(block: &Self::Block<A>, lane: usize) -> Self;

    /// Replaces one of the volumes side by side.
    fn set_lane<const A: usize>(self, block: &mut Self::Block<A>, lane: usize);

    /// The numbers of the volumes side by side. Volumes are blended by blending their numbers.
    fn numbers<const A: usize>(block: &Self::Block<A>) -> &[[R; A]];

    /// The same, to be changed.
    fn numbers_mut<const A: usize>(block: &mut Self::Block<A>) -> &mut [[R; A]];

    /// Which of the volumes side by side this one meets, a bit each; touching counts.
    fn meeting<S: Simd, const A: usize>(&self, simd: S, block: &Self::Block<A>) -> u32;

    /// Volumes around those side by side where a motion takes them.
    fn moved_block<const A: usize>(block: &Self::Block<A>, motion: &Motion<R>) -> Self::Block<A>;

    /// Volumes around triangles side by side, given by corners, axes and lanes.
    #[inline(always)]
    fn around_triangles<const A: usize>(corners: &[[[R; A]; 3]; 3], slack: R) -> Self::Block<A> {
        let mut block = Self::empty_block::<A>();
        for lane in 0..A {
            let corner = |[x, y, z]: &[[R; A]; 3]| Vector3::new(x[lane], y[lane], z[lane]);
            Self::of(corners.iter().map(corner), slack).set_lane(&mut block, lane);
        }
        block
    }

    /// The volume around all those side by side.
    #[inline(always)]
    fn union_of_block<const A: usize>(block: &Self::Block<A>) -> Self {
        (0..A).fold(Self::empty(), |all, lane| all.union(Self::lane(block, lane)))
    }
}

/// A volume between `S` pairs of parallel planes: a box if there are three, else a k-DOP with k = 2 `S`.
///
/// Three: the axes. Seven (14-DOP): and the diagonals of a cube. Nine (18-DOP): the axes, and the diagonals of its
/// sides. Thirteen (26-DOP): all of these. Directions are not normalised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slabs<R, const S: usize> {
    low: [R; S],
    high: [R; S],
}

/// An axis-aligned box.
pub type BoundingBox<R> = Slabs<R, 3>;
/// Between seven pairs of planes.
pub type Dop14<R> = Slabs<R, 7>;
/// Between nine pairs of planes.
pub type Dop18<R> = Slabs<R, 9>;
/// Between thirteen pairs of planes.
pub type Dop26<R> = Slabs<R, 13>;

/// The larger of two numbers that are numbers.
#[inline(always)]
fn larger<R: Real>(a: R, b: R) -> R {
    if a > b { a } else { b }
}

/// The smaller of two numbers that are numbers.
#[inline(always)]
fn smaller<R: Real>(a: R, b: R) -> R {
    if a < b { a } else { b }
}

/// Bits of the lanes that are not positive.
#[inline(always)]
fn not_positive<R: Real, const A: usize>(lanes: &[R; A]) -> u32 {
    let mut mask = 0;
    for (lane, &value) in lanes.iter().enumerate() {
        mask |= u32::from(value <= R::zero()) << lane;
    }
    mask
}

impl<R: Real, const S: usize> Slabs<R, S> {
    /// Which of all [`DIRECTIONS`] is that of slab `k`.
    #[inline(always)]
    const fn direction(k: usize) -> usize {
        if S == 9 && k >= 3 { k + 4 } else { k }
    }
}

impl<R: Real, const S: usize> BoundingVolume<R> for Slabs<R, S> {
    /// The lower ends, then the upper ones.
    type Block<const A: usize> = [[[R; A]; S]; 2];

    #[inline(always)]
    fn empty() -> Self {
        let infinity = R::nearest(f64::INFINITY);
        Self { low: [infinity; S], high: [-infinity; S] }
    }

    #[inline(always)]
    fn of(points: impl Iterator<Item = Vector3<R>> + Clone, slack: R) -> Self {
        let mut all = Self::empty();
        for point in points {
            for axis in 0..3 {
                all.low[axis] = smaller(all.low[axis], point[axis]);
                all.high[axis] = larger(all.high[axis], point[axis]);
            }
            if S > 3 {
                let [x, y, z] = [point.x, point.y, point.z];
                let margin = slack * (x.abs() + y.abs() + z.abs());
                for k in 3..S {
                    let [a, b, c] = DIRECTIONS[Self::direction(k)].map(R::nearest);
                    let along = a * x + b * y + c * z;
                    all.low[k] = smaller(all.low[k], along - margin);
                    all.high[k] = larger(all.high[k], along + margin);
                }
            }
        }
        all
    }

    #[inline(always)]
    fn union(mut self, other: Self) -> Self {
        for k in 0..S {
            self.low[k] = smaller(self.low[k], other.low[k]);
            self.high[k] = larger(self.high[k], other.high[k]);
        }
        self
    }

    fn contains(&self, point: Vector3<R>) -> bool {
        let inside = |k: usize| {
            let [a, b, c] = DIRECTIONS[Self::direction(k)].map(R::nearest);
            let along = a * point.x + b * point.y + c * point.z;
            self.low[k] <= along && along <= self.high[k]
        };
        (0..S).all(inside)
    }

    #[inline(always)]
    fn size(&self) -> R {
        let [x, y, z] = [0, 1, 2].map(|k| self.high[k] - self.low[k]);
        x * y + y * z + z * x
    }

    fn bounds(&self) -> Bounds<R> {
        Bounds {
            min: Vector3::from_fn(|axis, _| self.low[axis]),
            max: Vector3::from_fn(|axis, _| self.high[axis]),
        }
    }

    #[inline(always)]
    fn empty_block<const A: usize>() -> Self::Block<A> {
        let Self { low, high } = Self::empty();
        [[[low[0]; A]; S], [[high[0]; A]; S]]
    }

    #[inline(always)]
    fn lane<const A: usize>([low, high]: &Self::Block<A>, lane: usize) -> Self {
        let mut one = Self::empty();
        for k in 0..S {
            one.low[k] = low[k][lane];
            one.high[k] = high[k][lane];
        }
        one
    }

    #[inline(always)]
    fn set_lane<const A: usize>(self, [low, high]: &mut Self::Block<A>, lane: usize) {
        for k in 0..S {
            low[k][lane] = self.low[k];
            high[k][lane] = self.high[k];
        }
    }

    #[inline(always)]
    fn numbers<const A: usize>(block: &Self::Block<A>) -> &[[R; A]] {
        block.as_flattened()
    }

    #[inline(always)]
    fn numbers_mut<const A: usize>(block: &mut Self::Block<A>) -> &mut [[R; A]] {
        block.as_flattened_mut()
    }

    #[inline(always)]
    fn around_triangles<const A: usize>([a, b, c]: &[[[R; A]; 3]; 3], slack: R) -> Self::Block<A> {
        let mut block = Self::empty_block::<A>();
        for k in 0..S {
            if k < 3 {
                for lane in 0..A {
                    let (p, q, r) = (a[k][lane], b[k][lane], c[k][lane]);
                    block[0][k][lane] = smaller(smaller(p, q), r);
                    block[1][k][lane] = larger(larger(p, q), r);
                }
                continue;
            }
            let [u, v, w] = DIRECTIONS[Self::direction(k)].map(R::nearest);
            for corner in [a, b, c] {
                for lane in 0..A {
                    let (x, y, z) = (corner[0][lane], corner[1][lane], corner[2][lane]);
                    let margin = slack * (x.abs() + y.abs() + z.abs());
                    let along = u * x + v * y + w * z;
                    block[0][k][lane] = smaller(block[0][k][lane], along - margin);
                    block[1][k][lane] = larger(block[1][k][lane], along + margin);
                }
            }
        }
        block
    }

    #[inline(always)]
    fn union_of_block<const A: usize>([low, high]: &Self::Block<A>) -> Self {
        let mut all = Self::empty();
        for k in 0..S {
            all.low[k] = low[k].into_iter().fold(all.low[k], smaller);
            all.high[k] = high[k].into_iter().fold(all.high[k], larger);
        }
        all
    }

    #[inline(always)]
    fn meeting<T: Simd, const A: usize>(&self, simd: T, [low, high]: &Self::Block<A>) -> u32 {
        // How far they are apart along the direction in which it is most; empty lanes are infinitely far.
        let mut gap = [R::nearest(f64::NEG_INFINITY); A];
        if A == 8 {
            let mut gap = R::Eight::splat(simd, gap[0]);
            for k in 0..S {
                let low = R::Eight::from_slice(simd, &low[k]);
                let high = R::Eight::from_slice(simd, &high[k]);
                let below = low - R::Eight::splat(simd, self.high[k]);
                let above = R::Eight::splat(simd, self.low[k]) - high;
                gap = gap.max(below).max(above);
            }
            return gap.simd_le(R::Eight::splat(simd, R::zero())).to_bitmask() as u32;
        }
        for k in 0..S {
            for lane in 0..A {
                let (below, above) = (low[k][lane] - self.high[k], self.low[k] - high[k][lane]);
                gap[lane] = larger(gap[lane], larger(below, above));
            }
        }
        not_positive(&gap)
    }

    /// The box of a volume is moved; the other slabs do not help.
    #[inline(always)]
    fn moved_block<const A: usize>(
        [low, high]: &Self::Block<A>,
        motion: &Motion<R>,
    ) -> Self::Block<A> {
        let half = R::nearest(0.5);
        let mut moved = Self::empty_block::<A>();
        let (mut middle, mut extent) = ([[R::zero(); A]; 3], [[R::zero(); A]; 3]);
        for axis in 0..3 {
            for lane in 0..A {
                middle[axis][lane] = (low[axis][lane] + high[axis][lane]) * half;
                extent[axis][lane] = (high[axis][lane] - low[axis][lane]) * half;
            }
        }
        for k in 0..S {
            let direction = Self::direction(k);
            let ([a, b, c], [p, q, r]) = (motion.row(direction), motion.absolute_row(direction));
            let (offset, slack) = (motion.offset(direction), motion.slack(direction));
            for lane in 0..A {
                let along =
                    a * middle[0][lane] + b * middle[1][lane] + c * middle[2][lane] + offset;
                let reach = p * extent[0][lane] + q * extent[1][lane] + r * extent[2][lane] + slack;
                // The middle of an empty lane is not a number, its extent is minus infinity.
                let full = extent[0][lane] >= R::zero();
                moved[0][k][lane] = if full { along - reach } else { low[k][lane] };
                moved[1][k][lane] = if full { along + reach } else { high[k][lane] };
            }
        }
        moved
    }
}

/// A sphere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sphere<R: Real> {
    center: Vector3<R>,
    /// Minus infinity if it contains nothing.
    radius: R,
}

impl<R: Real> BoundingVolume<R> for Sphere<R> {
    /// The three coordinates of the centre, then the radius.
    type Block<const A: usize> = [[R; A]; 4];

    #[inline(always)]
    fn empty() -> Self {
        Self { center: Vector3::zeros(), radius: R::nearest(f64::NEG_INFINITY) }
    }

    /// Around the middle of the box of the points.
    #[inline(always)]
    fn of(points: impl Iterator<Item = Vector3<R>> + Clone, slack: R) -> Self {
        let bounds = Bounds::of(points.clone());
        if bounds.is_empty() {
            return Self::empty();
        }
        let center = bounds.center();
        let (mut square, mut reach) = (R::zero(), R::zero());
        for point in points {
            square = larger(square, (point - center).norm_squared());
            reach = larger(reach, point.x.abs() + point.y.abs() + point.z.abs());
        }
        // The centre is no farther from the origin than the box.
        let radius = square.sqrt();
        Self { center, radius: radius + slack * (radius + R::nearest(4.0) * reach) }
    }

    #[inline(always)]
    fn union(self, other: Self) -> Self {
        let [small, large] = if self.radius < other.radius { [self, other] } else { [other, self] };
        if small.radius < R::zero() {
            return large;
        }
        let between = small.center - large.center;
        let distance = between.norm();
        if distance + small.radius <= large.radius {
            return large;
        }
        let radius = (distance + small.radius + large.radius) * R::nearest(0.5);
        let center = large.center + between * ((radius - large.radius) / distance);
        // Rounding, of the centre too, makes up a few units in the last place of all that came in.
        let margin = R::nearest(8.0) * R::default_epsilon();
        let reach = center.abs().sum() + large.center.abs().sum() + radius;
        Self { center, radius: radius + margin * reach }
    }

    fn contains(&self, point: Vector3<R>) -> bool {
        self.radius >= R::zero()
            && (point - self.center).norm_squared() <= self.radius * self.radius
    }

    #[inline(always)]
    fn size(&self) -> R {
        self.radius * self.radius
    }

    fn bounds(&self) -> Bounds<R> {
        if self.radius < R::zero() {
            return Bounds::empty();
        }
        Bounds { min: self.center, max: self.center }.grown(self.radius)
    }

    #[inline(always)]
    fn empty_block<const A: usize>() -> Self::Block<A> {
        let zero = [R::zero(); A];
        [zero, zero, zero, [R::nearest(f64::NEG_INFINITY); A]]
    }

    #[inline(always)]
    fn lane<const A: usize>([x, y, z, radius]: &Self::Block<A>, lane: usize) -> Self {
        Self { center: Vector3::new(x[lane], y[lane], z[lane]), radius: radius[lane] }
    }

    #[inline(always)]
    fn set_lane<const A: usize>(self, [x, y, z, radius]: &mut Self::Block<A>, lane: usize) {
        (x[lane], y[lane], z[lane]) = (self.center.x, self.center.y, self.center.z);
        radius[lane] = self.radius;
    }

    #[inline(always)]
    fn numbers<const A: usize>(block: &Self::Block<A>) -> &[[R; A]] {
        block
    }

    #[inline(always)]
    fn numbers_mut<const A: usize>(block: &mut Self::Block<A>) -> &mut [[R; A]] {
        block
    }

    #[inline(always)]
    fn meeting<T: Simd, const A: usize>(
        &self,
        _simd: T,
        [x, y, z, radius]: &Self::Block<A>,
    ) -> u32 {
        let mut gap = [R::zero(); A];
        for lane in 0..A {
            let (dx, dy, dz) =
                (x[lane] - self.center.x, y[lane] - self.center.y, z[lane] - self.center.z);
            let reach = larger(radius[lane] + self.radius, -R::one());
            let signed = if reach < R::zero() { -R::one() } else { reach * reach };
            gap[lane] = dx * dx + dy * dy + dz * dz - signed;
        }
        not_positive(&gap)
    }

    #[inline(always)]
    fn moved_block<const A: usize>(block: &Self::Block<A>, motion: &Motion<R>) -> Self::Block<A> {
        let mut moved = Self::empty_block::<A>();
        for (axis, lanes) in moved[..3].iter_mut().enumerate() {
            let ([a, b, c], offset) = (motion.row(axis), motion.offset(axis));
            for lane in 0..A {
                lanes[lane] = a * block[0][lane] + b * block[1][lane] + c * block[2][lane] + offset;
            }
        }
        let slack = motion.slack(0) + motion.slack(1) + motion.slack(2);
        for lane in 0..A {
            moved[3][lane] = block[3][lane] * motion.stretch() + slack;
        }
        moved
    }
}
