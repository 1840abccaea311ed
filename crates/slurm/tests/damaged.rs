//! What Slurm's tools print, cut, joined and damaged as people hand it over.

use jsf_slurm::read_tree;
use jsf_slurm::slurm_jobs::SlurmJobs;
use jsf_slurm::sprio::Sprio;
use jsf_testing::golden;

fn jobs(text: &str) -> (Vec<String>, Vec<String>) {
    match SlurmJobs::read("jobs", text) {
        Ok(read) => (
            read.jobs.into_iter().map(|job| job.id).collect(),
            read.warnings,
        ),
        Err(error) => (Vec::new(), vec![error]),
    }
}

const RECORD: &str = "JobId=1 JobName=a\n   UserId=ada(1) Account=chem QOS=normal\n   JobState=PENDING Priority=7\n   \
                      Partition=main NumCPUs=4\n";

#[test]
fn a_record_that_reaches_the_texts_of_the_user_is_whole() {
    let whole = format!("{RECORD}   Command=(null)\n   WorkDir=/tmp\n");
    assert_eq!(jobs(&whole), (vec!["1".to_owned()], Vec::new()));
    let (ids, warnings) = jobs(RECORD);
    assert_eq!(ids, [""; 0]);
    assert!(warnings[0].contains("the file ends within the record of job `1`"));
}

#[test]
fn the_part_of_the_largest_priority_is_no_fault() {
    let header = "JOBID|USER|ACCOUNT|PARTITION|QOS|STATE|PRIORITY|TRES_ALLOC|\n";
    let (ids, warnings) = jobs(&format!(
        "{header}8|ada|chem|main|normal|PENDING|0.00000123000000|cpu=1|\n"
    ));
    assert_eq!((ids.len(), warnings.len()), (1, 0), "{warnings:?}");
    let (_, warnings) = jobs(&format!(
        "{header}8|ada|chem|main|normal|PENDING|12x|cpu=1|\n"
    ));
    assert!(
        warnings[0].contains("`PRIORITY` of job `8` is `12x`"),
        "{warnings:?}"
    );
}

#[test]
fn json_has_numbers_without_flags_and_no_key_twice() {
    let job = |members: &str| {
        format!(
            "{{\"jobs\":[{{\"job_id\":1,\"job_state\":\"PENDING\",\"user_name\":\"ada\"{members}}}]}}"
        )
    };
    let read = SlurmJobs::read("jobs", &job(",\"cpus\":{\"number\":4}")).expect("jobs");
    assert_eq!(read.jobs[0].cpus, 4);
    let (ids, warnings) = jobs(&job(",\"nice\":1,\"nice\":2"));
    assert_eq!(ids, [""; 0]);
    assert!(warnings[0].contains("it has `nice` twice"), "{warnings:?}");
}

#[test]
fn a_nice_without_its_sign_is_one_of_json_alone() {
    let nice = |text: &str| {
        let read = SlurmJobs::read("jobs", text).expect("jobs");
        (read.jobs[0].nice, read.warnings)
    };
    let json =
        r#"{"jobs":[{"job_id":1,"job_state":"PENDING","user_name":"ada","nice":4294967286}]}"#;
    assert_eq!(nice(json), (-10, Vec::new()));
    let printed = |nice: &str| {
        RECORD.replace("QOS=normal", &format!("QOS=normal Nice={nice}")) + "   WorkDir=/tmp\n"
    };
    assert_eq!(nice(&printed("-10")), (-10, Vec::new()));
    let (number, warnings) = nice(&printed("4294967295"));
    assert_eq!(number, 0);
    assert!(
        warnings[0].contains("`Nice` of job `1` is `4294967295`"),
        "{warnings:?}"
    );
}

#[test]
fn only_the_cluster_of_the_first_table_is_read() {
    let file = golden::path("slurm/files/t01a_doc_defaultroot/ft.sshare_a_l_P.txt");
    let table = std::fs::read_to_string(file).expect("a recorded file");
    let alone = read_tree("tree", table.as_bytes()).expect("a tree");
    let both = format!("{table}CLUSTER: b\n{table}");
    let first = read_tree("tree", both.as_bytes()).expect("a tree");
    assert_eq!(alone.document.nodes, first.document.nodes);
    assert_eq!(first.warnings.len(), alone.warnings.len() + 1);
}

#[test]
fn an_association_in_json_says_what_it_is() {
    let text = "{\"shares\":{\"shares\":[{\"name\":\"root\",\"usage\":0,\"shares\":1}]}}";
    let error = read_tree("tree", text.as_bytes()).unwrap_err();
    assert!(error.contains("entry 1: it has no `type`"), "{error}");
}

#[test]
fn a_row_of_sprio_has_its_own_numbers() {
    let header = "JOBID|PARTITION|PRIORITY|SITE|AGE|FAIRSHARE|PARTITION|NICE\n";
    let mut sprio = Sprio::default();
    let rows = "1|7|5000|0|0|0||0\n2|main|5000|2147483649|1|1|0|0\n";
    assert_eq!(sprio.add(&format!("{header}{rows}{header}{rows}")), [""; 0]);
    assert!(sprio.is_direct("1"));
    assert_eq!(sprio.site_factor("2"), Some(2_147_483_649.0));
}
