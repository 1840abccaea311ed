//! A ranking as CSV: a header and one line per job.
//!
//! The lines are written without the crate `csv`: they are made in blocks on all processors, and a score, which never
//! needs quotes, is appended as it is formatted.

use std::hint::black_box;
use std::io::{self, Write};

use job_sort_formula::jobs::JobState;
use job_sort_formula::python::Value;
use job_sort_formula::python::repr::fixed_point_digits;
use jsf_openpbs::number_format::{self, Logged};

use crate::commands::rank::answer::{Line, LineMaker, RankFormat, RankReport, RankedRow};
use crate::view::csv_writer::guarded;
use crate::view::ordered_writer::write_in_order;

/// Comma-separated values as in RFC 4180.
#[derive(Debug, Clone, Copy, Default)]
pub struct Csv {
    /// Whether a `'` precedes each `=`, `+`, `-` and `@`, also in full width, with which a spreadsheet would begin a formula:
    /// at the start of a text, or after a separator in it, at which some spreadsheets begin another cell.
    pub for_spreadsheets: bool,
}

impl RankFormat for Csv {
    fn write(&self, report: &RankReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut header = Vec::new();
        push_header(report, self.for_spreadsheets, &mut header);
        out.write_all(&header)?;
        let lines = report.line_maker();
        write_in_order(report.rows, out, |rows, text| {
            rows.chunks(ROWS_READ_TOGETHER)
                .for_each(|rows| push_lines(report, &lines, rows, self.for_spreadsheets, text));
        })?;
        out.flush()
    }
}

fn push_header(report: &RankReport<'_>, for_spreadsheets: bool, text: &mut Vec<u8>) {
    text.extend_from_slice(b"rank,id,entity,queue,state,score,exact,logged,error,considered,excluded,reason");
    for name in report.inputs.iter().copied().chain(report.term_texts()) {
        text.push(b',');
        push_text(name, for_spreadsheets, text);
    }
    text.push(b'\n');
}

/// The number of rows of which a field is read before the next field: they fit the processor's fastest cache.
const ROWS_READ_TOGETHER: usize = 512;

/// The rows of consecutive ranks are scattered over the table: in loops that only read, the cache misses overlap. Read one
/// after the other, the rows of a million jobs take 48 % more processor time of `jsf rank --format csv`.
fn push_lines(
    report: &RankReport<'_>,
    lines: &LineMaker<'_>,
    rows: &[RankedRow],
    for_spreadsheets: bool,
    text: &mut Vec<u8>,
) {
    let table = report.table;
    let scores = report.ranking.scores().float_scores(rows.iter().map(|ranked| ranked.row()));
    let ids: Vec<_> = rows.iter().map(|ranked| table.id_bytes(ranked.row())).collect();
    load_ends(&ids);
    let states: Vec<_> = rows.iter().map(|ranked| table.state(ranked.row())).collect();
    for (((&ranked, score), id), state) in rows.iter().zip(scores).zip(ids).zip(states) {
        let row = ranked.row();
        let names = [id, table.entity(row).as_bytes(), table.queue(row).as_bytes()];
        push_line(report, lines, ranked, &JobFields { names, state }, score, for_spreadsheets, text);
    }
}

/// Loads both ends of each id into the cache; copies would load them one after the other.
fn load_ends(ids: &[&[u8]]) {
    black_box(
        ids.iter().fold(0, |bytes, id| bytes | id.first().copied().unwrap_or(0) | id.last().copied().unwrap_or(0)),
    );
}

/// The fields of a job that do not depend on the formula.
struct JobFields<'t> {
    /// Its id, entity and queue.
    names: [&'t [u8]; 3],
    state: JobState,
}

#[inline]
fn push_line(
    report: &RankReport<'_>,
    lines: &LineMaker<'_>,
    ranked: RankedRow,
    job: &JobFields<'_>,
    score: Option<(f64, f64)>,
    for_spreadsheets: bool,
    text: &mut Vec<u8>,
) {
    let row = ranked.row();
    if let Some(rank) = ranked.rank() {
        push_number(rank as u64, text);
    }
    for name in job.names {
        text.push(b',');
        if for_spreadsheets {
            push_text(&String::from_utf8_lossy(name), true, text);
        } else {
            push_field(name, text);
        }
    }
    text.push(b',');
    push_str(job.state.letter(), text);
    text.push(b',');
    match score {
        Some((kept, exact)) => push_floats(kept, exact, text),
        None => push_score(&lines.line(ranked), for_spreadsheets, text),
    }
    if ranked.rank().is_some() {
        push_str(",true,,", text);
    } else {
        push_excluded(report, &lines.line(ranked), for_spreadsheets, text);
    }
    for input in report.inputs {
        push_value(report.input(input, row), text);
    }
    if report.terms.is_some() {
        report.term_values(row).into_iter().for_each(|value| push_value(value, text));
    }
    text.push(b'\n');
}

