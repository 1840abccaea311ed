//! Single cycles of a real scheduler, each as the folder of a site. What a cycle does without is
//! named where it differs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use jsf_testing::golden;
use serde_json::{Map, Value as Json, json};

use crate::command::{jsf, json, success};

/// The server does not tell in which second a job was suspended, which orders suspended jobs.
const SECOND_OF_SUSPENSION: &str = "the second in which jobs were suspended, which orders them";

/// The recorded cycles that differ: the number of the case, the cycle, and what `without` names as
/// the reason.
const DIFFERENT: [(u64, usize, &str); 3] = [
    (320, 4, SECOND_OF_SUSPENSION),
    (326, 2, SECOND_OF_SUSPENSION),
    (418, 4, SECOND_OF_SUSPENSION),
];

fn text(value: &Json) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn duration(seconds: i64) -> String {
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

fn utc(seconds: i64) -> String {
    let days = seconds.div_euclid(86400);
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days.rem_euclid(7)) as usize];
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let of_day = seconds.rem_euclid(86400);
    format!(
        "{weekday} {} {day:2} {} {year}",
        months[(month - 1) as usize],
        duration(of_day)
    )
}

/// The attributes of a job that qstat prints as they are recorded.
const ATTRIBUTES: [&str; 15] = [
    "queue",
    "queue_rank",
    "project",
    "accrue_type",
    "substate",
    "exec_vnode",
    "topjob_ineligible",
    "Hold_Types",
    "depend",
    "array_state_count",
    "array_indices_submitted",
    "array_indices_remaining",
    "run_count",
    "Rerunable",
    "resources_released",
];

/// `qstat -f -F json`
fn qstat(step: &Json) -> Json {
    let jobs =
        entries(&step["before"]).map(|job| (format!("{}.srv", text(&job["id"])), qstat_job(job)));
    let jobs: Map<String, Json> = jobs.collect();
    json!({"timestamp": step["before_time"].as_f64().unwrap() as i64, "pbs_version": "23.06.06", "pbs_server": "srv", "Jobs": jobs})
}

fn qstat_job(job: &Json) -> Json {
    let select = text(&job["select"]);
    let select = if select.starts_with(|first: char| first.is_ascii_digit()) {
        select
    } else {
        format!("1:{select}")
    };
    let mut resources = json!({"ncpus": job["ncpus"], "select": select, "nodect": job["nodect"].as_i64().unwrap_or(1)});
    for (name, amount) in job["resources"].as_object().into_iter().flatten() {
        resources[name] = amount.clone();
    }
    if let Some(walltime) = job["walltime"].as_i64() {
        resources["walltime"] = duration(walltime).into();
    }
    let mut document = json!({
        "Job_Name": "sleep", "Job_Owner": format!("{}@host", text(&job["user"])), "job_state": job["state"],
        "Account_Name": job["entity"], "Priority": job["priority"], "euser": job["user"], "egroup": job["group"],
        "eligible_time": duration(job["eligible_time"].as_i64().unwrap_or(0)),
    });
    if let Some(place) = job["place"].as_str() {
        resources["place"] = place.into();
    }
    document["Resource_List"] = resources;
    for name in ATTRIBUTES {
        if let Some(value) = job.get(name).filter(|value| !value.is_null()) {
            document[name] = value.clone();
        }
    }
    for name in ["ctime", "qtime", "etime", "stime", "Execution_Time"] {
        if let Some(seconds) = job[name].as_i64() {
            document[name] = utc(seconds).into();
        }
    }
    if job.get("array_state_count").is_some() {
        document["array"] = "True".into();
    }
    if let Some(used) = job["used_walltime"].as_i64() {
        document["resources_used"] = json!({ "walltime": duration(used) });
    }
    document
}

/// Attributes such as `resources_available.lic` as qstat prints them in JSON.
fn nested(attributes: &Json) -> Map<String, Json> {
    let mut nested = Map::new();
    for (name, value) in attributes.as_object().into_iter().flatten() {
        match name.split_once('.') {
            Some((list, name)) => {
                nested.entry(list).or_insert_with(|| json!({}))[name] = value.clone();
            }
            None => _ = nested.insert(name.clone(), value.clone()),
        }
    }
    nested
}

/// `qstat -Bf -F json`
fn server(settings: &Json) -> Json {
    let mut server =
        json!({"server_state": "Active", "eligible_time_enable": "True", "scheduling": "True"});
    server
        .as_object_mut()
        .unwrap()
        .extend(nested(&settings["server"]));
    json!({"timestamp": 0, "pbs_version": "23.06.06", "pbs_server": "srv", "Server": {"srv": server}})
}

/// `qstat -Qf -F json`, in the server's order
fn queues(settings: &Json, stopped: &[String]) -> String {
    let queues = entries(&settings["queue_order_in_server"]).map(|name| {
        let name = text(name);
        let mut queue = json!({"queue_type": "Execution", "Priority": settings["queue_priority"][&name], "enabled": "True",
            "started": if stopped.contains(&name) { "False" } else { "True" }});
        queue.as_object_mut().unwrap().extend(nested(&settings["queue_attrs"][&name]));
        format!("{name:?}: {queue}")
    });
    let queues: Vec<String> = queues.collect();
    format!(
        "{{\"timestamp\": 0, \"pbs_version\": \"23.06.06\", \"pbs_server\": \"srv\", \"Queue\": {{{}}}}}",
        queues.join(", ")
    )
}

