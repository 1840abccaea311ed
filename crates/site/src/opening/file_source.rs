//! Where the bytes of a site's file come from, reading them within limits, and parsing once the
//! documents that describe the server, its queues or its resources, or contain a formula.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jsf_ingest::FileKind;
use jsf_json::decode_utf8;
use jsf_openpbs::files::objects::Objects;
use jsf_openpbs::files::server::is_name;
use jsf_slurm::conf::SlurmConf;

use crate::opening::compression::{
    Compression, MAGIC, Stream, decompressed, may_be_quoted, read_head,
};
use crate::{Role, SiteError, SiteFiles};

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
        Ok(self.rest_of(self.opened_to_read()?, limit)?.bytes)
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
        Ok(OpenedFile {
            kind: kind_of(&head),
            head,
            rest,
        })
    }

    /// Opens a file to read all of it.
    fn opened_to_read(&self) -> Result<OpenedFile<'_>, SiteError> {
        let opened = self.opened()?;
        if opened.head.len() == HEAD && opened.head.iter().all(|&byte| byte == 0) {
            let name = self.name();
            let message =
                format!("`{name}` begins with {HEAD} zero bytes, as no file of a site does");
            return Err(SiteError::content(message));
        }
        Ok(opened)
    }

    /// The whole content of an opened file, at most `limit` bytes.
    fn rest_of(&self, opened: OpenedFile<'_>, limit: u64) -> Result<Content, SiteError> {
        let OpenedFile {
            head: mut bytes,
            kind,
            rest,
        } = opened;
        let path = PathBuf::from(self.name());
        rest.take(limit + 1 - (HEAD as u64).min(limit))
            .read_to_end(&mut bytes)
            .map_err(SiteError::reading(&path))?;
        if bytes.len() as u64 > limit {
            return Err(SiteError::TooLarge { path, limit });
        }
        Ok(Content { bytes, kind })
    }

    /// The whole content of a file that must be one of a role. A file whose start shows another
    /// kind is not read further.
    pub(crate) fn read_expected(&self, role: Role) -> Result<Content, SiteError> {
        let opened = self.opened_to_read()?;
        role.require(opened.kind, &self.name(), &opened.head)?;
        self.rest_of(opened, role.files().limit)
    }

    /// Checks that the file can be read and seems to be one of a role, by its first bytes, so that
    /// a wrong file is refused even if it is not needed. What can be read only once, such as a
    /// pipe, is not opened.
    pub(crate) fn check(&self, role: Role) -> Result<(), SiteError> {
        match self {
            Self::Path(path) if is_stdin(path) => return Ok(()),
            Self::Path(path) => {
                let metadata = path.metadata().map_err(SiteError::reading(path))?;
                if !metadata.is_file() && !metadata.is_dir() {
                    return Ok(());
                }
            }
            Self::Bytes { .. } => {}
        }
        let OpenedFile { head, kind, .. } = self.opened()?;
        role.require(kind, &self.name(), &head)
    }

    /// The whole content of a file that may turn out to be of another kind, unless it is binary and
    /// large.
    pub(crate) fn read_unless_binary(&self, role: Role) -> Result<Content, SiteError> {
        let opened = self.opened_to_read()?;
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
            Self::Path(path) if !is_stdin(path) && self.is_plain_file() => path.parent(),
            _ => None,
        };
        Ok(SlurmConf::parse_in(&self.name(), &bytes, folder))
    }

    /// Checks that the content is a `slurm.conf`. A text of which no setting is recognised is one
    /// too if half of its lines or more begin with `NAME=`.
    fn require_settings(&self, kind: FileKind, bytes: &[u8]) -> Result<(), SiteError> {
        let (mut lines, mut settings) = (0, 0);
        for line in bytes.split(|&byte| byte == b'\n') {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let name = line
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
                .count();
            lines += 1;
            settings += usize::from(name > 0 && line[name..].trim_ascii_start().starts_with(b"="));
        }
        if kind == FileKind::Text && settings > 0 && 2 * settings >= lines {
            return Ok(());
        }
        Role::SlurmConf.require(kind, &self.name(), bytes)
    }

    /// Whether opening it does not consume it.
    pub(crate) fn can_be_opened_again(&self) -> bool {
        matches!(self, Self::Bytes { .. }) || self.is_plain_file()
    }

    /// Whether it is a regular file that is neither compressed nor quoted.
    fn is_plain_file(&self) -> bool {
        let Self::Path(path) = self else { return false };
        // what is read of a pipe is gone
        if !path.is_file() {
            return false;
        }
        let Ok(mut file) = open(path) else {
            return false;
        };
        let Ok(head) = read_head(&mut file, MAGIC) else {
            return false;
        };
        Compression::detect(&head).is_none() && !may_be_quoted(&head)
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

/// A file of the site, read and recognised once.
#[derive(Debug)]
pub struct SiteText<'f> {
    source: &'f FileSource,
    text: String,
    kind: FileKind,
}

