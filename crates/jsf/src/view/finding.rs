//! A finding as it is drawn under the formula: with carets, labels and a fix, as the Rust compiler
//! draws its own.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};
use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, Severity, Span};
use jsf_site::{FormulaText, WrittenDifference};
use unicode_width::UnicodeWidthChar;

use crate::view::document::wrapped;
use crate::view::printable::{printable, printable_in_place};
use crate::view::words;

/// The most findings of one code that are shown as text; the others are counted.
const MAX_OF_A_CODE: usize = 10;

/// The findings that are shown as text, which are the first ten of each code, and how many more
/// there are of a code.
pub fn limit_each_code<'f>(
    findings: impl IntoIterator<Item = &'f Diagnostic>,
) -> (Vec<&'f Diagnostic>, Vec<(Code, usize)>) {
    let mut counts: BTreeMap<Code, usize> = BTreeMap::new();
    let mut few = Vec::new();
    for found in findings {
        let count = counts.entry(found.code).or_default();
        *count += 1;
        if *count <= MAX_OF_A_CODE {
            few.push(found);
        }
    }
    let others = counts
        .into_iter()
        .filter(|(_, count)| *count > MAX_OF_A_CODE);
    (
        few,
        others
            .map(|(code, count)| (code, count - MAX_OF_A_CODE))
            .collect(),
    )
}

/// What follows the findings of a code that are shown, if there are so many more.
pub fn more_findings(count: usize, code: Code) -> String {
    format!("and {} {code}", words::count(count, "more finding"))
}

/// The range in the text from the start of the line on which the formula begins.
fn range_in_shown(source: &FormulaText, shown: &str, span: Span) -> Range<usize> {
    let before = first_line(source).1.len();
    let range = range_in_written(source, span);
    clamped(shown, Span::new(before + range.start, before + range.end))
}

/// The range in the formula as its document has it.
pub(crate) fn range_in_written(source: &FormulaText, span: Span) -> Range<usize> {
    let range = clamped(&source.text, span);
    let start = place_in_written(source, range.start, |place| place.start);
    let end = place_in_written(source, range.end, |place| place.end);
    start..end.max(start)
}

/// The byte of the document's form that corresponds to a byte of the formula; `side` is that of a
/// difference which is just there.
fn place_in_written(
    source: &FormulaText,
    at: usize,
    side: fn(&WrittenDifference) -> usize,
) -> usize {
    let mut before = source.differences.iter().rev();
    match before.find(|place| place.at <= at) {
        None => at,
        Some(place) if place.at == at => side(place),
        Some(place) => place.start + (at - place.at),
    }
}

/// The line of the document on which the formula begins, from 1, and what precedes the formula on
/// it.
fn first_line(source: &FormulaText) -> (usize, &str) {
    let start = source.before.rfind('\n').map_or(0, |end| end + 1);
    let number = 1 + source.before.matches('\n').count();
    (number, &source.before[start..])
}

