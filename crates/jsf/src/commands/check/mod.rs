//! `jsf check`: what is asked, and what becomes of a formula, for people and as JSON.

#[cfg(feature = "command")]
mod fix_and_qmgr;
#[cfg(feature = "command")]
mod levels;
mod sarif;

use std::io::{self, Write};

use clap::Args;
use job_sort_formula::diagnostic::Code;
use jsf_openpbs::check::{Checked, JobCounts, Verdict};
use jsf_openpbs::qmgr_command::{refused_by_qmgr, set_command_for};
use jsf_openpbs::server_validation::AnsweredBy;
use jsf_site::FormulaText;
use serde::{Serialize, Serializer};

use crate::answers::{Answer, Format};
use crate::csv::CsvText;
use crate::view::document::{Document, DrawingStyle, Fact, Section};
use crate::view::facts::{WORTH, rates_line};
use crate::view::findings::{
    brief_finding, draw_finding, in_options, limit_each_code, more_findings,
};
use crate::view::verdict::{NO_FORMULA_IN_SLURM, verdict_sentence};
use crate::view::words::{count, first_few_quoted, printable_lines};
#[cfg(feature = "command")]
use crate::{
    cli::{
        formula::{QueueArgs, printable_formula, read_source},
        messages::{answered, draw_all},
        outcome::{CliError, Outcome},
        output::{AnswerArgs, Output, formats},
    },
    commands::check::fix_and_qmgr::{CheckedFormula, apply_fixes, names},
    commands::check::levels::Levels,
};

/// `jsf check`
#[cfg(feature = "command")]
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jsf check '2^-(fairshare_tree_usage/fairshare_perc)'
  jsf check -f examples/formulas/alcf.txt --queue examples/site/qstat.json \\
      --sched-priv examples/site/sched_priv
  jsf check --deny warnings --allow JSF6 --format sarif 'fair_share_perc * 100'
  jsf check --fix --qmgr 'math.log(NCPUS + 1)'",
mut_arg("format", |given| given.value_parser(formats(&[Format::Sarif]))))]
pub struct CheckArgs {
    /// The formula, and the queue on which it is tried.
    #[command(flatten)]
    queue: QueueArgs,
    /// Print the formula with all safe fixes applied
    ///
    /// The fixes and the remaining findings go to standard error; a text that is no formula with
    /// them is not printed
    #[arg(long, conflicts_with = "format")]
    fix: bool,
    /// Like --fix, but also apply fixes that may be wrong
    #[arg(long, conflicts_with = "format")]
    unsafe_fixes: bool,
    /// Print the qmgr command that sets the formula
    ///
    /// It is quoted for the shell and for qmgr, and printed if no finding is an error and, with
    /// jobs, the formula was tried on one or is that of the site; with --threshold, the command
    /// that sets the threshold follows; findings go to standard error
    #[arg(long, conflicts_with = "format")]
    qmgr: bool,
    /// With --qmgr: print the command in any case
    ///
    /// Even if a finding is an error or the formula was tried on no job
    #[arg(long, requires = "qmgr")]
    force: bool,
    /// Treat these findings as errors
    ///
    /// A code such as JSF203, a prefix such as JSF5, or `warnings`; separate several by commas, or
    /// repeat the option
    #[arg(long, value_name = "CODE")]
    deny: Vec<String>,
    /// Do not show these findings
    ///
    /// Given as for --deny; of --deny and --allow, the longer code or prefix wins. A hidden error
    /// still keeps --qmgr from printing the command
    #[arg(long, value_name = "CODE")]
    allow: Vec<String>,
    /// Report only these findings, and syntax errors
    ///
    /// Given as for --deny
    #[arg(long, value_name = "CODE")]
    select: Vec<String>,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
}

