//! All tests of the core but those that count allocations, in one program, so that generic code is compiled once. Folders
//! mirror `src`: `cargo test -p defcol --test main detect::bvh` runs the tests of one file.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod broad;
mod contact;
mod detect;
mod math;
mod mesh;
mod model;
mod response;
mod support;
mod world;