impl<'f> SiteText<'f> {
    pub fn read(source: &'f FileSource, role: Role) -> Result<Self, SiteError> {
        let content = source.read_unless_binary(role)?;
        Ok(Self {
            source,
            kind: content.kind,
            text: content.into_text(),
        })
    }

    /// Reads all files that describe the server, its queues or its resources, or have a formula.
    pub fn read_all(files: &'f SiteFiles) -> Result<Vec<Self>, SiteError> {
        let mut texts: Vec<Self> = Vec::new();
        for (role, read_as) in [
            (Role::Server, Role::Server),
            (Role::Queues, Role::Queues),
            (Role::Resources, Role::Resources),
            (Role::Formula, Role::Formula),
            (Role::SchedFormula, Role::Formula),
        ] {
            for source in files.all(role) {
                if texts.iter().all(|known| known.source != source) {
                    texts.push(Self::read(source, read_as)?);
                }
            }
        }
        Ok(texts)
    }

    /// Whether it may be a `resourcedef` that only lists names, which looks like plain text.
    fn is_list_of_names(&self) -> bool {
        if self.kind != FileKind::Text {
            return false;
        }
        for line in self.text.trim_start_matches('\u{feff}').lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_comment_or_name = match *words {
                [] => true,
                [word] => word.starts_with('#') || is_name(word),
                _ => false,
            };
            if !is_comment_or_name {
                return false;
            }
        }
        true
    }
}

/// A document of the site, parsed once.
#[derive(Debug)]
pub struct SiteDocument<'d> {
    pub source: &'d FileSource,
    /// Its name in messages.
    pub name: String,
    pub kind: FileKind,
    pub objects: Objects<'d>,
}

impl<'d> SiteDocument<'d> {
    pub fn new(read: &'d SiteText<'d>) -> Self {
        let is_resourcedef = read.kind == FileKind::ResourceDef || read.is_list_of_names();
        Self {
            source: read.source,
            name: read.source.name(),
            kind: read.kind,
            objects: if is_resourcedef {
                Objects::read_resourcedef(&read.text)
            } else {
                Objects::read(&read.text)
            },
        }
    }

    /// Refuses a document of a kind that the role does not accept.
    pub fn require(&self, role: Role) -> Result<(), SiteError> {
        let text = self.objects.text.as_bytes();
        role.require(self.kind, &self.name, text)
    }

    /// Whether the server wrote it, as an answer of qstat or of `qmgr`.
    pub fn is_of_server(&self) -> bool {
        matches!(self.kind, FileKind::Server | FileKind::Qmgr)
    }
}

/// The documents of these files.
pub fn parsed<'d>(
    documents: &'d [SiteDocument<'d>],
    sources: &[FileSource],
) -> Vec<&'d SiteDocument<'d>> {
    let mut parsed = Vec::new();
    for source in sources {
        parsed.extend(documents.iter().find(|document| document.source == source));
    }
    parsed
}
