//! What several questions ask: the jobs of a queue, by their ids, entities and queues, and what is said
//! of names that none has; a log of jobs, how it is run through time, and the files of goals and wishes
//! about the result; and the parsers of values that several options take.

use std::collections::HashSet;
use std::fmt::Display;
use std::num::NonZeroU32;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use job_sort_formula::fairshare::{NodeId, ShareTree};
use job_sort_formula::jobs::{FoundJobs, UnknownJob};
use job_sort_formula::schema::suggestions::{MAX_COMPARED, did_you_mean};
use job_sort_formula::{Formula, JobTable};
use jsf_openpbs::amounts::NumberMode;
use jsf_openpbs::times::{parse_duration, seconds_of_date};
use jsf_simulate::{
    Backfill, Cancelled, Goals, LeftOutReason, LogRules, MAX_GOALS_BYTES, Overrun, ProcessorsOf,
    Workload,
};
use jsf_site::{FileSource, SimulationOptions, Site, SiteError, StartingUsage};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::answers::{AnswerError, Warnings};
use crate::view::words::{self, count};

/// Parses a name in a list, which blanks may surround.
pub(crate) fn listed_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("expected a name before and after each comma".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// A number within a range, which `expected` describes.
pub(crate) fn number_within<T: FromStr + PartialOrd>(
    text: &str,
    range: RangeInclusive<T>,
    expected: impl Display,
) -> Result<T, String> {
    match text.parse() {
        // no range contains a NaN, which Rust reads as a number too
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("expected {expected}")),
    }
}

/// Parses the number of jobs to show.
pub(crate) fn number_of_jobs(text: &str) -> Result<usize, String> {
    let expected = "the number of jobs to show, such as 10";
    number_within(text, 0..=usize::MAX, expected)
}

/// Parses the seed of random numbers.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    let expected = format!("a whole number from 0 to {}, such as 1", u64::MAX);
    number_within(text, 0..=u64::MAX, expected)
}

/// Parses a number of processors.
pub(crate) fn processors(text: &str) -> Result<NonZeroU32, String> {
    // a larger type tells a number out of range from what is no number
    let Ok(number) = text.parse::<i128>() else {
        return Err("expected a number of processors, such as 128".to_owned());
    };
    match text.parse() {
        Ok(processors) => Ok(processors),
        Err(_) if number < 1 => Err("`--processors` must be at least 1".to_owned()),
        Err(_) => Err(format!("`--processors` must be at most {}", u32::MAX)),
    }
}

/// Parses the interval of a decay.
fn decay_period(text: &str) -> Result<u64, String> {
    match parse_duration(text)? {
        0 => Err("expected at least a second".to_owned()),
        seconds => Ok(seconds),
    }
}

/// Parses the factor of a decay.
pub(crate) fn decay_factor(text: &str) -> Result<f64, String> {
    number_within(text, 0.0..=1.0, "a number from 0 to 1, such as 0.5")
}

/// Parses a time in seconds since 1970 or in ISO 8601.
pub(crate) fn moment(text: &str) -> Result<i64, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(seconds);
    }
    // before the other one, which would ignore an offset such as +01:00
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_second());
    }
    if let Ok(time) = text.parse::<DateTime>()
        && let Ok(time) = time.to_zoned(TimeZone::UTC)
    {
        return Ok(time.timestamp().as_second());
    }
    let expected = "expected seconds since 1970 or a time such as 2026-11-23T04:29:58Z, or what `date -u` prints";
    Ok(seconds_of_date(text).ok_or(expected)?)
}

