//! A simulated queue for people, under one formula or under two: the answer, and what makes it
//! believable.
//!
//! The answer names the classes of jobs that wait less or more under the new formula, with their
//! part of the jobs and of the core hours, as far as that is more than chance, and the jobs for
//! which a formula fails. The numbers are in the tables below it.

use std::collections::BTreeSet;

use job_sort_formula::diagnostic::Code;
use job_sort_formula::rank::{Consequence, OldNew, OnError};
use jsf_openpbs::check::{Checked, Verdict};
use jsf_simulate::{
    Difference, EvaluationErrors, GroupDifference, MeanChange, SHAKE_SECONDS, Shake, Validation,
    Workload,
};

use crate::commands::simulate::log_facts::log_facts;
use crate::commands::simulate::wait_tables::{
    all_jobs_section, class_sections, difference_sections, jobs_section, periods_section,
    shares_section, start_values_section,
};
use crate::commands::simulate::{Compared, SimulatedChangeAnswer, SimulationAnswer};
use crate::view::document::{Document, Fact, Section};
use crate::view::findings::{brief_findings, verdict_sentence};
use crate::view::goals::{goals_section, unmet};
use crate::view::sections::without_most;
use crate::view::words::{
    capitalised, count, duration, first_few, first_few_quoted, grouped_count, grouped_number,
    part_of_jobs, percent, rough_duration, signed_rough_duration, signed_significant, significant,
};

/// What becomes of the answer where the waits of the log are others than those of the formula.
pub(crate) const DOUBT: &str = "The log's waits are not those under the formula in force in this model: unless another one was in \
                                force, take the answer as a hypothesis.";

/// What the formula of the old side is called.
const OLD: &str = "the old formula";

/// A side of a simulation, after what its formula is called.
type NamedSide<'a> = (&'static str, &'a SimulationAnswer<'a>);

/// The document of a simulation under a formula, or under the old and the new one.
pub(crate) fn document<'a>(
    new: &'a SimulationAnswer<'a>,
    change: Option<&'a SimulatedChangeAnswer<'a>>,
) -> Document<'a> {
    let (mut first, mut facts, mut old_drawn) = (new, new.found.facts.clone(), &[][..]);
    let mut validation = &new.validation;
    let mut shake = &new.shake;
    let mut sides = vec![new];
    if let Some(change) = change {
        first = &change.sides.old;
        sides = vec![first, new];
        facts = Fact::of_sides(&first.found.facts, &new.found.facts);
        old_drawn = &first.found.drawn;
        validation = &change.validation;
        shake = &change.difference.shake;
    }
    facts.extend(log_facts(first));
    let have_waits = sides.iter().all(|side| has_waits(side));
    if have_waits {
        facts.extend(validation.as_ref().map(validation_fact));
    }
    if let Some(shake) = shake {
        facts.push(match change {
            Some(_) => shaken_fact(shake, signed_rough_duration, signed_significant),
            None => shaken_fact(shake, duration, significant),
        });
    }
    let formulas = OldNew::new(&*first.formula, &*new.formula);
    let mut sections = vec![Section::formulas(formulas.old, formulas.new)];
    if let Some(checked) = &new.found.checked {
        let old = change.and(first.found.checked.as_ref());
        sections.extend(brief_findings(checked, old));
    }
    let mut warnings = warnings(&sides);
    for side in named_sides(&sides) {
        if is_mended(&side) {
            warnings.extend(failing_clause(&side));
        }
    }
    if !warnings.is_empty() {
        sections.push(Section::new("warnings").list(warnings));
    }
    let drawn = OldNew::new(old_drawn, &*new.found.drawn);
    sections.extend(Section::findings_of_sides(formulas, drawn));
    if have_waits {
        sections.extend(wait_sections(
            &sides,
            change.map(|change| &change.difference),
        ));
    }
    Document {
        command: "jsf simulate",
        title: title(first),
        headline: headline(&sides, change),
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
    let difference = change.map(|change| &change.schedules);
    sections.push(all_jobs_section(sides, difference));
    match change {
        None => sections.extend(class_sections(first)),
        // the means of different jobs are not compared
        Some(change) if change.schedules.is_of_same_jobs() => {
            sections.extend(difference_sections(change));
        }
        Some(_) => {}
    }
    sections.push(start_values_section(last));
    sections.push(periods_section(sides));
    sections.extend(shares_section(sides));
    sections.push(jobs_section(first, change.and(Some(last))));
    sections
}

