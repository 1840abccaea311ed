//! What preemption has to know of the jobs of a site.

use std::collections::HashMap;
use std::sync::Arc;

use job_sort_formula::jobs::{JobState, JobTable};
use jsf_ingest::QueuedJob;
use jsf_openpbs::cycle::{
    JobSource, LimitKind, PreemptionJob, PreemptionLevels, PreemptionMethod, Request, SuspendedJob,
};
use jsf_openpbs::files::queues::whole_amount;
use jsf_openpbs::share_tree::PbsTree;

use super::cycle_decisions::OrderedQueue;
use super::site_machine::CycleMachine;
use crate::{LeftOut, PreemptedJob, Site};

/// The resource of a job that names the jobs that it may preempt.
const TARGETS: &str = "preempt_targets";

impl CycleMachine {
    /// Completes the levels with the jobs.
    pub fn add_preemption(
        &mut self,
        site: &Site,
        queue: &OrderedQueue<'_>,
        queued: &[QueuedJob],
        tree: Option<&PbsTree>,
    ) {
        let Some(mut levels) = self.rules.levels.take() else {
            return;
        };
        let table = queue.table;
        let places = queue.order.places_of_running(queue.scores, table);
        let mut targets = Targets {
            site,
            table,
            queued,
            found: HashMap::new(),
        };
        let mut methods = levels.methods.iter();
        let requeues = methods.any(|entry| entry.methods.contains(&PreemptionMethod::Requeue));
        let mut classes: HashMap<JobClass<'_>, u32> = HashMap::new();
        for (row, job) in queued.iter().enumerate() {
            let class = self.class(&levels, row as u32, job);
            let count = classes.len() as u32;
            let class = *classes.entry(class).or_insert(count);
            let state = table.state(row);
            if requeues && state == JobState::Queued && job.has_run {
                levels.preempted.insert(row as u32, i64::MIN);
            }
            levels.jobs.push(PreemptionJob {
                started: job.stime,
                place: places.get(row).copied().unwrap_or(0),
                used: job.used_walltime,
                is_rerunable: job.is_rerunable,
                is_over_share: tree.is_some_and(|tree| is_over_share(tree, &job.entity)),
                targets: targets.of(job),
                class: if state == JobState::Suspended {
                    None
                } else {
                    Some(class)
                },
            });
        }
        for (row, job) in queued.iter().enumerate() {
            if table.state(row) == JobState::Suspended && !job.placed.is_empty() {
                let suspended = self.suspended(&levels, row as u32, job);
                levels.suspended.insert(row as u32, suspended);
                levels.preempted.insert(row as u32, i64::MIN);
            }
        }
        self.rules.levels = Some(levels);
    }

    /// What of preemption may be otherwise, as the documents do not say it or it is not followed.
    pub fn left_out_of_preemption(
        &self,
        site: &Site,
        waiting: &[usize],
        preempted: &[(u32, PreemptedJob)],
    ) -> Vec<LeftOut> {
        let levels = match &self.rules.levels {
            Some(levels) if levels.is_preemptive => levels,
            _ => return Vec::new(),
        };
        let order = site.server.preempt_order();
        let mut by_checkpoint = 0;
        for (_, one) in preempted {
            by_checkpoint += usize::from(tries_checkpoint(order, one.method));
        }
        let requeued = levels.preempted.len() - levels.suspended.len();
        let mut suspended = 0;
        for row in waiting {
            suspended += usize::from(levels.suspended.contains_key(&(*row as u32)));
        }
        LeftOut::of_some_jobs([
            (
                format!("checkpoints of preempt_order {order}"),
                by_checkpoint,
            ),
            (
                "the second in which jobs were suspended, which orders them".to_owned(),
                if suspended > 1 { suspended } else { 0 },
            ),
            (
                "why jobs wait that ran before (run_count), taken as preempted".to_owned(),
                requeued,
            ),
        ])
    }

    /// A suspended job keeps what it did not give back.
    fn suspended(&mut self, levels: &PreemptionLevels, row: u32, job: &QueuedJob) -> SuspendedJob {
        let requested = self.jobs.job(row);
        let placement = self.placement(job, &requested);
        let released = levels.released(&placement);
        self.machine.exchange(&released, &placement);
        let used = job.used_walltime.unwrap_or(0).max(0);
        SuspendedJob {
            left: (requested.walltime - used).max(0),
            placement,
            released,
        }
    }

