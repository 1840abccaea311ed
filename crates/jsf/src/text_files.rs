//! The files of a request that people write: goals and wishes.

use std::path::Path;

use jsf_simulate::{Goals, MAX_GOALS_BYTES};
use jsf_site::{FileSource, Site, SiteError};

/// The longest file of wishes, in bytes.
pub(crate) const MAX_WISHES_BYTES: usize = 4 << 20;

/// Reads the goals that simulations are judged by.
///
/// # Errors
/// The file cannot be read, or has no goals.
pub(crate) fn read_goals(path: &Path, site: &Site) -> Result<Goals, SiteError> {
    let (name, text) = read_text(path, MAX_GOALS_BYTES)?;
    Goals::parse(&name, &text, site.schema()).map_err(|error| {
        SiteError::Content(match FileSource::description(text.as_bytes()) {
            Some(description) => format!("`{name}` {description}, expected goals as TOML").into(),
            None => error.to_string().into(),
        })
    })
}

/// The name and the text of a file of at most `limit` bytes.
///
/// # Errors
/// The file cannot be read, or is no text.
pub(crate) fn read_text(path: &Path, limit: usize) -> Result<(String, String), SiteError> {
    let source = FileSource::Path(path.to_owned());
    let name = source.name();
    match String::from_utf8(source.read_up_to(limit as u64)?) {
        Ok(text) => Ok((name, text)),
        Err(_) => Err(SiteError::Content(
            format!("`{name}` is not UTF-8 text").into(),
        )),
    }
}
