//! What several tests share: recorded data, generators of random input, and a runner for the command `jsf`.

#[cfg(feature = "cli")]
pub mod command;
pub mod golden;
#[allow(dead_code, reason = "each test program needs one of the two")]
pub mod python;
pub mod random;
pub mod recorded;
#[allow(dead_code, reason = "the target `skipped` prints the summary")]
pub mod skipped;

/// A number from the environment, by which a run can be made longer or started from another seed.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
