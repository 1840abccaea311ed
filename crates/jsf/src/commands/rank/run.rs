//! `jsf rank`

use std::io::Write;

use job_sort_formula::diagnostic::Diagnostic;
use job_sort_formula::rank::{ComparedRanking, Comparison};
use jsf_openpbs::check::{Checked, FAILURE_CODES, error_findings_of};
use jsf_openpbs::resource_amount::NumberMode;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_site::{FormulaText, RankRequest, RankedQueue, Site};

use crate::answer::Format;
use crate::cli::document::Shown;
use crate::cli::failing_jobs::report_errors;
use crate::cli::output::Output;
use crate::cli::queue::{
    DrawnFindings, OpenedQueue, QueueToRank, draw_submitted, outcome, select_rows_or_warn,
};
use crate::cli::{CliError, Outcome, page_file, parsed_formula, show_site};
use crate::commands::rank::answer::{RankReport, TermColumns};
use crate::commands::rank::request::RankArgs;
use crate::commands::rank::view::RankPageParts;
use crate::ranked_row::RankedRow;

pub(crate) fn run(arguments: &RankArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    if arguments.terms && arguments.queue.site.numbers == NumberMode::Decimal {
        return Err(CliError::usage(
            "terms follow Python's arithmetic: do not choose decimal numbers (--numbers decimal)",
        ));
    }
    let is_document = arguments.format.is_document();
    let opened = OpenedQueue::open(&arguments.queue)?;
    let OpenedQueue { site, source, .. } = &opened;
    let submitted = opened.submitted();
    let formula = parsed_formula(source, &submitted)?;
    show_site(&arguments.queue.site, site, is_document);
    let drawn = if is_document && !arguments.text.full {
        DrawnFindings::None
    } else {
        DrawnFindings::All
    };
    let read = QueueToRank::read_and_report(
        &opened,
        &submitted,
        &RankRequest {
            limit: limit(arguments),
            sprio_columns: arguments.terms,
            ..RankRequest::from(formula)
        },
        is_document,
        drawn,
    )?;
    let Some(read) = read else {
        return Ok(Outcome::Findings);
    };
    let (ranked, warnings) = read.rank_and_warn()?;
    let inputs: Vec<_> = ranked
        .program
        .inputs()
        .iter()
        .map(|name| &**name)
        .filter(|_| arguments.inputs)
        .collect();
    let terms = arguments.terms.then(|| TermColumns::of(&ranked));
    let rows = rows(arguments, site, &ranked)?;
    let mut rules = vec![("formula", source.text.trim_end().to_owned())];
    rules.extend_from_slice(&ranked.rules);
    let has_document = is_document || arguments.report.is_some();
    let checked = has_document.then(|| checked(arguments, site, &submitted, &ranked, &rows));
    let decides = if has_document || arguments.format == Format::Json {
        ranked.decides()
    } else {
        Vec::new()
    };
    let page = arguments
        .report
        .as_deref()
        .map(|_| page_parts(site, source, &submitted, &ranked, &rows))
        .transpose()?;
    let report = RankReport {
        formula: &source.text,
        queue: &ranked,
        not_considered: ranked.not_considered.iter().copied().collect(),
        rows: &rows,
        inputs: &inputs,
        terms: terms.as_ref(),
        rules: &rules,
        decides: &decides,
        checked: checked.as_ref(),
        page: page.as_ref(),
    };
    let warnings = warnings.into_answer();
    let shown = Shown {
        has_asked_rows: arguments.top.is_some(),
        ..arguments.text.into()
    };
    let output = Output::new(arguments.format, shown, &warnings)
        .with_cells(arguments.csv.cells())
        .with_page(arguments.report.as_deref(), vec![site], Vec::new());
    output.write(&report, out)?;
    match arguments.format {
        Format::Csv | Format::Ndjson => {
            report_errors(
                arguments.queue.site.on_error,
                "the formula",
                &ranked.table,
                &ranked.ranking,
            );
        }
        _ if is_document && arguments.text.full => {
            draw_submitted(source, &submitted, shown_errors(&ranked, &rows));
        }
        _ => {}
    }
    Ok(outcome(&ranked.findings, &ranked.ranking))
}

/// The result of checking the formula. With a filter, what is found in jobs that are not shown is
/// no finding.
fn checked(
    arguments: &RankArgs,
    site: &Site,
    submitted: &FormulaSubmission<'_>,
    ranked: &RankedQueue,
    rows: &[RankedRow],
) -> Checked {
    let mut checked = site.check_ranked(submitted, ranked);
    if !arguments.filter.filter().is_empty() {
        checked
            .findings
            .retain(|found| !FAILURE_CODES.contains(&found.code));
        checked.findings.extend(shown_errors(ranked, rows));
    }
    checked
}

/// The findings about the jobs that are shown; the summary counts the errors of all jobs.
fn shown_errors(ranked: &RankedQueue, rows: &[RankedRow]) -> Vec<Diagnostic> {
    let mut is_shown = vec![false; ranked.table.len()];
    rows.iter().for_each(|row| is_shown[row.row()] = true);
    error_findings_of(&ranked.table, &ranked.ranking, |row| is_shown[row])
}

/// The number of ranks to determine: all if jobs are searched for among them, or if a summary
/// counts them.
fn limit(arguments: &RankArgs) -> usize {
    let has_summary = arguments.format.is_document()
        || arguments.format == Format::Json
        || arguments.report.is_some();
    arguments
        .top
        .filter(|_| arguments.filter.filter().is_empty() && !has_summary)
        .unwrap_or(usize::MAX)
}

/// The rows to show: those in the order first, then the others.
fn rows(
    arguments: &RankArgs,
    site: &Site,
    ranked: &RankedQueue,
) -> Result<Vec<RankedRow>, CliError> {
    let mut rows = select_rows_or_warn(
        arguments.filter.filter(),
        RankedRow::all(&ranked.ranking),
        site,
        &ranked.table,
    )?;
    rows.truncate(arguments.top.unwrap_or(usize::MAX));
    Ok(rows)
}

/// What only a page shows.
fn page_parts(
    site: &Site,
    source: &FormulaText,
    submitted: &FormulaSubmission<'_>,
    ranked: &RankedQueue,
    rows: &[RankedRow],
) -> Result<RankPageParts, CliError> {
    let findings = [&*ranked.findings, &shown_errors(ranked, rows)].concat();
    let tree = page_file::tree(site)?;
    let RankedQueue { table, ranking, .. } = ranked;
    let side = ComparedRanking {
        table,
        ranking,
        under_threshold: Vec::new(),
        tree: tree.as_ref(),
    };
    let groups = Comparison::new(&side, &side);
    Ok(RankPageParts {
        findings: page_file::draw_on_page(source, submitted, &findings),
        groups,
        tree,
    })
}
