//! `jsf check`

use std::io::Write;

use job_sort_formula::diagnostic::{Levels, with_safe_fixes};
use job_sort_formula::pbs::check::{Checked, Surroundings, Trial};
use job_sort_formula::pbs::qmgr::set_command;
use job_sort_formula::report::{CheckFormat, CheckHuman, CheckJson, CheckReport, Sarif, finding};

use super::args::{CheckArgs, CheckFormatName};
use super::formula::{self, Source};
use super::site::Site;
use super::{CliError, Outcome, stderr_is_coloured};

/// A fix may bring the next to light: `LOG(NCPUS)`. More rounds than that no formula needs.
const MOST_ROUNDS: usize = 8;

pub(super) fn run(arguments: &CheckArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let levels = Levels::new(&arguments.deny, &arguments.allow).map_err(|error| CliError::usage(error.to_string()))?;
    let mut source = formula::source(&arguments.formula, Some(&arguments.site))?;
    let mut site = Site::read(&arguments.site)?;
    site.queue.is_read_again = arguments.fix;
    let mut checked = examine(&source, &mut site, arguments, &levels)?;
    if arguments.fix {
        for _ in 0..MOST_ROUNDS {
            let Some(fixed) = with_safe_fixes(&source.text, &checked.findings) else { break };
            source.text = fixed;
            checked = examine(&source, &mut site, arguments, &levels)?;
        }
        writeln!(out, "{}", source.text)?;
        draw_findings(&source, &checked);
    } else if arguments.qmgr {
        draw_findings(&source, &checked);
        let command = set_command(&source.text).map_err(|error| CliError::usage(error.to_string()))?;
        writeln!(out, "{command}")?;
    } else {
        let Source { text, origin, before } = &source;
        let report = CheckReport { formula: text, origin, before, checked: &checked };
        format(arguments.format).write(&report, out)?;
    }
    Ok(if checked.has_errors() { Outcome::Findings } else { Outcome::Fine })
}

fn draw_findings(source: &Source, checked: &Checked) {
    for found in &checked.findings {
        let drawn = finding::draw(&source.text, &source.origin, found, stderr_is_coloured());
        anstream::eprintln!("{drawn}\n");
    }
}

fn examine(source: &Source, site: &mut Site<'_>, arguments: &CheckArgs, levels: &Levels) -> Result<Checked, CliError> {
    let submitted = source.submitted(arguments.site.numbers);
    let (mut tried, mut tree) = (None, None);
    let threshold = arguments.threshold.or(site.server.job_sort_formula_threshold);
    if let Ok(formula) = submitted.formula()
        && let Some(mut table) = site.read_queue(formula)?
        && let Ok(program) = formula.compile(&site.schema)
    {
        tree = site.supply_shares(&program, &mut table)?;
        let ordered = site.rank(&program, &table, tree.as_ref(), threshold, usize::MAX);
        tried = Some((table, ordered));
    }
    let trial = tried.as_ref().map(|(table, ordered)| Trial { table, ordered, keep: site.keep() });
    let (config, server) = (Some(&site.config), site.server);
    let surroundings = Surroundings { trial, tree: tree.as_ref(), config, server, threshold };
    let mut checked = Checked::of(&submitted, &site.schema, &surroundings);
    levels.apply(&mut checked.findings);
    Ok(checked)
}

fn format(name: CheckFormatName) -> Box<dyn CheckFormat> {
    let coloured = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    match name {
        CheckFormatName::Human => Box::new(CheckHuman { coloured }),
        CheckFormatName::Json => Box::new(CheckJson),
        CheckFormatName::Sarif => Box::new(Sarif),
    }
}