/// A log of jobs, and how it is run through time.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default)]
pub struct LogOptions {
    /// A log of jobs, or a folder of logs
    ///
    /// Standard Workload Format, PBS accounting records, `qstat -x -f -F json`, `sacct -P`, the CSV
    /// of ALCF or NDJSON; repeat the option for several; - is standard input
    #[serde(deserialize_with = "one_or_many")]
    #[arg(long, alias = "log", value_name = "FILE")]
    pub workload: Vec<PathBuf>,
    /// Jobs of the log that were cancelled before they ran
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "HOW",
        help_heading = "The log"
    )]
    cancelled: Cancelled,
    /// Jobs of the log that ran longer than they asked for
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "HOW",
        help_heading = "The log"
    )]
    overrun: Overrun,
    /// Whose number of processors counts, where the log has both
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHOSE",
        help_heading = "The log"
    )]
    processors_of: ProcessorsOf,
    /// The number of processors of the machine
    ///
    /// As one pool [default: the site's nodes, else `MaxProcs` in the header of the log]
    #[arg(long, value_name = "N", value_parser = processors, allow_negative_numbers = true)]
    pub processors: Option<NonZeroU32>,
    /// Which jobs may start earlier
    ///
    /// Even though an earlier job does not fit [default: by strict_ordering and backfill_depth of
    /// the site; easy without a sched_config]
    #[arg(long, value_enum, value_name = "MODE")]
    backfill: Option<Backfill>,
    /// The interval of the decay of usage [default: as in the sched_config or the slurm.conf;
    /// without one, nothing decays]
    #[serde(deserialize_with = "decay_seconds")]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = decay_period, help_heading = "Context")]
    pub decay: Option<u64>,
    /// The factor of the decay, from 0 to 1 [default: as in the sched_config, else 0.5;
    /// --slurm-conf alone: its half-life, in steps of its PriorityCalcPeriod]
    #[serde(deserialize_with = "factor")]
    #[arg(long, value_name = "F", value_parser = decay_factor, allow_negative_numbers = true, help_heading = "Context")]
    pub decay_factor: Option<f64>,
    /// Leave out the jobs submitted before this time
    ///
    /// Seconds of the log's clock, or ISO 8601 [default: from when on the log is complete: one that
    /// is cut by the end of its jobs has only some of those submitted before its first end]
    #[arg(long, value_name = "TIME", value_parser = moment, allow_negative_numbers = true, help_heading = "The log")]
    from: Option<i64>,
    /// Leave out the jobs submitted at this time or later
    #[arg(long, value_name = "TIME", value_parser = moment, allow_negative_numbers = true, help_heading = "The log")]
    to: Option<i64>,
    /// Leave out the first jobs
    ///
    /// Those submitted within this time of the first, while the machine fills up, are not in the
    /// statistics [default: where usage starts fresh and decays, until the first decay, but at most
    /// half of the log; else 0]
    #[serde(deserialize_with = "seconds")]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_duration)]
    warm_up: Option<u64>,
}

impl LogOptions {
    /// What is made of the log.
    pub fn rules(&self) -> LogRules {
        LogRules {
            cancelled: self.cancelled,
            overrun: self.overrun,
            processors_of: self.processors_of,
            from: self.from,
            to: self.to,
            ..LogRules::default()
        }
    }

    /// How the log is run through time.
    pub fn simulation(&self, usage: StartingUsage) -> SimulationOptions {
        SimulationOptions {
            processors: self.processors.map(NonZeroU32::get),
            backfill: self.backfill,
            usage,
            decay_period: self.decay,
            decay_factor: self.decay_factor,
        }
    }

    /// The warm-up, if it is given.
    pub fn warm_up_seconds(&self) -> Option<i64> {
        let seconds = self.warm_up?;
        // so long a warm-up leaves no job, which is refused where the log is known
        Some(i64::try_from(seconds).unwrap_or(i64::MAX))
    }

    /// Reads the log with what the formulas and the conditions of the goals need, and the goals.
    ///
    /// # Errors
    /// The log or the goals cannot be read, or the log has nothing of what the goals name.
    pub fn open(
        &self,
        rules: LogRules,
        site: &Site,
        formulas: &[&Formula],
        goals: Option<&Path>,
        warnings: &mut Warnings,
    ) -> Result<(Workload, Option<Goals>), AnswerError> {
        require_doubles(site)?;
        if self.workload.is_empty() {
            let why = "`workload` is missing, expected the path of a log";
            return Err(AnswerError::question(why));
        }
        let goals = match goals {
            Some(path) => Some(read_goals(path, site)?),
            None => None,
        };
        let mut formulas = formulas.to_vec();
        formulas.extend(goals.iter().flat_map(Goals::conditions));
        let paths = self.workload.iter().cloned();
        let sources: Vec<FileSource> = paths.map(FileSource::from).collect();
        let workload = site.open_workload(&sources, &formulas, rules)?;
        if let Some(goals) = &goals {
            warnings.add(site.check_goals(goals, &workload)?);
        }
        warnings.add(workload.faults().messages());
        warnings.add(workload.notes.clone());
        Ok((workload, goals))
    }
}

