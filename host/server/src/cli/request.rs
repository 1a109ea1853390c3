//! `assay request`: one request with all that is kept of it, and run again.

mod replay;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use assay_model::id::RequestId;
use clap::Subcommand;

use super::{Connection, Format};

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
    /// Show what came in, what came out, and how long each stage waited and ran
    Show { id: RequestId },
    /// Show what the plugin logged for it; `assay logs` shows a run's
    Logs { id: RequestId },
    /// List what its stages left for the next, or write it to a folder
    Artifacts {
        id: RequestId,
        /// Write each to DIR/STAGE; files that exist are kept, and named as an error
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
    /// Run a request again and compare the outcomes; exits with 1 where they differ
    #[command(
        after_help = "Examples:\n  assay request replay ID\n  assay request replay ID --version 1.1.0\n  assay request replay ID --local\n  assay request replay ID --local --plugin path/of/project"
    )]
    Replay(Box<replay::Options>),
}

pub(super) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let client = options.connection.client()?;
    let format = options.format;
    match options.verb {
        Verb::Show { id } => show::request(&client, id, format).await?,
        Verb::Logs { id } => show::logs(&client, id, format).await?,
        Verb::Artifacts { id, to } => show::artifacts(&client, id, to, format).await?,
        Verb::Replay(options) => return replay::run(&client, *options, format).await,
    }
    Ok(ExitCode::SUCCESS)
}
