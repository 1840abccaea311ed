//! The header in the repository is what cbindgen generates from the sources. `JSF_WRITE_HEADER=1`
//! writes it.

use std::fs;
use std::path::Path;

/// The files with the interface, in the order of the header.
const SOURCES: [&str; 6] = [
    "abi_version",
    "error_handles",
    "schemas_and_columns",
    "programs",
    "share_trees",
    "site_questions",
];

#[test]
fn the_header_is_generated_from_the_sources() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(crate_folder.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for name in SOURCES {
        builder = builder.with_src(crate_folder.join("src").join(name).with_extension("rs"));
    }
    let mut generated = Vec::new();
    builder.generate().unwrap().write(&mut generated);
    let generated = String::from_utf8(generated).unwrap();
    let path = crate_folder.join("include/job_sort_formula.h");
    if std::env::var_os("JSF_WRITE_HEADER").is_some() {
        fs::write(&path, &generated).unwrap();
    }
    let current = fs::read_to_string(&path).unwrap();
    assert!(
        current == generated,
        "the header is not up to date: JSF_WRITE_HEADER=1 cargo test -p job-sort-formula-c --test header"
    );
}
