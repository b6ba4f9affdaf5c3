//! Tetrahedral finite elements with linear shape functions.

use std::sync::Arc;

use rayon::prelude::*;

use super::{ElasticModuli, Incidence};
use crate::math::{Matrix3, Real, Rotation, Vector3};
use crate::state::Scratch;

/// Elements of one piece of work for a thread.
const CHUNK: usize = 512;

/// How stress follows from strain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConstitutiveLaw {
    /// Linear in the frame that turns with the element: energy density μ |F−R|² + λ/2 tr²(RᵀF−1).
    #[default]
    Corotational,
    /// Stable neo-Hookean (Smith, de Goes, Kim 2018, without the logarithm): energy density μ/2 (|F|²−3) + λ/2 (J−α)² with
    /// α = 1 + μ/λ. Recovers from inversion.
    NeoHookean,
    /// Linear in the logarithm of the stretch (Hencky 1928): bodies that are bent keep their volume better than with the
    /// corotational law. The energy density is that of the corotational law and what
    /// μ |H|² + λ/2 tr² H has more with H = B − B²/2 + B³/3 ≈ ln U, S = RᵀF−1 and B = S/√(1+|S|²), so that it stays
    /// finite for any strain.
    Hencky,
}

impl ConstitutiveLaw {
    /// The rotation of a deformation gradient, found from one that is near, if the law asks for it.
    fn rotation<R: Real>(self, gradient: &Matrix3<R>, known: Rotation<R>) -> Rotation<R> {
        match self {
            Self::NeoHookean => known,
            Self::Corotational | Self::Hencky => Rotation::nearest_to(gradient, known),
        }
    }
}

/// Elements of one body.
#[derive(Debug, Clone)]
pub struct Elements<R: Real> {
    /// The law.
    pub elasticity: ConstitutiveLaw,
    /// Lamé parameters in Pa.
    pub mu: R,
    /// Lamé's first parameter in Pa.
    pub lambda: R,
    /// Stresses of the rate of strain, in seconds: times the stiffness.
    pub damping: R,
    rest: Arc<RestElements<R>>,
    /// Rotation of each element when forces were last computed; the next search for it starts there.
    rotations: Vec<Rotation<R>>,
    /// Deformation gradients when forces were last computed; none before.
    gradients: Vec<Matrix3<R>>,
    shares: Scratch<Vec<[Vector3<R>; 4]>>,
}

/// What never changes.
#[derive(Debug)]
struct RestElements<R: Real> {
    corners: Vec<[u32; 4]>,
    /// Inverse of the matrix of edges at rest.
    inverse: Vec<Matrix3<R>>,
    volumes: Vec<R>,
    incidence: Incidence,
}

impl<R: Real> Elements<R> {
    /// Elements of tetrahedra of one body with positions at rest. Flat ones have no forces.
    pub fn new(
        rest: &[Vector3<R>],
        tetrahedra: &[[u32; 4]],
        elastic: ElasticModuli,
        elasticity: ConstitutiveLaw,
    ) -> Self {
        let mut volumes = Vec::with_capacity(tetrahedra.len());
        let inverse = tetrahedra
            .iter()
            .map(|&corners| {
                let edges = edges_of(corners.map(|corner| rest[corner as usize]));
                let volume = edges.determinant() / R::nearest(6.0);
                let inverse = edges.try_inverse().filter(|m| m.iter().all(|x| x.is_finite()));
                volumes.push(if inverse.is_some() { volume.abs() } else { R::zero() });
                inverse.unwrap_or_else(Matrix3::zeros)
            })
            .collect();
        let rest = RestElements {
            corners: tetrahedra.to_vec(),
            inverse,
            volumes,
            incidence: Incidence::new(rest.len(), tetrahedra),
        };
        let mut own = Self {
            elasticity,
            mu: R::zero(),
            lambda: R::zero(),
            damping: R::zero(),
            rest: Arc::new(rest),
            rotations: vec![Rotation::identity(); tetrahedra.len()],
            gradients: vec![],
            shares: Scratch::default(),
        };
        own.set_elastic(elastic);
        own
    }

