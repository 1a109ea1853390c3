//! `assay plugin versions`, `promote`, `rollback` and `yank`.

use assay_api::plugin::{CaseCounts, Plugin, PromotePlugin, YankPlugin};
use assay_client::Client;
use assay_core::plugin::VersionName;

use super::super::Format;

#[derive(clap::Args)]
pub(super) struct Versions {
    /// Name of the plugin [default: all plugins]
    name: Option<String>,
}

#[derive(clap::Args)]
pub(super) struct Promote {
    /// Version, as NAME@VERSION
    #[arg(value_parser = version)]
    plugin: (String, String),
    /// Channel to move
    #[arg(long, default_value = "prod", value_parser = super::channel)]
    channel: String,
}

#[derive(clap::Args)]
pub(super) struct Rollback {
    /// Name of the plugin
    name: String,
    /// Channel to move
    #[arg(long, value_parser = super::channel)]
    channel: String,
}

#[derive(clap::Args)]
pub(super) struct Yank {
    /// Version, as NAME@VERSION
    #[arg(value_parser = version)]
    plugin: (String, String),
    /// Reason, which is shown to users who ask for the version
    #[arg(long)]
    reason: String,
}

fn version(text: &str) -> Result<(String, String), String> {
    let named = VersionName::parse(text);
    let VersionName { name, version } = named.ok_or("write NAME@VERSION, such as math@1.4.0")?;
    Ok((name.into(), version.into()))
}

pub(super) async fn list(options: Versions, format: Format, client: Client) -> anyhow::Result<()> {
    let plugins = match options.name {
        None => client.plugins().await?.items,
        Some(name) => client.plugin_versions(&name).await?.items,
    };
    format.print(&plugins, |plugins| plugins.iter().map(text).collect())
}

pub(super) async fn promote(
    options: Promote,
    format: Format,
    client: Client,
) -> anyhow::Result<()> {
    let (name, version) = options.plugin;
    show(&client.promote(&name, &options.channel, &PromotePlugin { version }).await?, format)
}

pub(super) async fn roll_back(
    options: Rollback,
    format: Format,
    client: Client,
) -> anyhow::Result<()> {
    let plugin = client.roll_back(&options.name, &options.channel).await?;
    if format == Format::Text {
        let Plugin { name, version, .. } = &plugin;
        println!("{name}@{} is {version} again; active runs keep their version", options.channel);
    }
    show(&plugin, format)
}

pub(super) async fn yank(options: Yank, format: Format, client: Client) -> anyhow::Result<()> {
    let (name, version) = options.plugin;
    show(&client.yank(&name, &version, &YankPlugin { reason: options.reason }).await?, format)
}

/// Prints one version; as JSON a list with one element.
fn show(plugin: &Plugin, format: Format) -> anyhow::Result<()> {
    format.print(&[plugin], |[plugin]| text(plugin))
}

/// The golden cases in a few words, such as `cases: 12 passed, 3 not run`.
fn cases(counts: CaseCounts) -> String {
    let CaseCounts { passed, not_run, skipped } = counts;
    let states = [(passed, "passed"), (not_run, "not run"), (skipped, "skipped")];
    let told: Vec<_> = states
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match told.is_empty() {
        true => "no golden cases".to_owned(),
        false => format!("cases: {}", told.join(", ")),
    }
}

pub(super) fn text(plugin: &Plugin) -> String {
    let digest = plugin.digest.to_string();
    let channels = plugin.channels.join(", ");
    let stages: Vec<_> =
        plugin.stages.iter().map(|stage| format!("{} on {}", stage.name, stage.pool)).collect();
    let mut text = format!("{}  {}  {}", plugin.version_name(), &digest[..12], stages.join(", "));
    if let Some(publisher) = &plugin.published_by {
        text.push_str(&format!("  by {publisher}"));
    }
    if !channels.is_empty() {
        text.push_str(&format!("  [{channels}]"));
    }
    text.push_str(&format!("  {}", cases(plugin.golden_cases)));
    if let Some(reason) = &plugin.yanked {
        text.push_str(&format!("  yanked: {reason}"));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_counted_by_state() {
        let told = |passed, not_run, skipped| cases(CaseCounts { passed, not_run, skipped });
        assert_eq!(told(0, 0, 0), "no golden cases");
        assert_eq!(told(12, 3, 0), "cases: 12 passed, 3 not run");
        assert_eq!(told(0, 0, 1), "cases: 1 skipped");
    }
}
