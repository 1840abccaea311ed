//! A simulated queue for people, under one formula or under two: the answer, and what makes it
//! believable.
//!
//! The answer names the classes of jobs that wait less or more under the new formula, with their
//! part of the jobs and of the core hours, as far as that is more than chance, and the jobs for
//! which a formula fails. The numbers are in the tables below it.

use std::collections::BTreeSet;
use std::ptr;

use job_sort_formula::diagnostic::Code;
use job_sort_formula::fairshare::PolicyRules;
use job_sort_formula::rank::{Consequence, OldNew, OnError};
use jsf_openpbs::check::{Checked, Verdict};
use jsf_simulate::{
    Decay, Difference, EvaluationErrors, GroupDifference, MeanChange, Preemptions, SHAKE_SECONDS,
    Shake, Validation, Workload,
};
use jsf_site::{PolicyName, SimulatedQueue};

use crate::asked_formula::AskedFormula;
use crate::commands::simulate::SimulationAnswer;
use crate::commands::simulate::simulated_log::SimulatedSide;
use crate::commands::simulate::wait_tables::{
    all_jobs_section, class_sections, difference_sections, jobs_section, periods_section,
    shares_section, start_values_section,
};
use crate::questions::log::left_out_and_assumed;
use crate::view::document::{Document, Fact, Section};
use crate::view::facts::{facts_of, without_most, without_words};
use crate::view::findings::{brief_findings, drawn_findings_of_sides};
use crate::view::goals::{goals_section, unmet};
use crate::view::verdict::verdict_sentence;
use crate::view::words::{
    capitalised, count, duration, first_few, first_few_quoted, grouped_count, grouped_number,
    part_of_jobs, percent, rough_duration, signed_rough_duration, signed_significant, significant,
    waiting_time,
};

/// What becomes of the answer where the waits of the log are others than those of the formula.
pub(crate) const DOUBT: &str = "The log's waits are not those under the formula in force in this model: unless another one was in \
                                force, take the answer as a hypothesis.";

