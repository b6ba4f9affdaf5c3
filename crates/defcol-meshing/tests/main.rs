//! Tests of tetrahedralization and embedding, in one program.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod embedding;
mod solids;
