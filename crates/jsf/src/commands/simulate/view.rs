//! A simulated queue for people, under one formula or under two: the answer, the rules and what
//! makes it believable.

use job_sort_formula::diagnostic::Code;
use job_sort_formula::rank::OldNew;
use jsf_simulate::{Difference, JudgedGoal, SHAKE_SECONDS, Shake, Validation};

use crate::commands::simulate::answer::SimulationReport;
use crate::commands::simulate::change_answer::{Compared, SimulatedChangeReport};
use crate::commands::simulate::effect_in_words::effect;
use crate::commands::simulate::failures_in_words::is_fatal;
use crate::commands::simulate::log_facts::log_facts;
use crate::commands::simulate::tables::{
    all_jobs_sections, class_sections, difference_sections, jobs_section, periods_section,
    shares_section, start_values_section,
};
use crate::view::document::{Document, Fact, Section};
use crate::view::goals::{goals_section, unmet};
use crate::view::rule_facts::without_most;
use crate::view::verdict::{brief_lines, brief_lines_of_sides, verdict_sentence};
use crate::view::words::{
    capitalised, count, duration, grouped_count, grouped_number, percent, rough_duration,
    signed_rough_duration, signed_significant, significant,
};

/// The most warnings on the first screen.
const MAX_WARNINGS: usize = 2;
/// What becomes of the answer where the waits of the log are others than those of the formula.
pub(crate) const DOUBT: &str = "The log's waits are not those under the formula in force in this model: unless another one was in \
                                force, take the answer as a hypothesis.";

/// A side of a simulation, after what its formula is called.
pub(crate) type NamedSide<'a> = (&'static str, &'a SimulationReport<'a>);

/// The document of a simulation under one formula.
pub(crate) fn simulation_document<'a>(report: &'a SimulationReport<'a>) -> Document<'a> {
    let found = &report.found;
    let mut facts = found.rules.clone();
    facts.extend(log_facts(report));
    if let Some(validation) = &report.validation {
        facts.push(validation_fact(validation, "the formula"));
    }
    if let Some(shake) = &report.shake {
        facts.push(shaken_fact(shake, duration, significant));
    }
    let mut sections = vec![Section::formulas(&report.formula, &report.formula)];
    let lines = found.checked.as_ref().map(brief_lines);
    sections.extend(warning_sections(errors_first(
        lines.unwrap_or_default(),
        warning_lines(&report.warnings),
    )));
    sections.extend(Section::findings(&found.drawn));
    if has_waits(report) {
        sections.extend(wait_sections(&[report], None));
    }
    let mut doubt = None;
    if found.has_no_waits {
        doubt = Some(NO_WAITS);
    }
    let mut answer = vec![sentence(report)];
    answer.extend(without_sentence(report));
    Document {
        command: "jsf simulate",
        title: title(report),
        headline: headline(&[("the formula", report)], doubt, answer),
        facts,
        sections,
        read_on: "--report FILE.html",
    }
}

/// The document of a simulation under two formulas.
pub(crate) fn simulated_change_document<'a>(report: &'a SimulatedChangeReport<'a>) -> Document<'a> {
    let OldNew { old, new } = &report.sides;
    let Compared {
        schedules, shake, ..
    } = &report.difference;
    let have_waits = has_waits(old) && has_waits(new);
    let mut facts = Fact::of_sides(&old.found.rules, &new.found.rules);
    facts.extend(log_facts(old));
    let mut answer = vec![effect(schedules)];
    answer.extend(without_sentence(old));
    let validation = report.validation.as_ref();
    if let Some(validation) = validation
        && have_waits
    {
        facts.push(validation_fact(validation, "the old formula"));
    }
    if let Some(shake) = shake {
        facts.push(shaken_fact(
            shake,
            signed_rough_duration,
            signed_significant,
        ));
        if schedules.is_of_same_jobs() {
            answer.extend(shaken_sentence(shake, schedules));
        }
    }
    if validation.is_some_and(Validation::is_doubtful) {
        answer.push(DOUBT.to_owned());
    }
    let mut sections = vec![Section::formulas(&old.formula, &new.formula)];
    sections.extend(warning_sections(change_warnings(report)));
    // what both sides have is drawn once
    let old_drawn: &[String] = if is_one_formula(&report.sides) {
        &[]
    } else {
        &old.found.drawn
    };
    sections.extend(Section::findings_of_sides(
        OldNew::new(&old.formula, &new.formula),
        OldNew::new(old_drawn, &new.found.drawn),
    ));
    if have_waits {
        sections.extend(wait_sections(&[old, new], Some(&report.difference)));
    }
    let sides = named_sides(&report.sides);
    Document {
        command: "jsf simulate",
        title: title(old),
        headline: headline(&sides, doubt_of_goals(report), answer),
        facts,
        sections,
        read_on: "--report FILE.html",
    }
}

