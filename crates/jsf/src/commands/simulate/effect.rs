//! What a new formula does to the waits of a simulation, in sentences: which classes of jobs win and which pay, with their part
//! of the jobs and of the core hours, as far as that is more than chance.

use std::ops::RangeInclusive;

use jsf_simulate::{Classes, ClassesTogether, Difference, GroupDifference, MeanChange};

use crate::commands::simulate::failures::listed;
use crate::view::words::{
    duration, grouped, grouped_count, grouped_number, percent, rough_duration, signed_duration, signed_rough_duration,
    signed_significant,
};

/// The most names in a sentence.
const MAX_NAMES: usize = 3;

/// What classes of jobs are distinguished by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Size,
    RunTime,
    Queue,
    Group,
    Entity,
}

/// Some classes in words.
struct Named {
    /// The subject, such as `large jobs`.
    subject: String,
    is_plural: bool,
    /// What follows the number of jobs, such as ` over 64 processors`; empty if the subject says it.
    which: String,
}

/// The classes of one kind.
struct Classified<'d> {
    kind: Kind,
    classes: &'d Classes,
    all: &'d Difference,
}

/// A sentence, and how many sides it tells of.
struct Claim {
    sides: usize,
    sentence: String,
}

/// The effect in sentences. The kind of classes that tells of winners and losers comes first, sizes before all others.
pub(crate) fn effect(difference: &Difference) -> String {
    let Difference { jobs, longer, shorter, .. } = *difference;
    if !difference.is_of_same_jobs() {
        return other_jobs(difference);
    }
    match (jobs, longer + shorter) {
        (0, _) => return "No job starts under both formulas.".to_owned(),
        (1, 0) => return "The one job starts at the same second under both formulas.".to_owned(),
        (_, 0) => return format!("All {jobs} jobs start at the same second under both formulas."),
        _ => {}
    }
    let kinds = [
        (Kind::Size, &difference.sizes),
        (Kind::RunTime, &difference.lengths),
        (Kind::Queue, &difference.queues),
        (Kind::Group, &difference.groups),
        (Kind::Entity, &difference.entities),
    ];
    let mut best: Option<(Kind, Claim)> = None;
    for (kind, classes) in kinds.into_iter().filter(|(_, classes)| classes.groups.len() > 1) {
        let claim = Classified { kind, classes, all: difference }.claim();
        if let Some(claim) = claim.filter(|claim| best.as_ref().is_none_or(|(_, best)| claim.sides > best.sides)) {
            best = Some((kind, claim));
        }
    }
    match best {
        None => without_classes(difference),
        Some((Kind::Entity | Kind::Group, claim)) => claim.sentence,
        Some((_, claim)) => {
            [Some(claim.sentence), winners_and_losers(difference)].into_iter().flatten().collect::<Vec<_>>().join(" ")
        }
    }
}

/// That the means of both sides are of different jobs, as some never start under one of them.
fn other_jobs(difference: &Difference) -> String {
    let Difference { jobs, only_old, only_new, .. } = *difference;
    let start = |number: usize, under: &str| {
        let verb = if number == 1 { "starts" } else { "start" };
        (number > 0).then(|| format!("{} {verb} under {under}", grouped_count(number, "job")))
    };
    let sides = [start(only_old, "the old formula alone"), start(only_new, "the new formula alone")];
    let sides: Vec<String> = sides.into_iter().flatten().collect();
    let both =
        if jobs == 0 { "none under both".to_owned() } else { format!("{} under both", grouped_count(jobs, "job")) };
    format!("The waits cannot be compared, as they are those of different jobs: {}, {both}.", sides.join(", "))
}

