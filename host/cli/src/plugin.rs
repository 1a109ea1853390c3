//! `assay plugin`: one file for each verb, from a template to a release.

mod build;
mod new;
pub(super) mod project;
mod publish;
mod test;
mod versions;

use std::process::ExitCode;

use assay_core::limits::PLUGIN_NAME_BYTES_MAX;
use assay_core::plugin::check_name;
use clap::Subcommand;

use super::ClientOptions;

#[derive(clap::Args)]
pub(super) struct PluginCommand {
    #[command(flatten)]
    client: ClientOptions,
    #[command(subcommand)]
    verb: PluginVerb,
}

#[derive(Subcommand)]
enum PluginVerb {
    /// Create a project from a template; it contains the SDK
    #[command(
        after_help = "Examples:\n  assay plugin new exact\n  assay plugin new judge --template rust-multistage --to work/judge"
    )]
    New(new::PluginNewCommand),
    /// Build the component and show its description
    #[command(after_help = "Examples:\n  assay plugin build\n  assay plugin build exact -o json")]
    Build(build::PluginBuildCommand),
    /// Build, then run the golden cases in the sandbox of the service
    #[command(
        after_help = "Examples:\n  assay plugin test --watch\n  assay plugin test --repeat 20\n  assay plugin test --update\n  assay plugin test --against prod --limit 1000\n  assay plugin test --against 1.4.0 --run nightly\n\nExits with 1 if a case failed or a reward changed."
    )]
    Test(Box<test::PluginTestCommand>),
    /// Build, test and publish a project with its golden cases, which the server runs, or publish a
    /// component; publishing it twice changes nothing
    #[command(
        after_help = "Examples:\n  assay plugin publish --channel dev\n  assay plugin publish exact.wasm --channel prod"
    )]
    Publish(Box<publish::PluginPublishCommand>),
    /// List all plugins, or the versions of one
    Versions(versions::Versions),
    /// Point a channel to a version; active runs keep their version
    #[command(after_help = "Example:\n  assay plugin promote exact@1.1.0 --channel prod")]
    Promote(versions::Promote),
    /// Point a channel back to its previous version; active runs keep their version
    #[command(after_help = "Example:\n  assay plugin rollback exact --channel prod")]
    Rollback(versions::Rollback),
    /// Withdraw a version, so that new runs cannot use it
    #[command(
        after_help = "Example:\n  assay plugin yank exact@1.1.0 --reason 'rewards empty answers'"
    )]
    Yank(versions::Yank),
}

/// A channel's name, refused before anything is built or sent.
fn channel(text: &str) -> Result<String, String> {
    check_name("channel", text, PLUGIN_NAME_BYTES_MAX)?;
    Ok(text.to_owned())
}

pub(super) async fn run(options: PluginCommand) -> anyhow::Result<ExitCode> {
    let PluginCommand { client: ClientOptions { connection, format }, verb } = options;
    let client = || connection.client();
    match verb {
        PluginVerb::New(options) => new::run(options, format)?,
        PluginVerb::Build(options) => build::run(options, format).await?,
        PluginVerb::Test(options) => return test::run(*options, format, client).await,
        PluginVerb::Publish(options) => publish::run(*options, format, client()?).await?,
        PluginVerb::Versions(options) => versions::list(options, format, client()?).await?,
        PluginVerb::Promote(options) => versions::promote(options, format, client()?).await?,
        PluginVerb::Rollback(options) => versions::roll_back(options, format, client()?).await?,
        PluginVerb::Yank(options) => versions::yank(options, format, client()?).await?,
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::channel;

    #[test]
    fn a_channel_is_checked_as_the_server_does() {
        for text in ["", "bad channel!", "Prod"] {
            assert!(channel(text).is_err(), "{text}");
        }
        assert_eq!(channel("prod-2"), Ok("prod-2".into()));
    }
}
