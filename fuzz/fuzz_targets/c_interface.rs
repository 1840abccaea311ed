#![no_main]

#[path = "../../bindings/c/tests/fuzz_target.rs"]
mod fuzz_target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_target::c_interface(data));
