//! All bodies together: which vertices and primitives are whose, and who may collide with whom.
//!
//! Positions of all bodies stand behind one another in one array that the caller owns; [`Bodies`]
//! says which range belongs to which body and holds the primitives in that numbering.

mod bodies;
mod motion;
mod scratch;
mod topology;

pub(crate) use bodies::new_revision;
pub use bodies::{Bodies, Body, Collides};
pub(crate) use motion::Mobility;
pub use motion::{Binding, Motion};
pub(crate) use scratch::Scratch;
