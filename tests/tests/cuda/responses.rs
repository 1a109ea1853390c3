//! The tasks of `plugins/cuda/tasks` with their candidates, and the cheats of `plugins/cuda/cheats`.
//!
//! A candidate and a cheat begin with lines such as `// expect: wrong_answer`, which are for the tests:
//! what is handed in begins behind them.

use std::fs;
use std::path::{Path, PathBuf};

use assay_tests::checkout;
use serde_json::Value;

pub(crate) const VERDICTS: [&str; 7] = [
    "generation_failed",
    "compile_failed",
    "execute_error",
    "wrong_answer",
    "suspicious",
    "unsupported",
    "success",
];

pub(crate) struct Task {
    pub(crate) name: String,
    folder: PathBuf,
    /// As it is written: sources are named by their files.
    pub(crate) written: Value,
}

/// A file that a model might have handed in.
#[derive(Clone)]
pub(crate) struct Response {
    /// Folder and file.
    pub(crate) name: String,
    pub(crate) task: String,
    /// The verdicts that it may get: devices differ in how they find out.
    pub(crate) expect: Vec<String>,
    /// `kernel`, `host` or `torch`; empty for a cheat.
    pub(crate) form: String,
    /// `gpu` or `simulated`, where the other kind of device cannot show it; else empty.
    pub(crate) needs: String,
    pub(crate) settings: Option<Value>,
    pub(crate) path: PathBuf,
    /// Without the lines for the tests.
    pub(crate) source: String,
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The entries of a folder, in the order of names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = found.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().and_then(|name| name.to_str()).expect("a plain name").to_owned()
}

pub(crate) fn tasks() -> Vec<Task> {
    let folders = entries(&checkout().join("plugins/cuda/tasks"));
    folders
        .into_iter()
        .map(|folder| {
            let written = json(&folder.join("task.json"));
            let name = name(&folder);
            assert_eq!(written["task"], name.as_str(), "a task is called as its folder");
            Task { name, folder, written }
        })
        .collect()
}

impl Task {
    pub(crate) fn prompt(&self) -> String {
        read(&self.folder.join("prompt.md"))
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The label of a request: with the texts of the files that it names.
    pub(crate) fn label(&self) -> Value {
        let mut label = self.written.clone();
        for part in ["reference", "baseline"] {
            let Some(part) = label.get_mut(part).and_then(Value::as_object_mut) else { continue };
            let file = part.remove("file").expect("a file is named");
            let source = read(&self.file(file.as_str().expect("a file's name")));
            part.insert("source".into(), source.into());
        }
        label
    }

    pub(crate) fn candidates(&self) -> Vec<Response> {
        let not = ["task.json", "prompt.md", "reference.cu", "baseline.cu"];
        let files = entries(&self.folder).into_iter();
        let files = files.filter(|path| !not.contains(&name(path).as_str()));
        files.map(|path| response(path, Some(&self.name))).collect()
    }
}

pub(crate) fn cheats() -> Vec<Response> {
    let files = entries(&checkout().join("plugins/cuda/cheats")).into_iter();
    files.filter(|path| name(path) != "README.md").map(|path| response(path, None)).collect()
}

fn response(path: PathBuf, task: Option<&str>) -> Response {
    let text = read(&path);
    let mut response = Response {
        name: format!("{}/{}", task.unwrap_or("cheats"), name(&path)),
        task: task.unwrap_or_default().to_owned(),
        expect: Vec::new(),
        form: String::new(),
        needs: String::new(),
        settings: None,
        source: String::new(),
        path,
    };
    let mut rest = text.as_str();
    while let Some((line, behind)) = rest.split_once('\n') {
        let words = line.trim_start_matches(['/', '#', ' ']).split_once(": ");
        let is_comment = line.starts_with("// ") || line.starts_with("# ");
        match words.filter(|_| is_comment) {
            Some(("expect", value)) => {
                response.expect = value.split(" or ").map(str::to_owned).collect();
            }
            Some(("task", value)) => response.task = value.into(),
            Some(("form", value)) => response.form = value.into(),
            Some(("needs", value)) => response.needs = value.into(),
            Some(("settings", value)) => {
                response.settings = Some(serde_json::from_str(value).expect("settings are JSON"));
            }
            Some(("cheat", _)) => {}
            _ => break,
        }
        rest = behind;
    }
    let known = |verdict: &String| VERDICTS.contains(&verdict.as_str());
    let all_known = !response.expect.is_empty() && response.expect.iter().all(known);
    assert!(all_known, "{}: {:?} are no verdicts", response.name, response.expect);
    assert!(["", "gpu", "simulated"].contains(&response.needs.as_str()), "{}", response.name);
    response.source = rest.to_owned();
    response
}

impl Response {
    pub(crate) fn expects(&self, verdict: &str) -> bool {
        self.expect.iter().any(|expected| expected == verdict)
    }

    /// As a model hands it in; a text is a response as it is.
    pub(crate) fn text(&self) -> String {
        let source = self.source.trim_end();
        match self.path.extension().and_then(|extension| extension.to_str()) {
            Some("cu") => format!("Here is the code.\n\n```cuda\n{source}\n```\n"),
            Some("py") => format!("```python\n{source}\n```\n\nThe model calls the extension.\n"),
            _ => self.source.clone(),
        }
    }
}
