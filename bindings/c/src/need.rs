//! The arguments and files that give what a message asks for.

use job_sort_formula::diagnostic::Need;

/// What is asked for, and how this library takes it.
pub(crate) fn in_c(need: Need) -> String {
    format!("{need} ({})", source(need))
}

fn source(need: Need) -> String {
    match need {
        Need::ActiveEntities => "which only the command `jsf shares` takes",
        Need::Entity => "which only the command `jsf explain` takes",
        Need::CommandOutput => "as `qmgr_print_server.txt` in the site's folder",
        Need::Formula => "`formula`, or `qmgr_print_server.txt` in the site's folder",
        Need::OpenPbsNumbers | Need::PythonNumbers => "this library has OpenPBS's numbers only",
        Need::Policy(name) => return format!("`policy` of `jsf_tree_read`: `{name}`"),
        Need::PolicyOfRelease(name, _) => {
            return format!(
                "`policy` of `jsf_tree_read`: `{name}`; the release is that of `scontrol_show_config.txt` in the site's folder"
            );
        }
        Need::Processors => "as `pbsnodes.json` in the site's folder",
        Need::Moment => "with a document of jobs that has a `timestamp`",
        Need::Python => "`jsf_schema_set_python`, or `python_version.txt` in the site's folder",
        Need::Queue => "as `qstat.json` in the site's folder",
        Need::Queues => "as `queues.txt` in the site's folder",
        Need::ResourceType => "`jsf_schema_add_resource`",
        Need::Resources => "as `qmgr_print_resource.txt` in the site's folder, for `jsf_schema_read_site`",
        Need::SchedConfig => "as `sched_priv/sched_config` in the site's folder, or `sched_config` of `jsf_tree_read_pbs`",
        Need::ServerSettings => "as `qmgr_print_server.txt` in the site's folder",
        Need::Site => "`jsf_run`",
        Need::SlurmConf => "as `slurm.conf` in the site's folder",
        Need::Threshold => "which the server has, in `qmgr_print_server.txt` in the site's folder",
        Need::Sshare => "as `sshare.txt` in the site's folder",
        Need::Tree => "as `sched_priv` or `sshare.json` in the site's folder",
    }
    .to_owned()
}
