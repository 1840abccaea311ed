//! Replaces the scheduler's usage file atomically, one process at a time: a reader sees either the old file or the new
//! one, never a part of it, and a writer never overwrites what another one has written since it read the file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::atomic_file::{
    Folder, Place, TemporaryFile, file_name, first_free, link_or_copy, remove_left_overs, sync_folder, temporary_path,
    with_suffix,
};
use super::signals::HeldSignals;
use super::warn;

/// The name of the usage file.
pub(super) const USAGE: &str = "usage";
/// The name of the previous usage file.
const BACKUP: &str = "usage.bak";
/// The file that tells the scheduler to read the usage file again.
const TOUCH: &str = "usage.touch";
/// How long a writer waits for another one.
pub(super) const LOCK_LIMIT: Duration = Duration::from_secs(30);
/// How often a waiting writer tries again.
const LOCK_INTERVAL: Duration = Duration::from_millis(5);

/// The usage file of a folder, which no other process changes through this type until the value is dropped.
pub(super) struct LockedUsage {
    // dropped first, because its path leads through the folder that is held open
    _lock: Lock,
    folder: Folder,
    /// The file itself, if `usage` is a symbolic link to it.
    file: Place,
}

impl LockedUsage {
    /// Waits at most `limit` for the other writers, and removes the temporary files of those that were killed.
    pub(super) fn lock(folder: &Path, limit: Duration) -> io::Result<Self> {
        let folder = Folder::open(folder)?;
        let file = Place::find(&folder.shown.join(USAGE))?;
        let lock = Lock::wait(&with_suffix(&file.path, ".lock"), limit)?;
        let locked = Self { folder, file, _lock: lock };
        locked.remove_stale_files();
        Ok(locked)
    }

    /// Replaces the usage file and keeps its owner, permissions and extended attributes as far as the system allows it;
    /// the old file becomes `usage.bak`, as with `pbsfs`. If there was a usage file, there is a complete one at every
    /// moment. An error means that the usage file is the old one: what fails afterwards is a warning.
    pub(super) fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let old = match File::open(&self.file.path) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let touch = self.folder.path.join(TOUCH);
        if touch.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            return Err(io::Error::other(format!("`{TOUCH}` is a folder")));
        }
        let new = TemporaryFile::write(&temporary_path(&self.file.path, "new"), bytes, old.as_ref())?;
        let new_touch = TemporaryFile::write(&temporary_path(&touch, "new"), b"", None)?;
        if old.is_some() {
            let backup = self.folder.path.join(BACKUP);
            let kept = TemporaryFile::link(&self.file.path, &temporary_path(&backup, "new"))?;
            fs::rename(&kept.0, backup)?;
        }
        fs::rename(&new.0, &self.file.path)?;
        if let Err(error) = self.sync_folders() {
            warn(format_args!("the usage file is replaced, but a crash of the system now could undo that: {error}"));
        }
        if let Err(error) = fs::rename(&new_touch.0, &touch) {
            warn(format_args!(
                "the usage file is replaced, but the scheduler is not told to read it, because `{TOUCH}` cannot be made: {error}"
            ));
        }
        Ok(())
    }

    /// Keeps the usage file under another name as well, which nothing replaces, and returns that name.
    pub(super) fn keep_as_unread(&self, now: i64) -> io::Result<PathBuf> {
        let kept = self.folder.path.join(format!("{USAGE}.unread-{now}"));
        let kept = first_free(&kept, |path| link_or_copy(&self.file.path, path))?;
        sync_folder(&self.folder.path)?;
        Ok(self.folder.shown.join(file_name(&kept)))
    }

    /// Removes what writers left that were killed. No other writer runs now; one without locks might.
    fn remove_stale_files(&self) {
        let [touch, backup] = [TOUCH, BACKUP].map(|name| self.folder.path.join(name));
        for path in [&self.file.path, &touch, &backup] {
            remove_left_overs(path, |_| true);
        }
    }

    fn sync_folders(&self) -> io::Result<()> {
        sync_folder(&self.file.folder.path)?;
        sync_folder(&self.folder.path)
    }
}

/// A lock file, which exists while a process holds the lock; until then, signals that would leave it behind wait.
struct Lock {
    path: PathBuf,
    _file: File,
    _held: HeldSignals,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // the lock is still held, so no other process takes the file for its own
        let _ = fs::remove_file(&self.path);
    }
}

impl Lock {
    /// Waits for the lock, which is no more than a file if the file system has no locks.
    fn wait(path: &Path, limit: Duration) -> io::Result<Self> {
        let begin = Instant::now();
        loop {
            let held = HeldSignals::new();
            let file = open_lock(path).map_err(|error| {
                io::Error::new(error.kind(), format!("the lock `{}` cannot be opened: {error}", file_name(path)))
            })?;
            match file.try_lock() {
                Ok(()) if is_at(&file, path)? => return Ok(Self { path: path.to_owned(), _file: file, _held: held }),
                // its last holder has removed it
                Ok(()) => continue,
                Err(TryLockError::WouldBlock) if begin.elapsed() < limit => {
                    drop(held);
                    std::thread::sleep(LOCK_INTERVAL);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(io::Error::other(format!(
                        "another process has held the lock `{}` for {} s: wait until it has ended, then try again",
                        file_name(path),
                        limit.as_secs_f64()
                    )));
                }
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                    warn(format_args!(
                        "the file system of `{}` has no locks: what another process writes now may be lost",
                        file_name(path)
                    ));
                    return Ok(Self { path: path.to_owned(), _file: file, _held: held });
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
}

/// Opens a lock file without following a link and without waiting for the other end of a pipe.
fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    options.open(path)
}

/// Whether the path still denotes this open file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let own = file.metadata()?;
        Ok(path.symlink_metadata().is_ok_and(|found| (found.dev(), found.ino()) == (own.dev(), own.ino())))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_is_waited_for_no_longer_than_the_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let limit = Duration::from_millis(20);
        let held = LockedUsage::lock(folder.path(), limit).expect("the lock");
        let error = LockedUsage::lock(folder.path(), limit).err().expect("no second lock").to_string();
        assert!(error.starts_with("another process has held the lock") && error.contains("0.02 s"), "{error}");
        drop(held);
        LockedUsage::lock(folder.path(), limit).expect("the lock");
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_that_is_a_link_or_a_pipe_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = folder.path().join("usage.lock");
        let target = folder.path().join("target");
        fs::write(&target, "text").expect("a file");
        std::os::unix::fs::symlink(&target, &lock).expect("a link");
        let error = LockedUsage::lock(folder.path(), LOCK_LIMIT).err().expect("no lock").to_string();
        assert!(error.contains("usage.lock` cannot be opened"), "{error}");
        assert_eq!(fs::read(&target).expect("a file"), b"text");
    }
}
