//! The metrics that NeMo-Gym's `/aggregate_metrics` computes from verified rows: statistics of every
//! number, over all rows and by task. Masked rows and rows without a reward are left out.
//!
//! A list of maps takes many times the memory of a body with many small rows, so each row is added to columns of numbers
//! when it is read, and dropped.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use assay_core::limits;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const TASK: &str = "_ng_task_index";
/// NeMo-Gym's own bookkeeping.
const OWN: &str = "_ng_";
const MASK: &str = "mask_sample";
const REWARD: &str = "reward";

/// The names of the statistics of a column.
const STATISTICS: [&str; 5] = ["max", "mean", "median", "min", "std"];
const MEAN: usize = 1;

/// The body of a call: the rows, of which only numbers are kept.
#[derive(Deserialize)]
pub(super) struct Verified {
    verify_responses: VerifiedColumns,
}

impl Verified {
    /// The answer as JSON. Takes a while where there are many rows.
    pub(super) fn into_metrics(self) -> Vec<u8> {
        serde_json::to_vec(&self.verify_responses.metrics()).expect("names and numbers")
    }
}

/// Numbers of rows by their names, which all tasks share.
type Columns = BTreeMap<Arc<str>, Vec<f64>>;

/// The numbers of the rows that count.
#[derive(Default)]
struct VerifiedColumns {
    all: Columns,
    tasks: BTreeMap<u64, Columns>,
    /// The columns of all rows and of each task.
    count: usize,
}

impl VerifiedColumns {
    fn add(&mut self, row: &VerifiedRow) -> Result<(), String> {
        let masked = matches!(row.0.get(MASK), Some(RowValue::Flag(true)));
        let reward = row.0.get(REWARD);
        if masked || !matches!(reward, Some(RowValue::Whole(_) | RowValue::Number(_))) {
            return Ok(());
        }
        let mut task = match row.0.get(TASK) {
            Some(RowValue::Whole(task)) => Some(self.tasks.entry(*task).or_default()),
            _ => None,
        };
        for (name, value) in row.0.iter().filter(|(name, _)| !name.starts_with(OWN)) {
            let known = self.all.get_key_value(&**name).map(|(name, _)| name.clone());
            let name = known.map_or_else(|| new_name(name), Ok)?;
            let number = value.number();
            self.count += usize::from(push(&mut self.all, &name, number));
            if let Some(task) = &mut task {
                self.count += usize::from(push(task, &name, number));
            }
            check_columns(self.count)?;
        }
        Ok(())
    }

    fn metrics(self) -> Metrics {
        let of_task =
            |(task, columns)| ColumnStatistics { task: Some(task), ..statistics(columns) };
        let group_level_metrics = self.tasks.into_iter().map(of_task).collect();
        let agent_metrics = Arc::new(statistics(self.all));
        let key_metrics = KeyMetrics(agent_metrics.clone());
        Metrics { agent_metrics, group_level_metrics, key_metrics }
    }
}

/// Whether the column is a new one.
fn push(columns: &mut Columns, name: &Arc<str>, number: f64) -> bool {
    match columns.get_mut(name) {
        Some(numbers) => numbers.push(number),
        None => return columns.insert(name.clone(), vec![number]).is_none(),
    }
    false
}

fn new_name(name: &str) -> Result<Arc<str>, String> {
    let max = limits::COMPAT_FIELD_BYTES_MAX;
    if name.len() > max {
        return Err(format!("the name of a number has more than {max} bytes"));
    }
    Ok(name.into())
}

fn check_columns(count: usize) -> Result<(), String> {
    let max = limits::METRIC_COLUMNS_MAX;
    if count > max {
        return Err(format!(
            "the rows have more than {max} columns of numbers, of all rows and of each task: send fewer tasks in one call"
        ));
    }
    Ok(())
}

impl<'de> Deserialize<'de> for VerifiedColumns {
    fn deserialize<D: Deserializer<'de>>(rows: D) -> Result<Self, D::Error> {
        struct RowsVisitor;

