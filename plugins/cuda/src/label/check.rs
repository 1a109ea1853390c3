//! Checks of a label beyond the form of its fields.

use std::collections::BTreeSet;

use super::{Buffer, Task, Tensors, Trusted};
use crate::limits::{
    BUFFERS_MAX, DEVICES_MAX, DIMENSIONS_MAX, NAME_BYTES_MAX, SESSION_BUFFERS_MAX, SIZES_MAX,
    SOURCE_BYTES_MAX, TASK_BYTES_MAX,
};

impl Task {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.task.is_empty() || self.task.len() > TASK_BYTES_MAX {
            return Err(format!("task: 1 to {TASK_BYTES_MAX} bytes"));
        }
        range("buffers", self.buffers.len(), 1, BUFFERS_MAX)?;
        range("sizes", self.sizes.len(), 1, SIZES_MAX)?;
        range("held_out", self.held_out.len(), 0, SIZES_MAX)?;
        let buffers = self.buffers.len() * (self.sizes.len() + self.held_out.len());
        if buffers > SESSION_BUFFERS_MAX {
            return Err(format!(
                "buffers: at most {SESSION_BUFFERS_MAX} over all sizes and held_out, not {buffers}"
            ));
        }
        identifier("entry", &self.entry)?;
        for (name, buffer) in &self.buffers {
            identifier("buffers", name)?;
            buffer.check().map_err(|problem| format!("buffers.{name}: {problem}"))?;
            if self.scalars.contains_key(name) {
                return Err(format!("`{name}` is a buffer and a scalar"));
            }
        }
        for name in self.scalars.keys() {
            identifier("scalars", name)?;
        }
        self.check_names("arguments", &self.arguments)?;
        self.check_outputs("arguments", &self.arguments)?;
        if let Some(tensors) = &self.tensors {
            self.check_tensors(tensors)?;
        }
        if let Some(module) = &self.module {
            if self.tensors.is_none() {
                return Err("module: it needs `tensors`, which say where its results belong".into());
            }
            self.check_names("module.inputs", &module.inputs)?;
            let buffers: Vec<String> = module.parameters.values().cloned().collect();
            self.check_names("module.parameters", &buffers)?;
        }
        self.reference.check().map_err(|problem| format!("reference: {problem}"))?;
        if let Some(baseline) = &self.baseline {
            baseline.check().map_err(|problem| format!("baseline: {problem}"))?;
            if !self.baseline_ns.is_empty() {
                return Err("baseline_ns: there is a baseline as well; give one of both".into());
            }
        }
        range("baseline_ns", self.baseline_ns.len(), 0, DEVICES_MAX)?;
        if self.baseline_ns.values().any(|ns| *ns == 0) {
            return Err("baseline_ns: a time is 1 nanosecond or more".into());
        }
        self.tolerance.check()?;
        self.evaluate_checked()?;
        self.evaluate_timed().map(drop)
    }

    fn check_names(&self, what: &str, names: &[String]) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        for name in names {
            if !self.buffers.contains_key(name) && !self.scalars.contains_key(name) {
                return Err(format!("{what}: there is no buffer or scalar `{name}`"));
            }
            if !seen.insert(name) {
                return Err(format!("{what}: `{name}` comes twice"));
            }
        }
        Ok(())
    }

    /// Every output that is compared must be among the names that the program gets.
    fn check_outputs(&self, what: &str, names: &[String]) -> Result<(), String> {
        let compared = |(_, buffer): &(&String, &Buffer)| buffer.role.is_compared();
        let mut outputs = self.buffers.iter().filter(compared).peekable();
        if outputs.peek().is_none() {
            return Err("buffers: there is no output".into());
        }
        match outputs.find(|(name, _)| !names.contains(name)) {
            Some((name, _)) => Err(format!("{what}: the output `{name}` is missing")),
            None => Ok(()),
        }
    }

    fn check_tensors(&self, tensors: &Tensors) -> Result<(), String> {
        let all: Vec<String> = tensors.arguments.iter().chain(&tensors.returns).cloned().collect();
        self.check_names("tensors", &all)?;
        self.check_outputs("tensors", &all)?;
        let is_output =
            |name: &&String| self.buffers.get(*name).is_some_and(|buffer| !buffer.role.is_given());
        match tensors.returns.iter().find(|name| !is_output(name)) {
            Some(name) => Err(format!("tensors.returns: `{name}` is not an output")),
            None => Ok(()),
        }
    }
}

impl Buffer {
    fn check(&self) -> Result<(), String> {
        range("shape", self.shape.len(), 0, DIMENSIONS_MAX)?;
        match (self.role.is_given(), self.init) {
            (true, None) => Err("it needs an `init`".into()),
            (false, Some(_)) => Err("an output is poisoned, it has no `init`".into()),
            (false, None) => Ok(()),
            (true, Some(init)) => {
                init.check(self.dtype).map_err(|problem| format!("init: {problem}"))
            }
        }
    }
}

impl Trusted {
    fn check(&self) -> Result<(), String> {
        identifier("entry", &self.entry)?;
        range("source", self.source.len(), 1, SOURCE_BYTES_MAX)
    }
}

impl super::Tolerance {
    fn check(&self) -> Result<(), String> {
        let fine = |value: f64| (0.0..=1e30).contains(&value);
        if !fine(self.absolute) || !fine(self.relative) {
            return Err("tolerance: absolute and relative must not be negative".into());
        }
        if self.matched_ratio > 0.0 && self.matched_ratio <= 1.0 {
            return Ok(());
        }
        Err("tolerance: matched_ratio must be above 0 and at most 1".into())
    }
}

fn range(what: &str, count: usize, least: usize, most: usize) -> Result<(), String> {
    if (least..=most).contains(&count) {
        return Ok(());
    }
    Err(format!("{what}: {least} to {most} are needed, not {count}"))
}

fn identifier(what: &str, name: &str) -> Result<(), String> {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let goes_on = letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if begins && goes_on && name.len() <= NAME_BYTES_MAX {
        return Ok(());
    }
    Err(format!("{what}: `{name}` is not a name of at most {NAME_BYTES_MAX} letters"))
}
