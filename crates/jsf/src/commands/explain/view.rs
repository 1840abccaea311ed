//! Explanations for people: the answer in one sentence, then the numbers behind it.

use std::borrow::Cow;
use std::cmp::Reverse;

use job_sort_formula::python::Value;
use job_sort_formula::rank::explain::{NodeValue, nearest_double};
use job_sort_formula::schema::FairshareInput;
use jsf_openpbs::number_format;
use jsf_openpbs::order::Criterion;
use jsf_site::{
    ExplainedInput, Explanation, Means, Neighbour, RankReached, Reached, Rounding, SmallestChange,
    SmallestChanges, Wait,
};

use crate::commands::explain::answer::{ExplainReport, path_view};
use crate::commands::explain::sentence::{sentence, state_words, tied};
use crate::commands::rank::answer::TermColumns;
use crate::commands::shares::view::shares_table;
use crate::view::branches::branches;
use crate::view::decides::{decides_line, summand_columns};
use crate::view::document::{Cell, Column, DECIDES, Document, DrawingStyle, Fact, Section, Table};
use crate::view::exchange_rates::{WORTH, rates_line};
use crate::view::printable::excerpt;
use crate::view::rule_facts::rule_facts;
use crate::view::verdict::verdict_sentence;
use crate::view::words::{first_names, five_digits, other_jobs_have, waiting_time};

/// The heading over what decides between the job and a neighbour.
const DECIDED_BY: &str = "difference of the values, largest term first";
/// What the signs of the differences mean.
const SIGNS: &str = "minus: the other job has more";
/// A change to more than this multiple of the largest amount of any job is left out.
const PLAUSIBLE: f64 = 10.0;
/// The most jobs of which the headline has a sentence.
const MAX_SENTENCES: usize = 2;
/// The most summands that have a column.
const MAX_TERM_COLUMNS: usize = 4;
/// The most characters of a part of the formula, however wide the table is.
pub(crate) const MAX_CODE: usize = 400;
/// The most inputs that one sentence names.
const MAX_NAMED: usize = 10;
/// The most differences that are listed of a neighbour.
const MAX_DIFFERENCES: usize = 3;

/// Draws the error of a job under the formula; `None` for a job without an error.
pub type DrawError<'a> = &'a dyn Fn(&Explanation, DrawingStyle) -> Option<String>;

/// The document of one or more explanations.
pub(crate) fn explain_document<'a>(report: ExplainReport<'a>) -> Document<'a> {
    let draw_error = report.draw_error;
    let jobs = &report.explanations.jobs;
    let mut sections = vec![Section::formulas(report.formula, report.formula)];
    sections.extend(jobs.iter().flat_map(|job| {
        let of = if jobs.len() > 1 {
            format!(" of {}", report.table().id(job.row))
        } else {
            String::new()
        };
        job_sections(report, job, &of, draw_error)
    }));
    Document {
        command: "jsf explain",
        title: "Why a job has its place".to_owned(),
        headline: headline(report),
        facts: facts(report),
        sections,
        read_on: "jsf trajectory --job ID",
    }
}

/// Why the first jobs have their places, a sentence each.
fn headline(report: ExplainReport<'_>) -> String {
    let jobs = &report.explanations.jobs;
    let verdict = report
        .checked
        .filter(|checked| !checked.verdict.has_effect());
    let verdict = verdict.and_then(|checked| verdict_sentence(checked, "the formula"));
    let of_jobs = jobs
        .iter()
        .take(MAX_SENTENCES)
        .map(|job| format!("{}.", sentence(&report, job)));
    let mut sentences: Vec<String> = verdict.into_iter().chain(of_jobs).collect();
    match jobs.len().saturating_sub(MAX_SENTENCES) {
        0 => {}
        1 => sentences.push("1 more job is explained below.".to_owned()),
        more => sentences.push(format!("{more} more jobs are explained below.")),
    }
    sentences.join(" ")
}

