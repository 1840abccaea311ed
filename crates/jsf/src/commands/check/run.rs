//! `jsf check`: its arguments, and what it does with a checked formula, which is reported, fixed or set.

use std::collections::BTreeSet;
use std::io::Write;

use clap::Args;
use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Code, Diagnostic, FixedText, Levels};
use jsf_openpbs::check::Checked;
use jsf_openpbs::qmgr_command::{object_or_server, set_threshold_command};
use jsf_openpbs::server_validation::AnsweredBy;
use jsf_site::{FormulaText, Role, Site, SiteError};

use crate::answers::Format;
use crate::cli::args::{AnswerArgs, QueueArgs, formats, printable_formula, read_source};
use crate::cli::messages::{answered, draw_all, print_message, warn};
use crate::cli::output::{CliError, Outcome, Output};
use crate::commands::check::{CheckAnswer, set_command, stopped_by_threshold};
use crate::view::findings::{in_options, limit_each_code};
use crate::view::words::{count, printable};

/// `jsf check`
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

pub(crate) fn run(arguments: &CheckArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let levels = Levels::new(&arguments.deny, &arguments.allow, &arguments.select)
        .map_err(CliError::usage)?;
    let QueueArgs {
        formula,
        site: site_given,
        ..
    } = &arguments.queue;
    let site = arguments.queue.open_site()?;
    let source = read_source(formula, Some(&site))?;
    let is_document = arguments.answer.format.is_document();
    site_given.show(&site, is_document);
    let is_fixed = arguments.fix || arguments.unsafe_fixes;
    // --qmgr prints them as comments beside the command; --fix prints the formula alone
    let has_warnings = arguments.qmgr || is_document && !is_fixed;
    let (mut formula, warnings) = answered("checking the formula", has_warnings, |warnings, _| {
        let inputs = names(&source, &site);
        let checked = CheckedFormula::new(&site, source, &levels);
        // the warnings say why the jobs are refused
        let mut formula = checked.inspect_err(|_| warnings.add_site(&site, &inputs))?;
        warnings.add(std::mem::take(&mut formula.checked.warnings));
        if is_fixed {
            formula = apply_fixes(formula, &site, &levels, arguments.unsafe_fixes)?;
        }
        // a fix may have written the name of an input
        warnings.add_site(&site, &names(&formula.source, &site));
        Ok(formula)
    })?;
    if is_fixed || arguments.qmgr {
        draw_all(&formula.source, &formula.checked.findings);
    }
    formula.note_hidden();
    if arguments.qmgr {
        return write_qmgr_commands(arguments, &site, &formula, &warnings, out);
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
        Output::new(arguments.answer, &warnings).write(&answer, out)?;
    }
    // a hidden error counts only if it prevents the command from being printed
    let is_fine = !formula.checked.has_errors() && formula.reaches_server();
    Ok(Outcome::fine_if(is_fine))
}

/// A formula with the findings that are shown.
struct CheckedFormula {
    source: FormulaText,
    checked: Checked,
    /// The codes of the errors that are not shown.
    hidden: Vec<&'static str>,
    /// Whether the formula was tried on no job.
    is_untried: bool,
}

impl CheckedFormula {
    fn new(site: &Site, source: FormulaText, levels: &Levels) -> Result<Self, SiteError> {
        let mut checked = site.check(&source.submitted(site.numbers()))?;
        // a site without jobs is warned of only: nothing was given to try the formula on
        let mut findings = checked.findings.iter();
        let is_untried =
            site.files().has(Role::Queue) && findings.any(|found| found.code == Code::TriedOnNoJob);
        // before the levels hide some of them
        let mut hidden = BTreeSet::from_iter(checked.errors().map(|found| found.code.name()));
        levels.apply(&mut checked.findings);
        for found in checked.errors() {
            hidden.remove(found.code.name());
        }
        Ok(Self {
            source,
            checked,
            hidden: Vec::from_iter(hidden),
            is_untried,
        })
    }

    /// Whether the formula has an error, shown or not, or the server refuses it.
    fn has_errors(&self) -> bool {
        self.checked.has_errors() || !self.hidden.is_empty() || self.checked.is_refused()
    }

    /// Whether qmgr passes the text on.
    fn reaches_server(&self) -> bool {
        self.checked.validation.by != Some(AnsweredBy::Qmgr)
    }

    /// Says which errors are not shown.
    fn note_hidden(&self) {
        if self.hidden.is_empty() {
            return;
        }
        let codes = self.hidden.join(", ");
        print_message(
            "note",
            format_args!(
                "{codes}: an error that is not shown, because of --select or --allow; the formula does not work all the same"
            ),
        );
    }
}

