//! `jsf rank`

use std::io::Write;

use job_sort_formula::diagnostic::Diagnostic;
use job_sort_formula::rank::{ComparedRanking, Comparison, Consequence, OnError};
use job_sort_formula::{JobTable, Ranking};
use jsf_openpbs::check::{Checked, FAILURE_CODES, error_findings_of};
use jsf_openpbs::resource_amount::NumberMode;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_site::{RankedQueue, Site};

use crate::cli::args::site::note_idle;
use crate::cli::document::{Shown, write_as_markdown, write_text};
use crate::cli::queue::{RankedByFormula, Wanted, draw_submitted, outcome, select_rows, with_ranked_queue};
use crate::cli::{CliError, NOT_A_TABLE, Outcome, page_file as page, report};
use crate::commands::rank::answer::{RankFormat, RankReport, RankedRow, TermColumns};
use crate::commands::rank::csv::Csv;
use crate::commands::rank::json::{Json, Ndjson};
use crate::commands::rank::request::{RankArgs, RankFormatName};
use crate::commands::rank::view::{RankPageParts, rank_document};

pub(crate) fn run(arguments: &RankArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let is_document = arguments.format.is_document();
    note_idle(&[("--wide", arguments.text.wide && arguments.format != RankFormatName::Human)], NOT_A_TABLE);
    arguments.csv.note_idle(arguments.format == RankFormatName::Csv);
    let wanted = Wanted {
        is_document,
        jobs: None,
        described: None,
        limit: limit(arguments),
        origins: false,
        shown: drawn(arguments),
    };
    with_ranked_queue(&arguments.queue, &wanted, |queue| rank(arguments, queue, out))
}

fn rank(arguments: &RankArgs, ranked: RankedByFormula<'_>, out: &mut impl Write) -> Result<Outcome, CliError> {
    let RankedByFormula { site, source, submitted, queue: ranked, warnings, .. } = ranked;
    let inputs: Vec<_> = ranked.program.inputs().iter().map(|name| &**name).filter(|_| arguments.inputs).collect();
    if arguments.terms && arguments.queue.site.numbers == NumberMode::Decimal {
        return Err(CliError::usage(
            "terms follow Python's arithmetic: do not choose decimal numbers (--numbers decimal)",
        ));
    }
    let terms = arguments.terms.then(|| TermColumns::new(&ranked.program));
    let rows = rows(arguments, site, &ranked)?;
    let mut rules = vec![("formula", source.text.trim_end().to_owned())];
    rules.extend_from_slice(&ranked.rules);
    let is_for_people = arguments.format.is_document() || arguments.report.is_some();
    let checked = is_for_people.then(|| checked(arguments, site, submitted, &ranked, &rows));
    let decides = if is_for_people || arguments.format == RankFormatName::Json { ranked.decides() } else { Vec::new() };
    let report = RankReport {
        formula: &source.text,
        table: &ranked.table,
        ranking: &ranked.ranking,
        not_considered: &ranked.not_considered,
        rows: &rows,
        inputs: &inputs,
        terms: terms.as_ref(),
        schema: &ranked.schema,
        rules: &rules,
        decides: &decides,
        checked: checked.as_ref(),
        warnings: &warnings.into_answer(),
    };
    if let Some(path) = &arguments.report {
        let errors = shown_errors(&ranked, &rows);
        let drawn = page::drawn(source, submitted, &[&*ranked.findings, &errors].concat());
        let shares = page::tree(site)?;
        let tree = shares.as_ref().map(|shares| &shares.assessed);
        let side = ComparedRanking { table: &ranked.table, ranking: &ranked.ranking, under_threshold: &[], tree };
        let groups = Comparison::new(&side, &side);
        let tree = tree.map(|tree| (tree.tree(), tree.shares()));
        let parts = RankPageParts { findings: &drawn, groups: &groups, tree };
        page::write_document(path, &[site], [], &rank_document(report, Some(parts)))?;
    }
    write(arguments, report, out)?;
    out.flush()?;
    match arguments.format {
        RankFormatName::Human | RankFormatName::Markdown if !arguments.text.full => {}
        RankFormatName::Human | RankFormatName::Markdown => {
            draw_submitted(source, submitted, shown_errors(&ranked, &rows));
        }
        RankFormatName::Csv | RankFormatName::Ndjson => {
            report_errors(arguments.queue.site.on_error, "the formula", &ranked.table, &ranked.ranking);
        }
        RankFormatName::Json => {}
    }
    Ok(outcome(&ranked.findings, &ranked.ranking))
}

