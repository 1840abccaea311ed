//! What the files of a site say of the server, its queues, its resources and its scheduler.
//!
//! In: the files of a site, of which each may describe any of them. Out: the schema with the names
//! in the formulas that the server has accepted, the queues, the settings of the server and of the
//! scheduler, the Python that the server embeds, and the warnings about these files.

use std::collections::BTreeSet;
use std::mem;

use job_sort_formula::diagnostic::{Message, Need, is_control};
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::schema::suggestions::{MAX_COMPARED, did_you_mean};
use job_sort_formula::schema::{InputType, Origin};
use job_sort_formula::{Formula, PythonVersion};
use jsf_ingest::FileKind;
use jsf_json::clipped;
use jsf_openpbs::files::formula_text::sets_only_formulas;
use jsf_openpbs::files::objects::{DEFAULT, Notation, ObjectKind, repeated};
use jsf_openpbs::files::sched_priv::ByTime;
use jsf_openpbs::files::server::{
    PbsVersion, SourceFormula, add_resources, declared_names, listed_schedulers, python_of_system,
    version_in,
};
use jsf_openpbs::{Queues, SchedConfig};
use jsf_words::quoted_list;

use crate::files::file_source::Content;
use crate::files::{FileWarnings, in_file};
use crate::formulas::{SiteDocument, parsed};
use crate::{FileSource, FormulaText, Role, Site, SiteError, SiteFiles};

/// What the shares depend on, as it is without a `sched_config`.
const DEFAULT_SETTINGS: &str = "unknown_shares 0, fairshare_usage_res cput, fairshare_entity euser, \
     fairshare_decay_factor 0.5 every fairshare_decay_time 24:00:00";

