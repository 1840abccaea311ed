//! Parses and explains PBS `job_sort_formula` expressions, and evaluates them exactly as the
//! scheduler does.
//!
//! PBS orders its queue by one expression that an administrator writes, such as
//! `pow(2, -(fairshare_tree_usage/fairshare_perc))`. OpenPBS hands the text to CPython once per
//! job. This crate parses such a formula and evaluates it for a whole queue, with the values and
//! the errors that the scheduler has. What else may be wrong with a formula is said by the crate
//! `jsf-site`. The fair-share numbers in it may come from an OpenPBS tree or from a Slurm cluster's
//! (`sshare`, `sacctmgr`).
//!
//! # From a text to a ranking
//!
//! ```
//! use job_sort_formula::jobs::{Job, JobTable};
//! use job_sort_formula::rank::{ScorePrecision, OnError, Ranking};
//! use job_sort_formula::{Formula, Schema, Value};
//!
//! // A formula is parsed once, and compiled against a schema: the names that a formula may use, such as resources.
//! let formula = Formula::parse("eligible_time / 3600 + ncpus")?;
//! let program = formula.compile(&Schema::openpbs())?;
//!
//! // One job: the inputs, in the order of `program.inputs()`.
//! let value = program.evaluate(&[Value::Int(7200), Value::Int(4)])?;
//! assert_eq!(value.repr(), "6.0");
//!
//! // A queue: a table with a column for each input. If the evaluation fails for one job, the others are still scored.
//! let mut table = JobTable::new(program.inputs().iter().map(|name| &**name));
//! for (id, waited, ncpus) in [("1.vm", 7200, 4), ("2.vm", 0, 64)] {
//!     table.push(&Job { id, ..Job::default() }, &[Ok(Value::Int(waited)), Ok(Value::Int(ncpus))])?;
//! }
//! let ranking = Ranking::new(&program, &table, ScorePrecision::Float32, OnError::ZeroLikePbs);
//! assert_eq!(table.id(ranking.order()[0]), "2.vm");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A whole site
//!
//! The crate `jsf-site` opens a folder with the scheduler's files and the output of its commands,
//! and ranks the queue in it. This crate reads no file of a scheduler.
//!
//! # How the crate is organised
//!
//! ```text
//! formula text ── Formula::parse ──► Formula ── Formula::compile ──► Program ─┐
//! jobs ────────────────────────────────────────────────► JobTable ──┤ rank ──► Ranking
//! nodes and usage ── fairshare::TreeBuilder ──► ShareTree ── Policy ──► shares ┘
//! ```
//!
//! Nothing flows back. `fairshare` knows nothing of formulas, and `formula` knows nothing of jobs,
//! trees or schedulers.
//!
//! | to | see |
//! |---|---|
//! | say what another formula, tree or policy would change | [`rank::Comparison`] |
//! | parse, compile and evaluate a formula | [`Formula`], [`Program`] |
//! | declare the names that a formula may use | [`Schema`] |
//! | fill a table of jobs | [`JobTable`] |
//! | follow a queue whose jobs come and go | [`JobTable::remove`], [`Ranking::top`], [`ShareTree::add`] |
//! | score columns that the caller holds | [`Program::score_columns`] |
//! | choose the number of threads | [`Threads`] |
//! | score and order a table | [`rank`] |
//! | build a fair-share tree, add usage to it and decay it, apply a policy | [`fairshare`] |
//! | plug in fair-share numbers of another system | [`fairshare::FairShare`] |
//! | work with findings, each a [`Diagnostic`] | [`diagnostic`] |
//!
//! # How exact it is
//!
//! Values, types and error texts equal CPython 3.11's bit by bit (`hypot` and `dist` may differ by
//! one unit in the last place). This crate's evaluation of a whole column gives the same bits as
//! its evaluation of one job. Fair-share numbers, the order of jobs and the output of `pbsfs` equal
//! recordings of real OpenPBS and Slurm daemons. Where a manual says otherwise than the daemon
//! does, [`fairshare::PolicyRules`] chooses. The tests that hold the crate to this are described in
//! `CONTRIBUTING.md`.
//!
//! # Limits
//!
//! A formula has at most 64 KiB and 200 levels of brackets; integers have at most 131,072 bits and
//! one evaluation a bounded amount of work, about a quarter of a second, and all evaluations of a
//! table or of the columns of a call about a second, so no formula hangs or crashes the caller. The
//! crate contains no unsafe code, holds no global state, prints nothing and never ends the
//! process. It has few dependencies; its feature `clap` makes enums values of a command line.

#![forbid(unsafe_code)]
#![warn(missing_docs, unnameable_types)]

pub mod diagnostic;
pub mod fairshare;
pub mod formula;
pub mod jobs;
pub mod parallel;
pub mod printing;
pub mod python;
pub mod rank;
pub mod schema;
mod simd;

pub use diagnostic::{Diagnostic, Span};
pub use fairshare::ShareTree;
pub use formula::Formula;
pub use formula::program::{EvalError, Program};
pub use formula::syntax::SyntaxError;
pub use jobs::{Job, JobTable};
pub use parallel::Threads;
pub use python::{BigInteger, ErrorKind, Function, PythonVersion, Value};
pub use rank::{OnError, Ranking};
pub use schema::Schema;

/// Compiles the examples of the guide for authors of schedulers.
#[cfg(doctest)]
#[doc = include_str!("../docs/scheduler-guide.md")]
struct SchedulerGuide;
