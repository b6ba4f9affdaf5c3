//! Tests of models, in one program.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod models;
mod regular;
