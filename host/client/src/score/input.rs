//! Reads the file line by line on a thread of its own and cuts it into chunks to submit.
//!
//! Holds one chunk and, for each row, a hash of its key: a repeated key is found wherever it is.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use assay_api::request::SubmitItem;
use assay_core::limits;
use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

use super::output::Prior;
use super::summary::Malformed;
use super::{Options, ScoreError, Sizes};

const READ_BUFFER_BYTES: usize = 1 << 20;
/// The mark with which some programs begin a file of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The fields of [`FileRow`].
const COLUMNS: [&str; 8] =
    ["key", "group", "prompt", "response", "label", "metadata", "expected", "expected_ms"];
/// Maximum number of ignored columns that are named.
const IGNORED_COLUMNS_MAX: usize = 32;
/// The lines whose columns are looked at, as each is read a second time for it.
const COLUMNS_LINES_MAX: u64 = 10_000;

/// A hash in which even chosen keys do not collide.
pub(super) type KeyHash = [u8; 16];

pub(super) fn key_hash(key: &str) -> KeyHash {
    let digest = Sha256::digest(key.as_bytes());
    *digest.first_chunk().expect("a SHA-256 has 32 bytes")
}

/// A hash of what is submitted of a row, and of the settings.
pub(super) type RowHash = [u8; 16];

/// The known state of a key.
pub(super) enum KeyState {
    /// Scored by an earlier call, and not read from the file yet.
    Prior(Prior),
    /// Read from the file.
    Seen,
}

/// A row to submit.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) line: u64,
    pub(super) key: String,
    pub(super) expected: Option<f64>,
    pub(super) hash: RowHash,
}

/// A row that an earlier call scored.
pub(super) struct Skipped {
    pub(super) row: Row,
    pub(super) prior: Prior,
}

/// The rows of one part of the file.
#[derive(Default)]
pub(super) struct Chunk {
    /// The rows to submit, as NDJSON.
    pub(super) body: Bytes,
    pub(super) rows: Vec<Row>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) malformed: Vec<Malformed>,
    /// Columns that no chunk before had and that nothing reads.
    pub(super) ignored_columns: Vec<String>,
    /// Number of bytes read of the file so far.
    pub(super) bytes_read: u64,
    /// Whether the batch ends after this chunk.
    pub(super) ends_batch: bool,
}

#[derive(Deserialize)]
struct FileRow {
    key: String,
    group: Option<String>,
    #[serde(default)]
    prompt: String,
    response: String,
    label: Option<Box<RawValue>>,
    metadata: Option<Box<RawValue>>,
    expected: Option<f64>,
    expected_ms: Option<u32>,
}

pub(super) struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    bytes_total: u64,
    sizes: Sizes,
    settings: String,
    known: HashMap<KeyHash, KeyState>,
    ignored_columns: BTreeSet<String>,
    line: u64,
    bytes_read: u64,
    chunk: Chunk,
    body: Vec<u8>,
    /// Number of rows of the batch so far, and the group of the last row.
    batch_rows: u32,
    group: Option<String>,
}

