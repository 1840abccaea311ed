//! Where the files of a site are: those that were found in a folder or an archive, by their paths; and
//! the search for them in a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::Path;

use jsf_words::quoted_list;

use crate::files::file_role::{
    ROLES, is_folder_of_site, is_sched_priv, is_site_file, roles_of, with_endings,
};
use crate::files::file_source::OpenedFile;
use crate::{FileSource, Role, SiteFiles};

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
        let roles = roles_of(&path);
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
        let mut roles = self.by_path.keys().flat_map(|path| roles_of(path));
        roles.any(Role::is_of_openpbs)
    }

    /// The files in their roles.
    pub fn into_site_files(mut self) -> SiteFiles {
        self.warn_of_unused_jobs();
        // that of the default scheduler comes first; none if the site is such a folder itself
        // of these names `sched_priv` is the first in the alphabet
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
        // unlike in `add`, no name says that the site has lost something
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
