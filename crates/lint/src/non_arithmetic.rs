//! Python that means something else than arithmetic: constructs and builtins that serve no purpose
//! in a formula, those that give access to the interpreter, results that are not numbers, and
//! punctuation such as `0,5` and `10%` for numbers and `2(x)` for a product.

use std::collections::HashSet;

use crate::name_lints::Lints;
use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, Span};
use job_sort_formula::formula::name_resolution::{Resolution, is_listed};
use job_sort_formula::formula::syntax::{Construct, ExprId, ExprKind, LiteralKind, Node};
use job_sort_formula::python::{BinaryOperator, Function, UnaryOperator, Value, constant};

const ONLY_ARITHMETIC: &str =
    "a formula computes one number from numbers; use only arithmetic and functions of numbers";

/// Builtins that run code, read files, or show or change the objects of the interpreter.
const DANGEROUS_BUILTINS: &str = "BaseException breakpoint compile delattr dir eval exec GeneratorExit getattr globals hasattr input \
     KeyboardInterrupt locals memoryview object open setattr super SystemExit type vars";

/// Attributes without underscores that lead to frames, code objects or exceptions.
const DANGEROUS_ATTRIBUTES: &str = "ag_code ag_frame cr_code cr_frame f_back f_builtins f_code f_globals f_locals format format_map gi_code \
     gi_frame mro send tb_frame tb_next throw with_traceback";

/// The builtins, other than those of arithmetic, that never return a number.
const NEVER_A_NUMBER: &str = "ascii bin bytearray bytes chr classmethod compile complex delattr dict dir enumerate exec filter format \
     frozenset globals hex iter list locals map memoryview object oct open print property range repr reversed set \
     setattr slice sorted staticmethod str super tuple type vars zip";

