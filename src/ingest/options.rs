//! What a reader of jobs is told, what it takes from each job, and what it answers.

use std::borrow::Cow;

use crate::jobs::{JobTable, Problem, Problems};
use crate::json_visitor::Token;
use crate::pbs::entity::FairshareEntity;
use crate::pbs::files::queues::Queues;
use crate::pbs::resource_amount::Numbers;
use crate::schema::Schema;

/// What a reader of jobs is told.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions<'a> {
    /// What to call the document in messages.
    pub source_name: &'a str,
    /// The names that the formula needs: a column each. All else stays unparsed, except that the amounts of
    /// numeric resources are looked at, since one that the scheduler cannot read makes it ignore the job.
    pub needed: &'a [&'a str],
    /// What is known of the names.
    pub schema: &'a Schema,
    /// How amounts become numbers.
    pub numbers: Numbers,
    /// Which attribute names the fair-share entity.
    pub entity: FairshareEntity,
    /// The queues' priorities.
    pub queues: &'a Queues,
}

/// The jobs of a document, and what was wrong with some of them.
#[derive(Debug, Clone, Default)]
pub struct ReadJobs {
    /// The jobs.
    pub table: JobTable,
    /// What was wrong with single jobs; they stop no other.
    pub problems: Problems,
}

/// The attributes of one job.
#[derive(Debug, Default)]
pub(crate) struct Attributes<'d> {
    pub id: Cow<'d, str>,
    pub line: Option<usize>,
    /// The entity by name; else it is taken from the owner's attributes.
    pub entity: Option<Cow<'d, str>>,
    pub user: Cow<'d, str>,
    pub group: Cow<'d, str>,
    pub account: Cow<'d, str>,
    pub queue: Cow<'d, str>,
    pub state: Option<Token<'d>>,
    pub queued_at: Option<Token<'d>>,
    /// Special names of the formula, such as `eligible_time`.
    pub special: Vec<(Cow<'d, str>, Token<'d>)>,
    pub resources: Vec<(Cow<'d, str>, Token<'d>)>,
    /// Ready-made inputs, which nothing is done to.
    pub inputs: Vec<(Cow<'d, str>, Token<'d>)>,
    pub problems: Vec<Problem>,
}
