//! A ranking as CSV: a header and one line per job.

use std::hint::black_box;
use std::io::{self, Write};

use super::blocks::write_blocks;
use super::{Line, RankFormat, RankReport};
use crate::formula::number::Value;
use crate::pbs::digits;

/// Comma-separated values after RFC 4180.
#[derive(Debug, Clone, Copy)]
pub struct Csv;

impl RankFormat for Csv {
    fn write(&self, report: &RankReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut header = String::from("rank,id,entity,queue,score,exact,logged,error,considered");
        for input in report.inputs {
            header.push(',');
            push_field(input, &mut header);
        }
        header.push('\n');
        out.write_all(header.as_bytes())?;
        let lines = report.line_maker();
        let has_quotes = report.table.has_byte_in_names(needs_quotes);
        write_blocks(report.rows, out, |rows, text| {
            // The best jobs lie anywhere in the table. Asking for one thing of many of them at a time lets the
            // processor wait for all at once.
            let ids = report.table.ids(rows.iter().map(|placed| placed.row()));
            black_box(rows.iter().map(|placed| report.ranking.scores().lane(placed.row())).sum::<f64>());
            for (&placed, id) in rows.iter().zip(ids) {
                push_line(report, &lines.line(placed), id, has_quotes, text);
            }
        })?;
        out.flush()
    }
}

/// Written without a record's detour: a million lines are a good part of the time of ranking a million jobs.
fn push_line(report: &RankReport<'_>, line: &Line<'_>, id: &str, has_quotes: bool, text: &mut String) {
    let table = report.table;
    if let Some(rank) = line.rank {
        text.push_str(itoa::Buffer::new().format(rank));
    }
    for name in [id, table.entity(line.row), table.queue(line.row)] {
        text.push(',');
        if has_quotes { push_field(name, text) } else { text.push_str(name) }
    }
    text.push(',');
    if let Some(score) = &line.score {
        Value::Float(score.kept).write_repr(text);
    }
    text.push(',');
    line.write_exact(text);
    text.push(',');
    if let Some(score) = &line.score {
        digits::write_logged(score.kept, text);
    }
    text.push(',');
    if let Some(error) = line.error() {
        push_field(&error.to_string(), text);
    }
    text.push_str(if line.is_considered() { ",true" } else { ",false" });
    for input in report.inputs {
        text.push(',');
        if let Some(column) = table.column(input) {
            push_field(&column.value(line.row).repr(), text);
        }
    }
    text.push('\n');
}

/// A field, between quotes where it holds what would end it.
fn push_field(field: &str, text: &mut String) {
    if field.bytes().any(needs_quotes) {
        text.push('"');
        text.push_str(&field.replace('"', "\"\""));
        text.push('"');
    } else {
        text.push_str(field);
    }
}

fn needs_quotes(byte: u8) -> bool {
    matches!(byte, b',' | b'"' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_reader_reads_the_fields_back() {
        for field in ["", "12.vm", "a,b", "say \"x\"", "two\r\nlines", "\"", "grüße"] {
            let mut text = String::from("x,");
            push_field(field, &mut text);
            text.push_str(",y\n");
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
            let record = reader.records().next().unwrap().unwrap();
            assert_eq!(record.iter().collect::<Vec<_>>(), ["x", field, "y"]);
        }
    }
}
