//! The results file: one JSON object per line, appended only, and read back by the next call.

use std::collections::{BTreeSet, HashMap};
use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_api::result::ResultItem;
use assay_core::id::{BatchId, Digest};
use assay_core::outcome::Outcome;
use serde::{Deserialize, Serialize};

use super::input::{KeyHash, KeyState, RowHash, key_hash};
use super::{ScoreError, Target};

const WRITE_BUFFER_BYTES: usize = 1 << 18;
/// A limit far above the size of any result.
const LINE_BYTES_MAX: u64 = 8 << 20;
/// The beginning of every line, which tells a torn line from another program's file.
const LINE_START: &[u8] = b"{\"cursor\":";

/// A reward that an earlier call received.
#[derive(Debug, Clone)]
pub(super) struct Prior {
    pub(super) reward: f64,
    pub(super) timed_out: bool,
    pub(super) verdict: Arc<str>,
    /// The hash of the row whose reward it is.
    pub(super) hash: RowHash,
}

/// The plugin that computed the results of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MadeBy {
    /// `name@version`.
    pub(super) plugin: String,
    pub(super) digest: Digest,
}

/// One line: the server's result, the row's expected reward, a hash of the row, and the plugin.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    item: &'a ResultItem,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<f64>,
    row: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin_digest: Option<Digest>,
}

/// The part of a line that is not the result; lines of early versions lack some of it.
#[derive(Default, Deserialize)]
struct OfRow {
    row: Option<String>,
    plugin: Option<String>,
    plugin_digest: Option<Digest>,
}

impl OfRow {
    fn read(line: &[u8]) -> Self {
        serde_json::from_slice(line).unwrap_or_default()
    }

    fn hash(&self) -> Option<RowHash> {
        hex::decode(self.row.as_ref()?).ok()?.try_into().ok()
    }

    fn made_by(self) -> Option<MadeBy> {
        Some(MadeBy { plugin: self.plugin?, digest: self.plugin_digest? })
    }
}

enum Sink {
    File(BufWriter<File>),
    Stdout(io::Stdout),
}

pub(super) struct Output {
    path: PathBuf,
    sink: Sink,
    line: Vec<u8>,
    priors: HashMap<KeyHash, KeyState>,
    verdicts: BTreeSet<Arc<str>>,
    /// The batches with results in the file.
    batches: BTreeSet<BatchId>,
    has_rewards: bool,
    /// The plugin of the last line, and of the lines to come.
    made_by: Option<MadeBy>,
}

