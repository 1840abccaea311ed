//! Goals: service levels that a schedule is judged by, read from TOML.

use std::collections::BTreeSet;
use std::fmt;

use job_sort_formula::diagnostic::Severity;
use job_sort_formula::{Diagnostic, Formula, Program, Schema, Value};
use jsf_lint::lint;
use jsf_openpbs::times::parse_duration;
use serde::{Deserialize, Serialize, Serializer};
use thiserror::Error;
use toml::Spanned;

use super::statistics::{Distribution, percentile};
use crate::results::Statistics;
use crate::schedule::Schedule;
use crate::workload::{Workload, WorkloadJob};

/// The longest file of goals, in bytes.
pub const MAX_GOALS_BYTES: usize = 1 << 20;

/// A file of goals.
///
/// ```
/// use jsf_simulate::Goals;
/// use job_sort_formula::Schema;
///
/// let text = "[[goal]]\nname = \"short jobs start soon\"\njobs = \"walltime <= 3600\"\nmeasure = \"wait\"\n\
///     statistic = \"p95\"\nat_most = \"1h\"\n";
/// let goals = Goals::parse("goals.toml", text, &Schema::openpbs())?;
/// assert_eq!(goals.goals[0].name, "short jobs start soon");
/// # Ok::<(), jsf_simulate::GoalsError>(())
/// ```
#[derive(Debug)]
pub struct Goals {
    /// The goals, in the order of the file.
    pub goals: Vec<Goal>,
    /// What a fit makes as small or as large as it can, once the goals are met.
    pub objective: Option<Objective>,
}

/// A goal.
#[derive(Debug)]
pub struct Goal {
    /// Its name.
    pub name: String,
    /// The condition on the jobs; `None`: all jobs.
    pub condition: Option<Condition>,
    /// The name of the queue, the entity or the group of the jobs.
    pub member: Option<(Member, String)>,
    /// What is measured.
    pub measure: Measure,
    /// The limit.
    pub limit: Limit,
}

/// A condition on jobs in the language of formulas.
#[derive(Debug)]
pub struct Condition {
    /// The condition.
    pub formula: Formula,
    program: Program,
}

/// What the jobs of a goal have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Member {
    /// The queue.
    Queue,
    /// The fair-share entity.
    Entity,
    /// The group or account.
    Group,
}

/// What a goal measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// A statistic over the jobs.
    OfJobs(JobMeasure, Statistic),
    /// One number of the whole run.
    OfRun(RunMeasure),
}

/// A number that each job has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobMeasure {
    /// The seconds from submission to start.
    Wait,
    /// `max(1, (wait + run) / max(run, 10 s))`.
    BoundedSlowdown,
    /// The seconds from submission to end.
    Turnaround,
}

/// A statistic over jobs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The value in the middle, or the mean of the two there.
    Median,
    /// The least value that this percentage of the jobs does not exceed, 1..=100.
    Percentile(u8),
    /// The fraction of the jobs whose value is at most this, 0..=1.
    Within(f64),
}

/// One number of a whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunMeasure {
    /// The fraction of the processors in use, 0..=1.
    Utilisation,
    /// Jain's index of used by promised processor time, 0..=1.
    Jain,
    /// The Hoover index of used and promised processor time, 0..=1.
    Hoover,
    /// The seconds from the first submission to the last end.
    Makespan,
    /// The mean number of waiting jobs.
    MeanQueue,
}

/// The limit of a goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Whether the value is to be at most the limit, else at least.
    pub is_most: bool,
    /// The number; seconds for a duration.
    pub number: f64,
    /// Whether it is that many times the value of the old side of a comparison.
    is_of_old: bool,
}

/// What a fit makes as small or as large as it can.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    /// Its words, such as `mean bounded_slowdown`.
    pub name: String,
    /// What is measured.
    pub measure: Measure,
    /// Whether it is to be as small as possible, else as large.
    pub is_minimised: bool,
}

