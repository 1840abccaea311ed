//! What people see of a comparison: how far the orders agree, who gains and loses, and where the jobs
//! come from and go to.

use std::cmp::Reverse;
use std::iter;

use job_sort_formula::rank::{Comparison, JobMove, OldNew, Transitions};
use jsf_openpbs::check::Checked;
use jsf_site::ComparedQueue;

use crate::asked_formula::AskedFormula;
use crate::commands::compare::{CompareAnswer, ids, scores};
use crate::commands::shares::view::tree_section;
use crate::view::charts::{self, MAX_SLOPES, Slope};
use crate::view::document::{
    Cell, Column, DECIDES, Document, Fact, RowLimit, Section, Table, cells,
};
use crate::view::facts::{decides_section, facts_of};
use crate::view::findings::{brief_findings, drawn_findings_of_sides};
use crate::view::groups::{
    KindOfGroup, by_gain, group_name, group_sections, group_table, move_cells, move_columns,
};
use crate::view::verdict::{has_effect, verdict_sentence};
use crate::view::words::{count, first_few, grouped, grouped_count, significant};

impl CompareAnswer<'_> {
    /// What people see of it.
    pub(super) fn shown(&self) -> Document<'_> {
        let compared = &self.compared;
        let formulas = self.given.as_ref().map(AskedFormula::text);
        let OldNew { old, new } = self.checked();
        let has_effect = old.verdict.has_effect() && new.verdict.has_effect();
        let other = (formulas.old != formulas.new).then_some(old);
        let mut sections = Vec::from_iter(brief_findings(new, other));
        sections.extend(decides_section(compared.decides()));
        // who gains by an order of submission, or of errors, gains nothing by the formula
        if has_effect {
            sections.extend(who_section(&compared.comparison));
        }
        sections.extend(self.listed_jobs());
        sections.push(Section::formulas(formulas.old, formulas.new));
        let mut checked = vec![(&self.given.old.source, old), (&self.given.new.source, new)];
        if self.is_one {
            checked.truncate(1);
        }
        sections.extend(drawn_findings_of_sides(checked));
        sections.push(places(compared, &self.rows));
        if is_long(compared) {
            sections.push(all_jobs(compared, &self.rows));
        }
        let groups = group_sections(&compared.comparison, false).into_iter();
        sections.extend(groups.map(Section::in_full));
        sections.extend(compared.sides.new.assessed_tree().map(tree_section));
        Document {
            command: "jsf compare",
            title: "Comparison of two formulas".to_owned(),
            headline: headline(compared, formulas, OldNew::new(Some(old), Some(new))),
            facts: facts(compared, formulas, has_effect),
            sections,
            read_on: "--report FILE.html, jsf simulate for waits",
        }
    }

    /// The jobs that gain and those that lose the most places, or all jobs of a filter.
    fn listed_jobs(&self) -> Vec<Section<'_>> {
        let top = self.question.top;
        let is_filtered = !self.question.filter().is_empty();
        let mut moves = moves_of(&self.compared, &self.rows);
        let mut lists = vec![("", moves.clone())];
        let mut most = top.unwrap_or(usize::MAX);
        if !is_filtered {
            moves.sort_by_key(farthest_first);
            lists.clear();
            for (heading, sign) in [
                ("jobs that gain most places", 1),
                ("jobs that lose most places", -1),
            ] {
                let mut listed = moves.clone();
                listed.retain(|job| job.moved().map(i64::signum) == Some(sign));
                lists.push((heading, listed));
            }
            most = top.unwrap_or(MAX_MOVES);
        }
        let mut sections = Vec::new();
        for (heading, mut moves) in lists {
            moves.truncate(most);
            if !moves.is_empty() {
                let table = table_of_moves(&self.compared, moves);
                let section = Section::new(heading).in_text().table(table);
                sections.push(section.in_full_if(top.is_none() && !is_filtered));
            }
        }
        sections
    }
}

/// The verdicts on the formulas, then how far the new order agrees with the old one, then who gains
/// and who loses most.
pub(crate) fn headline(
    compared: &ComparedQueue,
    formulas: OldNew<&str>,
    OldNew { old, new }: OldNew<Option<&Checked>>,
) -> String {
    let mut sentences = Vec::new();
    if let Some(checked) = new {
        sentences.extend(verdict_sentence(checked, "the new formula"));
    }
    // of the formula in force it counts only whether it orders jobs at all
    if let Some(checked) = old
        && formulas.old != formulas.new
        && !checked.verdict.has_effect()
    {
        sentences.extend(verdict_sentence(checked, "the old formula"));
    }
    if has_effect(old) && has_effect(new) {
        sentences.push(agreement_sentence(&compared.comparison));
        sentences.extend(considered_sentence(&compared.comparison));
        sentences.extend(who_sentence(&compared.comparison));
    }
    sentences.join(" ")
}

