//! The words of the sources: the beginnings of doc comments, and the names of types. The exceptions are
//! counted here; a count may only shrink.

use std::collections::BTreeMap;

use assay_tests::checkout;

use super::sources::{self, Source};

/// Words with which no sentence begins.
const HEADS: &[&str] = &["Of", "What", "Whoever", "Said"];

/// The packages with doc comments that begin with one of [`HEADS`], and their number.
const HEADS_LEFT: &[(&str, usize)] = &[];

/// Words that name no type: participles, pronouns, conjunctions and metaphors.
const NO_NOUNS: &[&str] = &[
    "Accepted", "Asked", "Because", "Crew", "Doing", "Done", "Doors", "Due", "Ended", "Found",
    "Held", "Judged", "Kept", "Known", "Left", "Lent", "Made", "Met", "Parsed", "Placed",
    "Planned", "Ran", "Refused", "Rest", "Said", "Scored", "Seen", "Sent", "Then", "Until",
    "Wanted", "Whose",
];

/// The types that are named so all the same: the plugin interface has this name for a reward with its verdict.
const NO_NOUNS_LEFT: &[(&str, &str, usize)] = &[("host/core", "Scored", 1)];

/// The names that a package defines more than once, and why.
const TYPE_NAMES: &[(&str, &str, usize, &str)] = &[
    ("bench", "Arguments", 3, "the command line of each program"),
    ("bench", "Measure", 2, "private types of one file each"),
    ("bench", "Part", 2, "the parts of each program"),
    ("bench", "Report", 3, "the report of each program"),
    ("bench/seed", "Seeded", 2, "a batch and a plugin that were made"),
    ("host/cli", "Bound", 2, "private types of one file each"),
    ("host/cli", "Report", 3, "private types of one file each"),
    ("host/client", "Line", 2, "private types of one file each"),
    ("host/dispatch", "Entry", 3, "private types of one file each"),
    ("host/dispatch", "Waiter", 2, "private types of one file each"),
    ("host/fleet", "Start", 2, "the start of a worker, and of a clock"),
    ("host/http", "Answer", 6, "the answer of another side, one for each protocol"),
    ("host/http", "Batch", 2, "private types of one file each"),
    ("host/http", "Credentials", 2, "private types of one file each"),
    ("host/http", "Document", 2, "private types of one file each"),
    ("host/http", "Entry", 2, "private types of one file each"),
    ("host/http", "File", 2, "private types of one file each"),
    ("host/http", "Open", 2, "private types of one file each"),
    ("host/http", "Page", 2, "private types of one file each"),
    ("host/http", "Place", 2, "private types of one file each"),
    ("host/http", "Reader", 2, "private types of one file each"),
    ("host/http", "Source", 2, "private types of one file each"),
    ("host/planner", "Row", 2, "private types of one file each"),
    ("host/sim", "Clock", 2, "the virtual clock, and that of a trainer"),
    ("host/sim", "Engine", 2, "the simulator, and the inference engine of a workload"),
    ("host/sim", "RequestLine", 2, "one for reading, one for writing"),
    ("host/sim", "Trainer", 2, "the running trainer, and its settings in a workload"),
    ("host/store", "Row", 3, "private types of one file each"),
    ("host/store", "RunRow", 2, "private types of one file each"),
    ("plugins/code", "Case", 2, "a case of each kind of test"),
    ("plugins/code", "Judge", 2, "the setting, and the judge of a problem"),
    ("sdk/rust", "Fault", 2, "one for the compiler, one for the device"),
];

/// The number of names that several packages define: the package says which type is meant.
const NAMES_OF_SEVERAL_PACKAGES_MAX: usize = 194;

fn counts<K: Ord>(found: impl IntoIterator<Item = K>) -> BTreeMap<K, usize> {
    let mut counts = BTreeMap::new();
    for key in found {
        *counts.entry(key).or_default() += 1;
    }
    counts
}

/// The counts above the allowed ones.
fn more_than<K: Ord>(
    found: BTreeMap<K, usize>,
    allowed: impl Iterator<Item = (K, usize)>,
) -> Vec<(K, usize)> {
    let allowed: BTreeMap<K, usize> = allowed.collect();
    let more = |(key, count): &(K, usize)| *count > allowed.get(key).copied().unwrap_or(0);
    found.into_iter().filter(more).collect()
}

fn heads(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    source
        .docs()
        .filter(|(_, text)| text.split(' ').next().is_some_and(|word| HEADS.contains(&word)))
}

#[test]
fn doc_comments_begin_with_a_subject() {
    let sources = sources::of_checkout(&checkout());
    let found = counts(sources.iter().flat_map(|source| heads(source).map(|_| source.package())));
    let more = more_than(found, HEADS_LEFT.iter().copied());
    let lines = sources.iter().flat_map(|source| {
        heads(source).map(|(line, text)| format!("{}:{line}: {text}", source.path))
    });
    assert!(more.is_empty(), "{more:?} among\n{}", lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn types_are_named_by_nouns() {
    let sources = sources::of_checkout(&checkout());
    let found = counts(sources.iter().flat_map(|source| {
        let names = source.types().filter(|name| NO_NOUNS.contains(name));
        names.map(|name| (source.package(), name))
    }));
    let left = NO_NOUNS_LEFT.iter().map(|(package, name, count)| ((*package, *name), *count));
    let more = more_than(found, left);
    assert!(more.is_empty(), "name these by nouns: {more:?}");
}

#[test]
fn a_package_defines_a_name_once() {
    let sources = sources::of_checkout(&checkout());
    let mut found = counts(
        sources.iter().flat_map(|source| source.types().map(|name| (source.package(), name))),
    );
    let packages = counts(found.keys().map(|(_, name)| *name));
    found.retain(|_, count| *count > 1);
    let known = TYPE_NAMES.iter().map(|(package, name, count, _)| ((*package, *name), *count));
    let more = more_than(found, known);
    assert!(more.is_empty(), "give these names of their own: {more:?}");
    let of_several = packages.values().filter(|packages| **packages > 1).count();
    assert!(of_several <= NAMES_OF_SEVERAL_PACKAGES_MAX, "{of_several} names of several packages");
}

#[test]
fn words_are_seen() {
    let text = "/// What it is.\n/// Of it.\npub(crate) struct Held<'a>(&'a str);\n\n/// A name.\nenum Kind { A }\n\
                impl X for Held<'_> {\n    type Item = u8;\n}\n#[cfg(test)]\nmod tests {\n    struct Made;\n}\n";
    let source = Source::new("host/sched/src/sched.rs", text);
    assert_eq!(source.package(), "host/sched");
    assert_eq!(heads(&source).collect::<Vec<_>>(), [(1, "What it is.")]);
    assert_eq!(source.types().collect::<Vec<_>>(), ["Held", "Kind"]);
}
