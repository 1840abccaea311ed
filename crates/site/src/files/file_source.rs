//! A file of a site: where its bytes come from, and what its start shows.
//!
//! The bytes are read within limits; what a file is that begins with them says [`FileKind`].

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jsf_ingest::FileKind;
use jsf_json::decode_utf8;
use jsf_slurm::SlurmConf;

use crate::files::decompression::{Compression, Stream, decompressed, read_head};
use crate::{Role, SiteError};

/// The number of bytes by which a file is recognised.
const HEAD: usize = 64 << 10;
/// The largest file that is kept to be read several times, in bytes: no kind of file has a greater
/// limit but the jobs.
const MAX_FILE: u64 = 256 << 20;

/// The start of a file, decompressed and without the marks of a quotation, and what it shows.
pub struct OpenedFile<'s> {
    pub head: Vec<u8>,
    pub kind: FileKind,
    /// What follows the head.
    pub rest: Stream<'s>,
}

/// A whole file, and what its start shows.
pub struct Content {
    pub bytes: Vec<u8>,
    pub kind: FileKind,
}

impl Content {
    /// The content as text; bytes that are not UTF-8 are replaced.
    pub fn into_text(self) -> String {
        decode_utf8(&self.bytes).into_owned()
    }
}

/// A file of a site: a path, standard input (the path `-`), or a member of an archive that was read
/// before.
///
/// A file that gzip or zstd has compressed is decompressed. Of a text whose lines all begin with
/// `>`, as a mail quotes it, these marks are removed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileSource {
    /// A file; `-` is standard input.
    Path(PathBuf),
    /// A member of an archive, or any other content in memory.
    Bytes {
        /// The name in messages, such as `snapshot.tgz: server/qstat_Bf.out`.
        name: String,
        /// The content.
        bytes: Arc<[u8]>,
    },
}

impl<P: Into<PathBuf>> From<P> for FileSource {
    fn from(path: P) -> Self {
        Self::Path(path.into())
    }
}

