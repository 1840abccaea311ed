//! The names that OpenPBS defines.

use super::{InputType, Range};

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

/// The resources that a server has before the site adds any, by their types: those in its resource table
/// (`master_resc_def_all.xml` in OpenPBS), and `exec_host`, which is not in the table but which the
/// server treats in the same way.
pub(super) const BUILT_IN_RESOURCES: [(InputType, &str); 6] = [
    (
        InputType::Count,
        "cpupercent hpm mpiprocs naccelerators nchunk ncpus nice nodect ompthreads \
         pcap_accelerator pcap_node ssinodes start_time",
    ),
    (
        InputType::Size,
        "accelerator_memory file hbmem mem pmem pvmem vmem",
    ),
    (
        InputType::Duration,
        "cput max_walltime min_walltime pcput soft_walltime walltime",
    ),
    (InputType::Float, "energy"),
    (InputType::Bool, "accelerator"),
    (
        InputType::Text,
        "accelerator_group accelerator_model aoe arch eoe exec_host exec_vnode host \
         nodemask nodes partition pgov place preempt_targets pstate resc select site \
         software tolerate_node_failures vnode vntype",
    ),
];