/// The formula, what decides the order, and, in full, the rules.
fn facts(report: ExplainReport<'_>) -> Vec<Fact> {
    let mut facts = rule_facts(report.rules);
    let decides = Some(decides_line(report.decides)).filter(|line| !line.is_empty());
    facts.extend(decides.map(|line| Fact::new("decides", line)));
    if let [job] = report.explanations.jobs.as_slice() {
        facts.extend(rates(job).map(|rates| Fact::new("worth", format!("{rates} (in waiting)"))));
    }
    facts
}

/// What inputs of the job are worth in time of waiting.
fn rates(job: &Explanation) -> Option<String> {
    Some(rates_line(&job.rates, "at this job")).filter(|line| !line.is_empty())
}

/// The sections of a job; `of` names it in their headings, if there are several.
fn job_sections<'a>(
    report: ExplainReport<'a>,
    job: &'a Explanation,
    of: &str,
    draw_error: DrawError<'a>,
) -> Vec<Section<'a>> {
    let mut sections = Vec::new();
    if !of.is_empty() {
        let sentence = format!("{}.", sentence(&report, job));
        sections.push(
            Section::new(report.table().id(job.row))
                .prose(sentence)
                .in_full(),
        );
    }
    if job.result.as_ref().is_some_and(Result::is_err) {
        sections.push(
            Section::new("")
                .draw(move |style| draw_error(job, style).unwrap_or_default())
                .in_full(),
        );
    }
    sections.extend(job.reached.map(|reached| {
        let of = if of.is_empty() {
            String::new()
        } else {
            format!("`{}`: ", report.table().id(job.row))
        };
        Section::new("").prose(format!("{of}{}", waiting_sentence(&report, job, reached)))
    }));
    sections.extend(neighbours_section(report, job, of));
    let changes = job
        .goal
        .into_iter()
        .flat_map(|goal| changes_sections(goal, report, job));
    if !of.is_empty() {
        sections.extend(rates(job).map(|rates| {
            Section::new("")
                .prose(format!("{WORTH}: {rates}"))
                .in_full()
        }));
    }
    sections.extend(changes.map(|section| {
        if of.is_empty() {
            section
        } else {
            section.in_full()
        }
    }));
    let details = [
        terms_section(job, of),
        inputs_section(job, of),
        parts_section(report, job, of),
        shares_section(report, job, of),
        notes_section(report, job, of),
    ];
    sections.extend(details.into_iter().flatten().map(Section::in_full));
    sections
}

/// The terms, with their part of the sum of all magnitudes. A single term is the value itself.
fn terms_section<'a>(job: &'a Explanation, of: &str) -> Option<Section<'a>> {
    let values: Vec<f64> = job
        .terms
        .iter()
        .map(|term| nearest_double(&term.value).unwrap_or(f64::NAN))
        .collect();
    let total: f64 = values.iter().map(|value| value.abs()).sum();
    let sum: f64 = values.iter().sum();
    let part = move |value: f64| {
        if total > 0.0 && total.is_finite() {
            value / total
        } else {
            0.0
        }
    };
    let table = Table::of(job.terms.iter().zip(values))
        .column(Column::code("term", 9), |(term, _)| {
            Cell::Code(excerpt(&term.text, MAX_CODE))
        })
        .column(Column::number("value", 9).with_bar(), |(term, _)| {
            python(&term.value)
        })
        .column(Column::number("part", 7), move |(_, value)| {
            Cell::Written(format!("{:.0} %", part(*value) * 100.0), Some(part(*value)))
        })
        .column(Column::bar(2), move |(_, value)| Cell::Bar(part(*value)));
    // scores that are far from the sum are those of limits, others are rounded to a float
    let is_limited = job
        .score
        .is_some_and(|score| (score - sum).abs() > 1e-6 * total);
    let what = if is_limited {
        "They add up to the value, before a limit or a rounding of the whole."
    } else {
        "They add up to the value."
    };
    let section = Section::new(format!("terms{of}")).prose(what);
    (job.terms.len() > 1).then(|| section.table(table.table()))
}