/// The sections about waits, under one formula or under the old and the new one.
fn wait_sections<'a>(
    sides: &[&'a SimulationReport<'a>],
    change: Option<&'a Compared>,
) -> Vec<Section<'a>> {
    let (Some(&first), Some(&last)) = (sides.first(), sides.last()) else {
        return Vec::new();
    };
    let mut sections = Vec::from_iter(goals_section(OldNew::new(&first.goals, &last.goals)));
    let (mut heading, mut new) = ("values at the start", None);
    match change {
        None => {
            sections.extend(all_jobs_sections(sides, None));
            sections.extend(class_sections(first));
        }
        Some(change) => {
            sections.extend(all_jobs_sections(sides, Some(&change.schedules)));
            // the means of different jobs are not compared
            if change.schedules.is_of_same_jobs() {
                sections.extend(difference_sections(change));
            }
            heading = "values at the start under the new formula";
            new = Some(last);
        }
    }
    sections.push(start_values_section(heading, last));
    sections.push(periods_section(sides));
    sections.extend(shares_section(sides));
    sections.push(jobs_section(first, new));
    sections
}

/// The sides of a comparison, the new one first; one formula on both sides is one.
pub(crate) fn named_sides<'a>(sides: &'a OldNew<SimulationReport<'a>>) -> Vec<NamedSide<'a>> {
    if is_one_formula(sides) {
        return vec![("the formula", &sides.new)];
    }
    vec![
        ("the new formula", &sides.new),
        ("the old formula", &sides.old),
    ]
}

fn is_one_formula(sides: &OldNew<SimulationReport<'_>>) -> bool {
    sides.old.formula == sides.new.formula
}

/// Whether the waits under a formula say anything: a formula that the scheduler cannot work with,
/// or that fails for all jobs, leaves them in the order of their submission.
fn has_waits(report: &SimulationReport<'_>) -> bool {
    let found = &report.found;
    let fails_for_all = matches!(&found.failing, Some(failing) if failing.are_all);
    !fails_for_all && !found.checked.as_ref().is_some_and(is_fatal)
}

/// The verdict on a formula that the scheduler cannot work with; `None` for one that works for some
/// jobs.
fn fatal_verdict((subject, report): &NamedSide<'_>) -> Option<String> {
    let checked = report.found.checked.as_ref()?;
    if is_fatal(checked) {
        verdict_sentence(checked, subject)
    } else {
        None
    }
}

/// Whether a formula gives every job the same value.
fn is_constant(report: &SimulationReport<'_>) -> bool {
    let Some(checked) = &report.found.checked else {
        return false;
    };
    let mut findings = checked.findings.iter();
    findings.any(|found| found.code == Code::ConstantValue)
}

/// What is warned of, a line each.
pub(crate) fn warning_lines(texts: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    for text in texts {
        lines.push(format!("warning {text}"));
    }
    lines
}

/// The warnings: the first ones on the first screen, and the others in full.
pub(crate) fn warning_sections<'a>(mut warnings: Vec<String>) -> Vec<Section<'a>> {
    let others = warnings.split_off(warnings.len().min(MAX_WARNINGS));
    let mut sections = vec![
        Section::new("").in_text().list(warnings),
        Section::new("further warnings")
            .in_full()
            .in_text()
            .list(others),
    ];
    sections.retain(|section| !section.blocks.is_empty());
    sections
}

