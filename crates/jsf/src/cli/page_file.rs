//! The page that a command writes to a file beside what it prints: a reader sees either the old file
//! or the new one, never a part of it.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use job_sort_formula::fairshare::AssessedTree;
use jsf_site::{Role, SharesRequest, Site};

use crate::cli::{CliError, report};
use crate::view::document::GENERATOR;

/// Refuses a path to which no page is written: a folder, a file that is no page, a file of one of
/// the sites, or one of `files`, which the command reads.
pub(crate) fn require_page_file(
    path: &Path,
    sites: &[&Site],
    files: &[&PathBuf],
) -> Result<(), CliError> {
    let mut is_read = files.iter().any(|file| is_same(file, path));
    for site in sites {
        is_read |= site.files().paths().any(|file| is_same(file, path));
    }
    let shown = path.display();
    let obstacle = if is_read {
        format!("the page would replace `{shown}`, which the command reads: give it another name")
    } else if names_a_folder(path) {
        format!("`{shown}` is a folder: give the page the name of a file")
    } else if is_other_file(path) {
        format!(
            "`{shown}` exists and is not a page of jsf: give the page another name, or remove the file"
        )
    } else {
        return Ok(());
    };
    Err(CliError::usage(obstacle))
}

/// Writes a page to a file at once: a reader sees either all of it or nothing.
pub(crate) fn write_page_file(path: &Path, page: &[u8]) -> Result<(), CliError> {
    let shown = path.display();
    replace_file(path, page)
        .map_err(|error| io::Error::new(error.kind(), format!("`{shown}`: {error}")))?;
    report("note", format_args!("the page is in `{shown}`"));
    Ok(())
}

/// Whether the path is that of a folder, or is written as one.
fn names_a_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let last = bytes
        .rsplit(|&byte| std::path::is_separator(byte.into()))
        .next();
    path.is_dir() || matches!(last, Some(b"" | b"." | b".."))
}

fn is_same(file: &Path, path: &Path) -> bool {
    match (file.canonicalize(), path.canonicalize()) {
        (Ok(file), Ok(path)) => file == path,
        _ => false,
    }
}

/// Whether the path is a file with other content than a page of jsf: the command may have read it
/// through another file.
fn is_other_file(path: &Path) -> bool {
    /// The first bytes of a page, which contain its mark.
    const MARKED: u64 = 4096;
    let mut start = Vec::new();
    if path.is_file()
        && let Ok(file) = File::open(path)
        && file.take(MARKED).read_to_end(&mut start).is_ok()
    {
        return !start.is_empty() && !String::from_utf8_lossy(&start).contains(GENERATOR);
    }
    false
}

/// The fair-share tree of a site under the policy in force; `None` if it has none.
pub(crate) fn tree(site: &Site) -> Result<Option<AssessedTree>, CliError> {
    if !site.files().has(Role::Tree) && !site.files().has(Role::ResourceGroup) {
        return Ok(None);
    }
    let shares = site.shares(&SharesRequest::default())?;
    Ok(shares.into_iter().next().map(|shares| shares.assessed))
}

/// The number of characters in a line of a finding.
pub(crate) const WIDTH: usize = 110;

/// Replaces a file, or the one that a symbolic link points to, by a new one with the permissions of
/// a new file. A device, such as `/dev/null`, is written to; a pipe is refused, because nothing may
/// ever read it.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.file_type().is_char_device() => {
            return OpenOptions::new().write(true).open(path)?.write_all(bytes);
        }
        Ok(found) if !found.is_file() => return Err(io::Error::other("it is not a file")),
        _ => {}
    }
    let target = match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() && !is_trusted(&found) => {
            return Err(io::Error::other(
                "it is a symbolic link that another user made: give the path of the file itself",
            ));
        }
        Ok(found) if found.is_symlink() => path.canonicalize()?,
        _ => path.to_owned(),
    };
    let folder = target
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new()
        .prefix(".jsf-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    new.write_all(bytes)?;
    new.as_file().sync_all()?;
    new.persist(&target)?;
    Ok(())
}

/// Whether root or the user of this process made the link: somebody else's could lead to any file.
fn is_trusted(link: &Metadata) -> bool {
    link.uid() == 0 || link.uid() == rustix::process::geteuid().as_raw()
}
