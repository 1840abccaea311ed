//! Why a job has its place in the queue, in one sentence.

use std::iter;

use job_sort_formula::jobs::InputOrigin;
use job_sort_formula::python::Value;
use job_sort_formula::rank::explain::nearest_double;
use job_sort_formula::rank::{Consequence, ScoreError};
use job_sort_formula::schema::FairshareInput;
use jsf_site::{Against, Cause, Explanation};

use crate::commands::explain::answer::ExplainAnswer;
use crate::view::document::score_in_words;
use crate::view::words::{
    and_list, count, excerpt, grouped_number, ordinal, quoted_and_list, significant, state_words,
    waiting_time,
};

/// The most characters of a part of the formula that is quoted.
const MAX_QUOTED: usize = 120;

impl ExplainAnswer<'_> {
    /// Why a job has its place, in one sentence.
    pub(crate) fn place_in_words(&self, job: &Explanation) -> String {
        let id = self.table().id(job.row);
        let mut clauses = vec![match job.rank {
            Some(rank) => {
                let considered = grouped_number(self.considered());
                format!("`{id}` is {} of {considered}", ordinal(rank))
            }
            None => format!("`{id}` is not considered: {}", self.why_not(job)),
        }];
        match (&job.result, job.rank) {
            (Some(Err(error)), _) => clauses.push(self.failure(job, error)),
            (Some(Ok(_)), Some(rank)) => clauses.extend(self.reason(job, rank)),
            (Some(Ok(_)), None) => {
                if let Some(score) = job.score {
                    clauses.push(format!("its value is {}", score_in_words(score)));
                }
            }
            (None, _) => {}
        }
        clauses.join(if job.rank.is_some() { ": " } else { "; " })
    }

    /// Why the scheduler does not consider a job.
    fn why_not(&self, job: &Explanation) -> String {
        let state = self.table().state(job.row);
        match self.excluded(job) {
            Some((keyword, reason))
                if keyword != "state" || self.table().exclusion(job.row).is_some() =>
            {
                reason
            }
            _ => format!("its state is {} ({})", state.letter(), state_words(state)),
        }
    }

    fn failure(&self, job: &Explanation, error: &ScoreError) -> String {
        let text = error.span().slice(self.queue.program.expr().text());
        let mut words = format!("`{}` fails with \"{error}\"", excerpt(text, MAX_QUOTED));
        match job.score {
            // `--on-error null` gives it
            Some(f64::NEG_INFINITY) => words += ", so it has no value and comes last",
            Some(score) if error.consequence() == Consequence::Unknown => {
                words += &format!(", and jsf gives it the value {}", score_in_words(score));
            }
            Some(score) => words += &format!(", so its value is {}", score_in_words(score)),
            None => {}
        }
        if error.crashes_the_scheduler() {
            words += ", and OpenPBS's scheduler crashes";
        }
        match job.same_error.len() {
            0 => words,
            others => format!("{words}; so do {}", count(others, "other job")),
        }
    }

    /// What moves the job most, and what moves it most the other way. A job of the worse half of the
    /// queue is compared with the jobs just ahead, and what costs it comes first; a job of the better
    /// half with the median, else with the jobs just behind, and what helps it comes first.
    fn reason(&self, job: &Explanation, rank: usize) -> Option<String> {
        if job.score.is_some_and(f64::is_nan) {
            let mut words = "its value is not a number".to_owned();
            for input in &job.inputs {
                let value = input.value.as_ref().and_then(nearest_double);
                if value.is_some_and(f64::is_nan) {
                    words += &format!(", as its `{}` is", input.name);
                }
            }
            return Some(words + ", which the scheduler takes to be equal to every other");
        }
        // the first of one job has nobody ahead
        let is_ahead = rank * 2 <= self.considered() || rank == 1;
        let compared: &[Against] = if is_ahead {
            &[Against::Median, Against::Behind]
        } else {
            &[Against::Ahead]
        };
        for &against in compared {
            if let Some(main) = first_cause(job, against, !is_ahead) {
                let mut words = self.cause_words(job, main);
                if let Some(other) = first_cause(job, against, is_ahead) {
                    words += &format!(", but {}", self.cause_words(job, other));
                }
                return Some(words);
            }
        }
        // no single input moves it
        let near = if is_ahead { &job.below } else { &job.above };
        let near = near.first()?;
        let side = if is_ahead { "behind" } else { "ahead" };
        let id = self.table().id(near.row);
        Some(format!("`{id}` is just {side} by {}", near.reason))
    }

    /// What one input, or the fair-share inputs together, do to the place of a job.
    fn cause_words(&self, job: &Explanation, cause: &Cause) -> String {
        let names = quoted_and_list(&cause.inputs);
        let values = values_in_words(job, cause, &cause.values);
        let mut subject = format!("its {names} of {values}");
        if let Some(usage) = self.usage_words(job, cause) {
            subject += &format!(" ({usage})");
        }
        let costs = cause.gained > 0;
        subject += if costs { " costs" } else { " gains" };
        let side = match cause.against {
            Against::Median => {
                let places = count(cause.gained.unsigned_abs() as usize, "place");
                let medians = match cause.others.first() {
                    Some(median) => values_in_words(job, cause, &median.values),
                    None => String::new(),
                };
                return format!("{subject} {places} against the median of the queue ({medians})");
            }
            Against::Ahead => "ahead",
            Against::Behind => "behind",
        };
        let others = cause.others.iter();
        let moving = others
            .filter(|other| other.effect != 0.0 && (other.effect > 0.0) == costs)
            .count();
        let all = cause.others.len();
        let against = format!("{subject} places against {moving} of the {all} jobs just {side}");
        if costs
            && let Some(best) = cause.others.iter().min_by_key(|other| other.rank)
            && let Some(row) = best.row
        {
            let id = self.table().id(row);
            let rank = ordinal(best.rank);
            return format!("{against} (with that of `{id}` it would be {rank})");
        }
        against
    }

    /// What the fair-share numbers of a cause come from; `None` if they do not come from the tree.
    fn usage_words(&self, job: &Explanation, cause: &Cause) -> Option<String> {
        for input in &job.inputs {
            if cause.inputs.contains(&input.name)
                && (FairshareInput::from_name(&input.name).is_none()
                    || input.origin != InputOrigin::FairShareTree)
            {
                return None;
            }
        }
        let shares = self.explanations.shares.as_ref()?;
        let (tree, numbers) = (shares.assessed.tree(), shares.assessed.shares());
        let entity = self.table().entity(job.row);
        if self.explanations.lacks_usage {
            return Some(format!("the usage of `{entity}` is unknown"));
        }
        let mut levels = Vec::new();
        for &node in &job.path {
            if let Some(association) = numbers.association(node)
                && let Some(level) = association.level_fs
            {
                levels.push(format!("{} of `{}`", significant(level), tree.name(node)));
            }
        }
        if !levels.is_empty() {
            return Some(format!("level_fs {}", and_list(&levels)));
        }
        let own = numbers.get(*job.path.last()?)?;
        if own.fairshare_perc <= 0.0 {
            return Some(format!("`{entity}` has no share"));
        }
        let times = own.fairshare_tree_usage / own.fairshare_perc;
        if !times.is_finite() {
            return None;
        }
        Some(format!(
            "the usage that counts for `{entity}` is {} times its share",
            significant(times)
        ))
    }
}

/// The first cause that gains places against others, or that costs some.
fn first_cause(job: &Explanation, against: Against, gains: bool) -> Option<&Cause> {
    let mut causes = job.causes.iter();
    causes.find(|cause| cause.against == against && (cause.gained > 0) == gains)
}

/// The values of the inputs of a cause, with their units.
fn values_in_words(job: &Explanation, cause: &Cause, values: &[Value]) -> String {
    let mut words = Vec::new();
    for (name, value) in iter::zip(&cause.inputs, values) {
        let mut inputs = job.inputs.iter();
        let unit = match inputs.find(|input| input.name == *name) {
            Some(input) => input.unit.unwrap_or_default(),
            None => "",
        };
        let number = match nearest_double(value) {
            Some(number) => significant(number),
            None => value.repr(),
        };
        words.push(match (unit, value.to_f64()) {
            ("s", Some(seconds)) if seconds >= 60.0 => waiting_time(seconds as i64),
            ("", _) => number,
            _ => format!("{number} {unit}"),
        });
    }
    words.join(" and ")
}
