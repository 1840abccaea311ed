//! `jsf simulate` of a log of `sacct` under the priority of a Slurm site.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::command::{jsf, json, stderr, stdout, success};

/// All four processors are held until 100 by job 1; each other job needs all of them.
const LOG: &str = "\
JobID|User|Account|Partition|QOS|Submit|Start|End|ElapsedRaw|Timelimit|ReqCPUS|ReqTRES|State
1|ann|a|low|plain|0|0|100|100|00:10:00|4|cpu=4,node=1|COMPLETED
2|ann|a|low|plain|10|100|200|100|00:10:00|4|cpu=4,node=1|COMPLETED
3|ann|a|low|high|20|200|300|100|00:10:00|4|cpu=4,node=1|COMPLETED
4|ann|a|low|urgent|30|300|350|50|00:10:00|4|cpu=4,node=1|COMPLETED
5|ann|a|top|plain|40|350|450|100|00:10:00|4|cpu=4,node=1|COMPLETED
";

/// The age of a job counts for 100 s, and the QOS `high` half as much as `urgent`.
fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        (
            "slurm.conf",
            "ClusterName=c\nPriorityType=priority/multifactor\nPriorityMaxAge=00:01:40\nPriorityWeightAge=200\n\
             PriorityWeightPartition=100\nPriorityWeightQOS=1000\nNodeName=n1 CPUs=4\n\
             PartitionName=low Nodes=n1 PriorityJobFactor=1\nPartitionName=top Nodes=n1 PriorityJobFactor=2\n",
        ),
        ("qos.txt", "Name|Priority\nplain|0\nhigh|100\nurgent|200\n"),
        ("sacct.txt", LOG),
    ] {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

fn simulate(folder: &Path, arguments: &[&str]) -> std::process::Output {
    let log = folder.join("sacct.txt");
    let [folder, log] = [folder, &log].map(|path| path.to_str().expect("UTF-8"));
    let command = ["simulate", "--site", folder, "--workload", log];
    jsf(&[&command, arguments].concat())
}

/// The jobs and their starts, in the order of these.
fn starts(output: &std::process::Output) -> Vec<(String, u32)> {
    let mut reader = csv::Reader::from_reader(output.stdout.as_slice());
    let rows = reader.records().map(|row| row.expect("a row"));
    let mut starts: Vec<(String, u32)> = rows
        .map(|row| (row[0].to_owned(), row[5].parse().expect("a time")))
        .collect();
    starts.sort_by_key(|(_, start)| *start);
    starts
}

fn expected(starts: [(&str, u32); 5]) -> Vec<(String, u32)> {
    starts.map(|(id, start)| (id.to_owned(), start)).to_vec()
}

#[test]
fn jobs_start_by_the_weights_of_the_site() {
    let site = site();
    let output = simulate(site.path(), &["--format", "csv"]);
    // at 100 the values of jobs 2 to 5 are 180 + 50, 160 + 50 + 500, 140 + 50 + 1000 and 120 + 100;
    // from 150 on all ages are 1, so that 5 comes before 2, which is older: 300 and 250
    let by_weights = [("1", 0), ("4", 100), ("3", 150), ("5", 250), ("2", 350)];
    assert_eq!(starts(&output), expected(by_weights), "{}", stderr(&output));
    let answer = json(&simulate(site.path(), &["--format", "json"]));
    assert_eq!(
        answer["processors"],
        serde_json::json!({"total": 4, "from": "nodes"})
    );
    let without = answer["without"].as_array().expect("a list");
    let what = without[0]["what"].as_str().expect("text");
    assert!(
        what.contains("limits of QOS") && without[0]["jobs"] == 5,
        "{what}"
    );
    let text = success(&simulate(site.path(), &[]));
    assert!(text.contains("does without the interval"), "{text}");
}

#[test]
fn weights_can_be_swept_in_a_formula() {
    let site = site();
    let formula = "{q}*qos_factor + 200*age_factor + 100*partition_factor";
    let sweep = ["--param", "q=0,1000", "--format", "json"];
    let answer = json(&simulate(site.path(), &[&[formula], &sweep[..]].concat()));
    let waits = answer["runs"].as_array().expect("a list").iter();
    let waits: Vec<&Value> = waits.map(|run| &run["wait"]["mean"]).collect();
    // without the QOS the jobs start as in the next test
    assert_eq!(waits, [180.0, 150.0]);
}

#[test]
fn a_missing_column_is_named_with_the_command_that_prints_it() {
    let site = site();
    let mut log = String::new();
    for line in LOG.lines() {
        let mut fields: Vec<&str> = line.split('|').collect();
        fields.remove(4);
        log += &(fields.join("|") + "\n");
    }
    fs::write(site.path().join("sacct.txt"), log).expect("written");
    let output = simulate(site.path(), &["--format", "csv"]);
    // at 100 job 2 has 230, job 5 220; from 200 on job 5 has 300, and jobs 3 and 4 have 250
    let without_qos = [("1", 0), ("2", 100), ("5", 200), ("3", 300), ("4", 400)];
    assert_eq!(
        starts(&output),
        expected(without_qos),
        "{}",
        stdout(&output)
    );
    let warning = "sacct.txt` has no column QOS, from which `qos_factor` follows: give what `sacct -a -P -X -o JobID,";
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
    let output = simulate(site.path(), &["age_factor", "--format", "csv"]);
    assert!(!stderr(&output).contains("column"), "{}", stderr(&output));
}
