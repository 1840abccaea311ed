//! A scheduling cycle for people: who starts, who is promised a start and when, why each other job
//! waits.

use job_sort_formula::jobs::JobState;
use jsf_openpbs::array_id::array_and_index;
use jsf_site::{EstimatedStart, ReservedJob, WaitingJob};

use crate::commands::cycle::answer::CycleReport;
use crate::view::document::{Cell, Document, Fact, Section, Table};
use crate::view::rule_facts::facts_of;
use crate::view::verdict::{brief_findings, verdict_sentence};
use crate::view::without::{without_most, without_words};
use crate::view::words::{count, duration, moment};

/// The most entities that the headline names.
const MAX_NAMED: usize = 3;

impl<'a> CycleReport<'a> {
    fn is_shown(&self, id: &str) -> bool {
        self.jobs.is_empty()
            || self
                .jobs
                .iter()
                .any(|job| job == id || is_subjob_of(id, job))
    }

    fn started(&self) -> Vec<&'a str> {
        self.cycle
            .started
            .iter()
            .map(|id| &**id)
            .filter(|id| self.is_shown(id))
            .collect()
    }

    fn reserved(&self) -> Vec<&'a ReservedJob> {
        self.cycle
            .reserved
            .iter()
            .filter(|reserved| self.is_shown(&reserved.id))
            .collect()
    }

    fn waiting(&self) -> Vec<&'a WaitingJob> {
        let is_array_of_asked = |id: &str| self.jobs.iter().any(|job| is_subjob_of(job, id));
        let waiting = self.cycle.waiting.iter();
        waiting
            .filter(|waiting| self.is_shown(&waiting.id) || is_array_of_asked(&waiting.id))
            .collect()
    }

    pub(super) fn cycle_document(&self) -> Document<'a> {
        let cycle = self.cycle;
        let mut facts = Vec::new();
        facts.extend(
            self.formula
                .map(|formula| Fact::new("formula", formula.trim_end())),
        );
        facts.push(Fact::new("at", moment(cycle.at)));
        let free = cycle.processors.free;
        let total = cycle.processors.total;
        let free = match free {
            0.. => format!("{free} of {total} free before the cycle"),
            _ => format!(
                "none of {total} free before the cycle; the running jobs hold {} more than there are",
                -free
            ),
        };
        facts.push(Fact::new("processors", free));
        facts.extend(facts_of(&cycle.rules));
        if !cycle.left_out.is_empty() {
            facts.push(Fact::new("without", without_words(&cycle.left_out)));
        }
        let has_effect = self.has_effect();
        let findings = self
            .checked
            .filter(|_| self.jobs.is_empty())
            .and_then(brief_findings);
        // the headline says the worst, and the screen is for what the cycle does
        let is_said = has_effect && self.verdict().is_some();
        let mut sections: Vec<Section<'a>> = Vec::new();
        sections.extend(findings.map(|section| if is_said { section.in_full() } else { section }));
        let of_jobs = [self.starting_section(), self.waiting_section()];
        let of_jobs = of_jobs
            .into_iter()
            .filter(|section| !section.blocks.is_empty());
        sections.extend(of_jobs.map(|section| {
            if has_effect {
                section
            } else {
                section.in_full()
            }
        }));
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

    fn starting_section(&self) -> Section<'a> {
        let started = self.started();
        let section = Section::new("starting now");
        if started.is_empty() {
            return section;
        }
        let table = &self.cycle.ranked.table;
        let started = started
            .into_iter()
            .enumerate()
            .map(|(index, id)| (index, id, self.cycle.row(id)));
        let rows = Table::of(started)
            .number("order", 5, |(index, ..)| index + 1)
            .id("job", 9, |(_, id, _)| *id)
            .text("entity", 6, |(.., row)| {
                row.map_or("", |row| table.entity(row))
            })
            .text("queue", 6, |(.., row)| {
                row.map_or("", |row| table.queue(row))
            })
            .wrapped("preempts", 8, |(_, id, _)| {
                self.cycle.preempted_by(id).unwrap_or_default()
            })
            .shown_if(!self.cycle.preempted.is_empty());
        section.table(rows)
    }

    /// The jobs that wait, those that are promised a start first.
    fn waiting_section(&self) -> Section<'a> {
        let mut waiting = self.waiting();
        let section = Section::new("waiting");
        if waiting.is_empty() {
            return section;
        }
        let cycle = self.cycle;
        let reserved = self.reserved();
        let promised = move |id: &str| {
            reserved
                .iter()
                .position(|one| one.id == id || is_subjob_of(&one.id, id))
        };
        waiting.sort_by_key(|waiting| promised(&waiting.id).unwrap_or(usize::MAX));
        let has_promise = waiting
            .iter()
            .any(|waiting| promised(&waiting.id).is_some());
        let starts: Vec<i64> = self.reserved().iter().map(|one| one.start).collect();
        let waiting = waiting
            .into_iter()
            .map(|waiting| (waiting, promised(&waiting.id).map(|index| starts[index])));
        let words = |start: &Option<i64>, words: &dyn Fn(i64) -> String| {
            Cell::prose(start.map(words).unwrap_or_default())
        };
        let rows = Table::of(waiting)
            .id("job", 9, |(waiting, _)| &*waiting.id)
            .text("promised at", 11, move |(_, start)| words(start, &moment))
            .shown_if(has_promise)
            .text("in", 6, move |(_, start)| {
                words(start, &|start| duration_of(start - cycle.at))
            })
            .shown_if(has_promise)
            .wrapped("why", 9, |(waiting, _)| waiting.reason.clone());
        section.table(rows)
    }

    /// The verdict on the formula, then what the cycle does.
    fn headline(&self) -> String {
        match (self.verdict(), self.has_effect()) {
            (Some(verdict), false) => verdict,
            (Some(verdict), true) => format!("{verdict} {}", self.headline_of_cycle()),
            (None, _) => self.headline_of_cycle(),
        }
    }

    /// The verdict on the formula. That it fails for other jobs is no answer about one.
    fn verdict(&self) -> Option<String> {
        let checked = self
            .checked
            .filter(|_| self.jobs.is_empty() || !self.has_effect());
        checked.and_then(|checked| verdict_sentence(checked, "the formula"))
    }

    /// Whether the formula orders jobs: without that, the cycle is not that of a scheduler that
    /// runs on.
    fn has_effect(&self) -> bool {
        self.checked
            .is_none_or(|checked| checked.verdict.has_effect())
    }

    fn headline_of_cycle(&self) -> String {
        if let [job] = self.jobs {
            return self.headline_of(job);
        }
        let cycle = self.cycle;
        let waiting = count(cycle.waiting.len(), "job");
        let waits = if cycle.waiting.len() == 1 {
            "waits"
        } else {
            "wait"
        };
        let of = match self.entities {
            [] => String::new(),
            entities if entities.len() <= MAX_NAMED => format!(" of {}", entities.join(" or ")),
            entities => format!(" of {} entities", entities.len()),
        };
        let started = match cycle.started.as_slice() {
            [] => format!("No job{of} starts now"),
            [only] => format!("{only} starts now"),
            [first, others @ ..] => {
                format!("{} jobs{of} start now, {first} first", 1 + others.len())
            }
        };
        let reserved = match cycle.reserved.iter().min_by_key(|reserved| reserved.start) {
            None => String::new(),
            Some(first) => {
                let others = match cycle.reserved.len() {
                    1 => String::new(),
                    many => format!(" and {} more", many - 1),
                };
                format!(
                    ", of which {}{others} {} promised a start, the earliest in {}",
                    first.id,
                    if cycle.reserved.len() == 1 {
                        "is"
                    } else {
                        "are"
                    },
                    duration_of(first.start - cycle.at)
                )
            }
        };
        let of_waiting = if cycle.started.len() == 1 { &*of } else { "" };
        format!(
            "{started}; {waiting}{of_waiting} {waits}{reserved}{}.",
            self.concerns()
        )
    }

    /// When one job starts.
    fn headline_of(&self, job: &str) -> String {
        let now = self.cycle.at;
        if let Some(id) = self.started().first() {
            let preempted = self.cycle.preempted_by(id);
            let preempted = preempted.map(|jobs| format!(" and preempts {jobs}"));
            let preempted = preempted.unwrap_or_default();
            return format!("{id} starts in this cycle{preempted}{}.", self.concerns());
        }
        let reason = self
            .waiting()
            .first()
            .map_or_else(String::new, |waiting| format!(": {}", waiting.reason));
        let when = match (
            self.reserved().first(),
            self.cycle
                .estimates
                .iter()
                .find(|estimate| estimate.id == job),
        ) {
            (Some(reserved), _) => format!(
                "; it is promised a start in {}, at {}, earlier if jobs end before their walltimes, \
                 or later if jobs are submitted that precede it",
                duration_of(reserved.start - now),
                moment(reserved.start)
            ),
            (
                None,
                Some(EstimatedStart {
                    start: Some(start), ..
                }),
            ) => format!(
                "; without further submissions, and if every job takes its walltime, it starts in about {}, at {}",
                duration_of(start - now),
                moment(*start)
            ),
            (None, Some(EstimatedStart { start: None, .. })) => {
                "; no end of a running job is found that would let it start".to_owned()
            }
            (None, None) => String::new(),
        };
        let mut preempted = self.cycle.preempted.iter();
        if let Some(preempted) = preempted.find(|one| one.id == job && one.method == "deleted") {
            return format!("{job} is deleted for {}{}.", preempted.by, self.concerns());
        }
        if self.waiting().is_empty() {
            return format!(
                "{job} does not wait{}.",
                if self.runs(job) { ": it runs" } else { "" }
            );
        }
        format!("{job} waits{reason}{when}{}.", self.concerns())
    }

    /// Whether a job runs before the cycle.
    fn runs(&self, job: &str) -> bool {
        let table = &self.cycle.ranked.table;
        table
            .row(job)
            .is_some_and(|row| table.state(row) == JobState::Running)
    }

    /// What the cycle does without, if it concerns more than a tenth of the waiting jobs.
    fn concerns(&self) -> String {
        let waiting = self.cycle.ranked.table.considered_rows().count();
        let most = without_most(&self.cycle.left_out, waiting);
        most.map_or_else(String::new, |names| format!(" (without {names})"))
    }
}

fn duration_of(seconds: i64) -> String {
    duration(seconds as f64)
}

/// Whether an id is that of a subjob of an array: `12[3].vm` of `12[].vm`.
fn is_subjob_of(id: &str, array: &str) -> bool {
    array_and_index(id).is_some_and(|(of, _)| of == array)
}
