//! Checks that the code is laid out as ARCHITECTURE.md says.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Each crate and the crates of this project that it may use.
const CRATES: &[(&str, &[&str])] = &[
    ("defcol", &[]),
    ("defcol-io", &["defcol"]),
    ("defcol-gpu", &["defcol"]),
    ("defcol-meshing", &["defcol"]),
    ("defcol-recording", &["defcol", "defcol-io"]),
    ("defcol-render", &["defcol", "defcol-io"]),
    ("defcol-scenes", &["defcol", "defcol-io", "defcol-meshing"]),
    (
        "defcol-query",
        &[
            "defcol",
            "defcol-gpu",
            "defcol-io",
            "defcol-meshing",
            "defcol-recording",
            "defcol-render",
            "defcol-scenes",
        ],
    ),
    ("defcol-experiments", LIBRARIES),
    ("defcol-cli", LIBRARIES),
    ("defcol-studio", LIBRARIES),
    ("defcol-py", LIBRARIES),
    ("xtask", &[]),
];

/// What experiments and front ends may use: every library, but no front end.
const LIBRARIES: &[&str] = &[
    "defcol",
    "defcol-experiments",
    "defcol-gpu",
    "defcol-io",
    "defcol-meshing",
    "defcol-query",
    "defcol-recording",
    "defcol-render",
    "defcol-scenes",
];

/// Outside crates the core may use: mathematics, parallelism and the derive of its error type.
const CORE_DEPENDENCIES: &[&str] = &["fearless_simd", "nalgebra", "rayon", "robust", "thiserror"];

/// The folders of the core in the order of the pipeline; those in one row do not see each other.
const CORE_FOLDERS: &[&[&str]] = &[
    &["stats"],
    &["error"],
    &["math"],
    &["mesh"],
    &["state"],
    &["model", "broad"],
    &["detect"],
    &["contact"],
    &["response"],
    &["integrate"],
    &["world"],
    &["debug", "instantiate", "prelude"],
];

pub fn check(root: &Path) -> Result<()> {
    let mut faults = Vec::new();
    check_crates(root, &mut faults)?;
    check_core(root, &mut faults)?;
    check_commands(root, &mut faults)?;
    check_documents(root, &mut faults)?;
    if !faults.is_empty() {
        bail!("the architecture is broken:\n  {}", faults.join("\n  "));
    }
    Ok(())
}

