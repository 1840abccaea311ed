//! Reads wishes: pairs of jobs, a list of jobs, or jobs with scores.

use std::collections::{HashMap, HashSet};

use jsf_site::RankedQueue;

use super::{Place, Wish, WishError};

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
/// # Ok::<(), jsf_fit::wishes::WishError>(())
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
    place: Place,
}

/// Wishes about the rows of a table.
#[derive(Debug, Clone, Default)]
pub struct WishedRows {
    pub wishes: Vec<Wish>,
    /// The rows with scores.
    pub scores: Vec<(usize, f64)>,
    /// The rows of each list, best first, in groups of equals.
    pub lists: Vec<Vec<Vec<usize>>>,
}

impl WishedRows {
    /// All its rows, each as often as it is there.
    pub fn rows_mut(&mut self) -> Vec<&mut usize> {
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
            let id = id.to_owned();
            let place = Place::default();
            pair.push(vec![Named { id, place }]);
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
    pub fn read(&mut self, name: &str, text: &str) -> Result<(), WishError> {
        let whole = Place {
            document: name.to_owned(),
            line: 1,
        };
        let text = text.trim_start_matches('\u{feff}');
        let mut lines = Vec::new();
        for (text, line) in text.lines().zip(1..) {
            let document = name.to_owned();
            lines.push(Line::new(text, Place { document, line }));
        }
        if lines.iter().all(|line| line.text.is_empty()) {
            return Err(WishError::at(&whole, "no job is wished anywhere"));
        }
        if lines.iter().any(|line| line.text.contains(',')) {
            self.read_scores(&lines)
        } else {
            self.lists.push(groups(&lines)?);
            Ok(())
        }
    }

    fn read_scores(&mut self, lines: &[Line<'_>]) -> Result<(), WishError> {
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
                    return Err(WishError::at(&line.place, message));
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
    pub(super) fn find(&self, queue: &RankedQueue) -> Result<WishedRows, WishError> {
        if !self.lists.is_empty()
            && let Some((first, _)) = self.scores.first()
        {
            return Err(WishError::at(
                &first.place,
                "scores cannot be fitted together with an order of jobs",
            ));
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
        let mut count = 0;
        for groups in &wished.lists {
            for pair in groups.windows(2) {
                count += pair[0].len() * pair[1].len();
            }
        }
        if count > MAX_WISHES {
            let place = Place::default();
            return Err(WishError::at(
                &place,
                format!("more than {MAX_WISHES} pairs of jobs are wished in an order"),
            ));
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
        wished.wishes.retain(|wish| seen.insert(*wish));
        Ok(wished)
    }
}

/// A line without its comment.
struct Line<'t> {
    text: &'t str,
    /// Whether nothing is written on it, not even a comment.
    is_blank: bool,
    place: Place,
}

impl<'t> Line<'t> {
    fn new(line: &'t str, place: Place) -> Self {
        let text = line.split('#').next().unwrap_or_default().trim();
        Self {
            text,
            is_blank: line.trim().is_empty(),
            place,
        }
    }

    fn named(&self, id: &str) -> Result<Named, WishError> {
        let id = unquoted(id);
        if id.is_empty() || id.contains(char::is_whitespace) {
            return Err(WishError::at(
                &self.place,
                format!("`{id}` is not the id of a job; write one on each line"),
            ));
        }
        Ok(Named {
            id: id.to_owned(),
            place: self.place.clone(),
        })
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
fn groups(lines: &[Line<'_>]) -> Result<Vec<Vec<Named>>, WishError> {
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
) -> Result<usize, WishError> {
    let row = match row_of(queue, &named.id) {
        Ok(row) => row,
        Err(message) => return Err(WishError::at(&named.place, message)),
    };
    let Some(first) = seen.insert(row, named) else {
        return Ok(row);
    };
    let line = match first.place.line {
        0 => String::new(),
        line => format!(" on line {line}"),
    };
    let message = if first.id == named.id {
        format!("`{}` is there twice, first{line}", named.id)
    } else {
        format!("`{}` is the same job as `{}`{line}", named.id, first.id)
    };
    Err(WishError::at(&named.place, message))
}

/// The rows in groups of equal scores, the highest first.
fn by_score(scores: &[(usize, f64)]) -> Vec<Vec<usize>> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|left, right| right.1.total_cmp(&left.1));
    let mut groups = Vec::new();
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
    let mut not_considered = queue.not_considered.iter();
    let reason = if let Some((_, reason)) = not_considered.find(|(other, _)| *other == row) {
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
