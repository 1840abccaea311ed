//! One rule at a time, on machines of a few processors; and what holds for random machines and
//! jobs.

use std::collections::{HashMap, VecDeque};

use jsf_testing::random::Generator;

use super::*;
use crate::files::run_limits::LimitKind;
use crate::files::sched_config::ByTime;
use crate::pbs_tree::SharePaths;

/// Chunks that limits count as they are, in the first list of pools.
fn chunks(counts: &[u32], amounts: &[i64]) -> Arc<Request> {
    let size = amounts.len() / counts.len();
    let chunks = counts.iter().zip(amounts.chunks(size));
    Arc::new(Request {
        chunks: chunks
            .map(|(&count, amounts)| RequestedChunk {
                count,
                amounts: amounts.to_vec(),
                pool_list: 0,
            })
            .collect(),
        counted: amounts.to_vec(),
        ..Request::default()
    })
}

/// The same in other lists of pools.
fn chunks_in(pool_lists: &[u32], counts: &[u32], amounts: &[i64]) -> Request {
    let mut request = Request::clone(&chunks(counts, amounts));
    for (chunk, &pool_list) in request.chunks.iter_mut().zip(pool_lists) {
        chunk.pool_list = pool_list;
    }
    request
}

/// A job of user 0 in queue 0 that asks for one chunk.
fn job(processors: i64, walltime: i64) -> CycleJob {
    CycleJob {
        request: chunks(&[1], &[processors]),
        walltime,
        can_be_reserved: true,
        started: Some(-10),
        is_rerunable: true,
        ..CycleJob::default()
    }
}

impl CycleJob {
    fn in_queue(self, queue: u32) -> Self {
        Self { queue, ..self }
    }

    fn of_user(self, user: u32) -> Self {
        Self { user, ..self }
    }
}

/// Jobs in a given order.
struct InOrder(VecDeque<u32>);

impl Candidates for InOrder {
    fn next(&mut self, _cycle: &Cycle<'_>) -> Option<u32> {
        self.0.pop_front()
    }
}

/// What a cycle decided.
#[derive(Debug, Default, PartialEq, Eq)]
struct Decided {
    started: Vec<u32>,
    reserved: Vec<(u32, i64)>,
    waiting: Vec<(u32, Refusal)>,
    not_eligible: Vec<u32>,
    /// By their places among all jobs.
    preempted: Vec<(u32, PreemptionMethod)>,
}

impl Decided {
    fn new(events: Vec<CycleEvent>) -> Self {
        let mut decided = Self::default();
        for event in events {
            match event {
                CycleEvent::Starts(job) => decided.started.push(job),
                CycleEvent::Reserved { job, start } => decided.reserved.push((job, start)),
                CycleEvent::GivesWay(job, method) => decided.preempted.push((job, method)),
                CycleEvent::Waits {
                    job,
                    refusal,
                    is_eligible,
                    ..
                } => {
                    decided.waiting.push((job, refusal));
                    if !is_eligible {
                        decided.not_eligible.push(job);
                    }
                }
            }
        }
        decided
    }
}

/// A machine, what it runs, and its rules.
struct Site {
    state: CycleState,
    rules: CycleRules,
    /// The running jobs first, then those that wait, in their order.
    jobs: Vec<CycleJob>,
    running: usize,
}

/// With strict ordering and a depth of 1, and no window.
fn site(pools: &[Vec<i64>]) -> Site {
    Site {
        state: CycleState {
            machine: Machine::new(pools),
            ..CycleState::default()
        },
        rules: CycleRules {
            strict_ordering: true,
            window: 0,
            ..CycleRules::default()
        },
        jobs: Vec::new(),
        running: 0,
    }
}

impl Site {
    /// Adds a job that runs from 0 on, in one pool.
    fn running_in(mut self, pool: u32, job: CycleJob) -> Self {
        self.jobs.push(job);
        self.running += 1;
        let index = self.jobs.len() as u32 - 1;
        let started = &self.jobs[index as usize];
        let placement = Placement::whole(pool, &started.request.chunks[0].amounts);
        self.state.machine.start(index, placement, started.walltime);
        self.state.limits.start(started);
        self
    }

    fn running(self, job: CycleJob) -> Self {
        self.running_in(0, job)
    }

    fn with(mut self, change: impl FnOnce(&mut CycleRules)) -> Self {
        change(&mut self.rules);
        self
    }

    /// Sets limits, before jobs run.
    fn limits(mut self, limits: Vec<Limit>) -> Self {
        self.state.limits = Limits::new(limits);
        self
    }

    fn machine(mut self, machine: Machine) -> Self {
        self.state.machine = machine;
        self
    }

    /// A cycle at 0 with these waiting jobs. Its decisions call the first of them 0.
    fn cycle(mut self, waiting: &[CycleJob]) -> Decided {
        self.jobs.extend_from_slice(waiting);
        let first = self.running as u32;
        let candidates = (first..self.jobs.len() as u32).collect();
        let Self {
            mut state,
            rules,
            jobs,
            ..
        } = self;
        let events = Cycle::new(0, &rules, &mut state, &jobs).run(&mut InOrder(candidates));
        let Decided {
            started,
            reserved,
            waiting,
            not_eligible,
            preempted,
        } = Decided::new(events);
        Decided {
            started: started.into_iter().map(|job| job - first).collect(),
            reserved: reserved
                .into_iter()
                .map(|(job, start)| (job - first, start))
                .collect(),
            waiting: waiting
                .into_iter()
                .map(|(job, refusal)| (job - first, refusal))
                .collect(),
            not_eligible: not_eligible.into_iter().map(|job| job - first).collect(),
            preempted,
        }
    }
}

fn limit(kind: LimitKind, most: i64) -> Limit {
    Limit {
        generic: Some(most),
        ..Limit::new(None, kind, None)
    }
}