/// Follows work on a log: it is told how much is done, and of how much, where that is known, and may
/// end the work.
pub type Watch<'a> = dyn Fn(Option<(usize, usize)>) -> ControlFlow<()> + Sync + 'a;

/// What is left out of a log, and which requested times are assumed, each under its heading;
/// `too_large` is how many jobs are larger than the machine.
pub(crate) fn left_out_and_assumed(
    workload: &Workload,
    too_large: usize,
) -> Vec<(&'static str, String)> {
    let left_out = workload
        .faults()
        .summary([(too_large, "larger than the machine")]);
    let mut told = Vec::new();
    for (heading, text) in [
        ("log", cut_by_end(workload)),
        ("left out", left_out),
        ("walltime", workload.assumed_walltimes.in_words()),
    ] {
        told.extend(text.map(|text| (heading, text)));
    }
    told
}

/// The same of a log whose jobs are not run yet, in sentences.
pub(crate) fn log_counts(workload: &Workload) -> Vec<String> {
    let counts = left_out_and_assumed(workload, 0).into_iter();
    counts
        .map(|(heading, text)| format!("{heading}: {text}"))
        .collect()
}

/// That a log is cut by the end of its jobs, and how many are left out for it; `None` for one that
/// is complete.
fn cut_by_end(workload: &Workload) -> Option<String> {
    let from = moment_of_log(workload.complete_from?);
    let jobs = count(workload.faults().of(LeftOutReason::Incomplete), "job");
    Some(format!(
        "cut by the end of its jobs, and complete from {from} on, its first end; {jobs} submitted before left out, as others of that \
         time are missing (--from TIME)"
    ))
}

/// Times before this one, of 1973, are those of a clock that begins with its log.
const LEAST_EPOCH: i64 = 100_000_000;

/// A time of the log's clock, which need not begin in 1970.
fn moment_of_log(seconds: i64) -> String {
    if seconds < LEAST_EPOCH {
        format!("second {seconds} of its clock")
    } else {
        words::moment(seconds)
    }
}

/// A path, or a list of paths.
fn one_or_many<'de, D: Deserializer<'de>>(given: D) -> Result<Vec<PathBuf>, D::Error> {
    // an untagged enum would say only that no variant matches, and not what is expected
    let given = match Value::deserialize(given)? {
        Value::Array(many) => many,
        one => vec![one],
    };
    let paths: Vec<String> = serde_json::from_value(given.into()).map_err(D::Error::custom)?;
    Ok(paths.into_iter().map(PathBuf::from).collect())
}

/// A number of seconds, or a duration such as `24h`.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(given: D) -> Result<Option<u64>, D::Error> {
    match Value::deserialize(given)? {
        Value::String(text) => parse_duration(&text).map(Some).map_err(D::Error::custom),
        number => serde_json::from_value(number).map_err(D::Error::custom),
    }
}

/// The interval of a decay.
fn decay_seconds<'de, D: Deserializer<'de>>(given: D) -> Result<Option<u64>, D::Error> {
    match seconds(given)? {
        Some(0) => Err(D::Error::custom("`decay` is 0, expected at least a second")),
        seconds => Ok(seconds),
    }
}

/// The factor of a decay.
fn factor<'de, D: Deserializer<'de>>(given: D) -> Result<Option<f64>, D::Error> {
    let factor = Option::deserialize(given)?;
    match factor {
        Some(factor) if !(0.0..=1.0).contains(&factor) => Err(D::Error::custom(format!(
            "`decay_factor` is {factor}, expected a number from 0 to 1"
        ))),
        factor => Ok(factor),
    }
}

