//! `docs/dependencies.md` lists what runs besides this package, and where there is unsafe code.
//! `JSF_WRITE_DOCS=1` rewrites it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use jsf_testing::skipped;
use serde_json::Value;

const DOCUMENT: &str = "docs/dependencies.md";
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The packages that run with a build of this one, without procedural macros and build scripts;
/// `None` if cargo cannot say.
fn packages(package: &str) -> Option<Vec<String>> {
    let mut tree = cargo(&[
        "tree",
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
        "--no-dedupe",
    ]);
    let output = tree
        .args(["--format", "{p}", "--target", TARGET, "--package", package])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout)
        .ok()
        .filter(|_| output.status.success())?;
    let name = |line: &str| {
        line.split(" (")
            .next()
            .unwrap_or_default()
            .replace(" v", " ")
    };
    let mut packages: Vec<String> = text.lines().map(name).collect();
    packages.retain(|package| {
        !package.is_empty()
            && !package.starts_with("job-sort-formula ")
            && !package.starts_with("jsf")
    });
    packages.sort();
    packages.dedup();
    Some(packages)
}

fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .args(["--offline", "--locked"]);
    cargo
}

/// What the packages are for that this workspace names itself.
const PURPOSES: [(&str, &str); 35] = [
    ("anstream", "colour only where the terminal has it"),
    ("anstyle", "colours"),
    (
        "annotate-snippets",
        "findings drawn under the formula, as the Rust compiler draws its own",
    ),
    ("base64", "the site and the module inside a page"),
    ("clap", "the command line"),
    ("clap_complete", "completions of shells"),
    ("clap_mangen", "manual pages"),
    ("csv", "CSV as RFC 4180 has it"),
    (
        "fearless_simd",
        "vector instructions of the processor that it runs on, without unsafe code",
    ),
    ("flate2", "gzip: logs, archives, snapshots"),
    ("itoa", "digits of integers"),
    ("jiff", "dates and time zones"),
    (
        "libm",
        "powers in fair-share policies, and remainders, the same on every system",
    ),
    ("memchr", "the ends of lines and texts in large files"),
    (
        "minijinja",
        "pages from a template that escapes what it is given",
    ),
    ("num-bigint", "Python's integers beyond 64 bits"),
    ("num-integer", "Python's integers beyond 64 bits"),
    ("num-traits", "conversions between numbers"),
    ("pest", "the grammar of formulas"),
    (
        "rayon",
        "threads: the pool that other crates share, and a parallel sort",
    ),
    ("rust_decimal", "`--numbers decimal`"),
    (
        "rustc_apfloat",
        "the `long double` in which Slurm keeps usage",
    ),
    ("rustix", "the limit of the stack, and who made a link"),
    ("ruzstd", "zstd: logs"),
    ("serde", "JSON and TOML into types, and back"),
    ("serde_json", "JSON"),
    (
        "signal-hook",
        "Ctrl-C, which ends a simulation or a search with what there is, and errors that would end the process by a signal",
    ),
    ("tar", "archives and snapshots"),
    ("tempfile", "temporary files beside those that they replace"),
    ("terminal_size", "the width of the terminal"),
    ("thiserror", "error types"),
    ("toml", "settings and goals"),
    (
        "unicode-normalization",
        "names in formulas as Python compares them (NFKC)",
    ),
    ("unicode-width", "columns of tables that align"),
    ("zmij", "the shortest digits of a double"),
];

/// What cargo says of all packages.
fn metadata() -> Option<Value> {
    let output = cargo(&[
        "metadata",
        "--format-version",
        "1",
        "--filter-platform",
        TARGET,
    ])
    .output()
    .ok()?;
    serde_json::from_slice(&output.stdout).ok()
}

/// The folder of each package of the lock file.
fn folders(metadata: &Value) -> Option<BTreeMap<String, PathBuf>> {
    let entry = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        let name = format!(
            "{} {}",
            package["name"].as_str()?,
            package["version"].as_str()?
        );
        Some((name, manifest.parent()?.join("src")))
    };
    Some(
        metadata["packages"]
            .as_array()?
            .iter()
            .filter_map(entry)
            .collect(),
    )
}