#[cfg(feature = "command")]
impl CheckArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let levels = Levels::new(&self.deny, &self.allow, &self.select).map_err(CliError::usage)?;
        let QueueArgs {
            formula,
            site: site_given,
            ..
        } = &self.queue;
        let site = self.queue.open_site()?;
        let source = read_source(formula, Some(&site))?;
        let is_document = self.answer.format.is_document();
        site_given.show(&site, is_document);
        let is_fixed = self.fix || self.unsafe_fixes;
        // --qmgr prints them as comments beside the command; --fix prints the formula alone
        let has_warnings = self.qmgr || is_document && !is_fixed;
        let (mut formula, warnings) =
            answered("checking the formula", has_warnings, |warnings, _| {
                let inputs = names(&source, &site);
                let checked = CheckedFormula::new(&site, source, &levels);
                // the warnings say why the jobs are refused
                let mut formula = checked.inspect_err(|_| warnings.add_site(&site, &inputs))?;
                warnings.add(std::mem::take(&mut formula.checked.warnings));
                if is_fixed {
                    formula = apply_fixes(formula, &site, &levels, self.unsafe_fixes)?;
                }
                // a fix may have written the name of an input
                warnings.add_site(&site, &names(&formula.source, &site));
                Ok(formula)
            })?;
        if is_fixed || self.qmgr {
            draw_all(&formula.source, &formula.checked.findings);
        }
        formula.note_hidden();
        if self.qmgr {
            return self.write_qmgr_commands(&site, &formula, &warnings, out);
        }
        if is_fixed {
            let submitted = formula.source.submitted(site.numbers());
            let Ok(parsed) = submitted.formula() else {
                return Ok(Outcome::Findings);
            };
            // a reader of files leaves out the blanks around a formula, so it would be another text
            let text = formula.source.text.trim();
            let fixed = printable_formula(&formula.source, text, parsed, site.numbers())?;
            writeln!(out, "{fixed}")?;
        } else {
            for found in &mut formula.checked.findings {
                *found = found.clone().worded(in_options);
            }
            let answer = CheckAnswer {
                source: &formula.source,
                checked: &formula.checked,
            };
            Output::new(self.answer, answer, warnings).write(out)?;
        }
        // a hidden error counts only if it prevents the command from being printed
        let is_fine = !formula.checked.has_errors() && formula.reaches_server();
        Ok(Outcome::fine_if(is_fine))
    }
}

/// The most guessed names that are listed; the others are counted.
const MAX_GUESSED: usize = 10;

/// A checked formula and its source.
#[derive(Debug, Clone, Copy)]
pub struct CheckAnswer<'a> {
    /// The formula in its document.
    pub source: &'a FormulaText,
    /// The result of the check.
    pub checked: &'a Checked,
}

impl Serialize for CheckAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.checked.serialize(serializer)
    }
}

impl Answer for CheckAnswer<'_> {
    fn document(&self) -> Document<'_> {
        let CheckAnswer { source, checked } = self;
        let (shown, others) = limit_each_code(&checked.findings);
        let mut sections = Vec::new();
        for found in shown {
            let draw =
                move |style: DrawingStyle| draw_finding(source, found, style.coloured, style.width);
            let section = Section::new("").draw(draw);
            sections.push(section.in_brief(brief_finding(found, "")));
        }
        for (code, count) in others {
            sections.push(Section::new("").prose(more_findings(count, code)));
        }
        let rates = rates_line(&checked.rates, "at the medians of the queue");
        if !rates.is_empty() {
            sections.push(Section::new(WORTH).prose(rates).in_full());
        }
        let mut facts = Vec::from_iter(checked.jobs.as_ref().map(jobs_fact));
        if let Some(source) = &checked.python_source {
            let python = format!("{} ({source})", checked.python);
            facts.push(Fact::new("python", python).in_full());
        }
        Document {
            command: "jsf check",
            title: "Check of a formula".to_owned(),
            headline: self.headline(),
            facts,
            sections,
            read_on: "",
        }
    }

    fn write_as(&self, _format: Format, _texts: CsvText, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &sarif::run_of(self))?;
        writeln!(out)
    }
}