        impl<'de> Visitor<'de> for RowsVisitor {
            type Value = VerifiedColumns;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of rows")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Self::Value, A::Error> {
                let mut columns = VerifiedColumns::default();
                let mut count = 0;
                while let Some(row) = rows.next_element::<VerifiedRow>()? {
                    count += 1;
                    if count > limits::METRIC_ROWS_MAX {
                        let max = limits::METRIC_ROWS_MAX;
                        return Err(A::Error::custom(format!("there are more than {max} rows")));
                    }
                    columns.add(&row).map_err(A::Error::custom)?;
                }
                Ok(columns)
            }
        }

        rows.deserialize_seq(RowsVisitor)
    }
}

/// The numbers and flags of one row.
struct VerifiedRow(BTreeMap<String, RowValue>);

impl<'de> Deserialize<'de> for VerifiedRow {
    fn deserialize<D: Deserializer<'de>>(row: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = VerifiedRow;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row, which is an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
                let mut row = BTreeMap::new();
                while let Some(name) = fields.next_key::<String>()? {
                    // The last value of a name counts, whatever it is.
                    match fields.next_value::<FieldValue>()?.0 {
                        Some(value) => drop(row.insert(name, value)),
                        None => drop(row.remove(&name)),
                    }
                    check_columns(row.len()).map_err(A::Error::custom)?;
                }
                Ok(VerifiedRow(row))
            }
        }

        row.deserialize_map(FieldsVisitor)
    }
}

/// A value of a row that is a number or a flag.
#[derive(Clone, Copy)]
enum RowValue {
    Whole(u64),
    Number(f64),
    Flag(bool),
}

impl RowValue {
    fn number(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Number(number) => number,
            Self::Flag(flag) => f64::from(u8::from(flag)),
        }
    }
}

/// Any value; `None` if it is neither a number nor a flag.
struct FieldValue(Option<RowValue>);

impl<'de> Deserialize<'de> for FieldValue {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        struct FieldValueVisitor;

        impl<'de> Visitor<'de> for FieldValueVisitor {
            type Value = Option<RowValue>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
                Ok(Some(RowValue::Flag(flag)))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Some(RowValue::Whole(number)))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Some(RowValue::Number(number as f64)))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Some(RowValue::Number(number)))
            }

            fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(None)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
                while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(None)
            }
        }

        value.deserialize_any(FieldValueVisitor).map(Self)
    }
}

#[derive(Serialize)]
struct Metrics {
    agent_metrics: Arc<ColumnStatistics>,
    group_level_metrics: Vec<ColumnStatistics>,
    key_metrics: KeyMetrics,
}

/// The statistics of columns, each after its name.
struct ColumnStatistics {
    task: Option<u64>,
    of_columns: Vec<(Arc<str>, [f64; STATISTICS.len()])>,
}

impl Serialize for ColumnStatistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(task) = self.task {
            map.serialize_entry(TASK, &task)?;
        }
        for (at, statistic) in STATISTICS.into_iter().enumerate() {
            for (name, values) in &self.of_columns {
                map.serialize_entry(&format!("{statistic}/{name}"), &values[at])?;
            }
        }
        map.end()
    }
}

/// The means of all rows.
struct KeyMetrics(Arc<ColumnStatistics>);

impl Serialize for KeyMetrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let statistic = STATISTICS[MEAN];
        let mean = |(name, values): &(Arc<str>, [f64; STATISTICS.len()])| {
            (format!("{statistic}/{name}"), values[MEAN])
        };
        serializer.collect_map(self.0.of_columns.iter().map(mean))
    }
}

