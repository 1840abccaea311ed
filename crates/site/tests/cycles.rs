//! Single cycles, compared with those of a real scheduler.

use std::collections::BTreeMap;

use job_sort_formula::Formula;
use jsf_openpbs::files::usage::encode_usage_file;
use jsf_site::{CycleRequest, CycledQueue, FileSource, Role, Site, SiteFiles, SiteOptions};
use jsf_testing::golden;
use serde_json::{Value as Json, json};

/// What the cycles are about that are recorded and not modelled: soft limits and preemption.
const NOT_MODELLED: [&str; 3] = ["express_preempt", "limit_soft", "limit_soft_prio"];

fn source(name: &str, text: String) -> FileSource {
    FileSource::Bytes { name: name.to_owned(), bytes: text.into_bytes().into() }
}

fn text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn duration(seconds: i64) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
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
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let of_day = seconds.rem_euclid(86400);
    format!("{weekday} {} {day:2} {} {year}", months[(month - 1) as usize], duration(of_day))
}

fn qstat(step: &Json) -> String {
    let mut jobs = serde_json::Map::new();
    for job in step["before"].as_array().unwrap() {
        let mut resources =
            json!({"ncpus": job["ncpus"], "select": format!("1:{}", text(&job["select"])), "nodect": 1});
        if let Some(walltime) = job["walltime"].as_i64() {
            resources["walltime"] = duration(walltime).into();
        }
        for (name, amount) in job["resources"].as_object().into_iter().flatten() {
            resources[name] = amount.clone();
        }
        let mut document = json!({
            "Job_Name": "sleep", "Job_Owner": format!("{}@host", text(&job["user"])), "job_state": job["state"],
            "queue": job["queue"], "Account_Name": job["entity"], "Priority": job["priority"],
            "ctime": utc(job["ctime"].as_i64().unwrap()), "qtime": utc(job["qtime"].as_i64().unwrap()),
            "etime": utc(job["etime"].as_i64().unwrap_or(0)), "Resource_List": resources, "substate": job["substate"],
            "euser": job["user"], "egroup": job["group"], "project": job["project"], "queue_rank": job["queue_rank"],
            "eligible_time": duration(job["eligible_time"].as_i64().unwrap()), "accrue_type": job["accrue_type"],
            "Hold_Types": job.get("Hold_Types").cloned().unwrap_or_else(|| "n".into()),
        });
        if let Some(stime) = job["stime"].as_i64() {
            document["stime"] = utc(stime).into();
        }
        for name in [
            "array_state_count",
            "array_indices_submitted",
            "array_indices_remaining",
            "topjob_ineligible",
            "exec_vnode",
        ] {
            if let Some(value) = job.get(name).filter(|value| !value.is_null()) {
                document[name] = value.clone();
            }
        }
        if job.get("array_state_count").is_some() {
            document["array"] = "True".into();
        }
        jobs.insert(format!("{}.srv", text(&job["id"])), document);
    }
    json!({"timestamp": step["before_time"].as_f64().unwrap() as i64, "pbs_version": "23.06.06", "pbs_server": "srv", "Jobs": jobs})
        .to_string()
}

fn server(settings: &Json) -> String {
    let mut server = json!({"server_state": "Active", "eligible_time_enable": "True", "scheduling": "True"});
    for (name, value) in settings["server"].as_object().unwrap() {
        server[name] = value.clone();
    }
    json!({"timestamp": 0, "pbs_version": "23.06.06", "pbs_server": "srv", "Server": {"srv": server}}).to_string()
}

fn queues(settings: &Json, stopped: &[String]) -> String {
    let mut queues = Vec::new();
    for name in settings["queue_order_in_server"].as_array().unwrap() {
        let name = text(name);
        let mut queue = json!({"queue_type": "Execution", "Priority": settings["queue_priority"][&name], "enabled": "True",
            "started": if stopped.contains(&name) { "False" } else { "True" }});
        for (attribute, value) in settings["queue_attrs"][&name].as_object().into_iter().flatten() {
            queue[attribute] = value.clone();
        }
        queues.push(format!("{name:?}: {queue}"));
    }
    format!(
        "{{\"timestamp\": 0, \"pbs_version\": \"23.06.06\", \"pbs_server\": \"srv\", \"Queue\": {{{}}}}}",
        queues.join(", ")
    )
}

fn sched_config(settings: &Json) -> String {
    let mut config = String::from(
        "by_queue: True\tALL\npreemptive_sched: true\tALL\nround_robin: False all\nstrict_ordering: false ALL\nfair_share: false ALL\n",
    );
    let changed = settings["sched_config_changed"].as_object().unwrap();
    let mut lines: Vec<String> = config.lines().map(str::to_owned).collect();
    for (name, value) in changed {
        lines.retain(|line| !line.starts_with(&format!("{name}:")));
        match value {
            Json::Array(values) => lines.extend(values.iter().map(|value| format!("{name}: {}", text(value)))),
            value => lines.push(format!("{name}: {}", text(value))),
        }
    }
    config = lines.join("\n");
    config + "\n"
}

