//! The files of a site in a tar archive, which is read in place: nothing is written to disk, and no
//! member is opened that is not one of the site's files.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tar::{Archive, Entries, Entry, EntryType, PaxExtensions};

use crate::files::decompression::{CountingReader, decompressed, read_head};
use crate::files::file_role::is_site_file;
use crate::files::found_files::{FoundFiles, path_parts};
use crate::{FileSource, SiteError};

/// The most members of an archive.
const MAX_MEMBERS: usize = 200_000;
/// The most bytes that the site's files may have together.
const MAX_SIZE: u64 = 1 << 30;
/// The most bytes of a member that holds the name of the next one.
const MAX_NAME: u64 = 64 << 10;
/// The number of bytes by which an archive is recognised.
const HEAD: usize = 512;
/// The bytes of a block; a header is one, and every content is padded to whole blocks.
const BLOCK: u64 = 512;

/// Reads the site's files from an archive, which gzip or zstd may have compressed.
pub fn read_archive(path: &Path, stream: impl Read + Send) -> Result<FoundFiles, SiteError> {
    let failed = SiteError::reading(path);
    let mut content = decompressed(stream).map_err(&failed)?;
    let head = read_head(&mut content, HEAD).map_err(&failed)?;
    require_tar(path, &head)?;
    let source = CountingReader::new(Cursor::new(head).chain(content));
    let read = Arc::clone(&source.read);
    let mut archive = Archive::new(source);
    let (mut found, end) = collect(path, archive.entries().map_err(&failed)?)?;
    // the checksum of the compressed data follows the last member, and tar pads to whole records, as
    // a copy of a tape or a disk does to its whole length
    let mut rest = archive.into_inner().take(MAX_SIZE);
    if io::copy(&mut rest, &mut io::sink()).map_err(&failed)? == MAX_SIZE {
        let message = format!(
            "`{}` has more than {MAX_SIZE} bytes after the end of the archive",
            path.display()
        );
        return Err(message.into());
    }
    let read = read.load(Ordering::Relaxed);
    found.warnings.extend(missing_end(path, end, read));
    Ok(found)
}

/// A warning if no block of zeros follows the last member, whose content ends at `end`.
fn missing_end(path: &Path, end: u64, length: u64) -> Option<String> {
    if let Some(end) = end.checked_next_multiple_of(BLOCK)
        && length >= end.saturating_add(BLOCK)
    {
        return None;
    }
    Some(format!(
        "`{}` ends without the two blocks of zeros that end a tar archive: it may be cut, so files may be missing; \
         compare its size with the original",
        FileSource::from(path).name()
    ))
}

fn require_tar(path: &Path, head: &[u8]) -> Result<(), SiteError> {
    if head.get(257..262) == Some(b"ustar") {
        return Ok(());
    }
    let expected = "expected a folder or a tar archive (`.tar`, `.tar.gz`, `.tar.zst`) with the files of a site";
    Err(format!("`{}` is neither: {expected}", path.display()).into())
}

/// The site's files, and where the content of the last member ends.
fn collect<R: Read>(path: &Path, entries: Entries<'_, R>) -> Result<(FoundFiles, u64), SiteError> {
    let archive = path.display().to_string();
    let failed = SiteError::reading(path);
    // by the folder that contains the files, empty for the top of the archive
    let mut folders: BTreeMap<String, FoundFiles> = BTreeMap::new();
    let mut size = 0_u64;
    let mut long_name = None;
    let mut end = 0;
    // the library would read the name of the next member to its end, however long it is
    for (index, entry) in entries.raw(true).enumerate() {
        let mut entry = entry.map_err(|error| no_member(path, error))?;
        if index >= MAX_MEMBERS {
            let reason = format!("the archive has more than {MAX_MEMBERS} members");
            return Err(refusal(&archive, &reason));
        }
        end = entry.raw_file_position().saturating_add(entry.size());
        if describes_next(entry.header().entry_type()) {
            long_name = read_next_name(&mut entry).map_err(&failed)?.or(long_name);
            continue;
        }
        let long_name = long_name.take();
        let name = long_name.unwrap_or_else(|| entry.path_bytes().into_owned());
        let name = String::from_utf8_lossy(&name).into_owned();
        let place = split_site_path(&name).map_err(|reason| refusal(&archive, &reason))?;
        let Some((folder, file)) = place else {
            continue;
        };
        match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous => {}
            EntryType::Directory => {
                let found = folders.entry(folder).or_default();
                found.warn_of_folder(&archive, &file);
                continue;
            }
            _ => {
                let reason = format!("`{name}` is a link or a device, expected a regular file");
                return Err(refusal(&archive, &reason));
            }
        }
        size = size.saturating_add(entry.size());
        if size > MAX_SIZE {
            let reason = format!("`{name}`: the files of the site have more than {MAX_SIZE} bytes");
            return Err(refusal(&archive, &reason));
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(&failed)?;
        if (bytes.len() as u64) < entry.size() {
            return Err(cut(&archive, &name, entry.size(), bytes.len() as u64));
        }
        let source = FileSource::Bytes {
            name: format!("{archive}: {name}"),
            bytes: bytes.into(),
        };
        let found = folders.entry(folder).or_default();
        found.add(&archive, file, source, entry.size() == 0);
    }
    let found = FoundFiles::of_only_folder(folders);
    Ok((found.map_err(|reason| refusal(&archive, &reason))?, end))
}

