//! The names that come with OpenPBS.

use crate::schema::{Kind, Range};

const RATIO: Range = Range { least: 0.0, most: 1.0 };
/// A job's or queue's `Priority`: the server refuses anything beyond (pbs_job_attributes, pbs_queue_attributes).
const PRIORITY: Range = Range { least: -1024.0, most: 1023.0 };

/// What the scheduler computes itself.
pub(super) const SPECIAL: &[(&str, Kind, Range)] = &[
    ("eligible_time", Kind::Duration, Range { least: 0.0, most: f64::INFINITY }),
    ("queue_priority", Kind::Count, PRIORITY),
    ("job_priority", Kind::Count, PRIORITY),
    ("fairshare_perc", Kind::Ratio, RATIO),
    ("fair_share_perc", Kind::Ratio, RATIO),
    ("fairshare_tree_usage", Kind::Ratio, RATIO),
    ("fairshare_factor", Kind::Ratio, RATIO),
    ("accrue_type", Kind::Count, Range { least: 0.0, most: 4.0 }),
];

/// The old name that is still accepted, and the one to use instead.
pub(super) const DEPRECATED: (&str, &str) = ("fair_share_perc", "fairshare_perc");

/// The resources of a server on which no site has added any: those of its resource table (`master_resc_def_all.xml` in
/// OpenPBS), and `exec_host`, which it answers alike.
pub(super) const RESOURCES: &[(&str, Kind)] = &[
    ("accelerator", Kind::Bool),
    ("accelerator_group", Kind::Text),
    ("accelerator_memory", Kind::Size),
    ("accelerator_model", Kind::Text),
    ("aoe", Kind::Text),
    ("arch", Kind::Text),
    ("cpupercent", Kind::Count),
    ("cput", Kind::Duration),
    ("energy", Kind::Float),
    ("eoe", Kind::Text),
    ("exec_host", Kind::Text),
    ("exec_vnode", Kind::Text),
    ("file", Kind::Size),
    ("hbmem", Kind::Size),
    ("host", Kind::Text),
    ("hpm", Kind::Count),
    ("max_walltime", Kind::Duration),
    ("mem", Kind::Size),
    ("min_walltime", Kind::Duration),
    ("mpiprocs", Kind::Count),
    ("naccelerators", Kind::Count),
    ("nchunk", Kind::Count),
    ("ncpus", Kind::Count),
    ("nice", Kind::Count),
    ("nodect", Kind::Count),
    ("nodemask", Kind::Text),
    ("nodes", Kind::Text),
    ("ompthreads", Kind::Count),
    ("partition", Kind::Text),
    ("pcap_accelerator", Kind::Count),
    ("pcap_node", Kind::Count),
    ("pcput", Kind::Duration),
    ("pgov", Kind::Text),
    ("place", Kind::Text),
    ("pmem", Kind::Size),
    ("preempt_targets", Kind::Text),
    ("pstate", Kind::Text),
    ("pvmem", Kind::Size),
    ("resc", Kind::Text),
    ("select", Kind::Text),
    ("site", Kind::Text),
    ("soft_walltime", Kind::Duration),
    ("software", Kind::Text),
    ("ssinodes", Kind::Count),
    ("start_time", Kind::Count),
    ("tolerate_node_failures", Kind::Text),
    ("vmem", Kind::Size),
    ("vnode", Kind::Text),
    ("vntype", Kind::Text),
    ("walltime", Kind::Duration),
];
