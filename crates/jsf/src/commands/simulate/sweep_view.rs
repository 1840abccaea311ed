//! Simulations under one formula with several values of its parameters, for people: a row for each
//! run.

use crate::commands::simulate::sweep_answer::{SweepReport, SweptRun, judged, met};
use crate::view::document::{Document, Fact, Section, Table};
use crate::view::goals::not_judged;
use crate::view::words::{count, duration, grouped_count, percent, significant};

impl<'a> SweepReport<'a> {
    /// The runs as a document.
    pub(super) fn sweep_document(&self) -> Document<'a> {
        let runs = self.runs;
        let of_jobs = |run: &SweptRun, words: String| run.summary.if_any(words);
        let mut table = Table::of(runs);
        for (index, name) in self.names.iter().enumerate() {
            table = table.number(*name, 6, move |run| &*run.params[index].1);
        }
        let has_goals = runs.iter().any(|run| !run.goals.is_empty());
        let has_never = runs.iter().any(|run| run.never_start > 0);
        let table = table
            .text("mean wait", 9, move |run| {
                of_jobs(run, duration(run.summary.wait.mean))
            })
            .text("p95 wait", 9, move |run| {
                of_jobs(run, duration(run.summary.wait.p95))
            })
            .number("slowdown", 8, move |run| {
                of_jobs(run, significant(run.summary.bounded_slowdown.mean))
            })
            .number("utilisation", 11, move |run| {
                of_jobs(run, percent(run.summary.utilisation))
            })
            .number("goals met", 9, |run| {
                format!("{} of {}", met(run), judged(run))
            })
            .shown_if(has_goals)
            .number("never start", 9, |run| run.never_start)
            .shown_if(has_never);
        let mut sections = Vec::new();
        if let Some(warning) = self.no_waits {
            sections.push(Section::new("").list(vec![format!("warning {warning}")]));
        }
        sections.push(Section::new("runs").table(table));
        Document {
            command: "jsf simulate",
            title: "A formula with several values".to_owned(),
            headline: headline(runs),
            facts: vec![
                Fact::new("formula", self.template.trim_end()),
                Fact::new("best", ORDER).in_full(),
            ],
            sections,
            read_on: "jsf simulate --old F --new F",
        }
    }
}

/// By what runs are compared.
const ORDER: &str = "the fewest jobs that never start, then the most goals met, then the lowest mean bounded slowdown";

/// Which run is best, and what makes it so.
fn headline(runs: &[SweptRun]) -> String {
    let Some(best) = best(runs) else {
        return "No run has ended.".to_owned();
    };
    let all = count(runs.len(), "run");
    if best.summary.jobs == 0 {
        return format!("No job starts in any of {all}.");
    }
    let values = best
        .params
        .iter()
        .map(|(name, value)| format!("{name} = {value}"));
    let mut merits = Vec::new();
    if best.never_start > 0 {
        merits.push(format!(
            "{} never start",
            grouped_count(best.never_start, "job")
        ));
    }
    if judged(best) > 0 {
        merits.push(format!(
            "{} of {} met",
            met(best),
            count(judged(best), "goal")
        ));
    }
    let slowdown = significant(best.summary.bounded_slowdown.mean);
    merits.push(format!("mean bounded slowdown {slowdown}"));
    let not_judged = not_judged(&best.goals);
    format!(
        "Best of {all}: {} ({}).{}",
        values.collect::<Vec<_>>().join(", "),
        merits.join(", "),
        not_judged.map_or_else(String::new, |not_judged| format!(" {not_judged}."))
    )
}

/// The run under which the fewest jobs never start; of those the one that meets most goals, and of
/// these the one with the lowest mean bounded slowdown.
fn best(runs: &[SweptRun]) -> Option<&SweptRun> {
    let mean = |run: &SweptRun| run.summary.bounded_slowdown.mean;
    runs.iter().min_by(|one, other| {
        let by_starts = one.never_start.cmp(&other.never_start);
        by_starts
            .then(met(other).cmp(&met(one)))
            .then_with(|| mean(one).total_cmp(&mean(other)))
    })
}
