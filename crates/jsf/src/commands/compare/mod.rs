//! `jsf compare`: two rankings of one queue, for people, who read the answer in one sentence, then
//! the numbers, then charts and tables; as JSON and as CSV.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::iter;

use job_sort_formula::python::Value;
use job_sort_formula::rank::{
    Comparison, GroupChange, JobMove, OldNew, Ranking, SummandAgreement, Transitions,
};
use jsf_openpbs::check::Checked;
use jsf_site::{ComparedQueue, Rule};
use serde::{Serialize, Serializer};

use crate::answer::{Answer, CsvText, CsvWriter, Each, Format, guarded_names, object};
use crate::commands::shares::view::tree_section;
use crate::view::charts::{self, MAX_SLOPES, Slope};
use crate::view::document::{
    Cell, Column, DECIDES, Document, Fact, RowLimit, Section, Table, cells,
};
use crate::view::findings::{brief_findings, has_effect, verdict_sentence};
use crate::view::sections::{
    KindOfGroup, by_gain, decides_section, facts_of, group_name, group_sections, group_table,
    move_cells, move_columns,
};
use crate::view::words::{count, first_few, grouped, grouped_count, significant};

#[cfg(feature = "command")]
pub mod run;

/// A comparison, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct CompareAnswer<'a> {
    /// The texts of the formulas.
    pub formulas: OldNew<&'a str>,
    /// The jobs under both rankings, and what changes.
    pub compared: &'a ComparedQueue,
    /// The rows to list, in the order in which they are listed.
    pub rows: &'a [usize],
    /// What each summand of the formulas decides of its order.
    pub decides: OldNew<&'a [SummandAgreement]>,
    /// The result of checking the formulas, for people.
    pub checked: OldNew<Option<&'a Checked>>,
    /// Which jobs are listed.
    pub listed: ListedJobs,
    /// The findings about each formula, as they are drawn in a terminal, for a page; `None` if none
    /// is written.
    pub drawn_on_page: Option<&'a OldNew<Vec<String>>>,
}

/// Which jobs the text of a comparison lists.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListedJobs {
    /// The number of jobs in a list; `None`: ten, or all that the filter leaves.
    top: Option<usize>,
    /// Whether the rows of the answer were chosen by a filter. They are then all listed, whether
    /// they move or not.
    is_filtered: bool,
}

impl Answer for CompareAnswer<'_> {
    fn document(&self) -> Document<'_> {
        let comparison = &self.compared.comparison;
        let mut sections = Vec::from_iter(self.findings());
        sections.extend(decides_section(self.decides));
        // who gains by an order of submission, or of errors, gains nothing by the formula
        if self.has_effect() {
            sections.extend(who_section(comparison));
        }
        sections.extend(self.listed_jobs());
        sections.push(Section::formulas(self.formulas.old, self.formulas.new));
        if let Some(OldNew { old, new }) = self.drawn_on_page {
            let drawn = OldNew::new(&**old, &**new);
            sections.extend(Section::findings_of_sides(self.formulas, drawn));
            sections.push(self.places());
            if self.is_long() {
                sections.push(self.all_jobs());
            }
        }
        let groups = group_sections(comparison, false).into_iter();
        sections.extend(groups.map(Section::in_full));
        if self.drawn_on_page.is_some() {
            let tree = self.compared.sides.new.assessed_tree();
            sections.extend(tree.map(tree_section));
        }
        Document {
            command: "jsf compare",
            title: "Comparison of two formulas".to_owned(),
            headline: self.headline(),
            facts: self.facts(),
            sections,
            read_on: "--report FILE.html, jsf simulate for waits",
        }
    }

    /// Writes comma-separated values as in RFC 4180: a header, and a line for each job.
    fn write_as(&self, _format: Format, cells: CsvText, out: &mut dyn Write) -> io::Result<()> {
        let header = "id,entity,queue,old_rank,new_rank,old_score,new_score,moved";
        let mut csv = CsvWriter::new(header, out)?;
        let table = self.compared.table();
        for &row in self.rows {
            let names = [table.id(row), table.entity(row), table.queue(row)];
            let names = guarded_names(names, cells);
            let job = self.compared.comparison.job(row);
            let OldNew { old, new } = self.scores(row).map(finite_score);
            csv.write((names, job.old, job.new, old, new, job.moved()))?;
        }
        csv.finish()
    }
}

