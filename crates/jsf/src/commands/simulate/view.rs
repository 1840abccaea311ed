//! A simulated queue for people, under one formula or under two: the answer, and what makes it
//! believable.
//!
//! The answer names the classes of jobs that wait less or more under the new formula, with their
//! part of the jobs and of the core hours, as far as that is more than chance, and the jobs for
//! which a formula fails.

use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::Code;
use job_sort_formula::rank::{Consequence, OldNew, OnError};
use job_sort_formula::schema::FairshareInput;
use jsf_openpbs::check::{Checked, Verdict};
use jsf_simulate::{
    Difference, EvaluationErrors, GroupDifference, JudgedGoal, MeanChange, SHAKE_SECONDS, Shake,
    Validation, Workload,
};

use crate::commands::simulate::log::log_facts;
use crate::commands::simulate::tables::{
    all_jobs_sections, class_sections, difference_sections, jobs_section, periods_section,
    shares_section, start_values_section,
};
use crate::commands::simulate::{Compared, SimulatedChangeAnswer, SimulationAnswer};
use crate::view::document::{Document, Fact, Section};
use crate::view::findings::{brief_lines, verdict_sentence};
use crate::view::sections::{goals_section, unmet, without_most};
use crate::view::words::{
    and_list, capitalised, count, duration, first_few, grouped_count, grouped_number, part_of_jobs,
    percent, quoted_and_list, rough_duration, signed_rough_duration, signed_significant,
    significant,
};

/// The most warnings on the first screen.
const MAX_WARNINGS: usize = 2;
/// What becomes of the answer where the waits of the log are others than those of the formula.
pub(crate) const DOUBT: &str = "The log's waits are not those under the formula in force in this model: unless another one was in \
                                force, take the answer as a hypothesis.";

/// A side of a simulation, after what its formula is called.
type NamedSide<'a> = (&'static str, &'a SimulationAnswer<'a>);

/// The document of a simulation under one formula.
pub(crate) fn simulation_document<'a>(answer: &'a SimulationAnswer<'a>) -> Document<'a> {
    let found = &answer.found;
    let mut facts = found.facts.clone();
    facts.extend(log_facts(answer));
    if let Some(validation) = &answer.validation {
        facts.push(validation_fact(validation, "the formula"));
    }
    if let Some(shake) = &answer.shake {
        facts.push(shaken_fact(shake, duration, significant));
    }
    let mut sections = vec![Section::formulas(&answer.formula, &answer.formula)];
    let lines = found.checked.as_ref();
    let lines = lines.map(|checked| brief_lines(checked, None));
    sections.extend(warning_sections(errors_first(
        lines.unwrap_or_default(),
        warning_lines(&answer.simulated.warnings),
    )));
    sections.extend(Section::findings(&found.drawn));
    if has_waits(answer) {
        sections.extend(wait_sections(&[answer], None));
    }
    let mut doubt = None;
    if answer.has_no_waits() {
        doubt = Some(NO_WAITS);
    }
    let mut effects = vec![sentence(answer)];
    effects.extend(without_sentence(answer));
    Document {
        command: "jsf simulate",
        title: title(answer),
        headline: headline(&[("the formula", answer)], doubt, effects),
        facts,
        sections,
        read_on: "--report FILE.html",
    }
}