impl<'a> CheckAnswer<'a> {
    /// The answer of qmgr and the server, or at a site of Slurm what becomes of it, then what the scheduler makes of a formula that they accept,
    /// else its first error.
    fn headline(self) -> String {
        let checked = self.checked;
        let is_accepted = checked.validation.accepted == Some(true);
        let answer = if checked.runs_slurm && is_accepted {
            NO_FORMULA_IN_SLURM.to_owned()
        } else {
            format!("qmgr: {}", self.answer())
        };
        if checked.verdict != Verdict::Refused
            && let Some(verdict) = verdict_sentence(checked, "it")
        {
            return format!("{answer}. {verdict}");
        }
        // otherwise the answer says what is wrong
        if is_accepted && checked.validation.by == Some(AnsweredBy::Server) {
            let mut errors = checked.errors();
            if let Some(found) = errors.next() {
                return format!("{answer}. Error {}: {}.", found.code, found.message);
            }
        }
        answer
    }

    /// What qmgr and the server answer.
    fn answer(self) -> String {
        let checked = self.checked;
        let validation = &checked.validation;
        match (validation.accepted, validation.code) {
            // qmgr reads the text first, and what it refuses the server never sees
            _ if validation.by == Some(AnsweredBy::Qmgr) => {
                let reason = refused_by_qmgr(&self.source.text);
                let reason = reason.map(|reason| reason.message).unwrap_or_default();
                format!("does not pass the formula on to the server: {reason}")
            }
            (Some(true), _) if !checked.guessed_types.is_empty() => {
                accepted_if(&checked.guessed_types)
            }
            (Some(true), _)
                if self.source.text.trim_end().contains(['\n', '\r'])
                    && (checked.findings.iter()).any(|found| found.code == Code::InvalidSyntax) =>
            {
                "accepts the first line".to_owned()
            }
            (Some(true), _) => "accepts the formula".to_owned(),
            (Some(false), Some(code)) => {
                format!("refuses the formula ({code}: {})", validation.message)
            }
            _ => {
                let mut words = "cannot tell whether it accepts the formula".to_owned();
                if let Some(reason) = validation.uncertainty {
                    words += &format!(": {reason}");
                }
                words
            }
        }
    }
}

/// On which guesses the answer depends.
fn accepted_if(guessed: &[String]) -> String {
    let names = first_few_quoted(guessed, MAX_GUESSED);
    format!(
        "accepts the formula if these are numeric resources, which is guessed from the jobs: {names}; \
         --resource NAME=TYPE declares one"
    )
}

/// How many jobs the formula was tried on.
fn jobs_fact(jobs: &JobCounts) -> Fact {
    let tried = jobs.total - jobs.ignored;
    let mut text = format!(
        "{} tried, {} fine, {} with an error",
        count(tried, "job"),
        tried - jobs.errors,
        jobs.errors
    );
    if jobs.ignored > 0 {
        text += &format!("; {} ignored by the scheduler", jobs.ignored);
    }
    if let Some(sentence) = stopped_by_threshold(jobs) {
        text += &format!("; {sentence}");
    }
    Fact::new("queue", text)
}

/// How many jobs the threshold in force, or the given one, stops; `None` without a threshold.
pub(crate) fn stopped_by_threshold(jobs: &JobCounts) -> Option<String> {
    let [under, over] = [jobs.under_threshold?, jobs.over_threshold?];
    let threshold = jobs.threshold?;
    Some(format!(
        "{under} of {} do not pass the threshold {threshold}",
        count(under + over, "waiting job")
    ))
}

/// The command that sets the formula of an object of `qmgr`.
///
/// # Errors
/// Why no command can be printed.
pub(crate) fn set_command(object: &str, text: &str) -> Result<String, String> {
    let command = set_command_for(object, text).map_err(|refusal| refusal.message)?;
    if printable_lines(&command) == command {
        Ok(command)
    } else {
        // escaped it would set another formula, and as it is it would reach the terminal
        Err("the formula has control characters".to_owned())
    }
}
