//! Where the files of a site are: their usual names in a folder or an archive, those in a
//! `pbs_snapshot` among them; and the search for them
//! in a folder or in a tar archive, which is read in place: nothing is written to disk, and no member
//! is opened that is not one of the site's files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use jsf_words::quoted_list;
use tar::{Archive, Entries, Entry, EntryType, PaxExtensions};

use crate::files::file_role::{ROLES, RoleFiles};
use crate::files::file_source::OpenedFile;
use crate::files::file_source::{CountingReader, decompressed, read_head};
use crate::{FileSource, Role, SiteError, SiteFiles};

/// The endings of compressed files.
const COMPRESSED: [&str; 2] = [".gz", ".zst"];

/// Whether a folder of this name is a scheduler's: `sched_priv`, or `sched_priv_NAME` for each
/// further scheduler.
pub fn is_sched_priv(folder: &str) -> bool {
    folder == "sched_priv" || folder.starts_with("sched_priv_")
}

/// Whether a site's file has this path, relative to the folder of the site.
pub fn is_site_file(path: &str) -> bool {
    !roles(path).is_empty()
}

/// The roles that a file with this path can have.
fn roles(path: &str) -> Vec<Role> {
    let path = uncompressed(path);
    let in_sched_priv = match path.split_once('/') {
        Some((folder, name)) if is_sched_priv(folder) => Some(name),
        Some(_) => None,
        None => Some(path),
    };
    let mut roles = Vec::new();
    for files in &ROLES {
        let own = if files.role.is_of_scheduler() {
            in_sched_priv
        } else {
            Some(path)
        };
        if let Some(own) = own
            && files.names().any(|name| name == own)
        {
            roles.push(files.role);
        }
    }
    roles
}

/// The name without the ending of a compressed file.
fn uncompressed(path: &str) -> &str {
    for ending in COMPRESSED {
        if let Some(stripped) = path.strip_suffix(ending) {
            return stripped;
        }
    }
    path
}

/// Whether a folder in that of a site may have files of the site.
pub fn is_folder_of_site(name: &str) -> bool {
    let mut names = ROLES.iter().flat_map(RoleFiles::names);
    is_sched_priv(name)
        || names.any(|path| {
            path.split_once('/')
                .is_some_and(|(folder, _)| folder == name)
        })
}

/// Whether a file in a scheduler's folder has this name.
pub fn is_scheduler_file(name: &str) -> bool {
    roles(name).iter().any(|role| role.is_of_scheduler())
}

/// The path, and the paths of the file when it is compressed.
fn with_endings(path: &str) -> [String; 3] {
    ["", COMPRESSED[0], COMPRESSED[1]].map(|ending| format!("{path}{ending}"))
}

/// The parts of the path of a member, without those that stay in the same folder.
pub fn path_parts(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.retain(|part| !matches!(*part, "" | "."));
    parts
}

/// The files that were found, by their paths relative to the folder of the site.
#[derive(Debug, Default)]
pub struct FoundFiles {
    pub by_path: BTreeMap<String, FileSource>,
    /// The files of a folder that have other names, and what their contents show them to be.
    pub recognised: Vec<(Role, FileSource)>,
    /// What is doubtful about the folder or the archive, one sentence each.
    pub warnings: Vec<String>,
    /// What the folder or the archive has more than once, one sentence each.
    pub repeated: Vec<String>,
}

impl FoundFiles {
    /// The files at the top, whose name is empty, else those of the only folder that has any.
    ///
    /// # Errors
    /// Several folders have files.
    pub fn of_only_folder(mut folders: BTreeMap<String, Self>) -> Result<Self, String> {
        folders.retain(|_, found| !found.is_empty());
        if let Some(top) = folders.remove("") {
            return Ok(top);
        }
        if folders.len() > 1 {
            return Err(format!(
                "it contains several sites: {}; give one of them",
                quoted_list(folders.keys().take(4))
            ));
        }
        Ok(folders.into_values().next().unwrap_or_default())
    }

    /// Adds a file of `root`, a folder or an archive. A command that fails leaves an empty file: it
    /// is not used, and a warning names it, unless it lists resources or reservations, of which a
    /// site may have none. The scheduler's own files may be empty.
    pub fn add(&mut self, root: &str, path: String, file: FileSource, is_empty: bool) {
        let roles = roles(&path);
        if !is_empty || roles.iter().any(|role| role.is_of_scheduler()) {
            if self.by_path.insert(path.clone(), file).is_some() {
                self.repeated.push(format!(
                    "`{root}` has `{path}` more than once; the last one counts"
                ));
            }
        } else if !roles.contains(&Role::Resources) && !roles.contains(&Role::Reservations) {
            self.warnings.push(format!(
                "`{root}`: `{path}` is empty and is not used; check whether the command that wrote it failed"
            ));
        }
    }

