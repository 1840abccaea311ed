//! What the documents of the server, the queues and the resources say, under whichever option each is given.

use super::file_kind::{Expected, FileKind, RESOURCES, SERVER};
use super::files::SiteFiles;
use super::source::FileSource;
use super::warnings::few_of_each_kind;
use super::{SiteError, file_kind};
use crate::formula::Formula;
use crate::formula::name_resolution::Resolution;
use crate::json_visitor::clipped;
use crate::pbs::files::formula_source::formula_in;
use crate::pbs::files::queues::Queues;
use crate::pbs::files::resources::add_resources;
use crate::pbs::files::server::ServerSettings;
use crate::schema::{InputType, Origin, Schema};

/// The server, its queues and the names that a formula may use.
#[derive(Debug)]
pub(super) struct Documents {
    pub schema: Schema,
    pub queues: Queues,
    pub server: ServerSettings,
    pub warnings: Vec<String>,
}

/// What a document describes.
#[derive(Debug, Clone, Copy, Default)]
struct Contents {
    has_server: bool,
    has_queue: bool,
    has_resources: bool,
}

/// Whether a document describes what its option asks for, and what follows if it does not.
type Purpose = (fn(Contents) -> bool, &'static str);

const SERVER_MISSING: Purpose = (
    |contents| contents.has_server,
    "describes no server: its formula, threshold, defaults and `eligible_time_enable` are not known; what else it lists is used",
);
const QUEUES_MISSING: Purpose = (
    |contents| contents.has_queue,
    "describes no queue: `queue_priority` is 0 for every job; what else it lists is used",
);
const RESOURCES_MISSING: Purpose =
    (|contents| contents.has_resources, "declares no resource, as `resourcedef` or `qmgr -c 'print resource'` does");

impl Documents {
    /// Reads the documents: those of the server first, then those of the queues and of the resources.
    ///
    /// # Errors
    /// A document cannot be read, or is not of the server, the queues or the resources.
    pub(super) fn read(files: &SiteFiles) -> Result<Self, SiteError> {
        let mut read = Self {
            schema: Schema::openpbs(),
            queues: Queues::default(),
            server: ServerSettings::default(),
            warnings: Vec::new(),
        };
        for (name, kind) in &files.declared {
            read.schema.add(name, *kind);
        }
        let mut seen: Vec<(&FileSource, Contents)> = Vec::new();
        let groups = [
            (&files.server, SERVER, SERVER_MISSING),
            (&files.queues, SERVER, QUEUES_MISSING),
            (&files.resources, RESOURCES, RESOURCES_MISSING),
        ];
        for (sources, expected, (describes, missing)) in groups {
            let mut is_described = sources.is_empty();
            for source in sources {
                let contents = match seen.iter().find(|(known, _)| *known == source) {
                    Some((_, contents)) => *contents,
                    None => read.add(source, &expected)?,
                };
                seen.push((source, contents));
                is_described |= describes(contents);
            }
            if !is_described {
                let names: Vec<String> = sources.iter().map(|source| format!("`{}`", source.name())).collect();
                read.warnings.push(format!("{} {missing}", names.join(", ")));
            }
        }
        read.queues.add_seen_to(&mut read.schema);
        read.check_declared(files);
        if let Some(source) = &files.formula {
            read.add_names_of_formula_document(source)?;
        }
        read.add_names_in_force(files)?;
        Ok(read)
    }

    /// Warns of every resource that was declared with another type than OpenPBS or a document gives it.
    fn check_declared(&mut self, files: &SiteFiles) {
        for (name, declared) in &files.declared {
            let Some(entry) = self.schema.entry(name).filter(|entry| entry.input_type != *declared) else { continue };
            let by = match entry.origin {
                Origin::Special | Origin::Standard => "OpenPBS defines it",
                Origin::Site | Origin::Seen => "a document of the site declares it",
            };
            let (given, used) = (declared.pbs_type(), entry.input_type.pbs_type());
            self.warnings
                .push(format!("`{name}` is declared as {given}, which is not used: {by} with the type {used}"));
        }
    }

    /// Adds what a document says, and returns what it describes.
    fn add(&mut self, source: &FileSource, expected: &Expected) -> Result<Contents, SiteError> {
        let (name, text) = (source.name(), source.read_text(expected)?);
        let kind = FileKind::detect(text.as_bytes());
        let is_list_of_names = kind == FileKind::Text
            && expected.kinds.contains(&FileKind::Empty)
            && text.lines().all(|line| line.split_whitespace().count() <= 1)
            && add_resources(&name, &text, &mut Schema::empty()).is_empty();
        if !is_list_of_names {
            expected.check(&name, text.as_bytes())?;
        }
        let mut contents = Contents::default();
        let declarations = if kind == FileKind::Qmgr { only_declarations(&text) } else { text.clone() };
        if matches!(kind, FileKind::Qmgr | FileKind::ResourceDef) || is_list_of_names {
            let problems = add_resources(&name, &declarations, &mut self.schema);
            self.warnings.extend(few_of_each_kind(problems.iter().map(ToString::to_string)));
            let mut declared = Schema::empty();
            add_resources(&name, &declarations, &mut declared);
            contents.has_resources = !declared.is_empty() || !problems.is_empty();
        }
        if matches!(kind, FileKind::Server | FileKind::Queues | FileKind::Qmgr) {
            let queues = Queues::read_queues_or_server(&name, &text).map_err(SiteError::content)?;
            contents.has_queue = !queues.is_empty();
            contents.has_resources |= queues.lists_resources();
            contents.has_server = kind == FileKind::Server || text.lines().any(is_of_server);
            self.queues.add(queues);
            self.server = self.server.or(ServerSettings::read(&text));
        }
        Ok(contents)
    }

    /// A document of the server that was given for its formula declares what it lists, but is not used for anything else.
    fn add_names_of_formula_document(&mut self, source: &FileSource) -> Result<(), SiteError> {
        let (name, text) = (source.name(), source.read_text(&file_kind::FORMULA)?);
        let kind = FileKind::detect(text.as_bytes());
        if kind == FileKind::Qmgr {
            add_resources(&name, &only_declarations(&text), &mut self.schema);
        }
        if matches!(kind, FileKind::Server | FileKind::Qmgr) {
            Queues::read_queues_or_server(&name, &text).map_err(SiteError::content)?.add_seen_to(&mut self.schema);
        }
        if matches!(kind, FileKind::Server | FileKind::Qmgr) {
            self.add_names_in(&name, &text);
        }
        Ok(())
    }

    /// The server has accepted the formula in force, so it knows the names in it.
    fn add_names_in_force(&mut self, files: &SiteFiles) -> Result<(), SiteError> {
        let mut in_force: Option<(String, String)> = None;
        for source in files.server.iter().chain(&files.sched_formula) {
            let text = source.read_text(&file_kind::FORMULA)?;
            if !matches!(FileKind::detect(text.as_bytes()), FileKind::Server | FileKind::Qmgr | FileKind::SchedFormula)
            {
                continue;
            }
            let Ok(formula) = formula_in(&source.name(), &text) else { continue };
            match &in_force {
                None => in_force = Some((source.name(), formula.clone())),
                Some((first, used)) if used.trim() != formula.trim() => self.warnings.push(format!(
                    "`{first}` and `{}` contain different formulas, `{}` and `{}`; that of `{first}` is used unless one is \
                     given: the server writes its formula to `sched_priv/sched_formula` when it is set, so these files are of \
                     different times or servers",
                    source.name(),
                    clipped(used),
                    clipped(&formula)
                )),
                Some(_) => {}
            }
            self.add_names_in(&source.name(), &text);
        }
        Ok(())
    }

    /// Adds the names in the formula of a document that the server or the scheduler wrote.
    fn add_names_in(&mut self, name: &str, text: &str) {
        if !matches!(FileKind::detect(text.as_bytes()), FileKind::Server | FileKind::Qmgr | FileKind::SchedFormula) {
            return;
        }
        let Ok(formula) = formula_in(name, text) else { return };
        let Ok(formula) = Formula::parse(&formula) else { return };
        for name in formula.names() {
            if matches!(Resolution::from_schema(name, &self.schema), Resolution::Undefined) {
                self.schema.add_seen(name, InputType::Float);
            }
        }
    }
}

/// Whether a line of a listing of `qmgr` describes the server or a scheduler.
fn is_of_server(line: &str) -> bool {
    ["set server ", "set sched ", "Server ", "Server:", "Sched "].iter().any(|start| line.starts_with(start))
}

/// The lines of a listing of `qmgr` that declare resources, at their places.
fn only_declarations(text: &str) -> String {
    let mut is_resource = false;
    let keep = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().take(2).collect();
        if !line.starts_with(char::is_whitespace) && !line.is_empty() {
            is_resource = words.first() == Some(&"Resource");
        }
        is_resource || matches!(words.as_slice(), ["create" | "set", "resource"])
    };
    let lines: Vec<&str> = text
        .lines()
        .map({
            let mut keep = keep;
            move |line| if keep(line) { line } else { "" }
        })
        .collect();
    lines.join("\n")
}

/// Reads a formula's document, which must not be another file of the site.
pub(super) fn read_formula_document(source: &FileSource) -> Result<String, SiteError> {
    let text = source.read_text(&file_kind::FORMULA)?;
    file_kind::FORMULA.check(&source.name(), text.as_bytes())?;
    Ok(text)
}
