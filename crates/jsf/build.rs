//! Says where the build comes from, for `jsf --version`, and finds or builds the WebAssembly module of the feature `page`. Without
//! one the crate compiles all the same, and `jsf page` says how to get it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(page_module)");
    find_module();
    describe_build();
}

/// The module that `JSF_PAGE_MODULE` names; else a release build has it built from the sources, and another one takes what
/// `bindings/wasm/build.sh` left, since the module takes a minute.
fn find_module() {
    println!("cargo::rerun-if-env-changed=JSF_PAGE_MODULE");
    if env::var_os("CARGO_FEATURE_PAGE").is_none() {
        return;
    }
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let module = match env::var_os("JSF_PAGE_MODULE").map(PathBuf::from) {
        Some(given) => Some(given),
        None if env::var("PROFILE").is_ok_and(|profile| profile == "release") => build_module(),
        None => Some(folder.join("../../target/wasm/job_sort_formula.wasm")),
    };
    let Some(module) = module.map(|module| folder.join(module)) else { return };
    println!("cargo::rerun-if-changed={}", module.display());
    if module.is_file() {
        println!("cargo::rustc-cfg=page_module");
        println!("cargo::rustc-env=JSF_PAGE_MODULE={}", module.display());
    }
}

/// Builds the module where its sources and Rust's target are, in a target folder of its own, since Cargo has locked this one.
fn build_module() -> Option<PathBuf> {
    let root = PathBuf::from("../..");
    let script = root.join("bindings/wasm/build.sh");
    if !script.is_file() || !has_target() {
        return None;
    }
    for source in ["Cargo.lock", "Cargo.toml", "bindings/wasm", "crates", "grammar", "src"] {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR")?);
    let module = folder.join("job_sort_formula.wasm");
    let mut build = Command::new("sh");
    build.arg(&script).env("JSF_PAGE_MODULE", &module).env("CARGO_TARGET_DIR", folder.join("target"));
    // what Cargo sets for this build
    for name in ["CARGO_ENCODED_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER"] {
        build.env_remove(name);
    }
    let built = build.output().ok()?;
    if built.status.success() {
        return Some(module);
    }
    for line in String::from_utf8_lossy(&built.stderr).lines() {
        println!("cargo::warning={line}");
    }
    None
}

/// Whether Rust can build for WebAssembly.
fn has_target() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let library = Command::new(rustc).args(["--print", "target-libdir", "--target", "wasm32-unknown-unknown"]).output();
    library.is_ok_and(|library| Path::new(String::from_utf8_lossy(&library.stdout).trim()).is_dir())
}

/// The commit if it is known, the target, the features that a user can choose, and whether results may differ from those of a
/// scheduler on Linux.
fn describe_build() {
    println!("cargo::rerun-if-env-changed=JSF_COMMIT");
    let commit = env::var("JSF_COMMIT").ok().or_else(commit).map(|commit| format!("{commit}, ")).unwrap_or_default();
    let target = env::var("TARGET").unwrap_or_default();
    let has_feature = |name: &&str| env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase())).is_some();
    let features: Vec<&str> = ["page"].into_iter().filter(has_feature).collect();
    let is_glibc =
        ["OS", "ENV"].map(|part| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default()) == ["linux", "gnu"];
    let difference =
        if is_glibc { "" } else { "; without glibc, so the last place of `log`, `sin` and others may differ" };
    let features = if features.is_empty() { String::new() } else { format!(", features: {}", features.join(" ")) };
    println!("cargo::rustc-env=JSF_BUILD={commit}{target}{features}{difference}");
}

/// The commit of a release build in a clone. Other builds would be compiled again for each commit.
fn commit() -> Option<String> {
    if env::var("PROFILE").ok()? != "release" || !Path::new("../../.git").exists() {
        return None;
    }
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    println!("cargo::rerun-if-changed=../../.git/refs/heads");
    let git = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    let commit = String::from_utf8(git.stdout).ok()?.trim().to_owned();
    (git.status.success() && !commit.is_empty()).then_some(commit)
}
