//! For each code, formulas with such a finding, and similar formulas without it.

use job_sort_formula::diagnostic::Severity;
use job_sort_formula::schema::InputType;
use job_sort_formula::{Diagnostic, Formula, Schema, Value};
use jsf_lint::Ranges;

fn schema() -> Schema {
    let mut schema = Schema::openpbs();
    schema.add("ngpus", InputType::Count).expect("a name");
    schema.add("bias", InputType::Float).expect("a name");
    schema.add("rate", InputType::Float).expect("a name");
    schema
}

fn findings(text: &str) -> Vec<Diagnostic> {
    let formula = Formula::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    jsf_lint::lint_values(formula.expr(), &schema(), &Ranges::default())
}

const WITH: &[(&str, &[&str])] = &[
    (
        "JSF303",
        &[
            "eligible_time / queue_priority",
            "1 / 0",
            "mem // ngpus",
            "walltime % mem",
            "queue_priority ** -1 + ncpus",
            "divmod(ncpus, mem) and 1",
            "1 / (walltime - 3600)",
            "log(mem + 2, mem + 1)",
            "1 / mem if walltime else 0",
            "1 / mem if mem >= 0 else 0",
            "1 / rate",
        ],
    ),
    (
        "JSF304",
        &[
            "log(eligible_time)",
            "sqrt(job_priority)",
            "acos(ncpus)",
            "fmod(walltime, mem)",
            "log2(fairshare_factor)",
            "log(-1) + ncpus",
            "pow(job_priority, 0.5)",
            "max(()) + ncpus",
            "1 << job_priority",
        ],
    ),
    (
        "JSF305",
        &[
            "exp(walltime)",
            "2.0 ** eligible_time",
            "pow(mem, ncpus)",
            "sinh(walltime)",
            "exp(1000) + ncpus",
        ],
    ),
    (
        "JSF306",
        &[
            "job_priority ** 0.5",
            "(-1) ** 0.5 + ncpus",
            "1 + (0 - ncpus) ** fairshare_factor",
        ],
    ),
    (
        "JSF307",
        &[
            "fairshare_factor & 1",
            "(ncpus, 1) + mem",
            "ncpus + None",
            "bias | 1",
            "sqrt() + ncpus",
            "~fairshare_perc",
            "mem in 3",
        ],
    ),
    (
        "JSF308",
        &[
            "log(-1) + ncpus",
            "1 / 0",
            "fairshare_factor & 1",
            "1 / 0 if mem else log(0)",
            "ncpus / (fairshare_factor > 2)",
        ],
    ),
    (
        "JSF309",
        &[
            "9 ** 9 ** 9 + ncpus",
            "(1 << walltime) % 7",
            "1 << 1000000",
            "10 ** walltime % 7",
        ],
    ),
    (
        "JSF401",
        &[
            "ncpus, mem",
            "[ncpus]",
            "sqrt",
            "None",
            "ncpus and None",
            "ncpus if mem > 5000 else (1, 2)",
            "()",
        ],
    ),
    (
        "JSF405",
        &[
            "2 ** 1024 + ncpus",
            "2 ** eligible_time",
            "factorial(ncpus)",
            "10 ** 400",
        ],
    ),
    (
        "JSF503",
        &[
            "100000000 + fairshare_factor",
            "1e10 - log2(ncpus + 1)",
            "ncpus * 0 + fairshare_factor + 1e9",
        ],
    ),
    (
        "JSF505",
        &[
            "9007199254740993 + 0.5 * ncpus",
            "9007199254740993 * fairshare_factor",
        ],
    ),
    (
        "JSF601",
        &[
            "1000 * fairshare_tree_usage + ncpus",
            "ncpus - fairshare_factor",
            "1 / (1 + fairshare_factor)",
            "-log(max(fairshare_perc, 1e-6))",
            "max(fairshare_tree_usage, 0.5) * 100",
            "(fairshare_tree_usage > 0.5) * 100",
        ],
    ),
    (
        "JSF602",
        &[
            "ncpus - eligible_time / 3600",
            "1 / (1 + eligible_time)",
            "0.5 ** (eligible_time / 3600)",
            "-sqrt(eligible_time)",
        ],
    ),
    (
        "JSF606",
        &[
            "100 if mem > 4 else ncpus",
            "walltime > 24",
            "24 < walltime",
            "(eligible_time >= 48) * 7",
        ],
    ),
    (
        "JSF607",
        &[
            "1000 / 3",
            "0",
            "ncpus * 0",
            "5 if fairshare_factor > 2 else 6",
            "pi",
            "min(job_priority, -1024)",
        ],
    ),
    (
        "JSF608",
        &[
            "100 if fairshare_factor > 1 else ncpus",
            "ncpus if mem >= 0 else 5",
            "1 or ncpus",
            "0 and ncpus",
            "ncpus if walltime > 5000 else 3 if walltime > 6000 else mem",
            "ncpus if 5000 <= walltime else (3 if walltime >= 5000 else mem)",
            "1 if ncpus > 64 else 3 if ncpus < 8 else 2 if ncpus < 4 else mem",
        ],
    ),
    (
        "JSF609",
        &[
            "(job_priority <= 2000) * 100 + ncpus",
            "(eligible_time < 0) + mem",
            "(2 > 1) + mem",
        ],
    ),
    (
        "JSF612",
        &[
            "2 ^ ncpus",
            "ncpus ^ 2",
            "2^-(fairshare_tree_usage / max(fairshare_perc, 0.1))",
            "fairshare_factor ^ mem",
        ],
    ),
];

