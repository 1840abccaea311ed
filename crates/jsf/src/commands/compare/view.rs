//! A comparison for people: the answer in one sentence, then the numbers, then charts and tables.

use std::cmp::Reverse;

use job_sort_formula::fairshare::AssessedTree;
use job_sort_formula::rank::{
    Comparison, Consequence, GroupChange, JobMove, OldNew, Ranking, Transitions,
};
use jsf_openpbs::check::Verdict;

use crate::commands::compare::answer::CompareReport;
use crate::commands::compare::displacements::{Displacements, places_words};
use crate::commands::shares::view::tree_section;
use crate::view::charts::slopes::{MAX_SLOPES, Slope};
use crate::view::charts::{Figure, Kind};
use crate::view::decides::decides_section;
use crate::view::document::{
    Cell, Chart, Column, DECIDES, Document, Fact, RowLimit, Section, Table,
};
use crate::view::groups::group_sections;
use crate::view::rule_facts::is_policy_of_others;
use crate::view::verdict::{brief_findings, brief_findings_of_sides, verdict_sentence};
use crate::view::words::{capitalised, count, first_names, grouped, grouped_count, significant};

/// The number of jobs in a list of those that gain or lose places.
const MAX_MOVES: usize = 10;
/// The first jobs of the order, of which the headline says how many are others.
const FIRST: usize = 10;
/// The mean place of fewer jobs is that of single jobs.
const MIN_JOBS: usize = 3;
/// The most entities, groups and queues on the first screen.
const MAX_WHO: usize = 10;
/// The number of ids in a line.
const MAX_IDS: usize = 5;
/// A measure of fairness that changes by less is about the same: one job more or less among the
/// first ten can do that.
const NOTABLE_FAIRNESS: f64 = 0.05;

/// What a page shows beside a comparison.
#[derive(Debug)]
pub struct ComparePageParts {
    /// The findings about each formula, as they are drawn in a terminal.
    pub findings: OldNew<Vec<String>>,
    /// The fair-share tree of the new side with its numbers.
    pub tree: Option<AssessedTree>,
}

/// Which jobs the text of a comparison lists.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListedJobs {
    /// The number of jobs in a list; `None`: ten, or all that the filter leaves.
    pub top: Option<usize>,
    /// Whether the rows of the report were chosen by a filter. They are then all listed, whether
    /// they move or not.
    pub is_filtered: bool,
}

/// The document of a comparison; `page` is what only a page shows.
pub(crate) fn compare_document<'a>(
    report: CompareReport<'a>,
    page: Option<&'a ComparePageParts>,
) -> Document<'a> {
    let listed = report.listed;
    let comparison = report.comparison;
    let is_changed = comparison.moved() > 0 || !comparison.being_considered.is_empty();
    let mut sections = vec![Section::formulas(report.formulas.old, report.formulas.new)];
    sections.extend(findings(report));
    sections.extend(decides_section(report.decides));
    if is_changed && has_effect(report) {
        sections.extend(who_section(report));
    }
    let is_asked = listed.top.is_some() || listed.is_filtered;
    let jobs = listed_jobs(report, listed).into_iter();
    sections.extend(jobs.map(|section| if is_asked { section } else { section.in_full() }));
    if let Some(page) = page {
        sections.extend(Section::findings_of_sides(
            report.formulas,
            page.findings.as_ref().map(|drawn| &**drawn),
        ));
        if is_changed {
            sections.extend(chart_sections(report));
        }
    }
    if is_changed {
        sections.extend(
            group_sections(comparison, false)
                .into_iter()
                .map(Section::in_full),
        );
    }
    if let Some(page) = page {
        sections.push(all_jobs(report));
        sections.extend(
            page.tree
                .as_ref()
                .map(|tree| tree_section(tree.tree(), tree.shares())),
        );
    }
    Document {
        command: "jsf compare",
        title: "Comparison of two formulas".to_owned(),
        headline: headline(report),
        facts: facts(report),
        sections,
        read_on: "--report FILE.html, jsf simulate for waits",
    }
}

