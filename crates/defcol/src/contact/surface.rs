//! The surface in which two coarse bodies touch once both have given way (Spillmann and Teschner 2005).

use super::depth::Surfaces;
use super::{Anchor, Contacts, Source};
use crate::detect::bvh::Visit;
use crate::detect::check_positions;
use crate::error::DetectError;
use crate::math::{Real, Vector3};
use crate::state::Bodies;

/// Steps of the solver at the most, and the share of all gaps that may stay.
const STEPS: usize = 200;
const TOLERANCE: f64 = 1e-8;

/// Finds where the surfaces of bodies that are in each other would touch, and the forces that move them there.
///
/// Where bodies are sampled coarsely, pushing points out of each other is not enough: a point is in the middle of a
/// large triangle, whose corners are far away and hardly move. Here each contact asks that a point of the one body and
/// the point of the other's surface that it would leave through meet, and all vertices around move so little that all
/// of that comes true at once: the contact surface is where they meet. How far each body gives way is told by its
/// compliance. Where contacts ask for more than a triangle can do, gaps are as small as they can be in the square mean.
///
/// Forces on bodies that can move are balanced. It keeps its memory from call to call.
#[derive(Debug, Default)]
pub struct ContactSurface<R: Real> {
    surfaces: Surfaces<R>,
    visit: Visit<R>,
    /// The vertices that take part, ascending, and the square root of the compliance of each.
    vertices: Vec<u32>,
    softness: Vec<f64>,
    rows: Vec<Row>,
    solver: Solver,
    displacements: Vec<Vector3<f64>>,
    gap: f64,
}

/// What a contact asks: the sum of the displacements of some vertices, times weights.
#[derive(Debug, Clone, Copy)]
struct Row {
    vertices: [u32; 8],
    weights: [f64; 8],
    position: Vector3<f64>,
}

impl<R: Real> ContactSurface<R> {
    /// Finds the contact surface of contacts with a depth, for a compliance of each body: zero for one that gives no
    /// way. Contacts of volumes do not say which points belong together and are left out, as are those between bodies
    /// that do not give way.
    pub fn find(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        contacts: &Contacts<R>,
        compliance: &[f64],
    ) -> Result<(), DetectError> {
        check_positions(bodies, positions)?;
        if compliance.len() != bodies.len() {
            let (given, expected) = (compliance.len(), bodies.len());
            return Err(DetectError::Count { what: "compliances", given, expected });
        }
        if let Some(body) = compliance.iter().position(|c| !(*c >= 0.0 && c.is_finite())) {
            return Err(DetectError::Compliance { body, value: compliance[body] });
        }
        self.surfaces.update(bodies, positions, contacts.bodies().iter().map(|pair| pair[1]));
        self.rows.clear();
        self.solver.gaps.clear();
        for contact in contacts.iter() {
            let [first, second] = contact.bodies;
            let soft = compliance[first as usize] + compliance[second as usize] > 0.0;
            if contact.source == Source::Volume || !soft {
                continue;
            }
            let target = contact.position + contact.direction * contact.depth;
            let Some(other) = self.opposite(bodies, positions, &contact, target) else { continue };
            let mut row = Row {
                vertices: [contact.first.vertices[0]; 8],
                weights: [0.0; 8],
                position: contact.position.map(R::to_f64),
            };
            for k in 0..4 {
                row.vertices[k] = contact.first.vertices[k];
                row.weights[k] = contact.first.weights[k].to_f64();
                row.vertices[4 + k] = other.vertices[k];
                row.weights[4 + k] = -other.weights[k].to_f64();
            }
            let there = other.blend(positions) - contact.position;
            // Along the way out only: where they meet sideways is free.
            let depth = there.dot(&contact.direction).to_f64();
            self.solver.gaps.push(contact.direction.map(R::to_f64) * depth);
            self.rows.push(row);
        }
        self.number(bodies, compliance);
        self.solver.solve(&self.rows, &self.softness);
        self.displacements.clear();
        self.displacements
            .extend(self.solver.solution.iter().zip(&self.softness).map(|(y, s)| y * *s));
        self.gap = self.solver.gaps.iter().map(|gap| gap.norm()).fold(0.0, f64::max);
        Ok(())
    }

    /// Where a contact takes hold of the surface of its second body.
    fn opposite(
        &mut self,
        bodies: &Bodies,
        positions: &[Vector3<R>],
        contact: &super::Contact<R>,
        target: Vector3<R>,
    ) -> Option<Anchor<R>> {
        if contact.source == Source::Edges {
            return Some(contact.second);
        }
        let surface = self.surfaces.of(bodies, positions, contact.bodies[1])?;
        let nearest = surface.nearest(target, &mut self.visit)?;
        Some(Anchor::of(surface.triangle(nearest.triangle), nearest.weights))
    }

