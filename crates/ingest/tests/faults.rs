//! Job documents with faults: what cannot be read is reported, and the rest is read.

use job_sort_formula::Value;
use job_sort_formula::jobs::Exclusion;
use job_sort_formula::schema::{InputType, Schema};
use jsf_ingest::{ParsedJobs, ReadError, ReadOptions, read_jobs};
use jsf_openpbs::files::resources::add_resources;
use jsf_openpbs::{FairshareEntity, Objects, Queues};
use proptest::prelude::*;

const NEEDED: [&str; 8] = [
    "ncpus",
    "mem",
    "walltime",
    "eligible_time",
    "job_priority",
    "queue_priority",
    "fairshare_perc",
    "fair_share_perc",
];

fn try_read(bytes: &[u8]) -> Result<ParsedJobs, ReadError> {
    read_with(bytes, false)
}

fn read_with(bytes: &[u8], strict: bool) -> Result<ParsedJobs, ReadError> {
    let schema = Schema::openpbs();
    let options = ReadOptions {
        source_name: "jobs.json",
        entity: FairshareEntity::GroupUser,
        strict,
        ..ReadOptions::new(&schema, &NEEDED)
    };
    read_jobs(bytes, &options)
}

fn read(text: &str) -> ParsedJobs {
    try_read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn error(text: &str) -> String {
    read_with(text.as_bytes(), true)
        .map(|_| ())
        .expect_err(text)
        .to_string()
}

fn problems(read: &ParsedJobs) -> Vec<String> {
    read.problems
        .listed()
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn seen(read: &ParsedJobs, name: &str, row: usize) -> String {
    match read.table.column(name).unwrap().value(row) {
        Value::Int(i) => i.to_string(),
        Value::Big(big) => big.to_string(),
        Value::Float(x) => format!("{x:?}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn an_empty_document_and_an_empty_queue() {
    assert!(error(" \r\n").starts_with("`jobs.json` is empty, expected `qstat -f -F json`"));
    let qstat = r#"{"timestamp":1795199073,"pbs_version":"23.06.06","pbs_server":"vm"}"#;
    for text in [qstat, r#"{"pbs_version":"23","Jobs":{}}"#, r#"{"jobs":[]}"#] {
        assert!(read(text).table.is_empty(), "{text}");
    }
}

#[test]
fn other_documents_are_described() {
    assert!(
        error(r#"{"pbs_version":"23","Queue":{"workq":{}}}"#)
            .contains("describes queues, as `qstat -Qf` prints them, expected")
    );
    assert!(error(r#"{"pbs_version":"23","nodes":{"n":{}}}"#).contains("describes nodes"));
    assert!(error(r#"{"a":1}"#).contains("is another JSON document"));
    assert!(error("[1,2]").contains("is another text and begins with `[1,2]`"));
    assert!(
        error("qstat: conflicting options.\nusage:")
            .contains("instead of its output and begins with `qstat: conflicting")
    );
    assert!(
        try_read(b"\x7fELF\x02\x01\x01\x00\xff\xfe")
            .unwrap_err()
            .to_string()
            .contains("is binary data")
    );
    assert!(
        error(r#"{"pbs_version":"23","Jobs":[1,2]}"#)
            .contains("a document whose `Jobs` is an array")
    );
    assert!(error(r#"{"jobs":{"1.vm":{}}}"#).contains("a document whose `jobs` is an object"));
}

#[test]
fn a_document_that_is_cut_off() {
    let text = "{\n\"Jobs\":{\n\"1.vm\":{\"Resource_List\":{\"ncpus\":1}},\n\"2.vm\":{\"Resource_List\":{\"ncp";
    let message = error(text);
    assert!(
        message.contains("line 4") && message.contains("1 job was read before it"),
        "{message}"
    );
    assert!(
        message.contains("the document is cut off, write it again"),
        "{message}"
    );
}

#[test]
fn an_unescaped_control_character() {
    let message = error(
        "{\"pbs_version\":\"19\",\"Jobs\":{\"1.vm\":{},\"2.vm\":{\"Job_Name\":\"a\u{1}b\"}}}",
    );
    assert!(
        message.contains("1 job was read before it; some versions of qstat do not escape"),
        "{message}"
    );
    let message = error("{\"jobs\":[{\"id\":\"1\"},{\"id\":\"2\",}]}");
    assert!(
        message.contains("line 1, column") && message.contains("0 jobs")
            || message.contains("1 job"),
        "{message}"
    );
}

#[test]
fn a_job_of_another_type_does_not_affect_the_others() {
    let read = read(
        r#"{"Jobs":{"1.vm":"gone","2.vm":{"Resource_List":"ncpus=1"},"3.vm":{"job_state":"?","euser":["x"],"Resource_List":{"ncpus":3}},"4.vm":{}, "5.vm":[[1,{"a":2}],3],"6.vm":null}}"#,
    );
    assert_eq!((read.table.len(), read.problems.skipped()), (2, 4));
    let third = read.table.row("3.vm").unwrap();
    assert_eq!(seen(&read, "ncpus", third), "3");
    assert!(
        !read.table.is_considered(third),
        "a state that is not known"
    );
    assert_eq!(
        problems(&read),
        [
            "job `1.vm`: the job is a string, expected an object; the job is skipped",
            "job `2.vm`: `Resource_List` is needed, and is a string, expected an object; the job is skipped",
            "job `3.vm`: `euser` is an array, expected a string; the attribute is ignored",
            "job `3.vm`: `job_state` is the string \"?\", expected a letter such as `Q`, `H` or `R`; the attribute is ignored",
            "job `4.vm`: the job has no `Resource_List`; its resources are taken as 0",
            "job `5.vm`: the job is an array, expected an object; the job is skipped",
            "job `6.vm`: the job is null, expected an object; the job is skipped",
        ]
    );
}

/// Jobs whose `eligible_time`, `Priority`, `walltime` or `ncpus` is not what it should be, in every
/// form of a document.
#[test]
fn a_job_whose_needed_attribute_is_wrong_is_never_counted_with_0() {
    let qstat = r#"{"Jobs":{
        "1.vm":{"eligible_time":"00:0x:00","Resource_List":{"ncpus":1}},
        "2.vm":{"Priority":99999999999999999999,"Resource_List":{"ncpus":1}},
        "3.vm":{"Resource_List":{"walltime":"48:0x:00"}},
        "4.vm":{"Resource_List":{"ncpus":99999999999999999999999}}}}"#;
    let text = "Job Id: 1.vm\n    eligible_time = 00:0x:00\n    Resource_List.ncpus = 1\n\n\
                Job Id: 2.vm\n    Priority = 99999999999999999999\n    Resource_List.ncpus = 1\n\n\
                Job Id: 3.vm\n    Resource_List.walltime = 48:0x:00\n\n\
                Job Id: 4.vm\n    Resource_List.ncpus = 99999999999999999999999\n\n";
    let dsv = "Job Id: 1.vm|Job_Name=a|eligible_time=00:0x:00|Resource_List.ncpus=1\n\
               Job Id: 2.vm|Job_Name=a|Priority=99999999999999999999|Resource_List.ncpus=1\n\
               Job Id: 3.vm|Job_Name=a|Resource_List.walltime=48:0x:00\n\
               Job Id: 4.vm|Job_Name=a|Resource_List.ncpus=99999999999999999999999\n";
    let jobs = [
        r#"{"id":"1.vm","eligible_time":"00:0x:00","resources":{"ncpus":1}}"#,
        r#"{"id":"2.vm","job_priority":99999999999999999999,"resources":{"ncpus":1}}"#,
        r#"{"id":"3.vm","resources":{"walltime":"48:0x:00"}}"#,
        r#"{"id":"4.vm","resources":{"ncpus":99999999999999999999999}}"#,
    ];
    let native = format!(r#"{{"jobs":[{}]}}"#, jobs.join(","));
    for document in [qstat, text, dsv, &native, &jobs.join("\n")] {
        let read = read(document);
        let kept: Vec<&str> = (0..read.table.len())
            .map(|row| read.table.id(row))
            .collect();
        assert_eq!(kept, ["3.vm", "4.vm"], "{document}");
        let invalid = Exclusion::Invalid {
            resource: "walltime".into(),
            found: "48:0x:00".into(),
        };
        assert_eq!(read.table.exclusion(0), Some(&invalid), "{document}");
        assert_eq!(seen(&read, "ncpus", 1), "9223372036854775808", "{document}");
        let said = problems(&read).join("\n");
        for expected in [
            "job `1.vm`: `eligible_time` is needed, and is the string \"00:0x:00\", expected `HH:MM:SS` or seconds; the job",
            "job `2.vm`: `job_priority` is needed, and is",
            "job `4.vm`: `ncpus` is 99999999999999999999999, which is beyond 64 bits: OpenPBS takes 9223372036854775808",
        ] {
            assert!(said.contains(expected), "{document}: {said}");
        }
        assert_eq!(read.problems.skipped(), 2, "{document}");
    }
}

#[test]
fn the_second_of_two_jobs_with_one_id_is_skipped() {
    let read = read(
        r#"{"jobs":[{"id":"1","resources":{"ncpus":1}},{"id":"1","resources":{"ncpus":2}},{"id":2}]}"#,
    );
    assert_eq!(
        (read.table.len(), seen(&read, "ncpus", 0)),
        (2, "1".to_owned())
    );
    assert!(
        problems(&read)[0].starts_with("job `1`: an earlier job has the same id"),
        "{:?}",
        problems(&read)
    );
    assert_eq!(read.table.id(1), "2");
}

#[test]
fn a_key_that_is_given_again_is_reported_and_refused_if_strict() {
    let resources = r#""Resource_List":{"ncpus":1},"Resource_List":{"ncpus":2}"#;
    for (document, expected) in [
        (r#"{"id":"1","id":"2","resources":{"ncpus":2}}"#.to_owned(), vec!["id"]),
        (r#"{"id":"2","resources":{"ncpus":1,"mem":"1kb","ncpus":2}}"#.to_owned(), vec!["ncpus"]),
        (r#"{"id":"2","ncpus":1,"resources":{"ncpus":2}}"#.to_owned(), vec!["ncpus"]),
        (r#"{"id":"2","inputs":{"ncpus":1,"ncpus":2}}"#.to_owned(), vec!["ncpus"]),
        (
            r#"{"id":"2","state":"H","queue":"a","job_state":"Q","queue":"b","ncpus":2}"#.to_owned(),
            vec!["job_state", "queue"],
        ),
        (format!("{{\"Jobs\":{{\"2\":{{{resources}}}}}}}"), vec!["Resource_List", "ncpus"]),
        (
            "Job Id: 2\n    Resource_List.ncpus = 1\n    queue = a\n    queue = b\n    Resource_List.ncpus = 2\n\n"
                .to_owned(),
            vec!["queue", "ncpus"],
        ),
    ] {
        let read = read(&document);
        let expected: Vec<_> = expected
            .iter()
            .map(|key| {
                let consequence = if *key == "Resource_List" { "the lists are joined" } else { "the last one counts" };
                format!("job `2`: `{key}` is given more than once; {consequence}")
            })
            .collect();
        let found: Vec<_> =
            problems(&read).iter().map(|found| found.trim_start_matches("line 1, ").to_owned()).collect();
        assert_eq!((found, seen(&read, "ncpus", 0)), (expected, "2".to_owned()), "{document}");
        let refused = read_with(document.as_bytes(), true).expect_err(&document).to_string();
        assert!(refused.contains("is ambiguous or damaged: "), "{refused}");
    }
    for document in [
        r#"{"Jobs":{"1":{"Resource_List":{"ncpus":1}}},"jobs":[]}"#,
        r#"{"jobs":[{"id":"1","ncpus":1}],"Jobs":{}}"#,
        r#"{"Jobs":{"1":{"Resource_List":{"ncpus":1}}},"Jobs":{"2":{"Resource_List":{"ncpus":2}}}}"#,
    ] {
        let read = read(document);
        assert!(
            read.notes.len() == 1 && !read.table.is_empty(),
            "{document}: {:?}",
            read.notes
        );
        assert!(read_with(document.as_bytes(), true).is_err(), "{document}");
    }
}

#[test]
fn an_amount_of_null_is_reported() {
    let read = read(r#"{"id":"1","resources":{"ncpus":null,"place":null},"inputs":{"x":null}}"#);
    assert_eq!(
        problems(&read),
        ["line 1, job `1`: `ncpus` is null, expected an amount; the attribute is ignored"]
    );
}

#[test]
fn more_names_than_a_table_has_columns_are_refused() {
    let names: Vec<String> = (0..2001).map(|name| format!("n{name}")).collect();
    let needed: Vec<&str> = names.iter().map(String::as_str).collect();
    let schema = Schema::openpbs();
    let read = |needed| read_jobs(&b"{\"id\":\"1\"}"[..], &ReadOptions::new(&schema, needed));
    assert!(read(&needed[1..]).is_ok());
    let refused = read(&needed).expect_err("too many").to_string();
    assert!(
        refused.contains("need 2001 names, more than the 2000"),
        "{refused}"
    );
}

#[test]
fn an_invalid_line_does_not_affect_the_others() {
    let read = read(
        "{\"id\":\"1\",\"resources\":{\"ncpus\":1}}\r\n{\"id\":\"2\",oops}\r\n\r\nrubbish\r\n{\"queue\":\"q\"}\r\n[1]\r\n{\"id\":\"3\",\"resources\":{\"ncpus\":\"3\"}}",
    );
    assert_eq!(read.table.len(), 2);
    assert_eq!(seen(&read, "ncpus", 1), "3");
    let lines: Vec<_> = read
        .problems
        .listed()
        .iter()
        .map(|problem| problem.line)
        .collect();
    assert_eq!(lines, [Some(2), Some(4), Some(5), Some(6)]);
    assert!(
        problems(&read)[0].starts_with("line 2, job `2`: "),
        "{:?}",
        problems(&read)
    );
    assert!(
        problems(&read)[2].contains("the job has no `id`"),
        "{:?}",
        problems(&read)
    );
}

#[test]
fn byte_order_marks_and_line_ends_of_other_systems() {
    let read = read("\u{feff}{\r\n\"jobs\":[\r\n{\"id\":\"1\",\"entity\":\"B\\u00f6b\"}\r\n]}\r\n");
    assert_eq!(read.table.entity(0), "Böb");
    let latin = b"{\"Jobs\":{\"1.vm\":{\"Job_Name\":\"\xe9\",\"Resource_List\":{\"ncpus\":2}}}}";
    assert_eq!(seen(&try_read(latin).unwrap(), "ncpus", 0), "2");
}

#[test]
fn deep_nesting_is_an_error() {
    let deep = "[".repeat(1_000_000);
    let inside = format!("{{\"Jobs\":{{\"1.vm\":{{\"Variable_List\":{deep}");
    for text in [
        deep.clone(),
        inside,
        format!("{{\"jobs\":{deep}"),
        format!("{{\"id\":{deep}"),
        "{\"a\":".repeat(500_000),
    ] {
        assert!(try_read(text.as_bytes()).is_err() || read(&text).table.is_empty());
    }
}

#[test]
fn ready_made_inputs_are_passed_on_unchanged() {
    let read = read(
        r#"{"jobs":[{"id":"1","resources":{"ncpus":9},"inputs":{"ncpus":-0,"mem":36893488147419103232,"walltime":1e5,"eligible_time":0.00001,"job_priority":"inf","fairshare_perc":0.12345678}},{"id":"2","inputs":{"ncpus":true,"mem":"12"}},{"id":"3","inputs":{"gpus":true}}]}"#,
    );
    let inputs: Vec<_> = NEEDED.iter().map(|name| seen(&read, name, 0)).collect();
    assert_eq!(
        inputs,
        [
            "0",
            "36893488147419103232",
            "100000.0",
            "1e-5",
            "inf",
            "0",
            "0.12345678",
            "0.12345678"
        ]
    );
    assert_eq!(read.table.len(), 2);
    assert_eq!(
        problems(&read),
        [
            "job `2`: `ncpus` is needed, and is a boolean, expected a number, \"inf\", \"-inf\" or \"nan\"; the job is skipped",
            "job `3`: `gpus` is a boolean, expected a number, \"inf\", \"-inf\" or \"nan\"; the attribute is ignored",
        ]
    );
    assert!(!read.table.column("queue_priority").unwrap().is_set(0));
}

#[test]
fn native_jobs_get_the_numbers_that_the_server_would_pass_on() {
    let read = read(
        r#"{"jobs":[{"id":"1","entity":"Bob","queue":"q","resources":{"ncpus":4,"mem":"4GB","walltime":"01:00:00"},"eligible_time":120,"queue_priority":7,"job_priority":-3,"fairshare_perc":0.1351351351,"walltme":1},
            {"id":"2","state":"H","resources":{"mem":"3pb"},"eligible_time":"00:02:00.5"},{"id":"3","job_state":"F"}]}"#,
    );
    let inputs: Vec<_> = NEEDED.iter().map(|name| seen(&read, name, 0)).collect();
    assert_eq!(
        inputs,
        [
            "4", "4194304", "3600", "120", "-3", "7", "0.135135", "0.135135"
        ]
    );
    assert_eq!(seen(&read, "eligible_time", 1), "121");
    assert_eq!(
        read.table.exclusion(1),
        Some(&Exclusion::Invalid {
            resource: "mem".into(),
            found: "3pb".into()
        })
    );
    assert!(read.table.exclusion(2).is_some() && read.table.entity(0) == "Bob");
    assert_eq!(
        problems(&read),
        ["job `1`: the key `walltme` is unknown and is ignored; did you mean `walltime`?"]
    );
}

#[test]
fn a_job_without_owner_has_no_entity() {
    let text = r#"{"Jobs":{"1.vm":{"Resource_List":{}},"2.vm":{"euser":"bob","egroup":"users","Resource_List":{}}}}"#;
    let schema = Schema::openpbs();
    let entities = |entity| {
        let options = ReadOptions {
            entity,
            ..ReadOptions::new(&schema, &[])
        };
        let table = read_jobs(text.as_bytes(), &options).unwrap().table;
        (table.entity(0).to_owned(), table.entity(1).to_owned())
    };
    assert_eq!(
        entities(FairshareEntity::Account),
        (String::new(), String::new())
    );
    assert_eq!(
        entities(FairshareEntity::User),
        (String::new(), "bob".to_owned())
    );
    assert_eq!(entities(FairshareEntity::GroupUser).1, "users:bob");
}

#[test]
fn the_types_of_undeclared_resources_are_inferred() {
    let read = read(
        r#"{"Jobs":{"1.vm":{"Resource_List":{"score":3,"disk":"4gb","lic":"abc","boost":0.5,"ncpus":1}},"2.vm":{"Resource_List":{"score":2.5,"lic":7,"boost":"inf"}}}}"#,
    );
    let expected = [
        ("boost", InputType::Float),
        ("disk", InputType::Size),
        ("lic", InputType::Text),
        ("score", InputType::Float),
    ];
    assert_eq!(read.table.undeclared().collect::<Vec<_>>(), expected);
    assert!(read.table.exclusion(0).is_none() && read.table.exclusion(1).is_some());
}

/// Something like a document: its building blocks in any order.
fn documents() -> impl Strategy<Value = String> {
    const PIECES: [&str; 28] = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"Jobs\"",
        "\"jobs\"",
        "\"id\"",
        "\"1.vm\"",
        "\"Resource_List\"",
        "\"resources\"",
        "\"inputs\"",
        "\"ncpus\"",
        "\"mem\"",
        "\"4gb\"",
        "1",
        "-0",
        "1e999",
        "9e99999999",
        "\"\\ud800\"",
        "null",
        "true",
        "\n",
        "Job Id: 1.vm\n",
        "    Resource_List.mem = 3pb\n",
        "\t",
        "\u{feff}",
    ];
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_input_makes_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = try_read(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        let _ = Queues::read("q", &Objects::read(&text));
        let _ = add_resources("r", &Objects::read_resourcedef(&text), &mut Schema::openpbs());
    }

    #[test]
    fn no_document_makes_a_reader_panic(text in documents()) {
        let _ = try_read(text.as_bytes());
        let _ = Queues::read("q", &Objects::read(&text));
        let _ = add_resources("r", &Objects::read_resourcedef(&text), &mut Schema::openpbs());
    }

    #[test]
    fn no_amount_makes_a_reader_panic(amount in "\\PC{0,12}", number in any::<f64>()) {
        let document = serde_json::json!({"id": "1", "resources": {"mem": amount, "ncpus": amount, "walltime": number}});
        let _ = try_read(document.to_string().as_bytes());
        let text = format!("Job Id: 1.vm\n    Resource_List.mem = {amount}\n    Resource_List.ncpus = {number}\n");
        let _ = try_read(text.as_bytes());
    }

    /// A document cut anywhere is an error, or has no more jobs than the whole.
    #[test]
    fn a_cut_document_is_noticed(cut in 0usize..200) {
        let text = r#"{"Jobs":{"1.vm":{"Resource_List":{"ncpus":1}},"2.vm":{"Resource_List":{"ncpus":2,"mem":"4gb"}}}}"#;
        if cut < text.len() {
            prop_assert!(read_with(&text.as_bytes()[..cut], true).is_err());
            if let Ok(read) = try_read(&text.as_bytes()[..cut]) {
                prop_assert!(!read.notes.is_empty() && read.table.len() + read.problems.skipped() > 0);
            }
        }
    }
}

/// Amounts are converted where they are read, before it is known whether their job is one.
#[test]
fn a_job_that_is_skipped_leaves_nothing_to_the_next_one() {
    for skipped in [
        r#"{"resources":{"ncpus":4,"mem":"4gb","licence":7}}"#,
        r#"{"id":"1.vm","resources":{"ncpus":4,"mem":"4gb","licence":7},}"#,
        r#"{"id":"1.vm","resources":{"ncpus":9007199254740993,"mem":"4zb","licence":7},"entity":}"#,
        r#"{"id":"1.vm","ncpus":4,"mem":4096,"resources":7}"#,
    ] {
        let read = read(&format!("{skipped}\n{{\"id\":\"2.vm\"}}\n"));
        assert_eq!(
            (read.table.len(), read.problems.skipped()),
            (1, 1),
            "{skipped}"
        );
        for (name, column) in read.table.columns() {
            assert!(
                !column.is_set(0) && column.exceptions().is_empty(),
                "{name}: {skipped}"
            );
        }
        assert_eq!(read.table.undeclared().count(), 0, "{skipped}");
        assert!(read.table.exclusion(0).is_none(), "{skipped}");
    }
}

#[test]
fn the_last_of_repeated_amounts_counts_whatever_its_form() {
    for (amounts, expected) in [
        (r#""ncpus":4,"ncpus":"5""#, "5"),
        (r#""ncpus":"4","ncpus":5"#, "5"),
        (r#""ncpus":9007199254740993,"ncpus":5"#, "5"),
    ] {
        let read = read(&format!(r#"{{"id":"1.vm","resources":{{{amounts}}}}}"#));
        assert_eq!(seen(&read, "ncpus", 0), expected, "{amounts}");
        assert_eq!(problems(&read).len(), 1, "{amounts}");
    }
}
