//! `jsf compare`

use std::io::Write;
use std::path::{Path, PathBuf};

use job_sort_formula::Diagnostic;
use job_sort_formula::diagnostic::Severity;
use job_sort_formula::rank::OldNew;
use jsf_openpbs::check::{Checked, error_findings};
use jsf_openpbs::submission::FormulaSubmission;
use jsf_site::{
    CompareRequest, ComparedQueue, FileSource, FormulaText, Role, Site, SiteError, SiteFiles,
    SiteOptions, is_stdin,
};

use crate::answer::Format;
use crate::cli::args::FormulaArgs;
use crate::cli::args::site::{PolicyArg, SiteArgs};
use crate::cli::document::Shown;
use crate::cli::failing_jobs::report_errors;
use crate::cli::output::Output;
use crate::cli::queue::{draw_submitted, outcome, select_rows_or_warn};
use crate::cli::standard_input::require_one_reader;
use crate::cli::warnings::Warnings;
use crate::cli::{
    CliError, FormulaOptions, Outcome, Progress, page_file, parsed_formula, read_formula_of,
    report, show_site,
};
use crate::commands::compare::answer::{CompareReport, compared_rows};
use crate::commands::compare::request::CompareArgs;
use crate::commands::compare::view::{ComparePageParts, ListedJobs};
use crate::view::words::count;

pub(crate) const NO_OLD_FORMULA: &str = "no formula to compare --new with: give --old FORMULA";
pub(crate) const NO_NEW_FORMULA: &str = "no formula to compare --old with: give --new FORMULA";

pub(crate) fn run(arguments: &CompareArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let opened = Opened::open(arguments)?;
    let Opened {
        old_site, sources, ..
    } = &opened;
    let new_site = opened.new_site();
    let is_document = arguments.format.is_document();
    arguments.site.report_idle_options(old_site, None);
    let submitted = opened.submitted();
    let old = parsed_formula(&sources.old, &submitted.old);
    let new = parsed_formula(&sources.new, &submitted.new);
    let (old, new) = (old?, new?);
    show_site(&arguments.site, old_site, is_document);
    let mut warnings = Warnings::new(is_document);
    let names = [old.names(), new.names()].concat();
    for site in [old_site, new_site] {
        warnings.add_site(site, &site.warnings_for(&names));
    }
    let request = CompareRequest {
        new_site: Some(new_site),
        ..CompareRequest::new(old, new)
    };
    let compared = opened.rank_both(request, &mut warnings)?;
    opened.write_answer(&compared, &warnings.into_answer(), out)?;
    let OldNew { old, new } = &compared.sides;
    if arguments.format == Format::Csv {
        let on_error = arguments.site.on_error;
        let table = compared.tables().old;
        report_errors(on_error, "the old formula", table, &old.ranking);
        report_errors(on_error, "the new formula", &compared.table, &new.ranking);
    }
    let mut is_fine = true;
    if let Some(first) = arguments.fail_on_change {
        is_fine = !report_changes(&compared, first);
    }
    for (findings, side) in [(&compared.findings.old, old), (&compared.findings.new, new)] {
        is_fine &= outcome(findings, &side.ranking) == Outcome::Fine;
    }
    Ok(Outcome::fine_if(is_fine))
}

/// Says for `--fail-on-change` how many of the first jobs change their place, or that this cannot
/// be told; returns whether it said something.
fn report_changes(compared: &ComparedQueue, first: usize) -> bool {
    let changes = compared.comparison.changed_among_first(first);
    if changes > 0 {
        let jobs = count(changes, "job");
        report(
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
        report("error", message);
    }
    is_undecided
}

/// The sites of both sides, and their formulas.
struct Opened<'a> {
    arguments: &'a CompareArgs,
    old_site: Site,
    /// The site of the new side, if it differs.
    other_site: Option<Site>,
    sources: OldNew<FormulaText>,
}

