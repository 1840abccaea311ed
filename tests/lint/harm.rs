//! What hurt the real scheduler must be found: every recorded formula that killed it, failed for all jobs or left
//! stale values raises a finding of the right kind, from the files that an administrator has.

use std::collections::BTreeSet;

use job_sort_formula::Schema;
use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::pbs::check::{Checked, ScoredQueue, SiteFacts};
use job_sort_formula::pbs::files::server::ServerSettings;
use job_sort_formula::pbs::order::Order;
use job_sort_formula::pbs::resource_amount::NumberMode;
use job_sort_formula::pbs::submission::FormulaSubmission;
use job_sort_formula::rank::{ScorePrecision, fill_fairshare};
use job_sort_formula::schema::InputType;
use serde::Deserialize;

use crate::support::golden;
use crate::support::recorded::{self, Record, RecordedSite};

/// What a formula did to the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Harm {
    /// It died.
    Death,
    /// Every job had an error.
    Errors,
    /// Every job kept the value that it had before.
    Stale,
}

impl Harm {
    /// The findings that say so.
    fn codes(self) -> &'static [&'static str] {
        match self {
            Self::Death => &["JSF302", "JSF401", "JSF405"],
            Self::Errors => &["JSF103", "JSF105", "JSF205", "JSF207", "JSF301", "JSF308", "JSF310", "JSF613"],
            Self::Stale => &["JSF106", "JSF310"],
        }
    }

    /// An error that says so, or one that says that the formula has no place in a scheduler.
    fn is_said_by(self, found: &Diagnostic) -> bool {
        found.severity == Severity::Error && self.codes().contains(&found.code)
    }

    fn of(record: &Record) -> Option<Self> {
        let all_are_stale = record.values.values().all(|value| value == "-12345.0625");
        if !record.sched_crashed.is_empty() {
            Some(Self::Death)
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
            server: ServerSettings::read(&golden::text("openpbs/qstat/qstat_Bf.json")),
            queue: golden::text("openpbs/qstat/qstat_f.json"),
        }
    }

    fn check(&self, text: &str) -> Checked {
        let submitted = FormulaSubmission::to_openpbs(text);
        let mut site = SiteFacts { config: Some(&self.site.config), server: self.server, ..SiteFacts::default() };
        let Some((formula, program)) =
            submitted.formula().ok().and_then(|formula| Some((formula, formula.compile(&self.site.schema).ok()?)))
        else {
            return Checked::new(&submitted, &self.site.schema, &site);
        };
        let mut table = self.site.read_jobs(self.queue.as_bytes(), &formula.names()).table;
        let tree = self.site.tree(&table);
        fill_fairshare(&mut table, &tree, |share| NumberMode::OpenPbs.fairshare(share));
        let scores = recorded::scores(&program, &table);
        let ordered = Order::new(&self.site.config, &self.site.queues).tree(&tree).rank(scores, &table);
        site.queue = Some(ScoredQueue { table: &table, ordered: &ordered, keep: ScorePrecision::Float32 });
        site.tree = Some(&tree);
        Checked::new(&submitted, &self.site.schema, &site)
    }
}

fn short(formula: &str) -> String {
    formula.chars().take(40).collect()
}

fn said(checked: &Checked) -> Vec<String> {
    checked.findings.iter().map(|found| format!("{} {:?}", found.code, found.severity)).collect()
}

#[test]
fn whatever_hurt_the_scheduler_is_found() {
    let cluster = Cluster::recorded();
    let records: Vec<Record> = golden::lines("openpbs/evaluate/evaluate.jsonl");
    let (mut harmful, mut missed) = (0, BTreeSet::new());
    for record in &records {
        let Some(harm) = Harm::of(record) else { continue };
        harmful += 1;
        let checked = cluster.check(&record.formula);
        let is_refused = checked.findings.iter().any(|found| matches!(found.code, "JSF104" | "JSF404"));
        assert!(checked.has_errors(), "{harm:?}: {} raises {:?}", short(&record.formula), said(&checked));
        if !checked.findings.iter().any(|found| harm.is_said_by(found)) {
            assert!(is_refused, "{harm:?}: {} raises {:?}", short(&record.formula), said(&checked));
            missed.insert(short(&record.formula));
        }
        assert!(harm != Harm::Death || is_refused || checked.crashes_scheduler, "{}", record.formula);
    }
    assert_eq!(missed, BTreeSet::<String>::new());
    assert_eq!(harmful, 83);
}

