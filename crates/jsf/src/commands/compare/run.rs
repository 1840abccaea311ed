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
    is_stdin,
};

use crate::answer::Format;
use crate::cli::args::FormulaArgs;
use crate::cli::args::site::{PolicyArg, require_one_reader};
use crate::cli::document::Shown;
use crate::cli::failing_jobs::report_errors;
use crate::cli::output::Output;
use crate::cli::queue::{draw_submitted, outcome, select_rows_or_warn};
use crate::cli::warnings::Warnings;
use crate::cli::{
    CliError, FormulaOptions, Outcome, Progress, STDIN, page_file, parsed_formula, read_formula_of,
    report, show_site,
};
use crate::commands::compare::answer::{CompareReport, compared_rows};
use crate::commands::compare::request::CompareArgs;
use crate::commands::compare::view::{ComparePageParts, ListedJobs};
use crate::ranked_row::RankedRow;

pub(crate) const NO_OLD_FORMULA: &str = "no formula to compare --new with: give --old FORMULA";
pub(crate) const NO_NEW_FORMULA: &str = "no formula to compare --old with: give --new FORMULA";

pub(crate) fn run(arguments: &CompareArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let opened = Opened::open(arguments)?;
    arguments.site.report_idle_options(&opened.old_site, None);
    arguments.csv.note_idle(arguments.format);
    arguments.text.note_idle(arguments.format);
    let submitted = opened
        .sources
        .as_ref()
        .map(|source| source.submitted(opened.old_site.numbers()));
    let old = parsed_formula(&opened.sources.old, &submitted.old);
    let new = parsed_formula(&opened.sources.new, &submitted.new);
    let (Some(old), Some(new)) = (old, new) else {
        return Ok(Outcome::Findings);
    };
    show_site(
        &arguments.site,
        &opened.old_site,
        arguments.format.is_document(),
    );
    let request = CompareRequest {
        new_site: Some(opened.new_site()),
        ..CompareRequest::new(old, new)
    };
    let mut warnings = opened.warnings(arguments, &[old.names(), new.names()].concat());
    let Some(compared) = rank_both(arguments, &opened, &submitted, request, &mut warnings)? else {
        return Ok(Outcome::Findings);
    };
    write_answer(
        arguments,
        &opened,
        &submitted,
        &compared,
        &warnings.into_answer(),
        out,
    )?;
    let OldNew { old, new } = &compared.sides;
    if arguments.format == Format::Csv {
        report_errors(
            arguments.site.on_error,
            "the old formula",
            compared.tables().old,
            &old.ranking,
        );
        report_errors(
            arguments.site.on_error,
            "the new formula",
            &compared.table,
            &new.ranking,
        );
    }
    let is_changed = arguments
        .fail_on_change
        .is_some_and(|first| report_changes(&compared, first));
    let OldNew {
        old: old_found,
        new: new_found,
    } = &compared.findings;
    let is_fine = [
        outcome(old_found, &old.ranking),
        outcome(new_found, &new.ranking),
    ] == [Outcome::Fine; 2];
    Ok(if is_fine && !is_changed {
        Outcome::Fine
    } else {
        Outcome::Findings
    })
}

/// Reads the jobs, ranks them on both sides and draws what is found; `None` for a formula that is
/// not arithmetic.
fn rank_both(
    arguments: &CompareArgs,
    opened: &Opened,
    submitted: &OldNew<FormulaSubmission<'_>>,
    request: CompareRequest<'_>,
    warnings: &mut Warnings,
) -> Result<Option<ComparedQueue>, CliError> {
    let progress = Progress::start("reading the jobs");
    let mut jobs = opened.old_site.read_for_comparison(request)?;
    drop(progress);
    warnings.show(&std::mem::take(&mut jobs.warnings));
    let mut findings = jobs.findings.clone();
    let progress = Progress::start("ranking the jobs");
    let compared = opened.old_site.compare_read_jobs(request, jobs);
    drop(progress);
    let is_document = arguments.format.is_document();
    if is_document && let Ok(compared) = &compared {
        findings.old.extend(error_findings(
            compared.tables().old,
            &compared.sides.old.ranking,
        ));
        findings
            .new
            .extend(error_findings(&compared.table, &compared.sides.new.ranking));
    }
    if compared.is_err() || !is_document || arguments.text.full {
        opened.draw(submitted, &findings);
    }
    match compared {
        Err(SiteError::NotArithmetic) => Ok(None),
        compared => {
            let compared = compared?;
            warnings.show(&compared.warnings);
            Ok(Some(compared))
        }
    }
}

