//! `assay plugin publish`: builds, tests and publishes.

use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use assay_api::plugin::{GoldenCase, Plugin, PromotePlugin};
use assay_client::{Client, Publication, Upload};
use assay_core::golden::CaseFile;
use assay_core::id::Digest;
use serde::Serialize;

use super::super::engine::{EngineOptions, LocalCaseOptions};
use super::super::progress::{mib, told_while};
use super::super::{Format, print_json};
use super::project::Source;
use super::test::test;

#[derive(clap::Args)]
pub(super) struct PluginPublishCommand {
    /// Folder of the project, or a component (.wasm)
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Channel to point to the version
    #[arg(long, value_parser = super::channel)]
    channel: Option<String>,
    /// Do not run the golden cases on this machine; the server runs them in any case
    #[arg(long)]
    no_test: bool,
    /// Run the golden cases neither here nor on the server, which marks them as skipped; needs the
    /// scope admin:*
    #[arg(long)]
    skip_cases: bool,
    #[command(flatten)]
    engine: EngineOptions,
}

#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    plugin: Plugin,
    /// Whether the call published a version or moved the channel.
    changed: bool,
    /// Whether the version has these golden cases; a version keeps the cases of its first upload. Absent if
    /// the key may not read them.
    #[serde(skip_serializing_if = "Option::is_none")]
    cases_kept: Option<bool>,
}

pub(super) async fn run(
    options: PluginPublishCommand,
    format: Format,
    client: Client,
) -> anyhow::Result<()> {
    let source = Source::at(&options.path)?;
    let component = match (&source, options.no_test || options.skip_cases) {
        (Source::Project(_), false) => {
            let runs = LocalCaseOptions { update: false, repeat: 1 };
            // As JSON only the published version is printed.
            let (plugin, tested) = test(&source, &options.engine, runs, format).await?;
            ensure!(
                tested.failed == 0,
                "{} golden cases of {} failed, so nothing was published; correct the plugin or the \
                 cases",
                tested.failed,
                tested.plugin
            );
            plugin.component
        }
        _ => source.component(&options.engine).await?,
    };
    let bytes = tokio::fs::read(&component).await;
    let bytes = bytes.with_context(|| format!("reading {}", component.display()))?;
    let cases = source.project().map_or_else(|| Ok(Vec::new()), |project| project.case_files())?;
    let upload =
        Upload { component: bytes.into(), cases: cases.clone(), skip_cases: options.skip_cases };
    let what = format!("the server compiles and checks {}", mib(upload.component.len() as u64));
    let (mut plugin, publication) = told_while(&what, client.publish_noting(upload)).await?;
    let mut changed = publication == Publication::New;
    let cases_kept = if changed || cases.is_empty() {
        Some(true)
    } else {
        let before = client.golden_cases(&plugin.name, &plugin.version).await;
        before.ok().map(|before| is_same(&cases, &before.items))
    };
    let pointed = |plugin: &Plugin, channel: &String| plugin.channels.contains(channel);
    if let Some(channel) = options.channel.filter(|channel| !pointed(&plugin, channel)) {
        let version = PromotePlugin { version: plugin.version };
        plugin = client.promote(&plugin.name, &channel, &version).await?;
        changed = true;
    }
    match format {
        Format::Json => print_json(&[Outcome { plugin, changed, cases_kept }])?,
        Format::Text => {
            print!("{}", super::versions::text(&plugin));
            if !changed {
                println!("nothing changed: the same component was published before");
            }
            if cases_kept == Some(false) {
                println!(
                    "the golden cases are others than those of that upload, and were not kept: \
                     publish a new version, which keeps its own"
                );
            }
        }
    }
    Ok(())
}

/// Whether a version has just these golden cases.
fn is_same(cases: &[CaseFile], kept: &[GoldenCase]) -> bool {
    cases.len() == kept.len()
        && cases.iter().all(|case| {
            let digest = Digest::of(case.text.as_bytes());
            kept.iter().any(|before| before.file == case.file && before.digest == digest)
        })
}

#[cfg(test)]
mod tests {
    use assay_api::plugin::GoldenCaseState;

    use super::*;

    #[test]
    fn other_cases_than_the_kept_ones_are_seen() {
        let file = |text: &str| CaseFile { file: "a.yaml".into(), text: text.into() };
        let kept = [GoldenCase {
            file: "a.yaml".into(),
            digest: Digest::of(b"one"),
            state: GoldenCaseState::Passed,
            name: "a".into(),
            expected: String::new(),
            actual: String::new(),
            reason: String::new(),
            ran_ms: 1.0,
        }];
        assert!(is_same(&[file("one")], &kept));
        assert!(!is_same(&[file("two")], &kept));
        assert!(!is_same(&[file("one")], &[]));
    }
}
