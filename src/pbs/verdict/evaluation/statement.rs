//! Statements.

use std::sync::Arc;

use crate::formula::syntax::Expr;
use crate::pbs::verdict::evaluation::names::Slot;
use crate::pbs::verdict::evaluation::object::Object;
use crate::pbs::verdict::evaluation::{Evaluation, Flow, Stop, names};
use crate::pbs::verdict::statements::Statement;

impl Evaluation<'_> {
    pub(super) fn statement(&mut self, statement: &Statement) -> Flow<()> {
        match statement {
            Statement::Pass => {}
            Statement::Assignment { targets, value } => {
                let mut object = self.of(value)?;
                if matches!(object, Object::Code(_)) {
                    object = if self.is_kept_unread(targets) { Object::Powerful } else { self.released(object)? };
                }
                for target in targets {
                    self.within(target, |own| own.store(target.root(), object.clone()))?;
                }
            }
            Statement::Augmented { target, value } => {
                self.of(target)?;
                self.of(value)?;
                self.doubts.other = true;
                self.forget_mutables();
                self.within(target, |own| own.store(target.root(), Object::UNKNOWN))?;
            }
            Statement::Deletion(names) => {
                for name in names {
                    self.delete(name)?;
                }
            }
            Statement::Import(names) => {
                for name in names {
                    if !is_plain_module(name) {
                        return Err(Stop::Lost);
                    }
                    self.names.assign(name, Slot::Bound(module(name)));
                }
            }
        }
        Ok(())
    }

    /// Whether a value only goes to a name that the formula never says again, as `ans` mostly is.
    fn is_kept_unread(&self, targets: &[Arc<Expr>]) -> bool {
        match targets {
            [] => true,
            [only] => self.answer_is_unread && only.text() == "ans",
            _ => false,
        }
    }

    fn delete(&mut self, name: &str) -> Flow<()> {
        let is_there = match self.names.script.get(name) {
            Some(Slot::Bound(_)) => true,
            Some(Slot::Unbound) => false,
            Some(Slot::Doubtful) => return Err(Stop::Lost),
            None => names::is_of_script(name),
        };
        if self.names.global_only.iter().any(|own| **own == *name) {
            return Err(Stop::Lost);
        }
        if !is_there {
            return Err(Stop::Name);
        }
        self.names.script.insert(name.into(), Slot::Unbound);
        Ok(())
    }
}

/// Modules whose import defines a name and does nothing else.
pub(super) fn is_plain_module(name: &str) -> bool {
    matches!(name, "math" | "time" | "random" | "os" | "sys" | "re" | "json" | "string" | "operator" | "cmath")
}

/// What an imported module is: from most of them anything can be reached.
pub(super) fn module(name: &str) -> Object {
    if matches!(name, "math" | "cmath" | "time") { Object::TRUE_OBJECT } else { Object::Powerful }
}
