//! Standard input, which can be only one of the files that a command reads.

use jsf_site::{Role, is_stdin};

use crate::cli::CliError;
use crate::cli::args::site::{FILE_OPTIONS, SiteArgs};

/// The path that means standard input.
pub(crate) const STDIN: &str = "-";

/// What a command reads, and whether that is standard input.
pub(crate) type Reader<'a> = (&'a str, bool);

/// Standard input can be read only once: by a file of the site, or by one of the others, which a
/// message names before and after those of the site.
pub(crate) fn require_one_reader(
    before: &[Reader<'_>],
    site: &SiteArgs,
    after: &[Reader<'_>],
) -> Result<(), CliError> {
    let mut all = before.to_vec();
    if let Some(given) = site.given_site() {
        all.push((given.origin, is_stdin(&given.path)));
    }
    for (role, option, _) in FILE_OPTIONS {
        let is_read = role != Role::SchedPriv && site.files.get(role).is_some_and(is_stdin);
        all.push((option, is_read));
    }
    all.extend(after);
    all.retain(|(_, is_read)| *is_read);
    let readers: Vec<&str> = all.into_iter().map(|(name, _)| name).collect();
    if readers.len() < 2 {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "standard input cannot be both {}: give a file for all but one of them",
        readers.join(" and ")
    )))
}
