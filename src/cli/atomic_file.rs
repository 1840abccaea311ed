//! Files that are written under a temporary name, flushed and renamed: a reader sees either the old file or the new one,
//! never a part of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::warn;

/// The most names that are tried for a file that must not exist yet.
const MAX_NAMES: u32 = 1000;

/// Replaces any file, or the one that a symbolic link points to: a reader sees either the old file or the new one. What is
/// not a regular file, such as a pipe, is written to.
pub(super) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = resolved(path)?;
    let old = match fs::metadata(&path) {
        Ok(found) if !found.is_file() => return OpenOptions::new().write(true).open(&path)?.write_all(bytes),
        Ok(_) => File::open(&path).ok(),
        Err(_) => None,
    };
    let new = TemporaryFile::write(&temporary_path(&path, "new"), bytes, old.as_ref())?;
    fs::rename(&new.0, &path)?;
    // the file is replaced, whether or not that outlives a crash of the system
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let _ = sync_folder(folder.unwrap_or(Path::new(".")));
    Ok(())
}

/// The path of a file behind symbolic links. A file that does not exist has its own path.
pub(super) fn resolved(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound => match path.read_link() {
            Err(_) => Ok(path.to_owned()),
            Ok(target) => Err(io::Error::other(format!(
                "it is a symbolic link to `{}`, which does not exist: create that file, or remove the link",
                target.display()
            ))),
        },
        found => found,
    }
}

/// A temporary file that is removed on drop, unless it was renamed.
pub(super) struct TemporaryFile(pub(super) PathBuf);

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl TemporaryFile {
    /// Writes a new file and flushes it to the disk.
    pub(super) fn write(path: &Path, bytes: &[u8], old: Option<&File>) -> io::Result<Self> {
        let mut file = None;
        let path = first_free(path, |path| {
            file = Some(create(path, old.is_some())?);
            Ok(())
        })?;
        let temporary = Self(path);
        let mut file = file.ok_or(ErrorKind::AlreadyExists)?;
        if let Some(old) = old {
            copy_attributes(&temporary.0, &file, old)?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(temporary)
    }

    /// Links a file to a temporary name.
    pub(super) fn link(original: &Path, path: &Path) -> io::Result<Self> {
        first_free(path, |path| link_or_copy(original, path)).map(Self)
    }
}

/// The path of a temporary file of this process, in the same folder.
pub(super) fn temporary_path(path: &Path, kind: &str) -> PathBuf {
    with_suffix(path, &format!(".{kind}-{}", std::process::id()))
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// Calls `make` with the path, then with numbered ones, until it succeeds with one that did not exist.
pub(super) fn first_free(path: &Path, mut make: impl FnMut(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
    for number in 0..MAX_NAMES {
        let path = if number == 0 { path.to_owned() } else { with_suffix(path, &format!("-{number}")) };
        match make(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Creates a hard link, or a copy if the file system has no hard links.
pub(super) fn link_or_copy(original: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(original, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            let mut source = File::open(original)?;
            let mut copy = create(path, true)?;
            let copied = copy_attributes(path, &copy, &source)
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

/// Copies the owner, the permissions and the extended attributes of another file. Whether a process may set them depends
/// on its rights, so a failure is a warning, except for the permissions, which the owner of a file may always set.
fn copy_attributes(path: &Path, file: &File, old: &File) -> io::Result<()> {
    let kept = old.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (kept.uid(), kept.gid())
            && let Err(error) = fchown(file, Some(kept.uid()), Some(kept.gid()))
        {
            // a user may give a file to another of the user's groups
            let _ = fchown(file, None, Some(kept.gid()));
            warn(format_args!("`{}` cannot be given the owner of the old file: {error}", path.display()));
        }
    }
    file.set_permissions(kept.permissions())?;
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    extended_attributes::copy(path, file, old);
    Ok(())
}

/// Access control lists and labels of SELinux are extended attributes too.
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod extended_attributes {
    use std::ffi::CStr;
    use std::fs::File;
    use std::path::Path;

    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};

    /// The most bytes that Linux allows for the list of names, and for one value.
    const MAX_BYTES: usize = 64 << 10;

    /// Copies the extended attributes of another file; those that cannot be set are warnings.
    pub(super) fn copy(path: &Path, file: &File, old: &File) {
        let mut names = vec![0; MAX_BYTES];
        let listed = flistxattr(old, &mut names[..]).unwrap_or(0);
        for name in names[..listed].split_inclusive(|&byte| byte == 0) {
            let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
            let Some(value) = value(old, name) else { continue };
            if Some(&value) != self::value(file, name).as_ref()
                && let Err(error) = fsetxattr(file, name, &value, XattrFlags::empty())
            {
                let name = name.to_string_lossy();
                crate::cli::warn(format_args!(
                    "`{}` cannot be given the extended attribute `{name}` of the old file: {error}",
                    path.display()
                ));
            }
        }
    }

    fn value(file: &File, name: &CStr) -> Option<Vec<u8>> {
        let mut value = vec![0; MAX_BYTES];
        let bytes = fgetxattr(file, name, &mut value[..]).ok()?;
        value.truncate(bytes);
        Some(value)
    }
}

/// Flushes the folder to the disk; otherwise a rename may be lost.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
