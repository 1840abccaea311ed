//! The names of a formula: those that are unknown, mean something other than they seem to, or are
//! deprecated, and what may have been meant.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, Message, Need, Span};
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::formula::syntax::{Construct, Expr, ExprId, ExprKind, Node, is_identifier};
use job_sort_formula::python::{Function, constant};
use job_sort_formula::schema::{Origin, Schema};
use jsf_words::{first_few_quoted, quoted_and_list};

use crate::non_arithmetic::{is_math_module, is_resource_list};

/// A formula and what the lints on its tree look up.
pub(super) struct Lints<'e> {
    pub(super) expr: &'e Expr,
    pub(super) schema: &'e Schema,
    /// The parent of each node.
    parents: Vec<Option<ExprId>>,
    /// The targets of `:=`.
    assigned: Vec<&'e str>,
    /// The lambdas and comprehensions, which bind names of their own.
    scopes: Vec<Span>,
    /// The numeric resources, by their names in lower case.
    by_lower_case: HashMap<String, &'e str>,
    /// The length of the names of all numeric resources together, in bytes.
    length_of_names: usize,
    /// How many characters may still be compared with each other.
    comparisons_left: Cell<usize>,
}

/// The most unknown names that a message lists.
const MAX_UNKNOWN_NAMES: usize = 10;

impl<'e> Lints<'e> {
    pub(super) fn new(expr: &'e Expr, schema: &'e Schema) -> Self {
        let mut lints = Self {
            expr,
            schema,
            parents: vec![None; expr.nodes().len()],
            assigned: Vec::new(),
            scopes: Vec::new(),
            by_lower_case: HashMap::new(),
            length_of_names: 0,
            comparisons_left: Cell::new(MAX_COMPARISONS),
        };
        for (id, node) in expr.iter() {
            let children = node.kind.children();
            for child in &children {
                lints.parents[child.index()] = Some(id);
            }
            let ExprKind::Unsupported { construct, .. } = &node.kind else {
                continue;
            };
            match construct {
                Construct::AssignmentExpression => {
                    let target = children.first().map(|&target| expr.node(target));
                    lints.assigned.extend(target.and_then(Node::name));
                }
                Construct::Lambda | Construct::Comprehension => lints.scopes.push(node.span),
                _ => {}
            }
        }
        for known in schema.numeric_names() {
            lints.length_of_names += known.len();
            let lower_case = known.to_ascii_lowercase();
            // of names that differ in case alone, the first in alphabetical order
            lints.by_lower_case.entry(lower_case).or_insert(known);
        }
        lints
    }

    /// The parent of a node; `None` for the root.
    pub(super) fn parent(&self, id: ExprId) -> Option<ExprId> {
        self.parents[id.index()]
    }

    /// Whether the node is the callee of a call.
    fn is_callee(&self, id: ExprId) -> bool {
        self.parent(id).is_some_and(|parent| {
            matches!(self.expr.node(parent).kind, ExprKind::Call { callee, .. } if callee == id)
        })
    }

    /// Whether the formula itself may define the name: in a lambda, in a comprehension or with
    /// `:=`.
    fn is_local(&self, name: &str, span: Span) -> bool {
        self.assigned.contains(&name) || self.scopes.iter().any(|scope| scope.contains(span))
    }

    /// What a name means.
    pub(super) fn resolution(&self, name: &str) -> Resolution {
        Resolution::from_schema(name, self.schema)
    }

    /// The names to which a misspelled one is near; none any more once very many were looked for.
    fn nearest(&self, name: &str) -> Vec<&'e str> {
        let comparisons = name.len().saturating_mul(self.length_of_names);
        let Some(left) = self.comparisons_left.get().checked_sub(comparisons) else {
            return Vec::new();
        };
        self.comparisons_left.set(left);
        self.schema.suggestions(name)
    }
}

/// Names that exist in the server's script, so that the server accepts them, but not in the
/// scheduler's.
const SERVER_SCRIPT_NAMES: [&str; 2] = ["ans", "errnum"];

/// The most comparisons of characters for all names of a formula.
const MAX_COMPARISONS: usize = 20_000_000;

impl<'e> Lints<'e> {
    /// Splits `base.attribute`: the base if it is a name, and the attribute.
    pub(super) fn attribute_of(&self, node: &Node) -> Option<(Option<&'e str>, &'e str)> {
        let ExprKind::Unsupported {
            construct: Construct::Attribute,
            parts,
        } = &node.kind
        else {
            return None;
        };
        let base = parts.first().and_then(|&base| self.expr.node(base).name());
        // the last point, because the base may have some as well
        let (_, attribute) = node.span.slice(self.expr.text()).rsplit_once('.')?;
        Some((base, attribute.trim()))
    }

    /// Findings on every name, also in branches that are not taken.
    pub(super) fn check_names(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for (id, _) in self.expr.iter() {
            findings.extend(self.name(id));
        }
        let hyphenated = self.hyphenated();
        findings.retain(|found| {
            // the spans are disjoint and in order
            let next = hyphenated.partition_point(|outer| outer.span.start <= found.span.start);
            let is_inside = next > 0 && found.span.end <= hyphenated[next - 1].span.end;
            found.code != Code::UnknownName || !is_inside
        });
        self.group_unknown(&mut findings);
        findings.extend(hyphenated);
        findings
    }

