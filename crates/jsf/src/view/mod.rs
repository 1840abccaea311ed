//! How results are shown: documents for people, and what they have in common.

pub mod charts;
pub mod document;
pub mod findings;
pub mod sections;
pub mod words;
