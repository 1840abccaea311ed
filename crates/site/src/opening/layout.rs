//! Where a site's files are in a folder or an archive: their usual names, and those in a
//! `pbs_snapshot`.

use std::collections::{BTreeMap, BTreeSet};

use jsf_openpbs::words::quoted;

use crate::opening::file_source::FileSource;
use crate::opening::role::{ROLES, Role};
use crate::opening::site_files::SiteFiles;

/// The endings of compressed files.
const COMPRESSED: [&str; 2] = [".gz", ".zst"];

/// Whether a folder of this name is a scheduler's: `sched_priv`, or `sched_priv_NAME` for each
/// further scheduler.
pub(crate) fn is_sched_priv(folder: &str) -> bool {
    folder == "sched_priv" || folder.starts_with("sched_priv_")
}

/// Whether a site's file has this path, relative to the folder of the site.
pub(crate) fn is_site_file(path: &str) -> bool {
    roles(path).next().is_some()
}

/// The roles that a file with this path can have.
fn roles(path: &str) -> impl Iterator<Item = Role> {
    let path = uncompressed(path);
    let in_sched_priv = match path.split_once('/') {
        Some((folder, name)) => is_sched_priv(folder).then_some(name),
        None => Some(path),
    };
    let named = ROLES.iter().filter(move |files| {
        let own = if files.role.is_of_scheduler() {
            in_sched_priv
        } else {
            Some(path)
        };
        own.is_some_and(|own| files.names().any(|name| name == own))
    });
    named.map(|files| files.role)
}

/// The name without the ending of a compressed file.
fn uncompressed(path: &str) -> &str {
    let mut endings = COMPRESSED.iter();
    let stripped = endings.find_map(|ending| path.strip_suffix(ending));
    stripped.unwrap_or(path)
}

/// The paths that a site's files can have, except those in a `sched_priv_NAME`.
pub(crate) fn candidates() -> impl Iterator<Item = String> {
    let others = ROLES.iter().filter(|files| !files.role.is_of_scheduler());
    let others = others.flat_map(|files| files.names().map(str::to_owned));
    let scheduler = ["", "sched_priv/"]
        .into_iter()
        .flat_map(in_scheduler_folder);
    // a file may have several roles
    let all: BTreeSet<String> = others.chain(scheduler).collect();
    all.into_iter().flat_map(|path| with_endings(&path))
}

/// The path, and the paths of the file when it is compressed.
fn with_endings(path: &str) -> [String; 3] {
    ["", COMPRESSED[0], COMPRESSED[1]].map(|ending| format!("{path}{ending}"))
}

/// The paths of the scheduler's files in a folder, which is empty or ends in `/`.
pub(crate) fn in_scheduler_folder(folder: &str) -> impl Iterator<Item = String> {
    let own = ROLES.iter().filter(|files| files.role.is_of_scheduler());
    own.flat_map(move |files| files.names().map(move |name| format!("{folder}{name}")))
}

/// The files that were found, by their paths relative to the folder of the site.
#[derive(Debug, Default)]
pub(crate) struct FoundFiles {
    pub by_path: BTreeMap<String, FileSource>,
    /// The files of a folder that have other names, and what their contents show them to be.
    pub recognised: Vec<(Role, FileSource)>,
    /// What is doubtful about the folder or the archive, one sentence each.
    pub warnings: Vec<String>,
    /// What the folder or the archive has more than once, one sentence each.
    pub repeated: Vec<String>,
}

impl FoundFiles {
    /// The files of the only folder that has any.
    ///
    /// # Errors
    /// Several folders have files.
    pub(crate) fn of_only_folder(folders: BTreeMap<String, Self>) -> Result<Self, String> {
        if folders.len() > 1 {
            return Err(format!(
                "it contains several sites: {}; give one of them",
                quoted(folders.keys().take(4))
            ));
        }
        Ok(folders.into_values().next().unwrap_or_default())
    }

    /// Adds a file of `root`, a folder or an archive. A command that fails leaves an empty file: it
    /// is not used, and a warning names it, unless it lists resources or reservations, of which a
    /// site may have none. The scheduler's own files may be empty.
    pub(crate) fn add(&mut self, root: &str, path: String, file: FileSource, is_empty: bool) {
        if !is_empty || roles(&path).any(Role::is_of_scheduler) {
            if self.by_path.insert(path.clone(), file).is_some() {
                self.repeated.push(format!(
                    "`{root}` has `{path}` more than once; the last one counts"
                ));
            }
        } else if roles(&path).all(|role| !matches!(role, Role::Resources | Role::Reservations)) {
            self.warnings.push(format!(
                "`{root}`: `{path}` is empty and is not used; check whether the command that wrote it failed"
            ));
        }
    }

    /// Warns of a folder in the place of a file.
    pub(crate) fn warn_of_folder(&mut self, root: &str, path: &str) {
        self.warnings.push(format!(
            "`{root}`: `{path}` is a folder, expected a file, and is not used"
        ));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_path.is_empty() && self.recognised.is_empty()
    }

    /// Whether a file is there that only a site of PBS has.
    pub(crate) fn has_files_of_pbs(&self) -> bool {
        let mut paths = self.by_path.keys();
        paths.any(|path| roles(path).any(Role::is_of_openpbs))
    }

    /// The files in their roles.
    pub(crate) fn into_site_files(mut self) -> SiteFiles {
        self.warn_of_unused_jobs();
        // that of the default scheduler comes first; none if the site is such a folder itself
        let folders = self.scheduler_folders();
        let default = folders.first();
        let in_default = default.map_or_else(String::new, |name| format!("{name}/"));
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
        let paths = self.by_path.keys().filter_map(|path| path.split_once('/'));
        let folders = paths.map(|(folder, _)| folder);
        folders.filter(|folder| is_sched_priv(folder)).collect()
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
        let mut paths = with_endings(path).into_iter();
        paths.find_map(|path| self.by_path.get(&path).cloned())
    }

    /// Warns of the output of qstat that is not read because of another one. In a `pbs_snapshot`
    /// several formats contain the same jobs.
    fn warn_of_unused_jobs(&mut self) {
        let names = Role::Queue.files().names();
        let names = names.filter(|name| name.starts_with("qstat"));
        let mut paths: Vec<String> = names.flat_map(with_endings).collect();
        paths.retain(|path| self.by_path.contains_key(path));
        for path in paths.iter().skip(1) {
            let used = &paths[0];
            self.warnings
                .push(format!("`{path}` is not read, because `{used}` is there"));
        }
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
        assert!(candidates().all(|path| is_site_file(&path)));
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
}
