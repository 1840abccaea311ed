//! The formula: its text, what it says (`syntax`), what it means (`program`) and the arithmetic (`number`).

pub mod number;
pub mod operator;
pub mod syntax;