/// The formulas and the rules, once if both sides have the same, and the numbers of the comparison,
/// if both formulas order jobs.
pub(crate) fn facts(
    compared: &ComparedQueue,
    formulas: OldNew<&str>,
    has_effect: bool,
) -> Vec<Fact> {
    let [old, new] = [formulas.old, formulas.new].map(|text| [Fact::new("formula", text)]);
    let mut facts = Fact::of_sides(&old, &new);
    if has_effect && compared.comparison.moved() > 0 {
        facts.push(moves_fact(compared));
    }
    let OldNew { old, new } = &compared.sides;
    for mut fact in Fact::of_sides(&facts_of(&old.rules), &facts_of(&new.rules)) {
        let [old, new] = [old, new].map(|side| {
            let mut rules = side.rules.iter();
            rules.find(|rule| rule.heading == fact.heading)
        });
        // a side whose formula has no fair share has no policy
        let is_compared = fact.heading != "policy" || (old.is_some() && new.is_some());
        // which rules differ is a part of the answer
        if old != new && is_compared {
            fact.is_in_full = false;
        }
        facts.push(fact);
    }
    if has_effect {
        facts.extend(fairness_fact(&compared.comparison));
    }
    facts.extend(transition_facts(compared));
    facts
}

/// How far the jobs move, and how many neighbours the formulas do not order.
fn moves_fact(compared: &ComparedQueue) -> Fact {
    let comparison = &compared.comparison;
    let mean = comparison.footrule as f64 / comparison.jobs.max(1) as f64;
    let OldNew { old, new } = &compared.sides;
    let text = format!(
        "{} up, {} down; {} places on average, {} at most; ties {} → {}",
        comparison.up,
        comparison.down,
        significant(mean),
        comparison.largest,
        old.ranking.ties(),
        new.ranking.ties()
    );
    Fact::new("moves", text)
}

/// The jobs that start and those that stop failing, passing the threshold and being considered.
fn transition_facts(compared: &ComparedQueue) -> Vec<Fact> {
    let comparison = &compared.comparison;
    let mut facts = Vec::new();
    for (Transitions { start, stop }, what) in [
        (&comparison.failing, "failing"),
        (&comparison.passing, "passing the threshold"),
        (&comparison.being_considered, "being considered"),
    ] {
        for (rows, verb) in [(start, "start"), (stop, "stop")] {
            if !rows.is_empty() {
                let ids = first_few(ids(compared, rows), MAX_IDS);
                facts.push(Fact::new(&format!("{verb} {what}"), ids).in_full());
            }
        }
    }
    facts
}

fn table_of_moves(compared: &ComparedQueue, moves: Vec<JobMove>) -> Table<'_> {
    let mut columns = move_columns();
    columns.push(Column::number("old value", DECIDES));
    columns.push(Column::number("new value", DECIDES));
    Table::new(columns, moves, move |job| {
        let OldNew { old, new } = scores(compared, job.row);
        let mut cells = move_cells(compared.table(), job);
        cells.extend(cells![old.map(Cell::Score), new.map(Cell::Score)]);
        cells
    })
}

/// Whether there are too many jobs to draw a line for each.
fn is_long(compared: &ComparedQueue) -> bool {
    let OldNew { old, new } = compared.comparison.considered;
    old.max(new) > MAX_SLOPES
}

/// Where the jobs of some rows come from and go to: each of a few, of many how many.
pub(crate) fn places<'a>(compared: &'a ComparedQueue, rows: &[usize]) -> Section<'a> {
    if is_long(compared) {
        bands_section(&moves_of(compared, rows), compared.comparison.considered)
    } else {
        all_jobs(compared, rows)
    }
}

