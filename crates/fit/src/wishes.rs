//! Finds the constants of a template that put the jobs of a queue into a wished order.
//!
//! In: a site, a template and [`Wishes`]: pairs of jobs, a list of jobs, or jobs with scores. Out: a
//! [`WishFit`] with a formula whose constants have few digits. What it calls met is met in the order in
//! which [`Site::rank`](jsf_site::Site::rank) puts the jobs, by float32 values, `job_sort_key`,
//! threshold and submission.
//!
//! The constants are searched by CMA-ES with restarts, and then shortened as long as no wish is
//! lost.
//!
//! Scores are fitted by absolute deviations and not by squares, as they are given by people: one
//! wrong score changes the constants hardly at all, and where more than half of the scores follow
//! the formula exactly, its constants are found.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;

use job_sort_formula::formula::Template;
use job_sort_formula::{Formula, JobTable};
use jsf_site::{RankRequest, RankedQueue, Site};
use serde::Serialize;
use wish_search::{Kept, search};

use crate::{FitError, FittedConstant, Watch};

mod wish_search;

/// By how much a mean deviation from scores may grow for the sake of few digits: a part of the
/// median, which wrong scores hardly change, and of the scores.
const PART_OF_MEDIAN: f64 = 0.1;
const PART_OF_SCORES: f64 = 1e-9;

/// How constants are searched.
#[derive(Debug, Clone)]
pub struct WishOptions {
    /// The seed of a search; equal seeds give equal constants.
    pub seed: u64,
    /// How often a search ranks the jobs at most. Rounding takes some more.
    pub evaluations: usize,
}

impl Default for WishOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            evaluations: 4000,
        }
    }
}

/// The constants that were found, and the wishes that they meet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WishFit {
    /// The formula with the constants.
    pub formula: String,
    /// Whether all wishes are met.
    #[serde(rename = "feasible")]
    pub is_feasible: bool,
    /// The constants, in the order of the template; between the ends of each, the same wishes are met
    /// by all that were tried, the other constants being as they are.
    pub parameters: Vec<FittedConstant>,
    /// The wishes that are met and that are not.
    #[serde(skip)]
    pub wishes: WishesMet,
    /// How often the jobs were ranked.
    pub evaluations: usize,
    /// The seed of the search.
    pub seed: u64,
    /// Whether the search came to its end and was not interrupted.
    #[serde(rename = "complete")]
    pub is_complete: bool,
}

/// Which wishes the jobs' order meets.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WishesMet {
    /// The number of wishes: pairs of jobs of which one is wished before the other one.
    pub total: usize,
    /// How many of them are met.
    pub met: usize,
    /// The others: the ids of the two jobs.
    pub violated: Vec<(String, String)>,
    /// The fewest wishes that contradict each other, in a circle of jobs; empty if none do.
    pub conflict: Vec<(String, String)>,
    /// The mean absolute deviation of the values from the wished scores, if there are scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_deviation: Option<f64>,
}

/// A wish about two rows of a table: `above` is ranked before the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Wish {
    above: usize,
    below: usize,
}

/// Finds the constants of a template that put the jobs of a site into a wished order. `watch` is
/// told after each ranking of the jobs how many wishes were met at most, and of how many.
///
/// # Errors
/// A wish is about a job that is unknown or is not considered, nothing is wished, or the jobs
/// cannot be ranked.
pub fn fit_wishes(
    site: &Site,
    template: &Template,
    wishes: &Wishes,
    options: &WishOptions,
    watch: &Watch<'_>,
) -> Result<WishFit, FitError> {
    let mut queue = WishedQueue::new(site, template, wishes, watch)?;
    let found = search(&mut queue, options);
    let values = short(&mut queue, &found);
    let parameters = parameters(&mut queue, &values);
    let conflict = shortest_circle(&queue.wished.wishes);
    // the last ranking is of all jobs, as that of the scheduler
    queue.restore_all_jobs();
    let met = queue.met(&values);
    Ok(WishFit {
        formula: template.fill(&values),
        is_feasible: !met.contains(&false),
        parameters,
        wishes: wishes_met(&queue, &met, &conflict),
        evaluations: queue.evaluations,
        seed: options.seed,
        is_complete: !queue.is_interrupted,
    })
}

