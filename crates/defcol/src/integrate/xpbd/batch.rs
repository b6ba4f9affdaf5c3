//! Eight finite elements at a time.
//!
//! Elements of a batch share no vertex, so that each is solved as if it were alone, and one batch after the other
//! (Gauss-Seidel). Only sums, products, quotients and roots of single lanes are used: the same bits on every machine.

#![allow(
    clippy::needless_range_loop,
    reason = "several arrays at a time; iterators are not inlined where SIMD is chosen at run time"
)]

use fearless_simd::{Level, Simd, prelude::*};

use crate::math::{Matrix3, Real, Vector3, dispatch};
use crate::model::{ConstitutiveLaw, Elements, shape_gradients};

/// Elements of a batch.
pub(super) const LANES: usize = 8;

/// Elements are not pressed together below this share of their volume, whatever their law: one corner that carries a heap
/// would be pushed through them.
pub(super) const LEAST_VOLUME: f64 = 0.1;

/// By which share of its volume an element that is below all the same gets larger in a second, at the least.
const RECOVERY: f64 = 5.0;

type Lanes<R> = [R; LANES];

/// Rotation and strain of the elements of a batch that the last step left.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchState<R> {
    /// Unit quaternions, real part last.
    rotation: [Lanes<R>; 4],
    strain: [Lanes<R>; 6],
}

impl<R: Real> Default for BatchState<R> {
    fn default() -> Self {
        let zero = [R::zero(); LANES];
        Self { rotation: [zero, zero, zero, [R::one(); LANES]], strain: [zero; 6] }
    }
}

/// Up to eight elements that share no vertex, with what follows from their materials and the length of a step.
#[derive(Debug, Clone)]
pub(super) struct Batch<R> {
    law: ConstitutiveLaw,
    count: usize,
    /// Numbers of vertices, counted from the first of the group.
    corners: [[u32; LANES]; 4],
    /// Body and element of each, to find materials again.
    sources: [(u32, u32); LANES],
    inverse: [Lanes<R>; 9],
    /// The strain that stress takes away within a step: c (aᵢ + aⱼ) / 2 of [`Batch::prepare`].
    relief: [Lanes<R>; 6],
    shear: Lanes<R>,
    lambda: Lanes<R>,
    ratio: Lanes<R>,
    weight: Lanes<R>,
    kappa: Lanes<R>,
    inverse_masses: [Lanes<R>; 4],
}

impl<R: Real> Batch<R> {
    /// Elements of one law: their bodies, numbers and corners in the group.
    pub fn new(law: ConstitutiveLaw, elements: &[(u32, u32, [u32; 4])]) -> Self {
        let zero = [R::zero(); LANES];
        let (first_body, first_number, first_corners) = elements[0];
        let mut batch = Self {
            law,
            count: elements.len(),
            corners: first_corners.map(|corner| [corner; LANES]),
            sources: [(first_body, first_number); LANES],
            inverse: [zero; 9],
            relief: [zero; 6],
            shear: zero,
            lambda: zero,
            ratio: zero,
            weight: zero,
            kappa: [R::one(); LANES],
            inverse_masses: [zero; 4],
        };
        for (lane, &(body, number, corners)) in elements.iter().enumerate() {
            batch.sources[lane] = (body, number);
            for (row, corner) in batch.corners.iter_mut().zip(corners) {
                row[lane] = corner;
            }
        }
        batch
    }

