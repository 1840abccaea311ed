//! The processors and other amounts of a machine: what is free now, what becomes free when, and how
//! the chunks of a job are placed (`place`): on which hosts and vnodes together, and beside which
//! other jobs.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// The amounts that jobs hold, such as processors and GPUs, pool by pool. A pool is a vnode, or a
/// whole machine.
///
/// All amounts are counted in the same order in the machine and in the requests of jobs; the first
/// one is processors.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    /// The number of amounts in a pool.
    pub amounts: usize,
    /// Pool by pool, the amounts that exist.
    pub(super) total: Vec<i64>,
    /// Pool by pool, the amounts that are free now. Below 0 where running jobs hold more than there
    /// is.
    pub(super) free: Vec<i64>,
    /// Pool by pool, its host. A chunk may be split over the pools of one host.
    hosts: Vec<u32>,
    /// Whether each pool is a host.
    are_pools_hosts: bool,
    /// The lists of pools that a chunk may be placed in, in the order in which they are tried; the
    /// last one is also that of all beyond. The pools of a host follow each other.
    pub pool_lists: Vec<Vec<u32>>,
    /// Pool by pool, whether it is shared; empty if no job has a pool for itself. Else the last
    /// amount of each pool has to be [`Self::UNOCCUPIED`]: of it a job takes all where it has the
    /// pool for itself, else 1.
    pub sharing: Vec<Sharing>,
    /// The placement sets that jobs are placed in.
    pub placement_sets: Vec<PlacementSets>,
    /// How pools are ordered before each job is placed; empty if they are in their order.
    pub pool_order: Vec<PoolOrder>,
    /// The running jobs in the order in which their walltimes end.
    pub(super) ends: Vec<Event>,
    /// The advance reservations that have not begun, the first one first.
    pub advance: Vec<AdvanceReservation>,
}

/// What is short of what a job asks for. The chunk is the first one that is concerned, by its
/// index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// An amount: all pools in which chunks like this one may be placed have less of it than the
    /// job asks for there, or no host has as much of it as the chunk asks for.
    Amount {
        /// The chunk.
        chunk: usize,
        /// The amount.
        amount: usize,
        /// What is asked for.
        asked: i64,
        /// What there is, or the most that a host has.
        available: i64,
        /// Whether it is what one host has.
        is_on_host: bool,
    },
    /// Hosts have each amount, but none has all that the chunk asks for.
    Together {
        /// The chunk.
        chunk: usize,
    },
    /// There is room, but not as the job asks for it (`place`), or not in one placement set.
    Placing,
}

/// Where a job runs: what it holds of which pools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement(pub Arc<[Part]>);

impl Placement {
    /// In one pool.
    pub fn whole(pool: u32, amounts: &[i64]) -> Self {
        let amounts = amounts.into();
        Self(Arc::new([Part { pool, amounts }]))
    }

    pub(super) fn pools(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|part| part.pool)
    }

    /// Whether two jobs are in the same pool.
    pub(super) fn shares_pool(&self, other: &Self) -> bool {
        self.pools()
            .any(|pool| other.pools().any(|other| other == pool))
    }

    /// The same place with these of the amounts alone.
    pub(super) fn with_amounts(&self, kept: &[usize]) -> Self {
        let mut parts = self.0.to_vec();
        for Part { amounts, .. } in &mut parts {
            for (index, amount) in amounts.iter_mut().enumerate() {
                if !kept.contains(&index) {
                    *amount = 0;
                }
            }
        }
        Self(parts.into())
    }
}

/// What a job holds of one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The pool.
    pub pool: u32,
    /// The amounts.
    pub amounts: Box<[i64]>,
}

/// When what is free changes: a job ends as far as its walltime tells, or starts as it is promised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) time: i64,
    pub(super) is_start: bool,
    pub(super) job: u32,
    pub(super) placement: Placement,
}

impl Event {
    fn key(&self) -> (i64, u32) {
        (self.time, self.job)
    }

    /// How often the job holds from then on what it asks for, compared with before.
    pub(super) fn held(&self) -> i64 {
        if self.is_start { 1 } else { -1 }
    }
}

/// An advance reservation that has not begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdvanceReservation {
    /// Its index among the jobs.
    pub job: u32,
    /// When it starts.
    pub start: i64,
    /// When it ends.
    pub end: i64,
    /// What it has from its start on.
    pub placement: Placement,
}

