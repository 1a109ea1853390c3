//! Who may import whom, and what a source file may hold: the rules of the design, checked on cargo's
//! metadata and on the sources. A new edge is a line here, in a commit of its own.
//!
//! Dev-dependencies and test code are free. The reading of sources is by words, not by a compiler: it
//! sees `crate::`, `super::` and crate names outside comments, which is how this project writes paths.

mod packages;
mod sources;

use std::path::Path;

use assay_tests::checkout;
use packages::Packages;
use sources::Source;

/// Every package of ours with those of ours it may depend on.
const OWN_EDGES: &[(&str, &[&str])] = &[
    ("assay-model", &[]),
    ("assay-exec", &["assay-model"]),
    ("assay-ptx", &[]),
    ("assay-wire", &["assay-model"]),
    ("assay-sched", &["assay-model"]),
    ("assay-sim", &["assay-model", "assay-sched"]),
    ("assay-gpu", &["assay-model", "assay-exec", "assay-ptx"]),
    ("assay-fake-cuda", &["assay-ptx"]),
    ("assay-sandbox", &["assay-model", "assay-exec", "assay-gpu"]),
    ("assay-worker", &["assay-model", "assay-wire", "assay-exec", "assay-gpu", "assay-sandbox"]),
    ("assay-postgres", &[]),
    ("assay-client", &["assay-model"]),
    (
        "assay-server",
        &[
            "assay-model",
            "assay-wire",
            "assay-sched",
            "assay-sim",
            "assay-postgres",
            "assay-client",
        ],
    ),
    ("assay-plugin", &[]),
    ("assay-plugin-hello", &["assay-plugin"]),
    ("assay-plugin-math", &["assay-plugin"]),
    ("assay-plugin-code", &["assay-plugin"]),
    ("assay-plugin-cuda", &["assay-plugin"]),
    ("assay-plugin-judge", &["assay-plugin"]),
    ("assay-plugin-run", &["assay-plugin"]),
    ("assay-guests", &["assay-plugin"]),
    ("assay-bench", &["assay-model", "assay-exec", "assay-ptx", "assay-gpu", "assay-client"]),
    ("assay-tests", &["assay-model", "assay-wire", "assay-client", "assay-postgres"]),
];

/// What a package must not reach, however far: names, or the beginnings of names that end in `*`.
const NEVER: &[(&str, &[&str], &str)] = &[
    (
        "assay-server",
        &["assay-sandbox", "assay-worker", "wasmtime*", "cranelift-*"],
        "plugins are compiled and run in worker processes, which contain a hostile upload",
    ),
    (
        "assay-worker",
        &["assay-sched", "assay-postgres", "assay-server", "sqlx*", "tokio-postgres"],
        "a worker has no say in the plan and no way to the database",
    ),
    (
        "assay-sched",
        &["tokio*", "async-*", "mio", "sqlx*", "axum*", "hyper*", "nix", "rayon*"],
        "the scheduler is pure: no clock, no I/O, no threads",
    ),
    (
        "assay-sim",
        &["tokio*", "async-*", "mio", "sqlx*", "axum*", "hyper*", "nix", "rayon*", "flate2"],
        "the simulator is pure: no clock, no I/O, no threads",
    ),
    ("assay-client", &["sqlx*", "axum*", "wasmtime*"], "trainers link it"),
    ("assay-plugin", &["tokio*", "wasmtime*"], "plugins link it"),
];

/// What the pure crates may use of others' crates: small, and without any state of the machine.
const PURE: &[(&str, &[&str])] = &[
    ("assay-sched", &["thiserror", "serde", "slab", "smallvec", "indexmap", "rustc-hash"]),
    // An interpreter: the machine it computes on must not be seen in what it computes.
    ("assay-ptx", &["thiserror"]),
    // Its random numbers come from seeds alone; its ids are numbered.
    ("assay-sim", &["thiserror", "serde", "serde_json", "uuid", "rand_chacha", "rand_distr"]),
];

/// The one package that speaks SQL.
const SQL_PACKAGE: &str = "assay-server";

