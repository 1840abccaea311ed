//! Findings and value ranges, compared with what recorded formulas did to the scheduler: every
//! formula that crashed it, failed for all jobs or left previous values in place has a finding that
//! says so.

use std::collections::BTreeSet;

use job_sort_formula::diagnostic::{Code, Diagnostic, Severity};
use job_sort_formula::rank::{ScorePrecision, fill_fairshare};
use job_sort_formula::{Formula, Schema, Value};
use jsf_lint::{Known, Ranges};
use jsf_openpbs::check::{Checked, ScoredQueue, SiteFacts};
use jsf_openpbs::files::server::ServerSettings;
use jsf_openpbs::order::Order;
use jsf_openpbs::{FormulaSubmission, NumberMode, Objects};
use jsf_testing::golden;
use jsf_testing::recorded::{self, Record, RecordedJob, RecordedSite};
use serde::Deserialize;

use crate::scheduler_results;

/// What a formula did to the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Harm {
    /// It crashed.
    Crash,
    /// Every job had an error.
    Errors,
    /// Every job kept its previous value.
    Stale,
}

impl Harm {
    /// The codes of the findings that report it.
    fn codes(self) -> &'static [&'static str] {
        match self {
            Self::Crash => &["JSF302", "JSF401", "JSF405"],
            Self::Errors => &[
                "JSF103", "JSF105", "JSF205", "JSF207", "JSF301", "JSF308", "JSF310", "JSF613",
            ],
            Self::Stale => &["JSF106", "JSF310"],
        }
    }

    /// Whether a finding reports it as an error.
    fn is_reported_by(self, found: &Diagnostic) -> bool {
        found.severity == Severity::Error && self.codes().contains(&found.code.name())
    }

    fn from_record(record: &Record) -> Option<Self> {
        let all_are_stale = record.values.values().all(|value| value == "-12345.0625");
        if !record.sched_crashed.is_empty() {
            Some(Self::Crash)
        } else if record.errors.len() == record.values.len() {
            Some(Self::Errors)
        } else {
            all_are_stale.then_some(Self::Stale)
        }
    }
}

struct Cluster {
    site: RecordedSite,
    server: ServerSettings,
    queue: String,
}

impl Cluster {
    fn recorded() -> Self {
        Self {
            site: RecordedSite::open(),
            server: ServerSettings::read(
                &Objects::read(&golden::text("openpbs/qstat/qstat_Bf.json")),
                None,
            ),
            queue: golden::text("openpbs/qstat/qstat_f.json"),
        }
    }

    fn check(&self, text: &str) -> Checked {
        let submitted = FormulaSubmission::to_openpbs(text);
        let mut site = SiteFacts {
            config: Some(&self.site.config),
            server: Some(&self.server),
            ..SiteFacts::default()
        };
        let Some((formula, program)) = submitted
            .formula()
            .ok()
            .and_then(|formula| Some((formula, formula.compile(&self.site.schema).ok()?)))
        else {
            return Checked::new(&submitted, &self.site.schema, &site);
        };
        let mut table = self
            .site
            .read_jobs(self.queue.as_bytes(), &formula.names())
            .table;
        let tree = self.site.tree(&table);
        fill_fairshare(&mut table, &tree, |share| {
            NumberMode::OpenPbs.fairshare(share)
        });
        let scores = scheduler_results::scores(&program, &table);
        let order = Order {
            tree: Some(&tree),
            ..Order::new(&self.site.config, &self.site.queues)
        };
        let ordered = order.order(scores, &table);
        site.queue = Some(ScoredQueue {
            table: &table,
            ranking: &ordered.ranking,
            not_considered: &ordered.not_considered,
            precision: ScorePrecision::Float32,
            tree: Some(&tree),
        });
        Checked::new(&submitted, &self.site.schema, &site)
    }
}

fn short(formula: &str) -> String {
    formula.chars().take(40).collect()
}

fn codes(checked: &Checked) -> Vec<String> {
    checked
        .findings
        .iter()
        .map(|found| format!("{} {:?}", found.code, found.severity))
        .collect()
}

