//! Slurm's policies, compared with all that recorded daemons reported about the same trees.
//!
//! `tests/golden/slurm/<tree>.json` holds the tree and, for each run, the output of `sshare -a -l`
//! with 17 digits and as printed, and the priorities of jobs. `every_run_has_a_test` fails if a run
//! is not tested here.

use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::fairshare::decay::HalfLife;
use job_sort_formula::fairshare::x87::Extended;
use job_sort_formula::fairshare::{
    AssessedTree, Classic, DepthOblivious, FairTree, Member, Naming, NodeId, NodeKind, Policy,
    PolicyRules, Release, ShareTree, Shares, TicketBased, TreeBuilder, stored_shares,
};
use jsf_testing::golden::{self, field, slurm_trees};
use serde_json::Value;

/// A number, whether it is written as a number or as a text.
fn number(value: &Value) -> f64 {
    golden::number(value).unwrap_or_else(|| panic!("{value} is no number"))
}

/// Whether the daemon stores fractions of usage.
#[derive(Clone, Copy, PartialEq)]
enum UsagePrecision {
    Exact,
    /// The state file of 14.11 holds integers.
    Integer,
}

/// The tree as it was loaded: accounts in lower case, and last the user `root`, which every cluster
/// has.
fn share_tree(recording: &Value, precision: UsagePrecision) -> ShareTree {
    share_tree_with_root_user(recording, precision, field(recording, "root_user"))
}

/// The same with explicit shares of the user `root`: 26.11 did not change them from 1 to 0 when it
/// should have.
fn share_tree_with_root_user(
    recording: &Value,
    precision: UsagePrecision,
    root_user: &str,
) -> ShareTree {
    let usage = |node: &Value| match precision {
        UsagePrecision::Exact => number(&node["usage"]),
        UsagePrecision::Integer => number(&node["usage"]).trunc(),
    };
    let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
    for node in recording["nodes"].as_array().expect("nodes") {
        let (name, is_user) = (field(node, "name"), field(node, "kind") == "user");
        if !is_user && name == "root" {
            builder
                .charge(builder.root(), usage(node))
                .expect("a usage");
            continue;
        }
        let above = field(node, if is_user { "account" } else { "parent" }).to_lowercase();
        let member = if is_user {
            Member::entity(name)
        } else {
            Member::group(name.to_lowercase())
        };
        let member = match node["shares"].as_str() {
            Some("parent") => member.shares_of_parent(),
            _ => member.shares(number(&node["shares"]) as i64),
        };
        builder
            .add_under(&above, member.usage(usage(node)))
            .unwrap_or_else(|error| panic!("{error}"));
    }
    if root_user != "deleted" {
        let shares = i64::from(root_user == "default");
        builder
            .add_under("root", Member::entity("root").shares(shares))
            .expect("a new user");
    }
    builder.finish()
}

/// The node of a row or a job: an account, or a user of it.
fn find(tree: &ShareTree, account: &str, user: &str) -> NodeId {
    let account = account.to_lowercase();
    let is_account = |node: &NodeId| tree.kind(*node) != NodeKind::Entity;
    let account = tree
        .named(&account)
        .find(is_account)
        .unwrap_or_else(|| panic!("no account {account}"));
    if user.is_empty() {
        account
    } else {
        tree.find_in(account, user).expect("a user of the account")
    }
}

/// How many numbers were compared, and the largest relative difference.
#[derive(Default)]
struct Tally {
    values: usize,
    worst: f64,
    exact: usize,
}

impl Tally {
    /// Compares a number with a recorded one, with a relative tolerance of 1e-12.
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
        assert!(
            off <= 1e-12,
            "{place}: {ours:e} here, {recorded:e} in the daemon"
        );
        self.worst = self.worst.max(off);
    }
}