/// The packages that need a package in order to run, among `packages`, by name.
fn users<'p>(metadata: &Value, package: &str, packages: &'p [String]) -> Vec<&'p str> {
    let (wanted, _) = package.split_once(' ').unwrap_or((package, ""));
    let named = |name: &str| {
        packages
            .iter()
            .filter_map(|package| package.split_once(' '))
            .find(|(known, _)| *known == name)
    };
    let names: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|package| Some((package["id"].as_str()?, package["name"].as_str()?)))
        .collect();
    let nodes = metadata["resolve"]["nodes"]
        .as_array()
        .into_iter()
        .flatten();
    let needs = |node: &&Value| {
        node["deps"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|dependency| {
                let kinds = dependency["dep_kinds"].as_array();
                dependency["pkg"].as_str().and_then(|id| names.get(id)) == Some(&wanted)
                    && kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
            })
    };
    let mut users: Vec<&str> = nodes
        .filter(needs)
        .filter_map(|node| Some(named(names.get(node["id"].as_str()?)?)?.0))
        .collect();
    users.sort_unstable();
    users.dedup();
    users
}

/// What a package is for: its purpose, or the packages that need it.
fn reason(metadata: &Value, package: &str, packages: &[String]) -> String {
    let (name, _) = package.split_once(' ').unwrap_or((package, ""));
    match PURPOSES.iter().find(|(known, _)| *known == name) {
        Some((_, purpose)) => (*purpose).to_owned(),
        None => format!("`{}`", users(metadata, package, packages).join("`, `")),
    }
}

/// The lines of Rust code with the word `unsafe`, without comments and attributes, in a folder.
fn unsafe_lines(folder: &Path) -> usize {
    let is_word = |line: &str| {
        line.split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == "unsafe")
            && !line.trim_start().starts_with("//")
            && !line.trim_start().starts_with('#')
    };
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("an entry").path());
    let lines = entries.map(|path| match path.extension() {
        _ if path.is_dir() => unsafe_lines(&path),
        Some(extension) if extension == "rs" => {
            String::from_utf8_lossy(&fs::read(&path).expect("a file"))
                .lines()
                .filter(|line| is_word(line))
                .count()
        }
        _ => 0,
    });
    lines.sum()
}

fn document() -> Option<String> {
    let (library, command) = (packages("job-sort-formula")?, packages("jsf")?);
    let metadata = metadata()?;
    let folders = folders(&metadata)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut text = format!(
        "# Dependencies and unsafe code\n\n\
         A test keeps this page true: `cargo test --test integration dependencies`; `JSF_WRITE_DOCS=1` rewrites it.\n\n\
         On Linux, the library `job-sort-formula` runs with {} other packages, and the command `jsf` with {}. \
         What only builds or tests them is not counted.\n\n\
         The libraries and the command forbid unsafe code. The bindings need it; each block says why it is sound:\n\n\
         | folder | lines with `unsafe` |\n|---|---|\n",
        library.len(),
        command.len()
    );
    for folder in [
        "src",
        "bindings/c/src",
        "bindings/python/src",
        "bindings/wasm/src",
    ] {
        text += &format!("| `{folder}` | {} |\n", unsafe_lines(&root.join(folder)));
    }
    text += "\nWhat each package is for; one that others bring in has their names:\n\n\
             | package | version | part of | for | lines with `unsafe` |\n|---|---|---|---|--:|\n";
    for package in &command {
        let (name, version) = package.split_once(' ')?;
        let user = if library.contains(package) {
            "library"
        } else {
            "command"
        };
        let reason = reason(&metadata, package, &command);
        assert!(
            reason != "``",
            "{name}: the workspace names it, so that PURPOSES should say what for"
        );
        text += &format!(
            "| {name} | {version} | {user} | {reason} | {} |\n",
            unsafe_lines(folders.get(package)?)
        );
    }
    Some(text)
}

#[test]
fn the_document_lists_the_dependencies_and_the_unsafe_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(unsafe_lines(&root.join("src")), 0);
    if !root.join("bindings").exists() {
        return skipped::on_this_system("folder `bindings`, as in the published package");
    }
    let path = root.join(DOCUMENT);
    let Some(expected) = document() else {
        return skipped::without_tool("the sources of all dependencies");
    };
    if std::env::var_os("JSF_WRITE_DOCS").is_some() {
        fs::write(&path, &expected).expect("written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "{DOCUMENT} is not true any more; it should be:\n{expected}"
    );
}
