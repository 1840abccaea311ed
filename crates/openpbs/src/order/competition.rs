//! The jobs that one job competes with for its rank by the value of the formula.

use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::Ranking;

use crate::order::Order;
use crate::order::sort_keys::SortKeys;

/// The jobs that one job competes with. If the queue is chosen first, these are the jobs of its
/// queue.
#[derive(Debug, Clone)]
pub struct Competition {
    /// The number of jobs that come before it whatever its value is, because their queue is an
    /// express queue.
    pub always_ahead: usize,
    /// The rows of the jobs that come before it or after it because of their value, best first,
    /// each with whether it comes before the job if the values are equal.
    pub competitors: Vec<(usize, bool)>,
    /// A job whose value does not exceed this is not considered.
    pub threshold: f64,
    /// The rank of each place among these jobs, from the first place on.
    ranks: Vec<usize>,
}

impl Competition {
    /// The number of places of at most this rank: the job has at most the rank if fewer competitors
    /// than this number are ahead of it. `None` if no value gives it this rank.
    pub fn places(&self, rank: usize) -> Option<usize> {
        // the ranks ascend
        let places = self.ranks.partition_point(|&of_place| of_place <= rank);
        if places <= self.always_ahead {
            return None;
        }
        Some(places - self.always_ahead)
    }

    /// The rank of the job if this number of competitors is ahead of it.
    pub fn rank(&self, ahead: usize) -> Option<usize> {
        self.ranks.get(self.always_ahead + ahead).copied()
    }
}

impl Order<'_> {
    /// The jobs that a job competes with. The job itself need not be considered.
    pub fn competition(&self, ranking: &Ranking, table: &JobTable, row: usize) -> Competition {
        let sort_keys = SortKeys::new(self, ranking.scores(), table);
        let is_express = sort_keys.is_express(row);
        let mut others = ranking.order().to_vec();
        others.retain(|&other| other != row);
        if self.chooses_queue_first() {
            others.retain(|&other| table.queue_index(other) == table.queue_index(row));
        }
        let mut competition = Competition {
            always_ahead: 0,
            competitors: Vec::new(),
            threshold: self.threshold,
            ranks: self.ranks_of_places(ranking, table, row, others.len() + 1),
        };
        for other in others {
            if sort_keys.is_express(other) == is_express {
                let is_before = sort_keys.compare_equal_values(other, row).is_lt();
                competition.competitors.push((other, is_before));
            } else if !is_express {
                competition.always_ahead += 1;
            }
        }
        competition
    }

    fn ranks_of_places(
        &self,
        ranking: &Ranking,
        table: &JobTable,
        row: usize,
        places: usize,
    ) -> Vec<usize> {
        if !self.chooses_queue_first() {
            return (1..=places).collect();
        }
        let mut lists = vec![Vec::new(); table.queues().len()];
        for &other in ranking.order() {
            if other != row {
                lists[table.queue_index(other)].push(other);
            }
        }
        let queue = table.queue_index(row);
        lists[queue].push(row);
        let mut ranks = Vec::new();
        for (index, other) in self
            .merge(&self.queue_groups(table), lists)
            .into_iter()
            .enumerate()
        {
            if table.queue_index(other) == queue {
                ranks.push(index + 1);
            }
        }
        ranks
    }
}
