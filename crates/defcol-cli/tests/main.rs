//! The command line as a user sees it, in one program.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cli;
mod json_keys;
mod recordings;
mod run_parameters;