/// A goal judged by a schedule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedGoal {
    /// The name of the goal.
    pub name: String,
    /// What is measured.
    pub measure: Measure,
    /// The number of jobs that it is about.
    pub jobs: usize,
    /// How many of them never start, although the machine is large enough for each.
    pub never_start: usize,
    /// The value; infinite where jobs that never start decide it, `None` without a job, or without
    /// shares for an index of fairness.
    pub value: Option<f64>,
    /// Whether the value is to be at most the limit, else at least.
    #[serde(skip)]
    pub is_most: bool,
    /// The limit; `None` if it refers to an old side that there is not.
    pub limit: Option<f64>,
    /// Whether the goal is met.
    #[serde(rename = "met")]
    pub state: GoalState,
}

impl JudgedGoal {
    /// Whether the goal is met, which one about no job is not.
    pub fn is_met(&self) -> bool {
        self.state == GoalState::Met
    }

    /// Whether the goal is missed, which one about no job is not.
    pub fn is_missed(&self) -> bool {
        self.state == GoalState::Missed
    }

    /// By how much it is met, as a fraction of the limit; negative if it is missed, `None` if it
    /// cannot be judged.
    pub fn margin(&self) -> Option<f64> {
        let (value, limit) = (self.value?, self.limit?);
        // jobs that never start meet no limit, be it a least wait
        if value.is_infinite() {
            return Some(f64::NEG_INFINITY);
        }
        // a limit of 0 has no fractions
        let unit = if limit == 0.0 { 1.0 } else { limit.abs() };
        let within = if self.is_most {
            limit - value
        } else {
            value - limit
        };
        Some(within / unit)
    }

    /// By how much it is missed, as a fraction of the limit.
    pub fn missed(&self) -> f64 {
        self.margin().map_or(0.0, |margin| (-margin).max(0.0))
    }
}

/// Whether a goal is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GoalState {
    /// The value is not within the limit.
    Missed,
    /// The goal is about no job, so that there is nothing to judge.
    NoJobs,
    /// The limit refers to the old side of a comparison, and only one formula was simulated.
    NoOldSide,
    /// The value is within the limit.
    Met,
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for GoalState {
    /// Whether the goal is met; null if it cannot be judged.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.met().serialize(serializer)
    }
}

impl GoalState {
    /// Whether the goal is met; `None` if it cannot be judged.
    pub fn met(self) -> Option<bool> {
        match self {
            Self::Missed => Some(false),
            Self::NoJobs | Self::NoOldSide => None,
            Self::Met => Some(true),
        }
    }
}

/// A file of goals that cannot be read.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct GoalsError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    goal: Vec<Spanned<GoalTable>>,
    objective: Option<Spanned<ObjectiveTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GoalTable {
    name: String,
    jobs: Option<Spanned<String>>,
    queue: Option<String>,
    entity: Option<String>,
    group: Option<String>,
    measure: Spanned<String>,
    statistic: Option<Spanned<Given>>,
    at_most: Option<Spanned<Given>>,
    at_least: Option<Spanned<Given>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ObjectiveTable {
    minimise: Option<Spanned<String>>,
    maximise: Option<Spanned<String>>,
}

/// What is given for a statistic or a limit.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number, a duration or { old = 1.1 }; for a statistic, its name or { within = \"1h\" }"
)]
enum Given {
    Integer(i64),
    Float(f64),
    Text(String),
    Within { within: Box<Self> },
    OfOld { old: f64 },
}

/// The range of bytes of an item in the file.
type Span = std::ops::Range<usize>;
/// What is wrong, and where.
type Fault = (Span, String);

/// The fault of a message at a place.
fn at(span: Span) -> impl FnOnce(String) -> Fault {
    |message| (span, message)
}

impl GoalsError {
    /// The error of a fault in a file with a name and a text.
    fn at_line(name: &str, text: &str, (span, message): Fault) -> Self {
        let before = text.get(..span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        Self(format!("`{name}`, line {line}: {message}"))
    }
}

impl Goals {
    /// Reads goals from TOML. `name` is the file's name in messages, and conditions use the names
    /// of `schema`.
    ///
    /// # Errors
    /// The text is not TOML, has an unknown key, or a value that is not what the key expects: says
    /// the line and what is expected.
    pub fn parse(name: &str, text: &str, schema: &Schema) -> Result<Self, GoalsError> {
        let file: File = match toml::from_str(text) {
            Ok(file) => file,
            Err(error) => {
                let mut message = error.message().trim_end().replace('\n', ", ");
                if text.lines().any(|line| line.trim() == "[goal]") {
                    message += "; write `[[goal]]`, as there can be several";
                }
                let span = error.span().unwrap_or_default();
                return Err(GoalsError::at_line(name, text, (span, message)));
            }
        };
        if file.goal.is_empty() && file.objective.is_none() {
            return Err(GoalsError(format!(
                "`{name}` has no goal: expected at least one `[[goal]]`"
            )));
        }
        Self::of_file(file, schema).map_err(|fault| GoalsError::at_line(name, text, fault))
    }

