//! Guest programs for the sandbox's tests: one that behaves and several that lie.
//!
//! Most use the raw bindings, not the plugin SDK: a liar must be able to return what the SDK would
//! refuse. The programs are the examples; here is what those share. `execute` is an honest plugin that
//! runs hostile programs.

/// Generated code.
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../sdk/wit/reward",
        world: "reward-plugin",
        pub_export_macro: true,
        export_macro_name: "export",
        generate_all,
    });
}

pub use bindings::assay::reward::log;
pub use bindings::assay::reward::types::{
    Artifact, Component, Description, Error, Outcome, Request, Scored, Stage,
};
pub use bindings::exports::assay::reward::plugin::Guest;

/// A stage with limits that suit every honest guest here, also on a machine that stalls.
#[must_use]
pub fn stage(name: &str) -> Stage {
    Stage {
        name: name.into(),
        pool: "cpu".into(),
        timeout_ms: 30_000,
        memory_bytes_max: 64 << 20,
        retries_max: 0,
    }
}

/// A description that passes every check.
#[must_use]
pub fn description(name: &str, stages: Vec<Stage>) -> Description {
    Description {
        name: name.into(),
        version: "1.0.0".into(),
        summary: "A guest of the sandbox's tests.".into(),
        stages,
        settings_schema: String::new(),
        label_schema: String::new(),
        timeout_reward: -1.0,
        deterministic: true,
    }
}

/// A plugin with a stage on each of two pools.
#[must_use]
pub fn on_two_pools(name: &str, timeout_ms: u32) -> Description {
    let compile = Stage { timeout_ms, ..stage("compile") };
    let execute = Stage { pool: "gpu".into(), timeout_ms, ..stage("execute") };
    description(name, vec![compile, execute])
}

/// The end of one of its stages.
#[must_use]
pub fn end_on_two_pools(stage: &str) -> Outcome {
    match stage {
        "compile" => {
            Outcome::Next(Artifact { content_type: "text/plain".into(), bytes: Vec::new() })
        }
        _ => scored(1.0, String::new()),
    }
}

/// A plain end with this reward.
#[must_use]
pub fn scored(reward: f64, explanation: String) -> Outcome {
    Outcome::Scored(Scored {
        reward,
        verdict: "success".into(),
        components: Vec::new(),
        explanation,
    })
}

/// Spins for as many thousand rounds as the response says; the label is the reward.
pub fn spun(request: &Request) -> Result<Outcome, Error> {
    spin(request)?;
    Ok(scored(number(&request.label)?, String::new()))
}

/// Spins for as many thousand rounds as the response says.
pub fn spin(request: &Request) -> Result<(), Error> {
    let rounds: u64 = number(&request.response)?;
    for round in 0..rounds * 1_000 {
        std::hint::black_box(round);
    }
    Ok(())
}

/// The number that a field of the request is.
pub fn number<T: std::str::FromStr>(text: &str) -> Result<T, Error> {
    text.parse().map_err(|_| Error::BadRequest(format!("`{text}` is no number")))
}
