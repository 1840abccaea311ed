//! Slurm's policies against everything that real daemons said of recorded trees.
//!
//! `tests/golden/slurm/<tree>.json` has the tree and, by run, what `sshare -a -l` answered at 17 digits and as printed,
//! and the priorities of jobs. A run without a test here fails the one that counts them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use job_sort_formula::fairshare::decay::HalfLife;
use job_sort_formula::fairshare::policy::classic::Classic;
use job_sort_formula::fairshare::policy::depth_oblivious::DepthOblivious;
use job_sort_formula::fairshare::policy::fair_tree::FairTree;
use job_sort_formula::fairshare::policy::stored_shares;
use job_sort_formula::fairshare::policy::ticket_based::TicketBased;
use job_sort_formula::fairshare::x87::Extended;
use job_sort_formula::fairshare::{
    AssessedTree, Member, Naming, NodeId, NodeKind, Policy, Release, Rules, ShareTree, Shares, TreeBuilder,
};
use serde_json::Value;

fn golden(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/slurm").join(path)
}

fn text(path: &str) -> String {
    fs::read_to_string(golden(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every recorded tree, by name.
fn recordings() -> BTreeMap<String, Value> {
    let files = fs::read_dir(golden("")).expect("the folder").map(|entry| entry.expect("an entry").path());
    let trees = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let read = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, serde_json::from_str(&fs::read_to_string(&path).expect("readable")).expect("JSON"))
    };
    trees.map(read).collect()
}

fn field<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no text {name} in {value}"))
}

/// A number, however it is written.
fn number(value: &Value) -> f64 {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_else(|| panic!("{value} is no number"))
}

/// Whether the daemon keeps usage with its fraction.
#[derive(Clone, Copy, PartialEq)]
enum UsageKept {
    Exactly,
    /// 14.11's state file has whole numbers.
    Whole,
}

/// The tree as it was loaded: accounts in lower case, and the user that every cluster has, who comes last.
fn plant(recording: &Value, kept: UsageKept) -> ShareTree {
    plant_with(recording, kept, field(recording, "root_user"))
}

/// With the shares of the user `root`, which 26.11 did not change from 1 to 0 as it was told to.
fn plant_with(recording: &Value, kept: UsageKept, root_user: &str) -> ShareTree {
    let usage = |node: &Value| match kept {
        UsageKept::Exactly => number(&node["usage"]),
        UsageKept::Whole => number(&node["usage"]).trunc(),
    };
    let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
    for node in recording["nodes"].as_array().expect("nodes") {
        let (name, is_user) = (field(node, "name"), field(node, "kind") == "user");
        if !is_user && name == "root" {
            builder.charge(builder.root(), usage(node)).expect("a usage");
            continue;
        }
        let above = field(node, if is_user { "account" } else { "parent" }).to_lowercase();
        let member = if is_user { Member::entity(name) } else { Member::group(name.to_lowercase()) };
        let member = match node["shares"].as_str() {
            Some("parent") => member.shares_of_parent(),
            _ => member.shares(number(&node["shares"]) as i64),
        };
        builder.add_under(&above, member.usage(usage(node))).unwrap_or_else(|error| panic!("{error}"));
    }
    if root_user != "deleted" {
        let shares = i64::from(root_user == "default");
        builder.add_under("root", Member::entity("root").shares(shares)).expect("a new user");
    }
    builder.finish()
}

/// The node of a row or a job: an account, or a user in it.
fn find(tree: &ShareTree, account: &str, user: &str) -> NodeId {
    let account = account.to_lowercase();
    let is_account = |node: &NodeId| tree.kind(*node) != NodeKind::Entity;
    let account = tree.named(&account).find(is_account).unwrap_or_else(|| panic!("no account {account}"));
    if user.is_empty() { account } else { tree.find_in(account, user).expect("a user of the account") }
}

/// How far we are off, and over how many numbers.
#[derive(Default)]
struct Tally {
    values: usize,
    worst: f64,
    exact: usize,
}