fn check_crates(root: &Path, faults: &mut Vec<String>) -> Result<()> {
    let output = std::process::Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .output()
        .context("cannot start `cargo metadata`")?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    for package in metadata["packages"].as_array().context("no packages in the metadata")? {
        let name = package["name"].as_str().context("a package without a name")?;
        let Some((_, allowed)) = CRATES.iter().find(|(known, _)| *known == name) else {
            faults
                .push(format!("the crate {name} is not in the table of xtask/src/architecture.rs"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let used = dependency["name"].as_str().unwrap_or_default();
            let own = CRATES.iter().any(|(known, _)| *known == used);
            let shipped = dependency["kind"].is_null();
            if shipped && own && !allowed.contains(&used) {
                faults.push(format!("the crate {name} may not use {used}"));
            }
            if shipped && name == "defcol" && !own && !CORE_DEPENDENCIES.contains(&used) {
                faults.push(format!("the core uses {used}, which is not a crate for mathematics"));
            }
        }
    }
    Ok(())
}

fn check_core(root: &Path, faults: &mut Vec<String>) -> Result<()> {
    let source = root.join("crates/defcol/src");
    for file in rust_files(&source)? {
        let relative = file.strip_prefix(&source)?;
        let first = relative.iter().next().unwrap_or_default().to_string_lossy();
        let own = first.trim_end_matches(".rs");
        let Some(own_row) = row(own) else {
            if own != "lib" {
                faults.push(format!("the folder {own} is not in the table of the core's folders"));
            }
            continue;
        };
        for used in imported_folders(&fs::read_to_string(&file)?) {
            if used != own && row(&used).is_none_or(|used_row| used_row >= own_row) {
                faults.push(format!(
                    "{} imports {used}, which is not to its left",
                    relative.display()
                ));
            }
        }
    }
    Ok(())
}

/// The commands of the command line use shared helpers, not each other.
fn check_commands(root: &Path, faults: &mut Vec<String>) -> Result<()> {
    let folder = root.join("crates/defcol-cli/src/commands");
    let files = rust_files(&folder)?;
    let name = |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let is_command = |name: &str| name != "mod" && name != "recordings";
    let commands: Vec<String> =
        files.iter().map(|file| name(file)).filter(|name| is_command(name)).collect();
    for file in &files {
        let source = fs::read_to_string(file)?;
        let importer = name(file);
        for command in
            commands.iter().filter(|command| is_command(&importer) && **command != importer)
        {
            let imports = source.lines().filter(|line| line.starts_with("use "));
            let path = format!("{command}::");
            let is_local = |line: &str| line.contains("super::") || line.contains("commands::");
            if imports.into_iter().any(|line| is_local(line) && line.contains(&path)) {
                faults.push(format!("the command {importer} imports the command {command}"));
            }
        }
    }
    Ok(())
}

fn row(folder: &str) -> Option<usize> {
    CORE_FOLDERS.iter().position(|row| row.contains(&folder))
}

/// The folders named behind `crate::` in code, not in comments.
fn imported_folders(source: &str) -> BTreeSet<String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut folders = BTreeSet::new();
    for line in code {
        for (place, _) in line.match_indices("crate::") {
            let rest = &line[place + "crate::".len()..];
            // `crate::folder::...` or `crate::{folder, folder::...}`.
            let names: Vec<&str> = match rest.strip_prefix('{') {
                Some(list) => list.split(", ").collect(),
                None => vec![rest],
            };
            for name in names {
                let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
                let name: String = name.chars().take_while(is_name).collect();
                folders.insert(name);
            }
        }
    }
    folders
}

fn rust_files(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

/// Every path in backticks in the documents must exist.
fn check_documents(root: &Path, faults: &mut Vec<String>) -> Result<()> {
    for document in ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root.join(document))
            .with_context(|| format!("cannot read {document}"))?;
        for name in named_paths(&text) {
            if !root.join(&name).exists() {
                faults.push(format!("{document} names {name}, which does not exist"));
            }
        }
        for (path, code) in quoted_code(&text) {
            let source = fs::read_to_string(root.join(path))
                .with_context(|| format!("{document} quotes {path}"))?;
            if !source.contains(code) {
                faults.push(format!("{document} quotes {path}, but its code is different by now"));
            }
        }
    }
    Ok(())
}

/// Blocks of Rust code that begin with a comment naming the file they are quoted from, and that file.
fn quoted_code(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("```rust\n// ").skip(1).filter_map(|block| {
        let (path, rest) = block.split_once('\n')?;
        let (code, _) = rest.split_once("```")?;
        path.starts_with("crates/").then_some((path, code))
    })
}

/// Words in backticks that look like a path of this project: with a slash and no space, and
/// beginning with a folder of the root, or a file of the root by its ending.
fn named_paths(text: &str) -> Vec<String> {
    const FOLDERS: &[&str] = &["crates/", "docs/", "xtask/", "fuzz/", ".ci/", ".cargo/", "tests/"];
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| !word.contains(char::is_whitespace))
        .filter(|word| {
            FOLDERS.iter().any(|folder| word.starts_with(folder))
                || (word.ends_with(".md") && !word.contains('/'))
        })
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_in_code_only() {
        let source = "use crate::{math, mesh};\n// crate::world\nlet x = crate::state::{Y, Z};\n";
        assert!(imported_folders(source).iter().eq(["math", "mesh", "state"]));
        assert!(row("mesh") < row("detect") && row("model") == row("broad"));
    }

    /// `World::step` as ARCHITECTURE.md prints it is the code, on one screen.
    #[test]
    fn the_printed_step_is_the_code() {
        let root = crate::root();
        let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
        let quoted: Vec<_> = quoted_code(&text).collect();
        let step = quoted.iter().find(|(path, _)| *path == "crates/defcol/src/world/step.rs");
        let (path, code) = step.unwrap();
        assert!(code.contains("pub fn step(&mut self)") && code.lines().count() <= 90);
        let source = fs::read_to_string(root.join(path)).unwrap();
        assert!(source.contains(code));
        assert!(!source.contains(&code.replacen("Stage::Check", "Stage::Creep", 1)));
    }

    #[test]
    fn paths_are_found_in_documents() {
        let text = "see `docs/x.md`, run `cargo test`, `a/b` and `README.md`";
        assert_eq!(named_paths(text), ["docs/x.md", "README.md"]);
    }
}
