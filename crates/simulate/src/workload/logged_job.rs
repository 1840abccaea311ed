//! A job as a log describes it.

use std::borrow::Cow;

use jsf_openpbs::amounts::AmountSource;

/// What a log says of an input of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedAmount<'a> {
    /// The name of the input.
    pub name: Cow<'a, str>,
    /// The amount, such as `4gb`.
    pub text: Cow<'a, str>,
    /// Who wrote the amount; `None` for a number that reaches the formula as it is.
    pub source: Option<AmountSource>,
}

/// How much of a job a line of a log describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// All of it.
    #[default]
    Whole,
    /// A part of its execution: if no line describes all of it, its parts are joined.
    Part,
    /// That it was queued; it is simulated if it was then cancelled.
    Queued,
}

/// The input of a subjob that says how many of its array may run at a time.
pub const MAX_RUN_SUBJOBS: &str = "max_run_subjobs";

/// A job as a log describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoggedJob<'a> {
    /// The id, such as `12` or `12.vm`.
    pub id: &'a str,
    /// The fair-share entity; empty if the log does not say.
    pub entity: &'a str,
    /// The user; empty if the log does not say.
    pub user: &'a str,
    /// The group or account; empty if the log does not say.
    pub group: &'a str,
    /// The Unix group; empty if the log does not say.
    pub unix_group: &'a str,
    /// The project; empty if the log does not say.
    pub project: &'a str,
    /// The queue; empty if the log does not say.
    pub queue: &'a str,
    /// When the job was submitted, in seconds of the log's clock. The smallest number for a later
    /// part of an execution.
    pub submit: i64,
    /// How long it ran, in seconds.
    pub run: i64,
    /// The time that it asks for, in seconds; `None` if the log does not say.
    pub walltime: Option<i64>,
    /// The processors that it asks for, or gets.
    pub processors: i64,
    /// The chunks that it asks for (`select`); empty if the log does not say.
    pub select: &'a str,
    /// How they are placed (`place`); empty if the log does not say.
    pub place: &'a str,
    /// When it started according to the log.
    pub started: Option<i64>,
    /// What the line says of the job.
    pub extent: Extent,
    /// Its other inputs; of several with the same name the last one counts.
    pub amounts: &'a [LoggedAmount<'a>],
}
