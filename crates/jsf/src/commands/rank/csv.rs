//! A ranking as CSV: a header and one line per job.

use std::io::{self, Write};

use job_sort_formula::python::Value;
use jsf_openpbs::number_format::logged;

use crate::commands::rank::answer::{Line, RankReport};
use crate::view::csv_writer::{Cells, guarded};
use crate::view::ordered_writer::write_in_order;

/// The fields of every job; the inputs and the summands that are shown follow.
const HEADER: [&str; 12] =
    ["rank", "id", "entity", "queue", "state", "score", "exact", "logged", "error", "considered", "excluded", "reason"];

/// Writes comma-separated values as in RFC 4180.
///
/// # Errors
/// `out` cannot be written.
pub(crate) fn write_csv(report: &RankReport<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let shown = report.inputs.iter().copied().chain(report.term_texts()).map(|name| guarded(name, cells).into_owned());
    let header: Vec<String> = HEADER.iter().map(|name| (*name).to_owned()).chain(shown).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header)?;
    out.write_all(&writer.into_inner().unwrap_or_default())?;
    let lines = report.line_maker();
    write_in_order(report.rows, out, |rows, text| {
        let mut writer = csv::Writer::from_writer(text);
        for &ranked in rows {
            // a vector takes every record
            _ = write_line(report, &lines.line(ranked), cells, &mut writer);
        }
    })
}

fn write_line<W: Write>(
    report: &RankReport<'_>,
    line: &Line<'_>,
    cells: Cells,
    writer: &mut csv::Writer<W>,
) -> csv::Result<()> {
    let Line { row, rank, score, .. } = line;
    let table = report.table;
    if let Some(rank) = rank {
        writer.write_field(itoa::Buffer::new().format(*rank))?;
    } else {
        writer.write_field("")?;
    }
    for name in [table.id(*row), table.entity(*row), table.queue(*row)] {
        writer.write_field(&*guarded(name, cells))?;
    }
    writer.write_field(table.state(*row).letter())?;
    let mut exact = String::new();
    line.write_exact(&mut exact);
    // an infinite value is ordered, and JSON and CSV have no number for it
    let kept = score.as_ref().map(|score| score.value).filter(|value| value.is_finite());
    writer.write_field(kept.map(|value| Value::Float(value).repr()).unwrap_or_default())?;
    writer.write_field(exact)?;
    writer.write_field(score.as_ref().map(|score| logged(score.value)).unwrap_or_default())?;
    writer.write_field(&*guarded(&line.error().map(ToString::to_string).unwrap_or_default(), cells))?;
    let (excluded, reason) = report.excluded(line).unwrap_or_default();
    writer.write_field(if line.is_considered() { "true" } else { "false" })?;
    writer.write_field(excluded)?;
    writer.write_field(&*guarded(&reason, cells))?;
    let inputs = report.inputs.iter().map(|input| report.input(input, *row));
    for value in inputs.chain(report.term_values(*row)) {
        writer.write_field(value.map(|value| value.repr()).unwrap_or_default())?;
    }
    writer.write_record(None::<&[u8]>)
}