/// The document of a simulation under two formulas.
pub(crate) fn simulated_change_document<'a>(answer: &'a SimulatedChangeAnswer<'a>) -> Document<'a> {
    let OldNew { old, new } = &answer.sides;
    let Compared {
        schedules, shake, ..
    } = &answer.difference;
    let have_waits = has_waits(old) && has_waits(new);
    let mut facts = Fact::of_sides(&old.found.facts, &new.found.facts);
    facts.extend(log_facts(old));
    let mut effects = vec![effect(schedules)];
    effects.extend(without_sentence(old));
    let validation = answer.validation.as_ref();
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
            effects.extend(shaken_sentence(shake, schedules));
        }
    }
    if validation.is_some_and(Validation::is_doubtful) {
        effects.push(DOUBT.to_owned());
    }
    let mut sections = vec![Section::formulas(&old.formula, &new.formula)];
    sections.extend(warning_sections(change_warnings(answer)));
    // what both sides have is drawn once
    let old_drawn: &[String] = if is_one_formula(&answer.sides) {
        &[]
    } else {
        &old.found.drawn
    };
    sections.extend(Section::findings_of_sides(
        OldNew::new(&old.formula, &new.formula),
        OldNew::new(old_drawn, &new.found.drawn),
    ));
    if have_waits {
        sections.extend(wait_sections(&[old, new], Some(&answer.difference)));
    }
    let sides = named_sides(&answer.sides);
    Document {
        command: "jsf simulate",
        title: title(old),
        headline: headline(&sides, doubt_of_goals(answer), effects),
        facts,
        sections,
        read_on: "--report FILE.html",
    }
}

/// The sections about waits, under one formula or under the old and the new one.
fn wait_sections<'a>(
    sides: &[&'a SimulationAnswer<'a>],
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
pub(crate) fn named_sides<'a>(sides: &'a OldNew<SimulationAnswer<'a>>) -> Vec<NamedSide<'a>> {
    if is_one_formula(sides) {
        return vec![("the formula", &sides.new)];
    }
    vec![
        ("the new formula", &sides.new),
        ("the old formula", &sides.old),
    ]
}

fn is_one_formula(sides: &OldNew<SimulationAnswer<'_>>) -> bool {
    sides.old.formula == sides.new.formula
}

/// Whether the waits under a formula say anything: a formula that the scheduler cannot work with,
/// or that fails for all jobs, leaves them in the order of their submission.
fn has_waits(answer: &SimulationAnswer<'_>) -> bool {
    let found = &answer.found;
    let fails_for_all = matches!(&found.failing, Some(failing) if failing.are_all);
    !fails_for_all && !found.checked.as_ref().is_some_and(is_fatal)
}

/// The verdict on a formula that the scheduler cannot work with; `None` for one that works for some
/// jobs.
fn fatal_verdict((subject, answer): &NamedSide<'_>) -> Option<String> {
    let checked = answer.found.checked.as_ref()?;
    if is_fatal(checked) {
        verdict_sentence(checked, subject)
    } else {
        None
    }
}