/// No user may run a job without losing its level.
fn soft_limit() -> Limit {
    Limit {
        is_soft: true,
        ..limit(LimitKind::User, 0)
    }
}

// the job that a refusal names is counted after the running ones
const NOT_ENOUGH: Refusal = Refusal::NotEnoughFree;

#[test]
fn a_job_that_ends_as_a_reserved_one_starts_does_not_delay_it() {
    let site = || site(&[vec![4]]).running(job(2, 100));
    let decided = site().cycle(&[job(4, 50), job(2, 100)]);
    assert_eq!(
        (decided.started, decided.reserved),
        (vec![1], vec![(0, 100)])
    );
    let decided = site().cycle(&[job(4, 50), job(2, 101), job(1, 100)]);
    assert_eq!(
        decided.waiting,
        [(0, NOT_ENOUGH), (1, Refusal::DelaysReservation(1))]
    );
    assert_eq!(decided.started, [2]);
}

#[test]
fn a_job_that_fits_beside_a_reserved_one_may_take_any_time() {
    let decided =
        site(&[vec![4]])
            .running(job(2, 100))
            .cycle(&[job(3, 50), job(1, 1000), job(1, 1000)]);
    assert_eq!(
        (decided.started, decided.reserved),
        (vec![1], vec![(0, 100)])
    );
    assert_eq!(
        decided.waiting,
        [(0, NOT_ENOUGH), (2, Refusal::DelaysReservation(1))]
    );
}

#[test]
fn later_reserved_jobs_see_earlier_ones() {
    let site = site(&[vec![4]])
        .with(|rules| rules.backfill_depth = 2)
        .running(job(1, 100))
        .running(job(1, 200));
    let decided = site.cycle(&[job(3, 100), job(4, 10), job(1, 150), job(2, 100)]);
    assert_eq!(decided.reserved, [(0, 100), (1, 200)]);
    // the first one leaves nothing from 100 to 200
    assert_eq!(decided.waiting[2], (2, Refusal::DelaysReservation(2)));
    assert_eq!(decided.started, [3]);
}

#[test]
fn ends_in_one_window_are_taken_together() {
    let start = |window: i64, ends: [i64; 2]| {
        let site = site(&[vec![4]]).with(|rules| rules.window = window);
        let decided = site
            .running(job(3, ends[0]))
            .running(job(1, ends[1]))
            .cycle(&[job(3, 10)]);
        decided.reserved[0].1
    };
    assert_eq!(start(60, [100, 115]), 115);
    // a window ends with the next multiple of 60, and has it
    assert_eq!(start(60, [100, 120]), 120);
    assert_eq!(start(60, [100, 121]), 100);
    assert_eq!(start(60, [120, 179]), 179);
    assert_eq!(start(600, [100, 599]), 599);
    assert_eq!(start(1, [100, 101]), 101);
    assert_eq!(start(0, [100, 101]), 100);
}

#[test]
fn chunks_are_placed_on_hosts_one_by_one() {
    let chunks = |count: u32, processors: i64| CycleJob {
        request: chunks(&[count], &[processors]),
        ..job(0, 10)
    };
    let hosts = || site(&[vec![4], vec![4]]);
    let one = |site: Site, job: CycleJob| {
        let decided = site.cycle(&[job]);
        decided.waiting.first().map(|(_, refusal)| *refusal)
    };
    assert_eq!(one(hosts(), chunks(2, 3)), None);
    assert_eq!(one(hosts(), chunks(4, 2)), None);
    // one chunk is not split
    assert_eq!(one(hosts(), chunks(1, 5)), Some(Refusal::TooLarge));
    assert_eq!(one(hosts(), chunks(3, 3)), Some(Refusal::TooLarge));
    // 6 are free, but 3 on one host only
    assert_eq!(
        one(hosts().running_in(0, job(2, 100)), chunks(2, 3)),
        Some(Refusal::NotEnoughFree)
    );
    assert_eq!(
        one(hosts().running_in(0, job(3, 100)), chunks(2, 3)),
        Some(NOT_ENOUGH)
    );
    let mixed = CycleJob {
        request: self::chunks(&[1, 3], &[4, 1]),
        ..job(0, 10)
    };
    assert_eq!(one(hosts(), mixed.clone()), None);
    assert_eq!(
        one(hosts().running_in(1, job(2, 100)), mixed),
        Some(NOT_ENOUGH)
    );
}

/// Two hosts of two pools each.
fn vnodes(pools: [i64; 4]) -> Site {
    let machine = Machine::new(&pools.map(|processors| vec![processors]));
    site(&[]).machine(machine.with_hosts(vec![0, 0, 1, 1]))
}

#[test]
fn a_chunk_is_split_over_the_pools_of_a_host_and_not_over_hosts() {
    let refusal = |site: Site, job: CycleJob| {
        site.cycle(&[job])
            .waiting
            .first()
            .map(|(_, refusal)| *refusal)
    };
    assert_eq!(refusal(vnodes([4, 4, 2, 2]), job(8, 10)), None);
    assert_eq!(
        refusal(vnodes([4, 4, 2, 2]), job(9, 10)),
        Some(Refusal::TooLarge)
    );
    // 8 are free, 3 and 1 on the first host and 4 on the second one
    let partly = || {
        vnodes([4, 4, 2, 2])
            .running_in(0, job(1, 100))
            .running_in(1, job(3, 100))
    };
    assert_eq!(refusal(partly(), job(4, 10)), None);
    assert_eq!(refusal(partly(), job(5, 10)), Some(Refusal::NotEnoughFree));
    // twice 3 do not fit in a host of 4, and three times 2 fit: two on the first host, of which one
    // is split
    let chunks = |count: u32, processors: i64| CycleJob {
        request: chunks(&[count], &[processors]),
        ..job(0, 10)
    };
    assert_eq!(refusal(partly(), chunks(3, 3)), Some(NOT_ENOUGH));
    assert_eq!(refusal(partly(), chunks(4, 2)), None);
    assert_eq!(
        refusal(partly(), chunks(1_000_000_000, 1)),
        Some(Refusal::TooLarge)
    );
}

