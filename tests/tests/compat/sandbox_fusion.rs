//! `/run_code`: programs as they are.

use assay_tests::HostOptions;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{World, check_no_number};

/// However busy the machine is.
const PATH: &str = "sandbox-fusion/run@prod/programs/run_code?timeout=300";
/// Less than the program takes.
const SOON: &str = "sandbox-fusion/run@prod/programs/run_code?timeout=0.3";

async fn start() -> World {
    let world = World::with(HostOptions::with_boxes("cpu=2")).await;
    world.host.publish("assay_plugin_run").await;
    world
}

/// As verl asks.
fn code(language: &str, code: &str, stdin: &str) -> Value {
    json!({
        "compile_timeout": 10, "run_timeout": 10, "code": code, "stdin": stdin,
        "memory_limit_MB": 1024, "language": language, "files": {}, "fetch_files": [],
    })
}

#[tokio::test]
async fn a_program_is_run_and_what_it_printed_comes_back() {
    let world = start().await;
    let run = async |call: &Value| world.post(PATH, call).await.json::<Value>(200);
    let mut told = run(&code("python", "print(int(input()) + 1)", "1")).await;
    let time = told["run_result"]["execution_time"].take();
    assert!(time.as_f64().is_some_and(|time| time > 0.0), "{time}");
    let result = json!({
        "status": "Finished", "execution_time": null, "return_code": 0, "stdout": "2\n", "stderr": "",
    });
    let expected = json!({
        "status": "Success", "message": "", "compile_result": null, "run_result": result,
        "executor_pod_name": null, "files": {},
    });
    assert_eq!(told, expected);

    let told = run(&code("python", "import sys; sys.exit('no')", "")).await;
    assert_eq!(
        (&told["status"], &told["run_result"]["return_code"]),
        (&json!("Failed"), &json!(1))
    );
    assert_eq!(told["run_result"]["stderr"], "no\n");
    let told = run(&code("cpp", "#include <cstdio>\nint main() { puts(\"hi\"); }", "")).await;
    assert_eq!(told["compile_result"]["status"], "Finished");
    assert_eq!(
        (&told["status"], &told["run_result"]["stdout"]),
        (&json!("Success"), &json!("hi\n"))
    );
    let told = run(&code("cpp", "int main() { retrun 0; }", "")).await;
    assert_eq!((&told["status"], &told["run_result"]), (&json!("Failed"), &Value::Null));
    assert_eq!(told["compile_result"]["return_code"], 1);
    assert!(told["compile_result"]["stderr"].as_str().is_some_and(|text| text.contains("retrun")));

    let mut spin = code("python", "while True: pass", "");
    spin["run_timeout"] = json!(0.5);
    let told = run(&spin).await;
    assert_eq!(told["run_result"]["status"], "TimeLimitExceeded");
    assert_eq!(told["status"], "Failed");
    let mut hungry =
        code("python", "x = bytearray(600 << 20); x[::4096] = b'1' * len(x[::4096])", "");
    hungry["memory_limit_MB"] = json!(128);
    assert_eq!(run(&hungry).await["status"], "Failed");

    let mut files = code("python", "open('out', 'w').write(open('in').read() * 2)", "");
    files["files"] = json!({ "in": STANDARD.encode("ab") });
    files["fetch_files"] = json!(["out"]);
    let told = run(&files).await;
    assert_eq!(told["files"], json!({ "out": STANDARD.encode("abab") }), "{told}");
}

#[tokio::test]
async fn what_cannot_be_run_is_refused_and_our_failures_are_504() {
    let world = start().await;
    let unknown = world.post(PATH, &code("cobol", "", "")).await;
    assert!(unknown.problem(422, "bad_request").detail.contains("there is no `cobol` here"));
    check_no_number(&unknown);
    let mut odd = code("python", "", "");
    odd["files"] = json!({ "../x": STANDARD.encode("a") });
    let _ = world.post(PATH, &odd).await.problem(422, "bad_request");
    odd["files"] = json!({ "x": "!" });
    let _ = world.post(PATH, &odd).await.problem(400, "bad_request");
    // A plugin that runs no programs.
    let other =
        world.post("sandbox-fusion/liar@prod/other/run_code", &code("c", "two_stages", "")).await;
    let _ = other.problem(422, "no_report");
    let failing =
        world.post("sandbox-fusion/liar@prod/other/run_code", &code("c", "unavailable", "")).await;
    let _ = failing.problem(504, "unavailable");
    check_no_number(&failing);
    let call = code("python", "import time\ntime.sleep(2)\nprint(1)", "");
    let _ = world.post(SOON, &call).await.problem(504, "not_finished");
    // The third call of verl's gets what the first one began.
    let told = world.repeat(PATH, &call).await.json::<Value>(200);
    assert_eq!(told["run_result"]["stdout"], "1\n");
    // The one program that no box was made for counts for none.
    assert_eq!(world.batch("programs").await.counts.scored, 1);
}
