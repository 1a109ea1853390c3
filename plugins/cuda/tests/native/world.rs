//! A world in which everything goes well, unless a test says where it does not.

use std::cell::{Cell, RefCell};

use assay_plugin::gpu::compiler::{self, Artifact, FrontEnd, Recording, Toolkit, Trace};
use assay_plugin::gpu::device::{
    self, BufferSpec, CheckReport, Comparison, Limits, MeasureOptions, Measurement, Origin, Pair,
    Properties, Timing,
};
use assay_plugin::gpu::{Address, Arg, Dim3, KernelInfo, Launch, Param, Step};
use assay_plugin::{Error, Outcome, Request, Scored};
use assay_plugin_cuda::machine::{Machine, Plans};
use assay_plugin_cuda::run_stage;
use serde_json::{Value, json};

/// Where something goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Toolkit,
    CompileSolution,
    CompileReference,
    Record,
    Describe,
    Open,
    LoadSolution,
    LoadReference,
    AllocTask,
    AllocScratch,
    Check,
    Measure,
}

pub struct World {
    pub compiler: Option<(Place, compiler::Error)>,
    pub device: Option<(Place, device::Error)>,
    /// The calls at the place that go well before it goes wrong.
    pub calls_before: Cell<usize>,
    pub simulated: bool,
    pub front_ends: Vec<FrontEnd>,
    /// The run-time compiler alone says no, with this log.
    pub nvrtc_log: Option<String>,
    pub kernels: Vec<KernelInfo>,
    pub trace: Trace,
    /// The findings of a check at one of its seeds; both are numbered from 0.
    pub found: Box<FakeCheck>,
    pub candidate_ns: u64,
    pub reference_ns: u64,
    pub suspicious: Vec<String>,
    pub spot: Vec<CheckReport>,
    /// What the kernels print.
    pub printed: String,
    pub seen: RefCell<Seen>,
}

type FakeCheck = dyn Fn(usize, usize, &mut CheckReport);

/// The plugin's calls, as this world received them.
#[derive(Default)]
pub struct Seen {
    pub compiled: Vec<compiler::Request>,
    pub recorded: Vec<Recording>,
    /// The paths of the sources of loaded images, of the session that was opened last.
    pub loaded: Vec<String>,
    pub limits: Vec<Limits>,
    pub specs: Vec<BufferSpec>,
    pub allocations: usize,
    pub plans: Vec<(Vec<Step>, Vec<Step>)>,
    pub pairs: Vec<Vec<Pair>>,
    pub seeds: Vec<Vec<u64>>,
    pub logged: Vec<String>,
}

pub fn kernel(name: &str, bytes: &[u32]) -> KernelInfo {
    let params = bytes.iter().map(|bytes| Param { offset: 0, bytes: *bytes }).collect();
    KernelInfo {
        name: name.into(),
        params,
        registers: 0,
        static_shared_bytes: 0,
        local_bytes: 0,
        threads_max: 1_024,
    }
}

pub fn launch(args: Vec<Arg>) -> Step {
    let one = Dim3 { x: 1, y: 1, z: 1 };
    Step::Launch(Launch {
        module: 0,
        kernel: "inner".into(),
        grid: one,
        block: one,
        cooperative: false,
        dynamic_shared_bytes: 0,
        args,
    })
}

pub fn address(buffer: u32) -> Arg {
    Arg::Address(Address { buffer, offset: 0 })
}

impl Default for World {
    fn default() -> Self {
        let steps = vec![launch(vec![address(0), address(1)])];
        Self {
            compiler: None,
            device: None,
            calls_before: Cell::new(0),
            simulated: false,
            front_ends: vec![FrontEnd::Nvrtc, FrontEnd::NvccDevice, FrontEnd::NvccHost],
            nvrtc_log: None,
            kernels: vec![
                kernel("_Z7softmaxPKfPfii", &[8, 8, 4, 4]),
                kernel("softmax_reference", &[8, 8, 4, 4]),
            ],
            trace: Trace {
                steps,
                scratch_bytes: Vec::new(),
                returned: Vec::new(),
                unsupported: Vec::new(),
            },
            found: Box::new(|_, _, _| {}),
            candidate_ns: 500,
            reference_ns: 1_000,
            suspicious: Vec::new(),
            spot: Vec::new(),
            printed: String::new(),
            seen: RefCell::default(),
        }
    }
}

pub fn right() -> Comparison {
    Comparison {
        ok: true,
        mismatched: 0,
        absolute_max: 0.0,
        relative_max: 0.0,
        got_nonfinite: 0,
        never_written: 0,
        first_wrong: None,
        got_there: 0.0,
        want_there: 0.0,
    }
}

