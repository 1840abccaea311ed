//! The jobs that wishes are about, ranked by one formula after another.

use std::ops::ControlFlow;

use job_sort_formula::formula::Template;
use job_sort_formula::{Formula, JobTable};
use jsf_site::{RankRequest, RankedQueue, Site};

use super::wish_list::{WishedRows, Wishes};
use super::{Place, Wish, WishError, WishProgress};
use crate::starts;

/// The same value for every job, above every threshold: what is left are the criteria besides the
/// value.
const EQUAL_VALUES: &str = "3e38";

/// The place of a job that is not ranked.
const NOT_RANKED: u32 = u32::MAX;

/// The jobs that wishes are about, and how they are ranked at present. Jobs about which nothing is
/// wished are left out.
pub struct WishedQueue<'a> {
    pub template: &'a Template,
    pub queue: RankedQueue,
    pub wished: WishedRows,
    pub evaluations: usize,
    pub is_interrupted: bool,
    pub site: &'a Site,
    progress: &'a mut dyn FnMut(WishProgress) -> ControlFlow<()>,
    /// The place of each row in the order.
    places: Vec<u32>,
    most_met: usize,
    /// All jobs, and the wishes about them, until they are [restored](Self::restore_all_jobs).
    all_jobs: JobTable,
    all_wished: WishedRows,
}

impl<'a> WishedQueue<'a> {
    /// Reads the queue, and keeps the jobs that the wishes name.
    pub fn new(
        site: &'a Site,
        template: &'a Template,
        wishes: &Wishes,
        progress: &'a mut dyn FnMut(WishProgress) -> ControlFlow<()>,
    ) -> Result<Self, WishError> {
        let formula = filled(template, &starts(template));
        let read = site.read_jobs_to_rank(&RankRequest::from(&formula))?;
        let mut queue = site.rank_read_jobs(read)?;
        let equal = Formula::parse(EQUAL_VALUES).expect("a number is a formula");
        site.rank_again(&mut queue, &equal)?;
        let wished = wishes.find(&queue)?;
        if wished.wishes.is_empty() {
            return Err(WishError::at(
                &Place::default(),
                "no job is wished before another one",
            ));
        }
        let all_jobs = queue.table.clone();
        let all_wished = wished.clone();
        let wished = keep_wished(&mut queue, wished);
        Ok(Self {
            template,
            places: vec![NOT_RANKED; queue.table.len()],
            queue,
            wished,
            evaluations: 0,
            is_interrupted: false,
            site,
            progress,
            most_met: 0,
            all_jobs,
            all_wished,
        })
    }

    /// Ranks the jobs with these constants, and returns which wishes are met.
    pub fn met(&mut self, values: &[f64]) -> Vec<bool> {
        self.evaluations += 1;
        self.places.fill(NOT_RANKED);
        // a formula with other numbers is arithmetic as well
        let formula = filled(self.template, values);
        if self.site.rank_again(&mut self.queue, &formula).is_ok() {
            for (&row, place) in self.queue.ranking.order().iter().zip(0..) {
                self.places[row] = place;
            }
        }
        let mut met = Vec::new();
        for wish in &self.wished.wishes {
            met.push(self.is_above(wish.above, wish.below));
        }
        self.most_met = self.most_met.max(count(&met));
        let progress = WishProgress {
            evaluations: self.evaluations,
            met: self.most_met,
            total: self.wished.wishes.len(),
        };
        self.is_interrupted |= (self.progress)(progress).is_break();
        met
    }

    /// Puts back the jobs about which nothing is wished, so that the next ranking is that of the
    /// scheduler.
    pub fn restore_all_jobs(&mut self) {
        self.queue.table = std::mem::take(&mut self.all_jobs);
        self.wished = std::mem::take(&mut self.all_wished);
        self.places = vec![NOT_RANKED; self.queue.table.len()];
    }

    /// Whether a row is above another one in the present ranking.
    pub fn is_above(&self, above: usize, below: usize) -> bool {
        self.places[above] < self.places[below]
    }

    /// By how much the present values differ from the wished scores, by the jobs with scores.
    pub fn deviations(&self) -> Vec<f64> {
        let mut deviations = Vec::new();
        for (row, score) in &self.wished.scores {
            deviations.push((self.value(*row) - score).abs());
        }
        deviations
    }

    /// The mean of these deviations; `None` without scores.
    pub fn mean_deviation(&self) -> Option<f64> {
        let deviations = self.deviations();
        if deviations.is_empty() {
            return None;
        }
        Some(deviations.iter().sum::<f64>() / deviations.len() as f64)
    }

    /// The ids of the two jobs of a wish.
    pub fn ids_of_wish(&self, index: usize) -> (String, String) {
        let Wish { above, below } = self.wished.wishes[index];
        let table = &self.queue.table;
        (table.id(above).to_owned(), table.id(below).to_owned())
    }

    /// The value of a row in the present ranking, before it is rounded; 0 where the formula fails.
    pub fn value(&self, row: usize) -> f64 {
        if let Some(score) = self.queue.ranking.score(row)
            && let Ok(result) = score.unrounded
            && let Some(value) = result.to_f64()
            && value.is_finite()
        {
            value
        } else {
            0.0
        }
    }
}

/// The formula with these constants.
fn filled(template: &Template, values: &[f64]) -> Formula {
    Formula::parse(&template.fill(values)).expect("a filled template is a formula")
}

pub fn count(met: &[bool]) -> usize {
    met.iter().filter(|is_met| **is_met).count()
}

/// Removes the jobs about which nothing is wished, and renumbers the rows of the wishes.
fn keep_wished(queue: &mut RankedQueue, mut wished: WishedRows) -> WishedRows {
    let mut rows = Vec::new();
    for row in wished.rows_mut() {
        rows.push(*row);
    }
    rows.sort_unstable();
    rows.dedup();
    queue.table.retain(|row| rows.binary_search(&row).is_ok());
    for row in wished.rows_mut() {
        *row = rows.binary_search(row).expect("a row of a wish is kept");
    }
    wished
}
