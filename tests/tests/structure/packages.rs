//! The packages of the workspace and what they depend on, as cargo says.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    path::Path,
    process::Command,
};

use serde_json::Value;

/// Normal and build dependencies by package name; versions do not matter here.
pub(crate) struct Packages {
    edges: BTreeMap<String, BTreeSet<String>>,
    own: BTreeSet<String>,
}

impl Packages {
    /// The packages of this checkout by cargo's metadata, for the platform of this machine: dependencies
    /// for other platforms may be missing here.
    pub(crate) fn of_checkout(root: &Path) -> Self {
        let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
        let about = output(Command::new(rustc).arg("-vV"));
        let host = about.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
        let mut asking = Command::new(cargo);
        asking.args(["metadata", "--format-version", "1", "--offline", "--locked"]);
        asking.args(["--filter-platform", host]).current_dir(root);
        Self::parse(&serde_json::from_str(&output(&mut asking)).expect("cargo prints JSON"))
    }

    fn parse(metadata: &Value) -> Self {
        let names: BTreeMap<&str, &str> = list(&metadata["packages"])
            .map(|package| (text(&package["id"]), text(&package["name"])))
            .collect();
        let name = |id: &Value| names[text(id)].to_owned();
        let mut edges = BTreeMap::<String, BTreeSet<String>>::new();
        for node in list(&metadata["resolve"]["nodes"]) {
            let dependencies = list(&node["deps"]).filter(|dependency| {
                list(&dependency["dep_kinds"]).any(|kind| kind["kind"] != "dev")
            });
            let dependencies = dependencies.map(|dependency| name(&dependency["pkg"]));
            edges.entry(name(&node["id"])).or_default().extend(dependencies);
        }
        let own = list(&metadata["workspace_members"]).map(name).collect();
        Self { edges, own }
    }

    /// A workspace for trying the rules on; packages named `assay-` are its own.
    pub(crate) fn made_up(edges: &[(&str, &[&str])]) -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let edges: BTreeMap<String, BTreeSet<String>> =
            edges.iter().map(|(name, to)| ((*name).to_owned(), owned(to))).collect();
        let own = edges.keys().filter(|name| name.starts_with("assay-")).cloned().collect();
        Self { edges, own }
    }

    /// The workspace's members, in order.
    pub(crate) fn own(&self) -> Vec<&str> {
        self.own.iter().map(String::as_str).collect()
    }

    pub(crate) fn is_own(&self, name: &str) -> bool {
        self.own.contains(name)
    }

    pub(crate) fn direct(&self, package: &str) -> Vec<&str> {
        self.edges.get(package).into_iter().flatten().map(String::as_str).collect()
    }

    /// For each package that this one reaches, one shortest way there.
    pub(crate) fn paths<'a>(&'a self, package: &'a str) -> Vec<Vec<&'a str>> {
        let mut seen = BTreeSet::from([package]);
        let mut paths = vec![vec![package]];
        let mut next = 0;
        while let Some(path) = paths.get(next).cloned() {
            for name in self.direct(path.last().expect("a path has an end")) {
                if seen.insert(name) {
                    paths.push(path.iter().copied().chain([name]).collect());
                }
            }
            next += 1;
        }
        paths.split_off(1)
    }
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("cargo and rustc run");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("a list").iter()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}
