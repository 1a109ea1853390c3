use super::*;
use assay_exec::outcome::LimitKind;

const SUM: &str = "#include <bits/stdc++.h>
    int main() { long a, b; std::cin >> a >> b; std::cout << a + b << std::endl; }";

#[test]
fn a_source_becomes_a_program_once() {
    let mut fixture = Fixture::new();
    let first = fixture.compile("cpp17-gcc", SUM).unwrap();
    assert!(!first.cached);
    let program = accepted(first);
    assert_eq!(program.toolchain(), "cpp17-gcc");
    assert!(program.size_bytes() > 1_000_000, "it is linked statically");
    let again = fixture.compile("cpp17-gcc", SUM).unwrap();
    assert!(again.cached);
    assert_eq!(accepted(again), program);
    let outcome = fixture.run_once(&program, case("2 40"));
    assert_eq!((outcome.ended.ending, text(&outcome.ended.stdout).as_str()), (OK, "42\n"));
}

#[test]
fn another_worker_opens_it_and_another_tenant_does_not() {
    let mut fixture = Fixture::new();
    let program = fixture.program("c11-gcc", "#include <stdio.h>\nint main() { puts(\"hi\"); }");
    let key = program.key().to_string();

    let mut other = Fixture::new();
    let opened = other.exec.open(&fixture.caller, &key).unwrap();
    assert_eq!(opened, program);
    let results = other.exec.run(&fixture.caller, &opened, &batch(vec![case("")])).unwrap();
    assert_eq!(text(&results[0].outcome.ended.stdout), "hi\n");

    assert_eq!(other.exec.open(&other.caller, &key), Err(ExecError::UnknownArtifact(key.clone())));
    let stolen = other.exec.run(&other.caller, &opened, &batch(vec![case("")]));
    assert_eq!(stolen.unwrap_err(), ExecError::UnknownArtifact(key));
    let none = other.exec.open(&other.caller, "x");
    assert_eq!(none, Err(ExecError::UnknownArtifact("x".into())));
}

#[test]
fn a_damaged_artifact_is_compiled_again() {
    let folder = tempfile::tempdir().unwrap();
    let text = "int main() { return 3; }";
    let mut fixture = Fixture::over(options(folder.path()));
    let program = fixture.program("c11-gcc", text);
    let artifacts = folder.path().join("artifacts");
    let path = std::fs::read_dir(&artifacts).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();

    let caller = fixture.caller;
    let mut other = Fixture::over(options(folder.path()));
    other.caller = caller;
    let gone = other.exec.open(&caller, &program.key().to_string());
    assert!(matches!(gone, Err(ExecError::UnknownArtifact(_))));
    let again = other.compile("c11-gcc", text).unwrap();
    assert!(!again.cached);
    let again = accepted(again);
    assert_eq!(again, program);
    assert_eq!(other.run_once(&again, case("")).ended.ending, ProgramEnding::Exited(3));
}

#[test]
fn what_the_compiler_refuses_is_rejected_every_time() {
    let mut fixture = Fixture::new();
    for _ in 0..2 {
        let result = fixture.compile("cpp20-gcc", "int main() { return x; }").unwrap();
        assert!(!result.cached);
        assert!(text(&result.log).contains("was not declared"), "{}", text(&result.log));
        let CompileOutcome::Rejected(outcome) = result.compiled else { panic!("accepted") };
        assert_eq!(outcome.ended.ending, ProgramEnding::Exited(1));
    }
}

#[test]
fn warnings_are_kept_with_the_program() {
    let mut fixture = Fixture::new();
    let text_of = "int main() { int unused_one; }";
    let mut source = source("c11-gcc", text_of);
    source.options = vec!["-Wall".into()];
    for cached in [false, true] {
        let result = fixture.exec.compile(&fixture.caller, &source, None).unwrap();
        assert_eq!(result.cached, cached);
        assert!(text(&result.log).contains("unused_one"));
    }
}

#[test]
fn options_and_further_files_reach_the_compiler() {
    let mut fixture = Fixture::new();
    let mut source = source("cpp17-gcc", "#include \"lib/a.h\"\nint main() { return A + B; }");
    source.files.push(file("lib/a.h", "#define A 30"));
    source.options = vec!["-DB=3".into()];
    let result = fixture.exec.compile(&fixture.caller, &source, None).unwrap();
    let program = accepted(result);
    assert_eq!(fixture.run_once(&program, case("")).ended.ending, ProgramEnding::Exited(33));
}

#[test]
fn a_compiler_that_leaves_nothing_or_too_much_is_a_rejection() {
    let mut fixture = Fixture::new();
    let mut nothing = source("c11-gcc", "int main() {}");
    nothing.options = vec!["-fsyntax-only".into()];
    let result = fixture.exec.compile(&fixture.caller, &nothing, None).unwrap();
    let CompileOutcome::Rejected(outcome) = result.compiled else { panic!("accepted") };
    assert!(text(&outcome.ended.stderr).contains("left no `a.out`"));

    let large = "char a[80 << 20] = {1}; int main() { return a[0]; }";
    let result = fixture.compile("c11-gcc", large).unwrap();
    let CompileOutcome::Rejected(outcome) = result.compiled else { panic!("accepted") };
    assert!(matches!(outcome.ended.ending, ProgramEnding::Limited(_) | ProgramEnding::Exited(1)));
}

#[test]
fn a_compilation_bomb_meets_its_limit() {
    let mut fixture = Fixture::new();
    let bomb = "constexpr long f() { long sum = 0; for (long i = 0; i < 1L << 40; i++) sum += i; return sum; }
        static_assert(f() != 7); int main() {}";
    let limits = BoxLimits { cpu_ms: 700, wall_ms: 0, ..BoxLimits::COMPILE };
    let mut source = source("cpp17-gcc", bomb);
    source.options =
        ["loop", "ops"].map(|kind| format!("-fconstexpr-{kind}-limit=2147483647")).into();
    let result = fixture.exec.compile(&fixture.caller, &source, Some(limits)).unwrap();
    let CompileOutcome::Rejected(outcome) = result.compiled else { panic!("accepted") };
    assert_eq!(outcome.ended.ending, ProgramEnding::Limited(LimitKind::Cpu));
}

#[test]
fn bad_requests_run_nothing() {
    let mut fixture = Fixture::new();
    let caller = fixture.caller;
    let mut compile = |change: &dyn Fn(&mut ProgramSource)| {
        let mut source = source("cpython-3", "");
        change(&mut source);
        fixture.exec.compile(&caller, &source, None).unwrap_err()
    };
    assert!(matches!(compile(&|source| source.main = "x".into()), ExecError::BadRequest(_)));
    assert!(matches!(
        compile(&|source| source.options = vec!["-O".into()]),
        ExecError::BadRequest(_)
    ));
    let escape = |source: &mut ProgramSource| source.files.push(file("../x", ""));
    assert!(matches!(compile(&escape), ExecError::BadRequest(_)));
    let unknown = compile(&|source| source.toolchain = "cobol".into());
    assert!(matches!(unknown, ExecError::UnknownToolchain(_)));
    let missing = Blob::Stored(assay_core::id::Digest([9; 32]));
    let lost = compile(&|source| source.files[0].content = missing.clone());
    assert_eq!(lost, ExecError::MissingBlob("09".repeat(32)));
}
