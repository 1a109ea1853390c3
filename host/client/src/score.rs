//! Scores a file of any size: the engine of `assay score FILE.jsonl --plugin math@prod`.
//!
//! ```text
//! file -> read (a thread) -> submit, batch after batch -> server -> follow -> collect -> output
//!            '------------------ bounded queues and a bounded window ----------------'
//! ```
//! Memory grows by some 50 bytes a row (to know repeated keys), never by the rows' content. The
//! output only grows: a second call continues with the rows that have no reward yet. Errors are
//! outcomes without a number here as everywhere.

mod collect;
mod input;
mod output;
mod resume;
mod submit;
mod summary;

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_core::id::BatchId;
use assay_core::limits;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::call::{Client, Retry};
use crate::error::Error;
use collect::Collector;
use input::Reader;
use output::Output;
use submit::Submitter;

pub use summary::{Agreement, Disagreement, Malformed, Progress, Summary};

/// Capacity of the queue between the reading thread and the submissions.
const CHUNKS_AHEAD: usize = 2;
/// Capacity of the collector's queue.
const EVENTS_AHEAD: usize = 4_096;
const CANCEL_SECONDS_MAX: u64 = 5;

/// The destination of the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A file that grows from call to call; see [`results_path`].
    File(PathBuf),
    /// Standard output, which cannot be resumed.
    Stdout,
}

/// The default output: `answers.jsonl` gives `answers.jsonl.results.jsonl`, so that no two inputs share one.
#[must_use]
pub fn results_path(input: &Path) -> PathBuf {
    let mut path = input.as_os_str().to_owned();
    path.push(".results.jsonl");
    path.into()
}

#[derive(Debug, Clone)]
pub struct Options {
    pub input: PathBuf,
    pub output: Target,
    /// `name@channel` or `name@version`.
    pub plugin: String,
    /// The run's name; if absent, that of the run to resume, or a new one.
    pub run: Option<String>,
    pub settings: Option<Box<RawValue>>,
    pub max_extra_delay_ms: Option<u32>,
    /// Whether equal rows share a computation, where the plugin is deterministic.
    pub share_equal: bool,
    /// The largest difference between a reward and `expected` that counts as agreement.
    pub tolerance: f64,
    /// Whether a disagreement makes [`Summary::ok`] false.
    pub require_agreement: bool,
    /// The retry policy of every call after the first announcement, which has the client's own.
    pub retry: Retry,
    pub sizes: Sizes,
}

/// Limits on the work in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Rows and bytes of one submit.
    pub chunk_rows: usize,
    pub chunk_bytes: usize,
    /// Rows of one batch; a longer file is cut into several.
    pub batch_rows: u32,
    /// Rows submitted and not finished; also what an interrupted run may compute twice.
    pub window_rows: usize,
}

impl Options {
    /// Options with defaults for everything but the input and the plugin.
    #[must_use]
    pub fn new(input: PathBuf, plugin: String) -> Self {
        Self {
            output: Target::File(results_path(&input)),
            input,
            plugin,
            run: None,
            settings: None,
            max_extra_delay_ms: None,
            share_equal: true,
            tolerance: 1e-9,
            require_agreement: false,
            retry: Retry::LONG,
            sizes: Sizes {
                chunk_rows: 2_048,
                chunk_bytes: 8 << 20,
                batch_rows: limits::BATCH_REQUESTS_MAX,
                window_rows: 32_768,
            },
        }
    }
}

/// The reason why a file was not scored to its end. The results received before are in the output.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    #[error(transparent)]
    Call(#[from] Error),
    #[error("cannot read {}", path.display())]
    Input { path: PathBuf, source: io::Error },
    #[error("cannot write {} (--output names another file)", path.display())]
    Output { path: PathBuf, source: io::Error },
    #[error("{} is in use by another `assay score`", path.display())]
    OutputInUse { path: PathBuf },
    #[error(
        "{}, line {line}, is not a result of `assay score`; choose another file with --output",
        path.display()
    )]
    NotResults { path: PathBuf, line: u64 },
    #[error(
        "{} has results of {before}, and the plugin is now {now}: rewards of two plugins do not \
         belong in one file; choose another file with --output, or remove that file",
        path.display()
    )]
    PluginChanged { path: PathBuf, before: String, now: String },
    #[error(
        "{} has results of batches that this server does not know, and does not say of which \
         plugin they are: rewards of two plugins do not belong in one file; choose another file \
         with --output, or remove that file",
        path.display()
    )]
    PluginUnknown { path: PathBuf },
}

/// Scores the file. `observe` is called with every progress; if `interrupt` ends first, the results
/// received so far are kept, the open batches are cancelled, and the summary says `interrupted`.
pub async fn score(
    client: &Client,
    options: &Options,
    mut observe: impl FnMut(&Progress),
    interrupt: impl Future<Output = ()>,
) -> Result<Summary, ScoreError> {
    let started = Instant::now();
    // An input that cannot be read leaves no output.
    let mut reader = Reader::open(options)?;
    let mut output = Output::open(&options.output)?;
    let resumed = resume::resume(client, options, &output).await?;
    reader.skip(output.take_priors());
    let window = Semaphore::new(options.sizes.window_rows.max(options.sizes.chunk_rows));
    let mut collector = Collector::new(options, output, &window, reader.bytes_total());
    let patient = client.clone().with_retry(options.retry);
    let mut followers = JoinSet::new();
    let (events, mut incoming) = mpsc::channel(EVENTS_AHEAD);
    let (chunks_in, chunks) = mpsc::channel(CHUNKS_AHEAD);
    tokio::task::spawn_blocking(move || reader.run(&chunks_in));

    let mut submitter = Submitter::new(client, &patient, options, resumed, &window);
    let work = async {
        let submitted = submitter.run(chunks, events, &mut followers);
        let collected = collector.run(&mut incoming, &mut observe);
        tokio::try_join!(submitted, collected).map(|_| ())
    };
    let (ended, interrupted) = tokio::select! {
        biased;
        ended = work => (ended, false),
        () = interrupt => (Ok(()), true),
    };
    let kept = collector.drain(&mut incoming);
    if interrupted || ended.is_err() {
        followers.abort_all();
        cancel(client, submitter.batches()).await;
    }
    ended?;
    kept?;
    collector.finish(submitter.described(), interrupted, started.elapsed())
}

/// Cancels the open batches as far as possible: the next call cancels the others.
async fn cancel(client: &Client, batches: &[BatchId]) {
    let once = client.clone().with_retry(Retry { attempts: 1, ..Retry::SHORT });
    let all = async {
        for batch in batches {
            if once.batch(*batch).await.is_ok_and(|batch| !batch.state.is_final()) {
                // The next batch may still be cancelled when this one cannot.
                drop(once.cancel(*batch).await);
            }
        }
    };
    drop(tokio::time::timeout(Duration::from_secs(CANCEL_SECONDS_MAX), all).await);
}
