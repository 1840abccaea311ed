//! A ranking, as one JSON document or as one JSON object per line.

use std::collections::BTreeMap;
use std::io::{self, Write};

use job_sort_formula::diagnostic::Span;
use job_sort_formula::python::Value;
use job_sort_formula::rank::{ScoreError, SummandAgreement};
use jsf_openpbs::number_format;
use serde::{Serialize, Serializer};

use crate::commands::rank::answer::{Line, RankReport};
use crate::view::ordered_writer::write_in_order;

#[derive(Serialize)]
struct Job<'a> {
    rank: Option<usize>,
    id: &'a str,
    entity: &'a str,
    queue: &'a str,
    state: &'static str,
    /// The value that jobs are sorted by; null if it is not finite.
    score: Option<f64>,
    /// Slurm's priority, as `squeue` prints it with `%Q`: 0 for a job that is held. Absent for
    /// another formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u32>,
    /// Python's `repr` of the value before it is rounded to float32.
    exact: Option<String>,
    /// The digits that OpenPBS logs.
    logged: Option<String>,
    error: Option<Error>,
    considered: bool,
    /// Why the job is not considered: `state`, `threshold`, `no shares`, `partition`,
    /// `routing queue` or `invalid`.
    excluded: Option<&'static str>,
    /// The same in words.
    reason: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    inputs: BTreeMap<&'a str, serde_json::Value>,
    /// As in the explanation of a job; absent unless they are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    terms: Option<Vec<Term<'a>>>,
}

/// A summand of the formula.
#[derive(Serialize)]
struct Term<'a> {
    span: Span,
    text: &'a str,
    /// Python's `repr` of the value; null where the formula fails.
    value: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct Error {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exception: Option<&'static str>,
    message: String,
    span: Span,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    operands: Vec<Operand>,
}

#[derive(Serialize)]
struct Operand {
    value: String,
    span: Span,
}

#[derive(Serialize)]
struct Summary {
    jobs: usize,
    considered: usize,
    ignored: usize,
    errors: usize,
    errors_by_kind: BTreeMap<&'static str, usize>,
    ties: usize,
}

impl Serialize for RankReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            formula, decides, ..
        } = *self;
        RankJson {
            formula,
            jobs: Jobs(self),
            summary: summary(self),
            decides,
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct RankJson<'a> {
    formula: &'a str,
    jobs: Jobs<'a>,
    summary: Summary,
    decides: &'a [SummandAgreement],
}

/// The jobs, which are serialised one by one: a list of them would take more memory than the
/// ranking.
struct Jobs<'a>(&'a RankReport<'a>);

impl Serialize for Jobs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report) = self;
        serializer.collect_seq(report.lines().map(|line| job(report, &line)))
    }
}

/// Writes one JSON object per job.
///
/// # Errors
/// `out` cannot be written.
pub(crate) fn write_ndjson(report: &RankReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let lines = report.line_maker();
    write_in_order(report.rows, out, |rows, text| {
        for &ranked in rows {
            // every value of a report can be serialised
            _ = serde_json::to_writer(&mut *text, &job(report, &lines.line(ranked)));
            text.push(b'\n');
        }
    })
}

fn job<'a>(report: &RankReport<'a>, line: &Line<'a>) -> Job<'a> {
    let table = report.table;
    let inputs = report
        .inputs
        .iter()
        .filter(|name| table.column(name).is_some())
        .map(|name| {
            let value = report.input(name, line.row);
            (
                *name,
                value.map_or(serde_json::Value::Null, |value| number(&value)),
            )
        });
    let mut exact = String::new();
    line.write_exact(&mut exact);
    let (excluded, reason) = report.excluded(line).unzip();
    Job {
        rank: line.rank,
        id: table.id(line.row),
        entity: table.entity(line.row),
        queue: table.queue(line.row),
        state: table.state(line.row).letter(),
        score: line
            .score
            .as_ref()
            .map(|score| score.value)
            .filter(|kept| kept.is_finite()),
        value: report
            .is_slurm_priority
            .then(|| line.slurm_priority(table))
            .flatten(),
        exact: line.unrounded().map(|_| exact),
        logged: line
            .score
            .as_ref()
            .map(|score| number_format::logged(score.value)),
        error: line.error().map(Error::new),
        considered: line.is_considered(),
        excluded,
        reason,
        inputs: inputs.collect(),
        terms: report.terms.map(|terms| {
            let values = terms
                .values(table, line.row)
                .into_iter()
                .map(|value| value.map(|value| value.repr()));
            terms
                .parts()
                .zip(values)
                .map(|((span, text), value)| Term { span, text, value })
                .collect()
        }),
    }
}

fn summary(report: &RankReport<'_>) -> Summary {
    let scores = report.ranking.scores();
    Summary {
        jobs: report.table.len(),
        considered: report.ranking.order().len(),
        ignored: report.table.len() - scores.count(),
        errors: report.ranking.error_count(),
        errors_by_kind: scores
            .errors_by_kind()
            .into_iter()
            .map(|(kind, jobs)| (kind.description(), jobs))
            .collect(),
        ties: report.ranking.ties(),
    }
}

impl Error {
    pub(crate) fn new(error: &ScoreError) -> Self {
        let (exception, operands) = match error {
            ScoreError::Raised(raised) => (Some(raised.kind().exception()), raised.operands()),
            _ => (None, &[][..]),
        };
        let operands = operands.iter().map(|operand| Operand {
            value: operand.value.repr(),
            span: operand.span,
        });
        let message = error.to_string();
        Self {
            kind: error.kind().description(),
            exception,
            message,
            span: error.span(),
            operands: operands.collect(),
        }
    }
}

/// An input as JSON: a number if JSON can represent it, else its `repr` in Python.
fn number(value: &Value) -> serde_json::Value {
    match value {
        Value::Int(integer) => (*integer).into(),
        Value::Float(float) if float.is_finite() => (*float).into(),
        other => other.repr().into(),
    }
}
