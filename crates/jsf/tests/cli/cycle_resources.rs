//! `jsf cycle` with what nodes, queues and the server have besides processors, and with arrays.

use serde_json::{Value, json};

use super::cycle::{Queue, STRICT};
use crate::command::{json, success};

const CHECKED: &str = "resources: \"ncpus, color, lic, qlic\"\nfair_share: False ALL\n";
const RESOURCES: &str = "lic type=long flag=q\nqlic type=long flag=q\nfast type=boolean flag=h\ncolor type=string_array flag=h\n\
    shape type=string flag=h\n";
/// Four nodes of 4 processors, the last two of one host.
const NODES: &str = "n0\n     Mom = h\n     state = free\n     resources_available.ncpus = 4\n     resources_available.fast = True\n     \
    resources_available.color = red,blue\n\nn1\n     Mom = h\n     state = free\n     resources_available.ncpus = 4\n     \
    resources_available.color = green\n\nv2\n     Mom = h\n     state = free\n     resources_available.host = H2\n     \
    resources_available.ncpus = 4\n\nv3\n     Mom = h\n     state = free\n     resources_available.host = H2\n     \
    resources_available.ncpus = 4\n     resources_available.fast = False\n";

/// A waiting job of an hour with a `select` and further attributes.
fn waiting(id: u32, select: &str, more: &str) -> String {
    format!(
        "{{\"id\":\"{id}.vm\",\"entity\":\"ada\",\"queue\":\"workq\",\"accrue_type\":2,\"select\":\"{select}\",\
         \"walltime\":3600{more}}}\n"
    )
}

/// What `jsf cycle` says of jobs on these nodes.
fn on_nodes(jobs: &str, config: &str, nodes: &str) -> Value {
    let queue = Queue::new(jobs, config);
    let [nodes, resources] =
        [("nodes", nodes), ("resourcedef", RESOURCES)].map(|(name, text)| queue.file(name, text));
    let output = queue.run(&[
        "--nodes",
        &nodes,
        "--resources",
        &resources,
        "--at",
        "2000",
        "--format",
        "json",
    ]);
    success(&output);
    json(&output)
}

/// What one job does on the free nodes: `starts`, or why it waits.
fn alone(select: &str) -> String {
    let document = on_nodes(&waiting(1, select, ""), CHECKED, NODES);
    document["waiting"][0]["reason"]
        .as_str()
        .unwrap_or("starts")
        .to_owned()
}

#[test]
fn a_chunk_runs_where_the_values_are_that_it_asks_for() {
    for (select, expected) in [
        ("1:ncpus=4:fast=True", "starts"),
        (
            "2:ncpus=4:fast=True",
            "can never run: not enough processors: asks for 8 with fast=True, 4 exist",
        ),
        // the others do not have it, or have not set it
        ("2:ncpus=4:fast=False", "starts"),
        ("3:ncpus=4:fast=False", "starts"),
        (
            "4:ncpus=4:fast=False",
            "can never run: not enough processors: asks for 16 with fast=False, 12 exist",
        ),
        ("1:ncpus=4:color=blue", "starts"),
        ("1:ncpus=4:color=red+1:ncpus=4:color=green", "starts"),
        (
            "1:ncpus=1:color=purple",
            "can never run: queue workq has no node with color=purple",
        ),
        // a string that `resources` does not name is not compared
        ("1:ncpus=1:shape=round", "starts"),
        ("1:ncpus=4:host=n1", "starts"),
        ("1:ncpus=8:host=h2", "starts"),
        (
            "1:ncpus=5:vnode=v2",
            "can never run: not enough processors: asks for 5 with vnode=v2, 4 exist",
        ),
        (
            "1:ncpus=1:vnode=H2",
            "can never run: queue workq has no node with vnode=H2",
        ),
        (
            "1:ncpus=1:host=nowhere",
            "can never run: queue workq has no node with host=nowhere",
        ),
        // the two nodes of one host
        ("1:ncpus=8", "starts"),
        (
            "1:ncpus=9",
            "can never run: not enough processors: asks for 9 on one host, at most 8 exist",
        ),
        (
            "1:ncpus=4:color=blue:host=n1",
            "can never run: queue workq has no node with color=blue:host=n1",
        ),
    ] {
        assert_eq!(alone(select), expected, "{select}");
    }
}