#[test]
fn formulas_that_harmed_the_scheduler_have_a_finding() {
    let cluster = Cluster::recorded();
    let records: Vec<Record> = golden::lines("openpbs/evaluate/evaluate.jsonl.gz");
    let (mut harmful, mut missed) = (0, BTreeSet::new());
    for record in &records {
        let Some(harm) = Harm::from_record(record) else {
            continue;
        };
        harmful += 1;
        let checked = cluster.check(&record.formula);
        let is_refused = checked
            .findings
            .iter()
            .any(|found| matches!(found.code, Code::NotArithmetic | Code::InterpreterAccess));
        assert!(
            checked.has_errors(),
            "{harm:?}: {} raises {:?}",
            short(&record.formula),
            codes(&checked)
        );
        if !checked
            .findings
            .iter()
            .any(|found| harm.is_reported_by(found))
        {
            assert!(
                is_refused,
                "{harm:?}: {} raises {:?}",
                short(&record.formula),
                codes(&checked)
            );
            missed.insert(short(&record.formula));
        }
        assert!(
            harm != Harm::Crash || is_refused || checked.crashes_scheduler,
            "{}",
            record.formula
        );
    }
    assert_eq!(missed, BTreeSet::<String>::new());
    assert_eq!(harmful, 83);
}

#[test]
fn the_failing_jobs_are_those_that_failed() {
    let cluster = Cluster::recorded();
    let records: Vec<Record> = golden::lines("openpbs/evaluate/evaluate.jsonl.gz");
    let (mut formulas, mut failures) = (0, 0);
    for record in records
        .iter()
        .filter(|record| record.sched_crashed.is_empty())
    {
        let Some(jobs) = cluster.check(&record.formula).jobs else {
            continue;
        };
        let is_stale = |job: &&String| {
            record
                .values
                .get(*job)
                .is_some_and(|value| value == "-12345.0625")
        };
        let is_recorded = |job: &&String| record.values.contains_key(*job) && !is_stale(job);
        let ours: BTreeSet<&String> = jobs.failing.iter().filter(is_recorded).collect();
        let theirs: BTreeSet<&String> = record.errors.keys().collect();
        let only_last_too_large = record.formula == "factorial(ncpus)";
        assert!(
            ours == theirs || only_last_too_large,
            "{}: {ours:?} for {theirs:?}",
            short(&record.formula)
        );
        formulas += 1;
        failures += theirs.len();
    }
    assert!(formulas > 200 && failures > 1000, "{formulas} {failures}");
}

#[test]
fn other_formulas_are_not_reported_to_crash_the_scheduler() {
    let cluster = Cluster::recorded();
    let records: Vec<Record> = golden::lines("openpbs/evaluate/evaluate.jsonl.gz");
    // the integer that is too large was that of the last job, after which nothing is evaluated
    let is_exception = |record: &&Record| record.formula == "factorial(ncpus)";
    let survived = records
        .iter()
        .filter(|record| record.sched_crashed.is_empty());
    for record in survived.filter(|record| !is_exception(record)) {
        assert!(
            !cluster.check(&record.formula).crashes_scheduler,
            "{}",
            short(&record.formula)
        );
    }
}

/// The findings on taken names: the resource, the formula, the codes. The other formulas mean what
/// they seem to mean.
const CLASHES: [(&str, &str, &[&str]); 16] = [
    ("e", "e", &["JSF204"]),
    ("e", "e*2", &["JSF204"]),
    ("pi", "pi", &["JSF204"]),
    ("pi", "2*pi", &["JSF204"]),
    ("ex", "ex", &["JSF207"]),
    ("ex", "ex+1", &["JSF207"]),
    ("lambda", "lambda", &["JSF101"]),
    ("True", "True", &["JSF204"]),
    ("None", "None", &["JSF204"]),
    ("inf", "inf", &["JSF204"]),
    ("abs", "abs(-1)", &["JSF205"]),
    ("pow", "pow", &["JSF204"]),
    ("int", "int(1.5)", &["JSF205"]),
    ("SyntaxError", "1+", &["JSF101"]),
    ("a-b", "a-b", &["JSF201"]),
    ("a-b", "a", &["JSF201"]),
];

/// Whether a code is one of syntax or names, which need no queue.
fn is_of_syntax_or_names(code: &str) -> bool {
    code.starts_with("JSF1") || code.starts_with("JSF2")
}

#[test]
fn taken_names_have_findings() {
    let clashes = scheduler_results::name_clashes();
    let mut found = Vec::new();
    for clash in &clashes {
        let mut schema = Schema::openpbs();
        scheduler_results::declare(&clash.resource, &mut schema);
        for tried in &clash.formulas {
            let checked = Checked::new(
                &FormulaSubmission::to_openpbs(&tried.formula),
                &schema,
                &SiteFacts::default(),
            );
            let codes = checked
                .findings
                .iter()
                .map(|found| found.code.name())
                .filter(|code| is_of_syntax_or_names(code));
            let codes: Vec<&str> = codes.collect();
            if !codes.is_empty() {
                found.push((clash.resource.as_str(), tried.formula.as_str(), codes));
            }
        }
    }
    let expected: Vec<_> = CLASHES
        .iter()
        .map(|(resource, formula, codes)| (*resource, *formula, codes.to_vec()))
        .collect();
    assert_eq!(found, expected);
}

