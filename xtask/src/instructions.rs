//! Counts the instructions of the hot loops and fails if they grew beyond their limits.

use std::process::Command;

use anyhow::{Result, bail};

/// What counting needs and this machine lacks; the limits hold for AVX2, the widest level that valgrind supports.
pub fn missing() -> Option<&'static str> {
    let starts = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !starts("valgrind") {
        Some("valgrind (Debian's package of that name)")
    } else if !starts("gungraun-runner") {
        Some("gungraun-runner (cargo install gungraun-runner --version 0.20.0)")
    } else if !has_avx2() {
        Some("a processor with AVX2, for which the limits were set")
    } else {
        None
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

pub fn run() -> Result<()> {
    if let Some(what) = missing() {
        bail!("counting instructions needs {what}");
    }
    crate::cargo(&["bench", "--package", "defcol", "--bench", "instructions", "--quiet"])
}
