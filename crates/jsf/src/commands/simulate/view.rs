//! A simulated queue for people, under one formula or under two: the answer, the numbers of all
//! jobs, and those of the classes of jobs.

use std::cmp::Reverse;

use job_sort_formula::diagnostic::Code;
use job_sort_formula::rank::OldNew;
use jsf_openpbs::check::Verdict;
use jsf_simulate::{
    Difference, Fairness, GroupStatistics, JudgedGoal, SHAKE_SECONDS, Shake, Statistics, Summary,
    Validation,
};
use jsf_site::ProcessorsSource;

use crate::commands::simulate::answer::{JobLine, SimulationReport};
use crate::commands::simulate::change::SimulatedChangeReport;
use crate::commands::simulate::charts::over_time;
use crate::commands::simulate::effect::effect;
use crate::commands::simulate::log_facts::{LOG, log_facts};
use crate::commands::simulate::tables::{
    all_jobs_sections, class_sections, difference_sections, periods_section, shares_section,
};
use crate::view::document::{Cell, Column, Document, Fact, Rows, Section, Table};
use crate::view::goals::{goals_section, unmet};
use crate::view::rule_facts::is_policy_of_others;
use crate::view::verdict::{brief_lines, brief_lines_of_sides, verdict_sentence};
use crate::view::without::without_most;
use crate::view::words::{
    capitalised, count, duration, grouped_count, grouped_number, percent, rough_duration,
    signed_rough_duration, signed_significant, significant, waiting_time,
};

/// The heading of the fact that says how far the waits are from those in the log.
pub(crate) const VALIDATION: &str = "against the log";
/// The heading of the fact that says what moved submissions make of the means.
const SHAKEN: &str = "shaken";
/// The mean of fewer jobs is that of single jobs.
const MIN_JOBS: usize = 20;
/// The most warnings on the first screen, beside tables and without them.
const MAX_WARNINGS: usize = 1;
const MAX_WARNINGS_ALONE: usize = 6;
/// Why goals prove nothing where no job waits.
const NO_WAITS: &str = "hardly any job waits";
/// The code of the finding that a formula is constant.
const CONSTANT: Code = Code::ConstantValue;

/// A side of a simulation, after what its formula is called.
type NamedSide<'a> = (&'static str, SimulationReport<'a>);

/// The document of a simulation under one formula.
pub(crate) fn simulation_document<'a>(report: SimulationReport<'a>) -> Document<'a> {
    let found = report.checked.map(brief_lines).unwrap_or_default();
    let mut sections = vec![Section::formulas(report.formula, report.formula)];
    sections.extend(warning_sections(
        errors_first(found, report.warnings.to_vec()),
        has_waits(report),
    ));
    sections.extend(Section::findings(report.findings));
    sections.extend(wait_sections(None, report, None));
    let answer = [sentence(report.statistics)]
        .into_iter()
        .chain(without_sentence(report))
        .collect();
    let doubt = report.has_no_waits.then_some(NO_WAITS);
    let mut facts = facts(
        None,
        report,
        Fact::list(report.rules.iter().cloned()),
        report.validation,
    );
    facts.extend(
        report
            .shake
            .map(|shake| shaken_fact(shake, duration, significant)),
    );
    document(
        report,
        headline(&[("the formula", report)], doubt, answer),
        facts,
        sections,
    )
}

/// The document of a simulation under two formulas. `findings` are those about each, as they are
/// drawn in a terminal.
pub(crate) fn simulated_change_document<'a>(report: SimulatedChangeReport<'a>) -> Document<'a> {
    let OldNew { old, new } = *report.sides;
    let SimulatedChangeReport {
        difference,
        validation,
        ..
    } = report;
    let formulas = OldNew {
        old: old.formula,
        new: new.formula,
    };
    let mut sections = vec![Section::formulas(formulas.old, formulas.new)];
    let (idle, warnings) = change_warnings(report);
    sections.extend((!idle.is_empty()).then(|| Section::new("").in_text().list(idle)));
    sections.extend(warning_sections(warnings, has_waits(old) && has_waits(new)));
    sections.extend(Section::findings_of_sides(formulas, report.findings));
    sections.extend(wait_sections(Some(old), new, Some(difference)));
    let mut answer = vec![effect(difference)];
    answer.extend(without_sentence(old));
    let shake = report.shake.filter(|_| difference.is_of_same_jobs());
    answer.extend(shake.and_then(|shake| shaken_sentence(shake, difference)));
    answer.extend(
        validation
            .filter(|validation| validation.is_doubtful())
            .map(doubt_sentence),
    );
    let rules = Fact::of_sides(OldNew {
        old: old.rules,
        new: new.rules,
    });
    let shown = validation.filter(|_| has_waits(old) && has_waits(new));
    let mut facts = facts(Some(old), new, rules, shown);
    facts.extend(
        report
            .shake
            .map(|shake| shaken_fact(shake, signed_rough_duration, signed_significant)),
    );
    document(
        old,
        headline(&named_sides(*report.sides), doubt_of_goals(report), answer),
        facts,
        sections,
    )
}

