//! Eight finite elements at a time.
//!
//! Elements of a batch share no vertex, so that each is solved as if it were alone, and one batch after the other
//! (Gauss-Seidel). Only sums, products, quotients and roots of single lanes are used: the same bits on every machine.

#![allow(
    clippy::needless_range_loop,
    reason = "several arrays at a time; iterators are not inlined where SIMD is chosen at run time"
)]

use fearless_simd::{Level, Simd, dispatch, prelude::*};

use crate::math::{Matrix3, Real, Vector3};
use crate::model::{Elasticity, Elements, shape_gradients};

/// Elements of a batch.
pub(super) const LANES: usize = 8;

type Lanes<R> = [R; LANES];

/// Up to eight elements that share no vertex.
#[derive(Debug, Clone)]
pub(super) struct Batch<R> {
    law: Elasticity,
    count: usize,
    /// Numbers of vertices, counted from the first of the group.
    corners: [[u32; LANES]; 4],
    /// Body and element of each, to find materials again.
    sources: [(u32, u32); LANES],
    inverse: [Lanes<R>; 9],
    /// Of the implicit local solve, see [`Batch::prepare`].
    soften: [Lanes<R>; 6],
    shear: Lanes<R>,
    lambda: Lanes<R>,
    bulk: Lanes<R>,
    weight: Lanes<R>,
    kappa: Lanes<R>,
    rotation: [Lanes<R>; 4],
    /// The strain that the last solve left, or the two measures of the neo-Hookean law.
    strain: [Lanes<R>; 6],
}

impl<R: Real> Batch<R> {
    /// Elements of one law: their bodies, numbers and corners in the group.
    pub fn new(law: Elasticity, elements: &[(u32, u32, [u32; 4])]) -> Self {
        let zero = [R::zero(); LANES];
        let (first_body, first_number, first_corners) = elements[0];
        let mut batch = Self {
            law,
            count: elements.len(),
            corners: first_corners.map(|corner| [corner; LANES]),
            sources: [(first_body, first_number); LANES],
            inverse: [zero; 9],
            soften: [zero; 6],
            shear: zero,
            lambda: zero,
            bulk: zero,
            weight: zero,
            kappa: [R::one(); LANES],
            rotation: [zero, zero, zero, [R::one(); LANES]],
            strain: [zero; 6],
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
            let (mu, lambda) = (elements.mu, elements.lambda);
            let mut inverse = elements.inverse()[number];
            let kappa = R::one() + elements.damping / step;
            let volume = elements.volumes()[number];
            let c = step * step * volume;
            self.kappa[lane] = kappa;
            if self.law == Elasticity::Corotational {
                let mut a = Matrix3::zeros();
                for (row, gradient) in self.corners.iter().zip(shape_gradients(&inverse)) {
                    let w = inverse_masses[row[lane] as usize];
                    a += gradient * gradient.transpose() * w;
                }
                let eigen = a.symmetric_eigen();
                // A rotation, not a reflection.
                let mut axes = eigen.eigenvectors;
                if axes.determinant() < R::zero() {
                    axes.neg_mut();
                }
                inverse *= axes;
                let (one, two) = (R::one(), R::nearest(2.0));
                let stiff = |sum: R| one / (one + mu * kappa * c * sum);
                let a = eigen.eigenvalues;
                let mut rest = R::zero();
                for k in 0..3 {
                    self.soften[k][lane] = stiff(a[k] * two);
                    rest += one - self.soften[k][lane];
                    self.soften[3 + k][lane] = stiff(a[k] + a[(k + 1) % 3]);
                }
                let ratio = lambda / (two * mu);
                self.shear[lane] = two * mu;
                self.lambda[lane] = lambda;
                self.bulk[lane] = ratio / (one + ratio * rest);
                self.weight[lane] = c;
            } else {
                // Compliances over dt², and the measure of volume at which there is no stress.
                self.shear[lane] = R::one() / (mu * c);
                self.bulk[lane] = R::one() / (lambda * c);
                self.weight[lane] = R::one() + mu / lambda;
                if !(c > R::zero()) {
                    (self.shear[lane], self.bulk[lane]) = (R::one(), R::one());
                }
            }
            for (k, lanes) in self.inverse.iter_mut().enumerate() {
                lanes[lane] = inverse[(k / 3, k % 3)];
            }
        }
    }