fn inputs_section<'a>(job: &'a Explanation, of: &str) -> Option<Section<'a>> {
    let table = Table::of(&job.inputs)
        .column(Column::text("input", 9), |input| Cell::prose(&*input.name))
        .column(Column::number("value", 9), |input| {
            input.value.as_ref().map_or(Cell::Missing, python)
        })
        .column(Column::text("unit", 7), |input| {
            Cell::prose(input_unit(input))
        })
        .column(Column::text("from", 8), |input| {
            Cell::prose(input.origin.to_string())
        });
    (!job.inputs.is_empty()).then(|| Section::new(format!("inputs{of}")).table(table.table()))
}

/// The formula as a tree, with the value of every part.
fn parts_section<'a>(
    report: ExplainReport<'a>,
    job: &'a Explanation,
    of: &str,
) -> Option<Section<'a>> {
    let nodes = shown_nodes(job);
    let depths: Vec<usize> = nodes.iter().map(|node| node.depth).collect();
    let rows = branches(&depths)
        .into_iter()
        .zip(&nodes)
        .map(|(lines, node)| {
            let text = excerpt(part(&report, node), MAX_CODE);
            vec![
                Cell::Node {
                    lines,
                    depth: node.depth,
                    text,
                    is_code: true,
                },
                python(&node.value),
            ]
        });
    let columns = vec![Column::code("part", 9), Column::number("value", 9)];
    let section = Section::new(format!("value of each part{of}"));
    (!nodes.is_empty()).then(|| section.table(Table::from_rows(columns, rows)))
}

fn shares_section<'a>(
    report: ExplainReport<'a>,
    job: &'a Explanation,
    of: &str,
) -> Option<Section<'a>> {
    let view = path_view(report.explanations.shares.as_ref(), job)?;
    let heading = format!(
        "shares{of}, from the root to the entity (usage in {})",
        report.usage_unit
    );
    let meaning = if view.is_pbs() {
        "perc: its part of the whole tree; tree_usage: the part of the usage that counts for it; factor: 1 without usage"
    } else {
        ""
    };
    Some(
        Section::new(heading)
            .prose(meaning)
            .table(shares_table(view, false)),
    )
}

/// The jobs ahead and behind, with the job itself between them.
fn neighbours_section<'a>(
    report: ExplainReport<'a>,
    job: &'a Explanation,
    of: &str,
) -> Option<Section<'a>> {
    let rank = job
        .rank
        .filter(|_| !job.above.is_empty() || !job.below.is_empty())?;
    let terms = TermColumns::new(&report.queue.program);
    let has_terms = (2..=MAX_TERM_COLUMNS).contains(&terms.texts().count());
    let neighbours = job.above.iter().rev().chain(&job.below);
    let decided = |one: &Neighbour| {
        if !has_terms {
            decision(&report, job, one)
        } else if one.decided_by == Some(Criterion::Value) {
            String::new()
        } else {
            one.reason.clone()
        }
    };
    let terms = has_terms.then_some(&terms);
    let mut rows: Vec<_> = neighbours
        .map(|one| neighbour_cells(report, one.rank, one.row, terms, decided(one)))
        .collect();
    let mut this_job = neighbour_cells(report, rank, job.row, terms, "this job".to_owned());
    this_job[0] = Cell::Written(format!("> {rank}"), Some(rank as f64));
    rows.insert(job.above.len(), this_job);
    let mut columns = vec![
        Column::number("rank", 9),
        Column::id("job", DECIDES),
        Column::text("entity", 4),
        Column::number("value", DECIDES),
    ];
    columns.extend(summand_columns(
        terms.into_iter().flat_map(TermColumns::texts),
        report.decides,
        9,
    ));
    columns.push(if has_terms {
        Column::wrapped("note", 7)
    } else {
        Column::wrapped(DECIDED_BY, DECIDES)
    });
    let heading = if has_terms {
        format!("neighbours{of}")
    } else {
        format!("neighbours{of} ({SIGNS})")
    };
    Some(Section::new(heading).table(Table::from_rows(columns, rows).focus(job.above.len())))
}

