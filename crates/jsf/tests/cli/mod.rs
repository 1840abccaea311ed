//! The command `jsf` as a user runs it.

mod checks;
mod commands;
mod compare;
mod cycle;
mod cycle_resources;
mod described_jobs;
mod document_findings;
mod environment;
mod exchange_rates;
mod existence;
mod exit_codes;
mod explain;
mod fit;
mod goals;
mod help;
mod hostile_text;
#[cfg(unix)]
mod interrupted;
mod limits;
mod printed_formulas;
mod processes;
mod python_versions;
mod rankings;
mod recorded_cycles;
mod replay;
mod reports;
mod reservations;
mod screens;
mod shares;
mod simulate;
mod site_constants;
mod slurm;
mod small_site;
mod sweeps;
mod terminal;
mod trajectory;
