//! Reading job documents.

mod damaged;
mod faults;
mod inputs;
mod readers;
