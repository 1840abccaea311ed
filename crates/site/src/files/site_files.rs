//! The files of a site by their roles: found in a folder or an archive, or given one by one.

use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use job_sort_formula::schema::InputType;
use jsf_ingest::FileKind;
use jsf_openpbs::Objects;
use jsf_openpbs::files::server::{DEFAULT_PARTITION, scheduler_of_partition};

use crate::files::archive::read_archive;
use crate::files::file_role::is_scheduler_file;
use crate::files::file_source::open;
use crate::files::found_files::{FoundFiles, add, find_in_folder, names_in};
use crate::{FileSource, Role, SiteError, is_stdin};

/// The files of a site by their roles, each of them optional.
///
/// ```
/// use jsf_site::{Role, SiteFiles};
///
/// let files = SiteFiles::default().with(Role::Queue, "qstat.json").with(Role::Tree, "sshare.txt");
/// assert_eq!(files.first(Role::Tree), Some(&"sshare.txt".into()));
/// ```
#[derive(Debug, Clone, Default)]
pub struct SiteFiles {
    pub(crate) sources: BTreeMap<Role, Vec<FileSource>>,
    /// Resources that are declared without a document, with their types.
    pub(crate) declared: Vec<(String, InputType)>,
    /// The folder or the archive in which the files were found.
    pub(crate) root: Option<PathBuf>,
    /// What is doubtful about the folder or the archive, one sentence each.
    pub(crate) warnings: Vec<String>,
    /// What the folder or the archive has more than once, one sentence each.
    pub(crate) repeated: Vec<String>,
    /// Whether the jobs are those of a log, so that a queue is not missing.
    pub(crate) has_jobs_of_log: bool,
    /// The jobs that wait beside those of the log.
    pub(crate) queue_beside_log: Option<FileSource>,
    /// The files of each further scheduler, by the name of its folder.
    pub(crate) schedulers: BTreeMap<String, BTreeMap<Role, Vec<FileSource>>>,
    /// The partition of the scheduler whose jobs are meant; `None` for the default one.
    pub(crate) partition: Option<String>,
}

impl SiteFiles {
    /// The files that a folder or a tar archive (`-`: one on standard input) contains under their
    /// usual names, or under those of a `pbs_snapshot`: `sched_priv/`, `qstat.json`, `server.json`,
    /// `queues.json`, `resourcedef`, `slurm.conf`, `sshare.json`, `job/qstat_f.out` and so on. The
    /// folder may also be a `sched_priv`, or contain one folder with these files.
    ///
    /// The members of an archive are read in place: nothing is unpacked, and no other member is
    /// opened.
    ///
    /// # Errors
    /// The path cannot be read, or contains none of these files; an archive has a member outside of
    /// it, a link in place of a file, or too many bytes or members.
    pub fn open(path: &Path) -> Result<Self, SiteError> {
        let found = if is_stdin(path) {
            read_archive(FileSource::from(path).name().as_ref(), io::stdin())?
        } else if path.is_dir() {
            find_in_folder(path).map_err(SiteError::reading(path))?
        } else {
            let file = open(path).map_err(SiteError::reading(path))?;
            read_archive(path, BufReader::new(file))?
        };
        let files = found.into_site_files();
        if files.is_empty() {
            let message = format!(
                "`{}` contains no file of a site: expected jobs (`qstat.json`, `qstat.txt`, `squeue.json`), `sched_priv`, `server.json`, \
                 `sshare.json`, `slurm.conf`, or a `pbs_snapshot`; `jsf capture` prints a script that makes such a folder",
                path.display()
            );
            return Err(SiteError::Missing(message.into()));
        }
        Ok(Self {
            root: Some(path.to_owned()),
            ..files
        })
    }

    /// The files in an archive in memory, as for [`open`](Self::open).
    pub(crate) fn from_archive(name: &str, archive: &FileSource) -> Result<Self, SiteError> {
        let files = read_archive(name.as_ref(), archive.open()?)?.into_site_files();
        if files.is_empty() {
            let message = format!("`{name}` contains no file of a site");
            return Err(SiteError::Missing(message.into()));
        }
        Ok(files)
    }

