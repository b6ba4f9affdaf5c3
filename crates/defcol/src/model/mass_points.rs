//! Mass points that keep distances, areas and volumes (Teschner, Heidelberger, Mueller, Gross 2004).
//!
//! Every primitive has a measure C of how far it is from rest, relative to what it is at rest, and the energy k C²/2.
//! Forces are -(k C + d Ċ) ∇C.

use std::sync::Arc;

use super::Incidence;
use crate::math::{Real, Vector3};
use crate::state::Scratch;

/// How strongly each measure is kept, in Pa: times the volume that stands for a primitive this is its k.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moduli {
    /// For lengths of edges.
    pub distance: f64,
    /// For areas of triangles of the surface.
    pub area: f64,
    /// For volumes of tetrahedra.
    pub volume: f64,
    /// Forces against the rate of change, in seconds: times the modulus.
    pub damping: f64,
    /// Edges stretched or pressed by more than this share of their length give way for good; infinite: never.
    pub yield_strain: f64,
    /// How quickly they give way: the share of the excess in a second.
    pub creep: f64,
}

impl Default for Moduli {
    fn default() -> Self {
        Self {
            distance: 2e4,
            area: 0.0,
            volume: 2e4,
            damping: 0.005,
            yield_strain: f64::INFINITY,
            creep: 10.0,
        }
    }
}

/// Primitives with one measure each.
#[derive(Debug, Clone)]
pub struct Measures<R: Real, const N: usize> {
    corners: Arc<[[u32; N]]>,
    rest: Vec<R>,
    /// k of each, in J.
    stiffness: Vec<R>,
    incidence: Arc<Incidence>,
    shares: Scratch<Vec<[Vector3<R>; N]>>,
    /// Gradients at the positions of the last call for forces; none before.
    gradients: Vec<[Vector3<R>; N]>,
}

impl<R: Real, const N: usize> Measures<R, N> {
    /// Primitives with the volume that each stands for.
    fn new(vertices: usize, list: Vec<([u32; N], R, R)>) -> Self {
        let corners: Vec<[u32; N]> = list.iter().map(|one| one.0).collect();
        Self {
            incidence: Arc::new(Incidence::new(vertices, &corners)),
            shares: Scratch::default(),
            gradients: vec![],
            corners: corners.into(),
            rest: list.iter().map(|one| one.1).collect(),
            stiffness: list.iter().map(|one| one.2).collect(),
        }
    }

    /// The corners of each.
    pub fn corners(&self) -> &[[u32; N]] {
        &self.corners
    }

    /// What each measures at rest: a length, an area, a volume.
    pub fn rest(&self) -> &[R] {
        &self.rest
    }

    /// The k of each.
    pub fn stiffness(&self) -> &[R] {
        &self.stiffness
    }

    fn energy(&self, positions: &[Vector3<R>]) -> f64 {
        let all = self.corners.iter().zip(&self.rest).zip(&self.stiffness);
        all.map(|((corners, rest), k)| {
            let (c, _) = measure(corners.map(|corner| positions[corner as usize]), *rest);
            (*k * c * c).to_f64() / 2.0
        })
        .sum()
    }

    fn add_forces(
        &mut self,
        positions: &[Vector3<R>],
        velocities: &[Vector3<R>],
        damping: R,
        forces: &mut [Vector3<R>],
    ) {
        let all = self.corners.iter().zip(&self.rest).zip(&self.stiffness);
        self.shares.resize(self.corners.len(), [Vector3::zeros(); N]);
        self.gradients.resize(self.corners.len(), [Vector3::zeros(); N]);
        let out = self.shares.iter_mut().zip(self.gradients.iter_mut());
        for (((corners, rest), k), (share, kept)) in all.zip(out) {
            let (c, gradients) = measure(corners.map(|corner| positions[corner as usize]), *rest);
            let parts = corners.iter().zip(&gradients);
            let rate = parts.fold(R::zero(), |sum, (corner, gradient)| {
                sum + gradient.dot(&velocities[*corner as usize])
            });
            let force = -*k * (c + damping * rate);
            *share = gradients.map(|gradient| gradient * force);
            *kept = gradients;
        }
        self.incidence.gather(&self.shares, forces);
    }