impl SimulationAnswer<'_> {
    /// What people see of it.
    pub(crate) fn shown(&self) -> Document<'_> {
        let (sides, first) = (self.sides(), self.first());
        let have_waits = sides.iter().all(|side| self.has_waits(side));
        let formulas = OldNew::new(&first.given, &self.new.given).map(AskedFormula::text);
        let mut sections = vec![Section::formulas(formulas.old, formulas.new)];
        if let Some(checked) = self.log.checked(&self.new) {
            let old = self
                .change
                .as_ref()
                .and_then(|(old, _)| self.log.checked(old));
            sections.extend(brief_findings(checked, old));
        }
        let mut warnings = self.warnings();
        for side in &sides {
            if self.is_mended(side) {
                warnings.extend(self.failing_clause(side));
            }
        }
        if !warnings.is_empty() {
            sections.push(Section::new("warnings").list(warnings));
        }
        let mut checked = Vec::new();
        for side in &sides {
            checked.extend(
                self.log
                    .checked(side)
                    .map(|checked| (&side.given.source, checked)),
            );
        }
        sections.extend(drawn_findings_of_sides(checked));
        if have_waits {
            sections.extend(self.wait_sections());
        }
        Document {
            command: "jsf simulate",
            title: self.title(),
            headline: self.headline(),
            facts: self.facts(have_waits),
            sections,
            read_on: "--report FILE.html",
        }
    }

    /// The sections about waits.
    fn wait_sections(&self) -> Vec<Section<'_>> {
        let (sides, first) = (self.sides(), self.first());
        let goals = OldNew::new(&*first.goals, &*self.new.goals);
        let mut sections = Vec::from_iter(goals_section(goals));
        let difference = self.change.as_ref().map(|(_, change)| &change.schedules);
        sections.push(all_jobs_section(&sides, difference));
        match &self.change {
            None => sections.extend(class_sections(first)),
            // the means of different jobs are not compared
            Some((_, change)) if change.schedules.is_of_same_jobs() => {
                sections.extend(difference_sections(change));
            }
            Some(_) => {}
        }
        sections.push(start_values_section(&self.new));
        sections.push(periods_section(&sides));
        sections.extend(shares_section(&sides));
        sections.push(jobs_section(self));
        sections
    }

    /// What the formula of a side is called.
    fn name(&self, side: &SimulatedSide) -> &'static str {
        match &self.change {
            None => "the formula",
            Some((old, _)) if ptr::eq(old, side) => "the old formula",
            Some(_) => "the new formula",
        }
    }

    /// Whether the waits under a formula say anything: a formula that the scheduler cannot work
    /// with, or that fails for all jobs, leaves them in the order of their submission.
    fn has_waits(&self, side: &SimulatedSide) -> bool {
        let fails_for_all = matches!(&side.failing, Some(failing) if failing.are_all);
        !fails_for_all && !self.log.checked(side).is_some_and(is_fatal)
    }

    /// The warnings about the simulations, those that only one of two has after what its formula is
    /// called.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let sides = self.sides();
        let mut warnings = Vec::new();
        for side in &sides {
            for text in &side.simulated.warnings {
                let mut others = sides.iter();
                let is_shared = others.all(|other| other.simulated.warnings.contains(text));
                let warning = if is_shared {
                    text.clone()
                } else {
                    format!("under {}: {text}", self.name(side))
                };
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        warnings
    }

    /// What was simulated: how much of a log, on which machine.
    fn title(&self) -> String {
        let workload = &self.log.workload;
        // of the submissions: how long the last jobs run depends on the formula
        let last = workload.jobs().last().map_or(0, |job| job.submit);
        let log = rough_duration((last - workload.begin(0)) as f64);
        let processors = self.first().simulated.processors.total;
        format!(
            "job_sort_formula: waits over {log} of the log, {}",
            count(processors as usize, "processor")
        )
    }

    /// The rules, those of both sides together, then what was made of the log.
    fn facts(&self, have_waits: bool) -> Vec<Fact> {
        let first = self.first();
        let mut facts = self.rules(&self.new);
        if let Some((old, _)) = &self.change {
            facts = Fact::of_sides(&self.rules(old), &facts);
        }
        // without backfilling, a job that never fits would hold back all others for ever
        let too_large = first.simulated.schedule.too_large.len();
        for (heading, text) in left_out_and_assumed(&self.log.workload, too_large) {
            facts.push(Fact::new(heading, text));
        }
        let cut = self.cut(first);
        if cut.jobs > 0 {
            let part = cut.core_seconds as f64 / cut.all_core_seconds.max(1) as f64;
            let text = format!(
                "{} at the requested time, by {} core hours ({})",
                count(cut.jobs, "run"),
                significant(cut.core_seconds as f64 / 3600.0),
                percent(part)
            );
            facts.push(Fact::new("cut", text));
        }
        if have_waits {
            facts.extend(self.validation.as_ref().map(validation_fact));
        }
        if let Some(shake) = &self.shake {
            facts.push(match self.change {
                Some(_) => shaken_fact(shake, signed_rough_duration, signed_significant),
                None => shaken_fact(shake, duration, significant),
            });
        }
        facts
    }

    /// The rules of a simulation, of which those that make it believable are on the first screen,
    /// and the machine unless its size was given.
    fn rules(&self, side: &SimulatedSide) -> Vec<Fact> {
        let site = self.log.site;
        let simulated = &side.simulated;
        let machine = Fact::new("machine", machine_in_words(simulated));
        let mut facts = vec![
            Fact::new("formula", side.given.text().trim_end()),
            machine.in_full_if(simulated.processors.are_given()),
        ];
        if let Some(policy) = simulated.policy {
            let whose = match self.log.question.rules {
                PolicyRules::Documented => "the published document",
                PolicyRules::Scheduler => "the daemon",
            };
            let decay = decay_in_words(simulated.decay);
            // what `fairshare_factor` is depends on the policy: the first screen names one of Slurm
            let text = format!(
                "policy {} by the rules of {whose} (--rules); {decay}",
                policy.as_str()
            );
            facts.push(Fact::new("fair share", text).in_full_if(policy == PolicyName::Pbs));
        }
        if self.log.warm_up > 0 {
            facts.push(Fact::new("warm-up", self.warm_up_in_words()));
        }
        facts.extend(facts_of(&Vec::from_iter(site.python_rule())));
        if !simulated.left_out.is_empty() {
            facts.push(Fact::new("without", without_words(&simulated.left_out)).in_full());
        }
        if let Some(preemptions) = &simulated.schedule.preemptions {
            facts.push(Fact::new("preemption", preemptions_in_words(preemptions)));
        }
        if !simulated.limits.is_empty() {
            let limits = format!("running jobs of {}", simulated.limits.join(", "));
            facts.push(Fact::new("limits", limits).in_full());
        }
        facts
    }

    /// Which of the first jobs do not count.
    fn warm_up_in_words(&self) -> String {
        let log = &self.log;
        let reason = if log.is_until_decay {
            ", until usage decays"
        } else {
            ""
        };
        let jobs = self.new.statistics.warm_up_jobs;
        format!(
            "{jobs} jobs of the first {} are left out{reason} (--warm-up)",
            waiting_time(log.warm_up)
        )
    }

    /// The verdicts on the formulas, then the goals, then the answer, if the waits say anything.
    fn headline(&self) -> String {
        let sides = self.sides();
        let mut sentences = Vec::new();
        for side in sides.iter().rev() {
            sentences.extend(self.fatal_verdict(side));
        }
        if sentences.is_empty() {
            for side in sides.iter().rev() {
                sentences.extend(self.failure_sentences(side));
            }
        }
        // the waits under a formula that is refused are not its own
        if self.fatal_verdict(&self.new).is_none() {
            sentences.extend(self.goals_sentences());
        }
        if sides.iter().all(|side| self.has_waits(side)) {
            match &self.change {
                Some((_, change)) => sentences.extend(self.change_sentences(&change.schedules)),
                None => sentences.push(sentence(&self.new)),
            }
            // what the simulation does without, if that concerns more than a tenth of the jobs
            let left_out = &self.first().simulated.left_out;
            if let Some(names) = without_most(left_out, self.log.workload.jobs().len()) {
                sentences.push(format!("The simulation does without {names}."));
            }
        }
        sentences.join(" ")
    }

    /// The verdict on a formula that the scheduler cannot work with; `None` for one that works for
    /// some jobs.
    fn fatal_verdict(&self, side: &SimulatedSide) -> Option<String> {
        let checked = self.log.checked(side).filter(|checked| is_fatal(checked))?;
        verdict_sentence(checked, self.name(side))
    }

    /// How many jobs never start, for which jobs the formula fails, and whether it orders any.
    fn failure_sentences(&self, side: &SimulatedSide) -> Vec<String> {
        let formula = self.name(side);
        let mut sentences = Vec::new();
        let never = side.never_start();
        if never > 0 {
            let never = grouped_number(never);
            let all = grouped_count(self.log.workload.jobs().len(), "job");
            sentences.push(format!("{never} of {all} never start under {formula}."));
        }
        if let Some(clause) = self.failing_clause(side)
            && !self.is_mended(side)
        {
            sentences.push(capitalised(&format!("{clause}.")));
        }
        let mut findings = self
            .log
            .checked(side)
            .into_iter()
            .flat_map(|one| &one.findings);
        if findings.any(|found| found.code == Code::ConstantValue) {
            sentences.push(capitalised(&format!(
                "{formula} orders nothing: this is the order of submission."
            )));
        }
        sentences
    }

    /// Whether a formula is the old one and works for some jobs: the new one may mend it, so for
    /// which jobs it fails is no part of the answer.
    fn is_mended(&self, side: &SimulatedSide) -> bool {
        !ptr::eq(side, &self.new) && self.has_waits(side)
    }

    /// For which jobs the formula of a side fails; `None` if it works for all.
    pub(crate) fn failing_clause(&self, side: &SimulatedSide) -> Option<String> {
        let failing = side.failing.as_ref()?;
        Some(format!("{} {}", self.name(side), failing.predicate))
    }

    /// Why the goals prove nothing, and those that are not met.
    fn goals_sentences(&self) -> Vec<String> {
        let goals = &self.new.goals;
        let mut sentences = Vec::new();
        let mut doubt = None;
        if self.sides().iter().all(|side| self.has_no_waits(side)) {
            doubt = Some("hardly any job waits");
        } else if let Some((_, change)) = &self.change {
            // that jobs never start is no matter of chance
            let is_of_chance = self.new.never_start() == 0 && change.schedules.is_of_same_jobs();
            if is_of_chance && change.schedules.wait.interval().is_none() {
                doubt = Some("the log is too short");
            }
        }
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

    /// The effect, and why it may be another one.
    fn change_sentences(&self, schedules: &Difference) -> Vec<String> {
        let mut sentences = vec![effect(schedules)];
        if let Some(shake) = &self.shake
            && schedules.is_of_same_jobs()
            && shake.wait.is_larger_than(schedules.wait.difference())
        {
            sentences.push(format!(
                "With submissions moved by up to {SHAKE_SECONDS} s, the change is {} to {}: seconds may decide this.",
                signed_rough_duration(shake.wait.low),
                signed_rough_duration(shake.wait.high)
            ));
        }
        if matches!(&self.validation, Some(validation) if validation.is_doubtful()) {
            sentences.push(DOUBT.to_owned());
        }
        sentences
    }
}

/// Whether the scheduler cannot work with a formula, so that no waits are shown.
pub(crate) fn is_fatal(checked: &Checked) -> bool {
    matches!(
        checked.verdict,
        Verdict::Refused | Verdict::Crashes | Verdict::CrashesAtStart { .. }
    )
}

/// How often jobs gave way, and what was lost by it.
fn preemptions_in_words(preemptions: &Preemptions) -> String {
    let Preemptions {
        suspended,
        requeued,
        deleted,
        lost_core_seconds,
    } = preemptions;
    let hours = significant(*lost_core_seconds as f64 / 3600.0);
    format!(
        "jobs suspended {suspended} times, requeued {requeued}, deleted {deleted}; {hours} core hours lost"
    )
}

/// The size of the machine with where it is from, and what a cycle starts.
fn machine_in_words(simulated: &SimulatedQueue) -> String {
    let processors = count(simulated.processors.total as usize, "processor");
    let source = if simulated.processors.are_given() {
        String::new()
    } else {
        let source = simulated.processors.source_in_words();
        format!(" {source} (--processors)")
    };
    let placed = match simulated.placed {
        0 => String::new(),
        placed => format!(", chunks of {} on hosts", count(placed, "job")),
    };
    format!("{processors}{source}{placed}, {}", simulated.backfilling)
}

/// The time after which half of the usage is left, or less where the first step leaves less.
fn decay_in_words(decay: Option<Decay>) -> String {
    let Some(Decay { period, factor }) = decay else {
        return "usage does not decay".to_owned();
    };
    let steps = (0.5_f64.ln() / factor.ln()).max(1.0);
    match period as f64 * steps {
        half_life if half_life.is_finite() => format!("half-life {}", duration(half_life)),
        // by the factor 1
        _ => "usage does not decay".to_owned(),
    }
}

/// The answer for one formula, in one sentence.
fn sentence(side: &SimulatedSide) -> String {
    let summary = &side.statistics.summary;
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

/// The jobs for which a formula fails.
#[derive(Debug, Clone)]
pub(crate) struct FailingJobs {
    /// What follows what the formula is called.
    predicate: String,
    /// Whether the formula fails for every job.
    pub(crate) are_all: bool,
}

impl FailingJobs {
    /// The jobs for which a formula fails; `None` if there are none.
    pub(crate) fn new(
        workload: &Workload,
        errors: &EvaluationErrors,
        on_error: OnError,
    ) -> Option<Self> {
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
