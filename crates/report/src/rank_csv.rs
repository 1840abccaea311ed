//! A ranking as CSV: a header and one line per job.

use std::borrow::Cow;
use std::hint::black_box;
use std::io::{self, Write};

use job_sort_formula::jobs::JobState;
use job_sort_formula::python::Value;
use job_sort_formula::python::repr::fixed_point_digits;
use jsf_openpbs::number_format::{self, Logged};

use crate::byte_buffer::ByteBuffer;
use crate::ordered_writer::write_in_order;
use crate::{Line, LineMaker, RankFormat, RankReport, RankedRow};

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
        let mut buffer = ByteBuffer::new(&mut header);
        push_header(report, self.for_spreadsheets, &mut buffer);
        buffer.finish();
        out.write_all(&header)?;
        let lines = report.line_maker();
        let has_quotes = report.table.least_byte_in_names().is_some_and(|least| least <= MAX_QUOTED_BYTE);
        let names = match self.for_spreadsheets {
            true => Names::ForSpreadsheets,
            false if has_quotes => Names::Quoted,
            false => Names::Plain,
        };
        write_in_order(report.rows, out, |rows, text| {
            let mut text = ByteBuffer::new(text);
            rows.chunks(ROWS_READ_TOGETHER).for_each(|rows| push_lines(report, &lines, rows, names, &mut text));
            text.finish();
        })?;
        out.flush()
    }
}

/// How the names of a table are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// None of them needs quotes.
    Plain,
    Quoted,
    ForSpreadsheets,
}

fn push_header(report: &RankReport<'_>, for_spreadsheets: bool, text: &mut ByteBuffer<'_>) {
    text.push_str("rank,id,entity,queue,state,score,exact,logged,error,considered,excluded,reason");
    for name in report.inputs.iter().copied().chain(report.term_texts()) {
        text.push_byte(b',');
        push_text(name, for_spreadsheets, text);
    }
    text.push_byte(b'\n');
}

/// The fields `considered`, `excluded` and `reason` of a job that is not considered.
#[cold]
fn push_excluded(report: &RankReport<'_>, line: &Line<'_>, for_spreadsheets: bool, text: &mut ByteBuffer<'_>) {
    let (excluded, reason) = report.excluded(line).unwrap_or_default();
    text.push_str(",false,");
    text.push_str(excluded);
    text.push_byte(b',');
    push_text(&reason, for_spreadsheets, text);
}

/// The number of rows of which a field is read before the next field: they fit the processor's fastest cache.
const ROWS_READ_TOGETHER: usize = 512;

/// The rows of consecutive ranks are scattered over the table: in loops that only read, the cache misses overlap.
fn push_lines(
    report: &RankReport<'_>,
    lines: &LineMaker<'_>,
    rows: &[RankedRow],
    names: Names,
    text: &mut ByteBuffer<'_>,
) {
    let table = report.table;
    let scores = report.ranking.scores().float_scores(rows.iter().map(|ranked| ranked.row()));
    let ids: Vec<_> = rows.iter().map(|ranked| table.id_bytes(ranked.row())).collect();
    // loads both ends of each id into the cache; the copies below would load them one after the other
    let ends = |id: &[u8]| id.first().copied().unwrap_or(0) | id.last().copied().unwrap_or(0);
    black_box(ids.iter().fold(0, |bytes, id| bytes | ends(id)));
    let states: Vec<_> = rows.iter().map(|ranked| table.state(ranked.row())).collect();
    for (((&ranked, score), id), state) in rows.iter().zip(scores).zip(ids).zip(states) {
        let row = ranked.row();
        let job = JobFields { names: [id, table.entity(row).as_bytes(), table.queue(row).as_bytes()], state };
        push_line(report, lines, ranked, &job, score, names, text);
    }
}

/// The fields of a job that do not depend on the formula.
struct JobFields<'t> {
    /// Its id, entity and queue.
    names: [&'t [u8]; 3],
    state: JobState,
}

/// Writes the fields directly, not through a record: a million lines take a good part of the time of a whole ranking.
#[inline]
fn push_line(
    report: &RankReport<'_>,
    lines: &LineMaker<'_>,
    ranked: RankedRow,
    job: &JobFields<'_>,
    score: Option<(f64, f64)>,
    names: Names,
    text: &mut ByteBuffer<'_>,
) {
    let (row, for_spreadsheets) = (ranked.row(), names == Names::ForSpreadsheets);
    if let Some(rank) = ranked.rank() {
        text.push_number(rank as u64);
    }
    for name in job.names {
        text.push_byte(b',');
        match names {
            Names::Plain => text.push_bytes(name),
            Names::Quoted => push_field(&String::from_utf8_lossy(name), text),
            Names::ForSpreadsheets => push_text(&String::from_utf8_lossy(name), true, text),
        }
    }
    text.push_byte(b',');
    text.push_str(job.state.letter());
    text.push_byte(b',');
    match score {
        Some((kept, exact)) => push_floats(kept, exact, text),
        None => push_score(&lines.line(ranked), for_spreadsheets, text),
    }
    if ranked.rank().is_some() {
        text.push_str(",true,,");
    } else {
        push_excluded(report, &lines.line(ranked), for_spreadsheets, text);
    }
    for input in report.inputs {
        text.push_byte(b',');
        if let Some(value) = report.input(input, row) {
            push_field(&value.repr(), text);
        }
    }
    if report.terms.is_some() {
        push_terms(report, row, text);
    }
    text.push_byte(b'\n');
}

