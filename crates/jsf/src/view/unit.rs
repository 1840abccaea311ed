//! What a number is of, which decides how people see it, its changes and their intervals.

use jsf_simulate::{MeanChange, Measure};

use crate::view::words::{
    duration, percent, signed_duration, signed_rough_duration, signed_significant, significant,
};

/// What a number is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Seconds.
    Time,
    /// A number alone.
    Number,
    /// A part of a whole, from 0 to 1.
    Part,
}

impl Unit {
    pub(crate) fn of(measure: Measure) -> Self {
        if measure.is_duration() {
            Self::Time
        } else if measure.is_fraction() {
            Self::Part
        } else {
            Self::Number
        }
    }

    pub(crate) fn words(self, value: f64) -> String {
        match self {
            Self::Time => duration(value),
            Self::Number => significant(value),
            Self::Part => percent(value),
        }
    }

    /// A change, with its sign.
    pub(crate) fn change(self, change: f64) -> String {
        match self {
            Self::Time => signed_duration(change),
            Self::Number => signed_significant(change),
            Self::Part => format!("{} points", signed_significant(change * 100.0)),
        }
    }

    /// The interval of a change; `None` if it has none.
    pub(crate) fn interval(self, change: &MeanChange) -> Option<String> {
        let [low, high] = change.interval()?.map(|end| match self {
            Self::Time => signed_rough_duration(end),
            _ => self.change(end),
        });
        Some(format!("{low} to {high}"))
    }

    /// The interval of a change after a blank and in brackets; empty if it has none.
    pub(crate) fn interval_in_brackets(self, change: &MeanChange) -> String {
        match self.interval(change) {
            Some(interval) => format!(" ({interval})"),
            None => String::new(),
        }
    }
}
