//! `jsf compare`: its arguments, and what it does.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Arg, Args};
use job_sort_formula::rank::OldNew;
use jsf_site::{
    ComparedQueue, FileSource, FormulaText, Role, Site, SiteError, SiteFiles, SiteOptions,
};

use crate::answer_formats::Format;
use crate::cli::args::{
    AnswerArgs, CsvArgs, FormulaArgs, FormulaOptions, ReportArgs, TwoFormulas, format,
};
use crate::cli::formula::read_formula;
use crate::cli::messages::{answered, print_message};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::Output;
use crate::cli::site::{PolicyArg, Reader, SiteArgs, require_one_reader, threshold};
use crate::commands::compare::{CompareAnswer, CompareQuestion};
use crate::given_formula::GivenFormula;
use crate::value_parsers::number_of_jobs;
use crate::view::words::count;

pub(crate) const NO_OLD_FORMULA: &str = "no formula to compare --new with: give --old FORMULA";
pub(crate) const NO_NEW_FORMULA: &str = "no formula to compare --old with: give --new FORMULA";

const FORMATS: [Format; 4] = [Format::Human, Format::Markdown, Format::Json, Format::Csv];

/// `jsf compare`
#[derive(Debug, Args)]
#[command(
    after_help = "\
The same jobs are ranked twice: by the old formula, tree, policy, sched_config and threshold, and by the new ones. What \
neither side gives comes from the site. A formula that is given for one side only is compared with the site's formula. If \
the sides differ in something else (tree, policy …), --old alone is the formula of both sides; so is --new alone if the \
site has no formula. Without any formula, two trees or policies are compared by fairshare_factor.

moved is the old rank minus the new one; tau-b is 1 for the same order, 0 for no relation, -1 for the reverse one. The numbers are \
about the jobs that are considered under both formulas. docs/commands.md has the other numbers.

Exit codes: 0 success, 1 a formula is invalid or fails for every job, or a job of the first N changes its place under \
--fail-on-change N, 2 usage error, or a file that cannot be read.

Examples:
  jsf compare --new 'fairshare_factor * 100 + eligible_time / 3600' \\
      --site examples/site
  jsf compare --old-file examples/formulas/pp718.txt --new ncpus --format csv \\
      --queue examples/site/qstat.json --sched-priv examples/site/sched_priv
  jsf compare --new-threshold 0.5 --site examples/site --fail-on-change 20",
    mut_args(of_comparison)
)]
pub struct CompareArgs {
    /// The formulas.
    #[command(flatten)]
    sides: TwoFormulas,
    /// The old fair-share tree
    ///
    /// As for --tree, or a resource_group
    #[arg(long, value_name = "FILE")]
    old_tree: Option<PathBuf>,
    /// The new fair-share tree
    ///
    /// As for --tree, or a resource_group
    #[arg(long, value_name = "FILE")]
    new_tree: Option<PathBuf>,
    /// The old fair-share policy, as for --policy
    #[arg(long, value_name = "POLICY")]
    old_policy: Option<PolicyArg>,
    /// The new fair-share policy, as for --policy
    #[arg(long, value_name = "POLICY")]
    new_policy: Option<PolicyArg>,
    /// The old sched_config, as for --sched-config
    #[arg(long, value_name = "FILE")]
    old_sched_config: Option<PathBuf>,
    /// The new sched_config, as for --sched-config
    #[arg(long, value_name = "FILE")]
    new_sched_config: Option<PathBuf>,
    /// The old slurm.conf: its policy and weights
    #[arg(long, value_name = "FILE")]
    old_slurm_conf: Option<PathBuf>,
    /// The new slurm.conf: its policy and weights
    ///
    /// Slurm's priority with its weights is the new formula, if none is given
    #[arg(long, value_name = "FILE")]
    new_slurm_conf: Option<PathBuf>,
    /// The old job_sort_formula_threshold
    ///
    /// A job whose value is at most X does not run
    // the alias is the former name
    #[arg(long, alias = "threshold-old", value_name = "X", allow_hyphen_values = true, value_parser = threshold)]
    old_threshold: Option<f64>,
    /// The new job_sort_formula_threshold
    // the alias is the former name
    #[arg(long, alias = "threshold-new", value_name = "X", allow_hyphen_values = true, value_parser = threshold)]
    new_threshold: Option<f64>,
    /// The site.
    #[command(flatten)]
    site: SiteArgs,
    /// Exit with 1 if one of the first N jobs moves
    ///
    /// A job that is among the first N of either order, and changes its place
    #[arg(long, value_name = "N", value_parser = number_of_jobs, allow_negative_numbers = true)]
    fail_on_change: Option<usize>,
    /// The jobs to list.
    #[command(flatten)]
    question: CompareQuestion,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// How CSV is written.
    #[command(flatten)]
    csv: CsvArgs,
    /// A page.
    #[command(flatten)]
    report: ReportArgs,
}

