//! Slurm's files, as its tools wrote them.

mod damaged;
mod files;