    /// What a job has in common with those that the scheduler takes to be like it.
    fn class<'j>(
        &'j self,
        levels: &PreemptionLevels,
        row: u32,
        job: &'j QueuedJob,
    ) -> JobClass<'j> {
        let requested = self.jobs.job(row);
        let queue = requested.queue;
        let (hard, soft) = (&self.limits, &levels.soft_limits);
        let is_limited = hard.has_queue(queue) || soft.has_queue(queue);
        let subjects = [
            (LimitKind::User, requested.user),
            (LimitKind::Group, requested.group),
            (LimitKind::Project, requested.project),
        ];
        JobClass {
            request: requested.request,
            counted: requested.counted,
            walltime: requested.walltime,
            targets: text(job, TARGETS),
            queue: is_limited.then_some(queue),
            subjects: subjects.map(|(kind, subject)| {
                let is_counted = hard.has_kind(kind, queue) || soft.has_kind(kind, queue);
                is_counted.then_some(subject)
            }),
        }
    }
}

/// Whether `preempt_order` tries a checkpoint before a method, whose letter is its first one.
fn tries_checkpoint(order: &str, method: &str) -> bool {
    let method = method[..1].to_uppercase();
    for word in order.split_ascii_whitespace() {
        if let Some(checkpoint) = word.find('C')
            && let Some(taken) = word.find(&method)
            && checkpoint < taken
        {
            return true;
        }
    }
    false
}

#[derive(PartialEq, Eq, Hash)]
struct JobClass<'j> {
    request: Request<'j>,
    counted: &'j [i64],
    walltime: i64,
    targets: Option<&'j str>,
    queue: Option<u32>,
    subjects: [Option<u32>; 3],
}

/// The jobs that others may preempt.
struct Targets<'s> {
    site: &'s Site,
    table: &'s JobTable,
    queued: &'s [QueuedJob],
    /// By `preempt_targets`.
    found: HashMap<&'s str, Arc<[u32]>>,
}

impl<'s> Targets<'s> {
    /// Those of a job; `None`: all.
    fn of(&mut self, job: &'s QueuedJob) -> Option<Arc<[u32]>> {
        if !self.site.server.has_preempt_targets() {
            return None;
        }
        let text = text(job, TARGETS)?;
        if let Some(found) = self.found.get(text) {
            return Some(found.clone());
        }
        let mut rows = Vec::new();
        for row in 0..self.queued.len() {
            if text.split(',').any(|target| self.is_target(target, row)) {
                rows.push(row as u32);
            }
        }
        let found: Arc<[u32]> = rows.into();
        self.found.insert(text, found.clone());
        Some(found)
    }

    /// Whether a job is in a queue as in `queue=low`, or asks for a resource as in
    /// `Resource_List.ngpus=1`. `NONE` is no job.
    fn is_target(&self, target: &str, row: usize) -> bool {
        let Some((name, value)) = target.trim().split_once('=') else {
            return false;
        };
        if name.eq_ignore_ascii_case("queue") {
            return self.table.queue(row) == value;
        }
        let Some((list, resource)) = name.split_once('.') else {
            return false;
        };
        let job = &self.queued[row];
        let asks = match text(job, resource) {
            Some(asked) => asked == value,
            None => {
                let kind = self.site.schema.input_type(resource);
                let value = whole_amount(value, kind);
                value.is_some() && value.as_ref() == job.amounts.get(resource)
            }
        };
        list.eq_ignore_ascii_case("Resource_List") && asks
    }
}

fn text<'j>(job: &'j QueuedJob, resource: &str) -> Option<&'j str> {
    for (name, text) in &job.texts {
        if **name == *resource {
            return Some(text);
        }
    }
    None
}

/// Whether an entity has used more than its share of all usage.
fn is_over_share(tree: &PbsTree, entity: &str) -> bool {
    let usages = tree.tree();
    let node = usages.find(entity).unwrap_or(tree.unknown);
    let shares = tree.shares().get(node);
    let share = shares.map_or(0.0, |shares| shares.fairshare_perc);
    usages.usage(usages.root()) * share < usages.usage(node)
}
