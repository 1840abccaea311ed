//! A comparison of two rankings as a page.

use std::cmp::Reverse;
use std::io::{self, Write};

use job_sort_formula::fairshare::{ShareTable, ShareTree};
use job_sort_formula::rank::{JobMove, OldNew};

use super::charts::{self, SLOPES, Slope};
use super::groups::group_sections;
use super::shares::icicle_section;
use super::{Cell, MAX_ROWS, MarkedFormula, Page, Piece, Section, Table, facts, findings_section, sentence_pieces};
use crate::compare::{CompareFormat, CompareReport};
use crate::compare_human::{sentence, summary_lines};
use crate::terminal::printable;

/// A comparison as a page for a browser.
#[derive(Debug, Clone, Copy, Default)]
pub struct CompareHtml<'a> {
    /// The command line, which the page shows.
    pub command: &'a str,
    /// The findings about the formulas, as they are drawn in a terminal.
    pub findings: &'a [String],
    /// The fair-share tree of the new side with its numbers.
    pub tree: Option<(&'a ShareTree, &'a ShareTable)>,
}

impl CompareFormat for CompareHtml<'_> {
    fn write(&self, report: &CompareReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let moves: Vec<JobMove> = report.rows.iter().map(|ranked| report.comparison.job(ranked.row())).collect();
        let mut sections = vec![marked_formulas(report.formulas)];
        sections.extend(findings_section(self.findings));
        let is_changed = |job: &JobMove| job.old != job.new;
        if moves.iter().any(is_changed) {
            sections.extend(charts(report, &moves));
        }
        sections.extend(group_sections(report.comparison, false));
        sections.push(jobs(report, &moves));
        sections.extend(self.tree.map(|(tree, shares)| icicle_section(tree, shares)));
        let agreement = report.comparison.tau_b.map(|tau| {
            ("agreement", format!("tau-b {tau:.2} (1 is the same order, 0 an unrelated one, -1 the reverse)"))
        });
        let rules: Vec<_> =
            shared_rules(report.rules).into_iter().chain(agreement).chain(summary_lines(report)).collect();
        Page {
            kind: "jsf compare",
            title: "Comparison of two formulas".to_owned(),
            headline: sentence_pieces(&sentence(report)),
            facts: facts(&rules),
            command: printable(self.command).into_owned(),
            sections,
        }
        .write(out)
    }
}

