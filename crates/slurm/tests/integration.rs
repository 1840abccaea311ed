//! Slurm's files, as its tools wrote them.

mod files;
