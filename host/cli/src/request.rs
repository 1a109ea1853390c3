//! `assay request`: shows one request with everything stored of it, and runs it again.

mod replay;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use assay_core::id::RequestId;
use clap::Subcommand;

use super::ClientOptions;

#[derive(clap::Args)]
pub(super) struct RequestCommand {
    #[command(flatten)]
    client: ClientOptions,
    #[command(subcommand)]
    verb: RequestVerb,
}

#[derive(Subcommand)]
enum RequestVerb {
    /// Show the input, the outcome, and how long each stage waited and ran
    Show {
        /// Id of the request
        id: RequestId,
    },
    /// Show the log lines of a request; `assay logs` shows those of a run
    Logs {
        /// Id of the request
        id: RequestId,
    },
    /// List the artifacts of a request's stages, or write them to a folder
    Artifacts {
        /// Id of the request
        id: RequestId,
        /// Folder to write the artifacts to, one file for each stage; an existing file is an error
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
    /// Run a request again and compare the outcomes; exit with 1 if they differ
    #[command(
        after_help = "Examples:\n  assay request replay ID\n  assay request replay ID --version 1.1.0\n  assay request replay ID --local\n  assay request replay ID --local --plugin path/of/project"
    )]
    Replay(Box<replay::ReplayCommand>),
}

pub(super) async fn run(options: RequestCommand) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    let format = options.client.format;
    match options.verb {
        RequestVerb::Show { id } => show::request(&client, id, format).await?,
        RequestVerb::Logs { id } => show::logs(&client, id, format).await?,
        RequestVerb::Artifacts { id, to } => show::artifacts(&client, id, to, format).await?,
        RequestVerb::Replay(options) => return replay::run(&client, *options, format).await,
    }
    Ok(ExitCode::SUCCESS)
}