    /// These files and one more. Of the server, the queues and the resources there may be several;
    /// of another role the last file counts.
    #[must_use]
    pub fn with(mut self, role: Role, source: impl Into<FileSource>) -> Self {
        let sources = self.sources.entry(role).or_default();
        if !role.takes_several() {
            sources.clear();
        }
        sources.push(source.into());
        self
    }

    /// These files with resources that are declared without a document.
    #[must_use]
    pub fn declaring(self, declared: Vec<(String, InputType)>) -> Self {
        Self { declared, ..self }
    }

    /// These files without those of a role.
    #[must_use]
    pub fn without(mut self, role: Role) -> Self {
        self.sources.remove(&role);
        self
    }

    /// These files for a log of jobs, which take the place of those that wait: only
    /// [`Site::check_with_queue`](crate::Site::check_with_queue) reads these, unless they are on
    /// standard input.
    #[must_use]
    pub fn for_workload(mut self) -> Self {
        self.has_jobs_of_log = true;
        let mut queues = self.sources.remove(&Role::Queue).unwrap_or_default();
        queues.truncate(1);
        queues.retain(|queue| !queue.is_stdin());
        self.queue_beside_log = queues.pop();
        self
    }

    /// Whether a file of OpenPBS is among them.
    pub fn are_of_openpbs(&self) -> bool {
        self.sources.keys().any(|role| role.is_of_openpbs())
    }

    /// These files for the scheduler that has the jobs of a partition: its own folder
    /// (`sched_priv_NAME`), formula and attributes count, and those of the default scheduler do
    /// not.
    ///
    /// # Errors
    /// A document of the server cannot be read.
    pub fn of_partition(mut self, partition: &str) -> Result<Self, SiteError> {
        if partition == DEFAULT_PARTITION {
            return Ok(self);
        }
        let mut folder = None;
        for source in self.all(Role::Server) {
            let text = source.read_text(Role::Server)?;
            if let Some(scheduler) = scheduler_of_partition(&Objects::read(&text), partition) {
                folder.get_or_insert(scheduler.folder);
            }
        }
        let mut own = None;
        if let Some(folder) = folder {
            own = self.schedulers.remove(&folder);
        }
        // files that are given one by one are those of the scheduler that is asked for
        if self.root.is_some() {
            if own.is_none() && self.sources.keys().any(|role| role.is_of_scheduler()) {
                self.warnings.push(format!(
                    "the site has no `sched_priv` of the scheduler with the partition `{partition}`, and that of the default \
                     scheduler is not used"
                ));
            }
            self.sources.retain(|role, _| !role.is_of_scheduler());
        }
        self.sources.extend(own.into_iter().flatten());
        Ok(Self {
            partition: Some(partition.to_owned()),
            ..self
        })
    }

    /// The files of a role.
    pub fn all(&self, role: Role) -> &[FileSource] {
        self.sources.get(&role).map_or(&[], Vec::as_slice)
    }

    /// The file of a role; of several the first.
    pub fn first(&self, role: Role) -> Option<&FileSource> {
        self.all(role).first()
    }

    /// Whether there is a file of a role.
    pub fn has(&self, role: Role) -> bool {
        self.sources.contains_key(&role)
    }