    /// Only the part k ∇C ∇Cᵀ: the rest may be negative, and vanishes at rest.
    fn add_stiffness_times(&mut self, vector: &[Vector3<R>], scale: R, product: &mut [Vector3<R>]) {
        self.shares.resize(self.corners.len(), [Vector3::zeros(); N]);
        self.gradients.resize(self.corners.len(), [Vector3::zeros(); N]);
        let all = self.corners.iter().zip(&self.stiffness).zip(&self.gradients);
        for (((corners, k), gradients), share) in all.zip(self.shares.iter_mut()) {
            let parts = corners.iter().zip(gradients);
            let along = parts.fold(R::zero(), |sum, (corner, gradient)| {
                sum + gradient.dot(&vector[*corner as usize])
            });
            *share = gradients.map(|gradient| gradient * (-*k * along * scale));
        }
        self.incidence.gather(&self.shares, product);
    }

    fn add_diagonal(&self, diagonal: &mut [R]) {
        for ((corners, k), gradients) in
            self.corners.iter().zip(&self.stiffness).zip(&self.gradients)
        {
            for (corner, gradient) in corners.iter().zip(gradients) {
                diagonal[*corner as usize] += *k * gradient.norm_squared();
            }
        }
    }
}

/// The relative measure of an edge, a triangle or a tetrahedron and its gradients.
pub(crate) fn measure<R: Real, const N: usize>(
    corners: [Vector3<R>; N],
    rest: R,
) -> (R, [Vector3<R>; N]) {
    let mut gradients = [Vector3::zeros(); N];
    let size = match N {
        2 => {
            let along = corners[1] - corners[0];
            let length = along.norm();
            if length > R::zero() {
                let unit = along / (length * rest);
                (gradients[0], gradients[1]) = (-unit, unit);
            }
            length
        }
        3 => {
            let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
            let doubled = normal.norm();
            if doubled > R::zero() {
                let unit = normal / (doubled * rest * R::nearest(2.0));
                for k in 0..3 {
                    gradients[k] = unit.cross(&(corners[(k + 2) % 3] - corners[(k + 1) % 3]));
                }
            }
            doubled / R::nearest(2.0)
        }
        _ => {
            let [a, b, c] = [1, 2, 3].map(|k: usize| corners[k] - corners[0]);
            let scale = R::one() / (rest * R::nearest(6.0));
            gradients[1] = b.cross(&c) * scale;
            gradients[2] = c.cross(&a) * scale;
            gradients[3] = a.cross(&b) * scale;
            gradients[0] = -(gradients[1] + gradients[2] + gradients[3]);
            a.dot(&b.cross(&c)) / R::nearest(6.0)
        }
    };
    (size / rest - R::one(), gradients)
}

/// Mass points of one body.
#[derive(Debug, Clone)]
pub struct MassPoints<R: Real> {
    moduli: Moduli,
    /// Edges keep their lengths.
    pub distances: Measures<R, 2>,
    /// Triangles keep their areas.
    pub areas: Measures<R, 3>,
    /// Tetrahedra keep their volumes.
    pub volumes: Measures<R, 4>,
}

impl<R: Real> MassPoints<R> {
    /// All edges, triangles and tetrahedra of one body. A primitive without extent has no measure and is left out.
    pub fn new(
        rest: &[Vector3<R>],
        edges: &[[u32; 2]],
        triangles: &[[u32; 3]],
        tetrahedra: &[[u32; 4]],
        moduli: Moduli,
    ) -> Self {
        let size = |corners: &[u32]| -> R {
            let place = |k: usize| rest[corners[k] as usize];
            let size = match corners.len() {
                2 => (place(1) - place(0)).norm(),
                3 => (place(1) - place(0)).cross(&(place(2) - place(0))).norm() / R::nearest(2.0),
                _ => {
                    let [a, b, c] = [1, 2, 3].map(|k| place(k) - place(0));
                    a.dot(&b.cross(&c)) / R::nearest(6.0)
                }
            };
            if size.is_finite() { size } else { R::zero() }
        };
        let total = tetrahedra.iter().map(|t| size(t).abs().to_f64()).sum::<f64>();
        // A surface without tetrahedra stands for a sheet a tenth as thick as its edges are long.
        let mean = edges.iter().map(|e| size(e).to_f64()).sum::<f64>() / edges.len().max(1) as f64;
        let sheet = triangles.iter().map(|t| size(t).to_f64()).sum::<f64>() * 0.1 * mean;
        let total = if tetrahedra.is_empty() { sheet } else { total };
        let share = |count: usize, modulus: f64| R::nearest(modulus * total / count.max(1) as f64);
        let (of_edge, of_triangle) =
            (share(edges.len(), moduli.distance), share(triangles.len(), moduli.area));
        let of_tet = share(tetrahedra.len(), moduli.volume);
        fn list<R: Real, const N: usize>(
            corners: &[[u32; N]],
            size: impl Fn(&[u32]) -> R,
            k: R,
        ) -> Vec<([u32; N], R, R)> {
            if k == R::zero() {
                return vec![];
            }
            let all = corners.iter().map(|one| (*one, size(one), k));
            all.filter(|one| one.1 != R::zero()).collect()
        }
        Self {
            moduli,
            distances: Measures::new(rest.len(), list(edges, size, of_edge)),
            areas: Measures::new(rest.len(), list(triangles, size, of_triangle)),
            volumes: Measures::new(rest.len(), list(tetrahedra, size, of_tet)),
        }
    }

