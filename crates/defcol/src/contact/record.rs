//! The one record of contacts that every method fills and every response reads.

use crate::math::{Real, Vector3};

/// Where a contact takes hold of a body: a point that up to four vertices carry.
///
/// A force on the point is shared out among the vertices by the weights. Places that are not used name the first
/// vertex again, with the weight zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchor<R> {
    /// The vertices, in the numbering of all bodies.
    pub vertices: [u32; 4],
    /// Their weights; the sum is 1.
    pub weights: [R; 4],
}

impl<R: Real> Anchor<R> {
    /// One vertex.
    pub fn vertex(vertex: u32) -> Self {
        Self::of([vertex], [R::one()])
    }

    /// A point of an edge, a triangle or a tetrahedron.
    ///
    /// # Panics
    /// If there is none, or there are more than four.
    pub fn of<const N: usize>(vertices: [u32; N], weights: [R; N]) -> Self {
        let mut anchor = Self { vertices: [vertices[0]; 4], weights: [R::zero(); 4] };
        anchor.vertices[..N].copy_from_slice(&vertices);
        anchor.weights[..N].copy_from_slice(&weights);
        anchor
    }

    /// The vertices that carry the point, with their weights.
    pub fn parts(&self) -> impl Iterator<Item = (u32, R)> {
        self.vertices.into_iter().zip(self.weights).filter(|part| part.1 != R::zero())
    }

    /// What the vertices have, blended: positions, velocities.
    pub fn blend(&self, of_vertices: &[Vector3<R>]) -> Vector3<R> {
        let sum = Vector3::zeros();
        self.parts().fold(sum, |sum, (vertex, weight)| sum + of_vertices[vertex as usize] * weight)
    }

    /// Adds a vector to what the vertices have, shared out by the weights: forces.
    pub fn spread(&self, vector: Vector3<R>, onto: &mut [Vector3<R>]) {
        for (vertex, weight) in self.parts() {
            onto[vertex as usize] += vector * weight;
        }
    }
}

/// The method that found a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Consistent penetration depth of a point, from the surface around it (THESIS chapter 6).
    Border,
    /// The same, handed on from neighbours.
    Propagated,
    /// The nearest point of the surface.
    Nearest,
    /// The way out of a body that encloses all.
    WayOut,
    /// Two edges.
    Edges,
    /// An edge that goes through a body, with no edge to go with.
    Through,
    /// The gradient of a volume (FAURE08).
    Volume,
    /// Proximity pair: surfaces closer than the contact thickness.
    Proximity,
}

/// One contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact<R: Real> {
    /// The body whose point it is, and the body it is in; twice the same if a body meets itself.
    pub bodies: [u32; 2],
    /// Where it takes hold of the first body.
    pub first: Anchor<R>,
    /// Where it takes hold of the second.
    pub second: Anchor<R>,
    /// Where it is.
    pub position: Vector3<R>,
    /// The way out of the second body for the first, of length one.
    pub direction: Vector3<R>,
    /// How far that is. Never negative.
    pub depth: R,
    /// The share of the volume of the overlap; zero where none was measured.
    pub volume: R,
    /// The area that the contact stands for; zero where none was measured.
    pub area: R,
    /// How well everything that the direction was made from agrees: one if all pointed the same way, zero if all
    /// cancelled.
    pub confidence: R,
    /// How it was found.
    pub source: Source,
}

/// Contacts, property by property.
///
/// Every method that fills them leaves them in ascending order of the vertices of the first anchor, then of the second
/// body, then of the vertices of the second anchor, whatever the number of threads. It keeps its memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Contacts<R: Real> {
    bodies: Vec<[u32; 2]>,
    first: Vec<Anchor<R>>,
    second: Vec<Anchor<R>>,
    position: Vec<Vector3<R>>,
    direction: Vec<Vector3<R>>,
    depth: Vec<R>,
    volume: Vec<R>,
    area: Vec<R>,
    confidence: Vec<R>,
    source: Vec<Source>,
    /// Memory to sort in, empty in between.
    sorted: Vec<Contact<R>>,
}