/// What a job asks for: chunks, each of which is placed on one host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Request {
    /// The chunks.
    pub chunks: Vec<RequestedChunk>,
    /// How the chunks are spread, and beside which other jobs.
    pub placing: Placing,
    /// What is asked for in all of the amounts that limits count, by
    /// [`Limit::amount`](super::Limit::amount).
    pub counted: Vec<i64>,
}

impl Request {
    /// One chunk of these amounts, which limits count as they are, in a list of pools.
    pub fn of_one_chunk(amounts: Vec<i64>, pool_list: u32) -> Self {
        Self {
            counted: amounts.clone(),
            chunks: vec![RequestedChunk {
                count: 1,
                amounts,
                pool_list,
            }],
            placing: Placing::default(),
        }
    }

    /// All that the job asks for of one amount.
    pub fn total(&self, amount: usize) -> i64 {
        self.total_of(None, amount)
    }

    /// All that the chunks of one list of pools, or of all, ask for of one amount.
    fn total_of(&self, pool_list: Option<u32>, amount: usize) -> i64 {
        let mut total: i64 = 0;
        for chunk in &self.chunks {
            if pool_list.is_none() || pool_list == Some(chunk.pool_list) {
                let asked = chunk.amounts[amount].saturating_mul(chunk.count.into());
                total = total.saturating_add(asked);
            }
        }
        total
    }
}

/// Chunks that are alike.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RequestedChunk {
    /// How many are asked for.
    pub count: u32,
    /// The amounts of one of them.
    pub amounts: Vec<i64>,
    /// The pools in which each may be placed, by the index of their list, see
    /// [`Machine::pool_lists`].
    pub pool_list: u32,
}

impl Machine {
    /// The last amount of a pool on which no job is, where jobs may have pools for themselves.
    // more than jobs that share a pool, each of which takes 1, so that some of it is always left
    pub const UNOCCUPIED: i64 = 1 << 40;

    /// A machine of these pools, each with its amounts and a host of its own. Every chunk may be
    /// placed in each.
    pub fn new(pools: &[Vec<i64>]) -> Self {
        let amounts = pools.first().map_or(1, Vec::len);
        let total = pools.concat();
        let all: Vec<u32> = (0..pools.len() as u32).collect();
        let free = total.clone();
        Self {
            amounts,
            free,
            total,
            hosts: all.clone(),
            are_pools_hosts: true,
            pool_lists: vec![all],
            ..Self::default()
        }
    }

    /// Sets the host of each pool. The pools of a host follow each other.
    #[must_use]
    pub fn with_hosts(self, hosts: Vec<u32>) -> Self {
        let are_pools_hosts = hosts.windows(2).all(|pair| pair[0] != pair[1]);
        Self {
            hosts,
            are_pools_hosts,
            ..self
        }
    }

    /// The number of pools.
    pub fn pools(&self) -> usize {
        self.total.len() / self.amounts
    }

    /// All of an amount that the machine has.
    pub fn total(&self, amount: usize) -> i64 {
        self.sum(&self.total, amount)
    }

    /// What is free of an amount.
    pub fn free(&self, amount: usize) -> i64 {
        self.sum(&self.free, amount)
    }

    fn sum(&self, pools: &[i64], amount: usize) -> i64 {
        let mut sum: i64 = 0;
        // what a file says of each node may be the largest number
        for of_pool in pools.iter().skip(amount).step_by(self.amounts) {
            sum = sum.saturating_add(*of_pool);
        }
        sum
    }

    /// All that the first pools have of an amount, and what is free of it.
    pub fn of_first_pools(&self, pools: usize, amount: usize) -> [i64; 2] {
        let end = self.total.len().min(pools * self.amounts);
        [&self.total, &self.free].map(|all| self.sum(&all[..end], amount))
    }

    /// Where a running job is.
    pub fn placement(&self, job: u32) -> Option<&Placement> {
        let end = self.ends.iter().find(|end| end.job == job)?;
        Some(&end.placement)
    }

    /// The advance reservations whose time has come hold what they have until their ends.
    pub fn begin_reservations(&mut self, now: i64) {
        let begun = self.advance.partition_point(|one| one.start <= now);
        let later = self.advance.split_off(begun);
        for begun in std::mem::replace(&mut self.advance, later) {
            if begun.end > now {
                self.start(begun.job, begun.placement, begun.end);
            }
        }
    }