/// The result of checking the formula. With a filter, what is found in jobs that are not shown is no finding.
fn checked(
    arguments: &RankArgs,
    site: &Site,
    submitted: &FormulaSubmission<'_>,
    ranked: &RankedQueue,
    rows: &[RankedRow],
) -> Checked {
    let mut checked = site.check_ranked(submitted, ranked);
    if !arguments.filter.filter().is_empty() {
        checked.findings.retain(|found| !FAILURE_CODES.contains(&found.code));
        checked.findings.extend(shown_errors(ranked, rows));
    }
    checked
}

/// Which findings are drawn on standard error: one screen for people lists them itself.
fn drawn(arguments: &RankArgs) -> fn(&Diagnostic) -> bool {
    if arguments.format.is_document() && !arguments.text.full { |_| false } else { |_| true }
}

/// The findings about the jobs that are shown; the summary counts the errors of all jobs.
fn shown_errors(ranked: &RankedQueue, rows: &[RankedRow]) -> Vec<Diagnostic> {
    let mut is_shown = vec![false; ranked.table.len()];
    rows.iter().for_each(|row| is_shown[row.row()] = true);
    error_findings_of(&ranked.table, &ranked.ranking, |row| is_shown[row])
}

/// The number of ranks to determine: all if jobs are searched for among them, or if a summary counts them.
fn limit(arguments: &RankArgs) -> usize {
    let has_summary =
        arguments.format.is_document() || arguments.format == RankFormatName::Json || arguments.report.is_some();
    arguments.top.filter(|_| arguments.filter.filter().is_empty() && !has_summary).unwrap_or(usize::MAX)
}

/// The rows to show: those in the order first, then the others.
fn rows(arguments: &RankArgs, site: &Site, ranked: &RankedQueue) -> Result<Vec<RankedRow>, CliError> {
    let mut rows = select_rows(arguments.filter.filter(), RankedRow::all(&ranked.ranking), site, &ranked.table)?;
    rows.truncate(arguments.top.unwrap_or(usize::MAX));
    Ok(rows)
}

fn write(arguments: &RankArgs, report: RankReport<'_>, out: &mut impl Write) -> Result<(), CliError> {
    let shown = Shown { has_asked_rows: arguments.top.is_some(), ..arguments.text.into() };
    match arguments.format {
        RankFormatName::Human => write_text(&rank_document(report, None), shown, out),
        RankFormatName::Markdown => write_as_markdown(&rank_document(report, None), shown, out),
        RankFormatName::Json => Ok(Json.write(&report, out)?),
        RankFormatName::Csv => Ok(Csv { for_spreadsheets: arguments.csv.csv_safe }.write(&report, out)?),
        RankFormatName::Ndjson => Ok(Ndjson.write(&report, out)?),
    }
}

/// Counts the jobs with an error on standard error, for formats without a summary: a line for each consequence in OpenPBS.
/// `formula` names the formula.
pub(crate) fn report_errors(on_error: OnError, formula: &str, table: &JobTable, ranking: &Ranking) {
    for consequence in [Consequence::Zero, Consequence::Crash, Consequence::Unknown] {
        let mut errors = ranking.scores().errors().filter(|(_, error)| error.consequence() == consequence);
        let Some((row, error)) = errors.next() else { continue };
        let jobs = match 1 + errors.count() {
            1 => "1 job".to_owned(),
            count => format!("{count} jobs"),
        };
        let (kind, effect) = match on_error {
            OnError::ZeroLikePbs => ("warning", consequence.in_words()),
            OnError::Null => ("warning", "ranked last"),
            OnError::Fail => ("error", "--on-error is fail"),
        };
        report(kind, format_args!("{formula} fails for {jobs}, first for `{}`: {error}; {effect}", table.id(row)));
    }
}
