//! `jsf shares`: its arguments, and what it does.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use job_sort_formula::diagnostic::Severity;
use jsf_openpbs::amounts::parse_duration;
use jsf_site::{
    ComparedQueue, FormulaText, PolicyName, PolicyShares, Role, SharesRequest, Site, UsageChange,
};

use crate::cli::args::{AnswerArgs, FormulaArgs, FormulaOptions, ReportArgs, listed_name};
use crate::cli::filter::{MAX_UNKNOWN, unknown_jobs_error};
use crate::cli::formula::{GivenFormula, read_formula};
use crate::cli::messages::{Warnings, report_errors, warn, warn_all};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::Output;
use crate::cli::site::{PolicyArg, SiteArgs, note_idle};
use crate::commands::shares::{Places, PolicyView, SharesAnswer};

/// `jsf shares`
#[derive(Debug, Args)]
#[command(after_help = "\
Columns under pbs: shares among the siblings; perc, the part of the machine that they give; usage, in the unit of \
fairshare_usage_res, with that of all members; tree_usage, the part of all usage that is charged to the node; factor, \
2^-(tree_usage/perc), 0.5 on target.
Columns under a policy of Slurm, as in `sshare -l`: shares; norm_shares; raw_usage, in TRES-seconds (billing); norm_usage, its \
part of all usage; effective_usage, the part that is charged to the node; level_fs, shares divided by usage among the \
siblings, from 0 to inf, 1 on target; fairshare, the factor, 0 to 1; tickets, a count.

With --charge or --decay, in the order in which they are given, the output shows each number before and after; with --queue \
also the places that jobs gain. In JSON, `nodes` has the numbers after, `changes` has `before`, `after` and `difference` of \
each node that changes, and `places` has the formula, the jobs and the entities. JSON also has the settings in force: `release`, \
`half_life` in seconds and `dampening_factor` (Slurm), `decay_factor` and `decay_time` in seconds (pbs).

Examples:
  jsf shares --sched-priv examples/site/sched_priv
  jsf shares --tree examples/site/tree.json --policy all
  jsf shares --tree examples/site/tree.json --policy fair-tree \\
      --charge Bob=500 --format json
  jsf shares --sched-priv examples/site/sched_priv --decay 2w \\
      --charge ocean/tmorita=1e8 --queue examples/site/qstat.json")]
pub struct SharesArgs {
    /// The site.
    #[command(flatten)]
    site: SiteArgs,
    /// Show only this entity or group
    ///
    /// With the group all below it. NAME where it is unique, else ACCOUNT/USER; USER:PARTITION for
    /// an association of one partition; separate several by commas, or repeat the option
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = listed_name)]
    entity: Vec<String>,
    /// The entities with pending jobs
    ///
    /// For the ticket-based policy, named as for --entity [default: from --queue]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = listed_name)]
    active: Vec<String>,
    /// What to assume about the usage.
    #[command(flatten)]
    assumed: AssumedUsage,
    /// The formula that gives the jobs their places
    ///
    /// With --charge or --decay, and --queue [default: the site's, else fairshare_factor]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    formula: Option<String>,
    /// The file that contains this formula
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "formula")]
    formula_file: Option<PathBuf>,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// A page.
    #[command(flatten)]
    report: ReportArgs,
}

/// The options that assume another usage.
#[derive(Debug, Args)]
struct UsageOptions {
    /// What if: add usage to an entity
    ///
    /// It is named as for --entity; the amount is in the unit of the tree's usage: RawUsage of
    /// Slurm is TRES-seconds (billing). --charge and --decay act in the order in which they are
    /// given
    #[arg(long, value_name = "NAME=AMOUNT", value_parser = parse_charge)]
    charge: Vec<UsageChange>,
    /// What if: decay all usage by this much time
    ///
    /// Seconds, HH:MM:SS, D-HH:MM:SS, or a number with s, m, h, d or w; OpenPBS decays in whole
    /// periods of fairshare_decay_time
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_decay)]
    decay: Vec<UsageChange>,
}

/// The changes of the usage to assume, in the order in which their options are given.
#[derive(Debug)]
struct AssumedUsage {
    /// The changes.
    changes: Vec<UsageChange>,
}

