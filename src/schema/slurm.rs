//! The numbers that Slurm's multifactor priority is made of, beside the fair-share factor.

use super::Range;

const FACTOR: Range = Range::new(0.0, 1.0);

/// An interval from 0 on.
const POSITIVE: Range = Range::new(0.0, f64::INFINITY);

/// The numbers, the values that they can have, and what they follow from. The priorities of
/// associations, partitions and QOS are parts of the largest one, or the numbers themselves under
/// the flags `NO_NORMAL_ASSOC`, `NO_NORMAL_PART` and `NO_NORMAL_QOS`.
pub(super) const INPUTS: &[(&str, Range, &str)] = &[
    (
        "age_factor",
        FACTOR,
        "Slurm: AccrueTime of the job, PriorityMaxAge",
    ),
    (
        "assoc_factor",
        POSITIVE,
        "Slurm: Priority of the association",
    ),
    (
        "assoc_priority",
        POSITIVE,
        "Slurm: Priority of the association, as it is",
    ),
    (
        "job_factor",
        POSITIVE,
        "Slurm: PriorityJobFactor of the partition, as it is",
    ),
    ("ngpus", POSITIVE, "Slurm: gres/gpu of the job"),
    (
        "qos_priority",
        POSITIVE,
        "Slurm: Priority of the QOS, as it is",
    ),
    (
        "direct_priority",
        POSITIVE,
        "Slurm: the priority of a job, if it was set directly",
    ),
    ("nice", Range::ANY, "Slurm: Nice of the job"),
    (
        "partition_factor",
        POSITIVE,
        "Slurm: PriorityJobFactor of the partition",
    ),
    ("qos_factor", POSITIVE, "Slurm: Priority of the QOS"),
    ("site_factor", Range::ANY, "Slurm: SITE in sprio"),
    (
        "size_factor",
        FACTOR,
        "Slurm: nodes and processors of the job and of the cluster, PriorityFavorSmall",
    ),
    (
        "tres_points",
        Range::ANY,
        "Slurm: TRES of the job and of its partition, PriorityWeightTRES",
    ),
];

/// What a number of Slurm's priority follows from.
pub fn slurm_source(name: &str) -> &'static str {
    match INPUTS.iter().find(|(known, ..)| *known == name) {
        Some((_, _, source)) => source,
        None => "Slurm: a TRES of the job and of its partition, weighted",
    }
}
