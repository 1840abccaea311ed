//! The jobs, formulas and files that were recorded on an OpenPBS server, and what its scheduler did
//! with them.

use std::collections::BTreeMap;

use job_sort_formula::fairshare::PolicyRules;
use job_sort_formula::formula::program::Program;
use job_sort_formula::jobs::{Exclusion, Job, JobState, JobTable};
use job_sort_formula::rank::{OnError, ScorePrecision, Scores, score};
use job_sort_formula::{Schema, Value};
use jsf_ingest::{ParsedJobs, ReadOptions, read_jobs};
use jsf_openpbs::amounts::logged;
use jsf_openpbs::files::fairshare_files::{ResourceGroup, UsageFile};
use jsf_openpbs::files::objects::Objects;
use jsf_openpbs::files::queues::Queues;
use jsf_openpbs::files::sched_priv::SchedConfig;
use jsf_openpbs::files::server::add_resources;
use jsf_openpbs::job_attributes::FairshareEntity;
use jsf_openpbs::order::{NotConsidered, Ordered};
use jsf_openpbs::pbs_tree::PbsTree;
use serde::Deserialize;

use super::golden;

/// A job and the inputs that the scheduler passed to Python for it, each as its `repr`.
#[derive(Deserialize)]
pub struct RecordedJob {
    pub job: String,
    pub entity: String,
    pub invalid: Option<String>,
    pub scheduler_inputs: Option<BTreeMap<String, String>>,
    pub qstat: Option<Qstat>,
}

#[derive(Deserialize)]
pub struct Qstat {
    pub queue: String,
    pub job_state: String,
    pub queue_rank: f64,
}

/// A formula and the results of the scheduler by job.
#[derive(Deserialize)]
pub struct Record {
    pub formula: String,
    pub values: BTreeMap<String, String>,
    pub errors: BTreeMap<String, String>,
    pub order: Vec<String>,
    #[serde(default)]
    pub under_threshold: BTreeMap<String, String>,
    #[serde(default)]
    pub exact: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pub sched_crashed: Vec<String>,
}

/// The resources of the recorded server.
pub fn schema() -> Schema {
    let mut schema = Schema::openpbs();
    declare_all(&golden::text("openpbs/qstat/resourcedef"), &mut schema);
    schema
}

fn declare_all(resourcedef: &str, schema: &mut Schema) {
    let objects = Objects::read_resourcedef(resourcedef);
    assert_eq!(add_resources("resourcedef", &objects, schema), [""; 0]);
}

/// The files of the recorded server.
pub struct RecordedSite {
    pub schema: Schema,
    pub config: SchedConfig,
    pub queues: Queues,
}

impl RecordedSite {
    pub fn open() -> Self {
        let config = SchedConfig::parse(&golden::bytes("openpbs/qstat/sched_config"));
        assert_eq!(config.warnings, []);
        let document = golden::text("openpbs/qstat/qstat_Qf.json");
        Self {
            schema: schema(),
            config,
            queues: Queues::read("queues", &Objects::read(&document)).expect("queues"),
        }
    }

    /// Reads a document of jobs for a formula with these inputs.
    pub fn read_jobs(&self, document: &[u8], needed: &[&str]) -> ParsedJobs {
        let options = ReadOptions {
            entity: FairshareEntity::Account,
            queue_priorities: &self.queues.priorities(),
            ..ReadOptions::new(&self.schema, needed)
        };
        read_jobs(document, &options).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The fair-share tree, with the entities of these jobs.
    pub fn tree(&self, jobs: &JobTable) -> PbsTree {
        let entities = jobs.entities().iter().map(|entity| &**entity);
        tree("openpbs/qstat", "usage", &self.config, entities)
    }
}

/// The fair-share tree of a folder with a `resource_group` and a usage file of the given name.
pub fn tree<'a>(
    folder: &str,
    usage: &str,
    config: &SchedConfig,
    entities: impl IntoIterator<Item = &'a str>,
) -> PbsTree {
    let lines = ResourceGroup::parse(&golden::bytes(&format!("{folder}/resource_group")));
    let usage = UsageFile::parse(&golden::bytes(&format!("{folder}/{usage}")));
    let document = lines.document(Some(&usage), config.unknown_shares);
    PbsTree::build(&document, PolicyRules::Scheduler, entities).expect("small enough")
}

/// A resource of the site with a name that Python or the server's script uses, and the formulas
/// that were tried with it.
#[derive(Deserialize)]
pub struct NameClash {
    pub resource: String,
    #[serde(default)]
    pub formulas: Vec<ClashingFormula>,
}

#[derive(Deserialize)]
pub struct ClashingFormula {
    pub formula: String,
    pub set: ServerAnswer,
    /// `None` if the server refused the formula. A job without a value came after the scheduler's
    /// crash.
    pub values: Option<BTreeMap<String, Option<String>>>,
    pub errors: Option<BTreeMap<String, String>>,
    pub died: Option<bool>,
}

#[derive(Deserialize)]
pub struct ServerAnswer {
    #[serde(rename = "rc")]
    pub code: u32,
    #[serde(rename = "msg")]
    pub message: Option<String>,
}

/// The recorded formulas on resources whose names are taken.
pub fn name_clashes() -> Vec<NameClash> {
    let clashes: Vec<NameClash> = golden::lines("openpbs/evaluate/name_clash.jsonl");
    let formulas: usize = clashes.iter().map(|clash| clash.formulas.len()).sum();
    assert_eq!((clashes.len(), formulas), (25, 46));
    clashes
}