    /// Takes on another stiffness and damping.
    pub fn set_elastic(&mut self, elastic: ElasticModuli) {
        let (mu, lambda) = elastic.lame();
        // So that all laws agree for small strains.
        let lambda =
            if self.elasticity == ConstitutiveLaw::NeoHookean { lambda + mu } else { lambda };
        self.mu = R::nearest(mu);
        self.lambda = R::nearest(lambda);
        self.damping = R::nearest(elastic.damping);
    }

    /// Lamé's parameters μ and λ that hold for small strains, in Pa.
    pub fn lame(&self) -> (R, R) {
        match self.elasticity {
            ConstitutiveLaw::NeoHookean => (self.mu, self.lambda - self.mu),
            ConstitutiveLaw::Corotational | ConstitutiveLaw::Hencky => (self.mu, self.lambda),
        }
    }

    /// The corners of each.
    pub fn corners(&self) -> &[[u32; 4]] {
        &self.rest.corners
    }

    /// The inverse matrix of edges at rest of each.
    pub fn inverse(&self) -> &[Matrix3<R>] {
        &self.rest.inverse
    }

    /// The volume at rest of each.
    pub fn volumes(&self) -> &[R] {
        &self.rest.volumes
    }

    /// The elastic energy.
    pub fn energy(&self, positions: &[Vector3<R>]) -> f64 {
        let rest = self.rest.inverse.iter().zip(&self.rest.volumes);
        let elements = self.rest.corners.iter().zip(&self.rotations).zip(rest);
        elements
            .map(|((corners, known), (inverse, volume))| {
                let f = edges_of(corners.map(|corner| positions[corner as usize])) * inverse;
                let rotation = self.elasticity.rotation(&f, *known);
                (self.density(&f, &rotation) * *volume).to_f64()
            })
            .sum()
    }

    /// Adds the elastic and the damping forces.
    pub fn add_forces(
        &mut self,
        positions: &[Vector3<R>],
        velocities: &[Vector3<R>],
        forces: &mut [Vector3<R>],
    ) {
        self.deform(positions);
        let law = self.law();
        self.shares.resize(self.rest.corners.len(), [Vector3::zeros(); 4]);
        let elements =
            (self.gradients.par_iter(), self.rotations.par_iter(), self.rest.corners.par_iter());
        let rest = (self.rest.inverse.par_iter(), self.rest.volumes.par_iter());
        let shares = self.shares.par_iter_mut().zip(elements).zip(rest).with_min_len(CHUNK);
        shares.for_each(|((share, (f, rotation, corners)), (inverse, volume))| {
            let mut stress = law.stress(f, rotation);
            if law.damping > R::zero() {
                let rate = edges_of(corners.map(|corner| velocities[corner as usize])) * inverse;
                stress += law.stress_change(f, rotation, &rate) * law.damping;
            }
            *share = spread(&stress, inverse, -*volume);
        });
        self.rest.incidence.gather(&self.shares, forces);
    }

    /// Adds how the forces change, to first order, if positions change by `vector`, times `scale`: the elastic part at
    /// the positions of the last call for forces.
    pub fn add_stiffness_times(
        &mut self,
        vector: &[Vector3<R>],
        scale: R,
        product: &mut [Vector3<R>],
    ) {
        self.gradients.resize(self.rest.corners.len(), Matrix3::identity());
        let law = self.law();
        self.shares.resize(self.rest.corners.len(), [Vector3::zeros(); 4]);
        let elements =
            (self.gradients.par_iter(), self.rotations.par_iter(), self.rest.corners.par_iter());
        let rest = (self.rest.inverse.par_iter(), self.rest.volumes.par_iter());
        let shares = self.shares.par_iter_mut().zip(elements).zip(rest).with_min_len(CHUNK);
        shares.for_each(|((share, (f, rotation, corners)), (inverse, volume))| {
            let change = edges_of(corners.map(|corner| vector[corner as usize])) * inverse;
            let stress = law.stress_change(f, rotation, &change);
            *share = spread(&stress, inverse, -*volume * scale);
        });
        self.rest.incidence.gather(&self.shares, product);
    }

