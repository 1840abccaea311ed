//! What either side of a comparison has of its own: its formula, its files, and the site that they
//! make.

use std::iter;
use std::path::Path;

use job_sort_formula::rank::OldNew;
use jsf_site::{FileSource, FormulaText, Role, Site, SiteError, SiteFiles, SiteOptions};

use crate::cli::formula::{FormulaArgs, NO_NEW_FORMULA, NO_OLD_FORMULA, no_formula, read_formula};
use crate::cli::outcome::CliError;
use crate::cli::site::{
    PolicyArg, Reader, kept, open_site, require_one_policy, require_one_reader,
};
use crate::commands::compare::CompareArgs;

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
    /// Standard input can be only one file of the site or of a side.
    pub(super) fn require_one_file(&self, formulas: &OldNew<FormulaArgs>) -> Result<(), CliError> {
        let OldNew { old, new } = self.own_files();
        let mut readers = vec![reader(&formulas.old)];
        readers.extend(old);
        readers.push(reader(&formulas.new));
        readers.extend(new);
        require_one_reader(&[], &self.site, &readers)
    }

    /// Opens the site of the old side, and that of the new one if it differs.
    pub(super) fn open_sites(
        &self,
        formulas: &OldNew<FormulaArgs>,
    ) -> Result<(Site, Option<Site>), CliError> {
        let (old_policy, new_policy) = (self.old_policy, self.new_policy);
        require_one_policy("a ranking", &[self.site.policy, old_policy, new_policy])?;
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
    pub(super) fn read_formulas(
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
    pub(super) fn has_own_rules(&self) -> bool {
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
