//! Compares the values in a scheduler's log with those of a site's queue.

use std::path::Path;

use super::policy::PolicyName;
use super::source::FileSource;
use super::{Site, SiteError, file_kind};
use crate::fairshare::decay::IntervalDecay;
use crate::formula::Formula;
use crate::pbs::replay::{Replay, ReplayedQueue, logged_values, replay};
use crate::pbs::resource_amount::NumberMode;
use crate::rank::OnError;

/// A log compared with a queue, and the warnings about the queue.
#[derive(Debug)]
pub struct LogReplay {
    /// The comparison.
    pub replay: Replay,
    /// The warnings about the jobs and their inputs, one sentence each.
    pub warnings: Vec<String>,
}

impl Site {
    /// Compares every value in a log of `pbs_sched` with the value of the same job in the queue.
    ///
    /// # Errors
    /// The log cannot be read or has no values, the numbers are not OpenPBS's, or the queue cannot be ranked, see
    /// [`rank`](Self::rank).
    pub fn replay(&self, log: &Path, formula: &Formula) -> Result<LogReplay, SiteError> {
        if self.rules.numbers != NumberMode::OpenPbs || self.rules.on_error == OnError::Null {
            let message = "a scheduler's log has OpenPBS's numbers: keep the defaults for numbers and errors";
            return Err(SiteError::Missing(message.into()));
        }
        let log = FileSource::from(log);
        let bytes = log.read_unless_binary(&file_kind::LOG)?;
        if logged_values(&bytes).next().is_none() {
            return Err(SiteError::Content(format!(
                "`{}` is not a log with values: expected lines such as \
                 `…;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843`, which pbs_sched writes with \
                 `qmgr -c 'set sched log_events = 4095'`",
                log.name()
            )));
        }
        let jobs = self.jobs(formula)?;
        let program = formula.compile(&jobs.schema).map_err(|_| SiteError::NotArithmetic)?;
        let mut warnings = jobs.warnings;
        let mut ranked = self.rank_jobs(program, jobs.table, usize::MAX)?;
        warnings.append(&mut ranked.warnings);
        let policy = self.policy.build_policy(PolicyName::Pbs, &[]);
        let entities = || ranked.table.entities().iter().map(|entity| &**entity);
        let reread = |change: &dyn Fn(f64) -> f64| {
            self.tree.as_ref()?.pbs_tree_with_usage(self.policy.rules, entities(), change).ok()
        };
        let queue = ReplayedQueue {
            reread: &reread,
            formula,
            schema: &jobs.schema,
            table: &ranked.table,
            scores: ranked.ranking.scores(),
            tree: ranked.tree.as_ref(),
            policy: &*policy,
            decay: IntervalDecay::new(self.config.fairshare_decay_factor, self.config.fairshare_decay_time),
        };
        Ok(LogReplay { replay: replay(&bytes, &queue), warnings })
    }
}
