//! What a new formula does to the waits of a simulation, in a sentence: which classes of jobs wait
//! less and which wait more, with their part of the jobs and of the core hours, as far as that is
//! more than chance.

use jsf_simulate::{Difference, GroupDifference, MeanChange};

use crate::view::words::{
    duration, first_names, grouped_count, grouped_number, listed, percent, signed_rough_duration,
};

/// The most names in a sentence; more are counted.
const MAX_NAMES: usize = 4;

/// The effect in sentences: for the kind of classes of which some wait less and others more, sizes
/// before all others, and for entities, or groups if the log has no entities.
pub(crate) fn effect(difference: &Difference) -> String {
    let jobs = grouped_count(difference.jobs, "job");
    if !difference.is_of_same_jobs() {
        return format!(
            "The waits cannot be compared, as they are those of different jobs: {} start under the old formula alone, {} under the \
             new one alone, and {jobs} under both.",
            grouped_number(difference.only_old),
            grouped_number(difference.only_new)
        );
    }
    if difference.longer + difference.shorter == 0 {
        return format!("None of {jobs} starts at another second under the new formula.");
    }
    let classes = &difference.classes;
    let mut of_jobs = clauses("processors", &classes.sizes, difference);
    for (kind, groups) in [("run times", &classes.lengths), ("queues", &classes.queues)] {
        let others = clauses(kind, groups, difference);
        // of those with as many sides, the first one
        if others.len() > of_jobs.len() {
            of_jobs = others;
        }
    }
    let mut of_users = clauses("entities", &classes.entities, difference);
    if of_users.is_empty() {
        of_users = clauses("groups", &classes.groups, difference);
    }
    let mut sentences = Vec::new();
    for clauses in [of_jobs, of_users] {
        if !clauses.is_empty() {
            sentences.push(format!("{}.", clauses.join(", ")));
        }
    }
    if sentences.is_empty() {
        without_classes(difference)
    } else {
        format!("By the mean, {}", sentences.join(" "))
    }
}

/// How many jobs, and which, of the classes of one kind wait how much less, and how many wait more;
/// none of what may be chance.
fn clauses(kind: &str, groups: &[GroupDifference], all: &Difference) -> Vec<String> {
    let is_user_text = !matches!(kind, "processors" | "run times");
    let mut clauses = Vec::new();
    for direction in ["less", "more"] {
        let (mut jobs, mut core_seconds, mut total) = (0, 0, 0.0);
        let mut names = Vec::new();
        let mut changes = Vec::new();
        for group in groups {
            let is_one = match direction {
                "less" => group.wait.is_decrease(),
                _ => group.wait.is_increase(),
            };
            if !is_one {
                continue;
            }
            jobs += group.jobs;
            core_seconds += group.core_seconds;
            total += group.wait.difference() * group.jobs as f64;
            changes.push(&group.wait);
            names.push(if is_user_text {
                format!("`{}`", group.name)
            } else {
                group.name.clone()
            });
        }
        if groups.len() < 2 || names.is_empty() {
            continue;
        }
        let wait = match changes[..] {
            [only] => change(only),
            _ => format!("{} {direction}", duration(f64::abs(total) / jobs as f64)),
        };
        clauses.push(format!(
            "{} of {} ({kind} {}; {} of core hours) wait {wait}",
            grouped_number(jobs),
            grouped_count(all.jobs, "job"),
            first_names(names.into_iter(), MAX_NAMES),
            percent(core_seconds as f64 / all.core_seconds.max(1) as f64),
        ));
    }
    clauses
}

/// The change of the means of all jobs, where no class of them differs from the others.
fn without_classes(difference: &Difference) -> String {
    let mut changed = Vec::new();
    for (name, change) in difference.means() {
        if change.is_significant() {
            changed.push(format!("the {name}"));
        }
    }
    let verdict = if difference.wait.interval().is_none() {
        "The log is too short to tell an effect from chance".to_owned()
    } else if !changed.is_empty() {
        format!("More than chance is a change of {} alone", listed(&changed))
    } else if !difference.wait.has_users() {
        "Too few users submit most of the jobs to tell an effect from chance".to_owned()
    } else {
        "No change is more than chance".to_owned()
    };
    let Difference {
        jobs,
        longer,
        shorter,
        ..
    } = *difference;
    format!(
        "{verdict}: {} wait {} on average; {} wait longer, {} less, {} alike.",
        grouped_count(jobs, "job"),
        change(&difference.wait),
        grouped_number(longer),
        grouped_number(shorter),
        grouped_number(jobs - longer - shorter)
    )
}

/// `2 h more (+1 h to +3 h)`.
fn change(wait: &MeanChange) -> String {
    let change = wait.difference();
    let direction = if change > 0.0 { "more" } else { "less" };
    let interval = interval_in_brackets(wait, signed_rough_duration);
    format!("{} {direction}{interval}", duration(change.abs()))
}

/// The interval of a change; `None` if it has none.
pub(crate) fn interval_in_words(change: &MeanChange, words: fn(f64) -> String) -> Option<String> {
    let [low, high] = change.interval()?.map(words);
    Some(format!("{low} to {high}"))
}