    fn of_file(file: File, schema: &Schema) -> Result<Self, Fault> {
        let mut names = BTreeSet::new();
        for goal in &file.goal {
            // nobody could tell which one is missed
            let name = &goal.get_ref().name;
            if !names.insert(name) {
                return Err((goal.span(), format!("there are several goals `{name}`")));
            }
        }
        let mut goals = Vec::new();
        for goal in file.goal {
            goals.push(goal_of(goal, schema)?);
        }
        let objective = file.objective.map(objective_of).transpose()?;
        Ok(Self { goals, objective })
    }

    /// The conditions, whose names a log is read for.
    pub fn conditions(&self) -> impl Iterator<Item = &Formula> {
        self.goals
            .iter()
            .filter_map(|goal| Some(&goal.condition.as_ref()?.formula))
    }

    /// Whether a goal or the objective is one number of the whole run, and not only of jobs.
    pub fn measure_runs(&self) -> bool {
        matches!(&self.objective, Some(objective) if objective.measure.is_of_run())
            || self.goals.iter().any(|goal| goal.measure.is_of_run())
    }

    /// Judges a schedule. `old` are the values of the old side of a comparison, goal by goal; empty
    /// without one.
    pub fn judge(&self, run: &JudgedRun<'_>, old: &[JudgedGoal]) -> Vec<JudgedGoal> {
        let mut judged = Vec::new();
        for (index, goal) in self.goals.iter().enumerate() {
            let old = old.get(index).and_then(|old| old.value);
            judged.push(goal.judge(run, old));
        }
        judged
    }
}

/// A run of a workload that goals judge.
#[derive(Debug, Clone, Copy)]
pub struct JudgedRun<'a> {
    /// The jobs.
    pub workload: &'a Workload,
    /// When they start.
    pub schedule: &'a Schedule,
    /// What the schedule says of the whole run.
    pub statistics: &'a Statistics,
}

/// The value of a measure.
struct Measured {
    /// The number of jobs that it is about.
    jobs: usize,
    /// How many of them never start.
    never_start: usize,
    value: Option<f64>,
}

impl JudgedRun<'_> {
    /// The value of a measure, and of how many jobs it is: those of the goal, or all.
    fn measured(&self, measure: Measure, goal: Option<&Goal>) -> Measured {
        let workload = self.workload;
        let is_concerned = |job: usize| {
            let job = &workload.jobs()[job];
            goal.is_none_or(|goal| goal.concerns(workload, job))
        };
        let counted = workload.after_warm_up(self.statistics.warm_up);
        let mut never_start = 0;
        for job in self.schedule.never_start() {
            never_start += usize::from(counted.contains(&job) && is_concerned(job));
        }
        match measure {
            Measure::OfRun(measure) => {
                let is_of_end = matches!(measure, RunMeasure::Makespan | RunMeasure::MeanQueue);
                // the queue never empties, and the last job never ends
                let value = if is_of_end && never_start > 0 {
                    Some(f64::INFINITY)
                } else {
                    self.of_run(measure)
                };
                Measured {
                    jobs: self.statistics.summary.jobs + never_start,
                    never_start,
                    value,
                }
            }
            Measure::OfJobs(measure, statistic) => {
                let mut values = Vec::new();
                for job in counted {
                    if is_concerned(job) {
                        values.extend(self.of_job(measure, job));
                    }
                }
                // a job that never starts waits longer than any limit
                values.resize(values.len() + never_start, f64::INFINITY);
                Measured {
                    jobs: values.len(),
                    never_start,
                    value: statistic.of(&mut values),
                }
            }
        }
    }

    pub(super) fn of_run(&self, measure: RunMeasure) -> Option<f64> {
        let fairness = self.statistics.fairness.as_ref();
        let summary = &self.statistics.summary;
        match measure {
            RunMeasure::Utilisation => Some(summary.utilisation),
            RunMeasure::Makespan => Some(summary.makespan as f64),
            RunMeasure::MeanQueue => Some(summary.mean_queue),
            RunMeasure::Jain => fairness?.jain,
            // where nothing is used, nothing is used by others
            RunMeasure::Hoover => summary.if_any(fairness?.hoover),
        }
    }

    pub(super) fn of_job(&self, measure: JobMeasure, job: usize) -> Option<f64> {
        let started = self.schedule.started(self.workload, job)?;
        Some(match measure {
            JobMeasure::Wait => started.wait() as f64,
            JobMeasure::BoundedSlowdown => started.slowdown(),
            JobMeasure::Turnaround => (started.end() - started.job.submit) as f64,
        })
    }

    /// The value of an objective.
    pub fn objective(&self, objective: &Objective) -> Option<f64> {
        self.measured(objective.measure, None).value
    }
}