    /// Whether a job fits on the machine while nothing else runs.
    pub fn can_ever_run(&self, request: &Request) -> bool {
        self.place(&self.total, request).is_some()
    }

    /// What is short of what a job asks for, of all that there is; `None` if it has room.
    pub fn shortage(&self, request: &Request) -> Option<Shortage> {
        self.shortage_in(&self.total, request)
    }

    /// What is short of what a job asks for, of what is free; `None` if it has room.
    pub fn shortage_of_free(&self, request: &Request) -> Option<Shortage> {
        self.shortage_in(&self.free, request)
    }

    fn shortage_in(&self, available: &[i64], request: &Request) -> Option<Shortage> {
        let lacking = self.lacking(available, request);
        if lacking.is_some() {
            return lacking;
        }
        let mut left = available.to_vec();
        // without the `place`, to tell a lack of room from an arrangement that cannot be had
        if let Err(chunk) = self.place_chunks(&mut left, request, Arrangement::Free, &|_| true) {
            return Some(self.shortage_of_chunk(&left, chunk, &request.chunks[chunk]));
        }
        match self.place(available, request) {
            Some(_) => None,
            None => Some(Shortage::Placing),
        }
    }

    /// The first amount of which the pools of a chunk together have less than is asked for.
    pub(super) fn lacking(&self, available: &[i64], request: &Request) -> Option<Shortage> {
        for amount in 0..self.amounts {
            for (chunk, wanted) in request.chunks.iter().enumerate() {
                let list = wanted.pool_list;
                // chunks with the same list have to share its pools
                let asked = request.total_of(Some(list), amount);
                let available = self.available_in(available, self.pool_list(list), amount);
                if available < asked {
                    return Some(Shortage::Amount {
                        chunk,
                        amount,
                        asked,
                        available,
                        is_on_host: false,
                    });
                }
            }
        }
        None
    }

    /// What is short for a chunk for which no host has room.
    fn shortage_of_chunk(
        &self,
        available: &[i64],
        chunk: usize,
        wanted: &RequestedChunk,
    ) -> Shortage {
        let pools = self.pool_list(wanted.pool_list);
        for (amount, &asked) in wanted.amounts.iter().enumerate() {
            let mut most = 0;
            for host in self.hosts_of(pools) {
                most = most.max(self.available_in(available, host, amount));
            }
            if most < asked {
                return Shortage::Amount {
                    chunk,
                    amount,
                    asked,
                    available: most,
                    is_on_host: true,
                };
            }
        }
        Shortage::Together { chunk }
    }

    /// What pools have of an amount.
    fn available_in(&self, available: &[i64], pools: &[u32], amount: usize) -> i64 {
        let mut sum: i64 = 0;
        for &pool in pools {
            // where running jobs hold more than a pool has, nothing is missing in the others
            sum = sum.saturating_add(self.of_pool(available, pool)[amount].max(0));
        }
        sum
    }

    /// Places a job where this much is available: each chunk on the first host, in the order of the
    /// pools, that has room.
    pub(super) fn place(&self, available: &[i64], request: &Request) -> Option<Placement> {
        // for one chunk in one pool nothing has to be copied
        if self.are_pools_hosts
            && let [chunk] = &*request.chunks
            && chunk.count == 1
            && self.sharing.is_empty()
            && self.pool_order.is_empty()
            && request.placing.sets.is_none()
        {
            let mut pools = self.pool_list(chunk.pool_list).iter();
            let pool = pools.find(|&&pool| has_room(self.of_pool(available, pool), &chunk.amounts));
            return Some(Placement::whole(*pool?, &chunk.amounts));
        }
        if let Some(sets) = request.placing.sets {
            let sets = &self.placement_sets[sets as usize];
            let place_in_set = |available: &[i64]| {
                let mut sets = sets.sets.iter();
                sets.find_map(|set| self.place_among(available, request, Some(set)))
            };
            let placed = place_in_set(available);
            // a job that a set could hold waits for that
            if placed.is_some() || !sets.may_span || place_in_set(&self.total).is_some() {
                return placed;
            }
        }
        self.place_among(available, request, None)
    }