/// The formulas and the rules, once if both sides have the same, and the numbers of the comparison.
pub(crate) fn facts(report: CompareReport<'_>) -> Vec<Fact> {
    let formulas =
        [report.formulas.old, report.formulas.new].map(|formula| [("formula", formula.to_owned())]);
    let mut facts = Fact::of_sides(OldNew {
        old: &formulas[0][..],
        new: &formulas[1][..],
    });
    facts.extend(moves_fact(report));
    let [old, new] =
        [report.rules.old, report.rules.new].map(|side| Fact::list(side.iter().cloned()));
    let differs = |fact: &Fact| {
        let [old, new] =
            [&old, &new].map(|side| side.iter().find(|rule| rule.heading == fact.heading));
        // a side whose formula has no fair share has no policy
        old != new && (fact.heading != "policy" || (old.is_some() && new.is_some()))
    };
    let is_on_first_screen = |fact: &Fact| differs(fact) || is_policy_of_others(fact);
    facts.extend(
        Fact::of_sides(report.rules)
            .into_iter()
            .map(|fact| fact.in_full_unless(is_on_first_screen)),
    );
    let details = agreement_fact(report)
        .into_iter()
        .chain(Fact::list(summary_lines(report)));
    facts.extend(details.chain(transition_facts(report)).map(Fact::in_full));
    facts
}

/// The findings about the formulas, one line each.
fn findings<'a>(report: CompareReport<'_>) -> Option<Section<'a>> {
    let OldNew { old, new } = report.checked;
    if report.formulas.old == report.formulas.new {
        return brief_findings(new?);
    }
    brief_findings_of_sides(OldNew {
        old: old?,
        new: new?,
    })
}

/// How far the jobs move, in one line.
fn moves_fact(report: CompareReport<'_>) -> Option<Fact> {
    let comparison = report.comparison;
    let OldNew { old, new } = report.rankings.map(Ranking::ties);
    let errors = comparison.errors;
    let failing = match errors {
        OldNew { old: 0, new: 0 } => String::new(),
        OldNew { old, new } => format!(", failing {old} → {new}"),
    };
    let moves = moves_words(comparison);
    let text = format!(
        "{moves} (at most {}); ties {old} → {new}{failing}",
        comparison.largest
    );
    (comparison.moved() > 0 && has_effect(report)).then(|| Fact::new("moves", text))
}

/// `of 33 jobs, 12 up by 15.6 places, 21 down by 8.9 places`: the mean of those that gain, and of
/// those that lose.
fn moves_words(comparison: &Comparison) -> String {
    let mut gained = 0;
    let mut lost = 0;
    for (old, new) in comparison.moves().filter_map(|job| job.old.zip(job.new)) {
        gained += old.saturating_sub(new);
        lost += new.saturating_sub(old);
    }
    let sides = [
        mean_move(comparison.up, "up", gained),
        mean_move(comparison.down, "down", lost),
    ];
    let sides: Vec<String> = sides.into_iter().flatten().collect();
    format!(
        "of {}, {}",
        grouped_count(comparison.jobs, "job"),
        sides.join(", ")
    )
}

fn mean_move(jobs: usize, way: &str, places: usize) -> Option<String> {
    let mean = places as f64 / jobs as f64;
    let noun = if mean == 1.0 { "place" } else { "places" };
    (jobs > 0).then(|| format!("{jobs} {way} by {} {noun}", significant(mean)))
}

/// What tau-b is, on the scale that it has.
fn agreement_fact(report: CompareReport<'_>) -> Option<Fact> {
    let tau = report.comparison.tau_b?;
    Some(Fact::new(
        "agreement",
        format!("tau-b {tau:.2} (1 is the same order, 0 an unrelated one, -1 the reverse)"),
    ))
}