impl Lints<'_> {
    /// Findings on everything in the formula that is not arithmetic: of nested constructs that are
    /// merely useless, only on the outermost.
    pub(super) fn check_arithmetic(&self) -> Vec<Diagnostic> {
        let mut findings = self.non_numeric_results();
        // that the result crashes the scheduler matters more than what it is made of
        let mut results = HashSet::new();
        results.extend(findings.iter().map(|found| found.span));
        let mut reported: Vec<Span> = Vec::new();
        // parents come after their children, so the outermost is met first
        for (id, node) in self.expr.iter().rev() {
            findings.extend(self.percent_sign(node));
            findings.extend(self.called_number(node));
            if let Some(found) = self.index_out_of_range(node) {
                results.insert(found.span);
                findings.push(found);
            }
            if let ExprKind::Tuple(items) = &node.kind
                && !self.is_used_as_tuple(id)
            {
                let pairs = items.windows(2);
                findings.extend(pairs.filter_map(|pair| self.decimal_comma(pair[0], pair[1])));
            }
            let Some(found) = self.construct(node) else {
                continue;
            };
            if found.code != Code::NotArithmetic {
                findings.push(found);
            } else if !reported.iter().any(|outer| outer.contains(node.span)) {
                reported.push(node.span);
                findings.extend((!results.contains(&node.span)).then_some(found));
            }
        }
        findings
    }

    fn construct(&self, node: &Node) -> Option<Diagnostic> {
        match &node.kind {
            ExprKind::Name(name) if self.is_foreign(name) => Some(builtin(name, node.span)),
            ExprKind::Unsupported {
                construct: Construct::AssignmentExpression,
                ..
            } => {
                let message = "`:=` assigns a variable of the scheduler's interpreter";
                let help = "later jobs, later cycles and later formulas see the variable; repeat the expression instead";
                Some(Diagnostic::new(Code::Assignment, message, node.span).with_help(help))
            }
            ExprKind::Unsupported {
                construct: Construct::Attribute,
                ..
            } => self.attribute(node),
            ExprKind::Unsupported { construct, .. } => {
                Some(useless(construct.description(), node.span))
            }
            _ => None,
        }
    }

    fn attribute(&self, node: &Node) -> Option<Diagnostic> {
        let (base, attribute) = self.attribute_of(node)?;
        match base {
            Some(module) if is_math_module(module) => {
                return Some(module_attribute(module, attribute, node.span));
            }
            Some(list) if is_resource_list(list) => {
                return Some(self.listed_resource(list, attribute, node.span));
            }
            _ => {}
        }
        if attribute.starts_with('_') || is_listed(DANGEROUS_ATTRIBUTES, attribute) {
            return Some(dangerous(&format!(".{attribute}"), node.span));
        }
        Some(useless(Construct::Attribute.description(), node.span))
    }

    /// `Resource_List.ncpus`: a formula sees what a job requests, under the name of the resource
    /// alone.
    fn listed_resource(&self, list: &str, name: &str, span: Span) -> Diagnostic {
        let message = format!("`{list}` is not a name that a formula can use");
        let found = Diagnostic::new(Code::UnknownName, message, span);
        match (self.schema.is_numeric(name), is_requested(list)) {
            (true, true) => found
                .with_label(format!("the amount that the job requests is `{name}`, without a prefix"))
                .replaced_by(name, Applicability::Safe),
            (true, false) => found.with_help(format!(
                "a formula does not see what a job has used; `{name}`, without a prefix, is the amount that it requests"
            )),
            (false, _) => found.with_help(format!(
                "a resource is written without a prefix, but `{name}` is not a known numeric resource either"
            )),
        }
    }

    /// Findings on expressions that can be the value of the whole formula and are not numbers.
    fn non_numeric_results(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let mut results = vec![self.expr.root()];
        while let Some(id) = results.pop() {
            let node = self.expr.node(id);
            match &node.kind {
                ExprKind::Parenthesized(inner) => results.push(*inner),
                ExprKind::Conditional {
                    then, otherwise, ..
                } => results.extend([*then, *otherwise]),
                // `and` and `or` return one of their operands
                ExprKind::Boolean { operands, .. } => results.extend(operands.iter()),
                _ if self.is_non_numeric(id) => {
                    let found =
                        Diagnostic::new(Code::NotANumber, "the result is not a number", node.span);
                    findings.push(found.with_help(
                        "the scheduler converts the result without checking its type and crashes",
                    ));
                }
                _ => {}
            }
        }
        findings
    }

    fn is_non_numeric(&self, id: ExprId) -> bool {
        match &self.expr.node(id).kind {
            ExprKind::Unsupported { construct, .. } => matches!(
                construct,
                Construct::String
                    | Construct::Lambda
                    | Construct::Comprehension
                    | Construct::Imaginary
                    | Construct::Set
                    | Construct::Dict
                    | Construct::Ellipsis
            ),
            // a formula that can be evaluated gets this finding from its range
            ExprKind::Tuple(_) | ExprKind::List(_) => self.expr.unsupported().is_some(),
            ExprKind::Name(name) => self.is_foreign(name),
            ExprKind::Call { callee, .. } => {
                let name = self.expr.node(*callee).name();
                name.is_some_and(|name| self.is_foreign(name) && is_listed(NEVER_A_NUMBER, name))
            }
            _ => false,
        }
    }

    fn is_foreign(&self, name: &str) -> bool {
        matches!(self.resolution(name), Resolution::UnsupportedBuiltin)
    }

    /// `[1, 2][9]`: an index that is out of range of a list or tuple literal.
    fn index_out_of_range(&self, node: &Node) -> Option<Diagnostic> {
        let ExprKind::Unsupported {
            construct: Construct::Subscript,
            parts,
        } = &node.kind
        else {
            return None;
        };
        let &[base, index] = &**parts else {
            return None;
        };
        let (ExprKind::List(items) | ExprKind::Tuple(items)) = &self.expr.node(base).kind else {
            return None;
        };
        let ExprKind::Literal {
            kind: LiteralKind::Integer,
            text,
        } = &self.expr.node(index).kind
        else {
            return None;
        };
        // a hexadecimal index or one with `_` does not parse, and is left to Python
        let index: usize = text.parse().ok()?;
        if index < items.len() {
            return None;
        }
        let message = format!("index {index} is out of range, which is an error for every job");
        Some(
            Diagnostic::new(Code::AlwaysFails, message, node.span)
                .with_help("the first item has the index 0"),
        )
    }

    /// `0,5`: a comma between digits, without blanks, in a tuple that is not used as one.
    fn decimal_comma(&self, left: ExprId, right: ExprId) -> Option<Diagnostic> {
        let comma = Span {
            start: self.expr.node(left).span.end,
            end: self.expr.node(right).span.start,
        };
        let range = comma.range();
        // the text, because an item may be longer than its last number: `a + 0,5`
        let before = &self.expr.text()[..range.start];
        let before = &before[before.trim_end_matches(is_word_or_dot).len()..];
        let after = &self.expr.text()[range.end..];
        let after = &after[..after.len() - after.trim_start_matches(is_word_or_dot).len()];
        // exactly the comma: with a blank after it, a list is meant
        if range.len() != 1 || !is_digits(before) || !is_digits(after) {
            return None;
        }
        let span = Span::new(range.start - before.len(), range.end + after.len());
        let message = format!("`{before},{after}` is two numbers in Python");
        let found = Diagnostic::new(Code::DecimalComma, message, span);
        if after.len() == 3 && before != "0" {
            // groups of three digits are thousands to some and decimals to others
            return Some(found.with_help(format!(
                "write the thousands as `{before}{after}`, or the decimal number as `{before}.{after}`"
            )));
        }
        let found = found.with_help("the decimal separator is `.`; digits can be grouped with `_`");
        Some(found.with_fix(comma, ".", Applicability::Unsafe))
    }

    /// Whether the tuple is an argument or an operand of `in`.
    fn is_used_as_tuple(&self, id: ExprId) -> bool {
        let mut above = self.parent(id);
        while let Some(parent) = above {
            match &self.expr.node(parent).kind {
                ExprKind::Parenthesized(_) => above = self.parent(parent),
                ExprKind::Binary { .. } | ExprKind::Unary { .. } | ExprKind::Conditional { .. } => {
                    return false;
                }
                _ => return true,
            }
        }
        false
    }

    /// `10% + x`, which Python reads as the remainder of 10 by `+x`.
    fn percent_sign(&self, node: &Node) -> Option<Diagnostic> {
        let ExprKind::Binary {
            op: BinaryOperator::Modulo,
            left,
            right,
        } = node.kind
        else {
            return None;
        };
        let ExprKind::Literal { text: number, .. } = &self.expr.node(left).kind else {
            return None;
        };
        let ExprKind::Unary {
            op: UnaryOperator::Plus | UnaryOperator::Minus,
            operand,
        } = self.expr.node(right).kind
        else {
            return None;
        };
        let left = self.expr.node(left).span;
        let right = self.expr.node(right).span;
        // `10% + x` is written like a percentage, `10 % +x` like a remainder
        let follows_directly = self.expr.text()[left.end as usize..].starts_with('%');
        let is_followed_by_blanks =
            self.expr.node(operand).span.start > right.start + 1 && right.start > left.end + 1;
        let hundredth = number.parse::<f64>().ok()? / 100.0;
        if !follows_directly || !is_followed_by_blanks {
            return None;
        }
        let span = Span {
            end: left.end + 1,
            ..left
        };
        let message = "`%` is the remainder operator, not a percent sign";
        Some(
            Diagnostic::new(Code::PercentSign, message, span)
                .with_help("write the percentage as a number")
                .replaced_by(hundredth.to_string(), Applicability::Unsafe),
        )
    }

    /// `2(x)`, which calls the number 2.
    fn called_number(&self, node: &Node) -> Option<Diagnostic> {
        let ExprKind::Call {
            callee,
            positional,
            keywords,
        } = &node.kind
        else {
            return None;
        };
        let called = self.expr.node(*callee);
        // a resource that hides a function has a finding of its own
        if let Some(name) = called.name()
            && Resolution::is_builtin(name, self.schema.python())
            && matches!(self.resolution(name), Resolution::Input)
        {
            return None;
        }
        if !self.is_number(*callee) {
            return None;
        }
        let message = format!(
            "`{}` is a number and cannot be called",
            called.span.slice(self.expr.text())
        );
        let found = Diagnostic::new(Code::CalledNumber, message, called.span)
            .with_help("every job gets an error and the value 0; write `*` to multiply");
        if positional.len() != 1 || !keywords.is_empty() {
            return Some(found);
        }
        let behind = Span {
            start: called.span.end,
            ..called.span
        };
        Some(found.with_fix(behind, "*", Applicability::Unsafe))
    }

    /// Whether the node is a number for every job.
    fn is_number(&self, id: ExprId) -> bool {
        match &self.expr.node(self.expr.without_parentheses(id)).kind {
            ExprKind::Literal { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Unary { .. }
            | ExprKind::Comparison { .. } => true,
            ExprKind::Name(name) => match self.resolution(name) {
                Resolution::Input => true,
                Resolution::Constant(value) => matches!(value, Value::Float(_) | Value::Bool(_)),
                Resolution::UnsupportedBuiltin | Resolution::Undefined => false,
            },
            ExprKind::Call { callee, .. } => {
                match self.expr.node(*callee).name().and_then(Function::from_name) {
                    // the only two of `math` that return a pair
                    Some(Function::Frexp | Function::Modf) | None => false,
                    Some(function) => function.is_math(),
                }
            }
            _ => false,
        }
    }
}

