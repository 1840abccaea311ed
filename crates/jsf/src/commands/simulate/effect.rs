//! What a new formula does to the waits of a simulation, in sentences: which classes of jobs wait
//! less and which wait more, with their part of the jobs and of the core hours, as far as that is
//! more than chance.

use jsf_simulate::{Classes, ClassesTogether, Difference, MeanChange};

use crate::view::words::{
    duration, first_names, grouped, grouped_count, grouped_number, percent, rough_duration,
    signed_duration, signed_rough_duration, signed_significant,
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
    let Difference {
        jobs,
        longer,
        shorter,
        ..
    } = *difference;
    if !difference.is_of_same_jobs() {
        return other_jobs(difference);
    }
    match (jobs, longer + shorter) {
        (0, _) => return "No job starts under both formulas.".to_owned(),
        (1, 0) => return "The one job starts at the same second under both formulas.".to_owned(),
        (_, 0) => return format!("All {jobs} jobs start at the same second under both formulas."),
        _ => {}
    }
    let claims = [
        claim("processors", &difference.sizes, difference),
        claim("run times", &difference.lengths, difference),
        claim("queues", &difference.queues, difference),
    ];
    let who = [
        claim("entities", &difference.entities, difference),
        claim("groups", &difference.groups, difference),
    ];
    let who = who.into_iter().flatten().next();
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
    let rest = match sides[..] {
        _ if classes.groups.len() < 2 => return None,
        [] => return None,
        [only] if only.others.jobs == 0 => String::new(),
        [only] if others_go_the_other_way(classes, only) => {
            format!(
                "; the other {} wait {}",
                grouped_number(only.others.jobs),
                change(&only.others.wait)
            )
        }
        [_] => "; what changes for the others may be chance".to_owned(),
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

/// Whether all others together change the other way by more than chance, and each of them does not
/// change the same way.
fn others_go_the_other_way(classes: &Classes, side: &ClassesTogether) -> bool {
    let of_others = side.others.wait.difference();
    let others = classes
        .groups
        .iter()
        .enumerate()
        .filter(|(place, _)| !side.places.contains(place));
    let agree = others
        .map(|(_, group)| group.wait.difference() * of_others)
        .all(|product| product >= 0.0);
    agree && side.others.wait.is_significant() && of_others * side.together.wait.difference() < 0.0
}

/// How many jobs, and which, wait how much more or less.
fn clause(kind: &str, classes: &Classes, side: &ClassesTogether, all: &Difference) -> String {
    let names = side
        .places
        .iter()
        .map(|&place| &*classes.groups[place].name);
    let who = match side.places.len() {
        number if number == classes.groups.len() => format!("all {kind}"),
        number if number > MAX_NAMES => format!("{number} of {} {kind}", classes.groups.len()),
        _ if matches!(kind, "processors" | "run times") => {
            format!("{kind} {}", first_names(names, MAX_NAMES))
        }
        _ => format!(
            "{kind} {}",
            first_names(names.map(|name| format!("`{name}`")), MAX_NAMES)
        ),
    };
    let part = side.together.core_seconds as f64 / all.core_seconds.max(1) as f64;
    let part = if part < 0.01 {
        percent(part)
    } else {
        format!("{:.0} %", part * 100.0)
    };
    let jobs = grouped_number(side.together.jobs);
    let wait = &side.together.wait;
    let all = grouped_count(all.jobs, "job");
    format!(
        "{jobs} of {all} ({who}; {part} of core hours) wait {}{}",
        change(wait),
        interval(wait)
    )
}

/// That the means of both sides are of different jobs, as some never start under one of them.
fn other_jobs(difference: &Difference) -> String {
    let Difference {
        jobs,
        only_old,
        only_new,
        ..
    } = *difference;
    let start = |number: usize, under: &str| {
        let verb = if number == 1 { "starts" } else { "start" };
        (number > 0).then(|| format!("{} {verb} under {under}", grouped_count(number, "job")))
    };
    let sides = [
        start(only_old, "the old formula alone"),
        start(only_new, "the new formula alone"),
    ];
    let sides: Vec<String> = sides.into_iter().flatten().collect();
    let both = if jobs == 0 {
        "none under both".to_owned()
    } else {
        format!("{} under both", grouped_count(jobs, "job"))
    };
    format!(
        "The waits cannot be compared, as they are those of different jobs: {}, {both}.",
        sides.join(", ")
    )
}

/// The change of the means of all jobs, where no class of them differs from the others.
fn without_classes(difference: &Difference) -> String {
    let Difference {
        jobs,
        longer,
        shorter,
        wait,
        ..
    } = difference;
    let alike = jobs - longer - shorter;
    let counts = grouped(&format!(
        "{longer} wait longer, {shorter} less, {alike} alike"
    ));
    let all = format!(
        "{} {} {}",
        grouped_count(*jobs, "job"),
        if *jobs == 1 { "waits" } else { "wait" },
        change(wait)
    );
    match wait.interval() {
        _ if wait.is_significant() => {
            format!(
                "All {all} on average{}, and no class of them stands out: {counts}.",
                interval(wait)
            )
        }
        Some([low, high]) => format!(
            "{}: {all} on average ({} to {}); {counts}.",
            other_means(difference),
            signed_rough_duration(low),
            signed_rough_duration(high)
        ),
        None => format!(
            "The log is too short to tell an effect from chance: {all} on average; {counts}."
        ),
    }
}

/// Which other mean of all jobs changes by more than chance, where the mean wait does not.
fn other_means(difference: &Difference) -> String {
    let Difference {
        wait_per_core_hour,
        bounded_slowdown,
        ..
    } = difference;
    let of_core_hours = || {
        format!(
            "the mean wait per core hour ({})",
            signed_duration(wait_per_core_hour.difference())
        )
    };
    let of_slowdown = || {
        format!(
            "the mean bounded slowdown ({})",
            signed_significant(bounded_slowdown.difference())
        )
    };
    let of_core_hours = wait_per_core_hour.is_significant().then(of_core_hours);
    let of_slowdown = bounded_slowdown.is_significant().then(of_slowdown);
    match (of_core_hours, of_slowdown) {
        (None, None) if !difference.wait.has_users() => {
            "Too few users submit most of the jobs to tell an effect from chance".to_owned()
        }
        (None, None) => "No change is more than chance".to_owned(),
        (Some(one), Some(other)) => format!("Only {one} and {other} change by more than chance"),
        (Some(one), None) | (None, Some(one)) => format!("Only {one} changes by more than chance"),
    }
}

/// `2 h more`, `2 h less`.
fn change(wait: &MeanChange) -> String {
    let change = wait.difference();
    match change.round() {
        0.0 => "as long".to_owned(),
        _ => format!(
            "{} {}",
            duration(change.abs()),
            if change > 0.0 { "more" } else { "less" }
        ),
    }
}

/// The interval of a change that is more than chance, from the lower end of the difference on:
/// ` (2 d 6 h to 15 h)` of a decrease.
fn interval(wait: &MeanChange) -> String {
    let Some(ends) = wait.interval() else {
        return String::new();
    };
    let [low, high] = ends.map(|end| end.abs());
    format!(" ({} to {})", rough_duration(low), rough_duration(high))
}

#[cfg(test)]
mod tests {
    use jsf_simulate::GroupDifference;

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
            sizes,
            entities,
            ..Difference::default()
        }
    }

    #[test]
    fn a_class_that_wins_and_all_others_that_pay_are_named() {
        let sizes = || {
            vec![
                class("1", 60, 3.0, 9.0),
                class("2-4", 20, 2.0, 9.0),
                class("5-16", 20, -30.0, 10.0),
            ]
        };
        let entities = vec![
            class("ada", 50, 4.0, 1.0),
            class("bob", 30, 3.0, 1.0),
            class("cy", 20, 0.0, 9.0),
        ];
        let difference = difference(classes(sizes(), 1.0), classes(entities, 9.0));
        assert_eq!(
            effect(&difference),
            "By the mean, 20 of 100 jobs (processors 5-16; 20 % of core hours) wait 1 d 6 h less (1 d 7 h to 1 d 6 h); the other 80 \
             wait 2 h 45 min more. 80 of 100 jobs (entities `ada`, `bob`; 80 % of core hours) wait 3 h 38 min more (3 h 8 min to \
             4 h 8 min); what changes for the others may be chance."
        );
    }

    #[test]
    fn losers_alone_are_named() {
        let sizes = vec![
            class("1", 60, 3.0, 1.0),
            class("2-4", 20, 2.0, 1.0),
            class("5-16", 20, -30.0, 40.0),
        ];
        assert_eq!(
            effect(&difference(classes(sizes, 40.0), Classes::default())),
            "By the mean, 80 of 100 jobs (processors 1, 2-4; 80 % of core hours) wait 2 h 45 min more (2 h 15 min to 3 h 15 min); what \
             changes for the others may be chance."
        );
        let sizes = vec![class("1", 60, 3.0, 1.0), class("2-4", 20, 2.0, 1.0)];
        assert_eq!(
            effect(&difference(classes(sizes, 1.0), Classes::default())),
            "By the mean, 80 of 80 jobs (all processors; 100 % of core hours) wait 2 h 45 min more (2 h 15 min to 3 h 15 min)."
        );
    }

    #[test]
    fn two_classes_of_which_one_wins_and_one_pays_are_both_named() {
        let sizes = vec![
            class("1", 40, -2.0, 1.0),
            class("2-4", 40, 4.0, 1.0),
            class("5-16", 20, -2.0, 9.0),
        ];
        assert_eq!(
            effect(&difference(classes(sizes, 9.0), Classes::default())),
            "By the mean, 40 of 100 jobs (processors 1; 40 % of core hours) wait 2 h less (2 h 30 min to 1 h 30 min), 40 of 100 jobs \
             (processors 2-4; 40 % of core hours) wait 4 h more (3 h 30 min to 4 h 30 min)."
        );
    }

    #[test]
    fn all_others_win_only_if_each_class_of_them_does() {
        let ends = |of_first: f64| {
            let sizes = vec![
                class("1", 50, of_first, 9.0),
                class("2-4", 60, 4.0, 9.0),
                class("5-16", 70, -30.0, 9.0),
            ];
            effect(&difference(classes(sizes, 1.0), Classes::default()))
        };
        assert!(ends(0.1).contains("; the other 110 wait "), "{}", ends(0.1));
        assert!(
            ends(-0.1).ends_with("; what changes for the others may be chance."),
            "{}",
            ends(-0.1)
        );
    }

    #[test]
    fn what_may_be_chance_is_called_so() {
        let sizes = || {
            classes(
                vec![class("1", 60, 3.0, 9.0), class("2-4", 40, -1.0, 9.0)],
                9.0,
            )
        };
        let mut difference = difference(sizes(), Classes::default());
        assert_eq!(
            effect(&difference),
            "No change is more than chance: 100 jobs wait 1 h 24 min more on average (-4 d 3 h to +4 d 5 h); 50 wait longer, 25 \
             less, 25 alike."
        );
        let jobs = "100 jobs wait 1 h 24 min more on average (-4 d 3 h to +4 d 5 h); 50 wait longer, 25 less, 25 alike.";
        difference.wait_per_core_hour = class("", 100, 19.1, 1.0).wait;
        let first = "Only the mean wait per core hour (+19 h 6 min) changes by more than chance: ";
        assert_eq!(effect(&difference), format!("{first}{jobs}"));
        let slowdown = MeanChange {
            old: 100.0,
            new: 39.4,
            low: -108.0,
            high: -13.2,
            jobs: 100,
            blocks: 28,
            users: 40,
            level: 0.05,
        };
        difference.bounded_slowdown = slowdown;
        let first = "Only the mean wait per core hour (+19 h 6 min) and the mean bounded slowdown (-60.6) change by more than chance: ";
        assert_eq!(effect(&difference), format!("{first}{jobs}"));
        difference.bounded_slowdown.users = 5;
        difference.wait_per_core_hour.users = 5;
        difference.wait.users = 5;
        let first = "Too few users submit most of the jobs to tell an effect from chance: ";
        assert_eq!(effect(&difference), format!("{first}{jobs}"));
        difference.wait.blocks = 5;
        let text = effect(&difference);
        assert!(
            text.starts_with(
                "The log is too short to tell an effect from chance: 100 jobs wait 1 h 24 min more"
            ),
            "{text}"
        );
        (difference.longer, difference.shorter) = (0, 0);
        assert_eq!(
            effect(&difference),
            "All 100 jobs start at the same second under both formulas."
        );
    }

    #[test]
    fn one_entity_is_not_compared_with_others() {
        let sizes = || classes(vec![class("1", 100, 3.0, 1.0)], 1.0);
        let entities = || classes(vec![class("ada", 100, 3.0, 1.0)], 1.0);
        let mut difference = difference(sizes(), entities());
        difference.wait = sizes().groups[0].wait;
        assert_eq!(
            effect(&difference),
            "All 100 jobs wait 3 h more on average (2 h to 4 h), and no class of them stands out: 50 wait longer, 25 less, 25 alike."
        );
    }
}
