//! Whole programs from response to reward: every verdict, checkers, interactors, packages.

use crate::world::World;
use assay_plugin::{Error, Scored};
use serde_json::json;

const ECHO: &str = "```cpp\n#include <iostream>\nint main() { int a, b; std::cin >> a >> b; \
                    std::cout << a + b << std::endl; }\n```";
const SUMS: &str =
    r#"{"tests": [{"input": "1 2", "output": "3"}, {"input": "2 2", "output": "4"}]}"#;

fn cpp(code: &str) -> String {
    format!("Here it is:\n```cpp\n#include <bits/stdc++.h>\nusing namespace std;\n{code}\n```\n")
}

fn python(code: &str) -> String {
    format!("```python\n{code}\n```")
}

fn scored(world: &World, response: &str, label: &str, settings: &str) -> Scored {
    world.judge(response, label, settings).expect("a reward")
}

fn check(response: &str, label: &str, verdict: &str) -> Scored {
    let scored = scored(&World::default(), response, label, "{}");
    assert_eq!(scored.verdict, verdict, "{response}: {}", scored.explanation);
    assert_eq!(scored.reward, f64::from(u8::from(verdict == "success")));
    scored
}

#[test]
fn each_end_has_its_verdict() {
    let all = check(ECHO, SUMS, "success");
    assert!(all.explanation.starts_with("all 2 tests passed\nprogram: the cpp block at line 1"));
    assert!(all.explanation.contains("the sandbox of this machine lacks: boxes"));
    check(&python("print(sum(map(int, input().split())))"), SUMS, "success");
    let wrong = check(&python("print(3)"), SUMS, "wrong_answer");
    assert!(wrong.explanation.starts_with("test 2: another output; 1 of 2 passed\n"));
    let components: Vec<(&str, f64)> = wrong
        .components
        .iter()
        .take(2)
        .map(|component| (component.name.as_str(), component.value))
        .collect();
    assert_eq!(components, [("passed", 1.0), ("total", 2.0)]);
    check(&cpp("int main() { abort(); }"), SUMS, "runtime_error");
    let exits = check(&python("import sys; sys.exit('no')"), SUMS, "runtime_error");
    assert!(exits.explanation.contains("exit status 1; standard error: no"));
    check(&python("while True: print('x' * 1000)"), SUMS, "output_limit");
    let refused = check(&cpp("int main() { retrun 0; }"), SUMS, "compile_failed");
    assert!(refused.explanation.contains("retrun"), "{}", refused.explanation);
    let nothing = check("I cannot.", SUMS, "extraction_failed");
    assert_eq!(nothing.explanation, "the response has no block of code");
}

#[test]
fn a_slow_program_is_a_time_limit() {
    let label = r#"{"tests": [{"input": "", "output": ""}], "limits": {"cpu_ms": 1000}}"#;
    check(&cpp("int main() { for (volatile long i = 0;; i++); }"), label, "time_limit");
}

#[test]
fn a_share_of_the_tests_is_a_share_of_the_reward() {
    let settings = r#"{"scoring": "share", "rewards": {"wrong_answer": -1}}"#;
    let scored = scored(&World::default(), &python("print(3)"), SUMS, settings);
    assert_eq!((scored.reward, scored.verdict.as_str()), (0.0, "wrong_answer"));
}