impl Tally {
    /// Compares a number with a recorded one, to a relative 1e-12.
    fn compare(&mut self, ours: Option<f64>, recorded: Option<f64>, place: &str) {
        self.values += 1;
        let (Some(ours), Some(recorded)) = (ours, recorded) else {
            assert_eq!(ours, recorded, "{place}");
            self.exact += 1;
            return;
        };
        if ours == recorded {
            self.exact += 1;
            return;
        }
        let off = (ours - recorded).abs() / recorded.abs();
        assert!(off <= 1e-12, "{place}: {ours:e} for us, {recorded:e} for the daemon");
        self.worst = self.worst.max(off);
    }
}

/// One row of `sshare -a -l`: its numbers, and the numbers of its line as printed.
fn check_row(assessed: &AssessedTree, row: &Value, place: &str, tally: &mut Tally) {
    let place = format!("{place}: {}/{}", field(row, "account"), field(row, "user"));
    let node = find(assessed.tree(), field(row, "account"), field(row, "user"));
    let ours = assessed.shares().association(node).expect("an association");
    let recorded = |name: &str| match &row[name] {
        Value::Null => None,
        value => Some(number(value)).filter(|&number| number != 2f64.powi(64)),
    };
    for (name, number) in [
        ("norm_shares", ours.norm_shares),
        ("norm_usage", ours.norm_usage),
        ("eff_usage", ours.effective_usage),
        ("fairshare", ours.fairshare),
        ("level_fs", ours.level_fs),
    ] {
        tally.compare(number, recorded(name), &format!("{place} {name}"));
    }
    let six = |number: Option<f64>| number.map(|number| format!("{number:.6}")).unwrap_or_default();
    let raw_shares = match ours.raw_shares {
        None => String::new(),
        Some(Shares::Parent) => "parent".into(),
        Some(Shares::Count(count)) => count.to_string(),
    };
    let line = [
        raw_shares,
        six(ours.norm_shares),
        ours.raw_usage.map(|usage| (usage as u64).to_string()).unwrap_or_default(),
        six(ours.norm_usage),
        six(ours.effective_usage),
        six(ours.fairshare),
        six(ours.level_fs),
    ];
    let printed: Vec<&str> = field(row, "printed").split('|').skip(2).collect();
    // without fair tree there is no column for the level
    let columns = if printed.len() > 7 { 7 } else { 6 };
    assert_eq!(line[..columns], printed[..columns], "{place}");
    tally.values += columns;
    tally.exact += columns;
}

/// The factors of jobs, at seven digits, and their priorities, a million times the factor cut to a whole number. A
/// priority is at least 1, except in 14.11.
fn check_jobs(assessed: &AssessedTree, run: &Value, least: u32, place: &str, tally: &mut Tally) {
    for job in run["jobs"].as_array().expect("jobs") {
        let (account, user) = field(job, "job").split_once('/').expect("account/user");
        let node = find(assessed.tree(), account, user);
        let factor = assessed.shares().get(node).expect("shares").fairshare_factor;
        assert_eq!(format!("{factor:.7}"), field(job, "fs_factor"), "{place}: job of {account}/{user}");
        let priority = ((factor * 1e6) as u32).max(least);
        assert_eq!(f64::from(priority), number(&job["priority"]), "{place}: job of {account}/{user}: {factor:e}");
        tally.values += 2;
        tally.exact += 2;
    }
}

