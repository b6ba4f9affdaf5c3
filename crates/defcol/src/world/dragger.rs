//! Draggers: springs that pull a point of a body.

use super::BodyId;
use crate::math::Vector3;

/// Where a dragger leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DragGoal {
    /// A point in space.
    Point(Vector3<f64>),
    /// A point of a body.
    Body {
        /// The body.
        body: BodyId,
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
    pub body: BodyId,
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
    pub fn new(
        body: BodyId,
        vertex: u32,
        goal: Vector3<f64>,
        stiffness: f64,
        damping: f64,
    ) -> Self {
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
    pub(super) fn ends(&self) -> impl Iterator<Item = (BodyId, [u32; 4])> {
        let goal = match self.goal {
            DragGoal::Point(_) => None,
            DragGoal::Body { body, vertices, .. } => Some((body, vertices)),
        };
        std::iter::once((self.body, self.vertices)).chain(goal)
    }

    /// Whether all numbers are usable.
    pub(crate) fn is_valid(&self) -> bool {
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