/// An argument of several commands as a comparison has it. `mut_arg` would move it behind the others.
fn of_comparison(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "format" => argument.value_parser(format(&FORMATS)),
        _ => argument,
    }
}

pub(crate) fn run(arguments: &CompareArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let format = arguments.answer.format;
    let mut formulas = arguments.sides.formulas();
    require_one_file(arguments, &formulas)?;
    let is_new_given = formulas.new.is_given();
    if arguments.has_own_rules() && !is_new_given {
        formulas.new = FormulaArgs {
            options: FormulaOptions::NEW,
            ..formulas.old.clone()
        };
    }
    let (old_site, other_site) = open_sites(arguments, &formulas)?;
    let sites = OldNew::new(&old_site, other_site.as_ref().unwrap_or(&old_site));
    let mut sources = read_formulas(arguments, &formulas, sites)?;
    // another slurm.conf has another priority
    if arguments.new_slurm_conf.is_some()
        && !is_new_given
        && sites.new.priorities_at().is_some()
        && let Some(priority) = sites.new.formula_in_force()
    {
        sources.new = priority;
    }
    arguments.site.note_ignored_files();
    arguments.site.show(sites.old, format.is_document());
    let given = sources.map(|source| GivenFormula::new(source, old_site.numbers()));
    let question = arguments.question.clone();
    let (answer, warnings) = answered("ranking the jobs", format.is_document(), |warnings, _| {
        CompareAnswer::new(sites, given, question, warnings)
    })?;
    let page_sites = vec![sites.old, sites.new];
    let outcome = Output {
        has_asked_rows: arguments.question.top.is_some(),
        cells: arguments.csv.cells(),
        page_file: arguments
            .report
            .page_file(page_sites, arguments.sides.files()),
        ..Output::new(arguments.answer, &warnings)
    }
    .write_ranking(&answer, arguments.site.on_error, out)?;
    match arguments.fail_on_change {
        Some(first) if report_changes(&answer.compared, first) => Ok(Outcome::Findings),
        _ => Ok(outcome),
    }
}

/// Says for `--fail-on-change` how many of the first jobs change their place, or that this cannot
/// be told; returns whether it said something.
fn report_changes(compared: &ComparedQueue, first: usize) -> bool {
    let changes = compared.comparison.changed_among_first(first);
    if changes > 0 {
        let jobs = count(changes, "job");
        print_message(
            "error",
            format_args!("{jobs} among the first {first} of either order moved"),
        );
        return true;
    }
    // no change is shown, and none can be ruled out
    let is_undecided = compared.comparison.moves().next().is_none();
    if is_undecided {
        let message =
            "no job is considered under either formula, so --fail-on-change cannot be answered";
        print_message("error", message);
    }
    is_undecided
}

/// A file that each side may have of its own.
struct OwnFile<'a> {
    role: Role,
    /// The files of a site that are the same.
    same_roles: &'static [Role],
    /// The options that give it, and the paths.
    sides: OldNew<Reader<'a>>,
}

impl OwnFile<'_> {
    /// Whether either side has it.
    fn is_given(&self) -> bool {
        self.sides.old.1.or(self.sides.new.1).is_some()
    }
}

