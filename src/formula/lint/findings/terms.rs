//! Terms too small to show in a C `float`, in which the scheduler keeps the value.

use crate::diagnostic::Diagnostic;
use crate::formula::lint::findings::Case;
use crate::formula::lint::ranges::{Bound, Values};
use crate::formula::syntax::{NodeId, NodeKind};
use crate::python::BinaryOperator;

/// Findings on terms of the topmost sum that are lost beside the others.
pub(super) fn terms(case: &Case<'_>) -> Vec<Diagnostic> {
    let terms = summands(case);
    if terms.len() < 2 || terms.iter().any(|&(_, values)| !values.is_number() || values.bounds().is_none()) {
        return Vec::new();
    }
    let (least, most) =
        terms.iter().fold((0.0, 0.0), |(least, most), (_, values)| (least + values.least(), most + values.most()));
    let lost = terms
        .iter()
        .filter_map(|&(term, values)| lost(case, term, values, (least - values.least(), most - values.most())));
    let lost: Vec<Lost> = lost.collect();
    // what is too little alone may be enough together
    let together: f64 = lost.iter().map(|lost| lost.width).sum();
    if lost.len() > 1 && lost.iter().any(|lost| together >= lost.apart / 2.0) {
        return Vec::new();
    }
    lost.into_iter().map(|lost| lost.finding).collect()
}

/// A term that is lost: the finding, by how much it differs, and how far apart values are.
struct Lost {
    finding: Diagnostic,
    width: f64,
    apart: f64,
}

/// The terms of the topmost sum with their signed values.
fn summands(case: &Case<'_>) -> Vec<(NodeId, Values)> {
    let mut terms = Vec::new();
    let mut parts = vec![(case.expr.root(), false)];
    while let Some((part, negative)) = parts.pop() {
        let part = case.inside(part);
        match case.kind(part) {
            NodeKind::Binary { op: BinaryOperator::Add, left, right } => {
                parts.extend([(*right, negative), (*left, negative)]);
            }
            NodeKind::Binary { op: BinaryOperator::Subtract, left, right } => {
                parts.extend([(*right, !negative), (*left, negative)]);
            }
            _ => {
                let values = case.facts.of(part).values;
                let kinds = values.kinds();
                let turned = Values::between(kinds, -values.most(), -values.least());
                terms.push((part, if negative { turned } else { values }));
            }
        }
    }
    terms
}

/// The finding that a term is, which varies but by less than a `float` of the others' size can show.
fn lost(case: &Case<'_>, term: NodeId, values: Values, others: (f64, f64)) -> Option<Lost> {
    let (least, most) = others;
    let size = if least > 0.0 { least } else { -most };
    let width = values.most() - values.least();
    if size <= 0.0 || width <= 0.0 || !width.is_finite() || !size.is_finite() || case.inputs(term).is_empty() {
        return None;
    }
    let apart = spacing(size);
    if apart.is_infinite() {
        return None;
    }
    let shown = |others: f64| (others + values.least()) as f32 == (others + values.most()) as f32;
    // beside a fixed number it can be computed; beside one that varies it may still tip a rounding
    let is_lost = if least == most { shown(least) } else { width < apart / 2.0 };
    if !is_lost {
        return None;
    }
    let verb = if least == most { "never changes the value" } else { "is lost in the rounding of the value" };
    let message = format!("{} {verb}", case.quoted(term));
    let finding = Diagnostic::warning("JSF503", message, case.expr.node(term).span);
    let finding = finding.with_label(format!("differs by {} at most", Bound(width)));
    let finding = finding.with_help(format!(
        "OpenPBS keeps the value in 24 bits: beside the rest of the sum, {} at least, values are {} apart",
        Bound(size),
        Bound(apart)
    ));
    Some(Lost { finding, width, apart })
}

/// How far C `float`s of this size are apart.
fn spacing(size: f64) -> f64 {
    let float = size as f32;
    if float.is_finite() { f64::from(float.next_up()) - f64::from(float) } else { f64::INFINITY }
}
