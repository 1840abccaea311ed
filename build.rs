//! Finds the WebAssembly module that `bindings/wasm/build.sh` builds, for the feature `page`. Without one the crate compiles
//! all the same, and `jsf page` says how to get it.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(page_module)");
    println!("cargo::rerun-if-env-changed=JSF_PAGE_MODULE");
    if env::var_os("CARGO_FEATURE_PAGE").is_none() {
        println!("cargo::rerun-if-changed=build.rs");
        return;
    }
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let given = env::var_os("JSF_PAGE_MODULE").map(PathBuf::from);
    let module = folder.join(given.unwrap_or_else(|| "target/page/job_sort_formula.wasm".into()));
    println!("cargo::rerun-if-changed={}", module.display());
    if module.is_file() {
        println!("cargo::rustc-cfg=page_module");
        println!("cargo::rustc-env=JSF_PAGE_MODULE={}", module.display());
    }
}
