//! Shape matching (Mueller, Heidelberger, Teschner, Gross 2005).
//!
//! Each cluster of vertices is pulled to the shape it has at rest, moved, turned and, if wanted, stretched, sheared,
//! bent and twisted so that it fits best.

use std::sync::Arc;

use nalgebra::SMatrix;

use crate::math::{Bounds, Matrix3, Real, Rotation, Vector3};
use crate::state::Scratch;

/// How the shape at rest may be changed to fit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Matching {
    /// Moved and turned.
    #[default]
    Rigid,
    /// Also stretched and sheared, by this share of what would fit best.
    Linear(f64),
    /// Also bent and twisted.
    Quadratic(f64),
}

/// What may be chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShapeParameters {
    /// How the shape may be changed.
    pub matching: Matching,
    /// How quickly a vertex returns to its goal, in Hz.
    pub frequency: f64,
    /// Boxes of clusters along the longest side; 1: the whole body is one.
    pub clusters: u32,
    /// A cluster strained by more than this gives way for good; infinite: never.
    pub yield_strain: f64,
    /// How quickly: the share of the excess in a second.
    pub creep: f64,
    /// How far it may give way at most.
    pub largest_strain: f64,
    /// Velocities within a cluster that are not those of a rigid body lose this share in a second.
    pub damping: f64,
}

impl Default for ShapeParameters {
    fn default() -> Self {
        Self {
            matching: Matching::Rigid,
            frequency: 10.0,
            clusters: 1,
            yield_strain: f64::INFINITY,
            creep: 10.0,
            largest_strain: 1.0,
            damping: 2.0,
        }
    }
}

/// Numbers of a quadratic polynomial without its constant.
const TERMS: usize = 9;

#[derive(Debug, Clone)]
struct Cluster<R: Real> {
    vertices: Arc<[u32]>,
    /// Places at rest relative to their centre of mass.
    rest: Arc<[Vector3<R>]>,
    mass: R,
    quadratic: bool,
    /// Inverse of the sum of m q qᵀ, for three terms or nine, less the means of the terms.
    inverse: SMatrix<R, TERMS, TERMS>,
    means: [R; TERMS],
    rotation: Rotation<R>,
    /// What has given way.
    plastic: Matrix3<R>,
    /// The strain when goals were last found.
    strain: Matrix3<R>,
}

/// A body kept in shape.
#[derive(Debug, Clone)]
pub struct ShapeMatching<R: Real> {
    parameters: ShapeParameters,
    masses: Arc<[R]>,
    /// The share of each mass that a vertex has in each of its clusters.
    weights: Arc<[R]>,
    clusters: Vec<Cluster<R>>,
    /// One over the number of clusters that each vertex is in.
    shares: Arc<[R]>,
    goals: Scratch<Vec<Vector3<R>>>,
    /// Positions for which goals were last asked by forces or by the solver.
    places: Vec<Vector3<R>>,
}

impl<R: Real> ShapeMatching<R> {
    /// Clusters of vertices with these positions at rest and masses.
    pub fn new(rest: &[Vector3<R>], masses: &[R], parameters: ShapeParameters) -> Self {
        let lists = clusters_of(rest, parameters.clusters.max(1));
        let mut counts = vec![0usize; rest.len()];
        lists.iter().flatten().for_each(|&vertex| counts[vertex as usize] += 1);
        let quadratic = matches!(parameters.matching, Matching::Quadratic(_));
        let shares: Vec<R> =
            counts.iter().map(|&n| R::one() / R::nearest(n.max(1) as f64)).collect();
        let weights: Vec<R> = masses.iter().zip(&shares).map(|(m, s)| *m * *s).collect();
        let clusters =
            lists.into_iter().map(|list| Cluster::new(list, rest, &weights, quadratic)).collect();
        Self {
            parameters,
            masses: masses.into(),
            clusters,
            shares: shares.into(),
            weights: weights.into(),
            goals: Scratch::default(),
            places: rest.to_vec(),
        }
    }

    /// What was chosen.
    pub fn parameters(&self) -> &ShapeParameters {
        &self.parameters
    }

    /// Chooses anew; clusters and how they may be changed stay what they are.
    pub fn set_parameters(&mut self, parameters: ShapeParameters) {
        let ShapeParameters { matching, clusters, .. } = self.parameters;
        self.parameters = ShapeParameters { matching, clusters, ..parameters };
    }

