//! What lays the interpreter open to whoever writes the formula; the server evaluates it as root.

/// Builtins that run code, read files, or show or change what the interpreter holds.
const BUILTINS: &[&str] = &[
    "BaseException",
    "GeneratorExit",
    "KeyboardInterrupt",
    "SystemExit",
    "breakpoint",
    "compile",
    "delattr",
    "dir",
    "eval",
    "exec",
    "getattr",
    "globals",
    "hasattr",
    "input",
    "locals",
    "memoryview",
    "object",
    "open",
    "setattr",
    "super",
    "type",
    "vars",
];

/// Attributes without underscores that lead to frames, code or exceptions.
const ATTRIBUTES: &[&str] = &[
    "ag_code",
    "ag_frame",
    "cr_code",
    "cr_frame",
    "f_back",
    "f_builtins",
    "f_code",
    "f_globals",
    "f_locals",
    "format",
    "format_map",
    "gi_code",
    "gi_frame",
    "mro",
    "send",
    "tb_frame",
    "tb_next",
    "throw",
    "with_traceback",
];

/// Whether the builtin does more than compute.
pub(crate) fn is_dangerous_builtin(name: &str) -> bool {
    name.starts_with("__") || BUILTINS.contains(&name)
}

/// Whether the attribute leads out of the formula.
pub(crate) fn is_dangerous_attribute(name: &str) -> bool {
    name.starts_with('_') || ATTRIBUTES.contains(&name)
}
