//! Findings about a formula: drawn under it with carets, labels and a fix, as the Rust compiler
//! draws its own, or in one line each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};
use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, Need, Severity, Span};
use jsf_openpbs::check::Checked;
use jsf_site::FormulaText;
use unicode_width::UnicodeWidthStr;

use crate::view::document::Section;
use crate::view::document::terminal::wrapped;
use crate::view::words::{count, printable, printable_in_place};

/// The most findings of one code that are drawn; the others are counted.
const MAX_DRAWN: usize = 10;

/// The findings that are shown as text, which are the first ten of each code, and how many more
/// there are of a code.
pub fn limit_each_code<'f>(
    findings: impl IntoIterator<Item = &'f Diagnostic>,
) -> (Vec<&'f Diagnostic>, Vec<(Code, usize)>) {
    let mut counts: BTreeMap<Code, usize> = BTreeMap::new();
    let mut shown = Vec::new();
    for found in findings {
        let count = counts.entry(found.code).or_default();
        *count += 1;
        if *count <= MAX_DRAWN {
            shown.push(found);
        }
    }
    let mut others = Vec::new();
    for (code, count) in counts {
        if count > MAX_DRAWN {
            others.push((code, count - MAX_DRAWN));
        }
    }
    (shown, others)
}

/// What follows the findings of a code that are shown, if there are so many more.
pub fn more_findings(more: usize, code: Code) -> String {
    format!("and {} {code}", count(more, "more finding"))
}

/// The range in the text from the start of the line on which the formula begins.
fn range_in_shown(source: &FormulaText, shown: &str, span: Span) -> Range<usize> {
    let before = first_line(source).1.len();
    let range = range_in_written(source, span);
    Span::new(before + range.start, before + range.end).range_in(shown)
}

/// The range in the formula as its document has it.
pub(crate) fn range_in_written(source: &FormulaText, span: Span) -> Range<usize> {
    let range = span.range_in(&source.text);
    let place = |at: usize| source.places.get(at).copied().unwrap_or((at, at));
    let (start, end) = (place(range.start).1, place(range.end).0);
    start..end.max(start)
}

/// The line of the document on which the formula begins, from 1, and what precedes the formula on
/// it.
fn first_line(source: &FormulaText) -> (usize, &str) {
    let number = 1 + source.before.matches('\n').count();
    let (_, before) = source
        .before
        .rsplit_once('\n')
        .unwrap_or(("", &source.before));
    (number, before)
}