impl FromArgMatches for AssumedUsage {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let UsageOptions { charge, decay } = UsageOptions::from_arg_matches(matches)?;
        // clap keeps the values of each option apart, but knows the place of each
        let mut by_place = BTreeMap::new();
        for (option, changes) in [("charge", charge), ("decay", decay)] {
            if let Some(places) = matches.indices_of(option) {
                by_place.extend(places.zip(changes));
            }
        }
        Ok(Self {
            changes: by_place.into_values().collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for AssumedUsage {
    fn augment_args(command: Command) -> Command {
        UsageOptions::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        UsageOptions::augment_args_for_update(command)
    }
}

fn parse_charge(text: &str) -> Result<UsageChange, String> {
    let (name, amount) = text.rsplit_once('=').ok_or("expected NAME=AMOUNT")?;
    match amount.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(UsageChange::Charge {
            name: name.to_owned(),
            amount: number,
        }),
        _ => Err(format!(
            "`{amount}` is not an amount, expected a number that is not negative"
        )),
    }
}

fn parse_decay(text: &str) -> Result<UsageChange, String> {
    parse_duration(text).map(UsageChange::Decay)
}

pub(crate) fn run(arguments: &SharesArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let is_document = arguments.answer.format.is_document();
    let has_all = arguments.site.policy == Some(PolicyArg::All);
    let options = FormulaOptions {
        text: "--formula",
        file: "-f",
    };
    let given = FormulaArgs::new(options, &arguments.formula, &arguments.formula_file);
    let site = arguments.site.open_without_formula()?;
    arguments.site.show(&site, is_document);
    let mut warnings = Warnings::new(is_document);
    warnings.add_site(&site, &site.warnings_of_shares());
    let mut request = SharesRequest {
        policies: Vec::new(),
        active: arguments.active.clone(),
        changes: arguments.assumed.changes.clone(),
    };
    if has_all {
        request.policies = PolicyName::ALL.to_vec();
    }
    let shares = site.shares(&request)?;
    let mut policies = shares.iter();
    if !policies.any(|one| one.policy == PolicyName::TicketBased) {
        let reason = "under this policy: only ticket-based asks who has pending jobs";
        note_idle(&[("--active", !arguments.active.is_empty())], reason);
    }
    require_known(&arguments.entity, &shares)?;
    for one in &shares {
        warnings.show(&one.notes);
    }
    let mut places = None;
    if !request.assumes_usage() || !site.files().has(Role::Queue) {
        let reason =
            "without --charge or --decay, and --queue: only then are the jobs ranked by a formula";
        note_idle(&[("--python", arguments.site.python.is_some())], reason);
        if given.is_given() {
            return Err(CliError::usage(
                "a formula is used only with --charge or --decay, and with --queue",
            ));
        }
    } else if has_all {
        warn("the places of the jobs are not shown: they need one policy, not `all` of them");
    } else {
        places = Some(places_of_jobs(&site, &given, &request, &mut warnings)?);
    }
    let mut views = Vec::new();
    for one in &shares {
        // a table shows entities together with their paths
        let nodes = one.nodes(&arguments.entity, is_document);
        views.push(PolicyView::new(one, nodes));
    }
    // of the tree of another scheduler, OpenPBS's policy changes the usage: at least 1, and a group
    // `unknown`
    let is_of_others = site.files().has(Role::Tree);
    let mut shown = views.clone();
    shown.sort_by_key(|view| is_of_others && view.is_pbs());
    let answer = SharesAnswer {
        views: &views,
        shown: &shown,
        changes: &request.changes,
        places: (places.as_ref()).map(|(formula, queue)| Places { formula, queue }),
    };
    let read_files = arguments.formula_file.iter().collect();
    Output {
        page_file: arguments.report.page_file(vec![&site], read_files),
        ..Output::new(arguments.answer, &warnings.into_answer())
    }
    .write(&answer, out)?;
    let Some((_, places)) = &places else {
        return Ok(Outcome::Fine);
    };
    let side = &places.sides.new;
    report_errors(arguments.site.on_error, "the formula", side);
    Ok(Outcome::of_ranking(side))
}

/// Warns of each entity that no tree has: OpenPBS's also has those that only jobs have.
///
/// # Errors
/// No tree has one of the entities.
fn require_known(names: &[String], shares: &[PolicyShares]) -> Result<(), CliError> {
    let mut unknown = Vec::new();
    for name in names {
        let is_known = |one: &PolicyShares| one.unresolved(name, false).is_none();
        if let Some(first) = shares.first()
            && !shares.iter().any(is_known)
        {
            // a search for similar names compares all: the names that no error repeats get none
            unknown.extend(first.unresolved(name, unknown.len() < MAX_UNKNOWN));
        }
    }
    if !unknown.is_empty() && unknown.len() == names.len() {
        return Err(unknown_jobs_error(unknown).into());
    }
    warn_all(&unknown);
    Ok(())
}

/// The formula that orders the queue, and the places before and after the assumed usage.
fn places_of_jobs(
    site: &Site,
    given: &FormulaArgs,
    request: &SharesRequest,
    warnings: &mut Warnings,
) -> Result<(String, ComparedQueue), CliError> {
    let source = if given.is_given() {
        read_formula(given, None)?
    } else {
        let in_force = site.formula_text();
        in_force.or(FormulaText::new("fairshare_factor"))?
    };
    let given = GivenFormula::new(source, site.numbers());
    let places = site.places(given.parsed()?, request)?;
    warnings.show(&places.warnings);
    let mut errors = places.sides.new.findings.clone();
    errors.retain(|found| found.severity == Severity::Error);
    given.draw(errors);
    Ok((given.source.text, places))
}