/// The fields `score`, `exact`, `logged` and `error` of a float, which nearly all jobs have. By way of [`push_score`], a
/// million jobs take 20 % more processor time of `jsf rank --format csv`.
#[inline]
fn push_floats(kept: f64, exact: f64, text: &mut Vec<u8>) {
    let mut kept_buffer = zmij::Buffer::new();
    let mut exact_buffer = zmij::Buffer::new();
    let kept_digits = fixed_point_digits(kept, &mut kept_buffer);
    let exact_digits =
        if exact.to_bits() == kept.to_bits() { kept_digits } else { fixed_point_digits(exact, &mut exact_buffer) };
    let (Some(kept_digits), Some(exact_digits), Some(logged)) = (kept_digits, exact_digits, Logged::from_value(kept))
    else {
        let score = if kept.is_finite() { Value::Float(kept).repr() } else { String::new() };
        return push_values(&score, &Value::Float(exact).repr(), &number_format::logged(kept), text);
    };
    push_str(kept_digits, text);
    text.push(b',');
    push_str(exact_digits, text);
    text.push(b',');
    push_logged(logged, text);
    text.push(b',');
}

fn push_logged(logged: Logged, text: &mut Vec<u8>) {
    if logged.is_negative {
        text.push(b'-');
    }
    push_number(logged.whole, text);
    if logged.places > 0 {
        text.push(b'.');
        // a leading one keeps the leading zeros
        push_str(&itoa::Buffer::new().format(logged.rest + 10u64.pow(logged.places))[1..], text);
    }
}

/// The fields `score`, `exact`, `logged` and `error` of any job.
fn push_score(line: &Line<'_>, for_spreadsheets: bool, text: &mut Vec<u8>) {
    let mut exact = String::new();
    let mut kept = String::new();
    let mut logged = String::new();
    line.write_exact(&mut exact);
    if let Some(score) = &line.score {
        if score.value.is_finite() {
            Value::Float(score.value).write_repr(&mut kept);
        }
        number_format::write_logged(score.value, &mut logged);
    }
    push_values(&kept, &exact, &logged, text);
    if let Some(error) = line.error() {
        push_text(&error.to_string(), for_spreadsheets, text);
    }
}

fn push_values(kept: &str, exact: &str, logged: &str, text: &mut Vec<u8>) {
    for value in [kept, exact, logged] {
        push_str(value, text);
        text.push(b',');
    }
}

/// The fields `considered`, `excluded` and `reason` of a job that is not considered.
#[cold]
fn push_excluded(report: &RankReport<'_>, line: &Line<'_>, for_spreadsheets: bool, text: &mut Vec<u8>) {
    let (excluded, reason) = report.excluded(line).unwrap_or_default();
    push_str(",false,", text);
    push_str(excluded, text);
    text.push(b',');
    push_text(&reason, for_spreadsheets, text);
}

/// A comma and the field of an input or a summand.
fn push_value(value: Option<Value>, text: &mut Vec<u8>) {
    text.push(b',');
    if let Some(value) = value {
        push_field(value.repr().as_bytes(), text);
    }
}

/// A text as a field; see [`Csv::for_spreadsheets`].
fn push_text(field: &str, for_spreadsheets: bool, text: &mut Vec<u8>) {
    push_field(guarded(field, for_spreadsheets).as_bytes(), text);
}

/// A field, in quotes if it contains a separator, a quote or a line end.
fn push_field(field: &[u8], text: &mut Vec<u8>) {
    if !field.iter().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n')) {
        return text.extend_from_slice(field);
    }
    text.push(b'"');
    for &byte in field {
        if byte == b'"' {
            text.push(b'"');
        }
        text.push(byte);
    }
    text.push(b'"');
}

#[inline]
fn push_str(field: &str, text: &mut Vec<u8>) {
    text.extend_from_slice(field.as_bytes());
}

#[inline]
fn push_number(number: u64, text: &mut Vec<u8>) {
    push_str(itoa::Buffer::new().format(number), text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_reader_reads_the_fields_back() {
        for field in ["", "12.vm", "a,b", "say \"x\"", "two\r\nlines", "\"", "grüße"] {
            let mut text = b"x,".to_vec();
            push_field(field.as_bytes(), &mut text);
            text.extend_from_slice(b",y\n");
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_slice());
            let record = reader.records().next().unwrap().unwrap();
            assert_eq!(record.iter().collect::<Vec<_>>(), ["x", field, "y"]);
        }
    }
}
