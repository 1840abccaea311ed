//! What the files of a site say of the server, its queues, its resources and its scheduler.
//!
//! In: the files of a site. Out: the schema, the queues, the settings of the server and of the
//! scheduler, the Python that the server embeds, and the warnings about these files.

pub mod server_documents;
pub mod site_constants;

use job_sort_formula::diagnostic::{Message, Need};
use jsf_ingest::FileKind;
use jsf_openpbs::files::sched_priv::{ByTime, SchedConfig};
use jsf_openpbs::files::server::ServerSettings;

use crate::opening::file_source::Content;
use crate::opening::{FileWarnings, in_file};
use crate::{Role, SiteError, SiteFiles};

/// What the shares depend on, as it is without a `sched_config`.
const DEFAULT_SETTINGS: &str = "unknown_shares 0, fairshare_usage_res cput, fairshare_entity euser, \
     fairshare_decay_factor 0.5 every fairshare_decay_time 24:00:00";

/// Reads `sched_config`, of which the server's object of the scheduler replaces a setting. Without
/// the file, only the formula orders the jobs.
pub fn read_sched_config(
    files: &SiteFiles,
    server: &ServerSettings,
    warnings: &mut FileWarnings,
) -> Result<SchedConfig, SiteError> {
    let mut config = match files.first(Role::SchedConfig) {
        None => SchedConfig {
            by_queue: ByTime::always(false),
            preemptive_sched: ByTime::always(false),
            ..SchedConfig::default()
        },
        Some(source) => {
            let name = source.name();
            let Content { bytes, kind } = source.read_expected(Role::SchedConfig)?;
            if kind == FileKind::Empty {
                warnings.push(format!(
                    "`{name}` has no setting: the scheduler's defaults apply, among them `by_queue`, which orders the jobs by \
                     queue before the formula"
                ));
            }
            let config = SchedConfig::parse(&bytes);
            let (repeated, others): (Vec<_>, Vec<_>) = config
                .warnings
                .iter()
                .partition(|warning| warning.is_repeated);
            warnings.extend_unless_strict(in_file(&name, repeated))?;
            warnings.extend(in_file(&name, others));
            config
        }
    };
    if let Some(priority) = server.preempt_queue_prio() {
        config.preempt_queue_prio = priority;
    }
    Ok(config)
}

/// A warning about a tree without a `sched_config`.
pub fn defaults_assumed() -> Message {
    let assumed =
        format!("there is no `sched_config`, so its defaults are assumed: {DEFAULT_SETTINGS}; ");
    Message::asking(assumed, [Need::SchedConfig])
}
