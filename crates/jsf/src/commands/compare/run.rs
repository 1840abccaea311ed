//! `jsf compare`: its arguments, and what it does.

use std::io::Write;
use std::iter;
use std::path::{Path, PathBuf};

use clap::{Arg, Args};
use job_sort_formula::rank::OldNew;
use jsf_site::{
    ComparedQueue, FileSource, FormulaText, Role, Site, SiteError, SiteFiles, SiteOptions,
};

use crate::answers::{Format, GivenFormula};
use crate::cli::args::{
    AnswerArgs, CsvArgs, FormulaArgs, FormulaOptions, ReportArgs, TwoFormulas, formats,
    read_formula,
};
use crate::cli::messages::{answered, print_message};
use crate::cli::output::{CliError, Outcome, Output};
use crate::cli::site::{
    PolicyArg, Reader, SiteArgs, kept, open_site, require_one_reader, threshold,
};
use crate::commands::compare::{CompareAnswer, CompareQuestion};
use crate::questions::number_of_jobs;
use crate::view::words::count;

pub(crate) const NO_OLD_FORMULA: &str = "no formula to compare --new with: give --old FORMULA";
pub(crate) const NO_NEW_FORMULA: &str = "no formula to compare --old with: give --new FORMULA";

/// `jsf compare`
#[derive(Debug, Args)]
#[command(
    after_help = "\
The same jobs are ranked by the old formula, tree, policy, sched_config and threshold, and by the new ones. What neither side \
gives comes from the site. If only one formula is given, the other is the site's. If the sides differ in something else, --old \
alone is that of both; so is --new if the site has none. Without any formula, two trees or policies are compared by fairshare_factor.

moved is the old rank minus the new one; tau-b is 1 for the same order, 0 for no relation, -1 for the reverse one. Only jobs \
that both formulas consider count. docs/commands.md has the other numbers.

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
        "format" => argument.value_parser(formats(&[Format::Csv])),
        _ => argument,
    }
}

