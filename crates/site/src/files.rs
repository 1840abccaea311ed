//! The files of a site: found in a folder or an archive, or given one by one.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use job_sort_formula::schema::InputType;

use super::SiteError;
use super::archive::{read_archive, read_archive_stream};
use super::file_kind::FileKind;
use super::layout::{FoundFiles, candidates, in_scheduler_folder, is_sched_priv, is_site_file};
use super::source::{self, FileSource, is_stdin};

/// The files of a site, each of them optional.
#[derive(Debug, Clone, Default)]
pub struct SiteFiles {
    /// The jobs: `qstat -f` as JSON, dsv or text, native JSON or NDJSON.
    pub queue: Option<FileSource>,
    /// The scheduler's folder `sched_priv`: `resource_group`, `usage`, `sched_config` and `sched_formula`.
    pub sched_priv: Option<PathBuf>,
    /// `resource_group`, instead of the one in `sched_priv`.
    pub resource_group: Option<FileSource>,
    /// The binary `usage`, instead of the one in `sched_priv`.
    pub usage: Option<FileSource>,
    /// `sched_config`, instead of the one in `sched_priv`.
    pub sched_config: Option<FileSource>,
    /// `sched_formula`, instead of the one in `sched_priv`.
    pub sched_formula: Option<FileSource>,
    /// The file with the formula, instead of the formula in force: as for [`FormulaText::read`](super::FormulaText::read).
    pub formula: Option<FileSource>,
    /// Another fair-share tree: native JSON, `sshare`, or a `sacctmgr dump`.
    pub tree: Option<FileSource>,
    /// The server: `qstat -Bf` as text or JSON, `qmgr -c 'print server'`, `qmgr -c 'list sched'`. Of several that contain
    /// a setting, the first one counts.
    pub server: Vec<FileSource>,
    /// The queues: `qstat -Qf` as text or JSON, or `qmgr -c 'print server'`; the first one that contains a queue counts.
    pub queues: Vec<FileSource>,
    /// The site's resources: `resourcedef`, `qmgr -c 'print resource'` or `qmgr -c 'list resource'`.
    pub resources: Vec<FileSource>,
    /// Resources that are declared without a document, with their types.
    pub declared: Vec<(String, InputType)>,
    /// `slurm.conf`.
    pub slurm_conf: Option<FileSource>,
    /// The file in which `pbs_snapshot` writes when it was called.
    pub taken: Option<FileSource>,
    /// The folder or the archive in which the files were found.
    pub root: Option<PathBuf>,
    /// What is doubtful about the folder or the archive, one sentence each.
    pub warnings: Vec<String>,
    /// What the folder or the archive has more than once, one sentence each.
    pub repeated: Vec<String>,
}

impl SiteFiles {
    /// The files that a folder or a tar archive (`-`: one on standard input) contains under their usual names, or under those of a `pbs_snapshot`:
    /// `sched_priv/`, `qstat.json`, `server.json`, `queues.json`, `resourcedef`, `slurm.conf`, `sshare.json`,
    /// `job/qstat_f.out` and so on. The folder may also be a `sched_priv`, or contain one folder with these files.
    ///
    /// The members of an archive are read in place: nothing is unpacked, and no other member is opened.
    ///
    /// # Errors
    /// The path cannot be read, or contains none of these files; an archive has a member outside of it, a link in place
    /// of a file, or too many bytes or members.
    pub fn open(path: &Path) -> Result<Self, SiteError> {
        let failed = |error| SiteError::read(path, error);
        let found = if is_stdin(path) {
            read_archive_stream(&FileSource::from(path).name(), io::stdin())?
        } else if path.is_dir() {
            find_in_folder(path).map_err(failed)?
        } else {
            read_archive(path, source::open(path).map_err(failed)?)?
        };
        let files = found.into_site_files();
        if files.is_empty() {
            return Err(SiteError::Missing(format!(
                "`{}` contains no file of a site: expected jobs (`qstat.json`, `qstat.txt`), `sched_priv`, `server.json`, \
                 `sshare.json`, `slurm.conf`, or a `pbs_snapshot`; `jsf capture` prints a script that makes such a folder",
                path.display()
            )));
        }
        Ok(Self { root: Some(path.to_owned()), ..files })
    }

