//! Follows an execution of the formula as far as it can be known, in search of names that are missed.
//!
//! Numbers are computed; of everything else is kept what decides the way: whether it counts as true, what it gives one
//! by one. Where the way cannot be known, both ways are gone, and what then may have happened is kept as a doubt. The
//! answer is only given where no doubt touches it.

mod access;
mod builtins;
mod call;
mod code;
mod comprehension;
mod display;
mod expression;
mod names;
mod object;
mod operators;
mod statement;
mod survey;

use std::sync::Arc;

use crate::formula::syntax::{Expr, NodeKind};
use crate::python::{Arithmetic, ErrorKind, Python, Raised, Value};
use crate::schema::Schema;

use crate::pbs::verdict::statements::Statement;
use names::{Names, Slot};
use object::Object;
use survey::{assigned, assigned_in_comprehensions, targets_of};

/// Why an evaluation stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// `NameError`
    Name,
    /// `SyntaxError`, out of `eval`.
    Syntax,
    /// Any other exception.
    Other,
    /// It cannot be followed any further.
    Lost,
}

type Flow<T> = Result<T, Stop>;

/// What may have happened on the way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Doubts {
    /// A `NameError`.
    pub name: bool,
    /// Another exception, so that what comes after may not have come.
    pub other: bool,
}

/// More steps than this are not followed.
const STEPS: u32 = 200_000;

/// Longer literals and strings are not computed with.
const LONGEST_TEXT: usize = 5000;

/// Loops over more than this are not followed.
const LONGEST_LOOP: usize = 1000;

/// An execution that is followed.
pub(super) struct Evaluation<'s> {
    schema: &'s Schema,
    expr: Arc<Expr>,
    names: Names,
    doubts: Doubts,
    python: Python,
    steps: u32,
    /// How much deeper the way may go down.
    room: u32,
    frames_made: u32,
    /// What the formula assigns to anywhere.
    assigned: Vec<Box<str>>,
    /// Whether the formula does not ask for the `ans` that it assigns to.
    answer_is_unread: bool,
}

impl<'s> Evaluation<'s> {
    /// The server's script before the first execution; none of no statements. `room` is how deep the way may go down.
    pub(super) fn new(statements: &[Statement], schema: &'s Schema, room: u32) -> Option<Self> {
        let exprs: Vec<&Arc<Expr>> = statements.iter().flat_map(Statement::exprs).collect();
        let expr = Arc::clone(exprs.first()?);
        let names = Names {
            everything: true,
            global_only: exprs.iter().flat_map(|expr| assigned_in_comprehensions(expr)).collect(),
            ..Names::default()
        };
        let mut assigned: Vec<Box<str>> = exprs.iter().flat_map(|expr| assigned(expr)).collect();
        for target in statements.iter().flat_map(targets_of) {
            assigned.extend(target.nodes().iter().filter_map(|node| match &node.kind {
                NodeKind::Name(name) => Some(name.clone()),
                _ => None,
            }));
        }
        let mentions = exprs.iter().filter(|expr| expr.text().contains("ans")).count();
        let answers = exprs.iter().filter(|expr| expr.text() == "ans").count();
        Some(Self {
            answer_is_unread: mentions == 1 && answers == 1,
            schema,
            expr,
            names,
            doubts: Doubts::default(),
            python: Python::new(),
            steps: 0,
            room,
            frames_made: 0,
            assigned,
        })
    }

    /// Prepares the second execution: of the resources the numeric ones alone, and of the first one what it left. The
    /// script calls a swallowed exception `e`, and so has lost `math.e` when there was one.
    pub(super) fn begin_second(&mut self, raised: Option<bool>) {
        self.names.everything = false;
        self.names.globals.clear();
        self.names.frames.clear();
        self.doubts = Doubts::default();
        match raised {
            Some(false) => {}
            Some(true) => drop(self.names.script.insert("e".into(), Slot::Unbound)),
            None => drop(self.names.script.insert("e".into(), Slot::Doubtful)),
        }
    }

