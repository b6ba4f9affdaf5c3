//! Forces that make a volume smaller, and friction.

use super::VolumeContact;
use crate::math::{Real, Vector3};

impl<G> VolumeContact<G> {
    /// The pressure between the bodies: the stiffness times the volume.
    pub fn pressure(&self, stiffness: f64) -> f64 {
        stiffness * self.volume.value
    }

    /// Adds the forces of the energy k V²/2 to those of all vertices: -k V dV/dx (FAURE08 equation 1).
    pub fn add_forces<R: Real>(&self, stiffness: f64, forces: &mut [Vector3<R>]) {
        let pressure = self.pressure(stiffness);
        for share in &self.vertices {
            forces[share.vertex as usize] += (share.gradient * -pressure).map(R::nearest);
        }
    }

    /// The sum of the forces on a body.
    pub fn net_force(&self, body: u32, stiffness: f64) -> Vector3<f64> {
        self.sum_over_ends(body, |_, force| force) * self.pressure(stiffness)
    }

    /// The sum of the torques of the forces on a body about a point, with forces where the vertices are.
    pub fn net_torque<R: Real>(
        &self,
        body: u32,
        about: Vector3<f64>,
        positions: &[Vector3<R>],
        stiffness: f64,
    ) -> Vector3<f64> {
        let place = |vertex: u32| positions[vertex as usize].map(R::to_f64) - about;
        self.sum_over_ends(body, |grip, force| {
            let parts = grip.vertices.iter().zip(grip.weights);
            parts.fold(Vector3::zeros(), |sum, (&v, weight)| sum + place(v).cross(&force) * weight)
        }) * self.pressure(stiffness)
    }

    /// Sums up what the ends of all rays on a body add, given the force at a pressure of one.
    fn sum_over_ends(
        &self,
        body: u32,
        add: impl Fn(&super::Grip, Vector3<f64>) -> Vector3<f64>,
    ) -> Vector3<f64> {
        let mut sum = Vector3::zeros();
        for (axis, own) in self.axes.iter().enumerate() {
            let Some(view) = &own.view else { continue };
            let area = view.spacing().x * view.spacing().y;
            for ray in &own.rays {
                for (grip, sign) in ray.ends.iter().zip([1.0, -1.0]) {
                    if let Some(grip) = grip.as_ref().filter(|grip| grip.body == body) {
                        let mut force = Vector3::zeros();
                        force[axis] = sign * area;
                        sum += add(grip, force);
                    }
                }
            }
        }
        sum
    }

    /// Adds viscous friction: at both ends of each ray between the two surfaces, against the velocity with which they slide
    /// over each other, times the area and the viscosity (FAURE08 section 3.3).
    ///
    /// The paper drops the component along the ray; here it is the component along the normal between both surfaces, and
    /// areas are counted once whatever their slope, so that turning the scene turns the forces.
    pub fn add_friction<R: Real>(
        &self,
        velocities: &[Vector3<R>],
        viscosity: f64,
        forces: &mut [Vector3<R>],
    ) {
        for (axis, own) in self.axes.iter().enumerate() {
            let Some(view) = &own.view else { continue };
            let area = view.spacing().x * view.spacing().y;
            for ray in &own.rays {
                let ([Some(from), Some(to)], Some(normal)) = (&ray.ends, ray.normal()) else {
                    continue;
                };
                // Both sides of a thin body in another one do not slide over each other.
                if from.body == to.body && self.bodies[0] != self.bodies[1] {
                    continue;
                }
                let velocity = |grip: &super::Grip| grip.blend(velocities);
                let sliding = velocity(from) - velocity(to);
                let sliding = sliding - normal * sliding.dot(&normal);
                // Along each axis a slope is seen as small as its normal leans away; the squares make up one.
                let force = sliding * (viscosity * area * normal[axis].abs());
                from.spread(-force, forces);
                to.spread(force, forces);
            }
        }
    }

    /// Adds the product of the approximate stiffness with a vector, without forming it: -k (dV/dx)(dV/dx)ᵀ times the
    /// vector (FAURE08 equation 2). One number for each coordinate of each vertex of all bodies.
    pub fn add_stiffness_times<R: Real>(
        &self,
        stiffness: f64,
        vector: &[Vector3<R>],
        product: &mut [Vector3<R>],
    ) {
        let along: f64 = self
            .vertices
            .iter()
            .map(|share| share.gradient.dot(&vector[share.vertex as usize].map(R::to_f64)))
            .sum();
        for share in &self.vertices {
            product[share.vertex as usize] +=
                (share.gradient * (-stiffness * along)).map(R::nearest);
        }
    }

    /// The pressure on each vertex of all bodies: the force on it over a third of the area of its triangles. It is
    /// the [`pressure`](Self::pressure) within a contact and falls off at its border; `pressures` is overwritten.
    pub fn pressures<R: Real>(
        &self,
        triangles: &[[u32; 3]],
        positions: &[Vector3<R>],
        stiffness: f64,
        pressures: &mut Vec<f64>,
    ) {
        let mut areas = vec![0.0; positions.len()];
        for corners in triangles {
            let [a, b, c] = corners.map(|corner| positions[corner as usize].map(R::to_f64));
            let area = (b - a).cross(&(c - a)).norm() / 6.0;
            corners.iter().for_each(|&corner| areas[corner as usize] += area);
        }
        pressures.clear();
        pressures.resize(positions.len(), 0.0);
        for share in &self.vertices {
            let area = areas[share.vertex as usize];
            if area > 0.0 {
                let force = share.gradient.norm() * self.pressure(stiffness);
                pressures[share.vertex as usize] = force / area;
            }
        }
    }
}

impl super::Grip {
    /// What the corners have, blended.
    fn blend<R: Real>(&self, of_vertices: &[Vector3<R>]) -> Vector3<f64> {
        let parts = self.vertices.iter().zip(self.weights);
        parts.fold(Vector3::zeros(), |sum, (&vertex, weight)| {
            sum + of_vertices[vertex as usize].map(R::to_f64) * weight
        })
    }

    /// Shares a vector out among the corners.
    fn spread<R: Real>(&self, vector: Vector3<f64>, onto: &mut [Vector3<R>]) {
        for (&vertex, weight) in self.vertices.iter().zip(self.weights) {
            onto[vertex as usize] += (vector * weight).map(R::nearest);
        }
    }
}
