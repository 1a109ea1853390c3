//! The worker program and its own checks: sandbox, toolchains, CUDA and GPUs.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use serde::Deserialize;
use tokio::process::Command;

use super::super::workers::WorkerOptions;
use super::Finding;

/// The worker tries a sandbox and asks every toolchain for its version.
const TIMEOUT: Duration = Duration::from_secs(120);
const WORKER: &str = "worker";
const SANDBOX: &str = "sandbox";
const TOOLCHAINS: &str = "toolchains";
const CUDA: &str = "CUDA compiler";
const GPU: &str = "GPU";

/// The output of `assay-worker doctor`.
#[derive(Debug, Deserialize)]
struct Report {
    engine: String,
    exec: Sandbox,
    toolchains: Vec<Toolchain>,
    cuda: Result<Cuda, String>,
    /// The GPU, or why it cannot be used; absent if the device is `none`.
    gpu: Option<Result<Gpu, String>>,
}

#[derive(Debug, Deserialize)]
struct Cuda {
    version: String,
    front_ends: Vec<String>,
    arch: String,
}

#[derive(Debug, Deserialize)]
struct Gpu {
    name: String,
    arch: String,
    simulated: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sandbox {
    Ok(Support),
    Refused(String),
}

#[derive(Debug, Deserialize)]
struct Support {
    cgroups: String,
    /// The version of the interface; 0 if the kernel has none.
    landlock: u32,
    /// The parts that are missing with the operator's consent, and the reasons.
    missing: Vec<(String, String)>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Toolchain {
    Found { id: String, version: String },
    Missing { id: String, missing: String },
}

pub(super) async fn look(options: &WorkerOptions, data: &Path) -> Vec<Finding> {
    match ask(options, data).await {
        Ok(report) => findings(report),
        Err(error) => vec![Finding::fail(WORKER, format!("{error:#}"))],
    }
}

async fn ask(options: &WorkerOptions, data: &Path) -> anyhow::Result<Report> {
    let program = options.program()?;
    let gpu = options.gpu.settle(&program, data).await?.gpu;
    let shown = program.display();
    let run = Command::new(&program)
        .arg("doctor")
        .args(options.programs(gpu)?.arguments())
        // As workers are started.
        .env_clear()
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(TIMEOUT, run)
        .await
        .with_context(|| format!("`{shown} doctor` did not end in time"))?
        .with_context(|| format!("cannot run {shown}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors.lines().last().unwrap_or_default();
    anyhow::ensure!(output.status.success(), "{shown} doctor: {}: {last}", output.status);
    serde_json::from_slice(&output.stdout).with_context(|| {
        format!("{shown} has another version than this program: build both from the same sources")
    })
}

fn findings(report: Report) -> Vec<Finding> {
    let mut findings = vec![Finding::ok(WORKER, format!("engine {}", report.engine))];
    let boxed = matches!(report.exec, Sandbox::Ok(_));
    findings.push(sandbox(report.exec));
    // Without a sandbox no compiler can be asked.
    if boxed {
        findings.push(toolchains(report.toolchains));
    }
    findings.push(cuda(report.cuda));
    findings.push(gpu(report.gpu));
    findings
}

fn cuda(found: Result<Cuda, String>) -> Finding {
    match found {
        Ok(Cuda { version, front_ends, arch }) => {
            Finding::ok(CUDA, format!("version {version} ({}), for {arch}", front_ends.join(", ")))
        }
        Err(why) => Finding::warn(CUDA, why).advise(
            "plugins that compile no CUDA work; for the others run `assay gpu install-toolchain`",
        ),
    }
}

fn gpu(found: Option<Result<Gpu, String>>) -> Finding {
    match found {
        None => Finding::warn(GPU, "none: kernels cannot run").advise(
            "plugins that run no kernels work; --gpu simulated runs kernels in an interpreter",
        ),
        Some(Ok(Gpu { name, arch, simulated: false })) => {
            Finding::ok(GPU, format!("{name}, {arch}"))
        }
        Some(Ok(Gpu { arch, .. })) => Finding::warn(GPU, format!("simulated, {arch}")).advise(
            "rewards are labelled and contain no timing; timing needs a machine with a GPU",
        ),
        Some(Err(why)) => Finding::fail(GPU, why),
    }
}

fn sandbox(exec: Sandbox) -> Finding {
    let support = match exec {
        Sandbox::Ok(support) => support,
        Sandbox::Refused(reason) => {
            return Finding::warn(
                SANDBOX,
                format!("programs cannot run on this machine: {reason}"),
            )
            .advise(
                "plugins that run no programs work; for the others correct this, or see \
                 --weaker-sandbox in `assay serve --help`",
            );
        }
    };
    let Support { cgroups, landlock, missing } = support;
    let found = format!("programs run in boxes: cgroups {cgroups}, Landlock {landlock}");
    if missing.is_empty() {
        return Finding::ok(SANDBOX, found);
    }
    let missing: Vec<_> = missing.iter().map(|(part, why)| format!("{part} ({why})")).collect();
    Finding::warn(SANDBOX, format!("{found}; without {}", missing.join(", ")))
        .advise("every outcome is labelled; do not run untrusted programs here")
}

fn toolchains(toolchains: Vec<Toolchain>) -> Finding {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for toolchain in toolchains {
        match toolchain {
            Toolchain::Found { id, version } => found.push(format!("{id} ({version})")),
            Toolchain::Missing { id, missing: why } => missing.push(format!("{id} ({why})")),
        }
    }
    let mut text = if found.is_empty() { "none found".to_owned() } else { found.join(", ") };
    if !missing.is_empty() {
        text = format!("{text}; missing: {}", missing.join(", "));
    }
    if found.is_empty() {
        return Finding::warn(TOOLCHAINS, text).advise("install compilers, or give --toolchains");
    }
    Finding::ok(TOOLCHAINS, text)
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    fn check(report: &str, expected: &[(&str, State, &str)]) {
        let found = findings(serde_json::from_str(report).expect("a report"));
        let seen: Vec<_> =
            found.iter().map(|it| (it.check.as_str(), it.state, it.found.as_str())).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_report_becomes_findings() {
        check(
            r#"{"engine":"e1","exec":{"ok":{"cgroups":"hybrid","landlock":6,"missing":[]}},
               "toolchains":[{"id":"cpp","version":"12.2"},{"id":"rust","missing":"no rustc"}],
               "cuda":{"Ok":{"version":"13.0","front_ends":["nvrtc"],"arch":"sm_90"}},
               "gpu":{"Ok":{"name":"H200","arch":"sm_90","simulated":false}}}"#,
            &[
                ("worker", State::Ok, "engine e1"),
                ("sandbox", State::Ok, "programs run in boxes: cgroups hybrid, Landlock 6"),
                ("toolchains", State::Ok, "cpp (12.2); missing: rust (no rustc)"),
                ("CUDA compiler", State::Ok, "version 13.0 (nvrtc), for sm_90"),
                ("GPU", State::Ok, "H200, sm_90"),
            ],
        );
    }

    #[test]
    fn what_is_missing_is_a_warning() {
        check(
            r#"{"engine":"e1","exec":{"refused":"no user namespaces"},"toolchains":[],
               "cuda":{"Err":"there is none"},"gpu":null}"#,
            &[
                ("worker", State::Ok, "engine e1"),
                ("sandbox", State::Warn, "programs cannot run on this machine: no user namespaces"),
                ("CUDA compiler", State::Warn, "there is none"),
                ("GPU", State::Warn, "none: kernels cannot run"),
            ],
        );
        check(
            r#"{"engine":"e1","exec":{"ok":{"cgroups":"none","landlock":0,
               "missing":[["cgroups","read-only"],["landlock","an old kernel"]]}},"toolchains":[],
               "cuda":{"Err":"there is none"},"gpu":{"Err":"all are taken"}}"#,
            &[
                ("worker", State::Ok, "engine e1"),
                (
                    "sandbox",
                    State::Warn,
                    "programs run in boxes: cgroups none, Landlock 0; \
                     without cgroups (read-only), landlock (an old kernel)",
                ),
                ("toolchains", State::Warn, "none found"),
                ("CUDA compiler", State::Warn, "there is none"),
                ("GPU", State::Fail, "all are taken"),
            ],
        );
    }
}