/// Refuses numbers with which nothing is simulated.
pub(crate) fn require_doubles(site: &Site) -> Result<(), AnswerError> {
    match site.numbers() {
        NumberMode::Decimal => Err(AnswerError::question(
            "a simulation computes with doubles, not with decimals",
        )),
        _ => Ok(()),
    }
}

/// Reads the goals that simulations are judged by.
pub(crate) fn read_goals(path: &Path, site: &Site) -> Result<Goals, AnswerError> {
    let (name, text) = read_text(path, MAX_GOALS_BYTES)?;
    Goals::parse(&name, &text, site.schema()).map_err(|error| {
        AnswerError::question(match FileSource::description(text.as_bytes()) {
            Some(description) => format!("`{name}` {description}, expected goals as TOML"),
            None => error.to_string(),
        })
    })
}

/// The name and the text of a file of at most `limit` bytes, which is a part of a question.
///
/// # Errors
/// The file cannot be read, or is no text.
pub(crate) fn read_text(path: &Path, limit: usize) -> Result<(String, String), AnswerError> {
    let source = FileSource::Path(path.to_owned());
    let name = source.name();
    let bytes = match source.read_up_to(limit as u64) {
        Err(SiteError::Content(message)) => return Err(AnswerError::Question(message)),
        read => read?,
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(_) => Err(AnswerError::question(format!("`{name}` is not UTF-8 text"))),
    }
}

/// The most names that an error repeats, and for which similar ones are looked for.
pub(crate) const MAX_UNKNOWN: usize = 10;

/// The jobs that a question is about.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default)]
pub struct NamedJobs {
    /// The job, such as 12 or 12.vm
    ///
    /// With or without the server's name: 12 or 12.vm; an array is 12[], and a subjob has its index
    /// in the brackets; separate several by commas, or repeat the option
    #[serde(rename = "jobs")]
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = listed_name)]
    pub job: Vec<String>,
}

/// Whose jobs a question is about; those of all if nothing is given.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default)]
pub struct NamedEntities {
    /// Show only jobs of this entity
    ///
    /// The jobs of this fair-share entity, or of all entities below this group, with their places
    /// in the whole queue; separate several by commas, or repeat the option
    // users know their own name, and not what an entity is
    #[serde(rename = "entities")]
    #[arg(long, visible_alias = "user", value_name = "NAME", value_delimiter = ',', value_parser = listed_name)]
    pub entity: Vec<String>,
}

/// The queues whose jobs a question is about; all of them if nothing is given.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default)]
pub struct NamedQueues {
    /// Show only the jobs of this queue
    ///
    /// Separate several by commas, or repeat the option
    #[serde(rename = "queues")]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = listed_name)]
    pub queue_name: Vec<String>,
}

/// The rows of jobs, each once, in the order in which they are named; none if none is. Warns of
/// those that do not exist.
///
/// # Errors
/// None of them exists.
pub(crate) fn named_rows(
    named: &NamedJobs,
    site: &Site,
    table: &JobTable,
    warnings: &mut Warnings,
) -> Result<Vec<usize>, SiteError> {
    let ids = job_ids(&named.job, site);
    let FoundJobs { rows, unmatched } = table.find_all_jobs(&ids);
    let is_one = unmatched.len() == 1;
    let unmatched = unknown_job_sentences(&unmatched, is_one, site, table);
    if rows.is_empty() && !ids.is_empty() {
        return Err(unknown_jobs_error(unmatched));
    }
    warnings.add(unmatched);
    Ok(rows)
}

