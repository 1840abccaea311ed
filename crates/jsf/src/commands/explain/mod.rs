//! `jsf explain`: what is asked, and why jobs have their places in the queue: for programs as JSON.

mod view;

use std::io::Write;
use std::str::FromStr;
use std::sync::OnceLock;

use clap::{ArgGroup, Args};
use job_sort_formula::JobTable;
use job_sort_formula::rank::explain::NodeValue;
use jsf_openpbs::check::Checked;
use jsf_openpbs::times::{Time, parse_duration};
use jsf_site::{
    CycleRequest, DescribedJob, ExplainOptions, Explanation, Explanations, Neighbour, PolicyShares,
    RankReached, RankRequest, RankedQueue, Site, Wait,
};
use serde::{Deserialize, Serialize, Serializer};

use crate::answers::{Answer, AnswerError, Warnings, object};
use crate::asked_formula::AskedFormula;
#[cfg(feature = "command")]
use crate::cli::{
    formula::QueueArgs,
    outcome::{CliError, Outcome},
    output::{AnswerArgs, Output},
    page_file::ReportArgs,
};
use crate::commands::rank::{
    all_rows, error_numbers, exact_or_error, excluded, logged, rank_jobs, read_jobs,
};
use crate::commands::shares::{PolicyView, node_numbers};
use crate::questions::named_jobs::{
    JobFilter, NamedEntities, NamedJobs, named_rows, selected_rows,
};
use crate::questions::values::{number_within, seconds};
use crate::view::document::Document;
use crate::view::words::excerpt;

/// Which jobs are explained, and until when a rank is looked for.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct ExplainQuestion {
    /// The jobs.
    #[serde(flatten)]
    #[command(flatten)]
    pub jobs: NamedJobs,
    /// Explain a job that is only described
    ///
    /// A job as if it were submitted now, such as 'queue=gpu,ncpus=12,walltime=4h': its queue, what it
    /// requests in all, and other inputs of the formula, such as fairshare_factor=0.4 or
    /// eligible_time=2h. --entity gives its entity. Without a queue it goes to the default one. What
    /// it does not request comes from the defaults of its queue and of the server. At a site of Slurm
    /// the queue is the partition, and qos=NAME gives the QOS
    #[serde(skip)]
    #[arg(long = "as", value_name = "DESCRIPTION", value_parser = DescribedJob::from_str)]
    pub described: Option<DescribedJob>,
    /// Whose jobs to explain.
    #[serde(flatten)]
    #[command(flatten)]
    pub entities: NamedEntities,
    /// Also say when the job reaches rank N
    ///
    /// If all considered jobs keep waiting and nothing else changes
    #[arg(long, value_name = "N", value_parser = rank_to_reach, allow_negative_numbers = true)]
    pub to: Option<usize>,
    /// The longest wait for --to
    ///
    /// The longest wait that --to considers, such as 90s, 15m, 24h, 7d or 1-12:00:00 [default: 30d]
    #[serde(deserialize_with = "seconds")]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_duration, requires = "to")]
    pub within: Option<u64>,
    /// The most work of the searches for one job.
    #[serde(skip)]
    #[arg(skip)]
    pub work: Option<u64>,
    /// The moment at which running jobs would give way, if it is given.
    #[serde(skip)]
    #[arg(skip)]
    pub at: Option<Time>,
}

/// Parses the rank that a job is to reach.
fn rank_to_reach(text: &str) -> Result<usize, String> {
    number_within(
        text,
        1..=u32::MAX as usize,
        "a rank of 1 or more, such as 5",
    )
}

/// The longest wait that can be asked for, in seconds: ten years.
const MAX_WAIT: u64 = 10 * 366 * 24 * 3600;

/// `jsf explain`
#[cfg(feature = "command")]
#[derive(Debug, Args)]
#[command(after_help = "\
The answer begins with one sentence that says why the job has its place. It has the formula with the value of every part; \
the inputs, with their units and origins; the path through the fair-share tree; and five jobs ahead and five behind, with the \
terms (summands of the formula) that differ most, or the criterion that orders equal values. It also says which change of \
one input would give a better rank. What the user can do comes first: ask for less, if the job needs no more, or use another \
queue. No change asks for more.

All searches for one job share a fixed amount of work; what exceeds it is reported as unknown.

The origin of an input is Resource_List, job (another attribute), queue (its priority), fair-share tree, inputs (given in \
jsf's own JSON), or unset (the job lacks it, so it is 0).

Examples:
  jsf explain --site examples/site --job 184598
  jsf explain 'eligible_time / 3600 + ncpus * eligible_time / 1e5' \\
      --site examples/site --job 184598 --to 5 --within 7d
  jsf explain 'eligible_time / 3600 + 1000 * fairshare_factor' \\
      --site examples/site --job 184598,184127 --format json
  jsf explain 'eligible_time / 3600 + 1000 * fairshare_factor + ncpus' \\
      --site examples/site --as 'queue=workq,ncpus=12,walltime=4h' --entity mquispe",
mut_arg("entity", |entity| entity.help("The entity whose jobs to explain").long_help("The entity whose jobs to explain\n\n\
A fair-share entity, or a group, which means all entities below it; with --as, the entity of the described job; separate several \
by commas, or repeat the option")),
group(ArgGroup::new("explained").args(["job", "described", "entity"]).required(true).multiple(true)))]
pub struct ExplainArgs {
    /// The queue and the formula.
    #[command(flatten)]
    queue: QueueArgs,
    /// The jobs to explain.
    #[command(flatten)]
    question: ExplainQuestion,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// A page.
    #[command(flatten)]
    report: ReportArgs,
}

