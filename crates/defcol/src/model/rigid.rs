//! Rigid bodies.

use std::sync::Arc;

use crate::math::{Matrix3, Real, Rotation, Vector3};
use crate::mesh::MassProperties;

/// A body whose vertices move as one piece.
///
/// Its coordinates are where its centre of mass is and how it is turned; its rates the velocity of the centre and the
/// angular velocity. They stand in the places of its first three vertices.
#[derive(Debug, Clone)]
pub struct Rigid<R: Real> {
    /// Mass in kg.
    pub mass: R,
    /// Inertia in its own frame.
    pub inertia: Matrix3<R>,
    inverse_inertia: Matrix3<R>,
    /// Vertices in its own frame, from the centre of mass.
    local: Arc<[Vector3<R>]>,
    centre: Vector3<R>,
}

impl<R: Real> Rigid<R> {
    /// A body with vertices at rest and what a solid of density 1 within its surface weighs. `None` if it has no mass to
    /// speak of, or fewer than three vertices.
    pub fn new(rest: &[Vector3<R>], solid: &MassProperties, density: f64) -> Option<Self> {
        let mass = R::nearest(solid.volume * density);
        let inertia = solid.inertia * density;
        let inverse = inertia.try_inverse()?.map(R::nearest);
        if inverse.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let inertia = inertia.map(R::nearest);
        let centre = solid.centroid.map(R::nearest);
        (mass > R::zero() && rest.len() >= 3).then(|| Self {
            mass,
            inertia,
            inverse_inertia: inverse,
            local: rest.iter().map(|place| place - centre).collect(),
            centre,
        })
    }

    /// Its coordinates at rest.
    pub fn start(&self, coordinates: &mut [Vector3<R>]) {
        write_pose(coordinates, self.centre, Rotation::identity());
    }

    /// Vertices from coordinates.
    pub fn place(&self, coordinates: &[Vector3<R>], positions: &mut [Vector3<R>]) {
        let (centre, rotation) = read_pose(coordinates);
        let matrix = rotation.matrix();
        for (position, local) in positions.iter_mut().zip(&*self.local) {
            *position = centre + matrix * local;
        }
    }

    /// Inverse of the inertia about the axes of the world.
    pub fn world_inverse_inertia(&self, coordinates: &[Vector3<R>]) -> Matrix3<R> {
        let matrix = read_pose(coordinates).1.matrix();
        matrix * self.inverse_inertia * matrix.transpose()
    }

    /// Inertia about the axes of the world.
    pub fn world_inertia(&self, coordinates: &[Vector3<R>]) -> Matrix3<R> {
        let matrix = read_pose(coordinates).1.matrix();
        matrix * self.inertia * matrix.transpose()
    }

    /// Moves coordinates at these rates; the angular momentum is kept and with it the rates are brought up to date.
    pub fn advance(
        &self,
        coordinates: &mut [Vector3<R>],
        moved: &[Vector3<R>],
        keep_momentum: Option<&mut [Vector3<R>]>,
    ) {
        let (centre, rotation) = read_pose(coordinates);
        let momentum =
            keep_momentum.as_ref().map(|rates| self.world_inertia(coordinates) * rates[1]);
        write_pose(coordinates, centre + moved[0], rotation.then(moved[1]));
        if let (Some(rates), Some(momentum)) = (keep_momentum, momentum) {
            rates[1] = self.world_inverse_inertia(coordinates) * momentum;
        }
    }
}

/// Centre and rotation from the places of three vertices.
pub(crate) fn read_pose<R: Real>(coordinates: &[Vector3<R>]) -> (Vector3<R>, Rotation<R>) {
    let (vector, real) = (coordinates[1], coordinates[2].x);
    (coordinates[0], Rotation([vector.x, vector.y, vector.z, real]))
}

/// Centre and rotation into the places of three vertices.
pub(crate) fn write_pose<R: Real>(
    coordinates: &mut [Vector3<R>],
    centre: Vector3<R>,
    rotation: Rotation<R>,
) {
    let [x, y, z, w] = rotation.0;
    coordinates[0] = centre;
    coordinates[1] = Vector3::new(x, y, z);
    coordinates[2] = Vector3::new(w, R::zero(), R::zero());
}
