//! Warnings about single jobs and their inputs: a few of each kind, then how many more there are.

use std::collections::{BTreeSet, HashMap};
use std::mem;

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::jobs::{Exclusion, JobTable, Problems};
use jsf_json::clipped;
use jsf_openpbs::job_attributes::FairshareEntity;
use jsf_openpbs::order::Order;
use jsf_openpbs::share_tree::PbsTree;
use jsf_openpbs::words::counted;

use crate::Site;

/// The most warnings of one kind that are shown; the others are counted.
const MAX_WARNINGS: usize = 10;

/// The first problems of each kind, how many more there are, and how many jobs are skipped.
pub fn job_problems(problems: &Problems, source_name: &str) -> Vec<Message> {
    let mut counts = HashMap::new();
    let mut warnings = Vec::new();
    for found in problems.listed() {
        let kind = mem::discriminant(&found.problem);
        let count = counts.entry(kind).or_insert(0_usize);
        *count += 1;
        if *count <= MAX_WARNINGS {
            warnings.push(format!("`{source_name}`: {found}").into());
        }
    }
    if problems.total() > warnings.len() {
        let (one, several) = ("more problem of this kind", "more problems of these kinds");
        let more = counted(problems.total() - warnings.len(), one, several);
        warnings.push(format!("`{source_name}`: and {more}").into());
    }
    if problems.skipped() > 0 {
        let jobs = counted(problems.skipped(), "job is", "jobs are");
        warnings.push(format!("`{source_name}`: {jobs} skipped").into());
    }
    warnings
}

/// Says which jobs the scheduler ignores because it cannot read an amount of theirs.
pub fn invalid_jobs(table: &JobTable, source_name: &str) -> Vec<Message> {
    let mut all = Vec::new();
    for row in table.excluded_rows() {
        let row = row as usize;
        if let Some(exclusion @ Exclusion::Invalid { .. }) = table.exclusion(row) {
            let id = table.id(row);
            all.push(format!("`{source_name}`: job `{id}`: {exclusion}"));
        }
    }
    let mut warnings = Vec::new();
    let more = "more jobs that the scheduler ignores as invalid";
    extend_limited(&mut warnings, all.into_iter(), more);
    warnings
}

/// Says how many of the jobs that wait lack the `eligible_time` that the formula reads.
pub fn missing_eligible_time(table: &JobTable, source_name: &str) -> Option<Message> {
    let column = table.column("eligible_time")?;
    if column.are_all_set() {
        return None;
    }
    let (mut count, mut missing) = (0, 0);
    for row in table.considered_rows() {
        count += 1;
        missing += usize::from(!column.is_set(row));
    }
    let message = match missing {
        0 => return None,
        _ if missing == count => format!(
            "`{source_name}`: no job that waits has `eligible_time`, so it is 0 for each of them: the server records it only \
             with `eligible_time_enable = True`"
        ),
        _ => format!(
            "`{source_name}`: {missing} of {count} jobs that wait have no `eligible_time`: it is 0 for them"
        ),
    };
    Some(message.into())
}

/// Says how many jobs lack what `fairshare_entity` asks for.
pub fn jobs_without_entity(table: &JobTable, entity: FairshareEntity) -> Option<Message> {
    let mut count = 0;
    for row in 0..table.len() {
        let name = table.entity(row);
        let lacks_group = entity == FairshareEntity::GroupUser && name.starts_with(':');
        count += usize::from(name.is_empty() || lacks_group);
    }
    if count == 0 {
        return None;
    }
    let message = format!(
        "`{entity}`, the fair-share entity (`fairshare_entity` in `sched_config`), is missing in {count} of {} jobs, \
         which count as unknown entities",
        table.len()
    );
    Some(message.into())
}

/// Says that the tree has a line for no entity of the queue.
pub fn unknown_entities(table: &JobTable, tree: &PbsTree) -> Option<Message> {
    let mut named = Vec::new();
    for entity in table.entities() {
        if entity.is_empty() {
            continue;
        }
        named.push(entity);
        if let Some(node) = tree.tree().find(entity)
            && tree.tree().parent(node) != Some(tree.unknown)
        {
            return None;
        }
    }
    let first = named.first()?;
    let message = format!(
        "the tree has none of the {} entities of the queue, of which the first is `{first}`; all of them are in the group \
         `unknown` (is `fairshare_entity` right, and is the `resource_group` of this site?)",
        named.len()
    );
    Some(message.into())
}

/// Appends the first warnings of one kind, and how many more there are.
pub fn extend_limited(
    warnings: &mut Vec<Message>,
    mut all: impl ExactSizeIterator<Item = String>,
    more: &str,
) {
    for message in all.by_ref().take(MAX_WARNINGS) {
        warnings.push(message.into());
    }
    if all.len() > 0 {
        warnings.push(format!("and {} {more}", all.len()).into());
    }
}

impl Site {
    /// A warning for each `job_sort_key` by which nothing is sorted.
    pub(crate) fn unknown_sort_keys(&self, table: &JobTable) -> Vec<Message> {
        let mut warnings = Vec::new();
        for key in Order::new(&self.config, &self.queues).job_sort_keys() {
            if self.is_known_key(key, table) {
                continue;
            }
            let name = clipped(&key.name);
            let reason = match self.schema.entry(&key.name) {
                Some(_) => format!("`{name}` is for formulas and is not a resource"),
                None => format!("no document declares a resource `{name}`, and no job has it"),
            };
            let warning = format!(
                "`job_sort_key` `{name}` decides nothing: {reason}; for a name that is not a resource the scheduler takes 0 for \
                 every job, without a message"
            );
            warnings.push(warning.into());
        }
        warnings
    }

    /// A warning if jobs are in queues that the documents of the queues do not have, and so have no
    /// `queue_priority`.
    pub(crate) fn jobs_of_unlisted_queues(&self, table: &JobTable) -> Option<Message> {
        let column = table.column("queue_priority")?;
        if self.queues.is_empty() {
            return None;
        }
        let mut jobs = 0;
        let mut names = BTreeSet::new();
        for row in 0..table.len() {
            let queue = table.queue(row);
            let is_listed = queue.is_empty() || self.queues.contains(queue);
            if !is_listed && column.nearest_double(row) == 0.0 {
                jobs += 1;
                names.insert(queue);
            }
        }
        let first = *names.first()?;
        let others = match names.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let message = format!(
            "`queue_priority` is 0 for {jobs} of {} jobs, because no document lists their queues (`{first}`{others}): are the queues those of \
             this site?",
            table.len()
        );
        Some(message.into())
    }

    /// A warning if no job has a `queue_priority` because no document of the queues was given.
    pub(crate) fn unknown_queue_priority(&self, table: &JobTable) -> Option<Message> {
        let column = table.column("queue_priority")?;
        if !self.queues.is_empty() {
            return None;
        }
        let mut has_queues = false;
        for row in 0..table.len() {
            has_queues |= !table.queue(row).is_empty();
            if column.nearest_double(row) != 0.0 {
                return None;
            }
        }
        if !has_queues {
            return None;
        }
        let message = "`queue_priority` is 0 for every job, because no document lists the queues: ";
        Some(Message::asking(message, [Need::Queues]))
    }
}
