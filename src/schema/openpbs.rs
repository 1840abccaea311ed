//! The names that OpenPBS defines.

use crate::schema::{InputType, Range};

/// The range of the `Priority` of a job or a queue; the server refuses values outside this range
/// (pbs_job_attributes(7B), pbs_queue_attributes(7B)).
const PRIORITY: Range = Range::new(-1024.0, 1023.0);

/// The inputs that the scheduler provides besides resources and the fair-share numbers.
pub(super) const SCHEDULER_INPUTS: &[(&str, InputType, Range)] = &[
    (
        "eligible_time",
        InputType::Duration,
        Range::new(0.0, f64::INFINITY),
    ),
    ("queue_priority", InputType::Count, PRIORITY),
    ("job_priority", InputType::Count, PRIORITY),
    (
        "accrue_type",
        InputType::Count,
        // initial, ineligible, eligible, running, exiting
        Range::new(0.0, 4.0),
    ),
];

/// Whether the scheduler computes this input of a formula itself, so that it is not a resource.
pub fn is_scheduler_input(name: &str) -> bool {
    SCHEDULER_INPUTS.iter().any(|(known, ..)| *known == name)
        || FairshareInput::from_name(name).is_some()
}

/// A fair-share number that the scheduler computes for the entity of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FairshareInput {
    /// `fairshare_perc`: the fraction of the whole tree that is allotted to the entity, from 0 to
    /// 1.
    Perc,
    /// `fairshare_tree_usage`: the entity's effective usage, as a fraction of the usage of the
    /// whole tree.
    TreeUsage,
    /// `fairshare_factor`: `2 ** -(fairshare_tree_usage / fairshare_perc)`.
    Factor,
}

impl FairshareInput {
    /// Every name that a formula may use for one of these numbers.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("fairshare_perc", Self::Perc),
        (DEPRECATED_NAME, Self::Perc),
        ("fairshare_tree_usage", Self::TreeUsage),
        ("fairshare_factor", Self::Factor),
    ];

    /// The fair-share input called `name`; the deprecated name is accepted too.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut names = Self::NAMES.into_iter();
        let (_, input) = names.find(|(known, _)| *known == name)?;
        Some(input)
    }
}

/// The deprecated name of `fairshare_perc`, which OpenPBS still accepts.
pub(super) const DEPRECATED_NAME: &str = "fair_share_perc";
pub(super) const CURRENT_NAME: &str = "fairshare_perc";

/// The current name of an input: `fairshare_perc` for the deprecated `fair_share_perc`, else `name`
/// itself.
pub fn current_name(name: &str) -> &str {
    if name == DEPRECATED_NAME {
        CURRENT_NAME
    } else {
        name
    }
}

/// The resources that a server has before the site adds any: those in its resource table
/// (`master_resc_def_all.xml` in OpenPBS), and `exec_host`, which is not in the table but which the
/// server treats in the same way.
pub(super) const BUILT_IN_RESOURCES: &[(&str, InputType)] = &[
    ("accelerator", InputType::Bool),
    ("accelerator_group", InputType::Text),
    ("accelerator_memory", InputType::Size),
    ("accelerator_model", InputType::Text),
    ("aoe", InputType::Text),
    ("arch", InputType::Text),
    ("cpupercent", InputType::Count),
    ("cput", InputType::Duration),
    ("energy", InputType::Float),
    ("eoe", InputType::Text),
    ("exec_host", InputType::Text),
    ("exec_vnode", InputType::Text),
    ("file", InputType::Size),
    ("hbmem", InputType::Size),
    ("host", InputType::Text),
    ("hpm", InputType::Count),
    ("max_walltime", InputType::Duration),
    ("mem", InputType::Size),
    ("min_walltime", InputType::Duration),
    ("mpiprocs", InputType::Count),
    ("naccelerators", InputType::Count),
    ("nchunk", InputType::Count),
    ("ncpus", InputType::Count),
    ("nice", InputType::Count),
    ("nodect", InputType::Count),
    ("nodemask", InputType::Text),
    ("nodes", InputType::Text),
    ("ompthreads", InputType::Count),
    ("partition", InputType::Text),
    ("pcap_accelerator", InputType::Count),
    ("pcap_node", InputType::Count),
    ("pcput", InputType::Duration),
    ("pgov", InputType::Text),
    ("place", InputType::Text),
    ("pmem", InputType::Size),
    ("preempt_targets", InputType::Text),
    ("pstate", InputType::Text),
    ("pvmem", InputType::Size),
    ("resc", InputType::Text),
    ("select", InputType::Text),
    ("site", InputType::Text),
    ("soft_walltime", InputType::Duration),
    ("software", InputType::Text),
    ("ssinodes", InputType::Count),
    ("start_time", InputType::Count),
    ("tolerate_node_failures", InputType::Text),
    ("vmem", InputType::Size),
    ("vnode", InputType::Text),
    ("vntype", InputType::Text),
    ("walltime", InputType::Duration),
];