impl<'a> CompareAnswer<'a> {
    /// The numbers that concern the whole queue.
    pub(crate) fn numbers(&self) -> impl Serialize {
        let comparison = &self.compared.comparison;
        let rankings = self.compared.sides.as_ref().map(|side| &side.ranking);
        object! {
            summary: object! {
                #[serde(flatten)]
                comparison,
                moved: comparison.moved(),
                evaluated: rankings.map(|ranking| ranking.scores().count()),
                ties: rankings.map(Ranking::ties),
            },
            fairness: object! {
                #[serde(flatten)]
                sides: comparison.fairness,
                first: comparison.first,
            },
        }
    }

    /// The ids of the jobs that start and stop doing something.
    fn start_stop(&self, transitions: &Transitions) -> impl Serialize {
        object! { start: self.ids(&transitions.start), stop: self.ids(&transitions.stop) }
    }

    fn ids(&self, rows: &[u32]) -> Vec<&str> {
        let ids = rows
            .iter()
            .map(|&row| self.compared.table().id(row as usize));
        ids.collect()
    }

    /// A job; its ranks count from 1, and are null where it is not considered. A score is null if
    /// it is not finite.
    fn job(&self, row: usize) -> impl Serialize {
        let table = self.compared.table();
        let job = self.compared.comparison.job(row);
        let scores = self.scores(row);
        object! {
            id: table.id(row),
            entity: table.entity(row),
            queue: table.queue(row),
            old_rank: job.old,
            new_rank: job.new,
            old_score: scores.old,
            new_score: scores.new,
            moved: job.moved(),
        }
    }

    /// The scores of a row; `None` for a side on which the job is excluded.
    fn scores(&self, row: usize) -> OldNew<Option<f64>> {
        let sides = self.compared.sides.as_ref();
        sides.map(|side| Some(side.ranking.score(row)?.value))
    }

    /// The verdicts on the formulas, then how far the new order agrees with the old one, then who gains
    /// and who loses most.
    pub(crate) fn headline(self) -> String {
        let OldNew { old, new } = self.checked;
        let mut sentences = Vec::new();
        if let Some(checked) = new {
            sentences.extend(verdict_sentence(checked, "the new formula"));
        }
        // of the formula in force it counts only whether it orders jobs at all
        if let Some(checked) = old
            && self.formulas.old != self.formulas.new
            && !checked.verdict.has_effect()
        {
            sentences.extend(verdict_sentence(checked, "the old formula"));
        }
        if self.has_effect() {
            sentences.push(agreement_sentence(&self.compared.comparison));
            sentences.extend(considered_sentence(&self.compared.comparison));
            sentences.extend(who_sentence(&self.compared.comparison));
        }
        sentences.join(" ")
    }

    /// Whether both formulas order jobs, so that the orders can be compared.
    fn has_effect(self) -> bool {
        let OldNew { old, new } = self.checked;
        has_effect(old) && has_effect(new)
    }

    /// The formulas and the rules, once if both sides have the same, and the numbers of the comparison.
    pub(crate) fn facts(self) -> Vec<Fact> {
        let OldNew { old, new } = self.formulas;
        let mut facts = Fact::of_sides(&[Fact::new("formula", old)], &[Fact::new("formula", new)]);
        if self.has_effect() && self.compared.comparison.moved() > 0 {
            facts.push(self.moves_fact());
        }
        let OldNew { old, new } = &self.compared.sides;
        let (old_rules, new_rules) = (&old.rules, &new.rules);
        for mut fact in Fact::of_sides(&facts_of(old_rules), &facts_of(new_rules)) {
            let old = rule(old_rules, &fact.heading);
            let new = rule(new_rules, &fact.heading);
            // a side whose formula has no fair share has no policy
            let is_compared = fact.heading != "policy" || (old.is_some() && new.is_some());
            // which rules differ is a part of the answer
            if old != new && is_compared {
                fact.is_in_full = false;
            }
            facts.push(fact);
        }
        if self.has_effect() {
            facts.extend(fairness_fact(&self.compared.comparison));
        }
        facts.extend(self.transition_facts());
        facts
    }

