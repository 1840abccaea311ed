//! What a formula and the conditions of goals are about, checked against the jobs of a log.

use job_sort_formula::diagnostic::{Code, Diagnostic, Severity};
use job_sort_formula::schema::suggestions::did_you_mean;
use job_sort_formula::{Formula, Value};
use jsf_lint::{Interval, Ranges, lint, lint_values};
use jsf_simulate::{Goal, Goals, Member, Workload, in_one_line};
use jsf_words::quoted_and_list_of_five;

use crate::cycle::PROCESSORS;
use crate::{Site, SiteError};

/// The codes of the findings about conditions with one outcome.
const CONDITIONS: [Code; 2] = [Code::DeadBranch, Code::ConstantComparison];

impl Site {
    /// The findings about the text of a formula and its names, and about conditions that have one
    /// outcome for all jobs of a workload.
    pub fn lint(&self, formula: &Formula, workload: &Workload) -> Vec<Diagnostic> {
        let expr = formula.expr();
        let mut findings = lint(expr, &self.schema);
        let without_ranges = lint_values(expr, &self.schema, &Ranges::default());
        for mut found in lint_values(expr, &self.schema, &self.ranges(formula, workload)) {
            let mut known = without_ranges.iter();
            if CONDITIONS.contains(&found.code)
                && !known.any(|known| (known.code, known.span) == (found.code, found.span))
            {
                found.message += " for the jobs of the log";
                findings.push(found);
            }
        }
        findings
    }

    /// Checks that a log has what goals are about. The warnings are of goals that are about no job
    /// of the log, which are neither met nor missed, and of conditions about what no job of the log
    /// has.
    ///
    /// # Errors
    /// No goal about some of the jobs has one: the goals are those of another site. Or a condition
    /// has a name that nothing declares and no job of the log has.
    pub fn check_goals(
        &self,
        goals: &Goals,
        workload: &Workload,
    ) -> Result<Vec<String>, SiteError> {
        for condition in goals.conditions() {
            for found in self.lint(condition, workload) {
                if found.severity == Severity::Error {
                    return Err(SiteError::content(format!(
                        "the condition `{}` of a goal: {}",
                        condition.text(),
                        in_one_line(&found)
                    )));
                }
            }
        }
        let mut reasons: Vec<String> = Vec::new();
        let mut conditional = 0;
        for goal in &goals.goals {
            if goal.condition.is_some() || goal.member.is_some() {
                conditional += 1;
                reasons.extend(no_job(goal, workload));
            }
        }
        let are_all_absent = conditional > 0 && reasons.len() == conditional;
        for goal in &goals.goals {
            reasons.extend(self.unknown_inputs(goal, workload));
        }
        if are_all_absent {
            return Err(SiteError::content(reasons.join("; ")));
        }
        Ok(reasons)
    }

    /// The warning that the condition of a goal is about what no job of a log says; `None` if the
    /// log has all of it.
    fn unknown_inputs(&self, goal: &Goal, workload: &Workload) -> Option<String> {
        let condition = &goal.condition.as_ref()?.formula;
        let mut unknown = Vec::new();
        for name in condition.names() {
            if [PROCESSORS, "walltime"].contains(&name) || self.schema.entry(name).is_none() {
                continue;
            }
            let amounts = workload.amounts_of(name).unwrap_or_default();
            if amounts.iter().all(|amount| *amount == 0.0) {
                unknown.push(name);
            }
        }
        if unknown.is_empty() {
            return None;
        }
        let values = quoted_and_list_of_five(unknown);
        let name = &goal.name;
        Some(format!(
            "the condition of the goal `{name}` is about {values}, which no job of the log has: it counts 0"
        ))
    }

    /// The ranges of the inputs of a formula over the jobs of a workload. What no job has, and what
    /// changes while jobs wait, has the range of the schema.
    fn ranges(&self, formula: &Formula, workload: &Workload) -> Ranges {
        let mut ranges = Ranges::default();
        let jobs = workload.jobs();
        let processors = jobs.iter().map(|job| Value::Int(job.processors.into()));
        ranges.observe(PROCESSORS, processors);
        let walltimes = jobs.iter().map(|job| Value::Int(job.walltime));
        ranges.observe("walltime", walltimes);
        for name in formula.names() {
            let Some(amounts) = workload.amounts_of(name) else {
                continue;
            };
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            for amount in amounts {
                least = least.min(amount);
                most = most.max(amount);
            }
            let kind = ranges.interval(name, &self.schema).kind();
            ranges.set(name, Interval::new(kind, least, most));
        }
        ranges
    }
}

/// That a goal is about no job of a workload; `None` if it is about some.
fn no_job(goal: &Goal, workload: &Workload) -> Option<String> {
    let mut jobs = workload.jobs().iter();
    if jobs.any(|job| goal.concerns(workload, job)) {
        return None;
    }
    let mut whose = String::new();
    let mut why = None;
    if let Some((member, of)) = &goal.member {
        let is_shown = !workload.is_anonymous() || *member == Member::Queue;
        let mut named = format!("its {member}");
        if is_shown {
            named = format!("the {member} `{of}`");
        }
        whose = format!(" of {named}");
        let mut names = member.names(workload).iter();
        if names.all(|name| **name != **of) {
            let names = member.names(workload).iter().filter(|_| is_shown);
            let similar = did_you_mean(of, names.map(|name| &**name));
            why = Some(format!("none has {named}{similar}"));
        }
    }
    let why = why.unwrap_or_else(|| match &goal.condition {
        Some(condition) => format!("`{}` holds for no job{whose}", condition.formula.text()),
        None => format!("there is no job{whose}"),
    });
    let name = &goal.name;
    Some(format!(
        "the goal `{name}` is about no job of the log: {why}"
    ))
}
