//! Files that are written under a temporary name, flushed and renamed: a reader sees either the old
//! file or the new one, never a part of it.

use std::fs::{self, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGXFSZ;

/// From now on a file that would exceed the limit of `ulimit -f` is an error of the function that
/// writes it.
pub fn ignore_limit_of_file_size() {
    // without the handler the process ends, as it would have
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::<AtomicBool>::default());
}

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
