//! Names that are unknown, mean something other than they seem to, or are deprecated.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use super::non_arithmetic::{is_math_module, is_resource_list};
use super::{Parents, attribute_of};
use crate::diagnostic::{Applicability, Code, Diagnostic, Message, Need, Span};
use crate::formula::name_resolution::Resolution;
use crate::formula::syntax::{Expr, ExprId, ExprKind, is_identifier};
use crate::python::{Function, constant};
use crate::schema::suggestions::nearest;
use crate::schema::{Origin, Schema};

/// The most unknown names that a message lists.
const MAX_LISTED: usize = 10;

/// Names that exist in the server's script, so that the server accepts them, but not in the
/// scheduler's.
const SERVER_SCRIPT_NAMES: [&str; 2] = ["ans", "errnum"];

/// Findings on every name, also in branches that are not taken.
pub(super) fn check(expr: &Expr, schema: &Schema, parents: &Parents<'_>) -> Vec<Diagnostic> {
    let similar = SimilarNames::new(schema);
    let mut findings = Vec::new();
    for (id, _) in expr.iter() {
        findings.extend(name(expr, id, schema, parents, &similar));
    }
    let hyphenated = hyphenated(expr, schema);
    findings.retain(|found| {
        // the spans are disjoint and in order
        let next = hyphenated.partition_point(|outer| outer.span.start <= found.span.start);
        let is_inside = next > 0 && found.span.end <= hyphenated[next - 1].span.end;
        found.code != Code::UnknownName || !is_inside
    });
    group_unknown(expr, &mut findings);
    findings.extend(hyphenated);
    findings
}

/// Joins the findings on unknown names that resemble no known one: the answer is the same for all
/// of them.
fn group_unknown(expr: &Expr, findings: &mut Vec<Diagnostic>) {
    let unknown = findings.extract_if(.., |found| {
        found.code == Code::UnknownName && found.fix.is_none() && found.label.is_empty()
    });
    let mut unknown: Vec<Diagnostic> = unknown.collect();
    unknown.sort_by_key(|found| found.span.start);
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    for found in &unknown {
        let name = found.span.slice(expr.text());
        if seen.insert(name) {
            names.push(format!("`{name}`"));
        }
    }
    let Some((first, others)) = unknown.split_first() else {
        return;
    };
    if others.is_empty() {
        return findings.push(first.clone());
    }
    let mut grouped = first.clone();
    if names.len() > MAX_LISTED {
        let more = names.len() + 1 - MAX_LISTED;
        names.truncate(MAX_LISTED - 1);
        names.push(format!("{more} more"));
    }
    if let [before @ .., last] = names.as_slice()
        && !before.is_empty()
    {
        grouped.message = format!(
            "{} and {last} are not known resources, functions or constants",
            before.join(", ")
        );
        grouped = grouped.with_help(how_to_declare());
    }
    for other in others {
        grouped = grouped.with_secondary_label(other.span, "not known either");
    }
    findings.push(grouped);
}

/// The names of a formula, each with its place.
fn named(expr: &Expr) -> Vec<(Span, &str)> {
    let mut named = Vec::new();
    for node in expr.nodes() {
        if let Some(name) = node.name() {
            named.push((node.span, name));
        }
    }
    named
}

/// The known names that resemble others.
struct SimilarNames<'s> {
    schema: &'s Schema,
    /// The numeric resources, by their names in lower case.
    by_lower_case: HashMap<String, &'s str>,
    /// The length of all names together, in bytes.
    length: usize,
    /// How many characters may still be compared with each other.
    left: Cell<usize>,
}

/// The most comparisons of characters for all names of a formula.
const MAX_COMPARISONS: usize = 20_000_000;

impl<'s> SimilarNames<'s> {
    fn new(schema: &'s Schema) -> Self {
        let mut by_lower_case = HashMap::new();
        let mut length = 0;
        for known in schema.numeric_names() {
            length += known.len();
            by_lower_case
                .entry(known.to_ascii_lowercase())
                .or_insert(known);
        }
        Self {
            schema,
            by_lower_case,
            length,
            left: Cell::new(MAX_COMPARISONS),
        }
    }

    /// The names to which a misspelled one is near; none any more once very many were looked for.
    fn nearest(&self, name: &str) -> Vec<&'s str> {
        let comparisons = name.len().saturating_mul(self.length);
        let Some(left) = self.left.get().checked_sub(comparisons) else {
            return Vec::new();
        };
        self.left.set(left);
        nearest(name, self.schema.numeric_names())
    }
}

