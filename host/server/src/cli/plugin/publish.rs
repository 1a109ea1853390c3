//! `assay plugin publish`: builds, tests and publishes.

use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use assay_client::{Client, Publication};
use assay_model::api::{Plugin, PromotePlugin};
use serde::Serialize;

use super::super::engine::{CaseRuns, EngineOptions};
use super::super::{Format, print_json};
use super::project::Source;
use super::test::test;

#[derive(clap::Args)]
pub(super) struct Options {
    /// The project's folder, or a component (.wasm)
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Point this channel to it
    #[arg(long)]
    channel: Option<String>,
    /// Do not run the golden cases first
    #[arg(long)]
    no_test: bool,
    #[command(flatten)]
    engine: EngineOptions,
}

#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    plugin: Plugin,
    /// False where these bytes were published, and the channel pointed to them, before.
    changed: bool,
}

pub(super) async fn run(options: Options, format: Format, client: Client) -> anyhow::Result<()> {
    let source = Source::at(&options.path)?;
    let component = match (&source, options.no_test) {
        (Source::Project(_), false) => {
            let runs = CaseRuns { update: false, repeat: 1 };
            // What is published alone is printed as JSON.
            let (plugin, tested) = test(&source, &options.engine, runs, format).await?;
            ensure!(
                tested.failed == 0,
                "{} golden cases of {} failed, and nothing was published; --no-test publishes \
                 nevertheless",
                tested.failed,
                tested.plugin
            );
            plugin.component
        }
        _ => source.component().await?,
    };
    let bytes = tokio::fs::read(&component).await;
    let bytes = bytes.with_context(|| format!("reading {}", component.display()))?;
    let (mut plugin, publication) = client.publish_noting(bytes.into()).await?;
    let mut changed = publication == Publication::New;
    let pointed = |plugin: &Plugin, channel: &String| plugin.channels.contains(channel);
    if let Some(channel) = options.channel.filter(|channel| !pointed(&plugin, channel)) {
        let version = PromotePlugin { version: plugin.version };
        plugin = client.promote(&plugin.name, &channel, &version).await?;
        changed = true;
    }
    match format {
        Format::Json => print_json(&[Outcome { plugin, changed }])?,
        Format::Text => {
            super::versions::print(&plugin);
            if !changed {
                println!("nothing changed: these bytes were published before");
            }
        }
    }
    Ok(())
}
