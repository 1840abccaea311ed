//! The page beside an answer, and the file that it is written to: it replaces the file of another page
//! alone, of which a reader sees either the old version or the new one, never a part of it.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use jsf_site::{Site, is_stdin};

use crate::cli::messages::print_message;
use crate::cli::outcome::CliError;
use crate::view::document::page::GENERATOR;

/// A page beside the answer.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Also write the result as a page
    ///
    /// The page is for a browser, with charts
    #[arg(id = "report", long, value_name = "FILE", value_parser = page_path())]
    path: Option<PathBuf>,
}

impl ReportArgs {
    /// Whether a page is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.path.is_some()
    }

    /// The file for the page, if there is one. It is no file of the sites, and none of `read_files`,
    /// which the command reads.
    pub(crate) fn page_file<'a>(
        &'a self,
        sites: Vec<&'a Site>,
        read_files: Vec<&'a PathBuf>,
    ) -> Option<PageFile<'a>> {
        Some(PageFile {
            path: self.path.as_deref()?,
            sites,
            read_files,
        })
    }
}

/// Parses the name of the file for a page. Standard output has the results.
fn page_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if is_stdin(&path) {
            return Err(
                "expected the name of a file: standard output has the results of the command",
            );
        }
        Ok(path)
    })
}

/// The file for a page, and what the command reads, which no page may replace.
pub(crate) struct PageFile<'a> {
    pub(crate) path: &'a Path,
    pub(crate) sites: Vec<&'a Site>,
    pub(crate) read_files: Vec<&'a PathBuf>,
}

impl PageFile<'_> {
    /// Refuses a path to which no page is written: a folder, a file that is no page, or a file that
    /// the command reads.
    pub(crate) fn require_replaceable(&self) -> Result<(), CliError> {
        let path = self.path;
        let mut is_read = self.read_files.iter().any(|file| is_same(file, path));
        for site in &self.sites {
            is_read |= site.files().paths().any(|file| is_same(file, path));
        }
        let shown = path.display();
        let obstacle = if is_read {
            format!(
                "the page would replace `{shown}`, which the command reads: give it another name"
            )
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

    /// Writes the page at once, and says where it is.
    pub(crate) fn write(&self, page: &[u8]) -> Result<(), CliError> {
        let shown = self.path.display();
        replace_file(self.path, page)
            .map_err(|error| io::Error::new(error.kind(), format!("`{shown}`: {error}")))?;
        print_message("note", format_args!("the page is in `{shown}`"));
        Ok(())
    }
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
        // one that does not exist is not read either
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

/// Replaces a file, or the one that a symbolic link points to, by a new one with the permissions of
/// a new file. A device, such as `/dev/null`, is written to; a pipe is refused, because nothing may
/// ever read it.
fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
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
    // in the folder of the old file, since a rename stays within a file system; the umask applies to
    // the permissions, which are those of the user alone by default
    let mut new = tempfile::Builder::new()
        .prefix(".jsf-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    new.write_all(bytes)?;
    // else the new name may be there after a crash, and the content not
    new.as_file().sync_all()?;
    new.persist(&target)?;
    Ok(())
}

/// Whether root or the user of this process made the link: somebody else's could lead to any file.
fn is_trusted(link: &Metadata) -> bool {
    link.uid() == 0 || link.uid() == rustix::process::geteuid().as_raw()
}
