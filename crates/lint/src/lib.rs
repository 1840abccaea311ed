//! Lints: passes over the tree that report what is wrong with a formula, before it is evaluated for
//! any job.
//!
//! In: a tree and a schema. Out: findings. [`lint`] checks the syntax tree and the names: those that
//! are unknown, mean something other than they seem to, or are deprecated. [`lint_values`] checks
//! what the formula computes; it builds on `ranges`, the numbers that each expression can have, on
//! `slope`, and on sample jobs.
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]

mod findings;
mod name_lints;
mod non_arithmetic;
mod ranges;
mod slope;
mod version_differences;

use std::collections::BTreeMap;

pub use findings::lint_values;
use job_sort_formula::Schema;
use job_sort_formula::diagnostic::{Code, Diagnostic, sort_by_span};
use job_sort_formula::formula::syntax::{Expr, ExprId, ExprKind};
use name_lints::Lints;
pub use ranges::{Fact, Facts, Interval, Known, NumberType, Ranges, analyze_ranges};
pub use slope::{Slope, slope};
pub use version_differences::{VersionDifference, version_differences};

/// The most findings of one code that [`lint`] returns.
pub const MAX_OF_A_CODE: usize = 1000;

/// The findings that follow from the tree and the names alone, in the order of their places: of
/// each code the first [`MAX_OF_A_CODE`].
///
/// ```
/// use job_sort_formula::Formula;
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "math.log(NCPUS) + walltme".parse()?;
/// let codes: Vec<_> = jsf_lint::lint(formula.expr(), &Schema::openpbs()).iter().map(|found| found.code).collect();
/// assert_eq!(codes, ["JSF208", "JSF206", "JSF201"]);
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
pub fn lint(expr: &Expr, schema: &Schema) -> Vec<Diagnostic> {
    let lints = Lints::new(expr, schema);
    let mut findings = lints.check_names();
    findings.extend(lints.check_arithmetic());
    sort_by_span(&mut findings);
    let mut counts: BTreeMap<Code, usize> = BTreeMap::new();
    findings.retain(|found| {
        let count = counts.entry(found.code).or_default();
        *count += 1;
        *count <= MAX_OF_A_CODE
    });
    findings
}

