//! A simulated queue for people, under one formula or under two: the answer, the numbers of all jobs, and those of the classes
//! of jobs.

use std::cmp::Reverse;

use job_sort_formula::rank::OldNew;
use jsf_simulate::{Fairness, GroupStatistics, Statistics, Summary, Validation};

use crate::document::{Cell, Column, Document, Fact, Section, Table};
use crate::simulated_change::SimulatedChangeReport;
use crate::simulated_effect::effect;
use crate::simulation::{JobLine, SimulationReport};
use crate::simulation_charts::over_time;
use crate::simulation_tables::{
    all_jobs_sections, class_sections, difference_sections, periods_section, shares_section,
};
use crate::verdict::{capitalised, verdict_sentence};
use crate::words::{count, duration, percent, rough_duration, waiting_time};

/// The heading of the fact that says how far the waits are from those in the log.
pub(super) const VALIDATION: &str = "against the log";
/// The mean of fewer jobs is that of single jobs.
const MIN_JOBS: usize = 20;
/// The document of a simulation under one formula. `findings` are those about the formula, as they are drawn in a terminal.
pub fn simulation_document<'a>(report: SimulationReport<'a>, findings: &'a [String]) -> Document<'a> {
    let statistics = report.statistics;
    let mut sections = vec![Section::formulas(report.formula, report.formula)];
    sections.extend(Section::findings(findings));
    sections.extend(all_jobs_sections(&[report], None));
    sections.extend(over_time(&[("new", "", report)]));
    sections.extend(class_sections(statistics));
    sections.extend(periods_section(&[report]).map(Section::in_full));
    sections.extend(shares_section(&[report]).map(Section::in_full));
    sections.push(longest_waits(report));
    let mut facts = first_facts(Fact::list(report.rules.iter().cloned()));
    facts.extend(report.validation.map(validation_fact));
    facts.extend(report.fairness.map(|fairness| Fact::new("shares", fairness_words(fairness)).in_full()));
    Document {
        command: "jsf simulate",
        title: title(report),
        headline: headline(report),
        facts,
        sections,
        read_on: "--report FILE.html",
    }
}

/// The document of a simulation under two formulas. `findings` are those about the formulas, as they are drawn in a terminal.
pub fn simulated_change_document<'a>(report: SimulatedChangeReport<'a>, findings: &'a [String]) -> Document<'a> {
    let OldNew { old, new } = *report.sides;
    let difference = report.difference;
    let mut sections = vec![Section::formulas(old.formula, new.formula)];
    sections.extend(Section::findings(findings));
    sections.extend(all_jobs_sections(&[old, new], Some(difference)));
    sections.extend(over_time(&[("old", "old formula", old), ("new", "new formula", new)]));
    sections.extend(difference_sections(difference, report.sides.map(|side| side.statistics)));
    sections.extend(periods_section(&[old, new]).map(Section::in_full));
    sections.extend(shares_section(&[old, new]).map(Section::in_full));
    sections.push(largest_changes(old, new));
    let mut facts = first_facts(Fact::of_sides(OldNew { old: old.rules, new: new.rules }));
    if let (Some(old), Some(new)) = (old.fairness, new.fairness) {
        let sides = [("old", old), ("new", new)];
        let lines = sides.map(|(side, fairness)| format!("{side}: {}", fairness_words(fairness)));
        facts.push(Fact::with_lines("shares", lines.into()).in_full());
    }
    let failing = failing_sentences(*report.sides);
    facts.extend((!failing.is_empty()).then(|| Fact::with_lines("errors", failing).in_full()));
    Document {
        command: "jsf simulate",
        title: title(old),
        headline: change_headline(report),
        facts,
        sections,
        read_on: "--report FILE.html",
    }
}

/// The facts, of which the formulas and what makes the simulation believable are on the first screen.
fn first_facts(facts: Vec<Fact>) -> Vec<Fact> {
    let is_first = |fact: &Fact| matches!(&*fact.heading, "formula" | VALIDATION);
    facts.into_iter().map(|fact| if is_first(&fact) { fact } else { fact.in_full() }).collect()
}

/// What was simulated: how much of a log, on which machine.
fn title(report: SimulationReport<'_>) -> String {
    let jobs = report.workload.jobs();
    let span = jobs.last().map_or(0, |job| job.submit) - report.first_submission();
    let log = rough_duration(span as f64);
    format!("job_sort_formula: waits over {log} of the log, {}", count(report.processors as usize, "processor"))
}

