//! Looks at what this machine gives to programs, for `assay doctor`.

use std::path::Path;

use assay_exec::support::Support;
use serde::Serialize;

use crate::programs;

/// The document that is printed.
#[derive(Serialize)]
struct Report {
    engine: String,
    exec: Boxes,
    toolchains: Vec<Toolchain>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Boxes {
    Ok(Support),
    Refused(String),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Toolchain {
    Found { id: String, version: String },
    Missing { id: String, missing: String },
}

/// Prints one line of JSON. That no box can be had is a result, not a failure.
pub(crate) fn run(options: &programs::Options, cache: Option<&Path>) -> anyhow::Result<()> {
    let temporary = tempfile::tempdir()?;
    let (mut exec, _objects) = options.exec(cache.unwrap_or(temporary.path()))?;
    let report = exec.report();
    let toolchain = |(id, found)| match found {
        Ok(version) => Toolchain::Found { id, version },
        Err(missing) => Toolchain::Missing { id, missing },
    };
    let report = Report {
        engine: assay_sandbox::engine_id(),
        exec: match report.support {
            Ok(support) => Boxes::Ok(support),
            Err(reason) => Boxes::Refused(reason),
        },
        toolchains: report.toolchains.into_iter().map(toolchain).collect(),
    };
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}
