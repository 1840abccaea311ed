//! Pages for a browser: those that commands write beside what they print, and `jsf page`.

#[cfg(feature = "command")]
pub mod run;
pub mod what_if;
