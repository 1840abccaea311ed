//! Single cycles, compared with those of a real scheduler.

use std::collections::HashMap;

use job_sort_formula::Formula;
use jsf_openpbs::cycle::{
    Cycle, CycleJob, CycleObserver, CycleRules, Decision, JobSource, Limit, LimitKind, Limits, Machine, Part,
    Placement, Refusal, Request, Reservation, UNLIMITED_WALLTIME,
};
use jsf_openpbs::files::queues::Queues;
use jsf_openpbs::files::sched_config::SchedConfig;
use jsf_openpbs::order::Order;
use jsf_site::{FileSource, Role, Site, SiteFiles, SiteOptions};
use jsf_testing::golden;
use serde_json::{Value as Json, json};

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

struct Jobs(Vec<OwnJob>);
struct OwnJob {
    id: String,
    amounts: [i64; 1],
    walltime: i64,
    queue: u32,
    user: u32,
    group: u32,
    project: u32,
    subjobs: u32,
    can: bool,
}
impl JobSource for Jobs {
    fn job(&self, index: u32) -> CycleJob<'_> {
        let job = &self.0[index as usize];
        CycleJob {
            request: Request::one_chunk(&job.amounts),
            walltime: job.walltime,
            queue: job.queue,
            user: job.user,
            group: job.group,
            project: job.project,
            subjobs: job.subjobs,
            can_be_reserved: job.can,
        }
    }
}
#[derive(Default)]
struct Names(HashMap<String, u32>);
impl Names {
    fn index(&mut self, name: &str) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(name.to_owned()).or_insert(next)
    }
}

struct Seen<'j> {
    jobs: &'j Jobs,
    started: Vec<String>,
    reserved: Vec<(String, i64)>,
    accrue: HashMap<String, u8>,
    subs: HashMap<String, Vec<i64>>,
    considered: Vec<String>,
}
impl CycleObserver for Seen<'_> {
    fn decided(&mut self, job: u32, decision: Decision, is_eligible: bool) {
        let id = self.jobs.0[job as usize].id.clone();
        if decision != Decision::Waits(Refusal::StrictOrdering) {
            self.considered.push(id.clone());
        }
        match decision {
            Decision::Starts => {
                let name = match self.subs.get_mut(&id) {
                    Some(left) => {
                        let n = left.remove(0);
                        id.replace("[]", &format!("[{n}]"))
                    }
                    None => id.clone(),
                };
                if self.subs.get(&id).is_some_and(Vec::is_empty) {
                    self.accrue.insert(id.clone(), 1);
                }
                if !id.contains("[]") {
                    self.accrue.insert(id.clone(), 3);
                }
                self.started.push(name);
            }
            Decision::Waits(_) => {
                self.accrue.insert(id, if is_eligible { 2 } else { 1 });
            }
        }
    }
    fn reserved(&mut self, reservation: Reservation) {
        let id = self.jobs.0[reservation.job as usize].id.clone();
        let name = match self.subs.get(&id) {
            Some(left) => id.replace("[]", &format!("[{}]", left[0])),
            None => id,
        };
        self.reserved.push((name, reservation.start));
    }
}

fn limits_of(value: &str, queue: Option<u32>, amount: Option<usize>, names: &mut [Names; 3], out: &mut Vec<Limit>) {
    for part in value.split('[').skip(1) {
        let (who, most) = part.split(']').next().unwrap().split_once('=').unwrap();
        let most: i64 = most.parse().unwrap();
        let (kind, name) = who.split_once(':').unwrap();
        let kind = match kind {
            "u" => LimitKind::User,
            "g" => LimitKind::Group,
            "p" => LimitKind::Project,
            _ => LimitKind::All,
        };
        let at = match out.iter().position(|l| l.queue == queue && l.kind == kind && l.amount == amount) {
            Some(i) => i,
            None => {
                out.push(Limit { queue, kind, amount, generic: None, named: Default::default() });
                out.len() - 1
            }
        };
        let limit = &mut out[at];
        match name {
            "PBS_GENERIC" | "PBS_ALL" => limit.generic = Some(most),
            name => {
                let index = match kind {
                    LimitKind::User => names[0].index(name),
                    LimitKind::Group => names[1].index(name),
                    _ => names[2].index(name),
                };
                limit.named.insert(index, most);
            }
        }
    }
}

