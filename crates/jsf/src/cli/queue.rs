//! What the commands that rank a queue have in common.

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::jobs::FoundJobs;
use job_sort_formula::{JobTable, Ranking};
use jsf_openpbs::check::{FAILURE_CODES, counted};
use jsf_openpbs::submission::FormulaSubmission;
use jsf_site::{DescribedJob, FormulaText, RankRequest, RankedQueue, Site, SiteError};

use crate::cli::args::{FilterArgs, JobArgs, QueueArgs};
use crate::cli::warnings::Warnings;
use crate::cli::{
    CliError, Outcome, Progress, draw_all, open_site, parsed_formula, read_formula, show_site, warn, warn_all,
};
use crate::commands::rank::answer::RankedRow;
use crate::commands::rank::filter::JobFilter;

/// The most names that an error repeats, and for which similar ones are looked for.
pub(crate) const MAX_UNKNOWN: usize = 10;

/// A ranked queue, and the formula that ranks it.
pub(crate) struct RankedByFormula<'a> {
    pub(crate) site: &'a Site,
    pub(crate) source: &'a FormulaText,
    pub(crate) submitted: &'a FormulaSubmission<'a>,
    pub(crate) queue: RankedQueue,
    pub(crate) warnings: Warnings,
    /// The rows of the jobs that the command is about.
    pub(crate) rows: Vec<usize>,
}

/// What a command wants of a ranking.
pub(crate) struct Wanted<'a> {
    pub(crate) is_document: bool,
    /// The jobs that the command is about.
    pub(crate) jobs: Option<&'a JobArgs>,
    /// A job that is only described, which the command is about too.
    pub(crate) described: Option<DescribedJob>,
    /// How many ranks are determined at most.
    pub(crate) limit: usize,
    /// Whether the command shows where the inputs come from.
    pub(crate) origins: bool,
    /// Which findings are drawn on standard error; all of a formula that cannot be ranked.
    pub(crate) shown: fn(&Diagnostic) -> bool,
}