#[cfg(feature = "command")]
impl ExplainArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        /// The width of the tables, whose cells may be very long, where standard output is no terminal.
        const PIPED_WIDTH: usize = 120;
        let (site, given) = self.queue.open(self.answer.format)?;
        let question = ExplainQuestion {
            at: self.queue.site.at,
            ..self.question.clone()
        };
        let explained = self.answer.answered("explaining the jobs", |warnings, _| {
            ExplainAnswer::new(&site, given, question, warnings)
        })?;
        Output {
            piped_width: Some(PIPED_WIDTH),
            page_file: self.report.page_file(vec![&site], Vec::new()),
            ..explained
        }
        .write_ranking(self.queue.site.on_error, out)
    }
}

/// The most jobs with the same error whose ids are listed.
const MAX_SAME_ERROR: usize = 10;
/// The most characters of a part of the formula, however wide the table is.
const MAX_CODE: usize = 400;

/// Explanations of jobs, ready to be written.
pub struct ExplainAnswer<'a> {
    site: &'a Site,
    question: ExplainQuestion,
    /// The formula.
    pub given: AskedFormula,
    /// The ranked queue, with the job that is only described: it moves those behind it.
    pub queue: RankedQueue,
    /// The explanations; that of a job that is only described is the last.
    explanations: Explanations,
    /// Made when it is asked for: programs do without it.
    checked: OnceLock<Checked>,
}

impl<'a> ExplainAnswer<'a> {
    /// Explains jobs of the queue of a site.
    ///
    /// # Errors
    /// The jobs cannot be read, the formula is not arithmetic, or none of the jobs exists.
    pub fn new(
        site: &'a Site,
        given: AskedFormula,
        question: ExplainQuestion,
        warnings: &mut Warnings,
    ) -> Result<Self, AnswerError> {
        let refused = |why: &str| Err(AnswerError::question(why));
        if question.within > Some(MAX_WAIT) {
            return refused("the longest wait that is looked for is ten years");
        }
        let jobs = &question.jobs;
        let mut described = question.described.clone();
        // those whose jobs are explained: with a described job, it is its entity
        let mut entities = question.entities.entity.as_slice();
        if let Some(described) = &mut described {
            match entities {
                [] => {}
                [entity] => described.entity.clone_from(entity),
                _ => return refused("a described job has one entity"),
            }
            entities = &[];
        } else if jobs.job.is_empty() && entities.is_empty() {
            return refused("no job is named: give `jobs`, `entities` or `as`");
        }
        let request = RankRequest {
            record_origins: true,
            ..RankRequest::from(given.parsed()?)
        };
        let mut read = read_jobs(site, &given, &request, warnings)?;
        let mut rows = Vec::new();
        if entities.is_empty() {
            rows = named_rows(jobs, site, &read.jobs.table, warnings)?;
        }
        if let Some(described) = &described {
            rows.push(site.add_described(&mut read.jobs, read.program.as_ref(), described)?);
        }
        // with the described job, which may change the shares and the ranks of the others
        let queue = rank_jobs(site, &given, read, warnings)?;
        // after the ranking, because the jobs of entities are explained in its order
        if !entities.is_empty() {
            let filter = JobFilter {
                jobs: &jobs.job,
                entities,
                queues: &[],
            };
            let all = all_rows(&queue.ranking);
            rows = selected_rows(filter, all, site, &queue.table, warnings)?;
        }
        let considered = queue.ranking.order().len();
        if let Some(rank) = question.to
            && !(1..=considered).contains(&rank)
        {
            return refused(&format!(
                "there is no rank {rank}, the last is {considered}"
            ));
        }
        let mut options = ExplainOptions {
            to: question.to,
            ..ExplainOptions::default()
        };
        if let Some(seconds) = question.within {
            options.within = seconds as i64;
        }
        if let Some(work) = question.work {
            options.work = work;
        }
        Ok(Self {
            site,
            explanations: site.explain(&queue, &rows, &options)?,
            checked: OnceLock::new(),
            question,
            given,
            queue,
        })
    }

    /// Which running jobs would give way to the jobs, and to which jobs they would themselves.
    fn preemption(&self) -> Vec<String> {
        let mut ids = Vec::new();
        for job in &self.explanations.jobs {
            ids.push(self.table().id(job.row));
        }
        let request = CycleRequest {
            formula: self.given.submitted.formula().ok(),
            at: self.question.at,
            ..CycleRequest::default()
        };
        self.site.preemption_of(&request, &ids)
    }