/// A warning about a tree without a `sched_config`.
pub fn defaults_assumed() -> Message {
    let assumed =
        format!("there is no `sched_config`, so its defaults are assumed: {DEFAULT_SETTINGS}; ");
    Message::asking(assumed, [Need::SchedConfig])
}

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
            if texts.iter().all(|(known, ..)| *known != source) {
                let content = source.read_unless_binary(role)?;
                texts.push((source, content.kind, content.into_text()));
            }
        }
    }
    Ok(texts)
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
        for (name, kind) in &files.declared {
            self.schema.add_listed(name, *kind);
        }
        let texts = read_texts(files)?;
        let mut documents = Vec::new();
        for (source, kind, text) in &texts {
            documents.push(SiteDocument::new(source, *kind, text));
        }
        self.add_all(files, &documents)?;
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

    /// Finds the formulas, and the scheduler whose formula is given.
    fn read_formulas(
        &mut self,
        files: &SiteFiles,
        documents: &[SiteDocument<'_>],
    ) -> Result<(), SiteError> {
        let partition = files.partition.as_deref();
        let given = parsed(documents, files.all(Role::Formula)).first().copied();
        if let Some(document) = given {
            // that of the partition's scheduler, if the document has one
            let own = partition.and_then(|name| FormulaText::of_partition(document, name));
            let formula = match own {
                Some(formula) => Ok(formula),
                None => FormulaText::of_document(document, true),
            };
            self.add_names_from_formula_file(document, formula.as_ref().ok())?;
            if let Ok(formula) = &formula {
                self.formulas.all.push(formula.clone());
            }
            self.formulas.given = Some(formula);
        }
        for document in parsed(documents, files.all(Role::Server)) {
            match partition {
                Some(partition) => {
                    if let Some(formula) = FormulaText::of_partition(document, partition) {
                        self.add_in_use(Ok(formula));
                    }
                }
                // the formula of the server is that of the default scheduler
                None => self.add_in_use(FormulaText::of_document(document, false)),
            }
        }
        for document in parsed(documents, files.all(Role::SchedFormula)) {
            self.add_in_use(FormulaText::of_document(document, false));
        }
        match partition {
            Some(partition) => self.require_partition(partition),
            None => {
                let mut with_formulas = Vec::from_iter(given);
                with_formulas.extend(parsed(documents, files.all(Role::Server)));
                self.choose_scheduler(given, &with_formulas);
                Ok(())
            }
        }
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
    fn require_partition(&self, partition: &str) -> Result<(), SiteError> {
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

    fn warn_of_repeated(
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

    /// If the file of the formula describes a server, adds the names that it lists; if the server
    /// wrote it, those in its formula. Nothing else of it is used.
    fn add_names_from_formula_file(
        &mut self,
        document: &SiteDocument<'_>,
        formula: Option<&FormulaText>,
    ) -> Result<(), SiteError> {
        let SiteDocument { name, objects, .. } = document;
        let mut repeated = repeated(objects);
        repeated.retain(|what| what.ends_with(".job_sort_formula"));
        self.warn_of_repeated(name, &repeated)?;
        if document.is_of_server() {
            add_resources(name, objects, &mut self.schema);
            Queues::read(name, objects)?.add_seen_to(&mut self.schema);
        }
        if let Some(formula) = formula
            && (document.is_of_server() || document.kind == FileKind::SchedFormula)
        {
            let added = self.add_formula_names(formula);
            if document.kind == FileKind::Qmgr
                && sets_only_formulas(objects.text)
                && !added.is_empty()
            {
                self.warnings.of_files.push(format!(
                    "`{name}` sets a formula with {}, which nothing else declares and which is taken as known to the server: to check a \
                     formula that is still to be set, give the formula alone",
                    quoted_list(&added)
                ));
            }
        }
        Ok(())
    }

    /// Adds a formula that the server has accepted, with its names, so that PBS knows them. Warns if
    /// another file contains another formula.
    fn add_in_use(&mut self, formula: Result<FormulaText, Message>) {
        if let Ok(formula) = &formula {
            let text = formula.all_lines();
            if let Some(Ok(used)) = &self.formulas.in_force
                && used.all_lines().trim() != text.trim()
            {
                let (first, other) = (&used.origin, &formula.origin);
                self.warnings.of_files.push(format!(
                    "`{first}` and `{other}` contain different formulas, `{}` and `{}`; the one in `{first}` is used unless you give \
                     a formula",
                    clipped(&used.all_lines()),
                    clipped(&text)
                ));
            }
            self.add_formula_names(formula);
        }
        self.formulas.add(formula);
    }

    /// Warns about the formulas of other schedulers in the documents, and keeps the partition of
    /// the scheduler whose formula is given.
    fn choose_scheduler(
        &mut self,
        given: Option<&SiteDocument<'_>>,
        documents: &[&SiteDocument<'_>],
    ) {
        for document in documents {
            if document.kind != FileKind::Qmgr {
                continue;
            }
            let SiteDocument { name, objects, .. } = document;
            let server_formula = SourceFormula::of_server(objects);
            let mut schedulers = listed_schedulers(objects);
            schedulers.retain(|scheduler| scheduler.formula.is_some());
            let is_given = matches!(given, Some(given) if given.source == document.source);
            let is_used = is_given && server_formula.is_none() && schedulers.len() == 1;
            for scheduler in &schedulers {
                let formula = scheduler
                    .formula
                    .as_ref()
                    .map_or("", |formula| &formula.text);
                let shown = clipped(formula);
                if scheduler.name != DEFAULT {
                    let consequence = if is_used {
                        "it is used here, as the only one"
                    } else {
                        "it is not used here: all other jobs belong to the default scheduler"
                    };
                    let of_whom = &scheduler.name;
                    self.warnings.of_files.push(format!(
                        "`{name}`: the formula `{shown}` is that of the scheduler `{of_whom}`; {consequence}"
                    ));
                    if is_used {
                        self.partition.clone_from(&scheduler.partition);
                    }
                } else if let Some(used) = &server_formula
                    && used.text != formula
                {
                    let used = clipped(&used.text);
                    self.warnings.of_files.push(format!(
                        "`{name}` has the formula `{used}` of the server, which is used, and `{shown}` of the default scheduler: \
                         a server accepts only one (error 15226)"
                    ));
                }
            }
        }
    }

    /// Adds the names in a formula that the server or the scheduler wrote. Returns those that
    /// nothing declares.
    fn add_formula_names(&mut self, formula: &FormulaText) -> Vec<String> {
        let Ok(formula) = Formula::parse(&formula.all_lines()) else {
            return Vec::new();
        };
        let mut added = Vec::new();
        for name in formula.names() {
            if let Resolution::Undefined = Resolution::from_schema(name, &self.schema) {
                self.schema.add_seen(name, InputType::Float);
                added.push(name.to_owned());
            }
        }
        added
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

    /// The version of Python, and in parentheses what says so, or that it is assumed.
    pub fn python_in_words(&self) -> String {
        let source = self.python.source.as_deref();
        let source = source.unwrap_or("assumed, as no file says it");
        format!("{} ({source})", self.python.version)
    }

    /// What there is and what follows from what is missing: a line for each kind of file, with the
    /// files, one for the server's Python, and one for each missing file.
    pub fn summary(&self) -> Vec<String> {
        self.files.summary(self.python_in_words())
    }
}
