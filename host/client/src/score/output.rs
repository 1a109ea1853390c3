//! The results file: one JSON object per line, appended only, and read back by the next call.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_api::result::ResultItem;
use assay_core::id::BatchId;
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
    /// The hash of the row whose reward it is, if its line has that.
    pub(super) hash: Option<RowHash>,
}

/// One line: the server's result, the row's expected reward, and a hash of the row.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    item: &'a ResultItem,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<String>,
}

/// The part of a line that is not the result.
#[derive(Deserialize)]
struct OfRow {
    row: Option<String>,
}

impl OfRow {
    fn hash(line: &[u8]) -> Option<RowHash> {
        let text = serde_json::from_slice::<Self>(line).ok()?.row?;
        hex::decode(text).ok()?.try_into().ok()
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
    /// The batches with results in the file, each with its last cursor.
    batches: BTreeMap<BatchId, u32>,
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
            batches: BTreeMap::new(),
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

    pub(super) fn batches(&self) -> &BTreeMap<BatchId, u32> {
        &self.batches
    }

    /// The results in the file, which the reader skips.
    pub(super) fn take_priors(&mut self) -> HashMap<KeyHash, KeyState> {
        std::mem::take(&mut self.priors)
    }

    /// Notes a result that need not be computed again; false if it has no reward or is known.
    pub(super) fn note(&mut self, item: &ResultItem, hash: Option<RowHash>) -> bool {
        let cursor = self.batches.entry(item.id.batch).or_default();
        *cursor = item.cursor.max(*cursor);
        let Some(reward) = item.outcome.reward() else { return false };
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
        self.priors.insert(key_hash(&item.key), prior).is_none()
    }

    pub(super) fn write(
        &mut self,
        item: &ResultItem,
        expected: Option<f64>,
        hash: Option<RowHash>,
    ) -> Result<(), ScoreError> {
        self.line.clear();
        let row = hash.map(hex::encode);
        serde_json::to_writer(&mut self.line, &Line { item, expected, row })
            .expect("a result is plain JSON");
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
                Ok(item) => self.note(&item, OfRow::hash(&line)),
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