/// Draws a finding as the Rust compiler does, in lines of at most `width` characters, if there is a
/// limit: of a longer line the part around the finding.
pub fn draw_finding(
    source: &FormulaText,
    finding: &Diagnostic,
    coloured: bool,
    width: Option<usize>,
) -> String {
    let (first_line, before) = first_line(source);
    let shown = printable_in_place(&format!("{before}{}", source.written));
    // the number of the line and ` | ` precede the formula
    let gutter = first_line.to_string().len() + 3;
    let line_width = width;
    let width = width
        .map_or(DEFAULT_WIDTH, |width| width.saturating_sub(gutter))
        .clamp(MIN_WIDTH, DEFAULT_WIDTH);
    let origin = printable(&source.origin);
    let message = in_lines(clipped(&finding.message), line_width, MESSAGE_INDENT);
    let label = clipped(&finding.label);
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let primary = range_in_shown(source, &shown, finding.span);
    let excerpt = Excerpt::new(&shown, first_line, &primary, width);
    let labels: Vec<_> = finding
        .labels
        .iter()
        .map(|label| (label, range_in_shown(source, &shown, label.span)))
        .collect();
    let drawn = labels
        .iter()
        .filter_map(|(label, range)| Some((excerpt.range(range)?, clipped(&label.text))));
    let drawn: Vec<_> = drawn.take(MAX_LABELS).collect();
    let annotation = AnnotationKind::Primary.span(excerpt.range(&primary).unwrap_or(0..0));
    let mut snippet = excerpt
        .snippet()
        .annotation(annotation.label((!label.is_empty()).then_some(&*label)));
    for (range, text) in &drawn {
        snippet = snippet.annotation(AnnotationKind::Context.span(range.clone()).label(&**text));
    }
    let title = level.primary_title(&*message).id(finding.code.name());
    let mut group = title.element(snippet.path(&*origin));
    let help = finding
        .help
        .as_ref()
        .map(|help| clipped(&help.to_string()).into_owned());
    let help = help.map(|help| in_lines(help.into(), line_width, gutter + HELP_INDENT));
    if labels.len() > drawn.len() {
        group = group.element(Level::NOTE.message(format!(
            "and {}",
            words::count(labels.len() - drawn.len(), "more place")
        )));
    }
    if let Some(help) = &help {
        group = group.element(Level::HELP.message(&**help));
    }
    let mut report = vec![group];
    let fix = finding
        .fix
        .as_ref()
        .filter(|fix| fix.applicability != Applicability::DisplayOnly);
    let replacement = fix.map(|fix| {
        (
            range_in_shown(source, &shown, fix.span),
            printable_in_place(&fix.replacement),
        )
    });
    let replacement = replacement
        .filter(|(_, text)| text.len() <= width)
        .map(|(range, text)| {
            let excerpt = Excerpt::new(&shown, first_line, &range, width);
            (excerpt.range(&range).unwrap_or(0..0), excerpt, text)
        });
    if let Some((range, excerpt, replacement)) = &replacement {
        let patch = Patch::new(range.clone(), &**replacement);
        let snippet = excerpt.snippet().patch(patch);
        let snippet = if excerpt.column.is_none() {
            snippet.path(&*origin)
        } else {
            snippet
        };
        report.push(Group::with_title(Level::HELP.secondary_title("write")).element(snippet));
    }
    let renderer = if coloured {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let drawn = renderer.render(&report);
    match excerpt.column {
        None => drawn,
        Some(column) => with_column(&drawn, &format!("{origin}:{}:", excerpt.line), column),
    }
}

/// A message in lines that fit into a width beside what precedes them, if there is a limit.
fn in_lines(message: Cow<'_, str>, width: Option<usize>, indent: usize) -> Cow<'_, str> {
    match width {
        Some(width) => {
            Cow::Owned(wrapped(&message, width.saturating_sub(indent).max(MIN_WIDTH)).join("\n"))
        }
        None => message,
    }
}

/// The drawing with another column after the name and the line of the first place: the column in
/// the whole line.
fn with_column(drawn: &str, place: &str, column: usize) -> String {
    let found = drawn
        .find("--> ")
        .and_then(|arrow| Some(arrow + drawn[arrow..].find(place)? + place.len()));
    let Some(start) = found else {
        return drawn.to_owned();
    };
    let digits = drawn[start..]
        .bytes()
        .take_while(u8::is_ascii_digit)
        .count();
    format!("{}{column}{}", &drawn[..start], &drawn[start + digits..])
}

/// The largest width of a drawn finding, in characters, and the width without a terminal.
const DEFAULT_WIDTH: usize = 140;
/// Findings are not drawn narrower than this.
const MIN_WIDTH: usize = 40;
/// The width of what is drawn beside the formula: the number of the line, and the ellipses.
const GUTTER: usize = 12;
/// The width of `warning[JSF101]: `.
const MESSAGE_INDENT: usize = 17;
/// The width of `= help: `.
const HELP_INDENT: usize = 8;
/// The most places that are drawn beside that of the finding; the others are counted.
const MAX_LABELS: usize = 10;
/// The longest message, in characters: a formula can have a name of 64 KiB.
const MAX_MESSAGE: usize = 1000;
const ELLIPSIS: char = '…';

/// The start of a message.
fn clipped(message: &str) -> Cow<'_, str> {
    match message.char_indices().nth(MAX_MESSAGE) {
        None => printable(message),
        Some((end, _)) => Cow::Owned(format!("{}{ELLIPSIS}", printable(&message[..end]))),
    }
}

/// The part of a text that is drawn: all of it if its lines are short, else the part of one line
/// around a place.
struct Excerpt<'t> {
    text: Cow<'t, str>,
    /// The line of the document on which the part begins, from 1.
    line: usize,
    /// The bytes of the whole text that are shown.
    window: Range<usize>,
    /// The bytes that precede them in `text`.
    shift: usize,
    /// The column of the place, from 1, if the text is cut.
    column: Option<usize>,
}

