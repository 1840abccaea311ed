//! The one place that writes answers: to standard output, and as a page to a file.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jsf_site::Site;

use crate::answer::{Answer, Format, write_json};
use crate::cli::CliError;
use crate::cli::args::AnswerArgs;
use crate::cli::document::{Shown, command_line, write_as_markdown, write_text};
use crate::cli::page_file::{require_page_file, write_page_file};
use crate::view::csv_writer::Cells;
use crate::view::document::{self, Document, Section};

/// How an answer is written.
pub(crate) struct Output<'a> {
    format: Format,
    /// How much of it people see.
    shown: Shown,
    cells: Cells,
    /// The warnings about what it is computed from, which are a part of it.
    warnings: &'a [String],
    page: Option<Page<'a>>,
}

/// The file for a page, and what the command reads, which no page may replace.
struct Page<'a> {
    path: &'a Path,
    sites: Vec<&'a Site>,
    files: Vec<&'a PathBuf>,
}

impl<'a> Output<'a> {
    pub(crate) fn new(format: Format, shown: impl Into<Shown>, warnings: &'a [String]) -> Self {
        Self {
            format,
            shown: shown.into(),
            cells: Cells::Plain,
            warnings,
            page: None,
        }
    }

    /// The same by the arguments that most commands have.
    pub(crate) fn of(arguments: AnswerArgs, warnings: &'a [String]) -> Self {
        Self::new(arguments.format, arguments.text, warnings)
    }

    pub(crate) fn with_cells(mut self, cells: Cells) -> Self {
        self.cells = cells;
        self
    }

    /// Writes a page too, if there is a path for it. It replaces no file of the sites, and none of
    /// `files`.
    pub(crate) fn with_page(
        self,
        path: Option<&'a Path>,
        sites: Vec<&'a Site>,
        files: Vec<&'a PathBuf>,
    ) -> Self {
        Self {
            page: path.map(|path| Page { path, sites, files }),
            ..self
        }
    }

    /// The document with the warnings before everything else but its headline and facts.
    fn warned<'d>(&self, mut document: Document<'d>) -> Document<'d> {
        if !self.warnings.is_empty() {
            document
                .sections
                .insert(0, Section::new("warnings").list(self.warnings.to_vec()));
        }
        document
    }

    /// Writes an answer. All of it is written when this returns, so that messages can follow.
    pub(crate) fn write(&self, answer: &impl Answer, out: &mut impl Write) -> Result<(), CliError> {
        if let Some(Page { path, sites, files }) = &self.page {
            require_page_file(path, sites, files)?;
            let mut page = Vec::new();
            document::write_page(&self.warned(answer.page()), &command_line(), &mut page)?;
            write_page_file(path, &page)?;
        }
        match self.format {
            Format::Human => write_text(&self.warned(answer.document()), self.shown, out)?,
            Format::Markdown => {
                write_as_markdown(&self.warned(answer.document()), self.shown, out)?
            }
            Format::Json => write_json(answer, self.warnings, out)?,
            other => answer.write_as(other, self.cells, out)?,
        }
        Ok(out.flush()?)
    }
}

/// Parses one of the formats that a command has.
pub(crate) fn format(offered: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let values = offered.iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(values).try_map(|name| Format::from_str(&name, false))
}
