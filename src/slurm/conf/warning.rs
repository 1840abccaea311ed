//! What is wrong in a file, or no longer right.

use thiserror::Error;

/// Something in the file that does not do what it seems to.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{file}`, line {line}: {fault}")]
pub struct ConfWarning {
    /// The file, as `Include` names it.
    pub file: String,
    /// The line in it, from 1.
    pub line: usize,
    /// What about it.
    pub fault: ConfFault,
}

/// What a [`ConfWarning`] is about.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfFault {
    /// A line of another form.
    #[error("`{0}` is not `Key=Value`, slurmctld does not start with it")]
    NotASetting(String),
    /// A value that `slurmctld` refuses.
    #[error("`{key}` cannot be `{value}`: {expected}; slurmctld does not start with it, the default is assumed")]
    BadValue {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// What would do.
        expected: &'static str,
    },
    /// A setting that there is not.
    #[error("`{0}` is not a setting of Slurm's, slurmctld does not start with it")]
    UnknownKey(String),
    /// The setting was there before.
    #[error("`{key}` is on line {line} of `{file}` already, this one counts")]
    Again {
        /// The key.
        key: &'static str,
        /// The file where it was.
        file: String,
        /// The line where it was.
        line: usize,
    },
    /// Flags that exclude each other.
    #[error("`{loser}` contradicts `{winner}`, which wins")]
    Contradiction {
        /// The flag without effect.
        loser: &'static str,
        /// The flag that counts.
        winner: &'static str,
    },
    /// A flag that is the default.
    #[error("`FAIR_TREE` is no flag any more: fair tree is the default since 19.05")]
    FairTreeIsDefault,
    /// A flag that is no more.
    #[error(
        "`TICKET_BASED` was removed in 15.08 and is ignored: the policy is {0}; \
         for 14.11 and before choose `ticket-based` yourself"
    )]
    TicketBasedIsGone(&'static str),
    /// A flag that is none.
    #[error("`{0}` is no priority flag, slurmctld ignores it")]
    UnknownFlag(String),
    /// The plugin without fair share.
    #[error("under `priority/basic` jobs run in the order of submission: fair share counts for nothing")]
    NoFairShare,
    /// A plugin that is no more.
    #[error("`priority/multifactor2` was removed: it became `priority/multifactor` with `TICKET_BASED`, now gone too")]
    Multifactor2IsGone,
    /// A plugin that nothing is known of.
    #[error("nothing is known of the plugin `{0}`, `priority/multifactor` is assumed")]
    UnknownPlugin(String),
    /// A factor without effect.
    #[error("`FairShareDampeningFactor` has no effect under fair tree")]
    DampeningWithoutEffect,
    /// Usage that only grows.
    #[error("usage neither decays nor is it reset: give `PriorityUsageResetPeriod` a period")]
    UsageOnlyGrows,
    /// A file that is not read.
    #[error("`{name}` is not included: {reason}")]
    NotIncluded {
        /// The file.
        name: String,
        /// Why not.
        reason: String,
    },
}
