//! The syntax of formulas. Text enters; a syntax tree with spans leaves. No other module uses the
//! grammar.
//!
//! [`parse`] makes an [`Expr`], whose `Display` writes the text back, or a [`SyntaxError`]. Names
//! are not resolved here. Python that is not arithmetic becomes [`ExprKind::Unsupported`], whether
//! or not CPython accepts it; operators and units of other languages become errors with a fix.
//!
//! The limits are the crate's own and the same on every thread, target and profile.

mod ast;
mod parser;
mod raw_text;
mod syntax_error;

use std::panic::resume_unwind;
use std::thread;

use crate::diagnostic::Span;
use crate::python::PythonVersion;
use raw_text::scan;
use syntax_error::Result;

pub(crate) use ast::with_comments;
pub use ast::{Construct, Expr, ExprId, ExprKind, Keyword, LiteralKind, Node};
pub(super) use parser::TemplatePlace;
pub use syntax_error::{MAX_LENGTH, MAX_NESTING, SyntaxError, SyntaxErrorKind};

/// Parses the text of a formula as the default version of Python does.
///
/// # Errors
/// A [`SyntaxError`] if CPython's `eval` refuses the text, or if it exceeds [`MAX_LENGTH`] or
/// [`MAX_NESTING`]. A text with a construct that is not arithmetic may be refused by CPython and
/// not here.
pub fn parse(text: &str) -> Result<Expr> {
    parse_for(text, MAX_LENGTH, PythonVersion::default())
}

/// Parses as a version of Python does, with another limit on the length: OpenPBS accepts longer
/// texts than this crate.
///
/// # Errors
/// As for [`parse`].
pub fn parse_for(text: &str, max_length: usize, python: PythonVersion) -> Result<Expr> {
    build(text, max_length, python, false).map(|(expr, _)| expr)
}

/// Parses the text of a formula with constants that are to be found, as the default version of
/// Python reads the rest. Each constant is a name in the tree; its places are returned too.
///
/// # Errors
/// As for [`parse`].
pub(super) fn parse_template(text: &str) -> Result<(Expr, Vec<TemplatePlace>)> {
    build(text, MAX_LENGTH, PythonVersion::default(), true)
}

fn build(
    text: &str,
    max_length: usize,
    python: PythonVersion,
    is_template: bool,
) -> Result<(Expr, Vec<TemplatePlace>)> {
    let nesting = scan(text, max_length, python)?;
    // `None` if a limit of pest is reached
    let build = || parser::parse(text, python, is_template);
    if nesting <= NESTING_ON_ANY_STACK
        && let Some(result) = build()
    {
        return result;
    }
    if let Some(Some(result)) = with_deep_stack(build) {
        return result;
    }
    Err(SyntaxError::no_stack(Span::new(0, text.len())))
}

/// Whether Python reads the name of a resource as one name: those of OpenPBS may contain `-` too,
/// or be keywords.
pub fn is_identifier(name: &str) -> bool {
    match parse(name) {
        // another name if NFKC changes it: Python reads U+FB01 as the two letters `fi`
        Ok(expr) => expr.node(expr.root()).name() == Some(name),
        Err(_) => false,
    }
}

/// The greatest nesting that can be parsed on the stack of any thread, of 256 KiB. Without
/// optimization, a level takes several times as much.
const NESTING_ON_ANY_STACK: usize = if cfg!(debug_assertions) { 8 } else { 24 };

/// The size of a stack, in bytes, on which [`MAX_NESTING`] levels can be parsed in an unoptimized
/// build.
const DEEP_STACK: usize = 64 << 20;

