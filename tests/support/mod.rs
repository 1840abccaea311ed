//! What several tests share: recorded data, generators of random input, and a runner for the command `jsf`.

#[cfg(feature = "cli")]
pub mod command;
pub mod golden;
pub mod random;
pub mod recorded;

/// A number from the environment, by which a run can be made longer or started from another seed.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