/// The verdict on the formula, then the answer.
fn headline(report: SimulationReport<'_>) -> String {
    let judged = report.checked.and_then(|checked| verdict_sentence(checked, "the formula"));
    let failing = report.failing.filter(|_| judged.is_none());
    let failing = failing.map(|failing| capitalised(&format!("{}.", failing.clause("the formula"))));
    let sentences = judged.into_iter().chain(failing).chain([sentence(report.statistics)]);
    sentences.collect::<Vec<_>>().join(" ")
}

/// The verdicts on the formulas, the new one first, then who wins and who pays.
fn change_headline(report: SimulatedChangeReport<'_>) -> String {
    let OldNew { old, new } = *report.sides;
    let is_one = old.formula == new.formula;
    let verdict =
        |side: SimulationReport<'_>, subject: &str| side.checked.and_then(|checked| verdict_sentence(checked, subject));
    let works = |side: SimulationReport<'_>| !side.failing.is_some_and(|failing| failing.are_all);
    let old_verdict = if is_one { None } else { verdict(old, "the old formula") };
    let verdicts = [verdict(new, "the new formula"), old_verdict];
    let is_refused = verdicts.iter().any(Option::is_some);
    let has_effect = !is_refused && works(old) && works(new);
    let tells_failing = !is_refused && (new.failing.is_some() || !works(old));
    let failing = if tells_failing { failing_sentences(*report.sides) } else { Vec::new() };
    let effect = has_effect.then(|| effect(report.difference));
    verdicts.into_iter().flatten().chain(failing).chain(effect).collect::<Vec<_>>().join(" ")
}

/// For which jobs the formulas fail; empty if both work for all.
fn failing_sentences(sides: OldNew<SimulationReport<'_>>) -> Vec<String> {
    failing_clauses(sides).into_iter().map(|clause| capitalised(&format!("{clause}."))).collect()
}

/// For which jobs two formulas fail, a clause for each; empty if both work for all.
pub fn failing_clauses(sides: OldNew<SimulationReport<'_>>) -> Vec<String> {
    match [sides.new.failing, sides.old.failing] {
        [None, None] => Vec::new(),
        [Some(new), None] => vec![new.clause("the new formula"), "the old one never fails".to_owned()],
        [None, Some(old)] => vec![old.clause("the old formula"), "the new one never fails".to_owned()],
        [Some(new), Some(_)] if sides.old.formula == sides.new.formula => vec![new.clause("the formula")],
        [Some(new), Some(old)] => vec![new.clause("the new formula"), old.clause("the old formula")],
    }
}

/// The answer for one formula, in one sentence.
fn sentence(statistics: &Statistics) -> String {
    let Statistics { summary, sizes, .. } = statistics;
    let utilisation = percent(summary.utilisation);
    let makespan = duration(summary.makespan as f64);
    let machine = format!("{utilisation} of the machine is in use over {makespan}");
    let wait = duration(summary.wait.mean);
    match summary.jobs {
        0 => "No job started.".to_owned(),
        1 => format!("The one job waits {wait}; {machine}."),
        jobs => format!("{jobs} jobs wait {wait} on average{}; {machine}.", longest_size(sizes, summary)),
    }
}

/// The jobs of the size that waits longest, of those with enough jobs to speak of a mean; empty if there is one size only.
fn longest_size(sizes: &[GroupStatistics], summary: &Summary) -> String {
    let many: Vec<&GroupStatistics> = sizes.iter().filter(|size| size.jobs >= MIN_JOBS).collect();
    let longest = many.iter().max_by(|one, other| one.wait.mean.total_cmp(&other.wait.mean));
    let Some(longest) = longest.filter(|longest| many.len() > 1 && longest.wait.mean > summary.wait.mean) else {
        return String::new();
    };
    format!(
        ", the {} of {} processors ({} of core hours) longest: {}",
        longest.jobs,
        longest.name,
        percent(longest.core_seconds as f64 / summary.core_seconds.max(1) as f64),
        duration(longest.wait.mean)
    )
}

/// How close the use is to the shares, in words.
fn fairness_words(fairness: &Fairness) -> String {
    let jain = fairness.jain.map_or_else(String::new, |jain| format!("Jain's index {jain:.2} (1 is even), "));
    format!("{jain}{} of the processor time goes to others than promised (Hoover)", percent(fairness.hoover))
}

