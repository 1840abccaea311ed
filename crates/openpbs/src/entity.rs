//! The fair-share entity of a job: the node of the tree to which the job's usage is charged.

use std::borrow::Cow;
use std::fmt;

/// `fairshare_entity` of `sched_config`: which attribute of a job names its fair-share entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FairshareEntity {
    /// `euser`, OpenPBS's default.
    #[default]
    User,
    /// `egroup`
    Group,
    /// `Account_Name`
    Account,
    /// `queue`
    Queue,
    /// `egroup:euser`
    GroupUser,
}

/// The attributes of a job that may name its entity; each is empty if the job lacks that attribute.
#[derive(Debug, Clone, Copy, Default)]
pub struct EntityAttributes<'a> {
    pub user: &'a str,
    pub group: &'a str,
    pub account: &'a str,
    /// `Job_Owner`, `user@host`.
    pub submitter: &'a str,
    pub queue: &'a str,
}

impl<'a> EntityAttributes<'a> {
    /// `euser`, or the user in `Job_Owner` for a job without it: qstat does not show `euser` to
    /// ordinary users.
    fn user_or_submitter(&self) -> &'a str {
        if self.takes_user_from_job_owner() {
            self.submitter.split('@').next().unwrap_or("")
        } else {
            self.user
        }
    }

    /// Whether only `Job_Owner` gives the user, because there is no `euser`.
    pub fn takes_user_from_job_owner(&self) -> bool {
        self.user.is_empty() && !self.submitter.is_empty()
    }
}

impl FairshareEntity {
    /// Whether the entity depends on the user.
    pub fn uses_user(self) -> bool {
        matches!(self, Self::User | Self::GroupUser)
    }

    const NAMES: [(&'static str, Self); 5] = [
        ("euser", Self::User),
        ("egroup", Self::Group),
        ("Account_Name", Self::Account),
        ("queue", Self::Queue),
        ("egroup:euser", Self::GroupUser),
    ];

    /// The value of `fairshare_entity`, ignoring case.
    pub fn from_name(text: &str) -> Option<Self> {
        for (word, entity) in Self::NAMES {
            if word.eq_ignore_ascii_case(text.trim()) {
                return Some(entity);
            }
        }
        None
    }

    /// The entity of a job. A job that lacks the attribute has the entity `""`, or `":"` under
    /// `egroup:euser`, which OpenPBS puts into its fair-share group `unknown`.
    pub fn entity_of<'a>(self, job: EntityAttributes<'a>) -> Cow<'a, str> {
        match self {
            Self::User => Cow::Borrowed(job.user_or_submitter()),
            Self::Group => Cow::Borrowed(job.group),
            Self::Account => Cow::Borrowed(job.account),
            Self::Queue => Cow::Borrowed(job.queue),
            Self::GroupUser => Cow::Owned(format!("{}:{}", job.group, job.user_or_submitter())),
        }
    }
}

impl fmt::Display for FairshareEntity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (word, entity) in Self::NAMES {
            if entity == *self {
                f.write_str(word)?;
            }
        }
        Ok(())
    }
}
