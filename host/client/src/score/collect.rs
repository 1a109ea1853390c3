//! Writes and counts the results. It is the only writer of the output and of the counts.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};

use super::input::{Row, RowHash};
use super::output::Output;
use super::submit::{Described, Event};
use super::summary::{Progress, Rewarded, Summary, Tally};
use super::{Options, ScoreError};

/// Number of events between two flushes of the output.
const BURST: usize = 1_024;

struct Pending {
    line: u64,
    expected: Option<f64>,
    hash: RowHash,
}

pub(super) struct Collector<'a> {
    output: Output,
    window: &'a Semaphore,
    tally: Tally,
    /// Rows submitted and not finished; at most the window.
    pending: HashMap<String, Pending>,
    require_agreement: bool,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        options: &Options,
        output: Output,
        window: &'a Semaphore,
        bytes_total: u64,
    ) -> Self {
        Self {
            output,
            window,
            tally: Tally::new(options.tolerance, bytes_total),
            pending: HashMap::new(),
            require_agreement: options.require_agreement,
        }
    }

    /// Works until all senders are closed.
    pub(super) async fn run(
        &mut self,
        events: &mut mpsc::Receiver<Event>,
        observe: &mut impl FnMut(&Progress),
    ) -> Result<(), ScoreError> {
        let mut burst = Vec::with_capacity(BURST);
        while events.recv_many(&mut burst, BURST).await > 0 {
            for event in burst.drain(..) {
                self.take(event)?;
            }
            self.output.flush()?;
            observe(&self.tally.progress);
        }
        Ok(())
    }

    /// Writes the results received before the work stopped early.
    pub(super) fn drain(&mut self, events: &mut mpsc::Receiver<Event>) -> Result<(), ScoreError> {
        while let Ok(event) = events.try_recv() {
            if !matches!(event, Event::Failed(_)) {
                self.take(event)?;
            }
        }
        self.output.sync()
    }

    pub(super) fn finish(
        self,
        described: Described,
        interrupted: bool,
        elapsed: Duration,
    ) -> Result<Summary, ScoreError> {
        let progress = self.tally.progress;
        let output = self.output.is_file().then(|| self.output.path().display().to_string());
        let summary = self.tally.into_summary();
        let (plugin, plugin_digest) = described.plugin.unzip();
        Ok(Summary {
            run: plugin.is_some().then_some(described.run),
            plugin,
            plugin_digest,
            output,
            rows: progress.malformed + progress.skipped + progress.submitted,
            unanswered: self.pending.len() as u64,
            require_agreement: self.require_agreement,
            requests_per_s: progress.finished as f64 / elapsed.as_secs_f64(),
            elapsed_s: elapsed.as_secs_f64(),
            interrupted,
            ..summary
        })
    }

    fn take(&mut self, event: Event) -> Result<(), ScoreError> {
        match event {
            Event::Read { bytes_read, skipped, malformed, ignored_columns } => {
                self.tally.progress.bytes_read = bytes_read;
                self.tally.summary.ignored_columns.extend(ignored_columns);
                for skipped in &skipped {
                    self.tally.skipped(&Rewarded {
                        line: skipped.row.line,
                        key: &skipped.row.key,
                        expected: skipped.row.expected,
                        reward: skipped.prior.reward,
                        timed_out: skipped.prior.timed_out,
                        verdict: &skipped.prior.verdict,
                    });
                }
                malformed.into_iter().for_each(|malformed| self.tally.malformed(malformed));
            }
            Event::Announced(made_by) => self.output.set_made_by(made_by),
            Event::Submitting(rows) => {
                self.tally.submitted(rows.len());
                for row in rows.iter() {
                    let Row { line, expected, hash, .. } = *row;
                    let pending = Pending { line, expected, hash };
                    self.pending.insert(row.key.clone(), pending);
                }
            }
            Event::Refused { key, malformed } => {
                if self.pending.remove(&key).is_some() {
                    self.window.add_permits(1);
                    self.tally.refused(malformed);
                }
            }
            Event::Finished(item) => {
                if let Some(Pending { line, expected, hash }) = self.pending.remove(&item.key) {
                    self.window.add_permits(1);
                    self.output.write(&item, expected, hash)?;
                    self.tally.finished(line, expected, &item);
                }
            }
            Event::BatchEnded(batch) => self.tally.batch_ended(batch.id, batch.extra_delay_ms),
            Event::Failed(error) => return Err(error.into()),
        }
        Ok(())
    }
}