fn name(
    expr: &Expr,
    id: ExprId,
    schema: &Schema,
    parents: &Parents<'_>,
    similar: &SimilarNames<'_>,
) -> Option<Diagnostic> {
    let node = expr.node(id);
    let ExprKind::Name(name) = &node.kind else {
        return None;
    };
    let is_callee = parents.is_callee(expr, id);
    match Resolution::from_schema(name, schema) {
        Resolution::Undefined if schema.entry(name).is_some() => Some(
            Diagnostic::new(
                Code::NotNumeric,
                format!("`{name}` is not a numeric resource"),
                node.span,
            )
            .with_help("a formula can use resources of the types long, float, size and duration"),
        ),
        Resolution::Undefined if parents.is_local(name, node.span) => None,
        // an attribute is refused, whatever it is one of; that of a module or of the list of
        // resources has a finding of its own
        Resolution::Undefined if is_base(expr, id, parents) => {
            if is_math_module(name) || is_resource_list(name) {
                return None;
            }
            Some(unknown(name, node.span))
        }
        Resolution::Undefined if is_natural_logarithm(expr, id, parents) => Some(
            unknown(name, node.span)
                .with_label("Python's natural logarithm")
                .replaced_by("log", Applicability::Safe),
        ),
        Resolution::Undefined => Some(undefined(name, node.span, is_callee, similar)),
        Resolution::Input if is_callee && Resolution::is_builtin(name, schema.python()) => {
            let message = format!("`{name}` is a resource here, which hides the Python function");
            let help = "every job gets an error and the value 0; use another function, or rename the resource";
            Some(Diagnostic::new(Code::HiddenFunction, message, node.span).with_help(help))
        }
        Resolution::Input => {
            let current = schema.entry(name)?.replaced_by?;
            let message = format!("`{name}` is the deprecated name of `{current}`");
            Some(
                Diagnostic::new(Code::DeprecatedName, message, node.span)
                    .replaced_by(current, Applicability::Safe),
            )
        }
        Resolution::Constant(_) if schema.entry(name).is_some() => {
            hidden(name, node.span, is_callee)
        }
        Resolution::Constant(_) | Resolution::UnsupportedBuiltin => None,
    }
}

/// Whether this is the `base` of `base.attribute`.
fn is_base(expr: &Expr, id: ExprId, parents: &Parents<'_>) -> bool {
    match parents.parent(id) {
        Some(parent) => attribute_of(expr, expr.node(parent)).is_some(),
        None => false,
    }
}

/// Whether this is the callee of `ln(x)`, which many languages have and Python calls `log`.
fn is_natural_logarithm(expr: &Expr, id: ExprId, parents: &Parents<'_>) -> bool {
    let (Some(call), Some(name)) = (parents.parent(id), expr.node(id).name()) else {
        return false;
    };
    matches!(&expr.node(call).kind, ExprKind::Call { callee, positional, keywords }
        if *callee == id && positional.len() == 1 && keywords.is_empty())
        && name.eq_ignore_ascii_case("ln")
}

fn unknown(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnknownName,
        format!("`{name}` is not a known resource, function or constant"),
        span,
    )
}

fn undefined(name: &str, span: Span, is_callee: bool, similar: &SimilarNames<'_>) -> Diagnostic {
    if SERVER_SCRIPT_NAMES.contains(&name) {
        let message =
            format!("`{name}` exists only in the script with which the server validates a formula");
        return Diagnostic::new(Code::ScriptVariable, message, span)
            .with_help("`qmgr` accepts the formula, but every job gets an error and the value 0");
    }
    if let Some((meant, applicability)) = in_another_case(name, is_callee, similar) {
        let message = format!("`{name}` is not a known name, but `{meant}` is");
        return Diagnostic::new(Code::WrongCase, message, span)
            .with_label("names are case-sensitive")
            .replaced_by(meant, applicability);
    }
    if is_callee && let Some(function) = Function::from_name(name) {
        let message = format!("`{name}` exists since Python {}", function.since());
        return Diagnostic::new(Code::UnknownName, message, span)
            .with_label(format!("not in Python {}", similar.schema.python()));
    }
    let found = unknown(name, span);
    if name.eq_ignore_ascii_case("priority") {
        // `qstat` shows both as `Priority`
        return found
            .with_label(
                "the job's `Priority` is `job_priority`, that of its queue is `queue_priority`",
            )
            .replaced_by("job_priority", Applicability::Unsafe);
    }
    let mut meant = begun(name, similar.schema);
    if meant.is_empty() {
        let near = similar.nearest(name);
        match near.iter().find(|near| is_identifier(near)) {
            Some(near) => meant.push(near),
            None => {
                return match near.first() {
                    Some(near) => found.with_help(not_an_identifier(near)),
                    None => found.with_help(how_to_declare()),
                };
            }
        }
    }
    let found = found.with_label(format!("did you mean `{}`?", meant.join("` or `")));
    match *meant {
        [one] => found.replaced_by(one, Applicability::Unsafe),
        _ => found,
    }
}

