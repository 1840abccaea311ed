//! `jsf cycle`: who starts in a scheduling cycle, who is promised a start and when, and why each
//! other job waits.

use std::collections::HashSet;
use std::io::Write;
use std::num::NonZeroU32;
use std::sync::OnceLock;

use clap::Args;
use job_sort_formula::jobs::JobState;
use jsf_openpbs::Time;
use jsf_openpbs::check::Checked;
use jsf_openpbs::job_attributes::array_and_index;
use jsf_site::{CycleRequest, CycledQueue, RankedQueue, ReservedJob, Site, WaitingJob};
use serde::{Deserialize, Serialize, Serializer};

use crate::answers::{Answer, AnswerError, Warnings, object};
use crate::asked_formula::AskedFormula;
#[cfg(feature = "command")]
use crate::cli::{
    formula::{QueueArgs, read_formula},
    outcome::{CliError, Outcome},
    output::AnswerArgs,
};
use crate::commands::rank::all_rows;
use crate::questions::named_jobs::{
    JobFilter, NO_MATCH, NamedEntities, NamedJobs, selected_rows, unknown_jobs_error,
};
use crate::questions::values::processors;
use crate::view::document::{Cell, Column, Document, Fact, Section, Table, cells};
use crate::view::facts::{facts_of, without_most, without_words};
use crate::view::findings::{brief_findings, drawn_findings};
use crate::view::verdict::{has_effect, verdict_sentence};
use crate::view::words::{count, duration, moment};

/// Which jobs of the cycle are shown, and on which machine it runs.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct CycleQuestion {
    /// The jobs.
    #[serde(flatten)]
    #[command(flatten)]
    pub(crate) jobs: NamedJobs,
    /// Whose jobs are shown.
    #[serde(flatten)]
    #[command(flatten)]
    pub(crate) entities: NamedEntities,
    /// The number of processors, instead of the nodes
    ///
    /// No job waits for anything else then, such as memory and GPUs: a warning names it.
    #[arg(long, value_name = "N", value_parser = processors, allow_negative_numbers = true)]
    pub(crate) processors: Option<NonZeroU32>,
    /// The moment of the cycle, if it is given.
    #[serde(skip)]
    #[arg(skip)]
    pub(crate) at: Option<Time>,
}

/// `jsf cycle`
#[cfg(feature = "command")]
#[derive(Debug, Args)]
#[command(after_help = "\
The cycle is that of OpenPBS 23.06, by the site's sched_config, the attributes of the server, of queues, arrays and the \
scheduler, its holidays and dedicated_time. Chunks are placed on hosts that have the host, vnode, booleans and strings that \
they ask for. Running jobs end at their stime plus their walltime. Reservations hold their nodes (--reservations). With \
preemptive_sched, running jobs of a lower level of preempt_prio give way by preempt_order, the latest start first. What the \
cycle does without, such as checkpoints, is named. A running subjob that `qstat -f` does not list without `-t` holds what its \
array asks for.

With strict_ordering, the first backfill_depth jobs that do not start are promised a start, at which they start at the \
latest if walltimes hold. With one --job that neither starts nor is promised a start, jsf runs the cycles at the ends of the running \
jobs until it starts, without further submissions.

accrue_type in JSON: 0 not yet known, 1 not eligible (eligible_time stands still), 2 eligible, 3 running.

Examples:
  jsf cycle --site examples/site
  jsf cycle --site examples/site --job 184208
  jsf cycle eligible_time --site examples/site --format json",
mut_arg("job", |job| job.help("Show this job only: when will it start?")))]
pub struct CycleArgs {
    /// The queue and the formula.
    #[command(flatten)]
    queue: QueueArgs,
    /// The jobs that are shown, and the machine.
    #[command(flatten)]
    question: CycleQuestion,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
}

#[cfg(feature = "command")]
impl CycleArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let QueueArgs {
            formula,
            site: given_site,
            ..
        } = &self.queue;
        let site = self.queue.open_site()?;
        given_site.show(&site, self.answer.format.is_document());
        let mut given = None;
        // a scheduler without a formula has cycles too
        if formula.is_given() || site.formula_text().is_ok() {
            let source = read_formula(formula, Some(&site))?;
            given = Some(AskedFormula::new(source, site.numbers()));
        }
        let question = CycleQuestion {
            at: given_site.at,
            ..self.question.clone()
        };
        let cycle = self.answer.answered("running the cycle", |warnings, _| {
            CycleAnswer::new(&site, given, &question, warnings)
        })?;
        cycle.write_ranking(given_site.on_error, out)
    }
}