    /// Executes the statements, and says how that ended and what else may have happened.
    pub(super) fn execute(&mut self, statements: &[Statement]) -> (Flow<()>, Doubts) {
        // one measure of work for all of it
        self.python.begin();
        let end = statements.iter().try_for_each(|statement| self.statement(statement));
        self.names.frames.clear();
        if self.doubts.other {
            self.names.doubt_script();
        }
        (end, self.doubts)
    }

    /// The number that the script ends with, if it is known.
    pub(super) fn error_number(&self) -> Option<i64> {
        match self.names.script.get("errnum") {
            None => Some(0),
            Some(Slot::Bound(Object::Known(Value::Int(number)))) => Some(*number),
            Some(_) => None,
        }
    }

    /// The value of a formula.
    fn of(&mut self, expr: &Arc<Expr>) -> Flow<Object> {
        self.within(expr, |own| own.value(expr.root()))
    }

    /// Works in another formula, such as one in a string.
    fn within<T>(&mut self, expr: &Arc<Expr>, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.expr, Arc::clone(expr));
        let result = work(self);
        self.expr = outer;
        result
    }

    fn step(&mut self) -> Flow<()> {
        self.steps += 1;
        if self.steps > STEPS { Err(Stop::Lost) } else { Ok(()) }
    }

    /// Goes down one level.
    fn down<T>(&mut self, way: impl FnOnce(&mut Self) -> Flow<T>) -> Flow<T> {
        self.step()?;
        self.room = self.room.checked_sub(1).ok_or(Stop::Lost)?;
        let result = way(self);
        self.room += 1;
        result
    }

    /// Something that Python may refuse, and of whose result nothing is known.
    fn uncertain(&mut self) -> Flow<Object> {
        self.doubts.other = true;
        Ok(Object::UNKNOWN)
    }

    /// What an operation on known numbers gave.
    fn computed(&mut self, result: Result<Value, Raised>) -> Flow<Object> {
        match result {
            Ok(value) => Ok(Object::Known(value)),
            Err(raised) => match raised.kind {
                ErrorKind::Complex => Ok(Object::Complex(None)),
                ErrorKind::Limit | ErrorKind::Memory | ErrorKind::Decimal => self.uncertain(),
                _ => Err(Stop::Other),
            },
        }
    }

    /// Goes a way that may not be gone.
    fn perhaps(&mut self, way: impl FnOnce(&mut Self) -> Flow<()>) -> Flow<()> {
        let before = self.names.clone();
        let end = way(self);
        match end {
            Ok(()) => self.names.join(&before),
            Err(stop) => {
                self.names = before;
                self.doubt(stop)?;
            }
        }
        Ok(())
    }

    /// Goes one of two ways.
    fn one_of(
        &mut self,
        one: impl FnOnce(&mut Self) -> Flow<Object>,
        other: impl FnOnce(&mut Self) -> Flow<Object>,
    ) -> Flow<Object> {
        let before = self.names.clone();
        let first = one(self).and_then(|object| self.released(object));
        let after_first = std::mem::replace(&mut self.names, before);
        let second = other(self).and_then(|object| self.released(object));
        match (first, second) {
            (Ok(first), Ok(second)) => {
                self.names.join(&after_first);
                Ok(names::either(&first, &second))
            }
            (Ok(first), Err(stop)) => {
                self.names = after_first;
                self.doubt(stop)?;
                Ok(first)
            }
            (Err(stop), Ok(second)) => {
                self.doubt(stop)?;
                Ok(second)
            }
            (Err(first), Err(second)) if first == second => Err(first),
            _ => Err(Stop::Lost),
        }
    }

    fn doubt(&mut self, stop: Stop) -> Flow<()> {
        match stop {
            Stop::Name => self.doubts.name = true,
            Stop::Other => self.doubts.other = true,
            Stop::Syntax | Stop::Lost => return Err(Stop::Lost),
        }
        Ok(())
    }
}