impl CompareArgs {
    /// The files besides those of the formulas.
    fn own_files(&self) -> [OwnFile<'_>; 3] {
        let tree = OwnFile {
            role: Role::Tree,
            same_roles: &[Role::Tree, Role::ResourceGroup, Role::SchedPriv],
            sides: OldNew {
                old: ("--old-tree", self.old_tree.as_deref()),
                new: ("--new-tree", self.new_tree.as_deref()),
            },
        };
        let config = OwnFile {
            role: Role::SchedConfig,
            same_roles: &[Role::SchedConfig, Role::SchedPriv],
            sides: OldNew {
                old: ("--old-sched-config", self.old_sched_config.as_deref()),
                new: ("--new-sched-config", self.new_sched_config.as_deref()),
            },
        };
        let conf = OwnFile {
            role: Role::SlurmConf,
            same_roles: &[Role::SlurmConf],
            sides: OldNew {
                old: ("--old-slurm-conf", self.old_slurm_conf.as_deref()),
                new: ("--new-slurm-conf", self.new_slurm_conf.as_deref()),
            },
        };
        [tree, config, conf]
    }

    /// Whether a side has something else of its own than a formula.
    fn has_own_rules(&self) -> bool {
        self.own_files().iter().any(OwnFile::is_given)
            || self.old_policy.or(self.new_policy).is_some()
            || self.old_threshold.or(self.new_threshold).is_some()
    }

    fn has_own_fair_share(&self) -> bool {
        self.old_tree.is_some()
            || self.new_tree.is_some()
            || self.old_policy.or(self.new_policy).is_some()
    }

    fn options(&self, policy: Option<PolicyArg>, threshold: Option<f64>) -> SiteOptions {
        let mut options = self.site.options(threshold);
        if let Some(PolicyArg(Some(policy))) = policy {
            options.policy = Some(policy);
        }
        options
    }
}

/// Standard input can be only one file of the site or of a side.
fn require_one_file(
    arguments: &CompareArgs,
    formulas: &OldNew<FormulaArgs>,
) -> Result<(), CliError> {
    let mut readers = vec![reader(&formulas.old)];
    let mut new_readers = vec![reader(&formulas.new)];
    for OwnFile { sides, .. } in arguments.own_files() {
        readers.push(sides.old);
        new_readers.push(sides.new);
    }
    readers.extend(new_readers);
    require_one_reader(&[], &arguments.site, &readers)
}

/// The option of a formula, its text or its file, and the path.
fn reader(formula: &FormulaArgs) -> Reader<'_> {
    let option = if formula.formula.is_some() {
        formula.options.text
    } else {
        formula.options.file
    };
    (option, formula.file())
}

/// Opens the site of the old side, and that of the new one if it differs.
fn open_sites(
    arguments: &CompareArgs,
    formulas: &OldNew<FormulaArgs>,
) -> Result<(Site, Option<Site>), CliError> {
    let (old_policy, new_policy) = (arguments.old_policy, arguments.new_policy);
    if [arguments.site.policy, old_policy, new_policy].contains(&Some(PolicyArg(None))) {
        return Err(CliError::usage(
            "a ranking needs one policy, not `all` of them",
        ));
    }
    // both sides read them, and standard input can be read once
    let site_files = arguments.site.files()?.kept()?;
    let [mut old_files, mut new_files] = [site_files.clone(), site_files.clone()];
    let (old, new) = kept_files(formulas.old.file(), formulas.new.file())?;
    old_files = with_file(old_files, Role::Formula, old)?;
    new_files = with_file(new_files, Role::Formula, new)?;
    let mut is_same = old_files.all(Role::Formula) == new_files.all(Role::Formula);
    for file in arguments.own_files() {
        let (mut old, mut new) = kept_files(file.sides.old.1, file.sides.new.1)?;
        // what is given for one side only is used for both if the site has no such file
        if !file.same_roles.iter().any(|role| site_files.has(*role)) {
            old = old.or_else(|| new.clone());
            new = new.or_else(|| old.clone());
        }
        old_files = with_file(old_files, file.role, old)?;
        new_files = with_file(new_files, file.role, new)?;
        for role in file.same_roles {
            is_same &= old_files.all(*role) == new_files.all(*role);
        }
    }
    let old_options = arguments.options(old_policy, arguments.old_threshold);
    let mut new_options = arguments.options(new_policy, arguments.new_threshold);
    is_same &=
        old_options.policy == new_options.policy && old_options.threshold == new_options.threshold;
    let old = Site::from_files(old_files, old_options)?;
    if is_same {
        return Ok((old, None));
    }
    // the new weights do not tell when the old priorities were computed
    new_options.at = new_options.at.or(old.priorities_at());
    let new = Site::from_files(new_files, new_options)?;
    Ok((old, Some(new)))
}

