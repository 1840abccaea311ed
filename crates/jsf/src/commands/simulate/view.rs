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
use crate::view::verdict::{brief_lines, brief_lines_of_sides, verdict_sentence};
use crate::view::without::without_most;
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
    let validation = report.validation.as_ref();
    facts.extend(validation.map(|validation| validation_fact(validation, "the formula")));
    let shake = report.shake.as_ref();
    facts.extend(shake.map(|shake| shaken_fact(shake, duration, significant)));

    let mut sections = vec![Section::formulas(&report.formula, &report.formula)];
    let lines = found.checked.as_ref().map(brief_lines);
    let warnings = report.warnings.iter().map(|text| warning(text)).collect();
    sections.extend(warning_sections(errors_first(
        lines.unwrap_or_default(),
        warnings,
    )));
    sections.extend(Section::findings(&found.drawn));
    if has_waits(report) {
        sections.extend(wait_sections(&[report], None));
    }
    let doubt = found.has_no_waits.then_some(NO_WAITS);
    let answer = [Some(sentence(report)), without_sentence(report)];
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
    let validation = report.validation.as_ref();
    let mut facts = Fact::of_sides(report.sides.as_ref().map(|side| &*side.found.rules));
    facts.extend(log_facts(old));
    let shown = validation.filter(|_| have_waits);
    facts.extend(shown.map(|validation| validation_fact(validation, "the old formula")));
    let words = |shake| shaken_fact(shake, signed_rough_duration, signed_significant);
    facts.extend(shake.as_ref().map(words));

    let formulas = report.sides.as_ref().map(|side| &*side.formula);
    let mut sections = vec![Section::formulas(formulas.old, formulas.new)];
    sections.extend(warning_sections(change_warnings(report)));
    // what both sides have is drawn once
    let old_drawn: &[String] = if is_one_formula(&report.sides) {
        &[]
    } else {
        &old.found.drawn
    };
    sections.extend(Section::findings_of_sides(
        formulas,
        OldNew::new(old_drawn, &new.found.drawn),
    ));
    if have_waits {
        sections.extend(wait_sections(&[old, new], Some(&report.difference)));
    }
    let shake = shake.as_ref().filter(|_| schedules.is_of_same_jobs());
    let is_doubtful = validation.is_some_and(Validation::is_doubtful);
    let answer = [
        Some(effect(schedules)),
        without_sentence(old),
        shake.and_then(|shake| shaken_sentence(shake, schedules)),
        is_doubtful.then(|| DOUBT.to_owned()),
    ];
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
    let difference = change.map(|change| &change.schedules);
    let mut sections = Vec::from_iter(goals_section(OldNew::new(&first.goals, &last.goals)));
    sections.extend(all_jobs_sections(sides, difference));
    match change {
        None => sections.extend(class_sections(first)),
        Some(change) if change.schedules.is_of_same_jobs() => {
            sections.extend(difference_sections(change));
        }
        // the means of different jobs are not compared
        Some(_) => {}
    }
    let heading = match change {
        None => "values at the start",
        Some(_) => "values at the start under the new formula",
    };
    sections.push(start_values_section(heading, last));
    sections.push(periods_section(sides));
    sections.extend(shares_section(sides));
    sections.push(jobs_section(first, change.map(|_| last)));
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
    !found.checked.as_ref().is_some_and(is_fatal)
        && !found
            .failing
            .as_ref()
            .is_some_and(|failing| failing.are_all)
}

/// The verdict on a formula that the scheduler cannot work with; `None` for one that works for some
/// jobs.
fn fatal_verdict((subject, report): &NamedSide<'_>) -> Option<String> {
    let checked = report.found.checked.as_ref()?;
    verdict_sentence(checked, subject).filter(|_| is_fatal(checked))
}

/// Whether a formula gives every job the same value.
fn is_constant(report: &SimulationReport<'_>) -> bool {
    let findings = report
        .found
        .checked
        .iter()
        .flat_map(|checked| &checked.findings);
    findings
        .into_iter()
        .any(|found| found.code == Code::ConstantValue)
}

fn warning(text: &str) -> String {
    format!("warning {text}")
}

