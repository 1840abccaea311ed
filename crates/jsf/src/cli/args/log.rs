//! The arguments of the commands that simulate a log: their numbers, and the usage that they begin
//! with.

use std::num::NonZeroU32;

use clap::builder::Resettable;
use clap::{Arg, Id, ValueEnum};
use jsf_openpbs::times::parse_duration;
use jsf_site::{Role, SimulationOptions, SiteFiles, StartingUsage, is_stdin};

use crate::cli::CliError;
use crate::cli::args::site::{Reader, SiteArgs};
use crate::log_options::LogOptions;

/// An argument of a site as the commands have it that simulate a log.
pub(crate) fn argument_of_log(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "verbose" => argument.hide(true),
        "tree" => argument
            .conflicts_with(Resettable::<Id>::Reset)
            .conflicts_with("resource-group"),
        "usage" => argument.value_name("FILE|start|fresh").help(
            "The binary usage file; or `start`, the usage of the tree, with which the entities begin by default; or `fresh`, none",
        ),
        _ => argument,
    }
}

/// Which files of a log are standard input.
pub(crate) fn workload_readers(log: &LogOptions) -> Vec<Reader<'static>> {
    let paths = log.workload.iter();
    paths.map(|path| ("--workload", is_stdin(path))).collect()
}

/// How a log is run through time at a site.
pub fn simulation(log: &LogOptions, site: &SiteArgs) -> SimulationOptions {
    log.simulation(starting_usage(site).unwrap_or_default())
}

/// The usage that the entities begin with, if --usage is one of its names and not a file.
fn starting_usage(site: &SiteArgs) -> Option<StartingUsage> {
    StartingUsage::from_str(site.files.get(Role::Usage)?.to_str()?, false).ok()
}

/// The files of a site whose usage may be named instead of given.
pub fn simulated_files(site: &SiteArgs) -> Result<SiteFiles, CliError> {
    let named = starting_usage(site);
    if named.is_none() && site.files.has(Role::Usage) && site.files.has(Role::Tree) {
        return Err(CliError::usage(
            "a file of --usage belongs to --resource-group: with --tree, --usage is start or fresh",
        ));
    }
    site.files_without(named.map(|_| Role::Usage))
}

/// Parses a number of processors.
pub fn processors(text: &str) -> Result<NonZeroU32, String> {
    let Ok(number) = text.parse::<i128>() else {
        return Err("expected a number of processors, such as 128".to_owned());
    };
    match text.parse() {
        Ok(processors) => Ok(processors),
        Err(_) if number < 1 => Err("`--processors` must be at least 1".to_owned()),
        Err(_) => Err(format!("`--processors` must be at most {}", u32::MAX)),
    }
}

/// Parses the interval of a decay.
pub fn decay_period(text: &str) -> Result<u64, String> {
    match parse_duration(text)? {
        0 => Err("expected at least a second".to_owned()),
        seconds => Ok(seconds),
    }
}

/// Parses the factor of a decay.
pub fn decay_factor(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(factor @ 0.0..=1.0) => Ok(factor),
        _ => Err("expected a number from 0 to 1, such as 0.5".to_owned()),
    }
}
