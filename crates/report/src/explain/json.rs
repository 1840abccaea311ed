//! Explanations as one JSON document.

use std::io::{self, Write};

use job_sort_formula::diagnostic::Span;
use job_sort_formula::python::Value as PythonValue;
use job_sort_formula::rank::explain::{Influence, NodeValue};
use jsf_openpbs::number_format;
use jsf_site::{Against, Cause, Explanation, Neighbour, RankReached, SmallestChange, Wait};
use serde_json::{Value, json};

use crate::document::MAX_VALUE;
use crate::explain::document::{MAX_CODE, part as part_of_formula};
use crate::explain::sentence::sentence;
use crate::explain::{ExplainReport, path_view};
use crate::printable::excerpt;
use crate::rank_json::Error;
use crate::shares::fields;

/// The most jobs with the same error whose ids are listed.
const MAX_LISTED: usize = 10;

/// Writes explanations as one JSON document.
///
/// # Errors
/// `out` cannot be written.
pub fn write_json(report: &ExplainReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let jobs: Vec<Value> = report.explanations.jobs.iter().map(|explained| job(report, explained)).collect();
    serde_json::to_writer_pretty(&mut *out, &json!({"formula": report.formula, "jobs": jobs}))?;
    out.write_all(b"\n")
}

fn job(report: &ExplainReport<'_>, explained: &Explanation) -> Value {
    let (table, row) = (report.table(), explained.row);
    let result = explained.result.as_ref();
    let (excluded, reason) = report.excluded(explained).unzip();
    let view = path_view(report.explanations.shares.as_ref(), explained);
    let shares = view.map(|view| view.nodes.iter().map(|&node| Value::Object(fields(&view, node))).collect::<Vec<_>>());
    let inputs = explained.inputs.iter().map(|input| {
        let value = input.value.as_ref().map(shown);
        json!({"name": input.name, "value": value, "unit": input.unit, "origin": input.origin.as_str()})
    });
    let part = |span: Span, text: &str, value: String| json!({"span": span, "text": text, "value": value});
    let node_text = |node: &NodeValue| excerpt(part_of_formula(report, node), MAX_CODE);
    let nodes = explained.nodes.iter().map(|node| part(node.span, &node_text(node), shown(&node.value)));
    let terms = explained.terms.iter().map(|term| part(term.span, &term.text, shown(&term.value)));
    let mut json = json!({
        "id": table.id(row),
        "entity": table.entity(row),
        "queue": table.queue(row),
        "state": table.state(row).letter(),
        "rank": explained.rank,
        "considered": report.considered(),
        "excluded": excluded,
        "reason": reason,
        "score": explained.score.filter(|score| score.is_finite()),
        "exact": result.and_then(|result| result.as_ref().ok()).map(ToString::to_string),
        "logged": explained.score.map(number_format::logged),
        "error": result.and_then(|result| result.as_ref().err()).map(Error::new),
        "same_error": result.is_some_and(Result::is_err).then(|| same_error(report, explained)),
        "sentence": sentence(report, explained),
        "inputs": inputs.collect::<Vec<_>>(),
        "nodes": nodes.collect::<Vec<_>>(),
        "terms": terms.collect::<Vec<_>>(),
        "influences": explained.influences.iter().map(influence).collect::<Vec<_>>(),
        "causes": explained.causes.iter().map(|one| cause(report, one)).collect::<Vec<_>>(),
        "shares": shares.unwrap_or_default(),
        "above": neighbours(report, &explained.above),
        "below": neighbours(report, &explained.below),
        "changes": explained.changes.found.iter().map(|one| change(explained, one)).collect::<Vec<_>>(),
        "changes_unknown": explained.changes.unknown,
        "is_complete": explained.is_complete,
    });
    if let Some(RankReached { rank, wait, .. }) = explained.reached {
        json["to"] = match wait {
            Wait::Until(at) => json!({"rank": rank, "eligible_time": at.eligible_time, "wait": at.wait}),
            Wait::Never | Wait::Unknown => Value::Null,
        };
        json["to_is_known"] = (wait != Wait::Unknown).into();
    }
    json
}

fn change(explained: &Explanation, change: &SmallestChange) -> Value {
    let unit = explained.inputs.iter().find(|input| *input.name == *change.name).and_then(|input| input.unit);
    json!({
        "name": change.name, "unit": unit, "from": shown(&change.from), "to": shown(&change.to), "rank": change.rank,
        "means": change.means.as_str(),
    })
}

fn influence(influence: &Influence) -> Value {
    let texts = |values: &[job_sort_formula::python::Value]| values.iter().map(shown).collect::<Vec<_>>();
    json!({
        "inputs": influence.inputs,
        "values": texts(&influence.values),
        "medians": texts(&influence.medians),
        "effect": Some(influence.effect).filter(|effect| effect.is_finite()),
    })
}

fn cause(report: &ExplainReport<'_>, cause: &Cause) -> Value {
    let texts = |values: &[job_sort_formula::python::Value]| values.iter().map(shown).collect::<Vec<_>>();
    let others = cause.others.iter().map(|other| {
        json!({"job": other.row.map(|row| report.table().id(row)), "values": texts(&other.values), "rank": other.rank})
    });
    let against = match cause.against {
        Against::Ahead => "ahead",
        Against::Median => "median",
        Against::Behind => "behind",
    };
    json!({
        "inputs": cause.inputs,
        "values": texts(&cause.values),
        "against": against,
        "gained": cause.gained,
        "others": others.collect::<Vec<_>>(),
    })
}

fn same_error(report: &ExplainReport<'_>, explained: &Explanation) -> Value {
    let ids: Vec<&str> = explained.same_error.iter().take(MAX_LISTED).map(|&row| report.table().id(row)).collect();
    json!({"count": explained.same_error.len(), "jobs": ids})
}

fn neighbours(report: &ExplainReport<'_>, neighbours: &[Neighbour]) -> Vec<Value> {
    let (table, ranking) = (report.table(), &report.queue.ranking);
    let neighbour = |one: &Neighbour| {
        let score = ranking.score(one.row);
        let exact = score.as_ref().and_then(|score| score.unrounded.as_ref().ok()).map(ToString::to_string);
        let terms = one.differences.iter().map(|term| {
            let difference = term.difference.as_ref().map(shown);
            json!({"text": term.text, "difference": difference})
        });
        json!({
            "id": table.id(one.row),
            "entity": table.entity(one.row),
            "rank": one.rank,
            "score": score.as_ref().map(|score| score.value).filter(|score| score.is_finite()),
            "exact": exact,
            "error": score.and_then(|score| score.unrounded.err()).map(Error::new),
            "terms": terms.collect::<Vec<_>>(),
            "decided_by": one.decided_by.map(|criterion| criterion.to_string()),
            "reason": one.reason,
            "rounding": one.rounding.map(|rounding| rounding.as_str()),
        })
    };
    neighbours.iter().map(neighbour).collect()
}

/// A value as it is written.
fn shown(value: &PythonValue) -> String {
    value.repr_within(MAX_VALUE)
}
