//! How long each policy takes over a tree of a million entities, and over a chain of 100,000
//! levels.
//!
//! `cargo bench --bench fairshare_million`
//!
//! The peer is the least that any policy must do, in a hand-written loop over plain arrays in the
//! same process: the normalised share of every node, its usage from its parent's, and one `exp2`
//! each. Every line gives the best of five runs and its ratio to the peer; absolute times depend on
//! the machine. The last line is the process's peak memory, with the tree, the peer's arrays and
//! one policy's numbers alive at a time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use job_sort_formula::fairshare::{
    Classic, DepthOblivious, DocumentedOpenPbs, FairTree, Member, NodeId, Policy, PolicyRules,
    ShareTree, TicketBased, TreeBuilder, WeightedWalk,
};

const RUNS: usize = 5;

fn main() {
    let started = Instant::now();
    let (tree, users) = million();
    println!(
        "a tree of {} nodes, built in {:.0} ms",
        tree.len(),
        millis(started.elapsed())
    );
    compare(&tree, &users);
    let (tree, users) = chain();
    println!("\na chain of {} nodes", tree.len());
    compare(&tree, &users);
    if let Some(peak) = peak_memory() {
        println!("\npeak memory {peak}");
    }
}

/// 100 groups of 100 groups of 100 users, uneven in shares and usage.
fn million() -> (ShareTree, Vec<NodeId>) {
    let mut builder = TreeBuilder::new("root");
    let mut users = Vec::with_capacity(1_000_000);
    let mut draw = draws();
    for division in 0..100 {
        let above = add(
            &mut builder,
            None,
            Member::group(format!("d{division}")).shares(1 + draw() % 50),
        );
        for group in 0..100 {
            let member = Member::group(format!("d{division}g{group}")).shares(1 + draw() % 50);
            let above = add(&mut builder, Some(above), member);
            for user in 0..100 {
                let member = Member::entity(format!("d{division}g{group}u{user}"));
                let member = member
                    .shares(1 + draw() % 50)
                    .usage((draw() % 1_000_000) as f64);
                users.push(add(&mut builder, Some(above), member));
            }
        }
    }
    (builder.finish(), users)
}

/// 100,000 groups one below the other and a user at the end.
fn chain() -> (ShareTree, Vec<NodeId>) {
    let mut builder = TreeBuilder::new("root");
    let mut above = None;
    for level in 0..100_000 {
        above = Some(add(
            &mut builder,
            above,
            Member::group(format!("g{level}")).shares(1 + level % 7),
        ));
    }
    let user = add(&mut builder, above, Member::entity("user").usage(7.0));
    (builder.finish(), vec![user])
}

fn add(builder: &mut TreeBuilder, above: Option<NodeId>, member: Member) -> NodeId {
    let above = above.unwrap_or(builder.root());
    builder.add(above, member).expect("the names differ")
}

/// Knuth's MMIX generator, so that every run sees the same tree.
fn draws() -> impl FnMut() -> i64 {
    let mut state = 42u64;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64
    }
}

fn compare(tree: &ShareTree, users: &[NodeId]) {
    let arrays = Arrays::of(tree);
    let peer = best(|| arrays.factors());
    println!(
        "{:<32} {:>9.1} ms   1.0 x",
        "peer: plain arrays",
        millis(peer)
    );
    for (rules, word) in [
        (PolicyRules::Documented, "documented"),
        (PolicyRules::Scheduler, "scheduler"),
    ] {
        let waiting = users.iter().copied().step_by(10);
        let policies: [(&str, Box<dyn Policy>); 4] = [
            ("classic", Box::new(Classic::new(rules))),
            ("depth-oblivious", Box::new(DepthOblivious::new(rules))),
            ("ticket-based", Box::new(TicketBased::new(rules, waiting))),
            ("fair-tree", Box::new(FairTree::new(rules))),
        ];
        for (name, policy) in &policies {
            report(
                &format!("{name} ({word})"),
                peer,
                best(|| policy.assess(tree)),
            );
        }
    }
    report("weighted-walk", peer, best(|| WeightedWalk.assess(tree)));
    report(
        "pbs (documented)",
        peer,
        best(|| DocumentedOpenPbs.assess(tree)),
    );
}

fn report(name: &str, peer: Duration, took: Duration) {
    println!(
        "{name:<32} {:>9.1} ms {:>5.1} x",
        millis(took),
        took.as_secs_f64() / peer.as_secs_f64()
    );
}

/// The shortest of some runs; what a run makes is dropped outside the time.
fn best<T>(mut run: impl FnMut() -> T) -> Duration {
    let timed = |_| {
        let started = Instant::now();
        let made = black_box(run());
        let took = started.elapsed();
        drop(made);
        took
    };
    (0..RUNS).map(timed).min().unwrap_or_default()
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// A tree as one would write it for this loop alone: parents first, one array per quantity.
struct Arrays {
    parent: Vec<u32>,
    share: Vec<f64>,
    usage: Vec<f64>,
}

impl Arrays {
    fn of(tree: &ShareTree) -> Self {
        let whole = tree.usage(tree.root()).max(1.0);
        let count = |node| tree.shares(node).count() as f64;
        let mut arrays = Self {
            parent: Vec::new(),
            share: Vec::new(),
            usage: Vec::new(),
        };
        let mut siblings = vec![0.0; tree.len()];
        for node in tree.nodes() {
            if let Some(parent) = tree.parent(node) {
                siblings[parent.index()] += count(node);
            }
        }
        for node in tree.nodes() {
            let parent = tree.parent(node).unwrap_or(node).index();
            let whole_level: f64 = siblings[parent];
            arrays.parent.push(parent as u32);
            arrays.share.push(count(node) / whole_level.max(1.0));
            arrays.usage.push(tree.usage(node) / whole);
        }
        arrays
    }

    fn factors(&self) -> Vec<f64> {
        let nodes = self.parent.len();
        let (mut perc, mut effective) = (vec![1.0f64; nodes], vec![1.0f64; nodes]);
        let mut factors = vec![1.0f64; nodes];
        for node in 1..nodes {
            let above = self.parent[node] as usize;
            perc[node] = perc[above] * self.share[node];
            effective[node] =
                self.usage[node] + (effective[above] - self.usage[node]) * self.share[node];
            factors[node] = (-effective[node] / perc[node]).exp2();
        }
        factors
    }
}

/// What Linux says of this process; nothing elsewhere.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .map(|peak| peak.trim().to_owned())
}
