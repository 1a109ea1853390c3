//! Files are read back by the library's own reader of rows.

use std::collections::BTreeMap;

use assay_api::sample::Sample;
use assay_core::id::{BatchId, RequestId};
use assay_core::time::Micros;
use assay_parquet::ParquetFile;
use bytes::Bytes;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::value::RawValue;
use uuid::Uuid;

fn sample(seq: u32) -> Sample {
    let batch = BatchId(Uuid::from_u128(7));
    Sample {
        id: RequestId { batch, seq },
        batch,
        iteration: 3,
        key: format!("key-{seq}"),
        group: None,
        kind: None,
        verdict: None,
        reward: None,
        components: BTreeMap::new(),
        message: None,
        arrived_at: Micros(1_700_000_000_000_000),
        finished_at: None,
        prompt: None,
        response: None,
        label: None,
        metadata: None,
    }
}

fn json(text: &str) -> Option<Box<RawValue>> {
    Some(RawValue::from_string(text.to_owned()).expect("JSON"))
}

/// The rows of a file that is written in these pieces, and its number of row groups.
fn read_back(pieces: Vec<Vec<Sample>>) -> (Vec<Row>, usize) {
    let mut file = ParquetFile::new();
    let mut bytes = Vec::new();
    for piece in pieces {
        bytes.extend(file.add(piece).expect("a piece"));
    }
    bytes.extend(file.finish().expect("the rest"));
    let reader = SerializedFileReader::new(Bytes::from(bytes)).expect("a whole file");
    let rows = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
    (rows, reader.num_row_groups())
}

fn fields(row: &Row) -> BTreeMap<&str, &Field> {
    row.get_column_iter().map(|(name, field)| (name.as_str(), field)).collect()
}

#[test]
fn every_field_comes_back() {
    let full = Sample {
        group: Some("g\0\u{1f600}\"'".into()),
        kind: Some("scored".into()),
        verdict: Some("=cmd()".into()),
        reward: Some(-0.25),
        components: [("a".to_owned(), 0.5)].into(),
        message: Some(String::new()),
        finished_at: Some(Micros(1_700_000_000_000_001)),
        prompt: Some("two\nlines".into()),
        response: Some("x".repeat(100_000)),
        label: json(r#"{"answer": 4}"#),
        metadata: json("null"),
        ..sample(1)
    };
    let (rows, groups) = read_back(vec![vec![full], vec![sample(2)]]);
    assert_eq!((rows.len(), groups), (2, 1));
    let text = |text: &str| Field::Str(text.to_owned());
    let id = RequestId { batch: BatchId(Uuid::from_u128(7)), seq: 1 }.to_string();
    for (name, expected) in [
        ("id", text(&id)),
        ("batch", text(&BatchId(Uuid::from_u128(7)).to_string())),
        ("iteration", Field::Long(3)),
        ("key", text("key-1")),
        ("group", text("g\0\u{1f600}\"'")),
        ("kind", text("scored")),
        ("verdict", text("=cmd()")),
        ("reward", Field::Double(-0.25)),
        ("components", text(r#"{"a":0.5}"#)),
        ("message", text("")),
        ("arrived_at", Field::TimestampMicros(1_700_000_000_000_000)),
        ("finished_at", Field::TimestampMicros(1_700_000_000_000_001)),
        ("prompt", text("two\nlines")),
        ("response", text(&"x".repeat(100_000))),
        ("label", text(r#"{"answer": 4}"#)),
        ("metadata", text("null")),
    ] {
        assert_eq!(fields(&rows[0])[name], &expected, "{name}");
    }
    for (name, field) in fields(&rows[1]) {
        let always = ["id", "batch", "iteration", "key", "arrived_at"].contains(&name);
        assert_eq!(*field == Field::Null, !always, "{name} is {field:?}");
    }
}

#[test]
fn a_long_file_comes_in_row_groups_and_is_taken_as_it_grows() {
    let mut file = ParquetFile::new();
    let taken: Vec<usize> = (0..20)
        .map(|piece| {
            let samples = (0..1_000).map(|at| sample(piece * 1_000 + at));
            file.add(samples).expect("a piece").len()
        })
        .collect();
    assert!(taken.iter().filter(|bytes| **bytes > 0).count() >= 2, "{taken:?}");
    let rest = file.finish().expect("the rest");
    assert!(!rest.is_empty());

    let (rows, groups) = read_back(
        (0..20).map(|piece| (0..1_000).map(|at| sample(piece * 1_000 + at)).collect()).collect(),
    );
    assert_eq!((rows.len(), groups), (20_000, 3));
    let key = |at: usize| fields(&rows[at])["key"].to_string();
    assert_eq!((key(0), key(19_999)), ("\"key-0\"".into(), "\"key-19999\"".into()));
}

#[test]
fn large_texts_fill_a_row_group_early() {
    let large = |seq| Sample { response: Some("y".repeat(3 << 20)), ..sample(seq) };
    let (rows, groups) = read_back(vec![(0..7).map(large).collect()]);
    assert_eq!((rows.len(), groups), (7, 3));
}

#[test]
fn a_run_without_samples_is_a_file_without_rows() {
    let (rows, _) = read_back(Vec::new());
    assert_eq!(rows.len(), 0);
}
