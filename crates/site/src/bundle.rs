//! A site as one block of bytes, which opens where there are no files, such as in a page for a browser.
//!
//! In: a site. Out: a line of JSON with the rules and the list of the files, then their contents one after the other. The
//! jobs are written as native NDJSON with what a formula, the order or the fair-share tree can use, and nothing else: no
//! environment, command line, path or host of a job.

use std::collections::BTreeMap;
use std::path::Path;

use job_sort_formula::fairshare::{Release, Rules};
use job_sort_formula::jobs::{Exclusion, JobTable};
use job_sort_formula::python::Value;
use job_sort_formula::rank::OnError;
use job_sort_formula::schema::InputType;
use jsf_openpbs::resource_amount::NumberMode;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::file_kind::FileKind;
use super::files::SiteFiles;
use super::layout::{FoundFiles, is_site_file};
use super::rank::ColumnsRequest;
use super::source::FileSource;
use super::{PolicyName, Site, SiteError, SiteJobs, SiteRules};

/// The first line of a bundle.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// The rules; those of [`SiteRules::default`] if they are not given.
    #[serde(default)]
    rules: BundleRules,
    /// The names that are declared without a document, with their types in PBS's words.
    #[serde(default)]
    declared: Vec<(String, String)>,
    /// The files, in the order of their contents.
    files: Vec<BundledFile>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct BundleRules {
    policy: Option<String>,
    slurm_release: Option<String>,
    is_documented: bool,
    numbers: Numbers,
    on_error: Errors,
    threshold: Option<f64>,
    strict: bool,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Numbers {
    #[default]
    Openpbs,
    Exact,
    Decimal,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Errors {
    #[default]
    Zero,
    Fail,
    Null,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Role {
    Queue,
    ResourceGroup,
    Usage,
    SchedConfig,
    Tree,
    Server,
    Queues,
    Resources,
    SlurmConf,
    Taken,
}

/// A site as one block of bytes.
#[derive(Debug)]
pub struct SiteBundle {
    /// The block.
    pub bytes: Vec<u8>,
    /// What is left out of the jobs or doubtful about them, one sentence each.
    pub warnings: Vec<String>,
}

impl Site {
    /// Writes everything that the site is read from into one block, for [`from_bundle`](Self::from_bundle).
    ///
    /// The formula in force is written with the documents of the server, but neither a `sched_formula` nor
    /// [`SiteFiles::formula`] is. Of the jobs only the inputs of formulas are kept, as this site's rules read them.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn to_bundle(&self) -> Result<SiteBundle, SiteError> {
        let files = self.files();
        let single = [
            (Role::ResourceGroup, &files.resource_group),
            (Role::Usage, &files.usage),
            (Role::SchedConfig, &files.sched_config),
            (Role::Tree, &files.tree),
            (Role::SlurmConf, &files.slurm_conf),
            (Role::Taken, &files.taken),
        ];
        let lists = [(Role::Server, &files.server), (Role::Queues, &files.queues), (Role::Resources, &files.resources)];
        let single = single.into_iter().filter_map(|(role, file)| Some((role, file.as_ref()?)));
        let all = single.chain(lists.into_iter().flat_map(|(role, files)| files.iter().map(move |file| (role, file))));
        let (mut entries, mut contents, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for (role, source) in all {
            let content = source.read()?;
            entries.push(BundledFile { role: Some(role), name: last_part(&source.name()), bytes: content.len() });
            contents.extend(content);
        }
        if let Some(queue) = &files.queue {
            let jobs = self.written_jobs(&mut warnings)?;
            entries.push(BundledFile { role: Some(Role::Queue), name: last_part(&queue.name()), bytes: jobs.len() });
            contents.extend(jobs);
        }
        let declared = files.declared.iter().map(|(name, kind)| (name.clone(), kind.pbs_type().to_owned())).collect();
        let header = Header { rules: BundleRules::new(&self.rules), declared, files: entries };
        let mut bytes = serde_json::to_vec(&header).map_err(SiteError::content)?;
        bytes.push(b'\n');
        bytes.extend(contents);
        Ok(SiteBundle { bytes, warnings })
    }

    /// Opens a site that [`to_bundle`](Self::to_bundle) wrote. A file without a role is recognised by its path, as in a
    /// folder, else by its content; an archive is read as a site.
    ///
    /// # Errors
    /// The block is no bundle, or a file in it cannot be used.
    pub fn from_bundle(bundle: &[u8]) -> Result<Self, SiteError> {
        let (header, contents) = split(bundle)?;
        let rules = header.rules.site_rules()?;
        let mut files = SiteFiles::default();
        let mut found = FoundFiles::default();
        let mut rest = contents;
        for BundledFile { role, name, bytes } in header.files {
            let (content, after) = rest.split_at_checked(bytes).ok_or_else(|| SiteError::content("the page is cut"))?;
            rest = after;
            let source = FileSource::Bytes { name: name.clone(), bytes: content.into() };
            match role {
                Some(role) => files.add(role, source),
                None => add_found(&mut found, &mut files, &name, source)?,
            }
        }
        let mut files = found.into_site_files().replaced_by(files);
        for (name, pbs_type) in header.declared {
            let kind = InputType::from_pbs_type(&pbs_type);
            files.declared.extend(kind.map(|kind| (name, kind)));
        }
        Self::from_files(files, rules)
    }

    /// The jobs as native NDJSON, with every input that any formula can use.
    fn written_jobs(&self, warnings: &mut Vec<String>) -> Result<Vec<u8>, SiteError> {
        let no_names = self.request(&[]);
        let SiteJobs { schema, warnings: of_jobs, .. } =
            self.read_columns(&ColumnsRequest { again: true, ..no_names })?;
        warnings.extend(of_jobs);
        let is_usable = |name: &&str| schema.is_numeric(name);
        let names: Vec<&str> = schema.iter().map(|(name, _)| name).filter(is_usable).collect();
        let request = ColumnsRequest { again: true, ..self.request(&names) };
        let SiteJobs { table, .. } = self.read_columns(&request)?;
        let mut lines = Vec::new();
        for row in 0..table.len() {
            serde_json::to_writer(&mut lines, &self.written_job(&table, row)).map_err(SiteError::content)?;
            lines.push(b'\n');
        }
        Ok(lines)
    }

    fn written_job<'t>(&self, table: &'t JobTable, row: usize) -> WrittenJob<'t> {
        let is_of_queue = |name: &str, value: &Value| {
            let priority = || self.queues.priority(table.queue(row));
            name == "queue_priority" && matches!(*value, Value::Int(own) if priority() == Some(own))
        };
        let set = table.columns().filter(|(_, column)| column.is_set(row));
        let inputs = set.map(|(name, column)| (name, column.value(row)));
        let inputs = inputs.filter(|(name, value)| !is_of_queue(name, value));
        let (time, _) = table.submit_order(row);
        WrittenJob {
            id: table.id(row),
            entity: table.entity(row),
            queue: table.queue(row),
            state: table.state(row).letter(),
            queued_at: Some(time).filter(|time| !matches!(*time, i64::MIN | i64::MAX)),
            inputs: inputs.filter_map(|(name, value)| Some((name, number(&value)?))).collect(),
            resources: match table.exclusion(row) {
                Some(Exclusion::Invalid { resource, found }) => BTreeMap::from([(&**resource, &**found)]),
                _ => BTreeMap::new(),
            },
        }
    }
}

/// A line of the jobs.
#[derive(Serialize)]
struct WrittenJob<'t> {
    id: &'t str,
    #[serde(skip_serializing_if = "str::is_empty")]
    entity: &'t str,
    #[serde(skip_serializing_if = "str::is_empty")]
    queue: &'t str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    queued_at: Option<i64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    inputs: BTreeMap<&'t str, Box<RawValue>>,
    /// The amount that the scheduler cannot read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    resources: BTreeMap<&'t str, &'t str>,
}

