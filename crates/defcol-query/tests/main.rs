//! Tests of queries, in one program.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod movie;
mod queries;
mod rig;
mod simulation;