/// Files whose content is kept if it is standard input, so that both sides have it.
fn kept_files(
    old: Option<&Path>,
    new: Option<&Path>,
) -> Result<(Option<FileSource>, Option<FileSource>), SiteError> {
    let kept = kept(old)?;
    if new == old {
        return Ok((kept.clone(), kept));
    }
    Ok((kept, self::kept(new)?))
}

fn kept(path: Option<&Path>) -> Result<Option<FileSource>, SiteError> {
    let Some(path) = path else { return Ok(None) };
    Ok(Some(FileSource::from(path).kept()?))
}

fn with_file(
    files: SiteFiles,
    role: Role,
    own: Option<FileSource>,
) -> Result<SiteFiles, SiteError> {
    match own {
        None => Ok(files),
        Some(tree) if role == Role::Tree => files.with_tree(tree),
        Some(file) => Ok(files.with(role, file)),
    }
}

/// The formulas. A side without one has the site's. If the site has none, it has the other side's
/// if something else differs, and `fairshare_factor` if no formula is given and fair share differs.
fn read_formulas(
    arguments: &CompareArgs,
    formulas: &OldNew<FormulaArgs>,
    sites: OldNew<&Site>,
) -> Result<OldNew<FormulaText>, CliError> {
    let OldNew { old, new } = formulas;
    let is_given = old.is_given() || new.is_given();
    let differ_otherwise = arguments.has_own_rules();
    let differ_in_fair_share = !is_given && arguments.has_own_fair_share();
    let old_read = read_unless_missing(old, sites.old)?;
    let new_read = read_unless_missing(new, sites.new)?;
    let (old, new) = match (old_read, new_read) {
        (Some(_), Some(_)) if !is_given && !differ_otherwise => {
            return Err(CliError::usage(
                "nothing differs between the two sides: give --new FORMULA, --new-tree FILE, --new-policy POLICY, \
                 --new-sched-config FILE, --new-slurm-conf FILE or --new-threshold X",
            ));
        }
        (Some(old), Some(new)) => (old, new),
        (None, Some(new)) if differ_otherwise => (new.clone(), new),
        (None, Some(_)) => return Err(no_formula(NO_OLD_FORMULA)),
        (Some(old), None) if differ_in_fair_share => (old.clone(), old),
        (Some(_), None) => return Err(no_formula(NO_NEW_FORMULA)),
        (None, None) if differ_in_fair_share => {
            let formula = FormulaText::new("fairshare_factor")?;
            (formula.clone(), formula)
        }
        (None, None) => {
            return Err(no_formula(
                "no formula: give --old FORMULA or --new FORMULA",
            ));
        }
    };
    Ok(OldNew { old, new })
}

/// The formula of a side, or the site's; `None` if it has none.
fn read_unless_missing(
    formula: &FormulaArgs,
    site: &Site,
) -> Result<Option<FormulaText>, CliError> {
    match read_formula(formula, Some(site)) {
        Err(CliError::Site(SiteError::Missing(_))) => Ok(None),
        read => Ok(Some(read?)),
    }
}

/// The error that one of two formulas is missing, which `given` says.
pub(crate) fn no_formula(given: &str) -> CliError {
    let in_force = "the one in force with --server FILE, --sched-priv DIR or --site PATH";
    SiteError::Missing(format!("{given}, or {in_force}").into()).into()
}