impl CompareArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        let format = self.answer.format;
        let mut formulas = self.sides.formulas();
        self.require_one_file(&formulas)?;
        let is_new_given = formulas.new.is_given();
        if self.has_own_rules() && !is_new_given {
            formulas.new = FormulaArgs {
                options: FormulaOptions::NEW,
                ..formulas.old.clone()
            };
        }
        let (old_site, other_site) = self.open_sites(&formulas)?;
        let sites = OldNew::new(&old_site, other_site.as_ref().unwrap_or(&old_site));
        let mut sources = self.read_formulas(&formulas, sites)?;
        // another slurm.conf has another priority
        if self.new_slurm_conf.is_some()
            && !is_new_given
            && sites.new.priorities_at().is_some()
            && let Some(priority) = sites.new.formula_in_force()
        {
            sources.new = priority;
        }
        self.site.note_ignored_files();
        self.site.show(sites.old, format.is_document());
        let given = sources.map(|source| GivenFormula::new(source, old_site.numbers()));
        let question = self.question.clone();
        let (answer, warnings) =
            answered("ranking the jobs", format.is_document(), |warnings, _| {
                CompareAnswer::new(sites, given, question, warnings)
            })?;
        let page_sites = vec![sites.old, sites.new];
        let outcome = Output {
            has_asked_rows: self.question.top.is_some(),
            cells: self.csv.cells(),
            page_file: self.report.page_file(page_sites, self.sides.files()),
            ..Output::new(self.answer, &warnings)
        }
        .write_ranking(&answer, self.site.on_error, out)?;
        match self.fail_on_change {
            Some(first) if report_changes(&answer.compared, first) => Ok(Outcome::Findings),
            _ => Ok(outcome),
        }
    }

    /// Standard input can be only one file of the site or of a side.
    fn require_one_file(&self, formulas: &OldNew<FormulaArgs>) -> Result<(), CliError> {
        let OldNew { old, new } = self.own_files();
        let mut readers = vec![reader(&formulas.old)];
        readers.extend(old);
        readers.push(reader(&formulas.new));
        readers.extend(new);
        require_one_reader(&[], &self.site, &readers)
    }

    /// Opens the site of the old side, and that of the new one if it differs.
    fn open_sites(&self, formulas: &OldNew<FormulaArgs>) -> Result<(Site, Option<Site>), CliError> {
        let (old_policy, new_policy) = (self.old_policy, self.new_policy);
        if [self.site.policy, old_policy, new_policy].contains(&Some(PolicyArg(None))) {
            return Err(CliError::usage(
                "a ranking needs one policy, not `all` of them",
            ));
        }
        // both sides read them, and standard input can be read once
        let site_files = self.site.files()?.kept()?;
        let [mut old_files, mut new_files] = [site_files.clone(), site_files.clone()];
        let (old, new) = kept_files(formulas.old.file(), formulas.new.file())?;
        old_files = with_file(old_files, Role::Formula, old)?;
        new_files = with_file(new_files, Role::Formula, new)?;
        let mut is_same = old_files.all(Role::Formula) == new_files.all(Role::Formula);
        let own = self.own_files();
        for ((role, same_roles), ((_, old), (_, new))) in
            iter::zip(OWN_FILES, iter::zip(own.old, own.new))
        {
            let (mut old, mut new) = kept_files(old, new)?;
            // what is given for one side only is used for both if the site has no such file
            if !same_roles.iter().any(|role| site_files.has(*role)) {
                old = old.or_else(|| new.clone());
                new = new.or_else(|| old.clone());
            }
            old_files = with_file(old_files, role, old)?;
            new_files = with_file(new_files, role, new)?;
            for role in same_roles {
                is_same &= old_files.all(*role) == new_files.all(*role);
            }
        }
        let old_options = self.options(old_policy, self.old_threshold);
        let mut new_options = self.options(new_policy, self.new_threshold);
        is_same &= old_options.policy == new_options.policy
            && old_options.threshold == new_options.threshold;
        let old = open_site(old_files, old_options)?;
        if is_same {
            return Ok((old, None));
        }
        // the new weights do not tell when the old priorities were computed
        new_options.at = new_options.at.or(old.priorities_at());
        let new = open_site(new_files, new_options)?;
        Ok((old, Some(new)))
    }

    /// The formulas. A side without one has the site's. If the site has none, it has the other side's
    /// if something else differs, and `fairshare_factor` if no formula is given and fair share differs.
    fn read_formulas(
        &self,
        formulas: &OldNew<FormulaArgs>,
        sites: OldNew<&Site>,
    ) -> Result<OldNew<FormulaText>, CliError> {
        let OldNew { old, new } = formulas;
        let is_given = old.is_given() || new.is_given();
        let differ_otherwise = self.has_own_rules();
        let differ_in_fair_share = !is_given && self.has_own_fair_share();
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

/// The files of which either side may have its own, each with those of a site that are the same.
const OWN_FILES: [(Role, &[Role]); 3] = [
    (
        Role::Tree,
        &[Role::Tree, Role::ResourceGroup, Role::SchedPriv],
    ),
    (Role::SchedConfig, &[Role::SchedConfig, Role::SchedPriv]),
    (Role::SlurmConf, &[Role::SlurmConf]),
];

impl CompareArgs {
    /// The options that give [`OWN_FILES`] of either side, and the paths.
    fn own_files(&self) -> OldNew<[Reader<'_>; 3]> {
        OldNew {
            old: [
                ("--old-tree", self.old_tree.as_deref()),
                ("--old-sched-config", self.old_sched_config.as_deref()),
                ("--old-slurm-conf", self.old_slurm_conf.as_deref()),
            ],
            new: [
                ("--new-tree", self.new_tree.as_deref()),
                ("--new-sched-config", self.new_sched_config.as_deref()),
                ("--new-slurm-conf", self.new_slurm_conf.as_deref()),
            ],
        }
    }

    /// Whether a side has something else of its own than a formula.
    fn has_own_rules(&self) -> bool {
        let OldNew { old, new } = self.own_files();
        let mut files = old.iter().chain(&new);
        files.any(|(_, path)| path.is_some())
            || self.old_policy.or(self.new_policy).is_some()
            || self.old_threshold.or(self.new_threshold).is_some()
    }

    fn has_own_fair_share(&self) -> bool {
        self.old_tree.as_ref().or(self.new_tree.as_ref()).is_some()
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

/// The option of a formula, its text or its file, and the path.
fn reader(formula: &FormulaArgs) -> Reader<'_> {
    let option = if formula.formula.is_some() {
        formula.options.text
    } else {
        formula.options.file
    };
    (option, formula.file())
}

/// Files whose content is kept if it is standard input, so that both sides have it.
fn kept_files(
    old: Option<&Path>,
    new: Option<&Path>,
) -> Result<(Option<FileSource>, Option<FileSource>), SiteError> {
    let old_kept = kept(old)?;
    let new_kept = if new == old {
        old_kept.clone()
    } else {
        kept(new)?
    };
    Ok((old_kept, new_kept))
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
