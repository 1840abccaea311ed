//! The arguments that several commands take.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use job_sort_formula::rank::OldNew;
use jsf_site::{Site, is_stdin};

use crate::answer_formats::{CsvText, Format};
use crate::cli::formula::read_formula;
use crate::cli::outcome::CliError;
use crate::cli::page_file::PageFile;
use crate::cli::site::{STDIN, SiteArgs, threshold};
use crate::given_formula::GivenFormula;

/// The source of the formula.
#[derive(Debug, Clone, Default, Args)]
pub struct FormulaArgs {
    /// The formula; - is standard input
    ///
    /// The text of the formula, alone or pasted as `job_sort_formula = …`,
    /// `set server job_sort_formula = "…"` or `qmgr -c '…'`
    // a formula may begin with a minus
    #[arg(value_name = "FORMULA", allow_hyphen_values = true)]
    pub formula: Option<String>,
    /// The file that contains the formula
    ///
    /// Plain text, sched_formula, `qmgr -c 'print server'`, or `qstat -Bf` as text or JSON; - is
    /// standard input
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "formula")]
    pub formula_file: Option<PathBuf>,
    /// The options that give both.
    #[arg(skip)]
    pub(crate) options: FormulaOptions,
}

/// The options that give a formula: its text, and its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormulaOptions {
    pub(crate) text: &'static str,
    pub(crate) file: &'static str,
}

impl FormulaOptions {
    const OLD: Self = Self {
        text: "--old",
        file: "--old-file",
    };
    pub(crate) const NEW: Self = Self {
        text: "--new",
        file: "--new-file",
    };
}

impl Default for FormulaOptions {
    fn default() -> Self {
        Self {
            text: "FORMULA",
            file: "-f",
        }
    }
}

impl QueueArgs {
    /// Opens the site, says what was found there, and reads the formula.
    pub(crate) fn open(&self, format: Format) -> Result<(Site, GivenFormula), CliError> {
        let site = self.open_site()?;
        self.site.show(&site, format.is_document());
        let source = read_formula(&self.formula, Some(&site))?;
        let given = GivenFormula::new(source, site.numbers());
        Ok((site, given))
    }

    /// Opens the site.
    pub(crate) fn open_site(&self) -> Result<Site, CliError> {
        self.site.open(self.formula.file(), self.threshold)
    }
}

impl FormulaArgs {
    /// The formula of two options.
    pub(crate) fn new(
        options: FormulaOptions,
        text: &Option<String>,
        file: &Option<PathBuf>,
    ) -> Self {
        Self {
            formula: text.clone(),
            formula_file: file.clone(),
            options,
        }
    }

    /// Whether a formula is given.
    pub fn is_given(&self) -> bool {
        self.formula.is_some() || self.formula_file.is_some()
    }

    /// The file that it is read from, which may be standard input.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.formula {
            Some(text) if text == STDIN => Some(Path::new(STDIN)),
            Some(_) => None,
            None => self.formula_file.as_deref(),
        }
    }
}

/// The formulas before and after a change.
#[derive(Debug, Args)]
pub struct TwoFormulas {
    /// The old formula [default: the site's]
    ///
    /// Alone or pasted as for `jsf rank`; - is standard input
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    old: Option<String>,
    /// The new formula [default: the site's]
    ///
    /// The default is the old one where another difference is given
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    new: Option<String>,
    /// The file that contains the old formula
    ///
    /// As for `jsf rank -f`; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "old")]
    old_file: Option<PathBuf>,
    /// The file that contains the new formula
    #[arg(long, value_name = "FILE", conflicts_with = "new")]
    new_file: Option<PathBuf>,
}

impl TwoFormulas {
    /// The formula of either side.
    pub(crate) fn formulas(&self) -> OldNew<FormulaArgs> {
        OldNew {
            old: FormulaArgs::new(FormulaOptions::OLD, &self.old, &self.old_file),
            new: FormulaArgs::new(FormulaOptions::NEW, &self.new, &self.new_file),
        }
    }

    /// The files with the formulas.
    pub(crate) fn files(&self) -> Vec<&PathBuf> {
        self.old_file.iter().chain(&self.new_file).collect()
    }
}

/// A queue, and the formula that ranks it.
#[derive(Debug, Args)]
pub struct QueueArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// Use X as the job_sort_formula_threshold
    ///
    /// It replaces the server's: a job whose value is at most X does not run
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = threshold)]
    pub threshold: Option<f64>,
}

/// How much is shown to people.
#[derive(Debug, Clone, Copy, Args)]
pub struct TextArgs {
    /// Show everything instead of one screen
    ///
    /// A terminal gets one screen (at most 24 lines, or the environment variable JSF_LINES); a file
    /// or a pipe gets all rows
    #[arg(long)]
    pub full: bool,
    /// Show all columns in full
    ///
    /// However wide the terminal is
    #[arg(long)]
    pub wide: bool,
}

/// How an answer is written that people and programs read.
#[derive(Debug, Clone, Copy, Args)]
pub struct AnswerArgs {
    /// How much is shown to people.
    #[command(flatten)]
    pub text: TextArgs,
    /// The output format
    #[arg(long, value_parser = format(&[Format::Human, Format::Markdown, Format::Json]), default_value = "human")]
    pub format: Format,
}

/// A page beside the answer.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Also write the result as a page
    ///
    /// The page is for a browser, with charts
    #[arg(id = "report", long, value_name = "FILE", value_parser = page_path())]
    path: Option<PathBuf>,
}

impl ReportArgs {
    /// Whether a page is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.path.is_some()
    }

    /// The file for the page, if there is one. It is no file of the sites, and none of `read_files`,
    /// which the command reads.
    pub(crate) fn page_file<'a>(
        &'a self,
        sites: Vec<&'a Site>,
        read_files: Vec<&'a PathBuf>,
    ) -> Option<PageFile<'a>> {
        Some(PageFile {
            path: self.path.as_deref()?,
            sites,
            read_files,
        })
    }
}

/// How CSV is written.
#[derive(Debug, Args)]
pub struct CsvArgs {
    /// Guard the cells of CSV for a spreadsheet
    ///
    /// With --format csv, write a ' before each text, or part of a text after a separator such as ;,
    /// that begins with =, +, - or @, so that no spreadsheet computes it
    #[arg(long)]
    csv_safe: bool,
}

impl CsvArgs {
    /// How cells are written.
    pub(crate) fn cells(&self) -> CsvText {
        if self.csv_safe {
            CsvText::Guarded
        } else {
            CsvText::Plain
        }
    }
}

/// Parses one of the formats that a command has. The parser that clap derives would offer all of
/// them in the help and in completions.
pub(crate) fn format(offered: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let values = offered.iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(values).try_map(|name| Format::from_str(&name, false))
}

/// Parses the name of the file for a page. Standard output has the results.
pub(crate) fn page_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if is_stdin(&path) {
            return Err(
                "expected the name of a file: standard output has the results of the command",
            );
        }
        Ok(path)
    })
}
