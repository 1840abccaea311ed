//! Slurm's files and policies.

mod files;
mod policies;