impl<'a> Opened<'a> {
    fn open(arguments: &'a CompareArgs) -> Result<Self, CliError> {
        let mut sides = Side::both(arguments);
        require_one_file(&arguments.site, &sides)?;
        let differ_otherwise = sides.old.has_own_rules() || sides.new.has_own_rules();
        let is_new_given = sides.new.formula.is_given();
        if differ_otherwise && !is_new_given {
            sides.new.formula = sides.old.formula.clone();
        }
        let (old_site, other_site) = open_sites(&arguments.site, &sides)?;
        let new_site = other_site.as_ref().unwrap_or(&old_site);
        let mut sources = read_formulas(&sides, differ_otherwise, &old_site, new_site)?;
        // another slurm.conf has another priority
        let has_conf = arguments.new_slurm_conf.is_some();
        if has_conf && !is_new_given && new_site.priorities_at().is_some() {
            sources.new = new_site.formula_in_force().unwrap_or(sources.new);
        }
        Ok(Self {
            arguments,
            old_site,
            other_site,
            sources,
        })
    }

    fn new_site(&self) -> &Site {
        self.other_site.as_ref().unwrap_or(&self.old_site)
    }

    /// The formulas as Python reads them.
    fn submitted(&self) -> OldNew<FormulaSubmission<'_>> {
        let numbers = self.old_site.numbers();
        self.sources
            .as_ref()
            .map(|source| source.submitted(numbers))
    }

    /// Reads the jobs, ranks them on both sides and draws what is found.
    fn rank_both(
        &self,
        request: CompareRequest<'_>,
        warnings: &mut Warnings,
    ) -> Result<ComparedQueue, CliError> {
        let progress = Progress::start("reading the jobs");
        let mut jobs = self.old_site.read_for_comparison(request)?;
        drop(progress);
        warnings.show(&std::mem::take(&mut jobs.warnings));
        let mut findings = jobs.findings.clone();
        let progress = Progress::start("ranking the jobs");
        let compared = self.old_site.compare_read_jobs(request, jobs);
        drop(progress);
        let is_document = self.arguments.format.is_document();
        if is_document && let Ok(compared) = &compared {
            let OldNew { old, new } = &compared.sides;
            let of_old = error_findings(compared.tables().old, &old.ranking);
            findings.old.extend(of_old);
            let of_new = error_findings(&compared.table, &new.ranking);
            findings.new.extend(of_new);
        }
        if compared.is_err() || !is_document || self.arguments.text.full {
            self.draw(&findings);
        }
        if let Err(SiteError::NotArithmetic) = compared {
            return Err(CliError::Findings);
        }
        let compared = compared?;
        warnings.show(&compared.warnings);
        Ok(compared)
    }

    /// Writes the answer in the format that is asked for, and as a page if one is.
    fn write_answer(
        &self,
        compared: &ComparedQueue,
        warnings: &[String],
        out: &mut impl Write,
    ) -> Result<(), CliError> {
        let arguments = self.arguments;
        let new_site = self.new_site();
        let is_document = arguments.format.is_document();
        let mut rows = select_rows_or_warn(
            arguments.filter.filter(),
            compared_rows(&compared.comparison),
            new_site,
            &compared.table,
        )?;
        if !is_document {
            rows.truncate(arguments.top.unwrap_or(usize::MAX));
        }
        let has_page = arguments.report.is_some();
        let mut checked = OldNew::default();
        if is_document || has_page {
            let submitted = self.submitted();
            let both = self
                .old_site
                .check_compared(new_site, submitted.as_ref(), compared);
            checked = both.map(Some);
        }
        let mut decides = OldNew::default();
        if arguments.format != Format::Csv || has_page {
            decides = compared.decides();
        }
        let page = if has_page {
            Some(self.page_parts(&checked)?)
        } else {
            None
        };
        let report = CompareReport {
            formulas: self.sources.as_ref().map(|source| &*source.text),
            compared,
            rows: &rows,
            decides: decides.as_ref().map(|decides| &**decides),
            checked: checked.as_ref().map(Option::as_ref),
            listed: ListedJobs {
                top: arguments.top,
                is_filtered: !arguments.filter.filter().is_empty(),
            },
            page: page.as_ref(),
        };
        let shown = Shown {
            has_asked_rows: arguments.top.is_some(),
            ..arguments.text.into()
        };
        let sites = vec![&self.old_site, new_site];
        let files = arguments.old_file.iter().chain(&arguments.new_file);
        Output::new(arguments.format, shown, warnings)
            .with_cells(arguments.csv.cells())
            .with_page(arguments.report.as_deref(), sites, files.collect())
            .write(&report, out)
    }

    /// Whether both sides are the same formula at the same site.
    fn is_one(&self) -> bool {
        self.other_site.is_none() && self.sources.old.text == self.sources.new.text
    }

    /// Draws the findings of the old formula, then those of the new one, each under a line that
    /// says whose they are; those of the same formula at the same site are drawn once.
    fn draw(&self, findings: &OldNew<Vec<Diagnostic>>) {
        let submitted = self.submitted();
        let sides = [
            ("old", &self.sources.old, &submitted.old, &findings.old),
            ("new", &self.sources.new, &submitted.new, &findings.new),
        ];
        let first = usize::from(self.is_one());
        for (side, source, submitted, findings) in &sides[first..] {
            if !self.is_one() && !findings.is_empty() {
                report("note", format_args!("findings of the {side} formula:"));
            }
            draw_submitted(source, submitted, findings.iter().cloned());
        }
    }

    /// What only a page shows.
    fn page_parts(&self, checked: &OldNew<Option<Checked>>) -> Result<ComparePageParts, CliError> {
        let submitted = self.submitted();
        let mut drawn = OldNew {
            old: Vec::new(),
            new: drawn_on_page(&self.sources.new, &submitted.new, &checked.new),
        };
        if !self.is_one() {
            drawn.old = drawn_on_page(&self.sources.old, &submitted.old, &checked.old);
        }
        Ok(ComparePageParts {
            findings: drawn,
            tree: page_file::tree(self.new_site())?,
        })
    }
}

