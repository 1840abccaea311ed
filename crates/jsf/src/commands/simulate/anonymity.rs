//! What `--anonymise` keeps from the output: the names of a log are numbered when it is read, and
//! texts about the files of the site, which may quote any name of theirs, are not shown.

use jsf_openpbs::check::Checked;
use jsf_site::{Site, SiteError};

use crate::cli::{warn, warn_all};
use crate::commands::simulate::request::SimulateArgs;

/// An error about the files of a site. --anonymise shows that there is one alone.
pub(crate) fn without_names(arguments: &SimulateArgs, error: SiteError) -> SiteError {
    match error {
        SiteError::Content(_) if arguments.anonymise => {
            let text = "the files of the site cannot be used; the reason may contain names, which --anonymise hides";
            SiteError::Content(text.to_owned().into())
        }
        error => error,
    }
}

/// Shows the warnings about the files of a site; with --anonymise, that there are some.
pub(crate) fn warn_of_site(arguments: &SimulateArgs, site: &Site) {
    if !arguments.anonymise {
        warn_all(&site.warnings());
    } else if !site.warnings().is_empty() {
        warn("the warnings about the files of the site may contain names, which --anonymise hides");
    }
}

/// What is found in the queue, with the findings that may name its entities left out for those
/// found without it.
pub(crate) fn without_findings_of_queue(
    arguments: &SimulateArgs,
    of_queue: Checked,
    without_queue: Checked,
) -> Checked {
    if arguments.anonymise {
        Checked {
            findings: without_queue.findings,
            ..of_queue
        }
    } else {
        of_queue
    }
}
