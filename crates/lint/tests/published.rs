//! The findings on formulas that sites use and documents print, and why each is right. A formula
//! that is not in the table has none.

use std::collections::BTreeMap;

use job_sort_formula::diagnostic::Severity;
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::schema::InputType;
use job_sort_formula::{Formula, Schema, Value};
use jsf_lint::Ranges;
use jsf_testing::golden;
use serde::Deserialize;

/// The code of a finding, the text of its span, and why it is right.
type Known = (&'static str, &'static str, &'static str);

/// The start of a formula, and its findings.
const FINDINGS: &[(&str, &[Known])] = &[
    (
        "base_score + score_boost + (enable_wfp",
        &[
            (
                "JSF303",
                "total_cpus",
                "recorded: 52 of 55 jobs, without a default on the server, got this very error",
            ),
            (
                "JSF303",
                "backfill_factor",
                "the next divisor of the same jobs: 0 where no default is set",
            ),
            ("JSF303", "fifo_factor", "and the next"),
        ],
    ),
    (
        "pow(2,-(fairshare_tree_usage/fairshare_perc))",
        &[(
            "JSF303",
            "fairshare_perc",
            "the design page itself warns of entities without shares; recorded for 2 jobs",
        )],
    ),
    (
        "pow(2, -(fairshare_tree_usage/fairshare_perc))",
        &[("JSF303", "fairshare_perc", "the same formula with a blank")],
    ),
    (
        "2**-(fairshare_tree_usage / fairshare_perc)",
        &[("JSF303", "fairshare_perc", "the same formula with `**`")],
    ),
    (
        "2^-(fairshare_tree_usage / fairshare_perc)",
        &[
            (
                "JSF612",
                "2^-(fairshare_tree_usage / fairshare_perc)",
                "the printed `^` is exclusive-or: int ^ float fails",
            ),
            (
                "JSF303",
                "fairshare_perc",
                "what remains when the `^` is replaced",
            ),
        ],
    ),
    (
        "pow(2,(fairshare_tree_usage/fairshare_perc))",
        &[
            (
                "JSF305",
                "pow(2,(fairshare_tree_usage/fairshare_perc))",
                "2 to the power of 0.25 / 0.000001",
            ),
            (
                "JSF601",
                "fairshare_tree_usage",
                "the issue's formula lacks the sign: heavy users go first",
            ),
            ("JSF303", "fairshare_perc", "as above"),
            (
                "JSF601",
                "fairshare_perc",
                "and entities with many shares last",
            ),
        ],
    ),
    (
        "fairshare_tree_usage",
        &[(
            "JSF601",
            "fairshare_tree_usage",
            "a test of the value; as an order it is upside down",
        )],
    ),
    (
        "fairshare_tree_usage/fairshare_perc",
        &[
            (
                "JSF601",
                "fairshare_tree_usage",
                "high for those above their share, and the highest value goes first",
            ),
            ("JSF303", "fairshare_perc", "as above; recorded for 2 jobs"),
            ("JSF601", "fairshare_perc", "low for those with many shares"),
        ],
    ),
    (
        "fairshare_factor + (walltime/ncpus)",
        &[(
            "JSF303",
            "ncpus",
            "`-l select=1:ncpus=0` is a job that OpenPBS takes",
        )],
    ),
    (
        "log(ncpus) + sqrt(mem)",
        &[(
            "JSF304",
            "log(ncpus)",
            "the same job: log(0) is a domain error",
        )],
    ),
];

#[derive(Deserialize)]
struct Published {
    formula: String,
    kind: String,
}

#[derive(Deserialize)]
struct Recorded {
    formula: String,
    category: String,
}

/// The published formulas of schedulers, and the recorded ones of real sites.
fn real_formulas() -> Vec<String> {
    let published = golden::lines::<Published>("formulas.jsonl").into_iter();
    let published = published
        .filter(|record| record.kind == "PBS job_sort_formula")
        .map(|record| record.formula);
    let recorded = golden::lines::<Recorded>("openpbs/evaluate/evaluate.jsonl.gz").into_iter();
    let recorded = recorded
        .filter(|record| record.category == "real")
        .map(|record| record.formula);
    let mut known = std::collections::HashSet::new();
    published
        .chain(recorded)
        .filter(|formula| known.insert(formula.clone()))
        .collect()
}

/// The names of OpenPBS, and every other name as a numeric resource of the site.
fn schema(formula: &Formula) -> Schema {
    let mut schema = Schema::openpbs();
    for name in formula.names() {
        if matches!(
            Resolution::from_schema(name, &schema),
            Resolution::Undefined
        ) {
            schema.add(name, InputType::Float).expect("a name");
        }
    }
    schema
}

/// Normalises spaces, in which copies of a formula differ.
fn normalized(formula: &str) -> String {
    formula.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn findings_are_the_expected_ones() {
    let table: BTreeMap<&str, _> = FINDINGS
        .iter()
        .map(|&(start, findings)| (start, findings))
        .collect();
    let mut wrong = Vec::new();
    let mut used = std::collections::BTreeSet::new();
    let formulas = real_formulas();
    assert!(formulas.len() > 45, "{}", formulas.len());
    for text in &formulas {
        let Ok(formula) = Formula::parse(text) else {
            continue;
        };
        let findings = jsf_lint::lint_values(formula.expr(), &schema(&formula), &Ranges::default());
        let found: Vec<(&str, &str)> = findings
            .iter()
            .map(|found| (found.code.name(), found.span.slice(text)))
            .collect();
        let is_it = |start: &str| {
            normalized(text) == start || (start.len() > 36 && normalized(text).starts_with(start))
        };
        let (start, expected) = table
            .iter()
            .find(|(start, _)| is_it(start))
            .map_or(("", &[][..]), |(a, b)| (*a, *b));
        used.insert(start);
        let expected: Vec<(&str, &str)> = expected
            .iter()
            .map(|&(code, place, _)| (code, place))
            .collect();
        if found != expected {
            wrong.push(format!("{text}\n  found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(
        used.iter().filter(|start| !start.is_empty()).count(),
        FINDINGS.len(),
        "{used:?}"
    );
}

/// With the values of a queue, no finding remains.
#[test]
fn the_ranges_of_a_queue_remove_findings() {
    let text = "pow(2, -(fairshare_tree_usage/fairshare_perc)) + walltime/ncpus";
    let formula = Formula::parse(text).unwrap();
    let mut ranges = Ranges::default();
    ranges.observe("fairshare_perc", [Value::Float(0.1), Value::Float(0.6)]);
    ranges.observe("ncpus", [Value::Int(1), Value::Int(64)]);
    assert_eq!(
        jsf_lint::lint_values(formula.expr(), &Schema::openpbs(), &ranges),
        []
    );
    ranges.observe("fairshare_perc", [Value::Float(0.0), Value::Float(0.0)]);
    let findings = jsf_lint::lint_values(formula.expr(), &Schema::openpbs(), &ranges);
    let certain: Vec<_> = findings
        .iter()
        .map(|found| (found.code.name(), found.severity))
        .collect();
    assert_eq!(
        certain,
        [("JSF308", Severity::Error), ("JSF303", Severity::Error)]
    );
}
