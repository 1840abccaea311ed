//! What the documents of the server, the queues and the resources say, under whichever option each is given.

use super::file_kind::{Expected, FileKind, RESOURCES, SERVER};
use super::files::SiteFiles;
use super::source::FileSource;
use super::{SiteError, file_kind};
use crate::formula::Formula;
use crate::formula::name_resolution::Resolution;
use crate::pbs::files::formula_source::formula_in;
use crate::pbs::files::queues::Queues;
use crate::pbs::files::resources::add_resources;
use crate::pbs::files::server::ServerSettings;
use crate::schema::{InputType, Schema};

/// The server, its queues and the names that a formula may use.
#[derive(Debug)]
pub(super) struct Documents {
    pub schema: Schema,
    pub queues: Queues,
    pub server: ServerSettings,
    pub warnings: Vec<String>,
}

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
        let mut seen: Vec<&FileSource> = Vec::new();
        let groups = [(&files.server, SERVER), (&files.queues, SERVER), (&files.resources, RESOURCES)];
        for (sources, expected) in groups {
            for source in sources {
                if !seen.contains(&source) {
                    seen.push(source);
                    read.add(source, &expected)?;
                }
            }
        }
        read.queues.add_seen_to(&mut read.schema);
        read.add_names_in_force(files)?;
        Ok(read)
    }

    fn add(&mut self, source: &FileSource, expected: &Expected) -> Result<(), SiteError> {
        let (name, text) = (source.name(), source.read_text()?);
        let kind = FileKind::detect(text.as_bytes());
        let is_list_of_names = kind == FileKind::Text
            && expected.kinds.contains(&FileKind::Empty)
            && text.lines().all(|line| line.split_whitespace().count() <= 1)
            && add_resources(&name, &text, &mut Schema::empty()).is_empty();
        if !is_list_of_names {
            expected.check(&name, text.as_bytes())?;
        }
        let declarations = if kind == FileKind::Qmgr { only_declarations(&text) } else { text.clone() };
        if matches!(kind, FileKind::Qmgr | FileKind::ResourceDef) || is_list_of_names {
            let problems = add_resources(&name, &declarations, &mut self.schema);
            self.warnings.extend(problems.iter().map(ToString::to_string));
        }
        if matches!(kind, FileKind::Server | FileKind::Queues | FileKind::Qmgr) {
            self.queues.add(Queues::read_listed(&name, &text).map_err(SiteError::content)?);
            self.server = self.server.or(ServerSettings::read(&text));
        }
        Ok(())
    }

    /// The server has accepted the formula in force, so it knows the names in it.
    fn add_names_in_force(&mut self, files: &SiteFiles) -> Result<(), SiteError> {
        for source in files.server.iter().chain(&files.sched_formula) {
            let text = source.read_text()?;
            if !matches!(FileKind::detect(text.as_bytes()), FileKind::Server | FileKind::Qmgr | FileKind::SchedFormula)
            {
                continue;
            }
            let Ok(formula) = formula_in(&source.name(), &text) else { continue };
            let Ok(formula) = Formula::parse(&formula) else { continue };
            for name in formula.names() {
                if matches!(Resolution::from_schema(name, &self.schema), Resolution::Undefined) {
                    self.schema.add_seen(name, InputType::Float);
                }
            }
        }
        Ok(())
    }
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
    let text = source.read_text()?;
    file_kind::FORMULA.check(&source.name(), text.as_bytes())?;
    Ok(text)
}