fn indices(text: &str) -> Vec<i64> {
    text.split(',')
        .filter(|p| !p.is_empty() && *p != "-")
        .flat_map(|part| match part.split_once('-') {
            Some((a, b)) => {
                (a.parse().unwrap()..=b.split(':').next().unwrap().parse::<i64>().unwrap()).collect::<Vec<_>>()
            }
            None => vec![part.parse().unwrap()],
        })
        .collect()
}

#[test]
fn recorded() {
    let only: Option<i64> = std::env::var("ONLY").ok().and_then(|n| n.parse().ok());
    let mut wrong = 0;
    let mut total = 0;
    let mut skipped = 0;
    for case in golden::lines::<Json>("cycles/cases.jsonl") {
        let n = case["n"].as_i64().unwrap();
        if only.is_some_and(|only| only != n) {
            continue;
        }
        let settings = &case["settings"];
        let name = text(&case["case"]);
        let models_not = settings["sched"].get("preempt_prio").is_some()
            || name.starts_with("express_preempt")
            || name.starts_with("limit_soft");
        let mut stopped: Vec<String> = Vec::new();
        if let Some(hook) = case.get("hook").and_then(Json::as_array) {
            for action in hook {
                if action[0] == "stop queue" {
                    stopped.push(text(&action[1]));
                }
            }
        }
        for (step_index, step) in case["steps"].as_array().unwrap().iter().enumerate() {
            if step["cycle"].is_null() {
                continue;
            }
            let is_last = step_index + 1 == case["steps"].as_array().unwrap().len();
            let stopped = if is_last { stopped.clone() } else { Vec::new() };
            let message = run(settings, step, &stopped, text(&case["desc"]).contains("different hosts"));
            total += 1;
            if models_not {
                skipped += 1;
                continue;
            }
            if let Some(message) = message {
                wrong += 1;
                println!("{n} {name} step {step_index} {}\n{message}", text(&step["note"]));
            }
        }
    }
    println!("{wrong} of {total}, {skipped} not modelled");
    assert_eq!(wrong, 0);
}

