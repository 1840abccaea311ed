//! How the constants of a formula are searched, as a command line or a program asks for it.

use jsf_fit::goals::FitOptions;
use jsf_fit::wishes::WishOptions;
use jsf_site::SimulationOptions;
use serde::Deserialize;

#[cfg(feature = "command")]
use crate::cli::args::{number_within, seed};
use crate::log_options::LogOptions;

/// The most formulas that a fit tries.
pub(crate) const MAX_EVALUATIONS: usize = 1_000_000;

/// How constants are searched.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "command", derive(clap::Args))]
pub struct SearchOptions {
    /// The part of the log that is not searched
    #[cfg_attr(feature = "command", arg(long, value_name = "F", default_value_t = 0.33, value_parser = held_out, requires = "goals", hide_short_help = true))]
    pub held_out: f64,
    /// How many formulas are tried at most
    ///
    /// [default: 240 simulations, or 4000 rankings]
    #[cfg_attr(feature = "command", arg(long, value_name = "N", value_parser = evaluations))]
    pub evaluations: Option<usize>,
    /// The seed of the random numbers
    #[cfg_attr(feature = "command", arg(long, value_name = "N", default_value_t = 1, value_parser = seed, hide_short_help = true))]
    seed: u64,
    /// Fit to a short log
    ///
    /// Of less than eight weeks or 2000 jobs, though little can be learnt from it
    #[cfg_attr(feature = "command", arg(long, requires = "goals"))]
    force: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            // as by default on the command line, whose defaults a request does not have
            held_out: 0.33,
            evaluations: None,
            seed: 1,
            force: false,
        }
    }
}

impl SearchOptions {
    /// How constants are searched that meet wishes.
    pub fn for_wishes(&self) -> WishOptions {
        let default = WishOptions::default().evaluations;
        WishOptions {
            seed: self.seed,
            evaluations: self.evaluations.unwrap_or(default),
        }
    }

    /// How constants are searched that meet goals on a log.
    pub fn for_goals(
        &self,
        in_force: Option<String>,
        log: &LogOptions,
        simulation: SimulationOptions,
    ) -> FitOptions {
        let default = FitOptions::default().evaluations;
        FitOptions {
            in_force,
            seed: self.seed,
            evaluations: self.evaluations.unwrap_or(default),
            held_out: self.held_out,
            force: self.force,
            warm_up: log.warm_up_seconds(),
            simulation,
        }
    }
}

/// Parses the part of the log that is not searched.
#[cfg(feature = "command")]
fn held_out(text: &str) -> Result<f64, String> {
    let expected = "a part of the log from 0.1 to 0.8, such as 0.33";
    number_within(text, 0.1..=0.8, expected)
}

/// Parses how many formulas are tried.
#[cfg(feature = "command")]
fn evaluations(text: &str) -> Result<usize, String> {
    let expected = format!("a number of formulas from 1 to {MAX_EVALUATIONS}, such as 200");
    number_within(text, 1..=MAX_EVALUATIONS, expected)
}
