#![no_main]

use jsf_testing::fuzz_targets as targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::page(data));