    /// Joins the findings on unknown names that resemble no known one: the answer is the same for
    /// all of them.
    fn group_unknown(&self, findings: &mut Vec<Diagnostic>) {
        let unknown = findings.extract_if(.., |found| {
            found.code == Code::UnknownName && found.fix.is_none() && found.label.is_empty()
        });
        // in the order of the text, since only leaves are names
        let unknown: Vec<Diagnostic> = unknown.collect();
        let mut unknown = unknown.into_iter();
        let Some(mut grouped) = unknown.next() else {
            return;
        };
        let mut names = vec![grouped.span.slice(self.expr.text())];
        let mut seen = HashSet::from([names[0]]);
        for other in unknown {
            let name = other.span.slice(self.expr.text());
            names.extend(seen.insert(name).then_some(name));
            grouped = grouped.with_secondary_label(other.span, "not known either");
        }
        if names.len() > 1 {
            let names = if names.len() > MAX_UNKNOWN_NAMES {
                first_few_quoted(&names, MAX_UNKNOWN_NAMES - 1)
            } else {
                quoted_and_list(&names)
            };
            grouped.message = format!("{names} are not known resources, functions or constants");
            grouped = grouped.with_help(how_to_declare());
        }
        findings.push(grouped);
    }

    fn name(&self, id: ExprId) -> Option<Diagnostic> {
        let node = self.expr.node(id);
        let name = node.name()?;
        let is_callee = self.is_callee(id);
        let found = |code, message| Diagnostic::new(code, message, node.span);
        match self.resolution(name) {
            Resolution::Undefined if self.schema.entry(name).is_some() => {
                let message = format!("`{name}` is not a numeric resource");
                Some(found(Code::NotNumeric, message).with_help(
                    "a formula can use resources of the types long, float, size and duration",
                ))
            }
            Resolution::Undefined if self.is_local(name, node.span) => None,
            // an attribute is refused, whatever it is one of; that of a module or of the list of
            // resources has a finding of its own
            Resolution::Undefined if self.is_base(id) => {
                let has_own = is_math_module(name) || is_resource_list(name);
                (!has_own).then(|| unknown(name, node.span))
            }
            Resolution::Undefined if self.is_natural_logarithm(id) => Some(
                unknown(name, node.span)
                    .with_label("Python's natural logarithm")
                    .replaced_by("log", Applicability::Safe),
            ),
            Resolution::Undefined => Some(self.undefined(name, node.span, is_callee)),
            Resolution::Input
                if is_callee && Resolution::is_builtin(name, self.schema.python()) =>
            {
                let message =
                    format!("`{name}` is a resource here, which hides the Python function");
                let help = "every job gets an error and the value 0; use another function, or rename the resource";
                Some(found(Code::HiddenFunction, message).with_help(help))
            }
            Resolution::Input => {
                let current = self.schema.entry(name)?.replaced_by?;
                let message = format!("`{name}` is the deprecated name of `{current}`");
                let found = found(Code::DeprecatedName, message);
                Some(found.replaced_by(current, Applicability::Safe))
            }
            // a resource that a formula cannot use, because Python finds another object first
            Resolution::Constant(_) if self.schema.entry(name).is_some() => {
                let (code, message, help) = if name == "ex" {
                    (
                        Code::ScriptVariable,
                        "`ex` is a variable of the scheduler's script, which hides the resource"
                            .to_owned(),
                        "it is `None` for every job; rename the resource",
                    )
                } else if is_callee {
                    // a call means the function
                    return None;
                } else {
                    (
                        Code::HiddenResource,
                        format!("`{name}` is a Python name here, which hides the resource"),
                        "rename the resource to use it in a formula",
                    )
                };
                Some(found(code, message).with_help(help))
            }
            Resolution::Constant(_) | Resolution::UnsupportedBuiltin => None,
        }
    }

    /// Whether this is the `base` of `base.attribute`.
    fn is_base(&self, id: ExprId) -> bool {
        let parent = self.parent(id);
        parent.is_some_and(|parent| self.attribute_of(self.expr.node(parent)).is_some())
    }

    /// Whether this is the callee of `ln(x)`, which many languages have and Python calls `log`.
    fn is_natural_logarithm(&self, id: ExprId) -> bool {
        let (Some(call), Some(name)) = (self.parent(id), self.expr.node(id).name()) else {
            return false;
        };
        matches!(&self.expr.node(call).kind, ExprKind::Call { callee, positional, keywords }
        if *callee == id && positional.len() == 1 && keywords.is_empty())
            && name.eq_ignore_ascii_case("ln")
    }