/// The constants with few digits, which meet the same wishes, or give jobs nearly the same
/// deviation from their scores.
fn short(queue: &mut WishedQueue<'_>, values: &[f64]) -> Vec<f64> {
    let mut kept = Kept::new(queue, values);
    let mut deviations = kept.queue.deviations();
    deviations.sort_by(f64::total_cmp);
    if let Some(mean) = kept.queue.mean_deviation() {
        let median = deviations[deviations.len() / 2];
        let mut largest = 0.0_f64;
        for (_, score) in &kept.queue.wished.scores {
            largest = largest.max(score.abs());
        }
        kept.most_deviation = Some(mean + PART_OF_MEDIAN * median + PART_OF_SCORES * largest);
    }
    let mut found = values.to_vec();
    kept.take_starts(&mut found);
    // scores are met best at a single point, which has no inside
    if kept.most_deviation.is_none() {
        kept.move_inside(&mut found);
    }
    kept.shortened(&found)
}

fn parameters(queue: &mut WishedQueue<'_>, values: &[f64]) -> Vec<FittedConstant> {
    let mut kept = Kept::new(queue, values);
    let mut parameters = Vec::new();
    for (index, constant) in kept.constants.iter().enumerate() {
        let ends = kept.range_of(index, values);
        parameters.push(FittedConstant::new(constant, values[index], Some(ends)));
    }
    parameters
}

fn wishes_met(queue: &WishedQueue<'_>, met: &[bool], conflict: &[usize]) -> WishesMet {
    let mut wishes = WishesMet {
        total: met.len(),
        met: count(met),
        mean_deviation: queue.mean_deviation(),
        ..WishesMet::default()
    };
    for (index, is_met) in met.iter().enumerate() {
        if !is_met {
            wishes.violated.push(queue.ids_of_wish(index));
        }
    }
    for &index in conflict {
        wishes.conflict.push(queue.ids_of_wish(index));
    }
    wishes
}

/// Of how many wishes the shortest circle is looked for.
const MAX_TRIED: usize = 500;

/// The indices of the wishes of a shortest circle, ascending, such as job A before B, B before C,
/// and C before A: the lower job of each is the upper job of another one. Empty without a circle.
fn shortest_circle(wishes: &[Wish]) -> Vec<usize> {
    let mut by_above: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, wish) in wishes.iter().enumerate() {
        by_above.entry(wish.above).or_default().push(index);
    }
    let mut shortest: Vec<usize> = Vec::new();
    // each search may visit all of them, up to `MAX_WISHES`; wishes on no circle would waste tries
    for first in near_circles(wishes).into_iter().take(MAX_TRIED) {
        if let Some(circle) = circle_through(first, wishes, &by_above)
            && (shortest.is_empty() || circle.len() < shortest.len())
        {
            shortest = circle;
        }
    }
    shortest.sort_unstable();
    shortest
}

/// The wishes on circles, and those between two circles: none of their jobs is only above or only
/// below others.
fn near_circles(wishes: &[Wish]) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..wishes.len()).collect();
    loop {
        let mut above = HashSet::new();
        let mut below = HashSet::new();
        for &index in &kept {
            above.insert(wishes[index].above);
            below.insert(wishes[index].below);
        }
        let count = kept.len();
        kept.retain(|&index| {
            below.contains(&wishes[index].above) && above.contains(&wishes[index].below)
        });
        if kept.len() == count {
            return kept;
        }
    }
}

/// The shortest circle through a wish.
fn circle_through(
    first: usize,
    wishes: &[Wish],
    by_above: &HashMap<usize, Vec<usize>>,
) -> Option<Vec<usize>> {
    let mut reached_by: HashMap<usize, usize> = HashMap::from([(wishes[first].below, first)]);
    let mut jobs = VecDeque::from([wishes[first].below]);
    // breadth first, so that the first circle that closes is a shortest one
    while let Some(job) = jobs.pop_front() {
        for &index in by_above.get(&job).into_iter().flatten() {
            let next = wishes[index].below;
            if next == wishes[first].above {
                let mut circle = vec![index];
                let mut last = index;
                while last != first {
                    last = reached_by[&wishes[last].above];
                    circle.push(last);
                }
                return Some(circle);
            }
            if let Entry::Vacant(entry) = reached_by.entry(next) {
                entry.insert(index);
                jobs.push_back(next);
            }
        }
    }
    None
}

/// The most wishes; two groups of equals have as many as the product of their sizes.
const MAX_WISHES: usize = 20_000;