/// Words that sources under a path must not hold.
const WORDS: &[(&str, &[&str], &str)] = &[
    (
        "host/sched/src/",
        &["Instant", "SystemTime", "std::thread", "std::fs", "std::net", "std::env", "thread_rng"],
        "time and seeds are arguments",
    ),
    (
        "host/sim/src/",
        &["Instant", "SystemTime", "std::thread", "std::fs", "std::net", "std::env", "thread_rng"],
        "time is virtual, seeds are arguments",
    ),
    ("host/server/src/http", &["assay_sched"], "handlers speak to the dispatcher's handle"),
    ("host/server/src/store", &["assay_sched", "axum"], "the store knows rows"),
    ("host/server/src/fleet", &["assay_sched", "axum"], "the fleet knows processes"),
];

/// Inside the server: modules and those they must not use.
const LAYERS: &[(&str, &[&str])] = &[
    ("http", &["fleet", "cli"]),
    ("dispatch", &["http", "cli"]),
    ("store", &["http", "cli", "dispatch", "fleet", "blob"]),
    ("fleet", &["http", "cli"]),
    ("blob", &["http", "cli", "dispatch", "fleet", "store"]),
    ("storage", &["http", "cli", "dispatch", "fleet", "blob"]),
];

const SQL_WORDS: &[&str] = &[
    "query!",
    "query_as!",
    "query_scalar!",
    "query_file!",
    "query_unchecked!",
    "sqlx::query",
    "sqlx::raw_sql",
    "QueryBuilder",
];

const LINES_MAX: usize = 500;

fn packages_at_fault(packages: &Packages) -> Vec<String> {
    let mut faults = Vec::new();
    for package in packages.own() {
        let direct = packages.direct(package);
        match OWN_EDGES.iter().find(|(name, _)| *name == package) {
            None => faults.push(format!("{package} has no line in OWN_EDGES")),
            Some((_, allowed)) => {
                let own = direct.iter().filter(|name| packages.is_own(name));
                let bad = own.filter(|name| !allowed.contains(name));
                faults.extend(bad.map(|name| format!("{package} must not depend on {name}")));
            }
        }
        if package != SQL_PACKAGE && direct.contains(&"sqlx") {
            faults.push(format!("{package} must not depend on sqlx: all SQL is the store's"));
        }
    }
    for (package, allowed) in PURE {
        let others = packages.direct(package).into_iter().filter(|name| !packages.is_own(name));
        let bad = others.filter(|name| !allowed.contains(name));
        faults.extend(bad.map(|name| format!("{package} is pure and must not depend on {name}")));
    }
    for (package, never, why) in NEVER {
        for path in packages.paths(package) {
            let name = *path.last().expect("a path has an end");
            let hit = never.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(beginning) => name.starts_with(beginning),
                None => name == *pattern,
            });
            if hit {
                faults
                    .push(format!("{package} must not reach {name} ({why}): {}", path.join(" > ")));
            }
        }
    }
    faults
}

fn source_faults(source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |line: usize, text: String| {
        faults.push(format!("{}:{line}: {text}", source.path));
    };
    if source.lines > LINES_MAX {
        fault(source.lines, format!("{} lines, at most {LINES_MAX} are allowed", source.lines));
    }
    for (folder, words, why) in WORDS {
        let words = words.iter().filter(|_| source.path.starts_with(folder));
        for (line, word) in words.flat_map(|word| source.uses_of(word)) {
            fault(line, format!("no `{word}` here: {why}"));
        }
    }
    let Some(module) = source.module("host/server/src/") else { return faults };
    for (layer, never) in LAYERS.iter().filter(|(layer, _)| *layer == module) {
        for (line, name) in source.imports() {
            if never.contains(&name.as_str()) {
                fault(line, format!("{layer} must not use {name}"));
            }
        }
    }
    if module != "store" {
        for (line, word) in SQL_WORDS.iter().flat_map(|word| source.uses_of(word)) {
            fault(line, format!("no `{word}` here: all SQL is in store/"));
        }
    }
    faults
}

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} broken rules:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn packages_import_what_they_may() {
    let packages = Packages::of_checkout(&checkout());
    let known: Vec<&str> = OWN_EDGES.iter().map(|(name, _)| *name).collect();
    assert_eq!(packages.own(), sorted(known), "a package came or went: see OWN_EDGES");
    assert!(packages.paths("assay-worker").iter().any(|path| path.last() == Some(&"wasmtime")));
    assert_none(&packages_at_fault(&packages));
}