fn run(settings: &Json, step: &Json, stopped: &[String], is_hosts: bool) -> Option<String> {
    let formula_text = settings["server"].get("job_sort_formula").map(text);
    let mut files = SiteFiles::default()
        .with(Role::Queue, source("qstat.json", qstat(step)))
        .with(Role::Server, source("server.json", server(settings)))
        .with(Role::Queues, source("queues.json", queues(settings, stopped)))
        .with(Role::ResourceGroup, source("resource_group", text(&settings["resource_group"])))
        .with(Role::SchedConfig, source("sched_config", sched_config(settings)))
        .with(
            Role::Resources,
            source("resourcedef", "lic type=long\nbase_score type=float\nproject_priority type=float\n".into()),
        );
    let usage: Vec<(String, f64)> = settings["usage"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(n, v)| (n.clone(), v.as_f64().unwrap_or_else(|| text(v).parse().unwrap())))
        .collect();
    if !usage.is_empty() {
        let records: Vec<_> = usage.iter().map(|(n, v)| (n.as_str(), *v)).collect();
        files = files.with(
            Role::Usage,
            FileSource::Bytes {
                name: "usage".into(),
                bytes: jsf_openpbs::files::usage::encode_usage_file(0, records.into_iter()).into(),
            },
        );
    }
    let options = SiteOptions {
        threshold: settings["sched"].get("job_sort_formula_threshold").map(|t| text(t).parse().unwrap()),
        ..SiteOptions::default()
    };
    let site = Site::from_files(files, options).unwrap();
    let config = SchedConfig::parse(sched_config(settings).as_bytes());
    let queue_doc = Queues::read("q", &queues(settings, stopped)).unwrap();
    let text_of = formula_text.clone().unwrap_or_else(|| "0".into());
    let formula = Formula::parse(&text_of).unwrap();
    let ranked = site.rank(&formula).unwrap();
    let table = &ranked.table;
    let by_id: HashMap<String, &Json> =
        step["before"].as_array().unwrap().iter().map(|j| (format!("{}.srv", text(&j["id"])), j)).collect();
    let mut names: [Names; 3] = Default::default();
    let mut queue_names = Names::default();
    let mut limits = Vec::new();
    let add_all = |object: &Json, queue: Option<u32>, names: &mut [Names; 3], limits: &mut Vec<Limit>| {
        for (attribute, value) in object.as_object().into_iter().flatten() {
            match attribute.as_str() {
                "max_run" => limits_of(value.as_str().unwrap(), queue, None, names, limits),
                "max_run_res.ncpus" => limits_of(value.as_str().unwrap(), queue, Some(0), names, limits),
                _ => {}
            }
        }
    };
    add_all(&settings["server"], None, &mut names, &mut limits);
    let mut queue_depths = Vec::new();
    for queue in settings["queue_order_in_server"].as_array().unwrap() {
        let index = queue_names.index(queue.as_str().unwrap());
        let attrs = &settings["queue_attrs"][queue.as_str().unwrap()];
        add_all(attrs, Some(index), &mut names, &mut limits);
        queue_depths
            .push(attrs.get("backfill_depth").map(|d| d.as_u64().unwrap_or_else(|| text(d).parse().unwrap()) as u32));
    }
    let mut jobs = Vec::new();
    let mut subjobs = Vec::new();
    let mut subs = HashMap::new();
    for row in 0..table.len() {
        let job = by_id[table.id(row)];
        let remaining = job.get("array_indices_remaining").map(|r| indices(r.as_str().unwrap()));
        let count = remaining.as_ref().map_or(1, Vec::len) as u32;
        let id = text(&job["id"]);
        if let Some(remaining) = remaining {
            subs.insert(id.clone(), remaining);
        }
        subjobs.push(count);
        jobs.push(OwnJob {
            id,
            amounts: [job["ncpus"].as_i64().unwrap()],
            walltime: job["walltime"].as_i64().unwrap_or(UNLIMITED_WALLTIME),
            queue: queue_names.index(job["queue"].as_str().unwrap()),
            user: names[0].index(job["user"].as_str().unwrap()),
            group: names[1].index(job["group"].as_str().unwrap()),
            project: names[2].index(job["project"].as_str().unwrap()),
            subjobs: count,
            can: job.get("topjob_ineligible").is_none_or(|v| v != "True"),
        });
    }
    let jobs = Jobs(jobs);
    let total = settings["ncpus"].as_i64().unwrap();

    let hosts = is_hosts;
    let pools = if hosts { vec![vec![total / 2], vec![total - total / 2]] } else { vec![vec![total]] };
    let mut machine = Machine::new(&pools);
    let mut limits = Limits::new(limits);
    let now = step["cycle_second"].as_i64().unwrap();
    for row in 0..table.len() {
        let job = by_id[table.id(row)];
        if job["state"] == "R" || job["state"] == "E" {
            let placement = if hosts {
                let vnode = text(&job["exec_vnode"]);
                let parts: Vec<Part> = vnode
                    .trim_matches(['(', ')'])
                    .split('+')
                    .map(|p| {
                        let (v, n) = p.trim_matches(['(', ')']).split_once(":ncpus=").unwrap();
                        Part { pool: u32::from(v.contains("[1]")), amounts: vec![n.parse().unwrap()].into() }
                    })
                    .collect();
                Placement::Parts(parts.into())
            } else {
                Placement::Whole(0)
            };
            let of = jobs.job(row as u32);
            machine.start(row as u32, &of.request, placement, job["stime"].as_i64().unwrap() + of.walltime);
            limits.start(&of);
        }
    }
    let window = match settings["sched"].get("opt_backfill_fuzzy").and_then(Json::as_str) {
        Some("off") => 1,
        Some("medium") => 600,
        Some("high") => 3600,
        _ => 60,
    };
    let rules = CycleRules {
        strict_ordering: config.strict_ordering.prime,
        backfill_depth: settings["server"]
            .get("backfill_depth")
            .map_or(1, |d| d.as_u64().unwrap_or_else(|| text(d).parse().unwrap()) as u32),
        queue_depths,
        window,
    };
    let mut rows: Vec<usize> = ranked.ranking.order().to_vec();
    rows.retain(|&row| subjobs[row] > 0 && !stopped.contains(&table.queue(row).to_owned()));
    let charges: Vec<f64> = (0..table.len())
        .map(|row| {
            if config.fairshare_usage_res == "ncpus*walltime" {
                let j = &jobs.0[row];
                (j.amounts[0] * j.walltime) as f64
            } else {
                0.0
            }
        })
        .collect();
    let entities: Vec<String> = table.entities().iter().map(|e| e.to_string()).collect();
    let tree = jsf_openpbs::share_tree::PbsTreeBuilder::new(&jsf_openpbs::files::resource_group::ResourceGroup::parse(
        text(&settings["resource_group"]).as_bytes(),
    ))
    .usage(&jsf_openpbs::files::usage::UsageFile {
        last_decay: None,
        records: usage
            .iter()
            .map(|(n, v)| jsf_openpbs::files::usage::UsageRecord { entity: n.clone(), usage: *v, offset: 0 })
            .collect(),
        ..Default::default()
    })
    .unknown_shares(config.unknown_shares)
    .with_entities(entities)
    .build()
    .unwrap();
    let mut order = Order::new(&config, &queue_doc).tree(&tree);
    if let Some(threshold) = options.threshold {
        order = order.threshold(threshold);
    }
    let mut accrue: HashMap<String, u8> = HashMap::new();
    for row in 0..table.len() {
        let job = by_id[table.id(row)];
        accrue.insert(text(&job["id"]), job["accrue_type"].as_u64().unwrap() as u8);
    }
    for (row, why) in &ranked.not_considered {
        if !matches!(why, jsf_openpbs::order::NotConsidered::NoShares) {
            accrue.insert(jobs.0[*row].id.clone(), 1);
        }
    }
    let mut seen = Seen { jobs: &jobs, started: vec![], reserved: vec![], accrue, subs, considered: vec![] };
    let mut candidates = order.candidates(ranked.ranking.scores(), table, rows.into_iter(), charges, &mut subjobs);
    Cycle::new(now, &rules, &mut machine, &mut limits, &jobs).run(&mut candidates, &mut seen);
    let strings = |value: &Json| -> Vec<String> { value.as_array().unwrap().iter().map(text).collect() };
    let started = strings(&step["cycle"]["started"]);
    let top: Vec<(String, i64)> = step["cycle"]["top_jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| (text(&t[0]), t[1].as_i64().unwrap_or(-1)))
        .collect();
    let mut message = String::new();
    let considered = strings(&step["cycle"]["considered"]);
    if considered != seen.considered {
        message += &format!("  considered {considered:?}\n        ours {:?}\n", seen.considered);
    }
    if started != seen.started {
        message += &format!("  started {started:?}\n     ours {:?}\n", seen.started);
    }
    if top != seen.reserved {
        message += &format!("  top {top:?}\n ours {:?}\n", seen.reserved);
    }
    for job in step["after"].as_array().unwrap() {
        let id = text(&job["id"]);
        let (Some(theirs), Some(ours)) = (job["accrue_type"].as_u64(), seen.accrue.get(&id)) else { continue };
        let ours = u64::from(*ours);
        if theirs != ours && !(ours == 3 && theirs == 2) {
            message += &format!("  accrue {id}: {theirs}, ours {ours}\n");
        }
    }
    (!message.is_empty()).then_some(message)
}