#[test]
fn a_job_waits_for_the_nodes_that_have_the_value() {
    let running = waiting(
        1,
        "1:ncpus=3:color=red",
        r#","state":"R","stime":1000,"exec_vnode":"(n0:ncpus=3)""#,
    );
    let jobs = running + &waiting(2, "1:ncpus=2:color=red", "") + &waiting(3, "1:ncpus=2", "");
    let document = on_nodes(&jobs, &format!("{STRICT}{CHECKED}"), NODES);
    assert_eq!(document["reserved"], json!([{"id": "2.vm", "start": 4600}]));
    assert_eq!(
        document["waiting"],
        json!([{"id": "2.vm", "reason": "not enough processors: asks for 2 with color=red, 1 free"}])
    );
    assert_eq!(document["started"], json!(["3.vm"]));
    // one for a value that no node has is never promised a start
    let jobs = jobs.replace("1:ncpus=2:color=red", "1:ncpus=2:color=purple");
    assert_eq!(
        on_nodes(&jobs, &format!("{STRICT}{CHECKED}"), NODES)["reserved"],
        json!([])
    );
}

/// Two nodes of 8 processors, of which only the first one has a licence.
const WITH_GPUS: &str = "n0\n     Mom = h\n     state = free\n     resources_available.ncpus = 8\n     resources_available.mem = 64gb\n     \
    resources_available.ngpus = 4\n     resources_available.fpga = 2\n     resources_available.scratch = 100gb\n     resources_available.color = red\n\n\
    n1\n     Mom = h\n     state = free\n     resources_available.ncpus = 8\n     resources_available.mem = 32gb\n     \
    resources_available.ngpus = 4\n     resources_available.host = n1\n     resources_available.fast = True\n";

/// Why a job with this `select` waits beside a running one with another, on the nodes with GPUs.
fn beside(running: &str, placed: &str, select: &str) -> String {
    let running = waiting(
        1,
        running,
        &format!(",\"state\":\"R\",\"stime\":1000,\"exec_vnode\":\"{placed}\""),
    );
    let config = "resources: \"ncpus, mem, ngpus, fpga, scratch, color, host, licence\"\nfair_share: False ALL\n";
    let queue = Queue::new(&(running + &waiting(2, select, "")), config);
    let resources = RESOURCES.to_owned()
        + "ngpus type=long flag=hn\nfpga type=long flag=hn\nscratch type=size flag=hn\nlicence type=long flag=hn\n";
    let [nodes, resources] = [("nodes", WITH_GPUS), ("resourcedef", &*resources)]
        .map(|(name, text)| queue.file(name, text));
    let output = queue.run(&[
        "--nodes",
        &nodes,
        "--resources",
        &resources,
        "--at",
        "2000",
        "--format",
        "json",
    ]);
    success(&output);
    json(&output)["waiting"][0]["reason"]
        .as_str()
        .unwrap_or("starts")
        .to_owned()
}

