//! Files that are written under a temporary name, flushed and renamed: a reader sees either the old file or the new one,
//! never a part of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::signals::HeldSignals;
use super::warn;

/// The most names that are tried for a file that must not exist yet.
const MAX_NAMES: u32 = 1000;

/// Replaces a file, or the one that a symbolic link points to: a reader sees either the old file or the new one. A device,
/// such as `/dev/null`, is written to; a pipe is refused, because nothing may ever read it. A file of another user passes on
/// neither its owner nor its permissions. What a process left that was killed while it wrote the file is removed if it
/// `is_left_over`.
pub(super) fn replace_file(path: &Path, bytes: &[u8], is_left_over: impl Fn(&Path) -> bool) -> io::Result<()> {
    let place = Place::find(path)?;
    let old = match fs::symlink_metadata(&place.path) {
        Ok(found) if is_character_device(&found) => {
            return OpenOptions::new().write(true).open(&place.path)?.write_all(bytes);
        }
        Ok(found) if !found.is_file() => return Err(io::Error::other("it is not a file")),
        Ok(found) if is_own(&found) => File::open(&place.path).ok(),
        _ => None,
    };
    remove_left_overs(&place.path, is_left_over);
    let _held = HeldSignals::new();
    let new = TemporaryFile::write(&temporary_path(&place.path, "new"), bytes, old.as_ref())?;
    fs::rename(&new.0, &place.path)?;
    // the file is replaced, whether or not that outlives a crash of the system
    let _ = sync_folder(&place.folder.path);
    Ok(())
}

#[cfg(unix)]
fn is_character_device(found: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_char_device(&found.file_type())
}

#[cfg(not(unix))]
fn is_character_device(_: &fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
fn is_own(found: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(found) == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    true
}

/// A folder that is kept open, so that its paths lead into this folder even if another one gets its name.
pub(super) struct Folder {
    /// The folder for functions that take paths: the open descriptor if the system has a path for it.
    pub(super) path: PathBuf,
    /// The folder for messages.
    pub(super) shown: PathBuf,
    _opened: File,
}

impl Folder {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let shown = path.canonicalize()?;
        let opened = open_without_links(&shown)?;
        let path = path_of_open(&opened).filter(|path| path.is_dir()).unwrap_or_else(|| shown.clone());
        Ok(Self { path, shown, _opened: opened })
    }
}

/// Opens a folder by a path without symbolic links, and fails if there is one by now.
#[cfg(target_os = "linux")]
fn open_without_links(path: &Path) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(opened) => Ok(opened.into()),
        // a system before Linux 5.6, or one that filters the call
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
            let opened = rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty())?;
            Ok(opened.into())
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_without_links(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(target_os = "linux")]
fn path_of_open(opened: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    Some(format!("/proc/self/fd/{}", opened.as_raw_fd()).into())
}

#[cfg(not(target_os = "linux"))]
fn path_of_open(_: &File) -> Option<PathBuf> {
    None
}

/// A file in a folder that is held open. The file need not exist; it was no symbolic link when it was looked at.
pub(super) struct Place {
    pub(super) folder: Folder,
    /// The file for functions that take paths.
    pub(super) path: PathBuf,
}

impl Place {
    /// The file of a path, behind symbolic links. A link must belong to root or to the user of this process: somebody else's
    /// could lead to any file.
    pub(super) fn find(path: &Path) -> io::Result<Self> {
        let mut path = path.to_owned();
        for followed in 0..MAX_LINKS {
            let folder = Folder::open(path.parent().unwrap_or(Path::new("/")))?;
            let name = path.file_name().ok_or_else(|| io::Error::other("it is not the path of a file"))?;
            let inside = folder.path.join(name);
            match fs::symlink_metadata(&inside) {
                Ok(found) if found.is_symlink() => {
                    let target = fs::read_link(&inside)?;
                    if !is_trusted(&found) {
                        return Err(io::Error::other(format!(
                            "it is a symbolic link to `{}` that another user made: give the path of the file itself",
                            target.display()
                        )));
                    }
                    path = folder.shown.join(target);
                }
                Err(error) if error.kind() == ErrorKind::NotFound && followed > 0 => {
                    return Err(io::Error::other(format!(
                        "it is a symbolic link to `{}`, which does not exist: create that file, or remove the link",
                        path.display()
                    )));
                }
                _ => return Ok(Self { folder, path: inside }),
            }
        }
        Err(io::Error::other("too many symbolic links follow each other"))
    }
}

