//! Says where the build comes from, for `jsf --version`, and finds the WebAssembly module that
//! `jsf page` writes into its pages. Without one, `jsf page` says how to get it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(page_module)");
    let module = page_module();
    describe_build(module.is_some());
    if let Some(module) = module {
        println!("cargo::rerun-if-changed={}", module.display());
        println!("cargo::rustc-cfg=page_module");
        println!("cargo::rustc-env=JSF_PAGE_MODULE={}", module.display());
    }
}

/// The module that `JSF_PAGE_MODULE` names, which `bindings/wasm/build.sh` builds; a relative path
/// begins at the root, as there.
fn page_module() -> Option<PathBuf> {
    println!("cargo::rerun-if-env-changed=JSF_PAGE_MODULE");
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    Some(folder.join("../..").join(env::var_os("JSF_PAGE_MODULE")?))
}

/// The commit if it is known, the target, the feature `page` if the module is there, and whether
/// results may differ from those of a scheduler on Linux.
fn describe_build(has_page: bool) {
    println!("cargo::rerun-if-env-changed=JSF_COMMIT");
    let commit = env::var("JSF_COMMIT")
        .ok()
        .or_else(commit)
        .map(|commit| format!("{commit}, "))
        .unwrap_or_default();
    let target = env::var("TARGET").unwrap_or_default();
    let features = if has_page { ", features: page" } else { "" };
    let is_glibc = ["OS", "ENV"]
        .map(|part| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default())
        == ["linux", "gnu"];
    let difference = if is_glibc {
        ""
    } else {
        "; without glibc, so the last place of `**`, `log`, `sin` and others may differ"
    };
    println!("cargo::rustc-env=JSF_BUILD={commit}{target}{features}{difference}");
}

/// The commit of a release build in a clone. Other builds would be compiled again for each commit.
fn commit() -> Option<String> {
    if env::var("PROFILE").ok()? != "release" || !Path::new("../../.git").exists() {
        return None;
    }
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    println!("cargo::rerun-if-changed=../../.git/refs/heads");
    let git = Command::new("git")
        .args(["rev-parse", "--short=12", "HEAD"])
        .output()
        .ok()?;
    let commit = String::from_utf8(git.stdout).ok()?.trim().to_owned();
    (git.status.success() && !commit.is_empty()).then_some(commit)
}