    /// How strongly measures are kept.
    pub fn moduli(&self) -> &Moduli {
        &self.moduli
    }

    /// Takes on other moduli; false if a measure would get a stiffness that has none, and nothing changes.
    pub fn set_moduli(&mut self, moduli: Moduli) -> bool {
        let old = self.moduli;
        let scales =
            [(old.distance, moduli.distance), (old.area, moduli.area), (old.volume, moduli.volume)];
        if scales.iter().any(|(old, new)| *old == 0.0 && *new != 0.0) {
            return false;
        }
        let [edges, triangles, tetrahedra] =
            scales.map(|(old, new)| R::nearest(if old == 0.0 { 1.0 } else { new / old }));
        self.distances.stiffness.iter_mut().for_each(|k| *k *= edges);
        self.areas.stiffness.iter_mut().for_each(|k| *k *= triangles);
        self.volumes.stiffness.iter_mut().for_each(|k| *k *= tetrahedra);
        self.moduli = moduli;
        true
    }

    /// The energy.
    pub fn energy(&self, positions: &[Vector3<R>]) -> f64 {
        self.distances.energy(positions)
            + self.areas.energy(positions)
            + self.volumes.energy(positions)
    }

    /// Adds all forces.
    pub fn add_forces(
        &mut self,
        positions: &[Vector3<R>],
        velocities: &[Vector3<R>],
        forces: &mut [Vector3<R>],
    ) {
        let damping = R::nearest(self.moduli.damping);
        self.distances.add_forces(positions, velocities, damping, forces);
        self.areas.add_forces(positions, velocities, damping, forces);
        self.volumes.add_forces(positions, velocities, damping, forces);
    }

    /// Adds how forces change if positions change by `vector`, times `scale`.
    pub fn add_stiffness_times(
        &mut self,
        vector: &[Vector3<R>],
        scale: R,
        product: &mut [Vector3<R>],
    ) {
        self.distances.add_stiffness_times(vector, scale, product);
        self.areas.add_stiffness_times(vector, scale, product);
        self.volumes.add_stiffness_times(vector, scale, product);
    }

    /// Adds to what each vertex has an estimate of the diagonal of the stiffness.
    pub fn add_diagonal(&self, diagonal: &mut [R]) {
        self.distances.add_diagonal(diagonal);
        self.areas.add_diagonal(diagonal);
        self.volumes.add_diagonal(diagonal);
    }

    /// Lets edges that are stretched or pressed too far give way for good.
    pub fn creep(&mut self, positions: &[Vector3<R>], step: R) {
        if self.moduli.yield_strain == f64::INFINITY {
            return;
        }
        let (limit, one) = (R::nearest(self.moduli.yield_strain), R::one());
        let share = R::nearest(self.moduli.creep) * step;
        let share = if share < one { share } else { one };
        for (corners, rest) in self.distances.corners.iter().zip(&mut self.distances.rest) {
            let [a, b] = corners.map(|corner| positions[corner as usize]);
            let strain = (b - a).norm() / *rest - one;
            let excess = strain.abs() - limit;
            if excess > R::zero() {
                let sign = if strain > R::zero() { one } else { -one };
                *rest *= one + sign * excess * share;
            }
        }
    }
}