fn neighbour_cells<'a>(
    report: ExplainReport<'a>,
    rank: usize,
    row: usize,
    terms: Option<&TermColumns<'_>>,
    decided: String,
) -> Vec<Cell<'a>> {
    let table = report.table();
    let mut cells = vec![
        Cell::Count(rank),
        Cell::text(table.id(row)),
        Cell::prose(table.entity(row)),
        Cell::score(report.value(row)),
    ];
    let values = terms.into_iter().flat_map(|terms| terms.values(table, row));
    cells.extend(values.map(|value| {
        value
            .as_ref()
            .and_then(nearest_double)
            .map_or(Cell::Missing, Cell::significant)
    }));
    cells.push(Cell::prose(decided));
    cells
}

/// How much the job lacks to a rank, and which inputs give it.
fn changes_sections<'a>(
    goal: usize,
    report: ExplainReport<'a>,
    job: &'a Explanation,
) -> Vec<Section<'a>> {
    let (shown, beyond): (Vec<_>, Vec<_>) = job
        .changes
        .found
        .iter()
        .partition(|change| is_plausible(&report, change));
    // all other jobs wait too
    let (aging, shown): (Vec<_>, Vec<_>) = shown
        .into_iter()
        .partition(|change| change.means == Means::Wait);
    let (honest, what_if): (Vec<_>, Vec<_>) = shown
        .into_iter()
        .partition(|change| change.means != Means::WhatIf);
    let has_none = honest.is_empty() && what_if.is_empty();
    let none = if has_none {
        without_changes(&job.changes)
    } else {
        ""
    };
    let lacking = Section::new("").prose(format!("{}{none}", lacking_sentence(goal, report, job)));
    let lacking = lacking
        .prose(left_out(&aging, &beyond))
        .prose(unknown_changes(&job.changes));
    let rank = at_most(goal);
    let tables = [
        (honest_heading(&honest, &rank), honest),
        (
            format!("what if for this job alone (no user can do that): each gives {rank}"),
            what_if,
        ),
    ];
    let tables = tables
        .into_iter()
        .filter(|(_, changes)| !changes.is_empty());
    let tables =
        tables.map(|(heading, changes)| Section::new(heading).table(changes_table(changes)));
    std::iter::once(lacking).chain(tables).collect()
}

/// The heading over what a user can do.
fn honest_heading(changes: &[&SmallestChange], rank: &str) -> String {
    let asks_for_less = changes
        .iter()
        .any(|change| change.means == Means::AskForLess);
    let needs = if asks_for_less {
        ", if the job needs no more"
    } else {
        ""
    };
    format!("what the user can do{needs}: each of these alone gives {rank}")
}

/// Which job has a rank, and how much more value it has.
fn lacking_sentence(goal: usize, report: ExplainReport<'_>, job: &Explanation) -> String {
    let other = report.queue.ranking.order()[goal - 1];
    let value = report.value(other).unwrap_or(f64::NAN);
    let lacking = value - report.value(job.row).unwrap_or(f64::NAN);
    let logged = number_format::logged(value);
    let id = report.table().id(other);
    match lacking {
        lacking if lacking > 0.0 && lacking.is_finite() => {
            format!(
                "rank {goal} is `{id}` with {logged}: {} more are needed",
                number_format::logged(lacking)
            )
        }
        0.0 => format!("rank {goal} is `{id}` with the same value"),
        _ => format!("rank {goal} is `{id}` with {logged}"),
    }
}

/// The changes that are not listed.
fn left_out(aging: &[&SmallestChange], beyond: &[&SmallestChange]) -> String {
    let aging = aging
        .iter()
        .map(|_| "`eligible_time` (all jobs wait alike)".to_owned());
    let beyond = beyond.iter().map(|change| {
        format!(
            "`{}` of {} (more than {PLAUSIBLE} times that of any job)",
            change.name,
            change.to.repr()
        )
    });
    let left_out: Vec<String> = aging.chain(beyond).collect();
    if left_out.is_empty() {
        String::new()
    } else {
        format!("left out: {}", first_names(left_out.iter(), MAX_NAMED))
    }
}

