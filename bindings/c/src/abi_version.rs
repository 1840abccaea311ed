//! The versions of the interface and of the library, and its limits.

use std::ffi::c_char;

/// The version of this interface. It changes when a function or a structure changes in such a way
/// that a program has to be compiled again. Compare it with `jsf_abi_version()`.
pub const JSF_ABI_VERSION: u32 = 1;

/// The most rows that one call scores.
pub const JSF_MAX_ROWS: usize = 10_000_000;

// cbindgen needs the number itself for the header
const _: () = assert!(JSF_MAX_ROWS == job_sort_formula::jobs::MAX_JOBS);

/// The version of the interface of the library that is loaded. If it is not `JSF_ABI_VERSION`, the
/// program was compiled with another header, and must call nothing else. Any thread may call it.
#[unsafe(no_mangle)]
pub extern "C" fn jsf_abi_version() -> u32 {
    JSF_ABI_VERSION
}

/// The version of the library, such as "0.2.0". The text is static: do not free it. Any thread may
/// call it.
#[unsafe(no_mangle)]
pub extern "C" fn jsf_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
