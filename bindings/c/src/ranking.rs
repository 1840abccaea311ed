//! A whole site, ranked as the command `jsf rank` does.

use std::ffi::{CString, c_char};
use std::ptr;

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Message, Span};
use jsf_site::RankedQueue;
use jsf_site::Site;

use crate::argument::{borrow, free, out, required_text, text};
use crate::error::{answered, c_text, guarded, jsf_error, jsf_failure, jsf_status, lines, site_error};

/// The jobs of a site in the order in which its scheduler considers them. It is immutable and may be read by several threads.
/// Free it with `jsf_ranking_free`.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub struct jsf_ranking {
    jobs: Vec<Job>,
    failures: usize,
    formula: CString,
    undefined: Vec<CString>,
    warnings: CString,
}

#[derive(Debug)]
struct Job {
    id: CString,
    entity: CString,
    score: f64,
    exact: f64,
    error: Option<(jsf_failure, Box<str>, Span)>,
}

/// One job of a ranking.
#[repr(C)]
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy)]
pub struct jsf_ranked_job {
    /// The id of the job, such as `184127.kestrel`; UTF-8, ended by a NUL. It belongs to the ranking and lives as long.
    pub id: *const c_char,
    /// The entity to which its usage is charged, by default the user; UTF-8, ended by a NUL. It belongs to the ranking and
    /// lives as long.
    pub entity: *const c_char,
    /// The value that is sorted on: `exact` rounded to OpenPBS's `float`, or 0 or -1 if the job failed.
    pub score: f64,
    /// The result of the formula before it is rounded, as `jsf_program_score` returns it; NaN if the job failed, and perhaps
    /// if it did not: see `failed`.
    pub exact: f64,
    /// 0, or the `jsf_failure` if the job failed.
    pub failed: u8,
}

impl jsf_ranking {
    fn new(formula: &str, queue: &RankedQueue, of_site: &[Message]) -> Self {
        let jobs = queue.ranking.order().iter().filter_map(|&row| {
            let score = queue.ranking.score(row)?;
            Some(Job {
                id: c_text(queue.table.id(row)),
                entity: c_text(queue.table.entity(row)),
                score: score.value,
                exact: score.unrounded.as_ref().map_or(f64::NAN, |result| result.to_f64()),
                error: score
                    .unrounded
                    .err()
                    .map(|error| (jsf_failure::from_score_error(error), error.to_string().into(), error.span())),
            })
        });
        let undefined = queue.program.undefined().iter().map(|(name, _)| &**name);
        let mut warnings: Vec<Message> = of_site.iter().chain(&queue.warnings).cloned().collect();
        warnings
            .extend(undefined.clone().map(|name| format!("the formula uses `{name}`, which is not defined").into()));
        warnings.extend(failure_warning(queue).map(Message::from));
        Self {
            jobs: jobs.collect(),
            failures: queue.ranking.error_count(),
            formula: c_text(formula),
            undefined: undefined.map(c_text).collect(),
            warnings: lines(&warnings),
        }
    }
}

/// How many jobs fail, and why the first one does.
fn failure_warning(queue: &RankedQueue) -> Option<String> {
    let (row, error) = queue.ranking.scores().errors().next()?;
    let jobs = match queue.ranking.error_count() {
        1 => "1 job".to_owned(),
        count => format!("{count} jobs"),
    };
    Some(format!("the formula fails for {jobs}, first for `{}`: {error}", queue.table.id(row)))
}

/// Ranks the queue of a site as `jsf rank --site PATH` does. `path` is a folder or a tar archive with the scheduler's files, as
/// `jsf capture` or `pbs_snapshot` make it. `formula` is the text of the formula; a null pointer with length 0 takes the one in
/// force at the site, and an empty text that is given is an error. The lengths are in bytes, or `JSF_NUL_TERMINATED`. On success
/// `*ranking` is to be freed with `jsf_ranking_free`; read `jsf_ranking_warnings` then. The jobs are read and scored by several
/// threads.
///
/// Errors: `JSF_STATUS_DOCUMENT`, `JSF_STATUS_SYNTAX` (with a place), `JSF_STATUS_NOT_ARITHMETIC`, `JSF_STATUS_ARGUMENT`,
/// `JSF_STATUS_UTF8`; `*ranking` is null then. Any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_site_rank(
    path: *const c_char,
    path_length: usize,
    formula: *const c_char,
    formula_length: usize,
    ranking: *mut *mut jsf_ranking,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a pointer to a handle
        let out = unsafe { out(ranking, "ranking") }?;
        out.write(ptr::null_mut());
        // SAFETY: the caller passes null or texts of these lengths
        let (path, given) =
            unsafe { (required_text(path, path_length, "path")?, given_formula(formula, formula_length)?) };
        let site = Site::open(path).map_err(|error| site_error(&error))?;
        let formula = match given {
            Some(text) => text.to_owned(),
            None => site.formula_text().map_err(|error| site_error(&error))?.text,
        };
        let parsed = Formula::parse(&formula).map_err(|error| {
            let finding = error.diagnostic();
            jsf_error::new(jsf_status::Syntax, finding.message).at(finding.span).because(jsf_failure::Syntax)
        })?;
        let queue = site.rank(&parsed).map_err(|error| site_error(&error))?;
        out.write(Box::into_raw(Box::new(jsf_ranking::new(&formula, &queue, site.warnings()))));
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// The formula that is given; `None` for the one in force.
///
/// # Safety
/// As for [`text`].
unsafe fn given_formula<'a>(formula: *const c_char, length: usize) -> Result<Option<&'a str>, jsf_error> {
    if !formula.is_null() {
        // SAFETY: as the caller of this function promises
        return unsafe { text(formula, length, "formula") }.map(Some);
    }
    match length {
        0 => Ok(None),
        _ => Err(jsf_error::argument("`formula` is null, which takes the formula in force only with the length 0")),
    }
}

