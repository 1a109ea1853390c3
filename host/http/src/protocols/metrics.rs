//! The metrics that NeMo-Gym's `/aggregate_metrics` computes from verified rows: statistics of every
//! number, over all rows and by task. Masked rows and rows without a reward are left out.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

const TASK: &str = "_ng_task_index";
/// NeMo-Gym's own bookkeeping.
const OWN: &str = "_ng_";

#[derive(Deserialize)]
pub(super) struct Verified {
    verify_responses: Vec<Map<String, Value>>,
}

/// Numbers of rows by their names.
type Columns<'a> = BTreeMap<&'a str, Vec<f64>>;

pub(super) fn aggregate(verified: &Verified) -> Value {
    let usable = |row: &&Map<String, Value>| {
        let masked = row.get("mask_sample").and_then(Value::as_bool).unwrap_or(false);
        !masked && row.get("reward").is_some_and(Value::is_number)
    };
    let mut all = Columns::new();
    let mut tasks: BTreeMap<u64, Columns<'_>> = BTreeMap::new();
    for row in verified.verify_responses.iter().filter(usable) {
        add(&mut all, row);
        if let Some(task) = row.get(TASK).and_then(Value::as_u64) {
            add(tasks.entry(task).or_default(), row);
        }
    }
    let of_task = |(task, columns): (&u64, &Columns<'_>)| {
        let mut metrics = statistics(columns);
        metrics.insert(TASK.into(), (*task).into());
        Value::Object(metrics)
    };
    let groups: Vec<Value> = tasks.iter().map(of_task).collect();
    let overall = statistics(&all);
    let key: Map<String, Value> =
        overall.iter().filter(|(name, _)| name.starts_with("mean/")).map(own).collect();
    json!({ "group_level_metrics": groups, "agent_metrics": overall, "key_metrics": key })
}

fn own((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

fn add<'a>(columns: &mut Columns<'a>, row: &'a Map<String, Value>) {
    for (name, value) in row.iter().filter(|(name, _)| !name.starts_with(OWN)) {
        let number = value.as_f64().or_else(|| value.as_bool().map(|it| f64::from(u8::from(it))));
        if let Some(number) = number {
            columns.entry(name).or_default().push(number);
        }
    }
}

fn statistics(columns: &Columns<'_>) -> Map<String, Value> {
    let mut told = Map::new();
    for (name, values) in columns {
        let mut values = values.clone();
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let middle = f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2]);
        let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
        for (what, value) in [
            ("mean", mean),
            ("max", values[values.len() - 1]),
            ("min", values[0]),
            ("median", middle),
            ("std", deviation),
        ] {
            told.insert(format!("{what}/{name}"), value.into());
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_rows_count_for_nothing() {
        let verified: Verified = serde_json::from_value(json!({ "verify_responses": [
            { "_ng_task_index": 0, "reward": 1.0, "ok": true },
            { "_ng_task_index": 0, "reward": 0.0, "ok": false },
            { "_ng_task_index": 1, "reward": 0.0, "mask_sample": true },
            { "_ng_task_index": 2, "mask_sample": true },
        ] }))
        .expect("rows");
        let told = aggregate(&verified);
        assert_eq!(told["agent_metrics"]["mean/reward"], 0.5);
        assert_eq!(told["agent_metrics"]["max/ok"], 1.0);
        assert_eq!(told["key_metrics"], json!({ "mean/reward": 0.5, "mean/ok": 0.5 }));
        assert_eq!(told["group_level_metrics"].as_array().map(Vec::len), Some(1));
        let none: Verified =
            serde_json::from_value(json!({ "verify_responses": [] })).expect("rows");
        let expected = json!({ "group_level_metrics": [], "agent_metrics": {}, "key_metrics": {} });
        assert_eq!(aggregate(&none), expected);
    }
}