/// The rows of the jobs to show, in their order. Warns of what matches no job.
///
/// # Errors
/// None of the jobs, entities and queues of the filter exists.
pub(crate) fn selected_rows(
    filter: JobFilter<'_>,
    rows: Vec<usize>,
    site: &Site,
    table: &JobTable,
    warnings: &mut Warnings,
) -> Result<Vec<usize>, SiteError> {
    if filter.is_empty() {
        return Ok(rows);
    }
    let tree = match filter.entities {
        [] => None,
        _ => site.tree_of_jobs(table)?,
    };
    let jobs = job_ids(filter.jobs, site);
    let filter = JobFilter {
        jobs: &jobs,
        ..filter
    };
    let filtered = filter.select(rows, table, tree.as_ref());
    let is_one = filtered.unknown_jobs.len() + filtered.unmatched.len() == 1;
    let mut unmatched = unknown_job_sentences(&filtered.unknown_jobs, is_one, site, table);
    unmatched.extend(filtered.unmatched);
    if !filtered.has_known && !filter.queues.iter().any(|name| site.has_queue(name)) {
        return Err(unknown_jobs_error(unmatched));
    }
    warnings.add(unmatched);
    Ok(filtered.rows)
}

/// The ids as the jobs of the site have them.
fn job_ids(given: &[String], site: &Site) -> Vec<String> {
    given.iter().map(|id| site.job_id(id).to_owned()).collect()
}

/// What is said of ids that no job has: that the job has ended, or how jobs are called. `is_one`:
/// nothing else that was asked for is missing.
fn unknown_job_sentences(
    unknown: &[UnknownJob],
    is_one: bool,
    site: &Site,
    table: &JobTable,
) -> Vec<String> {
    let mut sentences = Vec::new();
    for job in unknown {
        let mut sentence = job.to_string();
        if let Some(ended) = site.ended_job(&job.id) {
            sentence = ended;
        } else if is_one && job.similar.is_empty() && !table.is_empty() {
            let jobs = count(table.len(), "job");
            sentence += &format!("; there are {jobs}, such as `{}`", table.id(0));
        }
        sentences.push(sentence);
    }
    sentences
}

/// The error if nothing that is asked for exists.
pub(crate) fn unknown_jobs_error(mut unknown: Vec<String>) -> SiteError {
    let more = unknown.len().saturating_sub(MAX_UNKNOWN);
    unknown.truncate(MAX_UNKNOWN);
    if more > 0 {
        unknown.push(format!("and {}", count(more, "more name")));
    }
    SiteError::Missing(unknown.join("; ").into())
}

/// What is said if each filter by itself matches a job, and no job matches them all.
pub(crate) const NO_MATCH: &str = "no job matches all of the filters";

/// The jobs to show; an empty list does not restrict them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct JobFilter<'a> {
    /// The ids, with or without the server: `12` or `12.vm`.
    pub(crate) jobs: &'a [String],
    /// The fair-share entities, or groups, which mean all entities in them.
    pub(crate) entities: &'a [String],
    /// The queues.
    pub(crate) queues: &'a [String],
}

/// The rows that a filter leaves.
#[derive(Debug, Clone)]
struct Filtered {
    /// The rows, in their order.
    rows: Vec<usize>,
    /// The ids that no job has.
    unknown_jobs: Vec<UnknownJob>,
    /// What else matches no job, and which names are similar, one sentence each.
    unmatched: Vec<String>,
    /// Whether a job, an entity or a queue of the filter exists, in the table or in the tree.
    has_known: bool,
}

impl JobFilter<'_> {
    /// Whether all jobs are shown.
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.entities.is_empty() && self.queues.is_empty()
    }

    /// Keeps the rows of the jobs to show; `tree` contains the groups.
    fn select(&self, mut rows: Vec<usize>, table: &JobTable, tree: Option<&ShareTree>) -> Filtered {
        let FoundJobs {
            rows: found,
            unmatched: unknown_jobs,
        } = table.find_all_jobs(self.jobs);
        let mut unmatched = Vec::new();
        let mut has_known = !found.is_empty();
        if !self.entities.is_empty() {
            let (wanted, is_known) =
                select_entities(self.entities, &rows, table, tree, &mut unmatched);
            has_known |= is_known;
            rows.retain(|&row| wanted[table.entity_index(row)]);
        }
        if !self.queues.is_empty() {
            let queues = table.queues().iter().map(|queue| &**queue);
            // sets, as a filter and a queue may have tens of thousands of names
            let known: HashSet<&str> = queues.clone().collect();
            let wanted: HashSet<&str> = self.queues.iter().map(String::as_str).collect();
            let mut unknown = 0;
            for name in self.queues {
                if known.contains(name.as_str()) {
                    has_known = true;
                } else {
                    let similar = did_you_mean(name, known_names(unknown, queues.clone()));
                    unmatched.push(format!("no job is in queue `{name}`{similar}"));
                    unknown += 1;
                }
            }
            rows.retain(|&row| wanted.contains(table.queue(row)));
        }
        if !self.jobs.is_empty() {
            let found = HashSet::<usize>::from_iter(found);
            rows.retain(|row| found.contains(row));
        }
        // otherwise it is said already why no job is shown
        let all_match = unknown_jobs.is_empty() && unmatched.is_empty();
        if rows.is_empty() && all_match && !self.is_empty() && !table.is_empty() {
            unmatched.push(NO_MATCH.to_owned());
        }
        Filtered {
            rows,
            unknown_jobs,
            unmatched,
            has_known,
        }
    }
}