#[test]
fn a_split_chunk_takes_the_first_pool_before_the_next() {
    let site = vnodes([4, 4, 4, 4]);
    let placement = site.state.machine.place(&[3, 4, 4, 4], &chunks(&[1], &[5]));
    let part = |pool: u32, processors: i64| Part {
        pool,
        amounts: [processors].into(),
    };
    assert_eq!(placement, Some(Placement([part(0, 3), part(1, 2)].into())));
    // the reserved job waits for the first host's 8, so that beside it nothing is left there
    let decided = vnodes([4, 4, 2, 2]).running_in(1, job(2, 100)).cycle(&[
        job(8, 10),
        job(2, 1000),
        job(3, 1000),
    ]);
    assert_eq!(
        (decided.reserved, decided.started),
        (vec![(0, 100)], vec![1])
    );
}

#[test]
fn chunks_are_placed_in_their_lists_of_pools() {
    let mut machine = Machine::new(&[vec![4], vec![4], vec![4]]);
    machine.pool_lists = vec![vec![0, 1], vec![2], Vec::new()];
    let place = |counts: &[u32], amounts: &[i64], pool_lists: &[u32]| {
        machine.place(&[4, 4, 4], &chunks_in(pool_lists, counts, amounts))
    };
    let part = |pool: u32, processors: i64| Part {
        pool,
        amounts: [processors].into(),
    };
    assert_eq!(place(&[1], &[4], &[1]), Some(Placement::whole(2, &[4])));
    assert_eq!(
        place(&[2, 1], &[3, 2], &[0, 1]),
        Some(Placement([part(0, 3), part(1, 3), part(2, 2)].into()))
    );
    assert_eq!(place(&[2], &[3], &[1]), None);
    // nothing has what the chunk asks for
    assert_eq!(place(&[1], &[0], &[2]), None);
    let short = Shortage::Amount {
        chunk: 0,
        amount: 0,
        asked: 6,
        available: 4,
        is_on_host: false,
    };
    assert_eq!(machine.shortage(&chunks_in(&[1], &[2], &[3])), Some(short));
}

#[test]
fn what_is_short_is_the_amount_that_no_host_has() {
    // two hosts with processors and GPUs, of which the second one has two pools
    let machine = Machine::new(&[vec![8, 1], vec![2, 2], vec![2, 2]]).with_hosts(vec![0, 1, 1]);
    let shortage = |counts: &[u32], amounts: &[i64]| machine.shortage(&chunks(counts, amounts));
    assert_eq!(shortage(&[1], &[8, 1]), None);
    assert_eq!(shortage(&[1], &[4, 4]), None);
    let short = |chunk, amount, asked, available, is_on_host| {
        Some(Shortage::Amount {
            chunk,
            amount,
            asked,
            available,
            is_on_host,
        })
    };
    assert_eq!(shortage(&[1], &[1, 6]), short(0, 1, 6, 5, false));
    assert_eq!(shortage(&[1, 2], &[1, 0, 6, 0]), short(0, 0, 13, 12, false));
    assert_eq!(shortage(&[1], &[9, 0]), short(0, 0, 9, 8, true));
    assert_eq!(shortage(&[1], &[1, 5]), short(0, 1, 5, 4, true));
    // the first chunk takes the processors of the first host
    assert_eq!(shortage(&[1, 1], &[6, 0, 5, 0]), short(1, 0, 5, 4, true));
    assert_eq!(
        shortage(&[1], &[5, 2]),
        Some(Shortage::Together { chunk: 0 })
    );
    // what running jobs hold beyond what a pool has is not missing elsewhere
    let mut machine = Machine::new(&[vec![4, 0], vec![4, 2]]);
    machine.start(0, Placement::whole(0, &[8, 0]), 100);
    let found = machine.shortage_of_free(&chunks(&[1], &[4, 3]));
    assert_eq!(found, short(0, 1, 3, 2, false));
}

#[test]
fn amounts_of_several_hosts_may_be_beyond_64_bits() {
    let mut machine = Machine::new(&[vec![i64::MAX; 2], vec![i64::MAX; 2]]);
    assert_eq!([machine.total(1), machine.free(0)], [i64::MAX; 2]);
    assert_eq!(machine.shortage(&chunks(&[2], &[1, i64::MAX])), None);
    // jobs that run hold more than there is
    for job in 0..3 {
        machine.start(job, Placement::whole(0, &[i64::MAX; 2]), 100);
    }
    let lacking = machine.shortage_of_free(&chunks(&[2], &[1, i64::MAX]));
    assert!(
        matches!(lacking, Some(Shortage::Amount { amount: 1, .. })),
        "{lacking:?}"
    );
    let largest = || job(i64::MAX, 10);
    let of_user = Limit {
        amount: Some(0),
        ..limit(LimitKind::User, 5)
    };
    let site = site(&[vec![8]]).limits(vec![of_user]);
    let decided = site
        .running(largest())
        .running(largest())
        .cycle(&[job(1, 10)]);
    assert_eq!(decided.waiting, [(0, NOT_ENOUGH)]);
}

#[test]
fn walltimes_and_moments_may_be_the_largest_numbers() {
    // the end of a window of ends is beyond the largest time, and has to be reached all the same
    let decided = site(&[vec![4]])
        .with(|rules| {
            rules.strict_ordering = true;
            rules.window = 60;
        })
        .running(job(4, i64::MAX))
        .cycle(&[job(2, i64::MAX), job(1, i64::MAX)]);
    assert_eq!(decided.reserved, [(0, i64::MAX)]);
    assert!(decided.started.is_empty());
    let jobs = [job(2, i64::MAX), job(2, 1), job(1, 1)];
    let mut state = site(&[vec![4]]).state;
    let rules = CycleRules::default();
    let mut cycle = Cycle::new(i64::MAX, &rules, &mut state, &jobs);
    let events = cycle.run(&mut InOrder((0..3).collect()));
    assert_eq!(Decided::new(events).started, [0, 1]);
}

