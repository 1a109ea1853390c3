//! Submits chunks batch after batch, and starts a follower for each batch.

use std::sync::Arc;

use assay_api::batch::{AnnounceBatch, Batch, SealBatch};
use assay_api::request::{SubmitReply, SubmitStatus};
use assay_api::result::ResultItem;
use assay_core::id::BatchId;
use futures_util::StreamExt;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use super::input::{Chunk, Row, Skipped};
use super::output::MadeBy;
use super::resume::Resumed;
use super::summary::Malformed;
use super::{Options, ScoreError};
use crate::call::Client;
use crate::error::Error;

/// The messages to the collector, in the order of the events.
pub(super) enum Event {
    Read {
        bytes_read: u64,
        skipped: Vec<Skipped>,
        malformed: Vec<Malformed>,
        ignored_columns: Vec<String>,
    },
    /// The plugin of a batch, before any result of it.
    Announced(MadeBy),
    /// Rows that will be submitted; sent first, so that every result is expected.
    Submitting(Arc<Vec<Row>>),
    /// A row that the server refused.
    Refused {
        key: String,
        malformed: Malformed,
    },
    Finished(ResultItem),
    BatchEnded(Batch),
    /// A batch whose results cannot be followed any further.
    Failed(Error),
}

/// The plugin and the run, as the server answered.
pub(super) struct Described {
    pub(super) plugin: Option<(String, String)>,
    pub(super) run: String,
}

struct Open {
    id: BatchId,
    accepted: u32,
}

pub(super) struct Submitter<'a> {
    /// The client of the first announcement, for which a person waits.
    client: &'a Client,
    /// The client of all later calls.
    patient: &'a Client,
    options: &'a Options,
    window: &'a Semaphore,
    resumed: Resumed,
    open: Option<Open>,
    batches: Vec<BatchId>,
    plugin: Option<(String, String)>,
}

impl<'a> Submitter<'a> {
    pub(super) fn new(
        client: &'a Client,
        patient: &'a Client,
        options: &'a Options,
        resumed: Resumed,
        window: &'a Semaphore,
    ) -> Self {
        Self {
            client,
            patient,
            options,
            window,
            resumed,
            open: None,
            batches: Vec::new(),
            plugin: None,
        }
    }

    /// Every batch that this call announced.
    pub(super) fn batches(&self) -> &[BatchId] {
        &self.batches
    }

    pub(super) fn described(&self) -> Described {
        Described { plugin: self.plugin.clone(), run: self.resumed.run.clone() }
    }

    pub(super) async fn run(
        &mut self,
        mut chunks: mpsc::Receiver<Result<Chunk, ScoreError>>,
        events: mpsc::Sender<Event>,
        followers: &mut JoinSet<()>,
    ) -> Result<(), ScoreError> {
        while let Some(chunk) = chunks.recv().await {
            let Chunk { body, rows, skipped, malformed, ignored_columns, bytes_read, ends_batch } =
                chunk?;
            tell(&events, Event::Read { bytes_read, skipped, malformed, ignored_columns }).await;
            if !rows.is_empty() {
                if self.open.is_none() {
                    self.open = Some(self.announce(&events, followers).await?);
                }
                let open = self.open.as_mut().expect("announced above");
                let permits = u32::try_from(rows.len()).expect("a chunk is small");
                self.window.acquire_many(permits).await.expect("never closed").forget();
                let rows = Arc::new(rows);
                tell(&events, Event::Submitting(Arc::clone(&rows))).await;
                let reply = self.patient.submit_ndjson(open.id, body).await?;
                open.accepted += reply.accepted + reply.repeated;
                for refused in refused(&rows, reply) {
                    tell(&events, refused).await;
                }
            }
            if ends_batch && let Some(open) = self.open.take() {
                let seal = SealBatch { final_count: Some(open.accepted) };
                self.patient.seal(open.id, &seal).await?;
            }
        }
        Ok(())
    }

    async fn announce(
        &mut self,
        events: &mpsc::Sender<Event>,
        followers: &mut JoinSet<()>,
    ) -> Result<Open, ScoreError> {
        let announcement = AnnounceBatch {
            plugin: self.options.plugin.clone(),
            run: self.resumed.run.clone(),
            iteration: self.resumed.iteration,
            expected_size: None,
            group_size: None,
            max_extra_delay_ms: self.options.max_extra_delay_ms,
            consumes: None,
            share_equal: (!self.options.share_equal).then_some(false),
            join: None,
            settings: self.options.settings.clone(),
        };
        let client = if self.batches.is_empty() { self.client } else { self.patient };
        let batch = client.announce(&announcement).await?;
        self.batches.push(batch.id);
        self.check_plugin(&batch)?;
        self.resumed.iteration += 1;
        let made_by = MadeBy { plugin: batch.plugin.clone(), digest: batch.plugin_digest };
        tell(events, Event::Announced(made_by)).await;
        self.plugin = Some((batch.plugin, batch.plugin_digest.to_string()));
        followers.spawn(follow(self.patient.clone(), batch.id, events.clone()));
        Ok(Open { id: batch.id, accepted: 0 })
    }

    /// Refuses an output with rewards of another plugin.
    fn check_plugin(&self, batch: &Batch) -> Result<(), ScoreError> {
        let made_by = self.resumed.made_by.as_ref();
        match (made_by, &self.options.output) {
            (Some(made_by), super::Target::File(path)) if made_by.digest != batch.plugin_digest => {
                let (before, now) = (made_by.plugin.clone(), batch.plugin.clone());
                Err(ScoreError::PluginChanged { path: path.clone(), before, now })
            }
            _ => Ok(()),
        }
    }
}

/// The rows that the server refused, by position.
fn refused(rows: &[Row], reply: SubmitReply) -> impl Iterator<Item = Event> {
    let places = rows.iter().zip(reply.items);
    places.filter(|(_, item)| item.status == SubmitStatus::Rejected).map(|(row, item)| {
        let problem = item.problem.map_or_else(
            || "refused without a reason".to_owned(),
            |problem| format!("{} ({})", problem.detail, problem.code),
        );
        let malformed = Malformed { line: row.line, problem };
        Event::Refused { key: row.key.clone(), malformed }
    })
}

async fn follow(client: Client, batch: BatchId, events: mpsc::Sender<Event>) {
    let mut results = client.results(batch, 0);
    while let Some(result) = results.next().await {
        let event = match result {
            Ok(item) => Event::Finished(item),
            Err(error) => Event::Failed(error),
        };
        tell(&events, event).await;
    }
    let event = match client.batch(batch).await {
        Ok(batch) => Event::BatchEnded(batch),
        Err(error) => Event::Failed(error),
    };
    tell(&events, event).await;
}

/// Sends a message; the collector closes its queue only when the whole call ends.
async fn tell(events: &mpsc::Sender<Event>, event: Event) {
    drop(events.send(event).await);
}
