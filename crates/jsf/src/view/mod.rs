//! How results are shown: documents for people, and what they have in common.

pub(crate) mod branches;
pub mod charts;
pub mod csv_writer;
pub mod decides;
pub mod document;
pub mod exchange_rates;
pub mod finding;
pub mod goals;
pub mod groups;
pub mod ordered_writer;
pub mod printable;
pub mod rule_facts;
pub mod verdict;
pub mod words;
