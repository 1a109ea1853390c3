//! Kernels of tasks on the interpreter, without the service: compiled by the toolkit's nvcc, launched
//! as the task says, over buffers with guards around them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use assay_ptx::{
    GridLaunch, LaunchArg, LaunchError, LoadedModule, Memory, PtxModule, StepBudget, launch,
};
use serde_json::Value;

use super::responses::Task;
use super::truth::Buffers;
use super::values::{Kind, Numbers, Size};

const GUARD_BYTES: u64 = 4096;
const STEPS_MAX: u64 = 20_000_000;

/// The toolkit's folder, where the environment names one.
pub(crate) fn toolkit() -> Option<PathBuf> {
    let folder = std::env::var_os("ASSAY_TEST_CUDA").map(PathBuf::from)?;
    assert!(folder.join("bin/nvcc").is_file(), "{} holds no toolkit", folder.display());
    Some(folder)
}

/// The PTX of a file's kernels, or what the compiler said.
pub(crate) fn ptx(toolkit: &Path, source: &Path) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = folder.path().join("kernels.ptx");
    let output = Command::new(toolkit.join("bin/nvcc"))
        .args(["-ptx", "-arch=compute_90", "-o"])
        .args([&text, source])
        .output()
        .expect("nvcc starts");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(std::fs::read_to_string(text).expect("nvcc has written it"))
}

/// A kernel with how it is launched: of the task itself or of its reference.
pub(crate) struct Entry<'a> {
    pub(crate) module: Arc<PtxModule>,
    pub(crate) name: &'a Value,
    pub(crate) launch: &'a Value,
}

/// The result of a launch.
pub(crate) struct Left {
    pub(crate) buffers: Buffers,
    pub(crate) steps: u64,
    /// A guard is not what it was.
    pub(crate) overrun: bool,
}

/// A task's inputs for a size and a seed; outputs hold what is not a number.
pub(crate) fn inputs(task: &Task, size: Size<'_>, seed: u64) -> Buffers {
    let mut numbers = Numbers(seed);
    let one = |(name, buffer): (&String, &Value)| {
        let kind = Kind::of(&buffer["dtype"]);
        let count = size.product(&buffer["shape"]);
        let values = match buffer["role"].as_str() {
            Some("output") => vec![f64::NAN; count],
            _ => numbers.filled(kind, &buffer["init"], count),
        };
        (name.clone(), values)
    };
    buffers_of(task).iter().map(one).collect()
}

pub(crate) fn buffers_of(task: &Task) -> &serde_json::Map<String, Value> {
    task.written["buffers"].as_object().expect("buffers by name")
}

/// One kernel's device: its variables, and the buffers of each size, stay from launch to launch.
pub(crate) struct Device<'a> {
    task: &'a Task,
    entry: Entry<'a>,
    memory: Memory,
    loaded: LoadedModule,
    places: BTreeMap<(String, String), u64>,
}

impl<'a> Device<'a> {
    pub(crate) fn new(task: &'a Task, entry: Entry<'a>) -> Self {
        let mut memory = Memory::new(1 << 28);
        let loaded = memory.load(&entry.module).expect("its variables are small");
        Self { task, entry, memory, loaded, places: BTreeMap::new() }
    }

    pub(crate) fn run(&mut self, size: Size<'_>, inputs: &Buffers) -> Result<Left, LaunchError> {
        let guard: Vec<u8> = (0..GUARD_BYTES).map(|at| (at * 7 + 3) as u8).collect();
        for (name, buffer) in buffers_of(self.task) {
            let bytes = Kind::of(&buffer["dtype"]).encoded(&inputs[name]);
            let whole = [&guard[..], &bytes[..], &guard[..]].concat();
            let memory = &mut self.memory;
            let place = self.places.entry((size.0.to_string(), name.clone()));
            let place = *place
                .or_insert_with(|| memory.alloc(whole.len() as u64).expect("small buffers fit"));
            memory.write(place, &whole).expect("it was allocated");
        }
        let arguments = self.task.written["arguments"].as_array().expect("a list");
        let asked = GridLaunch {
            grid: size.three(&self.entry.launch["grid"]),
            block: size.three(&self.entry.launch["block"]),
            dynamic_shared_bytes: 0,
            args: arguments.iter().map(|name| self.argument(size, name)).collect(),
        };
        let mut budget = StepBudget { steps: STEPS_MAX };
        let name = self.entry.name.as_str().expect("an entry's name");
        let stats = launch(&self.loaded, name, &asked, &mut self.memory, &mut budget)?;
        let mut left = Left { buffers: Buffers::new(), steps: stats.steps, overrun: false };
        for (name, buffer) in buffers_of(self.task) {
            let kind = Kind::of(&buffer["dtype"]);
            let bytes = (inputs[name].len() * kind.bytes()) as u64;
            let read = |at, bytes| self.memory.read(at, bytes).expect("it was allocated");
            let address = self.address(size, name).expect("it was given a place");
            left.overrun |= read(address - GUARD_BYTES, GUARD_BYTES) != guard;
            left.overrun |= read(address + bytes, GUARD_BYTES) != guard;
            left.buffers.insert(name.clone(), kind.decoded(read(address, bytes)));
        }
        Ok(left)
    }

    fn address(&self, size: Size<'_>, name: &str) -> Option<u64> {
        let place = self.places.get(&(size.0.to_string(), name.to_owned()))?;
        Some(place + GUARD_BYTES)
    }

    fn argument(&self, size: Size<'_>, name: &Value) -> LaunchArg {
        let name = name.as_str().expect("an argument's name");
        if let Some(address) = self.address(size, name) {
            return address.into();
        }
        match self.task.written["scalars"][name].as_str() {
            Some("i32") => i32::try_from(size.of(name)).expect("a small number").into(),
            Some("fp32") => (size.0[name].as_f64().expect("a number") as f32).into(),
            other => panic!("no task has had a scalar of {other:?} until now"),
        }
    }
}
