//! A site of a few files in a temporary folder, on which the command is run.

use std::process::Output;

use serde_json::{Value, json};

use crate::command::jsf;

pub struct SmallSite {
    folder: tempfile::TempDir,
}

impl SmallSite {
    /// A folder with files of these names and contents.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        files.iter().for_each(|(name, text)| {
            std::fs::write(folder.path().join(name), text).expect("a file")
        });
        Self { folder }
    }

    /// Runs a command on the site.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let site = self.folder.path().to_str().expect("UTF-8");
        jsf(&[arguments, &["--site", site]].concat())
    }

    /// The JSON of a call, whatever its exit code.
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        crate::command::json(&self.run(&[arguments, &["--format", "json"]].concat()))
    }

    /// The findings of a check of the formula with this code, each as its message.
    #[track_caller]
    pub fn findings(&self, formula: &str, code: &str) -> Vec<String> {
        let checked = self.json(&["check", formula]);
        let findings = checked["findings"].as_array().expect("findings").iter();
        let wanted = findings.filter(|found| found["code"] == *code);
        wanted
            .map(|found| found["message"].as_str().expect("a message").to_owned())
            .collect()
    }
}

/// A document of qstat with these jobs: each an id, a queue, a state, its `Resource_List` and other
/// attributes.
pub fn qstat(jobs: &[(&str, &str, &str, Value, Value)]) -> String {
    let entries = jobs.iter().map(|(id, queue, state, resources, others)| {
        let mut job = json!({
            "Job_Owner": "ann@host", "euser": "ann", "queue": queue, "job_state": state, "Resource_List": resources,
        });
        if let (Value::Object(job), Value::Object(others)) = (&mut job, others) {
            job.extend(others.clone());
        }
        (format!("{id}.vm"), job)
    });
    json!({"timestamp": 1_700_000_000, "pbs_version": "23.06.06", "Jobs": entries.collect::<serde_json::Map<_, _>>()})
        .to_string()
}
