//! open-instruct's code server.

use assay_tests::HostOptions;
use serde_json::{Value, json};

use super::{World, check_later, check_no_number};

const PATH: &str = "open-instruct/run@prod/tests";

async fn start() -> World {
    let world = World::with(HostOptions::with_boxes("cpu=2")).await;
    world.host.publish("assay_plugin_run").await;
    world
}

#[tokio::test]
async fn each_test_is_passed_or_not() {
    let world = start().await;
    let test = async |path: &str, program: &str, tests: Value| {
        let call = json!({ "program": program, "tests": tests, "max_execution_time": 2.0 });
        world.post(&format!("{PATH}/{path}?timeout=300"), &call).await.json::<Value>(200)
    };
    let told = test(
        "test_program",
        "def add(a, b): return a + b",
        json!(["assert add(1, 2) == 3", "assert add(-1, 1) == 0", "assert add(0, 0) == 1"]),
    )
    .await;
    assert_eq!(told["results"], json!([1, 1, 0]));
    let times: Vec<f64> = serde_json::from_value(told["runtimes"].clone()).expect("numbers");
    assert!(times[0] > 0.0 && times[1] > 0.0 && times[2] == -1.0, "{times:?}");
    // An early end is no pass, whatever its status.
    let told = test("test_program", "import sys\nsys.exit(0)", json!(["assert False"])).await;
    assert_eq!(told, json!({ "results": [0], "runtimes": [-1.0] }));
    let program = "import sys\nfor line in sys.stdin:\n    print(int(line) + 1)";
    let tests = json!([
        { "input": "1\n", "output": "2\n" }, { "input": "100\n", "output": "101" },
        { "input": "1\n", "output": "3\n" },
    ]);
    let told = test("test_program_stdio", program, tests).await;
    assert_eq!(told["results"], json!([1, 1, 0]));
    // More than the report keeps, of each and of all.
    let tests: Vec<Value> = (0..3)
        .map(|more| json!({ "input": "", "output": "x".repeat(1_200_000 + more % 2) }))
        .collect();
    let program = "import sys\nprint('x' * 1_200_000)\nprint('e' * 1_000_000, file=sys.stderr)";
    let told = test("test_program_stdio", program, tests.into()).await;
    assert_eq!(told["results"], json!([1, 0, 1]));
    // base64(zlib(pickle(["assert True", "assert False"]))), as Python makes it.
    let packed = json!("eJxrYJmqxAABsVM0ergTi4tTi0oUQopKU6f08EB5bok5xalTUvUAGDIOLg==");
    assert_eq!(test("test_program", "", packed).await["results"], json!([1, 0]));
    let none = json!({ "results": [], "runtimes": [] });
    assert_eq!(test("test_program", "", json!([])).await, none);
    let health = world.get(&format!("{PATH}/health")).await.json::<Value>(200);
    assert_eq!(health, json!({ "status": "healthy" }));
}

#[tokio::test]
async fn a_failure_has_no_results() {
    let world = World::start().await;
    let call =
        json!({ "program": "unavailable", "tests": ["assert True"], "max_execution_time": 1.0 });
    let path = "open-instruct/liar@prod/failing/test_program";
    check_later(&world.post(path, &call).await, 503, "unavailable");
    let odd = json!({ "program": "", "tests": "!" });
    let odd = world.post(path, &odd).await;
    let _ = odd.problem(400, "bad_request");
    check_no_number(&odd);
    // After each of the two answers open-instruct writes 0.
    let missing = world.missing_rewards(2).await;
    assert_eq!((missing.len(), missing[0].run.as_deref()), (1, Some("failing")), "{missing:?}");
    assert!(missing[0].detail.contains("writes 0"), "{missing:?}");
}
