//! Which block is taken, over the toolchains that the host ships.

use std::collections::BTreeMap;

use super::*;

/// In the host's order.
const SHIPPED: [(&str, &str); 4] = [
    ("c11-gcc", include_str!("../../../../host/exec/toolchains/c11-gcc.toml")),
    ("cpp17-gcc", include_str!("../../../../host/exec/toolchains/cpp17-gcc.toml")),
    ("cpp20-gcc", include_str!("../../../../host/exec/toolchains/cpp20-gcc.toml")),
    ("cpython-3", include_str!("../../../../host/exec/toolchains/cpython-3.toml")),
];

fn toolchain(id: &str, file: &str) -> exec::Toolchain {
    let names = file.lines().find_map(|line| line.strip_prefix("languages = ")).expect("names");
    // Such a list is the same in TOML and JSON.
    let languages = serde_json::from_str(names).expect("a list of names");
    let limits = exec::Limits {
        cpu_ms: 1,
        wall_ms: 1,
        memory_bytes: 1,
        stdout_bytes: 1,
        stderr_bytes: 1,
        disk_bytes: 1,
        processes: 1,
        open_files: 1,
    };
    exec::Toolchain {
        id: id.into(),
        version: String::new(),
        languages,
        main: "main".into(),
        compiled: true,
        compile_defaults: limits,
        run_defaults: limits,
        ceiling: limits,
    }
}

fn toolchains() -> Vec<exec::Toolchain> {
    SHIPPED.iter().map(|(id, file)| toolchain(id, file)).collect()
}

fn check(wanted: Option<&str>, text: &str, expected: Result<(&str, &str), &str>) {
    let (toolchains, preferred) = (toolchains(), BTreeMap::new());
    let languages = Languages::new(&toolchains, &preferred).expect("no preference");
    let wanted = languages.wanted(wanted, None).expect("known");
    let found = find(text, wanted, &languages, &Settings::default(), false);
    let found = found.map(|found| (found.toolchain.id.clone(), found.code));
    let expected = expected.map(|(id, code)| (id.to_owned(), code.to_owned()));
    assert_eq!(found, expected.map_err(str::to_owned), "{text}");
}

#[test]
fn the_last_block_of_the_language_is_taken() {
    let python = Some("python");
    check(python, "```python\na\n```\n```py\nb\n```", Ok(("cpython-3", "b\n")));
    check(python, "```python\na\n```\n```cpp\nb\n```", Ok(("cpython-3", "a\n")));
    check(python, "```python\na\n```\n```\n1 2 3\n```", Ok(("cpython-3", "a\n")));
    check(python, "```\na\n```\n```text\n1 2 3\n```", Ok(("cpython-3", "a\n")));
    check(python, "```cpp\na\n```", Err("no block of code is python; the last is cpp"));
    check(python, "print(1)", Err("the response has no block of code"));
    check(python, "  \n", Err("the response is empty"));
}

#[test]
fn without_a_language_the_fence_decides() {
    check(None, "```c++\na\n```", Ok(("cpp17-gcc", "a\n")));
    check(None, "```cpp20-gcc\na\n```", Ok(("cpp20-gcc", "a\n")));
    check(None, "```cpp\na\n```\n```py\nb\n```\n```sh\nc\n```", Ok(("cpython-3", "b\n")));
    let reason = "no block of code names a language that can be run here";
    check(None, "```\na\n```", Err(reason));
    check(None, "```brainfuck\na\n```", Err(reason));
}

#[test]
fn a_preference_decides_between_toolchains() {
    let toolchains = toolchains();
    let preferred = BTreeMap::from([("cpp".to_owned(), "cpp20-gcc".to_owned())]);
    let languages = Languages::new(&toolchains, &preferred).expect("known");
    assert_eq!(languages.toolchain("CPP").expect("known").id, "cpp20-gcc");
    assert_eq!(languages.toolchain("cpp17-gcc").expect("known").id, "cpp17-gcc");
    let wrong = BTreeMap::from([("cpp".to_owned(), "cpp98".to_owned())]);
    assert!(matches!(Languages::new(&toolchains, &wrong), Err(Error::BadSettings(_))));
    assert!(matches!(languages.wanted(Some("ada"), None), Err(Error::BadRequest(_))));
    assert!(matches!(languages.wanted(None, Some("ada")), Err(Error::BadSettings(_))));
}

