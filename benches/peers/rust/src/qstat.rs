//! The least that a reader of `qstat -f -F json` in serde_json can do: the members that ALCF's
//! formula needs, typed, into a list, on one thread. It computes nothing.

use std::error::Error;
use std::fmt;
use std::fs;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

#[derive(Deserialize)]
struct Document<'d> {
    #[serde(rename = "Jobs", borrow)]
    jobs: Jobs<'d>,
}

/// The jobs with their ids, in the order of the document.
struct Jobs<'d>(Vec<(&'d str, Job<'d>)>);

#[derive(Deserialize)]
#[allow(dead_code, reason = "read, and not used further")]
struct Job<'d> {
    eligible_time: &'d str,
    #[serde(rename = "Resource_List", borrow)]
    resources: Resources<'d>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "read, and not used further")]
struct Resources<'d> {
    walltime: &'d str,
    base_score: f64,
    score_boost: f64,
    enable_wfp: f64,
    wfp_factor: f64,
    project_priority: f64,
    nodect: f64,
    total_cpus: f64,
    enable_backfill: f64,
    backfill_max: f64,
    backfill_factor: f64,
    enable_fifo: f64,
    fifo_factor: f64,
}

impl<'all: 'd, 'd> Deserialize<'all> for Jobs<'d> {
    fn deserialize<D: Deserializer<'all>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(IntoList)
    }
}

struct IntoList;

impl<'d> Visitor<'d> for IntoList {
    type Value = Jobs<'d>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("jobs by their ids")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Jobs<'d>, A::Error> {
        let mut jobs = Vec::new();
        while let Some(entry) = map.next_entry()? {
            jobs.push(entry);
        }
        Ok(Jobs(jobs))
    }
}

/// How many jobs a document has.
pub fn read(file: &str) -> Result<usize, Box<dyn Error>> {
    let text = fs::read(file)?;
    let document: Document<'_> = serde_json::from_slice(&text)?;
    Ok(document.jobs.0.len())
}
