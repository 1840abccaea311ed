//! Where the formula comes from.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::Diagnostic;
use job_sort_formula::formula::syntax::SyntaxError;
use job_sort_formula::pbs::formula_source::formula_in;
use job_sort_formula::pbs::script_text::{BrokenScript, ScriptText};

use super::CliError;
use super::args::{FormulaArgs, NumbersName, SiteArgs};

/// The largest file of jobs that is read.
pub(super) const MOST_OF_A_QUEUE: u64 = 64 << 30;
/// The largest of any other file.
pub(super) const MOST_OF_A_FILE: u64 = 256 << 20;

/// The text of the formula and the name of its source.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub text: String,
    pub origin: String,
}

/// A formula as Python will read it, with the way back to the admin's text.
pub(super) struct Parsed {
    pub formula: Formula,
    script: Option<ScriptText>,
}

impl Source {
    /// Parses the formula; under OpenPBS's numbers as the text that its script hands to Python.
    pub(super) fn parse(&self, numbers: NumbersName) -> Result<Parsed, Box<Refusal>> {
        if numbers != NumbersName::Openpbs {
            let formula = Formula::parse(&self.text).map_err(|error| Refusal::of(error, None))?;
            return Ok(Parsed { formula, script: None });
        }
        let script = ScriptText::of(&self.text)
            .map_err(|broken| Box::new(Refusal { finding: broken_script(broken), error: None }))?;
        match Formula::parse(script.text()) {
            Ok(formula) => Ok(Parsed { formula, script: Some(script) }),
            Err(error) => Err(Refusal::of(error, Some(&script))),
        }
    }
}

impl Parsed {
    /// A finding on the formula, moved to its place in the admin's text.
    pub(super) fn in_source(&self, finding: Diagnostic) -> Diagnostic {
        moved(finding, self.script.as_ref())
    }
}

/// Why a text is no formula.
pub(super) struct Refusal {
    pub finding: Diagnostic,
    pub error: Option<SyntaxError>,
}

impl Refusal {
    fn of(error: SyntaxError, script: Option<&ScriptText>) -> Box<Self> {
        Box::new(Self { finding: moved(error.diagnostic(), script), error: Some(error) })
    }
}

fn moved(mut finding: Diagnostic, script: Option<&ScriptText>) -> Diagnostic {
    if let Some(script) = script {
        finding.span = script.in_source(finding.span);
        finding.labels.iter_mut().for_each(|label| label.span = script.in_source(label.span));
        finding.fix.iter_mut().for_each(|fix| fix.span = script.in_source(fix.span));
    }
    finding
}

fn broken_script(broken: BrokenScript) -> Diagnostic {
    let help = if broken.keeps_stale_values() {
        "the scheduler notices nothing: every job keeps the value that the formula before gave to the job before it"
    } else {
        "write the character itself"
    };
    Diagnostic::error("JSF106", broken.to_string(), broken.span).with_help(help)
}

/// Takes the formula from the argument, the file, the server's document or the scheduler's folder.
pub(super) fn source(formula: &FormulaArgs, site: Option<&SiteArgs>) -> Result<Source, CliError> {
    if let Some(text) = &formula.formula {
        return Ok(Source { text: text.clone(), origin: "FORMULA".into() });
    }
    let in_sched_priv = site.and_then(|site| site.sched_priv.as_ref()).map(|folder| folder.join("sched_formula"));
    let server = site.and_then(|site| site.server.clone());
    let path = formula.formula_file.clone().or(server).or(in_sched_priv);
    let path = path.ok_or_else(|| {
        CliError::usage("no formula: give its text, --formula-file FILE, --server FILE or --sched-priv DIR")
    })?;
    let origin = path.display().to_string();
    let text = formula_in(&origin, &read_text(&path, MOST_OF_A_FILE)?).map_err(CliError::content)?;
    Ok(Source { text, origin })
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
