//! A comparison for people: the answer in one sentence, then the numbers, then tables.

use std::cmp::Reverse;
use std::io::{self, Write};

use job_sort_formula::rank::{Consequence, GroupChange, JobMove, OldNew, Ranking, Transitions};
use jsf_openpbs::number_format;

use super::compare::{CompareFormat, CompareReport};
use super::rank_human::count;
use super::table::{Column, write_table};
use super::terminal::printable;

/// The number of jobs in a list of those that gain or lose places.
const MAX_MOVES: usize = 10;
/// The number of ids in a line.
const MAX_IDS: usize = 5;
/// The width of a heading.
const LABEL: usize = 14;
/// A table of more entities or groups shows half as many from either end.
const MAX_GROUPS: usize = 20;
/// A measure of fairness that changes by less is about the same: one job more or less among the first ten can do that.
const NOTABLE_FAIRNESS: f64 = 0.05;

/// Text and tables for people.
#[derive(Debug, Clone, Copy, Default)]
pub struct CompareHuman {
    /// The number of characters in a line; `None`: as many as needed.
    pub width: Option<usize>,
    /// The number of jobs in a list; `None`: ten, or all that the filter leaves.
    pub top: Option<usize>,
    /// Whether the rows of the report were chosen by a filter. They are then all listed, whether they move or not.
    pub is_filtered: bool,
}

impl CompareFormat for CompareHuman {
    fn write(&self, report: &CompareReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}\n", printable(&sentence(report)))?;
        write_rules(report, out)?;
        write_summary(report, out)?;
        self.write_jobs(report, out)?;
        let comparison = report.comparison;
        if comparison.moved() == 0 && comparison.being_considered.is_empty() {
            return Ok(());
        }
        let size = comparison.size_input.unwrap_or_default();
        let tables = [
            ("entity", &comparison.entities),
            ("group", &comparison.groups),
            ("queue", &comparison.queues),
            (size, &comparison.sizes),
        ];
        for (heading, changes) in tables {
            self.write_groups(heading, changes, report, out)?;
        }
        Ok(())
    }
}

/// How many jobs move, how far the orders agree, and who gains and who loses most.
pub(super) fn sentence(report: &CompareReport<'_>) -> String {
    let comparison = report.comparison;
    if comparison.jobs == 0 {
        return "No job is considered under both, so no places can be compared.".to_owned();
    }
    let mut sentence = match (comparison.moved(), comparison.jobs) {
        (0, 1) => "The one job keeps its place".to_owned(),
        (0, 2) => "Both jobs keep their places".to_owned(),
        (0, jobs) => format!("All {jobs} jobs keep their places"),
        (1, jobs) => format!("1 of {jobs} jobs changes its place"),
        (moved, jobs) => format!("{moved} of {jobs} jobs change their places"),
    };
    sentence += &match comparison.tau_b {
        _ if comparison.moved() == 0 => String::new(),
        Some(tau) => format!(", and the scores order them {} (tau-b {tau:.2})", agreement(tau)),
        None => ", and one of the sides gives all of them the same score".to_owned(),
    };
    let places = |change: &GroupChange| {
        format!("{} with {}", count(change.won().unsigned_abs() as usize, "place"), count(change.jobs, "job"))
    };
    let first = comparison.entities.first().filter(|entity| entity.won() > 0);
    let last = comparison.entities.last().filter(|entity| entity.won() < 0);
    if let Some(entity) = first {
        sentence += &format!("; {} gains most ({})", name(&entity.name), places(entity));
    }
    if let Some(entity) = last {
        sentence += &format!(", {} loses most ({})", name(&entity.name), places(entity));
    }
    let considered = &comparison.being_considered;
    for (rows, verb) in [(&considered.start, "start"), (&considered.stop, "stop")] {
        if !rows.is_empty() {
            sentence += &format!("; {} being considered", starting(rows.len(), verb));
        }
    }
    sentence + "."
}

/// `1 job starts`, `2 jobs start`.
fn starting(number: usize, verb: &str) -> String {
    format!("{} {verb}{}", count(number, "job"), if number == 1 { "s" } else { "" })
}

/// What a value of tau-b means.
fn agreement(tau: f64) -> &'static str {
    match tau {
        1.0.. => "exactly alike",
        0.9.. => "nearly alike",
        0.6.. => "much alike",
        0.3.. => "somewhat alike",
        -0.3.. => "quite differently",
        -0.9.. => "largely the other way round",
        _ => "the other way round",
    }
}

