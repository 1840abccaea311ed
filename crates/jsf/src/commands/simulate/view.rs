//! A simulated queue for people, under one formula or under two: the answer, the rules and what
//! makes it believable.

use job_sort_formula::diagnostic::{Code, Diagnostic};
use job_sort_formula::rank::OldNew;
use jsf_simulate::{Difference, SHAKE_SECONDS, Shake, Validation};

use crate::commands::simulate::answer::SimulationReport;
use crate::commands::simulate::change_answer::SimulatedChangeReport;
use crate::commands::simulate::effect_in_words::effect;
use crate::commands::simulate::failures_in_words::is_fatal;
use crate::commands::simulate::log_facts::log_facts;
use crate::commands::simulate::tables::{
    all_jobs_sections, class_sections, difference_sections, interval_note, jobs_section,
    periods_section, shares_section, start_values_section,
};
use crate::view::document::{Document, Fact, Section};
use crate::view::goals::{goals_section, unmet};
use crate::view::unit::Unit;
use crate::view::verdict::{brief_lines, brief_lines_of_sides, verdict_sentence};
use crate::view::without::without_most;
use crate::view::words::{
    capitalised, count, duration, grouped_count, grouped_number, percent, rough_duration,
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
    let mut facts = report.found.rules.clone();
    facts.extend(log_facts(report));
    facts.extend(validation_fact(report.validation.as_ref(), "the formula"));
    if let Some(shake) = &report.shake {
        facts.push(shaken_fact(shake, Unit::words));
    }
    let mut answer = vec![sentence(report)];
    answer.extend(without_sentence(report));
    let sides = [("the formula", report)];
    let mut sections = vec![Section::formulas(&report.formula, &report.formula)];
    sections.extend(warning_sections(warnings(
        &sides,
        &report.simulated.warnings,
    )));
    if has_waits(report) {
        sections.extend(goals_section(OldNew::new(&report.goals, &report.goals)));
        sections.extend(all_jobs_sections(&[report], None));
        sections.extend(class_sections(report));
        sections.push(start_values_section("values at the start", report));
        sections.push(periods_section(&[report]));
        sections.extend(shares_section(&[report]));
        sections.push(jobs_section(report, None));
    }
    Document {
        command: "jsf simulate",
        title: title(report),
        headline: headline(&sides, report.has_no_waits().then_some(NO_WAITS), answer),
        facts,
        sections,
        read_on: "--report FILE.html",
    }
}