impl Statistic {
    /// The statistic of some values; `None` of none.
    pub(super) fn of(self, values: &mut [f64]) -> Option<f64> {
        if values.is_empty() {
            return None;
        }
        Some(match self {
            Self::Mean => Distribution::new(values).mean,
            Self::Median => Distribution::new(values).median,
            Self::Within(limit) => {
                values.iter().filter(|value| **value <= limit).count() as f64 / values.len() as f64
            }
            Self::Percentile(percentage) => {
                values.sort_unstable_by(f64::total_cmp);
                percentile(values, percentage.into())
            }
        })
    }
}

impl Goal {
    fn judge(&self, run: &JudgedRun<'_>, old: Option<f64>) -> JudgedGoal {
        let Measured {
            jobs,
            never_start,
            value,
        } = run.measured(self.measure, Some(self));
        let Limit {
            is_most,
            number,
            is_of_old,
        } = self.limit;
        let limit = if is_of_old {
            old.map(|old| old * number)
        } else {
            Some(number)
        };
        let state = match (value, limit) {
            // first, because a measure of no jobs has no value to compare
            _ if jobs == 0 => GoalState::NoJobs,
            (_, None) => GoalState::NoOldSide,
            // jobs that never start meet no limit, not even a multiple of what the old formula does
            (Some(value), _) if value.is_infinite() => GoalState::Missed,
            (Some(value), Some(limit)) if is_most && value <= limit => GoalState::Met,
            (Some(value), Some(limit)) if !is_most && value >= limit => GoalState::Met,
            // an index of fairness needs shares
            _ => GoalState::Missed,
        };
        JudgedGoal {
            name: self.name.clone(),
            measure: self.measure,
            jobs,
            never_start,
            value,
            is_most,
            limit,
            state,
        }
    }

    /// Whether the goal is about a job of a workload.
    pub fn concerns(&self, workload: &Workload, job: &WorkloadJob) -> bool {
        if let Some((member, name)) = &self.member
            && *member.names(workload)[member.index_of(job)] != **name
        {
            return false;
        }
        match &self.condition {
            Some(condition) => condition.holds(workload, job),
            None => true,
        }
    }
}

impl Member {
    fn index_of(self, job: &WorkloadJob) -> usize {
        let index = match self {
            Self::Queue => job.queue,
            Self::Entity => job.entity,
            Self::Group => job.group,
        };
        index as usize
    }

    /// The names in the log; those of an anonymous log are not to be shown, except those of its
    /// queues.
    pub fn names(self, workload: &Workload) -> &[Box<str>] {
        match self {
            Self::Queue => workload.queues(),
            Self::Entity => &workload.names_in_log().entities,
            Self::Group => &workload.names_in_log().groups,
        }
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queue => "queue",
            Self::Entity => "entity",
            Self::Group => "group",
        })
    }
}

impl Condition {
    fn parse(text: &str, schema: &Schema) -> Result<Self, String> {
        let formula = Formula::parse(text)
            .map_err(|error| format!("the condition `{text}` is not valid: {error}"))?;
        let error = match formula.compile(schema) {
            Ok(program) => return Ok(Self { formula, program }),
            Err(error) => error,
        };
        let mut reason = error.to_string();
        for found in lint(formula.expr(), schema) {
            if found.severity == Severity::Error {
                reason = in_one_line(&found);
                break;
            }
        }
        Err(format!("the condition `{text}`: {reason}"))
    }