    /// Takes velocities within clusters that are not those of a rigid body away, as much as damping does in this time.
    pub fn damp(&mut self, positions: &[Vector3<R>], velocities: &mut [Vector3<R>], time: R) {
        let damped = R::nearest(self.parameters.damping) * time;
        if !(damped > R::zero()) {
            return;
        }
        self.clear_goals();
        for cluster in &self.clusters {
            let goals = &mut self.goals;
            cluster.pull_to_rigid(positions, velocities, &self.weights, R::one(), goals);
        }
        // Implicit: never more than all.
        let share = damped / (R::one() + damped);
        let changes = self.goals.iter().zip(&*self.masses);
        for (velocity, (change, mass)) in velocities.iter_mut().zip(changes) {
            *velocity += change * (share / *mass);
        }
    }

    /// Where each vertex should be, for these positions.
    pub fn goals(&mut self, positions: &[Vector3<R>]) -> &[Vector3<R>] {
        self.clear_goals();
        for cluster in &mut self.clusters {
            let (matrix, bend, centre) =
                cluster.fit(positions, &self.weights, self.parameters.matching);
            for (&vertex, &rest) in cluster.vertices.iter().zip(&*cluster.rest) {
                let place = cluster.plastic * rest;
                let mut goal = centre + matrix * place;
                if let Some(bend) = &bend {
                    let terms = quadratic_terms(place);
                    for (k, column) in bend.iter().enumerate() {
                        goal += column * (terms[3 + k] - cluster.means[3 + k]);
                    }
                }
                self.goals[vertex as usize] += goal * self.shares[vertex as usize];
            }
        }
        &self.goals
    }

    /// How far each vertex is from its goal after it has gone a way from where it was before.
    pub fn missing<'a>(
        &'a mut self,
        before: &[Vector3<R>],
        ways: &[Vector3<R>],
    ) -> impl Iterator<Item = Vector3<R>> + use<'a, R> {
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        places.extend(before.iter().zip(ways).map(|(before, way)| before + way));
        self.goals(&places);
        self.places = places;
        self.goals.iter().zip(&self.places).map(|(goal, place)| goal - place)
    }

    /// The energy of springs between vertices and their goals.
    pub fn energy(&self, positions: &[Vector3<R>]) -> f64 {
        let stiffness = self.stiffness();
        // Clusters remember how they are turned: a look must not change what comes next.
        let mut own = self.clone();
        let all = own.goals(positions).iter().zip(positions).zip(&*self.masses);
        all.map(|((goal, place), mass)| {
            (stiffness * *mass * (goal - place).norm_squared()).to_f64() / 2.0
        })
        .sum()
    }

    /// Adds forces to the goals, and against velocities within clusters.
    pub fn add_forces(
        &mut self,
        positions: &[Vector3<R>],
        velocities: &[Vector3<R>],
        forces: &mut [Vector3<R>],
    ) {
        let stiffness = self.stiffness();
        self.goals(positions);
        self.places.clear();
        self.places.extend_from_slice(positions);
        for (vertex, force) in forces.iter_mut().enumerate() {
            *force += (self.goals[vertex] - positions[vertex]) * (stiffness * self.masses[vertex]);
        }
        let damping = R::nearest(self.parameters.damping);
        if damping > R::zero() {
            for cluster in &self.clusters {
                cluster.pull_to_rigid(positions, velocities, &self.weights, damping, forces);
            }
        }
    }

    /// Adds how forces change if positions change by `vector`, times `scale`. Goals move and turn with their clusters.
    pub fn add_stiffness_times(&self, vector: &[Vector3<R>], scale: R, product: &mut [Vector3<R>]) {
        let stiffness = self.stiffness() * scale;
        for cluster in &self.clusters {
            cluster.pull_to_rigid(&self.places, vector, &self.weights, stiffness, product);
        }
    }

    /// Adds the diagonal of the stiffness.
    pub fn add_diagonal(&self, diagonal: &mut [R]) {
        let stiffness = self.stiffness();
        for (sum, mass) in diagonal.iter_mut().zip(&*self.masses) {
            *sum += stiffness * *mass;
        }
    }

    /// Lets clusters that are strained too far give way for good.
    pub fn creep(&mut self, step: R) {
        let ShapeParameters { yield_strain, creep, largest_strain, .. } = self.parameters;
        if yield_strain == f64::INFINITY {
            return;
        }
        let share = (creep * step.to_f64()).min(1.0);
        for cluster in &mut self.clusters {
            if cluster.strain.norm().to_f64() <= yield_strain {
                continue;
            }
            let one = Matrix3::identity();
            let mut plastic = (one + cluster.strain * R::nearest(share)) * cluster.plastic;
            // The volume is kept, and the shape within bounds.
            let volume = plastic.determinant();
            if !(volume > R::nearest(1e-3)) {
                continue;
            }
            plastic /= volume.cbrt();
            let given = (plastic - one).norm().to_f64();
            if given > largest_strain {
                plastic = one + (plastic - one) * R::nearest(largest_strain / given);
            }
            cluster.plastic = plastic;
            cluster.measure(&self.weights);
        }
    }

    fn clear_goals(&mut self) {
        self.goals.clear();
        self.goals.resize(self.masses.len(), Vector3::zeros());
    }

    fn stiffness(&self) -> R {
        let omega = std::f64::consts::TAU * self.parameters.frequency;
        R::nearest(omega * omega)
    }
}

