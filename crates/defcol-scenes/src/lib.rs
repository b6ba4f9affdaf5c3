//! Models made by code: deterministic, at any resolution, nothing downloaded.

pub mod regular;