#[test]
fn tests_are_shown_to_those_who_ask() {
    let label = r#"{"tests": [{"input": "the input", "output": "the answer"}]}"#;
    let hidden = scored(&World::default(), &python("print(3)"), label, "{}");
    assert!(!hidden.explanation.contains("the answer"), "{}", hidden.explanation);
    let shown = scored(&World::default(), &python("print(3)"), label, r#"{"show_tests": true}"#);
    assert!(
        shown.explanation.contains("input: the input\nexpected: the answer\noutput: 3"),
        "{}",
        shown.explanation
    );
}

#[test]
fn a_program_that_is_gone_is_compiled_again() {
    let world = World::default();
    let request = assay_plugin::Request::new("", ECHO, SUMS);
    let stage = |name: &str, input| {
        assay_plugin_code::run_stage((&world, &world), name, "{}", &request, input)
    };
    let found = stage("extract", None).expect("a program").into_next();
    let compiled = stage("compile", found).expect("a program").into_next();
    world.forget();
    let outcome = stage("run", compiled).expect("a reward");
    assert_eq!(outcome.scored().expect("a reward").verdict, "success");
}

#[test]
fn tests_may_lie_in_storage() {
    let files = [("1.in", "1 2"), ("1.ans", "3"), ("2.in", "2 2"), ("2.out", "5")];
    let objects = files.map(|(name, text)| (format!("judge/sum/{name}"), text.into()));
    let world = World::with(objects.into());
    let scored = scored(&world, ECHO, r#"{"tests": "judge/sum"}"#, "{}");
    assert!(scored.explanation.starts_with("test 2: another output; 1 of 2 passed"));
    let missing = world.judge(ECHO, r#"{"tests": "judge/none"}"#, "{}");
    assert!(matches!(missing, Err(Error::BadRequest(_))));
}

const PRIME: &str = "import sys\nout = sys.stdin.read().split()\n\
    data, output, answer = (open(name).read() for name in sys.argv[1:4])\n\
    assert output.split() == out and data == '10'\n\
    sys.exit(0 if out and out[0] in ('2', '3', '5', '7') else 1)\n";

#[test]
fn a_checker_decides() {
    let label = |source: &str| {
        let checker = json!({"source": source, "toolchain": "python"});
        json!({"tests": [{"input": "10"}], "checker": checker}).to_string()
    };
    check(&python("print(7)"), &label(PRIME), "success");
    check(&python("print(8)"), &label(PRIME), "wrong_answer");
    check(&python("print(7); raise SystemExit(0)"), &label(PRIME), "success");
    check(&python("print(7); raise SystemExit(1)"), &label(PRIME), "runtime_error");
    check(&python("print(7)"), &label("raise SystemExit('no')"), "wrong_answer");
}

/// A judge in Python that reads its answer from standard input and gets on with `rest`.
fn python_judge(rest: &str, protocol: &str) -> serde_json::Value {
    let source = format!("import sys\n{rest}\n");
    let files = json!({"broken.py": "1 +", "unbound.py": "no_such_name"});
    json!({"source": source, "toolchain": "python", "protocol": protocol, "files": files})
}

#[test]
fn an_answer_that_a_checker_in_python_cannot_read_is_wrong() {
    let readers = [
        "int(sys.stdin.read())",
        "sys.stdin.read().split()[1]",
        "1 // (sys.stdin.read() == '7')",
        "input(); input()",
        "eval(sys.stdin.read() + '+')",
        "next(iter(sys.stdin.read().split()[1:]))",
        "sys.stdin.read() + 1",
        "assert sys.stdin.read() == '7'",
        "None if sys.stdin.read() == '7' else None.x",
        "def f(n): return f(n + 1)\nf(int(sys.stdin.read() == '7'))",
        "def f():\n for a in ():\n  b = a\n return b\nf()",
        "import threading\nthreading.Thread(target=lambda: int(sys.stdin.read())).start()",
        "import threading\nthreading.Thread(target=lambda: (input(), input())).start()",
    ];
    for (reader, protocol) in readers.iter().flat_map(|it| [(it, "testlib"), (it, "kattis")]) {
        let checker = python_judge(reader, protocol);
        let label = json!({"tests": [{"input": "10"}], "checker": checker});
        check(&python("print('seven')"), &label.to_string(), "wrong_answer");
    }
}

#[test]
fn a_checker_in_python_that_is_broken_is_no_verdict() {
    let failing = [
        "sys.exit(3)",
        "raise OSError",
        "import no_such",
        "no_such_name",
        "1 +",
        "import broken",
        "import unbound",
        "raise MemoryError",
        "raise RuntimeError",
        "import threading\nthreading.Thread(target=lambda: no_such_name).start()",
    ];
    for (broken, protocol) in failing.iter().flat_map(|it| [(it, "testlib"), (it, "kattis")]) {
        let checker = python_judge(broken, protocol);
        let label = json!({"tests": [{"input": "10"}], "checker": checker});
        let result = World::default().judge(&python("print(7)"), &label.to_string(), "{}");
        assert!(matches!(result, Err(Error::BadRequest(_))), "{broken} {protocol}: {result:?}");
    }
}

#[test]
fn an_output_that_breaks_a_checker_in_python_is_wrong() {
    let readers = [
        "[0] * int(input())",
        "def f():\n yield next(iter(range(int(input()), 8)))\nlist(f())",
        "import csv\ncsv.field_size_limit(2)\nlist(csv.reader(sys.stdin))",
    ];
    let label = |reader: &str, protocol: &str, accepted: i32| {
        let checker = python_judge(&format!("{reader}\nsys.exit({accepted})"), protocol);
        json!({"tests": [{"input": "10", "output": "7"}], "checker": checker}).to_string()
    };
    for (protocol, accepted) in [("testlib", 0), ("kattis", 42)] {
        for reader in readers {
            let label = label(reader, protocol, accepted);
            check(&python("print(7)"), &label, "success");
            check(&python("print(10**18)"), &label, "wrong_answer");
        }
        // An output may well be right that meets a mistake of the checker.
        for mistake in ["no_such_name", "import no_such", "open('no_such')"] {
            let label = label(&format!("if input() != '7': {mistake}"), protocol, accepted);
            let failed = World::default().judge(&python("print(8)"), &label, "{}");
            assert!(matches!(failed, Err(Error::BadRequest(_))), "{mistake}: {failed:?}");
        }
    }
}

#[test]
fn a_judge_in_python_is_called_as_any_other() {
    let checker = "import __main__, helper, os, sys\n\
                   assert __name__ == '__main__' and __main__.os is os and len(sys.argv) == 4\n\
                   assert os.path.basename(__file__) == sys.argv[0] == 'main.py'\n\
                   sys.exit(helper.WORD)";
    let label = json!({"tests": [{"input": "10"}], "checker":
        {"source": checker, "toolchain": "python", "files": {"helper.py": "WORD = 0"}}});
    check(&python("print(7)"), &label.to_string(), "success");
}

const GUESS: &str = "#include <cstdio>\nint main(int, char** args) {\n\
    int secret; FILE* f = fopen(args[1], \"r\"); if (fscanf(f, \"%d\", &secret) != 1) return 1;\n\
    for (int i = 0; i < 10; i++) { int guess; if (scanf(\"%d\", &guess) != 1) return 43;\n\
    if (guess == secret) { puts(\"equal\"); return 42; }\n\
    puts(guess < secret ? \"higher\" : \"lower\"); fflush(stdout); }\n return 43; }\n";

#[test]
fn an_interactor_decides() {
    let label = json!({
        "tests": [{"input": "37"}, {"input": "99"}],
        "limits": {"cpu_ms": 1000},
        "interactor": {"source": GUESS, "toolchain": "cpp17-gcc", "protocol": "kattis"},
    });
    let label = label.to_string();
    let search = "low, high = 0, 100\nwhile True:\n    guess = (low + high) // 2\n    \
                  print(guess, flush=True)\n    said = input()\n    \
                  if said == 'equal': break\n    if said == 'higher': low = guess + 1\n    \
                  else: high = guess - 1";
    check(&python(search), &label, "success");
    check(&python("for i in range(5): print(i, flush=True)"), &label, "wrong_answer");
    check(&python("raise SystemExit(3)"), &label, "runtime_error");
    check(&python("while True: pass"), &label, "time_limit");
    check(&python("raise SystemExit(42)"), &label, "runtime_error");
}

#[test]
fn an_interactor_in_python_may_lose_its_program() {
    let label = |source: &str, protocol: &str| {
        let interactor = json!({"source": source, "toolchain": "python", "protocol": protocol});
        json!({"tests": [{"input": "1"}], "interactor": interactor}).to_string()
    };
    for (protocol, accepted, wrong) in [("kattis", 42, 43), ("testlib", 0, 1)] {
        let asks = format!(
            "print(1, flush=True)\nraise SystemExit({accepted} if input() == '1' else {wrong})"
        );
        check(&python("print(input())"), &label(&asks, protocol), "success");
        check(&python("print(2)"), &label(&asks, protocol), "wrong_answer");
        check(&python("raise SystemExit(0)"), &label(&asks, protocol), "wrong_answer");
        // It closes its side and stays.
        let silent = "import os, time\nos.close(0); os.close(1); time.sleep(1)";
        check(&python(silent), &label(&asks, protocol), "wrong_answer");
        let told = format!("import sys\nsys.stdin.read()\nprint('no')\nsys.exit({wrong})");
        check(&python("raise SystemExit(0)"), &label(&told, protocol), "wrong_answer");
        check(&python("print('x')"), &label("int(input())", protocol), "wrong_answer");
        let thread = "import threading\nthreading.Thread(target=input).start()";
        check(&python("raise SystemExit(0)"), &label(thread, protocol), "wrong_answer");
        // It reads in the background, until nobody is left.
        let reads = format!(
            "import queue, threading\nsaid = queue.Queue()\ndef read():\n while True: said.put(input())\n\
             reader = threading.Thread(target=read, daemon=True)\nreader.start()\n\
             print(1, flush=True)\nreader.join()\n\
             raise SystemExit({accepted} if said.get() == '1' else {wrong})"
        );
        check(&python("print(input())"), &label(&reads, protocol), "success");
        // It spins where its program is gone.
        let spins =
            format!("import sys\nwhile sys.stdin.read() != '1': pass\nsys.exit({accepted})");
        check(&python("raise SystemExit(0)"), &label(&spins, protocol), "wrong_answer");
        let failed =
            World::default().judge(&python("print(1)"), &label("input(); no_such", protocol), "{}");
        assert!(matches!(failed, Err(Error::BadRequest(_))), "{protocol}: {failed:?}");
    }
}

fn package(files: &[(&str, &str)]) -> World {
    let objects = files.iter().map(|(path, text)| (format!("judge/p/{path}"), (*text).into()));
    World::with(objects.collect())
}

#[test]
fn a_kattis_package_is_judged_by_its_validator() {
    let validator = "import sys\n\
        assert open(sys.argv[3] + '/.keep') and sys.argv[4:] == ['strict']\n\
        open(sys.argv[3] + '/judgemessage.txt', 'w').write('saw it')\n\
        sys.exit(42 if sys.stdin.read().strip() in open(sys.argv[2]).read().split() else 43)";
    let world = package(&[
        ("problem.yaml", "validation: custom\nvalidator_flags: strict\n"),
        ("output_validators/v/validate.py", validator),
        ("data/sample/1.in", "1"),
        ("data/sample/1.ans", "a b"),
        ("data/secret/2.in", "2"),
        ("data/secret/2.ans", "a c"),
    ]);
    let label = r#"{"problem": "judge/p", "format": "kattis"}"#;
    assert_eq!(scored(&world, &python("print('a')"), label, "{}").verdict, "success");
    let wrong = scored(&world, &python("print('b')"), label, r#"{"show_tests": true}"#);
    assert!(
        wrong.explanation.starts_with("test secret/2: the checker says no; 1 of 2 passed"),
        "{}",
        wrong.explanation
    );
    assert!(wrong.explanation.contains("judge: saw it"), "{}", wrong.explanation);
}

#[test]
fn a_kattis_package_without_validator_compares_words() {
    let world = package(&[
        ("problem.yaml", "validator_flags: float_tolerance 0.01\n"),
        ("data/secret/1.in", "1"),
        ("data/secret/1.ans", "Case 1.0\n"),
    ]);
    let label = r#"{"problem": "judge/p", "format": "kattis"}"#;
    assert_eq!(scored(&world, &python("print('case 1.001')"), label, "{}").verdict, "success");
    assert_eq!(scored(&world, &python("print('case 1.1')"), label, "{}").verdict, "wrong_answer");
}

#[test]
fn a_dmoj_package_gives_points_by_batches() {
    let checker = "from dmoj.result import CheckerResult\n\
        def check(process_output, judge_output, judge_input, modulus, **kwargs):\n    \
            right = (int(process_output) - int(judge_output)) % modulus == 0\n    \
            return CheckerResult(right, 1.0 if right else 0.0, 'checked')\n";
    let world = package(&[
        (
            "init.yml",
            "checker: {name: c.py, args: {modulus: 7}}\ntest_cases:\n- {in: 1.in, out: 1.out, points: 25}\n\
             - points: 75\n  batched:\n  - {in: 1.in, out: 1.out}\n  - {in: 2.in, out: 1.out}\n",
        ),
        ("c.py", checker),
        ("1.in", "1"),
        ("1.out", "3"),
        ("2.in", "2"),
    ]);
    let label = r#"{"problem": "judge/p", "format": "dmoj"}"#;
    let share = r#"{"scoring": "share"}"#;
    assert_eq!(scored(&world, &python("print(10)"), label, share).reward, 1.0);
    let part = scored(&world, &python("print(10 if input() == '1' else 11)"), label, share);
    assert_eq!((part.reward, part.verdict.as_str()), (0.25, "wrong_answer"));
    // The checker reads a number.
    let none = scored(&world, &python("print('x')"), label, r#"{"show_tests": true}"#);
    assert_eq!(none.verdict, "wrong_answer", "{}", none.explanation);
    assert!(none.explanation.contains("judge: Traceback"), "{}", none.explanation);
}

#[test]
fn a_dmoj_checker_that_is_broken_is_no_verdict() {
    let check = |checker: &str, is_broken: bool| {
        let init = "checker: c.py\ntest_cases:\n- {in: 1.in, out: 1.out, points: 1}\n";
        let world =
            package(&[("init.yml", init), ("c.py", checker), ("1.in", "1"), ("1.out", "3")]);
        let label = r#"{"problem": "judge/p", "format": "dmoj"}"#;
        let result = world.judge(&python("print('x')"), label, "{}");
        match result {
            Err(Error::BadRequest(_)) => assert!(is_broken, "{checker}: {result:?}"),
            Ok(scored) if scored.verdict == "wrong_answer" => assert!(!is_broken, "{checker}"),
            other => panic!("{checker}: {other:?}"),
        }
    };
    let body = |code: &str| format!("def check(output, answer, **rest):\n    {code}\n");
    for code in ["return int(output)", "return eval(output + b'+')", "return output + 1"] {
        check(&body(code), false);
    }
    check(&body("return len([0] * (10**18 if b'x' in output else 1)) == 1"), false);
    check(&body("if b'x' in output: raise RuntimeError\n    return True"), false);
    let failing =
        ["return no_such_name", "import no_such", "1 +", "raise MemoryError", "raise RuntimeError"];
    for code in failing {
        check(&body(code), true);
    }
    for checker in ["check = None", "int('x')", "def check(output): return True"] {
        check(checker, true);
    }
}