    fn undefined(&self, name: &str, span: Span, is_callee: bool) -> Diagnostic {
        if SERVER_SCRIPT_NAMES.contains(&name) {
            let message = format!(
                "`{name}` exists only in the script with which the server validates a formula"
            );
            let help = "`qmgr` accepts the formula, but every job gets an error and the value 0";
            return Diagnostic::new(Code::ScriptVariable, message, span).with_help(help);
        }
        if let Some((meant, applicability)) = self.in_another_case(name, is_callee) {
            let message = format!("`{name}` is not a known name, but `{meant}` is");
            return Diagnostic::new(Code::WrongCase, message, span)
                .with_label("names are case-sensitive")
                .replaced_by(meant, applicability);
        }
        if is_callee && let Some(function) = Function::from_name(name) {
            let message = format!("`{name}` exists since Python {}", function.since());
            return Diagnostic::new(Code::UnknownName, message, span)
                .with_label(format!("not in Python {}", self.schema.python()));
        }
        let found = unknown(name, span);
        if name.eq_ignore_ascii_case("priority") {
            // `qstat` shows both as `Priority`
            let label =
                "the job's `Priority` is `job_priority`, that of its queue is `queue_priority`";
            return found
                .with_label(label)
                .replaced_by("job_priority", Applicability::Unsafe);
        }
        let mut meant = self.begun(name);
        if meant.is_empty() {
            let near = self.nearest(name);
            let Some(usable) = near.iter().find(|near| is_identifier(near)) else {
                return match near.first() {
                    Some(near) => found.with_help(not_an_identifier(near)),
                    None => found.with_help(how_to_declare()),
                };
            };
            meant.push(usable);
        }
        let found = found.with_label(format!("did you mean `{}`?", meant.join("` or `")));
        match *meant {
            [one] => found.replaced_by(one, Applicability::Unsafe),
            _ => found,
        }
    }

    /// The names of OpenPBS's own inputs of which these are the first words: `fairshare_factor` for
    /// `fairshare`.
    fn begun(&self, name: &str) -> Vec<&'e str> {
        let typed = joined(name);
        let mut longer = Vec::new();
        for (known, entry) in self.schema.iter() {
            let mut words = known.match_indices('_');
            // a deprecated name is not suggested
            if entry.origin == Origin::Special
                && entry.replaced_by.is_none()
                && words.any(|(at, _)| joined(&known[..at]) == typed)
            {
                longer.push(known);
            }
        }
        longer
    }

    /// Findings on subtractions without blanks that are the name of one resource, such as
    /// `rn-long`, or misspell one, such as `eligible-time`. Their names are not reported again.
    fn hyphenated(&self) -> Vec<Diagnostic> {
        // in the order of the text, as all leaves of a tree
        let mut names: Vec<(Span, &str)> = Vec::new();
        for node in self.expr.nodes() {
            names.extend(node.name().map(|name| (node.span, name)));
        }
        let chains = names.chunk_by(|(one, _), (next, _)| {
            let between = one.end as usize..next.start as usize;
            self.expr.text().get(between) == Some("-")
        });
        let chains = chains.filter(|chain| chain.len() > 1);
        chains
            .filter_map(|chain| self.hyphenated_name(chain))
            .collect()
    }

    /// `chain` are the names with hyphens between them.
    fn hyphenated_name(&self, chain: &[(Span, &str)]) -> Option<Diagnostic> {
        let names: Vec<&str> = chain.iter().map(|(_, name)| *name).collect();
        let unknown = names
            .iter()
            .find(|name| matches!(self.resolution(name), Resolution::Undefined))?;
        let span = chain.first()?.0.to(chain.last()?.0);
        let written = span.slice(self.expr.text());
        let meant = names.join("_");
        let message = format!(
            "`{written}` is a subtraction, and `{unknown}` is not a known resource, function or constant"
        );
        let found = Diagnostic::new(Code::UnknownName, message, span);
        if self.schema.entry(written).is_some() {
            return Some(found.with_help(not_an_identifier(written)));
        }
        if !self.schema.is_numeric(&meant) {
            return None;
        }
        let found = found.with_label(format!("did you mean `{meant}`?"));
        Some(found.replaced_by(meant, Applicability::Unsafe))
    }

    /// The known name that differs from `name` only in case, if there is one. To replace a resource
    /// is safe, because OpenPBS itself accepts resources in any case; so is to replace a function
    /// that is called.
    fn in_another_case(&self, name: &str, is_callee: bool) -> Option<(String, Applicability)> {
        let lower = name.to_ascii_lowercase();
        if let Some(&known) = self.by_lower_case.get(&lower) {
            return Some((known.to_owned(), Applicability::Safe));
        }
        let is_function = Function::from_name(&lower).is_some() && lower != name;
        if is_function && is_callee {
            return Some((lower, Applicability::Safe));
        }
        let mut meant = Some(lower).filter(|lower| is_function || constant(lower).is_some());
        for keyword in ["True", "False", "None"] {
            if keyword.eq_ignore_ascii_case(name) {
                meant = Some(keyword.to_owned());
            }
        }
        Some((meant?, Applicability::Unsafe))
    }
}

fn unknown(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnknownName,
        format!("`{name}` is not a known resource, function or constant"),
        span,
    )
}

fn how_to_declare() -> Message {
    Message::asking(
        "if the server knows it, ",
        [Need::ResourceType, Need::Resources],
    )
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