/// Writes the answer in the format that is asked for, and as a page if one is.
fn write_answer(
    arguments: &CompareArgs,
    opened: &Opened,
    submitted: &OldNew<FormulaSubmission<'_>>,
    compared: &ComparedQueue,
    warnings: &[String],
    out: &mut impl Write,
) -> Result<(), CliError> {
    let Opened {
        old_site, sources, ..
    } = opened;
    let new_site = opened.new_site();
    let rows = rows(arguments, new_site, compared)?;
    let is_for_people = arguments.format.is_document() || arguments.report.is_some();
    let checked =
        is_for_people.then(|| old_site.check_compared(new_site, submitted.as_ref(), compared));
    let checked = checked.as_ref();
    let decides = match arguments.format {
        Format::Csv if arguments.report.is_none() => OldNew::default(),
        _ => compared.decides(),
    };
    let page = checked
        .filter(|_| arguments.report.is_some())
        .map(|checked| opened.page_parts(submitted, checked));
    let page = page.transpose()?;
    let report = CompareReport {
        formulas: sources.as_ref().map(|source| &*source.text),
        table: &compared.table,
        rankings: compared.sides.as_ref().map(|side| &side.ranking),
        comparison: &compared.comparison,
        rows: &rows,
        rules: compared.sides.as_ref().map(|side| &*side.rules),
        decides: decides.as_ref().map(|decides| &**decides),
        checked: OldNew {
            old: checked.map(|checked| &checked.old),
            new: checked.map(|checked| &checked.new),
        },
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
    let read_files = arguments
        .old_file
        .iter()
        .chain(&arguments.new_file)
        .collect();
    Output::new(arguments.format, shown, warnings)
        .with_cells(arguments.csv.cells())
        .with_page(
            arguments.report.as_deref(),
            vec![old_site, new_site],
            read_files,
        )
        .write(&report, out)
}

/// Says for `--fail-on-change` how many of the first jobs change their place, or that this cannot
/// be told; returns whether it said something.
fn report_changes(compared: &ComparedQueue, first: usize) -> bool {
    let changes = compared.comparison.changed_among_first(first);
    if changes > 0 {
        let (jobs, verb) = if changes == 1 {
            ("job", "changes its place")
        } else {
            ("jobs", "change their places")
        };
        report(
            "error",
            format_args!("{changes} {jobs} among the first {first} of either order {verb}"),
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
struct Opened {
    old_site: Site,
    /// The site of the new side, if it differs.
    other_site: Option<Site>,
    sources: OldNew<FormulaText>,
}

impl Opened {
    fn open(arguments: &CompareArgs) -> Result<Self, CliError> {
        let sides = Sides::new(arguments);
        require_one_reader(&sides.readers(arguments))?;
        let (old_site, other_site) = sides.open(arguments)?;
        let sources = sides.formulas(&old_site, other_site.as_ref().unwrap_or(&old_site))?;
        Ok(Self {
            old_site,
            other_site,
            sources,
        })
    }

    fn new_site(&self) -> &Site {
        self.other_site.as_ref().unwrap_or(&self.old_site)
    }

    /// The warnings about the files of both sites that concern these names.
    fn warnings(&self, arguments: &CompareArgs, names: &[&str]) -> Warnings {
        let mut warnings = Warnings::new(arguments.format.is_document());
        for site in [&self.old_site, self.new_site()] {
            warnings.add_site(site, &site.warnings_for(names));
        }
        warnings
    }

    /// Whether both sides are the same formula at the same site.
    fn is_one(&self) -> bool {
        self.other_site.is_none() && self.sources.old.text == self.sources.new.text
    }

    /// Draws the findings of the old formula, then those of the new one, each under a line that
    /// says whose they are; those of the same formula at the same site are drawn once.
    fn draw(&self, submitted: &OldNew<FormulaSubmission<'_>>, findings: &OldNew<Vec<Diagnostic>>) {
        let sides = [
            ("old", &self.sources.old, &submitted.old, &findings.old),
            ("new", &self.sources.new, &submitted.new, &findings.new),
        ];
        for (side, source, submitted, findings) in
            sides.into_iter().skip(usize::from(self.is_one()))
        {
            if !self.is_one() && !findings.is_empty() {
                report("note", format_args!("findings of the {side} formula:"));
            }
            draw_submitted(source, submitted, findings.iter().cloned());
        }
    }

    /// What only a page shows.
    fn page_parts(
        &self,
        submitted: &OldNew<FormulaSubmission<'_>>,
        checked: &OldNew<Checked>,
    ) -> Result<ComparePageParts, CliError> {
        let draw = |source: &FormulaText, submitted: &FormulaSubmission<'_>, checked: &Checked| {
            page_file::draw_on_page(source, submitted, &errors_and_warnings(checked))
        };
        let old = if self.is_one() {
            Vec::new()
        } else {
            draw(&self.sources.old, &submitted.old, &checked.old)
        };
        let new = draw(&self.sources.new, &submitted.new, &checked.new);
        Ok(ComparePageParts {
            findings: OldNew { old, new },
            tree: page_file::tree(self.new_site())?,
        })
    }
}

/// The findings that the terminal lists too.
fn errors_and_warnings(checked: &Checked) -> Vec<Diagnostic> {
    checked
        .findings
        .iter()
        .filter(|found| found.severity != Severity::Note)
        .cloned()
        .collect()
}

/// What differs between the sides; what is given for neither is the site's.
struct Sides {
    formulas: OldNew<FormulaArgs>,
    trees: OldNew<Option<PathBuf>>,
    policies: OldNew<Option<PolicyArg>>,
    sched_configs: OldNew<Option<PathBuf>>,
    slurm_confs: OldNew<Option<PathBuf>>,
    thresholds: OldNew<Option<f64>>,
}

impl Sides {
    fn new(given: &CompareArgs) -> Self {
        let old = FormulaArgs {
            formula: given.old.clone(),
            formula_file: given.old_file.clone(),
        };
        let new = FormulaArgs {
            formula: given.new.clone(),
            formula_file: given.new_file.clone(),
        };
        let mut sides = Self {
            formulas: OldNew { old, new },
            trees: OldNew {
                old: given.old_tree.clone(),
                new: given.new_tree.clone(),
            },
            policies: OldNew {
                old: given.old_policy,
                new: given.new_policy,
            },
            sched_configs: OldNew {
                old: given.old_sched_config.clone(),
                new: given.new_sched_config.clone(),
            },
            slurm_confs: OldNew {
                old: given.old_slurm_conf.clone(),
                new: given.new_slurm_conf.clone(),
            },
            thresholds: OldNew {
                old: given.old_threshold,
                new: given.new_threshold,
            },
        };
        if !sides.formulas.new.is_given() && sides.differ_otherwise() {
            sides.formulas.new = sides.formulas.old.clone();
        }
        sides
    }

    /// Whether something else than a formula is given for one of the sides.
    fn differ_otherwise(&self) -> bool {
        let Self {
            formulas: _,
            trees,
            policies,
            sched_configs,
            slurm_confs,
            thresholds,
        } = self;
        is_given(trees)
            || is_given(policies)
            || is_given(sched_configs)
            || is_given(slurm_confs)
            || is_given(thresholds)
    }

    /// Whether nothing is given but what changes fair share.
    fn differ_in_fair_share(&self) -> bool {
        let Self {
            formulas,
            trees,
            policies,
            ..
        } = self;
        (is_given(trees) || is_given(policies))
            && !formulas.old.is_given()
            && !formulas.new.is_given()
    }

    /// The options that read standard input.
    fn readers(&self, arguments: &CompareArgs) -> Vec<&'static str> {
        let mut readers = arguments.site.files_from(is_stdin);
        for (option, text) in [("--old", &arguments.old), ("--new", &arguments.new)] {
            readers.extend((text.as_deref() == Some(STDIN)).then_some(option));
        }
        for (option, file) in [
            ("--old-file", &arguments.old_file),
            ("--new-file", &arguments.new_file),
            ("--old-tree", &self.trees.old),
            ("--new-tree", &self.trees.new),
            ("--old-sched-config", &self.sched_configs.old),
            ("--new-sched-config", &self.sched_configs.new),
            ("--old-slurm-conf", &self.slurm_confs.old),
            ("--new-slurm-conf", &self.slurm_confs.new),
        ] {
            readers.extend(
                file.as_deref()
                    .filter(|path| is_stdin(path))
                    .map(|_| option),
            );
        }
        readers
    }

    /// Opens the site of the old side, and that of the new one if it differs.
    fn open(&self, arguments: &CompareArgs) -> Result<(Site, Option<Site>), CliError> {
        let has_all = [arguments.site.policy, self.policies.old, self.policies.new]
            .contains(&Some(PolicyArg::All));
        if has_all {
            return Err(CliError::usage(
                "a ranking needs one policy, not `all` of them",
            ));
        }
        let site = arguments.site.files()?.kept()?;
        let formulas = self.formula_sources()?;
        let has_tree = [Role::Tree, Role::ResourceGroup, Role::SchedPriv]
            .into_iter()
            .any(|role| site.has(role));
        let has_config = [Role::SchedConfig, Role::SchedPriv]
            .into_iter()
            .any(|role| site.has(role));
        let trees = chosen(&self.trees, has_tree)?;
        let configs = chosen(&self.sched_configs, has_config)?;
        let confs = chosen(&self.slurm_confs, site.has(Role::SlurmConf))?;
        let side = |formula, tree, config, conf| {
            let own = [
                (Role::Formula, formula),
                (Role::SchedConfig, config),
                (Role::SlurmConf, conf),
            ];
            side_files(&site, own, tree)
        };
        let files = OldNew {
            old: side(formulas.old, trees.old, configs.old, confs.old)?,
            new: side(formulas.new, trees.new, configs.new, confs.new)?,
        };
        let mut rules = OldNew {
            old: arguments.site.rules(self.thresholds.old),
            new: arguments.site.rules(self.thresholds.new),
        };
        rules.old.policy = self
            .policies
            .old
            .and_then(PolicyArg::name)
            .or(rules.old.policy);
        rules.new.policy = self
            .policies
            .new
            .and_then(PolicyArg::name)
            .or(rules.new.policy);
        let roles = [
            Role::Formula,
            Role::Tree,
            Role::ResourceGroup,
            Role::SchedConfig,
            Role::SlurmConf,
        ];
        let is_same = roles
            .into_iter()
            .all(|role| files.old.all(role) == files.new.all(role))
            && rules.old.policy == rules.new.policy
            && rules.old.threshold == rules.new.threshold;
        let old = Site::from_files(files.old, rules.old)?;
        // the new weights do not tell when the old priorities were computed
        rules.new.at = rules.new.at.or(old.priorities_at());
        let new = if is_same {
            None
        } else {
            Some(Site::from_files(files.new, rules.new)?)
        };
        Ok((old, new))
    }

    /// The files of the formulas. The same file for both sides is read once.
    fn formula_sources(&self) -> Result<OldNew<Option<FileSource>>, CliError> {
        let [path_of_old, path_of_new] =
            [&self.formulas.old, &self.formulas.new].map(|formula| match formula {
                FormulaArgs {
                    formula: Some(text),
                    ..
                } => (text == STDIN).then(|| PathBuf::from(STDIN)),
                FormulaArgs { formula_file, .. } => formula_file.clone(),
            });
        let old = kept(&path_of_old)?;
        let new = if path_of_new == path_of_old {
            old.clone()
        } else {
            kept(&path_of_new)?
        };
        Ok(OldNew { old, new })
    }

    /// The formulas. A side without one has the site's. If the site has none, it has the other
    /// side's if something else differs, and `fairshare_factor` if no formula is given and fair
    /// share differs.
    fn formulas(&self, old_site: &Site, new_site: &Site) -> Result<OldNew<FormulaText>, CliError> {
        let OldNew { old, new } = &self.formulas;
        let old = match read_formula_of(FormulaOptions::OLD, old, Some(old_site)) {
            Err(CliError::Site(SiteError::Missing(_)))
                if new.is_given() && self.differ_otherwise() =>
            {
                read_formula_of(FormulaOptions::NEW, new, Some(new_site))?
            }
            Err(CliError::Site(SiteError::Missing(_))) if new.is_given() => {
                return Err(no_formula(NO_OLD_FORMULA));
            }
            Err(CliError::Site(SiteError::Missing(_))) if self.differ_in_fair_share() => {
                FormulaText::new("fairshare_factor")?
            }
            Err(CliError::Site(SiteError::Missing(_))) => {
                return Err(no_formula(
                    "no formula: give --old FORMULA or --new FORMULA",
                ));
            }
            read => read?,
        };
        if !self.formulas.old.is_given() && !new.is_given() && !self.differ_otherwise() {
            return Err(CliError::usage(
                "nothing differs between the two sides: give --new FORMULA, --new-tree FILE, --new-policy POLICY, \
                 --new-sched-config FILE, --new-slurm-conf FILE or --new-threshold X",
            ));
        }
        let new = match read_formula_of(FormulaOptions::NEW, new, Some(new_site)) {
            Err(CliError::Site(SiteError::Missing(_))) if self.differ_in_fair_share() => {
                old.clone()
            }
            Err(CliError::Site(SiteError::Missing(_))) => {
                return Err(no_formula(NO_NEW_FORMULA));
            }
            read => read?,
        };
        Ok(OldNew { old, new })
    }
}

/// Whether something is given for one of the sides.
fn is_given<T>(sides: &OldNew<Option<T>>) -> bool {
    sides.old.is_some() || sides.new.is_some()
}

/// The error that one of two formulas is missing, which `given` says.
pub(crate) fn no_formula(given: &str) -> CliError {
    let in_force = "the one in force with --server FILE, --sched-priv DIR or --site PATH";
    SiteError::Missing(format!("{given}, or {in_force}").into()).into()
}

/// The files of a side: those of the site, and its own.
fn side_files(
    site: &SiteFiles,
    own: [(Role, Option<FileSource>); 3],
    tree: Option<FileSource>,
) -> Result<SiteFiles, SiteError> {
    let mut files = site.clone();
    for (role, file) in own {
        if let Some(file) = file {
            files = files.with(role, file);
        }
    }
    match tree {
        Some(tree) => files.with_tree(tree),
        None => Ok(files),
    }
}

/// The files of both sides. What is given for one side only is used for both if the site has no
/// such file.
fn chosen(
    given: &OldNew<Option<PathBuf>>,
    site_has_one: bool,
) -> Result<OldNew<Option<FileSource>>, CliError> {
    let old = kept(&given.old)?;
    let new = kept(&given.new)?;
    if site_has_one {
        return Ok(OldNew { old, new });
    }
    Ok(OldNew {
        old: old.clone().or_else(|| new.clone()),
        new: new.or(old),
    })
}

/// A file that can be read several times.
fn kept(path: &Option<PathBuf>) -> Result<Option<FileSource>, CliError> {
    Ok(path
        .as_deref()
        .map(|path: &Path| FileSource::from(path).kept())
        .transpose()?)
}

/// The rows to list.
fn rows(
    arguments: &CompareArgs,
    site: &Site,
    compared: &ComparedQueue,
) -> Result<Vec<RankedRow>, CliError> {
    let mut rows = select_rows_or_warn(
        arguments.filter.filter(),
        compared_rows(&compared.comparison),
        site,
        &compared.table,
    )?;
    if !arguments.format.is_document() {
        rows.truncate(arguments.top.unwrap_or(usize::MAX));
    }
    Ok(rows)
}
