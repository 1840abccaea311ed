//! The parameters of a lambda, and Python's rules about their order.

use pest::iterators::Pair;

use crate::diagnostic::Span;
use crate::formula::syntax::grammar::Rule;
use crate::formula::syntax::tree::{Result, normalised, span_of};
use crate::formula::syntax::{SyntaxError, SyntaxErrorKind, Takes};

/// The parameters of one lambda, as far as they are read.
#[derive(Default)]
pub(super) struct Parameters {
    names: Vec<Box<str>>,
    /// Whether one before `*` has a default, so that all behind it must.
    defaults: bool,
    slash: bool,
    star: bool,
    /// Whether a `*` without a name waits for the name behind it.
    bare: bool,
    mapping: bool,
}

impl Parameters {
    /// Takes the next parameter; gives its name and how it takes its value, unless it is a bare `*` or `/`.
    pub(super) fn add(&mut self, pair: &Pair<'_, Rule>) -> Result<Option<(Box<str>, Takes)>> {
        let error = |what| Err(SyntaxError::new(SyntaxErrorKind::Parameters(what), span_of(pair)));
        if self.mapping {
            return error("nothing may stand behind the `**` of a lambda");
        }
        let (mut spread, mut default, mut named) = ("", false, None);
        for part in pair.clone().into_inner() {
            match part.as_rule() {
                Rule::slash if self.slash || self.star || self.names.is_empty() => {
                    return error("`/` stands once, behind a parameter and before `*`");
                }
                Rule::slash => self.slash = true,
                Rule::star => spread = "bare",
                Rule::spread => spread = part.as_str(),
                Rule::name => {
                    let name = normalised(part.as_str());
                    if matches!(&*name, "None" | "True" | "False" | "__debug__") || self.names.contains(&name) {
                        return error("a parameter needs a name of its own");
                    }
                    self.names.push(name.clone());
                    named = Some(name);
                }
                _ => default = true,
            }
        }
        let is_name = spread.is_empty() && !pair.as_str().starts_with('/');
        match spread {
            "*" | "bare" if self.star => return error("`*` stands once among parameters"),
            "*" | "bare" => self.star = true,
            "**" if self.bare => return error("a name has to follow `*`"),
            "**" => self.mapping = true,
            _ if is_name && self.defaults && !default && !self.star => {
                return error("a parameter without a default stands behind one with a default");
            }
            _ => self.defaults |= default && !self.star,
        }
        self.bare = spread == "bare" || (self.bare && !is_name);
        let takes = match spread {
            "*" => Takes::Rest,
            "**" => Takes::RestByName,
            _ if self.star => Takes::Name,
            _ => Takes::Place,
        };
        Ok(named.map(|name| (name, takes)))
    }

    /// To be called behind the last one.
    pub(super) fn finish(&self, span: Span) -> Result<()> {
        match self.bare {
            true => Err(SyntaxError::new(SyntaxErrorKind::Parameters("a name has to follow `*`"), span)),
            false => Ok(()),
        }
    }
}
