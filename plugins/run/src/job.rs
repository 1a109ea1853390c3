//! The job: the label of a request, whose response is the program to run.

use std::collections::BTreeMap;

use assay_plugin::Error;
use serde::Deserialize;

pub(crate) const CASES_MAX: usize = 512;
const MS_MAX: u32 = 120_000;
const MEMORY_MIB_MAX: u32 = 4_096;
const COLLECT_MAX: usize = 64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Job {
    /// The language, by a name as in a fenced block.
    pub(crate) language: String,
    /// CPU time; what is absent is the toolchain's default.
    pub(crate) compile_ms: Option<u32>,
    pub(crate) run_ms: Option<u32>,
    pub(crate) memory_mib: Option<u32>,
    #[serde(default = "one_case")]
    pub(crate) cases: Vec<Case>,
    /// The files beside the program, by path.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Files to return.
    #[serde(default)]
    pub(crate) collect: Vec<String>,
}

#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) stdin: String,
    /// Code that is put after the program.
    pub(crate) append: Option<String>,
}

fn one_case() -> Vec<Case> {
    vec![Case::default()]
}

impl Job {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let ranges = [
            ("compile_ms", self.compile_ms, 1, MS_MAX),
            ("run_ms", self.run_ms, 1, MS_MAX),
            ("memory_mib", self.memory_mib, 4, MEMORY_MIB_MAX),
        ];
        for (name, value, least, most) in ranges {
            if value.is_some_and(|value| !(least..=most).contains(&value)) {
                return Err(Error::bad_request(format!("{name} must be {least} to {most}")));
            }
        }
        if self.cases.is_empty() || self.cases.len() > CASES_MAX {
            return Err(Error::bad_request(format!("there must be 1 to {CASES_MAX} cases")));
        }
        if self.collect.len() > COLLECT_MAX {
            return Err(Error::bad_request(format!("collect names more than {COLLECT_MAX} files")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(json: &str) -> bool {
        serde_json::from_str::<Job>(json).map_or(true, |job| job.check().is_err())
    }

    #[test]
    fn a_job_without_sense_is_refused() {
        assert!(!refused(r#"{"language": "python"}"#));
        assert!(!refused(r#"{"language": "c", "cases": [{"stdin": "1"}], "files": {"a": [1]}}"#));
        for odd in [
            "{}",
            r#"{"language": "c", "run_ms": 0}"#,
            r#"{"language": "c", "memory_mib": 100000}"#,
            r#"{"language": "c", "cases": []}"#,
            r#"{"language": "c", "tests": []}"#,
            r#"{"language": "c", "files": {"a": [256]}}"#,
        ] {
            assert!(refused(odd), "{odd}");
        }
    }
}
