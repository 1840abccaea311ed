//! Reads the files that describe the server, its queues and its resources, each of which may
//! describe any of them, and the names in the formulas that the server has accepted.

use std::collections::BTreeSet;

use job_sort_formula::diagnostic::{Message, limit_each_kind};
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::python::PythonVersion;
use job_sort_formula::schema::suggestions::{MAX_COMPARED, did_you_mean};
use job_sort_formula::schema::{InputType, Origin, Schema};
use jsf_json::clipped;
use jsf_openpbs::files::formula_source::{SourceFormula, sets_only_formulas};
use jsf_openpbs::files::objects::{ObjectKind, Objects};
use jsf_openpbs::files::queues::Queues;
use jsf_openpbs::files::repeated::repeated;
use jsf_openpbs::files::resources::{add_resources, declared_names, is_name};
use jsf_openpbs::files::scheduler_settings::SchedulerSettings;
use jsf_openpbs::files::schedulers::{DEFAULT, ListedScheduler, listed_schedulers};
use jsf_openpbs::files::server::ServerSettings;

use super::file_kind::FileKind;
use super::files::SiteFiles;
use super::formula_text::{FormulaDocument, FormulaText, SiteFormulas};
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
    pub formulas: SiteFormulas,
    pub warnings: Vec<String>,
}

/// A file of the site, read and recognised once.
#[derive(Debug)]
struct SiteText<'f> {
    source: &'f FileSource,
    /// Its name in messages.
    name: String,
    text: String,
    kind: FileKind,
}

impl<'f> SiteText<'f> {
    /// Reads all files that describe the server, its queues or its resources, or have a formula.
    fn read_all(files: &'f SiteFiles) -> Result<Vec<Self>, SiteError> {
        let mut texts: Vec<Self> = Vec::new();
        for role in [
            Role::Server,
            Role::Queues,
            Role::Resources,
            Role::Formula,
            Role::SchedFormula,
        ] {
            for source in files.all(role) {
                if texts.iter().all(|known| known.source != source) {
                    let read_as = if role == Role::SchedFormula {
                        Role::Formula
                    } else {
                        role
                    };
                    let content = source.read_unless_binary(read_as)?;
                    let kind = content.kind;
                    texts.push(Self {
                        source,
                        name: source.name(),
                        text: content.into_text(),
                        kind,
                    });
                }
            }
        }
        Ok(texts)
    }

    /// Whether it may be a `resourcedef` that only lists names, which looks like plain text.
    fn is_list_of_names(&self) -> bool {
        let text = self.text.trim_start_matches('\u{feff}');
        let is_comment_or_name = |word: &str| word.starts_with('#') || is_name(word);
        self.kind == FileKind::Text
            && text
                .lines()
                .all(|line| line.split_whitespace().count() <= 1)
            && text.split_whitespace().all(is_comment_or_name)
    }
}

/// A document of the site, parsed once.
#[derive(Debug)]
struct SiteDocument<'d> {
    source: &'d FileSource,
    name: &'d str,
    kind: FileKind,
    objects: Objects<'d>,
    is_resourcedef: bool,
}

impl<'d> SiteDocument<'d> {
    fn new(read: &'d SiteText<'d>) -> Self {
        let &SiteText {
            source,
            ref name,
            ref text,
            kind,
        } = read;
        let is_resourcedef = kind == FileKind::ResourceDef || read.is_list_of_names();
        let objects = if is_resourcedef {
            Objects::read_resourcedef(text)
        } else {
            Objects::read(text)
        };
        Self {
            source,
            name,
            kind,
            objects,
            is_resourcedef,
        }
    }

