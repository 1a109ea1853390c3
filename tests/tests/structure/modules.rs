//! The top-level modules of each crate, and which of them use each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::structure::sources::Source;

/// Top-level modules of a crate that use each other, and why they still do. Every other crate has no cycle.
pub(crate) const CYCLES: &[(&str, &[&str], &str)] = &[
    (
        "host/dispatch",
        &[
            "admission",
            "batch",
            "command",
            "handle",
            "live_batches",
            "observe",
            "planning",
            "publish",
            "quota",
            "restore",
            "shell",
            "single",
            "workers",
        ],
        "the loop's state has methods in the file of each concern, and commands carry their answers",
    ),
    (
        "host/store",
        &["admissions", "dispatch_store", "ends", "group_commit", "outcomes", "restore", "single"],
        "each kind of write is written by the database that the dispatcher is given, which reads back all of them",
    ),
    (
        "host/store",
        &["golden_cases", "plugins"],
        "a version is published with its cases in one transaction",
    ),
];

/// Modules by name, each with the modules that it uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// The modules of a crate of which each uses each other, directly or through others.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cycle {
    /// Folder of the crate, such as `host/sched`.
    pub(crate) folder: String,
    pub(crate) modules: BTreeSet<String>,
}

/// The cycles of all crates.
pub(crate) fn cycles(sources: &[Source]) -> BTreeSet<Cycle> {
    let mut crates = BTreeMap::<&str, Vec<(&str, &Source)>>::new();
    for source in sources {
        if let Some((folder, inside)) = source.path.split_once("/src/") {
            crates.entry(folder).or_default().push((inside, source));
        }
    }
    let found = crates.into_iter().flat_map(|(folder, sources)| {
        let cycles = circles(&uses(&sources)).into_iter();
        cycles.map(|modules| Cycle { folder: folder.to_owned(), modules }).collect::<Vec<_>>()
    });
    found.collect()
}

fn uses(sources: &[(&str, &Source)]) -> Uses {
    let modules: BTreeSet<&str> =
        sources.iter().map(|(inside, _)| top(inside)).filter(|name| !is_root(name)).collect();
    let exports = exports(sources, &modules);
    let mut uses = Uses::new();
    for (inside, source) in sources.iter().filter(|(inside, _)| !is_root(top(inside))) {
        // `super` of a file leads to the root of the crate from as deep as the file lies.
        let up = vec!["super"; inside.matches('/').count() + 1].join("::");
        let paths = [source.paths_below("crate"), source.paths_below(&up)].concat();
        for name in paths {
            let to = exports.get(&name).unwrap_or(&name);
            if modules.contains(to.as_str()) && to != top(inside) {
                uses.entry(top(inside).to_owned()).or_default().insert(to.clone());
            }
        }
    }
    uses
}

/// Names that the root of the crate exports, each with its module.
fn exports(sources: &[(&str, &Source)], modules: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let roots = sources.iter().filter(|(inside, _)| is_root(top(inside)));
    let names = roots.flat_map(|(_, root)| {
        let names = modules.iter().flat_map(|module| {
            let below = root.paths_below(module).into_iter();
            below.map(|name| (name, (*module).to_owned()))
        });
        names.collect::<Vec<_>>()
    });
    names.collect()
}

fn top(inside: &str) -> &str {
    inside.split(['/', '.']).next().unwrap_or(inside)
}

fn is_root(module: &str) -> bool {
    ["lib", "main", "bin"].contains(&module)
}

/// The largest sets of modules that reach each other.
fn circles(uses: &Uses) -> BTreeSet<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        uses.keys().map(|module| (module, reached(uses, module))).collect();
    let on_circle = reached.iter().filter(|(module, reached)| reached.contains(*module));
    on_circle
        .map(|(module, to)| {
            let back =
                |other: &&&String| reached.get(**other).is_some_and(|to| to.contains(module));
            to.iter().filter(back).map(|other| (*other).clone()).collect()
        })
        .collect()
}

fn reached<'a>(uses: &'a Uses, module: &'a String) -> BTreeSet<&'a String> {
    let (mut found, mut left) = (BTreeSet::new(), vec![module]);
    while let Some(module) = left.pop() {
        for next in uses.get(module).into_iter().flatten() {
            if found.insert(next) {
                left.push(next);
            }
        }
    }
    found
}