/// Below this rank correlation, the simulation orders the waits otherwise than the log does.
const MIN_CORRELATION: f64 = 0.5;

/// How far the waits are from those in the log.
fn validation_fact(validation: &Validation) -> Fact {
    let Validation { jobs, equal, recorded_mean, simulated_mean, median_error, p95_error, rank_correlation } =
        validation;
    let means = [*recorded_mean, *simulated_mean].map(duration);
    let errors = [*median_error, *p95_error].map(duration);
    let mut lines = vec![
        format!("{equal} of {} start at the recorded second", count(*jobs, "job")),
        format!("mean wait {} recorded, {} simulated", means[0], means[1]),
        format!("error of a wait: median {}, 95 % within {}", errors[0], errors[1]),
    ];
    lines.extend(rank_correlation.map(|tau| format!("rank correlation of the waits (tau-b) {tau:.2}")));
    Fact::with_lines(VALIDATION, lines)
}

/// How far the waits under the old formula are from those in the log, in one sentence.
pub fn validation_sentence(validation: &Validation) -> String {
    let Validation { jobs, equal, recorded_mean, simulated_mean, rank_correlation, .. } = validation;
    if equal == jobs {
        return "under the old formula every job starts at the recorded second".to_owned();
    }
    let means = [*recorded_mean, *simulated_mean].map(duration);
    let tau = rank_correlation.map_or_else(String::new, |tau| format!(" (waits: tau-b {tau:.2})"));
    let doubt = match rank_correlation {
        Some(..MIN_CORRELATION) => "; was another formula in force?",
        _ => "",
    };
    format!(
        "under the old formula {equal} of {} start at the recorded second{tau}; mean {} recorded, {} simulated{doubt}",
        count(*jobs, "job"),
        means[0],
        means[1]
    )
}

/// The jobs that wait longest.
fn longest_waits(report: SimulationReport<'_>) -> Section<'_> {
    let mut order: Vec<JobLine<'_>> = report.jobs().map(|(_, job)| job).collect();
    order.sort_by_key(|job| Reverse(job.start - job.submit));
    let first = order.iter().map(|job| job.submit).min().unwrap_or(0);
    let columns = job_columns().into_iter().chain([Column::number("wait", 9)]).collect();
    let table = Table::new(columns, order.len(), move |index| {
        let job = &order[index];
        let wait = Cell::Duration((job.start - job.submit) as f64);
        job_cells(job, first).into_iter().chain([wait]).collect()
    });
    Section::new("jobs").on_page().prose("Those that wait longest first.").table(table)
}

/// The jobs whose waits change most.
fn largest_changes<'a>(old: SimulationReport<'a>, new: SimulationReport<'a>) -> Section<'a> {
    let both = old.jobs().filter_map(|(index, job)| Some((job, new.schedule.start(index)?)));
    let mut order: Vec<(JobLine<'a>, i64)> = both.collect();
    order.sort_by_key(|(job, new_start)| Reverse((new_start - job.start).abs()));
    let first = order.iter().map(|(job, _)| job.submit).min().unwrap_or(0);
    let changes = ["old wait", "new wait", "difference"].map(|heading| Column::number(heading, 9));
    let columns = job_columns().into_iter().chain(changes).collect();
    let table = Table::new(columns, order.len(), move |index| {
        let (job, new_start) = &order[index];
        let waits = [job.start - job.submit, new_start - job.submit].map(|wait| Cell::Duration(wait as f64));
        let change = Cell::Longer((new_start - job.start) as f64, true);
        job_cells(job, first).into_iter().chain(waits).chain([change]).collect()
    });
    Section::new("jobs").on_page().prose("Those whose waits change most first.").table(table)
}

fn job_columns() -> [Column; 5] {
    [
        Column::id("job", 9),
        Column::text("entity", 6),
        Column::text("queue", 3),
        Column::number("processors", 5),
        Column::number("submitted after", 5),
    ]
}

/// A job, and how long after the first one it was submitted.
fn job_cells<'a>(job: &JobLine<'a>, first: i64) -> [Cell<'a>; 5] {
    [
        Cell::text(job.id),
        Cell::text(job.entity),
        Cell::text(job.queue),
        Cell::Count(job.processors as usize),
        Cell::Written(waiting_time(job.submit - first), Some(job.submit as f64)),
    ]
}
