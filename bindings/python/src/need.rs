//! The arguments and files that give what a message asks for.

use job_sort_formula::diagnostic::Need;

/// What is asked for, and how this package takes it.
pub fn in_python(need: Need) -> String {
    format!("{need} ({})", source(need))
}

fn source(need: Need) -> String {
    match need {
        Need::ActiveEntities => "which only the command `jsf shares` takes",
        Need::Entity => "which only the command `jsf explain` takes",
        Need::CommandOutput => "as `qmgr_print_server.txt` in the site's folder",
        Need::Formula => "the argument `formula`, or `qmgr_print_server.txt` in the site's folder",
        Need::OpenPbsNumbers => "`Site.open(…, numbers=\"openpbs\")`",
        Need::Policy(name) => return format!("`Site.open(…, policy=\"{name}\")`"),
        Need::PolicyOfRelease(name, _) => {
            return format!(
                "`Site.open(…, policy=\"{name}\")`; the release is that of `scontrol_show_config.txt` in the site's folder"
            );
        }
        Need::Processors => "as `pbsnodes.json` in the site's folder, or as `processors`",
        Need::Moment => "as `at`",
        Need::Python => "`Formula(…, python=\"X.Y\")`, `Site.open(…, python=\"X.Y\")`",
        Need::PythonNumbers => "`Site.open(…, numbers=\"decimal\")`",
        Need::Queue => "as `qstat.json` in the site's folder",
        Need::Queues => "as `queues.txt` in the site's folder",
        Need::ResourceType => "`Formula(…, resources={name: type})`, where there is no site",
        Need::Resources => "as `qmgr_print_resource.txt` in the site's folder",
        Need::SchedConfig => "as `sched_priv/sched_config` in the site's folder",
        Need::ServerSettings => "as `qmgr_print_server.txt` in the site's folder",
        Need::Site => "`Site.open`",
        Need::SlurmConf => "as `slurm.conf` in the site's folder",
        Need::Threshold => "`Site.open(…, threshold=…)`",
        Need::Sshare => "as `sshare.txt` in the site's folder",
        Need::Tree => "as `sched_priv` or `sshare.json` in the site's folder",
    }
    .to_owned()
}
