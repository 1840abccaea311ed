//! What a new formula does to the waits of a simulation, in sentences: which classes of jobs wait
//! less and which wait more, with their part of the jobs and of the core hours, as far as that is
//! more than chance.

use jsf_simulate::{Classes, ClassesTogether, Difference, MeanChange};

use crate::view::words::{
    duration, first_names, grouped_count, grouped_number, listed, percent, signed_rough_duration,
};

/// The most names in a sentence; more are counted.
const MAX_NAMES: usize = 4;

/// What is more than chance about the classes of one kind: on how many sides, and in words.
struct Claim {
    sides: usize,
    sentence: String,
}

/// The effect in sentences: for the kind of classes that has both winners and losers, sizes before
/// all others, and for entities, or groups if the log has no entities.
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
    let claims = [
        claim("processors", &difference.classes.sizes, difference),
        claim("run times", &difference.classes.lengths, difference),
        claim("queues", &difference.classes.queues, difference),
    ];
    let who = claim("entities", &difference.classes.entities, difference)
        .or_else(|| claim("groups", &difference.classes.groups, difference));
    // of those with as many sides, the first one
    let best = claims
        .into_iter()
        .flatten()
        .rev()
        .max_by_key(|claim| claim.sides);
    let sentences: Vec<String> = best
        .into_iter()
        .chain(who)
        .map(|claim| claim.sentence)
        .collect();
    if sentences.is_empty() {
        without_classes(difference)
    } else {
        format!("By the mean, {}", sentences.join(" "))
    }
}

/// Which classes wait less and which wait more, of those of one kind; `None` if that may be chance.
fn claim(kind: &str, classes: &Classes, all: &Difference) -> Option<Claim> {
    let sides: Vec<&ClassesTogether> = classes.winners.iter().chain(&classes.losers).collect();
    if classes.groups.len() < 2 || sides.is_empty() {
        return None;
    }
    let rest = match sides[..] {
        [only] if only.others.jobs > 0 && only.others.wait.is_significant() => format!(
            "; the other {} wait {}",
            grouped_number(only.others.jobs),
            change(&only.others.wait)
        ),
        [only] if only.others.jobs > 0 => "; what changes for the others may be chance".to_owned(),
        _ => String::new(),
    };
    let clauses: Vec<String> = sides
        .iter()
        .map(|side| clause(kind, classes, side, all))
        .collect();
    Some(Claim {
        sides: sides.len(),
        sentence: format!("{}{rest}.", clauses.join(", ")),
    })
}

/// How many jobs, and which, wait how much more or less.
fn clause(kind: &str, classes: &Classes, side: &ClassesTogether, all: &Difference) -> String {
    let is_user_text = !matches!(kind, "processors" | "run times");
    let names = side.places.iter().map(|&place| {
        let name = &classes.groups[place].name;
        if is_user_text {
            format!("`{name}`")
        } else {
            name.clone()
        }
    });
    let part = side.together.core_seconds as f64 / all.core_seconds.max(1) as f64;
    format!(
        "{} of {} ({kind} {}; {} of core hours) wait {}",
        grouped_number(side.together.jobs),
        grouped_count(all.jobs, "job"),
        first_names(names, MAX_NAMES),
        percent(part),
        change(&side.together.wait)
    )
}

/// The change of the means of all jobs, where no class of them differs from the others.
fn without_classes(difference: &Difference) -> String {
    let means = difference.means().into_iter();
    let changed: Vec<String> = means
        .filter(|(_, change)| change.is_significant())
        .map(|(name, _)| format!("the {name}"))
        .collect();
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
    let interval = interval_in_words(wait, signed_rough_duration)
        .map_or_else(String::new, |interval| format!(" ({interval})"));
    format!("{} {direction}{interval}", duration(change.abs()))
}

