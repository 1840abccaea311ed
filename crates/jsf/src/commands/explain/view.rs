//! What people see of an explanation: why a job has its place, in one sentence, then the numbers
//! behind it.

use std::cmp::Reverse;
use std::iter;

use job_sort_formula::Value;
use job_sort_formula::jobs::InputOrigin;
use job_sort_formula::rank::explain::nearest_double;
use job_sort_formula::rank::{Consequence, ScoreError, SummandAgreement};
use job_sort_formula::schema::FairshareInput;
use jsf_openpbs::amounts;
use jsf_openpbs::order::Criterion;
use jsf_site::{
    Against, Cause, ExplainedInput, Explanation, Means, Neighbour, RankReached, Reached,
    SmallestChange, Wait,
};

use crate::commands::explain::{ExplainAnswer, MAX_CODE, path_view};
use crate::commands::rank::Terms;
use crate::commands::shares::view::shares_table;
use crate::view::document::{
    Cell, Column, DECIDES, Document, Fact, Section, Table, branches, cells, score_in_words,
};
use crate::view::facts::{decides_fact, rates_line, rule_facts, summand_columns};
use crate::view::verdict::verdict_sentence;
use crate::view::words::{
    and_list, count, excerpt, first_few_quoted, grouped_number, ordinal, quoted_and_list,
    significant, state_words, waiting_time,
};

impl ExplainAnswer<'_> {
    /// What people see of it.
    pub(super) fn shown(&self) -> Document<'_> {
        let jobs = &self.explanations.jobs;
        let decides = self.queue.decides();
        let text = self.given.text();
        let mut sections = vec![Section::formulas(text, text)];
        for job in jobs {
            let mut of = String::new();
            if jobs.len() > 1 {
                let id = self.table().id(job.row);
                let sentence = format!("{}.", self.place_in_words(job));
                sections.push(Section::new(id).prose(sentence).in_full());
                of = format!(" of {id}");
            }
            let explained = ExplainedJob {
                answer: self,
                job,
                of: &of,
                decides: &decides,
            };
            sections.extend(explained.sections());
        }
        Document {
            command: "jsf explain",
            title: "Why a job has its place".to_owned(),
            headline: self.headline(),
            facts: self.facts(&decides),
            sections,
            read_on: "jsf trajectory --job ID",
        }
    }

    /// Why the first jobs have their places, a sentence each.
    fn headline(&self) -> String {
        let jobs = &self.explanations.jobs;
        let mut sentences = Vec::new();
        let checked = self.checked();
        if !checked.verdict.has_effect() {
            sentences.extend(verdict_sentence(checked, "the formula"));
        }
        for job in jobs.iter().take(MAX_SENTENCES) {
            sentences.push(format!("{}.", self.place_in_words(job)));
        }
        if jobs.len() > MAX_SENTENCES {
            let more = count(jobs.len() - MAX_SENTENCES, "more job");
            sentences.push(format!("Below: {more}."));
        }
        sentences.join(" ")
    }

    /// The formula, what decides the order, what waiting is worth, and, in full, the rules.
    fn facts(&self, decides: &[SummandAgreement]) -> Vec<Fact> {
        let jobs = &self.explanations.jobs;
        let mut facts = rule_facts(self.given.text(), &self.queue.rules);
        if self.question.described.is_some()
            && let Some(job) = jobs.last()
        {
            let queue = self.table().queue(job.row);
            facts.push(Fact::new(
                "described",
                format!("as submitted now to `{queue}`"),
            ));
        }
        let preemption = self.preemption();
        if !preemption.is_empty() {
            facts.push(Fact::new("cycle", preemption.join("; ")));
        }
        facts.extend(decides_fact(decides));
        if let [job] = &jobs[..] {
            let rates = rates_line(&job.rates, "at this job");
            if !rates.is_empty() {
                facts.push(Fact::new("worth", format!("{rates} (in waiting)")));
            }
        }
        facts
    }

    /// What decides between the job and a neighbour where the values do not say it.
    fn note(&self, one: &Neighbour) -> String {
        let mut notes = Vec::new();
        if let Some(score) = self.queue.ranking.score(one.row)
            && score.unrounded.is_err()
        {
            notes.push("its evaluation failed");
        }
        if one.decided_by != Some(Criterion::Value) {
            notes.push(&one.reason);
        }
        notes.extend(one.rounding);
        notes.join("; ")
    }

    /// Whether some job has an amount of the order of magnitude that an input would have to have.
    fn is_plausible(&self, change: &SmallestChange) -> bool {
        let Some(column) = self.table().column(&change.name) else {
            return true;
        };
        // where no job has any of it, a few are plausible all the same
        let mut most: f64 = 1.0;
        for row in 0..self.table().len() {
            most = most.max(column.nearest_double(row));
        }
        matches!(nearest_double(&change.to), Some(to) if to <= PLAUSIBLE * most)
    }
}

