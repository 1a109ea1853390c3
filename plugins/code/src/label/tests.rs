//! Every form of label, and what each refuses.

use super::stdio::Judging;
use super::*;

fn read(label: &str) -> Result<Task, Error> {
    Task::read(&Request::new("", "", label))
}

fn refused(label: &str, part: &str) {
    match read(label) {
        Err(Error::BadRequest(problem)) => assert!(problem.contains(part), "{label}: {problem}"),
        other => panic!("{label}: {other:?}"),
    }
}

#[test]
fn every_form_is_read() {
    let Ok(Task::Stdio(task)) = read(r#"{"tests": [{"input": "1", "output": "2"}]}"#) else {
        panic!("stdio")
    };
    assert_eq!(task.judging, Judging::Compare(None));
    let Ok(Task::Stdio(task)) = read(r#"{"tests": "judge/sum", "language": "cpp"}"#) else {
        panic!("folder")
    };
    assert_eq!(task.tests, TestSource::Folder("judge/sum".into()));
    let row = r#"{"task_id": "HumanEval/0", "prompt": "def f(a):\n", "entry_point": "f",
        "canonical_solution": "    return a\n", "test": "def check(candidate):\n    pass\n"}"#;
    let task = read(row).expect("HumanEval");
    assert_eq!((task.language(), task.completes()), (Some("python"), Some(("def f(a):\n", "f"))));
    let task = read(r#"{"entry_point": "f", "cases": [{"args": [1], "expected": [2]}]}"#);
    assert_eq!(task.expect("cases").completes(), None);
    let task = read(r#"{"tests_code": ["assert f(1) == 2"], "setup_code": "import math"}"#);
    let Task::Function(task) = task.expect("assertions") else { panic!("function") };
    assert_eq!((task.entry_point, task.tests.count()), (None, 1));
    for name in ["Solution().f", "Solution.f"] {
        let label = format!(r#"{{"entry_point": "{name}", "cases": [{{"expected": 2}}]}}"#);
        let Ok(Task::Function(task)) = read(&label) else { panic!("{name}") };
        assert_eq!(task.entry_point.as_deref(), Some("f"));
    }
    let task = read(r#"{"problem": "judge/sum", "format": "kattis", "limits": {"cpu_ms": 5}}"#);
    assert_eq!(task.expect("package").limits().cpu_ms, Some(5));
    let checker = r#"{"tests": [{"input": "1"}], "checker": {"source": "", "toolchain": "cpp"}}"#;
    let Ok(Task::Stdio(task)) = read(checker) else { panic!("checker") };
    assert!(
        matches!(task.judging, Judging::Checker(program) if program.protocol == Protocol::Testlib)
    );
}

use crate::problem::Protocol;

#[test]
fn what_makes_no_sense_is_named() {
    refused("null", "an object is needed");
    refused("{}", "one of `tests`");
    refused(r#"{"tests": [], "language": "cpp"}"#, "1 to 2000 tests");
    refused(r#"{"tests": [{"input": "1"}]}"#, "test 1 has no output");
    refused(r#"{"tests": [{"input": "1", "output": "1", "ouput": "2"}]}"#, "unknown field `ouput`");
    refused(r#"{"tests": "a/b", "lang": "cpp"}"#, "unknown field `lang`");
    refused(r#"{"tests": "a/b", "limits": {"cpu_ms": 999999}}"#, "limits.cpu_ms");
    refused(
        r#"{"tests": "a/b", "compare": "exact", "checker": {"source": "", "toolchain": "cpp"}}"#,
        "only one of",
    );
    refused(
        r#"{"tests": "a/b", "checker": {"source": "", "toolchain": "cpp", "protocol": "cms"}}"#,
        "cms",
    );
    refused(r#"{"entry_point": "f()", "cases": [{"expected": 1}]}"#, "not the name of a function");
    refused(r#"{"entry_point": "f", "cases": []}"#, "1 to 2000 tests");
    refused(r#"{"entry_point": "f", "cases": [{"args": 1, "expected": 1}]}"#, "a sequence");
    refused(r#"{"entry_point": "f", "cases": [{"kwargs": [], "expected": 1}]}"#, "a map");
    refused(r#"{"entry_point": "f", "cases": [{"args": [1]}]}"#, "missing field `expected`");
    refused(r#"{"entry_point": "f", "cases": [{"expected": 1}], "compare": "tokens"}"#, "floats");
    refused(r#"{"entry_point": "f", "test": "def check(c): pass"}"#, "prompt");
    refused(r#"{"problem": "a/b", "format": "icpc"}"#, "icpc");
}

#[test]
fn the_schema_knows_every_form() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let forms = schema["oneOf"].as_array().expect("forms");
    assert_eq!(forms.len(), 5);
    for form in forms {
        assert_eq!(form["additionalProperties"], Value::Bool(false), "{form}");
    }
}
