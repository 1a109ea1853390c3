use super::*;
use assay_exec::outcome::LimitKind;
use assay_exec::{CompareMode, Matched};

const ECHO: &str = "import sys; sys.stdout.write(sys.stdin.read())";

fn expecting(stdin: &str, stdout: &str, compare: CompareMode) -> TestCase {
    TestCase { expect: Some((Blob::Inline(stdout.into()), compare)), ..case(stdin) }
}

#[test]
fn cases_run_in_order_and_are_compared() {
    let mut fixture = Fixture::new();
    let program = fixture.program("cpython-3", ECHO);
    let cases = vec![
        expecting("1 2\n", "1 2\n", CompareMode::Exact),
        expecting("1 2 \n\n", "1 2", CompareMode::TrimLines),
        expecting("1\n2", "1 2", CompareMode::Tokens),
        expecting("0.33333", "0.333333333", CompareMode::Floats { absolute: 1e-4, relative: 0.0 }),
        expecting("1", "2", CompareMode::Tokens),
        case("x"),
    ];
    let results = fixture.exec.run(&fixture.caller, &program, &batch(cases)).unwrap();
    use Matched::{Different, Equal, NotCompared};
    let matched: Vec<_> = results.iter().map(|result| result.matched).collect();
    assert_eq!(matched, [Equal, Equal, Equal, Equal, Different, NotCompared]);
    let indices: Vec<_> = results.iter().map(|result| result.index).collect();
    assert_eq!(indices, [0, 1, 2, 3, 4, 5]);
    assert!(results.iter().all(|result| result.attempts == 1));
}

#[test]
fn a_batch_stops_where_it_is_told_to() {
    let mut fixture = Fixture::new();
    let program =
        fixture.program("cpython-3", "import sys\nn = input(); print(n); sys.exit(n == '2')");
    let cases = || {
        (0..5).map(|n| {
            expecting(
                &format!("{n}\n"),
                if n == 1 { "x" } else { "0 1 2 3 4" },
                CompareMode::Tokens,
            )
        })
    };
    let mut run = |stop| {
        let batch = TestBatch { stop, ..batch(cases().skip(1).collect()) };
        fixture.exec.run(&fixture.caller, &program, &batch).unwrap().len()
    };
    assert_eq!(run(StopAt::Never), 4);
    assert_eq!(run(StopAt::FirstAbnormal), 2);
    assert_eq!(run(StopAt::FirstMismatch), 1);
}

