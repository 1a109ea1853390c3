//! Requests, written once before anything is measured.

use std::path::Path;

use anyhow::{Context, Result};
use assay_api::request::{RewardRequest, SubmitItem};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Requests of one batch.
pub const BATCH_ROWS: usize = 2_048;
/// Prompt and response of a synthetic request together.
pub const BODY_BYTES: usize = 2_048;

/// One request, and what its reward should be where that is known.
#[derive(Debug, Clone, Deserialize)]
pub struct Row {
    #[serde(default)]
    pub prompt: String,
    pub response: String,
    pub label: Option<Box<RawValue>>,
    pub expected: Option<f64>,
}

/// A batch as each side wants it: NDJSON of items, and one JSON array.
#[derive(Clone)]
pub struct Load {
    pub rows: usize,
    pub ndjson: Bytes,
    pub array: Bytes,
}

#[derive(Serialize)]
struct PeerItem<'a> {
    prompt: &'a str,
    response: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a RawValue>,
}

/// A request of `bytes`, different from its neighbours.
pub fn synthetic(number: usize, bytes: usize) -> Row {
    let prompt = format!("Question {number}: which of the following words comes last?");
    let words = "alpha bravo charlie delta echo foxtrot golf hotel india juliett ";
    let length = bytes.saturating_sub(prompt.len());
    let response = words.chars().cycle().skip(number % words.len()).take(length).collect();
    Row { prompt, response, label: None, expected: None }
}

/// Reads JSON lines.
pub fn read(path: &Path) -> Result<Vec<Row>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line)
                .with_context(|| format!("{}, line {}", path.display(), number + 1))
        })
        .collect()
}

/// Writes rows as loads of at most one batch.
pub fn loads(rows: &[Row]) -> Result<Vec<Load>> {
    rows.chunks(BATCH_ROWS).map(|rows| load_from(rows, 0)).collect()
}

/// Writes rows as one load whose keys count from `first`.
pub fn load_from(rows: &[Row], first: usize) -> Result<Load> {
    let mut ndjson = Vec::new();
    let mut items = Vec::with_capacity(rows.len());
    for (number, row) in (first..).zip(rows) {
        let item = SubmitItem {
            key: format!("k{number}"),
            group: Some(format!("g{}", number / 8)),
            prompt: row.prompt.clone(),
            response: row.response.clone(),
            label: row.label.clone(),
            metadata: None,
            expected_ms: None,
        };
        serde_json::to_writer(&mut ndjson, &item)?;
        ndjson.push(b'\n');
        items.push(peer_item(row));
    }
    let array = serde_json::to_vec(&items)?.into();
    Ok(Load { rows: rows.len(), ndjson: ndjson.into(), array })
}

/// One lone request for Assay.
pub fn reward_body(plugin: &str, row: &Row) -> Result<Bytes> {
    let request = RewardRequest {
        plugin: plugin.to_owned(),
        prompt: row.prompt.clone(),
        response: row.response.clone(),
        label: row.label.clone(),
        metadata: None,
        settings: None,
        share_equal: Some(false),
    };
    Ok(serde_json::to_vec(&request)?.into())
}

/// One lone request for the peer.
pub fn peer_body(row: &Row) -> Result<Bytes> {
    Ok(serde_json::to_vec(&peer_item(row))?.into())
}

fn peer_item(row: &Row) -> PeerItem<'_> {
    PeerItem { prompt: &row.prompt, response: &row.response, label: row.label.as_deref() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_whole_batches_of_the_size_asked_for() {
        let rows: Vec<_> = (0..BATCH_ROWS + 5).map(|number| synthetic(number, 2_048)).collect();
        assert!(rows.iter().all(|row| row.prompt.len() + row.response.len() == 2_048));
        let loads = loads(&rows).expect("plain");
        assert_eq!(loads.iter().map(|load| load.rows).collect::<Vec<_>>(), [BATCH_ROWS, 5]);
        let text = std::str::from_utf8(&loads[1].ndjson).expect("text");
        let items: Vec<SubmitItem> =
            text.lines().map(|line| serde_json::from_str(line).expect("an item")).collect();
        assert_eq!(items.len(), 5);
        assert_eq!(items[4].key, "k4");
    }
}
