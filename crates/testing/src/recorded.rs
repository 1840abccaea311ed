//! The jobs, formulas and files that were recorded on an OpenPBS server, and what its scheduler did
//! with them.

use std::collections::BTreeMap;

use job_sort_formula::fairshare::PolicyRules;
use job_sort_formula::{JobTable, Schema, Value};
use jsf_ingest::{ParsedJobs, ReadOptions, read_jobs};
use jsf_openpbs::files::resources::add_resources;
use jsf_openpbs::{
    FairshareEntity, Objects, PbsTree, Queues, ResourceGroup, SchedConfig, UsageFile,
};
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
    let resourcedef = golden::text("openpbs/qstat/resourcedef");
    let objects = Objects::read_resourcedef(&resourcedef);
    assert_eq!(add_resources("resourcedef", &objects, &mut schema), [""; 0]);
    schema
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
