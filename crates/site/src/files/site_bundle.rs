//! A site as one block of bytes, which opens where there are no files, such as in a page for a
//! browser.
//!
//! In: a site. Out: a line of JSON with the rules and the list of the files, then their contents
//! one after the other. The jobs are native NDJSON with what a formula, the order or the fair-share
//! tree can use, and nothing else: no environment, command line, path or host of a job.

use job_sort_formula::diagnostic::Message;
use job_sort_formula::jobs::Exclusion;
use job_sort_formula::schema::InputType;
use job_sort_formula::{JobTable, Value};
use jsf_ingest::{FileKind, NativeJob};
use serde::{Deserialize, Serialize};

use crate::files::file_role::{ROLES, is_site_file, not_of_a_site};
use crate::files::found_files::{FoundFiles, path_parts};
use crate::{FileSource, Role, Site, SiteError, SiteFiles, SiteOptions};

/// The first line of a bundle.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// The rules; those of [`SiteOptions::default`] if they are not given.
    #[serde(default)]
    rules: SiteOptions,
    /// The names that are declared without a document, with their types in PBS's words.
    #[serde(default)]
    declared: Vec<(String, String)>,
    /// The partition of the scheduler whose jobs are meant.
    #[serde(default)]
    partition: Option<String>,
    /// The files, in the order of their contents.
    files: Vec<BundledFile>,
}

/// A file, and what it is read for.
#[derive(Debug, Serialize, Deserialize)]
struct BundledFile {
    /// `None`: the name or the content says what the file is.
    #[serde(default)]
    role: Option<Role>,
    /// Its name, or its path in a folder.
    name: String,
    bytes: usize,
}

/// A site as one block of bytes.
#[derive(Debug)]
pub struct SiteBundle {
    /// The block.
    pub bytes: Vec<u8>,
    /// What is left out of the jobs or doubtful about them, one sentence each.
    pub warnings: Vec<Message>,
}

