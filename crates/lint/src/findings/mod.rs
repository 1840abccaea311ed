//! Findings on the values of a formula: what they look at, and how they quote it.
//!
//! The ranges prove what cannot happen. What can happen is reported only if it does for a sample
//! job, whose inputs have typical values: an interval is often wider than the values behind it, and
//! in practice an input does not have every value that its type allows.

mod sample_jobs;
#[cfg(test)]
mod tests;
mod value_checks;

use std::collections::HashSet;
use std::sync::Arc;

use crate::ranges::{Facts, Ranges, Rounded, analyze_ranges};
use job_sort_formula::diagnostic::{Code, Diagnostic, Span, sort_by_span};
use job_sort_formula::formula::syntax::{Expr, ExprId, ExprKind};
use job_sort_formula::schema::{FairshareInput, InputType, Origin, Schema};
use job_sort_formula::{Program, Value};
use sample_jobs::{Sample, Samples};

/// The most findings that are returned. A formula of 64 KiB can have thousands, all alike.
const MAX_FINDINGS: usize = 100;

/// The length, in characters, to which a message shortens an expression. The span of the finding
/// shows all of it.
const MAX_QUOTED: usize = 48;
/// The most inputs whose values a message gives.
const MAX_INPUTS: usize = 3;

/// A formula and what is known about it.
struct Analysis<'e> {
    expr: &'e Expr,
    schema: &'e Schema,
    ranges: &'e Ranges,
    facts: Facts,
    samples: Samples,
}

/// Findings on the values of a formula, in the order of their places, at most 100. A formula that
/// is not arithmetic has none.
///
/// Errors that are certain follow from the ranges of the inputs. Errors that are only possible are
/// reported if they occur for a sample job, whose inputs have typical values within `ranges`.
///
/// ```
/// use job_sort_formula::Formula;
/// use job_sort_formula::Schema;
///
/// let formula: Formula = "pow(2, -(fairshare_tree_usage / fairshare_perc))".parse()?;
/// let findings = jsf_lint::lint_values(formula.expr(), &Schema::openpbs(), &jsf_lint::Ranges::default());
/// assert_eq!(findings[0].code, "JSF303");
/// assert_eq!(findings[0].label, "0 for an entity without shares");
/// # Ok::<(), job_sort_formula::formula::syntax::SyntaxError>(())
/// ```
pub fn lint_values(expr: &Arc<Expr>, schema: &Schema, ranges: &Ranges) -> Vec<Diagnostic> {
    let Ok(program) = Program::compile(Arc::clone(expr), schema) else {
        return Vec::new();
    };
    let analysis = Analysis {
        expr,
        schema,
        ranges,
        facts: analyze_ranges(expr, schema, ranges),
        samples: Samples::new(&program, schema, ranges),
    };
    let mut findings = analysis.check_failures();
    // the result is judged by sample jobs, and a refused program has none
    if program.refused().is_none() {
        findings.extend(analysis.check_result(&findings));
    }
    findings.extend(analysis.check_fairness(&program));
    findings.extend(analysis.check_parts());
    findings.extend(analysis.absorbed_terms());
    // before the cut, so that the first ones in the text are kept
    sort_by_span(&mut findings);
    findings.truncate(MAX_FINDINGS);
    findings
}

