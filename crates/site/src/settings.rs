//! What the files of a site say of the server, its queues, its resources and its scheduler.
//!
//! In: the files of a site, of which each may describe any of them, and is read, recognised and parsed
//! once. Out: the schema, the queues, the settings of the server and of the scheduler, and the Python
//! that the server embeds.

use std::collections::BTreeSet;
use std::mem;

use job_sort_formula::PythonVersion;
use job_sort_formula::diagnostic::is_control;
use job_sort_formula::schema::Origin;
use job_sort_formula::schema::suggestions::{MAX_COMPARED, did_you_mean};
use jsf_ingest::FileKind;
use jsf_json::clipped;
use jsf_openpbs::files::objects::{Notation, ObjectKind, repeated};
use jsf_openpbs::files::resources::{add_resources, declared_names, is_resource_name};
use jsf_openpbs::files::sched_config::ByTime;
use jsf_openpbs::files::versions::{PbsVersion, python_of_system, version_in};
use jsf_openpbs::{Objects, Queues, SchedConfig};
use jsf_words::quoted_list;

use crate::files::file_source::Content;
use crate::warnings::{FileWarnings, in_file};
use crate::{FileSource, Role, Site, SiteError, SiteFiles};

/// Reads each file that describes the server, its queues or its resources, or has a formula, once.
fn read_texts(files: &SiteFiles) -> Result<Vec<(&FileSource, FileKind, String)>, SiteError> {
    let mut texts: Vec<(&FileSource, FileKind, String)> = Vec::new();
    for role in [
        Role::Server,
        Role::Queues,
        Role::Resources,
        Role::Formula,
        Role::SchedFormula,
    ] {
        for source in files.all(role) {
            // the output of `qmgr -c 'print server'` has both the server and the queues
            if texts.iter().all(|(known, ..)| *known != source) {
                let content = source.read_unless_binary(role)?;
                texts.push((source, content.kind, content.into_text()));
            }
        }
    }
    Ok(texts)
}

/// A document of the site, parsed once.
#[derive(Debug)]
pub struct SiteDocument<'d> {
    pub source: &'d FileSource,
    /// Its name in messages.
    pub name: String,
    pub kind: FileKind,
    pub objects: Objects<'d>,
}

impl<'d> SiteDocument<'d> {
    /// The document with this text, which was recognised as one of a kind.
    pub fn new(source: &'d FileSource, kind: FileKind, text: &'d str) -> Self {
        let is_resourcedef =
            kind == FileKind::ResourceDef || kind == FileKind::Text && is_list_of_names(text);
        Self {
            source,
            name: source.name(),
            kind,
            objects: if is_resourcedef {
                Objects::read_resourcedef(text)
            } else {
                Objects::read(text)
            },
        }
    }

    /// Refuses a document of a kind that the role does not accept.
    pub fn require(&self, role: Role) -> Result<(), SiteError> {
        let text = self.objects.text.as_bytes();
        role.require(self.kind, &self.name, text)
    }

    /// Whether the server wrote it, as an answer of qstat or of `qmgr`.
    pub fn is_of_server(&self) -> bool {
        matches!(self.kind, FileKind::Server | FileKind::Qmgr)
    }
}

/// Whether a text may be a `resourcedef` that only lists names.
fn is_list_of_names(text: &str) -> bool {
    for line in text.trim_start_matches('\u{feff}').lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_comment_or_name = match *words {
            [] => true,
            [word] => word.starts_with('#') || is_resource_name(word),
            _ => false,
        };
        if !is_comment_or_name {
            return false;
        }
    }
    true
}

/// The documents of these files.
pub fn parsed<'d>(
    documents: &'d [SiteDocument<'d>],
    sources: &[FileSource],
) -> Vec<&'d SiteDocument<'d>> {
    let mut parsed = Vec::new();
    for source in sources {
        parsed.extend(documents.iter().find(|document| document.source == source));
    }
    parsed
}

/// What is said of documents that do not describe what they are given for.
const NOT_DESCRIBED: [(Role, &str); 3] = [
    (
        Role::Server,
        "describes no server, so the formula, threshold, defaults and `eligible_time_enable` are not known; what else is listed is used",
    ),
    (
        Role::Queues,
        "describes no queue, so `queue_priority` is 0 for every job; what else is listed is used",
    ),
    (
        Role::Resources,
        "declares no resource: expected a `resourcedef` or the output of `qmgr -c 'print resource'`",
    ),
];