/// All runs of a kind over all trees.
fn check_runs(run: &str, policy: &dyn Policy) {
    let mut tally = Tally::default();
    for (name, recording) in recordings() {
        let recorded = &recording["results"][run];
        if recorded.is_null() {
            continue;
        }
        let place = format!("{name} {run}");
        let root_user = match field(&recording, "root_user") {
            "zero" if run.starts_with("v2611") => "default",
            root_user => root_user,
        };
        let assessed = AssessedTree::new(plant_with(&recording, UsageKept::Exactly, root_user), policy);
        let rows = recorded["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), assessed.tree().len(), "{place}");
        rows.iter().for_each(|row| check_row(&assessed, row, &place, &mut tally));
        check_jobs(&assessed, recorded, 1, &place, &mut tally);
    }
    report(run, &tally);
}

fn report(run: &str, tally: &Tally) {
    println!("{run}: {} values, {} exact, the others off by at most {:e}", tally.values, tally.exact, tally.worst);
    assert!(tally.values > 100, "{run}: only {} values", tally.values);
}

const DAEMON: Rules = Rules::Scheduler;

#[test]
fn classic_22_05() {
    check_runs("classic_d1", &Classic::new(DAEMON).release(Release::V22_05));
}

#[test]
fn classic_22_05_damped() {
    check_runs("classic_d5", &Classic::new(DAEMON).release(Release::V22_05).dampening(5));
}

#[test]
fn classic_26_11() {
    check_runs("v2611_classic_d1", &Classic::new(DAEMON).release(Release::V26_11));
}

#[test]
fn depth_oblivious_22_05() {
    check_runs("do_d1_settled", &DepthOblivious::new(DAEMON).release(Release::V22_05));
}

/// `sshare -a` was the first to ask after the daemon's start. The one number that is off by its last bit is a power
/// that glibc rounds to the nearer side: the settled runs have no such.
#[test]
fn depth_oblivious_22_05_in_the_first_cycle() {
    check_runs("do_d1", &DepthOblivious::new(DAEMON).release(Release::V22_05).first_cycle());
}

#[test]
fn depth_oblivious_22_05_damped_in_the_first_cycle() {
    check_runs("do_d5", &DepthOblivious::new(DAEMON).release(Release::V22_05).dampening(5).first_cycle());
}

#[test]
fn depth_oblivious_26_11() {
    check_runs("v2611_do_d1_settled", &DepthOblivious::new(DAEMON).release(Release::V26_11));
}

#[test]
fn depth_oblivious_26_11_damped() {
    check_runs("v2611_do_d5_settled", &DepthOblivious::new(DAEMON).release(Release::V26_11).dampening(5));
}

#[test]
fn fair_tree_22_05() {
    check_runs("ft", &FairTree::new(DAEMON).release(Release::V22_05));
}

#[test]
fn fair_tree_26_11() {
    check_runs("v2611_ft", &FairTree::new(DAEMON).release(Release::V26_11));
}

#[test]
fn tickets_for_few() {
    check_tickets("ticket_few");
}

#[test]
fn tickets_for_all() {
    check_tickets("ticket_all");
}

fn check_tickets(run: &str) {
    let mut tally = Tally::default();
    for (name, recording) in recordings() {
        let recorded = &recording["results"][run];
        if recorded.is_null() {
            continue;
        }
        let place = format!("{name} {run}");
        let tree = plant(&recording, UsageKept::Whole);
        let waiting: Vec<NodeId> = recorded["jobs"]
            .as_array()
            .expect("jobs")
            .iter()
            .map(|job| {
                let (account, user) = field(job, "job").split_once('/').expect("account/user");
                find(&tree, account, user)
            })
            .collect();
        let assessed = AssessedTree::new(tree, &TicketBased::new(DAEMON, waiting));
        let mut dealt = BTreeMap::new();
        for row in recorded["tickets"].as_array().expect("tickets") {
            dealt.insert(find(assessed.tree(), field(row, "account"), field(row, "user")), number(&row["tickets"]));
        }
        for node in assessed.tree().nodes().skip(1) {
            let ours = assessed.shares().association(node).expect("an association").tickets;
            assert_eq!(ours, dealt.get(&node).copied(), "{place}: {:?}", assessed.tree().path(node));
            tally.values += 1;
            tally.exact += 1;
        }
        check_jobs(&assessed, recorded, 0, &place, &mut tally);
        let lines = recorded["sshare"].as_array().expect("lines").iter().skip(1);
        lines.for_each(|line| check_ticket_line(&assessed, line.as_str().expect("a line"), &place, &mut tally));
    }
    report(run, &tally);
}

/// A line of 14.11's `sshare`, whose factor is the classic one of the effective usage: it knows nothing of tickets.
fn check_ticket_line(assessed: &AssessedTree, line: &str, place: &str, tally: &mut Tally) {
    let printed: Vec<&str> = line.trim_start().split('|').collect();
    let ours = assessed.shares().association(find(assessed.tree(), printed[0], printed[1])).expect("an association");
    let six = |number: Option<f64>| number.map(|number| format!("{number:.6}")).unwrap_or_default();
    let factor = ours.norm_shares.zip(ours.effective_usage).map(|(shares, usage)| match shares {
        0.0 => 0.0,
        _ => 2f64.powf(-usage / shares),
    });
    let raw_usage = ours.raw_usage.map(|usage| (usage as u64).to_string()).unwrap_or_default();
    let line = [six(ours.norm_shares), raw_usage, six(ours.norm_usage), six(ours.effective_usage), six(factor)];
    assert_eq!(line[..], printed[3..8], "{place}: {printed:?}");
    tally.values += 5;
    tally.exact += 5;
}

/// No run is left out.
#[test]
fn every_run_has_its_test() {
    let tested = [
        "classic_d1",
        "classic_d5",
        "v2611_classic_d1",
        "do_d1",
        "do_d5",
        "do_d1_settled",
        "v2611_do_d1_settled",
        "v2611_do_d5_settled",
        "ft",
        "v2611_ft",
        "ticket_few",
        "ticket_all",
    ];
    let recordings = recordings();
    assert!(recordings.len() >= 13, "only {} trees", recordings.len());
    let runs: BTreeSet<&str> = recordings
        .values()
        .flat_map(|recording| recording["results"].as_object().expect("runs").keys().map(String::as_str))
        .collect();
    assert_eq!(runs, BTreeSet::from(tested));
}

/// The order in which ties are looked at is the database's.
#[test]
fn siblings_stand_in_the_databases_order() {
    for (name, recording) in recordings() {
        let tree = plant(&recording, UsageKept::Exactly);
        let mut waiting = vec![tree.root()];
        let mut ours = Vec::new();
        while let Some(node) = waiting.pop() {
            ours.push(node);
            let users =
                |wanted: bool| move |tree: &ShareTree, node: NodeId| (tree.kind(node) == NodeKind::Entity) == wanted;
            for wanted in [false, true] {
                waiting.extend(tree.children(node).iter().rev().filter(|&&child| users(wanted)(&tree, child)));
            }
        }
        let rows = recording["db_order_2205"].as_array().expect("rows");
        let theirs: Vec<NodeId> =
            rows.iter().map(|row| find(&tree, field(row, "account"), field(row, "user"))).collect();
        // the user `root`, who is there before any account, comes last of all
        let loaded = |nodes: Vec<NodeId>| nodes.into_iter().filter(|&node| tree.path(node) != ["root"]).collect();
        let (ours, theirs): (Vec<NodeId>, Vec<NodeId>) = (loaded(ours), loaded(theirs));
        assert_eq!(ours, theirs, "{name}");
    }
}

/// Every `sacctmgr add account` that was accepted, and the shares that were stored in the end.
#[test]
fn shares_are_stored_as_recorded() {
    let recording = text("fairshare_values_2205.txt");
    let mut checked = 0;
    for line in recording.lines().filter(|line| line.starts_with("$ sacctmgr")) {
        let account = line.split("account ").nth(1).and_then(|rest| rest.split(' ').next()).expect("an account");
        let typed = line.split("fairshare=").nth(1).expect("shares");
        let stored = format!("{}||", account.to_lowercase());
        let (Some(stored), Ok(typed)) =
            (recording.lines().find_map(|line| line.strip_prefix(&stored)), typed.parse::<i64>())
        else {
            continue;
        };
        let ours = match stored_shares(typed) {
            Shares::Count(count) => count.to_string(),
            Shares::Parent => "parent".into(),
        };
        assert_eq!(ours, stored, "{typed}");
        checked += 1;
    }
    assert_eq!(checked, 7);
}

/// A running total of the trace: what `sshare` printed, rounded down, and when.
struct Poll {
    time: String,
    usage: BTreeMap<String, u64>,
}

fn polls(trace: &str) -> Vec<Poll> {
    let mut polls: Vec<Poll> = Vec::new();
    for line in text(&format!("decay_trace/{trace}/poll.txt")).lines() {
        if let Some(time) = line.strip_prefix("## ").filter(|time| !time.starts_with("SUBMIT")) {
            polls.push(Poll { time: time.to_owned(), usage: BTreeMap::new() });
        }
        let fields: Vec<&str> = line.trim_start().split('|').collect();
        if let ([account, user, usage, ..], Some(poll)) = (&fields[..], polls.last_mut()) {
            let Ok(usage) = usage.parse() else { continue };
            poll.usage.insert(format!("{account}/{user}"), usage);
        }
    }
    polls
}

/// The `usage_raw` of the state file in the end.
fn final_usage(trace: &str) -> Vec<String> {
    let text = text(&format!("decay_trace/{trace}/final_assoc_usage.txt"));
    let usage = text.lines().filter_map(|line| line.split("usage_raw ").nth(1)?.split(' ').next());
    usage.map(str::to_owned).collect()
}

/// `%Lf`: six decimals, ties to even.
fn printed(usage: Extended) -> String {
    let million = Extended::from(1_000_000u64);
    // the digits before the point first, so that what is left has bits to spare
    let whole = (0..64).rev().fold(0u64, |whole, bit| {
        let more = whole | 1 << bit;
        if Extended::from(more) <= usage { more } else { whole }
    });
    let rest = ((usage - Extended::from(whole)) * million).to_f64().round_ties_even() as u64;
    format!("{}.{:06}", whole + rest / 1_000_000, rest % 1_000_000)
}

/// Usage left alone fades as recorded: in the state file to all its 18 digits, in every poll of `sshare` to the unit.
#[test]
fn usage_fades_as_recorded() {
    let mut values = 0;
    for (trace, half_life, steps, others) in [
        ("2205_hl10min_job", 600, 4, &["77.524606"][..]),
        ("2611_hl7min", 420, 3, &[]),
        ("2205_hl20min_job_short_assoc", 1200, 1, &[]),
        ("2205_hl20min_job_short_limits", 1200, 1, &["9.603700"]),
    ] {
        let decay = HalfLife::new(half_life);
        let faded = |usage: f64, steps: u32| decay.decayed(Extended::from(usage), 60 * steps, 60);
        let expected: BTreeSet<String> =
            [3e11, 2e11, 2.5e11, 0.0].map(|usage| printed(faded(usage, steps))).into_iter().collect();
        for line in &final_usage(trace) {
            assert!(
                expected.contains(line) || others.contains(&line.as_str()),
                "{trace}: {line} is not in {expected:?}"
            );
            values += 1;
        }
        let polls = polls(trace);
        for poll in &polls {
            // the daemon's steps are 60 s apart, but where in the trace is for the trace to tell
            let step = (0..=steps).find(|&step| faded(2e11, step).to_f64() as u64 == poll.usage["b/u1"]);
            let step = step.unwrap_or_else(|| panic!("{trace} at {}: {:?}", poll.time, poll.usage));
            for (node, start) in [("b/", 2e11), ("c/", 2.5e11), ("c/u2", 2.5e11), ("a/", 4.5e11), ("e/u4", 2.5e11)] {
                assert_eq!(faded(start, step).to_f64() as u64, poll.usage[node], "{trace}, step {step}: {node}");
                values += 1;
            }
        }
        assert!(polls.len() > 10, "{trace}");
    }
    println!("decay: {values} values, all exact");
}

/// One cpu, billed as 1: what a job is charged in the cycle in which it started, in the next one and after its end.
#[test]
fn a_running_job_is_charged_as_recorded() {
    let decay = HalfLife::new(600);
    let charge = |seconds| Extended::from(decay.charge(seconds, 1.0));
    let first = charge(37);
    assert_eq!(format!("{:.4}", first.to_f64()), "35.4512");
    let second = decay.step(first, 60) + charge(60);
    assert_eq!(printed(second), "89.056899");
    // its last three seconds are lost, and two more cycles follow
    assert_eq!(printed(decay.decayed(second, 120, 60)), "77.524606");
}
