//! Replaces the scheduler's usage file atomically: a reader sees either the old file or the new one, never a part of it.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::warn;

/// The name of the usage file.
pub(super) const USAGE: &str = "usage";
/// The name of the previous usage file.
const BACKUP: &str = "usage.bak";
/// The file that tells the scheduler to read the usage file again.
const TOUCH: &str = "usage.touch";
/// The most names that are tried for a file that must not exist yet.
const MAX_NAMES: u32 = 1000;

/// Replaces the usage file and keeps its permissions and owner; the old file becomes `usage.bak`, as with `pbsfs`. If
/// there was a usage file, there is a complete one at every moment.
pub(super) fn replace(folder: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = folder.join(USAGE);
    let old = match fs::metadata(&path) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let new = TemporaryFile::write(folder, bytes, old.as_ref())?;
    if old.is_some() {
        let kept = TemporaryFile::link(&path, folder)?;
        fs::rename(&kept.0, folder.join(BACKUP))?;
    }
    fs::rename(&new.0, &path)?;
    drop(new);
    sync_folder(folder)?;
    File::create(folder.join(TOUCH))?;
    Ok(())
}

/// Keeps the usage file under another name as well, which nothing replaces, and returns that name.
pub(super) fn keep_as_unread(folder: &Path, now: i64) -> io::Result<PathBuf> {
    let usage = folder.join(USAGE);
    let kept = first_free(folder, &format!("usage.unread-{now}"), |path| link_or_copy(&usage, path))?;
    sync_folder(folder)?;
    Ok(kept)
}

/// A temporary file that is removed on drop, unless it was renamed.
struct TemporaryFile(PathBuf);

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl TemporaryFile {
    /// Writes a new file and flushes it to the disk.
    fn write(folder: &Path, bytes: &[u8], old: Option<&Metadata>) -> io::Result<Self> {
        let name = temporary_name("new");
        let mut file = None;
        let path = first_free(folder, &name, |path| {
            file = Some(create(path, old.is_some())?);
            Ok(())
        })?;
        let temporary = Self(path);
        let mut file = file.ok_or(ErrorKind::AlreadyExists)?;
        if let Some(old) = old {
            copy_owner_and_permissions(&temporary.0, &file, old)?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(temporary)
    }

    /// Links a file to a temporary name.
    fn link(original: &Path, folder: &Path) -> io::Result<Self> {
        first_free(folder, &temporary_name("old"), |path| link_or_copy(original, path)).map(Self)
    }
}

fn temporary_name(what: &str) -> String {
    format!("{USAGE}.{what}-{}", std::process::id())
}

/// Calls `make` with the name, then with numbered names, until it succeeds with one that did not exist.
fn first_free(folder: &Path, name: &str, mut make: impl FnMut(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
    for number in 0..MAX_NAMES {
        let path = folder.join(if number == 0 { name.to_owned() } else { format!("{name}-{number}") });
        match make(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Creates a hard link, or a copy if the file system has no hard links.
fn link_or_copy(original: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(original, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            let mut source = File::open(original)?;
            let mut copy = create(path, true)?;
            let copied = copy_owner_and_permissions(path, &copy, &source.metadata()?)
                .and_then(|()| io::copy(&mut source, &mut copy))
                .and_then(|_| copy.sync_all());
            copied.inspect_err(|_| drop(fs::remove_file(path)))
        }
        linked => linked,
    }
}

/// Creates a file that must not exist; if `hidden`, other users cannot read it until its permissions are set.
fn create(path: &Path, hidden: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if hidden {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = hidden;
    options.open(path)
}

/// Copies the owner and the permissions of another file.
fn copy_owner_and_permissions(path: &Path, file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (old.uid(), old.gid())
            && let Err(error) = fchown(file, Some(old.uid()), Some(old.gid()))
        {
            warn(format_args!("`{}` cannot be given the owner of the old file: {error}", path.display()));
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    file.set_permissions(old.permissions())
}

/// Flushes the folder to the disk; otherwise a rename may be lost.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