/// The warnings about both sides: first those that both have. For which jobs the new formula fails
/// is in the headline.
fn change_warnings(report: &SimulatedChangeReport<'_>) -> Vec<String> {
    let OldNew { old, new } = &report.sides;
    let found = match (&old.found.checked, &new.found.checked) {
        (Some(_), Some(new)) if is_one_formula(&report.sides) => brief_lines(new),
        (Some(old), Some(new)) => brief_lines_of_sides(OldNew { old, new }),
        _ => Vec::new(),
    };
    let mut warnings = warning_lines(&report.warnings);
    let sides = named_sides(&report.sides);
    if let Some(side) = sides.get(1)
        && has_waits(side.1)
        && let Some(clause) = failing_clause(side)
    {
        warnings.push(format!("warning {clause}"));
    }
    for (formula, side) in sides.iter().rev() {
        for text in &side.warnings {
            if !report.warnings.contains(text) {
                warnings.push(format!("warning under {formula}: {text}"));
            }
        }
    }
    errors_first(found, warnings)
}

/// The errors about formulas, then what the simulation warns of, then the warnings about formulas.
fn errors_first(found: Vec<String>, simulated: Vec<String>) -> Vec<String> {
    let (errors, warnings): (Vec<String>, Vec<String>) = found
        .into_iter()
        .partition(|line| line.starts_with("error"));
    [errors, simulated, warnings].concat()
}

/// What was simulated: how much of a log, on which machine.
fn title(report: &SimulationReport<'_>) -> String {
    let jobs = report.jobs.workload.jobs();
    let span = jobs.last().map_or(0, |job| job.submit) - report.jobs.workload.begin(0);
    let log = rough_duration(span as f64);
    format!(
        "job_sort_formula: waits over {log} of the log, {}",
        count(report.processors.total as usize, "processor")
    )
}

/// The verdicts on the formulas, then the answer, if the waits say anything. The old formula may be
/// the one that is mended: for which jobs it fails is said here only if it fails for all.
fn headline(sides: &[NamedSide<'_>], doubt: Option<&str>, answer: Vec<String>) -> String {
    let mut sentences = Vec::new();
    let (mut works, mut have_waits) = (true, true);
    for side in sides {
        if let Some(verdict) = fatal_verdict(side) {
            sentences.push(verdict);
            works = false;
        }
        have_waits &= has_waits(side.1);
    }
    if works {
        sentences.extend(sides.iter().filter_map(never_start_sentence));
    }
    // the waits under a formula that is refused are not its own
    if let Some(first) = sides.first()
        && fatal_verdict(first).is_none()
    {
        sentences.extend(goals_sentences(&first.1.goals, doubt));
    }
    if works {
        for (index, side) in sides.iter().enumerate() {
            if let Some(clause) = failing_clause(side)
                && (index == 0 || !has_waits(side.1))
            {
                sentences.push(capitalised(&format!("{clause}.")));
            }
        }
    }
    if have_waits {
        for (formula, report) in sides {
            if is_constant(report) {
                sentences.push(capitalised(&format!(
                    "{formula} orders nothing: this is the order of submission."
                )));
            }
        }
        sentences.extend(answer);
    }
    sentences.join(" ")
}

/// How many jobs never start, which no number about waits tells; `None` if there are none.
fn never_start_sentence((formula, report): &NamedSide<'_>) -> Option<String> {
    if report.never_start == 0 {
        return None;
    }
    let never = grouped_number(report.never_start);
    let all = grouped_count(report.jobs.workload.jobs().len(), "job");
    Some(format!("{never} of {all} never start under {formula}."))
}

/// Why the goals prove nothing, and those that are not met.
fn goals_sentences(goals: &[JudgedGoal], doubt: Option<&str>) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(doubt) = doubt
        && !goals.is_empty()
    {
        sentences.push(format!("The goals prove nothing here: {doubt}."));
    }
    if let Some(unmet) = unmet(goals) {
        sentences.push(format!("{unmet}."));
    }
    sentences
}

/// Why goals prove nothing where no job waits.
const NO_WAITS: &str = "hardly any job waits";

