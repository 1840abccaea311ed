//! What is found about a formula on the jobs of a log, beside what is found on the formula alone.

use job_sort_formula::diagnostic::{Code, Diagnostic, Severity};
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::lint::{Interval, Ranges, lint, lint_values};
use job_sort_formula::python::Value;
use job_sort_formula::schema::suggestions::did_you_mean;
use jsf_openpbs::words::first_names;
use jsf_simulate::{Goal, Goals, Member, Workload, in_one_line};

use crate::next_cycle::node_pools::PROCESSORS;
use crate::{Site, SiteError};

/// The codes of the findings about conditions with one outcome.
const CONDITIONS: [Code; 2] = [Code::DeadBranch, Code::ConstantComparison];

impl Site {
    /// The findings about the text of a formula and its names, and about conditions that have one
    /// outcome for all jobs of a workload.
    pub fn lint(&self, formula: &Formula, workload: &Workload) -> Vec<Diagnostic> {
        let expr = formula.expr();
        let mut findings = lint(expr, &self.schema);
        let of_any_jobs = lint_values(expr, &self.schema, &Ranges::default());
        for mut found in lint_values(expr, &self.schema, &self.ranges(formula, workload)) {
            let mut known = of_any_jobs.iter();
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
        let mut of_some = 0;
        for goal in &goals.goals {
            if goal.is_of_some() {
                of_some += 1;
                reasons.extend(no_job(goal, workload));
            }
        }
        let are_all_absent = of_some > 0 && reasons.len() == of_some;
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
        let values = first_names(unknown);
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

    /// The queues of a workload that the site's documents do not list, in a warning. The
    /// queues have the numbers of their jobs.
    pub(crate) fn unlisted_queues(
        &self,
        workload: &Workload,
        queues: &[(&str, usize)],
    ) -> Option<String> {
        let mut unlisted = Vec::new();
        let mut jobs = 0;
        for &(queue, jobs_in) in queues {
            if !queue.is_empty() && jobs_in > 0 && !self.queues.contains(queue) {
                unlisted.push(queue);
                jobs += jobs_in;
            }
        }
        if jobs == 0 || self.queues.is_empty() {
            return None;
        }
        let names = first_names(unlisted);
        let all = workload.jobs().len();
        Some(format!(
            "queues of the log that the site does not have: {names} ({jobs} of {all} jobs); they have no limits here"
        ))
    }
}

/// That a goal is about no job of a workload; `None` if it is about some.
fn no_job(goal: &Goal, workload: &Workload) -> Option<String> {
    if goal.concerns_any(workload) {
        return None;
    }
    let whose = match &goal.member {
        Some((member, of)) if !workload.is_anonymous() || *member == Member::Queue => {
            format!(" of the {member} `{of}`")
        }
        Some((member, _)) => format!(" of its {member}"),
        None => String::new(),
    };
    let mut why = match &goal.condition {
        Some(condition) => format!("`{}` holds for no job{whose}", condition.formula.text()),
        None => format!("there is no job{whose}"),
    };
    if let Some((member, of)) = &goal.member
        && member.index(of, workload).is_none()
    {
        let names = member.names(workload).iter();
        why = if workload.is_anonymous() && *member != Member::Queue {
            format!("none has its {member}")
        } else {
            let similar = did_you_mean(of, names.map(|name| &**name));
            format!("none has the {member} `{of}`{similar}")
        };
    }
    let name = &goal.name;
    Some(format!(
        "the goal `{name}` is about no job of the log: {why}"
    ))
}
