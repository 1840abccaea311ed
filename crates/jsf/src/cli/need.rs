//! The options that give what a message asks for.

use job_sort_formula::diagnostic::{Message, Need};

/// A message with the options that give what it asks for.
pub(crate) fn with_options(message: &Message) -> String {
    message.worded(in_options)
}

/// What is asked for, and the options that give it.
pub(crate) fn in_options(need: Need) -> String {
    format!("{need} ({})", options(need))
}

fn options(need: Need) -> String {
    match need {
        Need::ActiveEntities => "--active NAME,…",
        Need::CommandOutput => "-f FILE or --server FILE",
        Need::Entity => "--entity NAME",
        Need::Formula => "-f FILE, --server FILE, --sched-priv DIR or --site PATH",
        Need::OpenPbsNumbers => "no --numbers, no --on-error null",
        Need::Policy(name) => return format!("--policy {name}"),
        Need::PolicyOfRelease(..) => "--policy NAME, --slurm-release NAME",
        Need::Processors => "--nodes FILE, --processors N",
        Need::Moment => "--at TIME",
        Need::Python => "--python X.Y, or `python_version.txt` in the site's folder",
        Need::PythonNumbers => "--numbers decimal",
        Need::Queue => "--queue FILE",
        Need::Queues => "--queues FILE",
        Need::ResourceType => "--resource NAME=TYPE",
        Need::Resources => "--resources FILE",
        Need::SchedConfig => "--sched-config FILE",
        Need::ServerSettings => "--server FILE",
        Need::Site => "--site PATH",
        Need::SlurmConf => "--slurm-conf FILE",
        Need::Sshare => "--tree FILE, or `sshare.txt` in the site's folder",
        Need::Threshold => "--threshold X",
        Need::Tree => "--sched-priv DIR, --tree FILE",
    }
    .to_owned()
}
