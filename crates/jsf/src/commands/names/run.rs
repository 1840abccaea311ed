//! `jsf names`

use std::borrow::Cow;
use std::io::Write;

use job_sort_formula::schema::Schema;
use jsf_site::{Role, Site};

use crate::cli::output::Output;
use crate::cli::{CliError, Outcome, show_site, warn_all};
use crate::commands::names::answer::Names;
use crate::commands::names::request::NamesArgs;

pub(crate) fn run(arguments: &NamesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let site = arguments.site.open_for_shares()?;
    show_site(
        &arguments.site,
        &site,
        arguments.answer.format.is_document(),
    );
    warn_all(&site.warnings());
    let names = Names::new(&*schema_with_jobs(&site)?);
    Output::of(arguments.answer, &[]).write(&names, out)?;
    Ok(Outcome::Fine)
}

/// The site's names, and with a queue those that only its jobs have.
fn schema_with_jobs(site: &Site) -> Result<Cow<'_, Schema>, CliError> {
    if !site.files().has(Role::Queue) {
        return Ok(Cow::Borrowed(site.schema()));
    }
    let jobs = site.jobs(&[])?;
    warn_all(&jobs.warnings);
    Ok(Cow::Owned(jobs.schema))
}