fn how_to_declare() -> Message {
    Message::asking(
        "if the server knows it, ",
        [Need::ResourceType, Need::Resources],
    )
}

/// The names of OpenPBS's own inputs of which these are the first words: `fairshare_factor` for
/// `fairshare`.
fn begun<'s>(name: &str, schema: &'s Schema) -> Vec<&'s str> {
    let typed = joined(name);
    let mut longer = Vec::new();
    for known in schema.numeric_names() {
        let Some(entry) = schema.entry(known) else {
            continue;
        };
        // a deprecated name is not suggested
        if entry.origin != Origin::Special || entry.replaced_by.is_some() {
            continue;
        }
        let mut words = known.match_indices('_');
        if words.any(|(at, _)| joined(&known[..at]) == typed) {
            longer.push(known);
        }
    }
    longer.sort_unstable();
    longer
}

/// A name in lower case and without separators.
fn joined(name: &str) -> String {
    name.replace(['_', '-', '.'], "").to_ascii_lowercase()
}

fn not_an_identifier(resource: &str) -> String {
    format!(
        "no formula can use the resource `{resource}`: Python does not read it as one name; rename the resource"
    )
}

/// Findings on subtractions without blanks that are the name of one resource, such as `rn-long`, or
/// misspell one, such as `eligible-time`. Their names are not reported again.
fn hyphenated(expr: &Expr, schema: &Schema) -> Vec<Diagnostic> {
    let mut names = named(expr);
    names.sort_by_key(|(span, _)| span.start);
    let chains = names.chunk_by(|(one, _), (next, _)| {
        one.end + 1 == next.start && expr.text().as_bytes().get(one.end as usize) == Some(&b'-')
    });
    let mut findings = Vec::new();
    for chain in chains {
        if chain.len() > 1 {
            findings.extend(hyphenated_name(expr, schema, chain));
        }
    }
    findings
}

/// `chain` are the names with hyphens between them.
fn hyphenated_name(expr: &Expr, schema: &Schema, chain: &[(Span, &str)]) -> Option<Diagnostic> {
    let names: Vec<&str> = chain.iter().map(|(_, name)| *name).collect();
    let unknown = names
        .iter()
        .find(|name| matches!(Resolution::from_schema(name, schema), Resolution::Undefined))?;
    let span = chain.first()?.0.to(chain.last()?.0);
    let written = span.slice(expr.text());
    let meant = names.join("_");
    let message = format!(
        "`{written}` is a subtraction, and `{unknown}` is not a known resource, function or constant"
    );
    let found = Diagnostic::new(Code::UnknownName, message, span);
    if schema.entry(written).is_some() {
        Some(found.with_help(not_an_identifier(written)))
    } else if schema.is_numeric(&meant) {
        let label = format!("did you mean `{meant}`?");
        Some(
            found
                .with_label(label)
                .replaced_by(meant, Applicability::Unsafe),
        )
    } else {
        None
    }
}

/// The known name that differs from `name` only in case, if there is one. To replace a resource is
/// safe, because OpenPBS itself accepts resources in any case; so is to replace a function that is
/// called.
fn in_another_case(
    name: &str,
    is_callee: bool,
    similar: &SimilarNames<'_>,
) -> Option<(String, Applicability)> {
    let lower = name.to_ascii_lowercase();
    if let Some(&known) = similar.by_lower_case.get(&lower) {
        return Some((known.to_owned(), Applicability::Safe));
    }
    if Function::from_name(&lower).is_some() && lower != name {
        let applicability = if is_callee {
            Applicability::Safe
        } else {
            Applicability::Unsafe
        };
        return Some((lower, applicability));
    }
    for keyword in ["True", "False", "None"] {
        if keyword.eq_ignore_ascii_case(name) {
            return Some((keyword.to_owned(), Applicability::Unsafe));
        }
    }
    constant(&lower)?;
    Some((lower, Applicability::Unsafe))
}

/// The finding on a resource that a formula cannot use, because Python finds another object of that
/// name first. A call has no such finding, as it means the function.
fn hidden(name: &str, span: Span, is_callee: bool) -> Option<Diagnostic> {
    if name == "ex" {
        let message = "`ex` is a variable of the scheduler's script, which hides the resource";
        let help = "it is `None` for every job; rename the resource";
        return Some(Diagnostic::new(Code::ScriptVariable, message, span).with_help(help));
    }
    if is_callee {
        return None;
    }
    let message = format!("`{name}` is a Python name here, which hides the resource");
    Some(
        Diagnostic::new(Code::HiddenResource, message, span)
            .with_help("rename the resource to use it in a formula"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::syntax::parse;
    use crate::schema::InputType;

    fn findings(text: &str, schema: &Schema) -> Vec<Diagnostic> {
        let Ok(expr) = parse(text) else {
            panic!("{text}")
        };
        check(&expr, schema, &Parents::new(&expr))
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