/// The order that is wished for the jobs of a queue: pairs of jobs, and lists of them, or jobs with
/// scores.
///
/// ```
/// use jsf_fit::wishes::Wishes;
///
/// let mut wishes = Wishes::default();
/// wishes.prefer("12.vm", "9.vm");
/// wishes.read("wishes.txt", "7  # first\n8\n\n5\n6\n")?;
/// # Ok::<(), jsf_fit::FitError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Each list is a list of groups, best first; there are no wishes within a group. A pair is a
    /// list of two.
    lists: Vec<Vec<Vec<Named>>>,
    scores: Vec<(Named, f64)>,
}

/// A job as a wish names it.
#[derive(Debug, Clone)]
struct Named {
    id: String,
    /// The document and the line, before a message; empty for a wish that is not from a document.
    place: String,
    /// The line, from 1.
    line: usize,
}

impl Named {
    /// What is wrong with the wish.
    fn error(&self, why: impl fmt::Display) -> FitError {
        FitError::new(format!("{}{why}", self.place))
    }
}

/// Wishes about the rows of a table.
#[derive(Debug, Clone, Default)]
struct WishedRows {
    wishes: Vec<Wish>,
    /// The rows with scores.
    scores: Vec<(usize, f64)>,
    /// The rows of each list, best first, in groups of equals.
    lists: Vec<Vec<Vec<usize>>>,
}

impl WishedRows {
    /// All its rows, each as often as it is there.
    fn rows_mut(&mut self) -> Vec<&mut usize> {
        let mut rows = Vec::new();
        for wish in &mut self.wishes {
            rows.extend([&mut wish.above, &mut wish.below]);
        }
        for (row, _) in &mut self.scores {
            rows.push(row);
        }
        rows.extend(self.lists.iter_mut().flatten().flatten());
        rows
    }
}

impl Wishes {
    /// Wishes that a job is before another one. The server's name may be left out of the ids.
    pub fn prefer(&mut self, above: &str, below: &str) {
        let mut pair = Vec::new();
        for id in [above, below] {
            pair.push(vec![Named {
                id: id.to_owned(),
                place: String::new(),
                line: 0,
            }]);
        }
        self.lists.push(pair);
    }

    /// Reads a document: a list of ids, best first, one on each line, or lines `id,score`, of which
    /// the first may be a header.
    ///
    /// Where blank lines divide a list, the jobs between two of them are a group of equals: each of
    /// them is wished before each job of the next group, and nothing is wished within the group.
    /// Without blank lines each job is wished before the next one. `#` begins a comment. Messages
    /// use `name`.
    ///
    /// # Errors
    /// A line is neither.
    pub fn read(&mut self, name: &str, text: &str) -> Result<(), FitError> {
        // a byte order mark, with which spreadsheets begin a CSV file
        let text = text.trim_start_matches('\u{feff}');
        let mut lines = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            lines.push(Line {
                text: line.split('#').next().unwrap_or_default().trim(),
                is_blank: line.trim().is_empty(),
                place: format!("{name}:{number}: "),
                number,
            });
        }
        if lines.iter().all(|line| line.text.is_empty()) {
            return Err(FitError::new(format!(
                "{name}:1: no job is wished anywhere"
            )));
        }
        if lines.iter().any(|line| line.text.contains(',')) {
            self.read_scores(&lines)
        } else {
            self.lists.push(groups(&lines)?);
            Ok(())
        }
    }

    fn read_scores(&mut self, lines: &[Line<'_>]) -> Result<(), FitError> {
        let mut may_be_header = true;
        for line in lines {
            if line.text.is_empty() {
                continue;
            }
            let (id, score) = line.text.split_once(',').unwrap_or((line.text, ""));
            match unquoted(score).parse::<f64>() {
                Ok(score) if score.is_finite() => self.scores.push((line.named(id)?, score)),
                _ if may_be_header => {}
                _ => {
                    let message = format!("`{}` is not a score; write `id,score`", score.trim());
                    return Err(FitError::new(line.place.clone() + &message));
                }
            }
            may_be_header = false;
        }
        Ok(())
    }

    /// Finds the rows of the jobs in a queue, in which no job is under the threshold.
    ///
    /// # Errors
    /// A job is unknown or not considered, or two names of a list mean one job, or there are too
    /// many wishes.
    fn find(&self, queue: &RankedQueue) -> Result<WishedRows, FitError> {
        if !self.lists.is_empty()
            && let Some((first, _)) = self.scores.first()
        {
            return Err(first.error("scores cannot be fitted together with an order of jobs"));
        }
        let mut wished = WishedRows::default();
        for list in &self.lists {
            let mut seen = HashMap::new();
            let mut groups = Vec::new();
            for group in list {
                let mut rows = Vec::new();
                for named in group {
                    rows.push(distinct_row(queue, named, &mut seen)?);
                }
                groups.push(rows);
            }
            wished.lists.push(groups);
        }
        let mut seen = HashMap::new();
        for (named, score) in &self.scores {
            let row = distinct_row(queue, named, &mut seen)?;
            wished.scores.push((row, *score));
        }
        if !wished.scores.is_empty() {
            wished.lists.push(by_score(&wished.scores));
        }
        // before they are made: two groups of 100,000 jobs have 10^10 pairs
        let mut count = 0;
        for groups in &wished.lists {
            for pair in groups.windows(2) {
                count += pair[0].len() * pair[1].len();
            }
        }
        if count > MAX_WISHES {
            return Err(FitError::new(format!(
                "more than {MAX_WISHES} pairs of jobs are wished in an order"
            )));
        }
        for groups in &wished.lists {
            for pair in groups.windows(2) {
                for &above in &pair[0] {
                    for &below in &pair[1] {
                        wished.wishes.push(Wish { above, below });
                    }
                }
            }
        }
        let mut seen = HashSet::new();
        // two lists may wish the same, which counts once
        wished.wishes.retain(|wish| seen.insert(*wish));
        Ok(wished)
    }
}