/// Whether each entity of the table has one of the names, or is in a group of such a name; and
/// whether any of the names exists. Names that match no row are added to `unmatched`.
fn select_entities(
    names: &[String],
    rows: &[usize],
    table: &JobTable,
    tree: Option<&ShareTree>,
    unmatched: &mut Vec<String>,
) -> (Vec<bool>, bool) {
    let entities = table.entities();
    let known: HashSet<&str> = entities.iter().map(AsRef::as_ref).collect();
    // the entities that have rows, and the nodes that these are or are below, collected once: to
    // compare each name with each entity takes the product of their numbers
    let mut with_rows: HashSet<&str> = HashSet::new();
    with_rows.extend(rows.iter().map(|&row| table.entity(row)));
    let mut nodes_with_rows: HashSet<NodeId> = HashSet::new();
    for entity in &with_rows {
        nodes_with_rows.extend(paths_of(entity, tree));
    }
    let mut wanted: HashSet<&str> = HashSet::new();
    let mut wanted_nodes: HashSet<NodeId> = HashSet::new();
    let mut has_known = false;
    let mut unknown = 0;
    for name in names {
        if !wanted.insert(name) {
            continue;
        }
        let named = match tree {
            Some(tree) => tree.candidates(name),
            None => Vec::new(),
        };
        wanted_nodes.extend(&named);
        has_known |= known.contains(&**name) || !named.is_empty();
        if with_rows.contains(&**name) || named.iter().any(|node| nodes_with_rows.contains(node)) {
            continue;
        }
        if !named.is_empty() {
            unmatched.push(format!(
                "no job belongs to `{name}`, which is in the fair-share tree"
            ));
            continue;
        }
        let nodes = tree.into_iter().flat_map(node_names);
        let known = entities.iter().map(AsRef::as_ref).chain(nodes);
        let similar = did_you_mean(name, known_names(unknown, known));
        unmatched.push(format!(
            "no job belongs to an entity or a group `{name}`{similar}"
        ));
        unknown += 1;
    }
    let mut is_wanted = Vec::new();
    for entity in entities {
        let mut path = paths_of(entity, tree).into_iter();
        let is_below = path.any(|node| wanted_nodes.contains(&node));
        is_wanted.push(is_below || wanted.contains(&**entity));
    }
    (is_wanted, has_known)
}

fn node_names(tree: &ShareTree) -> impl Iterator<Item = &str> {
    tree.nodes().map(|node| tree.name(node))
}

/// The nodes that an entity may be, and those above them.
fn paths_of(entity: &str, tree: Option<&ShareTree>) -> Vec<NodeId> {
    let mut nodes = Vec::new();
    if let Some(tree) = tree {
        for node in tree.candidates(entity) {
            nodes.push(node);
            nodes.extend(tree.ancestors(node));
        }
    }
    nodes
}

/// The most unknown names for which similar ones are searched: each search compares all names.
const MAX_SUGGESTED: usize = 3;

/// The names that are compared with an unknown one, before which `number` others were unknown.
fn known_names<'a>(
    number: usize,
    names: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = &'a str> {
    let is_compared = number < MAX_SUGGESTED;
    let most = if is_compared { MAX_COMPARED } else { 0 };
    names.take(most)
}