#[test]
fn the_reason_names_what_is_short() {
    let gpus = (
        "1:ncpus=1:ngpus=4+1:ncpus=1:ngpus=2",
        "(n0:ncpus=1:ngpus=4)+(n1:ncpus=1:ngpus=2)",
    );
    let memory = ("1:ncpus=1:mem=48gb", "(n0:ncpus=1:mem=48gb)");
    let red = ("1:ncpus=7", "(n0:ncpus=7)");
    let both = ("2:ncpus=6", "(n0:ncpus=6)+(n1:ncpus=6)");
    for ((running, placed), select, expected) in [
        // processors
        (both, "1:ncpus=5", "not enough processors"),
        (
            both,
            "1:ncpus=3",
            "not enough processors: asks for 3 on one host, at most 2 free",
        ),
        (both, "2:ncpus=2", "starts"),
        (
            both,
            "1:ncpus=9",
            "can never run: not enough processors: asks for 9 on one host, at most 8 exist",
        ),
        (
            both,
            "3:ncpus=8",
            "can never run: not enough processors: asks for 24, 16 exist",
        ),
        // memory
        (
            memory,
            "1:ncpus=1:mem=50gb",
            "not enough mem: asks for 50gb, 48gb free",
        ),
        (
            memory,
            "1:ncpus=1:mem=40gb",
            "not enough mem: asks for 40gb on one host, at most 32gb free",
        ),
        (
            memory,
            "1:ncpus=1:mem=65gb",
            "can never run: not enough mem: asks for 65gb on one host, at most 64gb exist",
        ),
        (
            memory,
            "4:ncpus=1:mem=25gb",
            "can never run: not enough mem: asks for 100gb, 96gb exist",
        ),
        // GPUs
        (
            gpus,
            "1:ncpus=1:ngpus=4",
            "not enough ngpus: asks for 4, 2 free",
        ),
        (
            gpus,
            "3:ncpus=1:ngpus=1",
            "not enough ngpus: asks for 3, 2 free",
        ),
        (
            gpus,
            "1:ncpus=1:ngpus=5",
            "can never run: not enough ngpus: asks for 5 on one host, at most 4 exist",
        ),
        (
            ("2:ngpus=2", "(n0:ngpus=2)+(n1:ngpus=2)"),
            "1:ngpus=3",
            "not enough ngpus: asks for 3 on one host, at most 2 free",
        ),
        // what a site has added to its nodes
        (
            ("1:fpga=2", "(n0:fpga=2)"),
            "1:ncpus=1:fpga=1",
            "not enough fpga: asks for 1, 0 free",
        ),
        (
            red,
            "1:ncpus=1:fpga=3",
            "can never run: not enough fpga: asks for 3, 2 exist",
        ),
        (
            ("1:scratch=60gb", "(n0:scratch=60gb)"),
            "1:scratch=40960mb",
            "starts",
        ),
        (
            ("1:scratch=60gb", "(n0:scratch=60gb)"),
            "1:scratch=40961mb",
            "not enough scratch: asks for 40gb, 40gb free",
        ),
        (
            red,
            "1:ncpus=1:licence=1",
            "can never run: not enough licence: asks for 1, 0 exist",
        ),
        // each somewhere
        (
            red,
            "1:ncpus=2:fpga=1",
            "no host has all at once that a chunk asks for",
        ),
        (both, "1:ncpus=8:mem=40gb:ngpus=1", "not enough processors"),
        (
            red,
            "1:ncpus=1:mem=48gb:fast=True",
            "can never run: not enough mem: asks for 48gb with fast=True, 32gb exist",
        ),
        // the nodes that have a value
        (
            red,
            "1:ncpus=2:color=red",
            "not enough processors: asks for 2 with color=red, 1 free",
        ),
        (
            red,
            "1:ncpus=2:host=n0",
            "not enough processors: asks for 2 with host=n0, 1 free",
        ),
        (red, "1:ncpus=2:host=n1", "starts"),
        (
            ("1:ncpus=7", "(n1:ncpus=7)"),
            "1:ncpus=2:fast=True",
            "not enough processors: asks for 2 with fast=True, 1 free",
        ),
        (
            gpus,
            "1:ncpus=1:ngpus=3:fast=True",
            "not enough ngpus: asks for 3 with fast=True, 2 free",
        ),
        (
            red,
            "1:ncpus=1:fast=True:color=red",
            "can never run: queue workq has no node with fast=True:color=red",
        ),
    ] {
        assert_eq!(
            beside(running, placed, select),
            expected,
            "{running} {select}"
        );
    }
}

#[test]
fn the_reason_names_the_limit_of_running_jobs() {
    let running = waiting(
        1,
        "1:ncpus=1",
        r#","user":"ada","state":"R","stime":1000,"resources":{"ncpus":1,"ngpus":2}"#,
    );
    let jobs = running
        + &waiting(
            2,
            "1:ncpus=1",
            r#","user":"ada","resources":{"ncpus":1,"ngpus":1}"#,
        );
    for (limit, expected) in [
        (
            "set server max_run = \"[u:PBS_GENERIC=1]\"",
            "max_run of the server: user ada may run no more jobs",
        ),
        (
            "set queue workq max_run = \"[o:PBS_ALL=1]\"",
            "max_run of queue workq: all users together may run no more jobs",
        ),
        (
            "set server max_run_res.ngpus = \"[u:ada=2]\"",
            "max_run_res.ngpus of the server: user ada may use no more",
        ),
        (
            "set queue workq max_run_res.ncpus = \"[o:PBS_ALL=1]\"",
            "max_run_res.ncpus of queue workq: all users together may use no more",
        ),
    ] {
        let queue = Queue::new(&jobs, CHECKED);
        let server = queue.file("server", &format!("create queue workq\n{limit}\n"));
        let resources = queue.file("resourcedef", "ngpus type=long flag=hn\n");
        let options = [
            "--queues",
            &*server,
            "--resources",
            &resources,
            "--processors",
            "20",
            "--at",
            "2000",
            "--format",
            "json",
        ];
        let document = json(&queue.run(&options));
        assert_eq!(
            document["waiting"],
            json!([{"id": "2.vm", "reason": expected}]),
            "{limit}"
        );
    }
}

