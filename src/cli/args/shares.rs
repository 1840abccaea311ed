//! The arguments of `jsf shares`.

use clap::{Args, ValueEnum};

use job_sort_formula::site::parse_duration;

use super::SiteArgs;

/// `jsf shares`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jsf shares --sched-priv examples/site/sched_priv
  jsf shares --tree examples/site/tree.json --policy all
  jsf shares --tree examples/site/tree.json --policy fair-tree \\
      --charge Bob=500 --format json")]
pub struct SharesArgs {
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// Show only this entity: NAME where it is unique, else ACCOUNT/USER; USER:PARTITION for an association of one
    /// partition
    #[arg(long, value_name = "NAME")]
    pub entity: Option<String>,
    /// Who has pending jobs, for the ticket-based policy, named as for --entity [default: from --queue]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub active: Vec<String>,
    /// Add usage to an entity, named as for --entity, before the policy is applied
    #[arg(long, value_name = "NAME=AMOUNT")]
    pub charge: Vec<Charge>,
    /// Decay all usage by this time before the policy is applied: seconds, HH:MM:SS, D-HH:MM:SS, or a number with s,
    /// m, h, d or w
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub decay: Option<u64>,
    /// The output format
    #[arg(long, value_enum, default_value_t = SharesFormatName::Human)]
    pub format: SharesFormatName,
}

/// The formats of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SharesFormatName {
    /// The tree with its numbers
    Human,
    /// The numbers as JSON
    Json,
    /// A file for `sacctmgr load`
    Sacctmgr,
    /// A resource_group file
    ResourceGroup,
}

/// Usage to add to an entity.
#[derive(Debug, Clone, PartialEq)]
pub struct Charge {
    /// The entity.
    pub name: String,
    /// The amount, in the units of the tree.
    pub amount: f64,
}

impl std::str::FromStr for Charge {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, amount) = text.rsplit_once('=').ok_or("expected NAME=AMOUNT")?;
        let parsed: Option<f64> = amount.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 0.0);
        let amount =
            parsed.ok_or_else(|| format!("`{amount}` is not an amount, expected a number that is not negative"))?;
        Ok(Self { name: name.to_owned(), amount })
    }
}