/// The verdicts on the formulas, then how far the new order agrees with the old one, then who gains
/// and who loses most.
pub(crate) fn headline(report: CompareReport<'_>) -> String {
    let new = report
        .checked
        .new
        .and_then(|checked| verdict_sentence(checked, "the new formula"));
    let is_one = report.formulas.old == report.formulas.new;
    let old = report
        .checked
        .old
        .filter(|checked| !is_one && !checked.verdict.has_effect());
    let old = old.and_then(|checked| verdict_sentence(checked, "the old formula"));
    let has_effect = has_effect(report);
    let works = report
        .checked
        .map(|checked| checked.is_some_and(|checked| checked.verdict == Verdict::Works));
    let other = match (has_effect, works.old, works.new) {
        (false, _, true) => Some("The new formula works for every job.".to_owned()),
        (false, true, _) => Some("The old formula works for every job.".to_owned()),
        _ => None,
    };
    let effect = has_effect.then(|| effect(report));
    new.into_iter()
        .chain(old)
        .chain(other)
        .chain(effect)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether both formulas order jobs, so that the orders can be compared.
fn has_effect(report: CompareReport<'_>) -> bool {
    let both = [report.checked.old, report.checked.new];
    both.into_iter()
        .flatten()
        .all(|checked| checked.verdict.has_effect())
}

/// How far the new order agrees with the old one, and who gains and who loses most.
fn effect(report: CompareReport<'_>) -> String {
    let comparison = report.comparison;
    let mut sentences = match (comparison.moved(), comparison.jobs) {
        (_, 0) => {
            return "No job is considered under both, so no places can be compared.".to_owned();
        }
        (0, 1) => vec!["The one job keeps its place.".to_owned()],
        (0, 2) => vec!["Both jobs keep their places.".to_owned()],
        (0, jobs) => vec![format!("All {jobs} jobs keep their places.")],
        _ => [agreement_sentence(comparison)]
            .into_iter()
            .chain(who_moves(comparison))
            .collect(),
    };
    let Transitions { start, stop } = &comparison.being_considered;
    for (rows, verb) in [(start, "start"), (stop, "stop")] {
        if !rows.is_empty() {
            sentences.push(format!(
                "{} being considered.",
                capitalised(&starting(rows.len(), verb))
            ));
        }
    }
    sentences.join(" ")
}

/// How far the orders agree.
fn agreement_sentence(comparison: &Comparison) -> String {
    let moved = match comparison.moved() {
        1 => format!("1 of {} jobs changes its place", comparison.jobs),
        moved => format!("{moved} of {} jobs change their places", comparison.jobs),
    };
    let moved = grouped(&moved);
    let Some(tau) = comparison.tau_b else {
        return format!("{}.", capitalised(&moved));
    };
    let others = comparison
        .overlap
        .iter()
        .find(|(first, _)| *first == FIRST && *first < comparison.jobs);
    let effect = match others {
        Some((first, 0)) => {
            format!("none of the first {first} jobs is among the first {first} of the old order")
        }
        Some((first, shared)) if shared < first => {
            format!(
                "{} of the first {first} jobs {} not there before",
                first - shared,
                if first - shared == 1 { "was" } else { "were" }
            )
        }
        _ => moved,
    };
    // of values without ties, the places differ by at most (1 - tau-b) n^2 / 2 in all
    let by_values = (1.0 - tau) / 2.0 + TIES;
    if comparison.footrule as f64 > by_values * (comparison.jobs as f64).powi(2) {
        return format!("The places change, though the values agree (tau-b {tau:.2}): {effect}.");
    }
    format!(
        "The new order is {} (tau-b {tau:.2}): {effect}.",
        agreement(tau)
    )
}

/// What ties may add to the part of all places by which jobs move.
const TIES: f64 = 0.1;

/// Who gains and who loses most, by the mean place of a job, and how many with too few jobs for a
/// mean move farther.
fn who_moves(comparison: &Comparison) -> Option<String> {
    let (who, few_jobs): (Vec<_>, Vec<_>) =
        groups_by_gain(comparison).partition(|who| who.change.jobs >= MIN_JOBS);
    let best = who.first().filter(|who| who.gain > 0.0);
    let worst = who.last().filter(|who| who.gain < 0.0);
    let mut clauses = Vec::new();
    clauses.extend(best.map(|who| format!("{} gains most ({})", who.words(), who.places())));
    clauses.extend(worst.map(|who| format!("{} loses most ({})", who.words(), who.places())));
    let range = worst.map_or(0.0, |who| who.gain)..=best.map_or(0.0, |who| who.gain);
    let farther = few_jobs
        .iter()
        .filter(|who| !range.contains(&who.gain))
        .count();
    let most = capitalised(&clauses.join(", "));
    let [does, moves] = if farther == 1 {
        ["does", "moves"]
    } else {
        ["do", "move"]
    };
    match (clauses.is_empty(), farther) {
        (true, 0) => None,
        (true, _) => Some(format!(
            "No entity, group or queue with {MIN_JOBS} jobs moves; {farther} with fewer {does}."
        )),
        (false, 0) => Some(format!("{most}.")),
        (false, _) => Some(format!(
            "{most}; {farther} with fewer than {MIN_JOBS} jobs {moves} farther."
        )),
    }
}

/// An entity, a group or a queue, and how its jobs move on average.
struct Who<'c> {
    kind: &'static str,
    name: String,
    change: &'c GroupChange,
    mean: OldNew<f64>,
    /// How many places a job gains on average.
    gain: f64,
}

