//! The plugin: stages `extract`, `compile` and `run`.

use std::collections::BTreeSet;

use assay_plugin::{Artifact, Description, Error, Outcome, Plugin, Request, Stage};

use crate::compile::compile;
use crate::extract::extract;
use crate::label::{self, Task};
use crate::limits::RUN_TIMEOUT_MS;
use crate::machine::{Machine, Objects};
use crate::package;
use crate::program::Program;
use crate::report::without_tests;
use crate::run::run;
use crate::settings::{self, Settings};
use crate::verdict::Verdict;

pub struct Code;

impl Plugin for Code {
    fn describe() -> Description {
        let stage = |name: &str| Stage::cpu(name).retries_max(2);
        Description::new("code", env!("CARGO_PKG_VERSION"))
            .summary("Compiles and runs the program of a response against tests, in boxes")
            .stage(stage("extract").timeout_ms(10_000).memory_mib_max(128))
            .stage(stage("compile").timeout_ms(180_000).memory_mib_max(128))
            .stage(stage("run").timeout_ms(RUN_TIMEOUT_MS).memory_mib_max(1_024))
            .settings_schema(settings::SCHEMA)
            .label_schema(label::SCHEMA)
    }

    #[cfg(target_arch = "wasm32")]
    fn run_stage(
        stage: &str,
        settings: &str,
        request: &Request,
        input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        use crate::boxes::Boxes;
        run_stage((&Boxes, &Boxes), stage, settings, request, input)
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
pub fn run_stage<M: Machine, O: Objects>(
    (machine, objects): (&M, &O),
    stage: &str,
    settings: &str,
    request: &Request,
    input: Option<Artifact>,
) -> Result<Outcome, Error> {
    let settings = Settings::read(settings)?;
    let task = Task::read(request)?;
    match (stage, input) {
        ("extract", None) => match extract(machine, &settings, &task, request)? {
            Ok(program) => Ok(Artifact::json(&program)?.into()),
            Err(reason) => {
                let verdict = Verdict::ExtractionFailed;
                Ok(without_tests(&settings, verdict, &reason, None, &BTreeSet::new()).into())
            }
        },
        ("compile", Some(artifact)) => {
            let program: Program = artifact.as_json()?;
            let origin = program.origin.clone();
            match compile(machine, program)? {
                Ok(program) => Ok(Artifact::json(&program)?.into()),
                Err(refused) => {
                    // The missing name may belong to a feature of packages that is not supported.
                    if let Task::Package(package) = &task {
                        package::read(objects, package)?;
                    }
                    let verdict = Verdict::CompileFailed;
                    let (reason, weakened) = (&refused.reason, &refused.weakened);
                    Ok(without_tests(&settings, verdict, reason, Some(&origin), weakened).into())
                }
            }
        }
        ("run", Some(artifact)) => {
            let program: Program = artifact.as_json()?;
            Ok(run(machine, objects, &settings, &task, &program)?.into())
        }
        _ => Err(Error::unknown_stage(stage)),
    }
}
