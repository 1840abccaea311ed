//! Findings on what a formula computes: where it fails, what it never does, and whom it favours.

mod branches;
mod failures;
mod fairness;
mod integers;
mod result;
mod terms;
mod trial;
mod units;
mod wording;

use std::collections::HashSet;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::formula::lint::findings::trial::Trial;
use crate::formula::lint::ranges::{Facts, Ranges, ranges as facts_of};
use crate::formula::program::Program;
use crate::formula::syntax::{Expr, NodeId, NodeKind};
use crate::schema::Schema;

/// Nobody reads more of them; a formula of 64 KiB can have thousands, all alike.
const MOST_FINDINGS: usize = 100;

/// A formula and all that is known of it.
struct Case<'e> {
    expr: &'e Expr,
    schema: &'e Schema,
    ranges: &'e Ranges,
    facts: Facts,
    trial: Trial,
}

/// Findings on the values of a formula, in the order of their places, at most 100. None for a formula that is no arithmetic.
///
/// What is certain follows from the ranges of the inputs. What is only possible is reported where a job shows it,
/// made up of values that occur; a range in `ranges` says more closely which do.
///
/// ```
/// use job_sort_formula::formula::{Formula, lint};
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "pow(2, -(fairshare_tree_usage / fairshare_perc))".parse()?;
/// let findings = lint::findings(formula.expr(), &Schema::openpbs(), &lint::Ranges::default());
/// assert_eq!(findings[0].code, "JSF303");
/// assert_eq!(findings[0].label, "0 for an entity without shares");
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
pub fn findings(expr: &Expr, schema: &Schema, ranges: &Ranges) -> Vec<Diagnostic> {
    let Ok(program) = Program::compile(Arc::new(expr.clone()), schema) else { return Vec::new() };
    let facts = facts_of(expr, schema, ranges);
    let trial = Trial::of(&program, schema, ranges, &facts);
    let case = Case { expr, schema, ranges, facts, trial };
    let mut findings = failures::failures(&case);
    if program.refused().is_none() {
        findings.extend(result::result(&case, &findings));
    }
    findings.extend(branches::branches(&case));
    findings.extend(fairness::fairness(&case, &program));
    findings.extend(terms::terms(&case));
    findings.extend(integers::integers(&case));
    findings.extend(units::units(&case));
    findings.sort_by_key(|finding| (finding.span, finding.code));
    findings.truncate(MOST_FINDINGS);
    findings
}

impl Case<'_> {
    fn kind(&self, node: NodeId) -> &NodeKind {
        &self.expr.node(node).kind
    }

    /// The part as it is written.
    fn text(&self, node: NodeId) -> &str {
        self.expr.node(node).span.of(self.expr.text())
    }

    /// What stands in the parentheses.
    fn inside(&self, mut node: NodeId) -> NodeId {
        while let NodeKind::Parenthesised(inner) = self.kind(node) {
            node = *inner;
        }
        node
    }

    /// The input that a part is, if it is one and nothing else.
    fn input(&self, node: NodeId) -> Option<&str> {
        match self.kind(self.inside(node)) {
            NodeKind::Name(name) if self.trial.place(name).is_some() => Some(name),
            _ => None,
        }
    }

    /// The inputs that stand in a part, each once, in the order of the text.
    fn inputs(&self, part: NodeId) -> Vec<&str> {
        let mut places: Vec<(crate::diagnostic::Span, &str)> = Vec::new();
        let mut parts = vec![part];
        while let Some(part) = parts.pop() {
            let node = self.expr.node(part);
            match &node.kind {
                NodeKind::Name(name) if self.trial.place(name).is_some() => places.push((node.span, name)),
                kind => parts.extend(kind.children()),
            }
        }
        places.sort_unstable();
        let mut known = HashSet::new();
        places.into_iter().map(|(_, name)| name).filter(|name| known.insert(*name)).collect()
    }
}