    /// How far the jobs move, and how many neighbours the formulas do not order.
    fn moves_fact(self) -> Fact {
        let comparison = &self.compared.comparison;
        let mean = comparison.footrule as f64 / comparison.jobs.max(1) as f64;
        let OldNew { old, new } = &self.compared.sides;
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
    fn transition_facts(self) -> Vec<Fact> {
        let comparison = &self.compared.comparison;
        let mut facts = Vec::new();
        for (Transitions { start, stop }, what) in [
            (&comparison.failing, "failing"),
            (&comparison.passing, "passing the threshold"),
            (&comparison.being_considered, "being considered"),
        ] {
            for (rows, verb) in [(start, "start"), (stop, "stop")] {
                if !rows.is_empty() {
                    let ids = rows
                        .iter()
                        .map(|&row| self.compared.table().id(row as usize));
                    let heading = format!("{verb} {what}");
                    facts.push(Fact::new(&heading, first_few(ids, MAX_IDS)).in_full());
                }
            }
        }
        facts
    }

    /// The findings about the formulas, one line each.
    fn findings(self) -> Option<Section<'a>> {
        let OldNew { old, new } = self.checked;
        if self.formulas.old == self.formulas.new {
            return brief_findings(new?, None);
        }
        brief_findings(new?, Some(old?))
    }

    /// The jobs that gain and those that lose the most places, or all jobs of a filter.
    fn listed_jobs(self) -> Vec<Section<'a>> {
        let ListedJobs { top, is_filtered } = self.listed;
        let mut all = self.moves_of();
        let lists = if is_filtered {
            all.truncate(top.unwrap_or(usize::MAX));
            vec![("", all)]
        } else {
            let (mut up, mut down) = (Vec::new(), Vec::new());
            for job in all {
                match job.moved() {
                    Some(1..) => up.push(job),
                    Some(..=-1) => down.push(job),
                    _ => {}
                }
            }
            for moves in [&mut up, &mut down] {
                moves.sort_by_key(farthest_first);
                moves.truncate(top.unwrap_or(MAX_MOVES));
            }
            vec![
                ("jobs that gain most places", up),
                ("jobs that lose most places", down),
            ]
        };
        let mut sections = Vec::new();
        for (heading, moves) in lists {
            if !moves.is_empty() {
                let table = self.table_of_moves(moves);
                let section = Section::new(heading).in_text().table(table);
                sections.push(section.in_full_if(top.is_none() && !is_filtered));
            }
        }
        sections
    }

    fn table_of_moves(self, moves: Vec<JobMove>) -> Table<'a> {
        let mut columns = move_columns();
        columns.push(Column::number("old value", DECIDES));
        columns.push(Column::number("new value", DECIDES));
        Table::new(columns, moves, move |job| {
            let OldNew { old, new } = self.scores(job.row);
            let mut cells = move_cells(self.compared.table(), job);
            cells.extend(cells![old.map(Cell::Score), new.map(Cell::Score)]);
            cells
        })
    }

    /// Whether there are too many jobs to draw a line for each.
    fn is_long(self) -> bool {
        let OldNew { old, new } = self.compared.comparison.considered;
        old.max(new) > MAX_SLOPES
    }

    /// Where the jobs come from and go to: each of a few, of many how many.
    pub(crate) fn places(self) -> Section<'a> {
        if self.is_long() {
            bands_section(&self.moves_of(), self.compared.comparison.considered)
        } else {
            self.all_jobs()
        }
    }

    /// The jobs, those that move farthest first.
    fn all_jobs(self) -> Section<'a> {
        let mut moves = self.moves_of();
        moves.sort_by_key(farthest_first);
        let mut section = Section::new("jobs").on_page();
        if !self.is_long() && moves.iter().any(|job| job.moved() != Some(0)) {
            let mut slopes = Vec::new();
            for job in &moves {
                let name = self.job_name(job.row);
                slopes.push(Slope { name, job: *job });
            }
            let name = "Each job's place in the old and in the new order";
            section = section.chart(move || charts::chart(&slopes, name));
        }
        section.table(self.table_of_moves(moves))
    }

    /// The moves of the jobs that the answer lists.
    fn moves_of(self) -> Vec<JobMove> {
        let mut moves = Vec::with_capacity(self.rows.len());
        for &row in self.rows {
            moves.push(self.compared.comparison.job(row));
        }
        moves
    }

    fn job_name(self, row: usize) -> String {
        let table = self.compared.table();
        let names = [table.id(row), table.entity(row)];
        names.join(" ").trim_end().to_owned()
    }
}

