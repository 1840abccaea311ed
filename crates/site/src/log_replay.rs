//! The values in a scheduler's log against those that a formula has for the jobs of the site.

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::{Formula, OnError};
use jsf_openpbs::NumberMode;
use jsf_openpbs::log_comparison::{
    OtherFormula, Replay, ReplayedQueue, formulas_set, logged_values, replay,
};

use crate::formulas::submitted;
use crate::{FileSource, PolicyName, Role, Site, SiteError};

/// A log compared with a queue, and the warnings about the queue.
#[derive(Debug)]
pub struct LogReplay {
    /// The comparison.
    pub replay: Replay,
    /// The warnings about the jobs and their inputs, one sentence each.
    pub warnings: Vec<Message>,
}

impl Site {
    /// Compares every value in a log of `pbs_sched` with the value of the same job in the queue.
    ///
    /// # Errors
    /// The log cannot be read or has no values, the numbers are not OpenPBS's, or the queue cannot
    /// be ranked, see [`rank`](Self::rank).
    pub fn replay(
        &self,
        log: impl Into<FileSource>,
        formula: &Formula,
    ) -> Result<LogReplay, SiteError> {
        if self.options.numbers != NumberMode::OpenPbs || self.options.on_error == OnError::Null {
            return Err(SiteError::missing(
                "a scheduler's log has OpenPBS's numbers: ",
                Need::OpenPbsNumbers,
            ));
        }
        let log = log.into();
        let bytes = log.read_unless_binary(Role::Log)?.bytes;
        if logged_values(&bytes).next().is_none() {
            return Err(format!(
                "`{}` is not a log with values: expected lines such as \
                 `…;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843`, which pbs_sched writes with \
                 `qmgr -c 'set sched log_events = 4095'`",
                log.name()
            )
            .into());
        }
        let candidates = self.other_formulas(&log.name(), &bytes, formula);
        let names = formula.names();
        let read = self.read_for_formula(formula, &self.request(&names).again())?;
        let ranked = self.rank_read_jobs(read)?;
        let mut others = Vec::new();
        for (origin, text) in candidates {
            others.extend(self.score_other(origin, text));
        }
        let policy = self.policy.build_policy(PolicyName::Pbs, &[]);
        let queue = ReplayedQueue {
            reread: &|change| {
                self.tree.as_ref()?.pbs_tree_with_usage(
                    self.policy.rules,
                    ranked.table.entities(),
                    change,
                )
            },
            program: &ranked.program,
            table: &ranked.table,
            scores: ranked.ranking.scores(),
            tree: ranked.pbs_tree(),
            policy: &*policy,
            decay: self.decay_by_periods(),
            others: &others,
            has_usage: self.files.has(Role::Usage) || self.files.has(Role::Tree),
            has_queues: !self.queues.is_empty(),
        };
        Ok(LogReplay {
            replay: replay(&bytes, &queue),
            warnings: ranked.warnings,
        })
    }

    /// The formulas of the site's files, and those that a server's log beside the scheduler's
    /// names, except `formula`: where each comes from, and its text.
    fn other_formulas(&self, log: &str, bytes: &[u8], formula: &Formula) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        let mut add = |origin: String, text: &str| {
            let text = text.trim();
            if text != formula.text().trim() && found.iter().all(|(_, known)| known != text) {
                found.push((origin, text.to_owned()));
            }
        };
        for formula in &self.formulas.all {
            add(format!("`{}`", formula.origin), &formula.text);
        }
        for text in formulas_set(bytes) {
            add(format!("`{log}`, which a server's log line names"), &text);
        }
        found
    }

    /// The scores of the jobs under another formula; `None` if it cannot be ranked with this site.
    fn score_other(&self, origin: String, text: String) -> Option<OtherFormula> {
        let submission = submitted(&text, NumberMode::OpenPbs);
        let formula = submission.formula().ok()?;
        let names = formula.names();
        let read = self.read_for_formula(formula, &self.request(&names).again());
        let ranked = self.rank_read_jobs(read.ok()?);
        Some(OtherFormula {
            origin,
            scores: ranked.ok()?.ranking.scores().clone(),
            text,
        })
    }
}