/// A change to more than this multiple of the largest amount of any job is left out.
const PLAUSIBLE: f64 = 10.0;
/// The most jobs of which the headline has a sentence.
const MAX_SENTENCES: usize = 2;
/// The most summands that have a column.
const MAX_TERM_COLUMNS: usize = 4;
/// The most queues that one cell names.
const MAX_NAMED: usize = 10;

/// A job that is explained.
#[derive(Clone, Copy)]
struct ExplainedJob<'a, 'o> {
    answer: &'a ExplainAnswer<'a>,
    job: &'a Explanation,
    /// What names it in the headings of its sections, if there are several jobs.
    of: &'o str,
    /// What each summand decides of the order.
    decides: &'o [SummandAgreement],
}

impl<'a> ExplainedJob<'a, '_> {
    fn sections(self) -> Vec<Section<'a>> {
        let Self {
            answer, job, of, ..
        } = self;
        let mut sections = Vec::new();
        if let Some(reached) = job.reached {
            let mut sentence = waiting_sentence(job, reached);
            if !of.is_empty() {
                sentence = format!("`{}`: {sentence}", answer.table().id(job.row));
            }
            sections.push(Section::new("").prose(sentence));
        }
        sections.extend(self.neighbours());
        if let Some(goal) = job.goal {
            sections.push(self.changes(goal).in_full_if(!of.is_empty()));
        }
        let mut details = Vec::new();
        if !job.inputs.is_empty() {
            details.push(self.inputs());
        }
        details.extend(self.parts());
        details.extend(self.shares());
        if !job.is_complete {
            details.push(Section::new("").prose(
                "the searches for this job ended early, because they had done the work that one explanation may do: \
                 what is missing is not known",
            ));
        }
        sections.extend(details.into_iter().map(Section::in_full));
        sections
    }

    fn inputs(self) -> Section<'a> {
        let columns = [
            Column::text("input", 9),
            Column::number("value", 9),
            Column::text("unit", 7),
            Column::text("from", 8),
        ];
        let table = Table::new(columns, Vec::from_iter(&self.job.inputs), |input| {
            cells![
                &*input.name,
                input.value.as_ref(),
                Cell::prose(input_unit(input)),
                input.origin.to_string(),
            ]
        });
        Section::new(format!("inputs{}", self.of)).table(table)
    }

    /// The formula as a tree, with the value of every part.
    fn parts(self) -> Option<Section<'a>> {
        let mut nodes = Vec::from_iter(&self.job.nodes);
        // a literal shows its value itself
        nodes.retain(|node| !node.is_literal);
        if nodes.is_empty() {
            return None;
        }
        // depth first
        nodes.sort_by_key(|node| (node.span.start, Reverse(node.span.end), node.depth));
        let depths: Vec<usize> = nodes.iter().map(|node| node.depth).collect();
        let mut rows = Vec::new();
        for (lines, node) in iter::zip(branches(&depths), nodes) {
            let part = Cell::Node {
                lines,
                depth: node.depth,
                text: excerpt(self.answer.part(node), MAX_CODE),
                is_code: true,
            };
            rows.push(cells![part, &node.value]);
        }
        let table = Table::from_rows([Column::code("part", 9), Column::number("value", 9)], rows);
        Some(Section::new(format!("value of each part{}", self.of)).table(table))
    }

    fn shares(self) -> Option<Section<'a>> {
        let shares = self.answer.explanations.shares.as_ref();
        let view = path_view(shares, self.job)?;
        let heading = format!(
            "shares{}, from the root to the entity (usage in {})",
            self.of, shares?.usage_unit
        );
        let section = Section::new(heading);
        Some(section.table(shares_table(&view, false)))
    }

    /// The jobs ahead and behind, with the job itself between them.
    fn neighbours(self) -> Option<Section<'a>> {
        let Self {
            answer, job, of, ..
        } = self;
        let rank = job.rank?;
        if job.above.is_empty() && job.below.is_empty() {
            return None;
        }
        let terms = Terms::Summands(answer.queue.program.summands());
        let shown = deciding_terms(&terms, job);
        let mut jobs = Vec::new();
        let shown_job = |near: &Neighbour| (near.rank.to_string(), near.row, answer.note(near));
        jobs.extend(job.above.iter().rev().map(shown_job));
        jobs.push((format!("> {rank}"), job.row, "this job".to_owned()));
        jobs.extend(job.below.iter().map(shown_job));
        let table = answer.table();
        let mut rows = Vec::new();
        for (rank, row, note) in jobs {
            let mut cells = cells![
                Cell::Written(rank, None),
                table.id(row),
                Cell::prose(table.entity(row)),
                answer.value(row).map(Cell::Score),
            ];
            if !shown.is_empty() {
                let values = terms.values(&answer.queue, row);
                for &index in &shown {
                    let value = values[index].as_ref().and_then(nearest_double);
                    cells.push(value.map(Cell::significant).into());
                }
            }
            cells.push(Cell::prose(note));
            rows.push(cells);
        }
        let mut columns = vec![
            Column::number("rank", 9),
            Column::id("job", DECIDES),
            Column::text("entity", 4),
            Column::number("value", DECIDES),
        ];
        let parts = terms.parts();
        let texts = shown.iter().map(|&index| parts[index].1).collect();
        columns.extend(summand_columns(texts, self.decides, 9));
        columns.push(Column::wrapped("note", 7));
        let mut table = Table::from_rows(columns, rows);
        table.focus = Some(job.above.len());
        Some(Section::new(format!("neighbours{of}")).table(table))
    }

    /// How much the job lacks to a rank, and which changes of one input give it.
    fn changes(self, goal: usize) -> Section<'a> {
        let Self {
            answer, job, of, ..
        } = self;
        let mut shown = Vec::from_iter(&job.changes.found);
        // all other jobs wait too
        shown.retain(|change| change.means != Means::Wait && answer.is_plausible(change));
        let section = Section::new(format!("what one change gives{of}"));
        let mut lacking = self.lacking_sentence(goal);
        if shown.is_empty() {
            if job.changes.unknown.is_empty() {
                lacking +=
                    "; no single input gives that (more than is requested is not considered)";
            }
            return section.prose(lacking);
        }
        let columns = [
            Column::name("input", 9),
            Column::number("now", 9),
            Column::number(at_most(goal), 9),
            Column::text("unit", 5),
            Column::wrapped("changed by", 5),
        ];
        let table = Table::new(columns, shown, |change| {
            cells![
                &*change.name,
                &change.from,
                &change.to,
                Cell::prose(change.unit.unwrap_or_default()),
                Cell::prose(changed_by(change)),
            ]
        });
        section.prose(lacking).table(table)
    }

    /// Which job has a rank, and how much more value it has.
    fn lacking_sentence(self, goal: usize) -> String {
        let Self { answer, job, .. } = self;
        let other = answer.queue.ranking.order()[goal - 1];
        let value = answer.value(other).unwrap_or(f64::NAN);
        let lacking = value - answer.value(job.row).unwrap_or(f64::NAN);
        let id = answer.table().id(other);
        let mut there = format!("rank {goal} is `{id}` with {}", score_in_words(value));
        if lacking > 0.0 && lacking.is_finite() {
            // of a priority of Slurm, with its 32 bits, a C float would not keep all digits
            let lacking = if lacking.fract() == 0.0 {
                score_in_words(lacking)
            } else {
                amounts::logged(lacking)
            };
            there += &format!(": {lacking} more are needed");
        }
        there
    }
}