/// The number of jobs that the scheduler considers; 0 if `ranking` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_ranking_count(ranking: *const jsf_ranking) -> usize {
    // SAFETY: the caller passes null or a ranking of this library
    answered(0, || Ok(unsafe { borrow(ranking, "ranking") }?.jobs.len()))
}

/// Writes the job at `place`, from 0, the first one that the scheduler considers, to `*job`. Returns false, and writes nothing,
/// beyond the last one or if an argument is null or misaligned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_ranking_job(ranking: *const jsf_ranking, place: usize, job: *mut jsf_ranked_job) -> bool {
    answered(false, || {
        // SAFETY: the caller passes null or a ranking of this library, and a structure
        let (ranking, job) = unsafe { (borrow(ranking, "ranking")?, out(job, "job")?) };
        let Some(Job { id, entity, score, exact, error }) = ranking.jobs.get(place) else { return Ok(false) };
        let (id, entity) = (id.as_ptr(), entity.as_ptr());
        let failed = error.as_ref().map_or(jsf_failure::None, |(failure, ..)| *failure) as u8;
        job.write(jsf_ranked_job { id, entity, score: *score, exact: *exact, failed });
        Ok(true)
    })
}

/// The number of waiting jobs for which the formula fails. Those that the scheduler does not consider, because of the site's
/// threshold for instance, are counted too, and are not in the ranking. 0 if `ranking` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_ranking_failures(ranking: *const jsf_ranking) -> usize {
    // SAFETY: the caller passes null or a ranking of this library
    answered(0, || Ok(unsafe { borrow(ranking, "ranking") }?.failures))
}

/// Says why the job at `place` failed: `*reason` becomes an error with the text of Python's exception and the place in
/// `jsf_ranking_formula`, to be freed with `jsf_error_free`, or null if the job did not fail.
///
/// Errors: `JSF_STATUS_ARGUMENT` beyond the last job; `*reason` is null then. Any thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_ranking_error_of_job(
    ranking: *const jsf_ranking,
    place: usize,
    reason: *mut *mut jsf_error,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or a pointer to a handle
        let reason = unsafe { out(reason, "reason") }?;
        reason.write(ptr::null_mut());
        // SAFETY: the caller passes null or a ranking of this library
        let jobs = &unsafe { borrow(ranking, "ranking") }?.jobs;
        let beyond = || jsf_error::argument(format!("the ranking has {} jobs, but none at {place}", jobs.len()));
        if let Some((failure, message, span)) = &jobs.get(place).ok_or_else(beyond)?.error {
            reason.write(jsf_error::evaluation(*failure, &**message, *span).into_handle());
        }
        Ok(())
    };
    // SAFETY: the caller passes null or a pointer to a handle
    unsafe { guarded(error, work) }
}

/// The text of the formula by which the jobs are ranked, ended by a NUL. It belongs to the ranking and lives as long. Null if
/// `ranking` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_ranking_formula(ranking: *const jsf_ranking) -> *const c_char {
    // SAFETY: the caller passes null or a ranking of this library
    answered(ptr::null(), || Ok(unsafe { borrow(ranking, "ranking") }?.formula.as_ptr()))
}

/// The name at `index`, from 0, of those that the formula uses and the site does not define; null beyond the last one, see
/// `jsf_program_undefined`. It belongs to the ranking and lives as long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_ranking_undefined(ranking: *const jsf_ranking, index: usize) -> *const c_char {
    // SAFETY: the caller passes null or a ranking of this library
    let names =
        || Ok(unsafe { borrow(ranking, "ranking") }?.undefined.get(index).map_or(ptr::null(), |name| name.as_ptr()));
    answered(ptr::null(), names)
}

/// What was wrong or missing in the site's files, which names are undefined, and for how many jobs the formula fails:
/// sentences, each ended by a newline, and a NUL at the end; empty if there is nothing. It belongs to the ranking and lives as
/// long. Null if `ranking` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_ranking_warnings(ranking: *const jsf_ranking) -> *const c_char {
    // SAFETY: the caller passes null or a ranking of this library
    answered(ptr::null(), || Ok(unsafe { borrow(ranking, "ranking") }?.warnings.as_ptr()))
}

/// Frees a ranking. Null is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_ranking_free(ranking: *mut jsf_ranking) {
    // SAFETY: the caller passes null or a ranking of this library that was not freed
    unsafe { free(ranking) }
}
