//! Lambdas, comprehensions and generators: code with names of its own.

use std::sync::Arc;

use crate::formula::syntax::{Clause, Construct, Expr, Makes, NodeId, NodeKind, Scope};
use crate::pbs::verdict::evaluation::names::{Opened, Slot, Slots};
use crate::pbs::verdict::evaluation::object::{Object, Sequence};
use crate::pbs::verdict::evaluation::survey::assigned_in_comprehension;
use crate::pbs::verdict::evaluation::{Evaluation, Flow, LONGEST_LOOP, Stop};

impl Evaluation<'_> {
    pub(super) fn comprehension(&mut self, id: NodeId) -> Flow<Object> {
        let expr = Arc::clone(&self.expr);
        let Some(Scope::Comprehension { makes, clauses, .. }) = expr.scope(id) else { return Err(Stop::Lost) };
        let Some(first) = clauses.first() else { return Err(Stop::Lost) };
        let first = self.value(first.iterable)?;
        if first.is_no_iterable() {
            return Err(Stop::Other);
        }
        if *makes == Makes::Generator {
            // it goes through a generator only later
            let first = self.released(first)?;
            if first.sequence().is_none() {
                self.doubts.other = true;
            }
            return Ok(self.code(id, vec![first]));
        }
        let items = self.run_comprehension(id, first, Asked::AtOnce)?;
        Ok(match (makes, items) {
            (Makes::List, Some(items)) => Object::items(items, Sequence::List),
            (_, Some(items)) => Object::Opaque(Some(!items.is_empty())),
            (_, None) => Object::UNKNOWN,
        })
    }

    /// The items that a comprehension makes, if they are known.
    pub(super) fn run_comprehension(&mut self, id: NodeId, first: Object, asked: Asked) -> Flow<Option<Vec<Object>>> {
        let expr = Arc::clone(&self.expr);
        let Some(Scope::Comprehension { makes, items, clauses }) = expr.scope(id) else { return Err(Stop::Lost) };
        let mut slots = Slots::new();
        for target in clauses.iter().flat_map(|clause| clause.targets.iter()) {
            for name in names_in(&expr, *target) {
                slots.insert(name, Slot::Unbound);
            }
        }
        // nobody asks where nothing is assigned
        let assigned = if self.assigned.is_empty() { Vec::new() } else { assigned_in_comprehension(&expr, id) };
        self.in_frame(Opened::Comprehension { assigned: assigned.into() }, slots, |own| {
            let mut run = Run { makes: *makes, items, clauses, made: Vec::new(), is_known: true };
            match own.clause(&mut run, 0, Some(first)) {
                // whoever asked may have stopped before
                Err(_) if asked == Asked::OneByOne && !run.made.is_empty() => Err(Stop::Lost),
                end => end.map(|()| run.is_known.then_some(run.made)),
            }
        })
    }

    /// Runs a clause and all that stands inside it.
    fn clause(&mut self, run: &mut Run<'_>, index: usize, given: Option<Object>) -> Flow<()> {
        let Some(clause) = run.clauses.get(index) else { return self.item(run) };
        let iterable = match given {
            Some(object) => object,
            None => self.value(clause.iterable)?,
        };
        if clause.is_async {
            self.release(&iterable)?;
            self.doubts.other = true;
            return self.any_number_of_times(run, index);
        }
        match self.go_through(&iterable)? {
            Some(objects) if objects.len() <= LONGEST_LOOP => {
                for object in objects {
                    self.bind_targets(clause, object)?;
                    self.conditions(run, index, &clause.conditions)?;
                }
                Ok(())
            }
            Some(_) => Err(Stop::Lost),
            None => self.any_number_of_times(run, index),
        }
    }

    /// What is gone through is not known: the body may run with anything, often, or never.
    fn any_number_of_times(&mut self, run: &mut Run<'_>, index: usize) -> Flow<()> {
        let Some(clause) = run.clauses.get(index) else { return Ok(()) };
        run.is_known = false;
        self.perhaps(|own| {
            own.forget_assigned();
            own.bind_targets(clause, Object::UNKNOWN)?;
            own.conditions(run, index, &clause.conditions)
        })?;
        self.doubts.other = true;
        self.forget_mutables();
        Ok(())
    }

    fn conditions(&mut self, run: &mut Run<'_>, index: usize, conditions: &[NodeId]) -> Flow<()> {
        let Some((&condition, rest)) = conditions.split_first() else {
            return self.down(|own| own.clause(run, index + 1, None));
        };
        match self.value(condition)?.truth() {
            Some(true) => self.down(|own| own.conditions(run, index, rest)),
            Some(false) => Ok(()),
            None => {
                run.is_known = false;
                self.down(|own| own.perhaps(|own| own.conditions(run, index, rest)))
            }
        }
    }

    fn item(&mut self, run: &mut Run<'_>) -> Flow<()> {
        let first = run.made.len();
        for &item in run.items {
            let object = self.value(item)?;
            run.made.push(self.released(object)?);
        }
        // a set's item and a dict's key are hashed one by one
        if matches!(run.makes, Makes::Set | Makes::Dict)
            && let Some(hashed) = run.made.get(first)
        {
            if hashed.is_no_key() {
                return Err(Stop::Other);
            }
            self.doubts.other |= !hashed.is_hashable();
        }
        if run.made.len() > LONGEST_LOOP { Err(Stop::Lost) } else { Ok(()) }
    }

    fn bind_targets(&mut self, clause: &Clause, object: Object) -> Flow<()> {
        self.step()?;
        if let (&[target], false) = (&*clause.targets, clause.unpacks) {
            return self.store(target, object);
        }
        match self.go_through(&object)? {
            Some(objects) if objects.len() == clause.targets.len() => {
                clause.targets.iter().zip(objects).try_for_each(|(&target, object)| self.store(target, object))
            }
            _ => {
                self.doubts.other = true;
                clause.targets.iter().try_for_each(|&target| self.store(target, Object::UNKNOWN))
            }
        }
    }
}

/// How what a generator makes is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// All of it, with nothing in between.
    AtOnce,
    /// As long as it is needed.
    OneByOne,
}

/// A comprehension at work.
struct Run<'e> {
    makes: Makes,
    items: &'e [NodeId],
    clauses: &'e [Clause],
    made: Vec<Object>,
    /// Whether `made` is what it makes.
    is_known: bool,
}

/// The names in a target.
fn names_in(expr: &Expr, target: NodeId) -> Vec<Box<str>> {
    let (mut names, mut open) = (Vec::new(), vec![target]);
    while let Some(id) = open.pop() {
        match &expr.node(id).kind {
            NodeKind::Name(name) => names.push(name.clone()),
            NodeKind::Foreign { construct: Construct::Attribute | Construct::Subscript, .. } => {}
            kind => open.extend(kind.children()),
        }
    }
    names
}