/// The warnings: the first ones on the first screen, and the others in full.
pub(crate) fn warning_sections<'a>(mut warnings: Vec<String>) -> Vec<Section<'a>> {
    let others = warnings.split_off(warnings.len().min(MAX_WARNINGS));
    let others = Section::new("further warnings").in_full().list(others);
    let sections = [Section::new("").list(warnings), others];
    sections
        .into_iter()
        .filter(|section| !section.blocks.is_empty())
        .map(Section::in_text)
        .collect()
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
    let mut warnings: Vec<String> = report.warnings.iter().map(|text| warning(text)).collect();
    let sides = named_sides(&report.sides);
    for side in sides.iter().skip(1).filter(|(_, side)| has_waits(side)) {
        warnings.extend(failing_clause(side).map(|clause| warning(&clause)));
    }
    for (formula, side) in sides.iter().rev() {
        let own = side
            .warnings
            .iter()
            .filter(|text| !report.warnings.contains(text));
        warnings.extend(own.map(|text| format!("warning under {formula}: {text}")));
    }
    errors_first(found, warnings)
}

/// The errors about formulas, then what the simulation warns of, then the warnings about formulas.
fn errors_first(found: Vec<String>, simulated: Vec<String>) -> Vec<String> {
    let (errors, warnings): (Vec<_>, Vec<_>) = found
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
fn headline<const N: usize>(
    sides: &[NamedSide<'_>],
    doubt: Option<&str>,
    answer: [Option<String>; N],
) -> String {
    let mut sentences: Vec<String> = sides.iter().filter_map(fatal_verdict).collect();
    let works = sentences.is_empty();
    if works {
        sentences.extend(sides.iter().filter_map(never_start_sentence));
    }
    // the waits under a formula that is refused are not its own
    if let Some(first) = sides.first().filter(|side| fatal_verdict(side).is_none()) {
        sentences.extend(goals_sentences(&first.1.goals, doubt));
    }
    if works {
        let mut is_first = true;
        for side in sides {
            let clause = failing_clause(side).filter(|_| is_first || !has_waits(side.1));
            sentences.extend(clause.map(|clause| capitalised(&format!("{clause}."))));
            is_first = false;
        }
    }
    if sides.iter().all(|(_, report)| has_waits(report)) {
        for (formula, _) in sides.iter().filter(|(_, report)| is_constant(report)) {
            let sentence = format!("{formula} orders nothing: this is the order of submission.");
            sentences.push(capitalised(&sentence));
        }
        sentences.extend(answer.into_iter().flatten());
    }
    sentences.join(" ")
}

/// How many jobs never start, which no number about waits tells; `None` if there are none.
fn never_start_sentence((formula, report): &NamedSide<'_>) -> Option<String> {
    let never = grouped_number(report.never_start);
    let all = grouped_count(report.jobs.workload.jobs().len(), "job");
    (report.never_start > 0).then(|| format!("{never} of {all} never start under {formula}."))
}

/// Why the goals prove nothing, and those that are not met.
fn goals_sentences(goals: &[JudgedGoal], doubt: Option<&str>) -> Vec<String> {
    let unmet = unmet(goals).map(|unmet| format!("{unmet}."));
    let doubt = doubt.filter(|_| !goals.is_empty());
    let doubt = doubt.map(|doubt| format!("The goals prove nothing here: {doubt}."));
    doubt.into_iter().chain(unmet).collect()
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
    let is_short = schedules.wait.interval().is_none();
    (is_of_chance && is_short).then_some("the log is too short")
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
    let (what, spread, _) = means
        .into_iter()
        .find(|(_, spread, change)| spread.is_larger_than(change.difference()))?;
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
    let [low, high] = [shake.wait.low, shake.wait.high].map(words);
    let [least, most] = [shake.bounded_slowdown.low, shake.bounded_slowdown.high].map(number);
    let runs = count(shake.runs, "run");
    Fact::with_lines(
        "shaken",
        vec![
            format!("{runs} with submissions moved by up to {SHAKE_SECONDS} s"),
            format!("mean wait {low} to {high}"),
            format!("mean bounded slowdown {least} to {most}"),
        ],
    )
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
        let [recorded, simulated] =
            [validation.recorded_mean, validation.simulated_mean].map(duration);
        let [median, most] = [validation.median_error, validation.p95_error].map(duration);
        lines.push(format!(
            "mean wait {recorded} recorded, {simulated} simulated"
        ));
        lines.push(format!(
            "error of a wait: median {median}, 95 % within {most}"
        ));
        let tau = validation.rank_correlation;
        lines.extend(tau.map(|tau| format!("rank correlation of the waits (tau-b) {tau:.2}")));
    }
    if validation.started_before_submission > 0 {
        let jobs = grouped_count(validation.started_before_submission, "job");
        lines.push(format!(
            "{jobs} not compared: the recorded start is before the submission"
        ));
    }
    Fact::with_lines("against the log", lines)
}