impl FileSource {
    /// The name in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) if is_stdin(path) => "standard input".into(),
            Self::Path(path) => path.display().to_string(),
            Self::Bytes { name, .. } => name.clone(),
        }
    }

    /// The name without the folders before it.
    pub(crate) fn file_name(&self) -> String {
        let name = self.name();
        let last = Path::new(&name).file_name().and_then(|last| last.to_str());
        last.unwrap_or(&name).to_owned()
    }

    /// The last part of the path, which does not show in which folder or archive the file was.
    pub(crate) fn last_part(&self) -> String {
        let name = self.file_name();
        name.rsplit(": ").next().unwrap_or(&name).to_owned()
    }

    /// The whole content, at most 256 MiB.
    ///
    /// # Errors
    /// The file cannot be read or is larger.
    pub fn read(&self) -> Result<Vec<u8>, SiteError> {
        self.read_up_to(MAX_FILE)
    }

    /// The whole content, at most `limit` bytes.
    ///
    /// # Errors
    /// The file cannot be read or is larger.
    pub fn read_up_to(&self, limit: u64) -> Result<Vec<u8>, SiteError> {
        Ok(self.rest_of(self.opened()?, limit)?.bytes)
    }

    /// What a content seems to be, such as `is the state of the server`, if it is one of a site's
    /// files.
    pub fn description(content: &[u8]) -> Option<&'static str> {
        match kind_of(&content[..content.len().min(HEAD)]) {
            FileKind::Text | FileKind::Empty => None,
            kind => Some(kind.description()),
        }
    }

    /// The file as a source that can be read several times: the content of standard input is kept
    /// in memory.
    ///
    /// # Errors
    /// Standard input cannot be read.
    pub fn kept(self) -> Result<Self, SiteError> {
        if !self.is_stdin() {
            return Ok(self);
        }
        let (name, bytes) = (self.name(), self.read()?.into());
        Ok(Self::Bytes { name, bytes })
    }

    pub(crate) fn is_stdin(&self) -> bool {
        matches!(self, Self::Path(path) if is_stdin(path))
    }

    /// Opens the file and looks at its start. Only documents of jobs are looked at again, by the
    /// reader of their format.
    pub(crate) fn opened(&self) -> Result<OpenedFile<'_>, SiteError> {
        let name = self.name();
        let failed = SiteError::reading(name.as_ref());
        let mut rest = decompressed(self.open()?).map_err(&failed)?;
        let head = read_head(&mut rest, HEAD).map_err(&failed)?;
        // of a file, a hole may be all that is damaged; a device may have no end
        if head.len() == HEAD && head.iter().all(|&byte| byte == 0) && !self.can_be_opened_again() {
            return Err(format!(
                "`{name}` begins with {HEAD} zero bytes, as no file of a site does"
            )
            .into());
        }
        Ok(OpenedFile {
            kind: kind_of(&head),
            head,
            rest,
        })
    }

    /// The whole content of an opened file, at most `limit` bytes.
    fn rest_of(&self, opened: OpenedFile<'_>, limit: u64) -> Result<Content, SiteError> {
        let OpenedFile {
            head: mut bytes,
            kind,
            rest,
        } = opened;
        let name = self.name();
        // one byte beyond the limit shows that the file is larger
        rest.take(limit + 1 - (HEAD as u64).min(limit))
            .read_to_end(&mut bytes)
            .map_err(SiteError::reading(name.as_ref()))?;
        if bytes.len() as u64 > limit {
            return Err(format!(
                "`{name}` is larger than {limit} bytes, the limit for such a file"
            )
            .into());
        }
        Ok(Content { bytes, kind })
    }

    /// The whole content of a file that must be one of a role. A file whose start shows another
    /// kind is not read further.
    pub(crate) fn read_expected(&self, role: Role) -> Result<Content, SiteError> {
        let opened = self.opened()?;
        role.require(opened.kind, &self.name(), &opened.head)?;
        self.rest_of(opened, role.files().limit)
    }

    /// Checks that the file can be read and seems to be one of a role, by its first bytes, so that
    /// a wrong file is refused even if it is not needed. Returns what it is; `None` of what can be read
    /// only once, such as a pipe, which is not opened.
    pub(crate) fn check(&self, role: Role) -> Result<Option<FileKind>, SiteError> {
        if self.is_stdin() {
            return Ok(None);
        }
        if let Self::Path(path) = self {
            let metadata = path.metadata().map_err(SiteError::reading(path))?;
            if !metadata.is_file() && !metadata.is_dir() {
                return Ok(None);
            }
        }
        let OpenedFile { head, kind, .. } = self.opened()?;
        role.require(kind, &self.name(), &head)?;
        Ok(Some(kind))
    }

    /// The whole content of a file that may turn out to be of another kind, unless it is binary and
    /// large.
    pub(crate) fn read_unless_binary(&self, role: Role) -> Result<Content, SiteError> {
        let opened = self.opened()?;
        if opened.kind == FileKind::Binary && opened.head.len() == HEAD {
            role.require(opened.kind, &self.name(), &opened.head)?;
        }
        self.rest_of(opened, role.files().limit)
    }

    /// The whole content as text; bytes that are not UTF-8 are replaced.
    pub(crate) fn read_text(&self, role: Role) -> Result<String, SiteError> {
        Ok(self.read_unless_binary(role)?.into_text())
    }

    /// Reads `slurm.conf`. Only a file can include others.
    pub(crate) fn read_slurm_conf(&self) -> Result<SlurmConf, SiteError> {
        let Content { bytes, kind } = self.read_unless_binary(Role::SlurmConf)?;
        self.require_settings(kind, &bytes)?;
        let folder = match self {
            Self::Path(path) if path.is_file() => path.parent(),
            _ => None,
        };
        Ok(SlurmConf::parse(&self.name(), &bytes, folder))
    }

    /// Checks that the content is a `slurm.conf`. A text of which no setting is recognised is one
    /// too if half of its lines or more begin with `NAME=`.
    fn require_settings(&self, kind: FileKind, bytes: &[u8]) -> Result<(), SiteError> {
        let (mut lines, mut settings) = (0, 0);
        for line in String::from_utf8_lossy(bytes).lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, _) = line.split_once('=').unwrap_or_default();
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            lines += 1;
            settings += usize::from(!name.is_empty() && name.trim_end().bytes().all(is_name));
        }
        // a README may quote some settings, but most of its lines are none
        if kind == FileKind::Text && settings > 0 && 2 * settings >= lines {
            return Ok(());
        }
        Role::SlurmConf.require(kind, &self.name(), bytes)
    }

    /// Whether opening it does not consume it: what is read of a pipe is gone.
    pub(crate) fn can_be_opened_again(&self) -> bool {
        match self {
            Self::Path(path) => path.is_file(),
            Self::Bytes { .. } => true,
        }
    }

    pub(crate) fn open(&self) -> Result<Box<dyn Read + Send + '_>, SiteError> {
        Ok(match self {
            Self::Path(path) if is_stdin(path) => Box::new(io::stdin()),
            Self::Path(path) => Box::new(open(path).map_err(SiteError::reading(path))?),
            Self::Bytes { bytes, .. } => Box::new(&**bytes),
        })
    }
}

/// What a file is that begins with these bytes.
fn kind_of(head: &[u8]) -> FileKind {
    match Compression::detect(head) {
        Some(_) => FileKind::Archive,
        None => FileKind::detect(head),
    }
}

/// Whether a path means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Opens a file. A named pipe is refused: nothing may ever write to it, and to open it would wait
/// for that. What a shell passes for `<(command)` has a writer.
pub fn open(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;

        let is_of_shell = path.starts_with("/dev/fd") || path.starts_with("/proc");
        if !is_of_shell
            && let Ok(metadata) = path.metadata()
            && metadata.file_type().is_fifo()
        {
            let refusal = "it is a named pipe; give `-` and standard input from it";
            return Err(io::Error::other(refusal));
        }
    }
    File::open(path)
}