fn document<'a>(
    report: SimulationReport<'a>,
    headline: String,
    facts: Vec<Fact>,
    sections: Vec<Section<'a>>,
) -> Document<'a> {
    let title = title(report);
    Document {
        command: "jsf simulate",
        title,
        headline,
        facts,
        sections,
        read_on: "--report FILE.html",
    }
}

/// The sides of a comparison, the new one first; one formula on both sides is one.
fn named_sides(sides: OldNew<SimulationReport<'_>>) -> Vec<NamedSide<'_>> {
    if is_one_formula(sides) {
        return vec![("the formula", sides.new)];
    }
    vec![
        ("the new formula", sides.new),
        ("the old formula", sides.old),
    ]
}

/// The tables and charts of the waits; none if they say nothing.
fn wait_sections<'a>(
    old: Option<SimulationReport<'a>>,
    new: SimulationReport<'a>,
    difference: Option<&'a Difference>,
) -> Vec<Section<'a>> {
    let sides: Vec<SimulationReport<'a>> = old.into_iter().chain([new]).collect();
    if !sides.iter().all(|side| has_waits(*side)) {
        return Vec::new();
    }
    let name = if old.is_some() { "new formula" } else { "" };
    let drawn: Vec<_> = old
        .map(|old| ("old", "old formula", old))
        .into_iter()
        .chain([("new", name, new)])
        .collect();
    let mut sections = Vec::new();
    sections.extend(goals_section(OldNew {
        old: old.unwrap_or(new).goals,
        new: new.goals,
    }));
    sections.extend(all_jobs_sections(&sides, difference));
    sections.extend(over_time(&drawn));
    match (old, difference) {
        // the means of different jobs are not compared
        (Some(_), Some(difference)) if !difference.is_of_same_jobs() => {}
        (Some(old), Some(difference)) => {
            let statistics = OldNew {
                old: old.statistics,
                new: new.statistics,
            };
            sections.extend(difference_sections(difference, statistics));
        }
        _ => sections.extend(class_sections(new.statistics)),
    }
    sections.push(start_values_section(
        new,
        if old.is_some() {
            " under the new formula"
        } else {
            ""
        },
    ));
    sections.extend(periods_section(&sides).map(Section::in_full));
    sections.extend(shares_section(&sides).map(Section::in_full));
    sections.push(old.map_or_else(|| longest_waits(new), |old| largest_changes(old, new)));
    sections
}

/// The rules, what is made of the log, and how close the use is to the shares.
fn facts(
    old: Option<SimulationReport<'_>>,
    new: SimulationReport<'_>,
    rules: Vec<Fact>,
    validation: Option<&Validation>,
) -> Vec<Fact> {
    let mut facts = first_facts(rules, new.processors_source);
    facts.extend(log_facts(&old.unwrap_or(new)));
    facts.extend(validation.map(|validation| validation_fact(validation, old.is_some())));
    let shares = match (old.and_then(|old| old.fairness), new.fairness) {
        (Some(old), Some(new)) => {
            vec![
                format!("old: {}", fairness_words(old)),
                format!("new: {}", fairness_words(new)),
            ]
        }
        (_, new) => new.into_iter().map(fairness_words).collect(),
    };
    facts.extend((!shares.is_empty()).then(|| Fact::with_lines("shares", shares).in_full()));
    facts
}

/// The goals that are not met, and what they prove nothing for, such as `hardly any job waits`;
/// `None` if all are met and there is no doubt.
fn goals_sentence(goals: &[JudgedGoal], doubt: Option<&str>) -> Option<String> {
    let unmet = unmet(goals);
    match doubt {
        Some(doubt) if !goals.is_empty() => {
            let state = unmet.unwrap_or_else(|| match goals.len() {
                1 => "the goal is met".to_owned(),
                all => format!("all {all} goals are met"),
            });
            Some(format!(
                "The goals prove nothing here, as {doubt}. {}.",
                capitalised(&state)
            ))
        }
        _ => unmet.map(|unmet| format!("{unmet}.")),
    }
}

