//! Where everything is and how it moves.

use crate::math::{Real, Vector3};

/// Positions, velocities and masses of all vertices of all bodies, and the coordinates that they follow.
///
/// The coordinates of a body whose vertices are free are its positions, and their rates its velocities. A body that
/// follows a few coordinates keeps them in the places of its first vertices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Motion<R: Real> {
    /// Where vertices are.
    pub positions: Vec<Vector3<R>>,
    /// How they move.
    pub velocities: Vec<Vector3<R>>,
    /// What the positions follow.
    pub coordinates: Vec<Vector3<R>>,
    /// How that changes.
    pub rates: Vec<Vector3<R>>,
    /// Mass of each vertex, in kg.
    pub masses: Vec<R>,
    /// One over the mass, or zero for what cannot be moved.
    pub inverse_masses: Vec<R>,
}

impl<R: Real> Motion<R> {
    /// Puts vertices at rest in the place of others; of none, adds them, and none in their place removes them.
    pub(crate) fn replace(
        &mut self,
        vertices: std::ops::Range<usize>,
        positions: &[Vector3<R>],
        masses: &[R],
        mobility: Mobility,
    ) {
        let inverse = |mass: &R| match mobility {
            Mobility::Movable if *mass > R::zero() => R::one() / *mass,
            _ => R::zero(),
        };
        let still = || positions.iter().map(|_| Vector3::zeros());
        self.positions.splice(vertices.clone(), positions.iter().copied());
        self.coordinates.splice(vertices.clone(), positions.iter().copied());
        self.velocities.splice(vertices.clone(), still());
        self.rates.splice(vertices.clone(), still());
        self.masses.splice(vertices.clone(), masses.iter().copied());
        self.inverse_masses.splice(vertices, masses.iter().map(inverse));
    }

    /// Takes over what moves from another state of the same bodies.
    pub fn copy_from(&mut self, other: &Self) {
        self.positions.clone_from(&other.positions);
        self.velocities.clone_from(&other.velocities);
        self.coordinates.clone_from(&other.coordinates);
        self.rates.clone_from(&other.rates);
    }

    /// A number that tells states apart: of all bits of coordinates and rates (FNV-1a over 64-bit words).
    pub fn hash(&self) -> u64 {
        let numbers = self.coordinates.iter().chain(&self.rates).flat_map(|vector| vector.iter());
        numbers.fold(0xcbf2_9ce4_8422_2325, |hash, number| {
            (hash ^ number.to_f64().to_bits()).wrapping_mul(0x100_0000_01b3)
        })
    }
}

/// Whether forces and contacts move a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mobility {
    Movable,
    Immovable,
}

/// Which joints a vertex follows: up to four, and how strongly. Weights are made to have the sum 1; a vertex without
/// any stays where it is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Binding<R> {
    /// The joints.
    pub joints: [u32; 4],
    /// Their weights, none negative.
    pub weights: [R; 4],
}
