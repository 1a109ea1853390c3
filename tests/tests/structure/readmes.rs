//! The lines on borders in the READMEs of crates, compared with the manifests.

use std::{collections::BTreeSet, fs};

use assay_tests::checkout;

use super::packages::Packages;

/// The folder of a package with a README that has borders, as READMEs name it: `sched`, `bench/seed`.
fn short_name(package: &str) -> Option<String> {
    let name = package.strip_prefix("assay-")?;
    match name {
        "bench" => Some(name.to_owned()),
        "reproduce" | "seed" => Some(format!("bench/{name}")),
        "plugin" | "fake-cuda" | "fuzz-seeds" | "once" | "guests" | "tests" => None,
        name => (!name.starts_with("plugin-")).then(|| name.to_owned()),
    }
}

/// The crates that an item of a list names, such as `- **May import:** `core`, `api`.`.
fn named(packages: &Packages, readme: &str, item: &str) -> Option<BTreeSet<String>> {
    let (_, rest) = readme.split_once(&format!("- **{item}:** "))?;
    let item = rest.split("\n- ").next().expect("a text has a first part");
    let known: BTreeSet<String> = packages.own().into_iter().filter_map(short_name).collect();
    // A crate that is started as a process is not imported.
    let item = item.strip_prefix("nothing").map_or(item, |_| "");
    Some(item.split('`').map(str::to_owned).filter(|word| known.contains(word)).collect())
}

#[test]
fn readmes_name_who_imports_whom() {
    let packages = Packages::of_checkout(&checkout());
    let mut faults = Vec::new();
    for package in packages.own() {
        let Some(name) = short_name(package) else { continue };
        let folder = if name.starts_with("bench") { name.clone() } else { format!("host/{name}") };
        let readme = fs::read_to_string(checkout().join(&folder).join("README.md"))
            .expect("each crate has one");
        let own = |name: &&str| packages.is_own(name);
        let imports: BTreeSet<String> =
            packages.direct(package).into_iter().filter(own).filter_map(short_name).collect();
        let importers =
            packages.own().into_iter().filter(|other| packages.direct(other).contains(&package));
        let importers: BTreeSet<String> = importers.filter_map(short_name).collect();
        for (item, expected) in [("May import", imports), ("Imported by", importers)] {
            // `core` is imported by every crate but the named ones.
            let said = named(&packages, &readme, item).unwrap_or_default();
            if said != expected && (item, &*name) != ("Imported by", "core") {
                faults.push(format!("{folder}/README.md, {item}: says {said:?}, is {expected:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
