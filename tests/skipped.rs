//! Prints which tests of this `cargo test` were skipped. Cargo runs the test targets in the order of their names, so this
//! one is the last.

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "support/skipped.rs"]
mod skipped;

fn main() {
    // `cargo test -- --list` asks every target for its tests
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    println!("\n{}\n", skipped::summary());
}