impl Who<'_> {
    /// `queue `large``; an entity has its name alone.
    fn words(&self) -> String {
        format!("{}`{}`", self.kind, self.name)
    }

    fn places(&self) -> String {
        let OldNew { old, new } = self.mean;
        let jobs = grouped_count(self.change.jobs, "job");
        format!(
            "{jobs}, mean place {} → {}",
            significant(old),
            significant(new)
        )
    }
}

/// The entities, groups and queues; those that gain most come first.
fn groups_by_gain(comparison: &Comparison) -> impl Iterator<Item = Who<'_>> {
    let kinds = [
        ("", &comparison.entities),
        ("group ", &comparison.groups),
        ("queue ", &comparison.queues),
    ];
    let changes = kinds
        .into_iter()
        .flat_map(|(kind, changes)| changes.iter().map(move |change| (kind, change)));
    let named = changes.filter(|(_, change)| !change.name.is_empty());
    let who = named.filter_map(|(kind, change)| {
        let mean = change.mean_rank()?;
        let name = if change.path.is_empty() {
            change.name.clone()
        } else {
            change.path.join("/")
        };
        Some(Who {
            kind,
            name,
            change,
            mean,
            gain: change.gain(),
        })
    });
    let mut who: Vec<Who<'_>> = who.collect();
    who.sort_by(|left, right| right.gain.total_cmp(&left.gain));
    who.into_iter()
}

/// The entities, groups and queues, with those that gain and those that lose most at the ends.
fn who_section(report: CompareReport<'_>) -> Option<Section<'_>> {
    let who = groups_by_gain(report.comparison)
        .filter(|who| who.change.jobs >= MIN_JOBS && who.gain != 0.0);
    let who: Vec<Who<'_>> = who.collect();
    let has_first = report.comparison.jobs > FIRST;
    let is_empty = who.is_empty();
    let first = |who: &Who<'_>| {
        let first = who.change.top.iter().find(|(first, _)| *first == FIRST);
        first.map(|(_, counts)| *counts).unwrap_or_default()
    };
    let table = Table::of(who)
        .column(Column::text("who gains and loses", 9), |who| {
            Cell::text(format!("{}{}", who.kind, who.name))
        })
        .column(Column::number("jobs", 6), |who| {
            Cell::Count(who.change.jobs)
        })
        .column(Column::number("mean place old → new", 8), |who| {
            let OldNew { old, new } = who.mean.map(significant);
            Cell::Written(format!("{old} → {new}"), Some(who.mean.new))
        })
        .column(Column::number("gained", 7), |who| Cell::Gained(who.gain))
        .column_if(
            has_first,
            Column::number(format!("in first {FIRST} old → new"), 5),
            move |who| {
                let OldNew { old, new } = first(who);
                Cell::Written(format!("{old} → {new}"), Some(new as f64))
            },
        )
        .table()
        .limit(RowLimit::Ends(MAX_WHO));
    (!is_empty).then(|| Section::new("").in_text().table(table))
}

