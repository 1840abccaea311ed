//! What the tests of several crates share: recorded data, generators of random input, and what each
//! fuzz target does.
//!
//! INVARIANT: only tests, benchmarks and fuzz targets depend on this crate, so that its panics are
//! failures of theirs.

#[cfg(feature = "sites")]
pub mod fuzz_targets;
pub mod golden;
pub mod public_items;
pub mod python;
pub mod random;
#[cfg(feature = "sites")]
pub mod recorded;
pub mod skipped;

/// The root of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A file of the repository.
pub fn path(name: &str) -> std::path::PathBuf {
    std::path::Path::new(ROOT).join(name)
}

/// A number from the environment, by which a run can be made longer or started from another seed.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}
