//! What is read of a job besides its inputs.

use crate::ingest::attribute_values::whole;
use crate::ingest::json_scanner::{Scalar, Scanner};
use crate::ingest::key_dispatch::Meaning;
use crate::jobs::JobState;
use crate::pbs::entity::Owner;

/// What was read of a job so far.
#[derive(Debug, Default)]
pub(super) struct Job<'d> {
    pub id: Option<&'d [u8]>,
    pub entity: Option<&'d str>,
    pub owner: Owner<'d>,
    pub state: JobState,
    pub queued_at: Option<i64>,
    /// Whether there are resources.
    pub is_listed: bool,
}

/// Reads a value that is no input.
pub(super) fn attribute<'d>(meaning: Meaning, scan: &mut Scanner<'d>, job: &mut Job<'d>) -> Option<()> {
    match meaning {
        Meaning::State => {
            let Scalar::Text(letter) = scan.scalar()? else { return None };
            job.state = JobState::from_letter(letter)?;
        }
        Meaning::QueuedAt => {
            job.queued_at = match scan.scalar()? {
                Scalar::Small(time) => Some(i64::from(time)),
                Scalar::Null => return None,
                other => other.with_token(whole)?,
            };
        }
        Meaning::Id => job.id = scan.name_bytes()?.or(job.id),
        Meaning::Entity => job.entity = scan.name()?.or(job.entity),
        Meaning::Queue => job.owner.queue = scan.name()?.unwrap_or(job.owner.queue),
        Meaning::User => job.owner.user = scan.name()?.unwrap_or(job.owner.user),
        Meaning::Group => job.owner.group = scan.name()?.unwrap_or(job.owner.group),
        Meaning::Account => job.owner.account = scan.name()?.unwrap_or(job.owner.account),
        _ => return None,
    }
    Some(())
}
