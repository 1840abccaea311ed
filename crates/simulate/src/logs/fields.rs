//! The fields of a line of a log, by their names: what logs with column names and records of
//! attributes have in common.

/// What a line says, name by name; of several fields with one name the last one counts.
pub struct Fields<'l>(Vec<(&'l str, &'l str)>);

impl<'l> Fields<'l> {
    /// Fields with their names.
    pub fn new(fields: Vec<(&'l str, &'l str)>) -> Self {
        Self(fields)
    }

    /// The values below the names of a heading.
    pub fn below(names: &'l [String], values: impl Iterator<Item = &'l str>) -> Self {
        Self(names.iter().map(String::as_str).zip(values).collect())
    }

    /// The text of a field; empty if the line does not have it.
    pub fn get(&self, name: &str) -> &'l str {
        for (other, text) in self.0.iter().rev() {
            if *other == name {
                return text;
            }
        }
        ""
    }

    /// The first of some fields that says a number other than 0, or any text.
    pub fn first_given(&self, names: &[&str]) -> &'l str {
        for name in names {
            let text = self.get(name);
            if !matches!(text, "" | "0") {
                return text;
            }
        }
        ""
    }

    /// A whole number above 0.
    pub fn positive(&self, name: &str) -> Option<i64> {
        self.get(name).parse().ok().filter(|number| *number > 0)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'l str, &'l str)> + '_ {
        self.0.iter().copied()
    }
}
