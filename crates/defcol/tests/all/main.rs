//! All tests but those that count allocations, in one program: what is generic is compiled once for all of them.
//! `cargo test -p defcol --test all bvh::` runs those of one file.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bits;
mod broad;
mod bvh;
mod changes;
mod contact_depth;
mod contact_edges;
mod contact_volume;
mod hashing;
mod impacts;
mod inspect_and_repair;
mod ldi;
mod ldi_volume;
mod mesh;
mod models;
mod near;
mod physics;
mod playground;
mod predicates;
mod primitive_tests;
mod random_worlds;
mod scenes;
mod solids;
mod touching;
mod world;
mod worlds;