/// Runs `work` on a thread with a stack for [`MAX_NESTING`] levels; `None` if the system cannot
/// start one. WebAssembly has no threads: there, the module is linked with such a stack.
fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    if cfg!(target_family = "wasm") {
        return Some(work());
    }
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(DEEP_STACK);
        let worker = worker.spawn_scoped(scope, work).ok()?;
        // a defect stays a panic, which is no want of memory
        Some(worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Applicability, Code};

    fn printed(text: &str) -> String {
        match parse(text) {
            Ok(expr) => expr.to_string(),
            Err(error) => format!("{}..{}: {error}", error.span().start, error.span().end),
        }
    }

    #[test]
    fn keyword_names_are_not_names_of_the_formula() {
        let formula = crate::Formula::parse("max(ncpus, mem, key=abs, default=walltime)").unwrap();
        assert_eq!(formula.names(), ["max", "ncpus", "mem", "abs", "walltime"]);
    }

    #[test]
    #[should_panic(expected = "a defect")]
    fn a_panic_on_a_deep_stack_stays_a_panic() {
        with_deep_stack(|| panic!("a defect"));
    }

    #[test]
    fn a_number_that_is_a_float_only_before_else_is_printed_as_a_float() {
        assert_eq!(printed("1 if x < 0_4else 2"), "1 if x < 0_4.0 else 2");
    }

    #[test]
    fn printing_restores_the_text() {
        for text in [
            "pow(2, -(fairshare_tree_usage / fairshare_perc))",
            "1 + 2 * 3 - -4 // ~5**-6",
            "a if b else c if d else e",
            "a or b and not c == d < e",
            "max(1, 2, key=abs, default=0)",
            "(1,)",
            "1, 2",
            "[1, 2, (3 + 4)]",
            "0x1f + 1_000.5e-3 + .5 + 5.",
            "not (a in (1, 2) and b not in [3])",
        ] {
            assert_eq!(printed(text), text);
        }
    }

    #[test]
    fn the_fix_of_a_unit_is_the_number() {
        for (text, code, written, number, safe) in [
            ("mem > 4gb", "JSF614", "4gb", "4194304", true),
            ("1.5 GB + 1", "JSF614", "1.5 GB", "1572864", true),
            ("100b", "JSF614", "100b", "1", false),
            ("walltime > 01:00:00", "JSF614", "01:00:00", "3600", true),
            ("1:30", "JSF614", "1:30", "90", true),
            ("(24h) * 2", "JSF614", "24h", "86400", false),
            ("10% * ncpus", "JSF611", "10%", "0.1", false),
            ("5 * (12.5 %)", "JSF611", "12.5 %", "0.125", false),
        ] {
            let found = parse(text).unwrap_err().diagnostic();
            let fix = found
                .fix
                .unwrap_or_else(|| panic!("{text}: {}", found.message));
            assert_eq!(
                (found.code.name(), found.span.slice(text), &*fix.replacement),
                (code, written, number)
            );
            assert_eq!(fix.applicability == Applicability::Safe, safe, "{text}");
        }
        for plain in [
            "4x", "1 +", "ncpus %", "4 ncpus", "1:", ":", "%", "é:00", "1:00:",
        ] {
            assert!(
                parse(plain).unwrap_err().diagnostic().code == Code::InvalidSyntax,
                "{plain}"
            );
        }
    }

    #[test]
    fn the_formulas_of_real_sites_are_parsed() {
        for text in [
            include_str!("../../../examples/formulas/alcf.txt"),
            include_str!("../../../examples/formulas/nas.txt"),
            include_str!("../../../examples/formulas/pp718.txt"),
            include_str!("../../../examples/formulas/qut.txt"),
        ] {
            let expr = parse(text.trim()).unwrap();
            let printed = parse(&expr.to_string()).unwrap();
            assert!(
                expr.nodes()
                    .iter()
                    .map(|node| &node.kind)
                    .eq(printed.nodes().iter().map(|node| &node.kind)),
                "{text}"
            );
        }
    }

    #[test]
    fn the_limits_include_their_last_value() {
        for open in ["(", "f(", "-(", "f(1,", "not ("] {
            assert!(parse(&deep(open, MAX_NESTING)).is_ok(), "{open}");
            assert!(
                matches!(
                    parse(&deep(open, MAX_NESTING + 1)).unwrap_err().kind(),
                    SyntaxErrorKind::TooDeep
                ),
                "{open}"
            );
        }
        assert!(parse(&deep("f(", MAX_NESTING).replace('1', "f()")).is_err());
        for long in [
            "1+".repeat(MAX_LENGTH / 2 - 1) + "1",
            "-".repeat(5000) + "x",
            "x**".repeat(5000) + "x",
        ] {
            assert!(parse(&long).is_ok());
        }
    }

    fn deep(open: &str, levels: usize) -> String {
        format!("{}1{}", open.repeat(levels), ")".repeat(levels))
    }
}
