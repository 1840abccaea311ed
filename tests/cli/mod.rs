//! The command `jsf` as a user runs it.

mod checks;
mod commands;
mod compare;
mod explain;
mod help;
mod rankings;
mod replay;
mod shares;
mod slurm;
mod tasks;
mod trajectory;
