//! The paths of a site's files, and reading them within limits.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::SiteError;
use crate::ingest::{JobReader, ParsedJobs, ReadOptions};

/// The largest file that is read, other than job documents, in bytes.
pub(super) const MAX_FILE: u64 = 256 << 20;
/// The largest job document that is read, in bytes.
const MAX_JOBS: u64 = 64 << 30;

/// The files of a site, each of them optional. The path `-` is standard input.
#[derive(Debug, Clone, Default)]
pub struct SiteFiles {
    /// The jobs: `qstat -f -F json`, `qstat -f`, native JSON or NDJSON.
    pub queue: Option<PathBuf>,
    /// The scheduler's folder `sched_priv`: `resource_group`, `usage`, `sched_config` and `sched_formula`.
    pub sched_priv: Option<PathBuf>,
    /// `resource_group`, instead of the one in `sched_priv`.
    pub resource_group: Option<PathBuf>,
    /// The binary `usage`, instead of the one in `sched_priv`.
    pub usage: Option<PathBuf>,
    /// `sched_config`, instead of the one in `sched_priv`.
    pub sched_config: Option<PathBuf>,
    /// Another fair-share tree: native JSON, `sshare`, or a `sacctmgr dump`.
    pub tree: Option<PathBuf>,
    /// The server: `qstat -Bf` as text or JSON, or `qmgr -c 'print server'`.
    pub server: Option<PathBuf>,
    /// The queues: `qstat -Qf` as text or JSON, or `qmgr -c 'print server'`.
    pub queues: Option<PathBuf>,
    /// The site's resources: `resourcedef`, `qmgr -c 'print resource'` or `qmgr -c 'list resource'`.
    pub resources: Option<PathBuf>,
    /// `slurm.conf`.
    pub slurm_conf: Option<PathBuf>,
}

impl SiteFiles {
    /// The files that a folder contains under their usual names: `sched_priv/`, `qstat.json` or `qstat.txt`,
    /// `server.json` or `server.txt`, `queues.json` or `queues.txt`, `resourcedef`, `slurm.conf`, `sshare.json` or
    /// `sshare.txt`. The folder may also be a `sched_priv` itself.
    ///
    /// # Errors
    /// The folder cannot be read, or it contains none of them.
    pub fn in_folder(folder: &Path) -> Result<Self, SiteError> {
        folder.read_dir().map_err(|error| SiteError::read(folder, error))?;
        let first = |names: &[&str]| names.iter().map(|name| folder.join(name)).find(|path| path.exists());
        let is_sched_priv = folder.join("resource_group").is_file();
        let files = Self {
            queue: first(&["qstat.json", "qstat.txt"]),
            sched_priv: if is_sched_priv { Some(folder.to_owned()) } else { first(&["sched_priv"]) },
            tree: first(&["sshare.json", "sshare.txt"]),
            server: first(&["server.json", "server.txt"]),
            queues: first(&["queues.json", "queues.txt"]),
            resources: first(&["resourcedef"]),
            slurm_conf: first(&["slurm.conf"]),
            ..Self::default()
        };
        if files.queue.is_none() && files.sched_priv.is_none() && files.tree.is_none() {
            return Err(SiteError::Missing(format!(
                "`{}` contains neither jobs (`qstat.json`, `qstat.txt`) nor a fair-share tree (`sched_priv`, `sshare.json`, \
                 `sshare.txt`)",
                folder.display()
            )));
        }
        Ok(files)
    }

    /// The file of that name: given by its own option, or in `sched_priv` if it exists there.
    pub(super) fn in_sched_priv(&self, own: Option<&PathBuf>, name: &str) -> Option<PathBuf> {
        own.cloned().or_else(|| {
            let path = self.sched_priv.as_ref()?.join(name);
            path.exists().then_some(path)
        })
    }
}

/// The name of a path in messages.
pub(super) fn display_name(path: &Path) -> String {
    if is_stdin(path) { "standard input".into() } else { path.display().to_string() }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Reads a whole file of at most `limit` bytes, or standard input for `-`.
///
/// # Errors
/// The file cannot be read or is larger.
pub fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, SiteError> {
    let mut bytes = Vec::new();
    let source: Box<dyn Read> = if is_stdin(path) {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(|error| SiteError::read(path, error))?)
    };
    source.take(limit + 1).read_to_end(&mut bytes).map_err(|error| SiteError::read(path, error))?;
    if bytes.len() as u64 > limit {
        return Err(SiteError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(bytes)
}

/// Reads a whole file as text; bytes that are not UTF-8 are replaced.
pub(super) fn read_text(path: &Path) -> Result<String, SiteError> {
    let bytes = read_bytes(path, MAX_FILE)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The job document of a site. Standard input can be read only once, so its bytes are kept for a second reading.
#[derive(Debug, Default)]
pub(super) struct JobDocument {
    stdin: OnceLock<Vec<u8>>,
}

impl JobDocument {
    /// Reads the jobs while the document arrives; `again` means that the site may read them once more.
    pub(super) fn read(&self, path: &Path, options: &ReadOptions<'_>, again: bool) -> Result<ParsedJobs, SiteError> {
        let reader = JobReader::new(options);
        let read = if !is_stdin(path) {
            let file = File::open(path).map_err(|error| SiteError::read(path, error))?;
            if file.metadata().is_ok_and(|metadata| metadata.len() > MAX_JOBS) {
                return Err(SiteError::TooLarge { path: path.to_owned(), limit: MAX_JOBS });
            }
            reader.read_file(file)
        } else if again || self.stdin.get().is_some() {
            reader.read(&self.kept_stdin(path)?)
        } else {
            reader.read_stream(LimitedReader { source: io::stdin(), left: MAX_JOBS })
        };
        read.map_err(SiteError::content)
    }

    fn kept_stdin(&self, path: &Path) -> Result<Cow<'_, [u8]>, SiteError> {
        if self.stdin.get().is_none() {
            let _ = self.stdin.set(read_bytes(path, MAX_JOBS)?);
        }
        Ok(Cow::Borrowed(self.stdin.get().map_or(&[], Vec::as_slice)))
    }
}

/// A reader that fails when its source is longer than the limit.
struct LimitedReader<R> {
    source: R,
    left: u64,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::other(format!("it is larger than {MAX_JOBS} bytes, the limit for jobs")))?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_beyond_its_limit_is_an_error() {
        let read = |left| LimitedReader { source: &b"12345"[..], left }.read_to_end(&mut Vec::new()).ok();
        assert_eq!((read(5), read(4)), (Some(5), None));
    }

    #[test]
    fn the_files_of_a_folder_are_found_by_their_names() {
        let site = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/site");
        let files = SiteFiles::in_folder(&site).expect("the example site");
        assert_eq!(files.queue, Some(site.join("qstat.json")));
        assert_eq!(files.sched_priv, Some(site.join("sched_priv")));
        let folder = SiteFiles::in_folder(&site.join("sched_priv")).expect("a sched_priv");
        assert_eq!(folder.sched_priv, Some(site.join("sched_priv")));
        let error = SiteFiles::in_folder(&site.join("../formulas")).expect_err("no site").to_string();
        assert!(error.contains("contains neither jobs"), "{error}");
    }
}
