//! Prints which tests of this `cargo test` were skipped. Cargo tests the packages in the order of
//! their names, so this target of the last one is the last.

fn main() {
    // `cargo test -- --list` asks every target for its tests
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    println!("\n{}\n", jsf_testing::summary());
}
