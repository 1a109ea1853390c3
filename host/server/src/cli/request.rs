//! `assay request`.

use std::process::ExitCode;

use assay_model::id::RequestId;
use assay_model::operations::{Replay, ReplayRequest, ReplaySide};
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
    /// Run a request again and compare the outcomes; exits with 1 where they differ
    Replay {
        id: RequestId,
        /// Another version of its plugin
        #[arg(long)]
        version: Option<String>,
    },
}

pub(super) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let client = options.connection.client()?;
    let Verb::Replay { id, version } = options.verb;
    let replay = client.replay(id, &ReplayRequest { version }).await?;
    match options.format {
        Format::Json => print_json(&replay)?,
        Format::Text => print!("{}", text(&replay)),
    }
    Ok(if replay.agrees { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn text(replay: &Replay) -> String {
    let verdict = if replay.agrees {
        "the outcomes agree".to_owned()
    } else {
        format!("the outcomes differ: {}", replay.differences.join(", "))
    };
    let (recorded, replayed) = (side(&replay.recorded), side(&replay.replayed));
    format!("recorded  {recorded}\nreplayed  {replayed}\n{verdict}\n")
}

fn side(side: &ReplaySide) -> String {
    let outcome = &side.outcome;
    let reward = outcome.reward().map_or("no reward".into(), |reward| format!("reward {reward}"));
    let ran: f64 = side.stages.iter().map(|stage| stage.ran_ms).sum();
    format!("{}: {}, {}, {reward}, ran {ran:.1} ms", side.plugin, outcome.kind(), outcome.verdict())
}