    /// Solves all elements of the batches, one batch after the other.
    pub fn solve_all(
        level: Level,
        batches: &mut [Self],
        positions: &mut [Vector3<R>],
        inverse_masses: &[R],
    ) {
        dispatch!(level, simd => {
            for batch in batches.iter_mut() {
                match batch.law {
                    Elasticity::Corotational => batch.corotational(simd, positions, inverse_masses),
                    Elasticity::NeoHookean => batch.neo_hookean(simd, positions, inverse_masses),
                }
            }
        });
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

    #[inline(always)]
    fn weights<S: Simd>(&self, simd: S, inverse_masses: &[R]) -> [R::Eight<S>; 4] {
        let mut weights = [[R::zero(); LANES]; 4];
        for (row, weight) in self.corners.iter().zip(&mut weights) {
            for lane in 0..LANES {
                weight[lane] = inverse_masses[row[lane] as usize];
            }
        }
        Self::load(simd, &weights)
    }

    /// Moves the corners by H b w, where H is a matrix, b the gradients of the shape functions and w inverse masses.
    #[inline(always)]
    fn scatter<S: Simd>(
        &self,
        h: &[[R::Eight<S>; 3]; 3],
        inverse: &[R::Eight<S>; 9],
        weights: &[R::Eight<S>; 4],
        positions: &mut [Vector3<R>],
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
                let position = &mut positions[row[lane] as usize];
                position.x += way[0][lane];
                position.y += way[1][lane];
                position.z += way[2][lane];
            }
        }
    }

    #[inline(always)]
    fn corotational<S: Simd>(
        &mut self,
        simd: S,
        positions: &mut [Vector3<R>],
        inverse_masses: &[R],
    ) {
        let one = R::Eight::<S>::splat(simd, R::one());
        let inverse = Self::load(simd, &self.inverse);
        let edges = self.gather(simd, positions);
        let f = Self::gradient::<S>(&edges, &inverse);
        // The rotation follows: one step of Mueller et al. 2016 from that of the last solve.
        let q = Self::load(simd, &self.rotation);
        let q = Self::follow(simd, q, &f);
        for k in 0..4 {
            q[k].store_slice(&mut self.rotation[k]);
        }
        let r = Self::matrix::<S>(one, &q);
        let kappa = R::Eight::<S>::from_slice(simd, &self.kappa);
        let before = Self::load(simd, &self.strain);
        let soften = Self::load(simd, &self.soften);
        let shear = R::Eight::<S>::from_slice(simd, &self.shear);
        let lambda = R::Eight::<S>::from_slice(simd, &self.lambda);
        let bulk = R::Eight::<S>::from_slice(simd, &self.bulk);
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
        for k in 0..6 {
            strain[k] = kappa * strain[k] - (kappa - one) * before[k];
        }
        let pressure = (strain[0] + strain[1] + strain[2]) * lambda;
        let mut stress = strain;
        let mut sum = R::Eight::<S>::splat(simd, R::zero());
        for k in 0..3 {
            stress[k] = strain[k] * shear + pressure;
            sum += (one - soften[k]) * stress[k];
            stress[3 + k] = strain[3 + k] * shear * soften[3 + k];
        }
        sum *= bulk;
        for k in 0..3 {
            stress[k] = (stress[k] - sum) * soften[k];
        }
        // The strain that is left.
        let pressure =
            (stress[0] + stress[1] + stress[2]) * lambda / (shear + lambda * R::nearest(3.0));
        for k in 0..6 {
            let own = if k < 3 { stress[k] - pressure } else { stress[k] };
            let left = (own / shear + (kappa - one) * before[k]) / kappa;
            left.store_slice(&mut self.strain[k]);
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
        let weights = self.weights(simd, inverse_masses);
        self.scatter::<S>(&h, &inverse, &weights, positions);
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

    /// The volume, then the stretch, as constraints (Macklin, Mueller 2021).
    #[inline(always)]
    fn neo_hookean<S: Simd>(
        &mut self,
        simd: S,
        positions: &mut [Vector3<R>],
        inverse_masses: &[R],
    ) {
        let inverse = Self::load(simd, &self.inverse);
        let weights = self.weights(simd, inverse_masses);
        let f = Self::gradient::<S>(&self.gather(simd, positions), &inverse);
        let mut cofactor = f;
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            for c in 0..3 {
                let (d, e) = ((c + 1) % 3, (c + 2) % 3);
                cofactor[i][c] = f[j][d] * f[k][e] - f[j][e] * f[k][d];
            }
        }
        let volume = f[0][0] * cofactor[0][0] + f[0][1] * cofactor[0][1] + f[0][2] * cofactor[0][2];
        let measure = volume - R::Eight::<S>::from_slice(simd, &self.weight);
        self.push::<S>(simd, 0, measure, &cofactor, &inverse, &weights, positions);
        let f = Self::gradient::<S>(&self.gather(simd, positions), &inverse);
        let mut square = f[0][0] * f[0][0];
        for i in 0..3 {
            for c in 0..3 {
                if (i, c) != (0, 0) {
                    square += f[i][c] * f[i][c];
                }
            }
        }
        let measure = square.sqrt();
        let length = measure + R::nearest(1e-12);
        let mut way = f;
        for i in 0..3 {
            for c in 0..3 {
                way[i][c] = f[i][c] / length;
            }
        }
        self.push::<S>(simd, 1, measure, &way, &inverse, &weights, positions);
    }

    /// Moves the corners so that one measure with this derivative gets as small as its compliance allows.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "all of them are registers of one inlined loop")]
    fn push<S: Simd>(
        &mut self,
        simd: S,
        number: usize,
        measure: R::Eight<S>,
        way: &[[R::Eight<S>; 3]; 3],
        inverse: &[R::Eight<S>; 9],
        weights: &[R::Eight<S>; 4],
        positions: &mut [Vector3<R>],
    ) {
        let one = R::Eight::<S>::splat(simd, R::one());
        let kappa = R::Eight::<S>::from_slice(simd, &self.kappa);
        let before = R::Eight::<S>::from_slice(simd, &self.strain[number]);
        let compliance = if number == 0 { &self.bulk } else { &self.shear };
        let compliance = R::Eight::<S>::from_slice(simd, compliance);
        // The squares of the gradients of the four corners, times their inverse masses.
        let mut sum = R::Eight::<S>::splat(simd, R::zero());
        for r in 0..3 {
            let mut all = R::Eight::<S>::splat(simd, R::zero());
            for k in 0..3 {
                let part = way[r][0] * inverse[3 * k]
                    + way[r][1] * inverse[3 * k + 1]
                    + way[r][2] * inverse[3 * k + 2];
                sum += part * part * weights[k + 1];
                all += part;
            }
            sum += all * all * weights[0];
        }
        // The damping acts on the change since the last solve; before the first one nothing is known of it.
        let damped = kappa * measure - (kappa - one) * before;
        let factor = -(damped / (kappa * sum + compliance));
        let left = measure + factor * sum;
        left.store_slice(&mut self.strain[number]);
        let mut h = *way;
        for r in 0..3 {
            for c in 0..3 {
                h[r][c] = way[r][c] * factor;
            }
        }
        self.scatter::<S>(&h, inverse, weights, positions);
    }

    /// Takes the present state as what the next solve compares with, after positions were set from outside.
    pub fn settle(&mut self, positions: &[Vector3<R>]) {
        for lane in 0..LANES {
            let corners = self.corners.map(|row| positions[row[lane] as usize]);
            let inverse = Matrix3::from_fn(|r, c| self.inverse[3 * r + c][lane]);
            let f = crate::model::edges_of(corners) * inverse;
            match self.law {
                Elasticity::Corotational => {
                    let start = crate::math::Rotation(self.rotation.map(|lanes| lanes[lane]));
                    let rotation = crate::math::Rotation::nearest_to(&f, start);
                    for (lanes, part) in self.rotation.iter_mut().zip(rotation.0) {
                        lanes[lane] = part;
                    }
                    let strain = rotation.matrix().transpose() * f - Matrix3::identity();
                    for k in 0..3 {
                        let j = (k + 1) % 3;
                        self.strain[k][lane] = strain[(k, k)];
                        self.strain[3 + k][lane] =
                            (strain[(k, j)] + strain[(j, k)]) * R::nearest(0.5);
                    }
                }
                Elasticity::NeoHookean => {
                    self.strain[0][lane] = f.determinant() - self.weight[lane];
                    self.strain[1][lane] = f.norm();
                }
            }
        }
    }
}
