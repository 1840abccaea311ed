//! Reads the files that describe the server, its queues and its resources, each of which may describe any of them, and the
//! names in the formulas that the server has accepted.

use std::borrow::Cow;
use std::collections::BTreeSet;

use job_sort_formula::diagnostic::few_of_each_kind;
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::python::PythonVersion;
use job_sort_formula::schema::suggestions::{MAX_COMPARED, did_you_mean};
use job_sort_formula::schema::{InputType, Origin, Schema};
use jsf_json::clipped;
use jsf_openpbs::files::formula_source::{
    formula_in, formula_of_partition, formulas_of_schedulers, in_scheduler, sets_only_formulas,
};
use jsf_openpbs::files::queues::Queues;
use jsf_openpbs::files::repeated::{repeated_attributes, repeated_resources};
use jsf_openpbs::files::resources::add_resources;
use jsf_openpbs::files::scheduler_settings::SchedulerSettings;
use jsf_openpbs::files::schedulers::{self, ListedScheduler, of_scheduler, scheduler_of_partition};
use jsf_openpbs::files::server::ServerSettings;

use super::file_kind::FileKind;
use super::files::SiteFiles;
use super::python::ServerPython;
use super::role::Role;
use super::source::FileSource;
use super::{SiteError, warn_unless_strict};

/// The server, its queues and the names that a formula may use.
#[derive(Debug)]
pub(super) struct Documents {
    pub schema: Schema,
    pub queues: Queues,
    pub server: ServerSettings,
    pub scheduler: SchedulerSettings,
    pub python: ServerPython,
    /// The resources that the documents declare under names that the scheduler defines.
    pub hidden: Vec<String>,
    /// The partition of the scheduler whose jobs are ranked; `None` for the default one.
    pub partition: Option<String>,
    pub warnings: Vec<String>,
}

/// A document of the site, read and recognised once.
#[derive(Debug)]
struct SiteDocument<'f> {
    source: &'f FileSource,
    /// Its name in messages.
    name: String,
    text: String,
    kind: FileKind,
    /// The formula of the server or of its default scheduler, if they wrote the document and have one.
    formula: Option<String>,
}

impl<'f> SiteDocument<'f> {
    fn read(source: &'f FileSource, role: Role, partition: Option<&str>) -> Result<Self, SiteError> {
        let name = source.name();
        let text = source.read_text(role)?;
        let kind = FileKind::detect(text.as_bytes());
        let formula = match (kind, partition) {
            (FileKind::Server | FileKind::Qmgr, Some(partition)) => {
                formula_of_partition(&text, partition).map(|(_, formula)| formula)
            }
            (FileKind::Server | FileKind::Qmgr | FileKind::SchedFormula, _) => formula_in(&name, &text).ok(),
            // a `sched_formula` without the server's first line
            (FileKind::Text, _) if role == Role::Formula => formula_in(&name, &text).ok(),
            _ => None,
        };
        Ok(Self { source, name, text, kind, formula })
    }

    fn read_all(sources: &'f [FileSource], role: Role, partition: Option<&str>) -> Result<Vec<Self>, SiteError> {
        sources.iter().map(|source| Self::read(source, role, partition)).collect()
    }
}

/// What a document describes.
#[derive(Debug, Clone, Copy, Default)]
struct Contents {
    has_server: bool,
    has_queue: bool,
    has_resources: bool,
}