    /// Computes what depends on the material and the length of a step.
    ///
    /// With c = dt² V and A = Σ w b bᵀ (b the gradients of the shape functions, w inverse masses), the implicit step of one
    /// element leaves the strain S = S₀ − c sym(Σ A) and the stress Σ = 2μ S + λ tr S in its rotated frame; what is not
    /// symmetric turns it. In the frame at rest in which A is diagonal this is solved number by number:
    /// Σᵢⱼ = 2μ S₀ᵢⱼ / (1 + μ c (aᵢ + aⱼ)), and on the diagonal Σᵢᵢ = gᵢ (rᵢ − s) with gᵢ = 1 / (1 + 2μ c aᵢ),
    /// rᵢ = 2μ S₀ᵢᵢ + λ tr S₀ and s = λ/2μ Σ (1−gᵢ) rᵢ / (1 + λ/2μ Σ (1−gᵢ)). Damping over the time β puts
    /// κ S₀ − (κ−1) S₋ in the place of S₀ and κ c in that of c, with κ = 1 + β/dt and S₋ the strain a step ago.
    ///
    /// Where the law is not linear in S, what its stress has more than the linear one at S₀ is added to it, see
    /// [`Batch::beyond_linear`].
    pub fn prepare<'a>(
        &mut self,
        elements_of: impl Fn(u32) -> Option<&'a Elements<R>>,
        inverse_masses: &[R],
        step: R,
    ) {
        for lane in 0..LANES {
            let (body, number) = self.sources[lane];
            let Some(elements) = elements_of(body) else { continue };
            let number = number as usize;
            let (mu, lambda) = elements.lame();
            let mut inverse = elements.inverse()[number];
            let kappa = R::one() + elements.damping / step;
            let volume = elements.volumes()[number];
            let c = step * step * volume;
            self.kappa[lane] = kappa;
            let mut a = Matrix3::zeros();
            let gradients = shape_gradients(&inverse);
            for (corner, gradient) in gradients.iter().enumerate() {
                let w = inverse_masses[self.corners[corner][lane] as usize];
                self.inverse_masses[corner][lane] = w;
                a += gradient * gradient.transpose() * w;
            }
            let eigen = a.symmetric_eigen();
            // A rotation, not a reflection.
            let mut axes = eigen.eigenvectors;
            if axes.determinant() < R::zero() {
                axes.neg_mut();
            }
            inverse *= axes;
            let (half, two) = (R::nearest(0.5), R::nearest(2.0));
            let a = eigen.eigenvalues;
            for k in 0..3 {
                self.relief[k][lane] = c * a[k];
                self.relief[3 + k][lane] = c * half * (a[k] + a[(k + 1) % 3]);
            }
            self.shear[lane] = two * mu;
            self.lambda[lane] = lambda;
            self.ratio[lane] = lambda / (two * mu);
            self.weight[lane] = c;
            for (k, lanes) in self.inverse.iter_mut().enumerate() {
                lanes[lane] = inverse[(k / 3, k % 3)];
            }
        }
    }

    /// Solves all elements of the batches, one batch after the other. Returns the least volume that one is left with.
    /// While they are `tangled` they are pressed together as far as they have to.
    pub fn solve_all(
        level: Level,
        batches: &[Self],
        states: &mut [BatchState<R>],
        before: &[Vector3<R>],
        moved: &mut [Vector3<R>],
        step: R,
        tangled: bool,
    ) -> R {
        let gain = (!tangled).then(|| R::nearest(RECOVERY) * step);
        dispatch!(level, simd => {
            let mut least = R::one();
            for (batch, state) in batches.iter().zip(states.iter_mut()) {
                least = least.min(batch.solve(simd, state, before, moved, gain));
            }
            least
        })
    }

    #[inline(always)]
    fn load<S: Simd, const N: usize>(simd: S, lanes: &[Lanes<R>; N]) -> [R::Eight<S>; N] {
        let mut values = [R::Eight::<S>::splat(simd, R::zero()); N];
        for k in 0..N {
            values[k] = R::Eight::<S>::from_slice(simd, &lanes[k]);
        }
        values
    }

    /// Edges from the first corner.
    #[inline(always)]
    fn gather<S: Simd>(&self, simd: S, positions: &[Vector3<R>]) -> [[R::Eight<S>; 3]; 3] {
        let mut places = [[[R::zero(); LANES]; 3]; 4];
        for (row, place) in self.corners.iter().zip(&mut places) {
            for lane in 0..LANES {
                let position = &positions[row[lane] as usize];
                place[0][lane] = position.x;
                place[1][lane] = position.y;
                place[2][lane] = position.z;
            }
        }
        let origin = Self::load(simd, &places[0]);
        let mut edges = [origin; 3];
        for k in 0..3 {
            let corner = Self::load(simd, &places[k + 1]);
            for r in 0..3 {
                edges[k][r] = corner[r] - origin[r];
            }
        }
        edges
    }

    /// The deformation gradient: rows, then columns.
    #[inline(always)]
    fn gradient<S: Simd>(
        edges: &[[R::Eight<S>; 3]; 3],
        inverse: &[R::Eight<S>; 9],
    ) -> [[R::Eight<S>; 3]; 3] {
        let mut f = [edges[0]; 3];
        for r in 0..3 {
            for c in 0..3 {
                f[r][c] = edges[0][r] * inverse[c]
                    + edges[1][r] * inverse[3 + c]
                    + edges[2][r] * inverse[6 + c];
            }
        }
        f
    }

    /// Moves the corners by H b w, where H is a matrix, b the gradients of the shape functions and w inverse masses.
    #[inline(always)]
    fn scatter<S: Simd>(
        &self,
        h: &[[R::Eight<S>; 3]; 3],
        inverse: &[R::Eight<S>; 9],
        weights: &[R::Eight<S>; 4],
        moved: &mut [Vector3<R>],
    ) {
        let mut moves = [[[R::zero(); LANES]; 3]; 4];
        for r in 0..3 {
            let mut sum = h[r][0] * inverse[0] + h[r][1] * inverse[1] + h[r][2] * inverse[2];
            (sum * weights[1]).store_slice(&mut moves[1][r]);
            for k in 1..3 {
                let way = h[r][0] * inverse[3 * k]
                    + h[r][1] * inverse[3 * k + 1]
                    + h[r][2] * inverse[3 * k + 2];
                (way * weights[k + 1]).store_slice(&mut moves[k + 1][r]);
                sum += way;
            }
            (-(sum * weights[0])).store_slice(&mut moves[0][r]);
        }
        for (row, way) in self.corners.iter().zip(&moves) {
            for lane in 0..self.count {
                let vertex = &mut moved[row[lane] as usize];
                vertex.x += way[0][lane];
                vertex.y += way[1][lane];
                vertex.z += way[2][lane];
            }
        }
    }

    /// Returns the least volume that an element is left with. What is below the least that is kept gains so much, if any.
    #[inline(always)]
    fn solve<S: Simd>(
        &self,
        simd: S,
        state: &mut BatchState<R>,
        before: &[Vector3<R>],
        moved: &mut [Vector3<R>],
        gain: Option<R>,
    ) -> R {
        let one = R::Eight::<S>::splat(simd, R::one());
        let inverse = Self::load(simd, &self.inverse);
        let mut edges = self.gather(simd, before);
        let ways = self.gather(simd, moved);
        for k in 0..3 {
            for r in 0..3 {
                edges[k][r] += ways[k][r];
            }
        }
        let f = Self::gradient::<S>(&edges, &inverse);
        // The rotation follows: one step of Mueller et al. 2016 from that of the last solve.
        let q = Self::load(simd, &state.rotation);
        let q = Self::follow(simd, q, &f);
        for k in 0..4 {
            q[k].store_slice(&mut state.rotation[k]);
        }
        let r = Self::matrix::<S>(one, &q);
        let kappa = R::Eight::<S>::from_slice(simd, &self.kappa);
        let before = Self::load(simd, &state.strain);
        let relief = Self::load(simd, &self.relief);
        let shear = R::Eight::<S>::from_slice(simd, &self.shear);
        let lambda = R::Eight::<S>::from_slice(simd, &self.lambda);
        let ratio = R::Eight::<S>::from_slice(simd, &self.ratio);
        // The symmetric part of the strain: the diagonal, then 01, 12, 20.
        let mut strain = before;
        for i in 0..3 {
            let j = (i + 1) % 3;
            let own = r[0][i] * f[0][i] + r[1][i] * f[1][i] + r[2][i] * f[2][i];
            let one_way = r[0][i] * f[0][j] + r[1][i] * f[1][j] + r[2][i] * f[2][j];
            let other = r[0][j] * f[0][i] + r[1][j] * f[1][i] + r[2][j] * f[2][i];
            strain[i] = own - one;
            strain[3 + i] = (one_way + other) * R::nearest(0.5);
        }
        let (more, stiffer) = Self::beyond_linear(simd, self.law, &strain, shear, lambda);
        let stiffness = shear * (kappa + stiffer);
        let mut soften = relief;
        for k in 0..6 {
            soften[k] = one / (one + stiffness * relief[k]);
        }
        let now = strain;
        for k in 0..6 {
            strain[k] = kappa * strain[k] - (kappa - one) * before[k];
        }
        let pressure = (strain[0] + strain[1] + strain[2]) * lambda;
        let mut stress = strain;
        let mut sum = R::Eight::<S>::splat(simd, R::zero());
        let mut rest = sum;
        for k in 0..3 {
            stress[k] = strain[k] * shear + pressure + more[k];
            sum += (one - soften[k]) * stress[k];
            rest += one - soften[k];
            stress[3 + k] = (strain[3 + k] * shear + more[3 + k]) * soften[3 + k];
        }
        sum *= ratio / (one + ratio * rest);
        for k in 0..3 {
            stress[k] = (stress[k] - sum) * soften[k];
        }
        // The strain that is left.
        let mut left = now;
        for k in 0..6 {
            left[k] = now[k] - stress[k] * relief[k];
        }
        let (volume, cofactor) = Self::volume::<S>(simd, &left);
        let mut volumes = [R::zero(); LANES];
        volume.store_slice(&mut volumes);
        let smallest = volumes.iter().fold(R::one(), |least, volume| least.min(*volume));
        if let Some(gain) = gain.filter(|_| smallest < R::nearest(LEAST_VOLUME)) {
            let (was, _) = Self::volume::<S>(simd, &before);
            let least = R::Eight::<S>::splat(simd, R::nearest(LEAST_VOLUME));
            let zero = R::Eight::<S>::splat(simd, R::zero());
            let missing = ((was + gain).min(least) - volume).max(zero);
            let mut yields = cofactor;
            for k in 0..6 {
                yields[k] = cofactor[k] * relief[k];
            }
            // Flat elements and those that are held at all corners yield nothing.
            let pressure = missing / (Self::dot::<S>(&cofactor, &yields) + R::nearest(1e-30));
            for k in 0..6 {
                stress[k] -= pressure * cofactor[k];
                left[k] += pressure * yields[k];
            }
        }
        for k in 0..6 {
            left[k].store_slice(&mut state.strain[k]);
        }
        let weight = R::Eight::<S>::from_slice(simd, &self.weight);
        let rows = [
            [stress[0], stress[3], stress[5]],
            [stress[3], stress[1], stress[4]],
            [stress[5], stress[4], stress[2]],
        ];
        let mut h = f;
        for i in 0..3 {
            for j in 0..3 {
                let own = r[i][0] * rows[0][j] + r[i][1] * rows[1][j] + r[i][2] * rows[2][j];
                h[i][j] = -(own * weight);
            }
        }
        let weights = Self::load(simd, &self.inverse_masses);
        self.scatter::<S>(&h, &inverse, &weights, moved);
        smallest
    }

    /// One step of the quaternion towards the rotation of the deformation gradient.
    #[inline(always)]
    fn follow<S: Simd>(
        simd: S,
        q: [R::Eight<S>; 4],
        f: &[[R::Eight<S>; 3]; 3],
    ) -> [R::Eight<S>; 4] {
        let one = R::Eight::<S>::splat(simd, R::one());
        let r = Self::matrix::<S>(one, &q);
        let zero = R::Eight::<S>::splat(simd, R::zero());
        let mut turn = [zero; 3];
        let mut dot = zero;
        for c in 0..3 {
            turn[0] += r[1][c] * f[2][c] - r[2][c] * f[1][c];
            turn[1] += r[2][c] * f[0][c] - r[0][c] * f[2][c];
            turn[2] += r[0][c] * f[1][c] - r[1][c] * f[0][c];
            dot += r[0][c] * f[0][c] + r[1][c] * f[1][c] + r[2][c] * f[2][c];
        }
        let scale = (dot.abs() + R::nearest(1e-9)) * R::nearest(2.0);
        let [x, y, z] = [turn[0] / scale, turn[1] / scale, turn[2] / scale];
        let mut next = [
            q[0] + q[3] * x + y * q[2] - z * q[1],
            q[1] + q[3] * y + z * q[0] - x * q[2],
            q[2] + q[3] * z + x * q[1] - y * q[0],
            q[3] - x * q[0] - y * q[1] - z * q[2],
        ];
        let length = next[0] * next[0] + next[1] * next[1] + next[2] * next[2] + next[3] * next[3];
        let length = length.sqrt();
        for part in &mut next {
            *part /= length;
        }
        next
    }

    #[inline(always)]
    fn matrix<S: Simd>(one: R::Eight<S>, q: &[R::Eight<S>; 4]) -> [[R::Eight<S>; 3]; 3] {
        let [x, y, z, w] = *q;
        let (dx, dy, dz) = (x + x, y + y, z + z);
        [
            [one - (dy * y + dz * z), dx * y - dz * w, dx * z + dy * w],
            [dx * y + dz * w, one - (dx * x + dz * z), dy * z - dx * w],
            [dx * z - dy * w, dy * z + dx * w, one - (dx * x + dy * y)],
        ]
    }

    /// The volume at a strain, as a share of that at rest, and how it changes with the strain.
    #[inline(always)]
    fn volume<S: Simd>(simd: S, strain: &[R::Eight<S>; 6]) -> (R::Eight<S>, [R::Eight<S>; 6]) {
        let one = R::Eight::<S>::splat(simd, R::one());
        let stretch = [strain[0] + one, strain[1] + one, strain[2] + one];
        let mut cofactor = *strain;
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            // Next to the diagonal: 3 is 01, 4 is 12, 5 is 20.
            let (ij, jk, ki) = (strain[3 + i], strain[3 + j], strain[3 + k]);
            cofactor[i] = stretch[j] * stretch[k] - jk * jk;
            cofactor[3 + i] = jk * ki - ij * stretch[k];
        }
        let volume = stretch[0] * cofactor[0] + strain[3] * cofactor[3] + strain[5] * cofactor[5];
        (volume, cofactor)
    }

    /// What the stress of a law has more at a strain than that of the linear one: both in the frame that turns with the
    /// element, symmetric, the diagonal first. And by how much it is stiffer at the most, or half of that.
    #[inline(always)]
    fn beyond_linear<S: Simd>(
        simd: S,
        law: ConstitutiveLaw,
        strain: &[R::Eight<S>; 6],
        shear: R::Eight<S>,
        lambda: R::Eight<S>,
    ) -> ([R::Eight<S>; 6], R::Eight<S>) {
        let zero = R::Eight::<S>::splat(simd, R::zero());
        match law {
            ConstitutiveLaw::Corotational => ([zero; 6], zero),
            ConstitutiveLaw::Hencky => Self::hencky::<S>(simd, strain, shear, lambda),
            ConstitutiveLaw::NeoHookean => Self::neo_hookean::<S>(simd, strain, shear, lambda),
        }
    }

    #[inline(always)]
    fn hencky<S: Simd>(
        simd: S,
        strain: &[R::Eight<S>; 6],
        shear: R::Eight<S>,
        lambda: R::Eight<S>,
    ) -> ([R::Eight<S>; 6], R::Eight<S>) {
        let one = R::Eight::<S>::splat(simd, R::one());
        let square = Self::dot::<S>(strain, strain);
        let shrunk = one / (square + one).sqrt();
        let mut bounded = *strain;
        for k in 0..6 {
            bounded[k] *= shrunk;
        }
        let squared = Self::product::<S>(&bounded, &bounded);
        let cubed = Self::product::<S>(&bounded, &squared);
        let (mut logarithm, mut slope) = (bounded, bounded);
        for k in 0..6 {
            logarithm[k] =
                bounded[k] - squared[k] * R::nearest(0.5) + cubed[k] * R::nearest(1.0 / 3.0);
            slope[k] = squared[k] - bounded[k];
        }
        let pressure = (logarithm[0] + logarithm[1] + logarithm[2]) * lambda;
        let mut stress = logarithm;
        for k in 0..6 {
            stress[k] *= shear;
        }
        for k in 0..3 {
            stress[k] += pressure;
            slope[k] += one;
        }
        let mut more = Self::product::<S>(&stress, &slope);
        let pressure = (bounded[0] + bounded[1] + bounded[2]) * lambda;
        for k in 0..3 {
            more[k] -= bounded[k] * shear + pressure;
            more[3 + k] -= bounded[3 + k] * shear;
        }
        let along = Self::dot::<S>(&more, &bounded);
        for k in 0..6 {
            more[k] = (more[k] - bounded[k] * along) * shrunk;
        }
        let size = one - shrunk * shrunk;
        (more, size.sqrt() + size * R::nearest(6.0))
    }

    #[inline(always)]
    fn neo_hookean<S: Simd>(
        simd: S,
        strain: &[R::Eight<S>; 6],
        shear: R::Eight<S>,
        lambda: R::Eight<S>,
    ) -> ([R::Eight<S>; 6], R::Eight<S>) {
        let one = R::Eight::<S>::splat(simd, R::one());
        let mu = shear * R::nearest(0.5);
        let (volume, cofactor) = Self::volume::<S>(simd, strain);
        let pressure = (volume - one) * (lambda + mu) - mu;
        let linear = (strain[0] + strain[1] + strain[2]) * lambda;
        let mut more = cofactor;
        for k in 0..3 {
            more[k] = (strain[k] + one) * mu + cofactor[k] * pressure - strain[k] * shear - linear;
            more[3 + k] = cofactor[3 + k] * pressure - strain[3 + k] * mu;
        }
        let square = Self::dot::<S>(strain, strain);
        (more, square.sqrt() + square * R::nearest(6.0))
    }

    /// The sum of the products of all nine entries.
    #[inline(always)]
    fn dot<S: Simd>(a: &[R::Eight<S>; 6], b: &[R::Eight<S>; 6]) -> R::Eight<S> {
        let beside = a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + beside + beside
    }

    /// The product of two symmetric matrices with the same axes.
    #[inline(always)]
    fn product<S: Simd>(a: &[R::Eight<S>; 6], b: &[R::Eight<S>; 6]) -> [R::Eight<S>; 6] {
        let mut product = *a;
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            // Next to the diagonal: 3 is 01, 4 is 12, 5 is 20.
            let (ij, jk, ki) = (3 + i, 3 + j, 3 + k);
            product[i] = a[i] * b[i] + a[ij] * b[ij] + a[ki] * b[ki];
            product[ij] = a[i] * b[ij] + a[ij] * b[j] + a[ki] * b[jk];
        }
        product
    }

    /// Takes the present state as what the next solve compares with, after positions were set from outside.
    pub fn settle(&self, state: &mut BatchState<R>, positions: &[Vector3<R>]) {
        for lane in 0..LANES {
            let corners = self.corners.map(|row| positions[row[lane] as usize]);
            let inverse = Matrix3::from_fn(|r, c| self.inverse[3 * r + c][lane]);
            let f = crate::model::edges_of(corners) * inverse;
            let start = crate::math::Rotation(state.rotation.map(|lanes| lanes[lane]));
            let rotation = crate::math::Rotation::nearest_to(&f, start);
            for (lanes, part) in state.rotation.iter_mut().zip(rotation.0) {
                lanes[lane] = part;
            }
            let strain = rotation.matrix().transpose() * f - Matrix3::identity();
            for k in 0..3 {
                let j = (k + 1) % 3;
                state.strain[k][lane] = strain[(k, k)];
                state.strain[3 + k][lane] = (strain[(k, j)] + strain[(j, k)]) * R::nearest(0.5);
            }
        }
    }
}