#[derive(Deserialize)]
struct FirstEvaluation {
    first_formula_after_start: String,
    died: bool,
}

/// An error in the first evaluation after its start crashed the scheduler. A quote is an error that
/// nothing catches.
#[test]
fn errors_in_the_first_evaluation_are_reported_as_crashes() {
    let cluster = Cluster::recorded();
    let records: Vec<FirstEvaluation> = golden::lines("openpbs/evaluate/first_eval_error.jsonl");
    assert_eq!(records.iter().filter(|record| record.died).count(), 4);
    for record in records {
        let checked = cluster.check(&record.first_formula_after_start);
        let is_reported = checked
            .findings
            .iter()
            .any(|found| matches!(found.code, Code::FirstEvaluation | Code::BreaksScript));
        assert_eq!(
            is_reported,
            record.died,
            "{}: {:?}",
            record.first_formula_after_start,
            codes(&checked)
        );
    }
}

#[test]
fn formulas_that_read_files_or_end_the_server_have_a_finding() {
    #[derive(Deserialize)]
    struct Dangerous {
        formula: String,
    }
    let records: Vec<Dangerous> = golden::lines("openpbs/evaluate/dangerous.jsonl");
    assert_eq!(records.len(), 2);
    for record in records {
        let checked = Cluster::recorded().check(&record.formula);
        assert!(
            checked.findings.iter().any(|found| found.code == "JSF404"),
            "{}",
            record.formula
        );
    }
}

/// A crash that happens for every value of the inputs is reported without a queue.
#[test]
fn certain_crashes_are_reported_without_a_queue() {
    let crashes = |formula: &str| {
        let submission = FormulaSubmission::to_openpbs(formula);
        Checked::new(&submission, &Schema::openpbs(), &SiteFacts::default()).crashes_scheduler
    };
    for formula in [
        "(-8)**(1/3)",
        "ncpus * (-2)**0.5 - mem",
        "-(-1)**0.5",
        "-10**400",
        "10**400",
    ] {
        assert!(crashes(formula), "{formula}");
    }
    for formula in [
        "(-ncpus)**0.5",
        "abs((-8)**(1/3))",
        "(-8)**(1/3) > 1",
        "(-1)**0.5 / 0",
        "1/0 + (-1)**0.5",
        "nosuch + 1j",
        "10**300",
    ] {
        assert!(!crashes(formula), "{formula}");
    }
}

/// With the ranges of the recorded jobs: an error that is excluded was not recorded, a certain
/// failure was recorded for every job, and each value is within its range.
#[test]
fn ranges_contain_the_recorded_results() {
    let jobs: Vec<RecordedJob> = golden::lines("openpbs/evaluate/jobs.jsonl");
    let schema = recorded::schema();
    let (mut checked, mut certain, mut free) = (0, 0, 0);
    for record in golden::lines::<Record>("openpbs/evaluate/evaluate.jsonl.gz") {
        let Ok(formula) = Formula::parse(&record.formula) else {
            continue;
        };
        let Ok(program) = formula.compile(&schema) else {
            continue;
        };
        if program.refused().is_some() || !record.sched_crashed.is_empty() {
            continue;
        }
        let table = scheduler_results::table(&jobs, program.inputs().iter().map(|name| &**name));
        let rows = || (0..table.len()).filter(|&row| record.values.contains_key(table.id(row)));
        let mut ranges = Ranges::default();
        for (name, column) in table.columns() {
            ranges.observe(name, rows().map(|row| column.value(row)));
        }
        let facts = jsf_lint::analyze_ranges(formula.expr(), &schema, &ranges);
        let text = &record.formula;
        checked += 1;
        let interval = match facts.result() {
            Known::Number(interval) => interval,
            Known::Fails(_) | Known::Never => {
                certain += 1;
                assert_eq!(record.errors.len(), record.values.len(), "{text}");
                continue;
            }
            _ => continue,
        };
        free += 1;
        assert!(record.errors.is_empty(), "{text}: {:?}", record.errors);
        for row in rows().filter(|&row| !record.errors.contains_key(table.id(row))) {
            let inputs: Vec<Value> = program
                .inputs()
                .iter()
                .map(|name| table.column(name).unwrap().value(row))
                .collect();
            let value = program.evaluate(&inputs).unwrap();
            assert!(
                interval.contains(&value),
                "{text}: {} is not {interval}",
                value.repr()
            );
        }
    }
    assert!(
        checked > 200 && certain > 20 && free > 100,
        "{checked} checked, {certain} fail, {free} cannot"
    );
}