impl Site {
    /// Writes everything that the site is read from into one block, for
    /// [`from_bundle`](Self::from_bundle).
    ///
    /// The formula in force is written with the documents of the server, but neither a
    /// `sched_formula` nor the file of a given formula is, and the nodes are not. Of the jobs only
    /// the inputs of formulas are kept, as this site's rules read them.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn to_bundle(&self) -> Result<SiteBundle, SiteError> {
        let files = self.files();
        let mut entries = Vec::new();
        let mut contents = Vec::new();
        let mut warnings = Vec::new();
        for (role, source) in files.sources() {
            let content = match role {
                Role::Queue => self.written_jobs(&mut warnings)?,
                Role::Server
                | Role::Queues
                | Role::Resources
                | Role::ResourceGroup
                | Role::Usage
                | Role::SchedConfig
                | Role::Tree
                | Role::SlurmConf
                | Role::Time
                | Role::Python
                | Role::System => source.read()?,
                // no answer of a page needs the others; nodes and reservations have the names of
                // hosts, and what Slurm's priority depends on is among the inputs of the jobs
                _ => continue,
            };
            entries.push(BundledFile {
                role: Some(role),
                name: source.last_part(),
                bytes: content.len(),
            });
            contents.extend(content);
        }
        let mut declared = Vec::new();
        for (name, kind) in &files.declared {
            declared.push((name.clone(), kind.pbs_type().to_owned()));
        }
        let header = Header {
            rules: self.options,
            declared,
            partition: files.partition.clone(),
            files: entries,
        };
        let mut bytes = serde_json::to_vec(&header)?;
        bytes.push(b'\n');
        bytes.extend(contents);
        Ok(SiteBundle { bytes, warnings })
    }

    /// Opens a site that [`to_bundle`](Self::to_bundle) wrote. A file without a role is recognised
    /// by its path, as in a folder, else by its content; an archive is read as a site.
    ///
    /// # Errors
    /// The block is not a bundle, or a file in it cannot be used.
    pub fn from_bundle(bundle: &[u8]) -> Result<Self, SiteError> {
        let (header, contents) = split(bundle)?;
        let mut files = SiteFiles::default();
        let mut found = FoundFiles::default();
        let mut rest = contents;
        for BundledFile { role, name, bytes } in header.files {
            let Some((content, after)) = rest.split_at_checked(bytes) else {
                return Err(SiteError::content("the page is cut"));
            };
            rest = after;
            let source = FileSource::Bytes {
                name: name.clone(),
                bytes: content.into(),
            };
            match role {
                Some(role) => files = files.with(role, source),
                None => files = add_found(&mut found, files, &name, source)?,
            }
        }
        let mut files = found.into_site_files().replaced_by(files);
        for (name, pbs_type) in header.declared {
            if let Some(kind) = InputType::from_pbs_type(&pbs_type) {
                files.declared.push((name, kind));
            }
        }
        files.partition = header.partition;
        Self::from_files(files, header.rules)
    }

    /// The jobs as native NDJSON, with every input that any formula can use.
    fn written_jobs(&self, warnings: &mut Vec<Message>) -> Result<Vec<u8>, SiteError> {
        let jobs = self.read_columns(&self.request(&[]).again())?;
        warnings.extend(jobs.warnings);
        let mut names = Vec::new();
        for (name, entry) in jobs.schema.iter() {
            if entry.input_type.is_numeric() {
                names.push(name);
            }
        }
        let table = self.read_columns(&self.request(&names).again())?.table;
        let mut lines = Vec::new();
        for row in 0..table.len() {
            serde_json::to_writer(&mut lines, &self.written_job(&table, row))?;
            lines.push(b'\n');
        }
        Ok(lines)
    }

    fn written_job<'t>(&self, table: &'t JobTable, row: usize) -> NativeJob<'t> {
        let (time, _) = table.submit_order(row);
        let mut job = NativeJob {
            id: table.id(row).into(),
            entity: table.entity(row).into(),
            queue: table.queue(row).into(),
            state: table.state(row).letter(),
            queued_at: match time {
                i64::MIN | i64::MAX => None,
                time => Some(time),
            },
            ..NativeJob::default()
        };
        let queue_priority = self.queues.priority(table.queue(row));
        for (name, column) in table.columns() {
            if !column.is_set(row) {
                continue;
            }
            let value = column.value(row);
            let is_of_queue = matches!(value, Value::Int(own) if queue_priority == Some(own));
            if name != "queue_priority" || !is_of_queue {
                job.add_input(name, &value);
            }
        }
        // the amount that the scheduler cannot read
        if let Some(Exclusion::Invalid { resource, found }) = table.exclusion(row) {
            job.resources
                .insert((&**resource).into(), (&**found).into());
        }
        job
    }
}

/// Adds a file by its path in a folder, else by its content.
fn add_found(
    found: &mut FoundFiles,
    mut files: SiteFiles,
    name: &str,
    source: FileSource,
) -> Result<SiteFiles, SiteError> {
    let parts = path_parts(name);
    for first in 0..parts.len() {
        let path = parts[first..].join("/");
        if is_site_file(&path) {
            found.by_path.insert(path, source);
            return Ok(files);
        }
    }
    let kind = match source.opened() {
        Ok(opened) => opened.kind,
        Err(_) => FileKind::Empty,
    };
    if kind == FileKind::Archive {
        return Ok(SiteFiles::from_archive(name, &source)?.replaced_by(files));
    }
    let mut is_known = false;
    for known in &ROLES {
        if known.shown_by.contains(&kind) {
            files = files.with(known.role, source.clone());
            is_known = true;
        }
    }
    // a folder contains more than a site
    if !is_known && parts.len() <= 1 {
        return Err(not_of_a_site(kind, name));
    }
    Ok(files)
}

fn split(bundle: &[u8]) -> Result<(Header, &[u8]), SiteError> {
    let end = bundle.iter().position(|&byte| byte == b'\n');
    let end = end.unwrap_or(bundle.len());
    let (header, contents) = bundle.split_at(end);
    let header = serde_json::from_slice(header)?;
    Ok((header, contents.get(1..).unwrap_or_default()))
}