fn sched_config(settings: &Json) -> String {
    let shipped = "by_queue: True\tALL\npreemptive_sched: true\tALL\nround_robin: False all\nstrict_ordering: false ALL\n\
        fair_share: false ALL\nresources: \"ncpus, mem, arch, host, vnode, aoe, eoe\"\nnode_sort_key: \"sort_priority HIGH\" ALL\n";
    let mut lines: Vec<String> = shipped.lines().map(str::to_owned).collect();
    for (name, value) in settings["sched_config_changed"].as_object().unwrap() {
        lines.retain(|line| !line.starts_with(&format!("{name}:")));
        match value {
            Json::Array(values) => lines.extend(
                values
                    .iter()
                    .map(|value| format!("{name}: {}", text(value))),
            ),
            Json::Null => {}
            value => lines.push(format!("{name}: {}", text(value))),
        }
    }
    lines.join("\n") + "\n"
}

/// `pbsnodes -av -F json`: the nodes that are recorded, else one, or two of one host or of two.
fn nodes(case: &Json, step: &Json) -> Json {
    let settings = &case["settings"];
    let recorded = [step, settings]
        .into_iter()
        .find_map(|record| record["nodes"].as_object());
    let nodes = recorded.map_or_else(|| nodes_of_processors(case), |nodes| json!(nodes));
    json!({"timestamp": 0, "pbs_version": "23.06.06", "pbs_server": "srv", "nodes": nodes})
}

fn nodes_of_processors(case: &Json) -> Json {
    let total = case["settings"]["ncpus"].as_i64().unwrap();
    let node = |host: &str, ncpus: i64| json!({"Mom": host, "ntype": "PBS", "state": "free", "resources_available": {"host": host, "ncpus": ncpus}});
    if case["settings"]["vnodes"] != 2 {
        return json!({"pbsvm": node("pbsvm", total)});
    }
    let has_two_hosts = text(&case["desc"]).contains("different hosts");
    let hosts = if has_two_hosts {
        ["pbsvm0", "pbsvm1"]
    } else {
        ["pbsvm", "pbsvm"]
    };
    // the natural vnode has no processors
    json!({"pbsvm": node("pbsvm", 0), "pbsvm[0]": node(hosts[0], total / 2), "pbsvm[1]": node(hosts[1], total - total / 2)})
}

/// `qmgr -c 'list sched'`
fn scheduler(settings: &Json) -> String {
    let attributes = settings["sched"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, value)| !value.is_null());
    let lines = attributes.map(|(name, value)| format!("    {name} = {}\n", text(value)));
    format!(
        "Sched default\n    scheduling = True\n{}",
        lines.collect::<String>()
    )
}

/// `pbs_rstat -f`
fn reservations(step: &Json) -> Option<String> {
    let line = |(name, value): (&String, &Json)| match (&**name, value.as_i64()) {
        ("reserve_start" | "reserve_end", Some(seconds)) => format!("{name} = {}\n", utc(seconds)),
        _ => format!("{name} = {}\n", text(value)),
    };
    let of_one = |(id, attributes): (&String, &Json)| {
        let lines: String = attributes.as_object().unwrap().iter().map(line).collect();
        format!("Resv ID: {id}.srv\n{lines}\n")
    };
    Some(
        step["reservations"]
            .as_object()?
            .iter()
            .map(of_one)
            .collect(),
    )
}

/// Writes the files that a site would have before a cycle.
fn write_site(folder: &Path, case: &Json, step: &Json, stopped: &[String]) {
    let settings = &case["settings"];
    let write = |name: &str, content: String| fs::write(folder.join(name), content).unwrap();
    fs::create_dir(folder.join("sched_priv")).unwrap();
    write("qstat.json", qstat(step).to_string());
    write("server.json", server(settings).to_string());
    write("queues.json", queues(settings, stopped));
    write("pbsnodes.json", nodes(case, step).to_string());
    write("qmgr_list_sched.txt", scheduler(settings));
    if let Some(reservations) = reservations(step) {
        write("pbs_rstat.txt", reservations);
    }
    write(
        "sched_priv/resource_group",
        text(&settings["resource_group"]),
    );
    write("sched_priv/sched_config", sched_config(settings));
    for name in ["holidays", "dedicated_time"] {
        if let Some(times) = settings[name].as_str() {
            write(&format!("sched_priv/{name}"), times.to_owned());
        }
    }
    let resources = settings["resourcedef"].as_str();
    let of_first = "lic type=long\nbase_score type=float\nproject_priority type=float\n";
    write("resourcedef", resources.unwrap_or(of_first).to_owned());
    let usage = settings["usage"].as_object().unwrap().iter();
    let usage: BTreeMap<&str, f64> = usage
        .map(|(name, usage)| (&**name, text(usage).parse().unwrap()))
        .collect();
    if !usage.is_empty() {
        fs::write(
            folder.join("sched_priv/usage"),
            jsf_testing::recorded::encode_usage_file(0, usage.into_iter()),
        )
        .unwrap();
    }
}

