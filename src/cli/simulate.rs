//! `jsf simulate`

use std::io::Write;

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::rank::ScorePrecision;
use job_sort_formula::report::simulation::SimulationReport;
use job_sort_formula::simulate::{Decay, EvaluationErrors, SimulationRules, Statistics, Workload};
use job_sort_formula::site::{FileSource, FormulaText, SimulatedQueue, SiteFiles, SiteJobs, SiteRules, open_workload};
use job_sort_formula::{JobTable, Site};

use super::args::{
    BackfillArg, NumbersArg, OnErrorArg, PolicyArg, SimulateArgs, SimulateFormatName, is_stdin, note_idle,
    require_one_reader,
};
use super::queue::draw_submitted;
use super::{CliError, Outcome, Progress, STDIN, parsed_formula, read_formula, report, terminal_width, warn, warn_all};

pub(super) fn run(arguments: &SimulateArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    require_one_reader(&readers(arguments))?;
    arguments.csv.note_idle(arguments.format == SimulateFormatName::Csv);
    let site = open_site(arguments)?;
    warn_all(site.warnings());
    let source = read_formula(&arguments.formula, Some(&site))?;
    let progress = Progress::start("reading the workload");
    let sources: Vec<FileSource> = arguments.workload.iter().cloned().map(FileSource::from).collect();
    let mut workload = open_workload(&sources)?;
    drop(progress);
    workload.faults().messages().iter().for_each(warn);
    if arguments.anonymise {
        workload.anonymise();
    }
    let Some(side) = simulate(arguments, &site, &workload, &source)? else { return Ok(Outcome::Findings) };
    let report = SimulationReport {
        formula: &source.text,
        workload: &workload,
        schedule: &side.simulated.schedule,
        statistics: &side.statistics,
        rules: &rules(arguments, &site, &source),
    };
    match arguments.format {
        SimulateFormatName::Human => report.write_human(terminal_width(), out)?,
        SimulateFormatName::Json => report.write_json(out)?,
        SimulateFormatName::Csv => report.write_csv(arguments.csv.csv_safe, out)?,
    }
    Ok(if side.is_fine { Outcome::Fine } else { Outcome::Findings })
}

/// A workload simulated under one formula.
struct Side {
    simulated: SimulatedQueue,
    statistics: Statistics,
    /// Whether the formula works.
    is_fine: bool,
}

/// Simulates a workload under a formula; `None` if it is not arithmetic, and the finding is drawn.
fn simulate(
    arguments: &SimulateArgs,
    site: &Site,
    workload: &Workload,
    source: &FormulaText,
) -> Result<Option<Side>, CliError> {
    let rules = simulation_rules(arguments);
    let submitted = source.submitted(site_rules(arguments).numbers);
    let Some(formula) = parsed_formula(source, &submitted) else { return Ok(None) };
    let names = SiteJobs { table: JobTable::default(), schema: site.schema().clone(), warnings: Vec::new() };
    let findings = site.lint(formula, &names);
    draw_submitted(source, &submitted, findings.iter().cloned());
    let Ok(program) = formula.compile(&names.schema) else { return Ok(None) };
    let progress = Progress::start("simulating");
    let simulated = site.simulate(&program, workload, &rules, decay(arguments, site), &mut ())?;
    drop(progress);
    warn_all(&simulated.warnings);
    let errors = &simulated.schedule.errors;
    report_errors(arguments.on_error, errors, workload);
    let is_error = |found: &Diagnostic| found.severity == Severity::Error;
    let fails = errors.jobs() > 0 && (arguments.on_error == OnErrorArg::Fail || errors.jobs() == workload.jobs().len());
    let warm_up = arguments.warm_up.map_or(0, |seconds| i64::try_from(seconds).unwrap_or(i64::MAX));
    let statistics = Statistics::new(workload, &simulated.schedule, rules.processors, warm_up);
    let is_fine = !fails && !findings.iter().any(is_error);
    Ok(Some(Side { simulated, statistics, is_fine }))
}

fn report_errors(on_error: OnErrorArg, errors: &EvaluationErrors, workload: &Workload) {
    let (kind, value) = match on_error {
        OnErrorArg::Zero => ("warning", "it counts 0"),
        OnErrorArg::Fail => ("error", "it counts 0"),
        OnErrorArg::Null => ("warning", "it comes last"),
    };
    for (_, error) in errors.kinds() {
        let (job, jobs) = (workload.id(error.job), error.jobs);
        let jobs = if jobs == 1 { "1 job" } else { &format!("{jobs} jobs") };
        let text = format!("the formula fails for {jobs} at some time, first for `{job}`, where {value} then");
        report(kind, format_args!("{text}: {}", error.message));
    }
}