    /// Places a job in the pools of a set, as it asks for it.
    fn place_among(
        &self,
        available: &[i64],
        request: &Request,
        set: Option<&Vec<bool>>,
    ) -> Option<Placement> {
        let is_open = |pool: u32| {
            set.is_none_or(|set| set[pool as usize]) && self.is_open(available, request, pool)
        };
        let arrangement = request.placing.arrangement;
        if arrangement != Arrangement::Pack {
            let parts = self.place_chunks(&mut available.to_vec(), request, arrangement, &is_open);
            return Some(self.occupied(parts.ok()?, request));
        }
        let mut hosts = self.hosts.clone();
        // enough, because the pools of a host follow each other
        hosts.dedup();
        for host in hosts {
            let is_open = |pool: u32| self.hosts[pool as usize] == host && is_open(pool);
            let mut left = available.to_vec();
            if let Ok(parts) = self.place_chunks(&mut left, request, arrangement, &is_open) {
                return Some(self.occupied(parts, request));
            }
        }
        None
    }

    /// Whether a job may be in a pool beside those that are there, of which each has taken a part of
    /// its last amount.
    fn is_open(&self, available: &[i64], request: &Request, pool: u32) -> bool {
        let occupation_left = |pool: u32| self.of_pool(available, pool)[self.amounts - 1];
        match self.alone(request, pool) {
            None => true,
            Some(Exclusive::Vnode) => occupation_left(pool) == Self::UNOCCUPIED,
            Some(Exclusive::Host) => {
                let mut pools = self.pools_of_host(pool);
                pools.all(|pool| occupation_left(pool) == Self::UNOCCUPIED)
            }
            // a job that has the pool for itself has taken all of this amount
            Some(_) => occupation_left(pool) > 0,
        }
    }

    /// What a job has for itself in a pool; `None` if no job has any pool for itself.
    fn alone(&self, request: &Request, pool: u32) -> Option<Exclusive> {
        let sharing = self.sharing.get(pool as usize)?;
        Some(sharing.alone(request.placing.exclusive))
    }

    fn pools_of_host(&self, pool: u32) -> impl Iterator<Item = u32> {
        (0..self.hosts.len() as u32).filter(move |&other| self.is_same_host(pool, other))
    }

    /// The parts of a job with what it has for itself.
    pub fn occupied(&self, mut parts: Vec<Part>, request: &Request) -> Placement {
        if self.sharing.is_empty() {
            return Placement(parts.into());
        }
        let mut taken: Vec<(u32, i64)> = Vec::new();
        for part in &parts {
            match self.alone(request, part.pool) {
                Some(Exclusive::Host) => {
                    let pools = self.pools_of_host(part.pool);
                    taken.extend(pools.map(|pool| (pool, Self::UNOCCUPIED)));
                }
                Some(Exclusive::Vnode) => taken.push((part.pool, Self::UNOCCUPIED)),
                _ => taken.push((part.pool, 1)),
            }
        }
        // of a pool that several parts take the largest, which comes first
        taken.sort_unstable_by_key(|&(pool, amount)| (pool, Reverse(amount)));
        taken.dedup_by_key(|(pool, _)| *pool);
        for (pool, amount) in taken {
            let mut amounts = vec![0; self.amounts];
            amounts[self.amounts - 1] = amount;
            parts.push(Part {
                pool,
                amounts: amounts.into(),
            });
        }
        Placement(parts.into())
    }