/// Ranks the jobs and passes the queue to `run`, unless the formula is not arithmetic. What is found in the jobs and the
/// formula is shown before they are ranked.
pub(crate) fn with_ranked_queue(
    arguments: &QueueArgs,
    wanted: &Wanted<'_>,
    run: impl FnOnce(RankedByFormula<'_>) -> Result<Outcome, CliError>,
) -> Result<Outcome, CliError> {
    let site = open_site(&arguments.site, &arguments.formula, arguments.threshold)?;
    let source = read_formula(&arguments.formula, Some(&site))?;
    let submitted = source.submitted(arguments.site.numbers);
    let Some(formula) = parsed_formula(&source, &submitted) else { return Ok(Outcome::Findings) };
    show_site(&arguments.site, &site, wanted.is_document);
    let mut warnings = Warnings::new(wanted.is_document);
    warnings.add_site(&site, site.warnings_for(&formula.names()));
    let request = RankRequest { record_origins: wanted.origins, ..RankRequest::from(formula) };
    let progress = Progress::start("reading the jobs");
    let mut jobs = site.read_for(&request)?;
    drop(progress);
    warnings.show(&std::mem::take(&mut jobs.warnings));
    let drawn = jobs.findings.iter().filter(|found| jobs.program.is_none() || (wanted.shown)(found));
    draw_submitted(&source, &submitted, drawn.cloned());
    if jobs.program.is_none() {
        return Ok(Outcome::Findings);
    }
    let mut rows = Vec::new();
    if let Some(named) = wanted.jobs.filter(|arguments| !arguments.job.is_empty()) {
        rows = named.rows(&jobs.table)?;
        warn_of_job_id(&source.text, &named.job, &jobs.table);
    }
    if let Some(described) = &wanted.described {
        rows.push(site.add_described(&mut jobs, described)?);
    }
    let progress = Progress::start("ranking the jobs");
    let queue = site.rank_read(jobs, wanted.limit)?;
    drop(progress);
    warnings.show(&queue.warnings);
    run(RankedByFormula { site: &site, source: &source, submitted: &submitted, queue, warnings, rows })
}

/// Warns if the formula is the number of a job, which was to be one more `--job`.
fn warn_of_job_id(formula: &str, given: &[String], table: &JobTable) {
    let formula = formula.trim();
    if formula.bytes().all(|byte| byte.is_ascii_digit()) && table.find_jobs(formula).is_ok() {
        let jobs = given.join(",");
        warn(format_args!(
            "`{formula}` is taken as the formula, and a job has this number; for both: --job {jobs},{formula}"
        ));
    }
}

/// What a ranking says of its formula: findings if it cannot work, fails for every job, or failed under `--on-error fail`.
pub(crate) fn outcome(findings: &[Diagnostic], ranking: &Ranking) -> Outcome {
    let count = ranking.scores().count();
    let cannot_work = findings.iter().any(|found| found.severity == Severity::Error)
        || (count > 0 && ranking.error_count() == count)
        || ranking.failure().is_some();
    if cannot_work { Outcome::Findings } else { Outcome::Fine }
}

/// Checks the formula of a command that does not rank with it: draws the errors with which it cannot work, and warns of the jobs
/// for which it fails.
pub(crate) fn check(site: &Site, source: &FormulaText, submitted: &FormulaSubmission<'_>) -> Result<Outcome, CliError> {
    let checked = site.check(submitted)?;
    let mut errors = checked.findings;
    errors.retain(|found| found.severity == Severity::Error && !FAILURE_CODES.contains(&found.code));
    draw_all(source, &errors);
    if !errors.is_empty() {
        return Ok(Outcome::Findings);
    }
    if let Some(jobs) = checked.jobs.filter(|jobs| jobs.errors > 0) {
        warn(format_args!("the formula fails for {} of {} jobs; `jsf check` says why", jobs.errors, jobs.total));
    }
    Ok(Outcome::Fine)
}

/// Draws findings on the parsed formula under the text that was submitted.
pub(crate) fn draw_submitted(
    source: &FormulaText,
    submitted: &FormulaSubmission<'_>,
    findings: impl IntoIterator<Item = Diagnostic>,
) {
    let findings: Vec<Diagnostic> = findings.into_iter().map(|found| submitted.in_source(found)).collect();
    draw_all(source, &findings);
}

impl FilterArgs {
    /// The filter of a report.
    pub(crate) fn filter(&self) -> JobFilter<'_> {
        JobFilter { jobs: &self.job, entities: &self.entities.entity, queues: &self.queue_name }
    }
}

/// The rows of the jobs to show, in their order. Warns of what matches no job.
///
/// # Errors
/// None of the jobs, entities and queues of the filter exists.
pub(crate) fn select_rows(
    filter: JobFilter<'_>,
    rows: Vec<RankedRow>,
    site: &Site,
    table: &JobTable,
) -> Result<Vec<RankedRow>, CliError> {
    if filter.is_empty() {
        return Ok(rows);
    }
    let tree = if filter.entities.is_empty() { None } else { site.tree_of_jobs(table)? };
    let filtered = filter.select(rows, table, tree.as_ref());
    if !filtered.has_known && !filter.queues.iter().any(|name| site.has_queue(name)) {
        return Err(none_exists(filtered.unmatched).into());
    }
    warn_all(&filtered.unmatched);
    Ok(filtered.rows)
}

/// The error if nothing that is asked for exists.
pub(crate) fn none_exists(mut unknown: Vec<String>) -> SiteError {
    let more = unknown.len().saturating_sub(MAX_UNKNOWN);
    unknown.truncate(MAX_UNKNOWN);
    if more > 0 {
        let names = counted(more, "more name that does not exist", "more names that do not exist");
        unknown.push(format!("and {names}"));
    }
    SiteError::Missing(unknown.join("; ").into())
}

impl JobArgs {
    /// The rows of the jobs, each once, in the order in which they are given. Warns of those that do not exist.
    ///
    /// # Errors
    /// None of them exists.
    fn rows(&self, table: &JobTable) -> Result<Vec<usize>, SiteError> {
        let FoundJobs { rows, unmatched } = table.find_all_jobs(&self.job);
        if rows.is_empty() {
            return Err(none_exists(unmatched));
        }
        warn_all(&unmatched);
        Ok(rows)
    }
}