/// The options that read standard input.
fn readers(arguments: &SimulateArgs) -> Vec<&'static str> {
    let formula = &arguments.formula;
    let is_formula = formula.formula.as_deref() == Some(STDIN) || formula.formula_file.as_deref().is_some_and(is_stdin);
    let site = [("--site", &arguments.site), ("--tree", &arguments.tree)];
    let site = site.into_iter().filter(|(_, path)| path.as_deref().is_some_and(is_stdin)).map(|(option, _)| option);
    let workloads = arguments.workload.iter().filter(|path| is_stdin(path)).map(|_| "--workload");
    is_formula.then_some("the formula").into_iter().chain(site).chain(workloads).collect()
}

fn open_site(arguments: &SimulateArgs) -> Result<Site, CliError> {
    if arguments.numbers == NumbersArg::Decimal {
        return Err(CliError::usage("a simulation computes with doubles, not with decimals"));
    }
    if arguments.policy == Some(PolicyArg::All) {
        return Err(CliError::usage("a simulation needs one policy, not `all` of them"));
    }
    let formula = match &arguments.formula.formula {
        Some(text) if text == STDIN => Some(FormulaText::source(STDIN.as_ref())?),
        Some(_) => None,
        None => arguments.formula.formula_file.as_deref().map(FormulaText::source).transpose()?,
    };
    let given = SiteFiles {
        sched_priv: arguments.sched_priv.clone(),
        tree: arguments.tree.clone().map(FileSource::Path),
        formula,
        ..SiteFiles::default()
    };
    let files = match &arguments.site {
        Some(path) => SiteFiles { queue: None, ..SiteFiles::open(path)?.replaced_by(given) },
        None => given,
    };
    if !has_tree(&files) {
        let options = [
            ("--decay", arguments.decay.is_some()),
            ("--decay-factor", arguments.decay_factor.is_some()),
            ("--policy", arguments.policy.is_some()),
        ];
        note_idle(&options, "without a fair-share tree: give --tree FILE or --sched-priv DIR");
    }
    Ok(Site::from_files(files, site_rules(arguments))?)
}

fn has_tree(files: &SiteFiles) -> bool {
    files.tree.is_some() || files.resource_group.is_some() || files.sched_priv.is_some()
}

fn site_rules(arguments: &SimulateArgs) -> SiteRules {
    SiteRules {
        policy: arguments.policy.and_then(PolicyArg::name),
        rules: arguments.rules.into(),
        numbers: arguments.numbers.into(),
        on_error: arguments.on_error.into(),
        ..SiteRules::default()
    }
}

fn simulation_rules(arguments: &SimulateArgs) -> SimulationRules {
    SimulationRules {
        processors: arguments.processors,
        backfill: arguments.backfill.into(),
        precision: match arguments.numbers {
            NumbersArg::Openpbs => ScorePrecision::Float32,
            NumbersArg::Exact | NumbersArg::Decimal => ScorePrecision::Double,
        },
        on_error: arguments.on_error.into(),
    }
}

/// How usage decays: what is given, else what the site's `sched_config` says.
fn decay(arguments: &SimulateArgs, site: &Site) -> Option<Decay> {
    let configured = site.configured_decay();
    let period = arguments.decay.or(configured.map(|decay| decay.period))?;
    let factor = arguments.decay_factor.or(configured.map(|decay| decay.factor)).unwrap_or(0.5);
    Some(Decay { period, factor })
}

/// What is shown above the tables.
fn rules(arguments: &SimulateArgs, site: &Site, source: &FormulaText) -> Vec<(&'static str, String)> {
    let backfill = match arguments.backfill {
        BackfillArg::Easy => "easy",
        BackfillArg::Greedy => "greedy",
        BackfillArg::None => "none",
    };
    let mut rules = vec![
        ("formula:", source.text.trim_end().to_owned()),
        ("machine:", format!("{} processors, backfill {backfill}", arguments.processors)),
    ];
    if let Some(Decay { period, factor }) = decay(arguments, site).filter(|_| has_tree(site.files())) {
        rules.push(("fair share:", format!("usage decays by {factor} every {period} s")));
    }
    rules
}