    /// Adds the sum of the diagonal of the stiffness to what each vertex has: an estimate for a preconditioner.
    pub fn add_diagonal(&self, diagonal: &mut [R]) {
        let modulus = self.mu * R::nearest(2.0) + self.lambda;
        let RestElements { corners, inverse, volumes, .. } = &*self.rest;
        for ((corners, inverse), volume) in corners.iter().zip(inverse).zip(volumes) {
            for (corner, gradient) in corners.iter().zip(shape_gradients(inverse)) {
                diagonal[*corner as usize] += modulus * *volume * gradient.norm_squared();
            }
        }
    }

    fn law(&self) -> Law<R> {
        Law { elasticity: self.elasticity, mu: self.mu, lambda: self.lambda, damping: self.damping }
    }

    /// Finds the deformation gradients and their rotations.
    fn deform(&mut self, positions: &[Vector3<R>]) {
        let own = self.elasticity;
        self.gradients.resize(self.rest.corners.len(), Matrix3::identity());
        let elements = (self.gradients.par_iter_mut(), self.rotations.par_iter_mut());
        let rest = self.rest.corners.par_iter().zip(&self.rest.inverse);
        elements.into_par_iter().zip(rest).with_min_len(CHUNK).for_each(
            |((gradient, rotation), (corners, inverse))| {
                *gradient = edges_of(corners.map(|corner| positions[corner as usize])) * inverse;
                *rotation = own.rotation(gradient, *rotation);
            },
        );
    }

    fn density(&self, f: &Matrix3<R>, rotation: &Rotation<R>) -> R {
        let (half, one) = (R::nearest(0.5), R::one());
        match self.elasticity {
            ConstitutiveLaw::Corotational => {
                let r = rotation.matrix();
                let trace = (r.transpose() * f).trace() - R::nearest(3.0);
                self.mu * (f - r).norm_squared() + self.lambda * half * trace * trace
            }
            ConstitutiveLaw::Hencky => {
                let strain = strain(f, rotation);
                let (bounded, _) = bounded(&strain);
                let (logarithm, _) = logarithm(&bounded);
                let density = |strain: &Matrix3<R>| {
                    let trace = strain.trace();
                    self.mu * strain.norm_squared() + self.lambda * half * trace * trace
                };
                density(&strain) + density(&logarithm) - density(&bounded)
            }
            ConstitutiveLaw::NeoHookean => {
                let volume = f.determinant() - self.law().alpha();
                let at_rest = one - self.law().alpha();
                self.mu * half * (f.norm_squared() - R::nearest(3.0))
                    + self.lambda * half * (volume * volume - at_rest * at_rest)
            }
        }
    }
}

/// What stress depends on.
#[derive(Clone, Copy)]
struct Law<R> {
    elasticity: ConstitutiveLaw,
    mu: R,
    lambda: R,
    damping: R,
}

impl<R: Real> Law<R> {
    /// The determinant at which the volume term has no stress, so that there is none at rest.
    fn alpha(&self) -> R {
        R::one() + self.mu / self.lambda
    }

    /// First Piola-Kirchhoff stress.
    fn stress(&self, f: &Matrix3<R>, rotation: &Rotation<R>) -> Matrix3<R> {
        match self.elasticity {
            ConstitutiveLaw::Corotational => {
                let r = rotation.matrix();
                let trace = (r.transpose() * f).trace() - R::nearest(3.0);
                (f - r) * (R::nearest(2.0) * self.mu) + r * (self.lambda * trace)
            }
            ConstitutiveLaw::Hencky => {
                let strain = strain(f, rotation);
                let (bounded, shrunk) = bounded(&strain);
                let (logarithm, slope) = logarithm(&bounded);
                let more = self.linear(&logarithm) * slope - self.linear(&bounded);
                let more = (more - bounded * bounded.dot(&more)) * shrunk;
                rotation.matrix() * (self.linear(&strain) + more)
            }
            ConstitutiveLaw::NeoHookean => {
                f * self.mu + cofactor(f) * (self.lambda * (f.determinant() - self.alpha()))
            }
        }
    }

