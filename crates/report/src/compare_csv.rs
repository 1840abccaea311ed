//! The jobs of a comparison as CSV.

use std::io::{self, Write};

use job_sort_formula::python::Value;

use super::compare::{CompareFormat, CompareReport};
use crate::byte_buffer::ByteBuffer;
use crate::ordered_writer::write_in_order;
use crate::rank_csv::push_text;

/// Comma-separated values as in RFC 4180: a header, and one line per job.
#[derive(Debug, Clone, Copy, Default)]
pub struct CompareCsv {
    /// As in [`Csv`](crate::Csv).
    pub for_spreadsheets: bool,
}

impl CompareFormat for CompareCsv {
    fn write(&self, report: &CompareReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"id,entity,queue,old_rank,new_rank,old_score,new_score,moved\n")?;
        write_in_order(report.rows, out, |rows, text| {
            let mut text = ByteBuffer::new(text);
            rows.iter().for_each(|ranked| push_line(report, ranked.row(), self.for_spreadsheets, &mut text));
            text.finish();
        })
    }
}

fn push_line(report: &CompareReport<'_>, row: usize, for_spreadsheets: bool, text: &mut ByteBuffer<'_>) {
    let (table, job, scores) = (report.table, report.comparison.job(row), report.scores(row));
    push_text(table.id(row), for_spreadsheets, text);
    for name in [table.entity(row), table.queue(row)] {
        text.push_byte(b',');
        push_text(name, for_spreadsheets, text);
    }
    for rank in [job.old, job.new] {
        text.push_byte(b',');
        if let Some(rank) = rank {
            text.push_number(rank as u64);
        }
    }
    for score in [scores.old, scores.new] {
        text.push_byte(b',');
        if let Some(score) = score.filter(|score| score.is_finite()) {
            text.push_str(&Value::Float(score).repr());
        }
    }
    text.push_byte(b',');
    if let Some(moved) = job.moved() {
        text.push_str(itoa::Buffer::new().format(moved));
    }
    text.push_byte(b'\n');
}
