//! One run of a module: its names, and its statements in their order.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use assay_plugin::gpu::Step;
use assay_plugin::gpu::compiler::Trace;
use ruff_python_ast::{
    Expr, Identifier, Stmt, StmtClassDef, StmtFor, StmtImport, StmtImportFrom, StmtTry,
};
use ruff_text_size::{Ranged as _, TextRange};

use super::call::CallArguments;
use super::scope::{DeclaredPlace, LocalNames, Locals, Variables};
use super::tensor::ShapedTensor;
use super::value::{Object, OwnClass, OwnFunction, Value};
use super::{Call, Extension, MODEL, unsupported};
use crate::label::{Size, Task};
use crate::limits::{
    PYTHON_BYTES_MAX, PYTHON_CALLS_MAX, PYTHON_LAYERS_MAX, PYTHON_OBJECTS_MAX, PYTHON_STEPS_MAX,
};
use crate::verdict::{Failure, Stop, Verdict, beginning};

/// Bytes of the response's own words in an explanation.
const SHOWN_BYTES_MAX: usize = 80;

pub(super) type Recorder<'a> = &'a mut dyn FnMut(Call<'_>) -> Result<Trace, Stop>;

/// Where a run of statements ended.
pub(super) enum Flow {
    Next,
    Return(Value),
    Break,
    Continue,
}

pub(super) struct Run<'a> {
    text: &'a str,
    pub(super) task: &'a Task,
    /// The size of the inputs, and what compiled functions do; absent while it is only asked what there is.
    pub(super) at: Option<(&'a Size, Recorder<'a>)>,
    /// Whether it is only asked what it compiles.
    pub(super) collects: bool,
    pub(super) globals: Variables,
    /// Each once, in the order in which they are met.
    pub(super) extensions: Vec<Extension>,
    /// The texts that the response writes to files of its own.
    pub(super) files: BTreeMap<String, String>,
    pub(super) steps: Vec<Step>,
    pub(super) scratch_bytes: Vec<u64>,
    /// The buffers of its own that hold copies of others.
    pub(super) copies: BTreeSet<u32>,
    /// How often compiled functions were called.
    pub(super) recordings: usize,
    steps_left: usize,
    bytes_left: usize,
    objects: usize,
    layers: usize,
    calls: usize,
}

impl<'a> Run<'a> {
    pub(super) fn new(text: &'a str, task: &'a Task, at: Option<(&'a Size, Recorder<'a>)>) -> Self {
        Self {
            text,
            task,
            at,
            collects: false,
            globals: Variables::new(),
            extensions: Vec::new(),
            files: BTreeMap::new(),
            steps: Vec::new(),
            scratch_bytes: Vec::new(),
            copies: BTreeSet::new(),
            recordings: 0,
            steps_left: PYTHON_STEPS_MAX,
            bytes_left: PYTHON_BYTES_MAX,
            objects: 0,
            layers: 0,
            calls: 0,
        }
    }

    pub(super) fn into_plan(self) -> (Vec<Step>, Vec<u64>) {
        (self.steps, self.scratch_bytes)
    }

    pub(super) fn module(&mut self, body: &[Stmt]) -> Result<(), Stop> {
        let mut names = None;
        for statement in body {
            // Examples of its use, and tests, are no part of the answer.
            if matches!(statement, Stmt::If(test) if self.source(test.test.range()).contains("__name__"))
            {
                continue;
            }
            self.statement(statement, &mut names)?;
        }
        Ok(())
    }

    /// The instance of `ModelNew`, made of the task's values.
    pub(super) fn model(&mut self) -> Result<Option<Value>, Stop> {
        let Some(Value::Class(class)) = self.globals.get(MODEL).cloned() else { return Ok(None) };
        let values = self.task.init().iter().map(of_json).collect();
        self.instance(&class, CallArguments { values, named: Vec::new() }).map(Some)
    }

    pub(super) fn method(
        &mut self,
        object: &Value,
        name: &str,
        arguments: Vec<Value>,
    ) -> Result<Value, Stop> {
        let Value::Object(owner) = object else { return Err(unsupported("no object").into()) };
        match owner.class.function(name) {
            Some((function, class)) => {
                let taken = CallArguments { values: arguments, named: Vec::new() };
                self.called(&function, Some((object.clone(), class)), taken)
            }
            None => Err(unsupported(format!("{MODEL} has no {name}")).into()),
        }
    }

    /// A buffer or a number of the task by its name in the label.
    pub(super) fn named(&self, name: &str) -> Value {
        let Some((size, _)) = &self.at else { return Value::unknown(name) };
        if let Some(buffer) = self.task.buffer_number(name) {
            let dtype = self.task.buffers[name].dtype.to_host();
            let shape = &size.shapes[buffer as usize];
            return Value::Tensor(ShapedTensor::new(buffer, 0, dtype, shape));
        }
        match size.scalars.get(name) {
            Some(scalar) => {
                let number = scalar.as_real().map(Value::Real);
                number.or(scalar.as_int().map(Value::Int)).unwrap_or(Value::None)
            }
            None => Value::unknown(name),
        }
    }

