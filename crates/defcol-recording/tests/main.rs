//! Tests of recordings, in one program.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod export;
mod read_and_write;