    /// Takes from what is available what a job asks for, chunk by chunk, in the pools that are open
    /// to it; the error is the index of a chunk that has no room.
    fn place_chunks(
        &self,
        available: &mut [i64],
        request: &Request,
        arrangement: Arrangement,
        is_open: &dyn Fn(u32) -> bool,
    ) -> Result<Vec<Part>, usize> {
        let before = available.to_vec();
        let mut parts: Vec<Part> = Vec::new();
        let mut open: Vec<u32> = Vec::new();
        let is_single = matches!(arrangement, Arrangement::Scatter | Arrangement::Vscatter);
        for (index, chunk) in request.chunks.iter().enumerate() {
            let mut count = i64::from(chunk.count);
            // nodes are sorted after each start, and not between the chunks of a job
            let pools = self.in_order(self.pool_list(chunk.pool_list), &before);
            for host in self.hosts_of(&pools) {
                if count == 0 {
                    break;
                }
                open.clear();
                for &pool in host {
                    let is_used = parts.iter().any(|part| match arrangement {
                        Arrangement::Scatter => self.is_same_host(part.pool, pool),
                        Arrangement::Vscatter => part.pool == pool,
                        Arrangement::Free | Arrangement::Pack => false,
                    });
                    if !is_used && is_open(pool) {
                        open.push(pool);
                    }
                }
                let mut passed_over = Vec::new();
                let groups = match arrangement {
                    Arrangement::Vscatter => open.chunks(1),
                    _ => open.chunks(open.len().max(1)),
                };
                for pools in groups {
                    while count > 0
                        && let Some(mut placed) =
                            self.place_chunk(available, pools, &chunk.amounts, &mut passed_over)
                    {
                        // a chunk may be asked for millions of times, so that all that fit in a
                        // place are placed at once
                        let mut copies = if is_single { 1 } else { count };
                        for part in &placed {
                            let available = self.of_pool(available, part.pool);
                            copies = copies.min(fitting(available, &part.amounts));
                        }
                        count -= copies;
                        for Part { pool, amounts } in &mut placed {
                            for amount in &mut **amounts {
                                *amount *= copies;
                            }
                            add(&mut available[self.range(*pool)], amounts, -1);
                        }
                        parts.append(&mut placed);
                        if is_single {
                            break;
                        }
                    }
                }
            }
            if count > 0 {
                return Err(index);
            }
        }
        Ok(parts)
    }

