//! What the commands that rank a queue have in common.

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::jobs::FoundJobs;
use job_sort_formula::{Formula, JobTable};
use jsf_openpbs::check::FAILURE_CODES;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_openpbs::words::counted;
use jsf_site::{
    DescribedJob, FormulaText, JobsToRank, RankRequest, RankedQueue, Rule, Site, SiteError,
};

use crate::cli::args::{FilterArgs, JobArgs, QueueArgs};
use crate::cli::messages::Warnings;
use crate::cli::{
    CliError, Outcome, Progress, draw_all, parsed_formula, read_formula, show_site, warn, warn_all,
};
use crate::job_filter::JobFilter;
use crate::view::words::{clock_time, count};

/// The most names that an error repeats, and for which similar ones are looked for.
pub(crate) const MAX_UNKNOWN: usize = 10;

/// The site and the formula of a command that ranks its queue.
pub(crate) struct OpenedQueue {
    pub(crate) site: Site,
    pub(crate) source: FormulaText,
    pub(crate) formula: Formula,
    /// Whether people read the answer.
    is_document: bool,
}

impl OpenedQueue {
    /// Opens the site and reads the formula, then says what was found there; of a formula that does
    /// not parse only its finding is shown.
    pub(crate) fn open(arguments: &QueueArgs, is_document: bool) -> Result<Self, CliError> {
        let site = arguments
            .site
            .open(&arguments.formula, arguments.threshold)?;
        let source = read_formula(&arguments.formula, Some(&site))?;
        let formula = parsed_formula(&source, &source.submitted(site.numbers()))?.clone();
        show_site(&arguments.site, &site, is_document);
        Ok(Self {
            site,
            source,
            formula,
            is_document,
        })
    }

    /// The formula as Python reads it.
    pub(crate) fn submitted(&self) -> FormulaSubmission<'_> {
        self.source.submitted(self.site.numbers())
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
    ) -> Result<QueueToRank<'_>, CliError> {
        let mut warnings = Warnings::new(self.is_document);
        let of_names = self.site.warnings_for(&request.formula.names());
        warnings.add_site(&self.site, &of_names);
        let progress = Progress::start("reading the jobs");
        let mut read = self.site.read_jobs_to_rank(request)?;
        drop(progress);
        warnings.show(&std::mem::take(&mut read.jobs.warnings));
        let mut drawn = read.findings.clone();
        if read.program.is_some() {
            match least_drawn {
                Some(least) => drawn.retain(|found| found.severity >= least),
                None => drawn.clear(),
            }
        }
        draw_submitted(&self.source, &self.submitted(), drawn);
        if read.program.is_none() {
            return Err(CliError::Findings);
        }
        Ok(QueueToRank {
            opened: self,
            read,
            warnings,
        })
    }
}

/// The queue of a command, read to be ranked.
pub(crate) struct QueueToRank<'a> {
    opened: &'a OpenedQueue,
    read: JobsToRank,
    warnings: Warnings,
}

impl QueueToRank<'_> {
    /// The rows of jobs, each once, in the order in which they are given; none if none is. Warns of
    /// those that do not exist.
    ///
    /// # Errors
    /// None of them exists.
    pub(crate) fn find_or_warn(&self, named: &JobArgs) -> Result<Vec<usize>, CliError> {
        if named.job.is_empty() {
            return Ok(Vec::new());
        }
        let OpenedQueue { site, .. } = self.opened;
        let given: Vec<&str> = named.job.iter().map(|id| site.job_id(id)).collect();
        let FoundJobs { rows, unmatched } = self.read.jobs.table.find_all_jobs(&given);
        let unmatched = with_hints(unmatched, &given, site, &self.read.jobs.table);
        if rows.is_empty() {
            return Err(unknown_jobs_error(unmatched).into());
        }
        warn_all(&unmatched);
        warn_of_job_id(&self.opened.source.text, &named.job, &self.read.jobs.table);
        Ok(rows)
    }

    /// Adds a job that is only described, and returns its row.
    pub(crate) fn add(&mut self, described: &DescribedJob) -> Result<usize, CliError> {
        Ok(self.opened.site.add_described(&mut self.read, described)?)
    }

    /// Ranks the jobs.
    pub(crate) fn rank_and_warn(mut self) -> Result<(RankedQueue, Warnings), CliError> {
        let progress = Progress::start("ranking the jobs");
        let mut queue = self.opened.site.rank_read_jobs(self.read)?;
        drop(progress);
        let at = self.opened.site.priorities_at();
        if let Some(at) = at {
            queue.rules.push(Rule::new("ages at", clock_time(at)));
        }
        self.warnings.show(&queue.warnings);
        Ok((queue, self.warnings))
    }
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

/// Checks the formula of a command that does not rank with it: draws the errors with which it
/// cannot work, and warns of the jobs for which it fails.
pub(crate) fn check_and_report(
    site: &Site,
    source: &FormulaText,
    submitted: &FormulaSubmission<'_>,
) -> Result<Outcome, CliError> {
    let checked = site.check(submitted)?;
    let mut errors = checked.findings;
    errors
        .retain(|found| found.severity == Severity::Error && !FAILURE_CODES.contains(&found.code));
    draw_all(source, &errors);
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

/// Draws findings on the parsed formula under the text that was submitted.
pub(crate) fn draw_submitted(
    source: &FormulaText,
    submitted: &FormulaSubmission<'_>,
    findings: impl IntoIterator<Item = Diagnostic>,
) {
    let mut placed = Vec::new();
    for found in findings {
        placed.push(submitted.in_source(found));
    }
    draw_all(source, &placed);
}

impl FilterArgs {
    /// The filter of a report.
    pub(crate) fn filter(&self) -> JobFilter<'_> {
        JobFilter {
            jobs: &self.job,
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
    let tree = if filter.entities.is_empty() {
        None
    } else {
        site.tree_of_jobs(table)?
    };
    let jobs: Vec<String> = filter
        .jobs
        .iter()
        .map(|id| site.job_id(id).to_owned())
        .collect();
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

/// What is said of ids that no job has: that the job has ended, or how jobs are called.
fn with_hints<S: AsRef<str>>(
    unmatched: Vec<String>,
    given: &[S],
    site: &Site,
    table: &JobTable,
) -> Vec<String> {
    let mut hinted = Vec::new();
    let has_several = unmatched.len() > 1;
    for message in unmatched {
        let mut ids = given.iter().map(AsRef::as_ref);
        let id = ids.find(|id| message.starts_with(&format!("no job is called `{id}`")));
        if let Some(id) = id
            && let Some(ended) = site.ended_job(id)
        {
            hinted.push(ended);
        } else if has_several || id.is_none() || message.ends_with('?') || table.is_empty() {
            hinted.push(message);
        } else {
            let jobs = count(table.len(), "job");
            hinted.push(format!(
                "{message}; there are {jobs}, such as `{}`",
                table.id(0)
            ));
        }
    }
    hinted
}

/// The error if nothing that is asked for exists.
pub(crate) fn unknown_jobs_error(mut unknown: Vec<String>) -> SiteError {
    let more = unknown.len().saturating_sub(MAX_UNKNOWN);
    unknown.truncate(MAX_UNKNOWN);
    if more > 0 {
        let names = counted(
            more,
            "more name that does not exist",
            "more names that do not exist",
        );
        unknown.push(format!("and {names}"));
    }
    SiteError::Missing(unknown.join("; ").into())
}
