//! What the commands that rank a queue have in common.

use job_sort_formula::diagnostic::Severity;
use job_sort_formula::jobs::FoundJobs;
use job_sort_formula::{Formula, JobTable};
use jsf_openpbs::check::FAILURE_CODES;
use jsf_site::{JobsToRank, RankRequest, RankedQueue, Rule, Site, SiteError};

use crate::cli::args::{FilterArgs, JobArgs, QueueArgs};
use crate::cli::messages::Warnings;
use crate::cli::{
    CliError, GivenFormula, Outcome, Progress, draw_all, read_formula, show_site, warn, warn_all,
};
use crate::job_filter::JobFilter;
use crate::view::words::{clock_time, count};

/// The most names that an error repeats, and for which similar ones are looked for.
pub(crate) const MAX_UNKNOWN: usize = 10;

/// The site and the formula of a command that ranks its queue.
pub(crate) struct OpenedQueue {
    pub(crate) site: Site,
    pub(crate) given: GivenFormula,
    pub(crate) formula: Formula,
}

impl OpenedQueue {
    /// Opens the site and reads the formula, then says what was found there; of a formula that does
    /// not parse only its finding is shown.
    pub(crate) fn open(
        arguments: &QueueArgs,
        is_document: bool,
    ) -> Result<(Self, Warnings), CliError> {
        let site = arguments.open()?;
        let source = read_formula(&arguments.formula, Some(&site))?;
        let given = GivenFormula::new(source, site.numbers());
        let formula = given.parsed()?.clone();
        show_site(&arguments.site, &site, is_document);
        let mut warnings = Warnings::new(is_document);
        warnings.add_site(&site, &site.warnings_for(&formula.names()));
        let opened = Self {
            site,
            given,
            formula,
        };
        Ok((opened, warnings))
    }

    /// Reads the jobs, and shows what is found in them and in the formula: the findings of this
    /// severity at least, and all if the formula is not arithmetic.
    ///
    /// # Errors
    /// The jobs cannot be read, or the formula is not arithmetic.
    pub(crate) fn read_jobs(
        &self,
        request: &RankRequest<'_>,
        least_drawn: Option<Severity>,
        warnings: &mut Warnings,
    ) -> Result<JobsToRank, CliError> {
        let progress = Progress::start("reading the jobs");
        let mut read = self.site.read_jobs_to_rank(request)?;
        drop(progress);
        warnings.show(&std::mem::take(&mut read.jobs.warnings));
        let is_arithmetic = read.program.is_some();
        let mut drawn = read.findings.clone();
        drawn.retain(|found| !is_arithmetic || least_drawn.is_some_and(|it| found.severity >= it));
        self.given.draw(drawn);
        if is_arithmetic {
            Ok(read)
        } else {
            Err(CliError::Findings)
        }
    }

    /// Ranks the jobs.
    pub(crate) fn rank(
        &self,
        read: JobsToRank,
        warnings: &mut Warnings,
    ) -> Result<RankedQueue, CliError> {
        let progress = Progress::start("ranking the jobs");
        let mut queue = self.site.rank_read_jobs(read)?;
        drop(progress);
        if let Some(at) = self.site.priorities_at() {
            queue.rules.push(Rule::new("ages at", clock_time(at)));
        }
        warnings.show(&queue.warnings);
        Ok(queue)
    }

    /// The rows of jobs, each once, in the order in which they are given; none if none is. Warns of
    /// those that do not exist.
    ///
    /// # Errors
    /// None of them exists.
    pub(crate) fn find_or_warn(
        &self,
        named: &JobArgs,
        table: &JobTable,
    ) -> Result<Vec<usize>, CliError> {
        let given = job_ids(&named.job, &self.site);
        let FoundJobs { rows, unmatched } = table.find_all_jobs(&given);
        let unmatched = with_hints(unmatched, &given, &self.site, table);
        if rows.is_empty() && !given.is_empty() {
            return Err(unknown_jobs_error(unmatched).into());
        }
        warn_all(&unmatched);
        warn_of_job_id(self.given.text(), &named.job, table);
        Ok(rows)
    }
}

