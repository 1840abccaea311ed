//! Reading job documents.

mod faults;
mod inputs;
mod readers;