/// The server, its queues and the names that a formula may use.
impl Site {
    /// Reads the documents: those of the server first, then those of the queues and of the
    /// resources.
    ///
    /// # Errors
    /// A document cannot be read, or describes neither a server nor queues nor resources; or it
    /// gives something more than once, and the rules are strict.
    pub(crate) fn read_documents(&mut self, files: &SiteFiles) -> Result<(), SiteError> {
        self.partition.clone_from(&files.partition);
        // first, so that a document with another type overrides it (`check_declared`)
        for (name, kind) in &files.declared {
            self.schema.add_listed(name, *kind);
        }
        let texts = read_texts(files)?;
        let mut documents = Vec::new();
        for (source, kind, text) in &texts {
            documents.push(SiteDocument::new(source, *kind, text));
        }
        self.add_all(files, &documents)?;
        // after all documents, as a declared type precedes the one that an amount suggests
        self.queues.add_seen_to(&mut self.schema);
        self.check_declared(files);
        // before names of formulas are resolved
        let version = self.server.pbs_version();
        let warnings = &mut self.warnings.of_files;
        self.python = ServerPython::find(self.options.python, files, version, warnings)?;
        self.schema = mem::take(&mut self.schema).with_python(self.python.version);
        self.read_formulas(files, &documents)
    }

    /// Reads `sched_config`, of which the server's object of the scheduler replaces a setting.
    /// Without the file, only the formula orders the jobs.
    pub(crate) fn read_sched_config(&mut self, files: &SiteFiles) -> Result<(), SiteError> {
        let warnings = &mut self.warnings.of_order;
        self.config = match files.first(Role::SchedConfig) {
            None => SchedConfig {
                by_queue: ByTime::always(false),
                preemptive_sched: ByTime::always(false),
                ..SchedConfig::default()
            },
            Some(source) => {
                let name = source.name();
                let Content { bytes, kind } = source.read_expected(Role::SchedConfig)?;
                if kind == FileKind::Empty {
                    warnings.push(format!(
                        "`{name}` has no setting: the defaults apply, such as `by_queue`, which orders the jobs by queue before the formula"
                    ));
                }
                let config = SchedConfig::parse(&bytes);
                let (repeated, others): (Vec<_>, Vec<_>) = config
                    .warnings
                    .iter()
                    .partition(|warning| warning.is_repeated);
                warnings.extend_unless_strict(in_file(&name, repeated))?;
                warnings.extend(in_file(&name, others));
                config
            }
        };
        if let Some(priority) = self.server.preempt_queue_prio() {
            self.config.preempt_queue_prio = priority;
        }
        Ok(())
    }