    /// Pools in the order in which a job is placed in them; those of a host follow its first one.
    fn in_order<'p>(&self, pools: &'p [u32], available: &[i64]) -> Cow<'p, [u32]> {
        if self.pool_order.is_empty() {
            return Cow::Borrowed(pools);
        }
        let mut sorted = pools.to_vec();
        sorted.sort_by_cached_key(|&pool| {
            let unused = self.of_pool(available, pool);
            let mut values = Vec::with_capacity(self.pool_order.len());
            for key in &self.pool_order {
                let value = match &key.value {
                    PoolValue::Fixed(values) => values[pool as usize],
                    PoolValue::Unused(amount) => unused[*amount],
                    PoolValue::Assigned(amount) => {
                        self.of_pool(&self.total, pool)[*amount] - unused[*amount]
                    }
                };
                values.push(if key.is_high_first {
                    value.saturating_neg()
                } else {
                    value
                });
            }
            values
        });
        let mut first_of_host: HashMap<u32, usize> = HashMap::new();
        for (place, &pool) in sorted.iter().enumerate() {
            let host = self.hosts[pool as usize];
            first_of_host.entry(host).or_insert(place);
        }
        sorted.sort_by_key(|&pool| first_of_host[&self.hosts[pool as usize]]);
        Cow::Owned(sorted)
    }

    /// Places a chunk on a host: in the first of its pools that holds all of it, else of each amount
    /// as much as there is in its pools, one after the other. Pools that were passed over for
    /// another one get no part of a chunk of the same kind either.
    fn place_chunk(
        &self,
        available: &[i64],
        host: &[u32],
        amounts: &[i64],
        passed_over: &mut Vec<u32>,
    ) -> Option<Vec<Part>> {
        for (place, &pool) in host.iter().enumerate() {
            if has_room(self.of_pool(available, pool), amounts) {
                passed_over.extend(&host[..place]);
                let amounts = amounts.into();
                return Some(vec![Part { pool, amounts }]);
            }
        }
        let mut lacking = amounts.to_vec();
        let mut parts = Vec::new();
        for &pool in host {
            if passed_over.contains(&pool) {
                continue;
            }
            let mut amounts: Box<[i64]> = lacking.clone().into();
            for (amount, &room) in amounts.iter_mut().zip(self.of_pool(available, pool)) {
                *amount = (*amount).min(room.max(0));
            }
            add(&mut lacking, &amounts, -1);
            if !is_zero(&amounts) {
                parts.push(Part { pool, amounts });
            }
        }
        if parts.is_empty() || !is_zero(&lacking) {
            return None;
        }
        Some(parts)
    }

    /// Whether there is as much as a job takes in a certain place.
    pub(super) fn holds(&self, available: &[i64], placement: &Placement) -> bool {
        let mut left = available.to_vec();
        change(&mut left, self.amounts, placement, -1);
        let mut pairs = left.iter().zip(available);
        // it takes nothing of the other amounts, which may be below 0
        pairs.all(|(left, before)| left == before || *left >= 0)
    }

    /// Pool by pool, whether a chunk of a job could be placed there if nothing else was. A chunk may
    /// be split over the pools of a host, so that only their kind counts there.
    pub(super) fn usable_pools(&self, request: &Request) -> Vec<bool> {
        let mut usable = vec![false; self.hosts.len()];
        for chunk in &request.chunks {
            for &pool in self.pool_list(chunk.pool_list) {
                let room = self.of_pool(&self.total, pool);
                // the other pools of its host may have the rest of the chunk
                usable[pool as usize] |= self.shares_host(pool) || has_room(room, &chunk.amounts);
            }
        }
        usable
    }

    /// A job gives back what it has in one place, and takes what it has in another one.
    pub fn exchange(&mut self, back: &Placement, taken: &Placement) {
        change(&mut self.free, self.amounts, back, 1);
        change(&mut self.free, self.amounts, taken, -1);
    }

    /// A job runs from now on, until its walltime ends at a time.
    pub fn start(&mut self, job: u32, placement: Placement, end: i64) {
        change(&mut self.free, self.amounts, &placement, -1);
        let ended = Event {
            time: end,
            is_start: false,
            job,
            placement,
        };
        let index = self.ends.partition_point(|other| other.key() < (end, job));
        self.ends.insert(index, ended);
    }

    /// What is in use beyond the jobs on the machine, pool by pool, if these numbers of processors
    /// are in use.
    pub fn unexplained(&self, in_use: &[i64]) -> Vec<i64> {
        // only processors are compared: of the others a document need not give what is in use
        let mut unexplained = vec![i64::MAX; self.total.len()];
        for pool in 0..self.pools() {
            let first = pool * self.amounts;
            let in_use = in_use.get(pool).copied().unwrap_or(0);
            let explained = self.total[first] - self.free[first];
            unexplained[first] = in_use.saturating_sub(explained).max(0);
        }
        unexplained
    }

    /// Where a running job is of which that is not known: where processors are in use that no other
    /// job accounts for, else where it has room, else where it had room on an empty machine.
    pub fn place_running(&self, unexplained: &mut [i64], request: &Request) -> Placement {
        if let Some(explained) = self.place(unexplained, request) {
            change(unexplained, self.amounts, &explained, -1);
            return explained;
        }
        for available in [&self.free, &self.total] {
            if let Some(placement) = self.place(available, request) {
                return placement;
            }
        }
        Placement([].into())
    }

    /// Takes the processors that no job accounts for; when they become free is unknown. Returns
    /// their number.
    pub fn hold(&mut self, unexplained: &[i64]) -> i64 {
        let mut held: i64 = 0;
        for first in (0..self.free.len()).step_by(self.amounts) {
            self.free[first] = self.free[first].saturating_sub(unexplained[first]);
            held = held.saturating_add(unexplained[first]);
        }
        held
    }

    /// A job has ended.
    pub fn end(&mut self, job: u32) {
        if let Some(index) = self.ends.iter().position(|other| other.job == job) {
            let ended = self.ends.remove(index);
            change(&mut self.free, self.amounts, &ended.placement, 1);
        }
    }

    /// When the running jobs end that end next, or the next advance reservation begins.
    pub fn next_end(&self) -> Option<i64> {
        let end = self.ends.first().map(|end| end.time);
        let start = self.advance.first().map(|next| next.start);
        end.into_iter().chain(start).min()
    }

    /// Ends the running jobs whose walltimes end next, and calls a function with each. Returns that
    /// time, or that of an advance reservation which begins before.
    pub fn end_next(&mut self, mut ended: impl FnMut(u32)) -> Option<i64> {
        let time = self.next_end()?;
        while let Some(next) = self.ends.first()
            && next.time == time
        {
            let job = next.job;
            self.end(job);
            ended(job);
        }
        Some(time)
    }

    /// The pools in which a chunk may be placed, by the index of their list.
    pub fn pool_list(&self, index: u32) -> &[u32] {
        let lists = &self.pool_lists;
        match lists.get(index as usize).or(lists.last()) {
            Some(list) => list,
            None => &[],
        }
    }

    /// Pools, host by host.
    fn hosts_of<'p>(&self, pools: &'p [u32]) -> impl Iterator<Item = &'p [u32]> {
        pools.chunk_by(|&left, &right| self.is_same_host(left, right))
    }

    fn is_same_host(&self, left: u32, right: u32) -> bool {
        self.hosts[left as usize] == self.hosts[right as usize]
    }

    /// Whether the host of a pool has several, which follow each other.
    fn shares_host(&self, pool: u32) -> bool {
        let pool = pool as usize;
        let host = Some(&self.hosts[pool]);
        host == self.hosts.get(pool + 1) || pool > 0 && host == self.hosts.get(pool - 1)
    }

    fn of_pool<'a>(&self, amounts: &'a [i64], pool: u32) -> &'a [i64] {
        &amounts[self.range(pool)]
    }

    fn range(&self, pool: u32) -> std::ops::Range<usize> {
        range(self.amounts, pool)
    }

    /// The running jobs whose walltimes have ended are taken to end at a time.
    pub(super) fn postpone_overdue(&mut self, now: i64) {
        // the scheduler takes such a job to be exiting, for which it allows a second
        let overdue = self.ends.partition_point(|end| end.time <= now);
        if overdue == 0 {
            return;
        }
        for end in &mut self.ends[..overdue] {
            end.time = now.saturating_add(1);
        }
        self.ends.sort_by_key(Event::key);
    }
}

