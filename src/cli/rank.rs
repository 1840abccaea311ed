//! `jsf rank`

use std::io::Write;

use job_sort_formula::diagnostic::Diagnostic;
use job_sort_formula::formula::analysis;
use job_sort_formula::report::{Csv, Human, Json, Ndjson, RankFormat, RankReport, finding};
use job_sort_formula::{Formula, JobTable, Ranking};

use super::args::{OnErrorName, RankArgs, RankFormatName};
use super::formula::{self, Source};
use super::site::Site;
use super::{CliError, Outcome, check, stderr_is_coloured};

pub(super) fn run(arguments: &RankArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    if arguments.site.queue.is_none() {
        return Err(CliError::usage("no jobs: give --queue FILE (`qstat -f -F json`, own JSON or NDJSON)"));
    }
    let source = formula::source(&arguments.formula, Some(&arguments.site))?;
    let formula = match Formula::parse(&source.text) {
        Ok(formula) => formula,
        Err(error) => return Ok(refuse(&source, &[error.diagnostic()])),
    };
    let mut site = Site::read(&arguments.site)?;
    let mut table = site.read_queue(&formula)?.unwrap_or_default();
    let program = match formula.compile(&site.schema) {
        Ok(program) => program,
        Err(outside) => return Ok(refuse(&source, &[check::outside(&outside)])),
    };
    let findings = analysis::names(formula.expr(), &site.schema);
    show(&source, &findings);
    site.supply_shares(&program, &mut table)?;
    let ranking = Ranking::new(&program, &table, site.keep(), site.on_error());
    let inputs: Vec<_> = program.inputs().iter().map(|name| &**name).filter(|_| arguments.inputs).collect();
    let rows = rows(arguments, &table, &ranking);
    let report = RankReport {
        formula: &source.text,
        table: &table,
        ranking: &ranking,
        threshold: arguments.threshold,
        rows: &rows,
        inputs: &inputs,
    };
    format(arguments.format).write(&report, out)?;
    out.flush()?;
    if arguments.format == RankFormatName::Human {
        show(&source, &check::trial(&table, &ranking));
    }
    let failed = arguments.site.on_error == OnErrorName::Fail && ranking.error_count() > 0;
    Ok(if failed { Outcome::Findings } else { Outcome::Fine })
}

/// The rows that were asked for: those in the order first, then the others.
fn rows(arguments: &RankArgs, table: &JobTable, ranking: &Ranking) -> Vec<usize> {
    let mut ordered = vec![false; table.len()];
    for &row in ranking.order() {
        ordered[row] = true;
    }
    let others = (0..table.len()).filter(|&row| !ordered[row]);
    let of_entity = |row: usize| arguments.entity.as_ref().is_none_or(|entity| table.entity(row) == entity);
    let of_queue = |row: usize| arguments.queue_name.as_ref().is_none_or(|queue| table.queue(row) == queue);
    let all = ranking.order().iter().copied().chain(others);
    let wanted = all.filter(|&row| of_entity(row) && of_queue(row));
    wanted.take(arguments.top.unwrap_or(usize::MAX)).collect()
}

fn format(name: RankFormatName) -> Box<dyn RankFormat> {
    match name {
        RankFormatName::Human => Box::new(Human),
        RankFormatName::Json => Box::new(Json),
        RankFormatName::Csv => Box::new(Csv),
        RankFormatName::Ndjson => Box::new(Ndjson),
    }
}

/// Shows why the formula cannot be used.
fn refuse(source: &Source, findings: &[Diagnostic]) -> Outcome {
    show(source, findings);
    Outcome::Findings
}

/// Draws findings on standard error.
fn show(source: &Source, findings: &[Diagnostic]) {
    for found in findings {
        anstream::eprintln!("{}\n", finding::draw(&source.text, &source.origin, found, stderr_is_coloured()));
    }
}