/// The facts, of which the formulas and what makes the simulation believable are on the first
/// screen, and the machine unless its size was given.
fn first_facts(facts: Vec<Fact>, processors_source: ProcessorsSource) -> Vec<Fact> {
    let is_first = |fact: &Fact| match &*fact.heading {
        "formula" | "warm-up" | "preemption" | LOG | VALIDATION => true,
        "machine" => processors_source != ProcessorsSource::Given,
        _ => is_policy_of_others(fact),
    };
    facts
        .into_iter()
        .map(|fact| fact.in_full_unless(is_first))
        .collect()
}

/// Whether the waits under a formula say anything: a formula that the scheduler cannot work with,
/// or that fails for all jobs, leaves them in the order of their submission.
fn has_waits(report: SimulationReport<'_>) -> bool {
    fatal_verdict(report, "").is_none() && !report.failing.is_some_and(|failing| failing.are_all)
}

/// The verdict on a formula that the scheduler cannot work with; `None` for one that works for some
/// jobs.
fn fatal_verdict(report: SimulationReport<'_>, subject: &str) -> Option<String> {
    let checked = report.checked?;
    let is_fatal = matches!(
        checked.verdict,
        Verdict::Refused | Verdict::Crashes | Verdict::CrashesAtStart { .. }
    );
    verdict_sentence(checked, subject).filter(|_| is_fatal)
}

/// Whether a formula gives every job the same value.
fn is_constant(report: SimulationReport<'_>) -> bool {
    report
        .checked
        .is_some_and(|checked| checked.findings.iter().any(|found| found.code == CONSTANT))
}

/// The warnings: a few of them on the first screen, and the others in full.
pub(crate) fn warning_sections<'a>(
    mut warnings: Vec<String>,
    has_tables: bool,
) -> Vec<Section<'a>> {
    let most = if has_tables {
        MAX_WARNINGS
    } else {
        MAX_WARNINGS_ALONE
    };
    let others = warnings.split_off(warnings.len().min(most));
    let first = (!warnings.is_empty()).then(|| Section::new("").in_text().list(warnings));
    let others = (!others.is_empty()).then(|| {
        Section::new("further warnings")
            .in_text()
            .in_full()
            .list(others)
    });
    first.into_iter().chain(others).collect()
}

/// That hardly any job waits, which is about the machine and the log, and the other warnings about
/// both sides: first those that both have. For which jobs the formulas fail is in the headline.
fn change_warnings(report: SimulatedChangeReport<'_>) -> (Vec<String>, Vec<String>) {
    let OldNew { old, new } = *report.sides;
    let found = match (old.checked, new.checked) {
        (Some(_), Some(new)) if is_one_formula(*report.sides) => brief_lines(new),
        (Some(old), Some(new)) => brief_lines_of_sides(OldNew { old, new }),
        _ => Vec::new(),
    };
    let sides = named_sides(*report.sides);
    let untold = old.failing.filter(|_| !tells_failing(&sides, old));
    let untold = untold.map(|failing| format!("warning {}", failing.clause("the old formula")));
    let mut common: Vec<String> = report.common_warnings().into_iter().cloned().collect();
    let of_side = |side: SimulationReport<'_>, name: &str| {
        let own = side
            .warnings
            .iter()
            .filter(|warning| !common.contains(warning));
        own.map(|warning| under(name, warning)).collect::<Vec<_>>()
    };
    let one_side = [
        of_side(old, "the old formula"),
        of_side(new, "the new formula"),
    ]
    .concat();
    let idle: Vec<String> = common.drain(..usize::from(report.has_no_waits())).collect();
    (
        idle,
        errors_first(
            found,
            untold.into_iter().chain(common).chain(one_side).collect(),
        ),
    )
}

/// A warning about the simulation under one of two formulas.
fn under(formula: &str, warning: &str) -> String {
    match warning.strip_prefix("warning ") {
        Some(text) => format!("warning under {formula}: {text}"),
        None => format!("under {formula}: {warning}"),
    }
}

/// How many jobs never start, which no number about waits tells; `None` if there are none.
fn never_start_sentence((formula, report): &NamedSide<'_>) -> Option<String> {
    let never = report.schedule.never_start().count();
    let all = grouped_count(report.workload.jobs().len(), "job");
    let verb = if never == 1 { "starts" } else { "start" };
    (never > 0).then(|| {
        format!(
            "{} of {all} never {verb} under {formula}.",
            grouped_number(never)
        )
    })
}

