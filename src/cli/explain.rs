//! `jsf explain`

use std::io::Write;

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::pbs::check::job_error;
use job_sort_formula::report::explain::{ExplainReport, write_human, write_json};
use job_sort_formula::report::{FormulaSource, draw_finding};
use job_sort_formula::site::{ExplainOptions, Explanation, FormulaText, SiteError};

use super::args::{ExplainArgs, ExplainFormatName};
use super::{
    CliError, Outcome, Progress, draw_all, open_site, parsed_formula, read_formula, show_site, terminal_width, warn_all,
};

pub(super) fn run(arguments: &ExplainArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let site = open_site(&arguments.site, &arguments.formula, arguments.threshold)?;
    let source = read_formula(&arguments.formula, Some(&site))?;
    let submitted = source.submitted(arguments.site.number_mode());
    let Some(formula) = parsed_formula(&source, &submitted) else { return Ok(Outcome::Findings) };
    let is_human = arguments.format == ExplainFormatName::Human;
    show_site(&arguments.site, &site, is_human);
    warn_all(site.warnings());
    let progress = Progress::start("reading the jobs");
    let jobs = site.jobs_to_explain(formula)?;
    drop(progress);
    warn_all(&jobs.warnings);
    let is_error = |found: &Diagnostic| found.severity == Severity::Error;
    let errors: Vec<Diagnostic> = site.lint(formula, &jobs).into_iter().filter(is_error).collect();
    draw_all(&source, &errors.iter().cloned().map(|found| submitted.in_source(found)).collect::<Vec<_>>());
    let Ok(program) = formula.compile(&jobs.schema) else { return Ok(Outcome::Findings) };
    let mut rows = Vec::new();
    for wanted in &arguments.job {
        for row in jobs.table.find_jobs(wanted).map_err(SiteError::Missing)? {
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    let progress = Progress::start("ranking the jobs");
    let queue = site.rank_jobs(program, jobs.table, usize::MAX)?;
    let considered = queue.ranking.order().len();
    if let Some(rank) = arguments.to.filter(|&rank| rank as usize > considered) {
        let jobs = if considered == 1 { "1 job is" } else { &format!("{considered} jobs are") };
        return Err(CliError::usage(format!("there is no rank {rank}: {jobs} considered")));
    }
    let options = ExplainOptions {
        to: arguments.to.map(|rank| rank as usize),
        within: arguments.within as i64,
        ..ExplainOptions::default()
    };
    let explanations = site.explain(&queue, &jobs.schema, &rows, &options)?;
    drop(progress);
    warn_all(&queue.warnings);
    let mut rules = vec![("formula:", source.text.trim_end().to_owned())];
    rules.extend(site.rules_of(&queue));
    let usage_unit = site.usage_unit();
    let report = ExplainReport {
        formula: &source.text,
        queue: &queue,
        explanations: &explanations,
        rules: &rules,
        usage_unit: &usage_unit,
    };
    match arguments.format {
        ExplainFormatName::Json => write_json(&report, out)?,
        ExplainFormatName::Human => {
            let width = if arguments.wide { None } else { terminal_width() };
            let coloured = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
            let FormulaText { text, origin, before, wraps } = &source;
            let drawn = |job: &Explanation| {
                let finding =
                    submitted.in_source(job_error(&queue.table, job.row, job.result.as_ref()?.as_ref().err()?));
                Some(draw_finding(&FormulaSource { text, origin, before, wraps }, &finding, coloured))
            };
            write_human(&report, width, &drawn, out)?;
        }
    }
    out.flush()?;
    Ok(if !errors.is_empty() || queue.ranking.failure().is_some() { Outcome::Findings } else { Outcome::Fine })
}