/// The document of a simulation under two formulas.
pub(crate) fn simulated_change_document<'a>(report: &'a SimulatedChangeReport<'a>) -> Document<'a> {
    let OldNew { old, new } = &report.sides;
    let change = &report.difference;
    let difference = &change.schedules;
    let have_waits = has_waits(old) && has_waits(new);
    let sides = named_sides(&report.sides);
    let mut facts = Fact::of_sides(&old.found.rules, &new.found.rules);
    facts.extend(log_facts(old));
    let mut answer = vec![effect(difference)];
    answer.extend(without_sentence(old));
    let validation = report.validation.as_ref();
    if have_waits {
        facts.extend(validation_fact(validation, "the old formula"));
    }
    if let Some(shake) = &change.shake {
        facts.push(shaken_fact(shake, Unit::change));
        if difference.is_of_same_jobs() {
            answer.extend(shaken_sentence(shake, difference));
        }
    }
    if validation.is_some_and(Validation::is_doubtful) {
        answer.push(DOUBT.to_owned());
    }
    let mut sections = vec![Section::formulas(&old.formula, &new.formula)];
    sections.extend(warning_sections(warnings(&sides, &report.warnings)));
    if have_waits {
        let both: &[&SimulationReport<'_>] = &[old, new];
        sections.extend(goals_section(OldNew::new(&old.goals, &new.goals)));
        sections.extend(all_jobs_sections(both, Some(difference)));
        facts.push(Fact::new("intervals", interval_note(difference)).in_full());
        // the means of different jobs are not compared
        if difference.is_of_same_jobs() {
            sections.extend(difference_sections(change));
        }
        let heading = "values at the start under the new formula";
        sections.push(start_values_section(heading, new));
        sections.push(periods_section(both));
        sections.extend(shares_section(both));
        sections.push(jobs_section(old, Some(new)));
    }
    Document {
        command: "jsf simulate",
        title: title(old),
        headline: headline(&sides, doubt_of_goals(report), answer),
        facts,
        sections,
        read_on: "--report FILE.html",
    }
}

/// The sides of a comparison, the new one first; one formula on both sides is one.
pub(crate) fn named_sides<'a>(sides: &'a OldNew<SimulationReport<'a>>) -> Vec<NamedSide<'a>> {
    let OldNew { old, new } = sides;
    if old.formula == new.formula {
        return vec![("the formula", new)];
    }
    vec![("the new formula", new), ("the old formula", old)]
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

/// What is found about a formula.
fn findings<'r>(report: &'r SimulationReport<'_>) -> &'r [Diagnostic] {
    match &report.found.checked {
        Some(checked) => &checked.findings,
        None => &[],
    }
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
        Section::new("").list(warnings),
        Section::new("further warnings").in_full().list(others),
    ];
    sections.retain(|section| !section.blocks.is_empty());
    sections
}

/// The errors about the formulas, then what the simulation warns of, of which both sides have those
/// in `common`, then the warnings about the formulas. For which jobs the new formula fails is in the
/// headline.
fn warnings(sides: &[NamedSide<'_>], common: &[String]) -> Vec<String> {
    let mut found = match sides {
        [(_, only)] => brief_lines(findings(only)),
        [(_, new), (_, old), ..] => brief_lines_of_sides(OldNew::new(findings(old), findings(new))),
        [] => Vec::new(),
    };
    let mut warnings = warning_lines(common);
    if let Some(old) = sides.get(1)
        && has_waits(old.1)
        && let Some(clause) = failing_clause(old)
    {
        warnings.push(format!("warning {clause}"));
    }
    for (formula, side) in sides.iter().rev() {
        for text in &side.simulated.warnings {
            if !common.contains(text) {
                warnings.push(format!("warning under {formula}: {text}"));
            }
        }
    }
    let errors = found.iter().filter(|line| line.starts_with("error"));
    let errors = errors.count();
    found.splice(errors..errors, warnings);
    found
}

/// What was simulated: how much of a log, on which machine.
fn title(report: &SimulationReport<'_>) -> String {
    let jobs = report.workload.jobs();
    let span = jobs.last().map_or(0, |job| job.submit) - report.workload.begin(0);
    let log = rough_duration(span as f64);
    format!(
        "job_sort_formula: waits over {log} of the log, {}",
        count(report.simulated.processors.total as usize, "processor")
    )
}

/// The verdicts on the formulas, then the answer, if the waits say anything. The old formula may be
/// the one that is mended: for which jobs it fails is said here only if it fails for all.
fn headline(sides: &[NamedSide<'_>], doubt: Option<&str>, answer: Vec<String>) -> String {
    let mut sentences: Vec<String> = sides.iter().filter_map(fatal_verdict).collect();
    let works = sentences.is_empty();
    if works {
        for (formula, report) in sides {
            let all = grouped_count(report.workload.jobs().len(), "job");
            let never = report.never_start();
            if never > 0 {
                let never = grouped_number(never);
                sentences.push(format!("{never} of {all} never start under {formula}."));
            }
        }
    }
    // the waits under a formula that is refused are not its own
    if let Some(first) = sides.first()
        && fatal_verdict(first).is_none()
    {
        let goals = &first.1.goals;
        if let Some(doubt) = doubt.filter(|_| !goals.is_empty()) {
            sentences.push(format!("The goals prove nothing here: {doubt}."));
        }
        sentences.extend(unmet(goals).map(|unmet| format!("{unmet}.")));
    }
    for (index, side) in sides.iter().enumerate() {
        if let Some(clause) = failing_clause(side)
            && works
            && (index == 0 || !has_waits(side.1))
        {
            sentences.push(capitalised(&format!("{clause}.")));
        }
    }
    if sides.iter().all(|(_, report)| has_waits(report)) {
        for (formula, report) in sides {
            let mut found = findings(report).iter();
            if found.any(|found| found.code == Code::ConstantValue) {
                sentences.push(capitalised(&format!(
                    "{formula} orders nothing: this is the order of submission."
                )));
            }
        }
        sentences.extend(answer);
    }
    sentences.join(" ")
}

/// Why goals prove nothing where no job waits.
const NO_WAITS: &str = "hardly any job waits";

/// Why goals that are judged by the log prove nothing.
fn doubt_of_goals(report: &SimulatedChangeReport<'_>) -> Option<&'static str> {
    let OldNew { old, new } = &report.sides;
    let schedules = &report.difference.schedules;
    if old.has_no_waits() && new.has_no_waits() {
        return Some(NO_WAITS);
    }
    // that jobs never start is no matter of chance
    let is_of_chance = new.never_start() == 0 && schedules.is_of_same_jobs();
    if is_of_chance && schedules.wait.interval().is_none() {
        return Some("the log is too short");
    }
    None
}

/// What the simulation does without, if that concerns more than a tenth of the jobs.
fn without_sentence(report: &SimulationReport<'_>) -> Option<String> {
    let names = without_most(&report.simulated.left_out, report.workload.jobs().len())?;
    Some(format!("The simulation does without {names}."))
}

/// That moved submissions change the effect by more than it is large, for the mean wait or else for
/// the mean bounded slowdown; `None` if they do not.
fn shaken_sentence(shake: &Shake, difference: &Difference) -> Option<String> {
    for (what, spread, change) in [
        ("mean wait", shake.wait, difference.wait),
        (
            "mean bounded slowdown",
            shake.bounded_slowdown,
            difference.bounded_slowdown,
        ),
    ] {
        if spread.is_larger_than(change.difference()) {
            let decided = if spread.has_sign() {
                "how large the change is, not its direction"
            } else {
                "even the direction of the change"
            };
            return Some(format!(
                "With submissions moved by up to {SHAKE_SECONDS} s, the {what} increases in {} and decreases in {} of {}: seconds may \
                 decide {decided}.",
                spread.increases,
                spread.decreases,
                count(shake.runs, "run")
            ));
        }
    }
    None
}

/// What moved submissions make of the means, or of their changes.
fn shaken_fact(shake: &Shake, words: fn(Unit, f64) -> String) -> Fact {
    let runs = count(shake.runs, "run");
    let mut lines = vec![format!(
        "{runs} with submissions moved by up to {SHAKE_SECONDS} s"
    )];
    for (what, unit, spread) in [
        ("mean wait", Unit::Time, shake.wait),
        (
            "mean bounded slowdown",
            Unit::Number,
            shake.bounded_slowdown,
        ),
    ] {
        let [low, high] = [spread.low, spread.high].map(|mean| words(unit, mean));
        lines.push(format!("{what} {low} to {high}"));
    }
    Fact::with_lines("shaken", lines)
}

/// For which jobs the formula of a side fails; `None` if it works for all.
pub(crate) fn failing_clause((formula, report): &NamedSide<'_>) -> Option<String> {
    Some(report.found.failing.as_ref()?.clause(formula))
}

/// The answer for one formula, in one sentence.
fn sentence(report: &SimulationReport<'_>) -> String {
    let summary = report.summary();
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

/// How far the waits under a formula are from those in the log, if that is known.
pub(crate) fn validation_fact(validation: Option<&Validation>, formula: &str) -> Option<Fact> {
    let validation = validation?;
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
    Some(Fact::with_lines("against the log", lines))
}