#[test]
fn sources_hold_what_they_may() {
    let sources = sources::of_checkout(&checkout());
    for path in ["host/server/src/main.rs", "host/sched/src/sched.rs", "sdk/rust/src/lib.rs"] {
        assert!(sources.iter().any(|source| source.path == path), "{path} was not looked at");
    }
    assert_none(&sources.iter().flat_map(source_faults).collect::<Vec<_>>());
}

#[test]
fn forbidden_packages_are_seen() {
    let packages = Packages::made_up(&[
        ("assay-model", &["serde"]),
        ("assay-sched", &["assay-model", "rand"]),
        ("assay-sandbox", &["wasmtime"]),
        ("assay-wire", &["assay-model", "assay-sandbox"]),
        ("assay-server", &["assay-wire", "sqlx"]),
        ("assay-client", &["sqlx"]),
        ("assay-stray", &[]),
        ("serde", &["tokio-util"]),
    ]);
    let faults = packages_at_fault(&packages).join("\n");
    for expected in [
        "assay-stray has no line in OWN_EDGES",
        "assay-wire must not depend on assay-sandbox",
        "assay-client must not depend on sqlx",
        "assay-sched is pure and must not depend on rand",
        "assay-server > assay-wire > assay-sandbox > wasmtime",
        "assay-sched > assay-model > serde > tokio-util",
    ] {
        assert!(faults.contains(expected), "{expected} is missing in:\n{faults}");
    }
    assert!(!faults.contains("assay-server must not depend on sqlx"), "{faults}");
}

#[test]
fn forbidden_sources_are_seen() {
    for (path, text, expected) in [
        (
            "host/server/src/http/runs.rs",
            "use crate::fleet::Fleet;",
            Some("1: http must not use fleet"),
        ),
        (
            "host/server/src/http/runs.rs",
            "\nuse super::super::fleet;",
            Some("2: http must not use fleet"),
        ),
        ("host/server/src/http.rs", "use super::fleet;", Some("1: http must not use fleet")),
        (
            "host/server/src/dispatch/shell.rs",
            "use crate::{\n  store::Store,\n  http::{self, Router},\n};",
            Some("3: dispatch must not use http"),
        ),
        (
            "host/server/src/store.rs",
            "fn f() { crate::http::g() }",
            Some("store must not use http"),
        ),
        ("host/server/src/fleet/process.rs", "use crate::http;", Some("fleet must not use http")),
        ("host/server/src/http/runs.rs", "use assay_sched::Sched;", Some("no `assay_sched`")),
        ("host/server/src/http/runs.rs", "sqlx::query!(\"select 1\")", Some("no `query!`")),
        ("host/server/src/cli/serve.rs", "sqlx::query(\"x\")", Some("no `sqlx::query`")),
        ("host/server/src/store/runs.rs", "sqlx::query!(\"select 1\")", None),
        ("host/server/src/http/runs.rs", "use crate::store::Store;", None),
        ("host/server/src/http/runs.rs", "use super::fleet_view;\nuse super::fleet;", None),
        ("host/server/src/http/runs.rs", "// never crate::fleet\nlet a = \"http://b\";", None),
        ("host/sched/src/sched.rs", "use std::time::Instant;", Some("no `Instant`")),
        ("host/sched/src/sched.rs", "/// An Instant is a number here.\nstruct Instants;", None),
        (
            "host/sched/src/sched.rs",
            "fn f() {}\n#[cfg(test)]\nmod tests {\n use std::time::Instant;\n}",
            None,
        ),
    ] {
        let faults = source_faults(&Source::new(path, text)).join("\n");
        match expected {
            Some(expected) => assert!(faults.contains(expected), "{path} {text}: {faults}"),
            None => assert_eq!(faults, "", "{path} {text}"),
        }
    }
    let long = |lines| Source::new("bench/src/main.rs", &"fn f() {}\n".repeat(lines));
    assert_eq!(source_faults(&long(500)), Vec::<String>::new());
    assert_eq!(source_faults(&long(501)).len(), 1);
}

fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}

#[test]
fn the_rules_name_what_exists() {
    let server = checkout().join("host/server/src");
    let exists = |name: &str| {
        server.join(name).is_dir() || server.join(Path::new(name).with_extension("rs")).is_file()
    };
    let named = LAYERS.iter().flat_map(|(layer, never)| std::iter::once(layer).chain(*never));
    let gone: Vec<&&str> = named.filter(|name| !exists(name)).collect();
    assert!(gone.is_empty(), "LAYERS names modules that do not exist: {gone:?}");
}
