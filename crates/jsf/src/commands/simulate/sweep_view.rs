//! Simulations under one formula with several values of its parameters, for people: a row for each
//! run.

use crate::commands::simulate::sweep_answer::{SweepReport, SweptRun, judged, met};
use crate::view::document::{Cell, Column, Document, Fact, Section, Table, cells};
use crate::view::goals::not_judged;
use crate::view::words::{count, duration, grouped_count, percent, significant};

impl<'a> SweepReport<'a> {
    /// The runs as a document.
    pub(super) fn sweep_document(&self) -> Document<'a> {
        let runs = self.runs;
        let (mut has_goals, mut has_never) = (false, false);
        let mut rows = Vec::new();
        for run in runs {
            has_goals |= !run.goals.is_empty();
            has_never |= run.never_start > 0;
            let mut cells = Vec::new();
            for (_, value) in &run.params {
                cells.push(Cell::from(&**value));
            }
            let all = &run.summary;
            cells.extend(cells![
                all.if_any(duration(all.wait.mean)),
                all.if_any(duration(all.wait.p95)),
                all.if_any(significant(all.bounded_slowdown.mean)),
                all.if_any(percent(all.utilisation)),
                format!("{} of {}", met(run), judged(run)),
                run.never_start,
            ]);
            rows.push(cells);
        }
        let mut columns = Vec::new();
        for name in self.names {
            columns.push(Column::number(*name, 6));
        }
        columns.extend([
            Column::text("mean wait", 9),
            Column::text("p95 wait", 9),
            Column::number("slowdown", 8),
            Column::number("utilisation", 11),
            Column::number("goals met", 9).shown_if(has_goals),
            Column::number("never start", 9).shown_if(has_never),
        ]);
        let table = Table::from_rows(columns, rows);
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
    let mut values = Vec::new();
    for (name, value) in &best.params {
        values.push(format!("{name} = {value}"));
    }
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
    let not_judged = match not_judged(&best.goals) {
        Some(not_judged) => format!(" {not_judged}."),
        None => String::new(),
    };
    format!(
        "Best of {all}: {} ({}).{not_judged}",
        values.join(", "),
        merits.join(", ")
    )
}

/// The run under which the fewest jobs never start; of those the one that meets most goals, and of
/// these the one with the lowest mean bounded slowdown.
fn best(runs: &[SweptRun]) -> Option<&SweptRun> {
    let mut best = runs.first()?;
    for run in runs {
        let order = run.never_start.cmp(&best.never_start);
        let order = order.then(met(best).cmp(&met(run)));
        if order.then(mean(run).total_cmp(&mean(best))).is_lt() {
            best = run;
        }
    }
    Some(best)
}

fn mean(run: &SweptRun) -> f64 {
    run.summary.bounded_slowdown.mean
}