/// A line without its comment.
struct Line<'t> {
    text: &'t str,
    /// Whether nothing is written on it, not even a comment.
    is_blank: bool,
    place: String,
    number: usize,
}

impl Line<'_> {
    fn named(&self, id: &str) -> Result<Named, FitError> {
        let named = Named {
            id: unquoted(id).to_owned(),
            place: self.place.clone(),
            line: self.number,
        };
        let id = &named.id;
        if id.is_empty() || id.contains(char::is_whitespace) {
            let why = format!("`{id}` is not the id of a job; write one on each line");
            return Err(named.error(why));
        }
        Ok(named)
    }
}

/// A field of a CSV document without its quotes.
fn unquoted(field: &str) -> &str {
    let field = field.trim();
    if let Some(start) = field.strip_prefix('"')
        && let Some(inner) = start.strip_suffix('"')
    {
        return inner.trim();
    }
    field
}

/// The groups of equals. Without blank lines between jobs each job is a group.
fn groups(lines: &[Line<'_>]) -> Result<Vec<Vec<Named>>, FitError> {
    let mut groups: Vec<Vec<Named>> = vec![Vec::new()];
    for line in lines {
        match groups.last_mut() {
            Some(group) if !line.text.is_empty() => group.push(line.named(line.text)?),
            Some(group) if line.is_blank && !group.is_empty() => groups.push(Vec::new()),
            _ => {}
        }
    }
    groups.retain(|group| !group.is_empty());
    if groups.len() == 1 {
        groups = groups
            .concat()
            .into_iter()
            .map(|named| vec![named])
            .collect();
    }
    Ok(groups)
}

/// The row of a job that was not named before: two names may mean one job, `12` and `12.vm`.
fn distinct_row<'n>(
    queue: &RankedQueue,
    named: &'n Named,
    seen: &mut HashMap<usize, &'n Named>,
) -> Result<usize, FitError> {
    let row = row_of(queue, &named.id).map_err(|why| named.error(why))?;
    let Some(first) = seen.insert(row, named) else {
        return Ok(row);
    };
    let line = match first.line {
        0 => String::new(),
        line => format!(" on line {line}"),
    };
    let message = if first.id == named.id {
        format!("`{}` is there twice, first{line}", named.id)
    } else {
        format!("`{}` is the same job as `{}`{line}", named.id, first.id)
    };
    Err(named.error(message))
}

/// The rows in groups of equal scores, the highest first.
fn by_score(scores: &[(usize, f64)]) -> Vec<Vec<usize>> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|left, right| right.1.total_cmp(&left.1));
    let mut groups = Vec::new();
    // not by `total_cmp`, which tells 0.0 from -0.0
    for group in sorted.chunk_by(|left, right| left.1 == right.1) {
        groups.push(group.iter().map(|(row, _)| *row).collect());
    }
    groups
}