impl Reader {
    pub(super) fn open(options: &Options) -> Result<Self, ScoreError> {
        let path = options.input.clone();
        let failed = |source| ScoreError::Input { path: options.input.clone(), source };
        let file = File::open(&path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        if about.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        Ok(Self {
            path,
            file: BufReader::with_capacity(READ_BUFFER_BYTES, file),
            bytes_total: about.len(),
            sizes: options.sizes,
            settings: options.settings.as_ref().map_or_else(String::new, |it| it.get().to_owned()),
            known: HashMap::new(),
            ignored_columns: BTreeSet::new(),
            line: 0,
            bytes_read: 0,
            chunk: Chunk::default(),
            body: Vec::new(),
            batch_rows: 0,
            group: None,
        })
    }

    pub(super) fn bytes_total(&self) -> u64 {
        self.bytes_total
    }

    /// Skips the rows of these results.
    pub(super) fn skip(&mut self, priors: HashMap<KeyHash, KeyState>) {
        self.known = priors;
    }

    /// Sends the file chunk by chunk; ends early if the receiver is closed.
    pub(super) fn run(mut self, chunks: &mpsc::Sender<Result<Chunk, ScoreError>>) {
        let mut text = Vec::new();
        loop {
            let ready = match self.read_line(&mut text) {
                Ok(Line::Text) => self.take(&text),
                Ok(Line::TooLong) => {
                    self.malformed(format!("the line has over {} bytes", limits::ITEM_BYTES_MAX))
                }
                Ok(Line::End) => {
                    let last = self.cut(true);
                    // Nobody listening is the listener's choice.
                    drop(chunks.blocking_send(Ok(last)));
                    return;
                }
                Err(source) => {
                    let path = self.path.clone();
                    drop(chunks.blocking_send(Err(ScoreError::Input { path, source })));
                    return;
                }
            };
            if ready.is_some_and(|chunk| chunks.blocking_send(Ok(chunk)).is_err()) {
                return;
            }
        }
    }

    /// Reads one line, of which no more than the limit is held in memory.
    fn read_line(&mut self, text: &mut Vec<u8>) -> io::Result<Line> {
        text.clear();
        let mut too_long = false;
        let mut read_any = false;
        loop {
            let buffer = self.file.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            read_any = true;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..end.unwrap_or(buffer.len())];
            if text.len() + part.len() > limits::ITEM_BYTES_MAX {
                too_long = true;
            } else {
                text.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.file.consume(used);
            self.bytes_read += used as u64;
            if end.is_some() {
                break;
            }
        }
        self.line += u64::from(read_any);
        Ok(match (read_any, too_long) {
            (false, _) => Line::End,
            (true, true) => Line::TooLong,
            (true, false) => Line::Text,
        })
    }

    /// Takes one line; returns the chunk that is ready with or before it.
    fn take(&mut self, text: &[u8]) -> Option<Chunk> {
        let text = match self.line {
            1 => text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text),
            _ => text,
        };
        let text = text.trim_ascii();
        if text.is_empty() {
            return None;
        }
        if !text.starts_with(b"{") {
            return self.malformed(NOT_AN_OBJECT.to_owned());
        }
        let row: FileRow = match serde_json::from_slice(text) {
            Ok(row) => row,
            Err(error) => return self.malformed(json_problem(&error)),
        };
        if let Some(problem) = over_limit(&row) {
            return self.malformed(problem);
        }
        if self.line <= COLUMNS_LINES_MAX {
            self.note_columns(text);
        }
        let FileRow { key, group, prompt, response, label, metadata, expected, expected_ms } = row;
        let known = self.known.insert(key_hash(&key), KeyState::Seen);
        let item = SubmitItem { key, group, prompt, response, label, metadata, expected_ms };
        let body = serde_json::to_vec(&item).expect("an item is plain JSON");
        let (key, hash) = (item.key.clone(), self.row_hash(&body));
        let met = Row { line: self.line, key, expected, hash };
        match known {
            Some(KeyState::Seen) => {
                return self.malformed(format!("the key `{}` occurs earlier in the file", met.key));
            }
            Some(KeyState::Prior(prior)) if prior.hash != hash => {
                return self.malformed(format!(
                    "the row `{}`, or the settings, are others than when the output's reward was computed: name another --output",
                    met.key
                ));
            }
            Some(KeyState::Prior(prior)) => {
                self.chunk.skipped.push(Skipped { row: met, prior });
                return self.cut_if_full();
            }
            None => {}
        }
        let cut_before = self.ends_batch_before(item.group.as_deref()).then(|| self.cut(true));
        self.body.extend_from_slice(&body);
        self.body.push(b'\n');
        self.batch_rows += 1;
        self.group = item.group;
        self.chunk.rows.push(met);
        // A chunk cut just before is not full again by one row, except when rows are huge; then
        // it goes with the next.
        cut_before.or_else(|| self.cut_if_full())
    }

