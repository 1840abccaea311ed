//! A ranking as CSV: a header and one line per job.

use std::borrow::Cow;
use std::io::{self, Write};

use job_sort_formula::python::Value;

use crate::commands::rank::answer::{Job, RankReport};
use crate::view::csv_writer::{Cells, guarded};
use crate::view::ordered_writer::write_in_order;

/// The fields of every job; the inputs and the summands that are shown follow.
const HEADER: &str =
    "rank,id,entity,queue,state,score,exact,logged,error,considered,excluded,reason";

/// Writes comma-separated values as in RFC 4180.
///
/// # Errors
/// `out` cannot be written.
pub(crate) fn write_csv(
    report: &RankReport<'_>,
    cells: Cells,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut header: Vec<_> = HEADER.split(',').map(Cow::Borrowed).collect();
    for name in report.inputs() {
        header.push(guarded(name, cells));
    }
    let terms = report.term_texts();
    for text in &terms {
        header.push(guarded(text, cells));
    }
    let mut first_line = Vec::new();
    write_record(header, &mut csv::Writer::from_writer(&mut first_line));
    out.write_all(&first_line)?;
    write_in_order(report.rows, out, |rows, text| {
        let mut writer = csv::Writer::from_writer(text);
        for &row in rows {
            write_record(fields(report.job(row), cells), &mut writer);
        }
    })
}

/// Appends a line to a text in memory, which cannot fail.
fn write_record(fields: Vec<Cow<'_, str>>, writer: &mut csv::Writer<&mut Vec<u8>>) {
    _ = writer.write_record(fields.iter().map(|field| field.as_bytes()));
}

fn fields(job: Job<'_>, cells: Cells) -> Vec<Cow<'_, str>> {
    let mut fields = vec![
        job.rank
            .map(|rank| rank.to_string())
            .unwrap_or_default()
            .into(),
        guarded(job.id, cells),
        guarded(job.entity, cells),
        guarded(job.queue, cells),
        job.state.into(),
        match job.score {
            Some(score) if score.is_finite() => number(Some(Value::Float(score))),
            // an infinite value is ordered, and CSV has no number for it
            _ => "".into(),
        },
        job.exact.unwrap_or_default().into(),
        job.logged.unwrap_or_default().into(),
        sentence(job.error.map(ToString::to_string), cells),
        if job.considered { "true" } else { "false" }.into(),
        job.excluded.unwrap_or_default().into(),
        sentence(job.reason, cells),
    ];
    for (_, value) in job.inputs {
        fields.push(number(value));
    }
    for term in job.terms.unwrap_or_default() {
        fields.push(number(term.value));
    }
    fields
}

fn number(value: Option<Value>) -> Cow<'static, str> {
    match value {
        Some(value) => value.repr().into(),
        None => "".into(),
    }
}

/// A sentence as a cell; empty without a sentence.
fn sentence(text: Option<String>, cells: Cells) -> Cow<'static, str> {
    guarded(&text.unwrap_or_default(), cells)
        .into_owned()
        .into()
}
