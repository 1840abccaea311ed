//! The lints take little time, even for the longest formulas and for those that are made to be slow.

use std::time::{Duration, Instant};

use job_sort_formula::formula::lint;
use job_sort_formula::formula::lint::Ranges;
use job_sort_formula::formula::syntax::MAX_LENGTH;
use job_sort_formula::{Formula, Schema};

/// Without optimization an eighth of the length takes as long.
const LENGTH: usize = if cfg!(debug_assertions) { MAX_LENGTH / 8 } else { MAX_LENGTH };

fn filled(part: &str, end: &str) -> String {
    let count = (LENGTH - end.len()) / part.len();
    part.repeat(count) + end
}

/// Formulas of the maximum length, each with a name.
fn longest() -> Vec<(&'static str, String)> {
    let nested = |open: &str, inner: &str, close: &str| open.repeat(190) + inner + &close.repeat(190);
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
        ("arguments", format!("max({}1)", filled("ncpus,", "1")[6..].to_owned())),
        ("terms", filled("fairshare_perc+", "1e9")),
        ("minuses", filled("-", "mem")),
        ("shifts", filled("(1<<4000)*", "1")),
        ("factorials", filled("factorial(500)*", "1")),
        ("towers", filled("9**41000*", "1")),
        ("long integers", filled("9**4000+", "1")),
        ("growth", filled("mem*", "1")),
        ("digits", "7".repeat(4300)),
        ("hexadecimal", format!("0x{}", "f".repeat(LENGTH - 2))),
        ("nested tests", nested("(1 if ", "mem", " else 2)")),
        ("nested and", nested("(", "mem", " and mem>ncpus)")),
        ("names", (0..LENGTH / 10).map(|n| format!("x{n}+")).collect::<String>() + "1"),
    ]
}

#[test]
fn the_longest_formulas_are_linted_within_the_limit() {
    let most = if cfg!(debug_assertions) { Duration::from_secs(5) } else { Duration::from_millis(500) };
    for (name, text) in longest() {
        assert!(text.len() <= MAX_LENGTH, "{name}: {}", text.len());
        let Ok(formula) = Formula::parse(&text) else { panic!("{name} does not parse") };
        let start = Instant::now();
        let facts = lint::analyze_ranges(formula.expr(), &Schema::openpbs(), &Ranges::default());
        let ranges = start.elapsed();
        let findings = lint::lint_values(formula.expr(), &Schema::openpbs(), &Ranges::default());
        let all = start.elapsed() - ranges;
        println!(
            "{name}: {} nodes, ranges {ranges:?}, findings {all:?}, {}",
            formula.expr().nodes().len(),
            findings.len()
        );
        assert!(ranges + all < most, "{name} took {:?}", ranges + all);
        drop(facts);
    }
}
