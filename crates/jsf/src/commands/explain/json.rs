//! Explanations as one JSON document.

use job_sort_formula::python::Value as PythonValue;
use job_sort_formula::rank::explain::Influence;
use jsf_openpbs::number_format;
use jsf_site::{Against, Cause, Explanation, Neighbour, RankReached, SmallestChange, Wait};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::commands::explain::answer::{ExplainReport, path_view};
use crate::commands::explain::sentence::sentence;
use crate::commands::explain::view::{MAX_CODE, part};
use crate::commands::rank::json::Error;
use crate::commands::shares::answer::fields;
use crate::view::decides::decides_json;
use crate::view::document::MAX_VALUE;
use crate::view::printable::excerpt;

/// The most jobs with the same error whose ids are listed.
const MAX_LISTED: usize = 10;

impl Serialize for ExplainReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let jobs: Vec<Value> = self.explanations.jobs.iter().map(|explained| job(self, explained)).collect();
        let answer = json!({"formula": self.formula, "jobs": jobs, "decides": decides_json(self.decides)});
        answer.serialize(serializer)
    }
}

fn job(report: &ExplainReport<'_>, explained: &Explanation) -> Value {
    let table = report.table();
    let row = explained.row;
    let result = explained.result.as_ref();
    let (excluded, reason) = report.excluded(explained).unzip();
    let view = path_view(report.explanations.shares.as_ref(), explained);
    let shares = view.map(|view| view.nodes.iter().map(|&node| Value::Object(fields(&view, node))).collect::<Vec<_>>());
    let inputs = explained.inputs.iter().map(|input| {
        let value = input.value.as_ref().map(shown);
        json!({"name": input.name, "value": value, "unit": input.unit, "origin": input.origin.as_str()})
    });
    let nodes = explained.nodes.iter().map(|node| {
        let text = excerpt(part(report, node), MAX_CODE);
        json!({"span": node.span, "text": text, "value": shown(&node.value)})
    });
    let terms =
        explained.terms.iter().map(|term| json!({"span": term.span, "text": term.text, "value": shown(&term.value)}));
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
        "above": explained.above.iter().map(|one| neighbour(report, one)).collect::<Vec<_>>(),
        "below": explained.below.iter().map(|one| neighbour(report, one)).collect::<Vec<_>>(),
        "changes": explained.changes.found.iter().map(|one| change(explained, one)).collect::<Vec<_>>(),
        "exchange_rates": explained.rates,
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
        "means": change.means.as_str(), "queues": change.queues,
    })
}

fn influence(influence: &Influence) -> Value {
    json!({
        "inputs": influence.inputs,
        "values": all_shown(&influence.values),
        "medians": all_shown(&influence.medians),
        "effect": Some(influence.effect).filter(|effect| effect.is_finite()),
    })
}

fn cause(report: &ExplainReport<'_>, cause: &Cause) -> Value {
    let others = cause.others.iter().map(|other| {
        let id = other.row.map(|row| report.table().id(row));
        json!({"job": id, "values": all_shown(&other.values), "rank": other.rank})
    });
    let against = match cause.against {
        Against::Ahead => "ahead",
        Against::Median => "median",
        Against::Behind => "behind",
    };
    json!({
        "inputs": cause.inputs,
        "values": all_shown(&cause.values),
        "against": against,
        "gained": cause.gained,
        "others": others.collect::<Vec<_>>(),
    })
}

fn same_error(report: &ExplainReport<'_>, explained: &Explanation) -> Value {
    let ids: Vec<&str> = explained.same_error.iter().take(MAX_LISTED).map(|&row| report.table().id(row)).collect();
    json!({"count": explained.same_error.len(), "jobs": ids})
}

fn neighbour(report: &ExplainReport<'_>, neighbour: &Neighbour) -> Value {
    let table = report.table();
    let score = report.queue.ranking.score(neighbour.row);
    let exact = score.as_ref().and_then(|score| score.unrounded.as_ref().ok()).map(ToString::to_string);
    let terms = neighbour.differences.iter().map(|term| {
        let difference = term.difference.as_ref().map(shown);
        json!({"text": term.text, "difference": difference})
    });
    json!({
        "id": table.id(neighbour.row),
        "entity": table.entity(neighbour.row),
        "rank": neighbour.rank,
        "score": score.as_ref().map(|score| score.value).filter(|score| score.is_finite()),
        "exact": exact,
        "error": score.and_then(|score| score.unrounded.err()).map(Error::new),
        "terms": terms.collect::<Vec<_>>(),
        "decided_by": neighbour.decided_by.map(|criterion| criterion.to_string()),
        "reason": neighbour.reason,
        "rounding": neighbour.rounding.map(|rounding| rounding.as_str()),
    })
}

fn all_shown(values: &[PythonValue]) -> Vec<String> {
    values.iter().map(shown).collect()
}

/// A value as it is written.
fn shown(value: &PythonValue) -> String {
    value.repr_within(MAX_VALUE)
}