/// The nodes: one, or two of one host or of two.
fn nodes(settings: &Json, has_two_hosts: bool) -> String {
    let total = settings["ncpus"].as_i64().unwrap();
    let node = |host: &str, ncpus: i64| json!({"Mom": host, "ntype": "PBS", "state": "free", "resources_available": {"host": host, "ncpus": ncpus}});
    let nodes = match settings["vnodes"].as_i64() {
        Some(2) => {
            let hosts = if has_two_hosts { ["pbsvm0", "pbsvm1"] } else { ["pbsvm", "pbsvm"] };
            json!({"pbsvm[0]": node(hosts[0], total / 2), "pbsvm[1]": node(hosts[1], total - total / 2)})
        }
        _ => json!({"pbsvm": node("pbsvm", total)}),
    };
    json!({"timestamp": 0, "pbs_version": "23.06.06", "pbs_server": "srv", "nodes": nodes}).to_string()
}

/// `qmgr -c 'list sched'`
fn scheduler(settings: &Json) -> String {
    let attributes = settings["sched"].as_object().unwrap().iter();
    let lines = attributes.map(|(name, value)| format!("    {name} = {}\n", text(value)));
    format!("Sched default\n    scheduling = True\n{}", lines.collect::<String>())
}

fn site(case: &Json, step: &Json, stopped: &[String]) -> Site {
    let settings = &case["settings"];
    let has_two_hosts = text(&case["desc"]).contains("different hosts");
    let resources = "lic type=long\nbase_score type=float\nproject_priority type=float\n";
    let mut files = SiteFiles::default()
        .with(Role::Queue, source("qstat.json", qstat(step)))
        .with(Role::Server, source("server.json", server(settings)))
        .with(Role::Server, source("qmgr_list_sched.txt", scheduler(settings)))
        .with(Role::Queues, source("queues.json", queues(settings, stopped)))
        .with(Role::Nodes, source("pbsnodes.json", nodes(settings, has_two_hosts)))
        .with(Role::ResourceGroup, source("resource_group", text(&settings["resource_group"])))
        .with(Role::SchedConfig, source("sched_config", sched_config(settings)))
        .with(Role::Resources, source("resourcedef", resources.to_owned()));
    let usage = settings["usage"].as_object().unwrap().iter();
    let usage: BTreeMap<&str, f64> = usage.map(|(name, usage)| (&**name, text(usage).parse().unwrap())).collect();
    if !usage.is_empty() {
        let bytes = encode_usage_file(0, usage.into_iter()).into();
        files = files.with(Role::Usage, FileSource::Bytes { name: "usage".to_owned(), bytes });
    }
    Site::from_files(files, SiteOptions::default()).unwrap()
}

/// The queues that are stopped before the last cycle of a case.
fn stopped_queues(case: &Json) -> Vec<String> {
    let actions = case.get("hook").and_then(Json::as_array).into_iter().flatten();
    actions.filter(|action| action[0] == "stop queue").map(|action| text(&action[1])).collect()
}

#[test]
fn cycles_are_those_of_the_scheduler() {
    let mut wrong = Vec::new();
    let (mut cycles, mut compared) = (0, 0);
    for case in golden::lines::<Json>("cycles/cases.jsonl") {
        let number = case["n"].as_i64().unwrap();
        let steps = case["steps"].as_array().unwrap();
        for (index, step) in steps.iter().enumerate().filter(|(_, step)| !step["cycle"].is_null()) {
            cycles += 1;
            let name = text(&case["case"]);
            if NOT_MODELLED.iter().any(|other| name.starts_with(other)) {
                continue;
            }
            compared += 1;
            let stopped = if index + 1 == steps.len() { stopped_queues(&case) } else { Vec::new() };
            let differences = differences(&case, step, &site(&case, step, &stopped));
            if !differences.is_empty() {
                wrong.push(format!("{number} {name}, cycle {index}: {}", differences.join("\n  ")));
            }
        }
    }
    println!("{compared} of {cycles} cycles compared");
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!((cycles, compared), (286, 264));
}

/// What differs from the recorded cycle.
fn differences(case: &Json, step: &Json, site: &Site) -> Vec<String> {
    let formula =
        case["settings"]["server"].get("job_sort_formula").map(|formula| Formula::parse(&text(formula)).unwrap());
    let request =
        CycleRequest { formula: formula.as_ref(), at: step["cycle_second"].as_i64(), ..CycleRequest::default() };
    let CycledQueue { started, reserved, accrue_types, .. } = site.cycle(&request).unwrap();
    let mut differences = Vec::new();
    let recorded: Vec<String> = step["cycle"]["started"].as_array().unwrap().iter().map(in_document).collect();
    if started != recorded {
        differences.push(format!("started {started:?}, recorded {recorded:?}"));
    }
    let reserved: Vec<(String, i64)> = reserved.into_iter().map(|one| (one.id, one.start)).collect();
    let top_jobs = step["cycle"]["top_jobs"].as_array().unwrap().iter();
    let recorded: Vec<(String, i64)> = top_jobs.map(|job| (in_document(&job[0]), job[1].as_i64().unwrap())).collect();
    if reserved != recorded {
        differences.push(format!("reserved {reserved:?}, recorded {recorded:?}"));
    }
    let accrue_types: BTreeMap<String, u8> = accrue_types.into_iter().collect();
    for job in step["after"].as_array().unwrap() {
        let id = in_document(&job["id"]);
        let recorded = job["accrue_type"].as_u64().unwrap();
        let found = accrue_types.get(&id).copied();
        // a job that was just started shows 2 until its host has reported
        let is_same = found.is_some_and(|found| u64::from(found) == recorded || (found == 3 && recorded == 2));
        if !is_same {
            differences.push(format!("accrue_type of {id} is {found:?}, recorded {recorded}"));
        }
    }
    differences
}

/// An id as the documents have it.
fn in_document(id: &Json) -> String {
    text(id) + ".srv"
}
