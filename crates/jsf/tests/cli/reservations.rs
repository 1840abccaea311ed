//! `jsf cycle` beside the reservations of a server.

use serde_json::{Value, json};

use super::cycle::{Queue, STRICT};
use crate::command::{json, stderr, success};

/// A node of 4 processors, with further lines.
fn node(name: &str, more: &str) -> String {
    format!(
        "{name}\n     Mom = {name}\n     ntype = PBS\n{more}     resources_available.ncpus = 4\n\n"
    )
}

/// Two such nodes.
fn two_nodes(of_first: &str) -> String {
    node("n0", of_first) + &node("n1", "     state = free\n")
}

const FREE: &str = "     state = free\n     resv = R7.srv\n";

/// The reservation of the first node from one minute of the first day of 1970 to another one.
fn reservation(state: &str, minutes: [u32; 2], more: &str) -> String {
    let [start, end] = minutes
        .map(|minutes| format!("Thu Jan  1 {:02}:{:02}:00 1970", minutes / 60, minutes % 60));
    format!(
        "Resv ID: R7.srv\nReserve_Name = NULL\nreserve_state = RESV_{state}\nreserve_start = {start}\nreserve_end = {end}\n\
         queue = R7\n{more}\n\n"
    )
}

const WHOLE_NODE: &str = "resv_nodes = (n0:ncpus=4)";

/// A waiting job of a number of minutes.
fn waiting(id: u32, queue: &str, select: &str, minutes: u32) -> String {
    let walltime = minutes * 60;
    format!(
        "{{\"id\":\"{id}.vm\",\"entity\":\"ada\",\"queue\":\"{queue}\",\"accrue_type\":2,\"select\":\"{select}\",\
         \"walltime\":{walltime}}}\n"
    )
}

/// What `jsf cycle` says in the second hour of 1970.
fn cycle(jobs: &str, nodes: &str, reservations: Option<&str>, options: &[&str]) -> Value {
    let queue = Queue::new(jobs, "strict_ordering: False ALL\n");
    let nodes = queue.file("nodes", nodes);
    let reservations = reservations.map(|text| queue.file("rstat", text));
    let given = reservations
        .iter()
        .flat_map(|file| ["--reservations", file]);
    let options = ["--nodes", &nodes, "--at", "3600", "--format", "json"]
        .into_iter()
        .chain(options.iter().copied());
    let output = queue.run(&options.chain(given).collect::<Vec<_>>());
    success(&output);
    json(&output)
}

fn reason(document: &Value, job: u32) -> String {
    let mut waiting = document["waiting"].as_array().expect("jobs").iter();
    let found = waiting.find(|waiting| waiting["id"] == format!("{job}.vm"));
    found.map_or_else(String::new, |waiting| {
        waiting["reason"].as_str().expect("words").to_owned()
    })
}

#[test]
fn no_job_runs_into_a_reservation_on_its_nodes() {
    let jobs = [
        waiting(1, "workq", "1:ncpus=4", 60),
        waiting(2, "workq", "1:ncpus=4", 60),
        waiting(3, "workq", "1:ncpus=3", 30),
    ];
    let reservation = reservation("CONFIRMED", [90, 150], WHOLE_NODE);
    let document = cycle(
        &jobs.concat(),
        &two_nodes(FREE),
        Some(&reservation),
        &["--job", "2"],
    );
    // the second one would end after the start of the reservation, the third one at the start
    assert_eq!(document["started"], json!(["1.vm", "3.vm"]));
    assert_eq!(
        reason(&document, 2),
        "would run into the reservation R7.srv"
    );
    assert_eq!(
        document["estimates"],
        json!([{"id": "2.vm", "start": 7200}]),
        "the first one ends before the reservation"
    );
    assert_eq!(
        (&document["processors"], &document["without"]),
        (&json!({"total": 8, "free": 8}), &json!([]))
    );
    let long = jobs[..2].concat();
    let document = cycle(&long, &two_nodes(FREE), Some(&reservation), &[]);
    assert_eq!(document["started"], json!(["1.vm"]));
    assert_eq!(
        reason(&document, 2),
        "would run into the reservation R7.srv"
    );
    // a part of a node leaves the rest
    let part = reservation.replace("ncpus=4", "ncpus=1");
    let small = [
        waiting(1, "workq", "1:ncpus=4", 60),
        waiting(2, "workq", "1:ncpus=3", 60),
        waiting(3, "workq", "1:ncpus=1", 60),
    ];
    let document = cycle(&small.concat(), &two_nodes(FREE), Some(&part), &[]);
    assert_eq!(document["started"], json!(["1.vm", "2.vm"]));
    assert_eq!(
        reason(&document, 3),
        "would run into the reservation R7.srv"
    );
    // the same amount in chunks
    let chunks = part.replace("(n0:ncpus=1)", "(n0:ncpus=1)+(n0:ncpus=3)");
    assert_eq!(
        cycle(&long, &two_nodes(FREE), Some(&chunks), &[])["started"],
        json!(["1.vm"])
    );
    let exclusive = part.replace(
        "queue = R7",
        "Resource_List.place = scatter:excl\nqueue = R7",
    );
    assert_eq!(
        cycle(&small.concat(), &two_nodes(FREE), Some(&exclusive), &[])["started"],
        json!(["1.vm"])
    );
}

