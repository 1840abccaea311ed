//! The jobs of the commands that rank a queue: read once, for the formula that is given.

use job_sort_formula::diagnostic::Diagnostic;
use job_sort_formula::jobs::FoundJobs;
use job_sort_formula::{Formula, JobTable, Program, Schema};
use jsf_openpbs::submission::FormulaSubmission;
use jsf_report::{JobFilter, RankedRow};
use jsf_site::Site;
use jsf_site::{FormulaText, SiteError, SiteJobs};

use super::args::{FilterArgs, JobArgs, QueueArgs};
use super::{CliError, Outcome, Progress, draw_all, open_site, parsed_formula, read_formula, show_site, warn_all};

/// The most names that an error repeats, and for which similar ones are looked for.
pub(super) const MAX_UNKNOWN: usize = 10;

/// A queue whose jobs are read, and the formula for which they are.
pub(super) struct ReadQueue<'a> {
    pub(super) site: &'a Site,
    pub(super) source: &'a FormulaText,
    pub(super) submitted: &'a FormulaSubmission<'a>,
    pub(super) table: JobTable,
    pub(super) schema: Schema,
    /// The formula, compiled for the names of the site and the jobs.
    pub(super) program: Program,
    /// The findings about the text of the formula and its names.
    pub(super) findings: Vec<Diagnostic>,
}

/// Reads the formula and the jobs with `read`, draws the findings that are `shown`, and passes the queue to `run`, unless
/// the formula is not arithmetic.
pub(super) fn with_queue(
    arguments: &QueueArgs,
    is_human: bool,
    read: impl FnOnce(&Site, &Formula) -> Result<SiteJobs, SiteError>,
    shown: impl Fn(&Diagnostic) -> bool,
    run: impl FnOnce(ReadQueue<'_>) -> Result<Outcome, CliError>,
) -> Result<Outcome, CliError> {
    let site = open_site(&arguments.site, &arguments.formula, arguments.threshold)?;
    let source = read_formula(&arguments.formula, Some(&site))?;
    let submitted = source.submitted(arguments.site.numbers);
    let Some(formula) = parsed_formula(&source, &submitted) else { return Ok(Outcome::Findings) };
    show_site(&arguments.site, &site, is_human);
    warn_all(site.warnings());
    let progress = Progress::start("reading the jobs");
    let jobs = read(&site, formula)?;
    drop(progress);
    warn_all(&jobs.warnings);
    let findings = site.lint(formula, &jobs);
    draw_submitted(&source, &submitted, findings.iter().filter(|found| shown(found)).cloned());
    let Ok(program) = formula.compile(&jobs.schema) else { return Ok(Outcome::Findings) };
    let SiteJobs { table, schema, .. } = jobs;
    run(ReadQueue { site: &site, source: &source, submitted: &submitted, table, schema, program, findings })
}

/// Draws findings on the parsed formula under the text that was submitted.
pub(super) fn draw_submitted(
    source: &FormulaText,
    submitted: &FormulaSubmission<'_>,
    findings: impl IntoIterator<Item = Diagnostic>,
) {
    let findings: Vec<Diagnostic> = findings.into_iter().map(|found| submitted.in_source(found)).collect();
    draw_all(source, &findings);
}

impl FilterArgs {
    /// The filter of a report.
    pub(super) fn filter(&self) -> JobFilter<'_> {
        JobFilter { jobs: &self.job, entities: &self.entity, queues: &self.queue_name }
    }

    /// The rows of the jobs to show, in their order. Warns of what matches no job.
    ///
    /// # Errors
    /// None of the jobs, entities and queues that are given exists.
    pub(super) fn select(
        &self,
        rows: Vec<RankedRow>,
        site: &Site,
        table: &JobTable,
    ) -> Result<Vec<RankedRow>, CliError> {
        let filter = self.filter();
        if filter.is_empty() {
            return Ok(rows);
        }
        let tree = if filter.entities.is_empty() { None } else { site.tree_of_jobs(table)? };
        let filtered = filter.select(rows, table, tree.as_ref());
        if !filtered.has_known && !self.queue_name.iter().any(|name| site.has_queue(name)) {
            return Err(none_exists(filtered.unmatched));
        }
        warn_all(&filtered.unmatched);
        Ok(filtered.rows)
    }
}

/// The error where nothing exists that is asked for.
pub(super) fn none_exists(mut unknown: Vec<String>) -> CliError {
    let more = unknown.len().saturating_sub(MAX_UNKNOWN);
    unknown.truncate(MAX_UNKNOWN);
    if more > 0 {
        unknown.push(format!("and {more} more names that do not exist"));
    }
    SiteError::Missing(unknown.join("; ")).into()
}

impl JobArgs {
    /// The rows of the jobs, each once, in the order in which they are given. Warns of those that do not exist.
    ///
    /// # Errors
    /// None of them exists.
    pub(super) fn rows(&self, table: &JobTable) -> Result<Vec<usize>, CliError> {
        let FoundJobs { rows, unmatched } = table.find_all_jobs(&self.job);
        if rows.is_empty() {
            return Err(none_exists(unmatched));
        }
        warn_all(&unmatched);
        Ok(rows)
    }
}