/// Draws a finding as the Rust compiler does, in lines of at most `width` characters: of a
/// longer line the part around the finding.
pub fn draw_finding(
    source: &FormulaText,
    finding: &Diagnostic,
    coloured: bool,
    width: usize,
) -> String {
    let (first_line, before) = first_line(source);
    let shown = printable_in_place(&format!("{before}{}", source.written));
    // the number of the line and ` | ` precede the formula
    let gutter = first_line.to_string().len() + 3;
    let origin = printable(&source.origin);
    let message = in_lines(&printable_start(&finding.message), width, MESSAGE_INDENT);
    let label = printable_start(&finding.label);
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let drawn_width = width.clamp(MIN_WIDTH, MAX_WIDTH);
    // of a longer line, the part around the start of the finding is drawn
    let is_long = shown
        .lines()
        .any(|line| line.width() + gutter > drawn_width);
    let Range { start, end } = range_in_shown(source, &shown, finding.span);
    let most = if is_long { drawn_width / 2 } else { usize::MAX };
    let primary = Span::new(start, end.min(start.saturating_add(most)));
    let annotation = AnnotationKind::Primary.span(primary.range_in(&shown));
    let label = (!label.is_empty()).then_some(&*label);
    let mut marked = Snippet::source(&*shown)
        .line_start(first_line)
        .path(&*origin);
    marked = marked.annotation(annotation.label(label));
    let mut labels = 0;
    for label in &finding.labels {
        let range = range_in_shown(source, &shown, label.span);
        let is_near = range.start.abs_diff(start).max(range.end.abs_diff(start)) <= most;
        if is_near && labels < MAX_LABELS {
            labels += 1;
            let annotation = AnnotationKind::Context.span(range);
            marked = marked.annotation(annotation.label(printable_start(&label.text)));
        }
    }
    let title = level.primary_title(&*message).id(finding.code.name());
    let mut group = title.element(marked);
    if labels < finding.labels.len() {
        let more = count(finding.labels.len() - labels, "more place");
        group = group.element(Level::NOTE.message(format!("and {more}")));
    }
    if let Some(help) = &finding.help {
        let help = help.worded(in_options);
        let help = in_lines(&printable_start(&help), width, gutter + HELP_INDENT);
        group = group.element(Level::HELP.message(help));
    }
    let mut answer = Vec::new();
    match &finding.fix {
        Some(fix) if fix.applicability == Applicability::DisplayOnly => answer.push(group),
        // a line is not shortened where it is changed
        Some(fix) if is_long || fix.replacement.len() > drawn_width => {
            let write = format!("write `{}`", printable_start(&fix.replacement));
            let write = in_lines(&write, width, gutter + HELP_INDENT);
            answer.push(group.element(Level::HELP.message(write)));
        }
        Some(fix) => {
            let range = range_in_shown(source, &shown, fix.span);
            let patch = Patch::new(range, printable_in_place(&fix.replacement));
            let snippet = Snippet::source(&*shown)
                .line_start(first_line)
                .path(&*origin);
            let title = Level::HELP.secondary_title("write");
            answer.push(group);
            answer.push(Group::with_title(title).element(snippet.patch(patch)));
        }
        None => answer.push(group),
    }
    let renderer = if coloured {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    renderer.term_width(drawn_width).render(&answer)
}

/// A message in lines that fit into a width beside what precedes them.
fn in_lines(message: &str, width: usize, indent: usize) -> String {
    wrapped(message, width.saturating_sub(indent).max(MIN_WIDTH)).join("\n")
}

/// What is asked for, and the options that give it.
pub fn in_options(need: Need) -> String {
    let options = match need {
        Need::ActiveEntities => "--active NAME,…",
        Need::CommandOutput => "-f FILE or --server FILE",
        Need::Entity => "--entity NAME",
        Need::Formula => "-f FILE, --server FILE, --sched-priv DIR or --site PATH",
        Need::OpenPbsNumbers => "no --numbers, no --on-error null",
        Need::Policy(name) => return format!("{need} (--policy {name})"),
        Need::PolicyOfRelease(..) => "--policy NAME, --slurm-release NAME",
        Need::Processors => "--nodes FILE, --processors N",
        Need::Moment => "--at TIME",
        Need::Python => "--python X.Y, or `python_version.txt` in the site's folder",
        Need::PythonNumbers => "--numbers decimal",
        Need::Queue => "--queue FILE",
        Need::Queues => "--queues FILE",
        Need::ResourceType => "--resource NAME=TYPE",
        Need::Resources => "--resources FILE",
        Need::SchedConfig => "--sched-config FILE",
        Need::ServerSettings => "--server FILE",
        Need::Site => "--site PATH",
        Need::SlurmConf => "--slurm-conf FILE",
        Need::Sshare => "--tree FILE, or `sshare.txt` in the site's folder",
        Need::Threshold => "--threshold X",
        Need::Tree => "--sched-priv DIR, --tree FILE",
    };
    format!("{need} ({options})")
}

/// The largest width of a drawn finding, in characters: that of `annotate-snippets`.
const MAX_WIDTH: usize = 140;
/// Findings are not drawn narrower than this.
const MIN_WIDTH: usize = 40;
/// The width of `warning[JSF101]: `.
const MESSAGE_INDENT: usize = 17;
/// The width of `= help: `.
const HELP_INDENT: usize = 8;
/// The most places that are drawn beside that of the finding; the others are counted.
const MAX_LABELS: usize = 10;
/// The longest message, in characters: a formula can have a name of 64 KiB.
const MAX_MESSAGE: usize = 1000;
const ELLIPSIS: char = '…';

/// A message without what a terminal could obey, and without what exceeds the limit.
fn printable_start(message: &str) -> Cow<'_, str> {
    match message.char_indices().nth(MAX_MESSAGE) {
        None => printable(message),
        Some((end, _)) => Cow::Owned(format!("{}{ELLIPSIS}", printable(&message[..end]))),
    }
}

