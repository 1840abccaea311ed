//! Two rankings of one queue, compared with scipy, the textbook and brute force.

use job_sort_formula::fairshare::{AssessedTree, DocumentedOpenPbs, Member, TreeBuilder};
use job_sort_formula::jobs::JobState;
use job_sort_formula::rank::measures::{gini_coefficient, jain_index, tau_b};
use job_sort_formula::rank::{ComparedRanking, Comparison, OnError, Ranking, ScorePrecision};
use job_sort_formula::{Formula, Job, JobTable, Schema, Value};
use jsf_testing::random::Generator;

const VECTORS: &str = include_str!("../data/rank_measures/vectors.tsv");

/// A list of numbers, one character each.
fn numbers(text: &str) -> Vec<f64> {
    let digits = ('0'..='9')
        .chain('a'..='z')
        .chain('A'..='Z')
        .collect::<String>();
    text.chars()
        .map(|digit| digits.find(digit).expect("a digit") as f64)
        .collect()
}

/// A recorded number; `None` for NaN.
fn recorded(text: &str) -> Option<f64> {
    Some(text.parse().expect("a number")).filter(|number: &f64| !number.is_nan())
}

#[track_caller]
fn assert_close(ours: Option<f64>, expected: Option<f64>, case: &str) {
    let difference = ours
        .zip(expected)
        .map(|(ours, expected)| (ours - expected).abs());
    assert!(
        ours.is_none() && expected.is_none() || difference < Some(1e-12) && difference.is_some(),
        "{ours:?} {case}"
    );
}

/// Jobs whose two inputs are the numbers of two lists.
fn table(first: &[f64], second: &[f64]) -> JobTable {
    let mut table = JobTable::new(["job_priority", "queue_priority"]);
    for (row, (&first, &second)) in first.iter().zip(second).enumerate() {
        let job = Job {
            id: &format!("{row}.vm"),
            ..Job::default()
        };
        table
            .push(&job, &[Ok(Value::Float(first)), Ok(Value::Float(second))])
            .expect("a job");
    }
    table
}

fn rank(formula: &str, table: &JobTable, precision: ScorePrecision) -> Ranking {
    let program = Formula::parse(formula)
        .expect("a formula")
        .compile(&Schema::openpbs())
        .expect("a program");
    Ranking::new(&program, table, precision, OnError::ZeroLikePbs)
}

fn compare(old: &Ranking, new: &Ranking, table: &JobTable) -> Comparison {
    let side = |ranking| ComparedRanking {
        table,
        ranking,
        under_threshold: Vec::new(),
        tree: None,
    };
    Comparison::new(&side(old), &side(new))
}

#[test]
fn measures_equal_those_of_scipy_and_the_textbook() {
    let mut count = 0;
    for line in VECTORS.lines() {
        let [first, second, tau, footrule, jain, gini] = line.split('\t').collect::<Vec<_>>()[..]
        else {
            panic!("six fields: {line}");
        };
        let (first, second) = (numbers(first), numbers(second));
        assert_close(tau_b(&first, &second), recorded(tau), line);
        assert_close(jain_index(&first), recorded(jain), line);
        assert_close(gini_coefficient(&first), recorded(gini), line);
        let table = table(&first, &second);
        for precision in [ScorePrecision::Float32, ScorePrecision::Decimal] {
            let rankings =
                ["job_priority", "queue_priority"].map(|formula| rank(formula, &table, precision));
            let compared = compare(&rankings[0], &rankings[1], &table);
            assert_close(compared.tau_b, recorded(tau), line);
            assert_eq!(compared.footrule.to_string(), footrule, "{line}");
            assert_eq!(
                compared.moves().filter_map(|job| job.moved()).sum::<i64>(),
                0,
                "{line}"
            );
        }
        count += 1;
    }
    assert_eq!(count, 1000);
}

/// Kendall's tau-b by comparing every pair.
fn tau_b_by_pairs(first: &[f64], second: &[f64]) -> Option<f64> {
    let (mut balance, mut in_first, mut in_second) = (0_i64, 0_i64, 0_i64);
    for left in 0..first.len() {
        for right in 0..left {
            let order =
                |values: &[f64]| values[left].partial_cmp(&values[right]).expect("no NaN") as i64;
            balance += order(first) * order(second);
            in_first += order(first).abs();
            in_second += order(second).abs();
        }
    }
    let scale = (in_first as f64).sqrt() * (in_second as f64).sqrt();
    (scale > 0.0).then(|| balance as f64 / scale)
}

