//! The plugin: stages `compile` and `execute`.

use assay_plugin::{Artifact, Description, Error, Outcome, Plugin, Request, Stage};

use crate::compile::{Prepared, compile};
use crate::execute::execute;
use crate::extract::extract;
use crate::label::{self, Task};
use crate::limits::{COMPILE_TIMEOUT_MS, EXECUTE_TIMEOUT_MS};
use crate::machine::Machine;
use crate::report::Report;
use crate::settings::{self, Settings};
use crate::verdict::Stop;

pub struct Cuda;

impl Plugin for Cuda {
    fn describe() -> Description {
        Description::new("cuda", env!("CARGO_PKG_VERSION"))
            .summary("Compiles the CUDA of a response, checks it against a reference on a device, times it")
            .stage(
                Stage::cpu("compile")
                    .timeout_ms(COMPILE_TIMEOUT_MS)
                    .memory_mib_max(512)
                    .retries_max(2),
            )
            .stage(
                Stage::gpu("execute")
                    .timeout_ms(EXECUTE_TIMEOUT_MS)
                    .memory_mib_max(256)
                    .retries_max(2),
            )
            .settings_schema(settings::SCHEMA)
            .label_schema(label::SCHEMA)
            .timeout_reward(-1.0)
            // Times differ, and so do the seeds of two equal requests.
            .nondeterministic()
    }

    #[cfg(target_arch = "wasm32")]
    fn run_stage(
        stage: &str,
        settings: &str,
        request: &Request,
        input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        run_stage(&crate::host::Host, stage, settings, request, input)
    }

    /// Natively there is no host; the tests bring a world of their own to [`run_stage`].
    #[cfg(not(target_arch = "wasm32"))]
    fn run_stage(
        _stage: &str,
        _settings: &str,
        _request: &Request,
        _input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        Err(Error::unavailable("this plugin runs in a host only"))
    }
}

/// One stage in a given world.
pub fn run_stage<M: Machine>(
    machine: &M,
    stage: &str,
    settings: &str,
    request: &Request,
    input: Option<Artifact>,
) -> Result<Outcome, Error> {
    let settings = Settings::read(settings)?;
    let task = Task::read(request)?;
    match (stage, input) {
        ("compile", None) => {
            let mut report = Report::default();
            let prepared =
                extract(&task, &request.response).map_err(Stop::from).and_then(|program| {
                    report.origin = program.origin.clone();
                    compile(machine, &settings, &task, program)
                });
            match prepared {
                Ok(prepared) => Ok(prepared.to_artifact()?.into()),
                Err(Stop::Failed(failure)) => Ok(report.failed(&settings, &failure).into()),
                Err(Stop::Error(error)) => Err(error),
            }
        }
        ("execute", Some(artifact)) => {
            let prepared = Prepared::of_artifact(&artifact)?;
            let mut report = Report { origin: prepared.origin.clone(), ..Report::default() };
            match execute(machine, &settings, &task, &prepared, request.seed, &mut report) {
                Ok(()) => Ok(report.succeeded(&settings).into()),
                Err(Stop::Failed(failure)) => Ok(report.failed(&settings, &failure).into()),
                Err(Stop::Error(error)) => Err(error),
            }
        }
        _ => Err(Error::unknown_stage(stage)),
    }
}