/// The errors and warnings about a formula, drawn on its text: of each code the first ten, then how
/// many more there are. Text has them in full only.
pub(crate) fn drawn_findings<'a>(
    source: &'a FormulaText,
    findings: &'a [Diagnostic],
) -> Option<Section<'a>> {
    let drawn = findings.iter();
    let (shown, others) = limit_each_code(drawn.filter(|it| it.severity != Severity::Note));
    if shown.is_empty() {
        return None;
    }
    let mut section = Section::new("findings").in_full();
    for found in shown {
        section = section.draw(|style| draw_finding(source, found, style.coloured, style.width));
    }
    for (code, count) in others {
        section = section.prose(more_findings(count, code));
    }
    Some(section)
}

/// The same of the formulas of an answer: of two under headings that say whose they are.
pub(crate) fn drawn_findings_of_sides<'a>(
    sides: Vec<(&'a FormulaText, &'a Checked)>,
) -> Vec<Section<'a>> {
    let owners: &[&str] = match sides.len() {
        2 => &[": old formula", ": new formula"],
        _ => &[""],
    };
    let mut sections = Vec::new();
    for (owner, (source, checked)) in iter::zip(owners, sides) {
        if let Some(mut section) = drawn_findings(source, &checked.findings) {
            section.heading += owner;
            sections.push(section);
        }
    }
    sections
}

/// The errors and warnings about a formula, one line each. Where there is an old formula, each says
/// whose it is, and one that both have is listed once.
pub(crate) fn brief_findings<'a>(checked: &Checked, old: Option<&Checked>) -> Option<Section<'a>> {
    let mut findings = Vec::new();
    for found in &checked.findings {
        let side = match old {
            None => "",
            Some(old) if has(&old.findings, found) => " both:",
            Some(_) => " new:",
        };
        findings.push((found, side));
    }
    for found in old.into_iter().flat_map(|old| &old.findings) {
        // the old formula is in force already: what it does is known
        if found.severity == Severity::Error && !has(&checked.findings, found) {
            findings.push((found, " old:"));
        }
    }
    findings.retain(|(found, _)| found.severity != Severity::Note);
    // a stable sort: those of a severity stay in the order of the check
    findings.sort_by_key(|(found, _)| found.severity != Severity::Error);
    let mut lines = Vec::new();
    // warnings of one kind would fill the first screen
    let alike = findings.chunk_by(|(one, of), (other, side)| {
        one.severity == Severity::Warning && one.code == other.code && of == side
    });
    for alike in alike {
        let (found, side) = alike[0];
        let mut line = brief_finding(found, side);
        if alike.len() > 1 {
            line += &format!("; {} (--full)", more_findings(alike.len() - 1, found.code));
        }
        lines.push(line);
    }
    (!lines.is_empty()).then(|| Section::new("").in_text().list(lines))
}

/// Whether findings have one with the same code and message.
fn has(findings: &[Diagnostic], found: &Diagnostic) -> bool {
    let mut findings = findings.iter();
    findings.any(|known| known.code == found.code && known.message == found.message)
}

/// The word for a severity, which SARIF has too.
pub(crate) fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// A finding in one line; `side` names the formula where there are two.
pub(crate) fn brief_finding(found: &Diagnostic, side: &str) -> String {
    let severity = severity_word(found.severity);
    format!("{severity}[{}]{side} {}", found.code, found.message)
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