    /// The document as one in which a formula is looked for.
    fn for_formula(&self) -> FormulaDocument<'_> {
        FormulaDocument {
            name: self.name,
            kind: self.kind,
            objects: &self.objects,
        }
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
    /// Reads the documents: those of the server first, then those of the queues and of the
    /// resources.
    ///
    /// # Errors
    /// A document cannot be read, or describes neither a server nor queues nor resources; or it
    /// gives something more than once, and the rules are strict.
    pub(super) fn read(
        files: &SiteFiles,
        python: Option<PythonVersion>,
        is_strict: bool,
    ) -> Result<Self, SiteError> {
        let mut read = Self {
            schema: Schema::openpbs(),
            queues: Queues::default(),
            server: ServerSettings::default(),
            scheduler: SchedulerSettings::default(),
            python: ServerPython::default(),
            hidden: Vec::new(),
            partition: files.partition.clone(),
            formulas: SiteFormulas::default(),
            warnings: Vec::new(),
        };
        let partition = files.partition.as_deref();
        for (name, kind) in &files.declared {
            read.schema.add_listed(name, *kind);
        }
        let texts = SiteText::read_all(files)?;
        let documents: Vec<SiteDocument<'_>> = texts.iter().map(SiteDocument::new).collect();
        let find =
            |source: &FileSource| documents.iter().find(|document| document.source == source);
        let mut added: Vec<(&FileSource, Contents)> = Vec::new();
        let requirements = [
            (Role::Server, NEEDS_SERVER),
            (Role::Queues, NEEDS_QUEUES),
            (Role::Resources, NEEDS_RESOURCES),
        ];
        for (role, (is_met, warning)) in requirements {
            let sources = files.all(role);
            let mut is_described = sources.is_empty();
            for document in sources.iter().filter_map(find) {
                let contents = match added.iter().find(|(known, _)| *known == document.source) {
                    Some((_, contents)) => *contents,
                    None => {
                        let contents = read.add(document, role, is_strict)?;
                        added.push((document.source, contents));
                        contents
                    }
                };
                is_described |= is_met(contents);
            }
            if !is_described {
                let names: Vec<String> = sources
                    .iter()
                    .map(|source| format!("`{}`", source.name()))
                    .collect();
                read.warnings
                    .push(format!("{} {warning}", names.join(", ")));
            }
        }
        read.queues.add_seen_to(&mut read.schema);
        read.check_declared(files);
        // before names of formulas are resolved
        read.python =
            ServerPython::find(python, files, read.server.pbs_version, &mut read.warnings)?;
        read.schema = read.schema.with_python(read.python.version);
        let given = files.first(Role::Formula).and_then(find);
        if let Some(document) = given {
            let formula = document.for_formula().given(partition);
            read.add_names_from_formula_file(document, formula.as_ref().ok(), is_strict)?;
            read.formulas.all.extend(formula.as_ref().ok().cloned());
            read.formulas.given = Some(formula);
        }
        let of_server: Vec<&SiteDocument<'_>> =
            files.all(Role::Server).iter().filter_map(find).collect();
        let mut in_use = Vec::new();
        for document in &of_server {
            // the formula of the server is that of the default scheduler
            in_use.extend(match partition {
                Some(partition) => document
                    .for_formula()
                    .of_partition(partition)
                    .map(|formula| (*document, Ok(formula))),
                None => Some((*document, document.for_formula().formula())),
            });
        }
        let sched_formula = files.first(Role::SchedFormula).and_then(find);
        in_use.extend(sched_formula.map(|document| (document, document.for_formula().formula())));
        read.add_names_in_active_formula(&in_use);
        in_use
            .into_iter()
            .for_each(|(_, formula)| read.formulas.add(formula));
        match partition {
            Some(partition) => read.require_partition(partition)?,
            None => read.choose_scheduler(given, given.into_iter().chain(of_server)),
        }
        Ok(read)
    }

    /// Warns about each resource that was declared with a different type from the one that OpenPBS
    /// or a document gives it.
    fn check_declared(&mut self, files: &SiteFiles) {
        for (name, declared) in &files.declared {
            let Some(entry) = self
                .schema
                .entry(name)
                .filter(|entry| entry.input_type != *declared)
            else {
                continue;
            };
            let reason = match entry.origin {
                Origin::Special | Origin::Standard => "OpenPBS defines it",
                Origin::Site | Origin::Slurm => "a document of the site declares it",
                Origin::Seen => "the jobs or queues of the site have it",
            };
            let given = declared.pbs_type();
            let used = entry.input_type.pbs_type();
            self.warnings.push(format!(
                "`{name}` was declared as {given}, but {reason} as {used}; {used} is used"
            ));
        }
    }

    /// Adds the resources, queues and settings of a file, and returns what it describes.
    fn add(
        &mut self,
        document: &SiteDocument<'_>,
        role: Role,
        is_strict: bool,
    ) -> Result<Contents, SiteError> {
        let SiteDocument { name, objects, .. } = document;
        let expected = role.files();
        if !(document.is_resourcedef && expected.kinds.contains(&FileKind::Empty)) {
            expected.require(document.kind, name, objects.text.as_bytes())?;
        }
        self.warn_of_repeated(name, &repeated(objects), is_strict)?;
        let problems = add_resources(name, objects, &mut self.schema);
        self.warnings
            .extend(limit_each_kind(problems.iter().map(ToString::to_string)));
        for name in declared_names(objects) {
            if self
                .schema
                .entry(name)
                .is_some_and(|entry| entry.origin == Origin::Special)
            {
                self.hidden.push(name.to_owned());
            }
        }
        let queues = Queues::read(name, objects).map_err(SiteError::content)?;
        let contents = Contents {
            has_server: objects.has(ObjectKind::Server) || objects.has(ObjectKind::Scheduler),
            has_queue: !queues.is_empty(),
            has_resources: objects.has(ObjectKind::Resource) || queues.lists_resources(),
        };
        self.queues.add(queues);
        let partition = self.partition.as_deref();
        self.server = self.server.or(ServerSettings::read(objects, partition));
        self.scheduler =
            std::mem::take(&mut self.scheduler).or(SchedulerSettings::read(objects, partition));
        Ok(contents)
    }