/// The change of the means of all jobs, where no class of them differs from the others.
fn without_classes(difference: &Difference) -> String {
    let Difference { jobs, longer, shorter, wait, .. } = difference;
    let alike = jobs - longer - shorter;
    let counts = grouped(&format!("{longer} wait longer, {shorter} less, {alike} alike"));
    let all = format!("{} {} {}", grouped_count(*jobs, "job"), if *jobs == 1 { "waits" } else { "wait" }, change(wait));
    match wait.interval() {
        _ if wait.is_significant() => {
            format!("All {all} on average{}, and no class of them stands out: {counts}.", interval(wait))
        }
        Some([low, high]) => format!(
            "{}: {all} on average ({} to {}); {counts}.",
            other_means(difference),
            signed_rough_duration(low),
            signed_rough_duration(high)
        ),
        None => format!("The log is too short to tell an effect from chance: {all} on average; {counts}."),
    }
}

/// Which other mean of all jobs changes by more than chance, where the mean wait does not.
fn other_means(difference: &Difference) -> String {
    let Difference { wait_per_core_hour, bounded_slowdown, .. } = difference;
    let of_core_hours =
        || format!("the mean wait per core hour ({})", signed_duration(wait_per_core_hour.difference()));
    let of_slowdown = || format!("the mean bounded slowdown ({})", signed_significant(bounded_slowdown.difference()));
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

/// How many entities, or groups if the log has no entities, win and pay, and who of them most.
fn winners_and_losers(difference: &Difference) -> Option<String> {
    let kinds = [(&difference.entities, "entities"), (&difference.groups, "groups")];
    let (classes, what) = kinds.into_iter().find(|(classes, _)| classes.groups.len() > 1)?;
    // those whose waits grow most are first in the list
    let losers = classes.losers.as_ref().map(|side| (side, side.places.first(), "pay"));
    let winners = classes.winners.as_ref().map(|side| (side, side.places.last(), "win"));
    let noun = if what == "entities" { "entity" } else { "group" };
    let mut clauses: Vec<String> = Vec::new();
    for (side, most, verb) in losers.into_iter().chain(winners) {
        let GroupDifference { name, wait, .. } = &classes.groups[*most?];
        let of_all = if clauses.is_empty() { format!(" of {} {what}", classes.groups.len()) } else { String::new() };
        clauses.push(match side.places.len() {
            1 => format!("1{of_all} {verb}s (`{name}`, {})", change(wait)),
            many => format!("{many}{of_all}{} {verb} (most `{name}`, {})", parts(side, difference), change(wait)),
        });
    }
    match (&classes.losers, &classes.winners) {
        (None, None) => return None,
        (Some(_), None) => clauses.push(format!("no {noun} wins by more than chance")),
        (None, Some(_)) => clauses.push(format!("no {noun} pays by more than chance")),
        (Some(_), Some(_)) => {}
    }
    Some(format!("{}.", clauses.join(", ")))
}

/// The part that some classes have of the jobs and of the core hours: ` (34 % of jobs, 52 % of core hours)`.
fn parts(side: &ClassesTogether, all: &Difference) -> String {
    let jobs = rough_percent(side.together.jobs as f64 / all.jobs.max(1) as f64);
    let core_hours = rough_percent(side.together.core_seconds as f64 / all.core_seconds.max(1) as f64);
    format!(" ({jobs} of jobs, {core_hours} of core hours)")
}

/// A part of a whole in a sentence: whole percents, unless it is less than one.
fn rough_percent(part: f64) -> String {
    if part < 0.01 { percent(part) } else { format!("{:.0} %", part * 100.0) }
}

impl Classified<'_> {
    /// Who wins and who pays, of the classes of one kind; `None` if that may be chance.
    fn claim(&self) -> Option<Claim> {
        let winners = self.classes.winners.as_ref();
        let losers = self.classes.losers.as_ref();
        let against = winners.filter(|side| side.others.wait.is_increase()).map(|side| (side, "win"));
        let others_win = losers.filter(|side| side.others.wait.is_decrease()).map(|side| (side, "pay"));
        // if all others go the other way, the side with fewer jobs is named
        let against = against.into_iter().chain(others_win).filter(|(side, _)| self.others_agree(side));
        let against = against.min_by_key(|(side, _)| side.together.jobs);
        let claim = match (against, winners, losers) {
            (Some((side, verb)), ..) => Claim { sides: 2, sentence: self.against_all_others(side, verb) },
            (None, Some(winners), Some(losers)) => Claim { sides: 2, sentence: self.both(winners, losers) },
            (None, Some(side), None) => Claim { sides: 1, sentence: self.one_side(side, "win") },
            (None, None, Some(side)) => Claim { sides: 1, sentence: self.one_side(side, "pay") },
            (None, None, None) => return None,
        };
        Some(Claim { sentence: format!("By the mean, {}", claim.sentence), ..claim })
    }

    /// Whether the mean wait of each other class changes as that of all others together does.
    fn others_agree(&self, side: &ClassesTogether) -> bool {
        let of_others = side.others.wait.difference();
        let others = self.classes.groups.iter().enumerate().filter(|(place, _)| !side.places.contains(place));
        others.map(|(_, group)| group.wait.difference() * of_others).all(|product| product >= 0.0)
    }

    fn against_all_others(&self, side: &ClassesTogether, verb: &str) -> String {
        let GroupDifference { jobs, wait, .. } = &side.others;
        let who = self.named(side).verb(verb);
        let clause = self.clause(side);
        let jobs = grouped_number(jobs);
        format!("{who}, the others {}: {clause}, the other {jobs} wait {}.", opposite(verb), change(wait))
    }

    fn both(&self, winners: &ClassesTogether, losers: &ClassesTogether) -> String {
        let paying = self.named(losers).verb("pay");
        let paying = paying.strip_prefix("jobs ").map_or_else(|| paying.clone(), |rest| format!("those {rest}"));
        let GroupDifference { jobs, wait, .. } = &losers.together;
        let jobs = grouped_number(jobs);
        let which = self.named(losers).which;
        format!(
            "{}, {paying}: {}, {jobs}{which} ({} of core hours) {}.",
            self.named(winners).verb("win"),
            self.clause(winners),
            self.part_of_core_hours(losers),
            change(wait)
        )
    }

    fn one_side(&self, side: &ClassesTogether, verb: &str) -> String {
        let others = match self.kind {
            Kind::Size => "sizes",
            Kind::RunTime => "run times",
            Kind::Queue => "queues",
            Kind::Group => "groups",
            Kind::Entity => "entities",
        };
        let beyond = match side.others.jobs {
            0 => String::new(),
            _ => format!("; what changes for the other {others} may be chance"),
        };
        format!("{}: {}{beyond}.", self.named(side).verb(verb), self.clause(side))
    }

    /// How many jobs wait how much more or less.
    fn clause(&self, side: &ClassesTogether) -> String {
        let GroupDifference { jobs, wait, .. } = &side.together;
        let all = grouped_count(self.all.jobs, "job");
        let jobs = grouped_number(jobs);
        let which = self.named(side).which;
        let part = self.part_of_core_hours(side);
        format!("of {all}, {jobs}{which} ({part} of core hours) wait {}{}", change(wait), interval(wait))
    }

    fn part_of_core_hours(&self, side: &ClassesTogether) -> String {
        let part = side.together.core_seconds as f64 / self.all.core_seconds.max(1) as f64;
        rough_percent(part)
    }

    fn named(&self, side: &ClassesTogether) -> Named {
        Named::new(self.kind, self.classes, &side.places)
    }
}

