//! Names: those of a function that runs, of the functions around it, and of the module.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::run::Run;
use super::value::{OwnClass, Value};

pub(super) type Variables = BTreeMap<String, Value>;
/// The names of a function that runs; absent outside of any, where names are the module's.
pub(super) type Locals = Option<Rc<LocalNames>>;

/// Where a name of a function lies that `global` or `nonlocal` declares.
#[derive(Debug, Clone, Copy)]
pub(super) enum DeclaredPlace {
    Module,
    Outer,
}

#[derive(Debug, Default)]
pub(super) struct LocalNames {
    pub(super) names: RefCell<Variables>,
    pub(super) outer: Locals,
    pub(super) declared: RefCell<BTreeMap<String, DeclaredPlace>>,
    /// The object of a method and the class that defines it: what `super()` is about.
    pub(super) owner: Option<(Value, Rc<OwnClass>)>,
    /// The body of a class, whose names its functions do not see.
    pub(super) is_class: bool,
}

impl LocalNames {
    /// One inside another.
    pub(super) fn inside(outer: &Locals) -> Rc<Self> {
        Rc::new(Self { outer: outer.clone(), ..Self::default() })
    }

    fn declared(&self, name: &str) -> Option<DeclaredPlace> {
        self.declared.borrow().get(name).copied()
    }

    pub(super) fn declare(&self, name: &str, place: DeclaredPlace) {
        self.declared.borrow_mut().insert(name.to_owned(), place);
    }
}

impl Run<'_> {
    pub(super) fn find(&self, name: &str, names: &Locals) -> Option<Value> {
        let mut scope = names.as_ref();
        while let Some(one) = scope {
            if let Some(DeclaredPlace::Module) = one.declared(name) {
                break;
            }
            if let Some(value) = one.names.borrow().get(name) {
                return Some(value.clone());
            }
            scope = one.outer.as_ref();
        }
        self.globals.get(name).cloned()
    }

    pub(super) fn set(&mut self, name: &str, value: Value, names: &Locals) {
        let mut scope = names.as_ref();
        if let Some(DeclaredPlace::Outer) = scope.and_then(|scope| scope.declared(name)) {
            scope = scope.and_then(|scope| scope.outer.as_ref());
            while let Some(one) = scope.filter(|one| !one.names.borrow().contains_key(name)) {
                scope = one.outer.as_ref();
            }
        }
        match scope {
            Some(scope) if scope.declared(name).is_none() => {
                scope.names.borrow_mut().insert(name.to_owned(), value);
            }
            _ => drop(self.globals.insert(name.to_owned(), value)),
        }
    }

    /// The names that a function sees which is defined here.
    pub(super) fn seen_from(names: &Locals) -> Locals {
        match names {
            Some(scope) if scope.is_class => scope.outer.clone(),
            names => names.clone(),
        }
    }
}
