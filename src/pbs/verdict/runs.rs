//! The two executions, and what the server makes of them.

use std::sync::Arc;

use crate::formula::program::compiles;
use crate::formula::syntax::{Expr, on_a_deep_stack};
use crate::pbs::verdict::Verdict;
use crate::pbs::verdict::evaluation::{Doubts, Evaluation, Stop};
use crate::pbs::verdict::statements::Statement;
use crate::schema::Schema;

/// How deep the way may go down on any stack.
const ROOM_ON_ANY_STACK: u32 = 24;

/// How deep it may go on a stack of its own; CPython compiles no deeper tree.
const ROOM: u32 = 3200;

/// What the server answers to statements that Python compiles.
pub(super) fn answer(statements: &[Statement], schema: &Schema) -> Verdict {
    let exprs = || statements.iter().flat_map(Statement::exprs);
    let each: Vec<Option<bool>> = exprs().map(|expr| compiles(expr)).collect();
    let compiled = if each.contains(&Some(false)) { Some(false) } else { each.iter().copied().min().flatten() };
    match compiled {
        // not a `SyntaxError`, and so swallowed
        Some(false) => Verdict::ACCEPTED,
        None => closed(statements, schema),
        Some(true) if exprs().all(|expr| expr.foreign().is_none() && depth(expr) <= ROOM_ON_ANY_STACK) => {
            follow(statements, schema, ROOM_ON_ANY_STACK)
        }
        Some(true) => on_a_deep_stack(|| follow(statements, schema, ROOM)).unwrap_or(Verdict::UNKNOWN),
    }
}

fn follow(statements: &[Statement], schema: &Schema, room: u32) -> Verdict {
    let Some(mut evaluation) = Evaluation::new(statements, schema, room) else { return Verdict::UNKNOWN };
    let (end, doubts) = evaluation.execute(statements);
    let raised = match ended(end, doubts) {
        Ended::Well { raised } => raised,
        Ended::Name => return Verdict::KEYWORD,
        Ended::Syntax => return Verdict::FORMAT,
        Ended::Unknown => return closed(statements, schema),
    };
    match evaluation.error_number() {
        Some(0) => {}
        number => return by_number(number),
    }
    evaluation.begin_second(raised);
    let (end, doubts) = evaluation.execute(statements);
    match ended(end, doubts) {
        Ended::Well { .. } | Ended::Syntax => by_number(evaluation.error_number()),
        Ended::Name => Verdict::RESOURCE,
        Ended::Unknown => closed(statements, schema),
    }
}

/// How an execution ended, as the script tells ends apart.
enum Ended {
    /// Without an error, or with one that is swallowed.
    Well {
        /// Whether there was one, if that is known.
        raised: Option<bool>,
    },
    Name,
    Syntax,
    Unknown,
}

fn ended(end: Result<(), Stop>, doubts: Doubts) -> Ended {
    match end {
        Ok(()) | Err(Stop::Other) if doubts.name => Ended::Unknown,
        Ok(()) => Ended::Well { raised: if doubts.other { None } else { Some(false) } },
        Err(Stop::Other) => Ended::Well { raised: Some(true) },
        Err(Stop::Name) if !doubts.other => Ended::Name,
        Err(Stop::Syntax) if !doubts.other && !doubts.name => Ended::Syntax,
        Err(_) => Ended::Unknown,
    }
}

/// The answer that a number stands for: the script's own, or one that the formula wrote over it.
fn by_number(number: Option<i64>) -> Verdict {
    match number {
        Some(0) => Verdict::ACCEPTED,
        Some(1) => Verdict::FORMAT,
        Some(2) => Verdict::KEYWORD,
        Some(3) => Verdict::RESOURCE,
        // the system's own error, whatever it then is
        Some(4) | None => Verdict::UNKNOWN,
        Some(_) => Verdict::INTERNAL,
    }
}

/// A formula that misses no name is accepted, whatever it does.
fn closed(statements: &[Statement], schema: &Schema) -> Verdict {
    let Some(mut evaluation) = Evaluation::new(statements, schema, 0) else { return Verdict::UNKNOWN };
    evaluation.begin_second(Some(false));
    if evaluation.has_all_names(statements) { Verdict::ACCEPTED } else { Verdict::UNKNOWN }
}

fn depth(expr: &Arc<Expr>) -> u32 {
    let mut depths: Vec<u32> = Vec::with_capacity(expr.nodes().len());
    for node in expr.nodes() {
        let below = node.kind.children().iter().filter_map(|child| depths.get(child.index())).max().copied();
        depths.push(below.unwrap_or(0) + 1);
    }
    depths.last().copied().unwrap_or(0)
}
