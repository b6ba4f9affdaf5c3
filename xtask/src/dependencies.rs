//! Checks licenses and duplicate versions of dependencies.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};

use crate::output;

/// Licenses that code we ship or test with may have.
const LICENSES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

/// Crates of which the `defcol` program contains two versions because dependencies disagree.
const DUPLICATES: &[&str] = &["getrandom", "miniz_oxide"];

pub fn check() -> Result<()> {
    let mut problems = Vec::new();
    let all = packages(&["--workspace", "--all-features", "--edges", "all", "--target", "all"])?;
    for (name, versions) in &all {
        for (version, license) in versions {
            if !is_allowed(license) {
                problems.push(format!("{name} {version} has the license {license:?}"));
            }
        }
    }
    let shipped = packages(&[
        "--package",
        "defcol-cli",
        "--edges",
        "normal,no-proc-macro",
        "--target",
        "x86_64-unknown-linux-gnu",
    ])?;
    for (name, versions) in &shipped {
        if versions.len() > 1 && !DUPLICATES.contains(&name.as_str()) {
            let versions: Vec<&str> = versions.keys().map(String::as_str).collect();
            problems
                .push(format!("the program contains {name} in versions {}", versions.join(", ")));
        }
    }
    let stale = DUPLICATES.iter().filter(|name| shipped.get(**name).is_none_or(|v| v.len() < 2));
    problems.extend(
        stale.map(|name| format!("{name} is no longer duplicated: remove it from the list")),
    );
    if !problems.is_empty() {
        bail!("dependencies:\n  {}", problems.join("\n  "));
    }
    println!("xtask: {} dependencies, {} in the program", all.len(), shipped.len());
    Ok(())
}

/// License by version by name, of all packages in a dependency tree.
fn packages(selection: &[&str]) -> Result<BTreeMap<String, BTreeMap<String, String>>> {
    let format = ["tree", "--prefix", "none", "--format", "{p}|{l}"];
    let text = output("cargo", &[&format[..], selection].concat())?;
    let mut packages: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for line in text.lines().collect::<BTreeSet<_>>() {
        let Some((package, license)) = line.split_once('|') else { continue };
        let mut words = package.split(' ');
        let (Some(name), Some(version)) = (words.next(), words.next()) else { continue };
        // A repeated package ends with (*).
        let license = license.trim_end_matches("(*)").trim().to_owned();
        packages.entry(name.to_owned()).or_default().insert(version.to_owned(), license);
    }
    Ok(packages)
}

/// Evaluates an SPDX expression of alternatives, conjunctions and parentheses; `/` is an older spelling of OR.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ").replace(" or ", " OR ");
    let inner = expression.trim();
    if inner.is_empty() {
        return false;
    }
    let alternatives = split(inner, " OR ");
    if alternatives.len() > 1 {
        return alternatives.into_iter().any(is_allowed);
    }
    let parts = split(inner, " AND ");
    if parts.len() > 1 {
        return parts.into_iter().all(is_allowed);
    }
    match inner.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => is_allowed(inner),
        None => LICENSES.contains(&inner),
    }
}

/// Splits at a separator outside parentheses.
fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (index, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ' ' if depth == 0 && index >= start && text[index..].starts_with(separator) => {
                parts.push(text[start..index].trim());
                start = index + separator.len();
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn license_expressions_are_evaluated() {
        for allowed in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-2.0/MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "MIT OR (GPL-3.0 AND Zlib)",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
        ] {
            assert!(is_allowed(allowed), "{allowed}");
        }
        for refused in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Zlib) AND LGPL-2.1"] {
            assert!(!is_allowed(refused), "{refused}");
        }
    }
}