/// `math.log`: a formula can use the functions of `math`, but not the module.
fn module_attribute(module: &str, name: &str, span: Span) -> Diagnostic {
    let lower = name.to_ascii_lowercase();
    let function = Function::from_name(&lower);
    let is_known = function.is_some_and(Function::is_math) || constant(&lower).is_some();
    let message = format!("the module `{module}` is not available in a formula");
    let found = Diagnostic::new(Code::ModulePrefix, message, span);
    if !is_known {
        return found.with_help(format!(
            "the functions of Python's `math` are available without a prefix; `{name}` is not one of them"
        ));
    }
    // a function of `cmath` or `numpy` may give another result than that of `math`
    let applicability = if module == "math" {
        Applicability::Safe
    } else {
        Applicability::Unsafe
    };
    found
        .with_label(format!("`{lower}` is available without a prefix"))
        .replaced_by(lower, applicability)
}

/// Whether this is a module that people write before a function of `math`.
pub(super) fn is_math_module(name: &str) -> bool {
    matches!(name, "math" | "cmath" | "numpy" | "np" | "scipy")
}

/// Whether this is a list of resources of a job, which people write before a resource as `qstat -f`
/// does.
pub(super) fn is_resource_list(name: &str) -> bool {
    is_requested(name) || name.eq_ignore_ascii_case("resources_used")
}

fn is_requested(list: &str) -> bool {
    list.eq_ignore_ascii_case("Resource_List")
}

fn builtin(name: &str, span: Span) -> Diagnostic {
    if name.starts_with("__") || is_listed(DANGEROUS_BUILTINS, name) {
        return dangerous(name, span);
    }
    useless(&format!("`{name}`"), span)
}

fn dangerous(what: &str, span: Span) -> Diagnostic {
    let message = format!("`{what}` gives access to the interpreter, which runs as root");
    Diagnostic::new(Code::InterpreterAccess, message, span).with_help(ONLY_ARITHMETIC)
}

fn useless(what: &str, span: Span) -> Diagnostic {
    let message = format!("{what} is valid Python, but not arithmetic");
    Diagnostic::new(Code::NotArithmetic, message, span).with_help(ONLY_ARITHMETIC)
}

fn is_word_or_dot(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.')
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