#[cfg(test)]
mod tests {
    use std::iter;

    use job_sort_formula::fairshare::{Member, Naming, TreeBuilder};
    use job_sort_formula::jobs::Job;

    use super::*;

    /// Whether an entity has the name or is in a group of it, found by comparing it with every
    /// group.
    fn is_named(entity: &str, name: &str, tree: &ShareTree) -> bool {
        let groups = tree.candidates(name);
        let nodes = tree
            .candidates(entity)
            .into_iter()
            .flat_map(|node| iter::once(node).chain(tree.ancestors(node)));
        entity == name || nodes.into_iter().any(|node| groups.contains(&node))
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, below: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % below
        }

        fn names(&mut self, count: usize) -> Vec<String> {
            let names = (0..count).map(|_| match self.below(4) {
                0 => format!("n{}/n{}", self.below(8), self.below(8)),
                _ => format!("n{}", self.below(10)),
            });
            names.collect()
        }
    }

    fn table(entities: &[String]) -> (JobTable, Vec<usize>) {
        let mut table = JobTable::new([""; 0]);
        for (row, entity) in entities.iter().enumerate() {
            table
                .push(
                    &Job {
                        id: &format!("{row}.vm"),
                        entity,
                        ..Job::default()
                    },
                    &[],
                )
                .expect("a new id");
        }
        (table, (0..entities.len()).collect())
    }

    #[test]
    fn many_names_select_as_each_by_itself() {
        let mut random = Random(1);
        for _ in 0..200 {
            let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
            let mut groups = vec![builder.root()];
            for _ in 0..15 {
                let parent = groups[random.below(groups.len())];
                let name = format!("n{}", random.below(8));
                if random.below(2) == 0 {
                    groups.extend(builder.add(parent, Member::group(name)));
                } else {
                    // a group may have the name already
                    let _ = builder.add(parent, Member::entity(name));
                }
            }
            let tree = builder.finish();
            let entities = random.names(6);
            let names = random.names(4);
            let (table, mut rows) = table(&entities);
            rows.retain(|_| random.below(4) > 0);
            let filter = JobFilter {
                entities: &names,
                ..JobFilter::default()
            };
            let Filtered {
                rows: found,
                unmatched,
                has_known,
                ..
            } = filter.select(rows.clone(), &table, Some(&tree));
            let wanted = rows.iter().copied().filter(|row| {
                names
                    .iter()
                    .any(|name| is_named(table.entity(*row), name, &tree))
            });
            assert_eq!(found, wanted.collect::<Vec<_>>(), "{names:?}");
            let without_jobs: HashSet<&String> = names
                .iter()
                .filter(|name| {
                    rows.iter()
                        .all(|row| !is_named(table.entity(*row), name, &tree))
                })
                .collect();
            assert_eq!(unmatched.len(), without_jobs.len(), "{unmatched:?}");
            let exist = names
                .iter()
                .any(|name| entities.contains(name) || !tree.candidates(name).is_empty());
            assert_eq!(has_known, exist, "{names:?}");
            for name in without_jobs {
                assert!(
                    unmatched
                        .iter()
                        .any(|one| one.contains(&format!("`{name}`"))),
                    "{name}: {unmatched:?}"
                );
            }
        }
    }

    #[test]
    fn tens_of_thousands_of_names_are_not_compared_with_every_entity() {
        let names: Vec<String> = (0..80_000).map(|number| format!("u{number}")).collect();
        let mut builder = TreeBuilder::new("root");
        for name in &names[..60_000] {
            builder
                .add(builder.root(), Member::entity(name.clone()))
                .expect("sound");
        }
        let tree = builder.finish();
        let (table, rows) = table(&names[..50_000]);
        let filter = JobFilter {
            entities: &names[40_000..],
            ..JobFilter::default()
        };
        let Filtered {
            rows, unmatched, ..
        } = filter.select(rows, &table, Some(&tree));
        assert_eq!((rows.len(), unmatched.len()), (10_000, 30_000));
        assert!(
            unmatched[0].ends_with("which is in the fair-share tree"),
            "{}",
            unmatched[0]
        );
    }
}
