//! Compiles and runs the response as its label says, and tells what came of it: what the attacks on
//! the sandbox for programs are run with. It also reads storage.

use std::collections::BTreeMap;

use assay_plugin::exec::{
    Batch, Blob, CaseResult, Compiled, Ending, File, LimitKind, Limits, Source, StopAt, TestCase,
    Toolchain, compile, run, toolchains,
};
use assay_plugin::{
    Artifact, Description, Error, Outcome, Plugin, Request, Scored, Stage, exec, storage,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// An explanation has a limit, and every byte may need six as JSON.
const EXPLANATION_BYTES_MAX: usize = 4_096;
const SHOWN_BYTES_MAX: usize = 1_024;

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Label {
    toolchain: String,
    options: Vec<String>,
    stdin: String,
    /// An object that is the standard input instead.
    storage: Option<String>,
    args: Vec<String>,
    /// Placed beside the program.
    files: BTreeMap<String, String>,
    limits: PartialLimits,
    compile_limits: Option<PartialLimits>,
    collect: Vec<String>,
    /// The program is run so often; what is told is how the last run went.
    cases: u32,
    /// The number of additional handles to the program that are held while it runs.
    handles: u32,
    /// The size of a file that is compiled along.
    pad_bytes: usize,
    /// An object, or a folder's names, to be told; nothing is run.
    storage_get: Option<String>,
    storage_names: Option<String>,
}

impl Default for Label {
    fn default() -> Self {
        Self {
            toolchain: String::new(),
            options: Vec::new(),
            stdin: String::new(),
            storage: None,
            args: Vec::new(),
            files: BTreeMap::new(),
            limits: PartialLimits::default(),
            compile_limits: None,
            collect: Vec::new(),
            cases: 1,
            handles: 0,
            pad_bytes: 0,
            storage_get: None,
            storage_names: None,
        }
    }
}

/// Limits in place of the toolchain's own.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PartialLimits {
    cpu_ms: Option<u32>,
    wall_ms: Option<u32>,
    memory_bytes: Option<u64>,
    stdout_bytes: Option<u64>,
    stderr_bytes: Option<u64>,
    disk_bytes: Option<u64>,
    processes: Option<u32>,
    open_files: Option<u32>,
}

impl PartialLimits {
    fn over(&self, base: &Limits) -> Limits {
        Limits {
            cpu_ms: self.cpu_ms.unwrap_or(base.cpu_ms),
            wall_ms: self.wall_ms.unwrap_or(base.wall_ms),
            memory_bytes: self.memory_bytes.unwrap_or(base.memory_bytes),
            stdout_bytes: self.stdout_bytes.unwrap_or(base.stdout_bytes),
            stderr_bytes: self.stderr_bytes.unwrap_or(base.stderr_bytes),
            disk_bytes: self.disk_bytes.unwrap_or(base.disk_bytes),
            processes: self.processes.unwrap_or(base.processes),
            open_files: self.open_files.unwrap_or(base.open_files),
        }
    }
}

struct Execute;

impl Plugin for Execute {
    fn describe() -> Description {
        let stage = Stage::cpu("run").timeout_ms(120_000).memory_mib_max(256).retries_max(1);
        Description::new("execute", "1.0.0")
            .summary("Runs the response as a program.")
            .stage(stage)
            .timeout_reward(-1.0)
            .nondeterministic()
    }

    fn run_stage(
        _stage: &str,
        _settings: &str,
        request: &Request,
        _input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        let label: Label = request.label_as()?;
        if let Some(name) = &label.storage_get {
            let text = String::from_utf8_lossy(&storage::get(name)?).into_owned();
            return Ok(told("got", cut(&text, EXPLANATION_BYTES_MAX).into()));
        }
        if let Some(folder) = &label.storage_names {
            let names = storage::names(folder)?;
            return Ok(told(
                "listed",
                cut(&json!(names).to_string(), EXPLANATION_BYTES_MAX).into(),
            ));
        }
        execute(&request.response, &label)
    }
}

fn told(verdict: &str, explanation: String) -> Outcome {
    Scored::new(1.0, verdict).explain(explanation).into()
}