/// The errors and warnings about a formula, as a page shows them.
fn drawn_on_page(
    source: &FormulaText,
    submitted: &FormulaSubmission<'_>,
    checked: &Option<Checked>,
) -> Vec<String> {
    let findings = checked.iter().flat_map(|checked| &checked.findings);
    let mut findings: Vec<Diagnostic> = findings.cloned().collect();
    findings.retain(|found| found.severity != Severity::Note);
    page_file::draw_on_page(source, submitted, &findings)
}

/// The files that a side may have of its own, each with the files of a site that are the same, and
/// the options of both sides.
const OWN_FILES: [(Role, &[Role], [&str; 2]); 4] = [
    (Role::Formula, &[], ["--old-file", "--new-file"]),
    (
        Role::Tree,
        &[Role::Tree, Role::ResourceGroup, Role::SchedPriv],
        ["--old-tree", "--new-tree"],
    ),
    (
        Role::SchedConfig,
        &[Role::SchedConfig, Role::SchedPriv],
        ["--old-sched-config", "--new-sched-config"],
    ),
    (
        Role::SlurmConf,
        &[Role::SlurmConf],
        ["--old-slurm-conf", "--new-slurm-conf"],
    ),
];

/// What one side has of its own; what is given for neither is the site's.
struct Side {
    formula: FormulaArgs,
    /// Those of [`OWN_FILES`] that are not the formula's.
    files: [Option<PathBuf>; 3],
    policy: Option<PolicyArg>,
    threshold: Option<f64>,
}

impl Side {
    fn both(given: &CompareArgs) -> OldNew<Self> {
        OldNew {
            old: Self {
                formula: FormulaArgs {
                    formula: given.old.clone(),
                    formula_file: given.old_file.clone(),
                },
                files: [
                    &given.old_tree,
                    &given.old_sched_config,
                    &given.old_slurm_conf,
                ]
                .map(Option::clone),
                policy: given.old_policy,
                threshold: given.old_threshold,
            },
            new: Self {
                formula: FormulaArgs {
                    formula: given.new.clone(),
                    formula_file: given.new_file.clone(),
                },
                files: [
                    &given.new_tree,
                    &given.new_sched_config,
                    &given.new_slurm_conf,
                ]
                .map(Option::clone),
                policy: given.new_policy,
                threshold: given.new_threshold,
            },
        }
    }

    /// The files of its own, in the order of [`OWN_FILES`].
    fn own_files(&self) -> [Option<&Path>; 4] {
        let [tree, sched_config, slurm_conf] = self.files.each_ref().map(Option::as_deref);
        [self.formula.file(), tree, sched_config, slurm_conf]
    }

    /// Whether something else than a formula is given.
    fn has_own_rules(&self) -> bool {
        let has_file = self.files.iter().any(Option::is_some);
        has_file || self.policy.is_some() || self.threshold.is_some()
    }

    fn has_own_fair_share(&self) -> bool {
        self.files[0].is_some() || self.policy.is_some()
    }

