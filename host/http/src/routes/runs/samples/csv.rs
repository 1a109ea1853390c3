//! Samples as CSV (RFC 4180). Texts of tenants are hostile: where a spreadsheet would run a part of one as a formula,
//! an apostrophe comes before it.

use std::borrow::Cow;

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

/// The characters that separate cells where a spreadsheet reads a file by rules other than those of RFC 4180: with
/// semicolons, as in regions with decimal commas, with tabs, or without regard to quotes.
const SEPARATORS: [char; 6] = [',', ';', '\t', '|', '\r', '\n'];
/// The characters with which a formula begins; those of full width are read as the plain ones.
const FORMULAS: [char; 8] = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

fn cell(text: &str) -> String {
    // A negative number is no formula.
    let text = match text.parse::<f64>() {
        Ok(_) => Cow::Borrowed(text),
        Err(_) => without_formulas(text),
    };
    // A text with any separator is quoted, so that it stays one cell for readers that know quotes.
    if text.contains('"') || text.contains(SEPARATORS) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.into_owned()
}

/// The text with an apostrophe before each formula that it begins with, or that follows a separator in it. Space
/// and quotes before a formula do not hide it.
fn without_formulas(text: &str) -> Cow<'_, str> {
    if !text.contains(FORMULAS) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 1);
    let mut begins = true;
    for character in text.chars() {
        if begins && FORMULAS.contains(&character) {
            safe.push('\'');
        }
        safe.push(character);
        let is_separator = SEPARATORS.contains(&character);
        begins = is_separator || (begins && (character.is_whitespace() || character == '"'));
    }
    Cow::Owned(safe)
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
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            ("@SUM(1,2)", "\"'@SUM(1,2)\""),
            ("-1.5", "-1.5"),
            ("-1+cmd()", "'-1+cmd()"),
            ("1;=1+1", "\"1;'=1+1\""),
            ("a;\"=1+1", "\"a;\"\"'=1+1\""),
            ("a\t@x", "\"a\t'@x\""),
            ("a\n -1+1", "\"a\n '-1+1\""),
            (" =1+1", " '=1+1"),
            ("\u{ff1d}1+1", "'\u{ff1d}1+1"),
            ("a=1; b", "\"a=1; b\""),
            ("x - y", "x - y"),
        ] {
            assert_eq!(cell(text), expected);
        }
        assert_eq!(head().split(',').count(), COLUMNS.len());
    }
}