/// The jobs, those that move farthest first.
fn all_jobs<'a>(compared: &'a ComparedQueue, rows: &[usize]) -> Section<'a> {
    let mut moves = moves_of(compared, rows);
    moves.sort_by_key(farthest_first);
    let mut section = Section::new("jobs").on_page();
    if !is_long(compared) && moves.iter().any(|job| job.moved() != Some(0)) {
        let table = compared.table();
        let mut slopes = Vec::new();
        for job in &moves {
            let names = [table.id(job.row), table.entity(job.row)].join(" ");
            let name = names.trim_end().to_owned();
            slopes.push(Slope { name, job: *job });
        }
        let name = "Each job's place in the old and in the new order";
        section = section.chart(move || charts::chart(&slopes, name));
    }
    section.table(table_of_moves(compared, moves))
}

/// The moves of the jobs of some rows.
fn moves_of(compared: &ComparedQueue, rows: &[usize]) -> Vec<JobMove> {
    let jobs = rows.iter().map(|&row| compared.comparison.job(row));
    jobs.collect()
}

/// The number of jobs in a list of those that gain or lose places.
const MAX_MOVES: usize = 10;
/// The first jobs of the order, of which the headline says how many stay among them.
const FIRST: usize = 10;
/// The mean place of fewer jobs is that of single jobs.
const MIN_JOBS: usize = 3;
/// The most entities, groups and queues on the first screen.
const MAX_WHO: usize = 10;
/// The number of ids in a line.
const MAX_IDS: usize = 5;
/// The heading of those who gain and lose most.
const WHO: &str = "who gains and loses";

/// How far the orders agree, and how many jobs move.
fn agreement_sentence(comparison: &Comparison) -> String {
    if comparison.jobs == 0 {
        return "No job is considered under both, so no places can be compared.".to_owned();
    }
    let moved = comparison.moved();
    // tau-b is of the values, and may be less than 1 though no place changes
    if moved == 0 {
        return "No job changes its place.".to_owned();
    }
    let mut moves = grouped(&format!(
        "{moved} of {} moved",
        count(comparison.jobs, "job")
    ));
    let first = comparison.overlap.iter().find(|(first, _)| *first == FIRST);
    if let Some((first, shared)) = first
        // of so few jobs the first ones are always all of them
        && *first < comparison.jobs
    {
        moves += &format!(", {shared} of the first {first} are the same");
    }
    match comparison.tau_b {
        // jobs of equal values move too, by what breaks the tie
        Some(tau) => format!(
            "By value the new order is {} (tau-b {tau:.2}): {moves}.",
            agreement(tau)
        ),
        None => format!("{moves}."),
    }
}

/// What a value of tau-b means, by the same bounds on both sides of 0.
fn agreement(tau: f64) -> String {
    let likeness = match tau.abs() {
        0.9.. => "nearly",
        0.6.. => "much like",
        0.3.. => "somewhat like",
        0.1.. => "only weakly like",
        _ => return "unrelated to the old".to_owned(),
    };
    let reverse = if tau < 0.0 { "the reverse of " } else { "" };
    format!("{likeness} {reverse}the old one")
}

/// How many jobs only one of the sides considers.
fn considered_sentence(comparison: &Comparison) -> Option<String> {
    let Transitions { start, stop } = &comparison.being_considered;
    if comparison.being_considered.is_empty() {
        return None;
    }
    Some(format!(
        "Considered under the new side only: {}, under the old only: {}.",
        grouped_count(start.len(), "job"),
        grouped_count(stop.len(), "job")
    ))
}

/// Who gains and who loses most, by the mean place of a job.
fn who_sentence(comparison: &Comparison) -> Option<String> {
    let groups = groups_by_gain(comparison);
    let mut clauses = Vec::new();
    for (group, verb, sign) in [
        (groups.first(), "gains", 1.0),
        (groups.last(), "loses", -1.0),
    ] {
        if let Some((kind, change)) = group
            && change.gain() * sign > 0.0
        {
            let name = group_name(&("", change));
            let OldNew { old, new } = change.mean_rank().unwrap_or_default().map(significant);
            clauses.push(format!(
                "{kind}`{name}` {verb} most (mean place {old} → {new})"
            ));
        }
    }
    if clauses.is_empty() {
        return None;
    }
    let clauses = clauses.join(", ");
    Some(format!("Of those with {MIN_JOBS} jobs or more {clauses}."))
}

/// The entities, groups and queues with a name and enough jobs, each with its kind; those that gain
/// most come first.
fn groups_by_gain(comparison: &Comparison) -> Vec<KindOfGroup<'_>> {
    let mut groups = Vec::new();
    for (kind, changes) in [
        ("", &comparison.entities),
        ("group ", &comparison.groups),
        ("queue ", &comparison.queues),
    ] {
        for change in changes {
            if !change.name.is_empty() && change.jobs >= MIN_JOBS {
                groups.push((kind, change));
            }
        }
    }
    groups.sort_by(by_gain);
    groups
}