fn opposite(verb: &str) -> &'static str {
    if verb == "win" { "pay" } else { "win" }
}

impl Named {
    fn new(kind: Kind, classes: &Classes, places: &[usize]) -> Self {
        if places.len() == classes.groups.len() {
            return Self { subject: "all jobs".to_owned(), is_plural: true, which: String::new() };
        }
        let noun = match kind {
            Kind::Size | Kind::RunTime => return Self::ordered(kind, classes, places),
            Kind::Queue => "queue",
            Kind::Group => "group",
            Kind::Entity => "",
        };
        let names: Vec<&str> = places.iter().map(|&place| &*classes.groups[place].name).collect();
        let is_plural = names.len() > 1;
        let all = classes.groups.len();
        let subject = match noun {
            "" if names.len() > MAX_NAMES => format!("{} of {all} entities", names.len()),
            "" => listed(&names),
            _ if names.len() > MAX_NAMES => format!("{} of {all} {noun}s", names.len()),
            _ => format!("{noun}{} {}", if is_plural { "s" } else { "" }, listed(&names)),
        };
        Self { subject, is_plural, which: String::new() }
    }

    /// Classes that have an order.
    fn ordered(kind: Kind, classes: &Classes, places: &[usize]) -> Self {
        let last = classes.groups.len() - 1;
        let runs = contiguous(places);
        let bounds: Vec<String> = runs.iter().map(|run| bounds(kind, classes, run)).collect();
        let which = match kind {
            Kind::Size => format!("{} processor{}", bounds.join(" or "), if bounds == ["of 1"] { "" } else { "s" }),
            _ => format!("that run {}", bounds.join(" or ")),
        };
        let [small, large] =
            if kind == Kind::Size { ["small jobs", "large jobs"] } else { ["short jobs", "long jobs"] };
        let (subject, which) = match &runs[..] {
            [run] if *run.start() == 0 => (small.to_owned(), format!(" {which}")),
            [run] if *run.end() == last => (large.to_owned(), format!(" {which}")),
            _ => (format!("jobs {which}"), String::new()),
        };
        Self { subject, is_plural: true, which }
    }

