//! The order of jobs, compared with the order in which the recorded scheduler considered them.

use job_sort_formula::fairshare::NodeId;
use job_sort_formula::rank::fill_fairshare;
use job_sort_formula::{Formula, JobTable};
use jsf_openpbs::amounts::server_float;
use jsf_openpbs::files::sched_config::ConfigWarning;
use jsf_openpbs::order::{NotConsidered, Order};
use jsf_openpbs::submission::PythonStringLiteral;
use jsf_openpbs::{NumberMode, PbsTree, SchedConfig};
use jsf_testing::golden::{self, field};
use jsf_testing::recorded::{self, Record, RecordedJob, RecordedSite};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::scheduler_results;

#[derive(Deserialize)]
struct Recorded {
    config: String,
    sched_config_edits: std::collections::BTreeMap<String, String>,
    threshold: Option<String>,
    listed: Option<String>,
    #[serde(flatten)]
    record: Record,
}

/// The settings of a record. A later line of the file replaces an earlier one.
fn config(recorded: &Recorded) -> SchedConfig {
    let mut file = golden::text("openpbs/evaluate/sched_config");
    for (name, value) in &recorded.sched_config_edits {
        file.push_str(&format!("{name}: {value}\n"));
    }
    let config = SchedConfig::parse(file.as_bytes());
    let is_repeated = |warning: &ConfigWarning| warning.is_repeated;
    assert!(
        config.warnings.iter().all(is_repeated),
        "{:?}",
        config.warnings
    );
    config
}

/// After the first run with `fair_share`, the two jobs whose entities have no shares had waited one
/// second longer.
fn a_second_later(jobs: &mut [RecordedJob]) {
    for job in jobs
        .iter_mut()
        .filter(|job| ["4.vm", "5.vm"].contains(&&*job.job))
    {
        *job.scheduler_inputs
            .as_mut()
            .unwrap()
            .get_mut("eligible_time")
            .unwrap() = "38".to_owned();
    }
}

/// The recorded inputs of the jobs, except for fair share, which is computed from the files under
/// the settings.
fn table(jobs: &[RecordedJob], columns: &[&str], tree: &PbsTree) -> JobTable {
    let mut table = scheduler_results::table_without(jobs, columns.iter().copied(), |name| {
        name.starts_with("fair")
    });
    assert_eq!(
        fill_fairshare(&mut table, tree, |share| NumberMode::OpenPbs
            .fairshare(share)),
        Vec::<String>::new()
    );
    table
}

#[test]
fn orders_are_those_of_the_scheduler() {
    let site = RecordedSite::open();
    let mut jobs: Vec<RecordedJob> = golden::lines("openpbs/evaluate/jobs.jsonl");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for recorded in golden::lines::<Recorded>("openpbs/evaluate/orders.jsonl") {
        let config = config(&recorded);
        let tree = recorded::tree(
            "openpbs/evaluate",
            "usage",
            &config,
            jobs.iter().map(|job| job.entity.as_str()),
        );
        let mut order = Order {
            tree: Some(&tree),
            ..Order::new(&config, &site.queues)
        };
        if recorded.threshold.is_some() {
            order.threshold = server_float(recorded.listed.as_ref().unwrap().parse().unwrap());
        }
        let script = PythonStringLiteral::parse(&recorded.record.formula).unwrap();
        let program = Formula::parse(script.text())
            .unwrap()
            .compile(&site.schema)
            .unwrap();
        let columns: Vec<&str> = program
            .inputs()
            .iter()
            .map(|name| &**name)
            .chain(order.columns())
            .collect();
        let table = table(&jobs, &columns, &tree);
        let scores = scheduler_results::scores(&program, &table);
        let mut differences = scheduler_results::differences(&recorded.record, &table, &scores);
        let ordered = order.order(scores, &table);
        differences.extend(scheduler_results::order_differences(
            &recorded.record,
            &table,
            &ordered,
        ));
        let without_shares = ordered
            .not_considered
            .iter()
            .filter(|(_, why)| *why == NotConsidered::NoShares)
            .count();
        assert_eq!(
            without_shares,
            if recorded.sched_config_edits.contains_key("fair_share") {
                2
            } else {
                0
            }
        );
        if !differences.is_empty() {
            wrong.push(format!(
                "{}, {}: {differences:#?}",
                recorded.config, recorded.record.formula
            ));
        }
        if recorded.sched_config_edits.contains_key("fair_share") {
            a_second_later(&mut jobs);
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(count, 115);
}

/// `pbsfs -c` compares two entities as the scheduler does.
#[test]
fn comparisons_of_entities_are_those_of_pbsfs() {
    let mut count = 0;
    for case in golden::lines::<Json>("openpbs/pbsfs/cases.jsonl") {
        let folder = format!("openpbs/pbsfs/{}", field(&case, "case"));
        let steps = case["steps"].as_array().unwrap();
        for step in steps
            .iter()
            .filter(|step| step["args"][0] == "-c" && step["rc"] == 0)
        {
            let config = SchedConfig::parse(&golden::bytes(&format!("{folder}/sched_config")));
            let tree = recorded::tree(&folder, "usage.initial", &config, []);
            let [left, right] = [1, 2].map(|index| step["args"][index].as_str().unwrap());
            let [a, b] = [left, right].map(|name| find(&tree, name));
            let said = match tree.compare(a, b) {
                std::cmp::Ordering::Less => format!("{left}\n"),
                std::cmp::Ordering::Greater => format!("{right}\n"),
                std::cmp::Ordering::Equal => format!("{left} == {right}\n"),
            };
            assert_eq!(said, step["stdout"], "{folder} {left} {right}");
            count += 1;
        }
    }
    assert_eq!(count, 20);
}

fn find(tree: &PbsTree, name: &str) -> NodeId {
    if name == "TREEROOT" {
        tree.tree().root()
    } else {
        tree.tree().find(name).unwrap()
    }
}