    /// Numbers the vertices that take part.
    fn number(&mut self, bodies: &Bodies, compliance: &[f64]) {
        self.vertices.clear();
        for row in &self.rows {
            let parts = row.vertices.iter().zip(row.weights);
            self.vertices.extend(parts.filter(|part| part.1 != 0.0).map(|part| *part.0));
        }
        self.vertices.sort_unstable();
        self.vertices.dedup();
        self.softness.clear();
        let softness = |&vertex: &u32| compliance[bodies.body_of(vertex)].sqrt();
        self.softness.extend(self.vertices.iter().map(softness));
        for row in &mut self.rows {
            for vertex in &mut row.vertices {
                *vertex = self.vertices.binary_search(vertex).unwrap_or_default() as u32;
            }
        }
    }

    /// The vertices that take part, ascending.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// How far each of these vertices has to go to the contact surface.
    pub fn displacements(&self) -> &[Vector3<f64>] {
        &self.displacements
    }

    /// The largest gap or overlap that stays between points that should meet.
    pub fn gap(&self) -> f64 {
        self.gap
    }

    /// Where the points of the contacts are on the contact surface, in the order of the contacts that count.
    pub fn points(&self) -> impl Iterator<Item = Vector3<f64>> {
        self.rows.iter().map(|row| {
            let parts = row.vertices[..4].iter().zip(row.weights);
            parts.fold(row.position, |sum, (&v, w)| sum + self.displacements[v as usize] * w)
        })
    }

    /// Adds the forces that hold the surfaces where they meet: for each vertex its displacement times the stiffness and
    /// over the compliance of its body. Forces on a body without compliance are left out.
    pub fn add_forces(&self, stiffness: f64, forces: &mut [Vector3<R>]) {
        for (k, &vertex) in self.vertices.iter().enumerate() {
            let softness = self.softness[k];
            if softness > 0.0 {
                let force = self.displacements[k] * (stiffness / (softness * softness));
                forces[vertex as usize] += force.map(R::nearest);
            }
        }
    }
}

/// Conjugate gradients for the least squares of the gaps, and of all such the shortest solution.
#[derive(Debug, Default)]
struct Solver {
    /// What the solution leaves open; before, what is asked for.
    gaps: Vec<Vector3<f64>>,
    solution: Vec<Vector3<f64>>,
    slope: Vec<Vector3<f64>>,
    way: Vec<Vector3<f64>>,
    image: Vec<Vector3<f64>>,
}

impl Solver {
    fn solve(&mut self, rows: &[Row], softness: &[f64]) {
        for list in [&mut self.solution, &mut self.slope, &mut self.way] {
            list.clear();
            list.resize(softness.len(), Vector3::zeros());
        }
        self.image.clear();
        self.image.resize(rows.len(), Vector3::zeros());
        let square = |list: &[Vector3<f64>]| list.iter().map(|v| v.norm_squared()).sum::<f64>();
        let mut steepness = self.gather(rows, softness);
        self.way.copy_from_slice(&self.slope);
        let goal = steepness * TOLERANCE * TOLERANCE;
        for _ in 0..STEPS {
            if steepness <= goal || steepness == 0.0 {
                return;
            }
            for (image, row) in self.image.iter_mut().zip(rows) {
                let parts = row.vertices.iter().zip(row.weights);
                *image = parts.fold(Vector3::zeros(), |sum, (&v, w)| {
                    sum + self.way[v as usize] * (w * softness[v as usize])
                });
            }
            let length = square(&self.image);
            if length == 0.0 {
                return;
            }
            let step = steepness / length;
            self.solution.iter_mut().zip(&self.way).for_each(|(x, way)| *x += way * step);
            self.gaps.iter_mut().zip(&self.image).for_each(|(gap, image)| *gap -= image * step);
            let next = self.gather(rows, softness);
            let turn = next / steepness;
            steepness = next;
            self.way
                .iter_mut()
                .zip(&self.slope)
                .for_each(|(way, slope)| *way = slope + *way * turn);
        }
    }

    /// How the square of all gaps falls with each vertex, and the square of that.
    fn gather(&mut self, rows: &[Row], softness: &[f64]) -> f64 {
        self.slope.fill(Vector3::zeros());
        for (gap, row) in self.gaps.iter().zip(rows) {
            for (&vertex, weight) in row.vertices.iter().zip(row.weights) {
                self.slope[vertex as usize] += gap * (weight * softness[vertex as usize]);
            }
        }
        self.slope.iter().map(|slope| slope.norm_squared()).sum()
    }
}