/// The rows that a comparison lists: the new order, then the jobs that are considered only under
/// the old ranking.
pub fn compared_rows(comparison: &Comparison) -> Vec<usize> {
    comparison.moves().map(|job| job.row).collect()
}

impl Serialize for CompareAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ComparedQueue {
            comparison, sides, ..
        } = self.compared;
        let answer = object! {
            old: side(self.formulas.old, &sides.old.rules),
            new: side(self.formulas.new, &sides.new.rules),
            jobs: Each(|| self.rows.iter().map(|&row| self.job(row))),
            #[serde(flatten)]
            numbers: self.numbers(),
            changes: object! {
                considered: self.start_stop(&comparison.being_considered),
                failing: self.start_stop(&comparison.failing),
                passing: self.start_stop(&comparison.passing),
            },
            entities: groups(&comparison.entities),
            groups: groups(&comparison.groups),
            queues: groups(&comparison.queues),
            sizes: groups(&comparison.sizes),
            decides: self.decides,
        };
        answer.serialize(serializer)
    }
}

/// A formula, and its rules by heading.
fn side(formula: &str, given: &[Rule]) -> impl Serialize {
    let mut rules = BTreeMap::new();
    for rule in given {
        rules.insert(rule.heading, rule.text.clone());
    }
    object! { formula, rules }
}

fn groups(changes: &[GroupChange]) -> Vec<impl Serialize> {
    let mut groups = Vec::new();
    for change in changes {
        let mean = change.mean_rank();
        groups.push(object! {
            #[serde(flatten)]
            change,
            old_mean_rank: mean.map(|mean| mean.old),
            new_mean_rank: mean.map(|mean| mean.new),
            won: change.won(),
        });
    }
    groups
}

fn finite_score(score: Option<f64>) -> Option<String> {
    match score {
        Some(score) if score.is_finite() => Some(Value::Float(score).repr()),
        _ => None,
    }
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

fn rule<'r>(rules: &'r [Rule], heading: &str) -> Option<&'r Rule> {
    rules.iter().find(|rule| rule.heading == heading)
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

    #[test]
    fn findings_say_whose_they_are() {
        let [one, none] = [vec!["error".to_owned()], Vec::new()];
        let headings = |formulas, old, new| {
            let sections = Section::findings_of_sides(formulas, OldNew { old, new });
            let headings = sections.into_iter().map(|section| section.heading);
            headings.collect::<Vec<_>>()
        };
        let two = OldNew { old: "a", new: "b" };
        assert_eq!(
            headings(two, &one, &one),
            ["findings: old formula", "findings: new formula"]
        );
        assert_eq!(headings(two, &one, &none), ["findings: old formula"]);
        assert_eq!(headings(two, &none, &one), ["findings: new formula"]);
        assert_eq!(
            headings(OldNew { old: "a", new: "a" }, &none, &one),
            ["findings"]
        );
    }
}
