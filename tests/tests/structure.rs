//! The allowed dependencies of each package, and the contents that source files may have: the rules of the
//! design, checked on cargo's metadata and on the sources.
//!
//! Dev-dependencies and test code are free. Layers are crates, so that the compiler holds most of this; the
//! reading of sources is by words outside comments.

mod modules;
mod packages;
mod readmes;
mod sources;
mod words;

use std::collections::BTreeSet;

use assay_tests::checkout;
use modules::{CYCLES, Cycle, cycles};
use packages::Packages;
use sources::Source;

/// The packages that a package must not reach, even through others: names, or the beginnings of names that
/// end in `*`.
const NEVER: &[(&str, &[&str], &str)] = &[
    ("assay-core", &["assay-*"], "everything else is built on it"),
    ("assay-ptx", &["assay-*"], "it is an interpreter and nothing of Assay"),
    ("assay-postgres", &["assay-*", "sqlx*"], "it starts a database and asks it nothing"),
    (
        "assay-cli",
        &["assay-exec", "assay-gpu", "assay-sandbox", "assay-worker", "wasmtime*", "cranelift-*"],
        "plugins are compiled and run in worker processes, which contain a hostile upload",
    ),
    (
        "assay-worker",
        &[
            "assay-api",
            "assay-sched",
            "assay-planner",
            "assay-postgres",
            "assay-server",
            "assay-store",
            "sqlx*",
            "tokio-postgres",
            "utoipa*",
        ],
        "a worker has no say in the plan and no way to the database",
    ),
    (
        "assay-sched",
        &["tokio*", "async-*", "mio", "sqlx*", "axum*", "hyper*", "nix", "rayon*", "utoipa*"],
        "the scheduler is pure: no clock, no I/O, no threads",
    ),
    (
        "assay-planner",
        &["tokio*", "async-*", "mio", "sqlx*", "axum*", "hyper*", "nix", "rayon*", "utoipa*"],
        "the planner is pure: no clock, no I/O, no threads",
    ),
    (
        "assay-sim",
        &["tokio*", "async-*", "mio", "sqlx*", "axum*", "hyper*", "nix", "rayon*", "flate2"],
        "the simulator is pure: no clock, no I/O, no threads",
    ),
    (
        "assay-store",
        &["axum*", "assay-http", "assay-sched", "assay-planner"],
        "the store knows rows",
    ),
    (
        "assay-fleet",
        &["axum*", "assay-http", "assay-sched", "assay-planner", "assay-store", "sqlx*"],
        "the fleet knows processes",
    ),
    (
        "assay-dispatch",
        &["assay-http", "assay-link", "assay-registry", "assay-sim"],
        "the loop is called by the interfaces and knows none of them",
    ),
    ("assay-client", &["sqlx*", "axum*", "wasmtime*", "assay-store"], "trainers link it"),
    ("assay-plugin", &["assay-core", "tokio*", "wasmtime*"], "plugins link it"),
];

/// The other projects' crates that the pure crates may use: small, and without any state of the machine.
const PURE: &[(&str, &[&str])] = &[
    ("assay-sched", &["thiserror", "serde", "slab", "smallvec", "indexmap", "rustc-hash"]),
    ("assay-planner", &["thiserror"]),
    // An interpreter: the machine it computes on must not be seen in what it computes.
    ("assay-ptx", &["thiserror"]),
    // Its random numbers come from seeds alone; its ids are numbered.
    ("assay-sim", &["thiserror", "serde", "serde_json", "uuid", "rand_chacha", "rand_distr"]),
];

/// Packages of others that one or two of ours may use directly, and why.
const ONLY: &[(&str, &[&str], &str)] = &[
    ("sqlx", &["assay-store"], "all SQL is the store's"),
    (
        "utoipa",
        &["assay-api", "assay-http", "assay-fuzz-seeds"],
        "what is below the interface knows no OpenAPI",
    ),
    ("axum", &["assay-http", "assay-fuzz-seeds"], "handlers are the interface's"),
    ("wasmtime", &["assay-sandbox"], "plugins run in the sandbox"),
];

/// Words that sources under a path must not hold.
const WORDS: &[(&str, &[&str], &str)] = &[
    (
        "host/sched/src/",
        &["Instant", "SystemTime", "std::thread", "std::fs", "std::net", "std::env", "thread_rng"],
        "time and seeds are arguments",
    ),
    (
        "host/planner/src/",
        &["Instant", "SystemTime", "std::thread", "std::fs", "std::net", "std::env", "thread_rng"],
        "time and seeds are arguments",
    ),
    (
        "host/sim/src/",
        &["Instant", "SystemTime", "std::thread", "std::fs", "std::net", "std::env", "thread_rng"],
        "time is virtual, seeds are arguments",
    ),
];

const LINES_MAX: usize = 500;