    /// The files with their roles.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (Role, &FileSource)> {
        let sources = self.sources.iter();
        sources.flat_map(|(role, sources)| sources.iter().map(|source| (*role, source)))
    }

    /// These files, with those of each role replaced that is also among `given`. A given
    /// `sched_priv` replaces all of the scheduler's files; it or a given `resource_group` also
    /// replaces the tree. The declared resources are those of `given`.
    #[must_use]
    pub fn replaced_by(mut self, given: Self) -> Self {
        if given.has(Role::SchedPriv) {
            self.sources.retain(|role, _| !role.is_of_scheduler());
        }
        // a document of the tree precedes a `resource_group` and would hide the given one
        if given.has(Role::SchedPriv) || given.has(Role::ResourceGroup) {
            self.sources.remove(&Role::Tree);
        }
        self.sources.extend(given.sources);
        Self {
            declared: given.declared,
            ..self
        }
    }

    /// These files with another fair-share tree: a `resource_group`, or a document as for
    /// [`Role::Tree`].
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn with_tree(self, tree: FileSource) -> Result<Self, SiteError> {
        let tree = tree.kept()?;
        let kind = tree.opened()?.kind;
        if kind == FileKind::ResourceGroup {
            return Ok(self.without(Role::Tree).with(Role::ResourceGroup, tree));
        }
        // `SiteTree::read` reads both beside a document, and refuses files of another kind
        let others = self.without(Role::ResourceGroup).without(Role::Usage);
        Ok(others.with(Role::Tree, tree))
    }

    /// These files, so that several sites can be opened with them: the content of standard input is
    /// kept, unless it is the jobs, which a site reads later.
    ///
    /// # Errors
    /// Standard input cannot be read.
    pub fn kept(mut self) -> Result<Self, SiteError> {
        for (role, sources) in &mut self.sources {
            if !matches!(role, Role::Queue | Role::SchedPriv) {
                for source in sources {
                    *source = source.clone().kept()?;
                }
            }
        }
        Ok(self)
    }

    fn is_empty(&self) -> bool {
        let mut roles = self.sources.keys();
        // these say when and where a folder was made, but nothing of jobs or settings
        roles.all(|role| matches!(role, Role::Time | Role::Python | Role::System))
    }

    /// The paths of the files, and of the folder or the archive in which they were found.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let files = self.sources().filter(|(role, _)| *role != Role::SchedPriv);
        let paths = files.filter_map(|(_, source)| match source {
            FileSource::Path(file) => Some(file),
            FileSource::Bytes { .. } => None,
        });
        paths.chain(&self.root)
    }

    /// Replaces the scheduler's folder by the files in it.
    ///
    /// # Errors
    /// The folder cannot be read, or contains none of the scheduler's files.
    pub(crate) fn with_scheduler_files(mut self) -> Result<Self, SiteError> {
        let Some(FileSource::Path(folder)) = self.first(Role::SchedPriv).cloned() else {
            return Ok(self);
        };
        let mut found = FoundFiles::default();
        for name in names_in(&folder).map_err(SiteError::reading(&folder))? {
            if is_scheduler_file(&name) {
                add(&mut found, &folder, name).map_err(SiteError::reading(&folder))?;
            }
        }
        if found.is_empty() {
            let message = format!(
                "`{}` is not a scheduler's folder: it contains neither `resource_group` nor `sched_config`, `usage` or \
                 `sched_formula`",
                folder.display()
            );
            return Err(SiteError::Missing(message.into()));
        }
        let found = found.into_site_files();
        self.warnings.extend(found.warnings);
        for (role, sources) in found.sources {
            // a file that is given by itself precedes that of the folder
            self.sources.entry(role).or_insert(sources);
        }
        Ok(self)
    }
}

impl FromIterator<(Role, FileSource)> for SiteFiles {
    fn from_iter<I: IntoIterator<Item = (Role, FileSource)>>(files: I) -> Self {
        let mut all = Self::default();
        for (role, source) in files {
            all = all.with(role, source);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_folder_are_found_by_their_names() {
        let site = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site");
        let files = SiteFiles::open(&site).expect("the example site");
        assert_eq!(
            files.first(Role::Queue),
            Some(&site.join("qstat.json").into())
        );
        assert_eq!(
            files.first(Role::Usage),
            Some(&site.join("sched_priv/usage").into())
        );
        let folder = SiteFiles::open(&site.join("sched_priv")).expect("a sched_priv");
        assert_eq!(
            folder.first(Role::Usage),
            Some(&site.join("sched_priv/usage").into())
        );
        let error = SiteFiles::open(&site.join("../formulas"))
            .expect_err("no site")
            .to_string();
        assert!(error.contains("contains no file of a site"), "{error}");
    }

    #[test]
    fn a_given_file_replaces_the_one_of_the_site() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site");
        let site = SiteFiles::open(&folder).expect("a site");
        let files = site
            .clone()
            .replaced_by(SiteFiles::default().with(Role::Queue, "other.json"));
        assert_eq!(files.first(Role::Queue), Some(&"other.json".into()));
        assert!(files.has(Role::Usage));
        let files = site.replaced_by(SiteFiles::default().with(Role::SchedPriv, "other"));
        assert!(!files.has(Role::Usage) && !files.has(Role::SchedConfig));
    }
}
