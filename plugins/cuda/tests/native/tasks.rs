//! The tasks beside the plugin: every label is taken, and every candidate is found in the form that it
//! says it has.

use std::fs;
use std::path::{Path, PathBuf};

use assay_plugin::Request;
use assay_plugin::gpu::compiler::FrontEnd;
use assay_plugin_cuda::run_stage;
use serde_json::{Value, json};

use crate::world::World;

fn tasks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tasks")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

fn label(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("task.json")).expect("a task");
    let mut label: Value = serde_json::from_str(&text).expect("JSON");
    for part in ["reference", "baseline"] {
        let Some(program) = label.get_mut(part).and_then(Value::as_object_mut) else { continue };
        let file = program.remove("file").expect("a file");
        let source = fs::read_to_string(folder.join(file.as_str().expect("a name")));
        program.insert("source".into(), json!(source.expect("a source")));
    }
    label
}

/// The value of a line such as `// form: host`.
fn said<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let lines = text.lines().take(4);
    lines.filter_map(|line| line.trim_start_matches(['/', '#', ' ']).strip_prefix(key)).next()
}

/// The compiler that the first source goes to, or the reason why no source reaches one. The result in the
/// made-up world does not matter.
fn first_call(label: &Value, path: &Path, text: &str) -> Result<FrontEnd, String> {
    let language = if path.extension().is_some_and(|end| end == "py") { "python" } else { "cuda" };
    let request = Request::new("", &format!("```{language}\n{text}\n```\n"), &label.to_string());
    let world = World::default();
    let outcome = run_stage(&world, "compile", "{}", &request, None);
    let first = world.seen.borrow().compiled.first().map(|request| request.front_end);
    first.ok_or_else(|| format!("{outcome:?}"))
}

#[test]
fn candidates_are_found_in_the_form_that_they_have() {
    let mut seen = 0;
    for folder in entries(&tasks()).into_iter().filter(|path| path.is_dir()) {
        let label = label(&folder);
        for path in entries(&folder) {
            let text = fs::read_to_string(&path).expect("a text");
            let Some(form) = said(&text, "form: ") else { continue };
            let expected = match form {
                "kernel" => FrontEnd::Nvrtc,
                "host" | "torch" => FrontEnd::NvccHost,
                other => panic!("{}: there is no form {other}", path.display()),
            };
            assert_eq!(first_call(&label, &path, &text), Ok(expected), "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 48, "twelve tasks with four candidates each at least, not {seen}");
}