#[test]
fn a_reservation_binds_the_hosts_that_were_found() {
    // the reserved job waits for host 0; a long job may take host 1, and not host 0
    let hosts = site(&[vec![4], vec![2]]).running_in(0, job(3, 100));
    let decided = hosts.cycle(&[job(4, 10), job(2, 1000), job(1, 1000)]);
    assert_eq!(
        (decided.reserved, decided.started),
        (vec![(0, 100)], vec![1])
    );
    assert_eq!(decided.waiting[1], (2, Refusal::DelaysReservation(1)));
}

#[test]
fn all_amounts_of_a_job_must_be_free() {
    let with_gpus = |processors: i64, gpus: i64| CycleJob {
        request: chunks(&[1], &[processors, gpus]),
        ..job(0, 10)
    };
    let site = site(&[vec![8, 2]]).running(with_gpus(2, 2));
    let decided = site.cycle(&[with_gpus(1, 3), with_gpus(1, 1), with_gpus(4, 0)]);
    assert_eq!(
        decided.waiting,
        [(0, Refusal::TooLarge), (1, Refusal::NotEnoughFree)]
    );
    assert_eq!(decided.started, [2]);
}

#[test]
fn without_strict_ordering_nothing_is_reserved() {
    let site = site(&[vec![4]])
        .with(|rules| rules.strict_ordering = false)
        .running(job(2, 100));
    let decided = site.cycle(&[job(4, 50), job(2, 1000)]);
    assert_eq!((decided.started, decided.reserved), (vec![1], vec![]));
}

/// The running job has the index 0, and the waiting ones follow it.
#[test]
fn without_backfilling_the_first_job_that_does_not_start_holds_back_all() {
    let site = site(&[vec![4]])
        .with(|rules| rules.backfill_depth = 0)
        .running(job(2, 100));
    let decided = site.cycle(&[job(1, 10), job(4, 50), job(1, 10).in_queue(1)]);
    assert_eq!((decided.started, decided.reserved), (vec![0], vec![]));
    assert_eq!(
        decided.waiting,
        [(1, NOT_ENOUGH), (2, Refusal::StrictOrdering(2))]
    );
}

#[test]
fn a_job_that_can_never_run_is_not_reserved() {
    let jobs = [job(5, 10), job(4, 10), job(1, 1000)];
    let waiting = |decided: Decided| {
        decided
            .waiting
            .iter()
            .map(|(_, refusal)| *refusal)
            .collect::<Vec<_>>()
    };
    let decided = site(&[vec![4]]).running(job(2, 100)).cycle(&jobs);
    assert_eq!(decided.reserved, [(1, 100)]);
    assert_eq!(
        waiting(decided),
        [Refusal::TooLarge, NOT_ENOUGH, Refusal::DelaysReservation(2)]
    );
    // it still holds back the others where nothing is backfilled
    let decided = site(&[vec![4]])
        .with(|rules| rules.backfill_depth = 0)
        .cycle(&jobs);
    assert_eq!(
        waiting(decided),
        [
            Refusal::TooLarge,
            Refusal::StrictOrdering(0),
            Refusal::StrictOrdering(0)
        ]
    );
    let ineligible = CycleJob {
        can_be_reserved: false,
        ..job(4, 10)
    };
    let decided = site(&[vec![4]])
        .running(job(2, 100))
        .cycle(&[ineligible, job(2, 1000)]);
    assert_eq!((decided.reserved, decided.started), (vec![], vec![1]));
}

#[test]
fn a_queue_of_depth_0_holds_back_itself_where_others_are_backfilled() {
    let site = site(&[vec![4]])
        .with(|rules| rules.queue_depths = vec![Some(0)])
        .running(job(2, 100));
    let decided = site.cycle(&[job(4, 50), job(1, 10), job(1, 10).in_queue(1)]);
    assert_eq!((decided.started, decided.reserved), (vec![2], vec![]));
    assert_eq!(
        decided.waiting,
        [(0, NOT_ENOUGH), (1, Refusal::StrictOrdering(1))]
    );
}

#[test]
fn a_queue_has_a_count_of_its_own() {
    let depths = |rules: &mut CycleRules| rules.queue_depths = vec![Some(2), None];
    let site = |server: u32| {
        let site = site(&[vec![4]])
            .with(depths)
            .with(|rules| rules.backfill_depth = server);
        site.running(job(4, 100))
    };
    let jobs = [
        job(4, 10),
        job(4, 10).in_queue(1),
        job(4, 10),
        job(4, 10),
        job(4, 10).in_queue(1),
    ];
    assert_eq!(
        site(1).cycle(&jobs).reserved,
        [(0, 100), (1, 110), (2, 120)]
    );
    // the depth of a queue turns backfilling on for all: the others are neither reserved nor held
    // back
    assert_eq!(site(0).cycle(&jobs).reserved, [(0, 100), (2, 110)]);
}

/// A machine of 8 processors, on which each user may run two jobs.
fn two_for_each_user() -> Site {
    site(&[vec![8]]).limits(vec![limit(LimitKind::User, 2)])
}

#[test]
fn a_limit_counts_the_reserved_jobs_that_will_run_meanwhile() {
    let decide = |walltime: i64| {
        let site = two_for_each_user().running(job(6, 100).of_user(1));
        site.cycle(&[job(4, 50), job(1, 1000), job(1, walltime)])
    };
    assert_eq!(
        (decide(100).reserved, decide(100).started),
        (vec![(0, 100)], vec![1, 2])
    );
    assert_eq!(decide(101).waiting[1], (2, Refusal::Limit(0)));
    // a start is promised for a time at which the limit allows it
    let site = two_for_each_user()
        .with(|rules| rules.backfill_depth = 3)
        .running(job(8, 100).of_user(1));
    let decided = site.cycle(&[job(4, 50), job(2, 100), job(1, 10)]);
    assert_eq!(decided.reserved, [(0, 100), (1, 100), (2, 150)]);
}

