//! Slurm's files and policies.

mod policies;