fn is_one_formula(sides: OldNew<SimulationReport<'_>>) -> bool {
    sides.old.formula == sides.new.formula
}

/// The errors about formulas, then what the simulation warns of, then the warnings about formulas.
fn errors_first(found: Vec<String>, simulated: Vec<String>) -> Vec<String> {
    let (errors, warnings): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|line| line.starts_with("error"));
    errors
        .into_iter()
        .chain(simulated)
        .chain(warnings)
        .collect()
}

/// What was simulated: how much of a log, on which machine.
fn title(report: SimulationReport<'_>) -> String {
    let jobs = report.workload.jobs();
    let span = jobs.last().map_or(0, |job| job.submit) - report.first_submission();
    let log = rough_duration(span as f64);
    format!(
        "job_sort_formula: waits over {log} of the log, {}",
        count(report.processors as usize, "processor")
    )
}

/// The verdicts on the formulas, then the answer, if the waits say anything.
fn headline(sides: &[NamedSide<'_>], doubt: Option<&str>, answer: Vec<String>) -> String {
    let verdicts: Vec<String> = sides
        .iter()
        .filter_map(|(formula, report)| fatal_verdict(*report, formula))
        .collect();
    let works = verdicts.is_empty();
    let mut sentences = Vec::new();
    if works {
        sentences.extend(sides.iter().filter_map(never_start_sentence));
    }
    sentences.extend(verdicts);
    // the waits under a formula that is refused are not its own
    let judged = sides
        .first()
        .filter(|(_, report)| fatal_verdict(*report, "").is_none());
    sentences.extend(judged.and_then(|(_, report)| goals_sentence(report.goals, doubt)));
    if works {
        let told: Vec<NamedSide<'_>> = sides
            .iter()
            .filter(|(_, side)| tells_failing(sides, *side))
            .copied()
            .collect();
        sentences.extend(
            failing_clauses(&told)
                .iter()
                .map(|clause| capitalised(&format!("{clause}."))),
        );
    }
    if sides.iter().all(|(_, report)| has_waits(*report)) {
        let constant = sides.iter().filter(|(_, report)| is_constant(*report));
        sentences.extend(constant.map(|(formula, _)| constant_sentence(formula)));
        sentences.extend(answer);
    }
    sentences.join(" ")
}

/// What the simulation does without, if that concerns more than a tenth of the jobs.
fn without_sentence(report: SimulationReport<'_>) -> Option<String> {
    let names = without_most(report.without, report.workload.jobs().len())?;
    Some(format!("The simulation does without {names}."))
}

/// What a formula does that gives every job the same value.
fn constant_sentence(subject: &str) -> String {
    capitalised(&format!(
        "{subject} orders nothing: this is the order of submission."
    ))
}

/// Why goals that are judged by the log prove nothing.
fn doubt_of_goals(report: SimulatedChangeReport<'_>) -> Option<&'static str> {
    match report.difference.wait.interval() {
        _ if report.has_no_waits() => Some(NO_WAITS),
        // that jobs never start is no matter of chance
        _ if report.sides.new.schedule.never_start().next().is_some() => None,
        _ if !report.difference.is_of_same_jobs() => None,
        None => Some("the log is too short"),
        Some(_) => None,
    }
}

/// That moved submissions change the effect by more than it is large, for the mean wait or else for
/// the mean bounded slowdown; `None` if they do not.
fn shaken_sentence(shake: &Shake, difference: &Difference) -> Option<String> {
    let (what, spread, words): (_, _, fn(f64) -> String) =
        if shake.wait.is_larger_than(difference.wait.difference()) {
            ("mean wait", shake.wait, signed_rough_duration)
        } else if shake
            .bounded_slowdown
            .is_larger_than(difference.bounded_slowdown.difference())
        {
            (
                "mean bounded slowdown",
                shake.bounded_slowdown,
                signed_significant,
            )
        } else {
            return None;
        };
    let (times, direction) = if spread.increases > spread.decreases {
        (spread.increases, "increases")
    } else {
        (spread.decreases, "decreases")
    };
    let decided = if spread.has_sign() {
        "seconds decide how large the change is, not its direction"
    } else {
        "seconds may decide even the direction of the change"
    };
    Some(format!(
        "The {what} changes by {} to {} in {} with submissions moved by up to {SHAKE_SECONDS} s: {decided} (it {direction} in {times} of {}).",
        words(spread.low),
        words(spread.high),
        count(shake.runs, "run"),
        shake.runs
    ))
}

/// That the waits of the log are others than those under the old formula.
pub(crate) fn doubt_sentence(validation: &Validation) -> String {
    let tau = validation
        .rank_correlation
        .map_or_else(String::new, |tau| format!("tau-b {tau:.2}; "));
    let [recorded, simulated] = [validation.recorded_mean, validation.simulated_mean].map(duration);
    format!(
        "The log's waits are not explained by this model ({tau}mean wait {recorded} recorded, {simulated} simulated): was another formula in force? \
         If not, take it as a hypothesis."
    )
}

/// What moved submissions make of the means, or of their changes.
fn shaken_fact(shake: &Shake, words: fn(f64) -> String, number: fn(f64) -> String) -> Fact {
    let [low, high] = [shake.wait.low, shake.wait.high].map(words);
    let [least, most] = [shake.bounded_slowdown.low, shake.bounded_slowdown.high].map(number);
    let runs = count(shake.runs, "run");
    Fact::with_lines(
        SHAKEN,
        vec![
            format!("{runs} with submissions moved by up to {SHAKE_SECONDS} s"),
            format!("mean wait {low} to {high}"),
            format!("mean bounded slowdown {least} to {most}"),
        ],
    )
}

/// Whether the headline says for which jobs the formula of a side fails. The old formula may be the
/// one that is mended: that it fails too is said where the new one fails or the old one fails for
/// all.
fn tells_failing(sides: &[NamedSide<'_>], side: SimulationReport<'_>) -> bool {
    let first = sides
        .first()
        .is_some_and(|(_, first)| first.formula == side.formula || first.failing.is_some());
    first || !has_waits(side)
}

/// For which jobs the formulas of two sides fail, a clause for each; empty if both work for all.
pub fn failing_clauses_of_sides(sides: OldNew<SimulationReport<'_>>) -> Vec<String> {
    failing_clauses(&named_sides(sides))
}

fn failing_clauses(sides: &[NamedSide<'_>]) -> Vec<String> {
    sides
        .iter()
        .filter_map(|(formula, report)| Some(report.failing?.clause(formula)))
        .collect()
}

/// The answer for one formula, in one sentence.
fn sentence(statistics: &Statistics) -> String {
    let Statistics { summary, sizes, .. } = statistics;
    let utilisation = percent(summary.utilisation);
    let makespan = duration(summary.makespan as f64);
    let machine = format!("{utilisation} of the machine is in use over {makespan}");
    let wait = duration(summary.wait.mean);
    match summary.jobs {
        0 => "No job starts.".to_owned(),
        1 => format!("The one job waits {wait}; {machine}."),
        jobs => {
            format!(
                "{} wait {wait} on average{}; {machine}.",
                grouped_count(jobs, "job"),
                longest_size(sizes, summary)
            )
        }
    }
}

/// The jobs of the size that waits longest, of those with enough jobs to speak of a mean; empty if
/// there is one size only.
fn longest_size(sizes: &[GroupStatistics], summary: &Summary) -> String {
    let many: Vec<&GroupStatistics> = sizes.iter().filter(|size| size.jobs >= MIN_JOBS).collect();
    let longest = many
        .iter()
        .max_by(|one, other| one.wait.mean.total_cmp(&other.wait.mean));
    let Some(longest) =
        longest.filter(|longest| many.len() > 1 && longest.wait.mean > summary.wait.mean)
    else {
        return String::new();
    };
    format!(
        ", the {} of {} {} ({} of core hours) most: {} on average",
        grouped_number(longest.jobs),
        longest.name,
        if longest.name == "1" {
            "processor"
        } else {
            "processors"
        },
        percent(longest.core_seconds as f64 / summary.core_seconds.max(1) as f64),
        duration(longest.wait.mean)
    )
}

/// How close the use is to the shares, in words.
fn fairness_words(fairness: &Fairness) -> String {
    let jain = fairness.jain.map_or_else(String::new, |jain| {
        format!("Jain's index {jain:.2} of the sums (1 is even), ")
    });
    let period = match fairness.block_seconds {
        86_400 => "day by day".to_owned(),
        seconds => format!("in periods of {}", waiting_time(seconds)),
    };
    let hoover = percent(fairness.hoover);
    format!("{jain}{hoover} of the processor time goes, {period}, to others than promised (Hoover)")
}

/// How far the waits, of two formulas those under the old one, are from those in the log; in brief,
/// only what may be wrong.
fn validation_fact(validation: &Validation, is_brief: bool) -> Fact {
    let [recorded, simulated] = [validation.recorded_mean, validation.simulated_mean].map(duration);
    let [median, most] = [validation.median_error, validation.p95_error].map(duration);
    let jobs = count(validation.jobs, "job");
    let equal = format!(
        "{} of {jobs} start at the recorded second",
        validation.equal
    );
    if is_brief && validation.equal == validation.jobs {
        return Fact::new(VALIDATION, format!("{equal}, under the old formula"));
    }
    let mut parts = vec![
        equal,
        format!("mean wait {recorded} recorded, {simulated} simulated"),
        format!("error of a wait: median {median}, 95 % within {most}"),
    ];
    parts.extend(
        validation
            .rank_correlation
            .map(|tau| format!("rank correlation of the waits (tau-b) {tau:.2}")),
    );
    if validation.started_before_submission > 0 {
        let jobs = count(validation.started_before_submission, "job");
        parts.push(format!(
            "{jobs} not compared: the recorded start is before the submission"
        ));
    }
    Fact::with_lines(VALIDATION, parts)
}

/// The jobs that wait longest.
fn longest_waits(report: SimulationReport<'_>) -> Section<'_> {
    let mut order: Vec<JobLine<'_>> = report.jobs().map(|(_, job)| job).collect();
    order.sort_by_key(|job| Reverse(job.start - job.submit));
    let first = order.iter().map(|job| job.submit).min().unwrap_or(0);
    let table = with_job_columns(Table::of(order), |job| job, first)
        .column(Column::number("wait", 9), |job| {
            Cell::Duration((job.start - job.submit) as f64)
        })
        .table();
    Section::new("jobs")
        .on_page()
        .prose("Those that wait longest first.")
        .table(table)
}

/// The values with which jobs start: which value one of such a size and walltime needs.
fn start_values_section<'a>(report: SimulationReport<'a>, side: &str) -> Section<'a> {
    let table = Table::of(report.start_values())
        .column(Column::id("processors", 9), |class| {
            Cell::text(class.size.clone())
        })
        .column(Column::text("walltime", 8), |class| {
            Cell::text(class.walltime.clone())
        })
        .column(Column::number("jobs", 7), |class| Cell::Count(class.jobs))
        .column(Column::number("p10", 8), |class| {
            Cell::significant(class.p10)
        })
        .column(Column::number("median", 9), |class| {
            Cell::significant(class.median)
        })
        .table();
    Section::new(format!("values at the start{side}"))
        .table(table)
        .in_full()
}

/// The jobs whose waits change most.
fn largest_changes<'a>(old: SimulationReport<'a>, new: SimulationReport<'a>) -> Section<'a> {
    let both = old
        .jobs()
        .filter_map(|(index, job)| Some((job, new.schedule.start(index)?)));
    let mut order: Vec<(JobLine<'a>, i64)> = both.collect();
    order.sort_by_key(|(job, new_start)| Reverse((new_start - job.start).abs()));
    let first = order.iter().map(|(job, _)| job.submit).min().unwrap_or(0);
    let table = with_job_columns(Table::of(order), |(job, _)| job, first)
        .column(Column::number("old wait", 9), |(job, _)| {
            Cell::Duration((job.start - job.submit) as f64)
        })
        .column(Column::number("new wait", 9), |(job, start)| {
            Cell::Duration((start - job.submit) as f64)
        })
        .column(Column::number("difference", 9), |(job, start)| {
            Cell::Longer((start - job.start) as f64, true)
        })
        .table();
    Section::new("jobs")
        .on_page()
        .prose("Those whose waits change most first.")
        .table(table)
}

/// The columns that name a job, and say how long after the first one it was submitted.
fn with_job_columns<'a, T: Sync + Send + 'a>(
    rows: Rows<'a, T>,
    job: fn(&T) -> &JobLine<'a>,
    first: i64,
) -> Rows<'a, T> {
    rows.column(Column::id("job", 9), move |row| Cell::text(job(row).id))
        .column(Column::text("entity", 6), move |row| {
            Cell::text(job(row).entity)
        })
        .column(Column::text("queue", 3), move |row| {
            Cell::text(job(row).queue)
        })
        .column(Column::number("processors", 5), move |row| {
            Cell::Count(job(row).processors as usize)
        })
        .column(Column::number("submitted after", 5), move |row| {
            let submit = job(row).submit;
            Cell::Written(waiting_time(submit - first), Some(submit as f64))
        })
}
