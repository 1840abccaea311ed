//! The jobs of a comparison as CSV.

use std::io::{self, Write};

use super::compare::{CompareFormat, CompareReport};
use crate::python::Value;
use crate::report::byte_buffer::ByteBuffer;
use crate::report::ordered_writer::write_in_order;
use crate::report::rank_csv::push_field;

/// Comma-separated values as in RFC 4180: a header, and one line per job.
#[derive(Debug, Clone, Copy)]
pub struct CompareCsv;

impl CompareFormat for CompareCsv {
    fn write(&self, report: &CompareReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"id,entity,queue,old_rank,new_rank,old_score,new_score,moved\n")?;
        write_in_order(report.rows, out, |rows, text| {
            let mut text = ByteBuffer::new(text);
            rows.iter().for_each(|ranked| push_line(report, ranked.row(), &mut text));
            text.finish();
        })
    }
}

fn push_line(report: &CompareReport<'_>, row: usize, text: &mut ByteBuffer<'_>) {
    let (table, job, scores) = (report.table, report.comparison.job(row), report.scores(row));
    push_field(table.id(row), text);
    for name in [table.entity(row), table.queue(row)] {
        text.push_byte(b',');
        push_field(name, text);
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
