//! What administrators do with `jsf`: each task with its command, its output and its exit code, in
//! `cli/tasks/` and in the guides in `docs/`. They run in the root of the repository, which is why
//! they are a binary of their own. `TRYCMD=overwrite cargo test --test tasks` rewrites the outputs.

#[test]
fn every_task_has_its_output_and_exit_code() {
    std::env::set_current_dir(jsf_testing::ROOT).expect("the root of the repository");
    trycmd::TestCases::new()
        .env("NO_COLOR", "1")
        .env("JSF_LINES", "24")
        .register_bin("jsf", std::path::PathBuf::from(env!("CARGO_BIN_EXE_jsf")))
        .case("crates/jsf/tests/cli/tasks/*.trycmd")
        .case("crates/jsf/tests/cli/tasks/*.toml")
        .case("docs/*.md");
}
