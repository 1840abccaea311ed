//! What administrators do with `jsf`: each task with its command, its output and its exit code, in `tests/cli/tasks/` and in
//! the guides in `docs/`.
//! `TRYCMD=overwrite cargo test --test integration cli::tasks` rewrites the outputs.

#[test]
fn every_task_has_its_output_and_exit_code() {
    trycmd::TestCases::new()
        .env("NO_COLOR", "1")
        .register_bin("jsf", std::path::PathBuf::from(env!("CARGO_BIN_EXE_jsf")))
        .case("tests/cli/tasks/*.trycmd")
        .case("tests/cli/tasks/*.toml")
        .case("docs/*.md");
}
