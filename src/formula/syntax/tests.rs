use super::*;

fn printed(text: &str) -> String {
    match parse(text) {
        Ok(expr) => expr.to_string(),
        Err(error) => format!("{}..{}: {error}", error.span.start, error.span.end),
    }
}

#[test]
fn the_name_of_a_keyword_is_no_name_of_the_formula() {
    let formula = crate::Formula::parse("max(ncpus, mem, key=abs, default=walltime)").unwrap();
    assert_eq!(formula.names(), ["max", "ncpus", "mem", "abs", "walltime"]);
}

#[test]
fn a_number_that_only_else_makes_a_float_stays_one() {
    assert_eq!(printed("1 if x < 0_4else 2"), "1 if x < 0_4.0 else 2");
}

#[test]
fn prints_back_what_was_written() {
    for text in [
        "pow(2, -(fairshare_tree_usage / fairshare_perc))",
        "1 + 2 * 3 - -4 // ~5**-6",
        "a if b else c if d else e",
        "a or b and not c == d < e",
        "max(1, 2, key=abs, default=0)",
        "(1,)",
        "1, 2",
        "[1, 2, (3 + 4)]",
        "0x1f + 1_000.5e-3 + .5 + 5.",
        "not (a in (1, 2) and b not in [3])",
    ] {
        assert_eq!(printed(text), text);
    }
}