fn range(amounts: usize, pool: u32) -> std::ops::Range<usize> {
    let start = pool as usize * amounts;
    start..start + amounts
}

fn has_room(available: &[i64], amounts: &[i64]) -> bool {
    let mut pairs = available.iter().zip(amounts);
    // what is free may be below 0, which is no matter to a job that asks for none of it
    pairs.all(|(available, amount)| amount <= available || *amount == 0)
}

fn is_zero(amounts: &[i64]) -> bool {
    amounts.iter().all(|&amount| amount == 0)
}

/// Lowers what is available to what there is at another time. Returns whether it is less than
/// before.
pub(super) fn lower(available: &mut [i64], other: &[i64]) -> bool {
    let mut is_less = false;
    for (available, other) in available.iter_mut().zip(other) {
        is_less |= other < available;
        *available = (*available).min(*other);
    }
    is_less
}

/// How often these amounts fit.
fn fitting(available: &[i64], amounts: &[i64]) -> i64 {
    let mut most = i64::MAX;
    for (available, &amount) in available.iter().zip(amounts) {
        if amount > 0 {
            most = most.min(available / amount);
        }
    }
    most
}

/// Adds amounts, or with -1 takes them away.
fn add(free: &mut [i64], amounts: &[i64], sign: i64) {
    for (free, amount) in free.iter_mut().zip(amounts) {
        *free = free.saturating_add(sign * amount);
    }
}

/// Adds what a job holds to what is free, or with -1 takes it away. A pool has this number of amounts.
pub(super) fn change(free: &mut [i64], amounts: usize, placement: &Placement, sign: i64) {
    for part in &*placement.0 {
        add(&mut free[range(amounts, part.pool)], &part.amounts, sign);
    }
}

/// How the chunks of a job are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
enum Arrangement {
    /// `free`: wherever they fit.
    #[default]
    Free,
    /// `pack`: all on one host.
    Pack,
    /// `scatter`: each on a host of its own.
    Scatter,
    /// `vscatter`: each on a vnode of its own.
    Vscatter,
}

/// What a job says of other jobs on its vnodes, or has for itself there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub enum Exclusive {
    /// Nothing: the vnodes decide.
    #[default]
    Unsaid,
    /// `shared`
    Shared,
    /// `excl`: none may be there.
    Vnode,
    /// `exclhost`: none may be on the whole host.
    Host,
}

/// What a vnode says of several jobs on it (`sharing`): what a job has for itself that says nothing,
/// and the least and the most that any has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sharing {
    unsaid: Exclusive,
    least: Exclusive,
    most: Exclusive,
}

/// How a job is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Placing {
    /// How its chunks are spread.
    arrangement: Arrangement,
    /// What it says of other jobs.
    pub exclusive: Exclusive,
    /// The placement sets of which one has to hold it, by their index in the machine.
    pub sets: Option<u32>,
}