    /// Whether it holds for a job. It does not where Python raises an exception.
    fn holds(&self, workload: &Workload, job: &WorkloadJob) -> bool {
        let mut inputs = Vec::new();
        for name in self.program.inputs() {
            inputs.push(match &**name {
                "ncpus" => Value::Int(job.processors.into()),
                "walltime" => Value::Int(job.walltime),
                name => workload.amount(job, name),
            });
        }
        match self.program.evaluate(&inputs) {
            Ok(value) => !matches!(value.to_f64(), None | Some(0.0)),
            Err(_) => false,
        }
    }
}

/// A finding about a condition with what it suggests.
pub fn in_one_line(found: &Diagnostic) -> String {
    if found.label.is_empty() {
        return found.message.clone();
    }
    format!("{}; {}", found.message, found.label)
}

fn goal_of(goal: Spanned<GoalTable>, schema: &Schema) -> Result<Goal, Fault> {
    let whole = goal.span();
    let table = goal.into_inner();
    let name = table.name;
    let condition = match table.jobs {
        Some(jobs) => Some(Condition::parse(jobs.get_ref(), schema).map_err(at(jobs.span()))?),
        None => None,
    };
    let mut member = None;
    for (kind, named) in [
        (Member::Queue, table.queue),
        (Member::Entity, table.entity),
        (Member::Group, table.group),
    ] {
        if let Some(named) = named
            && member.replace((kind, named)).is_some()
        {
            let message =
                format!("goal `{name}` has several of `queue`, `entity` and `group`: give one");
            return Err((whole, message));
        }
    }
    let measure = measure_of(&table.measure, table.statistic.as_ref())?;
    if measure.is_of_run() && (condition.is_some() || member.is_some()) {
        let message = format!("goal `{name}` measures the whole run, which is not of some jobs");
        return Err((whole, message));
    }
    let (is_most, limit) = match (table.at_most, table.at_least) {
        (Some(limit), None) => (true, limit),
        (None, Some(limit)) => (false, limit),
        _ => {
            let message = format!("goal `{name}` needs one limit: `at_most` or `at_least`");
            return Err((whole, message));
        }
    };
    let span = limit.span();
    let (number, is_of_old) = match limit.into_inner() {
        Given::OfOld { old } if old.is_finite() => (old, true),
        given => (given.value_of(measure).map_err(at(span))?, false),
    };
    Ok(Goal {
        name,
        condition,
        member,
        measure,
        limit: Limit {
            is_most,
            number,
            is_of_old,
        },
    })
}

/// The measure of a name and, for one of jobs, a statistic.
fn measure_of(
    name: &Spanned<String>,
    statistic: Option<&Spanned<Given>>,
) -> Result<Measure, Fault> {
    let (span, name) = (name.span(), name.get_ref());
    if let Some(measure) = named(&RUN_MEASURES, name) {
        return match statistic {
            Some(statistic) => {
                let message = format!("`{name}` is one number, without a statistic");
                Err((statistic.span(), message))
            }
            None => Ok(Measure::OfRun(measure)),
        };
    }
    let Some(of_jobs) = named(&JOB_MEASURES, name) else {
        let message = format!(
            "`{name}` is not a measure, expected wait, bounded_slowdown, turnaround, utilisation, jain, hoover, makespan or \
             mean_queue"
        );
        return Err((span, message));
    };
    let Some(statistic) = statistic else {
        let message = format!("`{name}` needs a `statistic`, such as \"mean\" or \"p95\"");
        return Err((span, message));
    };
    let parsed = match statistic.get_ref() {
        // a limit of the values themselves, and not of a fraction of the jobs
        Given::Within { within } => within
            .value_of(Measure::OfJobs(of_jobs, Statistic::Mean))
            .map(Statistic::Within),
        Given::Text(name) => statistic_of(name),
        _ => Err(format!("expected {STATISTICS}")),
    };
    let statistic = parsed.map_err(at(statistic.span()))?;
    Ok(Measure::OfJobs(of_jobs, statistic))
}

const STATISTICS: &str = "mean, median, p1 to p100, max or { within = \"1h\" }";