/// Why goals that are judged by the log prove nothing.
fn doubt_of_goals(report: &SimulatedChangeReport<'_>) -> Option<&'static str> {
    let OldNew { old, new } = &report.sides;
    let schedules = &report.difference.schedules;
    if old.found.has_no_waits && new.found.has_no_waits {
        return Some(NO_WAITS);
    }
    // that jobs never start is no matter of chance
    let is_of_chance = new.never_start == 0 && schedules.is_of_same_jobs();
    if is_of_chance && schedules.wait.interval().is_none() {
        return Some("the log is too short");
    }
    None
}

/// What the simulation does without, if that concerns more than a tenth of the jobs.
fn without_sentence(report: &SimulationReport<'_>) -> Option<String> {
    let names = without_most(&report.without, report.jobs.workload.jobs().len())?;
    Some(format!("The simulation does without {names}."))
}

/// That moved submissions change the effect by more than it is large, for the mean wait or else for
/// the mean bounded slowdown; `None` if they do not.
fn shaken_sentence(shake: &Shake, difference: &Difference) -> Option<String> {
    let means = [
        ("mean wait", shake.wait, difference.wait),
        (
            "mean bounded slowdown",
            shake.bounded_slowdown,
            difference.bounded_slowdown,
        ),
    ];
    let mut means = means.into_iter();
    let (what, spread, _) =
        means.find(|(_, spread, change)| spread.is_larger_than(change.difference()))?;
    let decided = if spread.has_sign() {
        "how large the change is, not its direction"
    } else {
        "even the direction of the change"
    };
    Some(format!(
        "With submissions moved by up to {SHAKE_SECONDS} s, the {what} increases in {} and decreases in {} of {}: seconds may decide \
         {decided}.",
        spread.increases,
        spread.decreases,
        count(shake.runs, "run")
    ))
}

/// What moved submissions make of the means, or of their changes.
fn shaken_fact(shake: &Shake, words: fn(f64) -> String, number: fn(f64) -> String) -> Fact {
    let Shake {
        wait,
        bounded_slowdown: slowdown,
        runs,
        ..
    } = shake;
    let lines = vec![
        format!(
            "{} with submissions moved by up to {SHAKE_SECONDS} s",
            count(*runs, "run")
        ),
        format!("mean wait {} to {}", words(wait.low), words(wait.high)),
        format!(
            "mean bounded slowdown {} to {}",
            number(slowdown.low),
            number(slowdown.high)
        ),
    ];
    Fact::with_lines("shaken", lines)
}

/// For which jobs the formula of a side fails; `None` if it works for all.
pub(crate) fn failing_clause((formula, report): &NamedSide<'_>) -> Option<String> {
    Some(report.found.failing.as_ref()?.clause(formula))
}

/// The answer for one formula, in one sentence.
fn sentence(report: &SimulationReport<'_>) -> String {
    let summary = &report.statistics.summary;
    if summary.jobs == 0 {
        return "No job starts.".to_owned();
    }
    format!(
        "The mean wait of {} is {}; {} of the machine is in use over {}.",
        grouped_count(summary.jobs, "job"),
        duration(summary.wait.mean),
        percent(summary.utilisation),
        duration(summary.makespan as f64)
    )
}

/// How far the waits under a formula are from those in the log.
pub(crate) fn validation_fact(validation: &Validation, formula: &str) -> Fact {
    let jobs = grouped_count(validation.jobs, "job");
    let equal = grouped_number(validation.equal);
    let mut lines = vec![format!(
        "{equal} of {jobs} start at the recorded second under {formula}"
    )];
    if validation.equal < validation.jobs {
        lines.push(format!(
            "mean wait {} recorded, {} simulated",
            duration(validation.recorded_mean),
            duration(validation.simulated_mean)
        ));
        lines.push(format!(
            "error of a wait: median {}, 95 % within {}",
            duration(validation.median_error),
            duration(validation.p95_error)
        ));
        if let Some(tau) = validation.rank_correlation {
            lines.push(format!("rank correlation of the waits (tau-b) {tau:.2}"));
        }
    }
    if validation.started_before_submission > 0 {
        let jobs = grouped_count(validation.started_before_submission, "job");
        lines.push(format!(
            "{jobs} not compared: the recorded start is before the submission"
        ));
    }
    Fact::with_lines("against the log", lines)
}