#[test]
fn a_limit_that_ends_with_a_job_promises_a_start_then() {
    // user 0 runs one job of the one that it may run; there is room all the time
    let site = site(&[vec![8]])
        .limits(vec![limit(LimitKind::User, 1)])
        .running(job(1, 100));
    let decided = site.cycle(&[job(1, 10), job(1, 10).of_user(1)]);
    assert_eq!(decided.waiting, [(0, Refusal::Limit(0))]);
    assert_eq!(
        (decided.reserved, decided.started),
        (vec![(0, 100)], vec![1])
    );
    assert_eq!(decided.not_eligible, [0]);
}

#[test]
fn at_most_so_many_subjobs_of_an_array_run() {
    let limit = Limit {
        named: HashMap::from_iter([(7, 2)]),
        generic: None,
        ..limit(LimitKind::Subjobs, 0)
    };
    let subjob = |walltime: i64| CycleJob {
        array: Some(7),
        ..job(1, walltime)
    };
    let of_other = CycleJob {
        array: Some(8),
        ..job(1, 10)
    };
    let site = site(&[vec![8]]).limits(vec![limit]).running(subjob(100));
    let decided = site.cycle(&[subjob(10), subjob(10), of_other, job(1, 10)]);
    assert_eq!(decided.started, [0, 2, 3]);
    assert_eq!(decided.waiting, [(1, Refusal::Limit(0))]);
    // the array waits for its own subjob that ends first, and stays eligible
    assert_eq!(
        (decided.reserved, decided.not_eligible),
        (vec![(1, 10)], vec![])
    );
}

#[test]
fn a_resource_of_a_queue_is_held_by_its_jobs() {
    let of_queue = Limit {
        queue: Some(1),
        amount: Some(1),
        ..limit(LimitKind::Available, 5)
    };
    let with_licences = |licences: i64, walltime: i64| CycleJob {
        request: chunks(&[1], &[1, licences]),
        ..job(1, walltime)
    };
    let site = site(&[vec![8, 100]])
        .limits(vec![of_queue])
        .running(with_licences(3, 100).in_queue(1));
    let [large, small, long] = [
        with_licences(4, 10),
        with_licences(2, 100),
        with_licences(2, 101),
    ];
    let too_large = with_licences(6, 10).in_queue(1);
    let waiting = [
        too_large,
        large.in_queue(1),
        long.clone().in_queue(1),
        small.in_queue(1),
        long,
    ];
    let decided = site.cycle(&waiting);
    // one that asks for more than there is is not reserved; one that ends as the reserved one
    // starts does not delay it
    assert_eq!(decided.reserved, [(1, 100)]);
    assert_eq!(decided.started, [3, 4]);
    assert_eq!(
        decided
            .waiting
            .iter()
            .map(|(job, _)| *job)
            .collect::<Vec<_>>(),
        [0, 1, 2]
    );
    assert!(
        decided
            .waiting
            .iter()
            .all(|(_, refusal)| *refusal == Refusal::Limit(0))
    );
    assert!(decided.not_eligible.is_empty());
}

#[test]
fn the_first_limit_that_all_considered_jobs_would_pass_decides_eligibility() {
    // all may run 2 jobs, and each user 1: the third job passes that of all first
    let limits = || vec![limit(LimitKind::User, 1), limit(LimitKind::All, 2)];
    let jobs = [job(1, 10), job(1, 10), job(1, 10)];
    let decided = site(&[vec![8]]).limits(limits()).cycle(&jobs);
    assert_eq!((decided.started, decided.not_eligible), (vec![0], vec![1]));
}

#[test]
fn a_limit_counts_before_the_room_of_a_chunk_on_a_host() {
    // 4 are free, 2 on each host
    let hosts = site(&[vec![4], vec![4]]).limits(vec![limit(LimitKind::User, 2)]);
    let hosts = hosts.running_in(0, job(2, 100)).running_in(1, job(2, 100));
    let decided = hosts.cycle(&[job(3, 10), job(3, 10).of_user(1)]);
    assert_eq!(
        decided.waiting,
        [(0, Refusal::Limit(0)), (1, Refusal::NotEnoughFree)]
    );
    assert_eq!(decided.not_eligible, [0]);
}

#[test]
fn only_limits_of_users_groups_and_projects_stop_eligible_time() {
    let refused = |kind: LimitKind| {
        let site = site(&[vec![8]])
            .limits(vec![limit(kind, 1)])
            .running(job(1, 100));
        let decided = site.cycle(&[job(1, 10)]);
        assert_eq!(decided.waiting, [(0, Refusal::Limit(0))]);
        decided.not_eligible
    };
    for kind in [LimitKind::User, LimitKind::Group, LimitKind::Project] {
        assert_eq!(refused(kind), [0], "{kind:?}");
    }
    assert!(refused(LimitKind::All).is_empty());
}

#[test]
fn the_third_job_of_a_user_is_not_eligible_on_a_full_machine_where_two_may_run() {
    let site = two_for_each_user().running(job(8, 100).of_user(1));
    let decided = site.cycle(&[job(1, 10), job(1, 10), job(1, 10), job(1, 10).of_user(2)]);
    assert_eq!(decided.not_eligible, [2]);
}

