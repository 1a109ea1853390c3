//! Runs the golden cases again after each change of the project's files.

use std::time::Duration;

use tokio::signal::ctrl_c;

use super::super::super::{Format, print_json};
use super::super::project::{Project, Source};
use super::{PluginTestCommand, test};

/// The interval at which modification times are compared.
const LOOK: Duration = Duration::from_millis(300);

/// Runs until Ctrl-C. Failures are printed, and the next change is awaited.
pub(super) async fn run(
    project: &Project,
    options: &PluginTestCommand,
    format: Format,
) -> anyhow::Result<()> {
    loop {
        let before = project.look()?;
        let source = Source::at(&options.path);
        let tested = async {
            let (_, tested) = test(&source?, &options.engine, options.runs(), format).await?;
            if format == Format::Json {
                print_json(&tested)?;
            }
            anyhow::Ok(())
        };
        // Dropping the future kills the running build or test.
        tokio::select! {
            tested = tested => if let Err(error) = tested {
                eprintln!("assay: {error:#}");
            },
            _ = ctrl_c() => return Ok(()),
        }
        eprintln!("waiting for changes; Ctrl-C stops");
        tokio::select! {
            changed = changed(project, &before) => changed?,
            _ = ctrl_c() => return Ok(()),
        }
    }
}

/// Returns when files differ from `before` and have been left alone since the last look: an editor
/// may write several.
async fn changed(
    project: &Project,
    before: &super::super::project::ModificationTimes,
) -> anyhow::Result<()> {
    let mut last = project.look()?;
    loop {
        tokio::time::sleep(LOOK).await;
        let now = project.look()?;
        if now == last && now != *before {
            return Ok(());
        }
        last = now;
    }
}
