//! Tests and checks, in the order in which CI runs them.

use anyhow::{Result, bail};

use crate::{
    architecture, cargo, command, dependencies, instructions, root, run as run_command, succeeds,
};

/// Crates that users build on and that are packaged for publication.
const PUBLISHED: &[&str] = &[
    "defcol",
    "defcol-io",
    "defcol-meshing",
    "defcol-scenes",
    "defcol-recording",
    "defcol-render",
    "defcol-query",
    "defcol-experiments",
    "defcol-cli",
];

/// Test campaigns that take minutes: name, package and test filter.
const CAMPAIGNS: &[(&str, &str, &str)] = &[
    ("hash", "defcol", "detect::hash::"),
    ("ldi", "defcol", "detect::ldi::"),
    ("volume", "defcol", "detect::ldi_volume::"),
    ("bvh", "defcol", "detect::bvh::"),
    ("continuous", "defcol", "detect::continuous::"),
    ("worlds", "defcol", "world::random::"),
    ("bit-flips", "defcol-recording", "read_and_write::a_file_with_each"),
    ("recordings", "defcol-cli", "recordings::"),
];

/// The quick run: every test of the workspace in the dev profile, and the examples in the documentation.
pub fn test() -> Result<()> {
    if succeeds(&["nextest", "--version"]) {
        cargo(&["nextest", "run", "--workspace", "--no-fail-fast"])?;
        cargo(&["test", "--workspace", "--doc", "--quiet"])
    } else {
        cargo(&["test", "--workspace", "--quiet"])
    }
}

/// What CI checks besides the quick run.
pub fn run() -> Result<()> {
    cargo(&["fmt", "--all", "--check"])?;
    architecture::check(&root())?;
    dependencies::check()?;
    let lints =
        ["--workspace", "--all-targets", "--all-features", "--quiet", "--", "--deny", "warnings"];
    cargo(&[&["clippy"], &lints[..]].concat())?;
    run_command(
        command("cargo", &["doc", "--workspace", "--no-deps", "--quiet"])
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )?;
    examples()?;
    release_tests()?;
    portability()?;
    match instructions::missing() {
        Some(what) => println!("xtask: skipped instruction counts, which need {what}"),
        None => instructions::run()?,
    }
    Ok(())
}

/// Runs every example of every crate. All are built at once, with the features that the tests use.
pub fn examples() -> Result<()> {
    cargo(&["build", "--workspace", "--examples", "--quiet"])?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
    let mut names = Vec::new();
    for package in PUBLISHED {
        let folder = root().join("crates").join(package).join("examples");
        let Ok(files) = std::fs::read_dir(folder) else { continue };
        for file in files {
            names.extend(file?.path().file_stem().map(std::ffi::OsStr::to_os_string));
        }
    }
    names.sort();
    for name in names {
        let program = target.join("debug").join("examples").join(name);
        run_command(&mut std::process::Command::new(program))?;
    }
    Ok(())
}

/// Tests whose results must not depend on the profile, at their full size: with debug assertions they run smaller cases. The
/// compiler vectorizes differently in this profile.
fn release_tests() -> Result<()> {
    let test = ["test", "--profile", "release-test", "--quiet"];
    let core = ["--package", "defcol", "--lib", "--test", "main", "--test", "allocations"];
    cargo(&[&test[..], &core[..]].concat())?;
    let others = ["--package", "defcol-meshing", "--package", "defcol-scenes", "--test", "main"];
    cargo(&[&test[..], &others[..]].concat())
}

/// Runs the ignored tests of the named campaigns, or of all if `names` is empty.
pub fn long(names: &[&str]) -> Result<()> {
    if let Some(unknown) =
        names.iter().find(|name| CAMPAIGNS.iter().all(|(known, ..)| known != *name))
    {
        let known: Vec<&str> = CAMPAIGNS.iter().map(|(name, ..)| *name).collect();
        bail!("there is no campaign {unknown}; known: {}", known.join(", "));
    }
    for (name, package, filter) in CAMPAIGNS {
        if names.is_empty() || names.contains(name) {
            let arguments = ["--package", package, "--test", "main", filter];
            let options = ["--", "--ignored", "--nocapture"];
            cargo(&[&["test", "--release"], &arguments[..], &options[..]].concat())?;
        }
    }
    Ok(())
}

/// Builds the core for the web and packages every published crate.
pub fn portability() -> Result<()> {
    let target = "wasm32-unknown-unknown";
    if crate::output("rustc", &["--print", "target-libdir", "--target", target])
        .is_ok_and(|folder| std::path::Path::new(folder.trim()).is_dir())
    {
        let profile = ["--profile", "release-test", "--quiet"];
        cargo(&[&["build", "--package", "defcol", "--target", target], &profile[..]].concat())?;
    } else {
        println!("xtask: skipped the build for the web, which needs `rustup target add {target}`");
    }
    let mut package = vec!["package", "--allow-dirty", "--no-verify", "--quiet"];
    for name in PUBLISHED {
        package.extend(["--package", name]);
    }
    cargo(&package)
}