fn name(name: &str) -> String {
    if name.is_empty() { "who has no entity".to_owned() } else { format!("`{name}`") }
}

fn or_dash(name: &str) -> String {
    if name.is_empty() { "-".to_owned() } else { name.to_owned() }
}

/// The formulas and the rules, those that both sides share once.
fn write_rules(report: &CompareReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let OldNew { old, new } = report.rules;
    write_rule("formula:", Some(report.formulas.old), Some(report.formulas.new), out)?;
    let added = new.iter().filter(|(heading, _)| old.iter().all(|(known, _)| known != heading));
    for (heading, _) in old.iter().chain(added) {
        let text = |rules: &'_ [(&str, String)]| {
            rules.iter().find(|(known, _)| known == heading).map(|(_, text)| text.clone())
        };
        write_rule(heading, text(old).as_deref(), text(new).as_deref(), out)?;
    }
    writeln!(out)
}

fn write_rule(heading: &str, old: Option<&str>, new: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let text = |text: Option<&str>| printable(text.unwrap_or("none").trim_end()).into_owned();
    if old == new {
        return writeln!(out, "{heading:LABEL$} {}", text(new));
    }
    writeln!(out, "{:LABEL$} {}", format!("old {heading}"), text(old))?;
    writeln!(out, "{:LABEL$} {}", format!("new {heading}"), text(new))
}

/// The numbers of a comparison: a heading and a text each.
pub(super) fn summary_lines(report: &CompareReport<'_>) -> Vec<(&'static str, String)> {
    let comparison = report.comparison;
    let mut lines = Vec::new();
    let kept = comparison.jobs - comparison.moved();
    let (all, up, down) = (count(comparison.jobs, "job"), comparison.up, comparison.down);
    lines.push(("compared:", format!("{all}: {up} up, {down} down, {kept} unchanged")));
    lines.push(("moment:", "the queue as it is now; `jsf trajectory` shows ranks while jobs wait".to_owned()));
    if comparison.moved() > 0 {
        let (sum, most) = (comparison.footrule, comparison.largest);
        let mean = sum as f64 / comparison.jobs as f64;
        lines.push(("moves:", format!("{mean:.1} places on average, {most} at most, {sum} in all (footrule)")));
    }
    let overlap = comparison.overlap.iter().filter(|(first, _)| *first < comparison.jobs);
    let overlap: Vec<String> =
        overlap.map(|(first, shared)| format!("{shared} of the first {first} are the same jobs")).collect();
    if !overlap.is_empty() {
        lines.push(("overlap:", overlap.join(", ")));
    }
    let counts = |change: OldNew<usize>| format!("{} old, {} new", change.old, change.new);
    if comparison.considered.old != comparison.jobs || comparison.considered.new != comparison.jobs {
        lines.push(("considered:", counts(comparison.considered)));
    }
    if comparison.errors != OldNew::default() {
        let OldNew { old, new } = report.rankings;
        let evaluated = OldNew { old: old.scores().count(), new: new.scores().count() };
        let jobs = match evaluated {
            OldNew { old, new } if old == new => count(old, "job"),
            OldNew { old, new } => format!("{old} old and {new} new jobs"),
        };
        let mut errors = counts(comparison.errors);
        let unknown = |ranking: &Ranking| {
            ranking.scores().errors().filter(|(_, error)| error.consequence() == Consequence::Unknown).count()
        };
        let unknown = OldNew { old: unknown(old), new: unknown(new) };
        if unknown != OldNew::default() {
            errors += &format!(" (jsf cannot tell the value of {})", counts(unknown));
        }
        lines.push(("errors:", format!("{errors}, of all {jobs} that are evaluated, also those that do not wait")));
    }
    let OldNew { old, new } = report.rankings;
    let ties = counts(OldNew { old: old.ties(), new: new.ties() });
    lines.push(("ties:", format!("{ties} (neighbours of the same value, which the formula does not order)")));
    lines.extend(fairness(report));
    lines
}

fn write_summary(report: &CompareReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let comparison = report.comparison;
    for (heading, text) in summary_lines(report) {
        writeln!(out, "{heading:LABEL$} {text}")?;
    }
    let transitions = [
        (&comparison.failing, "failing"),
        (&comparison.passing, "passing the threshold"),
        (&comparison.being_considered, "being considered"),
    ];
    transitions.into_iter().try_for_each(|(transitions, what)| write_transitions(report, transitions, what, out))
}

