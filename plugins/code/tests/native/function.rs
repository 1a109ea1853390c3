//! Function tests by the real harnesses in two real processes: what is right passes, and whatever a
//! cheater does is no success.

use crate::world::World;
use assay_plugin::{Error, Scored};
use serde_json::{Value, json};

fn judge(code: &str, label: &Value, settings: &str) -> Result<Scored, Error> {
    World::default().judge(&format!("```python\n{code}\n```"), &label.to_string(), settings)
}

fn check(code: &str, label: &Value, verdict: &str) -> Scored {
    let scored = judge(code, label, "{}").expect("a reward");
    assert_eq!(scored.verdict, verdict, "{code}\n{}", scored.explanation);
    scored
}

/// Doubles what it is given.
fn double() -> Value {
    json!({
        "entry_point": "f",
        "cases": [{"args": [1], "expected": 2}, {"args": [21], "expected": 42}],
        "limits": {"cpu_ms": 1000},
    })
}

fn assertions(tests: &[&str]) -> Value {
    json!({"tests_code": tests, "limits": {"cpu_ms": 1000}})
}

fn check_test(code: &str, test: &str, verdict: &str) {
    check(code, &assertions(&[test]), verdict);
}

#[test]
fn a_right_function_passes() {
    let scored = check("def f(x):\n    return 2 * x", &double(), "success");
    assert!(scored.explanation.starts_with("all 2 tests passed"), "{}", scored.explanation);
    check("def f(x):\n    print('noise'); input\n    return 2 * x", &double(), "success");
    check("f = lambda x: x + x", &double(), "success");
    check("import sys\ndef f(x):\n    sys.stdout.close()\n    return 2 * x", &double(), "success");
}