/// A cycle, and what is shown of it.
pub struct CycleAnswer<'a> {
    site: &'a Site,
    /// The formula; `None` if the scheduler has none.
    given: Option<AskedFormula>,
    /// What becomes of the formula, made when it is asked for: programs do without it.
    checked: OnceLock<Checked>,
    /// The cycle.
    pub cycle: CycledQueue,
    /// The jobs that are asked for; empty: all. JSON has all jobs.
    jobs: Vec<String>,
    /// The entities and groups whose jobs are left in the cycle; empty: all.
    entities: Vec<String>,
}

impl<'a> CycleAnswer<'a> {
    /// Runs a cycle with the queue of a site.
    ///
    /// # Errors
    /// The jobs or the nodes cannot be read, the formula is not arithmetic, or none of the jobs and
    /// entities exists.
    pub fn new(
        site: &'a Site,
        given: Option<AskedFormula>,
        question: &CycleQuestion,
        warnings: &mut Warnings,
    ) -> Result<Self, AnswerError> {
        let asked = &question.jobs.job;
        let mut request = CycleRequest {
            at: question.at,
            processors: question.processors.map(NonZeroU32::get),
            asked: asked.clone(),
            ..CycleRequest::default()
        };
        let mut names = Vec::new();
        if let Some(given) = &given {
            let formula = given.parsed()?;
            names = formula.names();
            request.formula = Some(formula);
        }
        warnings.add_site(site, &names);
        let cycle = site.cycle(&request);
        let mut cycle = cycle.map_err(|error| match &given {
            Some(given) => given.refused(error, site),
            None => error.into(),
        })?;
        warnings.add(cycle.ranked.warnings.clone());
        warnings.of_answer.extend(cycle.not_counted.clone());
        if !asked.is_empty() && cycle.asked.is_empty() {
            return Err(unknown_jobs_error(cycle.unknown).into());
        }
        warnings.add(cycle.unknown.clone());
        let entities = question.entities.entity.clone();
        if !entities.is_empty() {
            let filter = JobFilter {
                entities: &entities,
                ..JobFilter::default()
            };
            let RankedQueue { table, ranking, .. } = &cycle.ranked;
            let rows = selected_rows(filter, all_rows(ranking), site, table, warnings)?;
            cycle.retain_rows(&rows.into_iter().collect());
            if !asked.is_empty() && cycle.asked.is_empty() {
                // the jobs that are asked for are of other entities
                warnings.add([NO_MATCH]);
                cycle.retain_rows(&HashSet::new());
            }
        }
        Ok(Self {
            site,
            given,
            checked: OnceLock::new(),
            jobs: cycle.asked.clone(),
            entities,
            cycle,
        })
    }

    /// What becomes of the formula, if there is one.
    fn checked(&self) -> Option<&Checked> {
        let submitted = &self.given.as_ref()?.submitted;
        let ranked = &self.cycle.ranked;
        let check = || self.site.check_ranked(submitted, ranked);
        Some(self.checked.get_or_init(check))
    }
}

impl Serialize for CycleAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let answer = object! {
            formula: self.given.as_ref().map(AskedFormula::text),
            #[serde(flatten)]
            cycle: &self.cycle,
        };
        answer.serialize(serializer)
    }
}

impl Answer for CycleAnswer<'_> {
    fn rankings(&self) -> Vec<(&AskedFormula, &RankedQueue)> {
        // without a formula nothing fails
        let given = self.given.iter();
        given.map(|given| (given, &self.cycle.ranked)).collect()
    }

    fn shows_findings(&self) -> bool {
        true
    }

    fn document(&self) -> Document<'_> {
        let cycle = &self.cycle;
        let mut facts = Vec::new();
        if let Some(given) = &self.given {
            facts.push(Fact::new("formula", given.text().trim_end()));
        }
        facts.push(Fact::new("at", moment(cycle.at)));
        let (free, total) = (cycle.processors.free, cycle.processors.total);
        // fewer than none are free where running jobs hold more than there is
        let mut text = format!("{} of {total} free before the cycle", free.max(0));
        if free < 0 {
            text += &format!("; the running jobs hold {} more than there are", -free);
        }
        facts.push(Fact::new("processors", text));
        facts.extend(facts_of(&cycle.rules));
        if !cycle.left_out.is_empty() {
            facts.push(Fact::new("without", without_words(&cycle.left_out)));
        }
        // without an effect, the cycle is not that of a scheduler that runs on
        let has_effect = has_effect(self.checked());
        let mut sections = Vec::new();
        if let Some(given) = &self.given
            && let Some(checked) = self.checked()
        {
            let is_of_all = self.jobs.is_empty();
            // the screen is for what the cycle does
            if checked.errors_for_all_jobs().next().is_some() || is_of_all && !has_effect {
                sections.extend(brief_findings(checked, None));
            }
            if is_of_all {
                sections.extend(drawn_findings(&given.source, &checked.findings));
            }
        }
        for section in [self.starting_section(), self.waiting_section()] {
            if !section.blocks.is_empty() {
                sections.push(section.in_full_if(!has_effect));
            }
        }
        Document {
            command: "jsf cycle",
            title: "The scheduler's next cycle".to_owned(),
            headline: self.headline(),
            facts,
            sections,
            read_on: if self.jobs.is_empty() {
                "jsf cycle --job ID"
            } else {
                "jsf explain --job ID"
            },
        }
    }
}