/// The summands that are shown beside the neighbours: all of them if they are few, else those by
/// which the nearest one differs most. A single one is the value itself.
fn deciding_terms(terms: &Terms, job: &Explanation) -> Vec<usize> {
    let parts = terms.parts();
    if parts.len() < 2 {
        return Vec::new();
    }
    if parts.len() <= MAX_TERM_COLUMNS {
        return (0..parts.len()).collect();
    }
    let mut shown = Vec::new();
    if let Some(nearest) = job.above.first().or(job.below.first()) {
        for most in nearest.differences.iter().take(MAX_TERM_COLUMNS) {
            shown.extend(parts.iter().position(|part| *part.1 == *most.text));
        }
    }
    // found by their differences, shown in the order of the formula
    shown.sort_unstable();
    shown.dedup();
    shown
}

/// Who can make a change.
fn changed_by(change: &SmallestChange) -> String {
    match change.means {
        Means::AskForLess => "the user: ask for less, if the job needs no more".to_owned(),
        Means::Queue => {
            let queues = first_few_quoted(&change.queues, MAX_NAMED);
            format!("the user: another queue that takes the job: {queues}")
        }
        _ if &*change.name == "queue_priority"
            || FairshareInput::from_name(&change.name).is_some() =>
        {
            "the site".to_owned()
        }
        _ => "the job's own attribute".to_owned(),
    }
}