/// The rules of both sides but the formulas; those that differ twice.
pub(super) fn shared_rules(rules: OldNew<&[(&'static str, String)]>) -> Vec<(&'static str, String)> {
    let OldNew { old, new } = rules;
    let mut rules = Vec::new();
    for (heading, text) in new {
        match old.iter().find(|(known, _)| known == heading) {
            Some((_, before)) if before != text => rules.push((*heading, format!("{before} → {text}"))),
            _ => rules.push((*heading, text.clone())),
        }
    }
    let gone = old.iter().filter(|(heading, _)| new.iter().all(|(known, _)| known != heading));
    rules.extend(gone.map(|(heading, text)| (*heading, format!("{text} → none"))));
    rules
}

/// Both formulas, with the parts that differ marked.
pub(super) fn marked_formulas(formulas: OldNew<&str>) -> Section {
    let (old, new) = (printable(formulas.old.trim_end()), printable(formulas.new.trim_end()));
    let (before, after) = marked_pieces(&old, &new);
    let formulas = match old == new {
        true => vec![MarkedFormula { side: "both", tag: "span", pieces: after }],
        false => vec![
            MarkedFormula { side: "old", tag: "del", pieces: before },
            MarkedFormula { side: "new", tag: "ins", pieces: after },
        ],
    };
    Section { formulas, ..Section::new(if old == new { "Formula" } else { "Formulas" }) }
}

/// The most tokens of a formula whose differences are searched for; in a longer one all of it is marked.
const MAX_TOKENS: usize = 1500;

/// The pieces of two texts, of which those are marked that are not in a common sequence of tokens. Of all such sequences
/// it is the one with the most names, then the most numbers: an equal bracket says little.
fn marked_pieces(old: &str, new: &str) -> (Vec<Piece>, Vec<Piece>) {
    let (old_tokens, new_tokens) = (tokens(old), tokens(new));
    if old_tokens.len().max(new_tokens.len()) > MAX_TOKENS {
        let all = |text: &str| vec![Piece { text: text.to_owned(), is_marked: old != new }];
        return (all(old), all(new));
    }
    // the weight of the best common sequence of the tokens from each pair of positions on
    let columns = new_tokens.len() + 1;
    let mut common = vec![0u32; (old_tokens.len() + 1) * columns];
    for i in (0..old_tokens.len()).rev() {
        for j in (0..new_tokens.len()).rev() {
            common[i * columns + j] = match old_tokens[i] == new_tokens[j] {
                true => common[(i + 1) * columns + j + 1] + weight(old_tokens[i]),
                false => common[(i + 1) * columns + j].max(common[i * columns + j + 1]),
            };
        }
    }
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while i < old_tokens.len() || j < new_tokens.len() {
        let is_common = i < old_tokens.len() && j < new_tokens.len() && old_tokens[i] == new_tokens[j];
        if is_common {
            push_piece(&mut before, old_tokens[i], false);
            push_piece(&mut after, new_tokens[j], false);
            (i, j) = (i + 1, j + 1);
        } else if j == new_tokens.len()
            || i < old_tokens.len() && common[(i + 1) * columns + j] >= common[i * columns + j + 1]
        {
            push_piece(&mut before, old_tokens[i], true);
            i += 1;
        } else {
            push_piece(&mut after, new_tokens[j], true);
            j += 1;
        }
    }
    (without_islands(before), without_islands(after))
}

/// How much it says that two formulas have this token in common.
fn weight(token: &str) -> u32 {
    match token.chars().next() {
        Some(first) if first.is_ascii_digit() || first == '.' => 20,
        Some(first) if is_word(first) => 100,
        _ => 1,
    }
}

/// Marks operators, brackets and spaces that are alone between marked pieces.
fn without_islands(pieces: Vec<Piece>) -> Vec<Piece> {
    let says_little = |index: usize| {
        let is_between = index > 0 && index + 1 < pieces.len();
        is_between && !pieces[index].text.contains(is_word)
    };
    let marks: Vec<bool> = (0..pieces.len()).map(|index| pieces[index].is_marked || says_little(index)).collect();
    let mut joined = Vec::new();
    pieces.iter().zip(marks).for_each(|(piece, is_marked)| push_piece(&mut joined, &piece.text, is_marked));
    joined
}

/// Appends a token to the last piece, or begins another one.
fn push_piece(pieces: &mut Vec<Piece>, token: &str, is_marked: bool) {
    match pieces.last_mut() {
        Some(last) if last.is_marked == is_marked => last.text.push_str(token),
        _ => pieces.push(Piece { text: token.to_owned(), is_marked }),
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.')
}

/// The names and the numbers of a formula, and every other character alone.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut end = match is_word(first) {
            true => rest.find(|character| !is_word(character)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        // the exponent of a number has a sign
        if first.is_ascii_digit() && rest[..end].ends_with(['e', 'E']) && rest[end..].starts_with(['+', '-']) {
            let exponent = &rest[end + 1..];
            end += 1 + exponent.find(|character| !is_word(character)).unwrap_or(exponent.len());
        }
        tokens.push(&rest[..end]);
        rest = &rest[end..];
    }
    tokens
}

fn job_name(report: &CompareReport<'_>, row: usize) -> String {
    let (id, entity) = (report.table.id(row), report.table.entity(row));
    if entity.is_empty() { id.to_owned() } else { format!("{id} {entity}") }
}

pub(super) fn charts(report: &CompareReport<'_>, moves: &[JobMove]) -> Vec<Section> {
    let comparison = report.comparison;
    let most = comparison.considered.old.max(comparison.considered.new);
    let first = most.min(SLOPES);
    let is_shown = |job: &&JobMove| [job.old, job.new].iter().flatten().any(|rank| *rank <= first);
    let slopes: Vec<Slope> =
        moves.iter().filter(is_shown).map(|job| Slope { name: job_name(report, job.row), job: *job }).collect();
    let places: Vec<i64> = moves.iter().filter_map(JobMove::moved).collect();
    let directions = [("up", "gains places"), ("down", "loses places"), ("same", "keeps its place")];
    let of_slopes = match first < most {
        true => format!(
            "Every line is a job, from its place in the old order to its place in the new one. A job that is among the first \
             {first} of one order only has a short line, and its place in the other order beside it."
        ),
        false => "Every line is a job, from its place in the old order to its place in the new one.".to_owned(),
    };
    let of_ranks = match charts::is_dense(moves) {
        true => {
            "Above the diagonal are the jobs that gain places, below it those that lose some. The stronger the \
             colour of a cell, the more jobs it has."
        }
        false => {
            "Every point is a job. Above the diagonal are the jobs that gain places, below it those that lose some."
        }
    };
    let name = |job: &JobMove| job_name(report, job.row);
    vec![
        Section::new(if first < most { format!("The first {first} jobs") } else { "Every job's place".to_owned() })
            .note(of_slopes)
            .chart(charts::slopes(&slopes, first), &directions),
        Section::new("How far jobs move")
            .note("Every bar counts the jobs that move that far.")
            .chart(charts::displacements(&places), &directions),
        Section::new("Old and new rank").note(of_ranks).chart(charts::ranks(moves, name, most), &directions),
    ]
}

/// The jobs, those that move farthest first.
fn jobs(report: &CompareReport<'_>, moves: &[JobMove]) -> Section {
    let mut order: Vec<&JobMove> = moves.iter().collect();
    let key = |job: &&JobMove| (Reverse(job.moved().map_or(u64::MAX, i64::unsigned_abs)), job.new, job.row);
    let shown = order.len().min(MAX_ROWS);
    if shown < order.len() {
        order.select_nth_unstable_by_key(shown, key);
    }
    order[..shown].sort_unstable_by_key(key);
    let headings = ["job", "entity", "queue", "#old rank", "#new rank", "#moved", "#old value", "#new value"];
    let row = |job: &&JobMove| {
        let scores = report.scores(job.row);
        vec![
            Cell::text(report.table.id(job.row)),
            Cell::text(report.table.entity(job.row)),
            Cell::text(report.table.queue(job.row)),
            Cell::count(job.old),
            Cell::count(job.new),
            Cell::places(job.moved()),
            Cell::score(scores.old),
            Cell::score(scores.new),
        ]
    };
    let section = Section::new("Jobs").note("Those that move farthest first.");
    section.table(Table::new(&headings, order.iter().map(row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(old: &str, new: &str) -> (String, String) {
        let (before, after) = marked_pieces(old, new);
        let show = |pieces: Vec<Piece>| {
            pieces.into_iter().map(|one| if one.is_marked { format!("[{}]", one.text) } else { one.text }).collect()
        };
        (show(before), show(after))
    }

    #[test]
    fn what_differs_is_marked() {
        for (old, new, before, after) in [
            ("a + b", "a + b", "a + b", "a + b"),
            ("a + 10*b", "a + 12*b", "a + [10]*b", "a + [12]*b"),
            ("a + b", "a + b - c", "a + b", "a + b[ - c]"),
            ("", "x", "", "[x]"),
            ("pow(2, x)", "exp2(x)", "[pow(2, ]x)", "[exp2](x)"),
            ("a * 1e-7", "a * 1e+7", "a * [1e-7]", "a * [1e+7]"),
            ("(b) + (4 * a)", "100 * a + c", "[(b) + (4] * a[)]", "[100] * a[ + c]"),
        ] {
            assert_eq!(marked(old, new), (before.to_owned(), after.to_owned()));
        }
    }

    #[test]
    fn long_formulas_are_marked_whole() {
        let long = "1+".repeat(MAX_TOKENS) + "1";
        let (before, after) = marked_pieces(&long, "1");
        assert!(before.len() == 1 && before[0].is_marked && after[0].is_marked);
    }
}