fn execute(source: &str, label: &Label) -> Result<Outcome, Error> {
    let known = toolchains();
    let toolchain = known.iter().find(|toolchain| toolchain.id == label.toolchain);
    // One that is not there is the host's to refuse.
    let main = toolchain.map_or_else(|| "main".to_owned(), |toolchain| toolchain.main.clone());
    let mut files = vec![File::text(&main, source)];
    if label.pad_bytes > 0 {
        let content = Blob::Inline(vec![b' '; label.pad_bytes]);
        files.push(File { path: "pad".into(), content });
    }
    let options = label.options.clone();
    let source = Source { toolchain: label.toolchain.clone(), files, main, options };
    let limits = toolchain.zip(label.compile_limits.as_ref());
    let limits = limits.map(|(tool, limits)| limits.over(&tool.compile_defaults));
    let done = compile(&source, limits)?;
    let log = done.log.data;
    let program = match done.compiled {
        Compiled::Ok(program) => program,
        Compiled::Rejected(outcome) => return Ok(told_of(0.0, "rejected", &outcome, &log)),
    };
    let key = program.key();
    let _held =
        (0..label.handles).map(|_| exec::Artifact::open(&key)).collect::<Result<Vec<_>, _>>()?;
    let results = run(&program, &batch(label, toolchain)?)?;
    let Some(CaseResult { outcome, .. }) = results.last() else {
        return Err(Error::bad_request("label: no case is run"));
    };
    let (reward, verdict) = match outcome.ended {
        Ending::Exited(0) => (1.0, "exited_0".to_owned()),
        Ending::Exited(status) => (0.0, format!("exited_{status}")),
        Ending::Signaled(signal) => (0.0, format!("signaled_{signal}")),
        Ending::Limited(kind) => (0.0, format!("limited_{}", limit(kind))),
    };
    Ok(told_of(reward, &verdict, outcome, &log))
}

fn batch(label: &Label, toolchain: Option<&Toolchain>) -> Result<Batch, Error> {
    let stdin = match &label.storage {
        Some(name) => Blob::Stored(storage::locate(name)?),
        None => Blob::text(&label.stdin),
    };
    let case = TestCase {
        stdin,
        args: label.args.clone(),
        env: Vec::new(),
        files: label.files.iter().map(|(path, text)| File::text(path, text)).collect(),
        collect: label.collect.clone(),
        limits: None,
        expect: None,
    };
    Ok(Batch {
        cases: (0..label.cases).map(|_| case.clone()).collect(),
        limits: toolchain.map(|toolchain| label.limits.over(&toolchain.run_defaults)),
        stop: StopAt::Never,
        return_stdout: true,
        rerun_near_limit: false,
    })
}

fn limit(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::Cpu => "cpu",
        LimitKind::Wall => "wall",
        LimitKind::Memory => "memory",
        LimitKind::Output => "output",
        LimitKind::Processes => "processes",
    }
}

fn told_of(reward: f64, verdict: &str, outcome: &exec::Outcome, log: &[u8]) -> Outcome {
    let mut shown = SHOWN_BYTES_MAX;
    loop {
        let text =
            |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(shown)]).into_owned();
        let file = |(name, content): &(String, exec::Captured)| {
            (name.clone(), Value::from(text(&content.data)))
        };
        let explanation = json!({
            "stdout": text(&outcome.stdout.data),
            "stderr": text(&outcome.stderr.data),
            "compile_log": text(log),
            "cpu_us": outcome.usage.cpu_us,
            "wall_us": outcome.usage.wall_us,
            "memory_peak_bytes": outcome.usage.memory_peak_bytes,
            "weakened": outcome.weakened,
            "files": outcome.files.iter().map(file).collect::<serde_json::Map<_, _>>(),
        });
        let explanation = explanation.to_string();
        if explanation.len() <= EXPLANATION_BYTES_MAX || shown == 0 {
            return Scored::new(reward, verdict).explain(explanation).into();
        }
        shown /= 2;
    }
}

/// The beginning of a text, cut between characters.
fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

assay_plugin::export!(Execute);