/// Whether a formula gives every job the same value.
fn is_constant(answer: &SimulationAnswer<'_>) -> bool {
    let Some(checked) = &answer.found.checked else {
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
fn change_warnings(answer: &SimulatedChangeAnswer<'_>) -> Vec<String> {
    let OldNew { old, new } = &answer.sides;
    let found = match (&old.found.checked, &new.found.checked) {
        (Some(_), Some(new)) if is_one_formula(&answer.sides) => brief_lines(new, None),
        (Some(old), Some(new)) => brief_lines(new, Some(old)),
        _ => Vec::new(),
    };
    let mut warnings = warning_lines(&answer.warnings);
    let sides = named_sides(&answer.sides);
    if let Some(side) = sides.get(1)
        && has_waits(side.1)
        && let Some(clause) = failing_clause(side)
    {
        warnings.push(format!("warning {clause}"));
    }
    // the old formula first, as in facts and findings
    for (formula, side) in sides.iter().rev() {
        for text in &side.simulated.warnings {
            if !answer.warnings.contains(text) {
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
fn title(answer: &SimulationAnswer<'_>) -> String {
    let jobs = answer.workload.jobs();
    let span = jobs.last().map_or(0, |job| job.submit) - answer.workload.begin(0);
    let log = rough_duration(span as f64);
    format!(
        "job_sort_formula: waits over {log} of the log, {}",
        count(answer.simulated.processors.total as usize, "processor")
    )
}

/// The verdicts on the formulas, then the answer, if the waits say anything. The old formula may be
/// the one that is mended: for which jobs it fails is said here only if it fails for all.
fn headline(sides: &[NamedSide<'_>], doubt: Option<&str>, effects: Vec<String>) -> String {
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
        for (formula, answer) in sides {
            if is_constant(answer) {
                sentences.push(capitalised(&format!(
                    "{formula} orders nothing: this is the order of submission."
                )));
            }
        }
        sentences.extend(effects);
    }
    sentences.join(" ")
}

/// How many jobs never start, which no number about waits tells; `None` if there are none.
fn never_start_sentence((formula, answer): &NamedSide<'_>) -> Option<String> {
    let never = match answer.never_start() {
        0 => return None,
        jobs => grouped_number(jobs),
    };
    let all = grouped_count(answer.workload.jobs().len(), "job");
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
fn doubt_of_goals(answer: &SimulatedChangeAnswer<'_>) -> Option<&'static str> {
    let OldNew { old, new } = &answer.sides;
    let schedules = &answer.difference.schedules;
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
fn without_sentence(answer: &SimulationAnswer<'_>) -> Option<String> {
    let names = without_most(&answer.simulated.left_out, answer.workload.jobs().len())?;
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
pub(crate) fn failing_clause((formula, answer): &NamedSide<'_>) -> Option<String> {
    Some(answer.found.failing.as_ref()?.clause(formula))
}

/// The answer for one formula, in one sentence.
fn sentence(answer: &SimulationAnswer<'_>) -> String {
    let summary = &answer.statistics.summary;
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
    // where all are equal, there is no error to tell of
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

/// The most names in a sentence; more are counted.
const MAX_NAMES: usize = 4;

/// The effect in sentences: for the kind of classes of which some wait less and others more, sizes
/// before all others, and for entities, or groups if the log has no entities.
pub(crate) fn effect(difference: &Difference) -> String {
    let jobs = grouped_count(difference.jobs, "job");
    if !difference.is_of_same_jobs() {
        return format!(
            "The waits cannot be compared, as they are those of different jobs: {} start under the old formula alone, {} under the \
             new one alone, and {jobs} under both.",
            grouped_number(difference.only_old),
            grouped_number(difference.only_new)
        );
    }
    if difference.longer + difference.shorter == 0 {
        return format!("None of {jobs} starts at another second under the new formula.");
    }
    let classes = &difference.classes;
    let mut job_clauses = clauses("processors", &classes.sizes, difference);
    for (kind, groups) in [("run times", &classes.lengths), ("queues", &classes.queues)] {
        let others = clauses(kind, groups, difference);
        // of those with as many sides, the first one
        if others.len() > job_clauses.len() {
            job_clauses = others;
        }
    }
    let mut user_clauses = clauses("entities", &classes.entities, difference);
    if user_clauses.is_empty() {
        user_clauses = clauses("groups", &classes.groups, difference);
    }
    let mut sentences = Vec::new();
    for clauses in [job_clauses, user_clauses] {
        if !clauses.is_empty() {
            sentences.push(format!("{}.", clauses.join(", ")));
        }
    }
    if sentences.is_empty() {
        without_classes(difference)
    } else {
        format!("By the mean, {}", sentences.join(" "))
    }
}

/// How many jobs, and which, of the classes of one kind wait how much less, and how many wait more;
/// none of what may be chance.
fn clauses(kind: &str, groups: &[GroupDifference], all: &Difference) -> Vec<String> {
    let is_user_text = !matches!(kind, "processors" | "run times");
    let mut clauses = Vec::new();
    for direction in ["less", "more"] {
        let (mut jobs, mut core_seconds, mut total) = (0, 0, 0.0);
        let mut names = Vec::new();
        let mut changes = Vec::new();
        for group in groups {
            let is_one = match direction {
                "less" => group.wait.is_decrease(),
                _ => group.wait.is_increase(),
            };
            if !is_one {
                continue;
            }
            jobs += group.jobs;
            core_seconds += group.core_seconds;
            total += group.wait.difference() * group.jobs as f64;
            changes.push(&group.wait);
            names.push(if is_user_text {
                format!("`{}`", group.name)
            } else {
                group.name.clone()
            });
        }
        // a single class is all jobs, whose change is told where no class differs
        if groups.len() < 2 || names.is_empty() {
            continue;
        }
        let wait = match changes[..] {
            [only] => change(only),
            _ => format!("{} {direction}", duration(f64::abs(total) / jobs as f64)),
        };
        clauses.push(format!(
            "{} of {} ({kind} {}; {} of core hours) wait {wait}",
            grouped_number(jobs),
            grouped_count(all.jobs, "job"),
            first_few(names, MAX_NAMES),
            percent(core_seconds as f64 / all.core_seconds.max(1) as f64),
        ));
    }
    clauses
}

/// The change of the means of all jobs, where no class of them differs from the others.
fn without_classes(difference: &Difference) -> String {
    let mut changed = Vec::new();
    for (name, change) in difference.means() {
        if change.is_significant() {
            changed.push(format!("the {name}"));
        }
    }
    let verdict = if difference.wait.interval().is_none() {
        "The log is too short to tell an effect from chance".to_owned()
    } else if !changed.is_empty() {
        format!(
            "More than chance is a change of {} alone",
            and_list(&changed)
        )
    } else if !difference.wait.has_users() {
        "Too few users submit most of the jobs to tell an effect from chance".to_owned()
    } else {
        "No change is more than chance".to_owned()
    };
    let Difference {
        jobs,
        longer,
        shorter,
        ..
    } = *difference;
    format!(
        "{verdict}: {} wait {} on average; {} wait longer, {} less, {} alike.",
        grouped_count(jobs, "job"),
        change(&difference.wait),
        grouped_number(longer),
        grouped_number(shorter),
        grouped_number(jobs - longer - shorter)
    )
}

/// `2 h more (+1 h to +3 h)`.
fn change(wait: &MeanChange) -> String {
    let change = wait.difference();
    let direction = if change > 0.0 { "more" } else { "less" };
    let interval = interval_in_brackets(wait, signed_rough_duration);
    format!("{} {direction}{interval}", duration(change.abs()))
}

/// The interval of a change; `None` if it has none.
pub(crate) fn interval_in_words(change: &MeanChange, words: fn(f64) -> String) -> Option<String> {
    let [low, high] = change.interval()?.map(words);
    Some(format!("{low} to {high}"))
}

/// The interval of a change after a blank and in brackets; empty if it has none.
pub(crate) fn interval_in_brackets(change: &MeanChange, words: fn(f64) -> String) -> String {
    match interval_in_words(change, words) {
        Some(interval) => format!(" ({interval})"),
        None => String::new(),
    }
}

/// The most entities that a sentence names.
const MAX_ENTITIES: usize = 3;

/// Whether the scheduler cannot work with a formula, so that no waits are shown.
pub(crate) fn is_fatal(checked: &Checked) -> bool {
    matches!(
        checked.verdict,
        Verdict::Refused | Verdict::Crashes | Verdict::CrashesAtStart { .. }
    )
}

/// The jobs for which a formula fails.
#[derive(Debug, Clone)]
pub struct FailingJobs {
    /// What follows the name of the formula, such as ``divides by zero for all 81 jobs of `Bob`;
    /// they count 0``.
    predicate: String,
    /// Whether the formula fails for every job.
    are_all: bool,
}

impl FailingJobs {
    /// The jobs for which a formula fails; `None` if there are none. `shares` are those of the
    /// entities, by index.
    pub fn new(
        formula: &Formula,
        workload: &Workload,
        errors: &EvaluationErrors,
        shares: Option<&[Option<f64>]>,
        on_error: OnError,
    ) -> Option<Self> {
        let (kind, first) = errors.kinds().max_by_key(|(_, error)| error.jobs)?;
        let are_all = errors.jobs() == workload.jobs().len();
        let names = formula.names();
        let mut names = names.iter();
        let jobs = match shares {
            // no shares are a reason only where the formula reads them
            Some(shares) if names.any(|name| FairshareInput::from_name(name).is_some()) => {
                failing_jobs(workload, errors, shares)
            }
            _ => failing_jobs(workload, errors, &[]),
        };
        let fails = if kind == "division by zero" && errors.kinds().count() == 1 {
            format!("divides by zero for {jobs}")
        } else {
            let id = workload.id(first.job);
            format!("fails for {jobs} ({}, first for `{id}`)", first.message)
        };
        let then = consequence(errors, on_error, are_all);
        Some(Self {
            predicate: format!("{fails}; they {then}"),
            are_all,
        })
    }

    /// A clause about `subject`, such as `the new formula`.
    pub fn clause(&self, subject: &str) -> String {
        format!("{subject} {}", self.predicate)
    }
}

/// Which jobs fail, by the entities that they belong to if those are few.
fn failing_jobs(workload: &Workload, errors: &EvaluationErrors, shares: &[Option<f64>]) -> String {
    let all = workload.jobs().len();
    let mut jobs_of: BTreeMap<u32, usize> = BTreeMap::new();
    let mut failing: BTreeSet<u32> = BTreeSet::new();
    for (index, job) in workload.jobs().iter().enumerate() {
        *jobs_of.entry(job.entity).or_default() += 1;
        if errors.has_failed(index) {
            failing.insert(job.entity);
        }
    }
    let mut names: Vec<&str> = Vec::new();
    let mut of_these = 0;
    let mut have_no_shares = true;
    for entity in failing {
        let index = entity as usize;
        names.push(&workload.entities()[index]);
        of_these += jobs_of[&entity];
        have_no_shares &= matches!(shares.get(index), Some(share) if share.unwrap_or(0.0) <= 0.0);
    }
    // then the entities are no reason, only more words; jobs without one have no name to give
    let says_nothing = jobs_of.len() == 1 || errors.jobs() == all;
    if says_nothing || names.len() > MAX_ENTITIES || names.contains(&"") {
        return part_of_jobs(errors.jobs(), all);
    }
    let why = if errors.jobs() == of_these && have_no_shares {
        " (no shares)"
    } else {
        ""
    };
    let part = part_of_jobs(errors.jobs(), of_these);
    format!("{part} of {}{why}", quoted_and_list(names))
}

/// What becomes of the jobs for which a formula fails.
fn consequence(errors: &EvaluationErrors, on_error: OnError, are_all: bool) -> &'static str {
    let (mut crashes, mut is_unknown) = (false, false);
    for (_, error) in errors.kinds() {
        crashes |= error.consequence == Consequence::Crash;
        is_unknown |= error.consequence == Consequence::Unknown;
    }
    if on_error == OnError::Null {
        "come last"
    } else if crashes {
        "count 0 here, and would crash OpenPBS's scheduler"
    } else if is_unknown {
        "count 0 here, and jsf cannot tell what OpenPBS's scheduler makes of it"
    } else if are_all {
        "count 0, and OpenPBS's scheduler would crash at its next start"
    } else {
        "count 0"
    }
}

#[cfg(test)]
mod tests {
    use jsf_simulate::{ByKind, GroupDifference};

    use super::*;

    const HOUR: f64 = 3600.0;

    /// A class of so many jobs, whose waits change by so many hours, and by how much that may
    /// differ.
    fn class(name: &str, jobs: usize, hours: f64, within: f64) -> GroupDifference {
        let [old, low, high] = [100.0, hours - within, hours + within].map(|hours| hours * HOUR);
        let wait = MeanChange {
            old,
            new: old + hours * HOUR,
            low,
            high,
            jobs,
            blocks: 28,
            users: 40,
            level: 0.05,
        };
        GroupDifference {
            name: name.to_owned(),
            jobs,
            core_seconds: jobs as u128 * 3600,
            wait,
        }
    }

    fn difference(sizes: Vec<GroupDifference>, entities: Vec<GroupDifference>) -> Difference {
        let jobs: usize = sizes.iter().map(|size| size.jobs).sum();
        let changes = sizes
            .iter()
            .map(|size| size.wait.difference() * size.jobs as f64);
        let change = changes.sum::<f64>() / jobs as f64 / HOUR;
        Difference {
            jobs,
            longer: jobs / 2,
            shorter: jobs / 4,
            wait: class("", jobs, change, 100.0).wait,
            core_seconds: sizes.iter().map(|size| size.core_seconds).sum(),
            classes: ByKind {
                sizes,
                entities,
                ..ByKind::default()
            },
            ..Difference::default()
        }
    }

    #[test]
    fn a_class_that_wins_and_entities_that_pay_are_named() {
        let sizes = vec![
            class("1", 60, 3.0, 9.0),
            class("2-4", 20, 2.0, 9.0),
            class("5-16", 20, -30.0, 10.0),
        ];
        let entities = vec![
            class("ada", 50, 4.0, 1.0),
            class("bob", 30, 3.0, 1.0),
            class("cy", 20, 0.0, 9.0),
        ];
        assert_eq!(
            effect(&difference(sizes, entities)),
            "By the mean, 20 of 100 jobs (processors 5-16; 20.0 % of core hours) wait 1 d 6 h less (-1 d 16 h to -20 h). 80 of 100 jobs (entities `ada`, \
             `bob`; 80.0 % of core hours) wait 3 h 38 min more."
        );
    }

    #[test]
    fn a_class_that_wins_and_one_that_pays_are_both_named() {
        let sizes = vec![
            class("1", 40, -2.0, 1.0),
            class("2-4", 40, 4.0, 1.0),
            class("5-16", 20, -2.0, 9.0),
        ];
        assert_eq!(
            effect(&difference(sizes, Vec::new())),
            "By the mean, 40 of 100 jobs (processors 1; 40.0 % of core hours) wait 2 h less (-3 h to -1 h), 40 of 100 jobs (processors 2-4; 40.0 % \
             of core hours) wait 4 h more (+3 h to +5 h)."
        );
    }

    #[test]
    fn what_may_be_chance_is_called_so() {
        let sizes = vec![class("1", 60, 3.0, 9.0), class("2-4", 40, -1.0, 9.0)];
        let mut difference = difference(sizes, Vec::new());
        let jobs = ": 100 jobs wait 1 h 24 min more (-4 d 3 h to +4 d 5 h) on average; 50 wait longer, 25 less, 25 alike.";
        assert_eq!(
            effect(&difference),
            format!("No change is more than chance{jobs}")
        );
        difference.wait_per_core_hour = class("", 100, 19.1, 1.0).wait;
        assert_eq!(
            effect(&difference),
            format!("More than chance is a change of the mean wait per core hour alone{jobs}")
        );
        difference.wait_per_core_hour.users = 5;
        difference.wait.users = 5;
        assert_eq!(
            effect(&difference),
            format!("Too few users submit most of the jobs to tell an effect from chance{jobs}")
        );
        difference.wait.blocks = 5;
        let text = effect(&difference);
        let first = "The log is too short to tell an effect from chance: 100 jobs wait 1 h 24 min more on average; ";
        assert!(text.starts_with(first), "{text}");
        (difference.longer, difference.shorter) = (0, 0);
        assert_eq!(
            effect(&difference),
            "None of 100 jobs starts at another second under the new formula."
        );
    }

    #[test]
    fn one_entity_is_not_compared_with_others() {
        let one = |name: &str| vec![class(name, 100, 3.0, 1.0)];
        let mut difference = difference(one("1"), one("ada"));
        difference.wait = one("1")[0].wait;
        let first = "More than chance is a change of the mean wait alone: 100 jobs wait 3 h more (+2 h to +4 h) on average";
        assert!(effect(&difference).starts_with(first));
    }
}