fn packages_at_fault(packages: &Packages) -> Vec<String> {
    let mut faults = Vec::new();
    for package in packages.own() {
        let direct = packages.direct(package);
        for (other, users, why) in ONLY {
            if direct.contains(other) && !users.contains(&package) {
                faults.push(format!("{package} must not depend on {other}: {why}"));
            }
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
    faults
}

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} broken rules:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn packages_import_what_they_may() {
    let packages = Packages::of_checkout(&checkout());
    let named = NEVER.iter().map(|(name, ..)| name).chain(PURE.iter().map(|(name, _)| name));
    for name in named {
        assert!(packages.is_own(name), "{name} is no package: its rule holds nothing");
    }
    assert!(packages.paths("assay-worker").iter().any(|path| path.last() == Some(&"wasmtime")));
    assert_none(&packages_at_fault(&packages));
}

#[test]
fn sources_hold_what_they_may() {
    let sources = sources::of_checkout(&checkout());
    for path in ["host/cli/src/main.rs", "host/sched/src/sched.rs", "sdk/rust/src/lib.rs"] {
        assert!(sources.iter().any(|source| source.path == path), "{path} was not looked at");
    }
    assert_none(&sources.iter().flat_map(source_faults).collect::<Vec<_>>());
}

/// A server compares the migrations of its database with its own, and refuses to start where one was changed. After a new
/// one: `cd migrations && sha256sum *.sql >SHA256SUMS`.
#[test]
fn migrations_are_added_and_never_changed() {
    let folder = checkout().join("migrations");
    let mut files: Vec<_> = std::fs::read_dir(&folder).expect("the folder is there").collect();
    files.sort_by_key(|file| file.as_ref().expect("it can be read").file_name());
    let sums = files.into_iter().filter_map(|file| {
        let file = file.expect("it can be read").path();
        let name = file.file_name().expect("a file").to_str().expect("a plain name").to_owned();
        let sum = || assay_core::id::Digest::of(&std::fs::read(&file).expect("it can be read"));
        name.ends_with(".sql").then(|| format!("{}  {name}\n", sum()))
    });
    let written = std::fs::read_to_string(folder.join("SHA256SUMS")).expect("it is there");
    assert_eq!(sums.collect::<String>(), written);
}

#[test]
fn modules_use_each_other_in_one_direction() {
    let found = cycles(&sources::of_checkout(&checkout()));
    let known = CYCLES.iter().map(|(folder, modules, _)| cycle(folder, modules));
    let known: BTreeSet<Cycle> = known.collect();
    let new: Vec<_> = found.difference(&known).collect();
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "new cycles: {new:#?}\ncycles that ended: {gone:#?}"
    );
}

#[test]
fn cycles_of_modules_are_seen() {
    let found = |sources: &[(&str, &str)]| {
        let sources = sources.iter().map(|(path, text)| Source::new(path, text));
        cycles(&sources.collect::<Vec<_>>())
    };
    let both = BTreeSet::from([cycle("host/x", &["a", "b"])]);
    let (a, b) = ("host/x/src/a.rs", "host/x/src/b.rs");
    assert_eq!(found(&[(a, "use crate::b::B;"), (b, "fn f() { crate::a::f() }")]), both);
    assert_eq!(found(&[(a, "use crate::{c::{D, E}, b};"), (b, "use super::a;")]), both);
    let deep = ("host/x/src/b/deep.rs", "use super::super::a;");
    assert_eq!(found(&[(a, "use crate::b::B;"), deep]), both);
    let root = ("host/x/src/lib.rs", "mod a;\nmod b;\npub use a::Thing;");
    assert_eq!(found(&[root, (a, "use crate::b::B;"), (b, "use crate::Thing;")]), both);
    let none = BTreeSet::new();
    assert_eq!(found(&[(a, "use crate::b::B;"), (b, "// crate::a\nuse other::a;")]), none);
    assert_eq!(found(&[(a, "use crate::b::B;"), ("host/y/src/b.rs", "use crate::a;")]), none);
    let of_tests = "fn f() {}\n#[cfg(test)]\nmod tests {\n use crate::a;\n}";
    assert_eq!(found(&[(a, "use crate::b::B;"), (b, of_tests)]), none);
}

fn cycle(folder: &str, modules: &[&str]) -> Cycle {
    let modules = modules.iter().map(|module| (*module).to_owned()).collect();
    Cycle { folder: folder.to_owned(), modules }
}

#[test]
fn forbidden_packages_are_seen() {
    let packages = Packages::made_up(&[
        ("assay-core", &["serde"]),
        ("assay-sched", &["assay-core", "rand"]),
        ("assay-sandbox", &["wasmtime"]),
        ("assay-wire", &["assay-core", "assay-sandbox"]),
        ("assay-cli", &["assay-wire"]),
        ("assay-store", &["sqlx"]),
        ("assay-client", &["sqlx"]),
        ("serde", &["tokio-util"]),
    ]);
    let faults = packages_at_fault(&packages).join("\n");
    for expected in [
        "assay-client must not depend on sqlx",
        "assay-sched is pure and must not depend on rand",
        "assay-cli > assay-wire > assay-sandbox > wasmtime",
        "assay-sched > assay-core > serde > tokio-util",
    ] {
        assert!(faults.contains(expected), "{expected} is missing in:\n{faults}");
    }
    assert!(!faults.contains("assay-store must not depend on sqlx"), "{faults}");
}

#[test]
fn forbidden_sources_are_seen() {
    for (path, text, expected) in [
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