/// Compares a row of `sshare -a -l`: its numbers, and its line as printed.
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
    let six = |number: Option<f64>| {
        number
            .map(|number| format!("{number:.6}"))
            .unwrap_or_default()
    };
    let raw_shares = match ours.raw_shares {
        None => String::new(),
        Some(Shares::Parent) => "parent".into(),
        Some(Shares::Count(count)) => count.to_string(),
    };
    let line = [
        raw_shares,
        six(ours.norm_shares),
        ours.raw_usage
            .map(|usage| (usage as u64).to_string())
            .unwrap_or_default(),
        six(ours.norm_usage),
        six(ours.effective_usage),
        six(ours.fairshare),
        six(ours.level_fs),
    ];
    let printed: Vec<&str> = field(row, "printed").split('|').skip(2).collect();
    // only fair tree has a column LevelFS
    let columns = if printed.len() > 7 { 7 } else { 6 };
    assert_eq!(line[..columns], printed[..columns], "{place}");
    tally.values += columns;
    tally.exact += columns;
}

/// Compares the factors of jobs, to seven digits, and their priorities: the factor times a million,
/// truncated. A priority is at least 1, except in 14.11.
fn check_jobs(assessed: &AssessedTree, run: &Value, least: u32, place: &str, tally: &mut Tally) {
    for job in run["jobs"].as_array().expect("jobs") {
        let (account, user) = field(job, "job").split_once('/').expect("account/user");
        let node = find(assessed.tree(), account, user);
        let factor = assessed
            .shares()
            .get(node)
            .expect("shares")
            .fairshare_factor;
        assert_eq!(
            format!("{factor:.7}"),
            field(job, "fs_factor"),
            "{place}: job of {account}/{user}"
        );
        let priority = ((factor * 1e6) as u32).max(least);
        assert_eq!(
            f64::from(priority),
            number(&job["priority"]),
            "{place}: job of {account}/{user}: {factor:e}"
        );
        tally.values += 2;
        tally.exact += 2;
    }
}