/// The names in a formula; none of one that does not parse.
fn names(source: &FormulaText, site: &Site) -> Vec<String> {
    match source.submitted(site.numbers()).formula() {
        Ok(formula) => formula.names().into_iter().map(str::to_owned).collect(),
        Err(_) => Vec::new(),
    }
}

/// The most rounds of fixes: one fix may uncover the next, as in `LOG(NCPUS)`.
const MAX_ROUNDS: usize = 1000;

/// The formula with all fixes applied, checked again after each round.
fn apply_fixes(
    mut formula: CheckedFormula,
    site: &Site,
    levels: &Levels,
    with_unsafe: bool,
) -> Result<CheckedFormula, SiteError> {
    for _ in 0..MAX_ROUNDS {
        let CheckedFormula {
            source, checked, ..
        } = &formula;
        let Some(fixed) = FixedText::new(&source.text, &checked.findings, with_unsafe) else {
            break;
        };
        report_fixes(&source.text, &fixed.applied);
        formula = CheckedFormula::new(site, source.clone().with_text(fixed.text), levels)?;
    }
    Ok(formula)
}

/// Says which fixes are applied to the formula: of each code the first ten, then how many more
/// there are.
fn report_fixes(formula: &str, applied: &[&Diagnostic]) {
    let (shown, others) = limit_each_code(applied.iter().copied());
    shown
        .into_iter()
        .for_each(|found| report_fix(formula, found));
    for (code, more) in others {
        let more = count(more, "more place");
        print_message("fixed", format_args!("{code}: and {more}"));
    }
}

/// Says which fix is applied to the formula.
fn report_fix(formula: &str, found: &Diagnostic) {
    let Some(fix) = &found.fix else { return };
    let old = fix.span.slice(formula);
    let new = &fix.replacement;
    let change = match (old.is_empty(), new.is_empty()) {
        (true, _) => format!("inserted `{new}`"),
        (_, true) => format!("removed `{old}`"),
        _ => format!("replaced `{old}` by `{new}`"),
    };
    print_message("fixed", format_args!("{}: {change}", found.code));
}

/// Prints the command that sets the formula, and that of a threshold that is set with it, or says
/// what prevents that.
fn write_qmgr_commands(
    arguments: &CheckArgs,
    site: &Site,
    formula: &CheckedFormula,
    warnings: &[String],
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    let is_in_force = is_in_force(&formula.source, site);
    if let Some(obstacle) = obstacle(formula, arguments.force, is_in_force) {
        // there is no command to comment on
        warnings.iter().for_each(warn);
        let message = format!("no qmgr command is printed for {obstacle}");
        print_message("error", message);
        return Ok(Outcome::Findings);
    }
    // the command does not show how many jobs the threshold stops
    if let Some(jobs) = &formula.checked.jobs
        && jobs.under_threshold > Some(0)
        && let Some(sentence) = stopped_by_threshold(jobs)
    {
        warn(sentence);
    }
    let FormulaText { before, text, .. } = &formula.source;
    let command = set_command(&object_or_server(before), text).map_err(CliError::usage)?;
    writeln!(out, "{command}")?;
    // the way back takes the threshold that is in force, too
    let in_force = if is_in_force { site.threshold() } else { None };
    if let Some(threshold) = arguments.queue.threshold.or(in_force) {
        let command = set_threshold_command(&formula.source.before, threshold);
        writeln!(out, "{command}")?;
    }
    // a shell that is typed into may have no comments, and takes a text in quotes as it is
    for warning in warnings {
        let quoted = printable(warning).replace('\'', r"'\''");
        writeln!(out, "# 'warning: {quoted}'")?;
    }
    Ok(Outcome::fine_if(!formula.has_errors()))
}

/// What a formula is for which no command is printed; `None` for one that can be set.
fn obstacle(formula: &CheckedFormula, is_forced: bool, is_in_force: bool) -> Option<&'static str> {
    if !formula.reaches_server() {
        Some("a text that qmgr does not pass on")
    } else if is_forced {
        None
    } else if formula.has_errors() {
        Some("a formula with an error; --force prints it all the same")
    } else if formula.is_untried && !is_in_force {
        Some("a formula that was tried on no job, as JSF617 says; --force prints it all the same")
    } else {
        None
    }
}

/// Whether the formula is the one that the site has: setting it again changes nothing, or is the
/// way back.
fn is_in_force(source: &FormulaText, site: &Site) -> bool {
    match site.formula_in_force() {
        Some(in_force) => normalised(&in_force.text) == normalised(&source.text),
        None => false,
    }
}

fn normalised(text: &str) -> String {
    match Formula::parse(text) {
        Ok(formula) => formula.to_string(),
        Err(_) => text.trim().to_owned(),
    }
}
