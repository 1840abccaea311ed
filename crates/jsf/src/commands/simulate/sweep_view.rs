//! Simulations under one formula with several values of its parameters, for people: a row for each run.

use crate::commands::simulate::sweep_answer::{SweepReport, SweptRun, judged, met};
use crate::view::document::{Cell, Column, Document, Fact, Section, Table};
use crate::view::goals::not_judged;
use crate::view::words::{count, duration, grouped_count, percent, significant};

impl<'a> SweepReport<'a> {
    /// The runs as a document.
    pub(super) fn sweep_document(&self) -> Document<'a> {
        let Self { template, names, runs, no_waits } = *self;
        let headline = match best(runs) {
            None => "No run has ended.".to_owned(),
            Some(best) => self.headline(best),
        };
        let mut columns: Vec<Column> = names.iter().map(|name| Column::number(*name, 6)).collect();
        columns.extend([
            Column::text("mean wait", 9),
            Column::text("p95 wait", 9),
            Column::number("slowdown", 8),
            Column::number("utilisation", 11),
        ]);
        let has_goals = runs.iter().any(|run| !run.goals.is_empty());
        if has_goals {
            columns.push(Column::number("goals met", 9));
        }
        let has_never = runs.iter().any(|run| run.never_start > 0);
        if has_never {
            columns.push(Column::number("never start", 9));
        }
        let table = Table::new(columns, runs.len(), move |index| {
            let run = &runs[index];
            let mut cells: Vec<Cell<'_>> = run.params.iter().map(|(_, value)| Cell::text(&**value)).collect();
            let summary = run.summary;
            let numbers = [
                duration(summary.wait.mean),
                duration(summary.wait.p95),
                significant(summary.bounded_slowdown.mean),
                percent(summary.utilisation),
            ];
            let of_jobs = |text: String| if summary.jobs > 0 { Cell::prose(text) } else { Cell::Missing };
            cells.extend(numbers.map(of_jobs));
            if has_goals {
                cells.push(Cell::prose(format!("{} of {}", met(run), judged(run))));
            }
            if has_never {
                cells.push(Cell::Count(run.never_start));
            }
            cells
        });
        let warning = no_waits.map(|warning| Section::new("").list(vec![format!("warning {warning}")]));
        Document {
            command: "jsf simulate",
            title: "A formula with several values".to_owned(),
            headline,
            facts: vec![Fact::new("formula", template.trim_end())],
            sections: warning.into_iter().chain([Section::new("runs").table(table)]).collect(),
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
        let values: Vec<String> = best.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let values = values.join(", ");
        let starting: Vec<&SweptRun> = self.runs.iter().filter(|run| run.never_start == best.never_start).collect();
        let alike = starting.iter().filter(|run| met(run) == met(best)).count();
        let of_starts = (starting.len() < self.runs.len()).then_some("the fewest jobs that never start");
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
                format!("Of {all}, {values} is the one with {merits}; its mean bounded slowdown is {slowdown}{goals}.")
            }
            alike => format!("Of the {alike} of {all} with {merits}, {values} {lowest}"),
        };
        let never = match best.never_start {
            0 => None,
            1 => Some("1 job never starts there.".to_owned()),
            never => Some(format!("{} never start there.", grouped_count(never, "job"))),
        };
        let not_judged = not_judged(&best.goals).map(|not_judged| format!("{not_judged}."));
        [Some(first), never, not_judged].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// The run under which the fewest jobs never start; of those the one that meets most goals, and of these the one with the lowest mean
/// bounded slowdown.
fn best(runs: &[SweptRun]) -> Option<&SweptRun> {
    runs.iter().min_by(|one, other| {
        let mean = |run: &SweptRun| run.summary.bounded_slowdown.mean;
        let by_starts = one.never_start.cmp(&other.never_start);
        by_starts.then(met(other).cmp(&met(one))).then_with(|| mean(one).total_cmp(&mean(other)))
    })
}