    /// Adds the documents of the server, the queues and the resources, each once.
    fn add_all(
        &mut self,
        files: &SiteFiles,
        documents: &[SiteDocument<'_>],
    ) -> Result<(), SiteError> {
        let mut added: Vec<(&FileSource, Vec<Role>)> = Vec::new();
        for (role, warning) in NOT_DESCRIBED {
            let sources = files.all(role);
            for document in parsed(documents, sources) {
                if added.iter().all(|(source, _)| *source != document.source) {
                    added.push((document.source, self.add(document, role)?));
                }
            }
            let mut added = added.iter();
            let is_described =
                added.any(|(source, roles)| sources.contains(source) && roles.contains(&role));
            if !sources.is_empty() && !is_described {
                let names = quoted_list(sources.iter().map(FileSource::name));
                self.warnings.of_files.push(format!("{names} {warning}"));
            }
        }
        Ok(())
    }

    /// Warns about each resource that was declared with a different type from the one that OpenPBS
    /// or a document gives it.
    fn check_declared(&mut self, files: &SiteFiles) {
        for (name, declared) in &files.declared {
            let Some(entry) = self.schema.entry(name) else {
                continue;
            };
            if entry.input_type == *declared {
                continue;
            }
            let given = declared.pbs_type();
            let used = entry.input_type.pbs_type();
            self.warnings.of_files.push(format!(
                "`{name}` was declared as {given}, but OpenPBS or a file of the site has it as {used}, which is used"
            ));
        }
    }

    /// Adds the resources, queues and settings of a document, and returns the roles for which it
    /// describes what it should.
    fn add(&mut self, document: &SiteDocument<'_>, role: Role) -> Result<Vec<Role>, SiteError> {
        let SiteDocument { name, objects, .. } = document;
        let is_resourcedef = objects.notation == Notation::ResourceDef;
        // one that only lists names looks like any text
        if !(is_resourcedef && role.files().accepted.contains(&FileKind::Empty)) {
            document.require(role)?;
        }
        self.warn_of_repeated(name, &repeated(objects))?;
        let problems = add_resources(name, objects, &mut self.schema);
        self.warnings.of_files.extend(problems);
        for name in declared_names(objects) {
            if self.schema.origin(name) == Some(Origin::Special) {
                self.hidden.push(name.to_owned());
            }
        }
        let queues = Queues::read(name, objects)?;
        let mut described = Vec::new();
        if objects.has(ObjectKind::Server) || objects.has(ObjectKind::Scheduler) {
            described.push(Role::Server);
        }
        if !queues.is_empty() {
            described.push(Role::Queues);
        }
        if objects.has(ObjectKind::Resource) || queues.lists_resources() {
            described.push(Role::Resources);
        }
        self.queues.add(queues);
        self.server.add(objects, self.partition.as_deref());
        Ok(described)
    }

    /// Refuses a partition that no queue has.
    pub(crate) fn require_partition(&self, partition: &str) -> Result<(), SiteError> {
        let mut names = Vec::new();
        for (queue, _) in self.queues.iter() {
            names.extend(self.queues.partition(queue));
        }
        if names.contains(&partition) {
            return Ok(());
        }
        let similar = did_you_mean(partition, names.into_iter().take(MAX_COMPARED));
        Err(format!("no queue has the partition `{partition}`{similar}").into())
    }

    pub(crate) fn warn_of_repeated(
        &mut self,
        name: &str,
        repeated: &BTreeSet<String>,
    ) -> Result<(), SiteError> {
        let repeated = repeated.iter();
        let warnings = repeated
            .map(|what| format!("`{what}` is given more than once; check which one is in force"));
        self.warnings
            .of_files
            .extend_unless_strict(in_file(name, warnings))
    }
}

/// The version of Python that the server embeds, and what says so.
#[derive(Debug, Clone, Default)]
pub struct ServerPython {
    pub version: PythonVersion,
    /// The words of an option, the name of a file or that of a system; `None`: nothing says it, and
    /// the version is the default.
    pub source: Option<String>,
}

impl ServerPython {
    /// The version that is given, else what the site's files say, else the default.
    ///
    /// # Errors
    /// The file that should say it cannot be read.
    pub fn find(
        given: Option<PythonVersion>,
        files: &SiteFiles,
        pbs: Option<PbsVersion>,
        warnings: &mut FileWarnings,
    ) -> Result<Self, SiteError> {
        if let Some(version) = given {
            return Ok(Self {
                version,
                source: Some("given".to_owned()),
            });
        }
        if let Some(source) = files.first(Role::Python) {
            let text = source.read_text(Role::Python)?;
            match version_in(&text) {
                Some(version) => return Ok(Self { version, source: Some(source.file_name()) }),
                None => warnings.push(format!(
                    "`{}` contains `{}`, expected a version of Python from {} to {}, such as `Python 3.9.18`; it is not used",
                    source.name(),
                    clipped(text.trim()),
                    PythonVersion::OLDEST,
                    PythonVersion::NEWEST
                )),
            }
        }
        if let Some(source) = files.first(Role::System) {
            let system = source.read_text(Role::System)?;
            // OpenPBS is built with the Python of its system, PBS Professional brings its own
            let known = pbs.and_then(|pbs| python_of_system(&system, pbs));
            if let Some((version, name)) = known
                && !name.contains(is_control)
            {
                let source = Some(format!("that of {name}"));
                return Ok(Self { version, source });
            }
        }
        Ok(Self::default())
    }
}

impl Site {
    /// The version of Python that the server embeds, and what says so: `None` if it is only
    /// assumed.
    pub fn python(&self) -> (PythonVersion, Option<String>) {
        (self.python.version, self.python.source.clone())
    }
}