/// Compares a run on all trees that have it.
fn check_runs(run: &str, policy: &dyn Policy) {
    let mut tally = Tally::default();
    for (name, recording) in slurm_trees() {
        let recorded = &recording["results"][run];
        if recorded.is_null() {
            continue;
        }
        let place = format!("{name} {run}");
        let root_user = match field(&recording, "root_user") {
            "zero" if run.starts_with("v2611") => "default",
            root_user => root_user,
        };
        let assessed = AssessedTree::new(
            share_tree_with_root_user(&recording, UsagePrecision::Exact, root_user),
            policy,
        );
        let rows = recorded["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), assessed.tree().len(), "{place}");
        rows.iter()
            .for_each(|row| check_row(&assessed, row, &place, &mut tally));
        check_jobs(&assessed, recorded, 1, &place, &mut tally);
    }
    report(run, &tally);
}

/// How many values of each run are compared at least.
const FLOORS: [(&str, usize); 12] = [
    ("classic_d1", 3794),
    ("classic_d5", 3610),
    ("do_d1", 3610),
    ("do_d1_settled", 3610),
    ("do_d5", 3610),
    ("ft", 3794),
    ("ticket_all", 2048),
    ("ticket_few", 1772),
    ("v2611_classic_d1", 3794),
    ("v2611_do_d1_settled", 3610),
    ("v2611_do_d5_settled", 1332),
    ("v2611_ft", 3794),
];

fn report(run: &str, tally: &Tally) {
    println!(
        "{run}: {} values, {} exact, the others off by at most {:e}",
        tally.values, tally.exact, tally.worst
    );
    let floor = FLOORS
        .iter()
        .find(|(name, _)| *name == run)
        .map(|(_, floor)| *floor);
    assert!(
        tally.values >= floor.expect("a floor"),
        "{run}: only {} values",
        tally.values
    );
}

const DAEMON: PolicyRules = PolicyRules::Scheduler;

#[test]
fn classic_22_05() {
    check_runs("classic_d1", &Classic::new(DAEMON).release(Release::V22_05));
}

#[test]
fn classic_22_05_damped() {
    check_runs(
        "classic_d5",
        &Classic::new(DAEMON).release(Release::V22_05).dampening(5),
    );
}

#[test]
fn classic_26_11() {
    check_runs(
        "v2611_classic_d1",
        &Classic::new(DAEMON).release(Release::V26_11),
    );
}

#[test]
fn depth_oblivious_22_05() {
    check_runs(
        "do_d1_settled",
        &DepthOblivious::new(DAEMON).release(Release::V22_05),
    );
}

/// `sshare -a` was the first request after the start of the daemon. One number differs in its last
/// bit: a power that glibc rounds correctly.
#[test]
fn depth_oblivious_22_05_in_the_first_cycle() {
    check_runs(
        "do_d1",
        &DepthOblivious::new(DAEMON)
            .release(Release::V22_05)
            .first_cycle(&[]),
    );
}

#[test]
fn depth_oblivious_22_05_damped_in_the_first_cycle() {
    check_runs(
        "do_d5",
        &DepthOblivious::new(DAEMON)
            .release(Release::V22_05)
            .dampening(5)
            .first_cycle(&[]),
    );
}

#[test]
fn depth_oblivious_26_11() {
    check_runs(
        "v2611_do_d1_settled",
        &DepthOblivious::new(DAEMON).release(Release::V26_11),
    );
}

#[test]
fn depth_oblivious_26_11_damped() {
    check_runs(
        "v2611_do_d5_settled",
        &DepthOblivious::new(DAEMON)
            .release(Release::V26_11)
            .dampening(5),
    );
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
fn tickets_with_few_waiting_users() {
    check_tickets("ticket_few");
}

#[test]
fn tickets_with_all_users_waiting() {
    check_tickets("ticket_all");
}

fn check_tickets(run: &str) {
    let mut tally = Tally::default();
    for (name, recording) in slurm_trees() {
        let recorded = &recording["results"][run];
        if recorded.is_null() {
            continue;
        }
        let place = format!("{name} {run}");
        let tree = share_tree(&recording, UsagePrecision::Integer);
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
        let mut recorded_tickets = BTreeMap::new();
        for row in recorded["tickets"].as_array().expect("tickets") {
            recorded_tickets.insert(
                find(assessed.tree(), field(row, "account"), field(row, "user")),
                number(&row["tickets"]),
            );
        }
        for node in assessed.tree().nodes().skip(1) {
            let ours = assessed
                .shares()
                .association(node)
                .expect("an association")
                .tickets;
            assert_eq!(
                ours,
                recorded_tickets.get(&node).copied(),
                "{place}: {:?}",
                assessed.tree().path(node)
            );
            tally.values += 1;
            tally.exact += 1;
        }
        check_jobs(&assessed, recorded, 0, &place, &mut tally);
        let lines = recorded["sshare"].as_array().expect("lines").iter().skip(1);
        lines.for_each(|line| {
            check_ticket_line(
                &assessed,
                line.as_str().expect("a line"),
                &place,
                &mut tally,
            )
        });
    }
    report(run, &tally);
}

/// Compares a line of the `sshare` of 14.11, which ignores tickets: its factor is the classic one
/// of the effective usage.
fn check_ticket_line(assessed: &AssessedTree, line: &str, place: &str, tally: &mut Tally) {
    let printed: Vec<&str> = line.trim_start().split('|').collect();
    let ours = assessed
        .shares()
        .association(find(assessed.tree(), printed[0], printed[1]))
        .expect("an association");
    let six = |number: Option<f64>| {
        number
            .map(|number| format!("{number:.6}"))
            .unwrap_or_default()
    };
    let factor = ours
        .norm_shares
        .zip(ours.effective_usage)
        .map(|(shares, usage)| match shares {
            0.0 => 0.0,
            _ => 2f64.powf(-usage / shares),
        });
    let raw_usage = ours
        .raw_usage
        .map(|usage| (usage as u64).to_string())
        .unwrap_or_default();
    let line = [
        six(ours.norm_shares),
        raw_usage,
        six(ours.norm_usage),
        six(ours.effective_usage),
        six(factor),
    ];
    assert_eq!(line[..], printed[3..8], "{place}: {printed:?}");
    tally.values += 5;
    tally.exact += 5;
}

#[test]
fn every_run_has_a_test() {
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
    let recordings = slurm_trees();
    assert!(recordings.len() >= 13, "only {} trees", recordings.len());
    let runs: BTreeSet<&str> = recordings
        .values()
        .flat_map(|recording| {
            recording["results"]
                .as_object()
                .expect("runs")
                .keys()
                .map(String::as_str)
        })
        .collect();
    assert_eq!(runs, BTreeSet::from(tested));
}

/// Ties are broken by the order in the database.
#[test]
fn siblings_are_in_the_order_of_the_database() {
    for (name, recording) in slurm_trees() {
        let tree = share_tree(&recording, UsagePrecision::Exact);
        let mut waiting = vec![tree.root()];
        let mut ours = Vec::new();
        while let Some(node) = waiting.pop() {
            ours.push(node);
            let users = |wanted: bool| {
                move |tree: &ShareTree, node: NodeId| {
                    (tree.kind(node) == NodeKind::Entity) == wanted
                }
            };
            for wanted in [false, true] {
                waiting.extend(
                    tree.children(node)
                        .iter()
                        .rev()
                        .filter(|&&child| users(wanted)(&tree, child)),
                );
            }
        }
        let rows = recording["db_order_2205"].as_array().expect("rows");
        let theirs: Vec<NodeId> = rows
            .iter()
            .map(|row| find(&tree, field(row, "account"), field(row, "user")))
            .collect();
        // the user `root`, which exists before any account, is last
        let loaded = |nodes: Vec<NodeId>| {
            nodes
                .into_iter()
                .filter(|&node| tree.path(node) != ["root"])
                .collect()
        };
        let (ours, theirs): (Vec<NodeId>, Vec<NodeId>) = (loaded(ours), loaded(theirs));
        assert_eq!(ours, theirs, "{name}");
    }
}

/// Every `sacctmgr add account` that was accepted, and the shares that the database then held.
#[test]
fn shares_are_stored_as_recorded() {
    let recording = golden::text("slurm/fairshare_values_2205.txt");
    let mut checked = 0;
    for line in recording
        .lines()
        .filter(|line| line.starts_with("$ sacctmgr"))
    {
        let account = line
            .split("account ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next())
            .expect("an account");
        let requested = line.split("fairshare=").nth(1).expect("shares");
        let stored = format!("{}||", account.to_lowercase());
        let (Some(stored), Ok(requested)) = (
            recording
                .lines()
                .find_map(|line| line.strip_prefix(&stored)),
            requested.parse::<i64>(),
        ) else {
            continue;
        };
        let ours = match stored_shares(requested) {
            Shares::Count(count) => count.to_string(),
            Shares::Parent => "parent".into(),
        };
        assert_eq!(ours, stored, "{requested}");
        checked += 1;
    }
    assert_eq!(checked, 7);
}

/// The output of `sshare` at one time of the trace: usage, rounded down.
struct Poll {
    time: String,
    usage: BTreeMap<String, u64>,
}

fn polls(trace: &str) -> Vec<Poll> {
    let mut polls: Vec<Poll> = Vec::new();
    for line in golden::text(&format!("slurm/decay_trace/{trace}/poll.txt")).lines() {
        if let Some(time) = line
            .strip_prefix("## ")
            .filter(|time| !time.starts_with("SUBMIT"))
        {
            polls.push(Poll {
                time: time.to_owned(),
                usage: BTreeMap::new(),
            });
        }
        let fields: Vec<&str> = line.trim_start().split('|').collect();
        if let ([account, user, usage, ..], Some(poll)) = (&fields[..], polls.last_mut()) {
            let Ok(usage) = usage.parse() else { continue };
            poll.usage.insert(format!("{account}/{user}"), usage);
        }
    }
    polls
}

/// The `usage_raw` values of the state file at the end of the trace.
fn final_usage(trace: &str) -> Vec<String> {
    let text = golden::text(&format!("slurm/decay_trace/{trace}/final_assoc_usage.txt"));
    let usage = text
        .lines()
        .filter_map(|line| line.split("usage_raw ").nth(1)?.split(' ').next());
    usage.map(str::to_owned).collect()
}

/// `%Lf`: six decimals, ties to even.
fn printed(usage: Extended) -> String {
    let million = Extended::from(1_000_000u64);
    // the integer part first, so that the fraction keeps enough bits
    let whole = (0..64).rev().fold(0u64, |whole, bit| {
        let more = whole | 1 << bit;
        if Extended::from(more) <= usage {
            more
        } else {
            whole
        }
    });
    let rest = ((usage - Extended::from(whole)) * million)
        .to_f64()
        .round_ties_even() as u64;
    format!("{}.{:06}", whole + rest / 1_000_000, rest % 1_000_000)
}

/// Usage without new jobs decays as recorded: in the state file to all 18 digits, in every `sshare`
/// to the unit.
#[test]
fn usage_decays_as_recorded() {
    let mut values = 0;
    for (trace, half_life, steps, others) in [
        ("2205_hl10min_job", 600, 4, &["77.524606"][..]),
        ("2611_hl7min", 420, 3, &[]),
        ("2205_hl20min_job_short_assoc", 1200, 1, &[]),
        ("2205_hl20min_job_short_limits", 1200, 1, &["9.603700"]),
    ] {
        let decay = HalfLife::new(half_life);
        let decayed = |usage: f64, steps: u32| decay.decayed(Extended::from(usage), 60 * steps, 60);
        let expected: BTreeSet<String> = [3e11, 2e11, 2.5e11, 0.0]
            .map(|usage| printed(decayed(usage, steps)))
            .into_iter()
            .collect();
        for line in &final_usage(trace) {
            assert!(
                expected.contains(line) || others.contains(&line.as_str()),
                "{trace}: {line} is not in {expected:?}"
            );
            values += 1;
        }
        let polls = polls(trace);
        for poll in &polls {
            // the steps of the daemon are 60 s apart; the recorded usage says which step it is
            let step =
                (0..=steps).find(|&step| decayed(2e11, step).to_f64() as u64 == poll.usage["b/u1"]);
            let step = step.unwrap_or_else(|| panic!("{trace} at {}: {:?}", poll.time, poll.usage));
            for (node, start) in [
                ("b/", 2e11),
                ("c/", 2.5e11),
                ("c/u2", 2.5e11),
                ("a/", 4.5e11),
                ("e/u4", 2.5e11),
            ] {
                assert_eq!(
                    decayed(start, step).to_f64() as u64,
                    poll.usage[node],
                    "{trace}, step {step}: {node}"
                );
                values += 1;
            }
        }
        assert!(polls.len() > 10, "{trace}");
    }
    println!("decay: {values} values, all exact");
    assert!(values >= 633, "{values}");
}

/// One cpu, billed as 1: the charge of a job in the cycle in which it starts, in the next one and
/// after its end.
#[test]
fn a_running_job_is_charged_as_recorded() {
    let decay = HalfLife::new(600);
    let charge = |seconds| Extended::from(decay.charge(seconds, 1.0));
    let first = charge(37);
    assert_eq!(format!("{:.4}", first.to_f64()), "35.4512");
    let second = decay.step(first, 60) + charge(60);
    assert_eq!(printed(second), "89.056899");
    // the last three seconds of the job are not charged; two more cycles follow
    assert_eq!(printed(decay.decayed(second, 120, 60)), "77.524606");
}
