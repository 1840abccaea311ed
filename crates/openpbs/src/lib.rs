//! OpenPBS: what its server, its scheduler and its tools do with a formula, reproduced from
//! recorded runs.
//!
//! In: the text of a formula ([`submission`]), the files and listings of a site ([`files`]),
//! resource amounts ([`resource_amount`], [`duration`]), and a job table with scores.
//! Out: the numbers that the formula sees, the fair-share tree ([`share_tree`]), the order of jobs
//! ([`order`]), the answer of `qmgr` ([`qmgr_validation`]), the output of `pbsfs` ([`pbsfs`]), the
//! findings that need the site ([`check`]), and the comparison with a scheduler's log ([`replay`]).
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]

pub mod array_id;
mod c_text;
pub mod check;
pub mod chunks;
pub mod cycle;
pub mod duration;
pub mod entity;
pub mod exchange_rates;
pub mod files;
pub mod number_format;
pub mod order;
pub mod pbsfs;
pub mod python_string_literal;
pub mod qmgr;
pub mod qmgr_validation;
pub mod replay;
pub mod resource_amount;
pub mod share_tree;
pub mod submission;
pub mod wall_clock;
pub mod words;