impl Output {
    /// Locks and opens the file, repairs a torn last line, and reads the results in it.
    pub(super) fn open(target: &Target) -> Result<Self, ScoreError> {
        let mut output = Self {
            path: PathBuf::from("standard output"),
            sink: Sink::Stdout(io::stdout()),
            line: Vec::new(),
            priors: HashMap::new(),
            verdicts: BTreeSet::new(),
            batches: BTreeSet::new(),
            has_rewards: false,
            made_by: None,
        };
        let Target::File(path) = target else { return Ok(output) };
        output.path.clone_from(path);
        let file = open_locked(path)?;
        output.load(&file)?;
        output.sink = Sink::File(BufWriter::with_capacity(WRITE_BUFFER_BYTES, file));
        Ok(output)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.sink, Sink::File(_))
    }

    pub(super) fn batches(&self) -> &BTreeSet<BatchId> {
        &self.batches
    }

    /// Whether the file has a reward, of whatever row.
    pub(super) fn has_rewards(&self) -> bool {
        self.has_rewards
    }

    /// The plugin that the file's last line names.
    pub(super) fn made_by(&self) -> Option<&MadeBy> {
        self.made_by.as_ref()
    }

    /// Names the plugin of the lines to come.
    pub(super) fn set_made_by(&mut self, made_by: MadeBy) {
        self.made_by = Some(made_by);
    }

    /// The results in the file, which the reader skips.
    pub(super) fn take_priors(&mut self) -> HashMap<KeyHash, KeyState> {
        std::mem::take(&mut self.priors)
    }

    /// Notes a line. A reward need not be computed again if its line says of which row it is.
    fn note(&mut self, item: &ResultItem, of_row: OfRow) {
        self.batches.insert(item.id.batch);
        let hash = of_row.hash();
        self.made_by = of_row.made_by().or_else(|| self.made_by.take());
        let Some(reward) = item.outcome.reward() else { return };
        self.has_rewards = true;
        let Some(hash) = hash else { return };
        let verdict = match self.verdicts.get(item.outcome.verdict()) {
            Some(verdict) => Arc::clone(verdict),
            None => {
                let verdict: Arc<str> = item.outcome.verdict().into();
                self.verdicts.insert(Arc::clone(&verdict));
                verdict
            }
        };
        let timed_out = matches!(item.outcome, Outcome::TimedOut { .. });
        let prior = KeyState::Prior(Prior { reward, timed_out, verdict, hash });
        self.priors.insert(key_hash(&item.key), prior);
    }

    pub(super) fn write(
        &mut self,
        item: &ResultItem,
        expected: Option<f64>,
        hash: RowHash,
    ) -> Result<(), ScoreError> {
        self.line.clear();
        let (plugin, plugin_digest) =
            self.made_by.as_ref().map(|by| (by.plugin.as_str(), by.digest)).unzip();
        let line = Line { item, expected, row: hex::encode(hash), plugin, plugin_digest };
        serde_json::to_writer(&mut self.line, &line).expect("a result is plain JSON");
        self.line.push(b'\n');
        let written = match &mut self.sink {
            Sink::File(file) => file.write_all(&self.line),
            Sink::Stdout(stdout) => stdout.write_all(&self.line),
        };
        written.map_err(|source| self.failed(source))
    }

    /// Flushes everything written so far to the operating system.
    pub(super) fn flush(&mut self) -> Result<(), ScoreError> {
        let flushed = match &mut self.sink {
            Sink::File(file) => file.flush(),
            Sink::Stdout(stdout) => stdout.flush(),
        };
        flushed.map_err(|source| self.failed(source))
    }

    /// Flushes everything, and syncs a file to its disk.
    pub(super) fn sync(&mut self) -> Result<(), ScoreError> {
        self.flush()?;
        match &self.sink {
            // A pipe or a device has nothing to sync.
            Sink::File(file) if file.get_ref().metadata().is_ok_and(|about| about.is_file()) => {
                file.get_ref().sync_data().map_err(|source| self.failed(source))
            }
            _ => Ok(()),
        }
    }

    fn failed(&self, source: io::Error) -> ScoreError {
        ScoreError::Output { path: self.path.clone(), source }
    }

    fn load(&mut self, file: &File) -> Result<(), ScoreError> {
        let is_file = file.metadata().is_ok_and(|about| about.is_file());
        if !is_file {
            return Ok(());
        }
        let mut lines = BufReader::with_capacity(WRITE_BUFFER_BYTES, file);
        let (mut line, mut number, mut good_bytes) = (Vec::new(), 0, 0);
        loop {
            line.clear();
            let read = (&mut lines).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
            if read.map_err(|source| self.failed(source))? == 0 {
                return Ok(());
            }
            number += 1;
            let whole = line.last() == Some(&b'\n');
            match serde_json::from_slice::<ResultItem>(&line) {
                Ok(item) => self.note(&item, OfRow::read(&line)),
                Err(_) if !whole && is_torn(&line) => {
                    return self.cut_behind(file, good_bytes);
                }
                Err(_) => {
                    let path = self.path.clone();
                    return Err(ScoreError::NotResults { path, line: number });
                }
            };
            good_bytes += line.len() as u64;
            if !whole {
                return self.end_line(file);
            }
        }
    }

    fn cut_behind(&self, mut file: &File, bytes: u64) -> Result<(), ScoreError> {
        file.set_len(bytes)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .map(|_| ())
            .map_err(|source| self.failed(source))
    }

    fn end_line(&self, mut file: &File) -> Result<(), ScoreError> {
        file.write_all(b"\n").map_err(|source| self.failed(source))
    }
}

/// Whether the last line was cut short by a crash in the middle of a write.
fn is_torn(line: &[u8]) -> bool {
    let length = line.len().min(LINE_START.len());
    line[..length] == LINE_START[..length]
}

fn open_locked(path: &Path) -> Result<File, ScoreError> {
    let failed = |source| ScoreError::Output { path: path.to_owned(), source };
    let open = |read| File::options().read(read).append(true).create(true).open(path);
    // A device such as a terminal may be write-only.
    let file = open(true).or_else(|_| open(false)).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ScoreError::OutputInUse { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}