/// The most entities or jobs that the headline names.
const MAX_NAMED: usize = 3;

impl CycleAnswer<'_> {
    fn is_shown(&self, id: &str) -> bool {
        let mut jobs = self.jobs.iter();
        self.jobs.is_empty() || jobs.any(|job| job == id || is_subjob_of(id, job))
    }

    fn started(&self) -> Vec<&str> {
        let mut started = Vec::new();
        for id in &self.cycle.started {
            if self.is_shown(id) {
                started.push(&**id);
            }
        }
        started
    }

    fn reserved(&self) -> Vec<&ReservedJob> {
        let mut reserved = Vec::from_iter(&self.cycle.reserved);
        reserved.retain(|reserved| self.is_shown(&reserved.id));
        reserved
    }

    /// The jobs that wait, also the arrays of the subjobs that are asked for.
    fn waiting(&self) -> Vec<&WaitingJob> {
        let mut waiting = Vec::from_iter(&self.cycle.waiting);
        waiting.retain(|WaitingJob { id, .. }| {
            self.is_shown(id) || self.jobs.iter().any(|job| is_subjob_of(job, id))
        });
        waiting
    }

    fn starting_section(&self) -> Section<'_> {
        let section = Section::new("starting now");
        let started = self.started();
        if started.is_empty() {
            return section;
        }
        let columns = [
            Column::number("order", 5),
            Column::id("job", 9),
            Column::text("entity", 6),
            Column::text("queue", 6),
            Column::wrapped("preempts", 8).shown_if(!self.cycle.preempted.is_empty()),
        ];
        let table = &self.cycle.ranked.table;
        let mut rows = Vec::new();
        for (index, id) in started.into_iter().enumerate() {
            let (mut entity, mut queue) = ("", "");
            if let Some(row) = self.cycle.row(id) {
                (entity, queue) = (table.entity(row), table.queue(row));
            }
            let preempted = self.cycle.preempted_by(id).unwrap_or_default();
            let preempted = Cell::prose(preempted);
            rows.push(cells![index + 1, id, entity, queue, preempted]);
        }
        section.table(Table::from_rows(columns, rows))
    }

    /// The jobs that wait, those that are promised a start first.
    fn waiting_section(&self) -> Section<'_> {
        let section = Section::new("waiting");
        let now = self.cycle.at;
        let reserved = self.reserved();
        let mut waiting = Vec::new();
        for job in self.waiting() {
            waiting.push((promise_of(&job.id, &reserved), job));
        }
        if waiting.is_empty() {
            return section;
        }
        // a stable sort: the others keep the order of the cycle
        waiting.sort_by_key(|(promise, _)| promise.unwrap_or(usize::MAX));
        let has_promise = waiting[0].0.is_some();
        let columns = [
            Column::id("job", 9),
            Column::text("promised at", 11).shown_if(has_promise),
            Column::text("in", 6).shown_if(has_promise),
            Column::wrapped("why", 9),
        ];
        section.table(Table::new(columns, waiting, move |&(promise, job)| {
            let (mut at, mut after) = (String::new(), String::new());
            if let Some(index) = promise {
                let start = reserved[index].start;
                (at, after) = (moment(start), duration_of(start.saturating_sub(now)));
            }
            let why = Cell::prose(&*job.reason);
            cells![&*job.id, Cell::prose(at), Cell::prose(after), why]
        }))
    }

    /// The verdict on the formula, then what the cycle does.
    fn headline(&self) -> String {
        let mut sentences = Vec::from_iter(self.verdict());
        if has_effect(self.checked()) {
            sentences.push(match &self.jobs[..] {
                [job] => self.headline_of(job),
                _ => self.headline_of_cycle(),
            });
        }
        sentences.join(" ")
    }

    /// The verdict on the formula. That it fails for other jobs is no answer about one.
    fn verdict(&self) -> Option<String> {
        if has_effect(self.checked()) && !self.jobs.is_empty() {
            return None;
        }
        verdict_sentence(self.checked()?, "the formula")
    }

    fn headline_of_cycle(&self) -> String {
        let cycle = &self.cycle;
        let of = match &self.entities[..] {
            [] => String::new(),
            entities if entities.len() <= MAX_NAMED => format!(" of {}", entities.join(" or ")),
            entities => format!(" of {} entities", entities.len()),
        };
        let mut sentence = format!("Starting now: {}{of}", count(cycle.started.len(), "job"));
        if let Some(first) = cycle.started.first() {
            sentence += &format!(", {first} first");
        }
        sentence += &format!(". Waiting: {}", count(cycle.waiting.len(), "job"));
        if let Some(first) = cycle.reserved.iter().min_by_key(|reserved| reserved.start) {
            let after = duration_of(first.start.saturating_sub(cycle.at));
            let promised = cycle.reserved.len();
            sentence += &format!(
                ", {promised} of them promised a start, {} in {after}",
                first.id
            );
        }
        format!("{sentence}{}.", self.concerns())
    }

    /// When one job starts.
    fn headline_of(&self, job: &str) -> String {
        let concerns = self.concerns();
        if let Some(id) = self.started().first() {
            let preempted = match self.cycle.preempted_by(id) {
                Some(jobs) => format!(" and preempts {jobs}"),
                None => String::new(),
            };
            return format!("{id} starts in this cycle{preempted}{concerns}.");
        }
        for preempted in &self.cycle.preempted {
            if preempted.id == job && preempted.method == "deleted" {
                return format!("{job} is deleted for {}{concerns}.", preempted.by);
            }
        }
        match self.waiting().first() {
            Some(waiting) => {
                let when = self.when_it_starts(job);
                format!("{job} waits: {}{when}{concerns}.", waiting.reason)
            }
            None if self.runs(job) => format!("{job} does not wait: it runs."),
            None => format!("{job} does not wait."),
        }
    }

    /// When a job that waits starts, as a further clause.
    fn when_it_starts(&self, job: &str) -> String {
        let now = self.cycle.at;
        if let Some(reserved) = self.reserved().first() {
            return format!(
                "; it is promised a start in {}, at {}, earlier if jobs end before their walltimes, \
                 or later if jobs are submitted that precede it",
                duration_of(reserved.start.saturating_sub(now)),
                moment(reserved.start)
            );
        }
        let mut estimates = self.cycle.estimates.iter();
        let estimate = estimates.find(|estimate| estimate.id == job);
        match estimate.map(|estimate| estimate.start) {
            Some(Some(start)) => format!(
                "; without further submissions, and if every job takes its walltime, it starts in about {}, at {}",
                duration_of(start.saturating_sub(now)),
                moment(start)
            ),
            Some(None) => "; no end of a running job is found that would let it start".to_owned(),
            None => String::new(),
        }
    }

    /// Whether a job runs before the cycle.
    fn runs(&self, job: &str) -> bool {
        let table = &self.cycle.ranked.table;
        let row = table.row(job);
        row.is_some_and(|row| table.state(row) == JobState::Running)
    }

    /// What the cycle does without, if it concerns more than a tenth of the waiting jobs.
    fn concerns(&self) -> String {
        let waiting = self.cycle.ranked.table.considered_rows().count();
        match without_most(&self.cycle.left_out, waiting) {
            Some(names) => format!(" (without {names})"),
            None => String::new(),
        }
    }
}

/// The index of the start that a job or a subjob of it is promised.
fn promise_of(id: &str, reserved: &[&ReservedJob]) -> Option<usize> {
    let mut reserved = reserved.iter();
    reserved.position(|one| one.id == id || is_subjob_of(&one.id, id))
}

fn duration_of(seconds: i64) -> String {
    duration(seconds as f64)
}

/// Whether an id is that of a subjob of an array: `12[3].vm` of `12[].vm`.
fn is_subjob_of(id: &str, array: &str) -> bool {
    array_and_index(id).is_some_and(|(of, _)| of == array)
}