impl<R: Real> Cluster<R> {
    fn new(vertices: Vec<u32>, rest: &[Vector3<R>], masses: &[R], quadratic: bool) -> Self {
        let own = |vertex: &u32| (rest[*vertex as usize], masses[*vertex as usize]);
        let (sum, mass) = vertices
            .iter()
            .map(own)
            .fold((Vector3::zeros(), R::zero()), |(sum, total), (place, mass)| {
                (sum + place * mass, total + mass)
            });
        let centre = if mass > R::zero() { sum / mass } else { Vector3::zeros() };
        let places: Vec<_> = vertices.iter().map(|v| rest[*v as usize] - centre).collect();
        let mut cluster = Self {
            vertices: vertices.into(),
            rest: places.into(),
            mass,
            quadratic,
            inverse: SMatrix::zeros(),
            means: [R::zero(); TERMS],
            rotation: Rotation::identity(),
            plastic: Matrix3::identity(),
            strain: Matrix3::zeros(),
        };
        cluster.measure(masses);
        cluster
    }

    /// Moments of the shape at rest with what has given way.
    fn measure(&mut self, masses: &[R]) {
        let terms = if self.quadratic { TERMS } else { 3 };
        let all = self.rest.iter().zip(&*self.vertices);
        let all = all.map(|(place, &vertex)| {
            (quadratic_terms(self.plastic * place).map(R::to_f64), masses[vertex as usize].to_f64())
        });
        let total = self.mass.to_f64().max(1e-300);
        let mut means = [0.0; TERMS];
        for (q, mass) in all.clone() {
            means.iter_mut().zip(q).for_each(|(mean, q)| *mean += q * mass / total);
        }
        // Those of the places themselves are zero.
        means[..3].fill(0.0);
        let mut moments = SMatrix::<f64, TERMS, TERMS>::identity();
        for row in 0..terms {
            for column in 0..terms {
                let parts = all
                    .clone()
                    .map(|(q, mass)| mass * (q[row] - means[row]) * (q[column] - means[column]));
                moments[(row, column)] = parts.sum();
            }
        }
        // Directions in which the cluster has no extent get a little.
        let scale: f64 = (0..3).map(|k| moments[(k, k)]).sum();
        for k in 0..terms {
            let power = if k < 3 { scale } else { scale * scale / total };
            moments[(k, k)] += 1e-9 * power.max(1e-300);
        }
        self.means = means.map(R::nearest);
        self.inverse = moments.try_inverse().map_or_else(SMatrix::zeros, |m| m.map(R::nearest));
    }

    fn centre(&self, of: &[Vector3<R>], masses: &[R]) -> Vector3<R> {
        let sum = self.vertices.iter().fold(Vector3::zeros(), |sum, &vertex| {
            sum + of[vertex as usize] * masses[vertex as usize]
        });
        if self.mass > R::zero() { sum / self.mass } else { sum }
    }

