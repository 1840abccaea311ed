//! Lambdas and generators: code that runs later, or never.

use std::rc::Rc;
use std::sync::Arc;

use crate::formula::syntax::{NodeId, Scope, Takes};
use crate::pbs::verdict::evaluation::call::Arguments;
use crate::pbs::verdict::evaluation::comprehension::Asked;
use crate::pbs::verdict::evaluation::names::{Frame, Opened, Slot, Slots};
use crate::pbs::verdict::evaluation::object::{Code, Object, Sequence};
use crate::pbs::verdict::evaluation::survey::assigned_in_body;
use crate::pbs::verdict::evaluation::{Evaluation, Flow, Stop};

impl Evaluation<'_> {
    pub(super) fn lambda(&mut self, id: NodeId) -> Flow<Object> {
        let expr = Arc::clone(&self.expr);
        let Some(Scope::Lambda { parameters, .. }) = expr.scope(id) else { return Err(Stop::Lost) };
        let mut given = Vec::new();
        for default in parameters.iter().filter_map(|parameter| parameter.default) {
            let object = self.value(default)?;
            given.push(self.released(object)?);
        }
        Ok(self.code(id, given))
    }

    pub(super) fn code(&self, node: NodeId, given: Vec<Object>) -> Object {
        let frames = self.names.frames.iter().map(|frame| frame.id).collect();
        Object::Code(Rc::new(Code { expr: Arc::clone(&self.expr), node, frames, given }))
    }

    /// Looks through code that may run later, once, often or never, with anything.
    pub(super) fn may_run(&mut self, code: &Code) -> Flow<()> {
        if !self.stands_in(code) {
            return Err(Stop::Lost);
        }
        // whoever runs it may get an exception; by itself it raises none
        let other = self.doubts.other;
        self.perhaps(|own| {
            own.forget_assigned();
            let expr = Arc::clone(&code.expr);
            own.within(&expr, |own| match code.scope() {
                Some(Scope::Lambda { parameters, body }) => {
                    let slots = parameters.iter().map(|own| (own.name.clone(), Slot::Bound(Object::UNKNOWN)));
                    let object = own.in_lambda(slots.collect(), *body)?;
                    own.release(&object)
                }
                Some(_) => own.run_comprehension(code.node, Object::UNKNOWN, Asked::AtOnce).map(drop),
                None => Err(Stop::Lost),
            })
        })?;
        self.doubts.other = other;
        self.forget_mutables();
        Ok(())
    }

    /// What a lambda gives for these arguments.
    pub(super) fn call_lambda(&mut self, code: &Code, arguments: &Arguments) -> Flow<Object> {
        let expr = Arc::clone(&code.expr);
        let Some(Scope::Lambda { parameters, body }) = expr.scope(code.node) else { return Err(Stop::Other) };
        if !self.stands_in(code) {
            return Err(Stop::Lost);
        }
        let mut slots = Slots::new();
        let mut positional = arguments.positional.iter();
        let mut named: Vec<_> = arguments.named.iter().collect();
        let mut defaults = code.given.iter();
        for parameter in parameters {
            let default = parameter.default.and_then(|_| defaults.next());
            let by_name = named.iter().position(|(name, _)| *name == parameter.name);
            let by_name = by_name.filter(|_| !parameter.takes.all()).map(|at| &named.remove(at).1);
            let by_place = if parameter.takes == Takes::Place { positional.next() } else { None };
            let given = match (by_place, by_name) {
                (Some(_), Some(_)) => return Err(Stop::Other),
                (place, name) => place.or(name).or(default).cloned(),
            };
            let object = match (given, parameter.takes == Takes::RestByName) {
                (Some(object), _) => self.released(object)?,
                (None, _) if !parameter.takes.all() => return Err(Stop::Other),
                (None, true) => Object::Opaque(Some(!std::mem::take(&mut named).is_empty())),
                (None, false) => {
                    let rest = positional.by_ref().map(|object| self.released(object.clone()));
                    Object::items(rest.collect::<Flow<_>>()?, Sequence::Tuple)
                }
            };
            slots.insert(parameter.name.clone(), Slot::Bound(object));
        }
        if positional.next().is_some() || !named.is_empty() {
            return Err(Stop::Other);
        }
        self.within(&expr, |own| own.in_lambda(slots, *body))
    }

    /// What a generator gives one by one, if that is known. It runs here and now.
    pub(super) fn run_generator(&mut self, code: &Code, asked: Asked) -> Flow<Option<Vec<Object>>> {
        let expr = Arc::clone(&code.expr);
        let Some(first) = code.given.first().cloned() else { return Err(Stop::Lost) };
        if !self.stands_in(code) || !matches!(expr.scope(code.node), Some(Scope::Comprehension { .. })) {
            return Err(Stop::Lost);
        }
        self.within(&expr, |own| own.run_comprehension(code.node, first, asked))
    }

    /// Whether the scopes around the code are those that are open here.
    fn stands_in(&self, code: &Code) -> bool {
        let open = self.names.frames.iter().map(|frame| &frame.id);
        self.names.frames.len() == code.frames.len() && open.eq(code.frames.iter())
    }

    fn in_lambda(&mut self, mut slots: Slots, body: NodeId) -> Flow<Object> {
        let expr = Arc::clone(&self.expr);
        for name in assigned_in_body(&expr, body) {
            slots.entry(name).or_insert(Slot::Unbound);
        }
        self.in_frame(Opened::Lambda, slots, |own| {
            let object = own.value(body)?;
            own.released(object)
        })
    }

    pub(super) fn in_frame<T>(
        &mut self,
        opened: Opened,
        slots: Slots,
        work: impl FnOnce(&mut Self) -> Flow<T>,
    ) -> Flow<T> {
        self.frames_made += 1;
        let depth = self.names.frames.len();
        self.names.frames.push(Frame { id: self.frames_made, opened, slots });
        let result = work(self);
        self.names.frames.truncate(depth);
        result
    }

    /// Forgets what the formula assigns to, for code that runs again or later. A name without a value may still have
    /// none.
    pub(super) fn forget_assigned(&mut self) {
        let assigned = std::mem::take(&mut self.assigned);
        let names = &mut self.names;
        let all = [&mut names.script, &mut names.globals].into_iter();
        for slots in all.chain(names.frames.iter_mut().map(|frame| &mut frame.slots)) {
            for name in &assigned {
                match slots.get_mut(name) {
                    Some(Slot::Bound(object)) => *object = Object::UNKNOWN,
                    Some(slot @ Slot::Unbound) => *slot = Slot::Doubtful,
                    Some(Slot::Doubtful) | None => {}
                }
            }
        }
        for name in &names.global_only {
            names.globals.entry(name.clone()).or_insert(Slot::Doubtful);
        }
        self.assigned = assigned;
    }
}