#[test]
fn a_job_that_is_promised_a_start_is_placed_around_a_reservation() {
    let running = "{\"id\":\"1.vm\",\"queue\":\"workq\",\"state\":\"R\",\"stime\":3000,\"walltime\":1200,\"select\":\"1:ncpus=4\",\
         \"exec_vnode\":\"(n0:ncpus=4)\"}\n";
    let jobs = running.to_owned() + &waiting(2, "workq", "2:ncpus=4", 60);
    let queue = Queue::new(&jobs, STRICT);
    let [nodes, reservations] = [
        ("nodes", two_nodes(FREE)),
        ("rstat", reservation("CONFIRMED", [90, 150], WHOLE_NODE)),
    ]
    .map(|(name, text)| queue.file(name, &text));
    let files = [
        "--nodes",
        &nodes,
        "--at",
        "3600",
        "--format",
        "json",
        "--reservations",
        &reservations,
    ];
    let output = queue.run(&files);
    success(&output);
    // at 4200 both nodes are free, but the job would end after 5400
    assert_eq!(
        json(&output)["reserved"],
        json!([{"id": "2.vm", "start": 9000}])
    );
    assert!(
        stderr(&output).contains("the time zone is not known and taken to be UTC, so these may be off by hours: reservations"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn jobs_of_a_reservation_run_on_its_nodes_alone() {
    let running = "{\"id\":\"1.vm\",\"queue\":\"R7\",\"state\":\"R\",\"stime\":3500,\"walltime\":7200,\"select\":\"1:ncpus=1\",\
         \"exec_vnode\":\"(n0:ncpus=1)\"}\n";
    let jobs = [
        running.to_owned(),
        waiting(2, "R7", "1:ncpus=4", 10),
        waiting(3, "R7", "1:ncpus=2", 10),
        waiting(4, "R7", "1:ncpus=1", 10),
        waiting(5, "workq", "2:ncpus=4", 10),
        waiting(6, "workq", "1:ncpus=4", 10),
    ];
    let part = "resv_nodes = (n0:ncpus=3)";
    let in_use = FREE.to_owned() + "     resources_assigned.ncpus = 3\n";
    let document = cycle(
        &jobs.concat(),
        &two_nodes(&in_use),
        Some(&reservation("RUNNING", [50, 150], part)),
        &["--job", "5"],
    );
    assert_eq!(document["started"], json!(["3.vm", "6.vm"]));
    assert_eq!(document["processors"], json!({"total": 8, "free": 5}));
    assert!(
        reason(&document, 2).starts_with("can never run: "),
        "{}",
        reason(&document, 2)
    );
    assert_eq!(reason(&document, 4), "not enough processors");
    assert_eq!(
        document["estimates"],
        json!([{"id": "5.vm", "start": 9000}]),
        "the end of the reservation"
    );
    // a reservation with a node for itself
    let exclusive = "     state = resv-exclusive\n     resv = R7.srv\n";
    let document = cycle(
        &jobs.concat(),
        &two_nodes(exclusive),
        Some(&reservation("RUNNING", [50, 150], part)),
        &[],
    );
    assert_eq!(document["started"], json!(["3.vm", "4.vm", "6.vm"]));
    assert_eq!(document["processors"], json!({"total": 8, "free": 4}));
}

#[test]
fn jobs_of_a_reservation_wait_until_it_begins() {
    let jobs = waiting(1, "R7", "1:ncpus=1", 10);
    for (text, expected) in [
        (
            reservation("CONFIRMED", [61, 150], WHOLE_NODE),
            "its reservation R7.srv has not begun",
        ),
        (
            reservation("UNCONFIRMED", [61, 150], ""),
            "its reservation R7.srv is not confirmed",
        ),
    ] {
        let document = cycle(&jobs, &two_nodes(FREE), Some(&text), &[]);
        assert_eq!(
            (&document["started"], &*reason(&document, 1)),
            (&json!([]), expected)
        );
    }
    // its time has come
    let begun = reservation("CONFIRMED", [60, 150], WHOLE_NODE);
    assert_eq!(
        cycle(&jobs, &two_nodes(FREE), Some(&begun), &[])["started"],
        json!(["1.vm"])
    );
    let over = reservation("FINISHED", [30, 60], WHOLE_NODE);
    let other = waiting(1, "workq", "2:ncpus=4", 10);
    let free = two_nodes("     state = free\n");
    assert_eq!(
        cycle(&other, &free, Some(&over), &[])["started"],
        json!(["1.vm"])
    );
}

#[test]
fn what_is_not_known_of_reservations_is_named() {
    let jobs = waiting(1, "workq", "1:ncpus=1", 10)
        + &waiting(2, "R7", "1:ncpus=1", 10)
        + &waiting(3, "S8", "1:ncpus=1", 10);
    let free = two_nodes("     state = free\n");
    let named = |jobs: u32| json!([{"what": "reservations (`pbs_rstat -f`)", "jobs": jobs}]);
    assert_eq!(
        cycle(&jobs, &two_nodes(FREE), None, &[])["without"],
        named(3),
        "a node has one"
    );
    assert_eq!(cycle(&jobs, &free, None, &[])["without"], named(2));
    let known = reservation("RUNNING", [50, 150], WHOLE_NODE);
    assert_eq!(
        cycle(&jobs, &two_nodes(FREE), Some(&known), &[])["without"],
        named(1),
        "S8 is not in the document"
    );
    assert_eq!(
        cycle(&waiting(1, "workq", "1:ncpus=1", 10), &free, Some(""), &[])["without"],
        json!([])
    );
    let standing = known.replace(
        "queue = R7",
        "reserve_index = 1\nreserve_count = 3\nqueue = R7",
    );
    let document = cycle(&jobs, &two_nodes(FREE), Some(&standing), &[]);
    let later = json!({"what": "later occurrences of standing reservations", "jobs": 3});
    assert!(
        document["without"]
            .as_array()
            .expect("a list")
            .contains(&later),
        "{document}"
    );
    let counted = Queue::new(&jobs, STRICT);
    let file = counted.file("rstat", &known);
    let output = counted.run(&[
        "--processors",
        "8",
        "--at",
        "3600",
        "--format",
        "json",
        "--reservations",
        &file,
    ]);
    assert_eq!(json(&output)["without"], named(3), "no nodes are known");
}

#[test]
fn another_document_is_refused_where_reservations_are_needed() {
    let queue = Queue::new(&waiting(1, "workq", "1:ncpus=1", 10), STRICT);
    let nodes = queue.file("nodes", &two_nodes(FREE));
    for (text, message) in [
        (&*nodes, "`pbsnodes`"),
        (
            "Resv ID                 Queue         User     State             Start / Duration / End\n",
            "pbs_rstat -f",
        ),
        (
            "Resv ID: R7.srv\nreserve_state = RESV_CONFIRMED\nresv_nodes = (n0:ncpus=4)\n",
            "has no `reserve_start`",
        ),
    ] {
        let file = if text == nodes {
            nodes.clone()
        } else {
            queue.file("rstat", text)
        };
        let output = queue.run(&["--nodes", &nodes, "--at", "3600", "--reservations", &file]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

/// On one host all chunks are together, with and without a reservation.
#[test]
fn a_reservation_is_no_further_host() {
    let job = "{\"id\":\"1.vm\",\"entity\":\"ada\",\"queue\":\"workq\",\"accrue_type\":2,\"select\":\"2:ncpus=1\",\
         \"place\":\"pack\",\"walltime\":600}\n";
    let reservation = reservation("CONFIRMED", [90, 150], WHOLE_NODE);
    let document = cycle(job, &node("n0", FREE), Some(&reservation), &[]);
    assert_eq!(
        (&document["started"], &document["without"]),
        (&json!(["1.vm"]), &json!([]))
    );
    let two_hosts = job.replace("2:ncpus=1", "2:ncpus=4");
    let document = cycle(&two_hosts, &two_nodes(FREE), Some(&reservation), &[]);
    assert_eq!(document["started"], json!([]));
}