    /// What becomes of the formula.
    fn checked(&self) -> &Checked {
        let submitted = &self.given.submitted;
        self.checked
            .get_or_init(|| self.site.check_ranked(submitted, &self.queue))
    }

    fn table(&self) -> &JobTable {
        &self.queue.table
    }

    /// The number of jobs that the scheduler considers.
    fn considered(&self) -> usize {
        self.queue.ranking.order().len()
    }

    /// The value of a job; `None` if it is not evaluated.
    fn value(&self, row: usize) -> Option<f64> {
        self.queue.ranking.score(row).map(|score| score.value)
    }

    /// Why the scheduler does not consider a job: a keyword, and words.
    fn excluded(&self, job: &Explanation) -> Option<(&'static str, String)> {
        excluded(self.table(), job.row, job.rank, job.not_considered)
    }

    /// An explanation with the names of jobs instead of their rows. A number that is not finite is
    /// null.
    fn explained_job<'s>(&'s self, job: &'s Explanation) -> impl Serialize {
        let table = self.table();
        let (excluded, reason) = self.excluded(job).unzip();
        let (exact, error) = exact_or_error(job.result.as_ref().map(Result::as_ref));
        let mut same_error = Vec::new();
        for &row in job.same_error.iter().take(MAX_SAME_ERROR) {
            same_error.push(table.id(row));
        }
        let mut nodes = Vec::new();
        for node in &job.nodes {
            let text = excerpt(self.part(node), MAX_CODE);
            nodes.push(object! { span: node.span, text, value: &node.value });
        }
        let mut shares = Vec::new();
        if let Some(view) = path_view(self.explanations.shares.as_ref(), job) {
            for &node in &view.nodes {
                shares.push(node_numbers(&view, node));
            }
        }
        let is_slurm_priority = self.queue.is_slurm_priority;
        let [above, below] = [&job.above, &job.below].map(|jobs| {
            let jobs = jobs.iter().map(|near| self.neighbour(near));
            Vec::from_iter(jobs)
        });
        object! {
            id: table.id(job.row),
            entity: table.entity(job.row),
            queue: table.queue(job.row),
            state: table.state(job.row).letter(),
            rank: job.rank,
            considered: self.considered(),
            excluded,
            reason,
            score: job.score,
            exact,
            logged: job.score.map(|score| logged(score, is_slurm_priority)),
            error: error.map(error_numbers),
            same_error: error.map(|_| object! { count: job.same_error.len(), jobs: same_error }),
            sentence: self.place_in_words(job),
            inputs: &job.inputs,
            nodes,
            terms: &job.terms,
            influences: &job.influences,
            causes: &job.causes,
            shares,
            above,
            below,
            changes: &job.changes.found,
            exchange_rates: &job.rates,
            changes_unknown: &job.changes.unknown,
            is_complete: job.is_complete,
            #[serde(flatten)]
            reached: job.reached.map(reached),
        }
    }

    fn neighbour<'s>(&'s self, near: &'s Neighbour) -> impl Serialize {
        let score = self.queue.ranking.score(near.row);
        let value = score.as_ref().map(|score| score.value);
        let (exact, error) = exact_or_error(score.map(|score| score.unrounded));
        object! {
            id: self.table().id(near.row),
            entity: self.table().entity(near.row),
            rank: near.rank,
            score: value,
            exact,
            error: error.map(error_numbers),
            terms: &near.differences,
            decided_by: near.decided_by.map(|criterion| criterion.to_string()),
            reason: &near.reason,
            rounding: near.rounding,
        }
    }
    /// The text of a part of the formula.
    fn part(&self, node: &NodeValue) -> &str {
        node.span.slice(self.queue.program.expr().text())
    }
}

impl Serialize for ExplainAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut jobs = Vec::new();
        for job in &self.explanations.jobs {
            jobs.push(self.explained_job(job));
        }
        object! { formula: self.given.text(), jobs, decides: self.queue.decides() }
            .serialize(serializer)
    }
}

impl Answer for ExplainAnswer<'_> {
    fn rankings(&self) -> Vec<(&AskedFormula, &RankedQueue)> {
        vec![(&self.given, &self.queue)]
    }

    fn document(&self) -> Document<'_> {
        self.shown()
    }
}

/// The view of the path of a job in the fair-share tree.
fn path_view<'a>(shares: Option<&'a PolicyShares>, job: &'a Explanation) -> Option<PolicyView<'a>> {
    if job.path.is_empty() {
        return None;
    }
    Some(PolicyView::new(shares?, job.path.clone()))
}

/// When a job reaches a rank: null if waiting does not give the rank, or if nobody knows.
fn reached(RankReached { rank, wait, .. }: RankReached) -> impl Serialize {
    let to = match wait {
        Wait::Until(at) => Some(object! { rank, #[serde(flatten)] at }),
        Wait::Never { .. } | Wait::Unknown => None,
    };
    object! { to, to_is_known: wait != Wait::Unknown }
}