/// The values that an aggregate function such as `max` combines: its arguments, or the items of its
/// single argument if that is a list or tuple literal.
fn aggregated<'n>(expr: &'n Expr, arguments: &'n [ExprId]) -> &'n [ExprId] {
    let &[single] = arguments else {
        return arguments;
    };
    match &expr.node(expr.without_parentheses(single)).kind {
        ExprKind::Tuple(items) | ExprKind::List(items) => items,
        _ => arguments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_sort_formula::diagnostic::{Applicability, FixedText, Span};
    use job_sort_formula::formula::syntax::parse;
    use job_sort_formula::schema::InputType;

    fn found(formula: &str, resources: &[&str]) -> Vec<Diagnostic> {
        let mut schema = Schema::openpbs();
        for resource in resources {
            schema.add_listed(resource, InputType::Count);
        }
        lint(&parse(formula).unwrap(), &schema)
    }

    /// The codes, each with the text at its place.
    fn codes(formula: &str, resources: &[&str]) -> Vec<String> {
        found(formula, resources)
            .iter()
            .map(|found| format!("{} {}", found.code, found.span.slice(formula)))
            .collect()
    }

    #[test]
    fn names_that_mean_something_else() {
        assert_eq!(codes("ans + errnum", &[]), ["JSF207 ans", "JSF207 errnum"]);
        assert_eq!(codes("ans + errnum", &["ans", "errnum"]), [""; 0]);
        assert_eq!(codes("ex", &[]), ["JSF201 ex"]);
        assert_eq!(codes("ex + 1", &["ex"]), ["JSF207 ex"]);
        assert_eq!(codes("e * log(ncpus)", &["e", "log"]), ["JSF204 e"]);
        assert_eq!(
            codes("max(abs, ncpus) + abs", &["max", "abs"]),
            ["JSF205 max"]
        );
        assert_eq!(codes("range(1)", &["range"]), ["JSF205 range"]);
        assert_eq!(
            codes("math.log(ncpus) + math.nothing", &[]),
            ["JSF208 math.log", "JSF208 math.nothing"]
        );
    }

    #[test]
    fn findings_of_one_code_are_limited() {
        let formula = vec!["TRUE"; MAX_OF_A_CODE + 500].join("+") + "+ nothing";
        let findings = found(&formula, &[]);
        assert_eq!(
            findings
                .iter()
                .filter(|found| found.code == "JSF206")
                .count(),
            MAX_OF_A_CODE
        );
        assert!(findings.iter().any(|found| found.code == "JSF201"));
    }

    #[test]
    fn names_in_another_case() {
        let formula = "NCPUS + LOG(Eligible_Time) + PI + true + MAX";
        let findings = found(formula, &[]);
        assert!(
            findings.iter().all(|found| found.code == "JSF206"),
            "{findings:?}"
        );
        let fixed = FixedText::new(formula, &findings, false).unwrap().text;
        assert_eq!(fixed, "ncpus + log(eligible_time) + PI + true + MAX");
        assert_eq!(codes("PLACE + nothing_like_it", &[]), ["JSF201 PLACE"]);
    }

    #[test]
    fn useless_constructs_are_reported_once_and_dangerous_ones_always() {
        assert_eq!(
            codes("[x for x in (1, 2)][0] + sum(str(y) for y in (1,))", &[]),
            [
                "JSF104 [x for x in (1, 2)][0]",
                "JSF104 str(y) for y in (1,)"
            ]
        );
        assert_eq!(
            codes("(z := 5) + z", &[]),
            ["JSF403 (z := 5)"].map(|code| code.replace(['(', ')'], ""))
        );
        assert_eq!(
            codes("len(open(chr(47)).read())", &[]),
            ["JSF404 open", "JSF104 open(chr(47)).read"]
        );
        assert_eq!(codes("ncpus.__class__", &[]), ["JSF404 ncpus.__class__"]);
        assert_eq!(
            codes("(x := 1),", &[]),
            ["JSF401 (x := 1)", "JSF403 x := 1"]
        );
        assert_eq!(codes("__debug__ + ncpus", &[]), [""; 0]);
        assert_eq!(
            codes("__builtins__", &[]),
            ["JSF401 __builtins__", "JSF404 __builtins__"]
        );
        assert!(
            codes("(_ for _ in ()).throw(SystemExit)", &[])
                .contains(&"JSF404 SystemExit".to_owned())
        );
        assert_eq!(
            codes("[*(1, 2)]", &[]),
            ["JSF401 [*(1, 2)]", "JSF104 *(1, 2)"]
        );
        assert_eq!(codes("eval + open", &["eval", "open"]), [""; 0]);
    }

    #[test]
    fn numbers_are_not_called() {
        assert_eq!(
            codes("2(ncpus) + ncpus(1) + (ncpus)(mem) + pi(2)", &[]),
            ["JSF613 2", "JSF613 ncpus", "JSF613 (ncpus)", "JSF613 pi"]
        );
        assert_eq!(codes("(max if ncpus else min)(1, 2)", &[]), [""; 0]);
        assert_eq!(codes("modf(ncpus)(2) + frexp(ncpus)(1)", &[]), [""; 0]);
        assert_eq!(
            found("2(ncpus)", &[])[0].fix.as_ref().map(|fix| fix.span),
            Some(Span::new(1, 1))
        );
    }

    #[test]
    fn decimal_commas_and_percent_signs() {
        assert_eq!(codes("0,5*ncpus", &[]), ["JSF610 0,5"]);
        assert_eq!(codes("1,000*ncpus", &[]), ["JSF610 1,000"]);
        assert_eq!(codes("ncpus + (1,25) * 2", &[]), ["JSF610 1,25"]);
        for fine in [
            "max(0,5*ncpus)",
            "ncpus in (1,2)",
            "fsum((1,2))",
            "ncpus,5",
            "0, 5",
            "x1,5".replace("x1", "mem").as_str(),
        ] {
            assert_eq!(codes(fine, &[]), [""; 0], "{fine}");
        }
        assert_eq!(codes("10% + ncpus", &[]), ["JSF611 10%"]);
        for fine in ["10 % ncpus", "7%-3", "10 % + ncpus", "ncpus % 10"] {
            assert_eq!(codes(fine, &[]), [""; 0], "{fine}");
        }
    }

    #[test]
    fn slopes_where_equal_numbers_differ() {
        let mut schema = Schema::openpbs();
        schema.add_listed("r_float", InputType::Float);
        for (formula, name, increases) in [
            // zero has two signs
            ("copysign(2, fairshare_perc * 0.0)", "fairshare_perc", false),
            ("copysign(ncpus, r_float)", "r_float", false),
            // an integer is exact where a float is rounded
            ("(r_float + 2**60) - 2**60", "r_float", false),
            ("(fairshare_perc + 2**60) - 2**60", "fairshare_perc", true),
            ("max(0, fairshare_perc) * 1000", "fairshare_perc", true),
            // tuples are compared item by item
            ("min(max((r_float, 0), (3, 7)))", "r_float", false),
            ("max([fairshare_perc, 0])", "fairshare_perc", true),
            ("(fairshare_perc > 0.5) * 100", "fairshare_perc", true),
            ("floor(10 * fairshare_perc)", "fairshare_perc", true),
            ("1 / (2 - fairshare_perc)", "fairshare_perc", true),
            (
                "fairshare_perc * (1 - fairshare_perc)",
                "fairshare_perc",
                false,
            ),
        ] {
            let expr = parse(formula).unwrap();
            let slope = slope(
                &expr,
                &analyze_ranges(&expr, &schema, &Ranges::default()),
                name,
            );
            assert_eq!(
                slope.is_some_and(|slope| slope.increases()),
                increases,
                "{formula} in {name}: {slope:?}"
            );
        }
    }

    fn findings(text: &str, schema: &Schema) -> Vec<Diagnostic> {
        let Ok(expr) = parse(text) else {
            panic!("{text}")
        };
        Lints::new(&expr, schema).check_names()
    }

    #[test]
    fn the_fix_is_what_the_name_means() {
        for (text, replacement) in [
            ("ln(ncpus)", Some(("log", Applicability::Safe))),
            ("ln(ncpus, 2)", None),
            ("ln + 1", None),
            (
                "Priority * 2",
                Some(("job_priority", Applicability::Unsafe)),
            ),
            ("priority", Some(("job_priority", Applicability::Unsafe))),
            (
                "eligible-time / 3600",
                Some(("eligible_time", Applicability::Unsafe)),
            ),
            ("a - b", None),
        ] {
            let found = findings(text, &Schema::openpbs());
            let fix = found.iter().find_map(|found| found.fix.as_ref());
            let shown = fix.map(|fix| (&*fix.replacement, fix.applicability));
            assert_eq!((found.len(), shown), (1, replacement), "{text}");
        }
    }

    #[test]
    fn one_misspelled_name_among_many_calls_has_a_suggestion() {
        let text = "max(ncpus,1)+".repeat(4500) + "walltme";
        let found = findings(&text, &Schema::openpbs());
        let fixes: Vec<_> = found
            .iter()
            .filter_map(|found| found.fix.as_ref())
            .collect();
        assert_eq!((fixes.len(), &*fixes[0].replacement), (1, "walltime"));
    }

    #[test]
    fn the_work_of_many_searches_is_bounded() {
        let mut schema = Schema::empty();
        let mut names = Vec::new();
        for number in 0..2000 {
            assert!(schema.add_listed(&format!("abcdefgh{number:04}"), InputType::Count));
            names.push(format!("abcdefhg{number:04}"));
        }
        let found = findings(&names.join("+"), &schema);
        let fixes = found.iter().filter(|found| found.fix.is_some()).count();
        assert!((10..2000).contains(&fixes), "{fixes}");
    }

    #[test]
    fn a_resource_that_is_not_a_python_name_is_never_offered() {
        let mut schema = Schema::openpbs();
        assert!(schema.add_listed("rn-long", InputType::Count));
        for text in [
            "rn_long + 1",
            "rn-long + 1",
            "2 * rn-long",
            "1 - rn-long",
            "rn-long / 2",
        ] {
            let found = findings(text, &schema);
            let [found] = &*found else {
                panic!("{text}: {found:?}")
            };
            assert_eq!(found.fix, None, "{text}");
            let help = found
                .help
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                help.contains("no formula can use the resource `rn-long`"),
                "{text}: {help}"
            );
        }
    }
}