    /// The matrix that takes the shape to where it fits best, its quadratic part, and the centre.
    fn fit(
        &mut self,
        positions: &[Vector3<R>],
        masses: &[R],
        matching: Matching,
    ) -> (Matrix3<R>, Option<[Vector3<R>; TERMS - 3]>, Vector3<R>) {
        let centre = self.centre(positions, masses);
        let mut sums = [Vector3::zeros(); TERMS];
        let terms = if matches!(matching, Matching::Quadratic(_)) { TERMS } else { 3 };
        for (&vertex, &rest) in self.vertices.iter().zip(&*self.rest) {
            let moved = (positions[vertex as usize] - centre) * masses[vertex as usize];
            let q = quadratic_terms(self.plastic * rest);
            for k in 0..terms {
                sums[k] += moved * (q[k] - self.means[k]);
            }
        }
        let product = Matrix3::from_columns(&[sums[0], sums[1], sums[2]]);
        self.rotation = Rotation::nearest_to(&product, self.rotation);
        let rotation = self.rotation.matrix();
        // Columns of the best transform: sums times the inverse of the moments at rest.
        let column = |k: usize| {
            (0..terms).fold(Vector3::zeros(), |sum, j| sum + sums[j] * self.inverse[(j, k)])
        };
        let best = Matrix3::from_columns(&[column(0), column(1), column(2)]);
        self.strain = rotation.transpose() * best - Matrix3::identity();
        match matching {
            Matching::Rigid => (rotation, None, centre),
            Matching::Linear(share) => (blend(rotation, best, share), None, centre),
            Matching::Quadratic(share) => {
                let bend = [3, 4, 5, 6, 7, 8].map(|k| column(k) * R::nearest(share));
                (blend(rotation, best, share), Some(bend), centre)
            }
        }
    }

    /// Forces towards the velocities of a rigid body.
    fn pull_to_rigid(
        &self,
        positions: &[Vector3<R>],
        velocities: &[Vector3<R>],
        masses: &[R],
        damping: R,
        forces: &mut [Vector3<R>],
    ) {
        let centre = self.centre(positions, masses);
        let mean = self.centre(velocities, masses);
        let (mut momentum, mut inertia) = (Vector3::zeros(), Matrix3::zeros());
        for &vertex in &*self.vertices {
            let v = vertex as usize;
            let arm = positions[v] - centre;
            momentum += arm.cross(&(velocities[v] - mean)) * masses[v];
            inertia +=
                (Matrix3::identity() * arm.norm_squared() - arm * arm.transpose()) * masses[v];
        }
        let turn = inertia.try_inverse().map_or_else(Vector3::zeros, |inverse| inverse * momentum);
        for &vertex in &*self.vertices {
            let v = vertex as usize;
            let rigid = mean + turn.cross(&(positions[v] - centre));
            forces[v] += (rigid - velocities[v]) * (damping * masses[v]);
        }
    }
}

/// Part of what fits best, with the volume kept, and the rest of a rotation.
fn blend<R: Real>(rotation: Matrix3<R>, best: Matrix3<R>, share: f64) -> Matrix3<R> {
    let volume = best.determinant();
    // Flat or turned over: nothing that could be scaled to its volume.
    if !(volume > R::nearest(1e-3)) {
        return rotation;
    }
    let share = R::nearest(share);
    best / volume.cbrt() * share + rotation * (R::one() - share)
}

fn quadratic_terms<R: Real>(q: Vector3<R>) -> [R; TERMS] {
    [q.x, q.y, q.z, q.x * q.x, q.y * q.y, q.z * q.z, q.x * q.y, q.y * q.z, q.z * q.x]
}

/// Vertices in boxes of a grid, each grown by half so that they overlap.
fn clusters_of<R: Real>(rest: &[Vector3<R>], along_longest: u32) -> Vec<Vec<u32>> {
    let bounds = Bounds::of(rest.iter().copied());
    let extent = bounds.extent().map(R::to_f64);
    let side = extent.max() / f64::from(along_longest);
    if along_longest <= 1 || !(side > 0.0) {
        return vec![(0..rest.len() as u32).collect()];
    }
    let counts = [0, 1, 2].map(|k: usize| ((extent[k] / side).round() as u32).max(1));
    let mut lists = vec![];
    for z in 0..counts[2] {
        for y in 0..counts[1] {
            for x in 0..counts[0] {
                let cell = [x, y, z];
                let within = |place: &Vector3<R>| {
                    (0..3).all(|k| {
                        let size = extent[k] / f64::from(counts[k]);
                        let at = (place[k] - bounds.min[k]).to_f64();
                        let middle = (f64::from(cell[k]) + 0.5) * size;
                        (at - middle).abs() <= 0.76 * size
                    })
                };
                let list: Vec<u32> = (0u32..)
                    .zip(rest)
                    .filter(|(_, place)| within(place))
                    .map(|(vertex, _)| vertex)
                    .collect();
                if !list.is_empty() {
                    lists.push(list);
                }
            }
        }
    }
    lists
}