    /// The files in an archive in memory, as for [`open`](Self::open).
    pub(super) fn from_archive(name: &str, archive: &FileSource) -> Result<Self, SiteError> {
        let files = read_archive_stream(name, archive.open()?)?.into_site_files();
        if files.is_empty() {
            return Err(SiteError::Missing(format!("`{name}` contains no file of a site")));
        }
        Ok(files)
    }

    /// These files, with each one replaced that is also among `given`. A given `sched_priv` replaces all of the scheduler's
    /// files; it or a given `resource_group` also replaces the tree. The declared resources are those of `given`.
    pub fn replaced_by(self, given: Self) -> Self {
        let replaces_scheduler = given.sched_priv.is_some();
        let replaces_tree = replaces_scheduler || given.resource_group.is_some();
        let of_scheduler =
            |own: Option<FileSource>, given: Option<FileSource>| given.or_else(|| own.filter(|_| !replaces_scheduler));
        let any = |own: Vec<FileSource>, given: Vec<FileSource>| if given.is_empty() { own } else { given };
        Self {
            queue: given.queue.or(self.queue),
            sched_priv: given.sched_priv.or(self.sched_priv),
            resource_group: of_scheduler(self.resource_group, given.resource_group),
            usage: of_scheduler(self.usage, given.usage),
            sched_config: of_scheduler(self.sched_config, given.sched_config),
            sched_formula: of_scheduler(self.sched_formula, given.sched_formula),
            formula: given.formula.or(self.formula),
            tree: given.tree.or_else(|| self.tree.filter(|_| !replaces_tree)),
            server: any(self.server, given.server),
            queues: any(self.queues, given.queues),
            resources: any(self.resources, given.resources),
            declared: given.declared,
            slurm_conf: given.slurm_conf.or(self.slurm_conf),
            taken: self.taken,
            root: self.root,
            warnings: self.warnings,
            repeated: self.repeated,
        }
    }

    /// These files with another fair-share tree: a `resource_group`, or a document as for [`tree`](Self::tree).
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn with_tree(self, tree: FileSource) -> Result<Self, SiteError> {
        let tree = tree.kept()?;
        Ok(match FileKind::detect(&tree.read()?) == FileKind::ResourceGroup {
            true => Self { resource_group: Some(tree), tree: None, ..self },
            false => Self { tree: Some(tree), resource_group: None, usage: None, ..self },
        })
    }

    /// These files, so that several sites can be opened with them: the content of standard input is kept, unless it is
    /// the jobs, which a site reads later.
    ///
    /// # Errors
    /// Standard input cannot be read.
    pub fn kept(mut self) -> Result<Self, SiteError> {
        let single = [
            &mut self.resource_group,
            &mut self.usage,
            &mut self.sched_config,
            &mut self.sched_formula,
            &mut self.formula,
            &mut self.tree,
            &mut self.slurm_conf,
        ];
        let lists = [&mut self.server, &mut self.queues, &mut self.resources];
        for source in single.into_iter().flatten().chain(lists.into_iter().flatten()) {
            *source = source.clone().kept()?;
        }
        Ok(self)
    }

    fn is_empty(&self) -> bool {
        self.sched_priv.is_none() && self.sources().next().is_none()
    }

    /// The files, in no particular order.
    fn sources(&self) -> impl Iterator<Item = &FileSource> {
        let scheduler = [&self.resource_group, &self.usage, &self.sched_config, &self.sched_formula];
        let others = [&self.queue, &self.tree, &self.slurm_conf, &self.formula];
        let lists = [&self.server, &self.queues, &self.resources];
        scheduler.into_iter().chain(others).flatten().chain(lists.into_iter().flatten())
    }

    /// The paths of the files, and of the folder or the archive in which they were found.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let files = self.sources().filter_map(|source| match source {
            FileSource::Path(file) => Some(file),
            FileSource::Bytes { .. } => None,
        });
        files.chain(&self.root)
    }

    /// Replaces the scheduler's folder by the files in it.
    ///
    /// # Errors
    /// The folder cannot be read, or contains none of the scheduler's files.
    pub(super) fn with_scheduler_files(mut self) -> Result<Self, SiteError> {
        let Some(folder) = self.sched_priv.clone() else { return Ok(self) };
        folder.read_dir().map_err(|error| SiteError::read(&folder, error))?;
        let failed = |error| SiteError::read(&folder, error);
        let mut found = FoundFiles::default();
        in_scheduler_folder("").try_for_each(|name| add(&mut found, &folder, name)).map_err(failed)?;
        if found.is_empty() {
            return Err(SiteError::Missing(format!(
                "`{}` is not a scheduler's folder: it contains neither `resource_group` nor `sched_config`, `usage` or \
                 `sched_formula`",
                folder.display()
            )));
        }
        let found = found.into_site_files();
        self.warnings.extend(found.warnings);
        self.resource_group = self.resource_group.or(found.resource_group);
        self.usage = self.usage.or(found.usage);
        self.sched_config = self.sched_config.or(found.sched_config);
        self.sched_formula = self.sched_formula.or(found.sched_formula);
        Ok(self)
    }
}