    fn rules(&self, site: &SiteArgs) -> SiteOptions {
        let rules = site.rules(self.threshold);
        let policy = self.policy.and_then(PolicyArg::name).or(rules.policy);
        SiteOptions { policy, ..rules }
    }
}

/// Standard input can be only one file of the site or of a side.
fn require_one_file(site: &SiteArgs, sides: &OldNew<Side>) -> Result<(), CliError> {
    let mut readers = Vec::new();
    for (index, side) in [&sides.old, &sides.new].into_iter().enumerate() {
        for ((role, _, options), file) in OWN_FILES.iter().zip(side.own_files()) {
            let is_text = *role == Role::Formula && side.formula.formula.is_some();
            let option = if is_text {
                ["--old", "--new"][index]
            } else {
                options[index]
            };
            readers.push((option, file.is_some_and(is_stdin)));
        }
    }
    require_one_reader(&[], site, &readers)
}

/// Opens the site of the old side, and that of the new one if it differs.
fn open_sites(
    arguments: &SiteArgs,
    sides: &OldNew<Side>,
) -> Result<(Site, Option<Site>), CliError> {
    if [arguments.policy, sides.old.policy, sides.new.policy].contains(&Some(PolicyArg::All)) {
        return Err(CliError::usage(
            "a ranking needs one policy, not `all` of them",
        ));
    }
    let of_site = arguments.files()?.kept()?;
    let [mut old_files, mut new_files] = [of_site.clone(), of_site.clone()];
    for (index, (role, same_roles, _)) in OWN_FILES.into_iter().enumerate() {
        let [old_path, new_path] = [&sides.old, &sides.new].map(|side| side.own_files()[index]);
        let mut old = kept(old_path)?;
        let mut new = if new_path == old_path {
            old.clone()
        } else {
            kept(new_path)?
        };
        // what is given for one side only is used for both if the site has no such file
        if role != Role::Formula && !same_roles.iter().any(|role| of_site.has(*role)) {
            old = old.or_else(|| new.clone());
            new = new.or_else(|| old.clone());
        }
        old_files = with_file(old_files, role, old)?;
        new_files = with_file(new_files, role, new)?;
    }
    let mut rules = sides.as_ref().map(|side| side.rules(arguments));
    let mut roles = OWN_FILES
        .iter()
        .flat_map(|(role, same, _)| [&[*role], *same].concat());
    let is_same = roles.all(|role| old_files.all(role) == new_files.all(role))
        && rules.old.policy == rules.new.policy
        && rules.old.threshold == rules.new.threshold;
    let old = Site::from_files(old_files, rules.old)?;
    if is_same {
        return Ok((old, None));
    }
    // the new weights do not tell when the old priorities were computed
    rules.new.at = rules.new.at.or(old.priorities_at());
    let new = Site::from_files(new_files, rules.new)?;
    Ok((old, Some(new)))
}

/// A file whose content is kept if it is standard input, so that both sides have it.
fn kept(path: Option<&Path>) -> Result<Option<FileSource>, SiteError> {
    path.map(|path| FileSource::from(path).kept()).transpose()
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
    sides: &OldNew<Side>,
    differ_otherwise: bool,
    old_site: &Site,
    new_site: &Site,
) -> Result<OldNew<FormulaText>, CliError> {
    let OldNew { old, new } = sides;
    let is_given = old.formula.is_given() || new.formula.is_given();
    let differ_in_fair_share = !is_given && (old.has_own_fair_share() || new.has_own_fair_share());
    let of_old = read_unless_missing(FormulaOptions::OLD, old, old_site)?;
    let of_new = read_unless_missing(FormulaOptions::NEW, new, new_site)?;
    let (old, new) = match (of_old, of_new) {
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
    options: FormulaOptions,
    side: &Side,
    site: &Site,
) -> Result<Option<FormulaText>, CliError> {
    match read_formula_of(options, &side.formula, Some(site)) {
        Err(CliError::Site(SiteError::Missing(_))) => Ok(None),
        read => Ok(Some(read?)),
    }
}

/// The error that one of two formulas is missing, which `given` says.
pub(crate) fn no_formula(given: &str) -> CliError {
    let in_force = "the one in force with --server FILE, --sched-priv DIR or --site PATH";
    SiteError::Missing(format!("{given}, or {in_force}").into()).into()
}
