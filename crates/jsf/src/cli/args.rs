//! The arguments that several commands take.

use std::fmt::Display;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use job_sort_formula::rank::OldNew;
use jsf_openpbs::amounts::parse_duration;
use jsf_site::{Site, is_stdin};

use crate::answer::{CsvText, Format};
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

    /// The formulas of --old and --new, as texts and as files.
    pub(crate) fn of_sides(
        texts: [&Option<String>; 2],
        files: [&Option<PathBuf>; 2],
    ) -> OldNew<Self> {
        OldNew::new(
            Self::new(FormulaOptions::OLD, texts[0], files[0]),
            Self::new(FormulaOptions::NEW, texts[1], files[1]),
        )
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
    /// It counts instead of the server's: a job whose value is at most X does not run
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = threshold)]
    pub threshold: Option<f64>,
}

/// How much is shown to people.
#[derive(Debug, Clone, Copy, Args)]
pub struct TextArgs {
    /// Show everything, and not one screen
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
    /// With --format csv, write a ' before each =, +, - or @ with which a text, or a part of it
    /// after a separator such as ;, begins, so that the spreadsheet does not compute it
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

/// Parses a name in a list, which blanks may surround.
pub(crate) fn listed_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("expected a name before and after each comma".to_owned()),
        name => Ok(name.to_owned()),
    }
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

/// A number within a range, which `expected` describes.
pub(crate) fn number_within<T: FromStr + PartialOrd>(
    text: &str,
    range: RangeInclusive<T>,
    expected: impl Display,
) -> Result<T, String> {
    match text.parse() {
        // no range contains a NaN, which Rust reads as a number too
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("expected {expected}")),
    }
}

/// Parses the number of jobs to show.
pub(crate) fn number_of_jobs(text: &str) -> Result<usize, String> {
    let expected = "the number of jobs to show, such as 10";
    number_within(text, 0..=usize::MAX, expected)
}

/// Parses the seed of random numbers.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    let expected = format!("a whole number from 0 to {}, such as 1", u64::MAX);
    number_within(text, 0..=u64::MAX, expected)
}

/// Parses a number of processors.
pub fn processors(text: &str) -> Result<NonZeroU32, String> {
    // a larger type tells a number out of range from what is no number
    let Ok(number) = text.parse::<i128>() else {
        return Err("expected a number of processors, such as 128".to_owned());
    };
    match text.parse() {
        Ok(processors) => Ok(processors),
        Err(_) if number < 1 => Err("`--processors` must be at least 1".to_owned()),
        Err(_) => Err(format!("`--processors` must be at most {}", u32::MAX)),
    }
}

/// Parses the interval of a decay.
pub fn decay_period(text: &str) -> Result<u64, String> {
    match parse_duration(text)? {
        0 => Err("expected at least a second".to_owned()),
        seconds => Ok(seconds),
    }
}

/// Parses the factor of a decay.
pub fn decay_factor(text: &str) -> Result<f64, String> {
    number_within(text, 0.0..=1.0, "a number from 0 to 1, such as 0.5")
}
