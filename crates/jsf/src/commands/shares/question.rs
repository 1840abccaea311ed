//! What is asked of a fair-share tree.

#[cfg(feature = "command")]
use std::collections::BTreeMap;

#[cfg(feature = "command")]
use clap::{ArgMatches, Args, Command, FromArgMatches};
#[cfg(feature = "command")]
use jsf_openpbs::amounts::parse_duration;
use jsf_site::{PolicyName, UsageChange};
use serde::Deserialize;

#[cfg(feature = "command")]
use crate::cli::args::listed_name;

/// Which entities are shown, under which policies, and what is assumed of their usage.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "command", derive(clap::Args))]
pub struct SharesQuestion {
    /// Show only this entity or group
    ///
    /// With the group all below it. NAME where it is unique, else ACCOUNT/USER; USER:PARTITION for
    /// an association of one partition; separate several by commas, or repeat the option
    #[serde(rename = "entities")]
    #[cfg_attr(feature = "command", arg(long, value_name = "NAME", value_delimiter = ',', value_parser = listed_name))]
    pub(crate) entity: Vec<String>,
    /// The entities with pending jobs
    ///
    /// For the ticket-based policy, named as for --entity [default: from --queue]
    #[cfg_attr(feature = "command", arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = listed_name))]
    pub(crate) active: Vec<String>,
    /// What to assume about the usage.
    #[serde(skip)]
    #[cfg_attr(feature = "command", command(flatten))]
    pub(crate) assumed: AssumedUsage,
    /// The policy; absent: the one in force. On a command line it is one of the site.
    #[cfg_attr(feature = "command", arg(skip))]
    pub(crate) policy: Option<PolicyName>,
    /// Whether each policy is shown.
    #[serde(skip)]
    #[cfg_attr(feature = "command", arg(skip))]
    pub(crate) has_all_policies: bool,
}

impl SharesQuestion {
    /// The policies that are asked for; none: the one in force.
    pub(crate) fn policies(&self) -> Vec<PolicyName> {
        if self.has_all_policies {
            PolicyName::ALL.to_vec()
        } else {
            Vec::from_iter(self.policy)
        }
    }
}

/// The options that assume another usage.
#[cfg(feature = "command")]
#[derive(Debug, clap::Args)]
struct UsageOptions {
    /// What if: add usage to an entity
    ///
    /// It is named as for --entity; the amount is in the unit of the tree's usage: RawUsage of
    /// Slurm is TRES-seconds (billing). --charge and --decay act in the order in which they are
    /// given
    #[arg(long, value_name = "NAME=AMOUNT", value_parser = parse_charge)]
    charge: Vec<UsageChange>,
    /// What if: decay all usage by this much time
    ///
    /// Seconds, HH:MM:SS, D-HH:MM:SS, or a number with s, m, h, d or w; OpenPBS decays in whole
    /// periods of fairshare_decay_time
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_decay)]
    decay: Vec<UsageChange>,
}

/// The changes of the usage to assume, in the order in which their options are given.
#[derive(Debug, Clone, Default)]
pub(crate) struct AssumedUsage {
    /// The changes.
    pub(crate) changes: Vec<UsageChange>,
}

#[cfg(feature = "command")]
impl FromArgMatches for AssumedUsage {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let UsageOptions { charge, decay } = UsageOptions::from_arg_matches(matches)?;
        // clap keeps the values of each option apart, but knows the place of each
        let mut by_place = BTreeMap::new();
        for (option, changes) in [("charge", charge), ("decay", decay)] {
            if let Some(places) = matches.indices_of(option) {
                by_place.extend(places.zip(changes));
            }
        }
        Ok(Self {
            changes: by_place.into_values().collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(feature = "command")]
impl Args for AssumedUsage {
    fn augment_args(command: Command) -> Command {
        UsageOptions::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        UsageOptions::augment_args_for_update(command)
    }
}

#[cfg(feature = "command")]
fn parse_charge(text: &str) -> Result<UsageChange, String> {
    let (name, amount) = text.rsplit_once('=').ok_or("expected NAME=AMOUNT")?;
    match amount.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(UsageChange::Charge {
            name: name.to_owned(),
            amount: number,
        }),
        _ => Err(format!(
            "`{amount}` is not an amount, expected a number that is not negative"
        )),
    }
}

#[cfg(feature = "command")]
fn parse_decay(text: &str) -> Result<UsageChange, String> {
    parse_duration(text).map(UsageChange::Decay)
}