#[test]
fn output_that_is_not_returned_is_still_known() {
    let mut fixture = Fixture::new();
    let program = fixture.program("cpython-3", ECHO);
    let cases = vec![expecting("abc", "abc", CompareMode::Exact)];
    let mut run = |return_stdout| {
        let batch = TestBatch { return_stdout, ..batch(cases.clone()) };
        fixture.exec.run(&fixture.caller, &program, &batch).unwrap().remove(0)
    };
    let (with, without) = (run(true), run(false));
    assert_eq!(with.outcome.stdout_sha256, without.outcome.stdout_sha256);
    assert_eq!(
        with.outcome.stdout_sha256.to_string(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    assert_eq!((with.matched, without.matched), (Matched::Equal, Matched::Equal));
    assert_eq!(text(&with.outcome.ended.stdout), "abc");
    assert!(without.outcome.ended.stdout.data.is_empty());
    assert!(!without.outcome.ended.stdout.truncated);
}

#[test]
fn a_program_gets_files_arguments_and_variables_and_leaves_files() {
    let mut fixture = Fixture::new();
    let stored = Blob::Stored(fixture.objects.put(b"from storage").unwrap());
    let program = fixture.program(
        "cpython-3",
        "import sys, os, pathlib
p = pathlib.Path
p('out').mkdir(); p('out/all').write_text(' '.join([sys.argv[1], os.environ['NAME'], p('d/f').read_text()]))",
    );
    let case = TestCase {
        args: vec!["an argument".into()],
        env: vec![("NAME".into(), "a variable".into())],
        files: vec![SourceFile { path: "d/f".into(), content: stored }],
        collect: vec!["out/all".into(), "out/none".into()],
        ..case("")
    };
    let outcome = fixture.run_once(&program, case);
    assert_eq!(outcome.ended.ending, OK, "{}", text(&outcome.ended.stderr));
    let [(path, content)] = outcome.ended.files.as_slice() else { panic!("one file") };
    assert_eq!(
        (path.as_str(), text(content).as_str()),
        ("out/all", "an argument a variable from storage")
    );
}

#[test]
fn large_data_comes_from_storage_and_is_not_counted() {
    let mut fixture = Fixture::new();
    let program = fixture.program(
        "cpython-3",
        "import sys, os; print(len(sys.stdin.buffer.read()), os.path.getsize('big'))",
    );
    let big = Blob::Stored(fixture.objects.put(&vec![b'x'; 40 << 20]).unwrap());
    let case = TestCase {
        stdin: big.clone(),
        files: vec![SourceFile { path: "big".into(), content: big }],
        limits: Some(BoxLimits { disk_bytes: 1 << 20, memory_bytes: 128 << 20, ..BoxLimits::RUN }),
        ..case("")
    };
    let outcome = fixture.run_once(&program, case);
    assert_eq!(text(&outcome.ended.stdout), "41943040 41943040\n", "{:?}", outcome.ended.ending);
}

#[test]
fn files_that_are_placed_take_no_time_of_the_program() {
    let mut fixture = Fixture::new();
    let program = fixture.program("c11-gcc", "int main() { return 0; }");
    let big = Blob::Stored(fixture.objects.put(&vec![b'x'; 64 << 20]).unwrap());
    let files = ["a", "b", "c"].map(|path| SourceFile { path: path.into(), content: big.clone() });
    // The kernel takes longer than that to copy them.
    let limits = BoxLimits { cpu_ms: 20, wall_ms: 20_000, ..BoxLimits::RUN };
    let case = TestCase { files: files.to_vec(), limits: Some(limits), ..case("") };
    let ended = fixture.run_once(&program, case).ended;
    assert_eq!(ended.ending, OK, "{:?}", ended.usage);
    // They take none of a program that is killed either.
    let program = fixture.program("c11-gcc", "int main() { for (;;) ; }");
    let limits = BoxLimits { cpu_ms: 200, ..limits };
    let case = TestCase { files: files.to_vec(), limits: Some(limits), ..super::case("") };
    let ended = fixture.run_once(&program, case).ended;
    assert_eq!(ended.ending, ProgramEnding::Limited(LimitKind::Cpu));
    assert!(ended.usage.cpu_us >= 200_000, "{:?}", ended.usage);
}

#[test]
fn how_programs_end() {
    let mut fixture = Fixture::new();
    let text_of =
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <string.h>
        int main() { int n; scanf(\"%d\", &n);
            switch (n) {
                case 0: return 0;
                case 1: return 7;
                case 2: abort();
                case 3: for (;;) ;
                case 4: for (;;) { char *p = malloc(1 << 20); memset(p, 1, 1 << 20); }
                case 5: for (;;) puts(\"flood\");
                case 6: for (;;) pause();
            } }";
    let program = fixture.program("c11-gcc", text_of);
    let endings = [
        OK,
        ProgramEnding::Exited(7),
        ProgramEnding::Signaled(6),
        ProgramEnding::Limited(LimitKind::Cpu),
        ProgramEnding::Limited(LimitKind::Memory),
        ProgramEnding::Limited(LimitKind::Output),
        ProgramEnding::Limited(LimitKind::Wall),
    ];
    let cases = (0..endings.len())
        .map(|n| TestCase {
            limits: Some(BoxLimits {
                memory_bytes: 32 << 20,
                cpu_ms: if n == 3 || n == 6 { 300 } else { 2_000 },
                ..quick(1).unwrap()
            }),
            ..case(&n.to_string())
        })
        .collect();
    let results = fixture.exec.run(&fixture.caller, &program, &batch(cases)).unwrap();
    let found: Vec<_> = results.iter().map(|result| result.outcome.ended.ending).collect();
    assert_eq!(found, endings);
}

#[test]
fn a_program_that_names_no_fit_interpreter_is_at_fault() {
    let mut fixture = Fixture::new();
    // A script is too short for a program of the loader's kind.
    for interpreter in ["/usr/bin/egrep", &format!("/{}", "x".repeat(300))] {
        let text = format!(
            "const char interpreter[] __attribute__((section(\".interp\"))) = \"{interpreter}\";
            int main() {{ return 0; }}"
        );
        let program = fixture.program("c11-gcc", &text);
        let ended = fixture.run_once(&program, case("")).ended;
        assert_eq!(ended.ending, ProgramEnding::Exited(127), "{interpreter}");
        assert!(super::text(&ended.stderr).starts_with("it cannot be executed"), "{ended:?}");
    }
}

#[test]
fn what_is_near_its_limit_is_run_again() {
    let mut fixture = Fixture::new();
    // Uses 560 of 600 ms.
    let program = fixture.program(
        "c11-gcc",
        "#include <time.h>\nint main() { while (clock() < CLOCKS_PER_SEC / 1000 * 560) ; }",
    );
    let mut run = |rerun_near_limit| {
        let case = TestCase { limits: quick(600), ..case("") };
        let batch = TestBatch { rerun_near_limit, ..batch(vec![case]) };
        fixture.exec.run(&fixture.caller, &program, &batch).unwrap().remove(0).attempts
    };
    assert_eq!(run(true), 2);
    assert_eq!(run(false), 1);
}

#[test]
fn nothing_outlives_the_callers_deadline() {
    let mut fixture = Fixture::new();
    let program = fixture.program("cpython-3", "while True: pass");
    let mut caller = fixture.caller;
    caller.deadline = Instant::now() + Duration::from_millis(300);
    let case = TestCase { limits: quick(100_000), ..case("") };
    let started = Instant::now();
    let ended = fixture.exec.run(&caller, &program, &batch(vec![case]));
    assert_eq!(ended.unwrap_err(), ExecError::Cancelled);
    // It would have had 300 s; the number itself is no test's.
    assert!(started.elapsed() < Duration::from_secs(60));
    let late = fixture.exec.run(&caller, &program, &batch(vec![super::case("")]));
    assert_eq!(late.unwrap_err(), ExecError::Cancelled);
    // The helper is as good as before.
    let fine = fixture.program("cpython-3", "print(1)");
    assert_eq!(text(&fixture.run_once(&fine, super::case("")).ended.stdout), "1\n");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_runs() {
    let mut fixture = Fixture::new();
    let program = fixture.program("cpython-3", ECHO);
    let missing = Blob::Stored(assay_core::id::Digest([9; 32]));
    let mut run = |case: TestCase| {
        fixture.exec.run(&fixture.caller, &program, &batch(vec![case])).unwrap_err()
    };
    let bad = [
        TestCase { args: vec!["\0".into()], ..case("") },
        TestCase { env: vec![("A=B".into(), String::new())], ..case("") },
        TestCase { files: vec![file("/etc/x", "")], ..case("") },
        TestCase { files: vec![file("main.py", "print('mine')")], ..case("") },
        TestCase { collect: vec!["../x".into()], ..case("") },
        expecting("", "", CompareMode::Floats { absolute: -1.0, relative: 0.0 }),
    ];
    for case in bad {
        let error = run(case.clone());
        assert!(matches!(error, ExecError::BadRequest(_)), "{case:?}: {error}");
    }
    let error = run(TestCase { stdin: missing, ..case("") });
    assert_eq!(error, ExecError::MissingBlob("09".repeat(32)));
}

#[test]
fn what_a_batch_returns_is_bounded() {
    let mut fixture = Fixture::new();
    let program = fixture.program("cpython-3", "import sys; sys.stdout.write('x' * (40 << 20))");
    let limits = BoxLimits { stdout_bytes: 48 << 20, ..BoxLimits::RUN };
    let case = TestCase { limits: Some(limits), ..case("") };
    let results =
        fixture.exec.run(&fixture.caller, &program, &batch(vec![case.clone(), case])).unwrap();
    let stdout = |n: usize| &results[n].outcome.ended.stdout;
    assert_eq!((stdout(0).data.len(), stdout(0).truncated), (40 << 20, false));
    assert_eq!((stdout(1).data.len(), stdout(1).truncated), (24 << 20, true));
    assert_eq!(results[0].outcome.stdout_sha256, results[1].outcome.stdout_sha256);
    assert_eq!(results[1].outcome.ended.ending, OK);
}