pub fn wrong() -> Comparison {
    Comparison {
        ok: false,
        mismatched: 12,
        absolute_max: 0.5,
        first_wrong: Some(34),
        got_there: 0.25,
        want_there: 0.75,
        ..right()
    }
}

pub fn report(seed: u64, outputs: Vec<Comparison>) -> CheckReport {
    CheckReport { seed, outputs, inputs_changed: Vec::new(), overrun: Vec::new(), elapsed_ns: 1 }
}

fn timing(median_ns: u64) -> Timing {
    Timing {
        samples_ns: vec![median_ns],
        median_ns,
        overhead_ns: 1,
        wall_median_ns: median_ns,
        clock_khz: 1,
    }
}

impl World {
    fn compiler_at(&self, place: Place) -> Result<(), compiler::Error> {
        match &self.compiler {
            Some((at, error)) if *at == place && self.is_due() => Err(error.clone()),
            _ => Ok(()),
        }
    }

    fn is_due(&self) -> bool {
        let left = self.calls_before.get();
        self.calls_before.set(left.saturating_sub(1));
        left == 0
    }

    fn device_at(&self, place: Place) -> Result<(), device::Error> {
        match &self.device {
            Some((at, error)) if *at == place && self.is_due() => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// Both stages of one request.
    pub fn judge(&self, response: &str, label: &Value, settings: &str) -> Result<Scored, Error> {
        let request = Request::new("", response, &label.to_string());
        let mut artifact = None;
        for stage in ["compile", "execute"] {
            match run_stage(self, stage, settings, &request, artifact)? {
                Outcome::Scored(scored) => return Ok(scored),
                Outcome::Next(next) => artifact = Some(next),
            }
        }
        unreachable!("the last stage ends in a reward")
    }
}

impl Machine for World {
    type Session = ();

    fn toolkit(&self) -> Result<Toolkit, compiler::Error> {
        self.compiler_at(Place::Toolkit)?;
        let (version, arch) = ("13.0".into(), "compute_90".into());
        Ok(Toolkit { version, front_ends: self.front_ends.clone(), arch })
    }

    fn compile(&self, request: &compiler::Request) -> Result<Artifact, compiler::Error> {
        self.seen.borrow_mut().compiled.push(request.clone());
        self.compiler_at(match request.main.path.as_str() {
            "solution.cu" | "copy.cu" => Place::CompileSolution,
            _ => Place::CompileReference,
        })?;
        if let (FrontEnd::Nvrtc, Some(log)) = (request.front_end, &self.nvrtc_log) {
            return Err(compiler::Error::Rejected(log.clone()));
        }
        let is_host = request.front_end == FrontEnd::NvccHost;
        Ok(Artifact {
            image: request.main.path.clone().into_bytes(),
            ptx: String::new(),
            host_object: is_host.then(|| request.main.text.clone().into_bytes()),
            kernels: self.kernels.clone(),
            lowered_names: Vec::new(),
            log: String::new(),
            toolchain: String::new(),
            arch: request.arch.clone(),
            cached: false,
        })
    }

    fn printed(&self, (): &()) -> Result<String, device::Error> {
        Ok(self.printed.clone())
    }

    fn log(&self, message: &str) {
        self.seen.borrow_mut().logged.push(message.to_owned());
    }

    fn record(&self, recording: &Recording) -> Result<Trace, compiler::Error> {
        self.seen.borrow_mut().recorded.push(recording.clone());
        self.compiler_at(Place::Record)?;
        Ok(self.trace.clone())
    }

    fn describe(&self) -> Result<Properties, device::Error> {
        self.device_at(Place::Describe)?;
        Ok(Properties {
            name: "made up".into(),
            arch: "compute_90".into(),
            driver: String::new(),
            multiprocessors: 1,
            clock_khz: 1,
            memory_bytes: 1 << 30,
            l2_bytes: 1,
            shared_bytes_max: 1,
            peak_bytes_per_s: 0,
            simulated: self.simulated,
        })
    }

    fn open(&self, limits: Limits) -> Result<(), device::Error> {
        let mut seen = self.seen.borrow_mut();
        seen.limits.push(limits);
        seen.allocations = 0;
        seen.loaded.clear();
        seen.specs.clear();
        self.device_at(Place::Open)
    }

    fn load(&self, (): &(), image: &[u8], origin: Origin) -> Result<u32, device::Error> {
        let path = String::from_utf8(image.to_vec()).expect("an image of this world");
        let (place, is_right) = match origin {
            Origin::Candidate => (Place::LoadSolution, path != "reference.cu"),
            Origin::Trusted => (Place::LoadReference, path == "reference.cu"),
        };
        assert!(is_right, "{path} is loaded for {origin:?}");
        self.device_at(place)?;
        let loaded = &mut self.seen.borrow_mut().loaded;
        loaded.push(path);
        Ok(u32::try_from(loaded.len() - 1).expect("few"))
    }

    fn alloc(&self, (): &(), specs: &[BufferSpec]) -> Result<Vec<u32>, device::Error> {
        let mut seen = self.seen.borrow_mut();
        seen.allocations += 1;
        let place = if seen.allocations == 1 { Place::AllocTask } else { Place::AllocScratch };
        self.device_at(place)?;
        let first = u32::try_from(seen.specs.len()).expect("few");
        seen.specs.extend(specs.iter().copied());
        let last = u32::try_from(seen.specs.len()).expect("few");
        Ok((first..last).collect())
    }

    fn check(
        &self,
        (): &(),
        plans: Plans<'_>,
        pairs: &[Pair],
        seeds: &[u64],
    ) -> Result<Vec<CheckReport>, device::Error> {
        self.device_at(Place::Check)?;
        let mut seen = self.seen.borrow_mut();
        let number = seen.plans.len();
        seen.plans.push((plans.candidate.to_vec(), plans.reference.to_vec()));
        seen.pairs.push(pairs.to_vec());
        seen.seeds.push(seeds.to_vec());
        let reports = seeds.iter().enumerate().map(|(at, seed)| {
            let mut report = report(*seed, pairs.iter().map(|_| right()).collect());
            (self.found)(number, at, &mut report);
            report
        });
        Ok(reports.collect())
    }

    fn measure(
        &self,
        (): &(),
        _plans: Plans<'_>,
        _pairs: &[Pair],
        _seed: u64,
        _options: MeasureOptions,
    ) -> Result<Measurement, device::Error> {
        self.device_at(Place::Measure)?;
        let time = |median_ns: u64| (median_ns > 0).then(|| timing(median_ns));
        Ok(Measurement {
            candidate: time(self.candidate_ns),
            reference: time(self.reference_ns),
            spot: self.spot.clone(),
            suspicious: self.suspicious.clone(),
        })
    }

    fn time(
        &self,
        (): &(),
        _plans: Plans<'_>,
        _pairs: &[Pair],
        _seed: u64,
        _options: MeasureOptions,
    ) -> Result<Measurement, device::Error> {
        self.device_at(Place::Measure)?;
        let time = |median_ns: u64| (median_ns > 0).then(|| timing(median_ns));
        Ok(Measurement {
            candidate: time(self.candidate_ns),
            reference: None,
            spot: self.spot.clone(),
            suspicious: self.suspicious.clone(),
        })
    }
}

pub const KERNEL: &str = "Here:\n```cuda\n__global__ void softmax(const float* x, float* y, int rows, int cols) {}\n```\n";
pub const HOST: &str = "```cuda\n__global__ void inner() {}\nextern \"C\" void softmax(const float* x, float* y, int rows, int cols) { inner<<<1, 1>>>(); }\n```\n";
pub const TORCH: &str = "```cpp\n#include <torch/extension.h>\ntorch::Tensor forward(torch::Tensor x) { return x; }\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"forward\", &forward, \"softmax\"); }\n```\n";

/// Softmax with two stated sizes and a secret one.
pub fn label() -> Value {
    json!({
        "task": "softmax",
        "buffers": {
            "x": {"dtype": "fp32", "shape": ["rows", "cols"], "role": "input", "init": {"normal": [0, 1]}},
            "y": {"dtype": "fp32", "shape": ["rows", "cols"], "role": "output"},
        },
        "scalars": {"rows": "i32", "cols": "i32"},
        "arguments": ["x", "y", "rows", "cols"],
        "tensors": {"arguments": ["x"], "returns": ["y"]},
        "sizes": [{"rows": 64, "cols": 128}, {"rows": 7, "cols": 1000}],
        "held_out": [{"rows": 33, "cols": 77}],
        "timed": {"rows": 4096, "cols": 4096},
        "entry": "softmax",
        "launch": {"grid": ["rows"], "block": [256], "shared_bytes": "4 * cols"},
        "reference": {"source": "__global__ ...", "entry": "softmax_reference",
                      "launch": {"grid": ["ceil_div(rows, 64)"], "block": [64]}},
        "tolerance": {"absolute": 1e-5, "relative": 1e-4, "matched_ratio": 1.0},
    })
}