/// The inputs of which a change was not found in time.
fn unknown_changes(changes: &SmallestChanges) -> String {
    if changes.unknown.is_empty() {
        return String::new();
    }
    let names = changes.unknown.iter().map(|name| format!("`{name}`"));
    format!(
        "what a change of {} gives takes too long to find out",
        first_names(names, MAX_NAMED)
    )
}

fn changes_table<'a>(changes: Vec<&'a SmallestChange>) -> Table<'a> {
    Table::of(changes)
        .column(Column::name("input", 9), |change| {
            Cell::prose(&*change.name)
        })
        .column(Column::number("now", 9), |change| python(&change.from))
        .column(Column::number("then", 9), |change| python(&change.to))
        .column(Column::text("unit", 5), |change| {
            Cell::prose(change.unit.unwrap_or_default())
        })
        .column(Column::wrapped("changed by", 5), |change| {
            Cell::prose(changed_by(change))
        })
        .table()
}

/// Who can make a change.
fn changed_by(change: &SmallestChange) -> String {
    match change.means {
        Means::AskForLess => "the user: ask for less".to_owned(),
        Means::Queue => {
            let queues = change.queues.iter().map(|queue| format!("`{queue}`"));
            format!(
                "another queue that takes the job: {}",
                first_names(queues, MAX_NAMED)
            )
        }
        _ if &*change.name == "queue_priority" => "the site: the priority of the queue".to_owned(),
        _ if FairshareInput::from_name(&change.name).is_some() => {
            "the site (usage and shares)".to_owned()
        }
        _ => "the job's own attribute".to_owned(),
    }
}

fn notes_section<'a>(
    report: ExplainReport<'a>,
    job: &'a Explanation,
    of: &str,
) -> Option<Section<'a>> {
    let roundings = [
        Rounding::EqualAsFloat32,
        Rounding::EqualWithSixDecimals,
        Rounding::OrderedBySixDecimals,
    ];
    let mut notes: Vec<String> = roundings
        .into_iter()
        .filter_map(|rounding| rounded_neighbours(report, job, rounding))
        .collect();
    let others = if job.rank.is_some() {
        tied(&report, job)
    } else {
        0
    };
    if others > 0 {
        notes.push(format!(
            "{} the same value; the criteria after the value order them",
            other_jobs_have(others)
        ));
    }
    if !job.same_error.is_empty() {
        let ids = job
            .same_error
            .iter()
            .map(|&row| format!("`{}`", report.table().id(row)));
        notes.push(format!("the same error: {}", first_names(ids, MAX_NAMED)));
    }
    if !job.is_complete {
        notes.push(
            "the searches for this job ended early, because they had done the work that one explanation may do: what is \
             missing is not known"
                .to_owned(),
        );
    }
    let section = Section::new(format!("notes{of}"));
    (!notes.is_empty()).then(|| notes.into_iter().fold(section, Section::prose))
}

/// The neighbours whose values are told apart only by a rounding.
fn rounded_neighbours(
    report: ExplainReport<'_>,
    job: &Explanation,
    rounding: Rounding,
) -> Option<String> {
    let neighbours = job
        .above
        .iter()
        .chain(&job.below)
        .filter(|one| one.rounding == Some(rounding));
    let ids: Vec<String> = neighbours
        .map(|one| format!("`{}`", report.table().id(one.row)))
        .collect();
    (!ids.is_empty()).then(|| format!("{}: {}", rounding.as_str(), ids.join(", ")))
}

/// A value of Python.
fn python(value: &Value) -> Cell<'_> {
    Cell::Python(Cow::Borrowed(value))
}