impl<'t> Excerpt<'t> {
    fn new(whole: &'t str, first_line: usize, place: &Range<usize>, width: usize) -> Self {
        if !whole.lines().any(|line| drawn_width(line) > width) {
            return Self {
                text: Cow::Borrowed(whole),
                line: first_line,
                window: 0..whole.len(),
                shift: 0,
                column: None,
            };
        }
        let line_start = whole[..place.start].rfind('\n').map_or(0, |end| end + 1);
        let line = &whole[line_start..];
        let line = &line[..line.find('\n').unwrap_or(line.len())];
        let at = place.start - line_start;
        let widest = width - GUTTER;
        let marked = line[at..(place.end - line_start).clamp(at, line.len())]
            .chars()
            .take(widest);
        let marked: usize = marked.map(columns).sum();
        let left = taken(
            line[..at].chars().rev(),
            widest.saturating_sub(marked).max(widest / 4) / 2,
        );
        let right = taken(
            line[at..].chars(),
            widest.saturating_sub(drawn_width(&line[at - left..at])),
        );
        // what is not needed on the right is shown on the left
        let left = taken(
            line[..at].chars().rev(),
            widest.saturating_sub(drawn_width(&line[at..at + right])),
        );
        let start = at - left;
        let end = at + right;
        let is_cut = start > 0;
        let mut text = String::with_capacity(end - start + 2 * ELLIPSIS.len_utf8());
        text.extend(is_cut.then_some(ELLIPSIS));
        text.push_str(&line[start..end]);
        text.extend((end < line.len()).then_some(ELLIPSIS));
        Self {
            text: Cow::Owned(text),
            line: first_line + whole[..line_start].matches('\n').count(),
            window: line_start + start..line_start + end,
            shift: if is_cut { ELLIPSIS.len_utf8() } else { 0 },
            column: Some(1 + line[..at].chars().count()),
        }
    }

    /// A range of the whole text in the part, as far as it is shown.
    fn range(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let Range { start, end } = self.window;
        let is_shown =
            range.start <= end && range.end >= start && (range.is_empty() || range.start < end);
        let [from, to] =
            [range.start, range.end].map(|at| at.clamp(start, end) - start + self.shift);
        is_shown.then_some(from..to)
    }

    fn snippet<A: Clone>(&self) -> Snippet<'_, A> {
        Snippet::source(&*self.text).line_start(self.line)
    }
}

/// How wide a text is drawn.
fn drawn_width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// How wide a character is drawn: a tab as four blanks.
fn columns(character: char) -> usize {
    if character == '\t' {
        4
    } else {
        character.width().unwrap_or(0)
    }
}

/// The number of bytes of the first characters that fit into so many columns.
fn taken(characters: impl Iterator<Item = char>, width: usize) -> usize {
    let mut used = 0;
    let fitting = characters.take_while(|character| {
        used += columns(*character);
        used <= width
    });
    fitting.map(char::len_utf8).sum()
}

/// The span as a range of the text, moved to the boundaries of characters.
pub(crate) fn clamped(text: &str, span: Span) -> Range<usize> {
    let [start, end] = [span.start, span.end].map(|at| {
        let at = text.len().min(at as usize);
        (0..=at)
            .rev()
            .find(|&at| text.is_char_boundary(at))
            .unwrap_or(0)
    });
    start..end.max(start)
}

#[cfg(test)]
mod tests {
    use super::{Code, more_findings};

    #[test]
    fn more_findings_are_counted_in_their_number() {
        let counted = [1, 2].map(|count| more_findings(count, Code::FailingJobs));
        assert_eq!(
            counted,
            ["and 1 more finding JSF301", "and 2 more findings JSF301"]
        );
    }
}
