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
    let [nodes, resources] = [("nodes", nodes), ("resourcedef", RESOURCES)].map(|(name, text)| queue.file(name, text));
    let output = queue.run(&["--nodes", &nodes, "--resources", &resources, "--at", "2000", "--format", "json"]);
    success(&output);
    json(&output)
}

/// What one job does on the free nodes: `starts`, or why it waits.
fn alone(select: &str) -> String {
    let document = on_nodes(&waiting(1, select, ""), CHECKED, NODES);
    document["waiting"][0]["reason"].as_str().unwrap_or("starts").to_owned()
}

#[test]
fn a_chunk_runs_where_the_values_are_that_it_asks_for() {
    for (select, expected) in [
        ("1:ncpus=4:fast=True", "starts"),
        ("2:ncpus=4:fast=True", "can never run: a chunk of it asks for more than any host has"),
        // the others do not have it, or have not set it
        ("2:ncpus=4:fast=False", "starts"),
        ("3:ncpus=4:fast=False", "starts"),
        ("4:ncpus=4:fast=False", "can never run: a chunk of it asks for more than any host has"),
        ("1:ncpus=4:color=blue", "starts"),
        ("1:ncpus=4:color=red+1:ncpus=4:color=green", "starts"),
        ("1:ncpus=1:color=purple", "can never run: no node has `color=purple`"),
        // a string that `resources` does not name is not compared
        ("1:ncpus=1:shape=round", "starts"),
        ("1:ncpus=4:host=n1", "starts"),
        ("1:ncpus=8:host=h2", "starts"),
        ("1:ncpus=5:vnode=v2", "can never run: a chunk of it asks for more than any host has"),
        ("1:ncpus=1:vnode=H2", "can never run: no node has `vnode=H2`"),
        ("1:ncpus=1:host=nowhere", "can never run: no node has `host=nowhere`"),
        // the two nodes of one host
        ("1:ncpus=8", "starts"),
        ("1:ncpus=9", "can never run: a chunk of it asks for more than any host has"),
    ] {
        assert_eq!(alone(select), expected, "{select}");
    }
}

