//! Packages in a storage that is a map.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use super::*;
use crate::compare::Comparison;
use crate::limits::UNPACKED_BYTES_MAX;
use crate::problem::{Data, Judge, Protocol};

struct Map(BTreeMap<String, Vec<u8>>);

impl Objects for Map {
    fn get(&self, name: &str) -> Result<Vec<u8>, storage::Error> {
        self.0.get(name).cloned().ok_or_else(|| storage::Error::NotFound(name.into()))
    }

    fn locate(&self, name: &str) -> Result<String, storage::Error> {
        self.get(name).map(|_| format!("digest of {name}"))
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, storage::Error> {
        let below = |name: &&String| name.starts_with(&format!("{folder}/"));
        Ok(self.0.keys().filter(below).cloned().collect())
    }
}

fn open(format: PackageFormat, files: &[(&str, &[u8])]) -> Result<Problem, Error> {
    let map = files.iter().map(|(path, bytes)| (format!("judge/p/{path}"), bytes.to_vec()));
    let task = PackageTask {
        problem: "judge/p/".into(),
        format,
        language: None,
        limits: Default::default(),
    };
    super::read(&Map(map.collect()), &task)
}

fn kattis(yaml: &str, files: &[(&str, &str)]) -> Result<Problem, Error> {
    let tests = [
        ("data/secret/b/2.in", ""),
        ("data/secret/b/2.ans", ""),
        ("data/secret/1.in", ""),
        ("data/secret/1.ans", ""),
        ("data/sample/9.in", ""),
        ("data/sample/9.ans", ""),
        ("problem.yaml", yaml),
    ];
    let all: Vec<(&str, &[u8])> =
        tests.iter().chain(files).map(|(path, text)| (*path, text.as_bytes())).collect();
    open(PackageFormat::Kattis, &all)
}

fn dmoj(yaml: &str, files: &[(&str, &[u8])]) -> Result<Problem, Error> {
    let mut all = vec![("init.yml", yaml.as_bytes()), ("1.in", b"1"), ("1.out", b"2")];
    all.extend_from_slice(files);
    open(PackageFormat::Dmoj, &all)
}

fn refused(result: Result<Problem, Error>, part: &str) {
    match result {
        Err(Error::BadRequest(problem)) => assert!(problem.contains(part), "{problem}"),
        other => panic!("{part}: {other:?}"),
    }
}

#[test]
fn kattis_tests_come_in_order_with_the_default_validator() {
    let problem = kattis("name: Sum\nvalidation: default\n", &[]).expect("a problem");
    let names: Vec<&str> =
        problem.groups.iter().map(|group| group.tests[0].name.as_str()).collect();
    assert_eq!(names, ["sample/9", "secret/1", "secret/b/2"]);
    let test = &problem.groups[1].tests[0];
    assert_eq!(test.input, Data::Object("judge/p/data/secret/1.in".into()));
    assert_eq!(problem.judges, [Judge::Compare(Comparison::Kattis(Default::default()))]);
}

#[test]
fn kattis_limits_and_flags_are_read_in_both_formats() {
    let problem = kattis(
        "validator_flags: float_tolerance 1e-6\nlimits:\n  memory: 512\n  output: 8\n",
        &[
            (".timelimit", "1.5\n"),
            ("data/secret/b/testdata.yaml", "output_validator_flags: case_sensitive\n"),
        ],
    );
    let problem = problem.expect("legacy");
    let limits = problem.limits;
    assert_eq!(
        (limits.cpu_ms, limits.memory_mib, limits.output_kib),
        (Some(1_500), Some(512), Some(8_192))
    );
    assert_eq!(problem.judges.len(), 2);
    assert_ne!(problem.groups[2].tests[0].judge, problem.groups[1].tests[0].judge);
    let problem = kattis(
        "problem_format_version: 2023-07-draft\ntype: pass-fail\nlimits: {time_limit: 3}\n",
        &[("data/secret/test_group.yaml", "output_validator_args: [case_sensitive]\n")],
    );
    let problem = problem.expect("2023-07");
    assert_eq!((problem.limits.cpu_ms, problem.judges.len()), (Some(3_000), 2));
}

#[test]
fn kattis_validators_are_programs() {
    let validator = [
        ("output_validators/v/validate.cc", "int main() {}"),
        ("output_validators/v/validate.h", ""),
    ];
    let yaml = "validation: custom\nvalidator_flags: strict 3\n";
    let problem = kattis(yaml, &validator).expect("a problem");
    let [Judge::Checker(program)] = problem.judges.as_slice() else { panic!("one checker") };
    assert_eq!((program.toolchain.as_str(), program.main.as_deref()), ("cpp", Some("validate.cc")));
    assert_eq!(program.files[0].0, "validate.h");
    assert_eq!(program.protocol, Protocol::Kattis);
    assert_eq!(problem.groups[0].tests[0].args, ["strict", "3"]);
    let problem = kattis("validation: custom interactive\n", &validator).expect("a problem");
    assert!(matches!(problem.judges.as_slice(), [Judge::Interactor(_)]));
    let later = [("output_validator/validate.py", "")];
    let problem = kattis("type: [pass-fail, interactive]\n", &later).expect("a problem");
    assert!(matches!(problem.judges.as_slice(), [Judge::Interactor(_)]));
    // The legacy format ignores a validator that it does not ask for.
    let problem = kattis("validation: default\n", &validator).expect("a problem");
    assert!(matches!(problem.judges.as_slice(), [Judge::Compare(_)]));
}

#[test]
fn what_kattis_packages_may_not_have_is_named() {
    refused(kattis("type: scoring\n", &[]), "`scoring`");
    refused(kattis("validation: custom score\n", &[]), "`score`");
    refused(kattis("type: multi-pass\n", &[]), "`multi-pass`");
    refused(kattis("validation: custom\n", &[]), "there is no output validator");
    refused(kattis("validator_flags: fuzzy\n", &[]), "`fuzzy`");
    refused(kattis("", &[("data/secret/3.in", "")]), "data/secret/3.in has no answer");
    refused(kattis("", &[("include/cpp/grader.cpp", "")]), "include/cpp/grader.cpp");
    refused(kattis("", &[(".timelimit", "soon")]), ".timelimit");
    refused(kattis("limits: {memory: -1}\n", &[]), "limits.memory");
    refused(
        kattis("validation: custom\n", &[("output_validators/v/build", "")]),
        "`build` or `run`",
    );
    refused(
        kattis(
            "validation: custom\n",
            &[("output_validators/v/a.cc", ""), ("output_validators/w/b.cc", "")],
        ),
        "more than one validator",
    );
    refused(open(PackageFormat::Kattis, &[("data/secret/1.in", b"")]), "there is no problem.yaml");
    refused(open(PackageFormat::Kattis, &[("problem.yaml", b"name: a")]), "1 to 2000 tests");
}

#[test]
fn dmoj_cases_batches_and_checkers() {
    let problem = dmoj(
        "test_cases:\n- {in: 1.in, out: 1.out, points: 5}\n- points: 20\n  checker: identical\n  \
         batched:\n  - {in: 1.in, out: 1.out}\n  - {in: 1.in, out: 1.out, checker: {name: floats, args: \
         {precision: 3}}}\nhints: [x]\noutput_limit_length: 2048\n",
        &[],
    );
    let problem = problem.expect("a problem");
    assert_eq!(problem.groups.iter().map(|group| group.points).collect::<Vec<_>>(), [5.0, 20.0]);
    assert_eq!(problem.groups[1].tests[1].name, "2.2");
    assert_eq!(problem.judges.len(), 3);
    assert_eq!(problem.judges[0], Judge::Compare(Comparison::Standard));
    assert_eq!(problem.limits.output_kib, Some(2));
    let python = dmoj(
        "checker: {name: check.py, args: {modulus: 7}}\ntest_cases: [{in: 1.in, out: 1.out}]\n",
        &[("check.py", b"")],
    );
    let problem = python.expect("a problem");
    let [Judge::Checker(program)] = problem.judges.as_slice() else { panic!("one checker") };
    assert_eq!(program.args, ["checker.py", r#"{"modulus":7}"#]);
    let bridged = dmoj(
        "interactive: {files: [talk.cpp], type: testlib, lang: CPP17, flags: [-DA]}\ntest_cases: [{in: 1.in}]\n",
        &[("talk.cpp", b"")],
    );
    let problem = bridged.expect("a problem");
    let [Judge::Interactor(program)] = problem.judges.as_slice() else { panic!("one interactor") };
    assert_eq!(program.options, ["-DA"]);
    assert_eq!(program.protocol, Protocol::Testlib);
}

#[test]
fn programs_of_dmojs_own_type_have_their_own_protocol() {
    let files: [(&str, &[u8]); 1] = [("a.cpp", b"")];
    let tests = "test_cases: [{in: 1.in, out: 1.out}]\n";
    for kind in ["", ", type: default"] {
        let problem = dmoj(&format!("interactive: {{files: a.cpp{kind}}}\n{tests}"), &files);
        let problem = problem.expect("a problem");
        let [Judge::Interactor(program)] = problem.judges.as_slice() else { panic!("one judge") };
        assert_eq!(program.protocol.args(), ["input", "answer"]);
        let checker = format!("checker: {{name: bridged, args: {{files: a.cpp{kind}}}}}\n{tests}");
        let problem = dmoj(&checker, &files).expect("a problem");
        let [Judge::Checker(checker)] = problem.judges.as_slice() else { panic!("one judge") };
        assert_eq!(checker.protocol.args(), ["input", "output", "answer"]);
        for protocol in [program.protocol, checker.protocol] {
            let words = [0, 1, 2].map(|status| protocol.accepts(status));
            assert_eq!(words, [Some(true), Some(false), None]);
            assert_eq!(protocol.accepts(protocol.wrong()), Some(false));
        }
    }
}

#[test]
fn what_dmoj_packages_may_not_have_is_named() {
    refused(
        dmoj("custom_judge: a.py\ntest_cases: [{in: 1.in, out: 1.out}]\n", &[]),
        "custom_judge",
    );
    refused(dmoj("test_cases: [{generator_args: [1]}]\n", &[]), "generator_args");
    refused(dmoj("test_cases: [{in: 1.in}]\n", &[]), "test 1 has no `out`");
    refused(dmoj("test_cases: [{in: 2.in, out: 1.out}]\n", &[]), "there is no file 2.in");
    refused(dmoj("test_cases: []\n", &[]), "1 to 2000 tests");
    refused(dmoj("archive: a.zip\ntest_cases: []\n", &[]), "there is no a.zip");
    refused(dmoj("archive: 1.in\ntest_cases: []\n", &[]), "1.in:");
    let with = |checker: &str| {
        dmoj(&format!("checker: {checker}\ntest_cases: [{{in: 1.in, out: 1.out}}]\n"), &[])
    };
    refused(with("unordered"), "`unordered`");
    refused(with("{name: sorted, args: {split_on: words}}"), "`sorted`");
    refused(with("check.cpp"), "only Python files");
    refused(with("{name: bridged, args: {files: a.cpp, type: coci}}"), "`coci`");
    refused(
        with("{name: bridged, args: {files: a.cpp, args_format_string: x}}"),
        "args_format_string",
    );
}

fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).expect("a file");
        zip.write_all(bytes).expect("its bytes");
    }
    zip.finish().expect("an archive").into_inner()
}

const ARCHIVED: &str = "archive: data.zip\ntest_cases: [{in: a/1.in, out: a/1.out}]\n";

#[test]
fn dmoj_archives_are_unpacked_within_bounds() {
    let zip = zip_of(&[("a/1.in", b"1\r\n2\r"), ("a/1.out", b"3\n")]);
    let problem = dmoj(ARCHIVED, &[("data.zip", &zip)]).expect("a problem");
    assert_eq!(problem.groups[0].tests[0].input, Data::Inline(b"1\n2\n".to_vec()));
    let zeros = vec![0; usize::try_from(UNPACKED_BYTES_MAX).expect("fits") + 1];
    let bomb = zip_of(&[("a/1.in", &zeros), ("a/1.out", b"")]);
    assert!(bomb.len() < 1 << 20, "the archive itself is small: {}", bomb.len());
    refused(dmoj(ARCHIVED, &[("data.zip", &bomb)]), "more than 67108864 bytes");
    refused(dmoj(ARCHIVED, &[("data.zip", &zip[..zip.len() / 2])]), "data.zip");
}
