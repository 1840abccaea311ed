//! The commands of `jsf` as a library: what is asked, what is answered, and how it is shown.
//!
//! In: a [`jsf_site::Site`] and what is asked of it. Out, for people: one
//! [`view::document::Document`] of each answer, as text, Markdown or a page; for programs: JSON,
//! CSV, SARIF.
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]
#![allow(
    non_camel_case_types,
    non_snake_case,
    reason = "`object!` names fields and types after the keys of JSON"
)]
#![cfg_attr(
    not(feature = "command"),
    allow(unused_imports, reason = "the arguments of the commands are left out")
)]

pub mod answers;
pub mod asked_formula;
#[cfg(feature = "command")]
pub mod cli;
pub mod csv;
#[cfg(feature = "command")]
pub mod process;
pub mod requests;

/// The commands: what is asked, what is answered, and how it is shown to people.
pub mod commands {
    #[cfg(feature = "command")]
    pub mod capture;
    pub mod check;
    #[cfg(feature = "command")]
    pub mod codes;
    pub mod compare;
    pub mod cycle;
    pub mod explain;
    pub mod fit;
    #[cfg(feature = "command")]
    pub mod fmt;
    #[cfg(feature = "command")]
    pub mod names;
    pub mod page;
    #[cfg(feature = "command")]
    pub mod pbsfs;
    pub mod rank;
    pub mod replay;
    pub mod shares;
    pub mod simulate;
    pub mod trajectory;
    #[cfg(feature = "command")]
    pub mod translate;
}

/// What several questions ask.
pub mod questions {
    pub mod log;
    pub mod named_jobs;
    pub mod values;
}

/// How answers are shown to people.
pub mod view {
    pub mod charts;
    pub mod document;
    pub mod facts;
    pub mod findings;
    pub mod goals;
    pub mod groups;
    pub mod verdict;
    pub mod words;
}

/// The stack of a thread that works, in bytes: what a main thread has on Linux unless `ulimit -s`
/// changes it. Parsing the arguments and a formula needs more than the least that a system gives.
const STACK_SIZE: usize = 8 << 20;
