//! Where the formula comes from.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use job_sort_formula::pbs::files::formula_source::formula_in;
use job_sort_formula::pbs::submission::FormulaSubmission;

use super::CliError;
use super::args::{FormulaArgs, NumbersName, SiteArgs};

/// The largest file that is read, other than the jobs.
pub(super) const MOST_OF_A_FILE: u64 = 256 << 20;

/// The text of the formula and the name of its source.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub text: String,
    pub origin: String,
    /// What stands before the formula in its source, where the source holds it word for word.
    pub before: String,
}

impl Source {
    /// Reads the formula; under OpenPBS's numbers as the text that its script hands to Python.
    pub(super) fn submitted<'s>(&'s self, numbers: NumbersName) -> FormulaSubmission<'s> {
        match numbers {
            NumbersName::Openpbs => FormulaSubmission::to_openpbs(&self.text),
            NumbersName::Exact | NumbersName::Decimal => FormulaSubmission::as_expression(&self.text),
        }
    }
}

/// Takes the formula from the argument, the file, the server's document or the scheduler's folder.
pub(super) fn source(formula: &FormulaArgs, site: Option<&SiteArgs>) -> Result<Source, CliError> {
    if let Some(text) = &formula.formula {
        return Ok(Source { text: text.clone(), origin: "FORMULA".into(), before: String::new() });
    }
    let in_sched_priv = site.and_then(|site| site.sched_priv.as_ref()).map(|folder| folder.join("sched_formula"));
    let server = site.and_then(|site| site.server.clone());
    let path = formula.formula_file.clone().or(server).or(in_sched_priv);
    let path = path.ok_or_else(|| {
        CliError::usage("no formula: give its text, --formula-file FILE, --server FILE or --sched-priv DIR")
    })?;
    let origin = path.display().to_string();
    let document = read_text(&path, MOST_OF_A_FILE)?;
    let text = formula_in(&origin, &document).map_err(CliError::content)?;
    let from = document.find("job_sort_formula").map_or(0, |at| at + "job_sort_formula".len());
    let before = document[from..].find(&text).map_or("", |at| &document[..from + at]).to_owned();
    Ok(Source { text, origin, before })
}

/// Reads a whole file, or standard input for `-`.
pub(super) fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let source: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(|error| CliError::read(path, error))?)
    };
    source.take(most + 1).read_to_end(&mut bytes).map_err(|error| CliError::read(path, error))?;
    if bytes.len() as u64 > most {
        return Err(CliError::TooLarge { path: path.to_owned(), most });
    }
    Ok(bytes)
}

/// The same as text; what is not UTF-8 is replaced.
pub(super) fn read_text(path: &Path, most: u64) -> Result<String, CliError> {
    let bytes = read_bytes(path, most)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}
