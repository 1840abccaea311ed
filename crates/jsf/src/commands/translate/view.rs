//! A formula in the terms of the other scheduler, for people.

use jsf_site::{LargestJob, Translation};
use serde::Serialize;

use crate::answer::Answer;
use crate::commands::translate::request::Scheduler;
use crate::view::document::{Document, Fact, Section, Table};
use crate::view::exchange_rates::{WORTH, rates_line};
use crate::view::words::{count, grouped_number, significant};

/// What the command answers.
#[derive(Serialize)]
pub(super) struct TranslateAnswer<'a> {
    #[serde(skip)]
    pub(super) to: Scheduler,
    /// The formula.
    pub(super) source: &'a str,
    #[serde(flatten)]
    pub(super) translation: Translation,
}

impl Answer for TranslateAnswer<'_> {
    fn document(&self) -> Document<'_> {
        let translation = &self.translation;
        let mut facts = vec![Fact::new("formula", self.source)];
        facts.push(Fact::new("becomes", &*translation.formula).in_full());
        facts.extend(translation.largest_job.and_then(largest_job));
        let rates = rates_line(&translation.worth, "at one of each");
        if !rates.is_empty() {
            facts.push(Fact::new(WORTH, rates));
        }
        let what = match self.to {
            Scheduler::Slurm => "slurm.conf",
            Scheduler::Pbs => "commands of qmgr",
        };
        let mut sections = vec![Section::new(what).list(translation.settings.clone())];
        if !translation.not_expressed.is_empty() {
            let table = Table::of(&translation.not_expressed)
                .code("part", 9, |part| &*part.text)
                .wrapped("why", 8, |part| &*part.why);
            sections.push(Section::new("what is not expressed").table(table));
        }
        let has_notes = translation.parts.iter().any(|part| !part.note.is_empty());
        let table = Table::of(&translation.parts)
            .code("part", 9, |part| &*part.text)
            .code("becomes", 8, |part| &*part.becomes)
            .wrapped("note", 7, |part| &*part.note)
            .shown_if(has_notes);
        if !translation.parts.is_empty() {
            sections.push(Section::new("what becomes of it").table(table));
        }
        Document {
            command: "jsf translate",
            title: "A formula for another scheduler".to_owned(),
            headline: self.headline(),
            facts,
            sections,
            read_on: "jsf compare for the places of single jobs",
        }
    }
}

impl TranslateAnswer<'_> {
    /// How much is carried over, and how far the orders agree.
    fn headline(&self) -> String {
        let Translation {
            parts,
            not_expressed,
            agreement,
            ..
        } = &self.translation;
        let carried = parts.len();
        let all = carried + not_expressed.len();
        let agreement = match agreement {
            None => "without jobs, nothing says how far the orders agree".to_owned(),
            Some(agreement) => match agreement.tau_b {
                Some(tau_b) => format!(
                    "the orders of {} agree with tau-b {tau_b:.3}",
                    count(agreement.jobs, "job")
                ),
                None => "one of the two gives all jobs the same value".to_owned(),
            },
        };
        format!("Parts of the formula carried over: {carried} of {all}; {agreement}.")
    }
}

/// What the size of the largest job is worth, if large jobs are preferred.
fn largest_job(LargestJob { nodes, cpus, wait }: LargestJob) -> Option<Fact> {
    let text = format!(
        "a job of {} nodes and {} processors counts {} h of waiting",
        grouped_number(nodes as usize),
        grouped_number(cpus as usize),
        significant(wait / 3600.0)
    );
    (wait > 0.0).then(|| Fact::new("largest", text))
}