impl<R: Real> Default for Contacts<R> {
    fn default() -> Self {
        Self {
            bodies: vec![],
            first: vec![],
            second: vec![],
            position: vec![],
            direction: vec![],
            depth: vec![],
            volume: vec![],
            area: vec![],
            confidence: vec![],
            source: vec![],
            sorted: vec![],
        }
    }
}

impl<R: Real> Contacts<R> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Takes over what others are, in the memory it has.
    pub fn copy_from(&mut self, other: &Self) {
        self.bodies.clone_from(&other.bodies);
        self.first.clone_from(&other.first);
        self.second.clone_from(&other.second);
        self.position.clone_from(&other.position);
        self.direction.clone_from(&other.direction);
        self.depth.clone_from(&other.depth);
        self.volume.clone_from(&other.volume);
        self.area.clone_from(&other.area);
        self.confidence.clone_from(&other.confidence);
        self.source.clone_from(&other.source);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.first.clear();
        self.second.clear();
        self.position.clear();
        self.direction.clear();
        self.depth.clear();
        self.volume.clear();
        self.area.clear();
        self.confidence.clear();
        self.source.clear();
    }

    /// Adds one behind all others.
    pub fn push(&mut self, contact: Contact<R>) {
        self.bodies.push(contact.bodies);
        self.first.push(contact.first);
        self.second.push(contact.second);
        self.position.push(contact.position);
        self.direction.push(contact.direction);
        self.depth.push(contact.depth);
        self.volume.push(contact.volume);
        self.area.push(contact.area);
        self.confidence.push(contact.confidence);
        self.source.push(contact.source);
    }

    /// One of them.
    pub fn get(&self, index: usize) -> Contact<R> {
        Contact {
            bodies: self.bodies[index],
            first: self.first[index],
            second: self.second[index],
            position: self.position[index],
            direction: self.direction[index],
            depth: self.depth[index],
            volume: self.volume[index],
            area: self.area[index],
            confidence: self.confidence[index],
            source: self.source[index],
        }
    }

    /// All of them in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Contact<R>> + Clone {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Adds those of another method and brings all into order.
    pub fn merge(&mut self, other: &Self) {
        self.append(other);
        self.sort();
    }

    /// Adds those of another method behind all others.
    pub(crate) fn append(&mut self, other: &Self) {
        other.iter().for_each(|contact| self.push(contact));
    }

    /// Brings all into order.
    pub(crate) fn sort(&mut self) {
        let mut all = std::mem::take(&mut self.sorted);
        all.extend(self.iter());
        // No two alike: unstable does not matter, and takes no memory.
        all.sort_unstable_by_key(|c| (c.first.vertices, c.bodies[1], c.second.vertices, c.source));
        self.clear();
        all.drain(..).for_each(|contact| self.push(contact));
        self.sorted = all;
    }

    /// The two bodies of each.
    pub fn bodies(&self) -> &[[u32; 2]] {
        &self.bodies
    }

    /// Where each takes hold of its first body.
    pub fn first(&self) -> &[Anchor<R>] {
        &self.first
    }

    /// Where each takes hold of its second body.
    pub fn second(&self) -> &[Anchor<R>] {
        &self.second
    }

    /// Where each is.
    pub fn position(&self) -> &[Vector3<R>] {
        &self.position
    }

    /// The way out of each.
    pub fn direction(&self) -> &[Vector3<R>] {
        &self.direction
    }

    /// How deep each is.
    pub fn depth(&self) -> &[R] {
        &self.depth
    }

    /// The share of each in the volume.
    pub fn volume(&self) -> &[R] {
        &self.volume
    }

    /// The area that each stands for.
    pub fn area(&self) -> &[R] {
        &self.area
    }

    /// How much each is to be trusted.
    pub fn confidence(&self) -> &[R] {
        &self.confidence
    }

    /// How each was found.
    pub fn source(&self) -> &[Source] {
        &self.source
    }
}
