//! Simulations under one formula with several values of its parameters, for people: a row for each
//! run.

use crate::commands::simulate::sweep_answer::{SweepReport, SweptRun, judged, met};
use crate::view::document::{Cell, Column, Document, Fact, Section, Table};
use crate::view::goals::not_judged;
use crate::view::words::{count, duration, grouped_count, percent, significant};

impl<'a> SweepReport<'a> {
    /// The runs as a document.
    pub(super) fn sweep_document(&self) -> Document<'a> {
        let Self {
            template,
            names,
            runs,
            no_waits,
        } = *self;
        let headline = match best(runs) {
            None => "No run has ended.".to_owned(),
            Some(best) => self.headline(best),
        };
        let of_jobs = |run: &SweptRun, words: String| {
            if run.summary.jobs > 0 {
                Cell::prose(words)
            } else {
                Cell::Missing
            }
        };
        let mut table = Table::of(runs);
        for (index, name) in names.iter().enumerate() {
            table = table.column(Column::number(*name, 6), move |run| {
                Cell::text(&*run.params[index].1)
            });
        }
        let has_goals = runs.iter().any(|run| !run.goals.is_empty());
        let has_never = runs.iter().any(|run| run.never_start > 0);
        let table = table
            .column(Column::text("mean wait", 9), move |run| {
                of_jobs(run, duration(run.summary.wait.mean))
            })
            .column(Column::text("p95 wait", 9), move |run| {
                of_jobs(run, duration(run.summary.wait.p95))
            })
            .column(Column::number("slowdown", 8), move |run| {
                of_jobs(run, significant(run.summary.bounded_slowdown.mean))
            })
            .column(Column::number("utilisation", 11), move |run| {
                of_jobs(run, percent(run.summary.utilisation))
            })
            .column_if(has_goals, Column::number("goals met", 9), |run| {
                Cell::prose(format!("{} of {}", met(run), judged(run)))
            })
            .column_if(has_never, Column::number("never start", 9), |run| {
                Cell::Count(run.never_start)
            })
            .table();
        let warning =
            no_waits.map(|warning| Section::new("").list(vec![format!("warning {warning}")]));
        Document {
            command: "jsf simulate",
            title: "A formula with several values".to_owned(),
            headline,
            facts: vec![Fact::new("formula", template.trim_end())],
            sections: warning
                .into_iter()
                .chain([Section::new("runs").table(table)])
                .collect(),
            read_on: "jsf simulate --old F --new F",
        }
    }
}

impl SweepReport<'_> {
    /// Which run has the lowest mean, and of which runs.
    fn headline(&self, best: &SweptRun) -> String {
        let all = count(self.runs.len(), "run");
        if best.summary.jobs == 0 {
            return format!("No job starts in any of {all}.");
        }
        let values: Vec<String> = best
            .params
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let values = values.join(", ");
        let starting: Vec<&SweptRun> = self
            .runs
            .iter()
            .filter(|run| run.never_start == best.never_start)
            .collect();
        let alike = starting.iter().filter(|run| met(run) == met(best)).count();
        let of_starts =
            (starting.len() < self.runs.len()).then_some("the fewest jobs that never start");
        let of_goals = (alike < starting.len()).then_some("the most goals met");
        let merits: Vec<&str> = of_starts.into_iter().chain(of_goals).collect();
        let merits = merits.join(" and of these ");
        let slowdown = significant(best.summary.bounded_slowdown.mean);
        let goals = match judged(best) {
            0 => String::new(),
            judged => format!(" ({} of {} met)", met(best), count(judged, "goal")),
        };
        let lowest = format!("has the lowest mean bounded slowdown, {slowdown}{goals}.");
        let first = match alike {
            _ if merits.is_empty() => format!("Of {all}, {values} {lowest}"),
            1 => {
                format!(
                    "Of {all}, {values} is the one with {merits}; its mean bounded slowdown is {slowdown}{goals}."
                )
            }
            alike => format!("Of the {alike} of {all} with {merits}, {values} {lowest}"),
        };
        let never = match best.never_start {
            0 => None,
            1 => Some("1 job never starts there.".to_owned()),
            never => Some(format!(
                "{} never start there.",
                grouped_count(never, "job")
            )),
        };
        let not_judged = not_judged(&best.goals).map(|not_judged| format!("{not_judged}."));
        [Some(first), never, not_judged]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// The run under which the fewest jobs never start; of those the one that meets most goals, and of
/// these the one with the lowest mean bounded slowdown.
fn best(runs: &[SweptRun]) -> Option<&SweptRun> {
    runs.iter().min_by(|one, other| {
        let mean = |run: &SweptRun| run.summary.bounded_slowdown.mean;
        let by_starts = one.never_start.cmp(&other.never_start);
        by_starts
            .then(met(other).cmp(&met(one)))
            .then_with(|| mean(one).total_cmp(&mean(other)))
    })
}
