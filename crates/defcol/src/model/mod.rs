//! What bodies are made of: the forces within them, and what their vertices follow.
//!
//! Vertices of some bodies are free and feel forces: [`MassPoints`], [`ShapeMatching`], [`Elements`], particles. Those of
//! others follow a few coordinates: [`Rigid`], [`Articulated`]; or what is prescribed: [`Driven`]; or another body:
//! [`Embedded`].

mod articulated;
mod driven;
mod elements;
mod mass_points;
mod rigid;
mod shape;

pub(crate) use articulated::MOST as MOST_JOINTS;
pub use articulated::{Articulated, Joint};
pub use driven::{Driven, Embedded};
pub use elements::{ConstitutiveLaw, Elements};
pub(crate) use elements::{edges_of, shape_gradients};
pub(crate) use mass_points::measure;
pub use mass_points::{MassPoints, Measures, Moduli};
pub use rigid::Rigid;
pub use shape::{Matching, ShapeMatching, ShapeParameters};

use rayon::prelude::*;

use crate::math::{Real, Vector3};
use crate::mesh::Rows;

/// How stiff an elastic material is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElasticModuli {
    /// Young's modulus in Pa.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Stresses of the rate of strain, in seconds: times the stiffness.
    pub damping: f64,
}

impl Default for ElasticModuli {
    /// Soft foam.
    fn default() -> Self {
        Self { young: 1e4, poisson: 0.3, damping: 0.01 }
    }
}

impl ElasticModuli {
    /// Lamé's parameters: the shear modulus μ, and λ.
    pub fn lame(&self) -> (f64, f64) {
        let Self { young, poisson, .. } = *self;
        (
            young / (2.0 * (1.0 + poisson)),
            young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
        )
    }
}

/// What a body is made of.
#[allow(
    clippy::large_enum_variant,
    reason = "one for each body; what is large is behind its vectors"
)]
#[derive(Debug, Clone)]
pub enum Model<R: Real> {
    /// Points without forces between them.
    Particles,
    /// Distances, areas and volumes are kept.
    MassPoints(MassPoints<R>),
    /// The shape is kept.
    Shape(ShapeMatching<R>),
    /// Finite elements.
    Elements(Elements<R>),
    /// One piece that does not deform.
    Rigid(Rigid<R>),
    /// A skin on joints.
    Articulated(Articulated<R>),
    /// Vertices go where they are told to.
    Driven(Driven<R>),
    /// Vertices are carried by the tetrahedra of another body.
    Embedded(Embedded<R>),
}

impl<R: Real> Model<R> {
    /// Whether every vertex moves on its own.
    pub fn has_free_vertices(&self) -> bool {
        matches!(self, Self::Particles | Self::MassPoints(_) | Self::Shape(_) | Self::Elements(_))
    }

    /// The energy that is stored in the body.
    pub fn energy(&self, positions: &[Vector3<R>]) -> f64 {
        match self {
            Self::MassPoints(model) => model.energy(positions),
            Self::Shape(model) => model.energy(positions),
            Self::Elements(model) => model.energy(positions),
            _ => 0.0,
        }
    }

    /// Adds the forces within the body.
    pub fn add_forces(
        &mut self,
        positions: &[Vector3<R>],
        velocities: &[Vector3<R>],
        forces: &mut [Vector3<R>],
    ) {
        match self {
            Self::MassPoints(model) => model.add_forces(positions, velocities, forces),
            Self::Shape(model) => model.add_forces(positions, velocities, forces),
            Self::Elements(model) => model.add_forces(positions, velocities, forces),
            _ => {}
        }
    }

    /// Adds how these forces change if positions change by `vector`, times `scale`.
    pub fn add_stiffness_times(
        &mut self,
        vector: &[Vector3<R>],
        scale: R,
        product: &mut [Vector3<R>],
    ) {
        match self {
            Self::MassPoints(model) => model.add_stiffness_times(vector, scale, product),
            Self::Shape(model) => model.add_stiffness_times(vector, scale, product),
            Self::Elements(model) => model.add_stiffness_times(vector, scale, product),
            _ => {}
        }
    }

    /// Adds to what each vertex has an estimate of the diagonal of the stiffness.
    pub fn add_diagonal(&self, diagonal: &mut [R]) {
        match self {
            Self::MassPoints(model) => model.add_diagonal(diagonal),
            Self::Shape(model) => model.add_diagonal(diagonal),
            Self::Elements(model) => model.add_diagonal(diagonal),
            _ => {}
        }
    }

    /// How long the model damps, in seconds: forces against the rate of strain over those of strain.
    pub fn damping(&self) -> f64 {
        match self {
            Self::MassPoints(model) => model.moduli().damping,
            Self::Elements(model) => model.damping.to_f64(),
            _ => 0.0,
        }
    }

    /// Lets what has been strained too far give way for good.
    pub fn creep(&mut self, positions: &[Vector3<R>], step: R) {
        match self {
            Self::MassPoints(model) => model.creep(positions, step),
            Self::Shape(model) => model.creep(step),
            _ => {}
        }
    }
}

/// Which primitives each vertex is a corner of, so that sums over them are made vertex by vertex: in parallel, and
/// always in the same order.
#[derive(Debug, Clone)]
pub(crate) struct Incidence(Rows);

impl Incidence {
    pub fn new<const N: usize>(vertices: usize, primitives: &[[u32; N]]) -> Self {
        Self(Rows::collect(vertices, || {
            (0u32..).zip(primitives.iter().flatten()).map(|(slot, &vertex)| (vertex, slot))
        }))
    }

    /// Adds to each vertex what all primitives have for it.
    pub fn gather<R: Real, const N: usize>(
        &self,
        shares: &[[Vector3<R>; N]],
        sums: &mut [Vector3<R>],
    ) {
        let shares = shares.as_flattened();
        sums.par_iter_mut().enumerate().with_min_len(1024).for_each(|(vertex, sum)| {
            let slots = self.0.row(vertex).iter();
            *sum += slots.fold(Vector3::zeros(), |sum, &slot| sum + shares[slot as usize]);
        });
    }
}