/// What a value of tau-b means, by the same bounds on both sides of 0. Jobs move although it is 1
/// if ties are decided otherwise.
fn agreement(tau: f64) -> String {
    let likeness = match tau.abs() {
        0.9.. => "nearly",
        0.6.. => "much like",
        0.3.. => "somewhat like",
        0.1.. => "only weakly like",
        _ => return "unrelated to the old".to_owned(),
    };
    let other = if tau > 0.0 {
        "the old one"
    } else {
        "the reverse of the old"
    };
    format!("{likeness} {other}")
}

/// `1 job starts`, `2 jobs start`.
fn starting(number: usize, verb: &str) -> String {
    format!(
        "{} {verb}{}",
        count(number, "job"),
        if number == 1 { "s" } else { "" }
    )
}

/// The numbers of a comparison: a heading and a text each.
fn summary_lines(report: CompareReport<'_>) -> Vec<(&'static str, String)> {
    let comparison = report.comparison;
    let mut lines = Vec::new();
    let kept = comparison.jobs - comparison.moved();
    let all = count(comparison.jobs, "job");
    let text = format!(
        "{all}: {} up, {} down, {kept} unchanged",
        comparison.up, comparison.down
    );
    lines.push(("compared", text));
    lines.push((
        "moment",
        "the queue as it is now; `jsf trajectory` shows ranks while jobs wait".to_owned(),
    ));
    if comparison.moved() > 0 {
        let sum = comparison.footrule;
        let most = comparison.largest;
        let mean = sum as f64 / comparison.jobs as f64;
        lines.push((
            "places",
            format!("{mean:.1} places on average, {most} at most, {sum} in all (footrule)"),
        ));
    }
    let overlap = comparison
        .overlap
        .iter()
        .filter(|(first, _)| *first < comparison.jobs);
    let overlap: Vec<String> = overlap
        .map(|(first, shared)| format!("{shared} of the first {first} are the same jobs"))
        .collect();
    if !overlap.is_empty() {
        lines.push(("overlap", overlap.join(", ")));
    }
    if comparison.considered.old != comparison.jobs || comparison.considered.new != comparison.jobs
    {
        lines.push(("considered", on_sides(comparison.considered)));
    }
    if comparison.errors != OldNew::default() {
        let jobs = match report.rankings.map(|ranking| ranking.scores().count()) {
            OldNew { old, new } if old == new => count(old, "job"),
            OldNew { old, new } => format!("{old} old and {new} new jobs"),
        };
        let mut errors = on_sides(comparison.errors);
        let unknown = report.rankings.map(|ranking| {
            ranking
                .scores()
                .errors()
                .filter(|(_, error)| error.consequence() == Consequence::Unknown)
                .count()
        });
        if unknown != OldNew::default() {
            errors += &format!(" (jsf cannot tell the value of {})", on_sides(unknown));
        }
        lines.push((
            "errors",
            format!("{errors}, of all {jobs} that are evaluated, also those that do not wait"),
        ));
    }
    let ties = on_sides(report.rankings.map(Ranking::ties));
    lines.push((
        "ties",
        format!("{ties} (neighbours of the same value, which the formula does not order)"),
    ));
    lines.extend(fairness(report));
    lines
}

fn on_sides(number: OldNew<usize>) -> String {
    format!("{} old, {} new", number.old, number.new)
}