/// When the job reaches a rank by waiting.
fn waiting_sentence(job: &Explanation, reached: RankReached) -> String {
    let rank = reached.rank;
    let Some(now) = job.rank else {
        return "it has no rank while it is not considered".to_owned();
    };
    let mut inputs = job.inputs.iter();
    // the age is what grows in Slurm's priority
    let reads_wait = inputs.any(|input| matches!(&*input.name, "eligible_time" | "age_factor"));
    match reached.wait {
        Wait::Unknown => format!("when it reaches rank {rank} takes too long to find out"),
        Wait::Never { gain_alike: false } if reads_wait => format!(
            "it does not reach rank {rank} by waiting, at least not within {}, if all others wait as long",
            waiting_time(reached.within)
        ),
        Wait::Never { .. } => {
            let because = if reads_wait {
                "all jobs gain alike"
            } else {
                "the formula does not read `eligible_time`"
            };
            let ahead = match now - 1 {
                1 => "the job".to_owned(),
                jobs => format!("one of the {jobs} jobs"),
            };
            format!(
                "Waiting overtakes nobody, as {because}; it moves up when {ahead} ahead starts."
            )
        }
        Wait::Until(Reached { wait: 0, .. }) => format!("it has {} now", at_most(rank)),
        Wait::Until(Reached {
            wait,
            eligible_time,
        }) => format!(
            "it reaches rank {rank} in {}, when its eligible_time is {eligible_time} s, if all others wait as long",
            waiting_time(wait)
        ),
    }
}

/// The unit of an input; seconds also as days, hours and minutes.
fn input_unit(input: &ExplainedInput) -> String {
    let unit = input.unit.unwrap_or_default();
    match input.value.as_ref().and_then(nearest_double) {
        Some(seconds) if unit == "s" && seconds >= 60.0 => {
            format!("s ({})", waiting_time(seconds as i64))
        }
        _ => unit.to_owned(),
    }
}

/// `rank 1`, `rank 5 or better`.
fn at_most(rank: usize) -> String {
    if rank == 1 {
        "rank 1".to_owned()
    } else {
        format!("rank {rank} or better")
    }
}

/// The most characters of a part of the formula that is quoted.
const MAX_QUOTED: usize = 120;

impl ExplainAnswer<'_> {
    /// Why a job has its place, in one sentence.
    pub(crate) fn place_in_words(&self, job: &Explanation) -> String {
        let mut clauses = vec![self.rank_in_words(job)];
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

    /// Which place a job has, or why it has none.
    fn rank_in_words(&self, job: &Explanation) -> String {
        let id = self.table().id(job.row);
        let Some(rank) = job.rank else {
            return format!("`{id}` is not considered: {}", self.why_not(job));
        };
        let considered = grouped_number(self.considered());
        format!("`{id}` is {} of {considered}", ordinal(rank))
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
        subject += match (costs, cause.inputs.len()) {
            (true, 1) => " costs",
            (true, _) => " cost",
            (false, 1) => " gains",
            (false, _) => " gain",
        };
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
