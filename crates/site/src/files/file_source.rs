//! A file of a site: where its bytes come from, and what its start shows.
//!
//! The bytes are read within limits; what a file is that begins with them says [`FileKind`]. Files
//! that gzip or zstd has compressed are recognised by their first bytes; archive bombs and other
//! methods are refused. In a mail that quotes a document, each line begins with `>`, as mail programs
//! write it above an answer (RFC 3676, section 4.5).

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use jsf_ingest::FileKind;
use jsf_json::{decode_utf8, strip_byte_order_mark};
use jsf_slurm::SlurmConf;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

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

    fn is_regular_file(&self) -> bool {
        match self {
            Self::Path(path) => fs::metadata(path).is_ok_and(|found| found.is_file()),
            Self::Bytes { .. } => true,
        }
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
        if head.len() == HEAD && head.iter().all(|&byte| byte == 0) && !self.is_regular_file() {
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
        Ok(SlurmConf::parse_in(&self.name(), &bytes, folder))
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

/// How many bytes at the start of a document show that it is compressed.
const MAGIC: usize = 7;

/// A stream that can be passed to another thread.
pub type Stream<'s> = Box<dyn Read + Send + 's>;

/// A method of compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    Gzip,
    Zstd,
    /// One that is not read: the command that unpacks such a file.
    Other(&'static str),
}

impl Compression {
    /// The method by which a document that begins with these bytes is compressed.
    pub fn detect(head: &[u8]) -> Option<Self> {
        Some(match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            // a skippable frame, with which pzstd begins
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            // the name of a user could begin like the first four bytes
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, ..] => Self::Other("bzip2 -dk"),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Other("xz -dk"),
            [0x1f, 0x9d, ..] => Self::Other("uncompress"),
            [b'P', b'K', 3, 4, ..] => Self::Other("unzip"),
            [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Self::Other("7z x"),
            _ => return None,
        })
    }
}

/// The start of a stream, of at most so many bytes.
pub fn read_head(stream: &mut impl Read, bytes: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    stream.take(bytes as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// The content of a stream: decompressed if it is compressed, and without the marks of a mail that
/// quotes it.
///
/// # Errors
/// The stream cannot be read, or it is compressed by another method than gzip and zstd, or this
/// build does not decompress.
pub fn decompressed<'s>(mut stream: impl Read + Send + 's) -> io::Result<Stream<'s>> {
    let head = read_head(&mut stream, MAGIC)?;
    let compression = Compression::detect(&head);
    let whole = Cursor::new(head).chain(stream);
    unquoted_stream(match compression {
        None => Box::new(whole),
        Some(compression) => decoder(compression, whole)?,
    })
}

/// A document of at most this many bytes when decompressed is accepted, however small it was when
/// compressed.
const ALWAYS_ACCEPTED: u64 = 64 << 20;
/// The factor by which a larger document may expand. Real outputs of schedulers stay below 100.
const MAX_EXPANSION: u64 = 200;

fn decoder<'s>(compression: Compression, source: impl Read + Send + 's) -> io::Result<Stream<'s>> {
    let source = CountingReader::new(source);
    let consumed = Arc::clone(&source.read);
    let source = BufReader::new(source);
    let decoder: Stream<'s> = match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(source)),
        Compression::Zstd => Box::new(ZstdFrames {
            source,
            decoder: FrameDecoder::new(),
            is_open: false,
        }),
        Compression::Other(command) => {
            return Err(io::Error::other(format!(
                "it is compressed by a method that is not read: unpack it, `{command} FILE`, and give what it contains"
            )));
        }
    };
    Ok(Box::new(BoundedExpansion {
        decoder,
        consumed,
        produced: 0,
    }))
}

/// A reader that counts the bytes which it has read.
pub struct CountingReader<R> {
    source: R,
    pub read: Arc<AtomicU64>,
}