#[test]
fn running_jobs_hold_what_the_server_and_their_queue_have() {
    let running = waiting(
        1,
        "1:ncpus=1",
        r#","state":"R","stime":1000,"resources":{"ncpus":1,"lic":3,"qlic":1}"#,
    );
    let asking = |id: u32, lic: u32| {
        waiting(
            id,
            "1:ncpus=1",
            &format!(",\"resources\":{{\"ncpus\":1,\"lic\":{lic}}}"),
        )
    };
    let of_queue = |id: u32, qlic: u32| {
        waiting(
            id,
            "1:ncpus=1",
            &format!(",\"resources\":{{\"ncpus\":1,\"qlic\":{qlic}}}"),
        )
    };
    let jobs =
        running + &asking(2, 3) + &asking(3, 6) + &asking(4, 2) + &of_queue(5, 2) + &of_queue(6, 3);
    let jobs = jobs + &of_queue(7, 2).replace("workq", "other");
    let queue = Queue::new(&jobs, CHECKED);
    let server = "create queue workq\nset queue workq resources_available.qlic = 2\ncreate queue other\n\
        set server resources_available.lic = 5\n";
    let [server, resources] =
        [("server", server), ("resourcedef", RESOURCES)].map(|(name, text)| queue.file(name, text));
    let options = [
        "--queues",
        &*server,
        "--resources",
        &resources,
        "--processors",
        "20",
        "--at",
        "2000",
    ];
    let document = json(&queue.run(&[&options[..], &["--format", "json"]].concat()));
    assert_eq!(document["started"], json!(["4.vm", "7.vm"]));
    let expected = json!([
        {"id": "2.vm", "reason": "not enough lic: asks for 3, the server has 5 (resources_available)"},
        {"id": "3.vm", "reason": "can never run: not enough lic: asks for 6, the server has 5 (resources_available)"},
        {"id": "5.vm", "reason": "not enough qlic: asks for 2, queue workq has 2 (resources_available)"},
        {"id": "6.vm", "reason": "can never run: not enough qlic: asks for 3, queue workq has 2 (resources_available)"},
    ]);
    assert_eq!(document["waiting"], expected);
    assert!(
        document["accrue_types"]
            .as_object()
            .expect("types")
            .values()
            .all(|kind| *kind != json!(1))
    );
    // what the line `resources` does not name is not looked at
    let queue = Queue::new(&jobs, "resources: \"ncpus\"\n");
    let document = json(&queue.run(&[&options[..], &["--format", "json"]].concat()));
    assert_eq!(
        (
            document["started"].as_array().map(Vec::len),
            &document["waiting"]
        ),
        (Some(6), &json!([]))
    );
}

#[test]
fn at_most_max_run_subjobs_of_an_array_run() {
    let array = |more: &str| {
        format!(
            "{{\"id\":\"1[].vm\",\"entity\":\"ada\",\"queue\":\"workq\",\"state\":\"B\",\"accrue_type\":2,\
             \"array_state_count\":\"Queued:4 Running:1 Exiting:0 Expired:0\",\"array_indices_remaining\":\"1-4\",\
             \"resources\":{{\"ncpus\":1,\"walltime\":\"01:00:00\"}}{more}}}\n"
        )
    };
    let subjob = "{\"id\":\"1[0].vm\",\"entity\":\"ada\",\"queue\":\"workq\",\"state\":\"R\",\"stime\":1000,\"accrue_type\":3,\
        \"resources\":{\"ncpus\":1,\"walltime\":\"01:00:00\"}}\n";
    let cycle = |jobs: &str, config: &str, options: &[&str]| {
        let options = [
            &["--processors", "64", "--at", "2000", "--format", "json"],
            options,
        ]
        .concat();
        let output = Queue::new(jobs, config).run(&options);
        success(&output);
        json(&output)
    };
    let started = |jobs: &str| {
        cycle(jobs, "", &[])["started"]
            .as_array()
            .expect("jobs")
            .len()
    };
    assert_eq!(started(&(array("") + subjob)), 4);
    for limit in [
        ",\"max_run_subjobs\":3",
        ",\"array_indices_submitted\":\"0-4%3\"",
        ",\"max_run_subjobs\":\"3\"",
    ] {
        // the running one counts, whether the document lists it or not
        for jobs in [array(limit) + subjob, array(limit)] {
            let document = cycle(&jobs, "", &[]);
            assert_eq!(
                document["started"],
                json!(["1[1].vm", "1[2].vm"]),
                "{limit}"
            );
            let reason = "max_run_subjobs: at most 3 subjobs of the array may run at a time";
            assert_eq!(
                document["waiting"],
                json!([{"id": "1[].vm", "reason": reason}])
            );
            assert_eq!(document["accrue_types"]["1[].vm"], 2);
        }
    }
    // another array of the same user is not limited by it
    let other = array("")
        .replace("1[]", "2[]")
        .replace("Running:1", "Running:0");
    assert_eq!(
        started(&(array(",\"max_run_subjobs\":1") + subjob + &other)),
        4
    );
    let jobs = array(",\"max_run_subjobs\":1") + subjob;
    let document = cycle(&jobs, STRICT, &["--job", "1[3]"]);
    assert_eq!(
        document["reserved"],
        json!([{"id": "1[1].vm", "start": 4600}])
    );
    assert_eq!(
        document["estimates"],
        json!([{"id": "1[3].vm", "start": 11800}])
    );
}

