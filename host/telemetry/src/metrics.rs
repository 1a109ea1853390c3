//! The metrics of `GET /metrics`, from their text to OTLP, so that both say the same.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, Sum,
};

use crate::text;

/// The start of what counters count, and the time of their values, in nanoseconds since the epoch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountedTime {
    pub(crate) start: u64,
    pub(crate) now: u64,
}

/// One line: a name, its labels in order, and a value.
struct MetricLine<'a> {
    name: &'a str,
    labels: BTreeMap<&'a str, String>,
    value: f64,
}

/// Reads counters, gauges and histograms in the Prometheus text format. Metrics of other kinds are left out: Assay has none.
pub(crate) fn metrics(page: &str, period: CountedTime) -> Vec<Metric> {
    let mut kinds: BTreeMap<&str, &str> = BTreeMap::new();
    let mut samples: BTreeMap<&str, Vec<MetricLine<'_>>> = BTreeMap::new();
    for line in page.lines().map(str::trim) {
        if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|it| it.split_once(' ')) {
            kinds.insert(name, kind.trim());
        } else if let Some(sample) = (!line.starts_with('#')).then(|| sample(line)).flatten() {
            let family = family(sample.name, &kinds);
            samples.entry(family).or_default().push(sample);
        }
    }
    let metric = |(name, samples): (&str, Vec<MetricLine<'_>>)| {
        let data = match *kinds.get(name)? {
            "counter" => Data::Sum(Sum {
                data_points: samples.into_iter().map(|it| number(it, period)).collect(),
                aggregation_temporality: AggregationTemporality::Cumulative.into(),
                is_monotonic: true,
            }),
            "gauge" => {
                let data_points = samples.into_iter().map(|it| number(it, period)).collect();
                Data::Gauge(Gauge { data_points })
            }
            "histogram" => Data::Histogram(Histogram {
                data_points: histograms(name, samples, period),
                aggregation_temporality: AggregationTemporality::Cumulative.into(),
            }),
            _ => return None,
        };
        let unit = if name.ends_with("_seconds") { "s" } else { "" };
        Some(Metric { name: name.into(), unit: unit.into(), data: Some(data), ..Metric::default() })
    };
    samples.into_iter().filter_map(metric).collect()
}

/// The metric that a line belongs to: a histogram has several names.
fn family<'a>(name: &'a str, kinds: &BTreeMap<&str, &str>) -> &'a str {
    let suffixes = ["_bucket", "_sum", "_count"];
    let base = suffixes.iter().find_map(|suffix| name.strip_suffix(suffix));
    base.filter(|base| kinds.get(base) == Some(&"histogram")).unwrap_or(name)
}

fn sample(line: &str) -> Option<MetricLine<'_>> {
    let (name, rest) = match line.find('{') {
        Some(at) => (&line[..at], &line[at + 1..]),
        None => {
            let (name, value) = line.split_once(' ')?;
            let labels = BTreeMap::new();
            return Some(MetricLine { name, labels, value: value.trim().parse().ok()? });
        }
    };
    let (labels, rest) = labels(rest)?;
    Some(MetricLine { name, labels, value: rest.trim().parse().ok()? })
}

/// The labels up to the closing brace, and what follows it.
fn labels(mut rest: &str) -> Option<(BTreeMap<&str, String>, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some((labels, after));
        }
        let (key, quoted) = rest.split_once("=\"")?;
        let (value, after) = quoted_text(quoted)?;
        labels.insert(key, value);
        rest = after;
    }
}

/// A text up to its closing quote, without its escapes, and what follows it.
fn quoted_text(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match chars.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
    None
}

fn attributes(labels: BTreeMap<&str, String>) -> Vec<KeyValue> {
    labels.into_iter().map(|(key, value)| text(key, value)).collect()
}

fn number(sample: MetricLine<'_>, period: CountedTime) -> NumberDataPoint {
    NumberDataPoint {
        attributes: attributes(sample.labels),
        start_time_unix_nano: period.start,
        time_unix_nano: period.now,
        value: Some(Value::AsDouble(sample.value)),
        ..NumberDataPoint::default()
    }
}

/// The parts of one histogram: its cumulative buckets by upper bound, its sum and its count.
#[derive(Default)]
struct HistogramParts {
    buckets: Vec<(f64, u64)>,
    sum: f64,
    count: u64,
}

