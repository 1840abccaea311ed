//! `jsf cycle`: who starts in a scheduling cycle, who is promised a start and when, and why each
//! other job waits.

use job_sort_formula::jobs::JobState;
use jsf_openpbs::amounts::array_and_index;
use jsf_openpbs::check::Checked;
use jsf_site::{CycledQueue, ReservedJob, WaitingJob};
use serde::Serialize;

use crate::answer::Answer;
use crate::view::document::{Cell, Column, Document, Fact, Section, Table, cells};
use crate::view::findings::{brief_findings, has_effect, verdict_sentence};
use crate::view::sections::{facts_of, without_most, without_words};
use crate::view::words::{duration, moment};

#[cfg(feature = "command")]
pub mod run;

/// A cycle, and what is shown of it.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CycleAnswer<'a> {
    /// The formula; `None` if the scheduler has none.
    pub formula: Option<&'a str>,
    /// The cycle.
    #[serde(flatten)]
    pub cycle: &'a CycledQueue,
    /// The jobs that are asked for; empty: all.
    #[serde(skip)]
    pub jobs: &'a [String],
    /// The entities and groups whose jobs are left in the cycle; empty: all.
    #[serde(skip)]
    pub entities: &'a [String],
    /// What is to be said of the formula, if there is one.
    #[serde(skip)]
    pub checked: Option<&'a Checked>,
}

impl Answer for CycleAnswer<'_> {
    fn document(&self) -> Document<'_> {
        let cycle = self.cycle;
        let mut facts = Vec::new();
        if let Some(formula) = self.formula {
            facts.push(Fact::new("formula", formula.trim_end()));
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
        let has_effect = has_effect(self.checked);
        let mut sections = Vec::new();
        if let Some(checked) = self.checked
            && self.jobs.is_empty()
            && let Some(findings) = brief_findings(checked, None)
        {
            // the screen is for what the cycle does
            sections.push(findings.in_full_if(has_effect));
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

impl<'a> CycleAnswer<'a> {
    fn is_shown(&self, id: &str) -> bool {
        let mut jobs = self.jobs.iter();
        self.jobs.is_empty() || jobs.any(|job| job == id || is_subjob_of(id, job))
    }

    fn started(&self) -> Vec<&'a str> {
        let mut started = Vec::new();
        for id in &self.cycle.started {
            if self.is_shown(id) {
                started.push(&**id);
            }
        }
        started
    }

    fn reserved(&self) -> Vec<&'a ReservedJob> {
        let mut reserved = Vec::from_iter(&self.cycle.reserved);
        reserved.retain(|reserved| self.is_shown(&reserved.id));
        reserved
    }

    /// The jobs that wait, also the arrays of the subjobs that are asked for.
    fn waiting(&self) -> Vec<&'a WaitingJob> {
        let mut waiting = Vec::from_iter(&self.cycle.waiting);
        waiting.retain(|WaitingJob { id, .. }| {
            self.is_shown(id) || self.jobs.iter().any(|job| is_subjob_of(job, id))
        });
        waiting
    }

    fn starting_section(&self) -> Section<'a> {
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
    fn waiting_section(&self) -> Section<'a> {
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
        if has_effect(self.checked) {
            sentences.push(match self.jobs {
                [job] => self.headline_of(job),
                _ => self.headline_of_cycle(),
            });
        }
        sentences.join(" ")
    }

    /// The verdict on the formula. That it fails for other jobs is no answer about one.
    fn verdict(&self) -> Option<String> {
        if has_effect(self.checked) && !self.jobs.is_empty() {
            return None;
        }
        verdict_sentence(self.checked?, "the formula")
    }

    fn headline_of_cycle(&self) -> String {
        let cycle = self.cycle;
        let of = match self.entities {
            [] => String::new(),
            entities if entities.len() <= MAX_NAMED => format!(" of {}", entities.join(" or ")),
            entities => format!(" of {} entities", entities.len()),
        };
        let (started, of_waiting) = match &cycle.started[..] {
            [] => (format!("No job{of} starts now"), ""),
            [only] => (format!("{only} starts now"), &*of),
            [first, ..] => {
                let jobs = cycle.started.len();
                (format!("{jobs} jobs{of} start now, {first} first"), "")
            }
        };
        let waiting = match cycle.waiting.len() {
            1 => format!("1 job{of_waiting} waits"),
            jobs => format!("{jobs} jobs{of_waiting} wait"),
        };
        let mut promised = String::new();
        if let Some(first) = cycle.reserved.iter().min_by_key(|reserved| reserved.start) {
            let others = match cycle.reserved.len() - 1 {
                0 => " is".to_owned(),
                others => format!(" and {others} more are"),
            };
            let after = duration_of(first.start.saturating_sub(cycle.at));
            promised = format!(
                ", of which {}{others} promised a start, the earliest in {after}",
                first.id
            );
        }
        format!("{started}; {waiting}{promised}{}.", self.concerns())
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