/// The interval of a change after a blank and in brackets; empty if it has none.
pub(crate) fn interval_in_brackets(change: &MeanChange, words: fn(f64) -> String) -> String {
    match interval_in_words(change, words) {
        Some(interval) => format!(" ({interval})"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use jsf_simulate::{ByKind, GroupDifference};

    use super::*;

    const HOUR: f64 = 3600.0;

    /// A class of so many jobs, whose waits change by so many hours, and by how much that may
    /// differ.
    fn class(name: &str, jobs: usize, hours: f64, within: f64) -> GroupDifference {
        let [old, low, high] = [100.0, hours - within, hours + within].map(|hours| hours * HOUR);
        let wait = MeanChange {
            old,
            new: old + hours * HOUR,
            low,
            high,
            jobs,
            blocks: 28,
            users: 40,
            level: 0.05,
        };
        GroupDifference {
            name: name.to_owned(),
            jobs,
            core_seconds: jobs as u128 * 3600,
            wait,
        }
    }

    fn difference(sizes: Vec<GroupDifference>, entities: Vec<GroupDifference>) -> Difference {
        let jobs: usize = sizes.iter().map(|size| size.jobs).sum();
        let changes = sizes
            .iter()
            .map(|size| size.wait.difference() * size.jobs as f64);
        let change = changes.sum::<f64>() / jobs as f64 / HOUR;
        Difference {
            jobs,
            longer: jobs / 2,
            shorter: jobs / 4,
            wait: class("", jobs, change, 100.0).wait,
            core_seconds: sizes.iter().map(|size| size.core_seconds).sum(),
            classes: ByKind {
                sizes,
                entities,
                ..ByKind::default()
            },
            ..Difference::default()
        }
    }

    #[test]
    fn a_class_that_wins_and_entities_that_pay_are_named() {
        let sizes = vec![
            class("1", 60, 3.0, 9.0),
            class("2-4", 20, 2.0, 9.0),
            class("5-16", 20, -30.0, 10.0),
        ];
        let entities = vec![
            class("ada", 50, 4.0, 1.0),
            class("bob", 30, 3.0, 1.0),
            class("cy", 20, 0.0, 9.0),
        ];
        assert_eq!(
            effect(&difference(sizes, entities)),
            "By the mean, 20 of 100 jobs (processors 5-16; 20.0 % of core hours) wait 1 d 6 h less (-1 d 16 h to -20 h). 80 of 100 jobs (entities `ada`, \
             `bob`; 80.0 % of core hours) wait 3 h 38 min more."
        );
    }

    #[test]
    fn a_class_that_wins_and_one_that_pays_are_both_named() {
        let sizes = vec![
            class("1", 40, -2.0, 1.0),
            class("2-4", 40, 4.0, 1.0),
            class("5-16", 20, -2.0, 9.0),
        ];
        assert_eq!(
            effect(&difference(sizes, Vec::new())),
            "By the mean, 40 of 100 jobs (processors 1; 40.0 % of core hours) wait 2 h less (-3 h to -1 h), 40 of 100 jobs (processors 2-4; 40.0 % \
             of core hours) wait 4 h more (+3 h to +5 h)."
        );
    }

    #[test]
    fn what_may_be_chance_is_called_so() {
        let sizes = vec![class("1", 60, 3.0, 9.0), class("2-4", 40, -1.0, 9.0)];
        let mut difference = difference(sizes, Vec::new());
        let jobs = ": 100 jobs wait 1 h 24 min more (-4 d 3 h to +4 d 5 h) on average; 50 wait longer, 25 less, 25 alike.";
        assert_eq!(
            effect(&difference),
            format!("No change is more than chance{jobs}")
        );
        difference.wait_per_core_hour = class("", 100, 19.1, 1.0).wait;
        assert_eq!(
            effect(&difference),
            format!("More than chance is a change of the mean wait per core hour alone{jobs}")
        );
        difference.wait_per_core_hour.users = 5;
        difference.wait.users = 5;
        assert_eq!(
            effect(&difference),
            format!("Too few users submit most of the jobs to tell an effect from chance{jobs}")
        );
        difference.wait.blocks = 5;
        let text = effect(&difference);
        let first = "The log is too short to tell an effect from chance: 100 jobs wait 1 h 24 min more on average; ";
        assert!(text.starts_with(first), "{text}");
        (difference.longer, difference.shorter) = (0, 0);
        assert_eq!(
            effect(&difference),
            "None of 100 jobs starts at another second under the new formula."
        );
    }

    #[test]
    fn one_entity_is_not_compared_with_others() {
        let one = |name: &str| vec![class(name, 100, 3.0, 1.0)];
        let mut difference = difference(one("1"), one("ada"));
        difference.wait = one("1")[0].wait;
        let first = "More than chance is a change of the mean wait alone: 100 jobs wait 3 h more (+2 h to +4 h) on average";
        assert!(effect(&difference).starts_with(first));
    }
}