/// Whether a document describes what its option asks for, and the warning if it does not.
type Requirement = (fn(Contents) -> bool, &'static str);

/// The name of the scheduler's own copy of the formula.
const SCHEDULERS_FORMULA: &str = "sched_formula";
const NEEDS_SERVER: Requirement = (
    |contents| contents.has_server,
    "describes no server, so the formula, threshold, defaults and `eligible_time_enable` are not known; what else is listed is used",
);
const NEEDS_QUEUES: Requirement = (
    |contents| contents.has_queue,
    "describes no queue, so `queue_priority` is 0 for every job; what else is listed is used",
);
const NEEDS_RESOURCES: Requirement = (
    |contents| contents.has_resources,
    "declares no resource: expected a `resourcedef` or the output of `qmgr -c 'print resource'`",
);

impl Documents {
    /// Reads the documents: those of the server first, then those of the queues and of the resources.
    ///
    /// # Errors
    /// A document cannot be read, or describes neither a server nor queues nor resources; or it gives something more than
    /// once, and the rules are strict.
    pub(super) fn read(files: &SiteFiles, python: Option<PythonVersion>, is_strict: bool) -> Result<Self, SiteError> {
        let mut read = Self {
            schema: Schema::openpbs(),
            queues: Queues::default(),
            server: ServerSettings::default(),
            scheduler: SchedulerSettings::default(),
            python: ServerPython::default(),
            hidden: Vec::new(),
            partition: files.partition.clone(),
            warnings: Vec::new(),
        };
        let partition = files.partition.as_deref();
        for (name, kind) in &files.declared {
            read.schema.add_listed(name, *kind);
        }
        let mut documents: Vec<(SiteDocument<'_>, Contents)> = Vec::new();
        let requirements =
            [(Role::Server, NEEDS_SERVER), (Role::Queues, NEEDS_QUEUES), (Role::Resources, NEEDS_RESOURCES)];
        for (role, (is_met, warning)) in requirements {
            let sources = files.all(role);
            let mut is_described = sources.is_empty();
            for source in sources {
                let contents = match documents.iter().find(|(known, _)| known.source == source) {
                    Some((_, contents)) => *contents,
                    None => {
                        let document = SiteDocument::read(source, role, partition)?;
                        let contents = read.add(&document, role, is_strict)?;
                        documents.push((document, contents));
                        contents
                    }
                };
                is_described |= is_met(contents);
            }
            if !is_described {
                let names: Vec<String> = sources.iter().map(|source| format!("`{}`", source.name())).collect();
                read.warnings.push(format!("{} {warning}", names.join(", ")));
            }
        }
        read.queues.add_seen_to(&mut read.schema);
        read.check_declared(files);
        // before names of formulas are resolved
        read.python = ServerPython::find(python, files, read.server.pbs_version, &mut read.warnings)?;
        read.schema = read.schema.with_python(read.python.version);
        let given = SiteDocument::read_all(files.all(Role::Formula), Role::Formula, partition)?;
        if let Some(document) = given.first() {
            read.add_names_from_formula_file(document, is_strict)?;
        }
        let of_server: Vec<&SiteDocument<'_>> = (files.all(Role::Server).iter())
            .filter_map(|source| documents.iter().map(|(document, _)| document).find(|known| known.source == source))
            .collect();
        let sched_formula = files.first(Role::SchedFormula);
        let sched_formula =
            sched_formula.map(|source| SiteDocument::read(source, Role::Formula, partition)).transpose()?;
        read.add_names_in_active_formula(of_server.iter().copied().chain(&sched_formula));
        match partition {
            Some(partition) => read.require_partition(partition)?,
            None => read.choose_scheduler(given.first(), given.iter().chain(of_server)),
        }
        Ok(read)
    }

    /// Warns about each resource that was declared with a different type from the one that OpenPBS or a document gives it.
    fn check_declared(&mut self, files: &SiteFiles) {
        for (name, declared) in &files.declared {
            let Some(entry) = self.schema.entry(name).filter(|entry| entry.input_type != *declared) else { continue };
            let reason = match entry.origin {
                Origin::Special | Origin::Standard => "OpenPBS defines it",
                Origin::Site => "a document of the site declares it",
                Origin::Seen => "the jobs or queues of the site have it",
            };
            let given = declared.pbs_type();
            let used = entry.input_type.pbs_type();
            self.warnings.push(format!("`{name}` was declared as {given}, but {reason} as {used}; {used} is used"));
        }
    }

    /// Adds the resources, queues and settings of a file, and returns what it describes.
    fn add(&mut self, document: &SiteDocument<'_>, role: Role, is_strict: bool) -> Result<Contents, SiteError> {
        let &SiteDocument { ref name, ref text, kind, .. } = document;
        let expected = role.files();
        // a `resourcedef` that only lists names looks like plain text
        let is_list_of_names = kind == FileKind::Text
            && expected.kinds.contains(&FileKind::Empty)
            && text.lines().all(|line| line.split_whitespace().count() <= 1)
            && add_resources(name, text, &mut Schema::empty()).is_empty();
        if !is_list_of_names {
            expected.check(name, text.as_bytes())?;
        }
        let is_resourcedef = kind == FileKind::ResourceDef || is_list_of_names;
        let repeated = if is_resourcedef { repeated_resources(text) } else { repeated_attributes(text) };
        self.warn_of_repeated(name, &repeated, is_strict)?;
        let mut contents = Contents::default();
        if kind == FileKind::Qmgr || is_resourcedef {
            let declarations =
                if kind == FileKind::Qmgr { Cow::Owned(only_declarations(text)) } else { Cow::Borrowed(text.as_str()) };
            let problems = add_resources(name, &declarations, &mut self.schema);
            self.warnings.extend(few_of_each_kind(problems.iter().map(ToString::to_string)));
            // again, to see whether anything is declared
            let mut declared = Schema::empty();
            add_resources(name, &declarations, &mut declared);
            contents.has_resources = !declared.is_empty() || !problems.is_empty();
            let names = declared.iter().map(|(name, _)| name);
            let hidden =
                names.filter(|name| self.schema.entry(name).is_some_and(|entry| entry.origin == Origin::Special));
            self.hidden.extend(hidden.map(str::to_owned));
        }
        if matches!(kind, FileKind::Server | FileKind::Queues | FileKind::Qmgr) {
            let queues = Queues::read_queues_or_server(name, text).map_err(SiteError::content)?;
            contents.has_queue = !queues.is_empty();
            contents.has_resources |= queues.lists_resources();
            contents.has_server = kind == FileKind::Server || text.lines().any(describes_server);
            self.queues.add(queues);
            self.add_settings(text);
        }
        Ok(contents)
    }

    /// Adds the settings of the server and of the scheduler whose jobs are ranked.
    fn add_settings(&mut self, text: &str) {
        let (server, scheduler) = match &self.partition {
            None => (ServerSettings::read(text), SchedulerSettings::read(text)),
            Some(partition) => settings_of_partition(text, partition),
        };
        self.server = self.server.or(server);
        self.scheduler = std::mem::take(&mut self.scheduler).or(scheduler);
    }

    /// Refuses a partition that no queue has.
    fn require_partition(&self, partition: &str) -> Result<(), SiteError> {
        let names = || self.queues.iter().filter_map(|(queue, _)| self.queues.partition(queue));
        if names().any(|name| name == partition) {
            return Ok(());
        }
        let similar = did_you_mean(partition, names().take(MAX_COMPARED));
        Err(SiteError::content(format!("no queue has the partition `{partition}`{similar}")))
    }

    fn warn_of_repeated(&mut self, name: &str, repeated: &BTreeSet<String>, is_strict: bool) -> Result<(), SiteError> {
        let warnings = repeated
            .iter()
            .map(|what| format!("`{name}`: `{what}` is given more than once; check which one is in force"));
        warn_unless_strict(&mut self.warnings, warnings, is_strict)
    }

    /// If the file of the formula describes a server, adds the names that it lists; if the server wrote it, those in its formula.
    /// Nothing else of it is used.
    fn add_names_from_formula_file(&mut self, document: &SiteDocument<'_>, is_strict: bool) -> Result<(), SiteError> {
        let SiteDocument { name, text, kind, .. } = document;
        let mut repeated = repeated_attributes(text);
        repeated.retain(|what| what.ends_with(".job_sort_formula"));
        self.warn_of_repeated(name, &repeated, is_strict)?;
        if *kind == FileKind::Qmgr {
            add_resources(name, &only_declarations(text), &mut self.schema);
        }
        if matches!(kind, FileKind::Server | FileKind::Qmgr) {
            Queues::read_queues_or_server(name, text).map_err(SiteError::content)?.add_seen_to(&mut self.schema);
        }
        if matches!(kind, FileKind::Server | FileKind::Qmgr | FileKind::SchedFormula) {
            let added = self.add_formula_names(document);
            if *kind == FileKind::Qmgr && sets_only_formulas(text) && !added.is_empty() {
                let names: Vec<String> = added.iter().map(|name| format!("`{name}`")).collect();
                self.warnings.push(format!(
                    "`{name}` sets a formula with {}, which nothing else declares: that the server knows it is certain only if this is \
                     what it has printed; to check a formula that is still to be set, give the formula alone",
                    names.join(", ")
                ));
            }
        }
        Ok(())
    }

    /// Adds the names in the formulas that the server has accepted, so that PBS knows them. Warns if files contain different
    /// formulas.
    fn add_names_in_active_formula<'d>(&mut self, documents: impl Iterator<Item = &'d SiteDocument<'d>>) {
        let mut in_force: Option<(&str, &str)> = None;
        for document in documents {
            let SiteDocument { name, formula: Some(formula), .. } = document else { continue };
            match in_force {
                None => in_force = Some((name, formula)),
                Some((first, used)) if used.trim() != formula.trim() => self.warnings.push(format!(
                    "`{first}` and `{name}` contain different formulas, `{}` and `{}`; the one in `{first}` is used unless you \
                     give a formula{}",
                    clipped(used),
                    clipped(formula),
                    match first.ends_with(SCHEDULERS_FORMULA) || name.ends_with(SCHEDULERS_FORMULA) {
                        true => {
                            ". The server writes `sched_priv/sched_formula` whenever its formula is set, so the files come from \
                             different times or servers"
                        }
                        false => "",
                    }
                )),
                Some(_) => {}
            }
            self.add_formula_names(document);
        }
    }

    /// Warns about the formulas of other schedulers in the documents, and keeps the partition of the scheduler whose formula
    /// is given.
    fn choose_scheduler<'d>(
        &mut self,
        given: Option<&SiteDocument<'_>>,
        documents: impl Iterator<Item = &'d SiteDocument<'d>>,
    ) {
        for document in documents.filter(|document| document.kind == FileKind::Qmgr) {
            let SiteDocument { name, text, .. } = document;
            let of_server = in_scheduler(text, "");
            let formulas = formulas_of_schedulers(text);
            let is_given = given.is_some_and(|given| given.source == document.source);
            let is_only = of_server.is_none() && formulas.len() == 1;
            for (scheduler, formula) in &formulas {
                if scheduler.name == schedulers::DEFAULT {
                    self.warnings.extend(of_server.as_ref().and_then(|used| contradiction(name, used, formula)));
                    continue;
                }
                let is_used = is_given && is_only;
                self.warnings.push(formula_of_other(name, scheduler, formula, is_used));
                if is_used {
                    self.partition.clone_from(&scheduler.partition);
                }
            }
        }
    }

    /// Adds the names in the formula of a document that the server or the scheduler wrote. Returns those that nothing declares.
    fn add_formula_names(&mut self, document: &SiteDocument<'_>) -> Vec<String> {
        let Some(Ok(formula)) = document.formula.as_deref().map(Formula::parse) else { return Vec::new() };
        let mut added = Vec::new();
        for name in formula.names() {
            if matches!(Resolution::from_schema(name, &self.schema), Resolution::Undefined) {
                self.schema.add_seen(name, InputType::Float);
                added.push(name.to_owned());
            }
        }
        added
    }
}