#[test]
fn a_job_waits_for_the_nodes_that_have_the_value() {
    let running = waiting(1, "1:ncpus=3:color=red", r#","state":"R","stime":1000,"exec_vnode":"(n0:ncpus=3)""#);
    let jobs = running + &waiting(2, "1:ncpus=2:color=red", "") + &waiting(3, "1:ncpus=2", "");
    let document = on_nodes(&jobs, &format!("{STRICT}{CHECKED}"), NODES);
    assert_eq!(document["reserved"], json!([{"id": "2.vm", "start": 4600}]));
    assert_eq!(document["waiting"], json!([{"id": "2.vm", "reason": "not enough processors"}]));
    assert_eq!(document["started"], json!(["3.vm"]));
    // one for a value that no node has is never promised a start
    let jobs = jobs.replace("1:ncpus=2:color=red", "1:ncpus=2:color=purple");
    assert_eq!(on_nodes(&jobs, &format!("{STRICT}{CHECKED}"), NODES)["reserved"], json!([]));
}

#[test]
fn running_jobs_hold_what_the_server_and_their_queue_have() {
    let running = waiting(1, "1:ncpus=1", r#","state":"R","stime":1000,"resources":{"ncpus":1,"lic":3,"qlic":1}"#);
    let asking = |id: u32, lic: u32| waiting(id, "1:ncpus=1", &format!(",\"resources\":{{\"ncpus\":1,\"lic\":{lic}}}"));
    let of_queue =
        |id: u32, qlic: u32| waiting(id, "1:ncpus=1", &format!(",\"resources\":{{\"ncpus\":1,\"qlic\":{qlic}}}"));
    let jobs = running + &asking(2, 3) + &asking(3, 6) + &asking(4, 2) + &of_queue(5, 2) + &of_queue(6, 3);
    let jobs = jobs + &of_queue(7, 2).replace("workq", "other");
    let queue = Queue::new(&jobs, CHECKED);
    let server = "create queue workq\nset queue workq resources_available.qlic = 2\ncreate queue other\n\
        set server resources_available.lic = 5\n";
    let [server, resources] =
        [("server", server), ("resourcedef", RESOURCES)].map(|(name, text)| queue.file(name, text));
    let options = ["--queues", &*server, "--resources", &resources, "--processors", "20", "--at", "2000"];
    let document = json(&queue.run(&[&options[..], &["--format", "json"]].concat()));
    assert_eq!(document["started"], json!(["4.vm", "7.vm"]));
    let expected = json!([
        {"id": "2.vm", "reason": "not enough lic: the server has 5 (resources_available)"},
        {"id": "3.vm", "reason": "can never run: it asks for 6 lic, and the server has 5 (resources_available)"},
        {"id": "5.vm", "reason": "not enough qlic: queue workq has 2 (resources_available)"},
        {"id": "6.vm", "reason": "can never run: it asks for 3 qlic, and queue workq has 2 (resources_available)"},
    ]);
    assert_eq!(document["waiting"], expected);
    assert!(document["accrue_types"].as_object().expect("types").values().all(|kind| *kind != json!(1)));
    // what the line `resources` does not name is not looked at
    let queue = Queue::new(&jobs, "resources: \"ncpus\"\n");
    let document = json(&queue.run(&[&options[..], &["--format", "json"]].concat()));
    assert_eq!((document["started"].as_array().map(Vec::len), &document["waiting"]), (Some(6), &json!([])));
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
        let options = [&["--processors", "64", "--at", "2000", "--format", "json"], options].concat();
        let output = Queue::new(jobs, config).run(&options);
        success(&output);
        json(&output)
    };
    let started = |jobs: &str| cycle(jobs, "", &[])["started"].as_array().expect("jobs").len();
    assert_eq!(started(&(array("") + subjob)), 4);
    for limit in [",\"max_run_subjobs\":3", ",\"array_indices_submitted\":\"0-4%3\"", ",\"max_run_subjobs\":\"3\""] {
        // the running one counts, whether the document lists it or not
        for jobs in [array(limit) + subjob, array(limit)] {
            let document = cycle(&jobs, "", &[]);
            assert_eq!(document["started"], json!(["1[1].vm", "1[2].vm"]), "{limit}");
            let reason = "max_run_subjobs: at most 3 subjobs of the array may run at a time";
            assert_eq!(document["waiting"], json!([{"id": "1[].vm", "reason": reason}]));
            assert_eq!(document["accrue_types"]["1[].vm"], 2);
        }
    }
    // another array of the same user is not limited by it
    let other = array("").replace("1[]", "2[]").replace("Running:1", "Running:0");
    assert_eq!(started(&(array(",\"max_run_subjobs\":1") + subjob + &other)), 4);
    let jobs = array(",\"max_run_subjobs\":1") + subjob;
    let document = cycle(&jobs, STRICT, &["--job", "1[3]"]);
    assert_eq!(document["reserved"], json!([{"id": "1[1].vm", "start": 4600}]));
    assert_eq!(document["estimates"], json!([{"id": "1[3].vm", "start": 11800}]));
}

#[test]
fn what_placement_is_left_out_is_named_with_its_jobs() {
    let without = |jobs: &str, config: &str, nodes: &str| on_nodes(jobs, config, nodes)["without"].clone();
    let place = |id: u32, select: &str, place: &str| waiting(id, select, &format!(",\"place\":\"{place}\""));
    for (select, words, expected) in [
        ("2:ncpus=1", "pack", &["place=pack"][..]),
        ("1:ncpus=1", "pack", &[]),
        ("1:ncpus=1+1:ncpus=2", "scatter:excl", &["place=excl", "place=scatter"]),
        ("1:ncpus=1", "scatter", &[]),
        // of these no host holds two, but the last one has two vnodes
        ("4:ncpus=5", "scatter", &[]),
        ("4:ncpus=4", "scatter", &["place=scatter"]),
        ("1:ncpus=1", "vscatter", &["place=vscatter"]),
        ("1:ncpus=1", "free:exclhost:group=rack", &["place=exclhost", "place=group=rack"]),
        ("3:ncpus=1", "free:shared", &[]),
    ] {
        let expected: Vec<Value> = expected.iter().map(|what| json!({"what": what, "jobs": 1})).collect();
        assert_eq!(without(&place(1, select, words), CHECKED, NODES), json!(expected), "{select} {words}");
    }
    let jobs = waiting(1, "1:ncpus=1", "") + &place(2, "1:ncpus=1", "free:shared") + &place(3, "1:ncpus=1", "excl");
    let excl = json!({"what": "place=excl", "jobs": 1});
    for (sharing, concerned) in
        [("default_excl", 1), ("default_exclhost", 1), ("force_excl", 3), ("force_exclhost", 3), ("ignore_excl", 1)]
    {
        let nodes = NODES.replacen("state = free", &format!("state = free\n     sharing = {sharing}"), 2);
        let expected = json!([excl, {"what": format!("sharing = {sharing} of nodes"), "jobs": concerned}]);
        assert_eq!(without(&jobs, CHECKED, &nodes), expected, "{sharing}");
    }
    let jobs = waiting(1, "1:ncpus=1", "");
    let holds_its_node = place(2, "1:ncpus=1", "pack:excl")
        .replace("\"accrue_type\":2", "\"state\":\"R\",\"stime\":1000,\"exec_vnode\":\"(n0:ncpus=1)\"");
    let expected = json!([{"what": "place=excl of running jobs", "jobs": 1}]);
    assert_eq!(without(&(jobs.clone() + &holds_its_node), CHECKED, NODES), expected);
    let limited = NODES.replacen("state = free", "state = free\n     max_running = 2", 1);
    assert_eq!(without(&jobs, CHECKED, &limited), json!([{"what": "max_running of nodes", "jobs": 1}]));
    let by_color = waiting(1, "1:ncpus=1:color=red:fast=True", "");
    let queue = Queue::new(&by_color, CHECKED);
    let resources = queue.file("resourcedef", RESOURCES);
    let options = ["--resources", &*resources, "--processors", "8", "--at", "2000"];
    let expected = json!([{"what": "color of nodes", "jobs": 1}, {"what": "fast of nodes", "jobs": 1}]);
    assert_eq!(json(&queue.run(&[&options[..], &["--format", "json"]].concat()))["without"], expected);
    let screen = success(&queue.run(&options)).replace('\n', " ");
    assert!(screen.contains("(without color of nodes and fast of nodes)"), "{screen}");
}

#[test]
fn node_sort_key_is_named_where_it_orders_the_nodes_in_another_way() {
    let nodes =
        NODES.replacen("state = free", "state = free\n     Priority = 5\n     resources_available.mem = 1gb", 1);
    let is_named = |key: &str| {
        let document = on_nodes(&waiting(1, "1:ncpus=1", ""), &format!("{CHECKED}{key}\n"), &nodes);
        document["without"] == json!([{"what": "node_sort_key", "jobs": 1}])
    };
    for (key, expected) in [
        ("", false),
        ("node_sort_key: \"sort_priority HIGH\" ALL", false),
        ("node_sort_key: \"sort_priority LOW\" ALL", true),
        ("node_sort_key: \"ncpus HIGH\" ALL\nnode_sort_key: \"mem LOW\" ALL", true),
        ("node_sort_key: \"ncpus HIGH total\" ALL\nnode_sort_key: \"mem HIGH\" ALL", false),
        // anew after each start
        ("node_sort_key: \"ncpus HIGH unused\" ALL", true),
        ("node_sort_key: \"ncpus LOW assigned\" ALL", true),
    ] {
        assert_eq!(is_named(key), expected, "{key}");
    }
}
