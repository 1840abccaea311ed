//! Draws findings under the formula, with a caret and a fix.

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};

use crate::diagnostic::{Applicability, Diagnostic, Severity, Span};

/// Draws a finding as the Rust compiler does; `origin` is the name of the source.
pub fn draw(formula: &str, origin: &str, finding: &Diagnostic, coloured: bool) -> String {
    let shown = printable(formula);
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut snippet = Snippet::source(&*shown).path(origin);
    let primary = AnnotationKind::Primary.span(clamped(&shown, finding.span));
    snippet = snippet.annotation(primary.label((!finding.label.is_empty()).then_some(&*finding.label)));
    for label in &finding.labels {
        snippet = snippet.annotation(AnnotationKind::Context.span(clamped(&shown, label.span)).label(&*label.text));
    }
    let mut group = level.primary_title(&*finding.message).id(finding.code).element(snippet);
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(&**help));
    }
    let mut report = vec![group];
    if let Some(fix) = finding.fix.as_ref().filter(|fix| fix.applicability != Applicability::DisplayOnly) {
        let patch = Patch::new(clamped(&shown, fix.span), &*fix.replacement);
        let title = Level::HELP.secondary_title("write");
        report.push(Group::with_title(title).element(Snippet::source(&*shown).path(origin).patch(patch)));
    }
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&report).clone()
}

/// Replaces control characters one for one, so that none reaches a terminal.
fn printable(formula: &str) -> String {
    let shown = formula.chars().map(|character| match character {
        '\n' | '\t' => character,
        _ if character.is_control() && character.len_utf8() == 1 => '?',
        _ => character,
    });
    shown.collect()
}

/// The span as a range of the text, moved to the boundaries of characters.
pub(super) fn clamped(text: &str, span: Span) -> std::ops::Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start as usize);
    start..floor(span.end as usize).max(start)
}
