//! Runs leases one at a time, in order. Its only state is the services of the capabilities.

use std::sync::Arc;
use std::time::Duration;

use assay_core::id::Digest;
use assay_core::outcome::{ErrorCode, StageEnd, StageError};
use assay_core::time::Micros;
use assay_sandbox::capability::log::LogLine;
use assay_sandbox::{Input, LoadedPlugin, Request, Sandbox, StageCall, StageRun, WaitedCall};
use assay_wire::proto::{self, Body, Grant, Load};
use prost::Message as _;

use super::capabilities::CapabilityFactory;
use super::outbox::{Outbox, Progress};
use super::plugins::Plugins;
use super::prefetch_queue::PrefetchQueue;

/// Runs leases until the queue is empty and draining.
pub(crate) fn run(
    sandbox: &Sandbox,
    plugins: &Plugins,
    mut granted: CapabilityFactory,
    queue: &PrefetchQueue,
    outbox: &Outbox,
) {
    while let Some(grant) = queue.next() {
        let run = run_grant(sandbox, plugins, &mut granted, &grant, outbox);
        let logs = run.logs.into_iter().map(log_line).collect();
        let mut done = assay_wire::finished(grant.lease, run.ran.0, run.end, logs);
        if grant.traceparent.is_some() {
            done.calls = run.calls.into_iter().map(call).collect();
        }
        let is_last = queue.end();
        outbox.put(done, is_last);
    }
    outbox.close();
}

fn run_grant(
    sandbox: &Sandbox,
    plugins: &Plugins,
    granted: &mut CapabilityFactory,
    grant: &Grant,
    outbox: &Outbox,
) -> StageRun {
    let body = match Body::decode(grant.body.clone()) {
        Ok(body) => body,
        Err(problem) => {
            // This is neither the plugin's fault nor the trainer's.
            let message = format!("the stored request cannot be read: {problem}");
            return not_run(ErrorCode::WorkerLost, message);
        }
    };
    let loaded = Digest::try_from(&grant.compiled_digest[..])
        .map_err(|problem| problem.to_string())
        .and_then(|digest| match plugins.get(digest) {
            Some(plugin) => Ok(plugin),
            None => load(plugins, digest, grant.lease, outbox),
        });
    match loaded {
        Ok(plugin) => run_stage(sandbox, &plugin, granted, stage_call(grant, &body), grant),
        Err(message) => not_run(ErrorCode::PluginUnloadable, message),
    }
}

/// Loads the plugin of a lease and tells the host, so that the time for it does not count as the stage's.
fn load(
    plugins: &Plugins,
    digest: Digest,
    lease: u64,
    outbox: &Outbox,
) -> Result<Arc<LoadedPlugin>, String> {
    outbox.tell(Progress::Load(Load { lease, ended: false }));
    let loaded = plugins.load(digest);
    outbox.tell(Progress::Load(Load { lease, ended: true }));
    loaded
}

fn run_stage(
    sandbox: &Sandbox,
    plugin: &LoadedPlugin,
    granted: &mut CapabilityFactory,
    mut call: StageCall<'_>,
    grant: &Grant,
) -> StageRun {
    if plugin.asks() {
        match granted.to(grant) {
            Ok(capabilities) => call.capabilities = Some(capabilities),
            Err(message) => return not_run(ErrorCode::Unavailable, message),
        }
    }
    sandbox.run_stage(plugin, call)
}

fn stage_call<'a>(grant: &'a Grant, body: &'a Body) -> StageCall<'a> {
    StageCall {
        stage: &grant.stage,
        settings: or(&grant.settings, "{}"),
        request: Request {
            id: &grant.request_id,
            group: grant.group.as_deref(),
            prompt: &body.prompt,
            response: &body.response,
            label: or(&body.label, "null"),
            metadata: or(&body.metadata, "null"),
            attempt: grant.attempt,
            seed: grant.seed,
        },
        input: grant
            .input
            .as_ref()
            .map(|input| Input { content_type: &input.content_type, bytes: &input.bytes }),
        last: grant.last,
        timeout: Duration::from_micros(grant.timeout_us),
        memory_bytes_max: grant.memory_bytes_max,
        capabilities: None,
    }
}

/// The text, or `absent` if it is empty: absent texts travel as empty ones, but a plugin always gets JSON.
fn or<'a>(text: &'a str, absent: &'a str) -> &'a str {
    if text.is_empty() { absent } else { text }
}

fn not_run(code: ErrorCode, message: String) -> StageRun {
    let end = StageEnd::Failed(StageError { code, message });
    StageRun {
        end,
        ran: Micros::ZERO,
        used: Micros::ZERO,
        logs: Vec::new(),
        calls: Vec::new(),
        missing: Vec::new(),
    }
}

fn call(call: WaitedCall) -> proto::CapabilityCall {
    proto::CapabilityCall {
        name: call.name.into(),
        after_us: Micros::from(call.after).0,
        took_us: Micros::from(call.took).0,
    }
}

fn log_line(line: LogLine) -> proto::LogLine {
    proto::LogLine { level: line.level.as_str().into(), message: line.message }
}
