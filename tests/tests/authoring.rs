//! A plugin from a template to a version that runs use, by the command line its author has: the real
//! programs, a real server.

mod cases;
mod projects;
mod releases;
mod replays;

use std::path::{Path, PathBuf};
use std::process::Command;

use assay_api::batch::Batch;
use assay_tests::{CommandResult, Host, Http, checkout, component_path, program};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A golden case that `trivial` passes in its first version.
const CASE_EVEN: &str =
    "name: even\nrequest: {response: ab}\nexpect: {outcome: scored, reward: 1}\n";

/// An author's folder, and what of the environment the programs see there.
struct AuthorFolder {
    folder: TempDir,
    host: Option<(String, String)>,
}

impl AuthorFolder {
    fn new(host: Option<&Host>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { folder, host: host.map(|host| (host.url.clone(), host.key.clone())) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("in a folder")).expect("makes folders");
        std::fs::write(path, text).expect("writes");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("reads")
    }

    /// `assay` in the folder, without credentials that its tester may have.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program("assay"));
        command.args(arguments).current_dir(self.folder.path());
        command.env_remove("ASSAY_URL").env_remove("ASSAY_API_KEY");
        command.env("XDG_CONFIG_HOME", self.path("config"));
        command.env("XDG_CACHE_HOME", self.path("cache"));
        if let Some((url, key)) = &self.host {
            command.env("ASSAY_URL", url).env("ASSAY_API_KEY", key);
        }
        command
    }

    fn assay(&self, arguments: &[&str]) -> CommandResult {
        let output = self.command(arguments).output().expect("assay runs");
        let text = |bytes| String::from_utf8(bytes).expect("it writes text");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        CommandResult { code: output.status.code(), stdout, stderr }
    }

    fn json(&self, arguments: &[&str], code: i32) -> Value {
        self.assay(&[arguments, &["-o", "json"]].concat()).json(code)
    }

    /// A project whose component was built before: its build does nothing.
    fn project(&self, name: &str, component: &str) {
        let manifest = "build = [\"true\"]\ncomponent = \"plugin.wasm\"\ncases = \"cases\"\n";
        self.write(&format!("{name}/plugin.toml"), manifest);
        self.set_component(name, component);
    }

    fn set_component(&self, name: &str, component: &str) {
        let to = self.path(&format!("{name}/plugin.wasm"));
        std::fs::copy(component_path(component), to).expect("copies");
    }
}

/// A failure must explain itself in its output.
fn explained(ended: &CommandResult, by: &str) {
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert!(ended.stderr.contains(by), "{by}: {ended:#?}");
}

/// A folder for builds of projects, beside the tests' own, so that the SDK is compiled once.
fn shared_target() -> PathBuf {
    let profile = program("assay").parent().expect("a folder").to_path_buf();
    let target = profile.parent().expect("a target folder").join("authoring");
    std::fs::create_dir_all(&target).expect("makes it");
    // Projects lie elsewhere.
    std::path::absolute(checkout().join(target)).expect("a path")
}

/// Announces a batch of a run; responses of an even length are right, says `trivial` in its first
/// version.
async fn batch(http: &Http, run: &str, plugin: &str, responses: &[&str]) -> Batch {
    let size = responses.len();
    let call = json!({ "plugin": plugin, "run": run, "expected_size": size, "share_equal": false });
    let batch: Batch = http.post("/v1/batches", &call).await.json(201);
    let item = |(key, response): (usize, &&str)| json!({ "key": format!("k{key}"), "response": response, "label": "42" });
    let items: Vec<Value> = responses.iter().enumerate().map(item).collect();
    let path = format!("/v1/batches/{}", batch.id);
    let answer = http.post(&format!("{path}/requests"), &json!(items)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    http.get_when_ended(&path).await.json(200)
}

/// A symbolic link, for a folder that several projects share.
fn link(from: &Path, to: &Path) {
    std::os::unix::fs::symlink(to, from).expect("links");
}