#[test]
fn what_is_left_out_of_nodes_is_named_with_its_jobs() {
    let without =
        |jobs: &str, config: &str, nodes: &str| on_nodes(jobs, config, nodes)["without"].clone();
    let jobs = waiting(1, "1:ncpus=1", "");
    let limited = NODES.replacen("state = free", "state = free\n     max_running = 2", 1);
    assert_eq!(
        without(&jobs, CHECKED, &limited),
        json!([{"what": "max_running of nodes", "jobs": 1}])
    );
    let by_color = waiting(1, "1:ncpus=1:color=red:fast=True", "");
    let queue = Queue::new(&by_color, CHECKED);
    let resources = queue.file("resourcedef", RESOURCES);
    let options = [
        "--resources",
        &*resources,
        "--processors",
        "8",
        "--at",
        "2000",
    ];
    let expected =
        json!([{"what": "color of nodes", "jobs": 1}, {"what": "fast of nodes", "jobs": 1}]);
    assert_eq!(
        json(&queue.run(&[&options[..], &["--format", "json"]].concat()))["without"],
        expected
    );
    let screen = success(&queue.run(&options)).replace('\n', " ");
    assert!(
        screen.contains("(without color of nodes and fast of nodes)"),
        "{screen}"
    );
}

/// Two hosts with four processors each, and one with two vnodes of four.
#[test]
fn jobs_are_placed_as_they_ask() {
    let place = |id: u32, select: &str, place: &str| {
        waiting(id, select, &format!(",\"place\":\"{place}\""))
    };
    let started = |jobs: &str, nodes: &str| {
        let document = on_nodes(jobs, CHECKED, nodes);
        assert_eq!(document["without"], json!([]), "{jobs}");
        let started = document["started"].as_array().expect("a list").clone();
        let ids = started
            .iter()
            .map(|id| id.as_str().expect("an id").to_owned());
        ids.collect::<Vec<_>>().join(" ")
    };
    for (first, second, expected) in [
        // eight processors are together on the host with two vnodes only
        (("2:ncpus=4", "pack"), ("2:ncpus=4", "pack"), "1.vm"),
        (("2:ncpus=4", "pack"), ("2:ncpus=4", "free"), "1.vm 2.vm"),
        (("3:ncpus=1", "scatter"), ("4:ncpus=1", "scatter"), "1.vm"),
        (("4:ncpus=1", "vscatter"), ("5:ncpus=1", "vscatter"), "1.vm"),
        // no vnode has five
        (("1:ncpus=5", "free"), ("1:ncpus=5", "vscatter"), "1.vm"),
        (
            ("3:ncpus=1", "vscatter:excl"),
            ("5:ncpus=1", "free"),
            "1.vm",
        ),
        (
            ("3:ncpus=1", "vscatter:excl"),
            ("4:ncpus=1", "free"),
            "1.vm 2.vm",
        ),
        (
            ("3:ncpus=1", "scatter:exclhost"),
            ("1:ncpus=1", "free"),
            "1.vm",
        ),
        (
            ("4:ncpus=1", "scatter:shared"),
            ("1:ncpus=1", "free"),
            "2.vm",
        ),
        (
            ("1:ncpus=1", "free"),
            ("4:ncpus=1", "vscatter:excl"),
            "1.vm",
        ),
    ] {
        let jobs = place(1, first.0, first.1) + &place(2, second.0, second.1);
        assert_eq!(started(&jobs, NODES), expected, "{first:?} {second:?}");
    }
    for (sharing, place_of_second, expected) in [
        ("default_shared", "free", "1.vm 2.vm"),
        ("default_excl", "free", "1.vm"),
        ("default_excl", "free:shared", "1.vm"),
        ("force_excl", "free:shared", "1.vm"),
        ("ignore_excl", "free:excl", "1.vm 2.vm"),
    ] {
        let nodes = NODES.replace(
            "state = free",
            &format!("state = free\n     sharing = {sharing}"),
        );
        let jobs = place(1, "4:ncpus=1", "vscatter") + &place(2, "1:ncpus=1", place_of_second);
        assert_eq!(
            started(&jobs, &nodes),
            expected,
            "{sharing} {place_of_second}"
        );
    }
    // a running job has its vnode for itself
    let alone = place(3, "1:ncpus=1", "pack:excl").replace(
        "\"accrue_type\":2",
        "\"state\":\"R\",\"stime\":1000,\"exec_vnode\":\"(n0:ncpus=1)\"",
    );
    let jobs = place(1, "13:ncpus=1", "free") + &place(2, "12:ncpus=1", "free") + &alone;
    assert_eq!(started(&jobs, NODES), "2.vm");
}

