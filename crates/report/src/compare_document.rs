//! A comparison for people: the answer in one sentence, then the numbers, then charts and tables.

use std::cmp::Reverse;

use job_sort_formula::fairshare::{ShareTable, ShareTree};
use job_sort_formula::rank::{Consequence, GroupChange, JobMove, OldNew, Ranking, Transitions};

use crate::charts::{self, SLOPES, Slope};
use crate::compare::CompareReport;
use crate::document::{Cell, Chart, Column, Document, Fact, Section, Table};
use crate::groups::group_sections;
use crate::shares_document::tree_section;
use crate::words::count;

/// The number of jobs in a list of those that gain or lose places.
const MAX_MOVES: usize = 10;
/// The number of ids in a line.
const MAX_IDS: usize = 5;
/// A measure of fairness that changes by less is about the same: one job more or less among the first ten can do that.
const NOTABLE_FAIRNESS: f64 = 0.05;

/// What a page shows beside a comparison.
#[derive(Debug, Clone, Copy)]
pub struct ComparePageParts<'a> {
    /// The findings about the formulas, as they are drawn in a terminal.
    pub findings: &'a [String],
    /// The fair-share tree of the new side with its numbers.
    pub tree: Option<(&'a ShareTree, &'a ShareTable)>,
}

/// Which jobs the text of a comparison lists.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListedJobs {
    /// The number of jobs in a list; `None`: ten, or all that the filter leaves.
    pub top: Option<usize>,
    /// Whether the rows of the report were chosen by a filter. They are then all listed, whether they move or not.
    pub is_filtered: bool,
}

/// The document of a comparison; `page` is what only a page shows.
pub fn compare_document<'a>(
    report: CompareReport<'a>,
    listed: ListedJobs,
    page: Option<ComparePageParts<'a>>,
) -> Document<'a> {
    let comparison = report.comparison;
    let is_changed = comparison.moved() > 0 || !comparison.being_considered.is_empty();
    let mut sections = vec![Section::formulas(report.formulas.old, report.formulas.new)];
    sections.extend(listed_jobs(report, listed));
    if let Some(page) = page {
        sections.extend(Section::findings(page.findings));
        if is_changed {
            sections.extend(chart_sections(report));
        }
    }
    if is_changed {
        sections.extend(group_sections(comparison, false));
    }
    if let Some(page) = page {
        sections.push(all_jobs(report));
        sections.extend(page.tree.map(|(tree, shares)| tree_section(tree, shares)));
    }
    Document {
        command: "jsf compare",
        title: "Comparison of two formulas".to_owned(),
        headline: headline(report),
        facts: facts(report),
        sections,
        read_on: "",
    }
}

/// The formulas and the rules, once if both sides have the same, and the numbers of the comparison.
pub(super) fn facts(report: CompareReport<'_>) -> Vec<Fact> {
    let formulas = [report.formulas.old, report.formulas.new].map(|formula| [("formula", formula.to_owned())]);
    let mut facts = Fact::of_sides(OldNew { old: &formulas[0][..], new: &formulas[1][..] });
    facts.extend(Fact::of_sides(report.rules));
    facts.extend(agreement_fact(report));
    facts.extend(Fact::list(summary_lines(report)));
    facts.extend(transition_facts(report));
    facts
}

/// What tau-b is, on the scale that it has.
fn agreement_fact(report: CompareReport<'_>) -> Option<Fact> {
    let tau = report.comparison.tau_b?;
    Some(Fact::new("agreement", format!("tau-b {tau:.2} (1 is the same order, 0 an unrelated one, -1 the reverse)")))
}

