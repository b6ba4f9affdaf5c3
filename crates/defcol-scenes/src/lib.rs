//! Models and scenes made by code: deterministic, at any resolution, nothing downloaded.

pub mod catalogue;
pub mod characters;
pub mod dolphin;
pub mod dropped;
pub mod heap;
pub mod models;
pub mod morphing;
pub mod regular;
pub mod traversal;