/// How evenly the first jobs are distributed; `None` without entities that have shares.
fn fairness_fact(comparison: &Comparison) -> Option<Fact> {
    let OldNew { old, new } = comparison.fairness;
    let text = format!(
        "Jain's index {:.2} → {:.2}, Gini coefficient {:.2} → {:.2}; of the first {} jobs without shares {} → {}",
        old.jain?,
        new.jain?,
        old.gini?,
        new.gini?,
        comparison.first,
        old.without_shares,
        new.without_shares
    );
    Some(Fact::new("fairness", text).in_full())
}

/// The entities, groups and queues, with those that gain and those that lose most at the ends.
fn who_section(comparison: &Comparison) -> Option<Section<'_>> {
    let mut groups = groups_by_gain(comparison);
    groups.retain(|(_, change)| change.gain() != 0.0);
    if groups.is_empty() {
        return None;
    }
    let table = group_table(WHO, groups, comparison, false);
    Some(Section::new(WHO).table(table.limit(RowLimit::Ends(MAX_WHO))))
}

/// Jobs that one side does not consider come first of all.
fn farthest_first(job: &JobMove) -> (bool, Reverse<u64>) {
    let moved = job.moved();
    let places = moved.unwrap_or_default().unsigned_abs();
    (moved.is_some(), Reverse(places))
}

/// Of the jobs in each band of the old order, how many are in which band of the new one.
fn bands_section<'a>(moves: &[JobMove], considered: OldNew<usize>) -> Section<'a> {
    let bands = bands(considered.old.max(considered.new));
    let mut names: Vec<String> = bands.iter().map(band_name).collect();
    if moves
        .iter()
        .any(|job| job.old.is_none() || job.new.is_none())
    {
        names.push("not considered".to_owned());
    }
    let mut counts = vec![vec![0usize; names.len()]; names.len()];
    for job in moves {
        counts[band_of(&bands, job.old)][band_of(&bands, job.new)] += 1;
    }
    let mut columns = vec![Column::text("old place", 9), Column::number("jobs", 8)];
    let mut rows = Vec::new();
    for (name, counts) in iter::zip(names, counts) {
        columns.push(Column::number(format!("now {name}"), 8));
        let mut row = vec![name.into(), Cell::Count(counts.iter().sum())];
        row.extend(counts.into_iter().map(Cell::Count));
        rows.push(row);
    }
    Section::new("from where to where")
        .on_page()
        .table(Table::from_rows(columns, rows))
}

/// The places 1 to 10, 11 to 100, and so on.
fn bands(most: usize) -> Vec<(usize, usize)> {
    let (mut first, mut last) = (1, 10);
    let mut bands = Vec::new();
    while last < most {
        bands.push((first, last));
        (first, last) = (last + 1, last.saturating_mul(10));
    }
    bands.push((first, most));
    bands
}

/// The index of the band of a rank; without a rank that after the last.
fn band_of(bands: &[(usize, usize)], rank: Option<usize>) -> usize {
    let rank = rank.unwrap_or(usize::MAX);
    bands.partition_point(|(_, last)| *last < rank)
}

fn band_name((first, last): &(usize, usize)) -> String {
    grouped(&format!("{first} to {last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_cover_all_places() {
        assert_eq!(bands(61), [(1, 10), (11, 61)]);
        assert_eq!(
            bands(10_000),
            [(1, 10), (11, 100), (101, 1000), (1001, 10_000)]
        );
    }

    #[test]
    fn agreement_has_the_same_bounds_on_both_sides_of_zero() {
        for bound in [0.1, 0.3, 0.6, 0.9] {
            for tau in [bound, -bound] {
                let within = agreement(tau * 0.99);
                assert_ne!(agreement(tau), within, "{tau}");
                assert_ne!(agreement(tau), agreement(-tau), "{tau}");
            }
        }
        assert_eq!(agreement(-0.09), agreement(0.09));
        for tau in [0.1, 0.35, 0.8, 0.95, 1.0] {
            let mirrored = agreement(tau).replace("the old one", "the reverse of the old one");
            assert_eq!(agreement(-tau), mirrored, "{tau}");
        }
    }
}