impl Analysis<'_> {
    fn kind(&self, node: ExprId) -> &ExprKind {
        &self.expr.node(node).kind
    }

    /// The kind of the node in its parentheses, if it has some.
    fn inner_kind(&self, node: ExprId) -> &ExprKind {
        self.kind(self.without_parentheses(node))
    }

    fn span(&self, node: ExprId) -> Span {
        self.expr.node(node).span
    }

    fn finding(&self, code: Code, message: impl Into<String>, node: ExprId) -> Diagnostic {
        Diagnostic::new(code, message, self.span(node))
    }

    /// The text of a node.
    fn text(&self, node: ExprId) -> &str {
        self.span(node).slice(self.expr.text())
    }

    fn without_parentheses(&self, node: ExprId) -> ExprId {
        self.expr.without_parentheses(node)
    }

    /// The name of the input, if the node is one.
    fn input(&self, node: ExprId) -> Option<&str> {
        match self.inner_kind(node) {
            ExprKind::Name(name) if self.samples.index(name).is_some() => Some(name),
            _ => None,
        }
    }

    /// The inputs that an expression uses, each once, in the order of the text.
    fn inputs(&self, expression: ExprId) -> Vec<&str> {
        let mut uses: Vec<(Span, &str)> = Vec::new();
        let mut unvisited = vec![expression];
        while let Some(id) = unvisited.pop() {
            let node = self.expr.node(id);
            match &node.kind {
                ExprKind::Name(name) if self.samples.index(name).is_some() => {
                    uses.push((node.span, name))
                }
                kind => unvisited.extend(kind.children()),
            }
        }
        // by place, since the walk visits nodes from the last to the first
        uses.sort_unstable();
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for (_, name) in uses {
            if seen.insert(name) {
                names.push(name);
            }
        }
        names
    }

    /// The text of a node in back-ticks, shortened if it is long.
    fn quoted(&self, node: ExprId) -> String {
        let mut text = String::new();
        for word in self.text(node).split_whitespace() {
            text += if text.is_empty() { "" } else { " " };
            text += word;
            // a character has at most four bytes: more cannot be shown
            if text.len() > MAX_QUOTED * 4 {
                break;
            }
        }
        if text.chars().count() <= MAX_QUOTED {
            return format!("`{text}`");
        }
        let start: String = text.chars().take(MAX_QUOTED - 1).collect();
        format!("`{start}…`")
    }

    /// Says for which jobs an expression does what it does for a sample job, such as "if `a` is 0
    /// and `b` is 3".
    fn condition(&self, sample: Option<&Sample>, node: ExprId) -> String {
        let inputs = self.inputs(node);
        let mut equations = Vec::new();
        if let Some(sample) = sample {
            for (name, value) in self.samples.relevant_inputs(sample, &inputs) {
                equations.push(format!("`{name}` is {}", without_decimals(value)));
            }
        }
        match equations.len() {
            1..=MAX_INPUTS => format!("if {}", equations.join(" and ")),
            _ => "for some jobs".to_owned(),
        }
    }

    /// Says for which jobs an input is 0.
    fn when_zero(&self, name: &str) -> &'static str {
        if let Some(input) = FairshareInput::from_name(name) {
            return match input {
                FairshareInput::Perc => "0 for an entity without shares",
                FairshareInput::TreeUsage => "0 for an entity without usage",
                FairshareInput::Factor => {
                    "0 for an entity without shares, or with far more usage than its share"
                }
            };
        }
        match name {
            "eligible_time" => "0 for a job that has not waited yet",
            "queue_priority" => "0 in a queue without a priority",
            "job_priority" => "0 for a job without a priority",
            "ncpus" => "0 for a job that requests no CPUs",
            "accrue_type" => "0 for a job that does not accrue eligible time yet",
            _ => match self.schema.entry(name) {
                Some(entry) if entry.origin == Origin::Special => "may be 0",
                Some(entry) if entry.is_withheld => "0 for a job to which the site gives none",
                _ => "0 for a job that does not request it",
            },
        }
    }

    /// A small positive lower bound for an input that is never negative, as text.
    fn positive_bound(&self, name: &str) -> Option<&'static str> {
        let entry = self.schema.entry(name)?;
        let from_zero = self.ranges.interval(name, self.schema).low >= 0.0;
        match (name, entry.input_type) {
            // a formula that divides by a priority expects a positive one
            ("queue_priority" | "job_priority", _) => Some("1"),
            _ if !from_zero => None,
            (_, InputType::Ratio) => Some("1e-6"),
            (_, InputType::Float) => None,
            _ => Some("1"),
        }
    }
}

/// A number without the `.0` of a float.
fn without_decimals(value: &Value) -> String {
    match value {
        Value::Float(number) => Rounded(*number).to_string(),
        other => other.repr(),
    }
}