/// Adds a resource of integers as the server's file lists it, whatever its name.
pub fn declare(resource: &str, schema: &mut Schema) {
    declare_all(&format!("{resource} type=long"), schema);
}

/// The number with this `repr` in Python.
pub fn number(repr: &str) -> Value {
    if let Ok(int) = repr.parse() {
        return Value::Int(int);
    }
    let mut bytes = repr.bytes();
    if bytes.all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return Value::int(repr.parse().expect("digits are an integer of any size"));
    }
    match repr.parse() {
        Ok(float) => Value::Float(float),
        Err(_) => panic!("`{repr}` is not a number"),
    }
}

/// A table of the recorded jobs with these inputs.
pub fn table<'a>(jobs: &[RecordedJob], names: impl IntoIterator<Item = &'a str>) -> JobTable {
    table_without(jobs, names, |_| false)
}

/// The same, but the inputs for which `is_unset` holds are not set.
pub fn table_without<'a>(
    jobs: &[RecordedJob],
    names: impl IntoIterator<Item = &'a str>,
    is_unset: impl Fn(&str) -> bool,
) -> JobTable {
    let mut table = JobTable::new(names);
    let names: Vec<String> = table.columns().map(|(name, _)| name.to_owned()).collect();
    for recorded in jobs {
        let mut job = Job {
            id: &recorded.job,
            entity: &recorded.entity,
            ..Job::default()
        };
        if let Some(qstat) = &recorded.qstat {
            job.queue = &qstat.queue;
            job.state = JobState::from_letter(&qstat.job_state).unwrap_or_default();
            job.queued_at = Some(qstat.queue_rank as i64);
        }
        let is_invalid = recorded.scheduler_inputs.is_none();
        assert_eq!(is_invalid, recorded.invalid.is_some(), "{}", recorded.job);
        if is_invalid {
            job.exclusion = Some(Exclusion::Invalid {
                resource: String::new(),
                found: String::new(),
            });
        }
        let mut row = Vec::new();
        for name in &names {
            row.push(match &recorded.scheduler_inputs {
                Some(inputs) if !is_unset(name) => Ok(number(&inputs[name])),
                _ => Err(Value::Int(0)),
            });
        }
        table.push(&job, &row).expect("one input for each column");
    }
    table
}

/// The scores as OpenPBS computes them.
pub fn scores(program: &Program, table: &JobTable) -> Scores {
    score(
        program,
        table,
        ScorePrecision::Float32,
        OnError::ZeroLikePbs,
    )
}

/// The prefix of an error in the log. Some records have it, some only the text after it.
const LOG_PREFIX: &str = "Formula evaluation for job had an error.  Zero value will be used: ";

/// The differences between scores and a record: which jobs have a value, exact values, logged
/// values and errors.
pub fn differences(record: &Record, table: &JobTable, scores: &Scores) -> Vec<String> {
    let mut wrong = Vec::new();
    for row in 0..scores.len() {
        let job = table.id(row);
        let score = scores.get(row);
        let value = score.as_ref().map(|score| logged(score.value));
        let (mut exact, mut raised) = (None, None);
        match score.map(|score| score.unrounded) {
            Some(Ok(result)) => exact = Some(result.to_string()),
            Some(Err(error)) if !error.crashes_the_scheduler() => raised = Some(error.to_string()),
            _ => {}
        }
        let recorded = record.exact.as_ref().and_then(|exact| exact.get(job));
        let error = record.errors.get(job);
        let error = error.map(|text| text.strip_prefix(LOG_PREFIX).unwrap_or(text));
        if value.as_ref() != record.values.get(job) || raised.as_deref() != error {
            wrong.push(format!(
                "{job}: logged value and error are {value:?} {raised:?}, recorded {:?} {error:?}",
                record.values.get(job)
            ));
        }
        if exact.is_some() && recorded.is_some() && exact.as_ref() != recorded {
            wrong.push(format!(
                "{job}: exact value is {exact:?}, recorded {recorded:?}"
            ));
        }
    }
    wrong
}

/// The differences between an order and a record.
pub fn order_differences(record: &Record, table: &JobTable, ordered: &Ordered) -> Vec<String> {
    let order = ordered.ranking.order().iter();
    let ours: Vec<&str> = order.map(|&row| table.id(row)).collect();
    let mut passed = BTreeMap::new();
    for (row, why) in &ordered.not_considered {
        if *why != NotConsidered::NoShares {
            passed.insert(table.id(*row).to_owned(), why.to_string());
        }
    }
    let mut wrong = Vec::new();
    if ours != record.order {
        wrong.push(format!(
            "order is\n  {ours:?}, recorded\n  {:?}",
            record.order
        ));
    }
    if passed != record.under_threshold {
        wrong.push(format!(
            "under the threshold are {passed:?}, recorded {:?}",
            record.under_threshold
        ));
    }
    wrong
}

/// A usage file of version 2 as the scheduler writes it: the time of the last decay in Unix
/// seconds, and for each record the name of an entity, which is truncated to 49 bytes, and its
/// usage.
pub fn encode_usage_file<'a>(
    last_decay: i64,
    records: impl Iterator<Item = (&'a str, f64)>,
) -> Vec<u8> {
    // a struct of C as it is in memory, with padding before each double
    let mut file = [
        &b"PBS_MAG!\0"[..],
        &[0; 7],
        &2f64.to_le_bytes(),
        &last_decay.to_le_bytes(),
    ]
    .concat();
    for (name, usage) in records {
        let mut field: Vec<u8> = name.bytes().take(49).collect();
        field.resize(56, 0);
        file.extend([&field[..], &usage.to_le_bytes()].concat());
    }
    file
}