#[test]
fn a_named_limit_replaces_the_generic_one() {
    let named = Limit {
        named: HashMap::from_iter([(0, 2)]),
        ..limit(LimitKind::User, 1)
    };
    let jobs = [
        job(1, 10),
        job(1, 10),
        job(1, 10),
        job(1, 10).of_user(1),
        job(1, 10).of_user(1),
    ];
    let decided = site(&[vec![8]])
        .limits(vec![named])
        .with(|rules| rules.strict_ordering = false)
        .cycle(&jobs);
    assert_eq!(decided.started, [0, 1, 3]);
}

#[test]
fn a_job_beyond_its_walltime_is_taken_to_end_with_the_next_second() {
    let mut overdue = site(&[vec![4]]);
    overdue.jobs.push(job(4, 100));
    overdue.running = 1;
    let machine = &mut overdue.state.machine;
    machine.start(0, Placement::whole(0, &[4]), -20);
    assert_eq!(overdue.cycle(&[job(4, 10)]).reserved, [(0, 1)]);
}

/// A random machine with its waiting jobs, which all take their walltimes.
struct Random {
    pools: Vec<Vec<i64>>,
    rules: CycleRules,
    jobs: Vec<CycleJob>,
}

fn random(generator: &mut Generator, pools: u64) -> Random {
    let amounts = 1 + generator.below(2) as usize;
    let count = 1 + generator.below(pools);
    let mut pool = || {
        (0..amounts)
            .map(|amount| 1 + generator.below(if amount == 0 { 12 } else { 3 }) as i64)
            .collect()
    };
    let pools: Vec<Vec<i64>> = (0..count).map(|_| pool()).collect();
    let chunk = |generator: &mut Generator| -> Vec<i64> {
        let most = |amount: usize| if amount == 0 { 8 } else { 2 };
        (0..amounts)
            .map(|amount| generator.below(most(amount)) as i64 + i64::from(amount == 0))
            .collect()
    };
    let jobs = (0..1 + generator.below(25)).map(|_| {
        let count = if generator.below(3) == 0 {
            1 + generator.below(2)
        } else {
            1
        };
        let counts: Vec<u32> = (0..count)
            .map(|_| {
                1 + if count > 1 {
                    generator.below(3) as u32
                } else {
                    0
                }
            })
            .collect();
        let amounts: Vec<i64> = (0..count).flat_map(|_| chunk(generator)).collect();
        CycleJob {
            request: chunks(&counts, &amounts),
            walltime: 1 + generator.below(50) as i64 * generator.pick(&[1, 1, 10]),
            ..job(0, 0)
        }
    });
    let jobs = jobs.collect();
    let backfill_depth = generator.below(5) as u32;
    let rules = CycleRules {
        strict_ordering: true,
        backfill_depth,
        window: 0,
        ..CycleRules::default()
    };
    Random { pools, rules, jobs }
}

impl Random {
    /// The machine; some hosts have two pools.
    fn machine(&self) -> Machine {
        let hosts = (0..self.pools.len() as u32).map(|pool| if pool < 2 { 0 } else { pool });
        Machine::new(&self.pools).with_hosts(hosts.collect())
    }

    /// Runs cycle after cycle, each at the next end of a job. `after` gets each cycle's time, its
    /// decisions and the machine.
    fn run(&self, mut after: impl FnMut(i64, &Decided, &Machine)) {
        let Self { rules, jobs, .. } = self;
        let mut state = CycleState {
            machine: self.machine(),
            ..CycleState::default()
        };
        let mut waiting: Vec<u32> = (0..jobs.len() as u32).collect();
        let mut now = 0;
        loop {
            let candidates = &mut InOrder(waiting.iter().copied().collect());
            let events = Cycle::new(now, rules, &mut state, jobs).run(candidates);
            let decided = Decided::new(events);
            after(now, &decided, &state.machine);
            waiting.retain(|job| !decided.started.contains(job));
            match state.machine.end_next(|_| {}) {
                Some(time) => now = time,
                None => return,
            }
        }
    }
}

#[test]
fn nothing_is_placed_beyond_what_is_free() {
    let mut generator = Generator(3);
    for _ in 0..500 {
        let case = random(&mut generator, 4);
        case.run(|_, _, machine| {
            let free = &machine.free;
            let total: Vec<i64> = case.pools.concat();
            assert!(
                free.iter()
                    .zip(&total)
                    .all(|(free, total)| (0..=*total).contains(free)),
                "{free:?} of {total:?}"
            );
        });
    }
}

#[test]
fn every_job_that_fits_on_the_machine_starts_once() {
    let mut generator = Generator(4);
    for _ in 0..500 {
        let mut case = random(&mut generator, 4);
        // without backfilling a job that can never run holds back all behind it for ever
        case.rules.backfill_depth += 1;
        let mut started = Vec::new();
        case.run(|_, decided, _| started.extend_from_slice(&decided.started));
        let machine = case.machine();
        let can_run = |job: &u32| machine.can_ever_run(&case.jobs[*job as usize].request);
        let expected: Vec<u32> = (0..case.jobs.len() as u32).filter(can_run).collect();
        started.sort_unstable();
        assert_eq!(started, expected);
    }
}

/// On one pool, with windows of one moment, each cycle finds the same starts again.
#[test]
fn promises_are_kept_where_every_job_takes_its_walltime() {
    let mut generator = Generator(5);
    let mut promises = 0;
    for _ in 0..500 {
        let case = random(&mut generator, 1);
        let mut promised: HashMap<u32, i64> = HashMap::new();
        case.run(|now, decided, _| {
            for &(job, start) in &decided.reserved {
                promises += 1;
                assert_eq!(
                    *promised.entry(job).or_insert(start),
                    start,
                    "{job} at {now}"
                );
            }
            for job in &decided.started {
                assert!(
                    promised.get(job).is_none_or(|start| *start == now),
                    "{job} at {now}"
                );
            }
        });
    }
    assert!(promises > 2000, "{promises}");
}