fn statistics(columns: Columns) -> ColumnStatistics {
    let of_column = |(name, mut values): (Arc<str>, Vec<f64>)| {
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let median = f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2]);
        let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
        (name, [values[values.len() - 1], mean, median, values[0], deviation])
    };
    ColumnStatistics { task: None, of_columns: columns.into_iter().map(of_column).collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::extract::body;
    use crate::problem::ApiError;

    fn told(body: &[u8]) -> Result<Value, String> {
        let verified: Verified = body::parse(body).map_err(|error: ApiError| error.detail)?;
        Ok(serde_json::from_slice(&verified.into_metrics()).expect("JSON"))
    }

    fn aggregate(rows: &Value) -> Result<Value, String> {
        told(json!({ "verify_responses": rows }).to_string().as_bytes())
    }

    #[test]
    fn masked_rows_count_for_nothing() {
        let rows = json!([
            { "_ng_task_index": 0, "reward": 1.0, "ok": true },
            { "_ng_task_index": 0, "reward": 0.0, "ok": false },
            { "_ng_task_index": 1, "reward": 0.0, "mask_sample": true },
            { "_ng_task_index": 2, "mask_sample": true },
        ]);
        let told = aggregate(&rows).expect("rows");
        assert_eq!(told["agent_metrics"]["mean/reward"], 0.5);
        assert_eq!(told["agent_metrics"]["max/ok"], 1.0);
        assert_eq!(told["key_metrics"], json!({ "mean/reward": 0.5, "mean/ok": 0.5 }));
        assert_eq!(told["group_level_metrics"].as_array().map(Vec::len), Some(1));
        assert_eq!(told["group_level_metrics"][0]["_ng_task_index"], 0);
        assert_eq!(told["group_level_metrics"][0]["mean/ok"], 0.5);
        let expected = json!({ "group_level_metrics": [], "agent_metrics": {}, "key_metrics": {} });
        assert_eq!(aggregate(&json!([])), Ok(expected));
    }

    #[test]
    fn a_column_has_five_statistics() {
        let rows = json!([
            { "reward": 1, "text": "a", "list": [1], "map": { "b": 2 }, "null": null },
            { "reward": -2 }, { "reward": 4.5 }, { "reward": true },
        ]);
        let told = aggregate(&rows).expect("rows");
        let agent = told["agent_metrics"].as_object().expect("an object");
        let names: Vec<&str> = agent.keys().map(String::as_str).collect();
        let expected = ["max/reward", "mean/reward", "median/reward", "min/reward", "std/reward"];
        assert_eq!(names, expected);
        let value = |name: &str| agent[name].as_f64().expect("a number");
        assert_eq!((value("max/reward"), value("min/reward")), (4.5, -2.0));
        assert_eq!(value("median/reward"), 1.0);
        assert!((value("mean/reward") - 3.5 / 3.0).abs() < 1e-12);
        assert!((value("std/reward") - 3.253_2).abs() < 1e-4);
    }

    #[test]
    fn the_last_value_of_a_name_counts() {
        let body = br#"{"verify_responses":[{"reward":1,"a":1,"a":"x","b":"x","b":2}]}"#;
        let told = told(body).expect("rows");
        assert_eq!(told["key_metrics"], json!({ "mean/reward": 1.0, "mean/b": 2.0 }));
    }

    #[test]
    fn a_body_beyond_a_limit_is_refused() {
        let check = |rows: Value, said: &str| {
            let refused = aggregate(&rows).expect_err(said);
            assert!(refused.contains(said), "{refused}");
        };
        let max = limits::METRIC_ROWS_MAX;
        let row = json!({ "reward": 1 });
        assert!(aggregate(&Value::from(vec![row.clone(); max])).is_ok());
        check(vec![row; max + 1].into(), "there are more than 131072 rows");
        let long = "x".repeat(limits::COMPAT_FIELD_BYTES_MAX + 1);
        check(json!([{ "reward": 1, (long): 2 }]), "more than 256 bytes");
        let tasks = |count: usize| -> Vec<Value> {
            let row = |task| json!({ "reward": 1, "ok": true, "_ng_task_index": task });
            (0..count).map(row).collect()
        };
        let fit = limits::METRIC_COLUMNS_MAX / 2 - 1;
        assert!(aggregate(&tasks(fit).into()).is_ok());
        check(tasks(fit + 1).into(), "more than 131072 columns");
        let wide: serde_json::Map<_, _> =
            (0..=limits::METRIC_COLUMNS_MAX).map(|at| (at.to_string(), at.into())).collect();
        check(json!([wide]), "more than 131072 columns");
    }
}
