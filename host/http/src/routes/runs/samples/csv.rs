//! Samples as CSV (RFC 4180). Texts of tenants are hostile: one that a spreadsheet would run as a formula gets
//! an apostrophe before it.

use assay_api::sample::Sample;

const COLUMNS: [&str; 16] = [
    "id",
    "batch",
    "iteration",
    "key",
    "group",
    "kind",
    "verdict",
    "reward",
    "components",
    "message",
    "arrived_at",
    "finished_at",
    "prompt",
    "response",
    "label",
    "metadata",
];

/// The first line of a file.
pub(super) fn head() -> String {
    format!("{}\r\n", COLUMNS.join(","))
}

/// Adds the line of a sample.
pub(super) fn write(to: &mut Vec<u8>, sample: &Sample) {
    let json = |raw: &Option<Box<serde_json::value::RawValue>>| {
        raw.as_ref().map(|raw| raw.get().to_owned()).unwrap_or_default()
    };
    let components = match sample.components.is_empty() {
        true => String::new(),
        false => serde_json::to_string(&sample.components).expect("names and numbers"),
    };
    let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
    let cells: [String; COLUMNS.len()] = [
        sample.id.to_string(),
        sample.batch.to_string(),
        sample.iteration.to_string(),
        cell(&sample.key),
        cell(&or_empty(&sample.group)),
        or_empty(&sample.kind),
        cell(&or_empty(&sample.verdict)),
        sample.reward.map(|reward| reward.to_string()).unwrap_or_default(),
        cell(&components),
        cell(&or_empty(&sample.message)),
        sample.arrived_at.to_string(),
        sample.finished_at.map(|at| at.to_string()).unwrap_or_default(),
        cell(&or_empty(&sample.prompt)),
        cell(&or_empty(&sample.response)),
        cell(&json(&sample.label)),
        cell(&json(&sample.metadata)),
    ];
    to.extend_from_slice(cells.join(",").as_bytes());
    to.extend_from_slice(b"\r\n");
}

fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    // A negative number is no formula.
    let mark = if is_formula && text.parse::<f64>().is_err() { "'" } else { "" };
    if text.contains([',', '"', '\r', '\n']) {
        return format!("\"{mark}{}\"", text.replace('"', "\"\""));
    }
    format!("{mark}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_no_spreadsheet_runs_one() {
        for (text, expected) in [
            ("plain", "plain"),
            ("", ""),
            ("a,b", "\"a,b\""),
            ("say \"x\"\n", "\"say \"\"x\"\"\n\""),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("@SUM(1,2)", "\"'@SUM(1,2)\""),
            ("-1.5", "-1.5"),
            ("-1+cmd()", "'-1+cmd()"),
        ] {
            assert_eq!(cell(text), expected);
        }
        assert_eq!(head().split(',').count(), COLUMNS.len());
    }
}