    /// Refuses a partition that no queue has.
    fn require_partition(&self, partition: &str) -> Result<(), SiteError> {
        let names = || {
            self.queues
                .iter()
                .filter_map(|(queue, _)| self.queues.partition(queue))
        };
        if names().any(|name| name == partition) {
            return Ok(());
        }
        let similar = did_you_mean(partition, names().take(MAX_COMPARED));
        Err(SiteError::content(format!(
            "no queue has the partition `{partition}`{similar}"
        )))
    }

    fn warn_of_repeated(
        &mut self,
        name: &str,
        repeated: &BTreeSet<String>,
        is_strict: bool,
    ) -> Result<(), SiteError> {
        let warnings = repeated.iter().map(|what| {
            format!("`{name}`: `{what}` is given more than once; check which one is in force")
        });
        warn_unless_strict(&mut self.warnings, warnings, is_strict)
    }

    /// If the file of the formula describes a server, adds the names that it lists; if the server
    /// wrote it, those in its formula. Nothing else of it is used.
    fn add_names_from_formula_file(
        &mut self,
        document: &SiteDocument<'_>,
        formula: Option<&FormulaText>,
        is_strict: bool,
    ) -> Result<(), SiteError> {
        let SiteDocument {
            name,
            kind,
            objects,
            ..
        } = document;
        let mut repeated = repeated(objects);
        repeated.retain(|what| what.ends_with(".job_sort_formula"));
        self.warn_of_repeated(name, &repeated, is_strict)?;
        if matches!(kind, FileKind::Server | FileKind::Qmgr) {
            add_resources(name, objects, &mut self.schema);
            Queues::read(name, objects)
                .map_err(SiteError::content)?
                .add_seen_to(&mut self.schema);
        }
        if let Some(formula) = formula
            && matches!(
                kind,
                FileKind::Server | FileKind::Qmgr | FileKind::SchedFormula
            )
        {
            let added = self.add_formula_names(formula);
            if *kind == FileKind::Qmgr && sets_only_formulas(objects.text) && !added.is_empty() {
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

    /// Adds the names in the formulas that the server has accepted, so that PBS knows them. Warns
    /// if files contain different formulas.
    fn add_names_in_active_formula(
        &mut self,
        documents: &[(&SiteDocument<'_>, Result<FormulaText, Message>)],
    ) {
        let mut in_force: Option<(&str, String)> = None;
        for (document, formula) in documents {
            let Ok(formula) = formula else { continue };
            let (name, text) = (document.name, formula.all_lines());
            match in_force {
                None => in_force = Some((name, text)),
                Some((first, ref used)) if used.trim() != text.trim() => self.warnings.push(format!(
                    "`{first}` and `{name}` contain different formulas, `{}` and `{}`; the one in `{first}` is used unless you \
                     give a formula{}",
                    clipped(used),
                    clipped(&text),
                    if first.ends_with(SCHEDULERS_FORMULA) || name.ends_with(SCHEDULERS_FORMULA) {
                            ". The server writes `sched_priv/sched_formula` whenever its formula is set, so the files come from \
                             different times or servers"
                        } else { "" }
                )),
                Some(_) => {}
            }
            self.add_formula_names(formula);
        }
    }

    /// Warns about the formulas of other schedulers in the documents, and keeps the partition of
    /// the scheduler whose formula is given.
    fn choose_scheduler<'d>(
        &mut self,
        given: Option<&SiteDocument<'_>>,
        documents: impl Iterator<Item = &'d SiteDocument<'d>>,
    ) {
        for document in documents.filter(|document| document.kind == FileKind::Qmgr) {
            let SiteDocument { name, objects, .. } = document;
            let of_server = SourceFormula::of_server(objects);
            let mut schedulers = listed_schedulers(objects);
            schedulers.retain(|scheduler| scheduler.formula.is_some());
            let is_given = given.is_some_and(|given| given.source == document.source);
            let is_only = of_server.is_none() && schedulers.len() == 1;
            for scheduler in &schedulers {
                let Some(SourceFormula { text: formula, .. }) = &scheduler.formula else {
                    continue;
                };
                if scheduler.name == DEFAULT {
                    self.warnings.extend(
                        of_server
                            .as_ref()
                            .and_then(|used| contradiction(name, &used.text, formula)),
                    );
                    continue;
                }
                let is_used = is_given && is_only;
                self.warnings
                    .push(formula_of_other(name, scheduler, formula, is_used));
                if is_used {
                    self.partition.clone_from(&scheduler.partition);
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
            if matches!(
                Resolution::from_schema(name, &self.schema),
                Resolution::Undefined
            ) {
                self.schema.add_seen(name, InputType::Float);
                added.push(name.to_owned());
            }
        }
        added
    }
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
fn formula_of_other(
    source: &str,
    scheduler: &ListedScheduler,
    formula: &str,
    is_used: bool,
) -> String {
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