/// The sides after what their formulas are called, the new one first.
pub(crate) fn named_sides<'a>(sides: &[&'a SimulationAnswer<'a>]) -> Vec<NamedSide<'a>> {
    match *sides {
        [old, new] => vec![("the new formula", new), (OLD, old)],
        _ => sides.iter().map(|side| ("the formula", *side)).collect(),
    }
}

/// Whether the waits under a formula say anything: a formula that the scheduler cannot work with,
/// or that fails for all jobs, leaves them in the order of their submission.
fn has_waits(answer: &SimulationAnswer<'_>) -> bool {
    let found = &answer.found;
    let fails_for_all = matches!(&found.failing, Some(failing) if failing.are_all);
    !fails_for_all && !found.checked.as_ref().is_some_and(is_fatal)
}

/// Whether the scheduler cannot work with a formula, so that no waits are shown.
pub(crate) fn is_fatal(checked: &Checked) -> bool {
    matches!(
        checked.verdict,
        Verdict::Refused | Verdict::Crashes | Verdict::CrashesAtStart { .. }
    )
}

/// The warnings about both sides, those that only one of them has after what its formula is called.
pub(crate) fn warnings(sides: &[&SimulationAnswer<'_>]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (formula, side) in named_sides(sides).into_iter().rev() {
        for text in &side.simulated.warnings {
            let is_shared = sides
                .iter()
                .all(|side| side.simulated.warnings.contains(text));
            let warning = if is_shared {
                text.clone()
            } else {
                format!("under {formula}: {text}")
            };
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    warnings
}

/// What was simulated: how much of a log, on which machine.
fn title(answer: &SimulationAnswer<'_>) -> String {
    let jobs = answer.workload.jobs();
    // of the submissions: how long the last jobs run depends on the formula
    let span = jobs.last().map_or(0, |job| job.submit) - answer.workload.begin(0);
    let log = rough_duration(span as f64);
    format!(
        "job_sort_formula: waits over {log} of the log, {}",
        count(answer.simulated.processors.total as usize, "processor")
    )
}

/// The verdicts on the formulas, then the goals, then the answer, if the waits say anything.
fn headline(sides: &[&SimulationAnswer<'_>], change: Option<&SimulatedChangeAnswer<'_>>) -> String {
    let named = named_sides(sides);
    let mut sentences = Vec::new();
    for side in &named {
        sentences.extend(fatal_verdict(side));
    }
    let works = sentences.is_empty();
    if works {
        for side in &named {
            sentences.extend(failure_sentences(side));
        }
    }
    // the waits under a formula that is refused are not its own
    if let Some(new) = named.first()
        && fatal_verdict(new).is_none()
    {
        sentences.extend(goals_sentences(new.1, change));
    }
    if sides.iter().all(|side| has_waits(side)) {
        match change {
            Some(change) => sentences.extend(change_sentences(change)),
            None => sentences.extend(sides.iter().map(|side| sentence(side))),
        }
        let mut first = sides.iter().take(1);
        sentences.extend(first.find_map(|side| without_sentence(side)));
    }
    sentences.join(" ")
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

/// How many jobs never start, for which jobs the formula fails, and whether it orders any.
fn failure_sentences(side: &NamedSide<'_>) -> Vec<String> {
    let (formula, answer) = side;
    let mut sentences = Vec::new();
    let never = answer.never_start();
    if never > 0 {
        let never = grouped_number(never);
        let all = grouped_count(answer.workload.jobs().len(), "job");
        sentences.push(format!("{never} of {all} never start under {formula}."));
    }
    if let Some(clause) = failing_clause(side)
        && !is_mended(side)
    {
        sentences.push(capitalised(&format!("{clause}.")));
    }
    let mut findings = answer.found.checked.iter().flat_map(|one| &one.findings);
    if findings.any(|found| found.code == Code::ConstantValue) {
        sentences.push(capitalised(&format!(
            "{formula} orders nothing: this is the order of submission."
        )));
    }
    sentences
}

/// Whether a formula is the old one and works for some jobs: the new one may mend it, so for which
/// jobs it fails is no part of the answer.
fn is_mended((formula, answer): &NamedSide<'_>) -> bool {
    *formula == OLD && has_waits(answer)
}

/// Why the goals prove nothing, and those that are not met.
fn goals_sentences(
    new: &SimulationAnswer<'_>,
    change: Option<&SimulatedChangeAnswer<'_>>,
) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut doubt = None;
    if new.has_no_waits() && change.is_none_or(|change| change.sides.old.has_no_waits()) {
        doubt = Some("hardly any job waits");
    } else if let Some(change) = change {
        let schedules = &change.difference.schedules;
        // that jobs never start is no matter of chance
        let is_of_chance = new.never_start() == 0 && schedules.is_of_same_jobs();
        if is_of_chance && schedules.wait.interval().is_none() {
            doubt = Some("the log is too short");
        }
    }
    if let Some(doubt) = doubt
        && !new.goals.is_empty()
    {
        sentences.push(format!("The goals prove nothing here: {doubt}."));
    }
    if let Some(unmet) = unmet(&new.goals) {
        sentences.push(format!("{unmet}."));
    }
    sentences
}

/// What the simulation does without, if that concerns more than a tenth of the jobs.
fn without_sentence(answer: &SimulationAnswer<'_>) -> Option<String> {
    let names = without_most(&answer.simulated.left_out, answer.workload.jobs().len())?;
    Some(format!("The simulation does without {names}."))
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

/// The effect, and why it may be another one.
fn change_sentences(change: &SimulatedChangeAnswer<'_>) -> Vec<String> {
    let schedules = &change.difference.schedules;
    let mut sentences = vec![effect(schedules)];
    if let Some(shake) = &change.difference.shake
        && schedules.is_of_same_jobs()
        && shake.wait.is_larger_than(schedules.wait.difference())
    {
        sentences.push(format!(
            "With submissions moved by up to {SHAKE_SECONDS} s, the change is {} to {}: seconds may decide this.",
            signed_rough_duration(shake.wait.low),
            signed_rough_duration(shake.wait.high)
        ));
    }
    if matches!(&change.validation, Some(validation) if validation.is_doubtful()) {
        sentences.push(DOUBT.to_owned());
    }
    sentences
}

/// Between which values the means are, or their changes, if submissions are moved.
fn shaken_fact(shake: &Shake, time: fn(f64) -> String, number: fn(f64) -> String) -> Fact {
    let Shake {
        wait,
        bounded_slowdown: slowdown,
        ..
    } = shake;
    let text = format!(
        "in {} mean wait {} to {}, mean bounded slowdown {} to {}",
        count(shake.runs, "run"),
        time(wait.low),
        time(wait.high),
        number(slowdown.low),
        number(slowdown.high),
    );
    Fact::new("shaken", text)
}

/// How far the waits under the formula in force are from those in the log.
pub(crate) fn validation_fact(validation: &Validation) -> Fact {
    let mut text = format!(
        "{} of {} start at the recorded second",
        grouped_number(validation.equal),
        grouped_count(validation.jobs, "job")
    );
    // means that are equal job by job say no more
    if validation.equal < validation.jobs {
        text += &format!(
            "; mean wait {} recorded, {} simulated",
            duration(validation.recorded_mean),
            duration(validation.simulated_mean)
        );
        if let Some(tau) = validation.rank_correlation {
            text += &format!("; tau-b {tau:.2}");
        }
    }
    if validation.started_before_submission > 0 {
        let jobs = grouped_count(validation.started_before_submission, "job");
        text += &format!("; {jobs} left out, whose recorded start is before the submission");
    }
    Fact::new("against the log", text)
}

/// The most names in a sentence; more are counted.
const MAX_NAMES: usize = 4;

/// The effect in a sentence: the classes that wait less, and those that wait more.
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
    let kinds = [
        ("processors", &classes.sizes),
        ("run times", &classes.lengths),
        ("queues", &classes.queues),
        ("entities", &classes.entities),
        ("groups", &classes.groups),
    ];
    let mut clauses = Vec::new();
    // each direction by the first kind that shows it: large jobs may win what many users pay
    let directions: [fn(&MeanChange) -> bool; 2] =
        [MeanChange::is_decrease, MeanChange::is_increase];
    for is_one in directions {
        let mut kinds = kinds.iter();
        clauses.extend(kinds.find_map(|(kind, groups)| clause(kind, groups, is_one, difference)));
    }
    if !clauses.is_empty() {
        return format!("By the mean, {}.", clauses.join(", "));
    }
    let wait = &difference.wait;
    let doubt = if wait.interval().is_none() {
        "The log is too short to tell an effect from chance"
    } else if wait.is_significant() {
        "No class of jobs differs by more than chance from the others"
    } else {
        "The change of the mean wait may be chance"
    };
    format!("{doubt}: {jobs} wait {} on average.", change_in_words(wait))
}

/// How many jobs, and which, of the classes of one kind wait how much less, or more; `None` if that
/// may be chance.
fn clause(
    kind: &str,
    groups: &[GroupDifference],
    is_one: fn(&MeanChange) -> bool,
    all: &Difference,
) -> Option<String> {
    let mut changed = Vec::from_iter(groups);
    changed.retain(|group| is_one(&group.wait));
    // a single class is all jobs, whose change is told where no class differs
    if groups.len() < 2 || changed.is_empty() {
        return None;
    }
    let (mut jobs, mut core_seconds, mut total) = (0, 0, 0.0);
    let mut names = Vec::new();
    for group in &changed {
        jobs += group.jobs;
        core_seconds += group.core_seconds;
        total += group.wait.difference() * group.jobs as f64;
        names.push(&*group.name);
    }
    let names = if matches!(kind, "processors" | "run times") {
        first_few(names, MAX_NAMES)
    } else {
        first_few_quoted(names, MAX_NAMES)
    };
    let wait = match changed[..] {
        [only] => change_in_words(&only.wait),
        _ => less_or_more(total / jobs as f64),
    };
    Some(format!(
        "{} of {} ({kind} {names}; {} of core hours) wait {wait}",
        grouped_number(jobs),
        grouped_count(all.jobs, "job"),
        percent(core_seconds as f64 / all.core_seconds.max(1) as f64),
    ))
}

/// `2 h more (+1 h to +3 h)`.
fn change_in_words(wait: &MeanChange) -> String {
    less_or_more(wait.difference()) + &interval_in_brackets(wait, signed_rough_duration)
}

fn less_or_more(change: f64) -> String {
    let direction = if change > 0.0 { "more" } else { "less" };
    format!("{} {direction}", duration(change.abs()))
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

/// For which jobs the formula of a side fails; `None` if it works for all.
pub(crate) fn failing_clause((formula, answer): &NamedSide<'_>) -> Option<String> {
    Some(answer.found.failing.as_ref()?.clause(formula))
}

/// The jobs for which a formula fails.
#[derive(Debug, Clone)]
pub struct FailingJobs {
    /// What follows what the formula is called.
    predicate: String,
    /// Whether the formula fails for every job.
    are_all: bool,
}

impl FailingJobs {
    /// The jobs for which a formula fails; `None` if there are none.
    pub fn new(workload: &Workload, errors: &EvaluationErrors, on_error: OnError) -> Option<Self> {
        let (_, first) = errors.kinds().max_by_key(|(_, error)| error.jobs)?;
        let all = workload.jobs().len();
        let are_all = errors.jobs() == all;
        let mut of = String::new();
        if !are_all {
            let mut entities = BTreeSet::new();
            for (index, job) in workload.jobs().iter().enumerate() {
                if errors.has_failed(index) {
                    entities.insert(&workload.entities()[job.entity as usize]);
                }
            }
            // jobs without an entity have no name to give
            entities.retain(|name| !name.is_empty());
            if !entities.is_empty() {
                of = format!(", of {}", first_few_quoted(entities, MAX_NAMES));
            }
        }
        let predicate = format!(
            "fails for {}{of} ({}, first for `{}`); they {}",
            part_of_jobs(errors.jobs(), all),
            first.message,
            workload.id(first.job),
            consequence(errors, on_error, are_all)
        );
        Some(Self { predicate, are_all })
    }

    /// A clause about `subject`, such as `the new formula`.
    pub fn clause(&self, subject: &str) -> String {
        format!("{subject} {}", self.predicate)
    }
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
            "By the mean, 20 of 100 jobs (processors 5-16; 20.0 % of core hours) wait 1 d 6 h less (-1 d 16 h to -20 h), 80 of 100 jobs (entities `ada`, \
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
        assert_eq!(
            effect(&difference),
            "The change of the mean wait may be chance: 100 jobs wait 1 h 24 min more (-4 d 3 h to +4 d 5 h) on average."
        );
        difference.wait.blocks = 5;
        assert_eq!(
            effect(&difference),
            "The log is too short to tell an effect from chance: 100 jobs wait 1 h 24 min more on average."
        );
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
        assert_eq!(
            effect(&difference),
            "No class of jobs differs by more than chance from the others: 100 jobs wait 3 h more (+2 h to +4 h) on average."
        );
    }
}