fn refusal(archive: &str, reason: &str) -> SiteError {
    SiteError::content(format!("`{archive}`: {reason}"))
}

/// The error where no further member can be read.
fn no_member(path: &Path, error: io::Error) -> SiteError {
    // what the library says of an archive that ends inside a member that it skips, or in a header
    const CUT: [&str; 2] = ["unexpected EOF during skip", "failed to read entire block"];
    if CUT.contains(&&*error.to_string()) || error.kind() == io::ErrorKind::UnexpectedEof {
        let reason = "the archive is cut: it ends inside a member; copy it again";
        return refusal(&path.display().to_string(), reason);
    }
    SiteError::reading(path)(error)
}

/// The error on a member that has fewer bytes than its header says.
fn cut(archive: &str, name: &str, size: u64, left: u64) -> SiteError {
    let name = jsf_json::clipped(name);
    let reason = format!(
        "the archive is cut: `{name}` has {left} bytes, expected {size} as its header says; copy it again"
    );
    refusal(archive, &reason)
}

/// Whether a member only describes the next one.
fn describes_next(entry_type: EntryType) -> bool {
    use EntryType::{GNULongLink, GNULongName, XGlobalHeader, XHeader};
    matches!(
        entry_type,
        GNULongName | GNULongLink | XHeader | XGlobalHeader
    )
}

/// The name of the next member, if the member that describes it gives one.
fn read_next_name<R: Read>(entry: &mut Entry<'_, R>) -> io::Result<Option<Vec<u8>>> {
    if entry.size() > MAX_NAME {
        return Err(io::Error::other(format!(
            "the name of a member has more than {MAX_NAME} bytes"
        )));
    }
    let mut content = Vec::new();
    entry.read_to_end(&mut content)?;
    Ok(match entry.header().entry_type() {
        EntryType::GNULongName => content.split(|&byte| byte == 0).next().map(<[u8]>::to_vec),
        EntryType::XHeader => {
            let mut extensions = PaxExtensions::new(&content).filter_map(Result::ok);
            let path = extensions.find(|found| found.key_bytes() == b"path");
            path.map(|found| found.value_bytes().to_vec())
        }
        _ => None,
    })
}

/// Splits the name of a member into the folder of a site and the path of the file in it; `None` if
/// no site has a file with that path.
///
/// # Errors
/// The name is absolute or leaves the archive, which no tool writes without being told to.
fn split_site_path(name: &str) -> Result<Option<(String, String)>, String> {
    let parts = path_parts(name);
    if name.starts_with('/') || parts.contains(&"..") {
        let shown = jsf_json::clipped(name);
        return Err(format!(
            "the member `{shown}` has a name outside the archive, so none of its members is read"
        ));
    }
    let at_top = parts.join("/");
    if is_site_file(&at_top) {
        return Ok(Some((String::new(), at_top)));
    }
    let Some((folder, rest)) = parts.split_first() else {
        return Ok(None);
    };
    let file = rest.join("/");
    if is_site_file(&file) {
        Ok(Some(((*folder).to_owned(), file)))
    } else {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_placed_by_its_name() {
        for (name, expected) in [
            ("./sched_priv/usage", Some(("", "sched_priv/usage"))),
            (
                "snapshot/sched_priv/usage",
                Some(("snapshot", "sched_priv/usage")),
            ),
            ("snapshot/server_logs/20240101", None),
            ("a/b/qstat.json", None),
        ] {
            let expected = expected.map(|(folder, file)| (folder.to_owned(), file.to_owned()));
            assert_eq!(split_site_path(name).unwrap(), expected);
        }
        assert!(
            split_site_path("/qstat.json").is_err() && split_site_path("a/../qstat.json").is_err()
        );
    }
}