    /// `large jobs win`, `` `Bob` wins ``.
    fn verb(&self, verb: &str) -> String {
        format!("{} {verb}{}", self.subject, if self.is_plural { "" } else { "s" })
    }
}

/// The runs of places that follow each other.
fn contiguous(places: &[usize]) -> Vec<RangeInclusive<usize>> {
    let mut runs: Vec<RangeInclusive<usize>> = Vec::new();
    for &place in places {
        match runs.last_mut() {
            Some(run) if run.end() + 1 == place => *run = *run.start()..=place,
            _ => runs.push(place..=place),
        }
    }
    runs
}

/// The sizes or run times of classes that follow each other.
fn bounds(kind: Kind, classes: &Classes, run: &RangeInclusive<usize>) -> String {
    let name = |place: usize| &*classes.groups[place].name;
    let is_first = *run.start() == 0;
    let is_last = *run.end() + 1 == classes.groups.len();
    match kind {
        Kind::Size => {
            let (low, high) = (lowest(name(*run.start())), highest(name(*run.end())));
            match (low, high) {
                (Some(low), Some(high)) if low == high => format!("of {low}"),
                (Some(low), _) if is_last && low > 1 => format!("over {}", low - 1),
                (_, Some(high)) if is_first => format!("up to {high}"),
                (Some(low), Some(high)) => format!("of {low}-{high}"),
                _ => format!("of {}", name(*run.start())),
            }
        }
        _ if is_first => name(*run.end()).to_owned(),
        _ => {
            let before = name(*run.start() - 1).trim_start_matches("up to ");
            match name(*run.end()).strip_prefix("up to ") {
                Some(longest) if !is_last => format!("{before} to {longest}"),
                _ => format!("over {before}"),
            }
        }
    }
}

/// The smallest size of a class, such as `65-256`.
fn lowest(name: &str) -> Option<u32> {
    name.split(['-', ' ']).next()?.parse().ok()
}

/// The largest size of a class; `None` for the last one, which has no end.
fn highest(name: &str) -> Option<u32> {
    name.rsplit('-').next()?.parse().ok()
}

/// `2 h more`, `2 h less`.
fn change(wait: &MeanChange) -> String {
    let change = wait.difference();
    match change.round() {
        0.0 => "as long".to_owned(),
        _ => format!("{} {}", duration(change.abs()), if change > 0.0 { "more" } else { "less" }),
    }
}