/// The row of a job that the scheduler considers.
fn row_of(queue: &RankedQueue, id: &str) -> Result<usize, String> {
    let table = &queue.table;
    let rows = table.find_jobs(id)?;
    let &[row] = &rows[..] else {
        return Err(format!(
            "{} jobs are called `{id}`; add the server's name",
            rows.len()
        ));
    };
    let reason = if let Some(reason) = queue.reason_against(row) {
        reason.to_string()
    } else if table.is_considered(row) {
        return Ok(row);
    } else if table.exclusion(row).is_some() {
        "it is invalid".to_owned()
    } else {
        format!("its state is {}", table.state(row).letter())
    };
    Err(format!(
        "the scheduler does not consider `{}`: {reason}",
        table.id(row)
    ))
}

/// The same value for every job, above every threshold: what is left are the criteria besides the
/// value.
// just below the largest C `float`, 3.4e38, as which a value is compared
const EQUAL_VALUES: &str = "3e38";

/// The place of a job that is not ranked.
// the greatest, so that such a job is above no other one
const NOT_RANKED: u32 = u32::MAX;

/// The jobs that wishes are about, and how they are ranked at present. Jobs about which nothing is
/// wished are left out.
struct WishedQueue<'a> {
    template: &'a Template,
    queue: RankedQueue,
    wished: WishedRows,
    evaluations: usize,
    is_interrupted: bool,
    site: &'a Site,
    watch: &'a Watch<'a>,
    /// The place of each row in the order.
    places: Vec<u32>,
    most_met: usize,
    /// All jobs, and the wishes about them, until they are [restored](Self::restore_all_jobs).
    all_jobs: JobTable,
    all_wished: WishedRows,
}

impl<'a> WishedQueue<'a> {
    /// Reads the queue, and keeps the jobs that the wishes name.
    fn new(
        site: &'a Site,
        template: &'a Template,
        wishes: &Wishes,
        watch: &'a Watch<'a>,
    ) -> Result<Self, FitError> {
        // any numbers would do: the jobs are read for the names of the formula
        let formula = filled(template, &template.starts());
        let read = site.read_jobs_to_rank(&RankRequest::from(&formula))?;
        let mut queue = site.rank_read_jobs(read)?;
        let equal = Formula::parse(EQUAL_VALUES).expect("a number is a formula");
        // `find` then refuses only jobs that no constants could bring into the order
        site.rank_again(&mut queue, &equal)?;
        let wished = wishes.find(&queue)?;
        if wished.wishes.is_empty() {
            return Err(FitError::new("no job is wished before another one"));
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
            watch,
            most_met: 0,
            all_jobs,
            all_wished,
        })
    }

    /// Ranks the jobs with these constants, and returns which wishes are met.
    fn met(&mut self, values: &[f64]) -> Vec<bool> {
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
        let done = (self.most_met, self.wished.wishes.len());
        self.is_interrupted |= (self.watch)(Some(done)).is_break();
        met
    }

    /// Puts back the jobs about which nothing is wished, so that the next ranking is that of the
    /// scheduler.
    fn restore_all_jobs(&mut self) {
        self.queue.table = std::mem::take(&mut self.all_jobs);
        self.wished = std::mem::take(&mut self.all_wished);
        self.places = vec![NOT_RANKED; self.queue.table.len()];
    }

    /// Whether a row is above another one in the present ranking.
    fn is_above(&self, above: usize, below: usize) -> bool {
        self.places[above] < self.places[below]
    }

    /// By how much the present values differ from the wished scores, by the jobs with scores.
    fn deviations(&self) -> Vec<f64> {
        let mut deviations = Vec::new();
        for (row, score) in &self.wished.scores {
            deviations.push((self.value(*row) - score).abs());
        }
        deviations
    }

    /// The mean of these deviations; `None` without scores.
    fn mean_deviation(&self) -> Option<f64> {
        let deviations = self.deviations();
        if deviations.is_empty() {
            return None;
        }
        Some(deviations.iter().sum::<f64>() / deviations.len() as f64)
    }

    /// The ids of the two jobs of a wish.
    fn ids_of_wish(&self, index: usize) -> (String, String) {
        let Wish { above, below } = self.wished.wishes[index];
        let table = &self.queue.table;
        (table.id(above).to_owned(), table.id(below).to_owned())
    }

    /// The value of a row in the present ranking, before it is rounded; 0 where the formula fails.
    fn value(&self, row: usize) -> f64 {
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

fn count(met: &[bool]) -> usize {
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