#[test]
fn a_wrong_one_fails_at_its_test() {
    let scored = check("def f(x):\n    return 2", &double(), "wrong_answer");
    assert!(scored.explanation.starts_with("test 2: an assertion failed; 1 of 2 passed\n"));
    assert!(!scored.explanation.contains("42"), "{}", scored.explanation);
    let shown = judge("def f(x):\n    return 2", &double(), r#"{"show_tests": true}"#);
    let shown = shown.expect("a reward").explanation;
    assert!(shown.contains("returned 2, expected 42"), "{shown}");
    let share = judge("def f(x):\n    return 42", &double(), r#"{"scoring": "share"}"#);
    assert_eq!(share.expect("a reward").reward, 0.5);
}

#[test]
fn faults_have_their_verdicts() {
    let scored = check("def f(x):\n    return 1 / 0", &double(), "runtime_error");
    assert!(scored.explanation.contains("ZeroDivisionError: division by zero (line 2)"));
    check("def f(x):\n    return f(x)", &double(), "runtime_error");
    check("def f(x)\n    return 1", &double(), "runtime_error");
    check("def g(x):\n    return 2 * x", &double(), "runtime_error");
    check("raise SystemExit(0)", &double(), "runtime_error");
    check("def f(x):\n    while True: pass", &double(), "time_limit");
    check("while True: pass", &double(), "time_limit");
    check("def f(x):\n    return [0] * 10**12", &double(), "memory_limit");
}

#[test]
fn waiting_forever_is_a_time_limit() {
    let label = json!({"entry_point": "f", "cases": [{"expected": 1}], "limits": {"cpu_ms": 1}});
    check("import time\ndef f():\n    time.sleep(1000)", &label, "time_limit");
}

#[test]
fn time_that_the_tests_take_is_not_the_programs() {
    let slow = "import time\nbegun = time.process_time()\n\
                while time.process_time() - begun < 2.5: pass\nassert f(1) == 2";
    let label = json!({"tests_code": [slow], "limits": {"cpu_ms": 1}});
    check("def f(x):\n    return 2 * x", &label, "success");
}

#[test]
fn a_label_is_taken_as_it_stands() {
    for (case, code) in [
        (
            r#""args": [30], "expected": 265252859812191058636308480000000"#,
            "from math import factorial as f",
        ),
        (r#""args": [265252859812191058636308480000001], "expected": 1"#, "f = lambda x: x % 10"),
        (r#""args": [{"b": 1, "a": 2}], "expected": ["b", "a"]"#, "f = list"),
        (
            r#""kwargs": {"b": 1, "a": 2}, "expected": ["b", "a"]"#,
            "f = lambda **given: list(given)",
        ),
        (r#""args": [], "expected": null"#, "f = lambda: None"),
    ] {
        let label = format!(r#"{{"entry_point": "f", "cases": [{{{case}}}]}}"#);
        let scored = World::default().judge(&format!("```python\n{code}\n```"), &label, "{}");
        let scored = scored.expect("a reward");
        assert_eq!(scored.verdict, "success", "{case}: {}", scored.explanation);
    }
}

/// Programs that try to pass without solving the task; each must get no reward.
const CHEATS: &[(&str, &str)] = &[
    ("exits as if all were well", "import os\ndef f(x):\n    os._exit(0)"),
    ("exits with the tester's own status", "import os\ndef f(x):\n    os._exit(42)"),
    ("exits while it loads", "import os\nos._exit(42)\ndef f(x): pass"),
    ("exits politely", "import sys\ndef f(x):\n    sys.exit(42)"),
    ("kills itself", "import os\ndef f(x):\n    os.kill(os.getpid(), 9)"),
    (
        "returns what is equal to anything",
        "class Liar:\n    def __eq__(self, other): return True\n    __hash__ = None\n\
         def f(x):\n    return Liar()",
    ),
    (
        "returns a number that lies",
        "class Liar(int):\n    def __eq__(self, other): return True\n    \
         def __index__(self): return 2\n    def __add__(self, other): return 2\n\
         def f(x):\n    return Liar(-1)",
    ),
    (
        "returns a list that lies",
        "class Liar(list):\n    def __eq__(self, other): return True\n    \
         def __iter__(self): return iter([2])\n\
         def f(x):\n    return Liar()",
    ),
    (
        "claims a type that it has not",
        "class Liar:\n    __class__ = int\n    def __eq__(self, other): return True\n\
         def f(x):\n    return Liar()",
    ),
    (
        "changes comparison for everybody",
        "import builtins\nbuiltins.AssertionError = ValueError\nbuiltins.isinstance = lambda *a: True\n\
         def f(x):\n    return None",
    ),
    (
        "writes a report of its own",
        "open('report.json', 'w').write('{\"total\": 2, \"passed\": 2, \"first\": null}')\n\
         import os\ndef f(x):\n    os._exit(42)",
    ),
    (
        "writes garbage to every descriptor",
        "import os\ndef f(x):\n    for fd in range(3, 64):\n        try: os.write(fd, b'passed\\n')\n        \
         except OSError: pass\n    return None",
    ),
    (
        "forges the tester's words",
        "import os\ndef f(x):\n    for fd in range(3, 64):\n        \
         try: os.write(fd, b'{\"total\":2,\"passed\":2,\"first\":null,\"number\":2}\\n')\n        \
         except OSError: pass\n    return None",
    ),
    (
        "floods the wire without an end",
        "import os\ndef f(x):\n    for fd in range(3, 64):\n        try:\n            \
         while True: os.write(fd, b'x' * 65536)\n        except OSError: pass",
    ),
    (
        "answers what was not asked",
        "import os\ndef f(x):\n    for fd in range(3, 64):\n        \
         try: os.write(fd, b'{\"number\":99,\"value\":2}\\n')\n        except OSError: pass",
    ),
    (
        "nests without an end",
        "import os\ndef f(x):\n    for fd in range(3, 64):\n        \
         try: os.write(fd, b'{\"number\":2,\"value\":' + b'[' * 100000 + b'\\n')\n        \
         except OSError: pass",
    ),
    (
        "sends a number of a million digits",
        "import os\ndef f(x):\n    for fd in range(3, 64):\n        \
         try: os.write(fd, b'{\"number\":2,\"value\":' + b'9' * 1000000 + b'}\\n')\n        \
         except OSError: pass",
    ),
    (
        "raises what has no name",
        "import os\ndef f(x):\n    for fd in range(3, 64):\n        try: os.write(fd, \
         b'{\"number\":2,\"raised\":[\"a\\\\u0000b\"],\"text\":\"\"}\\n')\n        \
         except OSError: pass",
    ),
    (
        "raises the tester's own",
        "class Stop(BaseException): pass\ndef f(x):\n    raise Stop('passed')",
    ),
    (
        "looks for the tests among its callers",
        "import sys\ndef f(x):\n    frame = sys._getframe()\n    while frame:\n        \
         for value in list(frame.f_locals.values()):\n            \
         if isinstance(value, dict) and 'expected' in value: return value['expected']\n        \
         frame = frame.f_back\n    return None",
    ),
    (
        "looks for the tests among all objects",
        "import gc\ndef f(x):\n    for value in gc.get_objects():\n        \
         if isinstance(value, dict) and 'expected' in value: return value['expected']\n    \
         return None",
    ),
    (
        "looks for the tests in files",
        "import json\ndef f(x):\n    try: return json.load(open('input'))['cases'][0]['expected']\n    \
         except OSError: return None",
    ),
    (
        "leaves a child behind that answers",
        "import os\ndef f(x):\n    if os.fork():\n        os._exit(0)\n    return None",
    ),
    ("returns a mountain", "def f(x):\n    return [0] * 10**6"),
    ("returns a tower", "def f(x):\n    a = []\n    for _ in range(10**4): a = [a]\n    return a"),
    ("returns a circle", "def f(x):\n    a = []\n    a.append(a)\n    return a"),
    ("returns a generator", "def f(x):\n    yield 2"),
    ("raises what is no text", "def f(x):\n    raise ValueError('\\ud800')"),
];

#[test]
fn no_cheat_is_a_success() {
    for (what, code) in CHEATS {
        let scored = judge(code, &double(), "{}").expect("a verdict, not an error");
        assert_eq!(scored.reward, 0.0, "{what}: {}", scored.explanation);
        assert!(
            matches!(scored.verdict.as_str(), "wrong_answer" | "runtime_error" | "time_limit"),
            "{what}: {} {}",
            scored.verdict,
            scored.explanation
        );
    }
}

#[test]
fn no_exception_ends_an_iteration_of_the_tests() {
    for raised in ["StopIteration", "StopAsyncIteration", "type('Own', (StopIteration,), {})"] {
        for test in [
            "assert all(map(f, [1]))",
            "for got, want in zip(map(f, [1]), [2]): assert got == want",
        ] {
            let mut label = assertions(&[test]);
            label["entry_point"] = json!("f");
            check(&format!("def f(x):\n    raise {raised}"), &label, "runtime_error");
        }
    }
}

#[test]
fn an_end_that_a_test_hides_is_no_pass() {
    let test = "try: f(1)\nexcept: pass";
    check_test("import os\ndef f(x):\n    os._exit(0)", test, "runtime_error");
    check_test("def f(x):\n    raise ValueError", test, "success");
}

#[test]
fn no_answer_spoils_the_report() {
    let test = "found = f(1)\nassert found == 2, found";
    for answer in ["'\\ud800'", "10 ** 5000", "['\\ud800']"] {
        check_test(&format!("def f(x):\n    return {answer}"), test, "wrong_answer");
    }
}

#[test]
fn plain_data_crosses_unchanged() {
    let values = [
        "None",
        "True",
        "0",
        "-1",
        "2 ** 200",
        "-(2 ** 53)",
        "1.5",
        "-0.0",
        "1e308",
        "'ü\\n\\ud800'",
        "b'\\x00\\xff'",
        "[]",
        "[1, [2.0, 'a']]",
        "(1, (2,))",
        "()",
        "{1, 2}",
        "frozenset({3})",
        "{'a': 1, 2: (3,), (4, 5): None}",
        "1 + 2j",
        "float('inf')",
        "{1: {2: {3: set()}}}",
    ];
    let same = "def same(a, b):\n    return type(a) is type(b) and repr(a) == repr(b)";
    let tests: Vec<String> =
        values.iter().map(|value| format!("assert same(f({value}), {value})")).collect();
    let mut label = json!({"tests_code": tests, "setup_code": same, "entry_point": "f"});
    check("def f(x):\n    return x", &label, "success");
    label["tests_code"] = json!(["x = f(float('nan'))\nassert x != x", "assert f(a=1) == 1"]);
    check("def f(a):\n    return a", &label, "success");
}

#[test]
fn a_subclass_counts_as_its_base() {
    let tests = ["assert type(f(0)) is dict and f(0) == {'a': 2}", "assert f(1) == (1, 2)"];
    let code = "import collections\nPoint = collections.namedtuple('Point', 'x y')\ndef f(kind):\n    \
                return Point(1, 2) if kind else collections.Counter('aa')";
    check(code, &assertions(&tests), "success");
}

#[test]
fn exceptions_cross_by_name() {
    let raises = "try:\n    f(0)\n    assert False\nexcept ValueError as error:\n    \
                  assert 'no zero' in str(error)";
    check("def f(x):\n    raise ValueError('no zero')", &assertions(&[raises]), "success");
    check(
        "class Own(ValueError): pass\ndef f(x):\n    raise Own('no zero')",
        &assertions(&[raises]),
        "success",
    );
    check("def f(x):\n    return 1", &assertions(&[raises]), "wrong_answer");
    check("def f(x):\n    raise KeyError('no zero')", &assertions(&[raises]), "runtime_error");
    check(
        "def f(x):\n    b'\\xff'.decode()",
        &assertions(&["try: f(1)\nexcept ValueError: pass"]),
        "success",
    );
    let key =
        "try: f(0)\nexcept KeyError as error: assert str(error) == repr('a') == repr(error)[9:-1]";
    check_test("def f(x):\n    return {}['a']", key, "success");
    // An assertion of the program's own is no failed test, but no answer either.
    check("def f(x):\n    assert False", &assertions(&["assert f(1) == 1"]), "runtime_error");
}

#[test]
fn a_fault_of_the_tests_is_an_error() {
    for test in
        ["assert f(1) ==", "assert f(undefined) == 1", "import no_such\nf(1)", "f(lambda: 0)"]
    {
        let mut label = assertions(&[test]);
        label["entry_point"] = json!("f");
        let result = judge("def f(x):\n    return 1", &label, "{}");
        assert!(matches!(result, Err(Error::BadRequest(_))), "{test}: {result:?}");
    }
    let nothing = judge("def f(x):\n    return 1", &assertions(&["assert True"]), "{}");
    assert!(matches!(nothing, Err(Error::BadRequest(_))), "{nothing:?}");
}

#[test]
fn no_answer_makes_the_tests_be_at_fault() {
    let parsed = "import xml.etree.ElementTree as tree\nassert tree.fromstring(f(1)).tag == 'a'";
    check_test("def f(x):\n    return '<a>'", parsed, "wrong_answer");
    let evaluated = "import ast\nassert ast.literal_eval(f(1)) == 2";
    check_test("def f(x):\n    return '((('", evaluated, "wrong_answer");
    let looped = "for item in f(1): last = item\nassert last == 2";
    check_test("def f(x):\n    return []", looped, "wrong_answer");
    for pattern in ["[last, 1]", "[1, *last]", "{1: 2, **last}", "[] as last"] {
        let matched = format!("match f(1):\n    case {pattern}: pass\nassert last == 2");
        check_test("def f(x):\n    return 2", &matched, "wrong_answer");
    }
    // As Python before 3.10 says it.
    let old = "if f(1): last = 2\nraise NameError(\"name 'last' is not defined\")";
    check_test("def f(x):\n    return 0", old, "wrong_answer");
    let large = "def enc(x):\n    return 'a' * (4 * 2**20 - 60)\ndef dec(x):\n    return x";
    check_test(large, "assert dec(enc('a')) == 'a'", "wrong_answer");
    check_test(large, "assert dec(enc('a') * 3) == 'a'", "wrong_answer");
    let deep =
        "def enc(x):\n    for _ in range(99): x = [x]\n    return x\ndef dec(x):\n    return 'a'";
    check_test(deep, "assert dec([[enc('a')]]) == 'a'", "success");
}

#[test]
fn an_argument_that_is_too_large_is_the_tests_fault() {
    let label = assertions(&["assert f('a') == 'a'\nassert f('a' * 9_000_000)"]);
    let result = judge("def f(x):\n    return x", &label, "{}");
    assert!(matches!(result, Err(Error::BadRequest(_))), "{result:?}");
}

#[test]
fn a_test_may_exit() {
    let code = "def f(x):\n    return 2 * x";
    check_test(code, "import sys\nassert f(1) == 2\nsys.exit(0)", "success");
    check_test(code, "assert f(1) == 2\nexit()", "success");
    check_test(code, "import sys\nassert f(1) == 3\nsys.exit()", "wrong_answer");
    check_test(code, "import sys\nsys.exit(0 if f(1) == 3 else 1)", "wrong_answer");
    // A library's way out over an answer skips what the test would have asked.
    let parsed = "import argparse\nargparse.ArgumentParser().parse_args(f(1))\nassert False";
    check_test("def f(x):\n    return ['-h']", parsed, "wrong_answer");
}

#[test]
fn several_functions_may_be_called() {
    let tests =
        ["a = push(1)\nassert pop(a) == 1", "assert [pop(push(i)) for i in range(3)] == [0, 1, 2]"];
    check(
        "def push(x):\n    return [x]\ndef pop(x):\n    return x[0]",
        &assertions(&tests),
        "success",
    );
}

#[test]
fn a_function_of_the_tests_is_not_the_programs() {
    let tests = "import asyncio\nasync def ask(x): return f(x)\nassert asyncio.run(ask(1)) == 2";
    check_test("def f(x):\n    return 2 * x", tests, "success");
}

#[test]
fn tests_that_cannot_use_an_answer_fail() {
    check("def f(x):\n    return None", &assertions(&["assert f(1)[0] == 1"]), "wrong_answer");
    check("def f(x):\n    return 'a'", &assertions(&["assert f(1) < 2"]), "wrong_answer");
}

#[test]
fn tolerances_hold_inside_collections() {
    let mut label = json!({
        "entry_point": "f",
        "cases": [{"expected": [0.3, {"a": 1}]}],
        "compare": {"floats": {"absolute": 1e-9}},
    });
    check("def f():\n    return (0.1 + 0.2, {'a': 1.0000000001})", &label, "success");
    label["compare"] = json!("exact");
    check("def f():\n    return (0.1 + 0.2, {'a': 1})", &label, "wrong_answer");
}