/// How many jobs move, how far the orders agree, and who gains and who loses most.
pub(super) fn headline(report: CompareReport<'_>) -> String {
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
    if let Some(entity) = comparison.entities.first().filter(|entity| entity.won() > 0) {
        sentence += &format!("; {} gains most ({})", name(&entity.name), places(entity));
    }
    if let Some(entity) = comparison.entities.last().filter(|entity| entity.won() < 0) {
        sentence += &format!(", {} loses most ({})", name(&entity.name), places(entity));
    }
    let Transitions { start, stop } = &comparison.being_considered;
    for (rows, verb) in [(start, "start"), (stop, "stop")] {
        if !rows.is_empty() {
            sentence += &format!("; {} being considered", starting(rows.len(), verb));
        }
    }
    sentence + "."
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

fn places(change: &GroupChange) -> String {
    format!("{} with {}", count(change.won().unsigned_abs() as usize, "place"), count(change.jobs, "job"))
}

/// `1 job starts`, `2 jobs start`.
fn starting(number: usize, verb: &str) -> String {
    format!("{} {verb}{}", count(number, "job"), if number == 1 { "s" } else { "" })
}

/// The numbers of a comparison: a heading and a text each.
fn summary_lines(report: CompareReport<'_>) -> Vec<(&'static str, String)> {
    let comparison = report.comparison;
    let mut lines = Vec::new();
    let kept = comparison.jobs - comparison.moved();
    let all = count(comparison.jobs, "job");
    let text = format!("{all}: {} up, {} down, {kept} unchanged", comparison.up, comparison.down);
    lines.push(("compared:", text));
    lines.push(("moment:", "the queue as it is now; `jsf trajectory` shows ranks while jobs wait".to_owned()));
    if comparison.moved() > 0 {
        let sum = comparison.footrule;
        let most = comparison.largest;
        let mean = sum as f64 / comparison.jobs as f64;
        lines.push(("moves:", format!("{mean:.1} places on average, {most} at most, {sum} in all (footrule)")));
    }
    let overlap = comparison.overlap.iter().filter(|(first, _)| *first < comparison.jobs);
    let overlap: Vec<String> =
        overlap.map(|(first, shared)| format!("{shared} of the first {first} are the same jobs")).collect();
    if !overlap.is_empty() {
        lines.push(("overlap:", overlap.join(", ")));
    }
    if comparison.considered.old != comparison.jobs || comparison.considered.new != comparison.jobs {
        lines.push(("considered:", on_sides(comparison.considered)));
    }
    if comparison.errors != OldNew::default() {
        let jobs = match report.rankings.map(|ranking| ranking.scores().count()) {
            OldNew { old, new } if old == new => count(old, "job"),
            OldNew { old, new } => format!("{old} old and {new} new jobs"),
        };
        let mut errors = on_sides(comparison.errors);
        let unknown = report.rankings.map(|ranking| {
            ranking.scores().errors().filter(|(_, error)| error.consequence() == Consequence::Unknown).count()
        });
        if unknown != OldNew::default() {
            errors += &format!(" (jsf cannot tell the value of {})", on_sides(unknown));
        }
        lines.push(("errors:", format!("{errors}, of all {jobs} that are evaluated, also those that do not wait")));
    }
    let ties = on_sides(report.rankings.map(Ranking::ties));
    lines.push(("ties:", format!("{ties} (neighbours of the same value, which the formula does not order)")));
    lines.extend(fairness(report));
    lines
}

fn on_sides(number: OldNew<usize>) -> String {
    format!("{} old, {} new", number.old, number.new)
}

/// The fairness of both sides; empty without entities that have shares.
fn fairness(report: CompareReport<'_>) -> Vec<(&'static str, String)> {
    let OldNew { old, new } = report.comparison.fairness;
    let (Some(old_jain), Some(new_jain), Some(old_gini), Some(new_gini)) = (old.jain, new.jain, old.gini, new.gini)
    else {
        return Vec::new();
    };
    if [report.rankings.old, report.rankings.new].iter().any(|ranking| ranking.order().is_empty()) {
        return Vec::new();
    }
    // the order of jobs that all fail is that of their submission, which says nothing about the formula
    let fails = report.rankings.map(|ranking| ranking.order().iter().all(|&row| ranking.scores().error(row).is_some()));
    let failing = match fails {
        OldNew { old: false, new: false } => None,
        OldNew { old: true, new: false } => Some("the old formula fails"),
        OldNew { old: false, new: true } => Some("the new formula fails"),
        OldNew { old: true, new: true } => Some("both formulas fail"),
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
        let text = format!(
            "left out, because they have no shares: {} of the first {first} old, {} new",
            old.without_shares, new.without_shares
        );
        lines.push(("", text));
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

/// The jobs that start and those that stop failing, passing the threshold and being considered.
fn transition_facts(report: CompareReport<'_>) -> Vec<Fact> {
    let comparison = report.comparison;
    let transitions = [
        (&comparison.failing, "failing"),
        (&comparison.passing, "passing the threshold"),
        (&comparison.being_considered, "being considered"),
    ];
    let facts = transitions.into_iter().flat_map(|(transitions, what)| {
        let Transitions { start, stop } = transitions;
        [transition_fact(report, start, "start", what), transition_fact(report, stop, "stop", what)]
    });
    facts.flatten().collect()
}

fn transition_fact(report: CompareReport<'_>, rows: &[u32], verb: &str, what: &str) -> Option<Fact> {
    let ids: Vec<&str> = rows.iter().take(MAX_IDS).map(|&row| report.table.id(row as usize)).collect();
    let more = match rows.len() - ids.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let heading = format!("{} {what}", starting(rows.len(), verb));
    (!rows.is_empty()).then(|| Fact::new(&heading, format!("{}{more}", ids.join(", "))))
}

/// The jobs that gain and those that lose the most places, or all jobs of a filter.
fn listed_jobs(report: CompareReport<'_>, listed: ListedJobs) -> Vec<Section<'_>> {
    if listed.is_filtered {
        let moves: Vec<JobMove> = moves_of(report).take(listed.top.unwrap_or(usize::MAX)).collect();
        let section = Section::new("").in_text();
        return if moves.is_empty() { Vec::new() } else { vec![section.table(table_of_moves(report, moves))] };
    }
    let top = listed.top.unwrap_or(MAX_MOVES);
    let lists = [(1, "gain"), (-1, "lose")].map(|(sign, verb)| {
        let moving = moves_of(report).filter(|job| job.moved().is_some_and(|moved| moved * sign > 0));
        let mut moving: Vec<JobMove> = moving.collect();
        let all = moving.len();
        keep_first(&mut moving, top, |job| (Reverse(job.moved().map(|moved| moved * sign)), job.new));
        let heading = match all - moving.len() {
            0 => format!("jobs that {verb} places"),
            _ => format!("{} of {all} jobs that {verb} places", moving.len()),
        };
        (!moving.is_empty()).then(|| Section::new(heading).in_text().table(table_of_moves(report, moving)))
    });
    lists.into_iter().flatten().collect()
}

/// Keeps the first jobs by a key, in its order.
fn keep_first<K: Ord>(moves: &mut Vec<JobMove>, first: usize, key: impl Fn(&JobMove) -> K) {
    if first < moves.len() {
        moves.select_nth_unstable_by_key(first, &key);
        moves.truncate(first);
    }
    moves.sort_unstable_by_key(key);
}

/// The jobs, those that move farthest first.
fn all_jobs(report: CompareReport<'_>) -> Section<'_> {
    let mut moves: Vec<JobMove> = moves_of(report).collect();
    moves.sort_by_key(|job| (Reverse(job.moved().map_or(u64::MAX, i64::unsigned_abs)), job.new, job.row));
    Section::new("jobs").on_page().prose("Those that move farthest first.").table(table_of_moves(report, moves))
}

fn table_of_moves(report: CompareReport<'_>, moves: Vec<JobMove>) -> Table<'_> {
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
    Table::new(columns, moves.len(), move |index| {
        let job = &moves[index];
        let scores = report.scores(job.row);
        vec![
            Cell::text(report.table.id(job.row)),
            Cell::text(report.table.entity(job.row)),
            Cell::text(report.table.queue(job.row)),
            Cell::count(job.old),
            Cell::count(job.new),
            job.moved().map_or(Cell::Missing, Cell::Places),
            Cell::score(scores.old),
            Cell::score(scores.new),
        ]
    })
}

/// The charts of how the jobs move.
pub(super) fn chart_sections(report: CompareReport<'_>) -> Vec<Section<'_>> {
    let comparison = report.comparison;
    let most = comparison.considered.old.max(comparison.considered.new);
    let first = most.min(SLOPES);
    let of_slopes = match first < most {
        true => format!(
            "Every line is a job, from its place in the old order to its place in the new one. A job that is among the first \
             {first} of one order only has a short line, and its place in the other order beside it."
        ),
        false => "Every line is a job, from its place in the old order to its place in the new one.".to_owned(),
    };
    let of_ranks = match charts::is_dense(report.rows.len()) {
        true => {
            "Above the diagonal are the jobs that gain places, below it those that lose some. The stronger the \
             colour of a cell, the more jobs it has."
        }
        false => {
            "Every point is a job. Above the diagonal are the jobs that gain places, below it those that lose some."
        }
    };
    let heading = if first < most { format!("the first {first} jobs") } else { "every job's place".to_owned() };
    let sections = [
        Section::new(heading)
            .prose(of_slopes)
            .chart(move || with_directions(charts::slopes(&slopes_of(report, first), first))),
        Section::new("how far jobs move")
            .prose("Every bar counts the jobs that move that far.")
            .chart(move || with_directions(charts::displacements(&places_of(report)))),
        Section::new("old and new rank").prose(of_ranks).chart(move || {
            let moves: Vec<JobMove> = moves_of(report).collect();
            with_directions(charts::ranks(&moves, |job| job_name(report, job.row), most))
        }),
    ];
    sections.into_iter().map(Section::on_page).collect()
}

/// A chart whose colours are the directions in which jobs move.
fn with_directions(svg: String) -> Chart {
    Chart { svg, legend: vec![("up", "gains places"), ("down", "loses places"), ("same", "keeps its place")] }
}

/// The moves of the jobs that the report lists.
fn moves_of(report: CompareReport<'_>) -> impl Iterator<Item = JobMove> {
    report.rows.iter().map(move |ranked| report.comparison.job(ranked.row()))
}

/// The jobs that are among the first ones of either order.
fn slopes_of(report: CompareReport<'_>, first: usize) -> Vec<Slope> {
    let shown = moves_of(report).filter(|job| [job.old, job.new].iter().flatten().any(|rank| *rank <= first));
    shown.map(|job| Slope { name: job_name(report, job.row), job }).collect()
}

/// How many places each job gains.
fn places_of(report: CompareReport<'_>) -> Vec<i64> {
    moves_of(report).filter_map(|job| job.moved()).collect()
}

fn job_name(report: CompareReport<'_>, row: usize) -> String {
    let id = report.table.id(row);
    match report.table.entity(row) {
        "" => id.to_owned(),
        entity => format!("{id} {entity}"),
    }
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