/// The site's files in a folder, or in the only folder in it that has any.
fn find_in_folder(folder: &Path) -> io::Result<FoundFiles> {
    let mut folders: Vec<String> = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        if entry.path().is_dir() {
            folders.extend(entry.file_name().into_string().ok());
        }
    }
    let found = find_at_top(folder, &folders)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let mut inner = BTreeMap::new();
    for name in folders {
        let path = folder.join(&name);
        // a folder that cannot be read is not a part of the site
        let Ok(entries) = path.read_dir() else { continue };
        let below = entries.flatten().filter(|entry| entry.path().is_dir());
        let below: Vec<String> = below.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let found = find_at_top(&path, &below)?;
        if !found.is_empty() {
            inner.insert(name, found);
        }
    }
    match inner.len() {
        0 | 1 => Ok(inner.into_values().next().unwrap_or_default()),
        _ => {
            let names: Vec<String> = inner.keys().take(4).map(|name| format!("`{name}`")).collect();
            Err(io::Error::other(format!("it contains several sites: {}; give one of them", names.join(", "))))
        }
    }
}

/// The site's files in a folder. `folders` are the names of the folders in it.
fn find_at_top(folder: &Path, folders: &[String]) -> io::Result<FoundFiles> {
    let mut found = FoundFiles::default();
    for path in candidates() {
        add(&mut found, folder, path)?;
    }
    for scheduler in folders.iter().filter(|name| is_sched_priv(name) && *name != "sched_priv") {
        in_scheduler_folder(&format!("{scheduler}/")).try_for_each(|path| add(&mut found, folder, path))?;
    }
    Ok(found)
}

/// Adds the file if it exists. A file that exists and cannot be read is an error: without it, numbers would be wrong.
fn add(found: &mut FoundFiles, folder: &Path, path: String) -> io::Result<()> {
    debug_assert!(is_site_file(&path));
    let file = folder.join(&path);
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => {
            found.add(&folder.display().to_string(), path, file.into(), metadata.len() == 0);
            Ok(())
        }
        Ok(metadata) if metadata.is_dir() => {
            found.warn_of_folder(&folder.display().to_string(), &path);
            Ok(())
        }
        Ok(_) => Err(io::Error::other(format!("{path}: it is not a file"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound && file.is_symlink() => {
            let target = file.read_link()?;
            Err(io::Error::new(
                error.kind(),
                format!("{path}: it is a symbolic link to `{}`, which does not exist", target.display()),
            ))
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(()),
        Err(error) => Err(io::Error::new(error.kind(), format!("{path}: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_folder_are_found_by_their_names() {
        let site = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site");
        let files = SiteFiles::open(&site).expect("the example site");
        assert_eq!(files.queue, Some(site.join("qstat.json").into()));
        assert_eq!(files.usage, Some(site.join("sched_priv/usage").into()));
        let folder = SiteFiles::open(&site.join("sched_priv")).expect("a sched_priv");
        assert_eq!(folder.usage, Some(site.join("sched_priv/usage").into()));
        let error = SiteFiles::open(&site.join("../formulas")).expect_err("no site").to_string();
        assert!(error.contains("contains no file of a site"), "{error}");
    }

    #[test]
    fn a_given_file_replaces_the_one_of_the_site() {
        let site =
            || SiteFiles::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site")).expect("a site");
        let given = SiteFiles { queue: Some("other.json".into()), ..SiteFiles::default() };
        let files = site().replaced_by(given);
        assert_eq!(files.queue, Some("other.json".into()));
        assert!(files.usage.is_some());
        let files = site().replaced_by(SiteFiles { sched_priv: Some("other".into()), ..SiteFiles::default() });
        assert!(files.usage.is_none() && files.sched_config.is_none());
    }
}