/// The settings of the server, and those of the scheduler with a partition, which has its own threshold.
fn settings_of_partition(text: &str, partition: &str) -> (ServerSettings, SchedulerSettings) {
    let of_server = of_scheduler(text, "");
    let own = scheduler_of_partition(text, partition).map_or_else(String::new, |scheduler| scheduler.as_default());
    let server = ServerSettings {
        job_sort_formula_threshold: ServerSettings::read(&own).job_sort_formula_threshold,
        ..ServerSettings::read(&of_server)
    };
    (server, SchedulerSettings::read(&own).or(SchedulerSettings::read(&of_server)))
}

/// A warning if the server and its default scheduler have different formulas in one document.
fn contradiction(source: &str, of_server: &str, of_scheduler: &str) -> Option<String> {
    (of_server != of_scheduler).then(|| {
        format!(
            "`{source}` has the formula `{}` of the server and `{}` of the default scheduler, of which a server accepts only one \
             (error 15226); that of the server is used, as by the scheduler",
            clipped(of_server),
            clipped(of_scheduler)
        )
    })
}

/// A warning about the formula of another scheduler than the default one.
fn formula_of_other(source: &str, scheduler: &ListedScheduler, formula: &str, is_used: bool) -> String {
    let name = &scheduler.name;
    let formula = clipped(formula);
    let partition = match &scheduler.partition {
        Some(partition) => format!("the partition `{partition}`"),
        None => "its partition".to_owned(),
    };
    let consequence = if is_used {
        "it is used here, as the only one"
    } else {
        "it is not used here: all other jobs belong to the default scheduler"
    };
    format!(
        "`{source}`: the formula `{formula}` is that of the scheduler `{name}`, which orders the jobs of queues with {partition}; \
         {consequence}"
    )
}

/// Whether a line of a `qmgr` listing describes the server or a scheduler, which has a threshold and a formula too.
fn describes_server(line: &str) -> bool {
    ["set server ", "set sched ", "Server ", "Server:", "Sched "].iter().any(|start| line.starts_with(start))
}

/// A `qmgr` listing with every line blanked that declares no resource, so that the numbers of the lines stay.
fn only_declarations(text: &str) -> String {
    let mut is_resource = false;
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().take(2).collect();
        if !line.starts_with(char::is_whitespace) && !line.is_empty() {
            is_resource = words.first() == Some(&"Resource");
        }
        let is_kept = is_resource || matches!(words.as_slice(), ["create" | "set", "resource"]);
        if is_kept { line } else { "" }
    });
    lines.collect::<Vec<_>>().join("\n")
}
