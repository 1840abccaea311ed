//! From the admin's text to what the server's script executes behind `ans=`.
//!
//! The text stands in single quotes, so Python resolves its escapes first, and a single quote in it ends the string.
//! That mostly breaks the script, but `ncpus''` is two strings side by side, and as good as `ncpus`.

use crate::formula::Formula;
use crate::formula::syntax::{Construct, Expr, NodeId, NodeKind, SyntaxErrorKind};
use crate::pbs::script_text::{BrokenScriptKind, ScriptText};

use crate::pbs::verdict::strings;
use crate::pbs::verdict::strings::{Text, Unreadable};

/// What the server's script comes to execute.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Executed {
    /// There is no formula: the attribute is unset.
    Nothing,
    /// The script is no Python.
    Broken,
    /// The script is, but the text in it cannot even be handed to the compiler, which the script swallows.
    Unreadable,
    /// This text, behind `ans=`.
    Text(String),
    /// It cannot be told.
    Unknown,
}

pub(super) fn executed(source: &str) -> Executed {
    let source = source.split('\0').next().unwrap_or("");
    if source.is_empty() {
        return Executed::Nothing;
    }
    match source.split('\n').next() {
        None | Some("") => Executed::Broken,
        Some(line) => of_line(line),
    }
}

fn of_line(line: &str) -> Executed {
    let broken = match ScriptText::between(line, '\'') {
        // Pythons of the same 3.11 differ on it
        Ok(script) if script.text().contains('\0') => return Executed::Unknown,
        Ok(script) => return Executed::Text(script.text().to_owned()),
        Err(broken) => broken,
    };
    let rest = &line[broken.span.end as usize..];
    match broken.kind {
        BrokenScriptKind::Quote | BrokenScriptKind::CarriageReturn => behind_a_quote(line),
        BrokenScriptKind::TrailingBackslash | BrokenScriptKind::Escape => Executed::Broken,
        BrokenScriptKind::NamedCharacter if rest.starts_with('{') && rest.contains('}') => Executed::Unknown,
        BrokenScriptKind::NamedCharacter => Executed::Broken,
        BrokenScriptKind::HalfCharacter => match of_line(rest) {
            Executed::Text(_) | Executed::Nothing => Executed::Unreadable,
            other => other,
        },
    }
}

/// The text ends the string around it, or its line: what the whole call then is.
fn behind_a_quote(line: &str) -> Executed {
    let call = format!("exec('ans={line}', globals1, locals())");
    match Formula::parse(&call) {
        Ok(formula) => first_argument(formula.expr()).unwrap_or(Executed::Unknown),
        Err(error) => match error.kind {
            SyntaxErrorKind::Statement(_) | SyntaxErrorKind::TooLong | SyntaxErrorKind::NoStack => Executed::Unknown,
            _ if crate::pbs::verdict::may_await(&call) => Executed::Unknown,
            _ => Executed::Broken,
        },
    }
}

/// The string that is executed, where the call is still the server's own.
fn first_argument(expr: &Expr) -> Option<Executed> {
    let NodeKind::Call { callee, positional, keywords } = &expr.node(expr.root()).kind else { return None };
    let is_name = |id: NodeId, name: &str| matches!(&expr.node(id).kind, NodeKind::Name(own) if **own == *name);
    let &[text, globals, locals] = &**positional else { return None };
    let is_own = is_name(*callee, "exec") && is_name(globals, "globals1") && keywords.is_empty();
    let NodeKind::Foreign { construct: Construct::String, .. } = expr.node(text).kind else { return None };
    if !is_own || expr.node(locals).span.of(expr.text()) != "locals()" {
        return None;
    }
    match strings::read(expr.node(text).span.of(expr.text())) {
        Ok(Text::Plain(text)) if !text.contains('\0') => {
            text.strip_prefix("ans=").map(|text| Executed::Text(text.into()))
        }
        Ok(_) | Err(Unreadable::Unknown) => None,
        Err(Unreadable::Broken) => Some(Executed::Broken),
    }
}