const WITHOUT: &[(&str, &[&str])] = &[
    (
        "JSF303",
        &[
            "eligible_time / max(queue_priority, 1)",
            "1 / mem if mem else 0",
            "1 / mem if mem > 0 else 0",
            "0 if mem == 0 else 1 / mem",
            "0 if not mem else 1 / mem",
            "mem and 1 / mem",
            "mem == 0 or 1 / mem",
            "1 / rate if rate != 0 else 0",
            "ncpus / (walltime - mem) if walltime != mem else 0",
            "ncpus / (walltime - mem) if walltime - mem else 0",
            "1 / (1 + eligible_time)",
            "1 / (mem if mem else 1)",
            "1 / (2 - fairshare_factor)",
            "walltime / 3600 // 1 % 7",
            "1 / (mem or 1)",
            "1 / walltime if 0 < walltime <= 100 else 0",
            "1 / walltime if mem and walltime else 0",
            "1 / walltime if not (mem == 0 or walltime == 0) else 0",
            "1 / exp(fairshare_factor)",
            "1 / nodect",
        ],
    ),
    (
        "JSF304",
        &[
            "log(eligible_time + 1)",
            "sqrt(mem)",
            "log(max(fairshare_factor, 1e-7))",
            "log(mem) if mem > 0 else 0",
            "acos(fairshare_factor)",
            "log2(rate + 1)",
            "sqrt(abs(job_priority))",
            "sqrt(job_priority ** 2)",
            "factorial(min(ncpus, 10))",
            "log1p(mem)",
        ],
    ),
    (
        "JSF305",
        &[
            "exp(-walltime / 86400)",
            "2.0 ** min(ncpus, 64)",
            "exp(fairshare_factor)",
            "walltime ** 2.5",
        ],
    ),
    (
        "JSF306",
        &[
            "sqrt(max(job_priority, 0))",
            "mem ** 0.5",
            "job_priority ** 2",
            "job_priority ** 2.0",
            "abs(job_priority) ** 0.5",
        ],
    ),
    (
        "JSF307",
        &[
            "1 if fairshare_factor > 0.5 else 0",
            "ncpus & 1",
            "ncpus in (1, 2)",
            "max((1, ncpus))",
            "(mem > 5000) | (ncpus > 2)",
        ],
    ),
    (
        "JSF308",
        &[
            "log(ncpus + 1)",
            "1 / 0 if ncpus > 4 else 3",
            "nosuchname + 1",
        ],
    ),
    (
        "JSF309",
        &["9.0 ** 9 + ncpus", "1 << 10", "2 ** 64", "ncpus ** 3"],
    ),
    (
        "JSF401",
        &[
            "ncpus + mem / 1048576",
            "ncpus > 3",
            "max((ncpus, mem))",
            "ncpus and mem",
        ],
    ),
    (
        "JSF405",
        &["2.0 ** 64 + ncpus", "ncpus * walltime * mem", "2 ** 1023"],
    ),
    (
        "JSF503",
        &[
            "1000 * fairshare_factor",
            "fairshare_factor * 1e9 + queue_priority * 1e3 + log2(rate + 1)",
            "1000 + fairshare_factor",
            "100000000 + fairshare_factor * 10",
            "1e9 + mem",
            "1e9 + 20 * fairshare_factor + 20 * fairshare_perc",
            "16777216 + ncpus + 5",
        ],
    ),
    (
        "JSF505",
        &[
            "1000 + 0.5 * ncpus",
            "9007199254740993 + ncpus",
            "9007199254740992 * 0.5",
            "ncpus * walltime * 1.5",
            "10 ** 18 * 0.5",
        ],
    ),
    (
        "JSF601",
        &[
            "1000 * fairshare_factor + ncpus",
            "pow(2, -(fairshare_tree_usage / max(fairshare_perc, 1e-6)))",
            "fairshare_perc - fairshare_tree_usage",
            "1 - fairshare_tree_usage",
            "rate * fairshare_tree_usage",
            "fairshare_tree_usage * 0 + ncpus",
            "fairshare_tree_usage * (1 - fairshare_tree_usage)",
            "(fairshare_perc + 1) / (fair_share_perc + 1)",
        ],
    ),
    (
        "JSF602",
        &[
            "ncpus + eligible_time / 3600",
            "min(20, eligible_time / 28800)",
            "rate * eligible_time",
            "-1 * -eligible_time",
        ],
    ),
    (
        "JSF606",
        &[
            "100 if mem > 4194304 else ncpus",
            "walltime > 3600",
            "walltime / 3600 > 24",
            "mem > 0",
            "walltime != 1",
            "ncpus > 4",
            "mem / 1048576 > 4",
        ],
    ),
    (
        "JSF607",
        &[
            "1000 / 3 + ncpus",
            "1 if mem > 5000 else 0",
            "1 / 0",
            "fairshare_perc",
        ],
    ),
    (
        "JSF608",
        &[
            "100 if fairshare_factor > 0.5 else ncpus",
            "ncpus and mem",
            "ncpus or mem",
            "1 if rate < -5 else mem",
            "3 if walltime > 6000 else ncpus if walltime > 5000 else mem",
            "ncpus if walltime > 5000 else 3 if walltime >= 5000 else mem",
            "ncpus if walltime > 5000 else 3 if 6000 > walltime else mem",
            "ncpus if walltime > 5000 else 3 if mem > 6000 else mem",
        ],
    ),
    (
        "JSF609",
        &[
            "(job_priority <= 200) * 100 + ncpus",
            "rate == rate + 1",
            "1 if fairshare_factor >= 1 else 0",
        ],
    ),
    (
        "JSF612",
        &[
            "2.0 ** min(ncpus, 64)",
            "(mem > 5000) ^ (ncpus > 4)",
            "ncpus ^ walltime",
        ],
    ),
];

