//! `jsf rank`

use std::io::Write;

use job_sort_formula::diagnostic::Diagnostic;
use job_sort_formula::formula::lint;
use job_sort_formula::pbs::check::trial;
use job_sort_formula::pbs::order::Ordered;
use job_sort_formula::pbs::submission::FormulaSubmission;
use job_sort_formula::report::{Csv, Human, Json, Ndjson, Placed, RankFormat, RankReport, finding};
use job_sort_formula::{JobTable, Ranking};

use super::args::{OnErrorName, RankArgs, RankFormatName};
use super::formula::{self, Source};
use super::site::Site;
use super::{CliError, Outcome, stderr_is_coloured};

pub(super) fn run(arguments: &RankArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    if arguments.site.queue.is_none() {
        return Err(CliError::usage("no jobs: give --queue FILE (`qstat -f -F json`, `qstat -f`, own JSON or NDJSON)"));
    }
    let source = formula::source(&arguments.formula, Some(&arguments.site))?;
    let submitted = source.submitted(arguments.site.numbers);
    let formula = match submitted.formula() {
        Ok(formula) => formula,
        Err(refusal) => {
            draw(&source, &refusal.finding);
            return Ok(Outcome::Findings);
        }
    };
    let mut site = Site::read(&arguments.site)?;
    let mut table = site.read_queue(formula)?.unwrap_or_default();
    show(&source, &submitted, lint::lint(formula.expr(), &site.schema));
    let Ok(program) = formula.compile(&site.schema) else { return Ok(Outcome::Findings) };
    let tree = site.supply_shares(&program, &mut table)?;
    let Ordered { ranking, passed_over } =
        site.rank(&program, &table, tree.as_ref(), arguments.threshold, most(arguments));
    let inputs: Vec<_> = program.inputs().iter().map(|name| &**name).filter(|_| arguments.inputs).collect();
    let rows = rows(arguments, &table, &ranking);
    let report = RankReport {
        formula: &source.text,
        table: &table,
        ranking: &ranking,
        passed_over: &passed_over,
        rows: &rows,
        inputs: &inputs,
    };
    format(arguments.format).write(&report, out)?;
    out.flush()?;
    if arguments.format == RankFormatName::Human {
        show(&source, &submitted, trial(&table, &ranking));
    }
    let failed = arguments.site.on_error == OnErrorName::Fail && ranking.error_count() > 0;
    Ok(if failed { Outcome::Findings } else { Outcome::Fine })
}

/// How much of the order is needed: all of it where jobs are looked for in it, or where a summary tells of it.
fn most(arguments: &RankArgs) -> usize {
    let is_searched = arguments.entity.is_some() || arguments.queue_name.is_some();
    let has_summary = matches!(arguments.format, RankFormatName::Human | RankFormatName::Json);
    arguments.top.filter(|_| !is_searched && !has_summary).unwrap_or(usize::MAX)
}

/// The rows that were asked for: those in the order first, then the others.
fn rows(arguments: &RankArgs, table: &JobTable, ranking: &Ranking) -> Vec<Placed> {
    let mut rows = Placed::all(ranking);
    if let Some(entity) = &arguments.entity {
        rows.retain(|placed| table.entity(placed.row()) == entity);
    }
    if let Some(queue) = &arguments.queue_name {
        rows.retain(|placed| table.queue(placed.row()) == queue);
    }
    rows.truncate(arguments.top.unwrap_or(usize::MAX));
    rows
}

fn format(name: RankFormatName) -> Box<dyn RankFormat> {
    match name {
        RankFormatName::Human => Box::new(Human),
        RankFormatName::Json => Box::new(Json),
        RankFormatName::Csv => Box::new(Csv),
        RankFormatName::Ndjson => Box::new(Ndjson),
    }
}

/// Draws findings on standard error.
fn show(source: &Source, submitted: &FormulaSubmission<'_>, findings: Vec<Diagnostic>) {
    findings.into_iter().for_each(|found| draw(source, &submitted.in_source(found)));
}

fn draw(source: &Source, found: &Diagnostic) {
    anstream::eprintln!("{}\n", finding::draw(&source.text, &source.origin, found, stderr_is_coloured()));
}