    /// Notes the columns of a row that nothing reads, such as a misspelt `lable`.
    fn note_columns(&mut self, text: &[u8]) {
        let columns: HashMap<String, IgnoredAny> = serde_json::from_slice(text).unwrap_or_default();
        for column in columns.into_keys().filter(|column| !COLUMNS.contains(&column.as_str())) {
            if self.ignored_columns.len() < IGNORED_COLUMNS_MAX
                && self.ignored_columns.insert(column.clone())
            {
                self.chunk.ignored_columns.push(column);
            }
        }
    }

    fn row_hash(&self, body: &[u8]) -> RowHash {
        let digest = Sha256::new_with_prefix(&self.settings).chain_update([0]).chain_update(body);
        *digest.finalize().first_chunk().expect("a SHA-256 has 32 bytes")
    }

    /// A batch ends at its limit; in its last quarter already between two groups, so that the
    /// adjacent rows of a group stay together.
    fn ends_batch_before(&self, group: Option<&str>) -> bool {
        let full = self.sizes.batch_rows.max(1);
        let between_groups = group.is_none() || group != self.group.as_deref();
        self.batch_rows >= full || (self.batch_rows >= full - full / 4 && between_groups)
    }

    fn malformed(&mut self, problem: String) -> Option<Chunk> {
        self.chunk.malformed.push(Malformed { line: self.line, problem });
        self.cut_if_full()
    }

    fn cut_if_full(&mut self) -> Option<Chunk> {
        let Chunk { rows, skipped, malformed, .. } = &self.chunk;
        let full = rows.len() >= self.sizes.chunk_rows
            || self.body.len() >= self.sizes.chunk_bytes
            || skipped.len() + malformed.len() >= self.sizes.chunk_rows;
        full.then(|| self.cut(false))
    }

    fn cut(&mut self, ends_batch: bool) -> Chunk {
        if ends_batch {
            self.batch_rows = 0;
            self.group = None;
        }
        let body = Bytes::from(std::mem::take(&mut self.body));
        let chunk = std::mem::take(&mut self.chunk);
        Chunk { body, bytes_read: self.bytes_read, ends_batch, ..chunk }
    }
}

enum Line {
    Text,
    TooLong,
    End,
}

const NOT_AN_OBJECT: &str =
    r#"the line is not a JSON object such as {"key": "a", "response": "42", "label": "42"}"#;

/// The parser's error without its line number, which is always 1.
fn json_problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(problem, _)| problem);
    // A data error is of a line that is JSON and lacks a field, or has another type in it.
    let said = if error.is_data() { "" } else { "the line is not JSON: " };
    match error.column() {
        0 => format!("{said}{text}"),
        column => format!("{said}{text} (column {column})"),
    }
}

fn over_limit(row: &FileRow) -> Option<String> {
    if row.key.is_empty() {
        return Some("the key is empty".to_owned());
    }
    let raw = |value: &Option<Box<RawValue>>| value.as_ref().map_or(0, |raw| raw.get().len());
    let fields = [
        ("key", row.key.len(), limits::KEY_BYTES_MAX),
        ("group", row.group.as_ref().map_or(0, String::len), limits::GROUP_BYTES_MAX),
        ("prompt", row.prompt.len(), limits::PROMPT_BYTES_MAX),
        ("response", row.response.len(), limits::RESPONSE_BYTES_MAX),
        ("label", raw(&row.label), limits::LABEL_BYTES_MAX),
        ("metadata", raw(&row.metadata), limits::METADATA_BYTES_MAX),
    ];
    fields.into_iter().find(|(_, bytes, limit)| bytes > limit).map(|(field, bytes, limit)| {
        format!("the field `{field}` has {bytes} bytes, the limit is {limit}")
    })
}