#[cold]
fn push_terms(report: &RankReport<'_>, row: usize, text: &mut ByteBuffer<'_>) {
    for value in report.term_values(row) {
        text.push_byte(b',');
        if let Some(value) = value {
            push_field(&value.repr(), text);
        }
    }
}

/// The fields `score`, `exact`, `logged` and `error` of a float, which nearly all jobs have.
#[inline]
fn push_floats(kept: f64, exact: f64, text: &mut ByteBuffer<'_>) {
    let (mut kept_digits, mut exact_digits) = (zmij::Buffer::new(), zmij::Buffer::new());
    let kept_digits = fixed_point_digits(kept, &mut kept_digits);
    let exact_digits =
        if exact.to_bits() == kept.to_bits() { kept_digits } else { fixed_point_digits(exact, &mut exact_digits) };
    let (Some(kept_digits), Some(exact_digits), Some(logged)) = (kept_digits, exact_digits, Logged::from_value(kept))
    else {
        let score = if kept.is_finite() { Value::Float(kept).repr() } else { String::new() };
        return push_values(&score, &Value::Float(exact).repr(), &number_format::logged(kept), text);
    };
    text.push_str(kept_digits);
    text.push_byte(b',');
    text.push_str(exact_digits);
    text.push_byte(b',');
    if logged.is_negative {
        text.push_byte(b'-');
    }
    text.push_number(logged.whole);
    if logged.places > 0 {
        text.push_byte(b'.');
        // a leading one keeps the leading zeros
        text.push_str(&itoa::Buffer::new().format(logged.rest + 10u64.pow(logged.places))[1..]);
    }
    text.push_byte(b',');
}

/// The fields `score`, `exact`, `logged` and `error` of any job.
fn push_score(line: &Line<'_>, for_spreadsheets: bool, text: &mut ByteBuffer<'_>) {
    let (mut exact, mut kept, mut logged) = (String::new(), String::new(), String::new());
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

fn push_values(kept: &str, exact: &str, logged: &str, text: &mut ByteBuffer<'_>) {
    for value in [kept, exact, logged] {
        text.push_str(value);
        text.push_byte(b',');
    }
}

/// A text as a field; see [`Csv::for_spreadsheets`].
pub(super) fn push_text(field: &str, for_spreadsheets: bool, text: &mut ByteBuffer<'_>) {
    if for_spreadsheets { push_field(&guarded(field), text) } else { push_field(field, text) }
}

/// The text with a `'` before each character that would begin a formula. A spreadsheet may separate cells by another
/// character than the comma, and then quotes do not hold the text together; it may also trim what precedes the formula.
fn guarded(field: &str) -> Cow<'_, str> {
    const SIGNS: [char; 8] = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    if !field.contains(SIGNS) {
        return Cow::Borrowed(field);
    }
    let mut guarded = String::with_capacity(field.len() + 1);
    let mut is_start_of_cell = true;
    for character in field.chars() {
        if is_start_of_cell && SIGNS.contains(&character) {
            guarded.push('\'');
        }
        guarded.push(character);
        is_start_of_cell = match character {
            ',' | ';' | '|' | '\t' | '\r' | '\n' => true,
            '"' => is_start_of_cell,
            other => is_start_of_cell && (other.is_whitespace() || other.is_control()),
        };
    }
    Cow::Owned(guarded)
}

/// A field, in quotes if it contains a separator, a quote or a line end.
pub(super) fn push_field(field: &str, text: &mut ByteBuffer<'_>) {
    if field.bytes().any(needs_quotes) {
        text.push_byte(b'"');
        text.push_str(&field.replace('"', "\"\""));
        text.push_byte(b'"');
    } else {
        text.push_str(field);
    }
}

/// The greatest byte that needs quotes.
const MAX_QUOTED_BYTE: u8 = b',';

fn needs_quotes(byte: u8) -> bool {
    matches!(byte, b',' | b'"' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spreadsheet_computes_no_text() {
        for (field, expected) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("\t=1", "\t'=1"),
            (" \r=1", " \r'=1"),
            ("\u{b}\"=1", "\u{b}\"'=1"),
            ("x;=1", "x;'=1"),
            ("x,-1", "x,'-1"),
            ("x; \"@a", "x; \"'@a"),
            ("a=1", "a=1"),
            ("12-3.vm", "12-3.vm"),
            ("", ""),
            ("1", "1"),
        ] {
            assert_eq!(guarded(field), expected);
        }
    }

    #[test]
    fn another_reader_reads_the_fields_back() {
        for field in ["", "12.vm", "a,b", "say \"x\"", "two\r\nlines", "\"", "grüße"] {
            let mut bytes = Vec::new();
            let mut text = ByteBuffer::new(&mut bytes);
            text.push_str("x,");
            push_field(field, &mut text);
            text.push_str(",y\n");
            text.finish();
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes.as_slice());
            let record = reader.records().next().unwrap().unwrap();
            assert_eq!(record.iter().collect::<Vec<_>>(), ["x", field, "y"]);
        }
    }
}