/// The fairness of both sides; empty without entities that have shares.
fn fairness(report: CompareReport<'_>) -> Vec<(&'static str, String)> {
    let OldNew { old, new } = report.comparison.fairness;
    let (Some(old_jain), Some(new_jain), Some(old_gini), Some(new_gini)) =
        (old.jain, new.jain, old.gini, new.gini)
    else {
        return Vec::new();
    };
    if [report.rankings.old, report.rankings.new]
        .iter()
        .any(|ranking| ranking.order().is_empty())
    {
        return Vec::new();
    }
    // the order of jobs that all fail is that of their submission, which says nothing about the
    // formula
    let fails = report.rankings.map(|ranking| {
        ranking
            .order()
            .iter()
            .all(|&row| ranking.scores().error(row).is_some())
    });
    let failing = match fails {
        OldNew {
            old: false,
            new: false,
        } => None,
        OldNew {
            old: true,
            new: false,
        } => Some("the old formula fails"),
        OldNew {
            old: false,
            new: true,
        } => Some("the new formula fails"),
        OldNew {
            old: true,
            new: true,
        } => Some("both formulas fail"),
    };
    if let Some(failing) = failing {
        return vec![(
            "fairness",
            format!("not compared: {failing} for all jobs that are considered"),
        )];
    }
    let verdict = fairness_verdict(new_jain - old_jain, new_gini - old_gini);
    let first = report
        .rankings
        .new
        .order()
        .len()
        .min(report.comparison.first);
    let entities = if new.entities == 1 {
        "entity"
    } else {
        "entities"
    };
    let mut lines = vec![
        (
            "fairness",
            format!(
                "{verdict}: the first {first} jobs per share, over {} {entities} with shares",
                new.entities
            ),
        ),
        (
            "",
            format!("Jain's index {old_jain:.2} old, {new_jain:.2} new (1 is even)"),
        ),
        (
            "",
            format!("Gini coefficient {old_gini:.2} old, {new_gini:.2} new (0 is even)"),
        ),
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
    let mut facts = Vec::new();
    for (Transitions { start, stop }, what) in transitions {
        facts.extend(transition_fact(report, start, "start", what));
        facts.extend(transition_fact(report, stop, "stop", what));
    }
    facts
}

fn transition_fact(
    report: CompareReport<'_>,
    rows: &[u32],
    verb: &str,
    what: &str,
) -> Option<Fact> {
    let ids = rows.iter().map(|&row| report.table.id(row as usize));
    let heading = format!("{} {what}", starting(rows.len(), verb));
    (!rows.is_empty()).then(|| Fact::new(&heading, first_names(ids, MAX_IDS)))
}

/// The jobs that gain and those that lose the most places, or all jobs of a filter.
fn listed_jobs(report: CompareReport<'_>, listed: ListedJobs) -> Vec<Section<'_>> {
    if listed.is_filtered {
        let moves: Vec<JobMove> = moves_of(report)
            .take(listed.top.unwrap_or(usize::MAX))
            .collect();
        let section = Section::new("").in_text();
        return if moves.is_empty() {
            Vec::new()
        } else {
            vec![section.table(table_of_moves(report, moves))]
        };
    }
    let top = listed.top.unwrap_or(MAX_MOVES);
    let lists = [(1, "gain"), (-1, "lose")].map(|(sign, verb)| {
        let moving =
            moves_of(report).filter(|job| job.moved().is_some_and(|moved| moved * sign > 0));
        let mut moving: Vec<JobMove> = moving.collect();
        let all = moving.len();
        keep_first(&mut moving, top, |job| {
            (Reverse(job.moved().map(|moved| moved * sign)), job.new)
        });
        let heading = match all - moving.len() {
            0 => format!("jobs that {verb} places"),
            _ => format!("{} of {all} jobs that {verb} places", moving.len()),
        };
        (!moving.is_empty()).then(|| {
            Section::new(heading)
                .in_text()
                .table(table_of_moves(report, moving))
        })
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
    moves.sort_by_key(|job| {
        (
            Reverse(job.moved().map_or(u64::MAX, i64::unsigned_abs)),
            job.new,
            job.row,
        )
    });
    Section::new("jobs")
        .on_page()
        .prose("Those that move farthest first.")
        .table(table_of_moves(report, moves))
}

fn table_of_moves(report: CompareReport<'_>, moves: Vec<JobMove>) -> Table<'_> {
    Table::of(moves)
        .column(Column::id("job", DECIDES), move |job| {
            Cell::text(report.table.id(job.row))
        })
        .column(Column::text("entity", 6), move |job| {
            Cell::text(report.table.entity(job.row))
        })
        .column(Column::text("queue", 3), move |job| {
            Cell::text(report.table.queue(job.row))
        })
        .column(Column::number("old rank", 8), |job| Cell::count(job.old))
        .column(Column::number("new rank", 8), |job| Cell::count(job.new))
        .column(Column::number("moved", 9), |job| {
            job.moved().map_or(Cell::Missing, Cell::Places)
        })
        .column(Column::number("old value", DECIDES), move |job| {
            Cell::score(report.scores(job.row).old)
        })
        .column(Column::number("new value", DECIDES), move |job| {
            Cell::score(report.scores(job.row).new)
        })
        .table()
}

/// Where the jobs come from and go to, and how far they move.
pub(crate) fn chart_sections(report: CompareReport<'_>) -> Vec<Section<'_>> {
    let most = report
        .comparison
        .considered
        .old
        .max(report.comparison.considered.new);
    let places = if most <= MAX_SLOPES {
        slopes_section(report)
    } else {
        bands_section(report, most)
    };
    vec![places.on_page(), displacements_section(report).on_page()]
}

/// The meaning of the colours of marks that are jobs.
const DIRECTIONS: [(&str, &str); 3] = [
    ("up", "gains places"),
    ("down", "loses places"),
    ("same", "keeps its place"),
];

/// A line for each job, and the new order.
fn slopes_section(report: CompareReport<'_>) -> Section<'_> {
    let section = Section::new("every job's place").chart(move || {
        let slopes = moves_of(report).map(|job| Slope {
            name: job_name(report, job.row),
            job,
        });
        let name = "Each job's place in the old and in the new order".to_owned();
        Chart::new(
            Figure {
                name,
                kind: Kind::Slopes(slopes.collect()),
            }
            .draw(),
            &DIRECTIONS,
        )
    });
    section.table(new_order(report).folded("The new order as a table"))
}

/// The jobs in the new order, each with an arrow for how far it moved; those that are no longer
/// considered are last.
fn new_order(report: CompareReport<'_>) -> Table<'_> {
    let mut moves: Vec<JobMove> = moves_of(report).collect();
    moves.sort_by_key(|job| (job.new.is_none(), job.new, job.old));
    Table::of(moves)
        .column(Column::number("place", 9), |job| Cell::count(job.new))
        .column(Column::number("moved", 9), |job| {
            job.moved().map_or(Cell::Missing, Cell::Arrow)
        })
        .column(Column::text("job", 9), move |job| {
            Cell::text(job_name(report, job.row))
        })
        .column(Column::number("before", 8), |job| Cell::count(job.old))
        .table()
}

/// Of the jobs in each band of the old order, how many are in which band of the new one.
fn bands_section(report: CompareReport<'_>, most: usize) -> Section<'_> {
    let bands = bands(most);
    let mut columns = vec![Column::text("old place", 9), Column::number("jobs", 8)];
    columns.extend(
        bands
            .iter()
            .map(|(first, last)| Column::number(format!("now {}", band(*first, *last)), 8)),
    );
    let mut names: Vec<String> = bands
        .iter()
        .map(|(first, last)| band(*first, *last))
        .collect();
    if moves_of(report).any(|job| job.old.is_none() || job.new.is_none()) {
        columns.push(Column::number("now not considered", 7));
        names.push("not considered".to_owned());
    }
    let mut counts = vec![vec![0usize; names.len()]; names.len()];
    for job in moves_of(report) {
        let [from, to] = [job.old, job.new].map(|rank| band_of(&bands, rank));
        counts[from][to] += 1;
    }
    let rows = names.into_iter().zip(counts).map(|(name, counts)| {
        let jobs = counts.iter().sum();
        let counts = counts.into_iter().map(Cell::Count);
        [Cell::text(name), Cell::Count(jobs)]
            .into_iter()
            .chain(counts)
            .collect()
    });
    let note =
        "Of the jobs in each part of the old order, how many are in which part of the new one.";
    Section::new("from where to where")
        .prose(note)
        .table(Table::from_rows(columns, rows))
}

/// The places 1 to 10, 11 to 100, and so on.
fn bands(most: usize) -> Vec<(usize, usize)> {
    let mut bands = vec![(1, 10)];
    while let Some(&(_, last)) = bands.last()
        && last < most
    {
        bands.push((last + 1, last.saturating_mul(10)));
    }
    if let Some(last) = bands.last_mut() {
        last.1 = last.1.min(most);
    }
    bands
}

/// The band of a place; behind the last one for a job that is not considered.
fn band_of(bands: &[(usize, usize)], rank: Option<usize>) -> usize {
    rank.and_then(|rank| bands.iter().position(|(_, last)| rank <= *last))
        .unwrap_or(bands.len())
}

fn band(first: usize, last: usize) -> String {
    grouped(&format!("{first} to {last}"))
}

/// How many jobs move how far.
fn displacements_section(report: CompareReport<'_>) -> Section<'_> {
    let moves: Vec<i64> = moves_of(report).filter_map(|job| job.moved()).collect();
    let unchanged = moves.iter().filter(|moved| **moved == 0).count();
    let note = match unchanged {
        0 => "No job keeps its place.".to_owned(),
        1 => format!("1 job of {} keeps its place.", moves.len()),
        _ => format!("{unchanged} jobs of {} keep their places.", moves.len()),
    };
    let displacements = Displacements::new(&moves);
    let bars: Vec<_> = displacements
        .bars()
        .filter(|(.., jobs)| *jobs > 0)
        .collect();
    let table = Table::of(bars)
        .column(Column::text("moved", 9), |(low, high, _)| {
            Cell::text(places_words(*low, *high))
        })
        .column(Column::number("jobs", 9), |(.., jobs)| Cell::Count(*jobs))
        .table();
    let section = Section::new("how far jobs move").prose(note);
    let section = section.chart(move || Chart::new(displacements.draw(), &DIRECTIONS[..2]));
    section.table(table.folded("The bars as a table"))
}

/// The moves of the jobs that the report lists.
fn moves_of(report: CompareReport<'_>) -> impl Iterator<Item = JobMove> {
    report
        .rows
        .iter()
        .map(move |ranked| report.comparison.job(ranked.row()))
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
    fn bands_cover_all_places() {
        assert_eq!(bands(61), [(1, 10), (11, 61)]);
        assert_eq!(
            bands(10_000),
            [(1, 10), (11, 100), (101, 1000), (1001, 10_000)]
        );
        assert_eq!(band(10_001, 100_000), "10,001 to 100,000");
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
            let mirrored = agreement(tau).replace("the old one", "the reverse of the old");
            assert_eq!(agreement(-tau), mirrored, "{tau}");
        }
    }

    #[test]
    fn findings_say_whose_they_are() {
        let [one, none] = [vec!["error".to_owned()], Vec::new()];
        let headings = |formulas, old, new| {
            let sections = Section::findings_of_sides(formulas, OldNew { old, new });
            sections
                .map(|section| section.heading.clone())
                .collect::<Vec<_>>()
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
