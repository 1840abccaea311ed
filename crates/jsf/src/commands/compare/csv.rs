//! The jobs of a comparison as CSV.

use std::io::{self, Write};

use job_sort_formula::python::Value;

use crate::commands::compare::answer::CompareReport;
use crate::view::csv_writer::{Cells, guarded};
use crate::view::ordered_writer::write_in_order;

/// Writes comma-separated values as in RFC 4180: a header, and one line per job.
///
/// # Errors
/// `out` cannot be written.
pub(crate) fn write_csv(
    report: &CompareReport<'_>,
    cells: Cells,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(b"id,entity,queue,old_rank,new_rank,old_score,new_score,moved\n")?;
    write_in_order(report.rows, out, |rows, text| {
        let mut writer = csv::Writer::from_writer(text);
        for ranked in rows {
            // a vector takes every record
            _ = write_job(report, ranked.row(), cells, &mut writer);
        }
    })
}

fn write_job(
    report: &CompareReport<'_>,
    row: usize,
    cells: Cells,
    writer: &mut csv::Writer<&mut Vec<u8>>,
) -> csv::Result<()> {
    let table = report.table;
    let names = [table.id(row), table.entity(row), table.queue(row)];
    let job = report.comparison.job(row);
    let scores = report.scores(row);
    writer.serialize((
        names.map(|name| guarded(name, cells)),
        [job.old, job.new],
        [scores.old, scores.new].map(finite_score),
        job.moved(),
    ))
}

fn finite_score(score: Option<f64>) -> Option<String> {
    score
        .filter(|score| score.is_finite())
        .map(|score| Value::Float(score).repr())
}
