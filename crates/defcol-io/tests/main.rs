//! Tests of readers and writers, in one program; those that measure memory are in `malformed`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod dialects;
mod round_trip;
