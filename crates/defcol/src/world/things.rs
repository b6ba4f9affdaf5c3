//! Numbers that stay those of a thing, and things with numbers.

use crate::error::WorldError;
use crate::math::Vector3;

/// The number of a body, a collider, a magnet or a dragger. It is never given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(u32);

impl Id {
    /// The number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// Things in the order in which they were added.
#[derive(Debug)]
pub(super) struct Things<T> {
    list: Vec<(Id, T)>,
    next: u32,
}

impl<T> Default for Things<T> {
    fn default() -> Self {
        Self { list: vec![], next: 0 }
    }
}

impl<T> Things<T> {
    pub fn add(&mut self, thing: T) -> Id {
        let id = Id(self.next);
        self.next += 1;
        self.list.push((id, thing));
        id
    }

    /// Its place in the order.
    pub fn index(&self, id: Id, what: &'static str) -> Result<usize, WorldError> {
        let found = self.list.binary_search_by_key(&id, |thing| thing.0);
        found.map_err(|_| WorldError::NoSuch { what, id: id.0 })
    }

    pub fn get_mut(&mut self, id: Id, what: &'static str) -> Result<&mut T, WorldError> {
        let index = self.index(id, what)?;
        Ok(&mut self.list[index].1)
    }

    pub fn remove(&mut self, id: Id, what: &'static str) -> Result<T, WorldError> {
        let index = self.index(id, what)?;
        Ok(self.list.remove(index).1)
    }

    /// Keeps those that pass.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.list.retain(|thing| keep(&thing.1));
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.list.iter().map(|thing| &thing.1)
    }

    pub fn id(&self, index: usize) -> Id {
        self.list[index].0
    }
}

/// Where a dragger leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DragGoal {
    /// A point in space.
    Point(Vector3<f64>),
    /// A point of a body.
    Body {
        /// The body.
        body: Id,
        /// Up to four of its vertices.
        vertices: [u32; 4],
        /// Their weights.
        weights: [f64; 4],
    },
}

/// A spring of length zero with a damper that pulls a point of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dragger {
    /// The body.
    pub body: Id,
    /// Up to four of its vertices.
    pub vertices: [u32; 4],
    /// Their weights.
    pub weights: [f64; 4],
    /// Where to.
    pub goal: DragGoal,
    /// In N/m.
    pub stiffness: f64,
    /// In N s/m.
    pub damping: f64,
}

impl Dragger {
    /// A spring from a vertex to a point.
    pub fn new(body: Id, vertex: u32, goal: Vector3<f64>, stiffness: f64, damping: f64) -> Self {
        Self {
            body,
            vertices: [vertex; 4],
            weights: [1.0, 0.0, 0.0, 0.0],
            goal: DragGoal::Point(goal),
            stiffness,
            damping,
        }
    }

    /// The bodies at both of its ends, with the vertices it pulls there.
    pub(super) fn ends(&self) -> impl Iterator<Item = (Id, [u32; 4])> {
        let goal = match self.goal {
            DragGoal::Point(_) => None,
            DragGoal::Body { body, vertices, .. } => Some((body, vertices)),
        };
        std::iter::once((self.body, self.vertices)).chain(goal)
    }

    /// Whether all numbers are usable.
    pub fn is_valid(&self) -> bool {
        let goal = match self.goal {
            DragGoal::Point(point) => point.iter().all(|x| x.is_finite()),
            DragGoal::Body { weights, .. } => weights.iter().all(|x| x.is_finite()),
        };
        let good = |x: f64| x.is_finite() && x >= 0.0;
        goal && self.weights.iter().all(|x| x.is_finite())
            && good(self.stiffness)
            && good(self.damping)
    }
}