impl SiteFiles {
    fn add(&mut self, role: Role, source: FileSource) {
        match role {
            Role::Queue => self.queue = Some(source),
            Role::ResourceGroup => self.resource_group = Some(source),
            Role::Usage => self.usage = Some(source),
            Role::SchedConfig => self.sched_config = Some(source),
            Role::Tree => self.tree = Some(source),
            Role::Server => self.server.push(source),
            Role::Queues => self.queues.push(source),
            Role::Resources => self.resources.push(source),
            Role::SlurmConf => self.slurm_conf = Some(source),
            Role::Taken => self.taken = Some(source),
        }
    }
}

/// Adds a file by its path in a folder, else by its content.
fn add_found(found: &mut FoundFiles, files: &mut SiteFiles, name: &str, source: FileSource) -> Result<(), SiteError> {
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let at_top = (0..parts.len()).map(|first| parts[first..].join("/")).find(|path| is_site_file(path));
    if let Some(path) = at_top {
        found.by_path.insert(path, source);
        return Ok(());
    }
    match FileKind::detect(&source.head().unwrap_or_default()) {
        FileKind::Jobs => files.add(Role::Queue, source),
        FileKind::Server | FileKind::Queues | FileKind::Qmgr => {
            files.add(Role::Server, source.clone());
            files.add(Role::Queues, source.clone());
            files.add(Role::Resources, source);
        }
        FileKind::ResourceDef => files.add(Role::Resources, source),
        FileKind::ResourceGroup => files.add(Role::ResourceGroup, source),
        FileKind::Usage => files.add(Role::Usage, source),
        FileKind::SchedConfig => files.add(Role::SchedConfig, source),
        FileKind::SchedFormula => files.sched_formula = Some(source),
        FileKind::SlurmTree | FileKind::NativeTree => files.add(Role::Tree, source),
        FileKind::SlurmConf => files.add(Role::SlurmConf, source),
        FileKind::Archive => {
            let archive = SiteFiles::from_archive(name, &source)?;
            *files = archive.replaced_by(std::mem::take(files));
        }
        // a folder contains more than a site
        _ if parts.len() > 1 => {}
        other => return Err(SiteError::content(other.not_of_a_site(name))),
    }
    Ok(())
}

