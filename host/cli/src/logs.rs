//! `assay logs`: the log lines of a run's plugins.

mod follow;

use std::process::ExitCode;

use assay_api::authoring::RunLogLine;

use super::terminal::print_lines;
use super::{ClientOptions, Format, print_json};

/// The number of lines on a page of the server's list.
const PAGE: u32 = 500;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  assay logs --run nightly --verdict wrong\n  assay logs --run nightly --level error -o json\n  assay logs --run nightly --follow"
)]
pub(super) struct LogsCommand {
    #[command(flatten)]
    client: ClientOptions,
    /// Name of the run
    #[arg(long)]
    run: String,
    /// Only lines of requests with this verdict, `timed_out`, or this error code
    #[arg(long)]
    verdict: Option<String>,
    /// Only lines of this level: debug, info, warn, error or stderr
    #[arg(long)]
    level: Option<String>,
    /// Maximum number of lines, those of the newest batch first
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Print the lines of requests that end from now on, until Ctrl-C
    ///
    /// The lines come in the order in which requests end, those of later batches of the run too, and as
    /// JSON one object a line. When the server cannot be reached, it is asked again until it can be.
    #[arg(short, long, conflicts_with = "limit")]
    follow: bool,
}

pub(super) async fn run(options: LogsCommand) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    if options.follow {
        return follow::follow(client, options).await;
    }
    let wanted = options.limit as usize;
    let mut lines: Vec<RunLogLine> = Vec::new();
    let mut after: Option<String> = None;
    while lines.len() < wanted {
        let room = u32::try_from(wanted - lines.len()).unwrap_or(PAGE).min(PAGE).to_string();
        let mut filters = vec![("limit", room.as_str())];
        filters.extend(options.verdict.as_deref().map(|verdict| ("verdict", verdict)));
        filters.extend(options.level.as_deref().map(|level| ("level", level)));
        filters.extend(after.as_deref().map(|after| ("after", after)));
        let page = client.run_logs(&options.run, &filters).await?;
        lines.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    match options.client.format {
        Format::Json => print_json(&lines)?,
        Format::Text => {
            print_lines(lines.iter().map(text));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn text(line: &RunLogLine) -> String {
    let RunLogLine { request, verdict, stage, level, message } = line;
    let verdict = verdict.as_deref().unwrap_or("-");
    format!("{request}  {verdict}  {stage} {level:5} {}", message.escape_debug())
}