fn statistic_of(name: &str) -> Result<Statistic, String> {
    match name {
        "mean" => return Ok(Statistic::Mean),
        "median" => return Ok(Statistic::Median),
        "max" => return Ok(Statistic::Percentile(100)),
        _ => {}
    }
    match name.strip_prefix('p').map(str::parse) {
        Some(Ok(percentage @ 1..=100)) => Ok(Statistic::Percentile(percentage)),
        _ => Err(format!(
            "`{name}` is not a statistic, expected {STATISTICS}"
        )),
    }
}

fn objective_of(objective: Spanned<ObjectiveTable>) -> Result<Objective, Fault> {
    let whole = objective.span();
    let ObjectiveTable { minimise, maximise } = objective.into_inner();
    let (is_minimised, text) = match (minimise, maximise) {
        (Some(text), None) => (true, text),
        (None, Some(text)) => (false, text),
        _ => {
            let message = "the objective needs one of `minimise` and `maximise`".to_owned();
            return Err((whole, message));
        }
    };
    let name = text.get_ref().trim().to_owned();
    let (mut statistic, mut measure) = (None, &*name);
    if let Some((first, rest)) = name.split_once(char::is_whitespace) {
        statistic = Some(Spanned::new(text.span(), Given::Text(first.to_owned())));
        measure = rest.trim();
    }
    let measure = Spanned::new(text.span(), measure.to_owned());
    let measure = measure_of(&measure, statistic.as_ref())?;
    Ok(Objective {
        name,
        measure,
        is_minimised,
    })
}

impl Given {
    /// The number as a limit of a measure: a text is a duration, which only a measure of time has.
    fn value_of(&self, measure: Measure) -> Result<f64, String> {
        let number = match self {
            Self::Integer(number) => *number as f64,
            Self::Float(number) => *number,
            Self::Text(text) if measure.is_duration() => parse_duration(text)? as f64,
            _ => f64::NAN,
        };
        let (is_right, expected) = if measure.is_fraction() {
            let is_fraction = (0.0..=1.0).contains(&number);
            (is_fraction, "a number from 0 to 1, such as 0.7")
        } else {
            let expected = "a number or { old = 1.1 }, and of a time a duration such as \"1h\"";
            (number.is_finite(), expected)
        };
        if is_right {
            return Ok(number);
        }
        let found = match self {
            Self::Text(text) => format!("`{text}`"),
            Self::Within { .. } | Self::OfOld { .. } => "a table".to_owned(),
            _ => number.to_string(),
        };
        Err(format!(
            "{found} is not a limit of {measure}, expected {expected}"
        ))
    }
}

/// The measures of jobs by their names; in sentences they have blanks.
const JOB_MEASURES: [(&str, JobMeasure); 3] = [
    ("wait", JobMeasure::Wait),
    ("bounded_slowdown", JobMeasure::BoundedSlowdown),
    ("turnaround", JobMeasure::Turnaround),
];
const RUN_MEASURES: [(&str, RunMeasure); 5] = [
    ("utilisation", RunMeasure::Utilisation),
    ("jain", RunMeasure::Jain),
    ("hoover", RunMeasure::Hoover),
    ("makespan", RunMeasure::Makespan),
    ("mean_queue", RunMeasure::MeanQueue),
];

/// What a table has under a name.
fn named<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    let (_, measure) = table.iter().find(|(known, _)| *known == name)?;
    Some(*measure)
}

/// The name of a measure in sentences.
fn words<T: PartialEq>(table: &[(&str, T)], measure: &T) -> String {
    for (name, known) in table {
        if known == measure {
            return name.replace('_', " ");
        }
    }
    String::new()
}

impl Measure {
    fn is_of_run(self) -> bool {
        matches!(self, Self::OfRun(_))
    }

    /// Whether its values are seconds.
    pub fn is_duration(self) -> bool {
        match self {
            Self::OfJobs(JobMeasure::BoundedSlowdown, _)
            | Self::OfJobs(_, Statistic::Within(_)) => false,
            Self::OfJobs(..) => true,
            Self::OfRun(measure) => measure == RunMeasure::Makespan,
        }
    }

