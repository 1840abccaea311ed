//! The jobs of a comparison as CSV.

use std::io::{self, Write};

use job_sort_formula::python::Value;

use crate::commands::compare::answer::{CompareFormat, CompareReport};
use crate::view::csv_writer::guarded;
use crate::view::ordered_writer::write_in_order;

/// Comma-separated values as in RFC 4180: a header, and one line per job.
#[derive(Debug, Clone, Copy, Default)]
pub struct CompareCsv {
    /// As in [`Csv`](Csv).
    pub for_spreadsheets: bool,
}

impl CompareFormat for CompareCsv {
    fn write(&self, report: &CompareReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"id,entity,queue,old_rank,new_rank,old_score,new_score,moved\n")?;
        write_in_order(report.rows, out, |rows, text| {
            let mut writer = csv::Writer::from_writer(text);
            let written = rows.iter().try_for_each(|ranked| self.write_job(report, ranked.row(), &mut writer));
            debug_assert!(written.is_ok(), "memory takes every field");
        })
    }
}

impl CompareCsv {
    fn write_job(
        self,
        report: &CompareReport<'_>,
        row: usize,
        writer: &mut csv::Writer<&mut Vec<u8>>,
    ) -> csv::Result<()> {
        let table = report.table;
        let names = [table.id(row), table.entity(row), table.queue(row)];
        let job = report.comparison.job(row);
        let scores = report.scores(row);
        writer.serialize((
            names.map(|name| guarded(name, self.for_spreadsheets)),
            [job.old, job.new],
            [scores.old, scores.new].map(finite_score),
            job.moved(),
        ))
    }
}

fn finite_score(score: Option<f64>) -> Option<String> {
    score.filter(|score| score.is_finite()).map(|score| Value::Float(score).repr())
}
