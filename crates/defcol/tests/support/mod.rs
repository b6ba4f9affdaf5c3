//! What the tests share: random input and ready-made scenes.

/// Whether tests run small cases: in the dev profile. The release tests of `cargo xtask ci` run all of them.
pub const QUICK: bool = cfg!(debug_assertions);

pub mod overlaps;
pub mod scenes;
pub mod solids;
pub mod worlds;
