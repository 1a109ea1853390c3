//! `assay plugin build`: builds the component and shows its description.

use std::path::{Path, PathBuf};

use assay_core::id::Digest;
use assay_core::plugin::Stage;
use serde::Serialize;

use super::super::engine::{Described, EngineOptions};
use super::super::{Format, print_json};
use super::project::Source;

#[derive(clap::Args)]
pub(super) struct PluginBuildCommand {
    /// Folder of the project, or a component (.wasm)
    #[arg(default_value = ".")]
    path: PathBuf,
    #[command(flatten)]
    engine: EngineOptions,
}

#[derive(Serialize)]
struct Built<'a> {
    name: &'a str,
    version: &'a str,
    digest: Digest,
    component: &'a Path,
    bytes: u64,
    stages: &'a [Stage],
    imports: &'a [String],
}

pub(super) async fn run(options: PluginBuildCommand, format: Format) -> anyhow::Result<()> {
    let component = Source::at(&options.path)?.component(&options.engine).await?;
    let plugin = options.engine.describe(&component).await?;
    match format {
        Format::Json => print_json(&Built {
            name: &plugin.description.name,
            version: &plugin.description.version,
            digest: plugin.digest,
            component: &plugin.component,
            bytes: plugin.bytes,
            stages: &plugin.description.stages,
            imports: &plugin.imports,
        })?,
        Format::Text => print!("{}", text(&plugin)),
    }
    Ok(())
}

fn text(plugin: &Described) -> String {
    let digest = plugin.digest.to_string();
    let kib = plugin.bytes.div_ceil(1_024);
    let mut text = format!(
        "{}  {}  {kib} KiB  {}\n",
        plugin.reference(),
        &digest[..12],
        plugin.component.display()
    );
    for stage in &plugin.description.stages {
        let mib = stage.memory_bytes_max >> 20;
        let Stage { name, pool, timeout_ms, .. } = stage;
        text.push_str(&format!("  stage {name} on {pool}, {timeout_ms} ms, {mib} MiB\n"));
    }
    for import in &plugin.imports {
        text.push_str(&format!("  imports {import}\n"));
    }
    text
}