    /// Every statement, expression and turn of a loop is a step.
    pub(super) fn step(&mut self) -> Result<(), Failure> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or_else(|| {
            unsupported(format!("its Python takes more than {PYTHON_STEPS_MAX} steps"))
        })?;
        Ok(())
    }

    /// Texts, lists and functions that are made count, whether they are kept or not.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), Failure> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or_else(|| {
            unsupported(format!(
                "the texts, lists and functions of its Python take more than {PYTHON_BYTES_MAX} bytes"
            ))
        })?;
        Ok(())
    }

    pub(super) fn text(&mut self, text: &str) -> Result<Value, Stop> {
        self.charge(text.len())?;
        Ok(Value::Text(text.into()))
    }

    /// Objects, and whatever else can hold one another: classes, and functions inside functions.
    fn count_object(&mut self) -> Result<(), Failure> {
        self.objects += 1;
        if self.objects > PYTHON_OBJECTS_MAX {
            return Err(unsupported(format!(
                "its Python makes more than {PYTHON_OBJECTS_MAX} objects"
            )));
        }
        Ok(())
    }

    pub(super) fn count_layer(&mut self) -> Result<(), Failure> {
        self.layers += 1;
        if self.layers > PYTHON_LAYERS_MAX {
            return Err(unsupported(format!(
                "its Python makes more than {PYTHON_LAYERS_MAX} layers"
            )));
        }
        Ok(())
    }

    pub(super) fn object(&mut self, class: &Rc<OwnClass>) -> Result<Rc<Object>, Failure> {
        self.count_object()?;
        Ok(Rc::new(Object { class: class.clone(), attributes: Variables::new().into() }))
    }

    pub(super) fn enter(&mut self) -> Result<(), Failure> {
        self.calls += 1;
        if self.calls > PYTHON_CALLS_MAX {
            return Err(unsupported(format!(
                "its functions call one another {PYTHON_CALLS_MAX} deep"
            )));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.calls -= 1;
    }

    /// The response's own words.
    pub(super) fn source(&self, range: TextRange) -> String {
        let text =
            self.text.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
        let words = beginning(text, 4 * SHOWN_BYTES_MAX);
        beginning(&words.split_whitespace().collect::<Vec<_>>().join(" "), SHOWN_BYTES_MAX)
    }

    pub(super) fn not_run(&self, range: TextRange) -> Stop {
        let what = self.source(range);
        unsupported(format!("its Python is not run here: `{what}`")).into()
    }

    pub(super) fn pytorch(&self, range: TextRange) -> Stop {
        let what = self.source(range);
        unsupported(format!("it computes with PyTorch, not with a kernel of its own: `{what}`"))
            .into()
    }

    pub(super) fn body(&mut self, body: &[Stmt], names: &mut Locals) -> Result<Flow, Stop> {
        for statement in body {
            match self.statement(statement, names)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Stmt, names: &mut Locals) -> Result<Flow, Stop> {
        self.step()?;
        match statement {
            Stmt::FunctionDef(function) => {
                self.charge(function.range().len().to_usize())?;
                let outer = Self::seen_from(names);
                if outer.is_some() {
                    self.count_object()?;
                }
                let name = function.name.to_string();
                let definition = Rc::new(function.clone());
                let function = Value::Function(Rc::new(OwnFunction { definition, outer }));
                self.set(&name, function, names);
            }
            Stmt::ClassDef(class) => self.class(class, names)?,
            Stmt::Global(statement) => declare(names, &statement.names, DeclaredPlace::Module),
            Stmt::Nonlocal(statement) => declare(names, &statement.names, DeclaredPlace::Outer),
            Stmt::Import(import) => self.import(import, names)?,
            Stmt::ImportFrom(import) => self.import_from(import, names)?,
            Stmt::Return(value) => {
                let value = value.value.as_deref().map(|value| self.value(value, names));
                return Ok(Flow::Return(value.transpose()?.unwrap_or(Value::None)));
            }
            Stmt::Assign(assign) => {
                let value = self.value(&assign.value, names)?;
                for target in &assign.targets {
                    self.assign(target, value.clone(), names)?;
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    let value = self.value(value, names)?;
                    self.assign(&assign.target, value, names)?;
                }
            }
            Stmt::AugAssign(assign) => {
                let left = self.value(&assign.target, names)?;
                let right = self.value(&assign.value, names)?;
                let value = self.binary(assign.op, &left, &right, assign.range())?;
                self.assign(&assign.target, value, names)?;
            }
            Stmt::Expr(expression) => drop(self.value(&expression.value, names)?),
            Stmt::If(test) => {
                if self.condition(&test.test, names)? {
                    return self.body(&test.body, names);
                }
                for clause in &test.elif_else_clauses {
                    let holds = clause.test.as_ref().map(|test| self.condition(test, names));
                    if holds.transpose()?.unwrap_or(true) {
                        return self.body(&clause.body, names);
                    }
                }
            }
            Stmt::For(each) => return self.each(each, names),
            Stmt::While(repeat) => {
                while self.condition(&repeat.test, names)? {
                    match self.body(&repeat.body, names)? {
                        Flow::Break => break,
                        Flow::Return(value) => return Ok(Flow::Return(value)),
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
            Stmt::With(with) => {
                for item in &with.items {
                    let value = self.value(&item.context_expr, names)?;
                    if let Some(target) = &item.optional_vars {
                        self.assign(target, value, names)?;
                    }
                }
                return self.body(&with.body, names);
            }
            Stmt::Try(attempt) => return self.attempt(attempt, names),
            // An assertion on inputs is true of the task's, or the kernel shows it.
            Stmt::Assert(_) | Stmt::Pass(_) | Stmt::Delete(_) => {}
            Stmt::Break(_) => return Ok(Flow::Break),
            Stmt::Continue(_) => return Ok(Flow::Continue),
            Stmt::Raise(raise) => {
                let what = self.source(raise.range());
                return Err(Failure::new(
                    Verdict::ExecuteError,
                    format!("its Python raises an error: `{what}`"),
                )
                .into());
            }
            other => return Err(self.not_run(other.range())),
        }
        Ok(Flow::Next)
    }

    pub(super) fn condition(&mut self, test: &Expr, names: &mut Locals) -> Result<bool, Stop> {
        let value = self.value(test, names)?;
        value.truth().ok_or_else(|| {
            let what = self.source(test.range());
            unsupported(format!("whether `{what}` holds depends on data, or is not known")).into()
        })
    }

    /// The body of a class runs as that of a function does; its names are the class's.
    fn class(&mut self, class: &StmtClassDef, names: &mut Locals) -> Result<(), Stop> {
        self.count_object()?;
        let mut base = None;
        for one in class.bases() {
            if let Value::Class(own) = self.value(one, names)? {
                base = base.or(Some(own));
            }
        }
        let mut inner = Some(Rc::new(LocalNames {
            outer: names.clone(),
            is_class: true,
            ..LocalNames::default()
        }));
        self.body(&class.body, &mut inner)?;
        let attributes = inner.map(|scope| scope.names.take()).unwrap_or_default();
        let name = class.name.to_string();
        let made = Rc::new(OwnClass { name: name.clone(), base, attributes: attributes.into() });
        self.set(&name, Value::Class(made), names);
        Ok(())
    }

    fn each(&mut self, each: &StmtFor, names: &mut Locals) -> Result<Flow, Stop> {
        let values = self.value(&each.iter, names)?;
        for value in self.elements(&values, each.iter.range())? {
            self.step()?;
            self.assign(&each.target, value, names)?;
            match self.body(&each.body, names)? {
                Flow::Break => break,
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
        }
        Ok(Flow::Next)
    }

    /// Nothing is raised in what is run here but the response's own errors, which end it.
    fn attempt(&mut self, attempt: &StmtTry, names: &mut Locals) -> Result<Flow, Stop> {
        for body in [&attempt.body, &attempt.orelse, &attempt.finalbody] {
            match self.body(body, names)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn import(&mut self, import: &StmtImport, names: &mut Locals) -> Result<(), Failure> {
        for alias in &import.names {
            known(&alias.name)?;
            let (name, value) = match &alias.asname {
                Some(name) => (name.as_str(), alias.name.as_str()),
                None => {
                    let first = alias.name.split('.').next().unwrap_or_default();
                    (first, first)
                }
            };
            self.set(name, Value::library(value), names);
        }
        Ok(())
    }

    fn import_from(&mut self, import: &StmtImportFrom, names: &mut Locals) -> Result<(), Failure> {
        let module = import.module.as_deref().unwrap_or_default();
        known(module)?;
        for alias in &import.names {
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            self.set(name, Value::library(&format!("{module}.{}", alias.name)), names);
        }
        Ok(())
    }
}

/// Ways to write kernels in Python that are not CUDA C++.
const OTHERS: [&str; 8] =
    ["triton", "cutlass", "cupy", "numba", "tilelang", "pycuda", "cuda_python", "cuda"];

fn known(module: &str) -> Result<(), Failure> {
    let first = module.split('.').next().unwrap_or_default();
    if OTHERS.contains(&first) {
        let reason = match first {
            // See the README for what it would take.
            "triton" => "its compiler would have to run in a box, and its launches be recorded",
            _ => "nothing else is compiled",
        };
        return Err(unsupported(format!("it uses {first}; only CUDA C++ is judged: {reason}")));
    }
    Ok(())
}

fn declare(names: &Locals, declared: &[Identifier], place: DeclaredPlace) {
    for name in declared {
        if let Some(scope) = names {
            scope.declare(name, place);
        }
    }
}

/// A value of `get_init_inputs`, as the label has it.
fn of_json(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::None,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(value) => Value::Int(value),
            None => number.as_f64().map_or_else(|| Value::unknown("a number"), Value::Real),
        },
        serde_json::Value::String(text) => Value::text(text),
        serde_json::Value::Array(values) => Value::list(values.iter().map(of_json).collect()),
        serde_json::Value::Object(_) => Value::unknown("a dictionary"),
    }
}