    /// Hooke's law.
    fn linear(&self, strain: &Matrix3<R>) -> Matrix3<R> {
        let pressure = Matrix3::identity() * (self.lambda * strain.trace());
        strain * (R::nearest(2.0) * self.mu) + pressure
    }

    /// How it changes with the deformation gradient; for the laws in a turning frame as if there were no strain yet.
    fn stress_change(
        &self,
        f: &Matrix3<R>,
        rotation: &Rotation<R>,
        change: &Matrix3<R>,
    ) -> Matrix3<R> {
        match self.elasticity {
            ConstitutiveLaw::Corotational | ConstitutiveLaw::Hencky => {
                let r = rotation.matrix();
                let strain = r.transpose() * change;
                // The part that is not symmetric turns the element, to first order in what it is strained.
                r * ((strain + strain.transpose()) * self.mu) + r * (self.lambda * strain.trace())
            }
            ConstitutiveLaw::NeoHookean => {
                let cofactor = cofactor(f);
                let volume = self.lambda * (f.determinant() - self.alpha());
                change * self.mu
                    + cofactor * (self.lambda * cofactor.dot(change))
                    + cofactor_change(f, change) * volume
            }
        }
    }
}

/// Edges from the first corner, as columns.
pub(crate) fn edges_of<R: Real>([a, b, c, d]: [Vector3<R>; 4]) -> Matrix3<R> {
    Matrix3::from_columns(&[b - a, c - a, d - a])
}

/// The gradients of the shape functions of the four corners.
pub(crate) fn shape_gradients<R: Real>(inverse: &Matrix3<R>) -> [Vector3<R>; 4] {
    let [b, c, d] = [0, 1, 2].map(|row| inverse.row(row).transpose());
    [-(b + c + d), b, c, d]
}

/// The forces of a stress on the corners, times a factor.
fn spread<R: Real>(stress: &Matrix3<R>, inverse: &Matrix3<R>, factor: R) -> [Vector3<R>; 4] {
    let h = stress * inverse.transpose() * factor;
    let [b, c, d] = [0, 1, 2].map(|column| h.column(column).into_owned());
    [-(b + c + d), b, c, d]
}

/// The strain in the turning frame.
fn strain<R: Real>(f: &Matrix3<R>, rotation: &Rotation<R>) -> Matrix3<R> {
    rotation.matrix().transpose() * f - Matrix3::identity()
}

/// The same direction, but shorter than one, and by what it was multiplied.
fn bounded<R: Real>(strain: &Matrix3<R>) -> (Matrix3<R>, R) {
    let shrunk = R::one() / (R::one() + strain.norm_squared()).sqrt();
    (strain * shrunk, shrunk)
}

/// The logarithm of 1 + S to third order, and its slope.
fn logarithm<R: Real>(strain: &Matrix3<R>) -> (Matrix3<R>, Matrix3<R>) {
    let square = strain * strain;
    let third = square * strain * R::nearest(1.0 / 3.0);
    (strain - square * R::nearest(0.5) + third, Matrix3::identity() - strain + square)
}

/// The derivative of the determinant.
fn cofactor<R: Real>(f: &Matrix3<R>) -> Matrix3<R> {
    let [a, b, c] = [0, 1, 2].map(|k| f.column(k).into_owned());
    Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)])
}

fn cofactor_change<R: Real>(f: &Matrix3<R>, change: &Matrix3<R>) -> Matrix3<R> {
    let [a, b, c] = [0, 1, 2].map(|k| f.column(k).into_owned());
    let [x, y, z] = [0, 1, 2].map(|k| change.column(k).into_owned());
    Matrix3::from_columns(&[
        y.cross(&c) + b.cross(&z),
        z.cross(&a) + c.cross(&x),
        x.cross(&b) + a.cross(&y),
    ])
}