#[test]
fn tau_b_counts_every_pair() {
    let mut random = Generator(3);
    for case in 0..500 {
        let count = random.below(60) as usize;
        let kinds = [2, 5, 1000][case % 3];
        let mut list = || {
            (0..count)
                .map(|_| random.below(kinds) as f64 - kinds as f64 / 2.0)
                .collect::<Vec<f64>>()
        };
        let (first, second) = (list(), list());
        assert_close(
            tau_b(&first, &second),
            tau_b_by_pairs(&first, &second),
            &format!("{first:?} {second:?}"),
        );
    }
    let infinite = [f64::NEG_INFINITY, -0.0, 0.0, 1e-300, f64::INFINITY];
    assert_close(tau_b(&infinite, &infinite), Some(1.0), "infinite");
    // a job whose score is not a number is left out
    assert_eq!(tau_b(&[1.0, f64::NAN, 2.0], &[5.0, 1.0, 6.0]), Some(1.0));
    assert_eq!(
        (
            tau_b(&[], &[]),
            tau_b(&[1.0], &[1.0]),
            tau_b(&[1.0, 1.0], &[1.0, 2.0])
        ),
        (None, None, None)
    );
}

/// The number of pairs in the wrong order, by a tree of partial sums.
fn inversions(places: &[usize]) -> u64 {
    let (mut sums, mut found) = (vec![0_u64; places.len() + 1], 0);
    for (before, &place) in places.iter().enumerate() {
        let (mut at, mut not_greater) = (place + 1, 0);
        while at > 0 {
            not_greater += sums[at];
            at &= at - 1;
        }
        found += before as u64 - not_greater;
        let mut at = place + 1;
        while at <= places.len() {
            sums[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    found
}

#[test]
fn tau_b_of_a_long_list_counts_its_inversions() {
    let mut random = Generator(4);
    let count = 100_003_usize;
    let mut places: Vec<usize> = (0..count).collect();
    for place in (1..count).rev() {
        places.swap(place, random.below(place as u64 + 1) as usize);
    }
    let (first, second): (Vec<f64>, Vec<f64>) = places
        .iter()
        .enumerate()
        .map(|(a, &b)| (a as f64, b as f64))
        .unzip();
    let pairs = (count * (count - 1) / 2) as f64;
    let expected = 1.0 - 2.0 * inversions(&places) as f64 / pairs;
    assert_close(tau_b(&first, &second), Some(expected), "a permutation");
    let reversed: Vec<f64> = first.iter().map(|value| -value).collect();
    assert_eq!(
        (tau_b(&first, &first), tau_b(&first, &reversed)),
        (Some(1.0), Some(-1.0))
    );
}

/// Random jobs of some entities and queues in random states, with three numbers each.
fn random_queue(random: &mut Generator) -> JobTable {
    let mut table = JobTable::new(["job_priority", "queue_priority", "ncpus"]);
    let count = random.below(150);
    for row in 0..count {
        let (entity, queue) = (
            format!("user{}", random.below(6)),
            format!("q{}", random.below(3)),
        );
        let state = [
            JobState::Queued,
            JobState::Queued,
            JobState::Queued,
            JobState::Held,
        ][random.below(4) as usize];
        let job = Job {
            id: &format!("{row}.vm"),
            entity: &entity,
            queue: &queue,
            state,
            ..Job::default()
        };
        let number = |random: &mut Generator, most: u64| Ok(Value::Int(random.below(most) as i64));
        let inputs = [
            number(random, 12),
            number(random, 1000),
            number(random, 9000),
        ];
        table.push(&job, &inputs).expect("a job");
    }
    table
}

/// The tree of the random queue: two groups, and a user without shares.
fn tree() -> AssessedTree {
    let mut builder = TreeBuilder::new("root");
    for (parent, member) in [
        ("root", Member::group("physics").shares(60)),
        ("root", Member::group("biology").shares(40)),
        ("physics", Member::group("optics").shares(10)),
        ("physics", Member::entity("user0").shares(30)),
        ("optics", Member::entity("user1").shares(1)),
        ("biology", Member::entity("user2").shares(50)),
        ("biology", Member::entity("user3").shares(50)),
        ("root", Member::entity("user4").shares(0)),
    ] {
        builder.add_under(parent, member).expect("sound");
    }
    AssessedTree::new(builder.finish(), &DocumentedOpenPbs)
}

#[test]
fn every_number_equals_brute_force() {
    let mut random = Generator(5);
    let tree = tree();
    for _ in 0..200 {
        let table = random_queue(&mut random);
        let all = [
            "job_priority",
            "queue_priority - 300",
            "1 / (job_priority - 3)",
            "-job_priority",
        ];
        let formulas = [0, 1].map(|_| all[random.below(4) as usize]);
        let rankings = formulas.map(|formula| rank(formula, &table, ScorePrecision::Float32));
        // a threshold leaves out jobs, here the last ones of either order
        let kept = [0, 1].map(|side: usize| {
            let order = rankings[side].order();
            let cut = order.len() - (random.below(8) as usize).min(order.len());
            let mut under: Vec<u32> = order[cut..].iter().map(|&row| row as u32).collect();
            under.sort_unstable();
            (
                Ranking::from_order(rankings[side].scores().clone(), order[..cut].to_vec()),
                under,
            )
        });
        let side = |index: usize| {
            let (ranking, under_threshold) = &kept[index];
            ComparedRanking {
                table: &table,
                ranking,
                under_threshold: under_threshold.clone(),
                tree: Some(&tree),
            }
        };
        let compared = Comparison::new(&side(0), &side(1));
        check_against_brute_force(
            &compared,
            &table,
            [&kept[0].0, &kept[1].0],
            [&kept[0].1, &kept[1].1],
            &tree,
        );
    }
}

fn check_against_brute_force(
    compared: &Comparison,
    table: &JobTable,
    rankings: [&Ranking; 2],
    under: [&Vec<u32>; 2],
    tree: &AssessedTree,
) {
    let place = |side: usize, row: usize| {
        rankings[side]
            .order()
            .iter()
            .position(|&other| other == row)
            .map(|at| at + 1)
    };
    let rows: Vec<usize> = (0..table.len())
        .filter(|&row| (0..2).any(|side| place(side, row).is_some()))
        .collect();
    let both: Vec<usize> = rows
        .iter()
        .copied()
        .filter(|&row| (0..2).all(|side| place(side, row).is_some()))
        .collect();
    let moved = |row: &usize| place(0, *row).unwrap() as i64 - place(1, *row).unwrap() as i64;
    let mut listed: Vec<usize> = compared.moves().map(|job| job.row).collect();
    listed.sort_unstable();
    assert_eq!(listed, rows);
    assert_eq!(compared.jobs, both.len());
    assert_eq!(
        compared.up,
        both.iter().filter(|row| moved(row) > 0).count()
    );
    assert_eq!(
        compared.down,
        both.iter().filter(|row| moved(row) < 0).count()
    );
    assert_eq!(
        compared.footrule,
        both.iter()
            .map(|row| moved(row).unsigned_abs())
            .sum::<u64>()
    );
    assert_eq!(
        compared.largest,
        both.iter()
            .map(|row| moved(row).unsigned_abs())
            .max()
            .unwrap_or(0)
    );
    let values = |side: usize| {
        both.iter()
            .map(|&row| rankings[side].score(row).unwrap().value)
            .collect::<Vec<_>>()
    };
    assert_close(
        compared.tau_b,
        tau_b_by_pairs(&values(0), &values(1)),
        "tau-b",
    );
    let is_first = |side: usize, row: usize, first: usize| {
        place(side, row).is_some_and(|place| place <= first)
    };
    let first = 10.max(both.len() / 10);
    assert_eq!(compared.first, first);
    for &(first, count) in &compared.overlap {
        assert_eq!(
            count,
            rows.iter()
                .filter(|&&row| is_first(0, row, first) && is_first(1, row, first))
                .count()
        );
    }
    for changed in [0, 1, 10] {
        let changes = |row: &&usize| {
            (is_first(0, **row, changed) || is_first(1, **row, changed))
                && place(0, **row) != place(1, **row)
        };
        assert_eq!(
            compared.changed_among_first(changed),
            rows.iter().filter(changes).count()
        );
    }
    let fails = |side: usize, row: usize| rankings[side].scores().error(row).is_some();
    let passes = |side: usize, row: usize| !under[side].contains(&(row as u32));
    let starts = |does: &dyn Fn(usize, usize) -> bool, side: usize| {
        let rows = (0..table.len()).filter(|&row| does(side, row) && !does(1 - side, row));
        rows.map(|row| row as u32).collect::<Vec<_>>()
    };
    let is_considered = |side: usize, row: usize| place(side, row).is_some();
    assert_eq!(
        (&compared.failing.start, &compared.failing.stop),
        (&starts(&fails, 1), &starts(&fails, 0))
    );
    assert_eq!(
        (&compared.passing.start, &compared.passing.stop),
        (&starts(&passes, 1), &starts(&passes, 0))
    );
    let considered = &compared.being_considered;
    assert_eq!(
        (&considered.start, &considered.stop),
        (&starts(&is_considered, 1), &starts(&is_considered, 0))
    );
    check_groups(compared, table, &rows, &both, place);
    for (side, fairness) in [compared.fairness.old, compared.fairness.new]
        .into_iter()
        .enumerate()
    {
        let count = rankings[side].order().len().min(first) as f64;
        let quotient = |name: &str| {
            let node = tree.tree().resolve(name)?;
            let perc = tree.shares().get(node)?.fairshare_perc;
            let firsts = rows
                .iter()
                .filter(|&&row| table.entity(row) == name && is_first(side, row, first))
                .count();
            (perc > 0.0).then(|| firsts as f64 / count / perc)
        };
        let names = table
            .entities()
            .iter()
            .filter(|name| rows.iter().any(|&row| *table.entity(row) == ***name));
        let quotients: Vec<f64> = names.filter_map(|name| quotient(name)).collect();
        let sum: f64 = quotients.iter().sum();
        let squares: f64 = quotients.iter().map(|quotient| quotient * quotient).sum();
        let differences: f64 = quotients
            .iter()
            .flat_map(|a| quotients.iter().map(move |b| (a - b).abs()))
            .sum();
        let n = quotients.len() as f64;
        assert_close(
            fairness.jain,
            (sum > 0.0).then(|| sum * sum / (n * squares)),
            "Jain",
        );
        assert_close(
            fairness.gini,
            (sum > 0.0).then(|| differences / (2.0 * n * sum)),
            "Gini",
        );
    }
}

/// Checks every entity, group, queue and size class.
fn check_groups(
    compared: &Comparison,
    table: &JobTable,
    rows: &[usize],
    both: &[usize],
    place: impl Fn(usize, usize) -> Option<usize>,
) {
    let groups_of = |row: usize| match table.entity(row) {
        "user0" => vec!["physics"],
        "user1" => vec!["physics", "optics"],
        "user2" | "user3" => vec!["biology"],
        _ => vec![],
    };
    let class = |row: usize| {
        let ncpus = table.column("ncpus").expect("a column").nearest_double(row);
        let classes = [
            (0.0, "no ncpus"),
            (1.0, "1"),
            (8.0, "2-8"),
            (64.0, "9-64"),
            (512.0, "65-512"),
            (4096.0, "513-4096"),
        ];
        classes
            .iter()
            .find(|(most, _)| ncpus <= *most)
            .map_or("over 4096", |(_, name)| name)
    };
    let check = |changes: &[job_sort_formula::rank::GroupChange],
                 belongs: &dyn Fn(usize, &str) -> bool,
                 all: usize| {
        assert_eq!(changes.len(), all);
        for change in changes {
            let own: Vec<usize> = both
                .iter()
                .copied()
                .filter(|&row| belongs(row, &change.name))
                .collect();
            let sum = |side: usize| {
                own.iter()
                    .map(|&row| place(side, row).unwrap())
                    .sum::<usize>() as f64
            };
            assert_eq!(change.jobs, own.len(), "{}", change.name);
            let mean = change.mean_rank().map(|mean| (mean.old, mean.new));
            let count = own.len() as f64;
            assert_close(
                mean.map(|mean| mean.0),
                (count > 0.0).then(|| sum(0) / count),
                &change.name,
            );
            assert_close(
                mean.map(|mean| mean.1),
                (count > 0.0).then(|| sum(1) / count),
                &change.name,
            );
            for (first, counts) in change.top {
                let firsts = |side: usize| {
                    let is_first =
                        |row: usize| place(side, row).is_some_and(|place| place <= first);
                    rows.iter()
                        .filter(|&&row| belongs(row, &change.name) && is_first(row))
                        .count()
                };
                assert_eq!(
                    (counts.old, counts.new),
                    (firsts(0), firsts(1)),
                    "{} {first}",
                    change.name
                );
            }
        }
    };
    let distinct = |names: Vec<String>| {
        names
            .into_iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    };
    let entities = distinct(
        rows.iter()
            .map(|&row| table.entity(row).to_owned())
            .collect(),
    );
    check(
        &compared.entities,
        &|row, name| table.entity(row) == name,
        entities,
    );
    let queues = distinct(
        rows.iter()
            .map(|&row| table.queue(row).to_owned())
            .collect(),
    );
    check(
        &compared.queues,
        &|row, name| table.queue(row) == name,
        queues,
    );
    let groups = distinct(
        rows.iter()
            .flat_map(|&row| groups_of(row))
            .map(str::to_owned)
            .collect(),
    );
    check(
        &compared.groups,
        &|row, name| groups_of(row).contains(&name),
        groups,
    );
    let sizes = distinct(rows.iter().map(|&row| class(row).to_owned()).collect());
    check(&compared.sizes, &|row, name| class(row) == name, sizes);
}