/// Ten in prime time, ten outside it, and so on.
fn times(queues: &[QueueTime]) -> Times {
    Times {
        begins_in_prime: true,
        prime_changes: vec![10, 20, 30],
        queues: queues.to_vec(),
        ..Times::default()
    }
}

#[test]
fn a_queue_outside_of_its_time_holds_back_no_other_and_is_promised_nothing() {
    let site = site(&[vec![4]])
        .with(|rules| rules.backfill_depth = 0)
        .with(|rules| rules.times = times(&[QueueTime::NonPrime, QueueTime::Prime]));
    let decided = site.cycle(&[job(8, 5), job(4, 5).in_queue(1)]);
    assert_eq!(decided.started, [1]);
    assert_eq!(
        decided.waiting,
        [(0, Refusal::Time("will run in non-prime time only"))]
    );
    assert_eq!((decided.reserved, decided.not_eligible), (vec![], vec![]));
}

#[test]
fn a_promised_start_is_at_a_time_that_is_long_enough() {
    let crossing = |walltime: i64, spill: i64, kind: QueueTime| {
        let site = site(&[vec![4]]).running(job(1, 5)).with(|rules| {
            rules.times = Times {
                dedicated: std::iter::once(45..50).collect(),
                backfill_prime: ByTime::always(true),
                prime_spill: ByTime::always(spill),
                ..times(&[kind])
            };
        });
        let decided = site.cycle(&[job(4, walltime)]);
        decided.reserved.first().map(|&(_, start)| start)
    };
    // it ends before the border, and not at it
    assert_eq!(crossing(4, 0, QueueTime::Ordinary), Some(5));
    assert_eq!(crossing(5, 0, QueueTime::Ordinary), Some(10));
    assert_eq!(crossing(5, 1, QueueTime::Ordinary), Some(5));
    // from 30 on there is no further border but dedicated time, at which a job may end
    assert_eq!(crossing(15, 0, QueueTime::Ordinary), Some(30));
    assert_eq!(crossing(16, 0, QueueTime::Ordinary), Some(50));
    assert_eq!(crossing(5, 0, QueueTime::Prime), Some(20));
    assert_eq!(crossing(5, 0, QueueTime::Reservation), Some(5));
}

/// Queue 0 is an express queue, the others are not.
fn levels() -> PreemptionLevels {
    PreemptionLevels {
        is_preemptive: true,
        levels: PreemptionLevels::read_levels("express_queue, normal_jobs, server_softlimits"),
        express_priority: 150,
        queue_priorities: vec![200, 0, 0],
        methods: PreemptionLevels::read_order("SCR"),
        ..PreemptionLevels::default()
    }
}

/// Two normal jobs of 2 processors run on 4; an express job arrives that needs one of them.
fn express(change: impl FnOnce(&mut PreemptionLevels, &mut [CycleJob; 3])) -> Decided {
    let normal = |place| CycleJob {
        place,
        ..job(2, 100).in_queue(1)
    };
    let mut levels = levels();
    let mut jobs = [normal(0), normal(1), job(2, 50)];
    change(&mut levels, &mut jobs);
    let [first, second, express] = jobs;
    site(&[vec![4]])
        .running(first)
        .running(second)
        .with(|rules| rules.levels = levels)
        .cycle(&[express])
}

#[test]
fn of_jobs_that_started_together_the_first_in_the_order_gives_way() {
    use PreemptionMethod::{Delete, Requeue, Suspend};

    assert_eq!(express(|_, _| {}).preempted, [(0, Suspend)]);
    let order = |_: &mut PreemptionLevels, jobs: &mut [CycleJob; 3]| jobs[0].place = 9;
    assert_eq!(express(order).preempted, [(1, Suspend)]);
    let latest = |_: &mut PreemptionLevels, jobs: &mut [CycleJob; 3]| jobs[1].started = Some(-5);
    assert_eq!(express(latest).preempted, [(1, Suspend)]);
    // what a job has used of its walltime decides the method
    let by_used = |levels: &mut PreemptionLevels, jobs: &mut [CycleJob; 3]| {
        levels.methods = PreemptionLevels::read_order("S 70 R 20 D");
        jobs[0].used = Some(31);
    };
    assert_eq!(express(by_used).preempted, [(0, Requeue)]);
    let not_rerunable = |levels: &mut PreemptionLevels, jobs: &mut [CycleJob; 3]| {
        levels.methods = PreemptionLevels::read_order("RD");
        jobs[0].is_rerunable = false;
    };
    assert_eq!(express(not_rerunable).preempted, [(0, Delete)]);
    let only_requeued = |levels: &mut PreemptionLevels, jobs: &mut [CycleJob; 3]| {
        levels.methods = PreemptionLevels::read_order("R");
        jobs[0].is_rerunable = false;
    };
    assert_eq!(express(only_requeued).preempted, [(1, Requeue)]);
    let targets =
        |_: &mut PreemptionLevels, jobs: &mut [CycleJob; 3]| jobs[2].targets = Some([1].into());
    assert_eq!(express(targets).preempted, [(1, Suspend)]);
    let no_targets =
        |_: &mut PreemptionLevels, jobs: &mut [CycleJob; 3]| jobs[2].targets = Some([].into());
    assert_eq!(express(no_targets).preempted, []);
    let not_preemptive =
        |levels: &mut PreemptionLevels, _: &mut [CycleJob; 3]| levels.is_preemptive = false;
    assert_eq!(express(not_preemptive).preempted, []);
}

#[test]
fn of_the_entries_that_hold_the_one_with_most_statuses_counts_and_then_the_first() {
    let highest = |text: &str| {
        let levels = PreemptionLevels {
            levels: PreemptionLevels::read_levels(text),
            ..levels()
        };
        site(&[vec![2]])
            .limits(vec![soft_limit()])
            .running(job(2, 100).in_queue(1))
            .with(|rules| rules.levels = levels)
            .cycle(&[job(2, 50)])
            .preempted
    };
    let given_way = [(0, PreemptionMethod::Suspend)];
    assert_eq!(highest("express_queue, normal_jobs"), given_way);
    assert_eq!(highest("normal_jobs, express_queue"), []);
    // an entry with an unknown word does not count
    assert_eq!(highest("express_queue+unknown, normal_jobs"), []);
}