/// The values of `rack` are two sets: one of a host and a vnode, and one of the others.
#[test]
fn jobs_are_placed_in_one_placement_set() {
    let mut nodes = NODES.to_owned();
    for (host, rack) in [("n0", "a"), ("n1", "a"), ("v2", "b"), ("v3", "b")] {
        nodes = nodes.replacen(
            &format!("{host}\n     Mom = h\n"),
            &format!("{host}\n     Mom = h\n     resources_available.rack = {rack}\n"),
            1,
        );
    }
    let cycle = |jobs: &str| on_nodes(jobs, CHECKED, &nodes)["started"].clone();
    let grouped = |id: u32, select: &str| waiting(id, select, ",\"place\":\"free:group=rack\"");
    // six and four fit in one set each, and then no set has four
    let jobs = grouped(1, "6:ncpus=1") + &grouped(2, "4:ncpus=1") + &grouped(3, "5:ncpus=1");
    assert_eq!(cycle(&jobs), json!(["1.vm", "2.vm"]));
    let jobs = grouped(1, "6:ncpus=1") + &waiting(2, "10:ncpus=1", "");
    assert_eq!(cycle(&jobs), json!(["1.vm", "2.vm"]));
    // one that no set could hold may span them
    assert_eq!(cycle(&grouped(1, "9:ncpus=1")), json!(["1.vm"]));
}

/// The two processors of the first job are taken from the node that the key puts first, so that
/// another node keeps four.
#[test]
fn nodes_are_tried_in_the_order_of_node_sort_key() {
    let nodes = NODES.replacen("state = free", "state = free\n     Priority = 5", 1);
    // of the second job, which asks for the node n0, it depends whether the first one is there
    let jobs = waiting(1, "1:ncpus=2", "") + &waiting(2, "1:ncpus=4:host=n0", "");
    let starts = |key: &str| {
        let document = on_nodes(&jobs, &format!("{CHECKED}{key}\n"), &nodes);
        assert_eq!(document["without"], json!([]), "{key}");
        document["started"] == json!(["1.vm", "2.vm"])
    };
    for (key, expected) in [
        ("", false),
        ("node_sort_key: \"sort_priority HIGH\" ALL", false),
        ("node_sort_key: \"sort_priority LOW\" ALL", true),
        ("node_sort_key: \"ncpus HIGH unused\" ALL", false),
    ] {
        assert_eq!(starts(key), expected, "{key}");
    }
    // the second job goes where less is in use, so that n0 and n1 have two each
    let jobs = waiting(1, "1:ncpus=2", "")
        + &waiting(2, "1:ncpus=2", "")
        + &waiting(3, "1:ncpus=4:host=n1", "");
    for (key, expected) in [
        (
            "node_sort_key: \"ncpus LOW assigned\" ALL",
            json!(["1.vm", "2.vm"]),
        ),
        (
            "node_sort_key: \"ncpus HIGH assigned\" ALL",
            json!(["1.vm", "2.vm", "3.vm"]),
        ),
    ] {
        let document = on_nodes(&jobs, &format!("{CHECKED}{key}\n"), NODES);
        assert_eq!(document["started"], expected, "{key}");
    }
}