/// The interval of a change that is more than chance, from the lower end of the difference on: ` (2 d 6 h to 15 h)` of a decrease.
fn interval(wait: &MeanChange) -> String {
    let Some(ends) = wait.interval() else { return String::new() };
    let [low, high] = ends.map(|end| end.abs());
    format!(" ({} to {})", rough_duration(low), rough_duration(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: f64 = 3600.0;

    /// A class of so many jobs, whose waits change by so many hours, and by how much that may differ.
    fn class(name: &str, jobs: usize, hours: f64, within: f64) -> GroupDifference {
        let [old, low, high] = [100.0, hours - within, hours + within].map(|hours| hours * HOUR);
        let wait = MeanChange { old, new: old + hours * HOUR, low, high, jobs, blocks: 28, users: 40, level: 0.05 };
        GroupDifference { name: name.to_owned(), jobs, core_seconds: jobs as u128 * 3600, wait }
    }

    /// Classes, of which those win and lose that do so by more than chance; `others` is by how much the change of all others may
    /// differ.
    fn classes(groups: Vec<GroupDifference>, others: f64) -> Classes {
        let side = |is_one: fn(&MeanChange) -> bool| {
            let places: Vec<usize> = (0..groups.len()).filter(|&place| is_one(&groups[place].wait)).collect();
            let sum = |is_member: bool, within: f64| {
                let members = groups.iter().enumerate().filter(|(place, _)| places.contains(place) == is_member);
                let members: Vec<&GroupDifference> = members.map(|(_, group)| group).collect();
                let jobs: usize = members.iter().map(|group| group.jobs).sum();
                let change = members.iter().map(|group| group.wait.difference() * group.jobs as f64).sum::<f64>();
                class("", jobs, change / jobs.max(1) as f64 / HOUR, within)
            };
            let together = sum(true, 0.5);
            (!places.is_empty()).then(|| ClassesTogether {
                places: places.clone(),
                together,
                others: sum(false, others),
            })
        };
        Classes { winners: side(MeanChange::is_decrease), losers: side(MeanChange::is_increase), groups }
    }

    fn difference(sizes: Classes, entities: Classes) -> Difference {
        let jobs: usize = sizes.groups.iter().map(|size| size.jobs).sum();
        let core_seconds = sizes.groups.iter().map(|size| size.core_seconds).sum();
        let change = sizes.groups.iter().map(|size| size.wait.difference() * size.jobs as f64).sum::<f64>();
        let GroupDifference { wait, .. } = class("", jobs, change / jobs as f64 / HOUR, 100.0);
        let (longer, shorter) = (jobs / 2, jobs / 4);
        Difference { jobs, longer, shorter, wait, core_seconds, sizes, entities, ..Difference::default() }
    }

    #[test]
    fn a_class_that_wins_and_all_others_that_pay_are_named() {
        let sizes = || vec![class("1", 60, 3.0, 9.0), class("2-4", 20, 2.0, 9.0), class("5-16", 20, -30.0, 10.0)];
        let entities = vec![class("ada", 50, 4.0, 1.0), class("bob", 30, 3.0, 1.0), class("cy", 20, 0.0, 9.0)];
        let difference = difference(classes(sizes(), 1.0), classes(entities, 9.0));
        assert_eq!(
            effect(&difference),
            "By the mean, large jobs win, the others pay: of 100 jobs, 20 over 4 processors (20 % of core hours) wait 1 d 6 h less (1 d 7 h to \
             1 d 6 h), the other 80 wait 2 h 45 min more. 2 of 3 entities (80 % of jobs, 80 % of core hours) pay (most `ada`, 4 h \
             more), no entity wins by more than chance."
        );
    }

    #[test]
    fn losers_alone_are_named_and_so_is_that_nobody_wins() {
        let sizes = vec![class("1", 60, 3.0, 1.0), class("2-4", 20, 2.0, 1.0), class("5-16", 20, -30.0, 40.0)];
        assert_eq!(
            effect(&difference(classes(sizes, 40.0), Classes::default())),
            "By the mean, small jobs pay: of 100 jobs, 80 up to 4 processors (80 % of core hours) wait 2 h 45 min more (2 h 15 min to 3 h 15 \
             min); what changes for the other sizes may be chance."
        );
        let sizes = vec![class("1", 60, 3.0, 1.0), class("2-4", 20, 2.0, 1.0)];
        assert_eq!(
            effect(&difference(classes(sizes, 1.0), Classes::default())),
            "By the mean, all jobs pay: of 80 jobs, 80 (100 % of core hours) wait 2 h 45 min more (2 h 15 min to 3 h 15 min)."
        );
    }

    #[test]
    fn two_classes_of_which_one_wins_and_one_pays_are_both_named() {
        let sizes = vec![class("1", 40, -2.0, 1.0), class("2-4", 40, 4.0, 1.0), class("5-16", 20, -2.0, 9.0)];
        assert_eq!(
            effect(&difference(classes(sizes, 9.0), Classes::default())),
            "By the mean, small jobs win, those of 2-4 processors pay: of 100 jobs, 40 of 1 processor (40 % of core hours) wait 2 h less (2 h 30 \
             min to 1 h 30 min), 40 (40 % of core hours) 4 h more."
        );
    }

    #[test]
    fn all_others_win_only_if_each_class_of_them_does() {
        let headline = |of_first: f64| {
            let sizes = vec![class("1", 50, of_first, 9.0), class("2-4", 60, 4.0, 1.0), class("5-16", 70, -30.0, 9.0)];
            effect(&difference(classes(sizes, 1.0), Classes::default()))
        };
        assert!(
            headline(-0.1).starts_with("By the mean, jobs of 2-4 processors pay, the others win: "),
            "{}",
            headline(-0.1)
        );
        assert!(headline(0.1).starts_with("By the mean, large jobs win, the others pay: "), "{}", headline(0.1));
    }

    #[test]
    fn what_may_be_chance_is_called_so() {
        let sizes = || classes(vec![class("1", 60, 3.0, 9.0), class("2-4", 40, -1.0, 9.0)], 9.0);
        let mut difference = difference(sizes(), Classes::default());
        assert_eq!(
            effect(&difference),
            "No change is more than chance: 100 jobs wait 1 h 24 min more on average (-4 d 3 h to +4 d 5 h); 50 wait longer, 25 \
             less, 25 alike."
        );
        let jobs =
            "100 jobs wait 1 h 24 min more on average (-4 d 3 h to +4 d 5 h); 50 wait longer, 25 less, 25 alike.";
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
            text.starts_with("The log is too short to tell an effect from chance: 100 jobs wait 1 h 24 min more"),
            "{text}"
        );
        (difference.longer, difference.shorter) = (0, 0);
        assert_eq!(effect(&difference), "All 100 jobs start at the same second under both formulas.");
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

    #[test]
    fn classes_have_their_sizes_run_times_and_names() {
        let named = |kind: Kind, names: &[&str], places: &[usize]| {
            let groups = names.iter().map(|name| class(name, 20, 0.0, 1.0)).collect();
            let Named { subject, which, .. } = Named::new(kind, &classes(groups, 1.0), places);
            subject + &which
        };
        let sizes = ["1", "2-4", "5-16", "17-64", "4097 and more"];
        let times = ["up to 1 min", "up to 10 min", "up to 1 h", "longer"];
        let cases = [
            (Kind::Size, &sizes[..], &[0][..], "small jobs of 1 processor"),
            (Kind::Size, &sizes, &[0, 1], "small jobs up to 4 processors"),
            (Kind::Size, &sizes, &[3, 4], "large jobs over 16 processors"),
            (Kind::Size, &sizes, &[1, 2], "jobs of 2-16 processors"),
            (Kind::Size, &sizes, &[1, 4], "jobs of 2-4 or over 4096 processors"),
            (Kind::RunTime, &times, &[0, 1], "short jobs that run up to 10 min"),
            (Kind::RunTime, &times, &[1, 2], "jobs that run 1 min to 1 h"),
            (Kind::RunTime, &times, &[3], "long jobs that run over 1 h"),
            (Kind::Queue, &["a", "b", "c"], &[0, 2], "queues `a` and `c`"),
            (Kind::Entity, &["a", "b", "c", "d", "e"], &[0, 1, 2, 3], "4 of 5 entities"),
            (Kind::Group, &["a", "b"], &[0, 1], "all jobs"),
        ];
        for (kind, names, places, expected) in cases {
            assert_eq!(named(kind, names, places), expected);
        }
    }
}