/// The jobs that are listed as failing are those that failed.
#[test]
fn the_failing_jobs_are_those_that_failed() {
    let cluster = Cluster::recorded();
    let records: Vec<Record> = golden::lines("openpbs/evaluate/evaluate.jsonl");
    let (mut formulas, mut failures) = (0, 0);
    for record in records.iter().filter(|record| record.sched_crashed.is_empty()) {
        let Some(jobs) = cluster.check(&record.formula).jobs else { continue };
        let is_stale = |job: &&String| record.values.get(*job).is_some_and(|value| value == "-12345.0625");
        let is_recorded = |job: &&String| record.values.contains_key(*job) && !is_stale(job);
        let ours: BTreeSet<&String> = jobs.failing.iter().filter(is_recorded).collect();
        let theirs: BTreeSet<&String> = record.errors.keys().collect();
        let only_last_too_large = record.formula == "factorial(ncpus)";
        assert!(ours == theirs || only_last_too_large, "{}: {ours:?} for {theirs:?}", short(&record.formula));
        formulas += 1;
        failures += theirs.len();
    }
    assert!(formulas > 200 && failures > 1000, "{formulas} {failures}");
}

/// What did no harm is not said to kill the scheduler.
#[test]
fn nothing_else_is_said_to_kill_it() {
    let cluster = Cluster::recorded();
    let records: Vec<Record> = golden::lines("openpbs/evaluate/evaluate.jsonl");
    // the integer that is too large came last, and so nothing was evaluated behind it
    let is_lucky = |record: &&Record| record.formula == "factorial(ncpus)";
    let survived = records.iter().filter(|record| record.sched_crashed.is_empty());
    for record in survived.filter(|record| !is_lucky(record)) {
        assert!(!cluster.check(&record.formula).crashes_scheduler, "{}", short(&record.formula));
    }
}

/// The findings on names that are taken: the resource, the formula, the codes. All others do what they say.
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
    ("a-b", "a-b", &["JSF201", "JSF201"]),
    ("a-b", "a", &["JSF201"]),
];

/// Codes from 200 on that speak of names, and those of syntax: the others need more than names.
fn is_of_names(code: &str) -> bool {
    code.starts_with("JSF1") || code.starts_with("JSF2")
}

#[test]
fn names_that_are_taken() {
    let clashes = recorded::name_clashes();
    let mut found = Vec::new();
    for clash in &clashes {
        let mut schema = Schema::openpbs();
        schema.add(&clash.resource, InputType::Count);
        for tried in &clash.formulas {
            let checked = Checked::new(&FormulaSubmission::to_openpbs(&tried.formula), &schema, &SiteFacts::default());
            let codes = checked.findings.iter().map(|found| found.code).filter(|code| is_of_names(code));
            let codes: Vec<&str> = codes.collect();
            if !codes.is_empty() {
                found.push((clash.resource.as_str(), tried.formula.as_str(), codes));
            }
        }
    }
    let expected: Vec<_> =
        CLASHES.iter().map(|(resource, formula, codes)| (*resource, *formula, codes.to_vec())).collect();
    assert_eq!(found, expected);
}

#[derive(Deserialize)]
struct FirstEvaluation {
    first_formula_after_start: String,
    died: bool,
}

/// An error in the first evaluation after the start killed the scheduler; a quote is one that nobody catches.
#[test]
fn what_kills_the_scheduler_at_its_start() {
    let cluster = Cluster::recorded();
    let records: Vec<FirstEvaluation> = golden::lines("openpbs/evaluate/first_eval_error.jsonl");
    assert_eq!(records.iter().filter(|record| record.died).count(), 4);
    for record in records {
        let checked = cluster.check(&record.first_formula_after_start);
        let is_said = checked.findings.iter().any(|found| matches!(found.code, "JSF402" | "JSF106"));
        assert_eq!(is_said, record.died, "{}: {:?}", record.first_formula_after_start, said(&checked));
    }
}

#[test]
fn what_reads_files_or_ends_the_server_is_dangerous() {
    #[derive(Deserialize)]
    struct Dangerous {
        formula: String,
    }
    let records: Vec<Dangerous> = golden::lines("openpbs/evaluate/dangerous.jsonl");
    assert_eq!(records.len(), 2);
    for record in records {
        let checked = Cluster::recorded().check(&record.formula);
        assert!(checked.findings.iter().any(|found| found.code == "JSF404"), "{}", record.formula);
    }
}

/// A crash that no value of a job can avert is known without a queue.
#[test]
fn crashes_without_a_queue() {
    let crashes = |formula: &str| {
        let submission = FormulaSubmission::to_openpbs(formula);
        Checked::new(&submission, &Schema::openpbs(), &SiteFacts::default()).crashes_scheduler
    };
    for formula in
        ["(-8)**(1/3)", "1+2j", "ncpus * 2j - mem", "-(-1)**0.5", "-10**400", "10**400", "1j if 1 else ncpus"]
    {
        assert!(crashes(formula), "{formula}");
    }
    for formula in
        ["(-ncpus)**0.5", "abs((-8)**(1/3))", "(-8)**(1/3) > 1", "1j / 0", "1/0 + 1j", "nosuch + 1j", "10**300"]
    {
        assert!(!crashes(formula), "{formula}");
    }
}