/// The fairness of both sides; empty without entities that have shares.
fn fairness(report: &CompareReport<'_>) -> Vec<(&'static str, String)> {
    let OldNew { old, new } = report.comparison.fairness;
    let (Some(old_jain), Some(new_jain), Some(old_gini), Some(new_gini)) = (old.jain, new.jain, old.gini, new.gini)
    else {
        return Vec::new();
    };
    if [report.rankings.old, report.rankings.new].iter().any(|ranking| ranking.order().is_empty()) {
        return Vec::new();
    }
    // the order of jobs that all fail is that of their submission, which says nothing about the formula
    let fails = |ranking: &Ranking| ranking.order().iter().all(|&row| ranking.scores().error(row).is_some());
    let failing = match (fails(report.rankings.old), fails(report.rankings.new)) {
        (false, false) => None,
        (true, false) => Some("the old formula fails"),
        (false, true) => Some("the new formula fails"),
        (true, true) => Some("both formulas fail"),
    };
    if let Some(failing) = failing {
        return vec![("fairness:", format!("not compared: {failing} for all jobs that are considered"))];
    }
    let verdict = fairness_verdict(new_jain - old_jain, new_gini - old_gini);
    let first = report.rankings.new.order().len().min(report.comparison.first);
    let entities = if new.entities == 1 { "1 entity".to_owned() } else { format!("{} entities", new.entities) };
    let mut lines = vec![
        ("fairness:", format!("{verdict}: the first {first} jobs per share, over {entities} with shares")),
        ("", format!("Jain's index {old_jain:.2} old, {new_jain:.2} new (1 is even)")),
        ("", format!("Gini coefficient {old_gini:.2} old, {new_gini:.2} new (0 is even)")),
    ];
    if old.without_shares + new.without_shares > 0 {
        let (old, new) = (old.without_shares, new.without_shares);
        lines.push(("", format!("left out, because they have no shares: {old} of the first {first} old, {new} new")));
    }
    lines
}

/// What the changes of Jain's index and of the Gini coefficient say together.
fn fairness_verdict(jain: f64, gini: f64) -> &'static str {
    let is_more_even = jain >= NOTABLE_FAIRNESS || gini <= -NOTABLE_FAIRNESS;
    let is_less_even = jain <= -NOTABLE_FAIRNESS || gini >= NOTABLE_FAIRNESS;
    match (is_more_even, is_less_even) {
        (true, false) => "more even",
        (false, true) => "less even",
        (true, true) => "more even by one measure, less even by the other",
        (false, false) => "about as even as before",
    }
}

/// The jobs that start and those that stop doing something.
fn write_transitions(
    report: &CompareReport<'_>,
    transitions: &Transitions,
    what: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (rows, verb) in [(&transitions.start, "start"), (&transitions.stop, "stop")] {
        if rows.is_empty() {
            continue;
        }
        let ids: Vec<&str> = rows.iter().take(MAX_IDS).map(|&row| report.table.id(row as usize)).collect();
        let more = rows.len() - ids.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        writeln!(out, "{} {what}: {}{more}", starting(rows.len(), verb), printable(&ids.join(", ")))?;
    }
    Ok(())
}

impl CompareHuman {
    /// The jobs that gain and those that lose the most places, or all jobs of a filter.
    fn write_jobs(&self, report: &CompareReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let moves = || report.rows.iter().map(|ranked| report.comparison.job(ranked.row()));
        if self.is_filtered {
            let moves: Vec<JobMove> = moves().take(self.top.unwrap_or(usize::MAX)).collect();
            if moves.is_empty() {
                return Ok(());
            }
            writeln!(out)?;
            return self.write_moves(report, &moves, out);
        }
        let top = self.top.unwrap_or(MAX_MOVES);
        for (sign, verb) in [(1, "gain"), (-1, "lose")] {
            let moved = |job: &JobMove| job.moved().map(|moved| moved * sign).filter(|moved| *moved > 0);
            let mut moving: Vec<JobMove> = moves().filter(|job| moved(job).is_some()).collect();
            let key = |job: &JobMove| (Reverse(moved(job)), job.new);
            let all = moving.len();
            if top < all {
                moving.select_nth_unstable_by_key(top, key);
                moving.truncate(top);
            }
            moving.sort_unstable_by_key(key);
            if !moving.is_empty() {
                match all - moving.len() {
                    0 => writeln!(out, "\njobs that {verb} places:")?,
                    _ => writeln!(out, "\n{} of {all} jobs that {verb} places:", moving.len())?,
                }
                self.write_moves(report, &moving, out)?;
            }
        }
        Ok(())
    }

