//! `assay plugin`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use assay_model::api::{Plugin, PromotePlugin, YankPlugin};
use clap::Subcommand;

use super::{Connection, Format, print_json};

#[derive(clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    connection: Connection,
    /// How the answer is printed
    #[arg(short = 'o', long = "format", value_enum, default_value = "text", global = true)]
    format: Format,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Publish a component (.wasm); the same bytes again change nothing
    Publish {
        component: PathBuf,
        /// Point this channel to it
        #[arg(long)]
        channel: Option<String>,
    },
    /// List all plugins, or the versions of one
    Versions { name: Option<String> },
    /// Point a channel to a version; runs that are under way keep theirs
    Promote {
        /// NAME@VERSION
        #[arg(value_parser = version)]
        plugin: (String, String),
        #[arg(long, default_value = "prod")]
        channel: String,
    },
    /// Keep new runs off a version
    Yank {
        /// NAME@VERSION
        #[arg(value_parser = version)]
        plugin: (String, String),
        #[arg(long)]
        reason: String,
    },
}

fn version(text: &str) -> Result<(String, String), String> {
    let (name, version) = text.split_once('@').ok_or("write NAME@VERSION, such as math@1.4.0")?;
    Ok((name.into(), version.into()))
}

pub(super) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let client = options.connection.client()?;
    let plugins = match options.verb {
        Verb::Publish { component, channel } => {
            let bytes = tokio::fs::read(&component)
                .await
                .with_context(|| format!("reading {}", component.display()))?;
            let plugin = client.publish(bytes.into()).await?;
            let plugin = match channel {
                Some(channel) => {
                    let version = PromotePlugin { version: plugin.version };
                    client.promote(&plugin.name, &channel, &version).await?
                }
                None => plugin,
            };
            vec![plugin]
        }
        Verb::Versions { name: None } => client.plugins().await?.items,
        Verb::Versions { name: Some(name) } => client.plugin_versions(&name).await?.items,
        Verb::Promote { plugin: (name, version), channel } => {
            vec![client.promote(&name, &channel, &PromotePlugin { version }).await?]
        }
        Verb::Yank { plugin: (name, version), reason } => {
            vec![client.yank(&name, &version, &YankPlugin { reason }).await?]
        }
    };
    match options.format {
        Format::Json => print_json(&plugins)?,
        Format::Text => plugins.iter().for_each(print),
    }
    Ok(ExitCode::SUCCESS)
}

fn print(plugin: &Plugin) {
    let digest = plugin.digest.to_string();
    let channels = plugin.channels.join(", ");
    let stages: Vec<_> =
        plugin.stages.iter().map(|stage| format!("{} on {}", stage.name, stage.pool)).collect();
    print!("{}@{}  {}  {}", plugin.name, plugin.version, &digest[..12], stages.join(", "));
    if !channels.is_empty() {
        print!("  [{channels}]");
    }
    if let Some(reason) = &plugin.yanked {
        print!("  yanked: {reason}");
    }
    println!();
}