#[test]
fn suspended_jobs_are_promised_a_start_beyond_the_depth_where_they_were() {
    let suspended = |job: u32, pool: u32, left: i64| {
        let suspended = SuspendedJob {
            placement: Placement::whole(pool, &[4]),
            released: Placement::whole(pool, &[4]),
            left,
        };
        (job, suspended)
    };
    let decide = |enforces_resumption: bool| {
        let mut site = site(&[vec![4], vec![4]])
            .running_in(0, job(4, 30))
            .running_in(1, job(4, 20))
            .with(|rules| {
                rules.levels = PreemptionLevels {
                    enforces_resumption,
                    ..levels()
                };
            });
        site.state.suspended = [suspended(2, 0, 10), suspended(3, 0, 10)].into();
        site.state.preempted = [(2, i64::MIN), (3, i64::MIN)].into();
        let normal = |walltime| job(4, walltime).in_queue(1);
        site.cycle(&[normal(50), normal(50), normal(7)]).reserved
    };
    // the first goes on where it was, the second after its whole walltime
    assert_eq!(decide(false), [(0, 30), (1, 80)]);
    assert_eq!(decide(true), [(0, 30), (1, 80), (2, 20)]);
}

#[test]
fn a_suspended_job_keeps_what_it_does_not_give_back() {
    let large = CycleJob {
        request: chunks(&[1], &[2, 3]),
        ..job(2, 50)
    };
    let running = CycleJob {
        request: chunks(&[1], &[4, 2]),
        ..job(4, 100).in_queue(1)
    };
    let decide = |released: Option<Vec<usize>>| {
        let site = site(&[vec![4, 4]]).running(running.clone()).with(|rules| {
            rules.levels = PreemptionLevels {
                released,
                ..levels()
            };
        });
        site.cycle(std::slice::from_ref(&large)).started
    };
    assert_eq!(decide(None), [0]);
    assert!(decide(Some(vec![0])).is_empty());
}

#[test]
fn a_job_of_a_class_of_which_one_did_not_start_does_not_start_either() {
    let decide = |class: Option<u32>| {
        let site = site(&[vec![4]])
            .running(job(2, 100).in_queue(1))
            .running(job(2, 100).in_queue(1))
            .with(|rules| {
                rules.strict_ordering = false;
                rules.levels = levels();
            });
        // the second job preempts one, which leaves room for the third one
        let normal = || CycleJob {
            class,
            ..job(1, 50).in_queue(1)
        };
        site.cycle(&[normal(), job(1, 50), normal()]).started
    };
    assert_eq!(decide(None), [1, 2]);
    assert_eq!(decide(Some(7)), [1]);
}

#[test]
fn without_preemption_soft_limits_are_compared_when_a_job_starts() {
    let decide = |running: CycleJob, is_preemptive: bool| {
        let site = site(&[vec![4]]).limits(vec![soft_limit()]);
        let site = site.running(running).with(|rules| {
            rules.strict_ordering = false;
            rules.levels = PreemptionLevels {
                is_preemptive,
                ..levels()
            };
        });
        let waiting = [job(1, 50).in_queue(1).of_user(1), job(8, 50).in_queue(1)];
        site.cycle(&waiting).not_eligible
    };
    assert_eq!(decide(job(1, 100), true), [1]);
    assert!(decide(job(1, 100), false).is_empty());
}

#[test]
fn vnodes_that_were_passed_over_for_a_whole_chunk_hold_no_part_of_another_one() {
    // the first two chunks fit on one vnode each, and the third one would need both
    let decide = |chunks: u32| {
        let machine = Machine::new(&[vec![3], vec![3]]);
        let site = site(&[]).machine(machine.with_hosts(vec![0, 0]));
        let request = CycleJob {
            request: self::chunks(&[chunks], &[2]),
            ..job(2, 10)
        };
        site.cycle(&[request]).started
    };
    assert_eq!(decide(2), [0]);
    assert!(decide(3).is_empty());
}

/// A value that is not a number equals every other one, which is no order: the sort of the standard
/// library may panic.
#[test]
fn values_that_are_not_numbers_are_sorted_as_the_scheduler_does() {
    for step in 2..9 {
        let mut jobs = Vec::new();
        for index in 0..200 {
            jobs.push(CycleJob {
                value: if index % step == 0 {
                    f64::NAN
                } else {
                    f64::from(index * 7919 % 1009)
                },
                place_among_equals: index,
                ..job(1, 10)
            });
        }
        let order = QueueOrder {
            chooses_queue_first: true,
            ..QueueOrder::default()
        };
        order.set_places_of_running(&mut jobs, (0..200).collect(), &SharePaths::default());
        let mut candidates = SortedCandidates::new(&order, &jobs, 0..200, SharePaths::default());
        let mut state = site(&[vec![200]]).state;
        let rules = CycleRules::default();
        let events = Cycle::new(0, &rules, &mut state, &jobs).run(&mut candidates);
        assert_eq!(Decided::new(events).started.len(), 200);
    }
}

#[test]
fn the_priority_of_an_express_queue_may_be_the_largest_number() {
    let levels = PreemptionLevels {
        is_preemptive: true,
        levels: PreemptionLevels::read_levels("express_queue, normal_jobs"),
        express_priority: 150,
        queue_priorities: vec![i64::MAX],
        ..PreemptionLevels::default()
    };
    let decided = site(&[vec![1]])
        .with(|rules| rules.levels = levels)
        .cycle(&[job(1, 10), job(1, 10)]);
    assert_eq!(decided.started, [0]);
}