/// The most symbolic links that are followed one after the other.
const MAX_LINKS: usize = 16;

/// Whether root or the user of this process made the link.
#[cfg(unix)]
fn is_trusted(link: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(link) == 0 || is_own(link)
}

#[cfg(not(unix))]
fn is_trusted(_: &fs::Metadata) -> bool {
    true
}

/// A temporary file that is removed on drop, unless it was renamed.
pub(super) struct TemporaryFile(pub(super) PathBuf);

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl TemporaryFile {
    /// Writes a new file and flushes it to the disk. Where the system allows it, the file has no name until it is complete,
    /// so that nothing is left of it if the process is killed.
    pub(super) fn write(path: &Path, bytes: &[u8], old: Option<&File>) -> io::Result<Self> {
        if let Some(mut file) = create_unnamed(path, old.is_some()) {
            fill(path, &mut file, bytes, old)?;
            if let Ok(path) = first_free(path, |path| give_name(&file, path)) {
                return Ok(Self(path));
            }
        }
        let mut file = None;
        let path = first_free(path, |path| {
            file = Some(create(path, old.is_some())?);
            Ok(())
        })?;
        let temporary = Self(path);
        let mut file = file.ok_or(ErrorKind::AlreadyExists)?;
        fill(&temporary.0, &mut file, bytes, old)?;
        Ok(temporary)
    }

    /// Links a file to a temporary name.
    pub(super) fn link(original: &Path, path: &Path) -> io::Result<Self> {
        first_free(path, |path| link_or_copy(original, path)).map(Self)
    }
}

/// Writes a file, gives it the attributes of the old one, and flushes it to the disk.
fn fill(path: &Path, file: &mut File, bytes: &[u8], old: Option<&File>) -> io::Result<()> {
    if let Some(old) = old {
        copy_attributes(path, file, old)?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// Creates a file without a name in the folder of `path`; `None` if the file system has no such files.
#[cfg(target_os = "linux")]
fn create_unnamed(path: &Path, hidden: bool) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let mode = Mode::from_raw_mode(if hidden { 0o600 } else { 0o666 });
    let file = rustix::fs::open(path.parent()?, OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, mode).ok()?;
    Some(file.into())
}

#[cfg(not(target_os = "linux"))]
fn create_unnamed(_: &Path, _: bool) -> Option<File> {
    None
}

/// Gives an unnamed file a name that does not exist yet.
#[cfg(target_os = "linux")]
fn give_name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    let unnamed = path_of_open(file).ok_or(ErrorKind::Unsupported)?;
    Ok(linkat(CWD, &unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn give_name(_: &File, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Removes the temporary files of a path that processes left when they were killed, if they are `is_left_over`.
pub(super) fn remove_left_overs(path: &Path, is_left_over: impl Fn(&Path) -> bool) {
    let Some(entries) = path.parent().and_then(|folder| folder.read_dir().ok()) else { return };
    let start = format!("{}.new-", file_name(path));
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    for name in names.filter(|name| name.strip_prefix(&start).is_some_and(is_of_dead_process)) {
        let left = path.with_file_name(name);
        if is_left_over(&left) {
            let _ = fs::remove_file(left);
        }
    }
}

/// Whether the end of a temporary file's name is that of a process that no longer runs. This process has none yet.
fn is_of_dead_process(end: &str) -> bool {
    let Ok(process) = end.split('-').next().unwrap_or_default().parse() else { return false };
    process == std::process::id() || !is_running(process)
}

#[cfg(unix)]
fn is_running(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    process.is_some_and(|process| rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn is_running(_: u32) -> bool {
    true
}

/// The last part of a path, for messages: what precedes it may be a descriptor.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
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
            warn(format_args!("`{}` cannot be given the owner of the old file: {error}", file_name(path)));
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
                    super::file_name(path)
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
