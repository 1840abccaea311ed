//! The document of a site's jobs, which may be read more than once.

use std::sync::{Mutex, OnceLock};

use jsf_ingest::{ParsedJobs, ReadOptions, read_jobs, read_jobs_from};
use jsf_openpbs::entity::FairshareEntity;

use crate::jobs::site_jobs::ColumnsRequest;
use crate::opening::compression::decompressed;
use crate::{FileSource, Role, SiteError, SiteJobs, is_stdin};

/// The largest job document on standard input that is kept in memory to be read again, in bytes.
const MAX_KEPT_JOBS: u64 = 4 << 30;

/// The job document of a site. Standard input can be read only once, so its bytes are kept for a
/// second reading.
#[derive(Debug, Default)]
pub struct JobDocument {
    stdin: OnceLock<Vec<u8>>,
    /// The jobs that were read last, if they may be read again.
    last: Mutex<Option<KeptJobs>>,
}

/// Jobs that were read, and for which request.
#[derive(Debug)]
struct KeptJobs {
    source: FileSource,
    names: Vec<String>,
    entity: FairshareEntity,
    jobs: SiteJobs,
}

impl JobDocument {
    /// The jobs that were read last, if they have all that is asked for.
    pub fn kept(&self, source: &FileSource, request: &ColumnsRequest<'_>) -> Option<SiteJobs> {
        let last = self.last.lock().ok()?;
        let last = last.as_ref()?;
        if !is_kept(request) || last.source != *source || last.entity != request.entity {
            return None;
        }
        for name in request.names {
            if !last.names.iter().any(|known| known == name) {
                return None;
            }
        }
        Some(last.jobs.clone())
    }

    /// Keeps jobs in place of those that were read last, if they may be read once more.
    pub fn keep(&self, source: &FileSource, request: &ColumnsRequest<'_>, jobs: &SiteJobs) {
        if is_kept(request)
            && let Ok(mut last) = self.last.lock()
        {
            *last = Some(KeptJobs {
                source: source.clone(),
                names: request.names.iter().map(|&name| name.into()).collect(),
                entity: request.entity,
                jobs: jobs.clone(),
            });
        }
    }

    /// Reads the jobs while the document arrives; `again` means that the site may read them once
    /// more.
    pub fn read(
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
            let failed = SiteError::reading(options.source_name.as_ref());
            let content = decompressed(source.open()?).map_err(failed)?;
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

/// Whether the jobs of a request are kept: those with other types, or with more than columns, are
/// asked for once.
fn is_kept(request: &ColumnsRequest<'_>) -> bool {
    request.again && request.schema.is_none() && !request.record_origins && !request.cycle
}