/// What `jsf cycle --site` says of a recorded cycle.
fn cycle(case: &Json, step: &Json, stopped: &[String]) -> Json {
    let folder = tempfile::tempdir().unwrap();
    write_site(folder.path(), case, step, stopped);
    let site = folder.path().display().to_string();
    let output = jsf(&[
        "cycle",
        "--site",
        &site,
        "--at",
        &text(&step["cycle_second"]),
        "--format",
        "json",
    ]);
    success(&output);
    json(&output)
}

/// The queues that are stopped before the last cycle of a case.
fn stopped_queues(case: &Json) -> Vec<String> {
    let actions = entries(&case["hook"]).filter(|action| action[0] == "stop queue");
    actions.map(|action| text(&action[1])).collect()
}

fn entries(list: &Json) -> impl Iterator<Item = &Json> {
    list.as_array().into_iter().flatten()
}

/// The recorded cycles of a case, each with its place among the steps, and what `jsf cycle` says of
/// it.
fn cycles(case: &Json) -> impl Iterator<Item = (usize, &Json, Json)> {
    let steps = case["steps"].as_array().unwrap();
    let recorded = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| !step["cycle"].is_null());
    recorded.map(move |(index, step)| {
        let stopped = if index + 1 == steps.len() {
            stopped_queues(case)
        } else {
            Vec::new()
        };
        (index, step, cycle(case, step, &stopped))
    })
}

/// What differs from the recorded cycle.
fn differences(step: &Json, found: &Json) -> Vec<String> {
    let mut differences = Vec::new();
    let recorded: Vec<Json> = entries(&step["cycle"]["started"])
        .map(|id| in_document(id).into())
        .collect();
    if found["started"] != json!(recorded) {
        differences.push(format!(
            "started {}, recorded {recorded:?}",
            found["started"]
        ));
    }
    let top_jobs = entries(&step["cycle"]["top_jobs"]);
    let recorded: Vec<Json> = top_jobs
        .map(|job| json!({"id": in_document(&job[0]), "start": job[1]}))
        .collect();
    if found["reserved"] != json!(recorded) {
        differences.push(format!(
            "reserved {}, recorded {recorded:?}",
            found["reserved"]
        ));
    }
    let preempted: Vec<&Json> = entries(&step["cycle"]["preempted"])
        .map(|one| &one[0])
        .collect();
    // the log has them in the order in which the server replied
    let recorded: BTreeSet<String> = preempted.iter().map(|id| in_document(id)).collect();
    let found_preempted: BTreeSet<String> = entries(&found["preempted"])
        .map(|one| text(&one["id"]).to_owned())
        .collect();
    if found_preempted != recorded && !step["cycle"]["preempted"].is_null() {
        differences.push(format!(
            "preempted {found_preempted:?}, recorded {recorded:?}"
        ));
    }
    for job in entries(&step["after"])
        .filter(|job| !job["accrue_type"].is_null() && !preempted.contains(&&job["id"]))
    {
        let id = in_document(&job["id"]);
        let (found, recorded) = (&found["accrue_types"][&id], &job["accrue_type"]);
        // a job that was just started has another type until its host has reported
        let is_starting = job["state"] == "R" && matches!(found.as_u64(), Some(2 | 3));
        if found != recorded && !is_starting {
            differences.push(format!(
                "accrue_type of {id} is {found}, recorded {recorded}"
            ));
        }
    }
    differences
}

/// An id as the documents have it.
fn in_document(id: &Json) -> String {
    text(id) + ".srv"
}

#[test]
fn cycles_are_those_of_the_scheduler() {
    let mut wrong = Vec::new();
    let mut different = Vec::new();
    let mut compared = 0;
    for case in ["cycles", "cycles2"]
        .into_iter()
        .flat_map(|recording| golden::lines::<Json>(&format!("{recording}/cases.jsonl.gz")))
    {
        let number = case["n"].as_u64().unwrap();
        for (index, step, found) in cycles(&case) {
            compared += 1;
            let differences = differences(step, &found);
            if differences.is_empty() {
                continue;
            }
            let mut known = DIFFERENT.iter();
            let known = known.find(|known| (known.0, known.1) == (number, index));
            let mut without = entries(&found["without"]);
            if known.is_some_and(|known| without.any(|left_out| left_out["what"] == known.2)) {
                different.push((number, index));
            } else {
                wrong.push(format!(
                    "{number} {}, cycle {index}: {}",
                    case["case"],
                    differences.join("\n  ")
                ));
            }
        }
    }
    println!("{compared} cycles compared");
    assert!(
        wrong.is_empty(),
        "{} differ\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(
        different,
        DIFFERENT.map(|(number, index, _)| (number, index))
    );
    assert_eq!(compared, 286 + 288);
}
