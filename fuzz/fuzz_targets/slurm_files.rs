#![no_main]

#[path = "../../tests/fuzzing/targets.rs"]
#[allow(dead_code)]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::slurm_files(data));