    fn write_moves(&self, report: &CompareReport<'_>, moves: &[JobMove], out: &mut dyn Write) -> io::Result<()> {
        let columns = vec![
            Column::id("job", 9),
            Column::text("entity", 6),
            Column::text("queue", 3),
            Column::number("old rank", 8),
            Column::number("new rank", 8),
            Column::number("moved", 9),
            Column::number("old value", 4),
            Column::number("new value", 5),
        ];
        let rank = |rank: Option<usize>| rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string());
        let row = |job: &JobMove| {
            let scores = report.scores(job.row);
            let [old_score, new_score] =
                [scores.old, scores.new].map(|score| score.map_or_else(|| "-".to_owned(), number_format::logged));
            vec![
                report.table.id(job.row).to_owned(),
                or_dash(report.table.entity(job.row)),
                or_dash(report.table.queue(job.row)),
                rank(job.old),
                rank(job.new),
                job.moved().map_or_else(|| "-".to_owned(), signed),
                old_score,
                new_score,
            ]
        };
        write_table(columns, &moves.iter().map(row).collect::<Vec<_>>(), self.width, out)
    }

    fn write_groups(
        &self,
        heading: &str,
        changes: &[GroupChange],
        report: &CompareReport<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let is_unnamed = |change: &GroupChange| change.name.is_empty();
        if changes.is_empty() || changes.iter().all(is_unnamed) {
            return Ok(());
        }
        writeln!(out)?;
        let has_shares = changes.iter().any(|change| change.perc.is_some());
        let all = report.comparison.considered.old.max(report.comparison.considered.new);
        let tops: Vec<usize> = (0..2).filter(|&top| top == 0 || changes[0].top[top].0 < all).collect();
        let mut columns = vec![
            Column::text(heading, 9),
            Column::number("jobs", 6),
            Column::number("old mean rank", 7),
            Column::number("new mean rank", 8),
            Column::number("places won", 9),
        ];
        for &top in &tops {
            let (first, importance) = (changes[0].top[top].0, 5 - top as u8);
            columns.push(Column::number(format!("old in first {first}"), importance));
            columns.push(Column::number(format!("new in first {first}"), importance));
        }
        if has_shares {
            columns.push(Column::number("share (%)", 3));
        }
        let row = |change: &GroupChange| {
            let mean = change.mean_rank();
            let mean =
                |of: fn(OldNew<f64>) -> f64| mean.map_or_else(|| "-".to_owned(), |mean| format!("{:.1}", of(mean)));
            let name = if change.path.is_empty() { or_dash(&change.name) } else { change.path.join("/") };
            let mut cells =
                vec![name, change.jobs.to_string(), mean(|mean| mean.old), mean(|mean| mean.new), signed(change.won())];
            for &top in &tops {
                let counts = change.top[top].1;
                cells.extend([counts.old.to_string(), counts.new.to_string()]);
            }
            if has_shares {
                cells.push(change.perc.map_or_else(|| "-".to_owned(), |perc| format!("{:.2}", perc * 100.0)));
            }
            cells
        };
        let omitted = changes.len().saturating_sub(MAX_GROUPS);
        let shown: Vec<&GroupChange> = match omitted {
            0 => changes.iter().collect(),
            _ => changes[..MAX_GROUPS / 2].iter().chain(&changes[changes.len() - MAX_GROUPS / 2..]).collect(),
        };
        write_table(columns, &shown.into_iter().map(row).collect::<Vec<_>>(), self.width, out)?;
        match omitted {
            0 => Ok(()),
            _ => writeln!(out, "{omitted} rows in the middle are left out; --format json has all"),
        }
    }
}

/// A number of places with its sign.
fn signed(places: i64) -> String {
    if places > 0 { format!("+{places}") } else { places.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_changes_of_fairness_are_none() {
        for (jain, gini, verdict) in [
            (0.02, -0.02, "about as even as before"),
            (-0.049, 0.049, "about as even as before"),
            (0.05, 0.0, "more even"),
            (0.0, -0.2, "more even"),
            (-0.1, 0.1, "less even"),
            (0.01, 0.06, "less even"),
            (0.1, 0.1, "more even by one measure, less even by the other"),
        ] {
            assert_eq!(fairness_verdict(jain, gini), verdict, "{jain} {gini}");
        }
    }
}
