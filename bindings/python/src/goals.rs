//! The files of goals and wishes.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use jsf_simulate::{Goals, MAX_GOALS_BYTES};
use jsf_site::{Site, SiteError};
use pyo3::PyResult;
use pyo3::exceptions::PyValueError;

use crate::error::site_error;
use crate::site::file;

/// Reads the goals by which simulations are judged.
pub fn read_goals(path: PathBuf, site: &Site) -> PyResult<Goals> {
    let (name, text) = read_text(path, MAX_GOALS_BYTES)?;
    Goals::parse(&name, &text, site.schema()).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The name of a file and its text; of a longer one than that, what is too long for its reader.
pub fn read_text(path: PathBuf, max_bytes: usize) -> PyResult<(String, String)> {
    let path = file(path);
    let name = path.display().to_string();
    let bytes = read(&path, max_bytes).map_err(|error| site_error(&SiteError::Read { path: path.clone(), error }))?;
    let text = String::from_utf8(bytes).map_err(|_| PyValueError::new_err(format!("`{name}` is not UTF-8 text")))?;
    Ok((name, text))
}

fn read(path: &Path, max_bytes: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max_bytes as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
