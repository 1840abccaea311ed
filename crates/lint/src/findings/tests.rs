//! The work of the lints grows with the length of a formula and no faster, also for formulas that
//! are made to be slow.

use job_sort_formula::formula::syntax::MAX_LENGTH;
use job_sort_formula::{Formula, Schema};

use super::*;

/// Without optimization an eighth of the length takes as long.
const LENGTH: usize = if cfg!(debug_assertions) {
    MAX_LENGTH / 8
} else {
    MAX_LENGTH
};
/// The most parts of a formula that are evaluated for all sample jobs; at least a few jobs are
/// tried with any formula.
const EVALUATED: usize = 200_000;
const LEAST_SAMPLES: usize = 4;

/// Formulas of about this length, each with a name.
fn formulas(length: usize) -> Vec<(&'static str, String)> {
    let filled = |part: &str, end: &str| part.repeat((length - end.len()) / part.len()) + end;
    let nested =
        |open: &str, inner: &str, close: &str| open.repeat(190) + inner + &close.repeat(190);
    vec![
        ("sum", filled("walltime/ncpus + ", "1")),
        ("quotients", filled("mem/", "1")),
        ("powers", filled("ncpus**2*", "1")),
        ("conditionals", filled("1 if mem>1 else ", "0")),
        ("guards", filled("1/mem if mem else ", "0")),
        ("comparisons", filled("ncpus<", "9")),
        ("or", filled("ncpus>walltime or ", "0")),
        ("and", filled("ncpus and ", "0")),
        ("certain failures", filled("1/0 if mem else ", "0")),
        ("dead branches", filled("1 if fairshare_perc>2 else ", "0")),
        (
            "arguments",
            format!("max({}1)", filled("ncpus,", "1")[6..].to_owned()),
        ),
        ("terms", filled("fairshare_perc+", "1e9")),
        ("minuses", filled("-", "mem")),
        ("shifts", filled("(1<<4000)*", "1")),
        ("factorials", filled("factorial(500)*", "1")),
        ("towers", filled("9**41000*", "1")),
        ("long integers", filled("9**4000+", "1")),
        ("growth", filled("mem*", "1")),
        ("digits", "7".repeat(4300)),
        ("hexadecimal", format!("0x{}", "f".repeat(length - 2))),
        ("nested tests", nested("(1 if ", "mem", " else 2)")),
        ("nested and", nested("(", "mem", " and mem>ncpus)")),
        (
            "names",
            (0..length / 10)
                .map(|n| format!("x{n}+"))
                .collect::<String>()
                + "1",
        ),
    ]
}

/// The work for a formula: the parts that it has, and the parts that are evaluated for sample jobs.
fn work(text: &str) -> (usize, usize) {
    let Ok(formula) = Formula::parse(text) else {
        panic!("{text:.60} does not parse")
    };
    let (parts, schema) = (formula.expr().nodes().len(), Schema::openpbs());
    let program = formula.compile(&schema);
    let samples = program.map_or(0, |program| {
        Samples::new(&program, &schema, &Ranges::default())
            .all
            .len()
    });
    (parts, samples * parts)
}

#[test]
fn the_work_grows_with_the_length() {
    for (name, text) in formulas(LENGTH) {
        assert!(text.len() <= MAX_LENGTH, "{name}: {}", text.len());
        let (parts, evaluated) = work(&text);
        let most = EVALUATED.max(LEAST_SAMPLES * parts);
        assert!(
            evaluated <= most,
            "{name}: {evaluated} of {parts} parts evaluated, {most} expected"
        );
        assert!(
            lint_values(
                Formula::parse(&text).expect(name).expr(),
                &Schema::openpbs(),
                &Ranges::default()
            )
            .len()
                <= 100
        );
    }
}

#[test]
fn operators_of_bits_have_bounds() {
    let schema = Schema::openpbs();
    for (formula, code) in [
        ("1/(ncpus & 0)", "JSF308"),
        ("1 if (ncpus & 3) < 8 else 2", "JSF607"),
        ("(eligible_time >> 3) >= 0", "JSF607"),
        ("10**30 + (ncpus & 1)", "JSF503"),
    ] {
        let parsed = Formula::parse(formula).expect("a formula");
        let found = lint_values(parsed.expr(), &schema, &Ranges::default());
        assert!(
            found.iter().any(|found| found.code == code),
            "{formula}: {found:?}"
        );
    }
}