fn histograms(
    name: &str,
    samples: Vec<MetricLine<'_>>,
    period: CountedTime,
) -> Vec<HistogramDataPoint> {
    let mut by_labels: BTreeMap<BTreeMap<&str, String>, HistogramParts> = BTreeMap::new();
    for mut sample in samples {
        let bound = sample.labels.remove("le").and_then(|bound| bound.parse().ok());
        let parts = by_labels.entry(sample.labels).or_default();
        match (sample.name.strip_prefix(name), bound) {
            (Some("_bucket"), Some(bound)) => parts.buckets.push((bound, sample.value as u64)),
            (Some("_sum"), _) => parts.sum = sample.value,
            (Some("_count"), _) => parts.count = sample.value as u64,
            _ => {}
        }
    }
    let point = |(labels, mut parts): (BTreeMap<&str, String>, HistogramParts)| {
        parts.buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut below = 0;
        let bucket_counts = parts.buckets.iter().map(|(_, upto)| {
            let count = upto.saturating_sub(below);
            below = *upto;
            count
        });
        HistogramDataPoint {
            bucket_counts: bucket_counts.collect(),
            // The last bucket has no bound.
            explicit_bounds: parts
                .buckets
                .iter()
                .map(|(bound, _)| *bound)
                .filter(|bound| bound.is_finite())
                .collect(),
            attributes: attributes(labels),
            start_time_unix_nano: period.start,
            time_unix_nano: period.now,
            count: parts.count,
            sum: Some(parts.sum),
            ..HistogramDataPoint::default()
        }
    };
    by_labels.into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"
# HELP assay_requests_total Requests.
# TYPE assay_requests_total counter
assay_requests_total{outcome="scored"} 41
assay_requests_total{outcome="error"} 1

# TYPE assay_live_batches gauge
assay_live_batches 2.5

# TYPE assay_tenant_waiting gauge
assay_tenant_waiting{cause="worker",pool="a \"b\"\\c,d}"} 3

# TYPE assay_request_stage_seconds histogram
assay_request_stage_seconds_bucket{pool="cpu",le="0.1"} 3
assay_request_stage_seconds_bucket{pool="cpu",le="1"} 5
assay_request_stage_seconds_bucket{pool="cpu",le="+Inf"} 6
assay_request_stage_seconds_sum{pool="cpu"} 7.5
assay_request_stage_seconds_count{pool="cpu"} 6
# TYPE other untyped
other 1
nonsense
"#;

    fn read() -> BTreeMap<String, Metric> {
        let metrics = metrics(PAGE, CountedTime { start: 10, now: 20 });
        metrics.into_iter().map(|metric| (metric.name.clone(), metric)).collect()
    }

    fn data(name: &str) -> Data {
        read().remove(name).and_then(|metric| metric.data).expect("it is there")
    }

    #[test]
    fn counters_are_sums_since_the_start() {
        let Data::Sum(sum) = data("assay_requests_total") else { panic!("it is a counter") };
        assert!(sum.is_monotonic);
        assert_eq!(sum.aggregation_temporality(), AggregationTemporality::Cumulative);
        let values: Vec<_> = sum.data_points.iter().map(|point| point.value).collect();
        assert_eq!(values, [Some(Value::AsDouble(41.0)), Some(Value::AsDouble(1.0))]);
        let point = &sum.data_points[0];
        assert_eq!((point.start_time_unix_nano, point.time_unix_nano), (10, 20));
        assert_eq!(point.attributes, [text("outcome", "scored")]);
    }

    #[test]
    fn gauges_keep_their_labels_whatever_is_in_them() {
        let Data::Gauge(gauge) = data("assay_live_batches") else { panic!("it is a gauge") };
        assert_eq!(gauge.data_points[0].value, Some(Value::AsDouble(2.5)));
        let Data::Gauge(gauge) = data("assay_tenant_waiting") else { panic!("it is a gauge") };
        let wanted = [text("cause", "worker"), text("pool", r#"a "b"\c,d}"#)];
        assert_eq!(gauge.data_points[0].attributes, wanted);
    }

    #[test]
    fn histograms_have_counts_of_their_own_in_each_bucket() {
        let metric = read().remove("assay_request_stage_seconds").expect("it is there");
        assert_eq!(metric.unit, "s");
        let Some(Data::Histogram(histogram)) = metric.data else { panic!("it is a histogram") };
        let [point] = &histogram.data_points[..] else { panic!("it has one set of labels") };
        assert_eq!(point.bucket_counts, [3, 2, 1]);
        assert_eq!(point.explicit_bounds, [0.1, 1.0]);
        assert_eq!((point.count, point.sum), (6, Some(7.5)));
        assert_eq!(point.attributes, [text("pool", "cpu")]);
    }

    #[test]
    fn nothing_else_is_taken_for_a_metric() {
        assert_eq!(read().len(), 4);
    }
}
