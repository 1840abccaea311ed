//! Lints: passes over the tree that report what is wrong with a formula, before it is evaluated for
//! any job.
//!
//! In: a tree and a schema. Out: findings. [`lint`] checks the syntax tree and the names, and
//! [`lint_values`] what the formula computes; it builds on `ranges`, the numbers that each
//! expression can have, on `slope`, and on sample jobs.

mod findings;
mod names;
mod non_arithmetic;
mod ranges;
mod slope;
mod version_differences;

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Diagnostic, Span, sort_by_span};
use crate::formula::syntax::{Construct, Expr, ExprId, ExprKind, Node};
use crate::schema::Schema;

pub use findings::{lint_values, sampled_parts};
pub use ranges::{Fact, Facts, Interval, Known, NumberType, Ranges, analyze_ranges};
pub use slope::{Slope, slope};
pub use version_differences::{VersionDifference, version_differences};

/// The most findings of one code that [`lint`] returns.
pub const MAX_OF_A_CODE: usize = 1000;

/// The findings that follow from the tree and the names alone, in the order of their places: of
/// each code the first [`MAX_OF_A_CODE`].
///
/// ```
/// use job_sort_formula::formula::{Formula, lint};
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "math.log(NCPUS) + walltme".parse()?;
/// let codes: Vec<_> = lint::lint(formula.expr(), &Schema::openpbs()).iter().map(|found| found.code).collect();
/// assert_eq!(codes, ["JSF208", "JSF206", "JSF201"]);
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
pub fn lint(expr: &Expr, schema: &Schema) -> Vec<Diagnostic> {
    let parents = Parents::new(expr);
    let mut findings = names::check(expr, schema, &parents);
    findings.extend(non_arithmetic::check(expr, schema));
    findings.extend(non_arithmetic::check_punctuation(expr, schema, &parents));
    sort_by_span(&mut findings);
    let mut counts: BTreeMap<Code, usize> = BTreeMap::new();
    findings.retain(|found| {
        let count = counts.entry(found.code).or_default();
        *count += 1;
        *count <= MAX_OF_A_CODE
    });
    findings
}

/// The parent of each node, and the names that the formula itself defines.
#[derive(Debug)]
struct Parents<'e> {
    parents: Vec<Option<ExprId>>,
    /// The targets of `:=`.
    assigned: Vec<&'e str>,
    /// The lambdas and comprehensions, which bind names of their own.
    scopes: Vec<Span>,
}

impl<'e> Parents<'e> {
    pub(super) fn new(expr: &'e Expr) -> Self {
        let mut result = Self {
            parents: vec![None; expr.nodes().len()],
            assigned: Vec::new(),
            scopes: Vec::new(),
        };
        for (id, node) in expr.iter() {
            let children = node.kind.children();
            for child in &children {
                result.parents[child.index()] = Some(id);
            }
            match &node.kind {
                ExprKind::Unsupported {
                    construct: Construct::AssignmentExpression,
                    ..
                } => {
                    if let Some(&target) = children.first() {
                        result.assigned.extend(expr.node(target).name());
                    }
                }
                ExprKind::Unsupported {
                    construct: Construct::Lambda | Construct::Comprehension,
                    ..
                } => {
                    result.scopes.push(node.span);
                }
                _ => {}
            }
        }
        result
    }

    /// The parent of a node; `None` for the root.
    pub(super) fn parent(&self, id: ExprId) -> Option<ExprId> {
        self.parents.get(id.index()).copied().flatten()
    }

    /// Whether the node is the callee of a call.
    fn is_callee(&self, expr: &Expr, id: ExprId) -> bool {
        match self.parent(id) {
            Some(parent) => {
                matches!(expr.node(parent).kind, ExprKind::Call { callee, .. } if callee == id)
            }
            None => false,
        }
    }

    /// Whether the formula itself may define the name: in a lambda, in a comprehension or with
    /// `:=`.
    fn is_local(&self, name: &str, span: Span) -> bool {
        self.assigned.contains(&name) || self.scopes.iter().any(|scope| scope.contains(span))
    }
}

/// Splits `base.attribute`: the base if it is a name, and the attribute.
fn attribute_of<'e>(expr: &'e Expr, node: &Node) -> Option<(Option<&'e str>, &'e str)> {
    let ExprKind::Unsupported {
        construct: Construct::Attribute,
        parts,
    } = &node.kind
    else {
        return None;
    };
    let base = parts.first().and_then(|&base| expr.node(base).name());
    // the last point, because the base may have some as well
    let (_, attribute) = node.span.slice(expr.text()).rsplit_once('.')?;
    Some((base, attribute.trim()))
}

/// The values that an aggregate function such as `max` combines: its arguments, or the items of its
/// single argument if that is a list or tuple literal.
fn aggregated<'n>(expr: &'n Expr, arguments: &'n [ExprId]) -> &'n [ExprId] {
    let &[single] = arguments else {
        return arguments;
    };
    match &expr.node(expr.without_parentheses(single)).kind {
        ExprKind::Tuple { items, .. } | ExprKind::List(items) => items,
        _ => arguments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{FixedText, Span};
    use crate::formula::syntax::parse;
    use crate::schema::InputType;

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
}
