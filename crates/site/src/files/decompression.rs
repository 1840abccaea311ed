//! The content of a file that gzip or zstd has compressed, or that a mail quotes.
//!
//! A compressed file is recognised by its first bytes; archive bombs and other methods are refused. In
//! a mail that quotes a document, each line begins with `>`, as mail programs write it above an answer
//! (RFC 3676, section 4.5).

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use jsf_json::strip_byte_order_mark;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

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