    /// Whether it is a fact about all jobs of a log, as the longest wait is, and no estimate that
    /// another log would repeat by chance.
    pub fn is_of_each_job(self) -> bool {
        matches!(
            self,
            Self::OfJobs(_, Statistic::Percentile(100) | Statistic::Within(_))
        )
    }

    /// Whether its values are fractions, 0..=1.
    pub fn is_fraction(self) -> bool {
        match self {
            Self::OfJobs(_, statistic) => matches!(statistic, Statistic::Within(_)),
            Self::OfRun(measure) => matches!(
                measure,
                RunMeasure::Utilisation | RunMeasure::Jain | RunMeasure::Hoover
            ),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (of_jobs, statistic) = match self {
            Self::OfRun(measure) => return f.write_str(&words(&RUN_MEASURES, measure)),
            Self::OfJobs(measure, statistic) => (measure, statistic),
        };
        let measure = words(&JOB_MEASURES, of_jobs);
        match statistic {
            Statistic::Mean => write!(f, "mean {measure}"),
            Statistic::Median => write!(f, "median {measure}"),
            Statistic::Percentile(100) => write!(f, "longest {measure}"),
            Statistic::Percentile(percentage) => write!(f, "p{percentage} {measure}"),
            Statistic::Within(limit) if *of_jobs == JobMeasure::BoundedSlowdown => {
                write!(f, "{measure} within {limit}")
            }
            Statistic::Within(limit) => write!(f, "{measure} within {}", time_in_words(*limit)),
        }
    }
}

/// A time in the largest unit of which it is a multiple.
fn time_in_words(seconds: f64) -> String {
    for (unit, name) in [(86_400.0, "d"), (3600.0, "h"), (60.0, "min")] {
        if seconds > 0.0 && seconds % unit == 0.0 {
            return format!("{} {name}", seconds / unit);
        }
    }
    format!("{seconds} s")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identical_processors::identical_processors;
    use crate::{Backfill, LoggedJob, WorkloadBuilder, simulate};

    fn parse(text: &str) -> Result<Goals, String> {
        Goals::parse("goals.toml", text, &Schema::openpbs()).map_err(|error| error.to_string())
    }

    /// Four jobs of one processor that are submitted at once and run for 100 s each on one processor.
    fn judged(goals: &str) -> Vec<(usize, Option<f64>, Option<bool>)> {
        let mut builder = WorkloadBuilder::new();
        for (id, queue, walltime) in [
            ("1", "a", 100),
            ("2", "a", 200),
            ("3", "b", 300),
            ("4", "b", 400),
        ] {
            let job = LoggedJob {
                id,
                queue,
                run: 100,
                walltime: Some(walltime),
                processors: 1,
                ..LoggedJob::default()
            };
            builder.push(&job).unwrap();
        }
        let workload = builder.finish();
        let program = Formula::parse("eligible_time")
            .unwrap()
            .compile(&Schema::openpbs())
            .unwrap();
        let schedule = simulate(
            &program,
            &workload,
            identical_processors(&workload, 1, Backfill::Easy),
            None,
            &mut (),
        )
        .unwrap();
        let run = JudgedRun {
            workload: &workload,
            schedule: &schedule,
            statistics: &Statistics::new(&workload, &schedule, 1, 0),
        };
        let goals = parse(goals).unwrap();
        let judged = goals.judge(&run, &[]);
        // against the same run, every limit that refers to it is met or missed by its factor alone
        let again = goals.judge(&run, &judged);
        assert_eq!(
            judged.iter().map(|goal| goal.value).collect::<Vec<_>>(),
            again.iter().map(|goal| goal.value).collect::<Vec<_>>()
        );
        again
            .into_iter()
            .map(|goal| (goal.jobs, goal.value, goal.state.met()))
            .collect()
    }

    #[test]
    fn goals_are_judged_by_the_jobs_that_they_are_about() {
        let goals = "
        [[goal]]
        name = 'all'
        measure = 'wait'
        statistic = 'mean'
        at_most = '150s'
        [[goal]]
        name = 'short'
        jobs = 'walltime <= 200 and ncpus == 1'
        measure = 'wait'
        statistic = 'max'
        at_most = 99
        [[goal]]
        name = 'queue b'
        queue = 'b'
        measure = 'turnaround'
        statistic = 'p50'
        at_least = '00:05:00'
        [[goal]]
        name = 'soon'
        measure = 'wait'
        statistic = { within = '100s' }
        at_least = 0.5
        [[goal]]
        name = 'slowdown'
        measure = 'bounded_slowdown'
        statistic = 'median'
        at_most = { old = 0.9 }
        [[goal]]
        name = 'use'
        measure = 'utilisation'
        at_least = 1
        [[goal]]
        name = 'nobody'
        queue = 'c'
        measure = 'wait'
        statistic = 'max'
        at_most = 0
        [[goal]]
        name = 'no such job'
        jobs = 'walltime > 1e9'
        measure = 'wait'
        statistic = { within = '1h' }
        at_least = 1";
        let expected = [
            (4, Some(150.0), Some(true)),
            (2, Some(100.0), Some(false)),
            (2, Some(300.0), Some(true)),
            (4, Some(0.5), Some(true)),
            (4, Some(2.5), Some(false)),
            (4, Some(1.0), Some(true)),
            (0, None, None),
            (0, None, None),
        ];
        assert_eq!(judged(goals), expected);
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        let goal = |lines: &str| format!("[[goal]]\nname = 'x'\n{lines}\n");
        for (text, message) in [
            (
                String::new(),
                "`goals.toml` has no goal: expected at least one `[[goal]]`",
            ),
            (
                goal("measure = 'wait'\nstatistic = 'mean'"),
                "`goals.toml`, line 1: goal `x` needs one limit: `at_most` or `at_least`",
            ),
            (
                goal("measure = 'speed'\nat_most = 1"),
                "line 3: `speed` is not a measure, expected wait",
            ),
            (
                goal("measure = 'wait'\nat_most = 1"),
                "line 3: `wait` needs a `statistic`",
            ),
            (
                goal("measure = 'wait'\nstatistic = 'p0'\nat_most = 1"),
                "line 4: `p0` is not a statistic",
            ),
            (
                goal("measure = 'wait'\nstatistic = 'mean'\nat_most = 'soon'"),
                "line 5: `soon` is not a duration",
            ),
            (
                goal("measure = 'jain'\nstatistic = 'mean'\nat_most = 1"),
                "line 4: `jain` is one number, without a statistic",
            ),
            (
                goal("jobs = 'ncpus >'\nmeasure = 'wait'\nstatistic = 'mean'\nat_most = 1"),
                "line 3: the condition `ncpus >` is not valid",
            ),
            (
                goal("queue = 'a'\ngroup = 'b'\nmeasure = 'wait'\nstatistic = 'mean'\nat_most = 1"),
                "several of `queue`, `entity` and `group`",
            ),
            (
                goal("jobs = 'ncpus ? 2'\nmeasure = 'wait'\nstatistic = 'mean'\nat_most = 1"),
                "line 3: the condition `ncpus ? 2`",
            ),
            (
                goal("speed = 1\nmeasure = 'wait'\nstatistic = 'mean'\nat_most = 1"),
                "unknown field `speed`",
            ),
            (
                "[objective]\nminimise = 'wait'\n".to_owned(),
                "line 2: `wait` needs a `statistic`",
            ),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.contains(message), "{error}\n{message}");
        }
        let objective = parse("[objective]\nminimise = 'mean bounded_slowdown'\n")
            .unwrap()
            .objective
            .unwrap();
        assert_eq!(
            objective.measure,
            Measure::OfJobs(JobMeasure::BoundedSlowdown, Statistic::Mean)
        );
        assert!(objective.is_minimised);
    }

    #[test]
    fn a_margin_is_a_fraction_of_the_limit() {
        for (value, limit, is_most, margin) in [
            (90.0, 60.0, true, -0.5),
            (90.0, 60.0, false, 0.5),
            (3.0, 0.0, true, -3.0),
            (f64::INFINITY, 60.0, false, f64::NEG_INFINITY),
        ] {
            let goal = JudgedGoal {
                name: String::new(),
                measure: Measure::OfRun(RunMeasure::Makespan),
                jobs: 1,
                never_start: 0,
                value: Some(value),
                is_most,
                limit: Some(limit),
                state: GoalState::Missed,
            };
            assert_eq!(goal.margin(), Some(margin));
        }
    }
}