/// The interval of a change; `None` if it has none.
pub(crate) fn interval_in_words(change: &MeanChange, words: fn(f64) -> String) -> Option<String> {
    let [low, high] = change.interval()?.map(words);
    Some(format!("{low} to {high}"))
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

    /// Classes, of which those win and lose that do so by more than chance; `others` is by how much
    /// the change of all others may differ.
    fn classes(groups: Vec<GroupDifference>, others: f64) -> Classes {
        let side = |is_one: fn(&MeanChange) -> bool| {
            let places: Vec<usize> = (0..groups.len())
                .filter(|&place| is_one(&groups[place].wait))
                .collect();
            let sum = |is_member: bool, within: f64| {
                let members = groups
                    .iter()
                    .enumerate()
                    .filter(|(place, _)| places.contains(place) == is_member);
                let members: Vec<&GroupDifference> = members.map(|(_, group)| group).collect();
                let jobs: usize = members.iter().map(|group| group.jobs).sum();
                let change = members
                    .iter()
                    .map(|group| group.wait.difference() * group.jobs as f64)
                    .sum::<f64>();
                class("", jobs, change / jobs.max(1) as f64 / HOUR, within)
            };
            let together = sum(true, 0.5);
            (!places.is_empty()).then(|| ClassesTogether {
                places: places.clone(),
                together,
                others: sum(false, others),
            })
        };
        Classes {
            winners: side(MeanChange::is_decrease),
            losers: side(MeanChange::is_increase),
            groups,
        }
    }

    fn difference(sizes: Classes, entities: Classes) -> Difference {
        let jobs: usize = sizes.groups.iter().map(|size| size.jobs).sum();
        let core_seconds = sizes.groups.iter().map(|size| size.core_seconds).sum();
        let change = sizes
            .groups
            .iter()
            .map(|size| size.wait.difference() * size.jobs as f64)
            .sum::<f64>();
        let GroupDifference { wait, .. } = class("", jobs, change / jobs as f64 / HOUR, 100.0);
        let (longer, shorter) = (jobs / 2, jobs / 4);
        Difference {
            jobs,
            longer,
            shorter,
            wait,
            core_seconds,
            classes: ByKind {
                sizes,
                entities,
                ..ByKind::default()
            },
            ..Difference::default()
        }
    }

    #[test]
    fn a_class_that_wins_and_all_others_that_pay_are_named() {
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
        let difference = difference(classes(sizes, 1.0), classes(entities, 9.0));
        assert_eq!(
            effect(&difference),
            "By the mean, 20 of 100 jobs (processors 5-16; 20.0 % of core hours) wait 1 d 6 h less (-1 d 7 h to -1 d 6 h); the other \
             80 wait 2 h 45 min more (+1 h 45 min to +3 h 45 min). 80 of 100 jobs (entities `ada`, `bob`; 80.0 % of core hours) wait \
             3 h 38 min more (+3 h 8 min to +4 h 8 min); what changes for the others may be chance."
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
            effect(&difference(classes(sizes, 9.0), Classes::default())),
            "By the mean, 40 of 100 jobs (processors 1; 40.0 % of core hours) wait 2 h less (-2 h 30 min to -1 h 30 min), 40 of 100 \
             jobs (processors 2-4; 40.0 % of core hours) wait 4 h more (+3 h 30 min to +4 h 30 min)."
        );
    }

    #[test]
    fn what_may_be_chance_is_called_so() {
        let sizes = classes(
            vec![class("1", 60, 3.0, 9.0), class("2-4", 40, -1.0, 9.0)],
            9.0,
        );
        let mut difference = difference(sizes, Classes::default());
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
        let one = |name: &str| classes(vec![class(name, 100, 3.0, 1.0)], 1.0);
        let mut difference = difference(one("1"), one("ada"));
        difference.wait = one("1").groups[0].wait;
        let first = "More than chance is a change of the mean wait alone: 100 jobs wait 3 h more (+2 h to +4 h) on average";
        assert!(effect(&difference).starts_with(first));
    }
}