#[test]
fn formulas_have_the_finding() {
    for (code, formulas) in WITH {
        for formula in *formulas {
            let found: Vec<_> = findings(formula)
                .iter()
                .map(|found| found.code.name())
                .collect();
            assert!(found.contains(code), "{formula} has {found:?}, not {code}");
        }
    }
}

#[test]
fn formulas_do_not_have_the_finding() {
    for (code, formulas) in WITHOUT {
        for formula in *formulas {
            let found = findings(formula);
            assert!(
                found.iter().all(|found| found.code != *code),
                "{formula} has {found:#?}"
            );
        }
    }
}

fn only(text: &str) -> Diagnostic {
    let found = findings(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.into_iter().next().unwrap()
}

#[test]
fn a_possible_division_by_zero_has_a_cause_and_a_fix() {
    let text = "eligible_time / queue_priority";
    let found = only(text);
    assert_eq!(
        found.message,
        "`eligible_time / queue_priority` divides by 0 if `queue_priority` is 0"
    );
    assert_eq!(found.label, "0 in a queue without a priority");
    assert_eq!(found.severity, Severity::Warning);
    let fix = found.fix.unwrap();
    assert_eq!(
        (fix.span.slice(text), &*fix.replacement),
        ("queue_priority", "max(queue_priority, 1)")
    );
}

#[test]
fn a_sum_that_is_zero_is_explained_by_its_inputs() {
    let found = only("ncpus / (walltime - 86400)");
    assert_eq!(
        found.message,
        "`ncpus / (walltime - 86400)` divides by 0 if `walltime` is 86400"
    );
}

#[test]
fn a_caret_has_one_finding_with_a_fix() {
    let text = "2^-(fairshare_tree_usage + 1)";
    let found = only(text);
    assert_eq!(
        (found.code.name(), found.severity),
        ("JSF612", Severity::Error)
    );
    let fix = found.fix.unwrap();
    assert_eq!((fix.span.slice(text), &*fix.replacement), ("^", "**"));
}

#[test]
fn a_dead_branch_shows_its_condition() {
    let text = "100 if fairshare_factor > 1 else ncpus";
    let found = only(text);
    assert_eq!(
        (found.code.name(), found.span.slice(text)),
        ("JSF608", "100")
    );
    assert_eq!(found.labels[0].text, "always false");
    assert_eq!(
        found.help,
        Some("`fairshare_factor` is a float from 0 to 1".into())
    );
}

#[test]
fn a_literal_alone_is_a_note() {
    assert_eq!(only("0").severity, Severity::Note);
    assert_eq!(only("(5)").severity, Severity::Note);
    assert_eq!(only("5 + 1").severity, Severity::Warning);
}

#[test]
fn an_absorbed_term_shows_by_how_much_it_varies() {
    let found = only("100000000 + fairshare_factor");
    assert_eq!(found.label, "varies by at most 1");
    let help = "the value is rounded to float32; next to the other terms, which are at least 100000000, it is rounded to a multiple of 8";
    assert_eq!(found.help, Some(help.into()));
}

#[test]
fn a_wrong_unit_is_converted() {
    let found = only("100 if mem > 4 else ncpus");
    assert_eq!(found.help, Some("4 GB are 4194304 kb".into()));
}

#[test]
fn a_formula_that_is_not_arithmetic_has_none() {
    for text in ["lambda: 1 / 0", "[x for x in (1 / 0,)]", "str(1 / 0)"] {
        assert_eq!(findings(text), [], "{text}");
    }
}

/// The range of the values in a queue can make a possible error certain, or exclude it.
#[test]
fn observed_values_decide() {
    let formula = Formula::parse("1 / rate").unwrap();
    let severity = |values: &[f64]| {
        let mut ranges = Ranges::default();
        ranges.observe("rate", values.iter().map(|&value| Value::Float(value)));
        let found = jsf_lint::lint_values(formula.expr(), &schema(), &ranges);
        found
            .iter()
            .find(|found| found.code == "JSF303")
            .map(|found| found.severity)
    };
    assert_eq!(severity(&[0.0]), Some(Severity::Error));
    assert_eq!(severity(&[0.0, 1.0]), Some(Severity::Warning));
    assert_eq!(severity(&[0.5, 1.0]), None);
}