fn split(bundle: &[u8]) -> Result<(Header, &[u8]), SiteError> {
    let end = bundle.iter().position(|&byte| byte == b'\n').unwrap_or(bundle.len());
    let (header, contents) = bundle.split_at(end);
    let header = serde_json::from_slice(header).map_err(SiteError::content)?;
    Ok((header, contents.get(1..).unwrap_or_default()))
}

/// The last part of a path, which does not show where the file was.
fn last_part(name: &str) -> String {
    let name = name.rsplit(": ").next().unwrap_or(name);
    let last = Path::new(name).file_name().and_then(|last| last.to_str());
    last.unwrap_or(name).to_owned()
}

/// A number as the readers take it for an input: with all of its digits.
fn number(value: &Value) -> Option<Box<RawValue>> {
    RawValue::from_string(value.repr()).or_else(|_| to_raw_value(&value.repr())).ok()
}

impl BundleRules {
    fn new(rules: &SiteRules) -> Self {
        Self {
            policy: rules.policy.map(|policy| policy.as_str().to_owned()),
            slurm_release: rules.slurm_release.map(|release| release.as_str().to_owned()),
            is_documented: rules.rules == Rules::Documented,
            numbers: match rules.numbers {
                NumberMode::OpenPbs => Numbers::Openpbs,
                NumberMode::Exact => Numbers::Exact,
                NumberMode::Decimal => Numbers::Decimal,
            },
            on_error: match rules.on_error {
                OnError::ZeroLikePbs => Errors::Zero,
                OnError::Fail => Errors::Fail,
                OnError::Null => Errors::Null,
            },
            threshold: rules.threshold,
            strict: rules.strict,
        }
    }

    fn site_rules(&self) -> Result<SiteRules, SiteError> {
        let policy = self.policy.as_deref().map(str::parse::<PolicyName>).transpose().map_err(SiteError::content)?;
        Ok(SiteRules {
            policy,
            slurm_release: self.slurm_release.as_deref().and_then(Release::from_version),
            rules: if self.is_documented { Rules::Documented } else { Rules::Scheduler },
            numbers: match self.numbers {
                Numbers::Openpbs => NumberMode::OpenPbs,
                Numbers::Exact => NumberMode::Exact,
                Numbers::Decimal => NumberMode::Decimal,
            },
            on_error: match self.on_error {
                Errors::Zero => OnError::ZeroLikePbs,
                Errors::Fail => OnError::Fail,
                Errors::Null => OnError::Null,
            },
            threshold: self.threshold,
            strict: self.strict,
        })
    }
}