impl Placing {
    /// Reads the words of `place`, which colons separate; `group=` is not read.
    pub fn from_words(place: &str) -> Self {
        let mut placing = Self::default();
        for word in place.split(':') {
            match word {
                "pack" => placing.arrangement = Arrangement::Pack,
                "scatter" => placing.arrangement = Arrangement::Scatter,
                "vscatter" => placing.arrangement = Arrangement::Vscatter,
                "shared" => placing.exclusive = Exclusive::Shared,
                "excl" => placing.exclusive = Exclusive::Vnode,
                "exclhost" => placing.exclusive = Exclusive::Host,
                _ => {}
            }
        }
        placing
    }
}

impl Sharing {
    /// `default_shared`: the job decides.
    pub const DEFAULT: Self = Self {
        unsaid: Exclusive::Shared,
        least: Exclusive::Shared,
        most: Exclusive::Host,
    };

    /// Reads the value of `sharing`; one that is not known is the default.
    pub fn from_name(name: &str) -> Self {
        let mut sharing = Self::DEFAULT;
        match name {
            "default_excl" => sharing.unsaid = Exclusive::Vnode,
            "default_exclhost" => sharing.unsaid = Exclusive::Host,
            "force_excl" => sharing.least = Exclusive::Vnode,
            "force_exclhost" => sharing.least = Exclusive::Host,
            "ignore_excl" => sharing.most = Exclusive::Shared,
            _ => {}
        }
        sharing
    }

    /// What a job has for itself on such a vnode.
    fn alone(self, said: Exclusive) -> Exclusive {
        let wanted = match said {
            Exclusive::Unsaid => self.unsaid,
            _ => said,
        };
        wanted.max(self.least).min(self.most)
    }
}

/// A key by which pools are ordered before each job is placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolOrder {
    /// What is compared.
    pub value: PoolValue,
    /// Whether the largest value is first.
    pub is_high_first: bool,
}

/// A number of each pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PoolValue {
    /// The same at all times, pool by pool.
    Fixed(Vec<i64>),
    /// What is free of an amount, by its index.
    Unused(usize),
    /// What jobs hold of an amount, by its index.
    Assigned(usize),
}

/// Placement sets: the vnodes with the same value of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacementSets {
    /// Set by set, the smallest first: whether each pool belongs to it.
    pub sets: Vec<Vec<bool>>,
    /// Whether a job that is larger than every set may run on all nodes (`do_not_span_psets` is
    /// not set).
    pub may_span: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vnode_can_force_what_a_job_has_for_itself() {
        for (sharing, place, alone) in [
            ("", "free", Exclusive::Shared),
            ("default_shared", "scatter:excl", Exclusive::Vnode),
            ("default_excl", "pack", Exclusive::Vnode),
            ("default_excl", "pack:shared", Exclusive::Shared),
            ("default_exclhost", "free", Exclusive::Host),
            ("default_exclhost", "free:shared", Exclusive::Shared),
            ("force_excl", "shared", Exclusive::Vnode),
            ("force_excl", "exclhost", Exclusive::Host),
            ("force_exclhost", "shared", Exclusive::Host),
            ("ignore_excl", "excl", Exclusive::Shared),
        ] {
            let exclusive = Placing::from_words(place).exclusive;
            assert_eq!(
                Sharing::from_name(sharing).alone(exclusive),
                alone,
                "{sharing} {place}"
            );
        }
        let pool = vec![1, Machine::UNOCCUPIED];
        let mut machine = Machine::new(&[pool.clone(), pool]).with_hosts(vec![0, 0]);
        machine.sharing = vec![Sharing::from_name("force_exclhost"), Sharing::DEFAULT];
        let parts = [0, 1].map(|pool| Part {
            pool,
            amounts: [1, 0].into(),
        });
        // the other vnode of the host is taken whole, although a part alone would share it
        let placement = machine.occupied(parts.to_vec(), &Request::default());
        let mut left = machine.free.clone();
        change(&mut left, machine.amounts, &placement, -1);
        assert_eq!(left, [0; 4]);
        let placing = Placing::from_words("vscatter:exclhost:group=switch");
        assert_eq!(placing.arrangement, Arrangement::Vscatter);
    }
}
