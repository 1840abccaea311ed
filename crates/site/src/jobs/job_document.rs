//! The document of a site's jobs, which may be read more than once.

use std::sync::OnceLock;

use jsf_ingest::{ParsedJobs, ReadOptions, read_jobs, read_jobs_from};

use crate::SiteError;
use crate::opening::compression::decompressed;
use crate::opening::file_source::{FileSource, is_stdin};
use crate::opening::role::Role;

/// The largest job document on standard input that is kept in memory to be read again, in bytes.
const MAX_KEPT_JOBS: u64 = 4 << 30;

/// The job document of a site. Standard input can be read only once, so its bytes are kept for a
/// second reading.
#[derive(Debug, Default)]
pub(crate) struct JobDocument {
    stdin: OnceLock<Vec<u8>>,
}

impl JobDocument {
    /// Reads the jobs while the document arrives; `again` means that the site may read them once
    /// more.
    pub(crate) fn read(
        &self,
        source: &FileSource,
        options: &ReadOptions<'_>,
        again: bool,
    ) -> Result<ParsedJobs, SiteError> {
        let is_kept = matches!(source, FileSource::Path(path) if is_stdin(path))
            && (again || self.stdin.get().is_some());
        let read = if is_kept {
            read_jobs(self.kept_stdin(source)?, options)
        } else {
            let content = decompressed(source.open()?).map_err(|error| source.error(error))?;
            read_jobs_from(content, options)
        };
        read.map_err(|error| match source.check(Role::Queue) {
            Err(refusal @ SiteError::Content(_)) => refusal,
            _ => SiteError::content(error),
        })
    }

    fn kept_stdin(&self, source: &FileSource) -> Result<&[u8], SiteError> {
        if self.stdin.get().is_none() {
            let _ = self.stdin.set(source.read_up_to(MAX_KEPT_JOBS)?);
        }
        Ok(self.stdin.get().map_or(&[], Vec::as_slice))
    }
}