    /// Warns of a folder in the place of a file.
    pub fn warn_of_folder(&mut self, root: &str, path: &str) {
        self.warnings.push(format!(
            "`{root}`: `{path}` is a folder, expected a file, and is not used"
        ));
    }

    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty() && self.recognised.is_empty()
    }

    /// Whether a file is there that only a site of PBS has.
    pub fn has_files_of_pbs(&self) -> bool {
        let mut roles = self.by_path.keys().flat_map(|path| roles(path));
        roles.any(Role::is_of_openpbs)
    }

    /// The files in their roles.
    pub fn into_site_files(mut self) -> SiteFiles {
        self.warn_of_unused_jobs();
        // that of the default scheduler comes first; none if the site is such a folder itself
        let folders = self.scheduler_folders();
        let in_default = match folders.first() {
            Some(name) => format!("{name}/"),
            None => String::new(),
        };
        let mut files = self.in_folder(SiteFiles::default(), "", false);
        files = self.in_folder(files, &in_default, true);
        for folder in folders.iter().skip(1) {
            let own = self.in_folder(SiteFiles::default(), &format!("{folder}/"), true);
            files.schedulers.insert((*folder).to_owned(), own.sources);
        }
        for (role, source) in self.recognised {
            if !files.has(role) || role.takes_several() {
                files = files.with(role, source);
            }
        }
        files.warnings = self.warnings;
        files.repeated = self.repeated;
        files
    }

    /// The folders of schedulers.
    fn scheduler_folders(&self) -> BTreeSet<&str> {
        let mut folders = BTreeSet::new();
        for path in self.by_path.keys() {
            if let Some((folder, _)) = path.split_once('/')
                && is_sched_priv(folder)
            {
                folders.insert(folder);
            }
        }
        folders
    }

    /// The files and those in a folder, either all of a scheduler or all others.
    fn in_folder(&self, mut files: SiteFiles, folder: &str, is_of_scheduler: bool) -> SiteFiles {
        for files_of_role in &ROLES {
            let role = files_of_role.role;
            if role.is_of_scheduler() != is_of_scheduler {
                continue;
            }
            for name in files_of_role.names() {
                if let Some(source) = self.get(&format!("{folder}{name}")) {
                    files = files.with(role, source);
                    if !role.takes_several() {
                        break;
                    }
                }
            }
        }
        files
    }

    fn get(&self, path: &str) -> Option<FileSource> {
        for path in with_endings(path) {
            if let Some(source) = self.by_path.get(&path) {
                return Some(source.clone());
            }
        }
        None
    }

    /// Warns of the output of qstat that is not read because of another one. In a `pbs_snapshot`
    /// several formats contain the same jobs.
    fn warn_of_unused_jobs(&mut self) {
        let mut paths = Vec::new();
        for name in Role::Queue.files().names() {
            if name.starts_with("qstat") {
                paths.extend(with_endings(name));
            }
        }
        paths.retain(|path| self.by_path.contains_key(path));
        if let [used, unused @ ..] = paths.as_slice() {
            for path in unused {
                self.warnings
                    .push(format!("`{path}` is not read, because `{used}` is there"));
            }
        }
    }
}

/// The site's files in a folder, or in the only folder in it that has any.
pub fn find_in_folder(folder: &Path) -> io::Result<FoundFiles> {
    let mut found = find_at_top(folder)?;
    if !found.has_files_of_pbs() {
        recognise_slurm_files(&mut found, folder)?;
    }
    if !found.is_empty() {
        return Ok(found);
    }
    let mut inner = BTreeMap::new();
    for name in names_in(folder)? {
        let path = folder.join(&name);
        // a folder that cannot be read is not a part of the site
        if path.read_dir().is_ok() {
            inner.insert(name, find_at_top(&path)?);
        }
    }
    FoundFiles::of_only_folder(inner).map_err(io::Error::other)
}