impl<R> CountingReader<R> {
    pub fn new(source: R) -> Self {
        let read = Arc::default();
        Self { source, read }
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Fails when the decoder has produced far more bytes than it has consumed.
struct BoundedExpansion<'s> {
    decoder: Stream<'s>,
    consumed: Arc<AtomicU64>,
    produced: u64,
}

impl Read for BoundedExpansion<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.produced += read as u64;
        let consumed = self.consumed.load(Ordering::Relaxed);
        let bound = consumed.saturating_mul(MAX_EXPANSION);
        if self.produced > ALWAYS_ACCEPTED.max(bound) {
            return Err(io::Error::other(format!(
                "it expands to more than {MAX_EXPANSION} times its compressed size, which no file of a scheduler does"
            )));
        }
        Ok(read)
    }
}

/// The frames of a zstd stream, one after another. Skippable frames are skipped.
struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    /// Whether the decoder is inside a frame.
    is_open: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    /// Begins the next frame; returns `false` at the end of the stream.
    fn open_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::Error::other(
                            "it is not valid zstd: it ends inside a skippable frame",
                        ));
                    }
                }
                Err(error) => return Err(invalid(&error)),
            }
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_open {
                self.is_open = self.open_frame()?;
                if !self.is_open {
                    return Ok(0);
                }
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            if !self.decoder.is_finished() {
                let one_block = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder
                    .decode_blocks(&mut self.source, one_block)
                    .map_err(|error| invalid(&error))?;
                continue;
            }
            let expected = self.decoder.get_checksum_from_data();
            if expected.is_some() && expected != self.decoder.get_calculated_checksum() {
                return Err(io::Error::other("its zstd checksum is wrong"));
            }
            self.is_open = false;
        }
    }
}

fn invalid(error: &FrameDecoderError) -> io::Error {
    io::Error::other(format!("it is not valid zstd: {error}"))
}

/// The most bytes of a document that is searched for marks: no mail has more.
const MAX_QUOTED: u64 = 64 << 20;

/// Whether a document that begins with these bytes may be quoted.
fn may_be_quoted(head: &[u8]) -> bool {
    strip_byte_order_mark(head)
        .trim_ascii_start()
        .starts_with(b">")
}

/// A document without the marks of a quotation, as many as all of its lines have: `> ` once, `> > `
/// twice. A document with a line that has none is unchanged.
pub fn unquoted(document: &[u8]) -> Cow<'_, [u8]> {
    let text = strip_byte_order_mark(document);
    if !may_be_quoted(text) || text.contains(&0) {
        return Cow::Borrowed(document);
    }
    let lines = text.split(|&byte| byte == b'\n');
    let mut least = None;
    for line in lines.clone() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let (marks, rest) = split_marks(line, usize::MAX);
        // within a quotation, an empty line may have fewer marks
        if marks == 0 || !rest.trim_ascii().is_empty() {
            least = Some(least.map_or(marks, |least: usize| least.min(marks)));
        }
    }
    let Some(least @ 1..) = least else {
        return Cow::Borrowed(document);
    };
    let mut content = Vec::with_capacity(text.len());
    for line in lines {
        content.extend_from_slice(split_marks(line, least).1);
        content.push(b'\n');
    }
    // the last line ends with the document
    content.pop();
    Cow::Owned(content)
}

/// The number of the marks that begin a line, at most so many, and what follows them.
fn split_marks(line: &[u8], most: usize) -> (usize, &[u8]) {
    let mut rest = line;
    let mut marks = 0;
    while marks < most
        && let Some(after) = rest.strip_prefix(b">")
    {
        rest = after.strip_prefix(b" ").unwrap_or(after);
        marks += 1;
    }
    (marks, rest)
}