/// Warns if the formula is the number of a job, which was to be one more `--job`.
fn warn_of_job_id(formula: &str, given: &[String], table: &JobTable) {
    let formula = formula.trim();
    if !given.is_empty()
        && formula.bytes().all(|byte| byte.is_ascii_digit())
        && table.find_jobs(formula).is_ok()
    {
        let jobs = given.join(",");
        warn(format_args!(
            "`{formula}` is taken as the formula, and a job has this number; for both: --job {jobs},{formula}"
        ));
    }
}

/// Checks the formula of a command that does not rank with it: draws the errors with which it
/// cannot work, and warns of the jobs for which it fails.
pub(crate) fn check_and_report(site: &Site, given: &GivenFormula) -> Result<Outcome, CliError> {
    let checked = site.check(&given.submitted)?;
    let mut errors = checked.findings;
    errors
        .retain(|found| found.severity == Severity::Error && !FAILURE_CODES.contains(&found.code));
    draw_all(&given.source, &errors);
    if !errors.is_empty() {
        return Ok(Outcome::Findings);
    }
    if let Some(jobs) = checked.jobs
        && jobs.errors > 0
    {
        warn(format_args!(
            "the formula fails for {} of {} jobs; `jsf check` says why",
            jobs.errors, jobs.total
        ));
    }
    Ok(Outcome::Fine)
}

impl FilterArgs {
    /// The filter of a report.
    pub(crate) fn filter(&self) -> JobFilter<'_> {
        JobFilter {
            jobs: &self.jobs.job,
            entities: &self.entities.entity,
            queues: &self.queue_name,
        }
    }
}

/// The rows of the jobs to show, in their order. Warns of what matches no job.
///
/// # Errors
/// None of the jobs, entities and queues of the filter exists.
pub(crate) fn select_rows_or_warn(
    filter: JobFilter<'_>,
    rows: Vec<usize>,
    site: &Site,
    table: &JobTable,
) -> Result<Vec<usize>, CliError> {
    if filter.is_empty() {
        return Ok(rows);
    }
    let tree = match filter.entities {
        [] => None,
        _ => site.tree_of_jobs(table)?,
    };
    let jobs = job_ids(filter.jobs, site);
    let filter = JobFilter {
        jobs: &jobs,
        ..filter
    };
    let mut filtered = filter.select(rows, table, tree.as_ref());
    filtered.unmatched = with_hints(filtered.unmatched, &jobs, site, table);
    if !filtered.has_known && !filter.queues.iter().any(|name| site.has_queue(name)) {
        return Err(unknown_jobs_error(filtered.unmatched).into());
    }
    warn_all(&filtered.unmatched);
    Ok(filtered.rows)
}

/// The ids as the jobs of the site have them.
fn job_ids(given: &[String], site: &Site) -> Vec<String> {
    given.iter().map(|id| site.job_id(id).to_owned()).collect()
}

/// What is said of ids that no job has: that the job has ended, or how jobs are called.
fn with_hints(
    mut unmatched: Vec<String>,
    given: &[String],
    site: &Site,
    table: &JobTable,
) -> Vec<String> {
    let is_one = unmatched.len() == 1;
    for message in &mut unmatched {
        let mut ids = given.iter();
        let id = ids.find(|id| message.starts_with(&format!("no job is called `{id}`")));
        if let Some(id) = id
            && let Some(ended) = site.ended_job(id)
        {
            *message = ended;
        } else if is_one && id.is_some() && !message.ends_with('?') && !table.is_empty() {
            let jobs = count(table.len(), "job");
            *message += &format!("; there are {jobs}, such as `{}`", table.id(0));
        }
    }
    unmatched
}

/// The error if nothing that is asked for exists.
pub(crate) fn unknown_jobs_error(mut unknown: Vec<String>) -> SiteError {
    let more = unknown.len().saturating_sub(MAX_UNKNOWN);
    unknown.truncate(MAX_UNKNOWN);
    if more > 0 {
        unknown.push(format!("and {}", count(more, "more name")));
    }
    SiteError::Missing(unknown.join("; ").into())
}