/// The names of what is in a folder, in alphabetical order.
pub fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in folder.read_dir()? {
        names.extend(entry?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// The site's files in a folder.
fn find_at_top(folder: &Path) -> io::Result<FoundFiles> {
    let mut found = FoundFiles::default();
    for name in names_in(folder)? {
        let inner = folder.join(&name);
        if is_site_file(&name) {
            add(&mut found, folder, name)?;
        } else if is_folder_of_site(&name) && inner.is_dir() {
            let names = names_in(&inner);
            // an ordinary user may not list the folder of the scheduler
            let names = names
                .map_err(|error| io::Error::new(error.kind(), format!("`{name}`: {error}")))?;
            for file in names {
                let path = format!("{name}/{file}");
                if is_site_file(&path) {
                    add(&mut found, folder, path)?;
                }
            }
        }
    }
    Ok(found)
}

/// The most files of a folder whose contents are looked at.
const MAX_LOOKED_AT: usize = 1000;

/// Adds the files with other names that the tools of Slurm have written, as their contents show.
/// JSON has more of a job than a table, so it comes first.
fn recognise_slurm_files(found: &mut FoundFiles, folder: &Path) -> io::Result<()> {
    let mut names = names_in(folder)?;
    names.truncate(MAX_LOOKED_AT);
    names.retain(|name| {
        let file = folder.join(name).symlink_metadata();
        !is_site_file(name) && file.is_ok_and(|file| file.is_file())
    });
    names.sort_by_key(|name| (!name.ends_with(".json"), name.clone()));
    for name in names {
        let source = FileSource::from(folder.join(name));
        let Ok(OpenedFile { kind, .. }) = source.opened() else {
            continue;
        };
        if let Some(role) = Role::of_slurm_file(kind) {
            found.recognised.push((role, source));
        }
    }
    Ok(())
}

/// Adds the file if it exists. A file that exists and cannot be read is an error: without it,
/// numbers would be wrong.
pub fn add(found: &mut FoundFiles, folder: &Path, path: String) -> io::Result<()> {
    debug_assert!(is_site_file(&path));
    let file = folder.join(&path);
    let root = folder.display().to_string();
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => {
            found.add(&root, path, file.into(), metadata.len() == 0);
            Ok(())
        }
        Ok(metadata) if metadata.is_dir() => {
            found.warn_of_folder(&root, &path);
            Ok(())
        }
        Ok(_) => Err(io::Error::other(format!("{path}: it is not a file"))),
        Err(error) if error.kind() == NotFound && file.is_symlink() => {
            let target = file.read_link()?;
            let target = target.display();
            let reason =
                format!("{path}: it is a symbolic link to `{target}`, which does not exist");
            Err(io::Error::new(NotFound, reason))
        }
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(()),
        Err(error) => Err(io::Error::new(error.kind(), format!("{path}: {error}"))),
    }
}

/// The most members of an archive.
const MAX_MEMBERS: usize = 200_000;
/// The most bytes that the site's files may have together.
const MAX_KEPT: u64 = 1 << 30;
/// The most bytes of a member that holds the name of the next one.
const MAX_NAME: u64 = 64 << 10;
/// The most bytes after the end of an archive, where tar only pads.
const MAX_AFTER: u64 = 16 << 20;
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
    // the checksum of the compressed data follows the last member
    let after =
        io::copy(&mut archive.into_inner().take(MAX_AFTER), &mut io::sink()).map_err(&failed)?;
    if after == MAX_AFTER {
        let message = format!(
            "`{}` has more than {MAX_AFTER} bytes after the end of the archive",
            path.display()
        );
        return Err(SiteError::content(message));
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
    Err(SiteError::content(format!(
        "`{}` is neither: {expected}",
        path.display()
    )))
}

/// The site's files, and where the content of the last member ends.
fn collect<R: Read>(path: &Path, entries: Entries<'_, R>) -> Result<(FoundFiles, u64), SiteError> {
    let archive = path.display().to_string();
    let failed = SiteError::reading(path);
    // by the folder that contains the files, empty for the top of the archive
    let mut folders: BTreeMap<String, FoundFiles> = BTreeMap::new();
    let mut kept = 0_u64;
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
        kept = kept.saturating_add(entry.size());
        if kept > MAX_KEPT {
            let reason = format!("`{name}`: the files of the site have more than {MAX_KEPT} bytes");
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
    fn a_site_file_is_known_by_its_path() {
        for path in [
            "qstat.json",
            "qstat.json.gz",
            "usage",
            "sched_priv/usage",
            "sched_priv_gpu/sched_config",
            "ctime",
        ] {
            assert!(is_site_file(path), "{path}");
        }
        for path in [
            "",
            "/etc/passwd",
            "sched_priv/other",
            "mom_priv/usage",
            "sched_priv/usage/x",
            "../usage",
        ] {
            assert!(!is_site_file(path), "{path}");
        }
    }

    #[test]
    fn the_docs_name_every_file_of_a_site() {
        let docs = include_str!("../../../../docs/input.md");
        let folder = docs
            .split("## The folder of a site")
            .nth(1)
            .and_then(|rest| rest.split("\n## ").next())
            .unwrap();
        let names = ROLES
            .iter()
            .flat_map(|files| files.names())
            .filter(|name| !name.contains('/'));
        for name in names {
            assert!(folder.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn the_default_scheduler_comes_first() {
        let by_path = ["sched_priv_gpu/usage", "sched_priv/usage"]
            .map(|path| (path.to_owned(), FileSource::from(path)));
        let files = FoundFiles {
            by_path: by_path.into(),
            ..FoundFiles::default()
        }
        .into_site_files();
        assert_eq!(
            files.first(Role::Usage),
            Some(&FileSource::from("sched_priv/usage"))
        );
    }

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