/// When the job reaches a rank by waiting.
fn waiting_sentence(report: &ExplainReport<'_>, job: &Explanation, reached: RankReached) -> String {
    let rank = reached.rank;
    match reached.wait {
        Wait::Never if job.rank.is_none() => {
            let state = report.table().state(job.row);
            let because = match job.not_considered {
                Some(reason) => reason.to_string(),
                None => format!("its state is {} ({})", state.letter(), state_words(state)),
            };
            format!("it has no rank while it is not considered: {}", because)
        }
        Wait::Never if job.inputs.iter().all(|input| input.name != "eligible_time") => {
            overtakes_nobody("the formula does not read `eligible_time`", job)
        }
        Wait::Unknown => {
            format!(
                "when it reaches rank {rank} takes too long to find out: the formula changes the order too irregularly"
            )
        }
        Wait::Never if reached.gain_alike => overtakes_nobody("all jobs gain alike", job),
        Wait::Never => format!(
            "it does not reach rank {rank} by waiting, at least not within {}, if all others wait as long",
            waiting_time(reached.within)
        ),
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

/// Why waiting changes nothing, and what does.
fn overtakes_nobody(because: &str, job: &Explanation) -> String {
    let ahead = match job.rank.map_or(0, |rank| rank - 1) {
        0 => String::new(),
        1 => "; it moves up when the job ahead starts".to_owned(),
        jobs => format!("; it moves up when one of the {jobs} jobs ahead starts"),
    };
    format!("Waiting overtakes nobody, as {because}{ahead}.")
}

/// The unit of an input; seconds also as days, hours and minutes.
fn input_unit(input: &ExplainedInput) -> String {
    let seconds = input
        .value
        .as_ref()
        .and_then(nearest_double)
        .filter(|seconds| *seconds >= 60.0);
    match (input.unit.unwrap_or(""), seconds) {
        ("s", Some(seconds)) => format!("s ({})", waiting_time(seconds as i64)),
        (unit, _) => unit.to_owned(),
    }
}

/// What decides between the job and a neighbour.
fn decision(report: &ExplainReport<'_>, job: &Explanation, neighbour: &Neighbour) -> String {
    if neighbour.decided_by != Some(Criterion::Value) {
        return neighbour.reason.clone();
    }
    if has_failed(report, neighbour.row) {
        return "its evaluation failed".to_owned();
    }
    if has_failed(report, job.row) {
        return format!("the evaluation of `{}` failed", report.table().id(job.row));
    }
    let differences = neighbour
        .differences
        .iter()
        .filter(|term| term.nearest_double() != Some(0.0));
    let is_single = neighbour.differences.len() == 1;
    let texts = differences.take(MAX_DIFFERENCES).filter_map(|term| {
        let difference = term.nearest_double()?;
        let sign = if difference < 0.0 { "" } else { "+" };
        let by = if is_single {
            String::new()
        } else {
            format!(" by {}", excerpt(&term.text, MAX_CODE))
        };
        Some(format!("{sign}{}{by}", five_digits(difference)))
    });
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() {
        neighbour.reason.clone()
    } else {
        texts.join(", ")
    }
}

fn has_failed(report: &ExplainReport<'_>, row: usize) -> bool {
    report
        .queue
        .ranking
        .score(row)
        .is_some_and(|score| score.unrounded.is_err())
}

/// Whether some job has an amount of the order of magnitude that an input would have to have.
fn is_plausible(report: &ExplainReport<'_>, change: &SmallestChange) -> bool {
    let Some(column) = report.table().column(&change.name) else {
        return true;
    };
    let most = (0..report.table().len())
        .map(|row| column.nearest_double(row))
        .fold(1.0, f64::max);
    nearest_double(&change.to).is_some_and(|to| to <= PLAUSIBLE * most)
}

/// The words for a goal that no change reaches.
fn without_changes(changes: &SmallestChanges) -> &'static str {
    if !changes.unknown.is_empty() {
        ""
    } else if changes.has_requests {
        "; no smaller request gives that, and no other input alone (more than is requested is not considered)"
    } else {
        "; no single input gives that"
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

/// The parts of the formula that are shown, in depth-first order.
fn shown_nodes(job: &Explanation) -> Vec<&NodeValue> {
    let mut nodes: Vec<&NodeValue> = job.nodes.iter().filter(|node| !node.is_literal).collect();
    nodes.sort_by_key(|node| (node.span.start, Reverse(node.span.end), node.depth));
    nodes
}

/// The text of a part of the formula.
pub(crate) fn part<'r>(report: &ExplainReport<'r>, node: &NodeValue) -> &'r str {
    node.span.slice(report.queue.program.expr().text())
}