/// The content of a stream, unquoted. Only one that begins with a mark is read in advance.
///
/// # Errors
/// The stream cannot be read.
fn unquoted_stream(mut stream: Stream<'_>) -> io::Result<Stream<'_>> {
    let mut document = read_head(&mut stream, MAGIC)?;
    if !may_be_quoted(&document) {
        return Ok(Box::new(Cursor::new(document).chain(stream)));
    }
    stream
        .by_ref()
        .take(MAX_QUOTED)
        .read_to_end(&mut document)?;
    let is_whole = document.len() as u64 <= MAX_QUOTED;
    match unquoted(&document) {
        Cow::Owned(text) if is_whole => Ok(Box::new(Cursor::new(text))),
        _ => Ok(Box::new(Cursor::new(document).chain(stream))),
    }
}

#[cfg(test)]
mod tests {
    use flate2::read::GzEncoder;

    use super::*;

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        decompressed(bytes)?.read_to_end(&mut content)?;
        Ok(content)
    }

    #[test]
    fn a_document_that_is_not_compressed_is_unchanged() {
        for document in [&b""[..], b"a", b"\x1f", b"plain text"] {
            assert_eq!(read(document).unwrap(), document);
        }
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut compressed = Vec::new();
        GzEncoder::new(text, flate2::Compression::fast())
            .read_to_end(&mut compressed)
            .unwrap();
        compressed
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn gzip_and_zstd_are_decompressed_with_all_their_parts() {
        assert_eq!(
            read(&[gzip(b"one, "), gzip(b"two")].concat()).unwrap(),
            b"one, two"
        );
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
        let frames = [skippable, zstd(b"one, "), zstd(b"two")].concat();
        assert_eq!(read(&frames).unwrap(), b"one, two");
        let cut = &gzip(b"a document that ends too early")[..20];
        assert!(read(cut).is_err());
        // between two frames a stream may end
        let ends = [11, frames.len() - zstd(b"two").len(), frames.len()];
        for end in (4..=frames.len()).filter(|end| !ends.contains(end)) {
            assert!(read(&frames[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn a_bomb_is_an_error() {
        let zeros = GzEncoder::new(
            io::repeat(0).take(300 << 20),
            flate2::Compression::default(),
        );
        let copied = io::copy(&mut decompressed(zeros).unwrap(), &mut io::sink());
        assert!(
            copied
                .unwrap_err()
                .to_string()
                .contains("more than 200 times")
        );
    }

    fn read_unquoted(text: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        let mut stream = unquoted_stream(Box::new(text)).expect("readable");
        stream.read_to_end(&mut content).expect("readable");
        assert_eq!(content, &*unquoted(text));
        content
    }

    #[test]
    fn the_marks_that_all_lines_have_are_removed() {
        for (quoted, text) in [
            ("> a", "a"),
            ("> a\n>     b = 1\n> \tc\n", "a\n    b = 1\n\tc\n"),
            (">a\n>b", "a\nb"),
            ("> a\r\n>\r\n> b\r\n", "a\r\n\r\nb\r\n"),
            ("> a\n\n> b\n", "a\n\nb\n"),
            ("\n> a\n", "\na\n"),
            ("> > a\n> > b", "a\nb"),
            (">> a\n>> b", "a\nb"),
            // what was answered in between is quoted less
            ("> > a\n> b", "> a\nb"),
            ("> > a\n>\n> > b", "a\n\nb"),
            ("\u{feff}> a\n", "a\n"),
        ] {
            assert_eq!(
                String::from_utf8(read_unquoted(quoted.as_bytes())).unwrap(),
                text,
                "{quoted:?}"
            );
        }
    }

    #[test]
    fn other_documents_are_unchanged() {
        for text in [
            "",
            "a",
            "a\n> b\n",
            "> a\nb\n",
            " > a",
            ">\n>\n",
            ">",
            "> a\0b",
            "\u{feff}a",
        ] {
            assert_eq!(read_unquoted(text.as_bytes()), text.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn a_document_larger_than_any_mail_is_unchanged() {
        let line = [b"> ".as_slice(), &[b'x'; 1021], b"\n"].concat();
        let document = line.repeat((MAX_QUOTED as usize).div_ceil(line.len()) + 1);
        let mut content = Vec::new();
        unquoted_stream(Box::new(&*document))
            .expect("readable")
            .read_to_end(&mut content)
            .expect("readable");
        assert!(content == document);
    }
}
