//! Whole questions about a site, answered as the commands of `jsf` do.

use std::ffi::c_char;

use jsf::answers::AnswerError;
use jsf::requests::run;
use jsf_site::SiteError;

use crate::argument::{NUL_TERMINATED, required_text, text};
use crate::error_handles::{created_text, in_c, jsf_error, jsf_failure, jsf_status};

/// Asks a whole question about a site and gets the JSON that `jsf COMMAND --format json` writes.
/// `command` is `rank`, `check`, `explain`, `trajectory`, `compare`, `shares`, `cycle`, `replay`,
/// `simulate` or `fit`, ended by a NUL. `request` is JSON: `{"site":"PATH","formula":"ncpus"}`,
/// where the path is that of a folder or a tar archive with the scheduler's files, as `jsf capture`
/// or `pbs_snapshot` make it; without `site` there are no files, with which a formula can be checked
/// and a log simulated. Without `formula` the one in force is taken. `options` may have `policy`, `rules`, `numbers`,
/// `threshold` and `python`; `rank` takes `inputs`, `explain` takes `jobs` and `to`, `trajectory`
/// takes `jobs` and `hours`, `compare` takes `old` and `new` instead of `formula`, `rank` and
/// `compare` take `jobs`, `entities`, `queues` and `top`, `shares` takes `policy`, `cycle` takes `jobs`
/// and `processors`, and `replay` takes `log`. `simulate` takes
/// `workload` (a path, or a list), `processors`, `goals` (a file), `usage`, `backfill`, `warm_up`,
/// `decay`, `decay_factor`, `cancelled`, `overrun`, `processors_of`, `from` and `to`; `fit` takes
/// `template`, and `wishes` and `prefer`, or these and `old`, `held_out` and `force`; and `seed` and
/// `evaluations`. `*json` becomes the answer, ended by a NUL,
/// to be freed with `jsf_string_free`; its `warnings`, where there are some, also say what the
/// command writes to standard error. That of `compare` has the members `old`, `new`, `jobs`, `summary`,
/// `fairness`, `changes`, `entities`, `groups`, `queues`, `sizes` and `decides`. The jobs are read and scored by several threads.
///
/// Errors: `JSF_STATUS_DOCUMENT`, `JSF_STATUS_SYNTAX` (with a place), `JSF_STATUS_NOT_ARITHMETIC`,
/// `JSF_STATUS_ARGUMENT` for a request that is wrong, `JSF_STATUS_UTF8`; `*json` is null then. Any
/// thread may call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jsf_run(
    command: *const c_char,
    request: *const c_char,
    request_length: usize,
    json: *mut *mut c_char,
    error: *mut *mut jsf_error,
) -> jsf_status {
    let work = || {
        // SAFETY: the caller passes null or texts of these lengths
        let (command, request) = unsafe {
            (
                text(command, NUL_TERMINATED, "command")?,
                required_text(request, request_length, "request")?,
            )
        };
        // C has no signal that the library could ask for
        run(command, request, in_c, || false).map_err(run_error)
    };
    // SAFETY: the caller passes null or pointers to a text and a handle
    unsafe { created_text(json, "json", error, work) }
}

fn run_error(error: AnswerError) -> jsf_error {
    match error {
        AnswerError::Question(message) => jsf_error::argument(message.worded(in_c)),
        AnswerError::Site(error) => error.into(),
        AnswerError::Syntax(_, finding) => jsf_error::new(jsf_status::Syntax, finding.message)
            .at(finding.span)
            .because(jsf_failure::Syntax),
        AnswerError::Interrupted => jsf_error::new(jsf_status::Internal, "ended"),
        AnswerError::Unusable(..) => SiteError::NotArithmetic.into(),
    }
}