/// The toolchain of a block under this name, where label or settings ask for `wanted`.
fn taken(wanted: Option<&str>, preferred: &[(&str, &str)], name: &str) -> Option<String> {
    let pair = |(name, id): &(&str, &str)| ((*name).to_owned(), (*id).to_owned());
    let (toolchains, preferred) = (toolchains(), preferred.iter().map(pair).collect());
    let languages = Languages::new(&toolchains, &preferred).expect("known");
    let wanted = languages.wanted(wanted, None).expect("known");
    let text = format!("```{name}\na\n```");
    let found = find(&text, wanted, &languages, &Settings::default(), false);
    found.ok().map(|found| found.toolchain.id.clone())
}

#[test]
fn a_block_may_name_another_standard_of_its_language() {
    let check = |wanted, preferred, expected: &str| {
        for name in ["cpp", "c++", "CC", "cxx", "cpp17", "c++20", "cpp17-gcc", "cpp20-gcc", ""] {
            let taken = taken(Some(wanted), preferred, name);
            assert_eq!(taken.as_deref(), Some(expected), "{wanted} {preferred:?} {name}");
        }
        for name in ["c", "c11", "python", "text"] {
            assert_eq!(taken(Some(wanted), preferred, name), None, "{wanted} {preferred:?} {name}");
        }
    };
    check("cpp", &[("cpp", "cpp20-gcc")], "cpp20-gcc");
    for wanted in ["cpp20-gcc", "cpp20", "C++20"] {
        check(wanted, &[], "cpp20-gcc");
        check(wanted, &[("cpp", "cpp17-gcc")], "cpp20-gcc");
    }
    check("cpp", &[], "cpp17-gcc");
    check("cpp17-gcc", &[("cpp", "cpp20-gcc")], "cpp17-gcc");
}

#[test]
fn a_block_of_the_wanted_standard_comes_first() {
    let text = "```cpp20\na\n```\n```cpp17\nb\n```";
    check(Some("cpp20"), text, Ok(("cpp20-gcc", "a\n")));
    check(Some("cpp17"), text, Ok(("cpp17-gcc", "b\n")));
    check(Some("cpp"), "```\na\n```\n```cpp20\nb\n```", Ok(("cpp17-gcc", "b\n")));
}

#[test]
fn a_preference_holds_for_every_name_of_the_language() {
    let preferred = [("cpp", "cpp20-gcc")];
    for (name, expected) in [("c++", "cpp20-gcc"), ("cpp17", "cpp17-gcc"), ("py", "cpython-3")] {
        assert_eq!(taken(None, &preferred, name).as_deref(), Some(expected), "{name}");
    }
    let both = [("c++", "cpp17-gcc"), ("cpp", "cpp20-gcc")];
    assert_eq!(taken(None, &both, "cpp").as_deref(), Some("cpp20-gcc"));
    assert_eq!(taken(None, &both, "c++").as_deref(), Some("cpp17-gcc"));
    // `c++20` is no synonym of `c++`.
    let other = [("c++20", "cpp20-gcc"), ("cpp", "cpp17-gcc")];
    assert_eq!(taken(None, &other, "c++").as_deref(), Some("cpp17-gcc"));
}

#[test]
fn what_is_accepted_can_be_set() {
    let (toolchains, preferred) = (toolchains(), BTreeMap::new());
    let languages = Languages::new(&toolchains, &preferred).expect("no preference");
    let python = languages.toolchain("python");
    let whole = Settings { unfenced: Accept::Accept, ..Settings::default() };
    let found = find("print(1)", python, &languages, &whole, false).expect("accepted");
    assert_eq!((found.code.as_str(), found.origin.as_str()), ("print(1)", "the whole response"));
    let strict = Settings { unclosed: Accept::Refuse, ..Settings::default() };
    assert!(find("```python\na", python, &languages, &strict, false).is_err());
    let found = find("```python\na", python, &languages, &Settings::default(), false);
    assert!(found.expect("accepted").origin.contains("not closed"));
}
